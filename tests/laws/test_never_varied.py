"""A parameter that had one value in all rows: nothing is said of it, and it disturbs nobody else."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pedanova as pa
from helpers.common import COUNTS
from pedanova.errors import DataError
from pedanova.report.page.cards import payload_of

STILL = ("const", "kind", "whole")
SPACE = {
    "x": pa.Float(0, 1), "y": pa.Float(0, 1), "const": pa.Float(0, 1),
    "kind": pa.Categorical(["adam", "sgd"]), "whole": pa.Int(1, 5),
}  # fmt: skip


def table(rows: int = 300) -> dict[str, np.ndarray]:
    random = np.random.default_rng(0)
    x, y = random.random((2, rows))
    still = {"const": np.full(rows, 0.5), "kind": np.full(rows, "adam"), "whole": np.full(rows, 3)}
    return {"x": x, "y": y, **still, "loss": (x - 0.3) ** 2 + 0.2 * y}


@pytest.fixture(scope="module", params=["given", "guessed"])
def a(request: pytest.FixtureRequest) -> pa.Analysis:
    """With a space, or with parameters that are named: of other columns, those with one value are no parameters."""
    given: dict[str, Any] = {"space": SPACE} if request.param == "given" else {"params": list(SPACE)}
    return pa.analyze(table(), "loss", **given)


@pytest.fixture(scope="module")
def alone() -> pa.Analysis:
    """The same rows without the columns that never vary."""
    rows = {name: column for name, column in table().items() if name not in STILL}
    return pa.analyze(rows, "loss", space={name: SPACE[name] for name in ("x", "y")})


@pytest.mark.parametrize("baseline", ["region", "uniform"])
@pytest.mark.parametrize("estimator", ["counts", "surrogate"])
def test_nothing_is_said_of_it(a: pa.Analysis, estimator: str, baseline: str) -> None:
    found = a.importance(estimator=estimator, baseline=baseline, draws=200)
    assert list(found)[2:] == list(STILL)
    for name in STILL:
        row = found[name]
        assert not row.varied
        assert (row.ratio, row.share, row.raw_share, row.divergence, row.variance) == (0, 0, 0, 0, 0)
        assert (row.low, row.high, row.p_value, row.significant) == (None, None, None, None)
    assert all(found[name].varied and found[name].significant for name in ("x", "y"))
    assert any(note.startswith("const, kind, whole: never varied in these rows") for note in found.notes)
    assert not any("far from uniform" in note for note in found.notes)
    assert "never varied" in str(found)
    assert "const, kind and whole never varied." in found.summary()
    columns = found.to_dict()
    assert columns["varied"] == [True, True, False, False, False]
    assert found.to_markdown().count("never varied") == 3
    assert "never varied" in found._repr_html_()


@pytest.mark.parametrize("question", [(0.1, 1.0), (0.2, 0.5)])
def test_others_are_judged_as_without_it(a: pa.Analysis, alone: pa.Analysis, question: tuple[float, float]) -> None:
    """By counts to the last digit; a model's points are other ones, since each parameter draws its own."""
    if a.space["x"] == SPACE["x"]:
        options = {"estimator": "counts", "draws": 300}
        expected, found = (b.importance(*question, **options).rows for b in (alone, a))
        assert found[:2] == expected
    expected, found = (b.importance(*question, draws=200) for b in (alone, a))
    for name in ("x", "y"):
        assert found[name].ratio == pytest.approx(expected[name].ratio, abs=0.03)
        assert found[name].significant == expected[name].significant


def test_a_region_may_hold_one_value_only() -> None:
    """Counts cannot speak of it there; a model of all rows can."""
    random = np.random.default_rng(1)
    x, kind = random.random(300), random.integers(0, 2, 300)
    b = pa.analyze({"x": x, "kind": np.where(kind == 0, "a", "b"), "loss": 5 * kind + x}, "loss")
    row = b.importance(0.1, 0.3, **COUNTS)["kind"]
    assert (row.varied, row.n_region) == (False, 90)
    assert b.importance(0.1, **COUNTS)["kind"].varied
    inside = b.importance(0.1, 0.3, estimator="surrogate")["kind"]
    assert inside.varied
    assert inside.p_value == 1.0  # no dice of rounding where there is nothing to order
    box = b.importance(0.1, {"kind": {"a"}})
    assert [row.varied for row in box.rows] == [True, False]


def test_the_other_answers_do_not_stumble(a: pa.Analysis, tmp_path: Path) -> None:
    for estimator in ("counts", "surrogate"):
        profile = a.profile(estimator=estimator)
        assert profile.notes[0].startswith("const, kind, whole: never varied")
        assert all(row.ratio == 0 for name in STILL for _, row in profile.of(name))
        reduced = a.reduce(estimator=estimator)
        for name in STILL:
            assert (reduced[name].advice, reduced[name].after) == ("undecided", a.space[name])
            assert "never varied" in reduced[name].reason
        assert reduced["x"].advice != "undecided"
    pairs = a.interactions()
    assert any("no interaction can be measured" in note for note in pairs.notes)
    assert all(row.p_adjusted == 1.0 for row in pairs.rows if {row.first, row.second} & set(STILL))
    one = next(row for row in pairs.rows if {row.first, row.second} == {"x", "y"})
    assert one.p_adjusted == one.p_value  # the only pair that could be tested
    assert a.densities("const").region.sum() == pytest.approx(1.0)
    assert a.effects()["const"].share == 0
    a.save(tmp_path / "a.pedanova")
    kept = pa.load(tmp_path / "a.pedanova").importance(estimator="counts", draws=0)
    assert [row.varied for row in kept.rows] == [True, True, False, False, False]


def test_where_nothing_varies_at_all() -> None:
    still = {name: column for name, column in table(80).items() if name in (*STILL, "loss")}
    with pytest.raises(DataError, match="no parameter varies: const, kind, whole always had one value; give trials"):
        pa.analyze(still, "loss")
    b = pa.analyze(still, "loss", space={name: SPACE[name] for name in STILL})
    found = b.importance()
    assert found.estimator == "counts"
    assert not any(row.varied for row in found.rows)
    assert len([note for note in found.notes if "never varied" in note]) == 1
    assert not any("distinguishable from noise" in note for note in found.notes)
    assert b.profile().steps
    assert {row.advice for row in b.reduce().rows} == {"undecided"}


def test_in_the_terminal_and_in_scripts(run, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    rows = table()
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([rows, *zip(*rows.values(), strict=True)])
    options = ["--objective", "loss", "--params", ",".join(SPACE), "--estimator", "counts", "--draws", 100]
    text = " ".join(run("analyze", path, *options)[1].split())
    assert "const, kind and whole never varied." in text
    assert "~" not in text
    answer = json.loads(run("analyze", path, *options, "--format", "json")[1])
    const = next(row for row in answer["importance"] if row["parameter"] == "const")
    assert (const["varied"], const["p_value"], const["share"]) == (False, None, 0.0)
    assert "const: never varied in these rows" in run("densities", path, "const", *options)[1]


def test_a_figure_and_the_page_say_so(a: pa.Analysis) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    ax = a.plot.importance(estimator="counts", draws=100)
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert "const (never varied)" in labels
    matplotlib.pyplot.close("all")
    made = payload_of(a.data, "t", [(0.1, 1.0)], ladder=[0.1, 1.0], reduce=False, estimator="counts", draws=100)
    answer = made["answers"][0]["answer"]
    rows = {row.pop("parameter"): row for row in answer["importances"]}
    assert rows["kind"] == rows["const"]
    assert rows["kind"]["varied"] is False
    assert "const, kind and whole never varied." in answer["summary"]
