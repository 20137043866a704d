"""Repeated configurations (seeds, budgets, folds): one row for each, its objective averaged."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pedanova.data.column import Column
from pedanova.data.objectives import Goal
from pedanova.data.outcomes import Fates


def configurations(columns: Iterable[Column]) -> NDArray[np.int64]:
    """(rows,) The same number for rows whose parameters all agree; missing agrees with missing."""
    groups: NDArray[np.int64] | None = None
    for column in columns:
        values = np.unique(column.values, return_inverse=True)[1].reshape(-1)
        values = np.where(column.absent(), -1, values) + 1
        mixed = values if groups is None else groups * (int(values.max(initial=0)) + 1) + values
        groups = np.unique(mixed, return_inverse=True)[1].reshape(-1)
    return groups if groups is not None else np.empty(0, dtype=np.int64)


def first_rows(groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """The first row of each configuration, in the order of the table."""
    return np.unique(groups, return_index=True)[1]


def average(goals: tuple[Goal, ...], fates: Fates, groups: NDArray[np.int64], how: str) -> tuple[Goal, ...]:
    """Goals with one value for each configuration; a row that counts as worst weighs as infinity."""
    count = int(groups.max(initial=-1)) + 1
    kept = fates.keep
    combine = _means if how == "mean" else _medians
    averaged = []
    for goal in goals:
        signed = np.where(fates.worst, np.inf, goal.sign * goal.values.astype(np.float64))[kept]
        averaged.append(replace(goal, values=goal.sign * combine(signed, groups[kept], count)))
    return tuple(averaged)


def _means(values: NDArray[np.float64], groups: NDArray[np.int64], count: int) -> NDArray[np.float64]:
    rows = np.bincount(groups, minlength=count)
    with np.errstate(invalid="ignore", divide="ignore"):
        means: NDArray[np.float64] = np.bincount(groups, weights=values, minlength=count) / rows
    return means


def _medians(values: NDArray[np.float64], groups: NDArray[np.int64], count: int) -> NDArray[np.float64]:
    order = np.lexsort([values, groups])
    rows = np.bincount(groups, minlength=count)
    start = np.cumsum(rows) - rows
    medians = np.full(count, np.nan)
    some = rows > 0
    low = values[order][start[some] + (rows[some] - 1) // 2]
    high = values[order][start[some] + rows[some] // 2]
    with np.errstate(invalid="ignore"):
        medians[some] = np.where(low == high, low, (low + high) / 2)
    return medians
