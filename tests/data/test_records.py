"""Values on the way: laws of the curves, and the same reports from every kind of log."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import numpy as np
import optuna
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optuna.storages.journal import JournalFileBackend

from helpers.logs import write
from pedanova.data.records import Curves, Point, Records
from pedanova.sources import read_records

optuna.logging.set_verbosity(optuna.logging.CRITICAL)
points = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 5), st.floats(-9, 9)), max_size=30)


@given(points, st.integers(0, 6))
def test_what_a_trial_is_worth_at_a_step(found: list[Point], step: int) -> None:
    """As a dict of dicts tells it."""
    known: dict[int, dict[float, float]] = {}
    for row, at, value in found:
        known.setdefault(row, {})[at] = value
    curves = Curves.of("loss", found)
    expected = np.full(5, np.nan)
    for row, values in known.items():
        before = [at for at in values if at <= step]
        if before and max(values) >= step:
            expected[row] = values[max(before)]
    np.testing.assert_array_equal(curves.at(step, 5), expected)
    reached = [max(known[row]) if row in known else np.nan for row in range(5)]
    np.testing.assert_array_equal(curves.reached(5), reached)
    assert set(curves.budgets) == {at for values in known.values() for at in values}
    assert len(curves.rows) == sum(map(len, known.values()))


def read(records: Records, metric: str) -> list[Point]:
    assert records.curves is not None
    curves = pickle.loads(pickle.dumps(records.curves)).read(metric)
    return list(zip(curves.rows.tolist(), curves.steps.tolist(), curves.values.tolist(), strict=True))


def objective(trial: optuna.Trial) -> float:
    x = trial.suggest_float("x", 0, 1)
    for step in range(trial.number % 3 + 1):
        trial.report(float("inf") if trial.number == 4 else x / (step + 1), step)
    if trial.number % 3 == 0:
        raise optuna.TrialPruned
    return x


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["live", "sqlite", "journal"])
def test_reports_of_optuna(tmp_path: Path, kind: str) -> None:
    url = f"sqlite:///{tmp_path}/o.db"
    journal = tmp_path / "o.log"
    journalled = optuna.storages.JournalStorage(JournalFileBackend(str(journal)))
    storage = {"live": None, "sqlite": url, "journal": journalled}[kind]
    study = optuna.create_study(storage=storage, sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(objective, n_trials=7)
    records = read_records({"live": study, "sqlite": url, "journal": journal}[kind])
    expected = [
        (trial.number, step, value) for trial in study.trials for step, value in trial.intermediate_values.items()
    ]
    if kind == "live":
        assert records.curves is not None
        found = records.curves.read("value")
        assert list(zip(found.rows.tolist(), found.steps, found.values, strict=True)) == expected
    else:
        assert read(records, "value") == expected
    assert records.curves is not None
    assert len(records.curves.read("x").rows) == 0


def test_a_study_without_reports_has_no_curves() -> None:
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=3)
    assert read_records(study).curves is None


def test_ray_and_lightning(tmp_path: Path) -> None:
    for number in range(3):
        place = tmp_path / "ray" / f"trial_{number}"
        write(place / "params.json", {"lr": number, "loss": 1})  # a setting takes the name of the result
        lines = [{"training_iteration": step, "loss": number / step, "done": False} for step in (1, 2)]
        text = "".join(json.dumps(line) + "\n" for line in lines)
        write(place / "result.json", text + '{"training_iteration": 3, "lo')
        run = tmp_path / "lightning" / f"version_{number}"
        write(run / "hparams.yaml", f"lr: {number}\n")
        write(run / "metrics.csv", f"epoch,step,train,val\n0,1,9,\n0,1,,{number}\n1,3,8,\n1,3,,{number / 2}\n")
    write(tmp_path / "ray" / "trial_2" / "result.json", "")
    write(tmp_path / "ray" / "trial_2" / "progress.csv", "training_iteration,loss\n1,5\n2,6\n3,")
    ray, lightning = read_records(tmp_path / "ray"), read_records(tmp_path / "lightning")
    assert read(ray, "loss_") == [(0, 1, 0), (0, 2, 0), (1, 1, 1), (1, 2, 0.5), (2, 1, 5), (2, 2, 6)]
    assert read(lightning, "val") == [(0, 1, 0), (0, 3, 0), (1, 1, 1), (1, 3, 0.5), (2, 1, 2), (2, 3, 1)]
    assert read(lightning, "none") == []
