"""CSV, TSV and JSON lines. A cell is a number if it reads as one, and empty cells are missing.

pyarrow reads CSV quickly where it is installed; Python's own reader follows the same rules.
"""

from __future__ import annotations

import csv
import importlib.util
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from pedanova.data.column import Column, as_column, encode, shorten, some
from pedanova.data.records import Records
from pedanova.data.text_numbers import HEXADECIMAL, REAL
from pedanova.errors import FormatError, PedanovaError
from pedanova.sources.tables.frames import read_frame
from pedanova.sources.tables.names import as_names

# Among numbers and booleans these stand for no value; among other words they are words, and only "" is a gap.
MISSING = ("", "NA", "N/A", "#N/A", "NaN", "nan", "-nan", "null", "NULL", "None", "none", "n/a", "<NA>")
TRUE = ("True", "true", "TRUE")
FALSE = ("False", "false", "FALSE")
OTHER_DELIMITERS = {",": ";\t|", "\t": ",;|"}
WHOLE = re.compile(r"-?[0-9]+")  # as pyarrow reads them


def read_delimited(file: Path, delimiter: str) -> Records:
    header = read_header(file, delimiter)
    read = _by_python if importlib.util.find_spec("pyarrow") is None else _by_arrow
    records = read(file, delimiter, header)
    _check_closed(file, records)
    return records


def _check_closed(file: Path, records: Records) -> None:
    """A quote that is never closed takes the rest of the file into the very last cell."""
    column = records.columns[next(reversed(list(records.columns)))]
    last = column.value_at(-1) if len(column) and not column.absent()[-1] else None
    if isinstance(last, str) and "\n" in last and not file.read_bytes().rstrip().endswith(b'"'):
        raise FormatError(f"{file}: the quote before {shorten(last)} is never closed; close it or drop it")


def peek_header(file: Path) -> list[str]:
    """The names of a CSV file's columns; none where there is no such file or header."""
    try:
        return read_header(file, ",") if file.suffix.lower() == ".csv" and file.is_file() else []
    except (PedanovaError, OSError, ValueError):
        return []


def read_header(file: Path, delimiter: str) -> list[str]:
    """The names of the columns, checked."""
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            header = next(csv.reader(lines, delimiter=delimiter), [])
    except UnicodeDecodeError:
        raise _not_utf8(file) from None
    except csv.Error as error:
        raise FormatError(f"{file}: the header cannot be read: {error}") from None
    names = [name.strip() for name in header]
    if not any(names):
        raise FormatError(f"{file} begins with an empty line; the first line must name the columns")
    if len(names) == 1:
        _check_delimiter(file, names[0], delimiter)
    return as_names(names, where=f"{file}: ", error=FormatError)


def _check_delimiter(file: Path, name: str, delimiter: str) -> None:
    for other in OTHER_DELIMITERS[delimiter]:
        if other in name:
            remedy = "name the file .tsv" if other == "\t" else f"convert it to {delimiter!r}"
            header = f"the header {name[:60]!r} has no {delimiter!r} but {other!r}"
            raise FormatError(f"{file}: {header}: wrong delimiter; {remedy}")


def _not_utf8(file: Path) -> FormatError:
    data = file.read_bytes()
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        what = f"line {line} holds byte 0x{data[error.start]:02x}, which is not UTF-8"
        return FormatError(f"{file}: {what}; save the file as UTF-8")
    return FormatError(f"{file} is not UTF-8; save the file as UTF-8")


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
        raise _not_utf8(file)
    return read_frame(table)


def _arrow_table(file: Path, delimiter: str, header: list[str], types: dict[str, Any] | None = None) -> Any:
    from pyarrow import csv as arrow_csv

    return arrow_csv.read_csv(
        file,
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
    rows: list[list[str]] = []
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            reader = csv.reader(lines, delimiter=delimiter)
            next(reader, None)
            for row in reader:
                if not row:
                    continue
                if len(row) != len(header):
                    raise FormatError(
                        f"{file}: line {reader.line_num} has {len(row)} fields where the header has "
                        f"{len(header)}; mend the line or its quotes"
                    )
                rows.append(row)
    except UnicodeDecodeError:
        raise _not_utf8(file) from None
    except csv.Error as error:
        raise FormatError(f"{file}: line {reader.line_num}: {error}") from None
    columns = zip(*rows, strict=True) if rows else ([] for _ in header)
    return Records({name: parse_text(name, texts) for name, texts in zip(header, columns, strict=True)})


def parse_text(name: str, texts: Iterable[str]) -> Column:
    """Whole numbers, numbers, booleans or labels: the first that fits every cell."""
    cells = list(texts)
    missing = np.array([text in MISSING for text in cells], dtype=bool)
    present = [text for text, gone in zip(cells, missing, strict=True) if not gone]
    for kind in (_as_whole, _as_real, _as_bool):
        numbers = kind(present)
        if numbers is None:
            continue
        values = np.zeros(len(cells), dtype=numbers.dtype)
        values[~missing] = numbers
        return Column(name, values, None, some(missing))
    return encode(name, (text if text.strip() else None for text in cells))


def _as_whole(present: list[str]) -> Any | None:
    cells = [text.strip(" \t") for text in present]
    if not all(WHOLE.fullmatch(text) or HEXADECIMAL.fullmatch(text) for text in cells):
        return None
    try:
        return np.array([int(text, 16 if "x" in text.lower() else 10) for text in cells], dtype=np.int64)
    except (ValueError, OverflowError):  # too many digits
        return None


def _as_real(present: list[str]) -> Any | None:
    cells = [text.strip(" \t") for text in present]
    if not all(REAL.fullmatch(text) for text in cells):
        return None
    return np.array([float(text) for text in cells], dtype=np.float64)


def _as_bool(present: list[str]) -> Any | None:
    if all(text in TRUE or text in FALSE for text in present):
        return np.array([text in TRUE for text in present], dtype=bool)
    return None


def read_json_lines(file: Path) -> Records:
    """One JSON object a line; nested objects are flattened with dots, absent keys are missing."""
    rows: list[dict[str, object]] = []
    try:
        with file.open(encoding="utf-8-sig") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    rows.append(_parse_line(file, number, line))
    except UnicodeDecodeError:
        raise _not_utf8(file) from None
    keys = list(dict.fromkeys(key for row in rows for key in row))
    named = zip(as_names(keys, where=f"{file}: ", error=FormatError), keys, strict=True)
    return Records({name: as_column(name, [row.get(key) for row in rows]) for name, key in named})


def _parse_line(file: Path, number: int, line: str) -> dict[str, object]:
    try:
        row = json.loads(line)
        if isinstance(row, dict):
            return flatten(row)
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else getattr(error, "msg", error)
        raise FormatError(f"{file}: line {number}, {shorten(line.strip())}, is no JSON: {reason}") from None
    raise FormatError(f'{file}: line {number}, {shorten(row)}, must be an object such as {{"lr": 0.1}}')


def flatten(row: dict[str, object], prefix: str = "") -> dict[str, object]:
    flat: dict[str, object] = {}
    for key, value in row.items():
        if isinstance(value, dict):
            flat |= flatten(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = json.dumps(value) if isinstance(value, list) else value
    return flat
