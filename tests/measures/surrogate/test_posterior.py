"""Uniform points, the cells they are counted in, and counts of them in posterior samples."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import pedanova as pa
from helpers.ranked import rows_of, study
from pedanova.measures.chance.ranked_rows import RankedRows, dependence_of
from pedanova.measures.surrogate import posterior as module
from pedanova.measures.surrogate.gaussian_process import layout_of
from pedanova.measures.surrogate.posterior import (
    COUNTED_CELLS,
    POINT_CELLS,
    POINTS,
    ObjectiveRanks,
    PosteriorSamples,
    StackedGrids,
    coarse_grid,
    coarse_points,
    even_points,
    margins_of,
)
from pedanova.space.grid import grid_of


def points_of(rows: RankedRows, **options: Any) -> dict[str, np.ndarray]:
    return rows.arrangement.cells(even_points(rows.arrangement, rows.places, **options))


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


def test_points_depend_on_each_other_as_the_rows_do() -> None:
    rng = np.random.default_rng(0)
    a, noise, c, d = rng.random((4, 200))
    kind = np.array(["p", "q", "r"], dtype=object)[(3 * d).astype(int)]
    columns = {"a": a, "bent": (np.abs(a - 0.5) + 0.1 * noise) / 0.6, "c": c, "d": d, "kind": kind}
    space = {name: pa.Categorical(["p", "q", "r"]) if name == "kind" else pa.Float(0, 1) for name in columns}
    rows = rows_of(columns, c, space)
    margins = margins_of(rows.arrangement, rows.places)
    points = points_of(rows, margins=margins, dependence=dependence_of(rows))
    apart = points_of(rows, margins=margins)
    assert np.array_equal(points["c"], apart["c"])
    for name in columns:
        assert np.array_equal(np.bincount(points[name]), np.bincount(apart[name]))
    assert np.corrcoef(np.abs(points["a"] - 500), points["bent"])[0, 1] > 0.5
    assert all(points["d"][points["kind"] == one].std() < 220 for one in range(3))  # 290 if independent
    assert abs(np.corrcoef(points["a"], points["d"])[0, 1]) < 0.05


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
    features = np.bincount(layout_of(rows.arrangement, rows.places, {}).owners).tolist()
    assert dict(zip(rows.arrangement.names, features, strict=True)) == {"phase": 2, "rate": 1}  # none for the domain


def test_what_nobody_decides_is_drawn_as_often_as_seen() -> None:
    rng = np.random.default_rng(0)
    x = np.where(rng.random(200) < 0.25, np.nan, rng.random(200))
    rows = rows_of({"x": x, "y": rng.random(200)}, rng.random(200), {"x": pa.Float(0, 1), "y": pa.Float(0, 1)})
    cells = points_of(rows)["x"]
    part = np.isnan(x).mean()
    assert np.mean(cells == 1001) == pytest.approx(part, abs=2e-3)
    there = cells[cells < 1001]
    assert np.abs(np.bincount(there * 10 // 1001) / len(there) - 0.1).max() < 5e-3
    features = np.bincount(layout_of(rows.arrangement, rows.places, {}).owners).tolist()
    assert dict(zip(rows.arrangement.names, features, strict=True)) == {"x": 4, "y": 1}  # three say whether it exists


def test_embeddings_have_their_geometry() -> None:
    columns, loss, space = study()
    rows = rows_of(columns, loss, space)
    layout = layout_of(rows.arrangement, rows.places, {})
    embedded = layout.embed(rows.places)
    assert embedded.positions.shape == (len(loss), len(layout.owners))
    kinds = np.flatnonzero(layout.owners == rows.arrangement.names.index("kind"))
    gaps = embedded.positions[:, None, kinds] - embedded.positions[None, :, kinds]
    assert set(np.round((gaps**2).sum(axis=-1), 5).ravel().tolist()) == {0.0, 1.0}
    idle = rows.places[:, rows.arrangement.names.index("momentum")] >= 1001
    momentum = np.flatnonzero(layout.owners == rows.arrangement.names.index("momentum"))
    assert np.all(embedded.positions[idle][:, momentum] == 0.5)


PARAMETERS = [
    pa.Float(0, 1),
    pa.Int(1, 3000, log=True),
    pa.Int(1, 7),
    pa.Categorical(list("abc")),
    pa.Categorical(range(300)),
    pa.Switch("by", {"a": pa.Float(0, 1), "b": pa.Categorical(["x", "y"])}),
]


@pytest.mark.parametrize("parameter", PARAMETERS, ids=str)
@pytest.mark.parametrize("most", [POINT_CELLS, COUNTED_CELLS, 3])
def test_every_cell_has_its_place(parameter: object, most: int) -> None:
    grid = grid_of(parameter)  # type: ignore[arg-type]
    merged = coarse_grid(grid, most)
    assert np.all(np.diff(merged.table[: grid.cells]) >= 0)
    assert set(merged.table.tolist()) == set(range(merged.cells))
    assert set(merged.table[grid.cells :].tolist()) == {merged.cells - 1}
    for block in merged.blocks:
        assert merged.prior[block.start : block.stop].sum() == pytest.approx(1.0)
        assert not block.ordered or block.stop - block.start <= most


@pytest.mark.parametrize("parameter", PARAMETERS, ids=str)
def test_merging_twice_is_merging_once(parameter: object) -> None:
    grid = grid_of(parameter)  # type: ignore[arg-type]
    fine, coarse = coarse_grid(grid, POINT_CELLS), coarse_grid(grid, COUNTED_CELLS)
    again = fine.to(coarse)
    # A saved cell may straddle two coarse ones: it is then counted in one of them.
    off = np.abs(again[fine.table].astype(int) - coarse.table.astype(int))
    assert off.max() <= 1
    assert np.mean(off == 0) > 0.9


def test_stacked_grids_add_by_block_and_by_parameter() -> None:
    grids = StackedGrids.of([coarse_grid(grid_of(parameter), COUNTED_CELLS) for parameter in PARAMETERS])
    values = np.arange(2.0 * grids.cells).reshape(2, -1)
    by_block = grids.by_block(values)
    assert by_block.sum(axis=1) == pytest.approx(values.sum(axis=1))
    assert grids.blocks_by_parameter(by_block) == pytest.approx(grids.by_parameter(values))


SPACE = pa.Space({"x": pa.Float(0, 1), "kind": pa.Categorical(["a", "b", "c"])})


def some_draws(points: int = 300, draws: int = 4) -> PosteriorSamples:
    rng = np.random.default_rng(0)
    cells = {name: rng.integers(0, grid_of(one).cells, points).astype(np.int32) for name, one in SPACE.items()}
    order = np.stack([rng.permutation(points) for _ in range(draws)]).astype(np.uint16)
    return PosteriorSamples(
        SPACE, coarse_points(SPACE, cells), order, ObjectiveRanks.of(np.arange(100.0)), tuple(SPACE), adaptive=False
    )


def one_by_one(samples: PosteriorSamples, span: tuple[int, int]) -> np.ndarray:
    grids, (first, last) = samples.grids, samples.ends(span)
    flat = samples.flat
    return np.stack([np.bincount(flat[o[first:last]].ravel(), minlength=grids.cells) for o in samples.order])


@pytest.mark.parametrize("room", [0, 1 << 23])
def test_points_are_counted_alike_whatever_was_asked_before(room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_CACHED", room)
    samples = some_draws()
    grids, rng = samples.grids, np.random.default_rng(1)
    spans = [(0, 10), (0, 5), (0, 100), (0, 95), (0, 12), (3, 9), (90, 93), (5, 100), (7, 7), (0, 0)]
    spans += [(first, first + more) for first, more in rng.integers(0, 50, (30, 2)).tolist()]
    for span in spans:
        found = samples.count(span)
        assert np.array_equal(np.broadcast_to(found, (samples.draws, grids.cells)), one_by_one(samples, span)), span


def test_inside_a_region_each_cell_has_about_as_many_points_of_it() -> None:
    samples = some_draws(points=3_000)
    assert samples.focused((0, 100)) is samples
    strip = np.argsort(samples.cells("x"), kind="stable").astype(np.uint16)  # the best points are at the lower end
    inner = replace(samples, order=np.stack([strip] * 4)).focused((0, 10))
    counts = inner.count((0, 10))[0, : inner.grids.starts[1] - 1]
    assert counts.sum() == 300
    assert len(counts) > 40
    assert counts.max() < 15
    assert inner.count((0, 100)).sum() == 3_000 * len(SPACE)


def test_only_draws_of_a_process_for_the_best_part_answer_inside_it() -> None:
    samples = replace(some_draws(), layers={0.1: np.array([1, 3])})
    assert np.array_equal(samples.focused((0, 10)).order, samples.order[[1, 3]])
    assert samples.focused((0, 20)).draws == 4


def test_all_points_are_the_same_in_every_draw() -> None:
    samples = some_draws()
    whole = samples.count((0, 100))
    assert whole.shape[0] == 1
    assert whole.sum() == len(samples) * len(SPACE)
