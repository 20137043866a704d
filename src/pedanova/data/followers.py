"""Columns that go up and down with the objective in every row: rather another form of it than a setting."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.base.notes import Note
from pedanova.data.column import Column, Mask
from pedanova.data.objectives import Goal

LEAST = 20  # different objectives: fewer may be in one order by chance
MOST_ROWS = 100_000  # looked at
A_LOOK = 100  # rows that mostly suffice to see that a column is none


def follower_notes(
    names: Iterable[str], columns: Mapping[str, Column], goals: Iterable[Goal], keep: Mask | None
) -> list[Note]:
    """A warning on every parameter that an objective tells without exception, or that tells it."""
    notes = []
    for name in names:
        for goal in goals:
            if follows(columns[name], goal.values, keep):
                words = f"goes with {goal.name} in every row, as another form of it would; exclude it if it is a result"
                notes.append(Note("doubt", words, subject=name))
                break
    return notes


def follows(column: Column, objective: NDArray[Any], keep: Mask | None) -> bool:
    """Whether one is a strictly rising or falling function of the other, seen from up to 100,000 rows."""
    if column.labels is not None or column.values.dtype.kind not in "iuf":
        return False
    for most in (A_LOOK, MOST_ROWS):  # what holds of all rows holds of some
        rows = slice(None, None, max(1, len(objective) // most))
        known, values, goal = _known(column, objective, keep, rows)
        if not in_step(values, goal):
            return False
    return known >= LEAST and 2 * known >= len(objective[rows]) and len(np.unique(goal)) >= LEAST


def _known(
    column: Column, objective: NDArray[Any], keep: Mask | None, rows: slice
) -> tuple[int, NDArray[np.float64], NDArray[np.float64]]:
    """How many of some rows have both numbers, and these."""
    values, goal = (array[rows].astype(np.float64) for array in (column.values, objective))
    known = np.isfinite(values) & np.isfinite(goal)
    known &= True if column.missing is None else ~column.missing[rows]
    known &= True if keep is None else keep[rows]
    return int(np.count_nonzero(known)), values[known], goal[known]


def in_step(values: NDArray[np.float64], goal: NDArray[np.float64]) -> bool:
    """Whether values rise, or fall, just where the goal rises."""
    order = np.argsort(goal, kind="stable")
    with np.errstate(over="ignore", invalid="ignore"):
        up, along = np.diff(goal[order]) > 0, np.diff(values[order])
    return np.array_equal(along != 0, up) and bool((along >= 0).all() or (along <= 0).all())
