"""Importance of each parameter for being in the target, given the region (math: PED-ANOVA).

PED = Σ_j (t_j/n′)² / (c_j/n) - 1 over the cells j, target counts t (n′ rows), region counts c
(n rows), m = n′/n. m²·PED is the variance of "in the target?" that the parameter explains alone;
divided by m(1-m) it is a share between 0 and 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from pedanova.density import Smoothing, as_bandwidth, smooth, squared_smooth
from pedanova.errors import QueryError, UnknownParameterError, unknown_name
from pedanova.grid import Grid
from pedanova.table import Cell, Table, show_percent
from pedanova.tally import Tally

Baseline: TypeAlias = Literal["region", "uniform"]
Counts: TypeAlias = NDArray[np.int64]  # (cells + 2,)
NOTHING = 1e-13  # a mass this small is the rounding of a Fourier transform, not a row


@dataclass(frozen=True, slots=True)
class Importance:
    """One parameter's row.

    ratio
        Its part of the sum of `variance` over all parameters (the paper's HPI ratio).
    share
        Fraction of the variance of "is this row in the target?" that it explains alone,
        corrected for what chance would explain. May fall below zero for a useless parameter.
    raw_share
        The same without the correction.
    divergence
        PED: how far the target's density is from the baseline's (chi-square divergence).
    variance
        m² · PED, with m = n_target / n_region.
    bandwidth
        Width of the smoothing kernel in cells, 0 for none.
    """

    name: str
    ratio: float
    share: float
    raw_share: float
    divergence: float
    variance: float
    n_target: int
    n_region: int
    bandwidth: float


@dataclass(frozen=True, slots=True)
class Importances(Table):
    """A table of `Importance` rows, most important first. ``imp["lr"].share``, ``list(imp)``."""

    rows: tuple[Importance, ...]
    target: str  # in words
    region: str
    baseline: Baseline
    notes: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Importance:
        for row in self.rows:
            if row.name == name:
                return row
        raise UnknownParameterError(unknown_name(name, tuple(self)))

    def __iter__(self) -> Iterator[str]:
        return (row.name for row in self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __contains__(self, name: object) -> bool:
        return any(row.name == name for row in self.rows)

    def to_dict(self) -> dict[str, list[Cell]]:
        names = [field.name for field in fields(Importance)]
        columns = {name: [getattr(row, name) for row in self.rows] for name in names}
        return {"parameter": columns.pop("name"), **columns}

    def header(self) -> list[str]:
        return ["parameter", "ratio", "share", "divergence"]

    def lines(self) -> list[list[str]]:
        return [
            [row.name, show_percent(row.ratio), show_percent(row.share), f"{row.divergence:.3f}"]
            for row in self.rows
        ]

    def __str__(self) -> str:
        return f"What separates {self.target} from {self.region}:\n{self.to_text()}"


def rank(
    tallies: Mapping[str, Tally],
    *,
    target: tuple[int, int],
    region: tuple[int, int],
    baseline: str = "region",
    smoothing: Smoothing = "auto",
) -> tuple[Importance, ...]:
    """Rows for every tally, most important first; target and region are ranges of levels."""
    if not isinstance(baseline, str) or baseline not in get_args(Baseline):
        raise QueryError(f"baseline={baseline!r} must be 'region' or 'uniform'")
    rows = [
        measure(
            name,
            tally.grid,
            tally.between(*target),
            tally.between(*region),
            baseline=baseline,
            smoothing=smoothing,
        )
        for name, tally in tallies.items()
    ]
    total = sum(row.variance for row in rows)
    if total > 0:
        rows = [with_ratio(row, row.variance / total) for row in rows]
    return tuple(sorted(rows, key=lambda row: -row.variance))


def with_ratio(row: Importance, ratio: float) -> Importance:
    values = {field.name: getattr(row, field.name) for field in fields(row)}
    return Importance(**values | {"ratio": ratio})


def measure(
    name: str, grid: Grid, target: Counts, region: Counts, *, baseline: str, smoothing: Smoothing
) -> Importance:
    """One parameter's numbers, its ratio still open. Target rows are rows of the region."""
    width = as_bandwidth(smoothing, target[: grid.cells], grid)
    inside, rows = int(target.sum()), int(region.sum())
    part = inside / rows
    if baseline == "region":
        divergence, corrected = against_region(target, region, width)
    else:
        divergence, corrected = against_uniform(target[: grid.cells], grid.prior, width, part)
    raw_share = part / (1.0 - part) * divergence
    return Importance(
        name=name,
        ratio=0.0,
        share=corrected,
        raw_share=raw_share,
        divergence=divergence,
        variance=part**2 * divergence,
        n_target=inside,
        n_region=rows,
        bandwidth=width,
    )


def against_region(target: Counts, region: Counts, width: float) -> tuple[float, float]:
    """PED of the target against the region, and the corrected share.

    The last two cells (missing, outside) have no neighbours and are never smoothed.
    """
    inside, rows = int(target.sum()), int(region.sum())
    wanted, base = smooth_cells(target / inside, width), smooth_cells(region / rows, width)
    divergence = chi_square(wanted, base)
    spread = np.concatenate([squared_smooth(region[:-2] / rows, width), region[-2:] / rows])
    freedom = float(np.sum(ratio_of(spread, base))) - 1.0  # cells in use - 1 without smoothing
    share = inside / (rows - inside) * divergence
    chance = freedom / (rows - 1)
    return divergence, (share - chance) / (1.0 - chance) if chance < 1.0 - 1e-9 else 0.0


def smooth_cells(masses: NDArray[np.float64], width: float) -> NDArray[np.float64]:
    return np.concatenate([smooth(masses[:-2], width), masses[-2:]]) if width else masses


def against_uniform(
    target: Counts, prior: NDArray[np.float64], width: float, part: float
) -> tuple[float, float]:
    """PED of the target against a uniform draw from the space, and the unbiased share.

    Rows without a value, or outside the space, have no place under a uniform draw: they are left
    out here.
    """
    inside = int(target.sum())
    if inside == 0:
        return 0.0, 0.0
    masses = target / inside
    base = smooth(prior, width)
    divergence = chi_square(smooth(masses, width), base)
    if inside == 1:
        return divergence, 0.0
    noise = float(np.sum(ratio_of(squared_smooth(masses, width), base)))
    unbiased = (inside * (divergence + 1.0) - noise) / (inside - 1) - 1.0
    return divergence, part / (1.0 - part) * unbiased


def chi_square(wanted: NDArray[np.float64], base: NDArray[np.float64]) -> float:
    """Σ wanted² / base - 1; cells without base add nothing."""
    return max(0.0, float(np.sum(wanted * ratio_of(wanted, base))) - 1.0)


def ratio_of(above: NDArray[np.float64], below: NDArray[np.float64]) -> NDArray[np.float64]:
    quotient = np.zeros_like(below)
    np.divide(above, below, out=quotient, where=below > NOTHING)
    return quotient
