"""Counts and sums by [level × cell], on a card.

A sum is a whole number of units of its level: no order of threads can change it, and no digit of a double is lost.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.scale.cuda.device import CardArray, blocks_for, fetched, here, kernel, launch, library
from pedanova.scale.cuda.order import ranks_of
from pedanova.scale.cuda.units import NONE, SUM_BITS, WIDE, WORDS, Units
from pedanova.space.grid import Grid

CHUNK = 1 << 20  # rows of which a block makes wide sums before it hands its table on
MOST_GROUPS = 4  # of levels, counted beside each other; beyond, rows go to the card's memory one by one
HALVING, EVEN, LOG, LOOKUP = range(4)  # ways to a cell
LEAST_GUESSED = 8  # boundaries; fewer are soon halved
OFF = 0.3  # cells that a guess may be off
NULL = np.uint64(0)  # no pointer
FULL, HALF = 1024, 512  # threads of a block
Counted = tuple[NDArray[np.int64], NDArray[np.float64]]


@dataclass(frozen=True, slots=True, eq=False)
class CardColumn:
    """One column on the card, its grid, and the way to its cells."""

    name: str
    grid: Grid
    values: Any
    missing: Any | None = None  # (rows,) bytes
    offset: int = 0
    lookup: NDArray[np.int32] | None = None  # whole numbers with a small range


@dataclass(frozen=True, slots=True, eq=False)
class CardRows:
    """Rows on the card: the level of each, and its objective."""

    codes: Any
    objective: Any | None = None


class Counter:
    """The tables of some columns, which fill on the card over one or many pieces of rows."""

    def __init__(self, grids: Sequence[Grid], levels: int, units: Units | None) -> None:
        cupy = library()
        self.levels, self.way = levels, NONE if units is None else units.way
        self.grids, self.words = list(grids), WORDS[self.way]
        self.ends = np.cumsum([0, *(levels * grid.width for grid in grids)]).tolist()
        held = cupy.zeros((1 + self.words) * self.ends[-1], dtype=np.int64)
        self.counts, self.sums = held[: self.ends[-1]], held[self.ends[-1] :] if self.words else held
        sizes = (0.0, np.inf) if units is None else units.sizes
        self.units = cupy.asarray(np.ones((1, 2)) if units is None else units.pairs())
        self.tail = self.units, np.float64(2.0**SUM_BITS), np.float64(sizes[0]), np.float64(sizes[1])

    def add(self, place: int, column: CardColumn, rows: CardRows) -> None:
        """Launch the counting of some rows of one column."""
        width, many = column.grid.width, len(rows.codes)
        values, way = CardArray.of(column.values), way_to(column)
        objective = CardArray.of(library().empty(1, dtype=np.float32) if not self.way else rows.objective)
        processors, shared = here()
        for_level = width * (4, 6, 20)[self.way] + 16
        together = (shared - way.room - 64) // for_level
        groups = -(-self.levels // together) if together > 0 else MOST_GROUPS + 1
        dense = values.dense and (not self.way or objective.dense)
        words = values.word, way.word, "u8" if rows.codes.dtype == np.uint8 else "u16", objective.word
        flags = str(self.way), "true" if dense else "false", str(way.guess), "true" if way.plain else "false"
        if groups > MOST_GROUPS:
            name, room, threads, groups, most = "count_large", 0, HALF, 1, 4 * processors
        else:
            room = way.room + -(-self.levels // groups) * for_level + 64
            threads = FULL if room > shared // 2 else HALF
            name, most = "count_column", processors * max(1, min(2048 // threads, shared // room))
        blocks = blocks_for(many, 4 * threads, most // groups) * groups
        chunk = -(-many // (blocks // groups))
        chunk = min(CHUNK, chunk) if self.way == WIDE else chunk
        start = self.ends[place]
        given = (
            values.array, np.int64(values.stride), NULL if column.missing is None else column.missing,
            rows.codes, objective.array, np.int64(objective.stride), np.int64(many), *way.arguments(column),
            np.int32(self.levels), np.int32(groups), *self.tail, np.int64(-(-chunk // 4) * 4),
            self.counts[start:], self.sums[self.words * start :],
        )  # fmt: skip
        launch(kernel(name, *words, *flags, shared=room), blocks, threads, given, room)

    def take(self) -> list[Counted]:
        """Counts and sums of every column; waits for the card."""
        told = library().empty((2 if self.words else 1, self.ends[-1]), dtype=np.int64)
        told[0] = self.counts
        for grid, start, stop in zip(self.grids, self.ends[:-1], self.ends[1:], strict=True):
            if self.words:
                own = self.counts[start:], self.sums[self.words * start :], np.int64(stop - start)
                given = *own, np.int32(grid.width), self.units, told[1, start:]
                blocks = blocks_for(stop - start, HALF, 4 * here()[0])
                launch(kernel("finish_sums", str(self.way)), blocks, HALF, given)
        both = fetched(told)
        found = []
        for grid, start, stop in zip(self.grids, self.ends[:-1], self.ends[1:], strict=True):
            shape = self.levels, grid.width
            total = both[1, start:stop].view(np.float64).reshape(shape) if self.words else np.zeros(shape)
            found.append((both[0, start:stop].reshape(shape), total))
        return found


def count_columns(rows: CardRows, levels: int, units: Units | None, columns: Sequence[CardColumn]) -> list[Counted]:
    """Counts and sums of every column: all are launched before the first is waited for."""
    counter = Counter([column.grid for column in columns], levels, units)
    for place, column in enumerate(columns):
        counter.add(place, column, rows)
    return [in_order(column, *both) for column, both in zip(columns, counter.take(), strict=True)]


def in_order(column: CardColumn, counts: NDArray[np.int64], sums: NDArray[np.float64]) -> Counted:
    """In the grid's order of cells, where kernels have the order of numbers."""
    grid = column.grid
    if column.lookup is not None or grid.cell_of is None:
        return counts, sums
    order = np.concatenate([np.argsort(grid.cell_of), [grid.missing, grid.outside]])
    return counts[:, order], sums[:, order]


