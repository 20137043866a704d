"""Random counts for p-values (random subsets of the region) and for intervals (rows resampled around an estimate).

The cost does not grow with the number of rows. Up to `EXACT` target rows are drawn one by one. With more rows, the
counts of each cell are drawn from their limit distribution, in single precision; all parameters share the random
numbers. Arrays of counts are (draws, cells); in single precision, the draws of a cell are contiguous in memory.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.counting.contrasts import Contrast
from pedanova.measures.importance import width_of
from pedanova.measures.share import shares
from pedanova.measures.smoothing import Smoothing, Stack, bandwidth, scott_bandwidth
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
    fine_prior: Reals  # the prior of the cells before merging
    starts: NDArray[np.int64]  # the first fine cell of each merged cell

    @classmethod
    def of(cls, contrast: Contrast, steps: Sequence[int]) -> CoarseContrast:
        blocks: list[Block] = []
        firsts: list[NDArray[np.int64]] = []
        end = 0
        for block, step in zip(blocks_of(contrast.grid), steps, strict=True):
            firsts.append(np.arange(block.start, block.stop, step))
            blocks.append(Block(end, end + len(firsts[-1]), block.ordered))
            end = blocks[-1].stop
        starts = np.concatenate(firsts)
        target, region = (np.add.reduceat(one, starts) for one in contrast.independent())
        return cls(tuple(blocks), tuple(steps), target, region, contrast.grid.prior, starts)

    @property
    def prior(self) -> Reals:
        """(cells,) The probabilities of a uniform draw; they sum to 1 in each block."""
        summed = np.add.reduceat(np.concatenate([self.fine_prior, [1.0, 1.0]]), self.starts)
        each = [summed[block.cells] for block in self.blocks]
        return np.concatenate([inside / max(inside.sum(), 1e-300) for inside in each])

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

    def first(self, cells: int, rng: np.random.Generator) -> Singles:
        """(cells, draws) Shared standard normal numbers; new ones if there are more cells than shared numbers."""
        return self.normals[:cells] if cells <= len(self.normals) else self._fresh(cells, rng)

    def last(self, cells: int, rng: np.random.Generator) -> Singles:
        """(cells, draws) Standard normal numbers that are independent of those that `first` returns."""
        return self.normals[::-1][:cells] if 2 * cells <= len(self.normals) else self._fresh(cells, rng)

    def _fresh(self, cells: int, rng: np.random.Generator) -> Singles:
        return rng.standard_normal((cells, self.draws), dtype=np.float32)


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
        targets = stacked_counts(chances * inside, shared.last(len(chances), rng), rng)
    else:  # a few rows are drawn one by one
        targets = np.asfortranarray(sampled_counts(chances, shared.uniforms), dtype=np.float32)
    if baseline == "region":
        # A smoothed count is a sum of many counts, so it is nearly normal even for rare cells.
        rare = 0.0 if max(widths) > 0 and len(chances) <= len(shared.normals) else RARE
        rest = np.maximum(coarse.region - inside * chances, 0.0)
        regions = targets + stacked_counts(rest, shared.first(len(rest), rng), rng, rare=rare)
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
    ends = np.cumsum(chances) / chances.sum()
    table = np.searchsorted(ends, (np.arange(STEPS) + 0.5) / STEPS, side="right").astype(np.int32)
    return _by_draw(np.minimum(table, len(chances) - 1)[uniforms], len(chances))


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
