"""Exact values, each derived by hand, quadrature or enumeration, that the package must meet."""

from __future__ import annotations

import math

import numpy as np
import pytest

import pedanova as pa
from helpers.common import COUNTS, against_region, against_uniform, four_dimensional, measured, toy
from helpers.kernels import smoothing_matrix
from pedanova.counting.contrasts import Contrast
from pedanova.data.regions import as_part, rank_of
from pedanova.measures.importance import measure
from pedanova.measures.smoothing import smooth
from pedanova.space.grid import grid_of

SQUARE = {"x1": pa.Float(-5, 5), "x2": pa.Float(-5, 5)}
A_TARGET, A_REGION = np.array([9, 5, 3, 2, 1, 0, 0, 0]), np.array([20, 30, 25, 15, 6, 4, 0, 0])
B_TARGET, B_REGION = np.array([4, 0, 0, 0, 0, 0]), np.array([5, 5, 5, 5, 0, 0])


def share_of(target: np.ndarray, region: np.ndarray) -> float:
    m = target.sum() / region.sum()
    return m / (1 - m) * against_region(target, region, 0.0)[0]


def lattice(low: float, high: float, points: int) -> np.ndarray:
    """(points², 2) midpoints of a square, a whole number of them to each of 1001 cells."""
    middle = low + (np.arange(points) + 0.5) * (high - low) / points
    return np.stack(np.meshgrid(middle, middle, indexing="ij"), axis=-1).reshape(-1, 2)


