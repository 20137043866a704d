"""Pairs and larger sets as a model has them: points of target and region by the coarse cells of their parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from pedanova.base.threads import one_thread
from pedanova.counting.pairs import Groups, PairTally
from pedanova.counting.sets import Names, SetTally, width_of
from pedanova.measures.surrogate.drawn import Drawn
from pedanova.measures.surrogate.rungs import Span


def pairs_told(drawn: Drawn, target: Span, region: Span, groups: Mapping[str, Groups]) -> PairTally:
    """The mean over all draws, by the coarse cells that rows are counted in."""
    names = tuple(groups)
    width = max(int(group.max()) for group in groups.values()) + 1
    hot = np.zeros((len(drawn), len(names) * width), dtype=np.float32)
    for j, name in enumerate(names):
        hot[np.arange(len(drawn)), j * width + groups[name][drawn.cells(name)].astype(np.int64)] = 1.0
    with one_thread():
        both = [weighted(hot, often(drawn, span)) for span in (target, region)]
    tables = [np.stack([_block(table, width, pair) for pair in combinations(range(len(names)), 2)]) for table in both]
    return PairTally(names, dict(groups), tables[0], tables[1])


def weighted(hot: NDArray[np.float32], weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """Points by every two of all cells; weights are whole numbers over the draws, so sums are exact in any order."""
    if np.all(weights == 1.0):
        return hot.T @ hot
    some, held = hot[weights > 0.0], weights[weights > 0.0]
    scaled: NDArray[np.float32] = some * held[:, None]
    return scaled.T @ some


def sets_told(
    drawn: Drawn, target: Span, region: Span, groups: Mapping[str, Groups], sets: Sequence[Names]
) -> SetTally:
    """The same of larger sets, all of one order."""
    width, order = width_of(groups), len(sets[0])
    cells = {name: group[drawn.cells(name)].astype(np.int64) for name, group in groups.items()}
    weights = [often(drawn, span).astype(np.float64) for span in (target, region)]
    tables = np.zeros((2, len(sets), width**order))
    for place, names in enumerate(sets):
        flat = np.zeros(len(drawn), dtype=np.int64)
        for name in names:
            flat = flat * width + cells[name]
        for table, weight in zip(tables, weights, strict=True):
            table[place] = np.bincount(flat, weights=weight, minlength=width**order)
    return SetTally(tuple(sets), width, tables[0], tables[1])


def often(drawn: Drawn, span: Span) -> NDArray[np.float32]:
    """(points,) In which part of the draws each point lies in a span."""
    first, last = drawn.ends(span)
    counts = np.bincount(drawn.order[:, first:last].ravel(), minlength=len(drawn))
    return (counts / drawn.draws).astype(np.float32)


def _block(table: NDArray[np.float32], width: int, pair: tuple[int, int]) -> NDArray[np.float64]:
    rows, columns = (slice(one * width, (one + 1) * width) for one in pair)
    return table[rows, columns].astype(np.float64)
