"""Rows as JSON for the live page."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import pedanova as pa
from helpers.tabs import mixed
from pedanova.report.page import tabs
from pedanova.report.page.question import PageQuestion

TABLE: dict[str, Any] = {"sort": None, "descending": False, "offset": 0, "limit": 20}


@pytest.fixture(scope="module")
def analysis() -> pa.Analysis:
    return mixed(300)


def question(a: pa.Analysis, **parts: object) -> PageQuestion:
    return PageQuestion.parse({**PageQuestion().to_json(), **parts}, a.space)


def test_a_page_of_the_table_is_what_trials_gives(analysis: pa.Analysis) -> None:
    found = tabs.trials(analysis, question(analysis, of="rows"), **TABLE)
    wanted = analysis.trials(0.1, limit=20)
    assert found["total"] == 300
    assert found["columns"]["lr"] == wanted.columns["lr"]
    assert found["columns"]["in"] == ["target"] * 20
    assert set(found["columns"]["nesterov"]) <= {"False", "True"}  # as chips and cards write them
    json.dumps(found, allow_nan=False)


def test_samples_are_rows_of_the_selection(analysis: pa.Analysis) -> None:
    asked = question(analysis, selection={"optimizer": {"labels": ["sgd"]}})
    some = tabs.parallel(analysis, asked, limit=30)
    assert len(some["columns"]["row"]) == 30
    assert set(some["columns"]["optimizer"]) == {"sgd"}
    plane = tabs.points(analysis, asked, x="lr", y="momentum", limit=1000)
    assert plane["parameters"] == ["lr", "momentum"]
    assert len(plane["columns"]["row"]) == plane["total"] == analysis.within({"optimizer": ["sgd"]}).rows


def test_rows_are_shown_where_none_is_good(analysis: pa.Analysis) -> None:
    found = tabs.trials(analysis, question(analysis, target={"value": [None, -1e9]}), **TABLE)
    assert found["refused"] is None
    assert "in" not in found["columns"]


def test_infinity_is_a_word_in_the_table_and_nothing_in_a_drawing() -> None:
    loss = np.r_[np.arange(50.0), np.inf]
    a = pa.analyze({"x": np.linspace(0, 1, 51), "loss": loss}, "loss")
    table = tabs.trials(a, question(a), **{**TABLE, "limit": 100})
    assert table["columns"]["loss"][-1] == "inf"
    assert tabs.parallel(a, question(a), limit=100)["columns"]["loss"][-1] is None


def test_an_empty_selection_is_refused_in_words(analysis: pa.Analysis) -> None:
    found = tabs.trials(analysis, question(analysis, selection={"lr": {"range": [2, 3]}}), **TABLE)
    assert "at least two" in found["refused"]
