"""Kernel Tuner: a cache file (JSON), to which the tuner may still write."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from pedanova.base.notes import Note
from pedanova.data.records import Records, SourceMetadata
from pedanova.data.regions import Direction
from pedanova.errors import FormatError
from pedanova.sources.logs.trials import Trial, only_numbers, tell
from pedanova.sources.reader import json_head, read_json, read_text
from pedanova.sources.spaces.described import Described, as_choices, distinct_labels, if_understood
from pedanova.space.values import shown

PEEK = 65_536
MARKS = (b'"kernel_name"', b'"tune_params_keys"')
SUFFIXES = (".json",)
ERROR = re.compile(r"(Error|Invalid|CompilationFailed|RuntimeFailed)Config")
FAILED = 1e20  # the objective that older versions write for a configuration that failed
OWN = re.compile(r"timestamp|(compile|verification|benchmark|strategy|framework)_time")  # of the tuner, not the kernel
DIRECTIONS: tuple[tuple[Direction, re.Pattern[str]], ...] = (
    ("minimize", re.compile(r"time|energy|cost|loss")),
    ("maximize", re.compile(r"fitness|[GT](FLOPS?|B)/[sWJ]")),
)  # of the objectives that the tool knows


def fits(path: Path) -> bool:
    start = json_head(path, PEEK, SUFFIXES)
    return all(mark in start for mark in MARKS)


def read(path: Path) -> Records:
    plain, notes = _plain(path)
    names, entries, goal = plain["tune_params_keys"], plain["cache"], plain.get("objective") or "time"
    goals = [str(name) for name in (goal if isinstance(goal, list) else [goal])]
    if not isinstance(entries, dict):
        raise FormatError(f"{path}: cache is {shown(entries)}; it must be an object with one entry per configuration")
    trials = [_trial(path, key, entry, names, goals) for key, entry in entries.items()]
    ways = [way for goal in goals for way, known in DIRECTIONS if known.fullmatch(goal)]
    metadata = SourceMetadata(
        source=f"Kernel Tuner cache of {plain['kernel_name']!r} on {plain.get('device_name', 'an unknown device')!r}",
        objectives=tuple(goals),
        directions=tuple(ways) if len(ways) == len(goals) else (),
        ordered=True,
    )
    return tell(trials, metadata, if_understood(lambda: _space(plain["tune_params"]), notes), notes=notes)


def _plain(path: Path) -> tuple[dict[str, Any], list[Note]]:
    """The content of a cache. While the tool runs, the file lacks its last brackets, and perhaps a part of a line."""
    text = read_text(path).rstrip()
    whole = text.rpartition("\n")[0].rstrip()
    for attempt, lost in ((text, 0), (f"{text.rstrip(',')}}}}}", 0), (f"{whole.rstrip(',')}}}}}", 1)):
        with suppress(ValueError, RecursionError):
            words = "the last line of the cache is incomplete, so it is left out"
            return json.loads(attempt), [Note("unused", words)] * lost
    return read_json(path), []  # raises an error that says what is wrong


def _trial(path: Path, key: str, entry: Any, names: list[str], goals: list[str]) -> Trial:
    if not isinstance(entry, Mapping):
        raise FormatError(f"{path}: the configuration {key!r} is {shown(entry)}; it must be an object; was it damaged?")
    rest = {name: value for name, value in entry.items() if name not in names}
    numbers = {name: value for name, value in only_numbers(rest).items() if not OWN.fullmatch(name)}
    failed = "__error__" in rest or any(isinstance(one, str) and ERROR.fullmatch(one) for one in rest.values())
    failed = failed or any(numbers.get(name, FAILED) == FAILED for name in goals)
    other = {name: value for name, value in rest.items() if OWN.fullmatch(name)}
    settings = {name: entry[name] for name in names if name in entry}
    return Trial(settings, dict.fromkeys(goals) if failed else numbers, "FAIL" if failed else "COMPLETE", other)


def _space(values: Mapping[str, list[Any]]) -> Described:
    fixed = tuple(name for name, own in values.items() if len(own) == 1)
    varied = {name: own for name, own in values.items() if name not in fixed}
    return Described(
        {name: as_choices(distinct_labels(own), ordered=True) for name, own in varied.items()}, fixed=fixed
    )
