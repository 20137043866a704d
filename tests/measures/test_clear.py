"""What counts as a clear effect: number, interval and p-value agree, and what is said if no effect is clear."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pedanova as pa
from pedanova.measures.clear import chance_of_first, low_of, trials_to_settle
from pedanova.measures.importance import Importance, Importances

PARTS = st.floats(0, 1)


def row_of(name: str, share: float, p: float, high: float) -> Importance:
    zero = dict.fromkeys(("variance", "bandwidth", "value", "activity", "value_share", "activity_share"), 0.0)
    row = Importance(name, share, share, raw_share=share, divergence=0.0, n_target=10, n_region=100, **zero)
    return replace(row, low=0.0, high=high, p_value=p, p_adjusted=min(1.0, 3 * p), significant=False)


def words_of(*rows: Importance) -> str:
    return Importances(rows, "the best 10 %", "all rows", "region").summary().replace("\u00a0", " ")


@given(PARTS, PARTS, PARTS, PARTS)
def test_the_interval_of_a_clear_effect_agrees_with_its_p_value(low: float, effect: float, p: float, q: float) -> None:
    low = min(low, effect)
    assert low <= low_of(low, effect, p) <= effect
    assert low_of(low, effect, min(p, q)) >= low_of(low, effect, max(p, q))
    assert low_of(low, effect, 1.0) == low
    assert low_of(0.0, 0.005, min(p, 0.04)) > 0.0


def test_rows_do_not_contradict_themselves() -> None:
    """The interval of a clear effect begins above 0, and every other interval at 0."""
    clear = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        rows = 60 + 10 * seed
        columns = {name: rng.random(rows) for name in "abcd"}
        loss = (1 + seed / 4) * columns["a"] + np.floor(3 * columns["b"]) / 3 + rng.normal(size=rows)
        for row in pa.analyze(columns, loss, direction="min").importance().rows:
            clear += row.significant is True
            assert row.low is not None
            assert row.high is not None
            assert (row.low > 0.0) == row.significant
            assert row.low <= max(row.share, 0.0) <= row.high
    assert clear > 5


def test_probabilities_of_the_first_add_up() -> None:
    rows = [row_of("a", 0.1, 0.1, 0.4), row_of("b", 0.05, 0.3, 0.3), row_of("c", 0.0, 0.9, 0.1)]
    chances = [chance_of_first(rows, place) for place in range(3)]
    assert sum(chances) == pytest.approx(1.0, abs=0.02)
    assert chances == sorted(chances, reverse=True)


def test_an_answer_without_a_clear_effect_says_what_is_likely() -> None:
    rows = (row_of("a", 0.1, 0.02, 0.3), row_of("b", 0.05, 0.3, 0.2), row_of("c", 0.0, 0.9, 0.06))
    words = words_of(*rows)
    assert words.startswith("No parameter clearly affects whether")
    said = re.search(r"important: a (\d+) %, b (\d+) % and c ([\d.]+) %. With c left alone, .* is ([\d.]+) %", words)
    assert said is not None
    assert said[3] == said[4]
    assert "further trials would make an effect clear" in words
    assert (trials_to_settle(rows[:1]) or 0) < (trials_to_settle(rows[1:2]) or 0)
    assert trials_to_settle([row_of("x", 0.0, 1.0, 0.1)]) is None


def test_a_large_share_is_never_called_no_clear_effect() -> None:
    large, small = row_of("x", 0.4, 0.03, 0.9), row_of("y", 0.01, 0.6, 0.1)
    clear = replace(row_of("z", 0.1, 1e-4, 0.2), low=0.01, significant=True)
    for rows in ((large, small), (large, clear, small)):
        words = words_of(*rows)
        assert re.search(r"x[^.]* not certain yet", words)
        assert not re.search(r"x[^.]* no clear effect|No parameter clearly", words)


def test_the_said_probability_of_the_first_is_about_true() -> None:
    """Weak effects: in answers without a clear effect, the likeliest parameter is the first as often as said."""
    said, right = [], []
    for seed in range(40):
        rng = np.random.default_rng([seed, 3])
        columns = {name: rng.random(60) for name in "abcd"}
        loss = 2.0 * columns["a"] + 0.5 * columns["b"] + rng.normal(size=60)
        rows = pa.analyze(columns, loss, space=dict.fromkeys("abcd", pa.Float(0, 1)), direction="min").importance().rows
        if not any(row.significant for row in rows):
            chances = [chance_of_first(rows, place) for place in range(4)]
            said.append(max(chances))
            right.append(rows[int(np.argmax(chances))].name == "a")
    assert len(said) > 8
    assert abs(np.mean(said) - np.mean(right)) < 0.25
