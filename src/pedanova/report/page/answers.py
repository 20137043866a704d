"""Answers to the page's questions, as JSON. Each is what the shown line of Python gives, to the last digit."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, wraps
from typing import Any, ParamSpec, Unpack, cast
from weakref import WeakKeyDictionary

from pedanova.base.threads import ResultCache
from pedanova.data.regions import Region
from pedanova.errors import PedanovaError, QueryError
from pedanova.measures.bins import Bins
from pedanova.measures.densities import Densities
from pedanova.measures.importance import Importance
from pedanova.measures.question import How, Question
from pedanova.measures.questions.ask import densities_of_all, importance_of
from pedanova.measures.questions.trial_data import TrialData
from pedanova.measures.surrogate.answer import Glance
from pedanova.report.page.lines import lines_of
from pedanova.report.page.question import PageQuestion, Span
from pedanova.report.page.shapes import bins_for, density_to_json, exact, inside_span
from pedanova.report.sentences import headline, summarize

_SPREAD: WeakKeyDictionary[TrialData, tuple[Any, dict[str, Densities]]] = WeakKeyDictionary()
_GLANCES: WeakKeyDictionary[TrialData, ResultCache[Glance]] = WeakKeyDictionary()
_DRAWN: WeakKeyDictionary[TrialData, ResultCache[dict[str, Any]]] = WeakKeyDictionary()
KEPT = 8  # questions of an analysis, from their bars to their intervals
Given = ParamSpec("Given")
COLUMNS = (
    "ratio", "share", "low", "high", "p_value", "p_adjusted", "significant", "varied", "divergence", "activity",
    "n_target", "n_region", "raw_ratio", "raw_share",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Inside:
    """A question's rows: where they are looked for, the choice of them, and target and region inside it."""

    rows: TrialData  # all, or a sample of them
    chosen: tuple[Any, ...]  # as `within` takes it; nothing for all rows
    target: Region
    region: Region
    sample: int | None = None  # rows that stand for all, where a first answer comes from some
    weight: float = 1.0  # rows that each of them stands for

    @cached_property
    def analysis(self) -> TrialData:
        """Of the selected rows; counted when it is first needed."""
        return self.rows.within(*self.chosen, at=(self.target, self.region))

    def count(self, selected: int, region: int | None = None, target: int | None = None) -> dict[str, int | None]:
        """How many rows there are, or about how many."""
        counts = {"selected": selected, "region": region, "target": target}
        return {name: None if rows is None else round(self.weight * rows) for name, rows in counts.items()}


def asked_of(a: TrialData, question: PageQuestion) -> tuple[TrialData, Region, Region]:
    """The analysis of the selected rows, and target and region inside it."""
    here = inside(a, question)
    return here.analysis, here.target, here.region


def inside(a: TrialData, question: PageQuestion, *, of: TrialData | None = None) -> Inside:
    """Where rows are selected and good rows are those of all, a part of all rows is the objective where it ends.

    `of` is a sample of the rows to look at instead of all.
    """
    rows = a if of is None else of
    sample, weight = (None, 1.0) if of is None else (of.rows, a.rows / of.rows)
    target, region = question.target, question.region
    if question.selects and question.good == "all" and not a.levels.several:
        target, region = ((a if a.has_counts_for(one) else rows).by_value(one, question.of) for one in (target, region))
    return Inside(rows, question.rows(), target, region, sample, weight)


def importance_row(row: Importance) -> dict[str, Any]:
    return {"parameter": row.name} | row_to_json(row, COLUMNS)


def row_to_json(row: object, columns: Sequence[str]) -> dict[str, Any]:
    return {name: exact(getattr(row, name)) for name in columns}


def rows_of(rows: Sequence[object], columns: Sequence[str]) -> list[dict[str, Any]]:
    return [row_to_json(row, columns) for row in rows]


def texts_of(notes: Sequence[object]) -> list[str]:
    return [str(note) for note in notes]


def refusing(answer: Callable[Given, dict[str, Any]]) -> Callable[Given, dict[str, Any]]:
    """What cannot be answered is refused in words, as a part of the JSON."""

    @wraps(answer)
    def answered(*args: Given.args, **kwargs: Given.kwargs) -> dict[str, Any]:
        try:
            return {"refused": None} | answer(*args, **kwargs)
        except PedanovaError as error:
            return {"refused": str(error)}

    return answered


def answer(
    a: TrialData, question: PageQuestion, *, sure: bool = True, drawn: bool = True, source: str = "", **how: Unpack[How]
) -> dict[str, Any]:
    """Importances, and densities where they are to be `drawn`; `sure` asks for intervals, p-values and notes too.

    Of a large table an answer that need not be sure comes from a sample, unless the counts at hand suffice.
    """
    result: dict[str, Any] = {"question": question.to_json(), "sure": sure, "sample": None, "refused": None}
    try:
        here = inside(a, question, of=None if sure else some_rows(a, question))
        if sure or question.good == "selection":
            _ = here.analysis  # too few rows are refused at once
    except PedanovaError as error:
        return result | {"refused": str(error), "lines": None, "ends": None}
    result |= {"sample": here.sample, "ends": ends_of(a, question, here)}
    result["lines"] = lines_of(question, here.target, here.region, source, how)
    shapes = bins_for(a)
    try:
        table = numbers(here, question, how, sure=sure)
        return result | table | (spread_of(here, question, shapes, how, sure=sure) if drawn else {})
    except QueryError as error:
        return result | {"refused": str(error)} | what_can_be_drawn(here, question, shapes, how)


