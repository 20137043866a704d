"""Triangles and sorted lines: against NumPy's linear algebra, and equal to the bit with and without the kernel."""

from __future__ import annotations

import numpy as np
import pytest

from pedanova.base.kernel import library as kernel
from pedanova.base.kernel.dense import LEAF, inverse_triangle, sort_lines


def triangle(rows: int) -> np.ndarray:
    random = np.random.default_rng(rows)
    lower = np.tril(random.normal(size=(rows, rows)) / max(1, rows))
    lower[np.diag_indices(rows)] = random.uniform(0.3, 2.0, rows)
    return lower.astype(np.float32)


def line_of_all_kinds() -> np.ndarray:
    random = np.random.default_rng(0)
    kinds = [random.normal(size=900), 1e-30 * random.normal(size=90), 1e30 * random.normal(size=90), np.zeros(9)]
    values = np.concatenate([*kinds, [np.inf, -np.inf], random.integers(-3, 3, 200)])
    return np.stack([np.concatenate([line, -line[-12:]]) for line in (values, values[::-1])]).astype(np.float32)


@pytest.fixture(params=["kernel", "numpy"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "numpy":
        monkeypatch.setattr(kernel, "available", lambda: False)
    return str(request.param)


@pytest.mark.parametrize("rows", [0, 1, 2, 3, 4, 5, 8, 63, LEAF, LEAF + 1, 300])
def test_a_triangle_times_its_inverse_is_one(rows: int, engine: str) -> None:
    lower = triangle(rows)
    inverse = inverse_triangle(lower)
    assert inverse.dtype == np.float32
    assert np.array_equal(inverse, np.tril(inverse))
    np.testing.assert_allclose(inverse.astype(np.float64) @ lower, np.eye(rows), atol=1e-5)


def test_lines_are_sorted_and_equal_numbers_keep_their_order(engine: str) -> None:
    values = line_of_all_kinds()
    assert np.array_equal(sort_lines(values), np.argsort(values, axis=1, kind="stable"))
    assert np.array_equal(sort_lines(values[:, ::2]), np.argsort(values[:, ::2], axis=1, kind="stable"))
    assert sort_lines(values[:, :0]).shape == (2, 0)


@pytest.mark.parametrize("rows", [1, 7, 100, LEAF, 300])
def test_inverses_are_equal_to_the_bit_without_the_kernel(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    fast = inverse_triangle(triangle(rows))
    monkeypatch.setattr(kernel, "available", lambda: False)
    assert np.array_equal(fast, inverse_triangle(triangle(rows)))
