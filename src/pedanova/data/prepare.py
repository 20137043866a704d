"""Convert records to observations: apply all options for rows and columns.

`choose_rows` and `place` work row by row, also on parts of a table; `prepare` needs all rows at the same time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.base.kernel.pareto import order_rows
from pedanova.base.notes import Count, Note, in_order
from pedanova.data.blocks import ranked_within
from pedanova.data.column import Column, Mask, all_finite, for_domain, take
from pedanova.data.conditions import place_columns
from pedanova.data.objectives import Goal, read_goals
from pedanova.data.observations import Observations
from pedanova.data.options import Reading
from pedanova.data.records import Records, mark_columns
from pedanova.data.regions import Region, RowSet, as_rows, cut_at
from pedanova.data.row_status import (
    IF_DIVERGED,
    LEFT_OUT,
    NO_OBJECTIVE,
    RowStatus,
    average,
    best_failed_notes,
    configurations,
    ended_note,
    first_rows,
    sentinel_notes,
    status_of_rows,
)
from pedanova.data.space_inference import Choice, TableColumns, choose_space, column_roles
from pedanova.data.table_options import Origin, TableOptions, complete
from pedanova.data.trials import trial_numbers
from pedanova.data.understanding import ObjectiveGuess, question
from pedanova.errors import Arg, DataError, QueryError, Word, unknown_name
from pedanova.space.parameters import Moving, Space, Switch

Columns = Mapping[str, Column]


@dataclass(frozen=True, slots=True, eq=False)
class ChosenRows:
    """The objectives of all rows, and which rows are kept."""

    goals: tuple[Goal, ...]
    status: RowStatus | None  # None: all rows count, and the levels handle NaN
    notes: tuple[Note, ...]
    where: Region | RowSet | None = None

    @property
    def keep(self) -> Mask | None:
        return None if self.status is None else self.status.keep


def choose_rows(columns: Columns, rows: int, request: TableOptions) -> ChosenRows:
    """Read the objectives, and decide which rows are kept and which count as the worst."""
    goals = read_goals(columns, rows, request.objective, request.direction, decimal=request.reading.decimal)
    if request.is_plain and len(goals) == 1:
        return ChosenRows(goals, None, tuple(plain_notes(goals[0], request.reading, threads=request.threads)))
    status = status_of_rows(goals, columns, request.reading, request.feasible)
    where = None if request.where is None else as_rows(request.where, "where", columns, rows)
    if isinstance(where, RowSet):
        left = status.keep & where.mask
        note = Note("rows", f"only {where.words} are used: ", Count(left.sum()), " of ", Count(len(left)))
        ended = np.where(where.mask, status.ended, np.uint8(LEFT_OUT))
        status = replace(status, keep=left, ended=ended, notes=(*status.notes, note))
    infinite = _infinite_notes(goals, status.undecided)
    goals, ranks = ranked_within(goals, columns, request.blocks, status.undecided) if request.blocks else (goals, [])
    return ChosenRows(goals, status, (*status.notes, *infinite, *ranks), where)


def check_left(kept: int, usable: int, where: object, notes: Sequence[Note]) -> None:
    """Raise an error if no row is left; with `where`, also if only one row is left."""
    if where is not None and kept < 2:
        many = "only one row" if kept else "no row"
        raise QueryError(f"{many} is left ({where}); choose a wider condition")
    if not usable and in_order(notes):
        raise DataError(f"no row is left to count ({'; '.join(in_order(notes))})")


def place(rows: ChosenRows, space: Space, columns: Columns) -> Observations:
    """Make observations; `keep` is False for dropped rows, `order` is NaN for rows that count as the worst."""
    own = {name: for_domain(columns[name], space[name]) for name in space}
    for name, column in own.items():
        if column.is_time:
            raise DataError(f"{name}: dates or durations cannot be counted; turn them into numbers or text")
    placed, more, idle = place_columns(space, own, columns)
    observed = Observations(placed, rows.goals, space, columns, (*rows.notes, *more), idle=idle)
    status = rows.status
    if status is None:
        return observed
    order: NDArray[Any] | None = None
    if len(rows.goals) > 1:
        order = _order_of(rows.goals, status.undecided)
    elif status.worst.any():
        order = status.ordered(rows.goals[0].values)
    keep = None if status.keep.all() else status.keep
    return replace(observed, order=order, keep=keep, ended=status.ended)


def prepare(records: Records, request: TableOptions) -> tuple[Observations, tuple[Note, ...]]:
    """Apply all options to the records; return the observations, and notes on the source and the space."""
    origin = Origin(records, request)
    records, request = complete(records, request)
    rows = choose_rows(records.columns, records.rows, request)
    if rows.status is not None:
        chosen = rows.where if isinstance(rows.where, RowSet) else None
        check_left(int(rows.status.keep.sum()), int(rows.status.undecided.sum()), chosen, rows.status.notes)
    # The space is guessed only from rows that count.
    choice = choose_space(tuple(records.columns), rows.goals, request, TableColumns(records.columns, rows.keep))
    if request.guess is not None and not request.guess.is_clear:  # all that the answer would refuse was refused above
        raise QueryError(Arg("objective"), *_asked(request.guess, records, rows, choice, request))
    usable = rows.keep if rows.status is None or not rows.status.worst.any() else rows.status.undecided
    results = {name: column for name, column in records.columns.items() if name not in choice.space}
    doubts = [note for goal in rows.goals for note in sentinel_notes(goal, usable)]
    doubts += [note for goal in rows.goals for note in best_failed_notes(results, goal, usable)]
    if request.repeats != "all" and rows.status is not None:
        records, rows, choice = _collapse(records, rows, rows.status, choice, request)
    observed = place(rows, choice.space, records.columns)
    trials = trial_numbers(records.columns, records.rows, ordered=records.metadata.ordered)
    marked = [~records.columns[name].absent() for name in mark_columns(records.columns)]
    beside = {"designed": any(mask.any() for mask in marked), "default": records.metadata.default}
    observed = replace(observed, trials=trials, origin=origin, **beside)  # type: ignore[arg-type]
    if isinstance(rows.where, Region):
        observed = _within_region(observed, rows.where)
    return observed, (*records.notes, *doubts, *choice.notes)


def _asked(
    guess: ObjectiveGuess, records: Records, rows: ChosenRows, choice: Choice, request: TableOptions
) -> Iterator[Word]:
    """The question for the objective, with the parameters of the answer that follows it."""
    roles = column_roles(tuple(records.columns), rows.goals, request, TableColumns(records.columns, rows.keep))
    doubtful = {note.subject for note in choice.notes if note.kind == "roles" and note.severity == "warning"}
    return question(guess, roles, {name: name in doubtful for name in choice.space})


def plain_notes(goal: Goal, reading: Reading, *, threads: int) -> list[Note]:
    """Notes on how many values of the objective are NaN or infinite."""
    if goal.values.dtype.kind != "f":
        return []
    finite = all_finite(goal.values, threads=threads)
    unknown = 0 if finite else np.isnan(goal.values).sum()
    note = ended_note(unknown, len(goal.values), NO_OBJECTIVE, reading.nan, *IF_DIVERGED)
    return [note, *([] if finite else _infinite_notes((goal,), np.ones(len(goal.values), dtype=bool)))]


def _infinite_notes(goals: tuple[Goal, ...], rows: Mask) -> list[Note]:
    infinite = np.logical_or.reduce([np.isinf(goal.values) for goal in goals]) & rows
    ends = {bool(end > 0) for goal in goals for end in goal.sign * goal.values[infinite & np.isinf(goal.values)]}
    rank = "best or worst" if len(ends) > 1 else "the worst" if True in ends else "the best"
    words = f" rows have an infinite objective; infinite values are ranked as {rank}"
    return [Note("rows", Count(infinite.sum()), words)] if infinite.any() else []


def _collapse(
    records: Records, rows: ChosenRows, status: RowStatus, choice: Choice, request: TableOptions
) -> tuple[Records, ChosenRows, Choice]:
    """Merge the kept rows of each configuration into one row with the average objective; then guess the space again."""
    how = request.repeats or "all"
    observed = place(rows, choice.space, records.columns)
    groups = configurations(settings_of(observed))
    goals = average(rows.goals, status, groups, how)
    firsts = first_rows(groups)
    keep = np.bincount(groups[status.keep], minlength=len(firsts)) > 0
    hit = np.bincount(groups[status.worst & status.keep], minlength=len(firsts)) > 0
    worst = keep & hit & np.logical_or.reduce([np.isinf(g.values) | np.isnan(g.values) for g in goals])
    goals = tuple(replace(goal, values=np.where(worst, np.nan, goal.values)) for goal in goals)
    averages = {goal.column: Column(goal.column, goal.values) for goal in goals if goal.column is not None}
    fewer = Records(take(records.columns, firsts) | averages, records.notes, records.metadata)
    unknown = np.logical_or.reduce([np.isnan(goal.values) for goal in goals])  # such as inf - inf
    before, after = int(status.keep.sum()), int(keep.sum())
    words = f"{before:,} rows have {after:,} different configurations; the {how} objective per configuration is used"
    if before == after:
        words = f"no configuration occurs twice in {before:,} rows; to average over seeds, exclude the column of seeds"
    ended = np.where(keep, np.uint8(0), status.ended[firsts])
    ends = RowStatus(keep, worst, ended, (*status.notes, Note("rows", words)))
    ends = ends.end(unknown, "no objective", request.reading.nan, NO_OBJECTIVE, *IF_DIVERGED)
    same = replace(request, params=list(choice.space), exclude=None)
    again = choose_space(tuple(fewer.columns), goals, same, TableColumns(fewer.columns, ends.keep))
    gone = [note for note in choice.notes if note not in again.notes and note.kind == "unused"]
    notes = (*ends.notes, *_infinite_notes(goals, ends.undecided))
    return (fewer, replace(rows, goals=goals, status=ends, notes=notes), replace(again, notes=(*gone, *again.notes)))


def settings_of(observed: Observations) -> list[Column]:
    """The columns that define a configuration: the parameters, and the columns on which their domains depend."""
    columns = []
    for name, parameter in observed.space.items():
        if isinstance(parameter, Switch | Moving):
            ties = [parameter.by] if isinstance(parameter, Switch) else [parameter.low, parameter.high]
            columns += [observed.table[key] for key in (name, *ties) if isinstance(key, str) and key]
        else:
            columns.append(observed.columns[name])
    return columns


def _order_of(goals: tuple[Goal, ...], usable: Mask) -> NDArray[np.float64]:
    """Rank the usable rows by Pareto front; other rows get NaN."""
    order = np.full(len(usable), np.nan)
    losses = np.stack([goal.sign * goal.values.astype(np.float64) for goal in goals], axis=1)
    order[usable] = order_rows(losses[usable])
    return order


def reordered(observed: Observations) -> Observations:
    """Compute the Pareto ranks again from the rows that are still kept."""
    if len(observed.goals) == 1 or observed.order is None or observed.keep is None:
        return observed
    return replace(observed, order=_order_of(observed.goals, observed.keep & ~np.isnan(observed.order)))


def _within_region(observed: Observations, region: Region) -> Observations:
    if region.kind == "value" and len(observed.goals) > 1:
        column = observed.goals[0].name
        raise QueryError(
            Arg("where", shown=f"{region}"),
            f': one value cannot limit {len(observed.goals)} objectives; write a condition such as "{column} <= …"',
        )
    mask: Mask = cut_at(observed.ranked, observed.keep, region, observed.direction)
    before = np.ones(len(mask), dtype=bool) if observed.keep is None else observed.keep
    left = int(mask.sum())
    if left < 2:
        raise QueryError(f"{'only one row' if left else 'no row'} is left ({region}); choose a wider region")
    note = Note("rows", f"only {region} are used: ", Count(left), " of ", Count(len(mask)))
    restricted = not np.array_equal(mask, before)
    ended = None if observed.ended is None else np.where(mask, observed.ended, np.uint8(LEFT_OUT))
    return replace(observed, keep=mask, ended=ended, restricted=restricted, notes=(note, *observed.notes))


def with_goal(observed: Observations, objective: str, nan: str) -> Observations:
    """Keep only one of several objectives; failed rows that count as the worst stay the worst."""
    goals = {goal.name: goal for goal in observed.goals}
    if objective not in goals:
        raise QueryError(unknown_name(objective, tuple(goals), what="objective"))
    goal = goals[objective]
    order = None
    if observed.order is not None and nan == "worst":
        unknown = np.logical_or.reduce([np.isnan(other.values) for other in observed.goals])
        struck = np.isnan(observed.order) & ~unknown  # failed or infeasible rows are the worst for every goal
        order = np.where(struck, np.nan, goal.values.astype(np.float64))
    return replace(observed, goals=(goal,), order=order)
