"""Posterior samples: functions drawn from the model at uniform points of the space.

A sample is stored as the order of the points from best to worst, with two bytes per point. The cells of a point take
at most two bytes per parameter. These data are enough to answer every question about a target, region or box.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.base.threads import RESULTS
from pedanova.counting.few_rows import Indices
from pedanova.data.column import Column, Mask, equals_any
from pedanova.data.regions import Cut, Direction, Quantile, Region, rank_of
from pedanova.measures.chance.ranked_rows import (
    MOST_ROWS,
    Arrangement,
    Dependence,
    Places,
    chained,
    is_ordered,
    mid_ranks,
    regimes_of,
)
from pedanova.measures.distributions import normal_quantile
from pedanova.measures.smoothing import waves_of
from pedanova.space.grid import Block, Cells, CoarseGrid, Grid, Reals, crowd, even_groups, grid_of, relative_ranks
from pedanova.space.parameters import Parameter, Space, Switch, parents_first, parents_of
from pedanova.space.values import Interval, Value

Counts: TypeAlias = NDArray[np.int64]  # (draws, cells of all parameters)
PointCells: TypeAlias = tuple[NDArray[np.unsignedinteger[Any]], ...]  # (points,) each: coarse cells, by parameter
RankRange: TypeAlias = tuple[int, int]  # the number of distinct objectives before the range, and up to its end

# --- uniform points ------------------------------------------------------------------------------------

SIDE = 101  # a prime, so that SIDE + 1 columns are even in every pair
POINTS = SIDE**2
SOME_POINTS = 71**2  # if there are few rows
FEWER_POINTS = 43**2  # for a faster model
FINE_POINTS = 199**2  # for questions inside a part of the space, which few of the other points lie in
SAME_PRIOR = 1e-9  # relative difference below which a prior counts as uniform
FEWEST_FOR_MARGIN = 10  # the fewest rows of a block from which a margin is estimated
FEWEST_CROWDED = 40  # the fewest rows that do not crowd by chance
OFF_MARGIN = 3.0  # deviations from the prior beyond which chance is ruled out
MISSED_ROWS = 10.0  # expected rows beyond the last row; with more, that part was not sampled
LEAST_OFF = 0.05  # the least squared deviation of the density from the prior that matters
LEAST_DENSITY = 0.02  # the least density relative to the prior, so that every part of the space has points
SPIKE_ROWS = 8  # rows of a coarse cell from which a single frequent value is detected
DEPENDENT = 15.0  # two columns depend on each other if their association times the number of rows is larger


def even_points(
    arrangement: Arrangement,
    seen: Places,
    *,
    count: int = POINTS,
    seed: int = 0,
    margins: Sequence[Reals] | None = None,
    dependence: Dependence | None = None,
) -> Places:
    """(points, parameters) The cells of points that are uniform along every parameter, and nearly independent.

    Parents decide whether their children have a value, and from which domain. If such a parent is not in the space, its
    children have values (and domains) as often as in the rows of the table. If `margins` are given, the points follow
    these distributions instead of the prior, and columns depend on each other as in the rows. The cells of a copy are
    computed from the cells of its original.
    """
    index = {name: j for j, name in enumerate(arrangement.names)}
    evens = [even_column(j, count, seed) for j in range(len(index))]
    if margins is not None and dependence is not None:
        pair_like_rows(evens, arrangement, seen, dependence, np.random.default_rng([seed, 0xC0B]))
    places = np.empty((count, len(index)), dtype=np.uint16)
    drawn: dict[str, DrawnParent] = {}
    parents = {parent for parameter in arrangement.space.values() for parent in parents_of(parameter)}
    originals = {} if dependence is None else dependence.copies
    order = originals_first(arrangement.space, originals)
    for place, name in enumerate(order):
        j = index[name]
        if originals.get(name) in order[:place]:
            original = index[originals[name]]
            places[:, j] = follow_rows((seen[:, original], seen[:, j]), places[:, original])
        else:
            even = evens[j]
            grid, parameter = arrangement.grids[j], arrangement.space[name]
            own = regimes_of(grid, seen[:, j])
            active = active_points(parameter, drawn, own < len(grid.blocks), count)
            regimes = None if active is None else decided_regimes(parameter, drawn, own, active)
            if regimes is None:
                rows = seen[:, j] if active is None else seen[seen[:, j] < grid.missing, j]
                regimes, even = drawn_regimes(grid, rows, even, outside=margins is not None)
                regimes[np.zeros(count, dtype=bool) if active is None else ~active] = len(grid.blocks)
            places[:, j] = cells_by_prior(grid, grid.prior if margins is None else margins[j], regimes, even)
        if name in parents:
            drawn[name] = DrawnParent(arrangement, j, seen[:, j], places[:, j])
    return places


def originals_first(space: Space, copies: Mapping[str, str]) -> list[str]:
    """Names with parents before their children, and originals before their copies as far as possible."""
    waiting = dict.fromkeys(parents_first(space))
    order: list[str] = []
    while waiting:
        before = ((name, [*parents_of(space[name]), *([copies[name]] if name in copies else [])]) for name in waiting)
        free = (name for name, others in before if not any(other in waiting for other in others))
        order.append(next(free, next(iter(waiting))))
        del waiting[order[-1]]
    return order


def follow_rows(known: tuple[Places, Places], points: Places) -> Places:
    """(points,) Compute the cells of a copy at some points; `points` are the cells of its original.

    `known` has two columns of the rows: the cells of the original and the cells of the copy. Each point takes the
    copy's cell from the row whose original is nearest to the point.
    """
    order = np.argsort(known[0], kind="stable")
    original, copy = (column[order] for column in known)
    after = np.clip(np.searchsorted(original, points), 1, len(original) - 1) if len(original) > 1 else np.zeros(1, int)
    before = np.maximum(after - 1, 0)
    nearer = points.astype(np.int64) - original[before] < original[after].astype(np.int64) - points
    return copy[np.where(nearer, before, after)]


@lru_cache(maxsize=128)
def even_column(j: int, count: int, seed: int) -> Reals:
    """Column j of a uniform design in the unit cube: one number in each of `count` equal intervals.

    Every pair of columns is uniform, too: the design is an orthogonal array with shuffled symbols (Tang). A lattice is
    equally uniform, but three of its columns can be linearly dependent. Then an interaction of two parameters would
    look like an effect of a third.
    """
    rng = np.random.default_rng([seed, 0xD07, j])
    side = math.isqrt(count)
    if j > side or side * side != count:  # the array has no more columns; this one is even only on its own
        places = rng.permutation(count)
    else:
        row, column = np.divmod(np.arange(count), side)
        symbols, within = ((column + j * row) % side, row) if j < side else (row, column)
        parts = rng.permutation(side)[:, None] * side
        # The points with one symbol are spread over its part in random order.
        places = (parts + rng.permuted(np.tile(np.arange(side), (side, 1)), axis=1))[symbols, within]
    even: Reals = (places + rng.random(count)) / count
    even.flags.writeable = False
    return even


def pair_like_rows(
    evens: list[Reals], arrangement: Arrangement, seen: Places, dependence: Dependence, rng: np.random.Generator
) -> None:
    """Reorder each of the columns `evens` (points,), so that they depend on each other as the columns of the rows do.

    Columns that do not clearly depend on another one are unchanged. The others are ordered like a smoothed bootstrap of
    the rows' normal scores: rows drawn equally often, plus normal noise with the covariance of the rows.
    """
    complete = [j for j in range(arrangement.varying) if np.all(seen[:, j] < arrangement.grids[j].cells)]
    places = [dependence.names.index(arrangement.names[j]) for j in complete]
    examined = len(seen) / -(-len(seen) // MOST_ROWS)
    linked = dependence.strength[np.ix_(places, places)] * examined > DEPENDENT
    left, points = chained(linked), len(evens[0])
    for group in (np.flatnonzero(line) for place, line in enumerate(left) if line.sum() > 1 and not line[:place].any()):
        columns = [complete[place] for place in group]
        scores = np.stack([normal_scores(seen[:, j]) for j in columns], axis=1)
        scores = (scores - scores.mean(axis=0)) / scores.std(axis=0)
        scott = len(seen) ** (-1.0 / (len(columns) + 4.0))  # only ties of categories are ordered by noise
        width = np.array([scott if is_ordered(arrangement.grids[j]) else 1e-3 for j in columns])
        values, vectors = np.linalg.eigh(scores.T @ scores / len(scores))
        noise = rng.standard_normal((points, len(values))) @ (vectors * np.sqrt(np.maximum(values, 0.0))).T
        drawn = np.sqrt(1.0 - width**2) * scores[rng.permutation(points) % len(seen)] + width * noise
        for j, column in zip(columns, drawn.T, strict=True):
            evens[j] = np.sort(evens[j])[np.argsort(np.argsort(column))]


def normal_scores(column: NDArray[Any]) -> Reals:
    scores: Reals = normal_quantile((mid_ranks(column) - 0.5) / len(column))
    return scores


@dataclass(frozen=True, slots=True, eq=False)
class DrawnParent:
    """The cells of a parent parameter: in the rows of the table, and at the points that are drawn from the space."""

    arrangement: Arrangement
    number: int
    seen: Places  # (rows,)
    places: Places  # (points,)

    def holds(self, values: tuple[Value, ...], there: Mask) -> Mask:
        """(points,) Whether the parent has one of `values` at each point.

        If a bound of `values` lies inside a cell, the result is True there if enough rows of this cell have the child.
        `there` is True for rows that have the child.
        """
        points, rows = (
            equals_any(values_of(self.arrangement, self.number, one), values) for one in (self.places, self.seen)
        )
        grid = self.arrangement.grids[self.number]
        for cell in (*bound_cells(grid, values), grid.outside):
            here = self.seen == cell
            if here.any():
                others = there[rows & ~here]  # only some, if there are several parents
                usual = float(others.mean()) if len(others) else 1.0
                points[self.places == cell] = float(there[here].mean()) > usual / 2.0
        return points


def bound_cells(grid: Grid, values: tuple[Value, ...]) -> list[int]:
    """The cells that contain a bound of one of the intervals in `values`; none if the grid has no edges."""
    if grid.edges is None or len(grid.edges) != grid.cells + 1:
        return []
    bounds = {bound for value in values if isinstance(value, Interval) for bound in (value.low, value.high)}
    inside = [bound for bound in bounds if grid.edges[0] <= bound <= grid.edges[-1]]
    return [min(int(np.searchsorted(grid.edges, bound, side="right")) - 1, grid.cells - 1) for bound in inside]


def active_points(parameter: Parameter, drawn: Mapping[str, DrawnParent], there: Mask, count: int) -> Mask | None:
    """(points,) Where the parameter is active; None if it has no conditions, or if a parent is not in the space.

    `there` says which rows have a value of the parameter.
    """
    if not parameter.when and not (isinstance(parameter, Switch) and parameter.by in drawn):
        return None
    active = np.ones(count, dtype=bool)
    for parent, values in parameter.when:
        if parent not in drawn:
            return None
        active &= drawn[parent].holds(values, there)
    return active


def decided_regimes(parameter: Parameter, drawn: Mapping[str, DrawnParent], own: Indices, active: Mask) -> Cells | None:
    """(points,) The index of the domain at each point, given its parent; None if the parent is not in the space.

    An inactive point gets the number of domains as its index. `own` has the index of the domain in each row.
    """
    if not isinstance(parameter, Switch):
        return np.where(active, 0, 1).astype(np.int32)
    if parameter.by not in drawn:
        return None
    regimes = np.full(len(active), len(parameter.regimes), dtype=np.int32)
    for i, domain in enumerate(parameter.regimes):
        keys = tuple(value for value, other in parameter.domains if other == domain)
        regimes[drawn[parameter.by].holds(keys, own == i) & active] = i
    return regimes


def drawn_regimes(grid: Grid, seen: Places, even: Reals, *, outside: bool) -> tuple[Cells, Reals]:
    """Draw a domain for each point, as often as it occurs in the rows, and a position (0 to 1) in this domain.

    Rows outside the space are used only if `outside` is True.
    """
    inside = seen if outside else seen[seen < grid.outside]
    parts = np.bincount(regimes_of(grid, inside), minlength=len(grid.blocks) + 2) / max(1, len(inside))
    if parts[0] == 1.0 or len(inside) == 0:
        return np.zeros(len(even), dtype=np.int32), even
    ends = np.cumsum(parts)
    chosen = np.minimum(np.searchsorted(ends, even, side="right"), int(np.flatnonzero(parts)[-1]))
    position = (even - (ends - parts)[chosen]) / np.where(parts > 0, parts, 1.0)[chosen]
    return chosen.astype(np.int32), np.clip(position, 0.0, np.nextafter(1.0, 0.0))


def margins_of(arrangement: Arrangement, seen: Places) -> list[Reals]:
    """By parameter, (cells,): the distribution to draw cells from, if points are distributed like the rows."""
    return [margin(grid, seen[:, j]) for j, grid in enumerate(arrangement.grids)]


def crowded_margins(arrangement: Arrangement, margins: Sequence[Reals]) -> dict[str, Reals]:
    """By name: those of `margins` that crowd in a small part of a range."""
    priors = [(grid.prior, [block.cells for block in grid.blocks if block.ordered]) for grid in arrangement.grids]
    every = zip(arrangement.names, margins, priors, strict=False)
    return {
        name: own for name, own, (prior, ranges) in every if any(crowd(prior[cells], own[cells]) for cells in ranges)
    }


def crowded_grids(space: Space, crowded: Mapping[str, Reals]) -> tuple[CoarseGrid, ...]:
    """Cells in which the points of every parameter are counted; empty if no parameter is in `crowded`."""
    grids = []
    for name, parameter in space.items():
        grid = grid_of(parameter)
        if name in crowded:
            points = coarse_grid(grid, POINT_CELLS)
            grids.append(even_grid(grid, np.bincount(points.table[: grid.cells], weights=crowded[name])))
        else:
            grids.append(coarse_grid(grid, COUNTED_CELLS))
    return tuple(grids) if crowded else ()


def margin(grid: Grid, seen: Places) -> Reals:
    """(cells,) The distribution to draw cells from: the prior, unless the rows are clearly distributed differently."""
    moved = grid.prior.astype(np.float64)
    for block in grid.blocks:
        inside = seen[(seen >= block.start) & (seen < block.stop)].astype(np.int64) - block.start
        if len(inside) >= FEWEST_FOR_MARGIN and len(block) > 1:
            prior = moved[block.cells] / moved[block.cells].sum()
            first, end = 0, len(block)
            if block.ordered:  # empty cells at an end were not sampled if the prior expects `MISSED_ROWS` rows there
                low, high = int(inside.min()), int(inside.max()) + 1
                first = low if len(inside) * float(prior[:low].sum()) > MISSED_ROWS else 0
                end = high if len(inside) * float(prior[high:].sum()) > MISSED_ROWS else end
            moved[block.cells] = 0.0
            here = slice(block.start + first, block.start + end)
            moved[here] = block_margin(prior[first:end] / prior[first:end].sum(), inside - first, ordered=block.ordered)
    return moved


def block_margin(prior: Reals, seen: Indices, *, ordered: bool) -> Reals:
    """(cells,) The distribution of the rows in a block: the prior, plus deviations that chance cannot explain."""
    cells = len(prior)
    counts = np.bincount(seen, minlength=cells)
    if ordered and len(seen) >= FEWEST_CROWDED and crowd(prior, counts):  # cells with equally many rows
        groups = even_groups(counts)
        rows, own = (np.bincount(groups, weights=one) for one in (counts, prior))
        return prior * (rows / np.maximum(own, 1e-300))[groups] / len(seen)
    step = np.arange(cells) * min(cells, COUNTED_CELLS) // cells if ordered else np.arange(cells)
    mass: Reals = np.bincount(step, weights=prior).astype(np.float64)
    density = np.ones(len(mass))
    together = np.bincount(step[seen], minlength=len(mass))
    for functions, octaves in waves_of(mass, [Block(0, len(mass), ordered)], child=True):
        means, variances = together @ functions / len(seen), together @ functions**2 / len(seen) ** 2
        for some in octaves:
            chance = float(variances[some].sum())
            energy = float(means[some] @ means[some]) - chance
            if energy > max(LEAST_OFF, OFF_MARGIN * math.sqrt(2.0 * float(variances[some] @ variances[some]))):
                density += functions[:, some] @ means[some] * (energy / (energy + chance))
    if np.all(density == 1.0):
        return prior
    coarse: Reals = mass * np.maximum(density, LEAST_DENSITY)
    coarse = coarse / coarse.sum()
    fine: Reals = prior * (coarse / np.maximum(mass, 1e-300))[step]
    for cell in np.flatnonzero(together >= SPIKE_ROWS):  # if most rows have one value, so have the points
        inside = np.flatnonzero(step == cell)
        if len(inside) > 1 and 2 * counts[inside].max() > together[cell]:
            fine[inside] = coarse[cell] * counts[inside] / together[cell]
    fine /= fine.sum()
    return fine


def cells_by_prior(grid: Grid, every: Reals, regimes: Cells, even: Reals) -> Cells:
    """(points,) Draw a cell for every point, in its domain (`regimes`); `every` are the probabilities of the cells."""
    cells = np.where(regimes > len(grid.blocks), grid.outside, grid.missing).astype(np.int32)
    for i, block in enumerate(grid.blocks):
        here = np.flatnonzero(regimes == i)
        prior = every[block.cells]
        if prior.max() - prior.min() <= SAME_PRIOR * prior.max():
            places = (even[here] * len(prior)).astype(np.int64)
        else:
            ends = np.cumsum(prior)
            places = np.searchsorted(ends / ends[-1], even[here], side="right")
        cells[here] = block.start + np.minimum(places, len(prior) - 1)
    return cells


def values_of(arrangement: Arrangement, j: int, places: Places) -> Column:
    """The values of parameter `j` in the given cells, to test the conditions of its children."""
    grid, cells = arrangement.grids[j], arrangement.back(j)[places]
    codes = np.where(cells < grid.cells, cells, -1).astype(np.int32)
    return Column(arrangement.names[j], codes, tuple(grid.centres()))


# --- ranks of the objective ----------------------------------------------------------------------------

ROUNDING = 1e-9  # because parts of the space are sums of weights


@dataclass(frozen=True, slots=True, eq=False)
class ObjectiveRanks:
    """The distinct objectives, best first; for each, how many rows and how much of the space are at least as good.

    A quantile or a threshold never separates rows with equal objectives.
    """

    values: Reals  # (values,) objective, lower is better
    rows: Indices  # (values,) rows up to here
    parts: Reals  # (values,) part of the space up to here, as the rows represent it

    @classmethod
    def of(cls, signed: Reals, weights: Reals | None = None, counts: Indices | None = None) -> ObjectiveRanks:
        """The ranks of rows, given their objectives; `weights` are the volumes of the space around the rows.

        If each one stands for several rows, `counts` says for how many.
        """
        values, places = np.unique(signed, return_inverse=True)
        rows = np.cumsum(np.bincount(places, weights=counts).astype(np.int64))
        mass = rows.astype(np.float64) if weights is None else np.cumsum(np.bincount(places, weights=weights))
        return cls(values, rows, mass / mass[-1])

    def __len__(self) -> int:
        return len(self.values)

    def range_of(self, region: Region, direction: Direction, *, of_space: bool = False) -> RankRange:
        """The range of ranks in a region of the objective; with `of_space`, quantiles refer to the space."""
        begin, end = region.cuts(direction)
        first = 0 if begin is None else self.up_to(begin, of_space=of_space)
        last = len(self) if end is None else self.up_to(end, of_space=of_space)
        return first, max(first, last)

    def up_to(self, cut: Cut, *, of_space: bool = False) -> int:
        """The number of distinct objectives that are at least as good as a quantile or threshold."""
        if not isinstance(cut, Quantile):
            return int(np.searchsorted(self.values, cut.signed, side="right"))
        reached: Any = self.parts if of_space else self.rows
        end = float(cut.part) - ROUNDING if of_space else rank_of(cut.part, int(self.rows[-1]))
        return min(int(np.searchsorted(reached, end, side="left")) + 1, len(self)) if cut.part else 0

    def part_of(self, rank: int) -> float:
        return float(self.parts[rank - 1]) if rank else 0.0

    def rows_of(self, rank: int) -> int:
        return int(self.rows[rank - 1]) if rank else 0

    def size(self, span: RankRange) -> int:
        return self.rows_of(span[1]) - self.rows_of(span[0])

    def value_of(self, rank: int) -> float:
        """The objective of rank `rank`, counted from 1; minus infinity for rank 0."""
        return float(self.values[rank - 1]) if rank else -np.inf


# --- coarse cells --------------------------------------------------------------------------------------

POINT_CELLS = 1000  # cells of a range for storing points
COUNTED_CELLS = 50  # cells of a range for counting points


@lru_cache(maxsize=2048)
def coarse_grid(grid: Grid, most: int) -> CoarseGrid:
    """The grid with cells merged, so that no ordered domain has more than `most` cells; categories are not merged."""
    kept = [min(len(block), most) if block.ordered else len(block) for block in grid.blocks]
    return grid.coarsened(np.arange(len(block)) * k // len(block) for block, k in zip(grid.blocks, kept, strict=True))


def even_grid(grid: Grid, mass: NDArray[np.number[Any]]) -> CoarseGrid:
    """The grid with cells merged, so that each merged cell has about the same part of `mass`, given by point cell."""
    points = coarse_grid(grid, POINT_CELLS)
    mass = np.pad(mass, (0, points.cells - len(mass)))
    groups = []
    for block, merged in zip(grid.blocks, points.blocks, strict=False):
        inside, own = np.arange(len(merged)), mass[merged.cells]
        if merged.ordered and len(merged) > COUNTED_CELLS and own.any():
            inside = np.unique((relative_ranks(own) * COUNTED_CELLS).astype(np.int64), return_inverse=True)[1]
        groups.append(inside[points.table[block.cells] - merged.start])
    return grid.coarsened(groups)


@dataclass(frozen=True, slots=True, eq=False)
class StackedGrids:
    """The coarse grids of several parameters side by side, so that all parameters are counted at once."""

    grids: tuple[CoarseGrid, ...]
    starts: Indices  # (parameters + 1,) first cell of each
    block_starts: Indices  # (blocks,) first cell of each block
    block_owner: Indices  # (blocks,) the parameter that each belongs to
    prior: Reals  # (cells,) adds to one inside each block
    inner: Indices  # cells with a neighbour on both sides in an ordered block

    @classmethod
    def of(cls, grids: Sequence[CoarseGrid]) -> StackedGrids:
        starts = np.cumsum([0, *(grid.cells for grid in grids)])
        pairs = zip(starts, grids, strict=False)
        block_starts = [start + block.start for start, grid in pairs for block in grid.blocks]
        owner = [j for j, grid in enumerate(grids) for _ in grid.blocks]
        prior = np.concatenate([grid.prior for grid in grids])
        ordered = [(start, block) for start, grid in zip(starts, grids, strict=False) for block in grid.blocks]
        inner = [np.arange(start + one.start + 1, start + one.stop - 1) for start, one in ordered if one.ordered]
        inside = np.concatenate([np.empty(0, dtype=np.int64), *inner])
        return cls(tuple(grids), starts, np.array(block_starts), np.array(owner), prior, inside)

    @property
    def cells(self) -> int:
        return int(self.starts[-1])

    def by_block(self, values: Reals) -> Reals:
        """(draws, blocks) The sums of `values` (draws, cells) over the cells of each block (domain)."""
        return np.add.reduceat(values, self.block_starts, axis=1)

    def by_parameter(self, values: Reals) -> Reals:
        """(draws, parameters) The sums of `values` (draws, cells) over the cells of each parameter."""
        return np.add.reduceat(values, self.starts[:-1], axis=1)

    def blocks_by_parameter(self, values: Reals) -> Reals:
        """(draws, parameters) The sums of `values` (draws, blocks) over the blocks of each parameter."""
        first = np.flatnonzero(np.diff(self.block_owner, prepend=-1))
        return np.add.reduceat(values, first, axis=1)


# --- samples -------------------------------------------------------------------------------------------

MOST_CACHED = 1 << 23  # bytes of counts that are cached for the next question


@dataclass(frozen=True, eq=False)
class PosteriorSamples:
    """Points of the space, and their order in every posterior sample."""

    space: Space
    points: PointCells
    order: NDArray[np.uint16]  # (draws, points) best first
    ranks: ObjectiveRanks
    varying: tuple[str, ...]  # parameters of the model; those that never varied are not in it
    adaptive: bool  # whether the sampler was adaptive, so that quantiles of rows and of the space differ
    copies: Mapping[str, str] = field(default_factory=dict)  # copy → the parameter whose shares it has
    layers: Mapping[float, Indices] = field(
        default_factory=dict
    )  # best part → draws in which a process of its own orders it
    counted: tuple[CoarseGrid, ...] = ()  # how points are counted; by default, in ranges of equal width
    finer: Callable[[], tuple[PointCells, NDArray[np.uint16]]] | None = None  # makes more points, and their order
    _counted: dict[int, Counts] = field(default_factory=dict, init=False, repr=False)  # by the number of points

    @property
    def sources(self) -> list[int]:
        """(parameters,) The index of each parameter; a copy has the index of its original, and gets the same shares."""
        index = {name: j for j, name in enumerate(self.space)}
        return [index[self.copies.get(name, name)] for name in self.space]

    @property
    def draws(self) -> int:
        return len(self.order)

    def __len__(self) -> int:
        return int(self.order.shape[1])

    def point_grid(self, name: str) -> CoarseGrid:
        """The merged grid that is used to store the points of one parameter."""
        return coarse_grid(grid_of(self.space[name]), POINT_CELLS)

    @cached_property
    def grids(self) -> StackedGrids:
        """The merged grids that are used to count the points, one grid for each parameter."""
        if self.counted:
            return StackedGrids.of(self.counted)
        return StackedGrids.of([coarse_grid(grid_of(parameter), COUNTED_CELLS) for parameter in self.space.values()])

    @property
    def fine(self) -> PosteriorSamples:
        """The same samples at more points, for questions inside a part of the space."""
        if self.finer is None:
            return self
        make = self.finer

        def replaced() -> PosteriorSamples:
            points, order = make()
            return replace(self, points=points, order=order, finer=None)

        return RESULTS.get(self, "fine", replaced, lambda fine: fine.order.nbytes)

    def focused(self, region: RankRange) -> PosteriorSamples:
        """The samples for questions inside a region: counted in cells that have equally many points of the region.

        Cells of equal width hide what happens in a small region, such as a thin strip at the edge of the space. If some
        draws have a process that was fitted to the best part around the region, only these are used.
        """
        first, last = self.ends(region)
        if last - first == len(self):
            return self

        layer = self.layer_of(region)

        def make() -> PosteriorSamples:
            fine = self.fine
            begin, end = fine.ends(region)
            often = np.bincount(fine.order[:, begin:end].ravel(), minlength=len(fine))
            masses = (np.bincount(column, weights=often) for column in fine.points)
            grids = (even_grid(grid_of(one), mass) for one, mass in zip(self.space.values(), masses, strict=True))
            order = fine.order[self.layers[layer]] if layer < 1.0 else fine.order
            return replace(fine, order=order, counted=tuple(grids), layers={})

        return RESULTS.get(self, ("focused", first, last), make, lambda fine: 4 * len(fine) * len(self.space))

    def layer_of(self, region: RankRange) -> float:
        """The smallest best part with a process of its own that contains the region; 1.0 for the whole space."""
        return min((part for part in self.layers if self.ends(region)[1] <= math.ceil(part * len(self))), default=1.0)

    def cells(self, name: str) -> Cells:
        """(points,) The grid cell of every point; where cells are merged, the middle one."""
        cells: Cells = self.point_grid(name).middles[self.points[list(self.space).index(name)]]
        return cells

    def ends(self, span: RankRange) -> tuple[int, int]:
        """The first position of a range of ranks in the order of the points, and its last position + 1."""
        first, last = (math.ceil(self.ranks.part_of(rank) * len(self) - 1e-6) for rank in span)
        return first, max(first, last)

    def box(self, kept: Mapping[str, Mask]) -> Mask:
        """(points,) Which points lie in a box; `kept` has a mask of grid cells for each restricted parameter.

        A coarse cell lies in the box if more than half of its prior probability lies there.
        """
        inside, index = np.ones(len(self), dtype=bool), {name: i for i, name in enumerate(self.space)}
        for name, cells in kept.items():
            if cells.all():
                continue
            grid, coarse = grid_of(self.space[name]), self.point_grid(name)
            weight = np.concatenate([grid.prior, [1.0, 0.0]])  # no point lies outside the space
            whole = np.bincount(coarse.table, weights=weight, minlength=coarse.cells)
            part = np.bincount(coarse.table, weights=weight * cells, minlength=coarse.cells)
            inside &= (2.0 * part > whole).take(self.points[index[name]])
        return inside

    def narrowed(self, box: Mask, ranks: ObjectiveRanks) -> PosteriorSamples:
        """The samples, restricted to the points in the mask `box`; `ranks` are the ranks of the rows in the box."""
        numbers, every = (np.cumsum(box) - 1).astype(np.uint16), self.order.ravel()
        inside = every.take(np.flatnonzero(box.take(every)))  # every sample contains each point once
        order = numbers.take(inside).reshape(self.draws, -1)
        points = tuple(column[box] for column in self.points)
        return replace(self, points=points, order=order, ranks=ranks, finer=None)

    def count(self, span: RankRange) -> Counts:
        """(draws, cells) The number of points in each cell with a rank in `span`; (1, cells) if all ranks are in it."""
        first, last = self.ends(span)
        if first == 0:
            return self._best(last)
        cached = self._counted
        if last - first <= sum(min(abs(end - one) for one in (0, len(self), *cached)) for end in (first, last)):
            return self._between(first, last)
        return self._best(last) - self._best(first)

    def _best(self, end: int) -> Counts:
        """(draws, cells) How many points before position `end` lie in each cell, from the nearest cached counts."""
        cached = self._counted
        if not cached:
            cached[len(self)] = np.bincount(self.flat.ravel(), minlength=self.grids.cells)[None, :]
        if end in cached:
            return cached[end]
        near = min((0, *cached), key=lambda other: abs(other - end))
        more = self._between(min(near, end), max(near, end))
        counts = more if near == 0 else cached[near] + more if near < end else cached[near] - more
        if len(cached) * counts.nbytes <= MOST_CACHED:
            cached[end] = counts
        return counts

    def _between(self, first: int, last: int) -> Counts:
        """(draws, cells) How many points from position `first` up to `last` lie in each cell."""
        counts = np.empty((self.draws, self.grids.cells), dtype=np.int64)
        for draw, order in enumerate(self.order):
            counts[draw] = np.bincount(self.flat.take(order[first:last], axis=0).ravel(), minlength=counts.shape[1])
        return counts

    @cached_property
    def flat(self) -> Cells:
        """(points, parameters) The cell of every point, numbered across all parameters."""
        each = zip(self.space, self.points, self.grids.grids, self.grids.starts, strict=False)
        columns = [self.point_grid(name).to(grid)[column] + np.int32(start) for name, column, grid, start in each]
        return np.stack(columns, axis=1)

    @cached_property
    def alone(self) -> Reals:
        """(parameters,) How much each parameter alone explains, from 0 to 1.

        It is a fraction of the variance of the points' mean ranks.
        """
        grids, flat = self.grids, self.flat.ravel()
        ranks = np.tile(np.arange(float(len(self))), self.draws)  # sums of whole numbers are exact
        sums = np.bincount(self.order.ravel(), weights=ranks, minlength=len(self))
        mean = sums / self.draws - (len(self) - 1) / 2.0
        counts = np.bincount(flat, minlength=grids.cells)
        by_cell = np.bincount(flat, weights=np.repeat(mean, len(grids.grids)), minlength=grids.cells)
        explained: Reals = grids.by_parameter((by_cell**2 / np.maximum(counts, 1))[None, :])[0]
        return explained / max(float(mean @ mean), 1e-300)


def coarse_points(space: Space, cells: Mapping[str, Cells]) -> PointCells:
    """For each parameter, the merged cells (points,) of all points, in the smallest integer type that fits."""
    points: list[NDArray[np.unsignedinteger[Any]]] = []
    for name, parameter in space.items():
        grid = coarse_grid(grid_of(parameter), POINT_CELLS)
        points.append(grid.table[cells[name]].astype(np.uint8 if grid.cells <= 256 else np.uint16))
    return tuple(points)
