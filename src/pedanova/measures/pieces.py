"""What one regime of a parameter adds to its divergence, and to what chance would make of it."""

from __future__ import annotations

from dataclasses import dataclass

from pedanova.counting.contrasts import Contrast
from pedanova.measures.share import Reals, summed_ratio
from pedanova.measures.smoothing import Smoothing, as_bandwidth, smooth, squared_smooth
from pedanova.space.grid import Block, blocks_of


@dataclass(frozen=True, slots=True)
class Piece:
    """One regime's part of the sums, α and β being its parts of target and region."""

    square: float  # Σ target² / base over its cells
    share_of_square: float  # α² / β: what remains if the cells inside the regime are not told apart
    noise: float  # Σ_ij S_ij² π_j / base_i
    kept_noise: float  # the same if the cells inside the regime are not told apart
    width: float


NO_ROWS = Piece(0.0, 0.0, 0.0, 0.0, 0.0)
ONE_CELL = Piece(1.0, 1.0, 1.0, 1.0, 0.0)  # all rows in it


def piece_of(contrast: Contrast, block: Block, baseline: str, smoothing: Smoothing) -> Piece:
    cells = slice(block.start, block.stop)
    target, region = contrast.target[cells], contrast.region[cells]
    if not region.any():
        return NO_ROWS
    width = as_bandwidth(smoothing, target, block)
    inside, rows = round(float(contrast.target.sum())), int(contrast.region.sum())
    wanted, known = target / inside, region / rows
    reached, active = float(target.sum()) / inside, float(region.sum()) / rows  # α, β
    base = base_of(contrast, block, baseline, width)
    counted = known if baseline == "region" else wanted
    return Piece(
        square=float(summed_ratio(smooth(wanted, width) ** 2, base)),
        share_of_square=reached**2 / active,
        noise=float(summed_ratio(squared_smooth(counted, width), base)),
        kept_noise=1.0 if baseline == "region" else reached / active,
        width=width,
    )


def divergence_of(contrast: Contrast, *, baseline: str, smoothing: Smoothing) -> float:
    """That of `measure`, without what it takes to correct it for chance."""
    inside = float(contrast.target.sum())
    total = -1.0
    for block in blocks_of(contrast.grid):
        cells = slice(block.start, block.stop)
        target, region = contrast.target[cells], contrast.region[cells]
        if region.any():
            width = as_bandwidth(smoothing, target, block)
            total += float(summed_ratio(smooth(target / inside, width) ** 2, base_of(contrast, block, baseline, width)))
    return not_noise(total)


def base_of(contrast: Contrast, block: Block, baseline: str, width: float) -> Reals:
    """What the target's density is held against in a block, smoothed."""
    cells, rows = slice(block.start, block.stop), int(contrast.region.sum())
    region, prior = contrast.region[cells], contrast.grid.prior[cells]
    if baseline == "uniform" and len(prior):
        # Inside a regime a uniform draw; how often the regime occurs, only the rows can tell.
        return float(region.sum()) / rows * smooth(prior / prior.sum(), width)
    return smooth(region / rows, width)


def not_noise(divergence: float) -> float:
    """0 for what is only the rounding of sums that should cancel."""
    return divergence if divergence > 1e-12 else 0.0
