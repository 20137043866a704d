"""Count the rows of columns in memory with several threads, in the compiled kernel or in NumPy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.base.kernel import library as kernel
from pedanova.base.kernel.lowest import LowestRows
from pedanova.base.kernel.selection import Survey
from pedanova.base.threads import portions, spread, trim_memory
from pedanova.counting import reference as judge
from pedanova.counting.levels import Levels
from pedanova.counting.reference import Counted
from pedanova.counting.tally import Moments, centres_of, packed, powers_of
from pedanova.data.column import MISSING_CODE, Column, cells_of, coded
from pedanova.data.observations import Observations
from pedanova.space.grid import Grid, grid_of

NEARLY_EMPTY = 16  # cells of a table for each row: with more, only the cells with rows are stored
TABLE_CELLS = 1 << 22  # cells of the tables that are counted together
SMALL_TABLE = 1 << 16  # fewer values than this are counted without threads
MANY_BESIDE = 16  # if more than one row in 16 lies next to a boundary, a survey does not help
SHORT_TYPES = tuple(np.dtype(name) for name in ("i1", "i2", "u1", "u2", "bool"))


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    name: str
    grid: Grid
    placed: kernel.Placed
    order: NDArray[np.int32] | None  # sorted position → cell, if they differ


def kept_codes(
    observations: Observations, levels: Levels, *, threads: int = 1, survey: Survey | None = None
) -> NDArray[Any]:
    """The level of each row, as an array (rows,); rows that are left out have the level ``levels.count``."""
    keep = observations.keep
    return level_codes(observations.ranked, levels, threads=threads, survey=survey if keep is None else None, keep=keep)


def kept_values(observations: Observations, *, threads: int = 1) -> NDArray[Any]:
    """The objective of the kept rows; with several objectives, their Pareto rank."""
    ranked, keep = observations.ranked, observations.keep
    if keep is None:
        return ranked
    kept = spread(lambda rows: ranked[rows][keep[rows]], portions(len(keep), threads=threads), threads=threads)
    return kept[0] if len(kept) == 1 else np.concatenate(kept)


def sum_moments(
    observations: Observations, levels: Levels, *, threads: int = 1, codes: NDArray[Any] | None = None
) -> Moments:
    """The number of rows, the sum and the sum of squares of the objective in each level. The sums of a
    level are NaN if a row of the level has no objective."""
    codes = kept_codes(observations, levels, threads=threads) if codes is None else codes
    objective = kernel.usable(observations.ranked)
    centres = np.append(centres_of(levels), 0.0)  # rows that do not count have a separate sum
    powers = np.append(powers_of(levels), 0)
    by_kernel = kernel.available() and not powers.any()  # extreme scales are left to NumPy

    def add(rows: slice) -> tuple[NDArray[Any], ...]:
        if not by_kernel:
            return judge.sum_levels(objective[rows], codes[rows], centres, powers)
        table = np.zeros(len(centres), dtype=kernel.MOMENT)
        values, own = objective[rows], codes[rows]
        kernel.call("sum_levels", *kernel.column_of(values), len(values), own.itemsize, own, centres, table)
        return table["count"], table["sum"], table["square"]

    parts = zip(*spread(add, portions(len(codes), threads=threads), threads=threads), strict=True)
    rows, sums, squares = (np.sum(part, axis=0)[:-1] for part in parts)
    return Moments(centres[:-1], rows, sums, squares, powers[:-1])


def count_rows(
    observations: Observations, codes: NDArray[Any], levels: int, *, sample: LowestRows | None = None, threads: int = 1
) -> dict[str, list[NDArray[Any]]]:
    """For every parameter, the counts and objective sums by level and cell. If nearly all cells are empty, return
    counts, sums and positions (in the flattened table) only for cells with rows. The first pass takes the `sample`."""
    grids = {name: grid_of(parameter) for name, parameter in observations.space.items()}
    few = [name for name, grid in grids.items() if NEARLY_EMPTY * len(codes) <= levels * grid.width]
    tables = count_places(observations, codes, levels, few)
    groups = list(groups_of({name: levels * grid.width for name, grid in grids.items() if name not in tables}))
    for names in groups:
        counted = count_codes(observations, codes, levels, names=names, sample=sample, threads=threads)
        sample = None
        tables.update((name, list(packed(*both))) for name, both in counted.items())
        if len(groups) > 1:
            del counted
            trim_memory()
    return {name: tables[name] for name in grids}


def groups_of(sizes: Mapping[str, int]) -> Iterator[list[str]]:
    """Divide the columns into groups whose tables of counts together have at most about `TABLE_CELLS` entries."""
    reached = np.cumsum([0, *sizes.values()])[:-1] // TABLE_CELLS
    for _, group in groupby(zip(reached.tolist(), sizes, strict=True), key=itemgetter(0)):
        yield [name for _, name in group]


def count_places(
    observations: Observations, codes: NDArray[Any], levels: int, names: Sequence[str]
) -> dict[str, list[NDArray[Any]]]:
    """For each parameter in `names`: counts, sums, and the positions of non-empty cells in the flattened table."""
    if not names:
        return {}
    counted = codes < levels
    objective, own = observations.objective[counted].astype(np.float64), codes[counted].astype(np.int64)
    tables = {}
    for name in names:
        grid = grid_of(observations.space[name])
        cells = cells_of(observations.columns[name], grid)[counted]
        places, owner = np.unique(own * grid.width + cells, return_inverse=True)
        tables[name] = [np.bincount(owner), np.bincount(owner, weights=objective), places]
    return tables


def count_codes(
    observations: Observations,
    codes: NDArray[Any],
    levels: int,
    *,
    names: Sequence[str] | None = None,
    sample: LowestRows | None = None,
    threads: int = 1,
) -> dict[str, judge.Counted]:
    """Counts and objective sums by code and cell for the parameters in `names`; skip rows with the code `levels`."""
    if len(observations) * max(1, len(observations.space)) < SMALL_TABLE:
        threads = 1
    names = list(observations.space) if names is None else names
    if not kernel.available():
        return count_by_judge(observations, codes, levels, names, threads=threads)
    return count_by_kernel(observations, codes, levels, names, sample=sample, threads=threads)


def level_codes(
    objective: NDArray[Any],
    levels: Levels,
    *,
    threads: int = 1,
    survey: Survey | None = None,
    keep: NDArray[np.bool_] | None = None,
) -> NDArray[Any]:
    """The level of each row, as an array (rows,); rows that are dropped or not in `keep` get ``levels.count``."""
    dtype = np.uint8 if levels.count < 255 else np.uint16
    if not (kernel.available() and kernel.is_usable(objective)):
        assigned = judge.assign_levels(objective, levels).astype(dtype)
        return assigned if keep is None else np.where(keep, assigned, dtype(levels.count))
    nan_level = levels.count - 1 if levels.nan == "worst" else levels.count
    boundaries, given = levels.boundaries, kernel.signed(objective, levels.sign)
    threads = 1 if len(objective) < SMALL_TABLE else threads
    if survey is not None and survey.shared_with(boundaries) > len(objective) // MANY_BESIDE:
        survey = None  # many rows (often ties) lie next to a boundary, so all rows are compared
    search = None if survey is None else survey.search
    if survey is not None and search is not None and search.tells(levels.sign * levels.thresholds[:-1], survey):
        rows = search.values, search.places, len(search.places)
        kernel.call("settle_rows", *rows, boundaries, len(boundaries), search.codes, threads)
        return search.codes
    assigned = np.empty(len(objective), dtype=dtype)
    ends = boundaries, len(boundaries), nan_level, assigned.itemsize, assigned, threads
    if survey is not None:
        kernel.call("assign_by_slots", *given, *survey.window, *ends)
    else:
        kernel.call("assign_levels", *given, *ends)
    if keep is not None:
        np.copyto(assigned, dtype(levels.count), where=~keep)
    return assigned


def count_by_judge(
    observations: Observations, codes: NDArray[Any], levels: int, names: Sequence[str], *, threads: int = 1
) -> dict[str, judge.Counted]:
    def count(name: str) -> judge.Counted:
        grid = grid_of(observations.space[name])
        return judge.count(observations.columns[name], grid, codes, observations.objective, levels)

    return dict(zip(names, spread(count, names, threads=threads), strict=True))


def count_by_kernel(
    observations: Observations,
    codes: NDArray[Any],
    levels: int,
    names: Sequence[str],
    *,
    sample: LowestRows | None = None,
    threads: int = 1,
) -> dict[str, judge.Counted]:
    jobs = jobs_of(observations, names)
    shapes = [(levels, job.grid.width) for job in jobs]
    totals = [(np.empty(shape, dtype=np.int64), np.empty(shape, dtype=np.float64)) for shape in shapes]
    if jobs:
        placed = [job.placed for job in jobs]
        given = placed, codes, levels, kernel.usable(observations.objective), totals
        along = None if sample is None else sample.structure
        found = kernel.count_features(*given, sample=along, threads=threads)
        if sample is not None:
            sample.count = found
    result = {job.name: in_order(total, job) for job, total in zip(jobs, totals, strict=True)}
    return {name: result[name] for name in names}


def jobs_of(observations: Observations, names: Iterable[str]) -> list[Job]:
    """The columns to count, sorted by grid size, because the kernel counts columns with equal grids together."""
    jobs = []
    for name in names:
        grid = grid_of(observations.space[name])
        placed = placed_of(observations.columns[name], grid)
        jobs.append(Job(name, grid, placed, grid.cell_of if placed.lookup is None else None))
    return sorted(jobs, key=lambda job: -job.grid.width)


def in_order(counted: judge.Counted, job: Job) -> judge.Counted:
    if job.order is None:
        return counted
    grid, (counts, sums) = job.grid, counted
    from_position = np.concatenate([np.argsort(job.order), [grid.missing, grid.outside]])
    return counts[:, from_position], sums[:, from_position]


def placed_of(column: Column, grid: Grid) -> kernel.Placed:
    """Choose the fastest exact method to find the cells of `column`: a table if it has codes or short integers."""
    missing = None if column.missing is None else np.ascontiguousarray(column.missing)
    if not column.is_coded and not column.located and grid.inner is None:
        column = coded(column)
    values, lattice = column.values, grid.lattice
    if column.located:
        return kernel.Placed(values, grid, missing, 0, np.arange(grid.width, dtype=np.int32))
    if column.labels is not None:
        table = np.concatenate([[grid.missing], grid.match(column.labels)]).astype(np.int32)
        odd = values.dtype.kind == "i" and values.min(initial=0) < MISSING_CODE
        codes = np.maximum(values, MISSING_CODE) if odd else values
        return kernel.Placed(codes, grid, missing, MISSING_CODE, table)
    if values.dtype in SHORT_TYPES:
        low, high = (0, 1) if values.dtype.kind == "b" else (np.iinfo(values.dtype).min, np.iinfo(values.dtype).max)
        return kernel.Placed(values, grid, missing, int(low), grid.locate(np.arange(low, high + 1)))
    if lattice is not None and (values.dtype.kind == "f" or lattice[1] != 1):
        # Several integers share a cell, and the column may contain other numbers: rare, so NumPy is used.
        return kernel.Placed(cells_of(column, grid), grid, missing, 0, np.arange(grid.width, dtype=np.int32))
    return kernel.Placed(kernel.usable(values), grid, missing)


@dataclass(slots=True, eq=False)
class RunningCounts:
    """For every parameter a table of counts and sums by code and cell, to which batches of rows are added."""

    levels: int
    threads: int = 1
    _tables: dict[tuple[str, bool], tuple[Job, NDArray[Any]]] = field(default_factory=dict)

    def add(self, observations: Observations, codes: NDArray[Any]) -> None:
        """Add a batch of rows; rows whose code equals `levels` are skipped."""
        jobs, objective = jobs_of(observations, observations.space), kernel.usable(observations.objective)
        placed, tables = [job.placed for job in jobs], [self._table(job) for job in jobs]
        if len(codes):
            kernel.count_features(placed, codes, self.levels, objective, tables, threads=self.threads)

    def _table(self, job: Job) -> NDArray[Any]:
        """The table of a column; a column has one table for batches of numbers and one for batches of codes."""
        key = job.name, job.order is None
        if key not in self._tables:
            self._tables[key] = job, np.zeros((self.levels + 1, job.grid.width), dtype=kernel.ENTRY)
        return self._tables[key][1]

    def take(self) -> dict[str, list[NDArray[Any]]]:
        """Return the counts and sums of every parameter, and remove each table once it is converted, to save memory."""
        totals: dict[str, Counted] = {}
        while self._tables:
            (name, _), (job, table) = self._tables.popitem()
            counts, sums = in_order(kernel.split_table(table[: self.levels]), job)
            if name in totals:
                counts, sums = totals[name][0] + counts, totals[name][1] + sums
            totals[name] = counts, sums
        return {name: list(both) for name, both in totals.items()}
