"""Folders of Lightning's loggers: settings, the last results, and which folder is meant."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import pedanova
from helpers.common import refuse
from helpers.logs import cells, read_untouched, tolerate, write
from helpers.tools import cut_short
from pedanova.errors import DataError
from pedanova.sources import read_records

HEADER = "epoch,step,train_loss,val_loss\n"


def run(folder: Path, number: int, hparams: str | None = None, metrics: str | None = None) -> Path:
    """One run: training and validation are logged in rows of their own."""
    place = folder / f"version_{number}"
    told = f"lr: {number / 10}\nnet:\n  depth: {number % 3}\nseed: 1\n" if hparams is None else hparams
    rows = f"0,4,0.9,\n0,4,,0.8\n1,9,0.7,\n1,9,,{number / 100}\n" if metrics is None else metrics
    write(place / "hparams.yaml", told)
    write(place / "metrics.csv", HEADER + rows)
    return place


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    for number in range(12):
        run(tmp_path / "lightning_logs", number)
    return tmp_path / "lightning_logs"


def test_runs(logs: Path) -> None:
    records = read_untouched(logs)
    assert records.metadata.source == "Lightning runs 'lightning_logs'"
    assert records.metadata.params == ("lr", "net.depth")
    assert records.metadata.metrics == ("train_loss", "val_loss")
    assert cells(records, "run")[:3] == ["version_0", "version_1", "version_2"]
    assert cells(records, "val_loss") == [number / 100 for number in range(12)]
    assert cells(records, "epoch") == [1] * 12
    assert len(pedanova.analyze(logs, "val_loss", scan=pedanova.Scan(threads=1))) == 12


def test_from_the_folder_above(logs: Path) -> None:
    assert read_records(logs.parent).rows == 12
    run(logs.parent / "csv" / "mnist", 0)
    refuse(DataError, "2 folders of Lightning runs", "study=", "csv/mnist", of=lambda: read_records(logs.parent))
    assert read_records(logs.parent, study="csv/mnist").rows == 1
    refuse(DataError, "'x'", "lightning_logs", of=lambda: read_records(logs.parent, study="x"))
    refuse(DataError, "single Lightning run", str(logs), of=lambda: read_records(logs / "version_3"))


def test_objects_among_the_settings_are_named_and_never_made(tmp_path: Path) -> None:
    """As Lightning writes functions, tuples, namespaces and whatever else a module was given."""
    for number in range(3):
        told = f"""
act: !!python/name:torch.nn.modules.activation.{"ReLU" if number else "GELU"} ''
sizes: !!python/tuple [1, {number}]
args: !!python/object:argparse.Namespace
  lr: 1e-{number}
boom: !!python/object/apply:os.system ['touch {tmp_path}/boom']
loss: !!python/object:some.Loss
  reduction: {number}
path: !!python/object/apply:pathlib.PosixPath [a, b]
"""
        run(tmp_path / "logs", number, told)
    records = read_records(tmp_path / "logs")
    assert cells(records, "act") == [f"torch.nn.modules.activation.{name}" for name in ("GELU", "ReLU", "ReLU")]
    assert cells(records, "sizes") == ["[1, 0]", "[1, 1]", "[1, 2]"]
    assert cells(records, "args.lr") == [1, 0.1, 0.01]
    assert cells(records, "loss.reduction") == [0, 1, 2]
    assert cells(records, "boom") == ["os.system"] * 3
    assert not (tmp_path / "boom").exists()


def test_runs_that_did_not_end_or_have_no_settings(logs: Path) -> None:
    run(logs, 3, metrics="")
    run(logs, 4, hparams="{}\n")
    run(logs, 5, hparams="lr: [0.")
    (logs / "version_6" / "metrics.csv").unlink()
    run(logs, 7, metrics="4,99,0.5,0.1\n5,1")
    records = read_records(logs)
    assert "2 runs have no settings in hparams.yaml; left out" in records.notes
    states = dict(zip(cells(records, "run"), cells(records, "state"), strict=True))
    assert {name for name, state in states.items() if state == "RUNNING"} == {"version_3", "version_6"}
    values = dict(zip(cells(records, "run"), cells(records, "val_loss"), strict=True))
    assert values["version_7"] == 0.1
    assert any("ran for 1 to 4 epochs" in note for note in records.notes)


def test_no_settings_at_all(tmp_path: Path) -> None:
    run(tmp_path, 0, hparams="{}\n")
    refuse(DataError, "save_hyperparameters", of=lambda: read_records(tmp_path))


def test_no_results_at_all(tmp_path: Path) -> None:
    for number in range(3):
        run(tmp_path, number, metrics="")
    refuse(DataError, "none of 3 runs has a result in metrics.csv", of=lambda: read_records(tmp_path))


def test_a_folder_of_a_name_of_its_own(tmp_path: Path) -> None:
    for number in range(3):
        run(tmp_path, number).rename(tmp_path / f"lr-{number}")
    assert read_records(tmp_path).rows == 3


@pytest.mark.parametrize("name", ["hparams.yaml", "metrics.csv"])
def test_cut_short(logs: Path, name: str) -> None:
    for _ in cut_short(logs / "version_3" / name, steps=12):
        tolerate(lambda: pedanova.analyze(logs, "val_loss", scan=pedanova.Scan(threads=1)))


@settings(max_examples=40)
@given(hparams=st.text(max_size=40), metrics=st.text(max_size=40))
def test_any_content(tmp_path_factory: pytest.TempPathFactory, hparams: str, metrics: str) -> None:
    folder = tmp_path_factory.mktemp("odd")
    run(folder, 1)
    run(folder, 2, hparams, metrics)
    write(folder / "version_3" / "metrics.csv", metrics)
    tolerate(lambda: pedanova.analyze(folder, "val_loss", scan=pedanova.Scan(threads=1)))


def test_scalars_of_numpy_are_numbers(tmp_path: Path) -> None:
    """As PyYAML writes them: the type by its letters and its order of bytes, the value as bytes."""
    for number in range(4):
        chosen = {
            "lr": np.float64(number / 10),
            "depth": np.int64(number),
            "net": {"width": np.float32(number / 4), "act": np.str_(f"a{number}")},
            "flag": np.bool_(number % 2),
        }
        run(tmp_path, number, yaml.dump(chosen))
    records = read_records(tmp_path)
    assert cells(records, "lr") == [0.0, 0.1, 0.2, 0.3]
    assert cells(records, "depth") == [0, 1, 2, 3]
    assert cells(records, "net.width") == [0.0, 0.25, 0.5, 0.75]
    assert cells(records, "net.act") == ["a0", "a1", "a2", "a3"]
    assert cells(records, "flag") == [False, True, False, True]


@pytest.mark.parametrize("content", ["AA==", "''", "mpmZmZmZuT8=", "[1]", "{a: 1}"])
@pytest.mark.parametrize("kind", ["f8", "O8", "x", "f99", "U3"])
def test_odd_scalars_of_numpy(content: str, kind: str, tmp_path: Path) -> None:
    text = (
        "lr: !!python/object/apply:numpy._core.multiarray.scalar\n- !!python/object/apply:numpy.dtype\n"
        f"  args: [{kind}, false, true]\n  state: !!python/tuple [3, <, null, null, null, -1, -1, 0]\n"
        f"- !!binary {content}\n"
    )
    for number in range(2):
        run(tmp_path, number, text)
    tolerate(lambda: read_records(tmp_path))
