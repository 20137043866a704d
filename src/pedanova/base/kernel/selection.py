"""Exact order statistics in O(rows): radix selection on the bits of the objective.

The range of the numbers is divided into 65,535 slots. One pass counts the rows of each slot; a second pass collects the
few rows in the slots that contain the wanted ranks. Slots with very many rows are searched again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from pedanova.base.kernel import library as kernel

SORT_BELOW = 1 << 16  # fewer rows are sorted directly
SAMPLE = 1 << 13  # rows of the sample that determines the window
GOLDEN = (5**0.5 - 1) / 2  # multiples of it modulo 1 are evenly spread
TAIL = 16  # values at each end of the sample that may share wide slots
LONGEST_TAIL = 7  # the tail is doubled fewer times than this
MUCH_NEARER = 6  # a longer tail is used if slots become narrower by this power of two
SLOTS = (1 << 16) - 1  # together with the slot for NaN they fit into 16 bits
LEADING_BITS = (0, 48, SLOTS)  # the window of all numbers
MINUS_ZERO = (1 << 63) - 1  # the key of -0.0, which is counted as 0
MARKED = 255  # the code of a row in a searched slot
PASSED_OVER, COLLECTED = -2, -1  # marks of slots; other marks are the indices of large slots

Number = TypeVar("Number", bound=np.generic)
Window: TypeAlias = tuple[int, int, int]  # key of the first slot, bits of a slot, number of slots
Gathered: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64]]  # values, (slots, 2) ends


@dataclass(frozen=True, slots=True, eq=False)
class RankSearch:
    """The histogram bins (slots) that contain the wanted ranks, and the rows in these bins."""

    slots: NDArray[np.int64]  # the searched slots, ascending, fewer than `MARKED`
    codes: NDArray[np.uint8]  # (rows,) the number of searched slots before the row; `MARKED` inside one
    places: NDArray[np.int64]  # the rows inside a searched slot
    values: NDArray[np.float64]  # the signed objectives of these rows

    def tells(self, thresholds: NDArray[np.float64], survey: Survey) -> bool:
        """Whether the level of each row follows from `codes`, because no two thresholds lie in the same slot."""
        slots = slots_of(thresholds, survey.window)
        beyond = self.slots[len(slots) :]  # the slot of the largest number; no row may lie after it
        return (
            not survey.nans
            and np.array_equal(slots, self.slots[: len(slots)])
            and not (len(beyond) and survey.counts[beyond[0] + 1 :].any())
        )


@dataclass(slots=True, eq=False)
class Survey:
    """A histogram of the objective: the number of rows in each bin (slot), in ascending order."""

    window: Window
    counts: NDArray[np.int64]  # (slots + 1,) rows in each slot, and NaN
    search: RankSearch | None = None  # the search for ranks that also gives the levels

    @property
    def nans(self) -> int:
        return int(self.counts[-1])

    def shared_with(self, values: NDArray[np.float64]) -> int:
        """The number of rows in the slots that contain at least one of the numbers in `values`."""
        return int(self.counts[np.unique(slots_of(values, self.window))].sum())


def survey_rows(objective: NDArray[Any], sign: float, *, threads: int = 1) -> Survey | None:
    """A histogram of many rows; None if there are few rows, or if the kernel cannot read the type of the objective."""
    if len(objective) < SORT_BELOW or not kernel.available() or not kernel.is_usable(objective):
        return None
    window = window_around(sample_of(objective, sign))
    return Survey(window, count_slots(objective, sign, window, threads=threads))


def count_slots(objective: NDArray[Any], sign: float, window: Window, *, threads: int = 1) -> NDArray[np.int64]:
    """The number of rows in each histogram bin (slot); the last element is the number of NaN values."""
    counts = np.zeros(window[2] + 1, dtype=np.int64)
    kernel.call("count_window", *kernel.signed(objective, sign), *window, counts, threads)
    return counts


def distinct(values: NDArray[Number]) -> NDArray[Number]:
    """The sorted distinct values, as `np.unique` returns them, but without its slow import."""
    ordered = np.sort(values)
    first = np.ones(len(ordered), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered[first]


def select_ranks(
    objective: NDArray[Any], sign: float, ranks: Iterable[int], *, threads: int = 1, survey: Survey | None = None
) -> dict[int, float]:
    """For each of `ranks` (1 = smallest), the value of ``sign * objective`` at this rank; NaN are not ranked."""
    wanted = distinct(np.fromiter(ranks, dtype=np.int64))
    if len(wanted) == 0:
        return {}
    survey = survey or survey_rows(objective, sign, threads=threads)
    if survey is None:
        values = by_partition(objective, sign, wanted)
    else:
        values = _by_survey(objective, sign, wanted, survey, threads=threads)
    return dict(zip(wanted.tolist(), values.tolist(), strict=True))


def window_around(sample: NDArray[np.float64]) -> Window:
    """Choose slots that cover the values in `sample`; extreme values share the first and the last slot."""
    keys = np.sort(keys_of(sample[~np.isnan(sample)]))
    if not len(keys):
        return LEADING_BITS
    low, high = _ends_of(keys)
    first = max(0, low - max(1, (high - low) // SLOTS))
    first -= first == MINUS_ZERO
    return first, max(0, (high - first).bit_length() - SLOTS.bit_length()), SLOTS


def _ends_of(keys: NDArray[np.uint64]) -> tuple[int, int]:
    """The smallest and the largest number (as a key from `keys_of`) that the slots cover.

    A few percent of the rows may be far from the others, such as failures recorded as 0 or infinity. These rows are not
    covered; otherwise all other rows would share a few slots.
    """
    most = (len(keys) - 1) // 2
    first = min(TAIL, most)
    low, high = int(keys[first]), int(keys[-1 - first])
    for tail in (min(TAIL << step, most) for step in range(1, LONGEST_TAIL)):
        nearer = int(keys[-1 - tail])
        if (high - low).bit_length() - (nearer - low).bit_length() >= MUCH_NEARER:
            high = nearer
        farther = int(keys[tail])
        if (high - low).bit_length() - (high - farther).bit_length() >= MUCH_NEARER:
            low = farther
    return low, high


def slots_of(values: NDArray[np.float64], window: Window) -> NDArray[np.int64]:
    """The slot of each signed value, numbered as in `count_slots`; values must not be NaN."""
    first, shift, slots = window
    keys = np.maximum(keys_of(values), np.uint64(first)) - np.uint64(first)
    return np.asarray(np.minimum(keys >> np.uint64(shift), np.uint64(slots - 1)).astype(np.int64))


def sample_of(objective: NDArray[Any], sign: float) -> NDArray[np.float64]:
    """A sample of ``sign * objective``; rows are chosen at irregular intervals, because their order may be periodic."""
    rows = len(objective)
    turns = np.arange(min(rows, SAMPLE)) * GOLDEN % 1.0
    picked = objective if rows <= SAMPLE else objective[(turns * rows).astype(np.int64)]
    return np.asarray(sign * picked.astype(np.float64))


def _by_survey(
    objective: NDArray[Any], sign: float, wanted: NDArray[np.int64], survey: Survey, *, threads: int
) -> NDArray[np.float64]:
    def gather(marks: NDArray[np.int32], few: int, large: int) -> Gathered:
        slots = np.flatnonzero(marks > PASSED_OVER)
        if large or len(slots) >= MARKED:
            return gather_slots(objective, sign, survey.window, marks, few, large, threads=threads)
        codes, places = np.empty(len(objective), dtype=np.uint8), np.empty(few, dtype=np.int64)
        values, ends = gather_slots(objective, sign, survey.window, marks, few, large, codes, places, threads=threads)
        survey.search = RankSearch(slots, codes, places, values)
        return values, ends

    def again(odd: NDArray[np.int64]) -> NDArray[np.float64]:
        return by_partition(objective, sign, odd)

    return pick_ranks(survey.counts, wanted, gather, again, most=max(SORT_BELOW, len(objective) // 32))


def pick_ranks(
    counts: NDArray[np.int64],
    wanted: NDArray[np.int64],
    gather: Callable[[NDArray[np.int32], int, int], Gathered],
    again: Callable[[NDArray[np.int64]], NDArray[np.float64]],
    *,
    most: int,
) -> NDArray[np.float64]:
    """The values at the ranks `wanted`, given the number of rows in each slot.

    The function `gather` returns all values in the small slots, at most `most` in total, and the smallest and the
    largest value in each large slot. The function `again` finds all other values in the large slots.
    """
    reached = np.cumsum(counts[:-1])
    slots, under = np.unique(np.searchsorted(reached, wanted - 1, side="right"), return_inverse=True)
    sizes = counts[slots]
    inside = wanted - 1 - (reached[slots] - sizes)[under]  # the rank among the rows of the slot
    order = np.argsort(sizes, kind="stable")  # the smallest slots are collected, up to `most` rows
    small = np.zeros(len(sizes), dtype=bool)
    small[order] = np.cumsum(sizes[order]) <= most
    marks = np.full(len(counts), PASSED_OVER, dtype=np.int32)
    marks[slots] = np.where(small, COLLECTED, np.cumsum(~small) - 1)
    rest, ends = gather(marks, int(sizes[small].sum()), int((~small).sum()))
    before = np.cumsum(np.where(small, sizes, 0)) - sizes
    ended = np.full((len(slots), 2), np.nan)
    ended[~small] = ends
    values: NDArray[np.float64] = ended[under, 0]
    simple = small[under]
    values[simple] = np.sort(rest)[(before[under] + inside)[simple]]
    last = ~simple & (inside == sizes[under] - 1)
    values[last] = ended[under, 1][last]
    odd = (ended[under, 0] < ended[under, 1]) & (inside > 0) & ~last
    if odd.any():
        values[odd] = again(wanted[odd])
    return values


def gather_slots(
    objective: NDArray[Any],
    sign: float,
    window: Window,
    marks: NDArray[np.int32],
    few: int,
    large: int,
    codes: NDArray[np.uint8] | None = None,
    places: NDArray[np.int64] | None = None,
    *,
    threads: int = 1,
) -> Gathered:
    """All signed values in small slots, and the smallest and the largest value of each large slot. `marks` says which
    slots are small and which are large. If `codes` and `places` are given, they are filled as in `RankSearch`."""
    out = np.empty(min(few, len(objective)), dtype=np.float64)
    ends = np.tile([np.inf, -np.inf], (large, 1))
    given = *window, marks, ends, out, len(out), codes, places, threads
    count = kernel.call("gather_slots", *kernel.signed(objective, sign), *given)
    return out[:count].copy(), ends  # a copy, so that waiting batches do not keep the large buffer


def joined(parts: Iterable[Gathered]) -> Gathered:
    """Combine the results of `gather_slots` for several parts of the rows."""
    values, pairs = zip(*parts, strict=True)
    ends = np.array(pairs)
    both = np.stack([ends[:, :, 0].min(axis=0), ends[:, :, 1].max(axis=0)], axis=1)
    return np.concatenate(values), both


def by_partition(objective: NDArray[Any], sign: float, wanted: NDArray[np.int64]) -> NDArray[np.float64]:
    numbers = objective.astype(np.float64)
    numbers = sign * numbers[~np.isnan(numbers)] + 0.0
    numbers.partition(wanted - 1)
    return np.asarray(numbers[wanted - 1])


Count = Callable[[list[NDArray[np.int32]], int, int], NDArray[np.int64]]  # tables, prefixes, bits → counts
Gather = Callable[[list[NDArray[np.int32]], int], NDArray[np.float64]]  # tables, rows at most → signed values


def radix_select(count: Count, gather: Gather, wanted: NDArray[np.int64], *, few: int) -> NDArray[np.float64]:
    """Find the values at the ranks `wanted` by radix selection; once at most `few` rows are left, sort these rows."""
    tables: list[NDArray[np.int32]] = []  # the wanted prefixes, digit by digit
    keys = np.zeros(1, dtype=np.uint64)  # the bits read so far, for each prefix
    under = np.zeros(len(wanted), dtype=np.int64)  # the prefix of each wanted rank
    inside = wanted - 1  # its rank among the rows of that prefix
    for bits in kernel.DIGIT_BITS:
        counts = count(tables, len(keys), bits)
        reached = np.cumsum(counts, axis=1)
        digit = np.array([np.searchsorted(reached[u], i, side="right") for u, i in zip(under, inside, strict=True)])
        inside = inside - np.where(digit > 0, reached[under, digit - 1], 0)
        prefixes, under = np.unique((under << bits) + digit, return_inverse=True)
        table = np.full(counts.size, -1, dtype=np.int32)
        table[prefixes] = np.arange(len(prefixes))
        tables.append(table)
        keys = (keys[prefixes >> bits] << np.uint64(bits)) | (prefixes & ((1 << bits) - 1)).astype(np.uint64)
        sizes = counts.ravel()[prefixes]
        if sizes.sum() <= few and len(tables) < len(kernel.DIGIT_BITS):
            rest = np.sort(gather(tables, int(sizes.sum())))  # prefixes are in numeric order
            before = np.concatenate([[0], np.cumsum(sizes)[:-1]])
            return np.asarray(rest[before[under] + inside])
    return values_of(keys)[under]  # all bits are known, because many rows have exactly these values


def keys_of(values: NDArray[Any]) -> NDArray[Any]:
    """Map doubles or singles to integers in the same order, as `order_key` in column.hpp does."""
    bits = (values + values.dtype.type(0)).view(f"u{values.itemsize}")
    top = bits.dtype.type(1 << (8 * values.itemsize - 1))
    return np.asarray(np.where(bits & top, ~bits, bits | top))


def values_of(keys: NDArray[Any]) -> NDArray[np.float64]:
    """Convert the integer keys from `keys_of` back to numbers."""
    top = keys.dtype.type(1 << (8 * keys.itemsize - 1))
    bits = np.where(keys & top, keys ^ top, ~keys)
    return bits.view(f"f{keys.itemsize}").astype(np.float64, copy=False)


def count_digits(
    values: NDArray[Any], sign: float, tables: list[NDArray[np.int32]], nodes: int, bits: int
) -> NDArray[np.int64]:
    """Count the rows for every prefix of their keys and every digit after the prefix: an array (prefixes, digits)."""
    counts = np.zeros((nodes, 1 << bits), dtype=np.int64)
    kernel.call("count_digits", *kernel.signed(values, sign), kernel.pointers(tables), len(tables), counts)
    return counts


def gather_wanted(values: NDArray[Any], sign: float, tables: list[NDArray[np.int32]], most: int) -> NDArray[np.float64]:
    """The values, multiplied by `sign`, whose keys begin with one of the prefixes in `tables`."""
    out = np.empty(min(most, len(values)), dtype=np.float64)
    wanted = kernel.pointers(tables), len(tables)
    return out[: kernel.call("gather_wanted", *kernel.signed(values, sign), *wanted, out, len(out))].copy()  # as above
