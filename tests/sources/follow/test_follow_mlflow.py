"""MLflow stores while they grow: a run is read when it has ended."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from helpers.common import refuse
from helpers.followed import Tale, same
from helpers.mlflow_stores import STATUS, run, write_database, write_files
from helpers.tools import need
from pedanova.errors import DataError
from pedanova.sources import read_records
from pedanova.sources.follow.follow import follow

RUNS = [
    run(f"r{n:03}", {"lr": n / 10, "opt": "adam" if n % 2 else "sgd"}, {"loss": float(n)}, status="RUNNING")
    for n in range(8)
]
Store = tuple[Path, Callable[[str, str], None]]


def set_status(path: Path, key: str, status: str) -> None:
    """As MLflow does it: a new file in the place of the old one, or one update."""
    if path.is_file():
        store = sqlite3.connect(path)
        store.execute("UPDATE runs SET status = ? WHERE run_uuid = ?", (status, key))
        store.commit()
        store.close()
        return
    (meta,) = path.glob(f"*/{key}/meta.yaml")
    lines = [
        f"status: {STATUS[status]}" if line.startswith("status:") else line for line in meta.read_text().splitlines()
    ]
    fresh = meta.with_suffix(".tmp")
    fresh.write_text("\n".join(lines) + "\n", encoding="utf-8")
    fresh.replace(meta)


@pytest.fixture(params=[write_files, write_database], ids=["files", "SQLite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return Path(request.param(tmp_path, {"mine": RUNS, "Default": []}))


def test_runs_are_taken_as_they_end(store: Path) -> None:
    tale = Tale(follow(store))
    look = tale.look()
    assert (look.records, look.finished, look.running) == (None, 0, 8)
    for count, one in enumerate([RUNS[3], RUNS[0], *RUNS[4:]], start=1):
        set_status(store, one["key"], "FAILED" if count == 2 else "FINISHED")
        look = tale.look()
        assert (look.new, look.finished, look.running) == (1, count, 8 - count)
        assert tale.look().records is None
    for one in RUNS[1:3]:
        set_status(store, one["key"], "FINISHED")
    assert tale.look().new == 2
    same(tale.rows, read_records(store))


def test_a_run_that_goes_on_is_taken_again_when_it_ends(store: Path) -> None:
    for one in RUNS:
        set_status(store, one["key"], "FINISHED")
    tale = Tale(follow(store))
    assert tale.look().new == 8
    set_status(store, "r002", "RUNNING")
    look = tale.follow.look()
    assert (look.finished, look.running) == (7, 1)
    assert look.records is not None
    assert look.records.rows == 7
    set_status(store, "r002", "FINISHED")
    look = tale.follow.look()
    assert look.finished == 8
    assert look.records is not None
    same(look.records, read_records(store))


def test_a_store_that_is_gone_for_a_while(store: Path, tmp_path: Path) -> None:
    for one in RUNS[:5]:
        set_status(store, one["key"], "FINISHED")
    tale = Tale(follow(store))
    tale.look()
    away = tmp_path / "away"
    store.rename(away)
    refuse(DataError, of=tale.look)
    away.rename(store)
    set_status(store, "r005", "FINISHED")
    assert tale.look().new == 1
    assert tale.new == 6


@pytest.mark.heavy
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["folder", "SQLite"])
@pytest.mark.filterwarnings("ignore")
def test_the_real_mlflow(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow: Any = need("mlflow")
    place = tmp_path / ("mlruns" if kind == "folder" else "mlflow.db")
    mlflow.set_tracking_uri(place.as_uri() if kind == "folder" else f"sqlite:///{place}")
    mlflow.set_experiment("grows")

    def log(number: int) -> None:
        with mlflow.start_run():
            mlflow.log_params({"lr": number / 10, "opt": "adam" if number % 2 else "sgd"})
            mlflow.log_metric("loss", number, step=1)

    log(0)
    tale = Tale(follow(place, study="grows"))
    tale.look()
    for number in range(1, 12):
        log(number)
        assert tale.look().new == 1
    with mlflow.start_run():
        mlflow.log_params({"lr": 5, "opt": "adam"})
        assert tale.look().running == 1
        mlflow.log_metric("loss", 3.0)
    assert tale.look().new == 1
    assert sorted(tale.rows.columns["loss"].values.tolist()) == sorted([*map(float, range(12)), 3.0])
