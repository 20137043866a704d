"""Convert lists of trials into columns, and find the folders of runs; used by the readers of most tools."""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from pedanova.base.notes import Note
from pedanova.base.progress import watched
from pedanova.data.column import Column, as_column
from pedanova.data.records import CurveSource, Point, Records, SourceMetadata, free_name
from pedanova.data.regions import Direction
from pedanova.data.vocabulary import STATES, state_word
from pedanova.errors import Arg, DataError, FormatError, NoTrialsError, PedanovaError, listed
from pedanova.sources.reader import choose, read_json, read_json_rows, read_text, read_yaml
from pedanova.sources.spaces.described import Described, fit, number_or_nan
from pedanova.sources.tables.json_text import flatten, spelled_number
from pedanova.sources.tables.text import parse_text
from pedanova.space.values import is_number

ENOUGH = 10  # the fewest rows of a budget that is used
DONE = ("COMPLETE", "SUCCESS")
NO_SPACE = Note("space", "the log has no configuration space with bounds; the domains are guessed from the trials")


@dataclass(slots=True)
class Trial:
    """One run of one configuration."""

    params: Mapping[str, object]
    results: Mapping[str, object] = field(default_factory=dict)  # numeric results
    state: str = "COMPLETE"  # a word of `row_status.STATES`
    other: Mapping[str, object] = field(default_factory=dict)  # seed, budget, duration …


def tabulate(
    trials: Sequence[Trial],
    metadata: SourceMetadata,
    *,
    notes: Iterable[Note] = (),
    texts: bool = False,
    points: Callable[[str], Iterable[Point]] | None = None,
) -> Records:
    """Records with columns for parameters (nested names joined by dots), results, states and other values.

    With `texts`, the tool stores parameters as text; a column becomes numeric if all its texts are numbers. Without a
    space in `metadata`, all parameters that vary are used. Without an objective in `metadata`, a single result is the
    objective. `points` reads the learning curves of a metric.
    """
    if not trials:
        raise NoTrialsError(f"{metadata.source or 'the log'} holds no trials; there is nothing to analyze")
    settings = [_flat(trial.params) for trial in trials]
    columns = {}
    for name in _keys(settings):
        values = [row.get(name) for row in settings]
        words = ["" if value is None else value for value in values if value is None or isinstance(value, str)]
        columns[name] = parse_text(name, words) if texts and len(words) == len(values) else as_column(name, values)
    params, constant = _varying(columns) if metadata.space is None else (tuple(columns), ())
    results, renamed = _rest([_flat(trial.results) for trial in trials], columns)
    others, _ = _rest([_flat(trial.other) for trial in trials], {**columns, **results})
    columns |= results | others
    state = free_name("state", columns)
    columns[state] = as_column(state, [known_state(trial.state) for trial in trials])
    missing = {name: Column(name, np.full(len(trials), np.nan)) for name in metadata.space or () if name not in columns}
    same = f"parameters with the same value in every trial are left out: {listed(list(constant))}"
    notes = [*notes, *([Note("unused", same)] if constant else [])]
    metrics = metadata.metrics or tuple(name for name, column in results.items() if column.labels is None)
    objectives = tuple(renamed.get(name, name) for name in metadata.objectives)
    objectives = objectives or (metrics if len(metrics) == 1 else ())
    params = metadata.params or (tuple(metadata.space) if metadata.space is not None else params)
    metadata = replace(metadata, params=params, objectives=objectives, metrics=metrics, state=state)
    curves = None if points is None else CurveSource(points, {new: old for old, new in renamed.items()})
    return Records(columns | missing, tuple(notes), metadata, curves)


def _flat(row: Mapping[str, object]) -> dict[str, object]:
    return flatten({str(key): value for key, value in row.items()})


def _keys(rows: Iterable[Mapping[str, object]]) -> list[str]:
    return list(dict.fromkeys(key for row in rows for key in row))


