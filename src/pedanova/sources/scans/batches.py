"""Read batches of rows with pyarrow, Polars and DuckDB; used by `scan`."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from pedanova.base.threads import trim_memory
from pedanova.data.column import Column
from pedanova.data.records import Records
from pedanova.errors import DataError, FormatError, PedanovaError
from pedanova.sources.scans.objects import ObjectFile, retried, without_secrets
from pedanova.sources.tables.files import check_errno, is_stream
from pedanova.sources.tables.frames import engine_errors, read_frame
from pedanova.sources.tables.text import (
    MISSING,
    arrow_conversion,
    arrow_parsing,
    check_closed,
    check_rows,
    check_texts,
    layout_of,
    parse_text,
)

ROWS = 1 << 20  # rows of a batch: enough to be fast, few enough for any machine
VALUES = 1 << 24  # values of a batch if there are many columns
FEWEST_ROWS = 1 << 14  # the fewest rows of a batch
WIDE = 64  # from this many columns on, row groups are read in small pieces
CHUNK_BYTES = 1 << 16
CSV_PEEK = 1 << 25  # bytes that show the types of the columns
CSV_BLOCK = 1 << 21  # bytes that are read at a time; larger blocks do not fit into the processor's cache
HIVE_NULL = ("__HIVE_DEFAULT_PARTITION__", *MISSING)  # these mean "no value" in a path


def batch_rows(columns: int) -> int:
    return min(ROWS, max(FEWEST_ROWS, VALUES // max(1, columns)))


def settle_libraries() -> None:
    """Let pyarrow import pandas before threads start, because a thread could find pandas half imported."""
    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is not None:
        pyarrow.array([0.0])


def release_memory() -> None:
    """Return unused memory to the system: pyarrow keeps up to hundreds of megabytes for the next batch."""
    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is not None:
        pyarrow.default_memory_pool().release_unused()
    trim_memory()


def describe_file(
    file: Path | ObjectFile, kind: str, delimiter: str | None = None, stamp: object = None
) -> tuple[dict[str, str], list[int]]:
    """The columns of a file, each with "text", "numbers" or "" (not known), and the rows of its row groups."""
    with complaints(file, kind):
        if kind == "Parquet":
            meta = footer_of(file, stamp) if isinstance(file, ObjectFile) else open_parquet(file).metadata
            rows = [meta.row_group(i).num_rows for i in range(meta.num_row_groups)]
            return _kinds(meta.schema.to_arrow_schema()), rows
        path = Path(str(file))  # other files are local
        if kind == "Arrow IPC":
            return _kinds(open_ipc(path).schema), []
        return dict.fromkeys(layout_of(path, delimiter).names, ""), []


def _kinds(schema: Any) -> dict[str, str]:
    from pyarrow import types

    def kind(own: Any) -> str:
        own = own.value_type if types.is_dictionary(own) else own
        if types.is_string(own) or types.is_large_string(own):
            return "text"
        return "numbers" if types.is_integer(own) or types.is_floating(own) or types.is_decimal(own) else ""

    return {field.name: kind(field.type) for field in schema}


def read_batches(
    file: Path,
    kind: str,
    names: Sequence[str],
    groups: Sequence[int] | None,
    types: Mapping[str, Any] | None = None,
    delimiter: str | None = None,
) -> Iterator[Records]:
    """Yield the columns `names` of a file in batches of rows; `types` are the types of a CSV file's columns."""
    with complaints(file, kind, delimiter):
        for batch in _batches(file, kind, list(names), groups, types or {}, delimiter):
            if batch.num_rows:
                yield read_frame(batch)


def read_from_afar(
    file: ObjectFile, names: list[str], groups: Sequence[int] | None, stamp: object
) -> Iterator[Records]:
    """Yield the row groups of a remote Parquet file; a group is read again if the connection breaks."""
    with complaints(file, "Parquet"):
        meta = footer_of(file, stamp)
        open_files: list[Any] = []  # the open file, until the connection breaks

        def read(group: int) -> Any:
            if not open_files:
                open_files.append(open_parquet(file, coded=names, meta=meta))
            try:
                return open_files[0].read_row_group(group, columns=names, use_threads=False)
            except OSError:
                open_files.clear()
                raise

        for group in range(meta.num_row_groups) if groups is None else groups:
            table = retried(partial(read, group))
            for batch in table.to_batches(max_chunksize=batch_rows(len(names))):
                if batch.num_rows:
                    yield read_frame(batch)


