"""Ray Tune: the folder of an experiment, one folder a trial, or the data frame `results.get_dataframe()`.

Its pickles are never opened.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from pedanova.base.notes import Note
from pedanova.base.progress import watched
from pedanova.data.records import Point, Records, SourceMetadata
from pedanova.errors import Arg, DataError, PedanovaError, listed
from pedanova.sources.logs.run_folders import read_points
from pedanova.sources.logs.trials import Trial, only_numbers, tabulate
from pedanova.sources.reader import Kind, KnownTable, read_json, read_text

STATE_FILES = "experiment_state-*.json"
LOOK_AT = 200  # folders to look into before deciding that a place is something else
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
KEPT = ("training_iteration", "time_total_s")  # no results, but of use in where=
BOOKKEEPING = {
    *KEPT, "time_this_iter_s", "time_since_restore", "timestamp", "date", "pid", "hostname", "node_ip", "trial_id",
    "experiment_id", "experiment_tag", "iterations_since_restore", "timesteps_since_restore", "timesteps_total",
    "episodes_total", "num_healthy_workers", "warmup_time", "done", "should_checkpoint", "checkpoint_dir_name",
}  # fmt: skip
GROUPS = ("config", "timers", "perf")  # of bookkeeping
ENDED = {"TERMINATED": "COMPLETE", "ERROR": "FAIL"}  # anything else has not ended
SETTINGS = "config/"
OWN = {  # what Ray adds to every row
    "trial_id", "experiment_id", "experiment_tag", "logdir", "date", "timestamp", "timestamps_total", "hostname",
    "node_ip", "pid", "done", "training_iteration", "iterations_since_restore", "time_this_iter_s", "time_total_s",
    "time_since_restore", "timesteps_since_restore", "timesteps_total", "episodes_total", "warmup_time",
    "checkpoint_dir_name", "should_checkpoint", "trial_log_path",
}  # fmt: skip
ERRORS = ("error_type", "error_msg", "error_message", "error_file")  # set where a trial failed


@dataclass(slots=True)
class ExperimentState:
    """What the experiment's own file tells: trials by folder, and the metric."""

    trials: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    metric: str | None = None
    mode: str | None = None
    notes: list[Note] = field(default_factory=list)


def fits(path: Path) -> bool:
    try:
        if path.is_file():
            return path.match(STATE_FILES)
        return path.is_dir() and (
            _is_trial(path) or _is_experiment(path) or any(map(_is_experiment, _folders(path, LOOK_AT)))
        )
    except OSError:
        return False


def read(path: Path, study: str | None) -> Records:
    folder = path.parent if path.is_file() else path
    if not _is_experiment(folder):
        if _is_trial(folder):
            raise DataError(
                f"{folder} is a single trial of Ray Tune, and one row compares nothing; "
                f"give the experiment's folder, {folder.parent}"
            )
        folder = _experiment_in(folder, study)
    elif study is not None and study != folder.name:
        raise DataError(
            Arg("study", study), f" is not in {folder}, which is the experiment {folder.name!r}; leave it out"
        )
    return _read_experiment(folder)


def _is_trial(folder: Path) -> bool:
    parts = ("result.json", "progress.csv", "error.txt")
    return (folder / "params.json").is_file() and any((folder / part).is_file() for part in parts)


def _is_experiment(folder: Path) -> bool:
    return next(folder.glob(STATE_FILES), None) is not None or any(map(_is_trial, _folders(folder, LOOK_AT)))


def _folders(folder: Path, most: int | None = None) -> Iterator[Path]:
    return islice((place for place in folder.iterdir() if place.is_dir()), most)


def _experiment_in(folder: Path, study: str | None) -> Path:
    experiments = {place.name: place for place in sorted(_folders(folder)) if _is_experiment(place)}
    if study is not None and study not in experiments:
        raise DataError(Arg("study", study), f" is no experiment in {folder}; there are: {listed(list(experiments))}")
    if study is None and len(experiments) > 1:
        raise DataError(
            f"{folder} holds {len(experiments)} experiments of Ray Tune; name one in ",
            Arg("study"),
            f": {listed(list(experiments))}",
        )
    return experiments[study] if study is not None else next(iter(experiments.values()))


