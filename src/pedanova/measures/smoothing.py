"""Smooth densities on cells with one reflected Gaussian kernel for both target and baseline.

The kernel S is a Gaussian that is integrated over cells and reflected at the outer edges. So every row and column sums
to 1, and a uniform density stays uniform. On the doubled, mirrored grid, S is a circular convolution with the periodic
kernel P: S_ij = P(i - j) + P(i + j + 1).

Waves are orthonormal functions of the cells, from slow to fast, grouped into octaves. The density of the target is
expanded in them to see how fine its details are: in each octave, squared coefficients are compared with those of random
targets.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from numbers import Real
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.base.threads import EVERYWHERE, RESULTS, digest_of
from pedanova.errors import Arg, QueryError
from pedanova.space.grid import FEW_CELLS, Block, Reals, waves
from pedanova.space.values import as_real

Waves: TypeAlias = list[tuple[Reals, list[slice]]]  # functions (cells, functions), and their octaves


def waves_of(mass: Reals, blocks: Sequence[Block], *, child: bool) -> Waves:
    """Functions of the cells, orthonormal under `mass` and with mean 0; if `child` is True, with mean 0 in each domain.

    The functions are cached, because they are the same for all uniform parameters and for all targets of one region.
    """
    return _waves_of(mass.tobytes(), tuple(blocks), child)


@lru_cache(maxsize=256)
def _waves_of(margin: bytes, blocks: tuple[Block, ...], child: bool) -> Waves:
    mass = np.frombuffer(margin)
    result: Waves = []
    live = [block for block in blocks if mass[block.cells].sum() > 0]
    if not child and len(live) > 1:
        weights = np.array([mass[block.cells].sum() for block in live])
        regimes = np.zeros((len(mass), len(live)))
        for i, block in enumerate(live):
            regimes[block.cells, i] = 1.0
        result.append((regimes @ orthonormal(contrasts(len(live)), weights), [slice(0, len(live) - 1)]))
    for block in live:
        there = block.start + np.flatnonzero(mass[block.cells] > 1e-12)
        if len(there) < 2:
            continue
        weights = mass[there]
        functions = np.zeros((len(mass), len(there) - 1))
        if block.ordered:
            raw = np.column_stack([np.ones(len(there)), waves(weights, len(there) - 1)])
        else:
            raw = contrasts(len(there))
        functions[there] = orthonormal(raw, weights)
        result.append((functions, octaves(len(there) - 1) if block.ordered else [slice(0, len(there) - 1)]))
    return result


def contrasts(count: int) -> Reals:
    """A constant column, and an indicator column for each category except the last."""
    return np.column_stack([np.ones(count), np.eye(count)[:, :-1]])


def orthonormal(raw: Reals, weights: Reals) -> Reals:
    """Make the columns orthonormal under the weights, and leave out the first one, which is constant."""
    roots = np.sqrt(weights)[:, None]
    q: NDArray[np.float64] = np.linalg.qr(roots * raw)[0]
    return (q / roots)[:, 1:]


def octaves(count: int) -> list[slice]:
    """The slices of waves that form octaves: waves 1 and 2, 3 and 4, 5 to 8, 9 to 16 and so on."""
    ends = [0, min(2, count)]
    while ends[-1] < count:
        ends.append(min(max(4, 2 * ends[-1]), count))
    return [slice(first, last) for first, last in pairwise(ends)]


FASTEST = 32  # the number of the fastest wave that is examined
FINEST = 4 * FASTEST  # the largest number of cells that waves are computed in
BEYOND = 5.0  # deviations of chance beyond which an octave counts
UNSEEN = 1.28  # deviations of chance, which hides less in nine of ten cases


def wave_energies(targets: NDArray[Any], region: NDArray[Any]) -> Any:
    """(..., waves) Squared wave coefficients of target minus region, scaled to a mean of 1 for random targets."""
    rows, inside = float(region.sum()), np.maximum(targets.sum(axis=-1), 1.0)
    step = -(-len(region) // FINEST)
    starts = np.arange(0, len(region), step)
    region, targets = np.add.reduceat(region, starts), np.add.reduceat(targets, starts, axis=-1)
    functions = waves(region, min(FASTEST, len(region) // 2))
    chance = np.maximum(1.0 / inside - 1.0 / rows, 1e-300)
    return (targets @ functions / inside[..., None] - region @ functions / rows) ** 2 / chance[..., None]


def fastest_wave(targets: NDArray[Any], region: NDArray[Any]) -> Any:
    """(...,) The last wave of the fastest octave in which target and region clearly differ; 0 if there is none."""
    energies = wave_energies(targets, region)
    fastest = np.zeros(targets.shape[:-1])
    for octave in octaves(energies.shape[-1]):
        size = octave.stop - octave.start
        beyond = energies[..., octave].sum(axis=-1) > size + BEYOND * math.sqrt(2.0 * size)
        fastest = np.where(beyond, octave.stop, fastest)
    return fastest


def smoothed_away(target: NDArray[Any], region: NDArray[Any], width: float) -> tuple[float, float]:
    """The part of the sum of `wave_energies` that a kernel of this width (in cells) removes, and how much more it may.

    The energies are compared with those of random targets. The octaves are used that give the largest upper limit.
    """
    energies = wave_energies(target, region)
    faster = np.pi * np.arange(1, len(energies) + 1) * width / len(region)
    lost = 1.0 - np.exp(-(faster**2))
    ends = [octave.stop - 1 for octave in octaves(len(energies))]
    removed, chance = np.cumsum(lost * (energies - 1.0))[ends], UNSEEN * np.sqrt(2.0 * np.cumsum(lost**2))[ends]
    most = int(np.argmax(removed + chance))
    known = max(0.0, float(removed[most]))
    return known, max(0.0, float(removed[most] + chance[most]) - known)


Stack: TypeAlias = NDArray[Any]  # (..., cells) counts
Smoothing: TypeAlias = Literal["auto", "none"] | float
NARROWEST = 0.3  # cells; with a narrower kernel nothing is smoothed
LARGEST_WIDTH = 1e300  # cells; larger bandwidths are refused
FLAT = 5.0  # times the number of cells: a kernel of this width makes all cells equal
MANY = 300  # target rows from which the kernel narrows faster
REACH = 9.0  # bandwidths beyond which a Gaussian is 0 in double precision
ENOUGH = 6.0  # bandwidths beyond which it is 0 in single precision
PASSING = 0.1  # part of a half-wave's length: a kernel of this width keeps nine tenths of the wave's energy
TOGETHER = 32  # the number of cells in one product of a banded kernel
Band: TypeAlias = tuple[slice, slice, Stack, Stack]  # output cells, input cells, the kernel and its square


def scott_bandwidth(counts: Stack, *, fade: bool = True) -> Any:
    """(...,) The bandwidth in cells for n rows, counted by cell: 0.53 · min(σ, IQR/1.34) · n^(-1/5); 0 if n < 2.

    The bandwidth is half that of Scott's rule. If `fade` is True and n is above `MANY`, it decreases faster with n.
    Shares are corrected for chance, so a narrow kernel does little harm. A wide kernel would blur jumps of the density,
    however many rows there are.
    """
    total = counts.sum(axis=-1)
    rows = np.maximum(total, 2).astype(np.float64)
    cells = np.arange(counts.shape[-1])
    mean = counts @ cells.astype(counts.dtype) / rows
    # In single precision, all of a stack are centred at one place, so that one product is enough.
    centre = mean if mean.ndim == 0 else mean.mean() if counts.dtype == np.float32 else 0.0
    squares = counts @ ((cells - centre) ** 2).astype(np.result_type(counts.dtype, np.float32))
    deviation = np.sqrt(np.maximum(squares - rows * (mean - centre) ** 2, 0.0) / (rows - 1))
    width = 0.53 * np.minimum(deviation, interquartile(counts) / 1.34) * rows ** (-0.2)
    if fade:
        width = width * np.sqrt(np.minimum(1.0, MANY / rows))
    return np.where(total < 2, 0.0, width)


def is_too_narrow(counts: Stack, step: int) -> bool:
    """Whether Scott's rule would give less than `NARROWEST` cells even for the widest distribution of the rows."""
    total, cells = counts.sum(axis=-1), counts.shape[-1]
    rows = float(total.min()) if total.size else 0.0
    return rows > MANY and step * 0.53 * (cells / 2.0) * rows ** (-0.2) * math.sqrt(MANY / rows) < NARROWEST


