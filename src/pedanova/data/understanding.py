"""What is understood of a table that nobody describes: its objective by scored clues, and whether to answer or to ask.

Each numeric column has clues: its name, its values, its place and its role. A softmax of their weights gives the
probability that a column is the objective. A second score, from this probability, the direction and the roles of all
columns, is the probability that everything is right; below `certain_from()` the question is asked.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import log, prod

import numpy as np

from pedanova.base.digits import percent
from pedanova.base.notes import Note
from pedanova.data.blocks import guess_blocks
from pedanova.data.column import Column, take
from pedanova.data.column_clues import SEED_NAMES, is_id
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
    as_scores,
    likely_objectives,
    other_objectives,
    part_of,
    shown_direction,
)
from pedanova.data.regions import Direction
from pedanova.data.roles import ColumnRoles, by_rules, clues_of, marked, outcomes
from pedanova.data.vocabulary import (
    COMPARED,
    COSTS,
    COUNTED_WORDS,
    COUNTS,
    ERRORS,
    MIDDLES,
    RATES,
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
ODD = 0.3  # most of the cells of an objective that may have to be mended
OTHER = 0.05  # the least probability of a column that is proposed as the objective
NOTHING = 0.5  # the least probability that no column is a result, from which none is proposed
LEAST_CERTAINTY = 0.01  # below it, a score says no more
ROLE_CLUES = ("all certain", "least certain", "none doubtful", "none untypical", "usual")
TRADED = {"recall", "gap"}  # results that are often one side of a trade-off
MANY_WORDS = 10  # a parameter has seldom more different words; names of what was solved often have


def looked_at(columns: Mapping[str, Column]) -> dict[str, Column]:
    """At most `SOME_ROWS` rows of the columns, with numbers where a text column holds numbers."""
    rows = max(map(len, columns.values()), default=0)
    some = dict(columns)
    if rows > SOME_ROWS:
        spread = np.linspace(0, rows - 1, SOME_ROWS).astype(np.int64)
        texts = {name: part_of(one, spread) for name, one in columns.items() if len(one.labels or ()) > SOME_ROWS}
        some = {**take({name: one for name, one in columns.items() if name not in texts}, spread), **texts}
        some = {name: some[name] for name in columns}
    read = {name: as_scores(column, most_strange=ODD) for name, column in some.items() if column.labels is not None}
    return some | {name: numbers[0] for name, numbers in read.items() if numbers is not None}


def objective_clues(columns: Mapping[str, Column]) -> dict[str, dict[str, float]]:
    """The clues on each column that can be the objective: it has different numbers in at least half of the rows."""
    kinds = outcomes(columns)
    named = likely_objectives(columns)
    values = {name: Values.of(column) for name, column in columns.items() if column.labels is None}
    numbers = {name: one for name, one in values.items() if one.kind == "numbers" and one.varies}
    usable = {name: one for name, one in numbers.items() if 2 * len(one.present) >= len(columns[name])}
    first = next((name for name in usable if kinds.get(name) == "result"), None)
    last = next((name for name in reversed(list(usable)) if kinds.get(name) == "result"), None)
    both = {"precision", "recall"} <= {words_of(name)[-1] for name in usable}
    named_as = {words_of(name) for name in columns}
    costs = [name for name in usable if kinds.get(name) == "cost" or _is_cost(name)]
    plain = {name for name in usable if kinds.get(name) in ("result", "perhaps")}.difference(costs)
    clues = {}
    for name, one in usable.items():
        words, telling, kind = words_of(name), (last_telling(name) or ("",))[0], kinds.get(name, "")
        known = {known_form(word) for word in words}
        seen = {
            "name of a result": name in named,
            "clear word": telling in RESULTS - UNCLEAR - GENERAL,
            "general word": telling in GENERAL,
            "unclear word": telling in UNCLEAR,
            "word for a cost": _is_cost(name),
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
            "typical of a parameter": is_setting_name(name, number=True) or has_head(name),
            "combines precision and recall": both and not known.isdisjoint(("f1", "fscore", "fbeta")),
            "combined in another": both and words[-1] in ("precision", "recall"),
            "overall": not known.isdisjoint(("total", "overall", "all")),
            "cost beside a result": name in costs and bool(plain),
            "last result": name == last,
            "only result": plain == {name},
            "count": words[0] in COUNTS or words[-1] in COUNTED_WORDS,
            "rate": not RATES.isdisjoint(words),
            "to compare with": not COMPARED.isdisjoint(words),
            "of another column": len(words) > 1 and words[:-1] in named_as and words[-1] in ERRORS,
            "best of another column": len(words) > 1 and words[0] in ("best", "worst") and words[1:] in named_as,
            "id or seed": is_id(name) or SEED_NAMES.match(name) is not None,
            "attribute": words[:2] == ("user", "attrs"),
            "mostly one value": one.mostly_one,
        }
        clues[name] = {clue: float(holds) for clue, holds in seen.items()}
    return clues


@dataclass(frozen=True, slots=True)
class ObjectiveGuess:
    """The column that is most likely the objective, the columns that are likely as well, and how clear that is."""

    name: str
    note: Note
    others: tuple[str, ...]
    is_clear: bool  # enough to answer
    is_named: bool  # enough to name it in a line to copy
    directions: Mapping[str, Direction | None]  # of all of these columns, as far as something shows them


def guess_objective(
    columns: Mapping[str, Column],
    *,
    sure: bool = False,
    directed: bool = False,
    described: bool = False,
    by_rows: ByRows | None = None,
) -> ObjectiveGuess | None:
    """The column that is most likely the objective; None if no column can be one.

    With `sure`, any guess is clear. `directed` says that the direction is given, `described` that the parameters are;
    `by_rows` guesses a direction that the name does not show.

    Examples
    --------
    >>> from pedanova.data.column import as_column
    >>> table = {"lr": [0.1, 0.2, 0.3, 0.4], "train_acc": [0.7, 0.6, 0.9, 0.8], "val_acc": [0.5, 0.6, 0.8, 0.7]}
    >>> guess_objective({name: as_column(name, values) for name, values in table.items()}).name
    'val_acc'
    """
    some = looked_at(columns)
    chances = likelier("objective", objective_clues(some))
    if not chances or (not sure and 1 - sum(chances.values()) > NOTHING):
        return None
    name, *others = (one for one, chance in chances.items() if chance >= min(OTHER, max(chances.values())))
    directions = {one: shown_direction(one, some, by_rows=by_rows) for one in (name, *others)}
    directed = directed or directions[name] is not None
    clues = right_clues(some, name, chances, directed=directed, described=described)
    right = probability(clues)
    beside = other_objectives(name, columns)
    besides = f", such as {listed(beside, most=3)}" if beside else ""
    if sure:
        words = f"{name} is used as the objective, because "
        note = Note("objective", words, Arg("yes", True), f" takes every guess{besides}", severity="warning")
    else:
        words = f"{name} is used as the objective (it and all roles are right with {percent(right)} probability); pass "
        note = Note("objective", words, Arg("objective", shown="NAME"), f" for another{besides}", severity="guess")
    trained = not TRAINING.isdisjoint(words_of(name))  # it says little about new data
    named = not trained and score("right objective", clues["objective"]) >= weights()["answer"]["line from"]
    return ObjectiveGuess(
        name, note, tuple(others), sure or (not trained and right >= certain_from()), named, directions
    )


def certain_from() -> float:
    """The probability from which an answer is given at once; the script sets it on the corpus."""
    return weights()["answer"]["from"]


def right_clues(
    columns: Mapping[str, Column],
    objective: str,
    choices: Mapping[str, float],
    *,
    directed: bool,
    described: bool = False,
) -> dict[str, dict[str, float]]:
    """Clues on whether the objective, its direction and every parameter are understood correctly, for each of them.

    `directed` says that the direction is given, or that something shows it.
    """
    word = (last_telling(objective) or ("",))[0]
    clear = _is_clear(objective)
    clues = {
        "objective": {
            "log odds": _log_odds(choices[objective]),
            "clear word": float(clear),
            "no cost": float(word not in COSTS),
            "no unclear word": float(word not in (UNCLEAR | TRADED) - {"error", "score"}),
            "no result that cannot be used": float(not any(map(_is_clear, columns.keys() - choices))),
        },
        "direction": {"clear word": float(clear), "shown": float(directed)},
    }
    blocks = guess_blocks(columns, [objective])
    names = [name for name in columns if name not in (objective, *blocks)]
    if described or marked(names) or len(names) > MOST_COMPARED:
        return clues | {"roles": dict.fromkeys(ROLE_CLUES, 0.0) | {"usual": 1.0}}
    known = by_rules(names, columns, [objective], list(columns))
    varied = [name for name in names if known.values[name].varies]
    seen = clues_of(known, varied)
    certain = [0.0 if seen else log(LEAST_CERTAINTY)]
    for name, one in seen.items():
        taken, role = score("parameter", one), known.roles[name]
        certain.append(log(max(LEAST_CERTAINTY, taken if role.is_setting else 1 - taken)))
    doubtful = sum(known.roles[name].doubt is not None for name in varied)
    strange = sum(one["nothing suggests another role"] for one in seen.values())
    taken_as = {name: known.values[name] for name in varied if known.roles[name].is_setting}
    named = {name for name in taken_as if name in seen and seen[name]["typical name"]}
    many = any(
        len(one.texts) > MANY_WORDS or (one.has_own and one.rises and name not in named)
        for name, one in taken_as.items()
    )
    usual = (named or len(taken_as) > 1) and not many and not Values.of(columns[objective]).mostly_one
    found = max(-5.0, sum(certain)), min(certain), -min(doubtful, 2), -min(strange, 3), float(bool(usual))
    return clues | {"roles": dict(zip(ROLE_CLUES, found, strict=True))}


def probability(clues: Mapping[str, Mapping[str, float]]) -> float:
    """The probability that objective, direction and every parameter are right.

    It is 0 if nothing shows the direction, or if the table is unusual: with a single parameter without a typical name,
    with a parameter of many words or an untypical one that rises from row to row, or with an objective that is mostly
    the same, the rows may be no trials.
    """
    if not (clues["direction"]["shown"] and clues["roles"]["usual"]):
        return 0.0
    return prod(score(f"right {part}", some) for part, some in clues.items())


def _is_cost(name: str) -> bool:
    return (last_telling(name) or ("",))[0] in COSTS or words_of(name)[-1] in UNITS["time"]


def _is_clear(name: str) -> bool:
    return (last_telling(name) or ("",))[0] in RESULTS - UNCLEAR - GENERAL


def _log_odds(chance: float) -> float:
    return log(max(chance, LEAST_CERTAINTY)) - log(max(1 - chance, LEAST_CERTAINTY))


def question(guess: ObjectiveGuess, roles: ColumnRoles, parameters: Mapping[str, bool]) -> Iterator[Word]:
    """What was understood of a table without a clear objective: groups of columns, and one line to copy.

    `parameters` are those of the answer to this line, and whether each of them is doubtful.
    """
    others = [name for name in guess.others if name not in parameters]
    kinds = {one.column: one.role for one in roles.rows if one.column not in parameters}
    groups = {
        "parameters": [name for name, doubtful in parameters.items() if not doubtful],
        "unsure": [name for name, doubtful in parameters.items() if doubtful],
        "results": [guess.name, *others, *(n for n, kind in kinds.items() if kind == "result" and n not in others)],
        "blocks": [name for name, kind in kinds.items() if kind == "block"],
    }
    placed = {name for names in groups.values() for name in names}
    groups["left out"] = [name for name in kinds if name not in placed]
    said = "; ".join(f"{title}: {listed(names, most=12)}" for title, names in groups.items() if names)
    yield f" is missing, and it is not clear which result counts; {said}; pass "
    way = guess.directions[guess.name] if guess.is_named else None
    name = guess.name if guess.is_named else "NAME"
    quoted = repr(name) if guess.is_named else name
    python, shell = f"pa.analyze(data, {quoted}", f"--objective {shlex.quote(name)}"
    if way is not None:
        python, shell = f"{python}, direction={way!r}", f"{shell} --direction {way[:3]}"
    yield Arg("objective", said=(f"{python})", shell))
    if not guess.is_named:
        yield f" with one of the results, perhaps {listed([guess.name, *others[:2]])}"
    if None in [guess.directions[one] for one in ([guess.name] if guess.is_named else [guess.name, *others[:2]])]:
        yield ", and "
        yield Arg("direction", "min")
        yield " or "
        yield Arg("direction", "max")
    yield f"{', another result' if guess.is_named else ''}, or "
    yield Arg("yes", True)
    yield f" to take {guess.name}"
