"""The individual rows of a small table, for models and p-values, which need more than counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.base.files import Attachment
from pedanova.base.kernel.selection import distinct
from pedanova.base.threads import chunks
from pedanova.data.column import Mask, cells_of, take
from pedanova.data.observations import Observations
from pedanova.data.options import NanPolicy
from pedanova.data.regions import sign_of
from pedanova.errors import FormatError
from pedanova.space.grid import Cells, grid_of
from pedanova.space.parameters import Space

Reals: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.int64]
Bits: TypeAlias = NDArray[np.uint64]
AT_ONCE = 1 << 14  # rows that are hashed at a time, so that they stay in the cache
AT_FIRST, EVEN = 8, 0.05  # one column first selects AT_FIRST times the rows, if it has enough distinct values


@dataclass(frozen=True, slots=True, eq=False)
class FewRows:
    """The cells, the exact values and the objective of individual rows."""

    cells: Mapping[str, Cells]  # (rows,) each
    exact: Mapping[str, Bits]  # (rows,) each: a key for each value, for parameters whose cells are ranges
    signed: Reals  # (rows,) the objective, lower is better; NaN counts as the worst
    rows: Indices  # (rows,) which row of the table each one is
    trials: Reals | None  # (rows,) the trial number, if there is such a column
    designed: bool = False  # whether some trials were proposed by `next_trials`

    @property
    def order(self) -> Reals | None:
        """The trial number of each row; None if trial numbers are missing or not unique."""
        trials = self.trials
        if trials is None or np.isnan(trials).any() or len(distinct(trials)) < len(trials):
            return None
        return trials

    def __len__(self) -> int:
        return len(self.signed)

    def take(self, some: Mask) -> FewRows:
        return FewRows(
            cells={name: column[some] for name, column in self.cells.items()},
            exact={name: column[some] for name, column in self.exact.items()},
            signed=self.signed[some],
            rows=self.rows[some],
            trials=None if self.trials is None else self.trials[some],
            designed=self.designed,
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


def whole_configurations(observed: Observations, rows: Indices, most: int) -> Indices:
    """A random sample of about `most` rows; of each configuration it contains either all rows or none."""
    if most >= len(rows):
        return rows
    rng = np.random.default_rng(0xC0F)
    columns = [observed.columns[name].values for name in sorted(observed.space)]
    bits = [values.view(f"u{values.itemsize}") if values.dtype.kind == "f" else values for values in columns]
    factors = [rng.integers(0, 2**64, dtype=np.uint64) | np.uint64(1) for _ in columns]
    one = [k for k, values in enumerate(columns) if values.dtype.kind == "f"][:1]
    if one and len(columns) > 1 and AT_FIRST * most < len(rows):  # for most rows, the hash of one column is enough
        near = _hashed(rows, len(observed), [bits[one[0]]], factors[one[0] :], AT_FIRST * most / len(rows))
        if abs(len(near) / (AT_FIRST * most) - 1.0) < EVEN:  # the column has many distinct values
            rows = near
    return _hashed(rows, len(observed), bits, factors, most / len(rows))


def _hashed(rows: Indices, every: int, bits: list[Any], factors: list[np.uint64], part: float) -> Indices:
    """Choose some of `rows` (the fraction `part`) by a hash of their values; the table has `every` rows."""
    least, chosen = np.uint64((1.0 - part) * 2.0**64), []
    for piece in chunks(len(rows), pieces=len(rows) // AT_ONCE + 1):
        some = piece if len(rows) == every else rows[piece]
        keys = sum(own[some].astype(np.uint64, copy=False) * factor for own, factor in zip(bits, factors, strict=False))
        if len(bits) > 1:
            keys = (keys ^ (keys >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
        chosen.append(rows[piece][np.flatnonzero(keys >= least)])
    return np.concatenate(chosen)


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
    if few.trials is not None:
        arrays["trials"] = few.trials
    return Attachment({"rows": len(few), "designed": few.designed}, arrays)


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
    return FewRows(cells, exact, signed, np.arange(rows), arrays.get("trials"), bool(about["designed"]))


def strung_rows(parts: Iterable[FewRows]) -> FewRows:
    parts = list(parts)
    filled = [part for part in parts if len(part)] or parts
    first = filled[0]
    numbered = all(part.trials is not None for part in filled)
    return FewRows(
        cells={name: np.concatenate([part.cells[name] for part in filled]) for name in first.cells},
        exact={
            name: np.concatenate([part.exact[name] for part in filled])
            for name in first.exact
            if all(name in part.exact for part in filled)
        },
        signed=np.concatenate([part.signed for part in filled]),
        rows=np.arange(sum(map(len, filled))),
        trials=np.concatenate([part.trials for part in filled if part.trials is not None]) if numbered else None,
    )
