"""Choose configurations to run next: to learn more about the ranking, to find better ones, or both.

To learn about the ranking, choose configurations that are hard to assign to the best tenth or to the rest (the straddle
rule). To find better ones, choose configurations with the largest expected improvement: of the best value, or, with
several objectives, of the hypervolume that the Pareto front dominates. After each choice, the models become less
uncertain about similar configurations, and the chosen configuration counts as a trial with the predicted results.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Literal, TypeAlias

import numpy as np

from pedanova.base.digits import percent, short
from pedanova.base.kernel.pareto import ranks_of
from pedanova.base.notes import Note
from pedanova.base.table import Cell, Printed, Table
from pedanova.base.terminal import TableColumn
from pedanova.data.column import Mask, as_column
from pedanova.data.records import MARK
from pedanova.data.regions import RowSet, as_rows
from pedanova.errors import Arg, QueryError
from pedanova.measures.advice.configurations import Rules
from pedanova.measures.advice.gains import DRAWS
from pedanova.measures.distributions import NORMAL, normal_below
from pedanova.measures.question import TARGET
from pedanova.measures.surrogate.objective_model import ObjectiveModel, Settings
from pedanova.space.grid import Reals
from pedanova.space.parameters import Moving
from pedanova.space.values import Label

Goal: TypeAlias = Literal["know", "win", "both"]
Prediction: TypeAlias = Mapping[str, tuple[float, float, float]]
STEP = 0.15  # standard deviation of a step, as a part of the range
SOUND = 0.9  # the least probability of success of a proposed trial
MOST_OBJECTIVES = 3  # of a hypervolume
RESULTS_DRAWN = 4 * DRAWS  # results of each proposed trial
REPLAYS, UNSETTLED = 4, 0.1  # random orders of the trials, and the part of each whose chances are not compared
ALIKE, LEAST_CHANCE = 0.4, 1e-3  # how much the log odds of similar chances differ, and a chance that counts as 0
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
    predicted
        For each objective, the predicted result and the ends of its 95 % interval, which contains the noise of a
        trial; empty without a model.
    succeeds
        The probability that the trial does not fail; None if hardly any trial failed.
    better
        The probability that its result is better than the best result so far; with several objectives, that it extends
        the Pareto front, because no trial so far is at least as good in all objectives. None without a model.

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
    predicted: Prediction = field(default_factory=dict)
    succeeds: float | None = None
    better: float | None = None

    @property
    def expected(self) -> float | None:
        """The predicted objective; None with several objectives, and without a model."""
        return self._only(0)

    @property
    def low(self) -> float | None:
        """The low end of the 95 % interval; None with several objectives, and without a model."""
        return self._only(1)

    @property
    def high(self) -> float | None:
        """The high end of the 95 % interval; None with several objectives, and without a model."""
        return self._only(2)

    def _only(self, place: int) -> float | None:
        return next(iter(self.predicted.values()))[place] if len(self.predicted) == 1 else None

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
        for title, name in self._expectations.items():
            columns[title] = [row.predicted[name][0] if name in row.predicted else None for row in self.rows]
        return columns | {"reason": [row.reason for row in self.rows]}

    @property
    def _expectations(self) -> dict[str, str]:
        """The titles of the columns of predictions, and their objectives."""
        names = list(self.rows[0].predicted) if self.rows else []
        return {f"expected {name}": name for name in names} if len(names) > 1 else {"expected": "".join(names)}

    def to_json(self) -> str:
        """The trials as a JSON list. Each trial is an object with its values and ``pedanova_next``."""
        return json.dumps([{**row.values, **row.attributes} for row in self.rows], indent=1, ensure_ascii=False) + "\n"

    def printed(self) -> Printed:
        names = [TableColumn(n, [short(row.values.get(n)) for row in self.rows], "words") for n in self.parameters]
        chance = self.column("succeeds", lambda row: "" if row.succeeds is None else percent(row.succeeds))
        expected = []
        for title, name in self._expectations.items():
            cells = [row.predicted.get(name) for row in self.rows]
            expected.append(TableColumn(title, [short(one[0]) if one else "" for one in cells]))
            spans = [f"{short(one[1])} to {short(one[2])}" if one else "" for one in cells]
            expected.append(TableColumn("95 % interval", spans))
        return [
            *names,
            *expected,
            *([chance] if any(row.succeeds is not None for row in self.rows) else []),
            self.column("why", lambda row: row.reason, kind="words"),
        ]


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


def in_percent(probability: float) -> str:
    """A probability in percent; no sample out of 96 does not mean that the probability is 0, nor all that it is 1."""
    if probability > 1.0 - 1.0 / DRAWS:
        return "more than 99 %"
    return "less than 1 %" if probability < 1.0 / DRAWS else percent(probability)


@dataclass(frozen=True, slots=True, eq=False)
class Objectives:
    """Models and results of all objectives; with one objective, `models` has one model."""

    names: tuple[str, ...]
    signs: Reals  # (objectives,) -1 if an objective is maximised
    models: tuple[ObjectiveModel, ...]
    results: Reals  # (rows, objectives) of the trials so far; lower is better

    @property
    def front(self) -> Reals:
        """(trials, objectives) The results that no other trial beats in all objectives."""
        best: Reals = self.results[ranks_of(self.results) == 0]
        return best

    def results_of(self, settings: Settings, seed: int) -> Reals:
        """(draws, configurations, objectives) Possible results of some configurations; lower is better.

        Each configuration is drawn by itself, so its results do not depend on what else is proposed.
        """
        each = []
        for one in settings[:, None]:
            rng = np.random.default_rng([seed, 0x0B5])
            each.append(np.stack([model.observe(one, RESULTS_DRAWN, rng) for model in self.models], axis=-1))
        return np.concatenate(each, axis=1)

    def predict(self, results: Reals) -> list[Prediction]:
        """For each configuration: by objective, the median result and the ends of its 95 % interval."""
        ends = np.sort(np.quantile(self.signs * results, [0.025, 0.5, 0.975], axis=0), axis=0)[[1, 0, 2]]
        each = np.moveaxis(ends, 0, -1).tolist()
        return [dict(zip(self.names, map(tuple, one), strict=True)) for one in each]

    def chance_of_new(self, results: Reals, seed: int) -> Reals:
        """(configurations,) The probability that no trial so far is at least as good in all objectives.

        A model extrapolates too surely where an adaptive sampler has crowded. So the chances by the model are corrected
        by what similar chances were worth when it predicted the trials so far. The model counts as one trial of each
        replay.
        """
        chances, (said, came) = new_in(results, self.front), self.replay(np.random.default_rng([seed, 0x3E9]))
        alike = np.exp(-0.5 * ((log_odds(chances)[:, None] - log_odds(said)) / ALIKE) ** 2)
        calibrated: Reals = (REPLAYS * chances + alike @ came) / (REPLAYS + alike.sum(axis=1))
        return calibrated

    def replay(self, rng: np.random.Generator) -> tuple[Reals, Reals]:
        """The chances by the models if the trials were run in random orders, and what came true."""
        said, came = [], []
        for _ in range(REPLAYS):
            order = rng.permutation(reduce(np.intersect1d, [model.given for model in self.models]))
            each = [model.foresee(order, RESULTS_DRAWN, rng) for model in self.models]
            drawn, real = (np.stack(some, axis=-1) for some in zip(*each, strict=True))
            front = real[:1]
            for place in range(1, len(order)):
                new = bool(new_in(real[None, place : place + 1], front)[0])
                if place >= UNSETTLED * len(order):
                    said.append(new_in(drawn[:, place : place + 1], front)[0])
                    came.append(new)
                front = np.concatenate([front, real[place : place + 1]]) if new else front
        return np.array(said), np.array(came, dtype=np.float64)

    def reason(self, chance: float) -> str:
        """Why a trial is run that is better, or extends the front, with this probability."""
        what = "better than the best trial so far" if len(self.names) == 1 else "extends the Pareto front"
        return f"{what} with {in_percent(chance)} probability"


def new_in(drawn: Reals, front: Reals) -> Reals:
    """(configurations,) How often no result of the front is as good in all objectives as the `drawn` result.

    `drawn` is (draws, configurations, objectives).
    """
    beaten = np.zeros(drawn.shape[:-1], dtype=bool)
    for result in front:
        beaten |= (result <= drawn).all(axis=-1)
    return np.asarray(1.0 - beaten.mean(axis=0))


def log_odds(chances: Reals) -> Reals:
    inside = np.clip(chances, LEAST_CHANCE, 1.0 - LEAST_CHANCE)
    return np.log(inside / (1.0 - inside))


class CandidateScores:
    """The scores of all candidates by one model; the deviations shrink with every candidate that is chosen."""

    def __init__(self, model: ObjectiveModel, candidates: Settings) -> None:
        self._process = model.process
        self._scores = model.process.jointly(model.embed(candidates))
        self._known: list[Reals] = []  # (candidates,) each: how much a chosen candidate reveals about the others
        self.mean = self._scores.mean
        self.variance = self._scores.variance

    @property
    def deviation(self) -> Reals:
        return np.sqrt(np.maximum(self.variance, 1e-12))

    def observe(self, place: int) -> None:
        """Candidate number `place` will be run."""
        noise = self._process.noise * self._process.scale
        column = self._scores.covariance(place) - sum(one * one[place] for one in self._known)
        self._known.append(column / math.sqrt(column[place] + noise + 1e-9))
        self.variance = self.variance - self._known[-1] ** 2


def choose_next(
    ranking: ObjectiveModel,
    objectives: Objectives,
    run: Settings,
    candidates: Settings,
    goals: list[str],
    *,
    even: slice,
    trust: float,
    chances: Reals,
) -> list[tuple[int, str, str]]:
    """Choose one candidate for each goal; return its index, the goal, and the reason in words (empty for ``win``).

    `ranking` is the model of the order of the trials, `run` are the trials so far. `even` is the slice of candidates
    that are spread evenly over the space. `trust` is 1 if the models are reliable; otherwise, it is the part of a
    probability that comes from them, and if the goal is ``know``, every second choice is the most uncertain candidate.
    `chances` (candidates,) are the probabilities of success: improvements are weighed by them, and candidates that
    probably fail are chosen only if too few others are left.
    """
    scores = {id(model): CandidateScores(model, candidates) for model in (ranking, *objectives.models)}
    order, each = scores[id(ranking)], [scores[id(model)] for model in objectives.models]
    front = np.stack([model.process.predict(model.embed(run)) for model in objectives.models], axis=1)
    some = even if len(candidates[even]) else slice(None)
    edge = float(np.quantile(order.mean[some, None] + order.deviation[some, None] * QUANTILES, TARGET))
    left = np.ones(len(candidates), dtype=bool)
    chosen: list[tuple[int, str, str]] = []
    for number, goal in enumerate(goals):
        deviation = order.deviation
        fill = goal == "know" and trust < 1.0 and number % 2 == 1
        if fill:
            worth = deviation
        elif goal == "know":
            worth = NORMAL * deviation - np.abs(order.mean - edge)
        else:
            worth = expected_improvement(front, [(one.mean, one.deviation) for one in each]) * chances
        sound = left & (chances >= SOUND)
        place = int(np.where(sound if sound.any() else left, worth, -np.inf).argmax())
        chance = float(normal_below((edge - order.mean[[place]]) / deviation[place])[0])
        inside = percent(trust * chance + (1.0 - trust) * TARGET)
        among = f"tests the limit of the best {percent(TARGET)}: {inside} probability that it is inside"
        chosen.append((place, goal, "" if goal == "win" else "unlike every trial so far" if fill else among))
        left[place] = False
        front = np.concatenate([front, [[one.mean[place] for one in each]]])
        for one in scores.values():
            one.observe(place)
    return chosen


QUANTILES = np.linspace(-2.0, 2.0, 9)[None, :]  # coarse quantiles of a normal deviation
ROOM = 0.1  # the front may be extended at its ends by this part of its range, or of a standard deviation
BOTTOM = -1e9  # below all scores


def expected_improvement(front: Reals, scores: Sequence[tuple[Reals, Reals]]) -> Reals:
    """(candidates,) The expected gain of the hypervolume that the `front` (trials, objectives) dominates.

    `scores` has means and standard deviations by objective. With one objective, this is the expected improvement of the
    best value.
    """
    front = front[ranks_of(front) == 0]
    ends = front.max(axis=0)
    corner = ends + ROOM * np.maximum(ends - front.min(axis=0), 1.0)
    return hypervolume_gain(np.array(open_boxes(front, corner)), scores)


def hypervolume_gain(boxes: Reals, scores: Sequence[tuple[Reals, Reals]]) -> Reals:
    """(candidates,) The expected volume that a point dominates inside the `boxes` (boxes, objectives, 2)."""
    volumes = np.ones((len(boxes), 1))
    for j, (mean, deviation) in enumerate(scores):
        cuts, places = np.unique(boxes[:, j], return_inverse=True)
        low, high = places.reshape(-1, 2).T
        below = mean_below(cuts[:, None], mean, deviation)
        volumes = volumes * (below[high] - below[low])
    return np.asarray(volumes.sum(axis=0))


def open_boxes(front: Reals, top: Reals) -> list[list[tuple[float, float]]]:
    """Disjoint boxes that together contain the points below `top` that no point of the front dominates."""
    *others, last = front.T
    if not others:
        return [[(BOTTOM, float(min(last.min(initial=np.inf), top[-1])))]]
    cuts = np.unique([BOTTOM, *last, top[-1]])
    boxes = []
    for low, high in itertools.pairwise(cuts.tolist()):
        boxes += [[*box, (low, high)] for box in open_boxes(front[last <= low, :-1], top[:-1])]
    return boxes


def mean_below(limit: Reals, mean: Reals, deviation: Reals) -> Reals:
    """By how much normal numbers fall below a limit on average; numbers above the limit count as 0."""
    gap = (limit - mean) / deviation
    density: Reals = np.exp(-0.5 * gap**2) / math.sqrt(2.0 * math.pi)
    return (limit - mean) * normal_below(gap) + deviation * density


def check_movable(rules: Rules) -> None:
    for name, parameter in rules.space.items():
        if isinstance(parameter, Moving):
            ends = [end for end in (parameter.low, parameter.high) if isinstance(end, str) and end not in rules.space]
            if ends:
                raise QueryError(f"{name}: no value can be proposed, because its bound {ends[0]!r} is not a parameter")
