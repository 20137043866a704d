"""MLflow stores in the shape of the real ones, as files and as SQLite."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

from helpers.logs import write

STATUS = {"RUNNING": 1, "SCHEDULED": 2, "FINISHED": 3, "FAILED": 4, "KILLED": 5}
SCHEMA = """
CREATE TABLE experiments (experiment_id INTEGER PRIMARY KEY, name VARCHAR(256), artifact_location VARCHAR(256),
  lifecycle_stage VARCHAR(32));
CREATE TABLE runs (run_uuid VARCHAR(32) PRIMARY KEY, name VARCHAR(250), status VARCHAR(9), start_time BIGINT,
  lifecycle_stage VARCHAR(20), experiment_id INTEGER);
CREATE TABLE params (key VARCHAR(250), value VARCHAR(8000), run_uuid VARCHAR(32));
CREATE TABLE metrics (key VARCHAR(250), value FLOAT, timestamp BIGINT, run_uuid VARCHAR(32), step BIGINT,
  is_nan BOOLEAN);
CREATE TABLE latest_metrics (key VARCHAR(250), value FLOAT, timestamp BIGINT, step BIGINT, is_nan BOOLEAN,
  run_uuid VARCHAR(32));
CREATE TABLE tags (key VARCHAR(250), value VARCHAR(8000), run_uuid VARCHAR(32));
"""


def run(key: str, params: dict[str, Any], metrics: dict[str, float], **more: Any) -> dict[str, Any]:
    return {"key": key, "params": params, "metrics": metrics, "status": "FINISHED", "stage": "active"} | more


def write_files(root: Path, experiments: dict[str, list[dict[str, Any]]], stages: Any = None) -> Path:
    """mlruns, with experiments numbered from 1."""
    store = root / "mlruns"
    (store / ".trash").mkdir(parents=True)
    for number, (name, runs) in enumerate(experiments.items(), start=1):
        stage = (stages or {}).get(name, "active")
        quoted = name.replace("'", "''")
        meta = f"artifact_location: file:///x/{number}\nexperiment_id: '{number}'\nlifecycle_stage: {stage}\n"
        write(store / str(number) / "meta.yaml", f"{meta}name: '{quoted}'\nworkspace: null\n")
        for one in runs:
            place = store / str(number) / one["key"]
            status, label = STATUS[one["status"]], one.get("name", "a: 'b'")
            meta = f'lifecycle_stage: {one["stage"]}\nrun_id: {one["key"]}\nrun_name: "{label}"\nstatus: {status}\n'
            write(place / "meta.yaml", f"{meta}tags: []\nlong: a text\n  that goes on\n")
            for part in ("params", "metrics", "tags"):
                (place / part).mkdir()
            for key, value in one["params"].items():
                write(place / "params" / key, str(value))
            for key, value in one["metrics"].items():
                write(place / "metrics" / key, f"1767 0.5 0\n1769 {value} 2\n1768 0.7 1\n")
            if "parent" in one:
                write(place / "tags" / "mlflow.parentRunId", one["parent"])
    return store


def write_database(root: Path, experiments: dict[str, list[dict[str, Any]]], stages: Any = None) -> Path:
    path = root / "ml'flow ?#.db"
    path.parent.mkdir(parents=True, exist_ok=True)
    store = sqlite3.connect(path)
    store.executescript(SCHEMA)
    for number, (name, runs) in enumerate(experiments.items(), start=1):
        stage = (stages or {}).get(name, "active")
        store.execute("INSERT INTO experiments VALUES (?, ?, 'x', ?)", (number, name, stage))
        for time, one in enumerate(runs):
            values = (one["key"], one.get("name", "a: 'b'"), one["status"], time, one["stage"], number)
            store.execute("INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?)", values)
            for key, value in one["params"].items():
                store.execute("INSERT INTO params VALUES (?, ?, ?)", (key, str(value), one["key"]))
            for key, value in one["metrics"].items():
                is_nan = value != value
                number_kept = 0.0 if is_nan else max(min(value, 1.7976931348623157e308), -1.7976931348623157e308)
                latest = (key, number_kept, 1769, 2, is_nan, one["key"])
                store.execute("INSERT INTO latest_metrics VALUES (?, ?, ?, ?, ?, ?)", latest)
                for step in (2, 0, 1):
                    row = (key, number_kept if step == 2 else 0.5, 1767 + step, one["key"], step, is_nan and step == 2)
                    store.execute("INSERT INTO metrics VALUES (?, ?, ?, ?, ?, ?)", row)
            if "parent" in one:
                store.execute("INSERT INTO tags VALUES ('mlflow.parentRunId', ?, ?)", (one["parent"], one["key"]))
    store.commit()
    store.close()
    return path
