"""Chi-square and normal laws, held to tables and to each other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from pedanova.measures.distributions import chi2_tail, divergence_interval, noncentrality, pearson

A_TARGET, A_REGION = np.array([9, 5, 3, 2, 1, 0]), np.array([20, 30, 25, 15, 6, 4])
B_TARGET, B_REGION = np.array([4, 0, 0, 0]), np.array([5, 5, 5, 5])
FREEDOMS = (1, 2, 3, 7, 19, 99, 1000, 100_000)
RATIOS = (0.01, 0.5, 0.9, 0.99, 1.0, 1.01, 1.1, 1.5, 3.0, 10.0)


def share_interval(target: np.ndarray, region: np.ndarray) -> tuple[float, ...]:
    rows, inside = float(region.sum()), float(target.sum())
    return tuple(inside / (rows - inside) * end for end in divergence_interval(target, region / rows, rows))


class TestKnownTables:
    @pytest.mark.parametrize(
        ("target", "region", "statistic", "freedom", "tail"),
        [(A_TARGET, A_REGION, 503 / 48, 5, 0.06274240807502739), (B_TARGET, B_REGION, 15.0, 3, 0.0018166489665723223)],
    )
    def test_pearson_and_its_tail(
        self, target: np.ndarray, region: np.ndarray, statistic: float, freedom: int, tail: float
    ) -> None:
        assert pearson(target, region) == (pytest.approx(statistic, rel=1e-13), freedom)
        assert chi2_tail(*pearson(target, region)) == pytest.approx(tail, rel=1e-10)
        table = stats.chi2_contingency([target, region - target], correction=False)
        assert pearson(target, region)[0] == pytest.approx(table.statistic, rel=1e-12)

    def test_interval_of_histogram_a(self) -> None:
        low, high = share_interval(A_TARGET, A_REGION)
        assert low == 0.0
        assert high == pytest.approx(0.21899255810837137, rel=1e-7)

    def test_interval_of_histogram_b(self) -> None:
        assert noncentrality(15.0, 3, 0.975) / 20 == pytest.approx(0.11324282802267369, rel=1e-7)
        assert noncentrality(15.0, 3, 0.025) / 20 == pytest.approx(1.5780899343007195, rel=1e-7)
        ends = pytest.approx(0.11324282802267369, rel=1e-7), pytest.approx(1.5780899343007195, rel=1e-7)
        assert share_interval(B_TARGET, B_REGION) == ends

    def test_interval_against_known_chances(self) -> None:
        """A uniform draw over six cells: 20 times the divergence 4/5 is a chi-square value of 16."""
        low, high = divergence_interval(A_TARGET, np.full(6, 1 / 6))
        assert 20 * low == pytest.approx(exact_noncentrality(16.0, 5, 0.975), rel=1e-6)
        assert 20 * high == pytest.approx(exact_noncentrality(16.0, 5, 0.025), rel=1e-6)

    def test_empty_cells_are_no_degrees_of_freedom(self) -> None:
        with_empty = [np.concatenate([counts, [0, 0, 0]]) for counts in (A_TARGET, A_REGION)]
        assert pearson(*with_empty) == pearson(A_TARGET, A_REGION)
        assert share_interval(np.array([3, 0]), np.array([9, 0])) == (0.0, 0.0)


class TestAgainstScipy:
    def test_far_tails_are_not_rounded_to_zero(self) -> None:
        assert chi2_tail(500.0, 3) == pytest.approx(stats.chi2.sf(500.0, 3), rel=1e-10)
        assert 0 < chi2_tail(1000.0, 10) < 1e-200

    @pytest.mark.parametrize("chance", [0.025, 0.975])
    @pytest.mark.parametrize("freedom", [1, 3, 19, 300])
    def test_noncentrality(self, freedom: int, chance: float) -> None:
        for statistic in (0.5, 5.0, 40.0, 700.0, 100_000.0):
            exact = exact_noncentrality(statistic, freedom, chance)
            assert noncentrality(statistic, freedom, chance) == pytest.approx(exact, rel=1e-6, abs=1e-6)


def exact_noncentrality(statistic: float, freedom: float, chance: float) -> float:
    if stats.chi2.cdf(statistic, freedom) <= chance:
        return 0.0
    wanted = optimize.brentq(
        lambda centre: stats.ncx2.cdf(statistic, freedom, centre) - chance, 1e-9, 10 + 4 * statistic
    )
    return float(wanted)


CELLS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=2, max_size=12)


@settings(max_examples=40)
@given(CELLS)
def test_the_interval_is_ordered_and_holds_the_share(cells: list[tuple[int, int]]) -> None:
    target, rest = np.array(cells).T
    if not target.sum() or not rest.sum():
        return
    low, high = share_interval(target, target + rest)
    assert 0.0 <= low <= high
    statistic, freedom = pearson(target, target + rest)
    share = (statistic - freedom) / (target + rest).sum()
    assert low - 1e-9 <= max(0.0, share) <= high + 1e-9
