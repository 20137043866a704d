"""Read databases: SQLite with Python's own module, PostgreSQL with psycopg, MySQL with PyMySQL.

Nothing is written or migrated, and every query is a separate short transaction, so that no lock lasts long. Error
messages show the URL without its password.
"""

from __future__ import annotations

import importlib
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import quote, unquote, urlsplit

from pedanova.errors import DataError, FormatError, MissingLibraryError, missing_library
from pedanova.sources.tables.text import first_bytes

PATIENCE = 10  # seconds to wait for a server, or for a lock
FAMILIES = {"sqlite": "sqlite", "postgresql": "postgresql", "postgres": "postgresql",
            "mysql": "mysql", "mariadb": "mysql"}  # fmt: skip
DRIVERS = {"postgresql": ("psycopg", "psycopg2"), "mysql": ("pymysql",)}
READ_ONLY = {
    "postgresql": ("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY", f"SET lock_timeout = '{PATIENCE}s'"),
    "mysql": ("SET SESSION TRANSACTION READ ONLY", f"SET SESSION lock_wait_timeout = {PATIENCE}"),
}
SQLITE = b"SQLite format 3\x00"  # the first bytes of such a file
Opener: TypeAlias = "Callable[[], AbstractContextManager[Database]]"


@dataclass(slots=True)
class Database:
    """An open connection to a database; `shown` is its URL without the password."""

    connection: Any
    shown: str
    family: str
    reopen: Opener  # opens another connection to the same database

    def rows(self, query: str, values: Sequence[object] = ()) -> list[Sequence[Any]]:
        """All rows of one query; `values` replace its question marks."""
        with complaints(self.shown, self.family):
            cursor = self.connection.cursor()
            try:
                cursor.execute(query if self.family == "sqlite" else query.replace("?", "%s"), tuple(values))
                fetched: list[Sequence[Any]] = cursor.fetchall()
            except Exception as error:  # errors of the drivers, which differ for a lost connection
                if getattr(self.connection, "closed", False) or not getattr(self.connection, "open", True):
                    raise DataError(f"{self.shown} became unavailable during the read; read it again") from error
                raise
            finally:
                with suppress(Exception):  # a lost connection cannot be rolled back
                    cursor.close()
                    if self.family != "sqlite":
                        self.connection.rollback()
            return fetched

    def quote(self, name: str) -> str:
        """A column name in quotes, because it may be a keyword of SQL."""
        return f"`{name}`" if self.family == "mysql" else f'"{name}"'

    def tables(self) -> set[str]:
        query = {
            "sqlite": "SELECT name FROM sqlite_master WHERE type = 'table'",
            "postgresql": "SELECT tablename FROM pg_tables WHERE schemaname = ANY(current_schemas(false))",
            "mysql": "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()",
        }[self.family]
        return {str(name) for (name, *_) in self.rows(query)}

    def columns(self, table: str) -> set[str]:
        """The column names of a table; `table` is not escaped, so it must never come from a user."""
        if self.family == "sqlite":
            return {str(row[1]) for row in self.rows(f"PRAGMA table_info({table})")}
        query = "SELECT column_name FROM information_schema.columns WHERE table_name = ?"
        return {str(name) for (name, *_) in self.rows(query, (table,))}


def family_of(url: str) -> str | None:
    """The kind of database, such as "postgresql" for postgresql+psycopg2://…; the driver in the URL is ignored."""
    return FAMILIES.get(url.partition("://")[0].partition("+")[0].lower())


def without_password(url: str) -> str:
    """The URL without its password; if the end of the password is unclear, most of the URL is left out."""
    scheme, _, rest = url.partition("://")
    login, at, place = rest.rpartition("@")
    if "?" in login or "#" in login:
        return f"{scheme}://…"
    place = place.partition("?")[0].partition("#")[0]
    user, colon, _ = login.partition(":")
    if not at:  # a port that is not a number may be a password without a host
        server, slash, database = place.partition("/")
        host, colon, port = server.rpartition(":")
        place = f"{host}:***{slash}{database}" if colon and not port.rstrip("]").isdigit() else place
        return f"{scheme}://{place}"
    return f"{scheme}://{user}{':***' if colon else ''}{at}{place}"


@contextmanager
def open_database(place: str | Path) -> Iterator[Database]:
    """A context manager for a read-only connection to a server's URL, a SQLite URL or a path."""
    url = "" if isinstance(place, Path) else place
    family, shown = family_of(url) or "sqlite", without_password(url) if url else str(place)
    with complaints(shown, family):
        if family == "sqlite":
            connection = _open_sqlite(sqlite_path(url) if url else Path(place), shown)
        else:
            connection = _open_server(url, shown, family)
    try:
        yield Database(connection, shown, family, partial(open_database, place))
    finally:
        connection.close()


