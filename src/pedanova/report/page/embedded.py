"""All answers that a file can give: those to every two steps of the objective's edges, as the server would give them.

Each is the JSON of `answers.py` under the question it answers, so the page need not know who answers it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, Unpack

from pedanova.base.progress import watched
from pedanova.data.regions import Region, as_region
from pedanova.errors import QueryError
from pedanova.measures.question import Baseline, How, Question, check_how
from pedanova.measures.questions.trial_data import TrialData
from pedanova.measures.studies.across import groups_by
from pedanova.report.page.answers import answer
from pedanova.report.page.cards import CARDS, FilePlan, distinct
from pedanova.report.page.facts import Ladder, facts_of, ladder_of, part_of, rounded
from pedanova.report.page.question import PageQuestion, Picks, Span, chosen_part

TITLE = "Hyperparameter importance"
QUESTIONS = ((0.1, 1.0), (0.02, 0.1))
BASELINES: tuple[Baseline, ...] = ("region", "uniform")
Payload = dict[str, Any]  # {"facts": ..., "answers": [{"part", "question", "extra", "answer"}, ...]}


class FileOptions(How, total=False):
    """Options of a page that is a file, beside those of `importance`."""

    ladder: Iterable[object] | None
    reduce: bool
    within: object
    budget: str | Mapping[float, str] | None


def payload_of(
    a: TrialData,
    title: str = TITLE,
    questions: Sequence[tuple[object, object]] = QUESTIONS,
    *,
    ladder: Iterable[object] | None = None,
    reduce: bool = True,
    within: object = None,
    budget: str | Mapping[float, str] | None = None,
    group: str | None = None,
    **options: Unpack[How],
) -> Payload:
    """Facts and answers of the static page; `options` are those of `Analysis.importance`."""
    a = a if within is None else a.within(within)
    if group is not None:
        groups_by(a, group)  # a column that names no studies is an error before the long work
    how, wanted = check_options(options), check_questions(questions)
    modelled = how["estimator"] != "counts" and how["smoothing"] == "auto"
    parts = {part for pair in wanted for part in pair if part}
    steps = ladder_of(a, parts, ladder, force=how["force"], of=how["of"] if modelled else "rows", seed=how["seed"])
    baseline, of = how.pop("baseline"), how.pop("of")
    own = [as_question(a, steps, *one, baseline=baseline, of=of) for one in questions]
    bands = [as_region(rung.part, "target") for rung in steps.rungs]
    plain = [PageQuestion(target=one, region=other, of=of) for one, other in combinations(bands, 2)]
    plain += [replace(one, baseline="region") for one in own]
    every = distinct(replace(one, baseline=base) for one in plain for base in BASELINES)
    each = watched(every, "questions of the page", len(every), verb="answering")
    answered = []
    for one in each:
        result = answer(a, one, **how)
        ends = result.get("ends") or {}  # the objective of single rows: for drawing, a few digits of it will do
        blurred = {name: [None if end is None else rounded(end) for end in both] for name, both in ends.items()}
        answered.append((one, {**result, "ends": blurred or None}))
    good = [question for question, result in answered if result["refused"] is None]
    if own[0] not in good:  # too few rows: the strictest target that has enough is shown first
        alike = (one for one in good if (one.region, one.baseline) == (own[0].region, own[0].baseline))
        own[0] = next(alike, own[0])
    plan = FilePlan(a, steps, own, answered, how, reduce, budget, group)
    given: list[dict[str, Any]] = [
        {"part": card.name, "question": question.to_json(), "extra": dict(extra), "answer": one}
        for card in CARDS
        if card.in_file is not None
        for question, extra, one in card.in_file(plan)
    ]
    facts = facts_of(a, title.strip() or TITLE, steps, own[0])
    followed = next((one["answer"]["name"] for one in given if one["part"] == "along"), None)
    means = any(one["part"] == "marginal" for one in given)
    return {"facts": facts | {"budget": followed, "means": means, "group": group}, "answers": given}


def check_options(options: Mapping[str, Any]) -> How:
    """The options of `importance`, completed; a wrong one is an error and no refused answer."""
    return Question(**check_how(options, what="a report")).how


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


def as_question(a: TrialData, steps: Ladder, target: object, region: object, *, baseline: Any, of: str) -> PageQuestion:
    """On the steps where it is one of them; a box is a selection."""
    selection: dict[str, Span | Picks] = {}
    if isinstance(region, Mapping):
        selection, region = {name: chosen_part(name, part, a.space) for name, part in region.items()}, 1
    bands = [as_band(steps, target, "target"), as_band(steps, region, "region")]
    return PageQuestion(target=bands[0], region=bands[1], selection=selection, baseline=baseline, of=of)


def as_band(steps: Ladder, rows: object, name: str) -> Region:
    part = part_of(rows)
    if part is None and not isinstance(rows, Region):
        raise QueryError(f"questions: a {name} on a page is a part or values of the objective; choose rows by within=")
    return as_region(rows if part is None else steps.rungs[steps.place(part)].part, name)
