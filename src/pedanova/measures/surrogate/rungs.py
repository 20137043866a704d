"""The objective's values from best to worst: what each quantile and value means, in rows and in space."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.data.regions import Cut, Quantile, rank_of

Reals: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.int64]
ROUNDING = 1e-9  # parts of the space are sums of weights


@dataclass(frozen=True, slots=True, eq=False)
class Rungs:
    """Every value that occurs, best first. A cut always falls behind one: equal rows stay together."""

    values: Reals  # (rungs,) objective, lower is better
    rows: Indices  # (rungs,) rows up to here
    parts: Reals  # (rungs,) part of the space up to here, as the rows stand for it

    def __len__(self) -> int:
        return len(self.values)

    def behind(self, cut: Cut, *, of_rows: bool = False) -> int:
        """How many rungs a cut takes in. Quantiles are parts of the space, or of the rows."""
        if not isinstance(cut, Quantile):
            return int(np.searchsorted(self.values, cut.signed, side="right"))
        if of_rows:
            return self.of_rows(cut.part)
        held = int(np.searchsorted(self.parts, float(cut.part) - ROUNDING, side="left"))
        return min(held + 1, len(self))

    def of_rows(self, part: Fraction) -> int:
        """How many rungs the best part of the rows takes up, ties included."""
        rank = rank_of(part, int(self.rows[-1]))
        return min(int(np.searchsorted(self.rows, rank, side="left")) + 1, len(self))

    def part_of(self, rungs: int) -> float:
        """Of the space."""
        return float(self.parts[rungs - 1]) if rungs else 0.0

    def rows_of(self, rungs: int) -> int:
        return int(self.rows[rungs - 1]) if rungs else 0

    def value_of(self, rungs: int) -> float:
        """Of the last rung inside; minus infinity where there is none."""
        return float(self.values[rungs - 1]) if rungs else -np.inf


def rungs_of(signed: Reals, weights: Reals) -> Rungs:
    """Of these rows; each stands for so much of the space."""
    values, places, counts = np.unique(signed, return_inverse=True, return_counts=True)
    held = np.cumsum(np.bincount(places, weights=weights))
    return Rungs(values, np.cumsum(counts), held / held[-1])
