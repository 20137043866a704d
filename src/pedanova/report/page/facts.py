"""What the page says whatever is asked: rows, objective, parameters, steps of the sliders, notes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pedanova.base.notes import Note, shortened
from pedanova.data.regions import sign_of
from pedanova.measures.bins import Bins
from pedanova.report.asks import Shows
from pedanova.report.names import short_names
from pedanova.report.page.ladder import Ladder, Rung, ladder_of, part_of
from pedanova.report.page.numbers import rounded
from pedanova.report.page.question import Question, labels_by_text
from pedanova.report.page.shapes import bins_for, shape_to_json
from pedanova.space.parameters import Int, Moving, Ordinal, Parameter, Switch, in_words, scale_of

LEAST_APART = 5  # rows between two points of the objective's distribution


def page_facts(a: Shows, title: str, start: Question, **options: Any) -> dict[str, Any]:
    """The facts of a page whose every question is asked of somebody; `options` are those of `importance`."""
    asked = {part for part in (part_of(start.target), part_of(start.region)) if part}
    plain = options.get("estimator") == "counts" or options.get("smoothing", "auto") != "auto"
    how = {"of": "rows" if plain else start.of, "seed": options.get("seed", 0)}
    ladder = ladder_of(a, asked, None, force=True, **how)
    return facts_of(a, title, ladder, bins_for(a), start, shortened([*a.notes, *ladder.notes]))


def facts_of(
    a: Shows, title: str, ladder: Ladder, shapes: Mapping[str, Bins], start: Question, notes: Sequence[Note]
) -> dict[str, Any]:
    """JSON: all that does not change with the question."""
    short = short_names(tuple(a.space))
    return {
        "title": title,
        "rows": a.rows,
        "dropped": a.dropped,
        "objective": objective_of(a),
        "parameters": [parameter_of(name, a.space[name], shapes.get(name), short[name]) for name in a.space],
        "rungs": [rung_of(rung, a) for rung in ladder.rungs],
        "start": start.to_json(),
        "notes": [note_of(note) for note in notes],
        "live": False,  # whether questions can be asked of somebody
        "budget": a.budget,  # what trials were given more or less of, where the source tells
        "watch": False,  # whether rows may be added
    }


def objective_of(a: Shows) -> dict[str, Any]:
    points = [] if a.levels.several else spaced(a)
    ends = [x for x, _ in points]
    return {
        "name": a.objective,
        "direction": a.direction,
        "several": a.levels.several,
        "reached": [[rounded(x), rounded(y)] for x, y in points],  # (objective, part of the rows at least as good)
        "log": bool(ends) and min(ends) > 0 and max(ends) / min(ends) > 50,
    }


def spaced(a: Shows) -> list[tuple[float, float]]:
    """The distribution of the objective, no two points so near that single rows could be read from it."""
    by_level = next(iter(a.tallies.values())).rows_by_level()
    thresholds = a.levels.thresholds[list(a.levels.index)]
    points: list[tuple[float, float]] = []
    held = 0.0
    for x, y in zip(thresholds.tolist(), a.levels.effective(by_level), strict=True):
        if np.isfinite(x) and round((y - held) * a.rows) >= LEAST_APART:
            held = y
            points.append((x, y))
    return points


def parameter_of(name: str, parameter: Parameter, shape: Bins | None, short: str) -> dict[str, Any]:
    labels = labels_by_text(parameter)
    return {
        "name": name,
        "short": short,
        "words": in_words(parameter),
        "brush": None if isinstance(parameter, Moving | Switch) else "labels" if labels else "range",
        "labels": list(labels),
        "whole": isinstance(parameter, Int) or (isinstance(parameter, Ordinal) and _whole(parameter)),
        "log": scale_of(parameter) == "log",
        "parents": [parent for parent, _ in parameter.when],
        "shape": None if shape is None else shape_to_json(parameter, shape),
    }


def _whole(parameter: Ordinal) -> bool:
    return all(isinstance(value, int) and not isinstance(value, bool) for value in parameter.values)


def rung_of(rung: Rung, a: Shows) -> dict[str, Any]:
    end = None if rung.threshold is None else rounded(rung.threshold)
    sign = "≤" if sign_of(a.direction) > 0 else "≥"
    where = "" if end is None else f"{a.objective} {sign} {end:g}"
    return {"part": float(rung.part), "words": rung.words, "rows": rung.rows, "end": end, "where": where}


def note_of(note: Note) -> dict[str, Any]:
    return {"kind": note.kind, "severity": note.severity, "text": str(note)}
