"""Random counts for inference: subsets of the region, and counts around an estimate.

The cost does not grow with the rows: up to `EXACT` target rows they are drawn one by one, beyond
that counts come from their limit law, cell by cell.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Reals: TypeAlias = NDArray[np.float64]
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


def subset_counts(
    region: Counts, inside: int, positions: NDArray[np.int64] | None, draws: int, rng: np.random.Generator
) -> Reals:
    """(draws, cells) Rows by cell of random subsets of the region: multivariate hypergeometric."""
    if positions is None:
        return _near_normal(region, inside, draws, rng)
    if region.sum() <= LISTED:
        return _by_draw(np.repeat(np.arange(len(region), dtype=np.int32), region)[positions], len(region))
    cells = np.searchsorted(np.cumsum(region), positions.ravel(), side="right")
    return _by_draw(cells.reshape(positions.shape), len(region))


def _near_normal(region: Counts, inside: int, draws: int, rng: np.random.Generator) -> Reals:
    """Normal counts with the covariance of random subsets; rare cells are binomial."""
    rows = int(region.sum())
    part = inside / rows
    spread = np.sqrt(region * part * (1.0 - part) * rows / (rows - 1))
    counts: Reals = region * part + spread * rng.standard_normal((draws, len(region)))
    for cell in np.flatnonzero((region > 0) & (np.minimum(part, 1.0 - part) * region < RARE)):
        counts[:, cell] = rng.binomial(region[cell], part, size=draws)
    excess = counts.sum(axis=1) - inside
    return np.maximum(counts - np.outer(excess, region / rows), 0.0)


def sampled_counts(
    chances: Reals,
    rows: int,
    uniforms: NDArray[np.uint16] | None,
    draws: int,
    rng: np.random.Generator,
    *,
    normals: Reals | None = None,
) -> Reals:
    """(draws, cells) Rows by cell, drawn with the given chances; `uniforms` are (draws, rows)."""
    if uniforms is None:
        return poisson_counts(chances * rows, draws, rng, normals=normals)
    ends = np.cumsum(chances) / chances.sum()
    table = np.searchsorted(ends, (np.arange(STEPS) + 0.5) / STEPS, side="right").astype(np.int32)
    return _by_draw(np.minimum(table, len(chances) - 1)[uniforms], len(chances))


def poisson_counts(
    expected: Reals, draws: int, rng: np.random.Generator, *, rare: float = RARE, normals: Reals | None = None
) -> Reals:
    """(draws, cells) Independent counts with these expectations, normal where they are not rare."""
    if normals is None:
        normals = rng.standard_normal((draws, len(expected)))
    counts: Reals = expected + np.sqrt(expected) * normals[:, : len(expected)]
    few = np.flatnonzero(expected < rare)
    counts[:, few] = rng.poisson(expected[few], size=(draws, len(few)))
    return np.maximum(counts, 0.0)


def _by_draw(cells: NDArray[np.integer], width: int) -> Reals:
    draws = len(cells)
    flat = (cells + np.arange(draws)[:, None] * width).ravel()
    return np.bincount(flat, minlength=draws * width).reshape(draws, width).astype(np.float64)
