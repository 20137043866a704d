"""How each row of a region belongs to the target."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.measures.chance.normal import normal_below, normal_quantile

Reals: TypeAlias = NDArray[np.float64]
Mask: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Membership:
    """The rows of a region, best first, and how each belongs to the target."""

    score: Reals  # (rows,) centred
    cut: float  # the normal score at which the target ends
    part: float  # of the rows
    inside: int  # rows of the target
    prefix: bool  # the target is the best part: only then the order of the others can point the way


def membership_of(ranks: Reals, target: Mask, *, certain: bool) -> Membership:
    """From ranks, ½ for the best. `certain`: the target is a set of rows or values, not a quantile that would move."""
    rows, inside = len(ranks), int(target.sum())
    first, last = _span(target)
    score = target.astype(np.float64)
    if not certain and last - first == inside:
        score = _soft(ranks, last) - (_soft(ranks, first) if first else 0.0)
    return Membership(
        score=score - score.mean(),
        cut=float(normal_quantile(np.array([inside / rows]))[0]),
        part=inside / rows,
        inside=inside,
        prefix=first == 0 and last == inside,
    )


def _span(target: Mask) -> tuple[int, int]:
    held = np.flatnonzero(target)
    return int(held[0]), int(held[-1]) + 1


def _soft(ranks: Reals, inside: int) -> Reals:
    """How likely each row is among the best part of the population, of which these are a sample."""
    deviation = math.sqrt(inside * (1.0 - inside / len(ranks)))
    return normal_below((inside - ranks) / max(deviation, 1e-9))
