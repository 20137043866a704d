"""Rank the rows, put the table into a canonical order, and find dependent parameters, for models and p-values.

Results must not depend on how a table is written. Columns are sorted by a hash of their values, categories by the mean
rank of their rows, and rows by rank and then by content. So results are exactly the same if rows or columns are
reordered, if columns or categories are renamed, or if a monotone function is applied to the objective.

Dependent parameters are conditional ones, copies (two columns with the same information) and correlated ones. They do
not depend on target and region. A test of one parameter is never adjusted for parameters that depend on it: a copy or a
conditional child would explain the effect away.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.counting.few_rows import FewRows, Indices, starts_of
from pedanova.data.column import Mask
from pedanova.space.grid import Cells, Grid, Reals, grid_of, quantile_groups
from pedanova.space.parameters import Space, parents_of

Places: TypeAlias = NDArray[np.uint16]  # (rows, parameters) cells, with categories in their canonical order


@dataclass(frozen=True, slots=True, eq=False)
class Arrangement:
    """A canonical order of the parameters of a space, and a canonical order of the cells of each parameter."""

    space: Space
    names: tuple[str, ...]  # in the order of `numbered`; parameters that vary come first
    varying: int  # the number of parameters that vary
    orders: tuple[Places, ...]  # (width,) each: cell of the grid → place
    grids: tuple[Grid, ...]

    def places(self, cells: Mapping[str, Cells]) -> Places:
        """(rows, parameters) For each row, the position of its cell in the canonical order."""
        columns = [order[cells[name]] for name, order in zip(self.names, self.orders, strict=True)]
        return np.stack(columns, axis=1)

    def cells(self, places: Places) -> dict[str, Cells]:
        """The inverse of `places`: the grid cells by parameter name, in the order of the space."""
        result = {name: self.back(j)[places[:, j]] for j, name in enumerate(self.names)}
        return {name: result[name] for name in self.space}

    def back(self, j: int) -> Cells:
        """(width,) The grid cell at each position of parameter `j`: the inverse of ``orders[j]``."""
        return np.argsort(self.orders[j]).astype(np.int32)


@dataclass(frozen=True, eq=False)
class RankedRows:
    """The rows with a valid objective and configuration, from best to worst."""

    arrangement: Arrangement
    places: Places  # (rows, parameters)
    keys: NDArray[np.uint64]  # (rows,) equal for equal configurations, in arbitrary order
    signed: Reals  # (rows,) the objective, lower is better
    rows: Indices  # (rows,) which row of the table each one is
    trials: Reals | None  # (rows,) number of the trial, where the order of the trials is known
    weights: Indices  # (rows,) how many rows of the table each one stands for
    designed: bool = False  # whether some trials were proposed by `next_trials`

    def __len__(self) -> int:
        return len(self.places)

    @cached_property
    def distinct(self) -> tuple[Indices, Indices, Indices]:
        """The first row of each configuration, the configuration of each row, the number of rows per configuration."""
        order = np.argsort(self.keys)
        owner, counts = codes_of(self.keys, order)
        starts = np.cumsum(counts) - counts
        return np.minimum.reduceat(order, starts), owner, np.add.reduceat(self.weights[order], starts)

    def without(self, names: Collection[str]) -> RankedRows:
        """The same rows, with the parameters `names` treated as if they did not vary."""
        own = self.arrangement
        varying = [j for j in range(own.varying) if own.names[j] not in names]
        order = [*varying, *(j for j in range(len(own.names)) if j not in set(varying))]
        arrangement = replace(
            own,
            names=tuple(own.names[j] for j in order),
            varying=len(varying),
            orders=tuple(own.orders[j] for j in order),
            grids=tuple(own.grids[j] for j in order),
        )
        return replace(self, arrangement=arrangement, places=self.places[:, order])


def ranked_rows(space: Space, few: FewRows) -> RankedRows:
    """Rank the rows by their objective, where lower is better; one that is not a number is ranked last."""
    order = np.argsort(few.signed)
    levels, counts = codes_of(few.signed, order)
    arrangement = arranged(space, few.cells, levels, counts)
    places = arrangement.places(few.cells)
    keys = keys_of(arrangement, places, few.exact) if few.draws is None else few.draws.view(np.uint64)
    trials = few.order
    if len(counts) < len(order):  # rare, and sorting by several columns is slow
        order = np.lexsort((keys, levels) if trials is None else (trials, keys, levels))
    return RankedRows(
        arrangement=arrangement,
        places=places[order],
        keys=keys[order],
        signed=few.signed[order],
        rows=few.rows[order],
        trials=None if trials is None else trials[order],
        weights=few.weights[order],
        designed=few.designed,
    )


def arranged(space: Space, cells: Mapping[str, Cells], levels: Indices, counts: Indices) -> Arrangement:
    """Sort parameters by values, constant ones last, and categories by mean rank, given `codes_of` the objective."""
    grids = {name: grid_of(parameter) for name, parameter in space.items()}
    ranks = doubled_ranks(levels, counts)
    orders = {name: order_of(grid, cells[name], ranks) for name, grid in grids.items()}
    varying = varying_names(space, cells)
    places = np.array([orders[name][cells[name]] for name in varying], dtype=np.uint64)
    numbers = dict(zip(varying, numbered(places.reshape(len(varying), len(levels)), levels), strict=True))
    names = (*sorted(varying, key=lambda name: (numbers[name], name)), *sorted(set(space) - set(varying)))
    return Arrangement(
        space=space,
        names=names,
        varying=len(varying),
        orders=tuple(orders[name] for name in names),
        grids=tuple(grids[name] for name in names),
    )


def numbered(columns: NDArray[np.uint64], levels: Indices) -> list[int]:
    """A number for the values of each column, whatever the order of the rows, and how often one is repeated."""
    first, second = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD1B54A32D192ED03)
    keys = np.sort(mixed(columns * first + levels.astype(np.uint64) * second), axis=1)
    keys[:, 1:][keys[:, 1:] == keys[:, :-1]] = 0
    return keys.sum(axis=1).tolist()  # type: ignore[no-any-return]


def varying_names(space: Space, cells: Mapping[str, Cells]) -> tuple[str, ...]:
    """The sorted names of the parameters whose rows lie in more than one cell."""
    return tuple(sorted(name for name in space if np.any(cells[name] != cells[name][:1])))


def order_of(grid: Grid, cells: Cells, ranks: Indices) -> Places:
    """(width,) The canonical position of each cell; only categories are reordered, by the mean rank of their rows."""
    order = np.arange(grid.width, dtype=np.uint16)
    for block in grid.blocks:
        if block.ordered:
            continue
        counts, sums, squares = (
            np.bincount(cells, weights=weights, minlength=grid.width)[block.cells]
            for weights in (None, ranks, ranks.astype(np.float64) ** 2)
        )
        means = np.where(counts > 0, sums / np.maximum(counts, 1), np.inf)
        best_first = np.lexsort((squares, counts, means))
        order[block.start + best_first] = np.arange(block.start, block.stop)
    return order


def regimes_of(grid: Grid, cells: Places) -> Indices:
    """The index of each cell's block (domain); the cells for missing and outside values get the next two indices."""
    starts = [*(block.start for block in grid.blocks), grid.missing, grid.outside]
    return np.searchsorted(starts, cells, side="right") - 1


