"""Answers of the page's tabs, as JSON: pairs, targets, means, smaller space, objectives, budgets, rows, A or B."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.base.notes import gathered
from pedanova.base.table import Cell
from pedanova.counting.goal_plane import GoalPlane
from pedanova.data.trials import Trials
from pedanova.errors import PedanovaError, QueryError
from pedanova.measures.effects import BinnedMarginal, Effect, binned_marginal
from pedanova.measures.importance import Importances
from pedanova.measures.interactions import Interactions
from pedanova.measures.plane import PairDensity
from pedanova.measures.studies.study_difference import Difference, difference_of_answers
from pedanova.reduction.result import ReducedSpace, inside_box
from pedanova.report.asks import Shows
from pedanova.report.page.answers import asked_of, importance_row, inside, some
from pedanova.report.page.lines import condition_of, lines_of
from pedanova.report.page.question import PageQuestion, labels_by_text
from pedanova.report.page.shapes import bins_for, digits, exact
from pedanova.space.parameters import Space, in_words

PLANE = 7  # coarse cells of each parameter on the plane of two


def pairs(a: Shows, question: PageQuestion, names: Sequence[str] | None, **options: Any) -> dict[str, Any]:
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


def plane(a: Shows, question: PageQuestion, first: str, second: str, **_: Any) -> dict[str, Any]:
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


def targets(a: Shows, question: PageQuestion, parts: Sequence[object] | None, **options: Any) -> dict[str, Any]:
    """The same importances for one target after the other, all of them parts of the selected rows."""
    how = {**options, "of": question.of} | {"draws": 0}
    how.pop("force", None)
    try:
        inner, _, region = asked_of(a, question)
        found = inner.profile(region, question.baseline, ladder=parts, **how)
    except PedanovaError as error:
        return {"refused": str(error)}
    return {
        "refused": None,
        "columns": {name: [exact(cell) for cell in cells] for name, cells in found.to_dict().items()},
    }


def smaller_space(a: Shows, question: PageQuestion, **options: Any) -> dict[str, Any]:
    """The space that `reduce` suggests for the target, or why none."""
    how = some(options, "estimator", "seed")
    try:
        inner, target, _ = asked_of(a, question)
        return space_to_json(inside_box(inner.reduce(target, **how), question.box()))
    except PedanovaError as error:
        return {"refused": str(error)}


FORMS = {"Optuna": "code", "Ray Tune": "raytune", "ConfigSpace": "configspace", "W&B": "wandb", "JSON": "json"}


def codes_of(reduced: ReducedSpace) -> dict[str, str]:
    """The space in the words of other tools, of those that can say it."""
    found = {}
    for tool, form in FORMS.items():
        with suppress(PedanovaError):
            found[tool] = reduced.export(form)
    return found


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
        "codes": codes_of(reduced),
    }


MEAN_DIGITS = 3  # of the spread of what is drawn: less is below a pixel


def marginals(a: Shows, question: PageQuestion, **_: Any) -> dict[str, Any]:
    """`Analysis.effects` of the region, and its marginals by the bars and steps of the densities; target aside."""
    try:
        inner, _target, region = asked_of(a, question)
        found = inner.effects(region)
    except PedanovaError as error:
        return {"refused": str(error)}
    shapes = bins_for(a)
    binned = {effect.name: binned_marginal(effect.marginal, shapes[effect.name]) for effect in found.rows}
    places = places_of(list(binned.values()))
    return {
        "refused": None,
        "rows": found.n_region,
        "mean": exact(found.mean),
        "parameters": [effect_to_json(effect, binned[effect.name], places) for effect in found.rows],
        "notes": [str(note) for note in found.notes],
    }


def places_of(binned: list[BinnedMarginal]) -> int:
    """Decimal places to which means are told."""
    means = np.concatenate([one.mean for one in binned])
    span = float(np.nanmax(means) - np.nanmin(means)) if np.isfinite(means).any() else 0.0
    return MEAN_DIGITS - math.floor(math.log10(span)) if span > 0 else 15


def effect_to_json(effect: Effect, binned: BinnedMarginal, places: int) -> dict[str, Any]:
    marginal = effect.marginal
    return {
        "parameter": effect.name,
        "share": exact(effect.share),
        "rows": [int(rows) for rows in binned.rows],
        "mean": rounded_means(binned.mean, places),
        "low": rounded_means(binned.low, places),
        "high": rounded_means(binned.high, places),
        "missing": [marginal.missing_rows, *rounded_means(np.array([marginal.missing_mean]), places)],
    }


def rounded_means(values: NDArray[np.float64], places: int) -> list[float | None]:
    return [round(value, places) if math.isfinite(value) else None for value in values.tolist()]


ORDER_OF_FRONTS = (
    "Rows are ordered by fronts: first those that no other row beats in every objective at once, then those beaten "
    "only by these, and so on; inside a front, rows with more room around them come first."
)


def objectives(a: Shows, question: PageQuestion, **options: Any) -> dict[str, Any]:
    """Shares for each objective and for all together, and the plane of the first two."""
    try:
        inner, target, region = asked_of(a, question)
        found = inner.by_objective(target, region, baseline=question.baseline, of=question.of, **options)
        plane = inner.goal_plane(target, region)
    except PedanovaError as error:
        return {"refused": str(error)}
    return {
        "refused": None,
        "best": ORDER_OF_FRONTS,
        "importances": {name: [importance_row(row) for row in one.rows] for name, one in found.items()},
        "plane": plane_of_goals(plane),
    }


def plane_of_goals(plane: GoalPlane) -> dict[str, Any]:
    """Cells that hold rows, as [across, up, rows, good rows, rows of the front]."""
    held = np.argwhere(plane.region > 0).tolist()
    cells = [[i, j, *(int(table[i, j]) for table in (plane.region, plane.target, plane.front))] for i, j in held]
    axes = [
        {"name": name, "direction": direction, "log": log, "edges": digits(edges, 6)}
        for name, direction, log, edges in zip(plane.names, plane.directions, plane.log, plane.edges, strict=True)
    ]
    return {"axes": axes, "cells": cells}


def along_budget(
    a: Shows, question: PageQuestion, budget: str | Mapping[float, str] | None = None, **options: Any
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


def difference_of(
    a: Shows, question: PageQuestion, other: PageQuestion, *, beside: Shows | None = None, **options: Any
) -> dict[str, Any]:
    """Shares of the question less those of the other one, the clearest difference first.

    `beside`: the analysis that the other one is asked of, where it is not the same.
    """
    both = ((a, question), (a if beside is None else beside, other))
    try:
        one, two = (importances_of(of, each, options) for of, each in both)
        found = difference_of_answers(one, two)
    except PedanovaError as error:
        return {"refused": str(error)}
    return {
        "refused": None,
        "summary": found.in_words(*(place_of(each, f"in {name}") for each, name in ((question, "B"), (other, "A")))),
        "rows": [row_to_json(row) for row in found.rows],
        "notes": [str(note) for note in found.notes],
        "lines": {"python": f"pa.difference({', '.join(line_of(of, each, options) for of, each in both)})"},
    }


def importances_of(a: Shows, question: PageQuestion, options: dict[str, Any]) -> Importances:
    here = inside(a, question)
    return here.analysis.importance(here.target, here.region, question.baseline, **options, of=question.of)


def line_of(a: Shows, question: PageQuestion, options: dict[str, Any]) -> str:
    here = inside(a, question)
    return str(lines_of(question, here.target, here.region, options=options)["python"])


def place_of(question: PageQuestion, name: str) -> str:
    """Where a question stands, in words that fit into a sentence."""
    condition = condition_of(question)
    if condition == "":
        return "in all rows"
    return f"where {condition}" if condition and len(condition) <= 60 else name


def row_to_json(row: Difference) -> dict[str, Any]:
    names = ("share", "other", "difference", "low", "high", "clear")
    return {"parameter": row.name} | {name: exact(getattr(row, name)) for name in names}


def trials(
    a: Shows, question: PageQuestion, sort: str | None, descending: bool, offset: int, limit: int, **_: Any
) -> dict[str, Any]:
    """A page of the table of rows, best first or in the order of a column."""
    how = {"sort": sort, "descending": descending, "offset": offset, "limit": limit}
    return of_rows(a, question, infinite=True, **how)


def parallel(a: Shows, question: PageQuestion, limit: int, **_: Any) -> dict[str, Any]:
    """A sample of the rows with all their settings."""
    return of_rows(a, question, limit=None, sample=limit)


def points(a: Shows, question: PageQuestion, x: str, y: str, limit: int, **_: Any) -> dict[str, Any]:
    """A sample of the rows on the plane of two parameters."""
    return of_rows(a, question, limit=None, sample=limit, params=list(dict.fromkeys((x, y))))


def of_rows(a: Shows, question: PageQuestion, *, infinite: bool = False, **how: Any) -> dict[str, Any]:
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
    columns = {name: [cell_to_json(cell, infinite=infinite) for cell in cells] for name, cells in found.columns.items()}
    for name in found.parameters:
        texts = {label: text for text, label in labels_by_text(space[name]).items()}
        if texts:
            columns[name] = labels_in_words(found.columns[name], texts)
    return {
        "refused": None,
        "objectives": list(found.objectives),
        "parameters": list(found.parameters),
        "total": found.total,
        "columns": columns,
    }


def labels_in_words(cells: Sequence[Cell], texts: dict[Any, str]) -> list[str | None]:
    """Names as the page writes them."""
    return [None if cell is None else texts.get(cell, str(cell)) for cell in cells]


def cell_to_json(cell: Cell, *, infinite: bool) -> Any:
    """As JSON can say it; in a table infinity is a word."""
    if infinite and isinstance(cell, float) and math.isinf(cell):
        return "inf" if cell > 0 else "-inf"
    return exact(cell)
