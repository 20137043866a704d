"""Levels: disjoint ranges of the objective between exact quantiles, stored as thresholds."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.base.kernel.selection import distinct
from pedanova.data.options import NanPolicy
from pedanova.data.regions import Cut, Direction, Quantile, Region, as_part, part_in_words, rank_of, sign_of
from pedanova.errors import Arg, DataError, LevelsError, QueryError
from pedanova.space.values import items_of, shown

LADDER = tuple(
    Fraction(thousandths, 1000) for thousandths in [1, 2, 3, 5, 7, *range(10, 101, 10), 120, *range(150, 1001, 50)]
)
SHORT_LADDER = tuple(Fraction(percents, 100) for percents in (1, 5, 10, 25, 50, 100))
SMALL = 128  # up to this many rows, every distinct objective is a level, so any quantile is exact
LARGEST_TALLIES = 1 << 26  # counts of all parameters together: 1 GB with their sums
MAX_LEVELS = 65_000  # level codes have 16 bits
# The signed objective at some ranks (1 = smallest), the number of kept rows, and how many of them have a number.
RankedObjective: TypeAlias = tuple[Callable[[Iterable[int]], Mapping[int, float]], int, int]
LARGEST = float(np.finfo(np.float64).max)  # a threshold here separates rows without a finite objective


@dataclass(frozen=True, slots=True, eq=False)
class Levels:
    """Disjoint ranges of the objective, best first. Each level ends at a threshold (included).

    The last threshold is infinite, so every row has a level. Two analyses can be added if the second was made with the
    levels of the first: ``analyze(..., levels=first.data.levels)``.

    Attributes
    ----------
    direction
        ``"minimize"`` or ``"maximize"``.
    nan
        What happens to rows without an objective: ``"drop"``, or ``"worst"`` to treat them as the worst rows.
    thresholds
        The thresholds in units of the objective, best first.
    quantiles
        The quantiles in ascending order; the last is 1.
    index
        For each quantile, the index of the last level inside the quantile.
    complete
        Whether every distinct value of the objective has its own level.
    own
        Whether the levels were computed from the counted rows; False if they come from another analysis.
    several
        Whether there are several objectives. If True, the thresholds are Pareto ranks.

    Examples
    --------
    >>> import pedanova as pa
    >>> levels = pa.analyze(pa.demo_trials(), "error", levels=[0.1, 0.5]).data.levels
    >>> [float(part) for part in levels.quantiles]
    [0.1, 0.5, 1.0]
    """

    direction: Direction
    nan: NanPolicy
    thresholds: NDArray[np.float64]  # (levels,) in units of the objective, best first
    quantiles: tuple[Fraction, ...]  # ascending, the last is 1
    index: tuple[int, ...]  # the last level of each quantile
    complete: bool = False  # whether every distinct objective has its own level
    own: bool = True  # whether the levels come from the counted rows
    several: bool = False  # whether there are several objectives

    def __post_init__(self) -> None:
        object.__setattr__(self, "thresholds", self.thresholds.view())
        self.thresholds.flags.writeable = False

    @property
    def count(self) -> int:
        return len(self.thresholds)

    @property
    def sign(self) -> float:
        return sign_of(self.direction)

    @property
    def boundaries(self) -> NDArray[np.float64]:
        """For each level except the last: the next number after its threshold, multiplied by -1 if larger is better."""
        with np.errstate(over="ignore", under="ignore"):  # the next number after the largest double is infinity
            return np.nextafter(self.sign * self.thresholds[:-1], np.inf)

    @property
    def apart(self) -> bool:
        """Whether the last level contains only rows without a finite objective."""
        return self.complete or (self.count > 1 and float(self.sign * self.thresholds[-2]) == LARGEST)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Levels) and self.difference(other) is None

    def __hash__(self) -> int:
        return hash((self.direction, self.nan, self.thresholds.tobytes()))

    def difference(self, other: Levels) -> str | None:
        """A description of the first difference between two sets of levels; None if the levels are equal."""
        for what, name in (("directions", "direction"), ("NaN policies", "nan"), ("numbers of levels", "count")):
            if getattr(self, name) != getattr(other, name):
                return f"{what} differ: {getattr(self, name)} and {getattr(other, name)}"
        unlike = np.flatnonzero(self.thresholds != other.thresholds)
        if len(unlike):
            i = unlike[0]
            return f"thresholds differ: {self.thresholds[i]:g} and {other.thresholds[i]:g}"
        if (self.quantiles, self.index) != (other.quantiles, other.index):
            return "quantiles or their thresholds differ"
        return None

    def borrowed(self) -> Levels:
        """The same levels, marked as taken from another analysis; quantiles refer to the rows of that analysis."""
        return replace(self, complete=False, own=False)

    def with_values(self, values: Iterable[float]) -> Levels:
        signed = self.sign * self.thresholds
        cuts = np.unique(np.concatenate([signed, np.fromiter(values, dtype=np.float64)])) + 0.0
        index = tuple(int(np.searchsorted(cuts, signed[level])) for level in self.index)
        return replace(self, thresholds=self.sign * cuts, index=index)

    def find(self, region: Region, rows: NDArray[np.int64]) -> tuple[int, int]:
        """The levels of a region, as (first, last + 1). The argument `rows` is the number of rows in each level."""
        begin, end = region.cuts(self.direction)
        first = 0 if begin is None else self._place(begin, rows)
        last = self.count if end is None else self._place(end, rows)
        return first, max(first, last)

    def by_value(self, region: Region) -> Region:
        """The same region with its quantiles replaced by thresholds of these levels."""
        if region.kind == "value":
            return region
        first, last = self.find(region, np.zeros(self.count, dtype=np.int64))
        beyond = float(np.nextafter(self.sign * self.thresholds[first - 1], math.inf)) if first else -math.inf
        ends = sorted(self.sign * end for end in (beyond, float(self.sign * self.thresholds[last - 1])))
        low, high = (None if math.isinf(end) else float(end) for end in ends)
        return Region("value", low, high)

    def _place(self, cut: Cut, rows: NDArray[np.int64]) -> int:
        """The number of levels that lie before `cut`; raises an error if `cut` is not a threshold."""
        if isinstance(cut, Quantile):
            place = bisect_left(self.quantiles, cut.part)
            if self.quantiles[place] == cut.part:
                return self.index[place] + 1
            if self.complete:
                rank = rank_of(cut.part, int(rows.sum()))
                return int(np.searchsorted(np.cumsum(rows), rank)) + 1
            have = ", ".join(part_in_words(part) for part in self.quantiles)
            why = "the rows are no longer available" if self.own else "the levels come from another analysis"
            raise LevelsError(
                f"{cut} cannot be counted, because {why}; choose one of {have}, or analyze the data again with ",
                Arg("levels"),
                "[…]",
            )
        signed = self.sign * self.thresholds
        hit = np.flatnonzero(signed == cut.signed)
        if len(hit) or self.complete:
            return int(np.searchsorted(signed, cut.signed, side="right"))
        have = ", ".join(f"{value:g}" for value in self.thresholds[:-1] if abs(value) < LARGEST)
        raise LevelsError(
            f"the threshold {self.sign * cut.signed:g} cannot be used, because the rows are no longer available; "
            f"choose one of {have}"
        )

    def effective(self, rows: NDArray[np.int64]) -> list[float]:
        """For each quantile, the actual fraction of rows up to its threshold; with ties it can exceed the quantile."""
        total = max(1, int(rows.sum()))
        reached = np.cumsum(rows)
        return [float(reached[level]) / total for level in self.index]


def as_ladder(quantiles: Iterable[object] | None) -> tuple[Fraction, ...]:
    if quantiles is None:
        return LADDER
    chosen = items_of(quantiles)
    if chosen is None:
        given = type(quantiles).__name__ if hasattr(quantiles, "levels") else shown(quantiles)
        raise QueryError(
            Arg("levels", shown=f"{given}"), " must be a list of quantiles, or the .levels of another analysis"
        )
    parts = {as_part(part, "levels") for part in chosen} | {Fraction(1)}
    if len(parts) > MAX_LEVELS:
        raise QueryError(f"levels: {len(parts)} quantiles are too many (at most {MAX_LEVELS})")
    return tuple(sorted(parts, key=lambda part: (float(part), part)))  # fractions are slow to compare


def levels_at(
    ranked: RankedObjective, direction: Direction, nan: NanPolicy, quantiles: Sequence[Fraction], *, every: bool = False
) -> Levels:
    """Levels at exact quantiles: with N rows, the level of quantile γ ends at the ⌈γN⌉-th best row. Rows with equal
    objectives are never separated. With `every`, a small table gets a level for each distinct objective."""
    values_at, kept, numbers = ranked
    if not numbers:
        raise DataError(f"the objective is NaN in all {kept:,} rows; use another objective")
    rows = kept if nan == "worst" else numbers
    ranks = [rows + 1 if part == 1 else rank_of(part, rows) for part in quantiles]  # all rows end at no threshold
    complete = every and numbers <= SMALL
    # Quantiles beyond the last number have no threshold. The worst number shows whether some are infinite.
    sought = [*(rank for rank in ranks if rank <= numbers), numbers]
    values = values_at(range(1, numbers + 1) if complete else sought)
    others = numbers < rows or (not complete and values[numbers] == math.inf)  # get a separate level
    own = list(values.values()) if complete else [LARGEST] * others
    # A quantile that reaches into the rows that count as the worst means all rows.
    ends = [values.get(rank, math.inf) for rank in ranks]
    cuts = distinct(np.concatenate([ends, own, [math.inf]])) + 0.0
    index = tuple(np.searchsorted(cuts, ends).tolist())
    return Levels(direction, nan, sign_of(direction) * cuts, tuple(quantiles), index, complete)
