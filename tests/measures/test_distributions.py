"""Chi-square and normal laws, held to tables and to each other."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, special, stats

from pedanova.measures.distributions import (
    LARGE,
    chi2_tail,
    divergence_interval,
    lower_gamma,
    noncentral_cdf,
    noncentrality,
    normal_below,
    normal_height,
    normal_quantile,
    pearson,
    share_interval,
    upper_gamma,
)

A_TARGET, A_REGION = np.array([9, 5, 3, 2, 1, 0]), np.array([20, 30, 25, 15, 6, 4])
B_TARGET, B_REGION = np.array([4, 0, 0, 0]), np.array([5, 5, 5, 5])
FREEDOMS = (1, 2, 3, 7, 19, 99, 1000, 100_000)
RATIOS = (0.01, 0.5, 0.9, 0.99, 1.0, 1.01, 1.1, 1.5, 3.0, 10.0)


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

    def test_interval_of_histogram_b_ends_at_one(self) -> None:
        assert noncentrality(15.0, 3, 0.975) / 20 == pytest.approx(0.11324282802267369, rel=1e-7)
        assert noncentrality(15.0, 3, 0.025) / 20 == pytest.approx(1.5780899343007195, rel=1e-7)
        assert share_interval(B_TARGET, B_REGION) == (pytest.approx(0.11324282802267369, rel=1e-7), 1.0)

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
    @pytest.mark.parametrize("freedom", FREEDOMS)
    def test_incomplete_gamma(self, freedom: int) -> None:
        for statistic in (freedom * ratio for ratio in RATIOS):
            shape, x = freedom / 2, statistic / 2
            assert lower_gamma(shape, x) == pytest.approx(special.gammainc(shape, x), rel=1e-9, abs=1e-300)
            assert upper_gamma(shape, x) == pytest.approx(special.gammaincc(shape, x), rel=1e-9, abs=1e-300)
            assert chi2_tail(statistic, freedom) == pytest.approx(
                stats.chi2.sf(statistic, freedom), rel=1e-9, abs=1e-300
            )

    def test_far_tails_are_not_rounded_to_zero(self) -> None:
        assert chi2_tail(500.0, 3) == pytest.approx(stats.chi2.sf(500.0, 3), rel=1e-10)
        assert 0 < chi2_tail(1000.0, 10) < 1e-200

    def test_edges(self) -> None:
        assert lower_gamma(2.0, 0.0) == 0.0
        assert upper_gamma(2.0, 0.0) == 1.0
        assert chi2_tail(0.0, 4) == 1.0
        assert chi2_tail(5.0, 0) == 1.0  # one cell: nothing to tell apart

    @pytest.mark.parametrize("freedom", [1, 3, 19, 300])
    @pytest.mark.parametrize("centre", [0.0, 0.3, 5.0, 80.0, 1500.0])
    def test_noncentral_law(self, freedom: int, centre: float) -> None:
        mean, deviation = freedom + centre, math.sqrt(2 * freedom + 4 * centre)
        for steps in (-3.0, -1.0, 0.0, 1.0, 4.0):
            statistic = max(0.1, mean + steps * deviation)
            law = stats.ncx2(freedom, centre) if centre else stats.chi2(freedom)
            assert noncentral_cdf(statistic, freedom, centre) == pytest.approx(law.cdf(statistic), abs=1e-9)

    @pytest.mark.parametrize("chance", [0.025, 0.975])
    @pytest.mark.parametrize("freedom", [1, 3, 19, 300])
    def test_noncentrality(self, freedom: int, chance: float) -> None:
        for statistic in (0.5, 5.0, 40.0, 700.0):
            exact = exact_noncentrality(statistic, freedom, chance)
            assert noncentrality(statistic, freedom, chance) == pytest.approx(exact, rel=1e-6, abs=1e-6)

    @pytest.mark.parametrize("chance", [0.025, 0.975])
    @pytest.mark.parametrize("freedom", [1, 19, 1500])
    @pytest.mark.parametrize("statistic", [LARGE + 1, 5000.0, 100_000.0])
    def test_large_values_are_as_good_as_normal(self, statistic: float, freedom: int, chance: float) -> None:
        """The normal law leaves out z² - 1 = 2.84, which is 0.02 of the interval's width at the most."""
        low, high = (exact_noncentrality(statistic, freedom, c) for c in (0.975, 0.025))
        exact = exact_noncentrality(statistic, freedom, chance)
        assert abs(noncentrality(statistic, freedom, chance) - exact) < min(3.1, 0.02 * (high - low))


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
def test_the_interval_is_ordered_and_a_part_of_one(cells: list[tuple[int, int]]) -> None:
    target, rest = np.array(cells).T
    if not target.sum() or not rest.sum():
        return
    low, high = share_interval(target, target + rest)
    assert 0.0 <= low <= high <= 1.0
    statistic, freedom = pearson(target, target + rest)
    share = (statistic - freedom) / (target + rest).sum()
    assert low <= max(0.0, share) + 1e-9
    wide = share_interval(target, target + rest, level=0.99)
    assert wide[0] <= low + 1e-9
    assert high <= wide[1] + 1e-9


def test_below_follows_the_law() -> None:
    values = np.r_[np.linspace(-9, 9, 1001), -40.0, 40.0]
    exact = [NormalDist().cdf(value) for value in values]
    assert np.abs(normal_below(values) - exact).max() < 1e-8


def test_quantiles_undo_it() -> None:
    parts = np.array([[0.01, 0.5], [0.5, 0.999]])
    assert normal_below(normal_quantile(parts)) == pytest.approx(parts, abs=1e-8)


def test_height_is_the_slope() -> None:
    assert normal_height(0.7) == pytest.approx(NormalDist().pdf(0.7))
