"""Read tables from JSON files, and split columns of dicts (also dicts written as text) into one column for each key."""

from __future__ import annotations

import ast
import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeGuard

from pedanova.base.notes import Note
from pedanova.data.column import Column, as_column, read_plain, values_in
from pedanova.data.records import Records
from pedanova.errors import DataError, FormatError, listed
from pedanova.sources.tables.frames import MOST_COLUMNS, as_names
from pedanova.sources.tables.text import read_text
from pedanova.space.values import shown

ROWS_UNDER = ("trials", "runs", "data", "results", "rows", "records", "experiments", "configs")
EXAMPLE = 'such as [{"lr": 0.1, "loss": 0.3}, …]'
DEEPEST = 50
PEEK = 20
PAIRS, PAIR = re.compile(r"[,;]"), re.compile(r"([A-Za-z_][\w.-]*)\s*[=]\s*([^=\s]+)")
BARE = re.compile(r"([:,] |[\[(])(-?)(nan|inf)(?=[,\])}])")  # as Python writes them, outside quotes
WORDS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def read_json_table(file: Path) -> Records:
    """The table in a .json file, in any common layout."""
    text = read_text(file)
    try:
        plain = json.loads(text)
    except RecursionError:
        raise FormatError(f"{file} is not valid JSON: nested too deeply") from None
    except ValueError as error:
        if text.lstrip().startswith("{") and "\n" in text.strip() and "Extra data" in str(error):
            return read_rows(line_rows(file, text), str(file))
        raise FormatError(f"{file} is not valid JSON: {error}; was it cut off?") from None
    rows = rows_in(plain, file)
    records = read_rows(rows, str(file))
    return replace(records, notes=(*records.notes, *_other_tables(plain, rows)))


def _other_tables(plain: object, rows: object) -> list[Note]:
    """A warning if the object has further lists of rows, which are not read."""
    lists = {key: own for key, own in plain.items() if is_table(own)} if isinstance(plain, dict) else {}
    others = [f"{key} ({len(own):,} rows)" for key, own in lists.items() if own is not rows and len(own) > 1]
    name = next((key for key, own in lists.items() if own is rows), None)
    if not others or name is None:
        return []
    return [Note("doubt", f"only {name} is read, not {', '.join(others)}; to read another list, save it as a file")]


def is_table(plain: object) -> TypeGuard[list[Mapping[str, Any]]]:
    return isinstance(plain, list) and bool(plain) and all(issubclass(kind, dict) for kind in set(map(type, plain)))


def read_trials(files: Sequence[Path], place: str) -> Records:
    """One table from several JSON files with one or more trials each; unreadable files are left out with a note."""
    rows: list[Mapping[str, Any]] = []
    lost: list[str] = []
    folders = len({file.stem for file in files}) == 1  # one file in the folder of each run
    for file in files:
        try:
            rows += _trials_in(file, file.parent.name if folders else file.stem)
        except FormatError as error:
            lost.append(str(error))
    if not rows:
        words = f"{place}: none of {len(files):,} files holds a trial ({lost[0] if lost else 'all are empty'})"
        raise FormatError(words)
    records = read_rows(rows, place)
    notes = [Note("source", f"{len(files) - len(lost):,} files of {place} were read as one table")]
    notes += [Note("doubt", f"files left out: {len(lost):,} of {len(files):,}; first error: {lost[0]}")] if lost else []
    return replace(records, notes=(*records.notes, *notes))


def _trials_in(file: Path, name: str) -> list[Mapping[str, Any]]:
    try:
        plain = json.loads(read_text(file))
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{file} is not valid JSON: {error}") from None
    under = [plain.get(key) for key in ROWS_UNDER] if isinstance(plain, dict) else [plain]
    for rows in under:
        if is_table(rows):
            return [*rows]
    if not isinstance(plain, dict):
        raise FormatError(f"{file}: {shown(plain)} is not a trial; it must be an object")
    return [{"file": name, **plain}]


