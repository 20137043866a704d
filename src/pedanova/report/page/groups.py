"""The rankings of several studies side by side: which parameter matters where, as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Unpack

from pedanova.base.notes import gathered
from pedanova.errors import PedanovaError, QueryError
from pedanova.measures.importance import Importances
from pedanova.measures.question import How, Question
from pedanova.measures.questions.ask import importance_of
from pedanova.measures.questions.trial_data import TrialData
from pedanova.measures.studies.across import Pooling, StudyRow
from pedanova.measures.studies.groups import groups_by, pooled_studies
from pedanova.report.page.answers import importance_row, inside, refusing, row_to_json, texts_of
from pedanova.report.page.lines import USUAL, python_rows
from pedanova.report.page.question import PageQuestion
from pedanova.report.page.shapes import exact
from pedanova.report.sentences import shares_over_studies

SHOWN = 16  # studies at first; more when asked for
MODELLED = 25  # studies beyond which counts answer: a model of each would take too long
ORDERS = ("name", "size", "disagreement")
POOLED_COLUMNS = ("share", "low", "high", "spread", "rank", "first", "studies")


@refusing
def side_by_side(
    a: TrialData,
    question: PageQuestion,
    *,
    column: str | None,
    order: str = "name",
    limit: int = SHOWN,
    **options: Unpack[How],
) -> dict[str, Any]:
    """Shares of every parameter over all studies, and in some of them each with its interval."""
    if column is None:
        raise QueryError("no column names the studies of this table; open it with --group COLUMN")
    how, studies, notes = question.how(options), groups_by(a, column), []
    if len(studies) > MODELLED and how["estimator"] == "auto":
        how["estimator"] = "counts"
        notes = [f"plain counts answer in all {len(studies):,} studies; one that is asked alone may have a model"]
    parts = "selected" if question.good == "selection" or a.levels.several else "all"
    within = list(question.rows()) if question.selects else None
    asking = Question(question.target, question.region, **how)
    pooled = Pooling(**pooled_studies(studies, asking, within=within, parts=parts if within else "selected"))
    shown = first_studies(pooled, order, limit)
    return {
        "column": column,
        "summary": shares_over_studies(pooled),
        "parameters": [{"parameter": row.name} | row_to_json(row, POOLED_COLUMNS) for row in pooled.rows],
        "studies": [study_to_json(row, with_intervals(pooled, row.name, studies, question, how)) for row in shown],
        "total": len(pooled.studies.rows),
        "left_out": len(studies) - len(pooled.answers),
        "notes": [*notes, *texts_of(gathered(pooled.notes))],
        "lines": {"python": python_line(column, question, parts, how)},
    }


def first_studies(pooled: Pooling, order: str, limit: int) -> list[StudyRow]:
    """So many of them: the largest, or those that agree least with all others, or just the first."""
    rows = list(pooled.studies.rows)
    if order == "size":
        rows.sort(key=lambda row: -row.n_region)
    elif order == "disagreement":
        rows.sort(key=lambda row: (-len(row.differs), 2.0 if row.agreement is None else row.agreement))
    return rows[:limit]


def with_intervals(
    pooled: Pooling, name: str, studies: Mapping[str, TrialData], question: PageQuestion, how: How
) -> Importances:
    """A study's answer with its intervals: of very many, only those that are shown are asked for them."""
    plain = pooled.answers[name]
    if plain.rows[0].low is not None or not how["draws"]:
        return plain
    here = inside(studies[name], replace(question, of="rows") if how["estimator"] == "counts" else question)
    try:
        return importance_of(here.analysis, Question(here.target, here.region, **how))
    except PedanovaError:
        return plain


def study_to_json(row: StudyRow, answer: Importances) -> dict[str, Any]:
    return {
        "name": row.name,
        "rows": row.n_region,
        "good": row.n_target,
        "agreement": exact(row.agreement),
        "differs": list(row.differs),
        "importances": [importance_row(one) for one in answer.rows],
    }


def python_line(column: str, question: PageQuestion, parts: str, how: Mapping[str, Any]) -> str:
    """What gives these numbers: `across` of the same question."""
    given = [f"group={column!r}", f"target={python_rows(question.target)}"]
    given += [] if question.region.is_all else [f"region={python_rows(question.region)}"]
    if question.selection:
        given.append(f"within={question.box()!r}")
        given += [f"parts={parts!r}"] if parts != "selected" else []
    usual = USUAL | {"baseline": "region", "of": "space", "draws": None}
    given += [f"{name}={value!r}" for name, value in how.items() if value != usual.get(name)]
    return f"pa.across(a, {', '.join(given)})"
