"""Shares of all parameters in all draws at once, by counting points; and what they come to.

The measure is that of `importance.measure`, without a kernel: points are many enough to do without.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.measures.surrogate.drawn import Counts, Drawn, Mask
from pedanova.measures.surrogate.fold import Shelf
from pedanova.measures.surrogate.rungs import Span

Reals: TypeAlias = NDArray[np.float64]
WIDEN = 1.3  # times the draws' own spread: settings are taken as known, which they are not;
WIDEN_APART = 1.5  # inside a region, and after an adaptive sampler
DOUBT = 0.1  # of the root of a share, whatever the draws say
AGREED = 0.9  # how far the draws' common opinion counts, against the mean of their single ones;
AGREED_INSIDE = 0.5  # inside a region each draw has its own region as well
NORMAL = 1.96
FINEST = 0.005  # no share is known better than that
LEAST_POINTS = 20  # of the target in each draw, and of the rest of the region


@dataclass(frozen=True, slots=True, eq=False)
class DrawnShares:
    """What the draws say of every parameter, in the order of the space."""

    names: tuple[str, ...]
    each: Reals  # (draws, parameters) share of each draw, corrected for the number of points
    agreed: Reals  # (parameters,) share of the target's mean density: what all draws have in common
    activity: Reals  # (parameters,) the part of all it tells that is being active at all, 0 to 1
    active_share: Reals  # (parameters,) the same as a share
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

    def interval(self, *, uneven: bool) -> tuple[Reals, Reals]:
        """(parameters,) Bounds of the share, 95 %: on its root, whose spread hardly hangs on its size."""
        roots = np.sqrt(np.maximum(self.each, 0.0))
        middle = roots.mean(axis=0)
        spread = roots.std(axis=0, ddof=1) if len(roots) > 1 else np.zeros_like(middle)
        widen = WIDEN_APART if uneven or self.inside else WIDEN
        off = np.hypot(widen * NORMAL * spread, DOUBT * middle)
        low, high = np.maximum(middle - off, 0.0) ** 2, (middle + off) ** 2
        return np.maximum(low - FINEST, 0.0), high + FINEST

    def deviation(self) -> Reals:
        """(parameters,) How far the draws' shares are apart, not widened for what models of all studies get wrong."""
        if len(self.each) < 2:
            return np.zeros(self.each.shape[1])
        found: Reals = self.each.std(axis=0, ddof=1)
        return np.maximum(found, FINEST / NORMAL)


def drawn_shares(
    drawn: Drawn, target: Span, region: Span, *, baseline: str = "region", children: Collection[str] = ()
) -> DrawnShares:
    """For one question that the points can tell.

    `children` are ranked by what their value does: that they have one is told by another parameter.
    """
    shelf = drawn.shelf()
    told = np.array([name in children for name in drawn.space])
    targets, regions = drawn.count(target, shelf), drawn.count(region, shelf)
    return measured(tuple(drawn.space), shelf, targets, regions, baseline, told, shared_points(drawn, target))


def shared_points(drawn: Drawn, target: Span) -> float:
    """How many points of the target two draws have in common, in the mean over all pairs of draws."""
    first, last = drawn.ends(target)
    often = np.bincount(drawn.order[:, first:last].ravel(), minlength=len(drawn)).astype(np.float64)
    return float((often * (often - 1.0)).sum()) / max(1, drawn.draws * (drawn.draws - 1))


def can_tell(drawn: Drawn, target: Span, region: Span) -> bool:
    """Whether there are points enough in the target, and in the rest of the region."""
    first, last = drawn.ends(target)
    begin, end = drawn.ends(region)
    return LEAST_POINTS <= last - first <= end - begin - LEAST_POINTS


def measured(
    names: tuple[str, ...],
    shelf: Shelf,
    targets: Counts,
    regions: Counts,
    baseline: str,
    told: Mask,
    shared: float = 0.0,
) -> DrawnShares:
    """From points by cell: (draws, cells) of the target, and of the region or (1, cells) if it is the same.

    told: (parameters,) those of which only the value counts. shared: points that targets have in common.
    """
    first = slice(int(shelf.starts[0]), int(shelf.starts[1]))  # every parameter has all points
    inside, rows = targets[:, first].sum(axis=1), regions[:, first].sum(axis=1)
    wanted, known = targets / inside[:, None], regions / rows[:, None]
    base = known if baseline == "region" else uniform_base(shelf, known)
    square = shelf.by_parameter(over(wanted**2, base))
    kept = shelf.of_blocks(over(shelf.by_block(wanted) ** 2, shelf.by_block(known)))
    odds = (inside / (rows - inside))[:, None]
    none = np.where(told, kept, 1.0)  # the square of a parameter that tells nothing of its own
    if baseline == "region":
        free = shelf.by_parameter((regions > 0).astype(np.float64))
        regimes = shelf.of_blocks((shelf.by_block(known) > 0).astype(np.float64))
        chance = (free - np.where(told, regimes, 1.0)) / (rows - 1.0)[:, None]
        each = (odds * (square - none) - chance) / np.maximum(1.0 - chance, 1e-9)
    else:
        noise = shelf.by_parameter(over(wanted, base))
        many = np.maximum(inside, 2)[:, None]
        each = odds * ((many * square - noise) / (many - 1.0) - none)
    divergence = np.maximum(square - 1.0, 1e-12)
    active = (kept - 1.0).mean(axis=0)
    activity = np.clip(np.where(active > 1e-12, active, 0.0) / divergence.mean(axis=0), 0.0, 1.0)
    part = float(np.mean(inside / rows))
    free = shelf.by_parameter((regions > 0).astype(np.float64)).mean(axis=0)
    regimes = shelf.of_blocks((shelf.by_block(known) > 0).astype(np.float64)).mean(axis=0)
    # Where targets share their points, so do they what chance put into cells.
    chances = shared / float(inside.mean()) ** 2 - (1.0 / float(rows.mean()) if baseline == "region" else 0.0)
    luck = (free - np.where(told, regimes, 1.0)) * max(0.0, chances)
    agreed = agreed_share(shelf, wanted, base, part, none.mean(axis=0) + luck)
    whole = np.maximum((odds * (square - 1.0)).mean(axis=0), 0.0)
    return DrawnShares(names, each, agreed, activity, whole * activity, part, inside=len(regions) > 1)


def agreed_share(shelf: Shelf, wanted: Reals, base: Reals, part: float, none: Reals) -> Reals:
    """(parameters,) From products of different draws only, so that their own noise does not enter."""
    draws = len(wanted)
    if draws < 2:
        return np.zeros(len(shelf.folds))
    products = (wanted.sum(axis=0) ** 2 - (wanted**2).sum(axis=0)) / (draws * (draws - 1))
    square = shelf.by_parameter(over(products, base.mean(axis=0))[None, :])[0]
    found: Reals = part / (1.0 - part) * (square - none)
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
