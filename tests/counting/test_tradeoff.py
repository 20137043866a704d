"""Two objectives: the front is what nobody beats."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pedanova as pa
from pedanova.base.kernel.pareto import ranks_of
from pedanova.counting.goal_plane import tradeoff_of
from pedanova.errors import QueryError


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=30))
def test_the_front_is_what_no_row_beats(pairs: list[tuple[int, int]]) -> None:
    losses = np.array(pairs, dtype=np.float64)
    beaten = [
        any(np.all(other <= one) and np.any(other < one) for other in losses) for one in losses
    ]  # as the definition says
    assert (ranks_of(losses) == 0).tolist() == [not beat for beat in beaten]


def test_target_and_front_of_an_analysis() -> None:
    random = np.random.default_rng(0)
    x, y = random.random((2, 200))
    score, cost = x, x**2 + y
    cost[0] = np.inf
    a = pa.analyze({"x": x, "y": y, "score": score, "cost": cost}, ["score", "cost"], direction=["max", "min"])
    assert a.data.observations is not None
    found = tradeoff_of(a.data.observations, 0.1, a.data.levels.nan)
    assert (found.names, found.directions) == (("score", "cost"), ("maximize", "minimize"))
    assert len(found.values) == 199  # what is infinite has no place
    assert found.target.sum() in (19, 20)
    assert found.front[np.argmax(found.values[:, 0])]
    with pytest.raises(QueryError, match="must be two of score, cost"):
        tradeoff_of(a.data.observations, 0.1, a.data.levels.nan, ["score", "x"])
