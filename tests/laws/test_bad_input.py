"""Input that lies: every case ends in one line that names the value at fault, never in a traceback."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import pedanova
from helpers.common import COUNTS, refuse
from pedanova import Categorical, Float, Int, Ordinal
from pedanova.analysis.options import nested
from pedanova.errors import DataError, OutsideSpaceError, PedanovaError, QueryError, SpaceError

ROWS = 60
TABLE = {
    "lr": [0.001 * (i + 1) for i in range(ROWS)],
    "optimizer": ["adam" if i % 3 else "sgd" for i in range(ROWS)],
    "digits": ["10" if i % 2 == 0 else "x2" for i in range(ROWS)],
    "loss": [float(i * 37 % ROWS) for i in range(ROWS)],
}


def analyze(data: object = TABLE, objective: object = "loss", **options: Any) -> pedanova.Analysis:
    return pedanova.analyze(data, objective, **{"scan": pedanova.Scan(threads=1), **options})


# The objective


@pytest.mark.parametrize(
    ("objective", "parts"),
    [
        pytest.param("los", ("'los'", "'loss'"), id="typo"),
        pytest.param("accuracy", ("'accuracy'", "lr"), id="unknown"),
        pytest.param("", ("''",), id="empty name"),
        pytest.param("optimizer", ("'optimizer'", "text", "adam"), id="text"),
        pytest.param([1.0] * ROWS, ("1 in every row",), id="constant"),
        pytest.param([True] * ROWS, ("1 in every row",), id="constant boolean"),
        pytest.param([np.inf] * ROWS, ("inf in every row",), id="all infinite"),
        pytest.param(np.full(ROWS, np.nan), (f"NaN in all {ROWS} rows",), id="all NaN"),
        pytest.param([None] * ROWS, (f"no value in any of {ROWS} rows",), id="all None"),
        pytest.param([1.0, 2.0], ("2 values", f"{ROWS}"), id="too short"),
        pytest.param([], ("0 values", f"{ROWS}"), id="empty list"),
        pytest.param(5, ("5",), id="a number"),
        pytest.param(b"loss", ("b'loss'",), id="bytes"),
        pytest.param({"loss": 1}, ("{'loss': 1}",), id="a dict"),
        pytest.param(np.zeros((ROWS, 2)), ("(60, 2)",), id="a matrix"),
        pytest.param(np.array(3.0), ("()",), id="a scalar array"),
        pytest.param(pd.DataFrame({"a": [1] * ROWS}), ("DataFrame",), id="a frame"),
        pytest.param([dt.date(2024, 1, 1 + i % 9) for i in range(ROWS)], ("2024-01-01",), id="dates"),
        pytest.param(np.arange(ROWS).astype("M8[D]"), ("dates",), id="NumPy dates"),
        pytest.param(np.full(ROWS, 1j), ("complex128",), id="complex"),
        pytest.param([[1.0, 2.0]] * ROWS, ("[1.0, 2.0]",), id="nested"),
    ],
)
def test_bad_objectives(objective: object, parts: tuple[str, ...]) -> None:
    refuse(DataError, *parts, of=lambda: analyze(objective=objective))


def test_a_missing_objective_lists_the_columns() -> None:
    two = {"lr": [0.1, 0.2] * 10, "recall": [i * 7 % 20 / 20 for i in range(20)], "qps": [i % 7 for i in range(20)]}
    parts = "objective=", "parameters: lr; results: ", "recall", "yes=True"
    refuse(QueryError, *parts, of=lambda: pedanova.analyze(two))


# Tables


@pytest.mark.parametrize(
    ("data", "parts"),
    [
        pytest.param(None, ("NoneType",), id="None"),
        pytest.param(5, ("int",), id="a number"),
        pytest.param([1, 2], ("list",), id="a list"),
        pytest.param(b"t.csv", ("bytes",), id="bytes"),
        pytest.param(pd.Series([1, 2]), ("Series",), id="a series"),
        pytest.param({}, ("'loss'",), id="no columns"),
        pytest.param({"loss": [1, 2]}, ("'loss'", "no column beside"), id="only the objective"),
        pytest.param({"x": [], "loss": []}, ("no rows",), id="no rows"),
        pytest.param({"x": [1], "loss": [1, 2]}, ("x has 1", "loss has 2"), id="ragged"),
        pytest.param({"x": 5, "loss": [1, 2]}, ("x: 5",), id="a scalar column"),
        pytest.param({"x": "ab", "loss": [1, 2]}, ("'ab'",), id="a text column"),
        pytest.param({"x": {0: 1, 1: 2}, "loss": [1, 2]}, ("{0: 1, 1: 2}",), id="a dict column"),
        pytest.param({"x": {1, 2}, "loss": [1, 2]}, ("{1, 2}",), id="a set column"),
        pytest.param({"x": np.zeros((2, 2)), "loss": [1, 2]}, ("x", "(2, 2)"), id="a matrix column"),
        pytest.param({"x": [1j, 2], "loss": [1, 1]}, ("1 in every row",), id="complex and constant"),
        pytest.param({"x": np.array([1j, 2]), "loss": [1, 2]}, ("x", "complex128"), id="complex"),
        pytest.param({1: [1], "1": [2], "loss": [1]}, ("'1'", "two columns"), id="names alike"),
        pytest.param({"x": [None, None], "loss": [1, 2]}, ("x: has no value",), id="nothing to use"),
        pytest.param(pa.table([[1], [2]], names=["a", "a"]), ("'a'", "two columns"), id="Arrow names twice"),
        pytest.param(pd.DataFrame([[1, 2]], columns=["a", "a"]), ("'a'", "two"), id="pandas names twice"),
        pytest.param(pl.LazyFrame({"x": [1]}).select("gone"), ("gone",), id="lazy, no such column"),
        pytest.param(pl.scan_csv("nowhere.csv"), ("nowhere.csv",), id="lazy, no such file"),
        pytest.param(np.zeros(3), ("(3,)",), id="1-D array"),
        pytest.param(np.zeros((2, 2, 2)), ("(2, 2, 2)",), id="3-D array"),
        pytest.param(np.zeros((2, 2), dtype=[("x", "f8")]), ("(2, 2)",), id="2-D structured array"),
        pytest.param(np.zeros(2, dtype=[("x", "f8", 3), ("loss", "f8")]), ("x", "(2, 3)"), id="array field"),
    ],
)
def test_bad_tables(data: object, parts: tuple[str, ...]) -> None:
    refuse(DataError, *parts, of=lambda: analyze(data))


@pytest.mark.parametrize(
    ("names", "parts"), [(["x"], ("1 names", "2 columns")), (["x", "x"], ("'x'",)), ("xy", ("'xy'",)), (5, ("5",))]
)
def test_bad_names(names: Any, parts: tuple[str, ...]) -> None:
    refuse(DataError, *parts, of=lambda: analyze(np.zeros((3, 2)), [1, 2, 3], names=names))
    refuse(DataError, "names=", of=lambda: analyze(names=names))


# Options


@pytest.mark.parametrize(
    ("option", "value", "part"),
    [
        *[
            ("direction", value, repr(value))
            for value in ("down", "", 1, True, ["minimize", "maximize"], np.array(["a", "b"]))
        ],
        *[("nan", value, repr(value)) for value in ("keep", None, 0, ["drop"])],
        *[("outside", value, repr(value)) for value in ("ignore", None, 3)],
        *[("threads", value, repr(value)) for value in (0, -1, 1.5, "2", True, float("nan"))],
        *[("levels", value, repr(value)) for value in (0.1, "0.1", 5, True)],
        *[("levels", [value], str(value)) for value in (0, 1.5, -1, float("nan"), "abc", None, True)],
        *[("params", value, repr(value)) for value in (5, [], True)],
        *[("params", [value], repr(value)) for value in (5, None, ["lr"], "typo", "loss", "")],
        *[("exclude", value, repr(value)) for value in (5, True)],
        *[("exclude", [value], repr(value)) for value in (5, None, ["lr"], "typo", "")],
        ("exclude", ["lr", "optimizer", "digits"], "leave no parameter"),
        *[("space", value, repr(value)) for value in (5, "lr", ["lr"])],
        *[("space", {"lr": value}, f"lr: {value!r}") for value in (5, None, (0, 1), Float)],
        *[("space", {value: Float(0, 1)}, repr(value)) for value in (5, "", None)],
        ("space", {}, "leave no parameter"),
    ],
)
def test_bad_options(option: str, value: object, part: str) -> None:
    refuse(PedanovaError, " ".join(part.split()), of=lambda: analyze(**nested({option: value})))


@pytest.mark.parametrize("name", ["target", "region"])
@pytest.mark.parametrize(
    "value", [0, 1.5, -1, -0.1, float("nan"), float("inf"), None, "abc", True, [0.1], 1j, Decimal("NaN")]
)
def test_bad_targets(name: str, value: Any) -> None:
    found = analyze()
    part = f"{name}={value!r}" if isinstance(value, str | Decimal) else f"{name}={value}"
    refuse(QueryError, part, of=lambda: found.importance(**{name: value}, **COUNTS))
    refuse(QueryError, part, of=lambda: found.densities("lr", **{name: value}))


@pytest.mark.parametrize(
    ("target", "region", "parts"),
    [
        (0.5, 0.2, ("50 %", "20 %", "outside")),
        (0.2, 0.2, ("20 %", "same")),
        (1.0, 1.0, ("all rows",)),
        (Fraction(1, 2), 0.5, ("50 %",)),
        (pedanova.at_most(-1), 1.0, ("-1", "no row")),
        (pedanova.at_least(1e9), 1.0, ("1e9", "no row")),
        (pedanova.at_most(30), pedanova.at_most(10), ("30", "10")),
        (pedanova.at_most(1e9), 1.0, ("1e9", "same")),
    ],
)
def test_targets_that_do_not_fit_their_region(target: Any, region: Any, parts: tuple[str, ...]) -> None:
    refuse(QueryError, *parts, of=lambda: analyze().importance(target, region, **COUNTS))


# The space


@pytest.mark.parametrize(
    ("name", "parameter", "parts"),
    [
        ("lr", Float(0.0105, 1), ("lr", "row 0", "0.001", "outside 0.0105 … 1 ", "10 rows")),
        ("lr", Float(0, 0.0305), ("lr", "row 30", "0.031", "outside 0 … 0.0305 ", "30 rows")),
        ("lr", Int(0, 5), ("lr", "row 0", "0.001", "outside 0 … 5 ")),
        ("lr", Ordinal([0.001, 0.002]), ("lr", "row 2", "0.003", "0.001", "0.002")),
        ("lr", Categorical(["a", "b"]), ("lr", "row 0", "0.001", "outside a, b")),
        ("optimizer", Categorical(["adam"]), ("optimizer", "row 0", "'sgd'", "outside adam")),
        ("optimizer", Float(0, 1), ("optimizer", "row 0", "'sgd'", "outside 0 … 1 ")),
        ("digits", Float(0, 5), ("digits", "row 0", "'10'", "outside 0 … 5")),
        ("optimizer", Int(0, 5), ("optimizer", "row 0", "'sgd'", "outside 0 … 5 ")),
        ("optimizer", Ordinal([1, 2]), ("optimizer", "row 0", "'sgd'", "outside 1, 2")),
    ],
)
def test_values_outside_the_space(name: str, parameter: Any, parts: tuple[str, ...]) -> None:
    refuse(OutsideSpaceError, *parts, "outside='count'", of=lambda: analyze(space={name: parameter}))
    assert any(
        "outside the space" in note
        for note in analyze(space={name: parameter}, reading=pedanova.Reading(outside="count")).notes
    )


def test_one_row_outside_is_not_called_several() -> None:
    values = [0.5] * ROWS
    values[41] = 2.0
    with pytest.raises(OutsideSpaceError, match=r"x: row 41 has 2\.0, outside 0 … 1;") as caught:
        analyze({"x": values, "loss": TABLE["loss"]}, space={"x": Float(0, 1)})
    assert "rows in all" not in str(caught.value)


def test_a_space_against_the_table() -> None:
    space = {"lr": Float(0, 1)}
    refuse(DataError, "'lrr'", "'lr'", of=lambda: analyze(space={"lrr": Float(0, 1)}))
    refuse(SpaceError, "'loss'", of=lambda: analyze(space={**space, "loss": Float(0, 100)}))
    refuse(SpaceError, "optimizer", "which the space lacks", of=lambda: analyze(space=space, params=["optimizer"]))
    days = {"day": np.arange(ROWS).astype("M8[D]"), "loss": TABLE["loss"]}
    for parameter in (Float(0, 100), Int(0, 100), Categorical(["a"])):
        refuse(DataError, "day", "dates", of=lambda p=parameter: analyze(days, space={"day": p}))


def test_odd_arguments_of_the_wrong_type_altogether() -> None:
    a = pedanova.analyze({"x": np.arange(60) % 7, "y": np.arange(60.0)}, "y", params=["x"])
    for call in (
        lambda: pedanova.at_most(10**400),
        lambda: a.importance(baseline=np.array(["a", "b"]), **COUNTS),  # type: ignore[arg-type]
        lambda: a.densities(["x"]),  # type: ignore[arg-type]
        lambda: pedanova.load(5),  # type: ignore[arg-type]
        lambda: a.save(5),  # type: ignore[arg-type]
        lambda: pedanova.analyze(
            {"x": np.arange(60)}, np.arange(60.0), reading=pedanova.Reading(nan=np.array(["a", "b"]))
        ),  # type: ignore[arg-type]
        lambda: pedanova.analyze({"x": np.arange(60)}, np.arange(60.0), levels=a),  # type: ignore[arg-type]
    ):
        with pytest.raises(PedanovaError) as caught:
            call()
        assert len(str(caught.value).splitlines()) == 1


def test_a_table_of_very_many_columns_keeps_fewer_levels(monkeypatch: pytest.MonkeyPatch) -> None:
    from pedanova.counting import countable as module

    monkeypatch.setattr(module, "LARGEST_TALLIES", 10_000)
    random = np.random.default_rng(0)
    a = pedanova.analyze(random.random((100, 5)), random.random(100))
    assert a.data.levels.count <= 7
    assert not a.data.levels.complete
    assert a.importance(0.033, **COUNTS).rows[0].n_target == 4  # counted on request
