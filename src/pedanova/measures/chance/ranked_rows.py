"""Rank the rows and put the table into a canonical order, for models and p-values.

Results must not depend on how a table is written. Columns are sorted by name, categories by the mean rank of their
rows, and rows by rank and then by content. So results are exactly the same if rows or columns are reordered, if
categories are renamed, or if a monotone function is applied to the objective.
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

Places: TypeAlias = NDArray[np.uint16]  # (rows, parameters) cells, with categories in their canonical order


@dataclass(frozen=True, slots=True, eq=False)
class Arrangement:
    """A canonical order of the parameters of a space, and a canonical order of the cells of each parameter."""

    space: Space
    names: tuple[str, ...]  # sorted; parameters that vary come first
    varying: int  # the number of parameters that vary
    orders: tuple[Places, ...]  # (width,) each: cell of the grid → place
    grids: tuple[Grid, ...]

    def places(self, cells: Mapping[str, Cells]) -> Places:
        """(rows, parameters) For each row, the position of its cell in the canonical order."""
        columns = [order[cells[name]] for name, order in zip(self.names, self.orders, strict=True)]
        return np.stack(columns, axis=1)

    def cells(self, places: Places) -> dict[str, Cells]:
        """The inverse of `places`: the grid cells by parameter name, in the order of the space."""
        result = {name: self.back(j)[places[:, j]] for j, name in enumerate(self.names)}
        return {name: result[name] for name in self.space}

    def back(self, j: int) -> Cells:
        """(width,) The grid cell at each position of parameter `j`: the inverse of ``orders[j]``."""
        return np.argsort(self.orders[j]).astype(np.int32)


@dataclass(frozen=True, eq=False)
class RankedRows:
    """The rows with a valid objective and configuration, from best to worst."""

    arrangement: Arrangement
    places: Places  # (rows, parameters)
    keys: NDArray[np.uint64]  # (rows,) equal for equal configurations, in arbitrary order
    signed: Reals  # (rows,) the objective, lower is better
    rows: Indices  # (rows,) which row of the table each one is
    trials: Reals | None  # (rows,) number of the trial, where the order of the trials is known
    designed: bool = False  # whether some trials were proposed by `next_trials`

    def __len__(self) -> int:
        return len(self.places)

    @cached_property
    def distinct(self) -> tuple[Indices, Indices, Indices]:
        """The first row of each configuration, the configuration of each row, the number of rows per configuration."""
        return np.unique(self.keys, return_index=True, return_inverse=True, return_counts=True)[1:]

    def without(self, names: Collection[str]) -> RankedRows:
        """The same rows, with the parameters `names` treated as if they did not vary."""
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
    """Rank the rows; a row whose objective is not a number is ranked last."""
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
    """Rank rows by the objective `signed`, where lower is better; `cells` has the grid cell of each row, by parameter.

    If the cells of a parameter contain several values, `exact` has an integer key for the value of every row.
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
    """Sort varying parameters by name, then constant ones; sort categories by the mean rank of their rows."""
    varying = varying_names(space, cells)
    fixed = sorted(name for name in space if name not in set(varying))
    names = (*varying, *fixed)
    grids = tuple(grid_of(space[name]) for name in names)
    orders = tuple(order_of(grid, cells[name], ranks) for name, grid in zip(names, grids, strict=True))
    return Arrangement(space, names, len(varying), orders, grids)


def varying_names(space: Space, cells: Mapping[str, Cells]) -> tuple[str, ...]:
    """The sorted names of the parameters whose rows lie in more than one cell."""
    return tuple(sorted(name for name in space if np.any(cells[name] != cells[name][:1])))


def order_of(grid: Grid, cells: Cells, ranks: Indices) -> Places:
    """(width,) The canonical position of each cell; only categories are reordered, by the mean rank of their rows."""
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
    """The index of each cell's block (domain); the cells for missing and outside values get the next two indices."""
    starts = [*(block.start for block in grid.blocks), grid.missing, grid.outside]
    return np.searchsorted(starts, cells, side="right") - 1


def keys_of(arrangement: Arrangement, places: Places, exact: Mapping[str, NDArray[np.uint64]]) -> NDArray[np.uint64]:
    """(rows,) A hash of the configuration of each row; the order of the hashes has no meaning."""
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
    """Hash integer keys, so that similar keys get very different values."""
    turned = (keys ^ (keys >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return turned ^ (turned >> np.uint64(32))


def mid_ranks(values: NDArray[Any]) -> Reals:
    """The rank of each value, 1 for the smallest; tied values get their mean rank."""
    return doubled_ranks(values) / 2.0


def doubled_ranks(values: NDArray[Any]) -> Indices:
    """Twice the mid-ranks: whole numbers, so that their sums are exact."""
    places, counts = codes_of(values)
    ends: Indices = np.cumsum(counts)
    return (2 * ends - counts + 1)[places]


def codes_of(values: NDArray[Any]) -> tuple[Indices, Indices]:
    """The index of each value among the sorted distinct values, and how often each distinct value occurs.

    Integers are assumed to be small, so they are counted instead of sorted.
    """
    if values.dtype.kind == "f":
        return np.unique(values, return_inverse=True, return_counts=True)[1:]
    counts = np.bincount(values)
    there = counts > 0
    return (np.cumsum(there) - 1)[values], counts[there]
