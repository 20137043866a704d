"""Priors in the forms of other tools, which really draw from them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pytest
import yaml

import pedanova as pa
from helpers.tools import need
from pedanova.errors import SpaceError
from pedanova.space import priors
from pedanova.space.grid import grid_of

SPACE = pa.Space(
    {
        "momentum": pa.Float(0.5, 0.99, when={"optimizer": ["sgd"]}),
        "optimizer": pa.Categorical(["adam", "sgd", "lion"]),
        "lr": pa.Float(1e-5, 0.1, log=True),
        "layers": pa.Int(1, 6),
        "width": pa.Int(8, 1024, log=True),
        "batch": pa.Int(16, 64, step=16),
        "size": pa.Ordinal([1, 2, 4]),
        "on": pa.Categorical([True, False]),
        "fixed": pa.Categorical([0.25]),
    }
)


def peaked(parameter: Any, at: float = 0.7, width: float = 0.12) -> Any:
    """Parts by cell that pile up at one place of the domain."""
    grid = grid_of(parameter)
    place = (np.arange(grid.cells) + 0.5) / grid.cells
    parts = grid.prior * (0.05 + np.exp(-((place - at) ** 2) / (2 * width**2)))
    return parts / parts.sum()


PARTS = {name: peaked(one) for name, one in SPACE.items()}
SAFETY = 0.3


def mixed(name: str) -> Any:
    return (1 - SAFETY) * PARTS[name] + SAFETY * grid_of(SPACE[name]).prior


def far_apart(name: str, values: list[Any]) -> float:
    """The largest distance of two distribution functions (Kolmogorov and Smirnov)."""
    grid = grid_of(SPACE[name])
    cells = grid.match(tuple(values))
    assert (cells < grid.cells).all(), f"{name} leaves its domain"
    seen = np.bincount(cells, minlength=grid.cells) / len(values)
    return float(np.max(np.abs(np.cumsum(seen) - np.cumsum(mixed(name)))))


@pytest.fixture(scope="module")
def module() -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "prior"}
    exec(compile(priors.export_prior(SPACE, PARTS, SAFETY, "optuna"), "prior.py", "exec"), names)
    return names


def test_optuna_draws_from_it(module: dict[str, Any]) -> None:
    drawn = module["draws"](400, seed=3)
    assert drawn[:20] == module["draws"](20, seed=3)
    for one in drawn:
        assert ("momentum" in one) == (one["optimizer"] == "sgd")
    for name in SPACE:
        values = [one[name] for one in drawn if name in one]
        assert far_apart(name, values) < 1.9 / np.sqrt(len(values)), name
    assert {type(one["on"]) for one in drawn} == {bool}
    assert {type(one["width"]) for one in drawn} == {int}


def test_safety_from_none_to_all(module: dict[str, Any]) -> None:
    certain = module["draws"](150, seed=1, safety=0.0)
    low = np.array([[one["lr"] < 3e-4, one["layers"] < 3] for one in certain])
    assert low.mean(axis=0).max() < 0.2
    loose = module["draws"](200, seed=1, safety=1.0)
    assert np.mean([one["lr"] < 1e-3 for one in loose]) == pytest.approx(0.5, abs=0.12)


def test_a_study_that_asks_for_other_domains_gets_them(module: dict[str, Any]) -> None:
    study = optuna.create_study(sampler=module["PriorSampler"](seed=0, safety=0.0))
    for _ in range(60):
        trial = study.ask()
        assert 1e-4 <= trial.suggest_float("lr", 1e-4, 1e-3, log=True) <= 1e-3
        assert 2 <= trial.suggest_int("layers", 2, 12) <= 12
        assert trial.suggest_categorical("optimizer", ["sgd", "rmsprop"]) in ("sgd", "rmsprop")
        assert trial.suggest_float("size", 0.0, 1.0) <= 1.0  # a list there, a range here: uniform
        assert trial.suggest_int("unknown", 1, 3) in (1, 2, 3)
        assert trial.suggest_float("momentum", 2.0, 3.0) >= 2.0  # nothing in common: uniform
        study.tell(trial, 0.0)


def test_trials_are_enqueued_for_any_sampler(module: dict[str, Any]) -> None:
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=0))
    module["enqueue"](study, 5, seed=7)
    study.optimize(lambda trial: module["suggest"](trial)["lr"], n_trials=8)
    assert [trial.params for trial in study.trials[:5]] == module["draws"](5, seed=7)
    assert len(study.trials) == 8


def test_the_file_runs_alone(tmp_path: Path) -> None:
    file = tmp_path / "prior.py"
    file.write_text(priors.export_prior(SPACE, PARTS, SAFETY, "optuna"), encoding="utf-8")
    done = subprocess.run([sys.executable, str(file), "4"], capture_output=True, text=True, check=True)
    assert [set(json.loads(line)) <= set(SPACE) for line in done.stdout.splitlines()] == [True] * 4


def test_a_sweep_has_probabilities() -> None:
    plain = yaml.safe_load(priors.export_prior(SPACE, PARTS, SAFETY, "wandb"))
    assert plain == priors.wandb_prior(SPACE, PARTS, SAFETY)
    for name, one in plain["parameters"].items():
        if name == "fixed":
            assert one == {"value": 0.25}
            continue
        assert sum(one["probabilities"]) == pytest.approx(1.0, abs=1e-9)
        assert len(set(one["values"])) == len(one["probabilities"]) <= 20
        cells = grid_of(SPACE[name]).match(tuple(one["values"]))
        assert (cells < grid_of(SPACE[name]).cells).all()
    assert plain["parameters"]["layers"]["values"] == [1, 2, 3, 4, 5, 6]
    assert "momentum" in priors.lost_in(SPACE, PARTS, SAFETY, "wandb")[0]


def test_configspace_has_weights_and_curves() -> None:
    plain = json.loads(priors.export_prior(SPACE, PARTS, SAFETY, "configspace"))
    items = {one["name"]: one for one in plain["hyperparameters"]}
    assert items["lr"]["type"] == "beta_float"
    assert items["layers"]["type"] == "beta_int"
    assert items["optimizer"]["weights"] == pytest.approx(mixed("optimizer").tolist(), abs=1e-5)
    assert items["size"]["type"] == items["batch"]["type"] == "categorical"
    assert items["lr"]["default_value"] == pytest.approx(1e-5 * 1e4**0.7, rel=0.2)
    assert plain["conditions"]
    assert any("ordinals" in note for note in priors.lost_in(SPACE, PARTS, SAFETY, "configspace"))
    assert not priors.lost_in(SPACE, PARTS, SAFETY, "optuna")


@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 1.0), (1.0, 3.0), (4.0, 2.0)])
def test_a_beta_density_is_found_again(alpha: float, beta: float) -> None:
    domain = pa.Float(1e-4, 1.0, log=True)
    place = (np.arange(grid_of(domain).cells) + 0.5) / grid_of(domain).cells
    parts = place ** (alpha - 1) * (1 - place) ** (beta - 1)
    found = priors.curve_of(domain, parts / parts.sum(), 0.0)
    assert found[:2] == pytest.approx((alpha, beta), rel=0.05)
    assert found[2] > 0.98


def test_the_plain_form_and_bad_ones() -> None:
    plain = json.loads(priors.export_prior(SPACE, PARTS, SAFETY, "json"))
    assert pa.Space.from_dict(plain["space"]) == SPACE
    assert sum(plain["prior"]["lr"]["parts"]) == pytest.approx(1.0, abs=1e-4)
    with pytest.raises(SpaceError, match="unknown"):
        priors.export_prior(SPACE, PARTS, SAFETY, "excel")
    assert [priors.form_of(name) for name in ("a.py", "b.JSON", "c.yml")] == ["optuna", "configspace", "wandb"]
    with pytest.raises(SpaceError, match="form"):
        priors.form_of("prior.txt")
    with pytest.raises(SpaceError, match="'xml' is unknown"):
        priors.lost_in(pa.Space({}), {}, 0.3, "xml")


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore")
def test_real_configspace_draws_from_it(tmp_path: Path) -> None:
    cs = need("ConfigSpace")
    file = tmp_path / "prior.json"
    file.write_text(priors.export_prior(SPACE, PARTS, SAFETY, "configspace"), encoding="utf-8")
    space = cs.ConfigurationSpace.from_json(file)
    space.seed(0)
    drawn = [dict(one) for one in space.sample_configuration(600)]
    seen = Counter(one["optimizer"] for one in drawn)
    assert seen["lion"] / len(drawn) == pytest.approx(mixed("optimizer")[2], abs=0.07)
    assert all(("momentum" in one) == (one["optimizer"] == "sgd") for one in drawn)
    fit = priors.curve_of(SPACE["lr"], PARTS["lr"], SAFETY)[2]  # type: ignore[arg-type]
    assert far_apart("lr", [float(one["lr"]) for one in drawn]) < 1.08 - fit


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore")
def test_real_sweeps_draw_from_it() -> None:
    sweeps = need("sweeps")  # what W&B's servers run
    config = priors.wandb_prior(SPACE, PARTS, SAFETY)
    drawn = [sweeps.next_run(config, [], validate=i == 0).config for i in range(200)]
    for name in ("lr", "layers", "optimizer"):
        values = [one[name]["value"] for one in drawn]
        assert far_apart(name, values) < 0.06 + 1.9 / np.sqrt(len(values)), name
