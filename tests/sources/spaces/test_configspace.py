"""ConfigSpace documents of every version, and objects that look like ConfigSpace's."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.common import refuse
from helpers.tools import tame
from pedanova.errors import FormatError, PedanovaError, SpaceError
from pedanova.sources.spaces.configspace import describe, read_space, space_from_configspace
from pedanova.sources.spaces.described import Labels, distinct_labels, fit
from pedanova.space.parameters import Categorical, Float, Int, Ordinal
from pedanova.space.values import above, below


def real(name: str, low: Any = 0.0, high: Any = 1.0, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": "uniform_float", "lower": low, "upper": high, "log": False, **more}


def whole(name: str, low: Any = 1, high: Any = 5, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": "uniform_int", "lower": low, "upper": high, "log": False, **more}


def choice(name: str, *choices: Any) -> dict[str, Any]:
    return {"name": name, "type": "categorical", "choices": list(choices), "weights": None}


def constant(name: str, value: Any) -> dict[str, Any]:
    return {"name": name, "type": "constant", "value": value}


def document(*items: Any, conditions: Any = (), forbiddens: Any = ()) -> dict[str, Any]:
    return {
        "name": None,
        "hyperparameters": list(items),
        "conditions": list(conditions),
        "forbiddens": list(forbiddens),
        "format_version": 0.4,
    }


def when(child: str, parent: str, kind: str, value: Any) -> dict[str, Any]:
    key = "values" if kind == "IN" else "value"
    return {"child": child, "parent": parent, "type": kind, key: value}


def joined(kind: str, *parts: dict[str, Any], child: str | None = "x") -> dict[str, Any]:
    return {"type": kind, "child": child, "conditions": list(parts)}


def test_every_type() -> None:
    space, notes = space_from_configspace(
        document(
            real("lr", 1e-4, 1.0, log=True),
            whole("layers"),
            choice("optimizer", "adam", "sgd"),
            {"name": "size", "type": "ordinal", "sequence": [16, 32, 64], "default_value": 32},
            {"name": "noise", "type": "normal_float", "mu": 0, "sigma": 1, "lower": -3, "upper": 3, "log": False},
            {"name": "count", "type": "beta_int", "alpha": 2, "beta": 2, "lower": 1, "upper": 9, "log": False},
            constant("device", "cpu"),
            forbiddens=[{"type": "EQUALS", "name": "layers", "value": 3}],
        )
    )
    assert dict(space) == {
        "lr": Float(1e-4, 1.0, log=True),
        "layers": Int(1, 5),
        "optimizer": Categorical(["adam", "sgd"]),
        "size": Ordinal([16, 32, 64]),
        "noise": Float(-3, 3),
        "count": Int(1, 9),
    }
    assert any("noise: has a normal distribution" in note for note in notes)
    assert any("count: has a beta distribution" in note for note in notes)
    assert "constants are left out: device" in notes
    assert any("forbids a combination" in note for note in notes)


def test_the_words_of_older_versions() -> None:
    old = {
        "hyperparameters": [
            {"name": "a", "type": "uniform_float", "log": False, "lower": 0, "upper": 1, "default": 0.5, "q": None},
            {"name": "b", "type": "categorical", "choices": ["x", "y"], "default": "x", "probabilities": [0.9, 0.1]},
            {"name": "c", "type": "unparametrized", "value": "one"},
        ],
        "conditions": [{"child": "a", "parent": "b", "type": "EQ", "value": "y"}],
        "forbiddens": [],
        "json_format_version": 0.2,
    }
    space, notes = space_from_configspace(old)
    assert space["a"] == Float(0, 1, when={"b": ["y"]})
    assert notes == ["b: the weights of its choices are not used", "constants are left out: c"]


def test_hyperparameters_by_name() -> None:
    space, _ = space_from_configspace({"hyperparameters": {"x": {"type": "uniform_int", "lower": 1, "upper": 3}}})
    assert dict(space) == {"x": Int(1, 3)}


@pytest.mark.parametrize(
    ("kind", "parent", "value", "values"),
    [
        ("EQ", choice("p", "a", "b", "c"), "b", ("b",)),
        ("IN", choice("p", "a", "b", "c"), ["c", "a"], ("a", "c")),
        ("NEQ", choice("p", "a", "b", "c"), "b", ("a", "c")),
        ("EQ", choice("p", True, False), True, (True,)),
        ("GT", {"name": "p", "type": "ordinal", "sequence": ["low", "mid", "high"]}, "low", ("mid", "high")),
        ("LT", {"name": "p", "type": "ordinal", "sequence": [8, 16, 32]}, 20, (8, 16)),
        ("GT", whole("p"), 3, (above(3),)),
        ("LT", whole("p"), 3, (below(3),)),
        ("NEQ", whole("p"), 3, (below(3), above(3))),
        ("EQ", whole("p"), "3", (3,)),
        ("EQ", real("p"), 0.5, (0.5,)),
        ("GT", real("p"), 0.5, (above(0.5),)),
        ("LT", whole("p", 1, 10_000), 900, (below(900),)),
    ],
)
def test_conditions_on_one_parent(kind: str, parent: dict[str, Any], value: Any, values: tuple[Any, ...]) -> None:
    described = describe(document(parent, real("x"), conditions=[when("x", "p", kind, value)]))
    assert described.domains["x"].when == (("p", values),)
    assert described.conditions


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        (when("x", "f", "NEQ", "few"), "f is not 'few'"),
        (when("x", "ghost", "EQ", 1), "ghost is 1"),
        (when("x", "p", "SOON", 1), "p SOON 1"),
        (joined("OR", when("x", "p", "EQ", "a"), when("x", "q", "EQ", 1)), "(p is 'a' or q is 1)"),
    ],
)
def test_conditions_that_cannot_be_said_are_told_in_words(condition: dict[str, Any], words: str) -> None:
    described = describe(
        document(
            real("f"), whole("big", 1, 10_000), choice("p", "a", "b"), whole("q"), real("x"), conditions=[condition]
        )
    )
    assert described.domains["x"].when == ()
    assert not described.conditions
    assert any(f"x: exists only if {words}" in note for note in described.notes)


def test_conjunctions() -> None:
    p, q = choice("p", "a", "b", "c"), choice("q", 1, 2)
    both = joined("AND", when("x", "p", "NEQ", "a"), when("x", "q", "EQ", 1))
    assert describe(document(p, q, real("x"), conditions=[both])).domains["x"].when == (("p", ("b", "c")), ("q", (1,)))
    same = joined("OR", when("x", "p", "EQ", "a"), when("x", "p", "EQ", "c"), child=None)
    assert describe(document(p, q, real("x"), conditions=[same])).domains["x"].when == (("p", ("a", "c")),)
    twice = [when("x", "p", "NEQ", "a"), when("x", "p", "NEQ", "b")]
    assert describe(document(p, q, real("x"), conditions=twice)).domains["x"].when == (("p", ("c",)),)
    partly = joined("AND", when("x", "p", "EQ", "a"), when("x", "f", "GT", 0.5))
    described = describe(document(p, real("f"), real("x"), conditions=[partly]))
    assert described.domains["x"].when == (("p", ("a",)), ("f", (above(0.5),)))
    assert described.conditions


def test_what_can_never_exist_is_left_out_with_its_children() -> None:
    described = describe(
        document(
            choice("p", "a", "b"), real("x"), real("y"),
            conditions=[
                joined("AND", when("x", "p", "EQ", "a"), when("x", "p", "EQ", "b")),
                when("y", "x", "EQ", 0.5),
            ],
        )
    )  # fmt: skip
    assert list(described.domains) == ["p"]
    assert set(described.fixed) == {"x", "y"}
    assert describe(document(choice("p", "a", "b"), real("x"), conditions=[when("x", "p", "EQ", "z")])).fixed == ("x",)


def test_a_constant_parent_passes_its_own_condition_on() -> None:
    described = describe(
        document(
            choice("p", "a", "b"), constant("c", 1), choice("only", "one"), real("x"), real("y"), real("z"),
            conditions=[
                when("c", "p", "EQ", "a"),
                when("x", "c", "EQ", 1),
                when("y", "c", "EQ", 2),
                when("z", "only", "EQ", "one"),
            ],
        )
    )  # fmt: skip
    assert described.domains["x"].when == (("p", ("a",)),)
    assert described.domains["z"].when == ()
    assert set(described.fixed) == {"c", "only", "y"}


def test_an_or_that_always_holds() -> None:
    condition = joined("OR", when("x", "c", "EQ", 1), when("x", "p", "EQ", "a"))
    described = describe(document(choice("p", "a", "b"), constant("c", 1), real("x"), conditions=[condition]))
    assert described.domains["x"].when == ()
    never = joined("OR", when("x", "c", "EQ", 2), when("x", "c", "EQ", 3))
    assert describe(document(constant("c", 1), real("x"), real("y"), conditions=[never])).fixed == ("c", "x")
    one = joined("OR", when("x", "c", "EQ", 2), joined("AND", when("x", "p", "EQ", "a"), when("x", "q", "EQ", 1)))
    left = describe(document(choice("p", "a", "b"), whole("q"), constant("c", 1), real("x"), conditions=[one]))
    assert left.domains["x"].when == (("p", ("a",)), ("q", (1,)))


@pytest.mark.parametrize(
    ("item", "values"),
    [
        (real("x", 0.0, 0.5, q=0.1), (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)),
        (real("x", 0.1, 0.9, q=0.2), (0.1, 0.3, 0.5, 0.7, 0.9)),
        (real("x", 0.05, 0.45, q=0.1), (0.05, 0.15, 0.25, 0.35, 0.45)),
        (whole("x", 2, 10, q=4, log=True), (2, 6, 10)),
    ],
)
def test_steps(item: dict[str, Any], values: tuple[float, ...]) -> None:
    assert describe(document(item)).domains["x"] == Ordinal(values)


def test_steps_that_stay_ranges() -> None:
    assert describe(document(real("x", q=0.001))).domains["x"] == Float(0, 1)
    assert describe(document(real("x", 0.05, 0.4, q=0.1))).domains["x"] == Float(0.05, 0.4)
    assert describe(document(real("x", 0.0, 1.0, q=5))).domains["x"] == Float(0, 1)
    assert describe(document(whole("x", 0, 100, q=10))).domains["x"] == Int(0, 100, step=10)
    assert describe(document(real("x", q=0))).domains["x"] == Float(0, 1)


def test_settings_are_put_onto_their_steps() -> None:
    described = describe(document(real("x", 0.0, 0.5, q=0.1)))
    space, rows, _ = fit(described, [{"x": 0.1 + 0.2}, {"x": 0.5}, {}])
    assert space["x"] == Ordinal([0.0, 0.1, 0.2, 0.3, 0.4, 0.5])
    assert rows == [{"x": 0.3}, {"x": 0.5}, {}]


def test_laws_without_bounds(tmp_path: Path) -> None:
    normal = {"name": "x", "type": "normal_float", "mu": 0, "sigma": 1, "lower": None, "upper": None, "log": False}
    for item in (normal, {"name": "x", "type": "poisson"}):
        refuse(SpaceError, "x", "no bounds", of=lambda item=item: describe(document(item, real("y"))))
        (tmp_path / "configspace.json").write_text(json.dumps(document(item, real("y"))))
        assert read_space(tmp_path) is None  # the log is read all the same


def test_values_are_found_again_however_a_log_writes_them() -> None:
    described = describe(document(choice("p", "1", "0.5", "True", "x"), choice("n", None, [1, 2], 3.0), whole("k")))
    rows = [{"p": 1, "n": None, "k": None}, {"p": 0.5, "n": [1, 2]}, {"p": True, "n": 3}, {"p": "y", "extra": 1}]
    space, settings, notes = fit(described, rows)
    assert space["n"] == Categorical(["None", "[1, 2]", 3.0])
    assert settings == [{"p": "1", "n": "None"}, {"p": "0.5", "n": "[1, 2]"}, {"p": "True", "n": 3.0}, {"p": "y"}]
    assert notes == ["parameters outside the configuration space are left out: extra"]
    assert Labels(["true", "false"]).find(True) == "true"
    assert Labels(distinct_labels([2**60])).find(2**60) == str(2**60)


def test_equal_choices_of_two_types_become_text() -> None:
    assert distinct_labels([1, True, "a"]) == ("1", "true", '"a"')
    assert distinct_labels([float("nan"), float("inf")]) == ("nan", "inf")


def test_bounds_too_large_for_whole_numbers() -> None:
    assert describe(document(whole("seed", 0, 2**63))).domains["seed"] == Float(0, 2.0**63)
    assert describe(document(whole("x", 3, 3), real("y"))).fixed == ("x",)


@pytest.mark.parametrize(
    ("plain", "parts"),
    [
        (None, ("None", "not a configuration space")),
        ([], ("[]", "not a configuration space")),
        ({"hyperparameters": 3}, ("hyperparameters is 3", "list")),
        (document("x"), ("'x'", "needs a name")),
        (document({"type": "uniform_float"}), ("needs a name",)),
        (document(real("x"), real("x")), ("two hyperparameters", "'x'")),
        (document(real("x", 1, 0)), ("x: low=1.0 must be below high=0.0",)),
        (document(real("x", 0, 1, log=True)), ("x: low=0.0 must be above 0",)),
        (document(real("x", None, 1)), ("x: bounds None and 1", "numbers")),
        (document(real("x", "a", 1)), ("x: bounds 'a' and 1",)),
        (document(choice("x")), ("x: choices is []",)),
        (document({"name": "x", "type": "ordinal"}), ("x: sequence is None",)),
        (document(real("x"), conditions=["x"]), ("the condition 'x'",)),
        (document(real("x"), conditions=[{"type": "EQ"}]), ("names None",)),
        (document(real("x"), conditions=[{"type": "AND", "child": "x"}]), ("needs a list",)),
        (
            document(real("x"), real("y"), conditions=[when("x", "y", "EQ", 1), when("y", "x", "EQ", 1)]),
            ("depends on itself",),
        ),
    ],
)
def test_bad_documents(plain: object, parts: tuple[str, ...]) -> None:
    refuse(PedanovaError, *parts, of=lambda: space_from_configspace(plain))


def test_the_file_beside_a_log(tmp_path: Path) -> None:
    assert read_space(tmp_path) is None
    (tmp_path / "configspace.json").write_text(json.dumps(document(real("x"))))
    described = read_space(tmp_path)
    assert described is not None
    assert dict(described.domains) == {"x": Float(0, 1)}
    (tmp_path / "configspace.json").write_text(json.dumps(document(real("x", 1, 0))))
    refuse(FormatError, "configspace.json", "x: low=1.0", of=lambda: read_space(tmp_path))
    (tmp_path / "configspace.json").write_text('{"hyperparameters": [')
    refuse(FormatError, "configspace.json", "not valid JSON", of=lambda: read_space(tmp_path))
    deep = joined("AND")
    for _ in range(400):
        deep = joined("AND", deep)
    (tmp_path / "configspace.json").write_text(json.dumps(document(real("x"), conditions=[deep])))
    assert read_space(tmp_path) is not None


def test_objects_that_write_themselves() -> None:
    space, _ = space_from_configspace(SimpleNamespace(to_serialized_dict=lambda: document(real("x"))))
    assert dict(space) == {"x": Float(0, 1)}


odd = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.sampled_from(["x", "p", "AND"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
GOOD = document(
    choice("p", "a", "b"), real("x", 0.0, 0.5, q=0.1), whole("k"), constant("c", 1),
    conditions=[joined("AND", when("x", "p", "EQ", "a"), when("x", "k", "GT", 2))],
)  # fmt: skip
PLACES = [
    ("hyperparameters",), ("conditions",), ("forbiddens",), ("hyperparameters", 0), ("conditions", 0),
    *(("hyperparameters", i, key) for i, item in enumerate(GOOD["hyperparameters"]) for key in item),
    *(("conditions", 0, key) for key in GOOD["conditions"][0]),
    *(("conditions", 0, "conditions", i, key) for i in (0, 1) for key in ("type", "child", "parent", "value")),
]  # fmt: skip


@given(place=st.sampled_from(PLACES), value=odd)
def test_odd_values_anywhere_are_refused_in_one_line_or_read(place: tuple[Any, ...], value: object) -> None:
    plain = json.loads(json.dumps(GOOD))
    inner = plain
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = value
    rows = [{"p": "a", "x": 0.1, "k": 3, "c": 1}, {"p": value, "x": value, "k": value}]
    tame(lambda: fit(describe(plain), rows))
