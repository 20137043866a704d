"""The configurations that were run, and evidence that an adaptive sampler chose them.

A random search may draw a column on any scale, or put zeros into a quarter of it: its columns are still independent.
An adaptive sampler moves in all columns at once, from everywhere to the good places. So its rows are typical in many
columns together or in none; good configurations are run again; and values drift with the number of the trial.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pedanova.counting.few_rows import Indices
from pedanova.measures.chance.dependence import Dependence
from pedanova.measures.chance.ranked_rows import Arrangement, Places, RankedRows, doubled_ranks, mid_ranks
from pedanova.space.grid import Grid, Reals
from pedanova.space.parameters import Moving, parents_of

SURE = 4.0  # deviations beyond which chance is no explanation,
LIKELY = 2.3  # and beyond which it is an unlikely one: enough where repeats cannot be chance
INDEPENDENT = 0.2  # pairs of columns that predict each other less are compared: copies are no sign of a sampler
GROUPS = 12  # of a range, whose rows are counted


@dataclass(frozen=True, slots=True, eq=False)
class Configurations:
    """The configurations that were run, each once, in an order that does not depend on the objective.

    Rows of one configuration are merged, with the mean of their ranks.
    """

    arrangement: Arrangement
    places: Places  # (configurations, parameters)
    levels: Indices  # (configurations,) 0 for the best; equal ones share a level
    repeats: Indices  # (configurations,) rows of each
    owner: Indices  # (rows,) the configuration of each row
    signed: Reals  # (rows,) the objective, lower is better
    trials: Reals | None  # (rows,)

    def __len__(self) -> int:
        return len(self.places)


def configurations_of(rows: RankedRows) -> Configurations:
    _, first, owner, repeats = np.unique(rows.keys, return_index=True, return_inverse=True, return_counts=True)
    # Sums of whole numbers are exact, and so equal means are equal numbers.
    means = np.bincount(owner, weights=doubled_ranks(rows.signed)) / repeats
    levels = np.unique(means, return_inverse=True)[1]
    return Configurations(rows.arrangement, rows.places[first], levels, repeats, owner, rows.signed, rows.trials)


@dataclass(frozen=True, slots=True)
class SamplerEvidence:
    """Signs of an adaptive sampler, each in standard deviations of chance; None where there is no evidence."""

    together: float  # rows are typical in several columns at once
    again: float  # better configurations were run more often
    drift: float | None  # the column that moves most with the number of the trial, all columns allowed for
    repeated: bool = False  # configurations came again more often than independent columns allow

    @property
    def deviations(self) -> float:
        """The evidence combined; signs to the contrary count as 0."""
        return math.hypot(*(max(0.0, one) for one in (self.together, self.again, self.drift or 0.0)))

    @property
    def adaptive(self) -> bool:
        """Whether the sampler preferred good configurations."""
        return self.deviations > SURE or (self.repeated and self.again > LIKELY)


def sampler_of(configurations: Configurations, dependence: Dependence) -> SamplerEvidence:
    """The evidence in the configurations, and in the numbers of the trials where they are known."""
    drift = None if configurations.trials is None else drift_of(configurations, configurations.trials)
    # The rank correlation of the objective and the number of repeats; above 0: good ones recur.
    again = scaled_correlation(-mid_ranks(configurations.levels), mid_ranks(configurations.repeats))
    together = joint_concentration(configurations, dependence)
    return SamplerEvidence(together, again, drift, has_excess_repeats(configurations))


def joint_concentration(configurations: Configurations, dependence: Dependence) -> float:
    """The correlation of how usual each value is, summed over pairs of nearly independent columns."""
    columns = log_frequencies(configurations.arrangement, configurations.places)
    if len(columns) < 2:
        return 0.0
    apart = np.triu(dependence.strength < INDEPENDENT, k=1)[np.ix_(list(columns), list(columns))]
    pairs = int(apart.sum())
    if pairs == 0:
        return 0.0
    usual = np.stack(list(columns.values()))
    rows = usual.shape[1]
    correlations = usual @ usual.T / rows
    return float(correlations[apart].sum() * math.sqrt(rows / pairs))


def log_frequencies(arrangement: Arrangement, places: Places) -> dict[int, Reals]:
    """How many rows share each value, as a standardised logarithm, for columns without parents or a moving range."""
    columns = {}
    for j in range(arrangement.varying):
        parameter = arrangement.space[arrangement.names[j]]
        if parents_of(parameter) or isinstance(parameter, Moving):
            continue
        groups = grouped(arrangement.grids[j], places[:, j])
        usual = np.log(np.bincount(groups)[groups])
        deviation = float(usual.std())
        if deviation > 1e-9:
            columns[j] = (usual - usual.mean()) / deviation
    return columns


def grouped(grid: Grid, places: Places) -> NDArray[np.int64]:
    """The group of every row: neighbouring cells of a range are merged."""
    cells = places.astype(np.int64)
    if grid.cells <= GROUPS or not all(block.ordered for block in grid.blocks):
        return cells
    inside = np.minimum(cells, grid.cells - 1) * GROUPS // grid.cells
    return np.where(cells < grid.cells, inside, cells - grid.cells + GROUPS)


def has_excess_repeats(configurations: Configurations) -> bool:
    """Whether more pairs of rows share a configuration than independent columns would give."""
    rows = len(configurations.owner)
    pairs = float((configurations.repeats * (configurations.repeats - 1)).sum()) / 2.0
    same = 1.0
    for column in configurations.places[configurations.owner][:, : configurations.arrangement.varying].T:
        same *= float(((np.bincount(column) / rows) ** 2).sum())
    expected = same * rows * (rows - 1) / 2.0
    return pairs > expected + 5.0 * math.sqrt(expected) + 5.0


def drift_of(configurations: Configurations, trials: Reals) -> float:
    """The largest correlation of a column with the trial number, less the expected maximum of so many columns."""
    order = mid_ranks(trials)
    places = configurations.places[configurations.owner]
    drifts = [abs(scaled_correlation(order, column)) for column in columns_to_test(configurations, places)]
    if not drifts:
        return 0.0
    return max(drifts) - (math.sqrt(2.0 * math.log(len(drifts))) if len(drifts) > 1 else 0.0)


def columns_to_test(configurations: Configurations, places: Places) -> Sequence[Reals]:
    """Ranks of ordered columns, and how usual the values of every column are."""
    arrangement = configurations.arrangement
    ordered = [
        mid_ranks(places[:, j])
        for j in range(arrangement.varying)
        if all(block.ordered for block in arrangement.grids[j].blocks)
    ]
    return [*ordered, *log_frequencies(arrangement, places).values()]


def scaled_correlation(one: Reals, two: Reals) -> float:
    """The correlation times √rows: standard normal where there is none."""
    return correlation(one, two) * math.sqrt(len(one)) if len(one) > 2 else 0.0


def correlation(one: Reals, two: Reals) -> float:
    """The correlation of two columns; 0 where either is constant."""
    deviations = float(one.std() * two.std())
    return float(np.mean((one - one.mean()) * (two - two.mean()))) / deviations if deviations > 1e-12 else 0.0
