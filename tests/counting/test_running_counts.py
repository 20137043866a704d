"""Counts that run on from batch to batch are those of all rows at once."""

from __future__ import annotations

import numpy as np

import pedanova as pa
from pedanova.counting import arrays
from pedanova.counting.arrays import MANY_COLUMNS, RunningCounts
from pedanova.data.column import Column, as_column
from pedanova.data.objectives import Goal
from pedanova.data.observations import Observations


def test_batches_of_any_form_add_up() -> None:
    """Numbers, codes and a column that comes as bytes first and as doubles later, the cells of which lie otherwise."""
    random, rows = np.random.default_rng(5), 3_000
    space = {f"x{i}": pa.Float(0, 1) for i in range(MANY_COLUMNS)}
    space |= {"n": pa.Ordinal([99, 3, 50]), "kind": pa.Categorical(("a", "b"))}
    table: dict[str, Column] = {name: as_column(name, random.random(rows)) for name in space if name.startswith("x")}
    table["n"] = as_column("n", random.choice([3, 50, 99, 7], rows).astype(np.uint8))
    table["kind"] = Column("kind", random.integers(-1, 2, rows, dtype=np.int32), ("a", "b"))
    codes, objective = random.integers(0, 6, rows, dtype=np.uint8), random.normal(size=rows)

    def observed(part: slice, *, as_doubles: bool = False) -> Observations:
        columns = {name: Column(name, own.values[part], own.labels) for name, own in table.items()}
        if as_doubles:
            columns["n"] = as_column("n", columns["n"].values.astype(float))
        return Observations(columns, (Goal("y", objective[part], "minimize", None),), pa.Space(space), {})

    running = RunningCounts(5, threads=2)
    assert running.is_for(observed(slice(None)))
    for number, part in enumerate((slice(0, 1_000), slice(1_000, 1_000), slice(1_000, 3_000))):
        running.add(observed(part, as_doubles=number == 2), codes[part])
    found, whole = running.take(), arrays.count_by_judge(observed(slice(None)), codes, 5)
    assert set(found) == set(whole)
    for name, (counts, sums) in whole.items():
        np.testing.assert_array_equal(found[name][0], counts)
        np.testing.assert_allclose(found[name][1], sums, rtol=1e-12, atol=1e-12)
    assert running.take() == {}
