"""Importances by a model where rows are few, held to account by the counts.

Every function drawn from the model is tallied over the space as if it were data; the mean of the
shares is the estimate, their spread the interval. Where the counts of the rows contradict the
model by more than chance, the estimate moves towards the counts (a James-Stein weight).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from pedanova.counting.contrasts import Contrast
from pedanova.data.regions import Direction, Region
from pedanova.measures.batched import measure_many
from pedanova.measures.importance import Importance, measure
from pedanova.measures.inference import Sureness
from pedanova.measures.smoothing import Smoothing
from pedanova.measures.surrogate.gaussian import Reals
from pedanova.measures.surrogate.model import Mask, Surrogate
from pedanova.space.grid import Cells, Grid

SLOPES = (0.0, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0)
DOUBT = 0.2  # a model's shares are taken to be off by so much of themselves, whatever the rows say,
DOUBT_INSIDE = 0.4  # and by more inside a region, which is itself a guess of the model
GROUPS = 10  # of cells, in which rows are held against a uniform draw
UNEVEN = 0.5  # divergence beyond which rows were not drawn uniformly
LIKELY = 1e-4, 1.0 - 1e-4  # chances are kept inside, so that one surprise does not decide alone


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, as regions of the objective."""

    target: Region
    region: Region
    direction: Direction
    baseline: str
    smoothing: Smoothing

    @property
    def doubt(self) -> float:
        """How far a model's share may be off, as a part of it."""
        whole = self.region.kind == "quantile" and not self.region.low and self.region.high in (None, 1)
        return DOUBT if whole else DOUBT_INSIDE


@dataclass(frozen=True, slots=True, eq=False)
class Belief:
    """What one model says of a question: over the space, and of the rows themselves."""

    model: Surrogate
    targets: Mask  # (points, draws)
    regions: Mask  # (points, draws)
    rows: NDArray[np.int64]  # of the model of all rows, those in the region
    cells: Mapping[str, Cells]  # of these rows
    reached: Mask  # (rows,) whether each is in the target
    chances: Reals  # (rows,) as the other rows tell it


@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """A parameter's importance as the functions drawn have it, and what each has to say."""

    samples: Sequence[Importance]
    says: Reals

    @classmethod
    def by(cls, found: Sequence[Sequence[Importance]], says: Reals) -> Told:
        """From the samples of every belief."""
        each = [np.full(len(samples), say) for samples, say in zip(found, says, strict=True)]
        return cls([sample for samples in found for sample in samples], np.concatenate(each))

    def mean(self, values: Sequence[float] | Reals) -> float:
        return float(np.average(values, weights=self.says))

    def ends(self, values: Reals) -> tuple[float, float]:
        """What 95 % of the values lie between."""
        order = np.argsort(values)
        says = self.says[order] / self.says.sum()
        low, high = np.interp([0.025, 0.975], np.cumsum(says) - says / 2.0, values[order])
        return float(low), float(high)


def surprise(chances: Reals, happened: Mask) -> float:
    """Mean logarithmic loss."""
    kept = np.clip(chances, *LIKELY)
    return float(-np.mean(np.where(happened, np.log(kept), np.log(1.0 - kept))))


def believe(model: Surrogate, question: Question) -> Belief:
    """From a model of all rows."""
    region = model.inside(question.region, question.direction, model.drawn)
    target = model.inside(question.target, question.direction, model.drawn) & region
    held = np.flatnonzero(model.holds(question.region, question.direction))
    reached = model.holds(question.target, question.direction)[held]
    ratio = model.chance(question.target, question.direction) / model.chance(question.region, question.direction)
    cells = {name: column[held] for name, column in model.cells.items()}
    return Belief(model, target, region, held, cells, reached, calibrated(ratio[held], reached))