def keys_of(arrangement: Arrangement, places: Places, exact: Mapping[str, NDArray[np.uint64]]) -> NDArray[np.uint64]:
    """(rows,) A hash of the configuration of each row; the order of the hashes has no meaning."""
    rng = np.random.default_rng(0xC0F)
    keys = np.zeros(len(places), dtype=np.uint64)
    for j, name in enumerate(arrangement.names[: arrangement.varying]):
        inner, outer = rng.integers(0, 2**64, size=2, dtype=np.uint64) | np.uint64(1)
        own = places[:, j].astype(np.uint64) + np.uint64(1)
        if name in exact:
            there = places[:, j] < arrangement.grids[j].cells
            own = own + np.where(there, mixed(exact[name] * inner), np.uint64(0))
        keys += own * outer
    return mixed(keys)


def mixed(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Hash integer keys, so that similar keys get very different values."""
    turned = (keys ^ (keys >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return turned ^ (turned >> np.uint64(32))


def mid_ranks(values: NDArray[Any]) -> Reals:
    """The rank of each value, 1 for the smallest; tied values get their mean rank."""
    return doubled_ranks(*codes_of(values)) / 2.0


def doubled_ranks(codes: Indices, counts: Indices) -> Indices:
    """Twice the mid-ranks of the values with these `codes_of`: whole numbers, so that their sums are exact."""
    return (2 * np.cumsum(counts) - counts + 1)[codes]


def codes_of(values: NDArray[Any], order: Indices | None = None) -> tuple[Indices, Indices]:
    """The index of each value among the sorted distinct values, and how often each distinct value occurs.

    `order` sorts the values. Without it, integers are assumed to be small, so they are counted instead of sorted.
    """
    if order is not None or values.dtype.kind == "f":  # faster than `np.unique`
        order = np.argsort(values) if order is None else order
        starts = starts_of(values[order])
        counts, codes = np.diff(starts, append=len(order)), np.empty(len(order), dtype=np.int64)
        codes[order] = np.repeat(np.arange(len(starts)), counts)
        return codes, counts
    counts = np.bincount(values)
    there = counts > 0
    return (np.cumsum(there) - 1)[values], counts[there]


MOST_ROWS = 2000  # rows that are examined
AT_ONCE = 16  # parameters that are compared with all others at once
MOST_GROUPS, ROWS_A_GROUP = 6, 10  # groups of an ordered parameter's values, and rows in a group
RARE = 3  # levels with fewer rows are merged
LINKED = 0.3  # association from which two parameters count as linked
DECIDES = 0.98  # association from which a parameter decides whether another one has a value
SAME = 0.8  # association in both directions from which two parameters carry the same information
COPY = 0.95  # association in both directions from which one is a copy of the other
MONOTONE = 0.5  # squared rank correlation from which a monotone relation is tested
FEWEST_RANKED = 5  # a rank correlation needs more rows than this
FEWEST_BESIDE = 6  # rows in which two copies must differ from their most common values


@dataclass(frozen=True, slots=True, eq=False)
class Dependence:
    """The dependence between the parameters that vary, in the order of `names`."""

    names: tuple[str, ...] = ()
    gates: tuple[tuple[str, str], ...] = ()  # (parent, child): the parent decides whether the child has a value
    twins: tuple[tuple[str, str], ...] = ()  # two parameters that carry the same information
    related: tuple[tuple[str, str], ...] = ()  # others of which one says much about the other; no conditional ones
    copies: Mapping[str, str] = field(default_factory=dict)  # copy → the parameter that it is a copy of
    # (parameters, parameters) each, not saved in files: how well one predicts the other, in both directions
    strength: Reals = field(default_factory=lambda: np.zeros((0, 0)))
    dependent: Mask = field(default_factory=lambda: np.zeros((0, 0), dtype=bool))  # linked, directly or through others


@dataclass(frozen=True, slots=True, eq=False)
class Grouping:
    """For several parameters, the group (value or quantile) that each row is in, as one-hot columns."""

    hot: NDArray[np.float32]  # (rows, groups of all)
    starts: NDArray[np.int64]  # (parameters,) first group of each
    rows: Reals  # (groups of all,) the number of rows in each

    @property
    def sizes(self) -> NDArray[np.int64]:
        """(parameters,) The number of groups of each parameter."""
        ends: NDArray[np.int64] = np.append(self.starts[1:], self.hot.shape[1])
        return ends - self.starts


def dependence_of(rows: RankedRows) -> Dependence:
    arrangement = rows.arrangement
    names = arrangement.names[: arrangement.varying]
    if not names:
        return Dependence()
    once = np.sort(rows.distinct[0])  # a repeated configuration counts once
    step = -(-len(once) // MOST_ROWS)
    places = rows.places[once[::step], : len(names)]
    grids = arrangement.grids[: len(names)]
    counted = CountedCells.of(grids, places)
    groups = counted.groups()
    by_value, by_being = association(groups, groups), np.zeros((len(names), len(names)))  # [child, parent]
    gate = declared(arrangement.space, names)
    absent = np.array([counts[grid.cells :].sum() for grid, counts in zip(grids, counted.counts, strict=True)])
    some = (absent >= RARE) & (len(places) - absent >= RARE)
    if some.any():
        active = places < [grid.cells for grid in grids]
        by_being[some] = association(grouping(active[:, some].astype(np.int64), [2] * int(some.sum())), groups)
        gate |= (by_being >= DECIDES) & holds(active)
    del groups  # they are large if there are many parameters
    squares = rank_squares(counted.centred_ranks())
    one_way = np.maximum(np.maximum(by_value, by_being), squares)
    strength = np.maximum(one_way, one_way.T)
    np.fill_diagonal(strength, 1.0)
    near = strength >= LINKED
    if not gate.any() and np.count_nonzero(near) == len(names):  # nothing depends on anything else
        return Dependence(names, strength=strength, dependent=near)
    both = np.where(gate | gate.T, 0.0, np.maximum(np.minimum(by_value, by_value.T), squares))
    linked = chained(near | gate | gate.T)
    rising = monotone(np.where(gate | gate.T, 0.0, squares), places)
    same = np.zeros_like(rising)
    for i, j in np.argwhere(np.triu((both >= COPY) | rising, k=1)):
        pair = (grids[i], grids[j]), places[:, [i, j]]
        same[i, j] = same[j, i] = agree_beside(*pair, rising=bool(rising[i, j]))
    copies = _copies(names, same, [int(np.count_nonzero(counts)) for counts in counted.counts])
    gates = tuple(sorted((names[parent], names[child]) for child, parent in np.argwhere(gate).tolist()))
    alike, children = both >= SAME, np.logical_or.reduce(gate, axis=1)
    twins, related = (
        tuple(sorted((min(names[i], names[j]), max(names[i], names[j])) for i, j in np.argwhere(np.triu(some, k=1))))
        for some in (alike, near & ~(alike | same | children | children[:, None]))
    )
    return Dependence(names, gates, twins, related, copies, strength, linked)


@dataclass(frozen=True, slots=True, eq=False)
class CountedCells:
    """The number of rows in each cell of each parameter; groups and ranks are computed for cells, not for rows."""

    grids: Sequence[Grid]
    flat: NDArray[np.int32]  # (rows, parameters) cells, numbered consecutively over all parameters
    counts: list[NDArray[np.int64]]  # (width,) each

    @classmethod
    def of(cls, grids: Sequence[Grid], places: Places) -> CountedCells:
        ends = np.cumsum([grid.width for grid in grids])
        flat = places.astype(np.int32) + np.append(0, ends[:-1]).astype(np.int32)
        return cls(grids, flat, np.split(np.bincount(flat.ravel(), minlength=int(ends[-1])), ends[:-1]))

    def groups(self) -> Grouping:
        each = [_groups(grid, counts) for grid, counts in zip(self.grids, self.counts, strict=True)]
        return grouping(np.concatenate(each)[self.flat], [int(codes.max()) + 1 for codes in each])

    def centred_ranks(self) -> Reals:
        """(parameters, rows) Centred ranks of the ordered parameters; 0 where a parameter has no value."""
        ranks = [np.zeros(grid.width) for grid in self.grids]
        for own, grid, counts in zip(ranks, self.grids, self.counts, strict=True):
            there = counts[: grid.cells]
            ends = np.cumsum(there)
            if is_ordered(grid) and ends[-1] > FEWEST_RANKED:
                own[: grid.cells] = ends - (there + ends[-1]) / 2.0
        return np.concatenate(ranks)[self.flat.T]


def is_ordered(grid: Grid) -> bool:
    return all(block.ordered for block in grid.blocks)


def _groups(grid: Grid, counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """(width,) The group of each cell that contains rows; rare groups are merged into one.

    Each value is a group; an ordered parameter with too many values is divided at quantiles instead.
    """
    most = max(2, min(MOST_GROUPS, int(counts.sum()) // ROWS_A_GROUP))
    full = counts.nonzero()[0]
    each, codes, values = counts[full], np.arange(len(full)), int(np.searchsorted(full, grid.cells))
    if is_ordered(grid) and values > most:
        codes[:values] = quantile_groups(each[:values], most)
    rows = np.bincount(codes, weights=each)
    codes[rows[codes] < RARE] = len(rows)
    groups = np.zeros(grid.width, dtype=np.int64)
    groups[full] = codes_of(codes)[0]
    return groups


def grouping(codes: NDArray[np.int64], sizes: Sequence[int]) -> Grouping:
    """Make a `Grouping` from (rows, parameters) group codes and the number of groups of each parameter."""
    starts = np.cumsum([0, *sizes[:-1]])
    hot = np.zeros((len(codes), sum(sizes)), dtype=np.float32)
    hot[np.arange(len(codes))[:, None], codes + starts] = 1.0
    return Grouping(hot, starts, (np.ones(len(hot), dtype=np.float32) @ hot).astype(np.float64))  # small and so exact


def association(of: Grouping, by: Grouping) -> Reals:
    """(of, by) How well the second grouping predicts the first: Goodman and Kruskal's τ, corrected for chance."""
    rows, ends = len(of.hot), np.append(of.starts, of.hot.shape[1])
    met = np.empty((len(of.starts), len(by.starts)))
    for first in range(0, len(met), AT_ONCE):  # in parts, to limit memory
        some = slice(first, first + AT_ONCE)
        cells = slice(ends[some][0], ends[1:][some][-1])
        counts = (of.hot[:, cells].T @ by.hot).astype(np.float64)  # small counts are exact in single precision
        own = np.add.reduceat(counts**2 / by.rows, of.starts[some] - cells.start, axis=0)
        met[some] = np.add.reduceat(own, by.starts, axis=1) / rows
    blind = np.add.reduceat((of.rows / rows) ** 2, of.starts)[:, None]
    spread = np.maximum(1.0 - blind, 1e-12)
    raw = np.where(blind < 1.0 - 1e-12, (met - blind) / spread, 0.0)
    chance = (by.sizes - 1) / max(1, rows - 1)
    return (raw - chance) / (1.0 - np.minimum(chance, 0.99))


def rank_squares(ranks: Reals) -> Reals:
    """(parameters, parameters) Squared rank correlations of ordered parameters minus their expectation by chance."""
    sizes = np.sqrt((ranks**2).sum(axis=1))
    sizes[sizes == 0.0] = 1.0
    squares: Reals = np.maximum((ranks @ ranks.T / np.outer(sizes, sizes)) ** 2 - 1.0 / ranks.shape[1], 0.0)
    np.fill_diagonal(squares, 0.0)
    return squares


def monotone(squares: Reals, places: Places) -> Mask:
    """(parameters, parameters) Whether one parameter is a monotone function of the other, such as its logarithm."""
    result = np.zeros(squares.shape, dtype=bool)
    for i, j in np.argwhere(np.triu(squares >= MONOTONE, k=1)):
        order = np.lexsort((places[:, j], places[:, i]))
        steps = np.diff(places[order, j].astype(np.int64))
        falling = np.diff(places[np.lexsort((-places[:, j].astype(np.int64), places[:, i])), j].astype(np.int64))
        result[i, j] = result[j, i] = bool(np.all(steps >= 0) or np.all(falling <= 0))
    return result


def agree_beside(grids: tuple[Grid, Grid], places: Places, *, rising: bool) -> bool:
    """Whether two parameters agree; rows in which both have their most common value are ignored.

    Two parameters that agree only at their defaults are not copies. Nor are two parameters of which one always has its
    default, even if one of them never rises where the other rises.
    """
    common = np.array([np.bincount(column).argmax() for column in places.T])
    other = places != common
    places = places[np.any(other, axis=1)]
    if np.all(places == places[:1]):
        return True
    if rising:
        return int(np.count_nonzero(np.all(other, axis=1))) >= FEWEST_BESIDE
    counted = CountedCells.of(grids, places)
    groups = counted.groups()
    by_value = association(groups, groups)
    squares = rank_squares(counted.centred_ranks())
    return bool(max(min(by_value[0, 1], by_value[1, 0]), squares[0, 1]) >= SAME)


def holds(active: Mask) -> Mask:
    """(child, parent) Whether the parent is active in all rows where the child is active, and in other rows too."""
    child_alone = active.T.astype(np.float32) @ (~active).astype(np.float32)  # counts of rows, which are exact
    counts = active.sum(axis=0)
    contains: Mask = (child_alone == 0) & (counts[:, None] < counts)
    return contains


def declared(space: Space, names: tuple[str, ...]) -> Mask:
    """(child, parent) Whether the space declares the parent as a condition of the child."""
    result = np.zeros((len(names), len(names)), dtype=bool)
    for i, child in enumerate(names):
        for parent in parents_of(space[child]):
            if parent in names:
                result[i, names.index(parent)] = True
    return result


def chained(linked: Mask) -> Mask:
    """(parameters, parameters) Whether two parameters are linked directly or through others."""
    dependent = linked | np.eye(len(linked), dtype=bool)
    while True:
        further = (dependent.astype(np.float64) @ dependent.astype(np.float64)) > 0
        if np.array_equal(further, dependent):
            return dependent
        dependent = further


def _copies(names: tuple[str, ...], same: Mask, distinct: Sequence[int]) -> dict[str, str]:
    """Each copy with its original, such as {'lr_2': 'lr'}; the original has the most distinct values."""
    copies: dict[str, str] = {}
    left = sorted(range(len(names)), key=lambda j: (-distinct[j], names[j]))
    while left:
        original = left.pop(0)
        own = [j for j in left if same[original, j]]
        copies.update({names[j]: names[original] for j in sorted(own)})
        left = [j for j in left if j not in own]
    return copies
