"""Analyse a source that still grows: whenever it has changed, it is read and analysed again as a whole.

Each reading of a database uses a new connection and short transactions, so that other programs can write meanwhile.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from pedanova.analysis.analysis import Analysis
from pedanova.analysis.analyze import count_records, request_of
from pedanova.analysis.options import AnalyzeOptions
from pedanova.data.options import Scan
from pedanova.data.records import Records
from pedanova.data.regions import sign_of
from pedanova.data.vocabulary import STATES, state_word
from pedanova.errors import Arg, DataError, NoTrialsError, PedanovaError, QueryError, SpaceError
from pedanova.measures.questions.trial_data import TrialData
from pedanova.report.live.watch import Update
from pedanova.sources import read_records
from pedanova.sources.databases import open_database, without_password
from pedanova.sources.optuna import journal
from pedanova.sources.registry import check_known, check_no_pickle, database_at, find_kind, path_at
from pedanova.sources.scans.scan import is_pattern
from pedanova.sources.tables.files import kind_of
from pedanova.space.comparison import changes_between, steadied
from pedanova.space.parameters import Space

PAUSE = 1.0  # seconds between two looks while there are too few trials
ENOUGH = 10  # trials; if the analysis fails with this many, more waiting does not help
APPENDED = ("CSV", "TSV", "JSON lines")  # tables to which rows are appended in the order of the trials
IN_PARTS = ("stream", "executor", "pushdown")  # options that cannot be used while a source grows


class Watched:
    """A source that is analysed again, with the same options, when it has changed.

    A guessed space is replaced if a value lies outside it or a new parameter appears. A given space is never changed;
    rows outside it are counted in a separate bin.
    """

    def __init__(self, data: object, objective: object = None, **options: Any) -> None:
        given = AnalyzeOptions(**options)
        scan = given.scan or Scan()
        for name in IN_PARTS:
            if getattr(scan, name) is not None:
                raise QueryError(Arg(name), " cannot be used with watch; leave it out")
        self._request = request_of(objective, given, scan.threads)
        self._follow = follow(data, study=given.study, delimiter=self._request.reading.delimiter)
        self.shown, self.ordered = self._follow.shown, self._follow.ordered
        self._space: Space | None = None
        self._rows: Records | None = None  # rows that were read but not analysed yet
        self._event: str | None = None  # an event that no `Update` has reported yet
        self._finished: int | None = None
        self.last: Update | None = None  # the last update, without its analysis

    def look(self) -> Update:
        look = self._follow.look()
        self._finished = look.finished
        if look.event is not None:
            self._event, self._space, self._rows = look.event, None, None
        self._rows = look.records or self._rows
        if self._rows is None:
            event, self._event = self._event, None
            return Update(None, look.finished, look.running, event)
        analysis = self._analysed(self._rows)
        before, self._space, self._rows = self._space, analysis.space, None
        domains = () if before is None else changes_between(before, analysis.space)
        event, self._event = self._event, None
        update = Update(analysis.data, look.finished, look.running, event, domains, best_of(analysis))
        self.last = replace(update, analysis=None)
        return update

    def begin(self, say: Callable[[str], None], *, pause: float = PAUSE) -> Update:
        """Wait for enough trials, and return the first analysis; pass the reason for waiting to the function `say`."""
        said = None
        while True:
            try:
                update = self.look()
            except PedanovaError as error:
                if self._finished is None or self._finished >= ENOUGH:
                    raise
                reason = str(error)
            else:
                if update.analysis is not None:
                    return update
                reason = "no trial has ended yet"
            if reason != said:
                say(f"waiting for trials: {reason}")
                said = reason
            time.sleep(pause)

    def _analysed(self, found: Records) -> Analysis:
        records = read_records(found)
        told = self._request.space is not None or records.metadata.space is not None
        fresh = self._counted(records, None)
        if told or self._space is None:
            return fresh
        try:
            steady = steadied(self._space, fresh.space)
        except SpaceError:  # the new conditions do not fit the earlier domains
            return fresh
        return (
            fresh
            if steady == fresh.space
            else Analysis(replace(self._counted(records, steady).data, notes=fresh.notes))
        )

    def _counted(self, records: Records, space: Space | None) -> Analysis:
        request = self._request if space is None else replace(self._request, space=space, params=None, exclude=None)
        if self._space is not None:
            request = replace(request, reading=replace(request.reading, outside="count"))
        return Analysis(TrialData.of(count_records(records, request, None), request.threads))


def best_of(analysis: Analysis) -> float | None:
    """The best objective among the rows that are counted; None if there are several objectives."""
    observed = analysis.data.observations
    if observed is None or analysis.data.levels.several:
        return None
    values = observed.ranked if observed.keep is None else observed.ranked[observed.keep]
    sign = sign_of(observed.direction)
    best = np.fmin.reduce(sign * np.asarray(values, dtype=np.float64))
    return float(sign * best) if np.isfinite(best) else None


@dataclass(frozen=True, slots=True)
class Look:
    records: Records | None = field(repr=False)  # all trials so far; None if none is new or none has ended
    new: int = 0  # trials that have ended since the last look
    finished: int = 0  # trials that have ended
    running: int | None = None  # trials that have not ended; None if the source does not record this
    event: Literal["shortened"] | None = None  # there are fewer trials than before


def follow(data: object, *, study: str | None = None, delimiter: str | None = None) -> Follow:
    """Prepare to check a path or URL repeatedly for new trials. Nothing is read before the first check.

    If the file or database is not available, a check raises a `PedanovaError`. The next check still finds all new
    trials.
    """
    if not isinstance(data, str | os.PathLike):
        raise DataError(f"a {type(data).__name__} cannot be watched; give a path or the URL of a database")
    place = os.fspath(data)
    read = partial(read_records, place, study=study, delimiter=delimiter)
    database = database_at(place)
    if database is not None:
        shown = without_password(place) if isinstance(database, str) else place
        return Follow(shown, read, partial(stamp_of_database, database), ordered=True)
    if is_pattern(place):
        raise DataError(f"{place} names several files, which watch cannot follow; give one file, folder or database")
    path = path_at(place)
    check_no_pickle(path)
    if not path.exists():
        raise DataError(f"{place} does not exist; start the search that writes it, then try again")
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
    stamp: Callable[[], Hashable]  # returns a value that changes when the source changes
    ordered: bool = False  # rows are in the order in which the trials began
    _stamp: Hashable = None  # the stamp of the last reading
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
    """A value that changes when the file, or any file in the folder, changes."""
    try:
        files = [file for file in path.rglob("*") if file.is_file()] if path.is_dir() else [path]
        states = [(file, file.stat()) for file in files]
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}; waiting for it to come back") from None
    return frozenset((str(file), state.st_mtime_ns, state.st_size, state.st_ino) for file, state in states)


def stamp_of_database(place: str | Path) -> Hashable:
    """A value that changes when a trial or run in the database begins or ends."""
    with open_database(place) as database:
        runs = "runs" in database.tables()
        return hash(tuple(map(tuple, database.rows("SELECT * FROM runs" if runs else "SELECT * FROM trials"))))