def add_bands(found: Sequence[Sequence[Counted]]) -> list[Counted]:
    """Counts, and sums over all bands of sizes: the small ones first."""
    columns = zip(*found, strict=True)
    return [(bands[-1][0], reduce(np.add, (sums for _, sums in bands[::-1]))) for bands in columns]


@dataclass(frozen=True, slots=True, eq=False)
class Way:
    """How a kernel finds the cells of a column: boundaries, what cells accept, and a first guess."""

    grid: Grid
    real: Any  # float32 for columns of singles, else float64
    guess: int
    plain: bool  # cells touch and every row has a value: a quicker kernel
    line: tuple[float, ...] = (0.0, 0.0, 0.0)  # where the guess begins, cells to a unit, cells that it may err by

    @property
    def word(self) -> str:
        return "float" if self.real is np.float32 else "double"

    @property
    def room(self) -> int:
        """Bytes of shared memory."""
        return 0 if self.guess == LOOKUP else (self.grid.cells + 1) * np.dtype(self.real).itemsize

    def arguments(self, column: CardColumn) -> tuple[Any, ...]:
        """What a kernel is told of the grid."""
        if column.lookup is None:
            return study_notes(self, library().cuda.runtime.getDevice())
        real, table = self.real, library().asarray(column.lookup)
        rank = np.uint32 if real is np.float32 else np.float64
        head = NULL, NULL, NULL, np.int32(self.grid.cells), rank(0), rank(0), *[real(0)] * 5
        return *head, np.float64(0), np.float64(0), table, np.int64(column.offset), np.uint64(len(table))

    def sure(self) -> tuple[Any, Any]:
        """Between which guesses, in cells less a half, a number is in the space for sure."""
        if self.guess not in (EVEN, LOG):
            return self.real(0), self.real(0)
        ends = [float(np.asarray(self.grid.accept_low)[0]), float(np.asarray(self.grid.accept_high)[-1])]
        if self.guess == LOG:
            ends = [math.log2(end) if end > 0 else -math.inf for end in ends]
        origin, scale, doubt = self.line
        low, high = ((end - origin) * scale - 0.5 for end in ends)
        return self.real(max(low, -0.5) + 2 * doubt), self.real(min(high, self.grid.cells - 0.5) - 2 * doubt)


