"""Read the tables of Optuna's relational storage: SQLite files, PostgreSQL, MySQL and MariaDB.

Trials are listed first, and then their data is fetched in parts, so that other processes never wait long. Finished
trials never change, so the result is correct even if another process writes meanwhile.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import compress
from operator import itemgetter
from typing import Any

import numpy as np

from pedanova.base.progress import watched
from pedanova.data.records import Point, Records
from pedanova.data.regions import Direction
from pedanova.errors import FormatError, NoTrialsError
from pedanova.sources.databases import Database, Opener
from pedanova.sources.optuna import study_log

NEEDED = {
    "studies": {"study_id", "study_name"},
    "study_directions": {"study_id", "direction", "objective"},
    "trials": {"trial_id", "number", "study_id", "state"},
    "trial_params": {"trial_id", "param_name", "param_value", "distribution_json"},
    "trial_values": {"trial_id", "objective", "value"},
}  # fmt: skip
OLDER = {  # Optuna 0.9 to 2.3: one objective, in the tables of studies and trials; trial_values has the reports
    "studies": {"study_id", "study_name", "direction"},
    "trials": {"trial_id", "study_id", "state", "value"},
    "trial_params": NEEDED["trial_params"],
}
BATCH = 20_000  # trials per query
LONGEST = 1000  # characters of an attribute; longer ones are not used
INFINITE = {"INF_POS": np.inf, "INF_NEG": -np.inf, "NAN": np.nan}
REPORTS = "trial_intermediate_values"


@dataclass(frozen=True, slots=True)
class TrialKeys:
    """The ids of a study's trials, in the order of trial numbers; row i of the records is trial i."""

    study: int
    keys: study_log.Rows

    def fetch(
        self, database: Database, table: str, fields: str, extra: str = ""
    ) -> Iterator[tuple[study_log.Rows, list[list[Any]]]]:
        """Yield row indices and the columns `fields` of a table, for a few trials at a time so that no writer waits."""
        order = np.argsort(self.keys)
        keys = self.keys[order]
        for start in range(0, len(keys), BATCH):
            part = keys[start : start + BATCH]
            low, high = int(part[0]), int(part[-1])
            mixed = high - low >= len(part)  # there are trials of other studies in between
            join = f"JOIN trials t ON t.trial_id = x.trial_id AND t.study_id = {int(self.study)}" if mixed else ""
            query = f"SELECT x.trial_id, {fields} FROM {table} x {join} WHERE x.trial_id BETWEEN ? AND ? {extra}"
            entries = database.rows(query, (low, high))
            if not entries:
                continue
            columns = [[*map(itemgetter(place), entries)] for place in range(len(entries[0]))]
            places = np.minimum(np.searchsorted(part, columns[0]), len(part) - 1)
            known = part[places] == np.array(columns[0])  # newer trials are left out
            kept = columns[1:] if known.all() else [[*compress(column, known)] for column in columns[1:]]
            yield order[start + places[known]], kept


def fits_tables(tables: set[str]) -> bool:
    return {"studies", "trials", "trial_params"} <= tables


def read_database(database: Database, study: str | None) -> Records:
    check_schema(database)
    key, name = choose_study(database, study)
    return study_log.as_records(read_trials(database, key, name))


def check_schema(database: Database) -> None:
    """Raise an error for an unknown version of the schema, because its tables may have another meaning."""
    for table, columns in (OLDER if is_older(database) else NEEDED).items():
        lacking = columns - database.columns(table)
        if lacking:
            raise FormatError(
                f"{database.shown}: {table} has no column {min(lacking)}, so it was not written by Optuna 0.9 or "
                "newer; load the study with the version of Optuna that wrote it, and save study.trials_dataframe() "
                "as a CSV file"
            )


def is_older(database: Database) -> bool:
    return OLDER["trials"] <= database.columns("trials") and OLDER["studies"] <= database.columns("studies")


