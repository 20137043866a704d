"""What a space is guessed from where columns lie on a card: a sample, the extremes, all values if they are few."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.base.notes import Note
from pedanova.data.column import Column
from pedanova.data.conditions import Presence
from pedanova.scale.cuda.device import CardArray, blocks_for, here, kernel, launch, library
from pedanova.scale.cuda.order import ColumnExtent
from pedanova.scale.cuda.tables import CardColumn, CardRows, count_columns
from pedanova.space.grid import grid_of
from pedanova.space.parameters import Ordinal

SAMPLE = 50_000
FEW = 200  # so many different numbers are all looked for
THREADS = 512


def extent_of(array: Any) -> ColumnExtent:
    """What one pass over a column tells."""
    told = library().zeros(ColumnExtent.WORDS, dtype=np.uint64)
    look_at(array, told)
    return ColumnExtent.of(library().asnumpy(told))


def look_at(array: Any, told: Any) -> None:
    """Launch what adds a column, or a piece of one, to an extent."""
    reading = CardArray.of(array)
    function = kernel("extent", reading.word, "true" if reading.dense else "false")
    given = reading.array, np.int64(reading.stride), np.int64(len(array)), told
    launch(function, blocks_for(len(array), 4 * THREADS, 3 * here()[0]), THREADS, given)


def exponents_of(array: Any) -> NDArray[np.int64]:
    """(2048,) How many numbers have each exponent, as doubles."""
    cupy, reading = library(), CardArray.of(array)
    counts = cupy.zeros(2048, dtype=np.uint64)
    function = kernel("exponents", reading.word, "false", shared=8192)
    blocks = blocks_for(len(array), THREADS, 4 * here()[0])
    launch(function, blocks, THREADS, (reading.array, np.int64(reading.stride), np.int64(len(array)), counts), 8192)
    held: NDArray[np.int64] = cupy.asnumpy(counts).astype(np.int64)
    return held


@dataclass(slots=True, eq=False)
class CardEvidence:
    """Columns on a card, each as a small one in memory that stands for all rows."""

    table: Mapping[str, Any]
    extents: dict[str, ColumnExtent] = field(default_factory=dict)

    def columns(self, names: Sequence[str]) -> Mapping[str, Column]:
        return {name: self._column(name) for name in names}

    def presence(self, children: Sequence[str], parents: Sequence[str]) -> Presence:
        names = list(dict.fromkeys([*children, *parents]))
        return Presence.of({name: Column(name, self._sample(name)) for name in names}, children, parents)

    def notes(self) -> list[Note]:
        return []

    def _sample(self, name: str) -> NDArray[Any]:
        """The same rows of every column, from all over the table."""
        cupy, array = library(), self.table[name]
        rows = np.unique(np.linspace(0, len(array) - 1, min(len(array), SAMPLE)).astype(np.int64))
        picked: NDArray[Any] = cupy.asnumpy(array[cupy.asarray(rows)])
        return picked

    def _column(self, name: str) -> Column:
        array = self.table[name]
        sample = self._sample(name)
        extent = self.extents.setdefault(name, extent_of(array))
        gaps = extent.absent > 0
        finite = sample[np.isfinite(sample)] if sample.dtype.kind == "f" else sample
        known = np.unique(finite)
        ends = np.array([end for end in (extent.low, extent.high) if end == end]).astype(sample.dtype)
        beyond = np.setdiff1d(ends, known)
        if len(known) <= FEW and not self._are_all(array, np.union1d(known, ends)):
            more = self._others(array, known)
            beyond = np.union1d(beyond, more)
        values = np.concatenate([sample, beyond])
        if not gaps:
            return Column(name, values)
        values = np.append(values, values[-1:])
        return Column(name, values, None, np.arange(len(values)) == len(values) - 1)

    def _are_all(self, array: Any, values: NDArray[Any]) -> bool:
        """Whether no row holds another number."""
        if not len(values):
            return True
        grid = grid_of(Ordinal(tuple(value.item() for value in values)))
        rows = CardRows(library().zeros(len(array), dtype=np.uint8))
        ((counts, _),) = count_columns(rows, 1, None, [CardColumn("", grid, array)])
        return not counts[0, grid.outside]

    def _others(self, array: Any, known: NDArray[Any]) -> NDArray[Any]:
        """Some numbers that the sample lacks."""
        cupy = library()
        strange = ~cupy.isin(array, cupy.asarray(known)) & ~cupy.isnan(array)
        rows = cupy.flatnonzero(strange)[: 4 * FEW]
        others: NDArray[Any] = cupy.asnumpy(array[rows])
        return others
