"""A session answers the requests of a live page from one analysis; `renew` replaces this analysis.

The server and the notebook widget both send requests to the session as plain JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from threading import Lock
from typing import Any

from pedanova.base.threads import RESULTS, trim_memory
from pedanova.data.regions import Region
from pedanova.errors import QueryError
from pedanova.measures.question import Question, check_how
from pedanova.measures.questions.trial_data import TrialData
from pedanova.measures.studies.across import groups_by
from pedanova.report.page.answers import column_densities
from pedanova.report.page.cards import BY_NAME, QUESTIONS, TITLE, Card, can_be_asked, payload_of, taken, with_lines
from pedanova.report.page.facts import MANY, columns_of, draw_like, page_facts
from pedanova.report.page.html import draw_page
from pedanova.report.page.page_question import box_of, opened_by, parse_question
from pedanova.report.page.rows import csv_pieces
from pedanova.report.page.studies import over_studies
from pedanova.space.parameters import Space

LONGEST_CLIENT = 64
SHARED = ("part", "question", "client")


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A request of the page: a question, and the card (section of the page) that it is for."""

    part: str
    question: Question
    key: str  # equal for equal requests from different pages
    extras: Mapping[str, Any] = field(default_factory=dict)
    client: str = ""

    @classmethod
    def parse(cls, data: Any, space: Space, start: Question) -> PageRequest:
        if not isinstance(data, dict):
            raise QueryError('a request must be an object with the keys "part" and "question"')
        part, client = data.get("part"), data.get("client", "")
        if not isinstance(part, str) or part not in BY_NAME:
            raise QueryError(f"part {str(part)[:40]!r} is not known; choose one of {', '.join(BY_NAME)}")
        if not isinstance(client, str) or len(client) > LONGEST_CLIENT:
            raise QueryError(f"client must be a string of at most {LONGEST_CLIENT} characters")
        checks = BY_NAME[part].extras
        for name in data:
            if name not in checks and name not in SHARED:
                raise QueryError(f"{str(name)[:40]!r} is not part of a request for {part}")
        extras = {name: check(data.get(name), name, space) for name, check in checks.items()}
        question = parse_question(data.get("question", {}), space, start)
        return cls(part, question, repr((part, question, extras)), extras, client)

    @property
    def lane(self) -> tuple[Any, ...]:
        """Requests with the same key replace each other: only the newest of them is answered."""
        return self.client, self.part, self.extras.get("sure")


REMEMBERED = 1_000  # stored changes
LONG = 200_000  # with more rows, a saved report has intervals only for its first question, to be fast


@dataclass(frozen=True, slots=True, eq=False)
class SessionState:
    """The current analysis, and how it came about."""

    analysis: TrialData
    version: int = 1
    changes: tuple[dict[str, Any], ...] = ()  # changes of the data, one sentence each


