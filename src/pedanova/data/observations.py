"""Observations: the columns of the parameters, the objective and the space. No input or output."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pedanova.data.cells import cells_of
from pedanova.data.column import Column, Mask, shorten, take
from pedanova.data.conditions import infer_conditions, place_columns
from pedanova.data.guess import infer_space, note_on_states
from pedanova.data.objectives import Goal
from pedanova.data.records import Records
from pedanova.data.regions import Direction
from pedanova.errors import DataError, QueryError, SpaceError, listed, unknown_name
from pedanova.space.grid import grid_of
from pedanova.space.parameters import (
    Categorical,
    Float,
    Int,
    Moving,
    Ordinal,
    Parameter,
    Space,
    Switch,
    as_space,
)

OutsidePolicy = Literal["error", "count"]
MARKS = (
    "params_",
    "params.",
    "config.",
    "config/",
    "config:",
    "hparams.",
    "hparams/",
)  # before a setting's name


@dataclass(frozen=True, slots=True, eq=False)
class Observations:
    """What is counted: parameters, objective, space. The columns are never changed."""

    columns: Mapping[str, Column]  # one for each parameter of the space, ready to be counted
    goals: tuple[Goal, ...]
    space: Space
    table: Mapping[str, Column]  # every column of the source, for conditions and boxes
    notes: tuple[str, ...] = ()
    order: NDArray[Any] | None = None  # what the rows are ordered by, if not the one objective; NaN = worst
    keep: Mask | None = None  # rows that count; None = all
    restricted: bool = False  # rows were chosen by their place, so they do not stand for the whole space

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


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """Columns told apart: parameters and their space."""

    columns: Mapping[str, Column]
    space: Space
    notes: tuple[str, ...]


def choose_columns(
    records: Records,
    goals: tuple[Goal, ...],
    *,
    space: Space | Mapping[str, Parameter] | None = None,
    params: Iterable[str] | None = None,
    exclude: Iterable[str] | None = None,
    keep: Mask | None = None,
    conditions: bool = True,
) -> Chosen:
    """Tell the parameters from the rest, and find or check the space; `keep`: the rows to guess from.

    A space without its `conditions` has them inferred.
    """
    own = {goal.column for goal in goals if goal.column is not None}
    names = _choose(records, own, space=space, params=params, exclude=exclude)
    if space is not None:
        found, notes = _given_space(
            records, names, own, as_space(space), all_used=params is None and exclude is None
        )
        if not conditions:
            found, more = infer_conditions(found, _kept(records, names, keep))
            notes += more
    elif params is not None:
        found, notes = _guessed_space(records, names, keep, asked=frozenset(names))
    else:
        names, gone = _likely(records, names, goals)
        found, notes = _guessed_space(records, names, keep)
        notes += gone
    if not found:
        raise DataError(_no_parameter(records, own, notes if space is None else []))
    _check_grids(found)
    placed, more = place_columns(found, {key: records.columns[key] for key in found}, records.columns)
    return Chosen(placed, found, (*records.notes, *notes, *more))


def _given_space(
    records: Records, names: list[str], own: set[str], space: Space, *, all_used: bool
) -> tuple[Space, list[str]]:
    check_countable({name: records.columns[name] for name in names})
    unused = [name for name in records.columns if name not in names and name not in own]
    notes = [f"not in the space and left out: {listed(unused)}"] if unused and all_used else []
    return Space({name: space[name] for name in names}), notes


def _guessed_space(
    records: Records, names: list[str], keep: Mask | None, *, asked: frozenset[str] = frozenset()
) -> tuple[Space, list[str]]:
    known = _kept(records, names, keep)
    space, notes = infer_space(known, asked=asked)
    space, conditions = infer_conditions(space, known)
    return space, [*notes, *conditions]


def _kept(records: Records, names: list[str], keep: Mask | None) -> Mapping[str, Column]:
    """These columns, the rows to guess from alone."""
    columns = {name: records.columns[name] for name in names}
    return columns if keep is None or keep.all() else take(columns, np.flatnonzero(keep))


def _likely(records: Records, names: list[str], goals: tuple[Goal, ...]) -> tuple[list[str], list[str]]:
    """The columns that are settings by their looks, and notes on those that are not."""
    twins = [goal.twin for goal in goals if goal.twin in names]
    notes = [f"{name}: holds the very numbers of the objective; left out" for name in twins]
    rest = [name for name in names if name not in twins]
    settings = marked(rest)
    others = [name for name in rest if name not in settings] if settings else []
    if not others:
        return rest, notes
    notes.append(f"names such as {settings[0]!r} mark the parameters; left out: {listed(others)}")
    notes += [f"{name}: {note}" for name in others if (note := note_on_states(records.columns[name]))]
    return settings, notes


def marked(names: list[str]) -> list[str]:
    """Columns whose names say that they are settings, as trackers write them."""
    for prefix in MARKS:
        found = [name for name in names if name.startswith(prefix)]
        if len(found) > 1:
            return found
    return []


def _check_grids(space: Space) -> None:
    """A domain that cannot be cut into cells is refused by the name of its parameter."""
    for name, parameter in space.items():
        try:
            grid_of(parameter)
        except SpaceError as error:
            raise SpaceError(f"{name}: {error}") from None


def check_countable(columns: Mapping[str, Column]) -> None:
    """Dates and durations have no place on a grid, whatever the space says."""
    for name, column in columns.items():
        if column.is_time:
            raise DataError(f"{name}: dates or durations cannot be counted; turn them into numbers or text")


def _no_parameter(records: Records, own: set[str], notes: list[str]) -> str:
    if set(records.columns) <= own:
        beside = "".join(f" {name!r}" for name in sorted(own))
        return f"the table has no column beside the objective{beside}; add the hyperparameters"
    if not notes:
        return f"space= and exclude= leave none of {len(records.columns)} columns; keep one at least"
    most = "; ".join(notes[:3]) + (f"; and {len(notes) - 3} more" if len(notes) > 3 else "")
    return f"no column can serve as a parameter ({most}); name some in params="


def _choose(
    records: Records,
    own: set[str],
    *,
    space: Space | Mapping[str, Parameter] | None,
    params: Iterable[str] | None,
    exclude: Iterable[str] | None,
) -> list[str]:
    """The names of the columns to use, in the order of the space or the table."""
    listed_params = _names(params, "params")
    listed_exclude = _names(exclude, "exclude")
    if params is not None and not listed_params:
        raise QueryError(f"params={params!r} names no column; leave it out to use all of them")
    known = tuple(records.columns)
    for name in [*listed_params, *listed_exclude, *(as_space(space) if space is not None else ())]:
        if name not in records.columns:
            raise DataError(unknown_name(name, known, what="column"))
    both = own & set(listed_params)
    if both:
        raise QueryError(f"params= names the objective {min(both)!r}; a column cannot be both")
    start = list(as_space(space)) if space is not None else [n for n in known if n not in own]
    if space is not None and own & set(start):
        raise SpaceError(f"the space holds the objective {min(own & set(start))!r}; take it out")
    strangers = [name for name in listed_params if name not in start]
    if strangers:
        raise SpaceError(f"params= names {listed(strangers)}, not in the space; add it there")
    wanted = set(listed_params or start) - set(listed_exclude)
    return [name for name in start if name in wanted]


def _names(names: Iterable[str] | None, argument: str) -> list[str]:
    if names is None:
        return []
    if isinstance(names, str):
        return [names]
    if not isinstance(names, Iterable):
        raise QueryError(f"{argument}={names!r} must be a list of column names")
    given = list(names)
    for name in given:
        if not isinstance(name, str):
            raise QueryError(f"{argument}= holds {name!r}; column names are text, such as {str(name)!r}")
    return given


def describe_outside(column: Column, placed: Column, parameter: Parameter) -> str:
    """Which row of a column breaks the space first, and how; `placed` is the column as counted."""
    grid = grid_of(parameter)
    cells = cells_of(placed, grid)
    rows = np.flatnonzero(cells == grid.outside)
    row = int(rows[0])
    value = column.value_at(row)
    many = f" ({len(rows)} rows in all)" if len(rows) > 1 else ""
    return (
        f"{column.name}: row {row} has {shorten(value)}, {_rule(parameter, value)}{many}; "
        "widen the space, or pass outside='count' to count such rows apart"
    )


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
            return f"not in the domain that {parameter.by} chooses"
        case Ordinal():
            return f"not one of {listed([str(value) for value in parameter.values])}"
