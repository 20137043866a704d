"""The rows and the target, as every search for bounds needs them, and what is distinguishable from noise there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pedanova.counting.contrasts import rows_in
from pedanova.data.observations import Observations
from pedanova.data.regions import Region, sign_of
from pedanova.data.rowsets import RowSet
from pedanova.measures.inference import DRAWS
from pedanova.measures.significance import LEAST_TARGET, LEVEL, holm
from pedanova.measures.surrogate.blend import UNEVEN, unevenness
from pedanova.measures.surrogate.estimate import Query, as_options, fitted
from pedanova.measures.surrogate.model import Surrogate, refit_surrogate
from pedanova.measures.surrogate.residuals import residual_p_values
from pedanova.measures.surrogate.sampling import cells_by_name, varies
from pedanova.space.grid import Cells, grid_of
from pedanova.space.parameters import Space

SHOWN = 5  # of the target's best fifth the rows tell how much was kept: a tenth has too few of them
FOLD_DRAWS = 500
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
            self.located.update(cells_by_name(self.observed))
        return self.located

    def model(self) -> Surrogate:
        """Of all rows, as it was fitted for the importances."""
        options = as_options("region", "auto", "auto", DRAWS, self.seed, force=False)
        return fitted(self.query, options, self.query.rows)

    def model_without(self, rows: Rows, *, kinds: int, points: int) -> Surrogate:
        """A quicker model of some of the rows."""
        every = self.model()
        part = np.flatnonzero(np.isin(every.rows, rows))
        return refit_surrogate(every, self.observed, part, seed=self.seed, kinds=kinds, points=points)

    def beyond_noise_by(self, model: Surrogate, names: Sequence[str]) -> list[str]:
        """Those of the parameters that are distinguishable from noise by a model of some of the rows."""
        every = np.arange(len(model.rows))
        p_values = residual_p_values(model, every, names, draws=FOLD_DRAWS, seed=self.seed)
        return [name for name in beyond_noise(names, p_values, self.observed.space) if name in names]

    def p_values_inside(self, target: Region, region: Region) -> dict[str, float] | None:
        """Whether each parameter explains anything inside a region; None where too few rows reach the target there."""
        model, direction = self.model(), self.observed.direction
        if int(model.holds(target, direction).sum()) < LEAST_TARGET:
            return None
        rows, names = np.flatnonzero(model.holds(region, direction)), list(self.observed.space)
        return dict(zip(names, residual_p_values(model, rows, names, draws=DRAWS, seed=self.seed), strict=True))

    def is_even(self, rows: Rows) -> bool:
        """Whether the rows look like a uniform draw from the space, as far as they vary at all."""
        cells = {name: column[rows] for name, column in self.cells().items()}
        return all(
            unevenness(cells[name], grid_of(parameter)) <= UNEVEN
            for name, parameter in self.observed.space.items()
            if varies(cells[name])
        )

    def reached(self) -> NDArray[np.bool_]:
        """(rows of the observations) Which of them are in the target."""
        return rows_in(self.target, self.observed, self.counted)


def beyond_noise(names: Sequence[str], p_values: Sequence[float], space: Space) -> list[str]:
    """What is distinguishable from noise: each parameter by itself, once one is with all of them taken together."""
    if not any(p <= LEVEL for p in holm(p_values)):
        return []
    return with_parents([name for name, p in zip(names, p_values, strict=True) if p <= LEVEL], space)


def with_parents(children: Sequence[str], space: Space) -> list[str]:
    """Parameters, and those that decide whether they are active: both say the same."""
    names = list(children)
    for name in names:  # which grows on the way
        names += [parent for parent, _ in space[name].when if parent in space and parent not in names]
    return names


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
