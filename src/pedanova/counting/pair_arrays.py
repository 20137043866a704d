"""Columns in memory → rows of every two parameters by coarse cells.

A column becomes one byte a row. Two columns at a time then share a byte, so that one count serves
the four pairs between two such bytes; the tables of single pairs are sums over theirs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.base.kernel import library as kernel
from pedanova.base.threads import chunks, spread
from pedanova.counting.arrays import placed_of
from pedanova.counting.pairs import MOST_GROUPS, Groups, PairTally
from pedanova.data.column import cells_of
from pedanova.data.observations import Observations
from pedanova.space.grid import grid_of

PIECE = 1 << 17  # rows coded and counted at a time: their codes stay in the cache
MOST_ENTRIES = 1 << 24  # of all tables of a piece
PARTS = 2  # in the target, elsewhere in the region
Tables = NDArray[np.int64]  # (pairs, parts, width, width)
FillCodes = Callable[[slice, NDArray[np.uint8]], None]  # writes the coarse codes of some rows


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


def tally_pairs(
    observed: Observations, codes: NDArray[np.uint8], groups: Mapping[str, Groups], *, threads: int = 1
) -> PairTally:
    """Every pair of the parameters in `groups`; codes are 0 in the target, 1 in its region, 2 elsewhere."""
    names = tuple(groups)
    width = max(int(group.max()) for group in groups.values()) + 1
    count = count_by_kernel if kernel.available() else count_by_judge
    tables = count(observed, codes, groups, width, threads=threads)
    return PairTally(names, dict(groups), tables[:, 0], tables.sum(axis=1))


def count_by_judge(
    observed: Observations, codes: NDArray[np.uint8], groups: Mapping[str, Groups], width: int, *, threads: int = 1
) -> Tables:
    inside = codes < PARTS
    parts = codes[inside].astype(np.int64)
    coarse = {
        name: group[cells_of(observed.columns[name], grid_of(observed.space[name]))][inside].astype(np.int64)
        for name, group in groups.items()
    }

    def count(pair: tuple[str, str]) -> NDArray[np.int64]:
        flat = (parts * width + coarse[pair[0]]) * width + coarse[pair[1]]
        counted: NDArray[np.int64] = np.bincount(flat, minlength=PARTS * width**2)
        return counted.reshape(PARTS, width, width)

    return np.array(spread(count, combinations(groups, 2), threads=threads), dtype=np.int64)


def count_by_kernel(
    observed: Observations, codes: NDArray[np.uint8], groups: Mapping[str, Groups], width: int, *, threads: int = 1
) -> Tables:
    layout = layout_of(len(codes), tuple(groups), width)
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
    kernel.count_pairs(shared, parts, layout.side, tables)
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
        kernel.code_feature(placed, rows, groups, out)

    return fill
