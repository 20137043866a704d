"""Conditional parameters, parameters whose domain depends on the row, and conditions guessed from missing values."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.base.digits import roundest
from pedanova.base.notes import Count, Note
from pedanova.data.column import Column, Mask, cells_of, coded, equals_any, some
from pedanova.errors import DataError, SpaceError, unknown_name
from pedanova.space.grid import ROUNDING, grid_of
from pedanova.space.parameters import (
    Categorical,
    Moving,
    Ordinal,
    Parameter,
    Space,
    Switch,
    in_condition,
    parents_first,
)
from pedanova.space.values import Condition, Interval, Label

Reals = NDArray[np.float64]


def place_columns(
    space: Space, columns: Mapping[str, Column], table: Mapping[str, Column]
) -> tuple[dict[str, Column], list[Note], frozenset[str]]:
    """Prepare the columns for counting; also return notes, and the parameters that are inactive in all rows."""
    placed: dict[str, Column] = {}
    parents = dict(table)  # parents: first the columns of the table, then the columns as they are counted
    notes: list[Note] = []
    idle_names: list[str] = []
    for name in parents_first(space):
        column, parameter = columns[name], space[name]
        if parameter.when:
            column, active = _silenced(column, parameter, parents, notes)
            idle_names += [] if active else [name]
        parents[name] = column
        if isinstance(parameter, Moving):
            column = _positions(column, parameter, table, notes)
        elif isinstance(parameter, Switch):
            column = _joined(column, parameter, parents, notes)
            idle = column.values == grid_of(parameter).missing
            parents[name] = replace(parents[name], missing=some(idle))
        placed[name] = column
    return {name: placed[name] for name in space}, notes, frozenset(idle_names)


def column_named(name: str, table: Mapping[str, Column], *, needed_by: str) -> Column:
    if name not in table:
        raise SpaceError(f"{needed_by}: {unknown_name(name, tuple(table), what='column')}")
    return table[name]


def _silenced(
    column: Column, parameter: Parameter, table: Mapping[str, Column], notes: list[Note]
) -> tuple[Column, bool]:
    """Set values to missing in rows where the condition is false; also return whether any row meets the condition."""
    active = np.ones(len(column), dtype=bool)
    for parent, values in parameter.when:
        active &= equals_any(column_named(parent, table, needed_by=column.name), values)
    absent = column.absent()
    idle, lacking = int(np.sum(~active & ~absent)), int(np.sum(active & absent))
    if idle:
        notes.append(idle_note(column.name, idle))
    if lacking:
        words = " rows have no value although the parameter is active; it is treated as inactive in these rows"
        notes.append(Note("rows", Count(lacking), words, subject=column.name))
    return replace(column, missing=some(~active | absent)), bool(active.any())


def idle_note(name: str, rows: int) -> Note:
    words = " rows have a value although the parameter is inactive; these values are ignored"
    return Note("rows", Count(rows), words, subject=name)


def condition_in_words(parameter: Parameter) -> str:
    return " and ".join(f"{parent} {in_condition(values)}" for parent, values in parameter.when)


def _positions(column: Column, parameter: Moving, table: Mapping[str, Column], notes: list[Note]) -> Column:
    """The relative position (0 to 1) of each value between the bounds of its row; NaN for a missing value."""
    values = as_reals(column)
    ends = []
    for bound in (parameter.low, parameter.high):
        if not isinstance(bound, str):
            ends.append(np.full(len(column), float(bound)))
            continue
        ends.append(as_reals(column_named(bound, table, needed_by=column.name)))
        gone = np.flatnonzero(np.isnan(ends[-1]) & ~column.absent())
        if len(gone):
            raise DataError(
                f"{column.name}: row {int(gone[0])} has no value for its bound {bound!r}; add a value, or drop the row"
            )
    low, high = ends
    _check_bounds(column.name, low, high, ~np.isnan(values), log=parameter.log)
    with np.errstate(invalid="ignore", divide="ignore"):
        if parameter.log:  # a negative value is below every bound
            values, low, high = np.log(np.maximum(values, 0.0)), np.log(low), np.log(high)
        width = high - low
        position = (values - low) / width
    fixed = (width == 0) & (np.abs(values - low) <= ROUNDING * np.abs(low))
    if fixed.any():
        words = " rows have equal lower and upper bounds; their values are placed in the middle of the range"
        notes.append(Note("rows", Count(fixed.sum()), words, subject=column.name))
        position = np.where(fixed, 0.5, position)
    words = "bounds differ between rows; each value is replaced by its position between its bounds"
    notes.append(Note("condition", words, subject=column.name))
    slack = 4 * ROUNDING
    position = np.where((position < 0) & (position >= -slack), 0.0, position)
    position = np.where((position > 1) & (position <= 1 + slack), 1.0, position)
    return Column(column.name, position, None, column.missing)


def _check_bounds(name: str, low: Reals, high: Reals, active: Mask, *, log: bool) -> None:
    if log and np.any(low[active] <= 0):
        raise SpaceError(f"{name}: a log scale needs lower bounds above 0; pass log=False")
    for wrong, rule in (
        (~(np.isfinite(low) & np.isfinite(high)), "a bound that is not finite"),
        (low > high, "a lower bound above the upper bound"),
    ):
        rows = np.flatnonzero(wrong & active)
        if len(rows):
            raise SpaceError(f"{name}: row {int(rows[0])} has {rule}; correct the bounds")


def as_reals(column: Column) -> NDArray[np.float64]:
    if column.labels is not None or column.is_time:
        raise DataError(f"{column.name} holds text or dates, but numbers are needed; turn them into numbers")
    values: NDArray[np.float64] = column.values.astype(np.float64)
    return np.where(column.missing, np.nan, values) if column.missing is not None else values


def _joined(column: Column, parameter: Switch, table: Mapping[str, Column], notes: list[Note]) -> Column:
    """Find the cell of each row; the domain depends on the column `by`, or on the value itself if `by` is empty."""
    grid, absent = grid_of(parameter), column.absent()
    by = None if parameter.is_own else column_named(parameter.by, table, needed_by=column.name)
    lacking = np.where(absent, grid.missing, grid.outside)
    cells = lacking if by is None else np.full(len(column), grid.missing)
    idle = np.full(len(column), by is not None)
    for domain, block in zip(parameter.regimes, grid.blocks, strict=True):
        own = cells_of(column, grid_of(domain))
        inside = own < block.stop - block.start
        if by is None:
            chosen = (cells == grid.outside) & inside
        else:
            chosen = equals_any(by, tuple(value for value, other in parameter.domains if other == domain))
        cells = np.where(chosen, np.where(inside, own + block.start, lacking), cells)
        idle &= ~chosen
    if np.any(idle & ~absent):
        notes.append(idle_note(column.name, int(np.sum(idle & ~absent))))
    return Column(column.name, cells.astype(np.int32), None, None, located=True)


MOST_VALUES = 50  # values of a column that may be a parent
ROWS_A_VALUE = 4  # rows per value; with fewer, a column explains missing values by chance
FEWEST_BESIDE = 5  # the fewest rows on each side of a threshold; fewer may be due to chance
ByValue: TypeAlias = Counter[Label | None]  # rows by value; None for rows without a value


@dataclass(frozen=True, slots=True)
class Presence:
    """For each value of a possible parent: how many rows have it, and in how many of these a child has no value."""

    rows: int = 0
    all: Mapping[str, ByValue] = field(default_factory=dict)
    gone: Mapping[tuple[str, str], ByValue] = field(default_factory=dict)  # by child and parent
    spans: Mapping[tuple[str, str], Spans] = field(default_factory=dict)  # likewise, for parents with many numbers

    @classmethod
    def of(cls, columns: Mapping[str, Column], children: Iterable[str], parents: Iterable[str]) -> Presence:
        rows = len(next(iter(columns.values()))) if columns else 0
        absent = {name: columns[name].absent() for name in children}
        absent = {name: mask for name, mask in absent.items() if mask.any()}
        every: dict[str, ByValue] = {}
        gone: dict[tuple[str, str], ByValue] = {}
        spans: dict[tuple[str, str], Spans] = {}
        for parent in parents:
            if not columns[parent].is_coded and columns[parent].values.dtype.kind in "iuf":
                numbers, there = columns[parent].values, ~columns[parent].absent()
                others = {child: mask for child, mask in absent.items() if child != parent}
                spans |= {(child, parent): Spans.of(numbers, there, mask) for child, mask in others.items()}
                if not _has_few_numbers(columns[parent]):
                    continue
            column = columns[parent] if columns[parent].is_coded else coded(columns[parent])
            codes = np.where(column.absent(), 0, column.values.astype(np.int64) + 1)
            labels = (None, *(column.labels or ()))
            every[parent] = _counts_by_value(np.bincount(codes, minlength=len(labels)), labels)
            for child, mask in absent.items():
                if child != parent:
                    gone[child, parent] = _counts_by_value(np.bincount(codes[mask], minlength=len(labels)), labels)
        return cls(rows, every, gone, spans)

    @classmethod
    def sum(cls, parts: Iterable[Presence]) -> Presence:
        rows, every, gone = 0, dict[str, ByValue](), dict[tuple[str, str], ByValue]()
        spans: dict[tuple[str, str], Spans] = {}
        for part in parts:
            rows += part.rows
            for name, counts in part.all.items():
                every.setdefault(name, Counter()).update(counts)
            for names, counts in part.gone.items():
                gone.setdefault(names, Counter()).update(counts)
            for names, span in part.spans.items():
                spans[names] = spans[names] + span if names in spans else span
        return cls(rows, every, gone, spans)

    def condition(self, child: str) -> Condition | None:
        """The condition on another column that is true exactly where `child` has a value; None if no condition fits."""
        most = min(MOST_VALUES, self.rows // ROWS_A_VALUE)
        values: dict[str, list[Label]] = {}
        for parent, counts in self.all.items():  # numbers come before texts
            present_values = (value for value in counts if value is not None)
            values[parent] = sorted(present_values, key=lambda value: (isinstance(value, str), value))
        for parent in sorted(values, key=lambda name: len(values[name])):
            known = self.all[parent].total() == self.rows  # the parent's values are known in every part of the table
            if known and (child, parent) in self.gone and 1 < len(values[parent]) <= most:
                total, gone = self.all[parent], self.gone[child, parent]
                settled = all(gone[value] in (0, total[value]) for value in total)
                never_without = gone[None] == total[None]  # where the parent is missing, the child is missing too
                present = tuple(value for value in values[parent] if not gone[value])
                # Otherwise both are missing together: they are siblings, not parent and child.
                decides = any(gone[value] for value in values[parent])
                if settled and never_without and present and decides:
                    return parent, present
        own = [(parent, span) for (one, parent), span in self.spans.items() if one == child]
        for parent, span in sorted(own, key=lambda one: (-one[1].rows, one[0])):
            interval = span.threshold()
            if interval is not None:
                return parent, (interval,)
        return None


@dataclass(frozen=True, slots=True)
class Spans:
    """The range of a parent's numbers in rows where a child has a value, and in rows where the child has none."""

    present: tuple[int, float, float] = (0, math.inf, -math.inf)  # number of rows, smallest and largest number
    gone: tuple[int, float, float] = (0, math.inf, -math.inf)
    orphans: int = 0  # rows in which the child has a value and the parent has none

    @classmethod
    def of(cls, numbers: NDArray[Any], there: Mask, absent: Mask) -> Spans:
        return cls(
            _span(numbers[there & ~absent]), _span(numbers[there & absent]), int(np.count_nonzero(~there & ~absent))
        )

    @property
    def rows(self) -> int:
        return self.present[0] + self.gone[0]

    def __add__(self, other: Spans) -> Spans:
        present, gone = (
            (one[0] + two[0], min(one[1], two[1]), max(one[2], two[2]))
            for one, two in ((self.present, other.present), (self.gone, other.gone))
        )
        return Spans(present, gone, self.orphans + other.orphans)

    def threshold(self) -> Interval | None:
        """The range of the parent in which the child has a value; None if there is no such range."""
        if self.orphans or min(self.present[0], self.gone[0]) < FEWEST_BESIDE:
            return None
        if self.gone[2] < self.present[1]:
            return Interval(low=_between(self.gone[2], self.present[1]), open_low=True)
        if self.present[2] < self.gone[1]:
            return Interval(high=_between(self.present[2], self.gone[1]))
        return None


