"""Exact marginals of a regression tree: how much of its variance one parameter, or several, explain.

A tree is constant on boxes. Averaged over all other parameters it is constant between the sorted
edges of the boxes: every box adds its value, times the part it fills of the other parameters, where
it begins, and takes it back where it ends. One running sum over the edges is the marginal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise, product
from math import prod
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Reals: TypeAlias = NDArray[np.float64]
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
        part: Reals = np.clip((thresholds - self.low) / (self.high - self.low), 0.0, 1.0)
        return part


@dataclass(frozen=True, slots=True, eq=False)
class Lattice:
    """A parameter that may be one of several values, each a cell with a weight of its own."""

    values: NDArray[np.float32]  # (cells,) ascending, as the tree sees them
    reached: Reals  # (cells + 1,) weight of all cells before each, 0 … 1

    def below(self, thresholds: Reals) -> Reals:
        """The part of the domain at or below each threshold: a cell is never cut."""
        part: Reals = self.reached[np.searchsorted(self.values.astype(np.float64), thresholds, side="right")]
        return part


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
    return _measured(low[leaves], high[leaves], tree.value[leaves], cuts, reached)


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


def _measured(low: Places, high: Places, value: Reals, cuts: list[Reals], reached: list[Reals]) -> Boxes:
    width = np.stack([part[high[:, d]] - part[low[:, d]] for d, part in enumerate(reached)], axis=1)
    volume = width.prod(axis=1)
    mean = float(volume @ value)
    return Boxes(low, high, value - mean, mean, tuple(cuts), tuple(reached), width, volume)


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
