"""Spaces that stay as they are, unless something does not fit."""

from __future__ import annotations

from pedanova.space.comparison import DomainChange, changes_between, holds, steadied
from pedanova.space.parameters import Categorical, Float, Int, Moving, Ordinal, Space


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
