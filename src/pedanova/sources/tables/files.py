"""Files, distinguished by their suffix: CSV, TSV, JSON, JSON lines, Parquet, Arrow IPC."""

from __future__ import annotations

import importlib.util
from difflib import get_close_matches
from pathlib import Path, PurePath

from pedanova.data.records import Records
from pedanova.errors import Arg, DataError, FormatError, MissingLibraryError, NoTrialsError
from pedanova.sources.steady import read_steadily
from pedanova.sources.tables import binary, json_text, text
from pedanova.sources.tables.opening import is_packed, suffix_of

SUFFIXES = {
    ".csv": "CSV",
    ".tsv": "TSV",
    ".txt": "TSV",
    ".json": "JSON",
    ".jsonl": "JSON lines",
    ".ndjson": "JSON lines",
    ".parquet": "Parquet",
    ".pq": "Parquet",
    ".arrow": "Arrow IPC",
    ".feather": "Arrow IPC",
    ".ipc": "Arrow IPC",
}


PACKED = ("CSV", "TSV", "JSON", "JSON lines")  # may be packed by gzip


def kind_of(file: PurePath) -> str | None:
    """The kind of a table's file by its suffix; None for any other file."""
    kind = SUFFIXES.get(suffix_of(file))
    return kind if kind in PACKED or not is_packed(file) else None


def read_file(path: str, *, delimiter: str | None = None) -> Records:
    """A table from a file; errors name the file and, where it is known, the line."""
    file = Path(path)
    try:
        kind = check_file(file)
        records = read_steadily(file, lambda: _read(file, kind, delimiter))
    except PermissionError:
        raise DataError(f"{path}: no permission to read it") from None
    except IsADirectoryError:
        raise DataError(f"{path} is a folder; name a file in it") from None
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}") from None
    if not records.columns:
        raise FormatError(f"{path} is empty; it must hold a table with a header")
    if records.rows == 0:
        raise NoTrialsError(f"{path} has a header but no rows")
    return records


def nearest_file(missing: Path) -> str:
    """What may have been meant: a file of that folder with almost that name."""
    folder = missing.parent
    if not folder.is_dir():
        return f"there is no folder {folder}"
    near = get_close_matches(missing.name, [path.name for path in folder.iterdir()], n=1, cutoff=0.75)
    return f"did you mean {folder / near[0]}?" if near else "check the path"


def check_file(file: Path) -> str:
    if file.is_dir():
        raise DataError(f"{file} is a folder; name a file in it")
    if not file.exists():
        raise DataError(f"{file} does not exist; {nearest_file(file)}")
    kind = kind_of(file)
    if kind is None:
        known = ", ".join(SUFFIXES)
        raise DataError(f"{file}: suffix {file.suffix!r} is unknown; rename it to one of {known}")
    if file.stat().st_size == 0:
        raise NoTrialsError(f"{file} is empty; it must hold a table with a header")
    return kind


def _read(file: Path, kind: str, delimiter: str | None) -> Records:
    if delimiter is not None and kind not in ("CSV", "TSV"):
        raise DataError(Arg("delimiter", delimiter), f" is for CSV files; {file} is {kind}; leave it out")
    match kind:
        case "CSV" | "TSV":
            return text.read_delimited(file, delimiter)
        case "JSON":
            return json_text.read_json_table(file)
        case "JSON lines":
            return json_text.read_json_lines(file)
        case _:
            return _read_binary(file, kind)


def _read_binary(file: Path, kind: str) -> Records:
    if importlib.util.find_spec("pyarrow") is not None:
        return binary.read_by_arrow(file, kind)
    if importlib.util.find_spec("polars") is not None:
        return binary.read_by_polars(file, kind)
    raise MissingLibraryError(f"{file}: {kind} needs pyarrow or Polars; pip install 'pedanova[arrow]'")
