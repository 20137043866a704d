"""The view as compact JSON for the page.

Importances keep every digit: the page shows what Python says. What is only drawn has a few digits, and
lists that occur again are written once, in a pool.
"""

from __future__ import annotations

import json
import math
from base64 import b64encode
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from pedanova.data.regions import sign_of
from pedanova.measures.importance import Importance, Importances
from pedanova.measures.interactions import Interaction
from pedanova.measures.plane import PairDensity
from pedanova.report.page.ladder import Rung
from pedanova.report.page.shapes import Shape, Spread
from pedanova.report.page.specs import SLOTS, all_specs
from pedanova.report.page.view import BASELINES, Answer, PageQuestion, Pairs, View

DIGITS = 4
LINES = 24  # of the profile
ESCAPES = {ord("<"): "\\u003c", ord(">"): "\\u003e", ord("&"): "\\u0026"}
Item = TypeVar("Item", bound=Hashable)


@dataclass(slots=True)
class Pool(Generic[Item]):
    """Things by number, each kept once."""

    items: list[Item] = field(default_factory=list)
    places: dict[Item, int] = field(default_factory=dict)

    def add(self, item: Item) -> int:
        if item not in self.places:
            self.places[item] = len(self.items)
            self.items.append(item)
        return self.places[item]


@dataclass(slots=True)
class Pools:
    """What questions share."""

    vectors: Pool[tuple[Any, ...]] = field(default_factory=Pool)
    texts: Pool[str] = field(default_factory=Pool)
    counts: Pool[str] = field(default_factory=Pool)


def to_json(view: View) -> str:
    """The payload, safe inside a script element: no letter in it can end the element."""
    text = json.dumps(payload_of(view), separators=(",", ":"), allow_nan=False)
    return text.translate(ESCAPES)


def payload_of(view: View) -> dict[str, Any]:
    pools, places = Pools(), places_of(view)
    questions = [_question(one, view, pools) for one in view.questions]
    percents = [100 * float(rung.part) for rung in view.ladder.rungs[:-1]]
    return {
        "title": view.title,
        "objective": view.objective,
        "direction": view.direction,
        "several": view.several,
        "names": list(view.names),
        "rungs": [_rung(rung, view) for rung in view.ladder.rungs],
        "questions": questions,
        "start": view.start,
        "baseline": view.baseline,
        "shapes": [_shape(view.shapes.get(name)) for name in view.names],
        "slots": [place if place < SLOTS else -1 for place in places],
        "drawn": [place < LINES for place in places],  # the profile would be a thicket of all
        "reached": [[rounded(x), rounded(100 * y)] for x, y in spaced(view)],
        "vectors": [list(vector) for vector in pools.vectors.items],
        "texts": pools.texts.items,
        "counts": pools.counts.items,
        "specs": all_specs(percents, log_objective=wants_log(view), objective=view.objective),
    }


def rounded(value: float, digits: int = DIGITS) -> float | int | None:
    """So many significant digits; None for what is no number."""
    if not math.isfinite(value):
        return None
    short = float(f"{value:.{digits}g}")
    return int(short) if short.is_integer() and abs(short) < 1e15 else short


