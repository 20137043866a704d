"""A session answers a page: an analysis, which a newer one may replace, and its recent answers.

The server and the notebook both send it requests in plain JSON; it knows nothing of either.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Self, TypeAlias

from pedanova.base.threads import ResultCache
from pedanova.data.regions import as_part, as_region
from pedanova.errors import QueryError, unknown_name
from pedanova.report.asks import Shows
from pedanova.report.page import answers, tabs
from pedanova.report.page.answers import inside
from pedanova.report.page.embedded import check_options, payload_of
from pedanova.report.page.facts import page_facts
from pedanova.report.page.groups import ORDERS, SHOWN, side_by_side
from pedanova.report.page.html import draw_page
from pedanova.report.page.question import PageQuestion
from pedanova.report.page.shapes import draw_like
from pedanova.report.page.tabs import along_budget, difference_of, marginals, objectives
from pedanova.space.parameters import Space

MOST_ROWS = 2_000  # of a table or a picture, in one answer
MOST_PARTS = 64
LONGEST_CLIENT = 64
Check: TypeAlias = Callable[[Any, str, Space], Any]
SHARED = ("part", "question", "client")


@dataclass(frozen=True, slots=True)
class PageRequest:
    """One part of the page's answer, asked for by one of its clients."""

    part: str
    question: PageQuestion
    extras: Mapping[str, Any] = field(default_factory=dict)
    client: str = ""

    @classmethod
    def parse(cls, data: Any, space: Space) -> PageRequest:
        if not isinstance(data, dict):
            raise QueryError("a request must be an object with a part and a question")
        part, client = data.get("part"), data.get("client", "")
        if not isinstance(part, str) or part not in PARTS:
            raise QueryError(f"part {str(part)[:40]!r} is not known; there are {', '.join(PARTS)}")
        if not isinstance(client, str) or len(client) > LONGEST_CLIENT:
            raise QueryError(f"client must be a text of at most {LONGEST_CLIENT} letters")
        known = PARTS[part]
        for name in data:
            if name not in known and name not in SHARED:
                raise QueryError(f"{str(name)[:40]!r} is no part of a request for {part}")
        extras = {name: check(data.get(name), name, space) for name, check in known.items()}
        return cls(part, PageQuestion.parse(data.get("question", {}), space), extras, client)

    @property
    def key(self) -> str:
        """The same for the same question, whoever asks it."""
        extras = {k: v.to_json() if isinstance(v, PageQuestion) else v for k, v in self.extras.items()}
        return json.dumps([self.part, self.question.to_json(), extras], sort_keys=True, default=str)

    @property
    def lane(self) -> tuple[Any, ...]:
        """Where a newer question takes the place of an older one."""
        return self.client, self.part, self.extras.get("sure")


def flag(default: bool) -> Check:
    def check(value: Any, name: str, _: Space) -> bool:
        if value is not None and not isinstance(value, bool):
            raise QueryError(f"{name}: {str(value)[:40]!r} must be true or false")
        return default if value is None else value

    return check


def whole(default: int, most: int) -> Check:
    def check(value: Any, name: str, _: Space) -> int:
        number = default if value is None else value
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= most:
            raise QueryError(f"{name}: {str(value)[:40]!r} must be a whole number from 0 to {most:,}")
        return number

    return check


def one_of(*known: str) -> Check:
    def check(value: Any, name: str, _: Space) -> str:
        if value is not None and value not in known:
            raise QueryError(f"{name}: {str(value)[:40]!r} must be one of {', '.join(known)}")
        return known[0] if value is None else str(value)

    return check


def a_name(value: Any, name: str, space: Space) -> str:
    if not isinstance(value, str) or value not in space:
        raise QueryError(f"{name}: {unknown_name(value, tuple(space))}")
    return value


def names(value: Any, name: str, space: Space) -> list[str] | None:
    if value is None:
        return None
    if not isinstance(value, list):
        raise QueryError(f"{name}: {str(value)[:40]!r} must be a list of parameters")
    return [a_name(one, name, space) for one in value]