def interquartile(counts: Stack) -> Any:
    """(...,) The interquartile range in cells, interpolated between rows like NumPy's percentile.

    Counts in single precision are not interpolated, because they always contain hundreds of rows.
    """
    if counts.dtype == np.float32:
        reached, total = _cumulated(counts), counts.sum(axis=-1)
        first, third = (_cells_up_to(reached, np.float32(part) * total) for part in (0.25, 0.75))
        return (third - first).astype(np.float64)
    reached = np.cumsum(counts, axis=-1)
    last = np.maximum(reached[..., -1] - 1, 1)

    def quantile(part: float) -> Any:
        position = part * last
        below = np.floor(position)
        low, high = (_cells_up_to(reached, end + 1e-6) for end in (below, np.minimum(below + 1, last)))
        return low + (position - below) * (high - low)

    return quantile(0.75) - quantile(0.25)


def _cells_up_to(reached: Stack, ends: Any) -> Any:
    if reached.ndim == 1:
        return np.searchsorted(reached, ends, side="right")
    return (reached <= ends[..., None]).sum(axis=-1, dtype=np.int16)


def _cumulated(counts: Stack) -> Stack:
    """Cumulative sums over the cells, computed cell by cell, which is faster if the draws of a cell are contiguous."""
    reached = np.empty_like(counts)
    reached[..., 0] = counts[..., 0]
    for cell in range(1, counts.shape[-1]):
        np.add(reached[..., cell - 1], counts[..., cell], out=reached[..., cell])
    return reached


