"""Projects of Keras Tuner: bounds, conditions, scores and states."""

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
from pedanova import Categorical, Float, Int, Ordinal, Space
from pedanova.errors import DataError
from pedanova.sources import read_records


def field(kind: str, name: str, *parents: tuple[str, list[Any]], **config: Any) -> dict[str, Any]:
    """One setting as oracle.json describes it."""
    conditions = [{"class_name": "Parent", "config": {"name": p, "values": values}} for p, values in parents]
    return {"class_name": kind, "config": {"name": name, "default": None, "conditions": conditions} | config}


def number(kind: str, name: str, low: Any, high: Any, *parents: Any, **config: Any) -> dict[str, Any]:
    bounds = {"min_value": low, "max_value": high, "step": None, "sampling": "linear"}
    return field(kind, name, *parents, **(bounds | config))


SPACE = [
    field("Choice", "model", values=["svm", "tree"], ordered=False),
    field("Choice", "units", values=[8, 16, 32], ordered=True),
    number("Float", "lr", 1e-4, 0.1, sampling="log"),
    number("Int", "width", 8, 60, step=8),
    field("Boolean", "flag"),
    field("Fixed", "fix", value=3),
    number("Float", "C; 'ü'", 0.1, 10.0, ("model", ["svm"])),
    number("Int", "depth", 1, 9, ("model", ["tree"]), ("fix", [3]), step=1),
]


