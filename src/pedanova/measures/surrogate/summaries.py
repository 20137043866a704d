"""Summaries of posterior samples, by counting points: shares, counts for interactions, and densities.

Shares are measured as in `importance.measure`, but without smoothing, because there are enough points. Then the
residuals of the rows correct them. For a row with the value x of one parameter, let y be 1 if the row is in the target,
and 0 otherwise. The model predicts y in two ways: h(x) uses only x, and p uses all parameters (the prediction from all
other configurations). So y is a sum:

    y = h(x) + [p - h(x)] + [y - p].

If parameters are independent in the rows, the second term (dependence) does not vary with x. If the model is right, the
third term (misfit) does not vary with x. Both terms are expanded in orthonormal functions of x: first h itself, then
cosines of increasing frequency, in groups (octaves) in which the frequency doubles. The coefficient of h is shrunk; all
parameters together determine how much. The coefficients of an octave are used only if they are far beyond chance.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.counting.contrasts import Contrast
from pedanova.counting.few_rows import Indices
from pedanova.counting.pairs import Groups, Names, SetTally, width_of
from pedanova.data.column import Mask
from pedanova.measures.bins import Basis, expected_widths
from pedanova.measures.densities import Densities, smoothed
from pedanova.measures.distributions import NORMAL, normal_below, normal_quantile
from pedanova.measures.share import ratio_of, share_of
from pedanova.measures.smoothing import waves_of
from pedanova.measures.surrogate.posterior import Counts, PosteriorSamples, RankRange, StackedGrids
from pedanova.space.grid import Block, CoarseGrid, Grid, Reals

# --- shares --------------------------------------------------------------------------------------------

WIDEN = 1.5  # deviation of the model's error, in deviations of the samples, which ignore that settings are uncertain
SKEW = 1.3  # the upper half of an interval is so much wider, the lower half narrower: smooth models say too little
LEAST_DEVIATION = 0.1  # the least deviation of the root of a share
FINEST = 0.005  # the least deviation of a share
LEAST_POINTS = 20  # the fewest points of the target, and of the rest of the region, in each sample


@dataclass(frozen=True, slots=True, eq=False)
class SampledShares:
    """The shares of every parameter in the posterior samples, in the order of the space."""

    names: tuple[str, ...]
    each: Reals  # (draws, parameters) share in each sample, corrected for the number of points
    common: Reals  # (parameters,) the share of the target's mean density, which all samples have in common
    chance: Reals  # (parameters,) standard deviation of `common`, because there are only so many points
    activity: Reals  # (parameters,) the part of the divergence due to being active, 0 to 1
    active_share: Reals  # (parameters,) the same as a share
    part: float  # the mean part of the region that is in the target
    inside: bool  # whether the region is not the whole space

    def uncorrected(self) -> EstimatedShares:
        """The shares estimated from the samples only; bounds are computed for the square root of the share.

        A share is computed from the mean density of all samples. The mean of the samples' shares would be too large,
        because random differences between samples would look like an effect.
        """
        middle, deviation = self.roots()
        below, above = (
            np.hypot(widen * NORMAL * deviation, LEAST_DEVIATION * middle) for widen in (WIDEN / SKEW, WIDEN * SKEW)
        )
        low, high = np.maximum(middle - below, 0.0) ** 2 - FINEST, (middle + above) ** 2 + FINEST
        spread = self.each.std(axis=0, ddof=1) if len(self.each) > 1 else np.zeros_like(middle)
        return EstimatedShares(self.common, np.maximum(low, 0.0), high, np.maximum(spread, FINEST / NORMAL))

    def roots(self) -> tuple[Reals, Reals]:
        """Mean and standard deviation of the square roots of the samples' shares; both (parameters,)."""
        roots = np.sqrt(np.maximum(self.each, 0.0))
        middle: Reals = roots.mean(axis=0)
        deviation: Reals = roots.std(axis=0, ddof=1) if len(roots) > 1 else np.zeros_like(middle)
        return middle, deviation


class EstimatedShares(NamedTuple):
    """Shares with their 95 % bounds, all (parameters,), in the order of the space."""

    share: Reals
    low: Reals
    high: Reals
    deviation: Reals  # standard deviation of the share


def can_tell(samples: PosteriorSamples, target: RankRange, region: RankRange) -> bool:
    """Whether the target and the rest of the region have enough points to estimate shares."""
    first, last = samples.ends(target)
    begin, end = samples.ends(region)
    return LEAST_POINTS <= last - first <= end - begin - LEAST_POINTS


