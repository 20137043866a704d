"""Lines of Python and shell, and conditions: each gives the numbers of the answer, to the last digit."""

from __future__ import annotations

import contextlib
import io
import json
import random
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pedanova as pa
from pedanova.cli.program import main
from pedanova.measures.question import Question
from pedanova.report.page.answers import ranking
from pedanova.report.page.page_question import condition_of, lines_of, parse_question

NUMBERS = ("ratio", "share", "low", "high", "p_value", "p_adjusted", "divergence", "n_target", "n_region")
PLAIN = ("lr", "learning rate", "class", "error")  # columns of numbers
HARD = {"class": "a keyword", "learning rate": "spaces", "it's": "a quote", 'say "x"': "quotes", "α/β": "other letters"}


def table(rows: int, seed: int = 0) -> dict[str, Any]:
    """Parameters of every kind; some rows lack a value, some are infinite, and names need quotes."""
    rng = np.random.default_rng(seed)
    lr = 10 ** rng.uniform(-5, -1, rows)
    lr[rng.random(rows) < 0.05] = np.nan
    optimizer = np.array(["adam", "it's", 'a "b"', "c\\d", "`e`"])[rng.integers(0, 5, rows)]
    data: dict[str, Any] = {
        "lr": lr,
        "learning rate": rng.uniform(-1, 1, rows),
        "class": rng.integers(1, 9, rows),
        "it's": optimizer,
        "flag": rng.random(rows) < 0.5,
    }
    good = np.nan_to_num(np.log10(lr) + 3, nan=2.0) ** 2 + data["learning rate"] ** 2 + 0.2 * data["flag"]
    data["error"] = np.where(rng.random(rows) < 0.02, np.inf, good + rng.normal(0, 0.2, rows))
    return data


def question(draw: random.Random, a: pa.Analysis) -> Question:
    """What somebody might brush."""
    selection: dict[str, Any] = {}
    for name, column in (("lr", (-5, -1)), ("learning rate", (-1, 1)), ("class", (1, 8))):
        if draw.random() < 0.4:
            ends = sorted(draw.uniform(*column) for _ in range(2))
            ends = [10**end for end in ends] if name == "lr" else ends
            selection[name] = {"range": [None if draw.random() < 0.15 else end for end in ends]}
    if draw.random() < 0.4:
        labels = ["adam", "it's", 'a "b"', "c\\d", "`e`"]
        selection["it's"] = {"labels": draw.sample(labels, draw.randint(1, 4))}
    if draw.random() < 0.2:
        selection["flag"] = {"labels": [draw.choice(["True", "False"])]}
    kind = draw.choice(["part", "part", "value", "band"])
    target: dict[str, Any] = {"part": [0, draw.choice([0.05, 0.1, 0.3])]}
    if kind == "value":
        target = {"value": [None, draw.uniform(0.1, 1.5)]}
    if kind == "band":
        target = {"part": [0.05, 0.3]} if draw.random() < 0.5 else {"value": [0.1, 0.7]}
    region = {"part": [0, draw.choice([1, 1, 0.6])]} if "part" in target else {"part": [0, 1]}
    return parse_question(
        {
            "selection": selection,
            "target": target,
            "region": region,
            "good": draw.choice(["all", "all", "selection"]),
            "baseline": draw.choice(["region", "region", "uniform"]),
            "of": draw.choice(["space", "rows"]),
        },
        a.space,
    )


def numbers(found: Any) -> list[dict[str, Any]]:
    rows = [dict(zip(found, row, strict=True)) for row in zip(*found.values(), strict=True)]
    return [{"parameter": row["parameter"]} | {name: row[name] for name in NUMBERS} for row in rows]


def shown(found: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"parameter": row["parameter"]} | {name: row[name] for name in NUMBERS} for row in found["importances"]]


def in_shell(line: str) -> Any:
    """What the command prints, as JSON."""
    program, *words = shlex.split(line)
    assert program == "pedanova"
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        assert main([*words, "--format", "json"]) == 0
    return json.loads(out.getvalue())


@pytest.fixture(scope="module")
def data() -> dict[str, Any]:
    return table(21_000)  # counts answer: every question is quick


