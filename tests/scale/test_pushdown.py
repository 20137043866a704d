"""Counts by groupings of other engines, at thresholds that are exact."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pedanova as pa
from helpers import answers

ROWS = 4_000
PUSHED = pa.Scan(pushdown=True)
NUMBERS: dict[str, Any] = {"space": {name: answers.SPACE[name] for name in ("lr", "drop", "layers")}}
RANDOM = np.random.default_rng(5)
NEIGHBOURS = 1.0 + np.arange(4) * 2.0**-52
VALUES = {
    "smooth": RANDOM.normal(size=ROWS),
    "ties": RANDOM.integers(0, 5, ROWS).astype(float),
    "one value and its neighbours": RANDOM.choice(NEIGHBOURS, ROWS),
    "all scales": np.exp(RANDOM.uniform(-600, 600, ROWS)) * RANDOM.choice([-1, 1], ROWS),
    "the whole range": np.append(RANDOM.normal(size=ROWS - 2), [1.7e308, -1.7e308]),
    "subnormal": RANDOM.integers(-20, 20, ROWS) * 5e-324,
    "zeros": RANDOM.choice([-0.0, 0.0, 1.0], ROWS),
    "infinite": np.where(RANDOM.random(ROWS) < 0.3, RANDOM.choice([-np.inf, np.inf], ROWS), RANDOM.random(ROWS)),
    "only infinite": RANDOM.choice([-np.inf, np.inf], ROWS),
}


def frame_of(engine: str, table: dict[str, np.ndarray]) -> Any:
    import pyarrow  # noqa: ICN001  (pa is pedanova here)

    arrow = pyarrow.table({name: pyarrow.array(values, mask=np.isnan(values)) for name, values in table.items()})
    if engine == "duckdb":
        import duckdb

        return duckdb.from_arrow(arrow)
    import polars as pl

    return pl.from_arrow(arrow).lazy()


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
@pytest.mark.parametrize("direction", ["minimize", "maximize"])
@pytest.mark.parametrize("kind", VALUES)
def test_as_in_memory(kind: str, direction: str, engine: str) -> None:
    loss = np.append(VALUES[kind], [np.nan] * 7)
    table = {"x": np.arange(ROWS + 7.0) % 7, "loss": loss}
    how: dict[str, Any] = {"direction": direction, "space": {"x": pa.Int(0, 6)}}
    pushed = pa.analyze(frame_of(engine, table), "loss", scan=pa.Scan(pushdown=True), **how)
    here = pa.analyze(table, "loss", **how)
    assert pushed.data.levels == here.data.levels
    np.testing.assert_array_equal(pushed.data.tallies["x"].counts, here.data.tallies["x"].counts)


def test_the_first_look_may_find_none_of_a_few_configurations() -> None:
    """The numbers of these five configurations, which have many runs each, all lie above the first limit."""
    table = answers.Given(answers.made(5, 5, 5_000), answers.SPACE)
    columns = {name: column for name, column in table.columns.items() if column.dtype.kind != "U"}
    pushed = answers.analyzed(table, frame_of("polars", columns), PUSHED, **NUMBERS)
    answers.agree(pushed, answers.analyzed(table, columns, **NUMBERS))
