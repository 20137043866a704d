"""Weights & Biases: the runs table (CSV or data frame), and a local wandb folder. The network is not used."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pedanova.data.column import as_column, plain_value, values_in
from pedanova.data.records import Records, SourceMetadata
from pedanova.errors import FormatError, PedanovaError
from pedanova.sources.logs.trials import RunFolders, Trial, known_state, only_numbers, tabulate
from pedanova.sources.reader import read_json, read_yaml
from pedanova.sources.tables.files import read_file, table_cells, table_columns
from pedanova.sources.tables.frames import read_frame
from pedanova.sources.tables.json_text import as_dict, spelled_number
from pedanova.space.values import shown

BOOKKEEPING = {  # columns of the runs table that are neither parameters nor results
    "Name", "ID", "State", "Notes", "User", "Tags", "Created", "Updated", "End Time", "Runtime", "Sweep", "Job Type",
    "Group", "Hostname", "GitHub", "Git", "Commit", "Description", "GPU Type", "GPU Count", "CPU Count", "OS",
    "Python Version", "Host", "Relative Time", "Wall Time", "Command", "Program", "Path", "Project", "Entity", "URL",
}  # fmt: skip
RUN_FOLDER = re.compile(r"(offline-)?run-\d{8}_\d{6}-.+")


def _is_runs_table(names: Iterable[object]) -> bool:
    known = {name for name in names if isinstance(name, str)}
    if {"config", "summary"} <= known:
        return True
    return {"Name", "State"} <= known and len(BOOKKEEPING & known) > 2


def fits_table(data: object) -> bool:
    return _is_runs_table(table_columns(data))


def read_table(data: Any) -> Records:
    source = f"W&B runs table {data.name!r}" if isinstance(data, Path) else "W&B runs table"
    if {"config", "summary"} <= set(table_columns(data)):
        return _read_dicts(table_cells(data), source)
    return _read_flat(read_file(str(data)) if isinstance(data, Path) else read_frame(data), source)


def _read_flat(records: Records, source: str) -> Records:
    """Read a table with one column for each parameter and result; parameters have names such as config.lr."""
    columns = dict(records.columns)
    aside = tuple(name for name in columns if name in BOOKKEEPING - {"State"} or name.startswith("_"))
    marked = tuple(name for name in columns if name.startswith(("config.", "config/", "config:")))
    results = [name for name in columns if name not in (*marked, *aside, "State")]
    numbers = tuple(name for name in results if columns[name].labels is None and not columns[name].is_time)
    if columns["State"].labels is not None:
        states = [None if word is None else known_state(str(word)) for word in values_in(columns["State"])]
        columns["State"] = as_column("State", states)
    metadata = SourceMetadata(
        source=source,
        params=marked,
        objectives=numbers if marked and len(numbers) == 1 else (),
        metrics=numbers if marked else (),
        aside=aside,
        state="State" if columns["State"].labels is not None else None,
    )
    return replace(records, columns=columns, metadata=metadata)


def _read_dicts(cells: Mapping[str, list[Any]], source: str) -> Records:
    """Read a table with two columns of dicts: the parameters and the results of each run."""
    states = cells.get("state", cells.get("State"))
    names = cells.get("name", cells.get("Name"))
    trials = []
    for row, (config, summary) in enumerate(zip(cells["config"], cells["summary"], strict=True)):
        settings, results = _settings(_dict(config, "config", row)), _results(_dict(summary, "summary", row))
        other = {} if names is None else {"name": plain_value(names[row])}
        trials.append(Trial(settings, results, "finished" if states is None else str(states[row]), other))
    return tabulate(trials, SourceMetadata(source=source))


def _dict(cell: object, name: str, row: int) -> dict[str, Any]:
    if cell is None or plain_value(cell) in (None, ""):
        return {}
    content = as_dict(cell)
    if content is None:
        raise FormatError(f'{name}: row {row} has {shown(cell)}; it must be a dict such as {{"lr": 0.1}}')
    return content


def _settings(config: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters, without W&B's own keys (which begin with _); {"value": 0.1, "desc": null} becomes 0.1."""
    own = {key: value for key, value in config.items() if not key.startswith("_") and value is not None}
    parts = {"value"}, {"value", "desc"}
    wrapped = {key for key, one in own.items() if isinstance(one, dict) and parts[0] <= set(one) <= parts[1]}
    return {key: value["value"] if key in wrapped else value for key, value in own.items()}


def _results(summary: Mapping[str, Any], prefix: str = "") -> dict[str, object]:
    """The numeric results by name, nested names joined by dots; images, tables and other typed dicts are left out."""
    flat: dict[str, object] = {}
    for key, value in summary.items():
        if str(key).startswith("_"):
            continue
        if isinstance(value, dict):
            flat |= {} if "_type" in value else _results(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = spelled_number(value)
    return only_numbers(flat)


def _is_run(folder: Path) -> bool:
    return RUN_FOLDER.fullmatch(folder.name) is not None and (folder / "files").is_dir()


def _local_run(place: Path) -> Trial | None:
    """A trial from the local folder of a run; unfinished if it has no summary."""
    config_file, summary_file = place / "files" / "config.yaml", place / "files" / "wandb-summary.json"
    config = as_dict(read_yaml(config_file)) if config_file.is_file() else None
    if config is None:
        return None
    try:
        summary = as_dict(read_json(summary_file)) or {}
    except PedanovaError:
        summary = {}
    runtime = summary.get("_runtime")
    other = {"run": place.name, "runtime": runtime if isinstance(runtime, int | float) else math.nan}
    return Trial(_settings(config), _results(summary), "finished" if summary else "running", other)


FOLDER = RunFolders("W&B run", _is_run, _local_run, settings="files/config.yaml",
    remedy="synchronise the runs with `wandb sync`, and export the runs table as CSV",
    results="files/wandb-summary.json")  # fmt: skip
