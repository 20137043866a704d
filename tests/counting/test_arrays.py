"""Rows that do not count, wherever they lie, leave the counts of the others as plain NumPy has them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import pedanova as pa
from pedanova.base.kernel.selection import survey_rows
from pedanova.counting.arrays import count_codes, kept_codes, kept_values
from pedanova.counting.levels import as_ladder, cut_levels
from pedanova.data.column import cells_of
from pedanova.data.observations import Observations
from pedanova.space.grid import grid_of

ROWS = 150_000  # enough that rows wait in buckets
RANDOM = np.random.default_rng(0)
KEPT = {
    "a stretch": (np.arange(ROWS) > 40_000) & (np.arange(ROWS) < 90_000),
    "every third": np.arange(ROWS) % 3 == 0,
    "hardly any": RANDOM.random(ROWS) < 0.01,
    "nearly all": RANDOM.random(ROWS) < 0.97,
    "none at the ends": (np.arange(ROWS) > 3) & (np.arange(ROWS) < ROWS - 3),
}


@pytest.fixture(scope="module")
def observed() -> Observations:
    table: dict[str, Any] = {"x": RANDOM.random(ROWS), "n": RANDOM.integers(0, 9, ROWS).astype(np.uint8)}
    loss = np.round(table["x"] + RANDOM.normal(0, 0.3, ROWS), 2)  # with ties, so that sums are of few values
    loss[::1_000] = np.nan
    found = pa.analyze(table, loss, direction="minimize").observations
    assert found is not None
    return found


@pytest.mark.parametrize("many", [4, 300], ids=["bytes", "two bytes"])
@pytest.mark.parametrize("name", KEPT)
def test_rows_that_do_not_count_are_in_no_cell(observed: Observations, name: str, many: int) -> None:
    some = replace(observed, keep=KEPT[name])
    levels = cut_levels(kept_values(some), direction="minimize", quantiles=as_ladder(np.linspace(1 / many, 1, many)))
    levels = levels.with_values(np.linspace(-1, 2, many))
    codes = kept_codes(some, levels, threads=2)
    assert np.all(codes[~KEPT[name]] == levels.count)
    counted = count_codes(some, codes, levels.count, threads=1)  # all rows in one call
    for parameter in observed.space:
        grid = grid_of(observed.space[parameter])
        places = codes.astype(np.int64) * grid.width + cells_of(observed.columns[parameter], grid)
        for found, weights in zip(counted[parameter], (None, np.nan_to_num(observed.objective)), strict=True):
            plain = np.bincount(places, weights, minlength=(levels.count + 1) * grid.width)
            assert np.allclose(found.ravel(), plain[: found.size], rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", KEPT)
def test_one_look_at_the_kept_rows_tells_their_levels(observed: Observations, name: str) -> None:
    some = replace(observed, keep=KEPT[name])
    values = kept_values(some, threads=2)
    assert np.array_equal(values, observed.ranked[KEPT[name]], equal_nan=True)
    levels = cut_levels(values, direction="minimize")
    plain, looked = kept_codes(some, levels, threads=2), kept_codes(some, levels, survey=survey_rows(values, 1.0))
    assert np.array_equal(plain, looked)
