"""Columns of dicts, as objects or spelled out as text, opened into one column for each key."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from pedanova.base.notes import Note
from pedanova.data.column import Column, as_column
from pedanova.data.records import Records
from pedanova.errors import listed
from pedanova.sources.nested import as_dict
from pedanova.sources.tables.json_text import flatten
from pedanova.sources.tables.names import MOST_COLUMNS

PEEK = 20


def open_dicts(records: Records) -> Records:
    """The same rows; a column `params` of {"lr": 0.1} is a column `params.lr`."""
    columns: dict[str, Column] = {}
    opened = []
    for name, column in records.columns.items():
        inside = _opened(column)
        clash = any(f"{name}.{key}" in records.columns for key in inside)
        if not inside or clash or len(columns) + len(inside) > MOST_COLUMNS:
            columns[name] = column
            continue
        opened.append(name)
        columns |= {f"{name}.{key}": as_column(f"{name}.{key}", values) for key, values in inside.items()}
    if not opened:
        return records
    note = Note("source", f"columns of dicts opened, one column for each key: {listed(opened)}")
    return replace(records, columns=columns, notes=(*records.notes, note))


def _opened(column: Column) -> dict[str, list[Any]]:
    """Values by key; none where some cell is no dict."""
    labels = column.labels or ()
    dicts: list[dict[str, Any]] = []
    if not labels or not all(isinstance(label, str) and label.lstrip().startswith("{") for label in labels):
        return {}
    if any(as_dict(label) is None for label in labels[:PEEK]):
        return {}
    for label in labels:
        held = as_dict(label)
        if held is None:
            return {}
        dicts.append(flatten(held))
    keys = list(dict.fromkeys(key for held in dicts for key in held))
    tables = {key: [*_unwrapped([held.get(key) for held in dicts]), None] for key in keys}
    codes = column.values.tolist()
    return {key: [table[code] for code in codes] for key, table in tables.items()}


def _unwrapped(values: list[Any]) -> list[Any]:
    """Where every value is a list of one or none, as Hyperopt keeps settings, what is in the lists."""
    lists = [as_list(value) for value in values if value is not None]
    if not lists or any(held is None or len(held) > 1 for held in lists):
        return values
    inside = iter(lists)
    return [None if value is None else next(iter(next(inside) or ()), None) for value in values]


def as_list(value: object) -> list[Any] | None:
    """The list that a text spells in JSON; None if it spells none."""
    if not isinstance(value, str) or not value.startswith("["):
        return None
    try:
        held = json.loads(value)
    except (ValueError, RecursionError):
        return None
    return held if isinstance(held, list) else None
