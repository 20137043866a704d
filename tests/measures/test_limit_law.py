"""The law of a share where rows are many, held to draws and to chance; and where it must not be used."""

from __future__ import annotations

import numpy as np
import pytest

import pedanova as pa
from helpers.common import contrast_of
from pedanova.counting.contrasts import Contrast
from pedanova.measures.inference import RandomSubsets, permutation
from pedanova.measures.limit_law import LimitLaw, upper_tail
from pedanova.measures.resampling import (
    CoarseContrast,
    SharedDraws,
    coarsen_for_draws,
    coarsen_for_kernel,
    resampled_shares,
    shrunk_chances,
)
from pedanova.space.grid import grid_of

NORMAL = 1.959964
DRAWS = 4000
SWITCH = pa.Switch("phase", {"a": pa.Float(0, 1), "b": pa.Categorical(["u", "v", "w"])})


def contrast(shape: str, slope: float, rows: int = 40_000, inside: int = 4000) -> Contrast:
    """A parameter whose low values are better by the slope; rows lie evenly, or thin out to both ends."""
    rng = np.random.default_rng(5)
    if shape == "conditional":
        grid = grid_of(SWITCH)
        letters, floats = rng.integers(1001, 1004, rows // 4), rng.integers(0, 1001, rows - rows // 4)
        cells = np.concatenate([floats, letters])
        values = cells / 1001
    else:
        grid = grid_of(pa.Float(0, 1))
        values = rng.random(rows) if shape == "even" else rng.beta(2, 3, rows)
        cells = np.minimum((values * grid.cells).astype(int), grid.cells - 1)
    best = np.argsort(slope * values + rng.random(rows))[:inside]
    target, region = (np.bincount(c, minlength=grid.width) for c in (cells[best], cells))
    return Contrast("x", grid, target, region)


def law_of(one: Contrast) -> tuple[LimitLaw, CoarseContrast, list[float]]:
    coarse, widths = coarsen_for_kernel(one, "auto")
    law = LimitLaw.of(coarse, widths)
    assert law is not None
    return law, coarse, widths


@pytest.mark.parametrize("shape", ["even", "thin", "conditional"])
@pytest.mark.parametrize("slope", [0.0, 0.1, 1.5])
def test_bounds_are_those_of_draws(shape: str, slope: float) -> None:
    """Ends of 500 draws, as many as are used, scatter by an eighth of a deviation: these are nearer."""
    law, coarse, widths = law_of(contrast(shape, slope))
    rng = np.random.default_rng(1)
    likely = shrunk_chances(coarse, 0.9, "region")
    known = law.resampled(likely)
    drawn = resampled_shares(coarse, widths, likely, SharedDraws.drawn(4000, DRAWS, rng), "region", rng)
    assert known is not None
    deviation = float(drawn.std())
    assert known.deviation == pytest.approx(deviation, rel=0.06)
    assert known.mean == pytest.approx(drawn.mean(), abs=0.08 * deviation)
    ends = known.quantile(-NORMAL), known.quantile(NORMAL)
    assert ends == pytest.approx(tuple(np.percentile(drawn, [2.5, 97.5])), abs=0.2 * deviation)


def test_where_single_rows_are_felt_draws_must_tell() -> None:
    one = contrast("even", 0.0, rows=8000, inside=800)
    lonely = np.arange(one.grid.width) == 700
    crowd = (np.arange(one.grid.width) < 300) | lonely
    alone = Contrast("x", one.grid, one.target * crowd * ~lonely + lonely, one.region * crowd * ~lonely + lonely)
    law, coarse, _ = law_of(alone)
    assert law.resampled(shrunk_chances(coarse, 0.9, "region")) is None
    letters = contrast_of(pa.Categorical(list("abc")), [3000, 500, 500], [20_000, 10_000, 10_000])
    law, coarse, _ = law_of(letters)
    assert law.resampled(shrunk_chances(coarse, 0.9, "region")) is None  # two squares: their law is far from normal
    many = contrast_of(pa.Categorical(list(range(500))), [2] * 500, [20] * 500)
    assert LimitLaw.of(*coarsen_for_kernel(many, "auto")) is None


def test_chance_is_as_likely_as_drawn() -> None:
    """Random parts of a region: the law and the draws tell the same p-value, to the noise of the draws."""
    rng = np.random.default_rng(2)
    one = contrast("thin", 0.0)
    subsets = RandomSubsets.drawn(40_000, 4000, DRAWS, rng)
    coarse = coarsen_for_draws(one, "auto")
    widths = coarse.widths(coarse.target[None, :].astype(float), "auto")
    law = LimitLaw.of(coarse, [float(width[0]) for width in widths])
    assert law is not None
    scores = subsets.scores(coarse, slice(0, DRAWS), "region", "auto", rng)
    for part in (0.02, 0.1, 0.5, 0.9):
        told = law.p_value(float(np.quantile(scores, 1 - part)))
        assert told is None or told == pytest.approx(part, abs=0.01 + 0.04 * part)
    assert law.p_value(float(np.quantile(scores, 0.5))) is not None


def test_p_values_of_noise_are_even() -> None:
    """Above where draws are asked, and below."""
    rng = np.random.default_rng(3)
    grid = grid_of(pa.Float(0, 1))
    subsets = RandomSubsets.drawn(20_000, 2000, 1000, rng)
    found = []
    for _ in range(300):
        cells = np.minimum((rng.beta(1, 2, 20_000) * grid.cells).astype(int), grid.cells - 1)
        target, region = (np.bincount(c, minlength=grid.width) for c in (cells[:2000], cells))
        found.append(permutation(Contrast("x", grid, target, region), subsets, "region", "auto", rng))
    for part in (0.02, 0.05, 0.15, 0.5, 0.8):
        assert np.mean(np.array(found) <= part) == pytest.approx(part, abs=3.5 * np.sqrt(part * (1 - part) / 300))


def test_a_sum_of_squares() -> None:
    """The upper half, tenth and hundredth of chi-square laws with ten and with a hundred degrees of freedom."""
    known = {10: (9.341818, 15.987179, 23.209251), 100: (99.334129, 118.498004, 135.806723)}
    for freedom, places in known.items():
        found = [upper_tail((place - freedom) / np.sqrt(2 * freedom), freedom) for place in places]
        assert found == pytest.approx([0.5, 0.1, 0.01], rel=0.02)
