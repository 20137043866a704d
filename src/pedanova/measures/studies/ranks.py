"""Which parameters rank apart over many studies: Friedman's test, and Nemenyi's critical difference.

The manner of Demšar (JMLR 7, 2006), with studies for datasets and parameters for classifiers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.base.digits import chance, short
from pedanova.base.table import Cell, Printed, Table
from pedanova.measures.chance.ranks import mid_ranks
from pedanova.measures.chisquare import chi2_tail
from pedanova.measures.studies.laws import fisher_tail, range_end

Reals: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RankTest(Table):
    """Mean ranks of parameters over studies, best first, and whether they differ by more than chance.

    ranks
        Mean rank of each name; 1 is the most important.
    statistic, p_value
        Friedman's chi-square, and how often chance alone gives as much: by the F of Iman and Davenport.
    critical
        Nemenyi's critical difference: mean ranks that are closer are not told apart (5 % over all pairs).
    alike
        First and last place of each longest run of names that are not told apart.
    """

    names: tuple[str, ...]
    ranks: tuple[float, ...]
    studies: int
    statistic: float
    p_value: float
    critical: float
    alike: tuple[tuple[int, int], ...]

    def to_dict(self) -> dict[str, list[Cell]]:
        return {"parameter": list(self.names), "rank": list(self.ranks)}

    def printed(self) -> Printed:
        return [("parameter", list(self.names)), ("mean rank", [short(rank) for rank in self.ranks])]

    def heading(self) -> str:
        words = f"Mean ranks over {self.studies} studies (Friedman p {chance(self.p_value)}"
        return f"{words}; closer than {short(self.critical)} are not told apart)"


def rank_test(names: Sequence[str], shares: Reals) -> RankTest:
    """From (studies, parameters) shares, larger ones ranking first; equal ones share their rank."""
    ranks = np.stack([mid_ranks(-row) for row in shares])
    many, count = ranks.shape
    means = ranks.mean(axis=0)
    order = np.argsort(means, kind="stable")
    statistic, p_value = friedman(ranks)
    critical = range_end(count) / math.sqrt(2.0) * math.sqrt(count * (count + 1) / (6.0 * many))
    sorted_means = tuple(float(means[i]) for i in order)
    alike = runs_within(sorted_means, critical)
    return RankTest(tuple(names[i] for i in order), sorted_means, many, statistic, p_value, critical, alike)


def friedman(ranks: Reals) -> tuple[float, float]:
    """Chi-square of mean ranks, ties allowed for; and the chance of as much."""
    many, count = ranks.shape
    middle = (count + 1) / 2.0
    between = many * float(np.sum((ranks.mean(axis=0) - middle) ** 2))
    within = float(np.sum((ranks - middle) ** 2)) / (many * (count - 1))  # of all ranks; less where there are ties
    if within <= 0:
        return 0.0, 1.0
    statistic = between / within
    room = many * (count - 1) - statistic
    if many < 2 or room <= 1e-9 * many:  # all studies rank alike: F is infinite
        return statistic, chi2_tail(statistic, count - 1)
    return statistic, fisher_tail((many - 1) * statistic / room, count - 1, (count - 1) * (many - 1))


def runs_within(ranks: Sequence[float], critical: float) -> tuple[tuple[int, int], ...]:
    """Longest runs of sorted ranks that span less than the critical difference; runs of one are none."""
    runs: list[tuple[int, int]] = []
    for first, rank in enumerate(ranks):
        last = max(place for place, other in enumerate(ranks) if other - rank <= critical)
        if last > first and (not runs or last > runs[-1][1]):
            runs.append((first, last))
    return tuple(runs)


def rank_agreement(one: Reals, two: Reals) -> float:
    """Spearman's correlation of two orders; 0 where one of them has none."""
    first, second = (mid_ranks(values) for values in (one, two))
    first, second = first - first.mean(), second - second.mean()
    scale = math.sqrt(float(first @ first) * float(second @ second))
    return float(first @ second) / scale if scale > 0 else 0.0
