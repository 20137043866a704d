"""Chi-square, Student and normal distributions, p-values by random draws, and Holm's adjustment."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
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
    divergence, freedom = divergence_of(target, region / rows)
    return rows * inside / (rows - inside) * divergence, freedom


def divergence_of(target: NDArray[Any], chances: NDArray[np.float64]) -> tuple[float, int]:
    """The chi-square divergence of counts from the probabilities `chances`, and its degrees of freedom."""
    filled = chances > 0
    parts = target[filled] / float(target.sum())
    return float(np.sum(parts**2 / chances[filled])) - 1.0, int(filled.sum()) - 1


def divergence_interval(
    target: NDArray[np.int64], chances: NDArray[np.float64], rows: float | None = None
) -> tuple[float, float]:
    """The 95 % interval of the chi-square divergence of counts, by inversion of the non-central chi-square.

    `chances` are known probabilities; or the fractions of `rows` rows that contain the target, if `rows` is given.
    """
    inside, (divergence, freedom) = float(target.sum()), divergence_of(target, chances)
    if freedom == 0:
        return 0.0, 0.0
    scale = inside if rows is None else rows * inside / (rows - inside)
    low, high = (noncentrality(scale * divergence, freedom, chance) for chance in (0.975, 0.025))
    return low / scale, high / scale


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


# --- p-values by chance --------------------------------------------------------------------------------

ENOUGH = 20  # values as large as the observed one, after which no more are drawn
FIRST_DRAWS, MOST_AT_ONCE = 50, 2_000  # values drawn first, and the most that are drawn at a time
ENOUGH_TO_TELL = 250  # values that show whether the observed one is far above chance
SAME = 1e-9  # relative difference below which values count as equal


def p_by_draws(
    seen: float | Reals, draws: Iterable[Reals], *, most: int = 0, factors: Sequence[int] = (1,), same: float = SAME
) -> float:
    """The p-value of one or several statistics: how often chance alone gives values at least as large.

    Drawing stops at the end of a batch if `ENOUGH` values are as large (the sequential rule of Besag and Clifford; by
    simulation, batches that double give at most 3 % too many small p-values), if every statistic is so far above its
    values that none would reach it, or at the end of `draws`.

    seen
        The observed statistic, or several of them.
    draws
        Further random values, (draws,) or (statistics, draws) each.
    most
        The number of values in all `draws`; 0 if all of them are needed for a `seen` far above them.
    factors
        Factors of the p-values of several statistics (`part_of_least`).
    """
    least = np.atleast_1d(seen) - same * np.abs(seen) - 1e-12  # ties count as reached
    drawn = np.empty((len(least), 0))
    for more in draws:
        drawn = np.concatenate([drawn, np.atleast_2d(more)], axis=1)
        if (np.count_nonzero(drawn >= least[:, None], axis=1) >= ENOUGH).all():
            break
        if ENOUGH_TO_TELL <= drawn.shape[1] < most and far_above(least, drawn).all():
            return 1.0 / (1 + most)
    return part_of_least(drawn, least, factors)


def in_batches(draw: Callable[[int], Reals], most: int, first: int = FIRST_DRAWS) -> Iterator[Reals]:
    """Batches of random values, of which the first has `first` values; ``draw(n)`` returns n values."""
    size = first
    while most > 0:
        yield draw(min(size, most))
        most, size = most - size, min(2 * size, MOST_AT_ONCE)


def part_of_least(result: Reals, seen: Reals, factors: Sequence[int]) -> float:
    """Combine several p-values into one: those of the statistics (statistics, draws) in `result`.

    Each is multiplied by its factor; a larger factor means a smaller weight. Then the smallest is compared with its
    distribution by chance.
    """
    every: Reals = np.concatenate([seen[:, None], result], axis=1)
    above = np.count_nonzero(every >= seen[:, None], axis=1)
    if len(every) == 1:
        return int(above[0]) / int(every.shape[1])
    least = min(factor * int(count) for factor, count in zip(factors, above, strict=True))
    rare = np.any([_reached_by(one, least // factor) for one, factor in zip(every, factors, strict=True)], axis=0)
    return int(np.count_nonzero(rare)) / int(every.shape[1])


def _reached_by(values: Reals, most: int) -> NDArray[np.bool_]:
    """(values,) A mask of the largest values: `most` of them, or fewer if there is a tie at the limit."""
    if most >= len(values):
        return np.ones(len(values), dtype=bool)
    place = len(values) - 1 - most
    result: NDArray[np.bool_] = values > np.partition(values, place)[place]
    return result


FAR = 8.0  # standard deviations of the root


def far_above(seen: float | Reals, drawn: Reals) -> Any:
    """Whether `seen` is so far above the values drawn by chance (last axis) that no further one would reach it.

    The values are sums of squares. Their roots have tails at most as heavy as those of a normal distribution.
    """
    roots = np.sqrt(np.maximum(drawn, 0.0))
    most = np.maximum(roots.max(axis=-1), roots.mean(axis=-1) + FAR * roots.std(axis=-1))
    return np.sqrt(np.maximum(seen, 0.0)) > most