class TestCounts:
    @pytest.mark.parametrize(
        ("part", "rows", "rank"),
        [(0.07, 100, 7), (0.55, 100, 55), (0.29, 100, 29), (0.14, 50, 7), (0.28, 25, 7), (0.57, 100, 57)],
    )
    def test_ranks_are_exact_decimals(self, part: float, rows: int, rank: int) -> None:
        assert rank_of(as_part(part, "target"), rows) == rank
        assert rank_of(as_part(np.float64(part), "target"), rows) == rank
        assert rank_of(as_part(np.float32(part), "target"), rows) == rank

    def test_ties_are_kept_and_told(self) -> None:
        a = pa.analyze({"x": np.arange(10) % 3}, [0, 0, 0, 1, 2, 3, 4, 5, 6, 7], params=["x"])
        found = a.importance(0.1, **COUNTS)
        assert found.rows[0].n_target == 3
        assert any("3 of 10 rows" in note for note in found.notes)
        by_level = a.data.tallies["x"].by_level
        effective = dict(zip(a.data.levels.quantiles, a.data.levels.effective(by_level), strict=True))
        assert effective[as_part(0.1, "target")] == pytest.approx(0.3, abs=1e-15)

    def test_histogram_a(self) -> None:
        divergence, share = against_region(A_TARGET, A_REGION, 0.0)
        assert divergence == pytest.approx(503 / 1200, rel=1e-13)
        assert share_of(A_TARGET, A_REGION) == pytest.approx(503 / 4800, rel=1e-13)
        assert share == pytest.approx(8599 / 150400, rel=1e-13)

    def test_histogram_b(self) -> None:
        divergence, share = against_region(B_TARGET, B_REGION, 0.0)
        assert divergence == pytest.approx(3.0, rel=1e-13)
        assert share_of(B_TARGET, B_REGION) == pytest.approx(0.75, rel=1e-13)
        assert share == pytest.approx(45 / 64, rel=1e-13)

    def test_conditional_regimes(self) -> None:
        """Two domains and inactive rows: the value's part, the activity's part and the whole."""
        parameter = pa.Switch("phase", {"a": pa.Categorical([1, 2, 3]), "b": pa.Categorical([1, 2])})
        target, region = np.array([5, 1, 0, 2, 3, 1, 0]), np.array([8, 6, 4, 7, 5, 10, 0])
        row = measure(Contrast("x", grid_of(parameter), target, region), baseline="region", smoothing="auto")
        assert row.value == pytest.approx(1327 / 3024, rel=1e-13)
        assert row.activity == pytest.approx(35 / 216, rel=1e-13)
        assert row.divergence == pytest.approx(1817 / 3024, rel=1e-13)
        assert row.value_share == pytest.approx(1327 / 7056, rel=1e-13)
        assert row.activity_share == pytest.approx(5 / 72, rel=1e-13)
        assert row.raw_share == pytest.approx(1817 / 7056, rel=1e-13)

    def test_uniform_baseline_is_unbiased(self) -> None:
        row = measured(A_TARGET, A_REGION, baseline="uniform")
        assert row.divergence == pytest.approx(0.8, rel=1e-13)
        assert row.share == pytest.approx(0.2 / 0.8 * 11 / 19, rel=1e-13)

    def test_categories_are_not_shrunk(self) -> None:
        counts = np.array([500, 300, 100, 100, 0])
        assert against_uniform(counts, 0.0) == pytest.approx(0.8, rel=1e-13)

    def test_identical_laws_have_no_divergence(self) -> None:
        """Separate bandwidths would give 4.18 here."""
        region = np.zeros(52, dtype=np.int64)
        region[20:30] = 100
        grid = grid_of(pa.Ordinal(list(range(50))))
        row = measure(Contrast("x", grid, region // 50, region), baseline="region", smoothing="auto")
        assert row.bandwidth > 0.3
        assert row.divergence == pytest.approx(0.0, abs=1e-12)

    @pytest.mark.parametrize("points", [3, 7, 50])
    def test_uniform_data_has_no_half_cells(self, points: int) -> None:
        x = (np.arange(points * 20) + 0.5) / (points * 20)
        grid = grid_of(pa.Float(0, 1))
        cells = np.bincount(grid.locate(x) * points // grid.cells, minlength=points)
        assert against_uniform(cells, 0.0) < 1e-3


class TestKernel:
    def test_reflected_kernel(self) -> None:
        column = [
            0.6246552600051551,
            0.30232787340024264,
            0.06657457222998255,
            0.006206286642181979,
            0.0002360077224377863,
        ]
        np.testing.assert_allclose(smoothing_matrix(5, 1.0)[:, 0], column, rtol=1e-12)

    @pytest.mark.parametrize(
        ("width", "divergence", "share", "freedom"),
        [
            (0.8, 0.18018817863474812, 0.03171468386286983, 1.3631351181194367),
            (2.0, 0.04119772328112159, 0.00793894399598535, 0.23555827959470266),
        ],
    )
    def test_smoothed(self, width: float, divergence: float, share: float, freedom: float) -> None:
        found = against_region(A_TARGET, A_REGION, width)
        assert found == pytest.approx((divergence, share), rel=1e-10)
        matrix, pi = smoothing_matrix(6, width), A_REGION[:6] / 100
        assert (matrix**2 @ pi / (matrix @ pi)).sum() - 1 == pytest.approx(freedom, rel=1e-10)

    def test_uniform_stays_uniform(self) -> None:
        for cells, width in [(5, 1.0), (13, 40.0), (1001, 97.0)]:
            np.testing.assert_allclose(smooth(np.full(cells, 1 / cells), width), 1 / cells, rtol=1e-12)


class TestShapes:
    def test_box(self) -> None:
        axes = np.meshgrid(*[np.arange(10)] * 3, indexing="ij")
        x = {f"x{i + 1}": axis.ravel() for i, axis in enumerate(axes)}
        outside = (x["x1"] >= 2) | (x["x2"] >= 5) | (x["x3"] >= 9)
        space = {name: pa.Ordinal(list(range(10))) for name in x}
        a = pa.analyze(x, outside.astype(float), space=space)
        for baseline in ("region", "uniform"):
            found = a.importance(pa.at_most(0), baseline=baseline, **COUNTS)
            assert [found[n].divergence for n in x] == pytest.approx([4, 1, 1 / 9], rel=1e-12)
            assert [found[n].raw_share for n in x] == pytest.approx([36 / 91, 9 / 91, 1 / 91], rel=1e-12)
            assert [found[n].n_target for n in x] == [90] * 3

    def test_shares_may_overlap_in_a_dependent_region(self) -> None:
        a = pa.analyze({"x1": [0, 1, 0, 1], "x2": [0, 1, 1, 0]}, [0.0, 1.0, 2.0, 2.0], levels=[0.25, 0.5])
        found = a.importance(0.25, 0.5, **COUNTS)
        assert [found[n].raw_share for n in ("x1", "x2")] == pytest.approx([1, 1], rel=1e-12)

    @pytest.mark.parametrize(("dimensions", "side", "exact"), [(2, 0.5, 5 / 3), (3, 0.8, 5 / 4), (4, 1.0, 9 / 7)])
    def test_simplex(self, dimensions: int, side: float, exact: float) -> None:
        """P(x1 = x, Σ x ≤ s) is a polynomial in x: masses by midpoints."""
        cells = 1000
        x = (np.arange(cells) + 0.5) / cells
        target = np.maximum(side - x, 0) ** (dimensions - 1)
        counts = np.round(target / target.sum() * 1e9).astype(np.int64)
        assert against_uniform(counts, 0.0) == pytest.approx(exact, rel=1e-4)

    def test_simplex_in_simplex(self) -> None:
        x = lattice(0, 1, 2002)
        a = pa.analyze(
            {"x1": x[:, 0], "x2": x[:, 1]}, x.sum(axis=1), space={"x1": pa.Float(0, 1), "x2": pa.Float(0, 1)}
        )
        found = a.importance(pa.at_most(0.5), pa.at_most(1.0), smoothing="none", **COUNTS)
        assert [found[n].divergence for n in ("x1", "x2")] == pytest.approx([0.5451774444795625] * 2, rel=2e-3)

    def test_disc_in_disc(self) -> None:
        x = lattice(-2, 2, 2002)
        space = {"x1": pa.Float(-2, 2), "x2": pa.Float(-2, 2)}
        a = pa.analyze({"x1": x[:, 0], "x2": x[:, 1]}, (x**2).sum(axis=1), space=space)
        found = a.importance(pa.at_most(1.0), pa.at_most(4.0), smoothing="none", **COUNTS)
        assert [found[n].divergence for n in ("x1", "x2")] == pytest.approx([0.74396449670767] * 2, rel=2e-3)

    def test_band(self) -> None:
        x = lattice(0, 1, 1001)
        objective = np.where(np.abs(x[:, 0] - x[:, 1]) > 0.1, 2.0, np.where(x.sum(axis=1) <= 1, 0.0, 1.0))
        a = pa.analyze({"x1": x[:, 0], "x2": x[:, 1]}, objective, space={"x1": pa.Float(0, 1), "x2": pa.Float(0, 1)})
        found = a.importance(pa.at_most(0), pa.at_most(1), smoothing="none", **COUNTS)
        assert [found[n].raw_share for n in ("x1", "x2")] == pytest.approx([53 / 57] * 2, rel=3e-3)


@pytest.fixture(scope="module")
def analysis() -> pa.Analysis:
    x = lattice(-5, 5, 2002)
    return pa.analyze({"x1": x[:, 0], "x2": x[:, 1]}, toy(x), space=SQUARE)


class TestToy:
    """Case II of the paper, on a lattice of 4 million midpoints."""

    def test_global(self, analysis: pa.Analysis) -> None:
        disc = pa.at_most(math.nextafter(3.0, 0.0))
        for baseline in ("region", "uniform"):
            found = analysis.importance(disc, baseline=baseline, smoothing="none", **COUNTS)
            assert found["x1"].divergence == pytest.approx(2.119883341360812, rel=1e-3)
            assert found["x2"].divergence == pytest.approx(2.119883341360812, rel=1e-3)
            assert found["x1"].raw_share == pytest.approx(0.22058383457681052, rel=1e-3)

    def test_local(self, analysis: pa.Analysis) -> None:
        disc = pa.at_most(math.nextafter(3.0, 0.0))
        found = analysis.importance(0.01, disc, smoothing="none", **COUNTS)
        assert found["x1"].divergence == pytest.approx(7.201546464802027, rel=5e-3)
        assert found["x2"].divergence == pytest.approx(0.008762887445090461, rel=0.05)
        assert found["x1"].raw_share == pytest.approx(0.854805491413136, rel=5e-3)
        assert found["x2"].raw_share == pytest.approx(0.0010401327472243794, rel=0.05)

    def test_threshold(self, analysis: pa.Analysis) -> None:
        place = analysis.data.levels.quantiles.index(as_part(0.01, "target"))
        threshold = analysis.data.levels.thresholds[analysis.data.levels.index[place]]
        assert threshold == pytest.approx(0.03205783251792081, rel=2e-3)


SPACE = {f"x{d + 1}": pa.Float(-5, 5) for d in range(4)}


def sample(rows: int, seed: int, shift: int = 3) -> pa.Analysis:
    x = np.random.default_rng(seed).uniform(-5, 5, (rows, 4))
    objective = four_dimensional(x, inside_shift=shift)
    return pa.analyze({f"x{d + 1}": x[:, d] for d in range(4)}, objective, space=SPACE)


@pytest.fixture(scope="module")
def million() -> pa.Analysis:
    return sample(1_000_000, seed=0)


class TestFourDimensional:
    """The paper's validation function."""

    def test_thresholds(self, million: pa.Analysis) -> None:
        for part, exact in [(0.1, 1.6385678481863153), (0.01, 0.36224467138816063), (0.5, 8.478739338198158)]:
            place = million.data.levels.quantiles.index(as_part(part, "target"))
            assert million.data.levels.thresholds[million.data.levels.index[place]] == pytest.approx(exact, rel=0.01)

    @pytest.mark.parametrize("baseline", ["region", "uniform"])
    def test_global(self, million: pa.Analysis, baseline: str) -> None:
        found = million.importance(0.1, baseline=baseline, **COUNTS)
        assert found["x1"].divergence == pytest.approx(3.729079759899105, rel=0.03)
        assert found["x2"].divergence == pytest.approx(0.9070420241169157, rel=0.03)
        assert list(found) == ["x1", "x2", "x3", "x4"]
        ratios = [100 * found[name].ratio for name in SPACE]
        assert ratios == pytest.approx([79.925, 19.440, 0.609, 0.026], abs=0.5)
        shares = [found[name].share for name in SPACE]
        assert shares == pytest.approx([0.41434, 0.10078, 0.0031564, 0.00013437], abs=0.01)

    def test_local(self, million: pa.Analysis) -> None:
        found = million.importance(0.01, 0.1, **COUNTS)
        ratios = [100 * found[name].ratio for name in SPACE]
        assert ratios == pytest.approx([0.889, 75.045, 22.219, 1.847], abs=1.0)
        shares = [found[name].share for name in SPACE]
        assert shares == pytest.approx([0.0034856, 0.29435, 0.087151, 0.0072462], abs=0.006)

    def test_function_of_the_released_code(self) -> None:
        a = sample(1_000_000, seed=1, shift=1)
        wide, narrow = a.importance(0.1, **COUNTS), a.importance(0.01, 0.1, **COUNTS)
        assert [100 * wide[n].ratio for n in SPACE] == pytest.approx([77.934, 21.078, 0.726, 0.262], abs=0.5)
        assert list(narrow) == ["x2", "x3", "x1", "x4"] or list(narrow) == ["x2", "x3", "x4", "x1"]
        exact = np.array([0.18708822023251925, 1.2287547260317875, 1.155243320657375, 0.19082283944130962])
        corrected = np.array([narrow[n].share for n in SPACE])
        assert corrected[3] / corrected.sum() == pytest.approx(exact[3] / exact.sum(), rel=0.05)
        assert corrected / corrected.sum() == pytest.approx(exact / exact.sum(), abs=0.01)
        # Unsmoothed and corrected, the shares are unbiased even where the densities jump.
        shares = [a.importance(0.01, 0.1, smoothing="none", **COUNTS)[n].share for n in SPACE]
        exact = [0.18708822023251925, 1.2287547260317875, 1.155243320657375, 0.19082283944130962]
        assert shares == pytest.approx([divergence / 9 for divergence in exact], abs=0.006)

    @pytest.mark.parametrize("seed", range(5))
    def test_ten_thousand_rows(self, seed: int) -> None:
        found = sample(10_000, seed=seed).importance(0.1, **COUNTS)
        ratios = [100 * found[name].ratio for name in SPACE]
        assert ratios == pytest.approx([79.925, 19.440, 0.609, 0.026], abs=2.0)

    def test_exact_enumeration(self) -> None:
        """All 1001⁴ points of the grid x = (k - 500) / 100, counted through sorted sums of pairs."""
        squares = (np.arange(1001) - 500) ** 2
        terms = [
            np.where(np.abs(np.arange(1001) - 500) >= 100, 5 ** (3 - d), 5 ** (3 - (d + 3) % 4)) * squares
            for d in range(4)
        ]
        first, second = (np.add.outer(terms[a], terms[b]) for a, b in ((0, 1), (2, 3)))
        region, target = 2_058_899, 453_325  # thresholds 1.6471192 and 0.36266 in these units
        expected = [0.034216751861, 2.619412470771, 0.786348112905, 0.065922508262]
        totals = []
        for pair, other, exact in ((first, second, expected[:2]), (second, first, expected[2:])):
            ordered = np.sort(other.ravel())
            inside = [np.searchsorted(ordered, limit - pair, side="right") for limit in (target, region)]
            totals = [int(counts.sum()) for counts in inside]
            for axis in (1, 0):
                t, c = (np.concatenate([counts.sum(axis=axis), [0, 0]]) for counts in inside)
                assert against_region(t, c, 0.0)[0] == pytest.approx(exact[1 - axis], abs=1e-11)
        assert totals == [10_040_113_747, 100_400_617_649]
