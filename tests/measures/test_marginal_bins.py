"""Means by bar or step: cells weighed by their rows."""

from __future__ import annotations

import numpy as np
import pytest

import pedanova as pa
from pedanova.measures.bins import bins_of
from pedanova.measures.effects import binned_marginal


@pytest.mark.parametrize("points", [1, 7, 40])
def test_means_of_bins_add_up_to_that_of_the_cells(points: int) -> None:
    random = np.random.default_rng(points)
    x, y = random.random(400), random.random(400)
    a = pa.analyze({"x": x, "y": y, "loss": x**2 + random.normal(0, 0.1, 400)}, "loss")
    marginal = a.marginal("x")
    found = binned_marginal(marginal, bins_of(marginal.parameter, marginal.counts, points))
    assert found.rows.sum() == marginal.counts.sum() == 400
    held = found.rows > 0
    assert found.mean[held] @ found.rows[held] == pytest.approx(np.nansum(marginal.mean * marginal.counts))
    assert np.all(np.isnan(found.mean[~held]))
    known = np.isfinite(found.low)
    assert np.all((found.low <= found.mean)[known] & (found.mean <= found.high)[known])


def test_bars_are_the_plain_means_of_their_rows() -> None:
    random = np.random.default_rng(0)
    n, loss = random.integers(1, 6, 300), random.random(300)
    marginal = pa.analyze({"n": n, "z": random.random(300), "loss": loss}, "loss").marginal("n")
    found = binned_marginal(marginal, bins_of(marginal.parameter, marginal.counts))
    assert found.mean == pytest.approx([loss[n == value].mean() for value in range(1, 6)])
