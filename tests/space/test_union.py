"""One space for several studies."""

from __future__ import annotations

from typing import Any

import pytest

import pedanova as pa
from pedanova.errors import SpaceError
from pedanova.space.comparison import union_space


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
