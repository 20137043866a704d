"""Laws that comparisons of studies need, without SciPy: Student's, Fisher's and that of the studentised range."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np

from pedanova.measures.chance.normal import normal_below

TINY = 1e-15
MOST_TERMS = 10_000
REACH = 8.5  # deviations of a normal law that are integrated over
POINTS = 2001


def beta_below(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function I_x(a, b)."""
    if x <= 0.0 or x >= 1.0:
        return float(x >= 1.0)
    if x > (a + 1.0) / (a + b + 2.0):  # beyond, the fraction of the other side converges sooner
        return 1.0 - beta_below(1.0 - x, b, a)
    front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    return math.exp(front) * _fraction(x, a, b) / a


def _fraction(x: float, a: float, b: float) -> float:
    """Its continued fraction (Lentz's way)."""
    numerator, denominator = 1.0, 1.0 / _not_zero(1.0 - (a + b) * x / (a + 1.0))
    total = denominator
    for n in range(1, MOST_TERMS):
        even = n * (b - n) * x / ((a + 2 * n - 1.0) * (a + 2 * n))
        odd = -(a + n) * (a + b + n) * x / ((a + 2 * n) * (a + 2 * n + 1.0))
        for factor in (even, odd):
            denominator = 1.0 / _not_zero(1.0 + factor * denominator)
            numerator = _not_zero(1.0 + factor / numerator)
            total *= denominator * numerator
        if abs(denominator * numerator - 1.0) < TINY:
            break
    return total


def _not_zero(value: float) -> float:
    return value if abs(value) > 1e-300 else 1e-300


def student_tail(value: float, freedom: float) -> float:
    """How often Student's t lies further from 0 than the value, on either side."""
    return fisher_tail(value * value, 1.0, freedom)


@cache
def student_end(freedom: float, level: float = 0.95) -> float:
    """The value that Student's t stays within, on both sides, in this part of all cases."""
    return _solved(lambda value: 1.0 - student_tail(value, freedom), level)


def fisher_tail(value: float, first: float, second: float) -> float:
    """How often Fisher's F of these degrees of freedom is larger."""
    below = first * value / (second + first * value)
    if below < 0.5:  # a small value's own part has all its digits
        return 1.0 - beta_below(below, first / 2.0, second / 2.0)
    return beta_below(second / (second + first * value), second / 2.0, first / 2.0)


def range_below(value: float, count: int) -> float:
    """How often the range of so many standard normal values is smaller."""
    z, step = np.linspace(-REACH, REACH, POINTS, retstep=True)
    height = np.exp(-(z**2) / 2.0) / math.sqrt(2.0 * math.pi)
    inside = np.clip(normal_below(z) - normal_below(z - value), 0.0, 1.0)
    return float(count * step * np.sum(height * inside ** (count - 1)))  # both ends are as good as 0


@cache
def range_end(count: int, level: float = 0.95) -> float:
    """Where the studentised range of so many means with known spread ends in this part of all cases."""
    return _solved(lambda value: range_below(value, count), level)


def _solved(below: Callable[[float], float], level: float) -> float:
    """Where a law that grows with the value reaches the level."""
    low, high = 0.0, 1.0
    while below(high) < level and high < 1e9:
        high *= 2.0
    for _ in range(200):
        middle = (low + high) / 2.0
        low, high = (middle, high) if below(middle) < level else (low, middle)
        if high - low < 1e-11 * high:
            break
    return (low + high) / 2.0
