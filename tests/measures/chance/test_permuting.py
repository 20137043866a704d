from __future__ import annotations

import numpy as np
import pytest

from pedanova.measures.chance.permuting import MANY, Chance, block_means


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
    dealt = Chance.of(rows, MANY - 1, 45, blocks, 0).statistics(scores, columns, way)
    limit = Chance.of(rows, MANY, 45, blocks, 0).statistics(scores, columns, way)
    assert dealt.shape == limit.shape == (45 * 45,)
    for part in (0.5, 0.9, 0.99):
        assert np.quantile(dealt, part) == pytest.approx(np.quantile(limit, part), rel=0.15)


def test_blocks_keep_their_rows() -> None:
    blocks = np.random.default_rng(2).permutation(np.arange(60) // 10)
    chance = Chance.of(60, 5, 7, blocks, 0)
    assert chance.first is not None
    assert np.array_equal(blocks[chance.first], np.tile(blocks, (7, 1)))
    assert all(len(set(order)) == 60 for order in chance.first.tolist())


def test_block_means_are_means() -> None:
    blocks = np.array([0, 1, 0, 1])
    columns = np.array([[1.0], [2.0], [3.0], [6.0]])
    assert block_means(columns, blocks).ravel().tolist() == [2.0, 4.0, 2.0, 4.0]
