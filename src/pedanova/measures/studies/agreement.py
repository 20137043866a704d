"""How far two rankings of the same parameters agree, given how sure each share is.

Spearman's rank correlation of the shares; its interval is that of shares drawn anew, each from a normal law on
either side of its own interval. Both answers are drawn as if they had no row in common; where they share trials
they err together, so that the interval is wider than it need be. What is noise in both answers is tied, last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.measures.difference import recovered
from pedanova.measures.importance import Importance, Importances

Reals: TypeAlias = NDArray[np.float64]
Verdict: TypeAlias = Literal["same", "other", "unsure"]
DRAWS = 2000
WIDTH = 1.96  # deviations on either side that a 95 % interval holds
NEAR = 0.9  # a rank correlation that is called the same, where rows are so many that it could be told from 1
LEAST, OF_THREE = 0.6, 0.5  # what it must surely reach; among three, where one swap of neighbours costs half
EARLIEST = 5  # percent of second looks that would agree less
NUMBERS = ("share", "low", "high")


@dataclass(frozen=True, slots=True)
class Agreement:
    """Of one ranking with another.

    spearman, low, high
        Rank correlation of the shares and its 95 % interval; None where there is nothing to rank.
    itself
        What a second look at the other ranking, as unsure as this one, would reach in 95 % of cases at least.
    turned
        Pairs of parameters whose order is clear in both rankings, and not the same.
    """

    spearman: float | None
    low: float | None
    high: float | None
    itself: float | None
    turned: tuple[tuple[str, str], ...] = ()
    count: int = 0  # parameters that are ranked

    @property
    def verdict(self) -> Verdict:
        """Whether it is the same ranking: as near as the other is to itself, or beyond 0.9, and surely beyond 0.6.

        However unsure the other is, what was seen must be beyond 0.6 as well: few rows are no reason to call two
        rankings the same.
        """
        if self.spearman is None or self.low is None or self.high is None or self.itself is None:
            return "unsure"
        floor = min(NEAR, max(LEAST, self.itself))
        if self.turned or self.high < floor:
            return "other"
        least = OF_THREE if self.count == 3 else LEAST
        return "same" if self.spearman >= floor and self.low >= least else "unsure"


def agreement_of(one: Importances, other: Importances, *, draws: int = DRAWS, seed: int = 0) -> Agreement:
    """Of the ranking of `one` with that of `other`, over the parameters that varied in both.

    Where nothing in `other` is distinguishable from noise there is no ranking to agree with.
    """
    pairs = [(row, other[row.name]) for row in one.rows if row.name in other]
    pairs = sorted((p for p in pairs if p[0].varied and p[1].varied), key=lambda pair: pair[0].name)
    noise = np.array([_is_noise(here) and _is_noise(there) for here, there in pairs], dtype=bool)
    if len(pairs) < 2 or all(_is_noise(there) for _, there in pairs):
        return Agreement(None, None, None, None)
    found = [_shares(rows, noise) for rows in zip(*pairs, strict=True)]
    point = spearman(*found)[0]
    if any(row.low is None for pair in pairs for row in pair):
        return Agreement(float(point), None, None, None)
    rng = np.random.default_rng([seed])
    here, there = (list(rows) for rows in zip(*pairs, strict=True))
    drawn = [_drawn(rows, noise, draws, rng) for rows in (here, there)]
    low, high = np.percentile(spearman(*drawn), (2.5, 97.5))
    again = [_drawn(_as_sure_as(rows, there), noise, draws, rng) for rows in (here, there)]
    itself = np.percentile(spearman(*again), EARLIEST)
    ends = min(float(low), float(point)), max(float(high), float(point))
    return Agreement(float(point), *ends, float(itself), turned_pairs(pairs), len(pairs))


def spearman(one: Reals, other: Reals) -> Reals:
    """(draws,) Rank correlation of every row of two tables (draws, parameters), ties sharing their ranks.

    Examples
    --------
    >>> spearman(np.array([[3.0, 2.0, 1.0]]), np.array([[0.3, 0.1, 0.2]])).round(3).tolist()
    [0.5]
    """
    first, second = (ranks - ranks.mean(axis=1, keepdims=True) for ranks in map(_ranks, (one, other)))
    below = np.sqrt((first**2).sum(axis=1) * (second**2).sum(axis=1))
    with np.errstate(invalid="ignore"):
        return np.where(below > 0, (first * second).sum(axis=1) / np.where(below > 0, below, 1.0), 0.0)


def turned_pairs(pairs: Sequence[tuple[Importance, Importance]]) -> tuple[tuple[str, str], ...]:
    """Pairs whose difference is clear in both answers, and points the other way."""
    turned = []
    for one, two in combinations(pairs, 2):
        here, there = (recovered(one[place], two[place]) for place in (0, 1))
        if here.clear and there.clear and (here.difference > 0) != (there.difference > 0):
            turned.append((one[0].name, two[0].name))
    return tuple(turned)


def _ranks(values: Reals) -> Reals:
    """(draws, parameters) How many are smaller, equal ones counting half."""
    mine, others = values[:, :, None], values[:, None, :]
    ranks: Reals = (mine > others).sum(axis=2) + 0.5 * (mine == others).sum(axis=2)
    return ranks


def _is_noise(row: Importance) -> bool:
    return row.significant is False or row.share <= 0


def _shares(rows: Sequence[Importance], noise: NDArray[np.bool_]) -> Reals:
    """(1, parameters)"""
    shares = np.array([[max(0.0, row.share) for row in rows]])
    return np.where(noise, 0.0, shares)


def _drawn(rows: Sequence[Importance], noise: NDArray[np.bool_], draws: int, rng: np.random.Generator) -> Reals:
    """(draws, parameters) Shares drawn anew."""
    share, low, high = (np.array([getattr(row, name) for row in rows], dtype=np.float64) for name in NUMBERS)
    normals = rng.standard_normal((draws, len(rows)))
    reach = np.where(normals < 0, share - np.minimum(low, share), np.maximum(high, share) - share) / WIDTH
    return np.where(noise, 0.0, np.maximum(0.0, share + reach * normals))


def _as_sure_as(rows: Sequence[Importance], centre: Sequence[Importance]) -> list[Importance]:
    """The shares of `centre` with the intervals of `rows`."""
    return [
        replace(mid, low=mid.share + (row.low or 0.0) - row.share, high=mid.share + (row.high or 0.0) - row.share)
        for row, mid in zip(rows, centre, strict=True)
    ]