def line_rows(file: Path, text: str) -> list[Mapping[str, Any]]:
    rows: list[Mapping[str, Any]] = []
    lines = list(filter(str.strip, text.split("\n")))
    with suppress(ValueError, RecursionError):  # the loop below names the wrong line
        rows = json.loads(f"[{','.join(lines)}]")
        if len(rows) == len(lines) and is_table(rows):
            return rows
    rows = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            reason = "nested too deeply" if isinstance(error, RecursionError) else getattr(error, "msg", error)
            raise FormatError(f"{file}: line {number}, {shown(line.strip())}, is not valid JSON: {reason}") from None
        if not isinstance(row, dict):
            raise FormatError(f'{file}: line {number}, {shown(row)}, must be an object such as {{"lr": 0.1}}')
        rows.append(row)
    return rows


def rows_in(plain: object, file: object) -> list[Mapping[str, Any]]:
    if is_table(plain):
        return plain
    if isinstance(plain, dict) and plain:
        for layout in (_under_a_key, _by_column, _columns_under_a_key, _by_trial):
            rows = layout(plain)
            if rows:
                return rows
    raise FormatError(f"{file}: {shown(plain)} is not a table; it must be a list of objects, {EXAMPLE}")


def _under_a_key(plain: dict[str, Any]) -> list[Mapping[str, Any]] | None:
    """The rows of a table inside an object, such as {"trials": [{…}, …]}; None if the object contains no table."""
    for key in (*ROWS_UNDER, *plain):
        rows = plain.get(key)
        if is_table(rows):
            return rows
        if key in ROWS_UNDER and isinstance(rows, dict) and _by_trial(rows):
            return _by_trial(rows)
    return None


def _by_column(plain: dict[str, Any]) -> list[Mapping[str, Any]] | None:
    """Rows from ``{column: [value, …]}`` or ``{column: {row: value}}`` (the default of pandas); otherwise None."""
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


def _columns_under_a_key(plain: dict[str, Any]) -> list[Mapping[str, Any]] | None:
    """The rows of a table stored by column inside an object; None if the object contains no table, or several."""
    tables = [_by_column(part) for part in plain.values() if isinstance(part, dict) and len(part) > 1]
    some = [table for table in tables if table]
    return some[0] if len(some) == 1 else None


def _by_trial(plain: dict[str, Any]) -> list[Mapping[str, Any]] | None:
    """The rows of {"trial 1": {"lr": 0.1}, …}; None for another layout."""
    if len(plain) > 1 and all(isinstance(row, dict) for row in plain.values()):
        return [{"trial": name, **row} if "trial" not in row else row for name, row in plain.items()]
    return None


def read_rows(rows: Sequence[Mapping[Any, Any]], where: str) -> Records:
    """Records from rows given as dicts: nested names are joined by dots, missing keys are missing values."""
    columns = _even_columns(rows)
    if columns is None:
        flat = [flatten(row) for row in rows]
        columns = {key: [row.get(key) for row in flat] for key in dict.fromkeys(key for row in flat for key in row)}
    names = as_names(list(columns), where=f"{where}: ", error=FormatError)
    return Records({name: as_column(name, own) for name, own in zip(names, columns.values(), strict=True)})


def _even_columns(rows: Sequence[Mapping[Any, Any]]) -> dict[Any, list[Any]] | None:
    """The columns, if all rows have the same keys in the same order, and no value is a list or a dict."""
    keys = list(rows[0]) if rows else []
    if not keys or not all(type(key) is str for key in keys) or not all(map(keys.__eq__, map(list, rows))):
        return None
    columns = {key: list(map(itemgetter(key), rows)) for key in keys}
    nested = any(issubclass(kind, list | dict) for column in columns.values() for kind in set(map(type, column)))
    return None if nested else columns


def flatten(row: Mapping[Any, Any], prefix: str = "", depth: int = 0, *, separator: str = ".") -> dict[str, object]:
    if depth > DEEPEST:
        raise DataError(f"values are nested more than {DEEPEST} levels deep at {prefix[:40]!r}; flatten them")
    flat: dict[str, object] = {}
    for key, value in row.items():
        if isinstance(value, dict):
            flat |= flatten(value, f"{prefix}{key}{separator}", depth + 1, separator=separator)
        else:
            flat[f"{prefix}{key}"] = json.dumps(value, default=str) if isinstance(value, list) else value
    return flat


