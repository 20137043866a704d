"""A table that nobody describes: its objective is the result that it was made for, or several are named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pedanova as pa
from pedanova.data.column import as_column
from pedanova.data.objectives import guess_objective, likely_objectives
from pedanova.errors import DataError, QueryError

ROWS = 40
RNG = np.random.default_rng(3)
LR, A, B = (RNG.uniform(size=ROWS) for _ in range(3))


def guess(**columns: Any) -> tuple[str, str] | None:
    made = guess_objective({name: as_column(name, values) for name, values in {"lr": LR, **columns}.items()})
    return None if made is None else (made[0], str(made[1]))


@pytest.mark.parametrize(
    ("columns", "objective", "why"),
    [
        ({"val_loss": A}, "val_loss", "the only column whose name is typical of a result"),
        ({"MAE": A, "metric": ["l1", "l2"] * 20}, "MAE", "the only column"),
        ({"loss": ["bce", "focal"] * 20, "error_rate": A}, "error_rate", "the only column"),  # a loss that was chosen
        ({"precision": [16, 32] * 20, "recall": A}, "recall", "the only column"),
        ({"acc_mean": A, "acc_std": B}, "acc_mean", "the only column"),
        ({"Value": A, "TabuSize": B}, "Value", "the only column"),
        ({"loss": A, "runtime": B}, "loss", "its name is the most typical of a result"),
        ({"AUC": A, "auc_gower": B}, "AUC", "its name is the most typical of a result"),
        ({"acc": A, "f1": np.sort(B)[::-1]}, "f1", "the rows are sorted by this column"),
        ({"ipc": A, "score": B}, "score", "the most general name"),
        ({"std_error": A}, "std_error", "the only column"),
        ({"conservation_error": A, "shape_error": B}, "shape_error", "not a minimum, a maximum or a measure of spread"),
        ({"mean_fitness": A, "std_fitness": B}, "mean_fitness", "not a minimum, a maximum or a measure of spread"),
        ({"split0_score": A, "split1_score": B, "mean_score": A + B}, "mean_score", "the only result that is a mean"),
        ({"train_loss": A, "val_acc": B, "test_acc": A}, "val_acc", "the only validation result"),
        ({"train_loss": A, "acc": B}, "acc", "not from training"),
        ({"test_loss": A, "r2": 1 - A**2}, "test_loss", "test_loss, r2 rank the rows in the same way"),
        ({"val_loss": A, "val_acc": -A - 0.5 * B, "acc": B}, "val_acc", "the only validation result that is not a"),
    ],
)  # fmt: skip
def test_the_result_that_a_table_was_made_for(columns: dict[str, Any], objective: str, why: str) -> None:
    made = guess(**columns)
    assert made is not None
    assert made[0] == objective
    assert why in made[1]


@pytest.mark.parametrize(
    "columns",
    [
        {"recall": A, "qps": B},  # a trade-off
        {"val_acc": A, "val_loss": B},  # they have nothing in common
        {"acc": A, "loss": A},  # one is good where the other is bad
        {"depth": A, "width": B},
        {"loss_weight": A, "acc_threshold": B},
        {"loss": ["bce"] * ROWS},
        {"acc": np.ones(ROWS)},
        {"flow": A, "flow_std": B, "std_error": A},  # the error belongs to a result with an unknown name
        {"final_mass": A, "max_conservation_error": B},
        {"train_acc": A, "val_acc": [*(f"{value:.6f}" for value in B[1:]), "0.5, 0.25"]},  # not a training result
    ],
)  # fmt: skip
def test_several_or_none(columns: dict[str, Any]) -> None:
    assert guess(**columns) is None


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


def test_a_mean_precision_is_no_mean() -> None:
    assert guess(avg_precision=A, auroc=B) is None


def test_results_as_text_are_likely_too() -> None:
    assert likely_objectives({"acc": as_column("acc", [f"{value:.1%}" for value in A])}) == ["acc"]


def test_what_the_user_names_otherwise_is_no_objective() -> None:
    for options in ({"params": ["lr", "acc"]}, {"exclude": ["acc"]}, {"space": {"acc": pa.Float(0, 1)}}):
        assert pa.analyze({"lr": LR, "acc": A, "train_loss": B}, **options).objective == "train_loss"


def test_names_without_a_word() -> None:
    assert len(pa.analyze({"lr": LR, "learning_rate": B, "é": A}, "é")) == ROWS


def test_a_result_of_a_few_rows_alone_is_not_what_a_table_was_made_for() -> None:
    few = np.where(np.arange(ROWS) < 8, A, np.nan)
    assert guess(perplexity=few) is None
    assert (guess(perplexity=few, speed_score=B) or ("",))[0] == "speed_score"


LONG = {"param": ["lr", "lr", "depth", "depth"] * 10, "value": LR, "cost_ratio": A}


def test_a_table_that_names_a_parameter_in_each_row_is_refused_with_the_remedy() -> None:
    with pytest.raises(DataError, match=r"its name is in param and its value in value; .*where=\"param == 'depth'\""):
        pa.analyze(LONG)
    a = pa.analyze(LONG, "cost_ratio", where="param == 'lr'", params=["value"])
    assert list(a.space) == ["value"]
    assert list(pa.analyze({"param": LR, "value": A}).space) == ["param"]  # numbers name nothing
    with pytest.raises(DataError, match=r"params=\['problem', 'value'\]"):
        pa.analyze({"problem": ["knapsack", "sum"] * 20, **LONG})


def test_the_note_names_other_columns_that_may_be_results() -> None:
    found = guess(loss=A, runtime=B, train_time=B + 1)
    assert found is not None
    assert "for another, such as runtime, train_time" in found[1]


def test_a_result_that_follows_a_sorted_parameter_is_not_chosen_for_its_order() -> None:
    swept = np.linspace(0.0, 1.0, ROWS)
    assert guess(threshold=swept, recall=1 - swept**2, f1=A) is None
    assert guess(threshold=LR, recall=1 - swept**2, f1=A) == guess(recall=1 - swept**2, f1=A)


def test_a_score_that_ranks_rows_as_an_error_does_is_minimised() -> None:
    error = np.abs(A - 0.5)
    alike = pa.analyze({"lr": LR, "freq_error": error, "score": error + 0.001 * B}, objective="score")
    assert alike.direction == "minimize"
    assert any("its rank correlation with freq_error is" in note for note in alike.notes)
    for beside in ({"freq_error": B}, {"accuracy": error}, {"error_weight": error}):
        assert pa.analyze({"lr": LR, **beside, "score": error + 0.001}, objective="score").direction == "maximize"
    assert pa.analyze({"lr": LR, "acc": 1 - error, "y": error}, objective="y").direction == "minimize"


def test_without_a_typical_name_the_only_result_by_its_role_is_used() -> None:
    few = {"fold_size": [10, 20] * 20, "kind": ["a", "b", "c", "d"] * 10}
    grid = {"rel": np.tile([100, 200], 20), "img": np.repeat([50, 100, 200, 400], 10)}
    assert (guess_in(**few, avg_dist=A) or ("", ""))[0] == "avg_dist"
    name, why = guess_in(**grid, acc_l2r=A) or ("", "")
    assert name == "acc_l2r"
    assert "the only column that looks like a result" in why
    assert (guess_in(**few, acc_head=A, runtime_ms=B) or ("", ""))[0] == "acc_head"
    assert (guess_in(**few, duration_ms=A) or ("", ""))[0] == "duration_ms"
    assert guess_in(**few, duration_ms=A, train_time=B) is None
    assert guess_in(**few, launch_time=A, end_time=A + B) is None
    assert (guess_in(created_at=np.arange(ROWS) * 60, **few, duration_ms=A) or ("", ""))[0] == "duration_ms"
    assert guess_in(**few, duration_ms=A, train_time=np.where(np.arange(ROWS) < 9, B, np.nan)) is None
    assert guess_in(**few, avg_dist=np.where(np.arange(ROWS) < 9, B, np.nan)) is None
    assert guess_in(**few, found=B, duration_ms=A) is None  # which may be a result, too


def guess_in(**columns: Any) -> tuple[str, str] | None:
    """The guess for a table in which nothing but these columns stands."""
    made = guess_objective({name: as_column(name, values) for name, values in columns.items()})
    return None if made is None else (made[0], str(made[1]))


def test_f1_combines_precision_and_recall() -> None:
    assert (guess(precision=A, recall=B, f1=A * B) or ("", ""))[0] == "f1"
    assert guess(precision=A, recall=B, f1=A * B, accuracy=A + B) is None


def test_a_missing_objective_is_named_with_likely_results_first() -> None:
    few = {"lr": [0.1, 0.2] * 20, "kind": ["a", "b", "c", "d"] * 10}
    with pytest.raises(QueryError, match="parameters: lr, kind; results: avg_gap, final_gap, runtime_ms; "):
        pa.analyze({**few, "runtime_ms": A + B, "avg_gap": A, "final_gap": B})


def test_parameters_with_names_of_results_are_no_other_objectives() -> None:
    _, why = guess(stop_loss=[0.1, 0.2] * 20, runtime=B, mean_return=A) or ("", "")
    assert "for another, such as runtime" in why
    assert "stop_loss" not in why


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
