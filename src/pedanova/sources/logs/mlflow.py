"""MLflow, read-only: a folder of files (mlruns), a database, the frame of `search_runs()`, or the CSV of its UI."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from pedanova.base.notes import Note
from pedanova.base.progress import watched
from pedanova.data.records import Records, SourceMetadata
from pedanova.errors import Arg, DataError, NoTrialsError, PedanovaError
from pedanova.sources.databases import Database
from pedanova.sources.logs.trials import Trial, check_several, folders_in, holds_runs, left_out, tabulate
from pedanova.sources.reader import KnownTable, choose, read_text
from pedanova.sources.spaces.described import number_or_nan
from pedanova.sources.tables.files import read_file, table_columns
from pedanova.sources.tables.frames import read_frame

STATUSES = {"1": "RUNNING", "2": "SCHEDULED", "3": "FINISHED", "4": "FAILED", "5": "KILLED"}  # in files
PARENT = "mlflow.parentRunId"
TABLES = {"experiments", "runs", "params", "tags", "latest_metrics"}
EXPORTED = ("Start Time", "Duration", "Run ID", "Name", "Source Type", "Source Name", "User", "Status")  # in the UI
LARGEST = sys.float_info.max  # SQLite stores write this for infinity


@dataclass(slots=True)
class Run:
    key: str
    state: str
    name: str
    parent: str | None = None
    params: dict[str, object] = field(default_factory=dict)
    metrics: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Experiment:
    """One experiment of an MLflow store; its runs are read when `runs` is called."""

    key: str
    name: str
    count: int
    runs: Callable[[], list[Run]]


def _records(experiments: list[Experiment], study: str | None, where: object) -> Records:
    """The runs of one experiment as a table; `study` is the experiment's name or id."""
    known = {one.name: one for one in experiments}
    named = next((one.name for one in experiments if one.key == study), study)
    if study is None:
        known = {name: one for name, one in known.items() if one.count}
    if not known:
        raise NoTrialsError(f"{where} holds {len(experiments)} MLflow experiments but no run; nothing can be analyzed")
    experiment = choose(known, study if study in known else named, where, "experiment", label="{0} ({1.count:,} runs)")
    name, all_runs = experiment.name, experiment.runs()
    runs, notes = _leaves(all_runs)
    bare = sum(not run.params for run in runs)
    runs = [run for run in runs if run.params]
    if not runs:
        words = f"MLflow experiment {name!r} in {where} has {bare:,} runs, but none has parameters; "
        raise DataError(words, "log parameters with mlflow.log_params, or name another experiment in ", Arg("study"))
    notes += left_out(bare, "runs have no parameters")
    metadata = SourceMetadata(source=f"MLflow experiment {name!r}")
    trials = []
    for run in runs:
        system = {key: value for key, value in run.metrics.items() if key.startswith("system/")}
        results = {key: value for key, value in run.metrics.items() if key not in system}
        trials.append(Trial(run.params, results, run.state, {"run": run.key, "run_name": run.name, **system}))
    return tabulate(trials, metadata, notes=notes, texts=True)


def _leaves(runs: list[Run]) -> tuple[list[Run], list[Note]]:
    """Leave out each run that is the parent of a run with parameters, because it only groups other runs; add a note."""
    keys = {run.key for run in runs}
    gathering = {run.parent for run in runs if run.parent in keys and run.params}
    left = [run for run in runs if run.key not in gathering]
    gone = len(runs) - len(left)
    return left, left_out(gone, f"{'run is the parent' if gone == 1 else 'runs are parents'} of other runs")


def fits_folder(path: Path) -> bool:
    return path.is_dir() and (_is_run(path) or _store_of(path) is not None)


def read_folder(path: Path, study: str | None) -> Records:
    check_several(path, _is_run, "MLflow run")
    store = _store_of(path)
    if store is None:
        raise DataError(f"{path} holds no MLflow experiment; give the mlruns folder")
    inside = [] if _is_experiment(store) else filter(_is_experiment, folders_in(store))
    folders = sorted(inside) or [store]
    experiments = [_experiment(folder) for folder in folders]
    return _records([one for one in experiments if one is not None], study, path)


def _store_of(path: Path) -> Path | None:
    if _is_experiment(path) or holds_runs(path, _is_experiment):
        return path
    inside = path / "mlruns"
    return _store_of(inside) if inside.is_dir() else None


def _is_run(folder: Path) -> bool:
    """Whether a folder is a run, not an experiment: it has a meta.yaml, and also parameters, metrics or a run id."""
    inside = (folder / "params").is_dir() or (folder / "metrics").is_dir()
    return (folder / "meta.yaml").is_file() and (inside or not {"run_id", "run_uuid"}.isdisjoint(_meta(folder)))


def _is_experiment(folder: Path) -> bool:
    """Whether a folder is an experiment: it has runs, or its meta.yaml says so."""
    if folder.name.startswith(".") or _is_run(folder):
        return False
    return holds_runs(folder, _is_run) or "experiment_id" in _meta(folder)


def _experiment(folder: Path) -> Experiment | None:
    meta = _meta(folder)
    if meta.get("lifecycle_stage") == "deleted":
        return None
    places = sorted(place for place in folders_in(folder) if _is_run(place))
    key = meta.get("experiment_id") or folder.name

    def runs() -> list[Run]:
        return [*filter(None, map(_read_run, watched(places, "runs", len(places))))]

    return Experiment(key, meta.get("name") or key, len(places), runs)


