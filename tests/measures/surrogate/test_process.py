"""The Gaussian process held against brute force: dense matrices, numerical slopes, many draws."""

from __future__ import annotations

import numpy as np
import pytest

from pedanova.measures.surrogate.evidence import LEAST_NOISE, Likelihood, Settings, reach
from pedanova.measures.surrogate.layout import Embedding
from pedanova.measures.surrogate.process import condition

OWNERS = np.array([0, 1, 1, 2])


def embedded(rows: int, seed: int) -> Embedding:
    rng = np.random.default_rng(seed)
    near = rng.random((rows, 4)).astype(np.float32)
    return Embedding(near, (rng.random((rows, 3)) - 0.5).astype(np.float32))


def scores_at(rows: Embedding) -> np.ndarray:
    return np.sin(4 * rows.near[:, 0].astype(float)) + rows.near[:, 3]


def dense(one: Embedding, two: Embedding, settings: Settings) -> np.ndarray:
    """k without noise, pair by pair as it is written."""
    gaps = one.near[:, None].astype(float) - two.near[None].astype(float)
    distance = (settings.weights[OWNERS] * gaps**2).sum(axis=-1)
    return 1 / (1 + distance) + settings.additive * one.waves.astype(float) @ two.waves.T.astype(float)


SETTINGS = Settings(np.array([2.0, 0.3, 1.0]), 0.05, 0.4)


def test_reach_is_one_over_one_and_the_distance() -> None:
    one, two = embedded(5, 0), embedded(7, 1)
    alone = Settings(SETTINGS.weights, 0.05, 0.0)
    assert reach(one.near, two.near, SETTINGS.weights[OWNERS]) == pytest.approx(dense(one, two, alone), abs=1e-5)


def test_logs_come_back() -> None:
    again = Settings.from_logs(SETTINGS.logs)
    assert again.weights == pytest.approx(SETTINGS.weights)
    assert (again.noise, again.additive) == pytest.approx((SETTINGS.noise, SETTINGS.additive))
    assert Settings.from_logs(np.full(4, -50.0)).noise >= LEAST_NOISE


def test_the_slope_is_the_slope() -> None:
    rows = embedded(40, 2)
    evidence = Likelihood.of(rows, OWNERS, scores_at(rows))
    logs = SETTINGS.logs
    _, slope = evidence(logs)
    step = 1e-2
    numerical = [
        (evidence(logs + step * one)[0] - evidence(logs - step * one)[0]) / (2 * step) for one in np.eye(len(logs))
    ]
    assert slope == pytest.approx(numerical, abs=0.02, rel=0.02)


def test_a_search_does_not_make_it_worse() -> None:
    rows = embedded(60, 3)
    evidence = Likelihood.of(rows, OWNERS, scores_at(rows))
    found = evidence.best()
    assert evidence(found.logs)[0] <= evidence(evidence.centre)[0]
    assert found.weights[0] > found.weights[1]  # the second parameter does nothing


def test_each_row_is_told_by_the_others() -> None:
    rows = embedded(12, 4)
    scores = scores_at(rows)
    told = condition(rows, OWNERS, scores, SETTINGS).told_by_others()
    for left in range(12):
        kept = np.delete(np.arange(12), left)
        here, there = rows.take(kept), rows.take(np.array([left]))
        matrix = dense(here, here, SETTINGS) + (SETTINGS.noise + 1e-6) * np.eye(11)
        inverse = np.linalg.inv(matrix)
        mean = (inverse @ scores[kept]).sum() / inverse.sum()
        expected = mean + dense(there, here, SETTINGS) @ inverse @ (scores[kept] - mean)
        assert told[left] == pytest.approx(float(expected[0]), abs=1e-3)


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
