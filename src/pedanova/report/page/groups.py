"""The rankings of several studies side by side: which parameter matters where, as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pedanova.base.notes import gathered
from pedanova.errors import PedanovaError
from pedanova.measures.importance import Importances
from pedanova.measures.studies.across import Pooling, StudyRow
from pedanova.report.asks import Shows
from pedanova.report.page.answers import importance_row, inside
from pedanova.report.page.lines import USUAL, python_rows
from pedanova.report.page.question import PageQuestion
from pedanova.report.page.shapes import exact
from pedanova.report.sentences import shares_over_studies

SHOWN = 16  # studies at first; more when asked for
MODELLED = 25  # studies beyond which counts answer: a model of each would take too long
ORDERS = ("name", "size", "disagreement")


def side_by_side(
    a: Shows, question: PageQuestion, *, column: str | None, order: str = "name", limit: int = SHOWN, **options: Any
) -> dict[str, Any]:
    """Shares of every parameter over all studies, and in some of them each with its interval."""
    how = options | {"baseline": question.baseline, "of": question.of}
    try:
        if column is None:
            return {"refused": "no column names the studies of this table; open it with --group COLUMN"}
        studies = a.groups(column)
        told = []
        if len(studies) > MODELLED and how["estimator"] == "auto":
            how["estimator"] = "counts"
            told = [f"plain counts answer in all {len(studies):,} studies; one that is asked alone may have a model"]
        parts = "selected" if question.good == "selection" or a.levels.several else "all"
        within = {"within": list(question.rows()), "parts": parts} if question.selects else {}
        found = a.pooled_by(column, question.target, question.region, **within, **how)
    except PedanovaError as error:
        return {"refused": str(error)}
    shown = first_studies(found, order, limit)
    return {
        "refused": None,
        "column": column,
        "summary": shares_over_studies(found),
        "parameters": [parameter_to_json(row.name, found) for row in found.rows],
        "studies": [study_to_json(row, surely(found, row.name, studies, question, how)) for row in shown],
        "total": len(found.studies.rows),
        "left_out": len(studies) - len(found.answers),
        "notes": [*told, *(str(note) for note in gathered(found.notes))],
        "lines": {"python": python_line(column, question, parts, how)},
    }


def first_studies(found: Pooling, order: str, limit: int) -> list[StudyRow]:
    """So many of them: the largest, or those that agree least with all others, or just the first."""
    rows = list(found.studies.rows)
    if order == "size":
        rows.sort(key=lambda row: -row.n_region)
    elif order == "disagreement":
        rows.sort(key=lambda row: (-len(row.differs), 2.0 if row.agreement is None else row.agreement))
    return rows[:limit]


def surely(
    found: Pooling, name: str, studies: Mapping[str, Shows], question: PageQuestion, how: Mapping[str, Any]
) -> Importances:
    """A study's answer with its intervals: of very many, only those that are shown are asked for them."""
    known = found.answers[name]
    if known.rows[0].low is not None or not how["draws"]:
        return known
    plain = replace(question, of="rows") if how["estimator"] == "counts" else question
    here = inside(studies[name], plain)
    try:
        return here.analysis.importance(here.target, here.region, **how)
    except PedanovaError:
        return known


def parameter_to_json(name: str, found: Pooling) -> dict[str, Any]:
    row = found[name]
    names = ("share", "low", "high", "spread", "rank", "first", "studies")
    return {"parameter": name} | {one: exact(getattr(row, one)) for one in names}


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
