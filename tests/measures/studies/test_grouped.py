"""One table of many studies: each group is counted as if it were a table of its own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pedanova as pa
from pedanova.analysis.studies import grouped_analyses
from pedanova.data.column import as_column
from pedanova.measures.studies.across import group_codes, grouped

SPACE = {"lr": pa.Float(0, 1), "opt": pa.Categorical(["a", "b"])}


def table(rows: int, seed: int, *, nan: bool = False) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    lr = rng.random(rows)
    loss = np.abs(lr - 0.3) + 0.1 * rng.random(rows)
    if nan:
        loss[rng.random(rows) < 0.1] = np.nan
    opt, dataset = rng.choice(["a", "b"], rows), rng.choice(["iris", "car", "adult"], rows)
    return {"lr": lr, "opt": opt, "dataset": dataset, "loss": loss}


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1000), st.booleans(), st.booleans())
def test_a_group_is_its_own_table(seed: int, nan: bool, sort: bool) -> None:
    data = table(400, seed, nan=nan)
    if sort:
        order = np.argsort(data["dataset"], kind="stable")
        data = {name: values[order] for name, values in data.items()}
    analyses, _ = grouped_analyses(data, "loss", "dataset", space=SPACE)
    assert list(analyses) == ["adult", "car", "iris"]
    for name, a in analyses.items():
        mine = data["dataset"] == name
        alone = pa.analyze({key: values[mine] for key, values in data.items()}, "loss", space=SPACE)
        assert a.data.levels == alone.data.levels
        assert dict(a.data.tallies) == dict(alone.data.tallies)
        assert a.data.dropped == alone.data.dropped


def test_several_objectives_are_ordered_within_each_group() -> None:
    data = table(300, 0)
    data["cost"] = data["lr"] + np.where(data["dataset"] == "car", 5.0, 0.0)  # dominated by others, but not at home
    objectives = ["loss", "cost"]
    analyses, _ = grouped_analyses(data, objectives, "dataset", space=SPACE, direction="minimize")
    mine = data["dataset"] == "car"
    own = {key: values[mine] for key, values in data.items()}
    alone = pa.analyze(own, objectives, direction="minimize", space=SPACE)
    assert dict(analyses["car"].data.tallies) == dict(alone.data.tallies)


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ([3, 1, 3, 1], ["1", "3"]),
        ([10**9, 5, 5, 10**9], ["5", "1000000000"]),
        ([0.5, 0.25, 0.5, 0.5], ["0.25", "0.5"]),
        (["b", "a", "b", "a"], ["a", "b"]),
        ([True, False, True, True], ["False", "True"]),
    ],
)
def test_names_of_groups(values: list[object], names: list[str]) -> None:
    codes, labels = group_codes(as_column("group", np.array(values)))
    assert [label for i, label in enumerate(labels) if (codes == i).any()] == names
    assert next(labels[code] for code in codes) == str(values[0])


def test_rows_without_a_group_are_counted_apart() -> None:
    data = table(100, 0)
    names = np.array([*["x"] * 50, *["y"] * 40, *[None] * 10], dtype=object)
    observed = pa.analyze(data, "loss", space=SPACE).data.observations
    assert observed is not None
    groups, notes = grouped(observed, as_column("dataset", names), levels=None, nan="drop", inside=False)
    assert {name: len(groups.rows_of(name)) for name in groups} == {"x": 50, "y": 40}
    assert [str(note) for note in notes] == ["10 of 100 rows have no value of dataset; they belong to no study"]


def test_rows_that_lie_together_are_not_copied() -> None:
    data = table(100, 0)
    observed = pa.analyze(data, "loss", space=SPACE).data.observations
    assert observed is not None
    column = as_column("dataset", np.repeat(["x", "y"], 50))
    groups = grouped(observed, column, levels=None, nan="drop", inside=False)[0]
    assert np.shares_memory(groups.rows_of("y").columns["lr"].values, data["lr"])
