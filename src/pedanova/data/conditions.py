"""Parameters that exist only under others, or whose domain is not the same in every row.

`place_columns` turns such columns into plain ones: inactive rows become missing values, moving
bounds become positions between 0 and 1, and several domains become cells of one joint grid.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.data.cells import cells_of, coded, equals_any
from pedanova.data.column import Column, Mask, some
from pedanova.errors import DataError, SpaceError, unknown_name
from pedanova.space.grid import ROUNDING, grid_of
from pedanova.space.parameters import Categorical, Moving, Ordinal, Parameter, Space, Switch, parents_first
from pedanova.space.values import Label

Reals = NDArray[np.float64]
MOST_PARENT_VALUES = 50
ROWS_A_VALUE = 4  # a column of fewer rows a value explains any gap by chance
FEW_ROWS = 20  # a regime smaller than this is told in the notes


def place_columns(
    space: Space, columns: Mapping[str, Column], table: Mapping[str, Column]
) -> tuple[dict[str, Column], list[str]]:
    """Columns ready to be counted, and what was found on the way. Parents come before children."""
    placed: dict[str, Column] = {}
    known = dict(table)  # parents as the table has them, then as they count
    notes: list[str] = []
    for name in parents_first(space):
        column, parameter = columns[name], space[name]
        if parameter.when:
            column = _silenced(column, parameter, known, notes)
        known[name] = column
        if isinstance(parameter, Moving):
            column = _positions(column, parameter, table, notes)
        elif isinstance(parameter, Switch):
            column = _joined(column, parameter, known, notes)
            idle = column.values == grid_of(parameter).missing
            known[name] = replace(known[name], missing=some(idle))
        placed[name] = column
    return {name: placed[name] for name in space}, notes


def column_named(name: str, table: Mapping[str, Column], *, needed_by: str) -> Column:
    if name not in table:
        raise SpaceError(f"{needed_by}: {unknown_name(name, tuple(table), what='column')}")
    return table[name]


def _silenced(column: Column, parameter: Parameter, table: Mapping[str, Column], notes: list[str]) -> Column:
    """The column with no value wherever a condition does not hold."""
    active = np.ones(len(column), dtype=bool)
    for parent, values in parameter.when:
        active &= equals_any(column_named(parent, table, needed_by=column.name), values)
    absent = column.absent()
    idle, lacking = int(np.sum(~active & ~absent)), int(np.sum(active & absent))
    if idle:
        notes.append(f"{column.name}: {idle:,} rows have a value where it is inactive; taken as inactive")
    if lacking:
        notes.append(f"{column.name}: {lacking:,} rows have no value where it is active; counted as inactive")
    if not active.any():
        raise SpaceError(
            f"{column.name}: its condition {in_words(parameter)} holds in no row; check the values"
        )
    return replace(column, missing=some(~active | absent))


def in_words(parameter: Parameter) -> str:
    return " and ".join(
        f"{parent} is {' or '.join(repr(value) for value in values)}" for parent, values in parameter.when
    )


def _positions(column: Column, parameter: Moving, table: Mapping[str, Column], notes: list[str]) -> Column:
    """Where each value lies between its own bounds, 0 to 1; NaN where there is no value."""
    values = as_reals(column)
    low, high = (_bound(bound, column, table) for bound in (parameter.low, parameter.high))
    _check_bounds(column.name, low, high, ~np.isnan(values), log=parameter.log)
    with np.errstate(invalid="ignore", divide="ignore"):
        if parameter.log:  # a value below 0 lies below every bound
            values, low, high = np.log(np.maximum(values, 0.0)), np.log(low), np.log(high)
        width = high - low
        position = (values - low) / width
    fixed = (width == 0) & (np.abs(values - low) <= ROUNDING * np.abs(low))
    if fixed.any():
        notes.append(f"{column.name}: {int(fixed.sum()):,} rows leave it no freedom; taken as the middle")
        position = np.where(fixed, 0.5, position)
    notes.append(f"{column.name}: bounds differ by row; each value is taken as its position between its own")
    slack = 4 * ROUNDING
    position = np.where((position < 0) & (position >= -slack), 0.0, position)
    position = np.where((position > 1) & (position <= 1 + slack), 1.0, position)
    return Column(column.name, position, None, column.missing)


def _check_bounds(name: str, low: Reals, high: Reals, active: Mask, *, log: bool) -> None:
    """Bounds of every row with a value must be finite and in order."""
    if log and np.any(low[active] <= 0):
        raise SpaceError(f"{name}: a lower bound is not above 0 on a log scale; pass log=False")
    for wrong, rule in (
        (~(np.isfinite(low) & np.isfinite(high)), "a bound that is not finite"),
        (low > high, "its lower bound above the upper one"),
    ):
        rows = np.flatnonzero(wrong & active)
        if len(rows):
            raise SpaceError(f"{name}: row {int(rows[0])} has {rule}; mend the bounds")


def _bound(bound: float | str, column: Column, table: Mapping[str, Column]) -> NDArray[np.float64]:
    if not isinstance(bound, str):
        return np.full(len(column), float(bound))
    numbers = as_reals(column_named(bound, table, needed_by=column.name))
    gone = np.flatnonzero(np.isnan(numbers) & ~column.absent())
    if len(gone):
        raise DataError(
            f"{column.name}: row {int(gone[0])} has no bound in {bound!r}; fill it or drop the row"
        )
    return numbers


def as_reals(column: Column) -> NDArray[np.float64]:
    if column.labels is not None or column.is_time:
        raise DataError(f"{column.name}: holds text or dates where numbers are needed")
    values: NDArray[np.float64] = column.values.astype(np.float64)
    return np.where(column.missing, np.nan, values) if column.missing is not None else values


def _joined(column: Column, parameter: Switch, table: Mapping[str, Column], notes: list[str]) -> Column:
    """Cells of the joint grid: in each row those of the domain that its switch chooses."""
    grid = grid_of(parameter)
    by = column_named(parameter.by, table, needed_by=column.name)
    absent = column.absent()
    cells = np.full(len(column), grid.missing, dtype=np.int32)
    idle = np.ones(len(column), dtype=bool)
    for domain, block in zip(parameter.regimes, grid.blocks, strict=True):
        chosen = equals_any(by, tuple(value for value, other in parameter.domains if other == domain))
        own = cells_of(column, grid_of(domain))
        width = block.stop - block.start
        here = np.where(own < width, own + block.start, np.where(absent, grid.missing, grid.outside))
        cells = np.where(chosen, here, cells).astype(np.int32)
        idle &= ~chosen
        if 0 < chosen.sum() < FEW_ROWS:
            notes.append(
                f"{column.name}: its domain {domain} has only {int(chosen.sum())} rows; its part is rough"
            )
    if np.any(idle & ~absent):
        many = int(np.sum(idle & ~absent))
        notes.append(f"{column.name}: {many:,} rows have a value where it is inactive; taken as inactive")
    return Column(column.name, cells, None, None, located=True)


def infer_conditions(space: Space, columns: Mapping[str, Column]) -> tuple[Space, list[str]]:
    """Conditions read off the rows: a column that is missing exactly where a parent has certain values.

    Parameters that have a condition keep it.
    """
    absent = {name: columns[name].absent() for name in space}
    gappy = [name for name in space if absent[name].any() and not space[name].when]
    if not gappy:
        return space, []
    candidates = {name: _as_parent(columns[name], space[name]) for name in space}
    parents = {name: parent for name, parent in candidates.items() if parent is not None}
    found, notes = dict(space), []
    for name in gappy:
        condition = _find_condition(name, absent, parents)
        if condition is None:
            continue
        found[name] = replace(space[name], when=(condition,))  # type: ignore[arg-type]
        notes.append(
            f"{name}: taken as active only when {in_words(found[name])}, for it is missing otherwise"
        )
    return Space(found), notes


def _as_parent(column: Column, parameter: Parameter) -> tuple[NDArray[Any], tuple[Label, ...]] | None:
    """Codes and values of a column that could decide over others: one with few values."""
    if not isinstance(parameter, Categorical | Ordinal) and not _few_values(column):
        return None
    column = column if column.is_coded else coded(column)
    labels = column.labels or ()
    most = min(MOST_PARENT_VALUES, len(column) // ROWS_A_VALUE)
    return (column.values, labels) if 1 < len(labels) <= most else None


def _few_values(column: Column) -> bool:
    sample = column.values[:: max(1, len(column) // 1000)]
    if column.values.dtype.kind not in "biuf" or column.is_coded:
        return False
    present = np.unique(sample[~np.isnan(sample)] if sample.dtype.kind == "f" else sample)
    return len(present) <= MOST_PARENT_VALUES and bool(np.all(present == np.floor(present)))


def _find_condition(
    name: str, absent: Mapping[str, Mask], parents: Mapping[str, tuple[NDArray[Any], tuple[Label, ...]]]
) -> tuple[str, tuple[Label, ...]] | None:
    """The first parent, fewest values first, that tells present from missing without exception."""
    for parent, (codes, labels) in sorted(parents.items(), key=lambda item: len(item[1][1])):
        if parent == name:
            continue
        total = np.bincount(codes + 1, minlength=len(labels) + 1)
        gone = np.bincount(codes + 1, weights=absent[name], minlength=len(labels) + 1)
        settled = np.all((gone == 0) | (gone == total))
        never_without = gone[0] == total[0]  # a missing parent leaves its children missing
        values = tuple(label for i, label in enumerate(labels) if total[i + 1] and gone[i + 1] == 0)
        decides = gone[1:].any()  # else both are missing together: brothers, not parent and child
        if settled and never_without and values and decides:
            return parent, values
    return None
