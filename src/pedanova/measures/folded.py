"""A parameter's cells put together, as far as neither chance nor the kernel could tell: what is drawn anew is small."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pedanova.counting.contrasts import Contrast
from pedanova.measures.share import Reals, share_of, summed_ratio
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

FOLDED = 64  # cells of a block that suffice for p-values; for intervals as many as the kernel needs
FINEST, COARSEST = 160, 40
SAME_WIDTH = math.log(1.08)  # kernels closer than 8 % are taken for the same


@dataclass(frozen=True, slots=True, eq=False)
class Folded:
    """A contrast with neighbouring cells put together, block by block."""

    blocks: tuple[Block, ...]
    steps: tuple[int, ...]  # cells put into one, for each block
    target: NDArray[np.int64]
    region: NDArray[np.int64]
    fine_prior: Reals  # of the cells before they were put together, and
    starts: NDArray[np.int64]  # which of them each one begins with

    @classmethod
    def of(cls, contrast: Contrast, steps: Sequence[int]) -> Folded:
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
        return same_widths(widths) if smoothing == "auto" else widths

    def base(self, cells: slice, baseline: str) -> Reals:
        """What the target's density is held against, before smoothing."""
        known = self.region[cells] / self.region.sum()
        base: Reals = known if baseline == "region" else known.sum() * self.prior[cells]
        return base


def same_widths(widths: Reals) -> Reals:
    """Near ones made equal, so that many draws share a kernel."""
    with np.errstate(divide="ignore"):
        return np.exp(np.round(np.log(widths) / SAME_WIDTH) * SAME_WIDTH)


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
        if smoothing == "auto":  # as wide as if it did not fade: a hundred cells are enough to tell chance
            width = plain_bandwidth(region) * wider if block.smoothable else 0.0
        else:
            width = as_bandwidth(smoothing, region, block)
        steps.append(max(1, min(math.floor(width), -(-_width(block) // FOLDED))))
    return Folded.of(contrast, steps)


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


def _width(block: Block) -> int:
    return block.stop - block.start


def uniform_chances(folded: Folded) -> Reals:
    return np.concatenate([folded.base(slice(b.start, b.stop), "uniform") for b in folded.blocks])


def found_shares(folded: Folded, widths: Sequence[float], baseline: str) -> tuple[float, float, float]:
    """Of the rows at hand: the raw share, and the corrected one by the scatter as found and by a random target's."""
    target, region = folded.target[None, :].astype(np.float64), folded.region[None, :].astype(np.float64)
    raw, found = folded_shares(folded, widths, target, region, baseline)
    plain = folded_shares(folded, widths, target, region, baseline, as_found=False)[1]
    return float(raw[0]), float(found[0]), float(plain[0])


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