def is_sqlite(path: Path) -> bool:
    return first_bytes(path, len(SQLITE)) == SQLITE


def sqlite_path(url: str) -> Path:
    """The path of a SQLite URL as in SQLAlchemy: three slashes before a relative path, four before an absolute one."""
    rest = url.partition("://")[2].partition("?")[0]
    path = rest.removeprefix("/")
    if not path or path == ":memory:":
        raise DataError(f"{url} contains no file name; write sqlite:///trials.db")
    return Path(path)


def _open_sqlite(path: Path, shown: str) -> Any:
    if not path.is_file():
        raise DataError(f"{shown}: {'is a folder, not a file' if path.is_dir() else 'no such file'}; check the path")
    if not is_sqlite(path) and path.stat().st_size:
        raise FormatError(f"{shown} is not a SQLite database; check the path")
    place = f"file:{quote(str(path.resolve()))}?mode=ro"
    connection = sqlite3.connect(place, uri=True, timeout=PATIENCE, isolation_level=None)
    connection.execute("PRAGMA query_only = ON")
    connection.execute("PRAGMA cache_size = -32000")  # in kilobytes, so that neighbouring pages stay in memory
    return connection


def _login(url: str, shown: str) -> dict[str, Any]:
    """Convert a URL to the arguments of a driver's `connect`; the password may contain any character, even @ and ?."""
    scheme, _, rest = url.partition("://")
    login, _, server = rest.rpartition("@")
    user, _, password = login.partition(":")
    try:
        parts = urlsplit(f"{scheme}://{server}")
        port = parts.port
    except ValueError as error:
        reason = "its port is not a number" if "cast" in str(error) else error  # the message would show the password
        raise DataError(f"{shown} is not a URL: {reason}; write scheme://user:password@host:port/database") from None
    database = parts.path.strip("/")
    if not database:
        raise DataError(f"{shown} contains no database name; write scheme://user:password@host:port/database")
    login_fields = {"user": unquote(user), "password": unquote(password), "host": parts.hostname, "port": port}
    return {key: value for key, value in login_fields.items() if value} | {"database": database}


def _driver(family: str, shown: str) -> Any:
    for name in DRIVERS[family]:
        with suppress(ImportError):
            return importlib.import_module(name)
    raise missing_library(f"{shown}: {family} needs a driver", family)


def _open_server(url: str, shown: str, family: str) -> Any:
    driver, login = _driver(family, shown), _login(url, shown) | {"connect_timeout": PATIENCE}
    if family == "postgresql":
        login["dbname"] = login.pop("database")
    else:
        login["charset"] = "utf8mb4"
    connection = driver.connect(**login)
    cursor = connection.cursor()
    for statement in READ_ONLY[family]:
        cursor.execute(statement)
    connection.commit()
    return connection


@contextmanager
def complaints(shown: str, family: str) -> Iterator[None]:
    """A context manager that shortens errors of a database driver to one line without the password."""
    try:
        yield
    except (DataError, FormatError, MissingLibraryError):
        raise
    except sqlite3.DatabaseError as error:
        raise _sqlite_error(shown, error) from None
    except UnicodeDecodeError:
        raise FormatError(f"{shown} is damaged: it holds text that is not UTF-8; restore it from a backup") from None
    except OSError as error:
        raise DataError(f"{shown}: {error.strerror or error}; is the address right and the server running?") from None
    except Exception as error:  # drivers have no common base class, so their errors are known by module
        if not type(error).__module__.startswith(("psycopg", "pymysql")):
            raise
        reason = " ".join(" ".join(map(str, error.args)).split())
        raise DataError(f"{shown}: {family} reports an error: {reason[:300]}") from None


def _sqlite_error(shown: str, error: sqlite3.DatabaseError) -> DataError | FormatError:
    text = str(error)
    if "locked" in text or "busy" in text:
        return DataError(f"{shown} has been locked by another process for {PATIENCE} s; try again later")
    if "readonly" in text or "unable to open" in text:
        return DataError(f"{shown} cannot be opened for reading ({text}); copy the file and read the copy")
    if "no such" in text:
        return FormatError(f"{shown}: {text}; this database was written by an unknown version of its tool")
    return FormatError(f"{shown} is damaged: {text}; restore it from a backup")
