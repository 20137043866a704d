"""A parameter's cells put together, as far as neither chance nor the kernel could tell: what is resampled is small."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pedanova.counting.contrasts import Contrast
from pedanova.measures.share import Reals, shares
from pedanova.measures.smoothing import Smoothing, Stack, bandwidth, scott_bandwidth
from pedanova.space.grid import Block, blocks_of

MOST_FOR_DRAWS = 64  # cells of a block that suffice for p-values; for intervals as many as the kernel needs
FINEST, COARSEST = 160, 40
SAME_WIDTH = math.log(1.08)  # kernels closer than 8 % are taken for the same


@dataclass(frozen=True, slots=True, eq=False)
class CoarseContrast:
    """A contrast with neighbouring cells put together, block by block."""

    blocks: tuple[Block, ...]
    steps: tuple[int, ...]  # cells put into one, for each block
    target: NDArray[np.int64]
    region: NDArray[np.int64]
    fine_prior: Reals  # of the cells before they were put together, and
    starts: NDArray[np.int64]  # which of them each one begins with

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
        target, region = (np.add.reduceat(c, starts) for c in (contrast.target, contrast.region))
        return cls(tuple(blocks), tuple(steps), target, region, contrast.grid.prior, starts)

    @property
    def prior(self) -> Reals:
        """(cells,) Chances of a uniform draw; inside each block they add to one."""
        summed = np.add.reduceat(np.concatenate([self.fine_prior, [1.0, 1.0]]), self.starts)
        each = [summed[block.start : block.stop] for block in self.blocks]
        return np.concatenate([inside / max(inside.sum(), 1e-300) for inside in each])

    def scores(self, targets: Stack, baseline: str, smoothing: Smoothing) -> Reals:
        """(draws,) The corrected share of every draw, (draws, cells), its bandwidths found anew."""
        return self.scores_by(self.widths(targets, smoothing), targets, baseline)

    def scores_by(self, widths: Sequence[Reals], targets: Stack, baseline: str) -> Reals:
        """(draws,) The same by bandwidths that are known."""
        prior, inside = self.prior_for(baseline), float(self.target.sum())
        return shares(targets, self.region, self.blocks, widths, prior=prior, inside=inside).corrected

    def widths(self, targets: Stack, smoothing: Smoothing) -> list[Reals]:
        """(draws,) For each block, bandwidths in coarse cells, near ones made equal."""
        each = zip(self.blocks, self.steps, strict=True)
        widths = [bandwidth(smoothing, targets[:, b.start : b.stop], b, step) for b, step in each]
        return [same_widths(width) for width in widths] if smoothing == "auto" else widths

    def prior_for(self, baseline: str) -> Reals | None:
        """What `shares` needs to hold targets against the baseline."""
        return None if baseline == "region" else self.prior

    @property
    def uniform_chances(self) -> Reals:
        """(cells,) Of a uniform draw inside each block; how often the block occurs, only the rows can tell."""
        parts = [self.region[b.start : b.stop].sum() / self.region.sum() for b in self.blocks]
        chances: Reals = self.prior * np.repeat(parts, [b.stop - b.start for b in self.blocks])
        return chances


def same_widths(widths: Reals) -> Reals:
    """Near ones made equal, so that many draws share a kernel."""
    if not widths.any():
        return widths
    with np.errstate(divide="ignore"):
        return np.exp(np.round(np.log(widths) / SAME_WIDTH) * SAME_WIDTH)


def coarsen_for_draws(contrast: Contrast, smoothing: Smoothing) -> CoarseContrast:
    """Cells put together where the kernel of a random target would blur them anyway.

    What is put together may depend on the region alone, never on the target: else drawn targets and the
    one found would not be measured alike.
    """
    blocks = blocks_of(contrast.grid)
    wider = (contrast.region.sum() / contrast.target.sum()) ** 0.2  # fewer rows, wider kernels
    steps = []
    for block in blocks:
        region = contrast.region[block.start : block.stop]
        if smoothing == "auto":  # as wide as if it did not fade: a hundred cells are enough to tell chance
            width = float(scott_bandwidth(region, fade=False)) * wider if block.smoothable else 0.0
        else:
            width = float(bandwidth(smoothing, region, block))
        steps.append(max(1, min(math.floor(width), -(-_width(block) // MOST_FOR_DRAWS))))
    return CoarseContrast.of(contrast, steps)


def coarsen_for_kernel(contrast: Contrast, smoothing: Smoothing) -> tuple[CoarseContrast, list[float]]:
    """Cells put together as far as the kernel allows: two of them to a bandwidth."""
    blocks = blocks_of(contrast.grid)
    widths = [float(bandwidth(smoothing, contrast.target[b.start : b.stop], b)) for b in blocks]
    steps = []
    for block, width in zip(blocks, widths, strict=True):
        cells = _width(block)
        wanted = max(math.floor(width / 2.0), -(-cells // FINEST))
        steps.append(max(1, min(wanted, cells // COARSEST)) if width > 0 else 1)
    scaled = [width / step for width, step in zip(widths, steps, strict=True)]
    return CoarseContrast.of(contrast, steps), scaled


def _width(block: Block) -> int:
    return block.stop - block.start


def observed_shares(coarse: CoarseContrast, widths: Sequence[float], baseline: str) -> tuple[float, float, float]:
    """Of the rows at hand: the raw share, and the corrected one by the scatter as found and by a random target's."""
    target, region = (counts[None, :].astype(np.float64) for counts in (coarse.target, coarse.region))
    prior = coarse.prior_for(baseline)
    raw, found = shares(target, region, coarse.blocks, widths, prior=prior, as_found=True)
    plain = shares(target, region, coarse.blocks, widths, prior=prior).corrected
    return float(raw[0]), float(found[0]), float(plain[0])
