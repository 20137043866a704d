"""Counting a scan: tables of any size, read in parts, in memory that does not grow with them.

Two things need a look at all rows before any can be counted: the space, where none was given (one
reading), and the thresholds of the levels (mostly two readings of the objective alone). Then one
reading counts. Every step is the same function of one part; the results of parts are added, so that
threads, processes and other machines may each take some.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.base.kernel import library as kernel
from pedanova.base.kernel.selection import (
    LEADING_BITS,
    PASSED_OVER,
    Gathered,
    Window,
    count_digits,
    count_slots,
    gather_slots,
    gather_wanted,
    joined,
    sample_of,
    slots_of,
)
from pedanova.base.progress import Meter
from pedanova.counting.arrays import count_codes, kept_codes, sum_moments
from pedanova.counting.cut import Tallies
from pedanova.counting.levels import Levels
from pedanova.counting.moments import Moments
from pedanova.counting.tally import Tally
from pedanova.data import regions
from pedanova.data.column import Column
from pedanova.data.conditions import place_columns
from pedanova.data.objectives import read_goals
from pedanova.data.observations import Observations
from pedanova.data.outcomes import Policies, decide_fates
from pedanova.data.records import Records
from pedanova.data.regions import Direction, Region
from pedanova.data.rowsets import as_rows
from pedanova.errors import DataError, PartError, QueryError
from pedanova.sources.scans.scan import FilePart, Part
from pedanova.space.parameters import Space

COUNTED = re.compile(r"^(?P<name>.*?: )?(?P<part>[\d,]+) of (?P<whole>[\d,]+) (?P<rest>rows .*)$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Plan:
    """What a part must know to be counted, wherever that happens."""

    objective: str
    direction: Direction
    space: Space
    needs: tuple[str, ...]  # columns to read
    where: Any = None
    feasible: Any = None
    state: str | None = None
    policies: Policies = field(default_factory=Policies)

    @property
    def nan(self) -> Any:
        return "worst" if self.policies.may_be_worst else "drop"


def observe(records: Records, plan: Plan) -> Observations:
    """One batch, prepared as a whole table would be; every choice is about single rows."""
    columns = {
        name: _numbers(column) if name == plan.objective else column
        for name, column in records.columns.items()
    }
    goals = read_goals(columns, records.rows, plan.objective, plan.direction)
    fates = decide_fates(goals, columns, plan.policies, state=plan.state, feasible=plan.feasible)
    keep, notes = fates.keep, list(fates.notes)
    if plan.where is not None:
        rows = as_rows(plan.where, "where", columns, records.rows)
        if isinstance(rows, Region):
            raise QueryError(
                f"where={rows} needs all rows at once; write a condition on the objective instead"
            )
        keep = keep & rows.mask
        notes.append(f"{int(keep.sum()):,} of {len(keep):,} rows are used: {rows.words}")
    placed, more = place_columns(plan.space, {name: columns[name] for name in plan.space}, columns)
    order = fates.ordered(goals[0].values) if fates.worst.any() else None
    return Observations(
        placed, goals, plan.space, columns, (*notes, *more), order, None if keep.all() else keep
    )


def _numbers(column: Column) -> Column:
    """An objective without a value in a whole batch is no text."""
    if column.labels is not None and not column.labels:
        return Column(column.name, np.full(len(column), np.nan))
    return column


def batches_of(part: Part, plan: Plan, meter: Meter | None = None) -> Generator[Observations, None, None]:
    for one in getattr(part, "parts", (part,)):
        for records in one.batches(plan.needs):
            try:
                yield observe(records, plan)
            except DataError as error:
                raise type(error)(f"{one.name}: {error}") from None
            if meter is not None:
                meter.add(records.rows)


@dataclass(slots=True)
class Counts:
    """What one part, or several, hold."""

    rows: int = 0
    counted: int = 0
    tables: dict[str, list[NDArray[Any]]] = field(default_factory=dict)  # counts, sums
    moments: Moments | None = None
    notes: list[str] = field(default_factory=list)

    def add(self, other: Counts) -> Counts:
        """Take in what another holds, which stays as it is: it may be asked for again."""
        self.rows += other.rows
        self.counted += other.counted
        for name, tables in other.tables.items():
            if name in self.tables:
                for own, more in zip(self.tables[name], tables, strict=True):
                    own += more
            else:
                self.tables[name] = [table.copy() for table in tables]
        if self.moments is None or other.moments is None:
            self.moments = self.moments or other.moments
        else:
            self.moments = self.moments + other.moments
        self.notes = merged([*self.notes, *other.notes])
        return self

    @classmethod
    def sum(cls, found: Iterable[Counts]) -> Counts:
        total = cls()
        for counts in found:
            total.add(counts)
        return total

    def tallies(self, plan: Plan, levels: Levels) -> Tallies:
        return {name: Tally(name, plan.space[name], levels, *self.tables[name]) for name in plan.space}


def count_part(
    part: Part, plan: Plan, levels: Levels, threads: int = 1, meter: Meter | None = None
) -> Counts:
    """Rows of a part by level and cell."""
    found = Counts()
    for observed in batches_of(part, plan, meter):
        codes = kept_codes(observed, levels, threads=threads)
        tables = {
            name: list(tables)
            for name, tables in count_codes(observed, codes, levels.count, threads=threads).items()
        }
        moments = sum_moments(observed, levels, threads=threads, codes=codes)
        rows = int(moments.rows.sum())
        found.add(Counts(len(observed), rows, tables, moments, list(observed.notes)))
    return found


@dataclass(slots=True)
class Look:
    """What a first reading of the objective tells."""

    rows: int = 0
    kept: int = 0  # rows that count
    single: bool = True  # the objective is kept in single precision
    window: Window = LEADING_BITS
    counts: Any = 0  # (slots + 1,) rows in each slot of the window, and NaN
    notes: list[str] = field(default_factory=list)

    @property
    def numbers(self) -> int:
        """Rows that count and are no NaN."""
        return self.kept - int(np.asarray(self.counts).ravel()[-1])

    def add(self, other: Look) -> Look:
        return Look(
            self.rows + other.rows,
            self.kept + other.kept,
            self.single and other.single,
            other.window,
            self.counts + other.counts,
            merged([*self.notes, *other.notes]),
        )

    @classmethod
    def sum(cls, found: Iterable[Look]) -> Look:
        return reduce(cls.add, found, cls())


def kept_values(observed: Observations) -> NDArray[Any]:
    values = observed.ranked
    if not kernel.is_usable(values):
        values = values.astype(np.float64)
    return values if observed.keep is None else values[observed.keep]


def sign_of(plan: Plan) -> float:
    return regions.sign_of(plan.direction)


def sample_part(part: Part, plan: Plan, meter: Meter | None = None) -> NDArray[np.float64]:
    """Some signed objectives of its first rows: where to look closely at all of them."""
    batches = batches_of(part, plan, meter)
    try:
        return next((sample_of(kept_values(observed), sign_of(plan)) for observed in batches), np.empty(0))
    finally:
        batches.close()


def look_at_part(part: Part, plan: Plan, window: Window = LEADING_BITS, meter: Meter | None = None) -> Look:
    """Rows, and the slots of a window that the objective falls into."""
    look = Look(window=window)
    for observed in batches_of(part, plan, meter):
        values = kept_values(observed)
        slots = np.empty(len(values), dtype=np.uint16)
        counts = count_slots(values, sign_of(plan), window, slots)
        single = observed.ranked.dtype == np.float32
        look = look.add(Look(len(observed), len(values), single, window, counts, list(observed.notes)))
    return look


@dataclass(frozen=True, slots=True, eq=False)
class Marks:
    """What to do with the rows of each slot of a window: small enough to travel with every task."""

    window: Window
    places: NDArray[np.int64]
    values: NDArray[np.int32]
    few: int  # rows to collect
    large: int  # slots of which only the ends are wanted

    @classmethod
    def of(cls, window: Window, marks: NDArray[np.int32], few: int, large: int) -> Marks:
        places = np.flatnonzero(marks != PASSED_OVER)
        return cls(window, places, marks[places], few, large)

    def table(self) -> NDArray[np.int32]:
        marks = np.full(self.window[2] + 1, PASSED_OVER, dtype=np.int32)
        marks[self.places] = self.values
        return marks


def marked_of_part(part: Part, plan: Plan, marks: Marks, meter: Meter | None = None) -> Gathered:
    """The signed objectives of the slots to be collected, and the ends of the others that are asked for.

    Row groups that say they hold none of them stay unread.
    """
    table = marks.table()
    found = [(np.empty(0), np.tile([np.inf, -np.inf], (marks.large, 1)))]
    for observed in asked_batches(part, plan, marks, meter):
        values = kept_values(observed)
        slots = np.empty(len(values), dtype=np.uint16)
        count_slots(values, sign_of(plan), marks.window, slots)
        found.append(gather_slots(values, sign_of(plan), slots, table, marks.few, marks.large))
    return joined(found)


def asked_batches(part: Part, plan: Plan, marks: Marks, meter: Meter | None) -> Iterator[Observations]:
    """The rows of those parts, or row groups of them, that may hold a marked slot; errors name the part."""

    def may_hold(low: float, high: float) -> bool:
        ends = np.sort(slots_of(sign_of(plan) * np.array([low, high]), marks.window))
        return bool(np.any((marks.places >= ends[0]) & (marks.places <= ends[1])))

    for one in getattr(part, "parts", (part,)):
        asked = one.between(plan.objective, may_hold) if isinstance(one, FilePart) else one
        try:
            yield from () if asked is None else batches_of(asked, plan, meter)
        except PartError as error:
            raise PartError(str(error), one.name) from None


@dataclass(frozen=True, slots=True, eq=False)
class Prefixes:
    """Tables of wanted prefixes, of which few entries are set: small enough to travel with every task."""

    sizes: tuple[int, ...]
    places: tuple[NDArray[np.int64], ...]
    values: tuple[NDArray[np.int32], ...]

    @classmethod
    def of(cls, tables: list[NDArray[np.int32]]) -> Prefixes:
        places = tuple(np.flatnonzero(table >= 0) for table in tables)
        values = tuple(table[place] for table, place in zip(tables, places, strict=True))
        return cls(tuple(map(len, tables)), places, values)

    def tables(self) -> list[NDArray[np.int32]]:
        made = [np.full(size, -1, dtype=np.int32) for size in self.sizes]
        for table, place, value in zip(made, self.places, self.values, strict=True):
            table[place] = value
        return made


def digits_of_part(
    part: Part, plan: Plan, prefixes: Prefixes, nodes: int, bits: int, meter: Meter | None = None
) -> NDArray[np.int64]:
    """(prefixes, digits) Rows below each wanted prefix by their next bits."""
    tables, sign = prefixes.tables(), sign_of(plan)
    counts = np.zeros((nodes, 1 << bits), dtype=np.int64)
    for observed in batches_of(part, plan, meter):
        counts += count_digits(kept_values(observed), sign, tables, nodes, bits)
    return counts


def summed(found: Iterable[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Counts of several parts as counts of all."""
    return reduce(np.add, found)


def wanted_of_part(
    part: Part, plan: Plan, prefixes: Prefixes, most: int, meter: Meter | None = None
) -> NDArray[np.float64]:
    """The signed objectives below the wanted prefixes."""
    tables, sign = prefixes.tables(), sign_of(plan)
    found = [
        gather_wanted(kept_values(observed), sign, tables, most) for observed in batches_of(part, plan, meter)
    ]
    return np.concatenate(found) if found else np.empty(0)


def strung(found: Iterable[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Rows of several parts, one after the other."""
    return np.concatenate(list(found))


def merged(notes: Iterable[str]) -> list[str]:
    """Notes of parts as notes of the whole: what they count is added."""
    sums: dict[tuple[str, str], list[int]] = {}
    plain: dict[str, None] = {}
    for note in notes:
        match = COUNTED.match(note)
        if match is None:
            plain[note] = None
            continue
        both = sums.setdefault((match["name"] or "", match["rest"]), [0, 0])
        both[0] += int(match["part"].replace(",", ""))
        both[1] += int(match["whole"].replace(",", ""))
    return [*(f"{name}{part:,} of {whole:,} {rest}" for (name, rest), (part, whole) in sums.items()), *plain]
