"""Failed trials are kept: they say what causes failure, and no proposal runs into them."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pedanova as pa
from pedanova.cli.program import main
from pedanova.errors import QueryError
from pedanova.space.parameters import values_of

SPACE = {
    "lr": pa.Float(1e-5, 1, log=True),
    "wd": pa.Float(0, 1),
    "kind": pa.Categorical(["a", "b"]),
    "idle": pa.Float(0, 1),
}


def draw(rows: int, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    kind = rng.choice(["a", "b"], rows)
    return {"lr": 10 ** rng.uniform(-5, 0, rows), "wd": rng.random(rows), "kind": kind, "idle": rng.random(rows)}


def loss_of(table: dict[str, Any]) -> Any:
    """The loss improves with the learning rate, until runs diverge."""
    cliff = -1.6 + 0.5 * (table["kind"] == "b") - 0.3 * table["wd"]
    loss = 1 - 0.3 * np.log10(table["lr"]) + 0.2 * table["wd"]
    return np.where(np.log10(table["lr"]) > cliff, np.nan, loss)


@pytest.mark.parametrize("seed", range(3))
def test_few_proposals_fail_and_chances_are_calibrated(seed: int) -> None:
    table = draw(80, seed)
    loss = loss_of(table)
    a = pa.analyze(table, loss, space=SPACE)
    for goal in ("win", "know"):
        proposed = a.next_trials(10, goal=goal)
        values = {name: np.array([trial.values[name] for trial in proposed]) for name in SPACE}
        assert np.isnan(loss_of(values)).sum() <= 2
        assert all(trial.succeeds is not None and 0.0 <= trial.succeeds <= 1.0 for trial in proposed)
        failed = int(np.isnan(loss).sum())
        assert any(f"{failed} of 80 trials fail, mostly at lr" in note for note in proposed.notes)
    gains = a.gains()
    assert np.isfinite(loss_of({name: np.array([gains.best[name]]) for name in SPACE})).all()


@pytest.mark.parametrize("estimator", ["surrogate", "counts"])
def test_what_fails_is_cut_off_and_the_best_that_succeeds_stays(estimator: str) -> None:
    table = draw(3000 if estimator == "counts" else 80, 0)
    small = pa.analyze(table, loss_of(table), space=SPACE).reduce(estimator=estimator)
    every = draw(20_000, 5)
    loss, ends = loss_of(every), small.space["lr"]
    inside = np.all(
        [(one.low <= every[n]) & (every[n] <= one.high) for n, one in small.space.items() if n != "kind"], 0
    )
    inside &= np.isin(every["kind"], values_of(small.space["kind"]))
    best = loss <= np.quantile(loss[~np.isnan(loss)], 0.01)
    assert ends.high < 0.5  # everything above 0.08 fails
    assert inside[best].mean() > 0.7
    assert small.evidence is not None
    assert small.evidence.volume == pytest.approx(inside.mean(), abs=0.03)


def test_good_values_and_the_smaller_space_say_what_fails() -> None:
    every, said, true = draw(20_000, 5), [], []
    fails = np.isnan(loss_of(every))
    for seed in range(4):
        table = draw(80, seed)
        a = pa.analyze(table, loss_of(table), space=SPACE)
        (good,) = a.densities("lr").good()
        low, high = map(float, good.words.split(" to "))
        assert fails[(every["lr"] >= low) & (every["lr"] <= high)].mean() < 0.5
        if seed == 0:  # the summary has the same words
            assert {one.topic: one.facts for one in a.brief().rows}["where"]["good_values"]["lr"] == [good.words]
        small = a.reduce()
        ends, kinds = small.space["lr"], values_of(small.space["kind"])
        inside = (every["lr"] >= ends.low) & (every["lr"] <= ends.high) & np.isin(every["kind"], kinds)
        inside &= (every["wd"] >= small.space["wd"].low) & (every["wd"] <= small.space["wd"].high)
        assert small.evidence is not None
        assert small.evidence.where.startswith("lr ")
        assert f"of it fails, mostly at {small.evidence.where}" in small.summary()
        said.append(small.evidence.fails)
        true.append(fails[inside].mean())
    assert np.mean(said) == pytest.approx(np.mean(true), abs=0.1)


def test_trials_that_fail_are_no_improvement() -> None:
    table = draw(80, 3)
    loss = loss_of(table)
    counted = pa.analyze(table, loss, space=SPACE).needed().stop.better
    succeeded = {name: column[~np.isnan(loss)] for name, column in table.items()}
    ignored = pa.analyze(succeeded, loss[~np.isnan(loss)], space=SPACE).needed().stop.better
    assert counted is not None
    assert ignored is not None
    assert counted < 0.6 * ignored


def test_what_causes_failure_is_ranked() -> None:
    table = draw(80, 1)
    a = pa.analyze(table, loss_of(table), space=SPACE)
    answer = a.importance(target="failed")
    assert next(iter(answer)) == "lr"
    assert answer["lr"].significant
    assert not answer["idle"].significant
    assert "whether a trial fails" in str(answer)


def test_infinite_objectives_are_failures_too_but_no_failure_is_no_answer() -> None:
    table = draw(80, 2)
    loss = np.nan_to_num(loss_of(table), nan=np.inf)
    answer = pa.analyze(table, loss, space=SPACE).importance(target="failed")
    assert next(iter(answer)) == "lr"
    fine = pa.analyze(table, np.arange(80.0), space=SPACE)
    assert all(trial.succeeds is None for trial in fine.next_trials(2))
    with pytest.raises(QueryError, match="failed"):
        fine.importance(target="failed")


@pytest.mark.parametrize("failed", [3, 4, 5])
def test_a_few_failures_are_counted_and_do_not_stop_an_answer(failed: int) -> None:
    table = draw(80, 3)
    loss = -np.log10(table["lr"])
    loss[np.argsort(table["lr"])[-failed:]] = np.nan
    a = pa.analyze(table, loss)  # a guessed range ends where the successful trials end
    for result in (a.gains(), a.next_trials(2)):
        note = next(note for note in result.notes if f"{failed} of 80 trials fail" in note)
        assert ("mostly at lr 0." in note) == (failed >= 5)
    if failed < 5:
        with pytest.raises(QueryError, match=f"only {failed} trials failed"):
            a.importance(target="failed")


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = draw(80, 0)
    loss = ["" if np.isnan(value) else value for value in loss_of(table)]
    with (tmp_path / "trials.csv").open("w", newline="") as file:
        csv.writer(file).writerows([[*table, "loss"], *zip(*table.values(), loss, strict=True)])
    assert main(["analyze", str(tmp_path / "trials.csv"), "--objective", "loss", "--target", "failed"]) == 0
    assert "lr matters most for whether a trial fails" in " ".join(capsys.readouterr().out.split())
