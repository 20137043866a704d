"""Folders of Syne Tune: the space and the metric from its facts, the last row of each trial, how it was ended."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pedanova
from helpers.common import refuse
from helpers.logs import cells, read_untouched, tolerate, write
from helpers.tools import cut_short, odd_values, places_in, replaced
from pedanova.errors import DataError, FormatError
from pedanova.sources import read_records
from pedanova.space.parameters import Categorical, Float, Int, Ordinal

SPACE: dict[str, Any] = {
    "lr": {"domain_cls": "Float", "domain_kwargs": {"lower": 1e-4, "upper": 1.0}, "sampler_cls": "LogUniform"},
    "width": {"domain_cls": "Integer", "domain_kwargs": {"lower": 1, "upper": 16}, "sampler_cls": "Uniform"},
    "act": {"domain_cls": "Categorical", "domain_kwargs": {"categories": ["a", "b"]}},
    "batch": {"domain_cls": "OrdinalNearestNeighbor", "domain_kwargs": {"categories": [32, 8], "log_scale": True}},
    "drop": {"domain_cls": "FiniteRange", "domain_kwargs": {"lower": 0.1, "upper": 0.9, "size": 5}},
    "epochs": 3,
}
HEADER = "epoch,loss,st_worker_time,st_worker_iter,st_decision,st_status,trial_id," + ",".join(
    f"config_{name}" for name in SPACE
)


def rows_of(number: int, *, steps: int = 2, decision: str = "CONTINUE") -> list[str]:
    params = f"{0.001 * (number + 1)},{number % 16 + 1},{'ab'[number % 2]},{[8, 32][number % 2]},0.3,3"
    return [
        f"{step + 1},{number / 10 + 1 / (step + 1)},{step}.5,{step},{decision},InProgress,{number},{params}"
        for step in range(steps)
    ]


def tuning(folder: Path, lines: list[str] | None = None, **facts: Any) -> Path:
    about = {"metric_names": ["loss"], "metric_mode": "min", "config_space": json.dumps(SPACE)} | facts
    write(folder / "metadata.json", about)
    lines = [line for number in range(12) for line in rows_of(number)] if lines is None else lines
    with zipfile.ZipFile(folder / "results.csv.zip", "w") as packed:
        packed.writestr("results.csv", "\n".join([HEADER, *lines]) + "\n")
    (folder / "tuner.dill").write_bytes(b"never opened")
    return folder


def test_a_tuning(tmp_path: Path) -> None:
    records = read_untouched(tuning(tmp_path / "train"))
    metadata = records.metadata
    assert metadata.source == "Syne Tune experiment 'train'"
    assert dict(metadata.space or {}) == {
        "lr": Float(1e-4, 1.0, log=True), "width": Int(1, 16), "act": Categorical(("a", "b")),
        "batch": Ordinal((8, 32)), "drop": Float(0.1, 0.9),
    }  # fmt: skip
    assert (metadata.objectives, metadata.directions) == (("loss",), ("minimize",))
    assert cells(records, "loss") == pytest.approx([number / 10 + 0.5 for number in range(12)])
    assert cells(records, "trial") == list(range(12))
    assert cells(records, "iteration") == [2] * 12
    assert records.curves is not None
    curves = records.curves.read("loss")
    assert (len(curves.rows), list(curves.budgets)) == (24, [1, 2])
    assert len(pedanova.analyze(tmp_path, scan=pedanova.Scan(threads=1))) == 12


def test_how_trials_ended(tmp_path: Path) -> None:
    lines = [*rows_of(0), *rows_of(1, decision="STOP", steps=1), *rows_of(2, decision="PAUSE"), *rows_of(3, steps=3)]
    records = read_records(tuning(tmp_path, [*lines, *(line.replace("InProgress", "Failed") for line in rows_of(4))]))
    assert cells(records, "state") == ["COMPLETE", "PRUNED", "PRUNED", "COMPLETE", "FAIL"]
    assert any("ran for 2 to 3 iterations" in note for note in records.notes)


def test_several_tunings(tmp_path: Path) -> None:
    for name in ("one", "two"):
        tuning(tmp_path / name, metric_names=["loss", "epoch"], metric_mode=["min", "max"])
    refuse(DataError, "2 tunings", "study=", "two", of=lambda: read_records(tmp_path))
    refuse(DataError, "'three'", of=lambda: read_records(tmp_path, study="three"))
    refuse(DataError, "you need not name it", of=lambda: read_records(tmp_path / "one", study="two"))
    assert read_records(tmp_path, study="two").metadata.directions == ("minimize", "maximize")


def test_without_a_space(tmp_path: Path) -> None:
    """As older versions leave it, or where a domain is unknown."""
    assert read_records(tuning(tmp_path, config_space=None)).metadata.space is None
    unknown = json.dumps({"lr": {"domain_cls": "Quaternion", "domain_kwargs": {}}})
    records = read_records(tuning(tmp_path, config_space=unknown))
    assert any("'Quaternion' is not a known kind" in note for note in records.notes)
    assert records.metadata.params


def test_damaged(tmp_path: Path) -> None:
    folder = tuning(tmp_path)
    for name in ("metadata.json", "results.csv.zip"):
        for _ in cut_short(folder / name):
            tolerate(lambda: pedanova.analyze(folder, "loss", scan=pedanova.Scan(threads=1)))
    with zipfile.ZipFile(folder / "results.csv.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("results.csv", HEADER + "\n" + "0" * 40_000_000)
    refuse(FormatError, "times its size", of=lambda: read_records(folder))
    refuse(DataError, "no trials", of=lambda: read_records(tuning(tmp_path, [])))


@settings(max_examples=40, deadline=None)
@given(data=st.data(), value=odd_values, line=st.text(max_size=30))
def test_any_content(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, value: object, line: str) -> None:
    folder = tuning(tmp_path_factory.mktemp("odd"), [*rows_of(0), *rows_of(1), line])
    place = data.draw(st.sampled_from(places_in(SPACE)))
    write(folder / "metadata.json", {"metric_names": value, "metric_mode": value,
                                     "config_space": replaced(SPACE, place, value)})  # fmt: skip
    tolerate(lambda: pedanova.analyze(folder, "loss", scan=pedanova.Scan(threads=1)))
