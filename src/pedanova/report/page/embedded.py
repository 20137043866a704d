"""All answers that a file can give: those to every two steps of the objective's edges, as the server would give them.

Each is the JSON of `answers.py` under the question it answers, so the page need not know who answers it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

from pedanova.base.notes import shortened
from pedanova.base.progress import watched
from pedanova.data.regions import Region, as_region
from pedanova.errors import PedanovaError, QueryError
from pedanova.measures.question import Baseline, Question, check_how
from pedanova.report.asks import Shows
from pedanova.report.page import answers, tabs
from pedanova.report.page.facts import RUNGS, Ladder, facts_of, ladder_of, part_of
from pedanova.report.page.groups import SHOWN, side_by_side
from pedanova.report.page.question import PageQuestion, Picks, Span, labels_by_text, parse_part
from pedanova.report.page.shapes import bins_for, rounded
from pedanova.report.page.tabs import along_budget, marginals, objectives
from pedanova.space.parameters import Space

TITLE = "Hyperparameter importance"
QUESTIONS = ((0.1, 1.0), (0.02, 0.1))
BASELINES: tuple[Baseline, ...] = ("region", "uniform")
ALL_PAIRED, MOST_PAIRED = 14, 10  # up to so many parameters all are paired, beyond that the most important
Payload = dict[str, Any]  # {"facts": ..., "answers": [{"part", "question", "extra", "answer"}, ...]}


def payload_of(
    a: Shows,
    title: str = TITLE,
    questions: Sequence[tuple[object, object]] = QUESTIONS,
    *,
    ladder: Iterable[object] | None = None,
    reduce: bool = True,
    within: object = None,
    budget: str | Mapping[float, str] | None = None,
    group: str | None = None,
    **options: Any,
) -> Payload:
    """Facts and answers of the static page; `options` are those of `Analysis.importance`."""
    a = a if within is None else a.within(within)
    if group is not None:
        a.groups(group)  # a column that names no studies is an error before the long work
    plain, wanted = check_options(options), check_questions(questions)
    modelled = plain["estimator"] != "counts" and plain["smoothing"] == "auto"
    how = {"force": plain["force"], "of": plain["of"] if modelled else "rows", "seed": plain["seed"]}
    steps = ladder_of(a, {p for pair in wanted for p in pair if p}, ladder, usual=RUNGS, **how)
    baseline, of = plain.pop("baseline"), plain.pop("of")
    own = [as_question(a, steps, *one, baseline=baseline, of=of) for one in questions]
    asked = all_questions(steps, own, of)
    each = watched(asked, "questions of the page", len(asked), verb="answering")
    answered = [discreet(answers.answer(a, one, **plain)) for one in each]
    own[0] = opening(own[0], asked, answered)
    given = [entry("answer", one, found) for one, found in zip(asked, answered, strict=True)]
    for one in distinct(own):
        given.extend(pairs_of(a, one, plain))
    if reduce:
        given.append(entry("space", own[0], tabs.smaller_space(a, own[0], **plain)))
    if a.levels.several:
        given.append(entry("objectives", own[0], objectives(a, own[0], **plain)))
    else:
        given += means_of(a, steps, own)
    given += followed(a, own[0], budget, plain)
    given += studies_of(a, own[0], group, plain)
    notes = shortened([*a.notes, *steps.notes])
    shapes = bins_for(a)
    facts = facts_of(a, title.strip() or TITLE, steps, shapes, own[0], notes)
    told = next((one["answer"]["name"] for one in given if one["part"] == "along"), None)
    means = any(one["part"] == "marginal" for one in given)
    return {"facts": facts | {"budget": told, "means": means, "group": group}, "answers": given}


def means_of(a: Shows, steps: Ladder, own: Sequence[PageQuestion]) -> list[dict[str, Any]]:
    """The mean objective along the parameters, in the region of every step; of many parameters in the first alone."""
    regions = [as_region(rung.part, "region") for rung in steps.rungs[1:]] if len(a.space) <= ALL_PAIRED else []
    asked = distinct([own[0], *(replace(own[0], region=one, selection={}) for one in regions)])
    return [entry("marginal", one, found) for one in asked if (found := marginals(a, one))["refused"] is None]


def followed(
    a: Shows, first: PageQuestion, budget: str | Mapping[float, str] | None, options: dict[str, Any]
) -> list[dict[str, Any]]:
    """The first question along the budget that is named or that the source tells of; a wrong name is an error."""
    if budget is None and a.budget is None:
        return []
    whole = replace(first, region=as_region(1, "region"), selection={})
    found = along_budget(a, whole, budget, **options)
    if found["refused"] is not None:
        if budget is not None:
            raise QueryError(found["refused"])
        return []
    return [entry("along", one, found) for one in distinct([whole, first])]


def studies_of(a: Shows, first: PageQuestion, column: str | None, options: dict[str, Any]) -> list[dict[str, Any]]:
    """The first question asked of every study; of many, those are shown that agree least with the others."""
    if column is None:
        return []
    order = "disagreement" if len(a.groups(column)) > SHOWN else "name"
    return [entry("groups", first, side_by_side(a, first, column=column, order=order, **options))]


def opening(first: PageQuestion, asked: Sequence[PageQuestion], answered: Sequence[dict[str, Any]]) -> PageQuestion:
    """The question that is shown first: where it has too few rows, the strictest target that has enough."""
    good = [one for one, found in zip(asked, answered, strict=True) if found["refused"] is None]
    if first in good:
        return first
    alike = [one for one in good if (one.region, one.baseline) == (first.region, first.baseline)]
    return alike[0] if alike else first


def discreet(answer: dict[str, Any]) -> dict[str, Any]:
    """Where target and region end is the objective of single rows: for drawing, a few digits of it will do."""
    ends = answer.get("ends") or {}
    blurred = {name: [None if end is None else rounded(end) for end in both] for name, both in ends.items()}
    return {**answer, "ends": blurred or None}


def entry(part: str, question: PageQuestion, answer: dict[str, Any], **extra: Any) -> dict[str, Any]:
    return {"part": part, "question": question.to_json(), "extra": extra, "answer": answer}


def check_options(options: dict[str, Any]) -> dict[str, Any]:
    """The options of `importance`, completed; a wrong one is an error and no refused answer."""
    return dict(Question(**check_how(options, what="a report")).how)


def check_questions(questions: Sequence[tuple[object, object]]) -> list[tuple[Any, Any]]:
    """The parts that are asked for, None where it is something else than a part."""
    if not questions:
        raise QueryError("questions=[] must hold at least one (target, region), such as (0.1, 1.0)")
    wanted = [(part_of(target), part_of(region)) for target, region in questions]
    for target, region in wanted:
        if target and region and target >= region:
            raise QueryError(
                f"questions: target {float(target):g} must be below its region {float(region):g}; swap them"
            )
    return wanted


def as_question(a: Shows, steps: Ladder, target: object, region: object, *, baseline: Any, of: str) -> PageQuestion:
    """On the steps where it is one of them; a box is a selection."""
    selection = {}
    if isinstance(region, Mapping):
        selection, region = as_selection(region, a.space), 1
    bands = [as_band(steps, target, "target"), as_band(steps, region, "region")]
    return PageQuestion(target=bands[0], region=bands[1], selection=selection, baseline=baseline, of=of)


def as_band(steps: Ladder, rows: object, name: str) -> Region:
    part = part_of(rows)
    if part is None and not isinstance(rows, Region):
        raise QueryError(f"questions: a {name} on a page is a part or values of the objective; choose rows by within=")
    return as_region(rows if part is None else steps.rungs[steps.place(part)].part, name)


def as_selection(box: Mapping[Any, Any], space: Space) -> dict[str, Span | Picks]:
    """``{"lr": (1e-4, 1e-2), "optimizer": {"adam"}}`` as the page's selection."""
    return {name: parse_part(name, as_part_of(name, bounds, space), space) for name, bounds in box.items()}


