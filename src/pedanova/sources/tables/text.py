"""CSV and TSV, plain or compressed by gzip. A cell is a number if it reads as one, and empty cells are missing.

pyarrow reads CSV quickly where it is installed; Python's own reader follows the same rules.
"""

from __future__ import annotations

import csv
import gzip
import importlib.util
import io
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path, PurePath
from typing import Any, TextIO

import numpy as np

from pedanova.base.notes import Note
from pedanova.data.column import HEXADECIMAL, REAL, Column, encode, some
from pedanova.data.records import Records
from pedanova.errors import Arg, FormatError, PedanovaError, QueryError
from pedanova.sources.tables.frames import as_names, read_frame
from pedanova.space.values import shown

MOST_TIMES = 50  # as large as the file itself; tables of text are seldom packed tighter than 20 times
FREE = 1 << 20  # bytes that any file may hold
USUAL = {".csv": ",", ".tsv": "\t", ".txt": "\t"}
OTHERS = (",", ";", "\t", "|")
LOOK_AT = 6  # lines
LONGEST = 1 << 20  # letters of a line that is looked at
NAMES = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "space": " ", "pipe": "|"}
# Among numbers and booleans these stand for no value; among other words they are words, and only "" is a gap.
MISSING = ("", "NA", "N/A", "#N/A", "NaN", "nan", "-nan", "null", "NULL", "None", "none", "n/a", "<NA>")
TRUE = ("True", "true", "TRUE")
FALSE = ("False", "false", "FALSE")
WHOLE = re.compile(r"-?[0-9]+")  # as pyarrow reads them


def is_packed(file: PurePath) -> bool:
    return file.suffix.lower() == ".gz"


def suffix_of(file: PurePath) -> str:
    """The suffix that tells the kind: .csv of trials.csv and of trials.csv.gz."""
    return (PurePath(file.stem).suffix if is_packed(file) else file.suffix).lower()


def read_bytes(file: Path) -> bytes:
    if not is_packed(file):
        return file.read_bytes()
    most = MOST_TIMES * file.stat().st_size + FREE
    try:
        with gzip.open(file) as packed:
            data = packed.read(most + 1)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise FormatError(f"{file} is no gzip file, or was cut off ({error}); pack it again") from None
    if len(data) > most:
        raise FormatError(f"{file} unpacks to more than {MOST_TIMES} times its size; unpack it yourself")
    return data


def open_text(file: Path) -> TextIO:
    """The letters of a file, its lines as they end."""
    if not is_packed(file):
        return file.open(encoding="utf-8-sig", newline="")
    return io.TextIOWrapper(io.BytesIO(read_bytes(file)), encoding="utf-8-sig", newline="")


def as_delimiter(given: object) -> str | None:
    """One sign, or the name of one; None where it is to be found."""
    if given is None:
        return None
    sign = NAMES.get(given, given) if isinstance(given, str) else given
    if not isinstance(sign, str) or len(sign) != 1 or sign in '"\r\n':
        raise QueryError(Arg("delimiter", given), " must be one sign, such as ';', or 'tab'")
    return sign


def find_delimiter(file: Path) -> str:
    """The usual one, unless the heading has no such sign and another one cuts all first lines alike."""
    usual = USUAL.get(suffix_of(file), ",")
    with open_text(file) as text:
        lines = [line for line in islice(iter(lambda: text.readline(LONGEST), ""), LOOK_AT) if line.strip()]
    if not lines or _fields(lines[:1], usual)[0] > 1:
        return usual
    cuts = {sign: _fields(lines, sign) for sign in OTHERS if sign != usual}
    present = [sign for sign, counts in cuts.items() if counts[0] > 1]
    even = [sign for sign in present if len(set(cuts[sign])) == 1]
    return max(even or present, key=lambda sign: cuts[sign][0], default=usual)


def _fields(lines: Sequence[str], sign: str) -> list[int]:
    try:
        return [len(row) for row in csv.reader(lines, delimiter=sign) if row] or [0]
    except csv.Error:
        return [0]


def read_delimited(file: Path, delimiter: str | None = None) -> Records:
    with in_utf8(file):
        sign = delimiter or find_delimiter(file)
    read = _by_python if importlib.util.find_spec("pyarrow") is None else _by_arrow
    records = read(file, sign, read_header(file, sign))
    _check_closed(file, records)
    if delimiter or sign == USUAL.get(suffix_of(file), ","):
        return records
    words = f"{file.name}: fields are separated by {sign!r}; pass "  # another sign than the suffix promises
    return replace(records, notes=(*records.notes, Note("source", words, Arg("delimiter", of="Reading"), " otherwise")))


def _check_closed(file: Path, records: Records) -> None:
    """A quote that is never closed takes the rest of the file into the very last cell."""
    column = records.columns[next(reversed(list(records.columns)))]
    last = column.value_at(-1) if len(column) and not column.absent()[-1] else None
    if isinstance(last, str) and "\n" in last and not read_bytes(file).rstrip().endswith(b'"'):
        raise FormatError(f"{file}: the quote before {shown(last)} is never closed; close it or drop it")


def peek_header(file: Path) -> list[str]:
    """The names of a CSV file's columns; none where there is no such file or header."""
    try:
        return read_header(file, find_delimiter(file)) if suffix_of(file) == ".csv" and file.is_file() else []
    except (PedanovaError, OSError, ValueError):
        return []


