"""A model of the objective's order, and what it would find all over the search space.

A Gaussian process is fitted to normal scores of the ranks. Functions drawn from it, at points
drawn uniformly from the space, stand for the rows that were never run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from statistics import NormalDist
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.data.observations import Observations
from pedanova.data.regions import Cut, Direction, Quantile, Region, Threshold, rank_of, sign_of
from pedanova.measures.surrogate.gaussian import Features, Process, Reals, fit, normal_cdf, refit
from pedanova.measures.surrogate.sampling import cells_by_name, features_of, uniform_cells, varies
from pedanova.space.grid import Cells

Mask: TypeAlias = NDArray[np.bool_]
POINTS = 4000  # that a function is drawn at
KINDS, DRAWS_EACH = 8, 8  # settings of the model, functions drawn from each
SEEDS = 0x9E3779B9  # so that the model does not share random numbers with the counts


@dataclass(frozen=True, slots=True, eq=False)
class Surrogate:
    """The model given the rows, and functions drawn from it."""

    rows: NDArray[np.int64]  # of the observations, those that the model speaks of
    cells: Mapping[str, Cells]  # of these rows
    points: Mapping[str, Cells]  # (points, settings) of the space
    drawn: Reals  # (points, draws) scores
    signed: Reals  # (rows,) objective, lower is better
    scores: Reals  # (rows,)
    expected: Reals  # (rows,) score as the other rows tell it
    spread: Reals  # (rows,) its variance
    features: Features  # of the rows that the process is conditioned on
    process: Process
    held: NDArray[np.int64]  # these rows, among `rows`
    settings: Reals  # (settings, features + 2) every likely set, the best first
    missed: dict[str, Reals] = field(default_factory=dict)  # see `residuals`: the same for every question

    @property
    def weights(self) -> Reals:
        """(settings, features)"""
        return np.exp(self.settings[:, :-2])

    @property
    def correlation(self) -> float:
        """Rank correlation of what the other rows tell with what each row is."""
        return float(np.corrcoef(ranks(self.expected), ranks(self.scores))[0, 1])

    def varies(self, name: str) -> bool:
        """Whether the rows lie in more than one cell of a parameter: of one alone nothing can be learned."""
        return varies(self.cells[name])

    def cells_drawn(self, name: str) -> Cells:
        """(points, draws) Where every function was drawn: functions of one setting share their points."""
        points = self.points[name]
        return np.repeat(points, self.drawn.shape[1] // points.shape[1], axis=1)

    def cut(self, cut: Cut | None, drawn: Reals) -> Reals | None:
        """(draws,) The score at which a region ends: a quantile of the space, or a value."""
        if cut is None:
            return None
        if isinstance(cut, Quantile):
            rank = rank_of(cut.part, len(drawn))
            ends: Reals = np.partition(drawn, rank - 1, axis=0)[rank - 1]
            return ends
        return np.full(drawn.shape[1], self.score_at(cut))

    def score_at(self, cut: Cut) -> float:
        """Half way between the last row that a cut takes in and the first that it leaves."""
        ordered = np.sort(self.scores)
        inside = int(np.sum(self.signed <= self.objective_at(cut)))
        if inside == 0:
            return -np.inf
        behind = ordered[ordered > ordered[inside - 1]]
        return float((ordered[inside - 1] + behind[0]) / 2.0) if len(behind) else np.inf

    def inside(self, region: Region, direction: Direction, drawn: Reals) -> Mask:
        """(points, draws) Which points lie in a region, for every function drawn."""
        begin, end = (self.cut(cut, drawn) for cut in region.cuts(direction))
        mask = np.ones(drawn.shape, dtype=bool)
        if begin is not None:
            mask &= drawn > begin
        if end is not None:
            mask &= drawn <= end
        return mask

    def holds(self, region: Region, direction: Direction) -> Mask:
        """(rows,) Which rows lie in a region; quantiles are those of these rows."""
        begin, end = region.cuts(direction)
        mask = np.ones(len(self.signed), dtype=bool)
        if begin is not None:
            mask &= self.signed > self.objective_at(begin)
        return mask if end is None else mask & (self.signed <= self.objective_at(end))

    def objective_at(self, cut: Cut) -> float:
        """The signed objective behind which a cut lies; quantiles are those of these rows."""
        if isinstance(cut, Threshold):
            return cut.signed
        return float(np.sort(self.signed)[rank_of(cut.part, len(self.signed)) - 1])

    def chance(self, region: Region, direction: Direction) -> Reals:
        """(rows,) How likely each row lies in a region, as the other rows tell it."""
        begin, end = region.cuts(direction)
        deviation = np.sqrt(self.spread)
        upper = 1.0 if end is None else normal_cdf((self.score_at(end) - self.expected) / deviation)
        lower = 0.0 if begin is None else normal_cdf((self.score_at(begin) - self.expected) / deviation)
        within: Reals = np.clip(np.broadcast_to(upper - lower, self.expected.shape), 1e-9, 1.0)
        return within


def fit_surrogate(
    observed: Observations, rows: NDArray[np.int64], *, seed: int = 0, points: Mapping[str, Cells] | None = None
) -> Surrogate:
    """A model of the rows given; rows without a number as objective count as the worst.

    It is asked at `points`, those of another model, so that both can be held side by side; else at
    points of its own.
    """
    rng = np.random.default_rng([seed, SEEDS])
    everywhere = cells_by_name(observed)
    cells = {name: column[rows] for name, column in everywhere.items()}
    if points is None:
        # Points of its own for every setting: what is uneven about few points then cancels.
        drawn_once = uniform_cells(observed.space, cells, POINTS * KINDS, rng)
        points = {name: column.reshape(POINTS, KINDS) for name, column in drawn_once.items()}
    fitting = partial(fit, kinds=KINDS, rng=rng)
    return _assembled(observed, rows, cells, cells, points, fitting, rng)


def refit_surrogate(
    model: Surrogate, observed: Observations, part: NDArray[np.int64], *, seed: int, kinds: int, points: int
) -> Surrogate:
    """A quicker model of a part of another one's rows (indices into them): fewer settings, asked at fewer points.

    Settings are sought near those of the other one, so that what the rows left out say enters by
    where the search begins alone.
    """
    rng = np.random.default_rng([seed, SEEDS, 1])
    cells = {name: column[part] for name, column in model.cells.items()}
    some = {name: column[:points, :kinds] for name, column in model.points.items()}
    fitting = partial(refit, near=model.settings[:kinds], rng=rng)
    return _assembled(observed, model.rows[part], cells, model.cells, some, fitting, rng)


def _assembled(
    observed: Observations,
    rows: NDArray[np.int64],
    cells: Mapping[str, Cells],
    seen: Mapping[str, Cells],
    points: Mapping[str, Cells],
    fitting: Callable[[Features, Reals], tuple[NDArray[np.int64], list[Process]]],
    rng: np.random.Generator,
) -> Surrogate:
    """The rows learned, and functions drawn at the points; the rows `seen` decide which features there are."""
    signed = lower_is_better(observed, rows)
    scores = normal_scores(signed)
    features = features_of(observed.space, cells, seen)
    held, processes = fitting(features, scores)
    drawn = []
    for kind, process in enumerate(processes):
        here = {name: column[:, kind] for name, column in points.items()}
        drawn.append(process.draw(features_of(observed.space, here, seen), DRAWS_EACH, rng))
    expected, spread = told_by_others(processes[0], features, held)
    return Surrogate(
        rows=rows,
        cells=cells,
        points=points,
        drawn=np.concatenate(drawn, axis=1),
        signed=signed,
        scores=scores,
        expected=expected,
        spread=spread,
        features=features.take(held),
        process=processes[0],
        held=held,
        settings=np.stack([process.settings for process in processes]),
    )


def lower_is_better(observed: Observations, rows: NDArray[np.int64]) -> Reals:
    """(rows,) The objective, its sign turned where it is maximised; what is no number is the worst."""
    sign = sign_of(observed.direction)
    signed = sign * observed.ranked[rows].astype(np.float64)
    return np.where(np.isnan(signed), np.inf, signed)


def told_by_others(process: Process, features: Features, held: NDArray[np.int64]) -> tuple[Reals, Reals]:
    """Mean and variance of every row's score, its own objective left out."""
    expected, spread = np.empty(len(features)), np.empty(len(features))
    expected[held], spread[held] = process.leave_one_out()
    rest = np.setdiff1d(np.arange(len(features)), held)
    if len(rest):
        expected[rest], spread[rest] = process.predict(features.take(rest))
    return expected, np.maximum(spread, 1e-9)


def normal_scores(signed: Reals) -> Reals:
    """Normal quantiles of the ranks; mean 0, deviation 1."""
    law = NormalDist()
    scores = np.array([law.inv_cdf(float(part)) for part in (ranks(signed) - 0.5) / len(signed)])
    standard: Reals = (scores - scores.mean()) / max(float(scores.std()), 1e-12)
    return standard


def ranks(values: Reals) -> Reals:
    """1 for the smallest; equal values share the mean of their ranks."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    shared: Reals = (ends - (counts - 1) / 2.0)[places]
    return shared
