"""The cards (sections) of the page: how each card is requested, answered, and stored in a report file.

Requests come from outside, so anything unknown raises an error. A report file contains the answers for all pairs of
slider steps. They have the same form as the answers of a server.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, TypeAlias, Unpack

from pedanova.base.notes import Note
from pedanova.base.progress import watched
from pedanova.base.threads import trim_memory
from pedanova.data.regions import Region
from pedanova.errors import PedanovaError, QueryError, unknown_name
from pedanova.measures.question import INNER, REGION, TARGET, How, Question, check_how
from pedanova.measures.questions.ask import pair_planes
from pedanova.measures.questions.trial_data import TrialData
from pedanova.measures.studies.across import groups_by
from pedanova.measures.studies.budgets import budget_name
from pedanova.report.page import answers, rows, studies
from pedanova.report.page.facts import MANY, Ladder, columns_of, facts_of, ladder_of, part_of, rounded
from pedanova.report.page.page_question import (
    CALLS,
    Bounds,
    box_to_json,
    boxed,
    chosen_part,
    lines_of,
    opened_by,
    parse_question,
    question_to_json,
    study_to_json,
)
from pedanova.space.parameters import Space

MOST_ROWS = 2_000  # rows of a table or a figure in one answer
SETTINGS = ("default", "best", "before", "after")  # values of parameters in the answer about gains
MOST_PLANES = 4  # the number of objectives whose pairs a file shows
ALL_PAIRED, MOST_PAIRED = 14, 10  # up to 14 parameters all are paired; otherwise the 10 most important
Check: TypeAlias = Callable[[Any, str, Space], Any]
Answer: TypeAlias = dict[str, Any]
FileAnswer: TypeAlias = tuple[Question, Mapping[str, Any], Answer]  # question, further arguments, answer


@dataclass(frozen=True, slots=True)
class FilePlan:
    """What a report file contains: the analysis, the questions and their answers."""

    analysis: TrialData
    ladder: Ladder
    questions: list[Question]  # the user's questions; the first one is shown first
    answered: list[tuple[Question, Answer]]  # every question of the sliders, with the importances
    reduce: bool = True
    budget: str | None = None
    group: str | None = None
    fixed: tuple[Any, ...] = ()  # rows to which all questions are limited, as in `Question.within`
    study: tuple[str, str] | None = None
    source: str | None = ""  # the source and its options as in a shell command


@dataclass(frozen=True, slots=True)
class Card:
    """One section of the page, and how its requests are answered."""

    name: str
    answer: Callable[..., Answer] | None  # called with an analysis and a question; None if the session itself answers
    extras: Mapping[str, Check] = field(default_factory=dict)  # further arguments, and their checks
    takes: tuple[str, ...] = ()  # what the answer needs from the session
    needs_rows: bool = False  # whether counts alone are not enough
    slow: bool = False
    in_file: Callable[[FilePlan], Iterable[FileAnswer]] | None = None  # None if only a live page has the card


# --- checks ------------------------------------------------------------------------------------------


def checked(default: Any, fits: Callable[[Any], bool], rule: str, each: Check | None = None) -> Check:
    """A function that checks an argument of a request and returns its value, or `default` if it has no value."""

    def check(value: Any, name: str, space: Space) -> Any:
        if value is None:
            return default
        if not fits(value):
            raise QueryError(f"{name}: {str(value)[:40]!r} must be {rule}")
        return value if each is None else [each(one, name, space) for one in value]

    return check


def flag(default: bool) -> Check:
    return checked(default, lambda value: isinstance(value, bool), "true or false")


def whole(default: int, most: int) -> Check:
    rule = f"a whole number from 0 to {most:,}"
    return checked(default, lambda value: type(value) is int and 0 <= value <= most, rule)


def one_of(*choices: str) -> Check:
    return checked(choices[0], lambda value: value in choices, f"one of {', '.join(choices)}")


def parameter(value: Any, name: str, space: Space) -> str:
    if not isinstance(value, str) or value not in space:
        raise QueryError(f"{name}: {unknown_name(value, tuple(space))}")
    return value


def is_column(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= 10_000


COLUMN = checked(None, is_column, "the name of a column")
COLUMNS = checked(None, lambda value: isinstance(value, list) and all(map(is_column, value)), "a list of columns")
PARAMETERS = checked(None, lambda value: isinstance(value, list), "a list of parameters", parameter)


# --- what a file holds -------------------------------------------------------------------------------


def distinct(questions: Iterable[Question]) -> list[Question]:
    found: list[Question] = []
    for one in questions:
        found += [one] if one not in found else []
    return found


def pairs_in_file(plan: FilePlan) -> Iterator[FileAnswer]:
    for question in distinct(plan.questions):
        names = paired(plan, question)
        if len(names) >= 2:
            yield question, {}, answers.pairs(plan.analysis, question, names)


def planes_in_file(plan: FilePlan) -> Iterator[FileAnswer]:
    for question in distinct(plan.questions):
        names = paired(plan, question)
        if len(names) < 2:
            continue
        try:
            inner, asking = answers.asked_of(plan.analysis, question)
            planes = pair_planes(inner, names, asking, answers.PLANE)
        except PedanovaError:
            continue
        for one in planes.values():
            yield question, {"first": one.first, "second": one.second}, answers.plane_to_json(one)


def paired(plan: FilePlan, question: Question) -> list[str]:
    """The parameters whose interactions a file contains: all, or the most important ones."""
    names = list(plan.analysis.tallies)
    if len(names) <= ALL_PAIRED:
        return names
    alike = (answer for one, answer in plan.answered if one == question and not answer["refused"])
    ranked = [row["parameter"] for row in next(alike, {"importances": []})["importances"]]
    return (ranked or names)[:MOST_PAIRED]


def means_in_file(plan: FilePlan) -> Iterator[FileAnswer]:
    """The mean objective by value for the region of each slider step; with many parameters, only for one region.

    With very many parameters, the file contains no means, because they would take too long to compute.
    """
    a, first = plan.analysis, plan.questions[0]
    if a.levels.several or len(a.tallies) > MANY:
        return
    rungs = plan.ladder.rungs[1:] if len(a.space) <= ALL_PAIRED else ()
    regions = [Region.parse(rung.part, "region") for rung in rungs]
    for question in distinct([first, *(replace(first, region=one, within=()) for one in regions)]):
        means = answers.marginals(a, question)
        if means["refused"] is None:
            yield question, {}, means


def space_in_file(plan: FilePlan) -> Iterator[FileAnswer]:
    if plan.reduce:
        yield plan.questions[0], {}, answers.smaller_space(plan.analysis, plan.questions[0])


def gains_in_file(plan: FilePlan) -> Iterator[FileAnswer]:
    gains = answers.gains(plan.analysis, plan.questions[0]) if plan.reduce else None
    if gains is not None and gains["refused"] is None:
        for row in (*gains["rows"], *gains["path"]):  # settings of the best trial: a file contains no row of the data
            row |= {key: rounded(value) for key, value in row.items() if key in SETTINGS and isinstance(value, float)}
        yield plan.questions[0], {}, gains


def objectives_in_file(plan: FilePlan) -> Iterator[FileAnswer]:
    if not plan.analysis.levels.several:
        return
    for across, up in combinations(range(min(len(plan.analysis.observed().goals), MOST_PLANES)), 2):
        axes = {"across": across, "up": up}
        yield plan.questions[0], axes, answers.objectives(plan.analysis, plan.questions[0], **axes)


def along_in_file(plan: FilePlan) -> Iterator[FileAnswer]:
    """The importances at each budget, if there are budgets; an unknown name of a budget is an error."""
    if plan.budget is None and budget_name(plan.analysis) is None:
        return
    whole_table = replace(plan.questions[0], region=Region.parse(1, "region"), within=())
    along = answers.along_budget(plan.analysis, whole_table, plan.budget)
    if along["refused"] is None:
        yield from ((one, {}, along) for one in distinct([whole_table, plan.questions[0]]))
    elif plan.budget is not None:
        raise QueryError(along["refused"])


def groups_in_file(plan: FilePlan) -> Iterator[FileAnswer]:
    """The importances of every study; if there are many, only those that agree least with the others."""
    if plan.group is None:
        return
    order = "disagreement" if len(groups_by(plan.analysis, plan.group)) > studies.SHOWN else "name"
    first = plan.questions[0]
    around: dict[str, Any] = {"column": plan.group, "source": plan.source, "fixed": plan.fixed}
    yield first, {}, studies.side_by_side(plan.analysis, first, order=order, **around)


# --- the registry ------------------------------------------------------------------------------------

PAIRS = Card("pairs", answers.pairs, {"names": PARAMETERS}, needs_rows=True, slow=True, in_file=pairs_in_file)
SPACE = Card("space", answers.smaller_space, needs_rows=True, slow=True, in_file=space_in_file)
GAINS = Card("gains", answers.gains, needs_rows=True, slow=True, in_file=gains_in_file)
ROWS_OF_TABLE: dict[str, Check] = {
    "sort": COLUMN, "descending": flag(default=False), "offset": whole(0, 10**12), "limit": whole(50, MOST_ROWS),
    "names": COLUMNS,
}  # fmt: skip
CARDS = (
    Card("answer", answers.ranking, {"sure": flag(default=True), "drawn": flag(default=True), "names": PARAMETERS},
        ("source",), in_file=lambda plan: ((question, {}, one) for question, one in plan.answered)),
    Card("densities", answers.densities, {"names": PARAMETERS}),
    PAIRS,
    Card("plane", answers.plane, {"first": parameter, "second": parameter}, needs_rows=True, in_file=planes_in_file),
    Card("marginal", answers.marginals, slow=True, in_file=means_in_file),
    SPACE,
    GAINS,
    Card("objectives", answers.objectives, {"across": whole(0, 1_000), "up": whole(1, 1_000)}, slow=True,
        in_file=objectives_in_file),
    Card("along", answers.along_budget, in_file=along_in_file),
    Card("groups", studies.side_by_side, {"order": one_of(*studies.ORDERS), "limit": whole(studies.SHOWN, MOST_ROWS)},
        ("column", "source"), needs_rows=True, slow=True, in_file=groups_in_file),
    Card("trials", rows.trials, ROWS_OF_TABLE, needs_rows=True),
    Card("parallel", rows.parallel, {"limit": whole(500, MOST_ROWS), "names": COLUMNS}, needs_rows=True),
    Card("history", rows.history, {"x": COLUMN, "objective": COLUMN, "limit": whole(1_000, MOST_ROWS),
        "names": COLUMNS}, needs_rows=True),
    Card("curves", rows.curves, {"objective": COLUMN, "limit": whole(200, MOST_ROWS)}, needs_rows=True),
    Card("points", rows.points, {"x": parameter, "y": parameter, "limit": whole(1_000, MOST_ROWS), "names": COLUMNS},
        needs_rows=True),
    Card("difference", answers.difference_of, {"other": lambda value, _, space: parse_question(value, space)},
        slow=True),
    Card("news", None, {"since": whole(0, 10**12)}),
)  # fmt: skip
BY_NAME = {card.name: card for card in CARDS}


def taken(card: Card, given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name in card.takes}


def can_be_asked(a: TrialData) -> dict[str, bool | str]:
    """For each card, and for "brush" (selecting rows): True if it is available, otherwise the reason why not."""
    reason = "this card needs the rows, which this analysis no longer has; explore the original data"
    able: bool | str = True if a.observations is not None else reason
    return {card.name: able if card.needs_rows else True for card in CARDS} | {"brush": able}


# --- the file ----------------------------------------------------------------------------------------

TITLE = "Hyperparameter importance"
QUESTIONS = ((TARGET, REGION), INNER)
BASELINES = ("region", "uniform")
Payload = dict[str, Any]  # {"facts": ..., "answers": [{"part", "question", "extra", "answer"}, ...]}


class FileOptions(How, total=False):
    """The options of a report file, in addition to those of `importance`."""

    ladder: Iterable[object] | None
    reduce: bool
    within: object
    budget: str | None


def payload_of(
    a: TrialData,
    title: str = TITLE,
    questions: Sequence[tuple[object, object]] = QUESTIONS,
    *,
    ladder: Iterable[object] | None = None,
    reduce: bool = True,
    within: object = None,
    budget: str | None = None,
    group: str | None = None,
    study: tuple[str, str] | None = None,
    brief: bool = False,
    notes: Sequence[Note] | None = None,
    opening: tuple[str, str | None] = ("", ""),
    **options: Unpack[How],
) -> Payload:
    """The facts and answers that a report file contains; `options` are those of `Analysis.importance`.

    If `brief` is true, only the answer to the first question has intervals. If there are very many parameters, this is
    always so, and the file contains only the given questions. `opening` is the code that opens the analysis, in Python
    and in a shell; `notes` are those of the whole table if `a` is a study.
    """
    whole, asking, wanted = a, Question(parts="all", **check_how(options, what="a report")), check_questions(questions)
    fixed = () if within is None else rows_of_file(within, columns_of(a))
    facts_on_rows = None if within is None and study is None else facts_of_rows(within, fixed, a, study)
    a = a if within is None else a.within(within)
    many = len(a.tallies) > MANY
    if group is not None:
        groups_by(a, group)  # an unusable column is an error before the long work
    rungs = [1] if many and ladder is None else ladder
    of = asking.of if not asking.by_rows and asking.smoothing == "auto" else "rows"
    parts = {part for pair in wanted for part in pair if part}
    steps = ladder_of(a, parts, rungs, force=asking.force, of=of, seed=asking.seed)
    own = [as_question(a, steps, asking, *one) for one in questions]
    answered = answers_of_file(a, steps, own, asking, brief=brief or many, one_base=many)
    if own[0] not in (good := [question for question, result in answered if result["refused"] is None]):
        alike = (one for one in good if (one.region, one.baseline) == (own[0].region, own[0].baseline))
        own[0] = next(alike, own[0])  # too few rows: the strictest target with enough rows is shown first
    if group is not None:
        around: dict[str, Any] = {"source": opening[1], "fixed": fixed}
        first = next(i for i, (one, _) in enumerate(answered) if one == own[0])
        if not answered[first][1]["refused"]:
            answered[first] = own[0], studies.over_studies(a, *answered[first], group, **around)
    plan = FilePlan(a, steps, own, answered, reduce, budget, group, fixed, study, opening[1])
    given = file_answers(plan)
    facts = facts_of(a, title.strip() or TITLE, steps, own[0], whole.notes if notes is None else notes)
    followed = next((one["answer"]["name"] for one in given if one["part"] == "along"), None)
    facts |= {"budget": followed, "means": any(one["part"] == "marginal" for one in given)}
    facts |= {"group": group, "within": facts_on_rows, "opening": opened_by(opening[0], a.objective)}
    return {"facts": facts, "answers": given}


def answers_of_file(
    a: TrialData, steps: Ladder, own: Sequence[Question], asking: Question, *, brief: bool, one_base: bool
) -> list[tuple[Question, Answer]]:
    """The answers to all questions of the sliders, and to the user's `own` questions."""
    bands = [Region.parse(rung.part, "target") for rung in steps.rungs]
    plain = [replace(asking, target=one, region=other) for one, other in combinations(bands, 2)]
    bases = (asking.baseline,) if one_base or asking.estimator == "paper" else BASELINES
    every = distinct(replace(one, baseline=base) for one in ([] if one_base else plain) + [*own] for base in bases)
    answered = []
    for one in watched(every, "questions of the page", len(every), verb="answering"):
        result = answers.ranking(a, one, sure=one == own[0] or not brief)
        for band in (result["bands"] or {}).values():  # objectives of single rows; drawing needs only a few digits
            band["ends"] = [None if end is None else rounded(end) for end in band["ends"]]
        answered.append((one, result))
    return answered


