"""Answers to the page's questions, as JSON. Each is what the shown line of Python gives, to the last digit."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

from pedanova.base.threads import ResultCache
from pedanova.data.regions import Region
from pedanova.errors import LevelsError, PedanovaError, QueryError
from pedanova.measures.bins import Bins
from pedanova.measures.densities import Densities
from pedanova.measures.importance import Importance
from pedanova.measures.question import Question
from pedanova.measures.surrogate.glance import Glance
from pedanova.report.asks import Shows
from pedanova.report.page.lines import lines_of
from pedanova.report.page.question import PageQuestion, Span
from pedanova.report.page.shapes import bins_for, density_to_json, exact, inside_span
from pedanova.report.sentences import headline, summarize

_SPREAD: WeakKeyDictionary[Shows, tuple[Any, dict[str, Densities]]] = WeakKeyDictionary()
_GLANCES: WeakKeyDictionary[Shows, ResultCache[Glance]] = WeakKeyDictionary()
_DRAWN: WeakKeyDictionary[Shows, ResultCache[dict[str, Any]]] = WeakKeyDictionary()
KEPT = 8  # questions of an analysis, from their bars to their intervals
COLUMNS = (
    "ratio", "share", "low", "high", "p_value", "p_adjusted", "significant", "varied", "divergence", "activity",
    "n_target", "n_region", "raw_ratio", "raw_share",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Inside:
    """A question's rows: where they are looked for, the choice of them, and target and region inside it."""

    rows: Shows  # all, or a sample of them
    chosen: tuple[Any, ...]  # as `within` takes it; nothing for all rows
    target: Region
    region: Region
    sample: int | None = None  # rows that stand for all, where a first answer comes from some
    weight: float = 1.0  # rows that each of them stands for

    @cached_property
    def analysis(self) -> Shows:
        """Of the selected rows; counted when it is first needed."""
        return self.rows.within(*self.chosen, at=(self.target, self.region))

    def count(self, selected: int, region: int | None = None, target: int | None = None) -> dict[str, int | None]:
        """How many rows there are, or about how many."""
        counts = {"selected": selected, "region": region, "target": target}
        return {name: None if rows is None else round(self.weight * rows) for name, rows in counts.items()}


def asked_of(a: Shows, question: PageQuestion) -> tuple[Shows, Region, Region]:
    """The analysis of the selected rows, and target and region inside it."""
    found = inside(a, question)
    return found.analysis, found.target, found.region


def inside(a: Shows, question: PageQuestion, *, of: Shows | None = None) -> Inside:
    """Where rows are selected and good rows are those of all, a part of all rows is the objective where it ends.

    `of` is a sample of the rows to look at instead of all.
    """
    rows = a if of is None else of
    sample, weight = (None, 1.0) if of is None else (of.rows, a.rows / of.rows)
    target, region = question.target, question.region
    if question.selects and question.good == "all" and not a.levels.several:
        target, region = (by_value(a if at_hand(a, one) else rows, one, question.of) for one in (target, region))
    return Inside(rows, question.rows(), target, region, sample, weight)


def at_hand(a: Shows, *bands: Region) -> bool:
    """Whether the counts that there are suffice for these parts or values of the objective."""
    by_level = next(iter(a.tallies.values())).rows_by_level()
    try:
        for band in bands:
            a.levels.find(band, by_level)
    except LevelsError:
        return False
    return True


def by_value(a: Shows, rows: Region, of: str) -> Region:
    """The values of the objective at which a part of all rows begins and ends."""
    if rows.kind == "value" or rows.is_all:
        return rows
    begin, end = ((None if part in (None, 0, 1) else a.reach(part, of=of)[0]) for part in (rows.low, rows.high))
    low, high = (begin, end) if a.direction == "minimize" else (end, begin)
    if begin is not None:  # behind the best part: its last value does not belong to the band
        low, high = (math.nextafter(begin, math.inf), end) if low == begin else (end, math.nextafter(begin, -math.inf))
    return Region("value", low, high)


def answer(
    a: Shows, question: PageQuestion, *, sure: bool = True, drawn: bool = True, source: str = "", **options: Any
) -> dict[str, Any]:
    """Importances, and densities where they are to be `drawn`; `sure` asks for intervals, p-values and notes too.

    Of a large table an answer that need not be sure comes from a sample, unless the counts at hand suffice.
    """
    asked: dict[str, Any] = {"question": question.to_json(), "sure": sure, "sample": None, "refused": None}
    try:
        found = inside(a, question, of=None if sure else some_rows(a, question))
        if sure or question.good == "selection":
            _ = found.analysis  # too few rows are refused at once
    except PedanovaError as error:
        return asked | {"refused": str(error), "lines": None, "ends": None}
    asked |= {"sample": found.sample, "ends": ends_of(a, question, found)}
    asked["lines"] = lines_of(question, found.target, found.region, source, options)
    shapes = bins_for(a)
    try:
        told = numbers(found, question, sure=sure, options=options)
        return asked | told | (spread_of(found, question, shapes, sure=sure, options=options) if drawn else {})
    except QueryError as error:
        return asked | {"refused": str(error)} | what_can_be_drawn(found, question, shapes, options)


