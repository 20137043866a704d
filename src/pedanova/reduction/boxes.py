"""Find a box in the search space by repeatedly removing the slice with the lowest density of good points.

A `Cloud` is a set of points, each with a weight in the target. A slice is one group of a parameter's cells. The density
of a slice is a ratio: the fraction of the target in the slice, divided by the fraction of the points in the slice (both
inside the current box). After an adaptive sampler, the divisor is the fraction of the space in the slice instead. An
ordered parameter loses only slices at its ends. Each box lies inside the previous box, so a higher `keep` never gives a
smaller box.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.base.digits import roundest
from pedanova.space.grid import Cells, Grid, Reals
from pedanova.space.parameters import Categorical, Domain, Float, Int, Ordinal
from pedanova.space.values import LARGEST_INT, Label

MOST_GROUPS = 20  # groups of an ordered parameter's cells
POOR = 0.7  # a slice with at least this part of the mean density is kept
ALSO_POOR = 0.8  # the same for the density of the wider target, because the best rows may be luck
EMPTY = 0.3  # the limit for slices inside a range, which are only reported
AGREED = 0.75  # part of the opinions that must agree that a slice is empty
LEAST_GAP = 0.15  # the part of the range that must be empty

Groups = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Axis:
    """The cells of one parameter, divided into groups; cells with prior probability 0 have the group -1."""

    ordered: bool
    group_of: Groups  # (cells,)
    prior: Reals  # (groups,)

    @property
    def groups(self) -> int:
        return len(self.prior)

    def place(self, cells: Cells) -> Groups:
        """The group of each cell number in `cells`; -1 for missing values and values outside the space."""
        inside = cells < len(self.group_of)
        return np.where(inside, self.group_of[np.where(inside, cells, 0)], -1)

    def ends(self, kept: Sequence[int]) -> tuple[int, int]:
        """The first and last cell of the groups in `kept`; cells with prior probability 0 are ignored."""
        cells = np.flatnonzero((self.group_of >= min(kept)) & (self.group_of <= max(kept)))
        return int(cells[0]), int(cells[-1])

    def coarse(self) -> Groups:
        """Merge many groups into 20 slices; returns the slice of each group, as an array (groups,)."""
        if not self.ordered or self.groups <= MOST_GROUPS:
            return np.arange(self.groups)
        middles = (np.cumsum(self.prior) - self.prior / 2.0) / self.prior.sum()
        return np.asarray(np.minimum((middles * MOST_GROUPS).astype(np.int64), MOST_GROUPS - 1))


@lru_cache(maxsize=2048)
def axis_of(grid: Grid, most: int = MOST_GROUPS) -> Axis:
    """Divide the cells into groups: one per cell, or, for a range with many cells, groups of similar probability."""
    (block,) = grid.blocks
    live = grid.prior > 0
    if not block.ordered or int(live.sum()) <= most:
        groups = np.cumsum(live) - 1
    else:
        middles = np.cumsum(grid.prior) - grid.prior / 2.0
        rough = np.minimum((middles * most).astype(np.int64), most - 1)
        groups = np.searchsorted(np.unique(rough[live]), rough)
    groups = np.where(live, groups, -1).astype(np.int64)
    mass = np.bincount(groups[live], weights=grid.prior[live]).astype(np.float64)
    return Axis(block.ordered, groups, mass)


@dataclass(frozen=True, slots=True, eq=False)
class Cloud:
    """Points, with their group for each parameter and their weight in the target."""

    axes: Mapping[str, Axis]
    places: Mapping[str, Groups]  # (points,) by parameter
    mass: Reals  # (points, opinions) an opinion is an estimate from some of the rows or samples; its weights sum to 1
    unit: float = 0.0  # the weight of one more row, because a slice without rows may not be empty
    anywhere: Mapping[str, Groups] | None = None  # groups of uniform points of the space; None if `places` are uniform
    whole: Reals | None = None  # (points,) weights from all rows; None for the mean of the opinions
    wider: Reals | None = None  # (points,) weights of a wider target, which must be low where a cut is made
    parents: frozenset[str] = frozenset()  # parameters that decide whether others have a value
    _active: dict[str, float] = field(default_factory=dict, repr=False)

    @property
    def pooled(self) -> Reals:
        return np.asarray(self.mass.mean(axis=1) if self.whole is None else self.whole)

    @property
    def by_space(self) -> bool:
        """Whether densities compare the target with the space; otherwise, they compare it with the points."""
        return self.anywhere is not None

    def base(self, name: str, places: Groups) -> Reals:
        """The denominators of the densities, as an array (groups,): the number of points, or the prior probability."""
        axis = self.axes[name]
        if self.by_space:
            return axis.prior
        return np.bincount(places[places >= 0], minlength=axis.groups).astype(np.float64)

    @property
    def uniform(self) -> Mapping[str, Groups]:
        """The groups of points that were drawn uniformly from the space, for each parameter."""
        return self.places if self.anywhere is None else self.anywhere

    def activity(self, name: str) -> float:
        """The fraction of the space in which the parameter `name` has a value."""
        if name not in self._active:
            self._active[name] = float(np.mean(self.uniform[name] >= 0))
        return self._active[name]

    def density(self, name: str, slices: Groups | None = None) -> Reals:
        """The density of the target in each slice, as an array (slices, resampled estimates)."""
        axis, places = self.axes[name], self.places[name]
        slices = np.arange(axis.groups) if slices is None else slices
        base = np.bincount(slices, weights=self.base(name, places))
        base = base / max(base.sum(), 1e-300)
        parts = self.parts(slices, places)
        parts = parts / np.maximum(parts.sum(axis=0), 1e-300)
        return np.asarray(parts / np.maximum(base, 1e-300)[:, None])

    def parts(self, slices: Groups, places: Groups) -> Reals:
        """The weight of the target in each slice, as an array (slices, resampled estimates)."""
        opinions = self.mass.shape[1]
        first = opinions * np.where(places >= 0, slices[places] + 1, 0)  # one more slice for points without a value
        flat, most = first[:, None] + np.arange(opinions), opinions * (int(slices.max()) + 2)
        sums = np.bincount(flat.ravel(), weights=self.mass.ravel(), minlength=most)
        return sums.reshape(-1, opinions)[1:].astype(np.float64)


@dataclass(frozen=True, slots=True)
class Box:
    """The groups that are kept, for each parameter that was cut, and the fraction of the target inside the box."""

    left: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    kept: float = 1.0

    def holds(self, places: Mapping[str, Groups]) -> NDArray[np.bool_]:
        """Which points lie inside the box, as an array (points,); a missing value counts as inside."""
        some = next(iter(places.values()))
        inside = np.ones(len(some), dtype=bool)
        for name, groups in self.left.items():
            inside &= (places[name] < 0) | np.isin(places[name], groups)
        return inside

    def volume(self, cloud: Cloud) -> float:
        """The fraction of the space inside the box; a conditional parameter counts only where it has a value.

        Parents come before their children: a cut of the parent changes how often the child has a value.
        """
        mask, volume = None, 1.0
        for name in sorted(self.left, key=lambda name: -cloud.activity(name)):
            groups, axis, points = self.left[name], cloud.axes[name], cloud.uniform[name]
            active = cloud.activity(name) if mask is None or not mask.any() else float(np.mean(points[mask] >= 0))
            volume *= 1.0 - active + active * float(axis.prior[list(groups)].sum() / axis.prior.sum())
            if name in cloud.parents:
                inside = (points < 0) | np.isin(points, groups)
                mask = inside if mask is None else mask & inside
        return volume


def way_down(cloud: Cloud, names: Collection[str]) -> list[Box]:
    """Nested boxes, from the whole space down to a box in which no slice of the parameters `names` has low density."""
    mass = np.stack([cloud.pooled] if cloud.wider is None else [cloud.pooled, cloud.wider])
    left = {name: list(range(cloud.axes[name].groups)) for name in names}
    places = {name: cloud.places[name] + 1 for name in names}
    boxes, kept = [Box()], 1.0
    slices: dict[str, tuple[float, str, int, float] | None] = {}
    stale: Collection[str] = names
    while True:
        slices |= {name: poorest(cloud, name, left[name], places[name], mass, kept) for name in stale}
        poor = [one for one in slices.values() if one is not None]
        if not poor:
            return boxes
        _, name, group, lost = min(poor)
        left[name].remove(group)
        kept -= lost
        stay = places[name] != group + 1
        stale = [name] if stay.all() else names  # without an empty slice, the others do not change
        if not stay.all():
            mass, places = mass[:, stay], {key: column[stay] for key, column in places.items()}
        cut = {key: tuple(groups) for key, groups in left.items() if len(groups) < cloud.axes[key].groups}
        boxes.append(Box(cut, kept))


def poorest(
    cloud: Cloud, name: str, left: list[int], places: Groups, mass: Reals, kept: float
) -> tuple[float, str, int, float] | None:
    """Find the slice of parameter `name` with the lowest density; returns (density, name, group, weight).

    Returns None if no slice has a low density. `mass[0]` is the weight of each point in the target, and `mass[1]`,
    if given, in a wider target. `places` is the group of each point plus 1, or 0 for a missing value.
    """
    axis = cloud.axes[name]
    if len(left) < 2:
        return None
    most = axis.groups + 1
    sums, *wider = (np.bincount(places, weights=one, minlength=most)[1:] for one in mass)
    base = axis.prior if cloud.by_space else np.bincount(places, minlength=most)[1:].astype(np.float64)
    own, points = float(sums[left].sum()), float(base[left].sum())
    if own <= 0 or points <= 0:
        return None
    candidates = [left[0], left[-1]] if axis.ordered else left
    # One more row: compared with rows, it may lie in this slice; compared with the space, it is spread over all slices.
    more = {g: cloud.unit * (base[g] / points if cloud.by_space else 1.0) for g in candidates}
    all_in = own + (cloud.unit if cloud.by_space else 0.0)
    density = {g: ((sums[g] + more[g]) / all_in) / (base[g] / points) for g in candidates if base[g] > 0}
    limits = [ALSO_POOR * float(one[left].sum()) / points for one in wider]
    poor = {
        g: d
        for g, d in density.items()
        if d < POOR
        and sums[g] < kept
        and all(one[g] < limit * base[g] for one, limit in zip(wider, limits, strict=True))
    }
    if not poor:
        return None
    group = min(poor, key=lambda g: (poor[g], g))
    return float(poor[group]), name, group, float(sums[group])


def runs(cloud: Cloud, box: Box, name: str) -> list[tuple[int, ...]]:
    """The groups of a parameter inside the box, split where many neighbouring groups have hardly any good point."""
    axis = cloud.axes[name]
    groups = box.left.get(name, tuple(range(axis.groups)))
    slices = axis.coarse()
    left = sorted({int(slices[group]) for group in groups})
    inside = box.holds(cloud.places)
    places = np.where(inside, cloud.places[name], -1)
    base = np.bincount(slices, weights=cloud.base(name, places))
    parts = cloud.parts(slices, places) + cloud.unit
    scale = np.maximum(parts[list(left)].sum(axis=0), 1e-300) / max(float(base[list(left)].sum()), 1e-300)
    density = parts / np.maximum(base, 1e-300)[:, None] / scale
    empty = [float(np.mean(density[g] < EMPTY)) >= AGREED and density[g].mean() < EMPTY for g in left]
    pieces: list[tuple[int, ...]] = [()]
    for i, group in enumerate(left):
        gap = _gap_around(empty, i)
        if axis.ordered and gap >= LEAST_GAP * len(base) and gap < len(left):
            pieces += [()] if pieces[-1] else []
        else:
            pieces[-1] += tuple(g for g in groups if slices[g] == group)
    return [run for run in pieces if run]


def _gap_around(empty: Sequence[bool], place: int) -> int:
    """The length of the run of empty groups around `place`; 0 if `place` is not empty, or if the run is at an end."""
    if not empty[place]:
        return 0
    first = last = place
    while first > 0 and empty[first - 1]:
        first -= 1
    while last < len(empty) - 1 and empty[last + 1]:
        last += 1
    return 0 if first == 0 or last == len(empty) - 1 else last - first + 1


def choose(boxes: Sequence[Box], keep: float, *, jointly: bool = False) -> Box:
    """The smallest box that keeps the fraction `keep` of the target at each cut, or in total if `jointly` is true."""
    slack = 1e-9
    return [box for box in boxes if box.kept >= keep ** (1 if jointly else len(box.left)) - slack][-1]


DIGITS = 3  # significant digits of a bound on a log scale
FINE = 1000  # a bound is rounded to this fraction of a range
RISE = 1.3  # relative density at a bound from which it may be widened
TENTHS = 10  # parts of a range that are compared for this
LEAST_STEP, LARGEST_STEP = 0.1, 0.5  # parts of a range by which it is widened

Bounds: TypeAlias = tuple[float | None, float | None]


def constant(value: Label, like: Domain) -> Categorical:
    return Categorical((value,), when=like.when)


def shrunk(domain: Domain, axis: Axis, grid: Grid, groups: Sequence[int]) -> Domain:
    """The domain restricted to the cells of `groups`."""
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
            low, high = _edges(axis, grid, groups)  # rounded outwards, but inside the domain
            low = max(domain.low, _round(low, domain, math.floor))
            return Float(low, min(domain.high, _round(high, domain, math.ceil)), domain.log, domain.when)


def _edges(axis: Axis, grid: Grid, groups: Sequence[int]) -> tuple[float, float]:
    first, last = axis.ends(groups)
    edges = np.asarray(grid.edges)
    return float(edges[first]), float(edges[last + 1])


def _whole(domain: Int, low: float, high: float) -> Domain:
    """The integers of a domain between two edges of cells, such as 2.5 and 6.5."""
    slack = 1e-9 * max(1.0, abs(low), abs(high))
    first = max(0, math.ceil((low - domain.low - slack) / domain.step))
    last = math.floor((min(high, domain.high) - domain.low + slack) / domain.step)
    if first >= last:
        return constant(domain.low + min(first, max(last, 0)) * domain.step, domain)
    bounds = domain.low + first * domain.step, domain.low + last * domain.step
    return Int(*bounds, domain.step, domain.log, domain.when)


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
    """A value that represents a group of cells: its middle, or a round number for a range of floats."""
    smaller = shrunk(domain, axis, grid, [group])
    match smaller:
        case Categorical(values) | Ordinal(values):
            return values[len(values) // 2]
        case Int(low, high, step, log):
            aim = math.sqrt(low * high) if log else (low + high) / 2
            return low + round((aim - low) / step) * step
        case Float(low, high, log):
            aim = math.sqrt(low) * math.sqrt(high) if log else low + (high - low) / 2
            nice = roundest(low, high)  # a value with few digits represents the group
            return nice if low <= nice <= high else aim


def piles_up(density: Reals, end: int) -> bool:
    """Whether most resampled estimates of the density are highest at the low end (`end` is 0) or high end (-1)."""
    inwards = density if end == 0 else density[::-1]
    wide = max(1, len(inwards) // TENTHS)
    tenths = np.stack([part.mean(axis=0) for part in np.array_split(inwards, len(inwards) // wide)])
    rising = tenths[0] >= tenths[1:3].mean(axis=0)
    pooled = tenths.mean(axis=1)
    return bool(pooled[0] >= RISE and np.argmax(pooled) == 0 and rising.mean() >= AGREED)


def crowd(density: Reals, prior: Reals, end: int) -> float:
    """The fraction of the good values in the lowest tenth (`end` is 0) or highest tenth (-1) of a range."""
    mass = density.mean(axis=1) * prior
    inwards = mass if end == 0 else mass[::-1]
    return float(inwards[: max(1, len(inwards) // TENTHS)].sum() / max(float(mass.sum()), 1e-300))


def beyond(domain: Float | Int, density: Reals, sides: tuple[bool, bool]) -> Bounds:
    """New bounds (low, high) of a wider range; `sides` says which of the two bounds to move."""
    mean = density.mean(axis=1)
    bounds: list[float | None] = []
    for low_side, wanted in zip((True, False), sides, strict=True):
        inwards = mean if low_side else mean[::-1]
        reach = int(np.argmax(inwards < inwards[0] / 2.0)) if (inwards < inwards[0] / 2.0).any() else len(mean)
        part = min(LARGEST_STEP, max(LEAST_STEP, reach / len(mean)))
        bounds.append(_moved(domain, part, low_side=low_side) if wanted else None)
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
