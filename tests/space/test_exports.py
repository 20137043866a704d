"""Spaces in the forms of other tools, and back again."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import optuna
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import pedanova as pa
from helpers.tools import need
from pedanova.errors import MissingLibraryError, SpaceError
from pedanova.space import exports

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
        "beta": pa.Float(0.1, 0.9, when={"optimizer": ["adam", "sgd"], "on": [True]}),
    }
)
FLAT = pa.Space({name: domain for name, domain in SPACE.items() if not domain.when})


def test_json_comes_back_exactly(tmp_path: Path) -> None:
    file = tmp_path / "space.json"
    file.write_text(exports.export(SPACE, "json"), encoding="utf-8")
    assert pa.space_from(file) == SPACE


def as_choices(space: pa.Space) -> pa.Space:
    """Optuna has no ordinals: their values are choices."""
    return pa.Space({n: pa.Categorical(d.values) if isinstance(d, pa.Ordinal) else d for n, d in space.items()})


def test_optuna_comes_back_exactly(tmp_path: Path) -> None:
    distributions = exports.to_optuna(FLAT)
    assert isinstance(distributions["lr"], optuna.distributions.FloatDistribution)
    assert pa.space_from(distributions) == as_choices(FLAT)
    file = tmp_path / "space.json"
    file.write_text(exports.export(FLAT, "optuna"), encoding="utf-8")
    assert pa.space_from(file) == as_choices(FLAT)
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    assert set(study.ask(distributions).params) == set(FLAT)


def test_the_code_runs_and_asks_for_the_same_space() -> None:
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=1))
    seen: dict[str, Any] = {}
    active = dict.fromkeys(SPACE, 0)
    for _ in range(40):
        trial = study.ask()
        names: dict[str, Any] = {"trial": trial}
        exec(exports.optuna_code(SPACE), names)
        params = names["params"]
        assert params == trial.params
        assert ("momentum" in params) == (params["optimizer"] == "sgd")
        assert ("beta" in params) == (params["optimizer"] in ("adam", "sgd") and params["on"] is True)
        seen |= trial.distributions
        for name in params:
            active[name] += 1
        study.tell(trial, 0.0)
    assert all(active.values())
    unconditional = dict(pa.space_from(seen))
    for name, domain in as_choices(FLAT).items():
        assert unconditional[name] == domain


def test_a_sweep_comes_back(tmp_path: Path) -> None:
    file = tmp_path / "sweep.yaml"
    file.write_text(exports.export(FLAT, "wandb"), encoding="utf-8")
    plain = yaml.safe_load(file.read_text(encoding="utf-8"))
    assert plain["method"] == "random"
    assert plain["parameters"]["lr"] == {"distribution": "log_uniform_values", "min": 1e-5, "max": 0.1}  # in YAML 1.1
    expected = dict(FLAT)
    del expected["fixed"]  # a constant is no parameter of the sweep
    expected["batch"] = pa.Ordinal([16, 32, 48, 64])  # its steps are listed
    assert pa.space_from(file) == pa.Space(expected)


def test_configspace_documents_come_back() -> None:
    found = pa.space_from(json.loads(exports.export(SPACE, "configspace")))
    expected = {**SPACE, "batch": pa.Ordinal([16, 32, 48, 64])}
    del expected["fixed"]
    assert found == pa.Space(expected)


def test_raytune_is_python() -> None:
    text = exports.export(FLAT, "raytune")
    assert "'layers': tune.randint(1, 7)," in text
    compile(text, "space.py", "exec")


def test_scikit_learn_draws_from_its_distributions() -> None:
    """Texts such as "(16, 16)" are what they say, as `RandomizedSearchCV` needs them."""
    space = {
        "rate": pa.Float(1e-4, 0.1, log=True),
        "drop": pa.Float(0.1, 0.4),
        "depth": pa.Int(2, 5),
        "units": pa.Int(4, 256, log=True),
        "step": pa.Int(8, 32, step=8),
        "hidden": pa.Categorical(["(16,)", "(16, 16)", "None"]),
        "kernel": pa.Categorical(["rbf", "poly"]),
    }
    names: dict[str, Any] = {}
    exec(exports.export(pa.Space(space), "sklearn"), names)
    made = names["param_distributions"]
    assert made["hidden"] == [(16,), (16, 16), None]
    assert made["kernel"] == ["rbf", "poly"]
    assert made["step"] == [8, 16, 24, 32]
    assert (made["units"][0], made["units"][-1], len(made["units"]) > 20) == (4, 256, True)
    assert set(made["depth"].rvs(200, random_state=0)) == {2, 3, 4, 5}
    for name, low, high in (("rate", 1e-4, 0.1), ("drop", 0.1, 0.4)):
        drawn = made[name].rvs(200, random_state=0)
        assert low <= drawn.min() < drawn.max() <= high


def test_what_a_form_cannot_say_is_said() -> None:
    assert "momentum" in exports.left_out(SPACE, "raytune")[0]
    assert exports.left_out(SPACE, "code") == []
    with pytest.raises(SpaceError, match="json"):
        exports.export(pa.Space({"a": pa.Float(0, 1), "b": pa.Moving("a", 1.0)}), "code")
    with pytest.raises(SpaceError, match="unknown"):
        exports.export(FLAT, "excel")
    with pytest.raises(SpaceError, match="tool 'excel' is unknown; use one of optuna, configspace, raytune, or export"):
        exports.to_tool(FLAT, "excel")
    with pytest.raises(SpaceError, match=r"a space for 'wandb' is always text; use export\('wandb'\)"):
        exports.to_tool(FLAT, "wandb")


@pytest.mark.parametrize(("call", "library", "extra"), [
    ("to_optuna", "optuna.distributions", "optuna"),
    ("to_configspace", "ConfigSpace", "configspace"),
    ("to_raytune", "ray", "ray"),
])  # fmt: skip
def test_a_missing_library_is_named(call: str, library: str, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingLibraryError, match=rf"(?i)pip install '{extra}"):
        getattr(exports, call)(FLAT)


texts = st.text(st.characters(categories=["L", "N", "P", "S", "Zs"]), max_size=4)  # YAML refuses control characters
labels = st.lists(texts | st.integers(-5, 5) | st.floats(-1e9, 1e9), min_size=1, max_size=4, unique=True)


@given(texts.filter(bool), labels, st.floats(-1e6, 1e6), st.floats(1e-6, 1e6))
def test_text_holds_any_name_and_value(name: str, values: list[Any], low: float, width: float) -> None:
    try:
        space = pa.Space({name: pa.Categorical(values), f"{name}2": pa.Float(low, low + width)})
    except SpaceError:
        return
    sweep = yaml.safe_load(exports.export(space, "wandb"))["parameters"]
    assert sweep[name] == ({"value": values[0]} if len(values) == 1 else {"values": list(space[name].choices)})  # type: ignore[union-attr]
    assert sweep[f"{name}2"] == {"distribution": "uniform", "min": low, "max": low + width}
    assert pa.Space.from_dict(json.loads(exports.export(space, "json"))) == space


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore")
def test_real_configspace(tmp_path: Path) -> None:
    cs = need("ConfigSpace")
    made = exports.to_configspace(SPACE)
    assert isinstance(made, cs.ConfigurationSpace)
    expected = {**SPACE, "batch": pa.Ordinal([16, 32, 48, 64])}
    del expected["fixed"]
    assert dict(pa.space_from(made)) == expected
    assert made["fixed"].value == 0.25
    for drawn in made.sample_configuration(50):
        plain = dict(drawn)
        assert ("momentum" in plain) == (plain["optimizer"] == "sgd")
        assert 16 <= plain["batch"] <= 64
    file = tmp_path / "space.json"
    file.write_text(exports.export(SPACE, "configspace"), encoding="utf-8")
    assert cs.ConfigurationSpace.from_json(file) == made


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore")
def test_real_smac() -> None:
    smac = need("smac")
    scenario = smac.Scenario(exports.to_configspace(SPACE), n_trials=3)
    assert len(scenario.configspace) == len(SPACE)


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore")
def test_real_raytune() -> None:
    need("ray.tune")
    made = exports.to_raytune(FLAT)
    expected = as_choices(FLAT)
    assert dict(pa.space_from(made)) == {**expected, "batch": pa.Categorical([16, 32, 48, 64])}
    for _ in range(50):
        drawn = {name: domain.sample() for name, domain in made.items()}
        assert drawn["batch"] in (16, 32, 48, 64)
        assert 1 <= drawn["layers"] <= 6
    names: dict[str, Any] = {}
    exec(exports.raytune_code(FLAT), names)
    assert dict(pa.space_from(names["param_space"])) == dict(pa.space_from(made))
    nested = {"net": {"depth": made["layers"]}, "seed": 1}
    assert dict(pa.space_from(nested)) == {"net.depth": pa.Int(1, 6)}


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore")
def test_real_wandb() -> None:
    """W&B's own reading of a sweep's parameters, as Optuna's distributions."""
    scheduler = need("wandb.sdk.sweeps.scheduler.optuna")
    read = scheduler.search_space_from_sweep_config(yaml.safe_load(exports.export(FLAT, "wandb"))["parameters"])
    expected = {**as_choices(FLAT), "batch": pa.Categorical([16, 32, 48, 64])}
    assert dict(pa.space_from(read)) == expected


def test_none_is_a_choice_in_python_code() -> None:
    space = pa.Space({"weight": pa.Categorical(["balanced", "None"])})
    assert "suggest_categorical('weight', ['balanced', None])" in exports.export(space, "code")
    assert "tune.choice(['balanced', None])" in exports.export(space, "raytune")
    assert exports.optuna_plain(space)["weight"]["attributes"]["choices"] == ["balanced", None]
