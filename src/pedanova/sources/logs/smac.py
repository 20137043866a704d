"""Runs of SMAC3, version 1 and 2: a folder with runhistory.json, or that file itself.

SMAC minimises. Of several budgets the highest is used; seeds and instances are averaged.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pedanova.base.progress import watched
from pedanova.data.column import shorten
from pedanova.data.records import Records, SourceMetadata
from pedanova.errors import FormatError
from pedanova.sources.logs.trials import Trial, left_out, number_or_nan, only_numbers, tell, whole_or_none
from pedanova.sources.reader import choose, has, read_json, read_text
from pedanova.sources.spaces.configspace import read_space

HISTORY = "runhistory.json"
KEY = ("config_id", "instance", "seed", "budget")
TIMES = ("starttime", "endtime")
OLD_ROWS = {4: ("cost", "time", "status", "additional_info"), 6: ("cost", "time", "status", *TIMES, "additional_info")}
NEW_ROWS = {
    10: (*KEY, "cost", "time", "status", *TIMES, "additional_info"),
    11: (*KEY, "cost", "time", "cpu_time", "status", *TIMES, "additional_info"),
}
# Version 1 writes names; version 2 these numbers, and those above 4 before its first release.
STATUS = ("RUNNING", "SUCCESS", "CRASHED", "TIMEOUT", "MEMORYOUT", "MEMORYOUT", "DONOTADVANCE", "STOP", "RUNNING")


def find_runs(place: Path) -> list[Path]:
    """Folders with a run history: this one, or those one or two below it (name/seed)."""
    if has(place, HISTORY):
        return [place]
    if not place.is_dir():
        return []
    return sorted(file.parent for depth in ("*", "*/*") for file in place.glob(f"{depth}/{HISTORY}"))


def fits(place: Path) -> bool:
    return bool(find_runs(place)) or (place.is_file() and bool(re.fullmatch(r".*runhistory.*\.json", place.name)))


def read(place: Path, study: str | None) -> Records:
    """A run is named by its folders, or by the last of them where no other has that name."""
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
        raise FormatError(f"{file} is no run history of SMAC3: it needs 'data' and 'configs'; was it damaged?")
    runs = [as_run(file, number, row) for number, row in enumerate(rows)]
    names = objective_names(
        file.parent, max((len(run["cost"]) for run in runs if isinstance(run["cost"], list)), default=1)
    )
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
    """One entry of the history by name, whichever version wrote it."""
    if isinstance(row, dict) and {"config_id", "cost", "status"} <= row.keys():
        return row
    match row:
        case [[*key], [*result]] if len(key) in (3, 4) and len(result) in OLD_ROWS:
            return dict(zip(KEY, key, strict=False)) | dict(zip(OLD_ROWS[len(result)], result, strict=True))
        case [*cells] if len(cells) in NEW_ROWS:
            return dict(zip(NEW_ROWS[len(cells)], cells, strict=True))
    raise FormatError(f"{file}: entry {number} of data, {shorten(row)}, is no run of SMAC3; was it damaged?")


def _trial(run: Mapping[str, Any], params: Mapping[str, object], names: tuple[str, ...]) -> Trial:
    cost = run["cost"]
    costs = cost if isinstance(cost, list) else [cost]
    if len(costs) != len(names):
        costs = [None] * len(names)  # a run that broke before it could tell
    info = run.get("additional_info")
    other = {key: whole_or_none(run[key]) for key in KEY if run.get(key) is not None}
    times = {key: number_or_nan(run[key]) for key in ("time", "cpu_time") if run.get(key) is not None}
    return Trial(
        params,
        {name: number_or_nan(one) for name, one in zip(names, costs, strict=True)},
        state_of(run["status"]),
        {**(only_numbers(info) if isinstance(info, dict) else {}), **other, **times},
    )


def state_of(status: object) -> str:
    """SMAC's word for how a run ended; a run that should not advance has a result all the same."""
    if isinstance(status, dict):
        status = status.get("__enum__")
    if isinstance(status, int) and not isinstance(status, bool):
        word = STATUS[status] if 0 <= status < len(STATUS) else "FAIL"
    else:
        word = str(status).rpartition(".")[2].upper()
    return "SUCCESS" if word == "DONOTADVANCE" else word


def objective_names(folder: Path, count: int) -> tuple[str, ...]:
    """As the scenario names the costs; plain ones where it does not."""
    names: list[Any] = []
    if (folder / "scenario.json").is_file():
        scenario = read_json(folder / "scenario.json")
        given = scenario.get("objectives") if isinstance(scenario, dict) else None
        names = given if isinstance(given, list) else [given]
    elif (folder / "scenario.txt").is_file():
        match = re.search(r"^multi_objectives\s*=\s*(.+)$", read_text(folder / "scenario.txt"), re.MULTILINE)
        names = [name.strip() for name in match[1].split(",")] if match else []
    known = tuple(name for name in names if isinstance(name, str) and name)
    if len(known) == count == len(set(known)):
        return known
    return ("cost",) if count == 1 else tuple(f"cost_{i + 1}" for i in range(count))
