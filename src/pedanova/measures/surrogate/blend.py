"""The model's shares blended with the counted ones.

Where rows were drawn evenly, counts are right but for chance. A model may be wrong in a way that its own samples do
not show: it smooths what is sharp, so that an interaction looks like two main effects. So both are weighted by their
variances, and the result may lie no further from the counted share than chance explains. With many rows that leaves
no room, and the counts decide.

Where most of what the model sees are interactions, it is trusted less: such a function has more often a jump that the
model smooths. There a parameter without an effect of its own is given no more than the counts give it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pedanova.counting.contrasts import Contrast
from pedanova.measures.chance.ranked_rows import Indices, Reals
from pedanova.measures.importance import Importance
from pedanova.measures.share import ratio_of, share_of, summed_ratio
from pedanova.measures.smoothing import bandwidth, periodic_kernels
from pedanova.space.grid import Block

MOSTLY_ADDITIVE = 0.6  # of the variance of the points' ranks that parameters explain alone: less, and most interact
NO_EFFECT = 0.05  # alone: so little is nothing
NORMAL = 1.96


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far a model may be from the counts."""

    error: float  # standard error of its share, relative to the share
    above: float  # deviations of the counts that a share may lie above them,
    below: float  # and below


USUAL = Tolerance(0.2, 1.5, 3.0)
INTERACTING = Tolerance(0.6, 0.7, 2.0)  # where most are interactions,
IDLE = Tolerance(0.2, 0.0, 3.0)  # and there, for a parameter without an effect of its own


def tolerances_of(alone: Reals) -> list[Tolerance]:
    """For each parameter; `alone` is the part of the variance of the points' ranks that each explains by itself."""
    if math.fsum(alone) >= MOSTLY_ADDITIVE:
        return [USUAL] * len(alone)
    return [IDLE if part < NO_EFFECT else INTERACTING for part in alone]


def blended(shares: Reals, counted: Sequence[CountedShare | Importance], tolerances: Sequence[Tolerance]) -> Reals:
    """(parameters,) The model's shares moved towards the counted ones."""
    each = zip(shares.tolist(), counted, tolerances, strict=True)
    return np.array([_blended(share, row, tolerance) for share, row, tolerance in each], dtype=np.float64)


def _blended(share: float, row: CountedShare | Importance, tolerance: Tolerance) -> float:
    if not row.varied:
        return share
    constant, slope = variance_of(row)
    error = (tolerance.error * share) ** 2
    weight = error / (error + constant + slope * max(share, 0.0))
    mixed = (1.0 - weight) * share + weight * row.share
    low, high = (_bound(row.share, constant, slope, off) for off in (-tolerance.below, tolerance.above))
    return min(max(mixed, low), high)


def widened(
    interval: tuple[Reals, Reals], counted: Sequence[CountedShare | Importance], tolerances: Sequence[Tolerance]
) -> tuple[Reals, Reals]:
    """The model's bounds; where it is trusted less, those of the counts too, whichever lie further out."""
    low, high = (ends.copy() for ends in interval)
    for j, (row, tolerance) in enumerate(zip(counted, tolerances, strict=True)):
        if tolerance is not USUAL and row.varied:
            under, over = (_bound(row.share, *variance_of(row), deviations) for deviations in (-NORMAL, NORMAL))
            low[j], high[j] = min(low[j], max(0.0, under)), max(high[j], over)
    return low, high


def variance_of(row: CountedShare | Importance) -> tuple[float, float]:
    """The variance of a counted share: without an effect, and how it grows with the share.

    n · share is nearly a non-central chi-square, whose variance is 2·df + 4·n·share.
    """
    chance = (row.raw_share - row.share) / max(1.0 - row.share, 1e-9)
    freedom = max(1.0, chance * (row.n_region - 1))
    return 2.0 * freedom / row.n_region**2, 4.0 / row.n_region


def _bound(share: float, constant: float, slope: float, deviations: float) -> float:
    """The share s with (s - share)² = deviations² · (constant + slope · s), on the side of the sign.

    Below 0 the variance is that at 0.
    """
    plain = share + deviations * math.sqrt(constant)
    if plain <= 0.0:
        return plain
    bend = deviations**2 * slope / 2.0
    off = math.sqrt(max(deviations**2 * (constant + slope * share) + bend**2, 0.0))
    return share + bend + math.copysign(off, deviations)


# --- counted shares ------------------------------------------------------------------------------------

CELLS = 100  # of a range, in which counts are compared with a model: fine enough, and the same for all ranges
PORTION = 32  # blocks at a time: their kernels stay in the cache


class CountedShare(NamedTuple):
    """One parameter's share by counts."""

    share: float
    raw_share: float
    n_region: int
    varied: bool


@dataclass(frozen=True, slots=True, eq=False)
class BlockStack:
    """Blocks of equally many cells; counts and prior are (blocks, cells)."""

    owner: Indices  # (blocks,) the parameter that each belongs to
    target: Indices
    region: Indices
    prior: Reals
    ordered: bool

    def portions(self) -> Iterator[BlockStack]:
        """The stack in parts of `PORTION` blocks."""
        for start in range(0, len(self.owner), PORTION):
            some = slice(start, start + PORTION)
            yield BlockStack(self.owner[some], self.target[some], self.region[some], self.prior[some], self.ordered)


