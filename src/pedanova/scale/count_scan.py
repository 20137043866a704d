"""Count a table in parts: find its space and levels, count all parts, and read the rows again if needed."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.base.kernel import library as kernel
from pedanova.base.kernel import selection
from pedanova.base.kernel.selection import LEADING_BITS, Gathered, Window
from pedanova.base.notes import Note
from pedanova.counting.countable import Countable, Counted, Recount, assembled, levels_for
from pedanova.counting.few_rows import FewRows, most_rows
from pedanova.counting.levels import Levels, RankedObjective
from pedanova.counting.tally import Counts
from pedanova.data.column_clues import STATUS_NAMES
from pedanova.data.objectives import Goal, check_direction, shown_direction
from pedanova.data.options import Scan
from pedanova.data.prepare import check_left
from pedanova.data.records import SourceMetadata
from pedanova.data.regions import Cut, rows_in_words
from pedanova.data.roles import status_column
from pedanova.data.row_status import GuessedState, failed_rows, unknown_states, without_failed
from pedanova.data.space_inference import Choice, choose_space
from pedanova.data.table_options import TableOptions
from pedanova.data.trials import trial_column
from pedanova.data.vocabulary import FAILURES, OUTCOMES, words_of
from pedanova.errors import Arg, DataError, PartError, QueryError, listed
from pedanova.scale import parts
from pedanova.scale.parts import FirstLook, Plan, SparseTable, directed, in_slices, light, named_in, spoken_for
from pedanova.scale.pushdown import count_pushed, engine_of, sample_in_engine
from pedanova.scale.sketch import SurveyedColumns
from pedanova.scale.workers import SparkWorkers, StartOverError, Workers
from pedanova.sources.registry import table_metadata
from pedanova.sources.scans.scan import FilePart, SparkPart, TableScan
from pedanova.space.grid import grid_of
from pedanova.space.parameters import Moving, Space, Switch

SORTED_AT_ONCE = 4_000_000  # the most rows that are gathered to find thresholds
LARGE_RESULT = 1 << 23  # counts of a part (128 MB with their sums) from which threads share one table
KEPT_BYTES = 1 << 29  # bytes of objectives that are kept until the thresholds are known; more are read twice
OUTCOME_WORDS = {(word,) for word in OUTCOMES | FAILURES}
IN_MEMORY = ("; load the table into memory with ", Arg("stream", False, of="Scan"))


@dataclass(slots=True, eq=False)
class Rescan(Countable):
    """A table in parts, which is read again whenever a question needs other thresholds."""

    workers: Workers | SparkWorkers
    plan: Plan
    look: FirstLook
    engine: Any = None  # the table itself, if its own engine counts

    @property
    def single(self) -> bool:
        return self.look.single

    def count(self, levels: Levels) -> Counts:
        if self.engine is not None:
            return count_pushed(self.engine, self.plan, levels, self.look.notes)
        keep = self.counted <= most_rows(self.space)
        cells = levels.count * sum(grid_of(parameter).width for parameter in self.space.values())
        if isinstance(self.workers, Workers) and self.workers.executor is None and cells > LARGE_RESULT:
            plans = [self.plan] if keep else in_slices(self.plan)  # no slice has whole configurations
            slices = [
                self.workers.at_once(parts.count_part, plan, levels, keep, what="rows to count") for plan in plans
            ]
            return replace(Counts.beside(slices), sample=slices[0].sample if keep else None)
        return self.workers.total(parts.count_part, Counts.sum, self.plan, levels, keep, what="rows to count")

    def recut(self, levels: Levels, cuts: Iterable[Cut]) -> Recount:
        """Add thresholds to `levels` and count again; raises an error if a file can no longer be read."""
        lost_before = set(self.workers.lost)
        try:
            return Countable.recut(self, levels, cuts)
        except StartOverError:
            lost = {name: self.workers.lost.pop(name) for name in set(self.workers.lost) - lost_before}
            why = next(iter(lost.values()))  # removed again, because no answer may leave out these rows
            raise DataError(f"{why}; the analysis used this file: restore it, or analyze the other files") from None

    def ranked(self) -> RankedObjective:
        return self.values_at, self.look.kept, self.look.numbers

    def values_at(self, ranks: Iterable[int]) -> dict[int, float]:
        """The signed objective of the rows with these ranks (1 = smallest); the column is read one to three times."""
        wanted = np.unique(np.fromiter(ranks, dtype=np.int64))
        look = self.look
        if not len(wanted):
            return {}
        if look.values:
            values = selection.pick_ranks(look.counts, wanted, self._gather_kept, self._partition, most=SORTED_AT_ONCE)
        elif look.window == LEADING_BITS:
            values = self._by_radix(wanted)
        else:
            values = selection.pick_ranks(look.counts, wanted, self._gather, self._by_radix, most=SORTED_AT_ONCE)
        return dict(zip(wanted.tolist(), values.tolist(), strict=True))

    def sample(self, levels: Levels) -> FewRows | None:
        return None if self.engine is None else sample_in_engine(self.engine, self.plan, levels, self.counted)

    def _gather_kept(self, marks: NDArray[np.int32], few: int, large: int) -> Gathered:
        """The same as `_gather`, from the objectives that the first reading kept."""
        given = self.plan.sign, self.look.window, marks, few, large
        return selection.joined(selection.gather_slots(values, *given) for values in self.look.values or [])

    def _partition(self, wanted: NDArray[np.int64]) -> NDArray[np.float64]:
        return selection.by_partition(np.concatenate(self.look.values or []), self.plan.sign, wanted)

    def _gather(self, marks: NDArray[np.int32], few: int, large: int) -> Gathered:
        given = self.look.window, SparseTable.of(marks, selection.PASSED_OVER), few, large
        return self.workers.total(
            parts.marked_of_part, selection.joined, light(self.plan), *given, what="rows for thresholds"
        )

    def _by_radix(self, wanted: NDArray[np.int64]) -> NDArray[np.float64]:
        plan = light(self.plan)

        def count(tables: list[NDArray[np.int32]], nodes: int, bits: int) -> NDArray[np.int64]:
            if not tables and self.look.window == LEADING_BITS:  # already counted in the first reading
                return np.append(self.look.counts[:-1], 0)[None, :]
            arguments = [SparseTable.of(table, -1) for table in tables], nodes, bits
            return self.workers.total(
                parts.digits_of_part, partial(reduce, np.add), plan, *arguments, what="rows for thresholds"
            )

        def gather(tables: list[NDArray[np.int32]], most: int) -> NDArray[np.float64]:
            arguments = [SparseTable.of(table, -1) for table in tables], most
            return self.workers.total(parts.wanted_of_part, parts.strung, plan, *arguments, what="rows for thresholds")

        return selection.radix_select(count, gather, wanted, few=SORTED_AT_ONCE)


def count_table(scan: TableScan, request: TableOptions, options: Scan, levels: object) -> Counted:
    """Count a table of any size; raises an error for options that need all rows at the same time."""
    if not kernel.available():
        raise QueryError(f"{scan.name} cannot be read in parts without the compiled kernel", *IN_MEMORY)
    metadata = table_metadata(scan.columns) or SourceMetadata()
    request = with_state_seen(with_names_told(request, metadata), scan)
    check_request(request, scan)
    plan = Plan(directed(request, scan.columns, metadata), Space({}), ())
    workers = workers_for(scan, options, request.threads)
    while True:
        try:
            return count_scan(scan, options, workers, plan, levels)
        except StartOverError:
            workers.start_over()


def with_names_told(request: TableOptions, metadata: SourceMetadata) -> TableOptions:
    """If the column names are those of a known tool, fill in the options that the user did not give."""
    exclude = request.exclude or ()
    own = request.params is None and request.space is None and metadata.params
    goals = metadata.objectives if len(metadata.objectives) == 1 else (None,)
    if request.objective is None and request.direction is None and goals[0] is not None and not request.yes:
        check_direction(goals[0], metadata, shown_direction(goals[0], {}, metadata))
    return replace(
        request,
        objective=goals[0] if request.objective is None else request.objective,
        params=[name for name in metadata.params if name not in exclude] if own else request.params,
        exclude=None if own else request.exclude,
        aside=metadata.aside,
        reading=replace(request.reading, state=metadata.state) if request.state is None else request.reading,
        where=metadata.where if request.where is None else request.where,
    )


def with_state_seen(request: TableOptions, scan: TableScan) -> TableOptions:
    """If the user names no column of trial states, look for one in the first rows; add notes on what is doubtful."""
    settled = (*(request.params or ()), *(request.exclude or ()), *named_in(request.objective, scan.columns))
    told = [name for name in scan.columns if STATUS_NAMES.search(name) or words_of(name)[-1:] in OUTCOME_WORDS]
    names = [name for name in told if name not in settled]
    if request.state is None and request.reading.failed_states:
        raise QueryError(Arg("failed_states"), " also needs ", Arg("state"), " for a table that is read in parts")
    if request.state is not None or not names:
        return request
    part = scan.parts[0]
    with suppress(PartError):  # the error is raised when all rows are read
        for records in [part.head(names)] if isinstance(part, SparkPart) else part.batches(names):
            named = status_column(records.columns)
            state = None if named is None else GuessedState(named)
            notes = unknown_states(records.columns[named]) if named is not None else []
            words = "some rows failed according to this column, but count like all others; to leave such rows out, "
            for name, column in records.columns.items() if named is None else ():
                failed = failed_rows(name, column)
                if failed is not None and failed.any() and not failed.all():
                    notes.append(Note("status", words, *without_failed(column, failed), subject=name))
            reading = replace(request.reading, state=state)
            return replace(request, reading=reading, notes=(*request.notes, *notes))
    return request


def workers_for(scan: TableScan, options: Scan, threads: int) -> Workers | SparkWorkers:
    if scan.is_spark:
        if options.executor is not None:
            raise QueryError(Arg("executor"), " is for files, not for a Spark data frame; leave it out")
        return SparkWorkers(scan.parts[0])
    if options.executor is not None and not all(map(is_file, scan.parts)):
        raise QueryError(Arg("executor"), f" is for files, not for {scan.name}; leave it out")
    return Workers(scan.parts, scan.rows, threads, options.executor, options.skip)


def count_scan(scan: TableScan, options: Scan, workers: Workers | SparkWorkers, plan: Plan, levels: object) -> Counted:
    """Read the table to find its space and thresholds, then count it."""
    evidence = SurveyedColumns(workers, replace(plan, needs=scan.columns))
    choice = space_of(scan, plan, evidence)
    texts = tuple(name for name in evidence.texts if name in choice.space)
    plan = replace(plan, space=choice.space, needs=columns_needed(scan, plan, choice.space), texts=texts)
    engine = engine_of(scan, plan, pushdown=options.pushdown)
    window = window_of(workers, plan)
    here = isinstance(workers, Workers) and workers.executor is None
    given = light(plan), window, KEPT_BYTES * here
    look = workers.total(parts.look_at_part, FirstLook.sum, *given, what="the objective of each row")
    where = plan.request.where
    check_left(look.kept, look.numbers, None if where is None else rows_in_words(where), look.notes)
    rescan = Rescan(plan.objective, plan.direction, plan.nan, plan.space, workers, plan, look, engine)
    cut = levels_for(rescan, levels)
    look.values = None  # later questions with other thresholds read the column again
    counts = rescan.count(cut)
    if not counts.tables:
        raise DataError(f"{scan.name} holds no rows; there is nothing to analyze")
    lost = {**dict(scan.lost), **workers.lost}
    notes = [] if engine is None else [Note("source", f"counted by the engine of {scan.name}")]
    notes += [Note("doubt", f"a part of the data is skipped: {why}") for why in lost.values()]
    notes += [*plan.request.notes, *choice.notes]
    return assembled(rescan, cut, counts, notes=notes, inside=plan.request.inside)


def is_file(part: object) -> bool:
    return isinstance(part, FilePart)


def window_of(workers: Workers | SparkWorkers, plan: Plan) -> Window:
    """The range that the histogram of the objective covers, estimated from the first rows of some files."""
    if isinstance(workers, SparkWorkers) or not all(map(is_file, workers.parts)):
        return LEADING_BITS  # reading a few rows would run the whole plan once more
    last = len(workers.parts) - 1
    some = [workers.parts[i] for i in sorted({0, last // 2, last})]
    samples = list(workers.each(parts.sample_part, light(plan), what="the first rows", parts=some))
    return selection.window_around(np.concatenate(samples or [np.empty(0)]))


def check_request(request: TableOptions, scan: TableScan) -> None:
    """Raise an error for options that cannot be applied to each row separately."""
    if not isinstance(request.objective, str):
        if request.objective is not None:
            raise QueryError(Arg("objective", request.objective), " needs all rows at once", *IN_MEMORY)
        columns = f"; the columns are: {listed(list(scan.columns), most=40)}"
        raise QueryError(Arg("objective"), " must be given when a table is read in parts", columns)
    if request.repeats not in (None, "all"):
        raise QueryError(Arg("repeats", request.repeats), " needs all rows at once", *IN_MEMORY)
    if request.blocks:
        raise QueryError(Arg("blocks", list(request.blocks)), " needs all rows at once", *IN_MEMORY)
    for name in ("where", "feasible", "state"):
        if hasattr(getattr(request, name), "__array__") or hasattr(getattr(request, name), "mask"):
            words = " must be a column or a condition when a table is read in parts"
            raise QueryError(Arg(name), words, *IN_MEMORY)
    if request.objective not in scan.columns and not named_in(request.objective, scan.columns):
        scan.check([request.objective])


def columns_needed(scan: TableScan, plan: Plan, space: Space) -> tuple[str, ...]:
    ties = [
        name
        for parameter in space.values()
        for name in (
            *(parent for parent, _ in parameter.when),
            *([parameter.by] if isinstance(parameter, Switch) else []),
            *([parameter.low, parameter.high] if isinstance(parameter, Moving) else []),
        )
        if isinstance(name, str) and name
    ]
    chosen = spoken_for(replace(plan, needs=scan.columns))
    trial = trial_column(scan.columns)
    wanted = dict.fromkeys([*space, *ties, *sorted(chosen), *([] if trial is None else [trial])])
    scan.check(list(wanted))
    return tuple(wanted)


def space_of(scan: TableScan, plan: Plan, evidence: SurveyedColumns) -> Choice:
    """The given space, or a space guessed from one reading of all columns that may be parameters."""
    own = plan.objective if plan.objective in scan.columns else None
    made_of = () if own else tuple(named_in(plan.objective, scan.columns))
    goal = Goal(plan.objective, np.empty(0), plan.direction, own, made_of=made_of)
    return choose_space(scan.columns, (goal,), plan.request, evidence)