def _batches(
    file: Path,
    kind: str,
    names: list[str],
    groups: Sequence[int] | None,
    types: Mapping[str, Any],
    delimiter: str | None,
) -> Iterator[Any]:
    if kind == "Parquet":
        with open_parquet(file, coded=names) as parquet:
            yield from parquet.iter_batches(batch_rows(len(names)), row_groups=groups, columns=names)
    elif kind == "Arrow IPC":
        reader = open_ipc(file, names)
        counted = hasattr(reader, "num_record_batches")
        every = (reader.get_batch(i) for i in range(reader.num_record_batches)) if counted else iter(reader)
        yield from (batch.select(names) for batch in every)
    else:
        yield from _csv_batches(file, names, types, delimiter)


def _csv_batches(file: Path, names: list[str], types: Mapping[str, Any], delimiter: str | None) -> Iterator[Any]:
    """Also read the last column, because a quote that is never closed puts the rest of the file into its last cell."""
    last = layout_of(file, delimiter).names[-1]
    known = {name: types[name] for name in names if name in types}
    table = None
    for table in _gathered(_open_csv(file, delimiter, dict.fromkeys([*names, last]), {last: "string"} | known)):
        yield table.select(names)
    if table is not None:
        check_closed(file, table[last][-1].as_py())


def _gathered(batches: Iterable[Any]) -> Iterator[Any]:
    """Tables of several batches each, because every batch costs the same time, however small."""
    import pyarrow as pa

    some: list[Any] = []
    for batch in batches:
        some.append(batch)
        if sum(one.num_rows for one in some) >= batch_rows(8 * batch.num_columns):
            yield pa.Table.from_batches(some)
            some = []
    if some:
        yield pa.Table.from_batches(some)


@lru_cache(maxsize=64)
def footer_of(file: ObjectFile, stamp: object) -> Any:  # noqa: ARG001  (a file that was changed is another one)
    """The metadata of a remote Parquet file, cached for the version `stamp` of the file."""
    from pyarrow import parquet

    return retried(lambda: parquet.read_metadata(file.open()))


def open_parquet(file: Path | ObjectFile, *, coded: Sequence[str] = (), meta: Any = None) -> Any:
    """Open a Parquet file; text in the `coded` columns is read as dictionary codes."""
    import pyarrow as pa
    from pyarrow import parquet

    source = file.open() if isinstance(file, ObjectFile) else file
    meta = parquet.read_metadata(source) if coded and meta is None else meta
    schema = pa.schema([]) if meta is None else meta.schema.to_arrow_schema()
    types = dict(zip(schema.names, schema.types, strict=True))
    texts = [name for name in coded if types.get(name) in (pa.string(), pa.large_string())]
    # pre_buffer keeps all requested groups in memory; for a remote file this is one group, and saves requests.
    afar = isinstance(file, ObjectFile)
    little = CHUNK_BYTES if len(coded) >= WIDE and not afar else 0  # otherwise whole column chunks are read
    return parquet.ParquetFile(source, metadata=meta, pre_buffer=afar, read_dictionary=texts, buffer_size=little)


def open_ipc(file: Path, names: Sequence[str] = ()) -> Any:
    """Open an Arrow IPC file with the columns `names`; a memory map is not used, because it could crash the process."""
    import pyarrow as pa

    def opened(**options: Any) -> Any:
        source = pa.OSFile(str(file))
        return pa.ipc.open_stream(source, **options) if is_stream(file) else pa.ipc.open_file(source, **options)

    if not names:
        return opened()
    known = opened().schema.names
    wanted = [known.index(name) for name in names if name in known]
    return opened(options=pa.ipc.IpcReadOptions(included_fields=wanted))


def csv_types(file: Path, kind: str, delimiter: str | None) -> dict[str, Any]:
    """The types of the columns of a CSV file, by its first rows; only columns with a value have one."""
    with complaints(file, kind, delimiter):
        schema = _open_csv(file, delimiter, layout_of(file, delimiter).names, {}, block=CSV_PEEK).schema
        check_texts(file, schema.types)
    return {field.name: field.type for field in schema if str(field.type) != "null"}


def _open_csv(
    file: Path, delimiter: str | None, names: Iterable[str], types: Mapping[str, Any], *, block: int = CSV_BLOCK
) -> Any:
    from pyarrow import csv

    layout = layout_of(file, delimiter)
    return csv.open_csv(
        file,
        read_options=csv.ReadOptions(**layout.arrow_options, block_size=block),
        parse_options=arrow_parsing(layout.delimiter, []),
        convert_options=arrow_conversion(include_columns=list(names), column_types=dict(types)),
    )


def constant(name: str, value: str, rows: int, *, text: bool) -> Column:
    """A column with `value` in all rows: as text if `text` is set, otherwise as a number if possible."""
    if value in HIVE_NULL:
        return Column(name, np.full(rows, -1, dtype=np.int32), ())
    if text:
        return Column(name, np.zeros(rows, dtype=np.int32), (value,))
    one = parse_text(name, [value])
    return Column(name, np.full(rows, one.values[0]), one.labels)


