"""Importance along a budget, as JSON: of all trials, since lower budgets are none of the rows selected from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pedanova.base.notes import gathered
from pedanova.errors import PedanovaError
from pedanova.report.asks import Shows
from pedanova.report.page.answers import importance_row
from pedanova.report.page.numbers import exact
from pedanova.report.page.question import Question


def along_budget(
    a: Shows, question: Question, budget: str | Mapping[float, str] | None = None, **options: Any
) -> dict[str, Any]:
    """Shares at each budget for the question's target, and from which budget on the ranking is the full one's."""
    try:
        found = a.along(budget, question.target, baseline=question.baseline, of=question.of, **options)
    except PedanovaError as error:
        return {"refused": str(error)}
    return {
        "refused": None,
        "name": found.name,
        "summary": found.in_words(),
        "since": exact(found.since),
        "steps": [
            {
                "budget": exact(step.budget),
                "rows": step.rows,
                "cost": exact(found.cost(step)),
                "spearman": exact(step.agreement.spearman),
                "low": exact(step.agreement.low),
                "high": exact(step.agreement.high),
                "ranking": found.verdict_in_words(step),
                "importances": [importance_row(row) for row in step.importances.rows],
            }
            for step in found.steps
        ],
        "left_out": [{"budget": exact(one.budget), "rows": one.rows} for one in found.left_out],
        "notes": [str(note) for note in gathered(found.notes)],
    }