def densities(a: Shows, question: PageQuestion, **options: Any) -> dict[str, Any]:
    """What an answer that need not be sure leaves for later: where its rows lie."""
    try:
        found = inside(a, question, of=some_rows(a, question))
        return {"refused": None} | spread_of(found, question, bins_for(a), sure=False, options=options)
    except PedanovaError as error:
        return {"refused": str(error)}


def some_rows(a: Shows, question: PageQuestion) -> Shows | None:
    """A sample to look at first, where there is one and the counts at hand do not suffice."""
    if a.excerpt is None or (not question.selects and at_hand(a, question.target, question.region)):
        return None
    return a.excerpt


def numbers(found: Inside, question: PageQuestion, *, sure: bool, options: dict[str, Any]) -> dict[str, Any]:
    if sure:
        inner = found.analysis
        table = inner.importance(found.target, found.region, question.baseline, **options, of=question.of)
        rows = inner.rows
    else:
        glance = glance_at(found, question, options)
        table, rows = glance.importances, glance.rows
    first = table.rows[0]
    return {
        "by": table.estimator,
        "words": {"target": table.target, "region": table.region},
        "headline": headline(table),
        "summary": summarize(table),
        "rows": found.count(rows, first.n_region, first.n_target),
        "importances": [importance_row(row) for row in table.rows],
        "trials": [importance_row(row) for row in table.trials] or None,
        "notes": [str(note) for note in table.notes],
    }


def glance_at(found: Inside, question: PageQuestion, options: dict[str, Any]) -> Glance:
    """Kept for a while: bars are asked for first, and then where the rows lie."""
    how = some(options, "smoothing", "estimator", "seed", "force") | {"of": question.of}
    kept = _GLANCES.setdefault(found.rows, ResultCache(KEPT))
    looking: Callable[[], Glance] = lambda: found.rows.at_once(  # noqa: E731
        Question(found.target, found.region, question.baseline, **how), within=found.chosen
    )
    return kept.get(key_of(question, how), looking)


def spread_of(
    found: Inside, question: PageQuestion, shapes: Mapping[str, Bins], *, sure: bool, options: dict[str, Any]
) -> dict[str, Any]:
    """Densities as they are drawn: the same for bars and for intervals, so they are made once."""
    how = some(options, "estimator", "seed") | {"of": question.of}

    def make() -> dict[str, Any]:
        if not sure:
            return drawn(glance_at(found, question, options).densities, question, shapes)
        return drawn(spread_over(found.analysis, found.target, found.region, **how), question, shapes)

    kept = _DRAWN.setdefault(found.rows, ResultCache(KEPT))
    return {"densities": kept.get(key_of(question, how), make)}


def key_of(question: PageQuestion, how: dict[str, Any]) -> str:
    return json.dumps([question.to_json(), how], sort_keys=True, default=str)


def spread_over(inner: Shows, target: Region, region: Region, **how: Any) -> dict[str, Densities]:
    """The densities of the last question of each analysis are kept: another baseline asks for the same."""
    key = (target, region, *sorted(how.items()))
    if inner not in _SPREAD or _SPREAD[inner][0] != key:
        _SPREAD[inner] = key, inner.all_densities(target, region, **how)
    return _SPREAD[inner][1]


def what_can_be_drawn(
    found: Inside, question: PageQuestion, shapes: Mapping[str, Bins], options: dict[str, Any]
) -> dict[str, Any]:
    """Densities of what is too little to be ranked, and how many rows there are."""
    try:
        inner = found.analysis
    except QueryError:
        return {}
    rows = found.count(inner.rows)
    try:
        first = inner.ask(found.target, found.region)[0][0]
        rows = found.count(inner.rows, int(first.region.sum()), int(first.target.sum()))
        how = some(options, "estimator", "seed") | {"of": question.of}
        densities = inner.all_densities(found.target, found.region, **how)
    except QueryError:
        return {"rows": rows}
    return {"rows": rows, "densities": drawn(densities, question, shapes)}


def drawn(densities: Mapping[str, Densities], question: PageQuestion, shapes: Mapping[str, Bins]) -> dict[str, Any]:
    found = {name: density_to_json(one, shapes[name], question.baseline) for name, one in densities.items()}
    for name, part in question.selection.items():
        if isinstance(part, Span) and name in found and shapes[name].edges is not None:
            found[name]["good"] = inside_span(found[name]["good"], part)
    return found


def ends_of(a: Shows, question: PageQuestion, found: Inside) -> dict[str, list[float | None]] | None:
    """Where target and region begin and end on the objective, None for an open end."""
    if a.levels.several:
        return None
    whole = found.analysis if question.good == "selection" else a
    ends = {}
    for name, band in (("target", found.target), ("region", found.region)):
        values = by_value(whole, band, question.of) if at_hand(whole, band) else band
        ends[name] = [exact(values.low), exact(values.high)] if values.kind == "value" else [None, None]
    return ends


def importance_row(row: Importance) -> dict[str, Any]:
    return {"parameter": row.name} | {name: exact(getattr(row, name)) for name in COLUMNS}


def some(options: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: options[name] for name in names if name in options}
