"""How a parameter is cut up to be drawn, and what chance alone would do in each bin."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import pedanova as pa
from helpers.kernels import smoothing_matrix
from pedanova.measures.bins import MOST_BARS, bins_of, gathered_kernel, likely, of_one_row
from pedanova.space.grid import grid_of

EVERY = [
    pa.Float(0, 1), pa.Float(1e-5, 1e-1, log=True), pa.Int(1, 16), pa.Int(4, 16, step=4), pa.Int(1, 30),
    pa.Int(1, 200), pa.Int(0, 145, step=5), pa.Int(1, 24, log=True), pa.Int(1, 1024, log=True),
    pa.Int(1, 10**7, log=True), pa.Int(0, 5000),
    pa.Ordinal([1, 4, 16]), pa.Ordinal(list(range(90))), pa.Categorical(["a", "b"]),
    pa.Categorical([f"c{i}" for i in range(70)]),
    pa.Switch("by", {"one": pa.Float(0, 1), "two": pa.Categorical(["a", "b"])}),
]  # fmt: skip
MAKERS = {
    "float": (pa.Float(0, 1), lambda random, rows: random.random(rows)),
    "skewed": (pa.Float(1e-4, 1, log=True), lambda random, rows: 10 ** (-4 * random.beta(2, 4, rows))),
    "whole": (pa.Int(1, 20), lambda random, rows: random.integers(1, 21, rows)),
    "steps": (pa.Int(1, 200), lambda random, rows: random.integers(1, 201, rows)),
    "lattice": (pa.Float(1e-6, 1, log=True), lambda random, rows: 10.0 ** random.integers(-6, 1, rows)),
    "names": (pa.Categorical(list("abc")), lambda random, rows: random.choice(list("abc"), rows, p=[0.6, 0.35, 0.05])),
}  # fmt: skip


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


@pytest.mark.parametrize("width", [0.4, 3.0, 40.0])
def test_the_gathered_kernel_is_that_of_the_cells(width: float) -> None:
    bounds = np.array([0, 1, 5, 20, 60])
    rows = np.add.reduceat(smoothing_matrix(60, width), bounds[:-1], axis=0)
    np.testing.assert_allclose(gathered_kernel(60, width, bounds, np.arange(60)), rows, atol=1e-12)


@pytest.mark.parametrize("width", [0.5, 3.0, 12.0, 60.0, 5000.0])
def test_the_variance_is_that_of_the_whole_kernel(width: float) -> None:
    """Though neighbouring cells are taken together."""
    parameter = pa.Float(0, 1)
    blocks, bins = grid_of(parameter).blocks, bins_of(parameter)
    parts = np.random.default_rng(0).dirichlet(np.ones(1001))
    kernel = np.add.reduceat(smoothing_matrix(1001, width), bins.bounds[:-1], axis=0)
    exact = kernel**2 @ parts - (kernel @ parts) ** 2
    np.testing.assert_allclose(of_one_row(bins, parts, blocks, (width,))[0], exact, rtol=0.03, atol=1e-9)


def test_the_band_holds_its_middle_and_nothing_below_zero() -> None:
    low, high = likely(np.array([0.0, 0.1, 0.1]), np.array([0.0, 0.0, 0.01]))
    assert np.all((low >= 0) & (low <= high))
    assert (low[1], high[1]) == (0.1, 0.1)


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize(("rows", "part"), [(100, 0.1), (1000, 0.1), (1000, 0.5)])
def test_noise_stays_inside(kind: str, rows: int, part: float) -> None:
    """About 95 % of all places; with few rows more, for a row is a row."""
    space, make = MAKERS[kind]
    baselines = ("region",) if kind in ("skewed", "names") else ("region", "uniform")  # those are no uniform draw
    inside: dict[str, list[float]] = {baseline: [] for baseline in baselines}
    for seed in range(40):
        random = np.random.default_rng(seed)
        a = pa.analyze({"x": make(random, rows)}, random.random(rows), space={"x": space})
        densities = a.densities("x", part, estimator="counts")
        for baseline in baselines:
            drawing = densities.drawn(baseline=baseline)
            seen = getattr(drawing, baseline) > 0
            inside[baseline].append(np.mean(~(drawing.more | drawing.less)[seen]))
    for parts in inside.values():
        assert 0.91 <= np.mean(parts) <= 0.999


@pytest.mark.parametrize("kind", MAKERS)
def test_a_real_effect_goes_beyond(kind: str) -> None:
    space, make = MAKERS[kind]
    random = np.random.default_rng(0)
    x = make(random, 1000)
    loss = np.unique(x, return_inverse=True)[1] + random.random(1000)
    drawing = pa.analyze({"x": x}, loss, space={"x": space}).densities("x", 0.1, estimator="counts").drawn()
    reached = np.cumsum(drawing.region)
    assert drawing.more[reached <= 0.1 + drawing.region].any()  # among the lowest tenth
    assert not drawing.more[reached > 0.5 + drawing.region].any()
    assert drawing.less[(reached > 0.5 + drawing.region) & (drawing.region > 0.06)].all()


def test_a_single_row_is_no_finding() -> None:
    random = np.random.default_rng(1)
    x = random.choice(["often", "rare"], 500, p=[0.99, 0.01])
    loss = np.where(np.arange(500) == np.flatnonzero(x == "rare")[0], -1.0, random.random(500) + (x == "rare"))
    drawing = pa.analyze({"x": x}, loss).densities("x", 0.02, estimator="counts").drawn()
    assert drawing.target[1] == pytest.approx(0.1)
    assert not drawing.more.any()


def test_all_rows_of_the_region_leave_nothing_to_chance() -> None:
    """n′ of n rows without putting back: the more are taken, the less they can stray."""
    random = np.random.default_rng(2)
    a = pa.analyze({"x": random.random(400)}, random.random(400), space={"x": pa.Float(0, 1)})
    narrow, wide = (a.densities("x", part, 0.95, estimator="counts", smoothing=20.0).drawn() for part in (0.9, 0.1))
    assert np.all(narrow.high - narrow.low < wide.high - wide.low)


def test_a_model_is_judged_by_the_rows_behind_it() -> None:
    random = np.random.default_rng(3)
    x, noise = random.random(60), random.random(60)
    a = pa.analyze({"x": x, "noise": noise}, x, space={"x": pa.Float(0, 1), "noise": pa.Float(0, 1)})
    told = a.densities(None, 0.1, estimator="surrogate")
    assert told["x"].basis.modelled
    assert told["x"].basis.rows == pytest.approx((6, 60))
    assert told["x"].drawn().more.any()
    assert not told["noise"].drawn().more.any()
