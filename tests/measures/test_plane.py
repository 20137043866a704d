"""The plane of two parameters: cells in units of the parameters, and which of them chance explains."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

import pedanova as pa
from pedanova.measures.question import Question
from pedanova.measures.questions.ask import pair_plane


def test_cells_are_told_in_units_of_the_parameter() -> None:
    random = np.random.default_rng(0)
    table = {
        "epochs": random.integers(1, 31, 900),
        "lr": 10 ** random.uniform(-5, -1, 900),
        "n": random.choice([1, 2], 900),
    }
    space = {"epochs": pa.Int(1, 30), "lr": pa.Float(1e-5, 1e-1, log=True), "n": pa.Int(1, 2)}
    a = pa.analyze(table, random.random(900), space=space)
    plane = pair_plane(a.data, ("epochs", "lr"), Question(), 4)
    spans = [[int(end) for end in cell.split(" to ")] for cell in plane.first_cells]
    assert (spans[0][0], spans[-1][-1]) == (1, 30)
    assert all(after[0] == before[-1] + 1 for before, after in pairwise(spans))
    assert plane.second_cells[0].startswith("1e-5 to ")
    assert plane.second_cells[-1].endswith(" to 0.1")
    assert pair_plane(a.data, ("n", "lr"), Question(), 8).first_cells == ("1", "2")


def test_expected_rows_and_what_chance_explains() -> None:
    random = np.random.default_rng(1)
    x, y = random.random((2, 4000))
    found = pair_plane(
        pa.analyze({"x": x, "y": y}, np.hypot(x, y), space={"x": pa.Float(0, 1), "y": pa.Float(0, 1)}).data,
        ("x", "y"),
        Question(),
        8,
    )
    assert found.expected.sum() == found.target.sum()
    assert found.significant[0, 0]
    assert found.significant[-1, -1]
    noise = pair_plane(pa.analyze({"x": x, "y": y}, random.random(4000)).data, ("x", "y"), Question(), 8)
    assert noise.significant.mean() < 0.12


def test_cells_of_a_lattice_are_its_values() -> None:
    random = np.random.default_rng(0)
    table = {"lr": 10.0 ** random.integers(-6, 1, 700), "order": random.integers(0, 90, 700)}
    space = {"lr": pa.Float(1e-6, 1, log=True), "order": pa.Ordinal(list(range(90)))}
    plane = pair_plane(pa.analyze(table, random.random(700), space=space).data, ("lr", "order"), Question(), 8)
    assert plane.first_cells == ("1e-6", "1e-5", "1e-4", "0.001", "0.01", "0.1", "1")
    assert plane.second_cells[0].startswith("0 to ")
    assert plane.second_cells[-1].endswith(" to 89")
