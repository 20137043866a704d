"""Tables of single rows with their parameters and objectives, best first."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.base.table import Cell, Table
from pedanova.data.column import Column, as_numbers, take, values_in
from pedanova.data.observations import PER_ROW, Observations
from pedanova.data.records import free_name
from pedanova.errors import Arg, QueryError, unknown_name

NAMES = ("number", "trial", "trial_number", "trial_id", "trial_index", "trial_num", "tid")


def trial_column(names: Iterable[str]) -> str | None:
    by_name = {name.lower(): name for name in names}
    return next((by_name[name] for name in NAMES if name in by_name), None)


def trial_numbers(columns: Mapping[str, Column], rows: int, *, ordered: bool) -> NDArray[Any] | None:
    """The trial number of each row, from a column or the order of a log; None if trial numbers are not known."""
    if ordered:
        return np.arange(rows)
    name = trial_column(columns)
    if name is None:
        return None
    column = columns[name]
    return None if column.is_coded or column.is_time else column.values


Indices: TypeAlias = NDArray[np.int64]
Codes: TypeAlias = NDArray[np.uint8]
MEMBERS = ("target", "region", None)  # by code


@dataclass(frozen=True, slots=True, repr=False)
class Trials(Table):
    """Some rows of the data with their parameters. Missing values are None.

    Attributes
    ----------
    objectives, parameters
        Names of columns; `parameters` also contains the other columns of the table that were chosen.
    columns
        The columns by name: first ``"row"``, then ``"trial"`` if known, then objectives and parameters.
    total
        The number of rows before `limit` and `sample` were applied.

    Examples
    --------
    >>> import pedanova as pa
    >>> best = pa.analyze(pa.demo_trials(), "error").trials(limit=3, params=["units"])
    >>> best.columns
    {'row': [84, 448, 76], 'error': [0.01669, 0.018081, 0.019471], 'units': [88, 105, 62]}
    """

    objectives: tuple[str, ...]
    parameters: tuple[str, ...]
    columns: dict[str, list[Cell]]  # "row" first, "trial" where it is known, then objectives and parameters
    total: int  # the number of rows before `limit` and `sample` were applied

    def to_dict(self) -> dict[str, list[Cell]]:
        return dict(self.columns)

    def heading(self) -> str:
        return f"{len(self):,} of {self.total:,} rows" if len(self) < self.total else ""

    def __len__(self) -> int:
        return len(self.columns[self.own("row")])

    def own(self, word: str) -> str:
        """The key of the column `word`. If a parameter has the same name, an underscore is added: ``"row_"``.

        Parameters
        ----------
        word
            ``"row"``, ``"trial"`` or ``"in"``.

        Returns
        -------
        str
            The key in `columns`.
        """
        return free_name(word, (*self.objectives, *self.parameters))


def best_first(observed: Observations, rows: Indices, many: int) -> Indices:
    """Sort rows from best to worst and return the first `many`; tied rows stay in table order, NaN comes last."""
    return lowest(observed.ranked, rows, many, descending=observed.direction == "maximize")


def sorted_by(observed: Observations, rows: Indices, name: str, many: int, *, descending: bool) -> Indices:
    """Sort rows by one column and return the first `many` of them; rows without a value come last."""
    goals = {goal.name: goal.values for goal in observed.goals}
    if name in goals:
        return lowest(goals[name], rows, many, descending=descending)
    if name == free_name("row", (*goals, *observed.table)):
        return (rows[::-1] if descending else rows)[:many]
    if name not in observed.table:
        names = ("row", *goals, *observed.table)
        raise QueryError(Arg("sort", name), f": {unknown_name(name, names, what='column')}")
    column = observed.table[name]
    if (numbers := as_numbers(column)) is not None:
        column = numbers[0]
    keys = column.values.astype(np.float64)  # codes are in the order of the labels' text
    keys[column.absent()] = np.nan
    return lowest(keys, rows, many, descending=descending)


def lowest(keys: NDArray[Any], rows: Indices, many: int, *, descending: bool = False) -> Indices:
    """Sort rows by their keys and return the first `many`; tied rows stay in table order, NaN comes last."""
    chosen = keys[rows].astype(np.float64)
    chosen = -chosen if descending else chosen
    if many < len(rows):
        kth = np.partition(chosen, many)[many]  # NaN sorts last
        near = np.flatnonzero(chosen <= kth) if not math.isnan(kth) else np.arange(len(chosen))
        rows, chosen = rows[near], chosen[near]
    return rows[np.argsort(chosen, kind="stable")][:many]


def sampled(rows: Indices, many: int, seed: int) -> Indices:
    """Draw a random sample of at most `many` rows, which stay in table order."""
    if len(rows) <= many:
        return rows
    picked = np.random.default_rng(seed).choice(len(rows), many, replace=False)
    return rows[np.sort(picked)]


def taken(observed: Observations, rows: Indices | slice) -> Observations:
    """The observations of some rows; an array that several fields share is copied once."""
    known: dict[int, NDArray[Any]] = {}

    def at(values: NDArray[Any] | None) -> Any:
        if values is None:
            return None
        if id(values) not in known:
            known[id(values)] = values[rows]
        return known[id(values)]

    def of(columns: Mapping[str, Column]) -> dict[str, Column]:
        each = columns.items()
        return {name: replace(column, values=at(column.values), missing=at(column.missing)) for name, column in each}

    return replace(
        observed,
        columns=of(observed.columns),
        goals=tuple(replace(goal, values=at(goal.values)) for goal in observed.goals),
        table=of(observed.table),
        origin=None,
        **{name: at(getattr(observed, name)) for name in PER_ROW},
    )


def trials_of(
    observed: Observations, rows: Indices, total: int, codes: Codes | None = None, names: Sequence[str] | None = None
) -> Trials:
    """Make a table of some rows; `codes` is 0 in the target, 1 in the rest of the region, and 2 outside."""
    goals = [goal.name for goal in observed.goals]
    parameters = (
        tuple(observed.space)
        if names is None
        else tuple(name for name in names if name not in goals and name in observed.table)
    )
    named = *goals, *parameters
    columns: dict[str, list[Cell]] = {free_name("row", named): rows.tolist()}
    if observed.trials is not None:
        columns[free_name("trial", named)] = values_in(Column("trial", observed.trials[rows]))
    if codes is not None:
        columns[free_name("in", named)] = [MEMBERS[code] for code in codes.tolist()]
    for goal in observed.goals:
        columns[goal.name] = values_in(Column(goal.name, goal.values[rows]))
    for name in parameters:
        columns[name] = values_in(take({name: observed.table[name]}, rows)[name])
    return Trials(tuple(goals), parameters, columns, total)
