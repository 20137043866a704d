"""What chance alone would do: how far the target's density strays if its rows are any rows of the region.

n′ of the region's n rows, drawn without putting back, lie in a bin in parts whose mean is the region's own and
whose variance is (Σ_j K_j² p_j - (Σ_j K_j p_j)²) / n′ · (n - n′) / (n - 1), with the region's parts p by cell and
K_j the part of a row in cell j that the kernel puts into the bin.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.measures.bins import Bins
from pedanova.measures.smoothing import periodic_kernel, scott_bandwidth
from pedanova.space.grid import Block

Reals: TypeAlias = NDArray[np.float64]
Z = 1.959964  # 95 % of a normal law lie so many deviations around its mean


@dataclass(frozen=True, slots=True, eq=False)
class Basis:
    """The rows that stand behind densities; only those that have a value."""

    target: NDArray[np.int64]  # (cells,) rows of the target
    region: NDArray[np.int64]
    rows: tuple[float, float]  # of target and region; where a model answers, those that it speaks for
    widths: tuple[float, ...]  # of the kernel in cells, for each block
    modelled: bool = False

    def within(self, cells: slice, number: int) -> Basis:
        """Of one block."""
        target, region = self.target[cells], self.region[cells]
        held = [part.sum() / max(1, whole.sum()) for part, whole in ((target, self.target), (region, self.region))]
        rows = (self.rows[0] * float(held[0]), self.rows[1] * float(held[1]))
        return Basis(target, region, rows, self.widths[number : number + 1], self.modelled)


def expected_widths(parts: Reals, rows: float, blocks: tuple[Block, ...]) -> tuple[float, ...]:
    """The kernel that so many rows, spread like these parts, would be given: as smooth as a model is at least."""
    widths = []
    for block in blocks:
        counts = rows * parts[block.start : block.stop]
        smoothed = block.smoothable and counts.sum() >= 2
        widths.append(float(scott_bandwidth(counts)) if smoothed else 0.0)
    return tuple(widths)


def chance_band(
    bins: Bins, mean: Reals, parts: Reals, blocks: tuple[Block, ...] | None, basis: Basis, *, of_region: bool
) -> tuple[Reals, Reals]:
    """(bins,) each: between these lies the target in 95 of 100 cases, bin by bin, if chance alone decides.

    `mean` is what the target is held against by bin, `parts` the same by cell before any kernel (by bin, where
    there are no `blocks` to smooth in); a uniform draw (not `of_region`) is of rows without end. A single row is
    never beyond chance.
    """
    inside, rows = basis.rows
    if inside < 1:
        return np.zeros(len(bins)), np.ones(len(bins))
    left = max(0.0, (rows - inside) / max(1.0, rows - 1.0)) if of_region else 1.0
    if blocks is None:
        variance, most = parts * (1.0 - parts), (parts > 0).astype(np.float64)
    else:
        variance, most = of_one_row(bins, parts, blocks, basis.widths)
    low, high = likely(mean, variance / inside * left)
    return low, np.maximum(high, most / inside)


def likely(mean: Reals, variance: Reals) -> tuple[Reals, Reals]:
    """Where 95 % of a quantity above zero lie: up by a gamma law (Wilson and Hilferty), down by a normal one.

    Few rows make it lopsided: none at all is no surprise where one or two are expected, and three are none either.
    """
    deviation = np.sqrt(np.maximum(variance, 0.0))
    part = np.divide(deviation, mean, out=np.zeros(len(mean)), where=mean > 0)
    high: Reals = mean * np.maximum(0.0, 1.0 - part**2 / 9.0 + Z * part / 3.0) ** 3
    return np.maximum(0.0, mean - Z * deviation), high


def of_one_row(bins: Bins, parts: Reals, blocks: tuple[Block, ...], widths: tuple[float, ...]) -> tuple[Reals, Reals]:
    """(bins,) each: the variance of what one row drawn from the parts puts into a bin, and the most that it can."""
    squares, means, most = np.zeros((3, len(bins)))
    for block, width in zip(blocks, widths, strict=True):
        cells = slice(block.start, block.stop)
        groups, held = bins.groups[cells], parts[cells]
        if width == 0.0:
            here = np.bincount(groups, weights=held, minlength=len(bins))
            squares, means, most = squares + here, means + here, np.maximum(most, here > 0)
            continue
        first, last = int(groups[0]), int(groups[-1]) + 1
        bounds, columns = np.searchsorted(groups, np.arange(first, last + 1)), _columns(len(held), width)
        kernel, held = gathered_kernel(len(groups), width, bounds, columns), _gathered(held, columns)
        squares[first:last] += kernel**2 @ held
        means[first:last] += kernel @ held
        most[first:last] = kernel.max(axis=1)
    return np.maximum(squares - means**2, 0.0), most


def _columns(cells: int, width: float) -> NDArray[np.int64]:
    """Cells that stand for their neighbours: a fourth of the kernel's width apart it is hardly another."""
    step = max(1, int(width / 4))
    return np.arange(step // 2, cells, step) if cells > step else np.array([cells // 2])


def _gathered(parts: Reals, columns: NDArray[np.int64]) -> Reals:
    """What each of these cells stands for."""
    starts = np.concatenate([[0], (columns[:-1] + columns[1:] + 1) // 2])
    return np.add.reduceat(parts, starts)


def gathered_kernel(cells: int, width: float, bounds: NDArray[np.int64], columns: NDArray[np.int64]) -> Reals:
    """(bins, columns) Which part of a row in each of these cells the kernel puts between two bounds."""
    around = np.arange(-cells, 3 * cells) % (2 * cells)
    reached = np.concatenate([[0.0], np.cumsum(periodic_kernel(cells, width)[around])])
    places, column = bounds[:, None] + cells, columns[None, :]
    up_to: Reals = reached[places - column] + reached[places + column + 1]
    return np.diff(up_to, axis=0)
