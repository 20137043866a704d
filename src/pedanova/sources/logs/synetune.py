"""Syne Tune: an experiment's folder with metadata.json and results.csv.zip. The pickle tuner.dill is never opened."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from pedanova.base.notes import Note
from pedanova.data.objectives import DIRECTIONS
from pedanova.data.records import Point, Records, SourceMetadata
from pedanova.errors import FormatError, SpaceError
from pedanova.sources.logs.trials import Trial, folder_meant, holds_runs, length_notes, parse_number, tell, value_of
from pedanova.sources.reader import has, read_json
from pedanova.sources.spaces.described import Described, as_choices, as_range, if_understood
from pedanova.space.parameters import Domain

FILES = ("metadata.json", "results.csv.zip")
SETTING, OWN = "config_", ("st_", "trial_id", "cost_")
ITERATION = "st_worker_iter"
ENDS = {"STOP": "PRUNED", "PAUSE": "PRUNED"}  # the last decision of the scheduler; trials with others ran to the end
MOST_TIMES = 200  # the largest ratio of unpacked to packed size

Row = dict[str, str]
Dict = dict[str, Any]


def fits(path: Path) -> bool:
    return _is_tuning(path) or (path.is_dir() and holds_runs(path, _is_tuning))


def _is_tuning(folder: Path) -> bool:
    return has(folder, *FILES)


def read(path: Path, study: str | None) -> Records:
    folder = folder_meant(path, study, _is_tuning, "tuning")
    about = read_json(folder / "metadata.json")
    about = about if isinstance(about, dict) else {}
    by_trial: dict[str, list[Row]] = {}
    for row in _rows(folder / "results.csv.zip"):
        by_trial.setdefault(row.get("trial_id", ""), []).append(row)
    ordered = sorted(by_trial.items(), key=lambda one: (len(one[0]), one[0]))
    trials = [_trial(name, rows) for name, rows in ordered]
    notes: list[Note] = []
    described = if_understood(lambda: _space(about.get("config_space")), notes)
    notes += length_notes(trials, "iteration", "iterations")
    names, mode = about.get("metric_names"), about.get("metric_mode")
    metrics = [str(name) for name in names] if isinstance(names, list) else []
    modes = mode if isinstance(mode, list) else [mode] * len(metrics)
    measured = {name for trial in trials for name in trial.results}
    goals = {name: way for name, way in zip(metrics, modes, strict=False) if name in measured}
    known = all(isinstance(way, str) and way in DIRECTIONS for way in goals.values())
    metadata = SourceMetadata(
        source=f"Syne Tune experiment {folder.resolve().name!r}",
        objectives=tuple(goals),
        directions=tuple(DIRECTIONS[way] for way in goals.values()) if known else (),
    )
    return tell(trials, metadata, described, notes=notes, points=partial(_points, [rows for _, rows in ordered]))


def _rows(file: Path) -> list[Row]:
    try:
        with zipfile.ZipFile(file) as packed:
            inside = packed.infolist()[0]
            if inside.file_size > MOST_TIMES * file.stat().st_size + (1 << 20):
                raise FormatError(f"{file} grows to over {MOST_TIMES} times its size if unpacked; unpack it yourself")
            text = packed.read(inside).decode("utf-8-sig")
        return [{str(key): value or "" for key, value in row.items()} for row in csv.DictReader(io.StringIO(text))]
    except (zipfile.BadZipFile, IndexError, UnicodeDecodeError, csv.Error, EOFError, RuntimeError, ValueError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(f"{file} is not a readable table of results ({error}); was it cut off?") from None


def _trial(name: str, rows: list[Row]) -> Trial:
    """Make a trial from its rows of results: the last results, and the state that the scheduler gave it."""
    last = max(rows, key=lambda row: parse_number(row.get(ITERATION, "")) or 0)
    settings = {key.removeprefix(SETTING): value_of(text) for key, text in last.items() if key.startswith(SETTING)}
    numbers = {key: parse_number(text) for key, text in last.items() if not key.startswith((SETTING, *OWN))}
    results = {key: value for key, value in numbers.items() if value is not None}
    other: Dict = {"trial": value_of(name), "iteration": (parse_number(last.get(ITERATION, "")) or 0) + 1}
    state = ENDS.get(last.get("st_decision", ""), "COMPLETE")
    state = "FAIL" if last.get("st_status", "").lower() == "failed" else state
    seconds = parse_number(last.get("st_worker_time", ""))
    if seconds is not None:
        other["seconds"] = seconds
    return Trial({key: value for key, value in settings.items() if value is not None}, results, state, other)


def _points(trials: list[list[Row]], metric: str) -> Iterator[Point]:
    for number, rows in enumerate(trials):
        for row in rows:
            step, value = parse_number(row.get(ITERATION, "")), parse_number(row.get(metric, ""))
            if step is not None and value is not None:
                yield number, step + 1, value


def _space(written: Any) -> Described | None:
    if written is None:
        return None
    plain: Dict = json.loads(written) if isinstance(written, str) else dict(written)
    fixed = tuple(name for name, one in plain.items() if not isinstance(one, dict))
    return Described({name: _domain(name, one) for name, one in plain.items() if name not in fixed}, fixed=fixed)


def _domain(name: str, one: Dict) -> Domain:
    kind, limits = one["domain_cls"], one["domain_kwargs"]
    if kind in ("Categorical", "Ordinal", "OrdinalNearestNeighbor"):
        return as_choices(limits["categories"], ordered=kind != "Categorical")
    if kind not in ("Float", "Integer", "FiniteRange"):
        raise SpaceError(f"{name}: {kind!r} is not a known kind of domain")
    log = bool(limits.get("log_scale")) or one.get("sampler_cls") == "LogUniform"
    whole = kind == "Integer" or bool(limits.get("cast_int"))
    return as_range(limits["lower"], limits["upper"], whole=whole, log=log)
