"""A column that goes with the objective in every row is doubted, never in silence and never thrown away."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pedanova as pa

ROWS = 100
Y = np.random.default_rng(1).permutation(np.linspace(0.0, 1.0, ROWS))
X = np.random.default_rng(2).uniform(size=ROWS)


def doubted(values: Any, **options: Any) -> list[str]:
    a = pa.analyze({"x": X, "m": values, "y": Y}, "y", **options)
    assert "m" in a.space
    return [note for note in a.notes if "orders the rows exactly like" in note]


@pytest.mark.parametrize("form", [lambda y: y, lambda y: 1 - y, lambda y: 100 * y, np.exp, lambda y: -(y**3)])
def test_another_form_of_the_objective(form: Any) -> None:
    (note,) = doubted(form(Y))
    assert note.startswith("m: orders the rows exactly like y")
    assert note.severity == "warning"  # type: ignore[attr-defined]


def test_not_what_goes_with_it_by_and_large_nor_what_was_asked_for() -> None:
    assert not doubted(Y + 0.05 * X)
    assert not doubted(np.round(Y, 1))
    assert not doubted(Y, params=["x", "m"])
    assert not doubted(Y, space={"m": pa.Float(0, 1), "x": pa.Float(0, 1)})
