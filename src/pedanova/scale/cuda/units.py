"""In which units an objective is summed on a card: whole numbers, so that no order of threads can change a sum.

Where the numbers of a level lie near each other, as they mostly do, their multiples of the level's last digit, counted
from its first number on, fit one word (`NARROW`). Doubles, and numbers of very different sizes, take two longer ones
(`WIDE`), and in the extreme one such pair for each band of sizes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pedanova.counting.levels import Levels
from pedanova.scale.cuda.order import ColumnExtent

NONE, NARROW, WIDE = range(3)  # ways to a sum
WORDS = (0, 2, 4)  # of 64 bits on the card, for each
SUM_BITS = 42  # of a wide multiple: 2^20 of them fit 62 bits
NARROW_BITS = 50  # of a narrow one: exact in a double beside the number that brings it to whole ones
WORD = 32  # bits that are summed in shared memory; what is beyond goes to the card's memory
FEW = 1 / 16  # of the rows may go there
MAGIC = 1.5 * 2.0**52  # adding it leaves a whole number in the last bits


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """In which units the objective is summed, by level."""

    powers: NDArray[np.int32]  # (levels,) a sum counts multiples of 2^-power
    way: int
    firsts: NDArray[np.float64] | None = None  # (levels,) narrow: what multiples are counted from
    sizes: tuple[float, float] = (0.0, np.inf)  # of the numbers that are summed: from, and below

    def pairs(self) -> NDArray[np.float64]:
        """(levels, 2) The two numbers by which a kernel finds multiples."""
        if self.firsts is not None:
            return np.stack([np.ldexp(1.0, self.powers), MAGIC - self.firsts], axis=1)
        halves = self.powers // 2
        pairs: NDArray[np.float64] = np.ldexp(1.0, np.stack([halves, self.powers - halves], axis=1))
        return pairs


def units_for(levels: Levels, extent: ColumnExtent, rows: NDArray[np.int64], *, single: bool) -> Units | None:
    """Units that keep every digit, given the objective's extent and about how many rows each level has.

    None where a level holds numbers of too different sizes: then they are summed in bands.
    """
    signed = np.sort(np.array([levels.sign * extent.low, levels.sign * extent.high]))
    inner = np.clip(levels.sign * levels.thresholds[:-1], *signed)
    begins, stops = np.append(signed[0], inner), np.append(inner, signed[1])
    sizes = np.maximum(np.abs(begins), np.abs(stops))
    crosses = (begins <= 0) & (stops >= 0)
    smallest = extent.smallest if extent.smallest > 0 else 1.0
    least = np.where(crosses, smallest, np.minimum(np.abs(begins), np.abs(stops)))
    digits = 24 if single else 53
    last = np.frexp(least)[1] - digits  # the power of the last digit of the least number
    narrow = _narrow(levels.sign, begins, stops, np.maximum(last, 0) if extent.whole else last, rows)
    if narrow is not None:
        return narrow
    tops = np.where(sizes > 0, np.frexp(sizes)[1], 0)
    if np.max(np.where(sizes > 0, tops - last, 0)) > 2 * SUM_BITS:
        return None
    return Units((SUM_BITS - tops).astype(np.int32), WIDE)


def _narrow(
    sign: float,
    begins: NDArray[np.float64],
    stops: NDArray[np.float64],
    last: NDArray[np.int_],
    rows: NDArray[np.int64],
) -> Units | None:
    """Multiples from the first number of each level on, where they are small enough and most fit a word."""
    with np.errstate(over="ignore"):
        firsts = np.floor(np.ldexp(np.where(sign > 0, begins, -stops), -last))
        spans = np.ldexp(stops - begins, -last) + 2
    most = 2.0**NARROW_BITS
    if np.abs(last).max() > 1000 or not (np.abs(firsts).max() < most and spans.max() < most):
        return None
    if rows[spans > 2.0**WORD].sum() > FEW * rows.sum():
        return None
    return Units((-last).astype(np.int32), NARROW, firsts)


def bands_of(exponents: NDArray[np.int64], levels: int) -> list[Units]:
    """Units of numbers whose sizes differ without measure, given how many have each exponent of a double."""
    held = [int(place) for place in np.flatnonzero(exponents[:-1])]  # the last is of what is not finite
    bands: list[Units] = []
    width = 2 * SUM_BITS - 53
    while held:
        top = held[-1] - 1022  # numbers of this exponent are below 2^top
        low = top - width
        held = [place for place in held if place - 1022 <= low]
        least = 0.0 if not held else float(np.ldexp(1.0, low))
        most = np.inf if not bands else bands[-1].sizes[0]
        bands.append(Units(np.full(levels, SUM_BITS - top, dtype=np.int32), WIDE, sizes=(least, most)))
    return bands
