"""Rows and sums of the objective by [level × cell]: a tally of one parameter, counts of some rows. Both add up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.base.notes import Note, added
from pedanova.counting.levels import Levels
from pedanova.counting.moments import Moments
from pedanova.errors import Arg, MergeError
from pedanova.space.grid import Grid, grid_of
from pedanova.space.parameters import Parameter, Space


@dataclass(frozen=True, eq=False)
class Tally:
    """Counts of one parameter by level and cell. Tallies of parts add up with ``+``.

    Attributes
    ----------
    name, parameter
        Whose cells these are.
    levels
        The slices of the objective.
    counts
        (levels, cells + 2) Rows. The last two columns are the rows without a value (missing) and the
        rows whose value is not in the space (outside).
    sums
        (levels, cells + 2) The objective, summed.

    Examples
    --------
    >>> import pedanova as pa
    >>> tally = pa.analyze(pa.demo_trials(), "error", levels=[0.1]).data.tallies["solver"]
    >>> tally.counts.tolist()
    [[56, 44, 0, 0], [441, 445, 0, 0], [0, 14, 0, 0]]
    >>> (tally + tally).rows
    2000
    """

    name: str
    parameter: Parameter
    levels: Levels
    counts: NDArray[np.int64]  # (levels, cells + 2)
    sums: NDArray[np.float64] = field(repr=False)  # (levels, cells + 2) Σ objective

    def __post_init__(self) -> None:
        shape = (self.levels.count, self.grid.width)
        if self.counts.shape != shape or self.sums.shape != shape:
            raise MergeError(
                f"{self.name}: counts of shape {self.counts.shape} and sums of shape "
                f"{self.sums.shape} do not fit {shape[0]} levels of {shape[1]} cells"
            )
        for name in ("counts", "sums"):  # views, so that the caller's own arrays stay as they are
            object.__setattr__(self, name, getattr(self, name).view())
            getattr(self, name).flags.writeable = False

    @classmethod
    def empty(cls, name: str, parameter: Parameter, levels: Levels) -> Tally:
        """No rows: adding it changes nothing."""
        shape = (levels.count, grid_of(parameter).width)
        return cls(name, parameter, levels, np.zeros(shape, np.int64), np.zeros(shape))

    @cached_property
    def grid(self) -> Grid:
        return grid_of(self.parameter)

    @property
    def rows(self) -> int:
        return int(self.counts.sum())

    @cached_property
    def _reached(self) -> NDArray[np.int64]:
        """(levels + 1, cells + 2) rows before each level."""
        reached = np.zeros((len(self.counts) + 1, self.counts.shape[1]), dtype=np.int64)
        np.cumsum(self.counts, axis=0, out=reached[1:])
        return reached

    def between(self, first: int, last: int) -> NDArray[np.int64]:
        """(cells + 2,) rows in the levels from `first` up to, not including, `last`."""
        within: NDArray[np.int64] = self._reached[last] - self._reached[first]
        return within

    def rows_by_level(self) -> NDArray[np.int64]:
        by_level: NDArray[np.int64] = self.counts.sum(axis=1)
        return by_level

    def __add__(self, other: Tally) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        check_same(self, other)
        return Tally(self.name, self.parameter, self.levels, self.counts + other.counts, self.sums + other.sums)

    def __eq__(self, other: object) -> bool:
        """The same rows were counted; sums may differ in their last bits, by the order of adding."""
        return (
            isinstance(other, Tally)
            and (self.name, self.parameter) == (other.name, other.parameter)
            and self.levels == other.levels
            and np.array_equal(self.counts, other.counts)
            and np.allclose(self.sums, other.sums, rtol=1e-9, atol=_rounding(self.sums), equal_nan=True)
        )

    __hash__ = None  # type: ignore[assignment]


def _rounding(sums: NDArray[np.float64]) -> float:
    """How far sums of this size may be off by the order of adding."""
    finite = np.abs(sums[np.isfinite(sums)])
    return 1e-9 * float(finite.max(initial=0.0))


def check_same(one: Tally, two: Tally) -> None:
    """Raise where two tallies do not count the same thing."""
    if one.name != two.name:
        raise MergeError(f"parameters differ: {one.name!r} and {two.name!r} cannot be added")
    if one.parameter != two.parameter:
        raise MergeError(
            f"{one.name}: grids differ, {one.parameter} and {two.parameter}; analyze both parts with ",
            "the same ",
            Arg("space"),
        )
    unlike = one.levels.difference(two.levels)
    if unlike is not None:
        raise MergeError(f"{one.name}: {unlike}; analyze the second part with ", Arg("levels", shown="first.levels"))


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


def check_alike(one: Any, two: Any) -> None:
    """Raise where two analyses (`TrialData`) cannot be added; their tallies check the rest."""
    if one.objective != two.objective:
        raise MergeError(f"objectives differ: {one.objective!r} and {two.objective!r}")
    if one.levels.several or two.levels.several:
        raise MergeError("several objectives are ordered within one table; analyze all rows at once")
    if list(one.tallies) != list(two.tallies):
        raise MergeError(f"parameters differ: {list(one.tallies)} and {list(two.tallies)}")
