"""JSON that holds a table: rows in a list, trials by name, columns by name, lines, and what pandas writes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pedanova.data.column import as_column, shorten
from pedanova.data.records import Records
from pedanova.errors import DataError, FormatError
from pedanova.sources.tables.names import as_names
from pedanova.sources.tables.opening import read_bytes

ROWS_UNDER = ("trials", "runs", "data", "results", "rows", "records", "experiments", "configs")
EXAMPLE = 'such as [{"lr": 0.1, "loss": 0.3}, …]'
DEEPEST = 50


def read_json_table(file: Path) -> Records:
    """A table out of a .json file, whichever way it is laid out."""
    text = decoded(file)
    try:
        plain = json.loads(text)
    except RecursionError:
        raise FormatError(f"{file} is no JSON: nested too deeply") from None
    except ValueError as error:
        if text.lstrip().startswith("{") and "\n" in text.strip() and "Extra data" in str(error):
            return read_rows(line_rows(file, text), str(file))
        raise FormatError(f"{file} is no JSON: {error}; was it cut off?") from None
    return read_rows(rows_in(plain, file), str(file))


def read_json_lines(file: Path) -> Records:
    """One JSON object a line; nested objects are flattened with dots, absent keys are missing."""
    return read_rows(line_rows(file, decoded(file)), str(file))


def decoded(file: Path) -> str:
    data = read_bytes(file)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        what = f"line {line} holds byte 0x{data[error.start]:02x}, which is not UTF-8"
        raise FormatError(f"{file}: {what}; save the file as UTF-8") from None


def line_rows(file: Path, text: str) -> list[Mapping[str, Any]]:
    lines = ((number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip())
    return [_parse_line(file, number, line) for number, line in lines]


def _parse_line(file: Path, number: int, line: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else getattr(error, "msg", error)
        raise FormatError(f"{file}: line {number}, {shorten(line.strip())}, is no JSON: {reason}") from None
    if isinstance(row, dict):
        return row
    raise FormatError(f'{file}: line {number}, {shorten(row)}, must be an object such as {{"lr": 0.1}}')


def rows_in(plain: object, file: object) -> list[Mapping[str, Any]]:
    """The rows of a table, however they are laid out."""
    if isinstance(plain, list) and plain and all(isinstance(row, dict) for row in plain):
        return plain
    if isinstance(plain, dict) and plain:
        for layout in (_split, _under_a_key, _by_column, _by_trial):
            rows = layout(plain)
            if rows:
                return rows
    raise FormatError(f"{file}: {shorten(plain)} is no table; it must be a list of objects, {EXAMPLE}")


def _split(plain: dict[str, Any]) -> list[Mapping[str, Any]] | None:
    """As pandas writes with orient="split"."""
    columns, data = plain.get("columns"), plain.get("data")
    if not isinstance(columns, list) or not isinstance(data, list) or not all(isinstance(row, list) for row in data):
        return None
    if any(len(row) != len(columns) for row in data):
        return None
    return [dict(zip(map(str, columns), row, strict=True)) for row in data]


def _under_a_key(plain: dict[str, Any]) -> list[Mapping[str, Any]] | None:
    """A list of rows beside other things, or rows by name."""
    for key in (*ROWS_UNDER, *plain):
        held = plain.get(key)
        if isinstance(held, list) and held and all(isinstance(row, dict) for row in held):
            return held
        if key in ROWS_UNDER and isinstance(held, dict) and _by_trial(held):
            return _by_trial(held)
    return None


def _by_column(plain: dict[str, Any]) -> list[Mapping[str, Any]] | None:
    """Lists of one length by name, or values by row by name, as pandas writes unless told otherwise."""
    columns = list(plain.values())
    if all(isinstance(column, list) for column in columns) and len({len(column) for column in columns}) == 1:
        return [dict(zip(plain, row, strict=True)) for row in zip(*columns, strict=True)]
    if not all(isinstance(column, dict) and column for column in columns):
        return None
    keys = list(columns[0])
    numbered = all(key.isdigit() for key in keys)
    if not numbered or any(list(column) != keys for column in columns):
        return None
    return [{name: plain[name][key] for name in plain} for key in keys]


def _by_trial(plain: dict[str, Any]) -> list[Mapping[str, Any]] | None:
    """Objects by the name of the trial."""
    if len(plain) > 1 and all(isinstance(row, dict) for row in plain.values()):
        return [{"trial": name, **row} if "trial" not in row else row for name, row in plain.items()]
    return None


def read_rows(rows: Sequence[Mapping[Any, Any]], where: str) -> Records:
    """Rows as dicts: nested ones are flattened with dots, absent keys are missing values."""
    flat = [flatten(row) for row in rows]
    keys = list(dict.fromkeys(key for row in flat for key in row))
    named = zip(as_names(keys, where=f"{where}: ", error=FormatError), keys, strict=True)
    return Records({name: as_column(name, [row.get(key) for row in flat]) for name, key in named})


def flatten(row: Mapping[Any, Any], prefix: str = "", depth: int = 0) -> dict[str, object]:
    if depth > DEEPEST:
        raise DataError(f"values are nested more than {DEEPEST} deep at {prefix[:40]!r}; flatten them")
    flat: dict[str, object] = {}
    for key, value in row.items():
        if isinstance(value, dict):
            flat |= flatten(value, f"{prefix}{key}.", depth + 1)
        else:
            flat[f"{prefix}{key}"] = json.dumps(value, default=str) if isinstance(value, list) else value
    return flat
