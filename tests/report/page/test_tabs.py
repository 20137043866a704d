"""Tabs of the page: rows, means, budgets and studies side by side, each with the numbers of Python."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import optuna
import pytest

import pedanova as pa
from helpers.groups import ODD, studies_of
from helpers.tabs import FAST, mixed, two_goals
from pedanova.errors import QueryError
from pedanova.measures.question import Question
from pedanova.report.live.session import Session
from pedanova.report.page import rows
from pedanova.report.page.answers import importance_rows, marginals
from pedanova.report.page.cards import payload_of
from pedanova.report.page.page_question import parse_question
from pedanova.results import Across

TABLE: dict[str, Any] = {"sort": None, "descending": False, "offset": 0, "limit": 20}


@pytest.fixture(scope="module")
def analysis() -> pa.Analysis:
    return mixed(300)


def question(a: pa.Analysis, **parts: object) -> Question:
    return parse_question(parts, a.space)


def test_a_page_of_the_table_is_what_trials_gives(analysis: pa.Analysis) -> None:
    found = rows.trials(analysis.data, question(analysis, of="rows"), **TABLE)
    wanted = analysis.trials(0.1, limit=20)
    assert found["total"] == 300
    assert found["columns"]["lr"] == wanted.columns["lr"]
    assert found["columns"]["in"] == ["target"] * 20
    assert set(found["columns"]["nesterov"]) <= {"False", "True"}  # as chips and cards write them
    json.dumps(found, allow_nan=False)


def test_samples_are_rows_of_the_selection(analysis: pa.Analysis) -> None:
    asked = question(analysis, selection={"optimizer": {"labels": ["sgd"]}})
    some = rows.parallel(analysis.data, asked, limit=30)
    assert len(some["columns"]["row"]) == 30
    assert set(some["columns"]["optimizer"]) == {"sgd"}
    plane = rows.points(analysis.data, asked, x="lr", y="momentum", limit=1000)
    assert plane["parameters"] == ["lr", "momentum"]
    assert len(plane["columns"]["row"]) == plane["total"] == len(analysis.within({"optimizer": ["sgd"]}))


def test_rows_are_shown_where_none_is_good(analysis: pa.Analysis) -> None:
    found = rows.trials(analysis.data, question(analysis, target={"value": [None, -1e9]}), **TABLE)
    assert found["refused"] is None
    assert "in" not in found["columns"]


def test_infinity_is_a_word_in_the_table_and_nothing_in_a_drawing() -> None:
    loss = np.r_[np.arange(50.0), np.inf]
    a = pa.analyze({"x": np.linspace(0, 1, 51), "loss": loss}, "loss")
    table = rows.trials(a.data, question(a), **{**TABLE, "limit": 100})
    assert table["columns"]["loss"][-1] == "inf"
    assert rows.parallel(a.data, question(a), limit=100)["columns"]["loss"][-1] is None


def test_an_empty_selection_is_refused_in_words(analysis: pa.Analysis) -> None:
    found = rows.trials(analysis.data, question(analysis, selection={"lr": {"range": [2, 3]}}), **TABLE)
    assert "at least two" in found["refused"]


CHOSEN = {"selection": {"lr": {"range": [1e-4, 0.1]}}, "region": {"part": [0, 0.5]}}


@pytest.fixture(scope="module")
def a() -> pa.Analysis:
    return mixed(500)


def by_name(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {one["parameter"]: one for one in found["parameters"]}


@pytest.mark.parametrize("asked", [{}, CHOSEN], ids=["all", "some"])
def test_names_have_the_means_of_their_rows(a: pa.Analysis, asked: dict[str, Any]) -> None:
    question = parse_question(asked, a.space)
    found = json.loads(json.dumps(marginals(a.data, question), allow_nan=False))
    end = np.inf if not asked else a.data.reach(0.5)[0]
    rows = a.within(*question.within).trials(limit=None).columns
    loss = np.array(rows["loss"], dtype=float)
    assert found["rows"] == (loss <= end).sum()
    assert found["mean"] == pytest.approx(loss[loss <= end].mean())
    for name, values in (("optimizer", ["adam", "rmsprop", "sgd"]), ("width", [16, 32, 64, 128])):
        held = [loss[(np.array(rows[name]) == value) & (loss <= end)] for value in values]
        one = by_name(found)[name]
        assert one["rows"] == [len(part) for part in held]
        assert one["mean"] == pytest.approx([part.mean() for part in held], abs=2e-3)
    told = by_name(found)["lr"]
    ends = zip(told["mean"], told["low"], told["high"], strict=True)
    assert all(low is None or low <= mean <= high for mean, low, high in ends)
    assert sum(told["rows"]) == found["rows"]
    effects = a.within(*question.within).effects(pa.at_most(end) if asked else 1.0)
    assert {one["parameter"]: one["share"] for one in found["parameters"]} == pytest.approx(effects.shares)


def test_one_row_is_no_mean() -> None:
    kind = np.array(["often"] * 60 + ["once"])
    a = pa.analyze({"kind": kind, "x": np.linspace(0, 1, 61), "loss": np.linspace(1000, 1001, 61)}, "loss")
    one = by_name(marginals(a.data, Question(parts="all")))["kind"]
    assert dict(zip(["often", "once"], one["mean"], strict=True))["once"] is None
    assert one["rows"] == [60, 1]
    assert one["mean"][0] == pytest.approx(1000.49, abs=0.01)  # digits are those of the spread


def test_a_file_has_them_for_every_step_of_the_region(a: pa.Analysis) -> None:
    made = payload_of(a.data, ladder=[0.1, 0.5, 1.0], questions=[(0.1, 1.0)], reduce=False, **FAST)
    given = {str(one["question"]["region"]): one["answer"] for one in made["answers"] if one["part"] == "marginal"}
    assert made["facts"]["means"] is True
    assert set(given) == {"{'part': [0.0, 0.5]}", "{'part': [0.0, 1.0]}"}
    half = parse_question({"region": {"part": [0, 0.5]}}, a.space)
    assert marginals(a.data, half).items() <= given["{'part': [0.0, 0.5]}"].items()
    assert Session(a.data, options=FAST).ask({"part": "marginal", "question": {"region": {"part": [0, 0.5]}}})[
        "mean"
    ] == pytest.approx(given["{'part': [0.0, 0.5]}"]["mean"])


def test_several_objectives_have_no_mean() -> None:
    a = two_goals(120)
    assert "several objectives" in marginals(a.data, Question(parts="all"))["refused"]
    made = payload_of(a.data, ladder=[0.3, 1.0], questions=[(0.3, 1.0)], reduce=False, **FAST)
    assert made["facts"]["means"] is False


QUICK: dict[str, Any] = {"estimator": "counts", "draws": 50}
STILL: dict[str, Any] = {"reduce": False, "ladder": [0.2, 1.0], **QUICK}


@pytest.fixture(scope="module")
def reported() -> pa.Analysis:
    """A study of two parameters, the first of which decides at the first step and the second at the last."""
    study, rng = optuna.create_study(), np.random.default_rng(0)
    space = {name: optuna.distributions.FloatDistribution(0, 1) for name in "xz"}
    for x, z in rng.random((60, 2)):
        study.add_trial(
            optuna.create_trial(params={"x": x, "z": z}, distributions=space, value=z, intermediate_values={1: x, 8: z})
        )
    return pa.analyze(study)


def asked(made: dict[str, Any]) -> list[dict[str, Any]]:
    return [one for one in json.loads(json.dumps(made, allow_nan=False))["answers"] if one["part"] == "along"]


def test_a_file_holds_what_along_says(reported: pa.Analysis) -> None:
    made = payload_of(reported.data, questions=[(0.2, 1.0)], **STILL)
    assert made["facts"]["budget"] == "step"
    (one,) = asked(made)
    found = reported.along(target=0.2, **QUICK)
    for step, mine in zip(one["answer"]["steps"], found, strict=True):
        assert step["importances"] == importance_rows(mine.importances.rows)
        assert (step["budget"], step["rows"], step["spearman"]) == (mine.budget, mine.rows, mine.agreement.spearman)
    assert one["answer"]["summary"] == found.summary()


def test_a_budget_may_be_named_and_is_checked() -> None:
    rng = np.random.default_rng(0)
    table = {"x": rng.random(200), "epochs": np.tile([1, 2], 100)}
    a = pa.analyze(table | {"loss": table["x"] ** 2}, "loss")
    assert payload_of(a.data, **STILL)["facts"]["budget"] is None
    made = payload_of(a.data, budget="epochs", questions=[(0.2, 1.0)], **STILL)
    assert made["facts"]["budget"] == "epochs"
    assert len(asked(made)) == 1
    with pytest.raises(QueryError, match="no column is called 'epoch'"):
        payload_of(a.data, budget="epoch", **STILL)


def test_a_live_page_asks_for_it_whatever_is_selected(reported: pa.Analysis) -> None:
    session = Session(reported.data, options=QUICK)
    assert session.facts()["budget"] == "step"
    question = {"target": {"part": [0, 0.2]}, "region": {"part": [0, 1]}}
    found = session.ask({"part": "along", "question": question})
    assert found["refused"] is None
    assert [step["rows"] for step in found["steps"]] == [60, 60]
    refused = session.ask({"part": "along", "question": question | {"target": {"value": [None, 0.1]}}})
    assert "must be a quantile" in refused["refused"]


SOME_DRAWS: dict[str, Any] = {"estimator": "counts", "draws": 50}
BRUSHED = {"selection": {"lr": {"range": [0.1, 0.95]}}, "target": {"part": [0, 0.2]}}


def session_of(a: pa.Analysis, **options: Any) -> Session:
    return Session(a.data, options={**SOME_DRAWS, **options}, group="dataset")


def test_the_first_answer_of_several_studies_is_that_within_each() -> None:
    """Over all rows, the best rows are those of the easiest study, so nothing that was tuned seems to matter."""
    random = np.random.default_rng(0)
    level, kind, x = np.repeat(10.0 * np.arange(8), 75), random.choice(["adam", "sgd"], 600), random.random(600)
    table = {"dataset": level.astype(str), "kind": kind, "x": x, "error": level + (kind == "sgd") + random.random(600)}
    a = pa.analyze(table, "error", exclude=["dataset"])
    session = Session(a.data, options=FAST, group="dataset")
    whole, within = Session(a.data, options=FAST).ask({"part": "answer"}), session.ask({"part": "answer"})
    share = {row["parameter"]: row["share"] for row in within["importances"]}
    assert share["kind"] > 2 * next(row["share"] for row in whole["importances"] if row["parameter"] == "kind")
    same = eval(within["lines"]["python"], {"a": a, "pa": pa})
    assert share == {row.name: row.share for row in same.rows}
    assert within["bands"]["target"]["reached"] == "is in the best 10 % of its study"
    alone = session.ask({"part": "answer", "question": {"study": {"column": "dataset", "name": "10"}}})
    assert "over" not in alone


@pytest.mark.parametrize("question", [{}, BRUSHED, BRUSHED | {"good": "selection"}, {"region": {"part": [0, 0.5]}}])
def test_numbers_are_those_of_the_line_and_of_each_study_alone(question: dict[str, Any]) -> None:
    a = studies_of(rows=100)
    session = session_of(a)
    found = session.ask({"part": "groups", "question": question})
    line: Across = eval(found["lines"]["python"], {"pa": pa, "a": a})
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
    assert rows["lr"]["share"] == studies[ODD].importance(**SOME_DRAWS)["lr"].share
    assert rows["lr"]["other"] == studies["task 001"].importance(**SOME_DRAWS)["lr"].share
    assert rows["lr"]["clear"]


def test_of_many_some_are_shown_with_intervals_and_the_rest_is_counted() -> None:
    a = studies_of(studies=30, rows=60)
    session = session_of(a, estimator="auto", draws=20)
    found = session.ask({"part": "groups", "question": {}, "order": "disagreement", "limit": 3})
    assert found["total"] == 30
    assert found["studies"][0]["name"] == ODD
    assert all(row["low"] is not None for study in found["studies"] for row in study["importances"])
    assert "estimator='counts'" in found["lines"]["python"]
    assert found["notes"][0].startswith("all 30 studies use plain counts")
    assert session.ask({"part": "groups", "question": {}, "limit": 0})["studies"] == []


@pytest.mark.parametrize(
    ("study", "said"),
    [
        ({"column": "dataset", "name": "lettr"}, "letter"),
        ({"column": "lr", "name": "0.5"}, "not the column with the names of the studies"),
        ({"column": "dataset"}, "must be"),
        ("letter", "must be"),
    ],
)
def test_a_study_that_is_none_is_refused(study: object, said: str) -> None:
    with pytest.raises(QueryError, match=said):
        session_of(studies_of()).ask({"part": "answer", "question": {"study": study}})


def test_a_table_without_studies_says_so() -> None:
    found = Session(studies_of().data, options=SOME_DRAWS).ask({"part": "groups", "question": {}})
    assert "--group" in found["refused"]
