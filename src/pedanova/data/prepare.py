"""From records to observations: every choice of the user applied to the rows, in one place."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.base.kernel.pareto import order_rows
from pedanova.data.column import Column, Mask, all_finite, take
from pedanova.data.objectives import Goal, read_goals
from pedanova.data.observations import Chosen, Observations, choose_columns
from pedanova.data.outcomes import Fates, Policies, decide_fates
from pedanova.data.records import Records
from pedanova.data.regions import Region
from pedanova.data.repeats import average, configurations, first_rows
from pedanova.data.request import Request, complete
from pedanova.data.rowsets import RowSet, as_rows, cut_at
from pedanova.errors import DataError, QueryError, unknown_name
from pedanova.space.parameters import Moving, Switch
from pedanova.space.values import LARGEST_INT


def prepare(records: Records, request: Request) -> Observations:
    """Observations with rows kept, dropped, ordered and averaged as asked."""
    records, request = complete(records, request)
    goals = read_goals(records.columns, records.rows, request.objective, request.direction)
    choose = partial(
        choose_columns,
        records,
        goals,
        space=request.space,
        params=request.params,
        exclude=_spoken_for(records, request, goals),
        conditions=request.conditions,
    )
    if request.is_plain and len(goals) == 1:
        chosen = choose()
        notes = (*plain_notes(goals[0], request.policies, threads=request.threads), *chosen.notes)
        return Observations(chosen.columns, goals, chosen.space, records.columns, notes)
    fates = decide_fates(
        goals, records.columns, request.policies, state=request.state, feasible=request.feasible
    )
    rows = (
        None if request.where is None else as_rows(request.where, "where", records.columns, len(fates.keep))
    )
    if isinstance(rows, RowSet):
        fates = _only(fates, rows)
    check_some_left(fates)
    # The space is guessed from the rows that count, not from those that were sent away.
    chosen = choose(keep=fates.keep)
    if request.repeats != "all":
        records, goals, fates, chosen = _collapse(records, goals, fates, chosen, request)
    notes = (*_infinite_notes(goals, fates.undecided), *chosen.notes)
    observed = Observations(chosen.columns, goals, chosen.space, records.columns, notes)
    observed = replace(_ordered(observed, fates), restricted=rows is not None)
    return _within_region(observed, rows) if isinstance(rows, Region) else observed


def _spoken_for(records: Records, request: Request, goals: tuple[Goal, ...]) -> Iterable[str] | None:
    """Columns that tell states or feasibility, or that an objective compares, are no parameters."""
    if request.space is not None or request.params is not None:
        return request.exclude
    given = [
        request.state,
        *(request.feasible if isinstance(request.feasible, list | tuple | set) else [request.feasible]),
        *(name for goal in goals for name in goal.made_of),
    ]
    spoken = [name for name in given if isinstance(name, str) and name in records.columns]
    if not spoken:
        return request.exclude
    others = [request.exclude] if isinstance(request.exclude, str) else list(request.exclude or ())
    return [*others, *spoken]


def plain_notes(goal: Goal, policies: Policies, *, threads: int) -> list[str]:
    """What a reader must know of the objective's odd values."""
    if goal.values.dtype.kind != "f":
        return _large_notes(goal)
    if all_finite(goal.values, threads=threads):
        return []
    notes = []
    unknown = int(np.isnan(goal.values).sum())
    if unknown:
        fate = "dropped" if policies.nan == "drop" else "counted as the worst"
        notes.append(f"{unknown:,} of {len(goal.values):,} rows have no number as objective; {fate}")
    return [*notes, *_infinite_notes((goal,), np.ones(len(goal.values), dtype=bool))]


def _infinite_notes(goals: tuple[Goal, ...], rows: Mask) -> list[str]:
    infinite = np.logical_or.reduce([np.isinf(goal.values) for goal in goals]) & rows
    count = int(infinite.sum())
    return [f"{count:,} rows have an infinite objective; ordered like numbers"] if count else []


def _large_notes(goal: Goal) -> list[str]:
    kind = goal.values.dtype
    if kind.kind not in "iu" or kind.itemsize < 8 or not len(goal.values):
        return []
    if max(abs(int(goal.values.min())), abs(int(goal.values.max()))) <= LARGEST_INT:
        return []
    return ["objectives beyond 2^53 are compared as floats: neighbours may count as ties"]


def _only(fates: Fates, rows: RowSet) -> Fates:
    left = fates.keep & rows.mask
    note = f"only {rows.words} count: {int(left.sum()):,} of {len(left):,}"
    if left.sum() < 2:
        many = "one row" if left.any() else "no row"
        raise QueryError(f"where leaves {many} ({rows.words}); choose a wider condition")
    return replace(fates, keep=left, notes=(*fates.notes, note))


Collapsed = tuple[Records, tuple[Goal, ...], Fates, Chosen]


