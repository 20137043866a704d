"""Exact order statistics on a GPU, as in `base.kernel.selection`, with a histogram that fits into shared memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.base.kernel.selection import COLLECTED, GOLDEN, PASSED_OVER, distinct, keys_of, values_of
from pedanova.scale.cuda.device import DeviceArray, fetching, library

SLOTS = (1 << 14) - 1
SAMPLE = 1 << 12
MOST_GATHERED = 1 << 24  # the most rows of all slots together that are sorted at once
TAIL = 4  # numbers of a sample beyond each end of the window
MIXED = 1 << 15
QUEUED = 1 << 16  # bytes of shared memory for the rows that a block gathers
Indices: TypeAlias = NDArray[np.int64]


def window_of(sample: NDArray[Any]) -> tuple[int, int]:
    """The first key of the histogram, and the width of its bins (slots) in bits; the bins cover most of the sample.

    Keys of float32 numbers have 32 bits; all other types use the 64-bit keys of doubles.
    """
    numbers = sample[~np.isnan(sample)]
    keys = np.sort(keys_of(numbers if sample.dtype == np.float32 else numbers.astype(np.float64)))
    if not len(keys):
        return 0, 8 * keys.itemsize - SLOTS.bit_length()
    tail = min(TAIL, (len(keys) - 1) // 2)
    low, high = int(keys[tail]), int(keys[-1 - tail])
    first = max(0, low - max(1, (high - low) // SLOTS))
    return first, max(0, (high - first).bit_length() - SLOTS.bit_length())


@dataclass(frozen=True, slots=True)
class ColumnExtent:
    """The range of a column's numbers and other properties, from one pass over the column."""

    low: float  # the smallest finite number; NaN if there is none
    high: float
    smallest: float  # the smallest absolute value above 0; 0 if there is none
    whole: bool  # whether all numbers are integers
    absent: int  # NaN

    WORDS: ClassVar[int] = 5  # words of a kernel's output, which start as zeros

    @classmethod
    def of(cls, words: NDArray[np.uint64], sign: float = 1.0, absent: int = 0) -> ColumnExtent:
        """Decode the output of a CUDA kernel; the kernel multiplied the numbers by `sign`."""
        low, high, small = values_of(np.array([~words[0], words[1], ~words[2]])).tolist()
        absent += int(words[4])
        if not words[1]:
            return cls(np.nan, np.nan, 0.0, True, absent)
        low, high = (low, high) if sign > 0 else (-high, -low)
        return cls(low, high, small if words[2] else 0.0, not words[3], absent)


def turn_of(sign: float) -> Any:
    """A bit mask that changes the sign of a double if `sign` is negative."""
    return np.uint64(0 if sign > 0 else 1 << 63)


def ranks_of(values: NDArray[Any]) -> NDArray[Any]:
    """Convert values for comparisons in a CUDA kernel: float32 to integer keys; doubles are not changed."""
    return keys_of(values) if values.dtype == np.float32 else values


@lru_cache(maxsize=16)
def sampled_rows(rows: int, _: int) -> Any:
    """The indices of a sample of rows from the whole table, as an array on the current GPU."""
    turns = np.arange(min(rows, SAMPLE)) * GOLDEN % 1.0
    return library().asarray((turns * rows).astype(np.int64))


