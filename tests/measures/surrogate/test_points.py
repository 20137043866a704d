from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pedanova as pa
from helpers.ranked import rows_of, study
from pedanova.measures.chance.ranked_rows import RankedRows
from pedanova.measures.surrogate.kernel import layout_of
from pedanova.measures.surrogate.points import POINTS, uniform_points
from pedanova.space.grid import grid_of


def points_of(rows: RankedRows, **options: Any) -> dict[str, np.ndarray]:
    return rows.arrangement.cells(uniform_points(rows.arrangement, rows.places, **options))


def test_every_cell_is_hit_as_its_prior_says() -> None:
    rng = np.random.default_rng(0)
    space = {
        "float": pa.Float(1e-3, 1, log=True),
        "int": pa.Int(1, 6),
        "log int": pa.Int(1, 500, log=True),
        "step": pa.Int(0, 100, step=10),
        "kind": pa.Categorical(list("abcd")),
    }
    columns = {
        "float": rng.uniform(0.001, 1, 50),
        "int": rng.integers(1, 7, 50),
        "log int": rng.integers(1, 501, 50),
        "step": 10 * rng.integers(0, 11, 50),
        "kind": rng.choice(list("abcd"), 50).astype(object),
    }
    cells = points_of(rows_of(columns, rng.random(50), space))
    for name, parameter in space.items():
        grid = grid_of(parameter)
        counts = np.bincount(cells[name], minlength=grid.cells)[: grid.cells]
        assert counts.sum() == POINTS
        assert np.abs(np.cumsum(counts / POINTS - grid.prior)).max() < 1e-3


def test_pairs_are_nearly_even() -> None:
    rng = np.random.default_rng(0)
    columns = {f"x{j}": rng.random(30) for j in range(12)}
    rows = rows_of(columns, rng.random(30), dict.fromkeys(columns, pa.Float(0, 1)))
    values = np.stack(list(points_of(rows).values())) / 1001.0
    correlations = np.corrcoef(values) - np.eye(12)
    assert np.abs(correlations).max() < 0.05


def test_parents_decide() -> None:
    rows = rows_of(*study())
    cells = points_of(rows)
    space = rows.arrangement.space
    missing = cells["momentum"] == grid_of(space["momentum"]).missing
    assert np.array_equal(missing, cells["kind"] != 1)  # "sgd"


def test_a_switch_follows_its_parent() -> None:
    rng = np.random.default_rng(0)
    phase = rng.choice(["early", "late"], 60).astype(object)
    rate = np.where(phase == "early", rng.random(60), 5 + rng.random(60))
    switch = pa.Switch("phase", {"early": pa.Float(0, 1), "late": pa.Float(5, 6)})
    space = {"phase": pa.Categorical(["early", "late"]), "rate": switch}
    rows = rows_of({"phase": phase, "rate": rate}, rate, space)
    cells = points_of(rows)
    grid = grid_of(switch)
    assert np.array_equal(cells["rate"] < grid.blocks[0].stop, cells["phase"] == 0)
    layout = layout_of(rows.arrangement, rows.places)
    assert layout.undecided == (False, False)


def test_what_nobody_decides_is_drawn_as_often_as_seen() -> None:
    rng = np.random.default_rng(0)
    x = np.where(rng.random(200) < 0.25, np.nan, rng.random(200))
    rows = rows_of({"x": x, "y": rng.random(200)}, rng.random(200), {"x": pa.Float(0, 1), "y": pa.Float(0, 1)})
    cells = points_of(rows)["x"]
    part = np.isnan(x).mean()
    assert np.mean(cells == 1001) == pytest.approx(part, abs=2e-3)
    there = cells[cells < 1001]
    assert np.abs(np.bincount(there * 10 // 1001) / len(there) - 0.1).max() < 5e-3
    assert layout_of(rows.arrangement, rows.places).undecided == (True, False)


def test_embeddings_have_their_geometry() -> None:
    columns, loss, space = study()
    rows = rows_of(columns, loss, space)
    layout = layout_of(rows.arrangement, rows.places)
    embedded = layout.embed(rows.places)
    assert embedded.positions.shape == (len(loss), len(layout.owners))
    kinds = np.flatnonzero(layout.owners == rows.arrangement.names.index("kind"))
    gaps = embedded.positions[:, None, kinds] - embedded.positions[None, :, kinds]
    assert set(np.round((gaps**2).sum(axis=-1), 5).ravel().tolist()) == {0.0, 1.0}
    idle = rows.places[:, rows.arrangement.names.index("momentum")] >= 1001
    momentum = np.flatnonzero(layout.owners == rows.arrangement.names.index("momentum"))
    assert np.all(embedded.positions[idle][:, momentum] == 0.5)
