"""The facts of a page that do not depend on the question (rows, objective, parameters, slider steps, notes), and how
numbers are rounded for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.base.digits import short
from pedanova.base.names import short_names
from pedanova.base.notes import Note, shortened
from pedanova.base.threads import RESULTS
from pedanova.data.history import ROW
from pedanova.data.history import order_of as order_of_trials
from pedanova.data.regions import LEAST_TARGET, Region, as_part, as_parts, part_in_words
from pedanova.errors import LevelsError, QueryError
from pedanova.measures.bins import Bins, bins_of
from pedanova.measures.densities import Densities, drawing_of
from pedanova.measures.question import Baseline, Question
from pedanova.measures.questions.columns import other_columns, other_names
from pedanova.measures.questions.trial_data import TrialData
from pedanova.measures.studies.budgets import budget_name
from pedanova.measures.surrogate.row_model import RowModel
from pedanova.report.page.page_question import Span, labels_by_text, question_to_json
from pedanova.space.parameters import Int, Moving, Ordinal, Parameter, Space, Switch, in_words, scale_of

RUNGS = tuple(Fraction(percents, 100) for percents in (1, 2, 5, 10, 20, 50, 100))  # usual slider steps
MANY = 40  # with more parameters, those on the screen are answered first
MOST_RUNGS = 24
WHOLE = Fraction(1)
Reach: TypeAlias = Callable[[object], tuple[float, int]]


@dataclass(frozen=True, slots=True)
class Rung:
    """One step of the page's slider, such as the best 10 % of the rows; then `part` is 0.1."""

    part: Fraction
    words: str
    rows: int
    threshold: float | None  # the objective at its end; None for all rows and several objectives


@dataclass(frozen=True, slots=True)
class Ladder:
    """The slider steps, strictest first, and notes on steps that were left out."""

    rungs: tuple[Rung, ...]
    notes: tuple[Note, ...] = ()

    def place(self, part: Fraction) -> int:
        """The index of the slider step with the quantile `part`, or of the step that has the same rows."""
        parts = [rung.part for rung in self.rungs]
        return parts.index(part) if part in parts else next(i for i, p in enumerate(parts) if p > part)


def part_of(rows: object) -> Fraction | None:
    """The quantile of a target or region, or None if it is given in another way, such as a limit on the objective."""
    if isinstance(rows, Region):
        plain = rows.kind == "quantile" and not rows.low
        return (WHOLE if rows.high is None else Fraction(rows.high)) if plain else None
    if isinstance(rows, bool) or not isinstance(rows, int | float | Fraction):
        return None
    return as_part(rows, "target")


def ladder_of(
    a: TrialData,
    wanted: Iterable[Fraction],
    chosen: Iterable[object] | None,
    *,
    force: bool = False,
    of: str = "rows",
    seed: int = 0,
) -> Ladder:
    """The slider steps: all in `wanted`, and those in `chosen` or, if it is None, the usual steps with enough rows.

    The option `of` is the same as for `TrialData.reach`.
    """
    reach = partial(a.reach, of=of, seed=seed)
    needed = {*wanted, WHOLE}
    rungs: list[Rung] = []
    few: list[Rung] = []
    usual, counted = RUNGS, a.levels.quantiles
    if chosen is not None:
        needed |= set(as_parts(chosen))
        usual = ()
    elif a.observations is None and len(set(usual) & set(counted)) <= 3:  # too few of the usual steps were counted
        usual = counted[:: max(1, math.ceil(len(counted) / len(RUNGS)))]
    least = 1 if force else LEAST_TARGET
    for part in (part for part in usual if part not in needed):
        with suppress(LevelsError):  # not counted, and the rows are not available
            rung = _rung(a, reach, part)
            (rungs if rung.rows >= least else few).append(rung)
    names = ", ".join(part_in_words(rung.part) for rung in few)
    words = f"the sliders do not offer the best {names}, because a target needs at least {least} rows"
    notes = [Note("question", words)] if few else []
    rungs += [_rung(a, reach, part) for part in needed]
    if len(rungs) > MOST_RUNGS:
        raise QueryError(f"ladder: {len(rungs)} targets are too many; give at most {MOST_RUNGS}")
    return _distinct(sorted(rungs, key=lambda rung: rung.part), needed, notes)


def _rung(a: TrialData, reach: Reach, part: Fraction) -> Rung:
    threshold, rows = reach(part)
    finite = math.isfinite(threshold) and part < 1 and not a.levels.several
    uneven = part < 1 and (threshold, rows) != a.reach(part)
    words = f"{Region.parse(part, 'target')}{' of the space' * uneven}"
    return Rung(part, words, rows, threshold if finite else None)


