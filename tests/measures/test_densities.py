"""Drawings: parts that add to one, good values in units of the parameter, the same for whoever draws them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import pedanova as pa
from helpers.common import refuse
from pedanova.errors import QueryError


@pytest.fixture(scope="module")
def a() -> pa.Analysis:
    random = np.random.default_rng(0)
    rows = 2000
    table = {
        "lr": 10 ** random.uniform(-5, -1, rows),
        "grid": random.choice([1e-4, 1e-3, 1e-2, 1e-1], rows),
        "width": random.choice([4, 8, 16], rows),
        "epochs": random.integers(1, 31, rows),
        "units": np.round(np.exp(random.uniform(0, np.log(1024), rows))).astype(int),
        "kind": random.choice(["adam", "sgd", "rmsprop"], rows),
    }
    space = {
        "lr": pa.Float(1e-5, 1e-1, log=True),
        "grid": pa.Float(1e-5, 1, log=True),
        "width": pa.Int(4, 16),
        "epochs": pa.Int(1, 30),
        "units": pa.Int(1, 1024, log=True),
        "kind": pa.Categorical(["adam", "sgd", "rmsprop"]),
    }
    loss = (
        np.abs(np.log10(table["lr"]) + 3)
        - np.log2(table["width"]) / 2
        - table["epochs"] / 30
        + np.abs(np.log10(table["grid"]) + 2.5) / 2
        + (table["kind"] == "sgd")
    )
    return pa.analyze(table, loss + random.normal(0, 0.3, rows), space=space)


def test_an_option_of_other_questions_is_refused(a: pa.Analysis) -> None:
    words = "draws= is not an option of densities; its options are smoothing, estimator, seed, of"
    refuse(QueryError, words, of=lambda: a.densities("grid", draws=5))  # type: ignore[call-overload]


NAMES = ["lr", "grid", "width", "epochs", "units", "kind"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("baseline", ["region", "uniform"])
def test_parts_add_to_one_and_the_band_holds_the_baseline(a: pa.Analysis, name: str, baseline: str) -> None:
    drawing = a.densities(name, estimator="counts").drawn(baseline=baseline)
    for parts in (drawing.target, drawing.region, drawing.uniform):
        assert parts.sum() == pytest.approx(1)
    base = getattr(drawing, baseline)
    assert np.all(drawing.low <= base + 1e-12)
    assert np.all(base <= drawing.high + 1e-12)


def test_kinds(a: pa.Analysis) -> None:
    kinds = {name: a.densities(name).drawn().bins.kind for name in NAMES}
    assert kinds == {"lr": "curve", "grid": "bars", "width": "bars", "epochs": "bars", "units": "steps", "kind": "bars"}


@pytest.mark.parametrize("estimator", ["counts", "surrogate"])
def test_good_values_are_those_of_the_lattice(a: pa.Analysis, estimator: str) -> None:
    assert [one.words for one in a.densities("grid", estimator=estimator).good()] == ["0.001 to 0.01"]
    assert [one.words for one in a.densities("width", estimator=estimator).good()] == ["16"]
    (epochs,) = a.densities("epochs", estimator=estimator).good()
    first, last = (int(end) for end in epochs.words.split(" to "))
    assert 10 < first < 25
    assert last == 30


@pytest.mark.parametrize("name", NAMES)
def test_spans_of_good_values_are_where_the_words_say(a: pa.Analysis, name: str) -> None:
    density = a.densities(name, estimator="counts")
    drawing, good = density.drawn(), density.good()
    assert drawing.good_words == ", ".join(one.brief for one in good)
    above = {int(cell) for cell in np.flatnonzero((drawing.target > drawing.high)[drawing.bins.groups])}
    assert all(above & {*range(one.start, one.stop)} for one in good)  # what is called more frequent leaves the band
    for low, high in drawing.good:
        if drawing.bins.edges is None:
            words = dict.fromkeys(drawing.bins.labels[int(place)] for place in (low, high))
            assert " to ".join(words) in ", ".join(one.words for one in good)
        else:
            assert drawing.bins.edges[0] <= low < high <= drawing.bins.edges[-1]
    assert bool(drawing.good) == bool(good)


def test_a_model_tells_the_lift_and_the_rows_how_often_a_value_is_tried(a: pa.Analysis) -> None:
    counted, told = (a.densities("grid", estimator=by).drawn() for by in ("counts", "surrogate"))
    assert told.bins.labels == counted.bins.labels
    np.testing.assert_allclose(told.region, counted.region)
    np.testing.assert_allclose(told.target, counted.target, atol=0.12)
    assert told.target.sum() == pytest.approx(1)


def test_another_question_is_drawn_like_the_first(a: pa.Analysis) -> None:
    """A lattice is seen in many rows; in few it might not be."""
    whole, few = (a.densities("grid", *ends, estimator="counts") for ends in ((0.1, 1.0), (0.002, 0.005)))
    assert few.drawn().bins.labels != whole.drawn().bins.labels
    assert few.drawn(like=whole.drawn()).bins.labels == whole.drawn().bins.labels


def test_every_domain_of_a_switch_is_drawn_by_itself() -> None:
    random = np.random.default_rng(0)
    by, x = random.choice(["a", "b"], 400), random.random(400)
    space = {"by": pa.Categorical(["a", "b"]), "x": pa.Switch("by", {"a": pa.Float(0, 1), "b": pa.Int(0, 1)})}
    table = {"by": by, "x": np.where(by == "b", np.round(x), x)}
    density = pa.analyze(table, x + (by == "b"), space=space).densities("x", estimator="counts")
    one, two = density.drawings()
    assert one.bins.kind == "curve"
    assert two.bins.labels == ("0", "1")
    assert one.target.sum() == pytest.approx(1)
    together = density.drawn()
    assert together.bins.kind == "bars"
    assert together.target.sum() == pytest.approx(1)
    assert together.bins.labels[-1] == "1 (where by is b)"


def test_values_that_no_row_has_are_not_good() -> None:
    density = pa.analyze(pa.demo_trials(), "error").first(100).densities("learning_rate")
    (good, *_) = density.good()
    region = density.basis.region.copy()
    region[good.start : good.stop] = 0
    elsewhere = replace(density, basis=replace(density.basis, region=region))
    assert good.words not in [one.words for one in elsewhere.good()]
    assert [one.words for one in density.good()][1:] == [one.words for one in elsewhere.good()]