def believe_near(near: Surrogate, rows_of: Region, far: Belief, question: Question) -> Belief:
    """From a model of the rows of some region, this one or a wider; where this one is, the model of all rows tells."""
    target = within(question.target, question.region)
    targets = np.zeros_like(far.regions)
    for draw in range(far.regions.shape[1]):
        points = np.flatnonzero(far.regions[:, draw])
        if len(points):
            here = near.drawn[points, draw : draw + 1]
            targets[points, draw] = near.inside(target, question.direction, here)[:, 0]
    ratio = near.chance(within(question.target, rows_of), question.direction) / near.chance(
        within(question.region, rows_of), question.direction
    )
    held = np.isin(near.rows, far.model.rows[far.rows])
    return replace(far, model=near, targets=targets, chances=calibrated(ratio[held], far.reached))


def within(target: Region, region: Region) -> Region:
    """A target's quantiles as quantiles of its region."""
    if target.kind != "quantile" or region.kind != "quantile":
        return target
    start, stop = Fraction(region.low or 0), Fraction(1 if region.high is None else region.high)
    low, high = Fraction(target.low or 0), Fraction(1 if target.high is None else target.high)
    return Region("quantile", (low - start) / (stop - start), (high - start) / (stop - start))


def calibrated(chances: Reals, reached: Mask) -> Reals:
    """The chances with their log odds stretched or shrunk, and moved, so as to fit the rows best.

    What a model orders well it may still be too sure of; only the order should count against it.
    """
    kept = np.clip(chances, *LIKELY)
    odds = np.log(kept / (1.0 - kept))
    fits = [moved(slope * odds, int(reached.sum())) for slope in SLOPES]
    return min(fits, key=lambda fit: surprise(fit, reached))


def moved(odds: Reals, total: int) -> Reals:
    """Chances with these log odds, all moved alike, that add to the total."""
    low, high = -30.0, 30.0
    for _ in range(50):
        middle = (low + high) / 2.0
        if np.sum(1.0 / (1.0 + np.exp(-(odds + middle)))) < total:
            low = middle
        else:
            high = middle
    return 1.0 / (1.0 + np.exp(-(odds + low)))


def assist(
    beliefs: Sequence[Belief],
    question: Question,
    contrasts: Sequence[Contrast],
    counted: Sequence[Importance],
    found: Sequence[Sureness],
) -> tuple[list[Importance], float]:
    """Rows in the order of the contrasts, ratios still open, and the weight that the counts were given."""
    says = says_of(beliefs)
    chances = np.average([belief.chances for belief in beliefs], axis=0, weights=says)
    weight = weight_of_counts(replace(beliefs[0], chances=chances), question, contrasts, counted, found)
    top = 1.0 if question.baseline == "region" else math.inf
    rows = []
    for contrast, row, sureness in zip(contrasts, counted, found, strict=True):
        told = Told.by([over_space(belief, contrast, question) for belief in beliefs], says)
        mixed = blended(row, sureness, told, weight, question.doubt)
        rows.append(replace(mixed, high=min(mixed.high or 0.0, top)))
    return rows, weight


def says_of(beliefs: Sequence[Belief]) -> Reals:
    """What each has to say, adding to one: by how much it is less surprised by the rows than their mean is.

    All rows alike may tell nothing about the best of them; then the rows nearby should speak. The
    slope that a belief was calibrated by counts for nothing: it takes about 1 / rows off the surprise.
    """
    reached = beliefs[0].reached
    blind = surprise(np.full(len(reached), reached.mean()), reached)
    skills = [blind - surprise(belief.chances, reached) for belief in beliefs]
    floored = np.maximum(skills, 1.0 / len(reached))
    return np.asarray(floored / floored.sum())


def over_space(belief: Belief, contrast: Contrast, question: Question) -> list[Importance]:
    """The parameter's importance for every function drawn, tallied over the points."""
    everywhere, width = belief.model.cells_drawn(contrast.name), contrast.grid.width
    targets, regions = (stacked(everywhere, mask, width) for mask in (belief.targets, belief.regions))
    return measure_many(contrast, targets, regions, baseline=question.baseline, smoothing=question.smoothing)


