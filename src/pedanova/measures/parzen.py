"""The densities of the paper's authors, so that their numbers can be found here and differences be shown.

Every distinct value is a point of a grid with a kernel (Scott's rule with the number of distinct values for n, never
below 1 % of the grid), and a prior as wide as the range counts as one row. docs/paper.md says why we do otherwise.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.counting.contrasts import Contrast
from pedanova.errors import Arg, QueryError
from pedanova.measures.bins import Basis
from pedanova.measures.densities import Densities, densities_from
from pedanova.measures.importance import Importance, Piece, importance_of, unvaried
from pedanova.space.grid import Reals

Counts: TypeAlias = NDArray[np.int64]  # (cells,) rows at each point of the grid
SCOTT, NARROWEST, WIDEST = 1.059, 0.01, 0.5  # of the rule; parts of the grid


def paper_importance(contrast: Contrast, *, uniform: bool) -> Importance:
    """One parameter's numbers, its ratio still open and nothing taken off for chance; `uniform`: against a draw."""
    inside, rows = int(contrast.target.sum()), int(contrast.region.sum())
    check_plain(contrast)
    if not contrast.varies:
        return unvaried(contrast.name, inside, rows)
    target, base, width = paper_parts(contrast, uniform=uniform)
    piece = Piece(float(np.sum(target**2 / base)), 1.0, 1.0, 1.0, width)
    return importance_of(contrast.name, inside, rows, [piece], "region")


def paper_densities(contrast: Contrast, *, uniform: bool, words: tuple[str, str]) -> Densities:
    check_plain(contrast)
    target, base, width = paper_parts(contrast, uniform=uniform)
    cells = contrast.grid.cells
    counts = contrast.target[:cells], contrast.region[:cells]
    basis = Basis(*counts, (float(counts[0].sum()), float(counts[1].sum())), (width,))
    return densities_from(contrast, (target, base, np.full(cells, 1.0 / cells)), width, (0.0, 0.0), basis, words)


def paper_parts(contrast: Contrast, *, uniform: bool) -> tuple[Reals, Reals, float]:
    """(cells,) of the target and of what it is held against, each adding to one; and the target's kernel."""
    ordered, cells = contrast.grid.blocks[0].ordered, contrast.grid.cells
    spread = kernels if ordered else frequencies
    target = contrast.target[:cells]
    base = np.full(cells, 1.0 / cells) if uniform else spread(contrast.region[:cells])
    return spread(target), base, width_of(target) if ordered else 0.0


def check_plain(contrast: Contrast) -> None:
    """The paper knows no conditions, and neither does its code."""
    apart = int(contrast.region[contrast.grid.cells :].sum())
    if len(contrast.grid.blocks) == 1 and not apart:
        return
    why = f"has {apart:,} rows without a value" if apart else "has several domains"
    raise QueryError(
        Arg("estimator", "paper"), f" knows no conditions, and {contrast.name} {why}; use ", Arg("estimator", "counts")
    )


def frequencies(counts: Counts) -> Reals:
    """Of categories: one row more, spread evenly."""
    parts: Reals = (counts + 1.0 / len(counts)) / (counts.sum() + 1.0)
    return parts


def kernels(counts: Counts) -> Reals:
    """A Gaussian on every row, cut off half a step beyond the grid, and one as wide as the grid on its middle."""
    cells, rows = len(counts), int(counts.sum())
    places = np.arange(cells, dtype=np.float64)
    weights = counts / held(places, width_of(counts), cells)
    # All rows share one width, so a cell receives by its distance alone.
    far = np.arange(1 - cells, cells, dtype=np.float64)
    each = np.convolve(weights, below(far + 0.5, width_of(counts)) - below(far - 0.5, width_of(counts)))
    middle, wide = (cells - 1) / 2.0, float(cells)
    prior = below(places + 0.5 - middle, wide) - below(places - 0.5 - middle, wide)
    prior /= held(np.array([middle]), wide, cells)
    return (each[cells - 1 : 2 * cells - 1] + prior) / (rows + 1.0)


def width_of(counts: Counts) -> float:
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


def held(places: Reals, width: float, cells: int) -> Reals:
    """The part of a kernel on each place that lies on the grid."""
    return below(cells - 0.5 - places, width) - below(-0.5 - places, width)


def below(distance: Reals, width: float) -> Reals:
    scale = width * math.sqrt(2.0)
    return np.array([0.5 * math.erfc(-one / scale) for one in distance.tolist()])
