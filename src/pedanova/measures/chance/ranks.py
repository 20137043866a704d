"""Ranks in which equal values share their mean."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Reals: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.int64]


def mid_ranks(values: NDArray[Any]) -> Reals:
    """1 for the smallest."""
    return doubled_ranks(values) / 2.0


def doubled_ranks(values: NDArray[Any]) -> Indices:
    """Twice the same: a whole number, so that sums of them are exact."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends: Indices = np.cumsum(counts)
    return (2 * ends - counts + 1)[places]
