"""Laws of comparisons, held against SciPy's."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from pedanova.measures.studies.laws import beta_below, fisher_tail, range_below, range_end, student_end, student_tail


@given(st.floats(0, 1), st.floats(0.1, 200), st.floats(0.1, 200))
def test_incomplete_beta(x: float, a: float, b: float) -> None:
    assert beta_below(x, a, b) == pytest.approx(float(stats.beta.cdf(x, a, b)), rel=1e-9, abs=1e-12)


@given(st.floats(0, 50), st.integers(1, 500))
def test_student_tail(value: float, freedom: int) -> None:
    assert student_tail(value, freedom) == pytest.approx(2 * float(stats.t.sf(value, freedom)), rel=1e-8, abs=1e-14)


@pytest.mark.parametrize("freedom", [1, 2, 3, 9, 99, 5000])
def test_student_end(freedom: int) -> None:
    assert student_end(freedom) == pytest.approx(stats.t.ppf(0.975, freedom), rel=1e-9)


@given(st.floats(0, 100), st.integers(1, 50), st.integers(1, 500))
def test_fisher_tail(value: float, first: int, second: int) -> None:
    known = float(stats.f.sf(value, first, second))
    assert fisher_tail(value, first, second) == pytest.approx(known, rel=1e-8, abs=1e-14)


@pytest.mark.parametrize("count", [2, 3, 5, 10, 40])
def test_studentised_range(count: int) -> None:
    assert range_end(count) == pytest.approx(stats.studentized_range.ppf(0.95, count, math.inf), rel=1e-6)
    assert range_below(range_end(count), count) == pytest.approx(0.95, abs=1e-9)
