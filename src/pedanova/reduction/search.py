"""The rows and the target, as every search for bounds needs them, and what is distinguishable from noise there."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pedanova.counting.contrasts import rows_in
from pedanova.data.column import cells_of
from pedanova.data.observations import Observations
from pedanova.data.regions import Region, sign_of
from pedanova.data.row_selection import RowSet
from pedanova.measures.distributions import LEAST_TARGET, LEVEL, holm
from pedanova.measures.surrogate.estimate import Query
from pedanova.measures.surrogate.posterior import PosteriorSamples
from pedanova.measures.surrogate.row_model import RowModel
from pedanova.space.grid import Cells, Grid, grid_of
from pedanova.space.parameters import Space

SHOWN = 5  # of the target's best fifth the rows tell how much was kept: a tenth has too few of them
GROUPS = 10  # of cells, in which rows are held against a uniform draw
UNEVEN = 0.5  # divergence beyond which rows were not drawn uniformly
Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """The rows and the target."""

    observed: Observations
    query: Query
    target: Region | RowSet
    seed: int
    counted: NDArray[np.bool_]
    located: dict[str, Cells] = field(default_factory=dict)

    def cells(self) -> dict[str, Cells]:
        """The cell of every row and parameter, looked up once."""
        if not self.located:
            columns, space = self.observed.columns, self.observed.space
            self.located.update({name: cells_of(columns[name], grid_of(one)) for name, one in space.items()})
        return self.located

    def samples(self) -> PosteriorSamples:
        """The model's table for all rows, as it answered for the importances."""
        fitted = self.row_model().fitted(self.seed)
        if fitted is None or fitted.samples is None:
            raise TypeError("no model answers for these rows")
        return fitted.samples

    def row_model(self) -> RowModel:
        if not isinstance(self.query.model, RowModel):
            raise TypeError("a model of a part needs the rows")
        return self.query.model

    def influence(self) -> Mapping[str, float]:
        """How far each parameter alone may move the model's function."""
        fitted = self.row_model().fitted(self.seed)
        return {} if fitted is None else fitted.influence

    def samples_without(self, rows: Rows) -> PosteriorSamples | None:
        """The table of a quicker model of some of the rows alone; None where they teach nothing."""
        every = self.row_model()
        fitted = every.part(np.isin(every.few.rows, rows), seed=self.seed).fitted(self.seed)
        return None if fitted is None else fitted.samples

    def p_values_inside(self, target: Region, region: Region) -> Mapping[str, float] | None:
        """Whether each parameter explains anything inside a region; None where too few rows reach the target there."""
        model, direction = self.query.model, self.observed.direction
        if model is None:
            return None
        inner, outer = (model.ranks.range_of(one, direction) for one in (target, region))
        if model.ranks.size(inner) < LEAST_TARGET or inner == outer:
            return None
        return model.p_values(inner, outer, seed=self.seed)

    def is_even(self, rows: Rows) -> bool:
        """Whether the rows look like a uniform draw from the space, as far as they vary at all."""
        if self.query.model is not None:
            return not self.query.model.adaptive
        cells = {name: column[rows] for name, column in self.cells().items()}
        return all(
            unevenness(cells[name], grid_of(parameter)) <= UNEVEN
            for name, parameter in self.observed.space.items()
            if np.any(cells[name] != cells[name][:1])
        )

    def reached(self) -> NDArray[np.bool_]:
        """(rows of the observations) Which of them are in the target."""
        return rows_in(self.target, self.observed, self.counted)


def unevenness(cells: Cells, grid: Grid) -> float:
    """How far the rows are from a uniform draw: chi-square divergence over a few groups of cells."""
    groups = np.minimum((np.cumsum(grid.prior) - grid.prior / 2.0) * GROUPS, GROUPS - 1).astype(np.int64)
    inside = cells[cells < grid.cells]
    expected = np.bincount(groups, weights=grid.prior, minlength=GROUPS)
    met = np.bincount(groups[inside], minlength=GROUPS) / max(1, len(inside))
    held = expected > 0
    chance = (int(held.sum()) - 1) / max(1, len(inside))
    return float(np.sum(met[held] ** 2 / expected[held])) - 1.0 - chance


def beyond_noise(names: Sequence[str], p_values: Sequence[float], space: Space) -> list[str]:
    """What is distinguishable from noise: each parameter by itself, once one is with all of them taken together."""
    if not any(p <= LEVEL for p in holm(p_values)):
        return []
    clear = [name for name, p in zip(names, p_values, strict=True) if p <= LEVEL]
    for name in clear:  # which grows on the way: parents that decide whether others are active say the same
        clear += [parent for parent, _ in space[name].when if parent in space and parent not in clear]
    return clear


def best_part(observed: Observations, reached: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The best fifth of some rows."""
    rows = np.flatnonzero(reached)
    ranked = sign_of(observed.direction) * observed.ranked[rows].astype(np.float64)
    count = math.ceil(len(rows) / SHOWN)
    if count == 0:
        return reached
    limit = np.partition(ranked, count - 1)[count - 1]
    best = np.zeros(len(reached), dtype=bool)
    best[rows[ranked <= limit]] = True
    return best
