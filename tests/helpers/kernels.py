"""The smoothing kernel as a plain matrix, to hold every quick way to."""

from __future__ import annotations

import numpy as np

from pedanova.measures.smoothing import periodic_kernel


def smoothing_matrix(cells: int, width: float) -> np.ndarray:
    """(cells, cells) S_ij = P(i - j) + P(i + j + 1)."""
    i = np.arange(cells)
    if width == 0.0:
        return np.eye(cells)
    kernel = periodic_kernel(cells, width)
    return kernel[np.subtract.outer(i, i)] + kernel[np.add.outer(i, i) + 1]
