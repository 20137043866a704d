"""Fit the model once to the rows, and draw the posterior samples that answer every question.

1. The kernel's settings are fitted to each half of a sample of the rows, and tested on the other half.
2. A score is the normal quantile of a rank. If the sampler was adaptive, each row is weighted by the volume of the
   space around it.
3. Functions are drawn at uniform points, and noise is added to them. Nobody knows how much of the residuals is noise:
   the first sample gets no noise, each later sample gets more, and the last gets all of the fitted noise.
4. The Gaussian process of all rows mostly describes differences between bad rows. It treats a jump between good and bad
   rows as noise. So a second process is fitted to the best half of the rows; half of the samples use it to reorder the
   best half of their points. A third process is fitted to the best tenth; half of the samples use it for their best
   tenth.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from pedanova.base.kernel.dense import sort_lines
from pedanova.base.threads import one_thread
from pedanova.counting.few_rows import Indices
from pedanova.measures.chance.ranked_rows import Dependence, Places, RankedRows, dependence_of
from pedanova.measures.distributions import normal_quantile
from pedanova.measures.surrogate.gaussian_process import (
    Configured,
    Embedding,
    FeatureLayout,
    KernelSettings,
    Likelihood,
    Posterior,
    Singles,
    condition,
    layout_of,
    rational_quadratic,
)
from pedanova.measures.surrogate.posterior import (
    FINE_POINTS,
    POINTS,
    SOME_POINTS,
    ObjectiveRanks,
    PointCells,
    PosteriorSamples,
    coarse_points,
    crowded_grids,
    crowded_margins,
    even_points,
    margins_of,
)
from pedanova.measures.surrogate.sampler import (
    Configurations,
    SamplerEvidence,
    configurations_of,
    correlation,
    sampler_of,
)
from pedanova.measures.surrogate.summaries import LeaveOneOut
from pedanova.space.grid import Reals, relative_ranks

DRAWS = 32  # functions, in pairs around the mean
FIT_ROWS = 240  # rows that the settings are fitted to
SOME_SKILL = 0.1  # the correlation that a model needs after an adaptive sampler; random objectives give about -1
LEAST_SKILL, MOST_SKILL = 0.3, 0.5  # the correlation that a model needs with many rows, and with few rows
SURE_SKILL = 4.2  # in between: this many deviations under chance
LEAST_PART = 0.05  # weight of a row that is nearest to no point, as part of the mean weight
VORONOI = 4  # the nearest row is computed for every fourth point


@dataclass(frozen=True, slots=True)
class Layer:
    """A separate Gaussian process for the best fraction `part` of the space; only some samples use it."""

    part: float
    rows: int  # the number of rows that it needs
    pairs: tuple[int, ...]  # the pairs of samples in which it is used,
    cycle: int  # out of this many
    fits: int  # 1: settings are searched anew; more: so many are fitted to a part of the rows each
    anew: bool = False  # whether its rows have scores from their ranks inside the layer, not among all rows

    def draws(self, count: int) -> Indices:
        """The indices of the samples, of `count` in all, in which it is used."""
        return np.flatnonzero(np.isin(np.arange(count) // 2 % self.cycle, self.pairs))


LAYER_ROWS = 600  # the largest number of rows for the process of a layer
WHOLE = Layer(1.0, 0, (0,), 1, fits=1)
LAYERS = (Layer(0.5, 20, (0,), 2, fits=1), Layer(0.1, 40, (0, 1), 4, fits=2, anew=True))


PROCESS_ROWS = 700  # the largest number of rows for the process of the whole space
FEW_ROWS = 400  # with at most this many configurations, fewer points are as accurate
LAST_STEPS = 8  # steps of the search after cross-validation


@dataclass(frozen=True, slots=True)
class Skill:
    """The correlation of predicted and observed scores in rows that were not used to choose the kernel's settings."""

    correlation: float  # in the half of the rows that is predicted worse
    rows: int

    def __str__(self) -> str:
        return f"rank correlation {self.correlation:.2f} on held-out rows"

    @property
    def trusted(self) -> bool:
        """Whether the correlation is large enough for the model to be used."""
        return self.correlation >= min(max(LEAST_SKILL, SURE_SKILL / math.sqrt(self.rows)), MOST_SKILL)


