"""Trials in the order in which they were run, with the best so far, and their intermediate values."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.base.digits import short
from pedanova.base.table import PAINTERS, Cell, Printed, Table
from pedanova.base.terminal import TableColumn
from pedanova.data.column import Column, Mask, values_in
from pedanova.data.objectives import Goal
from pedanova.data.observations import Observations
from pedanova.data.records import Curves, free_name
from pedanova.data.regions import columns_in
from pedanova.data.row_status import ENDINGS
from pedanova.data.trials import Codes, Indices, Trials, sampled, trial_column, trials_of
from pedanova.errors import QueryError, unknown_name

ROW = "row"  # the name of the row's number in conditions and boxes
NO_VALUE = ENDINGS.index("no objective")


@dataclass(frozen=True, slots=True, repr=False)
class History(Trials):
    """Trials in the order in which they were run, with the best objective so far; also failed and pruned trials.

    The printed table has only the trials that improved on all earlier ones; ``to_dict`` has all trials.

    Attributes
    ----------
    objective, direction
        The name of the objective, and ``"minimize"`` or ``"maximize"``.
    order, places
        The column by which the trials are ordered (that of trial numbers, or ``"row"``), and its value for each trial.
    ended
        How many trials ended in each way: ``"complete"``, ``"pruned"``, ``"failed"`` …
    better
        The indices of the trials that improved on all earlier ones.
    objectives, parameters, columns, total
        As in `Trials`; `columns` has ``"best"`` (the best so far) and ``"state"``.

    Examples
    --------
    >>> import pedanova as pa
    >>> data = {"x": [0.1, 0.9, 0.4, 0.2], "state": ["COMPLETE", "PRUNED", "FAIL", "COMPLETE"]}
    >>> found = pa.analyze(data | {"loss": [0.5, 0.7, None, 0.2]}, "loss").history()
    >>> found.columns["best"], found.columns["state"]
    ([0.5, 0.5, 0.5, 0.2], ['complete', 'pruned', 'failed', 'complete'])
    """

    internal = Table.internal | {"own", "places", "named"}
    objective: str
    direction: str
    order: str
    places: list[Cell]  # the number of each trial in the column `order`
    better: tuple[int, ...]  # trials that improved on all earlier ones, as indices

    @property
    def ended(self) -> dict[str, int]:
        """How many trials ended in each way."""
        states = self.named("state")
        return {ending: many for ending in ENDINGS if (many := states.count(ending))}

    def named(self, word: str) -> list[Cell]:
        """The cells of ``"best"``, ``"state"`` or another own column."""
        return self.columns[self.own(word)]

    def printed(self) -> Printed:
        cells = {self.order: self.places, self.objective: self.columns[self.objective]}
        cells |= {name: self.columns[name] for name in self.parameters}
        return [TableColumn(name, [short(own[i]) for i in self.better]) for name, own in cells.items()]

    def heading(self) -> str:
        if not self.better:
            return f"{self.objective}: no trial has a value"
        last = self.better[-1]
        best = f"the best, {short(self.columns[self.objective][last])}, at {self.order} {short(self.places[last])}"
        others = "".join(f"; {many:,} {ending}" for ending, many in self.ended.items() if ending != "complete")
        return f"{self.objective} of {self.total:,} trials: {best}{others}"

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the objective of every trial, and the best so far as a line; needs matplotlib.

        Parameters
        ----------
        ax
            The Axes to draw in; None for a new figure.

        Returns
        -------
        matplotlib.axes.Axes
            The Axes of the figure.

        Examples
        --------
        >>> import pedanova as pa
        >>> pa.analyze(pa.demo_trials(), "error").history().plot().get_ylabel()
        'error ↓'
        """
        return PAINTERS[History](self, ax)


