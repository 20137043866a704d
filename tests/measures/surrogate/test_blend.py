"""Counted shares of all parameters at once, and the model's shares blended with them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import pedanova as pa
from pedanova.counting.contrasts import Contrast
from pedanova.measures.importance import Importance, measure
from pedanova.measures.surrogate.estimate import (
    CELLS,
    IDLE,
    INTERACTING,
    USUAL,
    blended,
    counted_shares,
    tolerances_of,
    widened,
)
from pedanova.space.grid import grid_of
from pedanova.space.parameters import Parameter


def measured(target: list[int], region: list[int]) -> Importance:
    grid = grid_of(pa.Categorical(range(len(target))))
    return measure(
        Contrast("x", grid, np.array([*target, 0, 0]), np.array([*region, 0, 0])), baseline="region", smoothing="none"
    )


def test_few_rows_leave_the_model_its_word() -> None:
    row = measured([6, 2, 2], [34, 33, 33])
    assert blended(np.array([0.02]), [row], [USUAL])[0] == pytest.approx(0.02, rel=0.05)


def test_many_rows_decide() -> None:
    for share in (0.2, 0.0):
        row = measured([60_000, 20_000, 20_000], [400_000, 300_000, 300_000])
        moved = blended(np.array([share]), [row], [USUAL])[0]
        assert moved == pytest.approx(row.share, abs=0.002)


def test_what_chance_does_not_explain_is_not_believed() -> None:
    row = measured([10, 10, 10], [100, 100, 100])
    moved = blended(np.array([0.01, 0.3]), [row, row], [USUAL, USUAL])
    assert moved[0] == pytest.approx(0.01, rel=0.05)  # chance may hide that
    assert row.share < moved[1] < 0.1


def test_what_never_varied_stays() -> None:
    row = replace(measured([4, 3, 3], [34, 33, 33]), varied=False)
    assert blended(np.array([0.4]), [row], [USUAL])[0] == 0.4


def test_a_model_is_trusted_less_where_parameters_act_together() -> None:
    assert tolerances_of(np.array([0.5, 0.2, 0.0])) == [USUAL] * 3
    assert tolerances_of(np.array([0.3, 0.2, 0.0])) == [INTERACTING, INTERACTING, IDLE]
    row = measured([6, 2, 2], [34, 33, 33])
    usual, together = (blended(np.array([0.2]), [row], [how])[0] for how in (USUAL, INTERACTING))
    assert row.share < together < usual
    assert blended(np.array([0.2]), [row], [IDLE])[0] == row.share


def test_bounds_hold_the_counts_where_a_model_is_trusted_less() -> None:
    row = measured([6, 2, 2], [34, 33, 33])
    given = np.array([0.001]), np.array([0.002])
    assert [ends[0] for ends in widened(given, [row], [USUAL])] == [0.001, 0.002]
    low, high = widened(given, [row], [IDLE])
    assert low[0] <= 0.001
    assert high[0] > row.share > 0.002


def test_of_a_jump_that_two_make_together_neither_gets_more_than_it_counts() -> None:
    rng = np.random.default_rng(4)
    x = rng.random((4, 200))
    loss = ((x[0] > 0.5) ^ (x[1] > 0.5)) + 0.5 * np.abs(x[2] - 0.4) + 0.05 * rng.normal(size=200)
    names = [f"x{j}" for j in range(4)]
    a = pa.analyze(dict(zip(names, x, strict=True)), loss, space=dict.fromkeys(names, pa.Float(0, 1)), direction="min")
    found, rows = a.importance(draws=0), a.importance(estimator="counts", draws=0)
    assert found.estimator == "surrogate"
    assert all(found[name].share <= rows[name].share + 0.01 for name in ("x0", "x1"))
    assert found["x2"].ratio > 0.75


PARAMETERS: list[Parameter] = [
    pa.Int(1, 80),
    pa.Int(1, 5),
    pa.Categorical(list("abcdef")),
    pa.Int(1, 90, when={"kind": "a"}),
    pa.Ordinal([1, 2, 4]),
]


def contrasts(seed: int, rows: int = 400, inside: int = 40) -> list[Contrast]:
    """Every cell of every parameter is likely to have rows; the fourth is a child, the last has one cell alone."""
    rng = np.random.default_rng(seed)
    found = []
    for j, parameter in enumerate(PARAMETERS):
        grid = grid_of(parameter)
        parts = rng.dirichlet(np.full(grid.width, 0.5)) if j < 4 else np.eye(grid.width)[1]
        region = rng.multinomial(rows, parts)
        target = rng.multivariate_hypergeometric(region, inside)
        found.append(Contrast(f"p{j}", grid, target, region, child=j == 3))
    return found


@pytest.mark.parametrize("baseline", ["region", "uniform"])
@pytest.mark.parametrize("inside", [1, 4, 40])
def test_counted_shares_are_the_measure_where_no_range_is_long(baseline: str, inside: int) -> None:
    each = contrasts(inside, inside=inside)
    for contrast, found in zip(each, counted_shares(each, baseline=baseline), strict=True):
        alone = measure(contrast, baseline=baseline, smoothing="auto")
        assert found.share == pytest.approx(alone.share, rel=1e-9, abs=1e-13)
        assert found.raw_share == pytest.approx(alone.raw_share, rel=1e-9, abs=1e-13)
        assert (found.n_region, found.varied) == (alone.n_region, alone.varied)


def test_a_range_is_told_in_a_hundred_cells() -> None:
    rng = np.random.default_rng(0)
    grid, coarse = grid_of(pa.Float(0, 1)), grid_of(pa.Int(1, CELLS))
    region = rng.multinomial(500, np.r_[np.full(grid.cells, 1.0 / grid.cells), 0.0, 0.0])
    target = rng.multivariate_hypergeometric(region, 50)
    fold = np.arange(grid.cells) * CELLS // grid.cells
    folded = [np.r_[np.bincount(fold, weights=c[: grid.cells]), 0, 0].astype(np.int64) for c in (target, region)]
    fine = counted_shares([Contrast("x", grid, target, region)], baseline="region")[0]
    assert fine == counted_shares([Contrast("x", coarse, *folded)], baseline="region")[0]
