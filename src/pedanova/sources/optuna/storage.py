"""Optuna's relational storage, straight from its tables: SQLite files, PostgreSQL, MySQL and MariaDB.

A trial that has ended never changes, so trials are listed first and their rows fetched in parts:
the answer is right while another process goes on writing, and that process never waits long.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from pedanova.data.records import Records
from pedanova.errors import DataError, FormatError, NoTrialsError, PedanovaError, listed
from pedanova.sources.databases import Database, is_database_url, open_database, open_sqlite
from pedanova.sources.kind import Kind
from pedanova.sources.optuna.database_rows import Opener, read_log
from pedanova.sources.optuna.study_log import as_records, pick_study

SUFFIXES = (".db", ".sqlite", ".sqlite3", ".db3")
NEEDED = {
    "studies": {"study_id", "study_name"},
    "study_directions": {"study_id", "direction", "objective"},
    "trials": {"trial_id", "number", "study_id", "state"},
    "trial_params": {"trial_id", "param_name", "param_value", "distribution_json"},
    "trial_values": {"trial_id", "objective", "value"},
}  # fmt: skip


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
        return read_storage(database, study, partial(open_sqlite, path))


def read_url(url: str, study: str | None) -> Records:
    with open_database(url) as database:
        return read_storage(database, study, partial(open_database, url))


def read_storage(database: Database, study: str | None, reopen: Opener) -> Records:
    check_schema(database)
    key, name = choose_study(database, study)
    try:
        log = read_log(database, key, name, reopen)
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
    found = {str(name): (int(key), int(count)) for key, name, count in rows}
    if not found:
        raise NoTrialsError(f"{database.shown} holds no study yet")
    return pick_study(found, wanted, database.shown)


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
