"""Scores from clues: is a column a parameter, which column is the objective, and is all that was understood right?

The weights in `role_weights.json` are those of logistic regressions. `python -m helpers.corpus fit`, in the folder
`tests`, fits them to labelled tables, and prints the errors for tables that were not used.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from importlib.resources import files
from math import exp

from pedanova.data.column_values import Values
from pedanova.data.vocabulary import BLOCK_NAMES, COUNTED_WORDS, has_head, is_setting_name, words_of

NONE = "none"  # the weight of the choice that no column is meant
LONG = 25  # characters
UNLIKELY = 0.2  # of 196 numeric columns of the corpus with lower scores, 4 were parameters
UNLIKELY_WORDS = 0.03  # the same for words and for typical names


def clues_on(
    name: str,
    values: Values,
    row: Sequence[str],
    belief: Mapping[str, float],
    objectives: Collection[str],
    together: Collection[str],
) -> dict[str, float]:
    """The clues on a column: its name, its values, its place in the row of columns, and columns that move with it.

    `belief` is 1 for each parameter, 0.5 for each doubtful one and 0 for all other columns.
    """
    numbers, place = values.kind == "numbers", row.index(name)
    before, after = [belief.get(one, 0.0) for one in row[:place]], [belief.get(one, 0.0) for one in row[place + 1 :]]
    clues = {
        "typical name": is_setting_name(name, number=numbers),
        "typical last word": has_head(name),
        "chosen values": values.looks_chosen,
        "round numbers": numbers and values.are_round,
        "few values": values.is_few,
        "words": values.kind == "words",
        "name of a block": BLOCK_NAMES.fullmatch(name) is not None,
        "flags": values.kind == "flags",
        "missing values": not values.full,
        "left of the objective": not any(one in objectives for one in row[:place]),
        "place": place / max(1, len(row) - 1),
        "behind a result": min(before, default=1.0) == 0,
        "before a parameter": max(after, default=0.0) == 1,
        "left neighbour": before[-1] if before else 0.5,
        "right neighbour": after[0] if after else 0.5,
        "between parameters": bool(before and after) and before[-1] == after[0] == 1,
        "mostly one value": numbers and values.mostly_one,
        "count": words_of(name)[-1] in COUNTED_WORDS,
        "long texts": values.kind == "words" and sum(map(len, values.texts)) > LONG * len(values.texts),
        "moves with others": bool(together),
    }
    return {clue: float(value) for clue, value in clues.items()}


@cache
def weights() -> Mapping[str, Mapping[str, float]]:
    """For each question, the weight of each clue, and the constant under the name ""."""
    read: dict[str, dict[str, float]] = json.loads(
        files("pedanova.data").joinpath("role_weights.json").read_text("utf-8")
    )
    return read


def total(question: str, clues: Mapping[str, float]) -> float:
    table = weights()[question]
    return table.get("", 0.0) + sum(table[clue] * value for clue, value in clues.items())


def score(question: str, clues: Mapping[str, float]) -> float:
    """The probability that the answer is yes: of "parameter" for a column, of "right" for a table."""
    return 1 / (1 + exp(-max(-500.0, total(question, clues))))


def likelier(question: str, choices: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """The probability of each choice, the likeliest first; what is missing to 1 is that of none of them."""
    totals = {name: total(question, clues) for name, clues in choices.items()}
    none = weights()[question][NONE]
    most = max([none, *totals.values()])
    size = exp(none - most) + sum(exp(one - most) for one in totals.values())
    return {name: exp(totals[name] - most) / size for name in sorted(totals, key=totals.__getitem__, reverse=True)}
