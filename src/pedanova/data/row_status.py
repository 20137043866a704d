"""Decide which rows are kept and which count as the worst (NaN, failed, pruned, infeasible); average repeated rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.base.kernel.selection import distinct
from pedanova.base.notes import Count, Note
from pedanova.data.column import Column, Mask, as_column
from pedanova.data.objectives import Goal
from pedanova.data.options import Reading
from pedanova.data.regions import as_mask
from pedanova.data.vocabulary import state_of
from pedanova.errors import Arg, DataError, QueryError, Word, unknown_name

NO_OBJECTIVE = "have no objective (NaN)"


@dataclass(frozen=True, slots=True, eq=False)
class RowStatus:
    """Two masks: `keep` marks the rows that are kept, `worst` marks the rows that count as the worst."""

    keep: Mask
    worst: Mask
    notes: tuple[Note, ...] = ()

    @property
    def undecided(self) -> Mask:
        return self.keep & ~self.worst

    def ordered(self, values: NDArray[Any]) -> NDArray[Any]:
        """The objective as floats, with NaN for rows that count as the worst."""
        kind = values.dtype if values.dtype.kind == "f" else np.dtype(np.float64)
        order: NDArray[Any] = values.astype(kind)
        order[self.worst] = np.nan
        return order

    def end(self, rows: Mask, ending: str, what: str, *remedy: Word) -> RowStatus:
        """Drop the given rows if `ending` is "drop", otherwise let them count as the worst; add a note."""
        struck = rows & self.undecided
        notes = (*self.notes, ended_note(np.count_nonzero(struck), len(rows), what, ending, *remedy))
        if ending == "drop":
            return replace(self, keep=self.keep & ~struck, notes=notes)
        return replace(self, worst=self.worst | struck, notes=notes)


def ended_note(count: int, rows: int, what: str, ending: str, *remedy: Word) -> Note:
    fate = ("are dropped", *remedy) if ending == "drop" else ("are ranked as the worst",)
    return Note("rows", Count(count), " of ", Count(rows), f" rows {what} and ", *fate)


def status_of_rows(
    goals: tuple[Goal, ...], table: Mapping[str, Column], reading: Reading, feasible: object = None
) -> RowStatus:
    rows = len(goals[0].values)
    status = RowStatus(np.ones(rows, dtype=bool), np.zeros(rows, dtype=bool))
    if reading.state is not None:
        states = states_of(reading.state, table, rows)
        status = status.end(states == "unfinished", "drop", "are unfinished")
        failed = states == "failed"
        what = f"failed{_shared_score(goals, failed & status.undecided)}{_by_column(reading.state)}"
        status = status.end(failed, reading.failed, what)
        if reading.pruned == "last":
            count = Count(np.sum((states == "pruned") & status.keep))
            note = Note("rows", count, " pruned rows are included; their objective is their last value")
            status = replace(status, notes=(*status.notes, note))
        else:
            last = " (", Arg("pruned", "last", of="Reading"), " includes them with their last value)"
            status = status.end(states == "pruned", reading.pruned, "were pruned", *last)
    if feasible is not None:  # failed rows have no constraint values
        allowed = feasible_rows(feasible, table, rows, needed=status.undecided)
        status = status.end(~allowed, reading.infeasible, "are infeasible")
    unknown = np.logical_or.reduce([np.isnan(goal.values) for goal in goals])
    return status.end(unknown, reading.nan, NO_OBJECTIVE)


def _shared_score(goals: tuple[Goal, ...], failed: Mask) -> str:
    """A phrase with the objective that all failed rows have; empty if their objectives differ."""
    for goal in goals:
        scores = distinct(goal.values[failed & ~np.isnan(goal.values)])
        if len(scores) == 1 and np.count_nonzero(failed) > 1:
            return f", all with {goal.name} = {scores[0]:g}"
    return ""


def _by_column(state: object) -> str:
    name = state if isinstance(state, str) else getattr(state, "name", "")
    return f" (according to the column {name})" if name else ""


def states_of(state: object, table: Mapping[str, Column], rows: int) -> NDArray[Any]:
    """The state of each row (complete, failed, pruned or unfinished), recognised from the words that tools use."""
    if isinstance(state, str):
        if state not in table:
            raise DataError(f"state: {unknown_name(state, tuple(table), what='column')}")
        column = table[state]
    else:
        column = as_column("state", state)
    if len(column) != rows:
        raise DataError(f"state has {len(column)} values but the table has {rows} rows; give one value per row")
    if column.labels is None:
        raise DataError(f"state: the column {column.name!r} must hold words such as COMPLETE, FAIL, PRUNED")
    meanings = [state_of(label) for label in column.labels]
    strange = [label for label, meaning in zip(column.labels, meanings, strict=True) if meaning is None]
    if strange:
        raise DataError(f"state {strange[0]!r} is unknown; use COMPLETE, FAIL, PRUNED or RUNNING")
    return np.array([*meanings, "unfinished"])[np.where(column.values < 0, len(meanings), column.values)]


def feasible_rows(feasible: object, table: Mapping[str, Column], rows: int, *, needed: Mask) -> Mask:
    """A mask of the feasible rows, from booleans or from numbers that are at most 0 in feasible rows.

    Rows in the mask `needed` must have a value.
    """
    if isinstance(feasible, str):
        return _feasible_by(feasible, table, needed)
    if isinstance(feasible, Iterable) and not hasattr(feasible, "__array__"):
        names = list(feasible)
        if names and all(isinstance(name, str) for name in names):
            return np.logical_and.reduce([_feasible_by(name, table, needed) for name in names])  # type: ignore[no-any-return]
        feasible = names
    return as_mask(feasible, "feasible", rows)


def _feasible_by(name: str, table: Mapping[str, Column], needed: Mask) -> Mask:
    if name not in table:
        raise DataError(f"feasible: {unknown_name(name, tuple(table), what='column')}")
    column = table[name]
    if column.labels is not None or column.is_time:
        raise QueryError(f"feasible: {name} holds text; give booleans, or numbers that are at most 0 in feasible rows")
    absent = np.flatnonzero(column.absent() & needed)
    if len(absent):
        raise DataError(f"feasible: {name} has no value in row {int(absent[0])}; add a value, or drop the row")
    holds: Mask = column.values if column.values.dtype.kind == "b" else column.values <= 0
    return holds


def configurations(columns: Iterable[Column]) -> NDArray[np.int64]:
    """An integer for each row; rows with the same configuration have the same integer."""
    groups: NDArray[np.int64] | None = None
    for column in columns:
        values = np.unique(column.values, return_inverse=True)[1].reshape(-1)
        values = np.where(column.absent(), -1, values) + 1
        mixed = values if groups is None else groups * (int(values.max(initial=0)) + 1) + values
        groups = np.unique(mixed, return_inverse=True)[1].reshape(-1)
    return groups if groups is not None else np.empty(0, dtype=np.int64)


def first_rows(groups: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.unique(groups, return_index=True)[1]


def average(goals: tuple[Goal, ...], status: RowStatus, groups: NDArray[np.int64], how: str) -> tuple[Goal, ...]:
    """The mean or median of each objective by configuration; the worst rows count as infinitely bad."""
    count = int(groups.max(initial=-1)) + 1
    kept = status.keep
    averaged = []
    for goal in goals:
        signed = np.where(status.worst, np.inf, goal.sign * goal.values.astype(np.float64))[kept]
        if how == "mean":
            with np.errstate(invalid="ignore", divide="ignore"):
                middle = np.bincount(groups[kept], weights=signed, minlength=count) / np.bincount(
                    groups[kept], minlength=count
                )
        else:
            middle = _medians(signed, groups[kept], count)
        averaged.append(replace(goal, values=goal.sign * middle))
    return tuple(averaged)


def _medians(values: NDArray[np.float64], groups: NDArray[np.int64], count: int) -> NDArray[np.float64]:
    order = np.lexsort([values, groups])
    rows = np.bincount(groups, minlength=count)
    start = np.cumsum(rows) - rows
    medians = np.full(count, np.nan)
    some = rows > 0
    low = values[order][start[some] + (rows[some] - 1) // 2]
    high = values[order][start[some] + rows[some] // 2]
    with np.errstate(invalid="ignore"):
        medians[some] = np.where(low == high, low, (low + high) / 2)
    return medians
