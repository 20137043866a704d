"""Answers to the page's requests as JSON; the Python call that the page shows gives exactly the same numbers."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from pedanova.base.digits import short
from pedanova.base.notes import gathered
from pedanova.base.threads import RESULTS
from pedanova.data.regions import Region, part_in_words
from pedanova.errors import PedanovaError, QueryError
from pedanova.measures.advice.advise import gains_of
from pedanova.measures.bins import Bins
from pedanova.measures.densities import Densities, PairDensity
from pedanova.measures.effects import binned_marginal
from pedanova.measures.importance import Importance
from pedanova.measures.question import DEFAULT, ROWS, Baseline, Question
from pedanova.measures.questions import ask
from pedanova.measures.questions.trial_data import TrialData
from pedanova.measures.studies.budgets import along_budgets
from pedanova.measures.studies.study_difference import difference_of_answers
from pedanova.measures.surrogate.row_model import RowModel
from pedanova.reduction.reduce import reduce_space
from pedanova.reduction.result import ReducedSpace, inside_box
from pedanova.report.page import facts
from pedanova.report.page.page_question import LAST, box_of, lines_of, question_to_json
from pedanova.space.exports import export
from pedanova.space.parameters import in_words

Given = ParamSpec("Given")
Value = TypeVar("Value")
COLUMNS = (
    "ratio", "share", "low", "high", "p_value", "p_adjusted", "significant", "varied", "divergence", "n_target",
    "n_region",
)  # fmt: skip


def asked_of(a: TrialData, question: Question, *options: str) -> tuple[TrialData, Question]:
    """The rows that a question selects, and the question about them with only the `options` that matter."""
    inner, asking = a.selected(a.widened(question))
    return inner, Question(asking.target, asking.region, **{name: getattr(question, name) for name in options})


def importance_rows(rows: Sequence[Importance]) -> list[dict[str, Any]]:
    return [{"parameter": row.name} | row_to_json(row, COLUMNS) for row in rows]


def row_to_json(row: object, columns: Sequence[str]) -> dict[str, Any]:
    return {name: facts.exact(getattr(row, name)) for name in columns}


def rows_of(rows: Sequence[object], columns: Sequence[str]) -> list[dict[str, Any]]:
    return [row_to_json(row, columns) for row in rows]


def refusing(answer: Callable[Given, dict[str, Any]]) -> Callable[Given, dict[str, Any]]:
    """Wrap a function so that it returns the error message as JSON instead of raising an error."""

    @wraps(answer)
    def answered(*args: Given.args, **kwargs: Given.kwargs) -> dict[str, Any]:
        try:
            return {"refused": None} | answer(*args, **kwargs)
        except PedanovaError as error:
            return {"refused": str(error)}

    return answered


def ranking(
    a: TrialData,
    question: Question,
    *,
    sure: bool = True,
    drawn: bool = True,
    names: Sequence[str] | None = None,
    source: str | None = "",
) -> dict[str, Any]:
    """The importances as JSON; `drawn` adds densities, and `sure` adds intervals, p-values and notes.

    Without `sure`, the answer is quick: for a large table it uses a sample, unless the counts of all rows suffice.
    `names` are the parameters on the screen. If they are given, quick answers use counts until a model is fitted.
    If rows are selected, "the best 10 % of all rows" becomes a limit, such as "error ≤ 0.03", and means the same rows.
    """
    if names is not None and not sure:
        question = by_counts_at_first(a, question)
    plain = question_to_json(question, facts.columns_of(a))
    result = {"question": plain, "sure": sure, "sample": None, "refused": None}
    sample = None if sure else some_rows(a, question)
    rows = a if sample is None else sample
    try:
        asking = a.by_limits(question, sample)
        if sure or question.parts == "selected":
            rows.selected(asking)  # raises an error at once if there are too few rows
    except PedanovaError as error:
        return result | {"refused": str(error), "lines": None, "bands": None} | counted(a, question)
    asked, asking = asking, rows.widened(asking)
    result |= {"sample": None if sample is None else sample.rows, "bands": bands_of(a, question, rows, asking)}
    if question.parts == "selected" and question.within and not a.levels.several:
        result["reached"] = facts.reached_by(rows.selected(asking)[0])  # the strip then shows the selected rows
    result["lines"] = lines_of(asking, source)
    weight = a.rows / rows.rows  # the number of rows that each sampled row represents
    try:
        table = numbers(rows, asked, weight, sure=sure, names=names)
        return result | table | ({"densities": drawn_densities(a, rows, question, asking, sure=sure)} if drawn else {})
    except PedanovaError as error:
        return result | {"refused": str(error)} | what_can_be_drawn(a, rows, question, asking, weight)


@refusing
def densities(a: TrialData, question: Question, names: Sequence[str] | None = None) -> dict[str, Any]:
    """The densities of all parameters, or only of `names`, as JSON."""
    if names is not None:
        question = by_counts_at_first(a, question)
    sample = some_rows(a, question)
    rows, asking = a if sample is None else sample, a.by_limits(question, sample)
    if names is None:
        return {"densities": drawn_densities(a, rows, question, asking, sure=False)}
    return {"densities": drawn(rows.at_once(asking, names).as_drawn.densities, question, facts.bins_for(a))}


def by_counts_at_first(a: TrialData, question: Question) -> Question:
    """The question to the counts, as long as no model is fitted."""
    unfitted = isinstance(a.row_model, RowModel) and not a.row_model.is_fitted
    return replace(question, estimator="counts", of="rows") if unfitted and not question.by_rows else question


def without_paper(question: Question) -> Question:
    """The question to the default estimator, if the paper's estimator does not define the answer."""
    return replace(question, estimator=DEFAULT.estimator) if question.estimator == "paper" else question


