"""What is enough to draw conclusions: target rows, and p-values taken together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

LEAST_TARGET = 5  # target rows: fewer say nothing
LEVEL = 0.05  # the largest adjusted p-value that counts as distinguishable from noise


def holm(
    p_values: Sequence[float] | NDArray[np.float64], tested: NDArray[np.bool_] | None = None
) -> NDArray[np.float64]:
    """p-values adjusted for their number: the smallest times all of them, the next times one less, never falling.

    Those that were not tested do not count, and are 1.
    """
    p = np.asarray(p_values, dtype=np.float64)
    places = np.arange(len(p)) if tested is None else np.flatnonzero(tested)
    order = places[np.argsort(p[places], kind="stable")]
    adjusted = np.ones(len(p))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * np.arange(len(order), 0, -1)))
    return adjusted
