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
from pedanova.measures.chisquare import divergence_interval, share_interval
from pedanova.measures.draws import EXACT, stacked_subsets, subset_counts, subsets
from pedanova.measures.folded import FINEST, Folded, fold_for_draws, fold_for_kernel, found_shares, uniform_chances
from pedanova.measures.importance import Importance
from pedanova.measures.limit_law import LimitLaw
from pedanova.measures.narrow_kernel import Singles
from pedanova.measures.permuted import permuted_scores
from pedanova.measures.renewed import Shared, drawn_from, renewed_shares
from pedanova.measures.share import Reals
from pedanova.measures.significance import LEAST_TARGET, LEVEL, holm
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
    dealt = Dealt.drawn(region, inside, draws, common)
    shared = Shared.drawn(inside, -(-draws // 2), common)  # an interval needs fewer than a small p-value

    def sureness_of(place: int, *, draw: bool = True) -> Sureness | None:
        """None where it cannot be told without draws, and there shall be none."""
        contrast, row = contrasts[place], rows[place]
        if not row.varied:
            return Sureness(0.0, 0.0, 1.0, 0.0)
        own = np.random.default_rng([seed, zlib.crc32(contrast.name.encode())])
        p_value = permutation(contrast, dealt, baseline, smoothing, own, draw=draw)
        bounds = None if p_value is None else interval(contrast, row, shared, baseline, smoothing, own, draw=draw)
        if p_value is None or bounds is None:
            return None
        low, high, deviation = bounds
        return Sureness(low, high, p_value, deviation)

    # What the limit law tells is too quick for threads, which wait for each other then; draws are not.
    known = {place: sureness_of(place, draw=False) for place in range(len(rows)) if inside > EXACT}
    left = [place for place in range(len(rows)) if known.get(place) is None]
    known.update(zip(left, spread(sureness_of, left, threads=threads_for(len(left))), strict=True))
    return [one for place in range(len(rows)) if (one := known[place]) is not None]


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
    dealt: Dealt,
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
    folded = fold_for_draws(contrast, smoothing)
    inside = int(contrast.target.sum())
    law = law_of_chance(folded, smoothing) if baseline == "region" and inside > EXACT else None
    if law is None:
        seen = float(folded.scores(folded.target[None, :].astype(np.float64), baseline, smoothing)[0])
    else:
        seen = law.found(folded.target)[2]
        likely = law.chance_of(seen)
        if likely is not None:
            return likely
    if not draw:
        return None
    level = seen - 1e-9 * max(1.0, abs(seen))
    drawn, draws = np.empty(0), dealt.draws
    for stop in (min(FIRST_LOOK, draws), draws):
        drawn = np.concatenate([drawn, dealt.scores(folded, slice(len(drawn), stop), baseline, smoothing, rng)])
        as_high = int(np.sum(drawn >= level))
        if as_high >= CLEAR * len(drawn) or stop == draws:
            break
    expected = folded.region[folded.region > 0] * (inside / folded.region.sum())
    if as_high == 0 and expected.min() >= FILLED:  # rare cells have longer tails
        return tail_beyond(drawn, seen)
    return (1 + as_high) / (1 + len(drawn))


def law_of_chance(folded: Folded, smoothing: Smoothing) -> LimitLaw | None:
    """With the kernels of the target at hand, as draws have theirs."""
    target = folded.target[None, :].astype(np.float64)
    cells = [slice(block.start, block.stop) for block in folded.blocks]
    each = zip(folded.blocks, folded.steps, cells, strict=True)
    widths = [float(folded.widths(target[:, at], block, step, smoothing)[0]) for block, step, at in each]
    return LimitLaw.of(folded, widths)


@dataclass(frozen=True, slots=True, eq=False)
class Dealt:
    """Random parts of the region, the same for every parameter: rows where they are few, else normal numbers."""

    positions: NDArray[np.int64] | None  # (draws, target rows)
    normals: Singles  # (most cells, draws)

    @classmethod
    def drawn(cls, rows: int, inside: int, draws: int, rng: np.random.Generator) -> Dealt:
        positions = subsets(rows, inside, draws, rng)
        return cls(positions, rng.standard_normal((FINEST, draws), dtype=np.float32))

    @property
    def draws(self) -> int:
        return int(self.normals.shape[1])

    def scores(
        self, folded: Folded, some: slice, baseline: str, smoothing: Smoothing, rng: np.random.Generator
    ) -> Reals:
        """(draws,) Of some of them."""
        inside, cells = int(folded.target.sum()), len(folded.region)
        if self.positions is not None:
            return folded.scores(subset_counts(folded.region, self.positions[some]), baseline, smoothing)
        normals = self.normals[:cells, some]
        if cells > len(normals):
            normals = rng.standard_normal((cells, normals.shape[1]), dtype=np.float32)
        return permuted_scores(folded, stacked_subsets(folded.region, inside, normals, rng), baseline, smoothing)


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
    shared: Shared,
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
    folded, widths = fold_for_kernel(contrast, smoothing)
    law = LimitLaw.of(folded, widths) if baseline == "region" and inside > EXACT else None
    raw, found, plain = law.found(folded.target) if law is not None else found_shares(folded, widths, baseline)
    unit = 1.0 / (rows - 1 if baseline == "region" else rows - inside)
    hidden = HIDDEN * math.sqrt(2.0 * unit * max(row.raw_share - row.share, unit))
    believed, halves = max(0.0, found), shared.halves()
    bounds = []
    for half, share, normal in zip(halves, (believed, believed + hidden), (-NORMAL, NORMAL), strict=True):
        likely = drawn_from(folded, shrinkage(share, raw, inside), baseline)
        known = None if law is None else law.renewed(likely)
        if known is None and not draw:
            return None
        if known is None:
            drawn = renewed_shares(folded, widths, likely, half, baseline, rng)
            bounds.append((float(np.percentile(drawn, 2.5 if normal < 0 else 97.5)), float(np.std(drawn))))
        else:
            bounds.append((known.quantile(normal), known.deviation))
    top = 1.0 if baseline == "region" else math.inf
    low, high = (min(max(bound + row.share - plain, 0.0), top) for bound, _ in bounds)
    return low, high, bounds[0][1]


def interval_of_few(contrast: Contrast, row: Importance, baseline: str) -> tuple[float, float]:
    """Where rows are too few to draw anew: from plain counts, widened to hold the smoothed share."""
    if baseline == "region":
        low, high = share_interval(contrast.target, contrast.region)
    else:
        chances = uniform_chances(Folded.of(contrast, [1] * len(blocks_of(contrast.grid))))
        odds = row.n_target / (row.n_region - row.n_target)
        low, high = (odds * bound for bound in divergence_interval(contrast.target, chances))
    share = max(0.0, row.share)
    return min(low, share), max(high, share)


def shrinkage(believed: float, raw: float, inside: int) -> float:
    """How far densities keep their distance from the baseline, so that the share drawn is the one believed."""
    kept = math.sqrt(min(1.0, believed / raw)) if raw > 0 else 0.0
    return min(kept, inside / (inside + 1.0))
