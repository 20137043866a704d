"""Counts and sums by [level × cell], on a card.

A sum is a whole number of units of its level, added in two halves of 32 bits: no order of threads can change it, and
no digit of a double is lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.counting.levels import Levels
from pedanova.scale.cuda.device import CardArray, blocks_for, here, kernel, launch, library
from pedanova.scale.cuda.order import ranks_of
from pedanova.space.grid import Grid

SUM_BITS = 42  # of a whole number that is summed: 2^20 of them fit 62 bits
CHUNK = 1 << 20  # rows that a block sums before it hands its table on
MOST_GROUPS = 4  # of levels, counted beside each other; beyond, rows go to the card's memory one by one
HALVING, EVEN, LOG, LOOKUP = range(4)  # ways to a cell
LEAST_GUESSED = 8  # boundaries; fewer are soon halved
OFF = 0.3  # cells that a guess may be off
NONE = np.uint64(0)  # a null pointer
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
class Units:
    """In which units the objective is summed, by level."""

    powers: NDArray[np.int32]  # (levels,) a sum counts multiples of 2^-power
    limbs: int  # 0: no sums; 1: exact as it is; 2: what is left over goes into a second, finer sum
    sizes: tuple[float, float] = (0.0, np.inf)  # of the numbers that are summed: from, and below


def units_for(levels: Levels, ends: tuple[float, float], smallest: float, *, single: bool) -> Units | None:
    """Units that keep every digit of the objective, given its finite extremes and its least size above zero.

    None where a level holds numbers of too different sizes: then they are summed in bands.
    """
    signed = np.sort(np.array([levels.sign * end for end in ends]))
    inner = levels.sign * levels.thresholds[:-1]
    inner = np.clip(inner, signed[0], signed[1])
    begins, stops = np.append(signed[0], inner), np.append(inner, signed[1])
    sizes = np.maximum(np.abs(begins), np.abs(stops))
    with np.errstate(divide="ignore"):
        tops = np.where(sizes > 0, np.frexp(sizes)[1], 0)
    crosses = (begins <= 0) & (stops >= 0)
    least = np.where(crosses, smallest, np.minimum(np.abs(begins), np.abs(stops)))
    spans = tops - np.frexp(np.maximum(least, 5e-324))[1]
    digits = 24 if single else 53
    bits = int(np.max(np.where(sizes > 0, spans, 0))) + digits
    if bits > 2 * SUM_BITS:
        return None
    return Units((SUM_BITS - tops).astype(np.int32), 1 if bits <= SUM_BITS else 2)


def bands_of(exponents: NDArray[np.int64], levels: int) -> list[Units]:
    """Units of numbers whose sizes differ without measure, given how many have each exponent of a double."""
    held = [int(place) for place in np.flatnonzero(exponents[:-1])]  # the last is of what is not finite
    bands: list[Units] = []
    width = 2 * SUM_BITS - 53
    while held:
        top = held[-1] - 1022  # numbers of this exponent are below 2^top
        low = top - width
        held = [place for place in held if place - 1022 <= low]
        least = 0.0 if not held else float(np.ldexp(1.0, low))
        most = np.inf if not bands else bands[-1].sizes[0]
        bands.append(Units(np.full(levels, SUM_BITS - top, dtype=np.int32), 2, (least, most)))
    return bands


class Counter:
    """Columns of the same rows, counted one after the other."""

    def __init__(self, codes: Any, levels: int, objective: Any | None, units: Units | None) -> None:
        self.codes, self.levels, self.rows = codes, levels, len(codes)
        cupy = library()
        self.limbs = 0 if units is None or objective is None else units.limbs
        self.objective = CardArray.of(objective if self.limbs else cupy.zeros(1, dtype=np.float32))
        self.powers = np.zeros(1, dtype=np.int32) if units is None else units.powers
        self.sizes = (0.0, np.inf) if units is None else units.sizes
        halves = np.stack([self.powers // 2, self.powers - self.powers // 2], axis=1)
        self.units = cupy.asarray(np.ldexp(1.0, halves))

    def count(self, columns: Sequence[CardColumn]) -> dict[str, Counted]:
        """Counts and sums of every column: all are launched before the first is waited for."""
        cupy = library()
        sizes = np.cumsum([0, *(self.levels * column.grid.width for column in columns)])
        counts = cupy.zeros(int(sizes[-1]), dtype=np.uint64)
        sums = cupy.zeros(max(1, 2 * self.limbs * int(sizes[-1])), dtype=np.int64)
        for column, start in zip(columns, sizes[:-1].tolist(), strict=True):
            self.start(column, counts[start:], sums[2 * self.limbs * start :])
        held, summed = cupy.asnumpy(counts).astype(np.int64), cupy.asnumpy(sums)
        found = {}
        for column, start, stop in zip(columns, sizes[:-1].tolist(), sizes[1:].tolist(), strict=True):
            parts = held[start:stop], summed[2 * self.limbs * start : 2 * self.limbs * stop]
            found[column.name] = self.finish(column, *parts)
        return found

    def start(self, column: CardColumn, counts: Any, sums: Any) -> None:
        """Launch the counting of one column; its tables fill on the card."""
        width = column.grid.width
        values, way = CardArray.of(column.values), Way.of(column)
        processors, shared = here()
        for_level = width * (4 + 8 * self.limbs) + 16
        together = (shared - way.room - 64) // for_level
        groups = -(-self.levels // together) if together > 0 else MOST_GROUPS + 1
        dense = values.dense and (not self.limbs or self.objective.dense)
        words = values.word, way.word, "u8" if self.codes.dtype == np.uint8 else "u16", self.objective.word
        flags = str(self.limbs), "true" if dense else "false", str(way.guess), str(way.plain).lower()
        if groups > MOST_GROUPS:
            name, room, threads, groups, most = "count_large", 0, HALF, 1, 4 * processors
        else:
            room = way.room + -(-self.levels // groups) * for_level + 64
            threads = FULL if room > shared // 2 else HALF
            name, most = "count_column", processors * max(1, min(2048 // threads, shared // room))
        blocks = blocks_for(self.rows, 4 * threads, most // groups) * groups
        chunk = -(-self.rows // (blocks // groups))
        chunk = min(CHUNK, chunk) if self.limbs else chunk
        function = kernel(name, *words, *flags, shared=room)
        given = (
            values.array, np.int64(values.stride), NONE if column.missing is None else column.missing,
            self.codes, self.objective.array, np.int64(self.objective.stride), np.int64(self.rows), *way.arguments(),
            np.int32(self.levels), np.int32(groups), self.units, np.float64(2.0**SUM_BITS),
            np.float64(self.sizes[0]), np.float64(self.sizes[1]), np.int64(-(-chunk // 4) * 4), counts, sums,
        )  # fmt: skip
        launch(function, blocks, threads, given, room)

    def finish(self, column: CardColumn, held: NDArray[np.int64], summed: NDArray[np.int64]) -> Counted:
        """Counts and sums in the grid's order, as doubles."""
        grid = column.grid
        counts = held.reshape(self.levels, grid.width)
        sums = np.zeros(counts.shape)
        if self.limbs:
            halves = summed.reshape(self.levels, grid.width, self.limbs, 2).astype(np.float64)
            whole = halves[..., 0] * 2.0**32 + halves[..., 1]
            total = whole[..., 0] if self.limbs == 1 else whole[..., 0] + np.ldexp(whole[..., 1], -SUM_BITS)
            sums = np.ldexp(total, -self.powers[:, None])
        if column.lookup is None and grid.cell_of is not None:
            order = np.concatenate([np.argsort(grid.cell_of), [grid.missing, grid.outside]])
            return counts[:, order], sums[:, order]
        return counts, sums


