"""Answers of the page with single rows: tables, points, the history of the trials and their intermediate values."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any, TypeVar, cast

from pedanova.base.table import Cell
from pedanova.data.history import ROW, curves_of, goal_named, order_of
from pedanova.data.trials import Trials
from pedanova.errors import QueryError
from pedanova.measures.question import Question
from pedanova.measures.questions.ask import history_table, trial_pieces, trial_table
from pedanova.measures.questions.columns import other_names
from pedanova.measures.questions.trial_data import TrialData
from pedanova.report.page.answers import asked_of, refusing
from pedanova.report.page.facts import columns_of, exact
from pedanova.report.page.page_question import labels_by_text
from pedanova.space.parameters import Space

Value = TypeVar("Value")


@refusing
def trials(
    a: TrialData,
    question: Question,
    sort: str | None,
    descending: bool,
    offset: int,
    limit: int,
    names: Sequence[str] | None = None,
) -> dict[str, Any]:
    """A page of the table as JSON (`limit` rows from row `offset` on), best first or sorted by the column `sort`."""
    read = partial(trial_table, sort=sort, descending=descending, offset=offset, limit=limit, params=names)
    return rows_to_json(shown_rows(a, question, read), columns_of(a), infinite=True)


PIECE = 5_000  # rows of a piece of a table
COMPUTED = ("=", "+", "-", "@", "\t", "\r")  # at the start of a text, a spreadsheet would read these as a formula


def csv_pieces(a: TrialData, question: Question, *, sort: str | None, descending: bool) -> Iterator[str]:
    """All selected rows as CSV text, yielded in pieces."""
    names = [*a.space, *other_names(a)]
    pieces = shown_rows(a, question, partial(trial_pieces, size=PIECE, sort=sort, descending=descending, params=names))

    def plain(cell: Any) -> Any:
        return f"'{cell}" if isinstance(cell, str) and cell.startswith(COMPUTED) and cell != "-inf" else cell

    for number, piece in enumerate(pieces):
        columns, text = rows_to_json(piece, columns_of(a), infinite=True)["columns"], io.StringIO()
        lines = [[] if number else [list(columns)], zip(*columns.values(), strict=True)]
        csv.writer(text).writerows([plain(cell) for cell in line] for line in chain(*lines))
        yield text.getvalue()


@refusing
def parallel(a: TrialData, question: Question, limit: int, names: Sequence[str] | None = None) -> dict[str, Any]:
    read = partial(trial_table, limit=None, sample=limit, params=names)
    return rows_to_json(shown_rows(a, question, read), columns_of(a))


@refusing
def points(
    a: TrialData, question: Question, x: str, y: str, limit: int, names: Sequence[str] | None = None
) -> dict[str, Any]:
    """The values of the parameters `x` and `y`, and of the columns `names`, in a sample of the selected rows."""
    read = partial(trial_table, limit=None, sample=limit, params=list(dict.fromkeys((x, y, *(names or ())))))
    return rows_to_json(shown_rows(a, question, read), columns_of(a))


@refusing
def history(
    a: TrialData,
    question: Question,
    limit: int,
    x: str | None = None,
    objective: str | None = None,
    names: Sequence[str] | None = None,
) -> dict[str, Any]:
    """A sample of the trials in their order, with the best so far and the columns `x` and `names`."""
    order = order_of(a.observed())
    params = list(dict.fromkeys((order, *([] if x is None else [x]), *(names or ()))))
    found = shown_rows(a, question, partial(history_table, sample=limit, objective=objective, params=params))
    about = {"order": order, "objective": found.objective, "direction": found.direction, "ended": found.ended}
    return rows_to_json(found, columns_of(a)) | about


@refusing
def curves(a: TrialData, question: Question, limit: int, objective: str | None = None) -> dict[str, Any]:
    """The intermediate values of a sample of the selected trials; `total` is the number of trials that have some."""
    observed = a.observed()
    shown = shown_rows(a, question, partial(history_table, sample=limit, objective=objective))
    rows = shown.columns[shown.own("row")]
    inside = dict(zip(rows, shown.columns.get(shown.own("in"), rows), strict=True))
    found = curves_of(observed, goal_named(observed, objective), cast("list[int]", rows))
    trials: dict[Cell, dict[str, Any]] = {}
    for row, *_, step, value, state in zip(*found.columns.values(), strict=True):
        about = {"row": row, "in": inside[row], "state": state, "steps": [], "values": []}
        one = trials.setdefault(row, about)
        one["steps"].append(exact(step))
        one["values"].append(exact(value))
    names = dict(zip(found.columns[ROW], found.columns[found.order], strict=True))
    every = [one | {"trial": names[row]} for row, one in trials.items()]
    return {"objective": found.objective, "direction": found.direction, "trials": every, "total": shown.total}


def shown_rows(a: TrialData, question: Question, read: Callable[[TrialData, Question], Value]) -> Value:
    """Call `read` with the selected rows; target rows are marked if there are any."""
    inner, asking = asked_of(a, question, "smoothing", "estimator", "seed", "of")
    try:
        return read(inner, asking)
    except QueryError:  # there is no good row among them
        return read(inner, Question(None))


def rows_to_json(table: Trials, space: Space, *, infinite: bool = False) -> dict[str, Any]:
    words: dict[Cell, Any] = {math.inf: "inf", -math.inf: "-inf"} if infinite else {}  # in a table, infinity is a word
    columns = {name: [words.get(cell, exact(cell)) for cell in cells] for name, cells in table.columns.items()}
    for name in table.parameters:
        texts: dict[Any, str] = {}
        if name in space:  # dates have no domain
            texts = {label: text for text, label in labels_by_text(space[name]).items()}
        if texts:
            cells = table.columns[name]
            columns[name] = [None if cell is None else texts.get(cell, str(cell)) for cell in cells]
    return {
        "objectives": list(table.objectives),
        "parameters": list(table.parameters),
        "total": table.total,
        "own": {word: table.own(word) for word in ("row", "trial", "in", "best", "state")},
        "columns": columns,
    }
