"""Shares of rows drawn anew, in stacks: those of the plain formula, draw by draw."""

from __future__ import annotations

import numpy as np
import pytest

import pedanova as pa
from pedanova.counting.contrasts import Contrast
from pedanova.measures.folded import fold_for_draws, fold_for_kernel, folded_shares
from pedanova.measures.narrow_kernel import NarrowKernel
from pedanova.measures.permuted import permuted_scores
from pedanova.measures.renewed import Shared, stacked_shares
from pedanova.space.grid import grid_of

SWITCH = pa.Switch("phase", {"a": pa.Float(0, 1), "b": pa.Categorical(["u", "v", "w"])})


def contrast(parameter: object, rows: int = 6000, inside: int = 600) -> Contrast:
    rng = np.random.default_rng(0)
    grid = grid_of(parameter)
    cells = np.minimum((rng.beta(1, 3, rows) * grid.cells).astype(int), grid.cells - 1)
    best = np.argsort(cells / grid.cells + 2 * rng.random(rows))[:inside]
    target, region = (np.bincount(c, minlength=grid.width) for c in (cells[best], cells))
    return Contrast("x", grid, target, region)


@pytest.mark.parametrize("parameter", [pa.Float(0, 1), pa.Int(1, 30), pa.Categorical(list("abcd")), SWITCH])
def test_stacks_are_the_plain_formula(parameter: object) -> None:
    folded, widths = fold_for_kernel(contrast(parameter), "auto")
    rng = np.random.default_rng(1)
    targets, others = (rng.poisson(c, (20, len(c))).T for c in (folded.target, folded.region - folded.target))
    kernels = [NarrowKernel.of(b.stop - b.start, width) for b, width in zip(folded.blocks, widths, strict=True)]
    found = stacked_shares(folded, kernels, targets.astype(np.float32), others.astype(np.float32))
    plain = folded_shares(folded, widths, targets.T.astype(float), (targets + others).T.astype(float), "region")[1]
    np.testing.assert_allclose(found, plain, rtol=2e-4, atol=1e-6)


@pytest.mark.parametrize("baseline", ["region", "uniform"])
@pytest.mark.parametrize("smoothing", ["auto", "none", 2.0])
@pytest.mark.parametrize("parameter", [pa.Float(0, 1), pa.Categorical(list("abcd")), SWITCH])
def test_so_are_the_scores_of_random_parts(parameter: object, smoothing: object, baseline: str) -> None:
    """Where kernels are found anew, single rows may move one to its neighbour: hardly any draw differs."""
    folded = fold_for_draws(contrast(parameter), smoothing)
    rng = np.random.default_rng(2)
    drawn = rng.multivariate_hypergeometric(folded.region, 600, size=60)
    found = permuted_scores(folded, drawn.T.astype(np.float32), baseline, smoothing)
    plain = folded.scores(drawn.astype(float), baseline, smoothing)
    assert np.mean(np.isclose(found, plain, rtol=1e-3, atol=2e-6)) > 0.9
    np.testing.assert_allclose(found, plain, atol=0.3 * plain.std())


def test_halves_share_nothing() -> None:
    rng = np.random.default_rng(0)
    one, two = Shared.drawn(40, 101, rng).halves()
    assert (one.draws, two.draws) == (51, 50)
    assert not np.shares_memory(one.normals, two.normals)
    assert not np.shares_memory(one.first(160, rng), one.last(160, rng))
    assert not np.shares_memory(one.first(200, rng), one.last(200, rng))
    assert one.first(1000, rng).shape == (1000, 51)