def sampled_shares(
    samples: PosteriorSamples,
    target: RankRange,
    region: RankRange,
    *,
    baseline: str = "region",
    children: Collection[str] = (),
) -> SampledShares:
    """The shares for one target and region.

    The share of a parameter in `children` leaves out the effect of being active or inactive.
    """
    grids = samples.grids
    of_value = np.array([name in children for name in samples.space])
    targets, regions = samples.count(target), samples.count(region)
    # The mean number of target points that two samples have in common.
    often = counts_by_point(samples, target)
    shared = float((often * (often - 1.0)).sum()) / max(1, samples.draws * (samples.draws - 1))
    shares = shares_of_counts(tuple(samples.space), grids, targets, regions, baseline, of_value, shared)
    if not samples.copies:
        return shares
    columns = ("each", "common", "chance", "activity", "active_share")  # a copy gets the shares of its original
    return replace(shares, **{name: getattr(shares, name)[..., samples.sources] for name in columns})


def shares_of_counts(
    names: tuple[str, ...],
    grids: StackedGrids,
    targets: Counts,
    regions: Counts,
    baseline: str,
    of_value: Mask,
    shared: float = 0.0,
) -> SampledShares:
    """Shares from counts of points (draws, cells); `regions` are (1, cells) if they are the same in all samples.

    `of_value` is True for parameters whose share leaves out the effect of being active or inactive. `shared` is the
    mean number of points that the targets of two samples have in common.
    """
    first = slice(int(grids.starts[0]), int(grids.starts[1]))  # every parameter has the same number of points
    inside, rows = targets[:, first].sum(axis=1), regions[:, first].sum(axis=1)
    target, region = targets / inside[:, None], regions / rows[:, None]
    base = region
    if baseline != "region":  # uniform in each domain; the domains are as frequent as in `region`
        sizes = np.diff(np.r_[grids.block_starts, grids.cells])
        base = np.repeat(grids.by_block(region), sizes, axis=1) * grids.prior
    square = grids.by_parameter(ratio_of(target**2, base))
    regimes_square = grids.blocks_by_parameter(ratio_of(grids.by_block(target) ** 2, grids.by_block(region)))
    many, every = inside[:, None], rows[:, None]
    odds = many / (every - many)
    none = np.where(of_value, regimes_square, 1.0)  # the square of a parameter without an effect
    cells = grids.by_parameter((regions > 0).astype(np.float64))
    regimes = grids.blocks_by_parameter((grids.by_block(region) > 0).astype(np.float64))
    freedom = cells - np.where(of_value, regimes, 1.0)
    if baseline == "region":
        each = share_of(square - none, freedom + 1.0, odds, many, every, baseline)
    else:
        noise = grids.by_parameter(ratio_of(target, base))
        each = share_of(square - 1.0, noise, odds, many, every, baseline) + odds * (1.0 - none)
    divergence = np.maximum(square - 1.0, 1e-12)
    active = (regimes_square - 1.0).mean(axis=0)
    activity = np.clip(np.where(active > 1e-12, active, 0.0) / divergence.mean(axis=0), 0.0, 1.0)
    part = float(np.mean(inside / rows))
    # Targets that share points also share the effect of chance on their cells.
    excess = shared / float(inside.mean()) ** 2 - (1.0 / float(rows.mean()) if baseline == "region" else 0.0)
    mean_freedom = cells.mean(axis=0) - np.where(of_value, regimes.mean(axis=0), 1.0)
    by_chance = mean_freedom * np.minimum(shared_chance(grids, target, base.mean(axis=0)), max(0.0, excess))
    common = common_share(grids, target, base, part, none.mean(axis=0) + by_chance)
    chance = part / (1.0 - part) * by_chance * np.sqrt(2.0 / np.maximum(mean_freedom, 1.0))
    whole = np.maximum((odds * (square - 1.0)).mean(axis=0), 0.0)
    return SampledShares(names, each, common, chance, activity, whole * activity, part, inside=len(regions) > 1)


def common_share(grids: StackedGrids, target: Reals, base: Reals, part: float, none: Reals) -> Reals:
    """(parameters,) The share of the mean density; squares become products of two samples, so that noise cancels."""
    draws = len(target)
    if draws < 2:
        return np.zeros(len(grids.grids))
    products = (target.sum(axis=0) ** 2 - (target**2).sum(axis=0)) / (draws * (draws - 1))
    square = grids.by_parameter(ratio_of(products, base.mean(axis=0))[None, :])[0]
    share: Reals = part / (1.0 - part) * (square - none)
    return share


