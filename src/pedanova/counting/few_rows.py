"""The individual rows of a small table, for models and p-values, which need more than counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from pedanova.base.files import Attachment
from pedanova.base.kernel import library as kernel
from pedanova.base.kernel.lowest import LowestRows, NumberedColumn
from pedanova.base.kernel.selection import distinct
from pedanova.base.threads import chunks
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
MOST_COMPARED = 100  # tables with more parameters are not sampled
SAMPLED = 2000  # the most rows of a sample that shows repeated configurations
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
        return self.below >= 1.0 and self.chance is None

    def __len__(self) -> int:
        return len(self.signed)

    def take(self, some: Mask | Indices) -> FewRows:
        return FewRows(
            cells={name: column[some] for name, column in self.cells.items()},
            exact={name: column[some] for name, column in self.exact.items()},
            signed=self.signed[some],
            rows=self.rows[some],
            trials=None if self.trials is None else self.trials[some],
            designed=self.designed,
            draws=None if self.draws is None else self.draws[some],
            below=self.below,
            chance=self.chance,
        )


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
    parts, powers = np.frexp(np.nan_to_num(column.values[rows].astype(np.float64)))
    digits = parts.astype(np.float32).view(np.uint32).astype(np.int64)
    return (digits * 4096 + powers).astype(np.uint64)


def configuration_sample(observed: Observations, nan: NanPolicy, *, most: float = 1.0, threads: int = 1) -> FewRows:
    """A sample of at most `SAMPLED` counted rows; of each configuration it contains either all rows or none.

    Every engine chooses the same rows, and samples of parts are added with `strung_rows`. Only rows whose number from
    their configuration is below `most` are considered.
    """
    left_out = ~counted_rows(observed, nan)
    if kernel.available():
        lowest = lowest_rows(observed, most)
        lowest.take(left_out, threads)
        return sample_of(observed, lowest)
    draws = np.where(left_out, np.nan, draws_of(observed))
    rows = np.flatnonzero(draws < most)
    return bounded(replace(few_rows(observed, rows), draws=draws[rows], below=most))


def lowest_rows(observed: Observations, most: float = 1.0) -> LowestRows:
    """What the kernel needs to find the rows of a sample."""
    names = enumerate(sorted(observed.space), start=1)
    return LowestRows([_numbered(observed, name, place) for place, name in names], SAMPLED, most)


def sample_of(observed: Observations, lowest: LowestRows) -> FewRows:
    rows, draws = lowest.result()
    return bounded(replace(few_rows(observed, rows), draws=draws, below=lowest.limit))


def bounded(few: FewRows) -> FewRows:
    """The part of a sample that has at most `SAMPLED` rows."""
    if few.draws is None or len(few) <= SAMPLED:
        return few
    below = float(np.partition(few.draws, SAMPLED)[SAMPLED])
    return replace(few.take(few.draws < below), below=below)


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


def coincidence(few: FewRows) -> float:
    """The probability that two different configurations have the same values in all columns, if columns are
    independent; from pairs of rows of a sample."""
    if few.chance is not None or few.draws is None:
        return few.chance or 0.0
    own = pairs_of(few.draws)
    apart = len(few) ** 2 - own
    same = 1.0
    for name, cells in few.cells.items():
        values = few.exact.get(name, cells)
        same *= max(pairs_of(values) - own, 0.0) / max(apart, 1)  # runs may differ where they were rounded
    return same


def pairs_of(values: NDArray[Any]) -> float:
    """The number of pairs of rows with equal values; a pair may be the same row twice."""
    ordered = np.sort(values)  # `np.unique` takes three times as long for integers
    ends = np.flatnonzero(ordered[1:] != ordered[:-1])
    counts = np.diff(ends, prepend=-1, append=len(ordered) - 1).astype(np.float64)
    return float(counts @ counts)


def hidden(few: FewRows) -> FewRows:
    """The same sample without values: only the objectives, and a number for each configuration."""
    cells = {name: np.zeros(len(few), dtype=np.int32) for name in few.cells}
    return replace(few, cells=cells, exact={}, trials=None, chance=coincidence(few))


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
    more = {"trials": few.trials, "draws": few.draws}
    arrays |= {name: own for name, own in more.items() if own is not None}
    return Attachment({"rows": len(few), "designed": few.designed, "below": few.below, "chance": few.chance}, arrays)


def sample_from(attachment: Attachment, space: Space) -> FewRows:
    """Read and check the section that `sample_kept` made."""
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
    if np.isnan(signed).any():
        raise FormatError("has rows without an objective")
    below, chance = float(about["below"]), about["chance"]
    draws = arrays["draws"].astype(np.float64)
    if not np.all((draws >= 0.0) & (draws < below)):
        raise FormatError("has numbers of configurations outside their range")
    few = FewRows(cells, exact, signed, np.arange(rows), arrays.get("trials"), bool(about["designed"]))
    return replace(few, draws=draws, below=below, chance=None if chance is None else float(chance))


def strung_rows(parts: Iterable[FewRows]) -> FewRows:
    """The rows of all parts together; samples become a sample of all parts."""
    parts = list(parts)
    below = min(part.below for part in parts)
    parts = [part if part.draws is None or part.below == below else part.take(part.draws < below) for part in parts]
    filled = [part for part in parts if len(part)] or parts[:1]
    first = filled[0]
    numbered = all(part.trials is not None for part in filled)
    drawn = all(part.draws is not None for part in filled)
    chances = [part.chance for part in filled if part.chance is not None]
    together = FewRows(
        cells={name: np.concatenate([part.cells[name] for part in filled]) for name in first.cells},
        exact={
            name: np.concatenate([part.exact[name] for part in filled])
            for name in first.exact
            if all(name in part.exact for part in filled)
        },
        signed=np.concatenate([part.signed for part in filled]),
        rows=np.arange(sum(map(len, filled))),
        trials=np.concatenate([part.trials for part in filled if part.trials is not None]) if numbered else None,
        designed=any(part.designed for part in parts),
        draws=np.concatenate([part.draws for part in filled if part.draws is not None]) if drawn else None,
        below=below,
        chance=max(chances) if chances else None,
    )
    return bounded(together)
