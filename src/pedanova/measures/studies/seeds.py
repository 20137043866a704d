"""How much of the variance is due to the random seed, from repeated runs; the rest is what parameters can explain.

The model has one-way random effects in unbalanced groups (Searle, Casella and McCulloch 1992). Intervals come from a
jackknife over configurations (Arvesen 1969). The jackknife uses log F, which is nearly normal; F is the mean square
between configurations divided by the mean square within them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.base.digits import interval, percent
from pedanova.base.notes import Note
from pedanova.base.table import Cell, NamedTable, Printed
from pedanova.counting.few_rows import counted_rows
from pedanova.data.column_clues import SEED_NAMES
from pedanova.data.observations import Observations
from pedanova.data.options import as_names
from pedanova.data.prepare import prepare, settings_of
from pedanova.data.regions import Region
from pedanova.data.row_status import configurations
from pedanova.errors import Arg, DataError, QueryError, listed
from pedanova.measures.distributions import student_end
from pedanova.measures.questions.trial_data import TrialData
from pedanova.space.grid import Reals
from pedanova.space.parameters import Space

Groups: TypeAlias = NDArray[np.int64]  # (rows,) the number of each row's configuration
IN_TARGET = "in the target"
FEWEST = 2  # the smallest number of configurations
LEFT = 0.05  # the smallest part of the squares within configurations that remains when one is left out
ROUNDING = 1e-14  # the rounding error of means of values between -1 and 1
ROUGH = 20  # with fewer repeated configurations, the numbers are called rough


@dataclass(frozen=True, slots=True)
class SeedPart:
    """The fraction of a variance that is due to the seed, and `ceiling`, the most that parameters can explain."""

    name: str  # the objective, or "in the target"
    seed: float  # the part among rows of one configuration, with a 95 % interval
    low: float
    high: float
    averaged: float  # the ceiling if the runs of each configuration are averaged first (repeats="mean")

    @property
    def ceiling(self) -> float:
        return 1.0 - self.seed

    @property
    def ceiling_low(self) -> float:
        return 1.0 - self.high

    @property
    def ceiling_high(self) -> float:
        return 1.0 - self.low


@dataclass(frozen=True, slots=True, repr=False)
class Seeds(NamedTable[SeedPart]):
    """The fraction of the variance that is due to the seed: ``seeds["loss"].seed``, ``seeds["in the target"].ceiling``.

    Attributes
    ----------
    runs, configurations, repeated
        The number of runs, of configurations, and of configurations that were run more than once.
    target
        The target, in words.

    Examples
    --------
    >>> import numpy as np, pedanova as pa
    >>> rng = np.random.default_rng(0)
    >>> x = np.repeat(rng.standard_normal(200), 5)
    >>> pa.analyze({"x": x, "loss": x + rng.standard_normal(1000)}, "loss").seeds().repeated
    200
    """

    rows: tuple[SeedPart, ...]
    runs: int  # rows that count
    configurations: int
    repeated: int  # configurations with at least two rows
    target: str  # in words
    notes: tuple[Note, ...] = ()

    def to_dict(self) -> dict[str, list[Cell]]:
        numbers = ("seed", "low", "high", "ceiling", "ceiling_low", "ceiling_high", "averaged")
        columns: dict[str, list[Cell]] = {"variance of": [row.name for row in self.rows]}
        return columns | {name: [getattr(row, name) for row in self.rows] for name in numbers}

    def printed(self) -> Printed:
        return [
            self.column("variance of", lambda row: row.name),
            self.percents("seed", "by the seed"),
            self.column("95 % interval", lambda row: interval(row.low, row.high)),
            self.percents("ceiling"),
            self.column("its interval", lambda row: interval(row.ceiling_low, row.ceiling_high), leave=1),
            self.percents("averaged", leave=2),
        ]

    def heading(self) -> str:
        return (
            f"The effect of the random seed; {self.repeated:,} of {self.configurations:,} configurations were repeated"
        )

    def summary(self) -> str:
        """The fraction of the variance that is due to the seed, and what this means for the shares, in words."""
        *goals, reached = self.rows
        ends = {row.name: interval(row.low, row.high) for row in self.rows}
        own = "; ".join(f"{percent(row.seed)} of the variance of {row.name} ({ends[row.name]})" for row in goals)
        most = min(row.ceiling for row in goals)
        there = f"{percent(reached.seed)} ({ends[reached.name]})"
        return (
            f"The seed accounts for {own}: all parameters together cannot account for more than {percent(most)}. "
            f"For the question whether a trial is in {self.target}, the seed accounts for {there} of "
            f"the variance, so importances cannot exceed {percent(reached.ceiling)}."
        )


def seeds_of(groups: Groups, varying: Mapping[str, Reals], target: str) -> Seeds:
    """The seed's fraction of the variance of each quantity in `varying`; `groups` has each row's configuration."""
    sizes = np.unique(groups, return_counts=True)[1]
    repeated = int((sizes > 1).sum())
    if repeated < FEWEST:
        many = "no configuration is" if repeated == 0 else "one configuration is"
        words = f"{many} repeated among the {len(groups):,} rows ({len(sizes):,} configurations); "
        remedy = f"to separate the seed from the parameters, run at least {FEWEST} configurations with several seeds; "
        raise DataError(words, remedy, "if a column makes every row different, add it to ", Arg("exclude"))
    rows, notes = [], []
    if repeated < ROUGH:
        notes.append(Note("doubt", f"only {repeated} configurations are repeated, so these numbers are rough"))
    if repeated < len(sizes):
        words = f"{repeated:,} of {len(sizes):,} configurations are repeated; if only good ones were repeated, "
        notes.append(Note("doubt", f"{words}the effect of the seed may differ for the others"))
    for name, values in varying.items():
        finite = np.isfinite(values)
        if not finite.all():
            lost = int((~finite).sum())
            words = f"{lost:,} of {len(values):,} rows have no finite value and are left out"
            notes.append(Note("rows", words, subject=name))
        rows.append(seed_part(name, groups[finite], values[finite]))
    return Seeds(tuple(rows), len(groups), len(sizes), repeated, target, tuple(notes))


def seed_part(name: str, groups: Groups, values: Reals) -> SeedPart:
    sums = ConfigurationSums.of(groups, values)
    if len(sums.rows) < FEWEST or not sums.varies:
        raise DataError(f"{name} is the same in every row, so it has no variance")
    if not (sums.rows > 1).any():
        raise DataError(f"{name}: no repeated configuration has two finite values; there is nothing to compare")
    if not sums.within.any():
        unseen = 0.0  # for a yes/no value, the seed may change up to 3 in n configurations without being noticed
        if len(np.unique(values)) <= 2:
            most = 1.5 / float((sums.rows > 1).sum()) / float(np.var(values)) * float(np.ptp(values)) ** 2
            unseen = min(1.0, most)
        return SeedPart(name, 0.0, 0.0, unseen, 1.0)
    ratio, runs = max(0.0, sums.ratio()), sums.runs()
    low, high = (1.0 / (1.0 + max(0.0, end)) for end in sums.interval()[::-1])
    part = 1.0 / (1.0 + ratio)
    return SeedPart(name, part, min(low, part), max(high, part), ratio / (ratio + 1.0 / runs))


@dataclass(frozen=True, slots=True, eq=False)
class ConfigurationSums:
    """For every configuration: its number of rows, their mean, and the sum of squares around the mean."""

    rows: Reals
    means: Reals
    within: Reals

    @classmethod
    def of(cls, groups: Groups, values: Reals) -> ConfigurationSums:
        places = np.unique(groups, return_inverse=True)[1].reshape(-1)
        small = np.ldexp(values, -np.frexp(np.abs(values).max(initial=0.0))[1])  # so that sums do not overflow
        centred = small - small.mean()
        scale = float(np.abs(centred).max(initial=0.0)) or 1.0  # so that squares do not underflow
        centred = centred / scale
        rows = np.bincount(places).astype(np.float64)
        means = np.bincount(places, weights=centred) / rows
        within = np.bincount(places, weights=(centred - means[places]) ** 2).astype(np.float64)
        return cls(rows, means, np.where(within > rows * ROUNDING**2, within, 0.0))

    @property
    def varies(self) -> bool:
        return bool(self.within.any() or np.ptp(self.means) > 0)

    def runs(self) -> float:
        """n₀: an average of the number of runs per configuration."""
        total = self.rows.sum()
        return float((total - (self.rows**2).sum() / total) / (len(self.rows) - 1))

    def ratio(self) -> float:
        """The variance between configurations divided by the variance within; the estimate may be negative."""
        return float(self._ratios(np.zeros(1))[0])

    def _ratios(self, out: Reals) -> Reals:
        """(configurations,) Item i is `ratio` without configuration i, or of all configurations if ``out[i]`` is 0."""
        rows, means = self.rows, self.means
        total = rows.sum() - out * rows
        squared = (rows**2).sum() - out * rows**2
        sums = (rows * means).sum() - out * rows * means
        squares = (rows * means**2).sum() - out * rows * means**2
        within = np.maximum(self.within.sum() - out * self.within, LEFT * self.within.sum())
        count = len(rows) - out
        between = (squares - sums**2 / total) / (count - 1.0)
        runs = (total - squared / total) / (count - 1.0)
        ratios: Reals = (between / (within / np.maximum(total - count, 1.0)) - 1.0) / runs
        return ratios

    def interval(self) -> tuple[float, float]:
        """The 95 % interval of `ratio`, by a jackknife over configurations."""
        runs, count = self.runs(), len(self.rows)
        if count == FEWEST:  # without one of them nothing is left to compare
            return 0.0, math.inf
        whole, others = (
            np.log(np.maximum(1.0 + runs * self._ratios(out), LEFT)) for out in (np.zeros(count), np.ones(count))
        )
        pseudo = count * whole - (count - 1) * others
        free = max(1.0, float((self.rows > 1).sum()) - 1.0)
        reach = float(student_end(free)) * float(pseudo.std(ddof=1)) / math.sqrt(count)
        middle = float(pseudo.mean())
        low, high = (math.expm1(min(700.0, end)) / runs for end in (middle - reach, middle + reach))
        return low, high


def seeds_within(data: TrialData, target: object, exclude: Iterable[str] | None) -> Seeds:
    """The fraction of the variance that is due to the seed, from configurations that were run several times."""
    observed, notes = without_seeds(single_runs(data.observed()), exclude)
    data = data.like(observed)
    observed, wanted = data.observed(), data.resolve(target, "target")
    counted = counted_rows(observed, data.levels.nan)
    groups = configurations(settings_of(observed))[counted]
    varying = {goal.name: goal.values.astype(np.float64)[counted] for goal in observed.goals}
    inside = data.codes(wanted, Region.parse(1.0, "region"))[counted] == 0
    result = seeds_of(groups, varying | {IN_TARGET: inside.astype(np.float64)}, str(wanted))
    return replace(result, notes=(*result.notes, *notes))


def single_runs(observed: Observations) -> Observations:
    """The observations with one row per run, even if the analysis averages repeated runs."""
    origin = observed.origin
    if origin is None:
        return observed
    metadata = origin.records.metadata
    if (origin.request.repeats or metadata.repeats) == "all":
        return observed
    single = prepare(origin.records, replace(origin.request, repeats="all", space=observed.space, params=None))[0]
    if len(observed.goals) == len(single.goals):
        return single
    names = {goal.name for goal in observed.goals}  # the name may be one of several objectives
    return replace(single, goals=tuple(goal for goal in single.goals if goal.name in names), order=None)


def without_seeds(observed: Observations, exclude: Iterable[str] | None) -> tuple[Observations, list[Note]]:
    """The observations without excluded parameters, and without parameters that have a name such as "seed"."""
    named = as_names(exclude, "exclude") or ()
    for name in named:
        if name not in observed.space:
            known = listed(list(observed.space), most=40)
            raise QueryError(Arg("exclude"), f" contains {name!r}, which is not a parameter; choose from: {known}")
    seeds = [name for name in observed.space if name in named or SEED_NAMES.match(name)]
    left = Space({name: parameter for name, parameter in observed.space.items() if name not in seeds})
    if not seeds or not left:
        return observed, []
    words = f"treated as seeds, not as parameters: {listed(seeds)}"
    columns = {name: observed.columns[name] for name in left}
    return replace(observed, space=left, columns=columns), [Note("unused", words)]
