"""Densities on cells: one reflected Gaussian kernel for target and baseline alike.

The kernel S is the Gaussian integrated over cells and reflected at the outer edges, so every row
and column adds to one and a uniform density stays uniform. On the doubled, mirrored grid it is a
circular convolution with the periodic kernel P: S_ij = P(i - j) + P(i + j + 1).
"""

from __future__ import annotations

import math
from functools import lru_cache
from numbers import Real
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.errors import Arg, QueryError
from pedanova.space.grid import FEW_CELLS, Block

Reals: TypeAlias = NDArray[np.float64]
Stack: TypeAlias = NDArray[Any]  # (draws, cells) counts
Smoothing: TypeAlias = Literal["auto", "none"] | float
NARROWEST = 0.3  # cells: a narrower kernel is no kernel
FLAT = 5.0  # times the cells: a kernel so wide that all cells become equal
MANY = 300  # target rows, beyond which the kernel narrows faster
ALL = slice(None)
REACH = 9.0  # bandwidths beyond which a Gaussian is nothing in double precision


def scott(rows: Any, deviation: Any, between: Any) -> Any:
    """Half of Scott's rule, in cells: 0.53 · min(σ, IQR/1.34) · n′^(-1/5)."""
    return 0.53 * np.minimum(deviation, between / 1.34) * rows ** (-0.2)


def fading(rows: Any) -> Any:
    """What many rows take off that width.

    Shares are corrected for chance, so a narrow kernel costs no more than a little scatter, while the
    bias of a wide one, where densities jump, would outlive any number of rows.
    """
    return np.sqrt(np.minimum(1.0, MANY / rows))


def bandwidth(target: NDArray[np.int64]) -> float:
    """By the target rows of one block."""
    return plain_bandwidth(target) * float(fading(max(1, int(target.sum()))))


def plain_bandwidth(target: NDArray[np.int64]) -> float:
    """The same by half of Scott's rule alone."""
    rows = int(target.sum())
    if rows < 2:
        return 0.0
    cells = np.arange(len(target))
    mean = float(target @ cells) / rows
    deviation = math.sqrt(float(target @ (cells - mean) ** 2) / (rows - 1))
    return float(scott(rows, deviation, _interquartile(target, rows)))


def _interquartile(target: NDArray[np.int64], rows: int) -> float:
    """`interquartile` of one block of whole counts, by looking the four places up."""
    last = max(rows - 1, 1)
    positions = 0.25 * last, 0.75 * last
    below = [math.floor(position) for position in positions]
    places = np.array([place for low in below for place in (low, min(low + 1, last))]) + 1e-6
    met = np.searchsorted(np.cumsum(target), places, side="right").tolist()
    first, third = (met[2 * i] + (positions[i] - below[i]) * (met[2 * i + 1] - met[2 * i]) for i in range(2))
    return float(third - first)


def bandwidths(targets: Stack) -> Reals:
    """(draws,) The same for many draws, whose counts need not be whole."""
    total = targets.sum(axis=1)
    rows = np.maximum(total, 2)
    cells = np.arange(targets.shape[1])
    mean = targets @ cells / rows
    deviation = np.sqrt(np.maximum(targets @ cells**2 - rows * mean**2, 0.0) / (rows - 1))
    return np.where(total < 2, 0.0, scott(rows, deviation, interquartile(targets)) * fading(rows))


def interquartile(counts: Stack) -> Reals:
    """(draws,) Distance of the quartiles in cells, interpolated between rows as NumPy's percentile does."""
    reached = np.cumsum(counts, axis=1)
    last = np.maximum(reached[:, -1] - 1, 1)

    def quantile(part: float) -> Reals:
        position = part * last
        below = np.floor(position)
        low, high = ((reached <= place[:, None] + 1e-6).sum(axis=1) for place in (below, np.minimum(below + 1, last)))
        between: Reals = low + (position - below) * (high - low)
        return between

    return quantile(0.75) - quantile(0.25)


def as_bandwidth(smoothing: object, target: NDArray[np.int64], block: Block) -> float:
    """The kernel's width in cells for these target rows of a block; 0 means no smoothing."""
    if smoothing == "none":
        return 0.0
    if smoothing == "auto":
        if block.smoothable and target.sum() < 2:
            return FLAT * len(target)  # too few rows to tell one cell from another
        width = bandwidth(target) if block.smoothable else 0.0
        return width if width >= NARROWEST else 0.0
    if isinstance(smoothing, bool) or not isinstance(smoothing, Real) or not 0 <= float(smoothing) < math.inf:
        raise QueryError(Arg("smoothing", smoothing), " must be 'auto', 'none' or a bandwidth in cells from 0 up")
    return float(smoothing) if block.ordered else 0.0


def as_bandwidths(smoothing: Smoothing, targets: Stack, block: Block, step: int = 1) -> Reals:
    """(draws,) The same for many draws over a block's cells, so many of them put into one."""
    if smoothing != "auto":
        return np.full(len(targets), as_bandwidth(smoothing, targets[0], block) / step)
    if not (block.ordered and step * targets.shape[1] > FEW_CELLS):
        return np.zeros(len(targets))
    widths = bandwidths(targets)
    widths[widths * step < NARROWEST] = 0.0
    widths[targets.sum(axis=1) < 2] = FLAT * targets.shape[1]
    return widths


