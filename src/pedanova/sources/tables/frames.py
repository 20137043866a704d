"""Data frames of any library (through narwhals) and NumPy arrays as columns, without copying numbers if possible."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.base.lazy import LazyModule
from pedanova.base.notes import Note
from pedanova.data.column import Column, as_column, encode, plain_value, recoded, some
from pedanova.data.records import Records
from pedanova.errors import Arg, DataError, PedanovaError

if TYPE_CHECKING:
    import narwhals as nw
else:
    nw = LazyModule("narwhals")

MOST_COLUMNS = 50_000
ENGINES = ("polars", "duckdb", "_duckdb", "ibis", "narwhals", "dask", "pyspark", "builtins")
Series: TypeAlias = "nw.Series[Any]"


def as_names(
    names: Iterable[object], *, where: str = "", error: type[PedanovaError] = DataError, numbered: bool = False
) -> list[str]:
    """Column names as text; multi-level names are joined by dots, and unnamed columns are numbered as in pandas.

    With `numbered`, numbers are added to repeated names (acc, acc.1, acc.2); otherwise they are an error.
    """
    names = list(names)
    if len(names) > MOST_COLUMNS:
        raise error(f"{where}{len(names):,} columns are too many (at most {MOST_COLUMNS:,}); is the table transposed?")
    texts = [_as_name(name) for name in names]
    twice = next((name for name, times in Counter(filter(None, texts)).items() if times > 1), None)
    if twice is not None and not numbered:
        raise error(f"{where}two columns are called {twice!r}; every column needs its own name")
    known: dict[str, None] = {}
    taken = set(texts)
    numbers: Counter[str] = Counter()  # the last one that was tried for a name
    for i, text in enumerate(texts):
        wanted = name = text or f"Unnamed: {i}"
        if not text or text in known:
            while name in taken:
                numbers[wanted] += 1
                name = f"{wanted}.{numbers[wanted]}"
        known[name] = None
        taken.add(name)
    return list(known)


def _as_name(name: object) -> str:
    if isinstance(name, tuple):  # a pandas header of several lines
        return ".".join(part for part in map(_as_name, name) if part)
    return "" if name is None else str(name)


def read_array(array: NDArray[Any], names: Sequence[str] | None) -> Records:
    """Records from a 2-D array; its columns are called `names`, by default x0, x1, …"""
    if array.ndim != 2:
        raise DataError(f"an array of shape {array.shape} must have two dimensions: rows and columns")
    columns = array.shape[1]
    if isinstance(names, str) or not isinstance(names, Iterable | None):
        raise DataError(Arg("names", names), f" must be a list of names, one for each of {columns} columns")
    known = [f"x{i}" for i in range(columns)] if names is None else as_names(names)
    if len(known) != columns:
        raise DataError(Arg("names"), f" gives {len(known)} names for {columns} columns; give one for each")
    return Records({name: as_column(name, array[:, i]) for i, name in enumerate(known)})


def is_frame(data: object) -> bool:
    return isinstance(_native(data), nw.DataFrame | nw.LazyFrame)


def _native(data: object) -> object:
    arrow = sys.modules.get("pyarrow")
    if arrow is not None and isinstance(data, arrow.RecordBatch):
        data = arrow.Table.from_batches([data])
    elif arrow is not None and isinstance(data, arrow.Array):
        data = arrow.chunked_array([data])
    try:
        return nw.from_native(data, pass_through=True, allow_series=True)
    except nw.exceptions.DuplicateError:
        as_names(_names(data))  # raises an error that names the repeated column
        raise


def as_series(values: object) -> Series | None:
    native = _native(values)
    return native if isinstance(native, nw.Series) else None


def read_frame(data: object) -> Records:
    arrow: Any = sys.modules.get("pyarrow")
    if arrow is not None and isinstance(data, arrow.RecordBatch | arrow.Table):
        own = arrow.Table.from_batches([data]) if isinstance(data, arrow.RecordBatch) else data
        columns = zip(as_names(own.column_names), own.columns, strict=True)
        return Records({name: _read_arrow(name, column) for name, column in columns})
    frame = _native(_with_index(data))
    notes: tuple[Note, ...] = ()
    if isinstance(frame, nw.LazyFrame):
        notes = (Note("source", "a lazy table was collected into memory"),)
        with engine_errors(data):
            frame = frame.collect()
    if not isinstance(frame, nw.DataFrame):
        raise DataError(f"a {type(data).__name__} is not a data frame")
    names = as_names(_names(frame.to_native()))
    series = zip(names, frame.iter_columns(), strict=True)
    return Records({name: read_series(name, one) for name, one in series}, notes)


@contextmanager
def engine_errors(plan: object) -> Iterator[None]:
    """A context manager that shortens errors of the engine of a lazy table, such as a missing column, to one line."""
    try:
        yield
    except PedanovaError:
        raise
    except Exception as error:  # engines have no common base class, so their errors are known by module
        if not type(error).__module__.startswith(ENGINES):
            raise
        first = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise DataError(f"the {type(plan).__name__} cannot be run: {first}") from error


def _with_index(data: Any) -> Any:
    """Turn a named pandas index into a column, unless a column already has this name."""
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(data, pandas.DataFrame):
        return data
    named = [name for name in data.index.names if name is not None and name not in data.columns]
    if not named:
        return data
    columns = {name: data.index.get_level_values(name) for name in named}
    index = pandas.DataFrame(columns, index=data.index)
    return pandas.concat([index, data], axis=1) if data.columns.nlevels == 1 else data


def _names(native: Any) -> list[Any]:
    return list(native.column_names if hasattr(native, "column_names") else native.columns)


def read_series(name: str, series: Series) -> Column:
    """A column from a series: numbers and booleans unchanged, text and categories as codes, dates marked as such."""
    dtype = series.dtype
    if dtype in (nw.Int128, nw.UInt128):  # NumPy has no such numbers
        return as_column(name, series.to_list())
    if dtype.is_float():
        return as_column(name, series.to_numpy())
    if dtype.is_integer() or dtype == nw.Boolean:
        return _read_whole(name, series)
    if dtype == nw.Decimal:
        return as_column(name, series.cast(nw.Float64).to_numpy())
    if dtype in (nw.Date, nw.Datetime):
        return Column(name, _as_moments(series))
    if dtype == nw.Duration:
        return Column(name, series.to_numpy().astype("timedelta64[ns]") / np.timedelta64(1, "s"))
    if dtype.is_temporal():  # a time of day
        return Column(name, np.full(len(series), np.datetime64("NaT", "s")))
    if dtype in (nw.String, nw.Categorical, nw.Enum) or isinstance(dtype, nw.Enum | nw.Categorical):
        return _read_labels(name, series)
    if dtype.is_nested():
        return encode(name, (None if value is None else str(value) for value in series.to_list()))
    return as_column(name, series.to_list())


def _as_moments(series: Series) -> NDArray[Any]:
    """Dates as NumPy's times, in UTC if they have a time zone."""
    if isinstance(series.dtype, nw.Datetime) and series.dtype.time_zone is not None:
        series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    return series.to_numpy().astype("datetime64[us]")


