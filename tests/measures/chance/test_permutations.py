"""p-values by permutation: what noise, effects and adaptive samplers make of them, and the permutations themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pedanova as pa
from helpers.ranked import rows_of, study
from pedanova.measures.chance.permutations import (
    FINE,
    UNLIKELY,
    Permutations,
    PermutationTest,
    block_means,
    membership_of,
)
from pedanova.measures.chance.ranked_rows import RankedRows, dependence_of
from pedanova.measures.distributions import part_of_least


def best(rows: RankedRows, part: float = 0.1) -> np.ndarray[Any, np.dtype[np.bool_]]:
    return np.arange(len(rows)) < round(part * len(rows))


def asked(rows: RankedRows, **options: Any) -> dict[str, float]:
    return PermutationTest(rows, dependence_of(rows)).p_values(best(rows), **options)


def test_no_order_moves_a_digit() -> None:
    columns, loss, space = study()
    found = asked(rows_of(columns, loss, space))
    order = np.random.default_rng(1).permutation(len(loss))
    shuffled = {name: column[order] for name, column in reversed(columns.items())}
    assert asked(rows_of(shuffled, np.exp(loss[order]), dict(reversed(space.items())))) == found


def test_a_gate_with_children_is_significant() -> None:
    rng = np.random.default_rng(0)
    kind = rng.choice(["adam", "sgd"], 200)
    momentum = np.where(kind == "sgd", rng.random(200), np.nan)
    lr = 10 ** rng.uniform(-5, -1, 200)
    loss = 1.0 * (kind == "sgd") + 0.2 * abs(np.log10(lr) + 3) + 0.1 * rng.normal(size=200)
    space = {
        "kind": pa.Categorical(["adam", "sgd"]),
        "momentum": pa.Float(0, 1, when={"kind": ["sgd"]}),
        "lr": pa.Float(1e-5, 1e-1, log=True),
    }
    found = asked(rows_of({"kind": kind.astype(object), "momentum": momentum, "lr": lr}, loss, space))
    assert found["kind"] < 0.005


def multiples(x: np.ndarray) -> np.ndarray:
    return np.asarray((128 * x).astype(int) % 8 == 0)


def needles(x: np.ndarray) -> np.ndarray:
    return np.asarray(np.minimum(abs(x - 0.2), abs(x - 0.7)) < 0.025)


@pytest.mark.parametrize(("rows", "good"), [(1_000, multiples), (100, needles)])
def test_fine_structure_is_seen(rows: int, good: Callable[[np.ndarray], np.ndarray]) -> None:
    """Multiples of 8, and two needles: significant in eight of ten samples."""
    space = dict.fromkeys("ab", pa.Float(0, 1))
    seen = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        a, b = rng.random((2, rows))
        seen += asked(rows_of({"a": a, "b": b}, 0.2 * b - good(a) + 0.1 * rng.normal(size=rows), space))["a"] < 0.025
    assert seen >= 8


def test_a_copy_takes_nothing_away() -> None:
    rng = np.random.default_rng(0)
    x, other = rng.random(150), rng.random(150)
    loss = 3 * x + rng.normal(size=150)
    space = dict.fromkeys(("x", "copy", "other"), pa.Float(0, 1))
    found = asked(rows_of({"x": x, "copy": x, "other": other}, loss, space))
    assert max(found["x"], found["copy"]) < 0.01 < found["other"]


def null_p_values(design: str, studies: int, *, rows: int = 80) -> list[float]:
    found = []
    for seed in range(studies):
        rng = np.random.default_rng([seed, 5])
        columns: dict[str, Any] = {name: rng.random(rows) for name in "abc"}
        space: dict[str, Any] = dict.fromkeys("abc", pa.Float(0, 1))
        loss = rng.normal(size=rows)
        if design == "signal beside":
            loss += 3 * columns["c"]
        if design == "sorts the worst half":
            loss = np.where(loss > 0, loss + 3 * columns["a"], loss)
        if design == "categories":
            columns["a"] = rng.choice([f"k{i}" for i in range(15)], rows).astype(object)
            space["a"] = pa.Categorical([f"k{i}" for i in range(15)])
        rest = {name: columns[name] for name in columns}
        found.append(asked(rows_of(rest, loss, space), only=["a"])["a"])
    return found


@pytest.mark.parametrize("design", ["pure noise", "signal beside", "sorts the worst half", "categories"])
def test_noise_is_rarely_called_significant(design: str) -> None:
    studies = 100
    alarms = int(np.sum(np.array(null_p_values(design, studies)) <= 0.05))
    assert alarms <= 0.05 * studies + 3 * np.sqrt(0.05 * 0.95 * studies)


def test_blocks_of_trials_see_through_a_drift() -> None:
    """Both improve with time: no effect, but for the drift."""
    alarms = {False: 0, True: 0}
    for seed in range(25):
        rng = np.random.default_rng(seed)
        time = np.linspace(0, 1, 150)
        columns = {"a": np.clip(time + 0.2 * rng.normal(size=150), -1, 2), "b": rng.random(150)}
        loss = -3 * time + rng.normal(size=150)
        rows = rows_of(columns, loss, {"a": pa.Float(-1, 2), "b": pa.Float(0, 1)}, trials=np.arange(150.0))
        for blocks in alarms:
            alarms[blocks] += asked(rows, blocks=blocks)["a"] <= 0.05
    assert alarms[False] >= 20
    assert alarms[True] <= 5


def test_scores_are_soft_at_a_quantile_and_sharp_at_a_value() -> None:
    ranks = np.arange(100.0) + 0.5
    target = ranks < 10
    soft, sharp = (membership_of(ranks, target, certain=certain) for certain in (False, True))
    assert len(np.unique(sharp.score)) == 2
    assert soft.score[0] > soft.score[9] > soft.score[12] > soft.score[40]
    assert soft.prefix
    assert not membership_of(ranks, (ranks >= 10) & (ranks < 30), certain=False).prefix


def test_a_mask_that_is_no_range_can_be_asked() -> None:
    columns, loss, space = study()
    rows = rows_of(columns, loss, space)
    mask = np.random.default_rng(3).random(len(rows)) < 0.2
    found = PermutationTest(rows, dependence_of(rows)).p_values(mask, certain=True)
    assert all(0 < p <= 1 for p in found.values())
    region = np.arange(len(rows)) < 60
    inner = PermutationTest(rows, dependence_of(rows)).p_values(best(rows), region)
    assert set(inner) == set(columns)


def test_what_never_varied_in_the_region_has_p_one() -> None:
    rng = np.random.default_rng(0)
    loss = np.sort(rng.random(100))
    columns = {"a": np.where(np.arange(100) < 50, 1, 2), "b": rng.random(100)}
    rows = rows_of(columns, loss, {"a": pa.Ordinal([1, 2]), "b": pa.Float(0, 1)})
    found = PermutationTest(rows, dependence_of(rows)).p_values(np.arange(100) < 5, np.arange(100) < 50)
    assert found["a"] == 1.0


def test_a_further_question_is_answered_as_if_it_were_the_first() -> None:
    columns, loss, space = study()
    rows = rows_of(columns, loss, space, trials=np.arange(len(loss), dtype=float))
    permutation_test = PermutationTest(rows, dependence_of(rows))
    region = np.arange(len(rows)) < 80
    for part in (0.1, 0.3, 0.1):
        for options in ({}, {"region": region}, {"blocks": True}, {"seed": 3}, {"only": ["lr"]}, {"certain": True}):
            again = PermutationTest(rows, permutation_test.dependence).p_values(best(rows, part), **options)
            assert permutation_test.p_values(best(rows, part), **options) == again


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
    permutations = Permutations(rows, 3, 45, blocks, 0)
    dealt = permutations.statistics(scores, columns, way, parameter=0)
    limit = permutations.in_the_limit(scores, columns, way, parameter=0)
    assert dealt.shape == limit.shape == (2, 45 * 45)  # with the way, and without
    for part in (0.5, 0.9, 0.99):
        assert np.quantile(dealt, part, axis=1) == pytest.approx(np.quantile(limit, part, axis=1), rel=0.15)


def test_blocks_keep_their_rows() -> None:
    blocks = np.random.default_rng(2).permutation(np.arange(60) // 10)
    first, second = Permutations(60, 3, 7, blocks, 0).orders
    for orders in (first, second):
        assert np.array_equal(blocks[orders], np.tile(blocks, (7, 1)))
        assert all(len(set(order)) == 60 for order in orders.tolist())


def test_a_first_look_ends_early_only_where_chance_is_plain() -> None:
    rows, zero = 200, np.zeros(3)
    columns, permutations = columns_of(rows), Permutations(rows, 3, 45, None, 0)
    rng = np.random.default_rng(4)
    early = 0
    for strength in (0.0, 0.0, 0.0, 0.0, 3.0, 40.0):
        scores = strength * columns[:, 0] + rng.normal(size=rows)
        seen = ((scores @ columns) ** 2).sum()
        every = (1 + np.sum(permutations.statistics(scores, columns, zero, parameter=0) >= seen)) / (1 + 45**2)
        found = permutations.p_value(scores, columns, zero, parameter=0, inside=20)
        ended = found != pytest.approx(every, abs=1e-9)
        early += ended
        assert not ended or (every > 0.04 and found == pytest.approx(every, abs=0.1))
    assert early >= 1


def test_block_means_are_means() -> None:
    blocks = np.array([0, 1, 0, 1])
    columns = np.array([[1.0], [2.0], [3.0], [6.0]])
    assert block_means(columns, blocks).ravel().tolist() == [2.0, 4.0, 2.0, 4.0]


def test_a_way_that_points_elsewhere_hides_little() -> None:
    """What the target shows is found against the way, and found sooner along it."""
    rows = 300
    columns, permutations = columns_of(rows), Permutations(rows, 3, 45, None, 0)
    scores = 12.0 * columns[:, 0] + np.random.default_rng(5).normal(size=rows)
    seen = scores @ columns
    against, along, plain = (
        permutations.p_value(scores, columns, way, parameter=0, inside=20) for way in (-seen, 0.3 * seen, 0 * seen)
    )
    assert plain <= against <= 5 * plain
    assert along <= 2 * plain


def test_the_smaller_of_two_p_values_is_judged_as_such() -> None:
    """Scores that know nothing: at most one in twenty below 0.05, whatever the way."""
    rows = 60
    columns, permutations = columns_of(rows), Permutations(rows, 3, 20, None, 0)
    rng = np.random.default_rng(6)
    way = np.array([0.3, -0.2, 0.1])
    found = [permutations.p_value(rng.normal(size=rows), columns, way, parameter=0, inside=6) for _ in range(400)]
    assert np.mean(np.array(found) <= 0.05) <= 0.08


def test_what_is_kept_for_the_next_target_changes_nothing() -> None:
    columns, way = columns_of(150), np.array([0.1, 0.0, -0.1])
    rng = np.random.default_rng(7)
    scores = [rng.normal(size=150) for _ in range(3)]
    keeping, forgetting = Permutations(150, 3, 20, None, 0), Permutations(150, 3, 20, None, 0, room=0)
    for inside in (15, 120):
        found = [
            [permutations.p_value(one, columns, way, parameter=0, inside=inside) for one in scores]
            for permutations in (keeping, forgetting)
        ]
        assert found[0] == found[1]
    assert keeping.room < forgetting.room + (1 << 24)
    assert forgetting.room == 0


@pytest.mark.parametrize("seed", range(5))
def test_the_p_value_of_the_smaller_p_value_is_what_its_name_says(seed: int) -> None:
    rng = np.random.default_rng(seed)
    factors = [1, UNLIKELY, FINE]
    found = rng.integers(0, 12, (3, 60)).astype(float)  # with ties
    seen = rng.integers(6, 14, 3).astype(float)
    every = np.concatenate([seen[:, None], found], axis=1)
    parts = (every[:, None, :] >= every[:, :, None]).mean(axis=2)
    least = (np.array(factors)[:, None] * parts).min(axis=0)
    assert part_of_least(found, seen, factors) == np.mean(least <= least[0])
