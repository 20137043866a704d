"""Configurations as numbers for a Gaussian process: where they lie, and waves for its additive part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.measures.chance.ranked_rows import Arrangement, Indices, Places
from pedanova.space.grid import Block, Grid
from pedanova.space.parameters import Parameter, Space, Switch

Singles: TypeAlias = NDArray[np.float32]
COSINES = 4  # of an ordered parameter, each weaker than the last
LOUDNESS = (2.0 / sum(j**-2 for j in range(1, COSINES + 1))) ** 0.5  # so that a parameter's waves add to one


@dataclass(frozen=True, slots=True, eq=False)
class Embedding:
    """Rows as numbers; both arrays have (rows, features)."""

    near: Singles  # squared distance 1 between the ends of a range, and between categories
    waves: Singles  # what an additive function is a sum of

    def __len__(self) -> int:
        return len(self.near)

    def take(self, rows: Indices | slice) -> Embedding:
        return Embedding(self.near[rows], self.waves[rows])


@dataclass(frozen=True, slots=True, eq=False)
class FeatureLayout:
    """Which features there are; decided once, by the rows."""

    grids: tuple[Grid, ...]  # of the parameters that vary
    undecided: tuple[bool, ...]  # whether no parent tells which regime a row is in
    owners: Indices  # (features of `near`,) the parameter that each belongs to

    @property
    def parameters(self) -> int:
        return len(self.grids)

    def embed(self, places: Places) -> Embedding:
        near, waves = [], []
        for j, (grid, undecided) in enumerate(zip(self.grids, self.undecided, strict=True)):
            # What a cell looks like is found once, and looked up for every row.
            close, loud = features_of(grid, np.arange(grid.width, dtype=np.uint16), undecided=undecided)
            near += [column[places[:, j]] for column in close]
            waves += [column[places[:, j]] for column in loud]
        return Embedding(np.concatenate(near, axis=1), np.concatenate(waves, axis=1))


def layout_of(arrangement: Arrangement, places: Places) -> FeatureLayout:
    """For these rows. What never varied is no feature: a model would make up what other values do."""
    grids = arrangement.grids[: arrangement.varying]
    undecided, owners = [], []
    for j, grid in enumerate(grids):
        several = bool(np.ptp(regimes_of(grid, places[:, j])) > 0)
        undecided.append(several and not is_decided(arrangement.space, arrangement.names[j]))
        columns = features_of(grid, places[:1, j], undecided=undecided[-1])[0]
        owners += [j] * sum(column.shape[1] for column in columns)
    return FeatureLayout(grids, tuple(undecided), np.array(owners, dtype=np.int64))


def is_decided(space: Space, name: str) -> bool:
    """Whether parameters of the space tell if, or where, this one has a value."""
    parameter: Parameter = space[name]
    if isinstance(parameter, Switch):
        return parameter.by in space
    return bool(parameter.when) and all(parent in space for parent, _ in parameter.when)


def regimes_of(grid: Grid, cells: Places) -> NDArray[np.int64]:
    """The block of every cell; then no value, then outside the space."""
    starts = [*(block.start for block in grid.blocks), grid.missing, grid.outside]
    return np.searchsorted(starts, cells, side="right") - 1


def features_of(grid: Grid, cells: Places, *, undecided: bool) -> tuple[list[Singles], list[Singles]]:
    """Columns of one parameter: its regime where nobody else tells it, its position, its categories."""
    near: list[Singles] = []
    waves: list[Singles] = []
    if undecided:
        kinds = regimes_of(grid, cells)[:, None] == np.arange(len(grid.blocks) + 2)
        near.append(half_root(kinds.astype(np.float32)))
        waves.append(centred(kinds.astype(np.float32)))
    ordered = [block for block in grid.blocks if block.ordered]
    if ordered:
        position, inside = positions_in(ordered, cells)
        near.append(position)
        waves.append(cosines(position) * inside)
    for block in (block for block in grid.blocks if not block.ordered):
        kinds = categories_in(block, cells)
        near.append(half_root(kinds))
        waves.append(centred(kinds))
    return near, waves


def positions_in(blocks: list[Block], cells: Places) -> tuple[Singles, NDArray[np.bool_]]:
    """(rows, 1) Between 0 and 1 along a block, the middle elsewhere; and whether a row is in one."""
    position = np.full(len(cells), 0.5, dtype=np.float32)
    inside = np.zeros(len(cells), dtype=bool)
    for block in blocks:
        here = (cells >= block.start) & (cells < block.stop)
        position[here] = (cells[here].astype(np.int64) - block.start) / max(1, block.stop - block.start - 1)
        inside |= here
    return position[:, None], inside[:, None]


def categories_in(block: Block, cells: Places) -> Singles:
    """(rows, categories) One for the category of a row; elsewhere the same of each."""
    size = block.stop - block.start
    kinds = (cells[:, None] == np.arange(block.start, block.stop)).astype(np.float32)
    kinds[(cells < block.start) | (cells >= block.stop)] = 1.0 / size
    found: Singles = kinds
    return found


def cosines(position: Singles) -> Singles:
    """(rows, COSINES) By the recurrence of the cosines of multiples."""
    first = np.cos(np.pi * position)
    waves = [np.ones_like(first), first]
    while len(waves) <= COSINES:
        waves.append(2.0 * first * waves[-1] - waves[-2])
    found: Singles = np.concatenate([LOUDNESS / j * wave for j, wave in enumerate(waves[1:], 1)], axis=1)
    return found


def half_root(kinds: Singles) -> Singles:
    """So that two categories are 1 apart, squared."""
    scaled: Singles = kinds * np.float32(0.5**0.5)
    return scaled


def centred(kinds: Singles) -> Singles:
    """So that the mean over all categories is nothing, and a category's own square is one."""
    size = kinds.shape[1]
    found: Singles = (kinds - np.float32(1.0 / size)) * np.float32((size / max(1, size - 1)) ** 0.5)
    return found