def counted(a: TrialData, question: Question) -> dict[str, Any]:
    """The number of selected rows as JSON, for a question that cannot be answered."""
    if a.observations is None or not question.within:
        return {}
    return {"rows": {"selected": int(np.count_nonzero(a.mask_of(question.within)[0])), "region": None, "target": None}}


def some_rows(a: TrialData, question: Question) -> TrialData | None:
    """A sample of the rows for a quick first answer, or None if an answer from all rows is quick enough."""
    bands = (Region.parse(one, "target") for one in (question.target, question.region))
    if a.excerpt is None or (not question.within and a.has_counts_for(*bands)):
        return None
    return a.excerpt


def numbers(
    rows: TrialData, asking: Question, weight: float, *, sure: bool, names: Sequence[str] | None = None
) -> dict[str, Any]:
    if sure:
        table, selected = ask.importance_or_wider(rows, asking, good=False), rows.selected(asking)[0].rows
    else:
        glance = rows.at_once(rows.widened(asking), names)
        table, selected = glance.importances, glance.count
    first = table.rows[0]
    importances = importance_rows(table.rows)
    if not sure and names is not None:  # ratios need all parameters
        importances = [row | {"ratio": None} for row in importances]
    return {
        "by": table.estimator,
        "words": {"target": table.target, "region": table.region},
        "summary": table.summary(),
        "rows": numbers_of_rows(weight, selected, first.n_region, first.n_target),
        "importances": importances,
        "copies": dict(table.copies),
        "trials": importance_rows(table.trials) or None,
        "notes": [str(note) for note in table.notes],
    }


def numbers_of_rows(
    weight: float, selected: int, region: int | None = None, target: int | None = None
) -> dict[str, int | None]:
    counts = {"selected": selected, "region": region, "target": target}
    return {name: None if rows is None else round(weight * rows) for name, rows in counts.items()}


def drawn_densities(
    a: TrialData, rows: TrialData, question: Question, asking: Question, *, sure: bool
) -> dict[str, Any]:
    """The densities as JSON, in the bins that the page draws."""

    def make() -> dict[str, Any]:
        query = rows.resolved(asking) if sure else rows.at_once(asking)
        return drawn(query.as_drawn.densities, question, facts.bins_for(a))

    key = json.dumps(question_to_json(question, facts.columns_of(a))), question.estimator, question.seed
    return RESULTS.get(rows, ("drawn", *key), make)


