"""Mean ranks over studies: Friedman's test against SciPy's, Nemenyi's difference, runs that are not told apart."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from pedanova.measures.studies.ranks import rank_agreement, rank_test, runs_within


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
    assert rank_agreement(one, 10 * one) == pytest.approx(1)
    assert rank_agreement(one, -one) == pytest.approx(-1)
    assert rank_agreement(one, np.zeros(4)) == 0
    assert rank_agreement(one, np.array([1.0, 3, 2, 4])) == pytest.approx(stats.spearmanr(one, [1, 3, 2, 4])[0])
