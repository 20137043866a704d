"""Ray Tune: the folder of an experiment with one folder per trial, or the data frame `results.get_dataframe()`.

Pickles are never opened.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from pedanova.data.objectives import DIRECTIONS
from pedanova.data.records import Records, SourceMetadata
from pedanova.errors import PedanovaError
from pedanova.sources.logs import trials as logs
from pedanova.sources.reader import KnownTable, object_in, read_json, read_text
from pedanova.sources.tables.json_text import flatten

STATE_FILES = "experiment_state-*.json"
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
KEPT = ("training_iteration", "time_total_s")  # not results, but useful in where=
GROUPS = ("config", "timers", "perf")  # groups of bookkeeping columns
ENDED = {"TERMINATED": "COMPLETE", "ERROR": "FAIL"}  # other states have not ended
OWN = {  # columns that Ray adds to every row
    *KEPT, "trial_id", "experiment_id", "experiment_tag", "logdir", "date", "timestamp", "timestamps_total", "hostname",
    "node_ip", "pid", "done", "iterations_since_restore", "time_this_iter_s", "time_since_restore", "warmup_time",
    "timesteps_since_restore", "timesteps_total", "episodes_total", "num_healthy_workers", "checkpoint_dir_name",
    "should_checkpoint", "trial_log_path",
}  # fmt: skip
ERRORS = ("error_type", "error_msg", "error_message", "error_file")  # filled if a trial failed


def fits(path: Path) -> bool:
    if path.is_file():
        return path.match(STATE_FILES)
    return path.is_dir() and (is_trial(path) or _is_experiment(path) or logs.holds_runs(path, _is_experiment))


def read(path: Path, study: str | None) -> Records:
    folder = path.parent if path.is_file() else path
    if not _is_experiment(folder):
        logs.check_several(folder, is_trial, "trial of Ray Tune")
    return _read_experiment(logs.folder_meant(folder, study, _is_experiment, "experiment"))


def is_trial(folder: Path) -> bool:
    parts = ("result.json", "progress.csv", "error.txt")
    return (folder / "params.json").is_file() and any((folder / part).is_file() for part in parts)


def _is_experiment(folder: Path) -> bool:
    return next(folder.glob(STATE_FILES), None) is not None or logs.holds_runs(folder, is_trial)


def _read_experiment(folder: Path) -> Records:
    state = _read_state(folder)
    known = _entries(state.get("trial_data", state.get("checkpoints")))
    places = sorted(place for place in logs.folders_in(folder) if place.name in known or is_trial(place))
    waiting = [name for name in known if name not in {place.name for place in places}]
    places += [folder / name for name in waiting]
    trials, kept, blank = logs.read_each(places, lambda at: _read_trial(at, known.get(at.name, {})), "trials")
    notes = logs.left_out(blank, "trials have no settings that can be read")
    notes += logs.length_notes(trials, "training_iteration", "iterations")
    runner = state.get("runner_data")
    metric, mode = (runner.get("_metric"), runner.get("_mode")) if isinstance(runner, Mapping) else (None, None)
    metric = metric if isinstance(metric, str) and any(metric in trial.results for trial in trials) else None
    metadata = SourceMetadata(
        source=f"Ray Tune experiment {folder.name!r}",
        objectives=() if metric is None else (metric,),
        directions=(DIRECTIONS[mode],) if metric and isinstance(mode, str) and mode in DIRECTIONS else (),
    )
    return logs.tabulate(trials, metadata, notes=notes, points=partial(logs.read_points, kept, _curve))


def _curve(place: Path, metric: str) -> Iterator[tuple[float, float]]:
    for row in _rows(place):
        flat = logs.only_numbers(_flat_results(row))
        step, value = flat.get("training_iteration"), flat.get(metric)
        if isinstance(step, int | float) and isinstance(value, int | float):
            yield step, value


def _read_state(folder: Path) -> Mapping[str, Any]:
    """The newest state file of the experiment that can be read; a newer one may be incomplete."""
    for file in sorted(folder.glob(STATE_FILES), reverse=True):
        with suppress(PedanovaError):
            plain = read_json(file)
            if isinstance(plain, dict):
                return plain
    return {}


def _entries(entries: object) -> dict[str, Mapping[str, Any]]:
    trials: dict[str, Mapping[str, Any]] = {}
    for entry in entries if isinstance(entries, list) else []:
        trial: dict[str, Any] = {}
        for part in entry if isinstance(entry, list) else [entry]:
            trial |= object_in(part)
        place = trial.get("relative_logdir") or trial.get("logdir") or trial.get("trial_id")
        if isinstance(place, str) and place.strip("/"):
            trials[place.rstrip("/").rpartition("/")[2]] = trial
    return trials


def _read_trial(place: Path, state_entry: Mapping[str, Any]) -> logs.Trial | None:
    """Read one trial from its folder and from the experiment's state file; None for a trial without parameters."""
    last = next(_rows(place, last_first=True), {}) or object_in(state_entry.get("last_result"))
    config: dict[str, Any] = {}
    with suppress(PedanovaError):
        config = object_in(read_json(place / "params.json"))
    config = config or object_in(last.get("config")) or object_in(state_entry.get("config"))
    if not config:
        return None
    flat = _flat_results(last)
    results = {key: value for key, value in flat.items() if key not in OWN}
    state = _state(place, state_entry, finished=bool(results))
    other = {"trial": place.name} | {key: flat[key] for key in KEPT if key in flat}
    return logs.Trial(_settings(config), logs.only_numbers(results), state, other)


