"""Sources that grow while somebody watches them: a source is read anew as a whole when it has changed.

A look at a database opens a connection of its own and every query is a short transaction, so no writer waits for it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np

from pedanova.data.records import Records
from pedanova.data.vocabulary import STATES, state_word
from pedanova.errors import DataError, NoTrialsError
from pedanova.sources import read_records
from pedanova.sources.databases import open_database, without_password
from pedanova.sources.optuna import journal
from pedanova.sources.registry import check_known, check_no_pickle, database_at, find_kind, path_at
from pedanova.sources.scans.scan import is_pattern
from pedanova.sources.tables.files import kind_of

APPENDED = ("CSV", "TSV", "JSON lines")  # tables to which rows are appended in the order of the trials


@dataclass(frozen=True, slots=True)
class Look:
    """The result of one look at a source."""

    records: Records | None = field(repr=False)  # all trials so far; None where nothing is new, or there is none yet
    new: int = 0  # trials that have ended since the last look
    finished: int = 0  # all that have ended
    running: int | None = None  # begun and not ended; None where the source does not tell
    event: Literal["shortened"] | None = None  # fewer trials than before: what was read then is gone


def follow(data: object, *, study: str | None = None, delimiter: str | None = None) -> Follow:
    """A source that is looked at again and again: a path or a URL. Nothing is read before the first look.

    A look that fails (a file that is gone, a database that is down) raises an error of pedanova's own and
    changes nothing: the next one gives what this one would have given.
    """
    if not isinstance(data, str | os.PathLike):
        raise DataError(f"a {type(data).__name__} cannot be followed; give a path or the URL of a database")
    place = os.fspath(data)
    read = partial(read_records, place, study=study, delimiter=delimiter)
    database = database_at(place)
    if database is not None:
        shown = without_password(place) if isinstance(database, str) else place
        return Follow(shown, read, partial(stamp_of_database, database), ordered=True)
    if is_pattern(place):
        raise DataError(f"{place} names several files, which cannot be followed; give one file, folder or database")
    path = path_at(place)
    check_no_pickle(path)
    if not path.exists():
        raise DataError(f"{place} does not exist; start writing it, then follow it")
    kind = find_kind("path", path)
    if kind is None:
        check_known(path)
    ordered = kind_of(path) in APPENDED if kind is None else kind.read is journal.read_journal
    return Follow(str(path), read, partial(stamp_of, path), ordered)


@dataclass(slots=True)
class Follow:
    """A source that is read as a whole whenever it has changed."""

    shown: str  # the source as it may be printed
    read: Callable[[], Records]
    stamp: Callable[[], Hashable]  # changes when the source does
    ordered: bool = False  # rows are in the order in which the trials began
    _stamp: Hashable = None  # of the last reading
    _finished: int = 0
    _running: int | None = None

    def look(self) -> Look:
        stamp = self.stamp()
        if stamp == self._stamp:
            return Look(None, 0, self._finished, self._running)
        try:
            records = self.read()
        except NoTrialsError:  # there is no trial yet
            records = None
        states = None if records is None else records.columns.get(records.metadata.state or "")
        running = None
        if states is not None and states.labels is not None:
            unfinished = [
                code for code, word in enumerate(states.labels) if STATES.get(state_word(word)) == "unfinished"
            ]
            running = int(np.isin(states.values, unfinished).sum())
        finished = 0 if records is None else records.rows - (running or 0)
        event: Literal["shortened"] | None = "shortened" if finished < self._finished else None
        new = finished - (0 if event else self._finished)
        self._stamp, self._finished, self._running = stamp, finished, running
        return Look(records if finished else None, new, finished, running, event)


def stamp_of(path: Path) -> Hashable:
    """Of a file, or of all files in a folder: it changes when one of them does."""
    try:
        files = [file for file in path.rglob("*") if file.is_file()] if path.is_dir() else [path]
        states = [(file, file.stat()) for file in files]
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}; waiting for it to come back") from None
    return frozenset((str(file), state.st_mtime_ns, state.st_size, state.st_ino) for file, state in states)


def stamp_of_database(place: str | Path) -> Hashable:
    """The trials or runs as a database lists them: it changes when one begins or ends."""
    with open_database(place) as database:
        runs = "runs" in database.tables()
        return hash(tuple(map(tuple, database.rows("SELECT * FROM runs" if runs else "SELECT * FROM trials"))))
