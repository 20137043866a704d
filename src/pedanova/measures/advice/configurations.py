"""Configurations as cells of the parameters' grids: defaults, the values of cells, and conditional parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pedanova.data.column import Column, Mask, as_column, cells_of, equals_any
from pedanova.data.conditions import place_columns
from pedanova.data.observations import describe_outside
from pedanova.errors import Arg, QueryError, SpaceError, UnknownParameterError, unknown_name
from pedanova.measures.chance.ranked_rows import regimes_of
from pedanova.measures.surrogate.objective_model import Settings
from pedanova.space.grid import Cells, Grid, grid_of
from pedanova.space.parameters import Int, Moving, Parameter, Space, Switch, parents_first
from pedanova.space.values import Label, Value

INACTIVE, FREE = -1, -2  # instead of a block: the parameter has no value, or every block is allowed
MOST_VALUES = 33  # the number of values of a range that are tried
MOST_NAMES = 64  # the number of categories that are tried
MOST_TRIED, FEWEST_VALUES = (
    10_000,
    5,
)  # values of all parameters together, and of each if there are very many parameters


def cell_values(parameter: Parameter) -> list[Label]:
    """One value for every cell of a parameter: the middle of the cell on the scale of the parameter."""
    if isinstance(parameter, Switch):
        return [value for domain in parameter.regimes for value in cell_values(domain)]
    grid = grid_of(parameter)
    if isinstance(parameter, Int) and grid.labels is None:
        return whole_values(parameter, grid)
    return grid.centres()


def whole_values(parameter: Int, grid: Grid) -> list[Label]:
    """For each cell, the allowed integer nearest to the middle of the cell."""
    edges = np.asarray(grid.edges)
    low, step = parameter.low, parameter.step
    first = np.ceil((edges[:-1] - low) / step)
    last = np.maximum(np.ceil((edges[1:] - low) / step) - 1, first)
    middles = np.array(grid.centres(), dtype=np.float64)
    steps = np.clip(np.round((middles - low) / step), first, last)
    return [min(max(low + int(one) * step, low), parameter.high) for one in steps]


def truth_by_cell(parameter: Parameter, values: tuple[Value, ...]) -> Mask:
    """(width,) Whether the value of each cell is one of `values`; False for missing values."""
    grid, every = grid_of(parameter), cell_values(parameter)
    column = Column("", np.arange(len(every), dtype=np.int64), tuple(every))
    return np.concatenate([equals_any(column, values), np.zeros(grid.width - grid.cells, dtype=bool)])


@dataclass(frozen=True, eq=False)
class Rules:
    """Makes configurations consistent with the conditions of the space, and computes typical values of the rows."""

    space: Space
    cells: Mapping[str, Cells]  # (rows,) each
    best_row: int = 0  # the row with the best objective

    @cached_property
    def names(self) -> list[str]:
        return list(self.space)

    @cached_property
    def grids(self) -> list[Grid]:
        return [grid_of(parameter) for parameter in self.space.values()]

    @cached_property
    def typical(self) -> list[list[int]]:
        """For each parameter and each of its domains: the median cell of the rows, or the most frequent category."""
        return [
            [typical_cell(grid, self.cells[name], i) for i in range(len(grid.blocks))]
            for name, grid in zip(self.names, self.grids, strict=True)
        ]

    @cached_property
    def children(self) -> list[str]:
        """The parameters that have a parent in the space, sorted so that parents come before their children."""
        return [name for name in parents_first(self.space) if any(name == child for child, _ in self._tables)]

    @cached_property
    def _middles(self) -> list[list[Label]]:
        return [cell_values(parameter) for parameter in self.space.values()]

    @cached_property
    def _tables(self) -> dict[tuple[str, str], NDArray[np.int64]]:
        """For each (child, parent) and each cell of the parent: the index of the domain of the child, or INACTIVE."""
        tables = {}
        for name, parameter in self.space.items():
            for parent, values in parameter.when:
                if parent in self.space:
                    truth = truth_by_cell(self.space[parent], values)
                    tables[name, parent] = np.where(truth, 0, INACTIVE)
            if isinstance(parameter, Switch) and parameter.by in self.space:
                table = np.full(grid_of(self.space[parameter.by]).width, INACTIVE)
                for i, domain in enumerate(parameter.regimes):
                    keys = tuple(value for value, other in parameter.domains if other == domain)
                    table[truth_by_cell(self.space[parameter.by], keys)] = i
                tables[name, parameter.by] = np.where(tables.get((name, parameter.by), table) < 0, INACTIVE, table)
        return tables

    def needed_blocks(self, name: str, settings: Settings) -> NDArray[np.int64]:
        """(configurations,) The index of the domain of parameter `name`, given the values of its parents.

        It is INACTIVE if the parameter has no value, and FREE if the parents do not determine the domain.
        """
        parameter = self.space[name]
        decided = all(parent in self.space for parent, _ in parameter.when)
        own = isinstance(parameter, Switch) and parameter.by not in self.space
        blocks = np.full(len(settings), 0 if parameter.when and decided and not own else FREE)
        for (child, parent), table in self._tables.items():
            if child == name:
                wanted = table[settings[:, self.names.index(parent)]]
                by = isinstance(parameter, Switch) and parent == parameter.by
                blocks = np.where(wanted == INACTIVE, INACTIVE, np.where(by & (blocks != INACTIVE), wanted, blocks))
        return blocks

    def settled(self, settings: Settings) -> Settings:
        """Remove the values of inactive parameters, and give typical values to active parameters that lack a value."""
        settings = settings.copy()
        for name in self.children:
            j = self.names.index(name)
            grid, needed = self.grids[j], self.needed_blocks(name, settings)
            own = regimes_of(grid, settings[:, j].astype(np.uint16))
            wrong = (needed >= 0) & (own != needed)
            settings[wrong, j] = np.array(self.typical[j])[needed[wrong]]
            settings[needed == INACTIVE, j] = grid.missing
        return settings

    def best(self) -> Settings:
        """(1, parameters) The configuration of the best row; a value outside the space becomes a typical one."""
        result = np.empty((1, len(self.names)), dtype=np.int32)
        for j, (name, grid) in enumerate(zip(self.names, self.grids, strict=True)):
            cell = int(self.cells[name][self.best_row])
            result[0, j] = self.typical[j][0] if cell == grid.outside else cell
        return self.settled(result)

    def given(self, values: Mapping[str, object], name: str = "default") -> Settings:
        """(1, parameters) The best configuration that was run, changed to the given `values`."""
        if not isinstance(values, Mapping):
            raise QueryError(Arg(name, values), " must be a dict from parameter names to values")
        for key in values:
            if not isinstance(key, str) or key not in self.space:
                raise UnknownParameterError(unknown_name(key, tuple(self.space)))
        settings = self.best()
        table = self._table_with(values, settings)
        for key, value in values.items():
            j = self.names.index(key)
            if value is None:
                settings[0, j] = self.grids[j].missing
                continue
            alone = replace(self.space[key], when=())
            try:
                placed = place_columns(Space({key: alone}), {key: table[key]}, table)[0][key]
            except SpaceError as error:
                raise QueryError(f"{name}: {error}") from None
            settings[0, j] = cells_of(placed, self.grids[j])[0]
            if settings[0, j] >= self.grids[j].cells:
                why = (
                    describe_outside(table[key], placed, alone).partition("has ")[2]
                    or f"{value!r} is not one of its values"
                )
                raise QueryError(f"{name}: {key} is {why}")
        return self.settled(settings)

    def _table_with(self, values: Mapping[str, object], settings: Settings) -> dict[str, Column]:
        known = self.values(settings)[0] | dict(values)
        return {key: as_column(key, [value]) for key, value in known.items() if value is not None}

    def values(self, settings: Settings) -> list[dict[str, Label | None]]:
        """The values of every configuration by name (the middles of cells); None for inactive parameters."""
        columns: dict[str, list[Label | None]] = {}
        for j, (name, grid) in enumerate(zip(self.names, self.grids, strict=True)):
            columns[name] = [self._middles[j][cell] if cell < grid.cells else None for cell in settings[:, j]]
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        for name, parameter in self.space.items():
            if isinstance(parameter, Moving):
                for row in rows:
                    row[name] = moved_value(parameter, row[name], row)
        return rows

    def values_of(self, name: str, settings: Settings) -> list[Label | None]:
        if isinstance(self.space[name], Moving):
            return [row[name] for row in self.values(settings)]
        j = self.names.index(name)
        return [self._middles[j][cell] if cell < self.grids[j].cells else None for cell in settings[:, j]]

    def within_limits(self, most: int) -> int:
        """At most `most` configurations for each parameter, or fewer if there are very many parameters."""
        return min(most, max(FEWEST_VALUES, MOST_TRIED // len(self.names)))

    def line(self, name: str, settings: Settings, kept: Mapping[str, Mask]) -> Settings:
        """(values, parameters) Copies of one configuration with different values of `name`; the original is first."""
        j = self.names.index(name)
        needed = int(self.needed_blocks(name, settings)[0])
        grid = self.grids[j]
        if needed == INACTIVE:
            return settings
        blocks = grid.blocks if needed == FREE else grid.blocks[needed : needed + 1]
        cells = [int(settings[0, j])]
        for block in blocks:
            inside = np.flatnonzero(kept[name][block.cells] if name in kept else np.ones(len(block), dtype=bool))
            most = self.within_limits(MOST_VALUES if block.ordered else MOST_NAMES)
            places = inside[np.unique(np.linspace(0, len(inside) - 1, most).round().astype(int))] if len(inside) else []
            cells += [block.start + int(place) for place in places]
        line = np.repeat(settings, len(cells), axis=0)
        line[:, j] = cells
        return self.settled(line)


def typical_cell(grid: Grid, cells: Cells, block: int) -> int:
    """The median cell of the rows in a domain, or the most frequent category; without such rows, the middle cell."""
    start, stop, ordered = grid.blocks[block].start, grid.blocks[block].stop, grid.blocks[block].ordered
    inside = np.sort(cells[(cells >= start) & (cells < stop)])
    if not len(inside):
        return (start + stop) // 2
    return int(inside[(len(inside) - 1) // 2] if ordered else start + np.bincount(inside - start).argmax())


def moved_value(parameter: Moving, position: Label | None, values: Mapping[str, Label | None]) -> Label | None:
    """Convert a relative position (0 to 1) between the bounds to a value; return the position if a bound is unknown."""
    ends = [values.get(end) if isinstance(end, str) else end for end in (parameter.low, parameter.high)]
    if position is None or any(end is None for end in ends):
        return position
    part, (low, high) = float(position), map(float, ends)  # type: ignore[arg-type]
    return low * (high / low) ** part if parameter.log else low + part * (high - low)
