"""The seed's part of a variance: exact values, laws, and intervals that hold the truth."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pedanova.errors import DataError
from pedanova.measures.studies.seeds import IN_TARGET, seed_part, seeds_of


def balanced(groups: np.ndarray, values: np.ndarray) -> float:
    """The classical table of a balanced one-way analysis of variance, written out."""
    table = np.array([values[groups == group] for group in np.unique(groups)])
    count, runs = table.shape
    between = runs * ((table.mean(axis=1) - table.mean()) ** 2).sum() / (count - 1)
    within = ((table - table.mean(axis=1, keepdims=True)) ** 2).sum() / (count * (runs - 1))
    return within / (within + max(0.0, (between - within) / runs))


def drawn(seed: int, count: int, runs: int | np.ndarray, part: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(count), runs)
    own = np.sqrt(1 - part) * rng.standard_normal(count)
    return groups, own[groups] + np.sqrt(part) * rng.standard_normal(len(groups))


@given(st.integers(0, 1000), st.integers(3, 20), st.integers(2, 5))
def test_the_balanced_case_is_the_classical_one(seed: int, count: int, runs: int) -> None:
    groups, values = drawn(seed, count, runs, 0.4)
    found = seed_part("y", groups, values)
    assert found.seed == pytest.approx(balanced(groups, values))
    assert 0 <= found.low <= found.seed <= found.high <= 1
    assert found.ceiling == 1 - found.seed


@given(st.integers(0, 100), st.floats(-1e6, 1e6), st.sampled_from([1e-200, 0.01, 3.0, 1e200]))
def test_neither_scale_nor_place_nor_order_matter(seed: int, place: float, scale: float) -> None:
    groups, values = drawn(seed, 12, np.arange(12) % 3 + 1, 0.5)
    moved = (values + (place if scale == 3.0 else 0.0)) * scale
    order = np.random.default_rng(seed).permutation(len(values))
    one, two = seed_part("y", groups, values), seed_part("y", 7 - groups[order], moved[order])
    assert (two.seed, two.low, two.high) == pytest.approx((one.seed, one.low, one.high), rel=1e-6)


def test_runs_that_never_differ_leave_nothing_to_the_seed() -> None:
    groups = np.repeat(np.arange(20), 3)
    exact = seed_part("y", groups, np.sin(groups))
    assert (exact.seed, exact.low, exact.high, exact.averaged) == (0.0, 0.0, 0.0, 1.0)
    yes = seed_part("y", groups, (groups < 5).astype(float))
    assert (yes.seed, yes.low) == (0.0, 0.0)
    assert yes.high == pytest.approx(1.5 / 20 / (0.25 * 0.75))  # the rule of three


def test_averaging_runs_lifts_the_ceiling() -> None:
    found = seed_part("y", *drawn(0, 4000, 5, 0.5))
    assert found.ceiling == pytest.approx(0.5, abs=0.03)
    assert found.averaged == pytest.approx(0.5 / (0.5 + 0.5 / 5), abs=0.03)  # Spearman and Brown


@pytest.mark.parametrize("part", [0.1, 0.5, 0.9])
def test_intervals_hold_the_truth(part: float) -> None:
    """95 % are meant; of 200 at least 90 % must be held. benchmarks/along.py has more laws and shapes."""
    runs = np.resize([1, 1, 2, 3, 5], 60)
    held = [low <= part <= high for low, high in (ends(seed, runs, part) for seed in range(200))]
    assert np.mean(held) >= 0.9


def ends(seed: int, runs: np.ndarray, part: float) -> tuple[float, float]:
    found = seed_part("y", *drawn(seed, len(runs), runs, part))
    return found.low, found.high


def test_without_repeats_it_is_refused() -> None:
    values = np.arange(10.0)
    for groups, many in ((np.arange(10), "no configuration is"), (np.r_[0, np.arange(9)], "one configuration is")):
        with pytest.raises(DataError, match=rf"{many} repeated among the 10 rows .* add it to exclude="):
            seeds_of(groups, {"y": values}, "the best 10 %")
    twice = np.repeat(np.arange(5), 2)
    with pytest.raises(DataError, match="same in every row"):
        seeds_of(twice, {"y": np.ones(10)}, "the best 10 %")
    with pytest.raises(DataError, match="no repeated configuration has two finite values"):
        seeds_of(twice, {"y": np.where(np.arange(10) % 2, np.nan, np.arange(10))}, "the best 10 %")


def test_what_is_told() -> None:
    groups, values = drawn(0, 30, np.resize([1, 2], 30), 0.3)
    values[0] = np.inf
    found = seeds_of(groups, {"loss": values, IN_TARGET: (values < -0.5).astype(float)}, "the best 30 %")
    assert (found.runs, found.configurations, found.repeated) == (45, 30, 15)
    assert list(found) == ["loss", IN_TARGET]
    assert found.to_dict()["ceiling"] == [row.ceiling for row in found.rows]
    assert any("1 of 45 rows has no finite value" in note for note in found.notes)
    assert any("15 of 30 configurations are repeated" in note for note in found.notes)
    assert "whether a trial is in the best 30 %" in found.summary()
    assert "15 of 30 configurations were repeated" in str(found)
