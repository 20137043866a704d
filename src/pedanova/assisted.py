"""Importances by a model where rows are few, held to account by the counts.

Every function drawn from the model is tallied over the space as if it were data; the mean of the
shares is the estimate, their spread the interval. Where the counts of the rows contradict the
model by more than chance, the estimate moves towards the counts (a James-Stein weight).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from pedanova.density import Smoothing
from pedanova.importance import Contrast, Importance, measure
from pedanova.inference import Sureness
from pedanova.regions import Direction, Region
from pedanova.surrogate import Mask, Reals, Surrogate

LIKELY = 1e-4, 1.0 - 1e-4  # chances are kept inside, so that one surprise does not decide alone


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, as regions of the objective."""

    target: Region
    region: Region
    direction: Direction
    baseline: str
    smoothing: Smoothing


@dataclass(frozen=True, slots=True, eq=False)
class Belief:
    """What one model says of a question: over the space, and of the rows themselves."""

    model: Surrogate
    targets: Mask  # (points, draws)
    regions: Mask  # (points, draws)
    rows: NDArray[np.int64]  # of the model, those in the region
    reached: Mask  # (rows,) whether each is in the target
    chances: Reals  # (rows,) as the other rows tell it

    @property
    def skill(self) -> float:
        """How much better the chances fit than one chance for all: 1 is perfect, 0 is no use."""
        plain = np.full(len(self.reached), self.reached.mean())
        return 1.0 - surprise(self.chances, self.reached) / max(surprise(plain, self.reached), 1e-12)


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
    return Belief(model, target, region, held, reached, calibrated(ratio[held], int(reached.sum())))


def believe_near(near: Surrogate, far: Belief, question: Question) -> Belief:
    """From a model of the region's rows alone; where the region is, the model of all rows tells."""
    inner = Question(within(question.target, question.region), question.region, question.direction, "", "auto")
    targets = np.zeros_like(far.regions)
    for draw in range(far.regions.shape[1]):
        points = np.flatnonzero(far.regions[:, draw])
        if len(points):
            here = near.drawn[points, draw : draw + 1]
            targets[points, draw] = near.inside(inner.target, question.direction, here)[:, 0]
    reached = near.holds(inner.target, question.direction)
    chances = calibrated(near.chance(inner.target, question.direction), int(reached.sum()))
    return Belief(near, targets, far.regions, np.arange(len(reached)), reached, chances)


def within(target: Region, region: Region) -> Region:
    """A target's quantiles as quantiles of its region."""
    if target.kind != "quantile" or region.kind != "quantile":
        return target
    start, stop = Fraction(region.low or 0), Fraction(1 if region.high is None else region.high)
    low, high = Fraction(target.low or 0), Fraction(1 if target.high is None else target.high)
    return Region("quantile", (low - start) / (stop - start), (high - start) / (stop - start))


def calibrated(chances: Reals, total: int) -> Reals:
    """The chances moved alike, in log odds, so that they add to the rows really reached."""
    kept = np.clip(chances, *LIKELY)
    odds = np.log(kept / (1.0 - kept))
    low, high = -30.0, 30.0
    for _ in range(60):
        middle = (low + high) / 2.0
        if np.sum(1.0 / (1.0 + np.exp(-(odds + middle)))) < total:
            low = middle
        else:
            high = middle
    return 1.0 / (1.0 + np.exp(-(odds + low)))


def assist(
    belief: Belief,
    question: Question,
    contrasts: Sequence[Contrast],
    counted: Sequence[Importance],
    found: Sequence[Sureness],
) -> tuple[list[Importance], float]:
    """Rows in the order of the contrasts, ratios still open, and the weight that the counts were given."""
    drawn = [over_space(belief, contrast, question) for contrast in contrasts]
    weight = weight_of_counts(belief, question, contrasts, counted, found)
    rows = [
        blended(row, sureness, samples, weight)
        for row, sureness, samples in zip(counted, found, drawn, strict=True)
    ]
    return rows, weight


def over_space(belief: Belief, contrast: Contrast, question: Question) -> list[Importance]:
    """The parameter's importance for every function drawn, tallied over the points."""
    cells, width = belief.model.points[contrast.name], contrast.grid.width
    found = []
    for target, region in zip(belief.targets.T, belief.regions.T, strict=True):
        counts = [np.bincount(cells[mask], minlength=width) for mask in (target, region)]
        if 0 < counts[0].sum() < counts[1].sum():
            tallied = replace(contrast, target=counts[0], region=counts[1])
            found.append(measure(tallied, baseline=question.baseline, smoothing=question.smoothing))
    return found


def weight_of_counts(
    belief: Belief,
    question: Question,
    contrasts: Sequence[Contrast],
    counted: Sequence[Importance],
    found: Sequence[Sureness],
) -> float:
    """How far the counts are to be believed: 0 where all they say against the model may be chance.

    Both are held against each other at the very rows that were run, so that a sampler which
    prefers some places does not count against the model.
    """
    apart = noise = 0.0
    for contrast, row, sureness in zip(contrasts, counted, found, strict=True):
        cells = belief.model.cells[contrast.name][belief.rows]
        likely = np.bincount(cells, weights=belief.chances, minlength=contrast.grid.width)
        smoothing: Smoothing = row.bandwidth if question.smoothing == "auto" else question.smoothing
        told = measure(replace(contrast, target=likely), baseline=question.baseline, smoothing=smoothing)
        apart += (row.share - told.raw_share) ** 2
        noise += sureness.deviation**2
    return max(0.0, 1.0 - noise / apart) if apart > 0 and np.isfinite(noise) else 0.0


def blended(
    row: Importance, sureness: Sureness, samples: Sequence[Importance], weight: float
) -> Importance:
    """The model's numbers, moved towards the counts by the weight."""
    if not samples:
        return row
    shares = np.array([sample.share for sample in samples])
    low, high = np.percentile(shares, [2.5, 97.5])
    share = (1.0 - weight) * float(shares.mean()) + weight * row.share
    whole = sum(sample.divergence for sample in samples)
    active = sum(sample.activity for sample in samples) / whole if whole > 0 else 0.0
    odds = row.n_target / (row.n_region - row.n_target)
    divergence = max(0.0, share) / odds
    return replace(
        row,
        share=share,
        raw_share=max(0.0, share),
        divergence=divergence,
        variance=(row.n_target / row.n_region) ** 2 * divergence,
        bandwidth=float(np.mean([sample.bandwidth for sample in samples])),
        value=divergence * (1.0 - active),
        activity=divergence * active,
        value_share=max(0.0, share) * (1.0 - active),
        activity_share=max(0.0, share) * active,
        low=max(0.0, (1.0 - weight) * float(low) + weight * sureness.low),
        high=max(0.0, (1.0 - weight) * float(high) + weight * sureness.high),
    )
