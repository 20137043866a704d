"""Files of results that a program writes into the folder of its run: JSON, YAML or CSV, whatever their names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pedanova.errors import DataError, FormatError
from pedanova.sources.kind import read_json, read_json_rows
from pedanova.sources.logs.steps import last_values, read_steps
from pedanova.sources.logs.trials import only_numbers
from pedanova.sources.nested import as_number
from pedanova.sources.tables.json_text import flatten
from pedanova.sources.yaml_text import read_yaml

SUFFIXES = (".json", ".jsonl", ".csv", ".yaml", ".yml")
SETTINGS = ("config", "hparams", "hyperparams", "hyperparameters", "params", "args", "overrides", "settings")
LARGEST = 8_000_000  # bytes; a larger file holds data
MOST = 40  # files of one run
DEEPEST = 3
PASSED_OVER = ("checkpoints", "wandb", "mlruns")

Results = dict[str, float]


def read_results(folder: Path) -> dict[str, Results]:
    """The numbers of every file of results, by its path in the folder; what cannot be read is passed over."""
    found: dict[str, Results] = {}
    for file in _files(folder, DEEPEST):
        if len(found) >= MOST:
            break
        numbers = _numbers_in(file)
        if numbers:
            found[file.relative_to(folder).as_posix()] = numbers
    return found


def joined(runs: Sequence[Mapping[str, Mapping[str, Any]]]) -> list[dict[str, object]]:
    """What the files of each run hold, under plain names; one that two files have stands behind that of its file."""
    owners: dict[str, set[str]] = {}
    for run in runs:
        for file, numbers in run.items():
            for name in numbers:
                owners.setdefault(name, set()).add(file)
    shared = {name for name, files in owners.items() if len(files) > 1}
    return [
        {
            f"{file}:{name}" if name in shared else name: value
            for file, values in run.items()
            for name, value in values.items()
        }
        for run in runs
    ]


def _files(folder: Path, depth: int) -> Iterator[Path]:
    for place in sorted(folder.iterdir()):
        if place.name.startswith(".") or place.name in PASSED_OVER:
            continue
        if place.is_dir():
            yield from _files(place, depth - 1) if depth > 0 else ()
        elif _may_hold_results(place):
            yield place


def _may_hold_results(file: Path) -> bool:
    known = file.suffix.lower() in SUFFIXES and not file.stem.lower().startswith(SETTINGS)
    return known and 0 < file.stat().st_size <= LARGEST


def _numbers_in(file: Path) -> Results:
    try:
        match file.suffix.lower():
            case ".csv":
                plain: object = last_values(read_steps(file))
            case ".json":
                plain = read_json(file)
            case ".jsonl":
                plain = read_json_rows(file)[0]
            case _:
                plain = read_yaml(file, objects=True)
        plain = _last_of(plain) if isinstance(plain, list) else plain
        flat = flatten(plain) if isinstance(plain, dict) else {}
    except (FormatError, DataError):
        return {}
    return only_numbers({name: as_number(value) for name, value in flat.items()})  # type: ignore[return-value]


def _last_of(rows: Iterable[object]) -> dict[str, object]:
    """A list of steps: the last value of each name."""
    last: dict[str, object] = {}
    for row in rows:
        last |= row if isinstance(row, dict) else {}
    return last
