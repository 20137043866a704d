"""Means on a page: those of `marginal`, by the bars and steps of the densities, for whatever rows are asked."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import pedanova as pa
from helpers.tabs import FAST, mixed, two_goals
from pedanova.report.live.session import Session
from pedanova.report.page.embedded import payload_of
from pedanova.report.page.question import PageQuestion
from pedanova.report.page.tabs import marginals

CHOSEN = {"selection": {"lr": {"range": [1e-4, 0.1]}}, "region": {"part": [0, 0.5]}}


@pytest.fixture(scope="module")
def a() -> pa.Analysis:
    return mixed(500)


def by_name(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {one["parameter"]: one for one in found["parameters"]}


@pytest.mark.parametrize("asked", [{}, CHOSEN], ids=["all", "some"])
def test_names_have_the_means_of_their_rows(a: pa.Analysis, asked: dict[str, Any]) -> None:
    question = PageQuestion.parse(asked, a.space)
    found = json.loads(json.dumps(marginals(a, question), allow_nan=False))
    end = np.inf if not asked else a.reach(0.5)[0]
    rows = a.within(*question.rows()).trials(limit=None).columns
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
    effects = a.within(*question.rows()).effects(pa.at_most(end) if asked else 1.0)
    assert {one["parameter"]: one["share"] for one in found["parameters"]} == pytest.approx(effects.shares)


def test_one_row_is_no_mean() -> None:
    kind = np.array(["often"] * 60 + ["once"])
    a = pa.analyze({"kind": kind, "x": np.linspace(0, 1, 61), "loss": np.linspace(1000, 1001, 61)}, "loss")
    one = by_name(marginals(a, PageQuestion()))["kind"]
    assert dict(zip(["often", "once"], one["mean"], strict=True))["once"] is None
    assert one["rows"] == [60, 1]
    assert one["mean"][0] == pytest.approx(1000.49, abs=0.01)  # digits are those of the spread


def test_a_file_has_them_for_every_step_of_the_region(a: pa.Analysis) -> None:
    made = payload_of(a, ladder=[0.1, 0.5, 1.0], questions=[(0.1, 1.0)], reduce=False, **FAST)
    given = {str(one["question"]["region"]): one["answer"] for one in made["answers"] if one["part"] == "marginal"}
    assert made["facts"]["means"] is True
    assert set(given) == {"{'part': [0.0, 0.5]}", "{'part': [0.0, 1.0]}"}
    half = PageQuestion.parse({"region": {"part": [0, 0.5]}}, a.space)
    assert given["{'part': [0.0, 0.5]}"] == marginals(a, half)
    assert Session(a, options=FAST).ask({"part": "marginal", "question": half.to_json()})["mean"] == pytest.approx(
        given["{'part': [0.0, 0.5]}"]["mean"]
    )


def test_several_objectives_have_no_mean() -> None:
    a = two_goals(120)
    assert "several objectives" in marginals(a, PageQuestion())["refused"]
    made = payload_of(a, ladder=[0.3, 1.0], questions=[(0.3, 1.0)], reduce=False, **FAST)
    assert made["facts"]["means"] is False
