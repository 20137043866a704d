"""Hyperopt: a `Trials` object, the list of its trials, or this list as JSON or JSON lines. Never a pickle."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from pedanova.base.notes import Note
from pedanova.data.column import plain_value
from pedanova.data.records import Records, SourceMetadata
from pedanova.errors import Arg, DataError, FormatError
from pedanova.sources.logs.trials import Trial, only_numbers, tabulate
from pedanova.sources.reader import json_head, read_json, read_json_rows
from pedanova.space.values import shown

PEEK = 65_536  # characters of a file that contain the first trial
ENDED = {"ok": "COMPLETE", "fail": "FAIL"}
ERROR, CANCELLED = 3, 4  # states of a job


def fits(data: object) -> bool:
    if isinstance(data, Path):
        start = json_head(data, PEEK, (".json", ".jsonl", ".ndjson"))
        return all(mark in start for mark in (b'"misc"', b'"vals"', b'"tid"'))
    if isinstance(getattr(data, "_dynamic_trials", None), list):
        return True
    return isinstance(data, list) and bool(data) and _is_trial(data[0])


def _is_trial(entry: object) -> bool:
    return isinstance(entry, Mapping) and "result" in entry and isinstance(entry.get("misc"), Mapping)


def read(data: Any, study: str | None) -> Records:
    if isinstance(data, list):
        return _read(data, study, "Hyperopt trials")
    if not isinstance(data, Path):
        return _read(list(data.trials), study, f"Hyperopt {type(data).__name__}")
    entries = _lines(data)
    plain = read_json(data) if entries is None else entries
    entries = plain.get("trials") if isinstance(plain, dict) else plain
    if not isinstance(entries, list):
        raise FormatError(f"{data}: {shown(plain)} must be a list of trials; dump `trials.trials`")
    return _read(entries, study, f"Hyperopt trials {data.name!r}")


def _lines(file: Path) -> list[Any] | None:
    """The trials of a file with one JSON trial per line; None for a file in another format."""
    with suppress(FormatError):
        rows, _ = read_json_rows(file)
        return rows if rows and all(map(_is_trial, rows)) else None
    return None


def _read(entries: list[Any], study: str | None, source: str) -> Records:
    if study is not None:
        entries = [entry for entry in entries if _is_trial(entry) and entry.get("exp_key") == study]
        if not entries:
            raise DataError(Arg("study", study), " is not an exp_key of these trials; leave it out to read all trials")
    trials = [_trial(number, entry) for number, entry in enumerate(entries)]
    whole = any(isinstance(value, int) for trial in trials for value in trial.params.values())
    notes = [Note("source", "Hyperopt logs a value of hp.choice as a number: 0 is the first choice")] if whole else []
    metadata = SourceMetadata(source=source, objectives=("loss",), directions=("minimize",), ordered=True)
    return tabulate(trials, metadata, notes=notes)


def _trial(number: int, entry: Any) -> Trial:
    if not _is_trial(entry) or not isinstance(entry["misc"].get("vals"), Mapping):
        raise FormatError(f"trial {number}, {shown(entry)}, must be an object with misc.vals and result")
    result = entry["result"] if isinstance(entry["result"], Mapping) else {}
    plain = {str(key): plain_value(value) for key, value in result.items() if not isinstance(value, dict | list)}
    unended = "FAIL" if entry.get("state") in (ERROR, CANCELLED) else "RUNNING"
    # Every trial gets a loss, so that the column exists even if all trials failed.
    return Trial(
        {str(name): _value(number, name, values) for name, values in entry["misc"]["vals"].items()},
        {"loss": math.nan} | only_numbers(plain),
        ENDED.get(str(result.get("status", "")), unended),
        {"tid": plain_value(entry.get("tid"))},
    )


def _value(number: int, name: object, values: object) -> object:
    """The value of parameter `name`, which Hyperopt stores as a list; None for an empty list (inactive)."""
    many = values if isinstance(values, list | tuple) else [values]
    if len(many) > 1:
        raise FormatError(f"trial {number}: {name!r} has {len(many)} values, {shown(values)}; it must have one")
    return plain_value(many[0]) if many else None
