"""Which columns are parameters: outcomes of a trial are none, unless a user says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pedanova as pa
from helpers.common import refuse
from pedanova.errors import DataError

ROWS = 200
RNG = np.random.default_rng(8)
TABLE: dict[str, Any] = {
    "lr": RNG.uniform(0.0, 1.0, ROWS),
    "loss_weight": RNG.uniform(0.0, 1.0, ROWS),
    "precision": np.tile([16, 32], ROWS // 2),
    "loss": RNG.choice(["hinge", "log"], ROWS),
    "train/loss": RNG.uniform(0.0, 1.0, ROWS),
    "fit_time": RNG.uniform(1.0, 9.0, ROWS),
    "_runtime": RNG.uniform(1.0, 9.0, ROWS),
    "val_acc": RNG.uniform(0.0, 1.0, ROWS),
    "error": RNG.uniform(0.0, 1.0, ROWS),
}
SETTINGS = ["lr", "loss_weight", "precision", "loss"]


def left_out(a: pa.Analysis) -> str:
    (note,) = [note for note in a.notes if "named like results" in note]
    return note


@pytest.mark.parametrize("stream", [False, True])
def test_results_are_no_settings(tmp_path: Path, stream: bool) -> None:
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    file = tmp_path / "t.csv"
    pd.DataFrame(TABLE).to_csv(file, index=False)
    a = pa.analyze(str(file), "error", stream=stream)
    assert list(a.space) == SETTINGS
    for name in ("train/loss", "fit_time", "_runtime", "val_acc"):
        assert name in left_out(a)
    assert "params=" in left_out(a)


def test_a_user_takes_them_in() -> None:
    a = pa.analyze(TABLE, "error", params=["lr", "train/loss"])
    assert list(a.space) == ["lr", "train/loss"]
    assert not any("named like results" in note for note in a.notes)
    given = pa.analyze(TABLE, "error", space={"fit_time": pa.Float(0, 10)})
    assert list(given.space) == ["fit_time"]


def test_marked_columns_are_settings_whatever_they_are_called() -> None:
    table = {"params_score": TABLE["lr"], "params_time": TABLE["fit_time"], "value": TABLE["error"]}
    assert list(pa.analyze(table, "value").space) == ["params_score", "params_time"]


def test_where_nothing_else_is_left_the_refusal_says_so() -> None:
    table = {"val_acc": TABLE["val_acc"], "error": TABLE["error"]}
    refuse(DataError, "val_acc", "named like results", "params=", of=lambda: pa.analyze(table, "error"))


def test_a_column_that_the_exporter_keeps_aside_may_be_the_objective(tmp_path: Path) -> None:
    file = tmp_path / "wandb.csv"
    rows = [f"run{i},finished,me,{i % 17},{i / 40},{i % 5}" for i in range(40)]
    file.write_text("\n".join(["Name,State,User,Runtime,lr,layers", *rows]))
    a = pa.analyze(str(file), "Runtime")
    assert (a.direction, set(a.space)) == ("minimize", {"lr", "layers"})
