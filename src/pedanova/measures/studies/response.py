"""What an objective would be at any configuration of a study: looked up, told by a model, or by its tallies.

- A table that holds every configuration of a lattice is looked up: the nearest values of each parameter.
- Other rows teach a Gaussian process (the one that answers `importance` for few rows); beyond 2,000 rows some of
  them do. It predicts ranks, which are turned back into values of the objective.
- Without rows, and where a model predicts badly, the tallies answer: the mean objective along each parameter, as if
  parameters acted separately.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.base.threads import one_thread
from pedanova.counting.few_rows import FewRows
from pedanova.measures.asks import Asks
from pedanova.measures.bins import bins_of
from pedanova.measures.chance.ranked_rows import Arrangement
from pedanova.measures.studies.worth import rows_of
from pedanova.measures.surrogate.configurations import configurations_of
from pedanova.measures.surrogate.gaussian_process import condition
from pedanova.measures.surrogate.kernel import FeatureLayout, Singles, layout_of, rational_quadratic
from pedanova.measures.surrogate.knowledge import Knowledge
from pedanova.measures.surrogate.learner import scores_of
from pedanova.space.grid import grid_of
from pedanova.space.parameters import Space

Reals: TypeAlias = NDArray[np.float64]
CellsByName: TypeAlias = Mapping[str, NDArray[np.int64]]  # (configurations,) cells of the study's own grids
Way: TypeAlias = Literal["table", "model", "tallies"]
MOST_ROWS = 2000  # that a model learns from
PSEUDO_ROWS = 3.0  # that draw the mean of a cell towards the mean of all


class Response(Protocol):
    """An objective as a function; less is better."""

    @property
    def way(self) -> Way: ...
    def at(self, cells: CellsByName) -> Reals: ...


def response_of(analysis: Asks, *, seed: int = 0) -> Response:
    """The best answer that there is."""
    observed = analysis.observations
    if observed is None or len(observed.goals) > 1:
        return AdditiveResponse.of(analysis)
    few = rows_of(analysis)
    few = few.take(np.isfinite(few.signed))
    table = TableResponse.of(analysis.space, few)
    if table is not None:
        return table
    return ModelResponse.of(analysis.space, few, seed) or AdditiveResponse.of(analysis)


@dataclass(frozen=True, slots=True, eq=False)
class TableResponse:
    """Every configuration of a lattice."""

    places: Mapping[str, NDArray[np.int64]]  # (cells + 2,) each: which value of the lattice is nearest
    values: Reals  # one dimension for each parameter

    way: Way = "table"

    @classmethod
    def of(cls, space: Space, few: FewRows) -> TableResponse | None:
        """None where a configuration is missing, or a parameter has no value in some row."""
        places = {}
        for name, parameter in space.items():
            grid = grid_of(parameter)
            seen = np.bincount(few.cells[name], minlength=grid.width)
            if seen[grid.cells :].any() or len(grid.blocks) > 1:
                return None
            bins = bins_of(parameter, seen[: grid.cells])
            if bins.values is None:
                return None
            places[name] = np.r_[bins.groups, 0, 0]
        shape = [int(place.max()) + 1 for place in places.values()]
        if math.prod(shape) > len(few):
            return None
        flat = np.ravel_multi_index([places[name][few.cells[name]] for name in places], shape)
        counts = np.bincount(flat, minlength=math.prod(shape))
        if not counts.all():
            return None
        values = np.bincount(flat, weights=few.signed, minlength=len(counts)) / counts
        return cls(places, values.reshape(shape))

    def at(self, cells: CellsByName) -> Reals:
        found: Reals = self.values[tuple(place[cells[name]] for name, place in self.places.items())]
        return found


@dataclass(frozen=True, slots=True, eq=False)
class ModelResponse:
    """The mean of a Gaussian process of the ranks, as values of the objective."""

    arrangement: Arrangement
    layout: FeatureLayout
    rows: Singles  # (rows, features) where they lie
    weights: Reals  # (features,)
    solved: Reals  # (rows,) what each row adds where it is near
    tilt: Reals  # (waves,) the additive part
    mean: float
    scores: Reals  # (rungs,) rising, with the
    values: Reals  # (rungs,) objective at each

    way: Way = "model"

    @classmethod
    def of(cls, space: Space, few: FewRows, seed: int) -> ModelResponse | None:
        """None where the model predicts badly."""
        step = max(1, -(-len(few) // MOST_ROWS))
        some = few.take(np.isin(np.arange(len(few)) % step, [0]))
        lesson = Knowledge(space, some).lesson(seed)
        if lesson is None or lesson.settings is None:
            return None
        with one_thread():
            learned = configurations_of(Knowledge(space, some).rows)
            layout = layout_of(learned.arrangement, learned.places)
            scores = scores_of(learned.levels, np.ones(len(learned)))
            process = condition(layout.embed(learned.places), layout.owners, scores, lesson.settings)
        means = np.bincount(learned.owner, weights=learned.signed) / learned.repeats
        order = np.argsort(scores, kind="stable")
        tilt = process.additive * (process.rows.basis.T @ process.solved)
        kept = (
            process.rows.positions,
            process.weights,
            process.solved,
            tilt,
            process.mean,
        )  # not its factor, which is large
        return cls(learned.arrangement, layout, *kept, scores[order], np.maximum.accumulate(means[order]))

    def at(self, cells: CellsByName) -> Reals:
        points = self.layout.embed(self.arrangement.places(cells))  # type: ignore[arg-type]
        kernel = rational_quadratic(points.positions, self.rows, self.weights)
        predicted = kernel @ self.solved + points.basis @ self.tilt + self.mean
        return np.interp(predicted, self.scores, self.values)


@dataclass(frozen=True, slots=True, eq=False)
class AdditiveResponse:
    """The mean objective along every parameter, added up."""

    mean: float
    moves: Mapping[str, Reals]  # (cells + 2,) each: what a value adds to the mean

    way: Way = "tallies"

    @classmethod
    def of(cls, analysis: Asks) -> AdditiveResponse:
        sign, moves, mean = analysis.levels.sign, {}, 0.0
        for name, tally in analysis.tallies.items():
            cells, sums = tally.counts.sum(axis=0), sign * tally.sums.sum(axis=0)
            mean = float(sums.sum() / max(1, cells.sum()))
            bins = bins_of(tally.parameter, cells[: tally.grid.cells], 12)
            groups = np.r_[bins.groups, len(bins), len(bins) + 1]
            rows, whole = (np.bincount(groups, weights=w, minlength=len(bins) + 2) for w in (cells, sums))
            moves[name] = ((whole - rows * mean) / (rows + PSEUDO_ROWS))[groups]
        return cls(mean, moves)

    def at(self, cells: CellsByName) -> Reals:
        return self.mean + sum(move[cells[name]] for name, move in self.moves.items())  # type: ignore[return-value]