def history_of(
    observed: Observations,
    counted: Mask,
    codes: Codes | None = None,
    *,
    objective: str | None = None,
    names: Sequence[str] | None = (),
    sample: int | None = None,
    seed: int = 0,
) -> History:
    """The trials in their order; `counted` marks the rows that count, `codes` (rows,) says which are in the target.

    The best so far is that of all trials, also if only a `sample` of them is listed.
    """
    goal = goal_named(observed, objective)
    shown = np.flatnonzero(counted | ended_early(observed))
    order, numbers = numbered(observed)
    rows = shown[np.argsort(numbers[shown], kind="stable")]
    ended = endings(observed, goal)
    signed = np.where(counted & ~np.isnan(goal.values), goal.sign * goal.values.astype(np.float64), np.nan)[rows]
    best = np.fmin.accumulate(signed) if len(rows) else signed
    better = np.flatnonzero(signed < np.append(np.inf, np.where(np.isnan(best), np.inf, best)[:-1]))
    kept = np.arange(len(rows)) if sample is None else sampled(np.arange(len(rows)), sample, seed)
    one = trials_of(observed, rows[kept], len(rows), None if codes is None else codes[rows[kept]], names)
    named = *one.objectives, *one.parameters
    columns = one.columns | {
        free_name("best", named): values_in(Column("best", (goal.sign * best)[kept])),
        free_name("state", named): [ENDINGS[code] for code in ended[rows[kept]].tolist()],
    }
    places = values_in(Column(order, numbers[rows[kept]]))
    steps = tuple(np.flatnonzero(np.isin(kept, better)).tolist())
    return History(one.objectives, one.parameters, columns, one.total, goal.name, goal.direction, order, places, steps)


def goal_named(observed: Observations, objective: str | None) -> Goal:
    goals = {goal.name: goal for goal in observed.goals}
    if objective is not None and objective not in goals:
        raise QueryError(unknown_name(objective, tuple(goals), what="objective"))
    return observed.goals[0] if objective is None else goals[objective]


def ended_early(observed: Observations) -> Mask:
    """(rows,) The chosen rows that were dropped because of how the trial ended."""
    if observed.ended is None:
        return np.zeros(len(observed), dtype=bool)
    return (observed.ended > 0) & (observed.ended < len(ENDINGS))


def endings(observed: Observations, goal: Goal) -> NDArray[np.uint8]:
    """(rows,) How each trial ended, as an index of `ENDINGS`."""
    known = np.zeros(len(observed), dtype=np.uint8) if observed.ended is None else observed.ended
    known = np.where(known < len(ENDINGS), known, np.uint8(0))
    return np.where((known == 0) & np.isnan(goal.values.astype(np.float64)), np.uint8(NO_VALUE), known)


def order_of(observed: Observations) -> str:
    """The column of trial numbers; ``"row"`` if there is none, so that the rows are in the order of the trials."""
    name = trial_column(observed.table)
    if name is None or observed.trials is None:
        return ROW
    values = observed.table[name].values
    return name if values is observed.trials or np.array_equal(values, observed.trials) else ROW


def numbered(observed: Observations) -> tuple[str, NDArray[Any]]:
    """The column by which the trials are ordered, and the number of each row in it."""
    name = order_of(observed)
    if name == ROW:
        return ROW, np.arange(len(observed))
    column = observed.table[name]
    absent = column.absent()
    return name, np.where(absent, np.nan, column.values) if absent.any() else column.values


def with_row_numbers(observed: Observations, rows: object) -> Mapping[str, Column]:
    """The columns by which rows are selected; with the number of each row, if the selection `rows` names it."""
    table = observed.table
    named: Collection[Any] = rows if isinstance(rows, Mapping) else ()
    if isinstance(rows, str) and rows not in table:
        named = columns_in(rows, {ROW: Column(ROW, np.empty(0))})
    if ROW not in named or ROW in table:
        return table
    return {**table, ROW: Column(ROW, np.arange(len(observed)))}