def way_to(column: CardColumn) -> Way:
    single = column.values.dtype == np.float32
    return _way(column.grid, column.lookup is not None, column.missing is not None, single=bool(single))


@lru_cache(maxsize=4096)
def _way(grid: Grid, looked_up: bool, gaps: bool, *, single: bool) -> Way:
    real = np.float32 if single else np.float64
    if looked_up or grid.inner is None:
        return Way(grid, real, LOOKUP, plain=False)
    guess, *line = first_guess(grid.inner, real)
    return Way(grid, real, guess, do_touch(grid) and not gaps and grid.lattice is None, tuple(line))


@lru_cache(maxsize=4096)
def study_notes(way: Way, _: int) -> tuple[Any, ...]:
    """Where cells begin, what they accept (nothing, where they touch), both outermost ends, the guess and the lattice:
    on the card in use."""
    cupy, grid, real = library(), way.grid, way.real
    ends = np.concatenate([[-np.inf], np.asarray(grid.inner), [np.inf]])
    low, high = np.asarray(grid.accept_low), np.asarray(grid.accept_high)
    lows, highs = (ranks_of(rounded(part, real, up=up)) for part, up in ((low, True), (high, False)))
    apart = (NULL, NULL) if do_touch(grid) else (cupy.asarray(lows), cupy.asarray(highs))
    bounds = cupy.asarray(ranks_of(rounded(ends, real, up=True))), *apart, np.int32(grid.cells), lows[0], highs[-1]
    origin, scale, doubt = way.line
    line = real(-origin * scale - 0.5), real(scale), real(doubt), *way.sure()
    lattice = (0.0, 0.0) if grid.lattice is None else grid.lattice
    return *bounds, *line, np.float64(lattice[0]), np.float64(lattice[1]), NULL, np.int64(0), NULL


def do_touch(grid: Grid) -> bool:
    """Whether every number between the outermost ends is in a cell."""
    low, high = np.asarray(grid.accept_low), np.asarray(grid.accept_high)
    return bool(np.all(np.isinf(low[1:])) and np.all(np.isinf(high[:-1])))


def first_guess(inner: NDArray[np.float64], real: Any) -> tuple[int, float, float, float]:
    """A line that guesses a cell, even or in log, and how near to a boundary it may err; or none."""
    if len(inner) < LEAST_GUESSED:
        return HALVING, 0.0, 0.0, 0.0
    facts = np.finfo(real)
    for guess in (EVEN, LOG):
        if guess == LOG and not inner[0] > facts.tiny:
            continue
        line = inner if guess == EVEN else np.log2(inner)
        width = (line[-1] - line[0]) / (len(line) - 1)
        if not (width > 0 and facts.tiny < 1.0 / width < facts.max):
            continue
        origin, scale = float(real(line[0] - width)), float(real(1.0 / width))
        off = np.abs((line - origin) * scale - np.arange(1, len(line) + 1)).max()
        # Rounding of the arithmetic, and of the card's logarithm of singles.
        size = 2 * max(abs(line[0]), abs(line[-1])) * scale + len(line)
        doubt = 2.0 * off + 4.0 * size * facts.eps + (2.0**-20 * scale if guess == LOG else 0.0)
        if doubt < OFF:
            return guess, origin, scale, doubt
    return HALVING, 0.0, 0.0, 0.0


def rounded(values: NDArray[np.float64], real: Any, *, up: bool) -> NDArray[Any]:
    """The same for singles: the least one at or above a double, or the greatest at or below, asks the same of each."""
    if real is np.float64:
        return values
    with np.errstate(over="ignore"):
        single = values.astype(np.float32)
    wrong = single.astype(np.float64) < values if up else single.astype(np.float64) > values
    single[wrong] = np.nextafter(single[wrong], np.float32(np.inf if up else -np.inf))
    return single
