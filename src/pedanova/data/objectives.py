"""The objective or objectives: columns, arrays or a condition, each with its direction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.base.notes import Note
from pedanova.data.column import Column, Mask, as_column
from pedanova.data.regions import Direction, sign_of
from pedanova.data.row_selection import columns_in, rows_where
from pedanova.data.text_numbers import as_numbers
from pedanova.errors import Arg, DataError, QueryError, listed, unknown_name

DIRECTIONS: dict[str, Direction] = {
    "minimize": "minimize", "min": "minimize", "minimise": "minimize",
    "maximize": "maximize", "max": "maximize", "maximise": "maximize",
}  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Goal:
    """One objective."""

    name: str
    values: NDArray[Any]  # (rows,) numbers of any type
    direction: Direction
    column: str | None  # the column of the table that it is, if it is one
    twin: str | None = None  # for an array: a column with the very same numbers
    made_of: tuple[str, ...] = ()  # the columns that it compares, if it is a condition

    @property
    def sign(self) -> float:
        return sign_of(self.direction)


def read_goals(
    table: Mapping[str, Column], rows: int, objective: object, direction: object, *, decimal: str | None = None
) -> tuple[Goal, ...]:
    """One goal for each objective; a list of names is several."""
    if objective is None:
        raise QueryError(Arg("objective"), f" is missing; name one of the columns: {listed(list(table), most=40)}")
    many = isinstance(objective, list | tuple) and bool(objective) and all(isinstance(o, str) for o in objective)
    objectives = list(objective) if many else [objective]  # type: ignore[call-overload]
    if len(set(map(id, objectives))) < len(objectives) or (many and len(set(objectives)) < len(objectives)):
        raise QueryError(Arg("objective", objective), " repeats a name; give each once")
    directions = as_directions(direction, len(objectives))
    return tuple(_read_goal(table, rows, o, d, decimal) for o, d in zip(objectives, directions, strict=True))


def as_directions(direction: object, count: int) -> list[Direction]:
    if isinstance(direction, Sequence) and not isinstance(direction, str):
        if len(direction) != count:
            raise QueryError(Arg("direction", direction), f" must give one direction for each of {count} objectives")
        return [as_direction(one) for one in direction]
    return [as_direction(direction)] * count


def as_direction(direction: object) -> Direction:
    if isinstance(direction, str) and direction in DIRECTIONS:
        return DIRECTIONS[direction]
    raise QueryError(Arg("direction", direction), " must be 'minimize' or 'maximize' ('min' or 'max')")


def _read_goal(
    table: Mapping[str, Column], rows: int, objective: object, direction: Direction, decimal: str | None
) -> Goal:
    if isinstance(objective, str):
        if objective in table:
            return Goal(objective, _as_numbers(table[objective], decimal), direction, objective)
        if not any(sign in objective for sign in "=<>") and " in " not in objective:
            raise DataError(unknown_name(objective, tuple(table), what="column"))
        holds = rows_where(objective, table).view(np.uint8)
        return Goal(objective, holds, direction, None, made_of=tuple(columns_in(objective, table)))
    column = as_column("objective", objective)
    if table and len(column) != rows:
        raise DataError(f"objective has {len(column)} rows but the table has {rows}; they must match")
    twin = next((name for name, other in table.items() if _is_same(other, column)), None)
    return Goal("objective", _as_numbers(column, decimal), direction, None, twin)


def _is_same(one: Column, other: Column) -> bool:
    """The very same numbers: an objective given as an array that is a column of the table too."""
    if one.values.dtype != other.values.dtype or one.labels is not None or len(one) < 2:
        return False
    floats = one.values.dtype.kind == "f"
    return bool(one.values[0] == other.values[0]) and np.array_equal(one.values, other.values, equal_nan=floats)


def _as_numbers(column: Column, decimal: str | None) -> NDArray[Any]:
    name = column.name
    if len(column) == 0:
        raise DataError(f"{name}: there are no rows; give at least two")
    numbers = as_numbers(column, decimal=decimal)
    if numbers is not None:
        column = numbers[0]
    if column.labels is not None:
        shown = listed([str(label) for label in column.labels], most=3)
        content = f"text ({shown})" if column.labels else f"no value in {len(column)} rows"
        raise DataError(
            f"objective {name!r} holds {content}; it must hold numbers, or be compared: \"{name} == 'good'\""
        )
    if column.is_time:
        raise DataError(f"objective {name!r} holds dates or durations; turn them into numbers")
    if column.missing is None:
        return column.values.view(np.uint8) if column.values.dtype == bool else column.values
    return np.where(column.missing, np.nan, column.values.astype(np.float64))


LEAST = 20  # different objectives: fewer may be in one order by chance
MOST_ROWS = 100_000  # looked at
A_LOOK = 100  # rows that mostly suffice to see that a column is none


def result_like_notes(
    names: Iterable[str], columns: Mapping[str, Column], goals: Iterable[Goal], keep: Mask | None
) -> list[Note]:
    """A warning on every parameter that an objective tells without exception, or that tells it."""
    notes = []
    for name in names:
        for goal in goals:
            if follows(columns[name], goal.values, keep):
                words = f"goes with {goal.name} in every row, as another form of it would; exclude it if it is a result"
                notes.append(Note("doubt", words, subject=name))
                break
    return notes


def follows(column: Column, objective: NDArray[Any], keep: Mask | None) -> bool:
    """Whether one is a strictly rising or falling function of the other, seen from up to 100,000 rows."""
    if column.labels is not None or column.values.dtype.kind not in "iuf":
        return False
    for most in (A_LOOK, MOST_ROWS):  # what holds of all rows holds of some
        rows = slice(None, None, max(1, len(objective) // most))
        values, goal = (array[rows].astype(np.float64) for array in (column.values, objective))
        both = np.isfinite(values) & np.isfinite(goal)
        both &= True if column.missing is None else ~column.missing[rows]
        both &= True if keep is None else keep[rows]
        values, goal = values[both], goal[both]
        order = np.argsort(goal, kind="stable")
        with np.errstate(over="ignore", invalid="ignore"):
            up, along = np.diff(goal[order]) > 0, np.diff(values[order])
        # values rise, or fall, just where the goal rises
        if not np.array_equal(along != 0, up) or not ((along >= 0).all() or (along <= 0).all()):
            return False
    return len(goal) >= LEAST and 2 * len(goal) >= len(objective[rows]) and len(np.unique(goal)) >= LEAST
