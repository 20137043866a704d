"""The configurations that were run, and evidence that an adaptive sampler chose them.

In a random search, columns are independent. An adaptive sampler moves toward good values in all columns at once. This
leaves three traces: some rows have frequent values in many columns and other rows have rare ones, good configurations
are run again, and values drift with the trial number. A search that varies one parameter at a time leaves the opposite
trace: rows have frequent values in all columns but one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pedanova.counting.few_rows import Indices
from pedanova.data.column import Mask
from pedanova.measures.chance.ranked_rows import Arrangement, Dependence, Places, RankedRows, codes_of, mid_ranks
from pedanova.measures.distributions import normal_quantile
from pedanova.space.grid import Grid, Reals
from pedanova.space.parameters import Moving

SURE = 3.4  # deviations beyond which chance is ruled out
LIKELY = 2.3  # deviations beyond which chance is unlikely, which is enough if repeats are not due to chance
INDEPENDENT = 0.2  # association below which two columns are compared, because copies say nothing about the sampler
GROUPS = 12  # groups of a range
FEWEST_FIRST = 10  # the fewest trials before an adaptive sampler settles
TOGETHER = 64  # columns that are compared at once, which limits memory
FEWEST_PAIRED = 5  # the fewest rows with values in both columns for a correlation


@dataclass(frozen=True, slots=True, eq=False)
class Configurations:
    """The configurations that were run, each once, in an order that does not depend on the objective.

    Rows with the same configuration are merged; their rank is the mean of the rows' ranks.
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
    first, owner, repeats = rows.distinct
    # Sums of halves are exact, and so equal means are equal numbers.
    levels, _ = codes_of(np.bincount(owner, weights=mid_ranks(rows.signed) * rows.weights) / repeats)
    return Configurations(rows.arrangement, rows.places[first], levels, repeats, owner, rows.signed, rows.trials)


@dataclass(frozen=True, slots=True)
class SamplerEvidence:
    """Signs of an adaptive sampler, in units of their standard deviation in a random search."""

    together: float  # rows have frequent values in several columns at once; negative: in all but one
    again: float  # better configurations were run more often
    drift: float | None  # values change with the trial number, or become more frequent
    repeated: bool = False  # configurations are repeated more often than independent columns allow
    stepwise: bool = False  # most configurations differ from another in a single column
    designed: bool = False  # some trials have the mark of `next_trials`

    @property
    def deviations(self) -> float:
        """The combined evidence for an adaptive sampler; evidence against it is ignored."""
        together = abs(self.together) if self.stepwise else self.together
        return math.hypot(*(max(0.0, one) for one in (together, self.again, self.drift or 0.0)))

    @property
    def adaptive(self) -> bool:
        """Whether the sampler preferred good configurations."""
        return self.designed or self.deviations > SURE or (self.repeated and self.again > LIKELY)


def sampler_of(configurations: Configurations, dependence: Dependence) -> SamplerEvidence:
    """Compute the evidence from the configurations, and from the trial numbers if they are known."""
    drift = None if configurations.trials is None else drift_of(configurations, configurations.trials)
    # The rank correlation of objective and number of repeats; above 0, good configurations recur.
    again = 0.0
    if configurations.repeats.max() > 1:
        ranks = np.stack([-mid_ranks(configurations.levels), mid_ranks(configurations.repeats)])
        again = float(correlations(ranks)[0][0, 1])
    together = joint_concentration(configurations, dependence)
    repeated = again > LIKELY and has_excess_repeats(configurations)  # computed only if it can decide
    return SamplerEvidence(together, again, drift, repeated, together < 0.0 and is_stepwise(configurations))


def joint_concentration(configurations: Configurations, dependence: Dependence) -> float:
    """Whether frequent values of several columns occur in the same rows, in standard deviations of a random search.

    For each pair of columns, rows without a value in one of them are left out.
    """
    columns = log_frequencies(configurations.arrangement, configurations.places)
    if len(columns) < 2:
        return 0.0
    names, usual = list(columns), np.stack(list(columns.values()))
    missing: Mask = np.isnan(usual)
    partial = np.array([column.any() for column in missing])  # shared missing values are no evidence
    strength = dependence.strength[np.ix_(names, names)]
    if partial.any():
        values = np.where(missing, np.nan, configurations.places[:, names].T)
        strength = np.where(partial & partial[:, None], np.divide(*correlations(values)) ** 2, strength)
    scaled = correlations(usual)[0][np.triu(strength < INDEPENDENT, k=1)]
    return float(scaled.sum() / math.sqrt(max(1, len(scaled))))


def log_frequencies(arrangement: Arrangement, places: Places) -> dict[int, Reals]:
    """By column: the log of the frequency of each row's value; NaN for missing values."""
    columns = {}
    for j in range(arrangement.varying):
        if isinstance(arrangement.space[arrangement.names[j]], Moving):
            continue
        groups = grouped(arrangement.grids[j], places[:, j])
        usual = np.log(np.bincount(groups)[groups])
        usual[places[:, j] >= arrangement.grids[j].cells] = np.nan
        if np.fmax.reduce(usual) > np.fmin.reduce(usual):
            columns[j] = usual
    return columns


def grouped(grid: Grid, places: Places) -> NDArray[np.int64]:
    """The group of every row's value; neighbouring cells of a range are merged into groups."""
    cells = places.astype(np.int64)
    if grid.cells <= GROUPS or not all(block.ordered for block in grid.blocks):
        return cells
    inside = np.minimum(cells, grid.cells - 1) * GROUPS // grid.cells
    return np.where(cells < grid.cells, inside, cells - grid.cells + GROUPS)