@dataclass(frozen=True, slots=True, eq=False)
class FittedModel:
    """The result of a fit; `samples` is None if the model is not reliable."""

    skill: Skill
    sampler: SamplerEvidence
    samples: PosteriorSamples | None
    objection: str = ""  # why there are no samples, or why they are no basis for advice, in words
    settings: KernelSettings | None = None
    predictions: Mapping[float, LeaveOneOut] = field(default_factory=dict)  # by layer; 1.0 stands for all rows
    crowded: Mapping[str, Reals] = field(default_factory=dict)  # see `crowded_margins`


@dataclass(frozen=True, slots=True, eq=False)
class FitData:
    """The features of the configurations and of the points of a fit."""

    configurations: Configurations
    layout: FeatureLayout
    rows: Embedding
    points: Configured

    def likelihood(self, rows: Indices, scores: Reals) -> Likelihood:
        return Likelihood.of(self.rows.take(rows), self.layout.owners, scores)

    def condition(self, rows: Indices, scores: Reals, settings: KernelSettings) -> Posterior:
        return condition(self.rows.take(rows), self.layout.owners, scores, settings)

    def ranked_among(self, rows: Indices) -> FitData:
        """The same data, but if some of the rows crowd along a parameter, its coordinates are ranks among them."""
        arrangement, places = self.configurations.arrangement, self.configurations.places
        crowded = crowded_margins(arrangement, margins_of(arrangement, places[rows]))
        if not crowded:
            return self
        layout = layout_of(arrangement, places, crowded)
        return replace(self, layout=layout, rows=layout.embed(places))

    def feature_weights(self, settings: KernelSettings) -> Reals:
        """(features,) The kernel weight of the parameter that each feature belongs to."""
        return settings.weights[self.layout.owners]


@dataclass(frozen=True, slots=True, eq=False)
class OrderingProcess:
    """A process that orders the points of the whole space or of a layer; its posteriors are computed when needed."""

    data: FitData
    scores: Reals  # (configurations,)
    some: Indices  # the configurations that it describes
    given: Indices  # the configurations that it is conditioned on
    settings: tuple[KernelSettings, ...]  # each is used for a part of the samples
    layer: Layer = WHOLE

    def posteriors(self) -> Iterator[Posterior]:
        return (self.data.condition(self.given, self.scores[self.given], one) for one in self.settings)


def fit(rows: RankedRows, dependence: Dependence | None = None, *, seed: int = 0) -> FittedModel:
    """Fit a model to the rows; the order of rows and columns does not matter."""
    with one_thread():
        dependence = dependence or dependence_of(rows)
        sampler = replace(sampler_of(configurations_of(rows), dependence), designed=rows.designed)
        rows = rows.without(dependence.copies)
        configurations = configurations_of(rows)
        count = len(configurations)
        none = FittedModel(Skill(0.0, count), sampler, None)
        arrangement = configurations.arrangement
        if arrangement.varying == 0 or configurations.levels.max() == 0:
            return replace(none, objection="nothing varies, so a model cannot learn anything")
        if is_complete(configurations):
            return replace(none, objection="the table holds every configuration, so counts are exact")
        margins = None if sampler.adaptive else margins_of(arrangement, configurations.places)
        crowded = crowded_margins(arrangement, margins or ())
        known_rows = arrangement, configurations.places
        design = partial(even_points, *known_rows, seed=seed, margins=margins, dependence=dependence)
        layout = layout_of(*known_rows, crowded)
        points = Configured(layout, design(count=SOME_POINTS if count <= FEW_ROWS else POINTS))
        data = FitData(configurations, layout, layout.embed(configurations.places), points)
        chosen = spread_rows(data, FIT_ROWS, np.ones(len(layout.owners)))
        skill, settings = cross_validate(data, chosen)
        trusted = skill.trusted or (sampler.designed and skill.correlation >= LEAST_SKILL)
        weak = "" if trusted else f"a model predicts the order of the rows badly ({skill})"
        # After an adaptive sampler, counts say little about the space, so even a weak model is better.
        if weak and not (sampler.adaptive and skill.correlation >= SOME_SKILL):
            return replace(none, skill=skill, objection=weak)
        none = replace(none, skill=skill, objection=weak, crowded=crowded)
        return with_samples(none, data, chosen, settings, rows, design, dependence, seed)


