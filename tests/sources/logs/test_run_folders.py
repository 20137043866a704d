"""Folders of runs that no tool made: settings and results in files of the user's own."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

import pedanova as pa
from helpers.common import refuse
from helpers.logs import cells, read_untouched, tolerate, write
from pedanova.errors import DataError
from pedanova.sources import read_records

LOSSES = [0.1 * (number % 7) + 0.01 * number for number in range(30)]


def settings(number: int) -> dict[str, Any]:
    return {
        "lr": 0.01 * (1 + number % 5),
        "net": {"depth": number % 4},
        "opt": "adam" if number % 3 else "sgd",
        "seed": number,
    }


def runs(folder: Path, **files: Any) -> Path:
    """30 runs, each with the given files; a file is a function of the number of the run."""
    for number, loss in enumerate(LOSSES):
        for name, content in files.items():
            write(folder / f"run_{number}" / name.replace("__", "."), content(settings(number), loss))
    return folder


@pytest.mark.parametrize("name", ["config__json", "train_config__json", "params__yaml"])
def test_a_file_of_settings_and_one_of_results(tmp_path: Path, name: str) -> None:
    folder = runs(
        tmp_path / "runs",
        **{name: lambda own, _: own, "metrics__json": lambda _, loss: {"loss": loss, "epochs": [1, 2]}},
    )
    records = read_untouched(folder)
    assert cells(records, "run") == [f"run_{number}" for number in range(30)]
    assert cells(records, "config.net.depth") == [number % 4 for number in range(30)]
    assert cells(records, "loss") == LOSSES
    assert "results are taken from metrics.json" in map(str, records.notes)
    assert list(pa.analyze(folder, "loss").space) == ["config.lr", "config.net.depth", "config.opt"]
    assert read_records(tmp_path).rows == 30
    refuse(DataError, "single run", "folder of all runs", of=lambda: read_records(folder / "run_3"))


def test_sacred(tmp_path: Path) -> None:
    """Sacred keeps a state and the last result in run.json; curves are in a CSV file of the user."""
    folder = runs(tmp_path, config__json=lambda own, _: own, metrics__json=lambda *_: {},
        run__json=lambda _, loss: {"result": loss, "status": "COMPLETED", "host": {"cpu": "x"}},
        val__csv=lambda _, loss: f"epoch,acc\n0,9\n1,{loss}\n")  # fmt: skip
    records = read_records(folder)
    assert cells(records, "result") == cells(records, "acc") == LOSSES


@pytest.mark.parametrize("nested", [False, True])
def test_one_file_for_each_run(tmp_path: Path, nested: bool) -> None:
    """Settings and results in one file: the folder names the run, and the columns are those of a table."""

    def content(own: dict[str, Any], loss: float) -> dict[str, Any]:
        return {"config": own, "loss": loss} if nested else own | {"loss": loss}

    records = read_untouched(runs(tmp_path, result__json=content))
    assert cells(records, "file")[:2] == ["run_0", "run_1"]
    prefix = "config." if nested else ""
    assert cells(records, f"{prefix}net.depth")[:5] == [0, 1, 2, 3, 0]
    same = read_records(f"{tmp_path}/*/result.json")
    assert list(same.columns) == list(records.columns)
    assert list(pa.analyze(tmp_path, "loss").space) == [f"{prefix}{name}" for name in ("lr", "net.depth", "opt")]


def test_folders_that_hold_no_runs(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write(tmp_path / name / ".vscode" / "settings.json", {"lr": 1})
        write(tmp_path / name / f"{name}.json", {"lr": 1})
    refuse(DataError, "unknown tool", of=lambda: read_records(tmp_path))
    for name in ("a", "b"):
        write(tmp_path / name / "config.json", {"lr": 1})
        write(tmp_path / name / f"{name}.json", {"text": "x"})
    refuse(DataError, "none of the 2 run folders contains a file of results", of=lambda: read_records(tmp_path))


def test_damaged_runs(tmp_path: Path) -> None:
    """A run whose settings cannot be read is left out with a note; any other damage is an answer or one line."""
    folder = runs(tmp_path, config__json=lambda own, _: own, metrics__json=lambda _, loss: {"loss": loss})
    write(folder / "run_4" / "config.json", '{"lr": ')
    write(folder / "run_5" / "metrics.json", '{"loss": ')
    records = read_records(folder)
    assert records.rows == 29
    assert cells(records, "loss")[4] is None
    assert "1 run has no settings that can be read; left out" in map(str, records.notes)
    draw, text = random.Random(0), json.dumps(settings(1) | {"loss": 0.5})
    for _ in range(40):
        file = folder / f"run_{draw.randrange(30)}" / draw.choice(["config.json", "metrics.json"])
        place, other = draw.randrange(len(text)), draw.choice(['"', "{", "}", "[", "null", "1e999", ",", "-", "\x00"])
        write(file, text[:place] + other + text[place + draw.randrange(9) :])
        tolerate(lambda: pa.analyze(folder, "loss", scan=pa.Scan(threads=1)))
