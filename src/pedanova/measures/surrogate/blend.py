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
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from pedanova.counting.contrasts import Contrast
from pedanova.measures.chance.ranked_rows import Reals
from pedanova.measures.importance import Importance, measure
from pedanova.measures.surrogate.posterior import coarse_grid
from pedanova.space.grid import Cells, Grid

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


def blended(shares: Reals, counted: Sequence[Importance], tolerances: Sequence[Tolerance]) -> Reals:
    """(parameters,) The model's shares moved towards the counted ones."""
    each = zip(shares.tolist(), counted, tolerances, strict=True)
    return np.array([_blended(share, row, tolerance) for share, row, tolerance in each], dtype=np.float64)


def _blended(share: float, row: Importance, tolerance: Tolerance) -> float:
    if not row.varied:
        return share
    constant, slope = variance_of(row)
    error = (tolerance.error * share) ** 2
    weight = error / (error + constant + slope * max(share, 0.0))
    mixed = (1.0 - weight) * share + weight * row.share
    low, high = (_bound(row.share, constant, slope, off) for off in (-tolerance.below, tolerance.above))
    return min(max(mixed, low), high)


def widened(
    interval: tuple[Reals, Reals], counted: Sequence[Importance], tolerances: Sequence[Tolerance]
) -> tuple[Reals, Reals]:
    """The model's bounds; where it is trusted less, those of the counts too, whichever lie further out."""
    low, high = (ends.copy() for ends in interval)
    for j, (row, tolerance) in enumerate(zip(counted, tolerances, strict=True)):
        if tolerance is not USUAL and row.varied:
            under, over = (_bound(row.share, *variance_of(row), deviations) for deviations in (-NORMAL, NORMAL))
            low[j], high[j] = min(low[j], max(0.0, under)), max(high[j], over)
    return low, high


def variance_of(row: Importance) -> tuple[float, float]:
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


def counted_shares(contrasts: Sequence[Contrast], *, baseline: str) -> list[Importance]:
    """The importance of every parameter by counts, ranges merged to `CELLS` cells."""
    return [measure(merged(contrast), baseline=baseline, smoothing="auto") for contrast in contrasts]


def merged(contrast: Contrast) -> Contrast:
    """The contrast on the coarse cells of its grid."""
    grid, table = merged_grid(contrast.grid)
    target, region = (
        np.bincount(table, weights=counts, minlength=grid.width).astype(np.int64)
        for counts in (contrast.target, contrast.region)
    )
    return replace(contrast, grid=grid, target=target, region=region)


@lru_cache(maxsize=2048)
def merged_grid(grid: Grid) -> tuple[Grid, Cells]:
    """The grid with at most `CELLS` cells in every ordered regime, and the cell there of each of its cells."""
    coarse = coarse_grid(grid, CELLS)
    table = coarse.table.copy()
    table[grid.outside] += 1  # apart from missing values
    return replace(grid, cells=coarse.cells - 1, prior=coarse.prior[:-1], blocks=coarse.blocks[:-1]), table
