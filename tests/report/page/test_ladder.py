"""The steps of the objective's edges: parts of the rows that can be a target or a region."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import pedanova as pa
from pedanova.report.page.embedded import payload_of
from pedanova.report.page.facts import RUNGS, ladder_of, part_of


@pytest.fixture
def a(trials: dict[str, np.ndarray]) -> pa.Analysis:
    return pa.analyze(trials, "loss")


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
    loaded = pa.load(tmp_path / "few.pedanova")
    made = payload_of(loaded, "t", ((0.25, 1.0),), estimator="counts", draws=0, reduce=False)
    assert [rung["part"] for rung in made["facts"]["rungs"]] == [0.25, 0.75, 1.0]
    pairs = next(one for one in made["answers"] if one["part"] == "pairs")
    assert "no longer at hand" in pairs["answer"]["refused"]


@pytest.mark.parametrize(
    ("rows", "part"),
    [(0.1, Fraction(1, 10)), (1, Fraction(1)), (pa.between(0.0, 0.2), Fraction(1, 5)), (pa.at_most(3.0), None),
     (pa.between(0.1, 0.2), None), ({"x": (0, 1)}, None), ("x > 3", None)],
)  # fmt: skip
def test_what_is_a_part(rows: object, part: Fraction | None) -> None:
    assert part_of(rows) == part
