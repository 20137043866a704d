"""How two answers differ, and how surely."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pedanova as pa
from pedanova.errors import QueryError
from pedanova.measures.importance import Importance, Importances
from pedanova.measures.studies.study_difference import Difference, Differences, recovered
from pedanova.measures.studies.study_difference import difference_of_answers as difference

SHARES = st.tuples(*(st.floats(0, 1) for _ in range(3))).map(sorted)


def row(name: str, low: float | None, share: float, high: float | None) -> Importance:
    blank = dict.fromkeys(("ratio", "raw_share", "divergence", "variance", "bandwidth", "value", "activity"), 0.0)
    blank |= {"value_share": 0.0, "activity_share": 0.0}
    return Importance(name=name, share=share, low=low, high=high, n_target=10, n_region=100, **blank)


def table(*rows: Importance) -> Importances:
    return Importances(rows, "target", "region", "region")


def wilson(hits: int, rows: int) -> tuple[float, float, float]:
    """A 95 % interval of a proportion around it."""
    part, z = hits / rows, 1.959964
    middle, reach = part + z**2 / (2 * rows), z * (part * (1 - part) / rows + z**2 / (4 * rows**2)) ** 0.5
    return (middle - reach) / (1 + z**2 / rows), part, (middle + reach) / (1 + z**2 / rows)


def study(rows: int = 1200, seed: int = 0) -> pa.Analysis:
    """Weight decay matters with adam alone."""
    rng = np.random.default_rng(seed)
    decay, width, adam = rng.uniform(0, 1, rows), rng.uniform(0, 1, rows), rng.random(rows) < 0.5
    y = np.where(adam, 2 * decay, 0.0) + width + rng.normal(0, 0.2, rows)
    data = {"decay": decay, "width": width, "optimizer": np.where(adam, "adam", "sgd")}
    return pa.analyze(data, y)


def test_the_published_example_of_the_method() -> None:
    """Two proportions, 56/70 and 48/80, by Wilson intervals: Newcombe's method 10 (Statistics in Medicine 17, 1998,
    table II, contrast a) is the same construction."""
    one, two = (row("x", *wilson(*counts)) for counts in ((56, 70), (48, 80)))
    found = recovered(one, two)
    assert found.difference == pytest.approx(0.2)
    assert found.low == pytest.approx(0.0524, abs=5e-5)
    assert found.high == pytest.approx(0.3339, abs=5e-5)


@given(SHARES, SHARES)
def test_turned_round_it_is_the_same_with_the_other_sign(one: list[float], two: list[float]) -> None:
    there, back = recovered(row("x", *one), row("x", *two)), recovered(row("x", *two), row("x", *one))
    assert there.difference == -back.difference
    assert (there.low, there.high) == (-back.high, -back.low)  # type: ignore[operator]
    assert there.low <= there.difference <= there.high  # type: ignore[operator]


@given(SHARES, st.floats(0, 1))
def test_held_against_what_is_known_exactly_it_is_the_interval_itself(one: list[float], known: float) -> None:
    found = recovered(row("x", *one), row("x", known, known, known))
    assert found.low == pytest.approx(one[0] - known, abs=1e-12)
    assert found.high == pytest.approx(one[2] - known, abs=1e-12)


@given(SHARES, SHARES)
def test_it_is_narrower_than_the_gap_of_the_ends_and_wider_than_each(one: list[float], two: list[float]) -> None:
    found = recovered(row("x", *one), row("x", *two))
    width = found.high - found.low  # type: ignore[operator]
    widths = one[2] - one[0], two[2] - two[0]
    assert max(widths) - 1e-9 <= width <= sum(widths) + 1e-9


def test_an_answer_differs_from_itself_in_nothing() -> None:
    found = study().importance(draws=50)
    same = difference(found, found)
    assert all(one.difference == 0 and not one.clear for one in same.rows)
    assert same.summary() == "No importance clearly differs between A and B."


def test_what_matters_with_adam_alone_is_found() -> None:
    a = study()
    adam, sgd = (a.within({"optimizer": [name]}).importance(0.2) for name in ("adam", "sgd"))
    found = difference(adam, sgd)
    assert found.rows[0].name == "decay"
    assert found["decay"].clear
    words = found.summary()
    assert words.startswith("decay matters more in A than in B: +")
    assert " to " in words
    assert difference(sgd, adam).summary().startswith("decay matters less in A")


def test_without_draws_there_is_no_interval_and_no_claim() -> None:
    a = study(400)
    found = difference(a.importance(draws=0), a.within("optimizer == 'adam'").importance(draws=0))
    assert all(one.low is None and not one.clear for one in found.rows)
    assert found.summary() == ""


def test_it_prints_and_is_a_table() -> None:
    rows = (
        Difference("x", 0.5, 0.25, 0.25, 0.1, 0.4, 0.6, 0.5, 0.1),
        Difference("y", 0.1, 0.2, -0.1, -0.3, 0.1, 0.4, 0.5, -0.1),
    )
    found = Differences(rows)
    columns = found.to_dict()
    wanted = {
        "parameter": ["x", "y"], "share": [0.5, 0.1], "other": [0.25, 0.2], "difference": [0.25, -0.1],
        "low": [0.1, -0.3], "high": [0.4, 0.1], "clear": [True, False], "p_adjusted": [None, None],
    }  # fmt: skip
    assert {name: columns[name] for name in wanted} == wanted
    assert "+25 %" in str(found)
    assert "10 to 40 %" in str(found)
    assert "−30 to 10 %" in str(found)


def test_only_answers_of_the_same_kind_are_compared() -> None:
    found = table(row("x", 0.1, 0.2, 0.3))
    with pytest.raises(QueryError, match="baselines differ"):
        difference(found, replace(found, baseline="uniform"))
    with pytest.raises(QueryError, match="can be compared, not Importances and dict"):
        pa.difference(found, {"x": 1})  # type: ignore[call-overload]
    assert len(difference(found, table(row("y", 0.1, 0.2, 0.3)))) == 0
