"""Waves are orthonormal under any margin, and octaves tell how fine a difference is."""

from __future__ import annotations

import numpy as np
import pytest

import pedanova as pa
from pedanova.measures.smoothing import bandwidth, fastest_wave, octaves, scott_bandwidth, waves_of
from pedanova.space.grid import Block

BLOCK = Block(0, 1001, ordered=True)


@pytest.mark.parametrize("child", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_waves_are_orthonormal_and_have_no_mean(seed: int, child: bool) -> None:
    rng = np.random.default_rng(seed)
    mass = rng.random(40) * (rng.random(40) < 0.8)
    mass /= mass.sum()
    blocks = [Block(0, 25, ordered=True), Block(25, 30, ordered=False), Block(30, 40, ordered=True)]
    functions = np.concatenate([values for values, _ in waves_of(mass, blocks, child=child)], axis=1)
    np.testing.assert_allclose(functions.T @ (mass[:, None] * functions), np.eye(functions.shape[1]), atol=1e-9)
    np.testing.assert_allclose(mass @ functions, 0.0, atol=1e-9)
    regimes = 0 if child else 2
    assert functions.shape[1] == np.count_nonzero(mass) - 3 + regimes


def test_every_wave_is_in_one_octave() -> None:
    for count in range(1, 70):
        numbers = [number for octave in octaves(count) for number in range(octave.start, octave.stop)]
        assert numbers == list(range(count))
    assert [octave.stop for octave in octaves(40)] == [2, 4, 8, 16, 32, 40]


@pytest.mark.parametrize(("waves", "last"), [(2, 2), (4, 4), (6, 8), (14, 16), (30, 32)])
def test_the_fastest_wave_is_seen(waves: int, last: int) -> None:
    rng = np.random.default_rng(waves)
    x = rng.random(20_000)
    inside = rng.random(20_000) < 0.1 * (1 + np.cos(np.pi * waves * x))
    region, target = (np.bincount((some * 1001).astype(int), minlength=1001) for some in (x, x[inside]))
    assert fastest_wave(target, region) == last


def test_chance_shows_no_wave() -> None:
    rng = np.random.default_rng(0)
    x = (rng.random(2000) * 1001).astype(int)
    region = np.bincount(x, minlength=1001)
    targets = np.stack([np.bincount(rng.choice(x, 200, replace=False), minlength=1001) for _ in range(400)])
    assert np.mean(fastest_wave(targets, region) > 0) < 0.03


def test_the_kernel_narrows_for_two_hills_and_not_for_one() -> None:
    rng = np.random.default_rng(1)
    region = np.bincount((rng.random(10_000) * 1001).astype(int), minlength=1001)
    one = np.bincount((rng.normal(0.5, 0.1, 300).clip(0, 0.999) * 1001).astype(int), minlength=1001)
    two = np.bincount((rng.normal(rng.choice([0.1, 0.9], 300), 0.03).clip(0, 0.999) * 1001).astype(int), minlength=1001)
    assert bandwidth("auto", one, BLOCK, region=region) > 0.4 * scott_bandwidth(one)
    assert bandwidth("auto", two, BLOCK, region=region) < 0.25 * scott_bandwidth(two)


def test_an_interval_of_few_rows_holds_what_the_kernel_smooths_away() -> None:
    """Three good places, 60 rows: too few for the kernel to narrow; the share is 0.289."""
    held = 0
    for seed in range(20):
        random = np.random.default_rng(seed)
        x, z = random.random((2, 60))
        loss = np.sin(6 * np.pi * x) + 0.3 * random.normal(size=60)
        a = pa.analyze({"x": x, "z": z}, loss, direction="min", space={"x": pa.Float(0, 1), "z": pa.Float(0, 1)})
        held += a.importance(estimator="counts")["x"].high >= 0.289
    assert held >= 15  # without it: 6
