"""Shares in stacks: those of the measure, draw by draw and in either precision."""

from __future__ import annotations

import numpy as np
import pytest

import pedanova as pa
from pedanova.counting.contrasts import Contrast
from pedanova.measures.importance import measure
from pedanova.measures.inference import CoarseContrast, SharedDraws, coarsen_for_draws, coarsen_for_kernel
from pedanova.measures.share import shares
from pedanova.measures.smoothing import bandwidth
from pedanova.space.grid import blocks_of, grid_of

SWITCH = pa.Switch("phase", {"a": pa.Float(0, 1), "b": pa.Categorical(["u", "v", "w"])})


def contrast(parameter: object, rows: int = 6000, inside: int = 600) -> Contrast:
    rng = np.random.default_rng(0)
    grid = grid_of(parameter)
    cells = np.minimum((rng.beta(1, 3, rows) * grid.cells).astype(int), grid.cells - 1)
    best = np.argsort(cells / grid.cells + 2 * rng.random(rows))[:inside]
    target, region = (np.bincount(c, minlength=grid.width) for c in (cells[best], cells))
    return Contrast("x", grid, target, region)


@pytest.mark.parametrize("baseline", ["region", "uniform"])
@pytest.mark.parametrize("as_found", [False, True])
@pytest.mark.parametrize("parameter", [pa.Float(0, 1), pa.Int(1, 30), pa.Categorical(list("abcd")), SWITCH])
def test_single_precision_is_the_formula_draw_by_draw(parameter: object, baseline: str, as_found: bool) -> None:
    coarse, widths = coarsen_for_kernel(contrast(parameter), "auto")
    rng = np.random.default_rng(1)
    targets, others = (rng.poisson(c, (20, len(c))) for c in (coarse.target, coarse.region - coarse.target))
    how = {"prior": coarse.prior_for(baseline), "as_found": as_found}
    singles = [np.asfortranarray(c, dtype=np.float32) for c in (targets, targets + others)]
    found = shares(*singles, coarse.blocks, widths, **how)
    each = [
        shares(target[None].astype(float), region[None].astype(float), coarse.blocks, widths, **how)
        for target, region in zip(targets, targets + others, strict=True)
    ]
    np.testing.assert_allclose(found.corrected, [one.corrected[0] for one in each], rtol=2e-4, atol=1e-6)
    np.testing.assert_allclose(found.raw, [one.raw[0] for one in each], rtol=2e-4, atol=1e-6)


@pytest.mark.parametrize("smoothing", ["auto", "none", 2.0])
@pytest.mark.parametrize("baseline", ["region", "uniform"])
@pytest.mark.parametrize("parameter", [pa.Float(0, 1), pa.Int(1, 30), pa.Categorical(list("abcd")), SWITCH])
def test_stacks_hold_the_share_of_the_measure(parameter: object, baseline: str, smoothing: object) -> None:
    """With no cells put together, nothing but the order of the sums differs."""
    one = contrast(parameter)
    coarse = CoarseContrast.of(one, [1] * len(blocks_of(one.grid)))
    widths = [float(bandwidth(smoothing, one.target[b.start : b.stop], b)) for b in blocks_of(one.grid)]
    found = shares(one.target[None].astype(float), one.region, coarse.blocks, widths, prior=coarse.prior_for(baseline))
    plain = measure(one, baseline=baseline, smoothing=smoothing)
    assert (found.raw[0], found.corrected[0]) == pytest.approx((plain.raw_share, plain.share), rel=1e-9)


@pytest.mark.parametrize("baseline", ["region", "uniform"])
@pytest.mark.parametrize("smoothing", ["auto", "none", 2.0])
@pytest.mark.parametrize("parameter", [pa.Float(0, 1), pa.Categorical(list("abcd")), SWITCH])
def test_so_are_the_scores_of_random_parts(parameter: object, smoothing: object, baseline: str) -> None:
    """Where kernels are found anew, single rows may move one to its neighbour: hardly any draw differs."""
    coarse = coarsen_for_draws(contrast(parameter), smoothing)
    rng = np.random.default_rng(2)
    drawn = rng.multivariate_hypergeometric(coarse.region, 600, size=60)
    found = coarse.scores(np.asfortranarray(drawn, dtype=np.float32), baseline, smoothing)
    plain = coarse.scores(drawn.astype(float), baseline, smoothing)
    assert np.mean(np.isclose(found, plain, rtol=1e-3, atol=2e-6)) > 0.9
    np.testing.assert_allclose(found, plain, atol=0.3 * plain.std())


def test_halves_share_nothing() -> None:
    rng = np.random.default_rng(0)
    one, two = SharedDraws.drawn(40, 101, rng).halves()
    assert (one.draws, two.draws) == (51, 50)
    assert not np.shares_memory(one.normals, two.normals)
    assert not np.shares_memory(one.some(160, rng), one.some(160, rng, last=True))
    assert not np.shares_memory(one.some(200, rng), one.some(200, rng, last=True))
    assert one.some(1000, rng).shape == (1000, 51)
