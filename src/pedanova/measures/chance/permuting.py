"""Scores dealt out to the rows at random: what a statistic would be if a parameter did nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Reals: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.int64]
MANY = 100  # target rows from which on sums of permuted scores are taken for normal
SOME = 16  # SOME² deals are a first look:
CLEAR = 0.1  # where so many of them are as high, more would tell nothing
UNLIKELY = 2.0  # a way that points against what the target shows
SAME = 1e-5  # relative: a permuted statistic so near counts as equal


@dataclass(eq=False)
class Deals:
    """Random numbers that serve every parameter and target.

    Permutations are all compositions of two small sets, which are pairwise independent. With many
    target rows, products of permuted scores with a parameter's columns are normal, and only their
    covariance is needed.
    """

    rows: int
    columns: int  # that a parameter has at most
    side: int  # side² random deals
    neighbours: Indices | None  # (rows,) blocks among whose rows alone scores are dealt
    seed: int
    _roots: dict[int, Reals] = field(default_factory=dict)  # of the covariance, by parameter

    @cached_property
    def orders(self) -> tuple[Indices, Indices]:
        """(side, rows) each."""
        rng = np.random.default_rng([self.seed, 0x9E4])
        first, second = (_shuffled(self.rows, self.side, self.neighbours, rng) for _ in range(2))
        return first, second

    @cached_property
    def normals(self) -> Reals:
        """(side², columns)"""
        rng = np.random.default_rng([self.seed, 0x9E5])
        return np.ascontiguousarray(rng.standard_normal((self.columns, self.side**2)).T)

    def p_value(self, scores: Reals, marks: Reals, way: Reals, *, parameter: int, inside: int) -> float:
        """How often dealt scores reach the statistic of the scores as they are, Σ (scores · marks + way)².

        Asked with the way and without, and the smaller of both judged by what dealt scores make of it: among the rows
        behind the target the order may be the opposite one. A kind of model that is never the best may be the safest.
        """
        seen = squares(scores @ marks, way) * (1.0 - SAME)
        if inside >= MANY:
            return part_of_least(self.in_the_limit(scores, marks, way, parameter), seen)
        first = self.statistics(scores, marks, way, min(SOME, self.side))
        if (np.count_nonzero(first >= seen, axis=0) >= CLEAR * len(first)).all():
            return part_of_least(first, seen)
        return part_of_least(self.statistics(scores, marks, way, self.side), seen)

    def statistics(self, scores: Reals, marks: Reals, way: Reals, side: int) -> Reals:
        """(side², 1 or 2) Σ (scores · marks + way)², the scores dealt at random; without the way, too."""
        first, second = (orders[:side] for orders in self.orders)
        dealt = np.take(scores.astype(np.float32), first)
        moved = np.take(np.ascontiguousarray(marks.T, dtype=np.float32), second, axis=1)
        products = (dealt @ moved.reshape(-1, self.rows).T).reshape(side, marks.shape[1], side)
        plain = np.einsum("ijk,ijk->ik", products, products).ravel().astype(np.float64)
        if not way.any():
            return np.asarray(plain[:, None])
        along = np.einsum("ijk,j->ik", products, way.astype(np.float32)).ravel()
        found: Reals = np.stack([plain + 2.0 * along + way @ way, plain], axis=1)
        return found

    def in_the_limit(self, scores: Reals, marks: Reals, way: Reals, parameter: int) -> Reals:
        """Normal products with the covariance of permuted ones."""
        if self.neighbours is not None:
            root = _root(marks * _deviations(scores, self.neighbours)[:, None])
        else:
            if parameter not in self._roots:
                self._roots[parameter] = _root(marks)
            root = self._roots[parameter] * float(scores.std(ddof=1))
        return squares(self.normals[:, : marks.shape[1]] @ root.T, way)


def squares(products: Reals, way: Reals) -> Reals:
    """(…, 1 or 2) Σ (products + way)², and without the way where there is one."""
    plain: Reals = (products**2).sum(axis=-1, keepdims=True)
    if not way.any():
        return plain
    return np.concatenate([((products + way) ** 2).sum(axis=-1, keepdims=True), plain], axis=-1)


def part_of_least(found: Reals, seen: Reals) -> float:
    """The p-value of the smaller p-value, that without the way taken twice: it is seldom needed."""
    every = np.concatenate([seen[None, :], found])
    if every.shape[1] == 1:
        return int(np.count_nonzero(every >= seen)) / len(every)
    parts = np.minimum(parts_above(every[:, 0]), UNLIKELY * parts_above(every[:, 1]))
    return int(np.count_nonzero(parts <= parts[0])) / len(every)


def parts_above(values: Reals) -> Reals:
    """(values,) For each the part of all that are as large."""
    found: Reals = (len(values) - np.searchsorted(np.sort(values), values, side="left")) / len(values)
    return found


def _root(columns: Reals) -> Reals:
    """(columns, columns) A square root of their covariance, times the rows."""
    values, ways = np.linalg.eigh(columns.T @ columns)
    root: Reals = ways * np.sqrt(np.maximum(values, 0.0))
    return root


def _deviations(scores: Reals, blocks: Indices) -> Reals:
    """(rows,) Of the scores of each row's block."""
    sizes = np.bincount(blocks)
    spread = scores - (np.bincount(blocks, weights=scores) / sizes)[blocks]
    variance = np.bincount(blocks, weights=spread**2) / np.maximum(sizes - 1, 1)
    found: Reals = np.sqrt(variance)[blocks]
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
