"""From rows to posterior samples: one fit, then every answer.

1. Settings of the Gaussian process are chosen on each half of some rows, and judged on the other half.
2. Scores are normal quantiles of the ranks; after an adaptive sampler each row counts for the part of the space that
   is nearest to it.
3. Functions are drawn at uniform points, with none to all of what the process takes for noise: misfit may be noise or
   structure.
4. Inside the best half a second process, of the rows there, orders the points of every other pair of samples, and
   inside the best tenth a third one those of as many: a process that knows all rows spends itself on what sets bad
   rows apart, and takes a jump between good and bad for noise.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from pedanova.base.threads import one_thread
from pedanova.counting.few_rows import Indices
from pedanova.measures.chance.dependence import Dependence, dependence_of
from pedanova.measures.chance.ranked_rows import Places, RankedRows
from pedanova.measures.distributions import normal_quantile
from pedanova.measures.surrogate.gaussian_process import (
    ADAPTIVE_PRIOR,
    PRIOR,
    SEARCH_STEPS,
    KernelSettings,
    Likelihood,
    Posterior,
    condition,
)
from pedanova.measures.surrogate.kernel import (
    Configured,
    Embedding,
    FeatureLayout,
    Singles,
    layout_of,
    rational_quadratic,
)
from pedanova.measures.surrogate.posterior import (
    FEWER_POINTS,
    POINTS,
    SOME_POINTS,
    ObjectiveRanks,
    PosteriorSamples,
    coarse_points,
    even_points,
)
from pedanova.measures.surrogate.residuals import LeaveOneOut
from pedanova.measures.surrogate.sampler import (
    Configurations,
    SamplerEvidence,
    configurations_of,
    correlation,
    sampler_of,
)
from pedanova.space.grid import Reals

DRAWS = 32  # functions, in pairs around the mean
FIT_ROWS = 240  # rows that choose the settings
LEAST_SKILL, MOST_SKILL = 0.3, 0.5  # correlation below which a model is not used: with many rows, with few,
SURE_SKILL = 4.2  # and in between so many deviations of what chance would give
LEAST_PART = 0.05  # of a fair part of the space, for a row that no point is nearest to
VORONOI = 4  # every fourth point looks for its nearest row
COMPRESSED_PART, COMPRESSION = 0.1, 0.3  # scores beyond that of this best part keep so much of their distance to it


@dataclass(frozen=True, slots=True)
class Layer:
    """A best part of the space that has a process of its own in some of the samples."""

    part: float
    rows: int  # that it needs
    pairs: tuple[int, ...]  # of samples in which it is used,
    cycle: int  # of so many
    even: bool = False  # only where rows were drawn evenly: after an adaptive sampler half of the space has few
    anew: bool = False  # the search begins at the initial settings: those of all rows may not fit here


LAYER_ROWS = 600  # that the process of a layer is given
LAYERS = (Layer(0.5, 20, (0,), 2, even=True, anew=True), Layer(0.1, 40, (0, 1), 4))


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is spent on one fit."""

    points: int  # that functions are drawn at
    rows: int  # that the process is given
    steps: int  # of the search that begins where both halves ended
    layer_steps: int  # of the search for a layer


FULL = Effort(POINTS, 1000, 8, SEARCH_STEPS)
FEW_ROWS = 400  # configurations up to which fewer points are as accurate
QUICK = Effort(FEWER_POINTS, 600, 3, 3)  # where the settings of more rows are known


@dataclass(frozen=True, slots=True)
class Skill:
    """How well rows are predicted that had no part in choosing the model's settings."""

    correlation: float  # of the half of the rows that is predicted worse
    rows: int

    def __str__(self) -> str:
        return f"rank correlation {self.correlation:.2f} on held-out rows"

    @property
    def trusted(self) -> bool:
        """Whether the correlation is large enough for the model to be used."""
        return self.correlation >= min(max(LEAST_SKILL, SURE_SKILL / math.sqrt(self.rows)), MOST_SKILL)


@dataclass(frozen=True, slots=True, eq=False)
class FittedModel:
    """The result of a fit; `drawn` is None where the model is not to be trusted."""

    skill: Skill
    sampler: SamplerEvidence
    configurations: int
    samples: PosteriorSamples | None
    objection: str = ""  # in words, where there are no samples
    settings: KernelSettings | None = None
    influence: Mapping[str, float] = field(default_factory=dict)  # how far each parameter alone may move it
    predictions: LeaveOneOut | None = None  # the rows as the others predict them


