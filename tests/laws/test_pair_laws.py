"""Laws of pairs: kernel and judge agree, parts add up, and what may change without changing them."""

from __future__ import annotations

from itertools import combinations, product, repeat

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pedanova as pa
from pedanova.counting import pairs as engine
from pedanova.counting.contrasts import codes_of_levels
from pedanova.data.regions import Region
from pedanova.measures.interactions import design_of, explained, fitted_parts, groups_of

SEEDS = st.integers(0, 2**32 - 1)


def mixed(seed: int, rows: int, columns: int) -> dict[str, np.ndarray]:
    """Floats, strided floats, small and large integers, text, booleans, some of it missing."""
    random = np.random.default_rng(seed)
    gaps = np.where(random.random(rows) < 0.1, np.nan, random.random(rows))
    kinds = [
        random.random(rows),
        np.exp(random.normal(size=(rows, 3)))[:, 1],
        gaps,
        random.integers(0, 30, rows).astype(np.int16),
        random.integers(0, 2_000, rows),
        random.choice(["red", "green", "blue", None], rows).astype(object),
        random.random(rows) < 0.5,
        random.random(rows).astype(np.float32),
        random.integers(1, 100_000, rows).astype(float),
    ]
    return {f"x{i}": kinds[i] for i in range(columns)}


def space_of(columns: int) -> dict[str, pa.space.Parameter]:
    every = [
        pa.Float(0, 1),
        pa.Float(1e-3, 1e3, log=True),
        pa.Float(0, 1),
        pa.Int(0, 29),
        pa.Int(0, 1_999, step=1),
        pa.Categorical(["blue", "red"]),  # green lies outside
        pa.Categorical([False, True]),
        pa.Float(0, 0.9),
        pa.Int(1, 100_000, log=True),
    ]
    return {f"x{i}": every[i] for i in range(columns)}


def counted(seed: int, rows: int, columns: int, cells: int) -> tuple[pa.Analysis, np.ndarray, dict[str, np.ndarray]]:
    loss = np.random.default_rng(seed + 1).random(rows)
    a = pa.analyze(mixed(seed, rows, columns), loss, space=space_of(columns), reading=pa.Reading(outside="count"))
    contrasts = a.data.contrasts(0.2, 0.7)
    assert a.data.observations is not None
    codes = codes_of_levels(
        a.data.observations,
        a.data.levels,
        *(a.data.levels.find(Region.parse(q, ""), a.data.tallies["x0"].by_level) for q in (0.2, 0.7)),
        threads=1,
    )
    return a, codes, groups_of(contrasts, cells)


@pytest.mark.parametrize(
    ("columns", "cells", "rows"),
    [
        *product((2, 9), (2, 8, 30), (60, 2_000)),
        *zip((2, 9), (30, 4), repeat(270_000)),  # many rows are split, and their tables added
    ],
)
def test_kernel_equals_judge(columns: int, cells: int, rows: int) -> None:
    a, codes, groups = counted(3, rows, columns, cells)
    assert a.data.observations is not None
    width = max(int(group.max()) for group in groups.values()) + 1
    pairs = list(combinations(groups, 2))
    slow = engine.count_by_judge(a.data.observations, codes, groups)
    assert slow.shape == (len(pairs), 2, width**2)
    assert slow[0].sum() == (codes < 2).sum()
    for threads in (1, 3):
        fast = engine.count_sets(a.data.observations, codes, groups, threads=threads)
        np.testing.assert_array_equal(fast, slow)


def test_without_the_kernel_the_answers_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    a, _, _ = counted(5, 2_000, 9, 4)
    fast = a.interactions()
    monkeypatch.setattr("pedanova.base.kernel.library.available", lambda: False)
    assert a.interactions() == fast


@given(SEEDS, st.integers(2, 6), st.integers(2, 6), st.integers(1, 9))
def test_product_baselines_add_the_shares(seed: int, first: int, second: int, each: int) -> None:
    """Rows in product proportions: no redundancy, and interaction is what inclusion-exclusion says."""
    random = np.random.default_rng(seed)
    region = each * np.outer(random.integers(1, 4, first), random.integers(1, 4, second))
    target = random.binomial(region, random.random(region.shape))
    if not 0 < target.sum() < region.sum():
        return
    padded = np.zeros((2, 1, 6, 6), dtype=np.int64)
    padded[:, 0, :first, :second] = target, region
    found = explained(design_of(padded[1]), padded[0])
    np.testing.assert_allclose(found.additive, found.first + found.second, atol=1e-10)
    np.testing.assert_allclose(found.interaction, found.closed - found.first - found.second, atol=1e-10)


