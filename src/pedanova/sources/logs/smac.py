"""SMAC3 and DeepCAVE: runs of configurations from a ConfigSpace.

For SMAC3 (versions 1 and 2): a folder with runhistory.json, or that file; its objective is minimised. For DeepCAVE: the
folder of a run. Only the highest budget is used; seeds and instances are averaged.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pedanova.base.notes import Note
from pedanova.base.progress import watched
from pedanova.data.records import Records, SourceMetadata
from pedanova.data.regions import Direction
from pedanova.errors import FormatError
from pedanova.sources.logs.trials import Trial, left_out, only_numbers, tell
from pedanova.sources.reader import choose, has, read_json, read_json_rows
from pedanova.sources.spaces.configspace import read_space
from pedanova.sources.spaces.described import number_or_nan
from pedanova.space.values import shown

HISTORY = "runhistory.json"
KEY = ("config_id", "instance", "seed", "budget")
TIMES = ("starttime", "endtime")
OLD_ROWS = {4: ("cost", "time", "status", "additional_info"), 6: ("cost", "time", "status", *TIMES, "additional_info")}
NEW_ROWS = {
    10: (*KEY, "cost", "time", "status", *TIMES, "additional_info"),
    11: (*KEY, "cost", "time", "cpu_time", "status", *TIMES, "additional_info"),
}
# Version 1 writes names, version 2 these numbers; numbers above 4 are from before its first release.
STATUS = ("RUNNING", "SUCCESS", "CRASHED", "TIMEOUT", "MEMORYOUT", "MEMORYOUT", "DONOTADVANCE", "STOP", "RUNNING")


def find_runs(place: Path) -> list[Path]:
    """The folders with a run history: `place` itself, or folders one or two levels below it (name/seed)."""
    if has(place, HISTORY):
        return [place]
    if not place.is_dir():
        return []
    return sorted(file.parent for depth in ("*", "*/*") for file in place.glob(f"{depth}/{HISTORY}"))


def fits(place: Path) -> bool:
    return bool(find_runs(place)) or (place.is_file() and bool(re.fullmatch(r".*runhistory.*\.json", place.name)))


def read(place: Path, study: str | None) -> Records:
    """Read a run; `study` is the run's folder: its path, or its name if the name is unique."""
    if place.is_file():
        return read_history(place)
    runs = {str(run.relative_to(place)): run for run in find_runs(place)}
    short = [name for name, run in runs.items() if run.name == study]
    return read_history(choose(runs, short[0] if len(short) == 1 else study, place, "SMAC3 run") / HISTORY)


def read_history(file: Path) -> Records:
    history = read_json(file)
    configs = history.get("configs") if isinstance(history, dict) else None
    rows = history.get("data") if isinstance(history, dict) else None
    if not isinstance(configs, dict) or not isinstance(rows, list):
        raise FormatError(f"{file} is not a run history of SMAC3: it needs 'data' and 'configs'; was it damaged?")
    runs = [as_run(file, number, row) for number, row in enumerate(rows)]
    several = max((len(run["cost"]) for run in runs if isinstance(run["cost"], list)), default=1)
    names = objective_names(file.parent, several)
    trials, lost = [], 0
    for run in watched(runs, "SMAC3 runs", len(runs)):
        params = configs.get(str(run["config_id"]))
        if isinstance(params, dict):
            trials.append(_trial(run, params, names))
        else:
            lost += 1
    notes = left_out(lost, f"runs have no configuration in {file.name}")
    metadata = SourceMetadata(
        source=f"SMAC3 run {file.parent.name!r}",
        objectives=names,
        directions=tuple("minimize" for _ in names),
        ordered=True,
    )
    return tell(trials, metadata, read_space(file.parent), notes=notes)


def as_run(file: Path, number: int, row: object) -> Mapping[str, Any]:
    """One entry of the run history as a dict, from any version of the format."""
    if isinstance(row, dict) and {"config_id", "cost", "status"} <= row.keys():
        return row
    match row:
        case [[*key], [*result]] if len(key) in (3, 4) and len(result) in OLD_ROWS:
            return dict(zip(KEY, key, strict=False)) | dict(zip(OLD_ROWS[len(result)], result, strict=True))
        case [*cells] if len(cells) in NEW_ROWS:
            return dict(zip(NEW_ROWS[len(cells)], cells, strict=True))
    raise FormatError(f"{file}: entry {number} of data, {shown(row)}, is not a run of SMAC3; was it damaged?")


def _trial(run: Mapping[str, Any], params: Mapping[str, object], names: tuple[str, ...]) -> Trial:
    cost = run["cost"]
    costs = cost if isinstance(cost, list) else [cost]
    if len(costs) != len(names):
        costs = [None] * len(names)  # a run that crashed before it had a cost
    info = run.get("additional_info")
    other = {key: run[key] for key in KEY if run.get(key) is not None}
    times = {key: number_or_nan(run[key]) for key in ("time", "cpu_time") if run.get(key) is not None}
    results = {name: number_or_nan(one) for name, one in zip(names, costs, strict=True)}
    told = only_numbers(info) if isinstance(info, dict) else {}
    return Trial(params, results, state_of(run["status"]), {**told, **other, **times})


