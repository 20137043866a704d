"""The page inside a notebook: a frame that holds all of it, so that no extension and no server is needed."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

from pedanova.errors import QueryError
from pedanova.report.asks import Shows
from pedanova.report.page.embedded import payload_of
from pedanova.report.page.html import draw_page

SHORTEST, TALLEST = 100, 10_000  # pixels


@dataclass(frozen=True, slots=True, repr=False)
class Widget:
    """A page to show in JupyterLab, VS Code or Colab. Scripts in it cannot reach the notebook around it."""

    page: str  # a whole HTML document
    height: int  # pixels
    note: str = ""  # below it

    def _repr_html_(self) -> str:
        allowed = "allow-scripts allow-downloads allow-modals allow-popups"  # and nothing of the notebook's own
        return (
            f'<iframe title="pedanova report" sandbox="{allowed}" srcdoc="{escape(self.page)}" '
            f'style="width:100%;height:{self.height}px;border:0" loading="lazy"></iframe>'
            + (f'<p style="opacity:.7;margin:.3em 0">{escape(self.note)}</p>' if self.note else "")
        )

    def __repr__(self) -> str:
        return f"Widget({len(self.page) / 1024:,.0f} KB; shown in a notebook, or a.report(path) for a browser)"


def widget_of(a: Shows, *, height: int, note: str = "", **options: Any) -> Widget:
    """The page of an analysis in a frame."""
    height = check_height(height)  # before the page, which takes its time
    return Widget(draw_page(payload_of(a, **options)), height, note)


def check_height(height: object) -> int:
    if isinstance(height, bool) or not isinstance(height, int) or not SHORTEST <= height <= TALLEST:
        raise QueryError(f"height={height!r} must be a whole number of pixels from {SHORTEST} to {TALLEST:,}")
    return height