def count_in_bands(
    codes: Any, levels: int, goal: Any, units: Sequence[Units], columns: Sequence[CardColumn]
) -> dict[str, list[NDArray[Any]]]:
    """Counts, and sums over all bands of sizes: the small ones first."""
    bands: list[Units | None] = [*units] or [None]
    found = [Counter(codes, levels, goal, one).count(columns) for one in bands]
    tables: dict[str, list[NDArray[Any]]] = {name: list(both) for name, both in found[-1].items()}
    for more in found[-2::-1]:
        for name, (_, sums) in more.items():
            tables[name][1] = tables[name][1] + sums
    return tables


@dataclass(frozen=True, slots=True, eq=False)
class Way:
    """How a kernel finds the cells of a column: boundaries, what cells accept, and a first guess."""

    column: CardColumn
    real: Any  # float32 for columns of singles, else float64
    guess: int
    origin: float = 0.0
    scale: float = 0.0
    doubt: float = 0.0

    @classmethod
    def of(cls, column: CardColumn) -> Way:
        grid = column.grid
        real = np.float32 if column.values.dtype == np.float32 else np.float64
        if column.lookup is not None or grid.inner is None:
            return cls(column, real, LOOKUP)
        return cls(column, real, *first_guess(grid.inner, real))

    @property
    def grid(self) -> Grid:
        return self.column.grid

    @property
    def word(self) -> str:
        return "float" if self.real is np.float32 else "double"

    @property
    def plain(self) -> bool:
        """Whether cells touch and every row has a value: a quicker kernel."""
        low, high, column = self.grid.accept_low, self.grid.accept_high, self.column
        if low is None or high is None or column.missing is not None or self.grid.lattice is not None:
            return False
        return column.lookup is None and bool(np.all(np.isinf(low[1:])) and np.all(np.isinf(high[:-1])))

    @property
    def room(self) -> int:
        """Bytes of shared memory."""
        return 0 if self.guess == LOOKUP else (self.grid.cells + 1) * np.dtype(self.real).itemsize

    def arguments(self) -> list[Any]:
        real, grid = self.real, self.grid
        if self.column.lookup is not None:
            table = library().asarray(self.column.lookup)
            rank = np.uint32 if real is np.float32 else np.float64
            head = [NONE, NONE, NONE, np.int32(grid.cells), rank(0), rank(0), *[real(0)] * 3]
            return [*head, np.float64(0), np.float64(0), table, np.int64(self.column.offset), np.uint64(len(table))]
        step = (float(grid.lattice[0]), float(grid.lattice[1])) if grid.lattice is not None else (0.0, 0.0)
        line = real(-self.origin * self.scale), real(self.scale), real(self.doubt)
        bounds = bounds_on_card(grid, real, library().cuda.runtime.getDevice())
        return [*bounds, *line, np.float64(step[0]), np.float64(step[1]), NONE, np.int64(0), NONE]


@lru_cache(maxsize=4096)
def bounds_on_card(grid: Grid, real: Any, _: int) -> list[Any]:
    """Where cells begin, what they accept (nothing, where they touch), how many there are, and both outermost ends."""
    cupy = library()
    ends = np.concatenate([[-np.inf], np.asarray(grid.inner), [np.inf]])
    low, high = np.asarray(grid.accept_low), np.asarray(grid.accept_high)
    touch = bool(np.all(np.isinf(low[1:])) and np.all(np.isinf(high[:-1])))
    lows, highs = (ranks_of(rounded(part, real, up=up)) for part, up in ((low, True), (high, False)))
    apart = [NONE, NONE] if touch else [cupy.asarray(lows), cupy.asarray(highs)]
    return [cupy.asarray(ranks_of(rounded(ends, real, up=True))), *apart, np.int32(grid.cells), lows[0], highs[-1]]


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


def _word(real: Any) -> str:
    return "float" if real is np.float32 else "double"
