"""Random counts: the laws of random subsets and of samples, by enumeration and by moments."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import comb, prod, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pedanova.measures.inference import EXACT, STEPS, random_targets, sampled_counts, stacked_counts

A_REGION, B_REGION = np.array([20, 30, 25, 15, 6, 4]), np.array([5, 5, 5, 5])
MANY = 20_000


def drawn(region: np.ndarray, inside: int, draws: int, seed: int = 0) -> np.ndarray:
    return random_targets(region, inside, draws, np.random.default_rng(seed)).astype(float)


def normals_of(cells: int, draws: int) -> np.ndarray:
    return np.random.default_rng(1).standard_normal((cells, draws), dtype=np.float32)


def divergences(targets: np.ndarray, region: np.ndarray) -> np.ndarray:
    inside, rows = targets.sum(axis=1), region.sum()
    return ((targets / inside[:, None]) ** 2 / (region / rows)).sum(axis=1) - 1


def all_subsets(region: np.ndarray, inside: int) -> np.ndarray:
    """(subsets, cells) Counts of every subset of the rows."""
    cells = np.repeat(np.arange(len(region)), region)[np.array(list(combinations(range(region.sum()), inside)))]
    return np.stack([(cells == cell).sum(axis=1) for cell in range(len(region))], axis=1)


def tables(region: np.ndarray, inside: int) -> Iterator[tuple[int, ...]]:
    """Every way to put `inside` rows into the cells, none fuller than in the region."""
    if len(region) == 1:
        if inside <= region[0]:
            yield (inside,)
        return
    for count in range(min(inside, int(region[0])) + 1):
        yield from ((count, *rest) for rest in tables(region[1:], inside - count))


def assert_moments(values: np.ndarray, mean: float, variance: float) -> None:
    """Mean and variance of many draws are within four standard errors of the exact ones."""
    centred = values - values.mean()
    assert abs(values.mean() - mean) < 4 * sqrt(variance / len(values))
    assert abs(centred.var() - variance) < 4 * sqrt(np.var(centred**2) / len(values))


class TestRandomSubsets:
    @pytest.mark.parametrize(
        ("region", "inside", "mean", "variance"),
        [
            ([3, 2, 4], 3, 1 / 2, 19 / 112),
            ([5, 5, 5, 5], 4, 12 / 19, 1200 / 6137),
            ([10, 1, 7, 2], 6, 7 / 19, 27622 / 497097),
        ],
    )
    def test_divergence_over_all_subsets(self, region: list[int], inside: int, mean: float, variance: float) -> None:
        counts = np.array(region)
        every = divergences(all_subsets(counts, inside), counts)
        assert every.mean() == pytest.approx(mean, rel=1e-12)
        assert every.var() == pytest.approx(variance, rel=1e-12)
        assert_moments(divergences(drawn(counts, inside, MANY), counts), mean, variance)

    @pytest.mark.parametrize(
        ("region", "inside", "mean", "deviation"),
        [(A_REGION, 20, 5 / 99, 0.030898062524044468), (B_REGION, 4, 3 / 19, 0.11054842768642183)],
    )
    def test_deviation_of_the_share(self, region: np.ndarray, inside: int, mean: float, deviation: float) -> None:
        """Exactly, each table weighted by its subsets, and simulated."""
        odds = inside / (region.sum() - inside)
        every = np.array(list(tables(region, inside)))
        weights = np.array([prod(map(comb, region.tolist(), table)) for table in every.tolist()], dtype=float)
        weights /= comb(int(region.sum()), inside)
        shares = odds * divergences(every, region)
        assert weights.sum() == pytest.approx(1.0, rel=1e-12)
        assert weights @ shares == pytest.approx(mean, rel=1e-11)
        assert sqrt(weights @ (shares - mean) ** 2) == pytest.approx(deviation, rel=1e-11)
        assert_moments(odds * divergences(drawn(region, inside, MANY), region), mean, deviation**2)

    @settings(max_examples=30)
    @given(st.lists(st.integers(0, 40), min_size=1, max_size=20), st.floats(0, 1), st.integers(0, 99))
    def test_subsets_are_as_large_as_asked_and_parts_of_the_region(
        self, region: list[int], part: float, seed: int
    ) -> None:
        counts = np.array([1, *region])
        inside = max(1, min(EXACT, round(part * counts.sum())))
        found = drawn(counts, inside, 20, seed)
        assert found.shape == (20, len(counts))
        assert (found.sum(axis=1) == inside).all()
        assert (found >= 0).all()
        assert (found <= counts).all()


class TestManyTargetRows:
    """Beyond `EXACT` rows counts are nearly normal, with the moments of random subsets."""

    @pytest.mark.parametrize("part", [0.1, 0.5, 0.9])
    def test_mean_and_covariance(self, part: float) -> None:
        region = np.array([4000, 2500, 2000, 1000, 500])
        rows, inside = 10_000, int(part * 10_000)
        found = drawn(region, inside, MANY)
        np.testing.assert_allclose(found.sum(axis=1), inside, rtol=1e-5)
        mean = part * region
        spread = part * (1 - part) * rows / (rows - 1)
        covariance = spread * (np.diag(region) - np.outer(region, region) / rows)
        errors = np.sqrt(np.diag(covariance) / MANY)
        assert (np.abs(found.mean(axis=0) - mean) < 4 * errors).all()
        scale = np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))
        assert (np.abs(np.cov(found.T) - covariance) < 4 * scale * sqrt(2 / MANY)).all()

    def test_rare_cells_are_discrete_with_the_right_mean(self) -> None:
        region = np.array([20_000, 30, 8, 1, 0])
        found = drawn(region, 1000, MANY)
        mean = region * 1000 / region.sum()
        assert (np.abs(found.mean(axis=0) - mean) < 4 * np.sqrt(np.maximum(mean, 1e-9) / MANY) + 0.01).all()
        assert (found >= 0).all()
        assert (found[:, 4] == 0).all()

    def test_the_share_of_chance_is_met_on_both_sides_of_the_border(self) -> None:
        region = np.full(20, 400)
        for inside in (EXACT, EXACT + 1):
            shares = inside / (8000 - inside) * divergences(drawn(region, inside, 4000), region)
            assert abs(shares.mean() - 19 / 7999) < 4 * shares.std() / sqrt(4000)


class TestSamples:
    CHANCES = np.array([0.5, 0.0, 0.3, 0.15, 0.05])

    @pytest.mark.parametrize("rows", [30, 2000])
    def test_mean_and_variance(self, rows: int) -> None:
        rng = np.random.default_rng(3)
        few = rows <= EXACT
        uniforms = rng.integers(0, STEPS, size=(5000, rows if few else 1), dtype=np.uint16)
        many = stacked_counts(rows * self.CHANCES, normals_of(5, 5000), rng)
        found = sampled_counts(self.CHANCES, uniforms) if few else many
        mean = rows * self.CHANCES
        assert (np.abs(found.mean(axis=0) - mean) <= 4 * np.sqrt(mean / 5000)).all()
        assert (found[:, 1] == 0).all()
        if few:
            assert (found.sum(axis=1) == rows).all()
            np.testing.assert_allclose(found.var(axis=0), mean * (1 - self.CHANCES), rtol=0.1)
        else:
            np.testing.assert_allclose(found.var(axis=0), mean, rtol=0.1)

    def test_chances_need_not_add_to_one(self) -> None:
        uniforms = np.random.default_rng(0).integers(0, STEPS, size=(10, 50), dtype=np.uint16)
        once = sampled_counts(self.CHANCES, uniforms)
        np.testing.assert_array_equal(sampled_counts(3 * self.CHANCES, uniforms), once)

    def test_rare_counts_are_whole_and_others_share_their_normals(self) -> None:
        expected = np.array([0.0, 0.5, 9.0, 400.0])
        found = stacked_counts(expected, normals_of(4, 5000), np.random.default_rng(0))
        assert (found[:, :3] == np.round(found[:, :3])).all()
        np.testing.assert_allclose(found.mean(axis=0), expected, atol=4 * sqrt(400 / 5000))
        np.testing.assert_allclose(found.var(axis=0), expected, rtol=0.1)
        normals = normals_of(4, 20)
        all_normal = stacked_counts(expected, normals, np.random.default_rng(0), rare=0.0)
        np.testing.assert_allclose(all_normal[:, 3], 400 + 20 * normals[3], rtol=1e-6)
