"""Answers as Arrow say what the other forms say."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.common import DEMO
from pedanova.cli.output import typed

pyarrow = pytest.importorskip("pyarrow")
ipc = pytest.importorskip("pyarrow.ipc")

TABLE = (DEMO, "--objective", "error", "--exclude", "train_seconds")
COUNTED = ("--estimator", "counts", "--draws", 0)
COMMANDS = {
    "analyze": (*TABLE, *COUNTED),
    "profile": (*TABLE, *COUNTED, "--ladder", "0.1,0.5"),
    "densities": (*TABLE, *COUNTED, "--params", "learning_rate,solver,layers"),
    "interactions": (*TABLE, "--estimator", "counts", "--params", "learning_rate,units,solver"),
    "reduce": (*TABLE, "--estimator", "counts", "--params", "learning_rate,units,shuffle"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_table_as_in_csv(command: str, run, tmp_path: Path) -> None:
    place = tmp_path / "answer.arrow"
    assert run(command, *COMMANDS[command], "--format", "arrow", "-o", place)[:2] == (0, "")
    table = ipc.open_file(place).read_all()
    told = list(csv.reader(io.StringIO(run(command, *COMMANDS[command], "--format", "csv")[1])))
    assert table.column_names == told[0]
    for name, column in zip(told[0], zip(*told[1:], strict=True), strict=True):
        assert ["" if cell is None else str(cell) for cell in table[name].to_pylist()] == list(column)
    about = json.loads(table.schema.metadata[b"pedanova"])
    assert (about["objective"], about["direction"], about["rows"]) == ("error", "minimize", 1000)


def test_a_pipe_gets_a_stream() -> None:
    command = [sys.executable, "-m", "pedanova", "analyze", *map(str, COMMANDS["analyze"]), "--format", "arrow"]
    done = subprocess.run(command, capture_output=True, check=True)
    table = ipc.open_stream(done.stdout).read_all()
    assert table["parameter"][0].as_py() == "learning_rate"
    assert table.schema.field("low").type == pyarrow.float64()  # empty here, and still a column of numbers


def test_a_terminal_gets_no_bytes(run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pedanova.cli.output.sys.stdout.isatty", lambda: True, raising=False)
    status, out, err = run("analyze", *COMMANDS["analyze"], "--format", "arrow")
    assert (status, out) == (2, "")
    assert "name a file with -o" in err


def test_two_forms_at_once_are_refused(run) -> None:
    assert "choose one of them" in run("reduce", *COMMANDS["reduce"], "--to", "json", "--format", "csv")[2]


@pytest.mark.parametrize(
    ("cells", "kind", "stored"),
    [
        ([None, None], "number", [None, None]),
        ([1, 2.5, None], "number", [1.0, 2.5, None]),
        ([1, None, 3], "whole", [1, None, 3]),
        ([True, False], "truth", [True, False]),
        ([True, 1, "a"], "text", ["True", "1", "a"]),
        ([], "number", []),
    ],
)
def test_a_column_has_one_type(cells: list[object], kind: str, stored: list[object]) -> None:
    assert typed(cells) == (kind, stored)
