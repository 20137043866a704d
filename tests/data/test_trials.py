"""The rows as a table."""

from __future__ import annotations

import csv
import io
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import pedanova as pa
from pedanova.data.trials import lowest
from pedanova.errors import QueryError, UnknownParameterError

DATA: dict[str, Any] = {
    "lr": [0.1, 0.2, math.nan, 0.4, 0.5, 0.6],
    "opt": ["sgd", "adam", None, "adam", "sgd", "adam"],
    "loss": [3.0, 1.0, 2.0, math.inf, math.nan, 1.0],
}


@pytest.fixture
def a() -> pa.Analysis:
    return pa.analyze(DATA, "loss", direction="minimize", reading=pa.Reading(nan="worst"))


def test_best_first_with_what_is_missing_and_what_is_infinite(a: pa.Analysis) -> None:
    found = a.trials()
    assert found.to_dict() == {
        "row": [1, 5, 2, 0, 3, 4],
        "loss": [1.0, 1.0, 2.0, 3.0, math.inf, None],
        "lr": [0.2, 0.6, None, 0.1, 0.4, 0.5],
        "opt": ["adam", "adam", None, "sgd", "adam", "sgd"],
    }
    assert (found.objectives, found.parameters, found.total, len(found)) == (("loss",), ("lr", "opt"), 6, 6)


def test_rows_that_do_not_count_are_not_shown() -> None:
    a = pa.analyze(DATA, "loss", direction="minimize", reading=pa.Reading(nan="drop"))
    assert a.trials().to_dict()["row"] == [1, 5, 2, 0, 3]
    assert a.within("opt == 'adam'").trials().to_dict()["row"] == [1, 5, 3]


@pytest.mark.parametrize(
    ("how", "rows"),
    [
        ({"sort": "lr"}, [0, 1, 3, 4, 5, 2]),
        ({"sort": "lr", "descending": True}, [5, 4, 3, 1, 0, 2]),
        ({"sort": "opt"}, [1, 3, 5, 0, 4, 2]),
        ({"sort": "loss", "descending": True}, [3, 0, 2, 1, 5, 4]),
        ({"sort": "row", "descending": True}, [5, 4, 3, 2, 1, 0]),
        ({"limit": 2}, [1, 5]),
        ({"limit": 2, "offset": 1}, [5, 2]),
        ({"limit": 0}, []),
        ({"offset": 9}, []),
    ],
)
def test_order_and_pages(a: pa.Analysis, how: Any, rows: list[int]) -> None:
    assert a.trials(**how).to_dict()["row"] == rows


def test_larger_is_better_the_other_way_round() -> None:
    a = pa.analyze(DATA, "loss", direction="maximize", reading=pa.Reading(nan="worst"))
    assert a.trials().to_dict()["row"] == [3, 0, 2, 1, 5, 4]


@given(hnp.arrays(np.float64, st.integers(1, 40), elements=st.sampled_from([0.0, 1, 2, np.nan, np.inf, -np.inf])))
def test_pages_are_pieces_of_the_whole_order(keys: Any) -> None:
    rows = np.arange(len(keys))
    whole = lowest(keys, rows, len(keys)).tolist()
    assert whole == sorted(rows.tolist(), key=lambda i: (math.isnan(keys[i]), 0 if math.isnan(keys[i]) else keys[i], i))
    for many in range(len(keys)):
        assert lowest(keys, rows, many).tolist() == whole[:many]


def test_a_target_marks_its_rows() -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(size=200)
    a = pa.analyze({"x": x, "y": -x}, x + 1, params=["x", "y"])
    found = a.trials(0.1, 0.5, limit=None).to_dict()
    assert found["in"] == ["target"] * 20 + ["region"] * 80 + [None] * 100


def test_a_sample_is_the_same_again_and_in_order(a: pa.Analysis) -> None:
    some = a.trials(sample=3)
    assert some.to_dict() == a.trials(sample=3).to_dict()
    assert (len(some), some.total) == (3, 6)
    order = a.trials().to_dict()["row"]
    assert [order.index(row) for row in some.to_dict()["row"]] == sorted(order.index(r) for r in some.to_dict()["row"])
    assert a.trials(sample=99).to_dict() == a.trials().to_dict()


def test_csv_has_every_digit(a: pa.Analysis) -> None:
    lines = list(csv.DictReader(io.StringIO(a.trials().to_csv())))
    assert [line["loss"] for line in lines] == ["1.0", "1.0", "2.0", "3.0", "inf", ""]
    assert lines[2]["opt"] == ""


def test_several_objectives_and_numbers_of_trials() -> None:
    data = DATA | {"size": [1, 2, 3, 4, 5, 6], "number": [10, 11, 12, 13, 14, 15]}
    a = pa.analyze(data, ["loss", "size"], direction="minimize", params=["lr", "opt"], reading=pa.Reading(nan="drop"))
    found = a.trials().to_dict()
    assert list(found) == ["row", "trial", "loss", "size", "lr", "opt"]
    assert set(found["row"][:2]) == {0, 1}  # neither is worse in both
    assert found["trial"] == [10 + row for row in found["row"]]


def test_what_cannot_be_shown_is_refused(a: pa.Analysis) -> None:
    with pytest.raises(QueryError, match=r"sort='nothing'.*no column is called"):
        a.trials(sort="nothing")
    with pytest.raises(UnknownParameterError):
        a.trials(params=["nothing"])
    for how in ({"offset": -1}, {"limit": 1.5}, {"offset": None}, {"sample": True}):
        with pytest.raises(QueryError, match="must be a whole number"):
            a.trials(**how)  # type: ignore[arg-type]