@dataclass(frozen=True, slots=True, repr=False)
class LearningCurves(Table):
    """The intermediate values of trials, as the log has them; also of failed and pruned trials.

    Attributes
    ----------
    objective, direction
        The name of the objective, and ``"minimize"`` or ``"maximize"``.
    order
        The key of the trial in `columns`: ``"trial"`` if trial numbers are known, otherwise ``"row"``.
    columns
        One entry for every reported value: ``"row"``, ``"trial"`` (if known), ``"step"``, the value, ``"state"``.

    Examples
    --------
    >>> import optuna
    >>> import pedanova as pa
    >>> study, space = optuna.create_study(), {"x": optuna.distributions.FloatDistribution(0, 1)}
    >>> for x in (0.1, 0.5, 0.9):
    ...     steps = {1: 1.0, 2: x}
    ...     trial = optuna.create_trial(params={"x": x}, distributions=space, value=x, intermediate_values=steps)
    ...     study.add_trial(trial)
    >>> pa.analyze(study).curves().heading()
    'value at 2 steps of 3 trials'
    """

    internal = Table.internal | {"by_trial"}
    objective: str
    direction: str
    order: str  # the key of the trial in `columns`: "trial" or "row"
    columns: dict[str, list[Cell]]

    def to_dict(self) -> dict[str, list[Cell]]:
        return dict(self.columns)

    def __len__(self) -> int:
        return len(self.by_trial())

    def by_trial(self) -> list[tuple[Cell, str, list[tuple[Any, Any]]]]:
        """For each trial: its number, how it ended, and its pairs (step, value)."""
        found: dict[Cell, tuple[Cell, str, list[tuple[Any, Any]]]] = {}
        *_, steps, values, states = self.columns.values()
        for row, trial, *point, state in zip(
            self.columns[ROW], self.columns[self.order], steps, values, states, strict=True
        ):
            found.setdefault(row, (trial, str(state), []))[2].append((point[0], point[1]))
        return list(found.values())

    def printed(self) -> Printed:
        """One line for each trial: its last value and step."""
        trials = self.by_trial()
        last = [curve[-1] for _, _, curve in trials]
        return [
            TableColumn(self.order, [short(trial) for trial, _, _ in trials]),
            TableColumn("state", [state for _, state, _ in trials], "words"),
            TableColumn("last step", [short(step) for step, _ in last]),
            TableColumn(f"last {self.objective}", [short(value) for _, value in last]),
        ]

    def heading(self) -> str:
        trials = self.by_trial()
        states = [state for _, state, _ in trials]
        others = "".join(f"; {states.count(one):,} {one}" for one in ENDINGS[1:] if one in states)
        return f"{self.objective} at {len(set(self.columns['step'])):,} steps of {len(trials):,} trials{others}"

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the values of every trial over the steps as a line; needs matplotlib.

        Parameters
        ----------
        ax
            The Axes to draw in; None for a new figure.

        Returns
        -------
        matplotlib.axes.Axes
            The Axes of the figure.
        """
        return PAINTERS[LearningCurves](self, ax)


def curves_of(observed: Observations, goal: Goal, shown: Iterable[int] | None = None) -> LearningCurves:
    """The intermediate values of a goal; of all trials of the log, or only of the rows `shown`."""
    origin = observed.origin
    curves = None
    if origin is not None and origin.records.curves is not None and goal.column is not None:
        curves = origin.records.curves.read(goal.column)
    if curves is None or not len(curves.rows) or origin is None or origin.records.rows != len(observed):
        raise QueryError(
            f"the source has no intermediate values of {goal.name}, or rows were selected; analyze the whole log"
        )
    return as_table(observed, goal, curves, None if shown is None else np.fromiter(shown, dtype=np.int64))


def as_table(observed: Observations, goal: Goal, curves: Curves, shown: Indices | None) -> LearningCurves:
    chosen = ~np.isnan(curves.values)
    if shown is not None:
        chosen &= np.isin(curves.rows, shown)
    rows, ended = curves.rows[chosen], endings(observed, goal)
    trials = rows if observed.trials is None else observed.trials[rows]
    key = ROW if observed.trials is None else "trial"
    value = free_name(goal.name, (ROW, "trial", "step", "state"))
    columns: dict[str, list[Cell]] = {
        ROW: rows.tolist(),
        key: values_in(Column(key, trials)),
        "step": curves.steps[chosen].tolist(),
        value: curves.values[chosen].tolist(),
        "state": [ENDINGS[code] for code in ended[rows].tolist()],
    }
    return LearningCurves(goal.name, goal.direction, key, columns)
