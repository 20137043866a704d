"""Observations: the columns of the parameters, the objective and the space. No input or output."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pedanova.base.notes import Note
from pedanova.data.cells import cells_of
from pedanova.data.column import Column, Mask, shorten
from pedanova.data.objectives import Goal
from pedanova.data.origin import Origin
from pedanova.data.regions import Direction
from pedanova.errors import DataError, listed
from pedanova.space.grid import grid_of
from pedanova.space.parameters import Categorical, Float, Int, Moving, Ordinal, Parameter, Space, Switch

OutsidePolicy = Literal["error", "count"]


@dataclass(frozen=True, slots=True, eq=False)
class Observations:
    """What is counted: parameters, objective, space. The columns are never changed."""

    columns: Mapping[str, Column]  # one for each parameter of the space, ready to be counted
    goals: tuple[Goal, ...]
    space: Space
    table: Mapping[str, Column]  # every column of the source, for conditions and boxes
    notes: tuple[Note, ...] = ()
    order: NDArray[Any] | None = None  # what the rows are ordered by, if not the one objective; NaN = worst
    keep: Mask | None = None  # rows that count; None = all
    idle: frozenset[str] = frozenset()  # parameters whose condition holds in no row
    restricted: bool = False  # rows were picked out of these, so they do not stand for the whole space
    picked: frozenset[str] = frozenset()  # columns of a condition that left rows out beforehand
    trials: NDArray[Any] | None = None  # (rows,) number of the trial, where it is known
    origin: Origin | None = None  # the table before rows were set aside; None where some were picked since

    def __len__(self) -> int:
        return len(self.goals[0].values)

    @property
    def objective(self) -> NDArray[Any]:
        """(rows,) What is summed: the objective, or the order of several."""
        return self.goals[0].values if len(self.goals) == 1 else self.ranked

    @property
    def ranked(self) -> NDArray[Any]:
        """(rows,) What levels are cut from."""
        return self.goals[0].values if self.order is None else self.order

    @property
    def name(self) -> str:
        return ", ".join(goal.name for goal in self.goals)

    @property
    def direction(self) -> Direction:
        """Of `ranked`: the order of several objectives is best first."""
        return self.goals[0].direction if len(self.goals) == 1 else "minimize"


def check_countable(columns: Mapping[str, Column]) -> None:
    """Dates and durations have no place on a grid, whatever the space says."""
    for name, column in columns.items():
        if column.is_time:
            raise DataError(f"{name}: dates or durations cannot be counted; turn them into numbers or text")


def describe_outside(column: Column, placed: Column, parameter: Parameter) -> str:
    """Which row of a column breaks the space first, and how; `placed` is the column as counted."""
    grid = grid_of(parameter)
    cells = cells_of(placed, grid)
    rows = np.flatnonzero(cells == grid.outside)
    row = int(rows[0])
    value = column.value_at(row)
    return f"row {row} has {shorten(value)}, {_rule(parameter, value)}"


def _number(value: object) -> float:
    """The number that a value or its text stands for; NaN if none."""
    try:
        return float(str(value))
    except ValueError:
        return math.nan


def _rule(parameter: Parameter, value: object) -> str:
    match parameter:
        case Float(low, high) | Int(low, high):
            number = _number(value)
            if math.isnan(number):
                return f"not a number between low={low:g} and high={high:g}"
            if number < low:
                return f"below low={low:g}"
            if number > high:
                return f"above high={high:g}"
            step = parameter.step if isinstance(parameter, Int) else 0
            return f"not on the lattice {low:g}, {low + step:g}, … {high:g}"
        case Categorical(choices):
            return f"not one of {listed([str(choice) for choice in choices])}"
        case Moving(low, high):
            return f"not between its bounds {low} and {high}"
        case Switch():
            return f"not in the domain that {parameter.by} chooses" if parameter.by else "in none of its domains"
        case Ordinal():
            return f"not one of {listed([str(value) for value in parameter.values])}"
