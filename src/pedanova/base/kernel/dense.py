"""Two steps of the model that NumPy does slowly: inverting a triangular matrix, and sorting each line of an array.

The compiled kernel and NumPy give exactly the same results.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pedanova.base.kernel import library as kernel

LEAF = 128  # a triangle with at most this many rows is inverted at once, a larger one by matrix products

Singles = NDArray[np.float32]


def inverse_triangle(lower: Singles) -> Singles:
    """Invert a lower triangular matrix block by block."""
    rows = len(lower)
    if rows <= LEAF:
        return invert_leaf(np.ascontiguousarray(lower))
    half = rows // 2
    inverse = np.zeros_like(lower)
    first, last = inverse_triangle(lower[:half, :half]), inverse_triangle(lower[half:, half:])
    inverse[:half, :half], inverse[half:, half:] = first, last
    inverse[half:, :half] = -last @ (lower[half:, :half] @ first)
    return inverse


def invert_leaf(lower: Singles) -> Singles:
    inverse = np.zeros_like(lower)
    if kernel.available():
        kernel.call("invert_triangle", lower, len(lower), inverse)
        return inverse
    np.fill_diagonal(inverse, 1.0)
    for k, column in enumerate(lower.T):
        inverse[k, : k + 1] *= np.float32(1.0) / column[k]
        inverse[k + 1 :, : k + 1] -= column[k + 1 :, None] * inverse[k, : k + 1]
    return inverse


def sort_lines(values: Singles) -> NDArray[np.int64]:
    """For each line, the indices that sort its numbers in ascending order; equal numbers keep their order."""
    if not kernel.available():
        return np.argsort(values, axis=1, kind="stable")
    order = np.empty(values.shape, dtype=np.int64)
    kernel.call("sort_lines", np.ascontiguousarray(values), *values.shape, order)
    return order
