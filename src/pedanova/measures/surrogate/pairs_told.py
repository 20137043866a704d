"""Pairs as a model has them: points of target and region by the coarse cells of every two parameters."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from pedanova.base.threads import one_thread
from pedanova.counting.pairs import Groups, PairTally
from pedanova.measures.surrogate.drawn import Drawn
from pedanova.measures.surrogate.rungs import Span


def pairs_told(drawn: Drawn, target: Span, region: Span, groups: Mapping[str, Groups]) -> PairTally:
    """The mean over all draws, by the coarse cells that rows are counted in."""
    names = tuple(groups)
    width = max(int(group.max()) for group in groups.values()) + 1
    cells = np.stack([groups[name][drawn.cells(name)] for name in names], axis=1)
    hot = (cells[:, :, None] == np.arange(width, dtype=np.uint8)).reshape(len(cells), -1).astype(np.float32)
    with one_thread():
        both = [(hot * weights[:, None]).T @ hot for weights in (often(drawn, target), often(drawn, region))]
    tables = [np.stack([_block(table, width, pair) for pair in combinations(range(len(names)), 2)]) for table in both]
    return PairTally(names, dict(groups), tables[0], tables[1])


def often(drawn: Drawn, span: Span) -> NDArray[np.float32]:
    """(points,) In which part of the draws each point lies in a span."""
    first, last = drawn.ends(span)
    counts = np.bincount(drawn.order[:, first:last].ravel(), minlength=len(drawn))
    return (counts / drawn.draws).astype(np.float32)


def _block(table: NDArray[np.float32], width: int, pair: tuple[int, int]) -> NDArray[np.float64]:
    rows, columns = (slice(one * width, (one + 1) * width) for one in pair)
    return table[rows, columns].astype(np.float64)
