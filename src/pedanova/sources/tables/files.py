"""Files, distinguished by their suffix: CSV, TSV, JSON lines, Parquet, Arrow IPC."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from pedanova.data.records import Records
from pedanova.errors import DataError, FormatError, MissingLibraryError
from pedanova.sources.tables import binary, text

SUFFIXES = {
    ".csv": "CSV",
    ".tsv": "TSV",
    ".jsonl": "JSON lines",
    ".ndjson": "JSON lines",
    ".parquet": "Parquet",
    ".pq": "Parquet",
    ".arrow": "Arrow IPC",
    ".feather": "Arrow IPC",
    ".ipc": "Arrow IPC",
}


def read_file(path: str) -> Records:
    """A table from a file; errors name the file and, where it is known, the line."""
    file = Path(path)
    try:
        records = _read(file, check_file(file))
    except PermissionError:
        raise DataError(f"{path}: no permission to read it") from None
    except IsADirectoryError:
        raise DataError(f"{path} is a folder; name a file in it") from None
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}") from None
    if not records.columns:
        raise FormatError(f"{path} is empty; it must hold a table with a header")
    if records.rows == 0:
        raise FormatError(f"{path} has a header but no rows")
    return records


def check_file(file: Path) -> str:
    if file.is_dir():
        raise DataError(f"{file} is a folder; name a file in it")
    if not file.exists():
        raise DataError(f"{file} does not exist; check the path")
    kind = SUFFIXES.get(file.suffix.lower())
    if kind is None:
        known = ", ".join(SUFFIXES)
        raise DataError(f"{file}: suffix {file.suffix!r} is unknown; rename it to one of {known}")
    if file.stat().st_size == 0:
        raise FormatError(f"{file} is empty; it must hold a table with a header")
    return kind


def _read(file: Path, kind: str) -> Records:
    match kind:
        case "CSV" | "TSV":
            return text.read_delimited(file, "\t" if kind == "TSV" else ",")
        case "JSON lines":
            return text.read_json_lines(file)
        case _:
            return _read_binary(file, kind)


def _read_binary(file: Path, kind: str) -> Records:
    if importlib.util.find_spec("pyarrow") is not None:
        return binary.read_by_arrow(file, kind)
    if importlib.util.find_spec("polars") is not None:
        return binary.read_by_polars(file, kind)
    raise MissingLibraryError(f"{file}: {kind} needs pyarrow or Polars; pip install 'pedanova[arrow]'")
