"""How much likelier good rows are at each value than rows at all: what one study tells of one parameter.

A lift speaks of values and not of how they were sampled or on which scale, so that lifts of studies with other
samplers, bounds and scales can be put together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.measures.bins import bins_of
from pedanova.measures.densities import Densities
from pedanova.measures.drawing import lattice_parts
from pedanova.space.grid import Grid, grid_of
from pedanova.space.parameters import Domain, Float, Int, Parameter

Reals: TypeAlias = NDArray[np.float64]
Pool: TypeAlias = Literal["geometric", "mean"]
PSEUDO_ROWS = 1.0  # rows of target and region alike, spread evenly: where nobody looked the lift is 1


def own_lift(density: Densities) -> Reals:
    """(cells,) Of the study's own grid; where all rows stand on few values, a value speaks for what is nearest."""
    rows = max(1.0, density.basis.rows[0])
    bins = bins_of(density.parameter, density.basis.region)
    if bins.apart:
        target, region = lattice_parts(density.basis, bins, density.target, density.region)
        even = np.full(len(bins), 1.0 / len(bins))
        return _ratio(target, region, even, rows)[bins.groups]
    return _ratio(density.target, density.region, density.uniform, rows)


def _ratio(target: Reals, region: Reals, even: Reals, rows: float) -> Reals:
    shared = PSEUDO_ROWS * even
    above, below = rows * target + shared, rows * region + shared
    return np.divide(above, below, out=np.ones_like(above), where=below > 0)


def carried(lift: Reals, own: Parameter, common: Domain) -> Reals:
    """(cells,) On the grid that studies share, 1 where this one has no values; over a uniform draw the mean is 1."""
    grid = grid_of(common)
    cells = cells_at(grid_of(own), grid)
    known = cells >= 0
    found = np.where(known, lift[np.maximum(cells, 0)], 1.0)
    inside = float(grid.prior[known].sum())
    told = float(grid.prior[known] @ found[known])
    if told > 0:
        found[known] *= inside / told
    return found


def cells_at(own: Grid, at: Grid) -> NDArray[np.int64]:
    """(cells,) For each cell of `at`, the cell of another grid that holds its middle; -1 where there is none."""
    if not isinstance(own.parameter, Float | Int):
        cells = own.match(tuple(at.centres())).astype(np.int64)
        return np.where(cells < own.cells, cells, -1)
    edges = own.edges if own.edges is not None else np.empty(0)
    values = np.array(at.centres(), dtype=np.float64)
    cells = np.searchsorted(edges, values, side="right") - 1
    return np.where((values >= edges[0]) & (values <= edges[-1]), np.clip(cells, 0, own.cells - 1), -1)


def pooled(lifts: Sequence[Reals], uniform: Reals, pool: Pool, strength: float) -> Reals:
    """(cells,) One lift for many studies, each of the same weight; its mean over a uniform draw is one.

    The geometric mean holds what studies agree on: a value that is bad in some of them counts for less than the
    plain mean would have it. `strength` below one draws it towards no prior at all.
    """
    if not len(lifts):
        return np.ones_like(uniform)
    return from_mean(as_summed(np.stack(lifts), pool).mean(axis=0), uniform, pool, strength)


def as_summed(lifts: Reals, pool: Pool) -> Reals:
    """What is averaged: lifts, or their logarithms."""
    summed: Reals = np.log(lifts) if pool == "geometric" else lifts
    return summed


def from_mean(mean: Reals, uniform: Reals, pool: Pool, strength: float) -> Reals:
    """(…, cells) The lift that a mean of `as_summed` stands for."""
    found = (np.exp(mean) if pool == "geometric" else np.maximum(mean, 0.0)) ** strength
    scaled: Reals = found / (found @ uniform)[..., None]
    return scaled


def without_each(lifts: Reals, uniform: Reals, pool: Pool, strength: float) -> Reals:
    """(studies, cells) For every study the pooled lift of all others; 1 where there are none."""
    if len(lifts) < 2:
        return np.ones_like(lifts)
    summed = as_summed(lifts, pool)
    return from_mean((summed.sum(axis=0) - summed) / (len(lifts) - 1), uniform, pool, strength)
