"""Shares of rows drawn anew, around densities pulled towards the baseline: what an interval is read from.

Counts are drawn in stacks of [cell × draw], in single precision and from random numbers that serve every parameter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pedanova.measures.draws import EXACT, RARE, STEPS, sampled_counts, stacked_counts
from pedanova.measures.folded import FINEST, Folded, folded_shares, uniform_chances
from pedanova.measures.narrow_kernel import NarrowKernel, Singles
from pedanova.measures.share import Reals, share_of

SINGLE_ROW = 1.5  # rows of a cell, at most, that tell nothing of their scatter
NOTHING = np.float32(1e-30)  # rows of a cell that none was drawn near


@dataclass(frozen=True, slots=True, eq=False)
class Shared:
    """Random numbers that serve every parameter: to draw them for each would be most of the work."""

    uniforms: NDArray[np.uint16] | None  # (draws, target rows); None where there are too many
    normals: Singles  # (most cells, draws)

    @classmethod
    def drawn(cls, inside: int, draws: int, rng: np.random.Generator) -> Shared:
        few = inside <= EXACT
        uniforms = rng.integers(0, STEPS, size=(draws, inside), dtype=np.uint16) if few else None
        return cls(uniforms, rng.standard_normal((2 * FINEST, draws), dtype=np.float32))

    @property
    def draws(self) -> int:
        return int(self.normals.shape[1])

    def halves(self) -> tuple[Shared, Shared]:
        """Draws that have nothing in common."""
        middle = -(-self.draws // 2)
        one, two = (
            Shared(None if self.uniforms is None else self.uniforms[half], self.normals[:, half])
            for half in (slice(None, middle), slice(middle, None))
        )
        return one, two

    def first(self, cells: int, rng: np.random.Generator) -> Singles:
        """(cells, draws) Normal numbers; fresh ones where there are too few to share."""
        return self.normals[:cells] if cells <= len(self.normals) else self._fresh(cells, rng)

    def last(self, cells: int, rng: np.random.Generator) -> Singles:
        """The same from the other end: of no kin to the first."""
        return self.normals[::-1][:cells] if 2 * cells <= len(self.normals) else self._fresh(cells, rng)

    def _fresh(self, cells: int, rng: np.random.Generator) -> Singles:
        return rng.standard_normal((cells, self.draws), dtype=np.float32)


def drawn_from(folded: Folded, pull: float, baseline: str) -> Reals:
    """(cells,) The target's densities pulled towards the baseline."""
    known, wanted = folded.region / folded.region.sum(), folded.target / folded.target.sum()
    base = known if baseline == "region" else uniform_chances(folded)
    likely: Reals = pull * wanted + (1.0 - pull) * base
    return likely


def renewed_shares(
    folded: Folded, widths: Sequence[float], likely: Reals, shared: Shared, baseline: str, rng: np.random.Generator
) -> Reals:
    """(draws,) Shares of rows drawn anew, those of the target with these chances."""
    inside = int(folded.target.sum())
    targets = target_counts(likely, inside, shared, rng)
    if baseline != "region":  # against a uniform draw the region tells no more than its size
        drawn = targets.T.astype(np.float64)
        return folded_shares(folded, widths, drawn, drawn + (folded.region - folded.target), baseline)[1]
    # A smoothed count is a sum of many: there the normal law serves even rare cells.
    rare = 0.0 if max(widths) > 0 and len(likely) <= len(shared.normals) else RARE
    rest = np.maximum(folded.region - inside * likely, 0.0)
    kernels = [NarrowKernel.of(b.stop - b.start, width) for b, width in zip(folded.blocks, widths, strict=True)]
    return stacked_shares(folded, kernels, targets, stacked_counts(rest, shared.first(len(rest), rng), rng, rare=rare))


def target_counts(likely: Reals, inside: int, shared: Shared, rng: np.random.Generator) -> Singles:
    """(cells, draws) Target rows by cell: few are drawn one by one."""
    if shared.uniforms is None:
        return stacked_counts(likely * inside, shared.last(len(likely), rng), rng)
    return np.ascontiguousarray(sampled_counts(likely, shared.uniforms).T, dtype=np.float32)


def stacked_shares(folded: Folded, kernels: Sequence[NarrowKernel], targets: Singles, others: Singles) -> Reals:
    """(draws,) Corrected shares where target and others are both drawn: `folded_shares` in stacks.

    Σ (St)²/(Sb) - 1 is found as Σ (S(t - b))²/(Sb), which is the same and keeps its digits.
    """
    regions = targets + others
    inside = targets.sum(axis=0)
    rows = np.maximum(regions.sum(axis=0), inside + 1.0)
    odds, part = rows / inside, inside / rows
    divergence, noise = np.zeros(len(inside)), np.zeros(len(inside))
    for block, kernel in zip(folded.blocks, kernels, strict=True):
        cells = slice(block.start, block.stop)
        if not folded.region[cells].any():
            continue
        counted = kernel.squared_smooth(stacked_scatter(targets[cells], others[cells], regions[cells], part))
        apart = targets[cells] * odds
        apart -= regions[cells]
        apart = kernel.smooth(apart)
        base = np.maximum(kernel.smooth(regions[cells]), NOTHING)
        noise += np.divide(counted, base, out=counted).sum(axis=0)
        np.divide(apart, base, out=base)
        divergence += np.multiply(base, apart, out=base).sum(axis=0)
    divergence /= rows
    noise *= odds / (1.0 - part)
    return share_of(divergence, noise, (part / (1.0 - part)).astype(np.float64), inside, rows, "region")


def stacked_scatter(targets: Singles, others: Singles, regions: Singles, part: Singles) -> Singles:
    """Variance of each cell's target rows, were every row of the cell as likely to be one: `folded.scatter`."""
    spread = targets * others
    if regions.min() > SINGLE_ROW:
        spread /= regions - np.float32(1.0)
        return spread
    several = regions > SINGLE_ROW
    spread /= np.where(several, regions - np.float32(1.0), np.float32(1.0))
    found: Singles = np.where(several, spread, targets * (1.0 - part))
    return found
