"""P-values (by permutation) and intervals (by a shrunk bootstrap) of shares, from counts.

Both need only the counts of target and region by cell. The p-value says how often a random subset of the region would
have such a large share. The interval says how much the share would vary in other samples. docs/how-sure.md has the
formulas and simulations.
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
from pedanova.measures.distributions import LEAST_TARGET, LEVEL, divergence_interval, holm, share_interval
from pedanova.measures.importance import WORTH_A_WORD, Importance
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
from pedanova.measures.share import ratio_of
from pedanova.measures.smoothing import Smoothing, Stack, reflected_matrix
from pedanova.space.grid import Reals, blocks_of

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
        region, kernel = single(coarse.region / rows), whole_kernel(coarse, widths)
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
        squares = self._squares(own) - 2.0 * alpha * float(own @ through**2) - 2.0 * beta * float(own.sum())
        squares += (alpha * inner) ** 2 + 2.0 * alpha * beta + beta**2
        moved = own * line - likely * (alpha * float(likely @ line)) - b * (beta * float(b @ line))
        return free, squares, float(moved @ (self.bent @ moved))

    def _squares(self, weights: Vector) -> float:
        """tr (A diag(weights))²."""
        weighted = self.bent * weights
        return float(np.vdot(weighted, weighted.T))

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


def whole_kernel(coarse: CoarseContrast, widths: Sequence[float]) -> Vector:
    """(cells, cells) The smoothing matrix S, which never mixes cells of different blocks."""
    kernel = np.eye(len(coarse.region), dtype=np.float32)
    for block, width in zip(coarse.blocks, widths, strict=True):
        if width > 0.0:
            kernel[block.cells, block.cells] = reflected_matrix(len(block), width)
    return kernel


DRAWS = 2000
WORTH_THREADS = 50  # the number of parameters from which several threads are faster
FIRST_LOOK = 500  # draws; if a part of at least CLEAR of them reaches the share, no more are drawn
CLEAR = 0.15
MARGIN = 1.25  # the factor by which a tail may be longer than its fit
FEWEST_UPPER = 50  # a tail is fitted to at least this many draws
FILLED = 5.0  # expected target rows in every cell from which their sums count as normal
SMALLEST = 1e-12  # the smallest p-value
NORMAL = 1.959963984540054  # the 97.5 % quantile of the normal distribution
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
    *,
    baseline: str = "region",
    smoothing: Smoothing = "auto",
    draws: int = DRAWS,
    seed: int = 0,
    p_values: Mapping[str, float] | None = None,
) -> list[Sureness]:
    """Compute the interval and p-value of every parameter; `rows` has the importances in the order of `contrasts`."""
    inside = int(contrasts[0].target.sum())
    independent = int(inside / contrasts[0].repeats)
    common = np.random.default_rng([seed])
    tested = [contrast.thinned() for contrast in contrasts]
    sizes = int(tested[0].region.sum()), int(tested[0].target.sum())
    random_subsets = RandomSubsets.drawn(*sizes, draws, common) if p_values is None else None
    shared = SharedDraws.drawn(independent, -(-draws // 2), common)  # an interval needs fewer than a small p-value

    def sureness_of(place: int, *, draw: bool = True) -> Sureness | None:
        """The result for parameter number `place`; None if draws are needed and `draw` is False."""
        contrast, row = contrasts[place], rows[place]
        if not row.varied:
            return Sureness(0.0, 0.0, 1.0, 0.0)
        own = np.random.default_rng([seed, zlib.crc32(contrast.name.encode())])
        if p_values is not None or random_subsets is None:
            p_value: float | None = (p_values or {}).get(row.name, 1.0)
        elif contrast.child:
            p_value = permutation_of_value(tested[place], draws, baseline, smoothing, own, draw=draw)
        else:
            p_value = permutation(tested[place], random_subsets, baseline, smoothing, own, draw=draw)
        bounds = None if p_value is None else interval(contrast, row, shared, baseline, smoothing, own, draw=draw)
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


def with_sureness(rows: Sequence[Importance], sureness: Sequence[Sureness]) -> list[Importance]:
    """The rows with intervals, and with p-values adjusted for the number of parameters that varied."""
    adjusted = holm([one.p_value for one in sureness], np.array([row.varied for row in rows]))
    each = zip(rows, sureness, adjusted, strict=True)
    return [sure_of(row, one, p) if row.varied else row for row, one, p in each]


def sure_of(row: Importance, sureness: Sureness, adjusted: float) -> Importance:
    """The row with its interval; the interval always contains the share, and also 0 if the effect is not clear."""
    significant = bool(adjusted <= LEVEL) and row.share >= WORTH_A_WORD
    low = min(sureness.low, max(0.0, row.share)) if significant else 0.0
    high = max(sureness.high, row.share, 0.0)
    return replace(
        row,
        low=low,
        high=high,
        p_value=sureness.p_value,
        p_adjusted=float(adjusted),
        significant=significant,
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
    """The p-value: how often a random subset of the region has at least the observed share.

    The bandwidth is chosen again for each draw. If the limit law applies, nothing is drawn. If it does not apply and
    `draw` is False, the result is None. Drawing stops early if many draws reach the share. If no draw reaches it, the
    tail of the draws is extrapolated: thousands of parameters need p-values far below 1 / draws.
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
    if as_high == 0 and expected.min() >= FILLED:  # in rare cells the tails are longer
        return tail_beyond(drawn, seen)
    return (1 + as_high) / (1 + len(drawn))