def _collapse(
    records: Records, goals: tuple[Goal, ...], fates: Fates, chosen: Chosen, request: Request
) -> Collapsed:
    """One row for each configuration that has a row that counts; the space is guessed anew from those."""
    groups, how = configurations(_settings(records, chosen)), request.repeats or "all"
    goals = average(goals, fates, groups, how)
    firsts = first_rows(groups)
    keep = np.bincount(groups[fates.keep], minlength=len(firsts)) > 0
    hit = np.bincount(groups[fates.worst & fates.keep], minlength=len(firsts)) > 0
    worst = keep & hit & np.logical_or.reduce([np.isinf(g.values) | np.isnan(g.values) for g in goals])
    goals = tuple(replace(goal, values=np.where(worst, np.nan, goal.values)) for goal in goals)
    averages = {goal.column: Column(goal.column, goal.values) for goal in goals if goal.column is not None}
    fewer = Records(take(records.columns, firsts) | averages, records.notes, records.told)
    unknown = np.logical_or.reduce([np.isnan(goal.values) for goal in goals])  # such as inf - inf
    note = _repeats_note(int(fates.keep.sum()), int(keep.sum()), how)
    ends = Fates(keep, worst, (*fates.notes, note)).end(
        unknown, request.policies.nan, "have no number as objective"
    )
    names = list(chosen.space)
    again = choose_columns(
        fewer, goals, space=request.space, params=names, keep=ends.keep, conditions=request.conditions
    )
    gone = tuple(n for n in chosen.notes if n not in again.notes and "left out" in n)
    return fewer, goals, ends, replace(again, notes=(*gone, *again.notes))


def _settings(records: Records, chosen: Chosen) -> list[Column]:
    """The columns that make a configuration: parameters as they are set, and what their domains hang on."""
    columns = []
    for name, parameter in chosen.space.items():
        if isinstance(parameter, Switch | Moving):
            ties = [parameter.by] if isinstance(parameter, Switch) else [parameter.low, parameter.high]
            columns += [records.columns[key] for key in (name, *ties) if isinstance(key, str)]
        else:
            columns.append(chosen.columns[name])
    return columns


def _repeats_note(rows: int, configurations: int, how: str) -> str:
    if rows == configurations:
        return (
            f"no configuration repeats in {rows:,} rows; exclude columns such as a seed to average over them"
        )
    return f"{rows:,} rows are {configurations:,} configurations; objectives are their {how}s"


def check_some_left(fates: Fates) -> None:
    if not fates.undecided.any():
        raise DataError(f"no row is left to count ({'; '.join(fates.notes)})")


def _ordered(observed: Observations, fates: Fates) -> Observations:
    """Rows that do not count are marked, rows that count as worst have NaN in the order."""
    check_some_left(fates)
    order: NDArray[Any] | None = None
    if len(observed.goals) > 1:
        order = _order_of(observed.goals, fates.undecided)
    elif fates.worst.any():
        order = fates.ordered(observed.goals[0].values)
    keep = None if fates.keep.all() else fates.keep
    return replace(observed, order=order, keep=keep, notes=(*fates.notes, *observed.notes))


def _order_of(goals: tuple[Goal, ...], usable: Mask) -> NDArray[np.float64]:
    """Several objectives as one order of the usable rows; the others have NaN."""
    order = np.full(len(usable), np.nan)
    losses = np.stack([goal.sign * goal.values.astype(np.float64) for goal in goals], axis=1)
    order[usable] = order_rows(losses[usable])
    return order


def reordered(observed: Observations) -> Observations:
    """Fronts anew among the rows that count now: a row may only have been dominated from outside."""
    if len(observed.goals) == 1 or observed.order is None or observed.keep is None:
        return observed
    return replace(observed, order=_order_of(observed.goals, observed.keep & ~np.isnan(observed.order)))


def _within_region(observed: Observations, region: Region) -> Observations:
    """Only the rows of a region of the objective count."""
    if region.kind == "value" and len(observed.goals) > 1:
        column = observed.goals[0].name
        raise QueryError(
            f'where={region}: {len(observed.goals)} objectives have no one value; write "{column} <= …"'
        )
    mask: Mask = cut_at(observed.ranked, observed.keep, region, observed.direction)
    left = int(mask.sum())
    if left < 2:
        raise QueryError(f"where leaves {'one row' if left else 'no row'} ({region}); choose a wider region")
    note = f"only {region} count: {left:,} of {len(mask):,}"
    return replace(observed, keep=mask, notes=(note, *observed.notes))


def with_goal(observed: Observations, objective: str, nan: str) -> Observations:
    """The same rows with one of several objectives; rows struck from the order stay the worst."""
    goals = {goal.name: goal for goal in observed.goals}
    if objective not in goals:
        raise QueryError(unknown_name(objective, tuple(goals), what="objective"))
    goal = goals[objective]
    order = None
    if observed.order is not None and nan == "worst":
        unknown = np.logical_or.reduce([np.isnan(other.values) for other in observed.goals])
        struck = np.isnan(observed.order) & ~unknown  # failed or infeasible: the worst for every goal
        order = np.where(struck, np.nan, goal.values.astype(np.float64))
    return replace(observed, goals=(goal,), order=order)
