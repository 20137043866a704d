"""From rows to the table of drawn points: one fit, then every answer.

1. KernelSettings of the process are chosen on each half of some rows, and judged on the other half.
2. Scores are normal quantiles of the ranks; after an adaptive sampler each row counts for the part of
   the space that is nearest to it.
3. Functions are drawn at uniform points, with none to all of what the process takes for noise: misfit
   may be noise or structure.
4. Inside the best half a second process, of the rows there, orders the points of every other pair of
   draws, and inside the best tenth a third one those of as many: a process that knows all rows spends
   itself on what sets bad rows apart, and takes a jump between good and bad for noise.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.base.threads import one_thread
from pedanova.measures.chance.kinship import Kinship, kinship_of
from pedanova.measures.chance.normal import normal_quantile
from pedanova.measures.chance.ranked_rows import Indices, Places, RankedRows
from pedanova.measures.surrogate.configurations import Configurations, configurations_of
from pedanova.measures.surrogate.drawn import Drawn, kept_points
from pedanova.measures.surrogate.gaussian_process import (
    ADAPTIVE_PRIOR,
    PRIOR,
    SEARCH_STEPS,
    KernelSettings,
    Likelihood,
    Posterior,
    condition,
)
from pedanova.measures.surrogate.kernel import Embedding, FeatureLayout, Singles, layout_of, rational_quadratic
from pedanova.measures.surrogate.points import FEWER_POINTS, POINTS, uniform_points
from pedanova.measures.surrogate.rungs import rungs_of
from pedanova.measures.surrogate.sampler import SamplerEvidence, sampler_of

Reals: TypeAlias = NDArray[np.float64]
DRAWS = 32  # functions, in pairs around the mean
FIT_ROWS = 240  # rows that choose the settings
LEAST_SKILL, MOST_SKILL = 0.3, 0.5  # correlation below which a model is no help: from many rows, from few,
SURE_SKILL = 4.2  # and in between so many deviations of what chance would give
LEAST_PART = 0.05  # of a fair part of the space, for a row that no point is nearest to
VORONOI = 4  # every fourth point looks for its nearest row
CALM_PART, CALM = 0.1, 0.3  # scores beyond that of this best part keep so much of what they are beyond it


@dataclass(frozen=True, slots=True)
class Layer:
    """A best part of the space that has a process of its own in some of the draws."""

    part: float
    rows: int  # that it needs
    pairs: tuple[int, ...]  # of draws in which it speaks,
    cycle: int  # of so many
    even: bool = False  # only where rows were drawn evenly: after an adaptive sampler half of the space has few
    anew: bool = False  # settings are sought from the usual ones: what sets all rows apart may mean nothing here


LAYER_ROWS = 600  # that the process of a layer is given
LAYERS = (Layer(0.5, 20, (0,), 2, even=True, anew=True), Layer(0.1, 40, (0, 1), 4))


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is spent on one lesson."""

    points: int  # that functions are drawn at
    rows: int  # that the process is given
    steps: int  # of the search that begins where both halves ended
    near_steps: int  # of the search for a layer


FULL = Effort(POINTS, 1500, 8, SEARCH_STEPS)
QUICK = Effort(FEWER_POINTS, 600, 3, 3)  # where settings of more rows are known


@dataclass(frozen=True, slots=True)
class Skill:
    """How well rows are predicted that had no part in choosing the model's settings."""

    correlation: float  # of the half of the rows that is predicted worse: chance seldom smiles twice
    rows: int

    def __str__(self) -> str:
        return f"rank correlation {self.correlation:.2f} on rows that had no part in it"

    @property
    def trusted(self) -> bool:
        return self.correlation >= min(max(LEAST_SKILL, SURE_SKILL / math.sqrt(self.rows)), MOST_SKILL)


@dataclass(frozen=True, slots=True, eq=False)
class Lesson:
    """What was learned from the rows; `drawn` is None where the model is not to be trusted."""

    skill: Skill
    sampler: SamplerEvidence
    configurations: int
    drawn: Drawn | None
    objection: str = ""  # in words, where there is no table
    settings: KernelSettings | None = None  # of the process; not kept in files,
    influence: Mapping[str, float] = field(default_factory=dict)  # nor how far each parameter alone may move it


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """What every step of the learning needs."""

    learned: Configurations
    layout: FeatureLayout
    rows: Embedding
    points: Embedding
    effort: Effort

    def evidence(self, rows: Indices, scores: Reals, *, adaptive: bool = False) -> Likelihood:
        prior = ADAPTIVE_PRIOR if adaptive else PRIOR
        return Likelihood.of(self.rows.take(rows), self.layout.owners, scores, prior=prior)

    def condition(self, rows: Indices, scores: Reals, settings: KernelSettings) -> Posterior:
        return condition(self.rows.take(rows), self.layout.owners, scores, settings)

    def features(self, settings: KernelSettings) -> Reals:
        """(features,) The weight of each."""
        return settings.weights[self.layout.owners]