def _read_experiment(folder: Path) -> Records:
    known = _read_state(folder)
    places = sorted(place for place in _folders(folder) if place.name in known.trials or _is_trial(place))
    waiting = [name for name in known.trials if name not in {place.name for place in places}]
    trials, kept, blank = [], [], 0
    for place in watched([*places, *(folder / name for name in waiting)], "trials"):
        trial = _read_trial(place, known.trials.get(place.name, {}))
        if trial is None:
            blank += 1
        else:
            trials.append(trial)
            kept.append(place)
    notes = [*known.notes, *_notes(trials, blank)]
    metric = known.metric if any(known.metric in trial.results for trial in trials) else None
    directions = {"min": "minimize", "max": "maximize"}
    metadata = SourceMetadata(
        source=f"Ray Tune experiment {folder.name!r}",
        objectives=() if metric is None else (metric,),
        directions=(directions[known.mode],) if metric and known.mode in directions else (),  # type: ignore[arg-type]
    )
    return tabulate(trials, metadata, notes=notes, points=partial(_points, kept))


def _points(places: Sequence[Path], metric: str) -> Iterator[Point]:
    """The values of a metric by iteration."""
    return read_points(places, partial(_curve, metric=metric))


def _curve(place: Path, metric: str) -> Iterator[tuple[float, float]]:
    for row in _rows(place):
        flat = only_numbers(_flat_results(row))
        step, value = flat.get("training_iteration"), flat.get(metric)
        if isinstance(step, int | float) and isinstance(value, int | float):
            yield step, value


def _notes(trials: list[Trial], blank: int) -> list[Note]:
    notes = [Note("unused", f"{blank:,} trials have no settings that can be read; left out")] if blank else []
    ended = [trial.other.get("training_iteration") for trial in trials if trial.state == "COMPLETE"]
    lengths = Counter(length for length in ended if isinstance(length, int))
    if len(lengths) > 1:
        longest = f'"training_iteration == {max(lengths)}"'
        notes.append(
            Note(
                "rows",
                f"trials ran for {min(lengths):,} to {max(lengths):,} iterations, and their last results ",
                "are compared; pass ",
                Arg("where", shown=longest),
                " for those that ran longest",
            )
        )
    return notes


def _read_state(folder: Path) -> ExperimentState:
    """The newest file that can be read: another may be half-written."""
    known = ExperimentState()
    for file in sorted(folder.glob(STATE_FILES), reverse=True):
        try:
            plain = read_json(file)
        except PedanovaError:
            known.notes.append(Note("unused", f"{file.name} cannot be read; left out"))
            continue
        if isinstance(plain, dict):
            return _state_of(plain, known)
    return known


def _state_of(plain: Mapping[str, Any], known: ExperimentState) -> ExperimentState:
    runner = plain.get("runner_data")
    if isinstance(runner, Mapping):
        metric, mode = runner.get("_metric"), runner.get("_mode")
        known.metric = metric if isinstance(metric, str) else None
        known.mode = mode if isinstance(mode, str) else None
    entries = plain.get("trial_data", plain.get("checkpoints"))
    for entry in entries if isinstance(entries, list) else []:
        trial: dict[str, Any] = {}
        for part in entry if isinstance(entry, list) else [entry]:
            trial |= _object(part)
        place = trial.get("relative_logdir") or trial.get("logdir") or trial.get("trial_id")
        if isinstance(place, str) and place.strip("/"):
            known.trials[place.rstrip("/").rpartition("/")[2]] = trial
    return known


def _object(part: object) -> dict[str, Any]:
    """A part of a trial's entry: an object, or its text."""
    if isinstance(part, str):
        with suppress(ValueError, RecursionError):
            part = json.loads(part)
    return part if isinstance(part, dict) else {}


