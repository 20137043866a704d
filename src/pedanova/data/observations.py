"""Observations: columns of parameters, objectives and the space of a table, ready to be counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.base.files import Attachment
from pedanova.base.notes import Note
from pedanova.data.column import Column, Mask, cells_of
from pedanova.data.conditions import place_columns
from pedanova.data.objectives import Goal, as_direction
from pedanova.data.regions import Direction
from pedanova.data.table_options import Origin
from pedanova.errors import Arg, DataError, FormatError
from pedanova.space.grid import grid_of
from pedanova.space.parameters import Parameter, Space, Switch, in_words
from pedanova.space.values import Label, shown


@dataclass(frozen=True, slots=True, eq=False)
class Observations:
    """The data to be counted: parameters, objectives and space. The columns are never changed."""

    columns: Mapping[str, Column]  # one for each parameter of the space, ready to be counted
    goals: tuple[Goal, ...]
    space: Space
    table: Mapping[str, Column]  # every column of the source, for conditions and boxes
    notes: tuple[Note, ...] = ()
    order: NDArray[Any] | None = None  # the order of the rows if it is not that of one objective; NaN = worst
    keep: Mask | None = None  # rows that count; None = all
    idle: frozenset[str] = frozenset()  # parameters whose condition is true in no row
    restricted: bool = False  # whether rows were selected, so that they do not represent the whole space
    trials: NDArray[Any] | None = None  # (rows,) the trial number, if it is known
    ended: NDArray[np.uint8] | None = None  # (rows,) how each trial ended, as an index of `row_status.ENDINGS`
    default: Mapping[str, Label] = field(default_factory=dict)  # the tool's default of each parameter
    designed: bool = False  # whether `next_trials` proposed some trials, which are not evenly spread
    origin: Origin | None = None  # the table before rows were dropped; None if rows were selected later

    def __len__(self) -> int:
        return len(self.goals[0].values)

    @property
    def objective(self) -> NDArray[Any]:
        """The objective of each row; with several objectives, the rank by Pareto front."""
        return self.goals[0].values if len(self.goals) == 1 else self.ranked

    @property
    def ranked(self) -> NDArray[Any]:
        """The number that ranks each row: its objective or its Pareto rank; NaN if the row counts as the worst."""
        return self.goals[0].values if self.order is None else self.order

    @property
    def name(self) -> str:
        return ", ".join(goal.name for goal in self.goals)

    @property
    def direction(self) -> Direction:
        """``"minimize"`` if lower values of `ranked` are better, as for Pareto ranks; otherwise ``"maximize"``."""
        return self.goals[0].direction if len(self.goals) == 1 else "minimize"


def describe_outside(column: Column, placed: Column, parameter: Parameter) -> str:
    """Describe the first row with a value outside the space; `placed` is the column that `place_columns` returned."""
    grid = grid_of(parameter)
    row = int(np.argmax(cells_of(placed, grid) == grid.outside))
    rule = in_words(parameter, digits=6)
    if isinstance(parameter, Switch) and parameter.by:
        rule = f"its domain for this value of {parameter.by}"
    return f"row {row} has {shown(column.value_at(row))}, outside {rule}"


MOST_ROWS = 1_000_000
PER_ROW = ("order", "keep", "trials", "ended")
KINDS = {"column": "biufM", "missing": "b", "keep": "b"}  # of arrays in a file; others hold numbers


def rows_kept(observed: Observations) -> Attachment:
    """Convert all rows and columns to a section of a saved file."""
    if len(observed) > MOST_ROWS:
        raise DataError(
            f"a file holds at most {MOST_ROWS:,} rows, not {len(observed):,}; leave out ", Arg("rows", True)
        )
    arrays: dict[str, NDArray[Any]] = {}
    columns = []
    for i, (name, column) in enumerate(observed.table.items()):
        arrays[f"column {i}"] = column.values
        if column.missing is not None:
            arrays[f"missing {i}"] = column.missing
        columns.append({"name": name, "labels": column.labels, "missing": column.missing is not None})
    goals = []
    for i, goal in enumerate(observed.goals):
        arrays[f"goal {i}"] = goal.values
        goals.append(
            {"name": goal.name, "direction": goal.direction, "column": goal.column, "made_of": list(goal.made_of)}
        )
    for name in PER_ROW:
        array = getattr(observed, name)
        if array is not None:
            arrays[name] = array
    about = {
        "rows": len(observed),
        "columns": columns,
        "goals": goals,
        "restricted": observed.restricted,
        "designed": observed.designed,
    }
    return Attachment(about, arrays)


def rows_from(attachment: Attachment, space: Space) -> Observations:
    """Read and check the section that `rows_kept` made."""
    about, arrays = attachment.header, attachment.arrays
    rows = about["rows"]
    for name, array in arrays.items():
        if array.shape != (rows,) or array.dtype.kind not in KINDS.get(name.split()[0], "biuf"):
            raise FormatError("has columns with the wrong length or type")
    table: dict[str, Column] = {}
    for i, one in enumerate(about["columns"]):
        name, values = str(one["name"]), arrays[f"column {i}"]
        labels: tuple[Label, ...] | None = None if one["labels"] is None else tuple(one["labels"])
        if any(not isinstance(label, str | int | float) for label in labels or ()):
            raise FormatError(f"has a label that is no text or number in the column {name!r}")
        if labels is not None and (values.dtype.kind not in "iu" or int(values.max(initial=-1)) >= len(labels)):
            raise FormatError(f"has a code without a label in the column {name!r}")
        table[name] = Column(name, values, labels, arrays[f"missing {i}"] if one["missing"] else None)
    missing = [name for name in space if name not in table]
    if missing:
        raise FormatError(f"has rows without the column {missing[0]!r}")
    goals = tuple(
        Goal(
            str(one["name"]),
            arrays[f"goal {i}"],
            as_direction(one["direction"]),
            one["column"],
            made_of=tuple(one["made_of"]),
        )
        for i, one in enumerate(about["goals"])
    )
    if not goals:
        raise FormatError("has rows without an objective")
    placed, notes, idle = place_columns(space, {name: table[name] for name in space}, table)
    more: dict[str, Any] = {"designed": bool(about.get("designed", False))} | {
        name: arrays[name] for name in PER_ROW if name in arrays
    }
    return Observations(
        placed, goals, space, table, tuple(notes), idle=idle, restricted=bool(about["restricted"]), **more
    )
