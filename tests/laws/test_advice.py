"""What a refusal or a warning advises cures the case: the advice is followed, and then there is an answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pedanova as pa
from pedanova.errors import PedanovaError

FAST: dict[str, Any] = {"estimator": "counts", "draws": 0}
ROWS = 60
RNG = np.random.default_rng(11)
X, Z = RNG.random((2, ROWS))
LOSS = (X - 0.3) ** 2 + 0.1 * Z
STATES = np.where(np.arange(ROWS) < 57, "PRUNED", "COMPLETE")


@dataclass(frozen=True)
class Case:
    """A table, how it is asked about, what is then said, and what the words advise."""

    table: dict[str, Any]
    objective: object
    words: str
    cure: dict[str, Any]
    options: dict[str, Any] = field(default_factory=dict)


REFUSED: dict[str, Case] = {
    "an objective of words": Case(
        {"x": X, "the verdict": np.where(LOSS < 0.2, "good", "bad")}, "the verdict",
        "pass a comparison as the objective: \"`the verdict` == 'bad'\"", {"objective": "`the verdict` == 'bad'"},
    ),
    "an objective of lists": Case(
        {"x": X, "loss": [f"[1, {loss}]" for loss in LOSS], "last": LOSS}, "loss",
        "write one number of each list, such as its last, to a column of its own", {"objective": "last"},
    ),
    "an objective of different words": Case(
        {"x": X, "run": [f"run {loss}" for loss in LOSS], "last": LOSS}, "run", "); name a column of numbers",
        {"objective": "last"},
    ),
    "a name mistyped": Case({"x": X, "loss": LOSS}, "lose", "did you mean 'loss'", {"objective": "loss"}),
    "a name behind a prefix": Case(
        {"x": X, "metrics.loss": LOSS}, "loss", "did you mean 'metrics.loss'", {"objective": "metrics.loss"}
    ),
    "no objective": Case(
        {"x": X, "recall": Z, "loss": LOSS}, None, "results: recall, loss;", {"objective": "loss"}
    ),
    "nothing but results": Case(
        {"val_acc": X, "fit_time": Z, "loss": LOSS}, "loss", "name the parameters in params=", {"params": ["val_acc"]}
    ),
    "nearly all pruned": Case(
        {"x": X, "state": STATES, "loss": LOSS}, "loss", "reading=pa.Reading(pruned='last')",
        {"reading": pa.Reading(pruned="last")},
    ),
    "a sweep that looks like a curve": Case(
        {"step": np.arange(ROWS), "x": np.linspace(0, 1, ROWS), "loss": np.linspace(0, 1, ROWS) ** 2}, "loss",
        "exclude='step'", {"exclude": ["step"]},
    ),
    "values outside the space": Case(
        {"x": X + 0.5, "loss": LOSS}, "loss", "outside", {"reading": pa.Reading(outside="count")},
        {"space": {"x": pa.Float(0, 1)}},
    ),
}  # fmt: skip


def ask(case: Case, **cure: Any) -> str:
    options = {"objective": case.objective, **case.options, **cure}
    return str(pa.analyze(case.table, **options).importance(**FAST))


@pytest.mark.parametrize("name", list(REFUSED))
def test_a_refusal_names_what_helps(name: str) -> None:
    case = REFUSED[name]
    with pytest.raises(PedanovaError) as refused:
        ask(case)
    assert case.words in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1
    assert ask(case, **case.cure)


def test_a_refusal_names_a_direction_that_nobody_gave() -> None:
    table = {"x": X, "y": np.where(np.arange(ROWS) % 10, 0.0, LOSS + 1)}
    words = r"contain the same .*y is minimised: .*pass direction='max' if higher is better"
    with pytest.raises(PedanovaError, match=words):
        pa.analyze(table, "y").importance(0.1, 0.5, **FAST)
    assert len(pa.analyze(table, "y", direction="max").importance(0.1, 0.5, **FAST))


def test_a_warning_names_what_helps() -> None:
    crashed = np.arange(ROWS) % 10 == 0
    table = {"x": X, "z": Z, "loss": np.where(crashed, 0.0, LOSS + 1)}
    a = pa.analyze(table, "loss")
    (note,) = [note for note in a.notes if note.kind == "status"]
    assert 'if these trials crashed, pass where="loss != 0"' in note
    cured = pa.analyze(table, "loss", where="loss != 0")
    assert len(cured) == ROWS - crashed.sum()
    assert not [note for note in cured.notes if note.kind == "status"]


@pytest.mark.parametrize("rows", [6, 13, 30, 38])
def test_few_rows_are_answered_at_the_strictest_target(rows: int) -> None:
    a = pa.analyze({"x": X[:rows], "z": Z[:rows], "loss": LOSS[:rows]}, "loss", params=["x", "z"])
    result = a.importance(**FAST)
    assert result["x"].n_target == 5
    assert result.notes[0].startswith("the best 10 % of ")
    assert a.importance(0.1, force=True, **FAST)["x"].n_target == int(np.ceil(rows / 10))


def test_ties_that_leave_no_wider_target_are_named_and_can_be_forced() -> None:
    a = pa.analyze({"x": X[:10], "loss": [0.0] + [1.0] * 9}, "loss", params=["x"])
    with pytest.raises(
        PedanovaError, match="Because of ties, there is no wider target; run more trials, or pass force=True"
    ):
        a.importance(**FAST)
    assert a.importance(0.1, force=True, **FAST)["x"].n_target == 1


def test_a_wider_target_is_advised_only_where_it_is_wider() -> None:
    noise = np.random.default_rng(0).uniform(size=(2, 40))
    few, many = (pa.analyze({"x": noise[0, :n], "loss": noise[1, :n]}, "loss").importance(**FAST) for n in (11, 40))
    assert "wider" not in few.next_step()
    assert ".importance(0.3)" in many.next_step()


def files_of(folder: Path, write: Callable[[dict[str, Any]], Any]) -> None:
    for i in range(ROWS):
        (folder / f"trial_{i}.json").write_text(json.dumps(write({"x": X[i], "z": Z[i], "loss": LOSS[i]})))


@pytest.mark.parametrize(
    ("write", "objective"),
    [
        (lambda row: row, "loss"),
        (lambda row: {"config": {"x": row["x"], "z": row["z"]}, "metrics": {"loss": row["loss"]}}, "metrics.loss"),
        (lambda row: {"trials": [row]}, "loss"),
        (lambda row: [row], "loss"),
    ],
)
def test_one_file_for_every_trial(write: Callable[[dict[str, Any]], Any], objective: str, tmp_path: Path) -> None:
    files_of(tmp_path, write)
    judge = pa.analyze({"x": X, "z": Z, "loss": LOSS}, "loss").importance(**FAST)
    for place in (tmp_path, tmp_path / "*.json", tmp_path / "trial_*.json"):
        result = pa.analyze(str(place), objective).importance(**FAST)
        assert [row.share for row in result.rows] == [row.share for row in judge.rows]


def test_a_file_that_is_no_trial_is_left_out_and_named(tmp_path: Path) -> None:
    files_of(tmp_path, lambda row: row)
    (tmp_path / "broken.json").write_text('{"x": 1')
    a = pa.analyze(str(tmp_path), "loss")
    assert len(a) == ROWS
    assert any("files left out: 1 of " in note and "broken.json" in note for note in a.notes)


def test_a_folder_of_tables(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    lines = [f"{x},{z},{loss}" for x, z, loss in zip(X, Z, LOSS, strict=True)]
    for part in range(3):
        (tmp_path / f"sweep{part}.csv").write_text("\n".join(["x,z,loss", *lines[part::3]]))
    assert len(pa.analyze(str(tmp_path), "loss")) == ROWS


@pytest.mark.parametrize("suffix", [".rds", ".ipynb", ".md", ".npy"])
def test_a_file_of_another_kind_is_not_to_be_renamed(suffix: str, tmp_path: Path) -> None:
    (tmp_path / f"t{suffix}").write_bytes(b"x")
    with pytest.raises(PedanovaError) as refused:
        pa.analyze(str(tmp_path / f"t{suffix}"), "loss")
    assert "rename" not in str(refused.value)


def test_a_refusal_of_few_rows_says_that_they_are_the_last_steps_of_runs() -> None:
    table = {"round": np.tile(np.arange(20), 6), "rate": np.repeat([1, 2, 3, 4, 5, 6], 20)}
    table["loss"] = np.repeat([0, 1, 1, 1, 1, 1], 20)
    with pytest.raises(
        PedanovaError, match=r"6 rows .*\(114 of 120 rows are earlier steps of 6 runs \(round\); the last"
    ):
        pa.analyze(table, "loss").importance(**FAST)


def test_what_changes_while_the_objective_stays_the_same_is_doubted() -> None:
    rng = np.random.default_rng(1)
    runs = {"width": np.repeat([8, 16, 8, 32, 16], 50), "loss": np.repeat([0.4, 0.2, 0.3, 0.9, 0.5], 50)}
    a = pa.analyze({"distance": rng.uniform(size=250), **runs}, "loss")
    assert [note.subject for note in a.notes if note.severity == "warning" and note.kind == "roles"] == ["distance"]
    for scores in (np.sort(runs["loss"]), rng.permutation(runs["loss"])):  # in order, or equal by chance
        a = pa.analyze({"distance": rng.uniform(size=250), **runs, "loss": scores}, "loss")
        assert not [note for note in a.notes if note.kind == "roles" and note.severity == "warning"]
