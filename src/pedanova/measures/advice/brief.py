"""A brief of an analysis: the advice in a few lines, each with the numbers behind it and the call that computes it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from operator import attrgetter
from typing import Any

import numpy as np

from pedanova.base.digits import interval, percent, short
from pedanova.base.kernel.pareto import ranks_of
from pedanova.base.table import Cell, Printed, Table, finite
from pedanova.base.terminal import printable, shorten
from pedanova.counting.few_rows import counted_rows
from pedanova.data.objectives import TO_DO
from pedanova.errors import PedanovaError
from pedanova.measures.advice.advise import gains_of, needed_of, next_trials_of
from pedanova.measures.advice.gains import Gains
from pedanova.measures.advice.next_trials import in_percent
from pedanova.measures.clear import LARGE, beats_chance, unclear
from pedanova.measures.importance import Importances
from pedanova.measures.question import Question
from pedanova.measures.questions.ask import densities_of_all, importance_of, trial_table
from pedanova.measures.questions.failures import failures_of
from pedanova.measures.questions.trial_data import TrialData

FEW_FAIL = 0.15  # good values at which more trials fail are said to
LONGEST_NAME = 80  # longer names are shortened in the texts, but not in the facts
TOPICS = ("trials", "best", "expect", "next", "fails", "stay", "matters", "where", "ranking")
SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "pedanova brief",
    "type": "object",
    "required": ["version", "objective", "direction", "trials", "lines"],
    "properties": {
        "version": {"const": 2},
        "objective": {"type": "string"},
        "direction": {"enum": ["minimize", "maximize"]},
        "trials": {"type": "integer", "minimum": 0},
        "lines": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["topic", "text", "facts", "call", "command"],
                "properties": {
                    "topic": {"enum": list(TOPICS)},
                    "text": {"type": "string"},
                    "facts": {
                        "type": "object",
                        "description": "the numbers and names behind the text; empty if unknown",
                    },
                    "call": {"type": "string", "description": "the Python call that computes it"},
                    "command": {"type": "string", "description": "the shell command without the leading 'pedanova'"},
                },
                "additionalProperties": False,
            },
        },
    },
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class BriefLine:
    """One line of a `Brief`.

    Attributes
    ----------
    topic
        ``trials``, ``best``, ``expect``, ``next``, ``fails``, ``stay``, ``matters``, ``where`` or ``ranking``.
    text
        The result in words.
    facts
        The numbers and names behind the text, as in JSON. Empty if the result is not known.
    call, command
        How to compute the result: the Python call, and the shell command.

    Examples
    --------
    >>> import pedanova as pa
    >>> line = pa.analyze(pa.demo_trials(), "error").first(200).brief().rows[1]
    >>> line.topic, line.facts["value"], line.call
    ('best', 0.01669, 'a.trials(limit=1)')
    """

    topic: str
    text: str
    call: str
    command: str
    facts: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.topic}: {self.text} [{self.call}]"


@dataclass(frozen=True, slots=True, repr=False)
class Brief(Table):
    """The advice in a few lines: ``print(brief)``, or ``brief.to_json()``.

    It says what the best trial is, what 20 further trials may still improve, which trial to run next, what fails, which
    parameters may stay as they are, and what matters.

    Attributes
    ----------
    rows
        The lines, one `BriefLine` for each result.
    objective, direction, trials
        The objective, its direction and the number of trials.

    Examples
    --------
    >>> import pedanova as pa
    >>> brief = pa.analyze(pa.demo_trials(), "error").first(200).brief()
    >>> print(str(brief).splitlines()[0])
    trials: 200 trials, 10 parameters, minimise error [a.trials()]
    """

    rows: tuple[BriefLine, ...]
    objective: str
    direction: str
    trials: int

    def printed(self) -> Printed:
        return [self.column(key, attrgetter(key), kind="words") for key in ("topic", "text", "call")]

    def to_json(self) -> str:
        """The brief as JSON; `Brief.schema` describes it."""
        about = {"version": 2, "objective": self.objective, "direction": self.direction, "trials": self.trials}
        return json.dumps(about | {"lines": [asdict(row) for row in self.rows]}, indent=1, ensure_ascii=False) + "\n"

    @staticmethod
    def schema() -> dict[str, Any]:
        """The JSON schema of `to_json`."""
        return SCHEMA

    def to_text(self) -> str:
        return "\n".join(str(row) for row in self.rows)

    def __str__(self) -> str:
        return self.to_text()


Said = tuple[str, dict[str, Any]]  # a text and the facts behind it


def named(name: str) -> str:
    return shorten(printable(name), LONGEST_NAME)


def listed(values: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{named(name)}={shorten(printable(short(value)), LONGEST_NAME)}" for name, value in values.items()
    )


def brief_of(data: TrialData, seed: int) -> Brief:
    """Compute all results of the brief; the line of a result that cannot be computed says why."""
    question = replace(data.widened(Question(seed=seed)), force=True)
    answer = importance_of(data, question)
    front = front_of(data) if data.levels.several and data.observations is not None else []
    calls, limit = CALLS, None
    if front:  # the middle trial of the front limits all objectives but the first
        limit = dict([*front[len(front) // 2]["objectives"].items()][1:])
        options = "".join(f" --limit {shlex.quote(f'{name}={end!r}')}" for name, end in limit.items())
        gains_call = f"a.gains(limit={limit!r})", f"gains{options}"
        calls = CALLS | {"best": CALLS["trials"], "expect": gains_call, "stay": gains_call}
    gains = cache(lambda: gains_of(data, None, 1.0, seed, limit))
    said: dict[str, Callable[[], Said]] = {
        "trials": lambda: contents(data),
        "best": lambda: front_trials(front) if front else best_trial(data),
        "expect": lambda: still_gained(gains(), limit) if front else expected(data, question),
        "next": lambda: next_trial(data, seed),
        "fails": lambda: failing(data),
        "stay": lambda: staying(gains()),
        "matters": lambda: mattering(answer),
        "where": lambda: good_values(data, answer, question),
        "ranking": lambda: ranking(data, question),
    }
    lines = [line(topic, one, calls[topic]) for topic, one in said.items()]
    return Brief(tuple(lines), data.objective, data.direction, data.rows)


CALLS = {
    "trials": ("a.trials()", "analyze"),
    "best": ("a.trials(limit=1)", "analyze"),
    "expect": ("a.needed().stop", "next"),
    "next": ("a.next_trials(1, 'win')", "next --number 1 --goal win"),
    "fails": ("a.importance(target='failed')", "analyze --target failed"),
    "stay": ("a.gains()", "gains"),
    "matters": ("a.importance()", "analyze"),
    "where": ("a.densities()", "densities"),
    "ranking": ("a.needed()", "next"),
}


def line(topic: str, said: Callable[[], Said], call: tuple[str, str]) -> BriefLine:
    """The line of a result; if it cannot be computed, the text is the error message."""
    try:
        text, facts = said()
    except PedanovaError as error:
        text, facts = f"not known: {error}", {}
    return BriefLine(topic, printable(" ".join(text.split())), *call, finite(facts))


def contents(data: TrialData) -> Said:
    facts = {"trials": data.rows, "parameters": list(data.space)}
    return f"{data.rows:,} trials, {len(data.space)} parameters, {TO_DO[data.direction]} {named(data.objective)}", facts


def best_trial(data: TrialData) -> Said:
    (facts,) = first_trials(data, 1)
    value = next(iter(facts["objectives"].values()))
    return f"{listed(facts['objectives'])} in {place_of(facts)}: {listed(facts['values'])}", facts | {"value": value}


def first_trials(data: TrialData, many: int) -> list[dict[str, Any]]:
    """The best trials: their places, values and objectives."""
    table = trial_table(data, Question(), limit=many)
    columns = table.to_dict()
    rows: list[dict[str, Cell]] = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return [
        {
            "row": row[table.own("row")],
            "trial": row.get(table.own("trial")),
            "values": {name: row[name] for name in table.parameters if row[name] is not None},
            "objectives": {name: row[name] for name in table.objectives},
        }
        for row in rows
    ]


def place_of(facts: Mapping[str, Any]) -> str:
    return f"row {facts['row']}" if facts["trial"] is None else f"trial {facts['trial']}"


def front_of(data: TrialData) -> list[dict[str, Any]]:
    """The trials on the Pareto front, the best by the first objective first; they are the first ones in the order."""
    observed = data.observed()
    rows = np.flatnonzero(counted_rows(observed, data.levels.nan) & ~np.isnan(observed.ranked))
    losses = np.stack([goal.sign * goal.values[rows].astype(np.float64) for goal in observed.goals], axis=1)
    front = first_trials(data, int((ranks_of(losses) == 0).sum()))
    first = observed.goals[0]
    return sorted(front, key=lambda one: first.sign * one["objectives"][first.name])


def front_trials(front: Sequence[dict[str, Any]]) -> Said:
    trials = "; ".join(f"{listed(one['objectives'])} in {place_of(one)}" for one in front)
    return f"{len(front)} trials are on the Pareto front: {trials}", {"front": front}


def still_gained(gains: Gains, limit: Mapping[str, float] | None) -> Said:
    words = f"tuning improves {named(gains.objective)} by {gains.total}, compared with the best trial{gains.level}"
    return words, {"objective": gains.objective, "limit": limit, **asdict(gains.total)}


def expected(data: TrialData, question: Question) -> Said:
    stop = needed_of(data, 0.1, question).stop
    facts = {"trials": stop.trials, "at_most": stop.better, "negligible": stop.negligible}
    return stop.of_the_value(), facts if stop.better is not None else {}


def next_trial(data: TrialData, seed: int) -> Said:
    trial = next_trials_of(data, 1, "win", None, seed).rows[0]
    text = f"{listed(trial.values)}: {trial.reason}"
    for name, (expected, low, high) in trial.predicted.items():
        what = f"{named(name)} " if len(trial.predicted) > 1 else ""
        text += f", expected {what}{short(expected)} ({short(low)} to {short(high)})"
    if trial.succeeds is not None:
        text += f", succeeds with {in_percent(trial.succeeds)} probability"
    facts = {name: getattr(trial, name) for name in ("better", "expected", "low", "high", "succeeds")}
    if len(trial.predicted) > 1:
        facts["predicted"] = dict(trial.predicted)
    return text, {"values": dict(trial.values), **facts}


def failing(data: TrialData) -> Said:
    failures = failures_of(data)
    if failures is None:
        return "hardly any trial failed, or failed trials are not known", {}
    return str(failures), {"failed": failures.failed, "trials": failures.trials, "where": dict(failures.where)}


def staying(gains: Gains) -> Said:
    facts = {"safe": list(gains.safe), "loss": gains.safe_loss}
    if not gains.safe:
        return f"no parameter is clearly safe to leave at its value in the best trial{gains.level}", facts
    names = ", ".join(map(named, gains.safe))
    return f"{names} may stay as in the best trial{gains.level} (a loss of at most {short(gains.safe_loss, 2)})", facts


def mattering(answer: Importances) -> Said:
    clear = [row for row in answer.rows if beats_chance(row)]
    others = [row for row in answer.rows if not beats_chance(row)]
    parts = [f"{named(row.name)} {percent(row.share)} ({interval(row.low or 0.0, row.high or 0.0)})" for row in clear]
    parts = [", ".join(parts) or "no parameter has a clear effect (all effects may be due to chance)"]
    for words in dict.fromkeys(unclear(row.share) for row in others if clear or row.share > LARGE):
        same = [named(row.name) for row in others if unclear(row.share) == words]
        parts.append(f"{words}: {', '.join(same)}")
    facts = [{"name": row.name, "share": row.share, "low": row.low, "high": row.high} for row in clear]
    return "; ".join(parts), {"clear": facts, "not_clear": [row.name for row in others], "target": answer.target}


def good_values(data: TrialData, answer: Importances, question: Question) -> Said:
    clear = [row.name for row in answer.rows if beats_chance(row)]
    densities = densities_of_all(data, question) if clear else {}
    good = {name: densities[name].good() for name in clear}
    fails = {name: [densities[name].failed_in(one) for one in ranges] for name, ranges in good.items()}
    parts = []
    for name, ranges in good.items():
        each = zip([one.words for one in ranges], fails[name], strict=True)
        words = [
            f"{words} (where {percent(part)} of the trials fail)" * (part > FEW_FAIL) or words for words, part in each
        ]
        parts += [f"{named(name)} {' or '.join(words)}"] if words else []
    facts = {name: [one.words for one in ranges] for name, ranges in good.items()}
    return "; ".join(parts) or "no clear ranges", {"good_values": facts, "fails": fails}


def ranking(data: TrialData, question: Question) -> Said:
    needed = needed_of(data, 0.1, question)
    first, second = map(named, needed.pair)
    apart = f"{first} is clearly ahead of {second}"
    if needed.apart.more != 0:
        apart = f"to distinguish {first} from {second}: {needed.apart} more trials"
    facts = {"settled": needed.stop.ranking_settled, "first": needed.pair[0], "first_stays": needed.stop.first_stays}
    return f"{needed.stop.of_the_ranking().rstrip('.')}; {apart}", facts
