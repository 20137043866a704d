"""What the counts say of all parameters at once: the measure of `importance.measure`, in stacks of equal blocks.

To hold a model against, a hundred cells of a range are fine enough, and all ranges have as many then.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.counting.contrasts import Contrast
from pedanova.measures.share import ratio_of, share_of, summed_ratio
from pedanova.measures.smoothing import as_bandwidths, periodic_kernels
from pedanova.space.grid import Block

Reals: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.int64]
HELD = 100  # cells of a range in which counts are held against a model
PORTION = 32  # blocks at a time: their kernels stay in the cache


class CountedShare(NamedTuple):
    """One parameter's share by counts."""

    share: float
    raw_share: float
    n_region: int
    varied: bool


@dataclass(frozen=True, slots=True, eq=False)
class Stack:
    """Blocks of as many cells: (blocks, cells) each."""

    owner: Indices  # (blocks,) the parameter that each belongs to
    target: Indices
    region: Indices
    prior: Reals
    ordered: bool

    def portions(self) -> Iterator[Stack]:
        for start in range(0, len(self.owner), PORTION):
            some = slice(start, start + PORTION)
            yield Stack(self.owner[some], self.target[some], self.region[some], self.prior[some], self.ordered)


def counted_shares(contrasts: Sequence[Contrast], *, baseline: str) -> list[CountedShare]:
    """Of every parameter; all have the same rows."""
    inside, rows = (int(counts.sum()) for counts in (contrasts[0].target, contrasts[0].region))
    sums = np.zeros((5, len(contrasts)))
    for stack in stacked(contrasts):
        for some in stack.portions():
            for kind, found in zip(sums, sums_of(some, inside, rows, baseline), strict=True):
                kind += np.bincount(some.owner, weights=found, minlength=len(kind))
    square, of_regimes, noise, kept, cells = sums
    value, activity = not_noise(square - of_regimes), not_noise(of_regimes - 1.0)
    odds = inside / rows / (1.0 - inside / rows)
    child, varied = np.array([contrast.child for contrast in contrasts]), cells > 1
    credited, chance = np.where(child, value, value + activity), np.where(child, noise - kept + 1.0, noise)
    share = np.where(varied, share_of(credited, chance, odds, inside, rows, baseline), 0.0)
    raw = np.where(varied, odds * (value + activity), 0.0)
    each = zip(share.tolist(), raw.tolist(), varied.tolist(), strict=True)
    return [CountedShare(one, plain, rows, varies) for one, plain, varies in each]


def stacked(contrasts: Sequence[Contrast]) -> list[Stack]:
    """Blocks of as many cells together, ranges coarsened; then what has no value, or none of the space."""
    alike: dict[tuple[int, bool], list[tuple[int, slice]]] = {}
    for j, contrast in enumerate(contrasts):
        for block in contrast.grid.blocks:
            cells = slice(block.start, block.stop)
            alike.setdefault((block.stop - block.start, block.ordered), []).append((j, cells))
    return [*(stack_of(contrasts, blocks, *kind) for kind, blocks in alike.items()), apart(contrasts)]


def stack_of(contrasts: Sequence[Contrast], blocks: Sequence[tuple[int, slice]], cells: int, ordered: bool) -> Stack:
    target = np.stack([contrasts[j].target[cells] for j, cells in blocks])
    region = np.stack([contrasts[j].region[cells] for j, cells in blocks])
    prior = np.stack([contrasts[j].grid.prior[cells] for j, cells in blocks])
    if ordered and cells > HELD:
        starts = -(-np.arange(HELD) * cells // HELD)  # as `fold_of` puts cells together
        target, region, prior = (np.add.reduceat(part, starts, axis=1) for part in (target, region, prior))
    return Stack(np.array([j for j, _ in blocks]), target, region, prior, ordered)


def apart(contrasts: Sequence[Contrast]) -> Stack:
    """The two last cells of every parameter, each a block by itself."""
    target = np.stack([contrast.target[-2:] for contrast in contrasts]).reshape(-1, 1)
    region = np.stack([contrast.region[-2:] for contrast in contrasts]).reshape(-1, 1)
    owner = np.repeat(np.arange(len(contrasts)), 2)
    return Stack(owner, target, region, np.ones(region.shape), ordered=False)


def sums_of(stack: Stack, inside: int, rows: int, baseline: str) -> tuple[Reals, ...]:
    """(blocks,) each: what `importance.Piece` has of every block, and how many of its cells hold rows of the region."""
    wanted, known = stack.target / inside, stack.region / rows
    reached, active = wanted.sum(axis=1), known.sum(axis=1)
    # Inside a regime a uniform draw; how often the regime occurs, only the rows can tell.
    even = active[:, None] * stack.prior / np.maximum(stack.prior.sum(axis=1, keepdims=True), 1e-300)
    base, counted = (known, known) if baseline == "region" else (even, wanted)
    cells = stack.target.shape[1]
    widths = as_bandwidths("auto", stack.target, Block(0, cells, stack.ordered))
    if widths.any():
        kernel = kernels(cells, widths)
        smooth = kernel @ np.stack([wanted, base], axis=2)
        wanted, base = smooth[:, :, 0], smooth[:, :, 1]
        counted = (np.square(kernel, out=kernel) @ counted[:, :, None])[:, :, 0]
    kept = (active > 0).astype(np.float64) if baseline == "region" else ratio_of(reached, active)
    held = np.count_nonzero(stack.region, axis=1).astype(np.float64)
    return summed_ratio(wanted**2, base), ratio_of(reached**2, active), summed_ratio(counted, base), kept, held


def kernels(cells: int, widths: Reals) -> Reals:
    """(blocks, cells, cells) The reflected kernel of each block, S_ij = P(i - j) + P(i + j + 1)."""
    around = periodic_kernels(cells, widths)
    windows = np.lib.stride_tricks.sliding_window_view
    near = windows(around[:, np.arange(1 - cells, cells)], cells, axis=1)[:, :, ::-1]
    found: Reals = near + windows(around[:, 1 : 2 * cells], cells, axis=1)
    return found


def not_noise(divergence: Reals) -> Reals:
    """0 for what is only the rounding of sums that should cancel."""
    found: Reals = np.where(divergence > 1e-12, divergence, 0.0)
    return found
