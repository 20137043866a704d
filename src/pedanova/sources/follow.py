"""Sources that grow while somebody watches them.

Optuna's relational storages are followed: every look lists the trials, and fetches what the storage holds of those that
have ended since the last look. A trial that has ended never changes; where one is gone or another, all is fetched anew.
Every look opens a connection of its own and every query is a short transaction, so no writer waits for it.

Any other source is read anew as a whole when it has changed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate, chain
from pathlib import Path
from typing import Literal, TypeAlias, TypeVar

import numpy as np

from pedanova.data.records import Records
from pedanova.data.row_status import STATES, state_word
from pedanova.errors import DataError, FormatError, NoTrialsError, PedanovaError
from pedanova.sources import read_records
from pedanova.sources.databases import Database, open_database, open_sqlite, sqlite_path, without_password
from pedanova.sources.logs import mlflow
from pedanova.sources.optuna import journal, storage
from pedanova.sources.optuna.storage import (
    Opener,
    check_schema,
    choose_study,
    list_trials,
    points_of,
    read_trials,
    state_of,
)
from pedanova.sources.optuna.study_log import Rows, Setting, StudyLog, as_records
from pedanova.sources.registry import check_known, check_no_pickle, find_kind, is_url
from pedanova.sources.scans.scan import is_pattern
from pedanova.sources.tables.files import kind_of

ENDED = ("COMPLETE", "PRUNED", "FAIL")
APPENDED = ("CSV", "TSV", "JSON lines")  # tables to which rows are appended in the order of the trials
Item = TypeVar("Item")
# Something happened to the source itself: its beginning is another, or it was read as a whole once more.
Event: TypeAlias = Literal["replaced", "shortened", "study anew"]


@dataclass(frozen=True, slots=True)
class Look:
    """The result of one look at a source."""

    records: Records | None = field(repr=False)  # all trials so far; None where nothing is new, or there is none yet
    new: int = 0  # trials that have ended since the last look
    finished: int = 0  # all that have ended
    running: int | None = None  # begun and not ended; None where the source does not tell
    event: Event | None = None


def follow(data: object, *, study: str | None = None, delimiter: str | None = None) -> Follow:
    """A source that is looked at again and again: a path or a URL. Nothing is read before the first look.

    A look that fails (a file that is gone, a database that is down) raises an error of pedanova's own and
    changes nothing: the next one gives what this one would have given.
    """
    if not isinstance(data, str | os.PathLike):
        raise DataError(f"a {type(data).__name__} cannot be followed; give a path or the URL of a database")
    place = os.fspath(data)
    read = partial(read_records, place, study=study, delimiter=delimiter)
    if is_url(place):
        kind = find_kind("url", place)
        if kind is None or kind.read is not mlflow.read_address:
            return StorageFollow.of_url(place, study)
        local = mlflow.place_of(place)
        if local is None:
            return Reread(without_password(place), read, partial(mlflow.stamp_of_server, place), ordered=True)
        return Reread(str(local), read, partial(stamp_of, local), ordered=local.is_file())
    if is_pattern(place):
        raise DataError(f"{place} names several files, which cannot be followed; give one file, folder or database")
    path = Path(place)
    check_no_pickle(path)
    if not path.exists():
        raise DataError(f"{place} does not exist; begin to write it, then follow it")
    kind = find_kind("path", path)
    read_by = None if kind is None else kind.read
    if read_by is storage.read_file:
        return StorageFollow.of_file(path, study)
    if kind is None:
        check_known(path)
    ordered = read_by in (journal.read_journal, mlflow.read_database) or (kind is None and kind_of(path) in APPENDED)
    return Reread(str(path), read, partial(stamp_of, path), ordered)


@dataclass(slots=True)
class Reread:
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
        event: Event | None = "shortened" if finished < self._finished else None
        new = finished - (0 if event else self._finished)
        self._stamp, self._finished, self._running = stamp, finished, running
        return Look(records if finished else None, new, finished, running, event)


def stamp_of(path: Path) -> Hashable:
    """Of a file with its write-ahead log, or of all files in a folder: it changes when one of them does."""
    try:
        files = [file for file in path.rglob("*") if file.is_file()] if path.is_dir() else [path]
        log = path.with_name(f"{path.name}-wal")  # of SQLite
        states = [(file, file.stat()) for file in [*files, *([log] if log.is_file() else [])]]
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}; waiting for it to come back") from None
    return frozenset((str(file), state.st_mtime_ns, state.st_size, state.st_ino) for file, state in states)


@dataclass(slots=True)
class StorageFollow:
    """One study of a database."""

    open: Opener
    shown: str
    study: str | None = None
    file: Path | None = None
    ordered: bool = True
    _place: tuple[object, int] | None = None  # the file and the key of the study in it
    _log: StudyLog | None = None  # trials that have ended
    _taken: dict[int, int] = field(default_factory=dict)  # keys of the log's rows → a hash of what was listed of each

    @classmethod
    def of_file(cls, path: Path, study: str | None) -> StorageFollow:
        return cls(partial(open_sqlite, path), str(path), study, path)

    @classmethod
    def of_url(cls, url: str, study: str | None) -> StorageFollow:
        file = sqlite_path(url) if url.startswith("sqlite") else None
        return cls(partial(open_database, url), without_password(url), study, file)

    def look(self) -> Look:
        try:
            with self.open() as database:
                place = self._find(database)
                trials = list_trials(database, place[1])
                ended = {int(trial[0]): hash((*map(str, trial),)) for trial in trials if state_of(trial[1]) in ENDED}
                event = self._event(place, ended)
                taken = {} if event else self._taken
                new = ended.keys() - taken.keys()
                fresh = [trial for trial in trials if int(trial[0]) in new]
                log = read_trials(database, place[1], self.study or "", fresh, self.open) if fresh else None
        except (TypeError, ValueError, KeyError, OverflowError) as error:
            if isinstance(error, PedanovaError):
                raise
            raise FormatError(f"{self.shown} is damaged: {error}; restore it from a backup") from None
        before = None if event else self._log  # all was read: from here on nothing can fail
        self._place, self._taken, self._log = place, ended, before
        if log is not None:
            row_of = {trial: row for row, trial in enumerate(ended)}
            rows = {trial: row for row, trial in enumerate([*taken, *(int(trial[0]) for trial in fresh)])}
            log = joined([log] if before is None else [before, log], np.array([rows[trial] for trial in ended]))
            self._log = replace(log, points=partial(points_of, self.open, place[1], row_of))
        records = as_records(self._log) if fresh and self._log is not None and self._log.settings else None
        return Look(records, len(fresh), len(ended), len(trials) - len(ended), event)

    def _find(self, database: Database) -> tuple[object, int]:
        """The file and the key of the study."""
        state = None if self.file is None else self.file.stat()
        file = None if state is None else (state.st_dev, state.st_ino)
        if self._place is None or self.study is None:
            check_schema(database)
            key, self.study = choose_study(database, self.study)
            return file, key
        rows = database.rows("SELECT study_id FROM studies WHERE study_name = ?", (self.study,))
        if not rows:
            raise DataError(f"{self.shown} holds no study called {self.study!r} any more; waiting for it to come back")
        return file, int(rows[0][0])

    def _event(self, place: tuple[object, int], ended: Mapping[int, int]) -> Event | None:
        """What happened to the study itself; keys of what was deleted may be given again."""
        if self._place is None or (place == self._place and self._taken.items() <= ended.items()):
            return None
        return "study anew" if place[0] == self._place[0] else "replaced"


def joined(logs: Sequence[StudyLog], order: Rows) -> StudyLog:
    """All trials, one log's behind the other's, then put in order: row i of the result was row `order[i]`."""
    sizes = [len(log.states) for log in logs]
    starts = [0, *accumulate(sizes)][:-1]
    place = np.argsort(order)  # of each row in the result
    names = dict.fromkeys(name for log in logs for name in log.settings)
    keys = sorted({key for log in logs for key in log.attributes})
    none: list[Mapping[str, float]] = [{}]
    constraints = [log.constraints or none * size for log, size in zip(logs, sizes, strict=True)]
    return replace(
        logs[-1],
        states=in_order([log.states for log in logs], order),
        values=np.concatenate([log.values for log in logs])[order],
        settings={name: _setting(name, logs, starts, place) for name in names},
        constraints=in_order(constraints, order) if any(log.constraints for log in logs) else [],
        attributes={
            key: in_order([log.attributes.get(key, [None] * len(log.states)) for log in logs], order) for key in keys
        },
        reports={
            int(place[row + start]): report
            for log, start in zip(logs, starts, strict=True)
            for row, report in log.reports.items()
        },
        seconds=np.concatenate([log.seconds for log in logs])[order],
    )


def in_order(parts: Iterable[Iterable[Item]], order: Rows) -> list[Item]:
    unordered = [*chain.from_iterable(parts)]
    return [unordered[row] for row in order.tolist()]


def _setting(name: str, logs: Sequence[StudyLog], starts: Sequence[int], place: Rows) -> Setting:
    parts = [(log.settings[name], start) for log, start in zip(logs, starts, strict=True) if name in log.settings]
    distributions = list(dict.fromkeys(one for part, _ in parts for one in part.distributions))
    rows = np.concatenate([place[np.asarray(part.rows, dtype=np.int64) + start] for part, start in parts])
    values = np.concatenate([np.asarray(part.values, dtype=np.float64) for part, _ in parts])
    which = np.concatenate(
        [np.array([distributions.index(one) for one in part.distributions])[part.which] for part, _ in parts]
    )
    sort = np.argsort(rows, kind="stable")
    return Setting(rows[sort], values[sort], which[sort], distributions)


Follow: TypeAlias = Reread | StorageFollow
