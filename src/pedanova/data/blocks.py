"""Blocks: columns such as `dataset`, for whose values results cannot be compared; ranks are taken within each block."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pedanova.base.notes import Count, Note
from pedanova.data.column import Column, Mask
from pedanova.data.objectives import GENERAL, Goal, in_condition
from pedanova.data.row_status import configurations
from pedanova.data.vocabulary import (
    BLOCK_NAMES,
    NAMES,
    RESULTS,
    VALIDATION,
    direction_by_name,
    last_telling,
    split_of,
    words_of,
)
from pedanova.errors import Arg, DataError, listed, unknown_name
from pedanova.space.grid import relative_ranks

MOST_PARTS = 50  # names of parts of the data, or of what was measured
LEAST_ROWS = 3  # mean rows of a block, below which its ranks say little


def guess_blocks(columns: Mapping[str, Column], taken: Collection[str]) -> list[str]:
    """The columns whose names mean what was solved, and that have several values in many rows."""
    general = all((last_telling(name) or ("score",))[0] in GENERAL for name in taken)
    named = [n for n in columns if BLOCK_NAMES.fullmatch(n) or (general and names_results(n, columns[n]))]
    named = [name for name in named if name not in taken]
    named = [name for name in named if columns[name].labels is not None or not name.endswith("s")]  # a count
    found = list[str]()
    for name in (name for name in named if not columns[name].is_time and columns[name].values.dtype.kind in "biu"):
        more, alone = (configurations([columns[one] for one in names]).max() + 1 for names in ([*found, name], [name]))
        if alone > 1 and LEAST_ROWS * more <= len(columns[name]):
            found.append(name)
    return found


def check_metrics(columns: Mapping[str, Column], blocks: Collection[str]) -> None:
    """Raise an error if a block says what was measured, and low values are good for some of it, but not for all."""
    for name in blocks:
        ways = {str(label): direction_by_name(str(label)) for label in columns[name].labels or ()}
        if names_results(name, columns[name]) and len(set(ways.values())) > 1:
            where = Arg("where", shown=f"\"{in_condition(name)} == '{next(iter(ways))}'\"")
            words = f"{name} says what was measured ({listed(list(ways), most=3)}), and low values are good for some"
            raise DataError(f"{words} but not for all of it; choose one, as with ", where)


def names_results(name: str, column: Column) -> bool:
    """Whether a column says what was measured, such as accuracy or auc; the name of a loss function is a setting."""
    labels = column.labels or ()
    few = 1 < len(labels) <= MOST_PARTS and words_of(name)[-1] not in RESULTS | NAMES | {"objective"}
    return few and all((last_telling(str(label)) or ("",))[0] in RESULTS for label in labels)


def rows_of_split(columns: Mapping[str, Column], taken: Collection[str]) -> tuple[str, NDArray[np.int64], Note] | None:
    """If the rows are results of one run on several parts of the data: this column, the rows of one part, a note."""
    for name, column in columns.items():
        labels = column.labels or ()
        words = {str(label): split_of(label) for label in labels[: MOST_PARTS + 1]}
        if name in taken or not 1 < len(labels) <= MOST_PARTS or None in words.values():
            continue
        times = np.bincount(column.values[~column.absent()], minlength=len(words))
        wanted = [label for label, word in words.items() if word in VALIDATION]
        wanted = wanted or [label for label, word in words.items() if word in ("test", "holdout")]
        if not wanted or 2 * times.min() < times.max():
            continue
        rows = np.flatnonzero(column.values == list(words).index(wanted[0]))
        where = Arg("where", shown=f"\"{name} == '{next(label for label in words if label != wanted[0])}'\"")
        lost = Count(len(column) - len(rows)), " of ", Count(len(column))
        said = f" rows are other parts of the data than {wanted[0]} ({name}) and are left out; pass "
        return name, rows, Note("rows", *lost, said, where, " for another part", severity="warning")
    return None


def ranked_within(
    goals: tuple[Goal, ...], columns: Mapping[str, Column], blocks: Sequence[str], usable: Mask
) -> tuple[tuple[Goal, ...], list[Note]]:
    """The goals as ranks within each block, from 0 for the lowest value to 1 for the highest; and a note.

    Equal values have the same rank. If the usable rows are all in one block, nothing changes.

    Examples
    --------
    >>> from pedanova.data.column import as_column
    >>> goal = Goal("loss", np.array([1.0, 2.0, 70.0, 90.0]), "minimize", "loss")
    >>> table = {"dataset": as_column("dataset", ["a", "a", "b", "b"])}
    >>> goals, notes = ranked_within((goal,), table, ["dataset"], np.ones(4, dtype=bool))
    >>> goals[0].name, goals[0].values.tolist()
    ('rank of loss within dataset', [0.25, 0.75, 0.25, 0.75])
    """
    unknown = next((name for name in blocks if name not in columns), None)
    if unknown is not None:
        raise DataError("blocks: ", unknown_name(unknown, tuple(columns), what="column"))
    groups = configurations([columns[name] for name in blocks])
    count = len(np.unique(groups[usable]))
    if count < 2:
        return goals, []
    ranked = []
    for goal in goals:
        rows = np.flatnonzero(usable & ~np.isnan(goal.values))
        places = np.full(len(groups), np.nan)
        rows = rows[np.argsort(groups[rows], kind="stable")]
        for block in np.split(rows, np.flatnonzero(np.diff(groups[rows])) + 1):
            codes, times = np.unique(goal.values[block], return_inverse=True, return_counts=True)[1:]
            places[block] = relative_ranks(times)[codes]
        name = goal.name if len(goals) > 1 else f"rank of {goal.name} within {listed(list(blocks))}"
        ranked.append(replace(goal, name=name, values=places))
    words = f"ranks are taken within each of {count:,} blocks ({listed(list(blocks))}), because results of different "
    said = Arg("blocks", said=("blocks=[]", "--blocks none"))
    return tuple(ranked), [Note("objective", words, "blocks cannot be compared; pass ", said, " to compare all rows")]
