"""Stacks of tallies are measured as each of them alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import pedanova as pa
from pedanova.counting.contrasts import Contrast
from pedanova.measures.batched import measure_many
from pedanova.measures.importance import measure
from pedanova.measures.smoothing import bandwidth, bandwidths
from pedanova.space.grid import grid_of

PARAMETERS = {
    "float": pa.Float(0.0, 1.0),
    "log": pa.Float(1e-5, 1.0, log=True),
    "few": pa.Int(1, 9),
    "categories": pa.Categorical(["a", "b", "c"]),
    "sometimes": pa.Float(0.0, 1.0, when={"other": ["x"]}),
}


def stack_of(name: str, rows: int, seed: int) -> tuple[Contrast, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    grid = grid_of(PARAMETERS[name])
    peak = rng.uniform(0.0, 1.0, (24, 1))
    spread = rng.choice([0.002, 0.02, 0.2, 3.0], (24, 1))
    cells = np.arange(grid.cells) / max(1, grid.cells - 1)
    near = np.exp(-(((cells - peak) / spread) ** 2) / 2.0) + 1e-3
    targets, regions = np.zeros((2, 24, grid.width), dtype=np.int64)
    for draw in range(24):
        regions[draw, : grid.cells] = rng.multinomial(rows, np.full(grid.cells, 1.0 / grid.cells))
        chance = 0.5 * near[draw] / near[draw].max()
        targets[draw, : grid.cells] = rng.binomial(regions[draw, : grid.cells], chance)
        if name == "sometimes":
            regions[draw, grid.missing] = rows // 2
            targets[draw, grid.missing] = rng.integers(0, rows // 2)
    targets[0] = 0  # told by nobody: left out
    targets[1, : grid.cells] = 0
    targets[1, int(np.argmax(regions[1] > 0))] = 1  # one target row: a flat kernel
    return Contrast(name, grid, targets[2], regions[2]), targets, regions


@pytest.mark.parametrize("baseline", ["region", "uniform"])
@pytest.mark.parametrize("smoothing", ["auto", "none", 2.5, 40.0])
@pytest.mark.parametrize("name", PARAMETERS)
@pytest.mark.parametrize("rows", [30, 2000])
def test_as_each_alone(name: str, rows: int, smoothing: object, baseline: str) -> None:
    contrast, targets, regions = stack_of(name, rows, seed=rows)
    found = measure_many(contrast, targets, regions, baseline=baseline, smoothing=smoothing)
    told = [i for i in range(24) if 0 < targets[i].sum() < regions[i].sum()]
    assert len(found) == len(told) < 24
    for i, row in zip(told, found, strict=True):
        alone = measure(replace(contrast, target=targets[i], region=regions[i]), baseline=baseline, smoothing=smoothing)
        assert row.n_target == alone.n_target
        assert row.n_region == alone.n_region
        assert row.bandwidth == pytest.approx(alone.bandwidth, rel=1e-9)
        for field in ("raw_share", "divergence", "variance", "value", "activity"):
            assert getattr(row, field) == pytest.approx(getattr(alone, field), rel=1e-6, abs=1e-9), field
        assert row.share == pytest.approx(alone.share, rel=2e-3, abs=2e-4)


def test_bandwidths_as_each_alone() -> None:
    rng = np.random.default_rng(4)
    targets = rng.poisson(rng.uniform(0.0, 0.6, (200, 1)), (200, 301))
    assert bandwidths(targets) == pytest.approx([bandwidth(target) for target in targets], rel=1e-9)


def test_no_draw_tells_anything() -> None:
    contrast, targets, regions = stack_of("float", 30, seed=1)
    assert measure_many(contrast, targets * 0, regions, baseline="region", smoothing="auto") == []
