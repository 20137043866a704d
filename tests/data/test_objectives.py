"""A column that goes with the objective in every row is doubted, never in silence and never thrown away."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pedanova as pa
from pedanova.analysis.analyze import request_of, roles_in
from pedanova.errors import DataError

ROWS = 100
DOUBT = ("roles", "warning")
Y = np.random.default_rng(1).permutation(np.linspace(0.0, 1.0, ROWS))
X = np.random.default_rng(2).uniform(size=ROWS)


def doubted(values: Any, **options: Any) -> list[str]:
    a = pa.analyze({"x": X, "m": values, "y": Y}, "y", **options)
    assert "m" in a.space
    return [note for note in a.notes if "has a perfect rank correlation with" in note]


@pytest.mark.parametrize("form", [lambda y: y, lambda y: 1 - y, lambda y: 100 * y, np.exp, lambda y: -(y**3)])
def test_another_form_of_the_objective(form: Any) -> None:
    (note,) = doubted(form(Y))
    assert note.startswith("m: has a perfect rank correlation with y")
    assert note.severity == "warning"  # type: ignore[attr-defined]


def test_not_what_goes_with_it_by_and_large_nor_what_was_asked_for() -> None:
    assert not doubted(Y + 0.05 * X)
    assert not doubted(np.round(Y, 1))
    assert not doubted(Y, params=["x", "m"])
    assert not doubted(Y, space={"m": pa.Float(0, 1), "x": pa.Float(0, 1)})


@pytest.mark.parametrize(
    ("scores", "words"),
    [
        (["81.9%", "80.2%", "79%", "10.05"], "and others such as '10.05'"),
        (["3.67 (1)", "3.75 (0.2)", "4.1 (NA)"], "has text after its numbers ('3.67 (1)', '3.75 (0.2)', '4.1 (NA)')"),
    ],
)
def test_the_error_shows_the_values_that_are_no_numbers(scores: list[str], words: str) -> None:
    with pytest.raises(DataError) as caught:
        pa.analyze({"x": X[:90], "y": scores * (90 // len(scores)) + scores[: 90 % len(scores)]}, "y")
    assert words in str(caught.value)
    assert "write every value as a number in the same form" in str(caught.value)


def test_a_condition_comes_before_the_form_of_numbers() -> None:
    kind = ["gender", "age", "gender"] * 30
    scores = [f"{10 + i % 70}.5%" if one == "gender" else f"{i / 7:.2f}" for i, one in enumerate(kind)]
    table = {"x": X[:90], "kind": kind, "y": scores}
    with pytest.raises(DataError, match=r"in the same form, or pass where=\"kind == 'gender'\""):
        pa.analyze(table, "y")
    a = pa.analyze(table, "y", direction="max", where="kind == 'gender'")
    assert len(a) == 60
    assert a.data.observations is not None
    assert a.data.observations.goals[0].values.max() <= 0.8
    with pytest.raises(DataError, match="in the same form"):
        pa.analyze(table, "y", where="x < 0.5")


def test_roles_name_what_the_first_lines_name() -> None:
    table = {"x": X, "m": np.exp(Y), "y": Y}
    roles = {row.column: row.why for row in roles_in(table, request_of("y")).rows}
    assert "has a perfect rank correlation with y" in roles["m"]
    crashed = {
        "x": np.where(np.arange(ROWS) % 4, X, 9e9),
        "lr": X,
        "status": np.where(np.arange(ROWS) % 4, "ok", "crash"),
    }
    names = {note.subject for note in pa.analyze({**crashed, "y": Y}, "y").notes if (note.kind, note.severity) == DOUBT}
    perhaps = {row.column for row in roles_in({**crashed, "y": Y}, request_of("y")).rows if "perhaps" in row.why}
    assert perhaps == names


def test_a_condition_is_advised_only_where_it_separates_forms() -> None:
    scores = [f"{i / 70:.3f}" if i % 12 else f"see log {i}" for i in range(60)]
    with pytest.raises(DataError) as refused:
        pa.analyze({"x": X[:60], "verdict": [f"note {i % 5}" for i in range(60)], "y": scores}, "y")
    assert "where" not in str(refused.value)
