"""The plane of two objectives: every row once, good rows and the front among them."""

from __future__ import annotations

import numpy as np
import pytest

import pedanova as pa
from pedanova.errors import QueryError


def two(direction: list[str], rows: int = 300, wild: bool = False) -> tuple[pa.Analysis, np.ndarray]:
    random = np.random.default_rng(6)
    x, y = random.random(rows), random.random(rows)
    goals = np.stack([0.01 + x**3, 1 - x + 0.3 * y], axis=1)
    if wild:
        goals[0] = 1e9, -1e9
    a = pa.analyze({"x": x, "y": y, "a": goals[:, 0], "b": goals[:, 1]}, ["a", "b"], direction=direction)
    return a, goals


@pytest.mark.parametrize("direction", [["minimize", "minimize"], ["maximize", "minimize"]])
def test_every_row_lies_in_one_cell(direction: list[str]) -> None:
    a, goals = two(direction)
    plane = a.data.goal_plane(0.1, 1.0)
    assert plane.region.sum() == len(a)
    assert plane.target.sum() == a.importance(0.1, estimator="counts", draws=0).rows[0].n_target
    assert (plane.target <= plane.region).all()
    signed = goals * [1 if one == "minimize" else -1 for one in direction]
    beaten = [np.any(np.all(signed <= row, axis=1) & np.any(signed < row, axis=1)) for row in signed]
    assert plane.front.sum() == len(goals) - sum(beaten)


def test_a_wild_row_does_not_stretch_the_axes() -> None:
    calm, wild = (two(["minimize", "maximize"], wild=one)[0].data.goal_plane() for one in (False, True))
    assert wild.edges[0][-1] == pytest.approx(calm.edges[0][-1], rel=0.2)
    assert wild.region.sum() == calm.region.sum()


def test_many_powers_of_ten_are_laid_out_evenly() -> None:
    plane = two(["minimize", "minimize"])[0].data.goal_plane()
    assert plane.log == (True, False)
    assert np.ptp(np.diff(np.log(plane.edges[0]))) < 1e-9


def test_one_objective_has_no_plane() -> None:
    a = pa.analyze({"x": [1.0, 2.0, 3.0], "loss": [0.1, 0.2, 0.3]}, "loss")
    with pytest.raises(QueryError, match="needs two"):
        a.data.goal_plane(0.4)
