"""Waves along a parameter: functions of its cells, orthonormal under a margin, in octaves of ever faster ones.

What a target shows in an octave, less what chance shows there, tells how fine its structure is.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.space.grid import Block

Reals: TypeAlias = NDArray[np.float64]
Waves: TypeAlias = list[tuple[Reals, list[slice]]]  # functions (cells, functions), and their octaves


def waves_of(mass: Reals, blocks: Sequence[Block], *, child: bool) -> Waves:
    """Functions of the cells, orthonormal under `mass` and to constants; of a child, inside each regime alone."""
    waves: Waves = []
    live = [block for block in blocks if mass[block.start : block.stop].sum() > 0]
    if not child and len(live) > 1:
        weights = np.array([mass[block.start : block.stop].sum() for block in live])
        regimes = np.zeros((len(mass), len(live)))
        for i, block in enumerate(live):
            regimes[block.start : block.stop, i] = 1.0
        waves.append((regimes @ orthonormal(contrasts(len(live)), weights), [slice(0, len(live) - 1)]))
    for block in live:
        there = block.start + np.flatnonzero(mass[block.start : block.stop] > 1e-12)
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
    """A constant, and an indicator for all categories but one."""
    return np.column_stack([np.ones(count), np.eye(count)[:, :-1]])


def orthonormal(raw: Reals, weights: Reals) -> Reals:
    """The columns made orthonormal under the weights, without the first one, which is constant."""
    roots = np.sqrt(weights)[:, None]
    q: NDArray[np.float64] = np.linalg.qr(roots * raw)[0]
    return (q / roots)[:, 1:]


def octaves(count: int) -> list[slice]:
    """Waves 1 and 2, 3 and 4, 5 to 8, 9 to 16 and so on."""
    ends = [0, min(2, count)]
    while ends[-1] < count:
        ends.append(min(max(4, 2 * ends[-1]), count))
    return [slice(first, last) for first, last in pairwise(ends)]
