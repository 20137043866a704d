"""Densities: one or two parameters in the target and in the region, and the numbers for their figures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pedanova.base.digits import percent, short, times
from pedanova.base.table import Cell, Printed, Table, finite
from pedanova.base.terminal import TableColumn
from pedanova.counting.contrasts import Contrast
from pedanova.counting.pairs import Groups, SetTally
from pedanova.measures.bins import Basis, Bins, Good, Panel, bins_of, chance_band, likely, panels_of, rough
from pedanova.measures.question import Baseline
from pedanova.measures.smoothing import Smoothing, smooth, width_in
from pedanova.space.grid import Block, Grid, Reals, grid_of
from pedanova.space.parameters import Int, Parameter, Switch, scale_of
from pedanova.space.values import Label

MOST_WORDS = 4  # the number of ranges of good values in a sentence


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Densities(Table):
    """The distribution of one parameter in the target, in the region and in the space.

    Attributes
    ----------
    name
        The parameter.
    cells
        The label of each cell: its value, or the middle of its range.
    target, region, uniform
        The fraction of the rows in each cell, for the target, the region and a uniform draw from the space. The sum of
        each array is 1; rows without a value are left out.
    edges
        The edges of the cells, in units of the parameter; None if each cell is a single value.
    bandwidth
        Width of the smoothing kernel in cells.
    missing_target, missing_region
        The fraction of rows without a value or with a value outside the space: among target rows, and among region
        rows.
    parameter
        The domain that is divided into the cells, such as a `Float`.
    basis
        The row counts that the densities were computed from.
    words
        The target and the region in words.
    tried
        The numbers of trials that succeeded and that failed in each cell, (cells, 2); None if hardly any trial failed.

    Examples
    --------
    >>> import pedanova as pa
    >>> d = pa.analyze(pa.demo_trials(), "error").densities("solver", estimator="counts")
    >>> d.cells, d.target.round(2).tolist()
    (('adam', 'sgd'), [0.56, 0.44])
    """

    internal = Table.internal | {"basis", "panels", "tried"}
    name: str
    target: Reals
    region: Reals
    uniform: Reals
    edges: Reals | None  # (cells + 1,) for ranges, in units of the parameter
    bandwidth: float
    missing_target: float
    missing_region: float
    parameter: Parameter  # the parameter that the cells belong to
    basis: Basis  # the rows that the densities were computed from
    words: tuple[str, str] = ("target", "region")  # the target and the region in words
    tried: NDArray[np.int64] | None = None

    @property
    def cells(self) -> tuple[Label, ...]:
        """The label of each cell: its value, or the middle of its range."""
        return tuple(grid_of(self.parameter).centres())

    def drawn(self, points: int = 60, *, baseline: Baseline = "region", like: Drawing | None = None) -> Drawing:
        """What a figure shows: a bar for each category or value, or steps if a range has more than 40 values.

        There are at most `points` steps. If another drawing is given as `like`, its bins are used again.
        """
        bins = bins_of(self.parameter, self.basis.region, points) if like is None else like.bins
        return drawing_of(self, bins, baseline)

    def drawings(self, points: int = 60) -> list[Drawing]:
        """One drawing for each domain of the parameter; the fractions of each drawing sum to 1."""
        if not isinstance(self.parameter, Switch):
            return [self.drawn(points)]
        return [self._domain(number).drawn(points) for number in range(len(self.parameter.regimes))]

    def _domain(self, number: int) -> Densities:
        parameter, block = self.parameter, grid_of(self.parameter).blocks[number]
        domain = parameter.regimes[number] if isinstance(parameter, Switch) else parameter
        cells, grid = block.cells, grid_of(domain)
        target, region, uniform = (
            parts[cells] / max(float(parts[cells].sum()), 1e-300) for parts in (self.target, self.region, self.uniform)
        )
        whole = replace(self, parameter=domain, edges=grid.edges, basis=self.basis.within(cells, number))
        return replace(whole, target=target, region=region, uniform=uniform)

    def panels(self, baseline: Baseline = "region") -> list[Panel]:
        """One panel for each domain; if the rows have few distinct values, the panel has one cell for each value."""
        base = self.region if baseline == "region" else self.uniform
        panels = panels_of(self.name, self.parameter, self.cells, self.target, base)
        domains = self.parameter.regimes if isinstance(self.parameter, Switch) else (self.parameter,)
        blocks = grid_of(self.parameter).blocks
        panels = [replace(panel, rows=self.basis.region) for panel in panels]
        return [self._by_value(*one, baseline) for one in zip(panels, domains, blocks, strict=True)]

    def _by_value(self, panel: Panel, domain: Parameter, block: Block, baseline: Baseline) -> Panel:
        bins = bins_of(domain, self.basis.region[block.cells])
        if bins.values is None or len(bins) == len(panel.cells):
            return panel
        if not bins.apart:
            return panel.gathered(bins, bins.gather(panel.target), bins.gather(panel.region))
        basis = self.basis.within(block.cells, 0)
        target, region = lattice_parts(basis, bins, panel.target, self.region[block.cells])
        base = region if baseline == "region" else np.full(len(bins), 1.0 / len(bins))
        return panel.gathered(bins, target * panel.target.sum(), base * panel.region.sum())

    def good(self, baseline: Baseline = "region") -> list[Good]:
        """Good values: groups of cells that are clearly more frequent in the target than in the baseline.

        Each group contains a fraction of the target and a fraction of the baseline. The fraction of the target is at
        least 5 percentage points larger than the fraction of the baseline, and the target leaves the band of chance
        that figures show. A group that no row of the region lies in is left out, even if a model predicts that its
        values are good. Categories at which most trials failed are left out, and so are the ends of a range.

        Parameters
        ----------
        baseline
            ``"region"``, or ``"uniform"`` for a uniform draw from the space.

        Returns
        -------
        list of Good
            One item for each group of neighbouring cells: its values in words, and the two fractions.
        """
        bins = bins_of(self.parameter, self.basis.region)
        parts = parts_in(self, bins, baseline)
        return good_in(self, bins, parts.target > parts.high, baseline)

    def failed_in(self, good: Good) -> float:
        """The part of the trials at good values that failed.

        Parameters
        ----------
        good
            One of the groups of `good`.

        Returns
        -------
        float
            The part, or 0 if hardly any trial failed.
        """
        tried = np.zeros(2) if self.tried is None else self.tried[good.start : good.stop].sum(axis=0)
        return float(tried[1] / max(1, tried.sum()))

    def printed(self) -> Printed:
        """A table of at most a dozen lines; neighbouring cells of a long range are merged."""
        labels, targets, regions = zip(*shown_parts(self.panels()), strict=True)
        top = max(*targets, *regions) or 1.0
        lengths, marks = ([part / top for part in parts] for parts in (targets, regions))
        lifts = [times(t / r) if r > 0 else "" for t, r in zip(targets, regions, strict=True)]
        return [
            TableColumn(self.name, labels),
            TableColumn(self.words[0], [percent(part) for part in targets], parts=lengths, marks=marks),
            TableColumn(self.words[1], [percent(part) for part in regions]),
            TableColumn("lift", lifts),
        ]

    def heading(self) -> str:
        return f"{self.name}: values in {self.words[0]}, compared with {self.words[1]}"

    @property
    def notes(self) -> list[str]:
        """A note on rows without a value, if there are any."""
        if not self.missing_region and not self.missing_target:
            return []
        target, region = percent(1 - self.missing_target), percent(1 - self.missing_region)
        return [f"the parameter is active in {target} of {self.words[0]} and in {region} of {self.words[1]}"]

    def to_dict(self) -> dict[str, list[Cell]]:
        return {
            "cell": list(self.cells),
            "target": self.target.tolist(),
            "region": self.region.tolist(),
            "uniform": self.uniform.tolist(),
        }

    def __len__(self) -> int:
        return len(self.target)


def shown_parts(panels: Sequence[Panel]) -> list[tuple[str, float, float]]:
    """(label, target fraction, region fraction) of each cell; a curve is divided into at most a dozen cells."""
    rows = []
    for panel in panels:
        behind = f" ({panel.domain})" if panel.domain else ""
        step = -(-len(panel.cells) // 12) if panel.is_curve else 1
        for start in range(0, len(panel.cells), step):
            group = slice(start, start + step)
            parts = float(panel.target[group].sum()), float(panel.region[group].sum())
            rows.append((panel.span_of(group) + behind, *parts))
    return rows


def densities_of(
    contrast: Contrast, *, smoothing: Smoothing, words: tuple[str, str] = ("target", "region")
) -> Densities:
    grid = contrast.grid
    wanted, base = contrast.target[: grid.cells], contrast.region[: grid.cells]
    widths = []
    for block in grid.blocks:  # the kernel of the measure, or of the region if the target has fewer than two rows
        few = smoothing == "auto" and wanted[block.cells].sum() < 2
        rows = base[block.cells] if few else wanted[block.cells]
        widths.append(width_in(block, smoothing, rows, base[block.cells]))
    target, region, uniform = (smoothed(parts, grid, widths) for parts in (_raw(wanted), _raw(base), grid.prior))
    return Densities(
        name=contrast.name,
        target=target,
        region=region,
        uniform=uniform,
        edges=grid.edges,
        bandwidth=max(widths),
        missing_target=1.0 - float(wanted.sum() / contrast.target.sum()),
        missing_region=1.0 - float(base.sum() / contrast.region.sum()),
        parameter=grid.parameter,
        basis=Basis(wanted, base, (float(wanted.sum()), float(base.sum())), tuple(widths)),
        words=words,
    )


def smoothed(parts: Reals, grid: Grid, widths: Sequence[float]) -> Reals:
    """The fractions `parts` (cells,), smoothed separately in each domain of the parameter."""
    each = [smooth(parts[block.cells], width) for block, width in zip(grid.blocks, widths, strict=True)]
    return each[0] if len(each) == 1 else np.concatenate(each)


@dataclass(frozen=True, slots=True, eq=False)
class Drawing:
    """The fraction of the rows in each bin (bar or step), the range that chance would give, and the good values."""

    bins: Bins
    target: Reals  # (bins,) parts of the rows; the sum is 1, as for region and uniform
    region: Reals
    uniform: Reals
    low: Reals  # (bins,) the 95 % range of the target if its rows were drawn at random from the baseline
    high: Reals
    good: tuple[tuple[float, float], ...]  # first and last bar, or both ends in units of the parameter
    good_words: str

    def __len__(self) -> int:
        return len(self.bins)

    @property
    def more(self) -> NDArray[np.bool_]:
        """(bins,) Whether the target is more frequent in the bin than chance allows."""
        return self.target > self.high

    @property
    def less(self) -> NDArray[np.bool_]:
        """(bins,) Whether the target is less frequent in the bin than chance allows."""
        return self.target < self.low

    def heights(self, parts: Reals) -> Reals:
        """(bins,) The heights to draw: the fraction for a bar; for a step, the density divided by a uniform one."""
        return parts if self.bins.widths is None else parts / self.bins.widths


def good_in(density: Densities, bins: Bins, more: NDArray[np.bool_], baseline: Baseline) -> list[Good]:
    """The good values, if the target is above the band of chance in the bins `more`."""
    if density.tried is not None:
        target = np.where(
            mostly_failing(density.tried, grid_of(density.parameter)), 0, [density.target, density.basis.target]
        )
        density = replace(density, target=target[0], basis=replace(density.basis, target=target[1].astype(np.int64)))
    panels = density.panels(baseline)
    good = [(one, panel) for panel in panels for one in panel.good(more[bins.groups])]
    behind = {id(panel): f" ({panel.domain})" * (len(panels) > 1) for panel in panels}
    more_words = ((one, behind[id(panel)]) for one, panel in good)
    return [replace(one, words=one.words + words, brief=one.brief + words) for one, words in more_words]


def mostly_failing(tried: NDArray[np.int64], grid: Grid) -> NDArray[np.bool_]:
    """(cells,) The categories, and the ends of ranges, in which most trials failed: more than half, and than usual."""
    usual = max(0.5, float(tried[:, 1].sum() / tried.sum()))
    excess = tried @ np.array([-usual, 1.0 - usual])
    failing: NDArray[np.bool_] = excess > 0.0
    for block in (one for one in grid.blocks if one.ordered):
        failing[block.cells] = False
        for own, sums in ((failing[block.cells][::way], np.cumsum(excess[block.cells][::way])) for way in (1, -1)):
            if sums.max() > 0.0:
                own[: sums.argmax() + 1] = True
    return failing


class Parts(NamedTuple):
    """The fractions of the rows in each bin (bins,), and the range of the target that chance would give."""

    target: Reals
    region: Reals
    uniform: Reals
    low: Reals
    high: Reals


def parts_in(density: Densities, bins: Bins, baseline: Baseline) -> Parts:
    grid, basis = grid_of(density.parameter), density.basis
    if bins.apart:
        target, region = lattice_parts(basis, bins, density.target, density.region)
        uniform = np.full(len(bins), 1.0 / len(bins))
    else:
        target, region, uniform = (bins.gather(p) for p in (density.target, density.region, density.uniform))
    of_region = baseline == "region"
    base = region if of_region else uniform
    if bins.apart:
        low, high = chance_band(bins, base, base, None, basis, of_region=of_region)
    else:
        region_parts = density.region if basis.modelled else _raw(basis.region)
        cells = region_parts if of_region else grid.prior / max(float(grid.prior.sum()), 1e-300)
        low, high = chance_band(bins, base, cells, grid.blocks, basis, of_region=of_region)
    return Parts(target=target, region=region, uniform=uniform, low=low, high=high)


def drawing_of(density: Densities, bins: Bins, baseline: Baseline) -> Drawing:
    parts = parts_in(density, bins, baseline)
    good = good_in(density, bins, parts.target > parts.high, baseline)
    more = f" and {len(good) - MOST_WORDS} more" if len(good) > MOST_WORDS else ""
    words = ", ".join(one.brief for one in good[:MOST_WORDS]) + more
    spans = _spans(density, bins, good)
    return Drawing(bins, *parts, spans, words)


def lattice_parts(basis: Basis, bins: Bins, target: Reals, region: Reals) -> tuple[Reals, Reals]:
    """The unsmoothed fractions of target and region rows in each bin, for rows with few distinct values.

    A model's points also lie between these values. So only the ratio of target to region is taken from the model; the
    region's fractions are counted in the rows.
    """
    region_parts = bins.gather(_raw(basis.region))
    if not basis.modelled:
        return bins.gather(_raw(basis.target)), region_parts
    weighted = region_parts * bins.gather(target) / np.maximum(bins.gather(region), 1e-300)
    return weighted / max(float(weighted.sum()), 1e-300), region_parts


def _raw(counts: NDArray[np.int64]) -> Reals:
    return counts / max(1.0, float(counts.sum()))


def _spans(density: Densities, bins: Bins, good: Sequence[Good]) -> tuple[tuple[float, float], ...]:
    """The first and last value of each good range; for bars, the first and last bar whose cells are all good."""
    edges = grid_of(density.parameter).edges
    if bins.edges is not None and edges is not None:
        ends = np.clip(edges, bins.edges[0], bins.edges[-1])
        return tuple((float(ends[one.start]), float(ends[one.stop])) for one in good)
    poor = np.ones(len(density))
    for one in good:
        poor[one.start : one.stop] = 0.0
    fine = np.flatnonzero(bins.gather(poor) == 0)
    joined = scale_of(density.parameter) != "names"
    apart = np.flatnonzero(np.diff(fine) > 1) + 1 if joined else np.arange(1, len(fine))
    return tuple((float(run[0]), float(run[-1])) for run in np.split(fine, apart) if len(run))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PairDensity(Table):
    """The number of target and region rows in each coarse cell of two parameters.

    `lift` is the frequency of the target in a cell divided by its frequency in the whole region.
    """

    first: str
    second: str
    first_cells: tuple[str, ...]
    second_cells: tuple[str, ...]
    target: NDArray[np.int64]  # (first, second)
    region: NDArray[np.int64]

    @property
    def lift(self) -> NDArray[np.float64]:
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(self.target / self.region / (self.target.sum() / max(1, self.region.sum())))

    @property
    def expected(self) -> NDArray[np.float64]:
        """(first, second) The expected number of target rows in each cell if they are a random part of the region."""
        return np.asarray(self.region * (self.target.sum() / max(1, self.region.sum())))

    @property
    def significant(self) -> NDArray[np.bool_]:
        """(first, second) Whether the number of target rows in a cell is outside the 95 % range of random draws."""
        part, rows = self.region / max(1, self.region.sum()), int(self.region.sum())
        inside = int(self.target.sum())
        left = (rows - inside) / max(1, rows - 1)
        low, high = likely(self.expected.ravel(), (inside * part * (1.0 - part) * left).ravel())
        high = np.maximum(high, 1.0)  # a single row is never significant
        unlikely: NDArray[np.bool_] = (self.target.ravel() < low) | (self.target.ravel() > high)
        return unlikely.reshape(self.target.shape)

    def to_dict(self) -> dict[str, list[Cell]]:
        """One entry for every cell of the two-way table."""
        both = zip(*product(self.first_cells, self.second_cells), strict=True)
        numbers = {"target": self.target, "region": self.region, "lift": self.lift}
        columns = dict(zip((self.first, self.second), map(list, both), strict=True))
        return columns | {name: finite(table.ravel().tolist()) for name, table in numbers.items()}


def pair_density(tally: SetTally, first: Contrast, second: Contrast) -> PairDensity:
    """Make a `PairDensity` from the counts of two parameters; empty coarse cells are left out."""
    pair, turned = (first.name, second.name), (second.name, first.name)
    place = tally.sets.index(pair if pair in tally.sets else turned)
    target, region = tally.target[place], tally.region[place]
    if pair not in tally.sets:
        target, region = target.T, region.T
    names = [group_names(c.grid, tally.groups[c.name], c.region[: c.grid.cells]) for c in (first, second)]
    used = tuple(slice(0, len(name)) for name in names)
    return PairDensity(first.name, second.name, tuple(names[0]), tuple(names[1]), target[used], region[used])


def group_names(grid: Grid, groups: Groups, seen: NDArray[np.int64]) -> list[str]:
    """A name for each coarse cell: a range, some labels, "no value", or the distinct values if there are few."""
    bins = bins_of(grid.parameter, seen)
    values = tuple(zip(np.flatnonzero(seen).tolist(), bins.labels, strict=True)) if bins.apart else ()
    return list(_names_of(grid, groups.tobytes(), values))


@lru_cache(maxsize=1024)
def _names_of(grid: Grid, content: bytes, values: tuple[tuple[int, str], ...]) -> tuple[str, ...]:
    """The names of coarse cells; if there are few distinct values, `values` has their (cell, label) pairs."""
    groups = np.frombuffer(content, dtype=np.uint8)
    names = []
    for group in range(int(groups.max()) + 1):
        cells = np.flatnonzero(groups == group)
        inside = cells[cells < grid.cells]
        if not len(inside):
            names.append("none" if grid.missing in cells else "outside")
        elif here := [name for cell, name in values if cell in inside]:
            names.append(here[0] if len(here) == 1 else f"{here[0]} to {here[-1]}")
        elif len(grid.blocks) == 1 and (grid.edges is not None or grid.blocks[0].ordered):
            names.append(span_in_words(grid, int(inside[0]), int(inside[-1])))
        else:
            centres = list(grid.centres())
            more = f" and {len(inside) - 1} more" if len(inside) > 1 else ""
            names.append(f"{short(centres[inside[0]])}{more}")
    return tuple(names)


def span_in_words(grid: Grid, first: int, last: int) -> str:
    """The range from cell `first` to `last` in words, in units of the parameter and within its bounds."""
    if grid.labels is not None:
        ends = short(grid.labels[first]), short(grid.labels[last])
    else:
        edges = grid.edges if grid.edges is not None else np.empty(0)
        low, high = float(edges[first]), float(edges[last + 1])
        if isinstance(grid.parameter, Int):
            ends = short(math.ceil(low)), short(max(math.ceil(low), math.ceil(high) - 1))
        else:
            ends = rough(low, float(edges[0]), float(edges[-1])), rough(high, float(edges[0]), float(edges[-1]))
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"