def shared_chance(grids: StackedGrids, target: Reals, base: Reals) -> Reals:
    """(parameters,) How much chance adds to the square of each cell, from second differences of neighbouring cells.

    Points are spread more evenly than random ones, so chance often adds less than it would for random points. The
    result is infinite for parameters without three neighbouring cells.
    """
    draws, middle = len(target), grids.inner[np.flatnonzero(base[grids.inner] > 0)]
    middle = middle[(base[middle - 1] > 0) & (base[middle + 1] > 0)]
    if draws < 2 or not len(middle):
        return np.full(len(grids.grids), np.inf)
    ratio = ratio_of(target, base)
    bent = ratio[:, middle - 1] - 2.0 * ratio[:, middle] + ratio[:, middle + 1]
    products = (bent.sum(axis=0) ** 2 - (bent**2).sum(axis=0)) / (draws * (draws - 1))
    each = products / (1.0 / base[middle - 1] + 4.0 / base[middle] + 1.0 / base[middle + 1])
    owner = np.searchsorted(grids.starts, middle, side="right") - 1
    sums, counts = (np.bincount(owner, weights=one, minlength=len(grids.grids)) for one in (each, np.ones(len(each))))
    return np.where(counts > 0, np.maximum(sums, 0.0) / np.maximum(counts, 1), np.inf)


# --- pairs and larger sets -----------------------------------------------------------------------------


def model_sets(
    samples: PosteriorSamples, target: RankRange, region: RankRange, groups: Mapping[str, Groups], sets: Sequence[Names]
) -> SetTally:
    """For every set of parameters, the mean numbers of target points and of region points in each cell of `groups`."""
    width, order = width_of(groups), len(sets[0])
    cells = {name: group[samples.cells(name)].astype(np.int64) for name, group in groups.items()}
    parts = [counts_by_point(samples, span) / samples.draws for span in (target, region)]
    weights = [part.astype(np.float32).astype(np.float64) for part in parts]
    tables = np.zeros((2, len(sets), width**order))
    for place, names in enumerate(sets):
        flat = np.zeros(len(samples), dtype=np.int64)
        for name in names:
            flat = flat * width + cells[name]
        for table, weight in zip(tables, weights, strict=True):
            table[place] = np.bincount(flat, weights=weight, minlength=width**order)
    inside, mass = weights
    part = float(inside.sum() / mass.sum())
    grain = float((inside @ inside / mass.sum() - part**2) / (part * (1.0 - part)))
    targets, regions = tables.reshape(2, len(sets), *[width] * order)
    return SetTally(groups, order, targets, regions, min(1.0, grain))


def targets_of_pair(samples: PosteriorSamples, target: RankRange, groups: Mapping[str, Groups], pair: Names) -> Reals:
    """(draws, width, width) The number of target points of each sample in the cells of a pair."""
    width, (first, last) = width_of(groups), samples.ends(target)
    row, column = (groups[name][samples.cells(name)].astype(np.int64) for name in pair)
    flat = row * width + column
    tables = [np.bincount(flat[order[first:last]], minlength=width**2) for order in samples.order]
    return np.array(tables, dtype=np.float64).reshape(-1, width, width)


def counts_by_point(samples: PosteriorSamples, span: RankRange) -> Reals:
    """(points,) The number of samples in which each point lies in a range of ranks."""
    first, last = samples.ends(span)
    if last - first == len(samples):
        return np.full(len(samples), float(samples.draws))
    return np.bincount(samples.order[:, first:last].ravel(), minlength=len(samples)).astype(np.float64)


# --- densities -----------------------------------------------------------------------------------------

BLUR = 0.7  # width of the kernel that smooths steps into a curve, in counted cells


