"""Exact marginals of a regression tree: how much of its variance one parameter, or several, explain.

A tree is constant on boxes. Averaged over all other parameters it is constant between the sorted
edges of the boxes: every box adds its value, times the part it fills of the other parameters, where
it begins, and takes it back where it ends. One running sum over the edges is the marginal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise, product
from math import prod
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.base.notes import Note
from pedanova.data.column import Column, Mask, cells_of
from pedanova.data.observations import Observations
from pedanova.data.regions import Direction, as_part, percent, rank_of, sign_of
from pedanova.errors import DataError, QueryError
from pedanova.space.grid import Block, Cells, Grid, Reals, grid_of, number_of
from pedanova.space.parameters import Categorical, Float, Int, Moving, Parameter, Switch

Places: TypeAlias = NDArray[np.intp]
NOISE = 1e-13  # of the largest value: a smaller standard deviation is rounding
STRIP = 1 << 18  # cells held at once: what stays near the processor is summed sooner


@dataclass(frozen=True, slots=True)
class RangeAxis:
    """A parameter that may be any number between two bounds."""

    low: float = 0.0
    high: float = 1.0

    def below(self, thresholds: Reals) -> Reals:
        """The part of the domain at or below each threshold."""
        return np.asarray(np.clip((thresholds - self.low) / (self.high - self.low), 0.0, 1.0))


@dataclass(frozen=True, slots=True, eq=False)
class Lattice:
    """A parameter that may be one of several values, each a cell with a weight of its own."""

    values: NDArray[np.float32]  # (cells,) ascending, as the tree sees them
    reached: Reals  # (cells + 1,) weight of all cells before each, 0 … 1

    def below(self, thresholds: Reals) -> Reals:
        """The part of the domain at or below each threshold: a cell is never cut."""
        return np.asarray(self.reached[np.searchsorted(self.values.astype(np.float64), thresholds, side="right")])


Axis: TypeAlias = RangeAxis | Lattice


class TreeArrays(NamedTuple):
    """A regression tree as scikit-learn stores it; node 0 is the root, leaves have no left child."""

    left: NDArray[np.int64]  # (nodes,) -1 for a leaf
    right: NDArray[np.int64]
    feature: NDArray[np.int64]
    threshold: Reals  # at or below goes left
    value: Reals


@dataclass(frozen=True, slots=True, eq=False)
class Boxes:
    """The leaves of one tree as boxes between numbered edges of every parameter."""

    low: Places  # (leaves, dims) edge at which the box begins
    high: Places  # (leaves, dims) edge at which it ends
    value: Reals  # (leaves,) less the tree's mean
    mean: float
    cuts: tuple[Reals, ...]  # for each parameter its thresholds, ascending: edge i + 1 is at cuts[i]
    reached: tuple[Reals, ...]  # for each parameter the part of the domain below each edge, 0 … 1
    width: Reals  # (leaves, dims) part of each parameter's domain
    volume: Reals  # (leaves,) adding up to 1

    @property
    def dims(self) -> int:
        return len(self.cuts)

    @property
    def variance(self) -> float:
        """Of the tree over the whole space; 0 where it is nothing but rounding."""
        variance = float(self.volume @ self.value**2)
        noise = NOISE * float(np.abs(self.value + self.mean).max())
        return variance if variance > noise * noise else 0.0


def leaf_boxes(tree: TreeArrays, axes: Sequence[Axis]) -> Boxes:
    """The leaves' boxes, from the root downwards, a level of the tree at a time."""
    cuts, edge = _edges(tree, len(axes))
    low = np.zeros((len(tree.left), len(axes)), dtype=np.intp)
    high = np.empty_like(low)
    high[0] = [len(values) + 1 for values in cuts]
    nodes = np.zeros(1, dtype=np.intp)
    while len(nodes := nodes[tree.left[nodes] >= 0]):
        left, right = tree.left[nodes], tree.right[nodes]
        low[left] = low[right] = low[nodes]
        high[left] = high[right] = high[nodes]
        high[left, tree.feature[nodes]] = edge[nodes]
        low[right, tree.feature[nodes]] = edge[nodes]
        nodes = np.concatenate([left, right])
    leaves = np.flatnonzero(tree.left < 0)
    reached = [np.r_[0.0, axis.below(values), 1.0] for axis, values in zip(axes, cuts, strict=True)]
    low, high, value = low[leaves], high[leaves], tree.value[leaves]
    width = np.stack([part[high[:, d]] - part[low[:, d]] for d, part in enumerate(reached)], axis=1)
    volume = width.prod(axis=1)
    mean = float(volume @ value)
    return Boxes(low, high, value - mean, mean, tuple(cuts), tuple(reached), width, volume)


