"""Optuna's relational storage, straight from its tables: SQLite files, PostgreSQL, MySQL and MariaDB.

A trial that has ended never changes, so trials are listed first and their rows fetched in parts:
the answer is right while another process goes on writing, and that process never waits long.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import lru_cache, partial
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pedanova.base.progress import watched
from pedanova.data.records import Records
from pedanova.data.regions import Direction
from pedanova.errors import FormatError, NoTrialsError, PedanovaError, listed
from pedanova.sources.databases import Database, open_database, open_sqlite
from pedanova.sources.optuna.study_log import (
    Reals,
    Rows,
    Setting,
    StudyLog,
    as_records,
    constraints_in,
    is_plain,
    pick_study,
    seconds_taken,
)

SUFFIXES = (".db", ".sqlite", ".sqlite3", ".db3")
NEEDED = {
    "studies": {"study_id", "study_name"},
    "study_directions": {"study_id", "direction", "objective"},
    "trials": {"trial_id", "number", "study_id", "state"},
    "trial_params": {"trial_id", "param_name", "param_value", "distribution_json"},
    "trial_values": {"trial_id", "objective", "value"},
}  # fmt: skip
FIRST_LOOK = 200  # trials that are asked for names and distributions in full
BATCH = 20_000  # trials asked for at once
APART = 2_000  # keys farther apart are fetched by queries of their own
MOST_NUMBERED = 64  # pairs of a name and a distribution
LONGEST = 1000  # letters of an attribute; longer ones are no setting, no result and no constraint
INFINITE = {"INF_POS": np.inf, "INF_NEG": -np.inf, "NAN": np.nan}

REPORTS = "trial_intermediate_values"

Opener = Callable[[], AbstractContextManager[Database]]
Text = tuple[str, str]  # a name and a distribution


def is_storage(path: Path) -> bool:
    """Whether a file is a SQLite database with Optuna's tables."""
    if not path.is_file() or path.suffix.lower() not in SUFFIXES:
        return False
    with open_sqlite(path) as database:
        return {"studies", "trials", "trial_params"} <= database.tables()


def read_file(path: Path, study: str | None) -> Records:
    with open_sqlite(path) as database:
        return read_storage(database, study, partial(open_sqlite, path))


def read_url(url: str, study: str | None) -> Records:
    with open_database(url) as database:
        return read_storage(database, study, partial(open_database, url))


def read_storage(database: Database, study: str | None, reopen: Opener) -> Records:
    check_schema(database)
    key, name = choose_study(database, study)
    try:
        log = read_trials(database, key, name, list_trials(database, key), reopen)
    except (TypeError, ValueError, KeyError, OverflowError) as error:
        if isinstance(error, PedanovaError):
            raise
        # Values of other types than Optuna writes: SQLite lets anything stand in any column.
        raise FormatError(f"{database.shown} is damaged: {error}; restore it from a backup") from None
    return as_records(log)


def check_schema(database: Database) -> None:
    """Only tables that are known are read; an older or a newer storage may mean other things by them."""
    tables = database.tables()
    if not set(NEEDED) & tables:
        raise FormatError(f"{database.shown} holds no tables of Optuna, but {listed(sorted(tables)) or 'none'}")
    for table, columns in NEEDED.items():
        lacking = columns - (database.columns(table) if table in tables else set())
        if lacking:
            raise FormatError(
                f"{database.shown}: the storage of this version has no {table}.{min(lacking)}; "
                "copy it and run `optuna storage upgrade` on the copy"
            )


def choose_study(database: Database, wanted: str | None) -> tuple[int, str]:
    rows = database.rows(
        "SELECT s.study_id, s.study_name, COUNT(t.trial_id) FROM studies s "
        "LEFT JOIN trials t ON t.study_id = s.study_id GROUP BY s.study_id, s.study_name ORDER BY s.study_id"
    )
    studies = {str(name): ((int(key), str(name)), int(count)) for key, name, count in rows}
    if not studies:
        raise NoTrialsError(f"{database.shown} holds no study yet")
    return pick_study(studies, wanted, database.shown)


