"""Mean and variance of the objective over any range of levels, from three numbers a level."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pedanova.counting.levels import Levels
from pedanova.errors import Arg, MergeError

Reals = NDArray[np.float64]  # (levels,)
ROUNDING = 1e-15  # a smaller part of the terms that should cancel is nothing


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Rows, Σ(f - centre) and Σ(f - centre)² of every level. Moments of parts add up.

    Each level has a centre of its own: where the best rows differ in the eighth digit, sums around
    anything farther away would drown the difference.
    """

    centres: Reals
    rows: NDArray[np.int64]
    sums: Reals
    squares: Reals

    def __post_init__(self) -> None:
        shapes = {self.rows.shape, self.sums.shape, self.squares.shape}
        if shapes != {self.centres.shape}:
            raise MergeError(f"moments of {len(self.centres)} levels cannot have shapes {sorted(shapes)}")

    def range(self, first: int, last: int) -> tuple[float, float]:
        """Mean and variance (divided by the rows) of the levels from `first` up to `last`.

        NaN where a level holds an objective that is infinite, NaN or too large to square.
        """
        part = slice(first, last)
        rows, centres = self.rows[part], self.centres[part]
        sums, squares = self.sums[part], self.squares[part]
        total = int(rows.sum())
        if not total or not np.isfinite(squares).all():
            return math.nan, math.nan
        pivot = centres[int(np.argmax(rows))]
        with np.errstate(over="ignore", invalid="ignore"):
            mean = float(np.sum(rows * (centres - pivot) + sums)) / total
            away = centres - (pivot + mean)
            terms = np.array([squares, 2.0 * sums * away, rows * away**2])
            spread, size = float(terms.sum()) / total, float(np.abs(terms).sum()) / total
        if not math.isfinite(size):
            return math.nan, math.nan
        return float(pivot + mean), spread if spread > ROUNDING * size else 0.0

    def clipped(self, first: int, value: float) -> Moments:
        """The levels from `first` on count as `value`."""
        centres, sums, squares = self.centres.copy(), self.sums.copy(), self.squares.copy()
        centres[first:], sums[first:], squares[first:] = value, 0.0, 0.0
        return Moments(centres, self.rows, sums, squares)

    def __add__(self, other: Moments) -> Moments:
        if not isinstance(other, Moments):
            return NotImplemented
        if not np.array_equal(self.centres, other.centres):
            raise MergeError(
                "moments have different centres; analyze the second part with ", Arg("levels", shown="first.levels")
            )
        return Moments(self.centres, self.rows + other.rows, self.sums + other.sums, self.squares + other.squares)


def centres_of(levels: Levels) -> Reals:
    """(levels,) A finite number near each level, from the thresholds alone: parts share it."""
    ends = levels.thresholds
    finite = np.flatnonzero(np.isfinite(ends))
    if not len(finite):
        return np.zeros(levels.count)
    nearest: Reals = ends[np.clip(np.arange(levels.count), finite[0], finite[-1])]
    return nearest.astype(np.float64)
