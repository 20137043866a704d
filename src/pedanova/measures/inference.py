"""How sure an importance is: p-values by permutation, intervals by a shrunk bootstrap.

Both need the counts of target and region alone. A p-value asks: were the target a random part of
the region, how often would this parameter look as important? An interval asks: drawn again, how
far would the share wander? docs/how-sure.md has the formulas and what was simulated.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pedanova.base.threads import spread, threads_for
from pedanova.counting.contrasts import Contrast
from pedanova.measures.distributions import LEAST_TARGET, LEVEL, divergence_interval, holm, share_interval
from pedanova.measures.importance import Importance
from pedanova.measures.limit_law import LimitLaw
from pedanova.measures.resampling import (
    EXACT,
    FINEST,
    CoarseContrast,
    SharedDraws,
    Singles,
    coarsen_for_draws,
    coarsen_for_kernel,
    observed_shares,
    resampled_shares,
    shrunk_chances,
    stacked_subsets,
    subset_counts,
    subsets,
)
from pedanova.measures.share import Reals
from pedanova.measures.smoothing import Smoothing
from pedanova.space.grid import blocks_of

DRAWS = 2000
FIRST_LOOK = 500  # draws; where CLEAR of them score as high, more would tell nothing
CLEAR = 0.15
MARGIN = 1.25  # by which a tail is taken to be longer than its fit
FEWEST_UPPER = 50  # draws to fit a tail to
FILLED = 5.0  # target rows to be expected in every cell whose sums are taken for normal
SMALLEST = 1e-12  # p-value: nothing below is told apart
NORMAL = 1.959963984540054  # 97.5 of 100 normal numbers are smaller
HIDDEN = 0.5  # deviations of a share of nothing, by which more may be true than was found


@dataclass(frozen=True, slots=True)
class Sureness:
    """Of one parameter's share."""

    low: float
    high: float
    p_value: float
    deviation: float  # of the share, drawn anew


