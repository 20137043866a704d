"""The answers in a file: those of the analysis, to the last digit, and no row."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import pedanova as pa
from helpers.common import refuse
from pedanova.errors import QueryError
from pedanova.report.page import answers
from pedanova.report.page.cards import Payload, payload_of
from pedanova.report.page.html import draw_page
from pedanova.report.page.page_question import parse_question, question_to_json

QUICK = {"estimator": "counts", "draws": 50, "reduce": False}
LADDER = [0.1, 0.5, 1.0]


@pytest.fixture
def a(trials: dict[str, np.ndarray]) -> pa.Analysis:
    return pa.analyze(trials, "loss")


def payload(a: pa.Analysis, **options: Any) -> Payload:
    made = payload_of(a.data, "title", options.pop("questions", ((0.1, 1.0),)), **{**QUICK, **options})
    text: Payload = json.loads(json.dumps(made, allow_nan=False))
    return text


def answered(made: Payload, part: str = "answer") -> list[dict[str, Any]]:
    return [one for one in made["answers"] if one["part"] == part]


def test_every_pair_is_answered_as_the_analysis_answers(a: pa.Analysis) -> None:
    made = payload(a, ladder=LADDER)
    asked = [(one["question"]["target"]["part"][1], one["question"]["region"]["part"][1]) for one in answered(made)]
    assert asked == [pair for pair in ((0.1, 0.5), (0.1, 1), (0.5, 1)) for _ in ("region", "uniform")]
    for one in answered(made):
        question, answer = one["question"], one["answer"]
        target, region = question["target"]["part"][1], question["region"]["part"][1]
        found = a.importance(target, region, question["baseline"], estimator="counts", draws=50)
        assert answer["importances"] == answers.importance_rows(found.rows)
        assert [row["parameter"] for row in answer["importances"]] == list(found)
        assert answer["notes"] == list(found.notes)
        assert answer["rows"] == {"selected": 400, "region": found.rows[0].n_region, "target": found.rows[0].n_target}
        assert question_to_json(parse_question(question, a.space), a.space) == question


def test_a_brief_file_has_the_intervals_of_its_first_question(a: pa.Analysis) -> None:
    full, brief = (answered(payload(a, ladder=LADDER, brief=one)) for one in (False, True))
    assert [one["question"] for one in brief] == [one["question"] for one in full]
    assert [one["answer"]["sure"] for one in brief].count(True) == 1
    for one, other in zip(full, brief, strict=True):
        shares = [{row["parameter"]: row["share"] for row in x["answer"]["importances"]} for x in (one, other)]
        assert shares[0] == shares[1]


def test_answers_lie_under_the_question_that_a_server_would_be_asked(a: pa.Analysis) -> None:
    for one in payload(a, ladder=LADDER)["answers"]:
        question = parse_question(one["question"], a.space)
        if one["part"] == "answer":
            again = answers.ranking(a.data, replace(question, estimator="counts", draws=50))
            assert json.loads(json.dumps({**again, "bands": one["answer"]["bands"]})) == one["answer"]
        if one["part"] == "plane":
            assert answers.plane(a.data, question, **one["extra"]).items() <= one["answer"].items()


def test_pairs_are_those_of_the_questions_that_were_asked(a: pa.Analysis) -> None:
    made = payload(a, ladder=LADDER, questions=((0.1, 1.0), (0.5, 1.0)))
    assert [one["question"]["target"]["part"][1] for one in answered(made, "pairs")] == [0.1, 0.5]
    assert len(answered(made, "plane")) == 2 * 10
    assert made["facts"]["start"]["target"] == {"part": [0, 0.1]}


def test_a_box_is_a_selection_and_values_are_values(a: pa.Analysis) -> None:
    box = {"optimizer": {"adam"}, "lr": (1e-4, 0.1)}
    made = payload(a, ladder=LADDER, questions=((0.1, 1.0), (0.1, box), (pa.at_most(1.0), 1.0)))
    chosen, valued = (one for one in answered(made)[6::2])
    assert chosen["question"]["selection"] == {"optimizer": {"labels": ["adam"]}, "lr": {"range": [1e-4, 0.1]}}
    inner = a.within({"optimizer": ["adam"], "lr": (1e-4, 0.1)})
    assert chosen["answer"]["rows"]["selected"] == len(inner)
    assert valued["question"]["target"] == {"value": [None, 1]}
    found = a.importance(pa.at_most(1.0), estimator="counts", draws=50)
    assert valued["answer"]["importances"] == answers.importance_rows(found.rows)


def test_a_page_about_some_of_the_rows(a: pa.Analysis) -> None:
    made = payload(a, within="optimizer == 'adam'", ladder=LADDER)
    inner = a.within("optimizer == 'adam'")
    assert made["facts"]["rows"] == len(inner)
    found = inner.importance(0.1, 0.5, estimator="counts", draws=50)
    assert answered(made)[0]["answer"]["importances"] == answers.importance_rows(found.rows)


def test_few_rows_are_answered_as_by_the_command(trials: dict[str, np.ndarray]) -> None:
    few = pa.analyze({name: column[:25] for name, column in trials.items()}, "loss")
    made = payload(few)
    start = next(one["answer"] for one in answered(made) if one["question"] == made["facts"]["start"])
    found = few.importance(**{name: value for name, value in QUICK.items() if name in ("estimator", "draws")})
    assert start["importances"] == answers.importance_rows(found.rows)
    assert start["bands"]["target"]["words"] == found.target.removeprefix("the ") == "best 20 %"
    assert any("the answer is for the best 20 %" in note for note in start["notes"])


def test_mistakes_are_errors_and_no_refused_answers(a: pa.Analysis) -> None:
    refuse(QueryError, "estimator='x'", of=lambda: payload(a, estimator="x"))
    refuse(QueryError, "colour=", of=lambda: payload(a, colour="red"))
    refuse(QueryError, "swap them", of=lambda: payload(a, questions=((0.5, 0.1),)))
    refuse(QueryError, "questions=[]", of=lambda: payload(a, questions=()))
    refuse(QueryError, "within=", of=lambda: payload(a, questions=(("lr > 1e-3", 1.0),)))
    refuse(QueryError, "unknown", of=lambda: payload(a, questions=((0.1, {"unknown": (0, 1)}),)))
    refuse(QueryError, "ladder='0.1'", of=lambda: payload(a, ladder="0.1"))
    refuse(QueryError, "ladder=2", of=lambda: payload(a, ladder=[2]))
    refuse(QueryError, "at most 24", of=lambda: payload(a, ladder=np.linspace(0.1, 1, 40).tolist()))


def test_no_row_of_the_data_is_in_the_payload(trials: dict[str, np.ndarray]) -> None:
    a = pa.analyze(trials, "loss")
    text = json.dumps(payload(a, reduce=True))
    for column in ("loss", "lr", "momentum"):
        inner = np.sort(trials[column])[1:-1]  # the bounds of a guessed space are its ends
        assert not [value for value in inner if repr(float(value)) in text]
    small = pa.analyze({name: column[:12] for name, column in trials.items()}, "loss")
    shown = payload(small, ladder=[0.5, 1.0])["facts"]["objective"]["reached"]
    assert len(shown) <= 2  # at least five rows apart


def test_many_parameters_are_not_all_paired() -> None:
    random = np.random.default_rng(0)
    data = {f"x{i}": random.random(300) for i in range(16)}
    made = payload(pa.analyze({**data, "y": data["x11"] + data["x3"]}, "y"), ladder=[0.1, 1.0])
    planes = [(one["extra"]["first"], one["extra"]["second"]) for one in answered(made, "plane")]
    assert len(planes) == 45
    assert ("x3", "x11") in planes


def test_thirty_parameters_fit_into_a_file_of_a_megabyte() -> None:
    random = np.random.default_rng(0)
    data = {f"parameter_{i}": random.random(500) for i in range(30)}
    loss = sum(0.5**i * (column - 0.3) ** 2 for i, column in enumerate(data.values()))
    made = payload(pa.analyze({**data, "loss": loss}, "loss"), draws=0)
    assert len(answered(made)) == 2 * 21
    assert len(draw_page(made)) < (1 << 20) - 60_000  # intervals and p-values take 47,000


def test_the_same_twice(a: pa.Analysis) -> None:
    assert draw_page(payload(a, ladder=LADDER)) == draw_page(payload(a, ladder=LADDER))
