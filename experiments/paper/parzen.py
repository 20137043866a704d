"""The densities of the paper's authors, from the package's counts, to compare with.

Every distinct value is a point of a grid with a kernel (Scott's rule with the number of distinct values for n, never
below 1 % of the grid), and a prior as wide as the range counts as one row. docs/paper.md says why the package does
otherwise. As in the authors' code, the target is compared with a uniform draw wherever the region is all rows, there
are no conditions, and nothing is taken off for chance.
"""

from __future__ import annotations

import math

import numpy as np

import pedanova as pa
from pedanova.counting.contrasts import Contrast

SCOTT, NARROWEST, WIDEST = 1.059, 0.01, 0.5  # of the rule; parts of the grid


def paper_ratios(a: pa.Analysis, target: float = 0.1, region: float = 1.0) -> dict[str, float]:
    """The HPI of every parameter, equation (16), as the authors' code answers."""
    contrasts = a.data.contrasts(target, region)[0]
    divergences = {one.name: divergence(one, uniform=region == 1.0) for one in contrasts}
    whole = sum(divergences.values())
    return {name: value / whole for name, value in divergences.items()}


def target_density(a: pa.Analysis, name: str, target: float = 0.1) -> np.ndarray:
    """(cells,) The target's density of one parameter; adds to one."""
    contrast = next(one for one in a.data.contrasts(target, 1.0)[0] if one.name == name)
    return densities(contrast, uniform=True)[0]


def divergence(contrast: Contrast, *, uniform: bool) -> float:
    """The Pearson divergence of the target; 0 where the parameter never varied."""
    if not contrast.varies:
        return 0.0
    target, base = densities(contrast, uniform=uniform)
    return float(np.sum(target**2 / base)) - 1.0


def densities(contrast: Contrast, *, uniform: bool) -> tuple[np.ndarray, np.ndarray]:
    """(cells,) of the target and of what it is compared with, each adding to one."""
    grid = contrast.grid
    if len(grid.blocks) > 1 or contrast.region[grid.cells :].any():
        raise SystemExit(
            f"{contrast.name} is conditional, or has rows without a value; the authors' code knows neither"
        )
    density = kernels if grid.blocks[0].ordered else frequencies
    base = np.full(grid.cells, 1.0 / grid.cells) if uniform else density(contrast.region[: grid.cells])
    return density(contrast.target[: grid.cells]), base


def frequencies(counts: np.ndarray) -> np.ndarray:
    """Of categories: one row more, spread evenly."""
    return (counts + 1.0 / len(counts)) / (counts.sum() + 1.0)


def kernels(counts: np.ndarray) -> np.ndarray:
    """A Gaussian on every row, cut off half a step beyond the grid, and one as wide as the grid on its middle."""
    cells, rows, width = len(counts), int(counts.sum()), width_of(counts)
    places = np.arange(cells, dtype=np.float64)
    weights = counts / mass_inside(places, width, cells)
    # All rows share one width, so a cell receives by its distance alone.
    far = np.arange(1 - cells, cells, dtype=np.float64)
    each = np.convolve(weights, below(far + 0.5, width) - below(far - 0.5, width))
    middle, wide = (cells - 1) / 2.0, float(cells)
    prior = below(places + 0.5 - middle, wide) - below(places - 0.5 - middle, wide)
    prior /= mass_inside(np.array([middle]), wide, cells)
    return (each[cells - 1 : 2 * cells - 1] + prior) / (rows + 1.0)


def width_of(counts: np.ndarray) -> float:
    """Scott's rule as they have it: the prior is one more row, and n is the number of distinct points."""
    cells = len(counts)
    full = np.flatnonzero(counts)
    points = np.append(full, (cells - 1) / 2.0)
    weights = np.append(counts[full], 1)
    rows = int(weights.sum())
    mean = float(points @ weights) / rows
    deviation = math.sqrt(float((points - mean) ** 2 @ weights) / max(1, rows - 1))
    ends = np.searchsorted(np.cumsum(weights), [rows // 4, rows * 3 // 4])
    between = float(points[ends[1]] - points[ends[0]])
    width = SCOTT * min(between / 1.34, deviation) * float(len(points)) ** -0.2
    return float(min(max(width, NARROWEST * cells), WIDEST * cells))


def mass_inside(places: np.ndarray, width: float, cells: int) -> np.ndarray:
    """The part of a kernel on each place that lies on the grid."""
    return below(cells - 0.5 - places, width) - below(-0.5 - places, width)


def below(distance: np.ndarray, width: float) -> np.ndarray:
    scale = width * math.sqrt(2.0)
    return np.array([0.5 * math.erfc(-one / scale) for one in distance.tolist()])
