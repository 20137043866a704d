"""All answers that a file can give: those to every two steps of the objective's edges, as the server would give them.

Each is the JSON of `answers.py` under the question it answers, so the page need not know who answers it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import Any

from pedanova.base.notes import gathered
from pedanova.base.progress import watched
from pedanova.data.regions import Region, as_region
from pedanova.errors import PedanovaError, QueryError
from pedanova.measures.inference import DRAWS
from pedanova.measures.surrogate.estimate import as_options
from pedanova.report.asks import Shows
from pedanova.report.page import answers
from pedanova.report.page.binned import binned_rows, check_rows
from pedanova.report.page.facts import facts_of, shapes_of
from pedanova.report.page.ladder import RUNGS, Ladder, ladder_of, part_of
from pedanova.report.page.objectives import objectives
from pedanova.report.page.question import Question

TITLE = "Hyperparameter importance"
QUESTIONS = ((0.1, 1.0), (0.02, 0.1))
BASELINES = ("region", "uniform")
ALL_PAIRED, MOST_PAIRED = 14, 10  # up to so many parameters all are paired, beyond that the most important
Payload = dict[str, Any]  # {"facts": ..., "answers": [{"part", "question", "extra", "answer"}, ...]}


def payload_of(
    a: Shows,
    title: str = TITLE,
    questions: Sequence[tuple[object, object]] = QUESTIONS,
    *,
    ladder: Iterable[object] | None = None,
    reduce: bool = True,
    rows: str | None = None,
    **options: Any,
) -> Payload:
    """Facts and answers of the static page; `options` are those of `Analysis.importance`."""
    check_rows(rows)
    plain, wanted = check_options(options), check_questions(questions)
    modelled = plain["estimator"] != "counts" and plain["smoothing"] == "auto"
    how = {"force": plain["force"], "of": plain["of"] if modelled else "rows", "seed": plain["seed"]}
    steps = ladder_of(a, {p for pair in wanted for p in pair if p}, ladder, usual=RUNGS, **how)
    baseline, of = plain.pop("baseline"), plain.pop("of")
    own = [as_question(steps, *one, baseline=baseline, of=of) for one in questions]
    asked = all_questions(steps, own, of)
    each = watched(asked, "questions of the page", len(asked), verb="answering")
    given = [entry("answer", one, answers.answer(a, one, **plain)) for one in each]
    for one in own:
        given.extend(pairs_of(a, one, plain))
    if reduce:
        given.append(entry("space", own[0], answers.smaller_space(a, own[0], **plain)))
    if a.levels.several:
        given.append(entry("objectives", own[0], objectives(a, own[0], **plain)))
    notes = gathered([*a.notes, *steps.notes])
    shapes = shapes_of(a, steps)
    facts = facts_of(a, title.strip() or TITLE, steps, shapes, own[0], notes)
    return {"facts": facts | {"binned": binned_rows(a, shapes, rows)}, "answers": given}


def entry(part: str, question: Question, answer: dict[str, Any], **extra: Any) -> dict[str, Any]:
    return {"part": part, "question": question.to_json(), "extra": extra, "answer": answer}


def check_options(options: dict[str, Any]) -> dict[str, Any]:
    """The options of `importance`, completed; a wrong one is an error and no refused answer."""
    usual = dict[str, Any](baseline="region", smoothing="auto", estimator="auto", draws=DRAWS, seed=0, of="space")
    chosen = usual | {"force": False} | options
    unknown = sorted(set(chosen) - set(usual) - {"force"})
    if unknown:
        raise QueryError(f"{unknown[0]}= is not an option of a report; there are {', '.join(usual)} and force")
    as_options(**chosen)
    return chosen


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


def as_question(steps: Ladder, target: object, region: object, *, baseline: Any, of: str) -> Question:
    """On the steps where it is one of them."""
    bands = [as_band(steps, target, "target"), as_band(steps, region, "region")]
    return Question(target=bands[0], region=bands[1], baseline=baseline, of=of)


def as_band(steps: Ladder, rows: object, name: str) -> Region:
    part = part_of(rows)
    return as_region(rows if part is None else steps.rungs[steps.place(part)].part, name)


def all_questions(steps: Ladder, own: Sequence[Question], of: str) -> list[Question]:
    """Every two rungs, then what they cannot ask, against both baselines."""
    parts = [as_region(rung.part, "target") for rung in steps.rungs]
    pairs = [(parts[i], parts[j]) for i, j in combinations(range(len(parts)), 2)]
    pairs += [(one.target, one.region) for one in own if (one.target, one.region) not in pairs]
    return [Question(target=t, region=r, baseline=base, of=of) for t, r in pairs for base in BASELINES]  # type: ignore[arg-type]


def pairs_of(a: Shows, one: Question, options: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Interactions of the question, and the plane of every two parameters."""
    names = paired(a, one)
    if len(names) < 2:
        return
    yield entry("pairs", one, answers.pairs(a, one, names, **options))
    try:
        planes = a.pairs(names, one.target, one.region, cells=answers.PLANE)
    except PedanovaError:
        return
    for found in planes.values():
        yield entry("plane", one, answers.plane_to_json(found), first=found.first, second=found.second)


def paired(a: Shows, one: Question) -> list[str]:
    """The parameters whose pairs are shown: all, or the most important ones."""
    if len(a.space) <= ALL_PAIRED:
        return list(a.space)
    try:
        importances = a.importance(one.target, one.region, estimator="counts", draws=0, force=True)
    except QueryError:
        return list(a.space)[:MOST_PAIRED]
    return list(importances)[:MOST_PAIRED]
