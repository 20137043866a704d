"""Densities as they are drawn: few enough points for a picture, and where the target does better."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from pedanova.base.table import show
from pedanova.measures.densities import Densities
from pedanova.measures.importance import Baseline
from pedanova.space.grid import grid_of
from pedanova.space.parameters import scale_of

Reals = NDArray[np.float64]
POINTS = 40  # of a curve
MOST_BARS = 40
MOST_WORDS = 4  # ranges of good values that are named


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """How one parameter is drawn: a curve between edges, or bars with labels."""

    name: str
    groups: NDArray[np.int64]  # (cells,) the point or bar that each cell belongs to
    labels: tuple[str, ...]
    edges: tuple[float, ...] | None  # (points + 1,) None for bars
    log: bool = False

    @property
    def points(self) -> int:
        return len(self.labels)

    def gather(self, parts: Reals) -> Reals:
        """(points,) parts of the rows."""
        return np.bincount(self.groups, weights=parts, minlength=self.points).astype(np.float64)


@dataclass(frozen=True, slots=True)
class Shade:
    """Good values as they are drawn: ends of ranges in units of the parameter, or numbers of bars; and in words."""

    at: tuple[float, ...]
    words: str


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """One parameter in one question: parts of the rows by point or bar, each adding to one."""

    target: Reals
    region: Reals
    uniform: Reals
    good: dict[str, Shade]  # by baseline
    missing_target: float
    missing_region: float


def shape_of(density: Densities) -> Shape:
    if density.edges is not None and grid_of(density.parameter).is_range:
        return _curve(density.name, density.edges, log=scale_of(density.parameter) == "log")
    return _bars(density)


def _curve(name: str, edges: Reals, *, log: bool) -> Shape:
    cells = len(edges) - 1
    points = min(POINTS, cells)
    groups = np.arange(cells) * points // cells
    starts = np.searchsorted(groups, np.arange(points))
    ends = [float(edges[start]) for start in starts] + [float(edges[-1])]
    labels = tuple(f"{low:.4g} … {high:.4g}" for low, high in pairwise(ends))
    return Shape(name, groups, labels, tuple(ends), log)


def _bars(density: Densities) -> Shape:
    names = [show(cell) for cell in density.cells]
    if len(names) <= MOST_BARS:
        return Shape(density.name, np.arange(len(names)), tuple(names), None)
    frequent = np.sort(np.argsort(-density.region, kind="stable")[: MOST_BARS - 1])
    groups = np.full(len(names), MOST_BARS - 1)
    groups[frequent] = np.arange(len(frequent))
    labels = [names[cell] for cell in frequent]
    return Shape(density.name, groups, (*labels, f"{len(names) - len(frequent)} others"), None)


def spread_of(density: Densities, shape: Shape) -> Spread:
    target, region, uniform = (shape.gather(p) for p in (density.target, density.region, density.uniform))
    good = {baseline: shade_of(density, shape, baseline) for baseline in get_args(Baseline)}
    return Spread(target, region, uniform, good, density.missing_target, density.missing_region)


def shade_of(density: Densities, shape: Shape, baseline: Baseline) -> Shade:
    """Good values on a drawing; a bar of several values is good where all of them are."""
    good = density.good(baseline)
    more = f" and {len(good) - MOST_WORDS} more" if len(good) > MOST_WORDS else ""
    words = ", ".join(one.words for one in good[:MOST_WORDS]) + more
    if shape.edges is not None and density.edges is not None:
        return Shade(tuple(float(density.edges[at]) for one in good for at in (one.start, one.stop)), words)
    poor = np.ones(len(density))
    for one in good:
        poor[one.start : one.stop] = 0.0
    return Shade(tuple(np.flatnonzero(shape.gather(poor) == 0).tolist()), words)