def what_can_be_drawn(
    a: TrialData, rows: TrialData, question: Question, asking: Question, weight: float
) -> dict[str, Any]:
    """The densities and the number of rows, if there are too few rows for a ranking."""
    try:
        inner, plain = rows.selected(asking)
    except PedanovaError:
        return counted(rows, question)
    try:
        query = inner.resolved(plain).as_drawn
        sizes = int(query.contrasts[0].region.sum()), int(query.contrasts[0].target.sum())
        known = numbers_of_rows(weight, inner.rows, *sizes)
    except PedanovaError:
        return {"rows": numbers_of_rows(weight, inner.rows)}
    try:
        return {"rows": known, "densities": drawn(query.densities, question, facts.bins_for(a))}
    except PedanovaError:
        return {"rows": known}


def drawn(densities: Mapping[str, Densities], question: Question, shapes: Mapping[str, Bins]) -> dict[str, Any]:
    baseline = cast("Baseline", question.baseline)
    result = {name: facts.density_to_json(one, shapes[name], baseline) for name, one in densities.items()}
    for name, bounds in box_of(question).items():
        if isinstance(bounds, tuple) and name in result and shapes[name].edges is not None:
            result[name]["good"] = facts.inside_span(result[name]["good"], bounds)
    return result


def column_densities(a: TrialData, question: Question, names: Sequence[str] | None = None) -> dict[str, Any]:
    """The densities of columns that are not parameters, from counts, as JSON; {} if the question has too few rows."""
    others, rows = facts.others_of(a), a.excerpt or a
    some = None if others is None or names is None else [name for name in names if name in others.space]
    if others is None or some == []:
        return {}
    try:
        inner, asking = rows.selected(rows.widened(a.by_limits(question, a.excerpt)))
        of = "rows" if question.by_rows else question.of
        bands = [Region.parse(one, "target") for one in (asking.target, asking.region)]
        target, region = bands if a.levels.several else (inner.by_value(band, of) for band in bands)
        plain = Question(target, region, within=question.within, parts="selected", estimator="counts", of="rows")
        query = others.at_once(replace(plain, baseline=question.baseline, smoothing=question.smoothing), some)
        return drawn(query.as_drawn.densities, question, facts.bins_for(others))
    except PedanovaError:
        return {}


def bands_of(a: TrialData, question: Question, rows: TrialData, asking: Question) -> dict[str, dict[str, Any]]:
    """Target and region as they were answered: in words for a chip and for a sentence, with limits of the objective.

    The chips, the strip and the headline show these texts, so they have the same digits everywhere.
    """
    own = question.parts == "selected" and bool(question.within)
    whole, bands = rows.selected(asking)[0] if own else a, {}
    wide = a.widened(question if own else replace(question, within=()))
    for name, band, asked in (("target", asking.target, wide.target), ("region", asking.region, question.region)):
        limits, known = Region.parse(band, name), Region.parse(asked, name)
        counted = not a.levels.several and whole.has_counts_for(limits)
        values = whole.by_value(limits, question.of) if counted else limits
        ends = [facts.exact(values.low), facts.exact(values.high)] if values.kind == "value" else [None, None]
        limit = "" if values.kind != "value" else f"{a.objective} {limits_in_words(*ends)}"
        part = f"{known}{' of these rows' * (own and not known.is_all)}"
        chip, said = part.removeprefix("the "), f"is in {part}{f' ({limit})' * bool(limit)}"
        if known.kind == "quantile" and known.low:
            first, last = (part_in_words(Fraction(end)) for end in (known.low, known.high or 1))
            chip = f"{first} to {last}{' of these rows' * own}"
        if known.kind == "value":
            chip, said, limit = limit, f"has {limit}", ""
        bands[name] = {"words": chip, "limit": limit, "reached": said, "ends": ends}
    return bands


