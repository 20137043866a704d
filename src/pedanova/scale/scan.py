"""An analysis of a scan: what `streaming` counts, put together."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pedanova.base.kernel import library as kernel
from pedanova.base.kernel.selection import LEADING_BITS, Window, window_around
from pedanova.base.progress import interrupts_told
from pedanova.counting.cut import Tallies, cell_notes
from pedanova.counting.levels import Levels, as_ladder
from pedanova.counting.moments import Moments
from pedanova.counting.store import as_path
from pedanova.data.guess import infer_space
from pedanova.data.objectives import as_directions
from pedanova.data.observations import marked
from pedanova.data.request import Request
from pedanova.errors import DataError, OutsideSpaceError, QueryError, listed
from pedanova.scale.checkpoint import Checkpoint, Progress, question_of
from pedanova.scale.parts import Look, Plan, look_at_part, sample_part
from pedanova.scale.pushdown import engine_of, look_by_engine
from pedanova.scale.readers import Crew, StartOverError
from pedanova.scale.rescan import Rescan, light, named_in, spoken_for
from pedanova.scale.sketch import Sketch, joined_sketches, survey_part
from pedanova.scale.spark import SparkCrew
from pedanova.sources.scans.scan import Scan
from pedanova.space.parameters import Moving, Space, Switch, as_space

INMEMORY = "; load the table into memory (stream=False) for that"


@dataclass(frozen=True, slots=True, kw_only=True)
class How:
    """As far as the way of reading is concerned."""

    levels: object = None
    outside: str = "error"
    threads: int = 1
    executor: Any = None
    skip: bool = False  # files that cannot be read
    checkpoint: str | os.PathLike[str] | None = None
    pushdown: bool | None = None  # None for tables of ibis only


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """All that an analysis is made of, and the way back to the rows."""

    objective: str
    levels: Levels
    tallies: Tallies
    notes: tuple[str, ...]
    dropped: int
    moments: Moments | None
    rescan: Rescan


def count_table(scan: Scan, request: Request, how: How) -> Counted:
    """Count a table of any size. What needs all rows at once is refused in words."""
    if not kernel.available():
        raise QueryError(
            f"{scan.name} is large, and without the compiled kernel only tables in memory can be counted"
        )
    objective = check_request(request, scan)
    plan = Plan(
        objective=objective,
        direction=as_directions(request.direction or "minimize", 1)[0],
        space=Space({}),
        needs=(),
        where=request.where,
        feasible=request.feasible,
        state=request.state,  # type: ignore[arg-type]
        policies=request.policies,
    )
    crew = crew_of(scan, how)
    while True:
        try:
            with interrupts_told():
                return count_scan(scan, request, how, crew, plan)
        except StartOverError:
            crew.start_over()


def crew_of(scan: Scan, how: How) -> Crew | SparkCrew:
    if scan.is_spark:
        if how.executor is not None:
            raise QueryError("executor= is for files; Spark's own workers read its data frames")
        return SparkCrew(scan.parts[0])
    if how.executor is not None and not all(map(is_file, scan.parts)):
        raise QueryError(f"executor= is for files; {scan.name} is run by its own library")
    return Crew(scan.parts, scan.rows, how.threads, how.executor, how.skip)


def count_scan(scan: Scan, request: Request, how: How, crew: Crew | SparkCrew, plan: Plan) -> Counted:
    checkpoint = checkpoint_of(scan, request, how, plan)
    progress = checkpoint.load() if checkpoint is not None and not crew.lost else None
    if progress is None:
        space, notes = space_of(scan, request, plan, crew)
        plan = replace(plan, space=space, needs=columns_needed(scan, plan, space))
        engine = engine_of(scan, plan, pushdown=how.pushdown)
        look, extent = (look_at(crew, plan), None) if engine is None else look_by_engine(engine, plan)
        rescan = Rescan(crew, plan, look, engine, extent)
        progress = Progress(levels_of(rescan, how.levels), space, rescan.look, lost=crew.lost, notes=notes)
    else:
        crew.lost.update(progress.lost)
        plan = replace(plan, space=progress.space, needs=columns_needed(scan, plan, progress.space))
        rescan = Rescan(crew, plan, progress.look)
    if checkpoint is None:
        progress.counts = rescan.count(progress.levels)
    else:
        rescan.go_on(progress, checkpoint)
    return counted_of(scan, request, how, rescan, progress)


def checkpoint_of(scan: Scan, request: Request, how: How, plan: Plan) -> Checkpoint | None:
    if how.checkpoint is None:
        return None
    space = None if request.space is None else as_space(request.space)
    columns = [*named(request.params), "but", *named(request.exclude)]
    asked = question_of(plan, scan.parts, space=space, levels=how.levels, columns=columns)
    return Checkpoint(as_path(how.checkpoint), asked, plan.objective)


def named(names: Iterable[str] | None) -> list[str]:
    return [names] if isinstance(names, str) else list(names or ())


def is_file(part: object) -> bool:
    return hasattr(type(part), "mark")


def look_at(crew: Crew | SparkCrew, plan: Plan) -> Look:
    window = window_of(crew, plan)
    return crew.total(look_at_part, Look.sum, light(plan), window, what="rows of the objective")


def window_of(crew: Crew | SparkCrew, plan: Plan) -> Window:
    """Where on the number line the objective lies, as the first rows of some files tell."""
    if isinstance(crew, SparkCrew) or not all(map(is_file, crew.parts)):
        return LEADING_BITS  # whoever runs a plan would run it once more for a few rows
    last = len(crew.parts) - 1
    others = sorted({*range(last + 1)} - {0, last // 2, last})
    found = list(crew.each_but(others, sample_part, light(plan), what="a first look"))
    return window_around(np.concatenate([sample for _, sample in found] or [np.empty(0)]))


def levels_of(rescan: Rescan, levels: object) -> Levels:
    if isinstance(levels, Levels):
        return borrowed(levels, rescan.plan)
    cut = rescan.cut(as_ladder(levels))  # type: ignore[arg-type]
    if np.isfinite(cut.thresholds).sum() < 2 and not rescan.varies():  # two thresholds are two values
        raise DataError(
            f"objective {rescan.plan.objective!r} is the same in every row; nothing can explain a constant"
        )
    return cut


def borrowed(levels: Levels, plan: Plan) -> Levels:
    if levels.several:
        raise QueryError("levels= are those of several objectives, whose order exists only within one table")
    for name, old, new in (
        ("direction", levels.direction, plan.direction),
        ("nan", levels.nan, plan.nan),
    ):
        if old != new:
            raise QueryError(f"{name}={new!r} differs from that of the levels given, {old!r}")
    return levels.borrowed()


def counted_of(scan: Scan, request: Request, how: How, rescan: Rescan, progress: Progress) -> Counted:
    counts, look = progress.counts, progress.look
    if not counts.tables:
        raise DataError(f"{scan.name} holds no rows; nothing can be counted")
    tallies = counts.tallies(rescan.plan, progress.levels)
    if request.space is not None and how.outside == "error":
        check_inside(tallies)
    lost = {**dict(scan.lost), **rescan.crew.lost}
    told = [f"read in {len(scan.parts)} parts, {look.rows:,} rows in all"]
    if rescan.engine is not None:
        told.append(f"counted by the engine of {scan.name}")
    told += [f"skipped, and not counted: {why}" for why in lost.values()]
    told += [*look.notes, *(note for note in counts.notes if note not in look.notes), *progress.notes]
    return Counted(
        objective=rescan.plan.objective,
        levels=progress.levels,
        tallies=tallies,
        notes=(*told, *cell_notes(tallies)),
        dropped=counts.rows - counts.counted,
        moments=counts.moments,
        rescan=rescan,
    )


def check_request(request: Request, scan: Scan) -> str:
    """The objective; whatever cannot be told row by row is refused."""
    if not isinstance(request.objective, str):
        what = (
            "objective= is missing"
            if request.objective is None
            else "objective= must be the name of one column"
        )
        raise QueryError(
            f"{what} where a table is read in parts; there are: {listed(list(scan.columns), most=40)}"
        )
    if request.repeats not in (None, "all"):
        raise QueryError(f"repeats={request.repeats!r} needs all rows at once{INMEMORY}")
    for name in ("where", "feasible", "state"):
        if hasattr(getattr(request, name), "__array__") or hasattr(getattr(request, name), "mask"):
            raise QueryError(
                f"{name}= must be a column or a condition where a table is read in parts{INMEMORY}"
            )
    if request.objective not in scan.columns and not named_in(request.objective, scan.columns):
        scan.check([request.objective])
    return request.objective


def columns_needed(scan: Scan, plan: Plan, space: Space) -> tuple[str, ...]:
    ties = [
        name
        for parameter in space.values()
        for name in (
            *(parent for parent, _ in parameter.when),
            *([parameter.by] if isinstance(parameter, Switch) else []),
            *([parameter.low, parameter.high] if isinstance(parameter, Moving) else []),
        )
        if isinstance(name, str)
    ]
    chosen = spoken_for(replace(plan, needs=scan.columns))
    wanted = dict.fromkeys([*space, *ties, *sorted(chosen)])
    scan.check(list(wanted))
    return tuple(wanted)


def space_of(scan: Scan, request: Request, plan: Plan, crew: Crew | SparkCrew) -> tuple[Space, list[str]]:
    """As given, or guessed from one reading of the columns that may be settings."""
    exclude, params = named(request.exclude), named(request.params)
    scan.check([*exclude, *params])
    if request.space is not None:
        space = as_space(request.space)
        names = [name for name in space if name not in exclude and (not params or name in params)]
        return Space({name: space[name] for name in names}), []
    taken = spoken_for(replace(plan, needs=scan.columns, where=None))
    names = params or [name for name in scan.columns if name not in taken and name not in exclude]
    names = params or marked(names) or names
    sketches = survey(names, replace(plan, needs=scan.columns), request, crew)
    space, notes = infer_space({s.name: s.column() for s in sketches}, asked=frozenset(params))
    if not space:
        raise DataError(f"no column of {scan.name} can serve as a parameter ({'; '.join(notes[:3])})")
    gaps = [s.name for s in sketches if s.gaps and s.name in space]
    if gaps:
        notes.append(
            f"values are missing in {listed(gaps)}; conditions are not guessed where a table is read in parts"
        )
    return space, notes


def survey(names: list[str], plan: Plan, request: Request, crew: Crew | SparkCrew) -> list[Sketch]:
    """Sketches of these columns; only rows that count are asked, where some do not."""
    every = replace(request, repeats="all").is_plain
    chosen = [] if every else sorted(spoken_for(plan))
    plan = replace(plan, needs=tuple(dict.fromkeys([*names, *chosen])))
    found = crew.total(survey_part, joined_sketches, plan, names, every, what="rows to find the space")
    return found or [Sketch(name) for name in names]


def check_inside(tallies: Tallies) -> None:
    for name, tally in tallies.items():
        many = int(tally.counts[:, tally.grid.outside].sum())
        if many:
            raise OutsideSpaceError(
                f"{name}: {many:,} rows lie outside {tally.parameter}; widen the space, or pass outside='count'"
            )
