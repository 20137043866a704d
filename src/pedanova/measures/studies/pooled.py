"""One number for many studies: random effects, so that one large study does not rule.

A study's share wanders for two reasons: its rows were drawn, and studies differ. The first is taken from the
answers' own deviations, but as one variance per row for all studies: a share near 0 deviates little, and
weights that knew it would pull the mean down. The second is what Paule and Mandel (1982) solve for. The interval
is that of Hartung and Knapp (2001), which stays honest for few studies.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.measures.studies.laws import student_end

Reals: TypeAlias = NDArray[np.float64]
STEPS = 60  # of the search for the spread


@dataclass(frozen=True, slots=True)
class Mean:
    """Of several studies.

    low, high
        A 95 % interval of the mean over studies such as these; None for a single one.
    spread
        The deviation between studies, beyond what the chance of their rows explains.
    error
        The deviation of the mean itself.
    """

    value: float
    low: float | None
    high: float | None
    spread: float
    error: float


def pooled(values: Sequence[float], variances: Sequence[float]) -> Mean:
    """The mean of studies that differ, given the variance that each has by the chance of its rows.

    Examples
    --------
    >>> found = pooled([0.2, 0.3, 0.4], [1e-4, 1e-4, 1e-4])
    >>> round(found.value, 3), round(found.spread, 3)
    (0.3, 0.099)
    """
    found, own = np.asarray(values, dtype=np.float64), np.asarray(variances, dtype=np.float64)
    between = spread_between(found, own)
    weights = weights_of(own + between)
    mean = float(weights @ found)
    if len(found) < 2:
        return Mean(mean, None, None, 0.0, float(np.sqrt(own[0])))
    scatter = float(weights @ (found - mean) ** 2) / (len(found) - 1)
    error = math.sqrt(scatter)
    half = student_end(len(found) - 1) * error
    return Mean(mean, mean - half, mean + half, math.sqrt(between), error)


def weights_of(variances: Reals) -> Reals:
    """The more certain, the heavier; they add to one. Nothing known to be uncertain: all alike."""
    if not (variances > 0).all():
        return np.full(len(variances), 1.0 / len(variances))
    weights: Reals = (1.0 / variances) / np.sum(1.0 / variances)
    return weights


def spread_between(found: Reals, own: Reals) -> float:
    """The variance between studies at which their scatter is what it should be (Paule and Mandel)."""
    free = len(found) - 1
    if free < 1:
        return 0.0
    if not (own > 0).all():
        return float(np.var(found, ddof=1))

    def excess(between: float) -> float:
        weights = 1.0 / (own + between)
        mean = float(weights @ found) / float(weights.sum())
        return float(weights @ (found - mean) ** 2) - free

    if excess(0.0) <= 0:
        return 0.0
    low, high = 0.0, float(np.var(found, ddof=1)) + float(own.max())
    while excess(high) > 0:
        high *= 2.0
    for _ in range(STEPS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    return (low + high) / 2.0


def variance_by_rows(deviations: Sequence[float], rows: Sequence[int]) -> float:
    """What one row's chance adds to the variance of a share: the mean over studies that know their deviations."""
    each = [deviation**2 * many for deviation, many in zip(deviations, rows, strict=True)]
    return float(np.mean(each)) if each else 0.0