def stacked(cells: Cells, masks: Mask, width: int) -> NDArray[np.int64]:
    """(draws, cells) How many of every draw's points lie in each cell."""
    draws = cells.shape[1]
    places = (cells + width * np.arange(draws))[masks]
    return np.bincount(places, minlength=draws * width).reshape(draws, width)


def weight_of_counts(
    belief: Belief,
    question: Question,
    contrasts: Sequence[Contrast],
    counted: Sequence[Importance],
    found: Sequence[Sureness],
) -> float:
    """How far the counts are to be believed: little where all they say against the model may be chance.

    Both are held against each other at the very rows that were run, so that a sampler which
    prefers some places does not count against the model.
    """
    apart = noise = doubt = 0.0
    for contrast, row, sureness in zip(contrasts, counted, found, strict=True):
        cells = belief.cells[contrast.name]
        likely = np.bincount(cells, weights=belief.chances, minlength=contrast.grid.width)
        smoothing: Smoothing = row.bandwidth if question.smoothing == "auto" else question.smoothing
        told = measure(replace(contrast, target=likely), baseline=question.baseline, smoothing=smoothing)
        apart += (row.share - told.raw_share) ** 2
        noise += sureness.deviation**2
        doubt += (question.doubt * told.raw_share) ** 2
    if any(unevenness(belief.model.cells[c.name], c.grid) > UNEVEN for c in contrasts):
        return 0.0  # the counts are those of a sampler that had its likes, not those of the space
    wrong = max(apart - noise, doubt)  # how far off the model is, squared
    return wrong / (wrong + noise) if np.isfinite(noise) and wrong > 0 else 0.0


def unevenness(cells: Cells, grid: Grid) -> float:
    """How far the rows are from a uniform draw: chi-square divergence over a few groups of cells."""
    groups = np.minimum((np.cumsum(grid.prior) - grid.prior / 2.0) * GROUPS, GROUPS - 1).astype(np.int64)
    inside = cells[cells < grid.cells]
    expected = np.bincount(groups, weights=grid.prior, minlength=GROUPS)
    met = np.bincount(groups[inside], minlength=GROUPS) / max(1, len(inside))
    held = expected > 0
    chance = (int(held.sum()) - 1) / max(1, len(inside))
    return float(np.sum(met[held] ** 2 / expected[held])) - 1.0 - chance


def blended(row: Importance, sureness: Sureness, told: Told, weight: float, doubt: float) -> Importance:
    """The model's numbers, moved towards the counts by the weight."""
    if not told.samples:  # the target is too small, or too large, for the points drawn
        return replace(row, low=sureness.low, high=sureness.high)
    shares = np.array([sample.share for sample in told.samples])
    mean = told.mean(shares)
    low, high = doubted(mean, *told.ends(shares), doubt)
    share = (1.0 - weight) * mean + weight * row.share
    # A share cannot be below nothing: flooring each draw, not their mean, has the lower risk for ratios.
    floored = (1.0 - weight) * told.mean(np.maximum(shares, 0.0)) + weight * max(0.0, row.share)
    whole = told.mean([sample.divergence for sample in told.samples])
    active = told.mean([sample.activity for sample in told.samples]) / whole if whole > 0 else 0.0
    odds = row.n_target / (row.n_region - row.n_target)
    divergence = floored / odds
    return replace(
        row,
        share=share,
        raw_share=floored,
        divergence=divergence,
        variance=(row.n_target / row.n_region) ** 2 * divergence,
        bandwidth=told.mean([sample.bandwidth for sample in told.samples]),
        value=divergence * (1.0 - active),
        activity=divergence * active,
        value_share=floored * (1.0 - active),
        activity_share=floored * active,
        low=max(0.0, (1.0 - weight) * low + weight * sureness.low),
        high=max(0.0, (1.0 - weight) * high + weight * sureness.high),
    )


def doubted(share: float, low: float, high: float, doubt: float) -> tuple[float, float]:
    """The interval of the draws, widened by the doubt in the model itself."""
    off = 1.96 * doubt * max(0.0, share)
    return share - math.hypot(share - low, off), share + math.hypot(high - share, off)
