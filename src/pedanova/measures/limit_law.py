"""The law of a share where every cell is well filled: what draws would tell, without drawing.

Counts are then normal, and Σ (S(t - b))²/(Sb) is a sum of squares of normal numbers beside a line in them. Its mean,
variance and skewness follow from traces; its quantiles from these. docs/how-sure.md holds them to the draws.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pedanova.measures.folded import Folded, scatter
from pedanova.measures.share import Reals, ratio_of, share_of
from pedanova.measures.smoothing import reflected_matrix

SOFT_BASE = 0.1  # the base's own variance over its square, at most, where the squares weigh
GRAINY = 0.25  # parts of the variance, at most, that single rows would add to a normal law
MANY_SQUARES = 10.0  # degrees of freedom, beyond which three moments are enough
MOST_CELLS = 400


@dataclass(frozen=True, slots=True)
class Moments:
    """Of the share of rows drawn anew."""

    mean: float
    deviation: float
    skewness: float

    def quantile(self, normal: float) -> float:
        """Where a normal number would be at `normal`: the first terms of Cornish and Fisher."""
        return self.mean + self.deviation * (normal + (normal**2 - 1.0) / 6.0 * self.skewness)


@dataclass(frozen=True, slots=True, eq=False)
class LimitLaw:
    """Of one parameter's folded cells and fixed kernels, against the region."""

    inside: float
    rows: float
    known: Reals  # (cells,) the region's parts, b
    base: Reals  # (cells,) Sb
    kernel: Reals  # (cells, cells) S
    kernel_squared: Reals
    bent: Reals  # (cells, cells) A = S' (S / Sb)
    bent_squared: Reals

    @classmethod
    def of(cls, folded: Folded, widths: Sequence[float]) -> LimitLaw | None:
        """None where the cells are too many for a matrix of them."""
        if len(folded.region) > MOST_CELLS:
            return None
        rows = float(folded.region.sum())
        known, kernel = folded.region / rows, whole_kernel(folded, widths)
        base = kernel @ known
        single = kernel.astype(np.float32)  # of a sum of squares six digits are enough
        bent = (single.T @ (single * ratio_of(1.0, base).astype(np.float32)[:, None])).astype(np.float64)
        return cls(float(folded.target.sum()), rows, known, base, kernel, kernel**2, bent, bent**2)

    def found(self, target: NDArray[np.int64]) -> tuple[float, float, float]:
        """`found_shares` of these target rows: the raw share, and the corrected ones as found and by chance."""
        n, rows = self.inside, self.rows
        away = self.kernel @ (target / n - self.known)
        divergence, odds = float(away @ ratio_of(away, self.base)), n / (rows - n)
        region = self.known * rows
        scattered = scatter(target.astype(np.float64), region, np.array(n / rows)) / n, self.known
        noises = [float(ratio_of(self.kernel_squared @ one, self.base).sum()) for one in scattered]
        found, plain = (float(share_of(divergence, noise, odds, n, rows, "region")) for noise in noises)
        return odds * divergence, found, plain

    # --- drawn anew ------------------------------------------------------------------------------

    def renewed(self, likely: Reals) -> Moments | None:
        """Of targets drawn with these chances, and the rest of the region with its own; None where cells are poor."""
        n, rows = self.inside, self.rows
        apart = likely - self.known
        away = self.kernel @ apart
        steep = ratio_of(away, self.base)
        found = float(away @ steep)
        line, by_base = 2.0 * (self.kernel.T @ steep), -(self.kernel.T @ steep**2)
        free, squares, bent_line = self._traces(likely, line)
        variance = self._variance_of_line(likely, line, by_base - line, found) + 2.0 * squares
        if free**2 < MANY_SQUARES * squares or self._is_poor(likely, line, variance):
            return None
        mean = found + free + self._curvature(likely, steep) + float((by_base - line) @ apart) / (rows - n)
        odds, chance = n / (rows - n), (self._noise(likely) - 1.0) / (rows - 1.0)
        scale, third = odds / (1.0 - chance), 8.0 * squares**2 / free + 6.0 * bent_line
        return Moments(scale * mean - chance / (1.0 - chance), scale * math.sqrt(variance), third / variance**1.5)

    def _is_poor(self, likely: Reals, line: Reals, variance: float) -> bool:
        """Whether single rows are felt: as grains in the target's counts, or in the base that they are divided by."""
        n, own = self.inside, np.diagonal(self.bent)
        by_squares, by_line = float(own**2 @ likely) / n**3, 2.0 * abs(float((line * own) @ likely)) / n**2
        weights = ratio_of(self.kernel_squared @ likely, self.base)
        soft = ratio_of(self.kernel_squared @ self.known, self.rows * self.base**2)
        grainy = max(by_squares, by_line) > GRAINY * variance
        return grainy or float(weights @ soft) > SOFT_BASE * float(weights.sum())

    def _traces(self, likely: Reals, line: Reals) -> tuple[float, float, float]:
        """tr AC, tr (AC)² and g'CACg, with C the covariance of t - b: c - α ll' - β bb'."""
        n, rows, b = self.inside, self.rows, self.known
        alpha, beta = 1.0 / n - 2.0 / rows, 1.0 / rows
        own, through = alpha * likely + beta * b, self.bent @ likely
        inner = float(likely @ through)
        free = float(np.diagonal(self.bent) @ own) - alpha * inner - beta
        squares = (
            float(own @ (self.bent_squared @ own)) - 2.0 * alpha * float(own @ through**2) - 2.0 * beta * own.sum()
        )
        squares += (alpha * inner) ** 2 + 2.0 * alpha * beta + beta**2
        moved = own * line - alpha * likely * float(likely @ line) - beta * b * float(b @ line)
        return free, float(squares), float(moved @ (self.bent @ moved))

    def _variance_of_line(self, likely: Reals, by_target: Reals, by_region: Reals, found: float) -> float:
        """Of what moves in a line with t, with b, and with how many rows there are of each."""
        n, rows, b = self.inside, self.rows, self.known

        def along(chances: Reals, one: Reals, two: Reals) -> float:
            return float(chances @ (one * two)) - float(chances @ one) * float(chances @ two)

        own = along(likely, by_target, by_target) / n + along(b, by_region, by_region) / rows
        sizes = found**2 * (1.0 / n + 1.0 / (rows - n)) + 2.0 * found * float(by_region @ (likely - b)) / (rows - n)
        return own + 2.0 * along(likely, by_target, by_region) / rows + sizes

    def _curvature(self, likely: Reals, steep: Reals) -> float:
        """What the scatter of the base adds to the mean."""
        both = self.kernel_squared @ (likely - self.known) - (self.kernel @ likely) ** 2 + self.base**2
        alone = self.kernel_squared @ self.known - self.base**2
        return float(ratio_of(steep**2 * alone - 2.0 * steep * both, self.base).sum()) / self.rows

    def _noise(self, likely: Reals) -> float:
        """What chance is expected to add to the sum of squares, were every row of a cell as likely a target row."""
        part = self.inside / self.rows
        others = np.maximum(self.known - part * likely, 0.0)
        scattered = ratio_of(likely * others, self.known) / (1.0 - part)
        return float(ratio_of(self.kernel_squared @ scattered, self.base).sum())

    # --- random parts of the region --------------------------------------------------------------

    def chance_of(self, share: float) -> float | None:
        """How likely a random part of the region has such a share, this kernel given; None where cells are poor."""
        own, fewer = np.diagonal(self.bent), min(self.inside, self.rows - self.inside)
        free, grain = float(own @ self.known) - 1.0, float(own**2 @ self.known) / (2.0 * fewer)
        squares = float(self.known @ (self.bent_squared @ self.known)) - 1.0 + grain
        if grain > GRAINY * squares or free**2 < MANY_SQUARES * squares:
            return None
        chance = free / (self.rows - 1.0)
        return beyond(max(0.0, share * (1.0 - chance) + chance) * (self.rows - 1.0) / free, free**2 / squares)


def beyond(ratio: float, freedom: float) -> float:
    """How likely a sum of squares is so many times its mean: the cube root is nearly normal (Wilson and Hilferty)."""
    spread = 2.0 / (9.0 * freedom)
    return 0.5 * math.erfc((ratio ** (1.0 / 3.0) - (1.0 - spread)) / math.sqrt(2.0 * spread))


def whole_kernel(folded: Folded, widths: Sequence[float]) -> Reals:
    """(cells, cells) S of all blocks."""
    kernel = np.eye(len(folded.region))
    for block, width in zip(folded.blocks, widths, strict=True):
        if width > 0.0:
            cells = slice(block.start, block.stop)
            kernel[cells, cells] = reflected_matrix(block.stop - block.start, width)
    return kernel
