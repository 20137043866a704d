"""Smaller and larger domains of one parameter: on its own scale, on its own lattice, never empty."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from pedanova.base.digits import roundest
from pedanova.measures.share import Reals
from pedanova.reduction.boxes import Axis
from pedanova.space.grid import Grid
from pedanova.space.parameters import Categorical, Domain, Float, Int, Ordinal, values_of
from pedanova.space.values import LARGEST_INT, Label

DIGITS = 3  # of a bound, on a log scale
FINE = 1000  # parts of a range that a bound is rounded to
RISE = 1.3  # density at a bound from which on good values may pile up there
AGREED = 0.75  # of the opinions must see good values become denser towards the bound
TENTHS = 10  # parts of a range that are held side by side for that
LEAST_STEP, LARGEST_STEP = 0.1, 0.5  # by which a range is widened, as parts of it

Bounds: TypeAlias = tuple[float | None, float | None]


def constant(value: Label, like: Domain) -> Categorical:
    return Categorical((value,), when=like.when)


def is_constant(domain: Domain) -> bool:
    return len(values_of(domain)) == 1


def shrunk(domain: Domain, axis: Axis, grid: Grid, groups: Sequence[int]) -> Domain:
    """The part of a domain that some groups of its cells make up."""
    match domain:
        case Categorical(choices):
            left = tuple(choices[g] for g in sorted(groups))
            return constant(left[0], domain) if len(left) == 1 else Categorical(left, when=domain.when)
        case Ordinal(values):
            first, last = axis.ends(groups)
            span = values[first : last + 1]
            return constant(span[0], domain) if len(span) == 1 else Ordinal(span, when=domain.when)
        case Int():
            return _whole(domain, *_edges(axis, grid, groups))
        case Float():
            low, high = _rounded(domain, *_edges(axis, grid, groups))
            return Float(low, high, domain.log, domain.when)


def _edges(axis: Axis, grid: Grid, groups: Sequence[int]) -> tuple[float, float]:
    first, last = axis.ends(groups)
    if grid.edges is None:
        raise ValueError(f"{axis.name} is no range")
    return float(grid.edges[first]), float(grid.edges[last + 1])


def _whole(domain: Int, low: float, high: float) -> Domain:
    """The numbers of the lattice between two edges, which lie half a step beside it."""
    slack = 1e-9 * max(1.0, abs(low), abs(high))
    first = max(0, math.ceil((low - domain.low - slack) / domain.step))
    last = math.floor((min(high, domain.high) - domain.low + slack) / domain.step)
    if first >= last:
        return constant(domain.low + min(first, max(last, 0)) * domain.step, domain)
    bounds = domain.low + first * domain.step, domain.low + last * domain.step
    return Int(*bounds, domain.step, domain.log, domain.when)


def _rounded(domain: Float, low: float, high: float) -> tuple[float, float]:
    """Bounds as a person would write them: rounded outwards, inside the domain."""
    return (max(domain.low, _round(low, domain, math.floor)), min(domain.high, _round(high, domain, math.ceil)))


def _round(value: float, domain: Float, towards: object) -> float:
    if value in (domain.low, domain.high):
        return value
    scale = abs(value) * 10.0 ** (2 - DIGITS) if domain.log else (domain.high - domain.low) / FINE
    places = -math.floor(math.log10(scale)) if scale > 0 else 0
    if not -300 < places < 300:
        return value
    step = 10.0**places
    moved = towards(value * step) / step if math.isfinite(value * step) else value  # type: ignore[operator]
    return float(f"{moved:.15g}")


def middle(domain: Domain, axis: Axis, grid: Grid, group: int) -> Label:
    """The value that stands for a group of cells."""
    smaller = shrunk(domain, axis, grid, [group])
    match smaller:
        case Categorical(values) | Ordinal(values):
            return values[len(values) // 2]
        case Int(low, high, step, log):
            aim = math.sqrt(low * high) if log else (low + high) / 2
            return low + round((aim - low) / step) * step
        case Float(low, high, log):
            aim = math.sqrt(low) * math.sqrt(high) if log else low + (high - low) / 2
            nice = roundest(low, high)  # it stands for all of them, so the fewer digits the better
            return nice if low <= nice <= high else aim


def piles_up(density: Reals, end: int) -> bool:
    """Whether good values are densest at one end (0 or -1), and denser than beside it in the eyes of most."""
    inwards = density if end == 0 else density[::-1]
    wide = max(1, len(inwards) // TENTHS)
    tenths = np.stack([part.mean(axis=0) for part in np.array_split(inwards, len(inwards) // wide)])
    rising = tenths[0] >= tenths[1:3].mean(axis=0)
    pooled = tenths.mean(axis=1)
    return bool(pooled[0] >= RISE and np.argmax(pooled) == 0 and rising.mean() >= AGREED)


def crowd(density: Reals, prior: Reals, end: int) -> float:
    """The part of the good values that lies in the outermost tenth of a range, at one end (0 or -1)."""
    mass = density.mean(axis=1) * prior
    inwards = mass if end == 0 else mass[::-1]
    return float(inwards[: max(1, len(inwards) // TENTHS)].sum() / max(float(mass.sum()), 1e-300))


def beyond(domain: Float | Int, density: Reals, sides: tuple[bool, bool]) -> Bounds:
    """Bounds to try on the sides where good values pile up: as far again as they reach inwards."""
    mean = density.mean(axis=1)
    bounds: list[float | None] = []
    for low_side, wanted in zip((True, False), sides, strict=True):
        inwards = mean if low_side else mean[::-1]
        reach = int(np.argmax(inwards < inwards[0] / 2.0)) if (inwards < inwards[0] / 2.0).any() else len(mean)
        part = min(LARGEST_STEP, max(LEAST_STEP, reach / len(mean)))
        bounds.append(_moved(domain, part, low_side=low_side) if wanted else None)
    return bounds[0], bounds[1]


def _moved(domain: Float | Int, part: float, *, low_side: bool) -> float | None:
    """A bound moved outwards by a part of the range; None where it cannot be."""
    low, high = float(domain.low), float(domain.high)
    if domain.log:
        factor = math.exp(part * (math.log(high) - math.log(low)))
        moved = low / factor if low_side else high * factor
        moved = float(f"{moved:.2g}")
    else:
        moved = low - part * (high - low) if low_side else high + part * (high - low)
        places = -math.floor(math.log10((high - low) / 100.0))
        moved = round(moved, places) if -300 < places < 300 else moved
    moved = same_sign(moved, low if low_side else high)
    if isinstance(domain, Int):
        steps = max(1, round(abs(moved - (low if low_side else high)) / domain.step))
        moved = low - steps * domain.step if low_side else high + steps * domain.step
        beyond_one = low_side and low >= 1 and moved < 1  # a count of things: none of them is another matter
        crosses = moved * (low if low_side else high) <= 0
        if abs(moved) > LARGEST_INT or (domain.log and moved < 1) or beyond_one or crosses:
            return None
    usable = math.isfinite(moved) and (moved < low if low_side else moved > high) and (moved > 0 or not domain.log)
    return moved if usable else None


def same_sign(moved: float, bound: float) -> float:
    """A bound moved outwards, which never comes to zero or beyond: that would be another kind of value."""
    return float(f"{bound / 2.0:.2g}") if moved * bound <= 0 else moved


def widened(domain: Float | Int, bounds: Bounds) -> Domain:
    """The domain with bounds moved outwards."""
    low = domain.low if bounds[0] is None else bounds[0]
    high = domain.high if bounds[1] is None else bounds[1]
    if isinstance(domain, Int):
        return Int(int(low), int(high), domain.step, domain.log, domain.when)
    return Float(low, high, domain.log, domain.when)