def check_smoothing(smoothing: object) -> None:
    known = isinstance(smoothing, str) and smoothing in ("auto", "none")
    number = isinstance(smoothing, Real) and not isinstance(smoothing, bool)
    if not known and not (number and 0 <= as_real(smoothing) < LARGEST_WIDTH):
        raise QueryError(Arg("smoothing", smoothing), " must be 'auto', 'none' or a bandwidth of 0 or more cells")


def bandwidth(smoothing: object, targets: Stack, block: Block, step: int = 1, *, region: Stack | None = None) -> Any:
    """(...,) The kernel's width in cells for the target rows of one block; 0 for no kernel.

    If cells were merged in groups of `step` cells, the width is in merged cells. Scott's rule assumes a single peak, so
    its kernel may blur fine differences between the target and the `region`. Then a narrower kernel is used.
    """
    cells, shape = targets.shape[-1], targets.shape[:-1]
    if smoothing == "none":
        return np.zeros(shape)
    if smoothing == "auto":
        if not (block.ordered and step * cells > FEW_CELLS) or is_too_narrow(targets, step):
            return np.zeros(shape)
        width = scott_bandwidth(targets)
        if region is not None and region.any():
            wave = np.maximum(fastest_wave(targets, region), 1e-9)
            width = np.minimum(width, PASSING * min(2.0 * float(interquartile(region)), cells) / wave)
        width = np.where(width * step < NARROWEST, 0.0, width)
        return np.where(targets.sum(axis=-1) < 2, FLAT * cells, width)  # too few rows to distinguish cells
    check_smoothing(smoothing)
    return np.full(shape, float(smoothing) / step if block.ordered else 0.0)  # type: ignore[arg-type]


def width_in(block: Block, smoothing: object, target: Stack, region: Stack) -> float:
    """The kernel's width in cells for the target rows of one block."""
    if smoothing != "auto" or is_too_narrow(target, 1):
        return float(bandwidth(smoothing, target, block, region=region))
    # A parameter's shares, notes and densities use the same widths and smooth the same rows.
    key = "width", block.ordered, digest_of(target), digest_of(region)
    return RESULTS.get(EVERYWHERE, key, lambda: float(bandwidth("auto", target, block, region=region)))


def is_flat(cells: int, width: float) -> bool:
    """Whether the kernel is so wide that every smoothed density is uniform in double precision."""
    return width > 4 * cells


@lru_cache(maxsize=512)
def periodic_kernel(cells: int, width: float) -> Reals:
    """(2 · cells,) The weight of each distance on the mirrored grid; the weights sum to 1."""
    period = 2 * cells
    kernel = np.zeros(period)
    if is_flat(cells, width):
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


def smooth(masses: Reals, width: float) -> Reals:
    """The smoothed masses S · masses (read-only): never negative, with the same sum."""
    return _kept(lambda values: _convolve(values, periodic_kernel(len(values), width), width), "smooth", masses, width)


def _kept(apply: Callable[[Reals], Reals], name: str, masses: Reals, width: float) -> Reals:
    """The cached result (read-only) of a kernel that is applied to the masses; with the width 0, the masses."""
    if width == 0.0:
        return masses
    values = np.asarray(masses, dtype=np.float64)

    def make() -> Reals:
        result = apply(values)
        result.flags.writeable = False
        return result

    return RESULTS.get(EVERYWHERE, (name, digest_of(values), width), make)


