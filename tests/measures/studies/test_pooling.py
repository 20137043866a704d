"""Statistics over studies: distributions, pooled means, rank tests and disagreements."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from pedanova.measures.studies.pooling import (
    beside_others,
    disagreements,
    pooled,
    rank_test,
    runs_within,
    spearman,
    spread_between,
)

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


@given(st.integers(0, 10_000), st.integers(3, 8), st.integers(2, 30), st.booleans())
def test_friedman(seed: int, count: int, studies: int, ties: bool) -> None:
    shares = np.random.default_rng(seed).random((studies, count))
    shares = np.round(shares, 1) if ties else shares
    found = rank_test([str(i) for i in range(count)], shares)
    with np.errstate(all="ignore"):
        known = float(stats.friedmanchisquare(*shares.T).statistic)
    if np.isfinite(known):
        assert found.statistic == pytest.approx(known, rel=1e-9, abs=1e-9)
    assert sum(found.ranks) == pytest.approx(count * (count + 1) / 2)
    assert list(found.ranks) == sorted(found.ranks)


def test_demsar() -> None:
    """The example of the paper: four classifiers, 14 datasets; critical difference 1.25 at 5 %."""
    found = rank_test(list("abcd"), np.random.default_rng(0).random((14, 4)))
    assert found.critical == pytest.approx(2.569 * np.sqrt(4 * 5 / (6 * 14)), abs=1e-3)


def test_chance_gives_even_p_values() -> None:
    rng = np.random.default_rng(0)
    p = [rank_test(list("abcde"), rng.random((10, 5))).p_value for _ in range(300)]
    assert np.mean(np.array(p) <= 0.05) == pytest.approx(0.05, abs=0.03)
    assert np.mean(p) == pytest.approx(0.5, abs=0.05)


def test_studies_that_rank_alike_leave_no_doubt() -> None:
    shares = np.tile([0.5, 0.3, 0.1], (12, 1))
    found = rank_test(["lr", "depth", "seed"], shares)
    assert found.names == ("lr", "depth", "seed")
    assert found.ranks == (1.0, 2.0, 3.0)
    assert found.p_value < 1e-5
    assert "Friedman" in str(found)


def test_all_ties_tell_nothing() -> None:
    found = rank_test(["a", "b"], np.zeros((5, 2)))
    assert (found.statistic, found.p_value) == (0.0, 1.0)


@given(st.lists(st.floats(1, 9), min_size=2, max_size=9).map(sorted), st.floats(0.1, 5))
def test_runs(ranks: list[float], critical: float) -> None:
    """Two names share a run exactly where their ranks are close."""
    runs = runs_within(ranks, critical)
    for i in range(len(ranks)):
        for j in range(i + 1, len(ranks)):
            together = any(first <= i and j <= last for first, last in runs)
            assert together == (ranks[j] - ranks[i] <= critical)
    assert all(first < last for first, last in runs)


def test_agreement() -> None:
    one = np.array([1.0, 2.0, 3.0, 4.0])
    assert spearman(one, 10 * one) == pytest.approx(1)
    assert spearman(one, -one) == pytest.approx(-1)
    assert spearman(one, np.zeros(4)) == 0
    assert spearman(one, np.array([1.0, 3, 2, 4])) == pytest.approx(stats.spearmanr(one, [1, 3, 2, 4])[0])


STUDIES = [f"s{i}" for i in range(12)]


def test_the_odd_one_is_found_and_named() -> None:
    rng = np.random.default_rng(0)
    shares = 0.2 + 0.01 * rng.normal(size=(12, 2))
    shares[3, 1] = 0.7
    found = disagreements(STUDIES, ["lr", "depth"], shares, np.full((12, 2), 1e-4))
    assert [(row.study, row.name) for row in found.rows] == [("s3", "depth")]
    assert found.rows[0].others == pytest.approx(0.2, abs=0.02)
    assert found.of("s3") == found.rows
    assert "s3" in str(found)


@pytest.mark.parametrize("variance", [0.0, 4e-4])
def test_alarms_are_rare(variance: float) -> None:
    """Studies of one law: any is called odd in at most 5 % of the tables, whether chance is known or not."""
    rng = np.random.default_rng(1)
    alarms = 0
    for _ in range(120):
        shares = 0.3 + 0.05 * rng.normal(size=(12, 3)) + 0.02 * rng.normal(size=(12, 3))
        alarms += bool(disagreements(STUDIES, list("abc"), shares, np.full((12, 3), variance)).rows)
    assert alarms / 120 <= 0.1


def test_missing_shares_and_few_studies_are_not_judged() -> None:
    shares = np.full((12, 2), 0.1)
    shares[:, 1] = np.nan
    shares[:3, 1] = [0.1, 0.1, 0.9]
    assert not disagreements(STUDIES, ["a", "b"], shares, np.full((12, 2), 1e-6)).rows


def test_the_mean_of_the_others_leaves_the_study_out() -> None:
    values = np.array([0.1, 0.2, 0.3, 0.9])
    means, p = beside_others(values, np.full(4, 1e-2))
    assert means == pytest.approx([(values.sum() - v) / 3 for v in values])
    assert np.argmin(p) == 3
