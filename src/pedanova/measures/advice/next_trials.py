"""Choose configurations to run next: to learn more about the ranking, to find better ones, or both.

To learn about the ranking, choose configurations that are hard to assign to the best tenth or to the rest (the straddle
rule). To find better ones, choose configurations with the largest expected improvement. After each choice, the model
becomes less uncertain about similar configurations.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np

from pedanova.base.digits import percent, short
from pedanova.base.notes import Note
from pedanova.base.table import Cell, Printed, Table
from pedanova.base.terminal import TableColumn
from pedanova.data.column import Mask, as_column
from pedanova.data.records import MARK
from pedanova.data.regions import RowSet, as_rows
from pedanova.errors import Arg, QueryError
from pedanova.measures.advice.configurations import Rules
from pedanova.measures.distributions import NORMAL, normal_below
from pedanova.measures.question import TARGET
from pedanova.measures.surrogate.objective_model import ObjectiveModel, Settings
from pedanova.space.grid import Reals
from pedanova.space.parameters import Moving
from pedanova.space.values import Label

Goal: TypeAlias = Literal["know", "win", "both"]
STEP = 0.15  # standard deviation of a step, as a part of the range
SOUND = 0.9  # the least probability of success of a proposed trial
NEAR_ROWS, MOVES = 12, 25  # the number of best trials, and of changes of each, that are candidates


@dataclass(frozen=True, slots=True)
class NextTrial:
    """A configuration to run.

    Attributes
    ----------
    values
        The values of all active parameters, as a dict for Optuna's `study.enqueue_trial`.
    goal
        The purpose of the trial: ``know`` or ``win``.
    reason
        Why the trial was chosen, in words.
    expected, low, high
        The predicted objective with a 95 % interval; None without a model.
    succeeds
        The probability that the trial does not fail; None if hardly any trial failed.
    better
        The probability that its result is better than the best result so far; None without a model.

    Examples
    --------
    >>> import pedanova as pa
    >>> trial = next(iter(pa.analyze(pa.demo_trials(), "error").first(200).next_trials(1, goal="win")))
    >>> trial.goal, trial.low <= trial.expected <= trial.high
    ('win', True)
    """

    values: Mapping[str, Label]
    goal: str
    reason: str
    expected: float | None
    low: float | None
    high: float | None
    succeeds: float | None = None
    better: float | None = None

    @property
    def attributes(self) -> dict[str, str]:
        """The attributes to store with the trial: ``study.enqueue_trial(t.values, user_attrs=t.attributes)``."""
        return {MARK: self.goal}


@dataclass(frozen=True, slots=True, repr=False)
class NextTrials(Table):
    """Configurations to run next, in order: iterate over them, or write them as CSV or JSON.

    Keep the column ``pedanova_next`` in your log. It tells a later analysis that these trials are not a random sample
    of the space.

    Attributes
    ----------
    rows
        One `NextTrial` for each configuration.
    parameters
        The names of the parameters, in the order of the space.

    Examples
    --------
    >>> import pedanova as pa
    >>> trials = pa.analyze(pa.demo_trials(), "error").first(200).next_trials(4)
    >>> [trial.goal for trial in trials]
    ['know', 'win', 'know', 'win']
    >>> list(trials.to_dict())[-3:]
    ['pedanova_next', 'expected', 'reason']
    """

    rows: tuple[NextTrial, ...]
    parameters: tuple[str, ...]
    notes: tuple[Note, ...] = field(default=())

    def __iter__(self) -> Iterator[NextTrial]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def to_dict(self) -> dict[str, list[Cell]]:
        columns: dict[str, list[Cell]] = {n: [row.values.get(n) for row in self.rows] for n in self.parameters}
        columns[MARK] = [row.goal for row in self.rows]
        return columns | {"expected": [row.expected for row in self.rows], "reason": [row.reason for row in self.rows]}

    def to_json(self) -> str:
        """The trials as a JSON list. Each trial is an object with its values and ``pedanova_next``."""
        return json.dumps([{**row.values, **row.attributes} for row in self.rows], indent=1, ensure_ascii=False) + "\n"

    def printed(self) -> Printed:
        names = [TableColumn(n, [short(row.values.get(n)) for row in self.rows], "words") for n in self.parameters]
        chance = self.column("succeeds", lambda row: "" if row.succeeds is None else percent(row.succeeds))
        return [
            *names,
            self.column("expected", lambda row: short(row.expected)),
            self.column("95 % interval", interval_of),
            *([chance] if any(row.succeeds is not None for row in self.rows) else []),
            self.column("why", lambda row: row.reason, kind="words"),
        ]


def interval_of(trial: NextTrial) -> str:
    return "" if trial.low is None else f"{short(trial.low)} to {short(trial.high)}"


def allowed(rules: Rules, settings: Settings, kept: Mapping[str, Mask], within: object) -> Settings:
    """The configurations that lie in the allowed cells (`kept`) and in the region `within` (a box or a condition)."""
    for j, name in enumerate(rules.names):
        if name in kept:
            settings = settings[kept[name][settings[:, j]]]
    if within is None or not len(settings):
        return settings
    values = rules.values(settings)
    table = {name: as_column(name, [row[name] for row in values]) for name in rules.names}
    chosen = as_rows(within, "within", table, len(settings))
    if not isinstance(chosen, RowSet):
        raise QueryError(Arg("within", within), " must be a box or a condition on parameters, such as 'depth > 2'")
    return settings[chosen.mask]


def neighbours(rules: Rules, best: Settings, rng: np.random.Generator) -> Settings:
    """Copies of the best configurations, in which one to three parameters get a nearby value or a random category."""
    many, moved = len(rules.names), np.repeat(best, MOVES, axis=0).tolist()
    for row in moved:
        for j in rng.permutation(many)[: int(rng.integers(1, 4))].tolist():
            block = next((one for one in rules.grids[j].blocks if one.start <= row[j] < one.stop), None)
            if block is None:
                continue
            place = int(rng.integers(0, len(block)))
            if block.ordered:
                step = float(rng.normal()) * STEP * len(block)
                place = row[j] - block.start + int(math.copysign(math.ceil(abs(step)), step))
            row[j] = block.start + min(max(place, 0), len(block) - 1)
    return rules.settled(np.array(moved, dtype=best.dtype).reshape(-1, many))


def distinct(settings: Settings, run: Settings) -> Settings:
    """The configurations that were not yet run, without duplicates."""
    known = {row.tobytes() for row in run}
    fresh = dict.fromkeys(row.tobytes() for row in settings)
    rows = [np.frombuffer(key, dtype=np.int32) for key in fresh if key not in known]
    return np.array(rows, dtype=np.int32).reshape(len(rows), settings.shape[1])


def choose_next(
    model: ObjectiveModel,
    candidates: Settings,
    goals: list[str],
    best: float,
    *,
    even: slice,
    gaps: bool,
    chances: Reals,
) -> list[tuple[int, str, str]]:
    """Choose one candidate for each goal; return its index, the goal, and the reason in words (empty for ``win``).

    `even` is the slice of candidates that are spread evenly over the space. If `gaps` is True and the goal is ``know``,
    every second choice is the most uncertain candidate. `chances` (candidates,) are the probabilities of success:
    improvements are weighed by them, and candidates that probably fail are chosen only if too few others are left.
    """
    process = model.process
    scores = process.jointly(model.embed(candidates))
    mean, variance = scores.mean, scores.variance
    deviation = np.sqrt(np.maximum(variance, 1e-12))
    some = even if len(candidates[even]) else slice(None)
    edge = float(np.quantile(mean[some, None] + deviation[some, None] * QUANTILES, TARGET))
    noise = process.noise * process.scale
    left = np.ones(len(candidates), dtype=bool)
    chosen: list[tuple[int, str, str]] = []
    known: list[Reals] = []  # (candidates,) each: how much a chosen candidate reveals about the others
    for number, goal in enumerate(goals):
        deviation = np.sqrt(np.maximum(variance, 1e-12))
        fill = goal == "know" and gaps and number % 2 == 1
        if fill:
            worth = deviation
        elif goal == "know":
            worth = NORMAL * deviation - np.abs(mean - edge)
        else:
            worth = expected_improvement(best, mean, deviation) * chances
        sound = left & (chances >= SOUND)
        place = int(np.where(sound if sound.any() else left, worth, -np.inf).argmax())
        chance = normal_below((edge - mean[[place]]) / deviation[place])
        among = (
            f"tests the limit of the best {percent(TARGET)}: {percent(float(chance[0]))} probability that it is inside"
        )
        chosen.append((place, goal, "" if goal == "win" else "unlike every trial so far" if fill else among))
        left[place] = False
        column = scores.covariance(place) - sum(one * one[place] for one in known)
        known.append(column / math.sqrt(column[place] + noise + 1e-9))
        variance = variance - known[-1] ** 2
    return chosen


QUANTILES = np.linspace(-2.0, 2.0, 9)[None, :]  # coarse quantiles of a normal deviation


def expected_improvement(best: float, mean: Reals, deviation: Reals) -> Reals:
    gap = (best - mean) / deviation
    density: Reals = np.exp(-0.5 * gap**2) / math.sqrt(2.0 * math.pi)
    return (best - mean) * normal_below(gap) + deviation * density


def check_movable(rules: Rules) -> None:
    for name, parameter in rules.space.items():
        if isinstance(parameter, Moving):
            ends = [end for end in (parameter.low, parameter.high) if isinstance(end, str) and end not in rules.space]
            if ends:
                raise QueryError(f"{name}: no value can be proposed, because its bound {ends[0]!r} is not a parameter")
