"""Two parameters at once: where the target's rows lie on the plane, against the region's."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from pedanova.base.table import Cell, Table
from pedanova.counting.contrasts import Contrast
from pedanova.counting.pairs import Groups, PairTally
from pedanova.space.grid import Grid


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PairDensity(Table):
    """Rows of target and region by coarse cells of two parameters.

    `lift` says how much likelier the target is in a cell than in the whole region: 1 is the same.
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
            lift: NDArray[np.float64] = self.target / self.region / whole
        return lift

    def to_dict(self) -> dict[str, list[Cell]]:
        """One entry for every cell of the plane."""
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


def pair_density(tally: PairTally, first: Contrast, second: Contrast) -> PairDensity:
    """From the counts of these two; coarse cells that nobody is in are left out."""
    pair, turned = (first.name, second.name), (second.name, first.name)
    place = tally.pairs.index(pair if pair in tally.pairs else turned)
    target, region = tally.target[place], tally.region[place]
    if pair not in tally.pairs:
        target, region = target.T, region.T
    names = [group_names(c.grid, tally.groups[c.name]) for c in (first, second)]
    rows, columns = (slice(0, len(name)) for name in names)
    return PairDensity(
        first.name, second.name, tuple(names[0]), tuple(names[1]), target[rows, columns], region[rows, columns]
    )


def group_names(grid: Grid, groups: Groups) -> list[str]:
    """What each coarse cell holds: a range, some labels, or no value."""
    return list(_names_of(grid, groups.tobytes()))


@lru_cache(maxsize=1024)
def _names_of(grid: Grid, content: bytes) -> tuple[str, ...]:
    groups = np.frombuffer(content, dtype=np.uint8)
    names = []
    for group in range(int(groups.max()) + 1):
        cells = np.flatnonzero(groups == group)
        inside = cells[cells < grid.cells]
        if not len(inside):
            names.append("none" if grid.missing in cells else "outside")
        elif grid.edges is not None and len(grid.blocks) == 1:
            names.append(f"{grid.edges[inside[0]]:.3g} … {grid.edges[inside[-1] + 1]:.3g}")
        else:
            centres = list(grid.centres())
            names.append(short([str(centres[cell]) for cell in inside]))
    return tuple(names)


def short(labels: list[str]) -> str:
    return labels[0] if len(labels) == 1 else f"{labels[0]} and {len(labels) - 1} more"
