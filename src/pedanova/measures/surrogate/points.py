"""Uniform points of a search space, which fill every parameter evenly and know nothing of each other elsewhere."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from pedanova.data.column import Column, equals_any
from pedanova.measures.chance.ranked_rows import Arrangement, Places, Reals
from pedanova.space.grid import Cells, Grid
from pedanova.space.parameters import Parameter, Switch, parents_first, parents_of

SIDE = 101  # a prime: as many columns, and one more, are even on every plane of two
POINTS = SIDE**2
FEWER_POINTS = 43**2  # of a quicker model
EVEN = 1e-9  # relative: parts of a prior that differ by less are the same


def uniform_points(arrangement: Arrangement, seen: Places, *, count: int = POINTS, seed: int = 0) -> Places:
    """(points, parameters) Parents decide over their children.

    Where no parameter of the space decides whether another one has a value (or which of several
    domains), it has one as often as in the rows `seen`.
    """
    index = {name: j for j, name in enumerate(arrangement.names)}
    places = np.empty((count, len(index)), dtype=np.uint16)
    labels: dict[str, Column] = {}
    parents = {parent for parameter in arrangement.space.values() for parent in parents_of(parameter)}
    for name in parents_first(arrangement.space):
        j = index[name]
        even = even_column(j, count, seed)
        grid, parameter = arrangement.grids[j], arrangement.space[name]
        regimes = decided_regimes(parameter, grid, labels, count)
        if regimes is None:
            regimes, even = drawn_regimes(grid, seen[:, j], even)
        places[:, j] = spread_inside(grid, regimes, even)
        if name in parents:
            labels[name] = labelled(arrangement, j, places[:, j])
    return places


@lru_cache(maxsize=128)
def even_column(j: int, count: int, seed: int) -> Reals:
    """One point in each of so many even parts of 0 to 1, every two columns even on their plane too.

    An orthogonal array, its symbols in random order (Tang's designs). A lattice would be as even, but ties three
    parameters together by small whole numbers: what two of them do together would then be seen in the third.
    """
    rng = np.random.default_rng([seed, 0xD07, j])
    side = math.isqrt(count)
    if j > side or side * side != count:  # more columns than the array has: even by itself alone
        places = rng.permutation(count)
    else:
        row, column = np.divmod(np.arange(count), side)
        symbols, within = ((column + j * row) % side, row) if j < side else (row, column)
        parts = rng.permutation(side)[:, None] * side
        # The points of a symbol share its part in random order.
        places = (parts + rng.permuted(np.tile(np.arange(side), (side, 1)), axis=1))[symbols, within]
    even: Reals = (places + rng.random(count)) / count
    even.flags.writeable = False
    return even


def decided_regimes(parameter: Parameter, grid: Grid, labels: dict[str, Column], count: int) -> Cells | None:
    """(points,) The block of every point, as its parents decide it; None where they cannot."""
    absent = len(grid.blocks)
    if isinstance(parameter, Switch) and parameter.by in labels:
        regimes = np.full(count, absent, dtype=np.int32)
        for i, domain in enumerate(parameter.regimes):
            values = tuple(value for value, other in parameter.domains if other == domain)
            regimes[equals_any(labels[parameter.by], values)] = i
        return regimes
    if parameter.when and all(parent in labels for parent, _ in parameter.when):
        active = np.ones(count, dtype=bool)
        for parent, values in parameter.when:
            active &= equals_any(labels[parent], values)
        return np.where(active, 0, absent).astype(np.int32)
    return None


def drawn_regimes(grid: Grid, seen: Places, even: Reals) -> tuple[Cells, Reals]:
    """Blocks as often as seen, and how far each point lies in its own; rows outside the space are left out."""
    starts = [*(block.start for block in grid.blocks), grid.missing]
    known = seen[seen < grid.outside]
    regimes = np.searchsorted(starts, known, side="right") - 1
    parts = np.bincount(regimes, minlength=len(starts)) / max(1, len(known))
    if parts[0] == 1.0 or len(known) == 0:
        return np.zeros(len(even), dtype=np.int32), even
    ends = np.cumsum(parts)
    chosen = np.minimum(np.searchsorted(ends, even, side="right"), int(np.flatnonzero(parts)[-1]))
    inside = (even - (ends - parts)[chosen]) / np.where(parts > 0, parts, 1.0)[chosen]
    return chosen.astype(np.int32), np.clip(inside, 0.0, np.nextafter(1.0, 0.0))


def spread_inside(grid: Grid, regimes: Cells, even: Reals) -> Cells:
    """A cell in the block of every point, by the prior."""
    cells = np.full(len(regimes), grid.missing, dtype=np.int32)
    for i, block in enumerate(grid.blocks):
        here = np.flatnonzero(regimes == i)
        prior = grid.prior[block.start : block.stop]
        if prior.max() - prior.min() <= EVEN * prior.max():
            places = (even[here] * len(prior)).astype(np.int64)
        else:
            ends = np.cumsum(prior)
            places = np.searchsorted(ends / ends[-1], even[here], side="right")
        cells[here] = block.start + np.minimum(places, len(prior) - 1)
    return cells


def labelled(arrangement: Arrangement, j: int, places: Places) -> Column:
    """A parent as a column of values, for the conditions of its children."""
    grid, cells = arrangement.grids[j], arrangement.back(j)[places]
    codes = np.where(cells < grid.cells, cells, -1).astype(np.int32)
    return Column(arrangement.names[j], codes, tuple(grid.centres()))
