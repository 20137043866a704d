"""Statistics over studies: random-effects means (Paule and Mandel 1982), rank tests and disagreements.

All studies get the same sampling variance per row of data. Otherwise, studies with small shares would get too much
weight, because a small share has a small variance. The intervals of Hartung and Knapp (2001) are valid for
few studies.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from pedanova.base.digits import chance, short
from pedanova.base.table import Cell, Printed, Table
from pedanova.base.terminal import TableColumn
from pedanova.measures.distributions import LEVEL, chi2_tail, holm, student_end
from pedanova.space.grid import Reals


@cache
def range_end(count: int) -> float:
    """The 95 % quantile of the studentised range of `count` means with known variance."""
    from scipy.stats import studentized_range

    return float(studentized_range.ppf(0.95, count, np.inf))


@dataclass(frozen=True, slots=True)
class Mean:
    """The pooled mean of studies with a 95 % interval; `spread` is the standard deviation between studies."""

    value: float
    low: float | None
    high: float | None
    spread: float


def pooled(values: Sequence[float], variances: Sequence[float]) -> Mean:
    """The random-effects mean of studies, given the sampling variance of each.

    Examples
    --------
    >>> found = pooled([0.2, 0.3, 0.4], [1e-4, 1e-4, 1e-4])
    >>> round(found.value, 3), round(found.spread, 3)
    (0.3, 0.099)
    """
    found, own = np.asarray(values, dtype=np.float64), np.asarray(variances, dtype=np.float64)
    between = spread_between(found, own)
    alike = not (own + between > 0).all()  # without any variance, all studies get the same weight
    weights = np.full(len(found), 1.0) if alike else 1.0 / (own + between)
    weights = weights / weights.sum()
    mean = float(weights @ found)
    if len(found) < 2:
        return Mean(mean, None, None, 0.0)
    scatter = float(weights @ (found - mean) ** 2) / (len(found) - 1)
    half = float(student_end(len(found) - 1)) * math.sqrt(scatter)
    return Mean(mean, mean - half, mean + half, math.sqrt(between))


def spread_between(found: Reals, own: Reals) -> float:
    """The variance between studies (Paule and Mandel), given their values and sampling variances."""
    free = len(found) - 1
    if free < 1:
        return 0.0
    if not (own > 0).all():
        return float(np.var(found, ddof=1))

    def excess(between: float) -> float:
        weights = 1.0 / (own + between)
        mean = float(weights @ found) / float(weights.sum())
        return float(weights @ (found - mean) ** 2) - free

    from scipy.optimize import brentq

    if excess(0.0) <= 0:
        return 0.0
    highest = float(np.var(found, ddof=1)) + float(own.max())
    return float(brentq(excess, 0.0, highest))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RankTest(Table):
    """Mean ranks of parameters over studies, best first, and Friedman's test of whether they differ."""

    names: tuple[str, ...]
    ranks: tuple[float, ...]  # 1 is the most important
    studies: int
    statistic: float  # Friedman's chi-square
    p_value: float  # by the F of Iman and Davenport
    critical: float  # Nemenyi's critical difference: closer mean ranks are not distinguishable (5 % level)
    alike: tuple[tuple[int, int], ...]  # first and last index of each longest run of names that are not distinguishable

    def to_dict(self) -> dict[str, list[Cell]]:
        return {"parameter": list(self.names), "rank": list(self.ranks)}

    def printed(self) -> Printed:
        return [
            TableColumn("parameter", list(self.names)),
            TableColumn("mean rank", [short(rank) for rank in self.ranks]),
        ]

    def heading(self) -> str:
        words = f"Mean ranks over {self.studies} studies (Friedman p {chance(self.p_value)}"
        return f"{words}; ranks closer than {short(self.critical)} are not distinguishable)"


def rank_test(names: Sequence[str], shares: Reals) -> RankTest:
    """Friedman's test on shares (studies, parameters); the largest share has rank 1, and ties get their mean rank."""
    from scipy.stats import rankdata

    ranks = rankdata(-shares, axis=1)
    many, count = ranks.shape
    means = ranks.mean(axis=0)
    order = np.argsort(means, kind="stable")
    statistic, p_value = friedman(ranks)
    critical = range_end(count) / math.sqrt(2.0) * math.sqrt(count * (count + 1) / (6.0 * many))
    sorted_means = tuple(float(means[i]) for i in order)
    alike = runs_within(sorted_means, critical)
    return RankTest(tuple(names[i] for i in order), sorted_means, many, statistic, p_value, critical, alike)


def friedman(ranks: Reals) -> tuple[float, float]:
    """Friedman's chi-square of mean ranks, corrected for ties, and its p-value."""
    from scipy.special import fdtrc

    many, count = ranks.shape
    middle = (count + 1) / 2.0
    between = many * float(np.sum((ranks.mean(axis=0) - middle) ** 2))
    within = float(np.sum((ranks - middle) ** 2)) / (many * (count - 1))  # less if there are ties
    if within <= 0:
        return 0.0, 1.0
    statistic = between / within
    room = many * (count - 1) - statistic
    if many < 2 or room <= 1e-9 * many:  # all studies have the same ranking, so F is infinite
        return statistic, chi2_tail(statistic, count - 1)
    return statistic, float(fdtrc(count - 1, (count - 1) * (many - 1), (many - 1) * statistic / room))


