"""A brief of an analysis in at most 300 tokens: one line for each result, with the call that computes it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from operator import attrgetter
from typing import Any

from pedanova.base.digits import interval, percent, short
from pedanova.base.table import Printed, Table
from pedanova.base.terminal import printable, shorten
from pedanova.data.objectives import TO_DO
from pedanova.errors import PedanovaError
from pedanova.measures.advice.advise import gains_of, needed_of, next_trials_of
from pedanova.measures.advice.gains import Gains
from pedanova.measures.advice.needed import FIRST_STAYS, Needed
from pedanova.measures.importance import OF_TRIALS, Importances, beats_chance, reached_in_words
from pedanova.measures.question import Question
from pedanova.measures.questions.ask import densities_of_all, importance_of
from pedanova.measures.questions.trial_data import TrialData

TOKENS = 300  # of the whole text
LINE_TOKENS = 34  # of the text of one line
LONGEST_NAME = 24
NAMED, LOCATED = 3, 2  # the number of parameters whose shares and whose good values are shown
TOPICS = ("trials", "matters", "where", "sure", "gain", "next", "beware")
SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "pedanova brief",
    "type": "object",
    "required": ["version", "objective", "direction", "trials", "lines"],
    "properties": {
        "version": {"const": 1},
        "objective": {"type": "string"},
        "direction": {"enum": ["minimize", "maximize"]},
        "trials": {"type": "integer", "minimum": 0},
        "lines": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["topic", "text", "call", "command"],
                "properties": {
                    "topic": {"enum": list(TOPICS)},
                    "text": {"type": "string"},
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
        ``trials``, ``matters``, ``where``, ``sure``, ``gain``, ``next`` or ``beware``.
    text
        The result in a few words.
    call, command
        How to compute the result: the Python call, and the shell command.

    Examples
    --------
    >>> import pedanova as pa
    >>> line = pa.analyze(pa.demo_trials(), "error").first(200).brief().rows[1]
    >>> line.topic, line.call
    ('matters', 'a.importance()')
    """

    topic: str
    text: str
    call: str
    command: str

    def __str__(self) -> str:
        return f"{self.topic}: {self.text} [{self.call}]"


