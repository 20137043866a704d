"""Spaces out of everything that describes one, and spaces written down to be edited."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import optuna
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution, distribution_to_json

import pedanova as pa
from helpers.common import refuse
from helpers.tools import tame
from pedanova.errors import DataError, FormatError, PedanovaError, SpaceError
from pedanova.sources.spaces.read import Distribution, labels_of, read_distribution
from pedanova.space.parameters import Parameter

SPACE = pa.Space(
    {
        "lr": pa.Float(1e-5, 1.0, log=True),
        "depth": pa.Int(1, 9, 2),
        "kind": pa.Categorical(["a", "b"]),
        "momentum": pa.Float(0.0, 1.0, when={"kind": ["a"]}),
    }
)
CONFIGSPACE = {
    "hyperparameters": [
        {"name": "lr", "type": "uniform_float", "lower": 1e-5, "upper": 1.0, "log": True},
        {"name": "kind", "type": "categorical", "choices": ["a", "b"]},
        {"name": "momentum", "type": "uniform_float", "lower": 0.0, "upper": 1.0, "log": False},
    ],
    "conditions": [{"type": "EQ", "child": "momentum", "parent": "kind", "value": "a"}],
    "forbiddens": [],
}
SWEEP = """
method: bayes
parameters:
  lr: {distribution: log_uniform_values, min: 1e-5, max: 1}
  depth: {min: 1, max: 9}
  batch: {values: [64, 16, 32]}
  kind: {values: [a, b]}
  seed: {value: 3}
  optimiser:
    parameters:
      beta: {min: 0.0, max: 1.0}
"""


@pytest.fixture
def data() -> dict[str, object]:
    rng = np.random.default_rng(0)
    lr = 10 ** rng.uniform(-5, 0, 60)
    return {"lr": lr, "depth": rng.integers(0, 5, 60) * 2 + 1, "kind": ["a", "b"] * 30,
            "momentum": [0.5, None] * 30, "loss": lr}  # fmt: skip


def test_every_form_gives_the_space(tmp_path: Path, data: dict[str, object]) -> None:
    own, sweep, other = tmp_path / "own.json", tmp_path / "sweep.yaml", tmp_path / "configspace.json"
    own.write_text(json.dumps(SPACE.to_dict()))
    sweep.write_text(SWEEP)
    other.write_text(json.dumps(CONFIGSPACE))
    assert pa.space_from(own) == pa.space_from(str(own)) == pa.space_from(SPACE) == SPACE
    assert pa.space_from(dict(SPACE)) == pa.space_from(SPACE.to_dict()) == SPACE
    assert pa.space_from(other)["momentum"] == pa.Float(0.0, 1.0, when={"kind": ["a"]})
    assert pa.space_from(other) == pa.space_from(CONFIGSPACE)
    assert pa.space_from(sweep) == pa.Space(
        {
            "lr": pa.Float(1e-5, 1.0, log=True),
            "depth": pa.Int(1, 9),
            "batch": pa.Ordinal([16, 32, 64]),
            "kind": pa.Categorical(["a", "b"]),
            "optimiser.beta": pa.Float(0.0, 1.0),
        }
    )
    for space in (own, str(own), SPACE.to_dict(), dict(SPACE)):
        assert pa.analyze(data, "loss", space=space).space == SPACE


def test_yaml_files(tmp_path: Path) -> None:
    own = tmp_path / "own.yml"
    own.write_text("lr: {type: float, low: 1e-5, high: 1, log: true}\n")
    assert pa.space_from(own) == pa.Space({"lr": pa.Float(1e-5, 1.0, log=True)})


@pytest.mark.parametrize(
    ("distribution", "parameter"),
    [
        (FloatDistribution(0.0, 2.0), pa.Float(0.0, 2.0)),
        (FloatDistribution(1e-3, 2.0, log=True), pa.Float(1e-3, 2.0, log=True)),
        (FloatDistribution(0.0, 0.3, step=0.1), pa.Ordinal([0.0, 0.1, 0.2, 0.3])),
        (FloatDistribution(0.0, 1.0, step=1e-5), pa.Float(0.0, 1.0)),
        (IntDistribution(1, 10), pa.Int(1, 10)),
        (IntDistribution(1, 10, step=3), pa.Int(1, 10, 3)),
        (IntDistribution(1, 1024, log=True), pa.Int(1, 1024, log=True)),
        (IntDistribution(4, 4), pa.Categorical([4])),
        (FloatDistribution(4.0, 4.0), pa.Categorical([4.0])),
        (IntDistribution(0, 2**60), pa.Float(0.0, 2.0**60)),
        (CategoricalDistribution(["a", None, 1, True, 1.5]), pa.Categorical(["a", "None", "1", "True", "1.5"])),
    ],
)
def test_optuna_distributions(distribution: optuna.distributions.BaseDistribution, parameter: Parameter) -> None:
    assert pa.space_from({"x": distribution})["x"] == parameter
    if not isinstance(distribution, CategoricalDistribution) or not isinstance(distribution.choices[0], tuple):
        assert pa.space_from({"x": distribution_to_json(distribution)})["x"] == parameter
        assert pa.space_from({"x": json.loads(distribution_to_json(distribution))})["x"] == parameter


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"name": "UniformDistribution", "attributes": {"low": 0.0, "high": 1.0}}', Distribution("float", 0.0, 1.0)),
        (
            '{"name": "LogUniformDistribution", "attributes": {"low": 0.1, "high": 1.0}}',
            Distribution("float", 0.1, 1.0, None, True),
        ),
        (
            '{"name": "DiscreteUniformDistribution", "attributes": {"low": 0.0, "high": 1.0, "q": 0.5}}',
            Distribution("float", 0.0, 1.0, 0.5),
        ),
        (
            '{"name": "IntUniformDistribution", "attributes": {"low": 1, "high": 5, "step": 2}}',
            Distribution("int", 1, 5, 2),
        ),
        (
            '{"name": "IntLogUniformDistribution", "attributes": {"low": 1, "high": 5, "step": 1}}',
            Distribution("int", 1, 5, 1, True),
        ),
        ('{"type": "float", "low": 0, "high": 1, "log": false}', Distribution("float", 0.0, 1.0)),
        ('{"type": "categorical", "choices": ["a", "b"]}', Distribution("categorical", choices=("a", "b"))),
    ],
)
def test_distributions_of_other_years(text: str, found: Distribution) -> None:
    assert read_distribution(text, "x") == found


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=5) | st.integers(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["name", "type", "low", "high", "choices", "attributes", "log"]), inner)
        ),
        max_leaves=8,
    )
)
def test_no_distribution_ends_in_another_error(plain: object) -> None:
    for form in (plain, json.dumps(plain)):
        tame(lambda form=form: read_distribution(form, "x"))


@given(
    st.lists(
        st.none() | st.booleans() | st.integers(-2, 2) | st.floats() | st.sampled_from(["1", "2", "a"]), min_size=1
    )
)
def test_choices_can_always_be_told_apart(choices: list[object]) -> None:
    labels = labels_of(choices, "x")
    assert len(set(labels)) == len(labels) == len(choices)
    pa.Categorical(labels)


def test_mistakes(tmp_path: Path, data: dict[str, object]) -> None:
    strange, broken, a_list = tmp_path / "space.toml", tmp_path / "broken.json", tmp_path / "list.json"
    strange.write_text("")
    broken.write_text('{"lr": ')
    a_list.write_text("[1]")
    refuse(DataError, "nowhere.json", of=lambda: pa.space_from("nowhere.json"))
    refuse(SpaceError, "space.toml", ".yaml", of=lambda: pa.space_from(strange))
    refuse(FormatError, "broken.json", of=lambda: pa.analyze(data, "loss", space=broken))
    refuse(SpaceError, "list.json", "object", of=lambda: pa.space_from(a_list))
    refuse(SpaceError, "5", of=lambda: pa.space_from(5))
    refuse(SpaceError, "lr", "min and max", of=lambda: pa.space_from({"parameters": {"lr": {"mu": 1}}}))
    refuse(
        SpaceError,
        "normal",
        of=lambda: pa.space_from({"parameters": {"x": {"distribution": "normal", "min": 0, "max": 1}}}),
    )
    refuse(PedanovaError, "x", of=lambda: pa.space_from({"x": {"type": "real"}}))


def test_a_guessed_space_is_that_of_the_analysis(data: dict[str, object]) -> None:
    space, notes = pa.guess_space(data, "loss")
    a = pa.analyze(data, "loss")
    assert space == a.space
    assert set(notes) <= set(a.notes)
    assert "loss" not in pa.guess_space(data)[0]  # nobody said what it is, but its name does
    assert "loss" in pa.guess_space(data, params=["lr", "loss"])[0]
    assert list(pa.guess_space(data, "loss", exclude=["depth"])[0]) == ["lr", "kind", "momentum"]
    study = optuna.create_study()
    study.add_trial(optuna.create_trial(params={"x": 1.0}, distributions={"x": FloatDistribution(0, 2)}, value=1.0))
    assert pa.guess_space(study)[0] == pa.Space({"x": pa.Float(0.0, 2.0)})


HYDRA = """
defaults: [_self_, {override hydra/sweeper: optuna}]
hydra:
  sweeper:
    direction: minimize
    params:
      lr: tag(log, interval(0.001, 0.1))
      model.depth: range(1, 9)
      net: choice(small, large)
      batch: 16,32,64
      units: int(interval(1, 5))
      seed: 3
