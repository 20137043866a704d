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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.base.threads import as_threads, spread
from pedanova.counting.contrasts import Contrast
from pedanova.data.regions import LEAST_TARGET
from pedanova.measures.clear import is_clear, low_of
from pedanova.measures.distributions import NORMAL, divergence_interval, holm, in_batches, p_by_draws, share_interval
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
LISTED = 1 << 20  # up to this many rows, the cell of each row is listed
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
        return self.scores_by(self.widths(targets, smoothing), targets, baseline)

    def scores_by(self, widths: Sequence[Reals], targets: Stack, baseline: str) -> Reals:
        """(draws,) The corrected share of each target in `targets`, with the bandwidths `widths`."""
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


def subsets(rows: int, inside: int, draws: int, rng: np.random.Generator) -> NDArray[np.int64] | None:
    """(draws, inside) Random subsets of the rows, as row indices; None if `inside` is too large."""
    if inside > EXACT:
        return None
    if rows <= EXACT:
        keys = rng.random((draws, rows), dtype=np.float32)
        return np.argpartition(keys, inside - 1, axis=1)[:, :inside]
    return np.stack([rng.choice(rows, inside, replace=False, shuffle=False) for _ in range(draws)])


def subset_counts(region: Counts, positions: NDArray[np.int64]) -> Reals:
    """(draws, cells) For each random subset of the region, its number of rows in each cell."""
    if region.sum() <= LISTED:
        return _by_draw(np.repeat(np.arange(len(region), dtype=np.int32), region)[positions], len(region))
    cells = np.searchsorted(np.cumsum(region), positions.ravel(), side="right")
    return _by_draw(cells.reshape(positions.shape), len(region))


def stacked_subsets(region: Counts, inside: int, normals: Singles, rng: np.random.Generator) -> Singles:
    """(draws, cells) Approximate `subset_counts` for many rows, from normal random numbers `normals` (cells, draws)."""
    rows = int(region.sum())
    part = inside / rows
    spread: Reals = np.sqrt(region * part * (1.0 - part) * rows / (rows - 1))
    mean = np.asarray(region * part, dtype=np.float64)
    counts = _around(mean, spread, normals)
    rare = np.flatnonzero((region > 0) & (np.minimum(part, 1.0 - part) * region < RARE))
    if len(rare):
        counts[rare] = rng.binomial(region[rare][:, None], part, size=(len(rare), normals.shape[1]))
    excess = counts.sum(axis=0) - np.float32(inside)
    counts -= (region / rows).astype(np.float32)[:, None] * excess
    return np.maximum(counts, np.float32(0.0), out=counts).T


def sampled_counts(chances: Reals, uniforms: NDArray[np.uint16]) -> Reals:
    """(draws, cells) The number of rows in each cell if rows are drawn with probabilities `chances`."""
    # Step k is the probability (k + 0.5) / STEPS; it belongs to the first cell that ends above it, or to the last cell.
    ends = np.ceil(np.cumsum(chances)[:-1] / chances.sum() * STEPS - 0.5).astype(np.int64)
    steps = np.diff(ends, prepend=0, append=STEPS)
    table = np.repeat(np.arange(len(chances), dtype=np.int32), steps)
    return _by_draw(table[uniforms], len(chances))


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


def _by_draw(cells: NDArray[np.integer], width: int) -> Reals:
    draws = len(cells)
    flat = (cells + np.arange(draws)[:, None] * width).ravel()
    return np.bincount(flat, minlength=draws * width).reshape(draws, width).astype(np.float64)


