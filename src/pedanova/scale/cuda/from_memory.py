"""Rows in memory, counted on a card: columns travel there piece by piece, each while another is counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.base.threads import portions, spread
from pedanova.counting.arrays import kept_codes, lookup_of
from pedanova.counting.counts import Counts
from pedanova.counting.in_memory import InMemory
from pedanova.counting.levels import Levels
from pedanova.data.column import Column
from pedanova.data.observations import Observations
from pedanova.errors import Arg, DataError
from pedanova.scale.cuda.device import WORDS, library
from pedanova.scale.cuda.ferry import Ferry
from pedanova.scale.cuda.order import Extent
from pedanova.scale.cuda.tables import CardColumn, CardRows, Counted, Counter, add_bands, in_order
from pedanova.scale.cuda.units import Units, bands_of, units_for
from pedanova.space.grid import Grid, grid_of

PIECE = 1 << 24  # rows that travel at once


@dataclass(slots=True, eq=False)
class FromMemory(InMemory):
    """The same levels as in memory; the card counts."""

    def count(self, levels: Levels) -> Counts:
        observed = self.observed
        codes = kept_codes(observed, levels, threads=self.threads, survey=self._survey)
        self._survey = None
        found = count_on_card(observed, codes, levels, threads=self.threads)
        tables: dict[str, list[Any]] = {name: list(both) for name, both in found.items()}
        counted = int(next(iter(found.values()))[0].sum())
        return Counts(len(observed), counted, tables, None, list(observed.notes), observed.idle)


def count_on_card(
    observed: Observations, codes: NDArray[Any], levels: Levels, *, threads: int = 1
) -> dict[str, Counted]:
    """Counts and sums of every parameter, by a card; rows coded ``levels.count`` are left out."""
    goal = as_read(observed.objective)
    bands: Sequence[Units | None] = units_of(goal, codes, levels, threads=threads) or [None]
    try:
        found = add_bands([_count(observed, codes, levels.count, goal, units, threads) for units in bands])
    except library().cuda.memory.OutOfMemoryError as error:
        why = f"the card has too little memory ({error}); leave "
        raise DataError(why, Arg("engine", "cuda"), " out to count on the CPU") from None
    return dict(zip(observed.space, found, strict=True))


def _count(
    observed: Observations, codes: NDArray[Any], levels: int, goal: NDArray[Any], units: Units | None, threads: int
) -> list[Counted]:
    grids = [grid_of(parameter) for parameter in observed.space.values()]
    counter = Counter(grids, levels, units)
    ferries = [Ferry(threads) for _ in range(4)]  # of codes, objectives, values, and which are missing
    columns: list[CardColumn] = []
    for start in range(0, len(codes), PIECE):
        piece = slice(start, start + PIECE)
        rows = CardRows(ferries[0].bring(codes[piece]), None if units is None else ferries[1].bring(goal[piece]))
        columns = []
        for place, (name, grid) in enumerate(zip(observed.space, grids, strict=True)):
            columns.append(on_card(observed.columns[name], grid, piece, *ferries[2:]))
            counter.add(place, columns[-1], rows)
    return [in_order(column, *both) for column, both in zip(columns, counter.take(), strict=True)]


def on_card(column: Column, grid: Grid, rows: slice, values: Ferry, missing: Ferry) -> CardColumn:
    """Some rows of a column, and the quickest exact way to its cells."""
    gone = None if column.missing is None else missing.bring(column.missing[rows].view(np.uint8))
    plan = lookup_of(column, grid)
    if plan is None:
        return CardColumn(column.name, grid, values.bring(as_read(column.values[rows])), gone)
    numbers, offset, table = plan
    return CardColumn(column.name, grid, values.bring(as_read(numbers[rows])), gone, offset, table)


def as_read(values: NDArray[Any]) -> NDArray[Any]:
    """As kernels read them, without a copy where that can be."""
    if values.dtype == np.bool_:
        return values.view(np.uint8)
    return values if values.dtype in WORDS else values.astype(np.float64)


def units_of(goal: NDArray[Any], codes: NDArray[Any], levels: Levels, *, threads: int) -> list[Units]:
    """Units of the sums; none where no objective is finite."""
    told = spread(
        lambda rows: _look(goal[rows], codes[rows], levels.count), portions(len(goal), threads=threads), threads=threads
    )
    low, high, least = min(one[0] for one in told), max(one[1] for one in told), min(one[2] for one in told)
    if low > high:
        return []
    extent = Extent(low, high, least if least < np.inf else 0.0, False, 0)
    rows = np.sum([one[3] for one in told], axis=0)
    units = units_for(levels, extent, rows, single=bool(goal.dtype == np.float32))
    if units is not None:
        return [units]
    exponents = goal.astype(np.float64).view(np.int64) >> 52 & 2047
    return bands_of(np.bincount(exponents, minlength=2048), levels.count)


def _look(goal: NDArray[Any], codes: NDArray[Any], levels: int) -> tuple[float, float, float, NDArray[np.int64]]:
    """The finite extremes, the least size above zero, and rows by level."""
    rows = np.bincount(codes, minlength=levels)[:levels]
    finite = np.isfinite(goal)
    known = goal if finite.all() else goal[finite]
    if not len(known):
        return np.inf, -np.inf, np.inf, rows
    sizes = np.abs(known)
    least = sizes.min() or sizes.min(where=sizes > 0, initial=np.inf)
    return float(known.min()), float(known.max()), float(least), rows
