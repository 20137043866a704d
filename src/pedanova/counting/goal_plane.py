"""Data for plots of two objectives: single rows or counts in a grid, with the target and the Pareto front."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.base.kernel.pareto import ranks_of
from pedanova.counting.contrasts import Codes, codes_of_rows
from pedanova.data.objectives import Goal
from pedanova.data.observations import Observations
from pedanova.data.options import NanPolicy
from pedanova.data.regions import Region
from pedanova.errors import QueryError

CELLS = 28
WIDE = 50.0  # positive objectives with a larger range get a log scale
ENDS = (0.005, 0.98)  # quantiles, best first, that are drawn; rows beyond them are in the outermost cells

Counts = NDArray[np.int64]  # (cells, cells)


@dataclass(frozen=True, slots=True, eq=False)
class GoalPlane:
    """A grid of two objectives, with the number of region, target and Pareto-optimal rows in every cell."""

    names: tuple[str, str]
    directions: tuple[str, str]
    log: tuple[bool, bool]
    edges: tuple[NDArray[np.float64], NDArray[np.float64]]
    region: Counts
    target: Counts
    front: Counts  # rows that are on the Pareto front


def goal_plane(observed: Observations, codes: Codes, *, axes: tuple[int, int] = (0, 1)) -> GoalPlane:
    """Count rows in a grid of two objectives; `codes` are 0 in the target, 1 elsewhere in the region, 2 outside it."""
    if len(observed.goals) < 2:
        raise QueryError("there is only one objective; this plot needs two objectives")
    rows = codes < 2
    losses = np.stack([goal.sign * goal.values[rows].astype(np.float64) for goal in observed.goals], axis=1)
    first, second = (observed.goals[axis] for axis in axes)
    (xs, log_x), (ys, log_y) = (edges_of(goal, goal.values[rows]) for goal in (first, second))
    at = [  # values outside the edges are in the first or last cell
        np.clip(np.nan_to_num(goal.values[rows].astype(np.float64), nan=np.inf), edges[0], edges[-1])
        for goal, edges in ((first, xs), (second, ys))
    ]

    def count(some: NDArray[np.bool_]) -> Counts:
        return np.histogram2d(at[0][some], at[1][some], bins=(xs, ys))[0].astype(np.int64)

    region = count(np.ones(int(rows.sum()), dtype=bool))
    names, directions = (first.name, second.name), (str(first.direction), str(second.direction))
    tables = region, count(codes[rows] == 0), count(ranks_of(losses) == 0)
    return GoalPlane(names, directions, (log_x, log_y), (xs, ys), *tables)


def edges_of(goal: Goal, values: NDArray[Any]) -> tuple[NDArray[np.float64], bool]:
    """The edges of the cells of one objective, and whether they are on a log scale; the worst 2 % are ignored."""
    finite = values[np.isfinite(values)].astype(np.float64)
    if not len(finite):
        return np.linspace(0.0, 1.0, CELLS + 1), False
    ends = ENDS if goal.sign > 0 else tuple(1.0 - end for end in reversed(ENDS))
    low, high = np.quantile(finite, ends)
    low, high = (min(low, finite.min()), high) if goal.sign > 0 else (low, max(high, finite.max()))
    if not low < high:
        low, high = low - 0.5, high + 0.5
    log = bool(low > 0 and high / low > WIDE)
    return (np.geomspace(low, high, CELLS + 1) if log else np.linspace(low, high, CELLS + 1)), log


@dataclass(frozen=True, slots=True, eq=False)
class Tradeoff:
    """The values of two objectives for each row; rows with a value that is not finite are left out."""

    names: tuple[str, str]
    directions: tuple[str, str]
    values: NDArray[np.float64]  # (rows, 2)
    target: NDArray[np.bool_]  # (rows,)
    front: NDArray[np.bool_]  # (rows,) whether the row is on the Pareto front
    words: str  # the target in words


def tradeoff_of(
    observed: Observations, target: object, nan: NanPolicy, objectives: Sequence[str] | None = None
) -> Tradeoff:
    """The values of the first two objectives, or of the two in `objectives`, with target and Pareto front."""
    goals = {goal.name: goal for goal in observed.goals}
    chosen = list(goals)[:2] if objectives is None else list(objectives)
    if len(chosen) != 2 or not set(chosen) <= set(goals):
        names = ", ".join(goals)
        raise QueryError(f"objectives={chosen!r} must be two of {names}")
    wanted = Region.parse(target, "target")
    codes = codes_of_rows(observed, wanted, Region.parse(1.0, "region"), nan)
    both = np.stack([np.asarray(goals[name].values, dtype=np.float64) for name in chosen], axis=1)
    counted = (codes < 2) & np.isfinite(both).all(axis=1)
    signs = np.array([goals[name].sign for name in chosen])
    directions = (str(goals[chosen[0]].direction), str(goals[chosen[1]].direction))
    values, inside = both[counted], codes[counted] == 0
    return Tradeoff((chosen[0], chosen[1]), directions, values, inside, ranks_of(values * signs) == 0, str(wanted))
