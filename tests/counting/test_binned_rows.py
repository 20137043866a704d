"""Rows by cell, best first: whatever counts them gets what the tallies hold."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import pedanova as pa
from pedanova.errors import LevelsError


@pytest.fixture(scope="module", params=["minimize", "maximize"])
def analysis(request: pytest.FixtureRequest) -> pa.Analysis:
    random = np.random.default_rng(4)
    columns = {"x": random.random(500), "c": random.choice(["a", "b"], 500), "n": random.integers(1, 9, 500)}
    loss = np.round(random.normal(size=500), 1)
    loss[::50] = np.nan
    return pa.analyze({**columns, "loss": loss}, "loss", direction=request.param)


def test_the_first_rows_are_the_target(analysis: pa.Analysis) -> None:
    rows = analysis.binned()
    assert len(rows) == analysis.rows
    for part in (0.1, 0.3, 0.7):
        end = analysis.reach(part)[1]
        assert not rows.tied[end]  # ties stay together
        contrasts, _, _ = analysis.ask(part, 1.0)
        for contrast in contrasts:
            counted = np.bincount(rows.cells[contrast.name][:end], minlength=contrast.grid.width)
            assert counted.tolist() == contrast.target.tolist()


def test_ties_are_rows_with_the_same_objective(analysis: pa.Analysis) -> None:
    values = analysis.trials(limit=None).columns["loss"]
    pairs = pairwise(values)
    assert analysis.binned().tied.tolist() == [False, *(one == two for one, two in pairs)]


def test_few_cells_take_one_byte(analysis: pa.Analysis) -> None:
    cells = analysis.binned().cells
    assert {name: column.itemsize for name, column in cells.items()} == {"x": 2, "c": 1, "n": 1}


def test_rows_must_be_at_hand(analysis: pa.Analysis) -> None:
    with pytest.raises(LevelsError, match="no longer at hand"):
        (analysis + analysis).binned()
