"""f-ANOVA of a random forest: the variance that each parameter explains, from exact marginals of its trees.

A tree is constant on each of its leaves, which are boxes. Averaged over all other parameters, the tree is a step
function of one parameter, with steps at the ends of the boxes. Between its two ends, a box adds a constant: its value
times the fraction of the other parameters' space that it covers. So this constant is added at the lower end and
subtracted at the upper end. The cumulative sum over the sorted ends is the marginal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.base.notes import Note
from pedanova.base.table import Printed
from pedanova.base.threads import as_threads, spread
from pedanova.data.column import Column, Mask, cells_of
from pedanova.data.observations import Observations
from pedanova.data.regions import Direction, Region, as_part, part_in_words, rank_of, sign_of
from pedanova.errors import Arg, DataError, QueryError, missing_library
from pedanova.measures.question import as_whole
from pedanova.measures.share import ShareTable, ratio_of
from pedanova.space.grid import Block, Cells, Grid, Reals, grid_of
from pedanova.space.parameters import Categorical, Float, Int, Moving, Parameter, Switch
from pedanova.space.values import as_real, shown

Singles: TypeAlias = NDArray[np.float32]
DEEPEST = 64  # levels of a tree; in practice the number of rows is the limit
NOISE = 1e-13  # a standard deviation below this part of the largest value is a rounding error
FEWEST_ROWS = 10
LARGEST = 1e300  # sums of larger objectives may overflow
MOST_POINTS = 4096  # integers in a range; a larger range is treated as real numbers
MIDDLE = 0.5  # the position of rows without a value, as a part of the range


@dataclass(frozen=True, slots=True)
class ForestEffect:
    """How much of the variance of a random forest's predictions one parameter explains."""

    name: str
    ratio: float  # its part of the sum of `share` over all parameters, which Optuna prints
    share: float  # the part of a tree's variance that it explains alone, averaged over trees
    std: float  # the standard deviation of that part over the trees
    variance: float  # the variance that it explains alone, in squared units of the objective, averaged over trees


@dataclass(frozen=True, slots=True, repr=False)
class ForestEffects(ShareTable[ForestEffect]):
    """A table of `ForestEffect` rows, largest share first: ``effects["lr"].share``.

    Attributes
    ----------
    rows
        The rows, each with `name`, `ratio`, `share`, `std` and `variance`.
    objective
        The name of the objective.
    variance
        The variance of a tree's prediction over the space, averaged over trees.
    trees, n_rows
        The number of trees and of rows.

    Examples
    --------
    >>> import pedanova as pa
    >>> a = pa.analyze(pa.demo_trials(), "error").first(100)
    >>> effects = pa.forest_effects(a.data.observed(), trees=8)
    >>> effects.trees, round(sum(effects.ratios.values()), 6)
    (8, 1.0)
    """

    rows: tuple[ForestEffect, ...]
    objective: str
    variance: float
    trees: int
    n_rows: int
    notes: tuple[Note, ...] = ()

    def printed(self) -> Printed:
        names, ratios = self.column("parameter", lambda row: row.name), self.percents("ratio", bar=True)
        return [names, ratios, self.percents("share"), self.percents("std", "± trees")]

    def heading(self) -> str:
        return f"Effects on {self.objective}, from a random forest of {self.trees} trees fitted to {self.n_rows:,} rows"


