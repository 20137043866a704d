"""Event files of TensorBoard: the only place that opens its package, which needs no TensorFlow."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pedanova.errors import FormatError, MissingLibraryError

PATTERN = "events.out.tfevents.*"
PLUGIN = "hparams"
STATES = {1: "COMPLETE", 2: "FAIL", 3: "RUNNING"}  # as the plugin numbers them


@dataclass(slots=True)
class Events:
    """What the event files of one folder hold: numbers by step, and the settings where the plugin wrote them."""

    curves: dict[str, list[tuple[int, float]]] = field(default_factory=dict)
    settings: dict[str, object] | None = None
    state: str | None = None  # None: the run's end was never logged
    metrics: tuple[str, ...] = ()  # those that the plugin was told of

    @property
    def last(self) -> dict[str, float]:
        """The value at the highest step, of several the one that was written last."""
        return {name: max(enumerate(points), key=lambda one: (one[1][0], one[0]))[1][1]
                for name, points in self.curves.items()}  # fmt: skip

    @property
    def steps(self) -> int | None:
        """The highest step of any number."""
        return max((step for points in self.curves.values() for step, _ in points), default=None)


def has_events(folder: Path) -> bool:
    return next(folder.glob(PATTERN), None) is not None


def read_events(folder: Path) -> Events:
    """All event files right in a folder, in the order of their names; a last record that is cut off is left out."""
    found = Events()
    for file in sorted(folder.glob(PATTERN)):
        plugins: dict[str, str] = {}
        for step, value in _values(file):
            plugin = value.metadata.plugin_data
            plugins.setdefault(value.tag, plugin.plugin_name)
            if plugins[value.tag] == PLUGIN:
                _take_settings(found, plugin.content, file)
            elif plugins[value.tag] == "scalars" and value.HasField("tensor"):
                found.curves.setdefault(value.tag, []).append((step, _number(value.tensor, file)))
    return found


def _values(file: Path) -> Iterator[tuple[int, Any]]:
    """Every summary with its step."""
    try:
        from tensorboard.backend.event_processing import event_file_loader
    except ImportError:
        raise MissingLibraryError(
            f"{file}: event files need TensorBoard; pip install 'pedanova[tensorboard]'"
        ) from None
    log = logging.getLogger("tensorboard")
    level = log.level
    log.setLevel(logging.ERROR)  # it warns of a record that is still being written
    try:
        for event in event_file_loader.EventFileLoader(str(file)).Load():
            yield from ((event.step, value) for value in event.summary.value)
    except OSError:
        raise
    except Exception as error:  # DataLossError, protobuf's DecodeError, or what its parsers make of damaged bytes
        reason = " ".join(str(error).split())[:100] or type(error).__name__
        raise FormatError(f"{file} is no readable event file: {reason}; was it damaged?") from None
    finally:
        log.setLevel(level)


def _number(tensor: Any, file: Path) -> float:
    from tensorboard.util import tensor_util

    try:
        return float(tensor_util.make_ndarray(tensor))
    except (TypeError, ValueError):
        raise FormatError(f"{file} is no readable event file: a scalar is no number; was it damaged?") from None


def _take_settings(found: Events, content: bytes, file: Path) -> None:
    from google.protobuf.message import DecodeError
    from tensorboard.plugins.hparams import plugin_data_pb2

    try:
        data = plugin_data_pb2.HParamsPluginData.FromString(content)
    except DecodeError:
        raise FormatError(f"{file}: its settings cannot be read; was it damaged?") from None
    match data.WhichOneof("data"):
        case "session_start_info":
            settings = data.session_start_info.hparams
            found.settings = (found.settings or {}) | {name: _plain(settings[name]) for name in sorted(settings)}
        case "session_end_info":
            found.state = STATES.get(data.session_end_info.status)
        case "experiment":
            found.metrics = tuple(metric.name.tag for metric in data.experiment.metric_infos)


def _plain(value: Any) -> object:
    """Numbers are doubles in these files: whole ones are taken as whole."""
    kind = value.WhichOneof("kind")
    if kind == "number_value":
        number = float(value.number_value)
        return int(number) if number.is_integer() and abs(number) < 2**53 else number
    if kind == "list_value":
        return [_plain(one) for one in value.list_value.values]
    return getattr(value, kind) if kind in ("string_value", "bool_value") else None