@lru_cache(maxsize=512)
def periodic_kernel(cells: int, width: float) -> Reals:
    """(2 · cells,) weight of each distance on the mirrored grid; adds to one."""
    period = 2 * cells
    kernel = np.zeros(period)
    if width > 2 * period:  # so wide that the wrapped Gaussian is flat in double precision
        kernel += 1.0 / period
    else:
        reach = math.ceil(REACH * width) + 1
        scale = 1.0 / (width * math.sqrt(2.0))
        steps = [math.erf((d + 0.5) * scale) for d in range(reach + 1)]
        half = np.diff(np.array([-steps[0], *steps])) / 2.0  # weight at distance 0, 1, …
        half /= half[0] + 2.0 * half[1:].sum()
        np.add.at(kernel, np.arange(reach + 1) % period, half)
        np.add.at(kernel, -np.arange(1, reach + 1) % period, half[1:])
    kernel.flags.writeable = False
    return kernel


def periodic_kernels(cells: int, widths: Reals) -> Reals:
    """(widths, 2 · cells) The same for many widths; one that is 0 leaves every cell as it is.

    Weights add to one as they are: each is the law between two distances. What is found for a width does not hang
    on the others.
    """
    period = 2 * cells
    flat = widths > 2 * period
    narrow = np.where(flat | (widths == 0.0), NARROWEST, widths)
    distances = np.arange(math.ceil(REACH * float(narrow.max(initial=0.0))) + 2)
    scaled = (distances + 0.5) / (narrow[:, None] * math.sqrt(2.0))
    steps = np.array([math.erf(step) for step in scaled.ravel().tolist()]).reshape(scaled.shape)
    half = np.diff(np.concatenate([-steps[:, :1], steps], axis=1), axis=1) / 2.0
    turns = np.zeros((len(widths), -(-len(distances) // period) * period))
    turns[:, : len(distances)] = half
    kernels: Reals = turns.reshape(len(widths), -1, period).sum(axis=1)
    kernels += (kernels - half[:, :1] * np.eye(1, period))[:, -np.arange(period) % period]  # both ways but for 0
    kernels[flat] = 1.0 / period
    kernels[widths == 0.0] = np.eye(1, period)
    return kernels


def smooth(masses: Reals, width: float) -> Reals:
    """S · masses; never negative, the total is kept."""
    if width == 0.0:
        return masses
    return _convolve(masses, periodic_kernel(len(masses), width), width)


def _convolve(masses: Reals, kernel: Reals, width: float) -> Reals:
    """Sum by sum and not by Fourier transform, whose rounding would drown the faintest cells."""
    cells = len(masses)
    reach = min(math.ceil(REACH * width) + 1, cells)
    # A full period has one end only: the distances -cells and +cells are the same.
    distances = np.arange(-reach if reach < cells else 1 - cells, reach + 1)
    padded = np.concatenate([masses[:reach][::-1], masses, masses[::-1][: -int(distances[0])]])
    return np.convolve(padded, kernel[distances], mode="valid")


def reflected_matrix(cells: int, width: float) -> Reals:
    """(cells, cells) S of a width above 0."""
    kernel = periodic_kernel(cells, width)
    near, far = kernel[np.arange(1 - cells, cells)], np.append(kernel[1:], kernel[0])
    matrix: Reals = _windows(near, cells)[:, ::-1] + _windows(far, cells)
    return matrix


def smoothing_matrix(cells: int, width: float, rows: slice = ALL, columns: slice = ALL) -> Reals:
    """S itself, (cells, cells), or a part of it."""
    if width > 0.0 and (rows, columns) == (ALL, ALL):
        return reflected_matrix(cells, width)
    i, j = np.arange(cells)[rows], np.arange(cells)[columns]
    if width == 0.0:
        return np.equal.outer(i, j).astype(np.float64)
    kernel = periodic_kernel(cells, width)
    matrix: Reals = kernel[np.subtract.outer(i, j)] + kernel[np.add.outer(i, j) + 1]
    return matrix


def squared_smooth(masses: Reals, width: float) -> Reals:
    """Σ_j S_ij² · masses_j for every i, without building S where the kernel is narrow.

    S_ij² = P(i-j)² + P(i+j+1)² + 2 P(i-j) P(i+j+1). The first two are a convolution; the last
    is felt only in the corners, where a cell and its mirror image are both near.
    """
    if width == 0.0:
        return masses
    cells = len(masses)
    kernel = periodic_kernel(cells, width)
    result = _convolve(masses, kernel**2, width)
    corner = math.ceil(6.5 * width) + 1
    if 2 * corner >= cells:
        return result + _mirror_products(kernel, cells, 0, cells) @ masses
    result[:corner] += _mirror_products(kernel, cells, 0, corner) @ masses[:corner]
    result[-corner:] += _mirror_products(kernel, cells, cells - corner, cells) @ masses[-corner:]
    return result


def _mirror_products(kernel: Reals, cells: int, first: int, last: int) -> Reals:
    """2 P(i-j) P(i+j+1) for i, j from `first` up to `last`."""
    size = last - first
    near = kernel[np.arange(-size + 1, size)]
    far = kernel[np.arange(2 * first + 1, 2 * last) % (2 * cells)]
    products: Reals = 2.0 * _windows(near, size)[:, ::-1] * _windows(far, size)
    return products


def _windows(values: Reals, size: int) -> Reals:
    """(size, size) Every so many neighbours of fresh values: `sliding_window_view` at a tenth of its cost."""
    return np.ndarray((size, size), values.dtype, values, 0, 2 * values.strides)
