"""How one parameter is cut up to be drawn: bars at single values, or at most so many steps along a range."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.base.digits import roundest, short
from pedanova.space.grid import Grid, grid_of
from pedanova.space.parameters import (
    Categorical,
    Float,
    Int,
    Moving,
    Ordinal,
    Parameter,
    Switch,
    domain_names,
    scale_of,
)
from pedanova.space.values import Label

Reals: TypeAlias = NDArray[np.float64]
Counts: TypeAlias = NDArray[np.int64]
Kind: TypeAlias = Literal["bars", "steps", "curve"]
MOST_BARS = 40
ROWS_A_VALUE = 5  # so many rows on every value, on average, make the values of a range a lattice


@dataclass(frozen=True, slots=True, eq=False)
class Bins:
    """Which bar or step every cell of a grid belongs to.

    apart
        Whether these are the only values that rows of a range stand on: nothing lies between them to be smoothed.
    widths
        Of steps, parts of the axis, which add to one; None for bars.
    """

    kind: Kind
    groups: NDArray[np.int64]  # (cells,)
    labels: tuple[str, ...]
    edges: Reals | None = None  # (steps + 1,) in units of the parameter, never beyond its bounds; None for bars
    widths: Reals | None = None
    log: bool = False
    values: tuple[Label, ...] | None = None  # where every bar is one value
    apart: bool = False

    def __len__(self) -> int:
        return len(self.labels)

    def gather(self, parts: Reals | Counts) -> Reals:
        """(bins,) What lies in each."""
        return np.bincount(self.groups, weights=parts, minlength=len(self)).astype(np.float64)

    @property
    def bounds(self) -> NDArray[np.int64]:
        """(bins + 1,) The first cell of each, where neighbours are together; then the number of all cells."""
        return np.searchsorted(self.groups, np.arange(len(self) + 1))


def bins_of(parameter: Parameter, seen: Counts | None = None, points: int = 60) -> Bins:
    """Bars for names and for up to 40 values, steps for more; `seen` are rows by cell, where they are known."""
    match parameter:
        case Categorical(labels):
            return _name_bins(labels, seen)
        case Ordinal(labels):
            return _ordered_bins(labels)
        case Switch():
            return _joined_bins(parameter, seen)
        case Float() | Int():
            values = _seen_values(parameter, seen)
            if values:
                return _value_bins(parameter, values, apart=True)
    return _range_bins(parameter, points)


@lru_cache(maxsize=1024)
def _range_bins(parameter: Float | Int | Moving, points: int) -> Bins:
    """The same for every question about a parameter."""
    if not isinstance(parameter, Int):
        return _curve(parameter, points)
    few = (parameter.high - parameter.low) // parameter.step < MOST_BARS
    every = range(parameter.low, parameter.high + 1, parameter.step)
    return _value_bins(parameter, tuple(every)) if few else _whole_steps(parameter, points)


def _seen_values(parameter: Float | Int, seen: Counts | None) -> tuple[Label, ...]:
    """The few values that all rows of a range stand on; nothing where it is no lattice.

    A cell of a range does not tell its value: the roundest in it is taken.
    """
    grid, cells = grid_of(parameter), np.flatnonzero(seen) if seen is not None else np.empty(0, dtype=np.int64)
    many = (parameter.high - parameter.low) // parameter.step + 1 if isinstance(parameter, Int) else grid.cells
    if seen is None or not 0 < len(cells) <= min(MOST_BARS, many // 2) or seen.sum() < ROWS_A_VALUE * len(cells):
        return ()
    if grid.labels is not None:
        return tuple(grid.labels[cell] for cell in cells)
    if grid.edges is None or np.any(np.diff(cells) < 2):  # rows in neighbouring cells are a crowd, and no lattice
        return ()
    values = [roundest(float(grid.edges[cell]), float(grid.edges[cell + 1])) for cell in cells]
    return tuple(round(value) for value in values) if isinstance(parameter, Int) else tuple(values)


def _value_bins(parameter: Float | Int, values: tuple[Label, ...], *, apart: bool = False) -> Bins:
    """A bar at every value; a cell belongs to the nearest."""
    numbers, centres = np.array(values, dtype=np.float64), np.array(grid_of(parameter).centres(), dtype=np.float64)
    if scale_of(parameter) == "log" and not isinstance(parameter, Int):
        numbers, centres = np.log(numbers), np.log(centres)
    middles = numbers[:-1] / 2 + numbers[1:] / 2
    groups = np.searchsorted(middles, centres)
    return Bins("bars", groups, tuple(short(value) for value in values), values=values, apart=apart)


@lru_cache(maxsize=512)  # asked for again by every question, and by hundreds of a page
def _curve(parameter: Parameter, points: int) -> Bins:
    grid = grid_of(parameter)
    edges, bounds = _cut(grid, points)
    log = scale_of(parameter) == "log"
    labels = tuple(f"{short(low)} to {short(high)}" for low, high in pairwise(edges))
    return Bins("curve", _groups(bounds), labels, edges, np.diff(bounds) / grid.cells, log)


def _cut(grid: Grid, points: int) -> tuple[Reals, NDArray[np.int64]]:
    edges = grid.edges if grid.edges is not None else np.arange(grid.cells + 1.0)
    bounds = np.round(np.linspace(0, grid.cells, min(points, grid.cells) + 1)).astype(np.int64)
    return edges[bounds], bounds


def _groups(bounds: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))


def _whole_steps(parameter: Int, points: int) -> Bins:
    """Steps that begin and end between two numbers of the lattice, each with the numbers in it."""
    grid = grid_of(parameter)
    wanted, _ = _cut(grid, points)
    edges = grid.edges if grid.edges is not None else wanted
    low, step = parameter.low, parameter.step
    between = low + (np.round((wanted - low) / step - 0.5) + 0.5) * step
    bounds = np.unique(_nearest(edges, between))
    ends = low + (np.round((edges[bounds] - low) / step - 0.5) + 0.5) * step
    first, last = ends[:-1] + step / 2, ends[1:] - step / 2
    labels = tuple(_span(round(a), round(b)) for a, b in zip(first, last, strict=True))
    scaled = np.log(ends) if parameter.log else ends
    widths = np.diff(scaled) / (scaled[-1] - scaled[0])
    drawn = np.clip(ends, parameter.low, parameter.high)
    return Bins("steps", _groups(bounds), labels, drawn, widths, parameter.log)


def _nearest(edges: Reals, wanted: Reals) -> NDArray[np.int64]:
    """The number of the edge next to each wanted place."""
    above = np.clip(np.searchsorted(edges, wanted), 1, len(edges) - 1)
    return np.where(wanted - edges[above - 1] < edges[above] - wanted, above - 1, above).astype(np.int64)


def _span(first: int, last: int) -> str:
    return short(first) if first == last else f"{short(first)} to {short(last)}"


def _name_bins(labels: tuple[Label, ...], seen: Counts | None) -> Bins:
    """A bar for each of the most frequent names; the others share one."""
    if len(labels) <= MOST_BARS:
        return Bins("bars", np.arange(len(labels)), tuple(short(label) for label in labels), values=labels)
    often = -seen if seen is not None else np.zeros(len(labels))
    frequent = np.sort(np.argsort(often, kind="stable")[: MOST_BARS - 1])
    groups = np.full(len(labels), MOST_BARS - 1)
    groups[frequent] = np.arange(len(frequent))
    names = [short(labels[cell]) for cell in frequent]
    return Bins("bars", groups, (*names, f"{len(labels) - len(frequent)} others"))


def _ordered_bins(labels: tuple[Label, ...]) -> Bins:
    """A bar for every value, or for as many neighbours as it takes."""
    together = math.ceil(len(labels) / MOST_BARS)
    groups = np.arange(len(labels)) // together
    if together == 1:
        return Bins("bars", groups, tuple(short(label) for label in labels), values=labels)
    spans = [labels[start : start + together] for start in range(0, len(labels), together)]
    names = [short(span[0]) if len(span) == 1 else f"{short(span[0])} to {short(span[-1])}" for span in spans]
    return Bins("bars", groups, tuple(names))


def _joined_bins(parameter: Switch, seen: Counts | None) -> Bins:
    """The bins of every domain side by side, as bars."""
    room = max(4, MOST_BARS // len(parameter.regimes))
    groups: list[NDArray[np.int64]] = []
    labels: list[str] = []
    for block, domain, words in zip(grid_of(parameter).blocks, parameter.regimes, domain_names(parameter), strict=True):
        bins = bins_of(domain, None if seen is None else seen[block.start : block.stop], room)
        groups.append(bins.groups + len(labels))
        labels += [f"{label} ({words})" for label in bins.labels]
    return Bins("bars", np.concatenate(groups), tuple(labels))
