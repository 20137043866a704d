"""Pairs of parameters: coarse cells for each, and target and region rows of every two."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.errors import MergeError
from pedanova.space.grid import Block, Grid

Groups = NDArray[np.uint8]  # (cells + 2,) the coarse cell of every cell
MOST_GROUPS = 256  # codes have 8 bits


@dataclass(frozen=True, slots=True, eq=False)
class PairTally:
    """Rows of every two of some parameters by coarse cells; tallies of parts add up.

    The pairs are in the order of ``itertools.combinations(names, 2)``.
    """

    names: tuple[str, ...]
    groups: Mapping[str, Groups] = field(repr=False)
    target: NDArray[Any] = field(repr=False)  # (pairs, width, width) rows, or a mean number of points
    region: NDArray[Any] = field(repr=False)

    def __post_init__(self) -> None:
        shape = (len(self.pairs), self.width, self.width)
        if self.target.shape != shape or self.region.shape != shape:
            raise MergeError(
                f"pair counts of shape {self.target.shape} and {self.region.shape} do not fit {shape[0]} "
                f"pairs of {shape[1]} cells"
            )

    @property
    def pairs(self) -> list[tuple[str, str]]:
        return list(combinations(self.names, 2))

    @property
    def width(self) -> int:
        """Coarse cells of the parameter that has most."""
        return max(int(self.groups[name].max()) for name in self.names) + 1

    def __add__(self, other: PairTally) -> PairTally:
        if not isinstance(other, PairTally):
            return NotImplemented
        if self.names != other.names:
            raise MergeError(f"parameters differ: {list(self.names)} and {list(other.names)}")
        for name in self.names:
            if not np.array_equal(self.groups[name], other.groups[name]):
                raise MergeError(f"{name}: coarse cells differ; count both parts with the groups of the first")
        return PairTally(self.names, self.groups, self.target + other.target, self.region + other.region)


def coarse_groups(grid: Grid, region: NDArray[np.int64], cells: int) -> Groups:
    """At most so many cells of about equal counts, besides those of missing and outside rows.

    Values that occur keep a cell of their own where they are few enough. Otherwise neighbours in
    order share cells; of categories the most frequent stay alone and the rest are one cell. Each
    domain of a conditional parameter has cells in proportion to its rows, one at the least.
    """
    groups = np.zeros(grid.width, dtype=np.int64)
    own, total = region[: grid.cells], int(region[: grid.cells].sum())
    few = np.count_nonzero(own) <= cells
    used = 0
    for block in grid.blocks:
        counts = own[block.start : block.stop]
        if counts.any():
            share = len(counts) if few else max(1, round(cells * int(counts.sum()) / total))
            placed = merged(counts, share, block)
            groups[block.start : block.stop] = used + placed
            used += int(placed.max()) + 1
    for cell in (grid.missing, grid.outside):
        if region[cell]:
            groups[cell] = used
            used += 1
    return np.minimum(groups, MOST_GROUPS - 1).astype(np.uint8)


def merged(counts: NDArray[np.int64], most: int, block: Block) -> NDArray[np.int64]:
    """(cells,) Groups from 0 up, none of them empty; cells without rows join one that has some."""
    full = np.flatnonzero(counts)
    if len(full) <= most:
        group = np.arange(len(full))
    elif block.ordered:
        middle = np.cumsum(counts[full]) - counts[full] / 2
        group = np.unique(np.floor(middle * most / counts.sum()), return_inverse=True)[1]
    else:
        place = np.empty(len(full), dtype=np.int64)
        place[np.argsort(-counts[full], kind="stable")] = np.arange(len(full))
        group = np.minimum(place, most - 1)
    nearest = np.clip(np.searchsorted(full, np.arange(len(counts)), side="right") - 1, 0, None)
    placed: NDArray[np.int64] = group[nearest]
    return placed
