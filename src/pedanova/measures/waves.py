"""Waves: orthonormal functions of a parameter's cells, from slow to fast, grouped into octaves.

The target's density is expanded in these functions to see how fine its details are. In each octave, the squared
coefficients are compared with those of random targets.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.space.grid import Block, Reals

Waves: TypeAlias = list[tuple[Reals, list[slice]]]  # functions (cells, functions), and their octaves


def waves_of(mass: Reals, blocks: Sequence[Block], *, child: bool) -> Waves:
    """Functions of the cells, orthonormal under `mass` and with mean 0; if `child` is True, with mean 0 in each domain.

    The functions are cached, because they are the same for all uniform parameters and for all targets of one region.
    """
    return _waves_of(mass.tobytes(), tuple(blocks), child)


@lru_cache(maxsize=256)
def _waves_of(margin: bytes, blocks: tuple[Block, ...], child: bool) -> Waves:
    mass = np.frombuffer(margin)
    waves: Waves = []
    live = [block for block in blocks if mass[block.cells].sum() > 0]
    if not child and len(live) > 1:
        weights = np.array([mass[block.cells].sum() for block in live])
        regimes = np.zeros((len(mass), len(live)))
        for i, block in enumerate(live):
            regimes[block.cells, i] = 1.0
        waves.append((regimes @ orthonormal(contrasts(len(live)), weights), [slice(0, len(live) - 1)]))
    for block in live:
        there = block.start + np.flatnonzero(mass[block.cells] > 1e-12)
        if len(there) < 2:
            continue
        weights = mass[there]
        functions = np.zeros((len(mass), len(there) - 1))
        if block.ordered:
            middles = (np.cumsum(weights) - weights / 2.0) / weights.sum()
            raw = np.cos(np.pi * np.outer(middles, np.arange(len(there))))
        else:
            raw = contrasts(len(there))
        functions[there] = orthonormal(raw, weights)
        waves.append((functions, octaves(len(there) - 1) if block.ordered else [slice(0, len(there) - 1)]))
    return waves


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
    middles = (np.cumsum(region) - region / 2.0) / rows
    count = min(FASTEST, len(region) // 2)
    waves = np.sqrt(2.0) * np.cos(np.pi * np.outer(middles, np.arange(1, count + 1)))
    chance = np.maximum(1.0 / inside - 1.0 / rows, 1e-300)
    return (targets @ waves / inside[..., None] - region @ waves / rows) ** 2 / chance[..., None]


def fastest_wave(targets: NDArray[Any], region: NDArray[Any]) -> Any:
    """(...,) The last wave of the fastest octave in which target and region clearly differ; 0 if there is none."""
    energies = wave_energies(targets, region)
    fastest = np.zeros(targets.shape[:-1])
    for octave in octaves(energies.shape[-1]):
        size = octave.stop - octave.start
        beyond = energies[..., octave].sum(axis=-1) > size + BEYOND * math.sqrt(2.0 * size)
        fastest = np.where(beyond, octave.stop, fastest)
    return fastest


def smoothed_away(target: NDArray[Any], region: NDArray[Any], width: float) -> float:
    """An upper limit for the part of the sum of `wave_energies` that a kernel of this width (in cells) removes."""
    energies = wave_energies(target, region)
    faster = np.pi * np.arange(1, len(energies) + 1) * width / len(region)
    lost = 1.0 - np.exp(-(faster**2))
    ends = [octave.stop - 1 for octave in octaves(len(energies))]
    most = np.cumsum(lost * (energies - 1.0)) + UNSEEN * np.sqrt(2.0 * np.cumsum(lost**2))
    return max(0.0, float(most[ends].max()))
