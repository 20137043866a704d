"""P-values (by permutation) and intervals (by a shrunk bootstrap) of shares, from counts.

Both need only the counts of target and region by cell. The p-value says how often a random subset of the region would
have such a large share. The interval says how much the share would vary in other samples. docs/how-sure.md has the
formulas and simulations.

The cost does not grow with the number of rows. Up to `EXACT` target rows are drawn one by one. With more rows, the
counts of each cell are drawn from their limit distribution, in single precision; all parameters share the random
numbers. Arrays of counts are (draws, cells); in single precision, the draws of a cell are contiguous in memory.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.base.threads import as_threads, spread
from pedanova.counting.contrasts import Contrast
from pedanova.data.regions import LEAST_TARGET
from pedanova.measures.clear import is_clear, low_of
from pedanova.measures.distributions import NORMAL, divergence_interval, holm, in_batches, p_by_draws
from pedanova.measures.importance import Importance, width_of
from pedanova.measures.question import Question
from pedanova.measures.share import ratio_of, shares
from pedanova.measures.smoothing import Smoothing, Stack, bandwidth, reflected_matrix, scott_bandwidth
from pedanova.space.grid import Block, Reals, blocks_of

MOST_FOR_DRAWS = 64  # cells of a block for p-values; intervals use as many as the kernel needs
FINEST, COARSEST = 160, 40
SAME_WIDTH = math.log(1.08)  # widths that differ by less than 8 % are made equal
Singles: TypeAlias = NDArray[np.float32]
Counts: TypeAlias = NDArray[np.int64]
EXACT = 500  # up to this many target rows, every row is drawn
RARE = 10  # a cell with fewer expected rows is not treated as normal
MOST_EXACT = 10**9  # rows; NumPy has no hypergeometric numbers for more
STEPS = 1 << 16  # resolution of a look-up from uniform numbers to cells


@dataclass(frozen=True, slots=True, eq=False)
class CoarseContrast:
    """The target and region counts of a parameter, with neighbouring cells merged within each domain (block)."""

    blocks: tuple[Block, ...]
    steps: tuple[int, ...]  # the number of merged cells, for each block
    target: Stack
    region: Stack
    prior: Reals  # (cells,) the probabilities of a uniform draw; they sum to 1 in each block

    @classmethod
    def of(cls, contrast: Contrast, steps: Sequence[int]) -> CoarseContrast:
        each = zip(contrast.grid.blocks, steps, strict=False)  # the other cells are not merged
        coarse = contrast.grid.coarsened([np.arange(len(block)) // step for block, step in each], apart=True)
        target, region = (np.add.reduceat(one, coarse.starts) for one in contrast.independent())
        return cls(coarse.blocks, tuple(steps), target, region, coarse.prior)

    def scores(self, targets: Stack, baseline: str, smoothing: Smoothing) -> Reals:
        """(draws,) The corrected share of each target in `targets`; bandwidths are chosen for each target."""
        widths = self.widths(targets, smoothing)
        prior, inside = self.prior_for(baseline), float(self.target.sum())
        return shares(targets, self.region, self.blocks, widths, prior=prior, inside=inside).corrected

    def widths(self, targets: Stack, smoothing: Smoothing) -> list[Reals]:
        """The bandwidths (draws,) of each block in coarse cells; automatic ones are rounded, so that many are equal."""
        each = zip(self.blocks, self.steps, strict=True)
        widths = [bandwidth(smoothing, targets[:, b.cells], b, step, region=self.region[b.cells]) for b, step in each]
        return [same_widths(width) for width in widths] if smoothing == "auto" else widths

    def prior_for(self, baseline: str) -> Reals | None:
        """The probabilities of a uniform draw; None if the baseline is the region."""
        return None if baseline == "region" else self.prior

    @property
    def uniform_chances(self) -> Reals:
        """(cells,) The probability of each cell if the rows of every block were spread uniformly over the block."""
        parts = [self.region[b.cells].sum() / self.region.sum() for b in self.blocks]
        chances: Reals = self.prior * np.repeat(parts, [len(b) for b in self.blocks])
        return chances


def same_widths(widths: Reals) -> Reals:
    """Round the widths to steps of 8 %, so that many draws share a kernel."""
    if not widths.any():
        return widths
    with np.errstate(divide="ignore"):
        return np.exp(np.round(np.log(widths) / SAME_WIDTH) * SAME_WIDTH)


def coarsen_for_draws(contrast: Contrast, smoothing: Smoothing) -> CoarseContrast:
    """Merge cells that are narrow compared with the smoothing kernel of a random target.

    Which cells are merged depends only on the region, so that random targets and the observed target are measured in
    the same way.
    """
    blocks = blocks_of(contrast.grid)
    wider = (contrast.region.sum() / contrast.target.sum()) ** 0.2  # fewer rows need wider kernels
    steps = []
    for block in blocks:
        region = contrast.region[block.cells]
        if smoothing == "auto":  # without `fade`, because few cells are enough for p-values
            width = float(scott_bandwidth(region, fade=False)) * wider if block.smoothable else 0.0
        else:
            width = float(bandwidth(smoothing, region, block))
        steps.append(max(1, min(math.floor(width), -(-len(block) // MOST_FOR_DRAWS))))
    return CoarseContrast.of(contrast, steps)


def coarsen_for_kernel(contrast: Contrast, smoothing: Smoothing) -> tuple[CoarseContrast, list[float]]:
    """Merge cells until the kernel's width is about two merged cells; also returns the widths in merged cells."""
    blocks = blocks_of(contrast.grid)
    widths = [width_of(contrast, block, smoothing) for block in blocks]
    steps = []
    for block, width in zip(blocks, widths, strict=True):
        count = len(block)
        wanted = max(math.floor(width / 2.0), -(-count // FINEST))
        steps.append(max(1, min(wanted, count // COARSEST)) if width > 0 else 1)
    scaled = [width / step for width, step in zip(widths, steps, strict=True)]
    return CoarseContrast.of(contrast, steps), scaled


def observed_shares(coarse: CoarseContrast, widths: Sequence[float], baseline: str) -> tuple[float, float, float]:
    """The uncorrected share, and the share corrected by `shares` with ``as_found=True`` and with ``as_found=False``."""
    target, region = (counts[None, :].astype(np.float64) for counts in (coarse.target, coarse.region))
    prior = coarse.prior_for(baseline)
    raw, corrected = shares(target, region, coarse.blocks, widths, prior=prior, as_found=True)
    plain = shares(target, region, coarse.blocks, widths, prior=prior).corrected
    return float(raw[0]), float(corrected[0]), float(plain[0])


@dataclass(frozen=True, slots=True, eq=False)
class SharedDraws:
    """Random numbers that all parameters share, because separate ones would take most of the computing time."""

    uniforms: NDArray[np.uint16] | None  # (draws, target rows); None if there are too many
    normals: Singles  # (most cells, draws)

    @classmethod
    def drawn(cls, inside: int, draws: int, rng: np.random.Generator) -> SharedDraws:
        few = inside <= EXACT
        uniforms = rng.integers(0, STEPS, size=(draws, inside), dtype=np.uint16) if few else None
        return cls(uniforms, rng.standard_normal((2 * FINEST, draws), dtype=np.float32))

    @property
    def draws(self) -> int:
        return int(self.normals.shape[1])

    def halves(self) -> tuple[SharedDraws, SharedDraws]:
        """The first and the second half of the draws."""
        middle = -(-self.draws // 2)
        one, two = (
            SharedDraws(None if self.uniforms is None else self.uniforms[half], self.normals[:, half])
            for half in (slice(None, middle), slice(middle, None))
        )
        return one, two

    def some(self, cells: int, rng: np.random.Generator, *, last: bool = False) -> Singles:
        """(cells, draws) Shared standard normal numbers, the first or the last; new ones if these overlap."""
        if (2 if last else 1) * cells > len(self.normals):
            return rng.standard_normal((cells, self.draws), dtype=np.float32)
        return self.normals[::-1][:cells] if last else self.normals[:cells]


def shrunk_chances(coarse: CoarseContrast, kept: float, baseline: str) -> Reals:
    """(cells,) The target's density times `kept`, plus the baseline's density times 1 - `kept`."""
    region, target = coarse.region / coarse.region.sum(), coarse.target / coarse.target.sum()
    base = region if baseline == "region" else coarse.uniform_chances
    chances: Reals = kept * target + (1.0 - kept) * base
    return chances


def resampled_shares(
    coarse: CoarseContrast,
    widths: Sequence[float],
    chances: Reals,
    shared: SharedDraws,
    baseline: str,
    rng: np.random.Generator,
) -> Reals:
    """(draws,) The shares if rows are resampled; target rows are drawn with the probabilities `chances`."""
    inside = int(coarse.target.sum())
    if shared.uniforms is None:
        targets = stacked_counts(chances * inside, shared.some(len(chances), rng, last=True), rng)
    else:  # a few rows are drawn one by one
        targets = np.asfortranarray(sampled_counts(chances, shared.uniforms), dtype=np.float32)
    if baseline == "region":
        # A smoothed count is a sum of many counts, so it is nearly normal even for rare cells.
        rare = 0.0 if max(widths) > 0 and len(chances) <= len(shared.normals) else RARE
        rest = np.maximum(coarse.region - inside * chances, 0.0)
        regions = targets + stacked_counts(rest, shared.some(len(rest), rng), rng, rare=rare)
    else:  # a uniform baseline uses only the size of the region
        regions = targets + (coarse.region - coarse.target).astype(np.float32)
    prior = coarse.prior_for(baseline)
    return shares(targets, regions, coarse.blocks, widths, prior=prior, as_found=True).corrected


def random_targets(region: Counts, inside: int, draws: int, rng: np.random.Generator) -> Stack:
    """(draws, cells) The counts of random subsets of the region: exact for few rows, nearly normal for many."""
    rows = int(region.sum())
    if inside <= EXACT and rows < MOST_EXACT:
        counts = rng.multivariate_hypergeometric(region, inside, size=draws, method="marginals")
        return counts.astype(np.float64)
    part = inside / rows
    spread: Reals = np.sqrt(region * part * (1.0 - part) * rows / (rows - 1))
    mean = np.asarray(region * part, dtype=np.float64)
    nearly = _around(mean, spread, rng.standard_normal((len(region), draws), dtype=np.float32))
    rare = np.flatnonzero((region > 0) & (np.minimum(part, 1.0 - part) * region < RARE))
    if len(rare):
        nearly[rare] = rng.binomial(region[rare][:, None], part, size=(len(rare), draws))
    excess = nearly.sum(axis=0) - np.float32(inside)
    nearly -= (region / rows).astype(np.float32)[:, None] * excess
    return np.maximum(nearly, np.float32(0.0), out=nearly).T


def sampled_counts(chances: Reals, uniforms: NDArray[np.uint16]) -> Reals:
    """(draws, cells) The number of rows in each cell if rows are drawn with probabilities `chances`."""
    # Step k is the probability (k + 0.5) / STEPS; it belongs to the first cell that ends above it, or to the last cell.
    ends = np.ceil(np.cumsum(chances)[:-1] / chances.sum() * STEPS - 0.5).astype(np.int64)
    steps = np.diff(ends, prepend=0, append=STEPS)
    cells = np.repeat(np.arange(len(chances), dtype=np.int32), steps)[uniforms]
    draws, width = len(cells), len(chances)
    flat = (cells + np.arange(draws)[:, None] * width).ravel()
    return np.bincount(flat, minlength=draws * width).reshape(draws, width).astype(np.float64)


def stacked_counts(expected: Reals, normals: Singles, rng: np.random.Generator, *, rare: float = RARE) -> Singles:
    """(draws, cells) Independent random counts with the means `expected`: Poisson for small means, else normal."""
    counts = _around(expected, np.sqrt(expected), normals)
    few = np.flatnonzero((expected < rare) & (expected > 0.0))
    if len(few):
        counts[few] = rng.poisson(expected[few][:, None], size=(len(few), normals.shape[1]))
    return np.maximum(counts, np.float32(0.0), out=counts).T


def _around(mean: Reals, spread: Reals, normals: Singles) -> Singles:
    counts: Singles = spread.astype(np.float32)[:, None] * normals
    counts += mean.astype(np.float32)[:, None]
    return counts


Vector: TypeAlias = NDArray[Any]  # (cells,) or a matrix, in single precision
SOFT_BASE = 0.1  # the largest relative variance of the base for which the limit law is used
GRAINY = 0.25  # the largest part of the variance that may come from single rows
MANY_SQUARES = 10.0  # degrees of freedom from which three moments are enough
NOTHING = 1e-20  # a smaller part of the rows in a cell counts as 0
MOST_CELLS = 400


@dataclass(frozen=True, slots=True)
class ShareMoments:
    """The mean, standard deviation and skewness of the share if rows are resampled."""

    mean: float
    deviation: float
    skewness: float

    def quantile(self, normal: float) -> float:
        """The quantile of the share for a given standard normal quantile, by the Cornish–Fisher expansion."""
        return self.mean + self.deviation * (normal + (normal**2 - 1.0) / 6.0 * self.skewness)


@dataclass(frozen=True, slots=True, eq=False)
class LimitLaw:
    """The distribution of one parameter's share if there are many rows; cells are merged, kernel widths are fixed."""

    inside: float
    rows: float
    region: Vector  # (cells,) the region's parts, b
    base: Vector  # (cells,) Sb
    over: Vector  # (cells,) 1 / Sb; 0 in cells without rows
    kernel: Vector  # (cells, cells) S; its diagonal if nothing is smoothed
    kernel_squared: Vector
    bent: Vector  # (cells, cells) A = S' (S / Sb); its diagonal if nothing is smoothed
    own: Vector  # (cells,) its diagonal

    @classmethod
    def of(cls, coarse: CoarseContrast, widths: Sequence[float]) -> LimitLaw | None:
        """Compute the matrices of the limit law; None if there are too many cells for a matrix."""
        cells, smoothed = len(coarse.region), max(widths) > 0.0
        if smoothed and cells > MOST_CELLS:
            return None
        rows = float(coarse.region.sum())
        region, ones = single(coarse.region / rows), np.ones(cells, dtype=np.float32)
        kernel: Vector = np.diag(ones) if smoothed else ones
        for block, width in zip(coarse.blocks, widths, strict=True):
            if width > 0.0:  # cells of different blocks are never mixed
                kernel[block.cells, block.cells] = reflected_matrix(len(block), width)
        kernel[..., region == 0.0] = 0.0  # no row is ever drawn there
        base = product(kernel, region)
        over = single(ratio_of(1.0, np.where(base > NOTHING, base, 0.0)))
        bent = kernel.T @ (kernel * over[:, None]) if smoothed else kernel * over
        own = bent.diagonal() if smoothed else bent
        return cls(float(coarse.target.sum()), rows, region, base, over, kernel, kernel**2, bent, own)

    def resampled(self, chances: Reals) -> ShareMoments | None:
        """The moments of the share if target rows are drawn with probabilities `chances`; None for too few rows."""
        n, rows, likely = self.inside, self.rows, single(chances)
        apart = single(chances - self.region)
        away = product(self.kernel, apart)
        steep = away * self.over
        divergence = float(away @ steep)
        line, by_base = 2.0 * product(self.kernel.T, steep), -product(self.kernel.T, steep**2)
        free, squares, bent_line = self._traces(likely, line)
        by_region = by_base - line
        variance = self._variance_of_line(likely, line, by_region, divergence) + 2.0 * squares
        if free**2 < MANY_SQUARES * squares or self._is_poor(likely, line, variance):
            return None
        mean = divergence + free + self._curvature(likely, apart, steep) + float(by_region @ apart) / (rows - n)
        odds, chance = n / (rows - n), (self._noise(likely) - 1.0) / (rows - 1.0)
        scale, third = odds / (1.0 - chance), 8.0 * squares**2 / free + 6.0 * bent_line
        return ShareMoments(scale * mean - chance / (1.0 - chance), scale * math.sqrt(variance), third / variance**1.5)

    def _is_poor(self, likely: Vector, line: Vector, variance: float) -> bool:
        """Whether single rows have a large effect on the share, so that the limit law is not accurate."""
        n, own = self.inside, self.own
        by_squares, by_line = float(own**2 @ likely) / n**3, 2.0 * abs(float((line * own) @ likely)) / n**2
        weights = product(self.kernel_squared, likely) * self.over
        soft = float((weights * self.over) @ (product(self.kernel_squared, self.region) * self.over)) / self.rows
        return max(by_squares, by_line) > GRAINY * variance or soft > SOFT_BASE * float(weights.sum())

    def _traces(self, likely: Vector, line: Vector) -> tuple[float, float, float]:
        """tr AC, tr (AC)² and g'CACg; g is `line`, l is `likely`, C = diag(own) - α ll' - β bb' is cov(t - b)."""
        alpha, beta, b = 1.0 / self.inside - 2.0 / self.rows, 1.0 / self.rows, self.region
        own, through = alpha * likely + beta * b, product(self.bent, likely)
        inner = float(likely @ through)
        free = float(self.own @ own) - alpha * inner - beta
        weighted = self.bent * own
        squares = float(np.vdot(weighted, weighted.T))
        squares = squares - 2.0 * alpha * float(own @ through**2) - 2.0 * beta * float(own.sum())
        squares += (alpha * inner) ** 2 + 2.0 * alpha * beta + beta**2
        moved = own * line - likely * (alpha * float(likely @ line)) - b * (beta * float(b @ line))
        return free, squares, float(moved @ product(self.bent, moved))

    def _variance_of_line(self, likely: Vector, by_target: Vector, by_region: Vector, divergence: float) -> float:
        """The variance of the share to first order, due to chance in t, in b and in the numbers of rows."""
        n, rows, b = self.inside, self.rows, self.region

        def along(chances: Vector, one: Vector, two: Vector) -> float:
            return float(chances @ (one * two)) - float(chances @ one) * float(chances @ two)

        own = along(likely, by_target, by_target) / n + along(b, by_region, by_region) / rows
        shift = float(by_region @ (likely - b))
        sizes = divergence**2 * (1.0 / n + 1.0 / (rows - n)) + 2.0 * divergence * shift / (rows - n)
        return own + 2.0 * along(likely, by_target, by_region) / rows + sizes

    def _curvature(self, likely: Vector, apart: Vector, steep: Vector) -> float:
        """How much the sampling variance of the baseline b adds to the mean of the share."""
        both = product(self.kernel_squared, apart) - product(self.kernel, likely) ** 2 + self.base**2
        alone = product(self.kernel_squared, self.region) - self.base**2
        return float((steep**2 * alone - 2.0 * steep * both) @ self.over) / self.rows

    def _noise(self, likely: Vector) -> float:
        """The expected sum of squares by chance, if all rows of a cell are equally likely to be target rows."""
        part = self.inside / self.rows
        others = np.maximum(self.region - part * likely, 0.0)
        scattered = single(ratio_of(likely * others, self.region)) / (1.0 - part)
        return float(product(self.kernel_squared, scattered) @ self.over)


def product(matrix: Vector, vector: Vector) -> Vector:
    """The product of a matrix, or of a diagonal matrix that is given by its diagonal, with a vector."""
    product: Vector = matrix @ vector if matrix.ndim > 1 else matrix * vector
    return product


def single(values: NDArray[Any]) -> Vector:
    return values.astype(np.float32)


WORTH_THREADS = 50  # the number of parameters from which several threads are faster
FIRST_LOOK = 200  # random targets that are drawn first
MARGIN = 1.25  # the factor by which a tail may be longer than its fit
FEWEST_UPPER = 50  # a tail is fitted to at least this many draws
FILLED = 5.0  # expected target rows in every cell from which their sums count as normal
SMALLEST = 1e-12  # the smallest p-value
FEWEST_INDEPENDENT = 2.0  # with fewer independent rows in the target or the rest, nothing is known
UNKNOWN = 0.3  # the deviation of a share about which nothing is known
HIDDEN = 0.5  # the hidden part of a small share, in deviations that chance alone would give


@dataclass(frozen=True, slots=True)
class Sureness:
    """The 95 % interval, p-value and standard deviation of one parameter's share."""

    low: float
    high: float
    p_value: float
    deviation: float  # the deviation of the share of resampled rows


def infer(
    contrasts: Sequence[Contrast],
    rows: Sequence[Importance],
    question: Question,
    p_values: Mapping[str, float] | None = None,
) -> list[Sureness]:
    """Compute the interval and p-value of every parameter; `rows` has the importances in the order of `contrasts`."""
    contrasts = [contrast.by_counts() for contrast in contrasts]
    independent = int(contrasts[0].target.sum() / contrasts[0].repeats)

    @cache
    def shared() -> SharedDraws:  # an interval needs fewer draws than a small p-value, but one for each of its halves
        rng = np.random.default_rng([question.seed])
        return SharedDraws.drawn(independent, max(2, -(-question.draws // 2)), rng)

    def sureness_of(place: int) -> Sureness:
        contrast, row = contrasts[place], rows[place]
        if not row.varied:
            return Sureness(0.0, 0.0, 1.0, 0.0)
        counts = np.stack([contrast.target, contrast.region]).astype(np.float64)
        own = np.random.default_rng([question.seed, zlib.crc32(counts.tobytes())])
        if p_values is not None:
            p_value = p_values.get(row.name, 1.0)
        else:
            p_value = (permutation_of_value if contrast.child else permutation)(contrast.thinned(), question, own)
        low, high, deviation = interval(contrast, row, shared, question, own)
        return Sureness(low, high, p_value, deviation)

    threads = as_threads(None) if len(rows) > WORTH_THREADS else 1
    return spread(sureness_of, range(len(rows)), threads=threads)


def with_sureness(rows: Sequence[Importance], sureness: Sequence[Sureness]) -> list[Importance]:
    """The rows with intervals, and with p-values adjusted for the number of parameters that varied."""
    adjusted = holm([one.p_value for one in sureness], np.array([row.varied for row in rows]))
    result = []
    for row, one, p in zip(rows, sureness, adjusted.tolist(), strict=True):
        # The interval always contains the share, and also 0 if the effect is not clear.
        clear = is_clear(p, row.share)
        low, high = low_of(one.low, row.share, one.p_value) if clear else 0.0, max(one.high, row.share, 0.0)
        sure = {"low": low, "high": high, "p_value": one.p_value, "p_adjusted": p, "deviation": one.deviation}
        result.append(replace(row, **sure, significant=clear) if row.varied else row)
    return result


def permutation(contrast: Contrast, question: Question, rng: np.random.Generator) -> float:
    """The p-value: how often a random subset of the region has at least the observed share.

    The bandwidth is chosen again for each draw. Drawing stops early if many draws reach the share. If no draw reaches
    it, the tail of the draws is extrapolated: thousands of parameters need p-values far below 1 / draws.
    """
    coarse, inside = coarsen_for_draws(contrast, question.smoothing), int(contrast.target.sum())
    first = min(FIRST_LOOK, question.draws)

    def score(targets: Stack) -> Reals:
        if question.baseline != "region":  # bandwidths are interpolated between rows
            targets = targets.astype(np.float64)
        return coarse.scores(targets, question.baseline, question.smoothing)

    def batch(more: int) -> Reals:
        drawn.append(score(random_targets(coarse.region, inside, more, rng)))
        return drawn[-1]

    targets = random_targets(coarse.region, inside, first, rng)
    together = score(np.concatenate([coarse.target[None, :].astype(targets.dtype), targets]))
    seen, drawn = float(together[0]), [together[1:]]
    p_value = p_by_draws(seen, chain([drawn[0]], in_batches(batch, question.draws - first, 2 * first)))
    expected = coarse.region[coarse.region > 0] * (inside / coarse.region.sum())
    # In rare cells the tails are longer.
    if p_value * (1 + question.draws) <= 1.0 + 1e-9 and expected.min() >= FILLED:
        return tail_beyond(np.concatenate(drawn), seen)
    return p_value


def permutation_of_value(contrast: Contrast, question: Question, rng: np.random.Generator) -> float:
    """The p-value of the effect of a conditional parameter's value; each domain is tested separately."""
    p_values = []
    for block in contrast.grid.blocks:
        here = np.zeros(len(contrast.region), dtype=np.int64)
        here[block.cells] = 1
        regime = replace(contrast, target=contrast.target * here, region=contrast.region * here)
        if 0 < regime.target.sum() < regime.region.sum() and regime.varies:
            p_values.append(permutation(regime, question, rng))
    return min(1.0, len(p_values) * min(p_values)) if p_values else 1.0


def tail_beyond(drawn: Reals, seen: float) -> float:
    """The probability of a value of at least `seen`, which no draw reached, by an exponential fit to the largest draws.

    A sum of squared normal numbers has an exponential tail or a lighter one. The tail of a single square is 20 %
    heavier than the fit, so a margin is added.
    """
    least = 1.0 / (1 + len(drawn))
    upper = np.sort(drawn)[-max(1, len(drawn) // 10) :]
    beyond = float(np.mean(upper - upper[0])) * MARGIN
    if len(upper) < FEWEST_UPPER or beyond <= 0.0:
        return least
    return min(least, max(SMALLEST, len(upper) / len(drawn) * math.exp(-(seen - float(upper[0])) / beyond)))


def interval(
    contrast: Contrast, row: Importance, shared: Callable[[], SharedDraws], question: Question, rng: np.random.Generator
) -> tuple[float, float, float]:
    """The 95 % bounds of the share and its standard deviation, from resampled targets.

    Targets are drawn from a mix of the target's density and the baseline. The weights of the mix are chosen so that the
    drawn targets have the estimated share on average. For the upper bound, the target gets a larger weight, because
    chance can make a small share look even smaller.
    """
    inside, rows, baseline = float(row.n_target), float(row.n_region), question.baseline
    if inside < LEAST_TARGET or rows - inside < LEAST_TARGET:  # too few rows to resample
        return (*interval_of_few(contrast, row, baseline), math.nan)
    if min(inside, rows - inside) < FEWEST_INDEPENDENT * contrast.repeats:  # too few independent rows
        return 0.0, max(1.0, row.share), UNKNOWN
    coarse, widths = coarsen_for_kernel(contrast, question.smoothing)
    law = LimitLaw.of(coarse, widths) if baseline == "region" and inside > EXACT else None
    raw, observed, plain = observed_shares(coarse, widths, baseline)
    rows, inside = rows / contrast.repeats, inside / contrast.repeats
    unit = 1.0 / (max(rows - 1.0, 1.0) if baseline == "region" else rows - inside)
    hidden = HIDDEN * math.sqrt(2.0 * unit * max(row.raw_share - row.share, unit))
    believed = max(0.0, observed)
    bounds = []
    for half, share, normal in ((0, believed, -NORMAL), (1, believed + hidden, NORMAL)):
        # The target's weight in the mix, with which draws have this share on average.
        kept = math.sqrt(min(1.0, share / raw)) if raw > 0 else 0.0
        chances = shrunk_chances(coarse, min(kept, inside / (inside + 1.0)), baseline)
        moments = None if law is None else law.resampled(chances)
        if moments is not None:
            bounds.append((moments.quantile(normal), moments.deviation))
        else:
            drawn = resampled_shares(coarse, widths, chances, shared().halves()[half], baseline, rng)
            bounds.append((float(np.percentile(drawn, 2.5 if normal < 0 else 97.5)), float(np.std(drawn))))
    top = 1.0 if baseline == "region" else math.inf
    low, high = (min(max(bound + row.share - plain, 0.0), top) for bound, _ in bounds)
    return low, high, bounds[0][1]


def interval_of_few(contrast: Contrast, row: Importance, baseline: str) -> tuple[float, float]:
    """The interval from unsmoothed counts if there are too few rows to resample; it contains the smoothed share."""
    rows = float(row.n_region) if baseline == "region" else None
    if rows is not None:
        chances = contrast.region / rows
    else:
        chances = CoarseContrast.of(contrast, [1] * len(blocks_of(contrast.grid))).uniform_chances
    odds, top = row.n_target / (row.n_region - row.n_target), math.inf if rows is None else 1.0
    low, high = (min(top, odds * bound) for bound in divergence_interval(contrast.target, chances, rows))
    share = max(0.0, row.share)
    return min(low, share), max(high, share)
