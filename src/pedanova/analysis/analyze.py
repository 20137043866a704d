"""`analyze`: the whole way on one page. Read, prepare, cut into levels, count."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace

from pedanova.analysis.analysis import Analysis
from pedanova.analysis.options import OBJECTIVE, TABLE, check_choices, documented
from pedanova.base.threads import as_threads
from pedanova.counting.held import Held
from pedanova.counting.levels import Levels
from pedanova.counting.source import Counted, assembled, levels_for
from pedanova.data.choose import HeldColumns, choose_space
from pedanova.data.objectives import Goal, read_goals
from pedanova.data.outcomes import Policies
from pedanova.data.prepare import prepare
from pedanova.data.records import Records
from pedanova.data.request import Request, complete
from pedanova.errors import Arg, QueryError
from pedanova.space.parameters import Space


@documented((OBJECTIVE, *TABLE))
def analyze(
    data: object,
    objective: object = None,
    *,
    direction: str | Sequence[str] | None = None,
    space: object = None,
    levels: Levels | Iterable[float] | None = None,
    nan: str = "drop",
    outside: str = "error",
    params: Iterable[str] | None = None,
    exclude: Iterable[str] | None = None,
    where: object = None,
    feasible: object = None,
    infeasible: str = "drop",
    state: object = None,
    failed: str = "drop",
    pruned: str = "drop",
    repeats: str | None = None,
    study: str | None = None,
    names: Sequence[str] | None = None,
    stream: bool | None = None,
    executor: object = None,
    on_error: str = "raise",
    checkpoint: str | os.PathLike[str] | None = None,
    pushdown: bool | None = None,
    threads: int | None = None,
) -> Analysis:
    """Count a table of trials once; every question is then answered from the counts.

    Parameters
    ----------
    data
        A file (CSV, TSV, JSON lines, Parquet, Arrow IPC), the log of a tool (an Optuna study, its
        database or journal; folders of SMAC3, Ray Tune, MLflow and others: ``pedanova formats``
        lists them), a pandas, Polars or pyarrow table, a dict of arrays, a structured NumPy array,
        or a 2-D NumPy array with `names`.
    {options}

    Examples
    --------
    >>> import numpy as np, pedanova as pa
    >>> x = np.linspace(0, 1, 1000)
    >>> a = pa.analyze({"x": x, "z": np.tile([0, 1], 500), "loss": (x - 0.3) ** 2}, objective="loss")
    >>> list(a.importance())
    ['x', 'z']
    """
    check_choices(locals())
    # These bring narwhals along: only when needed.
    from pedanova.scale.scan import Reading, count_table
    from pedanova.sources import open_table, read_records, read_series
    from pedanova.sources.scans.scan import Scan
    from pedanova.sources.spaces.read import read_space

    policies = Policies(nan=nan, failed=failed, pruned=pruned, infeasible=infeasible)  # type: ignore[arg-type]
    workers = as_threads(threads)
    if objective is not None and not isinstance(objective, str) and not _are_names(objective):
        objective = read_series("objective", objective)
    skip = on_error == "skip"
    in_parts: bool | None = stream or executor is not None or checkpoint is not None or pushdown or None
    if stream is False:
        check_in_memory(executor=executor, checkpoint=checkpoint, pushdown=pushdown or None)
        in_parts = False
    single = names is not None or study is not None
    opened = data if single else open_table(data, in_parts, skip=skip)
    given, notes = (None, []) if space is None else read_space(space)
    request = Request(
        objective=objective,
        direction=direction,
        space=given,
        params=params,
        exclude=exclude,
        where=where,
        feasible=feasible,
        state=state,
        repeats=repeats,  # type: ignore[arg-type]
        policies=policies,
        threads=workers,
    )
    inside = outside == "error" and given is not None
    reading = Reading(
        levels=levels,
        inside=inside,
        threads=workers,
        executor=executor,
        skip=skip,
        checkpoint=checkpoint,
        pushdown=pushdown,
    )
    if isinstance(opened, Scan):
        return Analysis.of(count_table(opened, request, reading), workers)
    records = read_records(opened, names=names, study=study)
    records = replace(records, notes=(*records.notes, *notes))
    return Analysis.of(count_records(records, request, levels, inside=inside), workers)


def count_records(records: Records, request: Request, levels: object, *, inside: bool) -> Counted:
    """Count a table in memory: a scan of one part, which may be asked everything."""
    observed, notes = prepare(records, request)
    held = Held(observed, "worst" if request.policies.may_be_worst else "drop", request.threads)
    cut = levels_for(held, levels)
    return assembled(held, cut, held.count(cut), notes=notes, inside=inside)


def guess_space(
    data: object,
    objective: object = None,
    *,
    params: Iterable[str] | None = None,
    exclude: Iterable[str] | None = None,
    study: str | None = None,
) -> tuple[Space, tuple[str, ...]]:
    """The space that `analyze` would use, and why: a start for one that you write down yourself.

    Examples
    --------
    >>> guess_space({"lr": [0.1, 0.01, 0.001, 0.02], "loss": [1.0, 2.0, 3.0, 4.0]}, "loss")[0]
    Space({'lr': Float(low=0.001, high=0.1, log=True)})
    """
    from pedanova.sources import read_records

    records, request = complete(
        read_records(data, study=study),
        Request(objective=objective, params=params, exclude=exclude),
        ask=False,
    )
    goals = () if request.objective is None else goals_of(records, request)
    choice = choose_space(tuple(records.columns), goals, request, HeldColumns(records.columns))
    return choice.space, (*records.notes, *choice.notes)


def goals_of(records: Records, request: Request) -> tuple[Goal, ...]:
    return read_goals(records.columns, records.rows, request.objective, "minimize")


def check_in_memory(**options: object) -> None:
    """Refuse what only tables read in parts have a use for."""
    for name, value in options.items():
        if value is not None:
            raise QueryError(Arg(name), " is for tables read in parts; leave ", Arg("stream", False), " out")


def _are_names(objective: object) -> bool:
    return (
        isinstance(objective, list | tuple) and bool(objective) and all(isinstance(o, str) for o in objective)
    )