def ranges_of(numbers: Reals, kinds: NDArray[np.int64]) -> list[tuple[int, Interval]] | None:
    """The range of the numbers in each group (`kinds`); None if two ranges overlap or a group has too few numbers."""
    if np.isnan(numbers).any():
        return None
    spans = sorted((_span(numbers[kinds == kind])[1:], int(kind)) for kind in np.unique(kinds))
    if len(spans) < 2 or min(np.bincount(kinds)[kind] for _, kind in spans) < FEWEST_BESIDE:
        return None
    if any(one[0][1] >= two[0][0] for one, two in pairwise(spans)):
        return None
    cuts = [_between(one[0][1], two[0][0]) for one, two in pairwise(spans)]
    lows, highs = [-math.inf, *cuts], [*cuts, math.inf]
    return [
        (kind, Interval(low, high, open_low=low > -math.inf))
        for (_, kind), low, high in zip(spans, lows, highs, strict=True)
    ]


def _span(numbers: NDArray[Any]) -> tuple[int, float, float]:
    if not len(numbers):
        return 0, math.inf, -math.inf
    return len(numbers), float(numbers.min()), float(numbers.max())


def _between(low: float, high: float) -> float:
    """The roundest number x with `low` ≤ x < `high`, because most conditions use round numbers."""
    low = high - max(1.0, abs(high)) if math.isinf(low) else low
    high = low + max(1.0, abs(low)) if math.isinf(high) else high
    return roundest(low, math.nextafter(high, low))