def rows_of_file(within: object, space: Space) -> tuple[Any, ...]:
    """The rows of a report file as `Question.within`, with None for rows that cannot be written as code."""
    if isinstance(within, Mapping) and all(name in space for name in within):
        return boxed({name: chosen_part(name, part, space) for name, part in within.items()})
    return () if within is None else (within if isinstance(within, str) else None,)


def facts_of_rows(
    within: object, fixed: tuple[Any, ...], a: TrialData, study: tuple[str, str] | None
) -> dict[str, Any]:
    """The selection of rows that all questions of a report file share, as JSON."""
    box = fixed[0] if fixed and isinstance(fixed[0], Mapping) else {}
    return {
        "of": a.rows,
        "selection": box_to_json(box, columns_of(a)),
        "words": within if isinstance(within, str) else "" if within is None else "a custom filter",
        "study": None if study is None else study_to_json(study),
    }


def file_answers(plan: FilePlan) -> list[dict[str, Any]]:
    """The answers of all cards for a saved page, as JSON."""
    given = []
    for card in CARDS:
        if card.in_file is not None:
            for question, extra, one in card.in_file(plan):
                asked, data = question_to_json(question, columns_of(plan.analysis)), plan.analysis
                budget = {"budget": plan.budget} if card.name == "along" else {}
                around: dict[str, Any] = {"fixed": plan.fixed, "study": plan.study, "source": plan.source}
                one = with_lines(card.name, data, question, {**extra, **budget}, one, **around)
                given.append({"part": card.name, "question": asked, "extra": dict(extra), "answer": one})
            trim_memory()  # a card may need much memory for a while
    return given


