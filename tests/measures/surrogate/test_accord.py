from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import pedanova as pa
from pedanova.counting.contrasts import Contrast
from pedanova.measures.importance import Importance, measure
from pedanova.measures.surrogate.accord import IDLE, TOGETHER, USUAL, in_accord, leeways_of, widened
from pedanova.space.grid import grid_of


def counted(target: list[int], region: list[int]) -> Importance:
    grid = grid_of(pa.Categorical(range(len(target))))
    return measure(
        Contrast("x", grid, np.array([*target, 0, 0]), np.array([*region, 0, 0])), baseline="region", smoothing="none"
    )


def test_few_rows_leave_the_model_its_word() -> None:
    row = counted([6, 2, 2], [34, 33, 33])
    assert in_accord(np.array([0.02]), [row], [USUAL])[0] == pytest.approx(0.02, rel=0.05)


def test_many_rows_decide() -> None:
    for share in (0.2, 0.0):
        row = counted([60_000, 20_000, 20_000], [400_000, 300_000, 300_000])
        moved = in_accord(np.array([share]), [row], [USUAL])[0]
        assert moved == pytest.approx(row.share, abs=0.002)


def test_what_chance_does_not_explain_is_not_believed() -> None:
    row = counted([10, 10, 10], [100, 100, 100])
    moved = in_accord(np.array([0.01, 0.3]), [row, row], [USUAL, USUAL])
    assert moved[0] == pytest.approx(0.01, rel=0.05)  # chance may hide that
    assert row.share < moved[1] < 0.1


def test_what_never_varied_stays() -> None:
    row = replace(counted([4, 3, 3], [34, 33, 33]), varied=False)
    assert in_accord(np.array([0.4]), [row], [USUAL])[0] == 0.4


def test_a_model_is_trusted_less_where_parameters_act_together() -> None:
    assert leeways_of(np.array([0.5, 0.2, 0.0])) == [USUAL] * 3
    assert leeways_of(np.array([0.3, 0.2, 0.0])) == [TOGETHER, TOGETHER, IDLE]
    row = counted([6, 2, 2], [34, 33, 33])
    usual, together = (in_accord(np.array([0.2]), [row], [how])[0] for how in (USUAL, TOGETHER))
    assert row.share < together < usual
    assert in_accord(np.array([0.2]), [row], [IDLE])[0] == row.share


def test_bounds_hold_the_counts_where_a_model_is_trusted_less() -> None:
    row = counted([6, 2, 2], [34, 33, 33])
    given = np.array([0.001]), np.array([0.002])
    assert [ends[0] for ends in widened(given, [row], [USUAL])] == [0.001, 0.002]
    low, high = widened(given, [row], [IDLE])
    assert low[0] <= 0.001
    assert high[0] > row.share > 0.002


def test_of_a_jump_that_two_make_together_neither_gets_more_than_it_counts() -> None:
    rng = np.random.default_rng(4)
    x = rng.random((4, 200))
    loss = ((x[0] > 0.5) ^ (x[1] > 0.5)) + 0.5 * np.abs(x[2] - 0.4) + 0.05 * rng.normal(size=200)
    names = [f"x{j}" for j in range(4)]
    a = pa.analyze(dict(zip(names, x, strict=True)), loss, space=dict.fromkeys(names, pa.Float(0, 1)), direction="min")
    found, rows = a.importance(draws=0), a.importance(estimator="counts", draws=0)
    assert found.estimator == "surrogate"
    assert all(found[name].share <= rows[name].share + 0.01 for name in ("x0", "x1"))
    assert found["x2"].ratio > 0.75