def model_densities(
    samples: PosteriorSamples,
    target: RankRange,
    region: RankRange,
    words: tuple[str, str],
    contrasts: Sequence[Contrast],
) -> dict[str, Densities]:
    """The densities of every parameter, averaged over all samples; `contrasts` contain counts of rows."""
    samples = replace(samples, counted=())  # in cells of equal width, as densities are drawn
    grids = samples.grids
    targets, regions = (samples.count(span).mean(axis=0) for span in (target, region))
    rows = samples.ranks.size(target), samples.ranks.size(region)
    index = {name: j for j, name in enumerate(samples.space)}
    densities = {}
    for contrast in contrasts:
        grid, j = contrast.grid, index[contrast.name]
        coarse, cells = grids.grids[j], slice(int(grids.starts[j]), int(grids.starts[j + 1]))
        good, base = (spread_out(grid, coarse, points[cells]) for points in (targets, regions))
        first, second = (float(points[cells][-1] / points[cells].sum()) for points in (targets, regions))
        with_value = rows[0] * (1.0 - first), rows[1] * (1.0 - second)
        widths = expected_widths(base, with_value[0], grid.blocks)
        basis = Basis(contrast.target[: grid.cells], contrast.region[: grid.cells], with_value, widths, modelled=True)
        parts = good, base, grid.prior / max(float(grid.prior.sum()), 1e-300)
        densities[contrast.name] = Densities(
            contrast.name, *parts, grid.edges, max(blur_of(grid, coarse)), first, second, grid.parameter, basis, words
        )
    return densities


def spread_out(grid: Grid, coarse: CoarseGrid, counts: Reals) -> Reals:
    """(cells,) The fraction of the points in each cell; merged cells are divided in proportion to the prior."""
    here = coarse.table[: grid.cells]
    mass = np.bincount(here, weights=grid.prior, minlength=coarse.cells)
    parts = counts[here] * grid.prior / np.maximum(mass[here], 1e-300)
    parts = parts / max(float(parts.sum()), 1e-300)
    return smoothed(parts, grid, blur_of(grid, coarse))


def blur_of(grid: Grid, coarse: CoarseGrid) -> list[float]:
    """For each block, the width (in cells) of the kernel that smooths its merged cells; 0 if none are merged."""
    widths = []
    for block, merged in zip(grid.blocks, coarse.blocks, strict=False):
        together = len(block) / len(merged)
        widths.append(BLUR * together if block.smoothable and together > 1 else 0.0)
    return widths


# --- residuals of the rows -----------------------------------------------------------------------------

RELATIVE_ERRORS = np.array([0.02, 0.05, 0.1, 0.2, 0.4, 0.8])  # of the root of a model's share, all equally likely
DISAGREEMENT = 6.0  # how strongly disagreement of samples lowers a share if there are interactions
PRIOR_PARAMETERS = 3.0  # parameters whose residuals say as much about the model's error as `WIDEN` does
AGREED = 2.0  # deviations by which an octave may exceed its energy in the rows without a model
BEYOND = 5.0  # deviations of chance beyond which an octave of waves counts
NOISE_PARTS = (0.25, 0.75)  # parts of the model's noise, some of which may be structure
STEPS = 6  # steps of the search for a threshold
LEAST_PART = 1e-6  # the smallest part of the rows for which a threshold is searched


@dataclass(frozen=True, slots=True, eq=False)
class LeaveOneOut:
    """The mean and variance of every row's score, as predicted from the other configurations."""

    rows: Indices  # (rows,) rows of the table, ascending
    owner: Indices  # (rows,) configuration of each
    mean: Reals  # (rows,)
    variance: Reals  # (rows,) without noise
    noise: float  # the variance of the model's noise

    def take(self, rows: Indices) -> LeaveOneOut:
        """The predictions for the table's rows with indices `rows`, in this order."""
        places = np.searchsorted(self.rows, rows)
        return LeaveOneOut(rows, self.owner[places], self.mean[places], self.variance[places], self.noise)

    def chances(self, part: float) -> Reals:
        """(rows,) The predicted probability that each row is in the best fraction `part` of all rows."""
        if part <= 0.0 or part >= 1.0:
            return np.full(len(self.mean), float(part >= 1.0))
        deviations = np.sqrt(self.variance + np.array(NOISE_PARTS)[:, None] * self.noise)
        chances: Reals = self._below(self._thresholds(part, deviations), deviations).mean(axis=0)
        return chances

    def _below(self, thresholds: Reals, deviations: Reals) -> Reals:
        return normal_below((thresholds[:, None] - self.mean) / deviations)

    def _thresholds(self, part: float, deviations: Reals) -> Reals:
        """For each line of `deviations`, the score threshold of the best fraction `part` of the rows.

        On the scale of normal quantiles, this fraction is nearly linear in the score, so a few steps are enough.
        """
        spread = np.hypot(float(self.mean.std()), deviations.mean(axis=1))
        wanted = normal_quantile(part)
        thresholds: Reals = float(self.mean.mean()) + spread * wanted
        for _ in range(STEPS):
            reached = np.clip(self._below(thresholds, deviations).mean(axis=1), LEAST_PART, 1.0 - LEAST_PART)
            thresholds = thresholds + spread * (wanted - normal_quantile(reached))
        return thresholds


