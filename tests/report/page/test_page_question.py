"""Questions of the page: what is understood, what is refused, and that nothing is lost on the way."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pedanova as pa
from pedanova.data.regions import Region
from pedanova.errors import QueryError
from pedanova.measures.question import Question
from pedanova.report.page.page_question import box_of, labels_by_text, parse_question, question_to_json

SPACE = pa.Space(
    {
        "lr": pa.Float(1e-5, 1, log=True),
        "layers": pa.Int(1, 9),
        "optimizer": pa.Categorical(["adam", "sgd"]),
        "mixed": pa.Categorical(["1", 1]),
        "size": pa.Ordinal([8, 16, 64]),
        "speed": pa.Ordinal(["slow", "fast"]),
    }
)
ENDS = st.one_of(st.none(), st.floats(-1e9, 1e9))
SPAN = st.tuples(ENDS, ENDS).filter(lambda e: None in e or e[0] <= e[1]).map(lambda e: {"range": list(e)})  # type: ignore[operator]
SELECTION = st.fixed_dictionaries(
    {},
    optional={
        "lr": SPAN,
        "layers": SPAN,
        "size": SPAN,
        "optimizer": st.lists(st.sampled_from(["adam", "sgd"]), min_size=1, unique=True).map(lambda x: {"labels": x}),
        "speed": st.just({"labels": ["fast"]}),
    },
)
PART = st.sampled_from([0, 0.01, 0.1]).flatmap(lambda low: st.just({"part": [low, 0.5]}))
VALUE = st.floats(-9, 9).map(lambda end: {"value": [None, end]})


@given(st.fixed_dictionaries({"selection": SELECTION, "target": PART | VALUE}))
def test_nothing_is_lost_between_json_and_question(data: Any) -> None:
    asked = parse_question(data, SPACE)
    sent = question_to_json(asked, SPACE)
    again = parse_question(json.loads(json.dumps(sent)), SPACE)
    assert again == asked
    assert question_to_json(again, SPACE) == sent


def test_what_is_left_out_is_the_usual_question() -> None:
    asked = parse_question({}, SPACE)
    assert question_to_json(asked, SPACE) == question_to_json(Question(parts="all"), SPACE)
    assert asked.within == ()


def test_labels_that_look_alike_are_told_apart() -> None:
    known = labels_by_text(SPACE["mixed"])
    assert set(known) == {"'1'", "1"}
    asked = parse_question({"selection": {"mixed": {"labels": [next(iter(known))]}}}, SPACE)
    assert box_of(asked) == {"mixed": [next(iter(known.values()))]}


def test_an_open_band_is_all_rows() -> None:
    assert parse_question({"region": {"value": [None, None]}}, SPACE).region == Region.parse(1)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ([], "must be an object"),
        ({"where": "lr > 1"}, "is not part of a question"),
        ({"target": 0.1}, "must be"),
        ({"target": {"part": [0, 2]}}, "above 0 and at most 1|from 0 and at most 1"),
        ({"target": {"part": [0.3, 0.1]}}, "low must be below high"),
        ({"target": {"value": [2, 1]}}, "low end above its high end; swap them"),
        ({"target": {"value": ["a", 1]}}, "must be a number"),
        ({"target": {"value": [10**400, None]}}, "must be a number"),
        ({"target": {"part": [0, 0.1], "value": [0, 1]}}, "must be"),
        ({"selection": []}, "must be an object with parameters as keys"),
        ({"selection": {"depth": {"range": [0, 1]}}}, "depth"),
        ({"selection": {"lr": [0, 1]}}, "must be"),
        ({"selection": {"lr": {"range": [1, 0]}}}, "low end above its high end; swap them"),
        ({"selection": {"lr": {"range": [0, 1, 2]}}}, "must be"),
        ({"selection": {"lr": {"range": [True, None]}}}, "must be a number"),
        ({"selection": {"optimizer": {"labels": []}}}, "must be"),
        ({"selection": {"optimizer": {"labels": ["rmsprop"]}}}, "rmsprop"),
        ({"selection": {"optimizer": {"labels": [1]}}}, "1"),
        ({"selection": {"lr": {"labels": ["1"]}}}, "1"),
        ({"good": "some"}, "must be one of all, selection"),
        ({"baseline": "none"}, "must be one of"),
        ({"of": ["rows"]}, "must be one of"),
    ],
)
def test_what_is_not_understood_is_refused(data: Any, words: str) -> None:
    with pytest.raises(QueryError, match=words):
        parse_question(data, SPACE)


def test_a_refusal_does_not_repeat_all_that_was_sent() -> None:
    with pytest.raises(QueryError) as refused:
        parse_question({"target": "x" * 100_000}, SPACE)
    assert len(str(refused.value)) < 500
