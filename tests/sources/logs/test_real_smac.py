"""The real SMAC3 and ConfigSpace: what they write is read as they meant it."""

from __future__ import annotations

import json
import math
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pedanova as pa
from helpers.common import COUNTS
from helpers.tools import need
from pedanova.data.records import Records
from pedanova.sources import read_records
from pedanova.sources.spaces.configspace import describe, space_from_configspace
from pedanova.space.parameters import Categorical, Float, Int, Ordinal, Space
from pedanova.space.values import is_one_of

pytestmark = [pytest.mark.heavy, pytest.mark.filterwarnings("ignore")]  # the tools' warnings are their own


def made_space() -> Any:
    """A space with a condition, a constant and every common type."""
    cs = need("ConfigSpace")
    space = cs.ConfigurationSpace(seed=1)
    solver = cs.Categorical("solver", ["sgd", "adam"])
    momentum = cs.Float("momentum", (0.0, 1.0))
    space.add(
        solver, momentum, cs.Float("lr", (1e-4, 1.0), log=True), cs.Integer("layers", (1, 5)),
        cs.Categorical("size", [16, 32, 64], ordered=True), cs.Constant("device", "cpu"),
    )  # fmt: skip
    space.add(cs.EqualsCondition(momentum, solver, "sgd"))
    return space


def cost_of(config: Any) -> float:
    return abs(math.log10(config["lr"]) + 2) + 0.1 * config["layers"]


def run(facade: str, target: Any, folder: Path, *, intensifier: Any = None, **options: Any) -> tuple[Any, Path]:
    """A finished optimisation, and its folder."""
    smac = need("smac")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scenario = smac.Scenario(made_space(), output_directory=folder, seed=3, **options)
        kind = getattr(smac, facade)
        more = {} if intensifier is None else {"intensifier": intensifier(scenario)}
        optimizer = kind(scenario, target, overwrite=True, logging_level=False, **more)
        optimizer.optimize()
    return optimizer.runhistory, Path(scenario.output_directory)


def check_rows(records: Records, history: Any, names: list[str]) -> None:
    """Every row is the one that SMAC remembers."""
    assert records.rows == len(history)
    for row, (key, value) in enumerate(history.items()):
        config = dict(history.get_config(key.config_id))
        for name in ("solver", "momentum", "lr", "layers", "size"):
            column = records.columns[name]
            found = None if column.absent()[row] else column.value_at(row)
            assert found == config.get(name), (row, name)
        costs = value.cost if isinstance(value.cost, list) else [value.cost]
        np.testing.assert_array_equal([records.columns[name].values[row] for name in names], costs)
        assert records.columns["state"].value_at(row) == value.status.name
        assert records.columns["config_id"].values[row] == key.config_id
        for name, told in (("seed", key.seed), ("budget", key.budget)):
            if told is not None:
                assert records.columns[name].values[row] == told


def test_random_search_with_crashes(tmp_path: Path) -> None:
    def target(config: Any, seed: int = 0) -> float:
        if config["solver"] == "sgd" and config["momentum"] > 0.8:
            raise ValueError("diverged")
        return cost_of(config)

    history, folder = run("RandomFacade", target, tmp_path, n_trials=60, deterministic=True)
    records = read_records(folder)
    check_rows(records, history, ["cost"])
    assert set(records.metadata.params) == {"lr", "layers", "solver", "momentum", "size"}
    crashed = sum(value.status.name == "CRASHED" for value in history.values())
    assert crashed > 0
    a = pa.analyze(folder, scan=pa.Scan(threads=1))
    assert len(a) == 60 - crashed
    assert next(iter(a.importance(**COUNTS))) == "lr"
    assert len(pa.analyze(folder, reading=pa.Reading(failed="worst"), scan=pa.Scan(threads=1))) == 60


def test_several_seeds(tmp_path: Path) -> None:
    def target(config: Any, seed: int = 0) -> float:
        return cost_of(config) + (seed % 7) / 100

    history, folder = run(
        "RandomFacade", target, tmp_path, n_trials=40, deterministic=False,
        intensifier=lambda scenario: need("smac.intensifier").Intensifier(scenario, max_config_calls=3, seed=3),
    )  # fmt: skip
    records = read_records(folder)
    check_rows(records, history, ["cost"])
    assert records.metadata.repeats == "mean"
    a = pa.analyze(folder, scan=pa.Scan(threads=1))
    assert len(a) == len(history.get_configs())
    means = sorted(history.average_cost(config) for config in history.get_configs())
    assert a.data.observations.objective.min() == pytest.approx(means[0])


def test_two_objectives(tmp_path: Path) -> None:
    def target(config: Any, seed: int = 0) -> dict[str, float]:
        return {"error": cost_of(config), "size": float(config["layers"] * config["size"])}

    history, folder = run(
        "RandomFacade", target, tmp_path, n_trials=40, deterministic=True, objectives=["error", "size"]
    )
    records = read_records(folder)
    assert records.metadata.objectives == ("error", "size_")  # a setting has the name
    check_rows(records, history, ["error", "size_"])
    assert len(pa.analyze(folder, scan=pa.Scan(threads=1))) == 40