def with_samples(
    model: FittedModel,
    data: FitData,
    chosen: Indices,
    settings: KernelSettings,
    rows: RankedRows,
    design: Callable[..., Places],
    dependence: Dependence,
    seed: int,
) -> FittedModel:
    """Fit the model to some configurations, starting from `settings`, and draw posterior samples at all points."""
    sampler, configurations = model.sampler, data.configurations
    arrangement = configurations.arrangement
    weights = parts_of_space(data, settings) if sampler.adaptive else np.ones(len(configurations))
    scores = scores_of(configurations.levels, weights)
    likelihood = data.likelihood(chosen, scores[chosen])
    settings = likelihood.best(settings, steps=LAST_STEPS)
    given = spread_rows(data, PROCESS_ROWS, data.feature_weights(settings))
    whole = OrderingProcess(data, scores, np.arange(len(configurations)), given, (settings,))
    processes = [whole]
    for layer in LAYERS:  # a layer reorders the best points
        top = np.flatnonzero(scores <= normal_quantile(layer.part))
        if layer.rows <= len(top) < len(scores) and np.ptp(scores[top]) > 0.0:
            processes.append(layer_process(whole, top, weights, layer, adaptive=sampler.adaptive))
    rng = np.random.default_rng([seed, 0xF17])
    drawn, order, posteriors = ordered(processes, data.points, rng)
    each = zip(processes, posteriors, strict=True)
    known = {one.layer: (one, last) for one, last in each if one.layer is not LAYERS[0]}
    predictions: dict[float, LeaveOneOut] = {}
    if not sampler.adaptive:
        predictions = {layer.part: leave_one_out(*one, rows, rng) for layer, one in known.items()}
    ranks = ObjectiveRanks.of(configurations.signed)
    if sampler.adaptive:
        ranks = ObjectiveRanks.of(configurations.signed, (weights / configurations.repeats)[configurations.owner])
        ranks = replace(ranks, parts=parts_reached(drawn, ranks.parts))
    samples = PosteriorSamples(
        space=arrangement.space,
        points=coarse_points(arrangement.space, arrangement.cells(data.points.places)),
        order=order.astype(np.uint16),
        ranks=ranks,
        varying=(*arrangement.names[: arrangement.varying], *sorted(dependence.copies)),
        adaptive=sampler.adaptive,
        copies=dependence.copies,
        layers={layer.part: layer.draws(len(order)) for layer in known if layer is not WHOLE},
        counted=crowded_grids(arrangement.space, model.crowded),
        finer=partial(at_more_points, processes, design, seed),
    )
    return replace(model, samples=samples, settings=settings, predictions=predictions)


def at_more_points(
    processes: Sequence[OrderingProcess], design: Callable[..., Places], seed: int
) -> tuple[PointCells, NDArray[np.uint16]]:
    """Points for questions inside a small part of the space, and their order in samples of the same processes."""
    data, places = processes[0].data, design(count=FINE_POINTS)
    with one_thread():
        order = ordered(processes, Configured(data.layout, places), np.random.default_rng([seed, 0xF17E]))[1]
    arrangement = data.configurations.arrangement
    return coarse_points(arrangement.space, arrangement.cells(places)), order.astype(np.uint16)


