"""Cells of a grid put together: finely for a saved table, coarsely for counting few points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.space.grid import Block, Cells, Grid

Reals: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.int64]
FINE = 250  # cells of a saved range: one byte, with room for no value
COARSE = 50  # cells of a range in which points are counted


@dataclass(frozen=True, slots=True, eq=False)
class Fold:
    """Which folded cell every cell of a grid lies in. The last one holds what has no value."""

    table: Cells  # (width,) cell of the grid → folded cell
    blocks: tuple[Block, ...]  # of folded cells, one for each regime; the last is "no value"
    prior: Reals  # (cells,) inside each block it adds to one

    @property
    def cells(self) -> int:
        return self.blocks[-1].stop

    @property
    def middles(self) -> Cells:
        """(cells,) Of every folded cell, the middle one of the grid's cells; the first of those without a value."""
        first = np.searchsorted(self.table, np.arange(self.cells))
        inside = (np.bincount(self.table, minlength=self.cells) - 1) // 2
        inside[-1] = 0
        found: Cells = (first + inside).astype(np.int32)
        return found

    def then(self, other: Fold) -> Cells:
        """(cells,) Folded cell here → folded cell there, for a coarser fold of the same grid."""
        found = np.zeros(self.cells, dtype=np.int32)
        found[self.table] = other.table
        return found


@lru_cache(maxsize=2048)
def fold_of(grid: Grid, most: int) -> Fold:
    """At most so many cells for every ordered regime; categories are never put together."""
    table = np.empty(grid.width, dtype=np.int32)
    blocks: list[Block] = []
    priors: list[Reals] = []
    end = 0
    for block in grid.blocks:
        cells = block.stop - block.start
        kept = min(cells, most) if block.ordered else cells
        inside = np.arange(cells) * kept // cells
        table[block.start : block.stop] = end + inside
        mass = np.bincount(inside, weights=grid.prior[block.start : block.stop], minlength=kept)
        priors.append(mass / mass.sum())
        blocks.append(Block(end, end + kept, block.ordered))
        end += kept
    table[grid.cells :] = end
    blocks.append(Block(end, end + 1, ordered=False))
    return Fold(table, tuple(blocks), np.concatenate([*priors, np.ones(1)]))


@dataclass(frozen=True, slots=True, eq=False)
class Shelf:
    """The folds of several parameters side by side, so that all are counted at once."""

    folds: tuple[Fold, ...]
    starts: Indices  # (parameters + 1,) first cell of each
    block_starts: Indices  # (blocks,) of all
    block_owner: Indices  # (blocks,) the parameter that each belongs to
    prior: Reals  # (cells,) inside each block it adds to one

    @property
    def cells(self) -> int:
        return int(self.starts[-1])

    def by_block(self, values: Reals) -> Reals:
        """(draws, blocks) Sums over the cells of each block."""
        found: Reals = np.add.reduceat(values, self.block_starts, axis=1)
        return found

    def by_parameter(self, values: Reals) -> Reals:
        """(draws, parameters) Sums over the cells of each parameter."""
        found: Reals = np.add.reduceat(values, self.starts[:-1], axis=1)
        return found

    def of_blocks(self, values: Reals) -> Reals:
        """(draws, parameters) Sums over the blocks of each parameter."""
        first = np.flatnonzero(np.diff(self.block_owner, prepend=-1))
        found: Reals = np.add.reduceat(values, first, axis=1)
        return found


def shelf_of(folds: Sequence[Fold]) -> Shelf:
    starts = np.cumsum([0, *(fold.cells for fold in folds)])
    block_starts = [start + block.start for start, fold in zip(starts, folds, strict=False) for block in fold.blocks]
    owner = [j for j, fold in enumerate(folds) for _ in fold.blocks]
    prior = np.concatenate([fold.prior for fold in folds])
    return Shelf(tuple(folds), starts, np.array(block_starts), np.array(owner), prior)
