"""Answers to the page: which rows they are about, and what they say where little can be said."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import pedanova as pa
from pedanova.measures.question import Question
from pedanova.measures.questions.ask import importance_of
from pedanova.report.page.answers import densities, difference_of, pairs, plane, ranking, smaller_space
from pedanova.report.page.page_question import parse_question

COUNTS: dict[str, Any] = {"estimator": "counts", "draws": 0}


def study(rows: int = 600, seed: int = 0, *, direction: str = "minimize") -> pa.Analysis:
    rng = np.random.default_rng(seed)
    lr, momentum = 10 ** rng.uniform(-5, -1, rows), rng.uniform(0, 1, rows)
    optimizer = np.array(["adam", "sgd", "rmsprop"])[rng.integers(0, 3, rows)]
    loss = (np.log10(lr) + 3) ** 2 + 0.3 * momentum * (optimizer == "adam") + rng.normal(0, 0.3, rows)
    y = loss if direction == "minimize" else -loss
    data = {"lr": lr, "momentum": momentum, "optimizer": optimizer, "y": y}
    return pa.analyze(data, "y", direction=direction)


@pytest.fixture(scope="module")
def a() -> pa.Analysis:
    return study()


def ask(a: pa.Analysis, **data: Any) -> Question:
    return parse_question(data, a.space)


ADAM = {"optimizer": {"labels": ["adam"]}}


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_good_rows_stay_the_same_rows_when_some_are_selected(direction: str) -> None:
    a = study(direction=direction)
    best = set(a.trials(limit=60).to_dict()["row"])
    adam = set(a.within("optimizer == 'adam'").trials(limit=None).to_dict()["row"])
    found = ranking(a.data, replace(ask(a, selection=ADAM), **COUNTS))
    assert found["rows"] == {"selected": len(adam), "region": len(adam), "target": len(best & adam)}
    own = ranking(a.data, replace(ask(a, selection=ADAM, good="selection"), **COUNTS))
    assert own["rows"]["target"] == math.ceil(len(adam) / 10)


@pytest.mark.parametrize("selection", [{}, ADAM, {"lr": {"range": [1e-4, 1e-2]}}])
@pytest.mark.parametrize("good", ["all", "selection"])
def test_bars_first_and_densities_after_them_are_the_whole_answer(a: pa.Analysis, selection: Any, good: str) -> None:
    question = ask(a, selection=selection, good=good)
    bars, later = ranking(a.data, question, sure=False, drawn=False), densities(a.data, question)
    assert "densities" not in bars
    assert bars | {"densities": later["densities"]} == ranking(a.data, question, sure=False)
    assert later["densities"] == ranking(a.data, question)["densities"]


def test_densities_of_nothing_are_refused(a: pa.Analysis) -> None:
    nowhere = ask(a, selection={"lr": {"range": [5.0, 6.0]}})
    assert densities(a.data, nowhere)["refused"] == ranking(a.data, nowhere)["refused"] is not None


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_a_band_of_all_rows_holds_the_same_rows_inside_a_selection(direction: str) -> None:
    a = study(direction=direction)
    order = a.trials(limit=None).to_dict()["row"]
    adam = set(a.within("optimizer == 'adam'").trials(limit=None).to_dict()["row"])
    question = ask(a, selection=ADAM, target={"part": [0.1, 0.3]}, region={"part": [0.05, 0.8]})
    found = ranking(a.data, replace(question, **COUNTS))
    assert found["rows"]["target"] == len(set(order[60:180]) & adam)
    assert found["rows"]["region"] == len(set(order[30:480]) & adam)


def test_ends_are_values_of_the_objective(a: pa.Analysis) -> None:
    worst_of_the_best = a.trials(limit=60).to_dict()["y"][-1]
    for selection in ({}, ADAM):
        found = ranking(a.data, replace(ask(a, selection=selection), **COUNTS))
        assert [found["bands"][name]["ends"] for name in ("target", "region")] == [
            [None, worst_of_the_best],
            [None, None],
        ]
    own = ranking(a.data, replace(ask(a, selection=ADAM, good="selection"), **COUNTS))
    assert own["bands"]["target"]["ends"][1] != worst_of_the_best
    values = ranking(a.data, replace(ask(a, target={"value": [0.1, 0.5]}), **COUNTS))
    assert values["bands"]["target"]["ends"] == [0.1, 0.5]


def test_every_part_speaks_of_the_same_rows(a: pa.Analysis) -> None:
    question = ask(a, selection={"momentum": {"range": [0.2, 0.9]}})
    rows = ranking(a.data, replace(question, **COUNTS))["rows"]
    drawn = plane(a.data, question, "lr", "momentum")
    assert np.sum(drawn["target"]) == rows["target"]
    assert np.sum(drawn["region"]) == rows["region"]
    paired = pairs(a.data, question, ["lr", "momentum"])
    rows, asking = a.data.selected(question)
    wanted = pa.Analysis(rows).interactions(asking.target, asking.region, params=["lr", "momentum"])
    assert [row["interaction"] for row in paired["rows"]] == [row.interaction for row in wanted.rows]
    assert smaller_space(a.data, question)["rows"]


def test_counting_at_once_changes_no_answer(a: pa.Analysis) -> None:
    cut = pa.at_most(0.4567)
    plain, at_once = (a.within("momentum < 0.7", at=at).importance(cut, **COUNTS) for at in ((), (cut,)))
    assert plain.to_dict() == at_once.to_dict()
    assert a.within("momentum < 0.7", at=(cut,)).profile(**COUNTS).to_dict() == (
        a.within("momentum < 0.7").profile(**COUNTS).to_dict()
    )


@pytest.mark.parametrize("estimator", ["counts", "auto"])
def test_an_answer_while_the_mouse_moves_has_the_numbers_of_the_sure_one(a: pa.Analysis, estimator: str) -> None:
    question = ask(a, selection=ADAM)
    quick, sure = (ranking(a.data, replace(question, estimator=estimator), sure=sure) for sure in (False, True))
    for name in ("ratio", "share", "divergence", "n_target"):
        assert [row[name] for row in quick["importances"]] == [row[name] for row in sure["importances"]]
    assert quick["densities"] == sure["densities"]
    assert quick["importances"][0]["low"] is None
    assert sure["importances"][0]["low"] is not None
    assert quick["by"] == sure["by"]


# --- large tables ------------------------------------------------------------------------------------


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> pa.Analysis:
    monkeypatch.setattr("pedanova.measures.questions.trial_data.LARGE", 50_000)
    monkeypatch.setattr("pedanova.measures.questions.trial_data.SAMPLE", 20_000)
    return study(60_000)


def test_a_first_answer_of_a_large_table_is_from_a_sample_and_says_so(large: pa.Analysis) -> None:
    question = ask(large, selection=ADAM)
    quick, sure = (
        ranking(large.data, replace(question, **COUNTS), sure=False),
        ranking(large.data, replace(question, **COUNTS)),
    )
    assert (quick["sample"], sure["sample"]) == (20_000, None)
    assert quick == ranking(large.data, replace(question, **COUNTS), sure=False)  # the same sample again
    assert quick["lines"] == sure["lines"]  # the line is that of the exact answer
    assert quick["bands"] == sure["bands"]
    first, exact = ({row["parameter"]: row["share"] for row in one["importances"]} for one in (quick, sure))
    for name, share in exact.items():
        assert first[name] == pytest.approx(share, abs=0.03)


def test_rows_of_a_sample_are_told_as_of_all(large: pa.Analysis) -> None:
    question = ask(large, selection=ADAM)
    quick, sure = (
        ranking(large.data, replace(question, **COUNTS), sure=False),
        ranking(large.data, replace(question, **COUNTS)),
    )
    for name in ("selected", "region", "target"):
        assert quick["rows"][name] == pytest.approx(sure["rows"][name], rel=0.1)


def test_what_was_counted_needs_no_sample(large: pa.Analysis) -> None:
    assert ranking(large.data, ask(large), sure=False)["sample"] is None
    assert ranking(large.data, ask(large, target={"value": [None, 0.1234]}), sure=False)["sample"] == 20_000


def test_small_tables_have_no_excerpt(a: pa.Analysis) -> None:
    assert a.data.excerpt is None


# --- A or B ------------------------------------------------------------------------------------------


def test_a_difference_is_what_the_shown_line_gives(a: pa.Analysis) -> None:
    adam, other = ask(a, selection=ADAM), ask(a)
    found = difference_of(a.data, replace(adam, estimator="counts"), other)
    wanted = pa.difference(*(importance_of(a.data, replace(one, estimator="counts")) for one in (adam, other)))
    assert [(row["parameter"], row["difference"], row["low"]) for row in found["rows"]] == [
        (row.name, row.difference, row.low) for row in wanted.rows
    ]
    again = eval(found["lines"]["python"], {"a": a, "pa": pa})
    assert [row["difference"] for row in found["rows"]] == [row.difference for row in again.rows]
    assert difference_of(a.data, ask(a, selection={"lr": {"range": [5, 6]}}), other)["refused"]


def test_good_values_stay_inside_a_brush() -> None:
    rng = np.random.default_rng(0)
    x, z = rng.random((2, 21_000))  # so many that counts answer, whose kernel reaches beyond the ends
    a = pa.analyze({"x": x, "z": z, "loss": abs(x - 0.41) + 0.01 * z}, "loss")
    question = parse_question({"good": "selection", "selection": {"x": {"range": [0.4, 0.5]}}}, a.space)
    good = ranking(a.data, question, sure=False)["densities"]["x"]["good"]
    assert good["at"]
    assert all(0.4 <= low < high <= 0.5 for low, high in good["at"])
    assert good["words"].count(" to ") == len(good["at"])
