"""One set of parameters: what all of it explains, and what the best sum of effects of its smaller sets does.

Target rows t of region rows c by cell of the set, m = Σt / Σc. With r = (t - m·c) / √c, the set explains
|r|² / (n·m(1 - m)) of the variance of "in the target?". Effects of the sets that are one smaller span a space of
tables; the part of r that lies in it is what they explain, added in the best way (weighted least squares).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.measures.additive import EMPTY, chance_of, draw_targets

Reals: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class SetDesign:
    """Region rows of one set and what every fit over them shares; empty cells are left out."""

    full: NDArray[np.int64]  # places of the cells that have rows
    region: Reals  # (full,)
    basis: Reals  # (full, rank) orthonormal, of √c · smaller sets' effects

    @property
    def freedoms(self) -> tuple[int, int]:
        """Of the whole table, and of the smaller sets' effects."""
        return len(self.full) - 1, self.basis.shape[1] - 1


def set_design(cells: NDArray[np.int64], region: NDArray[Any]) -> SetDesign:
    """`cells` is (order, cells): where each cell lies along every parameter."""
    full = np.flatnonzero(region > 0)
    rows = region[full].astype(np.float64)
    width = int(cells.max(initial=0)) + 1
    columns = []
    for smaller in combinations(range(len(cells)), len(cells) - 1):
        place = np.zeros(len(full), dtype=np.int64)
        for axis in smaller:
            place = place * width + cells[axis, full]
        columns.append(np.equal.outer(place, np.unique(place)).astype(np.float64))
    effects = np.sqrt(rows)[:, None] * np.concatenate(columns, axis=1)
    values, vectors = np.linalg.eigh(effects.T @ effects)
    real = values > EMPTY * len(values) * max(1.0, float(values[-1]))
    return SetDesign(full, rows, effects @ (vectors[:, real] / np.sqrt(values[real])))


def set_shares(design: SetDesign, target: NDArray[Any]) -> tuple[Reals, Reals]:
    """What the set explains, and what its smaller sets do; of one target table (full,) or of many."""
    total = float(design.region.sum())
    part = target.sum(axis=-1) / total
    off = (target - part[..., None] * design.region) / np.sqrt(design.region)
    spread = total * part * (1.0 - part)
    spread = np.where(spread > 0, spread, np.inf)
    lower = np.sum((off @ design.basis) ** 2, axis=-1)
    return np.sum(off**2, axis=-1) / spread, lower / spread


def of_the_rest(closed: Reals, lower: Reals) -> Reals:
    """What only the whole set explains, as a part of what its smaller sets leave: no noise changes its size."""
    left = 1.0 - lower
    return np.where(left > 1e-12, np.maximum(0.0, closed - lower) / np.where(left > 1e-12, left, 1.0), 0.0)


def set_p_value(design: SetDesign, target: NDArray[Any], *, most: int, random: np.random.Generator) -> float:
    """How often chance shows as much where the smaller sets explain all: targets are drawn from their fit."""
    part = target.sum() / design.region.sum()
    root = np.sqrt(design.region)
    off = (target - part * design.region) / root
    chances = np.clip(part + (design.basis @ (design.basis.T @ off)) / root, 0.0, 1.0)

    def again(draws: int) -> Reals:
        return of_the_rest(*set_shares(design, draw_targets(design.region, chances, draws, random)))

    return chance_of(float(of_the_rest(*set_shares(design, target))), again, most=most, far=True)
