"""Rows picked by something else than the order of the objective: masks, columns, boxes, conditions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.base.kernel.selection import select_ranks
from pedanova.data.cells import equals_any
from pedanova.data.column import Column, Mask, as_column, count_nan, shorten
from pedanova.data.expressions import columns_in, rows_where
from pedanova.data.lasso import Lasso
from pedanova.data.regions import Cut, Direction, Quantile, Region, as_region, rank_of, sign_of
from pedanova.data.text_numbers import as_numbers
from pedanova.errors import Arg, QueryError, unknown_name
from pedanova.space.values import as_labels, as_real


@dataclass(frozen=True, slots=True, eq=False)
class RowSet:
    """A choice of rows and its name in words."""

    mask: Mask
    words: str
    about: frozenset[str] = frozenset()  # columns that it speaks of

    def __str__(self) -> str:
        return self.words


def as_rows(value: object, name: str, table: Mapping[str, Column], rows: int) -> Region | RowSet:
    """A region of the objective, or a set of rows.

    Numbers, `at_most`, `at_least`, `between` and `equals` are regions. Text is the name of a
    boolean column or a condition, a dict is a box, an array is a mask, a `Lasso` a part of a
    plane. What was read already stays as it is.
    """
    if isinstance(value, RowSet):
        return value
    if isinstance(value, str):
        return _from_text(value, name, table)
    if isinstance(value, Mapping):
        return RowSet(rows_in_box(value, table, rows), rows_in_words(value), frozenset(value))
    if isinstance(value, Lasso):
        axes = value.x, value.y
        return RowSet(value.rows(*(named(one, table, "lasso") for one in axes)), str(value), frozenset(axes))
    if not needs_rows(value):
        return as_region(value, name)
    mask = as_mask(value, name, rows)
    return RowSet(mask, f"the {int(mask.sum()):,} marked rows")


def named(name: Any, table: Mapping[str, Column], what: str) -> Column:
    if name not in table:
        raise QueryError(f"{what}: {unknown_name(name, tuple(table), what='column')}")
    return table[name]


def rows_in_words(value: object) -> str:
    """Rows of a condition or a box, by their name."""
    return f"rows with {box_in_words(value)}" if isinstance(value, Mapping) else f"rows where {in_short(str(value))}"


def needs_rows(value: object) -> bool:
    """Whether a question is about rows picked one by one, not about the order of the objective."""
    if isinstance(value, RowSet | str | Mapping | list | tuple | Lasso):
        return True
    return hasattr(value, "__array__") and np.ndim(value) > 0


def _from_text(text: str, name: str, table: Mapping[str, Column]) -> RowSet:
    if text not in table:
        try:
            return RowSet(rows_where(text, table), rows_in_words(text), frozenset(columns_in(text, table)))
        except QueryError as error:
            first, *rest = error.words
            raise QueryError(Arg(name, shown=str(first)), *rest) from None
    column = table[text]
    if column.values.dtype.kind != "b":
        raise QueryError(Arg(name, text), f' is no boolean column; compare it, as in "{text} == …"')
    return RowSet(column.values & ~column.absent(), f"rows marked {text}", frozenset([text]))


def as_mask(value: Any, name: str, rows: int) -> Mask:
    """(rows,) booleans; anything else is refused."""
    column = as_column(name, np.asarray(value) if hasattr(value, "__array__") else value)
    if column.values.dtype.kind != "b" or column.missing is not None:
        raise QueryError(
            Arg(name, shown=f"{shorten(value)}"), " must be True or False for each row, or a quantile, or a condition"
        )
    if len(column) != rows:
        raise QueryError(f"{name} marks {len(column)} rows of {rows}; give one truth value a row")
    return column.values


def rows_in_box(box: Mapping[Any, Any], table: Mapping[str, Column], rows: int) -> Mask:
    """Rows inside every bound: ``{"lr": (1e-4, 1e-2), "optimizer": {"adam"}, "layers": 3}``."""
    if not box:
        raise QueryError("an empty box holds every row; name a column and its bounds")
    inside = np.ones(rows, dtype=bool)
    for name, bounds in box.items():
        inside &= _inside(named(name, table, "box"), bounds)
    return inside


def _inside(column: Column, bounds: Any) -> Mask:
    if column.is_time:
        raise QueryError(f"box: {column.name} holds dates; turn them into numbers")
    if isinstance(bounds, tuple):
        return _in_range(column, bounds)
    if isinstance(bounds, Set | list | np.ndarray):
        return equals_any(column, as_labels(bounds, f"box values of {column.name}"))
    return equals_any(column, as_labels([bounds], f"box value of {column.name}"))


def _in_range(column: Column, bounds: tuple[Any, ...]) -> Mask:
    numbers = as_numbers(column)  # text that stands for numbers, as conditions take it
    column = column if numbers is None else numbers[0]
    if len(bounds) != 2 or column.labels is not None:
        raise QueryError(f"box: {column.name}={bounds!r} must be (low, high) for numbers, or a set of values")
    low, high = (_number(bound, default) for bound, default in zip(bounds, (-math.inf, math.inf), strict=True))
    if math.isnan(low) or math.isnan(high) or low > high:
        raise QueryError(f"box: {column.name}={bounds!r} must be (low, high) with low not above high")
    with np.errstate(invalid="ignore", over="ignore"):  # a bound may be too large for float32
        within = between_ends(column.values, low, high)  # NaN is in no range
    return within if column.missing is None else within & ~column.missing


def between_ends(values: NDArray[Any], low: float, high: float) -> Mask:
    """(rows,) True from low to high, both included. Whole numbers are compared as such: many times as fast."""
    first: float | int = low
    last: float | int = high
    if values.dtype.kind in "iu":
        kind = np.iinfo(values.dtype)
        if low > kind.max or high < kind.min:
            return np.zeros(len(values), dtype=bool)
        first, last = math.ceil(max(low, kind.min)), math.floor(min(high, kind.max))
    within: Mask = values >= first
    within &= values <= last
    return within


def _number(bound: Any, default: float) -> float:
    if bound is None:
        return default
    is_number = isinstance(bound, Real) and not isinstance(bound, bool | np.bool_)
    return as_real(bound) if is_number else math.nan


def box_in_words(box: Mapping[Any, Any]) -> str:
    return ", ".join(f"{name} {_bounds_in_words(bounds)}" for name, bounds in box.items())


def _bounds_in_words(bounds: Any) -> str:
    if isinstance(bounds, tuple) and len(bounds) == 2:
        low, high = bounds
        if low is None or high is None:
            return "of any value" if low is high else f"≤ {high}" if low is None else f"≥ {low}"
        return f"from {low} to {high}"
    if isinstance(bounds, Iterable) and not isinstance(bounds, str):
        return in_short("in " + ", ".join(sorted(str(value) for value in bounds)))
    return f"= {bounds}"


def in_short(text: str, most: int = 100) -> str:
    """Text on one line, cut short."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def cut_at(
    ranked: NDArray[Any], keep: NDArray[np.bool_] | None, region: Region, direction: Direction
) -> NDArray[np.bool_]:
    """(rows,) The kept rows that lie in a region; NaN is worse than every number."""
    sign = sign_of(direction)
    mask = np.ones(len(ranked), dtype=bool) if keep is None else keep.copy()
    signed = sign * ranked.astype(np.float64)
    cuts = region.cuts(direction)
    kept = signed[mask] if any(isinstance(cut, Quantile) for cut in cuts) else signed[:0]  # values need no rows
    begin, end = (_signed_cut(cut, kept) for cut in cuts)
    if begin is not None:
        mask &= ~(signed <= begin) if begin < math.inf else False
    if end is not None and end < math.inf:  # NaN counts as infinite: at infinity all rows are in
        mask &= signed <= end
    return mask


def _signed_cut(cut: Cut | None, kept: NDArray[np.float64]) -> float | None:
    """The threshold of a cut; None where it lies behind all rows."""
    if cut is None or not isinstance(cut, Quantile):
        return None if cut is None else cut.signed
    rank = rank_of(cut.part, len(kept))
    return select_ranks(kept, 1.0, [rank])[rank] if rank <= len(kept) - count_nan(kept) else None
