"""Rows in memory, counted on a card: columns travel there piece by piece."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.counting.arrays import added, kept_codes, lookup_of
from pedanova.counting.counts import Counts
from pedanova.counting.in_memory import InMemory
from pedanova.counting.levels import Levels
from pedanova.data.column import Column
from pedanova.errors import Arg, DataError
from pedanova.scale.cuda.device import WORDS, library
from pedanova.scale.cuda.tables import CardColumn, Counted, Units, bands_of, count_in_bands, units_for
from pedanova.space.grid import Grid, grid_of

PIECE = 1 << 26  # rows that are on the card at once


@dataclass(slots=True, eq=False)
class FromMemory(InMemory):
    """The same levels as in memory; the card counts."""

    def count(self, levels: Levels) -> Counts:
        cupy, observed = library(), self.observed
        codes = kept_codes(observed, levels, threads=self.threads, survey=self._survey)
        self._survey = None
        goal = as_read(observed.objective)
        units = units_of(goal, levels)
        tables: dict[str, list[Counted]] = {name: [] for name in observed.space}
        try:
            for start in range(0, len(codes), PIECE):
                rows = slice(start, start + PIECE)
                held = cupy.asarray(codes[rows]), levels.count, cupy.asarray(goal[rows]), units
                for name, parameter in observed.space.items():
                    column = on_card(observed.columns[name], grid_of(parameter), rows)
                    counts, sums = count_in_bands(*held, [column])[name]
                    tables[name].append((counts, sums))
        except cupy.cuda.memory.OutOfMemoryError as error:
            why = f"the card has too little memory ({error}); leave "
            raise DataError(why, Arg("engine", "cuda"), " out to count on the CPU") from None
        total = {name: list(added(pieces)) for name, pieces in tables.items()}
        counted = int(next(iter(total.values()))[0].sum())
        return Counts(len(observed), counted, total, None, list(observed.notes), observed.idle)


def on_card(column: Column, grid: Grid, rows: slice) -> CardColumn:
    """Some rows of a column, and the quickest exact way to its cells."""
    cupy = library()
    missing = None if column.missing is None else cupy.asarray(column.missing[rows].view(np.uint8))
    plan = lookup_of(column, grid)
    if plan is None:
        return CardColumn(column.name, grid, cupy.asarray(as_read(column.values[rows])), missing)
    values, offset, table = plan
    return CardColumn(column.name, grid, cupy.asarray(as_read(values[rows])), missing, offset, table)


def as_read(values: NDArray[Any]) -> NDArray[Any]:
    """As kernels read them, without a copy where that can be."""
    if values.dtype == np.bool_:
        return values.view(np.uint8)
    return np.ascontiguousarray(values if values.dtype.name in WORDS else values.astype(np.float64))


def units_of(goal: NDArray[Any], levels: Levels) -> list[Units]:
    """Units of the sums; none where no objective is finite."""
    sizes = np.abs(goal)
    finite = np.isfinite(sizes)
    if not finite.any():
        return []
    ends = float(goal.min(where=finite, initial=np.inf)), float(goal.max(where=finite, initial=-np.inf))
    smallest = float(sizes.min(where=finite & (sizes > 0), initial=np.inf))
    least = smallest if smallest < np.inf else 0.0
    units = units_for(levels, ends, least, single=bool(goal.dtype == np.float32))
    if units is not None:
        return [units]
    exponents = goal.astype(np.float64).view(np.int64) >> 52 & 2047
    return bands_of(np.bincount(exponents, minlength=2048), levels.count)
