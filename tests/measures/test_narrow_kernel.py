"""The kernel in pieces and single precision is the kernel."""

from __future__ import annotations

import numpy as np
import pytest

from pedanova.measures.smoothing import BandedKernel, reflected_matrix, smoothing_matrix


@pytest.mark.parametrize("cells", [13, 40, 145])
@pytest.mark.parametrize("width", [0.3, 0.7, 2.5, 30.0, 2000.0])
def test_pieces_are_the_whole(cells: int, width: float) -> None:
    stack = np.random.default_rng(0).random((cells, 7), dtype=np.float32).T
    kernel, whole = BandedKernel.of(cells, width), smoothing_matrix(cells, width)
    np.testing.assert_allclose(kernel.smooth(stack), stack @ whole, rtol=2e-6)
    np.testing.assert_allclose(kernel.squared_smooth(stack), stack @ whole**2, rtol=4e-6)


@pytest.mark.parametrize("width", [0.4, 3.0, 500.0])
def test_a_reflected_matrix_is_made_of_its_parts(width: float) -> None:
    rows, columns = slice(0, 20), slice(0, 19)
    parts = smoothing_matrix(20, width, rows, columns)
    np.testing.assert_array_equal(reflected_matrix(20, width)[rows, columns], parts)
