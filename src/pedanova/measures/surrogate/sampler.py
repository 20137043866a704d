"""Were the rows drawn evenly, or did a sampler go where it was good? Evidence that marginals cannot fake.

A random search may draw a column on any scale, or put zeros into a quarter of it: its columns still
know nothing of each other. An adaptive sampler moves in all columns at once, from everywhere to the
good places. So its rows are typical in many columns together or in none; good configurations are
run again; and values drift with the number of the trial.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.measures.chance.kinship import Kinship
from pedanova.measures.chance.ranked_rows import Arrangement, Places
from pedanova.measures.chance.ranks import mid_ranks
from pedanova.measures.surrogate.configurations import Configurations
from pedanova.space.grid import Grid
from pedanova.space.parameters import Moving, Parameter, Space, parents_of

Reals: TypeAlias = NDArray[np.float64]
SURE = 3.3  # deviations beyond which chance is no explanation
APART = 0.2  # columns that tell each other less are held side by side: copies are no sampler's doing
GROUPS = 12  # of a range, whose rows are counted


@dataclass(frozen=True, slots=True)
class SamplerEvidence:
    """Each in deviations of what chance would do; None where it cannot be known."""

    together: float  # rows are typical in several columns at once
    again: float  # better configurations were run more often
    drift: float | None  # the column that moves most with the number of the trial, all columns allowed for

    @property
    def deviations(self) -> float:
        """All evidence put together; what speaks against it counts for nothing."""
        return math.hypot(*(max(0.0, one) for one in (self.together, self.again, self.drift or 0.0)))

    @property
    def adaptive(self) -> bool:
        return self.deviations > SURE


def sampler_of(learned: Configurations, kinship: Kinship) -> SamplerEvidence:
    """From the configurations, and the numbers of the trials where they are known."""
    drift = None if learned.trials is None else drift_of(learned, learned.trials)
    return SamplerEvidence(together_of(learned, kinship), again_of(learned), drift)


def together_of(learned: Configurations, kinship: Kinship) -> float:
    """Correlation of how usual each value is, summed over pairs of columns that hardly tell each other."""
    columns = usual_values(learned.arrangement, learned.places)
    if len(columns) < 2:
        return 0.0
    apart = np.triu(kinship.told < APART, k=1)[np.ix_(list(columns), list(columns))]
    pairs = int(apart.sum())
    if pairs == 0:
        return 0.0
    usual = np.stack(list(columns.values()))
    rows = usual.shape[1]
    correlations = usual @ usual.T / rows
    return float(correlations[apart].sum() * math.sqrt(rows / pairs))


def usual_values(arrangement: Arrangement, places: Places) -> dict[int, Reals]:
    """For every free column: the logarithm of how many rows share each value, standardised."""
    found = {}
    for j in range(arrangement.varying):
        if not is_free(arrangement.space, arrangement.names[j]):
            continue
        groups = grouped(arrangement.grids[j], places[:, j])
        usual = np.log(np.bincount(groups)[groups])
        deviation = float(usual.std())
        if deviation > 1e-9:
            found[j] = (usual - usual.mean()) / deviation
    return found


def is_free(space: Space, name: str) -> bool:
    """Whether no other parameter decides over this one."""
    parameter: Parameter = space[name]
    return not parents_of(parameter) and not isinstance(parameter, Moving)


def grouped(grid: Grid, places: Places) -> NDArray[np.int64]:
    """Neighbouring cells of a range together."""
    cells = places.astype(np.int64)
    if grid.cells <= GROUPS or not all(block.ordered for block in grid.blocks):
        return cells
    inside = np.minimum(cells, grid.cells - 1) * GROUPS // grid.cells
    return np.where(cells < grid.cells, inside, cells - grid.cells + GROUPS)


def again_of(learned: Configurations) -> float:
    """Rank correlation of being good with being run again."""
    return correlated(-mid_ranks(learned.levels), mid_ranks(learned.repeats))


def drift_of(learned: Configurations, trials: Reals) -> float:
    """The largest correlation of a column with the trial's number, less what the number of columns would bring."""
    order = mid_ranks(trials)
    places = learned.places[learned.owner]
    drifts = [abs(correlated(order, column)) for column in drifting_columns(learned, places)]
    if not drifts:
        return 0.0
    return max(drifts) - (math.sqrt(2.0 * math.log(len(drifts))) if len(drifts) > 1 else 0.0)


def drifting_columns(learned: Configurations, places: Places) -> Sequence[Reals]:
    """Ranks of ordered columns, and how usual the values of all are."""
    arrangement = learned.arrangement
    ordered = [
        mid_ranks(places[:, j])
        for j in range(arrangement.varying)
        if all(block.ordered for block in arrangement.grids[j].blocks)
    ]
    return [*ordered, *usual_values(arrangement, places).values()]


def correlated(one: Reals, two: Reals) -> float:
    """Correlation times √rows: standard normal where there is none."""
    rows = len(one)
    spread = float(one.std() * two.std())
    if rows < 3 or spread == 0.0:
        return 0.0
    return float(np.mean((one - one.mean()) * (two - two.mean()))) / spread * math.sqrt(rows)
