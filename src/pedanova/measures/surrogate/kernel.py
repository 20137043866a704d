"""The kernel of the Gaussian process, and the features of configurations that it is computed from.

k(x, x′) = s² · [1 / (1 + Σ_d w_d · D_d) + τ · b(x)·b(x′) + ν · 1[x = x′]], with D_d the squared distance along
parameter d and b a basis of functions of single parameters. The first term, a rational quadratic kernel, models
interactions; the second, a linear kernel, models effects of single parameters; the third is noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.counting.few_rows import Indices
from pedanova.measures.chance.ranked_rows import Arrangement, Places, regimes_of
from pedanova.space.grid import Block, Grid, Reals
from pedanova.space.parameters import Parameter, Space, Switch, parents_of

Singles: TypeAlias = NDArray[np.float32]
COSINES = 4  # basis functions of an ordered parameter, with falling amplitudes
AMPLITUDE = (2.0 / sum(j**-2 for j in range(1, COSINES + 1))) ** 0.5  # so that a parameter's basis has total variance 1


@dataclass(frozen=True, slots=True, eq=False)
class Embedding:
    """The features of configurations: arrays `positions` and `basis`, both (configurations, features)."""

    positions: Singles  # squared distance 1 between the ends of a range, and between categories
    basis: Singles  # values of the basis functions of single parameters

    def __len__(self) -> int:
        return len(self.positions)

    def take(self, rows: Indices | slice) -> Embedding:
        return Embedding(self.positions[rows], self.basis[rows])


@dataclass(frozen=True, slots=True, eq=False)
class FeatureLayout:
    """Which features describe a configuration, and the parameter that each feature belongs to."""

    grids: tuple[Grid, ...]  # the grids of the parameters that vary
    undecided: tuple[bool, ...]  # whether no parent determines the regime of a configuration
    owners: Indices  # (features of `positions`,) the parameter that each belongs to

    @property
    def basis_owners(self) -> Indices:
        """(features of `basis`,) The index of the parameter that each feature belongs to."""
        each = zip(self.grids, self.undecided, strict=True)
        widths = [sum(f.shape[1] for f in features_by_cell(grid, undecided=some)[1]) for grid, some in each]
        return np.repeat(np.arange(len(widths)), widths)

    def embed_cell(self, j: int, place: int) -> tuple[Singles, Singles]:
        """The features of one cell of parameter `j`: positions and basis functions, each (features,)."""
        columns = features_by_cell(self.grids[j], undecided=self.undecided[j])
        position, basis = (np.concatenate([column[place] for column in part]) for part in columns)
        return position, basis

    def embed(self, places: Places) -> Embedding:
        """The features of configurations, given as the cell of each parameter (configurations, parameters)."""
        each = zip(self.grids, self.undecided, strict=True)
        # Features of a cell are computed once and looked up for every configuration.
        by_cell = [features_by_cell(grid, undecided=undecided) for grid, undecided in each]
        return Embedding(*(looked_up(columns, places) for columns in zip(*by_cell, strict=True)))


@dataclass(frozen=True, slots=True, eq=False)
class Configured:
    """Configurations whose features are computed in chunks, because all at once may not fit into memory."""

    layout: FeatureLayout
    places: Places

    def __len__(self) -> int:
        return len(self.places)

    def take(self, rows: Indices | slice) -> Embedding:
        return self.layout.embed(self.places[rows])


def looked_up(columns: Sequence[Sequence[Singles]], places: Places) -> Singles:
    """(rows, features) The features of each row, looked up by cell for several parameters at once."""
    tables = [some[0] if len(some) == 1 else np.concatenate(some, axis=1) for some in columns]
    parts, first = [], 0
    for features, run in groupby(tables, key=lambda table: table.shape[1]):
        some = list(run)
        starts = np.cumsum([0, *(len(table) for table in some[:-1])])
        cells = places[:, first : first + len(some)] + starts
        parts.append(np.concatenate(some).take(cells, axis=0).reshape(len(places), len(some) * features))
        first += len(some)
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)


def layout_of(arrangement: Arrangement, places: Places) -> FeatureLayout:
    """The layout for the configurations in `places`; a parameter that never varied has no features."""
    grids = arrangement.grids[: arrangement.varying]
    undecided, owners = [], []
    for j, grid in enumerate(grids):
        several = bool(np.ptp(regimes_of(grid, places[:, j])) > 0)
        undecided.append(several and not is_decided(arrangement.space, arrangement.names[j]))
        columns = features_of(grid, places[:1, j], undecided=undecided[-1])[0]
        owners += [j] * sum(column.shape[1] for column in columns)
    return FeatureLayout(grids, tuple(undecided), np.array(owners, dtype=np.int64))


def is_decided(space: Space, name: str) -> bool:
    """Whether the parents of a parameter are in the space, and determine its value or its domain."""
    parameter: Parameter = space[name]
    if isinstance(parameter, Switch) and parameter.by not in space:
        return False
    return bool(parents_of(parameter)) and all(parent in space for parent, _ in parameter.when)


@lru_cache(maxsize=256)
def features_by_cell(grid: Grid, *, undecided: bool) -> tuple[list[Singles], list[Singles]]:
    """The features of every cell of one parameter: columns of positions and of basis functions."""
    return features_of(grid, np.arange(grid.width, dtype=np.uint16), undecided=undecided)


def features_of(grid: Grid, cells: Places, *, undecided: bool) -> tuple[list[Singles], list[Singles]]:
    positions: list[Singles] = []
    basis: list[Singles] = []
    if undecided:
        regimes = (regimes_of(grid, cells)[:, None] == np.arange(len(grid.blocks) + 2)).astype(np.float32)
        positions.append(unit_distance(regimes))
        basis.append(centred(regimes))
    ordered = [block for block in grid.blocks if block.ordered]
    if ordered:
        position, inside = positions_in(ordered, cells)
        positions.append(position)
        basis.append(cosines(position) * inside)
    for block in (block for block in grid.blocks if not block.ordered):
        categories = one_hot(block, cells)
        positions.append(unit_distance(categories))
        basis.append(centred(categories))
    return positions, basis


def positions_in(blocks: list[Block], cells: Places) -> tuple[Singles, NDArray[np.bool_]]:
    """Each cell's position (0 to 1) in its block, and whether the cell lies in one of `blocks`; both (rows, 1).

    A cell outside `blocks` has the position ½.
    """
    position = np.full(len(cells), 0.5, dtype=np.float32)
    inside = np.zeros(len(cells), dtype=bool)
    for block in blocks:
        here = (cells >= block.start) & (cells < block.stop)
        position[here] = (cells[here].astype(np.int64) - block.start) / max(1, len(block) - 1)
        inside |= here
    return position[:, None], inside[:, None]


def one_hot(block: Block, cells: Places) -> Singles:
    """(rows, categories) 1 in the column of the row's category; outside the block, all columns are 1 / categories."""
    size = len(block)
    categories: Singles = (cells[:, None] == np.arange(block.start, block.stop)).astype(np.float32)
    categories[(cells < block.start) | (cells >= block.stop)] = 1.0 / size
    return categories