def list_trials(database: Database, study: int, extra: str = "", values: Sequence[object] = ()) -> list[Sequence[Any]]:
    """Key, state, begin, end and number of a study's trials, in order of their numbers."""
    times = {"datetime_start", "datetime_complete"} <= database.columns("trials")
    fields = "trial_id, state, datetime_start, datetime_complete" if times else "trial_id, state, NULL, NULL"
    query = f"SELECT {fields}, number FROM trials WHERE study_id = ? {extra} ORDER BY number, trial_id"
    return database.rows(query, (study, *values))


def read_trials(database: Database, study: int, name: str, trials: Sequence[Sequence[Any]], reopen: Opener) -> StudyLog:
    """All that is told of the trials that were listed."""
    keys = np.array([trial[0] for trial in trials], dtype=np.float64)
    row_of = {int(trial[0]): row for row, trial in enumerate(trials)}
    directions = directions_of(database, study)
    return StudyLog(
        name=name,
        directions=directions,
        states=[state_of(trial[1]) for trial in trials],
        values=values_of(database, study, keys, len(directions)),
        settings=settings_of(database, study, keys),
        metrics=metric_names(database, study),
        constraints=constraints_of(database, study, row_of),
        attributes=attributes_of(database, study, row_of),
        reports=reports_of(database, study, row_of),
        points=partial(points_of, reopen, study, row_of),
        seconds=seconds_taken([trial[2] for trial in trials], [trial[3] for trial in trials]),
    )


@lru_cache(maxsize=100)
def state_of(state: object) -> str:
    return str(getattr(state, "value", state)).upper()


def directions_of(database: Database, study: int) -> list[Direction]:
    rows = database.rows("SELECT direction FROM study_directions WHERE study_id = ? ORDER BY objective", (study,))
    return ["maximize" if state_of(row[0]) == "MAXIMIZE" else "minimize" for row in rows] or ["minimize"]


def metric_names(database: Database, study: int) -> list[str]:
    if not {"study_id", "key", "value_json"} <= database.columns("study_system_attributes"):
        return []
    key = database.quote("key")
    rows = database.rows(
        f"SELECT value_json FROM study_system_attributes WHERE study_id = ? AND {key} = ?",
        (study, "study:metric_names"),
    )
    names = parsed(rows[0][0]) if rows else []
    return [str(name) for name in names] if isinstance(names, list) else []


def parsed(text: object) -> Any:
    try:
        return json.loads(text) if isinstance(text, str | bytes) else None
    except (ValueError, RecursionError):
        return None


class StudyPart(NamedTuple):
    """A range of keys, so short that a writer never waits long for a reader."""

    low: int
    high: int
    mixed: bool  # other studies have trials in it


def parts_of(keys: Reals) -> list[StudyPart]:
    """Of sorted keys; the first is short, for it is asked for everything in full, and none reaches over a wide gap."""
    gaps = (np.flatnonzero(np.diff(keys) > APART) + 1).tolist()
    starts = sorted({0, *range(min(FIRST_LOOK, len(keys)), len(keys), BATCH), *gaps}) if len(keys) else []
    return [
        StudyPart(int(keys[a]), int(keys[b - 1]), bool(keys[b - 1] - keys[a] + 1 > b - a))
        for a, b in pairwise([*starts, len(keys)])
    ]


def of_study(table: str, fields: str, study: int, part: StudyPart, extra: str = "") -> str:
    """Rows of one study's trials in a range of their keys, whose ends are the last two values."""
    join = f"JOIN trials t ON t.trial_id = x.trial_id AND t.study_id = {int(study)}" if part.mixed else ""
    return f"SELECT {fields} FROM {table} x {join} WHERE 1 = 1 {extra} AND x.trial_id BETWEEN ? AND ?"


def fetch(
    database: Database, table: str, fields: str, study: int, keys: Reals, extra: str = ""
) -> Iterator[Sequence[Any]]:
    """Rows of a table for the trials that were listed, and maybe for others of a like age."""
    for part in parts_of(np.sort(keys)):
        yield from database.rows(of_study(table, fields, study, part, extra), (part.low, part.high))


def numbers(rows: Sequence[Sequence[Any]], width: int) -> Reals:
    """(rows, width) Rows of nothing but numbers."""
    flat = np.fromiter(chain.from_iterable(rows), dtype=np.float64, count=len(rows) * width)
    return flat.reshape(-1, width)


