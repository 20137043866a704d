"""Hydra, DVC, and folders of runs without a tool, in which programs write results to files that the user chooses.

For Hydra: a multirun folder, or a folder of single runs; the folder of each job contains .hydra/overrides.yaml.
For DVC: the output of `dvc exp show --json` (version 3), saved to a file. Without a tool (and for Sacred): folders with
a file of settings, such as config.json, and files of results.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from pedanova.base.notes import Note
from pedanova.base.progress import watched
from pedanova.data.records import Records, SourceMetadata
from pedanova.errors import DataError, FormatError
from pedanova.sources.logs import trials as logs
from pedanova.sources.reader import has, json_head, parse_yaml, read_json, read_yaml
from pedanova.sources.tables.json_text import flatten, read_rows

OWN = ".hydra"
Settings = dict[str, object]
EXAMPLE = 'json.dump({"loss": loss}, open("metrics.json", "w"))'


def fits(path: Path) -> bool:
    return logs.is_place(path, _is_job)


def _is_job(folder: Path) -> bool:
    return has(folder / OWN, "overrides.yaml")


def read(path: Path, study: str | None) -> Records:
    folder, places = logs.runs_of(path, study, _is_job, what="Hydra job")
    overrides = _readable(places, _overrides, "jobs")
    results, notes = _results(folder, overrides, f"{len(places):,} job")
    names = tuple(dict.fromkeys(name for job in overrides.values() for name in job))
    trials = [
        logs.Trial(_settings(place, job, names), numbers, "COMPLETE" if numbers else "RUNNING", {"job": place.name})
        for (place, job), numbers in zip(overrides.items(), results, strict=True)
    ]
    notes += logs.left_out(len(places) - len(overrides), "jobs have no overrides that can be read")
    return logs.tabulate(trials, SourceMetadata(source=f"Hydra jobs {folder.resolve().name!r}"), notes=notes)


def _readable(places: Sequence[Path], read: Callable[[Path], Settings], what: str) -> dict[Path, Settings]:
    """The settings in each folder, without the folders in which they cannot be read."""
    settings: dict[Path, Settings] = {}
    for place in watched(places, what):
        with suppress(FormatError):
            settings[place] = read(place)
    return settings


def _results(folder: Path, places: Collection[Path], what: str) -> tuple[list[dict[str, object]], list[Note]]:
    """The results in each folder, and a note on their files."""
    results = [logs.read_results(place) for place in places]
    if not any(results):
        words = f"{folder}: none of the {what} folders contains a file of results"
        remedy = f"make your program write such a file, for example with {EXAMPLE}"
        raise DataError(f"{words} (.json, .yaml or .csv with numbers); {remedy}")
    files = sorted({file for own in results for file in own})
    note = Note("source", f"results are taken from {', '.join(files[:5])}{' …' if len(files) > 5 else ''}")
    return logs.joined(results), [note]


def fits_runs(path: Path) -> bool:
    return logs.is_place(path, _is_run)


def _is_run(folder: Path) -> bool:
    if folder.name.startswith("."):
        return False
    files = [place for place in islice(folder.iterdir(), logs.LOOK_AT) if place.is_file()]
    return any(map(logs.are_settings, files)) and any(map(logs.are_results, files))


def read_runs(path: Path, study: str | None) -> Records:
    """A table of the settings and results of each run; the roles of its columns are guessed like those of any table."""
    folder, places = logs.runs_of(path, study, _is_run, what="run")
    settings = _readable(places, _settings_in, "runs")
    results, notes = _results(folder, settings, f"{len(places):,} run")
    rows = [
        {"run": place.name, "config": own, **numbers}
        for (place, own), numbers in zip(settings.items(), results, strict=True)
    ]
    notes += logs.left_out(len(places) - len(settings), "runs have no settings that can be read")
    return replace(read_rows(rows, str(folder)), notes=tuple(notes))


def _settings_in(place: Path) -> Settings:
    """The values in all files of settings in a folder."""
    read = {".json": read_json, ".yaml": read_yaml, ".yml": read_yaml}
    files = (file for file in sorted(place.iterdir()) if logs.are_settings(file) and file.suffix.lower() in read)
    plain = [read[file.suffix.lower()](file) for file in files]
    return {name: value for own in plain if isinstance(own, dict) for name, value in own.items()}


def _overrides(place: Path) -> Settings:
    lines = read_yaml(place / OWN / "overrides.yaml")
    if lines is not None and not isinstance(lines, list):
        raise FormatError(f"{place}: overrides.yaml must be a list such as [lr=0.1]")
    return dict(filter(None, map(_override, lines or ())))


def _override(line: object) -> tuple[str, object] | None:
    """The name and value of `lr=0.1`, `+lr=0.1` or `++net.depth=2`; None for a deletion."""
    if not isinstance(line, str) or line.startswith("~"):
        return None
    name, equals, text = line.lstrip("+").partition("=")
    if not equals or not name.strip() or name.startswith("hydra."):
        return None
    try:
        value = parse_yaml(text)
    except FormatError:
        value = text
    return name.strip(), text.strip() if isinstance(value, list | dict) else value


def _settings(place: Path, overrides: dict[str, object], names: Sequence[str]) -> dict[str, object]:
    """The values of all parameters in `names` for one job: from its overrides, or else from its configuration."""
    missing = [name for name in names if name not in overrides]
    if not missing:
        return overrides
    config, own = (_mapping(place / OWN / f"{name}.yaml") for name in ("config", "hydra"))
    choices = _inside(own, "hydra.runtime.choices", whole=True) or {}  # the file of each group, such as model=resnet
    known = {name: choices[name] if name in choices else _inside(config, name) for name in missing}
    return overrides | {name: value for name, value in known.items() if value is not None}


def _mapping(file: Path) -> dict[str, Any]:
    try:
        plain = read_yaml(file, objects=True) if file.is_file() else None
    except FormatError:
        return {}
    return plain if isinstance(plain, dict) else {}


def _inside(plain: Mapping[str, Any], name: str, *, whole: bool = False) -> Any:
    """The value at a dotted name such as a.b.c; None if it is missing, or if it is a dict and `whole` is False."""
    value: Any = plain
    for step in name.split("."):
        if not isinstance(value, dict) or step not in value:
            return None
        value = value[step]
    return value if whole or not isinstance(value, dict) else None


MARK = re.compile(rb'^\s*\[\s*\{\s*"rev":\s*"workspace"')
START = 200  # the first bytes, which contain the mark
STATES = {"queued": "WAITING", "running": "RUNNING", "failed": "FAIL", "success": "COMPLETE"}
WORKSPACE = "workspace"  # the workspace is one of the experiments, or was not run yet

Dict = dict[str, Any]


def fits_dvc(path: Path) -> bool:
    return MARK.match(json_head(path, START)) is not None


def read_dvc(path: Path) -> Records:
    entries = list(_entries(read_json(path)))
    params = logs.joined([_by_file(data, "params") for _, data, _ in entries])
    results = logs.joined([_by_file(data, "metrics") for _, data, _ in entries])
    trials = []
    for (name, _, word), settings, numbers in zip(entries, params, results, strict=True):
        state = STATES.get(word, "COMPLETE" if numbers else "RUNNING")
        trial = logs.Trial(settings, logs.only_numbers(numbers), state, {"experiment": name})
        trials += [trial] if settings else []
    why = "the workspace is left out, because it is a copy of one of the experiments or has not been run"
    notes = [Note("unused", why)]
    return logs.tabulate(trials, SourceMetadata(source=f"DVC experiments {path.name!r}"), notes=notes)


def _entries(plain: list[Dict]) -> Iterator[tuple[str, Dict, str]]:
    """Yield the name, content and state of every commit and experiment."""
    for commit in plain:
        if commit["rev"] == WORKSPACE:
            continue
        yield _named(commit, commit.get("name"), "")
        for experiment in commit.get("experiments") or ():
            executor = experiment.get("executor") or {}
            yield _named(experiment["revs"][0], experiment.get("name"), str(executor.get("state") or ""))


def _named(entry: Dict, name: object, state: str) -> tuple[str, Dict, str]:
    return str(name or entry["rev"][:7]), entry.get("data") or {}, "failed" if entry.get("error") else state


def _by_file(data: Dict, key: str) -> dict[str, Dict]:
    """The values of an entry under `key` (parameters or results), by file name; empty files are left out."""
    files_by_name = data.get(key) if isinstance(data, dict) else None
    files = files_by_name.items() if isinstance(files_by_name, dict) else ()
    plain = {str(file): one.get("data") for file, one in files if isinstance(one, dict)}
    return {file: flatten(values) for file, values in plain.items() if isinstance(values, dict)}
