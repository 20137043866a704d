"""Guess the objective of a table from the names of columns and the order of rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from pedanova.base.notes import Note
from pedanova.data.column import Column, as_numbers
from pedanova.data.column_values import is_word
from pedanova.data.regions import sign_of
from pedanova.data.vocabulary import (
    DEVIATIONS,
    MIDDLES,
    RESULTS,
    UNCLEAR,
    VALIDATION,
    direction_by_name,
    last_telling,
    words_of,
)
from pedanova.errors import Arg, listed

SPREAD = DEVIATIONS - MIDDLES
SINGLE = (("score",), ("objective",), ("fitness",))  # names of the main result in a table with several results
PLAIN_NAMES = (("value",), ("objective", "value"), ("objective",))
LEAST_VALUES = 12  # the fewest distinct values of a column whose name may also be that of a parameter
LEAST_ROWS = 10  # the fewest rows whose order counts; fewer may be sorted by chance
A_LOOK = 1_000
ALIKE, PARTLY = 0.9, 0.5  # rank correlations
TRAINING = {"train", "training"}
LOSSES = {"loss", "losses", "logloss", "nll", "crossentropy"}  # substitutes for the metric that is wanted


def guess_objective(columns: Mapping[str, Column]) -> tuple[str, Note] | None:
    """The column that is most likely the objective, and a note; None if no column stands out.

    Examples
    --------
    >>> from pedanova.data.column import as_column
    >>> table = {"lr": [0.1, 0.2, 0.3, 0.4], "train_acc": [0.7, 0.6, 0.9, 0.8], "val_acc": [0.5, 0.6, 0.8, 0.7]}
    >>> guess_objective({name: as_column(name, values) for name, values in table.items()})[0]
    'val_acc'
    """
    results = likely_objectives(columns)
    for names, why in _rules(results, columns):
        if len(names) == 1:
            name, column = names[0], columns[names[0]]
            has_words = column.labels is not None and as_numbers(column) is None
            return None if has_words else (name, _note(name, why, results))
    return None


def likely_objectives(columns: Mapping[str, Column]) -> list[str]:
    """Numeric columns whose names suggest a result, but not a standard deviation.

    If there are none, numeric columns with a general name such as `value` or `objective`.
    """
    named = [name for name in columns if _tells_result(name)]
    numbers = [name for name in named if _differs(name, columns[name])]
    return numbers or [name for name in columns if words_of(name) in PLAIN_NAMES and _differs(name, columns[name])]


def _tells_result(name: str) -> bool:
    telling = last_telling(name)
    return telling is not None and telling[0] in RESULTS and words_of(name)[-1] not in SPREAD


def _differs(name: str, column: Column) -> bool:
    """Whether a column can be a result: at least half of its rows have a number, and the numbers differ.

    A text column can be a result too, if most of its values are numbers.
    """
    if column.labels is not None and (read := as_numbers(column)) is not None:
        column = read[0]
    if column.labels is not None:
        return len(column.labels) > LEAST_VALUES and 2 * sum(map(is_word, column.labels)) < len(column.labels)
    if column.is_time or column.values.dtype.kind == "b":
        return False
    telling = (last_telling(name) or ("",))[0]
    present = column.values[~column.absent()]
    least = LEAST_VALUES if telling in UNCLEAR and telling != "score" else 1
    return 2 * len(present) >= len(column) and len(np.unique(present[:A_LOOK])) > least


def _rules(results: Sequence[str], columns: Mapping[str, Column]) -> Iterator[tuple[Sequence[str], str]]:
    """For each rule, yield its candidates and its reason; the first rule with exactly one candidate decides."""
    yield results, "the only column whose name is typical of a result"
    results = [name for name in results if SPREAD.isdisjoint(words_of(name))] or results
    yield results, "the only result that is not a minimum, a maximum or a measure of spread"
    yield [name for name in results if _in_order(columns[name])][:1], "the rows are sorted by this column"
    yield [name for name in results if words_of(name) in SINGLE], "the result with the most general name"
    yield [name for name in results if words_of(name)[0] in MIDDLES], "the only result that is a mean"
    validation = [name for name in results if not VALIDATION.isdisjoint(words_of(name))]
    yield validation, "the only validation result"
    no_training = [name for name in results if TRAINING.isdisjoint(words_of(name))]
    yield no_training, "the only result that is not from training"
    likely = validation or no_training
    if _rank_alike(likely, columns, ALIKE):
        finest = max(likely, key=lambda name: len(np.unique(columns[name].values)))
        yield [finest], "all results rank the rows in the same way"
    if _rank_alike(validation, columns, PARTLY):
        scores = [name for name in validation if LOSSES.isdisjoint(words_of(name))]
        yield scores, "the only validation result that is not a loss"


def _rank_alike(names: Sequence[str], columns: Mapping[str, Column], least: float) -> bool:
    """Whether all columns rank the rows similarly: their rank correlations with the first one exceed `least`."""
    ranks = []
    for name in names:
        column, direction = columns[name], direction_by_name(name)
        if column.labels is not None or column.absent().any() or direction is None:
            return False
        ranks.append(sign_of(direction) * np.unique(column.values, return_inverse=True)[1].astype(np.float64))
    if len(ranks) < 2 or len(ranks[0]) < LEAST_ROWS:
        return False
    return all(np.corrcoef(ranks[0], other)[0, 1] > least for other in ranks[1:])


def _in_order(column: Column) -> bool:
    values = column.values
    if column.labels is not None or len(values) < LEAST_ROWS or column.absent().any():
        return False
    up, down = np.count_nonzero(values[1:] > values[:-1]), np.count_nonzero(values[1:] < values[:-1])
    return bool(min(up, down) == 0 and max(up, down) >= LEAST_ROWS // 2)


def _note(name: str, why: str, results: Sequence[str]) -> Note:
    others = [other for other in results if other != name]
    beside = f", such as {listed(others, most=3)}" if others else ""
    words = f"{name} is used as the objective ({why}); pass "
    return Note("objective", words, Arg("objective", shown="NAME"), f" for another{beside}", severity="guess")