def learn(rows: RankedRows, kinship: Kinship | None = None, *, seed: int = 0, near: Lesson | None = None) -> Lesson:
    """What the rows teach; the same for any order of rows and columns.

    Some rows more may have taught a lesson: then they have the same sampler and settings `near` to its own, are not
    judged again, and less is spent.
    """
    effort = FULL if near is None else QUICK
    with one_thread():
        learned = configurations_of(rows)
        sampler = sampler_of(learned, kinship or kinship_of(rows)) if near is None else near.sampler
        none = Lesson(Skill(0.0, len(learned)), sampler, len(learned), None)
        if learned.arrangement.varying == 0 or learned.levels.max() == 0:
            return replace(none, objection="nothing varies that a model could learn from")
        if is_complete(learned):
            return replace(none, objection="the table holds every configuration, so counts are exact")
        places = uniform_points(learned.arrangement, learned.places, count=effort.points, seed=seed)
        layout = layout_of(learned.arrangement, learned.places)
        material = Material(learned, layout, layout.embed(learned.places), layout.embed(places), effort)
        chosen = spread_rows(material, FIT_ROWS, np.ones(len(layout.owners)))
        known = None if near is None else near.settings
        if known is not None and len(known.weights) == learned.arrangement.varying:
            skill, settings = Skill(1.0, len(chosen)), known
        else:
            skill, settings = judged(material, chosen)
        if not skill.trusted:
            return replace(none, skill=skill, objection=f"a model predicts the order of the rows badly ({skill})")
        weights = parts_of_space(material, settings) if sampler.adaptive else np.ones(len(learned))
        rng = np.random.default_rng([seed, 0xF17])
        scores = scores_of(learned.levels, weights)
        scores = calmed(scores) if sampler.adaptive else scores
        found = material.evidence(chosen, scores[chosen], adaptive=sampler.adaptive)
        settings = found.best(settings, steps=effort.steps)
        scored = drawn_scores(material, scores, settings, rng)
        order = ordered(material, scored, scores, weights, settings, rng, adaptive=sampler.adaptive)
        drawn = tabled(material, places, order, weights, adaptive=sampler.adaptive)
    moved = dict(zip(drawn.varying, influences(material, settings), strict=True))
    return Lesson(skill, sampler, len(learned), drawn, settings=settings, influence=moved)


def is_complete(learned: Configurations) -> bool:
    """Whether the rows hold every configuration, each as often as any other."""
    grids = learned.arrangement.grids
    if any(grid.labels is None or len(grid.blocks) > 1 for grid in grids):
        return False
    inside = all(np.all(learned.places[:, j] < grid.cells) for j, grid in enumerate(grids))
    wanted = math.prod(grid.cells for grid in grids)
    return inside and len(learned) == wanted and bool(np.all(learned.repeats == learned.repeats[0]))


def influences(material: Material, settings: KernelSettings) -> list[float]:
    """How much of a function of the process is told anew where one parameter alone is drawn anew, 0 to 1."""
    near = material.points.positions[::VORONOI]
    gaps = (near - near[::-1]) ** 2
    first = np.flatnonzero(np.diff(material.layout.owners, prepend=-1))
    by_owner = np.add.reduceat(gaps.astype(np.float64), first, axis=1)
    parts = 1.0 - (1.0 / (1.0 + settings.weights * by_owner)).mean(axis=0)
    return [float(part) for part in parts]


def scores_of(levels: Indices, weights: Reals) -> Reals:
    """Normal quantiles of the ranks, each row counting for its weight."""
    mass = np.bincount(levels, weights=weights)
    middles = (np.cumsum(mass) - mass / 2.0)[levels] / mass.sum()
    least = 0.25 / len(levels)
    return normal_quantile(np.clip(middles, least, 1.0 - least))


def calmed(scores: Reals) -> Reals:
    """Scores whose best part lies closer together, in the same order.

    Where most rows are good ones, what sets these apart would else be most of what a process sees, and
    the few rows that tell good from bad would look like noise.
    """
    edge = best_score(CALM_PART)
    return np.where(scores < edge, edge + CALM * (scores - edge), scores)


def best_score(part: float) -> float:
    """The normal score at which the best part ends."""
    return float(normal_quantile(np.array([part]))[0])


def spread_rows(material: Material, most: int, weights: Reals) -> Indices:
    """Rows nearest to evenly spread points, up to so many; the rest from those left."""
    near = material.rows.positions
    if len(near) <= most:
        return np.arange(len(near))
    some = np.linspace(0, len(material.points) - 1, most).astype(np.int64)
    first = np.unique(rational_quadratic(material.points.positions[some], near, weights).argmax(axis=1))
    left = np.setdiff1d(np.arange(len(near)), first)
    more = left[np.linspace(0, len(left) - 1, most - len(first)).astype(np.int64)]
    return np.sort(np.concatenate([first, more]))


