"""Two objectives against each other: which rows are the target, and which no other row beats in both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pedanova.base.kernel.pareto import ranks_of
from pedanova.base.table import Cell, Table
from pedanova.counting.contrasts import codes_of_rows
from pedanova.data.observations import Observations
from pedanova.data.options import NanPolicy
from pedanova.data.regions import as_region
from pedanova.errors import QueryError


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Tradeoff(Table):
    """Rows by two objectives; only those whose objectives are finite numbers."""

    names: tuple[str, str]
    directions: tuple[str, str]
    values: NDArray[np.float64]  # (rows, 2)
    target: NDArray[np.bool_]  # (rows,)
    front: NDArray[np.bool_]  # (rows,) no other row is better in one and as good in the other
    words: str  # the target in words

    def to_dict(self) -> dict[str, list[Cell]]:
        first, second = (self.values[:, i].tolist() for i in (0, 1))
        columns: dict[str, list[Cell]] = {self.names[0]: first, self.names[1]: second}
        return columns | {"target": self.target.tolist(), "front": self.front.tolist()}

    def __len__(self) -> int:
        return len(self.values)


def tradeoff_of(
    observed: Observations, target: object, nan: NanPolicy, objectives: Sequence[str] | None = None
) -> Tradeoff:
    """Of the first two objectives, or of the two that are named."""
    goals = {goal.name: goal for goal in observed.goals}
    chosen = list(goals)[:2] if objectives is None else list(objectives)
    if len(chosen) != 2 or not set(chosen) <= set(goals):
        names = ", ".join(goals)
        raise QueryError(f"objectives={chosen!r} must be two of {names}; one alone is drawn by plot.objective()")
    wanted = as_region(target, "target")
    codes = codes_of_rows(observed, wanted, as_region(1.0, "region"), nan)
    both = np.stack([np.asarray(goals[name].values, dtype=np.float64) for name in chosen], axis=1)
    counted = (codes < 2) & np.isfinite(both).all(axis=1)
    signs = np.array([goals[name].sign for name in chosen])
    directions = (str(goals[chosen[0]].direction), str(goals[chosen[1]].direction))
    values, inside = both[counted], codes[counted] == 0
    return Tradeoff((chosen[0], chosen[1]), directions, values, inside, ranks_of(values * signs) == 0, str(wanted))
