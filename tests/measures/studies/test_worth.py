"""What priors are worth on left-out studies: exact arithmetic against simulation, and laws."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

import pedanova as pa
from helpers.families import family
from pedanova.errors import QueryError
from pedanova.measures.studies.prior import prior_of
from pedanova.measures.studies.worth import NEVER, compared


def test_the_arithmetic_is_that_of_a_simulation() -> None:
    rng = np.random.default_rng(0)
    signed = np.round(rng.normal(size=300), 1)  # with ties
    weights = np.exp(-signed)
    found = compared(signed, weights, 20)
    draws = 4000
    target = np.sort(signed[rng.integers(0, 300, (draws, 20))], axis=1)[:, 0]
    steps = signed[rng.choice(300, (draws, 400), p=weights / weights.sum())]
    reached = steps <= target[:, None]
    trials = np.where(reached.any(axis=1), reached.argmax(axis=1) + 1, 401)
    assert abs(np.median(trials) - found.trials) <= 1
    assert np.median(target) == pytest.approx(found.uniform_best, abs=0.11)
    assert np.median(steps[:, :20].min(axis=1)) == pytest.approx(found.best, abs=0.11)


def test_even_weights_are_the_uniform_search_itself() -> None:
    signed = np.arange(5000.0)
    found = compared(signed, np.ones(5000), 50)
    assert found.trials == found.uniform_trials == 50  # P(T > t) = 50 / (50 + t) without ties
    assert found.best == found.uniform_best


def test_rows_that_are_never_drawn_are_never_reached() -> None:
    signed = np.arange(100.0)
    found = compared(signed, np.where(signed < 60, 0.0, 1.0), 50)
    assert found.trials == NEVER
    assert found.best >= 60


def test_a_safety_share_bounds_the_loss() -> None:
    rng = np.random.default_rng(1)
    for seed in range(20):
        signed, wild = rng.normal(size=400), np.exp(3 * np.random.default_rng(seed).normal(size=400))
        for safety in (0.2, 0.5):
            mixed = (1 - safety) * wild / wild.mean() + safety
            found = compared(signed, mixed, 50)
            assert found.trials <= np.ceil(found.uniform_trials / safety) + 1


def test_a_prior_of_kin_helps_and_rows_beat_tallies(tmp_path: Path) -> None:
    studies = family(3)
    worth = prior_of(studies).left_out()
    assert worth.safe == 1.0
    assert worth.median_trials is not None
    assert worth.median_trials < 25
    assert all(row.lift > 1.5 and 1 <= row.effective <= row.rows for row in worth.rows)
    assert worth.to_csv().count("\n") == 4
    loaded = {}
    for name, a in studies.items():
        a.save(tmp_path / f"{name}.pedanova", model=False)
        loaded[name] = pa.load(tmp_path / f"{name}.pedanova")
    alone = prior_of(loaded).left_out()
    assert alone.median_trials is None
    assert any("no rows" in note for note in alone.notes)
    for with_rows, without in zip(worth.rows, alone.rows, strict=True):
        assert without.lift == pytest.approx(with_rows.lift, rel=0.4)
    assert "lift" in str(alone)


def test_a_prior_of_strangers_is_seen_to_hurt() -> None:
    studies = family(2)
    turned = dataclasses.replace(studies["study 1"])
    worst = pa.analyze(
        {name: turned.observations.table[name].values for name in ("lr", "loss")}, "loss", direction="maximize",
        space={"lr": pa.Float(1e-5, 1.0, log=True)},
    )  # fmt: skip
    worth = prior_of({"one": studies["study 0"], "opposite": worst}).left_out()
    assert worth.rows[1].lift < 1.0
    assert worth.rows[1].trials > worth.rows[1].uniform_trials


def test_one_study_cannot_be_left_out() -> None:
    worth = prior_of({"only": family(1)["study 0"]}).left_out()
    assert worth.rows == ()
    assert worth.safe is None
    assert "one study" in str(worth)
    with pytest.raises(QueryError, match="trials"):
        prior_of(family(1)).left_out(0)
