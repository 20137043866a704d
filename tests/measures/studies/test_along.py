"""Importance along a budget, and how far two rankings agree."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.rankings import answer
from pedanova.errors import UnknownParameterError
from pedanova.measures.studies.budgets import Along, TooFew, agreement_of, along_of
from pedanova.measures.studies.pooling import spearman

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
    found = agreement_of(mine, mine)
    assert (found.spearman, found.low, found.high, found.verdict) == (1.0, 1.0, 1.0, "same")
    other = agreement_of(answer({row.name: 0.45 - row.share for row in mine.rows}, reach=0.001), mine)
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


FULL = {"a": 0.3, "b": 0.2, "c": 0.1, "d": 0.05}
OTHER = {"a": 0.05, "b": 0.1, "c": 0.2, "d": 0.3}
WORDS = ("the best 10 %", "all rows")


def told(*steps: tuple[float, dict[str, float]], reach: float | None = 0.001, **more: object) -> Along:
    answers = [(budget, 300, answer(shares, reach)) for budget, shares in steps]
    return along_of("epochs", WORDS, answers, **more)


def test_the_change_is_where_it_is() -> None:
    found = told((1, OTHER), (3, OTHER), (9, FULL), (27, FULL))
    assert found.since == 9
    assert found.cost(found.steps[2]) == 9 / 27
    words = "At epochs 9 of 27 the ranking is already the same as at the full budget: Spearman 1.00, 1.00 … 1.00; "
    assert found.summary().replace("\u00a0", " ") == f"{words}this budget takes 33 % of the cost."


def test_one_later_budget_that_differs_ends_it() -> None:
    assert told((1, FULL), (3, OTHER), (9, FULL), (27, FULL)).since == 9
    assert told((1, FULL), (3, FULL), (9, OTHER), (27, FULL)).since is None


def test_every_case_has_its_words() -> None:
    assert "No lower budget gives the same ranking" in told((1, FULL), (9, OTHER), (27, FULL)).summary()
    assert "in the opposite order" in told((1, FULL), (9, OTHER), (27, FULL)).summary()
    assert "too few rows to say" in told((9, FULL), (27, FULL), reach=0.5).summary()
    assert "too few rows to say" in told((9, FULL), (27, FULL), reach=None).summary()
    assert "nothing can be compared" in told((27, FULL)).summary()
    assert "one parameter" in told((9, {"a": 0.3}), (27, {"a": 0.3})).summary()
    assert told((-5, FULL), (0, FULL)).summary().endswith("Spearman 1.00, 1.00 … 1.00.")  # no cost


def test_forms() -> None:
    found = told((1, OTHER), (9, FULL))
    columns = found.to_dict()
    assert columns["budget"] == [1] * 4 + [9] * 4
    assert columns["ranking"] == ["other"] * 4 + [None] * 4
    assert columns["parameter"] == ["d", "c", "b", "a", "a", "b", "c", "d"]
    assert found.header() == ["epochs", "rows", "a", "b", "c", "d", "Spearman", "95 % interval", "ranking"]
    assert [row.share for _, row in found.of("a")] == [0.05, 0.3]
    assert "by epochs" in found._repr_html_()
    with pytest.raises(UnknownParameterError):
        found.of("e")


def test_budgets_with_too_few_rows_are_told() -> None:
    few = [TooFew(float(budget), 4, "too few") for budget in (2, *range(30, 40))]
    found = told((1, OTHER), (9, FULL), left_out=few)
    assert found.left_out == tuple(few)
    assert any("epochs 2 (4 rows)" in note and "and 5 more" in note for note in found.notes)
    assert any("reference ranking is at epochs 9" in note for note in found.notes)


def test_survivors_are_told() -> None:
    answers = [(1.0, 300, answer(FULL)), (9.0, 80, answer(FULL))]
    assert any("80 of 300 trials reached epochs 9" in note for note in along_of("epochs", WORDS, answers).notes)
    assert not along_of("epochs", WORDS, answers, followed=False).notes
