"""The kernel: symmetric, doubly stochastic, never negative; its width by half of Scott's rule."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pedanova as pa
from helpers.kernels import smoothing_matrix
from pedanova.errors import QueryError
from pedanova.measures.smoothing import (
    BandedKernel,
    bandwidth,
    interquartile,
    reflected_matrix,
    scott_bandwidth,
    smooth,
    squared_smooth,
)
from pedanova.space.grid import grid_of

CELLS, WIDTHS = st.integers(2, 60), st.floats(0.05, 200)


@given(CELLS, WIDTHS)
def test_the_matrix_is_symmetric_and_doubly_stochastic(cells: int, width: float) -> None:
    matrix = smoothing_matrix(cells, width)
    np.testing.assert_allclose(matrix, matrix.T, atol=1e-15)
    np.testing.assert_allclose(matrix.sum(axis=0), 1.0, rtol=1e-12)
    assert matrix.min() >= 0


@given(CELLS, WIDTHS, st.integers(0, 2**32 - 1))
def test_quick_ways_equal_the_matrix(cells: int, width: float, seed: int) -> None:
    masses = np.random.default_rng(seed).random(cells)
    matrix = smoothing_matrix(cells, width)
    np.testing.assert_allclose(smooth(masses, width), matrix @ masses, atol=1e-13)
    np.testing.assert_allclose(squared_smooth(masses, width), matrix**2 @ masses, atol=1e-13)


@pytest.mark.parametrize("width", [0.5, 3.0, 20.0, 80.0, 400.0])
def test_quick_ways_equal_the_matrix_on_a_full_grid(width: float) -> None:
    masses = np.random.default_rng(0).random(1001)
    matrix = smoothing_matrix(1001, width)
    np.testing.assert_allclose(smooth(masses, width), matrix @ masses, atol=1e-12)
    np.testing.assert_allclose(squared_smooth(masses, width), matrix**2 @ masses, atol=1e-12)


@given(st.lists(st.integers(0, 9), min_size=2, max_size=40).filter(lambda c: sum(c) > 1))
def test_the_bandwidth_is_that_of_the_rows(counts: list[int]) -> None:
    rows = np.repeat(np.arange(len(counts)), counts)
    quartiles = np.percentile(rows, 75) - np.percentile(rows, 25)
    assert interquartile(np.array([counts])) == pytest.approx([quartiles], abs=1e-9)
    scott = 0.53 * min(rows.std(ddof=1), quartiles / 1.34) * len(rows) ** -0.2 * min(1, 300 / len(rows)) ** 0.5
    assert scott_bandwidth(np.array(counts)) == pytest.approx(scott, rel=1e-9, abs=1e-12)


def test_the_kernel_vanishes_as_rows_grow() -> None:
    """As n′^(-1/5) up to 300 rows, beyond as n′^(-7/10); at last there is none."""
    block = grid_of(pa.Float(0, 1)).blocks[0]
    shape = np.random.default_rng(0).multinomial(300, np.full(1001, 1 / 1001))
    few, many = bandwidth("auto", shape, block), bandwidth("auto", 100 * shape, block)
    assert few == pytest.approx(scott_bandwidth(shape, fade=False))
    assert many == pytest.approx(few * 100**-0.7, rel=0.01)
    assert bandwidth("auto", 10_000 * shape, block) == 0


def test_few_levels_and_categories_are_never_smoothed() -> None:
    counts = np.ones(12, dtype=np.int64)
    assert bandwidth("auto", counts, grid_of(pa.Ordinal(list(range(12)))).blocks[0]) == 0
    assert bandwidth("auto", np.ones(13, dtype=np.int64), grid_of(pa.Ordinal(list(range(13)))).blocks[0]) > 0
    assert bandwidth("auto", np.ones(30, dtype=np.int64), grid_of(pa.Categorical(list(range(30)))).blocks[0]) == 0
    assert bandwidth(2.0, np.ones(30, dtype=np.int64), grid_of(pa.Categorical(list(range(30)))).blocks[0]) == 0
    assert bandwidth("none", np.ones(1001, dtype=np.int64), grid_of(pa.Float(0, 1)).blocks[0]) == 0


def test_a_lone_row_has_no_width() -> None:
    assert scott_bandwidth(np.array([0, 1, 0])) == 0
    assert scott_bandwidth(np.array([0, 0, 0])) == 0


@pytest.mark.parametrize("bad", ["some", -1, float("nan"), float("inf"), True, None])
def test_what_is_no_smoothing(bad: object) -> None:
    with pytest.raises(QueryError, match=r"smoothing=.* must be 'auto', 'none' or a bandwidth"):
        bandwidth(bad, np.ones(1001, dtype=np.int64), grid_of(pa.Float(0, 1)).blocks[0])


@pytest.mark.parametrize("cells", [13, 40, 145])
@pytest.mark.parametrize("width", [0.3, 0.7, 2.5, 30.0, 2000.0])
def test_pieces_are_the_whole(cells: int, width: float) -> None:
    whole = smoothing_matrix(cells, width)
    for dtype, error in ((np.float32, 2e-6), (np.float64, 1e-13)):
        stack = np.random.default_rng(0).random((cells, 7)).astype(dtype).T
        kernel = BandedKernel.of(cells, width, dtype)
        np.testing.assert_allclose(kernel.smooth(stack), stack @ whole, rtol=error)
        np.testing.assert_allclose(kernel.squared_smooth(stack), stack @ whole**2, rtol=2 * error)


@pytest.mark.parametrize("width", [0.4, 3.0, 500.0])
def test_a_reflected_matrix_is_the_matrix(width: float) -> None:
    np.testing.assert_array_equal(reflected_matrix(20, width), smoothing_matrix(20, width))
