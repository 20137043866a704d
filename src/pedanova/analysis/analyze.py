"""`analyze`: read a table, choose rows and columns, divide the objective into levels, and count."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, TypedDict, cast

from pedanova.analysis.analysis import Analysis
from pedanova.base.notes import Note
from pedanova.base.threads import as_threads
from pedanova.counting.countable import Counted, InMemory, assembled, levels_for
from pedanova.counting.levels import Levels
from pedanova.data.objectives import Goal, read_goals
from pedanova.data.options import Reading, Scan, as_names, check_choice
from pedanova.data.prepare import choose_rows, prepare
from pedanova.data.records import Records, RepeatPolicy
from pedanova.data.roles import ColumnRoles
from pedanova.data.space_inference import TableColumns, choose_space, column_roles
from pedanova.data.table_options import TableOptions, complete
from pedanova.measures.questions.trial_data import TrialData
from pedanova.space.parameters import Space


class RowKeywords(TypedDict, total=False):
    """The options of `analyze` for rows and columns; see its docstring."""

    direction: str | Sequence[str] | None
    space: object
    params: Iterable[str] | None
    exclude: Iterable[str] | None
    where: object
    feasible: object
    repeats: str | None
    reading: Reading | None


class TableKeywords(RowKeywords, total=False):
    """All options of `analyze` except the data and the objective."""

    study: str | None
    names: Sequence[str] | None
    levels: Levels | Iterable[float] | None
    scan: Scan | None


def analyze(
    data: object,
    objective: object = None,
    *,
    direction: str | Sequence[str] | None = None,
    space: object = None,
    params: Iterable[str] | None = None,
    exclude: Iterable[str] | None = None,
    where: object = None,
    feasible: object = None,
    repeats: str | None = None,
    study: str | None = None,
    names: Sequence[str] | None = None,
    levels: Levels | Iterable[float] | None = None,
    reading: Reading | None = None,
    scan: Scan | None = None,
) -> Analysis:
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
    direction
        ``"minimize"`` or ``"maximize"`` (``"min"``, ``"max"``), or a list with one direction for each objective. By
        default the direction comes from the log, or is guessed from the objective's name (an accuracy is maximised, a
        loss is minimised). ``notes`` say what was guessed; if the name does not show the direction, the note is a
        warning.
    space
        The search space: a dict of `Float`, `Int`, `Ordinal`, `Categorical`, `Moving` or `Switch`; or anything that
        `space_from` reads, such as a JSON or YAML file or a ConfigSpace. By default the space comes from the log, or is
        guessed from the data; the notes mention every guess.
    params
        The columns to use as parameters; by default all columns that look like parameters.
    exclude
        Columns to leave out.
    where
        Rows to use: a condition such as ``"epochs >= 10"``, a boolean column or mask, a box such as
        ``{"lr": (1e-4, 1e-2)}``, or a region of the objective.
    feasible
        Which rows are feasible: a mask, a boolean column, or columns of numbers that must be at most 0.
    repeats
        If several rows have the same configuration: use ``"all"`` of them, or one row with the ``"mean"`` or
        ``"median"`` of their objectives.
    study
        The study or experiment to read, if the source contains several.
    names
        Column names of a 2-D NumPy array.
    levels
        The quantiles to count, by default a list from 0.001 to 1. Other targets need a new count of the rows. If you
        want to add two analyses, make the second one with ``levels=first.data.levels``.
    reading
        How text is read, and what to do with special rows: failed, pruned, infeasible, outside the space, or without
        an objective. Example: ``pa.Reading(state="status", failed="worst")``.
    scan
        How large tables are read, and where rows are counted. Example: ``pa.Scan(stream=True, threads=4)``.

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
    scan = scan or Scan()
    request = request_of(
        objective,
        scan.threads,
        direction=direction,
        space=space,
        params=params,
        exclude=exclude,
        where=where,
        feasible=feasible,
        repeats=repeats,
        reading=reading,
    )
    counted = count(data, request, scan, levels, study=study, names=names)
    return Analysis(TrialData.of(counted, request.threads))


def request_of(
    objective: object,
    threads: int | None = None,
    *,
    space: object = None,
    params: Iterable[str] | None = None,
    exclude: Iterable[str] | None = None,
    repeats: str | None = None,
    reading: Reading | None = None,
    **columns: Any,
) -> TableOptions:
    """Check and convert the options of `analyze`, except those in `columns`, which are stored as given."""
    from pedanova.sources import read_series
    from pedanova.sources.spaces.read import read_space

    if repeats is not None:
        check_choice("repeats", repeats, RepeatPolicy)
    names = isinstance(objective, list | tuple) and objective and all(isinstance(one, str) for one in objective)
    if objective is not None and not isinstance(objective, str) and not names:
        name = getattr(objective, "name", None)  # a series may have one
        objective = read_series(name if isinstance(name, str) and name else "objective", objective)
    own, notes = (None, []) if space is None else read_space(space)
    return TableOptions(
        objective=objective,
        space=own,
        params=as_names(params, "params"),
        exclude=as_names(exclude, "exclude"),
        repeats=cast("RepeatPolicy | None", repeats),
        reading=reading or Reading(),
        threads=as_threads(threads),
        notes=tuple(notes),
        **columns,
    )


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

        return count_table(opened, with_space_beside(opened, request, data), scan, levels)
    delimiter = delimiter if opened is data else None  # `open_table` has already split the lines into fields
    records = read_records(opened, names=names, study=study, delimiter=delimiter)
    return count_records(records, with_space_beside(records, request, data), levels)


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
    records, request, goals = _table_of(data, request_of(objective, params=params, exclude=exclude), study)
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

    records = read_records(data, study=study, delimiter=request.reading.delimiter)
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

    return Analysis(read_data(path))
