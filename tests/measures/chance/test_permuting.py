from __future__ import annotations

import numpy as np
import pytest

from pedanova.measures.chance.permuting import CLEAR, Deals, block_means


def columns_of(rows: int) -> np.ndarray:
    rng = np.random.default_rng(1)
    columns = rng.random((rows, 3)) / np.sqrt(rows)
    return columns - columns.mean(axis=0)


@pytest.mark.parametrize("blocked", [False, True])
def test_many_rows_are_dealt_as_the_limit_says(blocked: bool) -> None:
    rows = 1200
    rng = np.random.default_rng(0)
    scores = (rng.random(rows) < 0.1) - 0.1
    blocks = np.arange(rows) // 10 if blocked else None
    columns = columns_of(rows)
    if blocks is not None:
        columns = columns - block_means(columns, blocks)
    way = np.array([0.05, 0.0, -0.02])
    deals = Deals(rows, 3, 45, blocks, 0)
    dealt = deals.statistics(scores, columns, way, 45)
    limit = deals.in_the_limit(scores, columns, way, 0)
    assert dealt.shape == limit.shape == (45 * 45,)
    for part in (0.5, 0.9, 0.99):
        assert np.quantile(dealt, part) == pytest.approx(np.quantile(limit, part), rel=0.15)


def test_blocks_keep_their_rows() -> None:
    blocks = np.random.default_rng(2).permutation(np.arange(60) // 10)
    first, second = Deals(60, 3, 7, blocks, 0).orders
    for orders in (first, second):
        assert np.array_equal(blocks[orders], np.tile(blocks, (7, 1)))
        assert all(len(set(order)) == 60 for order in orders.tolist())


def test_a_first_look_ends_early_only_where_chance_is_plain() -> None:
    rows, zero = 200, np.zeros(3)
    columns, deals = columns_of(rows), Deals(rows, 3, 45, None, 0)
    rng = np.random.default_rng(4)
    early = 0
    for strength in (0.0, 0.0, 0.0, 0.0, 3.0, 40.0):
        scores = strength * columns[:, 0] + rng.normal(size=rows)
        seen = ((scores @ columns) ** 2).sum()
        every = (1 + np.sum(deals.statistics(scores, columns, zero, 45) >= seen)) / (1 + 45**2)
        found = deals.p_value(scores, columns, zero, parameter=0, inside=20)
        ended = found != pytest.approx(every, abs=1e-9)
        early += ended
        assert not ended or (every > CLEAR / 2 and found == pytest.approx(every, abs=0.1))
    assert early >= 1


def test_block_means_are_means() -> None:
    blocks = np.array([0, 1, 0, 1])
    columns = np.array([[1.0], [2.0], [3.0], [6.0]])
    assert block_means(columns, blocks).ravel().tolist() == [2.0, 4.0, 2.0, 4.0]
