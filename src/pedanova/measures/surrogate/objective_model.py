"""Predict the objective of any configuration, in units of the objective, by a Gaussian process or a complete table.

Scores are the objective itself or normal quantiles of its ranks, whichever predicts left-out rows better. Posterior
samples also vary what was fitted: they use several kernel settings, drawn from their posterior, and both kinds of
scores unless one predicts clearly worse. If a table contains every configuration, the objective is looked up in it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.base.threads import one_thread
from pedanova.counting.few_rows import Indices
from pedanova.data.column import Mask
from pedanova.measures.chance.ranked_rows import Arrangement, RankedRows
from pedanova.measures.surrogate.fit import FIT_ROWS, FitData, FittedModel, scores_of, spread_rows
from pedanova.measures.surrogate.gaussian_process import (
    CHUNK,
    Configured,
    Embedding,
    FeatureLayout,
    KernelSettings,
    Likelihood,
    Posterior,
    layout_of,
    rational_quadratic,
)
from pedanova.measures.surrogate.posterior import even_points
from pedanova.measures.surrogate.sampler import Configurations, configurations_of
from pedanova.space.grid import Reals
from pedanova.space.parameters import Space

Settings: TypeAlias = NDArray[np.int32]  # (configurations, parameters) cells, in the order of the space
ROWS = 600  # the largest number of rows that the process is fitted to
STEPS = 6  # steps of the search for the settings
PRIOR, NOISE_PRIOR, USUAL_NOISE = (
    0.125,
    0.22,
    0.02,
)  # weights of the priors on the logs of weights and noise, and the centre of the second
WIDEN = 1.4  # factor for the deviation of the draws, because no function is exactly like the kernel's functions
BEST_PART, LEAST_LEFT_OUT = 0.2, 10  # the part of the rows whose residuals say how wide the draws are, and the fewest
PRIOR_ROWS = 2.0  # rows whose residuals say as much about this width as `WIDEN` does
MEMBERS = 8  # kernel settings that posterior samples use
TRIED = 4  # proposals for each of them
VARIED = 24  # the largest number of settings that are varied
STIFF = 2.0 * PRIOR  # the least curvature of the posterior: that of the prior
FLATTEN = 0.7  # exponent of the importance weights, which limits the influence of a single proposal
SLOPE_STEP = 0.1  # of a log, for the curvature
FARTHEST = 5.0  # the largest change of a log
NEAR = 1.2  # scores with at most this ratio of errors to the best ones are used too
SOME_POINTS = 31**2  # points that rows are selected by
LEAST_LEVELS = 4  # a process needs more distinct objectives than this
LARGEST = 1e150  # larger objectives are taken as this large, so that their squares are finite
STEEPER = 1.5  # factor for the extrapolated slope at the best end: beyond the best trial, functions often fall faster
TAIL = 20  # the outermost of this many parts determine the extrapolation


@dataclass(frozen=True, slots=True, eq=False)
class ScoreCurve:
    """A monotone curve from scores to the objective, extrapolated beyond the outermost rows."""

    scores: Reals
    values: Reals

    def objective(self, scores: NDArray[np.floating]) -> Reals:
        known, values = self.scores, self.values
        result: Reals = np.interp(scores, known, values)
        few = min(max(3, len(known) // TAIL), len(known) - 1)
        ends = ((0, few, scores < known[0], STEEPER), (-1, -1 - few, scores > known[-1], 1.0))
        for end, inner, beyond, steeper in ends:
            slope = steeper * (values[inner] - values[end]) / (known[inner] - known[end])
            result = np.where(beyond, values[end] + slope * (scores - known[end]), result)
        return result


@dataclass(frozen=True, slots=True, eq=False)
class ObjectiveModel:
    """The objective as predicted by a Gaussian process; lower is better."""

    arrangement: Arrangement
    layout: FeatureLayout
    process: Posterior
    curve: ScoreCurve
    members: tuple[tuple[Posterior, ScoreCurve], ...] = ()  # for posterior samples
    widen: float = WIDEN  # factor for the deviation of the draws
    given: Indices = field(
        default_factory=lambda: np.empty(0, dtype=np.int64)
    )  # the configurations that it is fitted to

    def embed(self, settings: Settings) -> Embedding:
        return self.configured(settings).take(slice(None))

    def configured(self, settings: Settings) -> Configured:
        cells = {name: settings[:, j] for j, name in enumerate(self.arrangement.space)}
        return Configured(self.layout, self.arrangement.places(cells))

    def draw(self, settings: Settings, draws: int, rng: np.random.Generator) -> Reals:
        """(draws, configurations) The objective without noise in each posterior sample."""
        return self._drawn(settings, draws, rng, noise=0.0)

    def observe(self, settings: Settings, draws: int, rng: np.random.Generator) -> Reals:
        """(draws, configurations) The objective with the noise of a trial in each posterior sample."""
        return self._drawn(settings, draws, rng, noise=1.0)

    def foresee(self, order: Indices, draws: int, rng: np.random.Generator) -> tuple[Reals, Reals]:
        """Results of some of the configurations in `given`, each predicted from those before it, and the real results.

        The results are (draws, configurations), with noise.
        """
        places, drawn = np.searchsorted(self.given, order), []
        for process, curve in self._members:
            mean, deviation = process.one_step_ahead(places)
            normal = rng.standard_normal((math.ceil(draws / len(self._members)), len(order)))
            drawn.append(curve.objective(mean + self.widen * deviation * normal))
        return np.concatenate(drawn), self.curve.objective(self.process.scores[places])

    @property
    def _members(self) -> tuple[tuple[Posterior, ScoreCurve], ...]:
        return self.members or ((self.process, self.curve),)

    def _drawn(self, settings: Settings, draws: int, rng: np.random.Generator, *, noise: float) -> Reals:
        points, drawn = self.configured(settings), []
        each = 2 * math.ceil(draws / len(self._members) / 2)  # samples are pairs around the mean
        for process, curve in self._members:
            scores = process.draw(points, each, rng).astype(np.float64)
            middle = scores.mean(axis=0)
            if noise:
                scores += noise * math.sqrt(process.noise * process.scale) * rng.standard_normal(scores.shape)
            drawn.append(curve.objective(middle + self.widen * (scores - middle)))
        return np.concatenate(drawn)[:draws]

    def middle(self, settings: Settings) -> Reals:
        """(configurations,) The median of the predicted objective."""
        return self.curve.objective(self.process.predict(self.embed(settings)))

    def misfit(self, settings: Settings) -> float:
        """The standard deviation of the fitted noise at one configuration, in units of the objective."""
        score, off = (
            self.process.predict(self.embed(settings)),
            0.5 * math.sqrt(self.process.noise * self.process.scale),
        )
        return float((self.curve.objective(score + off) - self.curve.objective(score - off))[0])


@dataclass(eq=False)
class Candidates:
    """Configurations whose parameters are changed one at a time; predictions are updated, not computed anew."""

    model: KnownObjective
    settings: Settings

    def __post_init__(self) -> None:
        self.settings = self.settings.copy()
        if isinstance(self.model, ObjectiveModel):
            process, points = self.model.process, self.model.embed(self.settings)
            self._solved = process.solved.astype(np.float32)
            self._slopes = np.float32(process.additive) * (process.rows.basis.T @ self._solved)
            self._inverse = np.reciprocal(rational_quadratic(points.positions, process.rows.positions, process.weights))
            self._linear = points.basis @ self._slopes
            self._basis_owners = self.model.layout.basis_owners

    def middle(self) -> Reals:
        """(configurations,) The median of the predicted objective."""
        if not isinstance(self.model, ObjectiveModel):
            return self.model.middle(self.settings)
        parts = [slice(start, start + CHUNK) for start in range(0, len(self.settings), CHUNK)]  # for the CPU's cache
        scores = np.concatenate([np.reciprocal(self._inverse[part]) @ self._solved for part in parts]) + self._linear
        return self.model.curve.objective(scores.astype(np.float64) + self.model.process.mean)

    def change(self, j: int, cell: int, some: Mask) -> None:
        """Set parameter `j` to `cell` in some configurations.

        Before the change, all these configurations must have the same value of the parameter.
        """
        before = int(self.settings[some.argmax(), j])
        self.settings[some, j] = cell
        model = self.model
        if not isinstance(model, ObjectiveModel) or not some.any():
            return
        name = list(model.arrangement.space)[j]
        k = model.arrangement.names.index(name)
        if k >= len(model.layout.grids):  # the parameter never varied
            return
        places = [int(model.arrangement.orders[k][one]) for one in (before, cell)]
        old, new = zip(*(features[places] for features in model.layout.by_cell[k]), strict=True)
        own = model.layout.owners == k
        rows, weights = model.process.rows.positions[:, own], model.process.weights[own].astype(np.float32)
        kept = self._inverse[~some]  # usually few rows
        self._inverse += ((new[0] - rows) ** 2 - (old[0] - rows) ** 2) @ weights
        self._inverse[~some] = kept
        self._linear[some] += (new[1] - old[1]) @ self._slopes[self._basis_owners == k]


@dataclass(frozen=True, slots=True, eq=False)
class ObjectiveTable:
    """The objective of every configuration of a small space, looked up in the rows; lower is better."""

    values: Reals  # (cells of the first parameter, cells of the second, …)

    def draw(self, settings: Settings, draws: int, rng: np.random.Generator) -> Reals:  # noqa: ARG002
        """(1, configurations) The objective, in a single sample because it is known exactly."""
        return self.middle(settings)[None, :]

    def observe(self, settings: Settings, draws: int, rng: np.random.Generator) -> Reals:
        return self.draw(settings, draws, rng)

    def middle(self, settings: Settings) -> Reals:
        values: Reals = self.values[tuple(settings.T)]
        return values

    def misfit(self, settings: Settings) -> float:  # noqa: ARG002
        return 0.0


KnownObjective: TypeAlias = ObjectiveModel | ObjectiveTable


def process_of(rows: RankedRows, fitted: FittedModel | None, copies: Mapping[str, str]) -> ObjectiveModel | None:
    """The Gaussian process of the objective, even if it is not reliable; None if no parameter varies."""
    configurations = configurations_of(rows.without(copies))
    if configurations.arrangement.varying == 0 or configurations.levels.max() < LEAST_LEVELS:
        return None
    with one_thread():
        return model_of(configurations, fitted, members=MEMBERS)


def table_of(configurations: Configurations, space: Space) -> ObjectiveTable:
    means = mean_objectives(configurations)
    cells = configurations.arrangement.cells(configurations.places)
    sizes = [int(column.max()) + 1 for column in cells.values()]
    values = np.empty(sizes)
    values[tuple(cells[name] for name in space)] = means
    return ObjectiveTable(values)


def mean_objectives(configurations: Configurations) -> Reals:
    """(configurations,) The mean objective of each configuration; infinite values become the nearest finite one."""
    signed = configurations.signed
    known = np.clip(signed[np.isfinite(signed)], -LARGEST, LARGEST)
    known = known if len(known) else np.zeros(1)
    sums = np.bincount(configurations.owner, weights=np.clip(signed, known.min(), known.max()))
    means: Reals = sums / configurations.repeats
    return means


def model_of(configurations: Configurations, fitted: FittedModel | None, *, members: int = 0) -> ObjectiveModel:
    """The Gaussian process, with the transform of the objective that predicts left-out rows better.

    `members` is the number of kernel settings for posterior samples.
    """
    arrangement, known = configurations.arrangement, None if fitted is None else fitted.settings
    layout = layout_of(arrangement, configurations.places, {} if fitted is None else fitted.crowded)
    points = even_points(arrangement, configurations.places, count=SOME_POINTS)
    data = FitData(configurations, layout, layout.embed(configurations.places), Configured(layout, points))
    means = mean_objectives(configurations)
    if known is None or len(known.weights) != arrangement.varying:  # in a part of the rows, fewer parameters may vary
        known = KernelSettings.initial(arrangement.varying)
    chosen = spread_rows(data, FIT_ROWS, data.feature_weights(known))
    ranked = scores_of(np.unique(means, return_inverse=True)[1], np.ones(len(means)))
    plain = (means - means.mean()) / max(float(means.std()), 1e-300)
    ways = sorted((ScoreFit.of(data, chosen, one, known, ranked) for one in (ranked, plain)), key=lambda way: way.error)
    near, rng = [way for way in ways if way.error <= NEAR * ways[0].error], np.random.default_rng(0x5E7)
    given = rows_given(data, ways[0].settings, means)
    process, curve = ways[0].conditioned(data, means, given, [ways[0].settings])[0]
    drawn: list[tuple[Posterior, ScoreCurve]] = []
    for way in near if members else []:
        settings = drawn_settings(way.likelihood, way.settings, members // len(near), rng)
        drawn += way.conditioned(data, means, given, settings)
    return ObjectiveModel(arrangement, layout, process, curve, tuple(drawn), WIDEN * misjudged(process), given)


def misjudged(process: Posterior) -> float:
    """By what factor the errors of left-out rows exceed the expected ones, among the rows that are expected to be best.

    Advice is about the best part of the space, and there a function may be rougher than elsewhere.
    """
    mean, variance = process.leave_one_out()
    best = np.argsort(mean, kind="stable")[: max(LEAST_LEFT_OUT, math.ceil(BEST_PART * len(mean)))]
    expected = variance[best].sum() + len(best) * process.noise * process.scale
    seen = ((process.scores[best] - mean[best]) ** 2).sum() / expected * len(best)
    return max(1.0, math.sqrt((PRIOR_ROWS + seen) / (PRIOR_ROWS + len(best))))


@dataclass(frozen=True, slots=True, eq=False)
class ScoreFit:
    """The kernel settings that were fitted to one kind of scores."""

    scores: Reals  # (configurations,)
    likelihood: Likelihood
    settings: KernelSettings
    error: float  # of left-out rows, in units of rank scores

    @classmethod
    def of(cls, data: FitData, chosen: Indices, scores: Reals, start: KernelSettings, ranked: Reals) -> ScoreFit:
        likelihood = data.likelihood(chosen, scores[chosen])
        centre = likelihood.centre.copy()
        centre[-2] = np.log(USUAL_NOISE)  # little noise, because the best value may depend on fine structure
        likelihood = replace(likelihood, centre=centre, prior=PRIOR, noise_prior=NOISE_PRIOR)
        settings = likelihood.best(start, steps=STEPS)
        return cls(scores, likelihood, settings, left_out_error(data, chosen, scores, settings, ranked))

    def conditioned(
        self, data: FitData, means: Reals, given: Indices, settings: Sequence[KernelSettings]
    ) -> list[tuple[Posterior, ScoreCurve]]:
        """The process with each of some settings, given some rows, and the curve from scores to objectives."""
        each, first = np.unique(self.scores, return_index=True)
        curve = ScoreCurve(each, means[first])
        return [(data.condition(given, self.scores[given], one), curve) for one in settings]


def drawn_settings(
    likelihood: Likelihood, best: KernelSettings, count: int, rng: np.random.Generator
) -> list[KernelSettings]:
    """Draw kernel settings from their posterior: normal proposals around the best settings, weighted by likelihood.

    If there are very many parameters, only the settings of those with the largest weights vary.
    """
    logs, fewer = best.logs, VARIED - 2
    some = np.arange(len(logs)) if len(logs) <= VARIED else np.r_[np.sort(np.argsort(-logs[:-2])[:fewer]), -2, -1]
    curvature, step = np.empty((len(some), len(some))), np.zeros(len(logs))
    for i, j in enumerate(some):
        step[:], step[j] = 0.0, SLOPE_STEP
        curvature[i] = (likelihood(logs + step)[1] - likelihood(logs - step)[1])[some] / (2.0 * SLOPE_STEP)
    values, vectors = np.linalg.eigh((curvature + curvature.T) / 2.0)
    normal = rng.standard_normal((TRIED * count, len(some)))
    normal[0] = 0.0
    proposed = np.tile(logs, (len(normal), 1))
    proposed[:, some] += np.clip((normal / np.sqrt(np.maximum(values, STIFF))) @ vectors.T, -FARTHEST, FARTHEST)
    log_weights = np.array([-likelihood(one)[0] for one in proposed]) + 0.5 * (normal**2).sum(axis=1)
    weights = np.exp(FLATTEN * np.minimum(log_weights - log_weights.max(), 0.0))
    ends = np.cumsum(weights / weights.sum())
    places = np.minimum(np.searchsorted(ends, (np.arange(count) + rng.random()) / count), len(ends) - 1)
    return [KernelSettings.from_logs(proposed[place]) for place in places]


def rows_given(data: FitData, settings: KernelSettings, means: Reals) -> Indices:
    """The indices of rows to condition on: rows spread over the space, and the best ones."""
    spread = spread_rows(data, ROWS, data.feature_weights(settings))
    return np.union1d(spread, np.argsort(means, kind="stable")[: ROWS // 8])


def left_out_error(data: FitData, chosen: Indices, scores: Reals, settings: KernelSettings, ranked: Reals) -> float:
    """The mean absolute leave-one-out error, in units of rank scores (`ranked`), to compare transforms."""
    predicted = data.condition(chosen, scores[chosen], settings).leave_one_out()[0]
    known, first = np.unique(scores, return_index=True)
    return float(np.abs(np.interp(predicted, known, ranked[first]) - ranked[chosen]).mean())