@dataclass(frozen=True, slots=True, eq=False)
class FitData:
    """The configurations and points of a fit as features."""

    configurations: Configurations
    layout: FeatureLayout
    rows: Embedding
    points: Configured
    effort: Effort

    def likelihood(self, rows: Indices, scores: Reals, *, adaptive: bool = False) -> Likelihood:
        prior = ADAPTIVE_PRIOR if adaptive else PRIOR
        return Likelihood.of(self.rows.take(rows), self.layout.owners, scores, prior=prior)

    def condition(self, rows: Indices, scores: Reals, settings: KernelSettings) -> Posterior:
        return condition(self.rows.take(rows), self.layout.owners, scores, settings)

    def feature_weights(self, settings: KernelSettings) -> Reals:
        """(features,) The weight of each."""
        return settings.weights[self.layout.owners]


def fit(
    rows: RankedRows, dependence: Dependence | None = None, *, seed: int = 0, near: FittedModel | None = None
) -> FittedModel:
    """A model of the rows; the same for any order of rows and columns.

    `near` is a model of more rows: then the sampler and the skill are taken from it, the search for settings begins
    at its own, and less is spent.
    """
    with one_thread():
        dependence = dependence or dependence_of(rows)
        sampler = sampler_of(configurations_of(rows), dependence) if near is None else near.sampler
        sampler = replace(sampler, designed=rows.designed)
        rows = rows.without(dependence.copies)
        configurations = configurations_of(rows)
        count = len(configurations)
        full = replace(FULL, points=SOME_POINTS) if count <= FEW_ROWS else FULL
        effort = full if near is None else QUICK
        none = FittedModel(Skill(0.0, count), sampler, count, None)
        arrangement = configurations.arrangement
        if arrangement.varying == 0 or configurations.levels.max() == 0:
            return replace(none, objection="nothing varies that a model could learn from")
        if is_complete(configurations):
            return replace(none, objection="the table holds every configuration, so counts are exact")
        like_rows = not sampler.adaptive
        places = even_points(
            arrangement,
            configurations.places,
            count=effort.points,
            seed=seed,
            like_rows=like_rows,
            copies=dependence.copies,
        )
        layout = layout_of(arrangement, configurations.places)
        data = FitData(configurations, layout, layout.embed(configurations.places), Configured(layout, places), effort)
        chosen = spread_rows(data, FIT_ROWS, np.ones(len(layout.owners)))
        known = None if near is None else near.settings
        if known is not None and len(known.weights) == arrangement.varying:
            skill, settings = Skill(1.0, len(chosen)), known
        else:
            skill, settings = cross_validate(data, chosen)
        if not (skill.trusted or (sampler.designed and skill.correlation >= LEAST_SKILL)):
            return replace(none, skill=skill, objection=f"a model predicts the order of the rows badly ({skill})")
        rng = np.random.default_rng([seed, 0xF17])
        return with_samples(replace(none, skill=skill), data, chosen, settings, rows, places, dependence, rng)


def with_samples(
    model: FittedModel,
    data: FitData,
    chosen: Indices,
    settings: KernelSettings,
    rows: RankedRows,
    places: Places,
    dependence: Dependence,
    rng: np.random.Generator,
) -> FittedModel:
    """The model fitted to the chosen rows from these settings on, with samples of its posterior at all points."""
    sampler, configurations = model.sampler, data.configurations
    arrangement = configurations.arrangement
    weights = parts_of_space(data, settings) if sampler.adaptive else np.ones(len(configurations))
    scores = scores_of(configurations.levels, weights)
    eager = sampler.adaptive and not sampler.designed  # most rows are good ones
    scores = compressed(scores) if eager else scores
    likelihood = data.likelihood(chosen, scores[chosen], adaptive=eager)
    settings = likelihood.best(settings, steps=data.effort.steps)
    given = spread_rows(data, data.effort.rows, data.feature_weights(settings))
    process = data.condition(given, scores[given], settings)
    order = order_points(data, process, scores, weights, settings, rng, adaptive=sampler.adaptive)
    predictions = None if sampler.adaptive else leave_one_out(data, process, given, rows, rng)
    parts = (weights / configurations.repeats)[configurations.owner] if sampler.adaptive else None
    samples = PosteriorSamples(
        space=arrangement.space,
        points=coarse_points(arrangement.space, arrangement.cells(places)),
        order=order.astype(np.uint16),
        ranks=ObjectiveRanks.of(configurations.signed, parts),
        varying=(*arrangement.names[: arrangement.varying], *sorted(dependence.copies)),
        adaptive=sampler.adaptive,
        copies=dependence.copies,
    )
    influence = dict(zip(arrangement.names, influences(data, settings), strict=False))
    influence |= {copy: influence[original] for copy, original in dependence.copies.items()}
    return replace(model, samples=samples, settings=settings, influence=influence, predictions=predictions)