def choose_study(database: Database, wanted: str | None) -> tuple[int, str]:
    rows = database.rows(
        "SELECT s.study_id, s.study_name, COUNT(t.trial_id) FROM studies s "
        "LEFT JOIN trials t ON t.study_id = s.study_id GROUP BY s.study_id, s.study_name ORDER BY s.study_id"
    )
    studies = {str(name): ((int(key), str(name)), int(count)) for key, name, count in rows}
    if not studies:
        raise NoTrialsError(f"{database.shown} holds no study yet")
    return study_log.pick_study(studies, wanted, database.shown)


def read_trials(database: Database, study: int, name: str) -> study_log.StudyLog:
    columns = database.columns("trials")
    times = {"datetime_start", "datetime_complete"} <= columns
    fields = "trial_id, state, datetime_start, datetime_complete" if times else "trial_id, state, NULL, NULL"
    order = "number, trial_id" if "number" in columns else "trial_id"
    listing = database.rows(f"SELECT {fields} FROM trials WHERE study_id = ? ORDER BY {order}", (study,))
    trials = TrialKeys(study, np.array([trial[0] for trial in listing], dtype=np.int64))
    newer = "study_directions WHERE study_id = ? ORDER BY objective"
    query = f"SELECT direction FROM {'studies WHERE study_id = ?' if is_older(database) else newer}"
    ways = [state_of(way) for (way, *_) in database.rows(query, (study,))] or ["MINIMIZE"]
    directions: list[Direction] = ["maximize" if way == "MAXIMIZE" else "minimize" for way in ways]
    last = "AND x.step = (SELECT MAX(y.step) FROM {} y WHERE y.trial_id = x.trial_id)"
    return study_log.StudyLog(
        name=name,
        directions=directions,
        states=[state_of(trial[1]) for trial in listing],
        values=values_of(database, trials, len(directions)),
        settings=settings_of(database, trials),
        metrics=metric_names(database, study),
        constraints=constraints_of(database, trials),
        attributes=attributes_of(database, trials),
        reports={row: (step, value) for row, step, value in sorted(_reports(database, trials, last))},
        points=partial(points_of, database.reopen, trials),
        begin=study_log.as_moments([trial[2] for trial in listing]),
        end=study_log.as_moments([trial[3] for trial in listing]),
    )


@lru_cache(maxsize=100)
def state_of(state: object) -> str:
    return str(getattr(state, "value", state)).upper()


def metric_names(database: Database, study: int) -> list[str]:
    if not {"study_id", "key", "value_json"} <= database.columns("study_system_attributes"):
        return []
    key = database.quote("key")
    query = f"SELECT value_json FROM study_system_attributes WHERE study_id = ? AND {key} = ?"
    rows = database.rows(query, (study, "study:metric_names"))
    names = parsed(rows[0][0]) if rows else []
    return [str(name) for name in names] if isinstance(names, list) else []


def parsed(text: object) -> Any:
    try:
        return json.loads(text) if isinstance(text, str | bytes) else None
    except (ValueError, RecursionError):
        return None


def numbers_of(values: Sequence[Any], kinds: Sequence[Any]) -> study_log.Reals:
    """The values as floats; infinite values are marked in `kinds`, because the database cannot store them."""
    special = np.array([0.0 if kind is None else INFINITE.get(state_of(kind), 0.0) for kind in kinds])
    return np.where(special == 0, np.array(values, dtype=np.float64), special)


def values_of(database: Database, trials: TrialKeys, objectives: int) -> study_log.Reals:
    values = np.full((len(trials.keys), objectives), np.nan)
    if is_older(database):
        for rows, (numbers,) in trials.fetch(database, "trials", "x.value"):
            values[rows, 0] = np.array(numbers, dtype=np.float64)
        return values
    kind = "x.value_type" if "value_type" in database.columns("trial_values") else "NULL"
    for rows, (places, numbers, kinds) in trials.fetch(database, "trial_values", f"x.objective, x.value, {kind}"):
        values[rows, np.array(places, dtype=np.int64)] = numbers_of(numbers, kinds)
    return values