@pytest.mark.parametrize("name", ["Hyperband", "SuccessiveHalving"])
def test_budgets(tmp_path: Path, name: str) -> None:
    def target(config: Any, seed: int = 0, budget: float = 0.0) -> float:
        return cost_of(config) + 1.0 / budget

    kind = getattr(need("smac.intensifier"), name)
    history, folder = run(
        "RandomFacade", target, tmp_path, n_trials=120, deterministic=True, min_budget=1, max_budget=9,
        intensifier=lambda scenario: kind(scenario, eta=3, seed=3),
    )  # fmt: skip
    records = read_records(folder)
    check_rows(records, history, ["cost"])
    rows_of = Counter(key.budget for key in history)
    highest = max(budget for budget, rows in rows_of.items() if rows >= 10)
    assert records.metadata.where == f"budget == {highest:g}"
    assert len(pa.analyze(folder, scan=pa.Scan(threads=1))) == rows_of[highest]


def test_instances(tmp_path: Path) -> None:
    def target(config: Any, instance: str, seed: int = 0) -> float:
        return cost_of(config) + len(instance) / 10

    history, folder = run(
        "AlgorithmConfigurationFacade", target, tmp_path, n_trials=30, deterministic=True, instances=["a", "bb"],
        instance_features={"a": [0.0], "bb": [1.0]},
    )  # fmt: skip
    records = read_records(folder)
    check_rows(records, history, ["cost"])
    assert records.metadata.repeats == "mean"
    assert any("2 instances" in note for note in records.notes)


def test_objects_files_and_parameter_files_agree(tmp_path: Path) -> None:
    space = made_space()
    expected = Space(
        {
            "layers": Int(1, 5),
            "lr": Float(1e-4, 1.0, log=True),
            "size": Ordinal([16, 32, 64]),
            "solver": Categorical(["sgd", "adam"]),
            "momentum": Float(0, 1, when={"solver": ["sgd"]}),
        }
    )
    found, notes = space_from_configspace(space)
    assert dict(found) == dict(expected)
    assert notes == ["constants are left out: device"]
    space.to_json(tmp_path / "configspace.json")
    document = json.loads((tmp_path / "configspace.json").read_text())
    assert space_from_configspace(document) == (found, notes)


def test_old_documents_are_read_as_configspace_reads_them() -> None:
    old = {
        "hyperparameters": [
            {"name": "a", "type": "uniform_float", "log": True, "lower": 0.1, "upper": 1.0, "default": 0.5, "q": None},
            {"name": "b", "type": "uniform_int", "log": False, "lower": 1, "upper": 9, "default": 2, "q": None},
            {"name": "c", "type": "categorical", "choices": ["x", "y"], "default": "x", "probabilities": [0.5, 0.5]},
            {"name": "d", "type": "ordinal", "sequence": ["s", "m"], "default": "s"},
        ],
        "conditions": [
            {"type": "EQ", "child": "a", "parent": "c", "value": "y"},
            {"type": "GT", "child": "d", "parent": "b", "value": 7},
        ],
        "forbiddens": [],
        "json_format_version": 0.2,
    }
    now = need("ConfigSpace").ConfigurationSpace.from_serialized_dict(json.loads(json.dumps(old)))
    ours, theirs = space_from_configspace(old)[0], space_from_configspace(now)[0]
    assert dict(ours) == dict(theirs)
    assert ours["d"].when == Float(0, 1, when={"b": pa.above(7)}).when


def test_every_sampled_configuration_lies_in_the_space() -> None:
    """Laws, conjunctions and forbidden clauses of the real library, held against 200 of its samples."""
    cs = need("ConfigSpace")
    space = cs.ConfigurationSpace(seed=2)
    p, k, f = cs.Categorical("p", ["a", "b", "c"]), cs.Integer("k", (1, 6)), cs.Float("f", (0.0, 1.0))
    u, v, w = (cs.Float(name, (0.0, 1.0)) for name in "uvw")
    normal = cs.Float("n", (-1.0, 1.0), distribution=cs.Normal(0, 1))
    beta = cs.Integer("m", (1, 9), distribution=cs.Beta(2, 2))
    space.add(p, k, f, u, v, w, normal, beta)
    space.add(
        cs.AndConjunction(cs.NotEqualsCondition(u, p, "a"), cs.GreaterThanCondition(u, k, 3)),
        cs.OrConjunction(cs.EqualsCondition(v, p, "a"), cs.InCondition(v, p, ["b"])),
        cs.OrConjunction(cs.EqualsCondition(w, p, "a"), cs.LessThanCondition(w, f, 0.5)),
    )
    space.add(cs.ForbiddenAndConjunction(cs.ForbiddenEqualsClause(p, "a"), cs.ForbiddenEqualsClause(k, 2)))
    described = describe(space)
    assert described.domains["u"].when == Float(0, 1, when={"p": ["b", "c"], "k": pa.above(3)}).when
    assert described.domains["v"].when == (("p", ("a", "b")),)
    assert described.domains["w"].when == ()
    assert not described.conditions
    rows = [dict(config) for config in space.sample_configuration(200)]
    for row in rows:
        for name, domain in described.domains.items():
            if domain.when:
                assert (name in row) == all(is_one_of(row.get(parent), values) for parent, values in domain.when)
    columns = {name: np.array([row.get(name, np.nan) for row in rows]) for name in "kfuvwnm"}
    columns |= {"p": np.array([row["p"] for row in rows]), "loss": np.arange(200.0)}
    assert len(pa.analyze(columns, "loss", space=dict(described.domains), scan=pa.Scan(threads=1))) == 200