def forest_effects(
    observed: Observations, *, clip: float | None = None, trees: int = 64, seed: int = 0, threads: int | None = 1
) -> ForestEffects:
    """Fit a random forest, and compute the fraction of its predictions' variance that each parameter explains.

    Parameters
    ----------
    observed
        The rows: ``analyze(…).data.observed()``. Rows without a finite objective are left out.
    clip
        A quantile such as 0.1: objectives worse than the best 10 % are treated as equal. Then only differences among
        good rows count (Hutter's min(f, f*)).
    trees, seed
        The number of trees and the random seed; the same seed gives the same numbers.
    threads
        The number of threads, None for all cores; the result does not depend on it.

    Returns
    -------
    ForestEffects
        One row for each parameter, the largest share first. The variance is over the whole search space.

    Raises
    ------
    DataError
        There are too few rows, or the objective is constant.
    QueryError
        There are several objectives.
    MissingLibraryError
        scikit-learn is not installed.

    Examples
    --------
    >>> import pedanova as pa
    >>> a = pa.analyze(pa.demo_trials(), "error").first(100)
    >>> pa.forest_effects(a.data.observed(), trees=8).n_rows
    99
    """
    if not isinstance(observed, Observations):
        raise QueryError(f"{shown(observed)} is not the rows of an analysis; pass a.data.observed()")
    workers, encoded = as_threads(threads), encode(observed, clip=clip)
    fitted, unit = _fit(encoded, trees, seed, workers)
    parts = spread(lambda tree: tree_variances(tree.tree_, encoded.axes), fitted, threads=workers)
    total, main = (np.array(column) for column in zip(*parts, strict=True))
    if not total.any():
        raise QueryError(f"all {len(total)} trees are constant over the space; give more rows or trees")
    clipped = "" if clip is None else f" (clipped at {Region.parse(clip, 'clip')})"
    return ForestEffects(
        rows=_rows(tuple(observed.space), total, main, unit),
        objective=f"{observed.name}{clipped}",
        variance=float(total.mean()) * unit,
        trees=len(total),
        n_rows=len(encoded.objective),
        notes=encoded.notes,
    )


def _rows(names: Sequence[str], total: Reals, main: Reals, unit: float) -> tuple[ForestEffect, ...]:
    split = total > 0  # a constant tree has no variance
    shares = main[split] / total[split, None]
    columns = shares.mean(axis=0), shares.std(axis=0), main.mean(axis=0) * unit
    ratios = ratio_of(columns[0], columns[0].sum())
    numbers = zip(ratios.tolist(), *(column.tolist() for column in columns), strict=True)
    rows = [ForestEffect(name, *row) for name, row in zip(names, numbers, strict=True)]
    return tuple(sorted(rows, key=lambda row: -row.share))


def _fit(encoded: Encoded, trees: object, seed: object, threads: int) -> tuple[Sequence[Any], float]:
    """Fit deep trees with Optuna's settings (bootstrap, all parameters at every split); return the trees and a scale.

    The trees predict the objective scaled to -1 … 1, so that squares do not overflow. Their variances must be
    multiplied by the scale.
    """
    size, start = as_whole(trees, "trees", 1, 2**32), as_whole(seed, "seed", 0, 2**32)
    try:
        from sklearn.ensemble import RandomForestRegressor
    except ImportError:
        raise missing_library("forest f-ANOVA needs scikit-learn", "fanova") from None
    low, high = float(encoded.objective.min()), float(encoded.objective.max())
    middle, half = low / 2 + high / 2, high / 2 - low / 2
    settings = {"max_depth": DEEPEST, "min_samples_split": 2, "min_samples_leaf": 1, "random_state": start}
    forest = RandomForestRegressor(n_estimators=size, n_jobs=threads, **settings)
    return forest.fit(encoded.matrix, (encoded.objective - middle) / half).estimators_, half * half


@dataclass(frozen=True, slots=True, eq=False)
class ColumnDomain:
    """The domain of one column: any number from 0 to 1, or a lattice of weighted values."""

    values: Singles | None = None  # (cells,) the ascending values of a lattice, as the tree compares them
    reached: Reals | None = None  # (cells + 1,) for a lattice: the weight of all cells before each, 0 … 1

    def below(self, thresholds: Reals) -> Reals:
        """The fraction of the domain at or below each threshold; a value of a lattice is never divided."""
        if self.values is None or self.reached is None:
            return np.clip(thresholds, 0.0, 1.0)
        return self.reached[np.searchsorted(self.values.astype(np.float64), thresholds, side="right")]


