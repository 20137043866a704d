"""A or B: how the answers to two questions differ, as JSON."""

from __future__ import annotations

from typing import Any

from pedanova.errors import PedanovaError
from pedanova.measures.difference import Difference, difference
from pedanova.measures.importance import Importances
from pedanova.report.asks import Shows
from pedanova.report.page.answers import inside
from pedanova.report.page.lines import condition_of, lines_of
from pedanova.report.page.numbers import exact
from pedanova.report.page.question import Question


def compared(
    a: Shows, question: Question, other: Question, *, beside: Shows | None = None, **options: Any
) -> dict[str, Any]:
    """Shares of the question less those of the other one, the clearest difference first.

    `beside`: the analysis that the other one is asked of, where it is not the same.
    """
    both = ((a, question), (a if beside is None else beside, other))
    try:
        one, two = (asked(of, each, options) for of, each in both)
        found = difference(one, two)
    except PedanovaError as error:
        return {"refused": str(error)}
    return {
        "refused": None,
        "summary": found.in_words(*(place_of(each, f"in {name}") for each, name in ((question, "B"), (other, "A")))),
        "rows": [row_to_json(row) for row in found.rows],
        "notes": [str(note) for note in found.notes],
        "lines": {"python": f"pa.difference({', '.join(line_of(of, each, options) for of, each in both)})"},
    }


def asked(a: Shows, question: Question, options: dict[str, Any]) -> Importances:
    here = inside(a, question)
    return here.analysis.importance(here.target, here.region, question.baseline, **options, of=question.of)


def line_of(a: Shows, question: Question, options: dict[str, Any]) -> str:
    here = inside(a, question)
    return str(lines_of(question, here.target, here.region, options=options)["python"])


def place_of(question: Question, name: str) -> str:
    """Where a question stands, in words that fit into a sentence."""
    condition = condition_of(question)
    if condition == "":
        return "in all rows"
    return f"where {condition}" if condition and len(condition) <= 60 else name


def row_to_json(row: Difference) -> dict[str, Any]:
    names = ("share", "other", "difference", "low", "high", "clear")
    return {"parameter": row.name} | {name: exact(getattr(row, name)) for name in names}
