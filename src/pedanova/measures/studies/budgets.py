"""Find the rows at each budget, compute the importances at each, and compare their rankings with the full budget.

For the interval of Spearman's correlation, the shares of both rankings are drawn independently within their intervals.
If both rankings use the same trials, this makes the interval wider than necessary. Parameters without a clear
effect in either answer are tied at the last rank.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.base.digits import percent, short
from pedanova.base.notes import Note
from pedanova.base.progress import watched
from pedanova.base.table import Cell, Printed, Table, columns_of, html_table
from pedanova.base.terminal import TableColumn
from pedanova.counting.few_rows import Indices
from pedanova.data.column import Column
from pedanova.data.observations import Observations
from pedanova.data.options import NanPolicy, Reading, check_choice
from pedanova.data.prepare import choose_rows, prepare
from pedanova.data.records import Curves, Records
from pedanova.data.regions import LEAST_TARGET, Region, columns_in, needs_rows
from pedanova.data.row_status import configurations
from pedanova.data.space_inference import TableColumns, choose_space
from pedanova.data.table_options import Origin, TableOptions, complete, select_rows
from pedanova.errors import Arg, DataError, QueryError, TooFewRowsError, check_names, listed, unknown_name
from pedanova.measures.clear import beats_chance
from pedanova.measures.distributions import NORMAL
from pedanova.measures.importance import Importance, Importances, marked_share
from pedanova.measures.question import Question
from pedanova.measures.questions.ask import importance_of
from pedanova.measures.questions.trial_data import TrialData
from pedanova.measures.studies.pooling import spearman
from pedanova.measures.studies.study_difference import recovered
from pedanova.space.grid import Reals
from pedanova.space.parameters import Space

Verdict: TypeAlias = Literal["same", "other", "unsure"]
DRAWS = 2000
NEAR = 0.9  # a rank correlation from this value on counts as the same ranking, however many rows there are
LEAST, OF_THREE = 0.6, 0.5  # the least correlation of equal rankings, and for three parameters (one swap gives 0.5)
EARLIEST = 5  # percent of repeated answers that would agree less
NUMBERS = ("share", "low", "high")


@dataclass(frozen=True, slots=True)
class Agreement:
    """How well one ranking of parameters agrees with another."""

    spearman: float | None  # rank correlation of the shares, with its 95 % interval
    low: float | None
    high: float | None
    itself: float | None  # what a repetition of the other ranking, with this uncertainty, reaches in 95 % of cases
    turned: tuple[tuple[str, str], ...] = ()  # pairs whose order is clear in both rankings and opposite
    count: int = 0  # the number of ranked parameters

    @property
    def verdict(self) -> Verdict:
        """``"same"`` or ``"other"`` if the two rankings are clearly the same or different, else ``"unsure"``.

        For ``"same"``, the lower end of the interval must be at least 0.6 (0.5 for three parameters).
        """
        if self.spearman is None or self.low is None or self.high is None or self.itself is None:
            return "unsure"
        floor = min(NEAR, max(LEAST, self.itself))
        if self.turned or self.high < floor:
            return "other"
        least = OF_THREE if self.count == 3 else LEAST
        return "same" if self.spearman >= floor and self.low >= least else "unsure"


def agreement_of(one: Importances, other: Importances, *, seed: int = 0) -> Agreement:
    """The agreement of two rankings, over the parameters that varied in both.

    If no parameter has a clear effect in `other`, there is no ranking to compare with.
    """
    pairs = [(row, other[row.name]) for row in one.rows if row.name in other]
    pairs = sorted((p for p in pairs if p[0].varied and p[1].varied), key=lambda pair: pair[0].name)
    noise = np.array([_is_noise(here) and _is_noise(there) for here, there in pairs], dtype=bool)
    if len(pairs) < 2 or all(_is_noise(there) for _, there in pairs):
        return Agreement(None, None, None, None)
    here, there = (list(rows) for rows in zip(*pairs, strict=True))
    shares = [np.where(noise, 0.0, np.array([[max(0.0, row.share) for row in rows]])) for rows in (here, there)]
    point = spearman(*shares)[0]
    if any(row.low is None for pair in pairs for row in pair):
        return Agreement(float(point), None, None, None)
    rng = np.random.default_rng([seed])
    drawn = [_drawn(rows, noise, rng) for rows in (here, there)]
    low, high = np.percentile(spearman(*drawn), (2.5, 97.5))
    again = [_drawn(_as_sure_as(rows, there), noise, rng) for rows in (here, there)]
    itself = np.percentile(spearman(*again), EARLIEST)
    ends = min(float(low), float(point)), max(float(high), float(point))
    turned = []  # pairs of parameters that are in clearly opposite order in the two answers
    for one_pair, two_pair in combinations(pairs, 2):
        first, second = (recovered(one_pair[place], two_pair[place]) for place in (0, 1))
        if first.clear and second.clear and (first.difference > 0) != (second.difference > 0):
            turned.append((one_pair[0].name, two_pair[0].name))
    return Agreement(float(point), *ends, float(itself), tuple(turned), len(pairs))


def _is_noise(row: Importance) -> bool:
    return row.significant is False or row.share <= 0


def _drawn(rows: Sequence[Importance], noise: NDArray[np.bool_], rng: np.random.Generator) -> Reals:
    """(DRAWS, parameters) Shares drawn within their intervals."""
    share, low, high = (np.array([getattr(row, name) for row in rows], dtype=np.float64) for name in NUMBERS)
    normals = rng.standard_normal((DRAWS, len(rows)))
    reach = np.where(normals < 0, share - np.minimum(low, share), np.maximum(high, share) - share) / NORMAL
    return np.where(noise, 0.0, np.maximum(0.0, share + reach * normals))


def _as_sure_as(rows: Sequence[Importance], centre: Sequence[Importance]) -> list[Importance]:
    """The importances in `centre`, each with an interval that is as wide as the interval in `rows`."""
    return [
        replace(mid, low=mid.share + (row.low or 0.0) - row.share, high=mid.share + (row.high or 0.0) - row.share)
        for row, mid in zip(rows, centre, strict=True)
    ]


MOST_TOLD = 6  # the number of budgets that a sentence lists
ALL = 0.9  # if the full budget has a smaller part of the trials, a note says that these were selected


@dataclass(frozen=True, slots=True)
class AtBudget:
    """The importances at one budget, and their agreement with the full budget."""

    budget: float
    rows: int  # the rows that count at this budget
    importances: Importances
    agreement: Agreement


@dataclass(frozen=True, slots=True)
class TooFew:
    """A budget with too few rows for an answer, and the reason."""

    budget: float
    rows: int
    why: str


@dataclass(frozen=True, slots=True, repr=False)
class Along(Table):
    """The importances at every budget, the lowest first: ``for step in along: step.importances["lr"]``.

    Attributes
    ----------
    name
        The name of the budget.
    target, region
        The target and the region, in words.
    steps
        The budgets with enough rows.
    left_out
        Budgets that were left out, each with its number of rows and the reason.

    Examples
    --------
    >>> import numpy as np, pedanova as pa
    >>> x, epochs = np.random.default_rng(0).random(200), np.tile([1.0, 10.0], 100)
    >>> found = pa.analyze({"x": x, "epochs": epochs, "loss": x}, "loss").along("epochs", draws=0)
    >>> found.name, [budget for budget, _ in found.of("x")]
    ('epochs', [1.0, 10.0])
    """

    internal = Table.internal | {"by_parameter", "cost", "first", "verdict_in_words"}
    name: str
    target: str  # in words, the same part of the rows at every budget
    region: str
    steps: tuple[AtBudget, ...]
    left_out: tuple[TooFew, ...] = ()
    notes: tuple[Note, ...] = ()

    def __iter__(self) -> Iterator[AtBudget]:
        return iter(self.steps)

    def __len__(self) -> int:
        return len(self.steps)

    @property
    def full(self) -> AtBudget:
        """The highest budget with enough rows; all other budgets are compared with it."""
        return self.steps[-1]

    @property
    def since(self) -> float | None:
        """The budget from which all rankings are the same as at the full budget; None if there is no such budget."""
        found = None
        for step in reversed(self.steps[:-1]):
            if step.agreement.verdict != "same":
                break
            found = step.budget
        return found

    def cost(self, step: AtBudget) -> float | None:
        """The budget divided by the full budget; None if the budget is 0 or negative."""
        return step.budget / self.full.budget if step.budget > 0 else None

    def of(self, name: str) -> list[tuple[float, Importance]]:
        """The importance of one parameter at each budget.

        Parameters
        ----------
        name
            The parameter.

        Returns
        -------
        list of tuple of float and Importance
            Pairs (budget, importance), the lowest budget first.

        Raises
        ------
        UnknownParameterError
            There is no parameter of this name.
        """
        check_names([name], self.full.importances)
        return [(step.budget, step.importances[name]) for step in self.steps]

    def by_parameter(self) -> list[list[Importance]]:
        """The importances at every budget, by parameter; sorted by the importance at the full budget."""
        return [[step.importances[name] for step in self.steps] for name in self.full.importances]

    def to_dict(self) -> dict[str, list[Cell]]:
        """One entry for every budget and parameter."""
        pairs = [(step, row) for step in self.steps for row in step.importances.rows]
        about: dict[str, list[Cell]] = {
            "budget": [step.budget for step, _ in pairs],
            "rows": [step.rows for step, _ in pairs],
            "cost": [self.cost(step) for step, _ in pairs],
            "spearman": [step.agreement.spearman for step, _ in pairs],
            "spearman_low": [step.agreement.low for step, _ in pairs],
            "spearman_high": [step.agreement.high for step, _ in pairs],
            "ranking": [None if step is self.full else step.agreement.verdict for step, _ in pairs],
        }
        return about | columns_of([row for _, row in pairs])

    def printed(self) -> Printed:
        """A table with one line for every budget: the shares, and the agreement with the full budget."""
        names = list(self.full.importances)
        columns = [TableColumn(name, [marked_share(step.importances[name]) for step in self.steps]) for name in names]
        return [
            TableColumn(self.name, [short(step.budget) for step in self.steps]),
            TableColumn("rows", [f"{step.rows:,}" for step in self.steps]),
            *columns,
            TableColumn("Spearman", [spearman_in_words(step.agreement) for step in self.steps]),
            TableColumn("95 % interval", [interval_in_words(step.agreement) for step in self.steps], leave=1),
            TableColumn("ranking", [self.verdict_in_words(step) for step in self.steps]),
        ]

    def first(self, step: AtBudget) -> str:
        """At one budget, the most important parameter with a clear effect; an empty string if no effect is clear."""
        return next((row.name for row in step.importances.rows if beats_chance(row)), "")

    def verdict_in_words(self, step: AtBudget) -> str:
        words = {"same": "the same", "other": "another"}
        return "full" if step is self.full else words.get(step.agreement.verdict, "?")

    def heading(self) -> str:
        return f"Importance by {self.name}: {self.target} compared with {self.region}"

    def _repr_html_(self) -> str:
        return html_table(f"{self.heading()}. {self.summary()}", self.printed(), notes=self.notes)

    def summary(self) -> str:
        """A sentence: from which budget on the ranking stays the same, and what this budget costs."""
        full = f"{self.name} {short(self.full.budget)}"
        if len(self.steps) == 1:
            return f"Only {full} has enough rows: nothing can be compared."
        last = self.steps[-2]
        if len(self.full.importances) < 2:
            return "With one parameter there is no ranking."
        if last.agreement.spearman is None:
            return f"No parameter is distinguishable from noise at {full}: there is no ranking to compare with."
        if self.since is not None:
            step = next(step for step in self.steps if step.budget == self.since)
            at = f"At {self.name} {short(step.budget)} of {short(self.full.budget)} the ranking is already the same as"
            part = self.cost(step)
            cost = "" if part is None else f"; this budget takes {percent(part)} of the cost"
            return f"{at} at the full budget: {agreement_in_words(step.agreement)}{cost}."
        where = f"the next lower budget is {self.name} {short(last.budget)}: {agreement_in_words(last.agreement)}"
        if last.agreement.verdict == "other":
            pair = " and ".join(last.agreement.turned[0]) if last.agreement.turned else ""
            turned = f", and {pair} are clearly in the opposite order" if pair else ""
            return f"No lower budget gives the same ranking as {full}; {where}{turned}."
        return f"There are too few rows to say whether a lower budget gives the same ranking as {full}; {where}."


def spearman_in_words(agreement: Agreement) -> str:
    return "" if agreement.spearman is None else f"{agreement.spearman:.2f}".replace("-", "−")


def interval_in_words(agreement: Agreement) -> str:
    if agreement.low is None or agreement.high is None:
        return ""
    return f"{agreement.low:.2f} … {agreement.high:.2f}".replace("-", "−")


def agreement_in_words(agreement: Agreement) -> str:
    ends = interval_in_words(agreement)
    return f"Spearman {spearman_in_words(agreement)}{f', {ends}' if ends else ''}"


def along_of(
    name: str,
    question: tuple[str, str],
    answers: Sequence[tuple[float, int, Importances]],
    left_out: Sequence[TooFew] = (),
    notes: Sequence[Note] = (),
    *,
    seed: int = 0,
    followed: bool = True,
) -> Along:
    """Compare the ranking at each budget in `answers` (lowest first) with the ranking at the highest budget."""
    full = answers[-1][2]
    steps = tuple(
        AtBudget(budget, rows, found, agreement_of(found, full, seed=seed)) for budget, rows, found in answers
    )
    told = _few_notes(name, left_out, steps[-1].budget)
    most, left = max(step.rows for step in steps), steps[-1].rows
    if followed and left < ALL * most:  # only good trials may have reached the full budget
        words = f"{left:,} of {most:,} trials reached {name} {short(steps[-1].budget)}, perhaps because they were "
        remedy = "better at lower budgets; ", Arg("among", "full"), " uses the same trials at every budget"
        told.append(Note("doubt", words, *remedy))
    told += [*notes, *_doubts(name, steps)]
    return Along(name, *question, steps, tuple(left_out), tuple(told))


def _few_notes(name: str, left_out: Sequence[TooFew], full: float) -> list[Note]:
    if not left_out:
        return []
    shown = [f"{short(one.budget)} ({one.rows:,} rows)" for one in left_out[:MOST_TOLD]]
    more = len(left_out) - len(shown)
    budgets = ", ".join([*shown, *([f"and {more:,} more"] if more else [])])
    notes = [Note("rows", f"left out, because of too few rows: {name} {budgets}")]
    beyond = [one for one in left_out if one.budget > full]
    if beyond:
        words = f"the reference ranking is at {name} {short(full)}, the highest budget with enough rows; a wider "
        notes.append(Note("doubt", words, Arg("target"), " needs fewer rows"))
    return notes


def _doubts(name: str, steps: Sequence[AtBudget]) -> list[Note]:
    """The warnings of all answers; a warning that does not apply to all budgets names its budgets."""
    found: dict[Note, list[str]] = {}
    for step in steps:
        for note in step.importances.notes:
            if note.kind == "doubt":
                found.setdefault(note, []).append(short(step.budget))
    every = len(steps)
    return [one if len(at) == every else one.about(f"{name} {', '.join(at)}") for one, at in found.items()]


# The rows at a budget, and their objective if it is not in the column.
Values: TypeAlias = Callable[[float], tuple[Indices, Reals | None]]
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
    directions = [goal.direction for goal in observed.goals]
    wide = replace(request, direction=directions, reading=replace(request.reading, pruned="last"))
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
    target = Region.parse(question.target, "target")
    part = max(1e-6, float(target.high or 1.0) - float(target.low or 0.0))
    least = math.ceil(LEAST_TARGET / part) if not question.force else 2
    selected, notes = chosen(budgets, at, least)
    notes = [*budgets.notes, *notes]
    answer = _answer_at(data, budgets, question, among)
    full_first = watched(selected[::-1], "budgets", len(selected), verb="asking")
    answers = [answer(one) for one in full_first]
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
    asked = str(Region.parse(question.target, "target")), str(Region.parse(question.region, "region"))
    followed = budgets.followed()
    while True:  # more budgets, to find the lowest one with the same ranking as the full budget
        enough = sorted((one for one in answers if not isinstance(one, TooFew)), key=lambda one: one[0])
        left_out = sorted((one for one in answers if isinstance(one, TooFew)), key=lambda one: one.budget)
        result = along_of(budgets.name, asked, enough, left_out, notes, seed=question.seed, followed=followed)
        since = result.since if result.since is not None else result.full.budget
        before = max((step.budget for step in result.steps if step.budget < since), default=since)
        between = [one for one in others if before < one < since]
        if not between:
            return result
        answers.append(answer(between[len(between) // 2]))
        others.remove(between[len(between) // 2])


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
        if not plain or Region.parse(rows, name).kind != "quantile":
            raise QueryError(
                Arg(name),
                " must be a quantile, such as 0.1: a value of the objective means something different at each budget",
            )


def budget_name(data: TrialData) -> str | None:
    """The default budget of `Analysis.along`; None if the source has no budget."""
    if data.observations is None:
        return None
    try:
        return budgets_of(data.observations, data.space, None, data.levels.nan).name
    except (DataError, QueryError):
        return None
