"""Two parameters and more at once: coarse cells of each, and target and region rows by the cells of every set.

A column becomes one byte a row. To count all pairs, two columns at a time share a byte, so that one count serves the
four pairs between two such bytes; the tables of single pairs are sums over theirs. A larger set's columns share two
bytes, half of them in each, so that the kernel that counts pairs counts sets too.
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
from pedanova.space.grid import Block, Grid, grid_of

Groups = NDArray[np.uint8]  # (cells + 2,) the coarse cell of every cell
MOST_GROUPS = 256  # codes have 8 bits
PIECE = 1 << 17  # rows coded and counted at a time: their codes stay in the cache
MOST_ENTRIES = 1 << 24  # of all tables of a piece
PARTS = 2  # in the target, elsewhere in the region
Names: TypeAlias = tuple[str, ...]
Codes: TypeAlias = NDArray[np.uint8]
Tables: TypeAlias = NDArray[np.int64]  # (pairs, parts, width, width), or (sets, parts, width ** order)
FillCodes = Callable[[slice, NDArray[np.uint8]], None]  # writes the coarse codes of some rows


@dataclass(frozen=True, slots=True, eq=False)
class SetTally:
    """Rows of all sets of so many parameters by coarse cells, in the order of ``itertools.combinations``."""

    groups: Mapping[str, Groups] = field(repr=False)
    order: int
    target: NDArray[Any] = field(repr=False)  # (sets, width, width, …) rows, or a mean number of points
    region: NDArray[Any] = field(repr=False)

    @property
    def sets(self) -> list[Names]:
        return list(combinations(self.groups, self.order))

    def cells(self) -> NDArray[np.int64]:
        """(order, width ** order) The coarse cell of each parameter."""
        return np.indices(self.target.shape[1:]).reshape(self.order, -1)


def width_of(groups: Mapping[str, Groups]) -> int:
    return max(int(group.max()) for group in groups.values()) + 1


def coarse_groups(grid: Grid, region: NDArray[np.int64], cells: int) -> Groups:
    """At most so many cells of about equal counts, besides those of missing and outside rows.

    Values that occur keep a cell of their own where they are few enough. Otherwise neighbours in
    order share cells; of categories the most frequent stay alone and the rest are one cell. Each
    domain of a conditional parameter has cells in proportion to its rows, one at the least.
    """
    groups = np.zeros(grid.width, dtype=np.int64)
    own, total = region[: grid.cells], int(region[: grid.cells].sum())
    few = np.count_nonzero(own) <= cells
    used = 0
    for block in grid.blocks:
        counts = own[block.start : block.stop]
        if counts.any():
            share = len(counts) if few else max(1, round(cells * int(counts.sum()) / total))
            placed = merged(counts, share, block)
            groups[block.start : block.stop] = used + placed
            used += int(placed.max()) + 1
    for cell in (grid.missing, grid.outside):
        if region[cell]:
            groups[cell] = used
            used += 1
    return np.minimum(groups, MOST_GROUPS - 1).astype(np.uint8)


def merged(counts: NDArray[np.int64], most: int, block: Block) -> NDArray[np.int64]:
    """(cells,) Groups from 0 up, none of them empty; cells without rows join one that has some."""
    full = np.flatnonzero(counts)
    if len(full) <= most:
        group = np.arange(len(full))
    elif block.ordered:
        middle = np.cumsum(counts[full]) - counts[full] / 2
        group = np.unique(np.floor(middle * most / counts.sum()), return_inverse=True)[1]
    else:
        place = np.empty(len(full), dtype=np.int64)
        place[np.argsort(-counts[full], kind="stable")] = np.arange(len(full))
        group = np.minimum(place, most - 1)
    nearest = np.clip(np.searchsorted(full, np.arange(len(counts)), side="right") - 1, 0, None)
    placed: NDArray[np.int64] = group[nearest]
    return placed


@dataclass(frozen=True, slots=True)
class Layout:
    """How parameters share bytes: `together` of them in each, every one below `width`."""

    names: tuple[str, ...]
    width: int
    together: int

    @property
    def bytes(self) -> int:
        """Two at the least: a table needs two axes."""
        return max(2, -(-len(self.names) // self.together))

    @property
    def side(self) -> int:
        return int(self.width**self.together)

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Of the tables: pairs of bytes, parts, codes, codes."""
        return self.bytes * (self.bytes - 1) // 2, PARTS, self.side, self.side


def tally_sets(
    observed: Observations, codes: Codes, groups: Mapping[str, Groups], order: int = 2, *, threads: int = 1
) -> SetTally:
    """Every set of so many parameters in `groups`; codes are 0 in the target, 1 in its region, 2 elsewhere."""
    width = width_of(groups)
    if not kernel.available() or width ** half(order) > MOST_GROUPS:
        counts = count_by_judge(observed, codes, groups, order, threads=threads)
    elif order == 2:
        counts = count_pairs(observed, codes, groups, threads=threads)
    else:
        counts = count_sets(observed, codes, groups, order, threads=threads)
    tables = counts.reshape(-1, PARTS, *[width] * order)
    return SetTally(groups, order, tables[:, 0], tables.sum(axis=1))


