"""Weights & Biases: the runs table (CSV or data frame), and a local wandb folder. Nothing is asked of the web."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from pedanova.base.notes import Note
from pedanova.base.progress import watched
from pedanova.data.column import as_column, plain_value, shorten
from pedanova.data.records import Records, SourceMetadata
from pedanova.errors import Arg, DataError, FormatError, PedanovaError
from pedanova.sources.logs.trials import Trial, known_state, only_numbers, tabulate
from pedanova.sources.reader import Kind, read_json, read_yaml
from pedanova.sources.tables import files
from pedanova.sources.tables.frames import column_cells, frame_cells, frame_columns, read_frame, record_cells
from pedanova.sources.tables.json_text import as_dict, as_number
from pedanova.sources.tables.text import peek_header

SOURCE = "W&B runs table"
BOOKKEEPING = {  # columns of the runs table that are neither settings nor results
    "Name", "ID", "State", "Notes", "User", "Tags", "Created", "Updated", "End Time", "Runtime", "Sweep", "Job Type",
    "Group", "Hostname", "GitHub", "Git", "Commit", "Description", "GPU Type", "GPU Count", "CPU Count", "OS",
    "Python Version", "Host", "Relative Time", "Wall Time", "Command", "Program", "Path", "Project", "Entity", "URL",
}  # fmt: skip
RUN_FOLDER = re.compile(r"(offline-)?run-\d{8}_\d{6}-.+")
LOOK_AT = 200


# ── tables ──────────────────────────────────────────────────────────────────────────────────────


def _is_runs_table(names: Iterable[object]) -> bool:
    known = {name for name in names if isinstance(name, str)}
    if {"config", "summary"} <= known:
        return True
    return {"Name", "State"} <= known and len(BOOKKEEPING & known) > 2


def fits_table(path: Path) -> bool:
    return _is_runs_table(peek_header(path))


def fits_frame(data: object) -> bool:
    return _is_runs_table(frame_columns(data))


def read_table(path: Path, study: str | None) -> Records:
    records = files.read_file(str(path))
    source = f"W&B runs table {path.name!r}"
    if {"config", "summary"} <= set(records.columns):
        return _read_dicts(record_cells(records), study, source)
    return _read_flat(records, study, source)


def read_runs(data: Any, study: str | None) -> Records:
    if {"config", "summary"} <= set(frame_columns(data)):
        return _read_dicts(frame_cells(data), study, SOURCE)
    return _read_flat(read_frame(data), study, SOURCE)


def _read_flat(records: Records, study: str | None, source: str) -> Records:
    """One column a setting or a result; only names such as config.lr tell which is which."""
    _no_study(study)
    columns = dict(records.columns)
    aside = tuple(name for name in columns if name in BOOKKEEPING - {"State"} or name.startswith("_"))
    marked = tuple(name for name in columns if name.startswith(("config.", "config/", "config:")))
    results = [name for name in columns if name not in (*marked, *aside, "State")]
    numbers = tuple(name for name in results if columns[name].labels is None and not columns[name].is_time)
    notes = list(records.notes)
    if columns["State"].labels is not None:
        states = [None if word is None else known_state(str(word)) for word in column_cells(columns["State"])]
        columns["State"] = as_column("State", states)
    if not marked:
        notes.append(
            Note(
                "doubt",
                f"{source} does not tell settings from results; name results other than the objective in ",
                Arg("exclude"),
            )
        )
    metadata = SourceMetadata(
        source=source,
        params=marked,
        objectives=numbers if marked and len(numbers) == 1 else (),
        metrics=numbers if marked else (),
        aside=aside,
        state="State" if columns["State"].labels is not None else None,
    )
    return replace(records, columns=columns, notes=tuple(notes), metadata=metadata)


def _no_study(study: str | None) -> None:
    if study is not None:
        raise DataError(
            Arg("study", study), " is for stores of several studies; this is one table of runs; leave it out"
        )


def _read_dicts(cells: Mapping[str, list[Any]], study: str | None, source: str) -> Records:
    """Two columns of dicts: the settings and the results of each run."""
    _no_study(study)
    states = cells.get("state", cells.get("State"))
    names = cells.get("name", cells.get("Name"))
    trials = []
    for row, (config, summary) in enumerate(zip(cells["config"], cells["summary"], strict=True)):
        trials.append(
            Trial(
                _settings(_dict(config, "config", row)),
                _results(_dict(summary, "summary", row)),
                "finished" if states is None else str(states[row]),
                {} if names is None else {"name": plain_value(names[row])},
            )
        )
    return tabulate(trials, SourceMetadata(source=source))


def _dict(cell: object, name: str, row: int) -> dict[str, Any]:
    if cell is None or plain_value(cell) in (None, ""):
        return {}
    content = as_dict(cell)
    if content is None:
        raise FormatError(f'{name}: row {row} has {shorten(cell)}; it must be a dict such as {{"lr": 0.1}}')
    return content


def _settings(config: Mapping[str, Any]) -> dict[str, Any]:
    """Keys of W&B's own begin with an underscore; some stores wrap values: {"value": 0.1, "desc": null}."""
    own = {key: value for key, value in config.items() if not key.startswith("_")}
    return {key: value["value"] if _is_wrapped(value) else value for key, value in own.items() if value is not None}


