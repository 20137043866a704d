"""Snapshots of Ax: spaces, objectives, constraints, batches and states, as several versions write them."""

from __future__ import annotations

import json
import math
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
from pedanova.space.parameters import Categorical, Float, Int, Ordinal

LEQ = {"__type": "ComparisonOp", "name": "LEQ"}


def kind(name: str) -> dict[str, str]:
    return {"__type": "ParameterType", "name": name}


PARAMETERS: list[dict[str, Any]] = [
    {"__type": "RangeParameter", "name": "lr", "parameter_type": kind("FLOAT"), "lower": 1e-4, "upper": 1.0,
     "log_scale": True},
    {"__type": "RangeParameter", "name": "depth", "parameter_type": kind("INT"), "lower": 1, "upper": 8},
    {"__type": "ChoiceParameter", "name": "opt", "parameter_type": kind("STRING"), "values": ["sgd", "adam"],
     "dependents": {"sgd": ["mom"]}},
    {"__type": "RangeParameter", "name": "mom", "parameter_type": kind("FLOAT"), "lower": 0.0, "upper": 1.0},
    {"__type": "ChoiceParameter", "name": "batch", "parameter_type": kind("INT"), "values": [64, 32],
     "is_ordered": True},
    {"__type": "FixedParameter", "name": "seed", "parameter_type": kind("INT"), "value": 1},
]  # fmt: skip
METRIC = {"name": "loss", "__type": "Metric"}
SIZE = {"name": "size", "__type": "Metric"}
CONFIG = {
    "objective": {"__type": "Objective", "metric": METRIC, "minimize": True},
    "outcome_constraints": [{"metric": SIZE, "op": LEQ, "bound": 5.0, "relative": False}],
}


def arm(number: int) -> dict[str, Any]:
    params = {"lr": 10 ** -(number % 4), "depth": number % 8 + 1, "opt": "adam", "batch": 32, "seed": 1}
    if number % 2:
        params |= {"opt": "sgd", "mom": number / 20}
    return {"__type": "Arm", "name": f"{number}_0", "parameters": params}


def trial(number: int, status: str = "COMPLETED") -> dict[str, Any]:
    run = {"__type": "GeneratorRun", "arms": [arm(number)]}
    return {
        "__type": "Trial",
        "index": number,
        "status": {"__type": "TrialStatus", "name": status},
        "generator_run": run,
    }


def table(number: int, *rows: tuple[str, float | None], **more: list[Any]) -> dict[str, Any]:
    columns: dict[str, list[Any]] = {
        "arm_name": [f"{number}_0"] * len(rows), "metric_name": [name for name, _ in rows],
        "mean": [mean for _, mean in rows], "sem": [None] * len(rows), "trial_index": [number] * len(rows),
    } | more  # fmt: skip
    text = json.dumps({name: {str(row): value for row, value in enumerate(column)} for name, column in columns.items()})
    return {"__type": "Data", "df": {"__type": "DataFrame", "value": text}}


def snapshot(path: Path, rows: int = 12, **changes: Any) -> Path:
    data = {
        str(number): {"__type": "OrderedDict", "value": [[1, table(number, ("loss", number / 10), ("size", number))]]}
        for number in range(rows)
    }
    experiment = {
        "__type": "Experiment", "name": "mlp", "search_space": {"parameters": PARAMETERS},
        "optimization_config": CONFIG,
        "trials": {str(number): trial(number) for number in range(rows)}, "data_by_trial": data,
    } | changes  # fmt: skip
    return write(path / "snapshot.json", {"_type": "AxClient", "experiment": experiment})


def test_a_snapshot(tmp_path: Path) -> None:
    records = read_untouched(snapshot(tmp_path))
    metadata = records.metadata
    assert metadata.source == "Ax experiment 'mlp'"
    assert dict(metadata.space or {}) == {
        "lr": Float(1e-4, 1.0, log=True), "depth": Int(1, 8), "opt": Categorical(("sgd", "adam")),
        "mom": Float(0.0, 1.0, when={"opt": ["sgd"]}), "batch": Ordinal((32, 64)),
    }  # fmt: skip
    assert (metadata.objectives, metadata.directions) == (("loss",), ("minimize",))
    assert cells(records, "feasible") == [number <= 5 for number in range(12)]
    assert cells(records, "loss") == [number / 10 for number in range(12)]
    assert len(pedanova.analyze(snapshot(tmp_path), scan=pedanova.Scan(threads=1))) == 6


def test_an_experiment_alone_and_several_objectives(tmp_path: Path) -> None:
    both = [{"metric": METRIC, "minimize": True}, {"metric": SIZE, "minimize": False}]
    config = {"objective": {"__type": "MultiObjective", "objectives": both}, "outcome_constraints": []}
    whole = json.loads(snapshot(tmp_path, optimization_config=config).read_text())
    records = read_records(write(tmp_path / "experiment.json", whole["experiment"]))
    assert records.metadata.objectives == ("loss", "size")
    assert records.metadata.directions == ("minimize", "maximize")
    assert records.metadata.feasible is None