Vector: TypeAlias = NDArray[Any]  # (cells,) or a matrix, in single precision
SOFT_BASE = 0.1  # the largest relative variance of the base for which the limit law is used
GRAINY = 0.25  # the largest part of the variance that may come from single rows
MANY_SQUARES = 10.0  # degrees of freedom from which three moments are enough
SURE, FINE = 0.01, 0.05  # the limit law gives p-values above SURE if single rows add less than FINE,
ROUGH = 0.15  # and otherwise p-values above this
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
    kernel: Vector  # (cells, cells) S
    kernel_squared: Vector
    bent: Vector  # (cells, cells) A = S' (S / Sb)
    own: Vector  # (cells,) its diagonal

    @classmethod
    def of(cls, coarse: CoarseContrast, widths: Sequence[float]) -> LimitLaw | None:
        """Compute the matrices of the limit law; None if there are too many cells for a matrix."""
        if len(coarse.region) > MOST_CELLS:
            return None
        rows = float(coarse.region.sum())
        region, kernel = single(coarse.region / rows), np.eye(len(coarse.region), dtype=np.float32)
        for block, width in zip(coarse.blocks, widths, strict=True):
            if width > 0.0:  # cells of different blocks are never mixed
                kernel[block.cells, block.cells] = reflected_matrix(len(block), width)
        kernel[:, region == 0.0] = 0.0  # no row is ever drawn there
        base = kernel @ region
        over = single(ratio_of(1.0, np.where(base > NOTHING, base, 0.0)))
        bent = kernel.T @ (kernel * over[:, None])
        return cls(float(coarse.target.sum()), rows, region, base, over, kernel, kernel**2, bent, bent.diagonal())

    # --- resampled rows --------------------------------------------------------------------------

    def resampled(self, chances: Reals) -> ShareMoments | None:
        """The moments of the share if target rows are drawn with probabilities `chances`; None for too few rows."""
        n, rows, likely = self.inside, self.rows, single(chances)
        apart = single(chances - self.region)
        away = self.kernel @ apart
        steep = away * self.over
        divergence = float(away @ steep)
        line, by_base = 2.0 * (steep @ self.kernel), -((steep**2) @ self.kernel)
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
        weights = (self.kernel_squared @ likely) * self.over
        soft = float((weights * self.over) @ ((self.kernel_squared @ self.region) * self.over)) / self.rows
        return max(by_squares, by_line) > GRAINY * variance or soft > SOFT_BASE * float(weights.sum())

    def _traces(self, likely: Vector, line: Vector) -> tuple[float, float, float]:
        """tr AC, tr (AC)² and g'CACg; g is `line`, l is `likely`, C = diag(own) - α ll' - β bb' is cov(t - b)."""
        alpha, beta, b = 1.0 / self.inside - 2.0 / self.rows, 1.0 / self.rows, self.region
        own, through = alpha * likely + beta * b, self.bent @ likely
        inner = float(likely @ through)
        free = float(self.own @ own) - alpha * inner - beta
        weighted = self.bent * own
        squares = (
            float(np.vdot(weighted, weighted.T)) - 2.0 * alpha * float(own @ through**2) - 2.0 * beta * float(own.sum())
        )
        squares += (alpha * inner) ** 2 + 2.0 * alpha * beta + beta**2
        moved = own * line - likely * (alpha * float(likely @ line)) - b * (beta * float(b @ line))
        return free, squares, float(moved @ (self.bent @ moved))

    def _variance_of_line(self, likely: Vector, by_target: Vector, by_region: Vector, divergence: float) -> float:
        """The variance of the share to first order, due to chance in t, in b and in the numbers of rows."""
        n, rows, b = self.inside, self.rows, self.region

        def along(chances: Vector, one: Vector, two: Vector) -> float:
            return float(chances @ (one * two)) - float(chances @ one) * float(chances @ two)

        own = along(likely, by_target, by_target) / n + along(b, by_region, by_region) / rows
        sizes = divergence**2 * (1.0 / n + 1.0 / (rows - n)) + 2.0 * divergence * float(by_region @ (likely - b)) / (
            rows - n
        )
        return own + 2.0 * along(likely, by_target, by_region) / rows + sizes

    def _curvature(self, likely: Vector, apart: Vector, steep: Vector) -> float:
        """How much the sampling variance of the baseline b adds to the mean of the share."""
        both = self.kernel_squared @ apart - (self.kernel @ likely) ** 2 + self.base**2
        alone = self.kernel_squared @ self.region - self.base**2
        return float((steep**2 * alone - 2.0 * steep * both) @ self.over) / self.rows

    def _noise(self, likely: Vector) -> float:
        """The expected sum of squares by chance, if all rows of a cell are equally likely to be target rows."""
        part = self.inside / self.rows
        others = np.maximum(self.region - part * likely, 0.0)
        scattered = single(ratio_of(likely * others, self.region)) / (1.0 - part)
        return float((self.kernel_squared @ scattered) @ self.over)

    # --- random parts of the region --------------------------------------------------------------

    def p_value(self, share: float) -> float | None:
        """The probability that a random subset of the region has at least `share`; None if draws are more accurate."""
        free, fewer = float(self.own @ self.region) - 1.0, min(self.inside, self.rows - self.inside)
        grain = float(self.own**2 @ self.region) / (2.0 * fewer)
        weighted = self.bent * self.region
        squares = float(np.vdot(weighted, weighted.T)) - 1.0 + grain
        cubes = float(np.vdot(weighted @ weighted, weighted.T)) - 1.0
        if grain > GRAINY * squares or free**2 < MANY_SQUARES * squares:
            return None
        chance = free / (self.rows - 1.0)
        seen = (share * (1.0 - chance) + chance) * (self.rows - 1.0)
        p_value = upper_tail((seen - free) / math.sqrt(2.0 * squares), squares**3 / cubes**2)
        return p_value if p_value > (SURE if grain < FINE * squares else ROUGH) else None


