"""Runs of DeepCAVE."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pedanova
from helpers.common import refuse
from helpers.tools import cut_short, odd_values, places_in, replaced, tame
from pedanova.errors import DataError, FormatError
from pedanova.sources import read_records
from pedanova.sources.logs.smac import DEEPCAVE_STATUS, state_of
from pedanova.space.parameters import Float, Int, Space

SPACE = {
    "hyperparameters": [
        {"type": "uniform_float", "name": "x", "lower": 0.0, "upper": 1.0, "log": False},
        {"type": "uniform_int", "name": "k", "lower": 1, "upper": 3, "log": False},
    ]
}
ERROR = {"name": "error", "lower": 0, "upper": 1, "lock_lower": True, "lock_upper": True, "optimize": "lower"}
ACCURACY = ERROR | {"name": "accuracy", "optimize": "upper"}
TIME = ERROR | {"name": "time"}


def trial(number: int, costs: list[Any], status: Any = 1, *, budget: float = 0.0, seed: Any = -1) -> list[Any]:
    return [number, budget, seed, costs, 1.0, 3.5, status, {}]


def write(folder: Path, rows: list[Any], *goals: dict[str, Any], space: Any = SPACE, count: int = 30) -> Path:
    (folder / "meta.json").write_text(json.dumps({"objectives": goals or (ERROR,), "budgets": [0.0]}, indent=4))
    configs = {str(number): {"x": number / count, "k": 1 + number % 3} for number in range(count)}
    (folder / "configs.json").write_text(json.dumps(configs, indent=4))
    (folder / "origins.json").write_text(json.dumps(dict.fromkeys(configs)))
    (folder / "history.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    if space is not None:
        (folder / "configspace.json").write_text(json.dumps(space))
    return folder


@pytest.mark.parametrize("seeds", [True, False])
def test_a_run(tmp_path: Path, seeds: bool) -> None:
    rows = [trial(number, [number / 30]) for number in range(30)]
    rows = rows if seeds else [[*row[:2], *row[3:]] for row in rows]  # as written before version 1.3
    records = read_records(write(tmp_path, rows))
    told = records.metadata
    assert (told.params, told.objectives, told.directions) == (("x", "k"), ("error",), ("minimize",))
    assert told.space == Space({"x": Float(0, 1), "k": Int(1, 3)})
    assert (told.where, told.repeats) == (None, "all")
    assert records.columns["error"].values.tolist() == [number / 30 for number in range(30)]
    assert records.columns["duration"].values.tolist() == [2.5] * 30
    assert "seed" not in records.columns
    assert len(pedanova.analyze(tmp_path, scan=pedanova.Scan(threads=1))) == 30
    assert len(pedanova.analyze(tmp_path / "history.jsonl", scan=pedanova.Scan(threads=1))) == 30


def test_directions_and_the_time_beside_them(tmp_path: Path) -> None:
    rows = [trial(number, [number / 30, 1.0, float(number)]) for number in range(30)]
    write(tmp_path, rows, ACCURACY, ERROR, TIME)
    told = read_records(tmp_path).metadata
    assert (told.objectives, told.directions) == (("accuracy", "error"), ("maximize", "minimize"))
    assert any("the run time" in note for note in read_records(tmp_path).notes)
    assert len(pedanova.analyze(tmp_path, "time", scan=pedanova.Scan(threads=1))) == 30
    write(tmp_path, [trial(number, [float(number)]) for number in range(30)], TIME)
    assert read_records(tmp_path).metadata.objectives == ("time",)


def test_budgets_seeds_and_states(tmp_path: Path) -> None:
    rows = [trial(number, [float(number)], budget=1.0, seed=seed) for number in range(30) for seed in (3, 4)]
    rows += [trial(number, [float(number)], budget=5.0, seed=seed) for number in range(12) for seed in (3, 4)]
    rows += [trial(20, [None], status, budget=5.0, seed=3) for status in (2, 3, 4, 5, 6, 9)]
    write(tmp_path, rows)
    told = read_records(tmp_path).metadata
    assert (told.where, told.repeats) == ("budget == 5", "mean")
    a = pedanova.analyze(tmp_path, scan=pedanova.Scan(threads=1))
    assert len(a) == 12
    assert any("5 of 30 rows failed" in note for note in a.notes)
    assert any("1 of 30 rows is unfinished" in note for note in a.notes)


def test_an_infinite_budget_is_the_highest(tmp_path: Path) -> None:
    rows = [trial(number, [float(number)], budget=1.0) for number in range(30)]
    rows += [trial(number, [float(number)], budget=float("inf")) for number in range(12)]
    write(tmp_path, rows)
    assert read_records(tmp_path).metadata.where == "budget > 1.0"
    assert len(pedanova.analyze(tmp_path, scan=pedanova.Scan(threads=1))) == 12


def test_words_for_states() -> None:
    assert (
        state_of("Status.NOT_EVALUATED", DEEPCAVE_STATUS)
        == state_of("not evaluated", DEEPCAVE_STATUS)
        == state_of(6, DEEPCAVE_STATUS)
        == "PENDING"
    )
    assert state_of("success", DEEPCAVE_STATUS) == state_of(1, DEEPCAVE_STATUS) == "SUCCESS"
    assert state_of(0, DEEPCAVE_STATUS) == state_of(7, DEEPCAVE_STATUS) == "FAIL"


def test_without_space_or_configuration(tmp_path: Path) -> None:
    write(tmp_path, [trial(number, [float(number)]) for number in range(32)], space=None)
    records = read_records(tmp_path)
    assert records.rows == 30
    assert records.metadata.space is None
    assert any("2 trials have no configuration" in note for note in records.notes)


@pytest.mark.parametrize(
    ("name", "content", "parts"),
    [
        ("meta.json", "{", ("meta.json", "not valid JSON")),
        ("meta.json", "{}", ("meta.json", "objectives is None")),
        ("meta.json", '{"objectives": [3]}', ("meta.json", "needs a name")),
        ("meta.json", '{"objectives": [{"name": "a"}, {"name": "a"}]}', ("meta.json", "its own name")),
        ("configs.json", "[]", ("configs.json", "such as {'1': {'lr': 0.1}}")),
        ("history.jsonl", "[1]\n", ("history.jsonl", "line 1", "[1]")),
        ("history.jsonl", "[0, 0, -1, [1, 2], 0, 1, 1, {}]\n", ("line 1", "2 costs for 1 objectives")),
    ],
)
def test_damage(tmp_path: Path, name: str, content: str, parts: tuple[str, ...]) -> None:
    write(tmp_path, [trial(0, [1.0])])
    (tmp_path / name).write_text(content)
    refuse(FormatError, *parts, of=lambda: read_records(tmp_path))


def test_nothing_to_read(tmp_path: Path) -> None:
    refuse(DataError, "holds no trials", of=lambda: read_records(write(tmp_path, [])))


@pytest.mark.parametrize("name", ["meta.json", "configs.json", "history.jsonl", "configspace.json"])
def test_files_cut_short(tmp_path: Path, name: str) -> None:
    write(tmp_path, [trial(number, [number / 30]) for number in range(30)])
    for _ in cut_short(tmp_path / name):
        tame(lambda: pedanova.analyze(tmp_path, scan=pedanova.Scan(threads=1)))


LOG = {"objectives": [ERROR], "rows": [*(trial(n, [float(n)]) for n in range(6)), trial(6, [None], 4)]}


@given(place=st.sampled_from(places_in(LOG)), value=odd_values)
def test_odd_values(tmp_path_factory: pytest.TempPathFactory, place: Any, value: object) -> None:
    log = replaced(LOG, place, value)
    rows = log["rows"] if isinstance(log["rows"], list) else [log["rows"]]
    folder = write(tmp_path_factory.mktemp("deepcave"), rows)
    (folder / "meta.json").write_text(json.dumps({"objectives": log["objectives"]}))
    tame(lambda: pedanova.analyze(folder, scan=pedanova.Scan(threads=1)))
