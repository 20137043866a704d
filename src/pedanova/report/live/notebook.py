"""The live page inside a notebook, through anywidget: its questions are answered by the kernel around it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Unpack

from pedanova.errors import MissingLibraryError, PedanovaError, QueryError, unknown_name
from pedanova.measures.importance import Importances
from pedanova.measures.question import How, Question, check_how
from pedanova.measures.questions.ask import importance_of
from pedanova.report.live.session import Session
from pedanova.report.page.answers import asked_of
from pedanova.report.page.html import asset, draw_page
from pedanova.report.page.question import PageQuestion, Picks, Span, labels_by_text
from pedanova.space.parameters import Space

try:
    import anywidget
    import traitlets
except ImportError:
    raise MissingLibraryError("the live page needs anywidget; pip install 'pedanova[notebook]'") from None


class LiveWidget(anywidget.AnyWidget):
    """The explorer in a cell. What is selected there can be read and set here.

    Attributes
    ----------
    selection
        The selected rows as a box, which `Analysis.within` takes: ``{"lr": (1e-4, 1e-2), "optimizer": ["adam"]}``.
        Set it, and the page follows; ``{}`` selects all rows.
    question
        All that the page asks, as plain JSON: target, region, selection, baseline.
    height
        Of the frame, in pixels.
    """

    _esm = asset("notebook.mjs")
    page = traitlets.Unicode().tag(sync=True)
    height = traitlets.Int(900).tag(sync=True)
    wanted = traitlets.Dict().tag(sync=True)  # {"number", "question"}: where the page is to go
    question = traitlets.Dict()
    selection = traitlets.Dict()

    def __init__(self, session: Session, *, height: int) -> None:
        self._session = session
        self._moving = False  # the page moved, or a change is being carried over: nothing more follows from it
        start = session.start
        facts = session.facts(live="message")
        super().__init__(
            page=draw_page({"facts": facts, "answers": []}),
            height=height,
            wanted={"number": 0, "question": None},
            question=start.to_json(),
            selection=start.box(),
        )
        self.on_msg(self._heard)

    def importance(self, **options: Unpack[How]) -> Importances:
        """What the page shows: which parameters decide, for its present question; options as in `importance`."""
        question = PageQuestion.parse(self.question, self._session.analysis.space)
        inner, target, region = asked_of(self._session.study_of(question), question)
        how = question.how(self._session.options)
        how.update(check_how(options))
        return importance_of(inner, Question(target, region, **how))

    @traitlets.validate("question")
    def _check_question(self, proposal: Any) -> dict[str, Any]:
        return PageQuestion.parse(dict(proposal["value"]), self._session.analysis.space).to_json()

    @traitlets.validate("selection")
    def _check_selection(self, proposal: Any) -> dict[str, Any]:
        space = self._session.analysis.space
        parts = {name: part_of(name, rows, space) for name, rows in proposal["value"].items()}
        return {name: part.bounds() for name, part in parts.items()}

    @traitlets.observe("question", "selection")
    def _changed(self, change: Any) -> None:
        """What was set in Python goes to the page; the other of both follows."""
        if self._moving or not hasattr(self, "_session"):
            return
        space = self._session.analysis.space
        with self._quietly():
            if change["name"] == "selection":
                parts = {name: part_of(name, rows, space).to_json() for name, rows in self.selection.items()}
                self.question = {**self.question, "selection": parts}
            else:
                self.selection = PageQuestion.parse(self.question, space).box()
            self.wanted = {"number": self.wanted["number"] + 1, "question": dict(self.question)}

    @contextmanager
    def _quietly(self) -> Iterator[None]:
        before, self._moving = self._moving, True
        try:
            yield
        finally:
            self._moving = before

    def _heard(self, _: Any, content: Any, __: Any) -> None:
        """A message of the page: where it is now, or a question."""
        if not isinstance(content, dict):
            return
        if content.get("pedanova") == "moved":
            self._moved(content.get("question"))
            return
        own = {name: content.get(name) for name in ("pedanova", "view", "lane")}
        request = {name: value for name, value in content.items() if name not in own}
        try:
            answer = self._session.ask(request)
        except PedanovaError as error:
            answer = {"refused": str(error)}
        self.send({**own, "answer": answer})

    def _moved(self, data: Any) -> None:
        try:
            question = PageQuestion.parse(data, self._session.analysis.space)
        except PedanovaError:  # such as a parameter that is half typed: the page says what is wrong
            return
        with self._quietly():
            self.question, self.selection = question.to_json(), question.box()


def part_of(name: str, rows: Any, space: Space) -> Span | Picks:
    """What one parameter is selected by: two ends of a range, or some of its values."""
    if not isinstance(name, str) or name not in space:
        raise QueryError(f"selection: {unknown_name(name, tuple(space))}")
    labels = labels_by_text(space[name])
    if not labels:
        return Span.parse(name, list(rows) if isinstance(rows, tuple) else rows)
    wanted = list(rows) if isinstance(rows, Iterable) and not isinstance(rows, str | Mapping) else [rows]
    texts = [next((text for text, label in labels.items() if is_same(label, one)), None) for one in wanted]
    for one, text in zip(wanted, texts, strict=True):
        if text is None:
            raise QueryError(f"selection of {name}: {unknown_name(one, tuple(labels), what='value')}")
    if not texts:
        raise QueryError(f"selection of {name} names no value; leave {name} out to select all")
    return Picks({text: labels[text] for text in labels if text in texts})


def is_same(label: object, other: Any) -> bool:
    """True is not 1; a scalar of NumPy is what it holds."""
    plain = other.item() if hasattr(other, "item") else other
    return type(label) is type(plain) and label == plain
