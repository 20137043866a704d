"""Random effects: laws of the mean over studies, and how often its interval holds the truth."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pedanova.measures.studies.pooled import pooled, spread_between, variance_by_rows

VALUES = st.lists(st.floats(-0.1, 1), min_size=2, max_size=20)


@given(VALUES, st.floats(1e-6, 0.1))
def test_studies_of_one_size_weigh_the_same(values: list[float], variance: float) -> None:
    found = pooled(values, [variance] * len(values))
    assert found.value == pytest.approx(float(np.mean(values)), abs=1e-9)
    assert found.low is not None
    assert found.high is not None
    assert found.low <= found.value <= found.high


@given(VALUES, st.integers(0, 10_000))
def test_the_order_of_studies_does_not_matter(values: list[float], seed: int) -> None:
    rng = np.random.default_rng(seed)
    variances = rng.uniform(1e-4, 1e-2, len(values))
    order = rng.permutation(len(values))
    one, two = pooled(values, variances), pooled(np.array(values)[order], variances[order])
    assert (one.value, one.spread) == pytest.approx((two.value, two.spread), abs=1e-9)


def test_scatter_that_chance_explains_is_no_spread() -> None:
    assert pooled([0.30, 0.31, 0.29], [0.01] * 3).spread == 0.0
    assert pooled([0.1, 0.5, 0.3], [1e-6] * 3).spread == pytest.approx(0.2, abs=1e-3)


def test_the_scatter_left_is_what_it_should_be() -> None:
    """Paule and Mandel's equation holds at the spread found."""
    rng = np.random.default_rng(0)
    own = rng.uniform(0.001, 0.01, 12)
    values = 0.3 + rng.normal(0, 0.2, 12)
    weights = 1 / (own + spread_between(values, own))
    mean = weights @ values / weights.sum()
    assert weights @ (values - mean) ** 2 == pytest.approx(11, abs=1e-6)


def test_one_large_study_does_not_rule() -> None:
    """Where studies differ, ten of 100 rows outweigh one of a million."""
    values = [*np.linspace(0.1, 0.3, 10), 0.9]
    variances = [0.1 / 100] * 10 + [0.1 / 1e6]
    assert pooled(values, variances).value < 0.35
    assert pooled([0.2] * 10 + [0.21], variances).value == pytest.approx(0.21, abs=1e-3)  # alike: it does


def test_a_single_study_has_no_interval() -> None:
    found = pooled([0.3], [0.01])
    assert (found.value, found.low, found.high) == (0.3, None, None)


def test_no_variance_known_is_the_plain_mean() -> None:
    found = pooled([0.1, 0.2, 0.6], [0.0, 0.0, 0.0])
    assert found.value == pytest.approx(0.3)
    assert found.spread == pytest.approx(np.std([0.1, 0.2, 0.6], ddof=1))


def test_the_interval_holds_the_mean_of_all_studies() -> None:
    """95 of 100 times, few studies of very different sizes."""
    rng = np.random.default_rng(1)
    held = 0
    for _ in range(400):
        variances = 0.5 / rng.integers(50, 5000, 8)
        values = 0.3 + rng.normal(0, 0.1, 8) + rng.normal(0, np.sqrt(variances))
        found = pooled(values, variances)
        held += (found.low or 0) <= 0.3 <= (found.high or 0)
    assert 0.92 <= held / 400 <= 0.98


def test_variance_by_rows() -> None:
    assert variance_by_rows([0.1, 0.2], [100, 25]) == pytest.approx(1.0)
    assert variance_by_rows([], []) == 0.0
