from __future__ import annotations

import math

import numpy as np
import pytest

from pedanova.measures.surrogate.descent import descend


def rosenbrock(x: np.ndarray) -> tuple[float, np.ndarray]:
    value = 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2
    return float(value), np.array([-400 * x[0] * (x[1] - x[0] ** 2) - 2 * (1 - x[0]), 200 * (x[1] - x[0] ** 2)])


def test_finds_the_end_of_a_bent_valley() -> None:
    found = descend(rosenbrock, np.array([-1.2, 1.0]), steps=200, least=1e-14)
    assert found == pytest.approx([1.0, 1.0], abs=1e-3)


def test_a_bowl_takes_few_steps() -> None:
    asked = []
    scale = np.logspace(-1, 1, 12)

    def bowl(x: np.ndarray) -> tuple[float, np.ndarray]:
        asked.append(1)
        return float(0.5 * scale @ (x - 1) ** 2), scale * (x - 1)

    found = descend(bowl, np.zeros(12), steps=60, least=1e-12)
    assert found == pytest.approx(np.ones(12), abs=1e-3)
    assert len(asked) < 60


def test_walls_are_walked_around() -> None:
    def walled(x: np.ndarray) -> tuple[float, np.ndarray]:
        if x[0] <= 0:
            return math.inf, np.zeros(1)
        return float(x[0] - math.log(x[0])), 1 - 1 / x

    assert descend(walled, np.array([3.0]), steps=40, least=1e-12) == pytest.approx([1.0], abs=1e-3)


def test_no_slope_no_step() -> None:
    start = np.array([1.0, 2.0])
    assert np.array_equal(descend(lambda _: (1.0, np.zeros(2)), start, steps=5, least=0.0), start)