def with_lines(
    name: str,
    a: TrialData,
    question: Question,
    extra: Mapping[str, Any],
    answer: Answer,
    *,
    source: str | None = "",
    fixed: tuple[Any, ...] = (),
    study: tuple[str, str] | None = None,
) -> Answer:
    """The answer of a card with the code that gives its numbers; `fixed` limits the rows of all questions."""
    if name not in CALLS or answer["refused"] is not None or "over" in answer:
        return answer
    asking = a.widened(a.by_limits(question))
    asking = replace(asking, within=(*fixed, *asking.within), study=study or question.study)
    given = {key: value for key, value in extra.items() if value is not None}
    if name in ("pairs", "space"):
        asking = answers.without_paper(asking)
    more: dict[str, Any] = {}
    if name == "pairs" and "names" in given:
        more = {"params": list(given["names"])}
    elif name == "plane":
        more = {"names": [given["first"], given["second"]], "cells": answers.PLANE}
    elif name == "objectives":
        more = {"by": "objective"}
    elif name == "along":
        asking, more = replace(asking, within=()), {key: given[key] for key in ("budget",) if key in given}
    elif name in ("history", "curves"):
        more = {key: given[key] for key in ("objective",) if key in given and a.levels.several}
        if "x" in given:
            name, by = "slice", {"by": given["names"][0]} if given.get("names") else {}
            more = {"name": given["x"]} | by | more
    elif name == "trials":
        more = {"params" if key == "names" else key: value for key, value in given.items()}
    return answer | {"lines": lines_of(asking, source, name, **more)}