def count_pairs(observed: Observations, codes: Codes, groups: Mapping[str, Groups], *, threads: int = 1) -> Tables:
    """Every pair of the parameters in `groups`, by the kernel."""
    layout = layout_of(len(codes), tuple(groups), width_of(groups))
    fillers = [filler_of(observed, name, group) for name, group in groups.items()]

    def count(rows: slice) -> NDArray[np.uint32]:
        return count_piece(rows, codes[rows], fillers, layout)

    pieces = max(-(-len(codes) // PIECE), min(threads, len(codes) // (PIECE // 8)))
    work = chunks(len(codes), pieces=pieces)
    total: Any = 0
    for first in range(0, len(work), 4 * threads):  # so that few tables are held at once
        total = total + np.sum(
            spread(count, work[first : first + 4 * threads], threads=threads), axis=0, dtype=np.int64
        )
    return apart(total, layout)


def layout_of(rows: int, names: tuple[str, ...], width: int) -> Layout:
    """Two parameters to a byte where that fits, and saves more counting than its larger tables cost."""
    pairs = len(names) * (len(names) - 1) // 2
    shared = Layout(names, width, 2)
    entries = math.prod(shared.shape)
    worth = shared.side <= MOST_GROUPS and entries <= MOST_ENTRIES and rows * pairs > 15 * entries
    return shared if worth else Layout(names, width, 1)


def count_piece(rows: slice, codes: NDArray[np.uint8], fillers: list[FillCodes], layout: Layout) -> NDArray[np.uint32]:
    """(pairs of bytes, parts, width, width) of some rows."""
    parts, inside = codes, None
    if codes.max(initial=0) >= PARTS:
        inside = np.flatnonzero(codes < PARTS)
        parts = codes[inside]
    shared = np.zeros((layout.bytes, len(parts)), dtype=np.uint8)
    column = np.empty(len(codes), dtype=np.uint8)
    for i, fill in enumerate(fillers):
        fill(rows, column)
        byte = shared[i // layout.together]
        if i % layout.together:
            byte *= layout.width
        byte += column if inside is None else column[inside]
    tables = np.zeros(layout.shape, dtype=np.uint32)
    kernel.call("count_pairs", shared, parts, len(parts), layout.bytes, layout.side, PARTS, tables)
    return tables


def apart(tables: Tables, layout: Layout) -> Tables:
    """Tables of single pairs from tables of bytes that hold two parameters each."""
    if layout.together == 1:
        return tables
    width, count = layout.width, len(layout.names)
    split = tables.reshape(-1, PARTS, width, width, width, width)
    place = {pair: i for i, pair in enumerate(combinations(range(layout.bytes), 2))}
    result = np.zeros((count * (count - 1) // 2, PARTS, width, width), dtype=np.int64)
    for i, (one, two) in enumerate(combinations(range(count), 2)):
        first, second = one // 2, two // 2
        if first == second:  # both in one byte: any table of that byte knows them
            other = first - 1 if first else 1
            table = split[place[min(first, other), max(first, other)]]
            kept = (1, 2) if first < other else (3, 4)
        else:
            table = split[place[first, second]]
            kept = (axis_of(one, 1, count), axis_of(two, 3, count))
        result[i] = table.sum(axis=tuple(axis for axis in (1, 2, 3, 4) if axis not in kept))
    return result


def axis_of(parameter: int, axis: int, count: int) -> int:
    """A byte is first · width + second; one that a parameter has alone is just that parameter."""
    alone = parameter == count - 1 and parameter % 2 == 0
    return axis + 1 if parameter % 2 or alone else axis


def filler_of(observed: Observations, name: str, groups: Groups) -> FillCodes:
    """The quickest exact way to the coarse codes of this column."""
    grid = grid_of(observed.space[name])
    placed = placed_of(observed.columns[name], grid)
    if placed.lookup is None and grid.cell_of is not None:  # the kernel finds sorted positions
        groups = np.ascontiguousarray(groups[np.append(grid.cell_of, [grid.missing, grid.outside])])

    def fill(rows: slice, out: NDArray[np.uint8]) -> None:
        kernel.call("code_feature", placed.feature(rows), len(out), groups, out)

    return fill


def half(order: int) -> int:
    """So many columns of a set are in its first byte, the others in its second."""
    return -(-order // 2)


def count_by_judge(
    observed: Observations, codes: Codes, groups: Mapping[str, Groups], order: int = 2, *, threads: int = 1
) -> Tables:
    """Sets of any order in plain NumPy."""
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
    """Sets of more than two, by the kernel."""
    width, sets = width_of(groups), list(combinations(groups, order))
    fillers = {name: filler_of(observed, name, group) for name, group in groups.items()}

    def count(rows: slice) -> Tables:
        columns = {}
        inside = np.flatnonzero(codes[rows] < PARTS)
        for name, fill in fillers.items():
            column = np.empty(rows.stop - rows.start, dtype=np.uint8)
            fill(rows, column)
            columns[name] = column[inside]
        return np.stack([count_set([columns[name] for name in names], codes[rows][inside], width) for names in sets])

    total = np.zeros((len(sets), PARTS, width**order), dtype=np.int64)
    work = chunks(len(codes), pieces=max(-(-len(codes) // PIECE), 1))
    for first in range(0, len(work), 2 * threads):  # so that few tables are held at once
        for part in spread(count, work[first : first + 2 * threads], threads=threads):
            total += part
    return total


def count_set(columns: Sequence[Codes], parts: Codes, width: int) -> Tables:
    """(parts, width ** order) of some rows."""
    split = half(len(columns))
    side, other = width**split, width ** (len(columns) - split)
    shared = np.zeros((2, len(parts)), dtype=np.uint8)
    for byte, some in zip(shared, (columns[:split], columns[split:]), strict=True):
        for column in some:
            byte *= width
            byte += column
    tables = np.zeros((1, PARTS, side, side), dtype=np.uint32)
    kernel.call("count_pairs", shared, np.ascontiguousarray(parts), len(parts), 2, side, PARTS, tables)
    return tables[0, :, :, :other].reshape(PARTS, -1).astype(np.int64)