def _rest(
    rows: Sequence[Mapping[str, object]], taken: Mapping[str, Column]
) -> tuple[dict[str, Column], dict[str, str]]:
    """Columns for results or other values, and a dict of changed names; a name in `taken` is changed."""
    columns: dict[str, Column] = {}
    renamed: dict[str, str] = {}
    for key in _keys(rows):
        name = free_name(key, [*taken, *columns])
        columns[name] = as_column(name, [row.get(key) for row in rows])
        if name != key:
            renamed[key] = name
    return columns, renamed


def _varying(columns: Mapping[str, Column]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of the parameters that differ between trials, and the names of the constant parameters."""
    constant = []
    for name, column in columns.items():
        absent = column.absent()
        if absent.all() if absent.any() else (column.values == column.values[0]).all():
            constant.append(name)
    if len(constant) == len(columns):
        return tuple(columns), ()
    return tuple(name for name in columns if name not in constant), tuple(constant)


def left_out(count: int, words: str, why: str = "left out") -> list[Note]:
    return [Note("unused", f"{count:,} {words}; {why}")] if count else []


def known_state(word: str) -> str:
    """Return `word` if it is a known state (see `row_status.STATES`), otherwise FAIL."""
    return word if state_word(word) in STATES else "FAIL"


def budget_rule(trials: Sequence[Trial], key: str, name: str) -> str | None:
    """A condition such as "epochs == 81" for the largest budget with enough trials; None if budgets do not differ."""
    rows = Counter(number_or_nan(trial.other.get(key)) for trial in trials if trial.state in DONE)
    budgets = sorted(budget for budget in rows if budget == budget)
    if len(budgets) < 2:
        return None
    enough = [budget for budget in budgets if rows[budget] >= ENOUGH]
    chosen = enough[-1] if enough else max(budgets, key=lambda budget: (rows[budget], budget))
    word = name if name.isidentifier() else f"`{name}`"
    if not math.isfinite(chosen):
        return f"{word} > {budgets[-2]!r}"
    return f"{word} == {int(chosen) if chosen.is_integer() else chosen!r}"


def only_numbers(results: Mapping[str, object]) -> dict[str, object]:
    """The results that are numbers, and so may be objectives; booleans and text are left out."""
    return {key: value for key, value in results.items() if is_number(value)}


def tell(
    trials: Sequence[Trial],
    metadata: SourceMetadata,
    described: Described | None,
    *,
    notes: Iterable[Note] = (),
    points: Callable[[str], Iterable[Point]] | None = None,
) -> Records:
    """Convert trials to records; only the trials with the highest budget are used, and several seeds are averaged."""
    words = list(notes)
    if described is None:
        words.append(NO_SPACE)
    else:
        space, settings, more = fit(described, [trial.params for trial in trials])
        if not space and trials:
            raise DataError(f"{metadata.source}: every setting is constant; there is nothing to compare")
        trials = [replace(trial, params=row) for trial, row in zip(trials, settings, strict=True)]
        metadata = replace(metadata, space=space, conditions=described.conditions, default=described.default)
        words += more
    instances = {str(trial.other.get("instance")) for trial in trials}
    if len(instances) > 1:
        many = f"results are averaged over {len(instances)} instances"
        words.append(Note("source", f"{many}; some configurations may have run on fewer of them"))
    several = len(instances) > 1 or len({str(trial.other.get("seed")) for trial in trials}) > 1
    name = free_name("budget", {str(name) for trial in trials for name in (*trial.params, *trial.results)})
    where = budget_rule(trials, "budget", name)
    metadata = replace(metadata, where=where, repeats="mean" if several else metadata.repeats)
    return tabulate(trials, metadata, notes=words, points=points)


LOOK_AT = 200  # folders that are searched before a place counts as something else
DEEPEST = 3

Test = Callable[[Path], bool]
Curve = Callable[[Path, str], Iterable[tuple[float, float]]]
SUFFIXES = (".json", ".jsonl", ".csv", ".yaml", ".yml")
SETTINGS = ("config", "hparams", "hyperparams", "hyperparameters", "params", "args", "overrides", "settings")
LARGEST = 8_000_000  # bytes; a larger file is not a results file
MOST_FILES = 40  # files of one run
DEEPEST_FILE = 3
PASSED_OVER = ("checkpoints", "wandb", "mlruns")

Results = dict[str, float]


@dataclass(frozen=True, slots=True)
class RunFolders:
    """The format of a tool that keeps each run in a separate folder."""

    what: str  # such as "Lightning run"
    is_run: Test
    read_run: Callable[[Path], Trial | None]  # None without parameters; raises a FormatError for an unreadable run
    settings: str  # the file of its parameters
    remedy: str  # what to do if no run has parameters
    results: str  # the file of its results
    lengths: tuple[str, ...] = ()  # columns with the length of a run, such as "epoch"
    curve: Curve | None = None  # steps and values of a result of one run
    objective: str = ""  # the result that is optimised, if the tool has one
    direction: Direction | None = None

    def fits(self, path: Path) -> bool:
        return is_place(path, self.is_run)

    def read(self, path: Path, study: str | None) -> Records:
        folder, runs = runs_of(path, study, self.is_run, what=self.what)
        trials, kept, bare = read_each(runs, self.read_run, "runs")
        if not trials:
            many = f"{folder} holds {bare:,} {self.what}s"
            raise DataError(f"{many}, but none has settings in {self.settings}; {self.remedy}")
        if not any(trial.results for trial in trials):
            many = f"{folder}: none of {len(trials):,} runs"
            raise DataError(f"{many} has a result in {self.results}; wait for the first result, or log one")
        notes = left_out(bare, f"runs have no settings in {self.settings}")
        lengths = (length_notes(trials, name, f"{name}s") for name in self.lengths)
        notes += next(filter(None, lengths), [])
        points = None if self.curve is None else partial(read_points, kept, self.curve)
        optimised = any(self.objective in trial.results for trial in trials)
        metadata = SourceMetadata(
            source=f"{self.what}s {folder.resolve().name!r}",
            objectives=(self.objective,) if optimised else (),
            directions=(self.direction,) if optimised and self.direction else (),
        )
        return tabulate(trials, metadata, notes=notes, points=points)


def folders_in(place: Path, most: int | None = None) -> Iterator[Path]:
    return islice((inner for inner in place.iterdir() if inner.is_dir()), most)


def holds_runs(place: Path, is_run: Test, most: int | None = LOOK_AT) -> bool:
    return any(map(is_run, folders_in(place, most)))


def is_place(path: Path, is_run: Test) -> bool:
    """Whether a folder is a run, or contains runs up to a few levels deep."""
    return path.is_dir() and (is_run(path) or _groups(path, is_run, DEEPEST, LOOK_AT) != [])


def folder_meant(path: Path, study: str | None, fits: Test, what: str) -> Path:
    """The folder `path` if it passes the test `fits`, otherwise its subfolder with the name `study`."""
    places = [path] if fits(path) else sorted(filter(fits, folders_in(path)))
    return choose({place.name: place for place in places}, study, path, what)


def check_several(path: Path, is_run: Test, what: str) -> None:
    if is_run(path):
        words = "so there is nothing to compare; give the folder of all runs"
        raise DataError(f"{path} is a single {what}, {words}, {path.parent}")


def read_each(
    places: Sequence[Path], read: Callable[[Path], Trial | None], what: str
) -> tuple[list[Trial], list[Path], int]:
    """The trials, their folders, and how many folders are unreadable or have no parameters."""
    trials: dict[Path, Trial] = {}
    for place in watched(places, what):
        with suppress(FormatError):
            trial = read(place)
            if trial is not None:
                trials[place] = trial
    return [*trials.values()], [*trials], len(places) - len(trials)


def _groups(place: Path, is_run: Test, depth: int, most: int | None) -> list[Path]:
    """The folders that directly contain runs, at most `depth` levels below `place`."""
    if holds_runs(place, is_run, most):
        return [place]
    groups: list[Path] = []
    for inner in sorted(folders_in(place, most)) if depth > 0 else ():
        if not inner.name.startswith("."):
            groups += _groups(inner, is_run, depth - 1, most)
        if groups and most is not None:
            break
    return groups


def runs_of(path: Path, study: str | None, is_run: Test, *, what: str) -> tuple[Path, list[Path]]:
    """The folder with the name `study` (or the only folder with runs), and its runs sorted by number.

    If each folder contains only one run, the runs of all folders are used.
    """
    check_several(path, is_run, what)
    groups = {
        path.name if place == path else place.relative_to(path).as_posix(): [*filter(is_run, folders_in(place))]
        for place in _groups(path, is_run, DEEPEST, None)
    }
    if study is None and len(groups) > 1 and all(len(runs) == 1 for runs in groups.values()):
        return path, [runs[0] for runs in groups.values()]
    runs = choose(groups, study, path, f"folder of {what}s", f"folders of {what}s")
    return runs[0].parent, sorted(runs, key=_by_number)


def _by_number(place: Path) -> tuple[str, int, str]:
    """A sort key that puts version_2 before version_10."""
    head = place.name.rstrip("0123456789")
    tail = place.name[len(head) :]
    return head, int(tail or -1), place.name


def read_steps(file: Path) -> list[dict[str, float]]:
    """The numbers in each row of a CSV file of metrics, by column name; an incomplete last line is left out."""
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
    """Convert a text such as 3, 0.5 or nan to a number; None for any other text."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return None


def value_of(text: str) -> object:
    """The number in a text, or the text itself; None for an empty text."""
    number = parse_number(text)
    return text or None if number is None else number


def last_values(rows: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The last value of every key; a row may have only some of the keys."""
    return {name: value for row in rows for name, value in row.items()}


def read_points(places: Sequence[Path], read: Curve, metric: str) -> Iterator[Point]:
    """Yield (row, step, value) from the folder of each row; unreadable folders are skipped."""
    for row, place in enumerate(places):
        with suppress(PedanovaError):
            yield from [(row, step, value) for step, value in read(place, metric)]


def length_notes(trials: Iterable[Trial], name: str, what: str) -> list[Note]:
    """A note if completed trials ended at different steps or epochs."""
    ended = (trial.other.get(name) for trial in trials if trial.state == "COMPLETE")
    lengths = Counter(one for one in ended if isinstance(one, int | float) and math.isfinite(one))
    if len(lengths) < 2:
        return []
    words = f"trials ran for {min(lengths):,} to {max(lengths):,} {what}; the last result of each trial is used; pass "
    return [Note("rows", words, Arg("where", shown=f'"{name} == {max(lengths)}"'), " to use only the longest trials")]


def read_results(folder: Path) -> dict[str, Results]:
    """The numbers in every results file of a folder, by the path of the file; unreadable files are skipped."""
    results: dict[str, Results] = {}
    for file in _files(folder, DEEPEST_FILE):
        if len(results) >= MOST_FILES:
            break
        numbers = _numbers_in(file)
        if numbers:
            results[file.relative_to(folder).as_posix()] = numbers
    return results


def joined(runs: Sequence[Mapping[str, Mapping[str, Any]]]) -> list[dict[str, object]]:
    """Join the results of each run from all its files; a name that occurs in several files becomes file:name."""
    owners: dict[str, set[str]] = {}
    for run in runs:
        for file, numbers in run.items():
            for name in numbers:
                owners.setdefault(name, set()).add(file)
    shared = {name for name, files in owners.items() if len(files) > 1}
    flat = ([(file, *pair) for file, values in run.items() for pair in values.items()] for run in runs)
    return [{f"{file}:{name}" if name in shared else name: value for file, name, value in run} for run in flat]


def are_settings(file: Path) -> bool:
    """Whether a file has the name of settings, such as config.json or train_config.yaml."""
    stem = file.stem.lower()
    return file.suffix.lower() in SUFFIXES and (stem.startswith(SETTINGS) or stem.endswith(SETTINGS))


def are_results(file: Path) -> bool:
    known = file.suffix.lower() in SUFFIXES and not are_settings(file)
    return known and 0 < file.stat().st_size <= LARGEST


def _files(folder: Path, depth: int) -> Iterator[Path]:
    for place in sorted(folder.iterdir()):
        if place.name.startswith(".") or place.name in PASSED_OVER:
            continue
        if place.is_dir():
            yield from _files(place, depth - 1) if depth > 0 else ()
        elif are_results(place):
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
    return only_numbers({name: spelled_number(value) for name, value in flat.items()})  # type: ignore[return-value]