def infer(
    contrasts: Sequence[Contrast],
    rows: Sequence[Importance],
    *,
    baseline: str = "region",
    smoothing: Smoothing = "auto",
    draws: int = DRAWS,
    seed: int = 0,
) -> list[Sureness]:
    """For every contrast; `rows` are the importances in the same order."""
    inside, region = int(contrasts[0].target.sum()), int(contrasts[0].region.sum())
    common = np.random.default_rng([seed])
    random_subsets = RandomSubsets.drawn(region, inside, draws, common)
    shared = SharedDraws.drawn(inside, -(-draws // 2), common)  # an interval needs fewer than a small p-value

    def sureness_of(place: int, *, draw: bool = True) -> Sureness | None:
        """None where it cannot be told without draws, and there shall be none."""
        contrast, row = contrasts[place], rows[place]
        if not row.varied:
            return Sureness(0.0, 0.0, 1.0, 0.0)
        own = np.random.default_rng([seed, zlib.crc32(contrast.name.encode())])
        p_value = permutation(contrast, random_subsets, baseline, smoothing, own, draw=draw)
        bounds = None if p_value is None else interval(contrast, row, shared, baseline, smoothing, own, draw=draw)
        if p_value is None or bounds is None:
            return None
        low, high, deviation = bounds
        return Sureness(low, high, p_value, deviation)

    # What the limit law tells is too quick for threads, which wait for each other then; draws are not.
    each = {place: sureness_of(place, draw=False) for place in range(len(rows)) if inside > EXACT}
    left = [place for place in range(len(rows)) if each.get(place) is None]
    each.update(zip(left, spread(sureness_of, left, threads=threads_for(len(left))), strict=True))
    return [one for place in range(len(rows)) if (one := each[place]) is not None]


def with_sureness(rows: Sequence[Importance], sureness: Sequence[Sureness]) -> list[Importance]:
    """The rows with their intervals and p-values; what is significant is settled for all that varied together."""
    adjusted = holm([one.p_value for one in sureness], np.array([row.varied for row in rows]))
    each = zip(rows, sureness, adjusted, strict=True)
    return [sure_of(row, one, p) if row.varied else row for row, one, p in each]


def sure_of(row: Importance, sureness: Sureness, adjusted: float) -> Importance:
    """The interval is made to hold the share: few draws, or a few rows, may miss it."""
    low, high = min(sureness.low, max(0.0, row.share)), max(sureness.high, row.share, 0.0)
    return replace(
        row,
        low=low,
        high=high,
        p_value=sureness.p_value,
        p_adjusted=float(adjusted),
        significant=bool(adjusted <= LEVEL),
        deviation=sureness.deviation,
    )


def permutation(
    contrast: Contrast,
    random_subsets: RandomSubsets,
    baseline: str,
    smoothing: Smoothing,
    rng: np.random.Generator,
    *,
    draw: bool = True,
) -> float | None:
    """How often a random part of the region scores as high, its bandwidth found anew each time.

    A first look ends it where many do, or the limit law where it is known. Where none of all does, the draws' own
    tail tells how rare it would be: with thousands of parameters a p-value must be far smaller than one over the
    draws to count. Unless they are to `draw`, None where the law does not tell.
    """
    coarse = coarsen_for_draws(contrast, smoothing)
    inside = int(contrast.target.sum())
    target = coarse.target[None, :].astype(np.float64)
    widths = coarse.widths(target, smoothing)
    seen = float(coarse.scores_by(widths, target, baseline)[0])
    by_law = baseline == "region" and inside > EXACT
    law = LimitLaw.of(coarse, [float(width[0]) for width in widths]) if by_law else None
    p_value = None if law is None else law.p_value(seen)
    if p_value is not None or not draw:
        return p_value
    level = seen - 1e-9 * max(1.0, abs(seen))
    drawn, draws = np.empty(0), random_subsets.draws
    for stop in (min(FIRST_LOOK, draws), draws):
        more = slice(len(drawn), stop)
        drawn = np.concatenate([drawn, random_subsets.scores(coarse, more, baseline, smoothing, rng)])
        as_high = int(np.sum(drawn >= level))
        if as_high >= CLEAR * len(drawn) or stop == draws:
            break
    expected = coarse.region[coarse.region > 0] * (inside / coarse.region.sum())
    if as_high == 0 and expected.min() >= FILLED:  # rare cells have longer tails
        return tail_beyond(drawn, seen)
    return (1 + as_high) / (1 + len(drawn))


@dataclass(frozen=True, slots=True, eq=False)
class RandomSubsets:
    """Random parts of the region, the same for every parameter: rows where they are few, else normal numbers."""

    positions: NDArray[np.int64] | None  # (draws, target rows)
    normals: Singles  # (most cells, draws)

    @classmethod
    def drawn(cls, rows: int, inside: int, draws: int, rng: np.random.Generator) -> RandomSubsets:
        positions = subsets(rows, inside, draws, rng)
        return cls(positions, rng.standard_normal((FINEST, draws), dtype=np.float32))

    @property
    def draws(self) -> int:
        return int(self.normals.shape[1])

    def scores(
        self, coarse: CoarseContrast, some: slice, baseline: str, smoothing: Smoothing, rng: np.random.Generator
    ) -> Reals:
        """(draws,) Of some of them."""
        inside, cells = int(coarse.target.sum()), len(coarse.region)
        if self.positions is not None:
            return coarse.scores(subset_counts(coarse.region, self.positions[some]), baseline, smoothing)
        normals = self.normals[:cells, some]
        if cells > len(normals):
            normals = rng.standard_normal((cells, normals.shape[1]), dtype=np.float32)
        return coarse.scores(stacked_subsets(coarse.region, inside, normals, rng), baseline, smoothing)


def tail_beyond(drawn: Reals, seen: float) -> float:
    """How rare a score above all draws is: an exponential tail fitted to the upper tenth of them.

    A sum of squares of normal numbers has such a tail, or a lighter one, from there on; that of a single square is
    still a fifth heavier at this place than the fit tells, hence the margin.
    """
    least = 1.0 / (1 + len(drawn))
    upper = np.sort(drawn)[-max(1, len(drawn) // 10) :]
    beyond = float(np.mean(upper - upper[0])) * MARGIN
    if len(upper) < FEWEST_UPPER or beyond <= 0.0:
        return least
    return min(least, max(SMALLEST, len(upper) / len(drawn) * math.exp(-(seen - float(upper[0])) / beyond)))


def interval(
    contrast: Contrast,
    row: Importance,
    shared: SharedDraws,
    baseline: str,
    smoothing: Smoothing,
    rng: np.random.Generator,
    *,
    draw: bool = True,
) -> tuple[float, float, float] | None:
    """Bounds of the share (95 %) and its deviation: drawn anew from densities pulled towards chance.

    The upper bound is drawn from densities pulled a little less: where next to nothing was found, the
    share may still be what chance has hidden. Unless they are to `draw`, None where the law does not tell.
    """
    inside, rows = row.n_target, row.n_region
    if inside < LEAST_TARGET or rows - inside < LEAST_TARGET:  # too few to be drawn anew
        return (*interval_of_few(contrast, row, baseline), math.nan)
    coarse, widths = coarsen_for_kernel(contrast, smoothing)
    law = LimitLaw.of(coarse, widths) if baseline == "region" and inside > EXACT else None
    raw, observed, plain = observed_shares(coarse, widths, baseline)
    unit = 1.0 / (rows - 1 if baseline == "region" else rows - inside)
    hidden = HIDDEN * math.sqrt(2.0 * unit * max(row.raw_share - row.share, unit))
    believed, halves = max(0.0, observed), shared.halves()
    bounds = []
    for half, share, normal in zip(halves, (believed, believed + hidden), (-NORMAL, NORMAL), strict=True):
        chances = shrunk_chances(coarse, shrinkage(share, raw, inside), baseline)
        moments = None if law is None else law.resampled(chances)
        if moments is not None:
            bounds.append((moments.quantile(normal), moments.deviation))
        elif draw:
            drawn = resampled_shares(coarse, widths, chances, half, baseline, rng)
            bounds.append((float(np.percentile(drawn, 2.5 if normal < 0 else 97.5)), float(np.std(drawn))))
        else:
            return None
    top = 1.0 if baseline == "region" else math.inf
    low, high = (min(max(bound + row.share - plain, 0.0), top) for bound, _ in bounds)
    return low, high, bounds[0][1]


def interval_of_few(contrast: Contrast, row: Importance, baseline: str) -> tuple[float, float]:
    """Where rows are too few to draw anew: from plain counts, widened to hold the smoothed share."""
    if baseline == "region":
        low, high = share_interval(contrast.target, contrast.region)
    else:
        chances = CoarseContrast.of(contrast, [1] * len(blocks_of(contrast.grid))).uniform_chances
        odds = row.n_target / (row.n_region - row.n_target)
        low, high = (odds * bound for bound in divergence_interval(contrast.target, chances))
    share = max(0.0, row.share)
    return min(low, share), max(high, share)


def shrinkage(believed: float, raw: float, inside: int) -> float:
    """How far densities keep their distance from the baseline, so that the share drawn is the one believed."""
    kept = math.sqrt(min(1.0, believed / raw)) if raw > 0 else 0.0
    return min(kept, inside / (inside + 1.0))