def _distinct(rungs: list[Rung], needed: set[Fraction], notes: list[Note]) -> Ladder:
    """Remove steps that have the same rows as another step; steps in `needed` are kept."""
    kept: list[Rung] = []
    same: list[Fraction] = []
    for rung in rungs:
        if kept and kept[-1].rows == rung.rows and not {rung.part, kept[-1].part} <= needed:
            drop = kept[-1] if rung.part in needed else rung
            same.append(drop.part)
            kept[-1] = rung if drop is kept[-1] else kept[-1]
        else:
            kept.append(rung)
    if same:
        names = ", ".join(part_in_words(part) for part in sorted(same))
        words = f"the sliders do not offer the best {names}, because another step already selects the same rows"
        notes = [*notes, Note("question", words)]
    return Ladder(tuple(kept), tuple(notes))


LEAST_APART = 5  # the fewest rows between two points of the objective's distribution


def page_facts(a: TrialData, title: str, start: Question) -> dict[str, Any]:
    """The facts of a live page as JSON, with the usual slider steps."""
    parts = {part for part in (part_of(start.target), part_of(start.region)) if part}
    by_rows = start.by_rows or start.smoothing != "auto"
    model, early = a.row_model, False
    if not by_rows and len(a.tallies) > MANY and isinstance(model, RowModel) and not model.is_fitted:
        by_rows = early = True  # do not wait for a model; the page requests these facts again
    ladder = ladder_of(a, parts, None, force=True, of="rows" if by_rows else start.of, seed=start.seed)
    return facts_of(a, title, ladder, start) | {"early": early, "columns": columns_to_json(a)}


def columns_to_json(a: TrialData) -> list[dict[str, Any]]:
    """The columns that are not parameters, as JSON; those without a domain, such as dates, can only be shown."""
    others = others_of(a)
    space, shapes = (Space({}), {}) if others is None else (others.space, bins_for(others))
    names = other_names(a)
    found = {name: {"name": name, "short": name, "words": "", "brush": None, "shape": None} for name in names}
    found |= {name: parameter_of(name, space[name], shapes.get(name), name) for name in space}
    if order_of(a) == ROW and ROW not in a.space:
        found[ROW] = parameter_of(ROW, row_numbers(a), None, ROW)
    return [one | {"goal": name not in (*names, ROW)} for name, one in found.items()]


def facts_of(
    a: TrialData, title: str, ladder: Ladder, start: Question, notes: Sequence[Note] | None = None
) -> dict[str, Any]:
    """All facts that do not change with the question, as JSON; `notes` are by default those of the analysis."""
    space, shapes = a.space, bins_for(a)
    short = short_names(tuple(space))
    ends = [None if rung.threshold is None else rounded(rung.threshold) for rung in ladder.rungs]
    return {
        "title": title,
        "rows": a.rows,
        "dropped": a.dropped,
        "objective": objective_of(a),
        "parameters": [parameter_of(name, space[name], shapes.get(name), short[name]) for name in space],
        "rungs": [
            {"part": float(rung.part), "words": rung.words, "rows": rung.rows, "end": end}
            for rung, end in zip(ladder.rungs, ends, strict=True)
        ],
        "start": question_to_json(start, columns_of(a)),
        "notes": [
            {"kind": note.kind, "severity": note.severity, "text": str(note)}
            for note in shortened([*(a.notes if notes is None else notes), *ladder.notes])
        ],
        "live": False,  # whether the page can ask questions
        "columns": [],  # further columns that can be selected
        "budget": budget_name(a),  # the name of the budget, if the source has one
        "watch": False,  # whether rows may be added
    }


def objective_of(a: TrialData) -> dict[str, Any]:
    reached = [] if a.levels.several else reached_by(a)
    ends = [x for x, _ in reached if x is not None]
    origin = None if a.observations is None else a.observations.origin
    return {
        "name": a.objective,
        "direction": a.direction,
        "goals": [] if a.observations is None else [goal.name for goal in a.observations.goals],
        "order": order_of(a),
        "curves": origin is not None and origin.records.curves is not None,  # intermediate values of trials
        "several": a.levels.several,
        "directions": [] if a.observations is None else [goal.direction for goal in a.observations.goals],
        "reached": reached,
        "log": bool(ends) and min(ends) > 0 and max(ends) / min(ends) > 50,
    }


def reached_by(a: TrialData) -> list[list[float | None]]:
    """Pairs (objective, fraction of the rows that are at least as good) for the page, rounded."""
    return [[rounded(x), rounded(y)] for x, y in spaced(a)]


def spaced(a: TrialData) -> list[tuple[float, float]]:
    """Pairs (objective, fraction of rows that reach it); each pair adds at least `LEAST_APART` rows."""
    by_level = next(iter(a.tallies.values())).by_level
    thresholds = a.levels.thresholds[list(a.levels.index)]
    points: list[tuple[float, float]] = []
    last = 0.0
    for x, y in zip(thresholds.tolist(), a.levels.effective(by_level), strict=True):
        if np.isfinite(x) and round((y - last) * a.rows) >= LEAST_APART:
            last = y
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
        "whole": isinstance(parameter, Int)
        or (isinstance(parameter, Ordinal) and all(type(value) is int for value in parameter.values)),
        "log": scale_of(parameter) == "log",
        "parents": [parent for parent, _ in parameter.when],
        "shape": None if shape is None else shape_to_json(parameter, shape),
    }