class Session:
    """Answers the requests of one live page.

    Parameters
    ----------
    analysis
        The analysis that answers.
    title
        The title of the page.
    start
        The target and region that the page shows first.
    options
        The options of `Analysis.importance` for every answer; they are checked at the start.
    source
        The source and its options as in a shell command, such as ``trials.csv --objective error``.
    group
        The column that names the study of each row, if studies are shown side by side.
    opening
        The call that opened the analysis, such as ``pa.analyze('trials.csv', 'error')``; the page shows it.
    """

    def __init__(
        self,
        analysis: TrialData,
        *,
        title: str = TITLE,
        start: tuple[object, object] = QUESTIONS[0],
        options: Mapping[str, Any] | None = None,
        source: str | None = "",
        group: str | None = None,
        opening: str = "",
    ) -> None:
        self.title, self.source, self.group, self.opening = title, source, group, opening
        target, region = Region.parse(start[0], "target"), Region.parse(start[1], "region")
        self.start = Question(target, region, parts="all", **check_how(options or {}, what="a report"))
        self.watcher: Callable[[], dict[str, Any]] | None = None  # returns the state of a watched source
        self._lock = Lock()
        self._state = SessionState(analysis)

    @property
    def analysis(self) -> TrialData:
        return self._state.analysis

    @property
    def columns(self) -> Space:
        """The domains of all columns in which rows can be selected."""
        return columns_of(self.analysis)

    def renew(self, analysis: TrialData, changes: Sequence[str] = ()) -> int:
        """Replace the analysis by a newer one; requests that are already running still use the old one."""
        with self._lock:
            now = self._state
            version = now.version + 1
            new = ({"version": version, "rows": analysis.rows, "text": text} for text in changes)
            self._state = SessionState(analysis, version, (*now.changes, *new)[-REMEMBERED:])
        return version

    def facts(self, live: str = "http") -> dict[str, Any]:
        """The facts that do not depend on the question, as JSON."""
        now = self._state
        _ = now.analysis.excerpt  # the sample of a large table is drawn before it is needed
        facts = page_facts(now.analysis, self.title, self.start)
        return facts | {
            "live": live,
            "source": self.source,
            "version": now.version,
            "group": self.group,
            "opening": opened_by(self.opening, now.analysis.objective),
            "watch": self.watcher is not None,
            "ask": can_be_asked(now.analysis),
        }

    def request(self, data: Any) -> PageRequest:
        return PageRequest.parse(data, self.columns, self.start)

    def ask(self, data: Any) -> dict[str, Any]:
        return self.answer(self.request(data))

    def answer(self, request: PageRequest) -> dict[str, Any]:
        now = self._state
        card = BY_NAME[request.part]
        if card.answer is None:
            changes = [change for change in now.changes if change["version"] > request.extras["since"]]
            source = {} if self.watcher is None else self.watcher()
            return {"refused": None, "version": now.version, "rows": now.analysis.rows, "changes": changes, **source}
        key = "page", request.key, self.source, self.group
        return RESULTS.get(now.analysis, key, lambda: self._answer(now, card, request)) | {"version": now.version}

    def _answer(self, now: SessionState, card: Card, request: PageRequest) -> dict[str, Any]:
        question, extras = request.question, dict(request.extras)
        a = now.analysis if card.name == "groups" else self.study_of(question, now.analysis)
        if "other" in extras:
            extras["beside"] = self.study_of(extras["other"], now.analysis)
        wanted = extras.get("names") if card.name in ("answer", "densities") else None
        if wanted is not None:  # the answer itself is only about parameters
            extras["names"] = [name for name in wanted if name in a.tallies] or [*a.tallies][:1]
        given = taken(card, {"source": self.source, "column": self.group})
        answer = card.answer(a, question, **extras, **given) if card.answer is not None else {}
        if "densities" in answer:
            answer["densities"] |= column_densities(a, question, wanted)
        if card.name == "answer" and self.group is not None and question.study is None and not answer["refused"]:
            answer = over_studies(a, question, answer, self.group, self.source)
        answer = with_lines(card.name, a, question, request.extras, answer, source=self.source)
        if len(a.tallies) > MANY:
            trim_memory()
        if card.name == "answer" and question.study is not None:  # the distribution of the study's objective
            facts = page_facts(a, self.title, self.start)
            answer |= {"about": {name: facts[name] for name in ("objective", "rungs")}}
        return answer

    def study_of(self, question: Question, whole: TrialData | None = None) -> TrialData:
        """The analysis of all rows, or of the study that the question names."""
        a = self.analysis if whole is None else whole
        if question.study is None:
            return a
        column, name = question.study
        if column != self.group:
            raise QueryError(f"study: {column!r} is not the column with the names of the studies")
        study = groups_by(a, column)[name]
        draw_like(study, a)
        return study

    def csv(self, request: PageRequest) -> Iterator[str]:
        """Yield all selected rows as pieces of CSV text; numbers have all digits."""
        order = {name: request.extras[name] for name in ("sort", "descending")}
        pieces = csv_pieces(self.study_of(request.question), request.question, **order)
        return chain([next(pieces)], pieces)  # the first piece is made now, so that an error does not leave half a file

    def report(self, question: Question) -> str:
        """The HTML of a report file for the selected rows; the file shows this question first."""
        a = self.study_of(question)
        asking = a.by_limits(question)
        selected = f": {a.selected(asking)[0].rows:,} selected rows" if question.within else ""
        rows: dict[str, Any] = {"within": box_of(question) or None, "study": question.study, "brief": a.rows > LONG}
        rows |= {"notes": self.analysis.notes, "opening": (self.opening, self.source)}
        asked = [(asking.target, asking.region)]
        return draw_page(payload_of(a, f"{self.title}{selected}", asked, **rows, **question.how))
