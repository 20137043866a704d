"""`analyze`: read a table, choose rows and columns, divide the objective into levels, and count."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import fields, replace

from pedanova.analysis.analysis import Analysis
from pedanova.analysis.options import AnalyzeCall, Opening, opening_of
from pedanova.base.notes import Note
from pedanova.base.threads import as_threads
from pedanova.counting.countable import Counted, InMemory, assembled, levels_for
from pedanova.counting.few_rows import most_rows
from pedanova.data.objectives import Goal, as_scores, read_goals
from pedanova.data.options import Reading, RowOptions, Scan, as_names, called_with
from pedanova.data.prepare import choose_rows, prepare
from pedanova.data.records import Records
from pedanova.data.roles import ColumnRoles
from pedanova.data.space_inference import TableColumns, choose_space, column_roles
from pedanova.data.table_options import TableOptions, complete
from pedanova.errors import DataError, QueryError
from pedanova.measures.questions.trial_data import TrialData
from pedanova.space.parameters import Space


@called_with(AnalyzeCall)
def analyze(call: AnalyzeCall) -> Analysis:
    """Analyse a table of trials: read it and count its rows. The result has one method for each question.

    Parameters
    ----------
    data
        The table of trials, in one of these forms:

        - a file: CSV, TSV, JSON, JSON lines, Parquet or Arrow IPC;
        - the log of a tool: an Optuna study, its database or journal, a folder of SMAC3, Ray Tune or MLflow …
          (``pedanova formats`` lists all of them);
        - a pandas, Polars or pyarrow table, a dict of arrays, or a list of dicts;
        - a structured NumPy array, or a 2-D NumPy array with `names`.

        Large arrays on a CUDA GPU are counted on the GPU, and are not copied to main memory.
    objective
        The name of a column, a condition such as ``"verdict == 'good'"``, or an array with one number per row. For
        several objectives, give a list of names; rows are then ordered by Pareto front. The objective is not needed for
        a log that names its objective and direction.
    {options}

    Returns
    -------
    Analysis
        It has the methods `importance`, `profile`, `densities`, `reduce` and more.

    Raises
    ------
    DataError
        A file, a column or the objective cannot be used as it is.
    SpaceError
        The space contradicts itself, or a value lies outside it (`OutsideSpaceError`).
    QueryError
        An option has an unknown value, or the objective is missing.
    MissingLibraryError
        A format needs a library that is not installed; the message says what to install.

    Examples
    --------
    >>> import numpy as np, pedanova as pa
    >>> x = np.linspace(0, 1, 1000)
    >>> a = pa.analyze({"x": x, "z": np.tile([0, 1], 500), "loss": (x - 0.3) ** 2}, objective="loss")
    >>> list(a.importance())
    ['x', 'z']
    """
    scan = call.scan or Scan()
    request = request_of(call.objective, call, scan.threads)
    counted = count(call.data, request, scan, call.levels, study=call.study, names=call.names)
    return Analysis(TrialData.of(counted, request.threads), opening_of(call))


def request_of(objective: object, options: RowOptions | None = None, threads: int | None = None) -> TableOptions:
    """Check and convert the objective and the options of `analyze`."""
    from pedanova.sources import read_series
    from pedanova.sources.spaces.read import read_space

    names = isinstance(objective, list | tuple) and objective and all(isinstance(one, str) for one in objective)
    if objective is not None and not isinstance(objective, str) and not names:
        name = getattr(objective, "name", None)  # a series may have one
        objective = read_series(name if isinstance(name, str) and name else "objective", objective)
    options = options or RowOptions()
    space, notes = (None, []) if options.space is None else read_space(options.space)
    given = {one.name: getattr(options, one.name) for one in fields(RowOptions)}
    converted = {
        "objective": objective,
        "space": space,
        "params": as_names(options.params, "params"),
        "exclude": as_names(options.exclude, "exclude"),
        "blocks": as_names(options.blocks, "blocks"),
        "reading": options.reading or Reading(),
    }
    return TableOptions(**{**given, **converted}, threads=as_threads(threads), notes=tuple(notes))


def count(
    data: object,
    request: TableOptions,
    scan: Scan,
    levels: object,
    *,
    study: str | None = None,
    names: Sequence[str] | None = None,
) -> Counted:
    """Read a table, select its rows and columns, divide the objective into levels, and count."""
    from pedanova.scale.cuda.device import OnDevice, table_on_device
    from pedanova.sources import open_table, read_records
    from pedanova.sources.scans.scan import TableScan
    from pedanova.sources.spaces.read import with_space_beside

    data = opened = table_on_device(data, names, engine=scan.engine)
    delimiter = request.reading.delimiter
    if isinstance(data, OnDevice):
        from pedanova.scale.cuda.device_table import count_device_table

        return count_device_table(data.columns, request, levels)
    if names is None and study is None:
        opened = open_table(data, scan.in_parts, skip=scan.skip, delimiter=delimiter)
    if isinstance(opened, TableScan):
        from pedanova.scale.count_scan import count_table

        try:
            return count_table(opened, with_space_beside(opened, request, data), scan, levels)
        except QueryError:  # the rows of a small table may be read instead, unless the user chose how to count them
            chosen = scan.stream, scan.pushdown, scan.executor
            if chosen != (None, None, None) or opened.rows is None or opened.rows > most_rows(opened.columns):
                raise
            opened = data
    delimiter = delimiter if opened is data else None  # `open_table` has already split the lines into fields
    records = read_records(opened, names=names, study=study, delimiter=delimiter, decimal=request.reading.decimal)
    try:
        return count_records(records, with_space_beside(records, request, data), levels)
    except DataError as error:
        raise (in_file(error, data, request) if isinstance(opened, Records) and opened is not data else error) from None


def in_file(error: DataError, data: object, request: TableOptions) -> DataError:
    """The same error; if the objective is text in one of several files, with the name of this file."""
    from pedanova.sources.scans.scan import scan_of

    name = request.objective
    scan = scan_of(data, skip=True, delimiter=request.reading.delimiter)
    if scan is None or not isinstance(name, str) or name not in scan.columns:
        return error
    for part in scan.parts:
        for records in part.batches([name]):
            column = records.columns[name]
            if column.labels and as_scores(column, request.reading.decimal) is None:
                return error.behind(f"{part.name}: ")
    return error


def count_records(records: Records, request: TableOptions, levels: object) -> Counted:
    observed, notes = prepare(replace(records, notes=(*records.notes, *request.notes)), request)
    rows = InMemory(observed, request.reading.ending, request.threads)
    cut = levels_for(rows, levels)
    return assembled(rows, cut, rows.count(cut), notes=notes, inside=request.inside)


def guess_space(
    data: object,
    objective: object = None,
    *,
    params: Iterable[str] | None = None,
    exclude: Iterable[str] | None = None,
    study: str | None = None,
) -> tuple[Space, tuple[Note, ...]]:
    """The space that `analyze` would use, and why. You can change this space and pass it as `space`.

    Parameters
    ----------
    data, objective, params, exclude, study
        As in `analyze`.

    Returns
    -------
    tuple of Space and of notes
        The space, and a sentence about every guess.

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
    records, request, goals = _table_of(data, request_of(objective, RowOptions(params=params, exclude=exclude)), study)
    choice = choose_space(tuple(records.columns), goals, request, TableColumns(records.columns))
    return choice.space, (*records.notes, *choice.notes)


