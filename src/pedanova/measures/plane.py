"""The joint distribution of two parameters: the numbers of target and region rows in each pair of cells."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from pedanova.base.digits import short
from pedanova.base.table import Cell, Table
from pedanova.counting.contrasts import Contrast
from pedanova.counting.pairs import Groups, SetTally
from pedanova.measures.bins import bins_of, likely, rough
from pedanova.space.grid import Grid
from pedanova.space.parameters import Int


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PairDensity(Table):
    """The number of target and region rows in each coarse cell of two parameters.

    `lift` is the frequency of the target in a cell divided by its frequency in the whole region.
    """

    first: str
    second: str
    first_cells: tuple[str, ...]
    second_cells: tuple[str, ...]
    target: NDArray[np.int64]  # (first, second)
    region: NDArray[np.int64]

    @property
    def lift(self) -> NDArray[np.float64]:
        whole = self.target.sum() / max(1, self.region.sum())
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(self.target / self.region / whole)

    @property
    def expected(self) -> NDArray[np.float64]:
        """(first, second) The expected number of target rows in each cell if they are a random part of the region."""
        return np.asarray(self.region * (self.target.sum() / max(1, self.region.sum())))

    @property
    def significant(self) -> NDArray[np.bool_]:
        """(first, second) Whether the number of target rows in a cell is outside the 95 % range of random draws."""
        part, rows = self.region / max(1, self.region.sum()), int(self.region.sum())
        inside = int(self.target.sum())
        left = (rows - inside) / max(1, rows - 1)
        low, high = likely(self.expected.ravel(), (inside * part * (1.0 - part) * left).ravel())
        high = np.maximum(high, 1.0)  # a single row is never significant
        unlikely: NDArray[np.bool_] = (self.target.ravel() < low) | (self.target.ravel() > high)
        return unlikely.reshape(self.target.shape)

    def to_dict(self) -> dict[str, list[Cell]]:
        """One entry for every cell of the two-way table."""
        rows, columns = self.target.shape
        lift = self.lift
        cells = [(i, j) for i in range(rows) for j in range(columns)]
        return {
            self.first: [self.first_cells[i] for i, _ in cells],
            self.second: [self.second_cells[j] for _, j in cells],
            "target": [int(self.target[cell]) for cell in cells],
            "region": [int(self.region[cell]) for cell in cells],
            "lift": [float(lift[cell]) for cell in cells],
        }


def pair_density(tally: SetTally, first: Contrast, second: Contrast) -> PairDensity:
    """Make a `PairDensity` from the counts of two parameters; empty coarse cells are left out."""
    pair, turned = (first.name, second.name), (second.name, first.name)
    place = tally.sets.index(pair if pair in tally.sets else turned)
    target, region = tally.target[place], tally.region[place]
    if pair not in tally.sets:
        target, region = target.T, region.T
    names = [group_names(c.grid, tally.groups[c.name], c.region[: c.grid.cells]) for c in (first, second)]
    rows, columns = (slice(0, len(name)) for name in names)
    return PairDensity(
        first.name, second.name, tuple(names[0]), tuple(names[1]), target[rows, columns], region[rows, columns]
    )


def group_names(grid: Grid, groups: Groups, seen: NDArray[np.int64]) -> list[str]:
    """A name for each coarse cell: a range, some labels, "no value", or the distinct values if there are few."""
    bins = bins_of(grid.parameter, seen)
    values = tuple(zip(np.flatnonzero(seen).tolist(), bins.labels, strict=True)) if bins.apart else ()
    return list(_names_of(grid, groups.tobytes(), values))


@lru_cache(maxsize=1024)
def _names_of(grid: Grid, content: bytes, values: tuple[tuple[int, str], ...]) -> tuple[str, ...]:
    """The names of coarse cells; if there are few distinct values, `values` has their (cell, label) pairs."""
    groups = np.frombuffer(content, dtype=np.uint8)
    names = []
    for group in range(int(groups.max()) + 1):
        cells = np.flatnonzero(groups == group)
        inside = cells[cells < grid.cells]
        if not len(inside):
            names.append("none" if grid.missing in cells else "outside")
        elif here := [name for cell, name in values if cell in inside]:
            names.append(here[0] if len(here) == 1 else f"{here[0]} to {here[-1]}")
        elif len(grid.blocks) == 1 and (grid.edges is not None or grid.blocks[0].ordered):
            names.append(span_in_words(grid, int(inside[0]), int(inside[-1])))
        else:
            centres = list(grid.centres())
            more = f" and {len(inside) - 1} more" if len(inside) > 1 else ""
            names.append(f"{short(centres[inside[0]])}{more}")
    return tuple(names)


def span_in_words(grid: Grid, first: int, last: int) -> str:
    """The range from cell `first` to `last` in words, in units of the parameter and within its bounds."""
    if grid.labels is not None:
        ends = short(grid.labels[first]), short(grid.labels[last])
    else:
        edges = grid.edges if grid.edges is not None else np.empty(0)
        low, high = float(edges[first]), float(edges[last + 1])
        if isinstance(grid.parameter, Int):
            ends = short(math.ceil(low)), short(max(math.ceil(low), math.ceil(high) - 1))
        else:
            ends = rough(low, float(edges[0]), float(edges[-1])), rough(high, float(edges[0]), float(edges[-1]))
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"
