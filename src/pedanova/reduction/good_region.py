"""Find the part of the search space in which the best rows lie, from rows or from a fitted model.

Adaptive samplers soon try only good regions, so the densities of good and bad trials hardly differ. Therefore the good
trials of such a sampler are compared with the whole space. A repeated configuration counts once.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.base.lazy import LazyMapping
from pedanova.counting.contrasts import rows_in
from pedanova.counting.few_rows import lower_is_better
from pedanova.data.column import cells_of
from pedanova.data.observations import Observations
from pedanova.data.regions import LEAST_TARGET, Region, RowSet, sign_of
from pedanova.measures.chance.ranked_rows import arranged
from pedanova.measures.distributions import LEVEL, holm
from pedanova.measures.importance import Importances
from pedanova.measures.surrogate.estimate import ResolvedQuestion
from pedanova.measures.surrogate.posterior import PosteriorSamples, even_points
from pedanova.measures.surrogate.summaries import can_tell, sampled_shares
from pedanova.reduction.boxes import MOST_GROUPS, Axis, Box, Cloud, Groups, axis_of, choose, way_down
from pedanova.space.grid import Grid, Reals, grid_of
from pedanova.space.parameters import Categorical, Float, Int, Ordinal, Space, parents_of

BEST, LEAST = 4, 10  # the best quarter of the target's configurations decides, at least ten
WHOLE, LEAST_OF_WHOLE = 1, 20  # all configurations decide on parameters without a clear effect
LEAST_TRIED = 5  # the fewest rows tried at an end that is cut off, and deciding rows that have a value
LEAST_OF_CATEGORY = 10  # the fewest rows of a category that is cut
TRIED_OFTEN = 30  # rows at an end without other evidence: 0 good of 30 means at most 10 % (95 % sure)
SLICES = 100  # slices of a range, because these trials lie close together
GAPS = 2  # ranges are widened by this many mean gaps between the deciding rows
MOST_ROWS = 50_000  # in larger tables, repeated configurations are not searched
OPINIONS = 8  # random halves of the deciding rows
SPACE_POINTS = 4093  # points that show how often each parameter has a value; a prime
CellsByName: TypeAlias = Mapping[str, NDArray[Any]]
SHOWN = 5  # the kept part is reported for the best fifth of the target; a tenth has too few rows
GROUPS = 10  # groups of cells in which rows are compared with a uniform draw
UNEVEN = 0.5  # divergence from which rows count as not uniform
Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Search:
    """The rows and the target for which a smaller space is searched."""

    observed: Observations
    query: ResolvedQuestion
    target: Region | RowSet
    seed: int
    counted: NDArray[np.bool_]

    @cached_property
    def cells(self) -> CellsByName:
        """The cell of every row, as an array (rows,) for each parameter, in the smallest type that can hold it."""
        columns, space = self.observed.columns, self.observed.space

        def cells(name: str) -> NDArray[Any]:
            grid = grid_of(space[name])
            return cells_of(columns[name], grid).astype(np.min_scalar_type(grid.width))

        return LazyMapping(space, cells)

    def p_values_inside(self, target: Region, region: Region) -> Mapping[str, float] | None:
        """The p-value of each parameter for `target` within `region`, or None if too few rows are in the target."""
        model, direction = self.query.model, self.observed.direction
        if model is None:
            return None
        inner, outer = (model.ranks.range_of(one, direction) for one in (target, region))
        if model.ranks.size(inner) < LEAST_TARGET or inner == outer:
            return None
        return model.p_values(inner, outer, seed=self.seed)

    def is_even(self) -> bool:
        """Whether the parameters that vary are distributed as in a uniform draw from the space."""
        if self.query.model is not None:
            return not self.query.model.adaptive
        return all(
            unevenness(one.region, one.grid) <= UNEVEN
            for one in self.query.contrasts
            if np.count_nonzero(one.region) > 1
        )

    def reached(self) -> NDArray[np.bool_]:
        """Which rows are in the target, as an array (rows,)."""
        return rows_in(self.target, self.observed, self.counted)


def unevenness(counts: NDArray[np.int64], grid: Grid) -> float:
    """How far the rows are from a uniform draw: a chi-square divergence over groups of cells, corrected for chance."""
    groups = np.minimum((np.cumsum(grid.prior) - grid.prior / 2.0) * GROUPS, GROUPS - 1).astype(np.int64)
    inside = counts[: grid.cells]
    rows = max(1, int(inside.sum()))
    expected = np.bincount(groups, weights=grid.prior, minlength=GROUPS)
    met = np.bincount(groups, weights=inside, minlength=GROUPS) / rows
    mask = expected > 0
    chance = (int(mask.sum()) - 1) / rows
    return float(np.sum(met[mask] ** 2 / expected[mask])) - 1.0 - chance


def beyond_noise(names: Sequence[str], p_values: Sequence[float], space: Space) -> list[str]:
    """Parameters with p ≤ `LEVEL`, and their parents; an empty list if Holm's test finds no effect at all."""
    if not any(p <= LEVEL for p in holm(p_values)):
        return []
    clear = [name for name, p in zip(names, p_values, strict=True) if p <= LEVEL]
    for name in clear:  # the list grows, because parents that activate others are added
        clear += [parent for parent, _ in space[name].when if parent in space and parent not in clear]
    return clear