def _counts_by_value(counts: np.ndarray, labels: tuple[Label | None, ...]) -> ByValue:
    return Counter({label: int(count) for label, count in zip(labels, counts, strict=True) if count})


def may_decide(column: Column, parameter: Parameter) -> bool:
    """Whether other parameters may depend on this column: on one of its values or on a threshold."""
    if isinstance(parameter, Categorical | Ordinal):
        return True
    return not column.is_coded and column.values.dtype.kind in "biuf"


def _has_few_numbers(column: Column) -> bool:
    for values in (column.values[:: max(1, len(column) // 1000)], column.values):  # a sample first, which is faster
        present = np.unique(values[~np.isnan(values)] if values.dtype.kind == "f" else values)
        if len(present) > MOST_VALUES or not np.all(present == np.floor(present)):
            return False
    return True


def ancestors_of(name: str, domains: Mapping[str, Parameter]) -> set[str]:
    family, line = {name}, [name]
    while line:
        parents = {parent for parent, _ in domains[line.pop()].when if parent in domains} - family
        family |= parents
        line += parents
    return family


def with_conditions(space: Space, presence: Presence, children: Iterable[str]) -> tuple[Space, list[Note]]:
    domains, notes = dict(space), []
    for name in children:
        condition = presence.condition(name)
        if condition is not None and name not in ancestors_of(condition[0], domains):
            domains[name] = replace(space[name], when=(condition,))
            words = f"treated as conditional: it is missing unless {condition_in_words(domains[name])}"
            notes.append(Note("condition", words, subject=name))
    return Space(domains), notes
