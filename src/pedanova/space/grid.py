"""Divide the domain of a parameter into cells; two more cells are for missing values and values outside the domain."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.errors import SpaceError
from pedanova.space.parameters import Categorical, Float, Int, Moving, Ordinal, Parameter, Switch, scale_of
from pedanova.space.values import Label, as_real

MAX_CELLS = 1001
FEW_CELLS = 12  # a parameter with at most this many cells is never smoothed
EXTRA_CELLS = 2  # for missing values and values outside the space
SMALL_PARTS, CROWDED = 20, 5.0  # rows crowd if one of so many equal parts has so many times its rows
UNEVEN = 0.1  # the divergence from the prior from which cells are merged until they have equally many rows
EVEN_CELLS, FEWEST_EVEN = 2.0, 50  # cells of equally many rows: this many times √rows, and at least so many
ROUNDING = 2.0**-23  # the largest relative error of a bound that was stored as float32

Reals: TypeAlias = NDArray[np.float64]
Cells: TypeAlias = NDArray[np.int32]  # (rows,) 0 … cells + 1


@dataclass(frozen=True, slots=True)
class Block:
    """Neighbouring cells of the same domain; smoothing never crosses from one block into another."""

    start: int
    stop: int
    ordered: bool

    def __len__(self) -> int:
        return self.stop - self.start

    @property
    def cells(self) -> slice:
        return slice(self.start, self.stop)

    @property
    def smoothable(self) -> bool:
        return self.ordered and len(self) > FEW_CELLS


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """The cells of one parameter.

    The boundaries in `inner` divide numbers into intervals. Interval i belongs to cell `cell_of[i]`. In this interval,
    numbers below `accept_low[i]` or above `accept_high[i]` are outside the domain. Text is compared with `labels`.
    """

    parameter: Parameter
    cells: int
    prior: Reals  # (cells,) mass of each cell under a uniform draw from the space
    blocks: tuple[Block, ...]  # the cells of each domain
    even: bool = False  # inner boundaries equally spaced
    labels: tuple[Label, ...] | None = None  # None for ranges; cells are then named by centres
    edges: Reals | None = None  # (cells + 1,) for ranges
    inner: Reals | None = None  # (cells - 1,) ascending; None if values are not numbers
    accept_low: Reals | None = None  # (cells,)
    accept_high: Reals | None = None  # (cells,)
    cell_of: Cells | None = None  # (cells,) sorted position → cell; None if they are the same
    lattice: tuple[int, int] | None = None  # low and step, if several integers share a cell

    @property
    def width(self) -> int:
        return self.cells + EXTRA_CELLS

    @property
    def missing(self) -> int:
        return self.cells

    @property
    def outside(self) -> int:
        return self.cells + 1

    def centres(self) -> list[Label]:
        if self.labels is not None:
            return list(self.labels)
        edges = self.edges if self.edges is not None else np.empty(0)
        if scale_of(self.parameter) == "log":
            return (np.sqrt(edges[:-1]) * np.sqrt(edges[1:])).tolist()  # type: ignore[no-any-return]
        return (edges[:-1] / 2 + edges[1:] / 2).tolist()  # type: ignore[no-any-return]  # the sum might be too large

    def coarsened(self, groups: Iterable[NDArray[Any]], *, apart: bool = False) -> CoarseGrid:
        """The grid with cells merged; `groups` has, for each block, the ascending group of each cell, counted from 0.

        If `apart` is True, missing values and values outside have a coarse cell each; otherwise they share one.
        """
        table, blocks, priors, end = np.empty(self.width, dtype=np.int32), [], [], 0
        for block, group in zip(self.blocks, groups, strict=True):
            table[block.cells] = end + group
            mass = np.bincount(group, weights=self.prior[block.cells])
            priors.append(mass / max(mass.sum(), 1e-300))
            blocks.append(Block(end, end + len(mass), block.ordered))
            end += len(mass)
        last = [Block(end + i, end + i + 1, ordered=False) for i in range(EXTRA_CELLS if apart else 1)]
        table[self.cells :] = [last[0].start, last[-1].start]
        return CoarseGrid(table, (*blocks, *last), np.concatenate([*priors, np.ones(len(last))]))

    def locate(self, values: NDArray[Any]) -> Cells:
        """The cell of each number; NaN is in the cell for missing values."""
        if self.inner is None or self.accept_low is None or self.accept_high is None:
            raise SpaceError(f"{self.parameter!r} has no numbers among its values")
        numbers = values.astype(np.float64, copy=False)
        position = np.searchsorted(self.inner, numbers, side="right")
        absent = np.isnan(numbers)
        position[absent] = 0
        inside = (self.accept_low[position] <= numbers) & (numbers <= self.accept_high[position])
        if self.lattice is not None:
            low, step = self.lattice
            with np.errstate(invalid="ignore"):
                inside &= (numbers - low) % step == 0
        cells = position if self.cell_of is None else self.cell_of[position]
        return np.where(absent, self.missing, np.where(inside, cells, self.outside)).astype(np.int32)

    def match(self, labels: tuple[Label, ...]) -> Cells:
        """The cell of each label; a text also matches an equal number, so "0.10" matches 0.1."""
        if self.labels is None:
            numbers = np.array([as_real(label) for label in labels], dtype=np.float64)
            cells = self.locate(numbers)
            cells[np.isnan(numbers)] = self.outside  # text that is not a number
            return cells
        exact = {(type(label).__name__, label): cell for cell, label in enumerate(self.labels)}
        equal = {label: cell for cell, label in enumerate(self.labels)}
        text = {str(label): cell for cell, label in enumerate(self.labels)}
        matches = [exact.get((type(x).__name__, x), equal.get(x, text.get(str(x), self.outside))) for x in labels]
        cells = np.array(matches, dtype=np.int32)
        if self.inner is not None:  # text such as "0.10" for the number 0.1
            unknown = np.flatnonzero(cells == self.outside)
            numbers = np.array([as_real(labels[i]) for i in unknown], dtype=np.float64)
            readable = ~np.isnan(numbers)
            cells[unknown[readable]] = self.locate(numbers[readable])
        return cells


@dataclass(frozen=True, slots=True, eq=False)
class CoarseGrid:
    """A grid whose neighbouring cells are merged; the last coarse cells contain missing values and values outside."""

    table: Cells  # (width,) cell of the grid → coarse cell
    blocks: tuple[Block, ...]  # blocks of coarse cells: one for each domain, then those of the last coarse cells
    prior: Reals  # (cells,) adds to one inside each block

    @property
    def cells(self) -> int:
        return self.blocks[-1].stop

    @property
    def starts(self) -> NDArray[np.int64]:
        """(cells,) The first grid cell of each coarse cell."""
        return np.searchsorted(self.table, np.arange(self.cells))

    @property
    def middles(self) -> Cells:
        """(cells,) The middle grid cell of each coarse cell; the first one of the last coarse cell."""
        inside = (np.bincount(self.table, minlength=self.cells) - 1) // 2
        inside[-1] = 0
        return (self.starts + inside).astype(np.int32)

    def to(self, other: CoarseGrid) -> Cells:
        """(cells,) For each cell of this grid, the cell of the coarser grid `other` that contains it."""
        cells = np.zeros(self.cells, dtype=np.int32)
        cells[self.table] = other.table
        return cells


def relative_ranks(mass: NDArray[Any]) -> Reals:
    """(cells,) The part of the mass below the middle of each cell; `mass` (cells,) is mostly the rows by cell."""
    ranks: Reals = (np.cumsum(mass) - mass / 2.0) / mass.sum()
    return ranks


def waves(mass: NDArray[Any], count: int) -> Reals:
    """(cells, count) Cosines of the ranks of rows: wave k has k half-periods."""
    functions: Reals = np.sqrt(2.0) * np.cos(np.pi * np.outer(relative_ranks(mass), np.arange(1, count + 1)))
    return functions


def quantile_groups(mass: NDArray[Any], most: int) -> NDArray[np.int64]:
    """(cells,) Groups of neighbouring cells with similar masses: numbers from 0 to at most `most` - 1."""
    return np.minimum((relative_ranks(mass) * most).astype(np.int64), most - 1)


def crowd(prior: Reals, rows: NDArray[Any]) -> bool:
    """Whether a small part of many cells has several times as many rows as a draw from the prior would have there."""
    if len(rows) <= FEW_CELLS or not rows.any():
        return False
    parts = np.bincount(_small_parts(prior.tobytes())[0], weights=rows)
    return bool(parts.max() * SMALL_PARTS > CROWDED * rows.sum())


@lru_cache(maxsize=256)
def _small_parts(prior: bytes) -> tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[Any]]:
    """(cells,) The part of each cell; and for each part, whether it has several cells, and what the prior expects."""
    mass = np.frombuffer(prior)
    parts = quantile_groups(mass, SMALL_PARTS)
    several = np.bincount(parts[mass > 0.0], minlength=SMALL_PARTS) > 1
    return parts, several, np.bincount(parts, weights=mass, minlength=SMALL_PARTS)


def uneven(prior: Reals, rows: Reals) -> bool:
    """Whether rows are clearly distributed differently than draws from the prior.

    Their Pearson divergence over `SMALL_PARTS` equal parts, less what chance adds, is above `UNEVEN` and above three
    standard deviations of chance. A part that is a single cell says nothing, because this cell cannot be merged.
    """
    parts, several, expected = _small_parts(prior.tobytes())
    drawn, expected = np.bincount(parts, weights=rows, minlength=SMALL_PARTS)[several], expected[several]
    if len(drawn) < 2 or not drawn.any():
        return False
    expected *= drawn.sum() / expected.sum()
    chance = len(drawn) - 1
    beyond = float(((drawn - expected) ** 2 / expected).sum()) - chance
    return beyond > max(UNEVEN * float(drawn.sum()), 3.0 * math.sqrt(2.0 * chance))


def even_groups(rows: NDArray[Any]) -> NDArray[np.int64]:
    """(cells,) Groups of neighbouring cells with about the same number of rows, for cells in which rows crowd."""
    mass = np.maximum(rows, 1e-9)
    groups = quantile_groups(mass, max(FEWEST_EVEN, round(EVEN_CELLS * math.sqrt(mass.sum()))))
    return np.unique(groups, return_inverse=True)[1]


def grid_of(parameter: Parameter) -> Grid:
    """The grid of a parameter; the same parameter always has the same grid."""
    return _grid_of(parameter, _types_in(parameter))


def _types_in(parameter: Parameter) -> tuple[type, ...]:
    """The types of the values, because 1 and True are equal in Python but different in a table."""
    match parameter:
        case Ordinal(labels) | Categorical(labels):
            return tuple(type(label) for label in labels)
        case Switch():
            return tuple(kind for domain in parameter.regimes for kind in _types_in(domain))
        case _:
            return ()


@lru_cache(maxsize=1024)
def _grid_of(parameter: Parameter, _: tuple[type, ...]) -> Grid:
    match parameter:
        case Float():
            return _float_grid(parameter)
        case Int():
            # Whole numbers on a log scale that may be smoothed need cells that are even in log.
            log = parameter.log and _int_count(parameter) > FEW_CELLS
            return _log_int_grid(parameter) if log else _int_grid(parameter)
        case Ordinal(values):
            return _label_grid(parameter, values, ordered=True)
        case Categorical(choices):
            return _label_grid(parameter, choices, ordered=False)
        case Moving():
            return replace(grid_of(Float(0.0, 1.0)), parameter=parameter)
        case Switch():
            return _union_grid(parameter)


def _float_grid(parameter: Float) -> Grid:
    edges = _spaced(parameter.low, parameter.high, MAX_CELLS, log=parameter.log)
    low, high = parameter.low - abs(parameter.low) * ROUNDING, parameter.high + abs(parameter.high) * ROUNDING
    prior = np.full(MAX_CELLS, 1.0 / MAX_CELLS)
    return _range_grid(parameter, edges, prior=prior, low=low, high=high, even=not parameter.log)


def _spaced(low: float, high: float, cells: int, *, log: bool) -> Reals:
    with np.errstate(over="ignore"):  # the last edge is set below
        edges = np.geomspace(low, high, cells + 1) if log else np.linspace(low, high, cells + 1)
    edges[0], edges[-1] = low, high
    if np.any(np.diff(edges) <= 0):
        raise SpaceError(f"the range from {low!r} to {high!r} is too narrow for {cells} cells; shift it towards 0")
    return edges.astype(np.float64)


def _range_grid(parameter: Float | Int, edges: Reals, *, prior: Reals, low: float, high: float, even: bool) -> Grid:
    """A grid without gaps between cells; numbers below `low` or above `high` are outside."""
    cells = len(prior)
    accept_low, accept_high = np.full(cells, -np.inf), np.full(cells, np.inf)
    accept_low[0], accept_high[-1] = low, high
    return Grid(
        parameter=parameter,
        cells=cells,
        prior=prior,
        blocks=(Block(0, cells, ordered=True),),
        even=even,
        edges=edges,
        inner=np.ascontiguousarray(edges[1:-1]),
        accept_low=accept_low,
        accept_high=accept_high,
        lattice=(parameter.low, parameter.step) if isinstance(parameter, Int) else None,
    )


def _int_count(parameter: Int) -> int:
    return (parameter.high - parameter.low) // parameter.step + 1


def _int_grid(parameter: Int) -> Grid:
    """A grid with one integer per cell; for many integers, with several per cell (the last cell may have fewer)."""
    count = _int_count(parameter)
    together = -(-count // MAX_CELLS)
    cells = -(-count // together)
    half = parameter.step / 2
    edges = parameter.low - half + np.arange(cells + 1, dtype=np.float64) * together * parameter.step
    edges[-1] = parameter.high + half
    widths = np.log(edges[1:] / edges[:-1]) if parameter.log else np.diff(edges)
    prior = widths / widths.sum()
    if together > 1:
        return _range_grid(parameter, edges, prior=prior, low=parameter.low, high=parameter.high, even=True)
    values = tuple(range(parameter.low, parameter.high + 1, parameter.step))
    return _point_grid(parameter, values, prior, ordered=True, edges=edges)


def _log_int_grid(parameter: Int) -> Grid:
    """A grid with cells of equal width on a log scale; the prior of a cell is the sum of the priors of its integers."""
    edges = _spaced(parameter.low - 0.5, parameter.high + 0.5, MAX_CELLS, log=True)
    first = np.ceil(edges[:-1])  # smallest whole number in the cell
    last = np.ceil(edges[1:]) - 1
    mass = np.where(last >= first, np.log((last + 0.5) / (first - 0.5)), 0.0)
    return _range_grid(parameter, edges, prior=mass / mass.sum(), low=parameter.low, high=parameter.high, even=False)


def _label_grid(parameter: Parameter, labels: tuple[Label, ...], *, ordered: bool) -> Grid:
    if len(labels) > MAX_CELLS:
        raise SpaceError(f"{len(labels)} values are too many (at most {MAX_CELLS}); group the rare ones")
    return _point_grid(parameter, labels, np.full(len(labels), 1.0 / len(labels)), ordered=ordered)


def _point_grid(
    parameter: Parameter, labels: tuple[Label, ...], prior: Reals, *, ordered: bool, edges: Reals | None = None
) -> Grid:
    """A grid with one cell per value; a number must equal the value of a cell, up to float32 rounding."""
    numeric = all(isinstance(label, int | float) for label in labels)
    numbers = np.array(labels, dtype=np.float64) if numeric else np.empty(0)
    order = np.argsort(numbers, kind="stable").astype(np.int32)
    points = numbers[order]
    with np.errstate(over="ignore"):
        gaps = np.diff(points)
    slack = np.abs(points) * (0.0 if isinstance(parameter, Int) else ROUNDING)
    if len(gaps):
        slack = np.minimum(slack, np.minimum(np.r_[gaps, np.inf], np.r_[np.inf, gaps]) / 4)
    with np.errstate(over="ignore"):  # beyond the largest double every number is accepted
        low, high = points - slack, points + slack
    return Grid(
        parameter=parameter,
        cells=len(labels),
        prior=prior,
        blocks=(Block(0, len(labels), ordered),),
        even=edges is not None,
        labels=labels,
        edges=edges,
        inner=points[:-1] + gaps / 2 if numeric else None,
        accept_low=low if numeric else None,
        accept_high=high if numeric else None,
        cell_of=None if np.array_equal(order, np.arange(len(order))) else order,
    )


def _union_grid(parameter: Switch) -> Grid:
    """A grid with the cells of all domains of a `Switch`, one block per domain; `data.conditions` selects the block."""
    grids = [grid_of(domain) for domain in parameter.regimes]
    ends = np.cumsum([0, *(grid.cells for grid in grids)]).tolist()
    marks = [""] if len(grids) == 1 else [f" [{i + 1}]" for i in range(len(grids))]
    names = [f"{centre}{mark}" for grid, mark in zip(grids, marks, strict=True) for centre in grid.centres()]
    each = zip(grids, ends[:-1], ends[1:], strict=True)
    blocks = tuple(Block(start, stop, grid.blocks[0].ordered) for grid, start, stop in each)
    prior = np.concatenate([grid.prior for grid in grids]) / len(grids)
    return Grid(parameter=parameter, cells=ends[-1], prior=prior, blocks=blocks, labels=tuple(names))


def blocks_of(grid: Grid) -> list[Block]:
    """All blocks of cells: one for each domain, then one for missing values, then one for values outside the space."""
    apart = [Block(cell, cell + 1, ordered=False) for cell in (grid.missing, grid.outside)]
    return [*grid.blocks, *apart]
