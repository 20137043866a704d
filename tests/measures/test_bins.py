"""How parameters are cut up to be drawn: every cell once, numbers in units of the parameter."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import pedanova as pa
from pedanova.measures.bins import MOST_BARS, bins_of
from pedanova.space.grid import grid_of

EVERY = [
    pa.Float(0, 1), pa.Float(1e-5, 1e-1, log=True), pa.Int(1, 16), pa.Int(4, 16, step=4), pa.Int(1, 30),
    pa.Int(1, 200), pa.Int(0, 145, step=5), pa.Int(1, 24, log=True), pa.Int(1, 1024, log=True),
    pa.Int(1, 10**7, log=True), pa.Int(0, 5000),
    pa.Ordinal([1, 4, 16]), pa.Ordinal(list(range(90))), pa.Categorical(["a", "b"]),
    pa.Categorical([f"c{i}" for i in range(70)]),
    pa.Switch("by", {"one": pa.Float(0, 1), "two": pa.Categorical(["a", "b"])}),
]  # fmt: skip


@pytest.mark.parametrize("parameter", EVERY, ids=repr)
@pytest.mark.parametrize("points", [12, 60])
def test_every_cell_lies_in_one_bin_and_no_bin_is_empty(parameter: pa.space.Parameter, points: int) -> None:
    bins, grid = bins_of(parameter, None, points), grid_of(parameter)
    assert len(bins.groups) == grid.cells
    assert set(bins.groups.tolist()) == set(range(len(bins)))
    assert len(bins) <= (max(MOST_BARS, points) if bins.kind == "bars" else points)
    assert bins.gather(grid.prior).sum() == pytest.approx(grid.prior.sum())
    assert len(set(bins.labels)) == len(bins)


@pytest.mark.parametrize("parameter", [p for p in EVERY if bins_of(p).edges is not None], ids=repr)
def test_steps_end_at_the_bounds_and_an_even_spread_is_a_flat_line(parameter: pa.Float | pa.Int) -> None:
    bins = bins_of(parameter)
    assert bins.edges is not None
    assert bins.widths is not None
    assert (bins.edges[0], bins.edges[-1]) == (parameter.low, parameter.high)
    assert np.all(np.diff(bins.edges) > 0)
    assert bins.widths.sum() == pytest.approx(1)
    heights = bins.gather(grid_of(parameter).prior) / bins.widths
    np.testing.assert_allclose(heights, 1.0, rtol=0.06)


@pytest.mark.parametrize("parameter", [p for p in EVERY if isinstance(p, pa.Int)], ids=repr)
def test_whole_numbers_are_told_as_such(parameter: pa.Int) -> None:
    """Bars at the numbers, or steps from one number to another, one after the other."""
    bins = bins_of(parameter)
    spans = [[int(end.replace(",", "")) for end in label.split(" to ")] for label in bins.labels]
    assert spans[0][0] == parameter.low
    assert spans[-1][-1] == parameter.high
    assert all(after[0] == before[-1] + parameter.step for before, after in pairwise(spans))
    if (parameter.high - parameter.low) // parameter.step < MOST_BARS:
        assert bins.kind == "bars"
        assert bins.values == tuple(range(parameter.low, parameter.high + 1, parameter.step))


def test_few_values_of_a_range_are_a_lattice() -> None:
    parameter, random = pa.Float(1e-6, 1, log=True), np.random.default_rng(0)
    values = 10.0 ** random.integers(-6, 1, 500)
    seen = np.bincount(grid_of(parameter).locate(values), minlength=1001)[:1001]
    bins = bins_of(parameter, seen)
    assert (bins.kind, bins.apart) == ("bars", True)
    assert bins.values == pytest.approx(tuple(10.0**power for power in range(-6, 1)))
    assert bins.labels == ("1e-6", "1e-5", "1e-4", "0.001", "0.01", "0.1", "1")
    assert bins_of(parameter, seen // 100).kind == "curve"  # so few rows may stand anywhere


def test_whole_numbers_that_never_occur_get_no_bar() -> None:
    seen = np.zeros(13, dtype=np.int64)
    seen[[0, 4, 12]] = 50
    assert bins_of(pa.Int(4, 16), seen).labels == ("4", "8", "16")
    seen = np.bincount(grid_of(pa.Int(1, 64, log=True)).locate(np.repeat([4.0, 16.0, 64.0], 20)), minlength=1001)
    assert bins_of(pa.Int(1, 64, log=True), seen[:1001]).labels == ("4", "16", "64")


def test_a_crowd_is_no_lattice() -> None:
    """A sampler that came to rest in a few neighbouring cells."""
    seen = np.zeros(1001, dtype=np.int64)
    seen[500:520] = 100
    assert bins_of(pa.Float(0, 1), seen).kind == "curve"


def test_rare_names_share_a_bar() -> None:
    seen = np.arange(70)
    bins = bins_of(pa.Categorical([f"c{i}" for i in range(70)]), seen)
    assert bins.labels[-1] == "31 others"
    assert bins.gather(seen)[-1] == seen[:31].sum()
