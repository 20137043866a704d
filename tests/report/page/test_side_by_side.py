"""Studies side by side, as the live page asks for them: every number is that of the line that is shown."""

from __future__ import annotations

from typing import Any

import pytest

import pedanova as pa
from helpers.groups import ODD, studies_of
from pedanova.errors import QueryError
from pedanova.report.live.session import Session

FAST: dict[str, Any] = {"estimator": "counts", "draws": 50}
BRUSHED = {"selection": {"lr": {"range": [0.1, 0.95]}}, "target": {"part": [0, 0.2]}}


def session_of(a: pa.Analysis, **options: Any) -> Session:
    return Session.of(a, "", (0.1, 1.0), {**FAST, **options}, group="dataset")


@pytest.mark.slow
@pytest.mark.parametrize("question", [{}, BRUSHED, BRUSHED | {"good": "selection"}, {"region": {"part": [0, 0.5]}}])
def test_numbers_are_those_of_the_line_and_of_each_study_alone(question: dict[str, Any]) -> None:
    a = studies_of(rows=100)
    session = session_of(a)
    found = session.ask({"part": "groups", "question": question})
    line: pa.Across = eval(found["lines"]["python"], {"pa": pa, "a": a})
    assert [(row["parameter"], row["share"], row["low"]) for row in found["parameters"]] == [
        (row.name, row.share, row.low) for row in line.rows
    ]
    assert [study["name"] for study in found["studies"]] == list(line.answers)
    for study in found["studies"]:
        asked = question | {"study": {"column": "dataset", "name": study["name"]}}
        alone = session.ask({"part": "answer", "question": asked})
        assert alone["importances"] == study["importances"]
        mine = eval(alone["lines"]["python"], {"pa": pa, "a": a})
        assert [row.share for row in mine.rows] == [row["share"] for row in study["importances"]]


def test_a_study_brings_where_its_own_objective_lies() -> None:
    a = studies_of()
    session = session_of(a)
    whole = session.facts()["objective"]["reached"]
    own = session.ask({"part": "answer", "question": {"study": {"column": "dataset", "name": ODD}}})["about"]
    assert own["objective"]["reached"][-1][0] < 1 < whole[-1][0]
    assert "about" not in session.ask({"part": "answer", "question": {}})


def test_two_studies_are_compared() -> None:
    a = studies_of(rows=200)
    ask = {"study": {"column": "dataset", "name": ODD}}, {"study": {"column": "dataset", "name": "task 001"}}
    found = session_of(a).ask({"part": "difference", "question": ask[0], "other": ask[1]})
    rows = {row["parameter"]: row for row in found["rows"]}
    studies = a.groups("dataset")
    assert rows["lr"]["share"] == studies[ODD].importance(**FAST)["lr"].share
    assert rows["lr"]["other"] == studies["task 001"].importance(**FAST)["lr"].share
    assert rows["lr"]["clear"]


@pytest.mark.slow
def test_of_many_some_are_shown_with_intervals_and_the_rest_is_counted() -> None:
    a = studies_of(studies=30, rows=60)
    session = session_of(a, estimator="auto", draws=20)
    found = session.ask({"part": "groups", "question": {}, "order": "disagreement", "limit": 3})
    assert found["total"] == 30
    assert found["studies"][0]["name"] == ODD
    assert all(row["low"] is not None for study in found["studies"] for row in study["importances"])
    assert "estimator='counts'" in found["lines"]["python"]
    assert found["notes"][0].startswith("plain counts answer in all 30 studies")
    assert session.ask({"part": "groups", "question": {}, "limit": 0})["studies"] == []


@pytest.mark.parametrize(
    ("study", "said"),
    [
        ({"column": "dataset", "name": "lettr"}, "letter"),
        ({"column": "lr", "name": "0.5"}, "not the column of the studies"),
        ({"column": "dataset"}, "must be"),
        ("letter", "must be"),
    ],
)
def test_a_study_that_is_none_is_refused(study: object, said: str) -> None:
    with pytest.raises(QueryError, match=said):
        session_of(studies_of()).ask({"part": "answer", "question": {"study": study}})


def test_a_table_without_studies_says_so() -> None:
    found = Session(studies_of(), options=FAST).ask({"part": "groups", "question": {}})
    assert "--group" in found["refused"]
