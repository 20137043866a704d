"""Exact order statistics in O(rows): radix selection on the bits of the objective.

The first pass counts the leading 16 bits of every number. Each further pass counts the next bits,
but only below prefixes that hold a wanted rank, until few enough rows are left to sort them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova import kernel
from pedanova.workers import chunks, spread

SORT_BELOW = 1 << 16  # fewer rows are sorted at once
SMALLEST_PIECE = 1 << 18  # rows worth a thread of their own


def select_ranks(
    objective: NDArray[Any], sign: float, ranks: Iterable[int], *, threads: int = 1
) -> dict[int, float]:
    """For each rank (1 = smallest) the value of ``sign * objective`` there; NaN has no rank."""
    wanted = np.unique(np.fromiter(ranks, dtype=np.int64))
    if len(wanted) == 0:
        return {}
    if len(objective) < SORT_BELOW or not kernel.available() or not kernel.is_usable(objective):
        values = _by_partition(objective, sign, wanted)
    else:
        values = _by_radix(objective, sign, wanted, threads=threads)
    return dict(zip(wanted.tolist(), values.tolist(), strict=True))


def _by_partition(objective: NDArray[Any], sign: float, wanted: NDArray[np.int64]) -> NDArray[np.float64]:
    numbers = objective.astype(np.float64)
    numbers = sign * numbers[~np.isnan(numbers)] + 0.0
    numbers.partition(wanted - 1)
    picked: NDArray[np.float64] = numbers[wanted - 1]
    return picked


Count = Callable[[list[NDArray[np.int32]], int, int], NDArray[np.int64]]  # tables, prefixes, bits → counts
Gather = Callable[[list[NDArray[np.int32]], int], NDArray[np.float64]]  # tables, rows at most → signed values


def _by_radix(
    objective: NDArray[Any], sign: float, wanted: NDArray[np.int64], *, threads: int
) -> NDArray[np.float64]:
    pieces = chunks(len(objective), pieces=min(threads, len(objective) // SMALLEST_PIECE + 1))
    parts = [objective[piece] for piece in pieces]

    def count(tables: list[NDArray[np.int32]], nodes: int, bits: int) -> NDArray[np.int64]:
        counted = spread(lambda part: count_digits(part, sign, tables, nodes, bits), parts, threads=threads)
        total: NDArray[np.int64] = np.sum(counted, axis=0)
        return total

    def gather(tables: list[NDArray[np.int32]], most: int) -> NDArray[np.float64]:
        return np.concatenate(
            spread(lambda part: gather_wanted(part, sign, tables, most), parts, threads=threads)
        )

    return radix_select(count, gather, wanted, few=max(SORT_BELOW, len(objective) // 64))


def radix_select(count: Count, gather: Gather, wanted: NDArray[np.int64], *, few: int) -> NDArray[np.float64]:
    """Values at some ranks, by whoever counts and gathers; `few` rows are sorted at once."""
    tables: list[NDArray[np.int32]] = []  # which prefixes are wanted, digit by digit
    keys = np.zeros(1, dtype=np.uint64)  # the bits read so far, one prefix each
    under = np.zeros(len(wanted), dtype=np.int64)  # the prefix each wanted rank lies under
    inside = wanted - 1  # its rank among the rows of that prefix
    for bits in kernel.DIGIT_BITS:
        counts = count(tables, len(keys), bits)
        reached = np.cumsum(counts, axis=1)
        digit = np.array(
            [np.searchsorted(reached[u], i, side="right") for u, i in zip(under, inside, strict=True)]
        )
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
            picked: NDArray[np.float64] = rest[before[under] + inside]
            return picked
    return _value_of(keys)[under]  # every bit is known: many rows share these very values


def _value_of(keys: NDArray[np.uint64]) -> NDArray[np.float64]:
    """The numbers behind order keys; the inverse of `order_key` in column.hpp."""
    top = np.uint64(1 << 63)
    bits = np.where(keys & top, keys ^ top, ~keys)
    return bits.view(np.float64)


def count_digits(
    values: NDArray[Any], sign: float, tables: list[NDArray[np.int32]], nodes: int, bits: int
) -> NDArray[np.int64]:
    """(prefixes, digits) rows below each wanted prefix by their next digit."""
    counts = np.zeros((nodes, 1 << bits), dtype=np.int64)
    kernel.count_digits(values, sign, tables, counts)
    return counts


def gather_wanted(
    values: NDArray[Any], sign: float, tables: list[NDArray[np.int32]], most: int
) -> NDArray[np.float64]:
    """The signed values below the wanted prefixes."""
    out = np.empty(min(most, len(values)), dtype=np.float64)
    return out[: kernel.gather_wanted(values, sign, tables, out)]
