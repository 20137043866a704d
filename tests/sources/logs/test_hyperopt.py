"""Trials of Hyperopt: the object, the list, and JSON dumps of it."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pedanova
from helpers.common import refuse
from helpers.logs import cells, read_untouched, tolerate, write
from pedanova.errors import DataError, FormatError
from pedanova.sources import read_records


def trial(n: int, *, status: str = "ok", state: int = 2, **vals: list[Any]) -> dict[str, Any]:
    """One trial document."""
    own = {"lr": [np.float64(n / 10)], "c": [np.int64(n % 2)], "x; 'ü'": [0.5 * n] if n % 2 else []}
    return {
        "state": state,
        "tid": n,
        "spec": None,
        "result": {"loss": float(n), "status": status, "acc": 0.1 * n, "history": [1, 2], "note": "text"},
        "misc": {"tid": n, "cmd": ("domain_attachment", "x"), "workdir": None, "idxs": {}, "vals": own | vals},
        "exp_key": "first" if n < 5 else "second",
        "owner": None,
        "version": 0,
        "book_time": datetime(2024, 1, 1),
        "refresh_time": None,
    }


class Trials:
    """As `hyperopt.Trials` keeps them."""

    def __init__(self, trials: list[Any]) -> None:
        self._dynamic_trials = self.trials = trials


TRIALS = [trial(n) for n in range(10)]


def plain(value: object) -> object:
    return value.item() if isinstance(value, np.generic) else str(value)


@pytest.mark.parametrize("form", ["object", "list", "file", "file of an object"])
def test_every_form(tmp_path: Path, form: str) -> None:
    content = json.dumps({"trials": TRIALS} if form == "file of an object" else TRIALS, default=plain)
    path = write(tmp_path / "t.json", content)
    data = {"object": Trials(TRIALS), "list": TRIALS}.get(form)
    records = read_untouched(path) if data is None else read_records(data)
    assert records.metadata.params == ("lr", "c", "x; 'ü'")
    assert records.metadata.objectives == ("loss",)
    assert records.metadata.directions == ("minimize",)
    assert records.metadata.metrics == ("loss", "acc")
    assert cells(records, "c") == [0, 1] * 5
    assert cells(records, "x; 'ü'")[:2] == [None, 0.5]
    assert any("a value of hp.choice as a number" in note for note in records.notes)
    a = pedanova.analyze(path if data is None else data, scan=pedanova.Scan(threads=1))
    assert not any("minimised" in note for note in a.notes)


def test_states() -> None:
    odd = [
        trial(0),
        trial(1, status="fail"),
        trial(2, status="new", state=0),
        trial(3, status="running", state=1),
        trial(4, status="", state=3),
        trial(5, status="suspended", state=4),
    ]
    odd[1]["result"] = {"status": "fail"}
    odd[4]["result"] = None
    records = read_records(Trials(odd))
    assert cells(records, "state") == ["COMPLETE", "FAIL", "RUNNING", "RUNNING", "FAIL", "FAIL"]
    assert cells(records, "loss")[1] is None


def test_experiments_by_key() -> None:
    assert read_records(TRIALS, study="second").rows == 5
    refuse(DataError, "'third'", "exp_key", of=lambda: read_records(TRIALS, study="third"))


def test_what_cannot_be_read(tmp_path: Path) -> None:
    refuse(DataError, "no trials", of=lambda: read_records(Trials([])))
    refuse(FormatError, "trial 1", "misc.vals", of=lambda: read_records([TRIALS[0], {"tid": 1}]))
    refuse(FormatError, "'lr' has 2 values", of=lambda: read_records([trial(0, lr=[1, 2])]))
    text = json.dumps(TRIALS, default=plain)
    refuse(FormatError, "t.json", "not valid JSON", of=lambda: read_records(write(tmp_path / "t.json", text[:-40])))
    marks = {"tid": 1, "misc": {"vals": {}}}
    refuse(FormatError, "t.json", "list of trials", of=lambda: read_records(write(tmp_path / "t.json", marks)))
    refuse(FormatError, "a.json", "not a table", of=lambda: read_records(write(tmp_path / "a.json", {"x": 1})))
    refuse(DataError, "pickle", of=lambda: read_records(write(tmp_path / "trials.pkl", "x")))


ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
CHANGES = st.dictionaries(st.sampled_from(["result", "misc", "state", "tid", "exp_key"]), ODD)
VALS = st.fixed_dictionaries({"vals": st.dictionaries(st.text(max_size=3), ODD, max_size=3)})


@settings(max_examples=80)
@given(changes=CHANGES, vals=VALS, cut=st.integers(0, 2000))
def test_any_content(tmp_path_factory: pytest.TempPathFactory, changes: Any, vals: Any, cut: int) -> None:
    tolerate(lambda: pedanova.analyze([trial(0), trial(1) | changes, trial(2)], scan=pedanova.Scan(threads=1)))
    tolerate(lambda: pedanova.analyze([trial(0), trial(1) | {"misc": vals}, trial(2)], scan=pedanova.Scan(threads=1)))
    path = tmp_path_factory.mktemp("odd") / "t.json"
    write(path, json.dumps(TRIALS, default=plain)[:cut])
    tolerate(lambda: pedanova.analyze(path, scan=pedanova.Scan(threads=1)))