def entry(n: int, values: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """One trial.json: two epochs of two executions, the second the better."""
    branch = {"C; 'ü'": 0.5 + n / 10} if n % 2 else {"depth": 1 + n % 9}
    own = {"model": "svm" if n % 2 else "tree", "units": 8, "lr": 0.001 * (n + 1), "width": 16, "flag": n % 3 == 0}
    steps = [{"value": [0.0, 0.0], "step": 0}, {"value": [float(n), n + 1.0], "step": 1}]
    return {
        "trial_id": f"{n:02d}",
        "hyperparameters": {"space": SPACE, "values": (own | branch | {"fix": 3}) if values is None else values},
        "metrics": {
            "metrics": {
                "loss": {"direction": "min", "observations": [{"value": [1.0], "step": 0}]},
                "val_acc": {"direction": "max", "observations": steps},
            }
        },
        "score": n + 0.5,
        "best_step": 1,
        "status": "COMPLETED",
        "message": None,
    } | more


def project(folder: Path, entries: list[Any], space: Any = SPACE) -> Path:
    write(folder / "oracle.json", {"ongoing_trials": {}, "hyperparameters": {"space": space, "values": {}}})
    write(folder / "tuner0.json", {})
    for n, one in enumerate(entries):
        write(folder / f"trial_{n:02d}" / "trial.json", one)
    return folder


def test_a_project(tmp_path: Path) -> None:
    folder = project(tmp_path / "p; 'ü'", [entry(n) for n in range(12)])
    records = read_untouched(folder)
    assert records.metadata.source == "Keras Tuner project \"p; 'ü'\""
    assert records.metadata.objectives == ("val_acc",)
    assert records.metadata.directions == ("maximize",)
    assert records.metadata.conditions
    assert records.metadata.space == Space(
        {
            "model": Categorical(("svm", "tree")),
            "units": Ordinal((8, 16, 32)),
            "lr": Float(1e-4, 0.1, log=True),
            "width": Int(8, 56, step=8),
            "flag": Categorical((False, True)),
            "C; 'ü'": Float(0.1, 10.0, when={"model": ["svm"]}),
            "depth": Int(1, 9, when={"model": ["tree"]}),
        }
    )
    assert cells(records, "val_acc") == [n + 0.5 for n in range(12)]
    a = pedanova.analyze(folder, scan=pedanova.Scan(threads=1))
    assert a.data.levels.direction == "maximize"
    assert any("depth: 6 of 12 rows have no value (inactive)" in note for note in a.notes)


def test_states(tmp_path: Path) -> None:
    words = ["COMPLETED", "STOPPED", "INVALID", "FAILED", "RUNNING", "IDLE"]
    entries = [entry(n, status=word) for n, word in enumerate(words)]
    entries[2]["score"] = None
    entries[2]["metrics"] = {"metrics": {}}
    records = read_records(project(tmp_path / "p", entries))
    assert cells(records, "state") == ["COMPLETE", "PRUNED", "FAIL", "FAIL", "RUNNING", "RUNNING"]
    assert cells(records, "val_acc")[2] is None


def test_a_score_that_is_no_metric(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", [entry(n, score=100.0 + n) for n in range(6)])
    told = read_records(folder).metadata
    assert (told.objectives, told.directions) == (("score",), ())
    assert any(
        "score is minimised: neither Keras Tuner" in note
        for note in pedanova.analyze(folder, scan=pedanova.Scan(threads=1), yes=True).notes
    )


def test_hyperband(tmp_path: Path) -> None:
    entries = [entry(n) for n in range(8)]
    for n, one in enumerate(entries):
        one["hyperparameters"]["values"] |= {"tuner/epochs": 2 if n < 6 else 10, "tuner/bracket": 1}
    folder = project(tmp_path / "p", entries)
    records = read_records(folder)
    assert any("6 of 8" in note for note in pedanova.analyze(folder, scan=pedanova.Scan(threads=1)).notes)
    assert records.metadata.where == "`tuner/epochs` == 2"
    assert "tuner/bracket" not in records.columns


@pytest.mark.parametrize(
    ("space", "expected"),
    [
        ([number("Int", "a", 1, 64, sampling="log", step=2)], Int(1, 64, log=True)),
        ([number("Float", "a", 0.5, 0.5)], Ordinal((0.5,))),
        ([number("Float", "a", 0.0, 1.0, sampling="reverse_log")], Float(0.0, 1.0)),
        ([field("Choice", "a", values=["x", "y"], ordered=True)], Categorical(("x", "y"))),
        ([field("Boolean", "a", ("m", [1]), ("m", [1, 2])), field("Choice", "m", values=[1, 2])],
         Categorical((False, True), when={"m": [1]})),
        ([field("Boolean", "a", ("m", [1])), field("Boolean", "a", ("m", [2])), field("Choice", "m", values=[1, 2, 3])],
         Categorical((False, True), when={"m": [1, 2]})),
        ([field("Boolean", "a", ("m", [1])), field("Boolean", "a"), field("Choice", "m", values=[1, 2, 3])],
         Categorical((False, True))),
    ],
)  # fmt: skip
def test_domains(tmp_path: Path, space: Any, expected: Any) -> None:
    folder = project(tmp_path / "p", [entry(n, {"a": 1, "m": 1}) for n in range(3)], space)
    found = read_records(folder).metadata.space
    assert found is not None
    assert found["a"] == expected


@pytest.mark.parametrize(
    "space",
    [
        [number("Int", "lr", 1, 9), number("Int", "lr", 1, 8)],
        [field("Boolean", "a", ("m", [1])), field("Boolean", "a", ("n", [2])), field("Boolean", "m")],
        [{"class_name": "Strange", "config": {"name": "lr"}}],
        [{"class_name": "Float", "config": {"name": "lr"}}],
        [number("Float", "lr", 2.0, 1.0)],
        [number("Float", "lr", 0.0, 1.0, sampling="log")],
        [field("Boolean", "a") | {"config": {"name": "a", "conditions": [{"class_name": "Or", "config": {}}]}}],
        ["text"],
    ],
)  # fmt: skip
def test_a_space_that_makes_no_sense(tmp_path: Path, space: Any) -> None:
    records = read_records(project(tmp_path / "p", [entry(n) for n in range(4)], space))
    assert records.metadata.space is None
    assert any("cannot be read" in note for note in records.notes)
    assert "lr" in records.metadata.params


def test_damaged_files(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", [entry(n) for n in range(6)])
    write(folder / "oracle.json", '{"hyper')
    text = (folder / "trial_03" / "trial.json").read_text(encoding="utf-8")
    write(folder / "trial_03" / "trial.json", text[:100])
    write(folder / "trial_04" / "trial.json", [])
    records = read_untouched(folder)
    assert records.rows == 4
    assert records.metadata.space is None
    assert any("2 trials cannot be read and are left out: trial_03, trial_04" in note for note in records.notes)
    assert any("is guessed from the trials" in note for note in records.notes)
    for place in folder.glob("trial_*/trial.json"):
        write(place, "{")
    refuse(DataError, "no trial that can be read", of=lambda: read_records(folder))


def test_places_around_a_project(tmp_path: Path) -> None:
    project(tmp_path / "one", [entry(n) for n in range(4)])
    assert read_records(tmp_path).rows == 4
    project(tmp_path / "two", [entry(n) for n in range(5)])
    refuse(DataError, "2 projects", "one, two", of=lambda: read_records(tmp_path))
    assert read_records(tmp_path, study="two").rows == 5
    refuse(DataError, "'three'", "one, two", of=lambda: read_records(tmp_path, study="three"))
    write(tmp_path / "other" / "oracle.json", {})
    refuse(DataError, "unknown tool", of=lambda: read_records(tmp_path / "other"))
    empty = project(tmp_path / "empty", [])
    refuse(DataError, "no trial", of=lambda: read_records(empty))


ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
CHANGES = st.dictionaries(st.sampled_from(["hyperparameters", "metrics", "score", "status", "trial_id"]), ODD)
HYPER = st.fixed_dictionaries({}, optional={"space": ODD, "values": ODD})
METRICS = st.fixed_dictionaries({"metrics": st.dictionaries(st.sampled_from(["loss", "val_acc"]), ODD)})


@settings(max_examples=50)
@given(changes=CHANGES, hyper=HYPER, metrics=METRICS, oracle=ODD, cut=st.integers(0, 900))
def test_any_content(
    tmp_path_factory: pytest.TempPathFactory, changes: Any, hyper: Any, metrics: Any, oracle: Any, cut: int
) -> None:
    odd = [entry(3) | changes, entry(4) | {"hyperparameters": hyper}, entry(5) | {"metrics": metrics}]
    folder = project(tmp_path_factory.mktemp("odd") / "p", [entry(0), entry(1), *odd])
    write(folder / "trial_09" / "trial.json", json.dumps(entry(6))[:cut])
    tolerate(lambda: pedanova.analyze(folder, scan=pedanova.Scan(threads=1)))
    write(folder / "oracle.json", {"hyperparameters": {"space": oracle}})
    tolerate(lambda: pedanova.analyze(folder, scan=pedanova.Scan(threads=1)))


@pytest.mark.parametrize("name", ["oracle.json", "tuner0.json", "trial_03/trial.json"])
def test_a_file_of_a_project_stands_for_it(tmp_path: Path, name: str) -> None:
    folder = project(tmp_path / "p", [entry(n) for n in range(12)])
    assert read_records(folder / name).rows == 12
    assert read_records(folder / name).metadata == read_records(folder).metadata
