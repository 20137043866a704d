"""Read files by their suffix: CSV, TSV, JSON, JSON lines, Parquet, Arrow IPC, spreadsheets.

A file that changes while it is being read is read again; a file that keeps changing raises an error. A spreadsheet
(Excel, OpenDocument) is read with python-calamine, like its CSV export.
"""

from __future__ import annotations

import csv
import datetime as dt
import importlib.util
import io
import platform
import stat
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path, PurePath
from typing import Any, TypeVar

from pedanova.data.column import values_in
from pedanova.data.records import Records
from pedanova.errors import Arg, DataError, FormatError, NoTrialsError, missing_library
from pedanova.sources.reader import choose
from pedanova.sources.scans.objects import ObjectFile
from pedanova.sources.tables import json_text, text
from pedanova.sources.tables.frames import frame_cells, frame_columns, read_frame
from pedanova.sources.tables.text import Dialect, is_packed, suffix_of

SUFFIXES = {
    ".csv": "CSV", ".tsv": "TSV", ".txt": "TSV", ".json": "JSON", ".jsonl": "JSON lines", ".ndjson": "JSON lines",
    ".parquet": "Parquet", ".pq": "Parquet", ".arrow": "Arrow IPC", ".feather": "Arrow IPC", ".ipc": "Arrow IPC",
}  # fmt: skip
NO_DATABASE = "the file is not a SQLite database either; if it should be one, copy it again"
FOREIGN = {
    ".rds": "run write.csv(readRDS('{0}.rds'), '{0}.csv', row.names=FALSE) in R, then pass {0}.csv",
    ".rdata": "run load('{0}.rdata'); write.csv(TABLE, '{0}.csv', row.names=FALSE) in R, then pass {0}.csv",
    ".ipynb": "a notebook is not a table; run df.to_csv('{0}.csv', index=False) in it, then pass {0}.csv",
    **dict.fromkeys((".db", ".sqlite", ".sqlite3"), NO_DATABASE),
    ".md": "a Markdown file cannot be read; save its table as CSV",
    ".npy": "give the array: pa.analyze(numpy.load('{0}.npy'), names=[…])",
    ".npz": "give the arrays: pa.analyze(dict(numpy.load('{0}.npz')), 'loss')",
}
ANY = Dialect()
PACKED = ("CSV", "TSV", "JSON", "JSON lines")  # may be compressed with gzip
Result = TypeVar("Result")


def kind_of(file: PurePath) -> str | None:
    """The format of a table's file by its suffix; None for any other file."""
    kind = SUFFIXES.get(suffix_of(file))
    return kind if kind in PACKED or not is_packed(file) else None


def read_file(path: str, dialect: Dialect = ANY) -> Records:
    file = Path(path)
    try:
        kind = check_file(file)
        records = read_steadily(file, lambda: _read(file, kind, dialect))
    except PermissionError:
        raise DataError(f"{path}: no permission to read it") from None
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}") from None
    if not records.columns:
        raise FormatError(f"{path} is empty; it must hold a table with a header")
    if records.rows == 0:
        raise NoTrialsError(f"{path} has a header but no rows")
    return records


def table_columns(data: object) -> list[str]:
    """The column names of a CSV file or a data frame; empty for anything else."""
    return text.peek_header(data) if isinstance(data, Path) else frame_columns(data)


def table_cells(data: object) -> dict[str, list[Any]]:
    if not isinstance(data, Path):
        return frame_cells(data)
    return {name: values_in(column) for name, column in read_file(str(data)).columns.items()}


def check_file(file: Path) -> str:
    if not file.exists():
        if file.is_symlink():
            raise DataError(f"{file} is a link to {file.readlink()}, which does not exist; check the link")
        if not file.parent.is_dir():
            raise DataError(f"{file} does not exist; there is no folder {file.parent}")
        near = get_close_matches(file.name, [path.name for path in file.parent.iterdir()], n=1, cutoff=0.75)
        words = f"{file} does not exist; {f'did you mean {file.parent / near[0]}?' if near else 'check the path'}"
        raise DataError(words)
    kind = kind_of(file)
    if kind is None:
        known = ", ".join(SUFFIXES)
        remedy = FOREIGN.get(file.suffix.lower(), f"if the file is a table, give it one of the suffixes {known}")
        raise DataError(f"{file}: {file.suffix!r} is not the suffix of a table; {remedy.format(file.stem)}")
    if file.stat().st_size == 0:
        raise NoTrialsError(f"{file} is empty; it must hold a table with a header")
    return kind


def _read(file: Path, kind: str, dialect: Dialect) -> Records:
    if dialect.delimiter is not None and kind not in ("CSV", "TSV"):
        raise DataError(
            Arg("delimiter", dialect.delimiter), f" is only for CSV files, and {file} is {kind}; leave it out"
        )
    match kind:
        case "CSV" | "TSV":
            return text.read_delimited(file, dialect)
        case "JSON":
            return json_text.read_json_table(file)
        case "JSON lines":
            return json_text.read_rows(json_text.line_rows(file, text.read_text(file)), str(file))
    if importlib.util.find_spec("pyarrow") is None:
        raise missing_library(f"{file}: {kind} needs pyarrow", "arrow")
    return read_by_arrow(file, kind)


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
    except (pa.ArrowException, OSError) as error:  # pyarrow also raises OSError for damaged files
        check_errno(error)
        first = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise FormatError(f"{file} is not a readable {kind} file: {first.rstrip('. ')}; write it again") from None
    return read_frame(table)


