"""The normal law by NumPy alone: how much lies below a value, and where a part of it ends."""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Reals: TypeAlias = NDArray[np.float64]
STEPS = 4096  # of the table that `normal_below` reads, from -REACH to REACH
REACH = 8.5  # deviations: beyond them nothing is left in double precision


def normal_quantile(parts: NDArray[Any]) -> Reals:
    """Where each part (above 0, below 1) of a standard normal law ends; equal parts are computed once."""
    distinct, places = np.unique(parts, return_inverse=True)
    found: Reals = ends_of(tuple(distinct.tolist()))[places].reshape(np.shape(parts))
    return found


@lru_cache(maxsize=16)
def ends_of(parts: tuple[float, ...]) -> Reals:
    """Kept for some sets of parts: those of ranks without ties hang on the number of rows alone."""
    return np.array([LAW.inv_cdf(part) for part in parts])


def normal_below(values: NDArray[Any]) -> Reals:
    """The part of a standard normal law below each value, to seven digits.

    Between the steps of a table a parabola follows the law: value, slope and bend are known there.
    """
    clipped = np.clip(values, -REACH, REACH)
    nearest = np.rint((clipped + REACH) * (STEPS / (2.0 * REACH))).astype(np.int64)
    off = clipped - GRID[nearest]
    slope = HEIGHT[nearest]
    below: Reals = BELOW[nearest] + off * slope * (1.0 - off * GRID[nearest] / 2.0)
    return np.clip(below, 0.0, 1.0)


def normal_height(value: float) -> float:
    """The density of a standard normal law."""
    return math.exp(-value * value / 2.0) / math.sqrt(2.0 * math.pi)


LAW = NormalDist()
GRID: Reals = np.linspace(-REACH, REACH, STEPS + 1)
BELOW: Reals = np.array([0.5 * math.erfc(-x / math.sqrt(2.0)) for x in GRID.tolist()])
HEIGHT: Reals = np.exp(-(GRID**2) / 2.0) / math.sqrt(2.0 * math.pi)
