"""Shares of very many studies at once, where plain counts answer: the measure of `importance.measure` in stacks.

Cells are put together as far as the kernel allows, and kernels that differ by less than 2 % are taken for the same;
so shares agree with those of each study alone to about a thousandth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.counting.contrasts import Contrast
from pedanova.measures.folded import Folded, folded_shares
from pedanova.measures.importance import Importance, unvaried
from pedanova.measures.smoothing import as_bandwidths
from pedanova.space.grid import Grid, blocks_of

Reals: TypeAlias = NDArray[np.float64]
Counts: TypeAlias = NDArray[np.int64]  # (studies, cells + 2)
CELLS_TO_A_KERNEL = 5
SAME_WIDTH = math.log(1.02)


@dataclass(frozen=True, slots=True, eq=False)
class ManyShares:
    """Of one parameter in every study."""

    name: str
    share: Reals
    raw: Reals
    inside: Counts  # target rows
    rows: Counts
    widths: Reals  # of the kernel, in cells
    varied: NDArray[np.bool_]

    def importance(self, study: int) -> Importance:
        """One study's row, its ratio still open."""
        inside, rows = int(self.inside[study]), int(self.rows[study])
        if not self.varied[study]:
            return unvaried(self.name, inside, rows)
        raw, part = float(self.raw[study]), inside / rows
        divergence = raw * (1.0 - part) / part
        return Importance(
            name=self.name,
            ratio=0.0,
            share=float(self.share[study]),
            raw_share=raw,
            divergence=divergence,
            variance=part**2 * divergence,
            n_target=inside,
            n_region=rows,
            bandwidth=float(self.widths[study]),
            value=divergence,
            activity=0.0,
            value_share=raw,
            activity_share=0.0,
        )


def shares_of_many(name: str, grid: Grid, targets: Counts, regions: Counts) -> ManyShares:
    """From target and region rows by [study × cell]; every study has rows inside and outside its target."""
    blocks = blocks_of(grid)
    widths = np.stack([as_bandwidths("auto", targets[:, b.start : b.stop], b) for b in blocks], axis=1)
    share, raw = np.empty(len(targets)), np.empty(len(targets))
    for of in alike_in_width(widths):
        raw[of], share[of] = _folded(name, grid, targets[of], regions[of], widths[of])
    varied = (regions > 0).sum(axis=1) > 1
    return ManyShares(name, share, raw, targets.sum(axis=1), regions.sum(axis=1), widths.max(axis=1), varied)


def alike_in_width(widths: Reals) -> list[NDArray[np.int64]]:
    """Studies by the octave of their kernel: a single narrow one would leave the cells of all others fine."""
    widest = np.where(np.isfinite(widths), widths, 0.0).max(axis=1, initial=1.0)  # 0 where nothing is smoothed
    octaves = np.floor(np.log2(widest))
    return [np.flatnonzero(octaves == one) for one in np.unique(octaves)]


def _folded(name: str, grid: Grid, targets: Counts, regions: Counts, widths: Reals) -> tuple[Reals, Reals]:
    """Raw shares and shares of studies whose kernels are about as wide."""
    blocks = blocks_of(grid)
    steps = [step_of(widths[:, i]) for i in range(len(blocks))]
    folded = Folded.of(Contrast(name, grid, targets.sum(axis=0), regions.sum(axis=0)), steps)
    starts = [cell for b, step in zip(blocks, steps, strict=True) for cell in range(b.start, b.stop, step)]
    few_targets, few_regions = (np.add.reduceat(c, starts, axis=1).astype(np.float64) for c in (targets, regions))
    with np.errstate(divide="ignore"):
        classes = np.exp(np.round(np.log(widths) / SAME_WIDTH) * SAME_WIDTH)
    share, raw = np.empty(len(targets)), np.empty(len(targets))
    kinds, places = np.unique(classes, axis=0, return_inverse=True)
    for i, kind in enumerate(kinds):
        of = places.ravel() == i
        kernels = [float(width) / step for width, step in zip(kind, steps, strict=True)]
        raw[of], share[of] = folded_shares(folded, kernels, few_targets[of], few_regions[of], "region", as_found=False)
    return raw, share


def step_of(widths: Reals) -> int:
    """Cells that are put into one: a few to the narrowest kernel; none where some study has none."""
    narrowest = float(widths.min(initial=math.inf))
    return max(1, math.floor(narrowest / CELLS_TO_A_KERNEL)) if math.isfinite(narrowest) else 1
