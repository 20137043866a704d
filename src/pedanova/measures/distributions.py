"""Chi-square, Student and normal distributions, p-values by random draws, and Holm's adjustment."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.space.grid import Reals

NORMAL = 1.959963984540054  # the 97.5 % quantile of the normal distribution
LEVEL = 0.05  # the largest adjusted p-value that counts as distinguishable from noise


def chi2_tail(statistic: float, freedom: float) -> float:
    """The probability of a larger chi-square value."""
    from scipy.special import chdtrc

    return float(chdtrc(freedom, statistic)) if freedom > 0 else 1.0


def noncentrality(statistic: float, freedom: float, chance: float) -> float:
    """The non-centrality at which P(X ≤ `statistic`) equals `chance`, or 0 if no positive number satisfies this."""
    from scipy.special import chdtr, chndtrinc

    return float(chndtrinc(statistic, freedom, chance)) if chdtr(freedom, statistic) > chance else 0.0


def pearson(target: NDArray[Any], region: NDArray[Any]) -> tuple[float, int]:
    """Pearson's chi-square statistic, which compares target rows with other region rows, and its degrees of freedom."""
    inside, rows = float(target.sum()), float(region.sum())
    filled = region > 0
    divergence = float(np.sum((target[filled] / inside) ** 2 / (region[filled] / rows))) - 1.0
    return rows * inside / (rows - inside) * divergence, int(filled.sum()) - 1


def share_interval(target: NDArray[np.int64], region: NDArray[np.int64], *, level: float = 0.95) -> tuple[float, float]:
    """The confidence interval of the share from unsmoothed counts, by inversion of the non-central chi-square."""
    low, high = centre_interval(*pearson(target, region), level)
    rows = float(region.sum())
    return min(1.0, low / rows), min(1.0, high / rows)


def divergence_interval(
    target: NDArray[np.int64], chances: NDArray[np.float64], *, level: float = 0.95
) -> tuple[float, float]:
    """The confidence interval of the chi-square divergence of counts from known probabilities."""
    inside = float(target.sum())
    filled = chances > 0
    divergence = float(np.sum((target[filled] / inside) ** 2 / chances[filled])) - 1.0
    low, high = centre_interval(inside * divergence, int(filled.sum()) - 1, level)
    return low / inside, high / inside


def centre_interval(statistic: float, freedom: int, level: float) -> tuple[float, float]:
    """The confidence interval of the non-centrality, given a chi-square statistic."""
    if freedom == 0:
        return 0.0, 0.0
    tail = (1.0 - level) / 2.0
    return noncentrality(statistic, freedom, 1.0 - tail), noncentrality(statistic, freedom, tail)


# Every answer needs these two. Importing SciPy for them would take half as long as the answer itself.


def normal_quantile(parts: NDArray[Any] | float) -> Any:
    """The standard normal quantile of each probability in `parts`; equal probabilities are computed once."""
    distinct, places = np.unique(parts, return_inverse=True)
    return ends_of(tuple(distinct.tolist()))[places].reshape(np.shape(parts))


@lru_cache(maxsize=16)
def ends_of(parts: tuple[float, ...]) -> Reals:
    """Standard normal quantiles, cached because tables of the same length often need the same quantiles."""
    law = NormalDist()
    return np.array([law.inv_cdf(part) for part in parts])


def normal_below(values: NDArray[Any]) -> Reals:
    """The standard normal distribution function at each value."""
    roots: Reals = values * -math.sqrt(0.5)
    return np.array([0.5 * math.erfc(root) for root in roots.ravel().tolist()]).reshape(roots.shape)


def normal_height(value: float) -> float:
    return math.exp(-value * value / 2.0) / math.sqrt(2.0 * math.pi)


def student_end(freedom: Any) -> Any:
    """The 97.5 % quantile of Student's distribution, so that 95 % of the values lie between its negative and it."""
    from scipy.special import stdtrit

    return stdtrit(freedom, 0.975)


def holm(
    p_values: Sequence[float] | NDArray[np.float64], tested: NDArray[np.bool_] | None = None
) -> NDArray[np.float64]:
    """p-values adjusted by Holm's method: the smallest of n is multiplied by n, the next by n - 1, and so on.

    Here n is the number of p-values that are marked in `tested` (None for all); the other p-values become 1.
    """
    p = np.asarray(p_values, dtype=np.float64)
    places = np.arange(len(p)) if tested is None else np.flatnonzero(tested)
    order = places[np.argsort(p[places], kind="stable")]
    adjusted = np.ones(len(p))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * np.arange(len(order), 0, -1)))
    return adjusted


ENOUGH = 20  # values as large as the observed one, after which no more are drawn
FIRST_DRAWS, MOST_AT_ONCE = 50, 2_000  # values drawn first, and the most that are drawn at a time
ENOUGH_TO_TELL = 300  # values that show whether the observed one is far above chance


def p_by_draws(seen: float, draw: Callable[[int], Reals], *, most: int) -> float:
    """The p-value of `seen`: how often a random value is at least as large; ``draw(n)`` draws n random values.

    Drawing stops as soon as `ENOUGH` values are as large (the sequential rule of Besag and Clifford, which gives valid
    p-values), if `seen` is so far above them that none would reach it, or after `most` values.
    """
    least = seen * (1.0 - 1e-9) - 1e-12  # ties count as reached
    drawn, size = np.empty(0), FIRST_DRAWS
    while len(drawn) < most:
        drawn = np.concatenate([drawn, draw(min(size, most - len(drawn)))])
        reached = np.flatnonzero(drawn >= least)
        if len(reached) >= ENOUGH:
            return ENOUGH / float(reached[ENOUGH - 1] + 1)
        if len(drawn) >= ENOUGH_TO_TELL and far_above(least, drawn):
            return 1.0 / (1 + most)
        size = min(2 * size, MOST_AT_ONCE)
    return (1 + len(reached)) / (1 + len(drawn))


FAR = 8.0  # standard deviations of the root


def far_above(seen: float | Reals, drawn: Reals) -> Any:
    """Whether `seen` is so far above the values drawn by chance (last axis) that no further one would reach it.

    The values are sums of squares. Their roots have tails at most as heavy as those of a normal distribution.
    """
    roots = np.sqrt(np.maximum(drawn, 0.0))
    most = np.maximum(roots.max(axis=-1), roots.mean(axis=-1) + FAR * roots.std(axis=-1))
    return np.sqrt(np.maximum(seen, 0.0)) > most
