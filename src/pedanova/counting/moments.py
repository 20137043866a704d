"""Mean and variance of the objective over any range of levels, from three numbers a level."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pedanova.counting.levels import LARGEST, Levels
from pedanova.errors import Arg, MergeError

Reals = NDArray[np.float64]  # (levels,)
Powers = NDArray[np.int64]
ROUNDING = 1e-15  # a smaller part of the terms that should cancel is nothing
ORDINARY = 400  # powers of two, either way, whose squares a double holds with all digits
SHRUNK, STRETCHED = 600, -480  # by which larger and smaller objectives are divided before they are squared


@dataclass(frozen=True, slots=True)
class ObjectiveSpread:
    """Mean and variance of some rows; NaN where they have none. The variance is in units of 4 ** power."""

    mean: float
    scaled: float
    power: int = 0

    @property
    def variance(self) -> float:
        """In squared units of the objective; 0 or infinite where a double cannot hold it."""
        return self.squared(self.scaled)

    def squared(self, scaled: float) -> float:
        """A number in units of 4 ** power, in squared units of the objective."""
        with np.errstate(over="ignore", under="ignore"):
            return float(np.ldexp(scaled, 2 * self.power))


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Rows, Σ(f - centre) and Σ(f - centre)² of every level. Moments of parts add up.

    Each level has a centre of its own: where the best rows differ in the eighth digit, sums around
    anything farther away would drown the difference. Where objectives are too large or too small to
    be squared, differences are divided by a power of two first.
    """

    centres: Reals
    rows: NDArray[np.int64]
    sums: Reals
    squares: Reals
    powers: Powers = field(default_factory=lambda: np.zeros(1, dtype=np.int64))  # (levels,)

    def __post_init__(self) -> None:
        shapes = {self.rows.shape, self.sums.shape, self.squares.shape}
        if shapes != {self.centres.shape}:
            raise MergeError(f"moments of {len(self.centres)} levels cannot have shapes {sorted(shapes)}")
        object.__setattr__(self, "powers", np.broadcast_to(self.powers, self.centres.shape))

    def spread(self, first: int, last: int) -> ObjectiveSpread:
        """Mean and variance (divided by the rows) of the levels from `first` up to `last`.

        NaN where a level holds an objective that is infinite, NaN or too large to square.
        """
        part = slice(first, last)
        rows, squares, powers = self.rows[part], self.squares[part], self.powers[part]
        total = int(rows.sum())
        if not total or not np.isfinite(squares).all():
            return ObjectiveSpread(math.nan, math.nan)
        pivot = self.centres[part][int(np.argmax(rows))]
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            off = np.where(rows > 0, self.centres[part] - pivot, 0.0)
            power = power_of(off, squares, powers)
            off, sums = np.ldexp(off, -power), np.ldexp(self.sums[part], powers - power)
            squares = np.ldexp(squares, 2 * (powers - power))
            mean = float(np.sum(rows * off + sums)) / total
            away = off - mean
            terms = np.array([squares, 2.0 * sums * away, rows * away**2])
            spread, size = float(terms.sum()) / total, float(np.abs(terms).sum()) / total
        if not math.isfinite(size):
            return ObjectiveSpread(math.nan, math.nan)
        return ObjectiveSpread(float(pivot + np.ldexp(mean, power)), spread if spread > ROUNDING * size else 0.0, power)

    def clipped(self, first: int, value: float) -> Moments:
        """The levels from `first` on count as `value`."""
        centres, sums, squares = self.centres.copy(), self.sums.copy(), self.squares.copy()
        centres[first:], sums[first:], squares[first:] = value, 0.0, 0.0
        return Moments(centres, self.rows, sums, squares, self.powers)

    def __add__(self, other: Moments) -> Moments:
        if not isinstance(other, Moments):
            return NotImplemented
        if not (np.array_equal(self.centres, other.centres) and np.array_equal(self.powers, other.powers)):
            raise MergeError(
                "moments have different centres; analyze the second part with ", Arg("levels", shown="first.levels")
            )
        sums, squares = self.sums + other.sums, self.squares + other.squares
        return Moments(self.centres, self.rows + other.rows, sums, squares, self.powers)


def power_of(off: Reals, squares: Reals, powers: Powers) -> int:
    """The power of two nearest to the largest distance, be it between centres or from one; 0 if all are 0."""
    sizes = np.concatenate([np.abs(off), np.sqrt(squares)])
    added = np.concatenate([np.zeros_like(powers), powers])
    finite = (sizes > 0) & np.isfinite(sizes)
    return int(np.max(np.frexp(sizes[finite])[1] + added[finite])) if finite.any() else 0


def centres_of(levels: Levels) -> Reals:
    """(levels,) A finite number near each level, from the thresholds alone: parts share it."""
    ends = levels.thresholds
    finite = np.flatnonzero(np.abs(ends) < LARGEST)
    if not len(finite):
        return np.zeros(levels.count)
    nearest: Reals = ends[np.clip(np.arange(levels.count), finite[0], finite[-1])]
    return nearest.astype(np.float64)


def powers_of(levels: Levels) -> Powers:
    """(levels,) What differences inside each level are divided by, as a power of two: mostly 0."""
    sizes = np.abs(levels.thresholds)
    sizes = np.where(sizes < LARGEST, sizes, 0.0)
    largest = np.maximum(sizes, np.append(0.0, sizes[:-1]))
    powers = np.frexp(largest)[1]
    return np.select([powers > ORDINARY, powers < -ORDINARY], [SHRUNK, STRETCHED], 0).astype(np.int64)
