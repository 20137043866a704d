"""Sources that grow while somebody watches them.

Optuna's relational storages are followed: trials that have ended since the last look are fetched, and no others.
A trial that has ended never changes. Keys grow, but a server may show a later one before an earlier one, so
the trials up to the last key are counted at every look: where one has come in between, all are listed anew.
Every look opens a connection of its own and every query is a short transaction, so no writer waits for it.

Any other source is read anew as a whole when it has changed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate, chain
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

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
AT_ONCE = 500  # keys in one query
Listed = Sequence[Any]  # key, state, begin, end, number
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


class Follow(Protocol):
    """A source that is looked at again and again.

    A look that fails (a file that is gone, a database that is down) raises an error of pedanova's own and
    changes nothing: the next one gives what this one would have given.
    """

    @property
    def shown(self) -> str: ...  # the source as it may be printed
    @property
    def ordered(self) -> bool: ...  # rows are in the order in which the trials began

    def look(self) -> Look: ...


def follow(data: object, *, study: str | None = None, delimiter: str | None = None) -> Follow:
    """A source that is looked at again and again: a path or a URL. Nothing is read before the first look."""
    if not isinstance(data, str | os.PathLike):
        raise DataError(f"a {type(data).__name__} cannot be followed; give a path or the URL of a database")
    place = os.fspath(data)
    read = partial(read_records, place, study=study, delimiter=delimiter)
    if is_url(place):
        return _follow_url(place, study, read)
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


def _follow_url(url: str, study: str | None, read: Callable[[], Records]) -> Follow:
    kind = find_kind("url", url)
    if kind is None or kind.read is not mlflow.read_address:
        return StorageFollow.of_url(url, study)
    path = mlflow.place_of(url)
    if path is None:
        return Reread(without_password(url), read, partial(mlflow.stamp_of_server, url), ordered=True)
    return Reread(str(path), read, partial(stamp_of, path), ordered=path.is_file())


# ── read anew ───────────────────────────────────────────────────────────────────────────────────


@dataclass(slots=True)
class Reread:
    """A source that is read as a whole whenever it has changed."""

    shown: str
    read: Callable[[], Records]
    stamp: Callable[[], Hashable]  # changes when the source does
    ordered: bool = False
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


# ── Optuna's databases ──────────────────────────────────────────────────────────────────────────


def no_rows() -> Rows:
    return np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Taken:
    """What is known of the study so far."""

    key: int  # of the study
    mark: object  # of the file that holds it
    log: StudyLog | None = None  # trials that have ended
    numbers: Rows = field(default_factory=no_rows)  # of the log's rows
    trials: Rows = field(default_factory=no_rows)  # keys of the log's rows
    seen: frozenset[int] = frozenset()  # keys of all trials
    waiting: frozenset[int] = frozenset()  # of those that have not ended
    begin: tuple[object, ...] | None = None  # identity of the first trial that was taken

    @property
    def last(self) -> int:
        return max(self.seen, default=-1)


@dataclass(slots=True)
class StorageFollow:
    """One study of a database."""

    open: Opener
    shown: str
    study: str | None = None
    file: Path | None = None
    ordered: bool = True
    _taken: Taken | None = None
    _event: Event | None = None

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
                taken, fresh = self._listed(database, self._of_study(database))
                log = read_trials(database, taken.key, self.study or "", fresh, self.open) if fresh else None
        except (TypeError, ValueError, KeyError, OverflowError) as error:
            if isinstance(error, PedanovaError):
                raise
            raise FormatError(f"{self.shown} is damaged: {error}; restore it from a backup") from None
        self._taken = taken = taken if log is None else self._with(taken, fresh, log)  # nothing can fail any more
        event, self._event = self._event, None
        complete = fresh and taken.log is not None and taken.log.settings
        records = as_records(taken.log) if complete and taken.log is not None else None
        return Look(records, len(fresh), len(taken.trials), len(taken.waiting), event)

    def _of_study(self, database: Database) -> Taken:
        """What was taken, unless the study is another by now."""
        state = None if self.file is None else self.file.stat()
        mark = None if state is None else (state.st_dev, state.st_ino)
        before = self._taken
        if before is None or self.study is None:
            check_schema(database)
            key, self.study = choose_study(database, self.study)
            return Taken(key, mark)
        rows = database.rows("SELECT study_id FROM studies WHERE study_name = ?", (self.study,))
        if not rows:
            raise DataError(f"{self.shown} holds no study called {self.study!r} any more; waiting for it to come back")
        if (int(rows[0][0]), mark) == (before.key, before.mark) and self._begins_as(database, before):
            return before
        self._event = "study anew" if mark == before.mark else "replaced"
        return Taken(int(rows[0][0]), mark)

    def _begins_as(self, database: Database, before: Taken) -> bool:
        """Whether the first trial that was taken is still the same: keys of what was deleted may be given again."""
        if before.begin is None:
            return True
        trials = list_trials(database, before.key, "AND trial_id = ?", (before.begin[0],))
        return not trials or identity_of(trials[0]) == before.begin

    def _listed(self, database: Database, taken: Taken) -> tuple[Taken, list[Listed]]:
        """Trials that have ended and are not in the log, by their keys; all others are waiting."""
        trials = list_trials(database, taken.key, "AND trial_id > ?", (taken.last,))
        for keys in in_parts(sorted(taken.waiting), AT_ONCE):
            trials += list_trials(database, taken.key, f"AND trial_id IN ({', '.join('?' * len(keys))})", keys)
        seen = taken.seen | {int(trial[0]) for trial in trials}
        upto = "SELECT COUNT(*) FROM trials WHERE study_id = ? AND trial_id <= ?"
        if int(database.rows(upto, (taken.key, max(seen, default=-1)))[0][0]) != len(seen):
            trials = list_trials(database, taken.key)  # one came late, or some are gone
            listed = frozenset(int(trial[0]) for trial in trials)
            if not seen <= listed:
                self._event, taken = "study anew", Taken(taken.key, taken.mark)
            known, seen = set(taken.trials.tolist()), listed
            trials = [trial for trial in trials if int(trial[0]) not in known]
        ended = [trial for trial in trials if state_of(trial[1]) in ENDED]
        waiting = frozenset(int(trial[0]) for trial in trials) - {int(trial[0]) for trial in ended}
        return replace(taken, seen=seen, waiting=waiting), sorted(ended, key=lambda trial: int(trial[0]))

    def _with(self, taken: Taken, fresh: Sequence[Listed], log: StudyLog) -> Taken:
        """The log with more trials, in order of their numbers."""
        numbers = np.append(taken.numbers, [int(trial[4]) for trial in fresh])
        trials = np.append(taken.trials, [int(trial[0]) for trial in fresh])
        order = np.lexsort((trials, numbers))
        log = joined([log] if taken.log is None else [taken.log, log], order)
        row_of = {trial: row for row, trial in enumerate(trials[order].tolist())}
        log = replace(log, points=partial(points_of, self.open, taken.key, row_of))
        begin = taken.begin or identity_of(fresh[0])
        return replace(taken, log=log, numbers=numbers[order], trials=trials[order], begin=begin)


def identity_of(trial: Listed) -> tuple[object, ...]:
    """Key, state and times: of a trial that has ended they never change."""
    return int(trial[0]), state_of(trial[1]), str(trial[2]), str(trial[3])


def in_parts(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    """So many at once: a database takes no query of any length."""
    return (items[start : start + size] for start in range(0, len(items), size))


# ── logs of one study that were read at different times, as one ─────────────────────────────────


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
