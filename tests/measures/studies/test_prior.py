"""Priors over studies: whose good values they hold, and how studies are put together."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from typing import Any

import numpy as np
import pytest

import pedanova as pa
from helpers.families import SPACE, family, family_table, prior_over
from pedanova.errors import QueryError
from pedanova.measures.studies.prior import SearchPrior, lift_of, mapped_lift, pooled_lift
from pedanova.space.grid import grid_of


@pytest.fixture(scope="module")
def studies() -> dict[str, pa.Analysis]:
    return family()


@pytest.fixture(scope="module")
def prior(studies: dict[str, pa.Analysis]) -> SearchPrior:
    return prior_over(studies)


def test_it_knows_what_is_good(prior: SearchPrior) -> None:
    assert 10**-2.6 < float(prior["lr"].mode) < 10**-0.8
    assert prior["layers"].mode in (3, 4, 5)
    assert prior["optimizer"].mode == "adam"
    assert next(iter(prior)) == "lr"  # the narrowest first
    assert prior["lr"].size < 0.5 < prior["size"].size


def test_every_density_adds_to_one(prior: SearchPrior) -> None:
    for row in prior.rows:
        for parts in (row.density, row.mixed(0.3), *(row.uniform * row.lifts)):
            assert parts.sum() == pytest.approx(1.0)
            assert parts.min() >= 0.0
        assert row.mixed(0.3).min() >= 0.3 * row.uniform.min() - 1e-15


def test_a_study_of_many_rows_weighs_no_more_than_one_of_few() -> None:
    """Each study is a density of its own: the same rows, ten times over, say the same."""
    one, two = family_table(0), family_table(1, best=-4.0)
    many = {name: np.tile(column, 10) for name, column in two.items()}
    how: dict[str, Any] = {"direction": "minimize", "space": SPACE}
    first = pa.analyze(one, "loss", **how)
    few, rich = ({"a": first, "b": pa.analyze(other, "loss", **how)} for other in (two, many))
    narrow = {"smoothing": 20.0}  # the kernel's width follows the rows
    small, large = prior_over(few, **narrow), prior_over(rich, **narrow)
    for name in (
        "lr",
        "layers",
        "optimizer",
        "size",
    ):  # few rows have a momentum, and one row more or less counts there
        means = [row.uniform * row.lifts.mean(axis=0) for row in (small[name], large[name])]
        assert np.abs(means[0] - means[1]).sum() < 0.09


def test_the_order_of_studies_changes_nothing(studies: dict[str, pa.Analysis], prior: SearchPrior) -> None:
    turned = prior_over(dict(reversed(studies.items())))
    for row in prior.rows:
        assert np.allclose(turned[row.name].lift, row.lift, rtol=1e-9)


def test_equal_studies_pool_to_themselves() -> None:
    lift, even = np.array([0.5, 1.0, 1.5]), np.full(3, 1 / 3)
    assert np.allclose(pooled_lift(np.stack([lift, lift]), even, 1.0), lift)
    assert np.allclose(pooled_lift(np.stack([lift, lift]), even, 0.0), 1.0)


def test_the_geometric_mean_keeps_what_studies_agree_on() -> None:
    even = np.full(2, 0.5)
    assert pooled_lift(np.array([[1.8, 0.2]] * 2), even, 1.0)[0] == pytest.approx(1.8)
    apart = np.array([[1.9, 0.1], [0.9, 1.1]])
    assert pooled_lift(apart, even, 1.0)[1] < apart.mean(axis=0)[1]


def test_a_lift_does_not_depend_on_how_values_were_drawn() -> None:
    """Rows that crowd at one end say the same of where good values lie."""
    rng = np.random.default_rng(0)
    even, crowded = rng.random(40_000), rng.beta(1.0, 3.0, 40_000)
    lifts = []
    for x in (even, crowded):
        a = pa.analyze({"x": x, "good": (rng.random(len(x)) < 0.02 + 0.2 * (x > 0.5)).astype(float)}, "good",
                       direction="maximize", space={"x": pa.Float(0, 1)})  # fmt: skip
        lift = mapped_lift(lift_of(a.densities("x", pa.at_least(1.0), estimator="counts")), SPACE_X, SPACE_X)
        lifts.append((lift[:400].mean(), lift[600:950].mean()))
    assert lifts[0] == pytest.approx(lifts[1], rel=0.15)
    assert lifts[0][1] / lifts[0][0] == pytest.approx(11.0, rel=0.15)


SPACE_X = pa.Float(0.0, 1.0)


def test_values_of_a_lattice_speak_for_what_is_nearest() -> None:
    values = np.repeat([1e-4, 1e-3, 1e-2, 1e-1], 100)
    table = {"lr": values, "loss": np.where(values == 1e-2, 0.0, 1.0) + np.arange(400) * 1e-6}
    a = pa.analyze(table, "loss", direction="minimize", space={"lr": pa.Float(1e-4, 1e-1, log=True)})
    row = prior_over({"only": a}, target=0.25, strength=1.0)["lr"]
    assert len(np.unique(np.round(row.lift, 9))) == 2
    assert row.density[np.abs(np.log10(grid_of(row.parameter).centres()) + 2) < 0.49].sum() > 0.9


def test_domains_that_differ_are_joined() -> None:
    parts = {"a": pa.Float(1e-4, 1e-1, log=True), "b": pa.Float(1e-3, 1.0, log=True)}
    made = {}
    for name, domain in parts.items():
        x = np.geomspace(domain.low, domain.high, 300)
        table = {"lr": x, "loss": (np.log10(x) + 2.0) ** 2}
        made[name] = pa.analyze(table, "loss", direction="minimize", space={"lr": domain})
    prior = prior_over(made)
    assert prior.space["lr"] == pa.Float(1e-4, 1.0, log=True)
    assert float(prior["lr"].mode) == pytest.approx(1e-2, rel=0.2)
    silent = np.array(grid_of(prior["lr"].parameter).centres()) > 0.11  # where `a` has no values it says nothing
    assert np.allclose(prior["lr"].lifts[0][silent], 1.0)


def test_the_other_scale_says_the_same() -> None:
    x = np.geomspace(1e-3, 1.0, 2000)
    table = {"x": x, "loss": (np.log10(x) + 1.0) ** 2}
    log, linear = (pa.analyze(table, "loss", direction="minimize", space={"x": pa.Float(1e-3, 1.0, log=log)})
                   for log in (True, False))  # fmt: skip
    common = pa.Float(1e-3, 1.0, log=True)
    one, two = (mapped_lift(lift_of(a.densities("x", estimator="counts")), a.space["x"], common) for a in (log, linear))
    held = (np.abs(np.log10(grid_of(common).centres()) + 1.0) < 0.12) * grid_of(common).prior
    assert one @ held == pytest.approx(two @ held, abs=0.1)


def test_draws_are_those_of_the_prior(prior: SearchPrior) -> None:
    drawn = prior.sample(2000, seed=1)
    assert drawn == prior.sample(2000, seed=1)
    adam = Counter(one["optimizer"] for one in drawn)["adam"] / len(drawn)
    assert adam == pytest.approx(prior["optimizer"].mixed(prior.safety)[0], abs=0.04)
    for one in drawn:
        assert ("momentum" in one) == (one["optimizer"] == "sgd")
        assert 1e-5 <= one["lr"] <= 1.0
        assert isinstance(one["width"], int)
    lr = grid_of(prior.space["lr"]).locate(np.array([one["lr"] for one in drawn]))
    below = np.cumsum(prior["lr"].mixed(prior.safety))
    assert np.max(np.abs(np.sort(below[lr]) - np.linspace(0, 1, len(drawn)))) < 0.05  # Kolmogorov and Smirnov


def test_safety_one_is_a_uniform_search(prior: SearchPrior) -> None:
    drawn = dataclasses.replace(prior, safety=1.0).sample(1500)
    assert np.mean([one["lr"] < 10**-2.5 for one in drawn]) == pytest.approx(0.5, abs=0.05)


def test_a_study_that_cannot_be_asked_is_told(studies: dict[str, pa.Analysis]) -> None:
    table = family_table(9) | {"loss": np.repeat([5.0, 6.0], 150)}
    flat = pa.analyze(table, "loss", direction="minimize", space=SPACE)
    prior = prior_over(studies | {"flat": flat}, target=pa.at_most(0.5))  # no row of `flat` is that good
    assert prior.studies == tuple(studies)
    assert any(note.subject == "flat" and "left out" in note for note in prior.notes)
    with pytest.raises(QueryError, match="target"):
        prior_over({"flat": flat}, target=2)


def test_parameters_of_some_studies_alone_are_told(studies: dict[str, pa.Analysis]) -> None:
    table = family_table(5)
    del table["width"]
    space = {name: one for name, one in SPACE.items() if name != "width"}
    less = pa.analyze(table, "loss", direction="minimize", space=space)
    prior = prior_over(studies | {"less": less})
    assert prior["width"].studies == tuple(studies)
    assert any("less" in note and note.subject == "width" for note in prior.notes)


@pytest.mark.parametrize(("options", "words"), [
    ({"safety": 1.5}, "safety"), ({"strength": True}, "strength")
])  # fmt: skip
def test_bad_options_are_refused(studies: dict[str, pa.Analysis], options: dict[str, Any], words: str) -> None:
    with pytest.raises(QueryError, match=words):
        prior_over(studies, **options)
    with pytest.raises(QueryError, match="studies"):
        prior_over({})


def test_it_prints(prior: SearchPrior) -> None:
    text = str(prior)
    assert "3 studies" in text
    assert "30 %" in text
    assert prior.to_csv().count("\n") == len(prior) + 1
    with pytest.raises(QueryError, match="count"):
        prior.sample(0)


def test_the_densities_as_data(prior: SearchPrior) -> None:
    plain = json.loads(prior.to_json())
    assert pa.Space.from_dict(plain["space"]) == prior.space
    assert set(plain["prior"]) == set(prior)
    for one in plain["prior"].values():
        assert sum(one["probabilities"]) == pytest.approx(1.0)
    assert len(plain["prior"]["lr"]["edges"]) == len(plain["prior"]["lr"]["probabilities"]) + 1
    assert plain["prior"]["optimizer"]["values"] == ["adam", "sgd"]