def check_questions(questions: Sequence[tuple[object, object]]) -> list[tuple[Any, Any]]:
    """The quantiles of each question, with None for a target or region that is not a quantile."""
    if not questions:
        raise QueryError("questions=[] needs at least one pair (target, region), such as (0.1, 1.0)")
    wanted = [(part_of(target), part_of(region)) for target, region in questions]
    for target, region in wanted:
        if target and region and target >= region:
            words = f"questions: target {float(target):g} must be smaller than its region {float(region):g}; swap them"
            raise QueryError(words)
    return wanted


def as_question(a: TrialData, steps: Ladder, asking: Question, target: object, region: object) -> Question:
    """Make a question of the page: quantiles become slider steps, and a box becomes a selection."""
    box: dict[str, Bounds] = {}
    if isinstance(region, Mapping):
        box, region = {name: chosen_part(name, part, columns_of(a)) for name, part in region.items()}, 1
    bands = [as_band(steps, target, "target"), as_band(steps, region, "region")]
    return replace(asking, target=bands[0], region=bands[1], within=boxed(box))


def as_band(steps: Ladder, rows: object, name: str) -> Region:
    part = part_of(rows)
    if part is None and not isinstance(rows, Region):
        words = f"questions: the {name} must be a quantile or a limit on the objective; use within= to select rows"
        raise QueryError(words)
    return Region.parse(rows if part is None else steps.rungs[steps.place(part)].part, name)
