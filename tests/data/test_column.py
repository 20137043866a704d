"""Equality picks the rows that are equal, and no others."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pedanova as pa
from helpers.common import COUNTS
from pedanova.data.column import as_column, encode, equals_any, values_in


def hits(values: object, *wanted: object) -> list[bool]:
    return equals_any(as_column("x", values), wanted).tolist()  # type: ignore[arg-type]


def test_consecutive_whole_numbers_are_told_apart() -> None:
    ids = np.arange(100_000_000, 100_000_040)
    assert sum(hits(ids, 100_000_000)) == 1
    assert sum(hits(ids, 100_000_003, 100_000_007.0)) == 2
    table = {"rid": ids, "x": np.linspace(0, 1, 40), "y": np.arange(40.0)}
    kept = pa.analyze(table, "y", params=["x"], where="rid in [100000000, 100000001]")
    assert len(kept) == 2
    large = np.array([2**62, 2**62 + 1], dtype=np.int64)
    assert hits(large, 2**62 + 1) == [False, True]


def test_neighbouring_doubles_are_told_apart() -> None:
    values = 1 + np.arange(20) * 1e-9
    assert sum(hits(values, 1.0)) == 1
    third = np.array([0.1 + 0.2, 0.3, 0.3 + 1e-12])
    assert hits(third, 0.3) == [True, True, False]  # a last place is the fault of arithmetic


def test_single_precision_means_the_number_that_was_written() -> None:
    single = np.array([0.1, 0.2, 0.1000001], dtype=np.float32)
    assert hits(single, 0.1) == [True, False, False]


def test_conditions_on_unix_times() -> None:
    random = np.random.default_rng(0)
    started = np.repeat([1_700_000_000, 1_700_000_060], 200)
    momentum = np.where(started == 1_700_000_000, random.random(400), np.nan)
    loss = random.random(400) + (started == 1_700_000_060)
    space = {
        "started": pa.Categorical([1_700_000_000, 1_700_000_060]),
        "momentum": pa.Float(0, 1, when={"started": 1_700_000_000}),
    }
    table = {"started": started, "momentum": momentum, "loss": loss}
    row = pa.analyze(table, "loss", space=space).importance(0.1, **COUNTS)["momentum"]
    assert row.activity == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("values", "wanted", "expected"),
    [
        (["a", "b", "1"], ("a",), [True, False, False]),
        (["0.10", "0.1", "x"], (0.1,), [True, True, False]),
        ([True, False, True], (True,), [True, False, True]),
        ([True, False], ("True",), [True, False]),
        ([1, 2, 3], ("2",), [False, True, False]),
        ([1.0, math.inf, math.nan], (math.inf,), [False, True, False]),
        ([1, 2], (1.5,), [False, False]),
        ([1, 2], (10**30,), [False, False]),
    ],
)
def test_kinds(values: list[object], wanted: tuple[object, ...], expected: list[bool]) -> None:
    assert hits(values, *wanted) == expected


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1), st.integers(-(2**63), 2**63 - 1))
def test_whole_numbers_are_exact(values: list[int], wanted: int) -> None:
    column = np.array(values, dtype=np.int64)
    assert hits(column, wanted) == [value == wanted for value in values]


def test_texts_have_the_same_codes_alone_and_beside_numbers() -> None:
    texts = ["b", None, "", "Z", "é", "a", "b", "10", "9"]
    alone, beside = encode("x", texts), encode("x", [*texts, 0.5])
    assert alone.labels == tuple(label for label in beside.labels or () if label != 0.5)
    assert values_in(alone) == values_in(beside)[:-1] == texts
    assert alone.values.dtype == beside.values.dtype
    assert encode("x", [None]).labels == encode("x", []).labels == ()
