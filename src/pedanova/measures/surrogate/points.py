"""Uniform points of a search space: a lattice that fills every parameter evenly, and pairs nearly so."""

from __future__ import annotations

import numpy as np

from pedanova.data.cells import equals_any
from pedanova.data.column import Column
from pedanova.measures.chance.ranked_rows import Arrangement, Places, Reals
from pedanova.space.grid import Cells, Grid
from pedanova.space.parameters import Parameter, Switch, parents_first, parents_of

POINTS = 8191  # a prime
FEWER_POINTS = 2039  # of a quicker model; a prime too
FEW_DIMENSIONS = 40
# Of Korobov lattices, for up to 40 dimensions and for up to 100: those whose points keep apart best on every plane of
# two parameters.
GENERATORS = {POINTS: (2173, 2105), FEWER_POINTS: (624, 916)}


def uniform_points(arrangement: Arrangement, seen: Places, *, count: int = POINTS, seed: int = 0) -> Places:
    """(points, parameters) Parents decide over their children.

    Where no parameter of the space decides whether another one has a value (or which of several
    domains), it has one as often as in the rows `seen`.
    """
    rng = np.random.default_rng([seed, 0xD07])
    index = {name: j for j, name in enumerate(arrangement.names)}
    shifts = rng.random(len(index))
    places = np.empty((count, len(index)), dtype=np.uint16)
    labels: dict[str, Column] = {}
    for name in parents_first(arrangement.space):
        j = index[name]
        even = lattice_column(j, count, float(shifts[j]), dimensions=len(index))
        grid, parameter = arrangement.grids[j], arrangement.space[name]
        regimes = decided_regimes(parameter, grid, labels, count)
        if regimes is None:
            regimes, even = drawn_regimes(grid, seen[:, j], even)
        places[:, j] = spread_inside(grid, regimes, even)
        if any(name in parents_of(other) for other in arrangement.space.values()):
            labels[name] = labelled(arrangement, j, places[:, j])
    return places


def lattice_column(j: int, count: int, shift: float, *, dimensions: int) -> Reals:
    """One coordinate of the Korobov lattice, moved by a random shift."""
    few, many = GENERATORS.get(count, (int(0.382 * count) | 1,) * 2)
    step = pow(few if dimensions <= FEW_DIMENSIONS else many, j, count)
    even: Reals = (np.arange(count) * step % count / count + shift) % 1.0
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
        ends = np.cumsum(grid.prior[block.start : block.stop])
        places = np.searchsorted(ends / ends[-1], even[here], side="right")
        cells[here] = block.start + np.minimum(places, block.stop - block.start - 1)
    return cells


def labelled(arrangement: Arrangement, j: int, places: Places) -> Column:
    """A parent as a column of values, for the conditions of its children."""
    grid, cells = arrangement.grids[j], arrangement.back(j)[places]
    codes = np.where(cells < grid.cells, cells, -1).astype(np.int32)
    return Column(arrangement.names[j], codes, tuple(grid.centres()))
