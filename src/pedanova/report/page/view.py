"""All that the page shows, as plain rows: every number is one that `Analysis` gives for that question."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from pedanova.base.notes import Note, gathered
from pedanova.base.progress import watched
from pedanova.data.regions import as_region
from pedanova.errors import PedanovaError, QueryError
from pedanova.measures.importance import Importances
from pedanova.measures.inference import DRAWS
from pedanova.measures.interactions import Interactions
from pedanova.measures.plane import PairDensity
from pedanova.measures.surrogate.estimate import as_options
from pedanova.reduction.result import ReducedSpace
from pedanova.report.asks import Shows
from pedanova.report.page.ladder import RUNGS, Ladder, ladder_of, part_of
from pedanova.report.page.shapes import Shape, Spread, shape_of, spread_of
from pedanova.report.sentences import summarize

TITLE = "Hyperparameter importance"
BASELINES = ("region", "uniform")
ALL_PAIRED, MOST_PAIRED = 14, 10  # up to so many parameters all are paired, beyond that the most important
PLANE = 7  # coarse cells of each parameter on the plane of two
PAIRS_EVERYWHERE = 200_000  # rows up to which pairs are counted for every question of the sliders


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """One question against one baseline: importances and a summary, or why there are none."""

    importances: Importances | None
    summary: str
    refused: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Interactions of one question and the rows on every plane of two parameters."""

    interactions: Interactions | None
    planes: dict[tuple[str, str], PairDensity] = field(default_factory=dict)
    refused: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class PageQuestion:
    """A target inside a region, as the sliders or the caller ask it."""

    words: tuple[str, str]
    rungs: tuple[int, int] | None  # places on the ladder; None for what is no quantile
    answers: dict[str, Answer]
    spreads: dict[str, Spread]  # by parameter; empty where refused
    pairs: Pairs | None  # None where they were not counted for this question


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """The page's content."""

    title: str
    objective: str
    direction: str
    rows: int
    dropped: int
    names: tuple[str, ...]
    ladder: Ladder
    questions: tuple[PageQuestion, ...]
    start: int  # the question that is shown first
    baseline: str
    shapes: dict[str, Shape]
    reached: tuple[tuple[float, float], ...]  # objective, part of the rows that is at least as good
    several: bool
    reduced: ReducedSpace | None
    unreduced: str  # why there is no smaller space
    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True)
class PendingQuestion:
    """A question before it is answered."""

    target: object
    region: object
    rungs: tuple[int, int] | None


def view_of(
    a: Shows,
    title: str = TITLE,
    questions: Sequence[tuple[object, object]] = ((0.1, 1.0), (0.02, 0.1)),
    *,
    ladder: Iterable[object] | None = None,
    reduce: bool = True,
    **options: Any,
) -> View:
    """Every question that the sliders can ask, answered; `options` are those of `Analysis.importance`."""
    plain, wanted = check_options(options), check_questions(questions)
    of = plain["of"] if plain["estimator"] != "counts" and plain["smoothing"] == "auto" else "rows"
    how = {"force": plain["force"], "of": of, "seed": plain["seed"]}
    steps = ladder_of(a, {p for pair in wanted for p in pair if p}, ladder, usual=RUNGS, **how)
    asked, start = all_questions(steps, questions, wanted)
    baseline = plain.pop("baseline")
    shapes: dict[str, Shape] = {}
    paired = _paired(a, asked[start])
    each = watched(asked, "questions of the page", len(asked), verb="answering")
    answered = [answer(a, one, shapes, paired if _counts_pairs(a, one, questions) else (), plain) for one in each]
    reduced, unreduced = _reduced(a, questions[0][0], plain) if reduce else (None, "")
    return View(
        title=title,
        objective=a.objective,
        direction=a.direction,
        rows=a.rows,
        dropped=a.dropped,
        names=tuple(a.space),
        ladder=steps,
        questions=tuple(answered),
        start=start,
        baseline=baseline,
        shapes=shapes,
        reached=reached_of(a),
        several=a.levels.several,
        reduced=reduced,
        unreduced=unreduced,
        notes=tuple(gathered([*a.notes, *steps.notes])),
    )


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


