"""Parquet and Arrow IPC files, by pyarrow or by Polars: whichever is installed."""

from __future__ import annotations

from pathlib import Path

from pedanova.data.records import Records
from pedanova.errors import FormatError
from pedanova.sources.tables.frames import read_frame


def read_by_arrow(file: Path, kind: str) -> Records:
    import pyarrow as pa

    try:
        if kind == "Parquet":
            from pyarrow import parquet

            table = parquet.read_table(file, partitioning=None)
        elif is_stream(file):
            table = pa.ipc.open_stream(file.read_bytes()).read_all()
        else:
            from pyarrow import feather

            table = feather.read_table(file)
    except (pa.ArrowException, OSError) as error:  # pyarrow says OSError for damage, too
        check_errno(error)
        raise _damaged(file, kind, error) from None
    return read_frame(table)


def read_by_polars(file: Path, kind: str) -> Records:
    import polars as pl

    try:
        if kind == "Parquet":
            table = pl.read_parquet(file, glob=False)
        else:
            read = pl.read_ipc_stream if is_stream(file) else pl.read_ipc
            with file.open("rb") as source:  # a path would be taken as a pattern
                table = read(source)
    except (pl.exceptions.PolarsError, OSError) as error:
        check_errno(error)
        raise _damaged(file, kind, error) from None
    return read_frame(table)


def is_stream(file: Path) -> bool:
    """Arrow IPC comes as a file with a footer, or as a stream, which begins with this mark."""
    with file.open("rb") as start:
        return start.read(4) == b"\xff\xff\xff\xff"


def check_errno(error: Exception) -> None:
    """Pass on what the operating system says; it is not about the file's contents."""
    if isinstance(error, OSError) and error.errno is not None:
        raise error


def _damaged(file: Path, kind: str, error: Exception) -> FormatError:
    first = next(iter(str(error).strip().splitlines()), type(error).__name__)
    return FormatError(f"{file} is no readable {kind} file: {first.rstrip('. ')}; write it again")
