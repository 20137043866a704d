"""What the numbers say: the first sentence short, the share first, one percentage for one thing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pedanova as pa
from helpers.common import COUNTS
from pedanova.base.digits import percent
from pedanova.measures.importance import Importances, beats_chance
from pedanova.report.sentences import contrast, headline, summarize
from pedanova.results import Importance


@pytest.fixture(scope="module")
def a() -> pa.Analysis:
    random = np.random.default_rng(0)
    table = {name: random.random(1000) for name in ("first", "second", "third", "noise")}
    loss = 3 * np.abs(table["first"] - 0.3) + 2 * table["second"] + table["third"]
    return pa.analyze(table, loss)


def test_the_headline_leads_with_the_share_and_its_interval(a: pa.Analysis) -> None:
    found = a.importance(estimator="counts", draws=200)
    text = headline(found)
    first = found.rows[0]
    assert text.startswith(f"{first.name} explains {percent(first.share)} (")
    assert percent(found.rows[1].share) in text
    assert "noise" not in text
    assert summarize(found).startswith(text)
    assert summarize(found).endswith("noise is not distinguishable from noise.")


@given(
    st.lists(st.text(min_size=1, max_size=200), min_size=3, max_size=3, unique=True),
    st.text(max_size=120),
    st.booleans(),
)
def test_a_headline_has_at_most_90_letters(names: list[str], target: str, significant: bool) -> None:
    """Whatever parameters and targets are called."""
    rows = [row_named(name, share, significant) for name, share in zip(names, (0.4, 0.2, 0.1), strict=True)]
    text = headline(Importances(tuple(rows), target, "all rows", "region"))
    assert 0 < len(text) <= 90


def row_named(name: str, share: float, significant: bool) -> Importance:
    numbers = {"raw_share": share, "divergence": 1.0, "variance": 0.1, "bandwidth": 0.0, "value": 1.0, "activity": 0.0}
    parts = {"value_share": share, "activity_share": 0.0, "low": share / 2, "high": min(1.0, 2 * share)}
    counted = {"n_target": 100, "n_region": 1000, "p_adjusted": 0.01, "significant": significant}
    return Importance(name, share, share, **numbers, **parts, **counted)


def test_a_share_that_is_no_part_is_not_told_as_one(a: pa.Analysis) -> None:
    row = row_named("x", 1.7, True)
    assert beats_chance(row)
    text = headline(Importances((row,), "the best 10 %", "all rows", "uniform"))
    assert "explains" not in text
    assert text.startswith("x leads")


def test_nothing_is_called_nothing() -> None:
    random = np.random.default_rng(3)
    a = pa.analyze({"x": np.tile(np.arange(5), 400)}, random.random(2000), params=["x"])
    found = a.importance(**COUNTS)
    assert headline(found) == "Nothing separates the best 10 % from the rest clearly better than chance would."
    assert summarize(found).startswith(headline(found))


def test_ratios_are_called_ratios(a: pa.Analysis) -> None:
    wide, narrow = a.importance(0.5, **COUNTS), a.importance(0.1, 0.5, **COUNTS)
    assert contrast(wide, narrow).startswith(("Once inside the best 50 %, the ratio of ", "Inside the best 50 %"))
