"""Three parameters and more at once: target and region rows by the coarse cells of each set.

A set's columns share two bytes, half of them in each, so that the kernel that counts pairs counts sets too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.base.kernel import library as kernel
from pedanova.base.threads import chunks, spread
from pedanova.counting.pair_arrays import PARTS, PIECE, filler_of
from pedanova.counting.pairs import MOST_GROUPS, Groups
from pedanova.data.column import cells_of
from pedanova.data.observations import Observations
from pedanova.space.grid import grid_of

Names: TypeAlias = tuple[str, ...]
Codes: TypeAlias = NDArray[np.uint8]
Tables: TypeAlias = NDArray[np.int64]  # (sets, parts, width ** order)


@dataclass(frozen=True, slots=True, eq=False)
class SetTally:
    """Rows of some sets of parameters, all of one order, by coarse cells."""

    sets: tuple[Names, ...]
    width: int  # coarse cells of the parameter that has most
    target: NDArray[Any] = field(repr=False)  # (sets, width ** order) rows, or a mean number of points
    region: NDArray[Any] = field(repr=False)

    @property
    def order(self) -> int:
        return len(self.sets[0])

    def cells(self) -> NDArray[np.int64]:
        """(order, width ** order) The coarse cell of each parameter."""
        return np.indices((self.width,) * self.order).reshape(self.order, -1)


def tally_sets(
    observed: Observations, codes: Codes, groups: Mapping[str, Groups], sets: Sequence[Names], *, threads: int = 1
) -> SetTally:
    """Codes are 0 in the target, 1 in its region, 2 elsewhere; all sets have the same order."""
    width = width_of(groups)
    fits = kernel.available() and width ** half(len(sets[0])) <= MOST_GROUPS
    count = count_by_kernel if fits else count_by_judge
    tables = count(observed, codes, groups, sets, threads=threads)
    return SetTally(tuple(sets), width, tables[:, 0], tables.sum(axis=1))


def width_of(groups: Mapping[str, Groups]) -> int:
    return max(int(group.max()) for group in groups.values()) + 1


def half(order: int) -> int:
    """So many columns of a set are in its first byte, the others in its second."""
    return -(-order // 2)


def count_by_judge(
    observed: Observations, codes: Codes, groups: Mapping[str, Groups], sets: Sequence[Names], *, threads: int = 1
) -> Tables:
    inside, width = codes < PARTS, width_of(groups)
    coarse = {
        name: group[cells_of(observed.columns[name], grid_of(observed.space[name]))][inside].astype(np.int64)
        for name, group in groups.items()
    }

    def count(names: Names) -> NDArray[np.int64]:
        flat = codes[inside].astype(np.int64)
        for name in names:
            flat = flat * width + coarse[name]
        return np.bincount(flat, minlength=PARTS * width ** len(names)).reshape(PARTS, -1)

    return np.array(spread(count, sets, threads=threads), dtype=np.int64)


def count_by_kernel(
    observed: Observations, codes: Codes, groups: Mapping[str, Groups], sets: Sequence[Names], *, threads: int = 1
) -> Tables:
    width, order = width_of(groups), len(sets[0])
    fillers = {name: filler_of(observed, name, group) for name, group in groups.items()}

    def count(rows: slice) -> Tables:
        columns = {}
        inside = np.flatnonzero(codes[rows] < PARTS)
        for name, fill in fillers.items():
            column = np.empty(rows.stop - rows.start, dtype=np.uint8)
            fill(rows, column)
            columns[name] = column[inside]
        return np.stack([count_set([columns[name] for name in names], codes[rows][inside], width) for names in sets])

    total = np.zeros((len(sets), PARTS, width**order), dtype=np.int64)
    work = chunks(len(codes), pieces=max(-(-len(codes) // PIECE), 1))
    for first in range(0, len(work), 2 * threads):  # so that few tables are held at once
        for part in spread(count, work[first : first + 2 * threads], threads=threads):
            total += part
    return total


def count_set(columns: Sequence[Codes], parts: Codes, width: int) -> Tables:
    """(parts, width ** order) of some rows."""
    split = half(len(columns))
    side, other = width**split, width ** (len(columns) - split)
    shared = np.zeros((2, len(parts)), dtype=np.uint8)
    for byte, some in zip(shared, (columns[:split], columns[split:]), strict=True):
        for column in some:
            byte *= width
            byte += column
    tables = np.zeros((1, PARTS, side, side), dtype=np.uint32)
    kernel.count_pairs(shared, np.ascontiguousarray(parts), side, tables)
    return tables[0, :, :, :other].reshape(PARTS, -1).astype(np.int64)
