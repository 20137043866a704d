"""A short and slow implementation of counting in plain NumPy; tests compare all other implementations with it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.counting.levels import Levels
from pedanova.data.column import Column, cells_of
from pedanova.space.grid import Grid

Counted = tuple[NDArray[np.int64], NDArray[np.float64]]


def assign_levels(objective: NDArray[Any], levels: Levels) -> NDArray[np.int64]:
    """The level of each row, as an array (rows,); rows that are dropped get ``levels.count``."""
    signed = levels.sign * objective.astype(np.float64)
    codes = np.searchsorted(levels.boundaries, signed, side="right")
    nan_level = levels.count - 1 if levels.nan == "worst" else levels.count
    codes[np.isnan(signed)] = nan_level
    return codes


def count(column: Column, grid: Grid, codes: NDArray[Any], objective: NDArray[Any], levels: int) -> Counted:
    """The number of rows and the sum of the objective by level and cell: two arrays (levels, cells + 2)."""
    flat = codes.astype(np.int64) * grid.width + cells_of(column, grid)
    size = (levels + 1) * grid.width
    counts = np.bincount(flat, minlength=size).reshape(levels + 1, grid.width)
    sums: NDArray[Any] = np.bincount(flat, weights=objective.astype(np.float64), minlength=size)
    return counts[:levels].astype(np.int64), sums.reshape(levels + 1, grid.width)[:levels]


def sum_levels(
    objective: NDArray[Any], codes: NDArray[Any], centres: NDArray[np.float64], powers: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """For each code: the number of rows, and the sum and sum of squares of ``(objective - centre) / 2 ** power``."""
    with np.errstate(invalid="ignore", over="ignore"):
        beyond = np.ldexp(objective.astype(np.float64) - centres[codes], -powers[codes])
        squares = beyond**2
    size = len(centres)
    rows: NDArray[Any] = np.bincount(codes, minlength=size).astype(np.int64)
    sums: NDArray[Any] = np.bincount(codes, weights=beyond, minlength=size)
    square: NDArray[Any] = np.bincount(codes, weights=squares, minlength=size)
    return rows, sums, square
