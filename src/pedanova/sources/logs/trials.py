"""Trials, as most tools log them one by one, put into columns; of several budgets the highest is used."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from pedanova.base.notes import Note
from pedanova.data.column import Column, as_column, shorten
from pedanova.data.records import CurveSource, Point, Records, SourceMetadata
from pedanova.data.row_status import STATES, state_word
from pedanova.errors import DataError, NoTrialsError, listed
from pedanova.sources.spaces.described import Described, as_number, fit
from pedanova.sources.tables.json_text import flatten
from pedanova.sources.tables.text import parse_text

ENOUGH = 10  # rows of a budget; fewer tell too little to be compared
DONE = ("COMPLETE", "SUCCESS")
NO_SPACE = Note("space", "no configuration space lies beside the log; the domains are guessed from the trials")


@dataclass(slots=True)
class Trial:
    """One run of one configuration."""

    params: Mapping[str, object]
    results: Mapping[str, object] = field(default_factory=dict)  # numbers that came out
    state: str = "COMPLETE"  # a word of `row_status.STATES`
    other: Mapping[str, object] = field(default_factory=dict)  # seed, budget, duration …


def tabulate(
    trials: Sequence[Trial],
    metadata: SourceMetadata,
    *,
    notes: Iterable[Note] = (),
    texts: bool = False,
    points: Callable[[str], Iterable[Point]] | None = None,
) -> Records:
    """Columns for settings, results, states and the rest, and what they are.

    Nested settings are flattened with dots. Settings keep their names; a result or other column
    whose name is taken gets an underscore behind it. `texts`: the tool keeps settings as text, so
    those that all read as numbers are numbers. Where `metadata` names no settings, they are all those
    that vary; where it has no objective, a single result is it. `points`: what reads a result step by step.
    """
    if not trials:
        raise NoTrialsError(f"{metadata.source or 'the log'} holds no trials; nothing can be counted")
    settings = [_flat(trial.params) for trial in trials]
    columns = {name: _column(name, [row.get(name) for row in settings], texts) for name in _keys(settings)}
    params, constant = _varying(columns) if metadata.space is None else (tuple(columns), ())
    results, renamed = _rest([_flat(trial.results) for trial in trials], columns)
    others, _ = _rest([_flat(trial.other) for trial in trials], {**columns, **results})
    columns |= results | others
    state = free_name("state", columns)
    columns[state] = as_column(state, [known_state(trial.state) for trial in trials])
    missing = {name: Column(name, np.full(len(trials), np.nan)) for name in metadata.space or () if name not in columns}
    same = f"the same in every trial and left out: {listed(list(constant))}"
    notes = [*notes, *([Note("unused", same)] if constant else [])]
    metrics = metadata.metrics or tuple(name for name, column in results.items() if column.labels is None)
    objectives = tuple(renamed.get(name, name) for name in metadata.objectives)
    return Records(
        columns | missing,
        tuple(notes),
        replace(
            metadata,
            params=metadata.params or (tuple(metadata.space) if metadata.space is not None else params),
            objectives=objectives or (metrics if len(metrics) == 1 else ()),
            metrics=metrics,
            state=state,
        ),
        None if points is None else CurveSource(points, {new: old for old, new in renamed.items()}),
    )


def free_name(name: str, taken: Iterable[str]) -> str:
    """The name, with underscores behind it until no other column has it."""
    used = set(taken)
    while name in used:
        name += "_"
    return name


def _flat(row: Mapping[str, object]) -> dict[str, object]:
    return flatten({str(key): value for key, value in row.items()})


def _keys(rows: Iterable[Mapping[str, object]]) -> list[str]:
    return list(dict.fromkeys(key for row in rows for key in row))


def _column(name: str, values: list[object], texts: bool) -> Column:
    if texts and all(value is None or isinstance(value, str) for value in values):
        return parse_text(name, ["" if value is None else str(value) for value in values])
    return as_column(name, values)


def _rest(
    rows: Sequence[Mapping[str, object]], taken: Mapping[str, Column]
) -> tuple[dict[str, Column], dict[str, str]]:
    """Columns beside the settings, and the names that some of them had to take."""
    columns: dict[str, Column] = {}
    renamed: dict[str, str] = {}
    for key in _keys(rows):
        name = free_name(key, [*taken, *columns])
        columns[name] = as_column(name, [row.get(key) for row in rows])
        if name != key:
            renamed[key] = name
    return columns, renamed


def _varying(columns: Mapping[str, Column]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Settings that differ between trials, and those that do not."""
    constant = []
    for name, column in columns.items():
        absent = column.absent()
        if absent.all() if absent.any() else (column.values == column.values[0]).all():
            constant.append(name)
    if len(constant) == len(columns):
        return tuple(columns), ()
    return tuple(name for name in columns if name not in constant), tuple(constant)


