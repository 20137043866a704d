"""The Gaussian process held against brute force: dense matrices, numerical slopes, many draws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pedanova.errors import MissingLibraryError
from pedanova.measures.surrogate import gaussian
from pedanova.measures.surrogate.gaussian import JITTER, Features, Likelihood, Process, condition, fit, subset

SIZES = (0, 3, 0, 2)  # two ordered features, two of categories


def random(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def mixed(rows: int, seed: int = 0, sizes: tuple[int, ...] = SIZES) -> Features:
    dice = random(seed)
    columns = [dice.random(rows) if size == 0 else dice.integers(0, size, rows) for size in sizes]
    owners = tuple(f"p{d}" for d in range(len(sizes)))
    return Features(np.stack(columns, axis=1).astype(np.float64), sizes, owners)


def kernel(one: Features, two: Features, settings: np.ndarray) -> np.ndarray:
    """s · exp(-Σ w·D), pair by pair as it is written."""
    weights, signal = np.exp(settings[:-2]), np.exp(settings[-2])
    exponent = np.zeros((len(one), len(two)))
    for d, size in enumerate(one.sizes):
        gap = np.subtract.outer(one.values[:, d], two.values[:, d])
        exponent -= weights[d] * (gap**2 if size == 0 else gap != 0)
    return signal * np.exp(exponent)


def posterior(
    rows: Features, scores: np.ndarray, points: Features, settings: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance of the points' scores, noise included, by the textbook."""
    noise = np.exp(settings[-1])
    known = kernel(rows, rows, settings) + (noise + JITTER) * np.eye(len(rows))
    cross = kernel(points, rows, settings)
    covariance = kernel(points, points, settings) - cross @ np.linalg.solve(known, cross.T)
    return cross @ np.linalg.solve(known, scores), covariance + noise * np.eye(len(points))


@pytest.fixture(scope="module")
def sample() -> tuple[Features, np.ndarray, np.ndarray]:
    """Rows, their scores, and settings."""
    features = mixed(25)
    scores = np.sin(4 * features.values[:, 0]) + features.values[:, 3] + random(1).normal(0, 0.2, 25)
    return features, scores - scores.mean(), np.log([3.0, 0.7, 0.2, 0.4, 1.3, 0.05])


@pytest.fixture(scope="module")
def process(sample: tuple[Features, np.ndarray, np.ndarray]) -> Process:
    return condition(*sample)


@settings(max_examples=100)
@given(st.lists(st.sampled_from([0, 1, 2, 5]), min_size=1, max_size=5), st.integers(0, 2**32), st.floats(1e-4, 150.0))
def test_the_distance_of_embedded_rows_is_the_weighted_sum(sizes: list[int], seed: int, largest: float) -> None:
    features = mixed(6, seed, tuple(sizes))
    weights = random(seed + 1).random(len(sizes)) * largest
    points = features.embed(weights)
    square = np.sum((points[:, None, :] - points[None, :, :]) ** 2, axis=2)
    told = sum(weights[d] * features.distances(d) for d in range(len(sizes)))
    np.testing.assert_allclose(square, told, rtol=1e-12, atol=1e-12 * largest)


@settings(max_examples=30)
@given(st.integers(0, 2**32))
def test_the_slope_of_the_likelihood_is_its_derivative(seed: int) -> None:
    dice = random(seed)
    likelihood = Likelihood(mixed(12, seed), dice.normal(size=12))
    place = likelihood.centre + 0.7 * dice.normal(size=len(likelihood.centre))
    _, slope = likelihood(place)
    step = 1e-5
    steps = step * np.eye(len(place))
    numerical = [(likelihood(place + e)[0] - likelihood(place - e)[0]) / (2 * step) for e in steps]
    np.testing.assert_allclose(slope, numerical, rtol=1e-5, atol=1e-6)


def test_the_likelihood_is_the_normal_law_times_the_priors() -> None:
    features, scores = mixed(10), random(3).normal(size=10)
    likelihood = Likelihood(features, scores)

    def by_hand(place: np.ndarray) -> float:
        covariance = kernel(features, features, place) + (np.exp(place[-1]) + JITTER) * np.eye(10)
        off = (place - likelihood.centre) / likelihood.spread
        fit = scores @ np.linalg.solve(covariance, scores) + np.linalg.slogdet(covariance)[1]
        return float(0.5 * fit + 0.5 * off @ off)

    one, two = likelihood.centre, likelihood.centre + 0.5
    assert likelihood(one)[0] == pytest.approx(by_hand(one), rel=1e-10)
    assert likelihood(two)[0] == pytest.approx(by_hand(two), rel=1e-10)


def test_predictions_are_those_of_the_textbook(sample, process: Process) -> None:  # type: ignore[no-untyped-def]
    points = mixed(9, seed=5)
    mean, covariance = posterior(sample[0], sample[1], points, sample[2])
    told, spread = process.predict(points)
    np.testing.assert_allclose(told, mean, atol=1e-8)
    np.testing.assert_allclose(spread, np.diag(covariance), atol=1e-8)


def test_leaving_one_out_is_fitting_without_it(sample, process: Process) -> None:  # type: ignore[no-untyped-def]
    features, scores, place = sample
    expected, spread = process.leave_one_out()
    for row in range(len(scores)):
        others = np.delete(np.arange(len(scores)), row)
        mean, variance = condition(features.take(others), scores[others], place).predict(features.take(np.array([row])))
        assert expected[row] == pytest.approx(mean[0], abs=1e-8)
        # A row of the covariance carries the jitter too, a point elsewhere does not.
        assert spread[row] == pytest.approx(variance[0] + JITTER, abs=1e-8)