def roles_in(data: object, request: TableOptions, study: str | None = None) -> ColumnRoles:
    """The role of every column (parameter, result, identifier and so on), with the reason for it."""
    records, request, goals = _table_of(data, request, study)
    keep = choose_rows(records.columns, records.rows, request).keep if goals else None
    return column_roles(tuple(records.columns), goals, request, TableColumns(records.columns, keep))


def _table_of(data: object, request: TableOptions, study: str | None) -> tuple[Records, TableOptions, tuple[Goal, ...]]:
    """Read a table into memory. Return its rows, the options (completed from the table), and the objectives."""
    from pedanova.sources import read_records
    from pedanova.sources.spaces.read import with_space_beside

    reading = request.reading
    records = read_records(data, study=study, delimiter=reading.delimiter, decimal=reading.decimal)
    request = with_space_beside(records, request, data)
    records, request = complete(replace(records, notes=(*records.notes, *request.notes)), request, ask=False)
    if request.objective is None:
        return records, request, ()
    return records, request, read_goals(records.columns, records.rows, request.objective, request.direction)


def load(path: str | os.PathLike[str]) -> Analysis:
    """Load an analysis from a file that `Analysis.save` wrote.

    Parameters
    ----------
    path
        A file that this version of pedanova or an older version saved.

    Returns
    -------
    Analysis
        It gives the same answers as the saved analysis. Questions that need rows are possible only if the rows were
        saved.

    Raises
    ------
    DataError
        The file cannot be read.
    FormatError
        The file was not written by `Analysis.save`, or it is damaged.

    Examples
    --------
    >>> import tempfile, pathlib, pedanova as pa
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "run.pedanova"
    >>> pa.analyze(pa.demo_trials(), "error").save(path)
    >>> pa.load(path)
    Analysis(1,000 rows, 10 parameters, minimise error (guessed from its name))
    """
    from pedanova.analysis.output import read_data

    data, place = read_data(path), os.fspath(path)
    return Analysis(data, Opening(f"pa.load({place!r})", shlex.quote(place)))
