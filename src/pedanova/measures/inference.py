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

from pedanova.base.threads import as_threads, spread
from pedanova.counting.contrasts import Contrast
from pedanova.measures.chisquare import divergence_interval, share_interval
from pedanova.measures.draws import EXACT, RARE, STEPS, poisson_counts, sampled_counts, subset_counts, subsets
from pedanova.measures.importance import Importance
from pedanova.measures.share import Reals, share_of, summed_ratio
from pedanova.measures.significance import LEAST_TARGET, LEVEL, holm
from pedanova.measures.smoothing import (
    REACH,
    Smoothing,
    as_bandwidth,
    as_bandwidths,
    plain_bandwidth,
    smooth,
    smoothing_matrix,
)
from pedanova.space.grid import Block, blocks_of

DRAWS = 2000
FIRST_LOOK = 500  # draws; where CLEAR of them score as high, more would tell nothing
CLEAR = 0.15
MARGIN = 1.25  # by which a tail is taken to be longer than its fit
FEWEST_UPPER = 50  # draws to fit a tail to
FILLED = 5.0  # target rows to be expected in every cell whose sums are taken for normal
SMALLEST = 1e-12  # p-value: nothing below is told apart
MANY = 50  # parameters worth several threads
FOLDED = 64  # cells of a block that suffice for p-values; for intervals as many as the kernel needs
FINEST, COARSEST = 160, 40
HIDDEN = 0.5  # deviations of a share of nothing, by which more may be true than was found
SAME_WIDTH = math.log(1.08)  # kernels closer than 8 % are taken for the same


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
    positions = subsets(region, inside, draws, common)
    shared = Shared.drawn(inside, -(-draws // 2), common)  # an interval needs fewer than a small p-value

    def sureness_of(pair: tuple[Contrast, Importance]) -> Sureness:
        contrast, row = pair
        if not row.varied:
            return Sureness(0.0, 0.0, 1.0, 0.0)
        own = np.random.default_rng([seed, zlib.crc32(contrast.name.encode())])
        p_value = permutation(contrast, positions, baseline, smoothing, draws, own)
        low, high, deviation = interval(contrast, row, shared, baseline, smoothing, own)
        return Sureness(low, high, p_value, deviation)

    pairs = list(zip(contrasts, rows, strict=True))
    return spread(sureness_of, pairs, threads=as_threads(None) if len(pairs) > MANY else 1)


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
    positions: NDArray[np.int64] | None,
    baseline: str,
    smoothing: Smoothing,
    draws: int,
    rng: np.random.Generator,
) -> float:
    """How often a random part of the region scores as high, its bandwidth found anew each time.

    A first look ends it where many do. Where none of all does, the draws' own tail tells how rare it would be: with
    thousands of parameters a p-value must be far smaller than one over the draws to count.
    """
    folded = fold_for_draws(contrast, smoothing)
    inside = int(contrast.target.sum())
    seen = float(folded.scores(folded.target[None, :].astype(np.float64), baseline, smoothing)[0])
    level = seen - 1e-9 * max(1.0, abs(seen))
    drawn = np.empty(0)
    for stop in (min(FIRST_LOOK, draws), draws):
        some = None if positions is None else positions[len(drawn) : stop]
        targets = subset_counts(folded.region, inside, some, stop - len(drawn), rng)
        drawn = np.concatenate([drawn, folded.scores(targets, baseline, smoothing)])
        as_high = int(np.sum(drawn >= level))
        if as_high >= CLEAR * len(drawn) or stop == draws:
            break
    expected = folded.region[folded.region > 0] * (inside / folded.region.sum())
    if as_high == 0 and expected.min() >= FILLED:  # rare cells have longer tails
        return tail_beyond(drawn, seen)
    return (1 + as_high) / (1 + len(drawn))


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


def fold_for_draws(contrast: Contrast, smoothing: Smoothing) -> Folded:
    """Cells put together where the kernel of a random target would blur them anyway.

    What is folded may depend on the region alone, never on the target: else drawn targets and the
    one found would not be measured alike.
    """
    blocks = blocks_of(contrast.grid)
    wider = (contrast.region.sum() / contrast.target.sum()) ** 0.2  # fewer rows, wider kernels
    steps = []
    for block in blocks:
        region = contrast.region[block.start : block.stop]
        width = as_bandwidth(smoothing, region, block)
        if smoothing == "auto":  # as wide as if it did not fade: a hundred cells are enough to tell chance
            width = plain_bandwidth(region) * wider if block.smoothable else 0.0
        steps.append(max(1, min(math.floor(width), -(-_width(block) // FOLDED))))
    return Folded.of(contrast, steps)


def _width(block: Block) -> int:
    return block.stop - block.start


@dataclass(frozen=True, slots=True, eq=False)
class Folded:
    """A contrast with neighbouring cells put together, block by block."""

    blocks: tuple[Block, ...]
    steps: tuple[int, ...]  # cells put into one, for each block
    target: NDArray[np.int64]
    region: NDArray[np.int64]
    prior: Reals  # inside each block it adds to one

    @classmethod
    def of(cls, contrast: Contrast, steps: Sequence[int]) -> Folded:
        blocks: list[Block] = []
        starts: list[int] = []
        priors: list[Reals] = []
        end = 0
        own = np.concatenate([contrast.grid.prior, [1.0, 1.0]])
        for block, step in zip(blocks_of(contrast.grid), steps, strict=True):
            starts += range(block.start, block.stop, step)
            blocks.append(Block(end, len(starts), block.ordered))
            end = len(starts)
            inside = np.add.reduceat(own[block.start : block.stop], range(0, _width(block), step))
            priors.append(inside / max(inside.sum(), 1e-300))
        target, region = (np.add.reduceat(c, starts) for c in (contrast.target, contrast.region))
        return cls(tuple(blocks), tuple(steps), target, region, np.concatenate(priors))

    def scores(self, targets: Reals, baseline: str, smoothing: Smoothing) -> Reals:
        """(draws,) The corrected share of every draw, for a given region."""
        inside, rows = float(self.target.sum()), float(self.region.sum())
        square, noise = np.zeros(len(targets)), np.zeros(len(targets))
        for block, step in zip(self.blocks, self.steps, strict=True):
            cells = slice(block.start, block.stop)
            if not self.region[cells].any():
                continue
            widths = self.widths(targets[:, cells], block, step, smoothing)
            base = self.base(cells, baseline)
            for width in np.unique(widths):
                of = widths == width
                more = piece(targets[of, cells] / inside, self.region[cells] / rows, base, width, baseline)
                square[of] += more[0]
                noise[of] += more[1]
        return share_of(square - 1.0, noise, inside / (rows - inside), inside, rows, baseline)

    def widths(self, targets: Reals, block: Block, step: int, smoothing: Smoothing) -> Reals:
        """(draws,) Bandwidths in folded cells, near ones made equal."""
        widths = as_bandwidths(smoothing, targets, block, step)
        if smoothing != "auto":
            return widths
        with np.errstate(divide="ignore"):
            return np.exp(np.round(np.log(widths) / SAME_WIDTH) * SAME_WIDTH)

    def base(self, cells: slice, baseline: str) -> Reals:
        """What the target's density is held against, before smoothing."""
        known = self.region[cells] / self.region.sum()
        base: Reals = known if baseline == "region" else known.sum() * self.prior[cells]
        return base


def piece(target: Reals, region: Reals, base: Reals, width: float, baseline: str) -> tuple[Reals, Reals | float]:
    """Σ (St)²/(Sb) and Σ S²π/(Sb) of one block, for every draw."""
    if width == 0.0:
        counted = region if baseline == "region" else target
        return summed_ratio(target**2, base), summed_ratio(counted, base)
    held = np.flatnonzero(region)
    rows, reach = slice(held[0], held[-1] + 1), math.ceil(REACH * width)
    near = slice(max(0, held[0] - reach), held[-1] + 1 + reach)  # beyond, the kernel brings nothing
    kernel = smoothing_matrix(len(base), width, rows, near)
    base = base[rows] @ kernel if baseline == "region" else smooth(base, width)[near]
    counted = region[rows] if baseline == "region" else target[:, rows]
    return summed_ratio((target[:, rows] @ kernel) ** 2, base), summed_ratio(counted @ kernel**2, base)


@dataclass(frozen=True, slots=True, eq=False)
class Shared:
    """Random numbers that serve every parameter: drawing them is most of the work."""

    uniforms: NDArray[np.uint16] | None  # (draws, target rows); None where there are too many
    normals: Reals  # (draws, most cells)

    @classmethod
    def drawn(cls, inside: int, draws: int, rng: np.random.Generator) -> Shared:
        few = inside <= EXACT
        uniforms = rng.integers(0, STEPS, size=(draws, inside), dtype=np.uint16) if few else None
        return cls(uniforms, rng.standard_normal((draws, 2 * FINEST)))

    def every_second(self, first: int) -> Shared:
        return Shared(None if self.uniforms is None else self.uniforms[first::2], self.normals[first::2])


def interval(
    contrast: Contrast, row: Importance, shared: Shared, baseline: str, smoothing: Smoothing, rng: np.random.Generator
) -> tuple[float, float, float]:
    """Bounds of the share (95 %) and its deviation: drawn anew from densities pulled towards chance.

    The upper bound is drawn from densities pulled a little less: where next to nothing was found, the
    share may still be what chance has hidden.
    """
    inside, rows = row.n_target, row.n_region
    if inside < LEAST_TARGET or rows - inside < LEAST_TARGET:  # too few to be drawn anew
        return (*interval_of_few(contrast, row, baseline), math.nan)
    folded, widths = fold_for_kernel(contrast, smoothing)
    target, region = folded.target[None, :].astype(np.float64), folded.region[None, :].astype(np.float64)
    raw, found = (float(of[0]) for of in folded_shares(folded, widths, target, region, baseline))
    unit = 1.0 / (rows - 1 if baseline == "region" else rows - inside)
    hidden = HIDDEN * math.sqrt(2.0 * unit * max(row.raw_share - row.share, unit))
    believed = max(0.0, found)
    drawn = [
        renewed_shares(folded, widths, shrinkage(share, raw, inside), shared.every_second(i), baseline, rng)
        for i, share in enumerate((believed, believed + hidden))
    ]
    plain = float(folded_shares(folded, widths, target, region, baseline, as_found=False)[1][0])
    low, high = (np.percentile(of, at) + row.share - plain for of, at in zip(drawn, (2.5, 97.5), strict=True))
    top = 1.0 if baseline == "region" else math.inf
    return float(np.clip(low, 0.0, top)), float(np.clip(high, 0.0, top)), float(np.std(drawn[0]))


def renewed_shares(
    folded: Folded, widths: Sequence[float], pull: float, shared: Shared, baseline: str, rng: np.random.Generator
) -> Reals:
    """(draws,) Shares of rows drawn anew, the target's densities pulled towards the baseline."""
    inside, rows = int(folded.target.sum()), int(folded.region.sum())
    known, wanted = folded.region / rows, folded.target / inside
    base = known if baseline == "region" else _uniform(folded)
    likely = pull * wanted + (1.0 - pull) * base
    draws = len(shared.normals)
    apart = shared.normals[:, ::-1] if len(likely) <= FINEST else None  # from the other end: of no kin to those below
    targets = sampled_counts(likely, inside, shared.uniforms, draws, rng, normals=apart)
    others: Reals = (folded.region - folded.target)[None, :].astype(np.float64)
    if baseline == "region":  # against a uniform draw the region tells no more than its size
        # A smoothed count is a sum of many: there the normal law serves even rare cells.
        smoothed = max(widths) > 0 and len(likely) <= 2 * FINEST
        rare, normals = (0.0, shared.normals) if smoothed else (RARE, None)
        rest = np.maximum(known - inside / rows * likely, 0.0) * rows
        others = poisson_counts(rest, draws, rng, rare=rare, normals=normals)
    return folded_shares(folded, widths, targets, targets + others, baseline)[1]


def interval_of_few(contrast: Contrast, row: Importance, baseline: str) -> tuple[float, float]:
    """Where rows are too few to draw anew: from plain counts, widened to hold the smoothed share."""
    if baseline == "region":
        low, high = share_interval(contrast.target, contrast.region)
    else:
        chances = _uniform(Folded.of(contrast, [1] * len(blocks_of(contrast.grid))))
        odds = row.n_target / (row.n_region - row.n_target)
        low, high = (odds * bound for bound in divergence_interval(contrast.target, chances))
    share = max(0.0, row.share)
    return min(low, share), max(high, share)


def _uniform(folded: Folded) -> Reals:
    return np.concatenate([folded.base(slice(b.start, b.stop), "uniform") for b in folded.blocks])


def shrinkage(believed: float, raw: float, inside: int) -> float:
    """How far densities keep their distance from the baseline, so that the share drawn is the one believed."""
    kept = math.sqrt(min(1.0, believed / raw)) if raw > 0 else 0.0
    return min(kept, inside / (inside + 1.0))


def fold_for_kernel(contrast: Contrast, smoothing: Smoothing) -> tuple[Folded, list[float]]:
    """Cells put together as far as the kernel allows: two of them to a bandwidth."""
    blocks = blocks_of(contrast.grid)
    widths = [as_bandwidth(smoothing, contrast.target[b.start : b.stop], b) for b in blocks]
    steps = []
    for block, width in zip(blocks, widths, strict=True):
        cells = _width(block)
        wanted = max(math.floor(width / 2.0), -(-cells // FINEST))
        steps.append(max(1, min(wanted, cells // COARSEST)) if width > 0 else 1)
    scaled = [width / step for width, step in zip(widths, steps, strict=True)]
    return Folded.of(contrast, steps), scaled


def folded_shares(
    folded: Folded, widths: Sequence[float], targets: Reals, regions: Reals, baseline: str, *, as_found: bool = True
) -> tuple[Reals, Reals]:
    """(draws,) Raw and corrected shares where target and region are both drawn, by one fixed kernel.

    What is taken off is the scatter of the target's counts `as_found`, not that of a random target:
    where one cell holds nearly all of the target, the others have no scatter to speak of.
    """
    inside, rows = targets.sum(axis=1), np.maximum(regions.sum(axis=1), targets.sum(axis=1) + 1.0)
    square, noise = np.zeros(len(targets)), np.zeros(len(targets))
    for block, width in zip(folded.blocks, widths, strict=True):
        cells = slice(block.start, block.stop)
        if not folded.region[cells].any():
            continue
        wanted, known = targets[:, cells] / inside[:, None], regions[:, cells] / rows[:, None]
        base = known if baseline == "region" else known.sum(axis=1)[:, None] * folded.prior[cells]
        counted = known if baseline == "region" else wanted
        if baseline == "region" and as_found:
            counted = scatter(targets[:, cells], regions[:, cells], (inside / rows)[:, None]) / inside[:, None]
        if width > 0:
            kernel = smoothing_matrix(_width(block), width)
            if len(targets) > 1:  # draws scatter by far more than single precision does
                kernel = kernel.astype(np.float32)
                wanted, base, counted = (of.astype(np.float32) for of in (wanted, base, counted))
            wanted, base, counted = wanted @ kernel, base @ kernel, counted @ kernel**2
        square += summed_ratio(wanted**2, base)
        noise += summed_ratio(counted, base)
    odds = inside / (rows - inside)
    return odds * (square - 1.0), share_of(square - 1.0, noise, odds, inside, rows, baseline)


def scatter(targets: Reals, regions: Reals, part: Reals) -> Reals:
    """Variance of each cell's target rows, were every row of the cell as likely to be one; over 1 - part.

    A cell of a single row tells nothing of it: there a row is taken to be as likely as elsewhere.
    """
    several = regions > 1.5
    spread = targets * np.maximum(regions - targets, 0.0) / np.where(several, regions - 1.0, 1.0)
    found: Reals = np.where(several, spread, targets * (1.0 - part)) / (1.0 - part)
    return found