def _edges(tree: TreeArrays, dims: int) -> tuple[list[Reals], Places]:
    """Each parameter's thresholds, ascending, and for each node the number of its own edge."""
    inner = tree.left >= 0
    cuts, edge = [], np.zeros(len(tree.left), dtype=np.intp)
    for dim in range(dims):
        nodes = np.flatnonzero(inner & (tree.feature == dim))
        values, place = np.unique(tree.threshold[nodes], return_inverse=True)
        cuts.append(values)
        edge[nodes] = place + 1
    return cuts, edge


def closed_variance(boxes: Boxes, dims: Sequence[int]) -> float:
    """Variance of the tree averaged over all parameters but `dims`: their own effects and those among them.

    Time grows with the product of the numbers of edges, memory does not.
    """
    widths = [np.diff(boxes.reached[d], append=1.0) for d in dims]  # nothing lies behind the last edge
    shape = [len(width) for width in widths]
    line = prod(shape[1:])
    rows = min(shape[0], max(1, STRIP // line))
    before: Reals = np.zeros(shape[1:])
    variance = 0.0
    for i, changes in enumerate(_strips(*_changes(boxes, dims, shape), size=rows * line, cells=prod(shape))):
        heights = changes.reshape(-1, *shape[1:])
        heights[0] += before
        before = np.cumsum(heights, axis=0, out=heights)[-1].copy()
        variance += _square_mean(heights, [widths[0][i * rows : (i + 1) * rows], *widths[1:]])
    return variance


def _strips(cell: Places, change: Reals, *, size: int, cells: int) -> Iterator[Reals]:
    """The changes summed by cell, so many cells at a time."""
    if size == cells:
        yield _sums(cell, change, cells)
        return
    strip = cell // size
    few_bits = np.min_scalar_type(cells // size)  # such numbers are sorted in linear time
    order = np.argsort(strip.astype(few_bits), kind="stable")
    ends = np.r_[0, np.cumsum(np.bincount(strip, minlength=-(-cells // size)))]
    for i, (first, last) in enumerate(pairwise(ends)):
        here = order[first:last]
        yield _sums(cell[here] - i * size, change[here], min(size, cells - i * size))


def _changes(boxes: Boxes, dims: Sequence[int], shape: list[int]) -> tuple[Places, Reals]:
    """Where boxes begin and end in a flattened grid of edges, and by how much the marginal changes there."""
    height = boxes.value * boxes.volume
    for dim in dims:  # a box without width has no volume, and changes nothing
        height = np.divide(height, boxes.width[:, dim], out=np.zeros_like(height), where=height != 0)
    cells, changes = [], []
    for ends in product((False, True), repeat=len(dims)):
        place: Places = np.zeros(len(height), dtype=np.intp)
        for dim, size, end in zip(dims, shape, ends, strict=True):
            place = place * size + (boxes.high if end else boxes.low)[:, dim]
        cells.append(place)
        changes.append(-height if sum(ends) % 2 else height)
    return np.concatenate(cells), np.concatenate(changes)


def _square_mean(heights: Reals, widths: list[Reals]) -> float:
    """Σ widths · heights², the heights being summed along the first axis already; spoils them."""
    for axis in range(1, heights.ndim):
        np.cumsum(heights, axis=axis, out=heights)
    total: Reals = np.square(heights, out=heights)
    for width in widths:
        total = np.tensordot(width, total, axes=1)
    return float(total)


def main_variances(boxes: Boxes) -> Reals:
    """(dims,) Variance that each parameter explains alone."""
    return np.array([closed_variance(boxes, [dim]) for dim in range(boxes.dims)])


def pair_variances(boxes: Boxes, main: Reals) -> Reals:
    """(pairs,) What two parameters explain only together, in the order of `itertools.combinations`."""
    together = [closed_variance(boxes, [i, j]) - main[i] - main[j] for i, j in combinations(range(boxes.dims), 2)]
    return np.maximum(together, 0.0)


def _sums(place: Places, change: Reals, size: int) -> Reals:
    return np.bincount(place, change, minlength=size).astype(np.float64, copy=False)


FEWEST_ROWS = 10
MOST_POINTS = 4096  # beyond so many whole numbers a range is as good as real numbers
MIDDLE = 0.5  # of a range: where rows without a value are put

Singles: TypeAlias = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """What a forest is fitted to: a matrix, an objective, and the domain of every column."""

    names: tuple[str, ...]
    matrix: Singles  # (rows, parameters): float32, as scikit-learn's trees compare
    objective: Reals  # (rows,) clipped if asked for
    axes: tuple[Axis, ...]
    notes: tuple[Note, ...]


def encode(observed: Observations, *, clip: object = None) -> Encoded:
    """The rows that count and have a finite objective, as numbers for a tree.

    With `clip`, a quantile such as 0.1, every objective worse than that of the best 10 % is taken
    as the worst among those: what happens among bad rows then no longer counts.
    """
    part = None if clip is None else as_part(clip, "clip")
    cells = {name: cells_of(observed.columns[name], grid_of(parameter)) for name, parameter in observed.space.items()}
    usable, notes = _usable(observed, cells)
    rows = np.flatnonzero(usable)
    objective = _objective(observed, rows, part)
    columns, axes = [], []
    for name, parameter in observed.space.items():
        column, axis = _encoded(observed.columns[name], parameter, cells[name], rows, objective)
        columns.append(column)
        axes.append(axis)
        notes += _missing_note(name, parameter, cells[name][rows])
    matrix = np.stack(columns, axis=1).astype(np.float32)
    return Encoded(tuple(observed.space), matrix, objective, tuple(axes), tuple(notes))


def _usable(observed: Observations, cells: Mapping[str, Cells]) -> tuple[Mask, list[Note]]:
    """Rows that count, have a finite objective and lie inside the space; notes on those that do not."""
    if len(observed.goals) > 1:
        names = [goal.name for goal in observed.goals]
        raise QueryError(f"a forest needs one objective, not {len(names)}; take one with a.alone({names[0]!r})")
    counted = np.ones(len(observed), dtype=bool) if observed.keep is None else observed.keep
    finite = counted & np.isfinite(observed.ranked)
    outside = np.zeros(len(observed), dtype=bool)
    for name, parameter in observed.space.items():
        outside |= cells[name] == grid_of(parameter).outside
    gone = int(np.sum(counted & ~finite)), int(np.sum(finite & outside))
    why = "without a finite objective", "with a value outside the space"
    left_out = zip(gone, why, strict=True)
    notes = [Note("rows", f"{many:,} rows {reason} are left out") for many, reason in left_out if many]
    return finite & ~outside, notes


def _objective(observed: Observations, rows: NDArray[np.intp], part: Fraction | None) -> Reals:
    """The objective of the rows, clipped; refused where there is nothing to explain."""
    name = observed.name
    if len(rows) < FEWEST_ROWS:
        raise DataError(f"{name}: a forest needs {FEWEST_ROWS} usable rows, and there are {len(rows)}; add rows")
    objective = observed.ranked[rows].astype(np.float64)
    if objective.min() == objective.max():
        raise DataError(
            f"objective {name!r} is {objective[0]:g} in all {len(rows):,} rows; no parameter can explain it"
        )
    if part is None:
        return objective
    clipped = clipped_at(objective, part, observed.direction)
    if clipped.min() == clipped.max():
        raise QueryError(
            f"clip: {percent(part)} of {len(rows):,} rows share one objective, {clipped[0]:g}; choose a larger part"
        )
    return clipped


def clipped_at(objective: Reals, part: Fraction, direction: Direction) -> Reals:
    """The objective, nowhere worse than that of the ⌈part · rows⌉-th best row."""
    sign = sign_of(direction)
    rank = rank_of(part, len(objective))
    worst = float(np.partition(sign * objective, rank - 1)[rank - 1])
    return np.asarray(sign * np.minimum(sign * objective, worst))


def _encoded(
    column: Column, parameter: Parameter, cells: Cells, rows: NDArray[np.intp], objective: Reals
) -> tuple[Reals, Axis]:
    """The numbers of one parameter, and its domain."""
    grid = grid_of(parameter)
    here = cells[rows]
    match parameter:
        case Float() | Int():
            values = positions(_numbers(column)[rows], parameter)
        case Moving():
            values = np.clip(_numbers(column)[rows], 0.0, 1.0)
        case _:
            return _placed(here, grid, objective)
    return np.where(here == grid.missing, MIDDLE, values), _axis_of(parameter)


def _numbers(column: Column) -> Reals:
    """The values as numbers; text that is none has been placed outside the space, or is missing."""
    if column.labels is None:
        return column.values.astype(np.float64)
    table = np.array([*map(number_of, column.labels), np.nan])
    codes = column.values.astype(np.intp)
    return table[np.where(codes < 0, len(column.labels), codes)]


def positions(values: Reals, parameter: Float | Int) -> Reals:
    """Where values lie between the bounds, 0 to 1; a whole number is a cell that reaches half a step around."""
    half = parameter.step / 2 if isinstance(parameter, Int) else 0.0
    low, high = parameter.low - half, parameter.high + half
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):  # values that are not used
        if not parameter.log:
            part = (values - low) / (high - low)
        elif high < 2 * low:  # logarithms would be too close to each other
            part = np.log1p((values - low) / low) / np.log1p((high - low) / low)
        else:
            part = (np.log(values) - np.log(low)) / (np.log(high) - np.log(low))
    return np.clip(part, 0.0, 1.0)


def _axis_of(parameter: Float | Int | Moving) -> Axis:
    if not isinstance(parameter, Int) or (parameter.high - parameter.low) // parameter.step >= MOST_POINTS:
        return RangeAxis()
    values = np.arange(parameter.low, parameter.high + 1, parameter.step, dtype=np.float64)
    ends = positions(values + parameter.step / 2, parameter)
    return Lattice(positions(values, parameter).astype(np.float32), np.r_[0.0, ends])


def _placed(cells: Cells, grid: Grid, objective: Reals) -> tuple[Reals, Axis]:
    """Cells in a row: labels as they are ordered, categories by their mean objective.

    Rows without a value take the middle of an order. Where there is no middle, having no value is
    one more cell, its weight being its part of the rows.
    """
    absent = cells == grid.missing
    if _has_middle(grid):
        numbers = np.where(absent, (grid.cells - 1) / 2, cells).astype(np.float64)
        return numbers, _row_of(grid.prior)
    idle = float(absent.mean())
    weights = np.r_[grid.prior * (1.0 - idle), idle]
    place = np.arange(grid.cells + 1)
    # Blocks to be ranked; of a category's choices, "no value" is one.
    whole = [Block(0, grid.cells + 1, ordered=False)] if isinstance(grid.parameter, Categorical) else grid.blocks
    for block in (block for block in whole if not block.ordered):
        place[block.cells] = block.start + _ranking(cells, block, objective)
    return place[cells].astype(np.float64), _row_of(weights[np.argsort(place)])


def _has_middle(grid: Grid) -> bool:
    return not isinstance(grid.parameter, Categorical | Switch)


def _row_of(weights: Reals) -> Lattice:
    reached = np.r_[0.0, np.cumsum(weights)]
    return Lattice(np.arange(len(weights), dtype=np.float32), reached / reached[-1])


def _ranking(cells: Cells, block: Block, objective: Reals) -> NDArray[np.intp]:
    """(cells of the block,) Rank of each by its rows' mean; one without rows counts as average.

    Ties go to whoever comes first in the rows: names and their order must not matter.
    """
    size = len(block)
    mine = np.flatnonzero((cells >= block.start) & (cells < block.stop))
    inside = cells[mine] - block.start
    rows = np.bincount(inside, minlength=size)
    sums = np.bincount(inside, objective[mine], minlength=size)
    means = np.where(rows > 0, sums / np.maximum(rows, 1), objective.mean())
    first = np.full(size, len(cells))
    np.minimum.at(first, inside, mine)
    rank = np.empty(size, dtype=np.intp)
    rank[np.lexsort((first, means))] = np.arange(size)
    return rank


def _missing_note(name: str, parameter: Parameter, cells: Cells) -> list[Note]:
    grid = grid_of(parameter)
    many = int(np.sum(cells == grid.missing))
    if not many:
        return []
    fate = "taken as the middle of its range" if _has_middle(grid) else "taken as a category of their own"
    return [Note("rows", f"{many:,} rows have no value; {fate}", subject=name)]