def _settings(config: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters; functions and objects become text without memory addresses, which differ between runs."""
    plain: dict[str, Any] = {}
    for key, value in config.items():
        if isinstance(value, Mapping):
            if value.get("_type") != "CLOUDPICKLE_FALLBACK":  # values that exist only as pickles are unknown
                plain[str(key)] = _settings(value)
        else:
            plain[str(key)] = ADDRESS.sub("", value) if isinstance(value, str) else value
    return plain


def _rows(place: Path, *, last_first: bool = False) -> Iterator[dict[str, Any]]:
    """Yield the complete rows of result.json, or of progress.csv, in a trial's folder."""
    any_row = False
    with suppress(PedanovaError):
        lines = read_text(place / "result.json").splitlines()
        for line in reversed(lines) if last_first else lines:
            row = object_in(line)
            any_row = any_row or bool(row)
            if row:
                yield row
    if any_row:
        return
    with suppress(PedanovaError, csv.Error):
        header, *rows = csv.reader(read_text(place / "progress.csv").splitlines() or [""])
        for fields in reversed(rows) if last_first else rows:
            if len(fields) == len(header):
                yield {key: logs.value_of(text) for key, text in zip(header, fields, strict=True)}


def _flat_results(row: Mapping[str, Any]) -> dict[str, Any]:
    """Nested results as a flat dict with Ray's names, such as ``env/reward``."""
    return flatten({key: value for key, value in row.items() if str(key).split("/")[0] not in GROUPS}, separator="/")


def _state(place: Path, state_entry: Mapping[str, Any], *, finished: bool) -> str:
    """The state of a trial; the experiment's state file is checked before error.txt, which remains after a retry."""
    status = str(state_entry.get("status", "")).upper()
    if status in ENDED:
        return ENDED[status]
    if (place / "error.txt").is_file():
        return "FAIL"
    return "RUNNING" if status or not finished else "COMPLETE"


TABLE = KnownTable("Ray Tune data frame",
    "columns config/… and Ray's own columns such as trial_id, in any file or data frame",
    "pedanova analyze results.csv --objective loss", "Ray Tune's table of results", ("config/",),
    fits=lambda names, _: len(OWN.intersection(names)) >= 2, errors=ERRORS,
    is_result=lambda name: name not in OWN and name not in ERRORS and not name.startswith("Unnamed: "))  # fmt: skip
