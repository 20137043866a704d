"""A model's shares held to what the counts of the rows allow.

Where rows were drawn evenly, counts are right but for chance. A model may be wrong in a way that its
own draws do not show: it smooths what is sharp, so that an interaction looks like two main effects.
So both are weighed by how sure they are, and what comes of it may lie no further above or below the
counted share than chance explains. With many rows that leaves no room, and the counts decide.

Where most of what the model sees is what parameters do together, it is trusted less: such a function
has more often a jump that the model smooths. There a parameter that moves nothing alone is given no
more than the counts give it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.measures.importance import Importance
from pedanova.measures.surrogate.counted import CountedShare

Reals: TypeAlias = NDArray[np.float64]
MOSTLY_ALONE = 0.6  # of the order of the points, told by parameters alone: less, and most is what they do together
IDLE_ALONE = 0.05  # and so little is nothing
NORMAL = 1.96


@dataclass(frozen=True, slots=True)
class Leeway:
    """How far a model may be from the counts."""

    off: float  # its share is taken to be off by so much of itself
    above: float  # deviations of the counts that a share may lie above them,
    below: float  # and below


USUAL = Leeway(0.2, 1.5, 3.0)
TOGETHER = Leeway(0.6, 0.7, 2.0)  # where most is what parameters do together,
IDLE = Leeway(0.2, 0.0, 3.0)  # and there, for one that does nothing alone


def leeways_of(alone: Reals) -> list[Leeway]:
    """For each parameter; `alone` is the part of the order of the points that each tells by itself."""
    if math.fsum(alone) >= MOSTLY_ALONE:
        return [USUAL] * len(alone)
    return [IDLE if part < IDLE_ALONE else TOGETHER for part in alone]


def in_accord(shares: Reals, counted: Sequence[CountedShare | Importance], leeways: Sequence[Leeway]) -> Reals:
    """(parameters,) The model's shares moved towards the counted ones."""
    moved = [_moved(float(share), row, how) for share, row, how in zip(shares, counted, leeways, strict=True)]
    return np.array(moved, dtype=np.float64)


def _moved(share: float, row: CountedShare | Importance, leeway: Leeway) -> float:
    if not row.varied:
        return share
    flat, slope = variance_of(row)
    doubt = (leeway.off * share) ** 2
    weight = doubt / (doubt + flat + slope * max(share, 0.0))
    mixed = (1.0 - weight) * share + weight * row.share
    low, high = (_reached(row.share, flat, slope, deviations) for deviations in (-leeway.below, leeway.above))
    return min(max(mixed, low), high)


def widened(
    interval: tuple[Reals, Reals], counted: Sequence[CountedShare | Importance], leeways: Sequence[Leeway]
) -> tuple[Reals, Reals]:
    """The model's bounds, and where it is trusted less those of the counts too: whichever lie further out."""
    low, high = (ends.copy() for ends in interval)
    for j, (row, leeway) in enumerate(zip(counted, leeways, strict=True)):
        if leeway is not USUAL and row.varied:
            under, over = (_reached(row.share, *variance_of(row), deviations) for deviations in (-NORMAL, NORMAL))
            low[j], high[j] = min(low[j], max(0.0, under)), max(high[j], over)
    return low, high


def variance_of(row: CountedShare | Importance) -> tuple[float, float]:
    """The variance of a counted share: at no effect, and how it grows with the share.

    n · share is nearly a non-central chi-square, whose variance is 2·df + 4·n·share.
    """
    chance = (row.raw_share - row.share) / max(1.0 - row.share, 1e-9)
    freedom = max(1.0, chance * (row.n_region - 1))
    return 2.0 * freedom / row.n_region**2, 4.0 / row.n_region


def _reached(share: float, flat: float, slope: float, deviations: float) -> float:
    """The share s with (s - share)² = deviations² · (flat + slope · s), on the side of the sign.

    Below nothing the variance is that of nothing.
    """
    plain = share + deviations * math.sqrt(flat)
    if plain <= 0.0:
        return plain
    bend = deviations**2 * slope / 2.0
    off = math.sqrt(max(deviations**2 * (flat + slope * share) + bend**2, 0.0))
    return share + bend + math.copysign(off, deviations)
