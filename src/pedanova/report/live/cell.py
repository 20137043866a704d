"""What a cell of a notebook shows: the live page where it can be answered, else the page of a report."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from pedanova.report.asks import Shows
from pedanova.report.page.widget import Widget, widget_of

if TYPE_CHECKING:
    from pedanova.report.live.notebook import LiveWidget

OF_A_REPORT = ("ladder", "reduce")  # options that a live page has no use for
GET_IT = "A page of fixed answers. To select rows in it: pip install 'pedanova[notebook]', and run the cell again."
NO_ROWS = "A page of fixed answers: the rows are no longer at hand (loaded or added)."


def cell_of(
    a: Shows,
    *,
    height: int,
    live: bool | None = None,
    questions: Sequence[tuple[object, object]] = ((0.1, 1.0), (0.02, 0.1)),
    **options: Any,
) -> LiveWidget | Widget:
    """The live page unless it cannot be, or an option is about the other one."""
    if live is None:
        live = a.observations is not None and find_spec("anywidget") is not None
        live = live and not any(name in options for name in OF_A_REPORT)
    if live:
        from pedanova.report.live.notebook import live_widget

        return live_widget(a, height=height, start=questions[0], **options)
    note = NO_ROWS if a.observations is None else "" if find_spec("anywidget") is not None else GET_IT
    return widget_of(a, height=height, note=note, questions=questions, **options)
