"""Lines of the critical-difference diagram."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from pedanova.measures.studies.pooling import rank_test
from pedanova.report.figures.studies import rank_lines_of


def test_the_lines_of_a_critical_difference_diagram() -> None:
    ranks = rank_test(["lr", "depth"], np.array([[0.5, 0.1], [0.4, 0.2], [0.6, 0.1]]))
    diagram = rank_lines_of(ranks)
    assert [rung.name for rung in diagram.lines] == list(ranks.names)
    sides = [[rung.step for rung in diagram.lines if rung.left is left] for left in (True, False)]
    assert all(len(set(steps)) == len(steps) for steps in sides)
    assert len(diagram.bars) == len(ranks.alike)


@pytest.mark.parametrize("count", [5, 9])
def test_bars_of_one_lane_do_not_touch(count: int) -> None:
    rng = np.random.default_rng(count)
    test = rank_test([str(i) for i in range(count)], rng.random((8, count)) + np.linspace(0, 0.8, count))
    diagram = rank_lines_of(test)
    for lane in range(diagram.lanes):
        spans = sorted((begin, end) for begin, end, own in diagram.bars if own == lane)
        assert all(end < begin for (_, end), (begin, _) in itertools.pairwise(spans))
