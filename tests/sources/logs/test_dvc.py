"""What `dvc exp show --json` prints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pedanova
from helpers.common import refuse
from helpers.logs import cells, read_untouched, tolerate, write
from helpers.tools import cut_short, odd_values, places_in, replaced
from pedanova.errors import DataError, FormatError
from pedanova.sources import read_records


def facts(number: int, *, measured: bool = True) -> dict[str, Any]:
    missing = {"error": {"type": "FileNotFoundError", "msg": "no such file"}}
    results = {"data": {"loss": number / 10, "acc": {"val": 1 - number / 10}, "name": "x"}}
    return {
        "params": {"params.yaml": {"data": {"lr": number / 100, "net": {"depth": number % 3}, "opt": "sgd"}}},
        "metrics": {"metrics.json": results if measured else missing},
    }


def third(path: Path, rows: int = 12) -> Path:
    runs = [
        {"name": f"exp-{number}", "executor": None, "revs": [{"rev": f"{number:040x}", "data": facts(number)}]}
        for number in range(rows)
    ]
    commit = {"rev": "f" * 40, "name": "main", "data": facts(99, measured=False), "error": None, "experiments": runs}
    workspace = {"rev": "workspace", "name": None, "data": facts(5), "error": None, "experiments": None}
    return write(path, [workspace, commit])


def test_version_3(tmp_path: Path) -> None:
    records = read_untouched(third(tmp_path / "exp.json"))
    assert records.metadata.source == "DVC experiments 'exp.json'"
    assert records.metadata.params == ("lr", "net.depth")
    assert records.metadata.metrics == ("loss", "acc.val")
    assert cells(records, "experiment")[:2] == ["main", "exp-0"]
    assert cells(records, "state")[:2] == ["RUNNING", "COMPLETE"]
    assert cells(records, "loss")[1:] == [number / 10 for number in range(12)]
    assert len(pedanova.analyze(tmp_path / "exp.json", "loss", scan=pedanova.Scan(threads=1))) == 12


def test_states_and_files(tmp_path: Path) -> None:
    plain = json.loads(third(tmp_path / "e.json").read_text())
    runs = plain[1]["experiments"]
    for run, state in zip(runs, ["queued", "running", "failed", "success"], strict=False):
        run["executor"] = {"state": state}
    runs[4]["revs"][0]["error"] = {"type": "X", "msg": "y"}
    for number, run in enumerate(runs):
        run["revs"][0]["data"]["params"]["other.yaml"] = {"data": {"lr": number, "seed": number}}
    records = read_records(write(tmp_path / "e.json", plain))
    assert cells(records, "state")[1:6] == ["WAITING", "RUNNING", "FAIL", "COMPLETE", "FAIL"]
    assert records.metadata.params == ("params.yaml:lr", "net.depth", "other.yaml:lr", "seed")


def test_refusals(tmp_path: Path) -> None:
    path = third(tmp_path / "e.json")
    refuse(DataError, "study=", of=lambda: read_records(path, study="x"))
    refuse(FormatError, "DVC experiments", of=lambda: read_records(write(path, [{"rev": "workspace"}, {"name": "x"}])))
    refuse(DataError, "no trials", of=lambda: read_records(write(path, [{"rev": "workspace"}])))
    third(path)
    for _ in cut_short(path):
        tolerate(lambda: pedanova.analyze(path, "loss", scan=pedanova.Scan(threads=1)))


@settings(max_examples=60, deadline=None)
@given(data=st.data(), value=odd_values)
def test_any_content(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, value: object) -> None:
    path = third(tmp_path_factory.mktemp("odd") / "e.json", rows=4)
    plain = json.loads(path.read_text())
    place = data.draw(st.sampled_from(places_in(plain)))
    write(path, replaced(plain, place, value))
    tolerate(lambda: pedanova.analyze(path, "loss", scan=pedanova.Scan(threads=1)))
