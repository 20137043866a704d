"""Checks pass and fail where the truth is known."""

from __future__ import annotations

import numpy as np
import pytest

import pedanova as pa
from pedanova.analysis.checks import Check, Wishes, check
from pedanova.errors import QueryError, UnknownParameterError

QUICK = {"estimator": "counts", "draws": 200}


def made(*, luck: float = 0.0, top: float = 1.0, rows: int = 6_000, random_seed: int = 0) -> pa.Analysis:
    """`lr` decides, best inside or at the upper bound; `seed` has as much to say as `luck` gives it."""
    random = np.random.default_rng(random_seed)
    lr, other = random.uniform(size=(2, rows))
    seed = random.integers(0, 10, rows)
    loss = np.abs(lr - top) + luck * seed + 0.02 * random.normal(size=rows)
    space = {"lr": pa.Float(0, 1), "other": pa.Float(0, 1), "seed": pa.Ordinal(range(10))}
    return pa.analyze({"lr": lr, "other": other, "seed": seed, "loss": loss}, "loss", space=space, direction="min")


def only(a: pa.Analysis, **wishes: object) -> Check:
    (row,) = check(a, Wishes(**wishes), options=QUICK).rows
    return row


@pytest.fixture(scope="module")
def calm() -> pa.Analysis:
    return made(top=0.5)


def test_luck_fails_only_where_it_decides(calm: pa.Analysis) -> None:
    assert only(calm, max_noise=0.05).passed
    lucky = only(made(top=0.5, luck=0.05), max_noise=0.05)
    assert not lucky.passed
    assert lucky.subject == "seed"
    assert only(made(top=0.5, luck=0.05), max_noise=0.05, noise=("other",)).passed


def test_a_pile_at_a_bound_fails(calm: pa.Analysis) -> None:
    assert only(calm, bounds=True).passed
    piled = only(made(top=1.0), bounds=True)
    assert not piled.passed
    assert piled.found.startswith("lr: ")
    assert "try up to" in piled.found


@pytest.mark.parametrize(
    ("wish", "value", "passed"),
    [
        ("min_trials", 6_000, True),
        ("min_trials", 6_001, False),
        ("max_dropped", 0.0, True),
        ("best", 0.5, True),
        ("best", -5.0, False),
        ("signal", True, True),
        ("require", ("lr",), True),
        ("require", ("other",), False),
        ("sure_top", 1, True),
        ("sure_top", 2, False),
    ],
)
def test_each_wish(wish: str, value: object, passed: bool, calm: pa.Analysis) -> None:
    assert only(calm, **{wish: value}).passed is passed


def test_more_is_better_where_it_is_maximised() -> None:
    x = np.linspace(0, 1, 100)
    a = pa.analyze({"x": x}, x, params=["x"], direction="max")
    assert only(a, best=1.0).passed
    assert not only(a, best=1.01).passed


def test_dropped_trials_are_counted() -> None:
    x = np.linspace(0, 1, 100)
    a = pa.analyze({"x": x}, np.where(x < 0.2, np.nan, x), params=["x"], direction="min")
    assert not only(a, max_dropped=0.19).passed
    assert only(a, max_dropped=0.2).passed


def test_against_an_earlier_search(calm: pa.Analysis) -> None:
    assert only(made(top=0.5, random_seed=1), against=calm).passed
    moved = only(made(top=0.5, luck=0.05), against=calm)
    assert not moved.passed
    assert "seed +" in moved.found


def test_without_a_wish_signal_and_bounds_are_looked_at(calm: pa.Analysis) -> None:
    found = check(calm, Wishes(), options=QUICK)
    assert [row.name for row in found.rows] == ["signal", "bounds"]
    assert found.passed
    assert found.summary() == "All 2 checks passed."


def test_noise_alone_is_no_signal() -> None:
    random = np.random.default_rng(0)
    a = pa.analyze({"x": random.uniform(size=300)}, random.uniform(size=300), params=["x"], direction="min")
    assert not only(a, signal=True).passed


def test_what_cannot_be_asked_is_refused(calm: pa.Analysis) -> None:
    with pytest.raises(UnknownParameterError, match="rate"):
        only(calm, require=("rate",))
    with pytest.raises(QueryError, match="--sure-top 3 must leave"):
        only(calm, sure_top=3)
    with pytest.raises(QueryError, match="leave --draws away"):
        check(calm, Wishes(signal=True), options={"estimator": "counts", "draws": 0})
    x = np.linspace(0, 1, 100)
    with pytest.raises(QueryError, match="--noise"):
        only(pa.analyze({"x": x}, x, params=["x"], direction="max"), max_noise=0.1)
