"""Blocks: results of different datasets cannot be compared, so ranks are taken within each dataset."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pedanova as pa
from pedanova.errors import DataError, QueryError

LEVELS = {"iris": 0.02, "adult": 0.15, "mnist": 3.0, "cifar": 40.0}
ROWS = 240


def table(column: str = "dataset") -> dict[str, Any]:
    """Four datasets with different levels of the loss; the learning rate was tuned."""
    rng = np.random.default_rng(0)
    lr, depth = 10 ** rng.uniform(-4, 0, ROWS), rng.integers(1, 9, ROWS)
    name = np.array(list(LEVELS))[rng.integers(0, 4, ROWS)]
    level = np.array([LEVELS[one] for one in name])
    loss = level * (1 + (np.log10(lr) + 2) ** 2 / 4 + 0.02 * rng.normal(size=ROWS))
    return {column: name, "lr": lr, "depth": depth, "loss": loss}


def first(a: pa.Analysis) -> str:
    return next(iter(a.importance()))


@pytest.mark.parametrize("column", ["dataset", "instance", "Problem", "benchmark", "task_id"])
def test_the_first_parameter_is_the_one_that_was_tuned(column: str) -> None:
    a = pa.analyze(table(column), "loss")
    assert list(a.space) == ["lr", "depth"]
    assert first(a) == "lr"
    assert a.objective == f"rank of loss within {column}"
    assert a.direction == "minimize"
    assert any(f"within each of 4 blocks ({column})" in note for note in a.notes)
    assert first(pa.analyze(table(column), "loss", blocks=[], params=[column, "lr", "depth"])) == column


def test_a_column_with_another_name_is_a_block_if_the_user_says_so() -> None:
    assert first(pa.analyze(table("city"), "loss")) == "city"
    a = pa.analyze(table("city"), "loss", blocks="city")
    assert (first(a), list(a.space)) == ("lr", ["lr", "depth"])


def test_the_answer_does_not_depend_on_the_level_of_any_block() -> None:
    once = table()
    shifted = once | {"loss": once["loss"] + np.where(once["dataset"] == "adult", 900.0, 0.0)}
    answers = [pa.analyze(one, "loss").importance(estimator="counts", draws=0).rows for one in (once, shifted)]
    assert answers[0] == answers[1]


def test_a_single_block_changes_nothing() -> None:
    rows = table()
    one = {name: values[rows["dataset"] == "iris"] for name, values in rows.items()}
    alone = pa.analyze({name: values for name, values in one.items() if name != "dataset"}, "loss")
    assert pa.analyze(one, "loss", blocks=["dataset"]).importance().rows == alone.importance().rows
    chosen = pa.analyze(rows, "loss", where="dataset == 'iris'")
    assert chosen.objective == "loss"


def test_blocks_are_known_after_saving_in_groups_and_in_the_roles(tmp_path: Path) -> None:
    a = pa.analyze(table(), "loss")
    a.save(tmp_path / "a.pedanova")
    kept = pa.load(tmp_path / "a.pedanova")
    assert kept.objective == a.objective
    assert kept.importance().rows == a.importance().rows
    groups = a.groups("dataset")
    assert set(groups) == set(LEVELS)
    assert all(first(one) == "lr" for one in groups.values())


def test_the_first_line_says_so(run: Any, tmp_path: Path) -> None:
    file, rows = tmp_path / "runs.csv", table()
    lines = [",".join(map(str, row)) for row in zip(*rows.values(), strict=True)]
    file.write_text("\n".join([",".join(rows), *lines]))
    out = " ".join(run("analyze", file, "--objective", "loss")[1].split())
    assert "2 parameters, minimise rank of loss within dataset" in out
    assert "pass --blocks none to compare all rows" in out
    assert "3 parameters, minimise loss" in " ".join(
        run("analyze", file, "--objective", "loss", "--blocks", "none")[1].split()
    )
    assert "dataset block" in " ".join(run("analyze", file, "--objective", "loss", "--roles")[1].split())


def test_blocks_need_all_rows_and_known_columns(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no column is called 'data'"):
        pa.analyze(table(), "loss", blocks=["data"])
    pytest.importorskip("pyarrow")
    file, rows = tmp_path / "runs.csv", table()
    file.write_text("\n".join([",".join(rows), *(",".join(map(str, row)) for row in zip(*rows.values(), strict=True))]))
    with pytest.raises(QueryError, match="needs all rows at once"):
        pa.analyze(file, "loss", blocks=["dataset"], scan=pa.Scan(stream=True))


def test_validation_and_test_rows_of_one_run_are_one_trial() -> None:
    rows = {name: np.repeat(values, 2) for name, values in table("city").items()}
    rows |= {"loss": rows["loss"] + np.tile([0.0, 5.0], ROWS), "part": np.tile(["val", "test"], ROWS)}
    a = pa.analyze(rows, "loss")
    assert (len(a), list(a.space)) == (ROWS, ["city", "lr", "depth"])
    assert any("are other parts of the data than val (part)" in note for note in a.notes)
    assert len(pa.analyze(rows, "loss", where="part == 'test'")) == ROWS


def test_what_was_measured_is_a_block() -> None:
    measured = {"lr": [0.1, 0.2, 0.3] * 20, "metric": ["accuracy", "f1"] * 30, "score": np.arange(60) * 7 % 60 / 60}
    assert pa.analyze(measured, "score").objective == "rank of score within metric"
    mixed = measured | {"metric": ["accuracy", "rmse"] * 30}
    with pytest.raises(DataError, match=r"low values are good for some .* pass|where=\"metric == 'accuracy'\""):
        pa.analyze(mixed, "score")
    assert len(pa.analyze(mixed, "score", where="metric == 'rmse'", direction="min")) == 30
    losses = {"lr": [0.1, 0.2, 0.3] * 20, "loss": ["mse", "mae"] * 30, "score": np.arange(60) * 7 % 60 / 60}
    assert "loss" in pa.analyze(losses, "score").space