def left_out(count: int, words: str, why: str = "left out") -> list[Note]:
    """A note on what was not used, where there is any."""
    return [Note("unused", f"{count:,} {words}; {why}")] if count else []


def known_state(word: str) -> str:
    """A word of `row_status.STATES`; what nobody knows has not ended well."""
    return word if state_word(word) in STATES else "FAIL"


def budget_rule(name: str, budgets: Iterable[object]) -> str | None:
    """Which rows to compare where trials ran on different budgets; None where all ran on one.

    The largest budget that enough rows reached to be counted, or else the one with the most rows.
    """
    rows = Counter(one for one in budgets if isinstance(one, int | float) and math.isfinite(one))
    if len(rows) < 2:
        return None
    enough = [budget for budget, count in rows.items() if count >= ENOUGH]
    chosen = max(enough) if enough else max(rows, key=lambda budget: (rows[budget], budget))
    return f"{name if name.isidentifier() else f'`{name}`'} == {chosen!r}"


def only_numbers(results: Mapping[str, object]) -> dict[str, object]:
    """What may be an objective: numbers, not flags or text."""
    return {
        key: value for key, value in results.items() if isinstance(value, int | float) and not isinstance(value, bool)
    }


def tell(
    trials: Sequence[Trial],
    metadata: SourceMetadata,
    described: Described | None,
    *,
    notes: Iterable[Note] = (),
    texts: bool = False,
    points: Callable[[str], Iterable[Point]] | None = None,
) -> Records:
    """Records of trials with their space; of several budgets the highest is used, seeds are averaged."""
    if not trials:
        raise NoTrialsError(f"{metadata.source} holds no trials; wait for the first to end")
    words = list(notes)
    if described is None:
        words.append(NO_SPACE)
    else:
        space, settings, more = fit(described, [trial.params for trial in trials])
        if not space:
            raise DataError(f"{metadata.source}: every setting is constant; there is nothing to compare")
        trials = [replace(trial, params=row) for trial, row in zip(trials, settings, strict=True)]
        metadata = replace(metadata, space=space, conditions=described.conditions)
        words += more
    instances = {str(trial.other.get("instance")) for trial in trials}
    if len(instances) > 1:
        words.append(
            Note("source", f"results are averaged over {len(instances)} instances; few configurations may have met all")
        )
    several = len(instances) > 1 or len({str(trial.other.get("seed")) for trial in trials}) > 1
    trials, where = _by_budget(trials)
    metadata = replace(metadata, where=where, repeats="mean" if several else metadata.repeats)
    return tabulate(trials, metadata, notes=words, texts=texts, points=points)


def number_or_nan(value: object) -> float:
    """A result as a number; whatever is none is missing."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return float("nan")
    try:
        return float(value)
    except (ValueError, OverflowError):
        return float("nan")


def whole_or_none(value: object) -> object:
    """A seed or an id, where it is a plain value."""
    return value if isinstance(value, str | int | float) else None if value is None else shorten(value)


def _by_budget(trials: Sequence[Trial]) -> tuple[list[Trial], str | None]:
    """The trials with a column of budgets that no setting hides, and the rule for the highest.

    Results of different budgets are not to be compared; a budget that few trials had tells too little.
    """
    taken = {str(name) for trial in trials for name in (*trial.params, *trial.results)}
    name = free_name("budget", taken)
    renamed = [
        replace(trial, other={name if key == "budget" else key: value for key, value in trial.other.items()})
        for trial in trials
    ]
    ended = Counter(number_or_nan(trial.other.get(name)) for trial in renamed if trial.state in DONE)
    budgets = sorted(budget for budget in ended if budget == budget)
    if len(budgets) < 2:
        return renamed, None
    highest = next((budget for budget in reversed(budgets) if ended[budget] >= ENOUGH), budgets[-1])
    finite = as_number(highest) is not None
    return renamed, f"{name} == {highest!r}" if finite else f"{name} > {budgets[-2]!r}"
