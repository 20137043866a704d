"""Rows in memory, counted on a card: columns travel there piece by piece, each while another is counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.counting.arrays import kept_codes, lookup_of
from pedanova.counting.counts import Counts
from pedanova.counting.in_memory import InMemory
from pedanova.counting.levels import Levels
from pedanova.data.column import Column
from pedanova.data.observations import Observations
from pedanova.errors import Arg, DataError
from pedanova.scale.cuda.card_table import CardTable
from pedanova.scale.cuda.device import WORDS, library
from pedanova.scale.cuda.evidence import look_at
from pedanova.scale.cuda.ferry import Ferry
from pedanova.scale.cuda.order import ColumnExtent
from pedanova.scale.cuda.tables import CardColumn, CardRows, Counted, Counter, add_bands, in_order
from pedanova.scale.cuda.units import Units, bands_of, units_for
from pedanova.space.grid import Grid, grid_of
from pedanova.space.parameters import Space

PIECE = 1 << 24  # rows that travel at once: a multiple of 16, since kernels read some at a time
LARGE = 1 << 20  # rows whose thresholds a card finds sooner
SAMPLE = 1 << 16  # rows of which levels are counted, about
RowsOf = Callable[[slice], CardRows]


@dataclass(slots=True, eq=False)
class FromMemory(InMemory):
    """The same as in memory, counted by the card; the objective of a large table stays on it."""

    _goal: CardTable | None = None

    def cut(self, quantiles: Sequence[Fraction], *, every: bool = False) -> Levels:
        self._goal = self._goal or self._on_card()
        return InMemory.cut(self, quantiles, every=every) if self._goal is None else self._goal.cut(quantiles)

    def count(self, levels: Levels) -> Counts:
        observed, card = self.observed, self._goal
        if card is None:
            codes = kept_codes(observed, levels, threads=self.threads, survey=self._survey)
            self._survey = None
            found = count_on_card(observed, codes, levels, threads=self.threads)
        else:
            told = card.codes(levels)
            bands: Sequence[Units | None] = card.units(levels) or [None]
            rows: RowsOf = lambda piece: CardRows(told[piece], card.goal[piece])  # noqa: E731
            found = _in_bands(observed, rows, levels.count, bands, self.threads)
            self._goal = None  # the card's memory is given back
        tables: dict[str, list[Any]] = {name: list(both) for name, both in found.items()}
        counted = int(next(iter(found.values()))[0].sum())
        return Counts(len(observed), counted, tables, None, list(observed.notes), observed.idle)

    def _on_card(self) -> CardTable | None:
        """The objective of a large table of which all rows count, on the card; None where it is too large for it."""
        goal, cupy = self.observed.objective, library()
        if self.several or self.observed.keep is not None or goal.dtype not in WORDS or goal.dtype.kind != "f":
            return None
        free, _ = cupy.cuda.runtime.memGetInfo()
        if len(goal) < LARGE or 4 * goal.nbytes > free:
            return None
        whole, ferry = cupy.empty(len(goal), dtype=goal.dtype), Ferry(self.threads)
        for piece in pieces_of(len(goal)):
            whole[piece] = ferry.bring(goal[piece])
        return CardTable(self.objective, self.direction, self.nan, Space({}), {}, whole)


def count_on_card(
    observed: Observations, codes: NDArray[Any], levels: Levels, *, threads: int = 1
) -> dict[str, Counted]:
    """Counts and sums of every parameter, by a card; rows coded ``levels.count`` are left out."""
    goal = as_read(observed.objective)
    ferries = Ferry(threads), Ferry(threads)
    bands: Sequence[Units | None] = units_of(goal, codes, levels, ferries[1]) or [None]

    def rows_of(piece: slice) -> CardRows:
        return CardRows(ferries[0].bring(codes[piece]), ferries[1].bring(goal[piece]))

    return _in_bands(observed, rows_of, levels.count, bands, threads)


def _in_bands(
    observed: Observations, rows_of: RowsOf, levels: int, bands: Sequence[Units | None], threads: int
) -> dict[str, Counted]:
    try:
        found = add_bands([_count(observed, rows_of, levels, units, threads) for units in bands])
    except library().cuda.memory.OutOfMemoryError as error:
        why = f"the card has too little memory ({error}); leave "
        raise DataError(why, Arg("engine", "cuda"), " out to count on the CPU") from None
    return dict(zip(observed.space, found, strict=True))


def _count(observed: Observations, rows_of: RowsOf, levels: int, units: Units | None, threads: int) -> list[Counted]:
    grids = [grid_of(parameter) for parameter in observed.space.values()]
    counter, ferries = Counter(grids, levels, units), (Ferry(threads), Ferry(threads))
    columns: list[CardColumn] = []
    for piece in pieces_of(len(observed)):
        rows, columns = rows_of(piece), []
        for place, (name, grid) in enumerate(zip(observed.space, grids, strict=True)):
            columns.append(on_card(observed.columns[name], grid, piece, *ferries))
            counter.add(place, columns[-1], rows)
    return [in_order(column, *both) for column, both in zip(columns, counter.take(), strict=True)]


def pieces_of(rows: int) -> list[slice]:
    return [slice(start, min(start + PIECE, rows)) for start in range(0, rows, PIECE)]


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


def units_of(goal: NDArray[Any], codes: NDArray[Any], levels: Levels, ferry: Ferry) -> list[Units]:
    """Units of the sums; none where no objective is finite."""
    told = library().zeros(ColumnExtent.WORDS, dtype=np.uint64)
    for piece in pieces_of(len(goal)):
        look_at(ferry.bring(goal[piece]), told)
    extent = ColumnExtent.of(library().asnumpy(told))
    if extent.low != extent.low:
        return []
    rows = np.bincount(codes[:: max(1, len(codes) // SAMPLE)], minlength=levels.count)[: levels.count]
    units = units_for(levels, extent, rows, single=bool(goal.dtype == np.float32))
    if units is not None:
        return [units]
    exponents = goal.astype(np.float64).view(np.int64) >> 52 & 2047
    return bands_of(np.bincount(exponents, minlength=2048), levels.count)