def is_complete(configurations: Configurations) -> bool:
    """Whether the rows hold every configuration of the space, each equally often."""
    grids = configurations.arrangement.grids
    if any(grid.labels is None or len(grid.blocks) > 1 for grid in grids):
        return False
    inside = all(np.all(configurations.places[:, j] < grid.cells) for j, grid in enumerate(grids))
    every = math.prod(grid.cells for grid in grids)
    repeats = configurations.repeats
    return inside and len(configurations) == every and bool(np.all(repeats == repeats[0]))


def influences(data: FitData, settings: KernelSettings) -> list[float]:
    """For each parameter, the part of the process's variance that is drawn anew with the parameter alone, 0 to 1."""
    positions = data.points.take(slice(None, None, VORONOI)).positions
    gaps = (positions - positions[::-1]) ** 2
    first = np.flatnonzero(np.diff(data.layout.owners, prepend=-1))
    by_owner = np.add.reduceat(gaps.astype(np.float64), first, axis=1)
    parts = 1.0 - (1.0 / (1.0 + settings.weights * by_owner)).mean(axis=0)
    return [float(part) for part in parts]


# --- scores --------------------------------------------------------------------------------------------


def scores_of(levels: Indices, weights: Reals) -> Reals:
    """Normal quantiles of the ranks, each row counting for its weight."""
    mass = np.bincount(levels, weights=weights)
    middles = (np.cumsum(mass) - mass / 2.0)[levels] / mass.sum()
    least = 0.25 / len(levels)
    return normal_quantile(np.clip(middles, least, 1.0 - least))


def compressed(scores: Reals) -> Reals:
    """Scores whose best part lies closer together, in the same order.

    Where most rows are good ones, what sets these apart would else be most of what a process sees, and the few rows
    that tell good from bad would look like noise.
    """
    edge = best_score(COMPRESSED_PART)
    return np.where(scores < edge, edge + COMPRESSION * (scores - edge), scores)


def best_score(part: float) -> float:
    """The normal score at which the best part ends."""
    return float(normal_quantile(np.array([part]))[0])


def parts_of_space(data: FitData, settings: KernelSettings) -> Reals:
    """(configurations,) How much of the space each represents, 1 on average: the points nearest to it."""
    some = data.points.take(slice(None, None, VORONOI)).positions
    nearest = rational_quadratic(some, data.rows.positions, data.feature_weights(settings)).argmax(axis=1)
    rows = len(data.rows)
    counts = np.bincount(nearest, minlength=rows).astype(np.float64)
    return counts * (rows / len(some)) + LEAST_PART


# --- settings and skill --------------------------------------------------------------------------------


def spread_rows(data: FitData, most: int, weights: Reals) -> Indices:
    """Rows nearest to evenly spread points, up to so many; the rest from those left."""
    positions = data.rows.positions
    if len(positions) <= most:
        return np.arange(len(positions))
    some = np.linspace(0, len(data.points) - 1, most).astype(np.int64)
    first = np.unique(rational_quadratic(data.points.take(some).positions, positions, weights).argmax(axis=1))
    left = np.delete(np.arange(len(positions)), first)
    more = left[np.linspace(0, len(left) - 1, most - len(first)).astype(np.int64)]
    return np.sort(np.concatenate([first, more]))


