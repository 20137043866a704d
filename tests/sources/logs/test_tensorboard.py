"""Event files with settings of the hparams plugin, written by TensorBoard's own writer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import pedanova
from helpers.common import refuse
from helpers.logs import cells, read_untouched, tolerate, write
from helpers.tools import cut_short
from pedanova.errors import DataError, FormatError, MissingLibraryError
from pedanova.sources import read_records
from pedanova.sources.logs.tensorboard import read_events

pytest.importorskip("tensorboard")


def plugin(tag: str, **data: Any) -> Any:
    """A message of the plugin, as it stands in an event file."""
    from tensorboard.compat.proto.summary_pb2 import Summary, SummaryMetadata
    from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData

    content = HParamsPluginData(version=0, **data).SerializeToString()
    held = SummaryMetadata.PluginData(plugin_name="hparams", content=content)
    return Summary.Value(tag=f"_hparams_/{tag}", metadata=SummaryMetadata(plugin_data=held))


def session(settings: Mapping[str, Any]) -> Any:
    from google.protobuf.struct_pb2 import Struct
    from tensorboard.plugins.hparams.plugin_data_pb2 import SessionStartInfo

    values = Struct()
    values.update(dict(settings))
    return plugin("session_start_info", session_start_info=SessionStartInfo(hparams=dict(values.fields)))


def events(
    folder: Path,
    settings: Mapping[str, Any] | None = None,
    curves: Mapping[str, list[float]] | None = None,
    *,
    metrics: tuple[str, ...] = (),
    status: int | None = None,
) -> Path:
    """One event file with the settings of a session and numbers by step."""
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.plugins.hparams import api_pb2
    from tensorboard.plugins.hparams.plugin_data_pb2 import SessionEndInfo
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    infos = [api_pb2.MetricInfo(name=api_pb2.MetricName(tag=name)) for name in metrics]
    values = [(0, plugin("experiment", experiment=api_pb2.Experiment(metric_infos=infos)))] if metrics else []
    values += [(0, session(settings))] if settings is not None else []
    for name, numbers in (curves or {}).items():
        values += [(step, Summary.Value(tag=name, simple_value=number)) for step, number in enumerate(numbers)]
    if status is not None:
        values.append((0, plugin("session_end_info", session_end_info=SessionEndInfo(status=status))))
    writer = EventFileWriter(str(folder))
    for step, value in values:
        writer.add_event(Event(step=step, summary=Summary(value=[value])))
    writer.close()
    return next(folder.glob("events.out.tfevents.*"))


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    for number in range(12):
        settings = {"lr": number / 8, "depth": number % 3, "opt": "sgd" if number % 2 else "adam", "flag": number > 5}
        events(tmp_path / "runs" / f"run-{number:02d}", settings, {"loss": [9.0, number / 4]}, metrics=("loss",))
    return tmp_path / "runs"


def test_sessions(runs: Path) -> None:
    records = read_untouched(runs)
    assert records.metadata.source == "TensorBoard runs 'runs'"
    assert records.metadata.params == ("depth", "flag", "lr", "opt")
    assert records.metadata.objectives == ("loss",)
    assert cells(records, "lr") == [number / 8 for number in range(12)]
    assert cells(records, "depth") == [number % 3 for number in range(12)]
    assert cells(records, "flag") == [number > 5 for number in range(12)]
    assert cells(records, "loss") == [number / 4 for number in range(12)]
    assert len(pedanova.analyze(runs, scan=pedanova.Scan(threads=1))) == 12


def test_folders_inside_and_beside(tmp_path: Path) -> None:
    """Keras writes train and validation into folders; PyTorch's add_hparams a folder for the settings alone."""
    for number in range(3):
        keras = tmp_path / "keras" / str(number)
        events(keras, {"lr": number})
        events(keras / "validation", curves={"epoch_loss": [3.0, number]})
        torch = tmp_path / "torch" / f"run{number}"
        events(torch, curves={"loss/train": [3.0, number], "hparam/acc": [8.0]})
        events(torch / f"17000000{number}.25", {"lr": number}, {"hparam/acc": [number / 2]})
    keras_runs, torch_runs = read_records(tmp_path / "keras"), read_records(tmp_path / "torch")
    assert cells(keras_runs, "validation/epoch_loss") == [0, 1, 2]
    assert cells(torch_runs, "hparam/acc") == [0, 0.5, 1]
    assert cells(torch_runs, "loss/train") == [0, 1, 2]
    assert cells(torch_runs, "run") == ["run0", "run1", "run2"]


def test_states(runs: Path) -> None:
    from tensorboard.plugins.hparams.api_pb2 import STATUS_FAILURE, STATUS_SUCCESS

    events(runs / "run-90", {"lr": 1}, {"loss": [1.0]}, status=STATUS_FAILURE)
    events(runs / "run-91", {"lr": 1}, {"loss": [1.0, 1.0, 1.0]}, status=STATUS_SUCCESS)
    events(runs / "run-92", {"lr": 1})
    records = read_records(runs)
    assert cells(records, "state")[-3:] == ["FAIL", "COMPLETE", "RUNNING"]
    assert any("ran for 1 to 2 steps" in note for note in records.notes)


def test_lightning_without_a_csv(tmp_path: Path) -> None:
    """Its TensorBoard logger leaves hparams.yaml beside event files; -1 is what it writes before any result."""
    for number in range(4):
        place = tmp_path / f"version_{number}"
        events(place, {"lr": number}, {"hp_metric": [-1.0], "val_loss": [2.0, number], "epoch": [0, 1]})
        write(place / "hparams.yaml", f"lr: {number}\n")
    records = read_untouched(tmp_path)
    assert records.metadata.source.startswith("Lightning runs")
    assert records.metadata.objectives == ("val_loss",)
    assert cells(records, "val_loss") == [0, 1, 2, 3]


def test_refusals(tmp_path: Path, runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refuse(DataError, "study", of=lambda: read_records(runs, study="x"))
    refuse(DataError, "single run", of=lambda: read_records(runs / "run-03"))
    events(tmp_path / "bare", curves={"loss": [1.0]})
    refuse(DataError, "but none has settings", "add_hparams", of=lambda: read_records(tmp_path / "bare"))
    monkeypatch.setitem(__import__("sys").modules, "tensorboard.backend.event_processing", None)
    refuse(MissingLibraryError, "pip install 'tensorboard>=", of=lambda: read_records(runs))


def test_damaged_files(runs: Path) -> None:
    file = next((runs / "run-03").iterdir())
    for size in cut_short(file, steps=30):
        tolerate(lambda: pedanova.analyze(runs, "loss", scan=pedanova.Scan(threads=1)))
        if size:
            read_events(file.parent)  # what is cut off is left out
    content = bytearray(file.read_bytes())
    content[40:60] = b"\xff" * 20
    file.write_bytes(content)
    tolerate(lambda: pedanova.analyze(runs, "loss", scan=pedanova.Scan(threads=1)))
    file.write_bytes(b"no events at all, but text " * 9)
    tolerate(lambda: read_events(file.parent))
    assert issubclass(FormatError, ValueError)
