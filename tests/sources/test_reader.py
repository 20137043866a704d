"""Tables that a tool writes are known by their columns, through every door and in parts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pandas as pd
import polars as pl
import pytest

import pedanova as pa
from helpers.common import COUNTS, refuse
from pedanova.errors import QueryError
from pedanova.sources import read_records

optuna.logging.set_verbosity(optuna.logging.ERROR)


@pytest.fixture(scope="module")
def study() -> optuna.Study:
    """Pruned trials have the best values by far: whoever counts them is wrong."""
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=1))

    def objective(trial: optuna.Trial) -> float:
        lr, depth = trial.suggest_float("lr", 1e-4, 1.0), trial.suggest_int("depth", 1, 30)
        kind = trial.suggest_categorical("kind", ["none", "flip"])
        trial.set_user_attr("accuracy", 1 - lr)
        if trial.number % 4 == 3:
            trial.report(-100.0 * depth, 1)
            raise optuna.TrialPruned
        if trial.number % 11 == 5:
            raise RuntimeError
        return lr + (kind == "flip") * 0.1

    study.optimize(objective, n_trials=160, catch=(RuntimeError,))
    return study


def doors(frame: pd.DataFrame, folder: Path) -> dict[str, Any]:
    frame.to_csv(folder / "index.csv")
    frame.to_csv(folder / "plain.csv", index=False)
    frame.drop(columns="duration").to_parquet(folder / "t.parquet")
    return {
        "pandas": frame,
        "Polars": pl.from_pandas(frame),
        "dict": {name: frame[name].tolist() for name in frame},
        "CSV with an index": str(folder / "index.csv"),
        "CSV": str(folder / "plain.csv"),
        "Parquet": str(folder / "t.parquet"),
    }


@pytest.mark.parametrize("door", ["pandas", "Polars", "dict", "CSV with an index", "CSV", "Parquet"])
def test_trials_tables_say_what_the_study_says(study: optuna.Study, door: str, tmp_path: Path) -> None:
    judge = pa.analyze(study)
    table = doors(study.trials_dataframe(), tmp_path)[door]
    with pytest.raises(QueryError, match="does not say whether a low or a high value is good"):
        pa.analyze(table)
    a = pa.analyze(table, yes=True)
    assert list(a.space) == [f"params_{name}" for name in judge.space]
    assert (a.objective, a.direction, len(a)) == ("value", "minimize", len(judge))
    assert any("were pruned and are dropped" in note for note in a.notes)
    assert any(note.kind == "direction" and note.severity == "warning" for note in a.notes)
    space = {f"params_{name}": parameter for name, parameter in judge.space.items()}
    found = pa.analyze(table, space=space, direction="minimize").importance(**COUNTS)
    assert [row.share for row in found.rows] == [row.share for row in judge.importance(**COUNTS).rows]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_trials_tables_in_parts(study: optuna.Study, kind: str, tmp_path: Path) -> None:
    frame = study.trials_dataframe().drop(columns=["duration", "datetime_start", "datetime_complete"])
    for part, rows in enumerate((frame.iloc[:70], frame.iloc[70:])):
        path = tmp_path / f"{part}.{kind}"
        rows.to_csv(path, index=False) if kind == "csv" else rows.to_parquet(path)
    for stream in (True, False):
        with pytest.raises(QueryError, match="does not say whether a low or a high value is good"):
            pa.analyze(str(tmp_path / f"*.{kind}"), scan=pa.Scan(stream=stream))
    parts = pa.analyze(str(tmp_path / f"*.{kind}"), direction="minimize", scan=pa.Scan(stream=True))
    held = pa.analyze(str(tmp_path / f"*.{kind}"), direction="minimize", scan=pa.Scan(stream=False))
    assert (parts.space, parts.data.tallies) == (held.space, held.data.tallies)
    assert held.data.tallies == pa.analyze(frame, direction="minimize").data.tallies


def test_the_user_goes_first(study: optuna.Study) -> None:
    frame = study.trials_dataframe()
    a = pa.analyze(frame, "user_attrs_accuracy", exclude=["params_depth"], reading=pa.Reading(pruned="last"))
    assert (set(a.space), a.direction) == ({"params_lr", "params_kind"}, "maximize")
    assert len(a) == (frame["state"] != "FAIL").sum()
    assert "number" in pa.analyze(frame, direction="min", params=["number", "params_lr"]).space


def test_several_objectives() -> None:
    study = optuna.create_study(directions=["minimize", "maximize"])
    study.optimize(lambda t: (t.suggest_float("x", 0, 1), t.params["x"] ** 2), n_trials=30)
    a = pa.analyze(study.trials_dataframe())
    assert a.data.observations is not None
    assert [goal.name for goal in a.data.observations.goals] == ["values_0", "values_1"]
    assert list(a.space) == ["params_x"]


ROWS = 60
RAY = pd.DataFrame(
    {
        "loss": np.linspace(0.0, 1.0, ROWS),
        "training_iteration": 10,
        "trial_id": [f"t{i}" for i in range(ROWS)],
        "time_total_s": np.linspace(3.0, 9.0, ROWS),
        "error_type": [None if i % 3 else "OOM" for i in range(ROWS)],
        "config/lr": np.random.default_rng(0).uniform(0, 1, ROWS),
        "config/depth": np.arange(ROWS) % 7,
    }
)


@pytest.mark.parametrize("stream", [False, True])
def test_failed_rows_of_ray_do_not_count(stream: bool, tmp_path: Path) -> None:
    RAY.to_csv(tmp_path / "r.csv", index=False)
    a = pa.analyze(str(tmp_path / "r.csv"), scan=pa.Scan(stream=stream))
    assert (a.objective, len(a), list(a.space)) == ("loss", ROWS * 2 // 3, ["config/lr", "config/depth"])
    assert any("error_type is None" in note for note in a.notes)
    assert len(pa.analyze(RAY)) == len(a)


def test_where_several_results_are_there_one_is_asked_for() -> None:
    refuse(QueryError, "objective=", "Ray Tune", "loss", "acc", of=lambda: pa.analyze(RAY.assign(acc=0.5)))
    assert read_records({"x": [1, 2], "value": [1, 2]}).metadata.params == ()


def test_runs_of_mlflow() -> None:
    frame = pd.DataFrame(
        {
            "run_id": [f"r{i}" for i in range(ROWS)],
            "status": ["FINISHED" if i % 3 else "FAILED" for i in range(ROWS)],
            "start_time": pd.date_range("2024-01-01", periods=ROWS),
            "metrics.rmse": np.linspace(0.0, 1.0, ROWS),
            "params.lr": [str(x) for x in RAY["config/lr"]],
            "tags.user": "ann",
        }
    )
    a = pa.analyze(frame)
    assert (a.objective, a.direction, len(a)) == ("metrics.rmse", "minimize", ROWS * 2 // 3)
    assert isinstance(a.space["params.lr"], pa.Float)
    assert list(a.space) == ["params.lr"]


def test_trials_of_hyperopt_in_a_csv(tmp_path: Path) -> None:
    """As `pd.DataFrame(trials.trials).to_csv()` writes them."""
    lr = RAY["config/lr"].tolist()
    rows = [
        {"tid": i, "result": {"loss": x**2, "status": "ok"}, "misc": {"tid": i, "vals": {"lr": [x], "k": [i % 3]}}}
        for i, x in enumerate(lr)
    ]
    pd.DataFrame(rows).to_csv(tmp_path / "t.csv")
    a = pa.analyze(str(tmp_path / "t.csv"), "result.loss")
    assert list(a.space) == ["misc.vals.lr", "misc.vals.k"]
    assert isinstance(a.space["misc.vals.lr"], pa.Float)