def is_complete(configurations: Configurations) -> bool:
    """Whether the rows contain every configuration of the space equally often."""
    grids = configurations.arrangement.grids
    if any(grid.labels is None or len(grid.blocks) > 1 for grid in grids):
        return False
    inside = all(np.all(configurations.places[:, j] < grid.cells) for j, grid in enumerate(grids))
    every = math.prod(grid.cells for grid in grids)
    repeats = configurations.repeats
    return inside and len(configurations) == every and bool(np.all(repeats == repeats[0]))


# --- scores --------------------------------------------------------------------------------------------


def scores_of(levels: Indices, weights: Reals) -> Reals:
    """(rows,) Normal quantiles of the weighted ranks of `levels`, where 0 is the best."""
    mass = np.bincount(levels, weights=weights)
    middles = relative_ranks(mass)[levels]
    least = 0.25 / len(levels)
    scores: Reals = normal_quantile(np.clip(middles, least, 1.0 - least))
    return scores


def parts_of_space(data: FitData, settings: KernelSettings) -> Reals:
    """(configurations,) The volume of the space around each configuration; the mean is about 1."""
    some = data.points.take(slice(None, None, VORONOI)).positions
    nearest = rational_quadratic(some, data.rows.positions, data.feature_weights(settings)).argmax(axis=1)
    rows = len(data.rows)
    counts = np.bincount(nearest, minlength=rows).astype(np.float64)
    return counts * (rows / len(some)) + LEAST_PART


def parts_reached(drawn: Singles, parts: Reals) -> Reals:
    """(values,) The part of the space up to each objective; `parts` are the sums of the volumes around the rows.

    Rows of an adaptive sampler are often better than the space around them. So of two estimates, the smaller one is
    used: `parts`, and the part of the drawn scores that lie below the score of the objective.
    """
    least, some = 0.25 / len(parts), drawn[:, ::VORONOI]
    scores = normal_quantile(np.clip(parts, least, 1.0 - least)).astype(np.float32)
    below = np.searchsorted(np.sort(some, axis=None), scores, side="right") / some.size
    return np.append(np.minimum(below, parts)[:-1], 1.0)


# --- settings and skill --------------------------------------------------------------------------------


def spread_rows(data: FitData, most: int, weights: Reals) -> Indices:
    """The indices of up to `most` rows: first the rows nearest to evenly spread points, then other rows."""
    positions = data.rows.positions
    if len(positions) <= most:
        return np.arange(len(positions))
    some = np.linspace(0, len(data.points) - 1, most).astype(np.int64)
    first = np.unique(rational_quadratic(data.points.take(some).positions, positions, weights).argmax(axis=1))
    left = np.delete(np.arange(len(positions)), first)
    more = left[np.linspace(0, len(left) - 1, most - len(first)).astype(np.int64)]
    return np.sort(np.concatenate([first, more]))


def cross_validate(data: FitData, chosen: Indices) -> tuple[Skill, KernelSettings]:
    """Fit settings to each half of the rows, test them on the other half, and return the skill and mean settings."""
    levels = np.unique(data.configurations.levels[chosen], return_inverse=True)[1]
    scores = scores_of(levels, np.ones(len(chosen)))
    side = np.arange(len(chosen)) % 2  # configurations are already in random order
    halves, skills = [], []
    for half in (0, 1):
        own = side == half
        settings = data.likelihood(chosen[own], scores[own]).best()
        predicted = data.condition(chosen, scores, settings).leave_one_out()[0][~own]
        skills.append(correlation(predicted, scores[~own]))
        halves.append(settings)
    return Skill(min(skills), len(chosen)), KernelSettings.between(*halves)


# --- samples -------------------------------------------------------------------------------------------


