"""Rows of every kind as target, as region and as where=: masks, columns, boxes, conditions, bands."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pedanova as pa
from helpers.common import COUNTS
from pedanova.data.column import as_column
from pedanova.data.regions import rows_in_box
from pedanova.errors import DataError, PedanovaError, QueryError

SPACE = {
    "lr": pa.Float(1e-5, 1.0, log=True),
    "momentum": pa.Float(0, 1),
    "layers": pa.Int(1, 5),
    "optimizer": pa.Categorical(["adam", "rmsprop", "sgd"]),
    "nesterov": pa.Categorical([False, True]),
}
LEVELS = (0.05, 0.25, 0.5)
Trials = dict[str, np.ndarray]


@pytest.fixture
def analysis(trials: Trials) -> pa.Analysis:
    return pa.analyze(trials, "loss", space=SPACE, levels=LEVELS)


@pytest.fixture
def inside(trials: Trials) -> np.ndarray:
    """A region that only its rows know."""
    return (trials["lr"] > 1e-4) & (trials["optimizer"] != "sgd")


def subset(trials: Trials, mask: np.ndarray) -> pa.Analysis:
    return pa.analyze({name: values[mask] for name, values in trials.items()}, "loss", space=SPACE, levels=LEVELS)


def brothers(mask: np.ndarray) -> list[object]:
    """The same mask as everything that may hold one."""
    return [
        mask, mask.tolist(), tuple(mask.tolist()), pd.Series(mask), pd.Series(mask, dtype="boolean"), pl.Series(mask),
        mask.astype(object), np.repeat(mask, 2)[::2],
    ]  # fmt: skip


def test_masks_of_every_kind(analysis: pa.Analysis, trials: Trials, inside: np.ndarray) -> None:
    good = inside & (trials["loss"] < 1)
    expected = analysis.importance(good, inside, **COUNTS)
    assert expected["lr"].n_target == good.sum()
    assert expected["lr"].n_region == inside.sum()
    for target, region in zip(brothers(good), brothers(inside), strict=True):
        assert analysis.importance(target, region, **COUNTS).rows == expected.rows
    filtered = subset(trials, inside)
    for where in brothers(inside):
        a = pa.analyze(trials, "loss", space=SPACE, where=where)
        assert a.importance(0.2, **COUNTS) == filtered.importance(0.2, **COUNTS)


BOXES: list[tuple[dict[str, object], str]] = [
    ({"lr": (1e-4, 1e-2)}, "lr >= 1e-4 and lr <= 1e-2"),
    ({"lr": (None, 1e-2)}, "lr <= 1e-2"),
    ({"lr": (1e-2, None)}, "lr >= 1e-2"),
    ({"lr": (np.float32(0.25), np.int64(1))}, "0.25 <= lr <= 1"),
    ({"lr": (1e-4, 1e-2), "optimizer": {"adam", "sgd"}}, "1e-4 <= lr <= 1e-2 and optimizer in ['adam', 'sgd']"),
    ({"optimizer": "adam"}, "optimizer == 'adam'"),
    ({"optimizer": ["adam"], "layers": {1, 2, 3}}, "optimizer == 'adam' and layers <= 3"),
    ({"layers": 3}, "layers == 3"),
    ({"layers": np.array([3, 4])}, "layers in (3, 4)"),
    ({"layers": (2, 4)}, "2 <= layers <= 4"),
    ({"nesterov": True}, "nesterov"),
    ({"nesterov": {False}, "loss": (None, 3)}, "not nesterov and loss <= 3"),
]  # fmt: skip


@pytest.mark.parametrize(("box", "condition"), BOXES)
def test_a_box_its_condition_its_mask_and_its_rows_alone_say_the_same(
    analysis: pa.Analysis, trials: Trials, box: dict[str, object], condition: str
) -> None:
    mask = pd.DataFrame(trials).eval(condition).to_numpy(dtype=bool)
    alone = subset(trials, mask)
    filtered = [pa.analyze(trials, "loss", space=SPACE, where=where) for where in (box, condition, mask)]
    for target in (0.35, pa.between(0.1, 0.3), pa.at_most(float(np.median(trials["loss"][mask])))):
        expected = alone.importance(target, **COUNTS)
        for region in (box, condition, mask):
            assert analysis.importance(target, region, **COUNTS).rows == expected.rows
        assert all(a.importance(target, **COUNTS).rows == expected.rows for a in filtered)
    assert expected.rows[0].n_region == mask.sum()
    for region in (box, condition, mask):
        assert analysis.profile(region, estimator="counts").steps == alone.profile(estimator="counts").steps
        assert (
            analysis.densities("lr", 0.1, region, estimator="counts").to_dict()
            == alone.densities("lr", 0.1, estimator="counts").to_dict()
        )
    assert all(len(a) == mask.sum() and a.data.dropped == len(mask) - mask.sum() for a in filtered)
    whole = analysis.importance(mask, **COUNTS)
    assert analysis.importance(box, **COUNTS).rows == analysis.importance(condition, **COUNTS).rows == whole.rows


def test_smoothing_and_baseline_within_rows(analysis: pa.Analysis, trials: Trials, inside: np.ndarray) -> None:
    alone = subset(trials, inside)
    for options in ({"baseline": "uniform"}, {"smoothing": "none"}, {"smoothing": 5.0, "baseline": "uniform"}):
        assert (
            analysis.importance(0.2, inside, **options, **COUNTS).rows
            == alone.importance(0.2, **options, **COUNTS).rows
        )  # type: ignore[arg-type]
        assert (
            analysis.profile(inside, **options, estimator="counts").steps
            == alone.profile(**options, estimator="counts").steps
        )  # type: ignore[arg-type]


def test_quantiles_are_taken_within(analysis: pa.Analysis, trials: Trials, inside: np.ndarray) -> None:
    best = np.sort(trials["loss"][inside])[: -(-int(inside.sum()) // 4)]
    row = analysis.importance(0.25, inside, **COUNTS)["lr"]
    assert row.n_target == len(best)
    marked = inside & (trials["loss"] <= best[-1])
    assert analysis.importance(marked, inside, **COUNTS)["lr"] == row
    within = pa.analyze(trials, "loss", space=SPACE, where=inside)
    assert within.importance(0.25, **COUNTS)["lr"] == row
    assert within.importance(0.25, {"layers": (2, 4)}, **COUNTS).rows == analysis.importance(
        0.25, inside & (trials["layers"] >= 2) & (trials["layers"] <= 4)
    , **COUNTS).rows  # fmt: skip


def test_a_mask_inside_a_quantile(analysis: pa.Analysis, trials: Trials) -> None:
    best = trials["loss"] <= np.sort(trials["loss"])[199]
    good = best & (trials["lr"] < 1e-3)
    assert analysis.importance(good, 0.5, **COUNTS).rows == analysis.importance(good, best, **COUNTS).rows
    cut = float(np.sort(trials["loss"])[199])
    assert analysis.importance(good, pa.at_most(cut), **COUNTS).rows == analysis.importance(good, best, **COUNTS).rows


def test_a_region_of_the_objective_as_where(analysis: pa.Analysis, trials: Trials) -> None:
    best = trials["loss"] <= np.sort(trials["loss"])[99]
    for where in (0.25, pa.at_most(float(np.sort(trials["loss"])[99]))):
        a = pa.analyze(trials, "loss", space=SPACE, where=where)
        assert len(a) == 100
        assert a.importance(0.2, **COUNTS).rows == subset(trials, best).importance(0.2, **COUNTS).rows
        assert "100 of 400" in a.notes[0]
    band = pa.analyze(trials, "loss", space=SPACE, where=pa.between(0.25, 0.75))
    assert (
        band.importance(0.5, **COUNTS).rows
        == analysis.importance(pa.between(0.25, 0.5), pa.between(0.25, 0.75), **COUNTS).rows
    )


def test_boolean_columns(trials: Trials) -> None:
    nesterov = trials["nesterov"]
    gappy = [None if i % 10 == 0 else bool(value) for i, value in enumerate(nesterov)]
    marked = np.array([value is True for value in gappy])
    data = {**trials, "gappy": np.array(gappy, dtype=object)}
    a = pa.analyze(data, "loss", space=SPACE)
    assert a.importance(0.1, "gappy", **COUNTS).rows == a.importance(0.1, marked, **COUNTS).rows
    assert a.importance("gappy", **COUNTS).rows == a.importance(marked, **COUNTS).rows
    assert (
        pa.analyze(data, "loss", space=SPACE, where="gappy").importance(**COUNTS).rows
        == a.importance(0.1, marked, **COUNTS).rows
    )
    assert a.importance(0.1, "gappy", **COUNTS).region == "rows marked gappy"
    with pytest.raises(QueryError, match="region='layers' is not a boolean column; compare it, as in \"layers == …\""):
        a.importance(0.1, "layers", **COUNTS)


def test_rows_without_a_value_are_in_no_box() -> None:
    random = np.random.default_rng(0)
    x, label = random.random(300), random.choice(["a", "b", ""], 300)
    text = [value or None for value in label.tolist()]
    a = pa.analyze({"x": np.where(x < 0.2, np.nan, x), "c": text, "z": random.random(300)}, random.random(300))
    assert a.importance(0.1, {"x": (None, None)}, **COUNTS)["z"].n_region == np.sum(x >= 0.2)
    assert a.importance(0.1, {"x": (0.0, 0.5)}, **COUNTS)["z"].n_region == np.sum((x >= 0.2) & (x <= 0.5))
    assert a.importance(0.1, {"c": {"a", "b"}}, **COUNTS)["z"].n_region == np.sum(label != "")


def test_dropped_rows_are_in_no_set(trials: Trials, inside: np.ndarray) -> None:
    loss = np.where(np.arange(400) < 50, np.nan, trials["loss"])
    data = {**trials, "loss": loss}
    kept = np.arange(400) >= 50
    a = pa.analyze(data, "loss", space=SPACE)
    alone = subset(trials, inside & kept)
    for region in (inside, "lr > 1e-4 and optimizer != 'sgd'"):
        assert a.importance(0.2, region, **COUNTS).rows == alone.importance(0.2, **COUNTS).rows
        assert (
            pa.analyze(data, "loss", space=SPACE, where=region).importance(0.2, **COUNTS).rows
            == alone.importance(0.2, **COUNTS).rows
        )
    assert a.importance(inside, **COUNTS)["lr"].n_target == np.sum(inside & kept)
    worst = pa.analyze(data, "loss", space=SPACE, reading=pa.Reading(nan="worst"))
    assert worst.importance(0.2, inside, **COUNTS)["lr"].n_region == inside.sum()
    assert worst.importance(inside, **COUNTS)["lr"].n_region == 400


class TestBands:
    def test_quantiles_and_values_agree(self, analysis: pa.Analysis, trials: Trials) -> None:
        order = np.sort(trials["loss"])
        by_value = pa.between(float(order[40]), float(order[119]), values=True)
        assert analysis.importance(by_value, **COUNTS).rows == analysis.importance(pa.between(0.1, 0.3), **COUNTS).rows

    def test_inside_each_other(self, analysis: pa.Analysis, trials: Trials) -> None:
        row = analysis.importance(pa.between(0.2, 0.3), pa.between(0.1, 0.5), **COUNTS)["lr"]
        assert (row.n_target, row.n_region) == (40, 160)
        order = np.argsort(np.argsort(trials["loss"]))
        target, region = (order >= 80) & (order < 120), (order >= 40) & (order < 200)
        assert analysis.importance(target, region, **COUNTS)["lr"] == row

    def test_a_band_of_the_plane(self) -> None:
        """|x1 - x2| <= 0.1, the target its lower half: each parameter explains 53/57 (exact)."""
        middle = (np.arange(501) + 0.5) / 501
        x1, x2 = (part.ravel() for part in np.meshgrid(middle, middle, indexing="ij"))
        a = pa.analyze({"x1": x1, "x2": x2}, x1 + x2, space={"x1": pa.Float(0, 1), "x2": pa.Float(0, 1)}, levels=[0.5])
        band = np.abs(x1 - x2) <= 0.1
        found = a.importance(band & (x1 + x2 <= 1), band, smoothing="none", **COUNTS)
        assert [row.raw_share for row in found.rows] == pytest.approx([53 / 57] * 2, rel=5e-3)

    def test_a_diagonal(self) -> None:
        """Two parameters that repeat each other explain everything, each alone."""
        table = {"a": [0, 1, 0, 1], "b": [0, 1, 1, 0], "y": [0.0, 1.0, 2.0, 2.0]}
        a = pa.analyze(table, "y", space={"a": pa.Ordinal([0, 1]), "b": pa.Ordinal([0, 1])})
        for target, region in ((0.25, 0.5), (pa.at_most(0), pa.at_most(1)), ("y == 0", "a == b"), (0.5, "y < 2")):
            assert [row.raw_share for row in a.importance(target, region, **COUNTS).rows] == [1.0, 1.0]

    def test_ties_stay_together(self) -> None:
        y = [0, 0, 0, 1, 2, 3, 4, 5, 6, 7]
        a = pa.analyze({"x": np.arange(10) % 3, "half": [True, False] * 5}, y, params=["x"])
        assert a.importance(0.1, **COUNTS)["x"].n_target == 3
        assert a.importance(0.1, "half", **COUNTS)["x"].n_target == 2
        assert any("3 of 10 rows" in note for note in a.importance(0.1, **COUNTS).notes)


class TestClasses:
    @pytest.fixture
    def judged(self, trials: Trials) -> Trials:
        label = np.where(trials["loss"] < 1, "good", "bad")
        return {**{name: trials[name] for name in SPACE}, "label": label}

    def test_a_label_as_objective(self, judged: Trials, analysis: pa.Analysis, trials: Trials) -> None:
        expected = analysis.importance(trials["loss"] < 1, **COUNTS).rows
        for data, direction in ((judged, "maximize"), (pd.DataFrame(judged), "minimize")):
            a = pa.analyze(data, "label == 'good'", space=SPACE, direction=direction)
            assert a.importance(pa.between(1, 1, values=True), **COUNTS).rows == expected
            assert a.importance(pa.at_least(1), **COUNTS).rows == expected
            assert a.importance("label == 'good'", **COUNTS).rows == expected
        assert str(pa.between(1, 1, values=True)) == "rows with objective = 1"

    def test_what_an_objective_compares_is_no_parameter(self, judged: Trials) -> None:
        a = pa.analyze(judged, "label == 'good' and `layers` < 9")
        assert "label" not in a.space
        assert "layers" not in a.space
        assert "lr" in a.space
        assert "layers" in pa.analyze(judged, "label in ['good']", exclude=["lr"]).space

    def test_equals_a_number(self, trials: Trials) -> None:
        data = {**trials, "epochs": trials["layers"] * 10}
        a = pa.analyze(data, "epochs", space={"lr": SPACE["lr"]})
        assert a.importance(pa.between(30, 30, values=True), **COUNTS)["lr"].n_target == np.sum(trials["layers"] == 3)

    def test_refusals(self, judged: Trials) -> None:
        with pytest.raises(DataError, match=r"objective 'label' holds text .* pass a comparison"):
            pa.analyze(judged, "label")
        with pytest.raises(DataError, match="no parameter can explain it"):
            pa.analyze(judged, "label == 'none such'")
        with pytest.raises(QueryError, match="no column is called 'labl'"):
            pa.analyze(judged, "labl == 'good'")
        with pytest.raises(DataError, match="did you mean 'label'"):
            pa.analyze(judged, "labl")


def test_words(analysis: pa.Analysis, inside: np.ndarray) -> None:
    region = {"lr": (1e-4, 1e-2), "momentum": (None, 0.5), "optimizer": {"sgd", "adam"}, "nesterov": True}
    found = analysis.importance(0.5, region, **COUNTS)
    assert found.region == "rows with lr from 0.0001 to 0.01, momentum ≤ 0.5, optimizer in adam, sgd, nesterov = True"
    assert found.target == "the best 50 %"
    assert analysis.importance("layers  ==\t3", **COUNTS).target == "rows where layers == 3"
    assert analysis.importance(inside, **COUNTS).target == f"the {inside.sum()} rows marked True"
    long = " or ".join(f"layers == {i}" for i in [1, 2] * 300)
    assert len(analysis.importance(long, **COUNTS).target) < 130


def test_a_target_outside_its_region_says_how_many_rows(analysis: pa.Analysis, trials: Trials) -> None:
    layers = trials["layers"]
    stray, target = int(np.sum(layers == 3)), int(np.sum(layers <= 3))
    words = f"target .* has {target} rows, and {stray} of them are outside region .*; choose a smaller target"
    for wanted, region in (
        ({"layers": (1, 3)}, {"layers": (1, 2)}),
        ("layers <= 3", "layers <= 2"),
        (layers <= 3, layers <= 2),
        ({"layers": (1, 3)}, layers <= 2),
    ):
        with pytest.raises(QueryError, match=words):
            analysis.importance(wanted, region, **COUNTS)
    best = trials["loss"] <= np.sort(trials["loss"])[39]
    stray = int(np.sum((layers == 1) & ~best))
    with pytest.raises(QueryError, match=f"has {np.sum(layers == 1)} rows, and {stray} of them are outside region"):
        analysis.importance({"layers": 1}, 0.1, **COUNTS)


def invalid() -> list[tuple[object, str]]:
    one = np.zeros(400, dtype=bool)
    one[7] = True
    return [
        ({"lrr": (0, 1)}, "box: no column is called 'lrr'; did you mean 'lr'"),
        ({3: (0, 1)}, "box: no column is called 3"),
        ({}, "the box is empty"),
        ({"lr": (1e-2, 1e-4)}, "must be .low, high. with low <= high"),
        ({"lr": (np.nan, 1)}, "must be .low, high. with low <= high"),
        ({"lr": ("a", "b")}, "must be .low, high."),
        ({"lr": (False, True)}, "must be .low, high."),
        ({"lr": (1, 2, 3)}, "must be .low, high. for numbers, or a set of values"),
        ({"lr": ()}, "must be .low, high. for numbers"),
        ({"lr": {np.nan}}, "only finite numbers"),
        ({"lr": set()}, "are empty"),
        ({"optimizer": ("a", "b")}, "optimizer=.* must be .low, high. for numbers, or a set of values"),
        ({"optimizer": {"nobody"}}, "(has 0 rows|no row is left)"),
        ({"lr": (5, 6)}, "(has 0 rows|no row is left)"),
        ("lr > 5", "(has 0 rows|no row is left)"),
        (np.zeros(400, dtype=bool), "(has 0 rows|no row is left)"),
        (one, "(has 1 row|only one row is left)"),
        (one[:-1], "has 399 values for 400 rows; give one boolean per row"),
        ([True, False], "has 2 values for 400 rows"),
        ([], "must be True or False for each row"),
        (np.ones(400), "must be True or False for each row"),
        (np.arange(400), "must be True or False for each row"),
        ([None, True] * 200, "must be True or False for each row"),
        (["a"] * 400, "must be True or False for each row"),
        (pd.Series([True, None] * 200, dtype="boolean"), "must be True or False for each row"),
        (np.ones((400, 2), dtype=bool), "one-dimensional"),
        ("lr >", "is not a condition; write it like this"),
        ("nobody", "no column is called 'nobody'"),
        ("", "is not a condition"),
        (2.0, "must be a quantile above 0 and at most 1"),
    ]  # fmt: skip


@pytest.mark.parametrize(("rows", "words"), invalid())
def test_invalid_rows(analysis: pa.Analysis, trials: Trials, rows: object, words: str) -> None:
    for ask in (
        lambda: analysis.importance(0.5, rows, **COUNTS),
        lambda: analysis.profile(rows),
        lambda: analysis.densities("lr", 0.5, rows),
        lambda: pa.analyze(trials, "loss", where=rows),
    ):
        with pytest.raises(PedanovaError, match=words) as refused:
            ask()
        assert "\n" not in str(refused.value)


def test_empty_and_full_targets(analysis: pa.Analysis) -> None:
    with pytest.raises(QueryError, match=r"target .* contains no row; choose a wider target"):
        analysis.importance("lr > 5", **COUNTS)
    with pytest.raises(QueryError, match="contain the same 400 rows; choose a smaller target"):
        analysis.importance("lr > 0", **COUNTS)
    with pytest.raises(QueryError, match="contain the same"):
        analysis.importance({"layers": 3}, "layers == 3", **COUNTS)


def test_dates_are_refused(trials: Trials) -> None:
    data = {**trials, "day": np.full(400, "2020-01-01", dtype="M8[D]")}
    a = pa.analyze(data, "loss", space=SPACE)
    for box in ({"day": (0, 1)}, {"day": {"2020-01-01"}}):
        with pytest.raises(QueryError, match="box: day holds dates"):
            a.importance(0.1, box, **COUNTS)


def test_a_loaded_analysis_has_no_rows(analysis: pa.Analysis, tmp_path: Path, inside: np.ndarray) -> None:
    analysis.save(tmp_path / "a.pedanova", rows=False)
    loaded = pa.load(tmp_path / "a.pedanova")
    assert loaded.importance(0.25, 0.5, **COUNTS) == analysis.importance(0.25, 0.5, **COUNTS)
    for rows in (inside, "layers == 3", {"layers": 3}, "nesterov"):
        for target, region in ((rows, 1.0), (0.1, rows)):
            with pytest.raises(QueryError, match="the rows are no longer available"):
                loaded.importance(target, region, **COUNTS)
        with pytest.raises(QueryError, match="the rows are no longer available"):
            loaded.profile(rows)


class ReadBox(dict[str, Any]):
    """A box that knows how often it was read."""

    reads = 0

    def items(self) -> Any:
        self.reads += 1
        return super().items()


@pytest.mark.parametrize(
    "ask",
    [
        lambda a, box: a.importance(0.2, box, **COUNTS),
        lambda a, box: a.importance(box, **COUNTS),
        lambda a, box: a.densities(None, 0.2, box),
        lambda a, box: a.profile(box),
        lambda a, box: a.effects(box),
        lambda a, box: a.interactions(0.2, box),
        lambda a, box: a.pairs(["lr", "layers"], 0.2, box),
        lambda a, box: a.reduce(box),
    ],
)
def test_a_question_reads_a_box_once(analysis: pa.Analysis, ask: Callable[[pa.Analysis, Any], object]) -> None:
    once, box = ReadBox(layers={1, 2}), ReadBox(layers={1, 2})
    analysis.within(once)
    ask(analysis, box)
    assert 0 < box.reads <= once.reads


def test_rows_asked_about_again_are_not_counted_anew(analysis: pa.Analysis, inside: np.ndarray) -> None:
    box = {"layers": {1, 2}}
    inner = analysis.within(box).data
    analysis.importance(0.37, **COUNTS)  # another question, whose levels were not counted before
    assert analysis.within(dict(box)).data is inner
    assert analysis.within("layers in [1, 2]").data is inner  # the same rows, however they are named
    assert analysis.within(inside).data is not inner


def test_a_range_holds_no_missing_value() -> None:
    x = np.ma.masked_array([0.1, 0.2, np.nan, 0.4, 0.5], mask=[0, 1, 0, 0, 0])
    table = {"x": as_column("x", x), "k": as_column("k", np.ma.masked_array([1, 2, 3, 4, 5], mask=[0, 0, 0, 1, 0]))}
    assert rows_in_box({"x": (None, None)}, table, 5).tolist() == [True, False, False, True, True]
    assert rows_in_box({"x": (0.15, 0.45)}, table, 5).tolist() == [False, False, False, True, False]
    assert rows_in_box({"k": (2, 4)}, table, 5).tolist() == [False, True, True, False, False]


def test_the_kernel_and_numpy_agree(
    analysis: pa.Analysis, trials: Trials, inside: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = inside & (trials["loss"] < 1)
    asked = [(0.2, inside), (good, inside), ("nesterov", {"nesterov": {True, False}})]
    fast = [analysis.importance(*question, **COUNTS) for question in asked]
    monkeypatch.setattr("pedanova.base.kernel.library.available", lambda: False)
    slow = pa.analyze(trials, "loss", space=SPACE)
    assert [slow.importance(*question, **COUNTS) for question in asked] == fast


ENDS = st.sampled_from([-math.inf, math.inf, 1e300, -1e300, -0.5, 0.0, 127.0, 255.0, 256.0, 2.0**63, 2.0**64])


@given(
    st.sampled_from([np.uint8, np.int8, np.int64, np.uint64]), ENDS | st.floats(-300, 300), ENDS | st.floats(-300, 300)
)
def test_whole_numbers_lie_where_plain_numbers_do(kind: Any, one: float, two: float) -> None:
    low, high = min(one, two), max(one, two)
    values = np.array([0, 1, 2, 100, 127, np.iinfo(kind).min], dtype=kind)
    wanted = [low <= value <= high for value in values.tolist()]
    assert rows_in_box({"n": (low, high)}, {"n": as_column("n", values)}, len(values)).tolist() == wanted


def test_the_last_row_of_every_run_where_rows_are_steps() -> None:
    runs, steps = 20, 5
    lr = np.repeat(np.random.default_rng(1).uniform(size=runs), steps)
    table = {"epoch": np.tile(np.arange(1, steps + 1), runs), "lr": lr, "val_acc": np.sin(np.arange(runs * steps))}
    a = pa.analyze(table)
    assert len(a) == runs
    assert any("earlier steps of 20 runs (epoch)" in note for note in a.notes)
    assert len(pa.analyze(table, where="epoch == 2")) == runs
    assert len(pa.analyze(table, where="epoch >= 2")) == runs * (steps - 1)
    assert len(pa.analyze({**table, "lr": np.random.default_rng(2).uniform(size=runs * steps)}, "val_acc")) == 100


def test_steps_of_runs_in_any_order_of_rows() -> None:
    runs, steps = 12, np.array([0, 50, 100, 175])
    rng = np.random.default_rng(2)
    lr, run = rng.uniform(size=runs), rng.permutation(runs)
    table = {
        "run_id": np.tile([f"r{n}" for n in run], 4),
        "step": np.repeat(steps, runs),
        "lr": np.tile(lr, 4),
        "val_loss": np.repeat([9.0, 4.0, 3.0, 2.0], runs) + rng.uniform(size=4 * runs),
    }
    a = pa.analyze(table, "val_loss")
    assert a.data.observations is not None
    assert set(a.data.observations.table["step"].values.tolist()) == {175}
    assert any("36 of 48 rows are earlier steps of 12 runs (step)" in note and "step == 50" in note for note in a.notes)
    assert len(pa.analyze(table, "val_loss", where="step == 50")) == runs
    without_id = {name: values for name, values in table.items() if name != "run_id"}
    assert len(pa.analyze(without_id, "val_loss")) == runs


def test_repeats_that_are_called_iterations_are_kept_with_a_warning() -> None:
    rng = np.random.default_rng(3)
    table = {
        "iteration": np.tile(np.arange(5), 12),
        "lr": np.repeat(rng.uniform(size=12), 5),
        "loss": rng.uniform(size=60),
    }
    a = pa.analyze(table)
    assert len(a) == 60
    assert any("may be the steps of 12 runs (iteration)" in note and note.severity == "warning" for note in a.notes)


def test_repeats_of_few_configurations_are_kept_and_can_be_left_out() -> None:
    rng = np.random.default_rng(4)
    table = {
        "iter": np.tile(np.arange(20), 4),
        "block": np.repeat([16, 32, 64, 128], 20),
        "gpu_ms": np.repeat([4.0, 3.0, 2.0, 1.0], 20) + rng.uniform(size=80),
    }
    words = "iter may only number the repeats of 4 configurations; if it does, pass exclude=['iter']"
    assert words in pa.analyze(table, "gpu_ms", direction="min").notes
    assert words not in pa.analyze(table, "gpu_ms", direction="min", exclude=["iter"]).notes


def test_rows_that_did_not_finish_are_no_good_rows() -> None:
    rng = np.random.default_rng(5)
    finish = (rng.random(100) > 0.2).astype(int)
    runtime = np.where(finish, rng.uniform(100, 200, 100), rng.uniform(50, 90, 100))
    a = pa.analyze({"gain": rng.random(100), "finish": finish, "runtime_ms": runtime}, "runtime_ms", params=["gain"])
    assert any("failed according to this column" in note and "finish == 1" in note for note in a.notes)