@pytest.mark.parametrize(
    ("expression", "objectives", "directions"),
    [
        ("-loss", ("loss",), ("minimize",)),
        ("size, -1.0*loss", ("size", "loss"), ("maximize", "minimize")),
        ("loss + 2 * size", (), ()),
    ],
)
def test_objectives_as_expressions(
    tmp_path: Path, expression: str, objectives: tuple[str, ...], directions: tuple[str, ...]
) -> None:
    """As the newest versions write them."""
    limits = [{"expression": "size <= 5"}, {"expression": "loss - size >= 0.1"}]
    config = {"objective": {"__type": "Objective", "expression": expression}, "outcome_constraints": limits}
    records = read_records(snapshot(tmp_path, optimization_config=config))
    assert (records.metadata.objectives, records.metadata.directions) == (objectives, directions)
    assert cells(records, "feasible") == [number <= 5 for number in range(12)]
    assert any("sum of metrics" in note for note in records.notes) == (not objectives)


def test_states_batches_and_steps(tmp_path: Path) -> None:
    words = ["COMPLETED", "FAILED", "ABANDONED", "EARLY_STOPPED", "RUNNING", "CANDIDATE", "NEVER_HEARD"]
    trials = {str(number): trial(number, word) for number, word in enumerate(words)}
    batch = trial(7) | {"__type": "BatchTrial", "generator_run": None}
    batch["generator_run_structs"] = [{"generator_run": {"arms": [arm(7), arm(8)]}, "weight": 1.0}]
    steps = table(7, ("loss", 0.3), ("loss", 0.1), ("loss", 0.2), step=[3, 1, 2])
    second = table(8, ("loss", 0.9)) | {}
    second["df"]["value"] = second["df"]["value"].replace('"trial_index": {"0": 8}', '"trial_index": {"0": 7}')
    data = {"7": {"__type": "OrderedDict", "value": [[1, table(7, ("loss", 9.0))], [2, steps], [3, second]]}}
    records = read_records(snapshot(tmp_path, trials=trials | {"7": batch}, data_by_trial=data))
    assert cells(records, "state")[:7] == ["COMPLETE", "FAIL", "FAIL", "PRUNED", "RUNNING", "WAITING", "FAIL"]
    assert cells(records, "loss")[7:] == [0.3, 0.9]
    assert cells(records, "arm")[7:] == ["7_0", "8_0"]


def test_a_fidelity_is_a_budget(tmp_path: Path) -> None:
    parameters = [*PARAMETERS[:1], PARAMETERS[1] | {"is_fidelity": True, "target_value": 8}, *PARAMETERS[2:]]
    records = read_records(snapshot(tmp_path, rows=96, search_space={"parameters": parameters}))
    assert "depth" not in (records.metadata.space or {})
    assert records.metadata.where == "budget == 8"


def test_a_space_of_an_unknown_kind_is_guessed(tmp_path: Path) -> None:
    parameters = [PARAMETERS[0] | {"__type": "NewParameter"}]
    records = read_records(snapshot(tmp_path, search_space={"parameters": parameters}))
    assert records.metadata.space is None
    assert any("NewParameter is not a known kind" in note for note in records.notes)


def test_a_space_without_an_end_is_guessed(tmp_path: Path) -> None:
    parameters = [PARAMETERS[1] | {"lower": -math.inf}]
    records = read_records(snapshot(tmp_path, search_space={"parameters": parameters}))
    assert records.metadata.space is None
    assert any("cannot be read (cannot convert float infinity" in note for note in records.notes)


def test_refusals(tmp_path: Path) -> None:
    path = snapshot(tmp_path)
    refuse(DataError, "study=", of=lambda: read_records(path, study="x"))
    refuse(FormatError, "no trials", of=lambda: read_records(write(path, {"_type": "AxClient", "experiment": {}})))
    refuse(FormatError, "unknown version", of=lambda: read_records(snapshot(tmp_path, search_space={})))
    numbered = {"0": trial(0) | {"index": "abc"}}
    refuse(
        FormatError,
        "Ax experiment",
        "invalid literal",
        "'abc'",
        of=lambda: read_records(snapshot(tmp_path, trials=numbered)),
    )
    for bound, words in (("", "could not convert string to float"), (10**400, "too large")):
        limits = {"outcome_constraints": [{"metric": SIZE, "op": LEQ, "bound": bound}]}
        odd = snapshot(tmp_path, optimization_config=CONFIG | limits)
        refuse(FormatError, "Ax experiment", words, of=lambda odd=odd: read_records(odd))
    refuse(DataError, "holds no trials", of=lambda: read_records(snapshot(tmp_path, trials={})))


def test_cut_short(tmp_path: Path) -> None:
    path = snapshot(tmp_path)
    for _ in cut_short(path):
        tolerate(lambda: pedanova.analyze(path, "loss", scan=pedanova.Scan(threads=1)))


@settings(max_examples=60, deadline=None)
@given(data=st.data(), value=odd_values)
def test_any_content(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, value: object) -> None:
    folder = tmp_path_factory.mktemp("odd")
    path = snapshot(folder, rows=6)
    plain = json.loads(path.read_text())
    place = data.draw(st.sampled_from(places_in(plain)))
    write(path, replaced(plain, place, value))
    tolerate(lambda: pedanova.analyze(path, "loss", scan=pedanova.Scan(threads=1)))
