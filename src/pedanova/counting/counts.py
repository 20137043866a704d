"""Counts of some rows of a table: they add up to those of the whole."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from numpy.typing import NDArray

from pedanova.base.notes import Note, added
from pedanova.counting.levels import Levels
from pedanova.counting.moments import Moments
from pedanova.counting.tally import Tally
from pedanova.space.parameters import Space

Tallies: TypeAlias = Mapping[str, Tally]


@dataclass(slots=True)
class Counts:
    """What one part, or several, hold."""

    rows: int = 0
    counted: int = 0
    tables: dict[str, list[NDArray[Any]]] = field(default_factory=dict)  # counts, sums
    moments: Moments | None = None
    notes: list[Note] = field(default_factory=list)
    idle: frozenset[str] = frozenset()  # parameters whose condition holds in none of the rows

    def add(self, other: Counts) -> Counts:
        """Take in what another holds, which stays as it is: it may be asked for again."""
        if other.rows:
            self.idle = self.idle & other.idle if self.rows else other.idle
        self.rows += other.rows
        self.counted += other.counted
        for name, tables in other.tables.items():
            if name in self.tables:
                for own, more in zip(self.tables[name], tables, strict=True):
                    own += more
            else:
                self.tables[name] = [table.copy() for table in tables]
        if self.moments is None or other.moments is None:
            self.moments = self.moments or other.moments
        else:
            self.moments = self.moments + other.moments
        self.notes = added([*self.notes, *other.notes])
        return self

    @classmethod
    def sum(cls, parts: Iterable[Counts]) -> Counts:
        total = cls()
        for counts in parts:
            total.add(counts)
        return total

    @classmethod
    def beside(cls, slices: Sequence[Counts]) -> Counts:
        """Counts of the same rows, each of some parameters, as counts of all of them; the first takes in the others."""
        first, *others = slices
        for more in others:
            first.tables.update(more.tables)
            first.idle |= more.idle
            first.notes += [note for note in more.notes if note not in first.notes]
        return first

    def tallies(self, space: Space, levels: Levels) -> dict[str, Tally]:
        return {name: Tally(name, space[name], levels, *self.tables[name]) for name in space}