def settings_of(database: Database, trials: TrialKeys) -> dict[str, study_log.Setting]:
    pairs: dict[tuple[str, str], int] = {}  # (name, text of the distribution) → number
    parts: list[tuple[study_log.Rows, study_log.Rows, study_log.Reals]] = []
    fields = "x.param_name, x.param_value, x.distribution_json"
    for rows, (names, values, texts) in watched(trials.fetch(database, "trial_params", fields), "parts of settings"):
        for pair in dict.fromkeys(zip(names, texts, strict=True)):
            pairs.setdefault(pair, len(pairs))
        codes = map(pairs.__getitem__, zip(names, texts, strict=True))
        parts.append((rows, np.fromiter(codes, np.int64, len(names)), np.array(values, dtype=np.float64)))
    if not parts:
        return {}
    row, code, value = (np.concatenate(column) for column in zip(*parts, strict=True))
    settings: dict[str, study_log.Setting] = {}
    place = np.array([settings.setdefault(name, study_log.Setting()).place(text, name) for name, text in pairs])
    number = {name: i for i, name in enumerate(settings)}
    owner = np.array([number[name] for name, _ in pairs])[code]
    order = np.lexsort((row, owner))
    ends = np.searchsorted(owner[order], np.arange(len(settings)), side="right")
    for (name, setting), mine in zip(settings.items(), np.split(order, ends[:-1]), strict=True):
        setting.rows, setting.values, setting.which = row[mine], value[mine], place[code[mine]]
        if np.isnan(setting.values).any():
            raise FormatError(f"a trial has no value for its parameter {name!r}; the storage is damaged")
    return settings


def constraints_of(database: Database, trials: TrialKeys) -> Sequence[dict[str, float]]:
    """The constraints of each trial; other system attributes are not read, because they may be huge."""
    by_row: dict[int, dict[str, Any]] = {}
    begin = f"AND SUBSTR(x.{database.quote('key')}, 1, 11) = 'constraints'"
    for row, name, value in _attributes(database, "trial_system_attributes", trials, begin):
        by_row.setdefault(row, {})[name] = value
    return [study_log.constraints_in(by_row.get(row, {})) for row in range(len(trials.keys))] if by_row else []


def attributes_of(database: Database, trials: TrialKeys) -> dict[str, list[object]]:
    """The user attributes by name, with one value for each trial; only short plain values are read."""
    attributes: dict[str, list[object]] = {}
    short = f"AND LENGTH(x.value_json) <= {LONGEST}"
    for row, name, value in _attributes(database, "trial_user_attributes", trials, short):
        if value is not None and study_log.is_plain(value):
            attributes.setdefault(name, [None] * len(trials.keys))[row] = value
    return dict(sorted(attributes.items()))


def _attributes(database: Database, table: str, trials: TrialKeys, extra: str) -> Iterator[tuple[int, str, Any]]:
    """Yield the row, name and value of each attribute; nothing if the storage has no such table."""
    if {"trial_id", "key", "value_json"} <= database.columns(table):
        fields = f"x.{database.quote('key')}, x.value_json"
        for rows, (names, texts) in trials.fetch(database, table, fields, extra):
            yield from zip(rows.tolist(), map(str, names), map(parsed, texts), strict=True)


def points_of(reopen: Opener, trials: TrialKeys) -> list[Point]:
    """The learning curves of the trials: every intermediate value, read through a new connection."""
    with reopen() as database:
        return list(_reports(database, trials))


def _reports(database: Database, trials: TrialKeys, extra: str = "") -> Iterator[tuple[int, int, float]]:
    """Yield the row, step and value of each intermediate value; nothing if the storage has no such table."""
    table, value = ("trial_values", "value") if is_older(database) else (REPORTS, "intermediate_value")
    columns = database.columns(table)
    if {"trial_id", "step", value} <= columns:
        kind = f"x.{value}_type" if f"{value}_type" in columns else "NULL"
        fields = f"x.step, x.{value}, {kind}"
        for rows, (steps, values, kinds) in trials.fetch(database, table, fields, extra.format(table)):
            yield from zip(rows.tolist(), steps, numbers_of(values, kinds).tolist(), strict=True)
