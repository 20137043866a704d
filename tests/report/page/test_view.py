"""What the page shows, before it is drawn: rows that equal the analysis' own answers."""

from __future__ import annotations

import base64
import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pedanova as pa
from helpers.common import refuse
from pedanova.errors import QueryError
from pedanova.measures.importance import Importances
from pedanova.report.page.html import draw_page
from pedanova.report.page.ladder import RUNGS, ladder_of, part_of
from pedanova.report.page.payload import columns_of, packed_counts, payload_of, rounded, to_json
from pedanova.report.page.shapes import shape_of, spread_of
from pedanova.report.page.specs import all_specs
from pedanova.report.page.view import View, view_of
from pedanova.report.sentences import summarize

QUICK = {"estimator": "counts", "draws": 50, "reduce": False}
LADDER = [0.1, 0.5, 1.0]


@pytest.fixture
def a(trials: dict[str, np.ndarray]) -> pa.Analysis:
    return pa.analyze(trials, "loss")


def view(a: pa.Analysis, **options: Any) -> View:
    return view_of(a, "title", options.pop("questions", ((0.1, 1.0),)), **{**QUICK, **options})


def decoded(column: Any, columns: dict[str, Any], rows: int) -> list[Any]:
    """A column as the page reads it."""
    if isinstance(column, list):
        return column
    if "as" in column:
        return decoded(columns[column["as"]], columns, rows)
    if "all" in column:
        return [column["all"]] * rows
    numbers = np.frombuffer(base64.b64decode(column["doubles"]), dtype="<f8")
    return [None if np.isnan(x) else float(x) for x in numbers]


def same_table(columns: dict[str, Any], found: Importances) -> None:
    wanted = found.to_dict()
    names = wanted.pop("parameter")
    assert list(columns) == list(wanted)
    for name, cells in wanted.items():
        assert decoded(columns[name], columns, len(names)) == cells, name


def test_every_pair_is_answered_as_the_analysis_answers(a: pa.Analysis) -> None:
    made = view(a, ladder=LADDER)
    payload = json.loads(to_json(made))
    assert [one["rungs"] for one in payload["questions"]] == [[0, 1], [0, 2], [1, 2]]
    for one in payload["questions"]:
        target, region = (LADDER[i] for i in one["rungs"])
        for baseline in ("region", "uniform"):
            found = a.importance(target, region, baseline, estimator="counts", draws=50)
            answer = one["answers"][baseline]
            assert [payload["names"][i] for i in answer["order"]] == list(found)
            same_table(answer["columns"], found)
            assert payload["texts"][answer["summary"]] == summarize(found)
            assert [payload["texts"][i] for i in answer["notes"]] == list(found.notes)
        assert one["sizes"] == [found.rows[0].n_target, found.rows[0].n_region]


def test_columns_that_say_nothing_new_are_short(a: pa.Analysis) -> None:
    columns = columns_of(a.importance(0.1, 1.0, estimator="counts", draws=0))
    assert columns["n_target"] == {"all": 40}
    assert columns["value"] == {"as": "divergence"}
    assert columns["low"] == {"all": None}
    assert set(columns["share"]) == {"doubles"}


def test_spreads_are_the_densities(a: pa.Analysis) -> None:
    found = a.all_densities(0.1, 1.0)
    for name, density in found.items():
        shape = shape_of(density)
        spread = spread_of(density, shape)
        assert spread.target.sum() == pytest.approx(1)
        assert spread.region.sum() == pytest.approx(1)
        assert len(shape.labels) == len(spread.target) <= 40
        if name in ("optimizer", "layers"):
            np.testing.assert_allclose(spread.target, density.target)
            assert shape.edges is None
        if name == "lr":
            assert shape.log
            assert shape.edges is not None
            assert shape.edges[0] == density.edges[0]
            assert shape.edges[-1] == density.edges[-1]


def test_rare_categories_share_a_bar() -> None:
    random = np.random.default_rng(0)
    data = {"c": random.choice([f"c{i}" for i in range(60)], 2000), "y": random.random(2000)}
    found = pa.analyze(data, "y").densities("c")
    shape = shape_of(found)
    assert shape.points == 40
    assert shape.labels[-1] == "21 others"
    assert spread_of(found, shape).region.sum() == pytest.approx(1)


def test_all_planes_at_once_are_those_of_each_pair(a: pa.Analysis) -> None:
    planes = a.pairs(["layers", "lr", "optimizer"], 0.1, 0.5, cells=4)
    assert list(planes) == [("lr", "layers"), ("lr", "optimizer"), ("layers", "optimizer")]
    for (first, second), plane in planes.items():
        alone = a.pair(first, second, 0.1, 0.5, cells=4)
        assert plane.to_dict() == alone.to_dict()
    assert len(a.pairs()) == 10


