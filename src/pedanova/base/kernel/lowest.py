"""The configurations with the lowest numbers, which follow from the values of a row: src/kernel/sample.hpp."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.base.kernel import library as kernel


@dataclass(frozen=True, slots=True, eq=False)
class NumberedColumn:
    """What one column adds to the number of each row: the fraction of value × factor, for every factor."""

    values: NDArray[Any]  # in a type of the kernel
    factors: tuple[float, ...]
    weight: float
    missing: NDArray[np.bool_] | None = None  # contiguous
    gap: float = np.nan  # where a value is missing or NaN; with NaN, the row is in no sample
    table: NDArray[np.float64] | None = None  # the value of each code, if `values` are codes

    def whole(self, rows: slice) -> NDArray[np.float64]:
        """The values of `rows` by NumPy."""
        values = self.values[rows].astype(np.float64)
        if self.table is not None:
            codes = np.clip(self.values[rows].astype(np.int64), -1, len(self.table))
            values = np.append(self.table, [np.inf, self.gap])[codes]
        values[np.isnan(values) | (False if self.missing is None else self.missing[rows])] = self.gap
        return values

    def summand(self) -> kernel.Summand:
        data, stride, dtype = kernel.column_of(self.values)
        looked_up, size = (0, 0) if self.table is None else (1, len(self.table))
        tables = kernel.address(self.missing), kernel.address(self.table)
        first, second = (*self.factors, 0.0)[:2]
        return kernel.Summand(data, stride, dtype, looked_up, *tables, size, self.gap, first, second, self.weight)


WEIGHT, LEVEL_BITS = 10, 6  # `most_weight` and `level_bits` of sample.hpp


@dataclass(slots=True, eq=False)
class LowestRows:
    """The rows of the configurations with the lowest numbers below `limit`, counted by level; see `FewRows`.

    The configurations have `most` entries together, where one counts as `WEIGHT` at the most. The next configuration is
    found, too. `objective`, multiplied by `sign`, is lower for better rows; of levels, `shift` bits are dropped.
    """

    columns: Sequence[NumberedColumn]
    objective: NDArray[Any]
    sign: float
    shift: int
    most: int
    limit: float
    count: int | None = None  # entries; None before the rows were read
    structure: kernel.Sample = field(init=False)
    _arrays: tuple[Any, NDArray[Any], NDArray[Any]] = field(init=False)

    def __post_init__(self) -> None:
        summands = (kernel.Summand * max(1, len(self.columns)))(*(column.summand() for column in self.columns))
        objective = kernel.usable(self.objective)
        found = np.empty(((self.most // WEIGHT + 2) << LEVEL_BITS) + self.most, dtype=kernel.MERGED)
        self._arrays = summands, objective, found
        head = ctypes.addressof(summands), len(self.columns), *kernel.column_of(objective)
        tail = self.most, self.limit, len(found), kernel.address(found)
        self.structure = kernel.Sample(*head, self.shift, self.sign, *tail)

    def take(self, codes: NDArray[Any], levels: int, threads: int) -> None:
        """Find the rows in a pass of their own; rows with the code `levels` are left out."""
        self.count = kernel.call("lowest_rows", self.structure, len(codes), codes.itemsize, codes, levels, threads)

    @property
    def found(self) -> NDArray[Any]:
        """Entries of the type `MERGED`, by number and level."""
        return self._arrays[2][: self.count]
