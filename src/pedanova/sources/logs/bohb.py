"""Runs of BOHB and Hyperband by HpBandSter: a folder with configs.json and results.json.

The loss is minimised. Of several budgets the highest is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pedanova.base.notes import Note
from pedanova.base.progress import watched
from pedanova.data.column import shorten
from pedanova.data.records import Records, SourceMetadata
from pedanova.errors import FormatError
from pedanova.sources.kind import Kind, has, read_json_rows
from pedanova.sources.logs.budgets import number_or_nan, tell
from pedanova.sources.logs.trials import Trial, only_numbers
from pedanova.sources.spaces.configspace import read_space

NAMES = ("configs.json", "results.json")
UNFINISHED = ("RUNNING", "QUEUED", "REVIEW")


def fits(place: Path) -> bool:
    folder = place.parent if place.name == "results.json" else place
    return has(folder, *NAMES)


def read(place: Path, _: str | None) -> Records:
    folder = place if place.is_dir() else place.parent
    configs, notes = _read_configs(folder / NAMES[0])
    rows, more = read_json_rows(folder / NAMES[1])
    runs: dict[tuple[str, str], Trial] = {}
    lost = 0
    for number, row in enumerate(watched(rows, "results", len(rows)), start=1):
        name, budget, times, result = _parts(folder / NAMES[1], number, row)
        if name not in configs:
            lost += 1
            continue
        runs[name, str(budget)] = _trial(name, configs[name], budget, times, result)  # the last word counts
    if lost:
        more.append(Note("unused", f"{lost} results have no configuration in {NAMES[0]}; left out"))
    metadata = SourceMetadata(
        source=f"HpBandSter run {folder.name!r}", objectives=("loss",), directions=("minimize",), ordered=True
    )
    return tell(list(runs.values()), metadata, read_space(folder), notes=[*notes, *more])


def _read_configs(file: Path) -> tuple[dict[str, Mapping[str, object]], list[Note]]:
    rows, notes = read_json_rows(file)
    configs: dict[str, Mapping[str, object]] = {}
    for number, row in enumerate(rows, start=1):
        match row:
            case [[*key], dict(config), *_]:
                configs[_name(key)] = config
            case _:
                raise FormatError(
                    f"{file}: line {number}, {shorten(row)}, must be [[0, 0, 0], {{settings}}, {{info}}]; mend it"
                )
    return configs, notes


def _parts(file: Path, number: int, row: object) -> tuple[str, object, object, object]:
    match row:
        case [[*key], budget, times, result, *_]:
            return _name(key), budget, times, result
    raise FormatError(
        f"{file}: line {number}, {shorten(row)}, must be [[0, 0, 0], budget, times, result, exception]; mend it"
    )


def _name(key: list[Any]) -> str:
    return "_".join(str(part) for part in key)


def _trial(name: str, config: Mapping[str, object], budget: object, times: object, result: object) -> Trial:
    """A run without a result crashed; numbers in its info are kept beside the loss."""
    found = result if isinstance(result, dict) else {}
    info = found.get("info")
    details = only_numbers(info) if isinstance(info, dict) else {}
    other: dict[str, object] = {**details, "config_id": name, "budget": number_or_nan(budget)}
    if isinstance(times, dict):
        other["time"] = number_or_nan(times.get("finished")) - number_or_nan(times.get("started"))
    state = "SUCCESS" if isinstance(result, dict) else "CRASHED"
    metadata = info.get("state") if isinstance(info, dict) else None
    if isinstance(metadata, str):
        word = metadata.rpartition(".")[2].upper()
        state = "RUNNING" if word in UNFINISHED else "CRASHED" if "CRASH" in word else state
    return Trial(config, {"loss": number_or_nan(found.get("loss"))}, state, other)


KIND = Kind(
    "HpBandSter run (BOHB)",
    "a folder with configs.json and results.json",
    "pedanova analyze bohb_run/",
    "path",
    fits,
    read,
)