def cross_validate(data: FitData, chosen: Indices) -> tuple[Skill, KernelSettings]:
    """Settings from either half of the rows, and how well they predict the rows of the other half."""
    levels = np.unique(data.configurations.levels[chosen], return_inverse=True)[1]
    scores = scores_of(levels, np.ones(len(chosen)))
    side = np.arange(len(chosen)) % 2  # configurations have no visible order
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
    data: FitData, process: Posterior, given: Indices, rows: RankedRows, rng: np.random.Generator
) -> LeaveOneOut:
    """Every row as the other configurations predict it: those that the process was given, and the rest."""
    count = len(data.configurations)
    mean, variance = np.empty(count), np.empty(count)
    mean[given], variance[given] = process.leave_one_out()
    rest = np.delete(np.arange(count), given)
    if len(rest):
        drawn = process.draw(data.rows.take(rest), DRAWS, rng).astype(np.float64)
        mean[rest], variance[rest] = drawn.mean(axis=0), drawn.var(axis=0)
    order, owner = np.argsort(rows.rows), data.configurations.owner
    owner = owner[order]
    return LeaveOneOut(rows.rows[order], owner, mean[owner], variance[owner], process.noise * process.scale)


def order_points(
    data: FitData,
    process: Posterior,
    scores: Reals,
    weights: Reals,
    settings: KernelSettings,
    rng: np.random.Generator,
    *,
    adaptive: bool,
) -> NDArray[np.int64]:
    """(draws, points) Best first by the process of all rows; inside a layer by that of the rows there."""
    order = argsort_draws(with_noise(process, process.draw(data.points, DRAWS, rng), rng))
    for layer in LAYERS:
        part = None if layer.even and adaptive else rows_within(data, scores, weights, layer)
        if part is not None:
            reorder(data, order, part, layer, settings, rng)
    return order


def with_noise(process: Posterior, scores: Singles, rng: np.random.Generator) -> Singles:
    """Scores of points with noise added: none in the first sample, all of the process's noise in the last."""
    steps = np.linspace(0.0, 1.0, len(scores))
    sizes = np.sqrt(process.noise * process.scale * steps).astype(np.float32)
    return scores + sizes[:, None] * rng.standard_normal(scores.shape, dtype=np.float32)


def argsort_draws(values: Singles) -> NDArray[np.int64]:
    """(draws, points) The places of the values, lowest first, equal ones as they stand.

    By the lower half of the bits and then by the upper one: NumPy sorts 16 bits by counting them.
    """
    bits = values.view(np.int32)
    keys = np.where(bits < 0, -(bits & 0x7FFFFFFF), bits)  # in the order of the numbers
    lower, upper = (keys & 0xFFFF).astype(np.uint16), ((keys >> 16) + 0x8000).astype(np.uint16)
    order = np.empty(values.shape, dtype=np.int64)
    for draw, (low, high) in enumerate(zip(lower, upper, strict=True)):
        first = np.argsort(low, kind="stable")
        order[draw] = first[np.argsort(high[first], kind="stable")]
    return order


def rows_within(data: FitData, scores: Reals, weights: Reals, layer: Layer) -> tuple[Indices, Reals] | None:
    """The rows of a layer and their scores among themselves; None where they are too few, or all alike."""
    top = np.flatnonzero(scores <= best_score(layer.part))
    if not layer.rows <= len(top) < len(scores):
        return None
    levels = np.unique(data.configurations.levels[top], return_inverse=True)[1]
    return (top, scores_of(levels, weights[top])) if levels.max() > 0 else None


def reorder(
    data: FitData,
    order: NDArray[np.int64],
    part: tuple[Indices, Reals],
    layer: Layer,
    settings: KernelSettings,
    rng: np.random.Generator,
) -> None:
    """Put the best points of some samples into the order that a process of the rows there gives them."""
    top, scores = part
    few = np.arange(len(top))[:: -(-len(top) // FIT_ROWS)]
    start = None if layer.anew and data.effort is not QUICK else settings
    local = data.likelihood(top[few], scores[few]).best(start, steps=data.effort.layer_steps)
    most = slice(0, LAYER_ROWS)
    process = data.condition(top[most], scores[most], local)
    mine = np.flatnonzero(np.isin(np.arange(len(order)) // 2 % layer.cycle, layer.pairs))
    best = order[mine, : math.ceil(layer.part * order.shape[1])]
    met = np.zeros(order.shape[1], dtype=bool)
    met[best] = True
    again = with_noise(process, process.draw(data.points.take(np.flatnonzero(met)), len(mine), rng), rng)
    turn = argsort_draws(np.take_along_axis(again, (np.cumsum(met) - 1)[best], axis=1))
    order[mine, : best.shape[1]] = np.take_along_axis(best, turn, axis=1)
