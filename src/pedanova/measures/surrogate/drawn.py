"""Functions drawn from a model at uniform points of the space: a small table that answers by counting.

Where each point lies (a byte a parameter), and the points of every function from best to worst (two
bytes): that is all a question needs, whatever its target, region or box. None of the rows is in it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.measures.surrogate.fold import COARSE, FINE, Fold, Shelf, fold_of, shelf_of
from pedanova.measures.surrogate.rungs import Rungs, Span
from pedanova.space.grid import Cells, grid_of
from pedanova.space.parameters import Space

Reals: TypeAlias = NDArray[np.float64]
Mask: TypeAlias = NDArray[np.bool_]
Counts: TypeAlias = NDArray[np.int64]  # (draws, cells of all parameters)
Order: TypeAlias = NDArray[np.uint16]  # (draws, points)
MOST_KEPT = 1 << 23  # bytes of counts that the next question may begin with


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """Points of the space, and their order in every draw."""

    space: Space
    points: tuple[NDArray[np.unsignedinteger[Any]], ...]  # (points,) each: folded cells, by parameter
    order: Order  # best first
    rungs: Rungs
    varying: tuple[str, ...]  # parameters that the model knows; of others it tells nothing
    uneven: bool  # the sampler was adaptive: quantiles of the rows are none of the space
    _flat: dict[int, Cells] = field(default_factory=dict, repr=False)  # (points, parameters), by size of the shelf
    _counted: dict[int, dict[int, Counts]] = field(default_factory=dict, repr=False)  # likewise, by how many points
    _alone: dict[str, Reals] = field(default_factory=dict, repr=False)

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

    def cells(self, name: str) -> Cells:
        """(points,) A cell of the grid for every point: the middle one of those that are kept together."""
        cells: Cells = self.fine(name).middles[self.points[list(self.space).index(name)]]
        return cells

    # --- which points ------------------------------------------------------------------------------

    def ends(self, span: Span) -> tuple[int, int]:
        """Where a span of rungs begins and ends in the order of every draw: equal rows mean equal points."""
        first, last = (math.ceil(self.rungs.part_of(rung) * len(self) - 1e-6) for rung in span)
        return first, max(first, last)

    def box(self, kept: Mapping[str, Mask]) -> Mask:
        """(points,) Points in a box: for each parameter that it bounds, which cells of its grid are kept.

        A folded cell counts as kept where most of its prior is.
        """
        inside, at = np.ones(len(self), dtype=bool), {name: i for i, name in enumerate(self.space)}
        for name, cells in kept.items():
            if cells.all():
                continue
            grid, fold = grid_of(self.space[name]), self.fine(name)
            weight = np.concatenate([grid.prior, [1.0, 0.0]])  # of the points, none lies outside the space
            both = np.bincount(fold.table, weights=weight, minlength=fold.cells)
            held = np.bincount(fold.table, weights=weight * cells, minlength=fold.cells)
            inside &= (2.0 * held > both).take(self.points[at[name]])
        return inside

    def narrowed(self, box: Mask, rungs: Rungs) -> Drawn:
        """The points of a box alone, and the rungs of the rows in it."""
        numbers, every = (np.cumsum(box) - 1).astype(np.uint16), self.order.ravel()
        kept = every.take(np.flatnonzero(box.take(every)))  # each draw has each point once: as many stay of all
        order = numbers.take(kept).reshape(self.draws, -1)
        points = tuple(column[box] for column in self.points)
        return replace(self, points=points, order=order, rungs=rungs, _flat={}, _counted={}, _alone={})

    # --- counting ----------------------------------------------------------------------------------

    def count(self, span: Span, shelf: Shelf) -> Counts:
        """(draws, cells) Points of a span of rungs by cell; (1, cells) where it is all points, in every draw."""
        first, last = self.ends(span)
        if first == 0:
            return self._best(last, shelf)
        known = self._counted.get(shelf.cells, {})
        if last - first <= sum(min(abs(end - one) for one in (0, len(self), *known)) for end in (first, last)):
            return self._between(first, last, shelf)
        return self._best(last, shelf) - self._best(first, shelf)

    def _best(self, end: int, shelf: Shelf) -> Counts:
        """(draws, cells) The best so many points of every draw, counted on from the nearest that are known."""
        known = self._counted.setdefault(shelf.cells, {})
        if not known:
            known[len(self)] = np.bincount(self.flat(shelf).ravel(), minlength=shelf.cells)[None, :]
        if end in known:
            return known[end]
        near = min((0, *known), key=lambda other: abs(other - end))
        more = self._between(min(near, end), max(near, end), shelf)
        found = more if near == 0 else known[near] + more if near < end else known[near] - more
        if len(known) * found.nbytes <= MOST_KEPT:
            known[end] = found
        return found

    def _between(self, first: int, last: int, shelf: Shelf) -> Counts:
        """(draws, cells) Points between two places of the order."""
        flat = self.flat(shelf)
        counts = np.empty((self.draws, shelf.cells), dtype=np.int64)
        for draw, order in enumerate(self.order):
            counts[draw] = np.bincount(flat.take(order[first:last], axis=0).ravel(), minlength=shelf.cells)
        return counts

    def flat(self, shelf: Shelf) -> Cells:
        """(points, parameters) Counting cells, numbered through all parameters."""
        if shelf.cells not in self._flat:
            columns = [
                self.fine(name).then(fold)[column] + np.int32(start)
                for name, column, fold, start in zip(self.space, self.points, shelf.folds, shelf.starts, strict=False)
            ]
            self._flat[shelf.cells] = np.stack(columns, axis=1)
        return self._flat[shelf.cells]

    def alone(self) -> Reals:
        """(parameters,) The part of the order of the points that each tells by itself: the rest is done together.

        Of the mean place of each point over all draws.
        """
        if not self._alone:
            shelf = self.shelf()
            flat = self.flat(shelf).ravel()
            steps = np.tile(np.arange(float(len(self))), self.draws)  # whole numbers: their sums are exact
            places = np.bincount(self.order.ravel(), weights=steps, minlength=len(self))
            mean = places / self.draws - (len(self) - 1) / 2.0
            held = np.bincount(flat, minlength=shelf.cells)
            sums = np.bincount(flat, weights=np.repeat(mean, len(shelf.folds)), minlength=shelf.cells)
            told = shelf.by_parameter((sums**2 / np.maximum(held, 1))[None, :])[0]
            self._alone["parts"] = told / max(float(mean @ mean), 1e-300)
        return self._alone["parts"]

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
            "wide": np.array(wide, dtype=np.uint8),
            "varies": np.array(varies, dtype=np.uint8),
            "order": self.order,
            "parts": self.rungs.parts,
            "uneven": np.array([self.uneven], dtype=np.uint8),
        }

    @classmethod
    def from_arrays(cls, space: Space, rungs: Rungs, arrays: Mapping[str, NDArray[Any]]) -> Drawn:
        """The inverse of `to_arrays`; `rungs` are those of the rows."""
        narrow, wide = (iter(arrays.get(kind, ())) for kind in ("cells_8", "cells_16"))
        points = tuple(next(wide) if two else next(narrow) for two in arrays["wide"])
        return cls(
            space=space,
            points=points,
            order=arrays["order"],
            rungs=replace(rungs, parts=arrays["parts"]),
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
