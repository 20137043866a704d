"""A parameter's values as columns whose products with a score show any dependence, the smooth kinds first."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.measures.chance.ranked_rows import Places
from pedanova.measures.chance.ranks import mid_ranks
from pedanova.space.grid import Block, Grid

Reals: TypeAlias = NDArray[np.float64]
LOUD = (1.0, 1.0, 0.5, 0.25)  # weights of the cosines of an ordered parameter's ranks
FEW = 4.0  # rows that a group is shrunk by


def marks_of(grid: Grid, places: Places) -> Reals:
    """(rows, columns) Centred; none where all rows are alike."""
    columns = [*_regimes(grid, places)]
    for block in grid.blocks:
        columns += _waves(block, places) if block.ordered else _kinds(block, places)
    return np.stack(columns, axis=1) if columns else np.zeros((len(places), 0))


def _regimes(grid: Grid, places: Places) -> list[Reals]:
    """Being in a domain, or in none; nothing where all rows are in one."""
    starts = [*(block.start for block in grid.blocks), grid.missing, grid.outside]
    regimes = np.searchsorted(starts, places, side="right") - 1
    return _indicators(regimes, np.unique(regimes)) if np.ptp(regimes) > 0 else []


def _kinds(block: Block, places: Places) -> list[Reals]:
    seen = np.unique(places[(places >= block.start) & (places < block.stop)])
    return _indicators(places, seen)


def _indicators(codes: NDArray[np.generic], values: NDArray[np.generic]) -> list[Reals]:
    masks = [codes == value for value in values]
    return [(mask - mask.mean()) / np.sqrt(mask.sum() + FEW) for mask in masks if 0 < mask.sum() < len(codes)]


def _waves(block: Block, places: Places) -> list[Reals]:
    """Cosines of mid-ranks among the rows of the block."""
    there = (places >= block.start) & (places < block.stop)
    rows = int(there.sum())
    if rows < 2:
        return []
    values = places[there]
    middles = (mid_ranks(values) - 0.5) / rows
    found = []
    for k, loud in enumerate(LOUD[: len(np.unique(values)) - 1], 1):
        wave = np.cos(np.pi * k * middles)
        column = np.zeros(len(places))
        column[there] = (wave - wave.mean()) * np.sqrt(2.0 * loud / (rows + FEW))
        found.append(column)
    return found