def leave_one_out(
    process: OrderingProcess, posterior: Posterior, rows: RankedRows, rng: np.random.Generator
) -> LeaveOneOut:
    """Predict the scores of a process's configurations from those that it is conditioned on, except themselves."""
    data, some, given = process.data, process.some, process.given
    count = len(data.configurations)
    mean, variance = np.empty(count), np.empty(count)
    mean[given], variance[given] = posterior.leave_one_out()
    rest = np.setdiff1d(some, given, assume_unique=True)
    if len(rest):
        drawn = posterior.draw(data.rows.take(rest), DRAWS, rng).astype(np.float64)
        mean[rest], variance[rest] = drawn.mean(axis=0), drawn.var(axis=0)
    order, owner = np.argsort(rows.rows), data.configurations.owner
    order = order[np.isin(owner[order], some)]
    owner = owner[order]
    return LeaveOneOut(rows.rows[order], owner, mean[owner], variance[owner], posterior.noise * posterior.scale)


def with_noise(process: Posterior, scores: Singles, rng: np.random.Generator) -> Singles:
    """Add random noise to the scores (draws, points): none in the first sample, all of the fitted noise in the last."""
    steps = np.linspace(0.0, 1.0, len(scores))
    sizes = np.sqrt(process.noise * process.scale * steps).astype(np.float32)
    return scores + sizes[:, None] * rng.standard_normal(scores.shape, dtype=np.float32)


def layer_process(
    whole: OrderingProcess, top: Indices, weights: Reals, layer: Layer, *, adaptive: bool
) -> OrderingProcess:
    """Fit processes to the configurations `top` of a layer.

    The best half keeps its scores among all rows: normal quantiles of ranks inside the half would grow without bound at
    its end, and the process would take this for noise. The best tenth has new ones, because its objective may change
    quickly. So few rows leave the settings uncertain, so samples use several.
    """
    data, scores = whole.data, whole.scores
    if layer.anew:
        levels = np.unique(data.configurations.levels[top], return_inverse=True)[1]
        scores = np.zeros_like(scores)
        scores[top] = scores_of(levels, weights[top])
    if not adaptive:
        data = data.ranked_among(top)
    few = top[:: -(-len(top) // FIT_ROWS)]
    start = None if layer.fits == 1 else whole.settings[0]
    parts = [few[part :: layer.fits] for part in range(layer.fits)]
    settings = [data.likelihood(some, scores[some]).best(start) for some in parts]
    return OrderingProcess(data, scores, top, top[:LAYER_ROWS], tuple(settings), layer)


def ordered(
    processes: Sequence[OrderingProcess], points: Configured, rng: np.random.Generator
) -> tuple[Singles, NDArray[np.int64], list[Posterior]]:
    """Posterior samples of the scores at `points`, their order (draws, points), and the last posterior of each process.

    The first process orders all points; each of the others reorders the best points of some samples.
    """
    whole, *layers = processes
    first = next(whole.posteriors())
    drawn = with_noise(first, first.draw(points, DRAWS, rng), rng)
    order = sort_lines(drawn)
    return drawn, order, [first, *(reorder(order, one, points, rng) for one in layers)]


def reorder(
    order: NDArray[np.int64], process: OrderingProcess, points: Configured, rng: np.random.Generator
) -> Posterior:
    """Reorder the best points of some samples, and return the last posterior that was used."""
    layer, layout = process.layer, process.data.layout
    if points.layout is not layout:
        points = Configured(layout, points.places)
    first = math.ceil(layer.part * order.shape[1])
    for number, posterior in enumerate(process.posteriors()):
        draws = layer.draws(len(order)).reshape(-1, 2)[number :: layer.fits].ravel()
        best, met = order[draws, :first], np.zeros(order.shape[1], dtype=bool)
        met[best] = True
        again = with_noise(posterior, posterior.draw(points.take(np.flatnonzero(met)), len(draws), rng), rng)
        turn = sort_lines(np.take_along_axis(again, (np.cumsum(met) - 1)[best], axis=1))
        order[draws, :first] = np.take_along_axis(best, turn, axis=1)
    return posterior
