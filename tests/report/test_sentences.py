"""What the numbers say: what matters most first, with its interval, one percentage for one thing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pedanova as pa
from helpers.common import COUNTS
from pedanova.base.digits import percent
from pedanova.measures.importance import Importances, ranked
from pedanova.report.sentences import contrast
from pedanova.results import Importance


@pytest.fixture(scope="module")
def a() -> pa.Analysis:
    random = np.random.default_rng(0)
    table = {name: random.random(1000) for name in ("first", "second", "third", "noise")}
    loss = 3 * np.abs(table["first"] - 0.3) + 2 * table["second"] + table["third"]
    return pa.analyze(table, loss)


def test_the_headline_leads_with_the_share_and_its_interval(a: pa.Analysis) -> None:
    found = a.importance(estimator="counts", draws=200)
    first, second = found.rows[:2]
    words = f"{first.name} matters most for whether a trial is in the best 10 %: its importance is"
    assert found.headline().startswith(f"{words} {percent(first.share)} (")
    text = found.summary()
    assert text.startswith(found.headline())
    assert f"Its good values: {found.good[first.name]}." in text
    assert f"{second.name} ({percent(second.share)})" in text
    assert text.endswith("noise has no clear effect (~).")


def test_the_conclusion_leads_everywhere(a: pa.Analysis) -> None:
    found = a.importance(estimator="counts", draws=200)
    words, said = (" ".join(text.split()) for text in (str(found).partition("\n\n")[0], found.summary()))
    assert words == f"{said} Next: .reduce() suggests a smaller search space."
    assert found.summary() in found._repr_html_()


def test_good_values_are_those_of_the_densities(a: pa.Analysis) -> None:
    found = a.importance(estimator="counts", draws=200)
    assert set(found.good) == {row.name for row in found.rows if row.significant}
    for name, words in found.good.items():
        assert words == " or ".join(good.words for good in a.densities(name, estimator="counts").good())
    assert a.importance(**COUNTS).good == {}


def test_an_answer_inside_a_region_names_it(a: pa.Analysis) -> None:
    text = a.importance(0.1, 0.5, estimator="counts", draws=200).headline()
    assert "for whether a trial among the best 50 % is in the best 10 %: its importance is" in text


@given(
    st.lists(st.text(min_size=1, max_size=200), min_size=3, max_size=3, unique=True),
    st.text(max_size=400),
    st.booleans(),
)
def test_a_headline_stays_short(names: list[str], target: str, significant: bool) -> None:
    """Whatever parameters and targets are called."""
    rows = [row_named(name, share, significant) for name, share in zip(names, (0.4, 0.2, 0.1), strict=True)]
    assert 0 < len(Importances(tuple(rows), target, "all rows", "region").headline()) <= 160


def row_named(name: str, share: float, significant: bool) -> Importance:
    numbers = {"raw_share": share, "divergence": 1.0, "variance": 0.1, "bandwidth": 0.0, "value": 1.0, "activity": 0.0}
    parts = {"value_share": share, "activity_share": 0.0, "low": share / 2, "high": 2 * share}
    counted = {"n_target": 100, "n_region": 1000, "p_adjusted": 0.01, "significant": significant}
    return Importance(name, share, share, **numbers, **parts, **counted)


def test_a_share_is_a_part() -> None:
    """Compared with a uniform draw, counts can give more than the whole; the ratios stay."""
    rows = ranked([row_named("x", 1.7, True), row_named("y", 0.34, True), row_named("z", -0.02, False)])
    assert [row.share for row in rows] == [1.0, pytest.approx(0.2), 0.0]
    assert [row.ratio for row in rows] == [pytest.approx(1.7 / 2.04), pytest.approx(0.34 / 2.04), 0.0]
    assert all(0.0 <= row.low <= row.share <= row.high <= 1.0 for row in rows)


def test_nothing_is_called_nothing() -> None:
    random = np.random.default_rng(3)
    a = pa.analyze({"x": np.tile(np.arange(5), 400)}, random.random(2000), params=["x"])
    found = a.importance(**COUNTS)
    assert found.headline() == "No parameter clearly affects whether a trial is in the best 10 %."
    assert found.summary().startswith(found.headline())
    assert "run more trials" in str(found)


def test_parts_of_the_total_are_called_so(a: pa.Analysis) -> None:
    wide, narrow = a.importance(0.5, **COUNTS), a.importance(0.1, 0.5, **COUNTS)
    text = contrast(wide, narrow)
    assert text.startswith("Among the best 50 %")
    assert "of the sum of all importances" in text or "almost the same" in text
