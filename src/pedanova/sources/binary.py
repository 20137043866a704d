"""Parquet and Arrow IPC files, by pyarrow or by Polars: whichever is installed."""

from __future__ import annotations

from pathlib import Path

from pedanova.errors import FormatError
from pedanova.observations import Records
from pedanova.sources.frames import read_frame


def read_by_arrow(file: Path, kind: str) -> Records:
    import pyarrow as pa

    try:
        if kind == "Parquet":
            from pyarrow import parquet

            table = parquet.read_table(file, partitioning=None)
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
        table = pl.read_parquet(file) if kind == "Parquet" else pl.read_ipc(file)
    except (pl.exceptions.PolarsError, OSError) as error:
        check_errno(error)
        raise _damaged(file, kind, error) from None
    return read_frame(table)


def check_errno(error: Exception) -> None:
    """Pass on what the operating system says; it is not about the file's contents."""
    if isinstance(error, OSError) and error.errno is not None:
        raise error


def _damaged(file: Path, kind: str, error: Exception) -> FormatError:
    first = next(iter(str(error).strip().splitlines()), type(error).__name__)
    return FormatError(f"{file} is no readable {kind} file: {first.rstrip('. ')}; write it again")
