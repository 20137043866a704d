"""Answers with single rows in them, for a page that is asked live: never for a file."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from pedanova.base.table import Cell
from pedanova.data.trials import Trials
from pedanova.errors import PedanovaError, QueryError
from pedanova.report.asks import Shows
from pedanova.report.page.answers import asked_of
from pedanova.report.page.numbers import exact
from pedanova.report.page.question import Question, labels_by_text
from pedanova.space.parameters import Space


def trials(
    a: Shows, question: Question, sort: str | None, descending: bool, offset: int, limit: int, **_: Any
) -> dict[str, Any]:
    """A page of the table of rows, best first or in the order of a column."""
    how = {"sort": sort, "descending": descending, "offset": offset, "limit": limit}
    return of_rows(a, question, infinite=True, **how)


def parallel(a: Shows, question: Question, limit: int, **_: Any) -> dict[str, Any]:
    """A sample of the rows with all their settings."""
    return of_rows(a, question, limit=None, sample=limit)


def points(a: Shows, question: Question, x: str, y: str, limit: int, **_: Any) -> dict[str, Any]:
    """A sample of the rows on the plane of two parameters."""
    return of_rows(a, question, limit=None, sample=limit, params=list(dict.fromkeys((x, y))))


def of_rows(a: Shows, question: Question, *, infinite: bool = False, **how: Any) -> dict[str, Any]:
    """Rows of the selection; which of them are good, where that can be said."""
    try:
        inner, target, region = asked_of(a, question)
        try:
            found = inner.trials(target, region, of=question.of, **how)
        except QueryError:  # no good row among them
            found = inner.trials(**how)
        return rows_to_json(found, a.space, infinite=infinite)
    except PedanovaError as error:
        return {"refused": str(error)}


def rows_to_json(found: Trials, space: Space, *, infinite: bool) -> dict[str, Any]:
    columns = {name: [plain(cell, infinite=infinite) for cell in cells] for name, cells in found.columns.items()}
    for name in found.parameters:
        texts = {label: text for text, label in labels_by_text(space[name]).items()}
        if texts:
            columns[name] = in_words(found.columns[name], texts)
    return {
        "refused": None,
        "objectives": list(found.objectives),
        "parameters": list(found.parameters),
        "total": found.total,
        "columns": columns,
    }


def in_words(cells: Sequence[Cell], texts: dict[Any, str]) -> list[str | None]:
    """Names as the page writes them."""
    return [None if cell is None else texts.get(cell, str(cell)) for cell in cells]


def plain(cell: Cell, *, infinite: bool) -> Any:
    """As JSON can say it; in a table infinity is a word."""
    if infinite and isinstance(cell, float) and math.isinf(cell):
        return "inf" if cell > 0 else "-inf"
    return exact(cell)
