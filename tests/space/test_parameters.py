"""Parameters and spaces: what is refused, and what survives JSON."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import pedanova as pa
from pedanova.errors import SpaceError, UnknownParameterError
from pedanova.space.parameters import scale_of


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: pa.Float(1, 1), "low=1.0 must be below high=1.0"),
        (lambda: pa.Float(2, 1), "low=2.0 must be below high=1.0"),
        (lambda: pa.Float(0.0, 1, log=True), "low=0.0 must be above 0 on a log"),
        (lambda: pa.Float(math.nan, 1), "low=nan must be a finite number"),
        (lambda: pa.Float(0, math.inf), "high=inf must be a finite number"),
        (lambda: pa.Float("0", 1), "low='0' must be a finite number"),
        (lambda: pa.Float(True, 2), "low=True must be a finite number"),
        (lambda: pa.Float(-1.7e308, 1.7e308), "too wide; rescale"),
        (lambda: pa.Float(0, 1, log="yes"), "log='yes' must be True or False"),
        (lambda: pa.Int(0.5, 3), "low=0.5 must be a whole number; use Float"),
        (lambda: pa.Int(0, 3, step=0), "step=0 must be at least 1"),
        (lambda: pa.Int(1, 9, step=2, log=True), "cannot be combined"),
        (lambda: pa.Int(0, 2**60), "exceed"),
        (lambda: pa.Int(0, 10**400), "exceed"),
        (lambda: pa.Float(0, 10**400), "high=1000.* must be a finite number"),
        (lambda: pa.Ordinal([]), "empty"),
        (lambda: pa.Ordinal("abc"), "must be a list of values"),
        (lambda: pa.Categorical(["a", "a"]), "hold 'a' twice"),
        (lambda: pa.Categorical([math.nan]), "only finite numbers"),
        (lambda: pa.Categorical(3), "must be a list"),
        (lambda: pa.Space({"": pa.Float(0, 1)}), "'' is not a name for a parameter; use a non-empty string"),
        (lambda: pa.Space({"x": (0, 1)}), r"x: \(0, 1\) is not a parameter; use Float"),
        (lambda: pa.Space.from_dict({"x": {"type": "complex"}}), "needs a 'type'; use one of float, int"),
        (lambda: pa.Space.from_dict({"x": {"type": "float", "low": 0}}), "does not describe a float"),
        (
            lambda: pa.Space.from_dict({"x": {"type": "float", "low": 0, "high": 1, "grid": [0]}}),
            "x: a float has no field 'grid'; its fields are low, high, log, when",
        ),
        (lambda: pa.Space.from_dict({"x": {"type": "float", "low": 2, "high": 1}}), "x: low=2.0 must"),
        (lambda: pa.Space.from_dict([1]), "must be a dict"),
    ],
)  # fmt: skip
def test_refusals_name_value_rule_and_remedy(make: object, message: str) -> None:
    with pytest.raises(SpaceError, match=message):
        make()  # type: ignore[operator]


def test_the_last_value_of_a_lattice_is_its_bound() -> None:
    assert pa.Int(1, 10, step=4) == pa.Int(1, 9, step=4)


def test_numpy_scalars_become_plain() -> None:
    assert pa.Int(np.int64(1), np.int32(5)) == pa.Int(1, 5)
    assert pa.Categorical(np.array(["a", "b"])).choices == ("a", "b")
    assert type(pa.Ordinal(np.array([1, 2])).values[0]) is int


def test_json_round_trip() -> None:
    space = pa.Space(
        {
            "lr": pa.Float(1e-5, 0.1, log=True),
            "layers": pa.Int(1, 9, step=2),
            "batch": pa.Ordinal([16, 32, 64.5]),
            "opt": pa.Categorical(["adam", True, 3, 2.5]),
        }
    )
    assert pa.Space.from_dict(json.loads(json.dumps(space.to_dict()))) == space
    assert hash(pa.Space.from_dict(space.to_dict())) == hash(space)


def test_a_space_is_a_mapping_with_helpful_errors() -> None:
    space = pa.Space({"learning_rate": pa.Float(0, 1)})
    assert list(space) == ["learning_rate"]
    assert len(space) == 1
    assert "learning_rate" in space
    assert space["learning_rate"] == pa.Float(0, 1)
    with pytest.raises(UnknownParameterError, match="did you mean 'learning_rate'"):
        space["learning_rat"]


def test_the_scale_is_that_of_the_domain_whatever_its_bounds() -> None:
    log = [pa.Float(1, 3.9, log=True), pa.Float(1e-5, 1, log=True), pa.Int(1, 4, log=True)]
    linear = [pa.Float(1e-9, 1), pa.Float(-1, 1), pa.Int(1, 4), pa.Moving("low", 1.0, log=True)]
    assert {scale_of(one) for one in log} == {"log"}
    assert {scale_of(one) for one in linear} == {"linear"}
    assert scale_of(pa.Ordinal([1, 2])) == "ordered"
    assert scale_of(pa.Categorical([1, 2])) == scale_of(pa.Switch("c", {1: pa.Float(0, 1)})) == "names"


HALVES = pa.Float(0, 1), pa.Float(0, 2)


@pytest.mark.parametrize("keys", [
    (pa.between(0, 0.5, values=True), pa.between(0.4, 1, values=True)),
    (pa.between(0, 0.5, values=True), pa.between(0.5, 1, values=True)),  # both have 0.5
    (pa.below(0.5), 0.2),
])  # fmt: skip
def test_a_switch_whose_ranges_overlap_is_refused(keys: tuple[object, object]) -> None:
    with pytest.raises(SpaceError, match=r"dropout .* and dropout .* overlap; give .*pa.below"):
        pa.Switch("dropout", tuple(zip(keys, HALVES, strict=True)))


def test_ranges_of_a_switch_may_touch_or_share_a_domain() -> None:
    assert len(pa.Switch("dropout", {pa.below(0.5): HALVES[0], pa.above(0.5): HALVES[1], 0.5: HALVES[0]}).regimes) == 2
    assert len(pa.Switch("dropout", {pa.below(0.5): HALVES[0], pa.below(0.6): HALVES[0]}).regimes) == 1