def test_where_a_part_of_the_rows_ends(a: pa.Analysis, trials: dict[str, np.ndarray]) -> None:
    ordered = np.sort(trials["loss"])
    assert a.reach(0.1) == (ordered[39], 40)
    assert a.reach(0.123) == (ordered[49], 50)  # beside the ladder: counted anew
    assert a.reach(1.0) == (np.inf, 400)


def test_the_ladder_has_what_was_asked_and_enough_rows(a: pa.Analysis) -> None:
    parts = [rung.part for rung in ladder_of(a, [Fraction(3, 10)], None).rungs]
    assert parts == sorted({*RUNGS, Fraction(3, 10)} - {Fraction(1, 100)})  # 4 rows of 400
    ladder = ladder_of(a, [], None)
    assert ladder.notes == ("left out of the sliders, with fewer than 5 rows: the best 1 %",)
    assert [rung.rows for rung in ladder.rungs][-1] == 400
    assert ladder.rungs[-1].threshold is None
    for rung in ladder.rungs[:-1]:
        assert rung.threshold == np.sort(a.observations.ranked)[rung.rows - 1]
    assert len(ladder_of(a, [], None, force=True).rungs) == 7


def test_rungs_of_the_same_rows_are_one() -> None:
    a = pa.analyze({"x": np.arange(400.0), "y": np.repeat(np.arange(10.0), 40)}, "y", params=["x"])
    ladder = ladder_of(a, [Fraction(1, 10)], None)
    assert [float(rung.part) for rung in ladder.rungs] == [0.1, 0.2, 0.5, 1.0]
    assert "the same rows as a neighbour: 1 %, 2 %, 5 %" in ladder.notes[0]


def test_a_loaded_analysis_has_the_rungs_that_were_counted(a: pa.Analysis, tmp_path: Path) -> None:
    few = pa.analyze(a.observations.table, "loss", levels=[0.25, 0.75])
    few.save(tmp_path / "few.pedanova")
    made = view(pa.load(tmp_path / "few.pedanova"), questions=((0.25, 1.0),))
    assert [float(rung.part) for rung in made.ladder.rungs] == [0.25, 0.75, 1.0]
    assert made.questions[0].pairs is not None
    assert "no longer at hand" in made.questions[0].pairs.refused


@pytest.mark.parametrize(
    ("rows", "part"),
    [(0.1, Fraction(1, 10)), (1, Fraction(1)), (pa.between(0.0, 0.2), Fraction(1, 5)), (pa.at_most(3.0), None),
     (pa.between(0.1, 0.2), None), ({"x": (0, 1)}, None), ("x > 3", None)],
)  # fmt: skip
def test_what_is_a_part(rows: object, part: Fraction | None) -> None:
    assert part_of(rows) == part


@pytest.mark.slow
def test_questions_that_sliders_cannot_ask(a: pa.Analysis) -> None:
    made = view(a, ladder=LADDER, questions=((pa.at_most(1.0), 1.0), (0.1, {"optimizer": {"adam"}})))
    first, second = made.questions[-2:]
    assert made.start == len(made.questions) - 2
    assert first.words == ("rows with objective ≤ 1", "all rows")
    found = a.importance(0.1, {"optimizer": {"adam"}}, estimator="counts", draws=50)
    assert second.answers["region"].importances.to_dict() == found.to_dict()


def test_mistakes_are_errors_and_no_refused_answers(a: pa.Analysis) -> None:
    refuse(QueryError, "estimator='x'", of=lambda: view(a, estimator="x"))
    refuse(QueryError, "colour=", of=lambda: view(a, colour="red"))
    refuse(QueryError, "swap them", of=lambda: view(a, questions=((0.5, 0.1),)))
    refuse(QueryError, "questions=[]", of=lambda: view(a, questions=()))
    refuse(QueryError, "ladder='0.1'", of=lambda: view(a, ladder="0.1"))
    refuse(QueryError, "ladder=2", of=lambda: view(a, ladder=[2]))
    refuse(QueryError, "more than 24", of=lambda: view(a, ladder=np.linspace(0.1, 1, 40).tolist()))


def test_refused_pairs_say_why() -> None:
    a = pa.analyze({"x": [1.0, 2, 3, 4, 5, 6], "y": [1.0, 2, 3, 4, 5, 6]}, "y", params=["x"])
    made = view(a)
    assert [rung.words for rung in made.ladder.rungs] == ["the best 10 %", "all rows"]
    answer = made.questions[0].answers["region"]
    assert answer.importances is None
    assert "force" in answer.refused
    assert answer.summary.startswith("This cannot be answered: ")


