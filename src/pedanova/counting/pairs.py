"""Count target and region rows in coarse grids of two or more parameters.

For every row and column, one byte stores the number of the coarse cell. The kernel counts how often each pair of
bytes occurs. For sets of three or more parameters, one byte stores the cells of several columns.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.base.kernel import library as kernel
from pedanova.base.threads import chunks, spread
from pedanova.counting.arrays import placed_of
from pedanova.data.column import cells_of
from pedanova.data.observations import Observations
from pedanova.space.grid import Block, Grid, grid_of, quantile_groups

Groups = NDArray[np.uint8]  # (cells + 2,) the coarse cell of every cell
MOST_GROUPS = 256  # codes have 8 bits
PIECE = 1 << 17  # rows that are coded and counted at a time, so that their codes stay in the cache
PARTS = 2  # rows in the target, and elsewhere in the region
Names: TypeAlias = tuple[str, ...]
Codes: TypeAlias = NDArray[np.uint8]
Tables: TypeAlias = NDArray[np.int64]  # (sets, parts, width ** order)
FillCodes = Callable[[slice, NDArray[np.uint8]], None]  # writes the coarse codes of some rows


@dataclass(frozen=True, slots=True, eq=False)
class SetTally:
    """The number of rows in each coarse cell, for every set of parameters; a set contains `order` parameters."""

    groups: Mapping[str, Groups] = field(repr=False)
    order: int
    target: NDArray[Any] = field(repr=False)  # (sets, width, width, …) rows, or a mean number of points
    region: NDArray[Any] = field(repr=False)
    grain: float = 1.0  # the variance of one point's part in the target, as a fraction of that of rows (0 or 1)

    @property
    def sets(self) -> list[Names]:
        return list(combinations(self.groups, self.order))

    def cells(self) -> NDArray[np.int64]:
        return np.indices(self.target.shape[1:]).reshape(self.order, -1)


def width_of(groups: Mapping[str, Groups]) -> int:
    return max(int(group.max()) for group in groups.values()) + 1


def coarse_groups(grid: Grid, region: NDArray[np.int64], cells: int) -> Groups:
    """Merge the cells of a grid into at most about `cells` groups with similar numbers of rows.

    The result gives the group of each cell. If few cells have rows, these cells are the groups. Otherwise neighbouring
    cells, or rare categories, are merged. Missing values have a separate group, and so have values outside the space.
    Every domain of a `Switch` gets groups in proportion to its rows.
    """
    groups = np.zeros(grid.width, dtype=np.int64)
    own, total = region[: grid.cells], int(region[: grid.cells].sum())
    few = np.count_nonzero(own) <= cells
    used = 0
    for block in grid.blocks:
        counts = own[block.start : block.stop]
        if counts.any():
            share = len(counts) if few else max(1, round(cells * int(counts.sum()) / total))
            placed = merged_cells(counts, share, block)
            groups[block.start : block.stop] = used + placed
            used += int(placed.max()) + 1
    for cell in (grid.missing, grid.outside):
        if region[cell]:
            groups[cell] = used
            used += 1
    return np.minimum(groups, MOST_GROUPS - 1).astype(np.uint8)


def refined(coarse: Groups, fine: Groups, region: NDArray[np.int64]) -> tuple[Groups, NDArray[np.int64]]:
    """The groups of `fine`, divided where they lie in two groups of `coarse`, and the coarse group of each.

    Cells without rows join a neighbour.
    """
    both = coarse.astype(np.int64) * MOST_GROUPS + fine
    there = np.unique(both[region > 0])
    groups = np.clip(np.searchsorted(there, both, side="right") - 1, 0, None)
    return groups.astype(np.uint8), there // MOST_GROUPS


def merged_pairs(tally: SetTally, coarse: Mapping[str, NDArray[np.int64]]) -> SetTally:
    """The same pairs with fewer cells; `coarse` gives the new cell of each cell, for every parameter."""
    hot = np.zeros((len(coarse), width_of(tally.groups), max(int(own.max()) for own in coarse.values()) + 1))
    for own, to in zip(hot, coarse.values(), strict=True):
        own[np.arange(len(to)), to] = 1.0
    first, second = (hot[column] for column in np.triu_indices(len(hot), 1))
    target, region = (np.swapaxes(first, 1, 2) @ part @ second for part in (tally.target, tally.region))
    groups = {name: to[tally.groups[name]].astype(np.uint8) for name, to in coarse.items()}
    return SetTally(groups, 2, target, region, tally.grain)


def merged_cells(counts: NDArray[np.int64], most: int, block: Block) -> NDArray[np.int64]:
    """The group of each cell, numbered from 0, as an array (cells,). A cell without rows joins a neighbouring group."""
    full = np.flatnonzero(counts)
    if len(full) <= most:
        group = np.arange(len(full))
    elif block.ordered:
        group = np.unique(quantile_groups(counts[full], most), return_inverse=True)[1]
    else:
        place = np.empty(len(full), dtype=np.int64)
        place[np.argsort(-counts[full], kind="stable")] = np.arange(len(full))
        group = np.minimum(place, most - 1)
    nearest = np.clip(np.searchsorted(full, np.arange(len(counts)), side="right") - 1, 0, None)
    return np.asarray(group[nearest])


def tally_sets(
    observed: Observations, codes: Codes, groups: Mapping[str, Groups], order: int = 2, *, threads: int = 1
) -> SetTally:
    """Count rows for every set of `order` parameters; the `codes` are 0 in the target, 1 elsewhere in the region."""
    width = width_of(groups)
    if not kernel.available() or width ** -(-order // 2) > MOST_GROUPS:
        counts = count_by_judge(observed, codes, groups, order, threads=threads)
    else:
        counts = count_sets(observed, codes, groups, order, threads=threads)
    tables = counts.reshape(-1, PARTS, *[width] * order)
    return SetTally(groups, order, tables[:, 0], tables.sum(axis=1))


def coarse_columns(rows: slice, codes: Codes, fillers: Sequence[FillCodes]) -> tuple[Codes, list[Codes]]:
    """The codes and the coarse cells of those rows in the slice `rows` that belong to the region."""
    parts = codes[rows]
    inside = None if parts.max(initial=0) < PARTS else np.flatnonzero(parts < PARTS)
    columns = []
    for fill in fillers:
        column = np.empty(len(parts), dtype=np.uint8)
        fill(rows, column)
        columns.append(column if inside is None else column[inside])
    return parts if inside is None else parts[inside], columns


def packed(columns: Sequence[Codes], width: int) -> Codes:
    byte = columns[0]
    for column in columns[1:]:
        byte = byte * np.uint8(width)
        byte += column
    return byte


def count_bytes(shared: Sequence[Codes], parts: Codes, side: int) -> NDArray[np.uint32]:
    """Count rows for every pair of byte columns: an array (pairs, target or rest, first value, second value)."""
    tables = np.zeros((math.comb(len(shared), 2), PARTS, side, side), dtype=np.uint32)
    kernel.call("count_pairs", np.stack(shared), parts, len(parts), len(shared), side, PARTS, tables)
    return tables


def added_pieces(count: Callable[[slice], Any], rows: int, pieces: int, threads: int) -> Tables:
    """Count the rows slice by slice and add the tables; only a few tables are in memory at the same time."""
    work = chunks(rows, pieces=pieces)
    total: Any = 0
    for first in range(0, len(work), 2 * threads):
        tables = spread(count, work[first : first + 2 * threads], threads=threads)
        total = total + np.sum(tables, axis=0, dtype=np.int64)
    return np.asarray(total)


def filler_of(observed: Observations, name: str, groups: Groups) -> FillCodes:
    """A function that writes the coarse cells of a parameter for a slice of rows."""
    grid = grid_of(observed.space[name])
    placed = placed_of(observed.columns[name], grid)
    if placed.lookup is None and grid.cell_of is not None:  # the kernel finds sorted positions
        groups = np.ascontiguousarray(groups[np.append(grid.cell_of, [grid.missing, grid.outside])])

    def fill(rows: slice, out: NDArray[np.uint8]) -> None:
        kernel.call("code_feature", placed.feature(rows), len(out), groups, out)

    return fill


def count_by_judge(
    observed: Observations, codes: Codes, groups: Mapping[str, Groups], order: int = 2, *, threads: int = 1
) -> Tables:
    inside, width = codes < PARTS, width_of(groups)
    coarse = {
        name: group[cells_of(observed.columns[name], grid_of(observed.space[name]))][inside].astype(np.int64)
        for name, group in groups.items()
    }

    def count(names: Names) -> NDArray[np.int64]:
        flat = codes[inside].astype(np.int64)
        for name in names:
            flat = flat * width + coarse[name]
        return np.bincount(flat, minlength=PARTS * width ** len(names)).reshape(PARTS, -1)

    return np.array(spread(count, list(combinations(groups, order)), threads=threads), dtype=np.int64)


def count_sets(
    observed: Observations, codes: Codes, groups: Mapping[str, Groups], order: int = 2, *, threads: int = 1
) -> Tables:
    width, sets, split = width_of(groups), list(combinations(groups, order)), -(-order // 2)
    fillers = [filler_of(observed, name, group) for name, group in groups.items()]
    pieces = max(-(-len(codes) // PIECE), min(threads, len(codes) // (PIECE // 8)))

    def count(rows: slice) -> NDArray[Any]:
        parts, columns = coarse_columns(rows, codes, fillers)
        if order == 2:
            return count_bytes(columns, parts, width).reshape(len(sets), PARTS, -1)
        by_name = dict(zip(groups, columns, strict=True))
        tables = []
        for names in sets:
            one = [by_name[name] for name in names]
            counts = count_bytes([packed(one[:split], width), packed(one[split:], width)], parts, width**split)
            tables.append(counts[0, :, :, : width ** (order - split)].reshape(PARTS, -1))
        return np.stack(tables)

    return added_pieces(count, len(codes), pieces, threads)