def _read_trial(place: Path, state_entry: Mapping[str, Any]) -> Trial | None:
    """One trial from its folder, completed by the experiment's file; None without any settings."""
    last = _last_result(place) or _object(state_entry.get("last_result"))
    config = next(
        filter(None, (_config_file(place), _object(last.get("config")), _object(state_entry.get("config")))), None
    )
    if config is None:
        return None
    flat = _flat_results(last)
    results = {key: value for key, value in flat.items() if key not in BOOKKEEPING}
    return Trial(
        _settings(config),
        only_numbers(results),
        _state(place, state_entry, finished=bool(results)),
        {"trial": place.name} | {key: flat[key] for key in KEPT if key in flat},
    )


def _config_file(place: Path) -> dict[str, Any] | None:
    try:
        return _object(read_json(place / "params.json"))
    except PedanovaError:
        return None


def _settings(config: Mapping[str, Any]) -> dict[str, Any]:
    """Functions and objects are text, without the address that changes from run to run."""
    plain: dict[str, Any] = {}
    for key, value in config.items():
        if isinstance(value, Mapping):
            if value.get("_type") != "CLOUDPICKLE_FALLBACK":  # what only a pickle holds stays unknown
                plain[str(key)] = _settings(value)
        else:
            plain[str(key)] = ADDRESS.sub("", value) if isinstance(value, str) else value
    return plain


def _last_result(place: Path) -> dict[str, Any]:
    """The last whole line of result.json, or else of progress.csv."""
    return next(_rows(place, last_first=True), {})


def _rows(place: Path, *, last_first: bool = False) -> Iterator[dict[str, Any]]:
    """The whole lines of result.json, or else of progress.csv."""
    any_row = False
    with suppress(PedanovaError):
        lines = read_text(place / "result.json").splitlines()
        for line in reversed(lines) if last_first else lines:
            row = _object(line)
            any_row = any_row or bool(row)
            if row:
                yield row
    if any_row:
        return
    with suppress(PedanovaError, csv.Error):
        header, *rows = csv.reader(read_text(place / "progress.csv").splitlines() or [""])
        for fields in reversed(rows) if last_first else rows:
            if len(fields) == len(header):
                yield {key: _cell(text) for key, text in zip(header, fields, strict=True)}


def _cell(text: str) -> object:
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text or None


def _flat_results(row: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested results under the names that Ray itself gives them: ``env/reward``."""
    flat: dict[str, Any] = {}
    for key, value in row.items():
        if not prefix and str(key).split("/")[0] in GROUPS:
            continue
        if isinstance(value, Mapping):
            flat |= _flat_results(value, f"{prefix}{key}/")
        else:
            flat[f"{prefix}{key}"] = value
    return flat


def _state(place: Path, state_entry: Mapping[str, Any], *, finished: bool) -> str:
    """The experiment's word first: a trial that failed and was tried again keeps its error.txt."""
    status = str(state_entry.get("status", "")).upper()
    if status in ENDED:
        return ENDED[status]
    if (place / "error.txt").is_file():
        return "FAIL"
    return "RUNNING" if status or not finished else "COMPLETE"


KIND = Kind(
    "Ray Tune experiment",
    "a folder with experiment_state-*.json, or with folders that hold params.json and result.json",
    "pedanova analyze ~/ray_results/train_2025-05-22 --objective loss",
    "path",
    fits,
    read,
)


def fits_table(names: Sequence[str]) -> bool:
    return any(name.startswith(SETTINGS) for name in names) and len(OWN.intersection(names)) >= 2


def table_metadata(names: Sequence[str]) -> SourceMetadata:
    settings = tuple(name for name in names if name.startswith(SETTINGS))
    aside = tuple(name for name in names if name in OWN or name in ERRORS or name.startswith("Unnamed: "))
    error = next((name for name in ERRORS if name in names), None)
    results = tuple(name for name in names if name not in (*settings, *aside))
    return SourceMetadata(
        source="Ray Tune's table of results",
        params=settings,
        objectives=results if len(results) == 1 else (),
        metrics=results,
        aside=aside,
        where=None if error is None else f"{error} is None",
    )


TABLE = KnownTable(
    "Ray Tune data frame",
    "columns config/… and Ray's own such as trial_id, in any file or frame",
    "pedanova analyze results.csv --objective loss",
    fits_table,
    table_metadata,
)