def best_part(observed: Observations, reached: NDArray[np.bool_]) -> NDArray[np.bool_]:
    rows = np.flatnonzero(reached)
    ranked = sign_of(observed.direction) * observed.ranked[rows].astype(np.float64)
    count = math.ceil(len(rows) / SHOWN)
    if count == 0:
        return reached
    limit = np.partition(ranked, count - 1)[count - 1]
    best = np.zeros(len(reached), dtype=bool)
    best[rows[ranked <= limit]] = True
    return best


def configurations(cells: CellsByName, rows: Rows) -> Rows:
    """A number for the configuration of each row, as an array (rows,); equal configurations have equal numbers."""
    if len(rows) > MOST_ROWS:
        return np.arange(len(rows))
    table = np.stack([column[rows] for column in cells.values()], axis=1)
    _, numbers = np.unique(table, axis=0, return_inverse=True)
    return numbers.reshape(-1).astype(np.int64)


def leading(
    observed: Observations,
    cells: CellsByName,
    rows: Rows,
    reached: NDArray[np.bool_],
    target: Region,
    among: tuple[int, int] = (BEST, LEAST),
) -> Rows:
    """The rows that decide the bounds: one row for each of the target's best configurations.

    Quantiles refer to distinct configurations, because a sampler may repeat the best configuration many times.
    """
    signed = lower_is_better(observed, rows)
    order = np.argsort(signed, kind="stable")
    _, first = np.unique(configurations(cells, rows)[order], return_index=True)
    once = order[np.sort(first)]  # sorted, best first
    if target.cuts(observed.direction)[0] is not None:  # the target does not contain the best rows
        return np.sort(rows[once[reached[rows[once]]]])
    part = float(target.high or 1) if target.kind == "quantile" else float(reached[rows[once]].mean())
    divisor, least = among
    count = min(len(once), max(least, math.ceil(part * len(once) / divisor)))
    limit = signed[once[count - 1]]
    return np.sort(rows[once[signed[once] <= limit]])


def cloud_of(
    observed: Observations, cells: CellsByName, axes: Mapping[str, Axis], deciding: Rows, rng: np.random.Generator
) -> Cloud:
    """Make a cloud of the given rows, with uniform points of the space for comparison."""
    places = {name: axis.place(cells[name][deciding]) for name, axis in axes.items()}
    arrangement = arranged(observed.space, cells, np.zeros(len(next(iter(cells.values()))), dtype=np.int64))
    points = arrangement.cells(even_points(arrangement, arrangement.places(cells), count=SPACE_POINTS))
    anywhere = {name: axis.place(points[name]) for name, axis in axes.items()}
    halves = (rng.random((len(deciding), OPINIONS)) < 0.5).astype(np.float64)
    mass = halves / np.maximum(halves.sum(axis=0), 1e-300)
    whole: Reals = np.full(len(deciding), 1.0 / len(deciding))
    parents = deciders_of(observed.space)
    return Cloud(axes, places, mass, unit=1.0 / len(deciding), anywhere=anywhere, whole=whole, parents=parents)


