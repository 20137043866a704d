"""Random counts for inference: subsets of the region, and counts around an estimate.

The cost does not grow with the rows: up to `EXACT` target rows they are drawn one by one, beyond
that counts come from their limit law, cell by cell.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Reals: TypeAlias = NDArray[np.float64]
Singles: TypeAlias = NDArray[np.float32]
Counts: TypeAlias = NDArray[np.int64]
EXACT = 500  # target rows up to which every row is drawn
RARE = 10  # expected rows below which a cell is not taken for normal
LISTED = 1 << 20  # rows up to which each row's cell is written down
STEPS = 1 << 16  # resolution of a look-up from uniform numbers to cells


def subsets(rows: int, inside: int, draws: int, rng: np.random.Generator) -> NDArray[np.int64] | None:
    """(draws, inside) Positions of random subsets of the rows; None where there are too many."""
    if inside > EXACT:
        return None
    if rows <= EXACT:
        keys = rng.random((draws, rows), dtype=np.float32)
        return np.argpartition(keys, inside - 1, axis=1)[:, :inside]
    return np.stack([rng.choice(rows, inside, replace=False, shuffle=False) for _ in range(draws)])


def subset_counts(region: Counts, positions: NDArray[np.int64]) -> Reals:
    """(draws, cells) Rows by cell of random subsets of the region: multivariate hypergeometric."""
    if region.sum() <= LISTED:
        return _by_draw(np.repeat(np.arange(len(region), dtype=np.int32), region)[positions], len(region))
    cells = np.searchsorted(np.cumsum(region), positions.ravel(), side="right")
    return _by_draw(cells.reshape(positions.shape), len(region))


def stacked_subsets(region: Counts, inside: int, normals: Singles, rng: np.random.Generator) -> Singles:
    """(cells, draws) The same by their limit law, from normal numbers that may be shared; none is below 0."""
    rows = int(region.sum())
    part = inside / rows
    spread: Reals = np.sqrt(region * part * (1.0 - part) * rows / (rows - 1))
    mean = np.asarray(region * part, dtype=np.float64)
    counts = _around(mean, spread, normals)
    rare = np.flatnonzero((region > 0) & (np.minimum(part, 1.0 - part) * region < RARE))
    if len(rare):
        counts[rare] = rng.binomial(region[rare][:, None], part, size=(len(rare), normals.shape[1]))
    excess = counts.sum(axis=0) - np.float32(inside)
    counts -= (region / rows).astype(np.float32)[:, None] * excess
    return np.maximum(counts, np.float32(0.0), out=counts)


def sampled_counts(chances: Reals, uniforms: NDArray[np.uint16]) -> Reals:
    """(draws, cells) Rows by cell, drawn with the given chances; `uniforms` are (draws, rows)."""
    ends = np.cumsum(chances) / chances.sum()
    table = np.searchsorted(ends, (np.arange(STEPS) + 0.5) / STEPS, side="right").astype(np.int32)
    return _by_draw(np.minimum(table, len(chances) - 1)[uniforms], len(chances))


def stacked_counts(expected: Reals, normals: Singles, rng: np.random.Generator, *, rare: float = RARE) -> Singles:
    """(cells, draws) Independent counts with these expectations, normal where they are not rare."""
    counts = _around(expected, np.sqrt(expected), normals)
    few = np.flatnonzero((expected < rare) & (expected > 0.0))
    if len(few):
        counts[few] = rng.poisson(expected[few][:, None], size=(len(few), normals.shape[1]))
    return np.maximum(counts, np.float32(0.0), out=counts)


def _around(mean: Reals, spread: Reals, normals: Singles) -> Singles:
    counts: Singles = spread.astype(np.float32)[:, None] * normals
    counts += mean.astype(np.float32)[:, None]
    return counts


def _by_draw(cells: NDArray[np.integer], width: int) -> Reals:
    draws = len(cells)
    flat = (cells + np.arange(draws)[:, None] * width).ravel()
    return np.bincount(flat, minlength=draws * width).reshape(draws, width).astype(np.float64)
