"""Read any source into `Records`; each kind of source is recognised by type, suffix, shape or URL.

`registry.py` lists all kinds. A new kind of log belongs to ``logs``, a kind of file to ``tables``, a table that is read
in parts to ``scans``, and a format of search spaces to ``spaces``; the paragraph in each says which file to copy.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from pedanova.data.column import Column, as_column
from pedanova.data.records import Records, SourceMetadata
from pedanova.errors import Arg, DataError
from pedanova.sources.registry import find_kind, is_empty, is_log, is_url, read_as, read_place, table_metadata
from pedanova.sources.scans.batches import is_ibis
from pedanova.sources.scans.objects import ObjectFile, is_object
from pedanova.sources.scans.scan import is_small_file, scan_of
from pedanova.sources.tables import frames
from pedanova.sources.tables.frames import as_names
from pedanova.sources.tables.json_text import open_dicts, read_rows
from pedanova.sources.tables.text import Dialect, as_delimiter


def read_records(
    data: object,
    *,
    names: Sequence[str] | None = None,
    study: str | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
) -> Records:
    """Read the columns and the metadata of any source that `analyze` accepts.

    Parameters
    ----------
    data, names, study
        As in `analyze`.
    delimiter, decimal
        As in `Reading`.

    Returns
    -------
    Records
        The columns by name.

    Examples
    --------
    >>> import pedanova as pa
    >>> from pedanova.sources import read_records
    >>> records = read_records(pa.demo_trials())
    >>> records.rows, list(records.columns)[:2]
    (1000, ['learning_rate', 'alpha'])
    """
    records = open_dicts(_read(data, names, study, Dialect(as_delimiter(delimiter), decimal)))
    if records.metadata != SourceMetadata():
        return records
    return replace(records, metadata=table_metadata(tuple(records.columns)) or SourceMetadata())


def _read(data: object, names: Sequence[str] | None, study: str | None, dialect: Dialect) -> Records:
    if dialect.delimiter is not None and not isinstance(data, str | os.PathLike):
        raise DataError(Arg("delimiter", dialect.delimiter), " is only for CSV files; leave it out")
    if isinstance(data, Records):
        return data
    if isinstance(data, np.ndarray):
        if data.dtype.names is None:
            return frames.read_array(data, names)
        data = {name: data[name] for name in data.dtype.names}
    if names is not None:
        raise DataError(Arg("names", names), " is only for 2-D NumPy arrays; this source already has column names")
    if isinstance(data, str | os.PathLike):
        place = os.fspath(data)
        if is_object(place):
            return read_object(place, dialect)
        return read_place(place, study, dialect)
    kind = find_kind("object", data)
    if kind is not None:
        return read_as(kind, data, study)
    if isinstance(data, Mapping):
        named = zip(as_names(data), data.values(), strict=True)
        return Records({name: read_series(name, values) for name, values in named})
    if frames.is_frame(data):
        return frames.read_frame(data)
    if isinstance(data, list | tuple) and data and all(isinstance(row, Mapping) for row in data):
        return read_rows(data, "the list")
    what = f"a {type(data).__module__}.{type(data).__name__} cannot be read; give a path, a study, "
    others = "a pandas, Polars or pyarrow table, a dict of arrays, a list of dicts, or a NumPy array with "
    raise DataError(what, others, Arg("names"), "; `pedanova formats` lists everything")


def open_table(data: object, stream: bool | None, *, skip: bool = False, delimiter: str | None = None) -> object:
    """Open a large table as a scan, and load a small remote or multi-file table; return any other `data` unchanged."""
    if isinstance(data, str | os.PathLike):
        place = os.fspath(data)
        if not place:
            raise DataError("the path is empty; name a file or a folder, such as . for this folder")
        small = not stream and is_small_file(place)
        if not is_object(place) and (is_url(place) or is_log(place) or small):
            return data
    scan = scan_of(data, skip=skip, delimiter=as_delimiter(delimiter))
    if scan is None:
        if isinstance(data, str | os.PathLike):
            if not stream or not Path(data).exists() or is_empty(Path(data)):  # the reader says what is wrong
                return data
            raise DataError(f"{data} has no files that can be read in parts; give Parquet, Arrow or CSV files")
        if stream:
            kind = type(data).__name__
            raise DataError(f"data of the type {kind} cannot be read in parts; give files, or a Polars or DuckDB query")
        return data
    if stream or (stream is None and (scan.is_large or is_ibis(data))):
        return scan
    return scan.load(skip=skip) if len(scan.parts) > 1 or scan.lost or is_object(data) else data


def read_object(place: str, dialect: Dialect) -> Records:
    """Read a table in an object store or on a web server: Parquet directly, other files after a download."""
    scan = scan_of(place, delimiter=dialect.delimiter)
    if scan is not None:
        return scan.load()
    with TemporaryDirectory() as folder:
        try:
            file = ObjectFile(place).bring(Path(folder))
        except OSError as error:
            raise DataError(f"{error}") from None
        return read_place(str(file), None, dialect)


def read_series(name: str, values: object) -> Column:
    """One column from an array, a list, or a series of a data frame library."""
    if isinstance(values, np.ndarray | list | tuple | range | Column):
        return as_column(name, values)
    if frames.is_frame(values):
        raise DataError(f"{name}: a {type(values).__name__} has several columns; give one of them")
    series = frames.as_series(values)
    return as_column(name, values) if series is None else frames.read_series(name, series)
