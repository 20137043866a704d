"""A table in a text file that grows, followed: CSV, TSV and JSON lines. Whole lines alone are read, each once.

A row that shows a column to be of another kind (a word among numbers) needs the text of the earlier ones:
the file is then read as a whole, which happens once for a column and kind.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pedanova.data.column import Column, as_column
from pedanova.data.records import Records
from pedanova.errors import DataError, FormatError
from pedanova.sources.follow.columns import with_rows, with_texts, without_values
from pedanova.sources.follow.look import Event, Look
from pedanova.sources.follow.tail import Tail
from pedanova.sources.tables.delimiters import find_delimiter
from pedanova.sources.tables.json_text import flatten, line_rows, read_rows
from pedanova.sources.tables.names import as_names
from pedanova.sources.tables.opening import suffix_of
from pedanova.sources.tables.text import delimiter_notes, fields_of, read_header, read_text_table

LOOK_AT = 1 << 20  # bytes, to see how many fields a row has
LARGEST = 400_000_000  # bytes of a file that is held in memory


@dataclass(slots=True)
class TableFollow:
    """One text file."""

    file: Path
    delimiter: str | None = None
    ordered: bool = True  # rows are appended
    _tail: Tail = field(init=False)
    _records: Records | None = None
    _sign: str = ","
    _fields: int = 0  # of a row: one less than there are headings where the last column is empty
    _event: Event | None = None

    def __post_init__(self) -> None:
        self._tail = Tail(self.file)

    @property
    def shown(self) -> str:
        return str(self.file)

    @property
    def is_json(self) -> bool:
        return suffix_of(self.file) in (".jsonl", ".ndjson")

    def look(self) -> Look:
        lines, event = self._tail.fresh()
        self._event = event or self._event
        before = None if event else self._records
        read, records = self._with(before, lines)
        known = 0 if before is None else before.rows
        rows = 0 if records is None else records.rows
        self._tail.taken(read)
        self._records, event, self._event = records, self._event, None
        return Look(records if rows > known else None, rows - known, rows, None, event)

    def _with(self, before: Records | None, lines: bytes) -> tuple[bytes, Records | None]:
        """What was settled of the lines, and all rows with them."""
        lines = lines if self.is_json else closed(lines)
        if not lines:
            return b"", before
        if before is None:
            records = self._whole(lines)
            return b"" if records is None else lines, records
        more = self._more_json(before, lines) if self.is_json else self._more_text(before, lines)
        if more is not None:
            return lines, more
        with self.file.open("rb") as data:
            return lines, self._whole(data.read(self._tail.offset + len(lines)))

    def _whole(self, data: bytes) -> Records | None:
        """The table from its first line on; None where there is no row yet."""
        if len(data) > LARGEST:
            raise DataError(f"{self.file} has more than {LARGEST:,} bytes, too many to follow it; analyze it as it is")
        if self.is_json:
            rows = line_rows(self.file, decoded(self.file, data))
            return read_rows(rows, str(self.file)) if rows else None
        self._sign = self.delimiter or find_delimiter(self.file)
        header = read_header(self.file, self._sign)
        records = read_text_table(self.file, self._sign, header, data)
        self._fields = width_of(data[:LOOK_AT].decode("utf-8-sig", errors="replace"), self._sign) or len(header)
        notes = () if self.delimiter else delimiter_notes(self.file, self._sign)
        return Records(records.columns, (*records.notes, *notes)) if records.rows else None

    def _more_text(self, before: Records, lines: bytes) -> Records | None:
        text = io.StringIO(decoded(self.file, lines), newline="")
        width = len(before.columns)
        rows, _ = fields_of(text, self.file, self._sign, width, fields=self._fields, behind=self._tail.lines)
        cells: Sequence[Sequence[str]] = [*zip(*rows, strict=True)] if rows else [()] * width
        cells = [*cells, *([("",) * len(rows)] * (width - len(cells)))]
        return grown_records(before, [with_texts(*both) for both in zip(before.columns.values(), cells, strict=True)])

    def _more_json(self, before: Records, lines: bytes) -> Records | None:
        rows = [flatten(row) for row in line_rows(self.file, decoded(self.file, lines))]
        if not rows:
            return before
        keys = [*before.columns, *dict.fromkeys(key for row in rows for key in row if key not in before.columns)]
        as_names(keys, where=f"{self.file}: ", error=FormatError)
        return grown_records(before, [_grown(before, key, rows) for key in keys])


def _grown(before: Records, key: str, rows: Sequence[Mapping[str, Any]]) -> Column | None:
    more = as_column(key, [row.get(key) for row in rows])
    old = before.columns.get(key) or without_values(key, before.rows, as_column(key, [None]))
    return with_rows(old, more)


def grown_records(before: Records, columns: Sequence[Column | None]) -> Records | None:
    """None where one of the columns cannot be told without the earlier text."""
    known = [column for column in columns if column is not None]
    return Records({column.name: column for column in known}, before.notes) if len(known) == len(columns) else None


def width_of(text: str, sign: str) -> int:
    """Fields of the first row behind the heading."""
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=sign)
    return next((len(row) for number, row in enumerate(rows) if number and row), 0)


def closed(lines: bytes) -> bytes:
    """The lines up to the last at which no quote is open: a cell may hold ends of lines."""
    end = place = opened = 0
    for line in io.BytesIO(lines):
        place += len(line)
        opened ^= line.count(b'"') % 2
        end = end if opened else place
    return lines[:end]


def decoded(file: Path, data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(f"{file} holds byte 0x{data[error.start]:02x}, which is not UTF-8; mend the line") from None
