"""Summaries of posterior samples, by counting points: shares, counts for interactions, and densities.

Shares are measured as in `importance.measure`, but without smoothing, because there are enough points.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from pedanova.counting.contrasts import Contrast
from pedanova.counting.pairs import Groups, Names, SetTally, width_of
from pedanova.data.column import Mask
from pedanova.measures.bins import Basis, expected_widths
from pedanova.measures.densities import Densities, smoothed
from pedanova.measures.share import ratio_of
from pedanova.measures.surrogate.posterior import CoarseGrid, Counts, PosteriorSamples, RankRange, StackedGrids
from pedanova.space.grid import Grid, Reals

# --- shares --------------------------------------------------------------------------------------------

WIDEN = 1.5  # factor for the deviation of the samples, because these ignore that the settings are uncertain
WIDEN_SETTLED = 2.7  # factor for the upper half after an adaptive sampler, which tries few bad values
LEAST_DEVIATION = 0.1  # the least deviation of the root of a share
NORMAL = 1.96
FINEST = 0.005  # the least deviation of a share
LEAST_POINTS = 20  # the fewest points of the target, and of the rest of the region, in each sample


@dataclass(frozen=True, slots=True, eq=False)
class SampledShares:
    """The shares of every parameter in the posterior samples, in the order of the space."""

    names: tuple[str, ...]
    each: Reals  # (draws, parameters) share in each sample, corrected for the number of points
    common: Reals  # (parameters,) the share of the target's mean density, which all samples have in common
    activity: Reals  # (parameters,) the part of the divergence due to being active, 0 to 1
    active_share: Reals  # (parameters,) the same as a share
    part: float  # the mean part of the region that is in the target
    inside: bool  # whether the region is not the whole space

    def uncorrected(self, *, adaptive: bool) -> EstimatedShares:
        """The shares estimated from the samples only; bounds are symmetric for the square root of the share.

        A share is computed from the mean density of all samples. The mean of the samples' shares would be too large,
        because random differences between samples would look like an effect.
        """
        middle, deviation = self.roots()
        below, above = (
            np.hypot(widen * NORMAL * deviation, LEAST_DEVIATION * middle)
            for widen in (WIDEN, WIDEN_SETTLED if adaptive else WIDEN)
        )
        low, high = np.maximum(middle - below, 0.0) ** 2 - FINEST, (middle + above) ** 2 + FINEST
        spread = self.each.std(axis=0, ddof=1) if len(self.each) > 1 else np.zeros_like(middle)
        return EstimatedShares(self.common, np.maximum(low, 0.0), high, np.maximum(spread, FINEST / NORMAL))

    def copied(self, sources: list[int]) -> SampledShares:
        """The same shares, where each copy gets the shares of its original."""
        columns = ("each", "common", "activity", "active_share")
        return replace(self, **{name: getattr(self, name)[..., sources] for name in columns})

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
    return shares.copied(samples.sources) if samples.copies else shares


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
    odds = (inside / (rows - inside))[:, None]
    none = np.where(of_value, regimes_square, 1.0)  # the square of a parameter without an effect
    cells = grids.by_parameter((regions > 0).astype(np.float64))
    regimes = grids.blocks_by_parameter((grids.by_block(region) > 0).astype(np.float64))
    freedom = cells - np.where(of_value, regimes, 1.0)
    if baseline == "region":
        chance = freedom / (rows - 1.0)[:, None]
        each = (odds * (square - none) - chance) / np.maximum(1.0 - chance, 1e-9)
    else:
        noise = grids.by_parameter(ratio_of(target, base))
        many = np.maximum(inside, 2)[:, None]
        each = odds * ((many * square - noise) / (many - 1.0) - none)
    divergence = np.maximum(square - 1.0, 1e-12)
    active = (regimes_square - 1.0).mean(axis=0)
    activity = np.clip(np.where(active > 1e-12, active, 0.0) / divergence.mean(axis=0), 0.0, 1.0)
    part = float(np.mean(inside / rows))
    # Targets that share points also share the effect of chance on their cells.
    excess = shared / float(inside.mean()) ** 2 - (1.0 / float(rows.mean()) if baseline == "region" else 0.0)
    mean_freedom = cells.mean(axis=0) - np.where(of_value, regimes.mean(axis=0), 1.0)
    common = common_share(grids, target, base, part, none.mean(axis=0) + mean_freedom * max(0.0, excess))
    whole = np.maximum((odds * (square - 1.0)).mean(axis=0), 0.0)
    return SampledShares(names, each, common, activity, whole * activity, part, inside=len(regions) > 1)


def common_share(grids: StackedGrids, target: Reals, base: Reals, part: float, none: Reals) -> Reals:
    """(parameters,) The share of the mean density; squares become products of two samples, so that noise cancels."""
    draws = len(target)
    if draws < 2:
        return np.zeros(len(grids.grids))
    products = (target.sum(axis=0) ** 2 - (target**2).sum(axis=0)) / (draws * (draws - 1))
    square = grids.by_parameter(ratio_of(products, base.mean(axis=0))[None, :])[0]
    share: Reals = part / (1.0 - part) * (square - none)
    return share


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
    return SetTally(groups, order, *tables.reshape(2, len(sets), *[width] * order))


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
        shape = grid.edges, max(blur_of(grid, coarse)), first, second, grid.parameter
        densities[contrast.name] = Densities(contrast.name, *parts, *shape, basis, words)
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