@dataclass(frozen=True, slots=True, repr=False)
class Brief(Table):
    """The results of an analysis in at most 300 tokens: ``print(brief)``, or ``brief.to_json()``.

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
        about = {"version": 1, "objective": self.objective, "direction": self.direction, "trials": self.trials}
        return json.dumps(about | {"lines": [asdict(row) for row in self.rows]}, indent=1, ensure_ascii=False) + "\n"

    @staticmethod
    def schema() -> dict[str, Any]:
        """The JSON schema of `to_json`."""
        return SCHEMA

    def to_text(self) -> str:
        return "\n".join(str(row) for row in self.rows)

    def __str__(self) -> str:
        return self.to_text()


def tokens_in(text: str) -> int:
    """An upper estimate of the number of tokens."""
    return len(re.findall(r"[^\W\d_]{1,4}|\d{1,3}|[^\w\s]|_", text))


def cut(text: str, most: int = LINE_TOKENS) -> str:
    """Cut a text after the last word that fits into `most` tokens."""
    words = printable(" ".join(text.split())).split(" ")
    while len(words) > 1 and tokens_in(" ".join(words)) > most:
        words.pop()
    kept = " ".join(words)
    return kept if len(kept) >= len(" ".join(text.split())) else f"{kept.rstrip(',;:')} …"


def named(name: str) -> str:
    return shorten(printable(name), LONGEST_NAME)


def brief_of(data: TrialData, seed: int) -> Brief:
    """Compute all results of the brief; the line of a result that cannot be computed says why."""
    question = replace(data.widened(Question(seed=seed)), force=True)
    answer = importance_of(data, question)
    lines = [
        line(
            "trials",
            f"{data.rows:,} trials, {len(data.space)} parameters, {TO_DO[data.direction]} {named(data.objective)}",
        ),
        line("matters", matters_in_words(answer)),
        line("where", attempt(lambda: where_in_words(data, answer, question))),
        line("sure", attempt(lambda: sure_in_words(needed_of(data, 0.1, question)))),
        line("gain", attempt(lambda: gain_in_words(gains_of(data, None, 1.0, seed)))),
        line("next", attempt(lambda: next_in_words(data, seed))),
        line("beware", beware_in_words(answer)),
    ]
    return Brief(tuple(lines), named(data.objective), data.direction, data.rows)


CALLS = {
    "trials": ("a.trials()", "analyze"),
    "matters": ("a.importance()", "analyze"),
    "where": ("a.densities()", "densities"),
    "sure": ("a.needed()", "next"),
    "gain": ("a.gains()", "gains"),
    "next": ("a.next_trials(goal='win')", "next --goal win"),
    "beware": ("a.notes", "analyze --notes"),
}


def line(topic: str, text: str) -> BriefLine:
    call, command = CALLS[topic]
    return BriefLine(topic, cut(text), call, command)


def attempt(words: Callable[[], str]) -> str:
    """Return the text from `words()`, or the error message if it raises an error."""
    try:
        return words()
    except PedanovaError as error:
        return f"not known: {error}"


def matters_in_words(answer: Importances) -> str:
    sure = [row for row in answer.rows if beats_chance(row)][:NAMED]
    noise = [named(row.name) for row in answer.rows if row.significant is False]
    parts = [f"{named(row.name)} {percent(row.share)} ({interval(row.low or 0.0, row.high or 0.0)})" for row in sure]
    words = ", ".join(parts) or "no parameter has a clear effect (all effects may be due to chance)"
    return f"{words}; no clear effect: {', '.join(noise)}" if noise else words


def where_in_words(data: TrialData, answer: Importances, question: Question) -> str:
    clear = [row for row in answer.rows if beats_chance(row)][:LOCATED]
    densities = densities_of_all(data, question) if clear else {}
    parts = []
    for row in clear:
        good = [one.words for one in densities[row.name].good()][:2]
        parts += [f"{named(row.name)} {' or '.join(good)}"] if good else []
    return "; ".join(parts) or "no clear ranges"


def sure_in_words(needed: Needed) -> str:
    first, second = map(named, needed.pair)
    stop, go_on = needed.stop, "run more trials"
    if stop.settled:
        go_on = "more trials will hardly change the result"
    elif stop.better is not None and stop.first_stays >= FIRST_STAYS:
        go_on = "more trials may improve the best value"
    elif stop.better is not None and stop.better <= stop.negligible:
        go_on = "run more trials only for a more certain ranking"
    stays = f"{first} stays first with {percent(stop.first_stays)} probability"
    apart = f"clearly ahead of {second}" if needed.apart.more == 0 else f"not clearly ahead of {second}"
    apart += "" if needed.apart.more == 0 else f" (needs {needed.apart} more)"
    return f"{go_on}; {stays}; {apart}"


def gain_in_words(gains: Gains) -> str:
    safe = f"; safe to leave at the default: {', '.join(map(named, gains.safe))}" if gains.safe else ""
    return f"tuning all parameters improves the objective by {gains.total} over {gains.default_source}{safe}"


def next_in_words(data: TrialData, seed: int) -> str:
    trial = next_trials_of(data, 1, "win", None, seed).rows[0]
    values = ", ".join(f"{named(name)}={short(value, 2)}" for name, value in trial.values.items())
    why = trial.reason if trial.expected is None else f"expected {short(trial.expected, 2)}"
    return f"{why}: {values}"


def beware_in_words(answer: Importances) -> str:
    goal = reached_in_words(OF_TRIALS.sub("", answer.target))
    words = f"importances show what decides whether a trial {goal}, not what changes the objective"
    uneven = [note for note in answer.notes if "not drawn evenly" in note]
    return f"{words}; trials were not drawn evenly" if uneven else f"{words}; a high importance does not prove a cause"