def open_dicts(records: Records) -> Records:
    """Replace each column of dicts by one column for each key: `params` with {"lr": 0.1} becomes `params.lr`."""
    columns: dict[str, Column] = {}
    opened: dict[str, list[str]] = {}  # for each column of dicts: its keys with several values
    settled = {*(records.metadata.space or ()), *records.metadata.aside}
    for name, column in records.columns.items():
        inside = {} if name in settled else {f"{name}.{key}": values for key, values in _opened(column).items()}
        known = not records.columns.keys().isdisjoint(inside) or _repeats(inside, f"{name}.", records)
        if not inside or known or len(columns) + len(inside) > MOST_COLUMNS:
            columns[name] = column
            continue
        opened[name] = [key for key, values in inside.items() if len(set(map(str, values))) > 1]
        columns |= {key: as_column(key, values) for key, values in inside.items()}
    if not opened:
        return records
    note = Note("source", f"columns of dicts are split into one column for each key: {listed(list(opened))}")
    params = tuple(key for name in records.metadata.params for key in opened.get(name, [name]))
    metadata = replace(records.metadata, params=params)
    return replace(records, columns=columns, notes=(*records.notes, note), metadata=metadata)


def _repeats(inside: Mapping[str, list[Any]], prefix: str, records: Records) -> bool:
    """Whether each key, without the prefix, is also a column of its own, with the same values."""
    bare = {key.removeprefix(prefix): values for key, values in inside.items()}
    return bare.keys() <= records.columns.keys() and all(
        one is None or one == other
        for key, values in bare.items()
        for one, other in zip(values_in(as_column(key, values)), values_in(records.columns[key]), strict=True)
    )


def _opened(column: Column) -> dict[str, list[Any]]:
    """The values of a column of dicts by key; empty if some cell is not a dict."""
    labels = column.labels or ()
    if not labels or not all(isinstance(label, str) for label in labels):
        return {}
    read = next((read for read in (as_dict, packed) if all(map(read, labels[:PEEK]))), None)
    contents = [] if read is None else [read(label) for label in labels]
    if read is None or None in contents:
        return {}
    dicts = [flatten(content) for content in contents if content is not None]
    times = Counter(key for content in dicts for key in content)
    if read is packed and (max(map(len, dicts)) < 2 or min(times.values()) < min(2, len(dicts))):
        return {}  # each name of a run, such as a-lr=0.1, has its own key
    keys = list(times)
    tables = {key: [*_unwrapped([content.get(key) for content in dicts]), None] for key in keys}
    codes = column.values.tolist()
    return {key: [table[code] for code in codes] for key, table in tables.items()}


def _unwrapped(values: list[Any]) -> list[Any]:
    """Replace lists such as [0.1], which Hyperopt stores, by their value; unchanged if some list has several values."""
    try:
        lists = [json.loads(value) for value in values if value is not None]
    except (ValueError, TypeError, RecursionError):
        return values
    if not lists or not all(isinstance(items, list) and len(items) < 2 for items in lists):
        return values
    inside = iter(lists)
    return [None if value is None else next(iter(next(inside) or ()), None) for value in values]


def as_dict(cell: object) -> dict[str, Any] | None:
    """The dict in a cell, which may be a dict or its text in JSON or Python; None if the cell has no dict."""
    if isinstance(cell, dict):
        return {str(key): value for key, value in cell.items()}
    if not isinstance(cell, str) or not cell.lstrip().startswith("{"):
        return None
    for write in (None, lambda m: m[1] + ("None" if m[3] == "nan" else f"{m[2]}1e999")):
        try:  # as JSON, then as a Python literal; no code is run
            content = json.loads(cell) if write is None else ast.literal_eval(BARE.sub(write, cell))
        except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            continue
        if isinstance(content, dict):
            return {str(key): value for key, value in content.items()}
    return None


def packed(cell: object) -> dict[str, Any] | None:
    """The settings in a text such as ``lr=0.1,depth=3``; None for other texts.

    Examples
    --------
    >>> packed("ts=full, beta=0.5;id=7"), packed("a = b, c")
    ({'ts': 'full', 'beta': 0.5, 'id': 7}, None)
    """
    pairs = [part.strip() for part in PAIRS.split(cell)] if isinstance(cell, str) and "=" in cell else []
    found = [PAIR.fullmatch(pair) for pair in pairs if pair]
    if not found or None in found:
        return None
    return {pair[1]: pair[2] if (number := read_plain(pair[2])) is None else number for pair in found if pair}


def spelled_number(value: object) -> object:
    """Convert words such as "NaN" to numbers, because JSON has no NaN; other values are unchanged."""
    return WORDS.get(value, value) if isinstance(value, str) else value
