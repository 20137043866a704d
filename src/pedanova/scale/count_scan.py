"""A table in parts, counted: its space, its levels, and the sums of what its parts hold."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pedanova.base.kernel import library as kernel
from pedanova.base.kernel.selection import LEADING_BITS, Window, window_around
from pedanova.base.notes import Note
from pedanova.base.progress import interrupts_told
from pedanova.counting.countable import Counted, assembled, levels_for
from pedanova.counting.levels import Levels
from pedanova.data.metric_names import guess_directions
from pedanova.data.objectives import Goal, as_directions
from pedanova.data.prepare import check_left
from pedanova.data.records import SourceMetadata
from pedanova.data.row_selection import rows_in_words
from pedanova.data.space_inference import Choice, choose_space
from pedanova.data.table_options import TableOptions
from pedanova.data.trials import trial_column
from pedanova.errors import Arg, DataError, QueryError, listed
from pedanova.scale.cuda.device import library
from pedanova.scale.parts import FirstLook, Plan, light, look_at_part, named_in, sample_part, spoken_for
from pedanova.scale.pushdown import engine_of, look_by_engine
from pedanova.scale.readers import Crew, StartOverError
from pedanova.scale.rescan import Rescan
from pedanova.scale.sketch import SurveyedColumns
from pedanova.scale.spark_crew import SparkCrew
from pedanova.scale.spark_executor import SparkExecutor, is_session
from pedanova.sources.reader import table_metadata
from pedanova.sources.registry import KNOWN_TABLES
from pedanova.sources.scans.scan import FilePart, Scan
from pedanova.space.parameters import Moving, Space, Switch

IN_MEMORY = ("; load the table into memory (", Arg("stream", False), ") for that")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanOptions:
    """How the parts are to be read."""

    levels: object = None
    inside: bool = False  # no row may lie outside the space
    notes: tuple[Note, ...] = ()  # on the space that was given
    executor: Any = None
    skip: bool = False  # files that cannot be read
    pushdown: bool | None = None  # None for tables of ibis only
    engine: str | None = None  # "cuda": a card counts what the readers bring


def count_table(scan: Scan, request: TableOptions, reading: ScanOptions) -> Counted:
    """Count a table of any size. What needs all rows at once is refused in words."""
    if not kernel.available():
        raise QueryError(f"{scan.name} is large, and without the compiled kernel only tables in memory can be counted")
    metadata = table_metadata(scan.columns, KNOWN_TABLES) or SourceMetadata()
    request = with_names_told(request, metadata)
    check_request(request, scan)
    guess, notes = guess_directions(request.objective, scan.columns, metadata)
    direction = as_directions(guess if request.direction is None else request.direction, 1)[0]
    reading = reading if request.direction is not None else replace(reading, notes=(*reading.notes, *notes))
    params, exclude = listed_names(request.params), listed_names(request.exclude)
    own = replace(request, direction=direction, params=params, exclude=exclude)
    on_card = reading.engine == "cuda"
    if on_card:
        check_card(reading)
    plan = Plan(own, Space({}), (), trial=trial_column(scan.columns), on_card=on_card)
    crew = crew_of(scan, reading, request.threads)
    while True:
        try:
            with interrupts_told():
                return count_scan(scan, reading, crew, plan)
        except StartOverError:
            crew.start_over()


def check_card(reading: ScanOptions) -> None:
    """One line where there is no card, before anything is read."""
    if reading.pushdown:
        raise QueryError(
            Arg("pushdown"), " leaves the counting to the engine of the table; leave ", Arg("engine"), " out"
        )
    if reading.executor is None:
        library()


def with_names_told(request: TableOptions, metadata: SourceMetadata) -> TableOptions:
    """The request, completed by what the names of the columns tell: the user's word first."""
    exclude = listed_names(request.exclude) or []
    own = request.params is None and request.space is None and metadata.params
    goals = metadata.objectives if len(metadata.objectives) == 1 else (None,)
    return replace(
        request,
        objective=goals[0] if request.objective is None else request.objective,
        params=[name for name in metadata.params if name not in exclude] if own else request.params,
        exclude=None if own else request.exclude,
        aside=metadata.aside,
        state=metadata.state if request.state is None else request.state,
        where=metadata.where if request.where is None else request.where,
    )


def crew_of(scan: Scan, reading: ScanOptions, threads: int) -> Crew | SparkCrew:
    if scan.is_spark:
        if reading.executor is not None:
            raise QueryError(Arg("executor"), " is for files; Spark's own workers read its data frames")
        return SparkCrew(scan.parts[0])
    if reading.executor is not None and not all(map(is_file, scan.parts)):
        raise QueryError(Arg("executor"), f" is for files; {scan.name} is run by its own library")
    executor = SparkExecutor(reading.executor) if is_session(reading.executor) else reading.executor
    return Crew(scan.parts, scan.rows, threads, executor, reading.skip)


