"""Random counts for p-values and intervals: subsets of the region, and rows resampled around an estimate.

The cost does not grow with the rows: up to `EXACT` target rows they are drawn one by one, beyond that counts come
from their limit law, cell by cell, in single precision and from random numbers that serve every parameter. Stacks are
[draw × cell], those in single precision with the draws of a cell side by side in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.measures.coarse import FINEST, CoarseContrast
from pedanova.measures.share import Reals, shares

Singles: TypeAlias = NDArray[np.float32]
Counts: TypeAlias = NDArray[np.int64]
EXACT = 500  # target rows up to which every row is drawn
RARE = 10  # expected rows below which a cell is not taken for normal
LISTED = 1 << 20  # rows up to which each row's cell is written down
STEPS = 1 << 16  # resolution of a look-up from uniform numbers to cells


@dataclass(frozen=True, slots=True, eq=False)
class SharedDraws:
    """Random numbers that serve every parameter: to draw them for each would be most of the work."""

    uniforms: NDArray[np.uint16] | None  # (draws, target rows); None where there are too many
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
        """Draws that have nothing in common."""
        middle = -(-self.draws // 2)
        one, two = (
            SharedDraws(None if self.uniforms is None else self.uniforms[half], self.normals[:, half])
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


def shrunk_chances(coarse: CoarseContrast, kept: float, baseline: str) -> Reals:
    """(cells,) The target's densities, shrunk towards the baseline; `kept` of their distance remains."""
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
    """(draws,) Shares of resampled rows, those of the target with these chances."""
    inside = int(coarse.target.sum())
    targets = target_counts(chances, inside, shared, rng)
    if baseline == "region":
        # A smoothed count is a sum of many: there the normal law serves even rare cells.
        rare = 0.0 if max(widths) > 0 and len(chances) <= len(shared.normals) else RARE
        rest = np.maximum(coarse.region - inside * chances, 0.0)
        regions = targets + stacked_counts(rest, shared.first(len(rest), rng), rng, rare=rare)
    else:  # against a uniform draw the region tells no more than its size
        regions = targets + (coarse.region - coarse.target).astype(np.float32)
    prior = coarse.prior_for(baseline)
    return shares(targets, regions, coarse.blocks, widths, prior=prior, as_found=True).corrected


def target_counts(chances: Reals, inside: int, shared: SharedDraws, rng: np.random.Generator) -> Singles:
    """(draws, cells) Target rows by cell: few are drawn one by one."""
    if shared.uniforms is None:
        return stacked_counts(chances * inside, shared.last(len(chances), rng), rng)
    return np.asfortranarray(sampled_counts(chances, shared.uniforms), dtype=np.float32)


def subsets(rows: int, inside: int, draws: int, rng: np.random.Generator) -> NDArray[np.int64] | None:
    """(draws, inside) Positions of random subsets of the rows; None where there are too many."""
    if inside > EXACT:
        return None
    if rows <= EXACT:
        keys = rng.random((draws, rows), dtype=np.float32)
        return np.argpartition(keys, inside - 1, axis=1)[:, :inside]
    return np.stack([rng.choice(rows, inside, replace=False, shuffle=False) for _ in range(draws)])


def subset_counts(region: Counts, positions: NDArray[np.int64]) -> Reals:
    """(draws, cells) Rows by cell of random subsets of the region: multivariate hypergeometric."""
    if region.sum() <= LISTED:
        return _by_draw(np.repeat(np.arange(len(region), dtype=np.int32), region)[positions], len(region))
    cells = np.searchsorted(np.cumsum(region), positions.ravel(), side="right")
    return _by_draw(cells.reshape(positions.shape), len(region))


def stacked_subsets(region: Counts, inside: int, normals: Singles, rng: np.random.Generator) -> Singles:
    """(draws, cells) The same by their limit law, from normal numbers, (cells, draws); none is below 0."""
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
    """(draws, cells) Rows by cell, drawn with the given chances; `uniforms` are (draws, rows)."""
    ends = np.cumsum(chances) / chances.sum()
    table = np.searchsorted(ends, (np.arange(STEPS) + 0.5) / STEPS, side="right").astype(np.int32)
    return _by_draw(np.minimum(table, len(chances) - 1)[uniforms], len(chances))


def stacked_counts(expected: Reals, normals: Singles, rng: np.random.Generator, *, rare: float = RARE) -> Singles:
    """(draws, cells) Independent counts with these expectations, normal where they are not rare."""
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
