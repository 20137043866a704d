"""The domain that is left of a parameter after a cut, and wider domains to try."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from pedanova.reduction.box import Axis
from pedanova.space.grid import Grid, Reals
from pedanova.space.parameters import Categorical, Domain, Float, Int, Ordinal
from pedanova.space.values import LARGEST_INT, Label

DIGITS = 3  # significant digits of a bound on a log scale
FINE = 1000  # a bound is rounded to this fraction of a range
LEAST_STEP, LARGEST_STEP = 0.1, 0.5  # parts of a range by which it is widened

Bounds: TypeAlias = tuple[float | None, float | None]


def constant(value: Label, like: Domain) -> Categorical:
    return Categorical((value,), when=like.when)


def shrunk(domain: Domain, axis: Axis, grid: Grid, kept: tuple[int, ...]) -> Domain:
    """The domain restricted to some of its slices; the bounds of a range are rounded outwards."""
    if isinstance(domain, Categorical):
        left = tuple(domain.choices[one] for one in kept)
        return constant(left[0], domain) if len(left) == 1 else Categorical(left, when=domain.when)
    first, last = axis.cells(kept)
    if isinstance(domain, Ordinal):
        span = domain.values[first : last + 1]
        return constant(span[0], domain) if len(span) == 1 else Ordinal(span, when=domain.when)
    low, high = (float(edge) for edge in np.asarray(grid.edges)[[first, last + 1]])
    if isinstance(domain, Int):
        return _whole(domain, low, high)
    low = max(domain.low, _round(low, domain, math.floor))
    return Float(low, min(domain.high, _round(high, domain, math.ceil)), domain.log, domain.when)


def _whole(domain: Int, low: float, high: float) -> Domain:
    """The integers of a domain between two edges of cells, such as 2.5 and 6.5."""
    slack = 1e-9 * max(1.0, abs(low), abs(high))
    first = max(0, math.ceil((low - domain.low - slack) / domain.step))
    last = math.floor((min(high, domain.high) - domain.low + slack) / domain.step)
    if first >= last:
        return constant(domain.low + min(first, max(last, 0)) * domain.step, domain)
    bounds = domain.low + first * domain.step, domain.low + last * domain.step
    return Int(*bounds, domain.step, domain.log, domain.when)


def _round(value: float, domain: Float, towards: Callable[[float], int]) -> float:
    if value in (domain.low, domain.high):
        return value
    scale = abs(value) * 10.0 ** (2 - DIGITS) if domain.log else (domain.high - domain.low) / FINE
    places = -math.floor(math.log10(scale)) if scale > 0 else 0
    if not -300 < places < 300:
        return value
    step = 10.0**places
    moved = towards(value * step) / step if math.isfinite(value * step) else value
    return float(f"{moved:.15g}")


def beyond(domain: Float | Int, density: Reals, sides: tuple[bool, bool]) -> Bounds:
    """New bounds (low, high) of a wider range; `sides` says which of the two bounds to move.

    A bound moves as far as the density of the best points (slices,) takes to fall to half of its value at the bound.
    """
    bounds: list[float | None] = []
    for low_side, wanted in zip((True, False), sides, strict=True):
        inwards = density if low_side else density[::-1]
        below = np.flatnonzero(inwards < inwards[0] / 2.0)
        part = (int(below[0]) if len(below) else len(density)) / len(density)
        step = min(LARGEST_STEP, max(LEAST_STEP, part))
        bounds.append(_moved(domain, step, low_side=low_side) if wanted else None)
    return bounds[0], bounds[1]


def _moved(domain: Float | Int, part: float, *, low_side: bool) -> float | None:
    """Move a bound outwards: `part` is a fraction of the range. Returns None if the new bound is invalid."""
    low, high = float(domain.low), float(domain.high)
    if domain.log:
        factor = math.exp(part * (math.log(high) - math.log(low)))
        moved = low / factor if low_side else high * factor
        moved = float(f"{moved:.2g}")
    else:
        moved = low - part * (high - low) if low_side else high + part * (high - low)
        places = -math.floor(math.log10((high - low) / 100.0))
        moved = round(moved, places) if -300 < places < 300 else moved
    bound = low if low_side else high
    if moved * bound <= 0:  # a bound never becomes 0 or changes its sign
        moved = float(f"{bound / 2.0:.2g}")
    if isinstance(domain, Int):
        steps = max(1, round(abs(moved - bound) / domain.step))
        moved = low - steps * domain.step if low_side else high + steps * domain.step
        beyond_one = low_side and low >= 1 and moved < 1  # a count of at least 1 does not become 0
        if abs(moved) > LARGEST_INT or (domain.log and moved < 1) or beyond_one or moved * bound <= 0:
            return None
    usable = math.isfinite(moved) and (moved < low if low_side else moved > high) and (moved > 0 or not domain.log)
    return moved if usable else None


def widened(domain: Float | Int, bounds: Bounds) -> Domain:
    low = domain.low if bounds[0] is None else bounds[0]
    high = domain.high if bounds[1] is None else bounds[1]
    if isinstance(domain, Int):
        return Int(int(low), int(high), domain.step, domain.log, domain.when)
    return Float(low, high, domain.log, domain.when)