@dataclass(frozen=True, slots=True, eq=False)
class CellSums:
    """Sums over the rows of a region, by cell; each array has one sum for every cell of every parameter.

    Variances are sums over configurations, because rows of one configuration are not independent.
    """

    rows: int
    part: float  # the part of the rows that are in the target
    counts: Reals  # (cells,) rows
    chance: Reals  # (cells,) Σ p
    misfit: Reals  # (cells,) Σ (y - p)
    misfit_square: Reals  # (cells,) sum of squares of each configuration's Σ (y - p)
    misfit_expected: Reals  # (cells,) the largest expected value of `misfit_square` if the model is right
    squares: Reals  # (3, cells) Σ n², Σ n² p and Σ n² p² over configurations of n rows

    def cut(self, cells: NDArray[np.int64]) -> CellSums:
        """The sums in some cells; `cells` is an array of cell indices, of any shape."""
        return CellSums(self.rows, self.part, *(getattr(self, name)[..., cells] for name in self.__slots__[2:]))


def cell_sums(predicted: LeaveOneOut, flat: NDArray[Any], target: Mask, region: Mask, cells: int) -> CellSums:
    """Compute the sums by cell; `target` and `region` are masks of rows, and `flat` contains the cells of each row."""
    ends = [float(np.flatnonzero(mask)[place] + add) for mask in (target, region) for place, add in ((0, 0), (-1, 1))]
    first, last, begin, end = (predicted.chances(one / len(target)) for one in ends)
    inside = target[region].astype(np.float64)
    part = float(inside.mean())
    p = np.clip((last - first)[region] / np.maximum((end - begin)[region], 1e-9), 0.0, 1.0)
    p = np.minimum(p * (part / max(float(p.mean()), 1e-9)), 1.0)
    _, one_row, owner, sizes = np.unique(
        predicted.owner[region], return_index=True, return_inverse=True, return_counts=True
    )
    own, misfit, places = p[one_row], np.bincount(owner, weights=inside - p), flat[region][one_row]

    def summed(weights: NDArray[Any]) -> Reals:
        return by_cell(places, weights, cells)

    squares = sizes.astype(np.float64) ** 2
    return CellSums(
        rows=len(inside),
        part=part,
        counts=summed(sizes.astype(np.float64)),
        chance=summed(sizes * own),
        misfit=summed(misfit),
        misfit_square=summed(misfit**2),
        misfit_expected=summed(squares * own * (1.0 - own)),
        squares=np.stack([summed(squares), summed(squares * own), summed(squares * own**2)]),
    )


def by_cell(places: NDArray[Any], weights: NDArray[Any], cells: int) -> Reals:
    """(cells,) The sum of the weights of the rows in each cell; `places` (rows, parameters) has the rows' cells."""
    each = np.repeat(weights, places.shape[1])
    return np.bincount(places.ravel(), weights=each, minlength=cells).astype(np.float64)


@dataclass(frozen=True, slots=True)
class Expansion:
    """Coefficients of waves that describe how a residual varies with a parameter, in units of the target's variance."""

    along: float  # the projection on the direction of the model's curve
    variance: float  # the variance of `along`, from the residuals
    expected: float  # the variance of `along` if the model is right
    energy: Reals  # (octaves,) unbiased energy of the waves of each octave
    deviation: Reals  # (octaves,) the deviation of `energy` by chance
    above_expected: Reals  # (octaves,) the energy beyond that of a correct model
    expected_deviation: Reals  # the deviation of `above_expected` by chance


# The expansions of the misfit, of the effect of dependent columns, and of their sum
Residuals: TypeAlias = tuple[Expansion, Expansion, Expansion]


def curve_of(
    samples: PosteriorSamples, target: RankRange, region: RankRange, numbers: NDArray[Any]
) -> tuple[Reals, Reals]:
    """The numbers of points in each cell, averaged over samples: for the target and for the region, both (cells,).

    `numbers` (cells,) contains the position of every cell in the canonical order.
    """
    inside, mass = np.empty(len(numbers)), np.empty(len(numbers))
    for each, span in ((inside, target), (mass, region)):
        each[numbers] = samples.count(span).mean(axis=0)
    return inside, mass


