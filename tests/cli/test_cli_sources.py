"""The command line with logs of tools: formats, spaces to edit, studies, and passwords that stay hidden."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import optuna
import pytest

import pedanova as pa
from helpers.common import DEMO
from pedanova.base.progress import watched
from pedanova.cli.program import main

SECRET = "pass%3Aword%40x"
optuna.logging.set_verbosity(optuna.logging.CRITICAL)
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: object) -> tuple[int, str, str]:
        status = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return call


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two studies, which are only read."""
    path = tmp_path_factory.mktemp("studies") / "studies.db"
    for name in ("one", "it's two"):
        study = optuna.create_study(storage=f"sqlite:///{path}", study_name=name, direction="maximize")
        study.add_trials(
            [
                optuna.create_trial(
                    params={"x": i / 60, "z": i % 3},
                    distributions={
                        "x": optuna.distributions.FloatDistribution(0, 1),
                        "z": optuna.distributions.IntDistribution(0, 2),
                    },
                    value=i,
                )
                for i in range(60)
            ]
        )
    return path


def test_formats_lists_every_reader(run: Run) -> None:
    from pedanova.sources.registry import KINDS

    status, out, _ = run("formats")
    assert status == 0
    for kind in KINDS:
        assert kind.name in out
        assert kind.example in out
    for word in ("Optuna", "SMAC3", "Ray Tune", "MLflow", "W&B", "scikit-learn", "Keras", "Hyperopt", "DeepCAVE"):
        assert word in out


def test_a_study_is_chosen_by_name(run: Run, storage: Path) -> None:
    status, _, err = run("analyze", storage)
    assert status == 2
    assert "2 studies" in err
    assert "it's two (60 trials)" in err
    assert "--study" in err
    status, out, _ = run("analyze", storage, "--study", "it's two", "--draws", 0, "--notes")
    assert status == 0
    assert "60 rows, 2 parameters, maximise value" in " ".join(out.split())  # the place may be long
    assert 'read from Optuna study "it\'s two": 2 parameters with their ranges' in " ".join(out.split())


