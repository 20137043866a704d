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
    """For each parameter, the cells of its grid that the box keeps; None where other rows lie in it too.

    A bound may run through a cell of a range: other rows of such a cell are as near to the box as cells can tell.
    """
    inside, beside = np.ones(len(rows), dtype=bool), np.zeros(len(rows), dtype=bool)
    kept = {}
    for name, parameter in space.items():
        grid, cells = grid_of(parameter), rows.cells[name]
        kept[name] = around(grid, cells[some])
        inside &= kept[name][cells]
        beside |= ends_of(grid, kept[name])[cells]
    return kept if np.array_equal(inside & (some | ~beside), some) else None


def ends_of(grid: Grid, kept: Mask) -> Mask:
    """(width,) The outermost of the kept cells, where cells are ranges and not single values."""
    ends = np.zeros(grid.width, dtype=bool)
    if grid.labels is None:
        met = np.flatnonzero(kept[: grid.cells])
        ends[met[:1]] = ends[met[-1:]] = True
    return ends


def around(grid: Grid, cells: Cells) -> Mask:
    """(width,) From the least to the largest cell of every ordered regime; of categories, those that occur."""
    kept = np.zeros(grid.width, dtype=bool)
    kept[cells] = True
    for block in grid.blocks:
        met = np.flatnonzero(kept[block.start : block.stop])
        if block.ordered and len(met):
            kept[block.start + met[0] : block.start + met[-1] + 1] = True
    return kept