@pytest.mark.slow
def test_no_row_of_the_data_is_in_the_payload(trials: dict[str, np.ndarray]) -> None:
    a = pa.analyze(trials, "loss")
    text = to_json(view(a, reduce=True))
    for column in ("loss", "lr", "momentum"):
        inner = np.sort(trials[column])[1:-1]  # the bounds of a guessed space are its ends
        assert not [value for value in inner if repr(float(value)) in text]
    small = pa.analyze({name: column[:12] for name, column in trials.items()}, "loss")
    shown = [x for x, _ in payload_of(view(small, ladder=[0.5, 1.0]))["reached"]]
    assert len(shown) <= 2  # at least five rows apart


def test_the_payload_cannot_end_its_element() -> None:
    name = "</script><!--\u2028&"
    random = np.random.default_rng(0)
    a = pa.analyze({name: random.random(50), "y": random.random(50)}, "y", params=[name])
    text = to_json(view(a, ladder=[0.5, 1.0], questions=((0.5, 1.0),)))
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text)["names"] == [name]


def test_planes_are_counts() -> None:
    for largest, size in ((255, 1), (256, 2), (65_536, 4), (1 << 40, 8)):
        table = np.array([[0, 1], [2, largest]])
        text = packed_counts(table)
        assert text[0] == str(size)
        assert np.frombuffer(base64.b64decode(text[1:]), f"<u{size}").tolist() == table.ravel().tolist()


@pytest.mark.slow
def test_many_parameters_are_not_all_paired() -> None:
    random = np.random.default_rng(0)
    data = {f"x{i}": random.random(300) for i in range(16)}
    made = view(pa.analyze({**data, "y": data["x11"] + data["x3"]}, "y"), ladder=[0.1, 1.0])
    pairs = made.questions[0].pairs
    assert pairs is not None
    assert len(pairs.planes) == 45
    assert ("x3", "x11") in pairs.planes


@pytest.mark.slow
def test_thirty_parameters_fit_into_a_file_of_a_megabyte_and_a_half() -> None:
    random = np.random.default_rng(0)
    data = {f"parameter_{i}": random.random(1000) for i in range(30)}
    loss = sum(0.5**i * (column - 0.3) ** 2 for i, column in enumerate(data.values()))
    made = view(pa.analyze({**data, "loss": loss}, "loss"))
    assert len(made.questions) == 21
    assert len(draw_page(made)) < 1_450_000  # larger counts have a digit or two more


def test_specs_hold_no_word_of_the_user() -> None:
    specs = all_specs([1.0, 10.0], log_objective=True, objective="loss")
    text = json.dumps({name: spec for name, spec in specs.items() if name != "objective"})
    assert "loss" not in text
    expressions = [part for part in text.split('"') if "datum" in part]
    assert set(expressions) <= {f"{words}[datum.value]" for words in ("names", "cells", "firsts", "seconds")}


def test_numbers_are_rounded_for_drawing_only() -> None:
    assert rounded(0.123456) == 0.1235
    assert rounded(12.0) == 12
    assert rounded(float("nan")) is None


def test_summaries(a: pa.Analysis) -> None:
    found = a.importance(0.5, 1.0, estimator="counts", draws=200)
    text = summarize(found)
    assert text.startswith("lr explains ")
    assert "separates the best 50 % from the rest." in text
    assert text.endswith("are not distinguishable from noise.")
    local = summarize(a.importance(0.1, 0.5, estimator="counts", draws=200))
    assert "from the rest of the best 50 %." in local


def test_summaries_of_odd_tables() -> None:
    """All parameters named, names of 300 letters, and shares that are no parts of a variance."""
    random = np.random.default_rng(0)
    x, y = random.random((2, 300))
    both = pa.analyze({"x": x, "y" * 300: y}, (x - 0.3) ** 2 + 0.3 * y)
    text = summarize(both.importance(0.3, 1.0, estimator="counts", draws=200))
    assert re.match(r"x explains \d+\s% \(\d+ to \d+\s%\) of what decides, then y{11}…y{11} \d+\s%\.", text)
    found = both.importance(0.02, 0.05, "uniform", estimator="counts", draws=200)
    assert found["y" * 300].share > 1
    assert "explains" not in summarize(found)


@pytest.mark.slow
def test_the_same_twice(a: pa.Analysis) -> None:
    assert to_json(view(a, ladder=LADDER)) == to_json(view(a, ladder=LADDER))