def tree_variances(tree: Any, axes: Sequence[ColumnDomain]) -> tuple[float, Reals]:
    """The variance of a scikit-learn tree over the space, and the variance of its marginal for each parameter."""
    low, high = leaf_boxes(tree, axes)
    value = tree.value[tree.children_left < 0, 0, 0]
    volume = (high - low).prod(axis=1)
    centred = value - float(volume @ value)
    variance = float(volume @ centred**2)
    if variance <= (NOISE * float(np.abs(value).max())) ** 2:
        variance = 0.0
    return variance, np.array([marginal_variance(*ends, centred * volume) for ends in zip(low.T, high.T, strict=True)])


def leaf_boxes(tree: Any, axes: Sequence[ColumnDomain]) -> tuple[Reals, Reals]:
    """The lower and upper ends of every leaf, both (leaves, parameters), as fractions of the domain."""
    left, right, feature = tree.children_left, tree.children_right, tree.feature
    low, high = np.zeros((len(left), len(axes))), np.ones((len(left), len(axes)))
    nodes = np.zeros(1, dtype=np.intp)
    while len(nodes := nodes[left[nodes] >= 0]):
        for children in (left[nodes], right[nodes]):
            low[children], high[children] = low[nodes], high[nodes]
        for dim, axis in enumerate(axes):
            here = nodes[feature[nodes] == dim]
            low[right[here], dim] = high[left[here], dim] = axis.below(tree.threshold[here])
        nodes = np.concatenate([left[nodes], right[nodes]])
    return low[left < 0], high[left < 0]


def marginal_variance(low: Reals, high: Reals, mass: Reals) -> float:
    """The variance of a tree's marginal for one parameter; `mass` is the value of each leaf times its volume."""
    height = np.divide(mass, high - low, out=np.zeros_like(mass), where=mass != 0)  # 0 for leaves without volume
    ends, places = np.unique(np.concatenate([low, high]), return_inverse=True)
    changes = np.bincount(places.reshape(-1), np.concatenate([height, -height]))
    return float(np.diff(ends) @ np.cumsum(changes)[:-1] ** 2)


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """The input of a forest: a matrix, an objective, and the domain of every column."""

    matrix: Singles  # (rows, parameters): float32, as scikit-learn's trees compare
    objective: Reals  # (rows,) clipped if `clip` is given
    axes: tuple[ColumnDomain, ...]
    notes: tuple[Note, ...]


