"""What few rows tell beyond their counts, to be kept in a file: the model's table, and p-values of usual questions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.base.files import Attachment
from pedanova.data.regions import Direction, Region
from pedanova.errors import FormatError
from pedanova.measures.chance.kinship import Gate, Twins
from pedanova.measures.significance import LEAST_TARGET
from pedanova.measures.surrogate.drawn import Drawn
from pedanova.measures.surrogate.estimate import FEWEST_ROWS
from pedanova.measures.surrogate.fold import FINE, fold_of
from pedanova.measures.surrogate.knowledge import Asked, KeptKnowledge, Knowledge, PValues
from pedanova.measures.surrogate.learner import Lesson, Skill
from pedanova.measures.surrogate.rungs import Rungs, Span
from pedanova.measures.surrogate.sampler import SamplerEvidence
from pedanova.space.grid import grid_of
from pedanova.space.parameters import Space

USUAL_PARTS = tuple(Fraction(percents, 100) for percents in (1, 2, 5, 10, 20, 50, 100))  # that pages and people ask for
MOST_POINTS = 1 << 16
MOST_DRAWS = 1 << 10


def kept_of(known: Knowledge, direction: Direction, *, objection: str = "") -> Attachment:
    """All that a file keeps; what is usual to ask is asked now. No model, where there is an objection to it."""
    lesson = known.lesson(0) if len(known.rows) >= FEWEST_ROWS else None
    if objection and lesson is not None:
        lesson = replace(lesson, drawn=None, objection=objection)
    for target, region in usual_spans(known, lesson, direction):
        known.p_values(target, region, seed=0)
    about: dict[str, Any] = {
        "adaptive": bool(known.adaptive),
        "blocks": known.blocks,
        "gates": [[gate.parent, gate.child] for gate in known.gates],
        "twins": [[pair.one, pair.two, pair.told] for pair in known.twins],
        "lesson": None if lesson is None else about_lesson(lesson),
        "names": list(known.kinship.names),
        "asked": [[*target, *region, int(blocks), seed] for target, region, blocks, seed in known.asked],
    }
    arrays = {"values": known.rungs.values, "rows": known.rungs.rows, "p": p_table(known)}
    if lesson is not None and lesson.drawn is not None:
        arrays |= lesson.drawn.to_arrays()
    return Attachment(about, arrays)


def usual_spans(known: Knowledge, lesson: Lesson | None, direction: Direction) -> Iterator[tuple[Span, Span]]:
    """Of the rows; and after an adaptive sampler of the space as well."""
    drawn = None if lesson is None else lesson.drawn
    ladders: list[tuple[Rungs, bool]] = [(known.rungs, False)]
    if drawn is not None and drawn.uneven:
        ladders.append((drawn.rungs, True))
    for rungs, of_space in ladders:
        regions = [Region("quantile", Fraction(0), part) for part in USUAL_PARTS]
        spans = [rungs.span(region, direction, of_space=of_space) for region in regions]
        for target, region in combinations(dict.fromkeys(spans), 2):
            if LEAST_TARGET <= rungs.size(target) < rungs.size(region):
                yield target, region


def p_table(known: Knowledge) -> NDArray[np.float64]:
    """(questions, parameters)"""
    names = known.kinship.names
    table = [[found.get(name, 1.0) for name in names] for found in known.asked.values()]
    return np.array(table, dtype=np.float64).reshape(len(table), len(names))


def about_lesson(lesson: Lesson) -> dict[str, Any]:
    return {
        "correlation": lesson.skill.correlation,
        "judged": lesson.skill.rows,
        "together": lesson.sampler.together,
        "again": lesson.sampler.again,
        "drift": lesson.sampler.drift,
        "repeated": lesson.sampler.repeated,
        "configurations": lesson.configurations,
        "objection": lesson.objection,
        "drawn": lesson.drawn is not None,
    }


def kept_from(attachment: Attachment, space: Space, rows: int) -> KeptKnowledge:
    """The inverse of `kept_of`, distrustful."""
    about, arrays = attachment.header, attachment.arrays
    rungs = rungs_in(arrays, rows)
    names = tuple(map(text_in, about["names"]))
    if any(name not in space for name in names):
        raise FormatError("tests parameters that it does not have")
    return KeptKnowledge(
        rungs=rungs,
        gates=tuple(Gate(*map(text_in, pair)) for pair in about["gates"]),
        twins=tuple(Twins(text_in(one), text_in(two), float(told)) for one, two, told in about["twins"]),
        taught=None if about["lesson"] is None else lesson_in(about["lesson"], space, rungs, arrays),
        adaptive=bool(about["adaptive"]),
        blocks=bool(about["blocks"]),
        asked=asked_in(about["asked"], names, arrays["p"]),
    )


def rungs_in(arrays: Mapping[str, NDArray[Any]], rows: int) -> Rungs:
    values, counts = arrays["values"], arrays["rows"]
    rising = len(values) and len(values) == len(counts) and bool(np.all(np.diff(values) > 0))
    if not rising or not np.all(np.diff(counts, prepend=0) > 0) or int(counts[-1]) != rows:
        raise FormatError("has objectives that are not in order")
    return Rungs(values.astype(np.float64), counts.astype(np.int64), counts / counts[-1])


def asked_in(asked: list[list[int]], names: tuple[str, ...], table: NDArray[Any]) -> dict[Asked, PValues]:
    if table.shape != (len(asked), len(names)) or not np.all((table >= 0) & (table <= 1)):
        raise FormatError("has p-values that cannot be")
    found: dict[Asked, PValues] = {}
    for (first, last, begin, end, blocks, seed), line in zip(asked, table.tolist(), strict=True):
        key = (int(first), int(last)), (int(begin), int(end)), bool(blocks), int(seed)
        found[key] = dict(zip(names, line, strict=True))
    return found


def lesson_in(about: Mapping[str, Any], space: Space, rungs: Rungs, arrays: Mapping[str, NDArray[Any]]) -> Lesson:
    drift = None if about["drift"] is None else float(about["drift"])
    return Lesson(
        skill=Skill(float(about["correlation"]), int(about["judged"])),
        sampler=SamplerEvidence(float(about["together"]), float(about["again"]), drift, bool(about["repeated"])),
        configurations=int(about["configurations"]),
        drawn=drawn_in(space, rungs, arrays) if about["drawn"] else None,
        objection=text_in(about["objection"]),
    )


def drawn_in(space: Space, rungs: Rungs, arrays: Mapping[str, NDArray[Any]]) -> Drawn:
    order, parts = arrays["order"], arrays["parts"]
    if order.ndim != 2 or not 0 < order.shape[0] <= MOST_DRAWS or not 0 < order.shape[1] <= MOST_POINTS:
        raise FormatError("has a model's table of a shape that cannot be")
    every = np.arange(order.shape[1])
    if order.dtype != np.uint16 or any(not np.array_equal(np.sort(line), every) for line in order):
        raise FormatError("has points of a model that are not in an order")
    if parts.shape != rungs.values.shape or not np.all(np.diff(parts, prepend=0.0) >= 0) or abs(parts[-1] - 1) > 1e-9:
        raise FormatError("has parts of the space that are not in order")
    if len(arrays["wide"]) != len(space) or len(arrays["varies"]) != len(space):
        raise FormatError("has a model of other parameters")
    drawn = Drawn.from_arrays(space, rungs, arrays)
    for column, parameter in zip(drawn.points, space.values(), strict=True):
        if column.shape != every.shape or int(column.max(initial=0)) >= fold_of(grid_of(parameter), FINE).cells:
            raise FormatError("has points of a model outside the space")
    return drawn


def text_in(value: object) -> str:
    if not isinstance(value, str):
        raise FormatError(f"has {value!r} where text belongs")
    return value