def join(parts: Sequence[Records], names: Sequence[str]) -> Records:
    """Batches joined into one table; a column must not mix text and numbers."""
    if not parts:
        raise DataError("the files hold no rows; there is nothing to analyze")
    return Records({name: join_columns(name, [part.columns[name] for part in parts]) for name in names})


def join_columns(name: str, columns: Sequence[Column]) -> Column:
    full = [column for column in columns if not (column.labels is not None and not column.labels)]
    if not full:  # only missing values
        return Column(name, np.full(sum(map(len, columns)), -1, dtype=np.int32), ())
    if any(column.labels is not None for column in full) and any(column.labels is None for column in full):
        raise DataError(f"{name}: some files hold text and others numbers; use one type in all files")
    absent = np.concatenate([column.absent() for column in columns])
    if full[0].labels is None:
        kind = full[0].values.dtype
        values = np.concatenate([c.values if c.labels is None else np.zeros(len(c), dtype=kind) for c in columns])
        return Column(name, values, None, absent if absent.any() else None)
    labels = tuple(dict.fromkeys(label for column in full for label in column.labels or ()))
    place = {label: i for i, label in enumerate(labels)}
    tables = ([*(place[label] for label in column.labels or ()), -1] for column in columns)
    codes = [np.array(table, dtype=np.int32)[one.values] for table, one in zip(tables, columns, strict=True)]
    return Column(name, np.concatenate(codes), labels)


def is_plan(data: object) -> bool:
    polars, duckdb = sys.modules.get("polars"), sys.modules.get("duckdb")
    lazy = polars is not None and isinstance(data, polars.LazyFrame)
    return lazy or is_ibis(data) or (duckdb is not None and isinstance(data, duckdb.DuckDBPyRelation))


def is_ibis(data: object) -> bool:
    return type(data).__module__.startswith("ibis.expr.types") and hasattr(data, "to_pyarrow_batches")


def plan_size(plan: Any) -> tuple[tuple[str, ...], int]:
    """The column names and number of rows of a lazy frame or relation; most engines find both without a full read."""
    with engine_errors(plan):
        if hasattr(plan, "collect_schema"):
            rows = plan.select(sys.modules["polars"].len()).collect().item()
            return tuple(plan.collect_schema().names()), int(rows)
        rows = plan.count().execute() if is_ibis(plan) else plan.count("*").fetchall()[0][0]
        return tuple(plan.columns), int(rows)


def run_plan(plan: Any, names: Sequence[str]) -> Iterator[Records]:
    with engine_errors(plan):
        size = batch_rows(len(names))
        if hasattr(plan, "collect_schema"):
            frames = plan.select(list(names)).collect_batches(chunk_size=size)
        elif is_ibis(plan):
            chosen = plan.select(*names)
            duckdb = sys.modules.get("duckdb")
            broken = duckdb is not None and not hasattr(duckdb.DuckDBPyConnection, "fetch_record_batch")  # DuckDB 2
            whole = broken and plan.get_backend().name == "duckdb"  # ibis 12 calls this method
            frames = chosen.to_pyarrow().to_batches(size) if whole else chosen.to_pyarrow_batches(chunk_size=size)
        else:
            columns = ", ".join('"' + name.replace('"', '""') + '"' for name in names)
            chosen = plan.project(columns)
            read = ("to_arrow_reader", "fetch_record_batch", "fetch_arrow_reader")  # the newest name in DuckDB first
            frames = next(getattr(chosen, name) for name in read if hasattr(chosen, name))(size)
        yield from (read_frame(frame) for frame in frames if len(frame))


@contextmanager
def complaints(file: Path | ObjectFile, kind: str, delimiter: str | None = None) -> Iterator[None]:
    """A context manager that shortens errors in reading a file to one line with the file's name."""
    import pyarrow as pa

    far = isinstance(file, ObjectFile)
    try:
        yield
    except PedanovaError:
        raise
    except (pa.ArrowException, OSError, KeyError) as error:
        if far and isinstance(error, FileNotFoundError):
            raise FormatError(f"{file} does not exist; check the address") from None
        words = without_secrets(str(error) or type(error).__name__, file.url if isinstance(file, ObjectFile) else "")
        if far and isinstance(error, OSError):
            words = words.removeprefix(f"{file}: ")
            raise FormatError(f"{file} cannot be read: {words}; check the address and your permissions") from None
        check_errno(error)
        if kind in ("CSV", "TSV") and isinstance(error, pa.ArrowException):
            check_rows(Path(str(file)), delimiter)
        raise FormatError(f"{file} is not a readable {kind} file: {words}; write it again") from None
