from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest

from pedanova.measures.distributions import normal_below, normal_height, normal_quantile


def test_below_follows_the_law() -> None:
    values = np.r_[np.linspace(-9, 9, 1001), -40.0, 40.0]
    exact = [NormalDist().cdf(value) for value in values]
    assert np.abs(normal_below(values) - exact).max() < 1e-8


def test_quantiles_undo_it() -> None:
    parts = np.array([[0.01, 0.5], [0.5, 0.999]])
    assert normal_below(normal_quantile(parts)) == pytest.approx(parts, abs=1e-8)


def test_height_is_the_slope() -> None:
    assert normal_height(0.7) == pytest.approx(NormalDist().pdf(0.7))
