"""What a prior is worth: every study searched with the prior of the others.

With rows, a draw from the prior is a draw among the rows of the study, each as likely as the prior is at its place
compared with a uniform draw; everything else is exact arithmetic, without a random number. The rows stand for the
space: of a complete table that is so, after a random search nearly, after an adaptive sampler it is not.

With tallies alone there is only the lift: how much more often draws are in the target, parameter by parameter, and
the product of these, as if parameters acted separately.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.base.digits import percent, short, times
from pedanova.base.notes import Note
from pedanova.base.table import Cell, Printed, Table, columns_of
from pedanova.counting.few_rows import FewRows, counted_rows, few_rows
from pedanova.errors import Arg, QueryError
from pedanova.measures.asks import Asks
from pedanova.measures.studies.belief import Beliefs
from pedanova.measures.studies.lifts import cells_at
from pedanova.space.grid import grid_of
from pedanova.space.parameters import Float, Int, Space

Reals: TypeAlias = NDArray[np.float64]
NEVER = 1_000_000  # trials


@dataclass(frozen=True, slots=True)
class StudyWorth:
    """One study, searched with the prior of all others.

    Attributes
    ----------
    study, rows
        Its name, and how many rows it has.
    lift
        How much more often a draw is in the target than a uniform one.
    trials, uniform_trials
        In the median, until the best of a uniform search is reached: by draws from the prior, by a second
        uniform search. None without rows.
    best, uniform_best
        The best objective of that many trials, in the median. None without rows.
    no_worse
        Whether the first is at least as good as the second; None without rows.
    effective
        Rows that the answer rests on, as the prior weights them; None without rows.
    """

    study: str
    rows: int
    lift: float
    trials: int | None = None
    uniform_trials: int | None = None
    best: float | None = None
    uniform_best: float | None = None
    no_worse: bool | None = None
    effective: float | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Worth(Table):
    """A line for each study, with what a search with the prior of the others finds there.

    Attributes
    ----------
    rows
        By study: ``lift``, how much more often a draw is in the target than a uniform one; ``trials``, until the best
        of a uniform search is reached; ``best`` and ``uniform_best``, found in as many trials.
    trials
        Of the uniform search that it is held against.
    notes
        What to know beside the numbers.

    Examples
    --------
    >>> import numpy as np, pedanova as pa
    >>> rng = np.random.default_rng(0)
    >>> table = {"lr": rng.random(300), "other": rng.random(300), "dataset": np.repeat(["adult", "car"], 150)}
    >>> table["loss"] = (table["lr"] - 0.3) ** 2
    >>> x = pa.across(table, "loss", group="dataset", estimator="counts")
    >>> worth = x.prior().left_out(trials=20)
    >>> worth.trials, worth.safe, all(row.lift > 1 for row in worth.rows)
    (20, 1.0, True)
    """

    rows: tuple[StudyWorth, ...]
    trials: int
    notes: tuple[Note, ...] = ()

    def to_dict(self) -> dict[str, list[Cell]]:
        return columns_of(self.rows)

    def printed(self) -> Printed:
        rows = self.rows
        return [
            ("left out", [row.study for row in rows]),
            ("rows", [f"{row.rows:,}" for row in rows]),
            ("lift", [times(row.lift) for row in rows]),
            ("trials", [_number(row.trials) for row in rows]),
            ("uniform", [_number(row.uniform_trials) for row in rows]),
            (f"best of {self.trials}", [_number(row.best) for row in rows]),
            ("uniform's", [_number(row.uniform_best) for row in rows]),
        ]

    @property
    def median_trials(self) -> float | None:
        """Over the studies that have rows."""
        known = [row.trials for row in self.rows if row.trials is not None]
        return float(np.median(known)) if known else None

    @property
    def safe(self) -> float | None:
        """The part of the studies in which the best of as many trials is, in the median, no worse than uniform."""
        known = [row.no_worse for row in self.rows if row.no_worse is not None]
        return float(np.mean(known)) if known else None

    def heading(self) -> str:
        if not self.rows:
            return "Nothing is known of what it is worth: there is only one study"
        lift = f"draws are {times(float(np.median([row.lift for row in self.rows])))} as often in the target"
        if self.median_trials is None or self.safe is None:
            return f"What the prior of the other studies is worth: {lift}, in the median"
        reach = f"the best of {self.trials} uniform trials is reached in {self.median_trials:g}"
        return f"What the prior of the other studies is worth: {reach}, in the median; no worse in {percent(self.safe)}"


def _number(value: float | None) -> str:
    return "" if value is None else "never" if value >= NEVER else short(value)


def worth_of(prior: Beliefs, trials: int = 50) -> Worth:
    """Leaves out one study after the other."""
    if isinstance(trials, bool) or not isinstance(trials, int | np.integer) or trials < 1:
        raise QueryError(Arg("trials", trials), " must be a whole number from 1 up")
    if len(prior.studies) < 2:
        return Worth((), int(trials), (Note("answer", "one study alone cannot be left out"),))
    rows = tuple(_left_out(prior, study, int(trials)) for study in prior.studies)
    without = sum(row.trials is None for row in rows)
    words = (
        f"{without} of {len(rows)} studies have no rows at hand: their lift is that of single parameters, multiplied"
    )
    return Worth(rows, int(trials), (Note("answer", words),) if without else ())


def _left_out(prior: Beliefs, study: str, trials: int) -> StudyWorth:
    analysis, others = prior.analyses[study], prior.without(study)
    if analysis.observations is None or len(analysis.observations.goals) > 1:
        return StudyWorth(study, analysis.rows, told_lift(prior, others, study))
    few = rows_of(analysis)
    weights = weights_of(others, analysis.space, few)
    good = few.signed <= np.sort(few.signed)[max(1, analysis.reach(prior.how["target"])[1]) - 1]
    found = compared(few.signed, weights, trials)
    sign = analysis.levels.sign
    return StudyWorth(
        study=study,
        rows=len(few),
        lift=float(weights[good].mean()),
        trials=found.trials,
        uniform_trials=found.uniform_trials,
        best=sign * found.best,
        uniform_best=sign * found.uniform_best,
        no_worse=found.best <= found.uniform_best,
        effective=float(weights.sum() ** 2 / np.sum(weights**2)),
    )


def rows_of(analysis: Asks) -> FewRows:
    """The rows that count, in cells of the study's own grids."""
    observed = analysis.observations
    if observed is None:
        raise QueryError("the rows are no longer at hand (loaded or added); analyze the data again")
    return few_rows(observed, np.flatnonzero(counted_rows(observed, analysis.levels.nan)))