def with_residuals(
    samples: PosteriorSamples,
    points: tuple[Reals, Reals],
    shares: SampledShares,
    sums: CellSums,
    children: Collection[str],
) -> EstimatedShares:
    """The model's shares, corrected by the residuals of the rows; `points` is the result of `curve_of`."""
    inside, mass = points
    grids, curve = samples.grids, np.where(mass > 0, inside / np.maximum(mass, 1e-12), sums.part)
    deviation = shares.roots()[1]
    root = np.sqrt(np.maximum(shares.common, 0.0))
    alike: dict[tuple[tuple[Block, ...], bool], list[int]] = {}  # parameters with the same blocks are expanded together
    for j, (name, grid) in enumerate(zip(samples.space, grids.grids, strict=True)):
        alike.setdefault((grid.blocks, name in children), []).append(j)
    pairs: list[Residuals | None] = [None] * len(grids.grids)
    for (blocks, child), some in alike.items():
        cells = grids.starts[some][:, None] + np.arange(blocks[-1].stop)
        each = expansions(curve[cells], mass[cells], blocks, sums.cut(cells), child=child)
        for j, pair in zip(some, each, strict=True):
            pairs[j] = pair
    together = 0.0 if shares.inside else max(0.0, 1.0 - math.fsum(samples.alone))  # interactions over the whole space
    result = combined(root, deviation, together, shares.chance, pairs)
    if shares.inside:  # the process of a small region is rough
        above = np.hypot(result.high - result.share, [_hidden(pair) for pair in pairs])
        result = result._replace(high=np.minimum(result.share + above, 1.0))
    return EstimatedShares(*(column[samples.sources] for column in result))


def combined(
    root: Reals, deviation: Reals, together: float, chance: Reals, pairs: Sequence[Residuals | None]
) -> EstimatedShares:
    """Correct the shares of all parameters at once, because all corrections together show how reliable the model is.

    root, deviation
        (parameters,) Square roots of the model's shares, and the standard deviations of these roots.
    together
        The fraction of the objective's variance that is due to interactions. If this fraction is large, shares that
        differ between samples are lowered, because interactions probably cause the differences.
    chance
        (parameters,) The standard deviation of the shares because the points are finitely many.
    pairs
        For each parameter, the expansions of its residuals; None for a parameter with a single cell.
    """
    along, noise, turned, turned_variance = np.array([_along(pair) for pair in pairs]).reshape(-1, 4).T
    (weight, doubt), error = correction_weights(root, along, noise), error_variance(deviation, along, noise)
    own = root**2 / np.sqrt(np.maximum(root**2 + DISAGREEMENT * together**2 * deviation**2, 1e-24))
    middle = own + weight * along
    # The rows replace a part of the model's error.
    variance = (1.0 - weight) ** 2 * error + weight**2 * noise + doubt * along**2
    turns = turned**2 > BEYOND**2 * turned_variance  # dependent columns may reverse a curve
    middle = np.abs(np.where(turns, middle + turned, np.maximum(middle, 0.0)))
    variance, uncorrected = (one + np.where(turns, turned_variance, 0.0) for one in (variance, error))
    extra, extra_variance = np.array([_beyond_chance(pair) for pair in pairs]).reshape(-1, 2).T
    off, whole = NORMAL * np.sqrt(variance), middle**2 + extra
    further = extra_variance + chance**2
    below = np.hypot(middle**2 - np.maximum(middle - off / SKEW, 0.0) ** 2, NORMAL * np.sqrt(further))
    above = np.hypot((middle + off * SKEW) ** 2 - middle**2, NORMAL * np.sqrt(further))
    spread = np.sqrt(4.0 * middle**2 * uncorrected + 2.0 * uncorrected**2 + further)
    return EstimatedShares(
        share=whole - weight**2 * noise,
        low=np.maximum(whole - below - FINEST, 0.0),
        high=np.minimum(whole + above + FINEST, 1.0),
        deviation=np.maximum(spread, FINEST / NORMAL),
    )


