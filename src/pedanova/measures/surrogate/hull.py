"""The box around some rows, where it holds no others: then the rows stand for a part of the space."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.counting.few_rows import FewRows
from pedanova.space.grid import Cells, Grid, grid_of
from pedanova.space.parameters import Space

Mask: TypeAlias = NDArray[np.bool_]


def hull_of(rows: FewRows, some: Mask, space: Space) -> dict[str, Mask] | None:
    """For each parameter, the cells of its grid that the box keeps; None where other rows lie in it too."""
    inside = np.ones(len(rows), dtype=bool)
    kept = {}
    for name, parameter in space.items():
        cells = rows.cells[name]
        kept[name] = around(grid_of(parameter), cells[some])
        inside &= kept[name][cells]
    return kept if np.array_equal(inside, some) else None


def around(grid: Grid, cells: Cells) -> Mask:
    """(width,) From the least to the largest cell of every ordered regime; of categories, those that occur."""
    kept = np.zeros(grid.width, dtype=bool)
    kept[cells] = True
    for block in grid.blocks:
        met = np.flatnonzero(kept[block.start : block.stop])
        if block.ordered and len(met):
            kept[block.start + met[0] : block.start + met[-1] + 1] = True
    return kept
