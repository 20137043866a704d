"""Which rows fill a box: wherever its bounds run, and no others."""

from __future__ import annotations

import numpy as np
import pytest

import pedanova as pa
from pedanova.measures.surrogate.row_model import bounding_box


@pytest.fixture(scope="module")
def a() -> pa.Analysis:
    rng = np.random.default_rng(0)
    x, z = rng.random((2, 600))
    k = rng.integers(1, 5, 600)
    return pa.analyze({"x": x, "z": z, "k": k, "loss": (x - 0.3) ** 2 + 0.1 * z + 0.05 * k}, "loss")


@pytest.mark.parametrize("seed", range(40))
def test_a_box_is_known_wherever_its_bounds_run(a, seed) -> None:
    rng = np.random.default_rng(seed)
    few, table = a.data.row_model.few, a.data.observations.table
    low = rng.uniform(0, 0.6)
    inside = (table["x"].values >= low) & (table["x"].values <= low + 0.3) & (table["k"].values <= 3)
    kept = bounding_box(few, inside[few.rows], a.space)
    assert kept is not None
    assert not kept["k"][3]


def test_other_rows_in_the_midst_make_it_no_box(a) -> None:
    few, table = a.data.row_model.few, a.data.observations.table
    x = table["x"].values
    inside = ((x > 0.2) & (x < 0.4)) | ((x > 0.6) & (x < 0.8))
    assert bounding_box(few, inside[few.rows], a.space) is None
    single = (table["k"].values == 2) & (table["z"].values < 0.5) & (np.arange(600) % 2 == 0)
    assert bounding_box(few, single[few.rows], a.space) is None
