"""Optuna's relational storage, followed: trials that have ended since the last look are fetched, and no others.

A trial that has ended never changes. Keys grow, but a server may show a later one before an earlier one, so
the trials up to the last key are counted at every look: where one has come in between, all are listed anew.
Every look opens a connection of its own and every query is a short transaction, so no writer waits for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from pedanova.data.records import Point
from pedanova.errors import DataError, FormatError, PedanovaError
from pedanova.sources.databases import Database, open_database, open_sqlite, sqlite_path, without_password
from pedanova.sources.follow.joined_logs import joined
from pedanova.sources.follow.look import Event, Look, in_parts
from pedanova.sources.optuna.database_rows import Opener, list_trials, points_of, read_trials, state_of
from pedanova.sources.optuna.storage import check_schema, choose_study
from pedanova.sources.optuna.study_log import Rows, StudyLog, as_records

ENDED = ("COMPLETE", "PRUNED", "FAIL")
AT_ONCE = 500  # keys in one query
APART = 2_000  # keys farther apart are fetched by queries of their own
Listed = Sequence[Any]  # key, state, begin, end, number


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
                logs = [self._read(database, taken, part) for part in neighbours(fresh)]
        except (TypeError, ValueError, KeyError, OverflowError) as error:
            if isinstance(error, PedanovaError):
                raise
            raise FormatError(f"{self.shown} is damaged: {error}; restore it from a backup") from None
        self._taken = taken = self._with(taken, fresh, logs)  # all was read: from here on nothing can fail
        event, self._event = self._event, None
        told = fresh and taken.log is not None and taken.log.settings
        records = as_records(taken.log) if told and taken.log is not None else None
        return Look(records, len(fresh), len(taken.trials), len(taken.waiting), event)

    def _of_study(self, database: Database) -> Taken:
        """What was taken, unless the study is another by now."""
        found = None if self.file is None else self.file.stat()
        mark = None if found is None else (found.st_dev, found.st_ino)
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
        found = list_trials(database, before.key, "AND trial_id = ?", (before.begin[0],))
        return not found or identity_of(found[0]) == before.begin

    def _listed(self, database: Database, taken: Taken) -> tuple[Taken, list[Listed]]:
        """Trials that have ended and are not in the log, by their keys; all others are waiting."""
        found = list_trials(database, taken.key, "AND trial_id > ?", (taken.last,))
        for keys in in_parts(sorted(taken.waiting), AT_ONCE):
            found += list_trials(database, taken.key, f"AND trial_id IN ({', '.join('?' * len(keys))})", keys)
        seen = taken.seen | {int(trial[0]) for trial in found}
        upto = "SELECT COUNT(*) FROM trials WHERE study_id = ? AND trial_id <= ?"
        if int(database.rows(upto, (taken.key, max(seen, default=-1)))[0][0]) != len(seen):
            found = list_trials(database, taken.key)  # one came late, or some are gone
            listed = frozenset(int(trial[0]) for trial in found)
            if not seen <= listed:
                self._event, taken = "study anew", Taken(taken.key, taken.mark)
            known, seen = set(taken.trials.tolist()), listed
            found = [trial for trial in found if int(trial[0]) not in known]
        ended = [trial for trial in found if state_of(trial[1]) in ENDED]
        waiting = frozenset(int(trial[0]) for trial in found) - {int(trial[0]) for trial in ended}
        return replace(taken, seen=seen, waiting=waiting), sorted(ended, key=lambda trial: int(trial[0]))

    def _read(self, database: Database, taken: Taken, trials: Sequence[Listed]) -> StudyLog:
        return read_trials(database, taken.key, self.study or "", trials, self.open)

    def _with(self, taken: Taken, fresh: Sequence[Listed], logs: Sequence[StudyLog]) -> Taken:
        """The log with more trials, in order of their numbers."""
        if not fresh:
            return taken
        numbers = np.append(taken.numbers, [int(trial[4]) for trial in fresh])
        trials = np.append(taken.trials, [int(trial[0]) for trial in fresh])
        order = np.lexsort((trials, numbers))
        log = joined([*([] if taken.log is None else [taken.log]), *logs], order)
        log = replace(log, points=partial(_points, self.open, taken.key, trials[order]))
        begin = taken.begin or identity_of(fresh[0])
        return replace(taken, log=log, numbers=numbers[order], trials=trials[order], begin=begin)


def identity_of(trial: Listed) -> tuple[object, ...]:
    """Key, state and times: of a trial that has ended they never change."""
    return int(trial[0]), state_of(trial[1]), str(trial[2]), str(trial[3])


def _points(reopen: Opener, study: int, trials: Rows) -> list[Point]:
    return [*points_of(reopen, study, {trial: row for row, trial in enumerate(trials.tolist())})]


def neighbours(trials: Sequence[Listed]) -> Iterator[Sequence[Listed]]:
    """Trials by keys that lie near each other, so that what lies between them is not fetched."""
    start = 0
    for place in range(1, len(trials) + 1):
        if place == len(trials) or int(trials[place][0]) - int(trials[place - 1][0]) > APART:
            yield trials[start:place]
            start = place
