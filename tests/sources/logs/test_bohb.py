"""Runs of HpBandSter: configs.json and results.json, one JSON value a line."""

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
from pedanova.space.parameters import Float, Space

SPACE = {"hyperparameters": [{"type": "uniform_float", "name": "x", "lower": 0.0, "upper": 1.0, "log": False}]}


def result(number: int, budget: float, loss: Any, info: Any = None) -> list[Any]:
    times = {"submitted": 1.0, "started": 2.0, "finished": 2.5}
    return [[0, 0, number], budget, times, {"loss": loss, "info": info}, None]


def crash(number: int, budget: float) -> list[Any]:
    times = {"submitted": 1.0, "started": 2.0, "finished": 2.5}
    return [[0, 0, number], budget, times, None, "Traceback (most recent call last):\n  oh no"]


def configs(count: int) -> list[Any]:
    return [[[0, 0, number], {"x": number / count}, {"model_based_pick": False}] for number in range(count)]


def write(folder: Path, results: list[Any], *, rows: list[Any] | None = None, space: Any = SPACE) -> Path:
    for name, lines in (("configs.json", configs(30) if rows is None else rows), ("results.json", results)):
        (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    if space is not None:
        (folder / "configspace.json").write_text(json.dumps(space))
    return folder


def test_a_run(tmp_path: Path) -> None:
    write(tmp_path, [result(number, 9.0, number / 2, {"accuracy": 0.5, "text": "a"}) for number in range(30)])
    records = read_records(tmp_path)
    told = records.metadata
    assert told.source == f"HpBandSter run {tmp_path.name!r}"
    assert (told.params, told.objectives, told.directions) == (("x",), ("loss",), ("minimize",))
    assert told.space == Space({"x": Float(0, 1)})
    assert (told.where, told.repeats) == (None, "all")
    assert records.columns["loss"].values.tolist() == [number / 2 for number in range(30)]
    assert records.columns["accuracy"].values.tolist() == [0.5] * 30
    assert records.columns["time"].values.tolist() == [0.5] * 30
    assert pedanova.analyze(tmp_path, threads=1).rows == 30
    assert pedanova.analyze(tmp_path / "results.json", threads=1).rows == 30


def test_budgets_crashes_and_states(tmp_path: Path) -> None:
    rows = [result(number, 9.0, float(number)) for number in range(30)]
    rows += [result(number, 81.0, float(number)) for number in range(10)]
    rows += [crash(number, 81.0) for number in range(10, 12)]
    rows += [result(12, 81.0, 1.0, {"state": "Status.RUNNING"}), result(13, 81.0, 1.0, {"state": "CRASHED"})]
    rows += [result(14, 81.0, None), crash(15, 243.0)]
    write(tmp_path, rows)
    assert read_records(tmp_path).metadata.where == "budget == 81.0"
    a = pedanova.analyze(tmp_path, threads=1)
    assert a.rows == 10
    assert any("3 of 15 rows failed" in note for note in a.notes)
    assert any("1 of 15 rows are unfinished" in note for note in a.notes)
    assert any("1 of 15 rows have no number" in note for note in a.notes)
    assert pedanova.analyze(tmp_path, where="budget == 9", threads=1).rows == 30


def test_the_last_result_of_a_run_counts(tmp_path: Path) -> None:
    write(tmp_path, [result(0, 9.0, 5.0), result(1, 9.0, 6.0), result(0, 9.0, 7.0)])
    assert read_records(tmp_path).columns["loss"].values.tolist() == [7.0, 6.0]


def test_settings_without_space_or_info(tmp_path: Path) -> None:
    rows = [[[0, 0, number], {"x": number / 30}] for number in range(20)]
    write(tmp_path, [result(number, 9.0, float(number)) for number in range(30)], rows=rows, space=None)
    records = read_records(tmp_path)
    assert records.rows == 20
    assert records.metadata.space is None
    assert any("10 results have no configuration" in note for note in records.notes)


def test_a_line_that_is_still_written(tmp_path: Path) -> None:
    write(tmp_path, [result(number, 9.0, float(number)) for number in range(30)])
    text = (tmp_path / "results.json").read_text()
    (tmp_path / "results.json").write_text(text[:-20])
    records = read_records(tmp_path)
    assert records.rows == 29
    assert "the last line of results.json is incomplete; left out" in records.notes


@pytest.mark.parametrize(
    ("name", "content", "parts"),
    [
        ("results.json", "[1]\n[2]\n", ("results.json", "line 1", "[1]")),
        ("results.json", "{}\n", ("results.json", "line 1")),
        ("results.json", "[[\n[1]\n", ("results.json", "line 1", "no JSON")),
        ("configs.json", "[[0,0,0], 3, {}]\n", ("configs.json", "line 1", "settings")),
        ("configs.json", '{"0": {"x": 1}}\n', ("configs.json", "line 1")),
    ],
)
def test_damage(tmp_path: Path, name: str, content: str, parts: tuple[str, ...]) -> None:
    write(tmp_path, [result(0, 9.0, 1.0)])
    (tmp_path / name).write_text(content)
    refuse(FormatError, *parts, of=lambda: read_records(tmp_path))


def test_nothing_to_read(tmp_path: Path) -> None:
    refuse(DataError, "holds no trials", of=lambda: read_records(write(tmp_path, [])))


@pytest.mark.parametrize("name", ["configs.json", "results.json", "configspace.json"])
def test_files_cut_short(tmp_path: Path, name: str) -> None:
    write(tmp_path, [result(number, 9.0, number / 2) for number in range(30)])
    for _ in cut_short(tmp_path / name):
        tame(lambda: pedanova.analyze(tmp_path, threads=1))


LOG = {"configs": configs(6), "results": [*(result(n, 9.0, float(n), {"a": 1}) for n in range(5)), crash(5, 9.0)]}


@pytest.mark.slow
@given(place=st.sampled_from(places_in(LOG)), value=odd_values)
def test_odd_values(tmp_path_factory: pytest.TempPathFactory, place: Any, value: object) -> None:
    log = replaced(LOG, place, value)
    rows = {key: lines if isinstance(lines, list) else [lines] for key, lines in log.items()}
    folder = write(tmp_path_factory.mktemp("bohb"), rows["results"], rows=rows["configs"])
    tame(lambda: pedanova.analyze(folder, threads=1))
