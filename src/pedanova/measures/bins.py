"""Divide a parameter into bins or panels for a figure, and compute for every bin the range due to chance.

Suppose that n′ of the region's n rows are drawn without replacement. The expected fraction of the drawn rows in a bin
is the region's fraction, and the variance is (Σ_j K_j² p_j - (Σ_j K_j p_j)²) / n′ · (n - n′) / (n - 1). Here p_j is the
fraction of the region's rows in cell j. The smoothing kernel moves the fraction K_j of each row in cell j into the bin.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.base.digits import roundest, short
from pedanova.measures.distributions import NORMAL
from pedanova.measures.smoothing import periodic_kernel, scott_bandwidth
from pedanova.space.grid import FEW_CELLS, Block, Grid, Reals, grid_of
from pedanova.space.parameters import (
    Categorical,
    Float,
    Int,
    Moving,
    Ordinal,
    Parameter,
    Scale,
    Switch,
    domain_names,
    scale_of,
)
from pedanova.space.values import Label

Counts: TypeAlias = NDArray[np.int64]
Kind: TypeAlias = Literal["bars", "steps", "curve"]
MOST_BARS = 40
ROWS_A_VALUE = 5  # mean rows per value from which a range is shown by its values


@dataclass(frozen=True, slots=True, eq=False)
class Bins:
    """The bins of a parameter: which bar or step each cell of its grid belongs to."""

    kind: Kind
    groups: NDArray[np.int64]  # (cells,)
    labels: tuple[str, ...]
    edges: Reals | None = None  # (steps + 1,) in units of the parameter, never beyond its bounds; None for bars
    widths: Reals | None = None  # widths of steps as parts of the axis, with the sum 1; None for bars
    log: bool = False
    values: tuple[Label, ...] | None = None  # the values, if every bar is one value
    apart: bool = False  # whether the rows have only these values, so that nothing is smoothed between them

    def __len__(self) -> int:
        return len(self.labels)

    def gather(self, parts: Reals | Counts) -> Reals:
        """(bins,) For each bin, the sum of `parts` (cells,) over its cells."""
        return np.bincount(self.groups, weights=parts, minlength=len(self)).astype(np.float64)

    @property
    def bounds(self) -> NDArray[np.int64]:
        """(bins + 1,) The first cell of each bin, then the total number of cells; cells of a bin must be neighbours."""
        return np.searchsorted(self.groups, np.arange(len(self) + 1))


def bins_of(parameter: Parameter, seen: Counts | None = None, points: int = 60) -> Bins:
    """Bars for categories and for up to 40 values, steps for more; `seen` has the number of rows in each cell."""
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
    if not isinstance(parameter, Int):
        grid = grid_of(parameter)
        edges, bounds = _cut(grid, points)
        labels = tuple(f"{short(low)} to {short(high)}" for low, high in pairwise(edges))
        log = scale_of(parameter) == "log"
        return Bins("curve", _groups(bounds), labels, edges, np.diff(bounds) / grid.cells, log)
    few = (parameter.high - parameter.low) // parameter.step < MOST_BARS
    every = range(parameter.low, parameter.high + 1, parameter.step)
    return _value_bins(parameter, tuple(every)) if few else _whole_steps(parameter, points)


def _seen_values(parameter: Float | Int, seen: Counts | None) -> tuple[Label, ...]:
    """The distinct values of a numeric parameter if the rows have only a few values; otherwise an empty tuple.

    A cell of a continuous range is represented by the roundest number in it.
    """
    grid, cells = grid_of(parameter), np.flatnonzero(seen) if seen is not None else np.empty(0, dtype=np.int64)
    many = (parameter.high - parameter.low) // parameter.step + 1 if isinstance(parameter, Int) else grid.cells
    if seen is None or not 0 < len(cells) <= min(MOST_BARS, many // 2) or seen.sum() < ROWS_A_VALUE * len(cells):
        return ()
    if grid.labels is not None:
        return tuple(grid.labels[cell] for cell in cells)
    if grid.edges is None or np.any(np.diff(cells) < 2):  # rows in neighbouring cells mean a continuous range
        return ()
    values = [roundest(float(grid.edges[cell]), float(grid.edges[cell + 1])) for cell in cells]
    return tuple(round(value) for value in values) if isinstance(parameter, Int) else tuple(values)


def _value_bins(parameter: Float | Int, values: tuple[Label, ...], *, apart: bool = False) -> Bins:
    """One bar for each of `values`; every cell belongs to the bar of the nearest value."""
    numbers, centres = np.array(values, dtype=np.float64), np.array(grid_of(parameter).centres(), dtype=np.float64)
    if scale_of(parameter) == "log" and not isinstance(parameter, Int):
        numbers, centres = np.log(numbers), np.log(centres)
    middles = numbers[:-1] / 2 + numbers[1:] / 2
    groups = np.searchsorted(middles, centres)
    return Bins("bars", groups, tuple(short(value) for value in values), values=values, apart=apart)


def _cut(grid: Grid, points: int) -> tuple[Reals, NDArray[np.int64]]:
    edges = grid.edges if grid.edges is not None else np.arange(grid.cells + 1.0)
    bounds = np.round(np.linspace(0, grid.cells, min(points, grid.cells) + 1)).astype(np.int64)
    return edges[bounds], bounds


def _groups(bounds: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))


def _whole_steps(parameter: Int, points: int) -> Bins:
    """Steps whose edges lie halfway between two integers; the label of a step shows its first and last integer."""
    grid = grid_of(parameter)
    wanted, _ = _cut(grid, points)
    edges = grid.edges if grid.edges is not None else wanted
    low, step = parameter.low, parameter.step
    between = low + (np.round((wanted - low) / step - 0.5) + 0.5) * step
    above = np.clip(np.searchsorted(edges, between), 1, len(edges) - 1)  # the nearest edges
    bounds = np.unique(np.where(between - edges[above - 1] < edges[above] - between, above - 1, above).astype(np.int64))
    ends = low + (np.round((edges[bounds] - low) / step - 0.5) + 0.5) * step
    first, last = ends[:-1] + step / 2, ends[1:] - step / 2
    labels = tuple(_span(round(a), round(b)) for a, b in zip(first, last, strict=True))
    scaled = np.log(ends) if parameter.log else ends
    widths = np.diff(scaled) / (scaled[-1] - scaled[0])
    drawn = np.clip(ends, parameter.low, parameter.high)
    return Bins("steps", _groups(bounds), labels, drawn, widths, parameter.log)


def _span(first: int, last: int) -> str:
    return short(first) if first == last else f"{short(first)} to {short(last)}"


def _name_bins(labels: tuple[Label, ...], seen: Counts | None) -> Bins:
    """One bar for each of the most frequent categories, and one for all others together."""
    if len(labels) <= MOST_BARS:
        return Bins("bars", np.arange(len(labels)), tuple(short(label) for label in labels), values=labels)
    often = -seen if seen is not None else np.zeros(len(labels))
    frequent = np.sort(np.argsort(often, kind="stable")[: MOST_BARS - 1])
    groups = np.full(len(labels), MOST_BARS - 1)
    groups[frequent] = np.arange(len(frequent))
    names = [short(labels[cell]) for cell in frequent]
    return Bins("bars", groups, (*names, f"{len(labels) - len(frequent)} others"))


def _ordered_bins(labels: tuple[Label, ...]) -> Bins:
    """One bar for every ordered value, or for several neighbouring values if there are too many."""
    together = math.ceil(len(labels) / MOST_BARS)
    groups = np.arange(len(labels)) // together
    if together == 1:
        return Bins("bars", groups, tuple(short(label) for label in labels), values=labels)
    spans = [labels[start : start + together] for start in range(0, len(labels), together)]
    names = [short(span[0]) if len(span) == 1 else f"{short(span[0])} to {short(span[-1])}" for span in spans]
    return Bins("bars", groups, tuple(names))


def _joined_bins(parameter: Switch, seen: Counts | None) -> Bins:
    """The bars of all domains of a parameter, side by side."""
    room = max(4, MOST_BARS // len(parameter.regimes))
    groups: list[NDArray[np.int64]] = []
    labels: list[str] = []
    for block, domain, words in zip(grid_of(parameter).blocks, parameter.regimes, domain_names(parameter), strict=True):
        bins = bins_of(domain, None if seen is None else seen[block.cells], room)
        groups.append(bins.groups + len(labels))
        labels += [f"{label} ({words})" for label in bins.labels]
    return Bins("bars", np.concatenate(groups), tuple(labels))


@dataclass(frozen=True, slots=True, eq=False)
class Basis:
    """The row counts from which densities were computed; rows without a value are not counted."""

    target: NDArray[np.int64]  # (cells,) rows of the target
    region: NDArray[np.int64]
    rows: tuple[float, float]  # of target and region; for a model, the number of rows that it represents
    widths: tuple[float, ...]  # the kernel's width in cells, for each block
    modelled: bool = False

    def within(self, cells: slice, number: int) -> Basis:
        """The counts in the cells of one domain of the parameter; `number` is the index of the domain."""
        target, region = self.target[cells], self.region[cells]
        masses = [part.sum() / max(1, whole.sum()) for part, whole in ((target, self.target), (region, self.region))]
        rows = (self.rows[0] * float(masses[0]), self.rows[1] * float(masses[1]))
        return Basis(target, region, rows, self.widths[number : number + 1], self.modelled)


def expected_widths(parts: Reals, rows: float, blocks: tuple[Block, ...]) -> tuple[float, ...]:
    """The kernel's width in each block if there are `rows` rows, with the fraction ``parts[j]`` of them in cell j."""
    widths = []
    for block in blocks:
        counts = rows * parts[block.cells]
        smoothed = block.smoothable and counts.sum() >= 2
        widths.append(float(scott_bandwidth(counts)) if smoothed else 0.0)
    return tuple(widths)


