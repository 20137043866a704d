"""Counts that can be added: rows and objective sums by level and cell, and moments of the objective by level."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.base.notes import Note, added
from pedanova.counting.few_rows import FewRows, strung_rows
from pedanova.counting.levels import LARGEST, Levels
from pedanova.errors import Arg, MergeError
from pedanova.space.grid import Grid, grid_of
from pedanova.space.parameters import Parameter, Space

SPARSE = 4  # if at most one cell in this many has rows, only these cells are stored
SOME_EMPTY = 0.9  # if at most this part of the cells has rows, only the sums of these cells are stored


class FilledCells(NamedTuple):
    """Cells of a tally that have rows; each array has one entry for each of them."""

    level: NDArray[np.int64]
    cell: NDArray[np.int64]
    rows: NDArray[np.int64]
    sums: NDArray[np.float64]  # of the objective


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Tally:
    """Counts of rows and sums of the objective, for every level of the objective and every cell of one parameter.

    ``+`` adds the tallies of two parts of a table.

    Attributes
    ----------
    name, parameter
        The name and the domain of the parameter.
    levels
        The ranges of the objective by which rows are counted.
    counts
        The number of rows: an array with the shape (levels, cells + 2). The last two columns count rows without a value
        and rows with a value outside the space.
    sums
        The sum of the objective: an array with the same shape.

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
    _places: NDArray[np.intp] | None  # positions of the stored cells; None for all cells
    _kept: tuple[NDArray[Any], NDArray[Any]]  # counts and sums of the stored cells; sums perhaps only where counts > 0
    _later: Callable[[], NDArray[Any]] | None  # computes the sums when they are first needed

    def __init__(
        self,
        name: str,
        parameter: Parameter,
        levels: Levels,
        counts: NDArray[np.int64],
        sums: NDArray[np.float64] | Callable[[], NDArray[Any]],
        places: NDArray[np.intp] | None = None,
    ) -> None:
        """If `places` is given, `counts` and `sums` belong to the cells at these positions of the flattened table.

        Otherwise `sums` may also be a flat array of the sums in all cells with rows (see `packed`), or a function that
        computes the sums of all cells.
        """
        later, sums = (sums, np.empty(0)) if callable(sums) else (None, sums)
        if places is None and sums.ndim > 1:
            places, counts, sums = self._compressed(name, (levels.count, grid_of(parameter).width), counts, sums)
        self.__dict__.update(name=name, parameter=parameter, levels=levels, _places=places, _kept=(counts, sums))
        self.__dict__["_later"] = later

    @staticmethod
    def _compressed(
        name: str, shape: tuple[int, int], counts: NDArray[Any], sums: NDArray[np.float64]
    ) -> tuple[NDArray[np.intp] | None, NDArray[Any], NDArray[np.float64]]:
        """If few cells have rows: their positions, counts and sums.

        Otherwise: None, all counts, and the sums (of all cells, or of the cells with rows).
        """
        if counts.shape != shape or sums.shape != shape:
            raise MergeError(
                f"{name}: counts have the shape {counts.shape} and sums have the shape {sums.shape}, "
                f"but both must have the shape {shape} (levels, cells)"
            )
        many = int(np.count_nonzero(counts))
        if SPARSE * many <= counts.size:
            full = np.flatnonzero((counts != 0) | (sums != 0))
            if SPARSE * len(full) <= counts.size:
                return full, counts.ravel()[full], sums.ravel()[full]
        return None, *packed(counts, sums, many)

    @property
    def counts(self) -> NDArray[np.int64]:
        return self._whole(0)

    @property
    def sums(self) -> NDArray[np.float64]:
        return self._whole(1)

    def _both(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """The stored counts and sums."""
        if self._later is not None:
            self.__dict__.update(_kept=(self._kept[0], self._later()), _later=None)
        return self._kept

    def __getstate__(self) -> dict[str, Any]:
        """For copies in other processes, which cannot compute the sums."""
        self._both()
        return self.__dict__

    def _whole(self, which: int) -> NDArray[Any]:
        """The whole table of counts (0) or of sums (1); it is read-only, because it may share the tally's memory."""
        if which:
            self._both()
        if self._places is None and self._kept[which].ndim == 2:
            table = self._kept[which].view()
        elif self._places is None:
            table = np.zeros(self._kept[0].shape)
            table[self._kept[0] != 0] = self._kept[1]
        else:
            table = np.zeros((self.levels.count, self.grid.width), dtype=self._kept[which].dtype)
            table.ravel()[self._places] = self._kept[which]
        table = table.astype(np.float64 if which else np.int64, copy=False)
        table.flags.writeable = False
        return table

    @property
    def size(self) -> int:
        return int(self._kept[0].size)

    def __repr__(self) -> str:
        return f"Tally({self.name!r}, {self.parameter!r}, {self.levels!r}, counts={self.counts!r})"

    @cached_property
    def grid(self) -> Grid:
        return grid_of(self.parameter)

    @property
    def rows(self) -> int:
        return int(self.by_level.sum())

    def between(self, first: int, last: int) -> NDArray[np.int64]:
        """The number of rows in each cell, counting only the levels from `first` up to, but not including, `last`."""
        if (first, last) == (0, self.levels.count):
            return self.by_cell
        return self._added(first, last)

    def _added(self, first: int, last: int) -> NDArray[np.int64]:
        if self._places is None:
            counts = self._kept[0][first:last]
            if counts.dtype in (np.uint8, np.uint16) and len(counts) < 1 << 16:  # twice as fast, and no sum overflows
                counts = np.add.reduce(counts.astype(np.uint32), axis=0, dtype=np.uint32, keepdims=True)
            return np.asarray(counts.sum(axis=0, dtype=np.int64))
        width, total = self.grid.width, np.zeros(self.grid.width, dtype=np.int64)
        inside = slice(*np.searchsorted(self._places, (first * width, last * width)))
        np.add.at(total, self._places[inside] % width, self._kept[0][inside])
        return total

    def filled(self, first: int, last: int) -> FilledCells:
        """The cells with rows in the levels from `first` up to, but not including, `last`."""
        counts, sums = self._both()
        if self._places is not None:
            inside = slice(*np.searchsorted(self._places, (first * self.grid.width, last * self.grid.width)))
            some = np.flatnonzero(counts[inside]) + inside.start
            level, cell = np.divmod(self._places[some], self.grid.width)
            return FilledCells(level - first, cell, counts[some].astype(np.int64), sums[some])
        level, cell = np.nonzero(counts[first:last])
        rows = counts[first:last][level, cell].astype(np.int64)
        if sums.ndim == 2:
            return FilledCells(level, cell, rows, sums[first:last][level, cell])
        before = int(np.count_nonzero(counts[:first]))
        return FilledCells(level, cell, rows, sums[before : before + len(rows)])

    @cached_property
    def by_cell(self) -> NDArray[np.int64]:
        """The number of rows in each cell, over all levels (read-only)."""
        total = self._added(0, self.levels.count)
        total.flags.writeable = False
        return total

    def beyond(self) -> tuple[int, int]:
        """The number of rows without a value, and the number of rows with a value outside the space."""
        if self._places is None:
            missing, outside = self._kept[0][:, self.grid.missing :].sum(axis=0, dtype=np.int64)
        else:
            missing, outside = self.by_cell[self.grid.missing :]
        return int(missing), int(outside)

    @cached_property
    def by_level(self) -> NDArray[np.int64]:
        """The number of rows in each level (read-only)."""
        total = np.asarray(self.counts.sum(axis=1))
        total.flags.writeable = False
        return total

    def __add__(self, other: Tally) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        check_same(self, other)
        return Tally(self.name, self.parameter, self.levels, self.counts + other.counts, self.sums + other.sums)

    def __eq__(self, other: object) -> bool:
        """Whether the counts are equal; sums may differ by rounding, because the order of addition may differ."""
        rounding = 1e-9 * float(np.abs(self.sums[np.isfinite(self.sums)]).max(initial=0.0))
        return (
            isinstance(other, Tally)
            and (self.name, self.parameter) == (other.name, other.parameter)
            and self.levels == other.levels
            and np.array_equal(self.counts, other.counts)
            and np.allclose(self.sums, other.sums, rtol=1e-9, atol=rounding, equal_nan=True)
        )

    __hash__ = None  # type: ignore[assignment]


def packed(
    counts: NDArray[Any], sums: NDArray[np.float64], many: int | None = None
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """The counts in the smallest type, and the sums; if many cells are empty, only the sums of cells with rows.

    `many` is the number of cells with rows, if it is known.
    """
    used = int(np.count_nonzero(counts)) if many is None else many
    if used > SOME_EMPTY * counts.size or sums[counts == 0].any():
        return narrowed(counts), sums
    return narrowed(counts), sums[counts != 0]


def narrowed(counts: NDArray[np.integer]) -> NDArray[np.integer]:
    """Convert counts to the smallest integer type that can hold the largest one, usually one or two bytes."""
    if counts.dtype.kind == "u":
        return counts
    largest = counts.view(counts.dtype.str.replace("i", "u")).max(initial=0)  # a negative count becomes a huge number
    return counts if largest > np.iinfo(counts.dtype).max else counts.astype(np.min_scalar_type(largest))


def check_same(one: Tally, two: Tally) -> None:
    if one.name != two.name:
        raise MergeError(f"parameters differ: {one.name!r} and {two.name!r} cannot be added")
    if one.parameter != two.parameter:
        raise MergeError(
            f"{one.name}: domains differ: {one.parameter} and {two.parameter}; analyze both parts with ",
            "the same ",
            Arg("space"),
        )
    unlike = one.levels.difference(two.levels)
    if unlike is not None:
        raise MergeError(
            f"{one.name}: {unlike}; analyze the second part with ", Arg("levels", shown="first.data.levels")
        )


Tallies: TypeAlias = Mapping[str, Tally]


Reals = NDArray[np.float64]  # (levels,)
Powers = NDArray[np.int64]
ROUNDING = 1e-15  # relative to the terms that should cancel, a smaller difference is rounding
ORDINARY = 400  # exponents up to this size, whose squares are precise doubles
SHRUNK, STRETCHED = 600, -480  # exponents by which larger and smaller objectives are scaled before squaring


@dataclass(frozen=True, slots=True)
class ObjectiveSpread:
    """The mean and the variance of the objective over some rows. `scaled` is the variance divided by ``4 ** power``."""

    mean: float
    scaled: float
    power: int = 0

    @property
    def variance(self) -> float:
        """The variance in squared units of the objective; it may underflow to 0 or overflow to infinity."""
        return self.squared(self.scaled)

    def squared(self, scaled: float) -> float:
        """Convert a variance divided by ``4 ** power`` to squared units of the objective."""
        with np.errstate(over="ignore", under="ignore"):
            return float(np.ldexp(scaled, 2 * self.power))


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """The number of rows, Σ(f - centre) and Σ(f - centre)² in every level; f is the objective. The centre is near the
    level, to keep precision. The unit is a power of two, to avoid overflow. ``+`` adds two parts of a table."""

    centres: Reals
    rows: NDArray[np.int64]
    sums: Reals
    squares: Reals
    powers: Powers = field(default_factory=lambda: np.zeros(1, dtype=np.int64))  # (levels,)

    def __post_init__(self) -> None:
        shapes = {self.rows.shape, self.sums.shape, self.squares.shape}
        if shapes != {self.centres.shape}:
            raise MergeError(f"moments have the shapes {sorted(shapes)}, but there are {len(self.centres)} levels")
        object.__setattr__(self, "powers", np.broadcast_to(self.powers, self.centres.shape))

    def spread(self, first: int, last: int) -> ObjectiveSpread:
        """Mean and variance of the objective in the levels `first` to `last - 1`; NaN if an objective is not finite."""
        part = slice(first, last)
        rows, squares, powers = self.rows[part], self.squares[part], self.powers[part]
        total = int(rows.sum())
        if not total or not np.isfinite(squares).all():
            return ObjectiveSpread(math.nan, math.nan)
        pivot = self.centres[part][int(np.argmax(rows))]
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            off = np.where(rows > 0, self.centres[part] - pivot, 0.0)
            power = power_of(off, squares, powers)
            off, sums = np.ldexp(off, -power), np.ldexp(self.sums[part], powers - power)
            squares = np.ldexp(squares, 2 * (powers - power))
            mean = float(np.sum(rows * off + sums)) / total
            away = off - mean
            terms = np.array([squares, 2.0 * sums * away, rows * away**2])
            spread, size = float(terms.sum()) / total, float(np.abs(terms).sum()) / total
        if not math.isfinite(size):
            return ObjectiveSpread(math.nan, math.nan)
        return ObjectiveSpread(float(pivot + np.ldexp(mean, power)), spread if spread > ROUNDING * size else 0.0, power)

    def clipped(self, first: int, value: float) -> Moments:
        centres, sums, squares = self.centres.copy(), self.sums.copy(), self.squares.copy()
        centres[first:], sums[first:], squares[first:] = value, 0.0, 0.0
        return Moments(centres, self.rows, sums, squares, self.powers)

    def __add__(self, other: Moments) -> Moments:
        if not isinstance(other, Moments):
            return NotImplemented
        if not (np.array_equal(self.centres, other.centres) and np.array_equal(self.powers, other.powers)):
            raise MergeError(
                "the two parts were counted with different levels and cannot be added; analyze the second part with ",
                Arg("levels", shown="first.data.levels"),
            )
        sums, squares = self.sums + other.sums, self.squares + other.squares
        return Moments(self.centres, self.rows + other.rows, sums, squares, self.powers)


def power_of(off: Reals, squares: Reals, powers: Powers) -> int:
    """A binary exponent large enough for the distances between centres, and between rows and their centres."""
    sizes = np.concatenate([np.abs(off), np.sqrt(squares)])
    added = np.concatenate([np.zeros_like(powers), powers])
    finite = (sizes > 0) & np.isfinite(sizes)
    return int(np.max(np.frexp(sizes[finite])[1] + added[finite])) if finite.any() else 0


def centres_of(levels: Levels) -> Reals:
    """A finite number near each level, the same for all parts of a table: an array (levels,)."""
    ends = levels.thresholds
    finite = np.flatnonzero(np.abs(ends) < LARGEST)
    if not len(finite):
        return np.zeros(levels.count)
    nearest: Reals = ends[np.clip(np.arange(levels.count), finite[0], finite[-1])]
    return nearest.astype(np.float64)


def powers_of(levels: Levels) -> Powers:
    """The exponent p of each level's unit 2^p, as an array (levels,); 0 except for extreme values."""
    sizes = np.abs(levels.thresholds)
    sizes = np.where(sizes < LARGEST, sizes, 0.0)
    largest = np.maximum(sizes, np.append(0.0, sizes[:-1]))
    powers = np.frexp(largest)[1]
    return np.select([powers > ORDINARY, powers < -ORDINARY], [SHRUNK, STRETCHED], 0).astype(np.int64)


@dataclass(slots=True)
class Counts:
    rows: int = 0
    counted: int = 0
    tables: dict[str, list[Any]] = field(default_factory=dict)  # counts, sums; of few rows, their places too
    moments: Moments | None = None
    notes: list[Note] = field(default_factory=list)
    idle: frozenset[str] = frozenset()  # parameters whose condition holds in none of the rows
    sample: FewRows | None = None  # of whole configurations

    def add(self, other: Counts) -> Counts:
        """Add the counts of another part of the table to this object; `other` is not changed."""
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
        samples = [one for one in (self.sample, other.sample) if one is not None]
        self.sample = strung_rows(samples) if samples else None
        return self

    @classmethod
    def sum(cls, parts: Iterable[Counts]) -> Counts:
        total = cls()
        for counts in parts:
            total.add(counts)
        return total

    @classmethod
    def beside(cls, slices: Sequence[Counts]) -> Counts:
        """Add the counts of other parameters of the same rows to the first of `slices`, and return it."""
        first, *others = slices
        for more in others:
            first.tables.update(more.tables)
            first.idle |= more.idle
            first.notes += [note for note in more.notes if note not in first.notes]
        return first

    def tallies(self, space: Space, levels: Levels) -> dict[str, Tally]:
        """Convert the counts to tallies; each table is removed when its tally is made, to save memory."""
        return {name: Tally(name, space[name], levels, *self.tables.pop(name)) for name in space}


def check_alike(one: Any, two: Any) -> None:
    if one.objective != two.objective:
        raise MergeError(f"objectives differ: {one.objective!r} and {two.objective!r}")
    if one.levels.several or two.levels.several:
        words = "analyses of several objectives cannot be added: Pareto ranks of different tables cannot be compared"
        raise MergeError(f"{words}; analyze all rows at once")
    if list(one.tallies) != list(two.tallies):
        raise MergeError(f"parameters differ: {list(one.tallies)} and {list(two.tallies)}")
