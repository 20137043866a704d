"""Effects: how much of the variance of the objective each parameter explains (local f-ANOVA).

Cell j of a parameter has c_j rows, and the sum of their objectives is s_j. So its marginal mean is s_j / c_j. The
variance of the marginal means, Σ c_j/n · (s_j/c_j - mean)², is the f-ANOVA variance of the parameter inside the region.
No model is needed. A smoothing kernel is applied to both c and s.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pedanova.base.notes import Note
from pedanova.base.table import Cell, Printed, Table, finite
from pedanova.counting.contrasts import FEW_ROWS, Range, ties_note
from pedanova.counting.levels import Levels
from pedanova.counting.tally import FilledCells, Moments, ObjectiveSpread, Tally
from pedanova.data.regions import Region, Threshold
from pedanova.errors import Arg, QueryError
from pedanova.measures.bins import Bins
from pedanova.measures.distributions import student_end
from pedanova.measures.share import ShareTable, ratio_of, summed_ratio, without_chance
from pedanova.measures.smoothing import Smoothing, bandwidth, smooth, squared_smooth
from pedanova.space.grid import Reals, blocks_of, grid_of
from pedanova.space.parameters import Parameter
from pedanova.space.values import Label

Counts = NDArray[np.int64]
TINY = float(np.finfo(np.float64).tiny)  # smaller numbers have fewer digits


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Marginal(Table):
    """The mean objective in each cell of one parameter; NaN in cells without rows.

    Attributes
    ----------
    name
        The parameter.
    cells
        The label of each cell: its value, or the middle of its range.
    counts
        The number of rows in each cell.
    mean
        The mean of the objective, smoothed if `bandwidth` is above 0.
    low, high
        The 95 % interval of the mean; NaN in cells with fewer than two rows.
    edges
        The edges of the cells, in units of the parameter; None if each cell is a single value.
    parameter
        The domain that is divided into the cells, such as a `Float`.
    bandwidth
        Width of the smoothing kernel in cells.
    missing_rows, missing_mean
        The number of rows without a value or with a value outside the space, and their mean objective.

    Examples
    --------
    >>> import pedanova as pa
    >>> m = pa.analyze(pa.demo_trials(), "error").effects(0.5).marginal("solver")
    >>> m.cells, m.counts.tolist()
    (('adam', 'sgd'), [291, 209])
    """

    name: str
    counts: Counts
    mean: Reals  # smoothed if `bandwidth` is above 0
    edges: Reals | None  # (cells + 1,) for ranges, in units of the parameter
    parameter: Parameter  # the parameter that the cells belong to
    bandwidth: float  # in cells
    missing_rows: int
    missing_mean: float
    low: Reals
    high: Reals

    @property
    def cells(self) -> tuple[Label, ...]:
        """The label of each cell: its value, or the middle of its range."""
        return tuple(grid_of(self.parameter).centres())

    def to_dict(self) -> dict[str, list[Cell]]:
        parts = {name: [*map(finite, getattr(self, name).tolist())] for name in ("mean", "low", "high")}
        return {"cell": list(self.cells), "rows": self.counts.tolist()} | parts

    def __len__(self) -> int:
        return len(self.mean)


@dataclass(frozen=True, slots=True)
class Effect:
    """How much of the objective's variance one parameter explains.

    Attributes
    ----------
    name
        The parameter.
    ratio
        The parameter's `variance` divided by the sum of the variances of all parameters.
    share
        The fraction of the objective's variance that the parameter explains on its own, corrected for chance. The share
        may be slightly negative if the parameter has no effect.
    raw_share
        ``variance / total_variance``, without the correction for chance.
    variance
        The variance of the marginal means, in squared units of the objective.
    bandwidth
        Width of the smoothing kernel in cells.
    marginal
        The mean objective in each cell of the parameter.

    Examples
    --------
    >>> import pedanova as pa
    >>> pa.analyze(pa.demo_trials(), "error").effects(region=0.5)["learning_rate"].share > 0.1
    True
    """

    name: str
    ratio: float
    share: float
    raw_share: float
    variance: float
    bandwidth: float
    marginal: Marginal = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, repr=False)
class Effects(ShareTable[Effect]):
    """A table of `Effect` rows, the largest first: ``e["lr"].share``, ``e.marginal("lr")``.

    Attributes
    ----------
    region, clip
        The region and the clipping limit, in words.
    n_region
        The number of rows in the region.
    mean, total_variance
        The mean and the variance of the objective in the region.

    Examples
    --------
    >>> import pedanova as pa
    >>> e = pa.analyze(pa.demo_trials(), "error").effects(region=0.5)
    >>> e.region, e.n_region
    ('the best 50 %', 500)
    """

    rows: tuple[Effect, ...]
    region: str  # in words
    clip: str | None
    n_region: int
    mean: float
    total_variance: float
    notes: tuple[Note, ...] = ()

    def marginal(self, name: str) -> Marginal:
        """The mean objective for the values of one parameter.

        Parameters
        ----------
        name
            The parameter.

        Returns
        -------
        Marginal
            The mean and its interval in each cell.
        """
        return self[name].marginal

    def printed(self) -> Printed:
        return [
            self.column("parameter", lambda row: row.name),
            self.percents("ratio", bar=True),
            self.percents("share"),
            self.column("variance", lambda row: f"{row.variance:.4g}"),
        ]

    def heading(self) -> str:
        clipped = f", clipped at {self.clip}" if self.clip else ""
        return f"Effects of the parameters on the objective in {self.region}{clipped}"


@dataclass(frozen=True, slots=True)
class Clip:
    """The limit for clipping: objectives worse than `value` are set to `value`; `level` is their first level."""

    level: int
    value: float
    words: str


def as_clip(region: Region, levels: Levels, by_level: Counts) -> Clip:
    """Make a `Clip`: its limit is the worst objective in `region`."""
    begin, end = region.cuts(levels.direction)
    if begin is not None:
        limit = "at_most(v)" if levels.sign > 0 else "at_least(v)"
        raise QueryError(f"clip ({region}) must include the best row; use a quantile such as 0.1, or {limit}")
    level = levels.find(region, by_level)[1]
    if isinstance(end, Threshold):
        return Clip(level, levels.sign * end.signed, str(region))
    return Clip(level, float(levels.thresholds[level - 1]), str(region))


MOST = 1e306  # larger sums of the objective are refused, so that no result overflows
NO_SPREAD = ObjectiveSpread(math.nan, math.nan)


@dataclass(frozen=True, slots=True, eq=False)
class RegionRows:
    """The rows whose objective is explained: their levels, and the sums of their objectives, perhaps clipped."""

    levels: Range
    moments: Moments
    cut: Clip | None
    notes: tuple[Note, ...]

    @property
    def many(self) -> int:
        return int(self.moments.rows[slice(*self.levels)].sum())

    @property
    def last(self) -> int:
        """The level after the last one with objectives of its own; all later rows have the objective of the limit."""
        return self.levels[1] if self.cut is None else self.cut.level

    def own_spreads(self) -> list[ObjectiveSpread]:
        """The spread of the objective in each level."""
        several = (self.moments.rows > 1).tolist()  # a single row has no variance
        levels = range(self.levels[0], self.last)
        return [self.moments.spread(k, k + 1) if several[k] else NO_SPREAD for k in levels]


def effects_of(
    tallies: Mapping[str, Tally], moments: Moments, region: Region, *, clip: Region | None, smoothing: Smoothing
) -> Effects:
    """The effect of every parameter on the objective inside the region, the largest first."""
    rows = rows_of_region(next(iter(tallies.values())).levels, moments, region, clip)
    spread = rows.moments.spread(*rows.levels)
    check_spread(spread, rows.many, region, clipped=rows.cut is not None)
    by_level, effects = LevelSpreads.of(rows.own_spreads(), spread), []
    for tally in tallies.values():
        sums, squares = sums_by_cell(tally, rows, by_level, spread)
        effects.append(measure_effect(tally, sums, squares, rows.levels, spread, smoothing))
    total = sum(effect.raw_share for effect in effects)  # the summed variance may be too large for a double
    if total > 0:
        effects = [replace(effect, ratio=effect.raw_share / total) for effect in effects]
    return Effects(
        rows=tuple(sorted(effects, key=lambda row: -row.raw_share)),
        region=str(region),
        clip=None if rows.cut is None else rows.cut.words,
        n_region=rows.many,
        mean=spread.mean,
        total_variance=spread.variance,
        notes=(*rows.notes, *doubts_about(effects, spread, rows.many)),
    )


def rows_of_region(levels: Levels, moments: Moments, region: Region, clip: Region | None) -> RegionRows:
    """The rows of the region; rows without a finite objective are left out, unless they are clipped."""
    outer = levels.find(region, moments.rows)
    cut = None if clip is None else as_clip(clip, levels, moments.rows)
    rows = int(moments.rows[slice(*outer)].sum())
    notes = ties_note("region", region, rows, int(moments.rows.sum()), own=levels.own)
    if cut is not None:
        if not outer[0] < cut.level <= outer[1] or math.isinf(cut.value):
            words = f"clip ({cut.words}) needs a finite limit inside region ({region}); choose another limit"
            raise QueryError(words)
        beyond = int(moments.rows[cut.level : outer[1]].sum())
        words = f"{beyond:,} of {rows:,} rows are worse than {cut.value:g}; their objective is set to {cut.value:g}"
        notes.append(Note("rows", words))
        moments = moments.clipped(cut.level, cut.value)
    elif outer[1] == levels.count and levels.apart and moments.rows[-1] and not np.isfinite(moments.squares[-1]):
        outer = outer[0], outer[1] - 1  # rows without a finite objective are in the last level
        words = f"{int(moments.rows[-1]):,} of {rows:,} rows have no finite objective and are left out; "
        notes.append(Note("rows", words, Arg("clip", 0.1), " gives them the worst objective of the best 10 % instead"))
    return RegionRows(outer, moments, cut, tuple(notes))


def sums_by_cell(
    tally: Tally, rows: RegionRows, by_level: LevelSpreads, spread: ObjectiveSpread
) -> tuple[Reals, Reals]:
    """(width,) each: the sum of the objective, and of (objective - mean)² in units of 4 ** power."""
    filled, width = tally.filled(rows.levels[0], rows.last), tally.grid.width
    sums, squares = summed_by(filled.cell, filled.sums, width), squares_of(filled, by_level, spread, width)
    if rows.cut is not None:
        worse = tally.between(rows.cut.level, rows.levels[1])
        sums += rows.cut.value * worse
        if worse.any():
            squares += worse * np.square(np.ldexp(rows.cut.value - spread.mean, -spread.power))
    return sums, squares


def doubts_about(effects: Sequence[Effect], spread: ObjectiveSpread, rows: int) -> list[Note]:
    notes = []
    if not TINY <= spread.variance < math.inf:
        words = "the variance is outside the range of floating-point numbers; shares are still valid"
        notes.append(Note("answer", words))
    if rows < FEW_ROWS:
        notes.append(Note("doubt", f"the region has only {rows} rows, so these numbers are rough"))
    if sum(effect.share for effect in effects) > 1.0 + 1e-9:
        words = "the parameters depend on each other in these rows, so their shares add up to more than 100 %"
        notes.append(Note("answer", words))
    return notes


def check_spread(spread: ObjectiveSpread, rows: int, region: Region, *, clipped: bool) -> None:
    if rows < 2:
        raise QueryError(f"region ({region}) has {rows} rows, but at least two are needed; choose a wider region")
    with np.errstate(over="ignore"):
        size = float(np.ldexp(abs(spread.mean), -spread.power))
        most = rows * (abs(spread.mean) + float(np.ldexp(math.sqrt(spread.scaled), spread.power)))  # of any sum
    if not most < MOST:
        clip = () if clipped else (Arg("clip", 0.1), " (to set worse values to the 10 % quantile), ")
        raise QueryError(
            f"region ({region}) contains rows with an objective that is infinite, NaN or too large to add, ",
            "so the variance is not defined; use ",
            *clip,
            "a narrower region, or ",
            Arg("where"),
            " to leave these rows out",
        )
    if math.sqrt(spread.scaled) <= 1e-15 * size:
        same = f"the objective is {spread.mean:g} in every row of region ({region})"
        raise QueryError(f"{same}; no parameter can explain it")


def measure_effect(
    tally: Tally, sums: Reals, squares: Reals, outer: Range, spread: ObjectiveSpread, smoothing: Smoothing
) -> Effect:
    """The effect of one parameter; its ratio is added later."""
    grid, counts = tally.grid, tally.between(*outer)
    rows = int(counts.sum())
    with np.errstate(under="ignore"):
        beyond = np.ldexp(sums - spread.mean * counts, -spread.power)  # so squares neither underflow nor overflow
    square, noise, widths = 0.0, 0.0, []
    means, half = np.full(grid.width, math.nan), np.full(grid.width, math.nan)
    for block in blocks_of(grid):
        if not counts[block.cells].any():
            widths.append(0.0)
            continue
        width = float(bandwidth(smoothing, counts[block.cells], block))
        inside = counts[block.cells].astype(np.float64)
        near, near_squared = smooth(inside, width), squared_smooth(inside, width)
        base, above = near / rows, smooth(beyond[block.cells] / rows, width)
        square += float(summed_ratio(above**2, base))
        noise += float(summed_ratio(near_squared, near))
        np.divide(above, base, out=means[block.cells], where=base > 0)
        half[block.cells] = half_widths(near, near_squared, means[block.cells], smooth(squares[block.cells], width))
        widths.append(width)
    # These numbers were centred at the mean and divided by 2 ** power.
    means, half, apart = means[: grid.cells], half[: grid.cells], int(counts[grid.cells :].sum())
    rest = float(beyond[grid.cells :].sum()) / apart if apart else math.nan
    marginal = Marginal(
        name=tally.name,
        counts=counts[: grid.cells],
        mean=spread.mean + np.ldexp(means, spread.power),
        edges=grid.edges,
        parameter=grid.parameter,
        bandwidth=max(widths),
        missing_rows=apart,
        missing_mean=spread.mean + float(np.ldexp(rest, spread.power)),
        low=spread.mean + np.ldexp(means - half, spread.power),
        high=spread.mean + np.ldexp(means + half, spread.power),
    )
    return Effect(
        name=tally.name,
        ratio=0.0,
        share=float(without_chance(square / spread.scaled, (noise - 1.0) / (rows - 1))),
        raw_share=square / spread.scaled,
        variance=spread.squared(square),
        bandwidth=max(widths),
        marginal=marginal,
    )


@dataclass(frozen=True, slots=True, eq=False)
class LevelSpreads:
    """The variance of the objective in each level, and its mean minus the overall mean, in powers of 2 ** power."""

    variance: Reals  # (levels,) NaN in a level with a single row
    mean: Reals  # (levels,)

    @classmethod
    def of(cls, own: Sequence[ObjectiveSpread], spread: ObjectiveSpread) -> LevelSpreads:
        variance = np.ldexp([one.scaled for one in own], [2 * (one.power - spread.power) for one in own])
        return cls(variance, np.ldexp(np.array([one.mean for one in own]) - spread.mean, -spread.power))

    def scatter(self, filled: FilledCells, means: Reals) -> Reals:
        """(levels,) The variance of the objective among rows in the same level and cell, in units of 4 ** power."""
        many = len(self.variance)
        rows = summed_by(filled.level, filled.rows, many)
        free = rows - np.bincount(filled.level, minlength=many)
        apart = summed_by(filled.level, filled.rows * (means - self.mean[filled.level]) ** 2, many)
        with np.errstate(invalid="ignore"):  # in levels that are not used
            within = np.maximum(self.variance * rows - apart, 0.0) / np.maximum(free, 1)
        return np.where((free > 0) & ~np.isnan(self.variance), within, 0.0)


def summed_by(places: NDArray[np.int64], values: NDArray[Any], size: int) -> Reals:
    """(size,) The sum of the values at each place."""
    return np.bincount(places, values, minlength=size).astype(np.float64, copy=False)


def squares_of(filled: FilledCells, by_level: LevelSpreads, spread: ObjectiveSpread, width: int) -> Reals:
    """(width,) The sum of (objective - mean)² in each cell, in units of 4 ** power."""
    means = np.ldexp(filled.sums / filled.rows - spread.mean, -spread.power)
    left = (filled.rows - 1) * by_level.scatter(filled, means)[filled.level]
    return summed_by(filled.cell, filled.rows * means**2 + left, width)


def half_widths(rows: Reals, squared: Reals, means: Reals, squares: Reals) -> Reals:
    """(cells,) Half the width of the 95 % interval (Student) of each mean in one block; NaN for fewer than two rows.

    `means` are relative to the overall mean. `rows` and `squares` (Σ (objective - mean)²) are smoothed with the kernel.
    `squared` has the row counts, smoothed with the squared kernel.
    """
    many = ratio_of(rows**2, squared)  # the effective number of rows
    variance = np.maximum(0.0, ratio_of(squares, rows) - np.nan_to_num(means) ** 2)
    free = np.maximum(many - 1.0, 1e-9)
    half = student_end(np.maximum(free, 1.0)) * np.sqrt(variance / free)  # √(variance · many / (many - 1) / many)
    return np.where(many >= 2.0 - 1e-9, half, np.nan)


class BinnedMarginal(NamedTuple):
    """The mean objective of every bin (bar or step) of a figure, with its interval; NaN if there are too few rows."""

    rows: Reals
    mean: Reals
    low: Reals
    high: Reals


def binned_marginal(marginal: Marginal, bins: Bins) -> BinnedMarginal:
    """The mean of each bin, weighted by the number of rows in its cells; a single row gives no mean."""
    rows = bins.gather(marginal.counts)

    def gathered(values: Reals, least: float) -> Reals:
        finite = np.isfinite(values)
        rows_with_mean = bins.gather(marginal.counts * finite)
        total = bins.gather(marginal.counts * np.where(finite, values, 0.0))
        return np.where(rows_with_mean >= least, total / np.maximum(rows_with_mean, 1.0), np.nan)

    mean = gathered(marginal.mean, 1.0 if marginal.bandwidth > 0 else 2.0)
    return BinnedMarginal(rows, mean, gathered(marginal.low, 1.0), gathered(marginal.high, 1.0))
