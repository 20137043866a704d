"""Which way is better, where nobody said so: never in silence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pedanova as pa
from helpers.common import COUNTS
from pedanova.base.notes import Note
from pedanova.cli.program import main
from pedanova.data.vocabulary import direction_by_name

ROWS = 60
X = np.random.default_rng(3).permutation(np.linspace(0.0, 1.0, ROWS))
UP = (
    "accuracy acc val_acc valAccuracy test/accuracy acc@1 auc roc_auc testAUC f1 F1-score f1_macro r2 R2 R² score "
    "mean_test_score reward episode_reward return mean_return precision recall iou mIoU mAP mAP50 bleu bleu4 "
    "neg_mean_squared_error neg_log_loss psnr balanced_accuracy accuracy_mean top5 log_likelihood success_rate "
    "val_acc_seed0 throughput_rps reward_per_episode ops_per_sec frames_per_second bitrate acc_l2r fps_out "
    "avg_utility tg_tok_s"
)
DOWN = (
    "loss val_loss train/loss error error_rate err top1_error rmse test_rmse_mean mae mse nll perplexity ppl time "
    "runtime latency latency_ms duration seconds negative_log_likelihood 1-accuracy one_minus_acc brier_score logloss "
    "validation_0-logloss rank_test_score cost regret wer time_total_s "
    "val_loss_seed3 val_cross_entropy crossEntropy timetrain cost_per_success errors_per_hit "
    "total_cycles soft_penalty collisions encode_ns p99_us decode_ms errors_per_sec nlpd_test"
)
UNKNOWN = "y value objective metric result target out lr z m1 loss_weight"


def direction_notes(notes: tuple[Note, ...]) -> list[Note]:
    return [note for note in notes if note.kind == "direction"]


@pytest.mark.parametrize(
    ("name", "direction"),
    [
        *((n, "maximize") for n in UP.split()),
        *((n, "minimize") for n in DOWN.split()),
        *((n, None) for n in UNKNOWN.split()),
    ],
)
def test_names_tell_the_direction(name: str, direction: str | None) -> None:
    assert direction_by_name(name) == direction


@pytest.mark.parametrize("name", ["accuracy", "loss", "y"])
def test_what_was_guessed_is_said_in_memory_and_in_parts(name: str, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    file = tmp_path / "t.csv"
    file.write_text(f"x,z,{name}\n" + "".join(f"{x},{i % 7 + 0.5},{x * (i % 5)}\n" for i, x in enumerate(X)))
    held, streamed = (
        pa.analyze(str(file), name, scan=pa.Scan(stream=False)),
        pa.analyze(str(file), name, scan=pa.Scan(stream=True)),
    )
    assert held.direction == streamed.direction == (direction_by_name(name) or "minimize")
    for a in (held, streamed):
        (note,) = direction_notes(a.notes)
        assert note.severity == ("warning" if name == "y" else "guess")
        assert name in note
        assert "direction=" in note
    assert direction_notes(held.notes) == direction_notes(streamed.notes)


@pytest.mark.parametrize(
    ("given", "meant"), [("max", "maximize"), ("min", "minimize"), ("maximize", "maximize"), ("minimise", "minimize")]
)
def test_what_is_given_needs_no_note(given: str, meant: str) -> None:
    a = pa.analyze({"x": X, "accuracy": -X}, "accuracy", direction=given)
    assert a.direction == meant
    assert not direction_notes(a.notes)


def test_the_right_rows_are_the_target() -> None:
    table = {"x": X, "z": np.arange(ROWS) % 3, "accuracy": X**2 + np.arange(ROWS) % 2 * 1e-3}
    best = pa.analyze(table, "accuracy")
    given = pa.analyze(table, "accuracy", direction="maximize")
    assert best.importance(**COUNTS).to_dict() == given.importance(**COUNTS).to_dict()


def test_several_objectives_are_guessed_one_by_one() -> None:
    table: dict[str, Any] = {"x": X, "accuracy": X, "latency": X**2, "y": np.sin(9 * X)}
    a = pa.analyze(table, ["accuracy", "latency", "y"], params=["x"])
    assert a.data.observations is not None
    assert [goal.direction for goal in a.data.observations.goals] == ["maximize", "minimize", "minimize"]
    assert [note.severity for note in direction_notes(a.notes)] == ["warning", "guess", "guess"]


def test_arrays_and_conditions_have_no_name() -> None:
    (note,) = direction_notes(pa.analyze({"x": X}, X**2).notes)
    assert (note.severity, "minimised" in note) == ("warning", True)
    words = np.where(X > 0.5, "good", "bad")
    a = pa.analyze({"x": X, "verdict": words}, "verdict == 'good'")
    (note,) = direction_notes(a.notes)
    assert (a.direction, note.severity, "maximised" in note) == ("maximize", "warning", True)


def test_the_first_line_of_the_answer_says_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "t.csv"
    for name, direction, words in (
        ("accuracy", [], "maximise accuracy (guessed from its name)"),
        (
            "y",
            [],
            "minimise y (direction not known): lowest 0 in row 0: x=0.373, z=0; highest 3.8 in row 59: x=0.949, "
            "z=3; pass --direction max if higher is better",
        ),
        ("y", ["--direction", "max"], "maximise y"),
    ):
        file.write_text(f"x,z,{name}\n" + "".join(f"{x},{i % 7},{x * (i % 5)}\n" for i, x in enumerate(X)))
        asked = ["analyze", str(file), "--objective", name, "--estimator", "counts", "--draws", "0", *direction]
        assert main(asked) == 0
        first = " ".join(capsys.readouterr().out.split("\n\n")[0].split())
        assert f", 2 parameters, {words}" in first
        assert ("not known" in first, "guessed" in first) == ("not known" in words, "guessed" in words)


def test_average_precision_is_a_measure_of_its_own() -> None:
    """It is no mean of the precisions, so it is preferred to precision and recall."""
    rate = [10 ** (-1 - i * 7 % 40 / 10) for i in range(40)]
    table = {"lr": rate, "depth": [i % 4 for i in range(40)]}
    scores = {"precision": 0.9, "recall": 0.8, "avg_precision": 0.85}
    table |= {name: [round(top - value, 4) for value in rate] for name, top in scores.items()}
    a = pa.analyze(table, yes=True)
    assert (a.objective, a.direction) == ("avg_precision", "maximize")
