"""Importances at several budgets, and how well their rankings agree with the ranking at the full budget.

For the interval of Spearman's correlation, the shares of both rankings are drawn independently within their intervals.
If both rankings use the same trials, this makes the interval wider than necessary. Parameters without a clear
effect in either answer are tied at the last rank.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.base.digits import percent, short
from pedanova.base.notes import Note
from pedanova.base.table import Cell, Printed, Table, columns_of, html_table
from pedanova.base.terminal import TableColumn
from pedanova.errors import Arg, QueryError, UnknownParameterError, unknown_name
from pedanova.measures.importance import Importance, Importances, beats_chance, marked_share
from pedanova.measures.studies.pooling import spearman
from pedanova.measures.studies.study_difference import recovered
from pedanova.space.grid import Reals

Verdict: TypeAlias = Literal["same", "other", "unsure"]
DRAWS = 2000
WIDTH = 1.96  # half the width of a 95 % interval, in deviations
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


def agreement_of(one: Importances, other: Importances, *, draws: int = DRAWS, seed: int = 0) -> Agreement:
    """The agreement of two rankings, over the parameters that varied in both.

    If no parameter has a clear effect in `other`, there is no ranking to compare with.
    """
    pairs = [(row, other[row.name]) for row in one.rows if row.name in other]
    pairs = sorted((p for p in pairs if p[0].varied and p[1].varied), key=lambda pair: pair[0].name)
    noise = np.array([_is_noise(here) and _is_noise(there) for here, there in pairs], dtype=bool)
    if len(pairs) < 2 or all(_is_noise(there) for _, there in pairs):
        return Agreement(None, None, None, None)
    found = [_shares(rows, noise) for rows in zip(*pairs, strict=True)]
    point = spearman(*found)[0]
    if any(row.low is None for pair in pairs for row in pair):
        return Agreement(float(point), None, None, None)
    rng = np.random.default_rng([seed])
    here, there = (list(rows) for rows in zip(*pairs, strict=True))
    drawn = [_drawn(rows, noise, draws, rng) for rows in (here, there)]
    low, high = np.percentile(spearman(*drawn), (2.5, 97.5))
    again = [_drawn(_as_sure_as(rows, there), noise, draws, rng) for rows in (here, there)]
    itself = np.percentile(spearman(*again), EARLIEST)
    ends = min(float(low), float(point)), max(float(high), float(point))
    return Agreement(float(point), *ends, float(itself), turned_pairs(pairs), len(pairs))


def turned_pairs(pairs: Sequence[tuple[Importance, Importance]]) -> tuple[tuple[str, str], ...]:
    """Pairs of parameters that are in clearly opposite order in the two answers."""
    turned = []
    for one, two in combinations(pairs, 2):
        here, there = (recovered(one[place], two[place]) for place in (0, 1))
        if here.clear and there.clear and (here.difference > 0) != (there.difference > 0):
            turned.append((one[0].name, two[0].name))
    return tuple(turned)


def _is_noise(row: Importance) -> bool:
    return row.significant is False or row.share <= 0


def _shares(rows: Sequence[Importance], noise: NDArray[np.bool_]) -> Reals:
    shares = np.array([[max(0.0, row.share) for row in rows]])
    return np.where(noise, 0.0, shares)


def _drawn(rows: Sequence[Importance], noise: NDArray[np.bool_], draws: int, rng: np.random.Generator) -> Reals:
    """(draws, parameters) Shares drawn within their intervals."""
    share, low, high = (np.array([getattr(row, name) for row in rows], dtype=np.float64) for name in NUMBERS)
    normals = rng.standard_normal((draws, len(rows)))
    reach = np.where(normals < 0, share - np.minimum(low, share), np.maximum(high, share) - share) / WIDTH
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
        if name not in self.full.importances:
            raise UnknownParameterError(unknown_name(name, tuple(self.full.importances)))
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
            TableColumn("95 % interval", [interval_in_words(step.agreement) for step in self.steps]),
            TableColumn("ranking", [self.verdict_in_words(step) for step in self.steps]),
        ]

    def first(self, step: AtBudget) -> str:
        """At one budget, the most important parameter with a clear effect; an empty string if no effect is clear."""
        return next((row.name for row in step.importances.rows if beats_chance(row)), "")

    def verdict_in_words(self, step: AtBudget) -> str:
        return (
            "full" if step is self.full else {"same": "the same", "other": "another"}.get(step.agreement.verdict, "?")
        )

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
    if not answers:
        raise QueryError(f"importances could not be computed at any budget of {name}; there is nothing to compare")
    full = answers[-1][2]
    steps = tuple(
        AtBudget(budget, rows, found, agreement_of(found, full, seed=seed)) for budget, rows, found in answers
    )
    told = [*_few_notes(name, left_out, steps[-1].budget), *(_survivor_notes(name, steps) if followed else []), *notes]
    told += _doubts(name, steps)
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


def _survivor_notes(name: str, steps: Sequence[AtBudget]) -> list[Note]:
    """A note if trials were stopped early, because only good trials may have reached the full budget."""
    most = max(step.rows for step in steps)
    left = steps[-1].rows
    if left >= ALL * most:
        return []
    words = f"{left:,} of {most:,} trials reached {name} {short(steps[-1].budget)}, perhaps because they were "
    return [
        Note("doubt", words, "better at lower budgets; ", Arg("among", "full"), " uses the same trials at every budget")
    ]


def _doubts(name: str, steps: Sequence[AtBudget]) -> list[Note]:
    """The warnings of all answers; a warning that does not apply to all budgets names its budgets."""
    found: dict[Note, list[str]] = {}
    for step in steps:
        for note in step.importances.notes:
            if note.kind == "doubt":
                found.setdefault(note, []).append(short(step.budget))
    return [
        note if len(budgets) == len(steps) else note.about(f"{name} {', '.join(budgets)}")
        for note, budgets in found.items()
    ]