def single(values: NDArray[Any]) -> Vector:
    return values.astype(np.float32)


def upper_tail(deviations: float, freedom: float) -> float:
    """The probability that a sum of squares is more than `deviations` standard deviations above its mean.

    The cube root of the sum is nearly normal (Wilson and Hilferty).
    """
    ratio, spread = max(0.0, 1.0 + deviations * math.sqrt(2.0 / freedom)), 2.0 / (9.0 * freedom)
    return 0.5 * math.erfc((ratio ** (1.0 / 3.0) - (1.0 - spread)) / math.sqrt(2.0 * spread))


FIRST_LOOK = 500  # random targets that are drawn first
WORTH_THREADS = 50  # the number of parameters from which several threads are faster
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
    draws, contrasts = question.draws, [contrast.by_counts() for contrast in contrasts]
    inside = int(contrasts[0].target.sum())
    independent = int(inside / contrasts[0].repeats)
    common = np.random.default_rng([question.seed])
    tested = [contrast.thinned() for contrast in contrasts]
    sizes = int(tested[0].region.sum()), int(tested[0].target.sum())
    random_subsets = RandomSubsets.drawn(*sizes, draws, common) if p_values is None else None
    # An interval needs fewer draws than a small p-value, but one for each of its halves.
    shared = SharedDraws.drawn(independent, max(2, -(-draws // 2)), common)

    def sureness_of(place: int, *, draw: bool = True) -> Sureness | None:
        """The result for parameter number `place`; None if draws are needed and `draw` is False."""
        contrast, row = contrasts[place], rows[place]
        if not row.varied:
            return Sureness(0.0, 0.0, 1.0, 0.0)
        own = np.random.default_rng([question.seed, seed_of(contrast)])
        if p_values is not None or random_subsets is None:
            p_value: float | None = (p_values or {}).get(row.name, 1.0)
        elif contrast.child:
            p_value = permutation_of_value(tested[place], question, own, draw=draw)
        else:
            p_value = permutation(tested[place], random_subsets, question, own, draw=draw)
        bounds = None if p_value is None else interval(contrast, row, shared, question, own, draw=draw)
        if p_value is None or bounds is None:
            return None
        low, high, deviation = bounds
        return Sureness(low, high, p_value, deviation)

    # The limit law is too fast to profit from threads, but draws are not.
    each = {place: sureness_of(place, draw=False) for place in range(len(rows)) if inside > EXACT}
    left = [place for place in range(len(rows)) if each.get(place) is None]
    threads = as_threads(None) if len(left) > WORTH_THREADS else 1
    each.update(zip(left, spread(sureness_of, left, threads=threads), strict=True))
    return [one for place in range(len(rows)) if (one := each[place]) is not None]


def seed_of(contrast: Contrast) -> int:
    """A seed from the counts of one parameter, whatever its name."""
    return zlib.crc32(np.stack([contrast.target, contrast.region]).astype(np.float64).tobytes())


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


def permutation(
    contrast: Contrast, randoms: RandomSubsets, question: Question, rng: np.random.Generator, *, draw: bool = True
) -> float | None:
    """The p-value: how often a random subset of the region has at least the observed share.

    The bandwidth is chosen again for each draw. If the limit law applies, nothing is drawn. If it does not apply and
    `draw` is False, the result is None. Drawing stops early if many draws reach the share. If no draw reaches it, the
    tail of the draws is extrapolated: thousands of parameters need p-values far below 1 / draws.
    """
    baseline, smoothing = question.baseline, question.smoothing
    coarse, inside = coarsen_for_draws(contrast, smoothing), int(contrast.target.sum())
    target = coarse.target[None, :].astype(np.float64)
    widths = coarse.widths(target, smoothing)
    seen = float(coarse.scores_by(widths, target, baseline)[0])
    by_law = baseline == "region" and inside > EXACT
    law = LimitLaw.of(coarse, [float(width[0]) for width in widths]) if by_law else None
    p_value = None if law is None else law.p_value(seen)
    if p_value is not None or not draw:
        return p_value
    drawn: list[Reals] = []

    def batch(more: int) -> Reals:
        first = sum(map(len, drawn))
        drawn.append(randoms.scores(coarse, slice(first, first + more), baseline, smoothing, rng))
        return drawn[-1]

    p_value = p_by_draws(seen, in_batches(batch, randoms.draws, FIRST_LOOK))
    expected = coarse.region[coarse.region > 0] * (inside / coarse.region.sum())
    # In rare cells the tails are longer.
    if p_value * (1 + randoms.draws) <= 1.0 + 1e-9 and expected.min() >= FILLED:
        return tail_beyond(np.concatenate(drawn), seen)
    return p_value


def permutation_of_value(
    contrast: Contrast, question: Question, rng: np.random.Generator, *, draw: bool
) -> float | None:
    """The p-value of the effect of a conditional parameter's value; each domain is tested separately."""
    p_values = []
    for block in contrast.grid.blocks:
        here = np.zeros(len(contrast.region), dtype=np.int64)
        here[block.cells] = 1
        regime = replace(contrast, target=contrast.target * here, region=contrast.region * here)
        inside, rows = int(regime.target.sum()), int(regime.region.sum())
        if 0 < inside < rows and regime.varies:
            random_subsets = RandomSubsets.drawn(rows, inside, question.draws, rng)
            p_values.append(permutation(regime, random_subsets, question, rng, draw=draw))
    known = [one for one in p_values if one is not None]
    if len(known) < len(p_values):
        return None
    return min(1.0, len(known) * min(known)) if known else 1.0


@dataclass(frozen=True, slots=True, eq=False)
class RandomSubsets:
    """Random targets that all parameters share: sampled rows, or normal random numbers if the target has many rows."""

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
        """(draws,) The share of each random target in the slice `some`."""
        inside, cells = int(coarse.target.sum()), len(coarse.region)
        if self.positions is not None:
            return coarse.scores(subset_counts(coarse.region, self.positions[some]), baseline, smoothing)
        normals = self.normals[:cells, some]
        if cells > len(normals):
            normals = rng.standard_normal((cells, normals.shape[1]), dtype=np.float32)
        targets: Stack = stacked_subsets(coarse.region, inside, normals, rng)
        if baseline != "region":  # bandwidths are interpolated between rows, as for the target
            targets = targets.astype(np.float64)
        return coarse.scores(targets, baseline, smoothing)


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
    contrast: Contrast,
    row: Importance,
    shared: SharedDraws,
    question: Question,
    rng: np.random.Generator,
    *,
    draw: bool = True,
) -> tuple[float, float, float] | None:
    """The 95 % bounds of the share and its standard deviation, from resampled targets.

    Targets are drawn from a mix of the target's density and the baseline. The weights of the mix are chosen so that the
    drawn targets have the estimated share on average. For the upper bound, the target gets a larger weight, because
    chance can make a small share look even smaller. If `draw` is False and the limit law does not apply, the result is
    None.
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
    believed, halves = max(0.0, observed), shared.halves()
    bounds = []
    for half, share, normal in zip(halves, (believed, believed + hidden), (-NORMAL, NORMAL), strict=True):
        # The target's weight in the mix, with which draws have this share on average.
        kept = math.sqrt(min(1.0, share / raw)) if raw > 0 else 0.0
        chances = shrunk_chances(coarse, min(kept, inside / (inside + 1.0)), baseline)
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
    """The interval from unsmoothed counts if there are too few rows to resample; it contains the smoothed share."""
    if baseline == "region":
        low, high = share_interval(contrast.target, contrast.region)
    else:
        chances = CoarseContrast.of(contrast, [1] * len(blocks_of(contrast.grid))).uniform_chances
        odds = row.n_target / (row.n_region - row.n_target)
        low, high = (odds * bound for bound in divergence_interval(contrast.target, chances))
    share = max(0.0, row.share)
    return min(low, share), max(high, share)
