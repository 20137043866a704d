"""The objective's values from best to worst: what each quantile and value means, in rows and in space."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.data.regions import Cut, Direction, Quantile, Region, rank_of

Reals: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.int64]
Span: TypeAlias = tuple[int, int]  # rungs before it, and up to its end
ROUNDING = 1e-9  # parts of the space are sums of weights


@dataclass(frozen=True, slots=True, eq=False)
class Rungs:
    """Every value that occurs, best first. A cut always falls behind one: equal rows stay together."""

    values: Reals  # (rungs,) objective, lower is better
    rows: Indices  # (rungs,) rows up to here
    parts: Reals  # (rungs,) part of the space up to here, as the rows stand for it

    def __len__(self) -> int:
        return len(self.values)

    def span(self, region: Region, direction: Direction, *, of_space: bool = False) -> Span:
        """The rungs of a region of the objective; quantiles are parts of the rows, or of the space."""
        begin, end = region.cuts(direction)
        first = 0 if begin is None else self.behind(begin, of_space=of_space)
        last = len(self) if end is None else self.behind(end, of_space=of_space)
        return first, max(first, last)

    def behind(self, cut: Cut, *, of_space: bool = False) -> int:
        """How many rungs a cut takes in."""
        if not isinstance(cut, Quantile):
            return int(np.searchsorted(self.values, cut.signed, side="right"))
        if not of_space:
            return self.of_rows(cut.part)
        if cut.part == 0:
            return 0
        held = int(np.searchsorted(self.parts, float(cut.part) - ROUNDING, side="left"))
        return min(held + 1, len(self))

    def of_rows(self, part: Fraction) -> int:
        """How many rungs the best part of the rows takes up, ties included."""
        rank = rank_of(part, int(self.rows[-1]))
        return min(int(np.searchsorted(self.rows, rank, side="left")) + 1, len(self)) if rank else 0

    def part_of(self, rungs: int) -> float:
        """Of the space."""
        return float(self.parts[rungs - 1]) if rungs else 0.0

    def rows_of(self, rungs: int) -> int:
        return int(self.rows[rungs - 1]) if rungs else 0

    def size(self, span: Span) -> int:
        """Rows in a span."""
        return self.rows_of(span[1]) - self.rows_of(span[0])

    def value_of(self, rungs: int) -> float:
        """Of the last rung inside; minus infinity where there is none."""
        return float(self.values[rungs - 1]) if rungs else -np.inf


def rungs_of(signed: Reals, weights: Reals | None = None) -> Rungs:
    """Of these rows; each stands for so much of the space, all for as much where no weights are given."""
    values, places, counts = np.unique(signed, return_inverse=True, return_counts=True)
    rows = np.cumsum(counts)
    held = rows.astype(np.float64) if weights is None else np.cumsum(np.bincount(places, weights=weights))
    return Rungs(values, rows, held / held[-1])
