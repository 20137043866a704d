"""Folders of runs: which lie in a place, which of several is meant, and the results that are logged in each."""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

from pedanova.base.notes import Note
from pedanova.base.progress import watched
from pedanova.data.records import Point
from pedanova.errors import Arg, DataError, FormatError, PedanovaError
from pedanova.sources.logs.trials import Trial, only_numbers
from pedanova.sources.reader import choose, read_json, read_json_rows, read_text, read_yaml
from pedanova.sources.tables.json_text import as_number, flatten

LOOK_AT = 200  # folders to look into before deciding that a place is something else
DEEPEST = 3

Test = Callable[[Path], bool]
SUFFIXES = (".json", ".jsonl", ".csv", ".yaml", ".yml")
SETTINGS = ("config", "hparams", "hyperparams", "hyperparameters", "params", "args", "overrides", "settings")
LARGEST = 8_000_000  # bytes; a larger file holds data
MOST_FILES = 40  # files of one run
DEEPEST_FILE = 3
PASSED_OVER = ("checkpoints", "wandb", "mlruns")

Results = dict[str, float]


def folders_in(place: Path, most: int | None = None) -> Iterator[Path]:
    return islice((inner for inner in place.iterdir() if inner.is_dir()), most)


def holds_runs(place: Path, is_run: Test, most: int | None = LOOK_AT) -> bool:
    """Whether some folder right inside is a run."""
    return any(map(is_run, folders_in(place, most)))


def is_place(path: Path, is_run: Test, depth: int = DEEPEST) -> bool:
    """Whether a folder is a run, or holds runs at most so deep."""
    return path.is_dir() and (is_run(path) or _groups(path, is_run, depth, LOOK_AT) != [])


def folder_meant(path: Path, study: str | None, fits: Test, what: str) -> Path:
    """The folder itself where it fits, or the one of those right inside that is meant."""
    places = [path] if fits(path) else sorted(filter(fits, folders_in(path)))
    return choose({place.name: place for place in places}, study, path, what)


def check_several(path: Path, is_run: Test, what: str) -> None:
    """Refuse a single run."""
    if is_run(path):
        raise DataError(
            f"{path} is a single {what}, and one row compares nothing; give the folder of all runs, {path.parent}"
        )


def read_each(
    places: Sequence[Path], read: Callable[[Path], Trial | None], what: str
) -> tuple[list[Trial], list[Path], int]:
    """The trials of places that can be read, those places, and how many cannot or hold no settings."""
    trials: dict[Path, Trial] = {}
    for place in watched(places, what):
        with suppress(FormatError):
            trial = read(place)
            if trial is not None:
                trials[place] = trial
    return [*trials.values()], [*trials], len(places) - len(trials)


def _groups(place: Path, is_run: Test, depth: int, most: int | None) -> list[Path]:
    """Folders that hold runs, the outermost first; nothing is looked for inside a run."""
    if holds_runs(place, is_run, most):
        return [place]
    groups: list[Path] = []
    for inner in sorted(folders_in(place, most)) if depth > 0 else ():
        if not inner.name.startswith("."):
            groups += _groups(inner, is_run, depth - 1, most)
        if groups and most is not None:
            break
    return groups


def runs_of(path: Path, study: str | None, is_run: Test, *, what: str, depth: int = DEEPEST) -> tuple[Path, list[Path]]:
    """The folder that is meant, and the runs in it, in the order of their numbers."""
    check_several(path, is_run, what)
    groups = {
        path.name if place == path else place.relative_to(path).as_posix(): place
        for place in _groups(path, is_run, depth, None)
    }
    folder = choose(groups, study, path, f"folder of {what}s", f"folders of {what}s")
    return folder, sorted((place for place in folders_in(folder) if is_run(place)), key=_by_number)


def _by_number(place: Path) -> tuple[str, int, str]:
    """version_2 before version_10."""
    head = place.name.rstrip("0123456789")
    tail = place.name[len(head) :]
    return head, int(tail or -1), place.name


def read_steps(file: Path) -> list[dict[str, float]]:
    """The rows of a CSV of metrics, numbers alone; a last line that is still being written is left out."""
    lines = read_text(file).splitlines(keepends=True)
    try:
        header, *rows = csv.reader(lines) if lines else [[]]
    except csv.Error as error:
        raise FormatError(f"{file}: {error}; was it cut off?") from None
    if rows and not lines[-1].endswith("\n") and len(rows[-1]) < len(header):
        rows.pop()
    named = (zip(map(str.strip, header), map(parse_number, row), strict=False) for row in rows)
    return [{name: value for name, value in row if name and value is not None} for row in named]


def parse_number(text: str) -> float | int | None:
    """A number as it is written; NaN is one, an empty field is none."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return None


def value_of(text: str) -> object:
    """A number, or else the text; None of an empty one."""
    number = parse_number(text)
    return text or None if number is None else number


def last_values(rows: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The last value of every column, as rows may hold only some of them."""
    return {name: value for row in rows for name, value in row.items()}


def read_points(
    places: Sequence[Path], read: Callable[[Path, str], Iterable[tuple[float, float]]], metric: str
) -> Iterator[Point]:
    """Steps and values of each place, which are the rows in this order; what cannot be read has none."""
    for row, place in enumerate(places):
        try:
            points = list(read(place, metric))
        except PedanovaError:
            continue
        yield from ((row, step, value) for step, value in points)


def check_results(trials: Sequence[Trial], folder: Path, where: str) -> None:
    """Refuse runs of which none has any result: whoever is asked for an objective then would look in vain."""
    if trials and not any(trial.results for trial in trials):
        raise DataError(f"{folder}: none of {len(trials):,} runs has a result {where}; wait for the first, or log some")


def length_notes(trials: Iterable[Trial], name: str, what: str) -> list[Note]:
    """A note where trials that ended are of different lengths, since their last results are compared."""
    ended = (trial.other.get(name) for trial in trials if trial.state == "COMPLETE")
    lengths = Counter(one for one in ended if isinstance(one, int | float) and math.isfinite(one))
    if len(lengths) < 2:
        return []
    words = f"trials ran for {min(lengths):,} to {max(lengths):,} {what}, and their last results are compared; pass "
    return [Note("rows", words, Arg("where", shown=f'"{name} == {max(lengths)}"'), " for those that ran longest")]


def read_results(folder: Path) -> dict[str, Results]:
    """The numbers of every file of results, by its path in the folder; what cannot be read is passed over."""
    results: dict[str, Results] = {}
    for file in _files(folder, DEEPEST_FILE):
        if len(results) >= MOST_FILES:
            break
        numbers = _numbers_in(file)
        if numbers:
            results[file.relative_to(folder).as_posix()] = numbers
    return results


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
        known = place.suffix.lower() in SUFFIXES and not place.stem.lower().startswith(SETTINGS)
        if place.is_dir():
            yield from _files(place, depth - 1) if depth > 0 else ()
        elif known and 0 < place.stat().st_size <= LARGEST:
            yield place


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
        steps = plain if isinstance(plain, list) else [plain]
        flat = flatten(last_values(row for row in steps if isinstance(row, dict)))
    except (FormatError, DataError):
        return {}
    return only_numbers({name: as_number(value) for name, value in flat.items()})  # type: ignore[return-value]
