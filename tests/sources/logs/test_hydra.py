"""Folders of Hydra: what was overridden in each job, and the file of results that the program left."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pedanova
from helpers.common import refuse
from helpers.logs import cells, read_untouched, tolerate, write
from helpers.tools import odd_values
from pedanova.errors import DataError
from pedanova.sources import read_records


def job(folder: Path, number: int, overrides: list[str] | None = None, **files: Any) -> Path:
    place = folder / str(number)
    lines = [f"lr={number / 10}", f"+net.depth={number % 3}", "model=cnn"] if overrides is None else overrides
    write(place / ".hydra" / "overrides.yaml", "".join(f"- {line}\n" for line in lines) or "[]\n")
    write(place / ".hydra" / "config.yaml", "lr: 0.5\nnet:\n  depth: 9\nmodel:\n  width: 3\n")
    write(place / ".hydra" / "hydra.yaml", "hydra:\n  runtime:\n    choices:\n      model: mlp\n")
    write(place / "train.log", "loss 0.5\n")
    for name, content in (files or {"metrics": {"loss": number / 100, "name": "x", "done": True}}).items():
        write(place / f"{name}.json", content)
    return place


@pytest.fixture
def sweep(tmp_path: Path) -> Path:
    folder = tmp_path / "multirun" / "2025-05-22" / "16-04-50"
    write(folder / "multirun.yaml", "hydra:\n  mode: MULTIRUN\n")
    for number in range(12):
        job(folder, number)
    return folder


def test_a_sweep(sweep: Path) -> None:
    records = read_untouched(sweep)
    assert records.metadata.source == "Hydra jobs '16-04-50'"
    assert records.metadata.params == ("lr", "net.depth")
    assert records.metadata.objectives == ("loss",)
    assert cells(records, "job") == [str(number) for number in range(12)]
    assert cells(records, "loss") == [number / 100 for number in range(12)]
    assert "results are taken from metrics.json" in records.notes
    assert "parameters with the same value in every trial are left out: model" in records.notes
    assert len(pedanova.analyze(sweep, scan=pedanova.Scan(threads=1))) == 12


def test_from_above(sweep: Path) -> None:
    root = sweep.parents[1]
    assert read_records(root).rows == 12
    job(root / "2025-05-23" / "10-00-00", 0)
    refuse(DataError, "study=", "2025-05-23/10-00-00", of=lambda: read_records(root))
    assert read_records(root, study="2025-05-22/16-04-50").rows == 12
    refuse(DataError, "single Hydra job", of=lambda: read_records(sweep / "3"))


def test_a_default_stands_where_nothing_was_overridden(sweep: Path) -> None:
    job(sweep, 12, ["lr=1e-3"])
    job(sweep, 13, [])
    records = read_records(sweep)
    assert cells(records, "lr")[-2:] == [0.001, 0.5]
    assert cells(records, "net.depth")[-1] == 9
    assert cells(records, "model")[-2:] == ["mlp", "mlp"]
    assert records.metadata.params == ("lr", "net.depth", "model")


def test_values_of_overrides(tmp_path: Path) -> None:
    lines = [["a=true", "b='x y'", "c=[1, 2]", "d=null", "e=a=b", "~gone", "hydra.x=1", "f={"], ["a=false", "b=z"]]
    for number, overrides in enumerate(lines):
        job(tmp_path, number, overrides)
    records = read_records(tmp_path)
    assert cells(records, "a") == [True, False]
    assert cells(records, "b") == ["x y", "z"]
    assert cells(records, "c") == ["[1, 2]", None]
    assert cells(records, "e") == ["a=b", None]
    assert cells(records, "f") == ["{", None]
    assert not {"gone", "hydra.x"} & set(records.columns)


def test_several_files_of_results(sweep: Path) -> None:
    """A name that two files have stands behind that of its file."""
    for number in range(12):
        write(sweep / str(number) / "csv" / "version_0" / "metrics.csv", f"epoch,loss,acc\n0,9,0.1\n1,8,{number}\n")
        write(sweep / str(number) / "csv" / "version_0" / "hparams.yaml", "loss: 3\n")
        write(sweep / str(number) / "final.yaml", f"test: {{f1: {number}}}\n")
        write(sweep / str(number) / "steps.json", [{"reward": 1}, {"reward": number}])
        write(sweep / str(number) / "log.jsonl", f'{{"bleu": 1}}\n{{"bleu": {number}}}\n{{"bl')
    records = read_records(sweep)
    assert cells(records, "metrics.json:loss")[5] == 0.05
    assert cells(records, "csv/version_0/metrics.csv:loss") == [8] * 12
    assert cells(records, "acc")[5] == cells(records, "test.f1")[5] == cells(records, "reward")[5] == 5
    assert cells(records, "bleu")[5] == 5
    assert pedanova.analyze(sweep, "metrics.json:loss", scan=pedanova.Scan(threads=1)).objective == "metrics.json:loss"


def test_jobs_without_results(sweep: Path) -> None:
    (sweep / "3" / "metrics.json").unlink()
    write(sweep / "4" / "metrics.json", '{"loss": 0.')
    write(sweep / "5" / ".hydra" / "overrides.yaml", "- lr=[\n- {")
    write(sweep / "6" / ".hydra" / "overrides.yaml", "a: 1")
    records = read_records(sweep)
    states = dict(zip(cells(records, "job"), cells(records, "state"), strict=True))
    assert [name for name, state in states.items() if state == "RUNNING"] == ["3", "4"]
    assert "2 jobs have no overrides that can be read; left out" in records.notes
    for place in sweep.glob("*/metrics.json"):
        place.unlink()
    refuse(DataError, "none of the 12 job folders contains a file", "metrics.json", of=lambda: read_records(sweep))


@settings(max_examples=40)
@given(overrides=st.text(max_size=40), config=st.text(max_size=40), results=odd_values)
def test_any_content(tmp_path_factory: pytest.TempPathFactory, overrides: str, config: str, results: object) -> None:
    folder = tmp_path_factory.mktemp("odd")
    job(folder, 1)
    place = job(folder, 2, metrics=results)
    write(place / ".hydra" / "overrides.yaml", overrides)
    write(place / ".hydra" / "config.yaml", config)
    write(place / ".hydra" / "hydra.yaml", config)
    tolerate(lambda: pedanova.analyze(folder, "loss", scan=pedanova.Scan(threads=1)))
