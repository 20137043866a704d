"""Analyse a source that still grows: whenever it has changed, it is read and analysed again as a whole.

A `Watcher` does this while a live page is open, and says on the page what has changed.

Each reading of a database uses a new connection and short transactions, so that other programs can write meanwhile.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from threading import Condition, Thread
from typing import Any, Literal

import numpy as np

from pedanova.analysis.analysis import Analysis
from pedanova.analysis.analyze import count_records, request_of
from pedanova.analysis.options import AnalyzeOptions
from pedanova.base.names import and_more
from pedanova.data.options import Scan
from pedanova.data.records import Records
from pedanova.data.regions import sign_of
from pedanova.data.vocabulary import STATES, state_word
from pedanova.errors import Arg, DataError, NoTrialsError, PedanovaError, QueryError, SpaceError, TooFewRowsError
from pedanova.measures.advice.advise import stop_sentence
from pedanova.measures.importance import Pass, Standings
from pedanova.measures.questions.ask import importance_or_wider
from pedanova.measures.questions.trial_data import TrialData
from pedanova.report.live.session import Session
from pedanova.sources import read_records
from pedanova.sources.databases import open_database, without_password
from pedanova.sources.optuna import journal
from pedanova.sources.registry import check_known, check_no_pickle, database_at, find_kind, path_at
from pedanova.sources.scans.scan import is_pattern
from pedanova.sources.tables.files import kind_of
from pedanova.space.comparison import DomainChange, changes_between, steadied
from pedanova.space.parameters import Space, in_words

PAUSE = 1.0  # seconds between two looks while there are too few trials
ENOUGH = 10  # trials; if the analysis fails with this many, more waiting does not help
APPENDED = ("CSV", "TSV", "JSON lines")  # tables to which rows are appended in the order of the trials
IN_PARTS = ("stream", "executor", "pushdown")  # options that cannot be used while a source grows


@dataclass(frozen=True, slots=True)
class Update:
    """A reading of a source, and how the source has changed since the reading before."""

    records: Records | None = field(default=None, repr=False)  # all trials; None if none is new or none has ended
    new: int = 0  # trials that have ended since the last reading
    finished: int = 0  # trials that have ended
    running: int | None = None  # trials that have not ended; None if the source does not record this
    event: Literal["shortened"] | None = None  # there are fewer trials than before
    analysis: TrialData | None = None  # of all rows so far; None if nothing is new
    domains: tuple[DomainChange, ...] = ()  # differences from the last space
    best: float | None = None  # objective of the best row; None for several objectives


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
        reading = self._request.reading
        self._follow = follow(data, study=given.study, delimiter=reading.delimiter, decimal=reading.decimal)
        self.shown, self.ordered = self._follow.shown, self._follow.ordered
        self._space: Space | None = None
        self._rows: Records | None = None  # rows that were read but not analysed yet
        self._event: Literal["shortened"] | None = None  # an event that no `Update` has reported yet
        self._finished: int | None = None
        self.last: Update | None = None  # the last update, without its analysis

    def look(self) -> Update:
        update = self._follow.look()
        self._finished = update.finished
        if update.event is not None:
            self._event, self._space, self._rows = update.event, None, None
        self._rows, analysis = update.records or self._rows, None
        if self._rows is not None:
            analysis = self._analysed(self._rows)
            domains = () if self._space is None else changes_between(self._space, analysis.space)
            self._space, self._rows = analysis.space, None
            update = replace(update, domains=domains, best=best_of(analysis))
        event, self._event = self._event, None
        self.last = replace(update, records=None, event=event)
        return self.last if analysis is None else replace(self.last, analysis=analysis.data)

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
        if steady == fresh.space:
            return fresh
        return Analysis(replace(self._counted(records, steady).data, notes=fresh.notes))

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


def follow(
    data: object, *, study: str | None = None, delimiter: str | None = None, decimal: str | None = None
) -> Follow:
    """Prepare to check a path or URL repeatedly for new trials. Nothing is read before the first check.

    If the file or database is not available, a check raises a `PedanovaError`. The next check still finds all new
    trials.
    """
    if not isinstance(data, str | os.PathLike):
        raise DataError(f"a {type(data).__name__} cannot be watched; give a path or the URL of a database")
    place = os.fspath(data)
    read = partial(read_records, place, study=study, delimiter=delimiter, decimal=decimal)
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

    def look(self) -> Update:
        stamp = self.stamp()
        if stamp == self._stamp:
            return Update(finished=self._finished, running=self._running)
        try:
            records = self.read()
        except NoTrialsError:  # there is no trial yet
            records = None
        states = None if records is None else records.columns.get(records.metadata.state or "")
        running = None
        if states is not None and states.labels is not None:
            left = [i for i, word in enumerate(states.labels) if STATES.get(state_word(word)) == "unfinished"]
            running = int(np.isin(states.values, left).sum())
        finished = 0 if records is None else records.rows - (running or 0)
        event: Literal["shortened"] | None = "shortened" if finished < self._finished else None
        new = finished - (0 if event else self._finished)
        self._stamp, self._finished, self._running = stamp, finished, running
        return Update(records if finished else None, new, finished, running, event)


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


MOST_NAMED = 3  # domains whose change is described
names_in_words = partial(and_more, most=MOST_NAMED, rest="others")


def said_of_source(update: Update, source: str) -> list[str]:
    """Sentences about changes of the source and of the space."""
    new = [one.name for one in update.domains if one.before is None]
    gone = [one.name for one in update.domains if one.after is None]
    other = {one.name: one.after for one in update.domains if one.before is not None and one.after is not None}
    said = [] if update.event is None else [f"{source} is shorter than before; reading it again from the start"]
    if new:
        said.append(f"{names_in_words(new)} {'is a new parameter' if len(new) == 1 else 'are new parameters'}")
    if gone:
        words = "is no longer a parameter" if len(gone) == 1 else "are no longer parameters"
        said.append(f"{names_in_words(gone)} {words}")
    if len(other) > MOST_NAMED:
        return [*said, f"new values have changed the domains of {names_in_words(other)}"]
    return [*said, *(f"the domain of {name} is now {in_words(after)}" for name, after in other.items())]


def said_of_passes(passes: Sequence[Pass]) -> list[str]:
    """One sentence for each parameter that is now clearly ahead of others."""
    said = []
    for ahead in dict.fromkeys(one.ahead for one in passes):
        mine = [one for one in passes if one.ahead == ahead]
        for clear, verb in ((True, "passed"), (False, "is clearly ahead of")):
            behind = [one.behind for one in mine if one.was_clear is clear]
            if behind:
                said.append(f"{ahead} {verb} {names_in_words(behind)} after {mine[0].rows:,} trials")
    return said


def stability(standings: Standings | None, wanted: str = "") -> str:
    """For how many trials the ranking has been stable, or why there is no ranking yet, in words."""
    if standings is None:
        return f"no ranking yet: {wanted}" if wanted else "no ranking yet"
    many = standings.stable_for
    return f"the ranking has been stable for {many:,} {'trial' if many == 1 else 'trials'}" if many else ""


BREAK = 2.0  # the least seconds between two looks
REST = 2.0  # the least pause, relative to the duration of a look
PATIENCE = 15.0  # seconds without a request after which no page counts as open
FEWEST = 50  # rows of the earliest ranking that is computed afterwards
MOST_BACK = 6  # the number of rankings that are computed afterwards


@dataclass(slots=True)
class Watcher:
    """Reads one source repeatedly for one session, and replaces the session's analysis if the source has grown.

    Nothing is read while no page is open. If reading fails, the page shows the error, and reading is tried again.
    """

    session: Session
    watched: Watched
    standings: Standings | None = None
    trouble: str | None = None  # why the last look failed
    update: Update | None = None  # the last update with something new
    _ranked_rows: int | None = None  # rows of the analysis that was ranked last
    _wanted: str = ""  # why there is no ranking yet
    _stop: str = ""  # a sentence if more trials would hardly change anything
    _last_request: float = -PATIENCE
    _closed: bool = False
    _wake: Condition = field(default_factory=Condition)
    _thread: Thread | None = None

    def start(self) -> Watcher:
        self.update = self.update or self.watched.last
        self.session.watcher = self.news
        self._thread = Thread(target=self._run, daemon=True, name="pedanova-watch")
        self._thread.start()
        return self

    def close(self) -> None:
        with self._wake:
            self._closed = True
            self._wake.notify_all()

    def news(self) -> dict[str, Any]:
        """The current state of the source; the source is read repeatedly as long as pages request its state."""
        with self._wake:
            self._last_request = time.monotonic()
            self._wake.notify_all()
        update, standings = self.update, self.standings
        return {
            "trouble": self.trouble,
            "finished": None if update is None else update.finished,
            "running": None if update is None else update.running,
            "best": None if update is None else update.best,
            "stable": stability(standings, self._wanted),
            "stop": self._stop,
            "stable_for": None if standings is None else standings.stable_for,
        }

    def _run(self) -> None:
        due = 0.0
        while not self._closed:
            with self._wake:
                now = time.monotonic()
                if now - self._last_request > PATIENCE:
                    self._wake.wait()  # until a page asks, or until the end
                    continue
                if now < due:
                    self._wake.wait(due - now)
                    continue
            try:
                self.step()
            except Exception as error:  # the page continues, and shows the error
                self.trouble = f"{type(error).__name__}: {error}; the last read failed, trying again"
            due = time.monotonic() + max(BREAK, REST * (time.monotonic() - now))

    def step(self) -> bool:
        """Read the source once, and return whether it had changed."""
        try:
            update = self.watched.look()
        except (PedanovaError, OSError) as error:
            self.trouble = str(error)
            return False
        self.trouble = None
        said = said_of_source(update, self.watched.shown)
        if update.event is not None:
            self.standings = None
        analysis = update.analysis or self.session.analysis
        if update.analysis is not None or self._ranked_rows is None:
            said += self._ranked(analysis)
        if update.analysis is not None or self.update is None:
            self.update = update
        else:
            self.update = replace(self.update, finished=update.finished, running=update.running)
        if update.analysis is None and not said:
            return False
        self.session.renew(analysis, said)
        return True

    def _ranked(self, analysis: TrialData) -> list[str]:
        """Update the ranking, and return sentences on parameters that are now ahead of others."""
        before, self._ranked_rows = self.standings, analysis.rows
        steps = [analysis.rows]
        if before is None and self.watched.ordered:  # rankings of half as many rows each, to know the stability
            halves = [analysis.rows // 2**power for power in range(MOST_BACK, 0, -1)]
            steps = [*(rows for rows in halves if rows >= FEWEST), analysis.rows]
        for rows in steps:
            try:
                some = analysis if rows == analysis.rows else analysis.first(rows)
                ranking = importance_or_wider(some, self.session.start, good=False)
            except TooFewRowsError:
                self._wanted = "too few trials in the target"
                continue
            except PedanovaError as error:
                self._wanted = str(error)
                continue
            self._stop = stop_sentence(analysis, ranking) if rows == analysis.rows else ""
            now = self.standings
            self.standings = Standings.begin(ranking, rows) if now is None else now.then(ranking, rows)
        seen = self.session.analysis.rows if before is None else before.rows  # the page has already shown this
        passes = () if self.standings is None else self.standings.passes
        return said_of_passes([one for one in passes if one.rows > seen])
