"""p-values with a model at hand: does a parameter tell anything that the others do not?

For each parameter the model is asked to predict every row without it and without the row itself.
What it misses is then held against the parameter, and against random orders of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pedanova.measures.surrogate.gaussian import JITTER, Process, Reals, cholesky, gauss, solve
from pedanova.measures.surrogate.model import Surrogate
from pedanova.space.grid import Cells

GROUPS = 8  # groups of a parameter's values that missed scores are averaged in
ROWS_A_GROUP = 5


def residual_p_values(
    model: Surrogate, rows: NDArray[np.int64], names: Sequence[str], *, draws: int, seed: int
) -> list[float]:
    """For every name; `rows` are the rows of the model that the question is about."""
    here = np.flatnonzero(np.isin(model.held, rows))
    orders = np.random.default_rng([seed, 2]).permuted(np.tile(np.arange(len(here)), (draws, 1)), axis=1)
    found = []
    for name in names:
        if name not in model.missed:
            model.missed[name] = missed_without(model, name)
        missed = model.missed[name][here]
        groups = grouped(model.cells[name][model.held[here]])
        found.append(by_permutation(missed, groups, orders))
    return found


def missed_without(model: Surrogate, name: str) -> Reals:
    """(rows held) Scores less what the other rows tell, the parameter not looked at."""
    process = model.process
    own = np.array([owner == name for owner in model.features.owners])
    weights = np.where(own, 0.0, process.weights)
    expected, spread = without(process, model.features.embed(weights)).leave_one_out()
    return (process.scores - expected) / np.sqrt(spread)


def without(process: Process, points: Reals) -> Process:
    """The same process over other points."""
    covariance = process.signal * gauss(points, points) + (process.noise + JITTER) * np.eye(len(points))
    factor = cholesky(covariance)
    return replace(process, points=points, factor=factor, solved=solve(factor, process.scores))


def grouped(cells: Cells) -> NDArray[np.int64]:
    """Neighbouring cells put together until every group has about as many rows."""
    distinct, places, counts = np.unique(cells, return_inverse=True, return_counts=True)
    most = max(2, min(GROUPS, len(cells) // ROWS_A_GROUP))
    if len(distinct) <= most:
        return places.astype(np.int64)
    middles = (np.cumsum(counts) - counts / 2.0) / len(cells)
    return np.minimum((middles * most).astype(np.int64), most - 1)[places]


def by_permutation(missed: Reals, groups: NDArray[np.int64], orders: NDArray[np.int64]) -> float:
    """How often a random order of the rows puts as much of what was missed between the groups."""
    if len(missed) == 0 or not groups.any():  # the model holds none of these rows, or one value in all of them
        return 1.0
    kinds = np.eye(int(groups.max()) + 1)[groups]  # (rows, groups)
    sizes = np.maximum(kinds.sum(axis=0), 1.0)
    centred = missed - missed.mean()
    drawn = np.concatenate([centred[None, :], centred[orders]]) @ kinds
    between = drawn**2 @ (1.0 / sizes)
    as_high = int(np.sum(between[1:] >= between[0] * (1.0 - 1e-9)))
    return (1 + as_high) / len(between)
