"""Runs of DeepCAVE: its own folder, and its tables configspace.csv and trials.csv."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pedanova.base.notes import Note
from pedanova.base.progress import watched
from pedanova.data.column import shorten
from pedanova.data.records import Records, SourceMetadata
from pedanova.data.regions import Direction
from pedanova.errors import FormatError
from pedanova.sources.logs.trials import Trial, left_out, number_or_nan, tell, whole_or_none
from pedanova.sources.reader import has, read_json, read_json_rows
from pedanova.sources.spaces.configspace import describe, read_space
from pedanova.sources.tables.files import read_file
from pedanova.sources.tables.frames import record_cells

HISTORIES = ("history.jsonl", "history.json")
STATUS = ("FAIL", "SUCCESS", "TIMEOUT", "MEMORYOUT", "CRASHED", "ABORTED", "PENDING")
ROWS = {
    7: ("config_id", "budget", "costs", "start", "end", "status", "additional"),
    8: ("config_id", "budget", "seed", "costs", "start", "end", "status", "additional"),
}
TABLES = ("configspace.csv", "trials.csv")
MADE_UP = -1  # the seed that DeepCAVE writes where there was none
METRIC = re.compile(r"metric:\s*(?P<name>.+?)\s*(?:\[(?P<bounds>[^\]]*)\])?\s*(?:\((?P<goal>\w+)\))?\s*")


def fits(place: Path) -> bool:
    folder = place.parent if place.name in HISTORIES else place
    return has(folder, "meta.json", "configs.json") and _history(folder) is not None


def read(place: Path) -> Records:
    folder = place if place.is_dir() else place.parent
    goals = _objectives(folder / "meta.json")
    configs = read_json(folder / "configs.json")
    if not isinstance(configs, dict):
        raise FormatError(f"{folder / 'configs.json'} must hold configurations by number; was it damaged?")
    file = _history(folder) or folder / HISTORIES[0]
    rows, notes = read_json_rows(file)
    trials, lost = [], 0
    for number, row in enumerate(watched(rows, "trials", len(rows)), start=1):
        run = dict(zip(ROWS[len(row)], row, strict=True)) if isinstance(row, list) and len(row) in ROWS else row
        if not isinstance(run, dict) or not {"config_id", "costs"} <= run.keys():
            raise FormatError(f"{file}: line {number}, {shorten(row)}, is no trial of DeepCAVE; was it damaged?")
        params = configs.get(str(run["config_id"]))
        if isinstance(params, dict):
            trials.append(_trial(file, number, run, params, [name for name, _ in goals]))
        else:
            lost += 1
    notes += left_out(lost, "trials have no configuration in configs.json")
    chosen = [goal for goal in goals if goal[0].lower() != "time"] or goals
    if len(chosen) < len(goals):
        notes.append(Note("source", "the time that DeepCAVE keeps beside every objective is not taken as one"))
    metadata = SourceMetadata(
        source=f"DeepCAVE run {folder.name!r}",
        objectives=tuple(name for name, _ in chosen),
        directions=tuple(direction for _, direction in chosen),
    )
    return tell(trials, metadata, read_space(folder), notes=notes)


def _history(folder: Path) -> Path | None:
    return next((folder / name for name in HISTORIES if (folder / name).is_file()), None)


def _objectives(file: Path) -> list[tuple[str, Direction]]:
    meta = read_json(file)
    listed = meta.get("objectives") if isinstance(meta, dict) else None
    goals: list[tuple[str, Direction]] = []
    for item in listed if isinstance(listed, list) else []:
        if not isinstance(item, dict) or not isinstance(item.get("name"), str):
            raise FormatError(f"{file}: the objective {shorten(item)} needs a name; mend it")
        goals.append((item["name"], "maximize" if item.get("optimize") == "upper" else "minimize"))
    if not goals or len({name for name, _ in goals}) < len(goals):
        raise FormatError(f"{file}: objectives is {shorten(listed)}; it must list them, each by its own name")
    return goals


def _trial(file: Path, number: int, run: Mapping[str, Any], params: Mapping[str, object], names: list[str]) -> Trial:
    costs = run["costs"] if isinstance(run["costs"], list) else [run["costs"]]
    if len(costs) != len(names):
        raise FormatError(f"{file}: line {number} has {len(costs)} costs for {len(names)} objectives; mend it")
    start, end = (number_or_nan(run.get(key, run.get(f"{key}_time"))) for key in ("start", "end"))
    other: dict[str, object] = {
        "config_id": whole_or_none(run["config_id"]),
        "budget": number_or_nan(run.get("budget")),
        "duration": end - start,
    }
    if run.get("seed") not in (None, MADE_UP):
        other["seed"] = whole_or_none(run["seed"])
    results = {name: number_or_nan(cost) for name, cost in zip(names, costs, strict=True)}
    return Trial(params, results, state_of(run.get("status")), other)


def state_of(status: object) -> str:
    if isinstance(status, int) and not isinstance(status, bool):
        return STATUS[status] if 0 < status < len(STATUS) else "FAIL"
    word = str(status).rpartition(".")[2].strip().upper()
    return "PENDING" if word.replace(" ", "_") == "NOT_EVALUATED" else word


def fits_tables(place: Path) -> bool:
    folder = place.parent if place.name == TABLES[1] else place
    return has(folder, *TABLES)


def read_tables(place: Path) -> Records:
    folder = place if place.is_dir() else place.parent
    items = [_item(folder / TABLES[0], row) for row in rows_of(read_file(str(folder / TABLES[0])))]
    try:  # put into the words of a ConfigSpace document
        described = describe({"hyperparameters": items})
    except FormatError as error:
        raise FormatError(f"{folder / TABLES[0]}: {error}") from None
    file = folder / TABLES[1]
    table = read_file(str(file))
    metrics = metrics_among(table.columns)
    names = [name for name, _ in metrics.values()]
    if not names or len(set(names)) < len(names):
        raise FormatError(f"{file} needs columns such as 'metric:accuracy [0; 1] (maximize)', each once")
    settings = {*described.domains, *described.fixed}
    trials = []
    for row in rows_of(table):
        seed = row.get("seed")
        trials.append(
            Trial(
                {name: value for name, value in row.items() if name in settings},
                {name: number_or_nan(row.get(column)) for column, (name, _) in metrics.items()},
                state_of(row.get("status", "SUCCESS")),
                {key: row.get(key) for key in ("config_id", "budget") if key in row and key not in settings}
                | ({} if seed in (None, MADE_UP) or "seed" in settings else {"seed": seed}),
            )
        )
    metadata = SourceMetadata(
        source=f"DeepCAVE table {folder.name!r}",
        objectives=tuple(names),
        directions=tuple(direction for _, direction in metrics.values()),
    )
    return tell(trials, metadata, described)


def _item(file: Path, row: Mapping[str, object]) -> dict[str, object]:
    name, kind = str(row.get("name", "")), row.get("type")
    if kind in ("float", "integer"):
        law = row.get("distribution", "uniform")
        return {
            "name": name,
            "type": f"{law}_{'int' if kind == 'integer' else 'float'}",
            "lower": row.get("lower"),
            "upper": row.get("upper"),
            "log": str(row.get("log")).lower() in ("true", "1", "1.0"),
        }
    if kind in ("categorical", "ordinal"):
        places = sorted(int(match[1]) for key in row if (match := re.fullmatch(r"item_(\d+)", key)))
        items = [row[f"item_{place}"] for place in places]
        ordered = kind == "ordinal" or str(row.get("ordered")).lower() in ("true", "1", "1.0")
        return {"name": name, "type": "ordinal", "sequence": items} if ordered else {
            "name": name, "type": "categorical", "choices": items
        }  # fmt: skip
    if kind == "constant":
        return {"name": name, "type": "constant", "value": row.get("default")}
    raise FormatError(f"{file}: {name!r} is of type {shorten(kind)}; use float, integer or categorical")


def metrics_among(columns: Iterable[str]) -> dict[str, tuple[str, Direction]]:
    """Results by the names of their columns, each with its own name and direction.

    Examples
    --------
    >>> metrics_among(["lr", "metric:accuracy [0.0, 1.0] (maximize)"])
    {'metric:accuracy [0.0, 1.0] (maximize)': ('accuracy', 'maximize')}
    """
    matches = {column: METRIC.fullmatch(column) for column in columns}
    return {
        column: (match["name"], "maximize" if match["goal"] == "maximize" else "minimize")
        for column, match in matches.items()
        if match is not None
    }


def rows_of(records: Records) -> list[dict[str, object]]:
    """A table row by row, without what is missing."""
    cells = record_cells(records)
    rows = zip(*cells.values(), strict=True)
    return [{name: cell for name, cell in zip(cells, row, strict=True) if cell is not None} for row in rows]