def count_scan(scan: Scan, reading: ScanOptions, crew: Crew | SparkCrew, plan: Plan) -> Counted:
    rescan, levels, space_notes = begin(scan, reading, crew, plan)
    counts = rescan.count(levels)
    if not counts.tables:
        raise DataError(f"{scan.name} holds no rows; nothing can be counted")
    crew.keep(())
    notes = [*source_notes(scan, rescan), *reading.notes, *space_notes]
    return assembled(rescan, levels, counts, notes=notes, inside=reading.inside)


def begin(
    scan: Scan, reading: ScanOptions, crew: Crew | SparkCrew, plan: Plan
) -> tuple[Rescan, Levels, tuple[Note, ...]]:
    """What must be known of all rows before any can be counted: the space, with its notes, and the thresholds."""
    evidence = SurveyedColumns(crew, replace(plan, needs=scan.columns))
    choice = space_of(scan, plan, evidence)
    texts = tuple(name for name in evidence.texts if name in choice.space)
    plan = replace(plan, space=choice.space, needs=columns_needed(scan, plan, choice.space), texts=texts)
    engine = engine_of(scan, plan, pushdown=reading.pushdown)
    crew.keep(light(plan).needs)
    look, extent = (look_at(crew, plan), None) if engine is None else look_by_engine(engine, plan)
    where = plan.request.where
    check_left(look.kept, look.numbers, None if where is None else rows_in_words(where), look.notes)
    rescan = Rescan(crew, plan, look, engine, extent)
    return rescan, levels_for(rescan, reading.levels), tuple(choice.notes)


def source_notes(scan: Scan, rescan: Rescan) -> list[Note]:
    lost = {**dict(scan.lost), **rescan.crew.lost}
    engine = [] if rescan.engine is None else [Note("source", f"counted by the engine of {scan.name}")]
    return [*engine, *(Note("doubt", f"skipped, and not counted: {why}") for why in lost.values())]


def listed_names(names: Iterable[str] | None) -> list[str] | None:
    return [names] if isinstance(names, str) else None if names is None else list(names)


def is_file(part: object) -> bool:
    return isinstance(part, FilePart)


def look_at(crew: Crew | SparkCrew, plan: Plan) -> FirstLook:
    window = window_of(crew, plan)
    return crew.total(look_at_part, FirstLook.sum, light(plan), window, what="rows of the objective")


def window_of(crew: Crew | SparkCrew, plan: Plan) -> Window:
    """Where on the number line the objective lies, as the first rows of some files tell."""
    if isinstance(crew, SparkCrew) or not all(map(is_file, crew.parts)):
        return LEADING_BITS  # whoever runs a plan would run it once more for a few rows
    last = len(crew.parts) - 1
    others = sorted({*range(last + 1)} - {0, last // 2, last})
    samples = list(crew.each_but(others, sample_part, light(plan), what="a first look"))
    return window_around(np.concatenate([sample for _, sample in samples] or [np.empty(0)]))


def check_request(request: TableOptions, scan: Scan) -> None:
    """Whatever cannot be decided row by row is refused."""
    if not isinstance(request.objective, str):
        what = " is missing" if request.objective is None else " must be the name of one column"
        columns = f" where a table is read in parts; there are: {listed(list(scan.columns), most=40)}"
        raise QueryError(Arg("objective"), what, columns)
    if request.repeats not in (None, "all"):
        raise QueryError(Arg("repeats", request.repeats), " needs all rows at once", *IN_MEMORY)
    for name in ("where", "feasible", "state"):
        if hasattr(getattr(request, name), "__array__") or hasattr(getattr(request, name), "mask"):
            words = " must be a column or a condition where a table is read in parts"
            raise QueryError(Arg(name), words, *IN_MEMORY)
    if request.objective not in scan.columns and not named_in(request.objective, scan.columns):
        scan.check([request.objective])


def columns_needed(scan: Scan, plan: Plan, space: Space) -> tuple[str, ...]:
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
    wanted = dict.fromkeys([*space, *ties, *sorted(chosen)])
    scan.check(list(wanted))
    return tuple(wanted)


def space_of(scan: Scan, plan: Plan, evidence: SurveyedColumns) -> Choice:
    """As given, or guessed from one reading of the columns that may be settings."""
    own = plan.objective if plan.objective in scan.columns else None
    made_of = () if own else tuple(named_in(plan.objective, scan.columns))
    goal = Goal(plan.objective, np.empty(0), plan.direction, own, made_of=made_of)
    return choose_space(scan.columns, (goal,), plan.request, evidence)
