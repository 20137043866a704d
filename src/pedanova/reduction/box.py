"""The smallest box that keeps a stated part of the best points.

The best points are the best 1 % of the points of every posterior sample, or, without a model, the best rows. Slices
are cut off one by one. The slice with the lowest density of best points is cut first; a range loses slices at its ends,
and a categorical parameter any of its categories. Where the trials say little, the samples disagree, so the best points
lie everywhere and nothing is cut.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from pedanova.space.grid import Grid, Reals, quantile_groups

SLICES = 20  # slices of a range, with about the same prior probability
MOSTLY = 0.5  # more failures than this are most
POOR = 0.5  # a slice is cut if its density is below this part of the mean density in the box


@dataclass(frozen=True, slots=True, eq=False)
class Axis:
    """The slices of one parameter: categories, or neighbouring cells of a range."""

    ordered: bool
    slice_of: NDArray[np.int16]  # (width,) the slice of each cell; -1 for missing values and values outside the space
    prior: Reals  # (slices,) adds to 1

    def cells(self, kept: tuple[int, ...]) -> tuple[int, int]:
        """The first and the last cell of the slices in `kept`."""
        inside = np.flatnonzero((self.slice_of >= kept[0]) & (self.slice_of <= kept[-1]))
        return int(inside[0]), int(inside[-1])


@lru_cache(maxsize=2048)
def axis_of(grid: Grid) -> Axis:
    """Divide the cells of a parameter with one domain into slices."""
    (block,) = grid.blocks
    live = grid.prior > 0
    slices = np.cumsum(live) - 1
    if block.ordered and live.sum() > SLICES:
        rough = quantile_groups(grid.prior, SLICES)
        slices = np.searchsorted(np.unique(rough[live]), rough)
    slices = np.maximum(slices, 0)
    mass = np.bincount(slices, weights=grid.prior).astype(np.float64)
    return Axis(block.ordered, np.append(slices, [-1, -1]).astype(np.int16), mass / mass.sum())


@dataclass(frozen=True, slots=True, eq=False)
class Cloud:
    """The points that are compared: the best points, and all points."""

    axes: Mapping[str, Axis]
    every: NDArray[np.int16]  # (points, parameters) slices; -1: no value
    fails: Reals  # (points,) the probability that the point fails
    best: NDArray[np.int16]  # (best points, parameters)
    weights: Reals  # (best points, samples) each column adds to 1
    least: Reals  # (parameters, slices) the part of the best points that the first cut at this end loses at least
    held: NDArray[np.int16] | None = None  # (configurations, parameters) of configurations that stay inside

    def having(self, name: str) -> float:
        """The part of the best points that have a value of this parameter."""
        return float(self.weights.mean(axis=1) @ (self.best[:, list(self.axes).index(name)] >= 0))

    def least_at_ends(self, name: str) -> tuple[float, float]:
        """How frequent the best points are at least in the first and in the last tenth of a range, as in `density`.

        This is exceeded in 95 % of the samples. Without samples, it is two standard deviations below the counts.
        """
        j, size = list(self.axes).index(name), len(self.axes[name].prior)
        best, every = (slices[slices[:, j] >= 0, j] for slices in (self.best, self.every))
        weights, tenth = self.weights[self.best[:, j] >= 0], max(1, size // 10)

        def least(start: int, stop: int) -> float:
            usual = float(((every >= start) & (every < stop)).mean())
            inside = (best >= start) & (best < stop)
            parts, count = inside @ weights, int(inside.sum())
            low = np.quantile(parts, 0.05) if len(parts) > 1 else parts[0] * (1.0 - 2.0 / math.sqrt(max(count, 1)))
            return float(low) / max(usual, 1e-300)

        return least(0, tenth), least(size - tenth, size)

    def density(self, name: str) -> Reals:
        """(slices,) How frequent the best points are in each slice, relative to all points; the mean is about 1."""
        j, size = list(self.axes).index(name), len(self.axes[name].prior)
        mass = np.bincount(self.best[:, j] + 1, self.weights.mean(axis=1), size + 1)[1:]
        base = np.bincount(self.every[:, j] + 1, minlength=size + 1)[1:].astype(np.float64)
        return np.asarray(mass / max(mass.sum(), 1e-300) / np.maximum(base / max(base.sum(), 1.0), 1e-300))


@dataclass(frozen=True, slots=True)
class Box:
    """The slices that are left of each parameter that was cut, and the part of the best points inside the box."""

    left: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    kept: float = 1.0

    def failing(self, cloud: Cloud) -> tuple[float, str, list[int]]:
        """The part of the box that fails, the parameter it depends on most, and those slices of it that mostly fail."""
        inside, most, where, slices = self.holds(cloud.axes, cloud.every), 0.0, "", list[int]()
        fails = cloud.fails[inside]
        part = float(fails.mean()) if len(fails) else 0.0
        for (name, axis), column in zip(cloud.axes.items(), cloud.every[inside].T + 1, strict=True):
            points, sums = (np.bincount(column, some, len(axis.prior) + 1)[1:] for some in (None, fails))
            rates = sums / np.maximum(points, 1)
            spread = float(points @ (rates - part) ** 2)
            if spread > most:
                most, where, slices = spread, name, np.flatnonzero(rates > MOSTLY).tolist()
        return part, where, slices

    def holds(self, axes: Mapping[str, Axis], slices: NDArray[np.int16]) -> NDArray[np.bool_]:
        """(points,) Which points lie inside the box; a missing value counts as inside."""
        inside = np.ones(len(slices), dtype=bool)
        for name, left in self.left.items():
            column = slices[:, list(axes).index(name)]
            inside &= (column < 0) | np.isin(column, left)
        return inside


@dataclass(eq=False)
class Sums:
    """How many points, or how much weight, lie in each slice of each parameter; points can be removed."""

    slices: NDArray[np.int16]  # (points, parameters)
    weights: Reals  # (points,)
    size: int  # the largest number of slices

    def __post_init__(self) -> None:
        self.inside = np.ones(len(self.slices), dtype=bool)
        self.table = self._count(self.inside)
        self.total = float(self.weights.sum())

    def _count(self, some: NDArray[np.bool_]) -> Reals:
        """(parameters, slices) The weights of some points."""
        parameters = self.slices.shape[1]
        flat = self.slices[some] + 1 + np.arange(parameters) * (self.size + 1)
        sums = np.bincount(flat.ravel(), np.repeat(self.weights[some], parameters), parameters * (self.size + 1))
        return np.asarray(sums.reshape(parameters, -1)[:, 1:])

    def remove(self, j: int, one: int) -> None:
        gone = self.inside & (self.slices[:, j] == one)
        self.inside &= ~gone
        self.table -= self._count(gone)
        self.total = float(self.weights[self.inside].sum())


def smallest_box(cloud: Cloud, keep: float) -> Box:
    """Cut the slice with the lowest density of best points, as long as the part `keep` of them stays inside.

    Slices with at least half of the mean density stay, and so do slices of the configurations that are held.
    """
    axes = list(cloud.axes.values())
    sizes, size = np.array([[len(axis.prior)] for axis in axes]), cloud.least.shape[1]
    ordered = np.array([[axis.ordered] for axis in axes])
    best = Sums(cloud.best, cloud.weights.mean(axis=1), size)
    every = Sums(cloud.every, np.ones(len(cloud.every)), size)
    number = np.arange(size)
    left, unseen = number < sizes, 0.0  # (parameters, slices)
    held = np.zeros_like(left) if cloud.held is None else (cloud.held[:, :, None] == number).any(axis=0)
    while True:
        first, last = left.argmax(axis=1)[:, None], size - 1 - left[:, ::-1].argmax(axis=1)[:, None]
        again = ordered & (((number == first) & (first > 0)) | ((number == last) & (last < sizes - 1)))
        loss = best.table + np.where(again, 0.0, cloud.least)
        usable = left & ((number == first) | (number == last) | ~ordered) & (first < last)
        usable &= ~held & (every.table > 0) & (best.total - unseen - loss >= keep)
        reached = best.table.sum(axis=1, keepdims=True)
        usable &= reached > (1.0 - keep) * best.total  # too few say nothing about a branch
        density = loss / max(best.total, 1e-300) / np.maximum(every.table / every.total, 1e-300)
        density = np.where(usable, density, np.inf)
        j, one = np.unravel_index(int(density.argmin()), density.shape)
        if density[j, one] >= POOR:
            break
        unseen += float(loss[j, one] - best.table[j, one])
        left[j, one] = False
        best.remove(int(j), int(one))
        every.remove(int(j), int(one))
    slices = {name: tuple(np.flatnonzero(row).tolist()) for name, row in zip(cloud.axes, left, strict=True)}
    cut = {name: kept for name, kept in slices.items() if len(kept) < len(cloud.axes[name].prior)}
    return Box(cut, best.total - unseen)


def at_least(axes: Mapping[str, Axis], parts: Mapping[str, Reals] | float) -> Reals:
    """(parameters, slices) The loss of the first cut at each end: one number, or numbers for some parameters."""
    least = np.zeros((len(axes), max(len(axis.prior) for axis in axes.values())))
    if isinstance(parts, float):
        return least + parts
    for j, name in enumerate(axes):
        if name in parts:
            least[j, : len(parts[name])] = parts[name]
    return least
