"""Tables, questions, arguments and options made at random: answered, or refused in one line, without a warning."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields
from inspect import Parameter, isfunction, signature
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import pedanova
from helpers.common import COUNTS
from helpers.tools import tame
from pedanova.analysis.options import AnalyzeOptions, nested
from pedanova.data.options import Reading, Scan
from pedanova.measures.question import How


def analyze(data: object, objective: object, **options: Any) -> pedanova.Analysis:
    return pedanova.analyze(data, objective, **{"scan": pedanova.Scan(threads=1), **options})


ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.sampled_from([10**5000, 10**400, 2**63, -(2**63), 2**64 - 1, 0, 1, 1.0]),
    st.floats(allow_nan=True, allow_infinity=True),
    st.text(max_size=4),
    st.binary(max_size=3),
    st.decimals(),
    st.fractions(),
    st.dates(),
    st.datetimes(),
    st.timedeltas(),
    st.complex_numbers(),
    st.lists(st.integers(0, 3), max_size=2),
    st.sampled_from([pd.NA, pd.NaT, np.nan, np.float32(1.5), np.datetime64("NaT"), np.bool_(True), np.ma.masked]),
)
EXTREME = st.sampled_from([1e308, -1e308, 1.7e308, np.inf, -np.inf, np.nan, 5e-324, 1e200, 1e-200, 0.0, 1.0])
WHOLE = st.integers(-(2**70), 2**70)
ONE_KIND = st.sampled_from(
    [st.floats(), EXTREME, WHOLE, st.integers(0, 3), st.booleans(), st.text(max_size=2), st.dates()]
)


@st.composite
def odd_tables(draw: st.DrawFn) -> dict[str, list[object]]:
    rows = draw(st.integers(0, 14))
    names = draw(st.lists(st.sampled_from(["x", "id", "time", "", "a b", "é"]), max_size=4, unique=True))
    kinds = st.one_of(st.just(ODD), ONE_KIND.map(lambda kind: st.one_of(st.none(), kind)), ONE_KIND)
    objectives = st.one_of(st.just(st.floats()), st.just(st.integers(-9, 9)), kinds)
    chosen = [*(draw(kinds) for _ in names), draw(objectives)]
    columns = [draw(st.lists(kind, min_size=rows, max_size=rows)) for kind in chosen]
    return dict(zip([*names, "y"], columns, strict=True))


SLOW, WRITING = {"compare"}, {"save", "report", "explore", "widget"}  # a forest; files and pages
QUESTIONS = [name for name, one in vars(pedanova.Analysis).items() if name[0] != "_" and isfunction(one)]
QUESTIONS = [name for name in QUESTIONS if name not in SLOW | WRITING]
NEEDED = {"first": 9, "groups": "x", "alone": "y", "within": "x < 1e308", "along": "time"}
OPTIONS = [one.name for kind in (AnalyzeOptions, Reading, Scan) for one in fields(kind)]
SHAPES: list[object] = [
    np.arange(3), np.zeros((2, 2)), np.array(["x", "y"]), np.array(5.0), np.arange(40) < 9, pd.Series([1, 2]),
    pl.Series([1.0]), {}, {"x": 1}, {"x": (0, 1)}, {"x": np.ones(2)}, object(), len, slice(2), "x", "y", "kind",
    "x > 0.5", "y < 1e400", "kind == 'b'", "all", ["x"], ("x", "kind"), ["x", "x"], pedanova.at_most(1e308),
    pedanova.between(0.1, 0.2),
]  # fmt: skip
ARGUMENTS = ODD | st.sampled_from(SHAPES)


def in_full(answer: Any) -> None:
    """All forms of an answer."""
    for one in answer.values() if isinstance(answer, dict) else [answer]:
        str(one)
        if hasattr(one, "to_csv"):
            json.dumps(one.to_dict(), allow_nan=False)
            one.to_csv()
            one._repr_html_()


@settings(max_examples=250)
@example(table={"x": [None, None], "id": [0.0, 1.7976931348623157e308], "y": [0.0, 0.0]}, nan="drop", kind=dict, ask="")
@example(table={"é": [0] * 10 + [2], "y": [0.0] * 11}, nan="drop", kind=dict, ask="effects")
@example(table={"x": [1.0, 2.0] * 12, "y": [1e308, -1e308] * 12}, nan="drop", kind=dict, ask="next_trials")
@example(table={"x": [-(10**5000), 1, 2], "y": [0.0, 1.0, 2.0]}, nan="drop", kind=dict, ask="")
@example(table={"epoch": [], "y": []}, nan="drop", kind=dict, ask="")
@given(
    table=odd_tables(),
    nan=st.sampled_from(["drop", "worst"]),
    kind=st.sampled_from([dict, pd.DataFrame]),
    ask=st.sampled_from(QUESTIONS),
)
def test_any_table_is_counted_or_refused(
    table: dict[str, list[object]], nan: str, kind: Callable[[Any], Any], ask: str
) -> None:
    def answered() -> None:
        found = analyze(kind(table), "y", reading=pedanova.Reading(nan=nan))
        rows = len(table["y"]) - found.data.dropped
        assert all(tally.rows == rows for tally in found.data.tallies.values())
        found.importance(0.3, **COUNTS)
        found.profile()
        if ask:
            in_full(getattr(found, ask)(*([NEEDED[ask]] if ask in NEEDED else [])))

    tame(answered)


@pytest.fixture(scope="module")
def asked() -> pedanova.Analysis:
    steps = np.arange(40)
    x = steps * 7 % 40 / 40
    table = {"x": x, "kind": np.array(["a", "b", "c"])[steps % 3], "seed": steps % 4, "time": steps % 5}
    return analyze(table | {"y": x**2 + steps % 3}, "y", exclude=["seed", "time"])


@settings(max_examples=150)
@given(data=st.data())
def test_any_argument_of_any_question_is_used_or_refused(asked: pedanova.Analysis, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(QUESTIONS))
    parameters = [one for one in signature(getattr(pedanova.Analysis, name)).parameters.values() if one.name != "self"]
    kinds = {one.name: one.kind for one in parameters if one.kind is not Parameter.VAR_KEYWORD}
    more = dict.fromkeys(How.__annotations__ if len(kinds) < len(parameters) else (), Parameter.KEYWORD_ONLY)
    argument, value = data.draw(st.sampled_from(sorted(kinds | more))), data.draw(ARGUMENTS)
    if argument == "draws" and isinstance(value, int) and value > 100:
        return  # allowed, and slow
    several = (kinds | more)[argument] is Parameter.VAR_POSITIONAL
    rest = {} if several or argument in ("rows", "column", "objective") else {argument: value}
    tame(lambda: in_full(getattr(asked, name)(*([] if rest else [value]), **rest)))


@settings(max_examples=150)
@given(name=st.sampled_from(OPTIONS), value=ARGUMENTS)
def test_any_option_is_used_or_refused(asked: pedanova.Analysis, name: str, value: object) -> None:
    tame(lambda: str(pedanova.analyze({"x": [1, 2, 3], "y": [3, 1, 2]}, "y", **nested({"threads": 1} | {name: value}))))