def deciders_of(space: Space) -> frozenset[str]:
    """The parameters on which the conditions or domains of other parameters depend."""
    return frozenset(parent for parameter in space.values() for parent in parents_of(parameter))


def having(cloud: Cloud, name: str) -> int:
    """The number of points in the cloud for which the parameter `name` has a value."""
    return int(np.sum(cloud.places[name] >= 0))


def trimmed(
    cloud: Cloud, names: Iterable[str], keep: float, tried: Mapping[str, Groups], least: int = LEAST_TRIED
) -> Box:
    """The box around the points of the cloud; a range is cut only if this removes enough trials (`least`)."""
    boxes = way_down(cloud, [name for name in names if having(cloud, name) >= LEAST_TRIED])
    return looked_at(roomier(choose(boxes, keep, jointly=True), cloud), cloud.axes, tried, least)


def roomier(box: Box, cloud: Cloud) -> Box:
    """Widen the ranges of a box by two mean gaps between points, because a new good row may lie just outside."""
    left = {}
    for name, groups in box.left.items():
        axis = cloud.axes[name]
        more = GAPS * len(groups) // max(1, having(cloud, name)) if axis.ordered else 0
        wide = range(max(0, groups[0] - more), min(axis.groups, groups[-1] + 1 + more)) if more else groups
        left[name] = tuple(wide)
    return cut_only(left, box.kept, cloud.axes)


def looked_at(box: Box, axes: Mapping[str, Axis], tried: Mapping[str, Groups], least: int = LEAST_TRIED) -> Box:
    """Restore values that hardly any trial had, because they may be good; a range grows up to the next tried value."""
    left = {}
    for name, groups in box.left.items():
        rows = np.bincount(tried[name][tried[name] >= 0], minlength=axes[name].groups)
        if axes[name].ordered:
            first = groups[0] if rows[: groups[0]].sum() >= least else 0
            last = groups[-1] if rows[groups[-1] + 1 :].sum() >= least else axes[name].groups - 1
            met = np.flatnonzero(rows)
            first = int(max(met[met < first], default=-1)) + 1
            last = int(min(met[met > last], default=axes[name].groups)) - 1
            left[name] = tuple(range(first, last + 1))
        else:
            left[name] = tuple(g for g in range(axes[name].groups) if g in groups or rows[g] < LEAST_OF_CATEGORY)
    return cut_only(left, box.kept, axes)


def cut_only(left: Mapping[str, tuple[int, ...]], kept: float, axes: Mapping[str, Axis]) -> Box:
    """Make a box; parameters that keep all their groups are left out."""
    return Box({name: groups for name, groups in left.items() if len(groups) < axes[name].groups}, kept)


FINEST = 10  # with a model, the best tenth of the target decides
ENOUGH_BEST = 50  # rows in the best fifth of the target from which rows without a model locate it
ROWS_A_GROUP, FEWEST_GROUPS = 4, 5  # groups of an ordered parameter without a model
MOST_POINTS = 50_000  # rows in which cuts are searched
SAME_SIZE = 1.05


