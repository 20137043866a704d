"""How far the mean objective of a cell may be off: from rows and sums by [level × cell] and the spread of each level.

A tally knows the mean of every level in every cell, but not how rows scatter inside one. What the cells of a
level leave of its scatter is spread evenly over its rows: levels are thin, so that is little, and none at all
where every row has a level of its own.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.counting.contrasts import Range
from pedanova.counting.moments import Moments, ObjectiveSpread
from pedanova.counting.tally import Tally
from pedanova.measures.share import ratio_of
from pedanova.measures.smoothing import smooth, squared_smooth

Reals: TypeAlias = NDArray[np.float64]
FREEDOMS = np.array([np.inf, 60, 30, 20, 15, 10, 8, 6, 5, 4, 3, 2, 1])
STUDENT = np.array([1.960, 2.000, 2.042, 2.086, 2.131, 2.228, 2.306, 2.447, 2.571, 2.776, 3.182, 4.303, 12.706])


def squares_of(tally: Tally, moments: Moments, outer: Range, cut: int, value: float, spread: ObjectiveSpread) -> Reals:
    """(cells + 2,) Σ (objective - mean)² of the region, in units of 4 ** power; from level `cut` on it is `value`."""
    total = np.zeros(tally.counts.shape[1])
    for level in range(*outer):
        counts = tally.counts[level]
        if not counts.any():
            continue
        if level >= cut:
            total += counts * float(np.ldexp(value - spread.mean, -spread.power)) ** 2
            continue
        means = np.ldexp(ratio_of(tally.sums[level], counts) - spread.mean, -spread.power)
        total += counts * means**2 + np.maximum(counts - 1, 0) * scatter_of(level, counts, means, moments, spread)
    return total


def scatter_of(level: int, counts: NDArray[np.int64], means: Reals, moments: Moments, spread: ObjectiveSpread) -> float:
    """What the cells of one level leave of its variance, in units of 4 ** power."""
    free = int(counts.sum()) - int(np.count_nonzero(counts))
    own = moments.spread(level, level + 1)
    if free <= 0 or not np.isfinite(own.scaled):
        return 0.0
    whole = float(np.ldexp(own.scaled, 2 * (own.power - spread.power))) * int(counts.sum())
    mean = float(np.ldexp(own.mean - spread.mean, -spread.power))
    return max(0.0, whole - float(counts @ (means - mean) ** 2)) / free


def half_widths(counts: NDArray[np.int64], means: Reals, squares: Reals, width: float) -> Reals:
    """(cells,) Of a 95 % interval of each mean (Student's), NaN below two rows; all of one block, and off the mean."""
    rows = smooth(counts.astype(np.float64), width)
    many = ratio_of(rows**2, squared_smooth(counts.astype(np.float64), width))  # rows that would tell as much
    variance = np.maximum(0.0, ratio_of(smooth(squares, width), rows) - np.nan_to_num(means) ** 2)
    free = np.maximum(many - 1.0, 1e-9)
    half = student(free) * np.sqrt(variance / free)  # variance · many / (many - 1), over many rows
    return np.where(many >= 2.0 - 1e-9, half, np.nan)


def student(free: Reals) -> Reals:
    """Where 97.5 % of Student's law end, to half a percent from two degrees of freedom on."""
    ends: Reals = np.exp(np.interp(1.0 / np.maximum(free, 1.0), 1.0 / FREEDOMS, np.log(STUDENT)))
    return ends