def judged(material: Material, chosen: Indices) -> tuple[Skill, KernelSettings]:
    """KernelSettings from either half of the rows, and how well they tell the rows of the other half."""
    scores = scores_of(np.unique(material.learned.levels[chosen], return_inverse=True)[1], np.ones(len(chosen)))
    side = np.arange(len(chosen)) % 2  # configurations have no visible order
    halves, skills = [], []
    for half in (0, 1):
        own = side == half
        settings = material.evidence(chosen[own], scores[own]).best()
        told = material.condition(chosen, scores, settings).leave_one_out()[~own]
        skills.append(correlation(told, scores[~own]))
        halves.append(settings)
    return Skill(min(skills), len(chosen)), KernelSettings.between(*halves)


def correlation(one: Reals, two: Reals) -> float:
    """0 where either is constant."""
    spread = float(one.std() * two.std())
    return float(np.mean((one - one.mean()) * (two - two.mean()))) / spread if spread > 1e-12 else 0.0


def parts_of_space(material: Material, settings: KernelSettings) -> Reals:
    """(configurations,) How much of the space each stands for, 1 on average: the points nearest to it."""
    some = material.points.positions[::VORONOI]
    nearest = rational_quadratic(some, material.rows.positions, material.features(settings)).argmax(axis=1)
    rows = len(material.rows)
    counts = np.bincount(nearest, minlength=rows).astype(np.float64)
    return counts * (rows / len(some)) + LEAST_PART


def drawn_scores(material: Material, scores: Reals, settings: KernelSettings, rng: np.random.Generator) -> Singles:
    """(draws, points) By the process of all rows."""
    held = spread_rows(material, material.effort.rows, material.features(settings))
    process = material.condition(held, scores[held], settings)
    return with_noise(process, process.draw(material.points, DRAWS, rng), rng)


def with_noise(process: Posterior, scored: Singles, rng: np.random.Generator) -> Singles:
    """From none to all of what the process takes for noise."""
    steps = np.linspace(0.0, 1.0, len(scored))
    sizes = np.sqrt(process.noise * process.scale * steps).astype(np.float32)
    return scored + sizes[:, None] * rng.standard_normal(scored.shape, dtype=np.float32)


def ordered(
    material: Material,
    scored: Singles,
    scores: Reals,
    weights: Reals,
    settings: KernelSettings,
    rng: np.random.Generator,
    *,
    adaptive: bool,
) -> NDArray[np.int64]:
    """(draws, points) Best first; inside the best half and the best tenth as the rows there tell it."""
    order = rising(scored)
    for layer in LAYERS:
        part = None if layer.even and adaptive else rows_within(material, scores, weights, layer)
        if part is not None:
            reorder(material, order, part, layer, settings, rng)
    return order


def rising(values: Singles) -> NDArray[np.int64]:
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


def rows_within(material: Material, scores: Reals, weights: Reals, layer: Layer) -> tuple[Indices, Reals] | None:
    """The rows of a layer and their scores among themselves; None where they are too few, or all alike."""
    top = np.flatnonzero(scores <= best_score(layer.part))
    if not layer.rows <= len(top) < len(scores):
        return None
    levels = np.unique(material.learned.levels[top], return_inverse=True)[1]
    return (top, scores_of(levels, weights[top])) if levels.max() > 0 else None


def reorder(
    material: Material,
    order: NDArray[np.int64],
    part: tuple[Indices, Reals],
    layer: Layer,
    settings: KernelSettings,
    rng: np.random.Generator,
) -> None:
    """Put the best points of some draws into the order that a process of the rows there gives them."""
    top, inner = part
    few = np.arange(len(top))[:: -(-len(top) // FIT_ROWS)]
    start = None if layer.anew and material.effort is FULL else settings
    local = material.evidence(top[few], inner[few]).best(start, steps=material.effort.near_steps)
    most = slice(0, LAYER_ROWS)
    process = material.condition(top[most], inner[most], local)
    mine = np.flatnonzero(np.isin(np.arange(len(order)) // 2 % layer.cycle, layer.pairs))
    best = order[mine, : math.ceil(layer.part * order.shape[1])]
    met = np.zeros(order.shape[1], dtype=bool)
    met[best] = True
    again = with_noise(process, process.draw(material.points.take(np.flatnonzero(met)), len(mine), rng), rng)
    turn = rising(np.take_along_axis(again, (np.cumsum(met) - 1)[best], axis=1))
    order[mine, : best.shape[1]] = np.take_along_axis(best, turn, axis=1)


def tabled(material: Material, places: Places, order: NDArray[np.int64], weights: Reals, *, adaptive: bool) -> Drawn:
    """All that answers need."""
    learned = material.learned
    arrangement = learned.arrangement
    stands_for = (weights / learned.repeats)[learned.owner] if adaptive else None
    return Drawn(
        space=arrangement.space,
        points=kept_points(arrangement.space, arrangement.cells(places)),
        order=order.astype(np.uint16),
        rungs=rungs_of(learned.signed, stands_for),
        varying=arrangement.names[: arrangement.varying],
        uneven=adaptive,
    )
