"""Answers to the page's requests about several studies: each study beside the others, and their mean."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pedanova.base.notes import gathered
from pedanova.data.regions import Region
from pedanova.errors import PedanovaError, QueryError
from pedanova.measures.importance import Importances
from pedanova.measures.question import Question
from pedanova.measures.questions.ask import importance_of
from pedanova.measures.questions.trial_data import TrialData
from pedanova.measures.studies.across import PooledShare, Pooling, groups_by, pooled_studies
from pedanova.report.page.answers import importance_rows, refusing, row_to_json, without_paper
from pedanova.report.page.facts import exact
from pedanova.report.page.page_question import bands_of_code, box_of, options_of_code, rows_of_code, words_of_shell
from pedanova.report.sentences import shares_over_studies

SHOWN = 16  # studies that are shown first; more on request
MODELLED = 25  # with more studies, counts answer, because models would take too long
ORDERS = ("name", "size", "disagreement")
POOLED_COLUMNS = ("share", "low", "high", "spread", "rank", "first", "studies")


@refusing
def side_by_side(
    a: TrialData,
    question: Question,
    *,
    column: str | None,
    order: str = "name",
    limit: int = SHOWN,
    source: str | None = "",
    fixed: tuple[Any, ...] = (),
) -> dict[str, Any]:
    """The shares over all studies, and the shares with intervals in each of the first `limit` studies, as JSON."""
    if column is None:
        raise QueryError("to compare studies, open the table with --group COLUMN (the column with the study names)")
    studies, notes = groups_by(a, column), []
    if len(studies) > MODELLED and question.estimator == "auto":
        notes = [f"all {len(studies):,} studies use plain counts, because models would take too long"]
    question = within_studies(a, question, len(studies))
    pooled = pooled_studies(studies, question)
    shown = list(pooled.studies.rows)
    if order == "size":
        shown.sort(key=lambda row: -row.n_region)
    elif order == "disagreement":
        shown.sort(key=lambda row: (-len(row.differs), 2.0 if row.agreement is None else row.agreement))
    return {
        "column": column,
        "summary": shares_over_studies(pooled),
        "parameters": [{"parameter": row.name} | row_to_json(row, POOLED_COLUMNS) for row in pooled.rows],
        "studies": [
            {
                "name": row.name,
                "rows": row.n_region,
                "good": row.n_target,
                "agreement": exact(row.agreement),
                "differs": list(row.differs),
                "importances": importance_rows(with_intervals(pooled, row.name, studies, question).rows),
            }
            for row in shown[:limit]
        ],
        "total": len(pooled.studies.rows),
        "left_out": len(studies) - len(pooled.answers),
        "notes": [*notes, *map(str, gathered(pooled.notes))],
        "lines": lines_of_groups(question, column, source, fixed),
    }


def within_studies(a: TrialData, question: Question, studies: int) -> Question:
    """The question as it is asked about every study."""
    if studies > MODELLED and question.estimator == "auto":
        question = replace(question, estimator="counts")
    if a.levels.several or not question.within:
        question = replace(question, parts="selected")
    return without_paper(question)


def over_studies(
    a: TrialData,
    question: Question,
    given: dict[str, Any],
    column: str,
    source: str | None = "",
    fixed: tuple[Any, ...] = (),
) -> dict[str, Any]:
    """The answer `given` about all rows, with the mean importances over all studies; each study has its own target."""
    studies = groups_by(a, column)
    asking = within_studies(a, question if given["sure"] else replace(question, draws=0), len(studies))
    try:
        pooled = pooled_studies(studies, asking)
    except PedanovaError:
        return given
    means = {row.name: row for row in pooled.rows}
    total = sum(max(row.share, 0.0) for row in means.values())
    rows = [row | mean_row(means[row["parameter"]], total) for row in given["importances"] if row["parameter"] in means]
    own = " among the selected rows" * (question.parts == "selected" and bool(question.within))
    bands = {name: band_of_studies(band, getattr(asking, name), own) for name, band in given["bands"].items()}
    return given | {
        "over": {"column": column, "studies": len(pooled.answers)},
        "importances": sorted(rows, key=lambda row: -row["share"]),
        "summary": shares_over_studies(pooled),
        "bands": bands,
        "lines": lines_of_groups(asking, column, source, fixed),
    }


def mean_row(row: PooledShare, total: float) -> dict[str, Any]:
    """What changes in the row of a parameter if its importance is the mean over studies."""
    low = None if row.low is None else max(0.0, row.low)
    plain = {"share": row.share, "low": low, "high": row.high, "ratio": row.share / total if total else 0.0}
    clear = {"significant": None if row.low is None else row.low > 0, "p_value": None, "p_adjusted": None}
    return {name: exact(value) for name, value in plain.items()} | clear


def band_of_studies(band: dict[str, Any], asked: object, own: str) -> dict[str, Any]:
    """A target or region in words; a quantile is that of every study, so it has no single limit."""
    known = Region.parse(asked, "target")
    if known.kind == "value" or known.is_all:
        return band
    words = f"{str(known).removeprefix('the ')} of each study"
    return band | {"words": words, "limit": "", "reached": f"is in {known} of its study{own}"}


def with_intervals(pooled: Pooling, name: str, studies: Mapping[str, TrialData], question: Question) -> Importances:
    """The importances of the study `name` with intervals; pooling may have left the intervals out."""
    plain = pooled.answers[name]
    if plain.rows[0].low is not None or not question.draws:
        return plain
    try:
        return importance_of(studies[name], question)
    except PedanovaError:
        return plain


def lines_of_groups(
    question: Question, column: str, source: str | None = "", fixed: tuple[Any, ...] = ()
) -> dict[str, str | None]:
    """The code that gives the same numbers as `side_by_side`: a call of `across`."""
    bands, how = bands_of_code(question), options_of_code(without_paper(question), always=("draws",))
    given = [f"group={column!r}", *(f"{name}={band.text('python')}" for name, band in bands.items())]
    if question.within:
        given.append(f"within={box_of(question)!r}")
        given += [f"parts={question.parts!r}"] if question.parts != "selected" else []
    given += [f"{name}={value!r}" for name, value in how.items()]
    python, shell = f"pa.across({rows_of_code('a', fixed)}, {', '.join(given)})", None
    if not (fixed or question.within or question.force or source is None):
        words = words_of_shell({"group": column} | {name: band.text("shell") for name, band in bands.items()} | how)
        shell = f"pedanova across {source or 'SOURCE'} {shlex.join(words)}"
    return {"python": python, "shell": shell, "condition": None}
