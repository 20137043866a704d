"""Target and region rows by cell: from tallies, or counted anew for rows picked one by one."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pedanova.column import Mask
from pedanova.engines.arrays import count_codes
from pedanova.errors import QueryError
from pedanova.grid import grid_of
from pedanova.importance import Contrast
from pedanova.nesting import Range
from pedanova.observations import Observations
from pedanova.tally import Tally


def from_tallies(tallies: Mapping[str, Tally], target: Range, region: Range) -> list[Contrast]:
    return [
        Contrast(name, tally.grid, tally.between(*target), tally.between(*region))
        for name, tally in tallies.items()
    ]


def from_rows(observed: Observations, target: Mask, region: Mask, *, threads: int) -> list[Contrast]:
    """One more pass over the columns; both masks hold rows that count, the target inside the region."""
    codes = np.where(target, 0, np.where(region, 1, 2)).astype(np.uint8)
    counted = count_codes(observed, codes, 2, threads=threads)
    return [
        Contrast(name, grid_of(parameter), counted[name][0][0], counted[name][0].sum(axis=0))
        for name, parameter in observed.space.items()
    ]


def check_rows(target: Mask, region: Mask, wanted: object, base: object) -> None:
    """Target rows must be some, but not all, of the region's rows."""
    inside, rows = int(target.sum()), int(region.sum())
    stray = int(np.sum(target & ~region))
    if inside == 0:
        raise QueryError(f"target ({wanted}) holds no row; choose a wider one")
    if stray:
        raise QueryError(
            f"target ({wanted}) has {stray:,} of its {inside:,} rows outside region ({base}); it must lie inside"
        )
    if inside == rows:
        raise QueryError(
            f"target ({wanted}) and region ({base}) hold the same {rows:,} rows; choose a smaller target"
        )
