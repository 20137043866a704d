"""What is decided before a GPU is asked: guesses, boundaries for singles, units of sums, slots. No GPU is needed."""

from __future__ import annotations

import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

import pedanova as pa
from helpers.levels import cut_levels
from pedanova.base.kernel.selection import keys_of, values_of
from pedanova.counting import reference as judge
from pedanova.errors import DataError, MissingLibraryError
from pedanova.scale.cuda.device import is_on_device
from pedanova.scale.cuda.order import MIXED, SLOTS, ColumnExtent, Ranking, window_of
from pedanova.scale.cuda.tables import (
    EVEN,
    HALVING,
    LOG,
    MAGIC,
    NARROW,
    SUM_BITS,
    WIDE,
    WORD,
    Units,
    bands_of,
    first_guess,
    rounded,
    units_for,
)
from pedanova.space.grid import grid_of

PARAMETERS = [
    pa.Float(0.0, 1.0),
    pa.Float(-3.0, 7.5),
    pa.Float(1e-5, 10.0, log=True),
    pa.Float(1e-300, 1e-290, log=True),
    pa.Float(1e6, 1e6 + 1),
    pa.Int(1, 100),
    pa.Int(1, 100_000, log=True),
    pa.Int(0, 6000, step=3),
    pa.Ordinal((4, 8, 16, 32)),
    pa.Categorical((3.5, -1.0, 2.0)),
]


def numbers_around(values: np.ndarray) -> np.ndarray:
    return np.concatenate([values, np.nextafter(values, -np.inf), np.nextafter(values, np.inf)])


@pytest.mark.parametrize("real", [np.float32, np.float64])
@pytest.mark.parametrize("parameter", PARAMETERS, ids=str)
def test_a_guess_errs_by_one_cell_and_beside_a_boundary_alone(parameter, real) -> None:
    grid = grid_of(parameter)
    guess, origin, scale, doubt = first_guess(grid.inner, real)
    if guess == HALVING:
        return
    draws = np.random.default_rng(0).uniform(grid.edges[0], grid.edges[-1], 20_000)
    values = numbers_around(np.concatenate([grid.inner, draws])).astype(real)
    values = values[(values > 0) | (guess == EVEN)]
    line = values if guess == EVEN else np.log2(values)
    place = np.clip(line * real(scale) + real(-origin * scale), 0, real(grid.cells) - real(doubt))
    cell = place.astype(int)
    true = np.searchsorted(grid.inner, values.astype(np.float64), side="right")
    assert np.abs(cell - true).max() <= 1
    sure = (place - cell > doubt) & (place - cell < 1 - doubt)
    assert np.array_equal(cell[sure], true[sure])
    assert sure.mean() > 0.3


def test_usual_grids_are_guessed() -> None:
    assert first_guess(grid_of(pa.Float(0.0, 1.0)).inner, np.float32)[0] == EVEN
    assert first_guess(grid_of(pa.Float(1e-5, 1.0, log=True)).inner, np.float32)[0] == LOG
    assert (
        first_guess(grid_of(pa.Float(1e-300, 1e-290, log=True)).inner, np.float32)[0] == HALVING
    )  # no single is that small


@pytest.mark.parametrize("up", [True, False])
def test_rounded_boundaries_ask_the_same_of_every_single(up) -> None:
    rng = np.random.default_rng(1)
    bounds = np.concatenate([rng.standard_normal(500), rng.standard_normal(500) * 1e-40, [5e-324, 1e300, -1e300, 0.0]])
    with np.errstate(over="ignore"):
        singles = numbers_around(bounds.astype(np.float32))
    for bound, short in zip(bounds, rounded(bounds, np.float32, up=up), strict=True):
        exact = singles.astype(np.float64) >= bound if up else singles.astype(np.float64) <= bound
        assert np.array_equal(singles >= short if up else singles <= short, exact)