def exact(value: Any) -> Any:
    """As JSON can say it."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value.item() if isinstance(value, np.generic) else value


def _rung(rung: Rung, view: View) -> dict[str, Any]:
    end = None if rung.threshold is None else rounded(rung.threshold)
    sign = "≤" if sign_of(view.direction) > 0 else "≥"
    where = "" if end is None else f"{view.objective} {sign} {end:g}"
    return {"words": rung.words, "percent": 100 * float(rung.part), "rows": rung.rows, "end": end, "where": where}


def _shape(shape: Shape | None) -> dict[str, Any] | None:
    if shape is None:
        return None
    if shape.edges is None:
        return {"labels": list(shape.labels)}
    return {"edges": [rounded(edge, 6) for edge in shape.edges], "log": shape.log}


def _question(one: PageQuestion, view: View, pools: Pools) -> dict[str, Any]:
    rows = next((a.importances.rows[0] for a in one.answers.values() if a.importances is not None), None)
    if rows is not None:
        sizes: list[int | None] = [rows.n_target, rows.n_region]
    else:
        sizes = [None, None] if one.rungs is None else [view.ladder.rungs[i].rows for i in one.rungs]
    return {
        "words": list(one.words),
        "rungs": one.rungs,
        "sizes": sizes,
        "answers": {base: _answer(one.answers[base], view.names, pools) for base in BASELINES},
        "spreads": [_spread(one.spreads.get(name), view.shapes.get(name), pools) for name in view.names],
        "pairs": None if one.pairs is None else _pairs(one.pairs, view.names, pools),
    }


def _answer(one: Answer, names: Sequence[str], pools: Pools) -> dict[str, Any]:
    said = {"summary": pools.texts.add(one.summary)}
    if one.importances is None:
        return {**said, "refused": one.refused}
    notes = [pools.texts.add(note) for note in one.importances.notes]
    return {
        **said,
        "notes": notes,
        "estimator": one.importances.estimator,
        "order": [names.index(name) for name in one.importances],
        "columns": columns_of(one.importances),
    }


def columns_of(importances: Importances) -> dict[str, Any]:
    """Every column of the table in full; one that is constant or equal to another is said as such."""
    columns = {name: [exact(cell) for cell in cells] for name, cells in importances.to_dict().items()}
    columns.pop("parameter")
    written: dict[str, Any] = {}
    for name, cells in columns.items():
        twin = next((other for other in written if columns[other] == cells), None)
        if len(set(cells)) == 1:
            written[name] = {"all": cells[0]}
        elif twin is not None:
            written[name] = {"as": twin}
        else:
            written[name] = packed(cells)
    return written


def packed(cells: list[Any]) -> Any:
    """Doubles as the base64 of their bytes, which is exact and half as long as their digits; None is NaN."""
    if not all(cell is None or isinstance(cell, float) for cell in cells):
        return cells
    numbers = np.array([math.nan if cell is None else cell for cell in cells], dtype="<f8")
    return {"doubles": b64encode(numbers.tobytes()).decode("ascii")}


def _spread(spread: Spread | None, shape: Shape | None, pools: Pools) -> list[Any] | None:
    if spread is None or shape is None:
        return None
    parts = [spread.target, spread.region, spread.uniform]
    if shape.edges is not None:
        known = spread.uniform > 0
        base = np.where(known, spread.uniform, 1.0)
        drawn, digits = [np.where(known, part / base, 0.0) for part in parts], 3
    else:
        drawn, digits = [100 * part for part in parts], DIGITS
    vectors = [pools.vectors.add(tuple(rounded(float(v), digits) for v in part)) for part in drawn]
    shades = [spread.good[base] for base in BASELINES]
    good = [pools.vectors.add(tuple(rounded(at, 6) for at in shade.at)) for shade in shades]
    words = [pools.texts.add(shade.words) for shade in shades]
    return [*vectors, *good, *words, rounded(spread.missing_target), rounded(spread.missing_region)]


def _pairs(pairs: Pairs, names: Sequence[str], pools: Pools) -> dict[str, Any]:
    if pairs.interactions is None:
        return {"refused": pairs.refused}
    rows = [_pair(row, pairs.planes[_key(row, pairs)], names, pools) for row in pairs.interactions.rows]
    return {
        "cells": pairs.interactions.cells,
        "rows": rows,
        "notes": [pools.texts.add(n) for n in pairs.interactions.notes],
    }


def _key(row: Interaction, pairs: Pairs) -> tuple[str, str]:
    key = (row.first, row.second)
    return key if key in pairs.planes else key[::-1]


def _pair(row: Interaction, plane: PairDensity, names: Sequence[str], pools: Pools) -> list[Any]:
    parts = (row.interaction, row.closed, row.additive, row.redundancy, row.p_adjusted)
    numbers = [rounded(part, 3) for part in parts]
    cells = [pools.vectors.add(tuple(labels)) for labels in (plane.first_cells, plane.second_cells)]
    counts = [pools.counts.add(packed_counts(part)) for part in (plane.target, plane.region)]
    part = int(plane.target.sum()) / max(1, int(plane.region.sum()))
    places = [names.index(plane.first), names.index(plane.second)]
    return [*places, *numbers, row.significant, *cells, *counts, rounded(part, 6)]


def packed_counts(table: NDArray[np.int64]) -> str:
    """Whole numbers as base64 of as few bytes as the largest needs, which the first letter tells."""
    size = next(size for size in (1, 2, 4, 8) if int(table.max(initial=0)) < 1 << (8 * size))
    return f"{size}{b64encode(table.astype(f'<u{size}').tobytes()).decode('ascii')}"


def places_of(view: View) -> list[int]:
    """Each parameter's place by how much it matters over all questions, what may be noise not counted."""
    total, first = dict.fromkeys(view.names, 0.0), dict.fromkeys(view.names, 0.0)
    for one in view.questions:
        for row in rows_of(one, view.baseline):
            total[row.name] += row.ratio if row.significant is not False else 0.0
    first |= {row.name: row.ratio for row in rows_of(view.questions[view.start], view.baseline)}
    ordered = sorted(view.names, key=lambda name: (-total[name], -first[name]))
    return [ordered.index(name) for name in view.names]


def rows_of(one: PageQuestion, baseline: str) -> tuple[Importance, ...]:
    importances = one.answers[baseline].importances
    return () if importances is None else importances.rows


def spaced(view: View, least: int = 5) -> Iterable[tuple[float, float]]:
    """The distribution of the objective, no two points so near that single rows could be read from it."""
    held = 0.0
    for x, y in view.reached:
        if round((y - held) * view.rows) >= least:
            held = y
            yield x, y


def wants_log(view: View) -> bool:
    ends = [x for x, _ in spaced(view)]
    return bool(ends) and min(ends) > 0 and max(ends) / min(ends) > 50
