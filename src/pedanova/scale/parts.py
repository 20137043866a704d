"""Functions that count one part of a table, so that the memory needed does not grow with the table.

A table is read several times: once to guess the space, if none is given; once or twice (only the objective) to find the
thresholds of the levels; and once to count the rows. Every step is a function of one part, and results of parts are
added, so that threads, processes and other machines can share the work.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.base.kernel import library as kernel
from pedanova.base.kernel import selection
from pedanova.base.kernel.selection import LEADING_BITS, Gathered, Window
from pedanova.base.notes import Note, added
from pedanova.base.progress import Meter
from pedanova.counting.arrays import RunningCounts, kept_codes, kept_values, sum_moments
from pedanova.counting.few_rows import MOST_COMPARED, SAMPLED, configuration_sample, most_rows
from pedanova.counting.levels import Levels
from pedanova.counting.tally import Counts
from pedanova.data.column import Column
from pedanova.data.objectives import as_direction, as_directions, as_scores, guess_directions
from pedanova.data.observations import Observations
from pedanova.data.options import NanPolicy
from pedanova.data.prepare import choose_rows, place
from pedanova.data.records import Records, SourceMetadata
from pedanova.data.regions import Direction, Region, columns_in, sign_of
from pedanova.data.table_options import TableOptions
from pedanova.data.trials import trial_numbers
from pedanova.errors import Arg, DataError, QueryError
from pedanova.sources.scans.scan import Part
from pedanova.space.parameters import Moving, Space, Switch

SLICE = 64  # columns that are read together


@dataclass(frozen=True, slots=True)
class Plan:
    """The options, space and columns that are needed to count a part; it can be sent to other machines."""

    request: TableOptions
    space: Space
    needs: tuple[str, ...]  # columns to read
    texts: tuple[str, ...] = ()  # parameters whose numbers are stored as text

    @property
    def objective(self) -> str:
        return str(self.request.objective)

    @property
    def direction(self) -> Direction:
        return as_direction(self.request.direction)

    @property
    def sign(self) -> float:
        return sign_of(self.direction)

    @property
    def nan(self) -> NanPolicy:
        return self.request.reading.ending


def directed(request: TableOptions, columns: Sequence[str], metadata: SourceMetadata | None = None) -> TableOptions:
    """The options with the direction of the objective and, if it is guessed, a note on it."""
    if request.direction is not None:
        return replace(request, direction=as_directions(request.direction, 1)[0])
    direction, notes = guess_directions(request.objective, columns, metadata)
    return replace(request, direction=direction, notes=(*request.notes, *notes))


def light(plan: Plan) -> Plan:
    """The same plan without parameters, to read only the objective and the columns that select rows."""
    return replace(plan, space=Space({}), needs=tuple(name for name in plan.needs if name in spoken_for(plan)))


def in_slices(plan: Plan) -> list[Plan]:
    """Split a plan into plans for at most `SLICE` parameters, because a reader buffers all columns that it reads."""
    names = list(plan.space)
    tied = any(own.when or isinstance(own, Switch | Moving) for own in plan.space.values())
    if tied or len(names) <= SLICE:
        return [plan]
    others = [name for name in plan.needs if name not in plan.space or name in spoken_for(plan)]
    slices = [names[first : first + SLICE] for first in range(0, len(names), SLICE)]
    return [
        replace(plan, space=Space({name: plan.space[name] for name in some}), needs=tuple(dict.fromkeys(some + others)))
        for some in slices
    ]


def spoken_for(plan: Plan) -> set[str]:
    """The columns that define the objective or select rows."""
    request = plan.request
    choices = (request.objective, request.where, request.feasible, request.state)
    return {name for choice in choices for name in named_in(choice, plan.needs)}


def conditional(space: Space, *, given: bool) -> list[str]:
    """Parameters whose cells depend on other columns; conditions are ignored if the space was guessed."""
    return [name for name, p in space.items() if (p.when and given) or isinstance(p, Moving | Switch)]


def named_in(choice: object, columns: Sequence[str]) -> list[str]:
    """The columns that the option `choice` mentions."""
    if choice is None:
        return []
    if isinstance(choice, dict):
        return [name for name in choice if name in columns]
    if isinstance(choice, list | tuple | set):
        return [name for one in choice for name in named_in(one, columns)]
    if isinstance(choice, str):
        return [choice] if choice in columns else list(columns_in(choice, dict.fromkeys(columns)))  # type: ignore[arg-type]
    return []


def observe(records: Records, plan: Plan) -> Observations:
    """Convert one batch of rows to observations, as `prepare` does for a whole table."""
    columns, notes = dict(records.columns), list[Note]()
    if plan.objective in columns:
        columns[plan.objective], notes = _numbers(columns[plan.objective], plan)
    rows = choose_rows(columns, records.rows, plan.request)
    if isinstance(rows.where, Region):
        raise QueryError(
            Arg("where", shown=f"{rows.where}"), " needs all rows at once; write a condition on the objective instead"
        )
    observed = place(rows, plan.space, columns)
    return replace(observed, notes=(*observed.notes, *notes)) if notes else observed


def _numbers(column: Column, plan: Plan) -> tuple[Column, list[Note]]:
    """The objective without a few words among its numbers; an empty text column becomes NaN."""
    if column.labels is not None and not column.labels:
        return Column(column.name, np.full(len(column), np.nan)), []
    numbers, notes = as_scores(column, plan.request.reading.decimal) or (column, [])
    return numbers, [note for note in notes if note.counts]  # the others say how the text of this batch is read


def batches_of(part: Part, plan: Plan, meter: Meter | None = None) -> Iterator[Observations]:
    for one in getattr(part, "parts", (part,)):
        for records in one.batches(plan.needs):
            try:
                yield observe(records, plan)
            except DataError as error:
                raise error.behind(f"{one.name}: ") from None
            if meter is not None:
                meter.add(records.rows)


def count_part(
    part: Part, plan: Plan, levels: Levels, keep: bool, threads: int = 1, meter: Meter | None = None
) -> Counts:
    """Count the rows of a part; with `keep`, the whole table is so small that all its rows are kept."""
    most_kept = most_rows(plan.space) if keep else SAMPLED
    total, running = Counts(), RunningCounts(levels.count, threads)
    for observed in batches_of(part, plan, meter):
        codes = kept_codes(observed, levels, threads=threads)
        running.add(observed, codes)
        moments = sum_moments(observed, levels, threads=threads, codes=codes)
        rows = int(moments.rows.sum())
        sample = None
        if keep or len(plan.space) <= MOST_COMPARED:
            most = 1.0 if total.sample is None else total.sample.below
            trials = trial_numbers(observed.table, len(observed), ordered=False)
            own = replace(observed, trials=trials)
            sample = configuration_sample(own, codes, levels.count, keep=most_kept, most=most, threads=threads)
        total.add(Counts(len(observed), rows, {}, moments, list(observed.notes), observed.idle, sample))
    total.tables.update(running.take())  # every batch of a part has all its columns
    return total


@dataclass(slots=True)
class FirstLook:
    """What the first reading of the objective finds: how many rows there are, and a histogram."""

    rows: int = 0
    kept: int = 0  # rows that count
    single: bool = True  # whether the objective is in single precision
    window: Window = LEADING_BITS
    counts: Any = 0  # (slots + 1,) rows in each slot of the window, and NaN
    notes: list[Note] = field(default_factory=list)
    most: int = 0  # bytes that the values may take
    values: list[NDArray[Any]] | None = field(default_factory=list)  # the objectives; None if they take more bytes

    @property
    def numbers(self) -> int:
        """The number of kept rows whose objective is not NaN."""
        return self.kept - int(np.asarray(self.counts).ravel()[-1])

    def add(self, other: FirstLook) -> FirstLook:
        both = None if self.values is None or other.values is None else [*self.values, *other.values]
        return FirstLook(
            rows=self.rows + other.rows,
            kept=self.kept + other.kept,
            single=self.single and other.single,
            window=other.window,
            counts=self.counts + other.counts,
            notes=added([*self.notes, *other.notes]),
            most=other.most,
            values=both if both is not None and sum(values.nbytes for values in both) <= other.most else None,
        )

    @classmethod
    def sum(cls, looks: Iterable[FirstLook]) -> FirstLook:
        return reduce(cls.add, looks, cls())


def objective_batches(part: Part, plan: Plan, meter: Meter | None) -> Iterator[NDArray[Any]]:
    """The objective of the kept rows of each batch, in a type that the compiled kernel can read."""
    return (kernel.usable(kept_values(observed)) for observed in batches_of(part, plan, meter))


def sample_part(part: Part, plan: Plan, meter: Meter | None = None) -> NDArray[np.float64]:
    """A sample of signed objectives from the first rows of a part, to choose the bins (slots) of the histogram."""
    first = next(objective_batches(part, plan, meter), np.empty(0))
    return selection.sample_of(first, plan.sign)


def look_at_part(part: Part, plan: Plan, window: Window, most: int, meter: Meter | None = None) -> FirstLook:
    """Read the objective of a part: the number of rows, how many of them lie in each slot of `window`, and the values
    themselves if all values together take at most `most` bytes."""
    look = FirstLook(window=window, most=most)
    for observed in batches_of(part, plan, meter):
        values = kernel.usable(kept_values(observed))
        counts = selection.count_slots(values, plan.sign, window)
        single = observed.ranked.dtype == np.float32
        look = look.add(
            FirstLook(len(observed), len(values), single, window, counts, list(observed.notes), most, [values])
        )
    return look


@dataclass(frozen=True, slots=True, eq=False)
class SparseTable:
    """A table in which nearly all entries have the value `unset`; small enough to send with every task."""

    size: int
    unset: int
    places: NDArray[np.int64]
    values: NDArray[np.int32]

    @classmethod
    def of(cls, table: NDArray[np.int32], unset: int) -> SparseTable:
        places = np.flatnonzero(table != unset)
        return cls(len(table), unset, places, table[places])

    def table(self) -> NDArray[np.int32]:
        table = np.full(self.size, self.unset, dtype=np.int32)
        table[self.places] = self.values
        return table


def marked_of_part(
    part: Part, plan: Plan, window: Window, marks: SparseTable, few: int, large: int, meter: Meter | None = None
) -> Gathered:
    """The signed objectives in the slots that `marks` selects; for large slots, only the range."""
    table = marks.table()
    pieces = (
        selection.gather_slots(values, plan.sign, window, table, few, large)
        for values in objective_batches(part, plan, meter)
    )
    return selection.joined([(np.empty(0), np.tile([np.inf, -np.inf], (large, 1))), *pieces])


def digits_of_part(
    part: Part, plan: Plan, prefixes: Sequence[SparseTable], nodes: int, bits: int, meter: Meter | None = None
) -> NDArray[np.int64]:
    """For each prefix of a key, the number of rows by the next `bits` bits of the key: an array (prefixes, digits)."""
    tables = [one.table() for one in prefixes]
    counts = np.zeros((nodes, 1 << bits), dtype=np.int64)
    for values in objective_batches(part, plan, meter):
        counts += selection.count_digits(values, plan.sign, tables, nodes, bits)
    return counts


def wanted_of_part(
    part: Part, plan: Plan, prefixes: Sequence[SparseTable], most: int, meter: Meter | None = None
) -> NDArray[np.float64]:
    """The signed objectives whose keys begin with one of `prefixes`."""
    tables = [one.table() for one in prefixes]
    return strung(
        selection.gather_wanted(values, plan.sign, tables, most) for values in objective_batches(part, plan, meter)
    )


def strung(arrays: Iterable[NDArray[np.float64]]) -> NDArray[np.float64]:
    return np.concatenate([np.empty(0), *arrays])
