"""TensorBoard and Lightning: folders of runs with event files or metrics.csv.

For TensorBoard, each folder has one session of the hparams plugin; Lightning's loggers write hparams.yaml.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from pedanova.base.progress import watched
from pedanova.data.records import Records, SourceMetadata
from pedanova.errors import DataError, FormatError, PedanovaError, missing_library
from pedanova.sources.logs import trials as logs
from pedanova.sources.reader import read_yaml

PATTERN = "events.out.tfevents.*"
PLUGIN = "hparams"
STATES = {1: "COMPLETE", 2: "FAIL", 3: "RUNNING"}  # numbers of the plugin
DEEPEST = 4
LOOK_AT = 200
STAMP = re.compile(r"\d{9,}(\.\d+)?")  # the folder that PyTorch's add_hparams creates inside that of the run


@dataclass(slots=True)
class Events:
    """The content of the event files of one folder: metrics by step, and the parameters of the hparams plugin."""

    curves: dict[str, list[tuple[int, float]]] = field(default_factory=dict)
    settings: dict[str, object] | None = None
    state: str | None = None  # None if the end of the run was not logged
    metrics: tuple[str, ...] = ()  # metrics that the plugin lists

    @property
    def last(self) -> dict[str, float]:
        """The value of each metric at the highest step; if this step has several values, the one written last."""
        return {name: max(enumerate(points), key=lambda one: (one[1][0], one[0]))[1][1]
                for name, points in self.curves.items()}  # fmt: skip

    @property
    def steps(self) -> int | None:
        return max((step for points in self.curves.values() for step, _ in points), default=None)


def has_events(folder: Path) -> bool:
    return next(folder.glob(PATTERN), None) is not None


def read_events(folder: Path) -> Events:
    """Read all event files directly in a folder, sorted by name; an incomplete last record is left out."""
    events = Events()
    for file in sorted(folder.glob(PATTERN)):
        plugins: dict[str, str] = {}
        for step, value in _values(file):
            plugin = value.metadata.plugin_data
            plugins.setdefault(value.tag, plugin.plugin_name)
            if plugins[value.tag] == PLUGIN:
                _take_settings(events, plugin.content, file)
            elif plugins[value.tag] == "scalars" and value.HasField("tensor"):
                from tensorboard.util import tensor_util

                try:
                    number = float(tensor_util.make_ndarray(value.tensor))
                except (TypeError, ValueError):
                    words = f"{file} is not a readable event file: one of its metrics is not a number; was it damaged?"
                    raise FormatError(words) from None
                events.curves.setdefault(value.tag, []).append((step, number))
    return events


def _values(file: Path) -> Iterator[tuple[int, Any]]:
    try:
        from tensorboard.backend.event_processing import event_file_loader
    except ImportError:
        raise missing_library(f"{file}: event files need TensorBoard", "tensorboard") from None
    log = logging.getLogger("tensorboard")
    level = log.level
    log.setLevel(logging.ERROR)  # otherwise it warns of incomplete records
    try:
        for event in event_file_loader.EventFileLoader(str(file)).Load():
            yield from ((event.step, value) for value in event.summary.value)
    except OSError:
        raise
    except Exception as error:  # DataLossError, protobuf's DecodeError, or any error from damaged bytes
        reason = " ".join(str(error).split())[:100] or type(error).__name__
        raise FormatError(f"{file} is not a readable event file: {reason}; was it damaged?") from None
    finally:
        log.setLevel(level)


def _take_settings(events: Events, content: bytes, file: Path) -> None:
    from google.protobuf.message import DecodeError
    from tensorboard.plugins.hparams import plugin_data_pb2

    try:
        data = plugin_data_pb2.HParamsPluginData.FromString(content)
    except DecodeError:
        raise FormatError(f"{file}: its settings cannot be read; was it damaged?") from None
    match data.WhichOneof("data"):
        case "session_start_info":
            settings = data.session_start_info.hparams
            events.settings = (events.settings or {}) | {name: _plain(settings[name]) for name in sorted(settings)}
        case "session_end_info":
            events.state = STATES.get(data.session_end_info.status)
        case "experiment":
            events.metrics = tuple(metric.name.tag for metric in data.experiment.metric_infos)


def _plain(value: Any) -> object:
    """A hyperparameter as a Python value; files store numbers as doubles, so whole numbers become integers."""
    kind = value.WhichOneof("kind")
    if kind == "number_value":
        number = float(value.number_value)
        return int(number) if number.is_integer() and abs(number) < 2**53 else number
    if kind == "list_value":
        return [_plain(one) for one in value.list_value.values]
    return getattr(value, kind) if kind in ("string_value", "bool_value") else None


def fits(path: Path) -> bool:
    return path.is_dir() and next(_event_folders(path, most=LOOK_AT), None) is not None


def _event_folders(place: Path, depth: int = DEEPEST, most: int | None = None) -> Iterator[Path]:
    if has_events(place):
        yield place
    if depth > 0:
        for inner in islice(sorted(logs.folders_in(place)), most):
            if not inner.name.startswith("."):
                yield from _event_folders(inner, depth - 1, most)


def read(path: Path) -> Records:
    by_folder: dict[Path, Events] = {}
    folders = list(_event_folders(path))
    for folder in watched(folders, "runs"):
        with suppress(FormatError):
            by_folder[folder] = read_events(folder)
    damaged = len(folders) - len(by_folder)
    sessions = [folder for folder, events in by_folder.items() if events.settings]
    if not sessions:
        words = f"{path} holds {len(by_folder):,} folders of event files, but none has settings; write settings with "
        raise DataError(f"{words}add_hparams (PyTorch) or hp.hparams (TensorFlow), or give a table of the runs")
    if len(sessions) == 1:
        words = f"{path} holds the settings of a single run, {sessions[0].name}, so there is nothing to compare"
        raise DataError(f"{words}; give the folder of all runs")
    trials = [_trial(folder, by_folder, path) for folder in sessions]
    if not any(trial.results for trial in trials):
        raise DataError(f"{path}: none of {len(trials):,} runs has a result in event files; wait for the first result")
    notes = [*logs.left_out(damaged, "event files cannot be read"), *logs.length_notes(trials, "step", "steps")]
    named = {name for folder in sessions for name in by_folder[folder].metrics}
    results = {name for trial in trials for name in trial.results}
    metrics = tuple(sorted(named & results))
    metadata = SourceMetadata(
        source=f"TensorBoard runs {path.resolve().name!r}", objectives=metrics if len(metrics) == 1 else ()
    )
    return logs.tabulate(trials, metadata, notes=notes)


def _trial(folder: Path, by_folder: dict[Path, Events], root: Path) -> logs.Trial:
    """A trial from a folder; results may also be in subfolders (train …) or, from PyTorch, in the parent folder."""
    own = by_folder[folder]
    results: dict[str, object] = {}
    steps = [own.steps]
    if STAMP.fullmatch(folder.name) and folder.parent in by_folder and not by_folder[folder.parent].settings:
        results |= by_folder[folder.parent].last
        steps.append(by_folder[folder.parent].steps)
    for inner, events in by_folder.items():
        if folder in inner.parents and not events.settings:
            prefix = inner.relative_to(folder).as_posix()
            results |= {f"{prefix}/{name}": value for name, value in events.last.items()}
            steps.append(events.steps)
    results |= own.last
    name = folder.parent if STAMP.fullmatch(folder.name) and folder.parent != root else folder
    other: dict[str, object] = {"run": name.relative_to(root).as_posix()}
    known = [step for step in steps if step is not None]
    if known:
        other["step"] = max(known)
    state = "COMPLETE" if results else "RUNNING"
    return logs.Trial(own.settings or {}, results, "FAIL" if own.state == "FAIL" else state, other)


VERSION = re.compile(r"version_\d+")
STEPS = ("epoch", "step")  # the length of a run: not results, but useful in where=
NO_RESULT = "hp_metric"  # -1 if the user logs nothing under this name
TIMES = ("created_at", "relative_time", "wall_time")


def _is_run(folder: Path) -> bool:
    settings, results = (folder / "hparams.yaml").is_file(), (folder / "metrics.csv").is_file()
    if VERSION.fullmatch(folder.name):
        return settings or results
    return settings and (results or has_events(folder))


def _lightning_curve(place: Path, metric: str) -> Iterable[tuple[float, float]]:
    file = place / "metrics.csv"
    if not file.is_file():
        return read_events(place).curves.get(metric, [])
    return [(row["step"], row[metric]) for row in logs.read_steps(file) if metric in row and "step" in row]


def _lightning_run(place: Path) -> logs.Trial | None:
    """A trial from a folder of Lightning: None if the folder has no parameters, unfinished if it has no results."""
    file = place / "hparams.yaml"
    settings = read_yaml(file, objects=True) if file.is_file() else None
    if not isinstance(settings, dict) or not settings:
        return None
    file, last = place / "metrics.csv", dict[str, float]()
    if file.is_file():
        with suppress(PedanovaError):
            last = logs.last_values(logs.read_steps(file))
    else:
        last = read_events(place).last
    if last.get(NO_RESULT) == -1:
        del last[NO_RESULT]
    other: dict[str, object] = {"run": place.name} | {name: last[name] for name in STEPS if name in last}
    results = {name: value for name, value in last.items() if name not in (*STEPS, *TIMES)}
    return logs.Trial(settings, results, "COMPLETE" if results else "RUNNING", other)


LIGHTNING = logs.RunFolders("Lightning run", _is_run, _lightning_run, settings="hparams.yaml",
    remedy="call self.save_hyperparameters() in the module, and train again", results="metrics.csv or event files",
    lengths=("epoch", "step"), curve=_lightning_curve)  # fmt: skip
