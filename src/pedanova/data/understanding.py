"""What is understood of a table that nobody describes: its objective by scored clues, and whether to answer or to ask.

Each numeric column has clues: its name, its values, its place and its role. A softmax of their weights gives the
probability that a column is the objective. A second score, from this probability, the direction and the roles of all
columns, is the probability that everything is right; below `certain_from()` the question is asked.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from math import log, prod

import numpy as np

from pedanova.base.notes import Note
from pedanova.data.blocks import guess_blocks
from pedanova.data.column import Column, as_numbers, take
from pedanova.data.column_values import MOST_COMPARED, Values
from pedanova.data.evidence import likelier, score, weights
from pedanova.data.objectives import (
    GENERAL,
    LOSSES,
    PLAIN_NAMES,
    SINGLE,
    SPREAD,
    TRAINING,
    ByRows,
    in_order,
    likely_objectives,
    other_objectives,
    shown_direction,
)
from pedanova.data.regions import Direction
from pedanova.data.roles import Role, by_rules, clues_of, marked, outcomes, roles_of
from pedanova.data.vocabulary import (
    COSTS,
    MIDDLES,
    RESULTS,
    UNCLEAR,
    UNITS,
    VALIDATION,
    has_head,
    is_setting_name,
    known_form,
    last_telling,
    words_of,
)
from pedanova.errors import Arg, Word, listed

SOME_ROWS = 1_000  # rows that are looked at
HARDLY = 0.2  # of 83 doubtful columns of the corpus with lower scores, 4 were parameters; of 39 with higher ones, 18
LEAST_CERTAINTY = 0.01  # below it, a score says no more
ROLE_CLUES = ("all certain", "least certain", "none doubtful", "none untypical")


def looked_at(columns: Mapping[str, Column]) -> dict[str, Column]:
    """At most `SOME_ROWS` rows of the columns, with numbers where a text column holds numbers."""
    rows = max(map(len, columns.values()), default=0)
    some = dict(columns)
    if rows > SOME_ROWS:
        some = dict(take(columns, np.linspace(0, rows - 1, SOME_ROWS).astype(np.int64)))
    read = {name: as_numbers(column) for name, column in some.items() if column.labels is not None}
    return some | {name: numbers[0] for name, numbers in read.items() if numbers is not None}


def objective_clues(columns: Mapping[str, Column]) -> dict[str, dict[str, float]]:
    """The clues on each column that can be the objective: it has different numbers in at least half of the rows."""
    kinds = outcomes(columns)
    named = likely_objectives(columns)
    values = {name: Values.of(column) for name, column in columns.items() if column.labels is None}
    numbers = {name: one for name, one in values.items() if one.kind == "numbers" and one.varies}
    usable = {name: one for name, one in numbers.items() if 2 * len(one.present) >= len(columns[name])}
    first = next((name for name in usable if kinds.get(name) == "result"), None)
    endings = Counter(words_of(name)[-2:] for name in usable)
    last_words = {words_of(name)[-1] for name in usable}
    both = {"precision", "recall"} <= last_words
    clues = {}
    for name, one in usable.items():
        words, telling, kind = words_of(name), (last_telling(name) or ("",))[0], kinds.get(name, "")
        known = {known_form(word) for word in words}
        seen = {
            "name of a result": name in named,
            "clear word": telling in RESULTS - UNCLEAR - GENERAL,
            "general word": telling in GENERAL,
            "unclear word": telling in UNCLEAR,
            "word for a cost": telling in COSTS or words[-1] in UNITS["time"],
            "plain name": words in (*SINGLE, *PLAIN_NAMES) or "objective" in words,
            "validation": not known.isdisjoint(VALIDATION),
            "test": not known.isdisjoint(("test", "eval", "holdout")),
            "training": not known.isdisjoint(TRAINING),
            "measure of spread": not SPREAD.isdisjoint(words),
            "mean": not MIDDLES.isdisjoint((words[0], words[-1])),
            "loss": telling in LOSSES,
            "best or last value": not known.isdisjoint(("best", "final")),
            "result of one part": words[0].startswith("split") and words[0][-1].isdigit(),
            "role: result": kind == "result",
            "role: cost": kind == "cost",
            "role: doubtful": kind == "perhaps",
            "role: parameter": kind == "number",
            "first result": name == first,
            "different in every row": one.has_own,
            "few values": one.is_few,
            "round numbers": one.are_round,
            "whole numbers": not np.any(one.some % 1),
            "missing values": not one.full,
            "rows sorted by it": in_order(columns[name]),
            "length of the name": min(len(words), 5) / 5,
            "typical of a parameter": is_setting_name(name, number=True) or has_head(name),
            "combines precision and recall": both and not known.isdisjoint(("f1", "fscore", "fbeta")),
            "combined in another": both and words[-1] in ("precision", "recall"),
            "overall": not known.isdisjoint(("total", "overall", "all")),
            "one of a family": len(words) > 1 and endings[words[-2:]] > 2,
        }
        clues[name] = {clue: float(holds) for clue, holds in seen.items()}
    return clues


def guess_objective(
    columns: Mapping[str, Column],
    *,
    sure: bool = False,
    directed: bool = False,
    described: bool = False,
    by_rows: ByRows | None = None,
) -> tuple[str, Note] | None:
    """The column that is most likely the objective, and a note; None if it is better to ask.

    With `sure`, any guess is taken. `directed` says that the direction is given, `described` that the parameters are;
    `by_rows` guesses a direction that the name does not show.

    Examples
    --------
    >>> from pedanova.data.column import as_column
    >>> table = {"lr": [0.1, 0.2, 0.3, 0.4], "train_acc": [0.7, 0.6, 0.9, 0.8], "val_acc": [0.5, 0.6, 0.8, 0.7]}
    >>> guess_objective({name: as_column(name, values) for name, values in table.items()}, sure=True)[0]
    'val_acc'
    """
    some = looked_at(columns)
    chances = likelier("objective", objective_clues(some))
    if not chances:
        return None
    name = next(iter(chances))
    others = other_objectives(name, columns)
    beside = f", such as {listed(others, most=3)}" if others else ""
    if sure:
        words = f"{name} is used as the objective, because "
        return name, Note("objective", words, Arg("yes", True), f" takes every guess{beside}", severity="warning")
    directed = directed or shown_direction(name, some, by_rows=by_rows) is not None
    right = probability(right_clues(some, name, chances[name], directed=directed, described=described))
    if right < certain_from():
        return None
    words = f"{name} is used as the objective ({right:.0%} likely with all roles); pass "
    return name, Note("objective", words, Arg("objective", shown="NAME"), f" for another{beside}", severity="guess")


def certain_from() -> float:
    """The probability from which an answer is given at once; the script sets it on the corpus."""
    return weights()["answer"]["from"]


def right_clues(
    columns: Mapping[str, Column], objective: str, chance: float, *, directed: bool, described: bool = False
) -> dict[str, dict[str, float]]:
    """Clues on whether the objective, its direction and every parameter are understood correctly, for each of them.

    `directed` says that the direction is given, or that something shows it.
    """
    word = (last_telling(objective) or ("",))[0]
    clear = word in RESULTS - UNCLEAR - GENERAL
    clues = {
        "objective": {
            "log odds": _log_odds(chance),
            "likely": float(chance > 0.9),
            "clear word": float(clear),
            "no cost": float(word not in COSTS),
        },
        "direction": {"clear word": float(clear), "shown": float(directed)},
    }
    blocks = guess_blocks(columns, [objective])
    names = [name for name in columns if name not in (objective, *blocks)]
    if described or marked(names) or len(names) > MOST_COMPARED:
        return clues | {"roles": dict.fromkeys(ROLE_CLUES, 0.0)}
    known = by_rules(names, columns, [objective], list(columns))
    varied = [name for name in names if known.values[name].varies]
    seen = clues_of(known, varied)
    certain = [0.0 if seen else log(LEAST_CERTAINTY)]
    for name, one in seen.items():
        taken, role = score("parameter", one), known.roles[name]
        certain.append(log(max(LEAST_CERTAINTY, taken if role.is_setting else 1 - taken)))
    doubtful = sum(known.roles[name].doubt is not None for name in varied)
    strange = sum(one["nothing suggests another role"] for one in seen.values())
    found = max(-5.0, sum(certain)), min(certain), -min(doubtful, 2), -min(strange, 3)
    return clues | {"roles": dict(zip(ROLE_CLUES, found, strict=True))}


def probability(clues: Mapping[str, Mapping[str, float]]) -> float:
    """The probability that objective, direction and every parameter are right; 0 if nothing shows the direction."""
    if not clues["direction"]["shown"]:
        return 0.0
    return prod(score(f"right {part}", some) for part, some in clues.items())


def _log_odds(chance: float) -> float:
    return log(max(chance, LEAST_CERTAINTY)) - log(max(1 - chance, LEAST_CERTAINTY))


def question(table: Mapping[str, Column], by_rows: ByRows | None = None) -> Iterator[Word]:
    """What was understood of a table without a clear objective: four groups of columns, and one line to copy."""
    some = looked_at(table)
    chances = likelier("objective", objective_clues(some))
    if not chances:
        yield f" is missing; name one of the columns: {listed(list(table), most=40)}"
        return
    likely = next(iter(chances))
    kinds = outcomes(some)
    results = [name for name in chances if name == likely or kinds.get(name) in ("result", "cost")]
    others = [name for name in table if name not in results]
    roles = roles_of(others, lambda _: some, results, list(table))[1]
    varied = {name: role for name, role in roles.items() if role.is_setting and Values.of(some[name]).varies}
    sure = [name for name, role in varied.items() if role.doubt is None]
    unsure = [name for name in varied if name not in sure]
    results += [name for name, role in roles.items() if role.name in ("result", "time")]
    left = [name for name in others if name not in (*varied, *results)]
    groups = {"parameters": sure, "results": results, "left out": left, "unsure": unsure}
    said = "; ".join(f"{title}: {listed(names, most=12)}" for title, names in groups.items() if names)
    yield f" is missing, and it is not clear which result counts; {said}; pass "
    way = shown_direction(likely, some, by_rows=by_rows)
    yield Arg("objective", said=_to_copy(likely, way or "minimize", _unlikely(varied, unsure)))
    if way is None:
        yield " (if higher is better: "
        yield Arg("direction", "max")
        yield ")"
    yield ", another result, or "
    yield Arg("yes", True)
    yield " for this guess"


def _unlikely(roles: Mapping[str, Role], unsure: Collection[str]) -> list[str]:
    """The doubtful columns that are probably not parameters; none if no other column is left."""
    unlikely = [name for name in unsure if (roles[name].chance or 0.0) < HARDLY]
    return unlikely if len(unlikely) < len(roles) else []


def _to_copy(likely: str, way: Direction, exclude: list[str]) -> tuple[str, str]:
    """The call in Python and the options in a shell that answer the question."""
    python = f"pa.analyze(data, {likely!r}, direction={way!r}"
    shell = f"--objective {shlex.quote(likely)} --direction {way[:3]}"
    if exclude:
        python += f", exclude={exclude!r}"
        shell += f" --exclude {shlex.quote(','.join(exclude))}"
    return f"{python})", shell