def counted_shares(contrasts: Sequence[Contrast], *, baseline: str) -> list[CountedShare]:
    """The measure of `importance.measure` for all parameters at once, in stacks of equal blocks."""
    inside, rows = (int(counts.sum()) for counts in (contrasts[0].target, contrasts[0].region))
    sums = np.zeros((5, len(contrasts)))
    for stack in stacked(contrasts):
        for some in stack.portions():
            for total, values in zip(sums, sums_of(some, inside, rows, baseline), strict=True):
                total += np.bincount(some.owner, weights=values, minlength=len(total))
    square, of_regimes, noise, kept, cells = sums
    value, activity = not_noise(square - of_regimes), not_noise(of_regimes - 1.0)
    odds = inside / rows / (1.0 - inside / rows)
    child, varied = np.array([contrast.child for contrast in contrasts]), cells > 1
    credited, chance = np.where(child, value, value + activity), np.where(child, noise - kept + 1.0, noise)
    share = np.where(varied, share_of(credited, chance, odds, inside, rows, baseline), 0.0)
    raw = np.where(varied, odds * (value + activity), 0.0)
    each = zip(share.tolist(), raw.tolist(), varied.tolist(), strict=True)
    return [CountedShare(one, plain, rows, varies) for one, plain, varies in each]


def stacked(contrasts: Sequence[Contrast]) -> list[BlockStack]:
    """Blocks of equally many cells together, ranges merged to `CELLS`; then missing values and those outside."""
    alike: dict[tuple[int, bool], list[tuple[int, slice]]] = {}
    for j, contrast in enumerate(contrasts):
        for block in contrast.grid.blocks:
            cells = slice(block.start, block.stop)
            alike.setdefault((block.stop - block.start, block.ordered), []).append((j, cells))
    return [*(stack_of(contrasts, blocks, *kind) for kind, blocks in alike.items()), stack_apart(contrasts)]


def stack_of(
    contrasts: Sequence[Contrast], blocks: Sequence[tuple[int, slice]], cells: int, ordered: bool
) -> BlockStack:
    """The stack of some blocks, each the cells of a parameter."""
    target = np.stack([contrasts[j].target[cells] for j, cells in blocks])
    region = np.stack([contrasts[j].region[cells] for j, cells in blocks])
    prior = np.stack([contrasts[j].grid.prior[cells] for j, cells in blocks])
    if ordered and cells > CELLS:
        starts = -(-np.arange(CELLS) * cells // CELLS)  # as `coarse_grid` merges cells
        target, region, prior = (np.add.reduceat(part, starts, axis=1) for part in (target, region, prior))
    return BlockStack(np.array([j for j, _ in blocks]), target, region, prior, ordered)


def stack_apart(contrasts: Sequence[Contrast]) -> BlockStack:
    """The last two cells of every parameter (missing, outside), each a block by itself."""
    target = np.stack([contrast.target[-2:] for contrast in contrasts]).reshape(-1, 1)
    region = np.stack([contrast.region[-2:] for contrast in contrasts]).reshape(-1, 1)
    owner = np.repeat(np.arange(len(contrasts)), 2)
    return BlockStack(owner, target, region, np.ones(region.shape), ordered=False)


def sums_of(stack: BlockStack, inside: int, rows: int, baseline: str) -> tuple[Reals, ...]:
    """(blocks,) each: the sums of `importance.Piece` for every block, and its number of cells with rows."""
    target, region = stack.target / inside, stack.region / rows
    reached, active = target.sum(axis=1), region.sum(axis=1)
    # Inside a regime a uniform draw; regimes occur as often as among the rows.
    even = active[:, None] * stack.prior / np.maximum(stack.prior.sum(axis=1, keepdims=True), 1e-300)
    base, counted = (region, region) if baseline == "region" else (even, target)
    cells = stack.target.shape[1]
    widths = bandwidth("auto", stack.target, Block(0, cells, stack.ordered))
    if widths.any():
        kernel = reflected_kernels(cells, widths)
        smooth = kernel @ np.stack([target, base], axis=2)
        target, base = smooth[:, :, 0], smooth[:, :, 1]
        counted = (np.square(kernel, out=kernel) @ counted[:, :, None])[:, :, 0]
    kept = (active > 0).astype(np.float64) if baseline == "region" else ratio_of(reached, active)
    filled = np.count_nonzero(stack.region, axis=1).astype(np.float64)
    return summed_ratio(target**2, base), ratio_of(reached**2, active), summed_ratio(counted, base), kept, filled


def reflected_kernels(cells: int, widths: Reals) -> Reals:
    """(blocks, cells, cells) The reflected kernel of each block, S_ij = P(i - j) + P(i + j + 1)."""
    around = periodic_kernels(cells, widths)
    windows = np.lib.stride_tricks.sliding_window_view
    near = windows(around[:, np.arange(1 - cells, cells)], cells, axis=1)[:, :, ::-1]
    kernels: Reals = near + windows(around[:, 1 : 2 * cells], cells, axis=1)
    return kernels


def not_noise(divergence: Reals) -> Reals:
    """The divergence, with 0 for what is only the rounding of sums that should cancel."""
    clean: Reals = np.where(divergence > 1e-12, divergence, 0.0)
    return clean
