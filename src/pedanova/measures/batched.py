"""Many tallies of one parameter measured at once, as a model's draws leave them.

The same measure as `importance.measure`, by Fourier transforms of whole stacks. Their rounding
drowns cells of less than FAINT, which a mean over draws does not miss.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pedanova.counting.contrasts import Contrast
from pedanova.measures.importance import Importance, Piece, importance_of
from pedanova.measures.share import ratio_of, summed_ratio
from pedanova.measures.smoothing import Reals, Smoothing, as_bandwidths, squared_smooth
from pedanova.space.grid import Block, Grid, blocks_of

Stack = NDArray[np.int64]  # (draws, cells)
FAINT = 1e-13  # mass of a cell that rounding may have made up
WIDE = 3.0  # cells: a kernel so wide that a cell's extent no longer shows in the corners,
CORNER = 8.0  # and so narrow that it fits as often into the grid: one corner does not see the other


def measure_many(
    contrast: Contrast, targets: Stack, regions: Stack, *, baseline: str, smoothing: Smoothing
) -> list[Importance]:
    """One row for every draw that has a target and more than that: its cells in place of the contrast's."""
    inside, rows = targets.sum(axis=1), regions.sum(axis=1)
    usable = (inside > 0) & (inside < rows)
    targets, regions = targets[usable], regions[usable]
    if not len(targets):
        return []
    blocks = [
        pieces_of(contrast.grid, block, targets, regions, baseline, smoothing) for block in blocks_of(contrast.grid)
    ]
    return [
        importance_of(contrast.name, int(n), int(all_n), pieces, baseline)
        for n, all_n, *pieces in zip(inside[usable], rows[usable], *blocks, strict=True)
    ]


def pieces_of(
    grid: Grid, block: Block, targets: Stack, regions: Stack, baseline: str, smoothing: Smoothing
) -> list[Piece]:
    """What one regime adds, for every draw."""
    cells = slice(block.start, block.stop)
    target, region = targets[:, cells], regions[:, cells]
    wanted, known = target / targets.sum(axis=1)[:, None], region / regions.sum(axis=1)[:, None]
    widths = np.where(region.any(axis=1), as_bandwidths(smoothing, target, block), 0.0)
    reached, active = wanted.sum(axis=1), known.sum(axis=1)
    prior = grid.prior[cells]
    uniform = baseline == "uniform" and len(prior) > 0
    flat = np.broadcast_to(prior / prior.sum(), known.shape) * active[:, None] if uniform else known
    kernels = transforms(known.shape[1], widths)
    base = smooth_many(flat, kernels)
    base = np.where(base < FAINT, 0.0, base)
    square = summed_ratio(smooth_many(wanted, kernels) ** 2, base)
    counted = known if baseline == "region" else wanted
    noise = summed_ratio(squared_many(counted, widths, kernels), base)
    kept = ratio_of(reached**2, active)
    return [Piece(*map(float, each)) for each in zip(square, kept, noise, widths, strict=True)]


def transforms(cells: int, widths: Reals) -> Reals | None:
    """None where nothing is smoothed at all; else (draws, cells + 1) Fourier transforms of `density.periodic_kernel`.

    That of a Gaussian integrated over cells is known; sampling it at cells adds its own copies.
    """
    if not widths.any():
        return None
    aliases = 1 if widths.min(initial=np.inf, where=widths > 0) > WIDE else 4
    waves = np.arange(cells + 1) / (2 * cells)
    total = np.zeros((len(widths), cells + 1))
    for alias in range(-aliases, aliases + 1):
        total += np.exp(-2.0 * (np.pi * np.outer(widths, waves + alias)) ** 2) * np.sinc(waves + alias)
    total[widths == 0.0] = 1.0
    return total


def smooth_many(masses: Reals, kernels: Reals | None) -> Reals:
    """`density.smooth` of every draw, on the doubled, mirrored grid."""
    if kernels is None:
        return masses
    cells = masses.shape[1]
    mirrored = np.concatenate([masses, masses[:, ::-1]], axis=1)
    smoothed = np.fft.irfft(np.fft.rfft(mirrored) * kernels, n=2 * cells)[:, :cells]
    return np.maximum(smoothed, 0.0)


def squared_many(masses: Reals, widths: Reals, kernels: Reals | None) -> Reals:
    """`density.squared_smooth` of every draw.

    In the corners a cell and its mirror image are both near: 2 P(i-j) P(i+j+1), which for a Gaussian
    is a product of one factor for i and one for j.
    """
    if kernels is None:
        return masses
    cells = masses.shape[1]
    squared = np.fft.rfft(np.fft.irfft(kernels, n=2 * cells) ** 2).real
    result = smooth_many(masses, squared)
    narrow = (widths >= WIDE) & (widths <= cells / CORNER)
    scale = np.where(narrow, widths, 1.0)[:, None]
    near = np.exp(-(((np.arange(cells) + 0.5) / scale) ** 2)) / (np.sqrt(2.0 * np.pi) * scale)
    near[~narrow] = 0.0
    for corner in (near, near[:, ::-1]):
        result += 2.0 * corner * np.sum(corner * masses, axis=1, keepdims=True)
    for draw in np.flatnonzero(~narrow):
        result[draw] = squared_smooth(masses[draw], float(widths[draw]))
    return result
