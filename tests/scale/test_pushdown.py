"""Exact order statistics by groupings of other engines."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pedanova.errors import DataError
from pedanova.scale import pushdown as ranks

ROWS = 4_000
RANDOM = np.random.default_rng(5)
NEIGHBOURS = 1.0 + np.arange(4) * 2.0**-52
VALUES = {
    "smooth": RANDOM.normal(size=ROWS),
    "ties": RANDOM.integers(0, 5, ROWS).astype(float),
    "one value and its neighbours": RANDOM.choice(NEIGHBOURS, ROWS),
    "all scales": np.exp(RANDOM.uniform(-600, 600, ROWS)) * RANDOM.choice([-1, 1], ROWS),
    "the whole range": np.append(RANDOM.normal(size=ROWS - 2), [1.7e308, -1.7e308]),
    "subnormal": RANDOM.integers(-20, 20, ROWS) * 5e-324,
    "zeros": RANDOM.choice([-0.0, 0.0], ROWS),
    "infinite": np.where(RANDOM.random(ROWS) < 0.3, RANDOM.choice([-np.inf, np.inf], ROWS), RANDOM.random(ROWS)),
    "only infinite": RANDOM.choice([-np.inf, np.inf], ROWS),
}


def frame_of(engine: str, values: np.ndarray) -> Any:
    import pyarrow as pa

    table = pa.table({"loss": pa.array(values, mask=np.isnan(values))})
    if engine == "duckdb":
        import duckdb

        return duckdb.from_arrow(table)
    import polars as pl

    return pl.from_arrow(table).lazy()


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
@pytest.mark.parametrize("few", [10, 1_000_000])
@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("kind", VALUES)
def test_as_sorted(kind: str, sign: float, few: int, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.append(VALUES[kind], [np.nan] * 7)
    frame = frame_of(engine, values)
    monkeypatch.setattr(ranks, "FEW", few)
    monkeypatch.setattr(ranks, "SLOTS", 64)
    extent = ranks.extent_of(frame, "loss", sign)
    assert (extent.rows, extent.numbers) == (ROWS + 7, ROWS)
    wanted = np.unique([1, 2, 3, 40, 400, ROWS // 2, ROWS - 5, ROWS - 1, ROWS])
    found = ranks.ranks_in_engine(frame, "loss", sign, wanted, extent)
    np.testing.assert_array_equal(found, np.sort(sign * VALUES[kind])[wanted - 1])


def test_a_table_that_changes_is_told() -> None:
    extent = ranks.extent_of(frame_of("polars", VALUES["smooth"]), "loss", 1.0)
    other = frame_of("polars", VALUES["smooth"][1:])
    with pytest.raises(DataError, match="changed while it was read"):
        ranks.ranks_in_engine(other, "loss", 1.0, np.array([17]), extent)