def limits_in_words(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return f"≥ {short(low)}" if high is None else f"≤ {short(high)}"
    return f"= {short(low)}" if low == high else f"from {short(low)} to {short(high)}"


PLANE = 7  # coarse cells of each parameter on the plane of two
PAIR_COLUMNS = (
    "first", "second", "interaction", "closed", "additive", "redundancy", "low", "high", "p_adjusted", "significant",
)  # fmt: skip
DIFFERENCE_COLUMNS = ("share", "other", "difference", "low", "high", "clear")


@refusing
def pairs(a: TrialData, question: Question, names: Sequence[str] | None) -> dict[str, Any]:
    """The interactions of all pairs of the parameters `names` as JSON, the largest first."""
    result = ask.interactions_of(*asked_of(a, without_paper(question), "estimator", "seed", "of"), params=names)
    return {
        "cells": result.cells,
        "rows": rows_of(result.rows, PAIR_COLUMNS),
        "notes": [str(note) for note in result.notes],
    }


@refusing
def plane(a: TrialData, question: Question, first: str, second: str) -> dict[str, Any]:
    inner, asking = asked_of(a, question)
    return plane_to_json(ask.pair_plane(inner, (first, second), asking, PLANE))


def plane_to_json(density: PairDensity) -> dict[str, Any]:
    return {
        "refused": None,
        "first": density.first,
        "second": density.second,
        "first_cells": list(density.first_cells),
        "second_cells": list(density.second_cells),
        "target": density.target.tolist(),
        "region": density.region.tolist(),
    }


@refusing
def smaller_space(a: TrialData, question: Question) -> dict[str, Any]:
    """The smaller space that `reduce` suggests, as JSON, or the reason why there is none."""
    inner, asking = asked_of(a, without_paper(question), "estimator", "seed")
    return space_to_json(inside_box(reduce_space(inner, replace(asking, region=DEFAULT.region)), box_of(question)))


FORMS = {
    "Optuna": "code", "Ray Tune": "raytune", "ConfigSpace": "configspace", "W&B": "wandb", "scikit-learn": "sklearn",
    "JSON": "json",
}  # fmt: skip


def space_to_json(reduced: ReducedSpace) -> dict[str, Any]:
    """The reduced space as JSON, and as text in the formats of all tools that can represent it."""
    codes = {}
    for tool, form in FORMS.items():
        with suppress(PedanovaError):
            codes[tool] = export(reduced.space, form)
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
    return {
        "target": reduced.target,
        "summary": reduced.summary(),
        "rows": rows,
        "notes": list(dict.fromkeys(str(note) for note in reduced.notes)),
        "code": codes.get("Optuna", ""),
        "codes": codes,
    }


@refusing
def gains(a: TrialData, question: Question) -> dict[str, Any]:
    """The gains of tuning in the selected rows, compared with their typical configuration, as JSON."""
    result = gains_of(asked_of(a, question)[0], None, 1.0, question.seed)
    amounts = ("gain", "low", "high")
    return {
        "summary": result.summary(),
        "rows": rows_of(result.rows, ("name", "default", "best", *amounts, "left_high", "verdict")),
        "path": rows_of(result.path.rows, ("name", "before", "after", *amounts, "objective")),
        "notes": [str(note) for note in result.notes],
    }


MEAN_DIGITS = 3  # digits relative to the drawn range; more would be less than a pixel


@refusing
def marginals(a: TrialData, question: Question) -> dict[str, Any]:
    """The mean objective for each value, in the bins of the densities; the target is not used."""
    inner, asking = asked_of(a, question)
    effects = ask.effects_within(inner, asking.region)
    shapes = facts.bins_for(a)
    binned = {effect.name: binned_marginal(effect.marginal, shapes[effect.name]) for effect in effects.rows}
    means = np.concatenate([one.mean for one in binned.values()])
    span = float(np.nanmax(means) - np.nanmin(means)) if np.isfinite(means).any() else 0.0
    places = MEAN_DIGITS - math.floor(math.log10(span)) if span > 0 else 15
    return {
        "rows": effects.n_region,
        "mean": facts.exact(effects.mean),
        "parameters": [
            {
                "parameter": effect.name,
                "share": facts.exact(effect.share),
                "rows": [int(rows) for rows in binned[effect.name].rows],
                **{end: rounded_means(getattr(binned[effect.name], end), places) for end in ("mean", "low", "high")},
                "missing": [
                    effect.marginal.missing_rows,
                    *rounded_means(np.array([effect.marginal.missing_mean]), places),
                ],
            }
            for effect in effects.rows
        ],
        "notes": [str(note) for note in effects.notes],
    }


def rounded_means(values: NDArray[np.float64], places: int) -> list[float | None]:
    return [round(value, places) if math.isfinite(value) else None for value in values.tolist()]


ORDER_OF_FRONTS = (
    "Rows are ordered by Pareto fronts. A row is in the first front if no other row is better in one objective and "
    "at least as good in the others. The second front is found in the same way among the remaining rows, and so on. "
    "Inside a front, isolated rows come first."
)


MOST_MODELLED = 5  # with more objectives, counts answer, because models would take too long


@refusing
def objectives(a: TrialData, question: Question, *, across: int = 0, up: int = 1) -> dict[str, Any]:
    """The shares for each objective and for all together, and a plot; `across` is the objective on x, `up` on y."""
    inner, asking = a.selected(question)
    goals = [goal.name for goal in inner.observed().goals]
    if max(across, up) >= len(goals) or across == up:
        raise QueryError(f"{across} and {up} must be two different objectives, numbered from 0 to {len(goals) - 1}")
    brief = len(goals) > MOST_MODELLED
    if brief:
        asking = replace(asking, estimator="counts", draws=0)
    answers = ask.compare_objectives(inner, asking)
    plane = inner.goal_plane(asking.target, asking.region, (across, up))
    places = np.argwhere(plane.region > 0).tolist()
    cells = [[i, j, *(int(table[i, j]) for table in (plane.region, plane.target, plane.front))] for i, j in places]
    axes = [
        {"name": name, "direction": direction, "log": log, "edges": [facts.rounded(edge, 6) for edge in edges.tolist()]}
        for name, direction, log, edges in zip(plane.names, plane.directions, plane.log, plane.edges, strict=True)
    ]
    return {
        "best": ORDER_OF_FRONTS + " The importances come from counts, without intervals." * brief,
        "names": goals,
        "importances": {name: importance_rows(one.rows) for name, one in answers.items()},
        "plane": {"axes": axes, "cells": cells},  # cells with rows: column, line, rows, good rows, front rows
    }


@refusing
def along_budget(a: TrialData, question: Question, budget: str | None = None) -> dict[str, Any]:
    """The shares at each budget for the question's target, and the lowest budget with the final ranking.

    The selection is ignored, because it contains only rows at the full budget.
    """
    along = along_budgets(a, budget, replace(question, region=DEFAULT.region, within=()))
    return {
        "name": along.name,
        "summary": along.summary(),
        "since": facts.exact(along.since),
        "steps": [
            {
                "budget": facts.exact(step.budget),
                "rows": step.rows,
                "cost": facts.exact(along.cost(step)),
                **{name: facts.exact(getattr(step.agreement, name)) for name in ("spearman", "low", "high")},
                "ranking": along.verdict_in_words(step),
                "importances": importance_rows(step.importances.rows),
            }
            for step in along.steps
        ],
        "left_out": rows_of(along.left_out, ("budget", "rows")),
        "notes": [str(note) for note in gathered(along.notes)],
    }


@refusing
def difference_of(
    a: TrialData, question: Question, other: Question, *, beside: TrialData | None = None
) -> dict[str, Any]:
    """The differences between the shares for `question` and for `other` as JSON, the clearest difference first.

    `beside` is the analysis that `other` is about; None if `other` is also about `a`.
    """
    other = replace(question, **{name: getattr(other, name) for name in (*ROWS, *LAST)})
    both = [(data, data.by_limits(each)) for data, each in ((a, question), (beside or a, other))]
    one, two = (ask.importance_of(*each) for each in both)
    lines = [str(lines_of(each)["python"]) for _, each in both]
    result = difference_of_answers(one, two)
    return {
        "rows": [{"parameter": row.name} | row_to_json(row, DIFFERENCE_COLUMNS) for row in result.rows],
        "notes": [str(note) for note in result.notes],
        "lines": {"python": f"pa.difference({', '.join(lines)})"},
    }
