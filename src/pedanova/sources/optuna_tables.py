"""Optuna's relational storage, straight from its tables: SQLite files, PostgreSQL, MySQL and MariaDB.

A trial that has ended never changes, so trials are listed first and their rows fetched in parts:
the answer is right while another process goes on writing, and that process never waits long.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from pedanova.errors import DataError, FormatError, PedanovaError, listed
from pedanova.observations import Records
from pedanova.progress import watched
from pedanova.regions import Direction
from pedanova.sources.databases import Database, is_database_url, open_database, open_sqlite
from pedanova.sources.distributions import read_distribution
from pedanova.sources.kinds import Kind
from pedanova.sources.optuna_log import (
    Setting,
    StudyLog,
    as_records,
    constraints_in,
    is_plain,
    seconds_between,
)

SUFFIXES = (".db", ".sqlite", ".sqlite3", ".db3")
NEEDED = {
    "studies": {"study_id", "study_name"},
    "study_directions": {"study_id", "direction", "objective"},
    "trials": {"trial_id", "number", "study_id", "state"},
    "trial_params": {"trial_id", "param_name", "param_value", "distribution_json"},
    "trial_values": {"trial_id", "objective", "value"},
}  # fmt: skip
LONGEST = 1000  # letters of an attribute; longer ones are no setting, no result and no constraint
INFINITE = {"INF_POS": np.inf, "INF_NEG": -np.inf, "NAN": np.nan}


def is_storage(path: Path) -> bool:
    """Whether a file is a SQLite database with Optuna's tables."""
    if not path.is_file() or path.suffix.lower() not in SUFFIXES:
        return False
    try:
        with open_sqlite(path) as database:
            return {"studies", "trials", "trial_params"} <= database.tables()
    except (DataError, FormatError):
        return False


def read_file(path: Path, study: str | None) -> Records:
    with open_sqlite(path) as database:
        return read_storage(database, study)


def read_url(url: str, study: str | None) -> Records:
    with open_database(url) as database:
        return read_storage(database, study)


def read_storage(database: Database, study: str | None) -> Records:
    check_schema(database)
    key, name = choose_study(database, study)
    try:
        log = read_log(database, key, name)
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
        raise FormatError(
            f"{database.shown} holds no tables of Optuna, but {listed(sorted(tables)) or 'none'}"
        )
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
    found = {str(name): (int(key), int(count)) for key, name, count in rows}
    if not found:
        raise DataError(f"{database.shown} holds no study yet")
    return pick_study(found, wanted, database.shown)


def pick_study(found: dict[str, tuple[int, int]], wanted: str | None, shown: str) -> tuple[int, str]:
    """The study of a name, or the only one there is."""
    names = [f"{name} ({count:,} trials)" for name, (_, count) in found.items()]
    counted = ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
    if wanted is not None and wanted not in found:
        raise DataError(f"{shown} holds no study called {wanted!r}; there are: {counted}")
    if wanted is None and len(found) > 1:
        raise DataError(f"{shown} holds {len(found)} studies; choose one by study=: {counted}")
    name = wanted if wanted is not None else next(iter(found))
    return found[name][0], name


def read_log(database: Database, study: int, name: str) -> StudyLog:
    times = {"datetime_start", "datetime_complete"} <= database.columns("trials")
    fields = "trial_id, state, datetime_start, datetime_complete" if times else "trial_id, state, NULL, NULL"
    trials = database.rows(
        f"SELECT {fields} FROM trials WHERE study_id = ? ORDER BY number, trial_id", (study,)
    )
    row_of = {int(trial[0]): row for row, trial in enumerate(trials)}
    directions = directions_of(database, study)
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
        seconds=seconds_between(
            [as_time(trial[2]) for trial in trials], [as_time(trial[3]) for trial in trials]
        ),
    )


def state_of(state: object) -> str:
    return str(getattr(state, "value", state)).upper()


def as_time(value: object) -> datetime | None:
    if isinstance(value, datetime):
        return value
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None


def directions_of(database: Database, study: int) -> list[Direction]:
    rows = database.rows(
        "SELECT direction FROM study_directions WHERE study_id = ? ORDER BY objective", (study,)
    )
    return ["maximize" if state_of(row[0]) == "MAXIMIZE" else "minimize" for row in rows] or ["minimize"]


def metric_names(database: Database, study: int) -> list[str]:
    if not {"study_id", "key", "value_json"} <= database.columns("study_system_attributes"):
        return []
    key = quoted("key", database)
    rows = database.rows(
        f"SELECT value_json FROM study_system_attributes WHERE study_id = ? AND {key} = ?",
        (study, "study:metric_names"),
    )
    names = parsed(rows[0][0]) if rows else []
    return [str(name) for name in names] if isinstance(names, list) else []


def quoted(name: str, database: Database) -> str:
    """A column's name that is a word of SQL as well."""
    return f"`{name}`" if database.family == "mysql" else f'"{name}"'


def parsed(text: object) -> Any:
    try:
        return json.loads(text) if isinstance(text, str | bytes) else None
    except (ValueError, RecursionError):
        return None


def of_study(table: str, fields: str, extra: str = "") -> str:
    """Rows of one study's trials, by ranges of their keys."""
    return (
        f"SELECT {fields} FROM {table} x JOIN trials t ON t.trial_id = x.trial_id "
        f"WHERE t.study_id = {{study}} {extra} AND x.trial_id BETWEEN ? AND ?"
    )