def test_a_space_can_be_written_edited_and_used(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "space.json"
    chosen = ("--objective", "error", "--exclude", "train_seconds")
    status, out, err = run("space", DEMO, *chosen, "-o", file)
    assert (status, out) == (0, "")
    assert f"--space {file}" in err
    plain = json.loads(file.read_text())
    assert pa.space_from(file) == pa.analyze(DEMO, "error", exclude=["train_seconds"]).space
    plain["learning_rate"]["low"] = 1e-7
    file.write_text(json.dumps(plain))
    status, out, _ = run("analyze", DEMO, "--objective", "error", "--space", file, "--draws", 0, "--format", "json")
    assert status == 0
    assert json.loads(out)["space"]["learning_rate"]["low"] == 1e-7
    status, out, _ = run("space", DEMO, *chosen)
    assert set(json.loads(out)) == set(plain)


def first_lines(out: str) -> str:
    """What stands above the table, in one line."""
    return " ".join(out.split("\n\n")[0].split())


def test_the_first_lines_name_the_columns_that_are_left_out(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "runs.csv"
    rows = [f"2026-01-{i % 3 + 1:02},run{i},{i % 5},{(i * 37 % 40) / 7:.9f},{i * 3.7}" for i in range(40)]
    file.write_text("day,run_id,depth,acc,train_time_s\n" + "\n".join(rows) + "\n")
    code, out, _ = run("analyze", str(file))
    first = first_lines(out)
    words = "- left out: day, run_id, train_time_s (--roles says why); --params selects the columns to use"
    assert (code, words in first) == (0, True)
    assert out.count("left out") == 1
    assert "left out" not in run("analyze", str(file), "--objective", "acc", "--params", "depth")[1]


def test_the_first_line_names_what_may_be_no_parameter_and_where_the_space_is_from(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "runs.csv"
    rows = [f"{i % 2},{'ab'[i // 2 % 2]},{(i * 37 % 40) / 7:.9f},{i * 11 % 17}" for i in range(40)]
    file.write_text("depth,kind,acc,patience\n" + "\n".join(rows) + "\n")
    code, out, _ = run("analyze", str(file), "--objective", "acc")
    first = first_lines(out)
    words = "patience might not be a parameter (--roles says why); --params selects the columns to use"
    assert (code, words in first) == (0, True)
    _, roles, _ = run("analyze", str(file), "--objective", "acc", "--roles")
    assert "perhaps a result: its column stands between columns of results" in " ".join(roles.split())
    code, _, error = run("analyze", str(file), "--objective", "acc", "--exclude", "depth,kind")
    assert (code, "name the columns that were set before each trial in --params" in " ".join(error.split())) == (
        2,
        True,
    )
    assert run("analyze", str(file), "--objective", "acc", "--params", "patience")[0] == 0
    file.write_text("depth,kind,acc,patience\n" + "\n".join(f"1,a,{row.split(',', 2)[2]}" for row in rows) + "\n")
    error = run("analyze", str(file), "--objective", "acc")[2]
    assert "no column is clearly a parameter (patience: " in " ".join(error.split())  # the other two never vary
    file.write_text("depth,kind,acc,patience\n" + "\n".join(rows) + "\n")
    (tmp_path / "space.json").write_text('{"depth": [0, 1], "kind": ["a", "b"]}')
    _, out, _ = run("analyze", str(file), "--objective", "acc")
    first = first_lines(out)
    assert "the space is read from space.json next to the log; pass --space FILE to use another" in first
    assert "patience" not in first


def test_a_study_has_its_own_space(run: Run, storage: Path) -> None:
    _, out, _ = run("space", storage, "--study", "one")
    assert json.loads(out) == {
        "x": {"type": "float", "low": 0.0, "high": 1.0, "log": False},
        "z": {"type": "int", "low": 0, "high": 2, "step": 1, "log": False},
    }


@pytest.mark.parametrize("scheme", ["postgresql", "mysql", "postgresql+psycopg2", "redis"])
def test_passwords_are_never_shown(run: Run, scheme: str) -> None:
    status, out, err = run("analyze", f"{scheme}://ann:{SECRET}@127.0.0.1:1/trials?password={SECRET}")
    assert status == 2
    for form in (SECRET, "pass:word@x", "word@x"):
        assert form not in out + err
    assert len(err.splitlines()) == 1


def test_a_report_of_a_url_has_no_password(run: Run, storage: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    url = f"sqlite:///{storage}?password={SECRET}"
    status, out, _ = run("analyze", url, "--study", "one", "--draws", 0, "--report", page)
    assert status == 0
    assert SECRET not in out + page.read_text()


def test_a_pickle_is_never_loaded(run: Run, tmp_path: Path) -> None:
    trap, told = tmp_path / "study.pkl", tmp_path / "loaded"
    trap.write_bytes(b"cbuiltins\nopen\n(S'" + str(told).encode() + b"'\nS'w'\ntR.")
    status, _, err = run("analyze", trap)
    assert status == 2
    assert "pickle" in err
    assert not told.exists()


def test_progress_is_for_terminals_alone(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from pedanova.base import progress

    assert list(watched(range(5), "rows")) == [0, 1, 2, 3, 4]
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    monkeypatch.setattr(progress, "PAUSE", -1.0)
    assert list(watched(range(5), "rows", 5)) == [0, 1, 2, 3, 4]
    said = capsys.readouterr().err
    assert "reading rows: 3 of 5" in said
    assert said.endswith("\x1b[K")  # nothing is left standing


def test_a_table_of_results_alone_names_the_option_of_the_command_line(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "runs.csv"
    file.write_text("val_acc,val_f1\n" + "\n".join(f"{i * 7 % 40},{i * 11 % 40}" for i in range(40)) + "\n")
    status, _, err = run("analyze", str(file), "--objective", "val_acc")
    assert status == 2
    assert "left out; to keep it, name all parameters in --params); name the parameters in --params" in err
    assert "params=" not in err


def test_doubtful_columns_are_marked_in_the_first_sentence_and_the_others_are_listed(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "runs.csv"
    rng = np.random.default_rng(0)
    counted = rng.integers(0, 90, (200, 7)) ** 2
    loss = counted[:, 0] / 9 + rng.random(200)
    lines = [f"{i * 7 % 2},{'abc'[i * 5 % 3]},{loss[i]},{','.join(map(str, counted[i]))}" for i in range(200)]
    file.write_text("flip,kind,loss,patience,warmup,momentum,dropout,gamma,alpha,decay\n" + "\n".join(lines))
    status, out, _ = run(file, "--objective", "loss")  # analyze is the command for a file
    first = first_lines(out)
    assert status == 0
    assert "7 of 9 columns might not be parameters: patience," in first
    assert "name the parameters in --params" in first
    assert "flip,kind" not in first  # most columns are doubtful, so a list of the others would be a guess
    assert "patience (perhaps not a parameter) matters most" in first
    assert "2 parameters" in first_lines(run(file, "--objective", "loss", "--params", "flip,kind")[1])


def test_the_advice_for_pruned_and_diverged_rows_can_work(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "runs.csv"
    for value, advice in (("", "--pruned worst ranks them as the worst"), ("0.5", "--pruned last includes them")):
        lines = [f"{i % 9},{value if i % 4 == 0 else i * 37 % 40},{'ok' if i % 4 else 'pruned'}" for i in range(40)]
        file.write_text("depth,loss,state\n" + "\n".join(lines))
        assert f"10 of 40 rows were pruned and are dropped ({advice}" in first_lines(run(file)[1])
    file.write_text("depth,loss\n" + "\n".join(f"{i % 9},{'nan' if i % 4 == 0 else i * 37 % 40}" for i in range(40)))
    assert "are dropped (if they diverged, --nan worst ranks them as the worst)" in first_lines(run(file)[1])
    assert run(file, "--nan", "worst")[0] == 0


def test_the_next_command_asks_for_the_target_that_was_answered(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "runs.csv"
    file.write_text("lr,depth,loss\n" + "\n".join(f"{i / 7},{i % 3},{i * i}" for i in range(16)))
    out = run(file)[1]
    assert "in the best 30 %" in " ".join(out.split())
    assert "densities" in out
    assert "--target 30%" in out


def test_every_dropped_row_is_counted_in_the_first_line(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "runs.csv"
    file.write_text("lr,loss\n" + "\n".join(f"{i / 7},{'' if i == 5 else i * 7 % 40}" for i in range(60)))
    assert "59 of 60 rows" in first_lines(run(file, "--objective", "loss")[1])


def test_json_has_the_direction_of_each_objective(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "runs.csv"
    file.write_text("lr,acc,loss\n" + "\n".join(f"{i / 7},{i * 7 % 40},{i * 11 % 40}" for i in range(40)) + "\n")
    options = (
        "--objective",
        "acc",
        "--objective",
        "loss",
        "--direction",
        "max",
        "--direction",
        "min",
        "--format",
        "json",
    )
    code, out, err = run("analyze", str(file), *options)
    assert code == 0, err
    answer = json.loads(out)
    assert (answer["objective"], answer["direction"]) == (["acc", "loss"], ["maximize", "minimize"])
