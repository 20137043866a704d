"""Rows by cell inside a page, where the user lets them in: the browser then counts whatever is brushed.

What the page must know to count as `importance(..., estimator="counts", draws=0)` does: each row's cell of every
parameter, in order of the objective; the regimes of its grid; and where a cell begins, so that a brush can be
moved to the nearest edges.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.counting.binned_rows import BinnedRows
from pedanova.errors import Arg, QueryError
from pedanova.measures.bins import Bins
from pedanova.report.asks import Shows
from pedanova.report.page.question import is_number, labels_by_text
from pedanova.space.grid import Grid, grid_of
from pedanova.space.parameters import Float, Int, Parameter, Space, children_of

MOST_ROWS = 1_000_000
BRUSHED = Float | Int  # whose cells are ranges in units of the parameter


def check_rows(rows: object) -> None:
    if rows not in (None, "binned"):
        raise QueryError(Arg("rows", rows), " must be None, for no row in the file, or 'binned'")


def binned_rows(a: Shows, shapes: Mapping[str, Bins], rows: str | None) -> dict[str, Any] | None:
    """What the page counts from, where it was let in."""
    return None if rows is None or not shapes else binned_to_json(a.binned(), a.space, shapes)


def binned_to_json(rows: BinnedRows, space: Space, shapes: Mapping[str, Bins]) -> dict[str, Any]:
    """JSON: typed arrays as compressed bytes."""
    if len(rows) > MOST_ROWS:
        raise QueryError(
            Arg("rows", "binned"), f": {len(rows):,} rows are more than a page can hold ({MOST_ROWS:,}); leave it out"
        )
    children = children_of(space)
    return {
        "rows": len(rows),
        "tied": packed(np.packbits(rows.tied, bitorder="little")),
        "parameters": [
            {
                **grid_to_json(space[name]),
                "name": name,
                "child": name in children,
                "bytes": rows.cells[name].itemsize,
                "at": packed(planes(rows.cells[name])),
                "groups": packed(shapes[name].groups.astype(np.uint8)),
                "points": len(shapes[name]),
                "apart": shapes[name].apart,
            }
            for name in space
        ],
    }


def grid_to_json(parameter: Parameter) -> dict[str, Any]:
    """Cells, regimes, a uniform draw over them, and what a brush can pick."""
    grid = grid_of(parameter)
    return {
        "cells": grid.cells,
        "blocks": [[block.start, block.stop, block.smoothable] for block in grid.blocks],
        "prior": None if np.ptp(grid.prior) == 0 else packed(grid.prior),
        **picks(parameter, grid),
    }


def picks(parameter: Parameter, grid: Grid) -> dict[str, Any]:
    """Edges of ranges, single numbers, or labels by cell; nothing where values of several domains lie side by side."""
    nothing: dict[str, Any] = {"edges": None, "values": None, "labels": None}
    if labels := labels_by_text(parameter):
        return nothing | {"labels": list(labels)}
    if grid.labels is not None and all(map(is_number, grid.labels)):
        return nothing | {"values": list(grid.labels)}
    if isinstance(parameter, BRUSHED) and grid.edges is not None:
        return nothing | {"edges": packed(grid.edges)}
    return nothing


def planes(cells: NDArray[Any]) -> NDArray[np.uint8]:
    """The low bytes of all rows, then the high ones: they compress better apart."""
    plain = cells.astype(cells.dtype.newbyteorder("<"))
    return np.ascontiguousarray(plain.view(np.uint8).reshape(len(cells), cells.itemsize).T).ravel()


def packed(values: NDArray[Any]) -> str:
    """Little-endian bytes, compressed, as text."""
    plain = np.ascontiguousarray(values)
    return base64.b64encode(zlib.compress(plain.astype(plain.dtype.newbyteorder("<")).tobytes(), 9)).decode()