def fetch(database: Database, query: str, study: int, row_of: dict[int, int], what: str = "") -> Any:
    """The rows of a query of `of_study`, for the trials that were listed."""
    if not row_of:
        return iter(())
    rows = database.in_parts(query.replace("{study}", str(int(study))), min(row_of), max(row_of))
    return watched(rows, what) if what else rows


def values_of(database: Database, study: int, row_of: dict[int, int], objectives: int) -> Any:
    typed = "value_type" in database.columns("trial_values")
    query = of_study(
        "trial_values", f"x.trial_id, x.objective, x.value, {'x.value_type' if typed else 'NULL'}"
    )
    values = np.full((len(row_of), objectives), np.nan)
    for trial, objective, value, kind in fetch(database, query, study, row_of):
        row = row_of.get(trial)
        if row is not None and 0 <= objective < objectives:
            known = value if value is not None else np.nan
            values[row, objective] = known if kind is None else INFINITE.get(state_of(kind), known)
    return values


def settings_of(database: Database, study: int, row_of: dict[int, int]) -> dict[str, Setting]:
    query = of_study("trial_params", "x.trial_id, x.param_name, x.param_value, x.distribution_json")
    settings: dict[str, Setting] = {}
    known: dict[tuple[str, str], tuple[Setting, int]] = {}
    for trial, name, value, text in fetch(database, query, study, row_of, "settings"):
        row = row_of.get(trial)
        if row is None:
            continue
        found = known.get((name, text))
        if found is None:
            found = known[name, text] = (
                settings.setdefault(name, Setting()),
                _place(settings[name], name, text),
            )
        setting, place = found
        setting.rows.append(row)
        setting.values.append(value)
        setting.which.append(place)
    return {name: _complete(name, setting) for name, setting in settings.items()}


def _place(setting: Setting, name: str, text: str) -> int:
    """The place of a distribution among those of its parameter; two texts may mean the same."""
    distribution = read_distribution(text, f"parameter {name!r}")
    if distribution not in setting.distributions:
        setting.distributions.append(distribution)
    return setting.distributions.index(distribution)


def _complete(name: str, setting: Setting) -> Setting:
    if None in setting.values:
        raise FormatError(f"parameter {name!r} has a trial without a value; the storage is damaged")
    return setting


def constraints_of(database: Database, study: int, row_of: dict[int, int]) -> Sequence[dict[str, float]]:
    """Kept among the system's attributes, of which other keys may be huge."""
    if not {"trial_id", "key", "value_json"} <= database.columns("trial_system_attributes"):
        return []
    key = f"x.{quoted('key', database)}"
    query = of_study(
        "trial_system_attributes", f"x.trial_id, {key}, x.value_json", f"AND {key} LIKE 'constraints%'"
    )
    if database.family != "sqlite":
        query = query.replace("'constraints%'", "'constraints%%'")
    found: dict[int, dict[str, Any]] = {}
    for trial, name, text in fetch(database, query, study, row_of):
        if trial in row_of:
            found.setdefault(row_of[trial], {})[str(name)] = parsed(text)
    return [constraints_in(found.get(row, {})) for row in range(len(row_of))] if found else []


def attributes_of(database: Database, study: int, row_of: dict[int, int]) -> dict[str, list[object]]:
    """What users noted of a trial, as far as it is short and plain."""
    if not {"trial_id", "key", "value_json"} <= database.columns("trial_user_attributes"):
        return {}
    fields = f"x.trial_id, x.{quoted('key', database)}, x.value_json"
    query = of_study("trial_user_attributes", fields, f"AND LENGTH(x.value_json) <= {LONGEST}")
    found: dict[str, list[object]] = {}
    for trial, name, text in fetch(database, query, study, row_of, "attributes"):
        value = parsed(text)
        if trial in row_of and value is not None and is_plain(value):
            found.setdefault(str(name), [None] * len(row_of))[row_of[trial]] = value
    return dict(sorted(found.items()))


def reports_of(database: Database, study: int, row_of: dict[int, int]) -> dict[int, tuple[int, float]]:
    """The last step that each trial reported: found by the database, which may hold very many."""
    columns = database.columns("trial_intermediate_values")
    if not {"trial_id", "step", "intermediate_value"} <= columns:
        return {}
    kind = "v.intermediate_value_type" if "intermediate_value_type" in columns else "NULL"
    query = (
        f"SELECT v.trial_id, v.step, v.intermediate_value, {kind} FROM trial_intermediate_values v JOIN ("
        + of_study("trial_intermediate_values", "x.trial_id AS trial_id, MAX(x.step) AS step")
        + " GROUP BY x.trial_id) last ON last.trial_id = v.trial_id AND last.step = v.step"
    )
    found: dict[int, tuple[int, float]] = {}
    for trial, step, value, typed in fetch(database, query, study, row_of):
        known = float(value) if value is not None else np.nan
        if trial in row_of:
            found[row_of[trial]] = step, known if typed is None else INFINITE.get(state_of(typed), known)
    return dict(sorted(found.items()))


FILE = Kind(
    name="Optuna SQLite file",
    mark="a .db or .sqlite file with Optuna's tables",
    example="pedanova analyze optuna.db --study NAME",
    takes="path",
    fits=is_storage,
    read=read_file,
)
URL = Kind(
    name="Optuna database",
    mark="a URL: sqlite:///, postgresql://, mysql://",
    example="pedanova analyze postgresql://user:password@host/database --study NAME",
    takes="url",
    fits=is_database_url,
    read=read_url,
)
