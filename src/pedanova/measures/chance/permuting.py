"""Scores dealt out to the rows at random: what a statistic would be if a parameter did nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Reals: TypeAlias = NDArray[np.float64]
Singles: TypeAlias = NDArray[np.float32]
Indices: TypeAlias = NDArray[np.int64]
MANY = 100  # target rows from which on sums of permuted scores are taken for normal
SOME = 16  # SOME² deals are a first look:
CLEAR = 0.1  # where so many of them are as high, more would tell nothing
UNLIKELY = 2  # times the p-value without the way: a way that points against what the target shows is seldom
SAME = 1e-5  # relative: a permuted statistic so near counts as equal
MOST_KEPT = 1 << 24  # bytes of what the next target needs as well


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
    room: int = MOST_KEPT  # bytes that may still be kept
    _kept: dict[tuple[int, int], NDArray[Any]] = field(default_factory=dict)  # by parameter and side

    @cached_property
    def orders(self) -> tuple[Indices, Indices]:
        """(side, rows) each."""
        rng = np.random.default_rng([self.seed, 0x9E4])
        first, second = (_shuffled(self.rows, self.side, self.neighbours, rng) for _ in range(2))
        return first, second

    @cached_property
    def normals(self) -> Reals:
        """(columns, side²)"""
        rng = np.random.default_rng([self.seed, 0x9E5])
        return rng.standard_normal((self.columns, self.side**2))

    def p_value(self, scores: Reals, marks: Reals, way: Reals, *, parameter: int, inside: int) -> float:
        """How often dealt scores reach the statistic of the scores as they are, Σ (scores · marks + way)².

        Asked with the way and without, and the smaller of both judged by what dealt scores make of it: among the rows
        behind the target the order may be the opposite one. A kind of model that is never the best may be the safest.
        """
        seen = squares((scores @ marks)[:, None], way)[:, 0] * (1.0 - SAME)
        if inside >= MANY:
            return part_of_least(self.in_the_limit(scores, marks, way, parameter=parameter), seen)
        first = self.statistics(scores, marks, way, parameter=parameter, side=min(SOME, self.side))
        if (np.count_nonzero(first >= seen[:, None], axis=1) >= CLEAR * first.shape[1]).all():
            return part_of_least(first, seen)
        return part_of_least(self.statistics(scores, marks, way, parameter=parameter), seen)

    def statistics(self, scores: Reals, marks: Reals, way: Reals, *, parameter: int, side: int | None = None) -> Reals:
        """(1 or 2, side²) Σ (scores · marks + way)², the scores dealt at random; without the way, too."""
        side = self.side if side is None else side
        dealt = np.take(scores.astype(np.float32), self.orders[0][:side])
        products = (dealt @ self._turned(marks, parameter, side).T).reshape(side, marks.shape[1], side)
        plain = np.einsum("ijk,ijk->ik", products, products).ravel().astype(np.float64)
        if not way.any():
            return np.asarray(plain[None, :])
        along = np.einsum("ijk,j->ik", products, way.astype(np.float32)).ravel()
        found: Reals = np.stack([plain + 2.0 * along + way @ way, plain])
        return found

    def in_the_limit(self, scores: Reals, marks: Reals, way: Reals, *, parameter: int) -> Reals:
        """Normal products with the covariance of permuted ones."""
        columns = self.normals[: marks.shape[1]]
        if self.neighbours is not None:
            return squares(_root(marks * _deviations(scores, self.neighbours)[:, None]) @ columns, way)
        products = self._keep(parameter, 0, lambda: _root(marks) @ columns)
        return squares(products * float(scores.std(ddof=1)), way)

    def _turned(self, marks: Reals, parameter: int, side: int) -> Singles:
        """(columns · side, rows) A parameter's columns in the second orders."""

        def turn() -> Singles:
            single = np.ascontiguousarray(marks.T, dtype=np.float32)
            return np.take(single, self.orders[1][:side], axis=1).reshape(-1, self.rows)

        return self._keep(parameter, side, turn)

    def _keep(self, parameter: int, side: int, make: Callable[[], NDArray[Any]]) -> NDArray[Any]:
        """What is the same for every target, made once as long as there is room."""
        key = parameter, side
        if key in self._kept:
            return self._kept[key]
        made = make()
        if made.nbytes <= self.room:
            self.room -= made.nbytes
            self._kept[key] = made
        return made


def squares(products: Reals, way: Reals) -> Reals:
    """(1 or 2, deals) Σ (products + way)² over the columns, which come first; without the way, too, if there is one."""
    plain: Reals = np.einsum("ij,ij->j", products, products)
    if not way.any():
        return plain[None, :]
    moved = products + way[:, None]
    along: Reals = np.einsum("ij,ij->j", moved, moved)
    return np.stack([along, plain])


def part_of_least(found: Reals, seen: Reals) -> float:
    """The p-value of the smaller p-value, that without the way taken twice: it is seldom needed."""
    every: Reals = np.concatenate([seen[:, None], found], axis=1)
    above = np.count_nonzero(every >= seen[:, None], axis=1)
    if len(every) == 1:
        return int(above[0]) / int(every.shape[1])
    least = min(int(above[0]), UNLIKELY * int(above[1]))
    rare = reached_by(every[0], least) | reached_by(every[1], least // UNLIKELY)
    return int(np.count_nonzero(rare)) / int(every.shape[1])


def reached_by(values: Reals, most: int) -> NDArray[np.bool_]:
    """(values,) Those that at most so many of all reach, themselves included."""
    if most >= len(values):
        return np.ones(len(values), dtype=bool)
    place = len(values) - 1 - most
    found: NDArray[np.bool_] = values > np.partition(values, place)[place]
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
