from __future__ import annotations

import numpy as np
import pytest

from pedanova.measures.surrogate.factor import Factor, inverted


def covariance(rows: int) -> np.ndarray:
    values = np.random.default_rng(rows).random((rows, 3))
    distance = ((values[:, None] - values[None]) ** 2).sum(axis=-1)
    return 1.0 / (1.0 + distance) + 0.05 * np.eye(rows)


@pytest.mark.parametrize("rows", [1, 2, 47, 48, 49, 64, 65, 200])
def test_solves_as_numpy_does(rows: int) -> None:
    matrix = covariance(rows)
    right = np.random.default_rng(0).random((rows, 4))
    factor = Factor.of(matrix)
    assert factor.solve(right) == pytest.approx(np.linalg.solve(matrix, right))
    assert factor.inverse() == pytest.approx(np.linalg.inv(matrix))
    assert factor.logarithm == pytest.approx(np.linalg.slogdet(matrix)[1] / 2)


def test_single_precision_is_near() -> None:
    matrix = covariance(150)
    found = Factor.of(matrix).inverse(np.float32)
    assert found.dtype == np.float32
    assert found == pytest.approx(np.linalg.inv(matrix), abs=2e-3)
    assert inverted(np.eye(3, dtype=np.float32)).dtype == np.float32


def test_what_is_not_positive_is_refused() -> None:
    with pytest.raises(np.linalg.LinAlgError):
        Factor.of(-np.eye(3))
