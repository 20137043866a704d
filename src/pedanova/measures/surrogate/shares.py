"""Shares of all parameters in all draws at once, by counting points; and what they come to.

The measure is that of `importance.measure`, without a kernel: points are many enough to do without.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.data.regions import Direction, Region
from pedanova.measures.surrogate.drawn import Counts, Drawn, Mask
from pedanova.measures.surrogate.fold import Shelf

Reals: TypeAlias = NDArray[np.float64]
WIDEN = 1.5  # times the draws' own spread: settings are taken as known, which they are not
DOUBT = 0.1  # of the root of a share, whatever the draws say
AGREED = 0.75  # how far the draws' common opinion counts, against the mean of their single ones;
AGREED_INSIDE = 0.5  # inside a region each draw has its own region as well
NORMAL = 1.96
FINEST = 0.005  # no share is known better than that


@dataclass(frozen=True, slots=True, eq=False)
class DrawnShares:
    """What the draws say of every parameter, in the order of the space."""

    names: tuple[str, ...]
    each: Reals  # (draws, parameters) share of each draw, corrected for the number of points
    agreed: Reals  # (parameters,) share of the target's mean density: what all draws have in common
    activity: Reals  # (parameters,) the part of it that is being active at all, 0 to 1
    part: float  # of the region, the target's mean part
    inside: bool  # the region is not the whole space

    def share(self, *, uneven: bool) -> Reals:
        """(parameters,) The best guess.

        The mean over draws holds what the draws are unsure of as if it were an effect; the share of
        their mean density holds none of it. After an adaptive sampler much is unsure, and real.
        """
        mean: Reals = self.each.mean(axis=0)
        weight = 0.0 if uneven else AGREED_INSIDE if self.inside else AGREED
        return (1.0 - weight) * mean + weight * self.agreed

    def interval(self) -> tuple[Reals, Reals]:
        """(parameters,) Bounds of the share, 95 %: on its root, whose spread hardly hangs on its size."""
        roots = np.sqrt(np.maximum(self.each, 0.0))
        middle = roots.mean(axis=0)
        spread = roots.std(axis=0, ddof=1) if len(roots) > 1 else np.zeros_like(middle)
        off = np.hypot(WIDEN * NORMAL * spread, DOUBT * middle)
        low, high = np.maximum(middle - off, 0.0) ** 2, (middle + off) ** 2
        return np.maximum(low - FINEST, 0.0), high + FINEST


def drawn_shares(
    drawn: Drawn,
    target: Region,
    region: Region,
    direction: Direction,
    *,
    baseline: str = "region",
    box: Mask | None = None,
    of_rows: bool = False,
) -> DrawnShares | None:
    """For one question; None where no draw has a target, or none has more than that."""
    inner = drawn.ends(target, direction, of_rows=of_rows)
    outer = drawn.ends(region, direction, of_rows=of_rows)
    inner = np.clip(inner[0], *outer), np.clip(inner[1], *outer)
    whole = bool(np.all(outer[0] == 0) and np.all(outer[1] == len(drawn)))
    shelf = drawn.shelf()
    targets = drawn.count(inner, shelf, box=box)
    regions = drawn.count(outer, shelf, box=box, everywhere=whole)
    return measured(tuple(drawn.space), shelf, targets, regions, baseline)


def measured(
    names: tuple[str, ...], shelf: Shelf, targets: Counts, regions: Counts, baseline: str
) -> DrawnShares | None:
    """From points by cell: (draws, cells) of the target, and of the region or (1, cells) if it is the same."""
    first = slice(int(shelf.starts[0]), int(shelf.starts[1]))  # every parameter has all points
    inside, rows = targets[:, first].sum(axis=1), regions[:, first].sum(axis=1)
    told = (inside > 0) & (inside < rows)
    if not told.any():
        return None
    targets, inside = targets[told], inside[told]
    if len(regions) > 1:
        regions, rows = regions[told], rows[told]
    wanted, known = targets / inside[:, None], regions / rows[:, None]
    base = known if baseline == "region" else uniform_base(shelf, known)
    square = shelf.by_parameter(over(wanted**2, base))
    kept = shelf.of_blocks(over(shelf.by_block(wanted) ** 2, shelf.by_block(known)))
    odds = (inside / (rows - inside))[:, None]
    if baseline == "region":
        chance = (shelf.by_parameter((regions > 0).astype(np.float64)) - 1.0) / (rows - 1.0)[:, None]
        each = (odds * (square - 1.0) - chance) / np.maximum(1.0 - chance, 1e-9)
    else:
        noise = shelf.by_parameter(over(wanted, base))
        many = np.maximum(inside, 2)[:, None]
        each = odds * ((many * square - noise) / (many - 1.0) - 1.0)
    divergence = np.maximum(square - 1.0, 1e-12)
    active = (kept - 1.0).mean(axis=0)
    activity = np.clip(np.where(active > 1e-12, active, 0.0) / divergence.mean(axis=0), 0.0, 1.0)
    part = float(np.mean(inside / rows))
    agreed = agreed_share(shelf, wanted, base, part)
    return DrawnShares(names, each, agreed, activity, part, inside=len(regions) > 1)


def agreed_share(shelf: Shelf, wanted: Reals, base: Reals, part: float) -> Reals:
    """(parameters,) From products of different draws only, so that their own noise does not enter."""
    draws = len(wanted)
    if draws < 2:
        return np.zeros(len(shelf.folds))
    products = (wanted.sum(axis=0) ** 2 - (wanted**2).sum(axis=0)) / (draws * (draws - 1))
    square = shelf.by_parameter(over(products, base.mean(axis=0))[None, :])[0]
    found: Reals = part / (1.0 - part) * (square - 1.0)
    return found


def uniform_base(shelf: Shelf, known: Reals) -> Reals:
    """A uniform draw inside each regime; how often the regime occurs, only the points can tell."""
    sizes = np.diff(np.r_[shelf.block_starts, shelf.cells])
    base: Reals = np.repeat(shelf.by_block(known), sizes, axis=1) * shelf.prior
    return base


def over(above: Reals, below: Reals) -> Reals:
    """Quotients; 0 where there is nothing below."""
    below = np.broadcast_to(below, above.shape)
    quotient = np.zeros_like(above)
    np.divide(above, below, out=quotient, where=below > 0)
    return quotient


def ratios_of(shares: Reals) -> Reals:
    """Each share's part of their sum; what is below nothing is nothing."""
    floored = np.maximum(shares, 0.0)
    total = float(floored.sum())
    return floored / total if total > 0 and math.isfinite(total) else np.zeros_like(floored)