def has_excess_repeats(configurations: Configurations) -> bool:
    """Whether configurations are repeated more often than in a random search with independent columns."""
    repeats, rows, same = configurations.repeats, int(configurations.repeats.sum()), 1.0
    pairs = float((repeats * (repeats - 1)).sum()) / 2.0
    for column in configurations.places[:, : configurations.arrangement.varying].T:
        same *= float(((np.bincount(column, weights=repeats) / rows) ** 2).sum())
    return is_excess(2.0 * pairs, same * rows * (rows - 1))


def is_excess(repeated: float, expected: float) -> bool:
    """Whether there are clearly more ordered pairs of equal rows than expected."""
    return repeated / 2.0 > expected / 2.0 + 5.0 * math.sqrt(expected / 2.0) + 5.0


def is_stepwise(configurations: Configurations) -> bool:
    """Whether at least `len(configurations)` pairs of configurations differ in only one column."""
    columns = configurations.arrangement.varying
    keys = np.random.default_rng(0x57E9).integers(0, 2**64, size=columns, dtype=np.uint64) | np.uint64(1)
    places, pairs = configurations.places[:, :columns].T, 0
    total = sum(column * key for column, key in zip(places, keys, strict=True))
    for first in range(0, columns, TOGETHER):
        some = slice(first, first + TOGETHER)
        others = np.sort(total - places[some] * keys[some, None], axis=1)  # a key of all other columns
        repeated = others[np.any(others[:, 1:] == others[:, :-1], axis=1)]
        alike = (np.unique(column, return_counts=True)[1] for column in repeated)
        pairs += sum(int((many * (many - 1)).sum()) // 2 for many in alike)
    return columns > 1 and pairs >= len(configurations)


def drift_of(configurations: Configurations, trials: Reals) -> float:
    """How much parameter values change with the trial number, in standard deviations of a random search.

    A configuration that was run several times is included once, with its mean trial number.
    """
    number = np.bincount(configurations.owner, weights=trials) / np.bincount(configurations.owner)
    arrangement, places = configurations.arrangement, configurations.places
    usual = [*log_frequencies(arrangement, places).values()]
    ordered = [  # the ranks of every ordered column, NaN for missing values
        np.where(places[:, j] < grid.cells, mid_ranks(places[:, j]), np.nan)
        for j, grid in enumerate(arrangement.grids[: arrangement.varying])
        if all(block.ordered for block in grid.blocks)
    ]
    if not ordered and not usual:
        return 0.0
    # The largest correlation of a column with the trial number, minus the largest one that chance would give.
    drifts = np.abs(correlations(np.stack([mid_ranks(number), *ordered, *usual]))[0][0, 1:])
    drift = float(drifts.max()) - (math.sqrt(2.0 * math.log(len(drifts))) if len(drifts) > 1 else 0.0)
    return max(drift, settling(number, usual))


def settling(number: Reals, usual: Sequence[Reals]) -> float:
    """Whether later trials have more frequent values than the first trials, in standard deviations of a random search.

    An adaptive sampler starts anywhere and soon settles. The trials are divided where the change is clearest. To
    correct for this choice, the change is compared with the largest standardised step of a Brownian bridge.
    """
    rows = len(number)
    if not usual or rows < 4 * FEWEST_FIRST:
        return 0.0
    columns = np.stack(usual)
    apart = columns - np.nanmean(columns, axis=1, keepdims=True)
    total = np.nansum(apart / np.nanstd(columns, axis=1, keepdims=True), axis=0)
    total = (total / max(float(total.std()), 1e-9))[np.argsort(number, kind="stable")]
    first = np.arange(FEWEST_FIRST, rows - FEWEST_FIRST + 1)
    step = float((-np.cumsum(total)[first - 1] / np.sqrt(first * (rows - first) / rows)).max())
    if step < 1.5:  # the formula of the tail does not hold for smaller steps
        return 0.0
    ends = 2.0 * math.log(rows / FEWEST_FIRST - 1.0)
    chance = (
        0.5 * step * math.exp(-(step**2) / 2.0) / math.sqrt(2.0 * math.pi) * ((1.0 - step**-2) * ends + 4.0 / step**2)
    )
    return max(0.0, -float(normal_quantile(max(chance, 1e-300))))


def correlations(columns: Reals) -> tuple[Reals, Reals]:
    """Correlations times √n (standard normal under independence), and √n; both (columns, columns).

    `columns` is (columns, rows). For each pair, n is the number of rows in which both columns have a value.
    """
    there = ~np.isnan(columns)
    whole = bool(there.all())  # `np.nanmean` is slow
    values = columns - (np.mean if whole else np.nanmean)(columns, axis=1, keepdims=True)
    values = values if whole else np.where(there, values, 0.0)
    together = values @ values.T
    if whole:
        rows, squares = np.full_like(together, columns.shape[1]), np.diagonal(together)[:, None]
    else:
        ones = there.astype(np.float64)
        rows = ones @ ones.T
        sums, squares = values @ ones.T, values**2 @ ones.T  # of each column, in rows where both have values
        squares -= sums**2 / np.maximum(rows, 1.0)
        together -= sums * sums.T / np.maximum(rows, 1.0)
    enough = rows > FEWEST_PAIRED
    rows[~enough] = 1.0
    spread = np.maximum(squares, 0.0)
    deviations = np.sqrt(spread * spread.T)
    within = enough & (deviations > 1e-9)
    together /= np.where(within, deviations, 1.0)
    return np.where(within, together * np.sqrt(rows), 0.0), np.sqrt(rows)


def correlation(one: Reals, two: Reals) -> float:
    """The correlation of two columns; 0 if either is constant."""
    deviations = float(one.std() * two.std())
    return float(np.mean((one - one.mean()) * (two - two.mean()))) / deviations if deviations > 1e-12 else 0.0
