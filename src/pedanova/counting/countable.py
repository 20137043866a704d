"""The base class for tables that can be counted, and its implementation for rows in memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.base.kernel import library as kernel
from pedanova.base.kernel.selection import Survey, select_ranks, survey_rows
from pedanova.base.notes import Count, Note, added, in_order
from pedanova.counting.arrays import count_rows, kept_codes, kept_values
from pedanova.counting.few_rows import MOST_COMPARED, FewRows, configuration_sample, lowest_rows, most_rows, sample_of
from pedanova.counting.levels import (
    LADDER,
    LARGEST_TALLIES,
    SHORT_LADDER,
    SMALL,
    Levels,
    RankedObjective,
    as_ladder,
    levels_at,
)
from pedanova.counting.tally import Counts, Moments, Tallies, Tally
from pedanova.data.column import count_nan
from pedanova.data.conditions import condition_in_words
from pedanova.data.observations import Observations, describe_outside
from pedanova.data.options import NanPolicy
from pedanova.data.regions import Cut, Direction, Quantile, Threshold, sign_of
from pedanova.errors import Arg, DataError, OutsideSpaceError, QueryError, SpaceError
from pedanova.space.grid import grid_of
from pedanova.space.parameters import Categorical, Parameter, Space, Switch

LARGE = 1 << 17  # rows; from here on, the sample is taken while the rows are counted
FEW_ROWS = 20  # a domain with fewer rows gets a note
Recount: TypeAlias = tuple[Levels, Tallies]


@dataclass(slots=True, eq=False)
class Countable(ABC):
    """A table whose rows can be divided into levels and counted. Subclasses differ in where the rows are."""

    objective: str
    direction: Direction
    nan: NanPolicy
    space: Space

    @property
    def several(self) -> bool:
        return False

    @property
    @abstractmethod
    def single(self) -> bool:
        """Whether the objective is stored in single precision."""

    @abstractmethod
    def ranked(self) -> RankedObjective:
        """Three items: a function that gives the objective at a rank, the number of rows, and how many are not NaN."""

    @property
    def counted(self) -> int:
        """The number of rows that count."""
        _, kept, numbers = self.ranked()
        return numbers if self.nan == "drop" else kept

    @abstractmethod
    def count(self, levels: Levels) -> Counts: ...

    def describe_outside(self, _: str, parameter: Parameter, /) -> str:
        """A description of the first row with a value outside the domain of `parameter`."""
        return f"some rows have a value outside {parameter}"

    def sample(self, _: Levels, /) -> FewRows | None:
        """All rows of a small table or a sample of configurations, if it is not made while the rows are counted."""
        return None

    def cut(self, quantiles: Sequence[Fraction], *, every: bool = False) -> Levels:
        levels = levels_at(self.ranked(), self.direction, self.nan, quantiles, every=every)
        return replace(levels, several=self.several)

    def constant(self) -> float | None:
        """The objective if it is the same in all rows; otherwise None."""
        values_at, kept, numbers = self.ranked()
        values = set(values_at([1, numbers]).values())
        varies = len(values) > 1 or (self.nan == "worst" and kept > numbers)
        return None if varies else sign_of(self.direction) * values.pop() + 0.0

    def recut(self, levels: Levels, cuts: Iterable[Cut]) -> Recount:
        """Add `cuts` to `levels` and count again; quantiles are ignored if the levels come from another analysis."""
        cuts = list(cuts)
        parts = {cut.part for cut in cuts if isinstance(cut, Quantile)}
        finer = levels
        if not parts <= set(levels.quantiles) and levels.own:
            finer = self.cut(as_ladder(parts | set(levels.quantiles)))
        finer = finer.with_values(cut.signed for cut in cuts if isinstance(cut, Threshold))
        return finer, self.count(finer).tallies(self.space, finer)


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    source: Countable
    levels: Levels
    tallies: Tallies
    notes: tuple[Note, ...]
    dropped: int
    moments: Moments | None
    sample: FewRows | None = None  # of whole configurations, if it was made while the rows were counted


def levels_for(source: Countable, levels: object) -> Levels:
    """Use the `Levels` of another analysis, or compute levels at quantiles of the rows of `source`."""
    if isinstance(levels, Levels):
        return borrowed(levels, source)
    cells = sum(grid_of(parameter).width for parameter in source.space.values())
    # A table with very many columns has fewer levels; others are counted when they are needed.
    wide = levels is None and cells * len(LADDER) > LARGEST_TALLIES
    quantiles = SHORT_LADDER if wide else as_ladder(levels)  # type: ignore[arg-type]
    cut = source.cut(quantiles, every=cells * SMALL <= LARGEST_TALLIES // 16)
    if np.isfinite(cut.thresholds).sum() < 2:  # with two thresholds, the objective varies
        value = source.constant()
        if value is not None:
            raise DataError(f"objective {source.objective!r} is {value:g} in every row; no parameter can explain it")
    return cut


def borrowed(levels: Levels, source: Countable) -> Levels:
    if source.several or levels.several:
        raise QueryError(
            Arg("levels"),
            " of another analysis cannot be used with several objectives, because Pareto ranks of different ",
            "tables cannot be compared; analyze all rows at once",
        )
    for name, old, new in (("direction", levels.direction, source.direction), ("nan", levels.nan, source.nan)):
        if old != new:
            raise QueryError(Arg(name, new), f" must be {old!r}, as in the analysis that the levels come from")
    return levels.borrowed()


def assembled(
    source: Countable, levels: Levels, counts: Counts, *, notes: Sequence[Note], inside: bool, part: bool = False
) -> Counted:
    """Make tallies and notes from counts; if `inside` is true, a value outside the space is an error."""
    tallies = counts.tallies(source.space, levels)
    for name in () if part else counts.idle:  # only the whole table shows whether a condition ever holds
        condition = condition_in_words(source.space[name])
        raise SpaceError(f'{name}: its condition "{condition}" is true in no row; check the values in the condition')
    if inside:
        check_inside(tallies, source)
    every = in_order(added([*counts.notes, *notes, *cell_notes(tallies)]))
    return Counted(
        source=source,
        levels=levels,
        tallies=tallies,
        notes=every,
        dropped=counts.rows - counts.counted,
        moments=counts.moments,
        sample=counts.sample,
    )


def check_inside(tallies: Tallies, source: Countable) -> None:
    for name, tally in tallies.items():
        _, many = tally.beyond()
        if many:
            first = source.describe_outside(name, tally.parameter)
            more = f" ({many:,} rows in all)" if many > 1 else ""
            remedy = (
                "; widen the space, or pass ",
                Arg("outside", "count", of="Reading"),
                " to keep such rows in a separate bin",
            )
            raise OutsideSpaceError(f"{name}: {first}{more}", *remedy)


def cell_notes(tallies: Tallies) -> list[Note]:
    """Notes on rows without a value, rows outside the space, and domains of a `Switch` with few rows."""
    notes = []
    for name, tally in tallies.items():
        missing, outside = tally.beyond()
        of_all = (" of ", Count(tally.rows)) if missing or outside else ()
        if missing:
            what = "have no value (inactive)" if tally.parameter.when else "have no value"
            words = f" rows {what} and are kept in a separate bin"
            notes.append(Note("rows", Count(missing), *of_all, words, subject=name))
        if outside:
            words = " rows lie outside the space and are kept in a separate bin"
            notes.append(Note("rows", Count(outside), *of_all, words, subject=name))
        notes += _few_notes(tally)
    return notes


def _few_notes(tally: Tally) -> list[Note]:
    if not isinstance(tally.parameter, Switch):
        return []
    by_cell = tally.by_cell
    rows = [int(by_cell[block.start : block.stop].sum()) for block in tally.grid.blocks]
    return [
        Note("doubt", _few_in_words(domain, many), subject=tally.name)
        for domain, many in zip(tally.parameter.regimes, rows, strict=True)
        if 0 < many < FEW_ROWS
    ]


def _few_in_words(domain: Parameter, rows: int) -> str:
    """A note on a domain with few rows; if the domain is one word with digits, it may be a mistyped number."""
    words = f"has only {rows} row{'s' * (rows != 1)}, so its numbers are rough"
    if not isinstance(domain, Categorical) or len(domain.choices) > 1:
        return f"its domain {domain} {words}"
    (value,) = domain.choices
    meant = isinstance(value, str) and any(char.isdigit() for char in value)
    return f"its value {value!r} {words}" + (
        "; if it should be a number, write it in the same form as the others" if meant else ""
    )


class InMemory(Countable):
    def __init__(self, observed: Observations, nan: NanPolicy, threads: int = 1) -> None:
        super().__init__(observed.name, observed.direction, nan, observed.space)
        self.observed, self.threads = observed, threads
        self._survey: Survey | None = None  # a survey of the kept rows' objective, for thresholds and levels
        self._sample: FewRows | None = None

    @property
    def several(self) -> bool:
        return len(self.observed.goals) > 1

    @property
    def single(self) -> bool:
        return self.observed.ranked.dtype == np.float32

    def ranked(self) -> RankedObjective:
        values, sign = kept_values(self.observed, threads=self.threads), sign_of(self.direction)
        survey = self._survey = survey_rows(values, sign, threads=self.threads)
        numbers = len(values) - (count_nan(values) if survey is None else survey.nans)
        return partial(select_ranks, values, sign, threads=self.threads, survey=survey), len(values), numbers

    def count(self, levels: Levels) -> Counts:
        codes = kept_codes(self.observed, levels, threads=self.threads, survey=self._survey)
        self._survey = None  # released before counting, because it is as large as the objective
        own = self.observed
        sampled = self._sample is None and len(own) >= LARGE and len(own.space) <= MOST_COMPARED
        lowest = lowest_rows(own, levels.count) if sampled and kernel.available() else None
        tables = count_rows(own, codes, levels.count, sample=lowest, threads=self.threads)
        rows = int(next(iter(tables.values()))[0].sum())
        if lowest is not None and lowest.count is not None and rows > most_rows(self.space):
            self._sample = sample_of(own, lowest)
        return Counts(len(own), rows, tables, None, list(own.notes), own.idle)

    def rows_by_level(self, levels: Levels) -> NDArray[np.int64]:
        codes = kept_codes(self.observed, levels, threads=self.threads)
        return np.bincount(codes, minlength=levels.count)[: levels.count]

    def sample(self, levels: Levels) -> FewRows:
        if self._sample is None:
            codes = kept_codes(self.observed, levels, threads=self.threads)
            self._sample = configuration_sample(self.observed, codes, levels.count, threads=self.threads)
        return self._sample

    def describe_outside(self, name: str, parameter: Parameter, /) -> str:
        return describe_outside(self.observed.table[name], self.observed.columns[name], parameter)
