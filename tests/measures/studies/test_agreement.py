"""Rankings held against each other, and how surely."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.rankings import answer
from pedanova.measures.studies.agreement import agreement_of, spearman

THREE = {"a": 0.3, "b": 0.2, "c": 0.1, "d": 0.05}


def test_spearman_is_that_of_scipy() -> None:
    from scipy.stats import spearmanr

    rng = np.random.default_rng(0)
    one, other = rng.integers(0, 5, (50, 7)).astype(float), rng.random((50, 7))
    one[:, 0] = np.arange(50) + 9.0  # no row is constant
    expected = [spearmanr(x, y).statistic for x, y in zip(one, other, strict=True)]
    np.testing.assert_allclose(spearman(one, other), expected, atol=1e-12)


@settings(max_examples=30)
@given(st.permutations([0.4, 0.3, 0.2, 0.1, 0.05]))
def test_a_ranking_agrees_with_itself_and_is_turned_by_its_reverse(shares: list[float]) -> None:
    mine = answer(dict(zip("abcde", shares, strict=True)), reach=0.001)
    found = agreement_of(mine, mine, draws=100)
    assert (found.spearman, found.low, found.high, found.verdict) == (1.0, 1.0, 1.0, "same")
    other = agreement_of(answer({row.name: 0.45 - row.share for row in mine.rows}, reach=0.001), mine, draws=100)
    assert other.spearman == pytest.approx(-1.0)
    assert other.verdict == "other"
    assert len(other.turned) == 10  # every pair


def test_what_is_noise_in_both_is_tied() -> None:
    noise = ("x", "y", "z")
    one = answer(THREE | {"x": 0.004, "y": 0.003, "z": 0.002}, noise=noise)
    two = answer(THREE | {"x": 0.002, "y": 0.003, "z": 0.004}, noise=noise)
    assert agreement_of(one, two).spearman == 1.0
    assert agreement_of(one, answer(THREE | {"x": 0.002, "y": 0.003, "z": 0.004})).spearman < 1.0


def test_wide_intervals_cannot_tell() -> None:
    sure, unsure = (agreement_of(answer(THREE, reach), answer(THREE, reach)) for reach in (0.01, 0.5))
    assert sure.verdict == "same"
    assert unsure.spearman == 1.0
    assert unsure.low < sure.low
    assert unsure.verdict == "unsure"


def test_without_a_ranking_there_is_nothing_to_agree_with() -> None:
    one = answer(THREE)
    for other in (answer(THREE, noise=tuple(THREE)), answer({"a": 0.3})):
        found = agreement_of(one, other)
        assert (found.spearman, found.verdict) == (None, "unsure")
    plain = agreement_of(answer(THREE, reach=None), answer(THREE, reach=None))
    assert (plain.spearman, plain.low, plain.verdict) == (1.0, None, "unsure")


def test_the_same_seed_gives_the_same_numbers() -> None:
    shares = {letter: 0.01 * place for place, letter in enumerate("abcdefghijkl", start=1)}
    one, two = answer(shares, 0.1), answer(shares, 0.05)
    assert agreement_of(one, two, seed=3) == agreement_of(one, two, seed=3)
    assert agreement_of(one, two, seed=3) != agreement_of(one, two, seed=4)