def _convolve(masses: Reals, kernel: Reals, width: float) -> Reals:
    """The convolution as a direct sum: a Fourier transform has rounding errors larger than the smallest masses."""
    cells = len(masses)
    reach = min(math.ceil(REACH * width) + 1, cells)
    # The distances -cells and +cells are the same on a full period.
    distances = np.arange(-reach if reach < cells else 1 - cells, reach + 1)
    padded = np.concatenate([masses[:reach][::-1], masses, masses[::-1][: -int(distances[0])]])
    return np.convolve(padded, kernel[distances], mode="valid")


@lru_cache(maxsize=8)
def reflected_matrix(cells: int, width: float) -> Reals:
    """(cells, cells) The matrix S for a width above 0, cached because several results need it."""
    kernel = periodic_kernel(cells, width)
    near, far = kernel[np.arange(1 - cells, cells)], np.append(kernel[1:], kernel[0])
    matrix: Reals = _windows(near, cells)[:, ::-1] + _windows(far, cells)
    matrix.flags.writeable = False
    return matrix


def squared_smooth(masses: Reals, width: float) -> Reals:
    """Σ_j S_ij² · masses_j for every i (read-only), without building S if the kernel is narrow.

    S_ij² = P(i-j)² + P(i+j+1)² + 2 P(i-j) P(i+j+1). The first two terms are a convolution; the last one matters only
    near the edges, where a cell is close to its mirror image.
    """
    return _kept(lambda values: _squared_smooth(values, width), "squared", masses, width)


def _squared_smooth(masses: Reals, width: float) -> Reals:
    cells = len(masses)
    if is_flat(cells, width):
        return np.full(cells, masses.sum() / cells**2)
    kernel = periodic_kernel(cells, width)
    result = _convolve(masses, kernel**2, width)
    corner = math.ceil(6.5 * width) + 1
    if 2 * corner >= cells:
        return result + _mirror_products(kernel, cells, cells) @ (2.0 * masses)
    products = _mirror_products(kernel, cells, corner)
    result[:corner] += products @ (2.0 * masses[:corner])
    result[-corner:] += (products @ (2.0 * masses[-corner:][::-1]))[::-1]
    return result


def _mirror_products(kernel: Reals, cells: int, size: int) -> Reals:
    """(size, size) P(i-j) P(i+j+1) for the first `size` cells; those of the last cells are its mirror image."""
    near = kernel[np.arange(size - 1, -size, -1)]
    far = kernel[np.arange(1, 2 * size) % (2 * cells)]
    return _windows(near, size)[::-1] * _windows(far, size)


def _windows(values: Reals, size: int) -> Reals:
    """(size, size) A matrix of sliding windows over `values`, ten times as fast as `sliding_window_view`."""
    return np.ndarray((size, size), values.dtype, values, 0, 2 * values.strides)


@dataclass(frozen=True, slots=True, eq=False)
class BandedKernel:
    """The kernel S of one block, applied to many draws at once; zeros of S are skipped.

    Single precision is enough for random draws, but it cannot represent small differences from 1. So the difference of
    two densities is smoothed, not each density.
    """

    bands: tuple[Band, ...]

    @classmethod
    def of(cls, cells: int, width: float, dtype: Any = np.float32) -> BandedKernel:
        matrix = reflected_matrix(cells, width).astype(dtype, copy=False)
        square, reach = matrix**2, math.ceil((ENOUGH if dtype == np.float32 else REACH) * width) + 1
        together = TOGETHER if TOGETHER + 2 * reach < cells else cells
        computed = [slice(first, min(first + together, cells)) for first in range(0, cells, together)]
        needed = [slice(max(0, some.start - reach), min(cells, some.stop + reach)) for some in computed]
        return cls(tuple((c, n, matrix[n, c], square[n, c]) for c, n in zip(computed, needed, strict=True)))

    def smooth(self, masses: Stack) -> Stack:
        return self._product(masses, squared=False)

    def squared_smooth(self, masses: Stack) -> Stack:
        return self._product(masses, squared=True)

    def _product(self, masses: Stack, *, squared: bool) -> Stack:
        result = np.empty_like(masses)
        for computed, needed, matrix, square in self.bands:
            np.matmul(masses[..., needed], square if squared else matrix, out=result[..., computed])
        return result


@lru_cache(maxsize=256)
def cached_kernel(cells: int, width: float) -> BandedKernel:
    """The kernel of a given width for random draws, cached because only a few rounded widths occur."""
    return BandedKernel.of(cells, width)