def read_header(file: Path, delimiter: str) -> list[str]:
    try:
        with in_utf8(file), open_text(file) as lines:
            header = next(csv.reader(lines, delimiter=delimiter), [])
    except csv.Error as error:
        raise FormatError(f"{file}: the header cannot be read: {error}") from None
    names = [name.strip() for name in header]
    if not any(names):
        raise FormatError(f"{file} begins with an empty line; the first line must name the columns")
    return as_names(names, where=f"{file}: ", error=FormatError)


def read_text(file: Path) -> str:
    """All of a file's letters; where it is not UTF-8, the line is named."""
    data = read_bytes(file)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        what = f"line {line} holds byte 0x{data[error.start]:02x}, which is not UTF-8"
        raise FormatError(f"{file}: {what}; save the file as UTF-8") from None


@contextmanager
def in_utf8(file: Path) -> Iterator[None]:
    try:
        yield
    except UnicodeDecodeError:
        read_text(file)  # names the line
        raise


def _by_arrow(file: Path, delimiter: str, header: list[str]) -> Records:
    import pyarrow as pa

    try:
        table = _arrow_table(file, delimiter, header)
        types = {field.name: field.type for field in table.schema}
        # Dates and times stay text, as Python's reader leaves them.
        times = {name: pa.string() for name, kind in types.items() if pa.types.is_temporal(kind)}
        table = _arrow_table(file, delimiter, header, times) if times else table
    except pa.ArrowException:
        # Python's reader is slower, but takes lines of any length and names the one at fault.
        return _by_python(file, delimiter, header)
    if any(pa.types.is_binary(kind) for kind in types.values()):  # pyarrow's word for not UTF-8
        read_text(file)
    return read_frame(table)


def _arrow_table(file: Path, delimiter: str, header: list[str], types: dict[str, Any] | None = None) -> Any:
    from pyarrow import csv as arrow_csv

    return arrow_csv.read_csv(
        io.BytesIO(read_bytes(file)) if is_packed(file) else file,
        read_options=arrow_csv.ReadOptions(column_names=header, skip_rows_after_names=1),
        parse_options=arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        convert_options=arrow_conversion(column_types=types),
    )


def arrow_conversion(**options: Any) -> Any:
    """What cells mean to pyarrow: the rules of this module, whether a file is read at once or in parts."""
    from pyarrow import csv as arrow_csv

    return arrow_csv.ConvertOptions(
        null_values=list(MISSING),
        strings_can_be_null=False,
        quoted_strings_can_be_null=True,
        true_values=list(TRUE),
        false_values=list(FALSE),
        **options,
    )


def _by_python(file: Path, delimiter: str, header: list[str]) -> Records:
    with in_utf8(file), open_text(file) as lines:
        rows, fields = _fields_of(lines, file, delimiter, len(header))
    header, notes = headings(header, fields)
    columns = [*zip(*rows, strict=True)] if rows else [() for _ in header]
    columns += [("",) * len(rows)] * (len(header) - len(columns))
    return Records({name: parse_text(name, texts) for name, texts in zip(header, columns, strict=True)}, notes)


def _fields_of(lines: TextIO, file: Path, delimiter: str, headings: int) -> tuple[list[list[str]], int]:
    """Rows of text below the heading, and how many fields every one of them has."""
    rows: list[list[str]] = []
    reader = csv.reader(lines, delimiter=delimiter)
    expected = headings
    try:
        next(reader, None)
        for row in reader:
            if not row:
                continue
            if not rows and abs(len(row) - headings) == 1 and headings > 2:
                expected = len(row)  # every row must be so
            if len(row) != expected:
                raise FormatError(
                    f"{file}: line {reader.line_num} has {len(row)} fields where the header has "
                    f"{headings}; mend the line or its quotes"
                )
            rows.append(row)
    except csv.Error as error:
        raise FormatError(f"{file}: line {reader.line_num}: {error}") from None
    return rows, expected


def headings(header: list[str], fields: int) -> tuple[list[str], tuple[Note, ...]]:
    """Where all rows have a field more or less than there are headings, what pandas makes of them."""
    if fields == len(header):
        return header, ()
    if fields > len(header):
        words = "the rows have one field more than headings; the first is taken as their index"
        return as_names(["", *header]), (Note("source", words),)
    words = f"the rows have one field less than headings; {header[-1]!r} is taken as empty"
    return header, (Note("source", words),)


def parse_text(name: str, texts: Iterable[str]) -> Column:
    """Whole numbers, numbers, booleans or labels: the first that fits every cell."""
    cells = list(texts)
    missing = np.array([text in MISSING for text in cells], dtype=bool)
    present = [text for text, gone in zip(cells, missing, strict=True) if not gone]
    plain = [text.strip(" \t") for text in present]
    numbers = _as_whole(plain)
    if numbers is None and all(REAL.fullmatch(text) for text in plain):
        numbers = np.array([float(text) for text in plain], dtype=np.float64)
    if numbers is None and all(text in TRUE or text in FALSE for text in present):
        numbers = np.array([text in TRUE for text in present], dtype=bool)
    if numbers is not None:
        values = np.zeros(len(cells), dtype=numbers.dtype)
        values[~missing] = numbers
        return Column(name, values, None, some(missing))
    return encode(name, (text if text.strip() else None for text in cells))


def _as_whole(cells: list[str]) -> Any | None:
    if not all(WHOLE.fullmatch(text) or HEXADECIMAL.fullmatch(text) for text in cells):
        return None
    try:
        return np.array([int(text, 16 if "x" in text.lower() else 10) for text in cells], dtype=np.int64)
    except (ValueError, OverflowError):  # too many digits
        return None
