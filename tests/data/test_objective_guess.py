"""A table that nobody describes: its objective is the result that it was made for, or several are named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pedanova as pa
from pedanova.data.column import as_column
from pedanova.data.understanding import guess_objective
from pedanova.errors import DataError, QueryError

ROWS = 40
RNG = np.random.default_rng(3)
LR, A, B = (RNG.uniform(size=ROWS) for _ in range(3))


def likeliest(**columns: Any) -> str | None:
    made = guess_objective({name: as_column(name, values) for name, values in columns.items()}, sure=True)
    return None if made is None else made.name


@pytest.mark.parametrize(
    ("columns", "objective"),
    [
        ({"val_loss": A}, "val_loss"),
        ({"MAE": A, "metric": ["l1", "l2"] * 20}, "MAE"),
        ({"loss": ["bce", "focal"] * 20, "error_rate": A}, "error_rate"),  # a loss that was chosen
        ({"precision": [16, 32] * 20, "recall": A}, "recall"),
        ({"acc_mean": A, "acc_std": B}, "acc_mean"),
        ({"Value": A, "TabuSize": B}, "Value"),
        ({"loss": A, "runtime": B}, "loss"),
        ({"AUC": A, "auc_gower": B}, "AUC"),
        ({"ipc": A, "score": B}, "score"),
        ({"std_error": A}, "std_error"),
        ({"mean_fitness": A, "std_fitness": B}, "mean_fitness"),
        ({"split0_score": A, "split1_score": B, "mean_score": A + B}, "mean_score"),
        ({"train_loss": A, "val_acc": B, "test_acc": A}, "val_acc"),
        ({"train_loss": A, "acc": B}, "acc"),
        ({"acc": [f"{value:.1%}" for value in A], "runtime": B}, "acc"),
        ({"depth": [2, 3] * 20, "kind": ["a", "b", "c", "d"] * 10, "avg_dist": A}, "avg_dist"),
        ({"precision": A, "recall": B, "f1": A * B}, "f1"),
        ({"val_acc": A, "val_loss": B}, "val_acc"),
    ],
)  # fmt: skip
def test_the_result_that_a_table_was_made_for(columns: dict[str, Any], objective: str) -> None:
    assert likeliest(lr=LR, **columns) == objective


@pytest.mark.parametrize(
    "columns",
    [
        {"loss": ["bce"] * ROWS, "kind": ["a", "b"] * 20},
        {"acc": np.ones(ROWS)},
        {"perplexity": np.where(np.arange(ROWS) < 8, A, np.nan)},  # a result of a few rows alone
    ],
)
def test_no_column_can_be_the_objective(columns: dict[str, Any]) -> None:
    assert likeliest(**columns) is None


@pytest.mark.parametrize(
    "columns",
    [
        {"recall": A, "qps": B},  # a trade-off
        {"flow": A, "flow_std": B, "std_error": B},  # nothing shows the direction of the flow
        {"drop": A, "in_dist": B},
        {"final_mass": A, "max_conservation_error": B},
        {"dv": A, "time_cost": B},
    ],
)  # fmt: skip
def test_where_it_is_not_clear_which_result_counts_there_is_a_question(columns: dict[str, Any]) -> None:
    with pytest.raises(QueryError, match="it is not clear which result counts"):
        pa.analyze({"lr": LR, **columns})
    assert pa.analyze({"lr": LR, **columns}, yes=True).objective in columns


def test_a_validation_accuracy_beside_a_training_time_is_answered() -> None:
    table = {"lr": LR, "batch_size": [16, 32] * 20, "val_accuracy": A, "train_time": B}
    assert pa.analyze(table).objective == "val_accuracy"


def test_a_guess_is_noted_and_another_word_overrules_it() -> None:
    a = pa.analyze({"lr": LR, "val_acc": A, "train_acc": B})
    assert a.objective == "val_acc"
    (note,) = (note for note in a.notes if note.kind == "objective")
    assert note.severity == "guess"
    assert str(note).endswith("pass objective=NAME for another, such as train_acc")
    assert not [note for note in pa.analyze({"lr": LR, "acc": A}, "acc").notes if note.kind == "objective"]


def test_a_refusal_names_the_likely_columns_first() -> None:
    table = {"lr": LR, "run_id": np.arange(ROWS), "train_acc": A, "val_acc": B, "val_loss": LR * B}
    question = r"parameters: lr; results: val_acc, val_loss, train_acc; left out: run_id; "
    with pytest.raises(QueryError, match=question) as refused:
        pa.analyze(table)
    assert "pass pa.analyze(data, 'val_acc', direction='maximize'), another result, or yes=True" in str(refused.value)
    assert "pass --objective val_acc --direction max, another result, or --yes" in refused.value.in_shell()
    assert pa.analyze(table, "val_acc", direction="maximize").objective == "val_acc"
    guessed = pa.analyze(table, yes=True)
    assert (guessed.objective, guessed.direction) == ("val_acc", "maximize")
    assert any("yes=True takes every guess" in note for note in guessed.notes)


def test_what_the_user_names_otherwise_is_no_objective() -> None:
    for options in ({"params": ["lr", "acc"]}, {"exclude": ["acc"]}, {"space": {"acc": pa.Float(0, 1)}}):
        assert pa.analyze({"lr": LR, "acc": A, "val_loss": B}, **options).objective == "val_loss"


def test_names_without_a_word() -> None:
    assert len(pa.analyze({"lr": LR, "learning_rate": B, "é": A}, "é")) == ROWS


LONG = {"param": ["lr", "lr", "depth", "depth"] * 10, "value": LR, "cost_ratio": A}


def test_a_table_that_names_a_parameter_in_each_row_is_refused_with_the_remedy() -> None:
    with pytest.raises(DataError, match=r"its name is in param and its value in value; .*where=\"param == 'depth'\""):
        pa.analyze(LONG)
    a = pa.analyze(LONG, "cost_ratio", where="param == 'lr'", params=["value"])
    assert list(a.space) == ["value"]
    assert list(pa.analyze({"param": LR, "value": A}, "value").space) == ["param"]  # numbers name nothing
    with pytest.raises(DataError, match=r"params=\['problem', 'value'\]"):
        pa.analyze({"problem": ["knapsack", "sum"] * 20, **LONG})


def test_a_score_that_ranks_rows_as_an_error_does_is_minimised() -> None:
    error = np.abs(A - 0.5)
    alike = pa.analyze({"lr": LR, "freq_error": error, "score": error + 0.001 * B}, objective="score")
    assert alike.direction == "minimize"
    assert any("its rank correlation with freq_error is" in note for note in alike.notes)
    for beside in ({"freq_error": B}, {"accuracy": error}, {"error_weight": error}):
        assert pa.analyze({"lr": LR, **beside, "score": error + 0.001}, objective="score").direction == "maximize"
    assert pa.analyze({"lr": LR, "acc": 1 - error, "y": error}, objective="y").direction == "minimize"


def test_a_missing_objective_is_named_with_likely_results_first() -> None:
    few = {"lr": [0.1, 0.2] * 20, "kind": ["a", "b", "c", "d"] * 10}
    with pytest.raises(QueryError, match="parameters: lr, kind; results: in_dist, runtime_ms, drop; "):
        pa.analyze({**few, "runtime_ms": A + B, "in_dist": A, "drop": B})


def test_a_column_that_may_be_the_objective_is_no_sure_parameter() -> None:
    a = pa.analyze({"lr": LR, "depth": [2, 3, 4, 5] * 10, "loss_mix": B, "val_acc": A})
    offered = next(str(note) for note in a.notes if note.kind == "objective")
    doubted = {note.subject for note in a.notes if note.kind == "roles" and note.severity == "warning"}
    assert "such as loss_mix" in offered
    assert "loss_mix" in doubted | {note.subject for note in a.notes if note.kind == "unused"}


@pytest.mark.parametrize(("sign", "direction"), [(1, "maximize"), (-1, "minimize")])
def test_the_values_of_an_adaptive_study_show_its_direction(sign: int, direction: str) -> None:
    """Optuna's CSV does not say it, but a sampler moves towards better values."""
    noise = np.random.default_rng(0).normal(size=ROWS)
    table = {"number": range(ROWS), "value": sign * (np.arange(ROWS) / 10 + noise), "params_x": A, "params_y": B}
    assert pa.analyze(table, "value").direction == direction
    (note,) = (note for note in pa.analyze(table, "value").notes if note.kind == "direction")
    assert "from trial to trial" in str(note)
    assert pa.analyze(table | {"value": noise}, "value").direction == "minimize"
    few = table | {name: list(column)[:9] for name, column in table.items()}  # all of them drawn at random
    assert pa.analyze(few | {"value": [0, 2, 1, 3, 4, 5, 6, 8, 7]}, "value").direction == "minimize"