def test_with_hardly_any_noise_predictions_meet_the_rows() -> None:
    features = mixed(15, seed=2)
    scores = np.sin(5 * features.values[:, 0]) + features.values[:, 1]
    told, spread = condition(features, scores, np.log([8, 1, 8, 1, 1, 1e-8])).predict(features)
    np.testing.assert_allclose(told, scores, atol=1e-3)
    assert spread.max() < 1e-4


def test_draws_have_the_mean_and_the_covariance_of_the_posterior(sample, process: Process) -> None:  # type: ignore[no-untyped-def]
    """24 sets of waves with 400 draws each: chance leaves about 0.02, the waves less."""
    points = mixed(6, seed=8)
    mean, covariance = posterior(sample[0], sample[1], points, sample[2])
    drawn = np.concatenate([process.draw(points, 400, random(seed)) for seed in range(24)], axis=1)
    assert drawn.shape == (6, 9600)
    largest = covariance.max()
    np.testing.assert_allclose(drawn.mean(axis=1), mean, atol=5 * np.sqrt(largest / 9600) + 0.02)
    np.testing.assert_allclose(np.cov(drawn), covariance, atol=5 * largest * np.sqrt(2 / 9600) + 0.03)


def test_neighbouring_points_are_drawn_jointly(process: Process) -> None:
    """Two points at the same place differ by their noise alone."""
    points = mixed(1, seed=9).take(np.array([0, 0]))
    drawn = process.draw(points, 4000, random(0))
    assert np.var(drawn[0] - drawn[1]) == pytest.approx(2 * process.noise, rel=0.1)


def test_the_same_random_numbers_give_the_same_draws_and_fits() -> None:
    features, scores = mixed(40, seed=4), random(4).normal(size=40)
    one, two = (fit(features, scores, kinds=3, rng=random(6)) for _ in range(2))
    for a, b in zip(one[1], two[1], strict=True):
        np.testing.assert_array_equal(a.weights, b.weights)
        np.testing.assert_array_equal(a.draw(features, 3, random(1)), b.draw(features, 3, random(1)))


class TestFit:
    def test_a_useless_feature_weighs_much_less_than_a_useful_one(self) -> None:
        features = mixed(80, seed=7)
        scores = np.sin(6 * features.values[:, 0]) + 2.0 * (features.values[:, 1] == 1)
        _, processes = fit(features, scores - scores.mean(), kinds=1, rng=random())
        ordered, kinds, idle, idle_kinds = processes[0].weights
        assert ordered > 20 * idle
        assert kinds > 20 * idle_kinds

    def test_the_best_settings_are_no_worse_than_the_middle_of_the_prior(self) -> None:
        features, scores = mixed(40, seed=3), random(3).normal(size=40)
        likelihood = Likelihood(features, scores)
        best = likelihood.maximize()
        assert likelihood(best)[0] <= likelihood(likelihood.centre)[0]
        around = likelihood.around(best, 50, random(1))
        low, high = np.array(likelihood.bounds).T
        assert around.shape == (50, len(best))
        assert np.all((around >= low) & (around <= high))
        assert np.all(around.std(axis=0) > 0)

    def test_large_tables_are_thinned_and_small_ones_are_not(self) -> None:
        np.testing.assert_array_equal(subset(5, 5, random()), np.arange(5))
        thinned = subset(1000, 300, random())
        assert len(np.unique(thinned)) == 300
        assert np.all(np.diff(thinned) > 0)
        assert thinned[-1] < 1000

    @pytest.mark.parametrize(
        "values",
        [
            np.full((60, 2), 0.5),  # the same configuration everywhere
            np.stack([np.zeros(60), np.linspace(0, 1, 60)], axis=1),  # a feature with one value
            np.tile(np.repeat([[0.1, 0.9]], 2, axis=0), (30, 1)),
            np.repeat(np.random.default_rng(0).random((6, 2)), 10, axis=0),  # ten rows each
        ],
        ids=["identical", "one value", "tiled", "repeated"],
    )
    @pytest.mark.parametrize("noisy", [True, False])
    def test_rows_that_repeat_do_not_break_it(self, values: np.ndarray, noisy: bool) -> None:
        features = Features(values, (0, 0), ("a", "b"))
        scores = random(1).normal(size=60) if noisy else np.sin(9 * values.sum(axis=1))
        scores = (scores - scores.mean()) / max(scores.std(), 1e-12)
        _, processes = fit(features, scores, kinds=4, rng=random())
        for process in processes:
            expected, spread = process.leave_one_out()
            assert np.isfinite(expected).all()
            assert (spread > 0).all()
            assert np.isfinite(process.draw(features, 2, random())).all()

    def test_categories_alone_and_one_row_a_category(self) -> None:
        features = Features(np.arange(50.0)[:, None], (50,), ("kind",))
        _, processes = fit(features, random(1).normal(size=50), kinds=2, rng=random())
        expected, _ = processes[0].leave_one_out()
        assert np.abs(expected).max() < 1.0  # the other rows tell next to nothing


def test_without_scipy_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "scipy.linalg", None)
    with pytest.raises(MissingLibraryError, match=r"pip install 'pedanova\[surrogate\]'"):
        gaussian.solve(np.eye(2), np.ones(2))
