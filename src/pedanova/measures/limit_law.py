"""The law of a share where every cell is well filled: what draws would tell, without drawing.

Counts are then normal, and Σ (S(t - b))²/(Sb) is a sum of squares of normal numbers beside a line in them. Its mean,
variance and skewness follow from traces; its quantiles from these. docs/how-sure.md holds them to the draws.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.measures.resampling import CoarseContrast
from pedanova.measures.share import Reals, ratio_of
from pedanova.measures.smoothing import reflected_matrix

Vector: TypeAlias = NDArray[Any]  # (cells,) or a matrix of them, in single precision
SOFT_BASE = 0.1  # the base's own variance over its square, at most, where the squares weigh
GRAINY = 0.25  # parts of the variance, at most, that single rows would add to a normal law
MANY_SQUARES = 10.0  # degrees of freedom, beyond which three moments are enough
SURE, FINE = 0.01, 0.05  # p-values above are told by three moments better than by draws, where grains are so small,
ROUGH = 0.15  # and else above this
NOTHING = 1e-20  # part of the rows in a cell that they are too far from
MOST_CELLS = 400


@dataclass(frozen=True, slots=True)
class ShareMoments:
    """Of the share of resampled rows."""

    mean: float
    deviation: float
    skewness: float

    def quantile(self, normal: float) -> float:
        """Where a normal number would be at `normal`: the first terms of Cornish and Fisher."""
        return self.mean + self.deviation * (normal + (normal**2 - 1.0) / 6.0 * self.skewness)


@dataclass(frozen=True, slots=True, eq=False)
class LimitLaw:
    """Of one parameter's coarse cells and fixed kernels, against the region; six digits of everything are enough."""

    inside: float
    rows: float
    region: Vector  # (cells,) the region's parts, b
    base: Vector  # (cells,) Sb
    over: Vector  # (cells,) 1 / Sb, 0 where there is nothing to speak of
    kernel: Vector  # (cells, cells) S
    kernel_squared: Vector
    bent: Vector  # (cells, cells) A = S' (S / Sb)
    own: Vector  # (cells,) its diagonal

    @classmethod
    def of(cls, coarse: CoarseContrast, widths: Sequence[float]) -> LimitLaw | None:
        """None where the cells are too many for a matrix of them."""
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
        """Of targets drawn with these chances, and the rest of the region with its own; None where cells are poor."""
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
        """Whether single rows are felt: as grains in the target's counts, or in the base that they are divided by."""
        n, own = self.inside, self.own
        by_squares, by_line = float(own**2 @ likely) / n**3, 2.0 * abs(float((line * own) @ likely)) / n**2
        weights = (self.kernel_squared @ likely) * self.over
        soft = float((weights * self.over) @ ((self.kernel_squared @ self.region) * self.over)) / self.rows
        return max(by_squares, by_line) > GRAINY * variance or soft > SOFT_BASE * float(weights.sum())

    def _traces(self, likely: Vector, line: Vector) -> tuple[float, float, float]:
        """tr AC, tr (AC)² and g'CACg, with C the covariance of t - b: c - α ll' - β bb'."""
        alpha, beta, b = 1.0 / self.inside - 2.0 / self.rows, 1.0 / self.rows, self.region
        own, through = alpha * likely + beta * b, self.bent @ likely
        inner = float(likely @ through)
        free = float(self.own @ own) - alpha * inner - beta
        squares = self._squares(own) - 2.0 * alpha * float(own @ through**2) - 2.0 * beta * float(own.sum())
        squares += (alpha * inner) ** 2 + 2.0 * alpha * beta + beta**2
        moved = own * line - likely * (alpha * float(likely @ line)) - b * (beta * float(b @ line))
        return free, squares, float(moved @ (self.bent @ moved))

    def _squares(self, weights: Vector) -> float:
        """tr (A c)² of weights c."""
        weighted = self.bent * weights
        return float(np.vdot(weighted, weighted.T))

    def _variance_of_line(self, likely: Vector, by_target: Vector, by_region: Vector, divergence: float) -> float:
        """Of what moves in a line with t, with b, and with how many rows there are of each."""
        n, rows, b = self.inside, self.rows, self.region

        def along(chances: Vector, one: Vector, two: Vector) -> float:
            return float(chances @ (one * two)) - float(chances @ one) * float(chances @ two)

        own = along(likely, by_target, by_target) / n + along(b, by_region, by_region) / rows
        sizes = divergence**2 * (1.0 / n + 1.0 / (rows - n)) + 2.0 * divergence * float(by_region @ (likely - b)) / (
            rows - n
        )
        return own + 2.0 * along(likely, by_target, by_region) / rows + sizes

    def _curvature(self, likely: Vector, apart: Vector, steep: Vector) -> float:
        """What the scatter of the base adds to the mean."""
        both = self.kernel_squared @ apart - (self.kernel @ likely) ** 2 + self.base**2
        alone = self.kernel_squared @ self.region - self.base**2
        return float((steep**2 * alone - 2.0 * steep * both) @ self.over) / self.rows

    def _noise(self, likely: Vector) -> float:
        """What chance is expected to add to the sum of squares, were every row of a cell as likely a target row."""
        part = self.inside / self.rows
        others = np.maximum(self.region - part * likely, 0.0)
        scattered = single(ratio_of(likely * others, self.region)) / (1.0 - part)
        return float((self.kernel_squared @ scattered) @ self.over)

    # --- random parts of the region --------------------------------------------------------------

    def p_value(self, share: float) -> float | None:
        """How likely a random part of the region has such a share, this kernel given; None where draws tell better."""
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
    """How likely a sum of so many squares lies so many deviations above its mean.

    Its cube root is nearly normal (Wilson and Hilferty).
    """
    ratio, spread = max(0.0, 1.0 + deviations * math.sqrt(2.0 / freedom)), 2.0 / (9.0 * freedom)
    return 0.5 * math.erfc((ratio ** (1.0 / 3.0) - (1.0 - spread)) / math.sqrt(2.0 * spread))


def whole_kernel(coarse: CoarseContrast, widths: Sequence[float]) -> Vector:
    """(cells, cells) S of all blocks."""
    kernel = np.eye(len(coarse.region), dtype=np.float32)
    for block, width in zip(coarse.blocks, widths, strict=True):
        if width > 0.0:
            cells = slice(block.start, block.stop)
            kernel[cells, cells] = reflected_matrix(block.stop - block.start, width)
    return kernel
