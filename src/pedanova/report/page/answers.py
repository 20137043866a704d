"""Answers to the page's questions, as JSON. Each is what the shown line of Python gives, to the last digit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from pedanova.data.regions import Region
from pedanova.errors import PedanovaError, QueryError
from pedanova.measures.densities import Densities
from pedanova.measures.importance import Importance
from pedanova.measures.interactions import Interactions
from pedanova.measures.plane import PairDensity
from pedanova.reduction.result import ReducedSpace
from pedanova.report.asks import Shows
from pedanova.report.page.facts import rounded
from pedanova.report.page.question import Question
from pedanova.report.page.shapes import Shape, shape_of, spread_of
from pedanova.report.sentences import summarize
from pedanova.space.words import in_words

PLANE = 7  # coarse cells of each parameter on the plane of two
COLUMNS = (
    "ratio", "share", "low", "high", "p_value", "p_adjusted", "significant", "varied", "divergence", "activity",
    "n_target", "n_region", "raw_ratio", "raw_share",
)  # fmt: skip


def asked_of(a: Shows, question: Question) -> tuple[Shows, Region, Region]:
    """The analysis of the selected rows, and target and region inside it.

    Where rows are selected and good rows are those of all, a part of all rows is the objective where it ends.
    """
    if not question.selects:
        return a, question.target, question.region
    inner = a.within(*question.rows())
    if question.good == "selection" or a.levels.several:
        return inner, question.target, question.region
    return inner, by_value(a, question.target, question.of), by_value(a, question.region, question.of)


def by_value(a: Shows, rows: Region, of: str) -> Region:
    """The values of the objective at which a part of all rows begins and ends."""
    if rows.kind == "value" or rows.is_all:
        return rows
    begin, end = ((None if part in (None, 0, 1) else a.reach(part, of=of)[0]) for part in (rows.low, rows.high))
    low, high = (begin, end) if a.direction == "minimize" else (end, begin)
    if begin is not None:  # behind the best part: its last value does not belong to the band
        low, high = (math.nextafter(begin, math.inf), end) if low == begin else (end, math.nextafter(begin, -math.inf))
    return Region("value", low, high)


def answer(a: Shows, question: Question, *, sure: bool = True, **options: Any) -> dict[str, Any]:
    """Importances and densities; `sure` asks for intervals and p-values too."""
    how = {**options, "of": question.of} | ({} if sure else {"draws": 0})
    try:
        inner, target, region = asked_of(a, question)
        found = inner.importance(target, region, question.baseline, **how)
    except QueryError as error:
        return {"question": question.to_json(), "refused": str(error), "sure": sure}
    densities = inner.all_densities(
        target, region, **{k: v for k, v in how.items() if k in ("estimator", "seed", "of")}
    )
    return {
        "question": question.to_json(),
        "refused": None,
        "sure": sure,
        "by": found.estimator,
        "words": {"target": found.target, "region": found.region},
        "summary": summarize(found),
        "rows": {"selected": inner.rows, "region": found.rows[0].n_region, "target": found.rows[0].n_target},
        "importances": [importance_row(row) for row in found.rows],
        "trials": [importance_row(row) for row in found.trials] or None,
        "densities": {name: density_to_json(density) for name, density in densities.items()},
        "notes": [str(note) for note in found.notes],
    }


def importance_row(row: Importance) -> dict[str, Any]:
    return {"parameter": row.name} | {name: exact(getattr(row, name)) for name in COLUMNS}


def density_to_json(density: Densities, shape: Shape | None = None) -> dict[str, Any]:
    spread = spread_of(density, shape or shape_of(density))
    drawn = {name: digits(getattr(spread, name)) for name in ("target", "region", "uniform")}
    good = {base: {"at": digits(np.array(shade.at), 6), "words": shade.words} for base, shade in spread.good.items()}
    return {**drawn, "good": good, "missing": [rounded(spread.missing_target), rounded(spread.missing_region)]}


def pairs(a: Shows, question: Question, names: Sequence[str], **options: Any) -> dict[str, Any]:
    """Interactions of every two of these parameters, the largest first."""
    how = some(options, "estimator", "seed") | {"of": question.of}
    try:
        inner, target, region = asked_of(a, question)
        found = inner.interactions(target, region, params=names, **how)
    except PedanovaError as error:
        return {"refused": str(error)}
    return {"refused": None, "cells": found.cells, "rows": pair_rows(found), "notes": [str(n) for n in found.notes]}


def pair_rows(found: Interactions) -> list[dict[str, Any]]:
    columns = ("first", "second", "interaction", "closed", "additive", "redundancy", "p_adjusted", "significant")
    return [{name: exact(getattr(row, name)) for name in columns} for row in found.rows]


def plane(a: Shows, question: Question, first: str, second: str) -> dict[str, Any]:
    """Rows of target and region on the plane of two parameters."""
    try:
        inner, target, region = asked_of(a, question)
        return plane_to_json(inner.pair(first, second, target, region, cells=PLANE))
    except PedanovaError as error:
        return {"refused": str(error)}


def plane_to_json(found: PairDensity) -> dict[str, Any]:
    return {
        "refused": None,
        "first": found.first,
        "second": found.second,
        "first_cells": list(found.first_cells),
        "second_cells": list(found.second_cells),
        "target": found.target.tolist(),
        "region": found.region.tolist(),
    }


def targets(a: Shows, question: Question, parts: Sequence[object], **options: Any) -> dict[str, Any]:
    """The same importances for one target after the other."""
    how = {**options, "of": question.of}
    try:
        inner, _, region = asked_of(a, question)
        found = inner.profile(region, question.baseline, ladder=parts, **how)
    except PedanovaError as error:
        return {"refused": str(error)}
    return {
        "refused": None,
        "columns": {name: [exact(cell) for cell in cells] for name, cells in found.to_dict().items()},
    }


def smaller_space(a: Shows, question: Question, **options: Any) -> dict[str, Any]:
    """The space that `reduce` suggests for the target, or why none."""
    how = some(options, "estimator", "seed")
    try:
        inner, target, _ = asked_of(a, question)
        return space_to_json(inner.reduce(target, **how))
    except PedanovaError as error:
        return {"refused": str(error)}


def space_to_json(reduced: ReducedSpace) -> dict[str, Any]:
    rows = [
        {
            "name": row.name,
            "advice": row.advice,
            "now": in_words(row.before),
            "suggested": row.suggested(),
            "why": row.reason,
        }
        for row in reduced.rows
    ]
    try:
        code = reduced.as_code()
    except PedanovaError:
        code = ""
    return {
        "refused": None,
        "target": reduced.target,
        "summary": reduced.summary(),
        "rows": rows,
        "notes": list(dict.fromkeys(str(note) for note in reduced.notes)),
        "code": code,
    }


def some(options: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: options[name] for name in names if name in options}


def digits(values: Any, many: int = 4) -> list[Any]:
    """Numbers that are only drawn."""
    return [rounded(float(value), many) for value in values]


def exact(value: Any) -> Any:
    """As JSON can say it, with every digit."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value.item() if isinstance(value, np.generic) else value
