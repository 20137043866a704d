"""The individual rows of a small table, for models and p-values, which need more than counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sized
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from pedanova.base.files import Attachment
from pedanova.base.kernel import library as kernel
from pedanova.base.kernel.lowest import LEVEL_BITS, WEIGHT, LowestRows, NumberedColumn
from pedanova.base.kernel.selection import distinct
from pedanova.base.threads import chunks
from pedanova.counting.levels import Levels
from pedanova.data.column import Mask, cells_of, take
from pedanova.data.observations import Observations
from pedanova.data.options import NanPolicy
from pedanova.data.regions import sign_of
from pedanova.errors import FormatError
from pedanova.space.grid import Cells, grid_of
from pedanova.space.parameters import Float, Int, Parameter, Space

Reals: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.int64]
Bits: TypeAlias = NDArray[np.uint64]
Value = TypeVar("Value")
AT_ONCE = 1 << 16  # rows
MOST_ROWS, MOST_VALUES = 20_000, 1_000_000  # the largest table that a model is fitted to: rows, and all values
MANY_ROWS = 5_000  # so many rows are modelled whatever the number of parameters
MOST_COMPARED = 100  # tables with more parameters are not sampled
SAMPLED = 2000  # the most rows of a sample of configurations, where one configuration counts as `WEIGHT` at the most
COLUMNS = ("signed", "rows", "trials", "draws", "levels", "counts", "worst")
GOLDEN, FINENESS = 0.6180339887498949, 2.0**20 * 0.7548776662466927


@dataclass(frozen=True, slots=True, eq=False)
class FewRows:
    """The cells, the exact values and the objective of individual rows."""

    cells: Mapping[str, Cells]  # (rows,) each
    exact: Mapping[str, Bits]  # (rows,) each: a key for each value, for parameters whose cells are ranges
    signed: Reals  # (rows,) the objective, lower is better; NaN counts as the worst
    rows: Indices  # (rows,) which row of the table each one is
    trials: Reals | None  # (rows,) the trial number, if there is such a column
    designed: bool = False  # whether some trials were proposed by `next_trials`
    draws: Reals | None = None  # (rows,) for a sample of whole configurations: a number from each configuration
    levels: Indices | None = None  # (rows,) for a sample: the level, from fewer than 2 ** LEVEL_BITS
    counts: Indices | None = None  # (rows,) for a sample of more rows: how many of a configuration and level are one
    worst: Reals | None = None  # (rows,) the objective of the worst of these; `signed` is that of the best
    below: float = 1.0  # the sample has all rows whose number is below this
    chance: float | None = None  # for a sample without values: the result of `coincidence`

    @property
    def order(self) -> Reals | None:
        """The trial number of each row; None if trial numbers are missing or not unique."""
        trials = self.trials
        if trials is None or np.isnan(trials).any() or len(distinct(trials)) < len(trials):
            return None
        return trials

    @property
    def is_whole(self) -> bool:
        """Whether all rows are here, with their values."""
        return self.below >= 1.0 and self.chance is None and self.counts is None

    @property
    def weights(self) -> Indices:
        """(rows,) How many rows of the table each one stands for."""
        return np.ones(len(self), dtype=np.int64) if self.counts is None else self.counts

    def __len__(self) -> int:
        return len(self.signed)

    def take(self, some: Mask | Indices | slice) -> FewRows:
        taken: dict[str, Any] = {
            "cells": {name: column[some] for name, column in self.cells.items()},
            "exact": {name: column[some] for name, column in self.exact.items()},
        }
        columns = {name: column[some] for name in COLUMNS if (column := getattr(self, name)) is not None}
        return replace(self, **(taken | columns))


def most_rows(columns: Sized) -> int:
    """The largest number of rows of which every engine keeps all, and to which a model is fitted.

    Time and memory grow with all values, so there are fewer rows if there are many parameters.
    """
    return min(MOST_ROWS, max(MANY_ROWS, MOST_VALUES // max(1, len(columns))))


def counted_rows(observed: Observations, nan: NanPolicy) -> Mask:
    counted = np.ones(len(observed), dtype=bool) if observed.keep is None else observed.keep
    return counted & ~np.isnan(observed.ranked) if nan == "drop" else counted


def few_rows(observed: Observations, rows: Indices) -> FewRows:
    grids = {name: grid_of(parameter) for name, parameter in observed.space.items()}
    columns = take({name: observed.columns[name] for name in grids}, rows)
    cells = {name: cells_of(columns[name], grid) for name, grid in grids.items()}
    exact = {name: bits for name in cells if (bits := exact_bits(observed, name, rows)) is not None}
    trials = None if observed.trials is None else observed.trials[rows].astype(np.float64)
    return FewRows(cells, exact, lower_is_better(observed, rows), rows, trials, observed.designed)


def exact_bits(observed: Observations, name: str, rows: Indices) -> Bits | None:
    """An integer key for the value of each row, rounded to 24 bits; None for columns of categories."""
    column = observed.columns[name]
    if column.is_coded or column.located or grid_of(observed.space[name]).labels is not None:
        return None
    values = column.values[rows].astype(np.float64)
    parts, powers = np.frexp(values if np.isfinite(values).all() else np.nan_to_num(values))
    digits = parts.astype(np.float32).view(np.uint32).astype(np.int64)
    return (digits * 4096 + powers).astype(np.uint64)


def configuration_sample(
    observed: Observations,
    codes: NDArray[Any],
    levels: int,
    *,
    keep: int | None = None,
    most: float = 1.0,
    threads: int = 1,
) -> FewRows:
    """All counted rows, if there are at most `keep` (by default `most_rows`); otherwise a sample of configurations.

    A sample contains either all rows of a configuration or none, and the rows of a configuration and level are merged.
    Every engine chooses the same configurations, and samples of parts are added with `strung_rows`. Only rows whose
    number from their configuration is below `most` are considered. Rows with the code `levels` are not counted.
    """
    keep = most_rows(observed.space) if keep is None else keep
    if kernel.available() and len(codes) > keep and np.count_nonzero(codes != levels) > keep:
        lowest = lowest_rows(observed, levels, most)
        lowest.take(codes, levels, threads)
        return sample_of(observed, lowest)
    return bounded(rows_below(observed, codes, levels, most), keep)


def rows_below(observed: Observations, codes: NDArray[Any], levels: int, most: float) -> FewRows:
    """The counted rows whose number is below `most`, by NumPy; if `most` is 1, also those without a number."""
    draws = draws_of(observed)
    rows = np.flatnonzero((codes != levels) & (True if most >= 1.0 else draws < most))
    own = codes[rows].astype(np.int64) >> shift_of(levels)
    return replace(few_rows(observed, rows), draws=draws[rows], levels=own, below=most)


def shift_of(levels: int) -> int:
    """The number of bits of a level that samples ignore."""
    return max(0, (levels - 1).bit_length() - LEVEL_BITS)


def lowest_rows(observed: Observations, levels: int, most: float = 1.0) -> LowestRows:
    """What the kernel needs to find the rows of a sample."""
    columns = [_numbered(observed, name, place) for place, name in enumerate(sorted(observed.space), start=1)]
    return LowestRows(columns, observed.ranked, sign_of(observed.direction), shift_of(levels), SAMPLED, most)


def sample_of(observed: Observations, lowest: LowestRows) -> FewRows:
    """The sample that the kernel found."""
    found = lowest.found
    few = replace(few_rows(observed, found["first"]), draws=found["number"], levels=found["level"], below=lowest.limit)
    return bounded(replace(few, signed=found["low"], worst=found["high"], counts=found["count"]))


def bounded(few: FewRows, keep: int | None = None) -> FewRows:
    """At most `keep` rows (by default `most_rows`), or the part of a sample that is small enough, with rows merged."""
    whole = few.counts is None and few.below >= 1.0 and len(few) <= (most_rows(few.cells) if keep is None else keep)
    if few.draws is None or few.levels is None or whole:
        return few
    numbered = few.draws < few.below  # rows with a missing value have no number
    keys = np.stack([few.draws, few.levels])[:, numbered]
    few = few if numbered.all() else few.take(numbered)
    if not len(few):
        return few
    further, same = keys[:, 1:] > keys[:, :-1], keys[0, 1:] == keys[0, :-1]
    if few.counts is None or not np.all(further[0] | (same & further[1])):
        few, keys = merged(few, keys)
    draws = keys[0]
    light = draws[WEIGHT:] != draws[:-WEIGHT]  # a configuration counts as `WEIGHT` rows at the most
    weighed = np.append(draws[:WEIGHT], draws[WEIGHT:][light])
    if len(weighed) <= SAMPLED:
        return few
    below = float(weighed[SAMPLED])
    return replace(few.take(slice(int(np.searchsorted(draws, below)))), below=below)


def merged(few: FewRows, keys: Reals) -> tuple[FewRows, Reals]:
    """The sample with one row for each configuration and level, in the order of these `keys`; and their keys."""
    order = np.lexsort((few.signed, keys[1], keys[0]))
    few, keys = few.take(order), keys[:, order]
    starts = starts_of(keys)
    one = replace(
        few.take(starts),
        counts=np.add.reduceat(few.weights, starts),
        worst=np.maximum.reduceat(few.signed if few.worst is None else few.worst, starts),
        rows=np.minimum.reduceat(few.rows, starts),
        trials=None if few.trials is None else np.minimum.reduceat(few.trials, starts),
    )
    return one, keys[:, starts]


def starts_of(ordered: NDArray[Any]) -> Indices:
    """Where another value begins in sorted values; of several lines, where any of them changes."""
    first, new = np.ones(ordered.shape[-1], dtype=bool), ordered[..., 1:] != ordered[..., :-1]
    first[1:] = new if new.ndim == 1 else new.any(axis=0)
    return first.nonzero()[0]


def factors_of(parameter: Parameter) -> tuple[float, ...]:
    """The factors by which the values of a parameter with numbers are multiplied in `mixed_draws`; empty for texts."""
    labels = grid_of(parameter).labels
    if isinstance(parameter, Float | Int):
        ends = [parameter.low, parameter.high] if parameter.log else [parameter.high - parameter.low]
    else:
        numbers = [label for label in labels or () if isinstance(label, int | float)]
        if not numbers or len(numbers) < len(labels or ()):
            return ()
        ends = [max(numbers) - min(numbers)]
    return tuple(FINENESS / float(end) for end in ends if np.isfinite(float(end)) and end > 0) or (FINENESS,)


def mixed_draws(
    columns: Iterable[tuple[Value, Iterable[float]]],
    floor: Callable[[Value], Value],
    number: Callable[[float], Any] = float,
) -> Value:
    """A number from 0 to 1 for each row, from its values and their factors; equal rows have equal numbers.

    The arithmetic is the same, to the last digit, for arrays and for expressions of a database.
    """
    total: Any = None
    values: Any
    for place, (values, factors) in enumerate(columns, start=1):
        for factor in factors:
            scaled: Any = values * number(factor)
            part = (scaled - floor(scaled)) * number(weight_of(place))
            total = part if total is None else total + part
    fraction: Value = total - floor(total)
    return fraction


def weight_of(place: int) -> float:
    return 1.0 + GOLDEN * place


def draws_of(observed: Observations) -> Reals:
    """(rows,) The number of each row by `mixed_draws`; NaN if a value is missing, unless it is conditional."""
    columns = [_numbered(observed, name) for name in sorted(observed.space)]
    draws = np.empty(len(observed))
    with np.errstate(invalid="ignore", over="ignore"):
        for rows in chunks(len(draws), pieces=-(-len(draws) // AT_ONCE)):
            draws[rows] = mixed_draws(((column.whole(rows), column.factors) for column in columns), np.floor)
    return draws


def _numbered(observed: Observations, name: str, place: int = 0) -> NumberedColumn:
    """What a column adds to the number of each row."""
    column, parameter = observed.columns[name], observed.space[name]
    grid, factors, table = grid_of(parameter), factors_of(parameter), None
    values, missing = column.values, column.missing
    if column.located or not factors:
        factors = (GOLDEN,)
    if column.labels is not None and factors == (GOLDEN,):
        table = np.append(grid.match(column.labels), grid.outside).astype(np.float64)
    elif column.labels is not None:
        table = np.array([float(label) if isinstance(label, int | float) else np.inf for label in column.labels])
    elif factors == (GOLDEN,) and not column.located:
        values, missing = cells_of(column, grid), column.absent()
    gap = 0.0 if parameter.when or column.located else np.nan
    missing = None if missing is None else np.ascontiguousarray(missing)
    return NumberedColumn(kernel.usable(values), factors, weight_of(place), missing, gap, table)


def coincidence(few: FewRows, every: int) -> float:
    """The probability that two rows have the same values in all columns, if columns are independent.

    It is estimated from a sample of `every` rows, of which two have the same configuration more often than two others.
    """
    if few.chance is not None or few.draws is None:
        return few.chance or 0.0
    many, own = int(few.weights.sum()), pairs_of(few.draws, few.weights)
    twice, same = own / (many * every), 1.0
    for name, cells in few.cells.items():
        pairs = pairs_of(few.exact.get(name, cells), few.weights)  # runs may differ where they were rounded
        same *= twice + (1.0 - twice) * max(pairs - own, 0.0) / max(many**2 - own, 1)
    return same


def pairs_of(values: NDArray[Any], counts: Indices) -> float:
    """The number of pairs of rows with equal values; a pair may be the same row twice."""
    order = np.argsort(values)
    ordered = values[order]
    many = np.add.reduceat(counts[order], starts_of(ordered)).astype(np.float64)
    return float(many @ many)


def hidden(few: FewRows, every: int) -> FewRows:
    """The same sample of `every` rows without values: only objectives, and a number for each configuration."""
    few = bounded(few, SAMPLED)
    cells = {name: np.zeros(len(few), dtype=np.int32) for name in few.cells}
    return replace(few, cells=cells, exact={}, trials=None, chance=coincidence(few, every))


def lower_is_better(observed: Observations, rows: Indices) -> Reals:
    """The objective of each row, multiplied by -1 if it is maximised; NaN becomes infinity, the worst value."""
    signed = sign_of(observed.direction) * observed.ranked[rows].astype(np.float64)
    return np.where(np.isnan(signed), np.inf, signed)


def sample_kept(few: FewRows) -> Attachment:
    """Convert the rows to a section of a saved file."""
    arrays: dict[str, NDArray[Any]] = {"signed": few.signed}
    for i, (name, cells) in enumerate(few.cells.items()):
        arrays[f"cells {i}"] = cells
        if name in few.exact:
            arrays[f"exact {i}"] = few.exact[name]
    more = {"trials": few.trials, "draws": few.draws, "counts": few.counts, "worst": few.worst}
    arrays |= {name: own for name, own in more.items() if own is not None}
    return Attachment({"rows": len(few), "designed": few.designed, "below": few.below, "chance": few.chance}, arrays)


def sample_from(attachment: Attachment, space: Space, levels: Levels) -> FewRows:
    """Read and check the section that `sample_kept` made; files of older releases have no `counts`."""
    about, arrays = attachment.header, attachment.arrays
    rows = about["rows"]
    if any(array.shape != (rows,) or array.dtype.kind not in "iuf" for array in arrays.values()):
        raise FormatError("has columns with the wrong length or type")
    cells = {name: arrays[f"cells {i}"] for i, name in enumerate(space)}
    for name, own in cells.items():
        if own.dtype.kind == "f" or not 0 <= own.min(initial=0) <= own.max(initial=0) < grid_of(space[name]).width:
            raise FormatError(f"has values outside the domain of {name!r}")
    exact = {name: arrays[f"exact {i}"].astype(np.uint64) for i, name in enumerate(space) if f"exact {i}" in arrays}
    signed = arrays["signed"].astype(np.float64)
    counts, worst = arrays.get("counts"), arrays.get("worst", signed)
    if np.isnan(signed).any() or not np.all(worst >= signed):
        raise FormatError("has rows without an objective")
    if counts is not None and (counts.dtype.kind == "f" or counts.min(initial=1) < 1):
        raise FormatError("has rows that stand for less than one row")
    below, chance = float(about["below"]), about["chance"]
    draws = arrays["draws"].astype(np.float64)
    whole = below >= 1.0 and counts is None  # all rows, also those with missing values, which have no number
    if not np.all(((draws >= 0.0) & (draws < below)) | (np.isnan(draws) & whole)):
        raise FormatError("has numbers of configurations outside their range")
    few = FewRows(cells, exact, signed, np.arange(rows), arrays.get("trials"), bool(about["designed"]))
    codes = np.minimum(np.searchsorted(levels.boundaries, signed, side="right"), levels.count - 1)
    few = replace(few, draws=draws, levels=codes >> shift_of(levels.count), below=below)
    if counts is not None:
        few = replace(few, counts=counts.astype(np.int64), worst=worst.astype(np.float64))
    return bounded(replace(few, chance=None if chance is None else float(chance)))


def strung_rows(parts: Iterable[FewRows]) -> FewRows:
    """The rows of all parts together; samples become a sample of all parts."""
    parts = list(parts)
    below = min(part.below for part in parts)
    parts = [part if part.draws is None or part.below == below else part.take(part.draws < below) for part in parts]
    chances = [part.chance for part in parts if part.chance is not None]
    merged = any(part.counts is not None for part in parts)
    filled = [part for part in parts if len(part)] or parts[:1]
    first = filled[0]

    def strung(of: Callable[[FewRows], NDArray[Any] | None]) -> Any:
        arrays = [column for part in filled if (column := of(part)) is not None]
        return np.concatenate(arrays) if len(arrays) == len(filled) else None

    together = FewRows(
        cells={name: np.concatenate([part.cells[name] for part in filled]) for name in first.cells},
        exact={
            name: np.concatenate([part.exact[name] for part in filled])
            for name in first.exact
            if all(name in part.exact for part in filled)
        },
        signed=strung(lambda part: part.signed),
        rows=np.arange(sum(map(len, filled))),
        trials=strung(lambda part: part.trials),
        designed=any(part.designed for part in parts),
        draws=strung(lambda part: part.draws),
        levels=strung(lambda part: part.levels),
        counts=strung(lambda part: part.weights) if merged else None,
        worst=strung(lambda part: part.signed if part.worst is None else part.worst) if merged else None,
        below=below,
        chance=max(chances, default=None),
    )
    return bounded(together)
