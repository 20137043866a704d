"""Corrections by leave-one-out residuals: their sums, what they believe, and what they leave alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pedanova.measures.surrogate.summaries import (
    CellSums,
    Expansion,
    LeaveOneOut,
    cell_sums,
    combined,
    correction_weights,
    error_variance,
    expansions,
)
from pedanova.space.grid import Block

NOTHING = np.zeros(1)


def predictions(rows: int, repeats: int = 1) -> LeaveOneOut:
    rng = np.random.default_rng(rows)
    owner = np.repeat(np.arange(rows // repeats), repeats)
    mean = rng.standard_normal(rows // repeats)[owner]
    return LeaveOneOut(np.arange(rows), owner, mean, np.full(rows, 0.2), 0.1)


def expansion(along: float, variance: float = 1e-4) -> Expansion:
    return Expansion(along, variance, variance, NOTHING, NOTHING, NOTHING, NOTHING)


@pytest.mark.parametrize("part", [0.01, 0.1, 0.5, 0.9])
def test_chances_add_up_to_the_part(part: float) -> None:
    predicted = predictions(500)
    chances = predicted.chances(part)
    assert chances.mean() == pytest.approx(part, abs=1e-4)
    assert np.all(np.diff(chances[np.argsort(predicted.mean)]) <= 0.0)
    assert predicted.chances(1.0).min() == 1.0
    assert predicted.chances(0.0).max() == 0.0


def test_sums_are_those_of_the_rows() -> None:
    rng = np.random.default_rng(0)
    flat = np.stack([rng.integers(0, 5, 100), rng.integers(5, 8, 100)], axis=1)
    predicted = replace(predictions(100), mean=np.linspace(-2.0, 2.0, 100))  # rows are in the order of their ranks
    target, region = np.arange(100) < 10, np.arange(100) < 60
    sums = cell_sums(predicted, flat, target, region, 8)
    assert sums.rows == 60
    assert sums.part == pytest.approx(1 / 6)
    for cells in (slice(0, 5), slice(5, 8)):  # every parameter has every row
        assert sums.counts[cells].sum() == 60
        assert sums.misfit[cells].sum() == pytest.approx(0.0, abs=0.1)
        assert sums.chance[cells].sum() == pytest.approx(10.0, abs=0.1)
    assert np.array_equal(sums.squares[0], sums.counts)


def test_rows_of_a_configuration_scatter_together() -> None:
    rng = np.random.default_rng(0)
    once, twice = predictions(50), predictions(100, repeats=2)
    flat = rng.integers(0, 4, (50, 1))
    target = np.arange(50) < 10
    every = np.ones(50, dtype=bool)
    one = cell_sums(once, flat, target, every, 4)
    two = cell_sums(
        LeaveOneOut(np.arange(100), twice.owner, np.repeat(once.mean, 2), np.repeat(once.variance, 2), 0.1),
        np.repeat(flat, 2, axis=0),
        np.repeat(target, 2),
        np.repeat(every, 2),
        4,
    )
    np.testing.assert_allclose(two.misfit, 2 * one.misfit, atol=1e-6)
    np.testing.assert_allclose(two.misfit_square, 4 * one.misfit_square, atol=1e-6)


def test_a_right_model_is_left_alone_and_a_wrong_one_is_corrected() -> None:
    root, noise = np.array([0.5, 0.3, 0.0]), np.full(3, 1e-3)
    small, _ = correction_weights(root, np.array([0.01, -0.01, 0.02]), noise)
    large, _ = correction_weights(root, np.array([0.3, 0.2, 0.02]), noise)
    assert small[0] < 0.7
    assert large[0] > 0.9
    assert large[2] == 0.0  # where the model shows nothing, chance is not taken for an effect


def test_residuals_of_all_parameters_widen_each_interval() -> None:
    deviation, noise = np.array([0.05, 0.02, 0.0]), np.array([1e-3, 1e-3, 1.0])
    right, wrong, silent = (
        error_variance(deviation, np.array([along, 0.0, 0.0]), some)
        for along, some in ((0.0, noise), (0.4, noise), (0.4, np.ones(3)))
    )
    assert np.all(deviation**2 < right)
    assert np.all(2.0 * right < wrong)
    assert np.all(right < silent)  # residuals that are mostly noise say little, for the model or against it
    assert np.all(silent < wrong)


def test_the_interval_holds_what_is_not_believed() -> None:
    root, deviation = np.array([0.5]), np.array([0.01])
    plain, disputed = (
        combined(root, deviation, 0.0, np.zeros(1), [(expansion(along, 0.02), expansion(0.0), expansion(0.0))])
        for along in (0.0, 0.2)
    )
    assert disputed.share[0] > plain.share[0]
    assert disputed.high[0] > (0.5 + 0.2) ** 2
    assert disputed.high[0] - disputed.low[0] > plain.high[0] - plain.low[0]


def test_a_parameter_with_a_single_cell_has_no_correction() -> None:
    result = combined(np.array([0.4]), np.array([0.01]), 0.0, np.zeros(1), [None])
    assert result.share[0] == pytest.approx(0.16, abs=1e-6)


def test_disagreement_counts_where_parameters_act_together() -> None:
    root, deviation, pairs = np.array([0.1]), np.array([0.08]), [(expansion(0.0), expansion(0.0), expansion(0.0))]
    alone, together = (combined(root, deviation, part, np.zeros(1), pairs).share[0] for part in (0.0, 0.8))
    assert together < alone


def test_waves_that_the_curve_lacks_are_seen() -> None:
    """A flat model of a target in two places."""
    blocks = Block(0, 50, ordered=True), Block(50, 51, ordered=False)
    counts = np.r_[np.full(50, 20.0), 0.0]
    inside = np.r_[np.full(5, 10.0), np.zeros(40), np.full(5, 10.0), 0.0]
    chance = 0.1 * counts
    sums = CellSums(
        rows=1000,
        part=0.1,
        counts=counts,
        chance=chance,
        misfit=inside - chance,
        misfit_square=inside * 0.81 + (counts - inside) * 0.01,
        misfit_expected=0.09 * counts,
        squares=np.stack([counts, chance, 0.1 * chance]),
    )
    pairs = expansions(np.full((1, 51), 0.1), counts[None], blocks, sums.cut(np.arange(51)[None]), child=False)
    result = combined(np.zeros(1), np.zeros(1), 0.0, np.zeros(1), pairs)
    exact = float((counts[:-1] * (inside[:-1] / counts[:-1] - 0.1) ** 2).sum()) / 1000 / 0.09
    assert result.share[0] == pytest.approx(exact, rel=0.2)  # sharp edges have waves that chance may explain
    assert result.low[0] < exact < result.high[0]