@refusing
def densities(a: TrialData, question: PageQuestion, **how: Unpack[How]) -> dict[str, Any]:
    """What an answer that need not be sure leaves for later: where its rows lie."""
    here = inside(a, question, of=some_rows(a, question))
    return spread_of(here, question, bins_for(a), how, sure=False)


def some_rows(a: TrialData, question: PageQuestion) -> TrialData | None:
    """A sample to look at first, where there is one and the counts at hand do not suffice."""
    if a.excerpt is None or (not question.selects and a.has_counts_for(question.target, question.region)):
        return None
    return a.excerpt


def numbers(here: Inside, question: PageQuestion, how: How, *, sure: bool) -> dict[str, Any]:
    if sure:
        table = importance_of(here.analysis, Question(here.target, here.region, **question.how(how)))
        rows = here.analysis.rows
    else:
        glance = glance_at(here, question, how)
        table, rows = glance.importances, glance.rows
    first = table.rows[0]
    return {
        "by": table.estimator,
        "words": {"target": table.target, "region": table.region},
        "headline": headline(table),
        "summary": summarize(table),
        "rows": here.count(rows, first.n_region, first.n_target),
        "importances": [importance_row(row) for row in table.rows],
        "trials": [importance_row(row) for row in table.trials] or None,
        "notes": texts_of(table.notes),
    }


def glance_at(here: Inside, question: PageQuestion, how: How) -> Glance:
    """Kept for a while: bars are asked for first, and then where the rows lie."""
    options = only(how, "smoothing", "estimator", "seed", "force")

    def look() -> Glance:
        wanted = Question(here.target, here.region, **question.how(options))
        return here.rows.at_once(wanted, within=here.chosen)

    return _GLANCES.setdefault(here.rows, ResultCache(KEPT)).get(key_of(question, options), look)


def spread_of(
    here: Inside, question: PageQuestion, shapes: Mapping[str, Bins], how: How, *, sure: bool
) -> dict[str, Any]:
    """Densities as they are drawn: the same for bars and for intervals, so they are made once."""
    options = only(how, "estimator", "seed")

    def make() -> dict[str, Any]:
        if not sure:
            return drawn(glance_at(here, question, how).densities, question, shapes)
        return drawn(spread_over(here, question, options), question, shapes)

    return {"densities": _DRAWN.setdefault(here.rows, ResultCache(KEPT)).get(key_of(question, options), make)}


def key_of(question: PageQuestion, how: How) -> str:
    return json.dumps([question.to_json(), how], sort_keys=True, default=str)


def only(how: How, *names: str) -> How:
    return cast("How", {name: value for name, value in how.items() if name in names})


def spread_over(here: Inside, question: PageQuestion, how: How) -> dict[str, Densities]:
    """The densities of the last question of each analysis are kept: another baseline asks for the same."""
    inner, key = here.analysis, (here.target, here.region, question.of, *sorted(how.items()))
    if inner not in _SPREAD or _SPREAD[inner][0] != key:
        asking = replace(Question(here.target, here.region, **how), of=question.of, force=True)
        _SPREAD[inner] = key, densities_of_all(inner, asking)
    return _SPREAD[inner][1]


def what_can_be_drawn(here: Inside, question: PageQuestion, shapes: Mapping[str, Bins], how: How) -> dict[str, Any]:
    """Densities of what is too little to be ranked, and how many rows there are."""
    try:
        inner = here.analysis
    except QueryError:
        return {}
    rows = here.count(inner.rows)
    try:
        first = inner.contrasts(here.target, here.region)[0][0]
        rows = here.count(inner.rows, int(first.region.sum()), int(first.target.sum()))
        densities = spread_over(here, question, only(how, "estimator", "seed"))
    except QueryError:
        return {"rows": rows}
    return {"rows": rows, "densities": drawn(densities, question, shapes)}


def drawn(densities: Mapping[str, Densities], question: PageQuestion, shapes: Mapping[str, Bins]) -> dict[str, Any]:
    result = {name: density_to_json(one, shapes[name], question.baseline) for name, one in densities.items()}
    for name, part in question.selection.items():
        if isinstance(part, Span) and name in result and shapes[name].edges is not None:
            result[name]["good"] = inside_span(result[name]["good"], part)
    return result


def ends_of(a: TrialData, question: PageQuestion, here: Inside) -> dict[str, list[float | None]] | None:
    """Where target and region begin and end on the objective, None for an open end."""
    if a.levels.several:
        return None
    whole = here.analysis if question.good == "selection" else a
    ends = {}
    for name, band in (("target", here.target), ("region", here.region)):
        values = whole.by_value(band, question.of) if whole.has_counts_for(band) else band
        ends[name] = [exact(values.low), exact(values.high)] if values.kind == "value" else [None, None]
    return ends
