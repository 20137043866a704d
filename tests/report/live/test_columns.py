"""Columns that are not parameters: rows are selected by them, shown and sorted, but only parameters are ranked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pedanova as pa
from helpers.explorers import payload_of
from pedanova.report.live.session import Session
from pedanova.report.page.page_question import parse_question

FAST: dict[str, Any] = {"estimator": "counts", "draws": 50}


def table(rows: int = 300, seed: int = 0) -> dict[str, Any]:
    """Every kind of column that is left out: an id, a seed, a cost, a cost as text, a machine, a date, a constant."""
    random = np.random.default_rng(seed)
    lr, units = 10 ** random.uniform(-4, -1, rows), random.integers(8, 129, rows)
    latency = units / 10 + random.exponential(1, rows)
    return {
        "trial_id": np.arange(rows),
        "lr": lr,
        "units": units,
        "seed": random.integers(0, 3, rows),
        "latency_ms": latency,
        "train_time": [f"{value:.1f} s" for value in latency * 7],
        "host": random.choice(["a", "b"], rows),
        "started": np.datetime64("2024-01-01") + np.arange(rows),
        "status": ["done"] * rows,
        "error": (np.log10(lr) + 2.5) ** 2 - units / 200 + random.normal(0, 0.1, rows),
    }


@pytest.fixture(scope="module")
def a() -> pa.Analysis:
    return pa.analyze(table(), "error")


@pytest.fixture(scope="module")
def session(a: pa.Analysis) -> Session:
    return Session(a.data, options=FAST, source="trials.csv --objective error")


LEFT_OUT = ["trial_id", "seed", "latency_ms", "train_time", "host", "started", "status"]


def test_every_column_of_the_table_is_on_the_page(session: Session) -> None:
    facts = session.facts()
    assert [one["name"] for one in facts["parameters"]] == ["lr", "units"]
    columns = {one["name"]: one["brush"] for one in facts["columns"]}
    assert list(columns) == [*LEFT_OUT, "error"]
    assert columns == dict.fromkeys([*LEFT_OUT, "error"], "range") | {"host": "labels", "started": None, "status": None}


@settings(max_examples=12)
@given(st.data())
def test_a_selection_by_any_column_is_answered_as_in_python(
    session: Session, a: pa.Analysis, draw: st.DataObject
) -> None:
    name = draw.draw(st.sampled_from(["seed", "latency_ms", "train_time", "host", "trial_id", "error"]))
    facts = {one["name"]: one for one in session.facts()["columns"]}[name]
    if facts["brush"] == "labels":
        part: dict[str, Any] = {"labels": [draw.draw(st.sampled_from(facts["labels"]))]}
    else:
        ends = facts["shape"].get("edges") or facts["shape"]["values"]
        ends = sorted(draw.draw(st.lists(st.sampled_from(ends), min_size=2, max_size=2)))
        part = {"range": draw.draw(st.sampled_from([ends, [None, ends[1]], [ends[0], None]]))}
    asked = {"selection": {name: part}, "good": draw.draw(st.sampled_from(["all", "selection"]))}
    found = session.ask({"part": "answer", "question": asked})
    if found["refused"]:
        return
    assert found["question"]["selection"] == asked["selection"]
    same = eval(found["lines"]["python"], {"a": a, "pa": pa})
    assert [(row["parameter"], row["share"]) for row in found["importances"]] == [
        (row.name, row.share) for row in same.rows
    ]
    assert a.within(found["lines"]["condition"]).data.rows == found["rows"]["selected"]
    assert set(found["densities"]) == {"lr", "units", "seed", "latency_ms", "train_time", "host", "trial_id", "error"}
    quick = session.ask({"part": "densities", "question": asked, "names": [name]})
    assert quick["densities"][name] == found["densities"][name]


def test_a_column_is_counted_in_target_and_region(session: Session, a: pa.Analysis) -> None:
    found = session.ask({"part": "densities", "question": {"of": "rows"}})["densities"]["host"]
    rows = a.trials(0.1, limit=None, params=["host"]).columns
    for word, kinds in (("target", ["target"]), ("region", ["target", "region"])):
        own = [host for host, kind in zip(rows["host"], rows["in"], strict=True) if kind in kinds]
        assert found[word] == pytest.approx([own.count("a") / len(own), own.count("b") / len(own)], abs=1e-4)


def test_any_column_is_shown_and_sorted(session: Session, a: pa.Analysis) -> None:
    asked = {"part": "trials", "names": ["lr", *LEFT_OUT], "sort": "train_time", "descending": True, "limit": 5}
    found = session.ask(asked)
    assert found["columns"] == eval(found["lines"]["python"], {"a": a, "pa": pa}).columns | {
        "in": found["columns"]["in"]
    }
    seconds = sorted((float(text.removesuffix(" s")) for text in table()["train_time"]), reverse=True)
    assert found["columns"]["train_time"] == seconds[:5]
    assert all(date.startswith("2024-") for date in found["columns"]["started"])
    head = next(session.csv(session.request({"part": "trials", "question": {}}))).split("\r\n")[0]
    assert head.split(",")[-9:] == ["lr", "units", *LEFT_OUT]


@pytest.mark.parametrize("part", ["pairs", "plane", "answer"])
def test_only_parameters_have_importances(session: Session, part: str) -> None:
    more = {"plane": {"first": "lr", "second": "latency_ms"}, "pairs": {"names": ["lr", "latency_ms"]}}.get(part, {})
    found = session.ask({"part": part, "question": {}, **more})
    if part == "answer":
        assert [row["parameter"] for row in found["importances"]] == ["lr", "units"]
    else:
        assert "no parameter is called 'latency_ms'" in found["refused"]


def test_a_saved_report_has_the_selection(session: Session, a: pa.Analysis) -> None:
    selection = {"latency_ms": {"range": [None, 6.0]}, "host": {"labels": ["a"]}}
    payload = payload_of(session.report(parse_question({"selection": selection}, session.columns, session.start)))
    assert payload["facts"]["within"]["selection"] == selection
    assert payload["facts"]["columns"] == [], "a file has no rows to select"
    line = next(one["answer"]["lines"] for one in payload["answers"] if one["part"] == "answer")
    assert "within({'latency_ms': (None, 6.0), 'host': ['a']})" in line["python"]
    assert "--within 'latency_ms <= 6.0 and host ==" in line["shell"]


def test_one_study_has_the_columns_of_all() -> None:
    columns = table() | {"dataset": np.repeat(["one", "two", "three"], 100)}
    a = pa.analyze(columns, "error", exclude=["dataset"])
    session = Session(a.data, options=FAST, group="dataset")
    asked = {"selection": {"latency_ms": {"range": [2, 9]}}, "study": {"column": "dataset", "name": "two"}}
    found = session.ask({"part": "answer", "question": asked})
    bins = {
        one["name"]: len(one["shape"]["edges"]) - 1 for one in session.facts()["columns"] if one["name"] == "latency_ms"
    }
    assert len(found["densities"]["latency_ms"]["target"]) == bins["latency_ms"]