@dataclass(slots=True, eq=False)
class Ranking:
    """The objective in GPU memory, with a histogram of its rows in bins (slots)."""

    objective: DeviceArray
    sign: float
    first: int
    shift: int
    counts: NDArray[np.int64]  # (SLOTS + 1,) rows in each slot, and NaN
    extent: ColumnExtent
    reached: NDArray[np.int64]  # (SLOTS,) rows up to each slot

    @classmethod
    def of(cls, array: Any, sign: float, meanwhile: Callable[[], object] = tuple) -> Ranking:
        """Count the slots; `meanwhile` gives the GPU more to do, before the CPU waits for the counts."""
        cupy, reading, rows = library(), DeviceArray.of(array), len(array)
        picked = cupy.asnumpy(reading.array[sampled_rows(rows, cupy.cuda.runtime.getDevice())])
        first, shift = window_of(picked.dtype.type(sign) * picked if picked.dtype.kind == "f" else sign * picked)
        out = cupy.zeros(SLOTS + 1 + ColumnExtent.WORDS, dtype=np.uint64)
        window = np.uint64(first), np.int32(shift), np.uint32(SLOTS)
        given = turn_of(sign), *window, out, out[SLOTS + 1 :]
        reading.read_by("count_slots", *given, shared=4 * (SLOTS + 1))
        wait = fetching(out)
        meanwhile()
        host = wait()
        counts, extent = host[: SLOTS + 1].view(np.int64), ColumnExtent.of(host[SLOTS + 1 :], sign, int(host[SLOTS]))
        return cls(reading, sign, first, shift, counts, extent, np.cumsum(counts[:-1]))

    @property
    def numbers(self) -> int:
        return int(self.reached[-1])

    def window(self) -> tuple[Any, ...]:
        return np.uint64(self.first), np.int32(self.shift), np.uint32(SLOTS)

    def levels_of_slots(self, keys: NDArray[Any]) -> NDArray[np.uint16]:
        """For each slot, the number of levels that end before it; the bit MIXED is set if a level ends inside it."""
        slots = self._slots_of(keys)
        table = np.repeat(np.arange(len(slots) + 1, dtype=np.uint16), np.diff(slots + 1, prepend=0, append=SLOTS + 1))
        table[slots] |= MIXED
        return table

    def rows_of_levels(self, keys: NDArray[Any]) -> NDArray[np.int64]:
        """The approximate number of rows in each level, as an array (levels,); `keys` are the ends of the levels."""
        return np.diff(self.reached[self._slots_of(keys)], prepend=0, append=self.numbers)

    def _slots_of(self, keys: NDArray[Any]) -> Indices:
        first = np.uint64(self.first)
        above = np.maximum(keys.astype(np.uint64), first) - first
        slots: Indices = np.minimum(above >> np.uint64(self.shift), np.uint64(SLOTS - 1)).astype(np.int64)
        return slots

    def values_at(self, ranks: Iterable[int]) -> dict[int, float]:
        """The signed objective of the rows with these ranks (1 = smallest)."""
        wanted = distinct(np.fromiter(ranks, dtype=np.int64))
        if not len(wanted):
            return {}
        reached = self.reached
        slots, under = np.unique(np.searchsorted(reached, wanted - 1, side="right"), return_inverse=True)
        sizes = self.counts[slots]
        inside = wanted - 1 - (reached[slots] - sizes)[under]  # rank among the rows of the slot
        ends = np.full((len(slots), 2), np.nan)
        first, last = inside == 0, inside == sizes[under] - 1
        whole = np.bincount(under[~first & ~last], minlength=len(slots)) > 0  # for other slots, the ends are enough
        small = whole & (np.cumsum(np.sort(sizes))[np.argsort(np.argsort(sizes))] <= MOST_GATHERED)
        values, ends[~small] = self._pick(slots, sizes, small, under, inside)
        by_ends = ~small[under]
        values[by_ends] = np.where(last, ends[under, 1], ends[under, 0])[by_ends]
        odd = by_ends & (ends[under, 0] < ends[under, 1]) & ~first & ~last  # a large slot with many different numbers
        if odd.any():
            all_of_them = np.bincount(under[odd], minlength=len(slots)) > 0
            values[odd] = self._pick(slots, sizes, all_of_them, under, inside)[0][odd]
        return dict(zip(wanted.tolist(), values.tolist(), strict=True))

    def _pick(
        self, slots: Indices, sizes: Indices, small: NDArray[np.bool_], under: Indices, inside: Indices
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Sort the rows of small slots and return the values at the ranks; for the other slots, return their ranges."""
        cupy = library()
        marks = np.full(SLOTS + 1, PASSED_OVER, dtype=np.int32)
        marks[slots] = np.where(small, COLLECTED, np.cumsum(~small) - 1)
        kept = np.packbits(marks > PASSED_OVER, bitorder="little").view(np.uint32)
        few, others = int(sizes[small].sum()), int((~small).sum())
        single = self.objective.array.dtype == np.float32
        out = cupy.empty(max(1, few), dtype=np.uint32 if single else np.uint64)
        ends = np.zeros((2, others), dtype=np.uint64)
        ends[0] = ~np.uint64(0)  # lows, highs
        before = np.cumsum(np.where(small, sizes, 0)) - sizes
        places = np.where(small[under], before[under] + inside, 0).view(np.uint64)
        own = ends.ravel(), np.zeros(1, np.uint64), kept.view(np.uint64), marks.view(np.uint64), places
        buffer = cupy.asarray(np.concatenate(own))  # in one transfer
        used = 2 * others
        bits = buffer[used + 1 :]
        tables = bits, bits[len(kept) // 2 :], buffer, buffer[others:], buffer[used:], out
        given = turn_of(self.sign), *self.window(), *tables
        self.objective.read_by("gather_slots", *given, shared=QUEUED + 4 * len(kept))
        out.sort()
        picked, keys = fetching(out[buffer[-len(places) :].view(np.int64)]), fetching(buffer[: max(1, used)])
        return values_of(picked()), values_of(keys()[:used].reshape(2, others).astype(out.dtype)).T
