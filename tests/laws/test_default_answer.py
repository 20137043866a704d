"""The default answer is one and the same however it is asked: every law to the last digit."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import pedanova as pa
from helpers.common import refuse
from pedanova.errors import LevelsError, QueryError

Table = dict[str, np.ndarray]
QUESTIONS = ((0.1, 1.0), (0.05, 0.5), (0.2, 1.0))


def study(seed: int = 0, rows: int = 150) -> Table:
    """Ranges, whole numbers, categories, a child, ties in the objective."""
    random = np.random.default_rng(seed)
    kind = random.choice(["adam", "rms", "sgd"], rows)
    lr = 10 ** random.uniform(-4, -1, rows)
    momentum = np.where(kind == "sgd", random.random(rows), np.nan)
    units, idle = random.integers(1, 65, rows), random.random(rows)
    loss = (np.log10(lr) + 2.5) ** 2 + 0.8 * (kind == "rms") - np.nan_to_num(momentum) + 0.01 * units
    table = {"kind": kind, "lr": lr, "momentum": momentum, "units": units, "idle": idle}
    return table | {"loss": np.round(loss + random.normal(0, 0.1, rows), 1)}


def answers(a: pa.Analysis, questions: Any = QUESTIONS) -> list[dict[str, Any]]:
    return [{row.name: row for row in a.importance(*question).rows if row.varied} for question in questions]


@pytest.fixture(scope="module")
def a() -> pa.Analysis:
    return pa.analyze(study(), "loss")


@pytest.fixture(scope="module")
def told(a: pa.Analysis) -> list[dict[str, Any]]:
    assert a.importance().estimator == "surrogate"
    return answers(a)


def shuffled(table: Table) -> Table:
    order = np.random.default_rng(7).permutation(len(table["loss"]))
    return {name: column[order] for name, column in table.items()}


NEW_NAMES = {"adam": "zeta", "rms": "alpha", "sgd": "mid"}
SAME: dict[str, Callable[[Table], Table]] = {
    "rows reversed": lambda t: {name: column[::-1] for name, column in t.items()},
    "rows shuffled": shuffled,
    "columns reversed": lambda t: dict(reversed(t.items())),
    "a constant column": lambda t: t | {"version": np.full(len(t["loss"]), 3)},
    "categories renamed": lambda t: t | {"kind": np.array([NEW_NAMES[kind] for kind in t["kind"]])},
    "another scale of the objective": lambda t: t | {"loss": np.exp(3 * t["loss"] - 5)},
}


@pytest.mark.parametrize("name", SAME)
def test_how_a_table_is_written_changes_nothing(told: list[dict[str, Any]], name: str) -> None:
    assert answers(pa.analyze(SAME[name](study()), "loss")) == told


@pytest.fixture(scope="module")
def many() -> tuple[Table, list[dict[str, Any]]]:
    """So many rows that counts answer, and bounds and p-values mostly follow from their limit law."""
    table = study(rows=21_000)
    a = pa.analyze(table, "loss")
    assert a.importance().estimator == "counts"
    return table, answers(a)


@pytest.mark.parametrize("name", SAME)
def test_how_a_large_table_is_written_changes_nothing(many: tuple[Table, list[dict[str, Any]]], name: str) -> None:
    table, told = many
    assert answers(pa.analyze(SAME[name](table), "loss")) == told


def test_the_other_direction_of_the_turned_objective(told: list[dict[str, Any]]) -> None:
    table = study()
    turned = pa.analyze(table | {"loss": -table["loss"]}, "loss", direction="maximize")
    assert answers(turned) == told


def test_a_filter_that_keeps_every_row(a: pa.Analysis, told: list[dict[str, Any]]) -> None:
    table = study()
    assert answers(pa.analyze(table, "loss", where="units >= 1")) == told
    for region in ({"units": (0, 100)}, "units >= 1", np.ones(len(table["loss"]), dtype=bool)):
        found = a.importance(0.1, region)
        assert {row.name: row for row in found.rows} == told[0]


def test_a_frame_a_file_and_its_parts(told: list[dict[str, Any]], tmp_path: Path) -> None:
    frame = pl.DataFrame(study()).with_columns(pl.col("momentum").fill_nan(None))
    frame.write_parquet(tmp_path / "whole.parquet")
    for i in range(3):
        frame[50 * i : 50 * (i + 1)].write_parquet(tmp_path / f"part-{i}.parquet")
    assert answers(pa.analyze(frame, "loss")) == told
    assert answers(pa.analyze(tmp_path / "whole.parquet", "loss", scan=pa.Scan(stream=True))) == told
    assert answers(pa.analyze(str(tmp_path / "part-*.parquet"), "loss", scan=pa.Scan(stream=True))) == told


WHERE = {
    "idle < 0.7": lambda t: t["idle"] < 0.7,
    "kind != 'rms'": lambda t: t["kind"] != "rms",
    "units > 20 or idle > 0.5": lambda t: (t["units"] > 20) | (t["idle"] > 0.5),
}


@pytest.mark.parametrize("where", WHERE)
def test_a_filter_is_the_table_that_it_leaves(where: str, tmp_path: Path) -> None:
    """Filtered before, by a condition, by a mask, in parts, and from a file with and without rows."""
    table, place, path = study(rows=240), tmp_path / "trials.parquet", tmp_path / "some.pedanova"
    chosen = WHERE[where](table)
    pl.DataFrame(table, nan_to_null=True).write_parquet(place)
    told = answers(pa.analyze({name: column[chosen] for name, column in table.items()}, "loss"), QUESTIONS[:1])
    one = pa.analyze(table, "loss", where=where)
    assert one.importance().estimator == "surrogate"
    for other in (
        one,
        pa.analyze(table, "loss", where=chosen),
        pa.analyze(place, "loss", where=where, scan=pa.Scan(stream=True)),
    ):
        assert answers(other, QUESTIONS[:1]) == told
    for rows in (None, True):
        one.save(path, rows=rows)
        assert answers(pa.load(path), QUESTIONS[:1]) == told


def test_rows_picked_by_their_objective_are_counted(tmp_path: Path) -> None:
    """They stand for no space, and a file remembers that."""
    a, path = pa.analyze(study(), "loss", where=0.6), tmp_path / "some.pedanova"
    told = answers(a)
    assert a.importance().estimator == "counts"
    for rows in (None, True):
        a.save(path, rows=rows)
        assert answers(pa.load(path)) == told


def test_save_and_load(a: pa.Analysis, told: list[dict[str, Any]], tmp_path: Path) -> None:
    for rows in (None, True):
        a.save(tmp_path / "a.pedanova", rows=rows)
        b = pa.load(tmp_path / "a.pedanova")
        assert answers(b) == told
        assert b.profile().steps == a.profile().steps
        assert all(np.array_equal(b.densities(name).target, a.densities(name).target) for name in a.space)
        b.save(tmp_path / "b.pedanova", rows=rows)
        assert (tmp_path / "b.pedanova").read_bytes() == (tmp_path / "a.pedanova").read_bytes()


def test_what_a_file_of_rows_can_be_asked(a: pa.Analysis, tmp_path: Path) -> None:
    a.save(tmp_path / "a.pedanova", rows=True)
    b = pa.load(tmp_path / "a.pedanova")
    assert b.importance(0.1, {"lr": (1e-3, 1e-1)}).rows == a.importance(0.1, {"lr": (1e-3, 1e-1)}).rows
    assert b.importance("kind == 'adam'").rows == a.importance("kind == 'adam'").rows
    assert b.interactions().rows == a.interactions().rows
    assert b.reduce().rows == a.reduce().rows
    assert b.effects().rows == a.effects().rows


@pytest.mark.parametrize("successes", [6, 7, 30, 53])
def test_success_or_failure(successes: int) -> None:
    """An objective with two values: the target is every success, however many quantiles these ties fill."""
    random = np.random.default_rng(successes)
    table = {"x": random.random(60), "z": random.random(60)}
    failed = np.ones(60)
    failed[np.argsort(table["x"])[:successes]] = 0.0
    importances = pa.analyze(table, failed, direction="min").importance(force=True)
    assert importances["x"].n_target == successes
    assert next(iter(importances)) == "x"


def test_the_same_target_and_region_are_not_blamed_on_ties() -> None:
    random = np.random.default_rng(0)
    a = pa.analyze({"x": random.random(150)}, np.round(random.random(150), 2), direction="min")
    with pytest.raises(QueryError, match=r"contain the same \d+ rows; choose a smaller target, such as target=0.05"):
        a.importance(0.1, 0.1)
    assert a.importance(0.05, 0.1, force=True)["x"].n_target


def test_too_few_successes_are_not_advised_as_a_target() -> None:
    x = np.linspace(0, 1, 60)
    table = {"x": x, "z": x[::-1] ** 2}
    with pytest.raises(
        QueryError, match="58 of them are tied; better rows: 2, but an answer needs at least 5"
    ) as refused:
        pa.analyze(table, (x > 0.02).astype(float), params=["x", "z"], direction="min").importance()
    assert "target=" not in str(refused.value)


@pytest.mark.parametrize("successes", [5, 14])
def test_rare_successes(successes: int) -> None:
    """Because of ties the best 10 % are all rows; the error names the target that contains the successes."""
    random = np.random.default_rng(0)
    x = random.random(199)
    a = pa.analyze(
        {"x": x, "z": random.random(199)}, (np.argsort(np.argsort(x)) >= successes).astype(float), direction="min"
    )
    with pytest.raises(QueryError, match=rf"{199 - successes} of them are tied; pass target=") as refused:
        a.importance()
    target = float(re.findall(r"target=([\d.]+)", str(refused.value))[0])
    assert a.importance(target, force=True)["x"].n_target == successes


def test_what_a_file_without_rows_cannot_answer_is_refused(a: pa.Analysis, tmp_path: Path) -> None:
    a.save(tmp_path / "a.pedanova", rows=False)
    b = pa.load(tmp_path / "a.pedanova")
    for question in (b.interactions, b.reduce, lambda: b.importance("lr < 0.01"), lambda: b.within("lr < 0.01")):
        refuse(LevelsError, "the rows are no longer available", of=question)
    answer = b.importance(0.3, 0.9)
    assert answer.estimator == "counts"
    assert any("a model would be more accurate than counts" in note for note in answer.notes)


def test_targets_of_the_same_rows_have_the_same_answer() -> None:
    table = study()
    tied = table | {"loss": np.where(table["loss"] <= np.quantile(table["loss"], 0.3), 0.0, table["loss"])}
    a = pa.analyze(tied, "loss")
    one, *others = (a.importance(target).rows for target in (0.01, 0.1, 0.3, pa.at_most(0.0), "loss <= 0"))
    assert all(other == one for other in others)
    assert len(a.profile(ladder=[0.01, 0.1, 0.3])) == 1


def test_shares_order_ratios(a: pa.Analysis) -> None:
    for estimator in ("auto", "counts"):
        for question in QUESTIONS:
            rows = a.importance(*question, estimator=estimator).rows
            assert [row.share for row in rows] == sorted((row.share for row in rows), reverse=True)
            assert all((row.ratio == 0) == (row.share <= 0) for row in rows)
            assert sum(row.ratio for row in rows) == pytest.approx(1.0)
            assert sum(row.raw_ratio for row in rows) == pytest.approx(1.0)


def test_a_gate_keeps_its_credit() -> None:
    """Whether momentum exists is told by the optimizer: its value does nothing, and so it has nothing."""
    random = np.random.default_rng(0)
    opt, lr = random.choice(["adam", "sgd"], 600), 10 ** random.uniform(-5, -1, 600)
    momentum = np.where(opt == "sgd", random.random(600), np.nan)
    loss = 0.3 * (opt == "sgd") + 0.2 * np.abs(np.log10(lr) + 3) + 0.1 * random.normal(size=600)
    a = pa.analyze({"opt": opt, "mom": momentum, "lr": lr}, loss, direction="min")
    for estimator in ("auto", "counts"):
        found = a.importance(estimator=estimator)
        assert found["opt"].significant
        assert not found["mom"].significant
        assert found["mom"].ratio < 0.05 < found["opt"].ratio
        assert found["mom"].activity_share > 0.5 * found["opt"].share


def test_copies_are_named_and_not_blamed() -> None:
    random = np.random.default_rng(1)
    x, z = random.random((2, 300))
    table = {"x": x, "copy": np.clip(x + 1e-3 * random.normal(size=300), 0, 1), "z": z}
    found = pa.analyze(table, (x - 0.3) ** 2 + 0.02 * random.normal(size=300), direction="min").importance()
    assert found["x"].significant
    assert found["copy"].significant
    assert not found["z"].significant
    assert any("copy and x carry nearly the same information" in note for note in found.notes)


def test_noise_is_never_answered_by_a_model() -> None:
    for seed in range(8):
        random = np.random.default_rng(seed)
        table = {f"x{j}": random.random(100) for j in range(6)}
        found = pa.analyze(table, random.random(100), direction="min").importance()
        assert found.estimator == "counts"
        assert any("a model predicts the order of the rows badly" in note for note in found.notes)