def permutation_of_value(
    contrast: Contrast, draws: int, baseline: str, smoothing: Smoothing, rng: np.random.Generator, *, draw: bool
) -> float | None:
    """The p-value of the effect of a conditional parameter's value; each domain is tested separately."""
    p_values = []
    for block in contrast.grid.blocks:
        here = np.zeros(len(contrast.region), dtype=np.int64)
        here[block.cells] = 1
        regime = replace(contrast, target=contrast.target * here, region=contrast.region * here)
        inside, rows = int(regime.target.sum()), int(regime.region.sum())
        if 0 < inside < rows and regime.varies:
            random_subsets = RandomSubsets.drawn(rows, inside, draws, rng)
            p_values.append(permutation(regime, random_subsets, baseline, smoothing, rng, draw=draw))
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
    baseline: str,
    smoothing: Smoothing,
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
    inside, rows = float(row.n_target), float(row.n_region)
    if inside < LEAST_TARGET or rows - inside < LEAST_TARGET:  # too few rows to resample
        return (*interval_of_few(contrast, row, baseline), math.nan)
    if min(inside, rows - inside) < FEWEST_INDEPENDENT * contrast.repeats:  # too few independent rows
        return 0.0, max(1.0, row.share), UNKNOWN
    coarse, widths = coarsen_for_kernel(contrast, smoothing)
    law = LimitLaw.of(coarse, widths) if baseline == "region" and inside > EXACT else None
    raw, observed, plain = observed_shares(coarse, widths, baseline)
    rows, inside = rows / contrast.repeats, inside / contrast.repeats
    unit = 1.0 / (max(rows - 1.0, 1.0) if baseline == "region" else rows - inside)
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
    """The interval from unsmoothed counts if there are too few rows to resample; it contains the smoothed share."""
    if baseline == "region":
        low, high = share_interval(contrast.target, contrast.region)
    else:
        chances = CoarseContrast.of(contrast, [1] * len(blocks_of(contrast.grid))).uniform_chances
        odds = row.n_target / (row.n_region - row.n_target)
        low, high = (odds * bound for bound in divergence_interval(contrast.target, chances))
    share = max(0.0, row.share)
    return min(low, share), max(high, share)


def shrinkage(believed: float, raw: float, inside: float) -> float:
    """The weight that the target needs in a mix of target and baseline so that draws from it have the given share."""
    kept = math.sqrt(min(1.0, believed / raw)) if raw > 0 else 0.0
    return min(kept, inside / (inside + 1.0))