lr: 0.01
"""


def test_the_space_of_a_hydra_sweep(tmp_path: Path) -> None:
    pytest.importorskip("yaml")
    (tmp_path / "config.yaml").write_text(HYDRA)
    assert pa.space_from(tmp_path / "config.yaml") == pa.Space(
        {
            "lr": pa.Float(0.001, 0.1, log=True),
            "model.depth": pa.Int(1, 8),
            "net": pa.Categorical(["small", "large"]),
            "batch": pa.Ordinal([16, 32, 64]),
            "units": pa.Int(1, 5),
        }
    )
    described = {
        "x": {"type": "float", "low": -5.5, "high": 5.5},
        "n": {"type": "int", "low": 1, "high": 64, "log": True},
        "k": {"type": "categorical", "choices": ["a", "b"]},
    }
    assert pa.space_from({"hydra": {"sweeper": {"search_space": described}}}) == pa.Space(
        {"x": pa.Float(-5.5, 5.5), "n": pa.Int(1, 64, log=True), "k": pa.Categorical(["a", "b"])}
    )
    with pytest.raises(SpaceError, match="'normal\\(0, 1\\)' is not a Hydra domain"):
        pa.space_from({"hydra": {"sweeper": {"params": {"x": "normal(0, 1)"}}}})


def test_the_space_in_the_configuration_of_a_script() -> None:
    grid = {"name": "mlp", "trainer": {"epochs": 3}, "search_space": {"lr": [0.1, 0.2], "net": ["b", "a"]}}
    assert pa.space_from(grid) == pa.Space({"lr": pa.Ordinal([0.1, 0.2]), "net": pa.Categorical(["b", "a"])})
