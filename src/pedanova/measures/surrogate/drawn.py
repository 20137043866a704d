"""Functions drawn from a model at uniform points of the space: a small table that answers by counting.

Where each point lies (a byte a parameter), and the points of every function from best to worst (two
bytes): that is all a question needs, whatever its target, region or box. None of the rows is in it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.data.regions import Cut, Direction, Quantile, Region
from pedanova.measures.surrogate.fold import COARSE, FINE, Fold, Shelf, fold_of, shelf_of
from pedanova.measures.surrogate.rungs import Rungs
from pedanova.space.grid import Cells, grid_of
from pedanova.space.parameters import Space

Reals: TypeAlias = NDArray[np.float64]
Mask: TypeAlias = NDArray[np.bool_]
Counts: TypeAlias = NDArray[np.int64]  # (draws, cells of all parameters)
Order: TypeAlias = NDArray[np.uint16]  # (draws, points)
ANCHORS = 129  # rungs at which it is known how many points of each draw are better


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """Points of the space, and their order in every draw."""

    space: Space
    points: tuple[NDArray[np.unsignedinteger[Any]], ...]  # (points,) each: folded cells, by parameter
    order: Order  # best first
    rungs: Rungs
    anchors: Counts  # (anchors,) rungs taken in
    reached: Order  # (draws, anchors) points that are better than the end of those rungs
    varying: tuple[str, ...]  # parameters that the model knows; of others it tells nothing
    uneven: bool  # the sampler was adaptive: quantiles of the rows are none of the space

    @property
    def draws(self) -> int:
        return len(self.order)

    def __len__(self) -> int:
        return int(self.order.shape[1])

    def fine(self, name: str) -> Fold:
        """The cells in which the points of a parameter are kept."""
        return fold_of(grid_of(self.space[name]), FINE)

    def shelf(self, most: int = COARSE) -> Shelf:
        """The cells in which points are counted."""
        return shelf_of([fold_of(grid_of(parameter), most) for parameter in self.space.values()])

    # --- which points ------------------------------------------------------------------------------

    def ends(self, region: Region, direction: Direction, *, of_rows: bool = False) -> tuple[Counts, Counts]:
        """(draws,) Where a region begins and ends in the order of every draw."""
        begin, end = region.cuts(direction)
        first = np.zeros(self.draws, dtype=np.int64) if begin is None else self.places(begin, of_rows=of_rows)
        last = np.full(self.draws, len(self)) if end is None else self.places(end, of_rows=of_rows)
        return first, np.maximum(last, first)

    def places(self, cut: Cut, *, of_rows: bool = False) -> Counts:
        """(draws,) How many points a cut takes in.

        A quantile is the same part of the space in every draw, that which the rows up to it stand
        for; so equal rows mean equal points. Values, and quantiles of rows that a sampler chose,
        lie somewhere else in every draw.
        """
        rungs = self.rungs.behind(cut, of_rows=of_rows)
        if rungs == len(self.rungs):
            return np.full(self.draws, len(self))
        if isinstance(cut, Quantile) and not (of_rows and self.uneven):
            return np.full(self.draws, math.ceil(self.rungs.part_of(rungs) * len(self) - 1e-6))
        if rungs == 0:
            return np.zeros(self.draws, dtype=np.int64)
        points = [np.interp(rungs, self.anchors, reached) for reached in self.reached.astype(np.float64)]
        found: Counts = np.rint(points).astype(np.int64)
        return found

    def box(self, kept: Mapping[str, Mask]) -> Mask:
        """(points,) Points in a box: for each parameter that it bounds, which cells of its grid are kept.

        A folded cell counts as kept where most of its prior is.
        """
        inside = np.ones(len(self), dtype=bool)
        for name, cells in kept.items():
            grid, fold = grid_of(self.space[name]), self.fine(name)
            weight = np.r_[grid.prior, 1.0, 0.0]  # of the points, none lies outside the space
            both = np.bincount(fold.table, weights=weight, minlength=fold.cells)
            held = np.bincount(fold.table, weights=weight * cells, minlength=fold.cells)
            inside &= (2.0 * held > both)[self.points[list(self.space).index(name)]]
        return inside

    # --- counting ----------------------------------------------------------------------------------

    def count(
        self, ends: tuple[Counts, Counts], shelf: Shelf, *, box: Mask | None = None, everywhere: bool = False
    ) -> Counts:
        """(draws, cells) Points between two places of every draw's order, by cell."""
        flat = self.flat(shelf)
        if everywhere:  # the same points in every draw
            chosen = flat if box is None else flat[box]
            return np.bincount(chosen.ravel(), minlength=shelf.cells)[None, :]
        counts = np.empty((self.draws, shelf.cells), dtype=np.int64)
        for draw, (first, last) in enumerate(zip(*ends, strict=True)):
            points = self.order[draw, first:last]
            points = points if box is None else points[box[points]]
            counts[draw] = np.bincount(flat[points].ravel(), minlength=shelf.cells)
        return counts

    def flat(self, shelf: Shelf) -> Cells:
        """(points, parameters) Counting cells, numbered through all parameters."""
        columns = [
            self.fine(name).then(fold)[column] + np.int32(start)
            for name, column, fold, start in zip(self.space, self.points, shelf.folds, shelf.starts, strict=False)
        ]
        return np.stack(columns, axis=1)

    # --- as plain arrays ---------------------------------------------------------------------------

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """All of it but the space, for a file."""
        wide = [column.dtype.itemsize > 1 for column in self.points]
        varies = [name in self.varying for name in self.space]
        kinds = {
            "cells_8": [column for column, two in zip(self.points, wide, strict=True) if not two],
            "cells_16": [column for column, two in zip(self.points, wide, strict=True) if two],
        }
        return {
            **{kind: np.stack(columns) for kind, columns in kinds.items() if columns},
            "wide": np.array(wide),
            "varies": np.array(varies),
            "order": self.order,
            "values": self.rungs.values,
            "rows": self.rungs.rows,
            "parts": self.rungs.parts,
            "anchors": self.anchors,
            "reached": self.reached,
            "uneven": np.array([self.uneven]),
        }

    @classmethod
    def from_arrays(cls, space: Space, arrays: Mapping[str, NDArray[Any]]) -> Drawn:
        """The inverse of `to_arrays`."""
        narrow, wide = (iter(arrays.get(kind, ())) for kind in ("cells_8", "cells_16"))
        points = tuple(next(wide) if two else next(narrow) for two in arrays["wide"])
        return cls(
            space=space,
            points=points,
            order=arrays["order"],
            rungs=Rungs(arrays["values"], arrays["rows"], arrays["parts"]),
            anchors=arrays["anchors"],
            reached=arrays["reached"],
            varying=tuple(name for name, varies in zip(space, arrays["varies"], strict=True) if varies),
            uneven=bool(arrays["uneven"][0]),
        )


def kept_points(space: Space, cells: Mapping[str, Cells]) -> tuple[NDArray[np.unsignedinteger[Any]], ...]:
    """(points,) each: the folded cell of every point, as narrow as it can be."""
    found: list[NDArray[np.unsignedinteger[Any]]] = []
    for name, parameter in space.items():
        fold = fold_of(grid_of(parameter), FINE)
        kind = np.uint8 if fold.cells <= 256 else np.uint16
        found.append(fold.table[cells[name]].astype(kind))
    return tuple(found)