def correction_weights(root: Reals, along: Reals, noise: Reals) -> tuple[Reals, Reals]:
    """The weight of each parameter's correction, and the variance of this weight; both (parameters,).

    The square roots of all shares are assumed to have the same relative error. The corrections show how likely each
    error in `RELATIVE_ERRORS` is; the result is the mean over these errors.
    """
    prior = (RELATIVE_ERRORS[:, None] * root) ** 2
    total = prior + noise
    each = np.where(root > 0.0, np.log(total / noise) + along**2 / total - along**2 / noise, 0.0)
    log_likelihood = -0.5 * np.array([math.fsum(line) for line in each.tolist()])  # exact sums in any order
    chances = np.exp(log_likelihood - log_likelihood.max())
    chances = chances[:, None] / chances.sum()
    weights: Reals = prior / total
    mean, square = ((chances * one).sum(axis=0) for one in (weights, weights**2))  # the same in any order of parameters
    return mean, np.maximum(square - mean**2, 0.0)


def error_variance(deviation: Reals, along: Reals, noise: Reals) -> Reals:
    """(parameters,) The variance of the error of the root of each share by the model.

    It is the variance of the samples times one factor for the whole table: the squared residuals show how much larger
    the errors are than the samples say. Each residual counts as much as its noise allows, `WIDEN` as several of them.
    """
    own = deviation**2 + FINEST**2
    seen = (own / (own + noise)) ** 2
    factors = seen * (along**2 - noise) / own
    factor = (PRIOR_PARAMETERS * WIDEN**2 + math.fsum(factors)) / (PRIOR_PARAMETERS + math.fsum(seen))
    return own * max(1.0, factor)


def _along(pair: Residuals | None) -> tuple[float, float, float, float]:
    """The coefficient of h and its variance: first in the misfit, then in the dependence."""
    if pair is None:
        return 0.0, 1e12, 0.0, 1e-12  # says nothing
    misfit, columns, _ = pair
    return misfit.along, max(misfit.variance, misfit.expected) + 1e-12, columns.along, columns.variance + 1e-12


def _beyond_chance(pair: Residuals | None) -> tuple[float, float]:
    """The sum of squared coefficients that chance cannot explain, and the variance of this sum.

    The effect of chance is estimated from the variance of the residuals. An octave of the misfit must also be larger
    than expected if the model is correct. If one is, the model misses fine structure, which no octave shows alone: then
    all octaves of the misfit count. For an octave of the dependence, the threshold is twice as high. If misfit and
    dependence cancel in an octave, the octave adds little.
    """
    if pair is None:
        return 0.0, 0.0
    misfit, columns, whole = pair
    sure = (misfit.energy > BEYOND * misfit.deviation) & (misfit.above_expected > BEYOND * misfit.expected_deviation)
    missed = np.full(len(sure), sure.any())
    clear = columns.energy > 2.0 * BEYOND * columns.deviation
    if not (sure.any() or clear.any()):
        return 0.0, 0.0
    energy = np.r_[np.minimum(misfit.energy, misfit.above_expected)[missed], columns.energy[clear]]
    most = np.maximum(whole.energy + AGREED * whole.deviation, 0.0)
    energy = np.minimum(energy, np.r_[most[missed], most[clear]])
    deviation = np.r_[misfit.deviation[missed], columns.deviation[clear]]
    variance = deviation**2 + 4.0 * np.maximum(energy, 0.0) * deviation
    return max(0.0, float(energy.sum())), float(variance.sum())


def _hidden(pair: Residuals | None) -> float:
    """An upper limit for the energy of the misfit that is not part of the share, because chance may explain it."""
    if pair is None:
        return 0.0
    misfit = pair[0]
    most = np.cumsum(misfit.energy) + NORMAL * np.sqrt(np.cumsum(misfit.deviation**2))
    return max(0.0, float(most.max()) - _beyond_chance(pair)[0])


