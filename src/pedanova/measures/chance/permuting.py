"""Scores dealt out to the rows at random: what a statistic would be if a parameter did nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Reals: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.int64]
MANY = 100  # target rows from which on sums of permuted scores are taken for normal


@dataclass(frozen=True, slots=True, eq=False)
class Chance:
    """Random numbers that serve every parameter.

    Permutations are all compositions of two small sets, which are pairwise independent. With many
    target rows, products of permuted scores with a parameter's columns are normal, and only their
    covariance is needed.
    """

    side: int  # side² random deals
    neighbours: Indices | None  # (rows,) blocks among whose rows alone scores are dealt
    first: Indices | None  # (side, rows); None where the normal limit serves
    second: Indices | None
    seed: int

    @classmethod
    def of(cls, rows: int, inside: int, side: int, neighbours: Indices | None, seed: int) -> Chance:
        if inside >= MANY:
            return cls(side, neighbours, None, None, seed)
        rng = np.random.default_rng([seed, 0x9E4])
        first, second = (_shuffled(rows, side, neighbours, rng) for _ in range(2))
        return cls(side, neighbours, first, second, seed)

    def statistics(self, scores: Reals, columns: Reals, way: Reals) -> Reals:
        """(side²,) Σ (scores · columns + way)², the scores dealt at random."""
        if self.first is None or self.second is None:
            return self._in_the_limit(scores, columns, way)
        rows = len(scores)
        dealt = np.take(scores.astype(np.float32), self.first)
        moved = np.take(np.ascontiguousarray(columns.T, dtype=np.float32), self.second, axis=1)
        products = (dealt @ moved.reshape(-1, rows).T).reshape(self.side, columns.shape[1], self.side)
        products += way.astype(np.float32)[:, None]
        found: Reals = np.einsum("ijk,ijk->ik", products, products).ravel()
        return found

    def _in_the_limit(self, scores: Reals, columns: Reals, way: Reals) -> Reals:
        """Normal products with the covariance of permuted ones."""
        blocks = np.zeros(len(scores), dtype=np.int64) if self.neighbours is None else self.neighbours
        sizes = np.bincount(blocks)
        spread = scores - (np.bincount(blocks, weights=scores) / sizes)[blocks]
        variance = np.bincount(blocks, weights=spread**2) / np.maximum(sizes - 1, 1)
        loud = (columns - block_means(columns, blocks)) * np.sqrt(variance)[blocks][:, None]
        values, ways = np.linalg.eigh(loud.T @ loud)
        root = ways * np.sqrt(np.maximum(values, 0.0))
        rng = np.random.default_rng([self.seed, 0x9E5])
        products = rng.standard_normal((self.side**2, len(values))) @ root.T + way
        found: Reals = (products**2).sum(axis=1)
        return found


def block_means(columns: Reals, blocks: Indices) -> Reals:
    """(rows, columns) The mean over each row's block."""
    sums = np.stack([np.bincount(blocks, weights=column) for column in columns.T], axis=1)
    means: Reals = (sums / np.bincount(blocks)[:, None])[blocks]
    return means


def _shuffled(rows: int, side: int, neighbours: Indices | None, rng: np.random.Generator) -> Indices:
    """(side, rows) Random orders, inside blocks where there are any."""
    if neighbours is None:
        return rng.permuted(np.tile(np.arange(rows), (side, 1)), axis=1)
    found = np.empty((side, rows), dtype=np.int64)
    found[:, np.argsort(neighbours, kind="stable")] = np.argsort(neighbours + rng.random((side, rows)), axis=1)
    return found
