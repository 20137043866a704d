"""Rows in memory, counted on a GPU: columns travel there piece by piece, each while another is counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.counting.arrays import kept_codes, lookup_of
from pedanova.counting.countable import InMemory
from pedanova.counting.levels import Levels
from pedanova.counting.tally import Counts
from pedanova.data.column import Column
from pedanova.data.observations import Observations
from pedanova.errors import Arg, DataError
from pedanova.scale.cuda.device import WORDS, PinnedCopy, library
from pedanova.scale.cuda.device_table import DeviceTable, look_at
from pedanova.scale.cuda.order import ColumnExtent
from pedanova.scale.cuda.tables import (
    Counted,
    Counter,
    DeviceColumn,
    DeviceRows,
    Units,
    add_bands,
    bands_of,
    in_order,
    units_for,
)
from pedanova.space.grid import Grid, grid_of
from pedanova.space.parameters import Space

PIECE = 1 << 24  # rows that travel at once: a multiple of 16, since kernels read some at a time
LARGE = 1 << 20  # rows whose thresholds a GPU finds sooner
SAMPLE = 1 << 16  # rows of which levels are counted, about
RowsOf = Callable[[slice], DeviceRows]


class FromMemory(InMemory):
    """The same as in memory, counted by the GPU; the objective of a large table stays on it."""

    _goal: DeviceTable | None = None

    def cut(self, quantiles: Sequence[Fraction], *, every: bool = False) -> Levels:
        self._goal = self._goal or self._on_device()
        return InMemory.cut(self, quantiles, every=every) if self._goal is None else self._goal.cut(quantiles)

    def count(self, levels: Levels) -> Counts:
        observed, goal = self.observed, self._goal
        if goal is None:
            codes = kept_codes(observed, levels, threads=self.threads, survey=self._survey)
            self._survey = None
            result = count_from_memory(observed, codes, levels, threads=self.threads)
        else:
            device_codes = goal.codes(levels)
            bands: Sequence[Units | None] = goal.units(levels) or [None]
            rows: RowsOf = lambda piece: DeviceRows(device_codes[piece], goal.goal[piece])  # noqa: E731
            result = _in_bands(observed, rows, levels.count, bands, self.threads)
            self._goal = None  # the GPU's memory is given back
        tables: dict[str, list[Any]] = {name: list(both) for name, both in result.items()}
        counted = int(next(iter(result.values()))[0].sum())
        return Counts(len(observed), counted, tables, None, list(observed.notes), observed.idle)

    def _on_device(self) -> DeviceTable | None:
        """The objective of a large table of which all rows count, on the GPU; None where it is too large for it."""
        goal, cupy = self.observed.objective, library()
        if self.several or self.observed.keep is not None or goal.dtype not in WORDS or goal.dtype.kind != "f":
            return None
        free, _ = cupy.cuda.runtime.memGetInfo()
        if len(goal) < LARGE or 4 * goal.nbytes > free:
            return None
        whole, copy = cupy.empty(len(goal), dtype=goal.dtype), PinnedCopy(self.threads)
        for piece in pieces_of(len(goal)):
            whole[piece] = copy.upload(goal[piece])
        return DeviceTable(self.objective, self.direction, self.nan, Space({}), {}, whole)


def count_from_memory(
    observed: Observations, codes: NDArray[Any], levels: Levels, *, threads: int = 1
) -> dict[str, Counted]:
    """Counts and sums of every parameter, by a GPU; rows coded ``levels.count`` are left out."""
    goal = as_read(observed.objective)
    copies = PinnedCopy(threads), PinnedCopy(threads)
    bands: Sequence[Units | None] = units_of(goal, codes, levels, copies[1]) or [None]

    def rows_of(piece: slice) -> DeviceRows:
        return DeviceRows(copies[0].upload(codes[piece]), copies[1].upload(goal[piece]))

    return _in_bands(observed, rows_of, levels.count, bands, threads)


def _in_bands(
    observed: Observations, rows_of: RowsOf, levels: int, bands: Sequence[Units | None], threads: int
) -> dict[str, Counted]:
    try:
        result = add_bands([_count(observed, rows_of, levels, units, threads) for units in bands])
    except library().cuda.memory.OutOfMemoryError as error:
        why = f"the GPU has too little memory ({error}); leave "
        raise DataError(why, Arg("engine", "cuda"), " out to count on the CPU") from None
    return dict(zip(observed.space, result, strict=True))


def _count(observed: Observations, rows_of: RowsOf, levels: int, units: Units | None, threads: int) -> list[Counted]:
    grids = [grid_of(parameter) for parameter in observed.space.values()]
    counter, copies = Counter(grids, levels, units), (PinnedCopy(threads), PinnedCopy(threads))
    columns: list[DeviceColumn] = []
    for piece in pieces_of(len(observed)):
        rows, columns = rows_of(piece), []
        for place, (name, grid) in enumerate(zip(observed.space, grids, strict=True)):
            columns.append(on_device(observed.columns[name], grid, piece, *copies))
            counter.add(place, columns[-1], rows)
    return [in_order(column, *both) for column, both in zip(columns, counter.take(), strict=True)]


def pieces_of(rows: int) -> list[slice]:
    return [slice(start, min(start + PIECE, rows)) for start in range(0, rows, PIECE)]


def on_device(column: Column, grid: Grid, rows: slice, values: PinnedCopy, missing: PinnedCopy) -> DeviceColumn:
    """Some rows of a column, and the quickest exact way to its cells."""
    gone = None if column.missing is None else missing.upload(column.missing[rows].view(np.uint8))
    plan = lookup_of(column, grid)
    if plan is None:
        return DeviceColumn(column.name, grid, values.upload(as_read(column.values[rows])), gone)
    numbers, offset, table = plan
    return DeviceColumn(column.name, grid, values.upload(as_read(numbers[rows])), gone, offset, table)


def as_read(values: NDArray[Any]) -> NDArray[Any]:
    """As kernels read them, without a copy where that can be."""
    if values.dtype == np.bool_:
        return values.view(np.uint8)
    return values if values.dtype in WORDS else values.astype(np.float64)


def units_of(goal: NDArray[Any], codes: NDArray[Any], levels: Levels, copy: PinnedCopy) -> list[Units]:
    """Units of the sums; none where no objective is finite."""
    words = library().zeros(ColumnExtent.WORDS, dtype=np.uint64)
    for piece in pieces_of(len(goal)):
        look_at(copy.upload(goal[piece]), words)
    extent = ColumnExtent.of(library().asnumpy(words))
    if extent.low != extent.low:
        return []
    rows = np.bincount(codes[:: max(1, len(codes) // SAMPLE)], minlength=levels.count)[: levels.count]
    units = units_for(levels, extent, rows, single=bool(goal.dtype == np.float32))
    if units is not None:
        return [units]
    exponents = goal.astype(np.float64).view(np.int64) >> 52 & 2047
    return bands_of(np.bincount(exponents, minlength=2048), levels.count)
