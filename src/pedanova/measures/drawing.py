"""One parameter as it is drawn, by page and figures alike: bars or steps, good values, and what chance would do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.measures.band import Basis, chance_band
from pedanova.measures.bins import Bins, Kind
from pedanova.measures.panels import Good
from pedanova.measures.question import Baseline
from pedanova.space.grid import grid_of
from pedanova.space.parameters import Parameter, scale_of

Reals: TypeAlias = NDArray[np.float64]
MOST_WORDS = 4  # ranges of good values that are named


class Drawable(Protocol):
    """What is drawn: the densities of one parameter."""

    @property
    def name(self) -> str: ...
    @property
    def parameter(self) -> Parameter: ...
    @property
    def basis(self) -> Basis: ...
    @property
    def target(self) -> Reals: ...
    @property
    def region(self) -> Reals: ...
    @property
    def uniform(self) -> Reals: ...
    def good(self, baseline: Baseline = ...) -> list[Good]: ...
    def __len__(self) -> int: ...


@dataclass(frozen=True, slots=True, eq=False)
class Drawing:
    """Parts of the rows by bar or step, and what to say about them.

    name, domain
        The parameter, and which of its domains this is, in words; empty where there is one.
    bins
        How it is cut: `kind` ("bars", "steps" or "curve"), `labels` of every bar or step in words, `edges` of
        steps in units of the parameter, `log`.
    target, region, uniform
        (bins,) Parts of the rows, each adding to one.
    low, high
        (bins,) Between these the target would lie in 95 of 100 cases, bin by bin, were its rows any rows of the
        region (or of a uniform draw, where that is the `baseline`).
    good
        Good values: first and last bar, or both ends in units of the parameter.
    good_words
        The same in words; empty where there are none.
    rows
        Of target and region that stand behind it.
    """

    name: str
    domain: str
    bins: Bins
    baseline: Baseline
    target: Reals
    region: Reals
    uniform: Reals
    low: Reals
    high: Reals
    good: tuple[tuple[float, float], ...]
    good_words: str
    rows: tuple[float, float]

    def __len__(self) -> int:
        return len(self.bins)

    @property
    def kind(self) -> Kind:
        return self.bins.kind

    @property
    def labels(self) -> tuple[str, ...]:
        return self.bins.labels

    @property
    def edges(self) -> Reals | None:
        return self.bins.edges

    @property
    def log(self) -> bool:
        return self.bins.log

    @property
    def base(self) -> Reals:
        """What the target is held against."""
        return self.region if self.baseline == "region" else self.uniform

    @property
    def more(self) -> NDArray[np.bool_]:
        """(bins,) Where the target lies above what chance would do."""
        return self.target > self.high

    @property
    def less(self) -> NDArray[np.bool_]:
        """(bins,) Where it lies below."""
        return self.target < self.low

    def heights(self, parts: Reals) -> Reals:
        """(bins,) What to draw: of bars the parts themselves; of steps 1 where rows are spread evenly over the axis."""
        return parts if self.bins.widths is None else parts / self.bins.widths


def drawing_of(density: Drawable, bins: Bins, baseline: Baseline, domain: str = "") -> Drawing:
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
        known = density.region if basis.modelled else _raw(basis.region)
        prior = grid.prior / max(float(grid.prior.sum()), 1e-300)
        low, high = chance_band(bins, base, known if of_region else prior, grid.blocks, basis, of_region=of_region)
    good = density.good(baseline)
    more = f" and {len(good) - MOST_WORDS} more" if len(good) > MOST_WORDS else ""
    words = ", ".join(one.words for one in good[:MOST_WORDS]) + more
    spans = _spans(density, bins, good)
    return Drawing(density.name, domain, bins, baseline, target, region, uniform, low, high, spans, words, basis.rows)


def lattice_parts(basis: Basis, bins: Bins, target: Reals, region: Reals) -> tuple[Reals, Reals]:
    """Parts of target and region on the few values that rows stand on, where nothing is smoothed.

    A model spreads its points between them: it tells how much likelier the target is at each, and the rows how
    often that is tried.
    """
    known = bins.gather(_raw(basis.region))
    if not basis.modelled:
        return bins.gather(_raw(basis.target)), known
    told = known * bins.gather(target) / np.maximum(bins.gather(region), 1e-300)
    return told / max(float(told.sum()), 1e-300), known


def _raw(counts: NDArray[np.int64]) -> Reals:
    return counts / max(1.0, float(counts.sum()))


def _spans(density: Drawable, bins: Bins, good: Sequence[Good]) -> tuple[tuple[float, float], ...]:
    """Good values on the drawing; a bar of several values is good where all of them are."""
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
