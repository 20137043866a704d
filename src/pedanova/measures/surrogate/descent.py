"""The lowest place of a smooth function of a few dozen numbers: quasi-Newton steps (BFGS)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Reals: TypeAlias = NDArray[np.float64]
Loss: TypeAlias = Callable[[Reals], tuple[float, Reals]]  # its value, infinite where there is none; its slope
LONGEST = 2.0  # a step's length at most, in any one number
ENOUGH = 1e-4  # of the fall that the slope promises
TRIES = 6  # shorter steps tried before giving up


def descend(loss: Loss, start: Reals, *, steps: int, least: float) -> Reals:
    """Where the loss is lowest, after so many steps at most; a fall below `least` of the value ends the search."""
    place = start
    value, slope = loss(place)
    bend = np.eye(len(start)) / max(1.0, float(np.linalg.norm(slope)))  # the inverse of the curvature
    for step in range(steps):
        found = _along(loss, place, value, slope, -bend @ slope)
        if found is None:
            break
        there, lower, other = found
        moved, turned = there - place, other - slope
        fall, place, value, slope = value - lower, there, lower, other
        if fall < least * max(1.0, abs(value)):
            break
        bend = _bent(bend, moved, turned, first=step == 0)
    return place


def _along(loss: Loss, place: Reals, value: float, slope: Reals, way: Reals) -> tuple[Reals, float, Reals] | None:
    """The first place on the way that is low enough, half as far at every try."""
    promised = float(slope @ way)
    if not promised < 0.0:
        way, promised = -slope, -float(slope @ slope)
    length = min(1.0, LONGEST / max(float(np.abs(way).max()), 1e-300))
    for _ in range(TRIES):
        there = place + length * way
        lower, other = loss(there)
        if lower <= value + ENOUGH * length * promised:
            return there, lower, other
        length /= 2.0 if not np.isfinite(lower) else 3.0
    return None


def _bent(bend: Reals, moved: Reals, turned: Reals, *, first: bool) -> Reals:
    """The inverse of the curvature after a step, kept where the step tells nothing of it."""
    along = float(moved @ turned)
    if along <= 1e-10 * float(np.linalg.norm(moved) * np.linalg.norm(turned)):
        return bend
    if first:  # the step tells the size of things
        bend = np.eye(len(moved)) * (along / float(turned @ turned))
    leap = bend @ turned
    other = np.outer(leap, moved)
    scale = (1.0 + float(turned @ leap) / along) / along
    found: Reals = bend + scale * np.outer(moved, moved) - (other + other.T) / along
    return found