@given(SEEDS)
def test_order_and_names_of_cells_do_not_matter(seed: int) -> None:
    random = np.random.default_rng(seed)
    region = random.integers(0, 9, (1, 5, 5))
    target = random.binomial(region, 0.4)
    if not 0 < target.sum() < region.sum():
        return
    one = explained(design_of(region), target)
    shuffled = np.ix_([0], random.permutation(5), random.permutation(5))
    two = explained(design_of(region[shuffled]), target[shuffled])
    turned = explained(design_of(region.swapaxes(1, 2)), target.swapaxes(1, 2))
    for name in ("closed", "additive", "interaction"):
        np.testing.assert_allclose(getattr(two, name), getattr(one, name), atol=1e-9)
        np.testing.assert_allclose(getattr(turned, name), getattr(one, name), atol=1e-9)
    np.testing.assert_allclose((turned.first, turned.second), (one.second, one.first), atol=1e-9)
    doubled = explained(design_of(3 * region), 3 * target)
    np.testing.assert_allclose(doubled.interaction, one.interaction, atol=1e-9)


@given(SEEDS)
def test_the_fit_is_least_squares(seed: int) -> None:
    """Against NumPy's own solver on dummy columns, empty cells and unconnected corners included."""
    random = np.random.default_rng(seed)
    region = random.integers(0, 5, (5, 5)) * (random.random((5, 5)) < 0.6)
    target = random.binomial(region, 0.4)
    if not 0 < target.sum() < region.sum():
        return
    rows, columns = np.nonzero(region)
    weights = np.sqrt(region[rows, columns].astype(float))
    dummies = np.zeros((len(rows), 10))
    dummies[np.arange(len(rows)), rows] = dummies[np.arange(len(rows)), 5 + columns] = 1
    parts = target[rows, columns] / region[rows, columns]
    solution, _, rank, _ = np.linalg.lstsq(dummies * weights[:, None], parts * weights, rcond=None)
    fit = dummies @ solution
    mean = target.sum() / region.sum()
    additive = (weights**2 * (fit - mean) ** 2).sum() / (region.sum() * mean * (1 - mean))
    design = design_of(region[None])
    assert explained(design, target[None]).additive[0] == pytest.approx(additive, abs=1e-9)
    assert design.freedoms[0, 1] == rank - 1
    np.testing.assert_allclose(fitted_parts(design, target[None])[0, rows, columns], np.clip(fit, 0, 1), atol=1e-8)


def test_the_order_of_parameters_does_not_matter() -> None:
    data = mixed(6, 1_000, 9)
    loss = np.random.default_rng(1).random(1_000)
    space = space_of(9)
    one = pa.analyze(data, loss, space=space, reading=pa.Reading(outside="count")).interactions(0.2)
    two = pa.analyze(
        dict(reversed(data.items())), loss, space=dict(reversed(space.items())), reading=pa.Reading(outside="count")
    ).interactions(0.2)
    for pair in combinations(data, 2):
        assert one[pair].interaction == pytest.approx(two[pair].interaction, abs=1e-9)
        assert one[pair].redundancy == pytest.approx(two[pair].redundancy, abs=1e-9)


def test_sums_of_two_effects_are_not_called_interactions() -> None:
    """The chance to be in the target is a sum of three slopes."""
    random = np.random.default_rng(3)
    x = random.random((3, 5_000))
    inside = random.random(5_000) < 0.2 * x.mean(axis=0) * 2
    a = pa.analyze({f"x{i}": x[i] for i in range(3)}, (~inside).astype(float))
    found = a.interactions(pa.between(0, 0, values=True))
    assert not any(row.significant for row in found.rows)
    assert all(row.additive > 0.005 for row in found.rows)
    assert all(abs(row.interaction) < 0.02 for row in found.rows)
