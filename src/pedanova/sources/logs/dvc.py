"""DVC: what `dvc exp show --json` prints, saved to a file; versions 2 and 3."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pedanova.base.notes import Note
from pedanova.data.records import Records, SourceMetadata
from pedanova.errors import FormatError
from pedanova.sources.logs.run_folders import joined
from pedanova.sources.logs.trials import Trial, only_numbers, tabulate
from pedanova.sources.reader import json_head, read_json
from pedanova.sources.tables.json_text import flatten

MARK = re.compile(rb'^\s*(\[\s*\{\s*"rev":\s*"workspace"|\{\s*"workspace":\s*\{\s*"baseline")')
START = 200  # bytes in which the mark stands
STATES = {"queued": "WAITING", "running": "RUNNING", "failed": "FAIL", "success": "COMPLETE"}
WORKSPACE = "workspace"  # what lies there is one of the experiments, or not run yet

Dict = dict[str, Any]


def fits(path: Path) -> bool:
    return MARK.match(json_head(path, START)) is not None


def read(path: Path) -> Records:
    plain = read_json(path)
    try:
        entries = list(_third(plain) if isinstance(plain, list) else _second(plain))
    except (KeyError, TypeError, AttributeError, IndexError):
        raise FormatError(f"{path} is no output of a known version of `dvc exp show --json`; print it again") from None
    params = joined([_by_file(data, "params") for _, data, _ in entries])
    results = joined([_by_file(data, "metrics") for _, data, _ in entries])
    trials = [
        Trial(
            settings,
            only_numbers(numbers),
            STATES.get(state, "COMPLETE" if numbers else "RUNNING"),
            {"experiment": name},
        )
        for (name, _, state), settings, numbers in zip(entries, params, results, strict=True)
        if settings
    ]
    notes = [Note("unused", "the workspace is left out: it is one of the experiments, or has not been run")]
    return tabulate(trials, SourceMetadata(source=f"DVC experiments {path.name!r}"), notes=notes)


def _third(plain: list[Dict]) -> Iterator[tuple[str, Dict, str]]:
    """Commits in a list, with their experiments: name, facts and state of each."""
    for commit in plain:
        if commit["rev"] == WORKSPACE:
            continue
        yield _named(commit, commit.get("name"), "")
        for experiment in commit.get("experiments") or ():
            executor = experiment.get("executor") or {}
            yield _named(experiment["revs"][0], experiment.get("name"), str(executor.get("state") or ""))


def _named(entry: Dict, name: object, state: str) -> tuple[str, Dict, str]:
    return str(name or entry["rev"][:7]), entry.get("data") or {}, "failed" if entry.get("error") else state


def _second(plain: Dict) -> Iterator[tuple[str, Dict, str]]:
    """Commits by name, their experiments beside `baseline`."""
    for commit, inside in plain.items():
        for rev, entry in inside.items() if commit != WORKSPACE else ():
            data = entry.get("data") or {}
            name = data.get("name") or (commit if rev == "baseline" else rev)
            state = "queued" if data.get("queued") else str(data.get("status") or "").lower()
            yield str(name)[:40], data, "failed" if entry.get("error") else state


def _by_file(data: Dict, key: str) -> dict[str, Dict]:
    """Settings or results of each file that holds some."""
    files_by_name = data.get(key) if isinstance(data, dict) else None
    files = files_by_name.items() if isinstance(files_by_name, dict) else ()
    plain = {str(file): one.get("data") for file, one in files if isinstance(one, dict)}
    return {file: flatten(values) for file, values in plain.items() if isinstance(values, dict)}
