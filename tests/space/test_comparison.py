"""What two search spaces share."""

from __future__ import annotations

from typing import Any

import pytest

import pedanova as pa
from pedanova.errors import SpaceError
from pedanova.space.comparison import (
    DomainChange,
    changes_between,
    common_values,
    holds,
    same_cells,
    same_domain,
    shared_space,
    steadied,
    union_space,
)
from pedanova.space.parameters import Categorical, Float, Int, Moving, Ordinal, Parameter, Space

CASES = [
    (pa.Float(0, 1), pa.Float(0.5, 2), (0.5, 1)),
    (pa.Float(0, 1), pa.Float(2, 3), None),
    (pa.Int(1, 8), pa.Float(2.0, 20.0), (2.0, 8)),
    (pa.Categorical(["a", "b", "c"]), pa.Categorical(["b", "c", "d"]), {"b", "c"}),
    (pa.Categorical(["a", "b"]), pa.Categorical(["b", "c"]), None),
    (pa.Ordinal([16, 32, 64, 128]), pa.Int(20, 100), {32, 64}),
    (pa.Categorical(["a", "b"]), pa.Float(0, 1), None),
]


@pytest.mark.parametrize(("one", "two", "common"), CASES)
def test_common_values_in_either_order(one: Parameter, two: Parameter, common: object) -> None:
    assert common_values(one, two) == common == common_values(two, one)
    assert not same_domain(one, two)


def test_bounds_taken_from_data_are_the_same_domain() -> None:
    one, two = pa.Float(1.0002e-5, 0.0999, log=True), pa.Float(1e-5, 0.1, log=True)
    assert same_domain(one, two)
    assert same_cells(one, two)
    assert not same_cells(one, pa.Float(1e-5, 0.1))
    assert same_domain(pa.Categorical(["b", "a"]), pa.Categorical(["a", "b"]))
    assert not same_cells(pa.Categorical(["b", "a"]), pa.Categorical(["a", "b"]))


def test_every_parameter_stands_somewhere() -> None:
    one = pa.Space({"a": pa.Float(0, 1), "b": pa.Int(1, 9), "c": pa.Float(0, 1), "d": pa.Float(0, 1)})
    two = pa.Space({"a": pa.Float(0, 1), "b": pa.Int(4, 20), "c": pa.Float(5, 6), "e": pa.Float(0, 1)})
    found = shared_space(one, two)
    assert (found.alike, found.narrowed, found.unlike) == (("a",), {"b": (4, 9)}, ("c",))
    assert (found.first, found.second, found.names, found.same) == (("d",), ("e",), ("a", "b"), False)
    assert shared_space(one, one).same


def test_a_domain_stays_while_it_holds_all_values() -> None:
    before = Space({"lr": Float(1e-4, 1.0, log=True), "n": Int(1, 9), "o": Categorical(("adam", "sgd"))})
    now = Space({"lr": Float(1e-3, 0.5), "n": Ordinal((2, 4)), "o": Categorical(("sgd",))})
    assert steadied(before, now) == before
    assert changes_between(before, steadied(before, now)) == ()


def test_a_value_outside_a_new_parameter_and_one_that_is_gone() -> None:
    before = Space({"lr": Float(1e-4, 1.0), "gone": Int(1, 2)})
    now = Space({"lr": Float(1e-4, 2.0), "new": Int(0, 1)})
    assert steadied(before, now) == now
    assert changes_between(before, now) == (
        DomainChange("lr", Float(1e-4, 1.0), Float(1e-4, 2.0)),
        DomainChange("gone", Int(1, 2), None),
        DomainChange("new", None, Int(0, 1)),
    )


def test_what_holds_what() -> None:
    assert holds(Float(0, 1), Int(0, 1))
    assert holds(Float(0, 1), Ordinal((0.0, 0.5)))
    assert not holds(Float(0, 1), Ordinal(("low", "high")))
    assert not holds(Int(0, 9), Ordinal((0.5, 2)))
    assert not holds(Int(0, 9), Float(0, 1))
    assert not holds(Int(0, 10, step=2), Int(0, 9))
    assert not holds(Ordinal((1, 2)), Int(1, 2))
    assert not holds(Categorical((1, 0)), Categorical((True, False)))
    assert not holds(Moving(0, "top"), Float(0, 1))


