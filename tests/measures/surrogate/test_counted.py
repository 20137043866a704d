from __future__ import annotations

import numpy as np
import pytest

import pedanova as pa
from pedanova.counting.contrasts import Contrast
from pedanova.measures.importance import measure
from pedanova.measures.surrogate.counted import HELD, counted_shares
from pedanova.space.grid import grid_of
from pedanova.space.parameters import Parameter

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
def test_all_at_once_is_what_each_is_alone(baseline: str, inside: int) -> None:
    each = contrasts(inside, inside=inside)
    for contrast, found in zip(each, counted_shares(each, baseline=baseline), strict=True):
        alone = measure(contrast, baseline=baseline, smoothing="auto")
        assert found.share == pytest.approx(alone.share, rel=1e-9, abs=1e-13)
        assert found.raw_share == pytest.approx(alone.raw_share, rel=1e-9, abs=1e-13)
        assert (found.n_region, found.varied) == (alone.n_region, alone.varied)


def test_no_parameter_hangs_on_the_others_beside_it() -> None:
    each = contrasts(3)
    every = counted_shares(each, baseline="region")
    assert [counted_shares([one], baseline="region")[0] for one in each] == every
    assert counted_shares(each[::-1], baseline="region")[::-1] == every


def test_a_range_is_told_in_a_hundred_cells() -> None:
    rng = np.random.default_rng(0)
    grid, coarse = grid_of(pa.Float(0, 1)), grid_of(pa.Int(1, HELD))
    region = rng.multinomial(500, np.r_[np.full(grid.cells, 1.0 / grid.cells), 0.0, 0.0])
    target = rng.multivariate_hypergeometric(region, 50)
    fold = np.arange(grid.cells) * HELD // grid.cells
    folded = [np.r_[np.bincount(fold, weights=c[: grid.cells]), 0, 0].astype(np.int64) for c in (target, region)]
    fine = counted_shares([Contrast("x", grid, target, region)], baseline="region")[0]
    assert fine == counted_shares([Contrast("x", coarse, *folded)], baseline="region")[0]