def state_of(status: object, numbered: Sequence[str] = STATUS) -> str:
    """The state of a run from SMAC's status; a run that "should not advance" still has a result."""
    if isinstance(status, dict):
        status = status.get("__enum__")
    if isinstance(status, int) and not isinstance(status, bool):
        word = numbered[status] if 0 <= status < len(numbered) else "FAIL"
    else:
        word = str(status).rpartition(".")[2].strip().upper().replace(" ", "_")
    return {"DONOTADVANCE": "SUCCESS", "NOT_EVALUATED": "PENDING"}.get(word, word)


def objective_names(folder: Path, count: int) -> tuple[str, ...]:
    """The names of the objectives in scenario.json; default names if it has none."""
    names: list[Any] = []
    if (folder / "scenario.json").is_file():
        scenario = read_json(folder / "scenario.json")
        given = scenario.get("objectives") if isinstance(scenario, dict) else None
        names = given if isinstance(given, list) else [given]
    known = tuple(name for name in names if isinstance(name, str) and name)
    if len(known) == count == len(set(known)):
        return known
    return ("cost",) if count == 1 else tuple(f"cost_{i + 1}" for i in range(count))


DEEPCAVE_HISTORY = "history.jsonl"
DEEPCAVE_STATUS = ("FAIL", "SUCCESS", "TIMEOUT", "MEMORYOUT", "CRASHED", "ABORTED", "PENDING")
ROWS = {
    7: ("config_id", "budget", "costs", "start", "end", "status", "additional"),
    8: ("config_id", "budget", "seed", "costs", "start", "end", "status", "additional"),
}
MADE_UP = -1  # the seed that DeepCAVE writes if there was none


def fits_deepcave(place: Path) -> bool:
    return has(place.parent if place.name == DEEPCAVE_HISTORY else place, "meta.json", "configs.json", DEEPCAVE_HISTORY)


def read_deepcave(place: Path) -> Records:
    folder = place if place.is_dir() else place.parent
    goals = _objectives(folder / "meta.json")
    configs = read_json(folder / "configs.json")
    if not isinstance(configs, dict):
        raise FormatError(f"{folder / 'configs.json'} must be a dict such as {{'1': {{'lr': 0.1}}}}; was it damaged?")
    file = folder / DEEPCAVE_HISTORY
    rows, notes = read_json_rows(file)
    trials, lost = [], 0
    for number, row in enumerate(watched(rows, "trials", len(rows)), start=1):
        run = dict(zip(ROWS[len(row)], row, strict=True)) if isinstance(row, list) and len(row) in ROWS else row
        if not isinstance(run, dict) or not {"config_id", "costs"} <= run.keys():
            raise FormatError(f"{file}: line {number}, {shown(row)}, is not a trial of DeepCAVE; was it damaged?")
        params = configs.get(str(run["config_id"]))
        if isinstance(params, dict):
            trials.append(_deepcave_trial(file, number, run, params, [name for name, _ in goals]))
        else:
            lost += 1
    notes += left_out(lost, "trials have no configuration in configs.json")
    chosen = [goal for goal in goals if goal[0].lower() != "time"] or goals
    if len(chosen) < len(goals):
        notes.append(Note("source", "DeepCAVE logs the run time as an objective; it is used only if you name it"))
    metadata = SourceMetadata(
        source=f"DeepCAVE run {folder.name!r}",
        objectives=tuple(name for name, _ in chosen),
        directions=tuple(direction for _, direction in chosen),
    )
    return tell(trials, metadata, read_space(folder), notes=notes)


def _objectives(file: Path) -> list[tuple[str, Direction]]:
    meta = read_json(file)
    listed = meta.get("objectives") if isinstance(meta, dict) else None
    goals: list[tuple[str, Direction]] = []
    for item in listed if isinstance(listed, list) else []:
        if not isinstance(item, dict) or not isinstance(item.get("name"), str):
            raise FormatError(f"{file}: the objective {shown(item)} needs a name; correct the file")
        goals.append((item["name"], "maximize" if item.get("optimize") == "upper" else "minimize"))
    if not goals or len({name for name, _ in goals}) < len(goals):
        words = f"{file}: objectives is {shown(listed)}; it must be a list of objectives, each with its own name"
        raise FormatError(words)
    return goals


def _deepcave_trial(
    file: Path, number: int, run: Mapping[str, Any], params: Mapping[str, object], names: list[str]
) -> Trial:
    costs = run["costs"] if isinstance(run["costs"], list) else [run["costs"]]
    if len(costs) != len(names):
        raise FormatError(f"{file}: line {number} has {len(costs)} costs for {len(names)} objectives; correct the line")
    start, end = (number_or_nan(run.get(key, run.get(f"{key}_time"))) for key in ("start", "end"))
    other: dict[str, object] = {"config_id": run["config_id"], "budget": number_or_nan(run.get("budget"))}
    other["duration"] = end - start
    if run.get("seed") not in (None, MADE_UP):
        other["seed"] = run["seed"]
    results = {name: number_or_nan(cost) for name, cost in zip(names, costs, strict=True)}
    return Trial(params, results, state_of(run.get("status"), DEEPCAVE_STATUS), other)
