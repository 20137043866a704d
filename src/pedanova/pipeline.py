"""`analyze`: the whole way on one page. Read, prepare, cut into levels, count."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, get_args

from pedanova.analysis import Analysis
from pedanova.counting import check_inside, levels_for
from pedanova.errors import QueryError
from pedanova.fates import Ending, NanPolicy, Policies, PrunedEnding
from pedanova.levels import Levels
from pedanova.observations import OutsidePolicy
from pedanova.preparation import prepare
from pedanova.repeats import RepeatPolicy
from pedanova.request import Request
from pedanova.space import Parameter, Space
from pedanova.workers import as_threads


def analyze(
    data: object,
    objective: object = None,
    *,
    direction: str | Sequence[str] | None = None,
    space: Space | Mapping[str, Parameter] | None = None,
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
    threads: int | None = None,
) -> Analysis:
    """Count a table of trials once; every question is then answered from the counts.

    Parameters
    ----------
    data
        A path (CSV, TSV, JSON lines, Parquet, Arrow IPC), a pandas, Polars or pyarrow table, a
        dict of arrays, a structured NumPy array, or a 2-D NumPy array with `names`.
    objective
        The name of a column, one number per row, a condition such as ``"verdict == 'good'"``, or
        a list of names: several objectives are ordered by non-domination.
    direction
        ``"minimize"`` or ``"maximize"``, or a list with one for each objective.
    space
        The search space by name: `Float`, `Int`, `Ordinal`, `Categorical`, `Moving`, `Switch`.
        Without it, the space is guessed from the data; ``notes`` tell every guess.
    levels
        Quantiles to cut the objective at, or the `levels` of another analysis, so that both can
        be added. By default a ladder from 0.001 to 1.
    nan
        What to do with rows whose objective is NaN: ``"drop"`` or count as the ``"worst"``.
    outside
        What to do with values outside a given space: ``"error"``, or ``"count"`` them apart.
    params, exclude
        Columns to use as parameters, and columns to leave out.
    where
        Rows to use: a condition such as ``"epochs >= 10"``, a boolean column or mask, a box such
        as ``{"lr": (1e-4, 1e-2)}``, or a region of the objective.
    feasible, infeasible
        A mask, a boolean column, or columns that must be at most 0; rows that are not feasible are
        dropped or count as the ``"worst"``.
    state, failed, pruned
        The column of the trials' states (COMPLETE, FAIL, PRUNED, RUNNING); failed rows are dropped
        or count as the ``"worst"``, pruned ones too, or count with their ``"last"`` value.
    repeats
        Rows of the same configuration: count ``"all"``, or their ``"mean"`` or ``"median"``.
    names
        Column names of a 2-D NumPy array.
    threads
        Threads to count with; None for all cores.

    Examples
    --------
    >>> import numpy as np, pedanova as pa
    >>> x = np.linspace(0, 1, 1000)
    >>> a = pa.analyze({"x": x, "z": np.tile([0, 1], 500), "loss": (x - 0.3) ** 2}, objective="loss")
    >>> list(a.importance())
    ['x', 'z']
    """
    from pedanova.sources import read_records, read_series  # brings narwhals along: only when needed

    policies = Policies(
        nan=as_choice("nan", nan, NanPolicy),
        failed=as_choice("failed", failed, Ending),
        pruned=as_choice("pruned", pruned, PrunedEnding),
        infeasible=as_choice("infeasible", infeasible, Ending),
    )
    fate: OutsidePolicy = as_choice("outside", outside, OutsidePolicy)
    workers = as_threads(threads)
    if objective is not None and not isinstance(objective, str) and not _are_names(objective):
        objective = read_series("objective", objective)
    request = Request(
        objective=objective,
        direction=direction,
        space=space,
        params=params,
        exclude=exclude,
        where=where,
        feasible=feasible,
        state=state,
        repeats=None if repeats is None else as_choice("repeats", repeats, RepeatPolicy),
        policies=policies,
    )
    observed = prepare(read_records(data, names=names, study=study), request)
    cut = levels_for(observed, levels, "worst" if policies.may_be_worst else "drop", workers)
    a = Analysis.of(observed, cut, workers)
    if space is not None and fate == "error":
        check_inside(a.tallies, observed)
    return a


def _are_names(objective: object) -> bool:
    return (
        isinstance(objective, list | tuple) and bool(objective) and all(isinstance(o, str) for o in objective)
    )


def as_choice(name: str, value: object, choices: Any) -> Any:
    allowed = get_args(choices)
    if not isinstance(value, str) or value not in allowed:
        raise QueryError(f"{name}={value!r} must be {' or '.join(repr(choice) for choice in allowed)}")
    return value
