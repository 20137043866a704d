"""Histories of AMLTK: columns named after what they hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import pedanova
from helpers.common import refuse
from helpers.tools import cut_short, tame
from pedanova.errors import DataError, FormatError
from pedanova.sources import read_records
from pedanova.sources.logs.metric_columns import metrics_among
from pedanova.space.parameters import Categorical, Float, Space

SPACE = {
    "hyperparameters": [
        {"type": "uniform_float", "name": "forest:max_samples", "lower": 0.1, "upper": 0.9, "log": False},
        {"type": "categorical", "name": "forest:criterion", "choices": ["gini", "entropy"], "weights": None},
    ]
}
METRIC = "metric:accuracy [0.0, 1.0] (maximize)"


def table(rows: int = 30) -> dict[str, list[Any]]:
    return {
        "status": ["success"] * rows,
        "trial_seed": [7] * rows,
        "exception": ["NA"] * rows,
        METRIC: [i / rows for i in range(rows)],
        "config:forest:max_samples": [0.1 + 0.8 * i / rows for i in range(rows)],
        "config:forest:criterion": [("gini", "entropy")[i % 2] for i in range(rows)],
        "profile:trial:memory:unit": ["bytes"] * rows,
        "profile:trial:time:duration": [0.5] * rows,
        "name": [f"trial_number={i}" for i in range(rows)],
    }


def write(folder: Path, columns: dict[str, list[Any]], *, name: str = "history.parquet", space: Any = SPACE) -> Path:
    frame = pl.DataFrame(columns)
    if name.endswith(".csv"):
        frame.write_csv(folder / name)
    else:
        frame.write_parquet(folder / name)
    if space is not None:
        (folder / "configspace.json").write_text(json.dumps(space))
    return folder


@pytest.mark.parametrize("name", ["history.parquet", "history.csv"])
def test_a_history(tmp_path: Path, name: str) -> None:
    records = read_records(write(tmp_path, table(), name=name))
    told = records.metadata
    assert told.params == ("forest:max_samples", "forest:criterion")
    assert told.space == Space(
        {"forest:max_samples": Float(0.1, 0.9), "forest:criterion": Categorical(["gini", "entropy"])}
    )
    assert (told.objectives, told.directions) == (("accuracy",), ("maximize",))
    assert (told.where, told.repeats) == (None, "all")
    assert records.columns["accuracy"].values.tolist() == [i / 30 for i in range(30)]
    assert "profile:trial:time:duration" in records.columns
    assert pedanova.analyze(tmp_path, threads=1).rows == 30
    assert pedanova.analyze(tmp_path / name, threads=1).rows == 30


def test_states_seeds_and_budgets(tmp_path: Path) -> None:
    columns = table() | {
        "status": ["success"] * 26 + ["fail", "crashed", "unknown", "Status.SUCCESS"],
        "trial_seed": [i % 2 for i in range(30)],
        "name": [f"config_id={i}_seed=1_budget={(1.0, 9.0)[i >= 10]}_instance=None" for i in range(30)],
    }
    columns[METRIC][26] = None
    write(tmp_path, columns)
    told = read_records(tmp_path).metadata
    assert (told.where, told.repeats) == ("budget == 9.0", "mean")
    a = pedanova.analyze(tmp_path, threads=1)
    assert a.rows == 17
    assert any("3 of 20 rows failed" in note for note in a.notes)


def test_several_metrics(tmp_path: Path) -> None:
    write(tmp_path, table() | {"metric:loss (minimize)": [float(i) for i in range(30)]})
    told = read_records(tmp_path).metadata
    assert (told.objectives, told.directions) == (("accuracy", "loss"), ("maximize", "minimize"))


def test_names_of_metrics() -> None:
    names = ["metric:a [-inf, inf] (minimize)", "metric:b c (maximize)", "metric:d", "metrics", "config:e"]
    found = [(metric.name, metric.direction) for metric in metrics_among(names)]
    assert found == [("a", "minimize"), ("b c", "maximize"), ("d", "minimize")]


def test_without_a_space(tmp_path: Path) -> None:
    records = read_records(write(tmp_path, table(), space=None))
    assert records.metadata.space is None
    assert records.metadata.params == ("forest:max_samples", "forest:criterion")


def test_a_table_called_history_is_no_log_by_itself(tmp_path: Path) -> None:
    write(tmp_path, table(), name="history.csv", space=None)
    refuse(DataError, "folder of no known tool", of=lambda: read_records(tmp_path))
    assert read_records(tmp_path / "history.csv").metadata.source == ""


@pytest.mark.parametrize("gone", [METRIC, "config:"])
def test_tables_of_other_kinds(tmp_path: Path, gone: str) -> None:
    write(tmp_path, {name: values for name, values in table().items() if not name.startswith(gone)})
    refuse(FormatError, "history.parquet", "no history of AMLTK", of=lambda: read_records(tmp_path))


@pytest.mark.parametrize("name", ["history.parquet", "configspace.json"])
def test_files_cut_short(tmp_path: Path, name: str) -> None:
    write(tmp_path, table())
    for _ in cut_short(tmp_path / name):
        tame(lambda: pedanova.analyze(tmp_path, threads=1))
