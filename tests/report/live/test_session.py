"""Somebody who answers a page, without any server."""

from __future__ import annotations

import gc
import json
from contextlib import suppress
from threading import Barrier, Thread
from typing import Any
from weakref import ref

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pedanova as pa
from pedanova.errors import PedanovaError, QueryError
from pedanova.measures.question import Question
from pedanova.measures.questions.ask import importance_of
from pedanova.report.live.session import PageRequest, Session
from pedanova.report.page.cards import CARDS

SELECTED = {"selection": {"lr": {"range": [1e-4, 1e-2]}, "optimizer": {"labels": ["adam", "sgd"]}}}
EXTRAS: dict[str, dict[str, Any]] = {
    "plane": {"first": "lr", "second": "momentum"},
    "points": {"x": "lr", "y": "momentum"},
    "difference": {"other": {}},
}


def study(rows: int = 400, seed: int = 0) -> pa.Analysis:
    rng = np.random.default_rng(seed)
    lr, momentum = 10 ** rng.uniform(-5, -1, rows), rng.uniform(0, 1, rows)
    optimizer = np.array(["adam", "sgd", "<script>alert(1)</script>"])[rng.integers(0, 3, rows)]
    loss = (np.log10(lr) + 3) ** 2 + momentum * (optimizer == "adam") + rng.normal(0, 0.3, rows)
    return pa.analyze({"lr": lr, "momentum": momentum, "optimizer": optimizer, "loss": loss}, "loss")


@pytest.fixture(scope="module")
def a() -> pa.Analysis:
    return study()


@pytest.fixture
def session(a: pa.Analysis) -> Session:
    return Session(a.data, options={"estimator": "counts", "draws": 50}, source="trials.csv --objective loss")


@pytest.mark.parametrize("part", [card.name for card in CARDS if card.answer is not None])
def test_every_part_is_answered_in_plain_json(session: Session, part: str) -> None:
    found = session.ask({"part": part, "question": SELECTED, **EXTRAS.get(part, {})})
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found["version"] == 1
    if part not in (
        "objectives",
        "along",
        "groups",
        "curves",
    ):  # there is one, at one budget, of one study, at one step
        assert found["refused"] is None


def test_python_and_the_page_share_an_answer_which_does_not_keep_the_data() -> None:
    a = study(120)
    session = Session(a.data)
    session.ask({"part": "answer", "question": {}})
    assert importance_of(a.data, session.start) is importance_of(a.data, Question())
    assert a.importance().rows is importance_of(a.data, Question()).rows
    data = ref(a.data)
    del a, session
    gc.collect()
    assert data() is None


def test_every_card_is_registered_once_and_the_session_answers_news_alone() -> None:
    names = [card.name for card in CARDS]
    assert len(names) == len(set(names))
    assert [card.name for card in CARDS if card.answer is None] == ["news"]


def test_an_answer_says_what_python_says(session: Session, a: pa.Analysis) -> None:
    found = session.ask({"part": "answer", "question": SELECTED})
    table = eval(found["lines"]["python"], {"a": a, "pa": pa})
    assert {row["parameter"]: row["share"] for row in found["importances"]} == {
        name: row.share for name, row in table.items()
    }
    assert found["lines"]["shell"].startswith("pedanova analyze trials.csv --objective loss --within ")


def test_the_same_question_is_answered_once(session: Session) -> None:
    one = session.ask({"part": "answer", "question": SELECTED, "client": "one"})
    two = session.ask({"part": "answer", "question": dict(reversed(SELECTED.items())), "client": "two"})
    assert one["importances"] is two["importances"]


def test_several_threads_get_the_same_answers(a: pa.Analysis) -> None:
    session, start, found = Session(a.data, options={"estimator": "counts", "draws": 0}), Barrier(8), {}

    def ask(i: int) -> None:
        start.wait()
        question = {"selection": {"lr": {"range": [1e-5 * (i % 4 + 1), 1e-2]}}}
        found[i] = session.ask({"part": "answer", "question": question, "sure": i % 2 == 0})

    threads = [Thread(target=ask, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    alone = Session(study().data, options={"estimator": "counts", "draws": 0})
    for i, answer in found.items():
        question = {"selection": {"lr": {"range": [1e-5 * (i % 4 + 1), 1e-2]}}}
        assert answer == alone.ask({"part": "answer", "question": question, "sure": i % 2 == 0})


def test_a_newer_analysis_takes_over_and_says_what_changed(session: Session) -> None:
    before = session.ask({"part": "answer", "question": {}})
    assert session.renew(study(500).data, ["100 trials were added"]) == 2
    after = session.ask({"part": "answer", "question": {}})
    assert (before["version"], after["version"]) == (1, 2)
    assert (before["rows"]["selected"], after["rows"]["selected"]) == (400, 500)
    news = session.ask({"part": "news", "since": 1})
    assert news["changes"] == [{"version": 2, "rows": 500, "text": "100 trials were added"}]
    assert session.ask({"part": "news", "since": 2})["changes"] == []


def test_facts_say_what_can_be_asked(session: Session, a: pa.Analysis, tmp_path: Any) -> None:
    facts = session.facts()
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    assert all(able is True for able in facts["ask"].values())
    a.save(tmp_path / "kept.pedanova", rows=False)
    kept = Session(pa.load(tmp_path / "kept.pedanova").data).facts()["ask"]
    assert kept["answer"] is True
    assert "no longer has" in kept["brush"]


def test_too_few_good_rows_are_refused_in_words_and_drawn(session: Session) -> None:
    best = session.analysis.reach(0.01)[0]
    found = session.ask({"part": "answer", "question": {"target": {"value": [None, best]}}})
    assert "at least 5" in found["refused"]
    assert found["rows"]["target"] == 4
    assert set(found["densities"]) == {"lr", "momentum", "optimizer", "loss"}
    none = session.ask({"part": "answer", "question": {"selection": {"lr": {"range": [5, 6]}}}})
    assert "has 0 rows" in none["refused"]


WORDS = ["lr", "optimizer", "adam", "answer", "target", "part", "value", "range", "labels", "all", "x", "y"]
ASKED = ["sure", "names", "first", "second", "x", "y", "limit", "offset", "sort", "parts", "since", "client", "other"]
KEYS = ["target", "region", "selection", "good", "baseline", "of", "other"]
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=8)
    | st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=3),
    max_leaves=8,
)
QUESTIONS = st.dictionaries(st.sampled_from(KEYS), JSON, max_size=4)
REQUESTS = st.dictionaries(st.sampled_from(ASKED), JSON, max_size=3)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(sorted(card.name for card in CARDS)), QUESTIONS, REQUESTS)
def test_whatever_is_sent_is_answered_or_refused(a: pa.Analysis, part: str, question: Any, request: Any) -> None:
    session, found = Session(a.data, options={"estimator": "counts", "draws": 0}), None
    with suppress(QueryError):
        found = session.ask({**request, "part": part, "question": question})
    assert json.dumps(found, allow_nan=False)


@given(JSON)
def test_what_is_no_request_is_refused(a: pa.Analysis, data: Any) -> None:
    with pytest.raises(PedanovaError):
        PageRequest.parse([data], a.space, Question())
