"""What two search spaces share."""

from __future__ import annotations

import pytest

import pedanova as pa
from pedanova.space.comparison import common_values, same_cells, same_domain, shared_space
from pedanova.space.parameters import Parameter

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
