"""The Gaussian process held against brute force: dense matrices, numerical gradients, many draws."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from pedanova.measures.surrogate.gaussian_process import (
    LEAST_NOISE,
    CholeskyFactor,
    Embedding,
    KernelSettings,
    Likelihood,
    condition,
    descend,
    rational_quadratic,
)

OWNERS = np.array([0, 1, 1, 2])


def embedded(rows: int, seed: int) -> Embedding:
    rng = np.random.default_rng(seed)
    positions = rng.random((rows, 4)).astype(np.float32)
    return Embedding(positions, (rng.random((rows, 3)) - 0.5).astype(np.float32))


def scores_at(rows: Embedding) -> np.ndarray:
    return np.sin(4 * rows.positions[:, 0].astype(float)) + rows.positions[:, 3]


def dense(one: Embedding, two: Embedding, settings: KernelSettings) -> np.ndarray:
    """k without noise, pair by pair as it is written."""
    gaps = one.positions[:, None].astype(float) - two.positions[None].astype(float)
    distance = (settings.weights[OWNERS] * gaps**2).sum(axis=-1)
    return 1 / (1 + distance) + settings.additive * one.basis.astype(float) @ two.basis.T.astype(float)


SETTINGS = KernelSettings(np.array([2.0, 0.3, 1.0]), 0.05, 0.4)


def test_the_kernel_is_one_over_one_and_the_distance() -> None:
    one, two = embedded(5, 0), embedded(7, 1)
    stationary = KernelSettings(SETTINGS.weights, 0.05, 0.0)
    assert rational_quadratic(one.positions, two.positions, SETTINGS.weights[OWNERS]) == pytest.approx(
        dense(one, two, stationary), abs=1e-5
    )


def test_logs_come_back() -> None:
    again = KernelSettings.from_logs(SETTINGS.logs)
    assert again.weights == pytest.approx(SETTINGS.weights)
    assert (again.noise, again.additive) == pytest.approx((SETTINGS.noise, SETTINGS.additive))
    assert KernelSettings.from_logs(np.full(4, -50.0)).noise >= LEAST_NOISE


def test_the_gradient_is_the_numerical_one() -> None:
    rows = embedded(40, 2)
    likelihood = Likelihood.of(rows, OWNERS, scores_at(rows))
    logs = SETTINGS.logs
    _, gradient = likelihood(logs)
    step = 1e-2
    numerical = [
        (likelihood(logs + step * one)[0] - likelihood(logs - step * one)[0]) / (2 * step) for one in np.eye(len(logs))
    ]
    assert gradient == pytest.approx(numerical, abs=0.02, rel=0.02)


def test_a_search_does_not_make_it_worse() -> None:
    rows = embedded(60, 3)
    likelihood = Likelihood.of(rows, OWNERS, scores_at(rows))
    found = likelihood.best()
    assert likelihood(found.logs)[0] <= likelihood(likelihood.centre)[0]
    assert found.weights[0] > found.weights[1]  # the second parameter does nothing


def test_each_row_is_predicted_from_the_others() -> None:
    rows = embedded(12, 4)
    scores = scores_at(rows)
    process = condition(rows, OWNERS, scores, SETTINGS)
    predicted, variance = process.leave_one_out()
    for left in range(12):
        kept = np.delete(np.arange(12), left)
        here, there = rows.take(kept), rows.take(np.array([left]))
        matrix = dense(here, here, SETTINGS) + (SETTINGS.noise + 1e-6) * np.eye(11)
        inverse = np.linalg.inv(matrix)
        mean = (inverse @ scores[kept]).sum() / inverse.sum()
        expected = mean + dense(there, here, SETTINGS) @ inverse @ (scores[kept] - mean)
        assert predicted[left] == pytest.approx(float(expected[0]), abs=1e-3)
        cross = dense(there, here, SETTINGS)
        gap = 1.0 - float((cross @ inverse).sum())  # the mean is estimated as well
        exact = float((dense(there, there, SETTINGS) - cross @ inverse @ cross.T)[0, 0]) + gap**2 / inverse.sum()
        assert variance[left] == pytest.approx(process.scale * exact, rel=0.02)


def test_draws_have_the_mean_and_spread_of_the_posterior() -> None:
    rows, points = embedded(25, 5), embedded(8, 6)
    scores = scores_at(rows)
    process = condition(rows, OWNERS, scores, SETTINGS)
    drawn = np.concatenate([process.draw(points, 40, np.random.default_rng(seed)) for seed in range(60)])
    matrix = dense(rows, rows, SETTINGS) + (SETTINGS.noise + 1e-6) * np.eye(25)
    inverse, cross = np.linalg.inv(matrix), dense(points, rows, SETTINGS)
    mean = (inverse @ scores).sum() / inverse.sum()
    expected = mean + cross @ inverse @ (scores - mean)
    assert drawn.mean(axis=0) == pytest.approx(expected, abs=1e-3)  # pairs cancel
    unknown = 1 - (cross @ inverse).sum(axis=1)  # of the constant mean
    variance = np.diag(dense(points, points, SETTINGS) - cross @ inverse @ cross.T) + unknown**2 / inverse.sum()
    assert drawn.var(axis=0) == pytest.approx(process.scale * variance, rel=0.35)


# --- Cholesky factor ---


def covariance(rows: int) -> np.ndarray:
    values = np.random.default_rng(rows).random((rows, 3))
    distance = ((values[:, None] - values[None]) ** 2).sum(axis=-1)
    return 1.0 / (1.0 + distance) + 0.05 * np.eye(rows)


def test_the_joint_law_is_that_of_the_draws() -> None:
    rows, points = embedded(40, 4), embedded(6, 5)
    process = condition(rows, OWNERS, scores_at(rows), SETTINGS)
    scores = process.jointly(points)
    mean, covariance = scores.mean, np.stack([scores.covariance(place) for place in range(6)])
    assert np.diag(covariance) == pytest.approx(scores.variance, abs=1e-6)
    assert process.predict(points) == pytest.approx(mean, abs=1e-4)
    assert np.linalg.eigvalsh(covariance).min() > -1e-4
    rng = np.random.default_rng(0)
    drawn = np.concatenate([process.draw(points, 200, rng) for _ in range(60)]).astype(float)
    assert drawn.mean(axis=0) == pytest.approx(mean, abs=0.02)
    assert np.cov(drawn.T) == pytest.approx(covariance, abs=0.15 * float(np.diag(covariance).max()))


def test_a_prior_on_the_noise_draws_it_to_its_centre() -> None:
    rows = embedded(60, 6)
    likelihood = Likelihood.of(rows, OWNERS, scores_at(rows) + np.random.default_rng(0).normal(size=60))
    centre = likelihood.centre.copy()
    centre[-2] = math.log(0.001)
    strict = replace(likelihood, centre=centre, noise_prior=50.0)
    assert strict.best().noise < 0.1 * likelihood.best().noise


@pytest.mark.parametrize("rows", [1, 2, 47, 48, 49, 64, 65, 200])
def test_solves_as_numpy_does(rows: int) -> None:
    matrix = covariance(rows)
    right = np.random.default_rng(0).random((rows, 4))
    factor = CholeskyFactor.of(matrix)
    assert factor.solve(right) == pytest.approx(np.linalg.solve(matrix, right))
    assert factor.half_log_determinant == pytest.approx(np.linalg.slogdet(matrix)[1] / 2)


def test_single_precision_is_near() -> None:
    matrix = covariance(150)
    found = CholeskyFactor.of(matrix).inverse_in_single()
    assert found.dtype == np.float32
    assert found == pytest.approx(np.linalg.inv(matrix), abs=2e-3)


def test_what_is_not_positive_is_refused() -> None:
    with pytest.raises(np.linalg.LinAlgError):
        CholeskyFactor.of(-np.eye(3))


# --- minimization ---


def rosenbrock(x: np.ndarray) -> tuple[float, np.ndarray]:
    value = 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2
    return float(value), np.array([-400 * x[0] * (x[1] - x[0] ** 2) - 2 * (1 - x[0]), 200 * (x[1] - x[0] ** 2)])


def test_finds_the_end_of_a_bent_valley() -> None:
    found = descend(rosenbrock, np.array([-1.2, 1.0]), steps=200, least=1e-14)
    assert found == pytest.approx([1.0, 1.0], abs=1e-3)


def test_a_bowl_takes_few_steps() -> None:
    calls = []
    scale = np.logspace(-1, 1, 12)

    def bowl(x: np.ndarray) -> tuple[float, np.ndarray]:
        calls.append(1)
        return float(0.5 * scale @ (x - 1) ** 2), scale * (x - 1)

    found = descend(bowl, np.zeros(12), steps=60, least=1e-12)
    assert found == pytest.approx(np.ones(12), abs=1e-3)
    assert len(calls) < 60


def test_walls_are_walked_around() -> None:
    def walled(x: np.ndarray) -> tuple[float, np.ndarray]:
        if x[0] <= 0:
            return math.inf, np.zeros(1)
        return float(x[0] - math.log(x[0])), 1 - 1 / x

    assert descend(walled, np.array([3.0]), steps=40, least=1e-12) == pytest.approx([1.0], abs=1e-3)


def test_no_slope_no_step() -> None:
    start = np.array([1.0, 2.0])
    assert np.array_equal(descend(lambda _: (1.0, np.zeros(2)), start, steps=5, least=0.0), start)
