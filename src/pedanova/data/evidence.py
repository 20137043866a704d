"""How likely a doubtful column is a parameter: a score from clues that hardly depend on the language of its name.

The weights in `role_weights.json` are those of a logistic regression. `python -m helpers.corpus fit`, in the folder
`tests`, fits them to labelled tables, and prints the errors for tables that were not used.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from importlib.resources import files
from math import exp

import numpy as np

from pedanova.data.column_values import Values
from pedanova.data.vocabulary import has_head, is_setting_name

UNLIKELY = 0.1  # of 66 columns with lower scores, cross-validated by repository, 2 were parameters


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
        "whole numbers": numbers and not np.any(values.some % 1),
        "evenly spread": values.looks_drawn(beside=True),
        "few values": values.is_few,
        "words": values.kind == "words",
        "flags": values.kind == "flags",
        "missing values": not values.full,
        "left of the objective": not any(one in objectives for one in row[:place]),
        "place": place / max(1, len(row) - 1),
        "behind a result": min(before, default=1.0) == 0,
        "before a parameter": max(after, default=0.0) == 1,
        "left neighbour": before[-1] if before else 0.5,
        "right neighbour": after[0] if after else 0.5,
        "moves with others": bool(together),
    }
    return {clue: float(value) for clue, value in clues.items()}


@cache
def weights() -> Mapping[str, float]:
    """The weight of each clue, and the constant under the name ""."""
    read: dict[str, float] = json.loads(files("pedanova.data").joinpath("role_weights.json").read_text("utf-8"))
    return read


def score(clues: Mapping[str, float]) -> float:
    """The probability that a doubtful column with these clues is a parameter."""
    return 1 / (1 + exp(-weights()[""] - sum(weights()[clue] * value for clue, value in clues.items())))
