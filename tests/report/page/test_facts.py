"""What a page says whatever is asked, and the rungs of its sliders."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import pedanova as pa
from pedanova.measures.question import Question
from pedanova.report.page.answers import ranking
from pedanova.report.page.cards import payload_of
from pedanova.report.page.facts import RUNGS, ladder_of, page_facts, part_of, spaced
from pedanova.report.page.page_question import parse_question


def study(rows: int = 500) -> pa.Analysis:
    rng = np.random.default_rng(3)
    kind = rng.choice(["linear", "tree"], rows)
    data = {
        "model.lr": 10 ** rng.uniform(-4, 0, rows),
        "layers": rng.integers(1, 6, rows),
        "width": rng.choice([8, 16, 64], rows),
        "kind": kind,
        "depth": np.where(kind == "tree", rng.integers(1, 9, rows).astype(float), np.nan),
    }
    loss = np.abs(np.log10(data["model.lr"]) + 2) + rng.normal(0, 0.1, rows)
    space = {
        "model.lr": pa.Float(1e-4, 1, log=True),
        "layers": pa.Int(1, 5),
        "width": pa.Ordinal([8, 16, 64]),
        "kind": pa.Categorical(["linear", "tree"]),
        "depth": pa.Int(1, 8, when=[("kind", ["tree"])]),
    }
    return pa.analyze(data | {"loss": np.where(loss > 2, np.inf, loss)}, "loss", space=space)


@pytest.fixture(scope="module")
def a() -> pa.Analysis:
    return study()


def test_it_is_plain_json(a: pa.Analysis) -> None:
    facts = page_facts(a.data, "Title", Question(parts="all"))
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    assert (facts["title"], facts["rows"]) == ("Title", 500)
    assert parse_question(facts["start"], a.space) == parse_question({}, a.space)


def test_every_parameter_says_how_it_is_brushed_and_drawn(a: pa.Analysis) -> None:
    known = {one["name"]: one for one in page_facts(a.data, "", Question(parts="all"))["parameters"]}
    assert list(known) == list(a.space)
    assert {name: one["brush"] for name, one in known.items()} == {
        "model.lr": "range", "layers": "range", "width": "range", "kind": "labels", "depth": "range",
    }  # fmt: skip
    assert known["kind"]["labels"] == known["kind"]["shape"]["labels"] == ["linear", "tree"]
    assert known["width"]["shape"]["kind"] == "bars"
    assert known["model.lr"]["shape"]["log"] is True
    assert known["depth"]["parents"] == ["kind"]
    assert known["layers"]["whole"] is True


def test_densities_are_cut_up_as_the_facts_say_in_every_answer(a: pa.Analysis) -> None:
    shapes = {one["name"]: one["shape"] for one in page_facts(a.data, "", Question(parts="all"))["parameters"]}
    for selection in ({}, {"kind": {"labels": ["tree"]}}, {"layers": {"range": [2, 3]}}):
        found = ranking(
            a.data, parse_question({"selection": selection}, a.space, Question(estimator="counts", draws=0))
        )
        for name, shape in shapes.items():
            many = len(shape["labels"]) if shape["kind"] == "bars" else len(shape["edges"]) - 1
            assert len(found["densities"][name]["target"]) == many


def test_what_moves_with_another_parameter_is_not_brushed() -> None:
    rng = np.random.default_rng(0)
    high = rng.choice([10.0, 100.0], 300)
    data = {"high": high, "x": rng.uniform(0, 1, 300) * high}
    a = pa.analyze(data, data["x"] / high, space={"high": pa.Float(10, 100), "x": pa.Moving(0, "high")})
    assert [one["brush"] for one in page_facts(a.data, "", Question(parts="all"))["parameters"]] == ["range", None]


def test_single_rows_cannot_be_read_from_the_objective(a: pa.Analysis) -> None:
    points = spaced(a.data)
    assert all(math.isfinite(x) for x, _ in points)
    assert all(round((after - before) * len(a)) >= 5 for (_, before), (_, after) in pairwise(points))


@pytest.fixture
def steps(trials: dict[str, np.ndarray]) -> pa.Analysis:
    return pa.analyze(trials, "loss")


def test_where_a_part_of_the_rows_ends(steps: pa.Analysis, trials: dict[str, np.ndarray]) -> None:
    ordered = np.sort(trials["loss"])
    assert steps.data.reach(0.1) == (ordered[39], 40)
    assert steps.data.reach(0.123) == (ordered[49], 50)  # beside the ladder: counted anew
    assert steps.data.reach(1.0) == (np.inf, 400)


def test_the_ladder_has_what_was_asked_and_enough_rows(steps: pa.Analysis) -> None:
    parts = [rung.part for rung in ladder_of(steps.data, [Fraction(3, 10)], None).rungs]
    assert parts == sorted({*RUNGS, Fraction(3, 10)} - {Fraction(1, 100)})  # 4 rows of 400
    ladder = ladder_of(steps.data, [], None)
    assert ladder.notes == ("the sliders do not offer the best 1 %, because a target needs at least 5 rows",)
    assert [rung.rows for rung in ladder.rungs][-1] == 400
    assert ladder.rungs[-1].threshold is None
    for rung in ladder.rungs[:-1]:
        assert rung.threshold == np.sort(steps.data.observations.ranked)[rung.rows - 1]
    assert len(ladder_of(steps.data, [], None, force=True).rungs) == 7


def test_rungs_of_the_same_rows_are_one() -> None:
    steps = pa.analyze({"x": np.arange(400.0), "y": np.repeat(np.arange(10.0), 40)}, "y", params=["x"])
    ladder = ladder_of(steps.data, [Fraction(1, 10)], None)
    assert [float(rung.part) for rung in ladder.rungs] == [0.1, 0.2, 0.5, 1.0]
    assert "the best 1 %, 2 %, 5 %, because another step already selects the same rows" in ladder.notes[0]


def test_a_loaded_analysis_has_the_rungs_that_were_counted(steps: pa.Analysis, tmp_path: Path) -> None:
    few = pa.analyze(steps.data.observations.table, "loss", levels=[0.25, 0.75])
    few.save(tmp_path / "few.pedanova", rows=False)
    loaded = pa.load(tmp_path / "few.pedanova")
    made = payload_of(loaded.data, "t", ((0.25, 1.0),), estimator="counts", draws=0, reduce=False)
    assert [rung["part"] for rung in made["facts"]["rungs"]] == [0.25, 0.75, 1.0]
    pairs = next(one for one in made["answers"] if one["part"] == "pairs")
    assert "no longer available" in pairs["answer"]["refused"]


@pytest.mark.parametrize(
    ("rows", "part"),
    [(0.1, Fraction(1, 10)), (1, Fraction(1)), (pa.between(0.0, 0.2), Fraction(1, 5)), (pa.at_most(3.0), None),
     (pa.between(0.1, 0.2), None), ({"x": (0, 1)}, None), ("x > 3", None)],
)  # fmt: skip
def test_what_is_a_part(rows: object, part: Fraction | None) -> None:
    assert part_of(rows) == part