def parts(value: Any, name: str, _: Space) -> list[Any] | None:
    if value is None:
        return None
    if not isinstance(value, list) or not 0 < len(value) <= MOST_PARTS:
        raise QueryError(f"{name}: {str(value)[:40]!r} must be a list of at most {MOST_PARTS} quantiles")
    return [as_part(one, name) for one in value]


def column(value: Any, name: str, _: Space) -> str | None:
    if value is not None and (not isinstance(value, str) or len(value) > 10_000):
        raise QueryError(f"{name}: {str(value)[:40]!r} must be the name of a column")
    return value


def other_question(value: Any, _: str, space: Space) -> PageQuestion:
    return PageQuestion.parse(value, space)


PARTS: dict[str, dict[str, Check]] = {
    "answer": {"sure": flag(default=True), "drawn": flag(default=True)},
    "densities": {},
    "pairs": {"names": names},
    "plane": {"first": a_name, "second": a_name},
    "targets": {"parts": parts},
    "marginal": {},
    "space": {},
    "objectives": {},
    "along": {},
    "groups": {"order": one_of(*ORDERS), "limit": whole(SHOWN, MOST_ROWS)},
    "trials": {
        "sort": column,
        "descending": flag(default=False),
        "offset": whole(0, 10**12),
        "limit": whole(50, MOST_ROWS),
    },
    "parallel": {"limit": whole(500, MOST_ROWS)},
    "points": {"x": a_name, "y": a_name, "limit": whole(1_000, MOST_ROWS)},
    "difference": {"other": other_question},
    "news": {"since": whole(0, 10**12)},
}


KEPT = 256  # answers
REMEMBERED = 1_000  # changes


@dataclass(frozen=True, slots=True)
class Change:
    """Something new in the data, in a sentence."""

    version: int
    rows: int
    text: str


@dataclass(frozen=True, slots=True, eq=False)
class SessionState:
    """What is analysed just now, with its answers: both are replaced together."""

    analysis: Shows
    version: int = 1
    changes: tuple[Change, ...] = ()
    kept: ResultCache[dict[str, Any]] = field(default_factory=lambda: ResultCache(KEPT))