def as_keys(row_of: Mapping[int, int]) -> Reals:
    return np.fromiter(row_of, dtype=np.float64, count=len(row_of))


def places_of(keys: Reals, trials: Reals) -> tuple[Rows, NDArray[np.bool_]]:
    """The rows of some trials, and which of these trials were listed at all."""
    order = np.argsort(keys)
    positions = np.minimum(np.searchsorted(keys, trials, sorter=order), len(keys) - 1)
    rows = order[positions]
    return rows, keys[rows] == trials


def values_of(database: Database, study: int, keys: Reals, objectives: int) -> Reals:
    kind = "0"
    if "value_type" in database.columns("trial_values"):
        kind = "CASE WHEN x.value_type = 'INF_POS' THEN 1 WHEN x.value_type = 'INF_NEG' THEN 2 ELSE 0 END"
    fields = f"x.trial_id, x.objective, COALESCE(x.value, 0), {kind}, CASE WHEN x.value IS NULL THEN 1 ELSE 0 END"
    rows = numbers(list(fetch(database, "trial_values", fields, study, keys)), 5)
    value = np.where(rows[:, 4] == 1, np.nan, rows[:, 2])
    value = np.where(rows[:, 3] == 1, np.inf, np.where(rows[:, 3] == 2, -np.inf, value))
    values = np.full((len(keys), objectives), np.nan)
    place, known = places_of(keys, rows[:, 0])
    known &= (rows[:, 1] >= 0) & (rows[:, 1] < objectives)
    values[place[known], rows[known, 1].astype(np.int64)] = value[known]
    return values


def settings_of(database: Database, study: int, keys: Reals) -> dict[str, Setting]:
    """Names and distributions are long and few: once met, the database gives their number instead."""
    settings: dict[str, Setting] = {}
    met: dict[tuple[str, str], tuple[str, int]] = {}  # texts → name, place of the distribution
    columns_by_name: dict[str, list[Reals]] = {}
    for part in watched(parts_of(np.sort(keys)), "settings"):
        known = list(met) if len(met) <= MOST_NUMBERED else []
        rows = _numbered(database, study, known, part) if known else np.zeros((1, 3))
        for number in np.unique(rows[rows[:, 1] > 0, 1]).astype(np.int64):
            name, place = met[known[number - 1]]
            group = rows[rows[:, 1] == number]
            columns_by_name[name].append(np.column_stack([group[:, 0], group[:, 2], np.full(len(group), place)]))
        if not (rows[:, 1] == 0).any():
            continue
        fresh: dict[str, list[tuple[object, ...]]] = {}
        for trial, name, value, text in _unnumbered(database, study, known, part):
            if (name, text) not in met:
                met[name, text] = name, settings.setdefault(name, Setting()).place(text, name)
            fresh.setdefault(name, []).append((trial, value, met[name, text][1]))
        for name, group_of in fresh.items():
            columns_by_name.setdefault(name, []).append(np.array(group_of, dtype=np.float64))
    return {
        name: _setting(settings[name], np.concatenate(parts), keys, name) for name, parts in columns_by_name.items()
    }


def _numbered(database: Database, study: int, known: Sequence[Text], part: StudyPart) -> Reals:
    """(rows, 3) Trial, number of the name and distribution (0: of none that is known), value."""
    cases = " ".join(
        f"WHEN ? THEN CASE x.distribution_json {' '.join(f'WHEN ? THEN {i}' for i in numbers_)} ELSE 0 END"
        for numbers_ in _by_name(known).values()
    )
    code = f"x.trial_id * {len(known) + 1} + CASE x.param_name {cases} ELSE 0 END"
    texts = chain.from_iterable(
        (name, *(known[i - 1][1] for i in numbers_)) for name, numbers_ in _by_name(known).items()
    )
    query = of_study("trial_params", f"{code}, x.param_value", study, part)
    rows = numbers(database.rows(query, (*texts, part.low, part.high)), 2)
    trials, codes = np.divmod(rows[:, 0], len(known) + 1)
    return np.column_stack([trials, codes, rows[:, 1]])


