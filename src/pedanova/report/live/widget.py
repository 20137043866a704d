"""The page in a notebook cell: a live page if the kernel can answer its requests, otherwise a static report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Unpack

from pedanova.errors import QueryError
from pedanova.measures.questions.trial_data import TrialData
from pedanova.report.live.session import Session
from pedanova.report.page.cards import QUESTIONS, TITLE, FileOptions, payload_of
from pedanova.report.page.html import draw_page

if TYPE_CHECKING:
    from pedanova.report.live.notebook import LiveWidget


SHORTEST, TALLEST = 100, 10_000  # pixels


@dataclass(frozen=True, slots=True, repr=False)
class Widget:
    """A page to show in JupyterLab, VS Code or Colab. Scripts of the page cannot access the notebook."""

    page: str  # a whole HTML document
    height: int  # pixels
    note: str = ""  # a note below the page

    def _repr_html_(self) -> str:
        allowed = "allow-scripts allow-downloads allow-modals allow-popups"  # without access to the notebook
        return (
            f'<iframe title="pedanova report" sandbox="{allowed}" srcdoc="{escape(self.page)}" '
            f'style="width:100%;height:{self.height}px;border:0" loading="lazy"></iframe>'
            + (f'<p style="opacity:.7;margin:.3em 0">{escape(self.note)}</p>' if self.note else "")
        )

    def __repr__(self) -> str:
        return f"Widget({len(self.page) / 1024:,.0f} KB; it is shown in a notebook; for a browser, use a.report(path))"


OF_A_REPORT = ("ladder", "reduce")  # options that a live page does not use
GET_IT = "This page cannot answer new questions. To select rows: pip install anywidget and rerun the cell."
NO_ROWS = "This page cannot answer new questions: the rows are no longer available (loaded without rows, or merged)."


def cell_of(
    a: TrialData,
    *,
    height: int,
    live: bool | None = None,
    title: str = TITLE,
    questions: Sequence[tuple[object, object]] = QUESTIONS,
    group: str | None = None,
    opening: tuple[str, str | None] = ("", ""),
    **options: Unpack[FileOptions],
) -> LiveWidget | Widget:
    """A live page for a notebook cell if possible, otherwise a static page."""
    if live is None:
        live = a.observations is not None and find_spec("anywidget") is not None
        live = live and not any(name in options for name in OF_A_REPORT)
    if isinstance(height, bool) or not isinstance(height, int) or not SHORTEST <= height <= TALLEST:
        raise QueryError(f"height={height!r} must be a whole number of pixels from {SHORTEST} to {TALLEST:,}")
    if live:
        from pedanova.report.live.notebook import LiveWidget

        about: dict[str, Any] = {"group": group, "opening": opening[0], "source": opening[1]}
        return LiveWidget(Session(a, title=title, start=questions[0], options=options, **about), height=height)
    note = NO_ROWS if a.observations is None else "" if find_spec("anywidget") is not None else GET_IT
    return Widget(draw_page(payload_of(a, title, questions, group=group, opening=opening, **options)), height, note)
