"""The rows as cells and ranks, in an order of their own: what models and p-values are made from.

They must not see how a table happens to be written. Columns are taken by name, categories by how
good their rows are, rows by rank and then by their own content. Any order of rows and columns, any
names of the categories and any monotone transform of the objective then give the same to the last bit.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.counting.few_rows import FewRows, Indices
from pedanova.space.grid import Cells, Grid, Reals, grid_of
from pedanova.space.parameters import Space

Places: TypeAlias = NDArray[np.uint16]  # (rows, parameters) cells, categories in an order of their own


@dataclass(frozen=True, slots=True, eq=False)
class Arrangement:
    """The parameters of a space in a fixed order, and the cells of each in one too."""

    space: Space
    names: tuple[str, ...]  # by name; those that vary come first
    varying: int  # so many of them vary
    orders: tuple[Places, ...]  # (width,) each: cell of the grid → place
    grids: tuple[Grid, ...]

    def places(self, cells: Mapping[str, Cells]) -> Places:
        """(rows, parameters)"""
        columns = [order[cells[name]] for name, order in zip(self.names, self.orders, strict=True)]
        return np.stack(columns, axis=1)

    def cells(self, places: Places) -> dict[str, Cells]:
        """The inverse of `places`, by name in the order of the space."""
        result = {name: self.back(j)[places[:, j]] for j, name in enumerate(self.names)}
        return {name: result[name] for name in self.space}

    def back(self, j: int) -> Cells:
        """(width,) place → cell of the grid, for one parameter."""
        return np.argsort(self.orders[j]).astype(np.int32)


@dataclass(frozen=True, eq=False)
class RankedRows:
    """Every row that counts, best first."""

    arrangement: Arrangement
    places: Places  # (rows, parameters)
    keys: NDArray[np.uint64]  # (rows,) the same for equal configurations, and of no visible order
    signed: Reals  # (rows,) the objective, lower is better
    rows: Indices  # (rows,) which row of the table each one is
    trials: Reals | None  # (rows,) number of the trial, where the order of the trials is known
    designed: bool = False  # some were proposed by `next_trials`

    def __len__(self) -> int:
        return len(self.places)

    @cached_property
    def distinct(self) -> tuple[Indices, Indices, Indices]:
        """The first row of every configuration, (rows,) the configuration of each row, and the rows of each."""
        return np.unique(self.keys, return_index=True, return_inverse=True, return_counts=True)[1:]

    def without(self, names: Collection[str]) -> RankedRows:
        """The same rows, these parameters put behind those that vary."""
        own = self.arrangement
        varying = [j for j in range(own.varying) if own.names[j] not in names]
        order = [*varying, *(j for j in range(len(own.names)) if j not in set(varying))]
        arrangement = Arrangement(
            own.space,
            tuple(own.names[j] for j in order),
            len(varying),
            tuple(own.orders[j] for j in order),
            tuple(own.grids[j] for j in order),
        )
        return replace(self, arrangement=arrangement, places=self.places[:, order])


def ranked_rows(space: Space, few: FewRows) -> RankedRows:
    """These rows; one without a number as objective counts as the worst."""
    rows = ranked(space, few.cells, few.signed, rows=few.rows, trials=few.order, exact=few.exact)
    return replace(rows, designed=few.designed)


def ranked(
    space: Space,
    cells: Mapping[str, Cells],
    signed: Reals,
    *,
    rows: Indices,
    trials: Reals | None,
    exact: Mapping[str, NDArray[np.uint64]] | None = None,
) -> RankedRows:
    """From cells of the grids and an objective of which less is better.

    `exact` tells values of one cell apart, for parameters whose cells are ranges.
    """
    arrangement = arranged(space, cells, doubled_ranks(signed))
    places = arrangement.places(cells)
    keys = keys_of(arrangement, places, exact or {})
    last = np.zeros(len(rows)) if trials is None else trials
    order = np.lexsort((last, keys, signed))
    return RankedRows(
        arrangement=arrangement,
        places=places[order],
        keys=keys[order],
        signed=signed[order],
        rows=rows[order],
        trials=None if trials is None else trials[order],
    )


def arranged(space: Space, cells: Mapping[str, Cells], ranks: Indices) -> Arrangement:
    """Parameters by name, those that vary first; categories by the mean rank of their rows."""
    varying = varying_names(space, cells)
    fixed = sorted(name for name in space if name not in set(varying))
    names = (*varying, *fixed)
    grids = tuple(grid_of(space[name]) for name in names)
    orders = tuple(order_of(grid, cells[name], ranks) for name, grid in zip(names, grids, strict=True))
    return Arrangement(space, names, len(varying), orders, grids)


def varying_names(space: Space, cells: Mapping[str, Cells]) -> tuple[str, ...]:
    """Parameters with more than one cell, by name."""
    return tuple(sorted(name for name in space if np.any(cells[name] != cells[name][:1])))


def order_of(grid: Grid, cells: Cells, ranks: Indices) -> Places:
    """(width,) The place of every cell: its own, but categories by how good their rows are."""
    order = np.arange(grid.width, dtype=np.uint16)
    for block in grid.blocks:
        if block.ordered:
            continue
        counts, sums, squares = (
            np.bincount(cells, weights=weights, minlength=grid.width)[block.cells]
            for weights in (None, ranks, ranks.astype(np.float64) ** 2)
        )
        means = np.where(counts > 0, sums / np.maximum(counts, 1), np.inf)
        best_first = np.lexsort((squares, counts, means))
        order[block.start + best_first] = np.arange(block.start, block.stop)
    return order


def regimes_of(grid: Grid, cells: Places) -> Indices:
    """The block of every cell; missing values and values outside the space come after the blocks."""
    starts = [*(block.start for block in grid.blocks), grid.missing, grid.outside]
    return np.searchsorted(starts, cells, side="right") - 1


def keys_of(arrangement: Arrangement, places: Places, exact: Mapping[str, NDArray[np.uint64]]) -> NDArray[np.uint64]:
    """(rows,) A number for each configuration: the same for equal ones, and of no visible order."""
    rng = np.random.default_rng(0xC0F)
    keys = np.zeros(len(places), dtype=np.uint64)
    for j, name in enumerate(arrangement.names[: arrangement.varying]):
        inner, outer = rng.integers(0, 2**64, size=2, dtype=np.uint64) | np.uint64(1)
        own = places[:, j].astype(np.uint64) + np.uint64(1)
        if name in exact:
            there = places[:, j] < arrangement.grids[j].cells
            own = own + np.where(there, mixed(exact[name] * inner), np.uint64(0))
        keys += own * outer
    return mixed(keys)


def mixed(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Near numbers far apart."""
    turned = (keys ^ (keys >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return turned ^ (turned >> np.uint64(32))


def mid_ranks(values: NDArray[Any]) -> Reals:
    """1 for the smallest."""
    return doubled_ranks(values) / 2.0


def doubled_ranks(values: NDArray[Any]) -> Indices:
    """Twice the same: a whole number, so that sums of them are exact."""
    places, counts = codes_of(values)
    ends: Indices = np.cumsum(counts)
    return (2 * ends - counts + 1)[places]


def codes_of(values: NDArray[Any]) -> tuple[Indices, Indices]:
    """(values,) The number of every value among the distinct ones, and how often each occurs.

    Whole numbers are cells or counts: they are counted and not sorted.
    """
    if values.dtype.kind == "f":
        return np.unique(values, return_inverse=True, return_counts=True)[1:]
    counts = np.bincount(values)
    there = counts > 0
    return (np.cumsum(there) - 1)[values], counts[there]