def runs_within(ranks: Sequence[float], critical: float) -> tuple[tuple[int, int], ...]:
    """Groups of two or more neighbours in the sorted `ranks` that differ by at most `critical`, as (first, last)."""
    runs: list[tuple[int, int]] = []
    for first, rank in enumerate(ranks):
        last = max(place for place, other in enumerate(ranks) if other - rank <= critical)
        if last > first and (not runs or last > runs[-1][1]):
            runs.append((first, last))
    return tuple(runs)


def spearman(one: Reals, other: Reals) -> Reals:
    """(...,) Rank correlation over the last axis, with tied ranks; 0 if all values are equal."""
    from scipy.stats import rankdata

    both = (rankdata(values, axis=-1) for values in (one, other))
    first, second = (ranks - ranks.mean(axis=-1, keepdims=True) for ranks in both)
    below = np.sqrt((first**2).sum(axis=-1) * (second**2).sum(axis=-1))
    return np.where(below > 0, (first * second).sum(axis=-1) / np.where(below > 0, below, 1.0), 0.0)


FEWEST = 4  # the smallest number of studies in which one can be called different


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One parameter in one study: its share, the mean of all other studies, and the p-value of the difference.

    `p_adjusted` is adjusted for all parameters of all studies (Holm).
    """

    study: str
    name: str
    share: float
    others: float
    p_value: float
    p_adjusted: float

    @property
    def significant(self) -> bool:
        return self.p_adjusted <= LEVEL


@dataclass(frozen=True, slots=True, repr=False)
class Disagreements(Table):
    """Table of `Disagreement` rows: parameters whose share in one study clearly differs from the others."""

    rows: tuple[Disagreement, ...]

    def of(self, study: str) -> tuple[Disagreement, ...]:
        """The disagreements of one study."""
        return tuple(row for row in self.rows if row.study == study)

    def to_dict(self) -> dict[str, list[Cell]]:
        names = ("study", "name", "share", "others", "p_value", "p_adjusted")
        return {"parameter" if n == "name" else n: [getattr(row, n) for row in self.rows] for n in names}

    def printed(self) -> Printed:
        return [
            self.column("study", lambda row: row.study),
            self.column("parameter", lambda row: row.name, kind="words"),
            self.percents("share"),
            self.percents("others"),
            self.column("p", lambda row: chance(row.p_adjusted), leave=1),
        ]

    def heading(self) -> str:
        return "Studies that disagree with all others" if self.rows else "No study disagrees clearly with the others"


def disagreements(studies: list[str], names: list[str], shares: Reals, variances: Reals) -> Disagreements:
    """Test each share (studies, parameters) against the other studies; NaN if a study lacks the parameter."""
    others, p_values = np.full(shares.shape, np.nan), np.full(shares.shape, np.nan)
    for column in range(len(names)):
        known = np.flatnonzero(np.isfinite(shares[:, column]))
        if len(known) >= FEWEST:
            found = beside_others(shares[known, column], variances[known, column])
            others[known, column], p_values[known, column] = found
    tested = np.argwhere(np.isfinite(p_values))
    adjusted = holm(p_values[tested[:, 0], tested[:, 1]])
    rows = [
        Disagreement(studies[i], names[j], float(shares[i, j]), float(others[i, j]), float(p_values[i, j]), float(p))
        for (i, j), p in zip(tested.tolist(), adjusted, strict=True)
    ]
    clear = sorted((row for row in rows if row.significant), key=lambda row: (row.p_adjusted, -row.share))
    return Disagreements(tuple(clear))


def beside_others(values: Reals, own: Reals) -> tuple[Reals, Reals]:
    """For each study, the mean of all other studies, and the p-value of the difference (Student).

    The spread between studies is estimated from the other studies (DerSimonian and Laird). Otherwise an outlier would
    inflate the spread, and would not be found.
    """
    from scipy.special import stdtr

    weights = 1.0 / own if (own > 0).all() else np.ones(len(values))
    sums = [float(np.sum(weights * values**power)) - weights * values**power for power in (0, 1, 2)]
    squares = float(np.sum(weights**2)) - weights**2
    free = len(values) - 2
    scatter = np.maximum(sums[2] - sums[1] ** 2 / sums[0], 0.0)
    between = np.maximum(0.0, (scatter - free) / (sums[0] - squares / sums[0])) if (own > 0).all() else scatter / free
    means, errors = np.empty(len(values)), np.zeros(len(values))
    for place, spread in enumerate(between.tolist()):
        variances = own + spread
        weights = 1.0 / variances if (variances > 0).all() else np.ones(len(own))
        rest = float(weights.sum()) - float(weights[place])
        means[place] = (float(weights @ values) - float(weights[place] * values[place])) / rest
        if (variances > 0).all():
            errors[place] = 1.0 / rest
    deviations = np.sqrt(own + between + errors)
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = np.where(deviations > 0, np.abs(values - means) / deviations, 0.0)
    return means, 2.0 * stdtr(free, -distance)