def rounded(value: float, digits: int = 4) -> float | int | None:
    """The value with `digits` significant digits, or None if the value is not finite."""
    if not math.isfinite(value):
        return None
    short = float(f"{value:.{digits}g}")
    return int(short) if short.is_integer() and abs(short) < 1e15 else short


def parts(values: NDArray[np.float64], places: int = 5) -> list[float]:
    drawn: list[float] = np.round(values, places).tolist()
    return drawn


def exact(value: Any) -> Any:
    """The value for JSON, with every digit, or None if the value is not finite."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value.item() if isinstance(value, np.generic) else value


POINTS = 40  # steps of a range
BINS, OTHERS = "bins of the page", "other columns"  # keys of cached results


def bins_for(a: TrialData) -> dict[str, Bins]:
    """The bins of every parameter, from all rows of the analysis."""
    tallies = a.tallies

    def make() -> dict[str, Bins]:
        seen = {name: tally.counts.sum(axis=0)[: tally.grid.cells] for name, tally in tallies.items()}
        return {name: bins_of(tally.parameter, seen[name], POINTS) for name, tally in tallies.items()}

    return RESULTS.get(a, BINS, make)


def others_of(a: TrialData) -> TrialData | None:
    """The counts of the columns of the table that are not parameters; None if there are none."""
    return RESULTS.get(a, OTHERS, lambda: other_columns(a))


def columns_of(a: TrialData) -> Space:
    """The domains of all columns in which rows can be selected: the parameters first."""
    others = others_of(a)
    space = a.space if others is None else Space({**a.space, **others.space})
    return Space({**space, ROW: row_numbers(a)}) if order_of(a) == ROW and ROW not in space else space


def row_numbers(a: TrialData) -> Parameter:
    return Int(0, max(1, len(a.observed()) - 1))


def order_of(a: TrialData) -> str | None:
    """The column by which the trials are in the order in which they were run; None if the rows are not known."""
    return None if a.observations is None else order_of_trials(a.observations)


def draw_like(part: TrialData, whole: TrialData) -> None:
    """Use the bins and the columns of `whole` (all studies) for `part` (one study) too."""
    RESULTS.get(part, BINS, lambda: bins_for(whole))
    others = others_of(whole)
    found = RESULTS.get(part, OTHERS, lambda: None if others is None else other_columns(part, others.space))
    if others is not None and found is not None:
        RESULTS.get(found, BINS, lambda: bins_for(others))


def shape_to_json(parameter: Parameter, bins: Bins) -> dict[str, Any]:
    """The bins of a parameter as JSON: bars with labels (and values if they are numbers), or steps between edges."""
    if bins.edges is not None:
        edges = [float(edge) for edge in bins.edges]
        labels = list(bins.labels) if bins.kind == "steps" else None  # the integers in each step
        widths = None if bins.widths is None or bins.kind == "curve" else parts(bins.widths)  # a curve has equal steps
        return {"kind": "steps", "edges": edges, "labels": labels, "widths": widths, "log": bins.log}
    texts = {label: text for text, label in labels_by_text(parameter).items()}
    values = bins.values or ()
    if texts and values:
        return {"kind": "bars", "labels": [texts[value] for value in values]}
    return {"kind": "bars", "labels": list(bins.labels), **({"values": list(values)} if values else {})}


def density_to_json(density: Densities, bins: Bins, baseline: Baseline) -> dict[str, Any]:
    """The fraction of the rows in each bin as JSON; `low` and `high` are the range that chance would give."""
    drawing = drawing_of(density, bins, baseline)
    drawn = {name: parts(getattr(drawing, name)) for name in ("target", "region", "uniform")}
    drawn |= {name: parts(getattr(drawing, name), 4) for name in ("low", "high")}
    good = {"at": [[rounded(end, 6) for end in span] for span in drawing.good], "words": drawing.good_words}
    return {**drawn, "good": good, "missing": [rounded(density.missing_target), rounded(density.missing_region)]}


def inside_span(good: dict[str, Any], span: Span) -> dict[str, Any]:
    """Limit the good values of a range to the selection; smoothing may have extended them beyond it."""
    low, high = (-math.inf if span[0] is None else span[0]), (math.inf if span[1] is None else span[1])
    inside = [[max(low, start), min(high, stop)] for start, stop in good["at"] if start < high and stop > low]
    if inside == good["at"]:
        return good
    words = []
    for start, stop in inside:
        both = f"from {short(start)}" if stop == high else f"{short(start)} to {short(stop)}"
        words.append(f"up to {short(stop)}" if start == low else both)
    return {"at": inside, "words": ", ".join(words)}
