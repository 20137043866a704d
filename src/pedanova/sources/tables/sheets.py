"""Read spreadsheets (Excel, OpenDocument) with python-calamine: a sheet is read like its CSV export."""

from __future__ import annotations

import csv
import datetime as dt
import io
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pedanova.data.records import Records
from pedanova.errors import FormatError, MissingLibraryError, NoTrialsError, PedanovaError
from pedanova.sources.reader import choose
from pedanova.sources.tables.files import read_file

SUFFIXES = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
STARTS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")  # the first bytes of an archive, and of older Excel files


def fits(path: Path) -> bool:
    if path.suffix.lower() not in SUFFIXES or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) in STARTS


def read(path: Path, study: str | None) -> Records:
    """Read the sheet with the name `study`, or the only sheet with content."""
    sheets = {name: (len(rows) - 1, rows) for name, rows in _sheets(path).items() if len(rows) > 1}
    if not sheets:
        raise NoTrialsError(f"{path} has no sheet with a header and rows")
    _, rows = choose(sheets, study, path, "sheet", label="{0} ({1[0]:,} rows)")
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([_written(cell) for cell in row] for row in rows)
    return read_copy(text.getvalue().encode(), "sheet.csv", str(path))


def _sheets(path: Path) -> dict[str, list[list[Any]]]:
    try:
        import python_calamine as calamine
    except ImportError:
        raise MissingLibraryError(f"{path}: spreadsheets need python-calamine; pip install 'pedanova[excel]'") from None
    try:
        with calamine.load_workbook(str(path)) as book:
            sheets = {name: book.get_sheet_by_name(name).to_python() for name in book.sheet_names}
    except (calamine.CalamineError, OSError, ValueError, KeyError) as error:
        reason = " ".join(str(error).split())[:100]
        raise FormatError(f"{path} is not a readable spreadsheet: {reason}; save it again, or as CSV") from None
    return {name: [row for row in rows if any(cell != "" for cell in row)] for name, rows in sheets.items()}


def _written(cell: Any) -> str:
    """A cell as CSV text; spreadsheets store all numbers as floats, so whole ones become integers."""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        return str(int(cell))
    if isinstance(cell, dt.timedelta):
        return repr(cell.total_seconds())
    return cell.isoformat() if isinstance(cell, dt.date | dt.time) else str(cell)


def read_copy(content: bytes, name: str, shown: str, delimiter: str | None = None) -> Records:
    """Read a table from bytes, through a temporary file; in error messages, the file is called `shown`."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / name
        file.write_bytes(content)
        try:
            return read_file(str(file), delimiter=delimiter)
        except PedanovaError as error:
            words = [word.replace(str(file), shown) if isinstance(word, str) else word for word in error.words]
            raise type(error)(*words) from None
