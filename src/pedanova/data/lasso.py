"""Rows inside a closed line drawn on the plane of two columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.data.column import Column, Mask
from pedanova.data.text_numbers import as_numbers
from pedanova.errors import QueryError
from pedanova.space.parameters import Space, scale_of
from pedanova.space.values import as_real

Reals: TypeAlias = NDArray[np.float64]
MOST_POINTS = 2_000
LARGEST = 1e150  # so that no difference or product of corners is infinite


@dataclass(frozen=True, slots=True)
class Lasso:
    """A closed line on the plane of two columns. Make one with `lasso`.

    Attributes
    ----------
    x, y
        The columns.
    points
        Corners in units of the columns; the last is joined to the first.
    log
        Scales that edges are straight on; None: as the space has them.

    Examples
    --------
    >>> import pedanova as pa
    >>> pa.lasso("lr", "momentum", [(1e-4, 0.5), (1e-2, 0.5), (1e-3, 0.9)]).x
    'lr'
    """

    x: str
    y: str
    points: tuple[tuple[float, float], ...]  # corners in units of the columns; the last is joined to the first
    log: tuple[bool, bool] | None = None  # scales that edges are straight on; None: as the space has them

    def on(self, space: Space) -> Lasso:
        """With the scales of the parameters, where it has none of its own."""
        if self.log is not None:
            return self
        logs = [name in space and scale_of(space[name]) == "log" for name in (self.x, self.y)]
        return replace(self, log=(logs[0], logs[1]))

    def rows(self, x: Column, y: Column) -> Mask:
        """(rows,) True inside; a missing or infinite value is outside."""
        logs = self.log or (False, False)
        corners = np.array(self.points)
        sides = [placed(corners[:, i], log=logs[i], name=(self.x, self.y)[i]) for i in range(2)]
        return inside(*(spread_out(column, log=log) for column, log in zip((x, y), logs, strict=True)), *sides)

    def __str__(self) -> str:
        return f"rows inside a lasso of {len(self.points)} points on {self.x} and {self.y}"


def lasso(x: str, y: str, points: Sequence[Sequence[float]]) -> Lasso:
    """Rows inside a closed line on the plane of two parameters, for `within` and as a region.

    Parameters
    ----------
    x, y
        Two parameters, or other columns of numbers.
    points
        Corners ``(x, y)`` in units of the parameters, in order; the last is joined to the first. Edges are
        straight as they are drawn: on the log scale of a parameter that has one, else on a linear one. Where
        the line crosses itself the even-odd rule holds: inside is what an odd number of edges separates from
        the outside. A row on an edge belongs to one side of it only, so that areas that share an edge share no row.

    Returns
    -------
    Lasso
        For `within`, `target` and `region`.

    Raises
    ------
    QueryError
        The two columns are one, or the points are fewer than three or no pairs of numbers.

    Examples
    --------
    >>> import pedanova as pa
    >>> print(pa.lasso("lr", "momentum", [(1e-4, 0.5), (1e-2, 0.5), (1e-3, 0.9)]))
    rows inside a lasso of 3 points on lr and momentum
    """
    for name in (x, y):
        if not isinstance(name, str):
            raise QueryError(f"lasso: {name!r} must be the name of a parameter")
    if x == y:
        raise QueryError(f"lasso: {x!r} is named twice; a plane needs two parameters")
    corners = tuple(_corner(point) for point in points)
    if not 3 <= len(corners) <= MOST_POINTS:
        raise QueryError(f"lasso: {len(corners)} points must be at least 3 and at most {MOST_POINTS:,}")
    return Lasso(x, y, corners)


def _corner(point: Any) -> tuple[float, float]:
    pair = tuple(point) if isinstance(point, Sequence | np.ndarray) and not isinstance(point, str) else ()
    real = [_real(value) for value in pair]
    if len(real) != 2 or not all(abs(value) < LARGEST for value in real):
        raise QueryError(f"lasso: {str(point)[:60]!r} must be two numbers, x and y")
    return real[0], real[1]


def _real(value: Any) -> float:
    known = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    return as_real(value) if known else math.nan


def placed(values: Reals, *, log: bool, name: str) -> Reals:
    """Corners where they are drawn."""
    if not log:
        return values
    if values.min() <= 0:
        raise QueryError(f"lasso: {name}={values.min():g} must be above 0 on its log scale")
    return np.log(values)


def spread_out(column: Column, *, log: bool) -> Reals:
    """(rows,) Values where they are drawn; NaN where there is none."""
    numbers = as_numbers(column)
    column = column if numbers is None else numbers[0]
    if column.labels is not None or column.is_time:
        raise QueryError(f"lasso: {column.name} holds no numbers; select its values by a box")
    values = column.values.astype(np.float64)
    if column.missing is not None:
        values[column.missing] = np.nan
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.log(values) if log else values


def inside(x: Reals, y: Reals, corners_x: Reals, corners_y: Reals) -> Mask:
    """(rows,) Even-odd: rows in a band between neighbouring corners are held against the edges of that band alone."""
    found = np.zeros(len(x), dtype=bool)
    with np.errstate(invalid="ignore"):
        near = np.flatnonzero(
            (x >= corners_x.min()) & (x <= corners_x.max()) & (y >= corners_y.min()) & (y < corners_y.max())
        )
    heights = np.unique(corners_y)
    bands = (np.searchsorted(heights, y[near], side="right") - 1).astype(np.int16)
    order = np.argsort(bands, kind="stable")  # by radix
    near, ends = near[order], np.searchsorted(bands[order], np.arange(len(heights)))
    edges = _edges(corners_x, corners_y)
    for band in np.flatnonzero(np.diff(ends)):
        rows = near[ends[band] : ends[band + 1]]
        found[rows] = _odd(x[rows], y[rows], edges, heights[band])
    return found


def _edges(x: Reals, y: Reals) -> Reals:
    """(edges, 4) Lower end (x, y), then upper end; level edges separate nothing."""
    ends = np.column_stack([x, y, np.roll(x, -1), np.roll(y, -1)])
    upward = np.where((ends[:, 1] < ends[:, 3])[:, None], ends, ends[:, [2, 3, 0, 1]])
    found: Reals = upward[upward[:, 1] < upward[:, 3]]
    return found


def _odd(x: Reals, y: Reals, edges: Reals, low: float) -> Mask:
    odd = np.zeros(len(x), dtype=bool)
    for x0, y0, x1, y1 in edges[(edges[:, 1] <= low) & (edges[:, 3] > low)]:
        odd ^= x < x0 + (y - y0) * ((x1 - x0) / (y1 - y0))
    return odd
