"""A search space that lies beside a log is used where it is clear that it is its own."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import pedanova as pa
from pedanova.analysis.analyze import guess_space
from pedanova.space.parameters import Float, Int

RNG = np.random.default_rng(3)
SPACE = {"lr": {"type": "float", "low": 1e-5, "high": 1.0, "log": True}, "depth": {"type": "int", "low": 1, "high": 9}}
FORMS = {
    "search_space.json": json.dumps(SPACE),
    "runs.yaml": "parameters:\n  lr: {min: 1.0e-5, max: 1.0, distribution: log_uniform_values}\n"
    "  depth: {min: 1, max: 9}\n",
    "multirun.yaml": "hydra:\n  sweeper:\n    params:\n      lr: tag(log, interval(1e-5, 1.0))\n"
    "      depth: range(1, 10)\n",
}


def table(folder: Path, prefix: str = "", *, low: int = 2) -> Path:
    rows = zip(RNG.uniform(1e-3, 0.1, 30), RNG.integers(low, 6, 30), RNG.random(30), strict=True)
    lines = [f"{prefix}lr,{prefix}depth,loss", *(f"{a},{b},{c}" for a, b, c in rows)]
    file = folder / "runs.csv"
    file.write_text("\n".join(lines) + "\n")
    return file


def space_notes(a: pa.Analysis) -> list[str]:
    return [note for note in a.notes if note.kind == "space" and not note.subject]


@pytest.mark.parametrize("name", list(FORMS))
@pytest.mark.parametrize("prefix", ["", "params_"])
def test_a_space_in_the_same_folder_is_used(tmp_path: Path, name: str, prefix: str) -> None:
    (tmp_path / name).write_text(FORMS[name])
    a = pa.analyze(table(tmp_path, prefix), "loss")
    assert dict(a.space) == {f"{prefix}lr": Float(1e-5, 1.0, log=True), f"{prefix}depth": Int(1, 9)}
    (note,) = space_notes(a)
    assert note.startswith(f"the space is read from {name} next to the log; pass space=")
    assert guess_space(table(tmp_path, prefix), "loss")[0] == a.space


def test_what_a_user_says_and_a_file_of_another_table_come_first(tmp_path: Path) -> None:
    (tmp_path / "space.json").write_text(json.dumps({**SPACE, "width": [1, 2]}))
    (tmp_path / "sweep.yaml").write_text("no: space\n")
    file = table(tmp_path)
    assert pa.analyze(file, "loss").space["depth"] != Int(1, 9)
    (tmp_path / "space.json").write_text(json.dumps(SPACE))
    assert pa.analyze(file, "loss").space["depth"] == Int(1, 9)
    assert list(pa.analyze(file, "loss", params=["depth"]).space) == ["depth"]
    assert pa.analyze(file, "loss", space={"depth": Int(1, 7)}).space["depth"] == Int(1, 7)
    assert "depth" not in pa.analyze(file, "depth").space


def test_two_spaces_or_rows_outside_are_said(tmp_path: Path) -> None:
    (tmp_path / "space.json").write_text(json.dumps(SPACE))
    a = pa.analyze(table(tmp_path, low=-3), "loss")
    assert space_notes(a) == [
        "space.json may be the search space, but some values of depth lie outside it; pass space=FILE to use it"
    ]
    assert a.space["depth"] != Int(1, 9)
    (tmp_path / "search_space.json").write_text(json.dumps(SPACE))
    a = pa.analyze(table(tmp_path), "loss")
    assert space_notes(a) == ["search_space.json or space.json may be the search space; pass space=FILE to use it"]
    assert a.space["depth"] != Int(1, 9)


def test_a_table_in_parts_names_the_space_beside_it(tmp_path: Path) -> None:
    (tmp_path / "space.json").write_text(json.dumps(SPACE))
    a = pa.analyze(table(tmp_path), "loss", scan=pa.Scan(stream=True))
    assert space_notes(a) == ["space.json may be the search space; pass space=FILE to use it"]
    assert a.space["depth"] != Int(1, 9)


@pytest.mark.parametrize("at", ["multirun.yaml", "0/.hydra/hydra.yaml"])
def test_the_sweep_that_hydra_wrote_into_a_multirun(tmp_path: Path, at: str) -> None:
    for i in range(12):
        (tmp_path / str(i) / ".hydra").mkdir(parents=True)
        (tmp_path / str(i) / ".hydra" / "overrides.yaml").write_text(f"- lr={0.001 * (i + 1)}\n- depth={1 + i % 3}\n")
        (tmp_path / str(i) / "metrics.json").write_text(json.dumps({"loss": (i * 7 % 12) / 12}))
    (tmp_path / at).write_text(FORMS["multirun.yaml"])
    assert dict(pa.analyze(tmp_path, "loss").space) == {"lr": Float(1e-5, 1.0, log=True), "depth": Int(1, 9)}
