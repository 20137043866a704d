"""The Cholesky factor of a covariance, and what is solved with it: NumPy alone, block by block.

NumPy has no triangular solver. With the inverses of small blocks on the diagonal, solving is a
handful of matrix products, nearly as quick as LAPACK's own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Reals: TypeAlias = NDArray[np.float64]
BLOCK = 64  # rows of a block on the diagonal
STEADY = (0.0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)  # of the mean variance, added to it
SMALL = 48  # rows up to which a triangle is inverted as a full matrix


@dataclass(frozen=True, eq=False)
class Factor:
    """L of a covariance L·Lᵀ."""

    lower: Reals  # (rows, rows)

    @classmethod
    def of(cls, covariance: NDArray[np.floating]) -> Factor:
        """Raises LinAlgError where the matrix is not positive."""
        return cls(np.linalg.cholesky(covariance.astype(np.float64, copy=False)))

    @classmethod
    def steadied(cls, covariance: NDArray[np.floating]) -> Factor:
        """The same, with more on the diagonal as long as rounding makes the matrix look other than positive."""
        whole = covariance.astype(np.float64, copy=False)
        own = np.diagonal(whole).copy()
        for more in STEADY:
            if more:
                whole = whole.copy()
                whole[np.diag_indices(len(whole))] = own + more * float(own.mean())
            try:
                return cls.of(whole)
            except np.linalg.LinAlgError:
                continue
        raise np.linalg.LinAlgError("no covariance")

    @property
    def logarithm(self) -> float:
        """Half the logarithm of the covariance's determinant."""
        return float(np.log(np.diagonal(self.lower)).sum())

    def solve(self, right: Reals) -> Reals:
        """Covariance⁻¹ · right, for columns of right sides."""
        solved: Reals = right.astype(np.float64)
        blocks, inverses = self._diagonal
        for rows, inverse in zip(blocks, inverses, strict=True):
            before = slice(0, rows.start)
            solved[rows] = inverse @ (solved[rows] - self.lower[rows, before] @ solved[before])
        for rows, inverse in zip(reversed(blocks), reversed(inverses), strict=True):
            behind = slice(rows.stop, None)
            solved[rows] = inverse.T @ (solved[rows] - self.lower[behind, rows].T @ solved[behind])
        return solved

    def inverse(self, dtype: type[np.floating] = np.float64) -> NDArray[np.floating]:
        """Covariance⁻¹."""
        half = inverted(self.lower.astype(dtype, copy=False))
        found: NDArray[np.floating] = half.T @ half
        return found

    @cached_property
    def _diagonal(self) -> tuple[list[slice], list[NDArray[np.floating]]]:
        """Blocks on the diagonal, and their inverses."""
        rows = len(self.lower)
        blocks = [slice(start, min(start + BLOCK, rows)) for start in range(0, rows, BLOCK)]
        return blocks, [np.linalg.inv(self.lower[block, block]) for block in blocks]


def inverted(lower: NDArray[np.floating]) -> NDArray[np.floating]:
    """The inverse of a lower triangle, from those of its two halves."""
    rows = len(lower)
    if rows <= SMALL:
        return np.linalg.inv(lower).astype(lower.dtype, copy=False)
    half = rows // 2
    found = np.zeros_like(lower)
    first, last = inverted(lower[:half, :half]), inverted(lower[half:, half:])
    found[:half, :half], found[half:, half:] = first, last
    found[half:, :half] = -last @ (lower[half:, :half] @ first)
    return found