@pytest.fixture(scope="module")
def a(data: dict[str, Any]) -> pa.Analysis:
    return pa.analyze(data, "error", direction="minimize")


def check(a: pa.Analysis, asked: Question, found: dict[str, Any], **options: Any) -> None:
    lines = found["lines"]
    by_python = eval(lines["python"], {"a": a, "pa": pa})
    assert numbers(by_python.to_dict()) == shown(found), lines["python"]
    inner = a.within(lines["condition"]) if lines["condition"] else a
    assert len(inner) == len(a.within(*asked.within)) == found["rows"]["selected"], lines["condition"]


def test_12_questions_by_python_and_by_condition(a: pa.Analysis) -> None:
    draw, answered = random.Random(1), 0
    while answered < 12:
        asked = question(draw, a)
        found = ranking(a.data, replace(asked, draws=50))
        if found["refused"] is None:
            answered += 1
            check(a, asked, found)
        quick = ranking(a.data, asked, sure=False)
        assert (quick["refused"] is None) == (found["refused"] is None)
        if found["refused"] is None:
            assert [(r["parameter"], r["share"], r["ratio"]) for r in quick["importances"]] == [
                (r["parameter"], r["share"], r["ratio"]) for r in found["importances"]
            ]
            assert quick["densities"] == found["densities"]


def test_10_questions_to_a_model() -> None:
    """Few rows: a model answers, and where some are selected it is the model of all."""
    a, draw, answered = pa.analyze(table(400), "error", direction="minimize"), random.Random(2), 0
    while answered < 10:
        asked = question(draw, a)
        found = ranking(a.data, asked)
        if found["refused"] is None:
            answered += 1
            check(a, asked, found)


def test_5_questions_by_the_command_line(tmp_path: Path, data: dict[str, Any]) -> None:
    import csv

    place = tmp_path / "trials of mine.csv"
    with place.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(data)
        writer.writerows(zip(*(list(column) for column in data.values()), strict=True))
    source = f"{shlex.quote(str(place))} --objective error --direction minimize"
    a = pa.analyze(place, "error", direction="minimize")
    draw, answered = random.Random(3), 0
    while answered < 5:
        asked = question(draw, a)
        found = ranking(a.data, replace(asked, draws=50), source=source)
        if found["refused"] is None:
            answered += 1
            by_shell = in_shell(found["lines"]["shell"])
            columns = {name: [row[name] for row in by_shell["importance"]] for name in ("parameter", *NUMBERS)}
            assert numbers(columns) == shown(found), found["lines"]["shell"]


def test_options_stand_in_the_lines(a: pa.Analysis) -> None:
    asked = Question(draws=7, estimator="counts", seed=3, smoothing="none", force=True, parts="all")
    found = ranking(a.data, asked, source="t.csv")
    assert found["lines"]["python"] == (
        "a.importance(0.1, smoothing='none', estimator='counts', draws=7, seed=3, force=True)"
    )
    assert found["lines"]["shell"] == (
        "pedanova analyze t.csv --target 0.1 --smoothing none --estimator counts --draws 7 --seed 3 --force"
    )


def test_what_a_condition_cannot_say_has_none() -> None:
    space = pa.Space({"back`tick": pa.Float(0, 1), "c": pa.Categorical([f"name {i}" for i in range(2_000)])})
    asked = parse_question({"selection": {"back`tick": {"range": [0, 0.5]}}}, space)
    assert condition_of(asked) is None
    every = {"c": {"labels": [f"name {i}" for i in range(1_999)]}}
    assert condition_of(parse_question({"selection": every}, space)) is None
    lines = lines_of(asked)
    assert lines["shell"] is None
    assert "back`tick" in str(lines["python"])


@pytest.mark.parametrize("name", HARD)
def test_names_are_quoted_where_they_must_be(name: str) -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 1, 300)
    a = pa.analyze({name: x, "other": rng.uniform(0, 1, 300)}, x + rng.normal(0, 0.1, 300))
    asked = parse_question({"selection": {name: {"range": [0.1, 0.9]}}}, a.space)
    assert len(a.within(str(condition_of(asked)))) == len(a.within({name: (0.1, 0.9)}))
