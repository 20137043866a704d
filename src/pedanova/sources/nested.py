"""Cells that hold more than one value: dicts as objects, as JSON or as Python writes them."""

from __future__ import annotations

import ast
import json
import math
import re
from typing import Any

import narwhals as nw

from pedanova.data.column import Column
from pedanova.data.records import Records
from pedanova.sources.tables import files

BARE = re.compile(r"([:,] |[\[(])(-?)(nan|inf)(?=[,\])}])")  # as Python writes them outside of quotes
WORDS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def as_dict(cell: object) -> dict[str, Any] | None:
    """The dict that a cell is or spells; None if it is none."""
    if isinstance(cell, dict):
        return {str(key): value for key, value in cell.items()}
    if not isinstance(cell, str) or not cell.lstrip().startswith("{"):
        return None
    for parse in (json.loads, _literal):
        try:
            found = parse(cell)
        except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            continue
        if isinstance(found, dict):
            return {str(key): value for key, value in found.items()}
    return None


def _literal(text: str) -> object:
    """A dict as Python prints it; nothing is run."""
    bare = BARE.sub(lambda m: m[1] + ("None" if m[3] == "nan" else f"{m[2]}1e999"), text)
    return ast.literal_eval(bare)


def as_number(value: object) -> object:
    """JSON has no NaN: some tools write the word."""
    return WORDS.get(value, value) if isinstance(value, str) else value


def frame_columns(data: object) -> list[str]:
    """The names of a data frame's columns; none for anything else. Never raises."""
    try:
        frame = nw.from_native(data, pass_through=True)
        if isinstance(frame, nw.LazyFrame):
            return list(frame.collect_schema().names())
        return list(frame.columns) if isinstance(frame, nw.DataFrame) else []
    except Exception:  # a foreign object's properties may raise anything
        return []


def frame_cells(data: Any) -> dict[str, list[Any]]:
    """A data frame's values by column, as they lie in it."""
    frame = nw.from_native(data)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    return {name: frame[name].to_list() for name in frame.columns}


def file_cells(path: object) -> dict[str, list[Any]]:
    """A table's values by column, from a file."""
    return record_cells(files.read_file(str(path)))


def record_cells(records: Records) -> dict[str, list[Any]]:
    return {name: column_cells(column) for name, column in records.columns.items()}


def column_cells(column: Column) -> list[Any]:
    absent = column.absent()
    return [None if absent[row] else column.value_at(row) for row in range(len(column))]