def _by_name(known: Sequence[Text]) -> dict[str, list[int]]:
    """Numbers of the distributions of each name, from 1."""
    by_name: dict[str, list[int]] = {}
    for number, (name, _) in enumerate(known, start=1):
        by_name.setdefault(name, []).append(number)
    return by_name


def _unnumbered(database: Database, study: int, known: Sequence[Text], part: StudyPart) -> Sequence[Sequence[Any]]:
    other = " AND NOT (x.param_name = ? AND x.distribution_json = ?)" * len(known)
    fields = "x.trial_id, x.param_name, x.param_value, x.distribution_json"
    query = of_study("trial_params", fields, study, part, other)
    return database.rows(query, (*chain.from_iterable(known), part.low, part.high))


def _setting(setting: Setting, rows: Reals, keys: Reals, name: str) -> Setting:
    place, known = places_of(keys, rows[:, 0])
    if np.isnan(rows[known, 1]).any():
        raise FormatError(f"parameter {name!r} has a trial without a value; the storage is damaged")
    order = np.argsort(place[known], kind="stable")
    return replace(
        setting, rows=place[known][order], values=rows[known, 1][order], which=rows[known, 2][order].astype(np.int64)
    )


def constraints_of(database: Database, study: int, row_of: dict[int, int]) -> Sequence[dict[str, float]]:
    """Kept among the system's attributes, of which other keys may be huge."""
    by_row: dict[int, dict[str, Any]] = {}
    begin = f"AND SUBSTR(x.{database.quote('key')}, 1, 11) = 'constraints'"
    for row, name, value in _attributes(database, "trial_system_attributes", study, row_of, begin):
        by_row.setdefault(row, {})[name] = value
    return [constraints_in(by_row.get(row, {})) for row in range(len(row_of))] if by_row else []


def attributes_of(database: Database, study: int, row_of: dict[int, int]) -> dict[str, list[object]]:
    """What users noted of a trial, as far as it is short and plain."""
    attributes: dict[str, list[object]] = {}
    short = f"AND LENGTH(x.value_json) <= {LONGEST}"
    for row, name, value in _attributes(database, "trial_user_attributes", study, row_of, short):
        if value is not None and is_plain(value):
            attributes.setdefault(name, [None] * len(row_of))[row] = value
    return dict(sorted(attributes.items()))


def _attributes(
    database: Database, table: str, study: int, row_of: dict[int, int], extra: str
) -> Iterator[tuple[int, str, Any]]:
    """Row, name and value; none where a storage has no such table."""
    if {"trial_id", "key", "value_json"} <= database.columns(table):
        fields = f"x.trial_id, x.{database.quote('key')}, x.value_json"
        for trial, name, text in fetch(database, table, fields, study, as_keys(row_of), extra):
            if trial in row_of:
                yield row_of[trial], str(name), parsed(text)


def reports_of(database: Database, study: int, row_of: dict[int, int]) -> dict[int, tuple[int, float]]:
    """The last step that each trial reported: found by the database, which may hold very many."""
    columns = database.columns(REPORTS)
    if not {"trial_id", "step", "intermediate_value"} <= columns:
        return {}
    last = f"AND x.step = (SELECT MAX(y.step) FROM {REPORTS} y WHERE y.trial_id = x.trial_id)"
    reports = {row: (step, value) for row, step, value in _reports(database, study, row_of, columns, last)}
    return dict(sorted(reports.items()))


def points_of(reopen: Opener, study: int, row_of: dict[int, int]) -> list[tuple[int, int, float]]:
    """Every report of the trials that were listed, fetched through a connection of its own."""
    with reopen() as database:
        return list(_reports(database, study, row_of, database.columns(REPORTS)))


def _reports(
    database: Database, study: int, row_of: dict[int, int], columns: set[str], extra: str = ""
) -> Iterator[tuple[int, int, float]]:
    """Row, step and value of reports."""
    kind = "x.intermediate_value_type" if "intermediate_value_type" in columns else "NULL"
    fields = f"x.trial_id, x.step, x.intermediate_value, {kind}"
    for trial, step, value, typed in fetch(database, REPORTS, fields, study, as_keys(row_of), extra):
        known = float(value) if value is not None else np.nan
        if trial in row_of:
            yield row_of[trial], step, known if typed is None else INFINITE.get(state_of(typed), known)
