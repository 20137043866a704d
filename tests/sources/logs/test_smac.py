"""Runs of SMAC3 in the forms that its versions write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pedanova
from helpers.common import COUNTS, refuse
from helpers.tools import cut_short, odd_values, places_in, replaced, tame
from pedanova.data.records import Records
from pedanova.errors import DataError, FormatError
from pedanova.sources import read_records
from pedanova.sources.logs.smac import state_of
from pedanova.space.parameters import Categorical, Float

SPACE: dict[str, Any] = {
    "name": None,
    "hyperparameters": [
        {"type": "uniform_float", "name": "lr", "lower": 0.001, "upper": 1.0, "default_value": 0.1, "log": True},
        {"type": "categorical", "name": "solver", "choices": ["sgd", "adam"], "weights": None},
        {"type": "uniform_float", "name": "momentum", "lower": 0.0, "upper": 1.0, "log": False},
        {"type": "constant", "name": "device", "value": "cpu"},
    ],
    "conditions": [{"type": "EQ", "child": "momentum", "parent": "solver", "value": "sgd"}],
    "forbiddens": [],
    "python_module_version": "1.2.0",
    "format_version": 0.4,
}


def config(number: int) -> dict[str, Any]:
    solver = "sgd" if number % 2 else "adam"
    plain = {"lr": 0.001 * 1.2**number, "solver": solver, "device": "cpu"}
    return plain | ({"momentum": number / 40} if solver == "sgd" else {})


def configs(count: int) -> dict[str, Any]:
    return {str(number): config(number) for number in range(1, count + 1)}


def old_row(number: int, cost: Any, status: str = "SUCCESS", seed: int = 0, budget: float = 0.0) -> list[Any]:
    """Version 1."""
    end = [cost, 0.5, {"__enum__": f"StatusType.{status}"}, 10.0, 10.5, {}]
    return [[number, None, seed, budget], end]


def new_row(
    number: int, cost: Any, status: int = 1, seed: Any = 7, budget: Any = None, instance: Any = None
) -> list[Any]:
    """Versions 2.0 and following."""
    return [number, instance, seed, budget, cost, 0.5, status, 10.0, 10.5, {}]


def named_row(number: int, cost: Any, status: int = 1, **more: Any) -> dict[str, Any]:
    """The latest versions."""
    keys = ("config_id", "instance", "seed", "budget", "cost", "time", "status", "starttime", "endtime")
    row = dict(zip(keys, new_row(number, cost, status)[:9], strict=True))
    return row | {"cpu_time": 0.4, "additional_info": {"size": 3, "text": "a", "deep": {}}} | more


def write(folder: Path, rows: list[Any], *, count: int = 30, space: Any = SPACE, objectives: Any = "cost") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    origins = {str(number): "Initial Design: Sobol" for number in range(1, count + 1)}
    history = {
        "stats": {"submitted": len(rows), "finished": len(rows), "running": 0},
        "data": rows,
        "configs": configs(count),
        "config_origins": origins,
    }
    (folder / "runhistory.json").write_text(json.dumps(history))
    if space is not None:
        (folder / "configspace.json").write_text(json.dumps(space))
    if objectives is not None:
        (folder / "scenario.json").write_text(json.dumps({"name": "x", "objectives": objectives, "crash_cost": 1e9}))
    return folder


def values(records: Records, name: str) -> list[Any]:
    column = records.columns[name]
    return [None if gone else column.value_at(row) for row, gone in enumerate(column.absent())]


@pytest.mark.parametrize("row", [old_row, new_row, named_row])
def test_every_version(tmp_path: Path, row: Any) -> None:
    records = read_records(write(tmp_path / "run", [row(number, float(number)) for number in range(1, 31)]))
    told = records.metadata
    assert told.source == "SMAC3 run 'run'"
    assert told.params == ("lr", "solver", "momentum")
    assert told.space is not None
    assert dict(told.space) == {
        "lr": Float(0.001, 1.0, log=True),
        "solver": Categorical(["sgd", "adam"]),
        "momentum": Float(0, 1, when={"solver": ["sgd"]}),
    }
    assert (told.conditions, told.objectives, told.directions) == (True, ("cost",), ("minimize",))
    assert (told.where, told.repeats, told.state) == (None, "all", "state")
    assert values(records, "cost") == [float(number) for number in range(1, 31)]
    assert values(records, "lr") == [config(number)["lr"] for number in range(1, 31)]
    assert values(records, "momentum")[:4] == [1 / 40, None, 3 / 40, None]
    assert values(records, "time")[0] == 0.5
    assert "device" not in records.columns
    assert "constants are left out: device" in records.notes


def test_the_earliest_rows_without_budget_and_times(tmp_path: Path) -> None:
    rows = [
        [[number, "inst", 0], [float(number), 0.5, {"__enum__": "StatusType.SUCCESS"}, {}]] for number in range(1, 6)
    ]
    records = read_records(write(tmp_path, rows, objectives=None))
    assert values(records, "cost") == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert values(records, "instance") == ["inst"] * 5


def test_eleven_cells_hold_the_processor_time(tmp_path: Path) -> None:
    row = new_row(1, 0.25)
    records = read_records(write(tmp_path, [[*row[:6], 0.125, *row[6:]]]))
    assert (values(records, "cpu_time"), values(records, "cost")) == ([0.125], [0.25])


def test_the_analysis_finds_the_condition_and_the_setting(tmp_path: Path) -> None:
    write(tmp_path, [new_row(number, float(number)) for number in range(1, 31)])
    a = pedanova.analyze(tmp_path, scan=pedanova.Scan(threads=1))
    assert len(a) == 30
    assert a.importance(**COUNTS)["lr"].ratio > 0.3
    assert any("momentum: 15 of 30 rows have no value (inactive)" in note for note in a.notes)


def test_numbers_and_names_of_states() -> None:
    assert [state_of(number) for number in range(9)] == [
        "RUNNING", "SUCCESS", "CRASHED", "TIMEOUT", "MEMORYOUT", "MEMORYOUT", "SUCCESS", "STOP", "RUNNING",
    ]  # fmt: skip
    assert state_of(99) == state_of(-1) == "FAIL"
    assert state_of({"__enum__": "StatusType.CAPPED"}) == "CAPPED"
    assert state_of({"__enum__": "StatusType.DONOTADVANCE"}) == "SUCCESS"
    assert state_of("MEMOUT") == "MEMOUT"


def test_failures_are_dropped_or_the_worst(tmp_path: Path) -> None:
    words = ["SUCCESS", "CRASHED", "TIMEOUT", "MEMOUT", "ABORT", "CAPPED", "RUNNING", "STOP", "DONOTADVANCE", "LATER"]
    rows = [old_row(number, float(number), words[number % 10]) for number in range(1, 31)]
    write(tmp_path, rows, objectives=None)
    a = pedanova.analyze(tmp_path, scan=pedanova.Scan(threads=1))
    assert len(a) == 6
    assert any("15 of 30 rows failed (according to the column" in note for note in a.notes)
    assert any("6 of 30 rows were pruned" in note for note in a.notes)
    assert any("3 of 30 rows are unfinished" in note for note in a.notes)
    assert (
        len(pedanova.analyze(tmp_path, reading=pedanova.Reading(failed="worst"), scan=pedanova.Scan(threads=1))) == 21
    )


def test_infinite_costs_of_crashed_runs_do_no_harm(tmp_path: Path) -> None:
    rows = [
        new_row(number, float("inf") if number % 3 == 0 else number, 2 if number % 3 == 0 else 1)
        for number in range(1, 31)
    ]
    write(tmp_path, rows)
    assert len(pedanova.analyze(tmp_path, scan=pedanova.Scan(threads=1))) == 20
    assert (
        len(pedanova.analyze(tmp_path, reading=pedanova.Reading(failed="worst"), scan=pedanova.Scan(threads=1))) == 30
    )


def test_a_log_in_which_everything_failed(tmp_path: Path) -> None:
    write(tmp_path, [new_row(number, None, 2) for number in range(1, 31)])
    refuse(DataError, of=lambda: pedanova.analyze(tmp_path, scan=pedanova.Scan(threads=1)))


def test_the_highest_budget_unless_asked_otherwise(tmp_path: Path) -> None:
    rows = [new_row(number, float(number), budget=2.7777777777777777) for number in range(1, 31)]
    rows += [new_row(number, number / 2, budget=25.0) for number in range(1, 13)]
    rows += [new_row(30, None, 0, budget=75.0)]  # still running
    write(tmp_path, rows)
    assert read_records(tmp_path).metadata.where == "budget == 25"
    a = pedanova.analyze(tmp_path, scan=pedanova.Scan(threads=1))
    assert len(a) == 12
    assert any("only rows with budget == 25 are used (12 of 43)" in note for note in a.notes)
    assert len(pedanova.analyze(tmp_path, where="budget < 25", scan=pedanova.Scan(threads=1))) == 30


def test_a_setting_called_budget(tmp_path: Path) -> None:
    write(tmp_path, [new_row(n, float(n), budget=b) for b in (1.0, 3.0) for n in range(1, 13)], space=None)
    history = json.loads((tmp_path / "runhistory.json").read_text())
    history["configs"] = {name: plain | {"budget": int(name), "cost": 1} for name, plain in history["configs"].items()}
    (tmp_path / "runhistory.json").write_text(json.dumps(history))
    told = read_records(tmp_path).metadata
    assert told.where == "budget_ == 3"
    assert told.objectives == ("cost_",)
    assert len(pedanova.analyze(tmp_path, scan=pedanova.Scan(threads=1))) == 12


def test_a_setting_without_value_at_the_highest_budget(tmp_path: Path) -> None:
    rows = [new_row(number, float(number), budget=1.0) for number in range(1, 31)]
    rows += [new_row(number, float(number), budget=3.0) for number in range(2, 31, 2)]  # Adam alone
    write(tmp_path, rows)
    a = pedanova.analyze(tmp_path, scan=pedanova.Scan(threads=1))
    assert list(a.importance(**COUNTS)) == ["lr", "solver"]
    assert "parameters without any value are left out: momentum" in a.notes


def test_seeds_and_instances_are_averaged(tmp_path: Path) -> None:
    rows = [new_row(n, n + shift, seed=seed) for n in range(1, 31) for seed, shift in ((1, 0.0), (2, 1.0))]
    write(tmp_path, rows)
    assert read_records(tmp_path).metadata.repeats == "mean"
    a = pedanova.analyze(tmp_path, scan=pedanova.Scan(threads=1))
    assert len(a) == 30
    assert len(pedanova.analyze(tmp_path, repeats="all", scan=pedanova.Scan(threads=1))) == 60
    rows = [named_row(n, float(n), instance=name) for n in range(1, 31) for name in ("i1", "i2")]
    write(tmp_path, rows)
    a = pedanova.analyze(tmp_path, scan=pedanova.Scan(threads=1))
    assert len(a) == 30
    assert any("averaged over 2 instances" in note for note in a.notes)


def test_several_objectives(tmp_path: Path) -> None:
    rows = [new_row(number, [float(number), 1.0 / number]) for number in range(1, 31)]
    rows[4] = new_row(5, 1e9, 2)  # a crash tells one cost only
    write(tmp_path, rows, objectives=["1 - accuracy", "size"])
    records = read_records(tmp_path)
    assert records.metadata.objectives == ("1 - accuracy", "size")
    assert records.metadata.directions == ("minimize", "minimize")
    assert values(records, "size")[4] is None
    assert len(pedanova.analyze(tmp_path, scan=pedanova.Scan(threads=1))) == 29
    assert len(pedanova.analyze(tmp_path, "size", scan=pedanova.Scan(threads=1))) == 29
    write(tmp_path, rows, objectives=["one"])
    assert read_records(tmp_path).metadata.objectives == ("cost_1", "cost_2")


def test_objectives_of_version_1(tmp_path: Path) -> None:
    write(tmp_path, [old_row(number, [1.0, float(number)]) for number in range(1, 9)], objectives=None)
    assert read_records(tmp_path).metadata.objectives == ("cost_1", "cost_2")


def test_numbers_from_the_additional_info(tmp_path: Path) -> None:
    records = read_records(write(tmp_path, [named_row(number, float(number)) for number in range(1, 9)]))
    assert values(records, "size") == [3] * 8
    assert "text" not in records.columns


def test_the_file_itself_and_folders_above(tmp_path: Path) -> None:
    folder = write(tmp_path / "out" / "name" / "0", [new_row(number, float(number)) for number in range(1, 9)])
    assert read_records(folder / "runhistory.json").rows == 8
    assert read_records(tmp_path / "out" / "name").rows == 8
    assert read_records(tmp_path / "out").rows == 8
    write(tmp_path / "out" / "name" / "1", [new_row(number, float(number)) for number in range(1, 5)])
    refuse(DataError, "2 SMAC3 runs", "study=", "name/0", of=lambda: read_records(tmp_path / "out"))
    assert read_records(tmp_path / "out", study="name/1").rows == 4
    assert read_records(tmp_path / "out" / "name", study="0").rows == 8
    refuse(DataError, "study='9'", "name/0", of=lambda: read_records(tmp_path / "out", study="9"))


def test_without_any_space(tmp_path: Path) -> None:
    write(tmp_path, [new_row(number, float(number)) for number in range(1, 31)], space=None)
    records = read_records(tmp_path)
    assert records.metadata.space is None
    assert records.metadata.params == ("lr", "solver", "momentum")
    assert any("no configuration space" in note for note in records.notes)
    assert len(pedanova.analyze(tmp_path, scan=pedanova.Scan(threads=1))) == 30


def test_a_condition_that_is_a_range(tmp_path: Path) -> None:
    """`lr` decides over `x` by a threshold; `twin` is what `solver` is."""
    more = [
        {"type": "categorical", "name": "twin", "choices": [0, 1], "weights": None},
        {"type": "uniform_float", "name": "x", "lower": 0.0, "upper": 1.0, "log": False},
    ]
    condition = {"type": "GT", "child": "x", "parent": "lr", "value": 0.01}
    space = {
        **SPACE,
        "hyperparameters": [*more, *SPACE["hyperparameters"]],
        "conditions": [*SPACE["conditions"], condition],
    }
    write(tmp_path, [new_row(number, float(number)) for number in range(1, 31)], space=space)
    history = json.loads((tmp_path / "runhistory.json").read_text())
    for name, plain in history["configs"].items():
        plain |= {"twin": int(name) % 2} | ({"x": int(name) / 30} if plain["lr"] > 0.01 else {})
    (tmp_path / "runhistory.json").write_text(json.dumps(history))
    a = pedanova.analyze(tmp_path, scan=pedanova.Scan(threads=1))
    assert a.data.observations is not None
    assert a.data.observations.space["momentum"].when == (("solver", ("sgd",)),)
    assert a.data.observations.space["x"].when == (("lr", (pedanova.above(0.01),)),)
    assert any("x: 12 of 30 rows have no value (inactive)" in note for note in a.notes)


def test_rows_without_a_configuration(tmp_path: Path) -> None:
    records = read_records(write(tmp_path, [new_row(number, 1.0) for number in (1, 2, 99)]))
    assert records.rows == 2
    assert any("1 run has no configuration" in note for note in records.notes)


@pytest.mark.parametrize(
    ("name", "content", "parts"),
    [
        ("runhistory.json", "", ("runhistory.json", "not valid JSON")),
        ("runhistory.json", '{"data": [', ("runhistory.json", "cut off")),
        ("runhistory.json", "[]", ("not a run history",)),
        ("runhistory.json", '{"data": {}, "configs": {}}', ("not a run history",)),
        ("runhistory.json", '{"data": [[1, 2]], "configs": {}}', ("entry 0", "[1, 2]")),
        ("runhistory.json", '{"data": [{"cost": 1}], "configs": {}}', ("entry 0",)),
        ("scenario.json", "{", ("scenario.json", "not valid JSON")),
        ("configspace.json", "{}", ("configspace.json", "not a configuration space")),
    ],
)
def test_damage(tmp_path: Path, name: str, content: str, parts: tuple[str, ...]) -> None:
    write(tmp_path, [new_row(number, 1.0) for number in range(1, 4)])
    (tmp_path / name).write_text(content)
    refuse(FormatError, *parts, of=lambda: read_records(tmp_path))


def test_nothing_to_read(tmp_path: Path) -> None:
    refuse(DataError, "holds no trials", of=lambda: read_records(write(tmp_path / "a", [])))
    constant = {"hyperparameters": [{"name": "lr", "type": "constant", "value": 1}]}
    refuse(
        DataError,
        "every setting is constant",
        of=lambda: read_records(write(tmp_path / "b", [new_row(1, 1)], space=constant)),
    )
    (tmp_path / "c").mkdir()
    refuse(DataError, "empty folder", of=lambda: read_records(tmp_path / "c"))


@pytest.mark.parametrize("name", ["runhistory.json", "configspace.json", "scenario.json"])
def test_files_cut_short(tmp_path: Path, name: str) -> None:
    write(tmp_path, [new_row(number, float(number)) for number in range(1, 31)])
    for _ in cut_short(tmp_path / name):
        tame(lambda: pedanova.analyze(tmp_path, scan=pedanova.Scan(threads=1)))
    assert len(pedanova.analyze(tmp_path, scan=pedanova.Scan(threads=1))) == 30


ROWS = [*(new_row(n, float(n)) for n in range(1, 9)), *(named_row(n, float(n)) for n in range(9, 12)), old_row(12, 3.0)]
HISTORY = {"data": ROWS, "configs": configs(12)}


@given(place=st.sampled_from(places_in(HISTORY)), value=odd_values)
def test_odd_values_in_the_history(tmp_path_factory: pytest.TempPathFactory, place: Any, value: object) -> None:
    folder = tmp_path_factory.mktemp("smac")
    write(folder, [])
    (folder / "runhistory.json").write_text(json.dumps(replaced(HISTORY, place, value)))
    tame(lambda: pedanova.analyze(folder, scan=pedanova.Scan(threads=1)))