def test_a_condition_that_is_new_is_a_change() -> None:
    when = {"o": ["sgd"]}
    before = Space({"o": Categorical(("adam", "sgd")), "m": Float(0, 1)})
    now = Space({"o": Categorical(("adam", "sgd")), "m": Float(0, 1, when=when)})
    assert steadied(before, now) == now


def joined(*domains: Any) -> Any:
    return union_space({str(i): pa.Space({"x": one}) for i, one in enumerate(domains)})[0]["x"]


@pytest.mark.parametrize(("domains", "whole"), [
    ([pa.Float(0, 1), pa.Float(-1, 0.5)], pa.Float(-1, 1)),
    ([pa.Float(0.1, 1, log=True), pa.Float(0.01, 0.5, log=True)], pa.Float(0.01, 1, log=True)),
    ([pa.Float(0.1, 1, log=True), pa.Float(0.0, 0.5)], pa.Float(0, 1)),  # 0 has no place on a log scale
    ([pa.Int(1, 4), pa.Int(2, 6)], pa.Int(1, 6)),
    ([pa.Int(16, 64, step=16), pa.Int(32, 128, step=16)], pa.Int(16, 128, step=16)),
    ([pa.Int(16, 64, step=16), pa.Int(8, 128, step=8)], pa.Int(8, 128)),
    ([pa.Int(1, 4), pa.Float(0.5, 3)], pa.Float(0.5, 4)),
    ([pa.Categorical(["a", "b"]), pa.Categorical(["b", "c"])], pa.Categorical(["a", "b", "c"])),
    ([pa.Ordinal([1, 4]), pa.Ordinal([2, 4])], pa.Ordinal([1, 2, 4])),
    ([pa.Ordinal(["low", "high"]), pa.Ordinal(["high", "low"])], pa.Categorical(["low", "high"])),
])  # fmt: skip
def test_a_joined_domain_holds_every_studys_own(domains: list[Any], whole: Any) -> None:
    assert joined(*domains) == whole
    assert joined(*domains, *domains) == whole
    assert joined(domains[0], domains[0]) == domains[0]


def test_who_does_not_fit_is_told() -> None:
    spaces = {
        "one": pa.Space({"x": pa.Float(0, 1), "y": pa.Int(1, 3)}),
        "two": pa.Space({"x": pa.Float(0, 2), "z": pa.Moving("x", 1.0)}),
        "three": pa.Space({"x": pa.Categorical(["low", "high"]), "y": pa.Int(1, 3)}),
    }
    space, owners, notes = union_space(spaces)
    assert dict(space) == {"x": pa.Float(0, 2), "y": pa.Int(1, 3)}
    assert owners == {"x": ("one", "two"), "y": ("one", "three")}
    assert {(note.subject, note.kind) for note in notes} == {("x", "doubt"), ("y", "space"), ("z", "unused")}
    with pytest.raises(SpaceError, match="no parameter"):
        union_space({"two": pa.Space({"z": pa.Moving("x", 1.0)})})


def test_conditions_are_kept_where_their_parent_is() -> None:
    child = pa.Float(0, 1, when={"opt": ["sgd"]})
    here = pa.Space({"opt": pa.Categorical(["adam", "sgd"]), "m": child})
    assert union_space({"a": here, "b": here})[0] == here
    assert union_space({"a": pa.Space({"m": child})})[0]["m"] == pa.Float(0, 1)
    always = pa.Space({"opt": pa.Categorical(["adam", "sgd"]), "m": pa.Float(0, 1)})
    space, _, notes = union_space({"a": here, "b": here, "c": always})
    assert space["m"] == child
    assert any(note.kind == "condition" for note in notes)
