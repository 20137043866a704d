"""A uniform sample of the search space, and rows as features for a model: both as cells."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pedanova.data.cells import cells_of, equals_any
from pedanova.data.column import Column
from pedanova.data.observations import Observations
from pedanova.measures.surrogate.gaussian import Features, Reals
from pedanova.space.grid import Block, Cells, Grid, grid_of
from pedanova.space.parameters import Parameter, Space, Switch, parents_first
from pedanova.space.values import Label

CellsByName = Mapping[str, Cells]


def cells_by_name(observed: Observations) -> dict[str, Cells]:
    """The cell of every row and parameter."""
    return {name: cells_of(observed.columns[name], grid_of(parameter)) for name, parameter in observed.space.items()}


def uniform_cells(space: Space, seen: CellsByName, points: int, rng: np.random.Generator) -> dict[str, Cells]:
    """Cells of points drawn uniformly from the space; parents decide over their children.

    Where the rows alone can tell how often a parameter has a value (or which of several domains),
    because no parameter of the space decides it, it is drawn as often as seen there.
    """
    drawn: dict[str, Cells] = {}
    labels: dict[str, Column] = {}  # parents as columns of values
    for name in parents_first(space):
        grid = grid_of(space[name])
        regimes = _regimes(space[name], grid, seen[name], labels, points, rng)
        drawn[name] = _inside(grid, regimes, rng)
        labels[name] = _as_column(name, grid, drawn[name])
    return {name: drawn[name] for name in space}


def _regimes(
    parameter: Parameter, grid: Grid, seen: Cells, known: Mapping[str, Column], points: int, rng: np.random.Generator
) -> Cells:
    """(points,) The block of every point, ``len(grid.blocks)`` for no value."""
    absent = len(grid.blocks)
    if isinstance(parameter, Switch) and parameter.by in known:
        regimes = np.full(points, absent, dtype=np.int32)
        for i, domain in enumerate(parameter.regimes):
            values = tuple(value for value, other in parameter.domains if other == domain)
            regimes[equals_any(known[parameter.by], values)] = i
        return regimes
    if parameter.when and all(parent in known for parent, _ in parameter.when):
        active = np.ones(points, dtype=bool)
        for parent, values in parameter.when:
            active &= equals_any(known[parent], values)
        return np.where(active, 0, absent).astype(np.int32)
    met = np.minimum(regime_of(seen, grid), absent)
    return rng.choice(met, size=points).astype(np.int32) if (met != 0).any() else np.zeros(points, np.int32)


def regime_of(cells: Cells, grid: Grid) -> Cells:
    """The block of every cell; then no value, then outside the space."""
    starts = [*(block.start for block in grid.blocks), grid.missing, grid.outside]
    return (np.searchsorted(starts, cells, side="right") - 1).astype(np.int32)


def _inside(grid: Grid, regimes: Cells, rng: np.random.Generator) -> Cells:
    """A cell in the block of every point, by the prior."""
    cells = np.full(len(regimes), grid.missing, dtype=np.int32)
    for i, block in enumerate(grid.blocks):
        here = np.flatnonzero(regimes == i)
        ends = np.cumsum(grid.prior[block.start : block.stop])
        places = np.searchsorted(ends / ends[-1], rng.random(len(here)), side="right")
        cells[here] = block.start + np.minimum(places, block.stop - block.start - 1)
    return cells


def _as_column(name: str, grid: Grid, cells: Cells) -> Column:
    labels: tuple[Label, ...] = tuple(grid.centres())
    return Column(name, np.where(cells < grid.cells, cells, -1).astype(np.int32), labels)


def features_of(space: Space, cells: CellsByName, seen: CellsByName) -> Features:
    """Features of rows or points; which ones there are is decided by the rows `seen`.

    What never varied there is no feature: a model would make up what other values do.
    """
    columns: list[Reals] = []
    sizes: list[int] = []
    owners: list[str] = []
    for name in [name for name in space if varies(seen[name])] or list(space)[:1]:
        grid = grid_of(space[name])
        regimes = regime_of(cells[name], grid)
        if len(np.unique(regime_of(seen[name], grid))) > 1:
            columns.append(regimes.astype(np.float64))
            sizes.append(len(grid.blocks) + 2)
            owners.append(name)
        for values, size in _values(grid, cells[name]):
            columns.append(values)
            sizes.append(size)
            owners.append(name)
    return Features(np.stack(columns, axis=1), tuple(sizes), tuple(owners))


def varies(cells: Cells) -> bool:
    """Whether they are not all the same."""
    return bool(np.any(cells != cells[:1]))


def _values(grid: Grid, cells: Cells) -> list[tuple[Reals, int]]:
    """Position between 0 and 1 in ordered blocks, the category in others; elsewhere the middle."""
    found = []
    ordered = [block for block in grid.blocks if block.ordered]
    if ordered:
        position = np.full(len(cells), 0.5)
        for block in ordered:
            here = _in_block(cells, block)
            position[here] = (cells[here] - block.start) / max(1, block.stop - block.start - 1)
        found.append((position, 0))
    for block in (block for block in grid.blocks if not block.ordered):
        kinds = np.where(_in_block(cells, block), cells - block.start + 1, 0)
        found.append((kinds.astype(np.float64), block.stop - block.start + 1))
    return found


def _in_block(cells: Cells, block: Block) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return (cells >= block.start) & (cells < block.stop)
