"""The live page inside a notebook, through anywidget; the notebook's kernel answers the page's requests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Unpack

from pedanova.errors import PedanovaError, missing_library
from pedanova.measures.importance import Importances
from pedanova.measures.question import How, Question, check_how
from pedanova.measures.questions.ask import importance_or_wider
from pedanova.report.live.session import Session
from pedanova.report.page.html import asset, draw_page
from pedanova.report.page.page_question import box_of, box_to_json, chosen_part, parse_question, question_to_json

try:
    import anywidget
    import traitlets
except ImportError:
    raise missing_library("the live page needs anywidget", "notebook") from None


class LiveWidget(anywidget.AnyWidget):
    """The live page in a notebook cell. The selection of rows can be read and set from Python.

    Attributes
    ----------
    selection
        The selected rows as a box, which `Analysis.within` takes: ``{"lr": (1e-4, 1e-2), "optimizer": ["adam"]}``.
        If you set it, the page changes; ``{}`` selects all rows.
    question
        The current question of the page, as plain JSON: target, region, selection, baseline.
    height
        The height of the frame in pixels.
    """

    _esm = asset("notebook.mjs")
    page = traitlets.Unicode().tag(sync=True)
    height = traitlets.Int(900).tag(sync=True)
    wanted = traitlets.Dict().tag(sync=True)  # {"number", "question"}: the question that the page shall show
    question = traitlets.Dict()
    selection = traitlets.Dict()

    def __init__(self, session: Session, *, height: int) -> None:
        self._session = session
        self._moving = False  # True while a change is being applied, to avoid loops
        start = session.start
        super().__init__(
            page=draw_page({"facts": session.facts(live="message"), "answers": []}),
            height=height,
            wanted={"number": 0, "question": None},
            question=question_to_json(start, session.columns),
            selection=box_of(start),
        )
        self.on_msg(self._heard)

    def importance(self, **options: Unpack[How]) -> Importances:
        """The importances for the current question of the page; `options` as in `Analysis.importance`."""
        question = replace(self._parsed(self.question), **check_how(options))
        return importance_or_wider(self._session.study_of(question), question, good=False)

    def _parsed(self, data: Any) -> Question:
        return parse_question(data, self._session.columns, self._session.start)

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """Add a static table to the live page, for an exported notebook without a kernel."""
        bundle = super()._repr_mimebundle_(**kwargs)
        try:
            table = self.importance()._repr_html_()
        except PedanovaError:  # such as too few rows; the page shows the error
            return bundle
        return bundle and ({**bundle[0], "text/html": table}, *bundle[1:])

    @traitlets.validate("question")
    def _check_question(self, proposal: Any) -> dict[str, Any]:
        return question_to_json(self._parsed(dict(proposal["value"])), self._session.columns)

    @traitlets.validate("selection")
    def _check_selection(self, proposal: Any) -> dict[str, Any]:
        space = self._session.columns
        return {name: chosen_part(name, rows, space) for name, rows in proposal["value"].items()}

    @traitlets.observe("question", "selection")
    def _changed(self, change: Any) -> None:
        """Send a change made in Python to the page, and keep `question` and `selection` consistent."""
        if self._moving or not hasattr(self, "_session"):
            return
        space = self._session.columns
        with self._quietly():
            if change["name"] == "selection":
                self.question = {**self.question, "selection": box_to_json(self.selection, space)}
            else:
                self.selection = box_of(self._parsed(self.question))
            self.wanted = {"number": self.wanted["number"] + 1, "question": dict(self.question)}

    @contextmanager
    def _quietly(self) -> Iterator[None]:
        before, self._moving = self._moving, True
        try:
            yield
        finally:
            self._moving = before

    def _heard(self, _: Any, content: Any, __: Any) -> None:
        """Handle a message from the page: its current question, or a request for an answer."""
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
            question = self._parsed(data)
        except PedanovaError:  # such as an unknown parameter; the page shows the error
            return
        with self._quietly():
            space = self._session.columns
            self.question, self.selection = question_to_json(question, space), box_of(question)