def test_keys_rise_with_numbers_and_come_back() -> None:
    rng = np.random.default_rng(2)
    doubles = np.sort(np.concatenate([rng.standard_cauchy(1000), [np.inf, -np.inf, 0.0, -0.0, 5e-324, -5e-324]]))
    assert np.all(np.diff(keys_of(doubles).astype(object)) >= 0)
    assert np.array_equal(values_of(keys_of(doubles)), doubles)
    singles = np.sort(doubles.astype(np.float32))
    assert np.all(np.diff(keys_of(singles).astype(np.int64)) >= 0)
    assert np.array_equal(values_of(keys_of(singles)), singles.astype(np.float64))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_slots_without_a_boundary_have_one_level(dtype, direction) -> None:
    rng = np.random.default_rng(3)
    y = np.concatenate([rng.standard_normal(5000), rng.integers(0, 5, 2000), [np.inf, -np.inf]]).astype(dtype)
    levels = cut_levels(y, direction=direction)
    signed = (dtype(levels.sign) * y).astype(dtype)
    first, shift = window_of(signed)
    ends = rounded(levels.boundaries, dtype, up=True)
    slots = np.minimum((np.maximum(keys_of(signed).astype(object), first) - first) // 2**shift, SLOTS - 1).astype(int)
    counts = np.append(np.bincount(slots, minlength=SLOTS), 0)
    extent = ColumnExtent(-1.0, 1.0, 0.1, whole=False, absent=0)
    ranking = Ranking(SimpleNamespace(), levels.sign, first, shift, counts, extent, np.cumsum(counts[:-1]))
    table = ranking.levels_of_slots(keys_of(ends))
    levels_told, exact = table[slots], judge.assign_levels(y, levels)
    mixed = (levels_told & MIXED) > 0
    assert np.array_equal(levels_told[~mixed], exact[~mixed])
    assert mixed.mean() < 0.8
    assert np.all((levels_told ^ MIXED)[mixed] <= exact[mixed])  # where the search for the level begins
    rows = ranking.rows_of_levels(keys_of(ends))
    assert rows.sum() == len(y)
    assert np.abs(np.cumsum(rows) - np.cumsum(np.bincount(exact, minlength=levels.count))).max() <= mixed.sum()


def extent_of(y: np.ndarray) -> ColumnExtent:
    known = y[np.isfinite(y)].astype(np.float64)
    least = np.abs(known[known != 0]).min(initial=np.inf)
    whole = bool(np.all(known == np.floor(known)))
    return ColumnExtent(known.min(), known.max(), least if least < np.inf else 0.0, whole, int(np.isnan(y).sum()))


def multiples(units: Units, y: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """What a kernel adds up in a narrow level, as doubles."""
    first, second = units.pairs()[codes].T
    return y.astype(np.float64) * first + second - MAGIC  # exact, as the assertions below show


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
@pytest.mark.parametrize("kind", ["uniform", "normal", "near zero", "whole", "a constant and others", "far from zero"])
def test_narrow_multiples_lose_no_digit_of_the_objective(kind, direction) -> None:
    rng = np.random.default_rng(4)
    y = {
        "uniform": rng.uniform(0.5, 1.0, 5000),
        "normal": rng.standard_normal(5000),
        "near zero": np.append(rng.uniform(-1e-3, 1.0, 5000), [0.0, 1e-9]),
        "whole": rng.integers(-50, 1000, 5000).astype(float),
        "a constant and others": np.where(rng.random(5000) < 0.9, 1.0, rng.random(5000)),
        "far from zero": 1e6 + rng.standard_normal(5000),
    }[kind]
    y = y if kind == "whole" else y.astype(np.float32)
    levels = cut_levels(y, direction=direction)
    codes = judge.assign_levels(y, levels)
    units = units_for(levels, extent_of(y), np.bincount(codes, minlength=levels.count), single=kind != "whole")
    assert units is not None
    assert units.way == NARROW
    steps = multiples(units, y, codes)
    assert np.array_equal(steps, np.floor(steps))
    assert steps.min() >= 0
    assert np.mean(steps >= 2.0**WORD) <= 1 / 8
    back = [
        math.ldexp(Fraction(s) + Fraction(f), -int(p))
        for s, f, p in zip(steps, units.firsts[codes], units.powers[codes], strict=True)
    ]
    assert np.array_equal(back, y.astype(np.float64))


def test_a_wide_objective_gets_a_second_unit_and_a_wider_one_bands() -> None:
    y = np.array([1e-6, 1.0, 3.0, 5.0])
    levels = cut_levels(y, direction="minimize", quantiles=(Fraction(1),))
    rows = np.array([4])
    wide = units_for(levels, ColumnExtent(1e-6, 5.0, 1e-6, whole=False, absent=0), rows, single=False)
    assert wide is not None
    assert wide.way == WIDE
    assert units_for(levels, ColumnExtent(1e-300, 1e300, 1e-300, whole=False, absent=0), rows, single=False) is None
    # Singles whose multiples are mostly beyond a word.
    spread = units_for(levels, ColumnExtent(1e-9, 5.0, 1e-9, whole=False, absent=0), rows, single=True)
    assert spread is not None
    assert spread.way == WIDE
    sizes = np.array([5e-324, 1e-300, 2e-300, 1.0, 1e300, 1.7e308])
    bands = bands_of(np.bincount(sizes.view(np.int64) >> 52 & 2047, minlength=2048), 1)
    for value in sizes:  # in one band, where no digit of it is lost
        (own,) = [band for band in bands if band.sizes[0] <= value < band.sizes[1]]
        whole = math.ldexp(value, int(own.powers[0]))
        assert whole < 2.0**SUM_BITS
        assert math.ldexp(whole, SUM_BITS) == math.floor(math.ldexp(whole, SUM_BITS))


def test_arrays_in_memory_are_not_on_a_card() -> None:
    for values in (np.arange(3), [1, 2], "lr", range(4), None):
        assert not is_on_device(values)


def test_without_a_card_one_line_says_so() -> None:
    try:
        import cupy

        if cupy.cuda.runtime.getDeviceCount():
            pytest.skip("there is a GPU")
    except Exception:  # no library, or no driver
        pass
    x = np.linspace(0, 1, 200)
    with pytest.raises((MissingLibraryError, DataError), match="GPU"):
        pa.analyze({"x": x, "y": x**2}, "y", scan=pa.Scan(engine="cuda"))
    assert len(pa.analyze({"x": x, "y": x**2}, "y", scan=pa.Scan(engine="cpu"))) == 200