def _read_whole(name: str, series: Series) -> Column:
    """A column from a series of integers or booleans; the type is kept, and nulls become a mask."""
    if series.null_count() == 0:
        values = series.to_numpy()
        return as_column(name, values.astype(bool) if series.dtype == nw.Boolean else values)
    missing = series.is_null().to_numpy().astype(bool)
    filled = series.fill_null(False if series.dtype == nw.Boolean else 0).to_numpy()
    column = as_column(name, filled)
    return Column(name, column.values, column.labels, some(missing))


def _read_labels(name: str, series: Series) -> Column:
    """A column of codes for text; the data frame library computes them, much faster than a Python loop."""
    native, module = series.to_native(), nw.get_native_namespace(series).__name__
    if module == "polars":
        polars = sys.modules["polars"]
        texts = native.cast(polars.String)
        labels = texts.drop_nulls().unique().sort()
        codes = texts.cast(polars.Enum(labels)).to_physical().cast(polars.Int32).fill_null(-1)
        return recoded(Column(name, codes.to_numpy(), tuple(labels.to_list())))
    if module == "pandas":
        try:
            codes, labels = sys.modules["pandas"].factorize(native)
        except TypeError:  # lists or dicts among the texts
            cells = zip(native.isna(), native, strict=True)
            return encode(name, (None if missing else str(value) for missing, value in cells))
        return _encode(name, codes, labels)
    return _read_arrow(name, native) if module == "pyarrow" else encode(name, series.to_list())