def as_part_of(name: str, bounds: Any, space: Space) -> dict[str, Any]:
    if isinstance(bounds, tuple):
        return {"range": list(bounds)}
    texts = {label: text for text, label in labels_by_text(space[name]).items()} if name in space else {}
    picked = [bounds] if isinstance(bounds, str) or not isinstance(bounds, Iterable) else list(bounds)
    return {"labels": sorted(texts.get(label, str(label)) for label in picked)}


def all_questions(steps: Ladder, own: Sequence[PageQuestion], of: str) -> list[PageQuestion]:
    """Every two rungs, then what they cannot ask, against both baselines."""
    parts = [as_region(rung.part, "target") for rung in steps.rungs]
    plain = [PageQuestion(target=parts[i], region=parts[j], of=of) for i, j in combinations(range(len(parts)), 2)]
    every = [*plain, *(replace(one, baseline="region") for one in own)]
    return distinct(replace(one, baseline=base) for one in every for base in BASELINES)


def distinct(questions: Iterable[PageQuestion]) -> list[PageQuestion]:
    found: list[PageQuestion] = []
    for one in questions:
        if one not in found:
            found.append(one)
    return found


def pairs_of(a: Shows, one: PageQuestion, options: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Interactions of the question, and the plane of every two parameters."""
    names = paired(a, one)
    if len(names) < 2:
        return
    yield entry("pairs", one, tabs.pairs(a, one, names, **options))
    try:
        inner, target, region = answers.asked_of(a, one)
        planes = inner.pairs(names, target, region, cells=tabs.PLANE)
    except PedanovaError:
        return
    for found in planes.values():
        yield entry("plane", one, tabs.plane_to_json(found), first=found.first, second=found.second)


def paired(a: Shows, one: PageQuestion) -> list[str]:
    """The parameters whose pairs are shown: all, or the most important ones."""
    if len(a.space) <= ALL_PAIRED:
        return list(a.space)
    try:
        importances = a.importance(one.target, one.region, estimator="counts", draws=0, force=True)
    except QueryError:
        return list(a.space)[:MOST_PAIRED]
    return list(importances)[:MOST_PAIRED]
