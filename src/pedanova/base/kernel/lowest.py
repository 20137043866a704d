"""The rows with the lowest numbers, where the number of a row follows from its values: src/kernel/sample.hpp."""

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


@dataclass(slots=True, eq=False)
class LowestRows:
    """The `most` rows with the lowest numbers below `limit`, and the next one; found while rows are counted."""

    columns: Sequence[NumberedColumn]
    most: int
    limit: float
    found: int | None = None  # rows; None before the rows were read
    structure: kernel.Sample = field(init=False)
    _arrays: tuple[Any, NDArray[np.int64], NDArray[np.float64]] = field(init=False)

    def __post_init__(self) -> None:
        summands = (kernel.Summand * max(1, len(self.columns)))(*(column.summand() for column in self.columns))
        rows, numbers = np.empty(self.most + 1, dtype=np.int64), np.empty(self.most + 1)
        self._arrays = summands, rows, numbers
        places = kernel.address(rows), kernel.address(numbers)
        self.structure = kernel.Sample(ctypes.addressof(summands), len(self.columns), self.most, self.limit, *places)

    def take(self, left_out: NDArray[np.bool_], threads: int) -> None:
        """Find the rows in a pass of their own."""
        self.found = kernel.call("lowest_rows", self.structure, len(left_out), left_out, threads)

    def result(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The rows, in their order, and their numbers."""
        _, rows, numbers = self._arrays
        return rows[: self.found], numbers[: self.found]
