"""Counts and objective sums by level and cell on a GPU, and the units in which the objective is summed.

A sum is stored as a whole number of units, so it does not depend on the order of threads and loses no digit of a
double. Usually the numbers in a level are close together: the distance from the level's first number fits into one word
(`NARROW`). Otherwise each number is split into two longer words (`WIDE`). If two words are too short, numbers of
different magnitudes are summed separately, in bands.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.counting.levels import Levels
from pedanova.counting.tally import narrowed
from pedanova.scale.cuda.device import DeviceArray, blocks_for, fetching, here, kernel, launch, library
from pedanova.scale.cuda.order import ColumnExtent, ranks_of
from pedanova.space.grid import Grid

NONE, NARROW, WIDE = range(3)  # how sums are computed
WORDS = (0, 2, 4)  # 64-bit words on the GPU for each
SUM_BITS = 42  # bits of a wide multiple, so that 2^20 of them fit into 62 bits
NARROW_BITS = 50  # bits of a narrow multiple, which stays exact when MAGIC is added
WORD = 32  # bits that are summed in shared memory; larger sums go to the GPU's memory
FEW = 1 / 16  # part of the rows that may go there
MAGIC = 1.5 * 2.0**52  # adding it rounds a number to an integer in the last bits
CHUNK = 1 << 20  # rows after which a block adds its wide sums to the table
MOST_GROUPS = 4  # groups of levels that are counted together; with more, each row goes to the GPU's memory
HALVING, EVEN, LOG, LOOKUP = range(4)  # how cells are found
LEAST_GUESSED = 8  # fewer boundaries are searched by bisection
OFF = 0.3  # the largest error of a guess, in cells
NULL = np.uint64(0)  # no pointer
FULL, HALF = 1024, 512  # threads of a block
AT_ONCE = 8  # columns whose tables are fetched together, while the next ones are counted
Tables = tuple[NDArray[Any], NDArray[np.float64]]


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """For each level, the unit in which the objective is summed."""

    powers: NDArray[np.int32]  # (levels,) a sum counts multiples of 2^-power
    way: int
    firsts: NDArray[np.float64] | None = None  # (levels,) narrow: the number that multiples are relative to
    sizes: tuple[float, float] = (0.0, np.inf)  # the range of absolute values that are summed: from, and below

    def pairs(self) -> NDArray[np.float64]:
        """The two numbers with which a CUDA kernel converts the objective to units, as an array (levels, 2)."""
        if self.firsts is not None:
            return np.stack([np.ldexp(1.0, self.powers), MAGIC - self.firsts], axis=1)
        halves = self.powers // 2
        pairs: NDArray[np.float64] = np.ldexp(1.0, np.stack([halves, self.powers - halves], axis=1))
        return pairs


def units_for(levels: Levels, extent: ColumnExtent, rows: NDArray[np.int64], *, single: bool) -> Units | None:
    """Units that keep every digit, given the range of the objective and the approximate number of rows in each level.

    None if the numbers of a level differ too much in magnitude; they must then be summed in bands (`bands_of`).
    """
    signed = np.sort(np.array([levels.sign * extent.low, levels.sign * extent.high]))
    inner = np.clip(levels.sign * levels.thresholds[:-1], *signed)
    begins, stops = np.append(signed[0], inner), np.append(inner, signed[1])
    sizes = np.maximum(np.abs(begins), np.abs(stops))
    crosses = (begins <= 0) & (stops >= 0)
    smallest = extent.smallest if extent.smallest > 0 else 1.0
    least = np.where(crosses, smallest, np.minimum(np.abs(begins), np.abs(stops)))
    digits = 24 if single else 53
    last = np.frexp(least)[1] - digits  # the exponent of the last digit of the smallest number
    narrow = _narrow(levels.sign, begins, stops, np.maximum(last, 0) if extent.whole else last, rows)
    if narrow is not None:
        return narrow
    tops = np.where(sizes > 0, np.frexp(sizes)[1], 0)
    if np.max(np.where(sizes > 0, tops - last, 0)) > 2 * SUM_BITS:
        return None
    return Units((SUM_BITS - tops).astype(np.int32), WIDE)


def _narrow(
    sign: float,
    begins: NDArray[np.float64],
    stops: NDArray[np.float64],
    last: NDArray[np.int_],
    rows: NDArray[np.int64],
) -> Units | None:
    """Units for distances from the first number of each level; None if too many distances need more than one word."""
    with np.errstate(over="ignore"):
        firsts = np.floor(np.ldexp(np.where(sign > 0, begins, -stops), -last))
        spans = np.ldexp(stops - begins, -last) + 2
    most = 2.0**NARROW_BITS
    if np.abs(last).max() > 1000 or not (np.abs(firsts).max() < most and spans.max() < most):
        return None
    if rows[spans > 2.0**WORD].sum() > FEW * rows.sum():
        return None
    return Units((-last).astype(np.int32), NARROW, firsts)


def bands_of(exponents: NDArray[np.int64], levels: int) -> list[Units]:
    """Divide magnitudes into bands, to sum each band separately; `exponents` is the number of values by exponent."""
    places = [int(place) for place in np.flatnonzero(exponents[:-1])]  # the last one is for numbers that are not finite
    bands: list[Units] = []
    width = 2 * SUM_BITS - 53
    while places:
        top = places[-1] - 1022  # numbers of this exponent are below 2^top
        low = top - width
        places = [place for place in places if place - 1022 <= low]
        least = 0.0 if not places else float(np.ldexp(1.0, low))
        most = np.inf if not bands else bands[-1].sizes[0]
        bands.append(Units(np.full(levels, SUM_BITS - top, dtype=np.int32), WIDE, sizes=(least, most)))
    return bands


@dataclass(frozen=True, slots=True, eq=False)
class DeviceColumn:
    """One column in GPU memory, with its grid of cells and a look-up table if it has one."""

    name: str
    grid: Grid
    values: Any
    offset: int = 0
    lookup: NDArray[np.int32] | None = None  # for integers with a small range


@dataclass(frozen=True, slots=True, eq=False)
class DeviceRows:
    """The level and the objective of each row, in GPU memory."""

    codes: Any
    objective: Any | None = None


class Counter:
    """The tables of counts and sums of some columns in GPU memory, to which slices of the rows are added."""

    def __init__(self, grids: Sequence[Grid], levels: int, units: Units | None) -> None:
        cupy = library()
        self.levels, self.way = levels, NONE if units is None else units.way
        self.grids, self.words = list(grids), WORDS[self.way]
        self.ends = np.cumsum([0, *(levels * grid.width for grid in grids)]).tolist()
        memory = cupy.zeros((1 + self.words) * self.ends[-1], dtype=np.int64)
        self.counts, self.sums = memory[: self.ends[-1]], memory[self.ends[-1] :] if self.words else memory
        sizes = (0.0, np.inf) if units is None else units.sizes
        self.units = NULL if units is None else cupy.asarray(units.pairs())
        self.tail = self.units, np.float64(2.0**SUM_BITS), np.float64(sizes[0]), np.float64(sizes[1])

    def add(self, place: int, column: DeviceColumn, rows: DeviceRows) -> None:
        """Start a CUDA kernel that counts the rows of one column and adds them to the table with the index `place`."""
        width, many = column.grid.width, len(rows.codes)
        values, way = DeviceArray.of(column.values), way_to(column)
        goal = DeviceArray.of(rows.objective) if self.way else DeviceArray(NULL, 1, dense=True)
        processors, shared = here()
        for_level = width * (4, 6, 20)[self.way] + 16
        together = (shared - way.room - 64) // for_level
        groups = -(-self.levels // together) if together > 0 else MOST_GROUPS + 1
        dense, code = values.dense and goal.dense, "u8" if rows.codes.dtype == np.uint8 else "u16"
        words = values.word, way.word, code, goal.word if self.way else "float"
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
            values.array, np.int64(values.stride), NULL,
            rows.codes, goal.array, np.int64(goal.stride), np.int64(many), *way.arguments(column),
            np.int32(self.levels), np.int32(groups), *self.tail, np.int64(-(-chunk // 4) * 4),
            self.counts[start:], self.sums[self.words * start :],
        )  # fmt: skip
        launch(kernel(name, *words, *flags, shared=room), blocks, threads, given, room)

    def send(self) -> Callable[[], Iterator[Tables]]:
        """Start to copy the tables to main memory; the result waits for the GPU and has the tables of every column."""
        output = self.counts.reshape(1, -1)
        if self.words:
            output = library().empty((2, self.ends[-1]), dtype=np.int64)
            output[0] = self.counts
            for grid, start, stop in zip(self.grids, self.ends[:-1], self.ends[1:], strict=True):
                own = self.counts[start:], self.sums[self.words * start :], np.int64(stop - start)
                given = *own, np.int32(grid.width), self.units, output[1, start:]
                blocks = blocks_for(stop - start, HALF, 4 * here()[0])
                launch(kernel("finish_sums", str(self.way)), blocks, HALF, given)
        wait = fetching(output)

        def tables() -> Iterator[Tables]:
            both = wait()
            sums = both[1].view(np.float64) if self.words else np.broadcast_to(0.0, self.ends[-1])
            for grid, start, stop in zip(self.grids, self.ends[:-1], self.ends[1:], strict=True):
                shape = self.levels, grid.width
                yield narrowed(both[0, start:stop].reshape(shape)), sums[start:stop].reshape(shape)

        return tables


def count_columns(
    rows: DeviceRows,
    levels: int,
    units: Units | None,
    columns: Sequence[DeviceColumn],
    meanwhile: Callable[[], object] = tuple,
) -> list[Tables]:
    """Count all columns; all CUDA kernels are launched before the CPU does its work and reads the first result."""
    sent = []
    for first in range(0, len(columns), AT_ONCE):
        some = columns[first : first + AT_ONCE]
        counter = Counter([column.grid for column in some], levels, units)
        for place, column in enumerate(some):
            counter.add(place, column, rows)
        sent.append(counter.send())
    meanwhile()
    tables = (both for arrived in sent for both in arrived())
    return [in_order(column, *both) for column, both in zip(columns, tables, strict=True)]


def in_order(column: DeviceColumn, counts: NDArray[Any], sums: NDArray[np.float64]) -> Tables:
    """Put the cells in the order of the grid, because a CUDA kernel sorts them by value."""
    grid = column.grid
    if column.lookup is not None or grid.cell_of is None:
        return counts, sums
    order = np.concatenate([np.argsort(grid.cell_of), [grid.missing, grid.outside]])
    return counts[:, order], sums[:, order]


def add_bands(by_band: Sequence[Sequence[Tables]]) -> list[Tables]:
    """For each column, the counts and the sums over all bands; bands of small numbers are added first."""
    columns = zip(*by_band, strict=True)
    return [(bands[-1][0], reduce(np.add, (sums for _, sums in bands[::-1]))) for bands in columns]


@dataclass(frozen=True, slots=True, eq=False)
class Way:
    """How a CUDA kernel finds the cell of a number: in a look-up table, or by a guess that is then corrected."""

    grid: Grid
    real: Any  # float32 for columns of singles, else float64
    guess: int
    plain: bool  # whether cells have no gaps, which allows a faster kernel
    line: tuple[float, ...] = (0.0, 0.0, 0.0)  # the guess: its start, cells per unit, and its largest error in cells

    @property
    def word(self) -> str:
        return "float" if self.real is np.float32 else "double"

    @property
    def room(self) -> int:
        """The bytes of shared memory that the boundaries need."""
        return 0 if self.guess == LOOKUP else (self.grid.cells + 1) * np.dtype(self.real).itemsize

    def arguments(self, column: DeviceColumn) -> tuple[Any, ...]:
        if column.lookup is None:
            return grid_arguments(self, library().cuda.runtime.getDevice())
        real, table = self.real, library().asarray(column.lookup)
        rank = np.uint32 if real is np.float32 else np.float64
        head = NULL, NULL, NULL, np.int32(self.grid.cells), rank(0), rank(0), *[real(0)] * 5
        return *head, np.float64(0), np.float64(0), table, np.int64(column.offset), np.uint64(len(table))

    def sure(self) -> tuple[Any, Any]:
        """A number is certainly in the space if its guessed position (in cells, minus 0.5) lies between these two."""
        if self.guess not in (EVEN, LOG):
            return self.real(0), self.real(0)
        ends = [float(np.asarray(self.grid.accept_low)[0]), float(np.asarray(self.grid.accept_high)[-1])]
        if self.guess == LOG:
            ends = [math.log2(end) if end > 0 else -math.inf for end in ends]
        origin, scale, doubt = self.line
        low, high = ((end - origin) * scale - 0.5 for end in ends)
        return self.real(max(low, -0.5) + 2 * doubt), self.real(min(high, self.grid.cells - 0.5) - 2 * doubt)


def way_to(column: DeviceColumn) -> Way:
    single = column.values.dtype == np.float32
    return _way(column.grid, column.lookup is not None, single=bool(single))


@lru_cache(maxsize=4096)
def _way(grid: Grid, looked_up: bool, *, single: bool) -> Way:
    real = np.float32 if single else np.float64
    if looked_up or grid.inner is None:
        return Way(grid, real, LOOKUP, plain=False)
    guess, *line = first_guess(grid.inner, real)
    return Way(grid, real, guess, do_touch(grid) and grid.lattice is None, tuple(line))


@lru_cache(maxsize=4096)
def grid_arguments(way: Way, _: int) -> tuple[Any, ...]:
    """The arguments of a CUDA kernel for a grid without a look-up table; copies the boundaries to the GPU."""
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
    """Whether the cells have no gaps between them."""
    low, high = np.asarray(grid.accept_low), np.asarray(grid.accept_high)
    return bool(np.all(np.isinf(low[1:])) and np.all(np.isinf(high[:-1])))


def first_guess(inner: NDArray[np.float64], real: Any) -> tuple[int, float, float, float]:
    """How to guess the cell of a number (linear, logarithmic, bisection), with the guess's origin, scale and error."""
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
        # The rounding errors of the arithmetic and of the GPU's float32 logarithm.
        size = 2 * max(abs(line[0]), abs(line[-1])) * scale + len(line)
        doubt = 2.0 * off + 4.0 * size * facts.eps + (2.0**-20 * scale if guess == LOG else 0.0)
        if doubt < OFF:
            return guess, origin, scale, doubt
    return HALVING, 0.0, 0.0, 0.0


def rounded(values: NDArray[np.float64], real: Any, *, up: bool) -> NDArray[Any]:
    """Round bounds to float32, up or down, so that comparisons give the same results as with doubles."""
    if real is np.float64:
        return values
    with np.errstate(over="ignore"):
        single = values.astype(np.float32)
    wrong = single.astype(np.float64) < values if up else single.astype(np.float64) > values
    single[wrong] = np.nextafter(single[wrong], np.float32(np.inf if up else -np.inf))
    return single