def weights_of(prior: Beliefs, space: Space, few: FewRows) -> Reals:
    """(rows,) How often each row is drawn where a uniform search draws it once; the mean is one."""
    found = np.ones(len(few))
    for name, ratio in ratios_for(prior, space).items():
        found *= ratio[few.cells[name]]
    mean = float(found.mean())
    return (1.0 - prior.safety) * found / mean + prior.safety if mean > 0 else np.ones(len(few))


def ratios_for(prior: Beliefs, space: Space) -> dict[str, Reals]:
    """For the parameters of a study's own space, (cells + 2,) the prior's lift at its cells; 1 without a value."""
    found = {}
    for row in prior.rows:
        own = space.get(row.name)
        if own is None or isinstance(own, Float | Int) != isinstance(row.parameter, Float | Int):
            continue
        grid = grid_of(own)
        if len(grid.blocks) == 1:
            cells = cells_at(row.grid, grid)
            found[row.name] = np.r_[np.where(cells >= 0, row.lift[np.maximum(cells, 0)], 1.0), 1.0, 1.0]
    return found


def told_lift(prior: Beliefs, others: Beliefs, study: str) -> float:
    """From tallies alone: the lifts of single parameters, each as far as it exists, multiplied."""
    lift, tallies = 1.0, prior.analyses[study].tallies
    for row, other in zip(prior.rows, others.rows, strict=True):
        if study in row.studies:
            tally = tallies[row.name]
            active = float(tally.counts[:, : tally.grid.cells].sum() / max(1, tally.rows))
            lift *= 1.0 + active * (float(row.lifts[row.studies.index(study)] @ other.parts) - 1.0)
    return (1.0 - prior.safety) * lift + prior.safety


@dataclass(frozen=True, slots=True)
class Compared:
    """Two searches among the same rows; the objective is such that less is better."""

    trials: int
    uniform_trials: int
    best: float
    uniform_best: float


def compared(signed: Reals, weights: Reals, trials: int) -> Compared:
    """Draws by weight against even draws, both with putting back; exact.

    With U(v) and Q(v) the parts of even and of weighted draws that are at least as good as v, the best of n even
    draws is at least as good as v with 1 - (1 - U)ⁿ, and t weighted draws reach it with E[1 - (1 - Q(best))ᵗ].
    """
    values, place = np.unique(signed, return_inverse=True)
    even = np.cumsum(np.bincount(place)) / len(signed)
    drawn = np.minimum(np.cumsum(np.bincount(place, weights=weights)) / weights.sum(), 1.0)
    even[-1] = drawn[-1] = 1.0
    best = np.diff(1.0 - (1.0 - even) ** trials, prepend=0.0)
    return Compared(
        trials=_median_trials(best, drawn),
        uniform_trials=_median_trials(best, even),
        best=float(values[_median_best(drawn, trials)]),
        uniform_best=float(values[_median_best(even, trials)]),
    )


def _median_best(reached: Reals, trials: int) -> int:
    return int(np.argmax(1.0 - (1.0 - reached) ** trials >= 0.5))


def _median_trials(best: Reals, reached: Reals) -> int:
    """The first t with E[1 - (1 - Q)ᵗ] ≥ 1/2, by halving."""
    low, high = 1, NEVER
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if best @ (1.0 - (1.0 - reached) ** middle) >= 0.5 else (middle + 1, high)
    return low
