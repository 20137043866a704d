"""`analyze`: the whole way on one page. Read, prepare, cut into levels, count."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pedanova.analysis.analysis import Analysis
from pedanova.analysis.options import check_choices
from pedanova.base.notes import Note
from pedanova.base.threads import as_threads, one_crew
from pedanova.counting.countable import Counted, InMemory, assembled, levels_for
from pedanova.counting.levels import Levels
from pedanova.data.objectives import Goal, read_goals
from pedanova.data.prepare import prepare
from pedanova.data.records import Records
from pedanova.data.row_status import NanPolicy, Policies
from pedanova.data.space_inference import TableColumns, choose_space
from pedanova.data.table_options import TableOptions, complete
from pedanova.errors import Arg, QueryError
from pedanova.measures.questions.trial_data import TrialData
from pedanova.space.parameters import Space


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
    delimiter: str | None = None,
    decimal: str | None = None,
    stream: bool | None = None,
    executor: object = None,
    on_error: str = "raise",
    pushdown: bool | None = None,
    engine: str | None = None,
    threads: int | None = None,
) -> Analysis:
    """Count a table of trials once; every question is then answered from the counts.

    Parameters
    ----------
    data
        A file (CSV, TSV, JSON, JSON lines, Parquet, Arrow IPC), the log of a tool (an Optuna study, its
        database or journal; folders of SMAC3, Ray Tune, MLflow and others: ``pedanova formats``
        lists them), a pandas, Polars or pyarrow table, a dict of arrays, a list of dicts, a
        structured NumPy array, or a 2-D NumPy array with `names`. Arrays on a CUDA GPU stay there.
    objective
        The name of a column, one number per row, a condition such as ``"verdict == 'good'"``, or a list of
        names: several objectives are ordered by non-domination. A log that knows what was optimised needs
        none; nor a direction.
    direction
        ``"minimize"`` or ``"maximize"`` (``"min"``, ``"max"``), or a list with one for each. Without it the
        log tells, or else the objective's name (an accuracy is maximised, a loss minimised); ``notes`` say
        what was guessed, as a warning where the name tells nothing.
    space
        The search space by name: `Float`, `Int`, `Ordinal`, `Categorical`, `Moving`, `Switch`; or whatever
        `space_from` reads: a JSON or YAML file, a ConfigSpace, Optuna's distributions. Without it, the
        space is the log's own, or guessed from the data; ``notes`` tell every guess.
    levels
        Quantiles to cut the objective at, or the ``data.levels`` of another analysis, so that both can be added.
        By default a ladder from 0.001 to 1.
    nan
        What to do with rows whose objective is NaN: ``"drop"`` or count as the ``"worst"``.
    outside
        What to do with values outside a given space: ``"error"``, or ``"count"`` them apart.
    params
        Columns to use as parameters; by default all that look like settings.
    exclude
        Columns to leave out.
    where
        Rows to use: a condition such as ``"epochs >= 10"``, a boolean column or mask, a box such as
        ``{"lr": (1e-4, 1e-2)}``, or a region of the objective.
    feasible
        Which rows are feasible: a mask, a boolean column, or columns that must be at most 0.
    infeasible
        Rows that are not feasible are dropped or count as the ``"worst"``.
    state
        The column of the trials' states (COMPLETE, FAIL, PRUNED, RUNNING).
    failed
        Rows that failed are dropped or count as the ``"worst"``.
    pruned
        Rows that were pruned are dropped, count as the ``"worst"``, or with their ``"last"`` value.
    repeats
        Rows of the same configuration: count ``"all"``, or their ``"mean"`` or ``"median"``.
    study
        Which study or experiment, where a store holds several.
    names
        Column names of a 2-D NumPy array.
    delimiter
        The sign between the fields of a CSV file, such as ``";"`` or ``"tab"``; None to find it.
    decimal
        The sign before the decimals of numbers: ``","`` where ``1,234`` is not 1234; None to find it.
    stream
        Read files, lazy frames and relations in parts, in memory that does not grow with them; None for
        large ones only.
    executor
        Whose workers read the parts: any executor in the manner of ``concurrent.futures``, such as Dask's
        ``client.get_executor(retries=2)``, or a Spark session.
    on_error
        What to do with files that cannot be read, where there are several: ``"raise"``, or ``"skip"`` them
        and say so in the notes.
    pushdown
        Let the engine of a DuckDB relation, a Polars lazy frame or an ibis table count, so that only the
        objective travels; None for ibis tables only.
    engine
        Who counts: ``"cpu"``, or ``"cuda"`` for a GPU (`pedanova[cuda]`). None for whoever has the rows:
        arrays on a GPU (CuPy, PyTorch, JAX, cuDF, DLPack) are counted there, where they lie.
    threads
        Threads to count with; None for all cores.

    Returns
    -------
    Analysis
        It holds counts, and answers `importance`, `profile`, `densities`, `reduce` and more.

    Raises
    ------
    DataError
        A file, a column or the objective cannot be used as it is.
    SpaceError
        The space contradicts itself, or a value lies outside (`OutsideSpaceError`).
    QueryError
        An option is none of its choices, or the objective is missing.
    MissingLibraryError
        A format needs a library that is not installed; the message names the extra.

    Examples
    --------
    >>> import numpy as np, pedanova as pa
    >>> x = np.linspace(0, 1, 1000)
    >>> a = pa.analyze({"x": x, "z": np.tile([0, 1], 500), "loss": (x - 0.3) ** 2}, objective="loss")
    >>> list(a.importance())
    ['x', 'z']
    """
    given = locals()
    check_choices(given)
    return Analysis(TrialData.of(count(given), as_threads(threads)))


def count(given: Mapping[str, Any]) -> Counted:
    """Read, prepare, cut into levels, count; `given` are the arguments of `analyze`."""
    # These bring narwhals along: only when needed.
    from pedanova.scale.count_scan import ScanOptions, count_table
    from pedanova.scale.cuda.device_table import OnDevice, count_device_table
    from pedanova.sources import read_records
    from pedanova.sources.scans.scan import Scan

    request, notes = request_of(given)
    inside = given["outside"] == "error" and request.space is not None
    given = {**given, "data": data_of(given)}
    if isinstance(given["data"], OnDevice):
        return count_device_table(given["data"].columns, request, given["levels"], inside=inside, notes=notes)
    opened = open_source(given)
    if isinstance(opened, Scan):
        own = {name: given[name] for name in ("levels", "executor", "pushdown", "engine")}
        skip = given["on_error"] == "skip"
        return count_table(opened, request, ScanOptions(**own, skip=skip, inside=inside, notes=tuple(notes)))
    records = read_records(opened, names=given["names"], study=given["study"], delimiter=delimiter_for(opened, given))
    records = replace(records, notes=(*records.notes, *notes))
    return count_records(records, request, given["levels"], inside=inside, engine=given["engine"])


def data_of(given: Mapping[str, Any]) -> object:
    """The data as it is; a table on a GPU as such, unless it is small or to be counted on the CPU."""
    from pedanova.scale.cuda.device_table import table_on_device

    return table_on_device(given["data"], given["names"], engine=given["engine"])


def delimiter_for(opened: object, given: Mapping[str, Any]) -> str | None:
    """What was given, unless the fields have been cut already."""
    delimiter: str | None = given["delimiter"]
    return delimiter if opened is given["data"] else None


def request_of(given: Mapping[str, Any]) -> tuple[TableOptions, list[Note]]:
    """What is asked of rows and columns, and notes on the space."""
    from pedanova.sources import read_series
    from pedanova.sources.spaces.read import read_space

    objective = given["objective"]
    if objective is not None and not isinstance(objective, str) and not _are_names(objective):
        objective = read_series("objective", objective)
    space, notes = (None, []) if given["space"] is None else read_space(given["space"])
    policies = Policies(**{name: given[name] for name in ("nan", "failed", "pruned", "infeasible")})
    names = ("direction", "params", "exclude", "where", "feasible", "state", "repeats", "decimal")
    own = {name: given[name] for name in names}
    threads = as_threads(given["threads"])
    return TableOptions(**own, objective=objective, space=space, policies=policies, threads=threads), notes


def open_source(given: Mapping[str, Any]) -> object:
    """A scan where the table is to be read in parts, or the data itself."""
    from pedanova.sources import open_table

    if given["names"] is not None or given["study"] is not None:
        return given["data"]
    only_in_parts = {name: given[name] for name in ("executor", "pushdown") if given[name]}
    in_parts = given["stream"] or bool(only_in_parts) or None
    if given["stream"] is False:
        for name in only_in_parts:
            raise QueryError(Arg(name), " is for tables read in parts; leave ", Arg("stream", False), " out")
        in_parts = False
    return open_table(given["data"], in_parts, skip=given["on_error"] == "skip", delimiter=given["delimiter"])


def count_records(
    records: Records, request: TableOptions, levels: object, *, inside: bool, engine: str | None = None
) -> Counted:
    """Count a table in memory: a scan of one part, which may be asked everything."""
    with one_crew(request.threads):
        observed, notes = prepare(records, request)
        nan: NanPolicy = "worst" if request.policies.may_be_worst else "drop"
        held = InMemory(observed, nan, request.threads)
        if engine == "cuda":
            from pedanova.scale.cuda.from_memory import FromMemory

            held = FromMemory(observed, nan, request.threads)
        cut = levels_for(held, levels)
        return assembled(held, cut, held.count(cut), notes=notes, inside=inside)


def guess_space(
    data: object,
    objective: object = None,
    *,
    params: Iterable[str] | None = None,
    exclude: Iterable[str] | None = None,
    study: str | None = None,
) -> tuple[Space, tuple[Note, ...]]:
    """The space that `analyze` would use, and why: a start for one that you write down yourself.

    Parameters
    ----------
    data, objective, params, exclude, study
        As in `analyze`.

    Returns
    -------
    tuple of Space and of notes
        The domains, and a sentence on every guess.

    Raises
    ------
    DataError
        A file or a column cannot be used as it is.

    Examples
    --------
    >>> from pedanova import guess_space
    >>> guess_space({"lr": [0.1, 0.01, 0.001, 0.02], "loss": [1.0, 2.0, 3.0, 4.0]}, "loss")[0]
    Space({'lr': Float(low=0.001, high=0.1, log=True)})
    """
    from pedanova.sources import read_records

    records, request = complete(
        read_records(data, study=study), TableOptions(objective=objective, params=params, exclude=exclude), ask=False
    )
    goals = () if request.objective is None else goals_of(records, request)
    choice = choose_space(tuple(records.columns), goals, request, TableColumns(records.columns))
    return choice.space, (*records.notes, *choice.notes)


def goals_of(records: Records, request: TableOptions) -> tuple[Goal, ...]:
    return read_goals(records.columns, records.rows, request.objective, "minimize")


def _are_names(objective: object) -> bool:
    return isinstance(objective, list | tuple) and bool(objective) and all(isinstance(o, str) for o in objective)


def load(path: str | os.PathLike[str]) -> Analysis:
    """An analysis from a file that `Analysis.save` wrote.

    Parameters
    ----------
    path
        A file of this version or an older one.

    Returns
    -------
    Analysis
        It answers as the one that was saved; what needs rows, only where they were saved too.

    Raises
    ------
    DataError
        The file cannot be read.
    FormatError
        It is no such file, or was damaged.

    Examples
    --------
    >>> import tempfile, pathlib, pedanova as pa
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "run.pedanova"
    >>> pa.analyze(pa.demo_trials(), "error").save(path, model=False)
    >>> pa.load(path)
    Analysis(1,000 rows, 10 parameters, minimize error (guessed from its name))
    """
    from pedanova.analysis.files import read_data

    return Analysis(read_data(path))
