"""Find the rows at each budget, and compute the importances at each."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.base.digits import short
from pedanova.base.notes import Note
from pedanova.base.progress import watched
from pedanova.counting.few_rows import Indices
from pedanova.data.column import Column
from pedanova.data.observations import Observations
from pedanova.data.options import NanPolicy, Reading, check_choice
from pedanova.data.prepare import choose_rows, prepare
from pedanova.data.records import Curves, Records
from pedanova.data.regions import Region, as_region, columns_in, needs_rows
from pedanova.data.row_status import configurations
from pedanova.data.space_inference import TableColumns, choose_space
from pedanova.data.table_options import Origin, TableOptions, complete, select_rows
from pedanova.errors import Arg, DataError, QueryError, TooFewRowsError, listed, unknown_name
from pedanova.measures.distributions import LEAST_TARGET
from pedanova.measures.importance import Importances
from pedanova.measures.question import Question
from pedanova.measures.questions.ask import importance_of
from pedanova.measures.questions.trial_data import TrialData
from pedanova.measures.studies.along import ALL, Along, TooFew, along_of
from pedanova.space.grid import Reals
from pedanova.space.parameters import Space

Values: TypeAlias = Callable[
    [float], tuple[Indices, Reals | None]
]  # rows at a budget, and their objective if it is not in the column
STEP = "step"  # the name of the budget for intermediate values
MOST = 12  # the number of budgets if none is given
Among: TypeAlias = Literal["all", "full"]


@dataclass(frozen=True, slots=True, eq=False)
class Budgets:
    """All budgets of a table or log; the function `at` finds the rows of one budget."""

    name: str
    values: Reals  # ascending
    rows: Mapping[float, int]
    records: Records
    request: TableOptions
    at: Values
    notes: tuple[Note, ...] = ()

    def observed(self, budget: float, within: NDArray[np.bool_] | None = None) -> Observations:
        """The rows at one budget; `within` (rows,) selects some of these rows."""
        rows, values = self.at(budget)
        if within is not None:
            rows, values = rows[within[rows]], None if values is None else values[within[rows]]
        records = self.records if values is None else with_values(self.records, self.request, rows, values)
        return replace(prepare(*select_rows(records, self.request, rows))[0], origin=None)

    def followed(self) -> bool:
        """Whether the same trials were run at rising budgets, and some of them were stopped early."""
        if self.rows[float(self.values[-1])] >= ALL * max(self.rows.values()):
            return False
        lowest = self.at(float(self.values[0]))[0]
        return bool(self.reached(float(self.values[-1]))[lowest].any())

    def reached(self, budget: float) -> NDArray[np.bool_]:
        """(rows,) Which rows belong to configurations that were run at this budget."""
        settings = [self.records.columns[name] for name in self.request.space or ()]
        groups = configurations(settings)
        return np.isin(groups, groups[self.at(budget)[0]])


def budgets_of(observed: Observations, space: Space, budget: object, nan: NanPolicy) -> Budgets:
    """The budgets from a column of the table, or from the intermediate values of a log."""
    origin = observed.origin or picked(observed, nan)
    curves, goal = None, observed.goals[0].column
    if origin.records.curves is not None and len(observed.goals) == 1 and goal is not None:
        read = origin.records.curves.read(goal)
        curves = read if len(read.budgets) > 1 else None
    name = as_name(budget, origin.records, curves)
    if name is None:
        return by_curves(origin, observed, space, curves)
    return by_rows(origin, observed, space, name)


def as_name(budget: object, records: Records, curves: Curves | None) -> str | None:
    """The column of budgets; None for intermediate values."""
    known = records.columns
    if budget is None:
        told = columns_in(records.metadata.where or "", known)
        if not told and curves is None:
            numbers = [name for name, column in known.items() if column.labels is None and not column.is_time]
            words = f" is missing, and the source has no default budget; choose a column: {listed(numbers, most=40)}"
            raise QueryError(Arg("budget"), words)
        return told[0] if told else None
    if not isinstance(budget, str):
        raise QueryError(Arg("budget", budget), " must be the name of a column of numbers")
    if curves is not None and (budget == STEP or (budget in known and ends_there(known[budget], curves))):
        return None
    if budget not in known:
        hint = f"; {STEP!r} uses the intermediate values" if curves is not None else ""
        raise QueryError(f"{unknown_name(budget, tuple(known), what='column')}{hint}")
    return budget


def ends_there(column: Column, curves: Curves) -> bool:
    """Whether the column contains, for each trial, the last step of its learning curve."""
    if column.labels is not None:
        return False
    reached = curves.reached(len(column))
    known = ~np.isnan(reached) & ~column.absent()
    return bool(known.any()) and np.array_equal(column.values[known].astype(np.float64), reached[known])


def picked(observed: Observations, nan: NanPolicy) -> Origin:
    """Make records from the rows of the analysis; needed if the source is gone, or if rows were selected later."""
    goals = observed.goals
    names = [goal.column for goal in goals if goal.column is not None]
    if len(names) < len(goals) and len(goals) > 1:
        raise QueryError("with several objectives, each must be a column; use .alone(name) to choose one objective")
    objective: object = names if len(names) > 1 else names[0] if names else goals[0].values
    where = None if observed.keep is None else observed.keep
    request = TableOptions(objective=objective, space=observed.space, where=where, reading=Reading(nan=nan))
    return Origin(Records(observed.table), request)


def by_rows(origin: Origin, observed: Observations, space: Space, name: str) -> Budgets:
    """The budgets of a table with one row for each configuration and budget."""
    records, request = widened(origin, observed, space, name)
    column = records.columns[name]
    if column.labels is not None or column.is_time:
        raise QueryError(Arg("budget", name), " must be a column of numbers; it holds text or dates")
    if name in {goal.column for goal in observed.goals}:
        raise QueryError(Arg("budget", name), " is the objective; choose the column of budgets, such as epochs")
    numbers = np.where(column.absent(), np.nan, column.values.astype(np.float64))
    numbers = np.where(np.isfinite(numbers), numbers, np.nan)
    values, counts = np.unique(numbers[~np.isnan(numbers)], return_counts=True)
    check_several(name, values, int(counts.sum()))
    order = np.argsort(numbers, kind="stable")  # one sort splits the table by budget; NaN comes last
    ends = np.cumsum(counts)
    parts = {float(v): np.sort(order[e - c : e]) for v, c, e in zip(values, counts, ends, strict=True)}
    rows = {budget: len(part) for budget, part in parts.items()}
    lost = len(numbers) - int(counts.sum())
    notes = (Note("rows", f"{lost:,} of {len(numbers):,} rows have no {name} and are left out"),) if lost else ()
    return Budgets(name, values, rows, records, request, lambda budget: (parts[budget], None), notes)


def by_curves(origin: Origin, observed: Observations, space: Space, curves: Curves | None) -> Budgets:
    """The budgets of a log with intermediate values of all trials, also of pruned ones."""
    if curves is None:
        raise QueryError("the source has no intermediate values of this objective; choose a column of budgets")
    check_several(STEP, curves.budgets, len(curves.rows))
    count = origin.records.rows
    last = np.full(count, np.nan)
    last[curves.rows] = curves.values  # sorted by step, so the last value remains
    plain = replace(origin, records=with_values(origin.records, origin.request, np.arange(count), last, curves.metric))
    records, request = widened(plain, observed, space, None)
    reached = curves.reached(count)

    def at(budget: float) -> tuple[Indices, Reals]:
        values = curves.at(budget, count)
        rows = np.flatnonzero(~np.isnan(values))
        return rows, values[rows]

    rows = {float(step): int((reached >= step).sum()) for step in curves.budgets}
    return Budgets(STEP, curves.budgets, rows, records, request, at)


def with_values(
    records: Records, request: TableOptions, rows: Indices, values: Reals, metric: str | None = None
) -> Records:
    """The records with the objective set to `values` in `rows`, and to NaN in all other rows."""
    name = metric if metric is not None else str(request.objective)
    column = np.full(records.rows, np.nan)
    column[rows] = values
    return replace(records, columns={**records.columns, name: Column(name, column)})


def widened(origin: Origin, observed: Observations, space: Space, name: str | None) -> tuple[Records, TableOptions]:
    """The records of all budgets, also of pruned trials, and options with a space that contains all their values."""
    records, request = origin.records, origin.request
    rule = records.metadata.where
    ours = name is None or name in columns_in(rule or "", records.columns)
    metadata = replace(records.metadata, where=None if ours else rule)
    goals = [goal.column for goal in observed.goals]
    if None not in goals:
        request = replace(request, objective=goals[0] if len(goals) == 1 else goals)
    wide = replace(
        request, direction=[goal.direction for goal in observed.goals], reading=replace(request.reading, pruned="last")
    )
    records, wide = complete(replace(records, metadata=metadata), wide)
    names = [one for one in space if one != name]
    if not names:
        raise QueryError(Arg("budget", name), " is the only parameter; nothing is left to rank")
    own = None if wide.space is None else Space({one: wide.space[one] for one in names})
    wide = replace(wide, space=own, params=names, exclude=None)
    rows = choose_rows(records.columns, records.rows, wide)
    choice = choose_space(tuple(records.columns), rows.goals, wide, TableColumns(records.columns, rows.keep))
    return records, replace(wide, space=choice.space, conditions=True, params=None)


def check_several(name: str, values: Reals, rows: int) -> None:
    if len(values) < 2:
        only = f"is {values[0]:g} in every row" if len(values) else "has no number in any row"
        raise QueryError(Arg("budget", name), f" {only}; choose a column that varies")
    if len(values) > rows / LEAST_TARGET and len(values) > MOST:
        words = f" has {len(values):,} different values in {rows:,} rows, too few rows for each value; round the values"
        raise QueryError(Arg("budget", name), words)


def chosen(budgets: Budgets, at: Sequence[float] | None, least: int) -> tuple[list[float], list[Note]]:
    """The budgets to use: `at`, or all budgets; if there are many, some of them, evenly spaced on a log scale."""
    if at is not None:
        at, known = list(at), set(budgets.values.tolist())
        for one in at:
            if isinstance(one, bool) or not isinstance(one, int | float) or float(one) not in known:
                shown = listed([f"{value:g}" for value in budgets.values], most=20)
                words = f" has {one!r}, which is not a budget of {budgets.name}; choose from {shown}"
                raise QueryError(Arg("at"), words)
        if not at:
            raise QueryError(Arg("at"), " is empty; leave it out to use all budgets")
        return sorted({float(one) for one in at}), []
    enough = [float(value) for value in budgets.values if budgets.rows[float(value)] >= least]
    if len(enough) <= MOST:
        return [float(value) for value in budgets.values], []
    low = enough[0] if enough[0] > 0 else min((one for one in enough if one > 0), default=1.0)
    wanted = np.geomspace(low, enough[-1], MOST) if enough[-1] > low else np.linspace(enough[0], enough[-1], MOST)
    places = np.array(enough)
    kept = sorted({float(places[np.argmin(np.abs(places - one))]) for one in wanted} | {enough[0], enough[-1]})
    few = [float(value) for value in budgets.values if budgets.rows[float(value)] < least]
    words = f"{len(kept)} of {len(enough):,} budgets are used, evenly spaced on a log scale; "
    return sorted([*kept, *few]), [Note("question", words, Arg("at", shown="[…]"), " selects others")]


Answer: TypeAlias = tuple[float, int, Importances] | TooFew  # budget, rows, importances


def along_budgets(
    data: TrialData, budget: str | None, question: Question, *, at: Sequence[float] | None = None, among: str = "all"
) -> Along:
    """The importances at each budget, and from which budget on the ranking is the same as at the full budget."""
    check_parts(question.target, question.region)
    check_choice("among", among, Among)
    budgets = budgets_of(data.observed(), data.space, budget, data.levels.nan)
    least = math.ceil(LEAST_TARGET / part_of(question.target)) if not question.force else 2
    selected, notes = chosen(budgets, at, least)
    notes = [*budgets.notes, *notes]
    answer = _answer_at(data, budgets, question, among)
    answers = [
        answer(one) for one in watched(selected[::-1], "budgets", len(selected), verb="asking")
    ]  # the full budget first
    enough = [one for one in answers if not isinstance(one, TooFew)]
    if not enough:
        most = max((one for one in answers if isinstance(one, TooFew)), key=lambda one: one.rows)
        few = f"budget {most.budget:g} has the most rows: {most.rows:,} ({most.why})"
        words = f"no budget of {budgets.name} has enough rows; {few}"
        raise TooFewRowsError(words)
    modelled = sorted(budget for budget, _, result in enough if result.estimator == "surrogate")
    if 0 < len(modelled) < len(enough):  # shares from a model and from counts are not comparable
        answer = _answer_at(data, budgets, replace(question, estimator="counts"), among)
        answers = [answer(one) for one in selected[::-1]]
        where = ", ".join(map(short, modelled))
        words = f"counts are used at all budgets, because a model can be used only at {budgets.name} {where}"
        notes = [*notes, Note("answer", words)]
    others = [one for one in budgets.values.tolist() if one not in selected and budgets.rows[one] >= least]
    others = others if at is None else []
    asked = str(as_region(question.target, "target")), str(as_region(question.region, "region"))
    combine = partial(along_of, budgets.name, asked, notes=notes, seed=question.seed, followed=budgets.followed())
    return refined(answers, others, answer, combine)


def _answer_at(data: TrialData, budgets: Budgets, question: Question, among: str) -> Callable[[float], Answer]:
    """A function that computes the answer at one budget; it must be called with the highest budget first.

    With ``among="full"``, lower budgets use only configurations that were also run at the full budget.
    """
    within: list[NDArray[np.bool_]] = []

    def answer(budget: float) -> Answer:
        try:
            result = importance_of(data.like(budgets.observed(budget, *within)), question)
        except (DataError, QueryError) as error:  # there are too few of these rows
            return TooFew(budget, budgets.rows[budget], str(error))
        if among == "full" and not within:
            within.append(budgets.reached(budget))
        return budget, result.rows[0].n_region, result

    return answer


def check_parts(target: object, region: object) -> None:
    """Raise an error if target or region is a value of the objective, because objectives differ between budgets."""
    for name, rows in (("target", target), ("region", region)):
        plain = isinstance(rows, Region | int | float | str) and not needs_rows(rows)
        if not plain or as_region(rows, name).kind != "quantile":
            raise QueryError(
                Arg(name),
                " must be a quantile, such as 0.1: a value of the objective means something different at each budget",
            )


def part_of(target: object) -> float:
    """The fraction of the rows that are in the target."""
    region = as_region(target, "target")
    return max(1e-6, float(region.high or 1.0) - float(region.low or 0.0))


def refined(
    answers: Sequence[Answer], others: Sequence[float], answer: Callable[[float], Answer], combine: Callable[..., Along]
) -> Along:
    """Compute importances at more budgets, to find the lowest one with the same ranking as the full budget."""
    answers, others = list(answers), list(others)
    while True:
        enough = sorted((one for one in answers if not isinstance(one, TooFew)), key=lambda one: one[0])
        left_out = sorted((one for one in answers if isinstance(one, TooFew)), key=lambda one: one.budget)
        result = combine(enough, left_out)
        since = result.since if result.since is not None else result.full.budget
        before = max((step.budget for step in result.steps if step.budget < since), default=since)
        between = [one for one in others if before < one < since]
        if not between:
            return result
        answers.append(answer(between[len(between) // 2]))
        others.remove(between[len(between) // 2])


def budget_name(data: TrialData) -> str | None:
    """The default budget of `Analysis.along`; None if the source has no budget."""
    if data.observations is None:
        return None
    try:
        return budgets_of(data.observations, data.space, None, data.levels.nan).name
    except (DataError, QueryError):
        return None