def is_stream(file: Path) -> bool:
    """Whether an Arrow IPC file has the streaming format (it begins with 0xFFFFFFFF), which has no footer."""
    return text.first_bytes(file, 4) == b"\xff\xff\xff\xff"


def check_errno(error: Exception) -> None:
    """Raise `error` again if it is an error of the operating system, not of the file's content."""
    if isinstance(error, OSError) and error.errno is not None:
        raise error


@dataclass(frozen=True, slots=True)
class Stamp:
    """A file's size and modification time, to notice changes; times from different machines are not compared."""

    size: int
    changed: int
    machine: str  # the same on all machines for a file in a store

    @classmethod
    def of(cls, file: Path | ObjectFile) -> Stamp | None:
        """The stamp of a file; None for a pipe or another special file."""
        if isinstance(file, ObjectFile):
            return cls(*file.state(), "store")
        state = file.stat()
        return cls(state.st_size, state.st_mtime_ns, platform.node()) if stat.S_ISREG(state.st_mode) else None

    def is_as(self, other: Stamp | None) -> bool:
        if other is None or self.size != other.size:
            return False
        return self.machine != other.machine or self.changed == other.changed


def read_steadily(file: Path, read: Callable[[], Result], tries: int = 3) -> Result:
    """Return the result of `read`; if the file changed meanwhile, read it again, at most `tries` times."""
    before = Stamp.of(file)
    try:
        result = read()
        check_steady(file, before)
    except FormatError:
        if tries == 1:
            raise
        return read_steadily(file, read, tries - 1)
    return result


def check_steady(file: Path | ObjectFile, before: Stamp | None) -> None:
    """Raise an error if a file has changed since the stamp `before` was taken."""
    if before is None:
        return
    try:
        after = Stamp.of(file)
    except FileNotFoundError:
        raise FormatError(f"{file} was removed while it was being read; none of its rows is used") from None
    if not before.is_as(after):
        grown = 0 if after is None else after.size - before.size
        how = f", {grown:+,} bytes" if grown else ""
        remedy = "wait until it is complete, or copy it and read the copy"
        raise FormatError(f"{file} was changed while it was being read{how}; {remedy}")


SHEETS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
SHEET_STARTS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")  # the first bytes of an archive, and of older Excel files


def is_sheet(path: Path) -> bool:
    return path.suffix.lower() in SHEETS and text.first_bytes(path, 4) in SHEET_STARTS


def sheet_as_csv(path: Path, study: str | None) -> bytes:
    """The sheet with the name `study`, or the only sheet with content, as CSV."""
    sheets = {name: (len(rows) - 1, rows) for name, rows in _sheets(path).items() if len(rows) > 1}
    if not sheets:
        raise NoTrialsError(f"{path} has no sheet with a header and rows")
    _, rows = choose(sheets, study, path, "sheet", label="{0} ({1[0]:,} rows)")
    headers = [i for i in range(1, len(rows)) if _is_titled(rows[i - 1], rows[i])]
    other = next((i for i in headers if rows[i] != rows[headers[0]]), None)
    if other is not None:
        title = next(cell for cell in rows[other - 1] if cell != "")
        raise FormatError(f"{path} has another table below {title!r}; copy each table to a sheet of its own")
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([_written(cell) for cell in row] for row in rows)
    return text.getvalue().encode()


def _is_titled(title: list[Any], names: list[Any]) -> bool:
    """Whether the first row has one text, and the second several texts and nothing else."""
    above, below = ([cell for cell in row if cell != ""] for row in (title, names))
    return len(above) == 1 < len(below) and all(isinstance(cell, str) for cell in above + below)


def _sheets(path: Path) -> dict[str, list[list[Any]]]:
    try:
        import python_calamine as calamine
    except ImportError:
        raise missing_library(f"{path}: spreadsheets need python-calamine", "excel") from None
    try:
        with calamine.load_workbook(str(path)) as book:
            sheets = {name: _filled(book.get_sheet_by_name(name)) for name in book.sheet_names}
    except (calamine.CalamineError, OSError, ValueError, KeyError) as error:
        reason = " ".join(str(error).split())[:100]
        raise FormatError(f"{path} is not a readable spreadsheet: {reason}; save it again, or as CSV") from None
    return sheets


def _filled(sheet: Any) -> list[list[Any]]:
    """The rows of a sheet that are not empty; merged cells below the first row are filled with their value."""
    rows: list[list[Any]] = sheet.to_python(skip_empty_area=False)
    used = [i for i, row in enumerate(rows) if any(cell != "" for cell in row)]
    left = next((c for c in range(len(rows[used[0]])) if any(rows[i][c] != "" for i in used)), 0) if used else 0
    for (top, column), (bottom, _) in getattr(sheet, "merged_cell_ranges", None) or ():
        for i in (i for i in used if used[0] < top < i <= bottom):
            rows[i][column] = rows[top][column]
    return [rows[i][left:] for i in used]


def _written(cell: Any) -> str:
    """A cell as CSV text; spreadsheets store all numbers as floats, so whole ones become integers."""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        return str(int(cell))
    if isinstance(cell, dt.timedelta):
        return repr(cell.total_seconds())
    return cell.isoformat() if isinstance(cell, dt.date | dt.time) else str(cell)