class Session:
    """One page's partner.

    Parameters
    ----------
    analysis
        What is asked.
    title
        Of the page.
    start
        The question that is shown first.
    options
        Those of `Analysis.importance`, for every answer.
    source
        What the shown shell line names as its source; with ``objective`` and the like behind it.
    watch
        Whether a newer analysis may take the place of this one (`renew`).
    group
        The column that names the study of each row, where there are several to be shown side by side.
    """

    def __init__(
        self,
        analysis: Shows,
        *,
        title: str = "Hyperparameter importance",
        start: PageQuestion | None = None,
        options: Mapping[str, Any] | None = None,
        source: str = "",
        watch: bool = False,
        group: str | None = None,
    ) -> None:
        self.title, self.start, self.source, self.watch = title, start or PageQuestion(), source, watch
        self.options = dict(options or {})
        self.group = group
        self.watcher: Callable[[], dict[str, Any]] | None = None  # tells of a source that is followed, with every news
        self._lock = Lock()
        self._standing = SessionState(analysis)

    @classmethod
    def of(
        cls, analysis: Shows, title: str, start: tuple[object, object], options: dict[str, Any], **more: Any
    ) -> Self:
        """With (target, region) to begin with, and options of `importance`, which are checked before anybody asks."""
        chosen = check_options(options)
        first = PageQuestion(
            target=as_region(start[0], "target"),
            region=as_region(start[1], "region"),
            baseline=chosen.pop("baseline"),
            of=chosen.pop("of"),
        )
        return cls(analysis, title=title, start=first, options=chosen, **more)

    @property
    def analysis(self) -> Shows:
        return self._standing.analysis

    @property
    def version(self) -> int:
        return self._standing.version

    def renew(self, analysis: Shows, changes: Sequence[str] = ()) -> int:
        """A newer analysis takes over; questions asked before are still answered from the old one."""
        with self._lock:
            now = self._standing
            version = now.version + 1
            told = tuple(Change(version, analysis.rows, text) for text in changes)
            self._standing = SessionState(analysis, version, (*now.changes, *told)[-REMEMBERED:])
        return version

    def facts(self, live: str = "http") -> dict[str, Any]:
        """All that does not change with the question, as JSON."""
        now = self._standing
        _ = now.analysis.excerpt  # of a large table: drawn before anybody waits for it
        facts = page_facts(now.analysis, self.title, self.start, **self.options)
        about = {"live": live, "watch": self.watch, "source": self.source, "version": now.version, "group": self.group}
        return facts | about | {"ask": can_be_asked(now.analysis)}

    def asked(self, data: Any) -> PageRequest:
        """What is asked, understood; `QueryError` where it is not."""
        return PageRequest.parse(data, self.analysis.space)

    def ask(self, data: Any) -> dict[str, Any]:
        """The answer to a request of the page."""
        return self.answer(self.asked(data))

    def answer(self, asked: PageRequest) -> dict[str, Any]:
        now = self._standing
        if asked.part == "news":
            return self._news(now, asked.extras["since"])
        return now.kept.get(asked.key, lambda: self._answer(now, asked)) | {"version": now.version}

    def _answer(self, now: SessionState, asked: PageRequest) -> dict[str, Any]:
        answering: Callable[..., dict[str, Any]] = ANSWERING[asked.part]
        about: dict[str, Any] = {"source": self.source} if asked.part == "answer" else {}
        a = now.analysis
        if asked.part == "groups":
            about = {"column": self.group}
        elif asked.part == "difference":
            about = {"beside": self.study_of(asked.extras["other"], a)}
        if asked.part != "groups":
            a = self.study_of(asked.question, a)
        found = answering(a, asked.question, **asked.extras, **about, **self.options)
        own = asked.part == "answer" and asked.question.study is not None
        return found | ({"about": self._about(a)} if own else {})

    def _about(self, study: Shows) -> dict[str, Any]:
        """What the page says of one study whatever is asked: where its objectives lie."""
        facts = page_facts(study, self.title, self.start, **self.options)
        return {name: facts[name] for name in ("objective", "rungs")}

    def study_of(self, question: PageQuestion, whole: Shows | None = None) -> Shows:
        """The analysis that a question is asked of: all rows, or one study among them."""
        a = self.analysis if whole is None else whole
        if question.study is None:
            return a
        if question.study.column != self.group:
            raise QueryError(f"study: {question.study.column!r} is not the column of the studies here")
        found = a.groups(self.group)[question.study.name]
        draw_like(found, a)
        return found

    def _news(self, now: SessionState, since: int) -> dict[str, Any]:
        told = [change for change in now.changes if change.version > since]
        changes = [{"version": one.version, "rows": one.rows, "text": one.text} for one in told]
        source = {} if self.watcher is None else self.watcher()
        return {"refused": None, "version": now.version, "rows": now.analysis.rows, "changes": changes, **source}

    def report(self, question: PageQuestion) -> str:
        """The page as a file, about the selected rows alone, opened at this question."""
        here = inside(self.study_of(question), question)
        how = self.options | {"baseline": question.baseline, "of": question.of}
        title = self.title if not question.selects else f"{self.title}: {here.analysis.rows:,} selected rows"
        return draw_page(payload_of(here.analysis, title, [(here.target, here.region)], **how))


def can_be_asked(a: Shows) -> dict[str, bool | str]:
    """Every part: True, or why not."""
    gone = "" if a.observations is not None else "the rows are no longer at hand; explore the data itself"
    return {part: gone if gone and part in OF_ROWS else True for part in (*PARTS, "brush")}


OF_ROWS = frozenset({"brush", "pairs", "plane", "space", "trials", "parallel", "points", "groups"})
ANSWERING: dict[str, Callable[..., dict[str, Any]]] = {
    "answer": answers.answer,
    "densities": answers.densities,
    "pairs": tabs.pairs,
    "plane": tabs.plane,
    "targets": tabs.targets,
    "marginal": marginals,
    "space": tabs.smaller_space,
    "objectives": objectives,
    "along": along_budget,
    "groups": side_by_side,
    "trials": tabs.trials,
    "parallel": tabs.parallel,
    "points": tabs.points,
    "difference": difference_of,
}