def chance_band(
    bins: Bins, mean: Reals, parts: Reals, blocks: tuple[Block, ...] | None, basis: Basis, *, of_region: bool
) -> tuple[Reals, Reals]:
    """The 95 % range of the fraction of target rows in each bin if they are drawn at random: two arrays (bins,).

    `mean` is the baseline's fraction in each bin. `parts` is the baseline's fraction in each cell before smoothing. If
    `blocks` is None, `parts` is given for bins instead of cells. A uniform baseline (`of_region` is False) is treated
    as infinitely many rows. A bin with a single target row is never outside the range.
    """
    inside, rows = basis.rows
    if inside < 1:
        return np.zeros(len(bins)), np.ones(len(bins))
    left = max(0.0, (rows - inside) / max(1.0, rows - 1.0)) if of_region else 1.0
    if blocks is None:
        variance, most = parts * (1.0 - parts), (parts > 0).astype(np.float64)
    else:
        variance, most = of_one_row(bins, parts, blocks, basis.widths)
    low, high = likely(mean, variance / inside * left)
    return low, np.maximum(high, most / inside)


def likely(mean: Reals, variance: Reals) -> tuple[Reals, Reals]:
    """The 95 % range of a positive quantity: the lower end assumes a normal distribution, the upper end a gamma one.

    With few rows the distribution is skewed: if 1.5 rows are expected, 0 or 3 rows are not unusual.
    """
    deviation = np.sqrt(np.maximum(variance, 0.0))
    part = np.divide(deviation, mean, out=np.zeros(len(mean)), where=mean > 0)
    high: Reals = mean * np.maximum(0.0, 1.0 - part**2 / 9.0 + NORMAL * part / 3.0) ** 3
    return np.maximum(0.0, mean - NORMAL * deviation), high