@dataclass(frozen=True, slots=True, eq=False)
class GoodRegion:
    """The good region found from rows: the best fifth of the target, or the whole target if that fifth is too small."""

    search: Search
    cloud: Cloud  # its mass is the best part of the target
    plain: Reals  # (points,) the mass of the whole target
    influence: Mapping[str, float] = field(default_factory=dict)  # upper limits of each parameter's influence
    estimator: ClassVar[str] = "counts"
    even: ClassVar[bool] = True  # whether rows are compared with rows (or were drawn evenly)
    spread: ClassVar[str] = "good rows occur at all values"  # the reason why a clear parameter is not cut
    decides: ClassVar[str] = "the target's best rows"  # the rows for which the ranges are chosen

    @classmethod
    def of(cls, search: Search, rows: Rows) -> Self:
        observed, reached = search.observed, search.reached()
        looked_at = np.zeros_like(reached)
        looked_at[rows] = True
        best = best_part(observed, reached & looked_at)
        rng = np.random.default_rng([search.seed, 3])
        some = rows if len(rows) <= MOST_POINTS else np.sort(rng.choice(rows, MOST_POINTS, replace=False))
        wanted = (best if best[some].sum() >= ENOUGH_BEST else reached)[some].astype(np.float64)
        cells = LazyMapping(observed.space, lambda name: search.cells[name][some])
        most = max(FEWEST_GROUPS, min(MOST_GROUPS, int(reached.sum()) // ROWS_A_GROUP))
        axes, places = laid_out(observed, cells, most)
        mass = wanted[:, None] * (rng.random((len(some), OPINIONS)) < 0.5)
        total = np.maximum(mass.sum(axis=0), 1e-300)
        unit, parents = 1.0 / max(1.0, wanted.sum()), deciders_of(observed.space)
        cloud = Cloud(axes, places, mass / total, unit=unit, parents=parents)
        return cls(search, cloud, reached[some] / max(1, int(reached[some].sum())))

    def among(self, rows: Rows) -> GoodRegion:
        return GoodRegion.of(self.search, rows)

    def bounds(self, names: Sequence[str], keep: float) -> Box:
        """Cut the parameters in `names`; each cut keeps about the fraction `keep` of the good rows."""
        return choose(way_down(self.cloud, names), keep)

    def as_small(self, names: Sequence[str], keep: float, volume: float) -> Box:  # noqa: ARG002
        """The largest box with about the given volume or less; cross-validation compares boxes of similar size."""
        boxes = way_down(self.cloud, names)
        return next((box for box in boxes if box.volume(self.cloud) <= SAME_SIZE * volume), boxes[-1])

    def elsewhere(self, name: str, groups: Sequence[int]) -> str:  # noqa: ARG002  (where rows are even, all alike)
        """Say why the other values are cut off."""
        return "good rows are rare elsewhere"


@dataclass(frozen=True, slots=True, eq=False)
class ModelGoodRegion(GoodRegion):
    """The good region found with a model, from each point's probability of being in the best tenth of the target."""

    estimator = "surrogate"
    decides = "the target's best tenth (according to the model)"

    @classmethod
    def by(
        cls, search: Search, samples: PosteriorSamples, target: Region, influence: Mapping[str, float] | None = None
    ) -> Self:
        first, last = samples.ends(samples.ranks.range_of(target, search.observed.direction))
        best = math.ceil((last - first) / FINEST) if first == 0 else last - first
        cells = LazyMapping(samples.space, samples.cells)
        axes, places = laid_out(search.observed, cells)
        mass = chances(samples, first, first + best, OPINIONS)
        plain = chances(samples, first, last, 1)[:, 0]
        cloud = Cloud(axes, places, mass, wider=plain, parents=deciders_of(search.observed.space))
        return cls(search, cloud, plain, influence or {})

    def among(self, rows: Rows) -> GoodRegion:
        every, seed, target = self.search.query.model, self.search.seed, self.search.target
        if every is None or not isinstance(target, Region):
            return GoodRegion.among(self, rows)
        samples = every.part(np.isin(every.few.rows, rows), seed=seed).fitted(seed).samples  # a faster fit
        return GoodRegion.among(self, rows) if samples is None else ModelGoodRegion.by(self.search, samples, target)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TrialGoodRegion(GoodRegion):
    """The good region found from the best configurations of an adaptive sampler, relative to the whole space."""

    tried: Mapping[str, Groups]  # the groups of every row
    wider: Cloud  # the whole target
    even = False
    spread = "no part of the range can be cut off, because none has enough poor trials"
    decides = "the best configurations tried"

    @classmethod
    def by(cls, search: Search, rows: Rows, target: Region) -> Self:
        observed, cells, reached = search.observed, search.cells, search.reached()
        best = leading(observed, cells, rows, reached, target)
        whole = leading(observed, cells, rows, reached, target, (WHOLE, LEAST_OF_WHOLE))
        axes, tried = laid_out(observed, {name: column[rows] for name, column in cells.items()}, SLICES)
        rng = np.random.default_rng([search.seed, 5])
        cloud, wider = (cloud_of(observed, cells, axes, deciding, rng) for deciding in (best, whole))
        return cls(search, cloud, cloud.pooled, tried=tried, wider=wider)

    def among(self, rows: Rows) -> GoodRegion:
        if not isinstance(self.search.target, Region):
            raise TypeError("a target that lists single rows cannot be applied to other rows")
        return TrialGoodRegion.by(self.search, rows, self.search.target)

    def bounds(self, names: Sequence[str], keep: float) -> Box:
        """The box around the best configurations; `names` are the parameters with a clear effect.

        Ranges of other parameters are also cut: an adaptive sampler tries similar values, so tests may miss an effect.
        Such a range is cut to the range of the whole target, but only if many trials lie outside it.
        """
        axes = self.cloud.axes
        others = [name for name in axes if name not in names and axes[name].ordered] if names else []
        box = trimmed(self.cloud, names, keep, self.tried)
        return Box({**box.left, **trimmed(self.wider, others, keep, self.tried, TRIED_OFTEN).left}, box.kept)

    def as_small(self, names: Sequence[str], keep: float, volume: float) -> Box:  # noqa: ARG002
        return self.bounds(names, keep)

    def elsewhere(self, name: str, groups: Sequence[int]) -> str:
        places = self.tried[name]
        outside = int(np.sum((places >= 0) & ~np.isin(places, list(groups))))
        return f"{outside} of {len(places):,} trials had other values"


def good_region_of(search: Search, importances: Importances) -> GoodRegion:
    """Find the good region: from the best trials of an adaptive sampler, otherwise from all rows or a model."""
    rows, target = np.flatnonzero(search.counted), search.target
    if not isinstance(target, Region):
        return GoodRegion.of(search, rows)
    if not search.is_even():
        return TrialGoodRegion.by(search, rows, target)
    model = search.query.model if importances.estimator == "surrogate" else None
    fitted = None if model is None else model.fitted(search.seed)
    if fitted is None or fitted.samples is None:
        return GoodRegion.of(search, rows)
    return ModelGoodRegion.by(search, fitted.samples, target, influences(fitted.samples, fitted.influence))


def laid_out(
    observed: Observations, cells: CellsByName, most: int = MOST_GROUPS
) -> tuple[dict[str, Axis], Mapping[str, Groups]]:
    """Divide the cells of each parameter into groups (an `Axis`), and find the group of each row."""
    axes = {
        name: axis_of(grid_of(parameter), most)
        for name, parameter in observed.space.items()
        if isinstance(parameter, Float | Int | Ordinal | Categorical)
    }
    return axes, LazyMapping(axes, lambda name: axes[name].place(cells[name]))


def chances(samples: PosteriorSamples, first: int, last: int, opinions: int) -> Reals:
    """How often each point is ranked from `first` to `last - 1`, as an array (points, opinions). Each column sums to 1.
    The posterior samples are divided into as many parts as there are opinions, and each part gives one column."""
    mass = np.zeros((len(samples), opinions))
    for draw, order in enumerate(samples.order):
        mass[order[first:last], draw % opinions] += 1.0
    return np.asarray(mass / np.maximum(mass.sum(axis=0), 1e-300))


def influences(samples: PosteriorSamples, of_model: Mapping[str, float]) -> dict[str, float]:
    """Upper limits of each parameter's influence: the larger of the limits for the prediction and for the best half."""
    half = samples.ranks.range_of(Region.parse(0.5, "target"), "minimize", of_space=True)
    every = (0, len(samples.ranks))
    if not can_tell(samples, half, every):
        return {}
    shares = sampled_shares(samples, half, every)
    halves = dict(zip(shares.names, shares.uncorrected(adaptive=samples.adaptive).high.tolist(), strict=True))
    return {name: max(part, of_model.get(name, 1.0)) for name, part in halves.items()}
