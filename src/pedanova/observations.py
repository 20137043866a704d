"""Observations: the columns of the parameters, the objective and the space. No input or output."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from pedanova.column import Column, as_column, shorten
from pedanova.errors import DataError, QueryError, SpaceError, listed, unknown_name
from pedanova.grid import cells_of, grid_of
from pedanova.infer import infer_space
from pedanova.regions import Direction
from pedanova.space import Categorical, Float, Int, Parameter, Space, as_space

OutsidePolicy = Literal["error", "count"]


@dataclass(frozen=True, slots=True, eq=False)
class Records:
    """A table as a source gave it: columns by name, not yet told apart."""

    columns: Mapping[str, Column]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        lengths = {name: len(column) for name, column in self.columns.items()}
        if len(set(lengths.values())) > 1:
            (first, rows), *rest = lengths.items()
            other, others = next((n, r) for n, r in rest if r != rows)
            raise DataError(f"{first} has {rows} rows but {other} has {others}; every column needs the same")

    @property
    def rows(self) -> int:
        return len(next(iter(self.columns.values()))) if self.columns else 0


@dataclass(frozen=True, slots=True, eq=False)
class Observations:
    """What is counted: parameters, objective, space. The columns are never changed."""

    columns: Mapping[str, Column]  # one for each parameter of the space
    objective: NDArray[Any]  # (rows,) numbers of any type
    objective_name: str
    direction: Direction
    space: Space
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.objective)


def observe(
    records: Records,
    *,
    objective: object,
    direction: str = "minimize",
    space: Space | Mapping[str, Parameter] | None = None,
    params: Iterable[str] | None = None,
    exclude: Iterable[str] | None = None,
) -> Observations:
    """Tell the objective from the parameters, and find or check the space."""
    name, numbers = _objective(records, objective)
    own = objective if isinstance(objective, str) else None
    chosen = _choose(records, own, space=space, params=params, exclude=exclude)
    columns = {key: records.columns[key] for key in chosen}
    if space is None:
        asked = frozenset() if params is None else frozenset(chosen)
        found, notes = infer_space(columns, asked=asked)
    else:
        found, notes = as_space(space), []
        found = Space({key: found[key] for key in chosen})
        check_countable(columns)
        unused = [key for key in records.columns if key not in found and key != own]
        if unused and params is None and exclude is None:
            notes.append(f"not in the space and left out: {listed(unused)}")
    if not found:
        raise DataError(_no_parameter(records, name, notes if space is None else []))
    return Observations(
        columns={key: columns[key] for key in found},
        objective=numbers,
        objective_name=name,
        direction=as_direction(direction),
        space=found,
        notes=(*records.notes, *notes),
    )


def as_direction(direction: object) -> Direction:
    if isinstance(direction, str) and direction in get_args(Direction):
        return direction  # type: ignore[return-value]
    raise QueryError(f"direction={direction!r} must be 'minimize' or 'maximize'")


def check_countable(columns: Mapping[str, Column]) -> None:
    """Dates and durations have no place on a grid, whatever the space says."""
    for name, column in columns.items():
        if column.is_time:
            raise DataError(f"{name}: dates or durations cannot be counted; turn them into numbers or text")


def _no_parameter(records: Records, objective: str, notes: list[str]) -> str:
    if set(records.columns) <= {objective}:
        return f"the table has no column beside the objective {objective!r}; add the hyperparameters"
    if not notes:
        return f"space= and exclude= leave none of {len(records.columns)} columns; keep one at least"
    most = "; ".join(notes[:3]) + (f"; and {len(notes) - 3} more" if len(notes) > 3 else "")
    return f"no column can serve as a parameter ({most}); name some in params="


def _objective(records: Records, objective: object) -> tuple[str, NDArray[Any]]:
    if objective is None:
        raise QueryError(f"objective= is missing; name one of the columns: {listed(list(records.columns))}")
    if isinstance(objective, str):
        if objective not in records.columns:
            raise DataError(unknown_name(objective, tuple(records.columns), what="column"))
        column = records.columns[objective]
    else:
        column = as_column("objective", objective)
        if records.columns and len(column) != records.rows:
            raise DataError(
                f"objective has {len(column)} rows but the table has {records.rows}; they must match"
            )
    return column.name, _as_objective(column)


def _as_objective(column: Column) -> NDArray[Any]:
    name = column.name
    if len(column) == 0:
        raise DataError(f"{name}: there are no rows; give at least two")
    if column.labels is not None:
        shown = listed([str(label) for label in column.labels], most=3)
        held = f"text ({shown})" if column.labels else f"no value in {len(column)} rows"
        raise DataError(f"objective {name!r} holds {held}; it must hold numbers")
    if column.is_time:
        raise DataError(f"objective {name!r} holds dates or durations; turn them into numbers")
    if column.missing is None:
        return column.values.view(np.uint8) if column.values.dtype == bool else column.values
    return np.where(column.missing, np.nan, column.values.astype(np.float64))


def _choose(
    records: Records,
    objective: str | None,
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
    if objective in listed_params:
        raise QueryError(f"params= names the objective {objective!r}; a column cannot be both")
    start = list(as_space(space)) if space is not None else [n for n in known if n != objective]
    if space is not None and objective in start:
        raise SpaceError(f"the space holds the objective {objective!r}; take it out")
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


def describe_outside(column: Column, parameter: Parameter) -> str:
    """Which row breaks the space first, and how."""
    grid = grid_of(parameter)
    cells = cells_of(column, grid)
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
        case _:
            return f"not one of {listed([str(value) for value in parameter.values])}"