def _read_run(place: Path) -> Run | None:
    meta = _parse_meta(read_text(place / "meta.yaml"))
    if meta.get("lifecycle_stage") == "deleted":
        return None
    state = STATUSES.get(meta.get("status", ""), meta.get("status") or "RUNNING")
    metrics = {name: _last_metric(file) for name, file in _files_by_name(place / "metrics").items()}
    known = {name: value for name, value in metrics.items() if value is not None}
    params: dict[str, object] = {name: read_text(file) for name, file in _files_by_name(place / "params").items()}
    parent = place / "tags" / PARENT
    above = read_text(parent).strip() if parent.is_file() else None
    return Run(place.name, state, meta.get("run_name", ""), above, params, known)


def _files_by_name(folder: Path) -> dict[str, Path]:
    """All files below a folder; a name with slashes is a path."""
    return {file.relative_to(folder).as_posix(): file for file in sorted(folder.rglob("*")) if file.is_file()}


def _last_metric(file: Path) -> float | None:
    """The last value in a metric's file; each line has a time, a value, and usually a step."""
    rows: list[tuple[int, int, float]] = []
    for line in read_text(file).splitlines():
        with suppress(ValueError, IndexError):  # an incomplete line
            time, value, *rest = line.split()
            rows.append((int(rest[0]) if rest else 0, int(time), float(value)))
    return max(rows, key=lambda row: row[:2])[2] if rows else None


def _meta(folder: Path) -> dict[str, str]:
    """The plain `key: value` lines of meta.yaml; empty if it cannot be read."""
    with suppress(PedanovaError):
        return _parse_meta(read_text(folder / "meta.yaml"))
    return {}


def _parse_meta(text: str) -> dict[str, str]:
    lines: list[str] = []
    for line in text.splitlines():
        if line[:1] in (" ", "\t") and lines:  # a long text continues
            lines[-1] += f" {line.strip()}"
        else:
            lines.append(line)
    pairs = (line.partition(":") for line in lines)
    return {key.strip(): _unquoted(value.strip()) for key, colon, value in pairs if colon}


def _unquoted(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if len(text) > 1 and text[0] == text[-1] == '"':
        with suppress(ValueError):
            return str(json.loads(text))
        return text[1:-1]
    return "" if text == "null" else text


def fits_tables(tables: set[str]) -> bool:
    return tables >= TABLES


def read_database(database: Database, study: str | None) -> Records:
    return _records(experiments_of(database), study, database.shown)


def experiments_of(database: Database) -> list[Experiment]:
    active = "SELECT experiment_id, COUNT(*) FROM runs WHERE lifecycle_stage = 'active' GROUP BY experiment_id"
    counts = {key: int(count) for key, count in database.rows(active)}
    rows = database.rows("SELECT experiment_id, name FROM experiments WHERE lifecycle_stage = 'active'")

    return [Experiment(str(key), str(name), counts.get(key, 0), partial(runs_of, database, key)) for key, name in rows]


def runs_of(database: Database, experiment: object) -> list[Run]:
    mine = "FROM runs WHERE experiment_id = ? AND lifecycle_stage = 'active'"
    rows = database.rows(f"SELECT run_uuid, status, name {mine} ORDER BY start_time, run_uuid", (experiment,))
    runs = {key: Run(key, str(status), str(name or "")) for key, status, name in rows}
    inside, word = f"run_uuid IN (SELECT run_uuid {mine})", database.quote("key")

    def each(columns: str, table: str, rest: str = "") -> Iterator[tuple[Run, list[Any]]]:
        query = f"SELECT run_uuid, {columns} FROM {table} WHERE {inside} {rest}"
        for key, *values in watched(database.rows(query, (experiment,)), table):
            if key in runs:  # runs that began meanwhile are left out
                yield runs[key], values

    for run, (name, value) in each(f"{word}, value", "params"):
        run.params[str(name)] = None if value is None else str(value)
    for run, (value,) in each("value", "tags", f"AND {word} = '{PARENT}'"):
        run.parent = str(value)
    for run, (name, value, is_nan) in each(f"{word}, value, is_nan", "latest_metrics"):
        number = math.nan if is_nan else number_or_nan(value)
        run.metrics[str(name)] = math.copysign(math.inf, number) if abs(number) >= LARGEST else number
    return list(runs.values())


def fits_export(data: object) -> bool:
    return {"Run ID", "Start Time", "Source Type", "Status"} <= set(table_columns(data))


def read_export(data: Any) -> Records:
    """Read the CSV of MLflow's UI: fixed columns first, then parameters, metrics and tags, each sorted by name."""
    records = read_file(str(data)) if isinstance(data, Path) else read_frame(data)
    rest = [name for name in records.columns if name not in EXPORTED]
    starts = [0, *(place for place in range(1, len(rest)) if rest[place] < rest[place - 1]), len(rest)]
    groups = [tuple(rest[start:end]) for start, end in pairwise(starts)]
    known = len(groups) in (2, 3) and all(records.columns[name].labels is None for name in groups[1])
    params, metrics = groups[:2] if known else ((), ())
    metadata = SourceMetadata(
        source="MLflow's exported runs",
        params=params,
        objectives=metrics if len(metrics) == 1 else (),
        metrics=metrics,
        aside=(*EXPORTED[:-1], *(groups[2] if known and len(groups) > 2 else ())),
        state="Status",
    )
    return replace(records, metadata=metadata)


TABLE = KnownTable("MLflow search_runs", "columns run_id, params.… and metrics.…, in any file or data frame",
    "pedanova analyze runs.csv --objective metrics.rmse", "MLflow's table of runs", ("params.",),
    fits=lambda names, results: "run_id" in names and bool(results),
    is_result=lambda name: name.startswith("metrics."), state="status")  # fmt: skip
