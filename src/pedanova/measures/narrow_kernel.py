"""The smoothing kernel in single precision, for stacks of draws: products of matrices that leave its zeros out.

Draws scatter by far more than single precision does. What single precision cannot do is tell 1.000001 from 1, so
whoever uses this smooths the distance of two densities, and not each of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.measures.smoothing import reflected_matrix

Singles: TypeAlias = NDArray[np.float32]  # (cells, draws)
ENOUGH = 6.0  # bandwidths beyond which a Gaussian is nothing in single precision
TOGETHER = 32  # cells that are found by one product
Piece: TypeAlias = tuple[slice, slice, Singles, Singles]  # cells found, cells needed, the kernel and its square


@dataclass(frozen=True, slots=True, eq=False)
class NarrowKernel:
    """S of one block in pieces; no pieces where nothing is smoothed."""

    pieces: tuple[Piece, ...]

    @classmethod
    def of(cls, cells: int, width: float) -> NarrowKernel:
        if width == 0.0:
            return cls(())
        matrix = reflected_matrix(cells, width).astype(np.float32)
        square, reach = matrix**2, math.ceil(ENOUGH * width) + 1
        together = TOGETHER if TOGETHER + 2 * reach < cells else cells
        found = [slice(first, min(first + together, cells)) for first in range(0, cells, together)]
        near = [slice(max(0, some.start - reach), min(cells, some.stop + reach)) for some in found]
        return cls(tuple((f, n, matrix[f, n], square[f, n]) for f, n in zip(found, near, strict=True)))

    def smooth(self, stack: Singles) -> Singles:
        """S · stack."""
        return self._product(stack, 2)

    def squared_smooth(self, stack: Singles) -> Singles:
        """The same by the squares of the kernel's weights."""
        return self._product(stack, 3)

    def _product(self, stack: Singles, which: int) -> Singles:
        if not self.pieces:
            return stack
        result = np.empty(stack.shape, dtype=np.float32)
        for piece in self.pieces:
            np.matmul(piece[which], stack[piece[1]], out=result[piece[0]])  # type: ignore[arg-type]
        return result


@lru_cache(maxsize=256)
def kept_kernel(cells: int, width: float) -> NarrowKernel:
    """One of the few widths that draws are rounded to."""
    return NarrowKernel.of(cells, width)
