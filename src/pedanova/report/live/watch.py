"""Read a growing source again while a live page is open, and describe what changed."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from threading import Condition, Thread
from typing import Any, Protocol

from pedanova.errors import PedanovaError, TooFewRowsError
from pedanova.measures.advice.ask import stop_sentence
from pedanova.measures.importance import Pass, Standings
from pedanova.measures.questions.ask import importance_of
from pedanova.measures.questions.trial_data import TrialData
from pedanova.report.live.session import Session
from pedanova.report.sentences import joined
from pedanova.space.comparison import DomainChange
from pedanova.space.parameters import in_words


@dataclass(frozen=True, slots=True)
class Update:
    """A newer analysis, and how its source has changed since the previous one."""

    analysis: TrialData | None  # of all rows so far; None if nothing is new
    finished: int = 0  # trials that have ended
    running: int | None = None  # trials that have not ended; None if the source does not record this
    event: str | None = None  # "shortened": there are fewer trials than before
    domains: tuple[DomainChange, ...] = ()  # differences from the last space
    best: float | None = None  # objective of the best row; None for several objectives


class Watches(Protocol):
    """The interface of an object that reads a source again; the page shows its error messages."""

    @property
    def shown(self) -> str: ...  # the source as it may be printed
    @property
    def ordered(self) -> bool: ...  # rows are in the order in which the trials began
    @property
    def last(self) -> Update | None: ...  # the last update, without its analysis
    def look(self) -> Update: ...


MOST_NAMED = 3


def said_of_source(update: Update, source: str) -> list[str]:
    """Sentences about changes of the source and of the space."""
    new = [one.name for one in update.domains if one.before is None]
    gone = [one.name for one in update.domains if one.after is None]
    other = {one.name: one.after for one in update.domains if one.before is not None and one.after is not None}
    said = [] if update.event is None else [f"{source} is shorter than before; reading it again from the start"]
    if new:
        said.append(f"{names_in_words(new)} {'is a new parameter' if len(new) == 1 else 'are new parameters'}")
    if gone:
        said.append(
            f"{names_in_words(gone)} {'is no longer a parameter' if len(gone) == 1 else 'are no longer parameters'}"
        )
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


def names_in_words(names: Iterable[str]) -> str:
    """The first few names, and how many more there are."""
    listed = list(names)
    few = listed[:MOST_NAMED] if len(listed) > MOST_NAMED + 1 else listed
    rest = len(listed) - len(few)
    return joined([*few, f"{rest} others"] if rest else few)


PAUSE = 2.0  # the least seconds between two looks
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
    watched: Watches
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
            due = time.monotonic() + max(PAUSE, REST * (time.monotonic() - now))

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
        self.update = update if update.analysis is not None else self._counted(update)
        if update.analysis is None and not said:
            return False
        self.session.renew(analysis, said)
        return True

    def _counted(self, now: Update) -> Update:
        return now if self.update is None else replace(self.update, finished=now.finished, running=now.running)

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
                ranking = importance_of(some, self.session.start)
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
