"""Densities as they are drawn: few enough points for a picture, and where the target does better."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pedanova.measures.densities import Densities

Reals = NDArray[np.float64]
POINTS = 40  # of a curve
MOST_BARS = 40
FEW_CELLS = 12  # a range with so few values is drawn as bars
CLEARLY = 1.05  # times as often: what is less is no good range
Range = tuple[int, int]  # first and last + 1


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


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """One parameter in one question: parts of the rows by point or bar, each adding to one."""

    target: Reals
    region: Reals
    uniform: Reals
    good: dict[str, tuple[Range, ...]]  # by baseline: neighbouring points where the target is denser
    missing_target: float
    missing_region: float


def shape_of(found: Densities) -> Shape:
    if found.edges is not None and len(found.cells) > FEW_CELLS:
        return _curve(found.name, found.edges)
    return _bars(found)


def _curve(name: str, edges: Reals) -> Shape:
    cells = len(edges) - 1
    points = min(POINTS, cells)
    groups = np.arange(cells) * points // cells
    starts = np.searchsorted(groups, np.arange(points))
    ends = [float(edges[start]) for start in starts] + [float(edges[-1])]
    labels = tuple(f"{low:.4g} … {high:.4g}" for low, high in pairwise(ends))
    return Shape(name, groups, labels, tuple(ends), is_log(edges))


def is_log(edges: Reals) -> bool:
    """Whether cells are even on a log scale rather than on a linear one."""
    if edges[0] <= 0 or edges[-1] < 4 * edges[0]:
        return False
    return bool(np.ptp(np.diff(np.log(edges))) < np.ptp(np.diff(edges)) / max(1e-300, edges[-1]))


def _bars(found: Densities) -> Shape:
    names = [f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in found.cells]
    if len(names) <= MOST_BARS:
        return Shape(found.name, np.arange(len(names)), tuple(names), None)
    frequent = np.sort(np.argsort(-found.region, kind="stable")[: MOST_BARS - 1])
    groups = np.full(len(names), MOST_BARS - 1)
    groups[frequent] = np.arange(len(frequent))
    labels = [names[cell] for cell in frequent]
    return Shape(found.name, groups, (*labels, f"{len(names) - len(frequent)} others"), None)


def spread_of(found: Densities, shape: Shape) -> Spread:
    target, region, uniform = (shape.gather(p) for p in (found.target, found.region, found.uniform))
    good = {"region": good_ranges(target, region), "uniform": good_ranges(target, uniform)}
    return Spread(target, region, uniform, good, found.missing_target, found.missing_region)


def good_ranges(target: Reals, base: Reals) -> tuple[Range, ...]:
    """Neighbouring points where the target is clearly denser than the baseline."""
    better = np.concatenate([[False], target > np.maximum(CLEARLY * base, 1e-9), [False]]).astype(np.int8)
    turns = np.flatnonzero(np.diff(better))
    return tuple((int(a), int(b)) for a, b in zip(turns[::2], turns[1::2], strict=True))
