"""The densities of one parameter as panels to draw: one for each domain, with cells of equal width on its scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pedanova.base.digits import short
from pedanova.measures.bins import Bins
from pedanova.space.grid import FEW_CELLS, Reals, grid_of
from pedanova.space.parameters import Int, Moving, Parameter, Scale, Switch, domain_names, scale_of
from pedanova.space.values import Label

WORTH_A_RANGE = 0.05  # good values contain at least this much more of the target than of the baseline


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """One domain of a parameter in a figure: the fractions of target and region rows in each cell.

    domain
        The domain in words, if the parameter has several; otherwise empty.
    bounds
        For each cell of the panel, the index of its first cell in the parameter's grid.
    """

    name: str
    domain: str
    scale: Scale
    cells: Sequence[Label]  # a label, or the middle of the cell
    edges: Reals | None  # (cells + 1,) for ranges, in units of the parameter
    target: Reals  # (cells,)
    region: Reals  # the rows or the uniform draw that the target is compared with
    whole: bool = False  # whether it contains only whole numbers
    bounds: Sequence[int] | NDArray[np.int64] | None = None  # (cells + 1,) None if they count from 0

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(short(cell) for cell in self.cells)

    @property
    def is_curve(self) -> bool:
        """Whether to draw a curve; categories and few values are drawn as bars."""
        return self.scale != "names" and len(self.cells) > FEW_CELLS

    def span_of(self, cells: slice) -> str:
        """The range of neighbouring cells in words, in units of the parameter and within its bounds."""
        span = self.cells[cells]
        if self.edges is None or isinstance(span[0], int):  # each cell is a single value
            low, high = short(span[0]), short(span[-1])
        else:
            ends = self.edges[[cells.start, cells.start + len(span)]]
            if self.whole:
                bounds = math.ceil(self.edges[0]), math.floor(self.edges[-1])
                first, last = (_few_digits(end) for end in (math.ceil(ends[0]), math.floor(ends[1])))
                low, high = (short(min(max(end, bounds[0]), bounds[1])) for end in (first, last))
            else:
                low, high = (rough(float(end), float(self.edges[0]), float(self.edges[-1])) for end in ends)
        return low if low == high else f"{low} to {high}"

    def good(self) -> list[Good]:
        """Groups of cells where the target is clearly denser than the region."""
        bounds = range(len(self.cells) + 1) if self.bounds is None else self.bounds
        return [
            Good(int(bounds[first]), int(bounds[last]), self.span_of(slice(first, last)), target, region)
            for first, last, target, region in good_ranges(self.target, self.region, ordered=self.scale != "names")
        ]

    def gathered(self, bins: Bins, target: Reals, region: Reals) -> Panel:
        """The same panel with one cell for each bin, given the fractions of target and region in each bin."""
        values = bins.values if bins.values is not None else bins.labels
        start = 0 if self.bounds is None else int(self.bounds[0])
        return replace(
            self, scale="ordered", cells=values, edges=None, target=target, region=region, bounds=bins.bounds + start
        )

    def place(self, value: float) -> float:
        """The position of a value in the range, from 0 (low) to 1 (high)."""
        if self.edges is None:
            raise ValueError(f"{self.name} has no numeric range")
        low, high = float(self.edges[0]), float(self.edges[-1])
        if self.scale == "log":
            return (math.log(value) - math.log(low)) / (math.log(high) - math.log(low))
        return (value - low) / (high - low)


@dataclass(frozen=True, slots=True)
class Good:
    """Good values: neighbouring cells where the target is clearly denser than the baseline."""

    start: int  # the first cell
    stop: int  # the last cell + 1
    words: str
    target: float  # the part of the target that lies there
    base: float  # the part of the baseline that lies there


def good_ranges(target: Reals, base: Reals, *, ordered: bool) -> list[tuple[int, int, float, float]]:
    """Ranges where the target is clearly denser, as (first cell, last + 1, target fraction, baseline fraction)."""
    better = np.flatnonzero(target > base)
    apart = np.flatnonzero(np.diff(better) > 1) + 1 if ordered else np.arange(1, len(better))
    runs = [(int(run[0]), int(run[-1]) + 1) for run in np.split(better, apart) if len(run)]
    parts = [(*run, float(target[slice(*run)].sum()), float(base[slice(*run)].sum())) for run in runs]
    return [one for one in parts if one[2] - one[3] >= WORTH_A_RANGE]


def panels_of(name: str, parameter: Parameter, cells: Sequence[Label], target: Reals, region: Reals) -> list[Panel]:
    """One panel, or one for each domain of a parameter that has several."""
    if not isinstance(parameter, Switch):
        return [_panel(name, "", parameter, cells, target, region)]
    panels = []
    for domain, block, words in zip(parameter.regimes, grid_of(parameter).blocks, domain_names(parameter), strict=True):
        cells = grid_of(domain).centres()
        panels.append(_panel(name, words, domain, cells, target[block.cells], region[block.cells], block.start))
    return panels


def _panel(
    name: str, domain: str, parameter: Parameter, cells: Sequence[Label], target: Reals, region: Reals, start: int = 0
) -> Panel:
    edges, scale, whole = grid_of(parameter).edges, scale_of(parameter), isinstance(parameter, Int)
    if isinstance(parameter, Moving):
        domain = f"0 means its lower bound ({short(parameter.low)}), 1 means its upper bound ({short(parameter.high)})"
    return Panel(name, domain, scale, cells, edges, target, region, whole, range(start, start + len(cells) + 1))


def rough(value: float, low: float = -math.inf, high: float = math.inf) -> str:
    """Round to two significant digits (a bound to three), or to more digits if the result would be out of bounds.

    Examples
    --------
    >>> rough(128.5), rough(0.00173), rough(0.996, 0.0, 0.999), rough(16.600000000000005, 16.600000000000005, 63.0)
    ('130', '0.0017', '0.996', '16.6')
    """
    digits = range(3 if value in (low, high) else 2, 17)
    slack = 1e-12 * (high - low) if value in (low, high) else 0.0  # for a computed bound such as 16.600000000000005
    near = next((d for d in digits if low - slack <= float(f"{value:.{d}g}") <= high + slack), 17)
    return short(value, near) if value in (low, high) else short(float(f"{value:.{near}g}"), near)


def _few_digits(value: int) -> int:
    return round(float(f"{value:.3g}"))


def ticks(panel: Panel, columns: int) -> list[tuple[int, str]]:
    """(column, label) for round numbers on a text axis of `columns` characters, as many as fit."""
    if panel.edges is None:
        return _spread_labels(panel, columns)
    low, high = float(panel.edges[0]), float(panel.edges[-1])
    for values in _log_choices(low, high) if panel.scale == "log" else _linear_choices(low, high):
        marks = [(min(columns - 1, int(panel.place(v) * columns)), short(v, 6)) for v in values]
        if _fits(marks, columns):
            return marks
    return [(0, short(low, 6)), (columns - 1, short(high, 6))]


def round_values(low: float, high: float, *, log: bool, most: int = 6) -> list[float]:
    """At most `most` round numbers between two ends, for an axis."""
    for values in _log_choices(low, high) if log else _linear_choices(low, high):
        if 2 <= len(values) <= most:
            return values
    return [low, high]


def _spread_labels(panel: Panel, columns: int) -> list[tuple[int, str]]:
    """(column, label) for ordered values on a text axis of `columns` characters, as many as fit."""
    count, longest = len(panel.cells), max(map(len, panel.labels))
    step = max(1, -(-(longest + 2) * count // columns))
    marks = [(int((i + 0.5) / count * columns), panel.labels[i]) for i in range(0, count, step)]
    return marks if _fits(marks, columns) else marks[:1]


def _fits(marks: list[tuple[int, str]], columns: int) -> bool:
    spans = [(at - len(label) // 2, at - len(label) // 2 + len(label)) for at, label in marks]
    apart = all(right[0] > left[1] for left, right in pairwise(spans))
    return len(marks) > 1 and apart and spans[-1][1] <= columns + 6


def _log_choices(low: float, high: float) -> list[list[float]]:
    """Lists of possible ticks, from many to few: 1, 2, 5 in every decade, every decade, every second decade …"""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    fine = [[m * 10.0**d for d in decades for m in some] for some in ((1, 2, 5), (1, 3))]
    rough = [[10.0**d for d in decades if d % step == 0] for step in (1, 2, 3, 4, 5, 10, 20, 50, 100)]
    return [[v for v in values if low <= v <= high * (1 + 1e-12)] for values in [*fine, *rough]]


def _linear_choices(low: float, high: float) -> list[list[float]]:
    first = 10.0 ** math.floor(math.log10((high - low) / 10))
    choices = []
    for step in (first * m for m in (1, 2, 5, 10, 20, 50)):
        numbers = range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
        choices.append([number * step for number in numbers])
    return choices