def _is_wrapped(value: object) -> bool:
    return isinstance(value, dict) and "value" in value and set(value) <= {"value", "desc"}


def _results(summary: Mapping[str, Any], prefix: str = "") -> dict[str, object]:
    """Numbers, nested ones with dots; images, tables and the like are dicts with a type and left out."""
    flat: dict[str, object] = {}
    for key, value in summary.items():
        if str(key).startswith("_"):
            continue
        if isinstance(value, dict):
            flat |= {} if "_type" in value else _results(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = as_number(value)
    return only_numbers(flat)


# ── the local folder ────────────────────────────────────────────────────────────────────────────


def fits_folder(path: Path) -> bool:
    try:
        return path.is_dir() and (_is_run(path) or _runs_folder(path) is not None)
    except OSError:
        return False


def read_folder(path: Path, study: str | None) -> Records:
    _no_study(study)
    if _is_run(path):
        raise DataError(
            f"{path} is a single W&B run, and one row compares nothing; give the wandb folder, {path.parent}"
        )
    folder = _runs_folder(path) or path
    trials, bare = [], 0
    for place in watched(sorted(_runs(folder)), "runs"):
        trial = _local_run(place)
        trials += [trial] if trial is not None else []
        bare += trial is None
    notes = (
        [Note("unused", f"{bare:,} runs have no config.yaml that can be read; left out (synchronise them first)")]
        if bare
        else []
    )
    if not trials:
        raise DataError(
            f"{folder} holds {bare:,} W&B runs, none with files/config.yaml; synchronise them with "
            "`wandb sync`, and export the runs table as CSV"
        )
    return tabulate(trials, SourceMetadata(source=f"W&B folder {folder.resolve().parent.name!r}"), notes=notes)


def _is_run(folder: Path) -> bool:
    return RUN_FOLDER.fullmatch(folder.name) is not None and (folder / "files").is_dir()


def _runs(folder: Path, most: int | None = None) -> Iterator[Path]:
    return (place for place in islice(folder.iterdir(), most) if _is_run(place))


def _runs_folder(path: Path) -> Path | None:
    """The folder itself, or the wandb inside."""
    if next(_runs(path, LOOK_AT), None) is not None:
        return path
    inside = path / "wandb"
    return _runs_folder(inside) if inside.is_dir() else None


def _local_run(place: Path) -> Trial | None:
    """A run that has no summary has not ended."""
    config_file, summary_file = place / "files" / "config.yaml", place / "files" / "wandb-summary.json"
    if not config_file.is_file():
        return None
    try:
        config = as_dict(read_yaml(config_file))
    except FormatError:
        return None
    if config is None:
        return None
    try:
        summary = as_dict(read_json(summary_file)) or {}
    except PedanovaError:
        summary = {}
    runtime = summary.get("_runtime")
    other = {"run": place.name, "runtime": runtime if isinstance(runtime, int | float) else math.nan}
    return Trial(_settings(config), _results(summary), "finished" if summary else "running", other)


TABLE = Kind(
    "W&B runs table",
    "a .csv file with Name and State, or with config and summary",
    "pedanova analyze wandb_export.csv --objective val_loss",
    "path",
    fits_table,
    read_table,
)
FRAME = Kind(
    "W&B runs data frame",
    "a data frame with columns config and summary, or one of an exported runs table",
    "pedanova.analyze(runs_df, 'val_loss')",
    "object",
    fits_frame,
    read_runs,
)
FOLDER = Kind(
    "W&B folder",
    "a folder wandb with run-* or offline-run-* folders",
    "pedanova analyze wandb --objective val_loss",
    "path",
    fits_folder,
    read_folder,
)
KINDS = (TABLE, FRAME, FOLDER)
