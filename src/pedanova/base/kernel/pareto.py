"""Rank rows by several objectives: first by Pareto front, then by crowding distance within the front.

Within a front, rows with a larger crowding distance come first. If distances are equal, the
row at the start of the front comes first, then the row in the middle, then the rows at the quarters, and so on.
Distances are computed from ranks, so a monotone transform of an objective does not change the order.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pedanova.base.kernel import library as kernel

Reals = NDArray[np.float64]


def order_rows(losses: Reals) -> Reals:
    """The rank of each row from best (0) to worst, as an array (rows,); equal rows have equal ranks. All columns of
    `losses` (rows, objectives) are minimised."""
    distinct, back = np.unique(losses + 0.0, axis=0, return_inverse=True)
    fronts = front_of(distinct)
    places = np.lexsort([halving(fronts), -crowding(distinct, fronts), fronts])
    order = np.empty(len(distinct))
    order[places] = np.arange(len(distinct))
    return np.asarray(order[back.reshape(-1)])


def halving(fronts: NDArray[np.int64]) -> NDArray[np.uint64]:
    """A sort key for the rows of each front: first the start of the front, then the middle, the quarters, and so on."""
    by_front = np.argsort(fronts, kind="stable")  # rows are already sorted by the first objective
    starts = np.searchsorted(fronts[by_front], fronts[by_front])
    place = np.empty(len(fronts), dtype=np.uint64)
    place[by_front] = (np.arange(len(fronts)) - starts).astype(np.uint64)
    key = np.zeros_like(place)
    for bit in range(int(place.max(initial=0)).bit_length()):  # the position with its bits reversed
        key = (key << np.uint64(1)) | ((place >> np.uint64(bit)) & np.uint64(1))
    return key


def ranks_of(losses: Reals) -> NDArray[np.int64]:
    """The index of each row's Pareto front, as an array (rows,); front 0 is the best."""
    distinct, back = np.unique(losses + 0.0, axis=0, return_inverse=True)
    return front_of(distinct)[back.reshape(-1)]


def front_of(distinct: Reals) -> NDArray[np.int64]:
    """The index of each row's Pareto front; `distinct` must be sorted, so that dominating rows come first."""
    if distinct.shape[1] == 1:
        return np.arange(len(distinct))
    if kernel.available():
        rows, fronts = np.ascontiguousarray(distinct), np.empty(len(distinct), dtype=np.int64)
        kernel.call("find_fronts", rows, *rows.shape, fronts)
        return fronts
    return _fronts_by_numpy(distinct)


def _fronts_by_numpy(distinct: Reals) -> NDArray[np.int64]:
    """Assign each row to the first front in which no row dominates it; the front is found by bisection."""
    members: list[list[Reals]] = []
    fronts = np.empty(len(distinct), dtype=np.int64)
    for i, row in enumerate(distinct):
        low, high = 0, len(members)
        while low < high:
            middle = (low + high) // 2
            if np.any(np.all(np.array(members[middle]) <= row, axis=1)):
                low = middle + 1
            else:
                high = middle
        if low == len(members):
            members.append([])
        members[low].append(row)
        fronts[i] = low
    return fronts


def crowding(distinct: Reals, fronts: NDArray[np.int64]) -> Reals:
    """The crowding distance of each row within its front, computed from ranks; infinite at both ends of a front."""
    room = np.zeros(len(distinct))
    for objective in distinct.T:
        position = np.unique(objective, return_inverse=True)[1].reshape(-1).astype(np.float64)
        order = np.lexsort([position, fronts])
        here, front = position[order], fronts[order]
        first = np.r_[True, front[1:] != front[:-1]]
        last = np.r_[first[1:], True]
        sizes = np.diff(np.r_[np.flatnonzero(first), len(here)])
        smallest, largest = np.repeat(here[first], sizes), np.repeat(here[last], sizes)
        spread = np.maximum(largest - smallest, 1.0)
        gap = np.r_[0.0, here[2:] - here[:-2], 0.0] / spread if len(here) > 2 else np.zeros(len(here))
        gap[(here == smallest) | (here == largest)] = np.inf  # also every row that is tied with an end of its front
        room[order] += gap
    return room