def of_one_row(bins: Bins, parts: Reals, blocks: tuple[Block, ...], widths: tuple[float, ...]) -> tuple[Reals, Reals]:
    """The variance and the maximum of the amount that one random row adds to each bin, both (bins,)."""
    squares, means, most = np.zeros((3, len(bins)))
    for block, width in zip(blocks, widths, strict=True):
        groups, masses = bins.groups[block.cells], parts[block.cells]
        if width == 0.0:
            here = np.bincount(groups, weights=masses, minlength=len(bins))
            squares, means, most = squares + here, means + here, np.maximum(most, here > 0)
            continue
        first, last = int(groups[0]), int(groups[-1]) + 1
        bounds, step = np.searchsorted(groups, np.arange(first, last + 1)), max(1, int(width / 4))
        # The kernel hardly changes within a fourth of its width, so one cell represents its neighbours.
        many = len(masses)
        columns = np.arange(step // 2, many, step) if many > step else np.array([many // 2])
        masses = np.add.reduceat(masses, np.concatenate([[0], (columns[:-1] + columns[1:] + 1) // 2]))
        kernel = gathered_kernel(many, width, bounds, columns)
        squares[first:last] += kernel**2 @ masses
        means[first:last] += kernel @ masses
        most[first:last] = kernel.max(axis=1)
    return np.maximum(squares - means**2, 0.0), most


def gathered_kernel(cells: int, width: float, bounds: NDArray[np.int64], columns: NDArray[np.int64]) -> Reals:
    """(bins, columns) The fraction of a cell's mass that the kernel moves into each bin, for the cells in `columns`."""
    around = np.arange(-cells, 3 * cells) % (2 * cells)
    reached = np.concatenate([[0.0], np.cumsum(periodic_kernel(cells, width)[around])])
    places, column = bounds[:, None] + cells, columns[None, :]
    up_to: Reals = reached[places - column] + reached[places + column + 1]
    return np.diff(up_to, axis=0)


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
    rows: NDArray[Any] | None = None  # the number of rows in each cell of the parameter's grid, if it is known

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
                inner = math.ceil(ends[0]), math.floor(ends[1])
                first, last = (round(float(f"{end:.3g}")) for end in inner)
                low, high = (short(min(max(end, bounds[0]), bounds[1])) for end in (first, last))
            else:
                low, high = (rough(float(end), float(self.edges[0]), float(self.edges[-1])) for end in ends)
        return low if low == high else f"{low} to {high}"

    def good(self, more: NDArray[np.bool_]) -> list[Good]:
        """Groups of cells where the target is clearly denser than the region, and at least one row was observed.

        `more` says for each cell of the parameter's grid whether the target is above the band of chance there. A range
        of a curve contains such a cell, and each bar is one.
        """
        bounds = np.arange(len(self.cells) + 1) if self.bounds is None else np.asarray(self.bounds)
        clear = np.diff(np.append(0, np.cumsum(more))[bounds]) > 0
        target = self.target if self.is_curve else np.where(clear, self.target, 0.0)
        good = []
        for first, last, inside, base in good_ranges(target, self.region, ordered=self.scale != "names"):
            words = self.span_of(slice(first, last))
            low, _, high = words.partition(" to ")
            brief = f"up to {high}" if first == 0 else f"from {low}"
            brief = words if not high or (first == 0) == (last == len(clear)) else brief
            if clear[first:last].any():
                good.append(Good(int(bounds[first]), int(bounds[last]), words, inside, base, brief))
        return [one for one in good if self.rows is None or self.rows[one.start : one.stop].any()]

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
    brief: str = ""  # the same words, with "up to" or "from" if the range ends at a bound


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
