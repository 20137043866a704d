"""Somebody who answers a page: an analysis, which a newer one may replace, and its recent answers.

The server and the notebook both speak to it in plain JSON; it knows nothing of either.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Self

from pedanova.base.threads import ResultCache
from pedanova.data.regions import as_region
from pedanova.errors import QueryError
from pedanova.report.asks import Shows
from pedanova.report.live.asked import PARTS, Asked
from pedanova.report.page import answers, rows
from pedanova.report.page.along import along_budget
from pedanova.report.page.answers import inside
from pedanova.report.page.compared import compared
from pedanova.report.page.embedded import check_options, payload_of
from pedanova.report.page.facts import page_facts
from pedanova.report.page.groups import side_by_side
from pedanova.report.page.html import draw_page
from pedanova.report.page.marginals import marginals
from pedanova.report.page.objectives import objectives
from pedanova.report.page.question import Question
from pedanova.report.page.shapes import draw_like

KEPT = 256  # answers
REMEMBERED = 1_000  # changes


@dataclass(frozen=True, slots=True)
class Change:
    """Something new in the data, in a sentence."""

    version: int
    rows: int
    text: str


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
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
        start: Question | None = None,
        options: Mapping[str, Any] | None = None,
        source: str = "",
        watch: bool = False,
        group: str | None = None,
    ) -> None:
        self.title, self.start, self.source, self.watch = title, start or Question(), source, watch
        self.options = dict(options or {})
        self.group = group
        self.watcher: Callable[[], dict[str, Any]] | None = None  # tells of a source that is followed, with every news
        self._lock = Lock()
        self._standing = Standing(analysis)

    @classmethod
    def of(
        cls, analysis: Shows, title: str, start: tuple[object, object], options: dict[str, Any], **more: Any
    ) -> Self:
        """With (target, region) to begin with, and options of `importance`, which are checked before anybody asks."""
        chosen = check_options(options)
        first = Question(
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
            self._standing = Standing(analysis, version, (*now.changes, *told)[-REMEMBERED:])
        return version

    def facts(self, live: str = "http") -> dict[str, Any]:
        """All that does not change with the question, as JSON."""
        now = self._standing
        _ = now.analysis.excerpt  # of a large table: drawn before anybody waits for it
        facts = page_facts(now.analysis, self.title, self.start, **self.options)
        about = {"live": live, "watch": self.watch, "source": self.source, "version": now.version, "group": self.group}
        return facts | about | {"ask": can_be_asked(now.analysis)}

    def asked(self, data: Any) -> Asked:
        """What is asked, understood; `QueryError` where it is not."""
        return Asked.parse(data, self.analysis.space)

    def ask(self, data: Any) -> dict[str, Any]:
        """The answer to a request of the page."""
        return self.answer(self.asked(data))

    def answer(self, asked: Asked) -> dict[str, Any]:
        now = self._standing
        if asked.part == "news":
            return self._news(now, asked.extras["since"])
        return now.kept.get(asked.key, lambda: self._answer(now, asked)) | {"version": now.version}

    def _answer(self, now: Standing, asked: Asked) -> dict[str, Any]:
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

    def study_of(self, question: Question, whole: Shows | None = None) -> Shows:
        """The analysis that a question is asked of: all rows, or one study among them."""
        a = self.analysis if whole is None else whole
        if question.study is None:
            return a
        if question.study.column != self.group:
            raise QueryError(f"study: {question.study.column!r} is not the column of the studies here")
        found = a.groups(self.group)[question.study.name]
        draw_like(found, a)
        return found

    def _news(self, now: Standing, since: int) -> dict[str, Any]:
        told = [change for change in now.changes if change.version > since]
        changes = [{"version": one.version, "rows": one.rows, "text": one.text} for one in told]
        source = {} if self.watcher is None else self.watcher()
        return {"refused": None, "version": now.version, "rows": now.analysis.rows, "changes": changes, **source}

    def report(self, question: Question) -> str:
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
    "pairs": answers.pairs,
    "plane": answers.plane,
    "targets": answers.targets,
    "marginal": marginals,
    "space": answers.smaller_space,
    "objectives": objectives,
    "along": along_budget,
    "groups": side_by_side,
    "trials": rows.trials,
    "parallel": rows.parallel,
    "points": rows.points,
    "difference": compared,
}
