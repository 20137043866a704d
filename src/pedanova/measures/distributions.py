"""Chi-square and normal distributions without SciPy, significance levels, and Holm's adjustment."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.space.grid import Reals

TINY = 1e-15
MOST_TERMS = 100_000
LARGE = 2000.0  # a larger chi-square value is treated as normal
STEPS = 4096  # entries of the table for `normal_below`, from -REACH to REACH
REACH = 8.5  # deviations beyond which the tail is 0 in double precision
LEVEL = 0.05  # the largest adjusted p-value that counts as distinguishable from noise


def lower_gamma(shape: float, x: float) -> float:
    """The regularised incomplete gamma function P(shape, x)."""
    return _series(shape, x) if x < shape + 1.0 else 1.0 - _fraction(shape, x)


def upper_gamma(shape: float, x: float) -> float:
    """1 - P(shape, x), exact in the far tail too."""
    return 1.0 - _series(shape, x) if x < shape + 1.0 else _fraction(shape, x)


def _front(shape: float, x: float) -> float:
    return math.exp(shape * math.log(x) - x - math.lgamma(shape))


def _series(shape: float, x: float) -> float:
    if x <= 0:
        return 0.0
    term = total = 1.0 / shape
    for n in range(1, MOST_TERMS):
        term *= x / (shape + n)
        total += term
        if term < TINY * total:
            break
    return min(1.0, _front(shape, x) * total)


def _fraction(shape: float, x: float) -> float:
    """1 - P(shape, x) as a continued fraction."""
    start = x + 1.0 - shape
    terms = ((-n * (n - shape), start + 2.0 * n) for n in range(1, MOST_TERMS))
    return _front(shape, x) * continued_fraction(start, terms)


def continued_fraction(start: float, terms: Iterable[tuple[float, float]]) -> float:
    """1 / (start + a₁ / (b₁ + a₂ / (b₂ + …))) for terms (a, b), by Lentz's method."""
    numerator, denominator = 1.0 / 1e-300, 1.0 / _not_zero(start)
    total = denominator
    for a, b in terms:
        denominator = 1.0 / _not_zero(a * denominator + b)
        numerator = _not_zero(b + a / numerator)
        total *= denominator * numerator
        if abs(denominator * numerator - 1.0) < TINY:
            break
    return total


def _not_zero(value: float) -> float:
    return value if abs(value) > 1e-300 else 1e-300


def bisected(too_low: Callable[[float], bool], high: float, *, steps: int = 200, within: float = 0.0) -> float:
    """Find by bisection the x > 0 where `too_low(x)` changes from True to False; start between 0 and `high`."""
    low = 0.0
    while too_low(high) and high < 1e300:
        high *= 2.0
    for _ in range(steps):
        middle = (low + high) / 2.0
        low, high = (middle, high) if too_low(middle) else (low, middle)
        if high - low < within * high:
            break
    return (low + high) / 2.0


def chi2_tail(statistic: float, freedom: float) -> float:
    """The probability of a larger chi-square value."""
    return upper_gamma(freedom / 2.0, statistic / 2.0) if freedom > 0 else 1.0


def noncentral_cdf(statistic: float, freedom: float, centre: float) -> float:
    """The distribution function of a non-central chi-square: a Poisson mixture of central ones."""
    if statistic <= 0:
        return 0.0
    half, x = centre / 2.0, statistic / 2.0
    middle = int(half)
    start = lower_gamma(freedom / 2.0 + middle, x)
    total, below = 0.0, start
    for n in range(middle, middle + MOST_TERMS):
        weight = _poisson(n, half)
        total += weight * below
        if weight < 1e-17:
            break
        below = max(0.0, below - _poisson(freedom / 2.0 + n, x))  # P(a + 1, x) from P(a, x)
    below = start
    for n in range(middle - 1, -1, -1):
        weight = _poisson(n, half)
        below = min(1.0, below + _poisson(freedom / 2.0 + n, x))
        total += weight * below
        if weight < 1e-17:
            break
    return min(1.0, total)


def _poisson(n: float, mean: float) -> float:
    return math.exp(n * math.log(mean) - mean - math.lgamma(n + 1.0)) if mean > 0 else float(n == 0)


def noncentrality(statistic: float, freedom: float, chance: float) -> float:
    """The non-centrality at which P(X ≤ `statistic`) equals `chance`, or 0 if no positive number satisfies this."""
    if statistic > LARGE:
        z = NormalDist().inv_cdf(chance)  # of a normal law: solve statistic = f + λ + z · √(2f + 4λ) for λ
        root = math.sqrt(max(0.0, z * z + statistic - freedom / 2.0))
        return max(0.0, (root - z) ** 2 - freedom / 2.0)
    if noncentral_cdf(statistic, freedom, 0.0) <= chance:
        return 0.0
    return bisected(
        lambda centre: noncentral_cdf(statistic, freedom, centre) > chance, max(1.0, statistic), steps=100, within=1e-10
    )


def pearson(target: NDArray[np.int64], region: NDArray[np.int64]) -> tuple[float, int]:
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


def normal_quantile(parts: NDArray[Any]) -> Reals:
    """The standard normal quantile of each probability in `parts`; equal probabilities are computed once."""
    distinct, places = np.unique(parts, return_inverse=True)
    return ends_of(tuple(distinct.tolist()))[places].reshape(np.shape(parts))


@lru_cache(maxsize=16)
def ends_of(parts: tuple[float, ...]) -> Reals:
    """Standard normal quantiles, cached because tables of the same length often need the same quantiles."""
    return np.array([LAW.inv_cdf(part) for part in parts])


def normal_below(values: NDArray[Any]) -> Reals:
    """The standard normal distribution function at each value, to seven digits.

    A table is interpolated by a second-order expansion.
    """
    clipped = np.clip(values, -REACH, REACH)
    nearest = np.rint((clipped + REACH) * (STEPS / (2.0 * REACH))).astype(np.int64)
    off = clipped - GRID[nearest]
    slope = HEIGHT[nearest]
    below: Reals = BELOW[nearest] + off * slope * (1.0 - off * GRID[nearest] / 2.0)
    return np.clip(below, 0.0, 1.0)


def normal_height(value: float) -> float:
    return math.exp(-value * value / 2.0) / math.sqrt(2.0 * math.pi)


LAW = NormalDist()
GRID: Reals = np.linspace(-REACH, REACH, STEPS + 1)
BELOW: Reals = np.array([0.5 * math.erfc(-x / math.sqrt(2.0)) for x in GRID.tolist()])
HEIGHT: Reals = np.exp(-(GRID**2) / 2.0) / math.sqrt(2.0 * math.pi)


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


FAR = 8.0  # standard deviations of the root


def far_above(seen: float | Reals, drawn: Reals) -> Any:
    """Whether `seen` is so far above the values drawn by chance (last axis) that no further one would reach it.

    The values are sums of squares. Their roots have tails at most as heavy as those of a normal distribution.
    """
    roots = np.sqrt(np.maximum(drawn, 0.0))
    most = np.maximum(roots.max(axis=-1), roots.mean(axis=-1) + FAR * roots.std(axis=-1))
    return np.sqrt(np.maximum(seen, 0.0)) > most