def expansions(
    curve: Reals, mass: Reals, blocks: tuple[Block, ...], sums: CellSums, *, child: bool
) -> list[Residuals | None]:
    """The expansions of misfit, dependence and their sum, for parameters with the same blocks; None for a single cell.

    All arrays are (parameters, cells).
    """
    mass = mass / mass.sum(axis=1, keepdims=True)
    centre = (mass * curve).sum(axis=1, keepdims=True)
    apart = sums.part + curve - centre  # the probability of a row if the columns were independent
    together = sums.chance - sums.counts * apart
    together_square = sums.squares[2] - 2.0 * apart * sums.squares[1] + sums.squares[0] * apart**2
    both = [(sums.misfit, sums.misfit_square), (together, np.maximum(together_square, 0.0))]
    own = curve - centre
    if child:  # only the effect of the value, inside each regime
        own = _inside_regimes(curve, mass, blocks)
        both = [_without_means(*one, sums.counts, blocks) for one in both]
    both.append((both[0][0] + both[1][0], sums.squares[0] * np.clip(apart * (1.0 - apart), 0.0, 0.25)))
    residuals, squares = (np.stack(one, axis=1) for one in zip(*both, strict=True))
    waves = [waves_of(one, blocks, child=child) for one in mass]
    alike: dict[tuple[int, ...], list[int]] = {}  # by their octaves
    for j in np.flatnonzero(np.count_nonzero(sums.counts, axis=1) > 1).tolist():
        octaves = tuple(some.stop - some.start for _, slices in waves[j] for some in slices)
        if octaves:
            alike.setdefault(octaves, []).append(j)
    result: list[Residuals | None] = [None] * len(mass)
    scale = sums.rows**2 * sums.part * (1.0 - sums.part)
    for octaves, some in alike.items():
        functions = np.stack([np.concatenate([one for one, _ in waves[j]], axis=1) for j in some])
        each = (mass * own)[some], residuals[some], squares[some], sums.misfit_expected[some]
        for j, pair in zip(some, _expanded(functions, octaves, *each, scale), strict=True):
            result[j] = pair
    return result


def _expanded(
    functions: Reals,
    octaves: Sequence[int],
    own: Reals,
    residuals: Reals,
    squares: Reals,
    expected: Reals,
    scale: float,
) -> list[Residuals]:
    """The expansions of parameters with the same octaves; `functions` are the waves (parameters, cells, waves)."""
    coefficients = np.matmul(own[:, None], functions)
    norm = np.sqrt((coefficients**2).sum(axis=2, keepdims=True))
    unit = np.where(norm > 1e-9, coefficients / np.maximum(norm, 1e-9), 0.0)  # (parameters, 1, functions)
    direction = np.matmul(functions, unit.swapaxes(1, 2))  # (parameters, cells, 1)
    rest = functions - direction * unit
    squared = rest**2
    energies = np.matmul(residuals, rest) ** 2 / scale
    chance, right = np.matmul(squares, squared) / scale, np.matmul(expected[:, None], squared) / scale
    starts = np.cumsum([0, *octaves[:-1]])
    total, by_chance, spread, mean = (
        np.add.reduceat(one, starts, axis=2) for one in (energies, chance, chance**2, right)
    )
    columns = (
        np.matmul(residuals, direction)[..., 0] / math.sqrt(scale),
        np.matmul(squares, direction**2)[..., 0] / scale,
        np.broadcast_to(np.matmul(expected[:, None], direction**2)[..., 0] / scale, residuals.shape[:2]),
        total - by_chance,
        np.sqrt(2.0 * spread),
        total - mean,
        np.broadcast_to(mean * np.sqrt(2.0 / np.array(octaves)), total.shape),
    )
    return [tuple(Expansion(*one) for one in zip(*each, strict=True)) for each in zip(*columns, strict=True)]  # type: ignore[misc]


def _inside_regimes(curve: Reals, mass: Reals, blocks: Sequence[Block]) -> Reals:
    """(parameters, cells) `curve` minus its mean over each domain (block) of the parameter."""
    own = np.zeros(curve.shape)
    for block in blocks:
        whole = mass[:, block.cells].sum(axis=1, keepdims=True)
        mean = (mass * curve)[:, block.cells].sum(axis=1, keepdims=True) / np.where(whole > 0, whole, 1.0)
        own[:, block.cells] = np.where(whole > 0, curve[:, block.cells] - mean, 0.0)
    return own


def _without_means(residual: Reals, square: Reals, counts: Reals, blocks: Sequence[Block]) -> tuple[Reals, Reals]:
    """Subtract the mean of each domain from residuals; `residual` and `square` are sums by cell (parameters, cells)."""
    residual, square = residual.copy(), square.copy()
    for block in blocks:
        cells = slice(None), block.cells
        rows = counts[cells].sum(axis=1, keepdims=True)
        mean = residual[cells].sum(axis=1, keepdims=True) / np.where(rows > 0, rows, np.inf)
        square[cells] += counts[cells] * mean**2 - 2.0 * mean * residual[cells]
        residual[cells] -= counts[cells] * mean
    return residual, np.maximum(square, 0.0)
