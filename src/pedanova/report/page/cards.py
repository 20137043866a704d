"""The cards of the page, each registered once: how it is asked for, who answers it, and what of it a file holds.

Requests come from outside: what is not understood is refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from pedanova.data.regions import as_part, as_region
from pedanova.errors import PedanovaError, QueryError, unknown_name
from pedanova.measures.question import How, Question
from pedanova.measures.questions.ask import importance_of, pair_planes
from pedanova.measures.questions.trial_data import TrialData
from pedanova.measures.studies.across import groups_by
from pedanova.measures.studies.budgets import budget_name
from pedanova.report.page import answers
from pedanova.report.page.facts import Ladder
from pedanova.report.page.question import PageQuestion
from pedanova.space.parameters import Space

MOST_ROWS = 2_000  # of a table or a picture, in one answer
MOST_PARTS = 64
ALL_PAIRED, MOST_PAIRED = 14, 10  # up to so many parameters all are paired, beyond that the most important
OPTIONS = ("smoothing", "estimator", "draws", "seed", "force")  # of `importance`; the question has the others
Check: TypeAlias = Callable[[Any, str, Space], Any]
Answer: TypeAlias = dict[str, Any]
FileAnswer: TypeAlias = tuple[PageQuestion, Mapping[str, Any], Answer]  # with what is asked beside the question


@dataclass(frozen=True, slots=True)
class FilePlan:
    """What a file is to hold."""

    analysis: TrialData
    ladder: Ladder
    questions: list[PageQuestion]  # those of the user, the one that is shown first at the beginning
    answered: list[tuple[PageQuestion, Answer]]  # every question of the sliders, with its importances
    how: How
    reduce: bool = True
    budget: str | Mapping[float, str] | None = None
    group: str | None = None


@dataclass(frozen=True, slots=True)
class Card:
    """A part of the page."""

    name: str
    answer: Callable[..., Answer] | None  # of an analysis and a question; None: the session itself answers
    extras: Mapping[str, Check] = field(default_factory=dict)  # what is asked beside the question, and its checks
    takes: tuple[str, ...] = ()  # options of `importance`, and of the session, that the answer depends on
    needs_rows: bool = False  # whether counts alone do not suffice
    slow: bool = False
    in_file: Callable[[FilePlan], Iterable[FileAnswer]] | None = None  # None: only a live page has it


# --- checks ------------------------------------------------------------------------------------------


def checked(default: Any, fits: Callable[[Any], bool], rule: str) -> Check:
    """What fits, or the default where nothing is sent."""

    def check(value: Any, name: str, _: Space) -> Any:
        if value is not None and not fits(value):
            raise QueryError(f"{name}: {str(value)[:40]!r} must be {rule}")
        return default if value is None else value

    return check


def flag(default: bool) -> Check:
    return checked(default, lambda value: isinstance(value, bool), "true or false")


def whole(default: int, most: int) -> Check:
    rule = f"a whole number from 0 to {most:,}"
    return checked(default, lambda value: type(value) is int and 0 <= value <= most, rule)


def one_of(*choices: str) -> Check:
    return checked(choices[0], lambda value: value in choices, f"one of {', '.join(choices)}")


def column() -> Check:
    return checked(None, lambda value: isinstance(value, str) and len(value) <= 10_000, "the name of a column")


def parameter(value: Any, name: str, space: Space) -> str:
    if not isinstance(value, str) or value not in space:
        raise QueryError(f"{name}: {unknown_name(value, tuple(space))}")
    return value


def parameters(value: Any, name: str, space: Space) -> list[str] | None:
    if value is None:
        return None
    if not isinstance(value, list):
        raise QueryError(f"{name}: {str(value)[:40]!r} must be a list of parameters")
    return [parameter(one, name, space) for one in value]


def quantiles(value: Any, name: str, _: Space) -> list[Any] | None:
    if value is None:
        return None
    if not isinstance(value, list) or not 0 < len(value) <= MOST_PARTS:
        raise QueryError(f"{name}: {str(value)[:40]!r} must be a list of at most {MOST_PARTS} quantiles")
    return [as_part(one, name) for one in value]


# --- what a file holds -------------------------------------------------------------------------------


def distinct(questions: Iterable[PageQuestion]) -> list[PageQuestion]:
    return list({json.dumps(one.to_json()): one for one in questions}.values())


def pairs_in_file(plan: FilePlan) -> Iterator[FileAnswer]:
    for question in distinct(plan.questions):
        names = paired(plan.analysis, question)
        if len(names) >= 2:
            yield question, {}, answers.pairs(plan.analysis, question, names, **taken(PAIRS, plan.how))


def planes_in_file(plan: FilePlan) -> Iterator[FileAnswer]:
    for question in distinct(plan.questions):
        names = paired(plan.analysis, question)
        if len(names) < 2:
            continue
        try:
            inner, target, region = answers.asked_of(plan.analysis, question)
            planes = pair_planes(inner, names, Question(target, region), answers.PLANE)
        except PedanovaError:
            continue
        for one in planes.values():
            yield question, {"first": one.first, "second": one.second}, answers.plane_to_json(one)


def paired(a: TrialData, question: PageQuestion) -> list[str]:
    """The parameters whose pairs are shown: all, or the most important ones."""
    if len(a.space) <= ALL_PAIRED:
        return list(a.space)
    try:
        importances = importance_of(
            a, Question(question.target, question.region, estimator="counts", draws=0, force=True)
        )
    except QueryError:
        return list(a.space)[:MOST_PAIRED]
    return list(importances)[:MOST_PAIRED]


def means_in_file(plan: FilePlan) -> Iterator[FileAnswer]:
    """The mean objective along the parameters, in the region of every step; of many parameters in the first alone."""
    a, first = plan.analysis, plan.questions[0]
    if a.levels.several:
        return
    rungs = plan.ladder.rungs[1:] if len(a.space) <= ALL_PAIRED else ()
    regions = [as_region(rung.part, "region") for rung in rungs]
    for question in distinct([first, *(replace(first, region=one, selection={}) for one in regions)]):
        means = answers.marginals(a, question)
        if means["refused"] is None:
            yield question, {}, means


def space_in_file(plan: FilePlan) -> Iterator[FileAnswer]:
    if plan.reduce:
        yield plan.questions[0], {}, answers.smaller_space(plan.analysis, plan.questions[0], **taken(SPACE, plan.how))


def objectives_in_file(plan: FilePlan) -> Iterator[FileAnswer]:
    if plan.analysis.levels.several:
        yield plan.questions[0], {}, answers.objectives(plan.analysis, plan.questions[0], **plan.how)


def along_in_file(plan: FilePlan) -> Iterator[FileAnswer]:
    """The first question along the budget that is named or that the source tells of; a wrong name is an error."""
    if plan.budget is None and budget_name(plan.analysis) is None:
        return
    whole_table = replace(plan.questions[0], region=as_region(1, "region"), selection={})
    along = answers.along_budget(plan.analysis, whole_table, plan.budget, **plan.how)
    if along["refused"] is None:
        yield from ((one, {}, along) for one in distinct([whole_table, plan.questions[0]]))
    elif plan.budget is not None:
        raise QueryError(along["refused"])


def groups_in_file(plan: FilePlan) -> Iterator[FileAnswer]:
    """The first question asked of every study; of many, those are shown that agree least with the others."""
    if plan.group is None:
        return
    order = "disagreement" if len(groups_by(plan.analysis, plan.group)) > answers.SHOWN else "name"
    first = plan.questions[0]
    yield first, {}, answers.side_by_side(plan.analysis, first, column=plan.group, order=order, **plan.how)


# --- the registry ------------------------------------------------------------------------------------

PAIRS = Card(
    "pairs",
    answers.pairs,
    {"names": parameters},
    ("estimator", "seed"),
    needs_rows=True,
    slow=True,
    in_file=pairs_in_file,
)
SPACE = Card(
    "space", answers.smaller_space, takes=("estimator", "seed"), needs_rows=True, slow=True, in_file=space_in_file
)
ROWS_OF_TABLE: dict[str, Check] = {
    "sort": column(),
    "descending": flag(default=False),
    "offset": whole(0, 10**12),
    "limit": whole(50, MOST_ROWS),
}
CARDS = (
    Card(
        "answer",
        answers.answer,
        {"sure": flag(default=True), "drawn": flag(default=True)},
        (*OPTIONS, "source"),
        in_file=lambda plan: ((question, {}, one) for question, one in plan.answered),
    ),
    Card("densities", answers.densities, takes=OPTIONS),
    PAIRS,
    Card("plane", answers.plane, {"first": parameter, "second": parameter}, needs_rows=True, in_file=planes_in_file),
    Card("targets", answers.targets, {"parts": quantiles}, ("smoothing", "estimator", "seed"), slow=True),
    Card("marginal", answers.marginals, slow=True, in_file=means_in_file),
    SPACE,
    Card("objectives", answers.objectives, takes=OPTIONS, slow=True, in_file=objectives_in_file),
    Card("along", answers.along_budget, takes=OPTIONS, in_file=along_in_file),
    Card(
        "groups",
        answers.side_by_side,
        {"order": one_of(*answers.ORDERS), "limit": whole(answers.SHOWN, MOST_ROWS)},
        (*OPTIONS, "column"),
        needs_rows=True,
        slow=True,
        in_file=groups_in_file,
    ),
    Card("trials", answers.trials, ROWS_OF_TABLE, needs_rows=True),
    Card("parallel", answers.parallel, {"limit": whole(500, MOST_ROWS)}, needs_rows=True),
    Card("points", answers.points, {"x": parameter, "y": parameter, "limit": whole(1_000, MOST_ROWS)}, needs_rows=True),
    Card(
        "difference",
        answers.difference_of,
        {"other": lambda value, _, space: PageQuestion.parse(value, space)},
        OPTIONS,
        slow=True,
    ),
    Card("news", None, {"since": whole(0, 10**12)}),
)
BY_NAME = {card.name: card for card in CARDS}


def taken(card: Card, given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name in card.takes}


def can_be_asked(a: TrialData) -> dict[str, bool | str]:
    """Every card, and selecting rows: True, or why not."""
    reason = "the rows are no longer at hand; explore the data itself"
    able: bool | str = True if a.observations is not None else reason
    return {card.name: able if card.needs_rows else True for card in CARDS} | {"brush": able}
