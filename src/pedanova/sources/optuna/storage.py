"""Optuna's relational storage, straight from its tables: SQLite files, PostgreSQL, MySQL and MariaDB.

A trial that has ended never changes, so trials are listed first and their rows fetched in parts:
the answer is right while another process goes on writing, and that process never waits long.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import lru_cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from pedanova.base.progress import watched
from pedanova.data.records import Records
from pedanova.data.regions import Direction
from pedanova.errors import FormatError, NoTrialsError, PedanovaError, listed
from pedanova.sources.databases import Database, open_database, open_sqlite
from pedanova.sources.optuna.study_log import (
    Reals,
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
BATCH = 20_000  # trials asked for at once
APART = 2_000  # keys farther apart are fetched by queries of their own
LONGEST = 1000  # letters of an attribute; longer ones are no setting, no result and no constraint
INFINITE = {"INF_POS": np.inf, "INF_NEG": -np.inf, "NAN": np.nan}

REPORTS = "trial_intermediate_values"

Opener = Callable[[], AbstractContextManager[Database]]


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
    row_of = {int(trial[0]): row for row, trial in enumerate(trials)}
    query = "SELECT direction FROM study_directions WHERE study_id = ? ORDER BY objective"
    ways = [state_of(way) for (way, *_) in database.rows(query, (study,))] or ["MINIMIZE"]
    directions: list[Direction] = ["maximize" if way == "MAXIMIZE" else "minimize" for way in ways]
    return StudyLog(
        name=name,
        directions=directions,
        states=[state_of(trial[1]) for trial in trials],
        values=values_of(database, study, row_of, len(directions)),
        settings=settings_of(database, study, row_of),
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


def fetch(
    database: Database, table: str, fields: str, study: int, row_of: Mapping[int, int], extra: str = ""
) -> Iterator[tuple[int, Sequence[Any]]]:
    """The row of each listed trial, its key and fields; by ranges of keys so short that a writer never waits long."""
    keys = sorted(row_of)
    gaps = [place for place, (a, b) in enumerate(pairwise(keys), start=1) if b - a > APART]
    for start, stop in pairwise([*sorted({*range(0, len(keys), BATCH), *gaps}), len(keys)]):
        low, high = keys[start], keys[stop - 1]
        mixed = high - low >= stop - start  # other studies have trials in between
        join = f"JOIN trials t ON t.trial_id = x.trial_id AND t.study_id = {int(study)}" if mixed else ""
        query = f"SELECT x.trial_id, {fields} FROM {table} x {join} WHERE x.trial_id BETWEEN ? AND ? {extra}"
        yield from ((row_of[one[0]], one) for one in database.rows(query, (low, high)) if one[0] in row_of)


def number_of(value: Any, kind: object) -> float:
    """A number, or what its kind says: a storage keeps no infinity as such."""
    known = np.nan if value is None else float(value)
    return known if kind is None else INFINITE.get(state_of(kind), known)


def values_of(database: Database, study: int, row_of: Mapping[int, int], objectives: int) -> Reals:
    values = np.full((len(row_of), objectives), np.nan)
    kind = "x.value_type" if "value_type" in database.columns("trial_values") else "NULL"
    for row, (_, objective, value, typed) in fetch(
        database, "trial_values", f"x.objective, x.value, {kind}", study, row_of
    ):
        if 0 <= objective < objectives:
            values[row, int(objective)] = number_of(value, typed)
    return values


def settings_of(database: Database, study: int, row_of: Mapping[int, int]) -> dict[str, Setting]:
    settings: dict[str, Setting] = {}
    places: dict[tuple[str, str], int] = {}  # of distributions, by the texts that stand for them
    flat: dict[str, array[float]] = {}  # row, value and place, one behind the other
    fields = "x.param_name, x.param_value, x.distribution_json"
    for row, (_, name, value, text) in watched(fetch(database, "trial_params", fields, study, row_of), "settings"):
        if value is None:
            raise FormatError(f"parameter {name!r} has a trial without a value; the storage is damaged")
        if (name, text) not in places:
            places[name, text] = settings.setdefault(name, Setting()).place(text, name)
            flat.setdefault(name, array("d"))
        flat[name].extend((row, value, places[name, text]))
    for name, setting in settings.items():
        table = np.array(flat[name]).reshape(-1, 3)
        rows, setting.values, which = table[np.argsort(table[:, 0], kind="stable")].T
        setting.rows, setting.which = rows.astype(np.int64), which.astype(np.int64)
    return settings


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
        fields = f"x.{database.quote('key')}, x.value_json"
        for row, (_, name, text) in fetch(database, table, fields, study, row_of, extra):
            yield row, str(name), parsed(text)


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
    for row, (_, step, value, typed) in fetch(
        database, REPORTS, f"x.step, x.intermediate_value, {kind}", study, row_of, extra
    ):
        yield row, step, number_of(value, typed)