def encode(observed: Observations, *, clip: object = None) -> Encoded:
    """Turn the usable rows (with a finite objective, inside the space) into numbers for a tree.

    If `clip` is 0.1, for example, all rows outside the best 10 % get the worst objective of the best 10 %. Then
    differences among bad rows no longer count.
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
        if lost := int(np.sum(cells[name][rows] == grid_of(parameter).missing)):
            fate = "are put in the middle of its range" if _has_middle(parameter) else "form a separate category"
            notes.append(Note("rows", f"{lost:,} rows without a value {fate}", subject=name))
    matrix = np.stack(columns, axis=1).astype(np.float32)
    return Encoded(matrix, objective, tuple(axes), tuple(notes))


def _usable(observed: Observations, cells: Mapping[str, Cells]) -> tuple[Mask, list[Note]]:
    """A mask of the rows that have a finite objective and lie in the space, and notes on the other rows."""
    if len(observed.goals) > 1:
        names = [goal.name for goal in observed.goals]
        raise QueryError(f"a forest needs one objective, not {len(names)}; choose one with a.alone({names[0]!r})")
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
    """The clipped objective of the rows; raises an error if it is constant or there are too few rows."""
    name = observed.name
    if len(rows) < FEWEST_ROWS:
        raise DataError(f"{name}: a forest needs {FEWEST_ROWS} usable rows, but only {len(rows)} are usable; add rows")
    objective = observed.ranked[rows].astype(np.float64)
    if objective.min() == objective.max():
        words = f"objective {name!r} is {objective[0]:g} in all {len(rows):,} rows; no parameter can explain it"
        raise DataError(words)
    clipped = objective if part is None else clipped_at(objective, part, observed.direction)
    if np.abs(clipped).max() > LARGEST:
        raise QueryError(
            f"{name} has values above {LARGEST:g}, too large for a forest; leave them out with ", Arg("where")
        )
    if part is None:
        return clipped
    if clipped.min() == clipped.max():
        raise QueryError(
            f"clip: the best {part_in_words(part)} of {len(rows):,} rows all have {name!r} = {clipped[0]:g}; "
            "choose a larger quantile"
        )
    return clipped


def clipped_at(objective: Reals, part: Fraction, direction: Direction) -> Reals:
    """Clip the objective at its ⌈part · rows⌉-th best value."""
    sign = sign_of(direction)
    rank = rank_of(part, len(objective))
    worst = float(np.partition(sign * objective, rank - 1)[rank - 1])
    return np.asarray(sign * np.minimum(sign * objective, worst))


def _encoded(
    column: Column, parameter: Parameter, cells: Cells, rows: NDArray[np.intp], objective: Reals
) -> tuple[Reals, ColumnDomain]:
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
    """The values as numbers; text that is not a number becomes NaN."""
    if column.labels is None:
        return column.values.astype(np.float64)
    table = np.array([*map(as_real, column.labels), np.nan])
    codes = column.values.astype(np.intp)
    return table[np.where(codes < 0, len(column.labels), codes)]


def positions(values: Reals, parameter: Float | Int) -> Reals:
    """The relative position of values between the bounds, 0 to 1; integer bounds are first widened by half a step."""
    half = parameter.step / 2 if isinstance(parameter, Int) else 0.0
    low, high = parameter.low - half, parameter.high + half
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):  # in values that are not used
        if not parameter.log:
            part = (values - low) / (high - low)
        elif high < 2 * low:  # logarithms would be too close to each other for full precision
            part = np.log1p((values - low) / low) / np.log1p((high - low) / low)
        else:
            part = (np.log(values) - np.log(low)) / (np.log(high) - np.log(low))
    return np.clip(part, 0.0, 1.0)


def _axis_of(parameter: Float | Int | Moving) -> ColumnDomain:
    if not isinstance(parameter, Int) or (parameter.high - parameter.low) // parameter.step >= MOST_POINTS:
        return ColumnDomain()
    values = np.arange(parameter.low, parameter.high + 1, parameter.step, dtype=np.float64)
    ends = positions(values + parameter.step / 2, parameter)
    return ColumnDomain(positions(values, parameter).astype(np.float32), np.r_[0.0, ends])


def _placed(cells: Cells, grid: Grid, objective: Reals) -> tuple[Reals, ColumnDomain]:
    """Turn cells into numbers for a tree; categories are numbered in the order of their mean objective.

    If the values have an order, rows without a value get the middle number. Otherwise these rows form an additional
    cell, whose weight is their fraction of the rows.
    """
    absent = cells == grid.missing
    if _has_middle(grid.parameter):
        numbers = np.where(absent, (grid.cells - 1) / 2, cells).astype(np.float64)
        return numbers, _row_of(grid.prior)
    idle = float(absent.mean())
    weights = np.r_[grid.prior * (1.0 - idle), idle]
    place = np.arange(grid.cells + 1)
    # The blocks to rank; for a category, "no value" counts as one of the choices.
    whole = [Block(0, grid.cells + 1, ordered=False)] if isinstance(grid.parameter, Categorical) else grid.blocks
    for block in (block for block in whole if not block.ordered):
        place[block.cells] = block.start + _ranking(cells, block, objective)
    return place[cells].astype(np.float64), _row_of(weights[np.argsort(place)])


def _has_middle(parameter: Parameter) -> bool:
    return not isinstance(parameter, Categorical | Switch)


def _row_of(weights: Reals) -> ColumnDomain:
    reached = np.r_[0.0, np.cumsum(weights)]
    return ColumnDomain(np.arange(len(weights), dtype=np.float32), reached / reached[-1])


def _ranking(cells: Cells, block: Block, objective: Reals) -> NDArray[np.intp]:
    """(cells of the block,) The rank of each category by mean objective; a category without rows gets the overall mean.

    Ties are broken by the order of the rows, because the names of categories and their order must not matter.
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
