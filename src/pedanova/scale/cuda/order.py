"""Exact order statistics on a card: the way of `base.kernel.selection`, with slots that fit its shared memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.base.kernel.selection import COLLECTED, GOLDEN, PASSED_OVER, TAIL
from pedanova.scale.cuda.device import CardArray, blocks_for, here, kernel, launch, library

SLOTS = (1 << 14) - 1
SAMPLE = 1 << 13
THREADS = 512
MOST_GATHERED = 1 << 24  # rows that are sorted at once, of all slots together
FEW_AT_LEAST = 1 << 12
MIXED = 65_535
Indices: TypeAlias = NDArray[np.int64]
TOP = np.uint64(1 << 63)


def keys_of(values: NDArray[np.float64]) -> NDArray[np.uint64]:
    """`order_key` of the kernels, for doubles."""
    bits = (values + 0.0).view(np.uint64)
    return np.where(bits & TOP, ~bits, bits | TOP)


def values_of(keys: NDArray[np.uint64]) -> NDArray[np.float64]:
    """The numbers behind order keys."""
    bits = np.where(keys & TOP, keys ^ TOP, ~keys)
    return bits.view(np.float64)


def window_of(sample: NDArray[Any]) -> tuple[int, int]:
    """First key and bits of a slot, so that all but the outermost of a sample have slots of their own.

    Singles have keys of 32 bits, everything else those of doubles.
    """
    single = sample.dtype == np.float32
    known = sample[~np.isnan(sample)]
    width = 32 if single else 64
    keys = np.sort(single_keys(known) if single else keys_of(known.astype(np.float64)))
    if not len(keys):
        return 0, width - SLOTS.bit_length()
    tail = min(TAIL, (len(keys) - 1) // 2)
    low, high = int(keys[tail]), int(keys[-1 - tail])
    first = max(0, low - max(1, (high - low) // SLOTS))
    return first, max(0, (high - first).bit_length() - SLOTS.bit_length())


def as_values(keys: NDArray[Any], *, single: bool) -> NDArray[np.float64]:
    """The numbers behind order keys, which singles have of their own."""
    if not single:
        return values_of(keys)
    short = keys.astype(np.uint32)
    top = np.uint32(1 << 31)
    return np.where(short & top, short ^ top, ~short).view(np.float32).astype(np.float64)


def turn_of(sign: float) -> Any:
    """The bits that turn the sign of a number."""
    return np.uint64(0 if sign > 0 else 1 << 63)


def ranks_of(values: NDArray[Any]) -> NDArray[Any]:
    """What a kernel compares numbers by: keys of singles, doubles as they are."""
    return single_keys(values) if values.dtype == np.float32 else values


def single_keys(values: NDArray[np.float32]) -> NDArray[np.uint32]:
    bits = (values + np.float32(0)).view(np.uint32)
    top = np.uint32(1 << 31)
    return np.where(bits & top, ~bits, bits | top)


@dataclass(slots=True, eq=False)
class Ranking:
    """The objective on the card, and how many of its rows lie in each slot."""

    objective: CardArray
    sign: float
    first: int
    shift: int
    counts: NDArray[np.int64]  # (SLOTS + 1,) rows in each slot, and NaN

    @classmethod
    def of(cls, array: Any, sign: float) -> Ranking:
        cupy, reading, rows = library(), CardArray.of(array), len(array)
        turns = np.arange(min(rows, SAMPLE)) * GOLDEN % 1.0
        picked = cupy.asnumpy(reading.array[cupy.asarray((turns * rows).astype(np.int64))])
        first, shift = window_of(picked.dtype.type(sign) * picked if picked.dtype.kind == "f" else sign * picked)
        counts = cupy.zeros(SLOTS + 1, dtype=np.uint64)
        shared = 4 * (SLOTS + 1)
        function = kernel("count_slots", reading.word, _truth(reading.dense), shared=shared)
        processors, _ = here()
        blocks = blocks_for(rows, 4 * THREADS, 3 * processors)
        window = np.uint64(first), np.int32(shift), np.uint32(SLOTS)
        given = reading.array, np.int64(reading.stride), np.int64(rows), turn_of(sign), *window, counts
        launch(function, blocks, THREADS, given, shared)
        return cls(reading, sign, first, shift, cupy.asnumpy(counts).astype(np.int64))

    @property
    def numbers(self) -> int:
        return int(self.counts[:-1].sum())

    def window(self) -> tuple[Any, ...]:
        return np.uint64(self.first), np.int32(self.shift), np.uint32(SLOTS)

    def levels_of_slots(self, keys: NDArray[Any]) -> NDArray[np.uint16]:
        """(SLOTS + 1,) The level of each slot, given the keys where levels end; MIXED where one ends inside it."""
        slots = np.array([min(SLOTS - 1, max(0, int(key) - self.first) >> self.shift) for key in keys], dtype=np.int64)
        table = np.searchsorted(slots, np.arange(SLOTS + 1), side="left").astype(np.uint16)
        table[slots] = MIXED
        return table

    def values_at(self, ranks: Iterable[int]) -> dict[int, float]:
        """The signed objective at each of these ranks (1 = smallest)."""
        wanted = np.unique(np.fromiter(ranks, dtype=np.int64))
        if not len(wanted):
            return {}
        reached = np.cumsum(self.counts[:-1])
        slots, under = np.unique(np.searchsorted(reached, wanted - 1, side="right"), return_inverse=True)
        sizes = self.counts[slots]
        inside = wanted - 1 - (reached[slots] - sizes)[under]  # rank among the rows of the slot
        ends = np.full((len(slots), 2), np.nan)
        large = sizes > max(FEW_AT_LEAST, MOST_GATHERED // len(slots))
        values, ends[large] = self._pick(slots, sizes, ~large, under, inside)
        told = large[under]
        values[told] = ends[under, 0][told]
        odd = told & (ends[under, 0] < ends[under, 1])  # a large slot of many different numbers
        if odd.any():
            all_of_them = np.isin(np.arange(len(slots)), under[odd])
            values[odd] = self._pick(slots, sizes, all_of_them, under, inside)[0][odd]
        return dict(zip(wanted.tolist(), values.tolist(), strict=True))

    def _pick(
        self, slots: Indices, sizes: Indices, small: NDArray[np.bool_], under: Indices, inside: Indices
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Values at the ranks in small slots, all of whose rows are sorted; and the ends of the other slots."""
        cupy, rows = library(), len(self.objective.array)
        marks = np.full(SLOTS + 1, PASSED_OVER, dtype=np.int32)
        marks[slots] = np.where(small, COLLECTED, np.cumsum(~small) - 1)
        kept = np.packbits(marks > PASSED_OVER, bitorder="little").view(np.uint32)
        few, others = int(sizes[small].sum()), int((~small).sum())
        lows = cupy.full(max(1, others), ~np.uint64(0), dtype=np.uint64)
        highs = cupy.zeros(max(1, others), dtype=np.uint64)
        single = self.objective.array.dtype == np.float32
        out = cupy.zeros(max(1, few), dtype=np.uint32 if single else np.uint64)
        used = cupy.zeros(1, dtype=np.uint64)
        shared = 4 * len(kept)
        function = kernel("gather_slots", self.objective.word, _truth(self.objective.dense), shared=shared)
        processors, _ = here()
        where = self.objective.array, np.int64(self.objective.stride), np.int64(rows), turn_of(self.sign)
        blocks = blocks_for(rows, 4 * THREADS, 4 * processors)
        tables = cupy.asarray(kept), cupy.asarray(marks), lows, highs, out, used
        launch(function, blocks, THREADS, (*where, *self.window(), *tables), shared)
        out.sort()
        before = np.cumsum(np.where(small, sizes, 0)) - sizes
        places = np.where(small[under], before[under] + inside, 0)
        values = as_values(cupy.asnumpy(out[cupy.asarray(places)]), single=single)
        ends = np.stack([as_values(cupy.asnumpy(end[:others]), single=single) for end in (lows, highs)], axis=1)
        return values, ends


def _truth(value: bool) -> str:
    return "true" if value else "false"
