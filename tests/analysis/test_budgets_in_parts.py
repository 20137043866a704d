"""Budgets of a table that is read in parts tell what they tell in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import pedanova as pa
from pedanova.errors import PedanovaError
from pedanova.scale.narrowed import only, values_in
from pedanova.scale.rescan import Rescan

FAST: dict[str, Any] = {"estimator": "counts", "draws": 50}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two files; the first parameter decides early, the second late, and some rows have no budget."""
    folder = tmp_path_factory.mktemp("parts")
    rng = np.random.default_rng(0)
    x, z, dull = rng.random((3, 600))
    epochs = np.tile([1.0, 5.0, 20.0], 200)
    loss = np.where(epochs >= 5, z, x) ** 2 + 0.05 * rng.standard_normal(600)
    table = pd.DataFrame({"x": x, "z": z, "dull": dull, "epochs": epochs, "loss": loss})
    table.loc[:8, "epochs"] = np.nan
    for i in range(2):
        table[300 * i : 300 * (i + 1)].to_parquet(folder / f"{i}.parquet")
    return folder


def opened(place: Path, *, stream: bool, **options: Any) -> pa.Analysis:
    return pa.analyze(str(place / "*.parquet"), "loss", stream=stream, **options)


@pytest.mark.parametrize("options", [{}, {"where": "dull < 0.9"}, {"where": {"dull": (0, 0.9)}}])
def test_the_same_as_in_memory(place: Path, options: dict[str, Any]) -> None:
    parts, whole = (opened(place, stream=stream, **options).along("epochs", **FAST) for stream in (True, False))
    assert parts.to_dict() == whole.to_dict()
    assert parts.since == whole.since == 5
    if not options:  # else rows that do not count are not told among those without a budget
        assert [str(note) for note in parts.notes] == [str(note) for note in whole.notes]


def test_some_budgets_may_be_named(place: Path) -> None:
    found = opened(place, stream=True).along("epochs", at=[1, 20], **FAST)
    assert [step.budget for step in found] == [1, 20]


def test_rows_with_one_value(place: Path) -> None:
    a = opened(place, stream=True)
    assert isinstance(a._source, Rescan)
    counts = values_in(a._source, "epochs")
    known = {value: many for value, many in counts.items() if value == value}
    assert (sum(counts.values()), known) == (600, {1.0: 197, 5.0: 197, 20.0: 197})
    counted = only(a._source, "epochs", 5.0, a.levels.quantiles)
    assert list(counted.tallies) == ["x", "z", "dull"]
    assert all(tally.rows == 197 for tally in counted.tallies.values())


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ({"budget": "epochs", "among": "full"}, "needs all rows at once.*stream=False"),
        ({"budget": None}, "must name one column.*stream=False"),
        ({"budget": {5: "loss"}}, "must name one column.*stream=False"),
        ({"budget": "epoch"}, "epochs.*stream=False"),
    ],
)
def test_what_needs_all_rows_is_refused(place: Path, question: dict[str, Any], said: str) -> None:
    with pytest.raises(PedanovaError, match=said):
        opened(place, stream=True).along(**question)


def test_a_column_of_too_many_values_is_refused(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    pd.DataFrame(rng.random((300, 3)), columns=["x", "z", "loss"]).to_parquet(tmp_path / "0.parquet")
    with pytest.raises(PedanovaError, match="round it to a few"):
        opened(tmp_path, stream=True).along("x")
