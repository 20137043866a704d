from __future__ import annotations

import numpy as np
import pytest

from pedanova.measures.chance.permutation_test import CLEAR, UNLIKELY, Deals, block_means, part_of_least


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
    dealt = deals.statistics(scores, columns, way, parameter=0)
    limit = deals.in_the_limit(scores, columns, way, parameter=0)
    assert dealt.shape == limit.shape == (2, 45 * 45)  # with the way, and without
    for part in (0.5, 0.9, 0.99):
        assert np.quantile(dealt, part, axis=1) == pytest.approx(np.quantile(limit, part, axis=1), rel=0.15)


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
        every = (1 + np.sum(deals.statistics(scores, columns, zero, parameter=0) >= seen)) / (1 + 45**2)
        found = deals.p_value(scores, columns, zero, parameter=0, inside=20)
        ended = found != pytest.approx(every, abs=1e-9)
        early += ended
        assert not ended or (every > CLEAR / 2 and found == pytest.approx(every, abs=0.1))
    assert early >= 1


def test_block_means_are_means() -> None:
    blocks = np.array([0, 1, 0, 1])
    columns = np.array([[1.0], [2.0], [3.0], [6.0]])
    assert block_means(columns, blocks).ravel().tolist() == [2.0, 4.0, 2.0, 4.0]


def test_a_way_that_points_elsewhere_hides_little() -> None:
    """What the target shows is found against the way, and found sooner along it."""
    rows = 300
    columns, deals = columns_of(rows), Deals(rows, 3, 45, None, 0)
    scores = 12.0 * columns[:, 0] + np.random.default_rng(5).normal(size=rows)
    seen = scores @ columns
    against, along, plain = (
        deals.p_value(scores, columns, way, parameter=0, inside=20) for way in (-seen, 0.3 * seen, 0 * seen)
    )
    assert plain <= against <= 5 * plain
    assert along <= 2 * plain


def test_the_smaller_of_two_p_values_is_judged_as_such() -> None:
    """Scores that know nothing: at most one in twenty below 0.05, whatever the way."""
    rows = 60
    columns, deals = columns_of(rows), Deals(rows, 3, 20, None, 0)
    rng = np.random.default_rng(6)
    way = np.array([0.3, -0.2, 0.1])
    found = [deals.p_value(rng.normal(size=rows), columns, way, parameter=0, inside=6) for _ in range(400)]
    assert np.mean(np.array(found) <= 0.05) <= 0.08


def test_what_is_kept_for_the_next_target_changes_nothing() -> None:
    columns, way = columns_of(150), np.array([0.1, 0.0, -0.1])
    rng = np.random.default_rng(7)
    scores = [rng.normal(size=150) for _ in range(3)]
    keeping, forgetting = Deals(150, 3, 20, None, 0), Deals(150, 3, 20, None, 0, room=0)
    for inside in (15, 120):
        found = [
            [deals.p_value(one, columns, way, parameter=0, inside=inside) for one in scores]
            for deals in (keeping, forgetting)
        ]
        assert found[0] == found[1]
    assert keeping.room < forgetting.room + (1 << 24)
    assert forgetting.room == 0


@pytest.mark.parametrize("seed", range(5))
def test_the_p_value_of_the_smaller_p_value_is_what_its_name_says(seed: int) -> None:
    rng = np.random.default_rng(seed)
    found = rng.integers(0, 12, (2, 60)).astype(float)  # with ties
    seen = rng.integers(6, 14, 2).astype(float)
    every = np.concatenate([seen[:, None], found], axis=1)
    parts = (every[:, None, :] >= every[:, :, None]).mean(axis=2)
    least = np.minimum(parts[0], UNLIKELY * parts[1])
    assert part_of_least(found, seen) == np.mean(least <= least[0])
