"""What an additive model of other parameters tells of each row's rank, whatever the target."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Reals: TypeAlias = NDArray[np.float64]
Mask: TypeAlias = NDArray[np.bool_]
Indices: TypeAlias = NDArray[np.int64]
MOST_COLUMNS = 100  # of other parameters that are adjusted for, the strongest
STRENGTHS = np.logspace(1.5, -3.0, 15)  # of the ridge, as parts of the largest direction
MOST_FREE = 0.6  # of the rows, that the ridge may use up


@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """The normal score that others tell of each row, and how far it is off."""

    mean: Reals  # (rows,)
    deviation: float


@dataclass(frozen=True, slots=True, eq=False)
class Others:
    """The strongest parameters of a region's rows, to be adjusted for."""

    normal: Reals  # (rows,) normal scores of the ranks, centred
    kin: Mask  # (parameters, parameters)
    columns: Reals  # (rows, columns)
    owner: Indices  # (columns,)
    gram: Reals
    seen: Reals
    known: dict[bytes, Told | None] = field(default_factory=dict)  # by the columns used

    @classmethod
    def of(cls, normal: Reals, marks: Sequence[Reals], kin: Mask) -> Others:
        strength = np.array([_strength(normal, columns) for columns in marks])
        chosen, taken = [], 0
        for j in np.argsort(-strength, kind="stable"):
            width = marks[j].shape[1]
            if strength[j] > 0.0 and taken + width <= MOST_COLUMNS:
                chosen.append(int(j))
                taken += width
        chosen.sort()
        parts = [marks[j] * math.sqrt(strength[j]) for j in chosen]
        columns = np.concatenate(parts, axis=1) if parts else np.zeros((len(normal), 0))
        owner = np.repeat(np.array(chosen, dtype=np.int64), [part.shape[1] for part in parts])
        return cls(normal, kin, columns, owner, columns.T @ columns, normal @ columns)

    def without(self, j: int) -> Told | None:
        """What parameters that are no kin of one tell; None where there are none."""
        used = ~self.kin[j][self.owner]
        key = used.tobytes()
        if key not in self.known:
            self.known[key] = self._told(np.flatnonzero(used))
        return self.known[key]

    def _told(self, used: Indices) -> Told | None:
        if not len(used):
            return None
        gram, seen = self.gram[np.ix_(used, used)], self.seen[used]
        return told_by_others(self.normal, self.columns[:, used], gram, seen)


def _strength(normal: Reals, marks: Reals) -> float:
    """How far a parameter tells the order beyond chance, 0 if it does not."""
    size = float((marks**2).sum())
    if size == 0.0:
        return 0.0
    chance = float(normal @ normal) / (len(normal) - 1) * size
    return max(float(((normal @ marks) ** 2).sum()) / chance - 1.0, 0.0)


def told_by_others(scores: Reals, columns: Reals, gram: Reals, seen: Reals) -> Told:
    """A ridge of the scores on columns, each row told by the other rows; and the deviation of what is missed.

    Its strength is the one with the least generalised cross-validation.
    """
    rows = len(scores)
    squares, ways = np.linalg.eigh(gram)
    kept = squares > 1e-9 * squares[-1]
    squares, ways = squares[kept], ways[:, kept] / np.sqrt(squares[kept])
    along = seen @ ways
    passed = squares / (squares + squares[-1] * STRENGTHS[:, None])  # (strengths, directions)
    free = 1.0 + passed.sum(axis=1)
    misfit = scores @ scores - along @ along + (1.0 - passed) ** 2 @ along**2
    error = misfit / (1.0 - np.minimum(free, MOST_FREE * rows) / rows) ** 2
    best = passed[int(np.argmin(np.where(free <= MOST_FREE * rows, error, np.inf)))]
    turned = columns @ (ways * np.sqrt(best))
    missed = scores - turned @ (np.sqrt(best) * along)
    missed /= 1.0 - 1.0 / rows - np.einsum("ij,ij->i", turned, turned)
    return Told(scores - missed, float(missed.std()))