def cosines(position: Singles) -> Singles:
    """(rows, COSINES) cos(jπx) / j for j = 1 to COSINES, by Chebyshev's recurrence."""
    first = np.cos(np.pi * position)
    waves = [np.ones_like(first), first]
    while len(waves) <= COSINES:
        waves.append(2.0 * first * waves[-1] - waves[-2])
    return np.concatenate([AMPLITUDE / j * wave for j, wave in enumerate(waves[1:], 1)], axis=1)


def unit_distance(categories: Singles) -> Singles:
    """One-hot columns scaled so that the squared distance between two categories is 1."""
    return categories * np.float32(0.5**0.5)


def centred(categories: Singles) -> Singles:
    """One-hot columns with mean 0 over the categories, each category with squared norm 1."""
    size = categories.shape[1]
    return (categories - np.float32(1.0 / size)) * np.float32((size / max(1, size - 1)) ** 0.5)


def rational_quadratic(one: Singles, two: Singles, weights: Reals) -> Singles:
    """(rows of one, rows of two) 1 / (1 + weighted squared distance), as one matrix product."""
    roots = np.sqrt(weights).astype(np.float32)
    here = one * roots
    there = here if one is two else two * roots
    left, right = (np.ones((len(part), part.shape[1] + 2), dtype=np.float32) for part in (here, there))
    left[:, :-2], left[:, -2] = here, np.einsum("ij,ij->i", here, here) + np.float32(1.0)
    right[:, :-2], right[:, -1] = np.float32(-2.0) * there, np.einsum("ij,ij->i", there, there)
    product: Singles = left @ right.T
    return np.reciprocal(product, out=product)
