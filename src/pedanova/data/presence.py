"""Conditions read off the rows: a column that is missing exactly where another has certain values.

What must be known for that, rows with and without a value by the values of every column that has few,
adds up over parts: a table in parts has the conditions of the same table in memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np

from pedanova.base.notes import Note
from pedanova.data.cells import coded
from pedanova.data.column import Column
from pedanova.data.conditions import condition_in_words
from pedanova.space.parameters import Categorical, Ordinal, Parameter, Space
from pedanova.space.values import Label

MOST_VALUES = 50  # of a column that may decide over others
ROWS_A_VALUE = 4  # a column of fewer rows a value explains any gap by chance
ByValue: TypeAlias = Counter[Label | None]  # rows; None for those without a value


@dataclass(frozen=True, slots=True)
class Presence:
    """Rows by the value of each column that has few, and of them those where another has none."""

    rows: int = 0
    all: Mapping[str, ByValue] = field(default_factory=dict)
    gone: Mapping[tuple[str, str], ByValue] = field(default_factory=dict)  # by child and parent

    @classmethod
    def of(cls, columns: Mapping[str, Column], children: Iterable[str], parents: Iterable[str]) -> Presence:
        rows = len(next(iter(columns.values()))) if columns else 0
        absent = {name: columns[name].absent() for name in children}
        absent = {name: mask for name, mask in absent.items() if mask.any()}
        every: dict[str, ByValue] = {}
        gone: dict[tuple[str, str], ByValue] = {}
        for parent in parents:
            column = columns[parent] if columns[parent].is_coded else coded(columns[parent])
            codes = np.where(column.absent(), 0, column.values.astype(np.int64) + 1)
            labels = (None, *(column.labels or ()))
            every[parent] = _by_value(np.bincount(codes, minlength=len(labels)), labels)
            for child, mask in absent.items():
                if child != parent:
                    gone[child, parent] = _by_value(np.bincount(codes[mask], minlength=len(labels)), labels)
        return cls(rows, every, gone)

    @classmethod
    def sum(cls, parts: Iterable[Presence]) -> Presence:
        rows, every, gone = 0, dict[str, ByValue](), dict[tuple[str, str], ByValue]()
        for part in parts:
            rows += part.rows
            for name, counts in part.all.items():
                every.setdefault(name, Counter()).update(counts)
            for names, counts in part.gone.items():
                gone.setdefault(names, Counter()).update(counts)
        return cls(rows, every, gone)

    def condition(self, child: str) -> tuple[str, tuple[Label, ...]] | None:
        """The first parent, fewest values first, that tells present from missing without exception."""
        most = min(MOST_VALUES, self.rows // ROWS_A_VALUE)
        values = {parent: _values(counts) for parent, counts in self.all.items()}
        for parent in sorted(values, key=lambda name: len(values[name])):
            if (child, parent) in self.gone and 1 < len(values[parent]) <= most:
                total, gone = self.all[parent], self.gone[child, parent]
                settled = all(gone[value] in (0, total[value]) for value in total)
                never_without = gone[None] == total[None]  # a missing parent leaves its children missing
                present = tuple(value for value in values[parent] if not gone[value])
                # Else both are missing together: brothers, not parent and child.
                decides = any(gone[value] for value in values[parent])
                if settled and never_without and present and decides:
                    return parent, present
        return None


def _by_value(counts: np.ndarray, labels: tuple[Label | None, ...]) -> ByValue:
    return Counter({label: int(count) for label, count in zip(labels, counts, strict=True) if count})


def _values(counts: ByValue) -> list[Label]:
    """Numbers before texts."""
    present = [value for value in counts if value is not None]
    return sorted(present, key=lambda value: (isinstance(value, str), value))


def gaps_in(space: Space, columns: Mapping[str, Column]) -> list[str]:
    """Parameters without a condition that have no value in some rows."""
    return [name for name in space if not space[name].when and columns[name].absent().any()]


def may_decide(column: Column, parameter: Parameter) -> bool:
    """Whether a column has so few values that it may say when others exist."""
    if isinstance(parameter, Categorical | Ordinal):
        return True
    if column.is_coded or column.values.dtype.kind not in "biuf":
        return False
    for values in (column.values[:: max(1, len(column) // 1000)], column.values):  # a sample first, to be quick
        present = np.unique(values[~np.isnan(values)] if values.dtype.kind == "f" else values)
        if len(present) > MOST_VALUES or not np.all(present == np.floor(present)):
            return False
    return True


def with_conditions(space: Space, presence: Presence, children: Iterable[str]) -> tuple[Space, list[Note]]:
    """The space with the conditions that the rows show, and a note on each."""
    domains, notes = dict(space), []
    for name in children:
        condition = presence.condition(name)
        if condition is not None:
            domains[name] = replace(space[name], when=(condition,))  # type: ignore[arg-type]
            words = f"taken as active only when {condition_in_words(domains[name])}, for it is missing otherwise"
            notes.append(Note("condition", words, subject=name))
    return Space(domains), notes


def infer_conditions(space: Space, columns: Mapping[str, Column]) -> tuple[Space, list[Note]]:
    """Conditions of a table in memory. Parameters that have one keep it."""
    children = gaps_in(space, columns)
    if not children:
        return space, []
    parents = [name for name in space if may_decide(columns[name], space[name])]
    return with_conditions(space, Presence.of(columns, children, parents), children)
