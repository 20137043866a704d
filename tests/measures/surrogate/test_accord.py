from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import pedanova as pa
from pedanova.counting.contrasts import Contrast
from pedanova.measures.importance import Importance, measure
from pedanova.measures.surrogate.accord import in_accord
from pedanova.space.grid import grid_of


def counted(target: list[int], region: list[int]) -> Importance:
    grid = grid_of(pa.Categorical(range(len(target))))
    return measure(
        Contrast("x", grid, np.array([*target, 0, 0]), np.array([*region, 0, 0])), baseline="region", smoothing="none"
    )


def test_few_rows_leave_the_model_its_word() -> None:
    row = counted([6, 2, 2], [34, 33, 33])
    assert in_accord(np.array([0.02]), [row])[0] == pytest.approx(0.02, rel=0.05)


def test_many_rows_decide() -> None:
    for share in (0.2, 0.0):
        row = counted([60_000, 20_000, 20_000], [400_000, 300_000, 300_000])
        moved = in_accord(np.array([share]), [row])[0]
        assert moved == pytest.approx(row.share, abs=0.002)


def test_what_chance_does_not_explain_is_not_believed() -> None:
    row = counted([10, 10, 10], [100, 100, 100])
    moved = in_accord(np.array([0.01, 0.3]), [row, row])
    assert moved[0] == pytest.approx(0.01, rel=0.05)  # chance may hide that
    assert row.share < moved[1] < 0.1


def test_what_never_varied_stays() -> None:
    row = replace(counted([4, 3, 3], [34, 33, 33]), varied=False)
    assert in_accord(np.array([0.4]), [row])[0] == 0.4