def _read_arrow(name: str, column: Any) -> Column:
    """A column from a chunked array of pyarrow; its buffers are read directly, because `to_numpy` imports pandas."""
    types = sys.modules["pyarrow"].types

    kind = column.type
    if types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind):
        values, missing = _arrow_values(column, np.dtype(kind.to_pandas_dtype()))
        if types.is_floating(kind) and missing is not None:
            values[missing] = np.nan
        own = as_column(name, values)
        return own if types.is_floating(kind) else Column(name, own.values, own.labels, missing)
    if str(kind) not in ("string", "large_string", "string_view") and not types.is_dictionary(kind):
        return read_series(name, nw.from_native(column, series_only=True))
    if not types.is_dictionary(kind):
        column = column.dictionary_encode()
    array = column.unify_dictionaries().combine_chunks()
    codes, missing = _arrow_values(array.indices, np.dtype(array.indices.type.to_pandas_dtype()))
    return _encode(name, codes if missing is None else np.where(missing, -1, codes), array.dictionary.to_pylist())


def _arrow_values(column: Any, dtype: np.dtype[Any]) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    """The values of an array of numbers or booleans, and which are null (their value is 0); without nulls, no copy."""
    chunks = [chunk for chunk in getattr(column, "chunks", [column]) if len(chunk)]
    pieces = [_bits(chunk, 1) if dtype.kind == "b" else _buffer(chunk, dtype) for chunk in chunks]
    values = pieces[0] if len(pieces) == 1 else np.concatenate([np.empty(0, dtype), *pieces])
    if not column.null_count:
        return values, None
    missing = np.concatenate([~_bits(chunk, 0) if chunk.null_count else np.zeros(len(chunk), bool) for chunk in chunks])
    return np.where(missing, dtype.type(0), values), missing


def _buffer(chunk: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    return np.frombuffer(chunk.buffers()[1], dtype)[chunk.offset : chunk.offset + len(chunk)]


def _bits(chunk: Any, buffer: int) -> NDArray[np.bool_]:
    packed = np.frombuffer(chunk.buffers()[buffer], np.uint8)
    return np.unpackbits(packed, count=chunk.offset + len(chunk), bitorder="little")[chunk.offset :].astype(bool)


def _encode(name: str, codes: Any, labels: Any) -> Column:
    """A column with sorted, cleaned labels; a label that means "no value" becomes a missing code."""
    tidy = encode(name, map(plain_value, labels))
    table = np.concatenate([tidy.values, [-1]]).astype(np.int32)
    return Column(name, table[np.asarray(codes)], tidy.labels)


def frame_columns(data: object) -> list[str]:
    """The column names of a data frame; empty for anything else. Never raises."""
    try:
        frame = nw.from_native(data, pass_through=True)
        if isinstance(frame, nw.LazyFrame):
            return list(frame.collect_schema().names())
        return list(frame.columns) if isinstance(frame, nw.DataFrame) else []
    except Exception:  # a foreign object's properties may raise anything
        return []


def frame_cells(data: Any) -> dict[str, list[Any]]:
    frame = nw.from_native(data)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    return {name: frame[name].to_list() for name in frame.columns}
