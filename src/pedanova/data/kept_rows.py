"""Observations in a file: every column of the table, so that a loaded analysis may be asked everything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.base.attachments import Attachment
from pedanova.data.column import Column
from pedanova.data.conditions import place_columns
from pedanova.data.objectives import Goal, as_direction
from pedanova.data.observations import Observations
from pedanova.errors import Arg, DataError, FormatError
from pedanova.space.parameters import Space
from pedanova.space.values import Label

MOST_ROWS = 1_000_000


def rows_kept(observed: Observations) -> Attachment:
    """All rows and columns."""
    if len(observed) > MOST_ROWS:
        raise DataError(
            f"{len(observed):,} rows are more than a file keeps ({MOST_ROWS:,}); leave ", Arg("rows", True), " out"
        )
    arrays: dict[str, NDArray[Any]] = {}
    columns = []
    for i, (name, column) in enumerate(observed.table.items()):
        arrays[f"column {i}"] = column.values
        if column.missing is not None:
            arrays[f"missing {i}"] = column.missing
        labels = None if column.labels is None else [plain(label) for label in column.labels]
        columns.append({"name": name, "labels": labels, "missing": column.missing is not None})
    goals = []
    for i, goal in enumerate(observed.goals):
        arrays[f"goal {i}"] = goal.values
        goals.append(
            {"name": goal.name, "direction": goal.direction, "column": goal.column, "made_of": list(goal.made_of)}
        )
    for name in ("order", "keep", "trials"):
        array = getattr(observed, name)
        if array is not None:
            arrays[name] = array
    about = {"rows": len(observed), "columns": columns, "goals": goals, "restricted": observed.restricted}
    about["picked"] = sorted(observed.picked)
    return Attachment(about, arrays)


def rows_from(attachment: Attachment, space: Space) -> Observations:
    """The inverse of `rows_kept`, distrustful."""
    about, arrays = attachment.header, attachment.arrays
    rows = about["rows"]
    if any(array.shape != (rows,) for array in arrays.values()):
        raise FormatError("has rows of different lengths")
    table = {str(one["name"]): column_from(i, one, arrays) for i, one in enumerate(about["columns"])}
    missing = [name for name in space if name not in table]
    if missing:
        raise FormatError(f"has no rows of {missing[0]!r}")
    goals = tuple(
        Goal(
            str(one["name"]),
            arrays[f"goal {i}"],
            as_direction(one["direction"]),
            one["column"],
            None,
            tuple(one["made_of"]),
        )
        for i, one in enumerate(about["goals"])
    )
    if not goals:
        raise FormatError("has rows without an objective")
    placed, notes, idle = place_columns(space, {name: table[name] for name in space}, table)
    more: dict[str, Any] = {name: arrays[name] for name in ("order", "keep", "trials") if name in arrays}
    more["picked"] = frozenset(map(str, about.get("picked", ())))
    return Observations(
        placed, goals, space, table, tuple(notes), idle=idle, restricted=bool(about["restricted"]), **more
    )


def column_from(i: int, one: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Column:
    labels: tuple[Label, ...] | None = None if one["labels"] is None else tuple(one["labels"])
    values = arrays[f"column {i}"]
    if labels is not None and (values.dtype.kind not in "iu" or int(values.max(initial=-1)) >= len(labels)):
        raise FormatError(f"has values of {one['name']!r} without a label")
    return Column(str(one["name"]), values, labels, arrays[f"missing {i}"] if one["missing"] else None)


def plain(label: Label) -> object:
    return label.item() if isinstance(label, np.generic) else label
