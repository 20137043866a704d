"""An objective as a function: from a whole table, from a model, from tallies."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

import pedanova as pa
from helpers.families import family
from pedanova.measures.studies.response import response_of
from pedanova.space.grid import grid_of


def test_a_whole_table_is_looked_up() -> None:
    """Any value stands for the nearest of the lattice; repeats are averaged."""
    points = list(product([1e-4, 1e-3, 1e-2, 1e-1], ["a", "b"], range(1, 6))) * 2
    lr, kind, depth = (np.array(column) for column in zip(*points, strict=True))
    loss = (np.log10(lr) + 2) ** 2 + (kind == "a") * depth + np.repeat([-0.5, 0.5], len(points) // 2)
    space = {"lr": pa.Float(1e-4, 1e-1, log=True), "kind": pa.Categorical(["a", "b"]), "depth": pa.Int(1, 5)}
    table = {"lr": lr, "kind": kind, "depth": depth, "loss": loss}
    for direction, sign in (("minimize", 1.0), ("maximize", -1.0)):
        response = response_of(pa.analyze(table, "loss", direction=direction, space=space))
        assert response.way == "table"
        cells = {"lr": grid_of(space["lr"]).locate(np.array([1e-2, 2.1e-2, 1e-4])), "kind": np.array([1, 1, 0])}
        found = response.at(cells | {"depth": np.array([0, 2, 4])})
        assert found == pytest.approx([0.0, 0.0, sign * 9.0])


def test_a_model_knows_unseen_configurations() -> None:
    a = family(1)["study 0"]
    response = response_of(a)
    assert response.way == "model"
    lr = np.linspace(0, 1000, 21).astype(np.int64)
    fixed = {"layers": 3, "optimizer": 0, "momentum": grid_of(a.space["momentum"]).missing, "width": 500, "size": 1}
    found = response.at({"lr": lr} | {name: np.full(21, cell) for name, cell in fixed.items()})
    truth = (-5 + 5 * (lr + 0.5) / 1001 + 2.0) ** 2
    assert np.corrcoef(found, truth)[0, 1] > 0.97
    assert abs(lr[np.argmin(found)] - 600) <= 60


def test_tallies_answer_parameter_by_parameter(tmp_path: Path) -> None:
    a = family(1)["study 0"]
    a.save(tmp_path / "a.pedanova", model=False)
    response = response_of(pa.load(tmp_path / "a.pedanova"))
    assert response.way == "tallies"
    usual = {name: np.zeros(2, dtype=np.int64) for name in a.space} | {"layers": np.array([3, 3])}
    bad, good = response.at(usual | {"lr": np.array([10, 600])})
    assert bad - good == pytest.approx(9.0, rel=0.3)


def test_rows_that_a_model_cannot_predict_are_left_to_their_tallies() -> None:
    rng = np.random.default_rng(0)
    a = pa.analyze({"x": rng.random(200), "loss": rng.random(200)}, "loss", direction="minimize", params=["x"])
    assert response_of(a).way == "tallies"