def all_questions(
    steps: Ladder, questions: Sequence[tuple[object, object]], wanted: Sequence[tuple[Any, Any]]
) -> tuple[list[PendingQuestion], int]:
    """Every two rungs, then what the sliders cannot ask; and the place of the first question."""
    parts = [rung.part for rung in steps.rungs]
    asked = [PendingQuestion(parts[i], parts[j], (i, j)) for i, j in combinations(range(len(parts)), 2)]
    places: list[int] = []
    for (target, region), (inner, outer) in zip(questions, wanted, strict=True):
        if inner and outer:
            rungs = steps.place(inner), steps.place(outer)
            places.append([one.rungs for one in asked].index(rungs))
        else:
            places.append(len(asked))
            asked.append(PendingQuestion(target, region, None))
    return asked, places[0]


def answer(
    a: Shows, one: PendingQuestion, shapes: dict[str, Shape], paired: Sequence[str], options: dict[str, Any]
) -> PageQuestion:
    answers = {base: _answer(a, one, base, options) for base in BASELINES}
    spreads: dict[str, Spread] = {}
    words = _words(answers, one)
    try:
        how = {name: options[name] for name in ("estimator", "seed", "of")}
        densities = a.all_densities(one.target, one.region, options["smoothing"], **how)
    except QueryError:
        densities = {}
    for name, density in densities.items():
        shape = shapes.setdefault(name, shape_of(density))
        spreads[name] = spread_of(density, shape)
    pairs = _pairs(a, one, paired, options) if paired else None
    return PageQuestion(words, one.rungs, answers, spreads, pairs)


def _answer(a: Shows, one: PendingQuestion, baseline: str, options: dict[str, Any]) -> Answer:
    try:
        importances = a.importance(one.target, one.region, baseline, **options)
    except QueryError as error:
        return Answer(None, f"This cannot be answered: {error}", str(error))
    return Answer(importances, summarize(importances))


def _words(answers: dict[str, Answer], one: PendingQuestion) -> tuple[str, str]:
    for known in answers.values():
        if known.importances is not None:
            return known.importances.target, known.importances.region
    if one.rungs is None:
        return str(one.target), str(one.region)
    return str(as_region(one.target, "target")), str(as_region(one.region, "region"))


def _paired(a: Shows, one: PendingQuestion) -> list[str]:
    """The parameters whose pairs are shown: all, or the most important ones."""
    if len(a.space) <= ALL_PAIRED:
        return list(a.space) if len(a.space) > 1 else []
    try:
        importances = a.importance(one.target, one.region, estimator="counts", draws=0, force=True)
    except QueryError:
        return list(a.space)[:MOST_PAIRED]
    return list(importances)[:MOST_PAIRED]


def _counts_pairs(a: Shows, one: PendingQuestion, questions: Sequence[tuple[object, object]]) -> bool:
    if a.rows <= PAIRS_EVERYWHERE or one.rungs is None:
        return True
    return (one.target, one.region) in [(part_of(t), part_of(r)) for t, r in questions]


def _pairs(a: Shows, one: PendingQuestion, names: Sequence[str], options: dict[str, Any]) -> Pairs:
    how = {name: options[name] for name in ("estimator", "seed", "of")}
    try:
        interactions = a.interactions(one.target, one.region, params=names, **how)
        return Pairs(interactions, a.pairs(names, one.target, one.region, cells=PLANE))
    except QueryError as error:
        return Pairs(None, refused=str(error))


def _reduced(a: Shows, target: object, options: dict[str, Any]) -> tuple[ReducedSpace | None, str]:
    try:
        return a.reduce(target, estimator=options["estimator"], seed=options["seed"]), ""
    except PedanovaError as error:
        return None, str(error)


def reached_of(a: Shows) -> tuple[tuple[float, float], ...]:
    """(objective, part of the rows at least as good) at every quantile that was counted, none of one row."""
    if a.levels.several:
        return ()
    by_level = next(iter(a.tallies.values())).rows_by_level()
    thresholds = a.levels.thresholds[list(a.levels.index)]
    held = a.levels.effective(by_level)
    points = dict(zip(thresholds.tolist(), held, strict=True))
    return tuple((x, y) for x, y in points.items() if np.isfinite(x))
