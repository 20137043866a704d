"""Which cell of a grid every row of a column lies in, and which rows equal a value."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.data.column import Column, Mask
from pedanova.space.grid import Cells, Grid
from pedanova.space.values import Label, as_real

LAST_PLACES = 2  # by which a double may be off that was computed, or written and read again


def cells_of(column: Column, grid: Grid) -> Cells:
    """The cell of every row, by plain NumPy: the judge of every faster way."""
    if column.located:
        return column.values.astype(np.int32, copy=False)
    if column.is_coded or grid.inner is None:
        column = column if column.is_coded else coded(column)
        labels = column.labels or ()
        table = np.r_[grid.match(labels), grid.outside, grid.missing].astype(np.int32)
        codes = np.minimum(column.values.astype(np.int64), len(labels))
        cells = table[np.where(codes < 0, len(labels) + 1, codes)]
    else:
        cells = grid.locate(column.values)
    if column.missing is not None:
        cells = np.where(column.missing, grid.missing, cells)
    placed: Cells = cells.astype(np.int32, copy=False)
    return placed


def coded(column: Column) -> Column:
    """The same column as codes into its distinct values."""
    absent = column.absent()
    distinct, codes = np.unique(column.values, return_inverse=True)
    codes = np.where(absent, -1, codes).astype(np.int32)
    return Column(column.name, codes, tuple(distinct.tolist()))


def equals_any(column: Column, values: tuple[Label, ...]) -> Mask:
    """(rows,) True where the column holds one of the values.

    Whole numbers are met exactly, doubles to their last places, single precision as the single that was meant;
    text by text, and where both can be read as numbers, as numbers.
    """
    if column.is_coded or column.values.dtype.kind == "b":
        labels = column.labels if column.labels is not None else (False, True)
        hits = np.array([*(_is_any(label, values) for label in labels), False])
        codes = np.where(column.absent(), len(labels), column.values.astype(np.int64))
        return np.asarray(hits[codes])
    numbers = [number for value in values if (number := _as_number(value)) is not None]
    return _meets(column.values, numbers) & ~column.absent()


def _is_any(label: Label, values: tuple[Label, ...]) -> bool:
    """Equal and of a kind, or the same text, or the same number."""
    if any(isinstance(value, bool) == isinstance(label, bool) and value == label for value in values):
        return True
    if str(label) in map(str, values):
        return True
    number = _as_number(label)
    numbers = [other for value in values if (other := _as_number(value)) is not None]
    return number is not None and bool(_meets(np.array([number]), numbers)[0])


def _as_number(value: Label) -> float | None:
    """A number as it is; text as the number it stands for; None for all else."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    try:
        return float(value) if isinstance(value, str) else float(bool(value))
    except ValueError:
        return None


def _meets(values: NDArray[Any], numbers: list[float]) -> Mask:
    if values.dtype.kind in "iu":
        whole = [int(number) for number in numbers if number == number // 1]
        ends = np.iinfo(values.dtype)
        return np.isin(values, np.array([n for n in whole if ends.min <= n <= ends.max], dtype=values.dtype))
    hit = np.zeros(len(values), dtype=bool)
    for number in dict.fromkeys(numbers):
        with np.errstate(over="ignore", invalid="ignore"):
            meant = values.dtype.type(as_real(number))
            slack = 0 if not np.isfinite(meant) else LAST_PLACES * np.spacing(np.abs(meant))
            hit |= (values == meant) | (np.abs(values - meant) <= slack)
    return hit
