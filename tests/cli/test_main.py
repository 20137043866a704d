"""The command line, run as a user runs it."""

from __future__ import annotations

import base64
import csv
import gzip
import io
import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pedanova as pa
from helpers.common import COUNTS, DEMO
from pedanova import cli
from pedanova.analysis.options import nested

PLAIN = ("--estimator", "counts", "--draws", 0, "--force")  # what COUNTS is in Python
BASE = ("analyze", DEMO, "--objective", "error", "--exclude", "train_seconds", *PLAIN)


def test_the_table(run) -> None:
    status, out, err = run(*BASE)
    assert (status, err) == (0, "")
    assert "1,000 rows, 10 parameters, minimise error" in " ".join(out.split())
    assert "learning_rate matters most for whether a trial" in out
    rows = [line.split()[0] for line in out.splitlines() if "%" in line and "█" in line]
    assert rows[0] == "learning_rate"
    assert "Notes" in out
    assert "ranges guessed from the data" in out
    every = run(*BASE, "--notes")[1].split("Notes\n")[1]
    assert f"--notes prints all {len([line for line in every.splitlines() if line.startswith('- ')])} notes" in out
    assert "log scale guessed" in run(*BASE, "--notes")[1]
    assert "\x1b" not in out


def test_formats_agree_with_python(run, tmp_path: Path) -> None:
    found = pa.analyze(DEMO, "error", exclude=["train_seconds"]).importance(0.05, 0.5, "uniform", **COUNTS)
    question = ("--target", "0.05", "--region", "0.5", "--baseline", "uniform")
    answer = json.loads(run(*BASE, *question, "--format", "json")[1])
    assert [row["parameter"] for row in answer["importance"]] == list(found)
    assert [row["ratio"] for row in answer["importance"]] == [row.ratio for row in found.rows]
    assert answer["space"]["solver"] == {"type": "categorical", "choices": ["adam", "sgd"]}
    table = list(csv.DictReader(io.StringIO(run(*BASE, *question, "--format", "csv")[1])))
    assert [float(row["share"]) for row in table] == [row.share for row in found.rows]
    assert run(*BASE, *question, "--format", "markdown")[1] == found.to_markdown()
    assert run(*BASE, *question, "--format", "latex")[1] == found.to_latex()
    status, out, _ = run(*BASE, *question, "--format", "csv", "-o", tmp_path / "x.csv")
    assert (status, out) == (0, "")
    assert (tmp_path / "x.csv").read_text() == found.to_csv()


def test_save_and_ask_again(run, tmp_path: Path) -> None:
    saved = tmp_path / "run.pedanova"
    first = run(*BASE, "--save", saved, "--format", "csv")[1]
    assert run("analyze", saved, *PLAIN, "--format", "csv") == (0, first, "")
    assert run("analyze", saved, *PLAIN, "--target", "0.033")[0] == 0
    assert run(*BASE, "--save", saved, "--no-save-rows", "--format", "csv")[1] == first
    assert run("analyze", saved, *PLAIN, "--format", "csv") == (0, first, "")
    assert run("analyze", saved, *PLAIN, "--target", "0.02", "--region", "0.1")[0] == 0
    status, _, err = run("analyze", saved, *PLAIN, "--target", "0.033")
    assert status == 2
    assert "no longer available" in err


def test_values_bands_and_smoothing(run) -> None:
    def words_of(*options: str) -> str:
        return " ".join(run(*BASE, *options)[1].split())

    assert "has objective ≤ 0.05" in words_of("--target", "<=0.05")
    assert "has objective ≥ 0.5" in words_of("--target", ">=0.5")
    assert "the rows between the best 10 % and the best 30 %" in words_of("--target", "0.1..0.3")
    assert run(*BASE, "--smoothing", "none")[1] != run(*BASE, "--smoothing", "30")[1]
    assert "whether a trial is in the best 1 %" in words_of("--target", "0.01")
    assert "only 11 rows" in words_of("--target", "0.01")


def test_space_and_params(run, tmp_path: Path) -> None:
    space = tmp_path / "space.json"
    space.write_text(json.dumps({"learning_rate": {"type": "float", "low": 1e-5, "high": 1, "log": True}}))
    out = run(*BASE, "--space", space)[1]
    assert "1 parameter," in " ".join(out.split())  # a long path may end the line
    assert "units" not in out.split("Notes")[0]
    out = run("analyze", DEMO, "--objective", "train_seconds", "--params", "units,layers", "--params", "epochs")[1]
    assert "3 parameters" in " ".join(out.split())
    space.write_text(json.dumps({"learning_rate": {"type": "float", "low": 1e-3, "high": 1, "log": True}}))
    status, _, err = run(*BASE, "--space", space)
    assert status == 2
    assert "learning_rate: row 0 has 2.75596e-05, outside 0.001 … " in err
    assert run(*BASE, "--space", space, "--outside", "count")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["analyze", "absent.csv", "--objective", "y"], "absent.csv does not exist"),
        (["analyze", str(DEMO), "--objective", "eror"], "did you mean 'error'?"),
        (["analyze", str(DEMO), "--objective", "solver"], "objective 'solver' holds text"),
        (["analyze", str(DEMO), "--objective", "error", "--target", "0"], "--target 0.0 must be a quantile above 0"),
        (["analyze", str(DEMO), "--objective", "error", "--target", "2"], "--target 2.0 must be a quantile"),
        (["analyze", str(DEMO), "--objective", "error", "--target", "nan"], "--target nan must be a quantile"),
        (["analyze", str(DEMO), "--objective", "error", "--target", "x"], "no column is called 'x'"),
        (["analyze", str(DEMO), "--objective", "error", "--target", "<=x"], "--target '<=x' must have a number"),
        (["analyze", str(DEMO), "--objective", "error", "--target", "0.5", "--region", "0.1"], "are outside region"),
        (["analyze", str(DEMO), "--objective", "error", "--smoothing", "lots"], "--smoothing 'lots' must be"),
        (["analyze", str(DEMO), "--objective", "error", "--direction", "up"], "invalid choice: 'up'"),
        (["analyze", str(DEMO), "--objective", "error", "--threads", "0"], "--threads 0 must be"),
        (["analyze", str(DEMO), "--objective", "error", "--params", "nope"], "no column is called 'nope'"),
        (["analyze", str(DEMO), "--objective", "error", "--space", "none.json"], "--space none.json is not a file"),
        (["analyze", str(DEMO), "--objective", "error", "-o", "/no/such/folder/x"], "cannot be written"),
        (["analyze", str(DEMO), "--objective", "error", "--report", "/no/such/folder/x"], "cannot be written"),
        (["analyze", str(DEMO), "--objective", "error", "--save", "/no/such/folder/x"], "cannot be written"),
        (["explain"], "no command is called 'explain'; choose one of: analyze, "),
        (["analyse", str(DEMO)], "no command is called 'analyse'; did you mean 'analyze'? see pedanova --help"),
        ([str(DEMO.with_name("demo_trails.csv"))], f"did you mean {DEMO}?"),
        (["--verison"], "no option is called '--verison'; did you mean '--version'?"),
        (["analyze", str(DEMO), "--targt", "0.1"], "did you mean '--target'? see pedanova analyze --help"),
        (["analyze", str(DEMO), "error"], "'error' is one argument too many"),
        (["analyze", str(DEMO), "error"], "write --objective error"),
        (["demo", "trials.csv"], "this command takes no source"),
        (["analyze", str(DEMO.with_name("demo_trails.csv"))], f"did you mean {DEMO}?"),
        (["analyze", "/no/such/folder/x.csv"], "there is no folder /no/such/folder"),
    ],
)
def test_a_mistake_is_one_line_and_status_2(run, arguments: list[str], message: str) -> None:
    status, out, err = run(*arguments)
    assert status == 2
    assert out == ""
    assert message in err
    assert err.startswith("pedanova")
    assert len(err.strip().splitlines()) == 1


def test_a_broken_space_file(run, tmp_path: Path) -> None:
    for text in ("{", "[]", '{"x": 3}', '{"units": {"type": "int", "low": "a", "high": 3}}'):
        (tmp_path / "space.json").write_text(text)
        status, _, err = run(*BASE, "--space", tmp_path / "space.json")
        assert status == 2
        assert len(err.strip().splitlines()) == 1


def packed_in(page: str) -> dict[str, Any]:
    """What a page holds."""
    text = page.partition("id='data'>")[2].partition("</script>")[0]
    found: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(text)))
    return found


def test_the_demo(run, tmp_path: Path) -> None:
    status, out, _ = run("demo", "--report", tmp_path / "report.html")
    assert status == 0
    assert "global" in out
    assert "local" in out
    assert "learning_rate" in out
    assert "Among the best 30 %, learning_rate falls" in out
    *_, last, explore = out.split("\n\n")
    assert explore == "To explore these trials in the browser: pedanova demo --explore\n"
    assert last.startswith(f"Report: {tmp_path / 'report.html'}\n")
    assert "lucky_number" in last
    page = (tmp_path / "report.html").read_text()
    assert "learning_rate" in [one["name"] for one in packed_in(page)["facts"]["parameters"]]
    assert "default-src 'none'" in page


def test_version_says_what_counts(run) -> None:
    status, out, _ = run("--version")
    assert status == 0
    assert out.startswith(f"pedanova {pa.__version__} (counting: C++")
    assert out.endswith("\n")


def in_a_shell(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    import os

    command = [sys.executable, "-m", "pedanova", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=os.environ | environment, check=False)


def test_a_terminal_without_these_letters() -> None:
    done = in_a_shell(*map(str, BASE), PYTHONIOENCODING="ascii", LC_ALL="C")
    assert done.returncode == 0, done.stderr
    assert "learning_rate" in done.stdout


def test_a_reader_that_leaves_early() -> None:
    command = (
        shlex.join([sys.executable, "-m", "pedanova", "analyze", str(DEMO), "--objective", "error"]) + " | head -1"
    )
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert done.stderr == ""


def test_numpy_can_be_chosen() -> None:
    done = in_a_shell("--version", PEDANOVA_KERNEL="numpy")
    assert "NumPy (kernel switched off by PEDANOVA_KERNEL=numpy)" in done.stdout
    fast, slow = in_a_shell(*map(str, BASE)), in_a_shell(*map(str, BASE), PEDANOVA_KERNEL="numpy")
    assert fast.stdout == slow.stdout
    broken = in_a_shell("--version", PEDANOVA_KERNEL=str(DEMO))
    assert broken.returncode == 0
    assert "cannot be opened" in broken.stdout


def test_colours_only_on_a_terminal() -> None:
    from pedanova.base.terminal import TableColumn, draw_table

    columns = [TableColumn("parameter", ["a[red]"]), TableColumn("ratio", ["1.0%"]), TableColumn("", ["██"])]
    assert "\x1b[" in draw_table(columns, colour=True)
    assert "a[red]" in draw_table(columns, colour=True)
    assert "\x1b[" not in draw_table(columns)


def test_odd_names_do_not_break_the_table(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # a long path has a line of its own
    path = Path("odd.csv")
    random = np.random.default_rng(0)
    names = ["\x1b[31mred", "a" * 300, "名前"]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*names, "y"])
        writer.writerows(random.random((100, 4)).tolist())
    status, out, _ = run("analyze", path, "--objective", "y")
    assert status == 0
    assert "\x1b" not in out
    assert "名前" in out
    assert max(len(line) for line in out.splitlines()) < 130


class TestRows:
    """Every way to choose rows, by option and by Python, with the same answer."""

    @pytest.fixture
    def table(self, tmp_path: Path) -> Path:
        random = np.random.default_rng(1)
        rows = 400
        data = {
            "lr": np.exp(random.uniform(-9, 0, rows)),
            "epochs": random.integers(1, 30, rows),
            "optimizer": random.choice(["adam", "sgd"], rows),
            "memory_over": random.normal(size=rows),
            "state": random.choice(["COMPLETE", "FAIL", "PRUNED"], rows, p=[0.8, 0.1, 0.1]),
            "seed": random.integers(0, 3, rows),
        }
        loss = np.abs(np.log(data["lr"]) + 4) + random.random(rows)
        data |= {"loss": np.where(data["state"] == "FAIL", np.nan, loss), "latency": data["epochs"] * 1.0}
        path = tmp_path / "t.csv"
        with path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(data)
            writer.writerows(zip(*(column.tolist() for column in data.values()), strict=True))
        return path

    PARAMS = ("--params", "lr,epochs,optimizer")

    def ratios(self, out: str) -> dict[str, float]:
        return {row["parameter"]: row["ratio"] for row in json.loads(out)["importance"]}

    @pytest.mark.parametrize(
        ("options", "arguments", "question"),
        [
            (["--where", "epochs >= 10"], {"where": "epochs >= 10"}, {}),
            (["--feasible", "memory_over"], {"feasible": "memory_over"}, {}),
            (
                ["--feasible", "memory_over", "--infeasible", "worst"],
                {"feasible": "memory_over", "infeasible": "worst"},
                {},
            ),
            (["--state", "state"], {"state": "state"}, {}),
            (
                ["--state", "state", "--failed", "worst", "--pruned", "last"],
                {"state": "state", "failed": "worst", "pruned": "last"},
                {},
            ),
            (["--nan", "worst"], {"nan": "worst"}, {}),
            (["--repeats", "mean"], {"repeats": "mean"}, {}),
            (["--region", "optimizer == 'adam'"], {}, {"region": "optimizer == 'adam'"}),
            (
                ["--region", "lr >= 1e-3 and optimizer == 'adam'"],
                {},
                {"region": {"lr": (1e-3, 1), "optimizer": {"adam"}}},
            ),
            (["--target", "epochs < 5"], {}, {"target": "epochs < 5"}),
            (["--target", "0.1..0.3"], {}, {"target": pa.between(0.1, 0.3)}),
        ],
    )
    def test_options_mean_what_python_means(
        self, run, table: Path, options: list[str], arguments: dict[str, object], question: dict[str, object]
    ) -> None:
        status, out, err = run(
            "analyze", table, "--objective", "loss", *PLAIN, *self.PARAMS, *options, "--format", "json"
        )
        assert status == 0, err
        a = pa.analyze(table, "loss", params=["lr", "epochs", "optimizer"], **nested(arguments))
        assert self.ratios(out) == {row.name: row.ratio for row in a.importance(**question, **COUNTS).rows}

    def test_several_objectives(self, run, table: Path) -> None:
        options = [
            "--objective",
            "loss",
            "--objective",
            "latency",
            "--direction",
            "minimize",
            "--direction",
            "maximize",
        ]
        status, out, err = run("analyze", table, *options, *PLAIN, *self.PARAMS)
        assert status == 0, err
        assert "minimise loss and maximise latency" in " ".join(out.split())
        out = run("analyze", table, *options, *PLAIN, *self.PARAMS, "--format", "json")[1]
        a = pa.analyze(
            table, ["loss", "latency"], direction=["minimize", "maximize"], params=["lr", "epochs", "optimizer"]
        )
        assert self.ratios(out) == {row.name: row.ratio for row in a.importance(**COUNTS).rows}

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (["--where", "import os"], "is not a condition"),
            (["--where", "epochs > 100"], "no row is left"),
            (["--region", "nope >= 1"], "no column is called 'nope'"),
            (["--feasible", "nope"], "no column is called 'nope'"),
            (["--state", "optimizer"], "state 'adam' is unknown"),
            (["--direction", "minimize", "--direction", "maximize"], "one direction for each of 1"),
        ],
    )
    def test_mistakes(self, run, table: Path, options: list[str], message: str) -> None:
        status, out, err = run("analyze", table, "--objective", "loss", *self.PARAMS, *options)
        assert (status, out) == (2, "")
        assert message in err
        assert len(err.strip().splitlines()) == 1


def test_a_saved_analysis_refuses_options_of_the_table(run, tmp_path: Path) -> None:
    saved = tmp_path / "run.pedanova"
    run(*BASE, "--save", saved)
    for option in (["--direction", "maximize"], ["--objective", "error"], ["--params", "units"], ["--nan", "worst"]):
        status, _, err = run("analyze", saved, *option)
        assert status == 2
        assert f"{option[0]} cannot change a saved analysis" in err


def test_the_report_answers_the_question_that_was_asked(run, tmp_path: Path) -> None:
    run(*BASE, "--target", "0.05", "--region", "0.5", "--baseline", "uniform", "--report", tmp_path / "r.html")
    data = packed_in((tmp_path / "r.html").read_text())
    start = data["facts"]["start"]
    assert start["baseline"] == "uniform"
    first = next(one["answer"] for one in data["answers"] if one["part"] == "answer" and one["question"] == start)
    assert first["words"] == {"target": "the best 5 %", "region": "the best 50 %"}
    assert (first["rows"]["target"], first["rows"]["region"]) == (53, 500)


def test_notes_go_to_stderr_where_the_form_has_no_place(run) -> None:
    status, out, err = run(*BASE, "--target", "0.01", "--format", "csv")
    assert status == 0
    assert "only 11 rows" in err
    assert "rows" not in out


def test_a_condition_is_worded_as_it_was_typed(run, tmp_path: Path) -> None:
    """What looks like an argument in a condition was once turned into an option."""
    file = tmp_path / "t.csv"
    rows = "\n".join(f"{i % 4},{i % 7},{(i * 37) % 100}" for i in range(100))
    file.write_text(f"seed,lr,loss\n{rows}\n")
    condition = "seed==1 or seed==2"
    status, out, _ = run("analyze", file, "--objective", "loss", "--where", condition, "--draws", 0)
    assert status == 0
    assert f"only rows where {condition} are used: 50 of 100" in out


def test_two_forms_at_once_are_refused(run) -> None:
    err = run("reduce", DEMO, "--objective", "error", "--to", "json", "--format", "csv")[2]
    assert "choose one" in err


def test_the_next_command_that_an_answer_names_runs(run) -> None:
    """With the options of the question, and only those that it has."""
    out = run("analyze", DEMO, "--objective", "error", "--exclude", "train_seconds", "--target", 0.2)[1]
    command = out.partition("Next, find a smaller search space:")[2].partition("\n\n")[0]
    words = shlex.split(command.replace("\\\n", " "))  # a shell joins what a backslash ends
    assert words[:2] == ["pedanova", "reduce"]
    assert words[-4:] == ["--target", "0.2", "--exclude", "train_seconds"]
    assert run(*words[1:])[0] == 0


def test_two_studies_are_compared_by_difference(run) -> None:
    status, _, err = run("compare", DEMO, DEMO, "--objective", "error")
    assert status == 2
    assert f"pedanova difference {DEMO} {DEMO}" in err


def test_the_next_command_has_a_target_with_rows_enough(run, tmp_path: Path) -> None:
    """Of 60 trials a tenth is too few to decide about a space: the command that is named must change something."""
    random = np.random.default_rng(0)
    lr, depth = 10 ** random.uniform(-4, 0, 60), random.integers(1, 9, 60)
    loss = (np.log10(lr) + 2) ** 2 + 0.1 * depth + 0.1 * random.normal(size=60)
    file = tmp_path / "few.csv"
    lines = [f"{a},{b},{c}" for a, b, c in zip(lr, depth, loss, strict=True)]
    file.write_text("\n".join(["lr,depth,loss", *lines]))
    for how, before, target in (((), "space:", "0.1"), (("--estimator", "counts"), "rows):", "0.2")):
        out = run("analyze", file, "--objective", "loss", *how)[1]
        command = out.partition(before)[2].partition("\n\n")[0]
        words = shlex.split(command.replace("\\\n", " "))
        assert ("0.2" in words) == (target == "0.2")
        assert "narrow" in run(*words[1:])[1]


def test_a_target_that_is_too_small_inside_a_region_gets_advice_that_works(run, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    x = random.random(60)
    file = tmp_path / "few.csv"
    file.write_text("\n".join(["x,loss", *(f"{a},{(a - 0.3) ** 2}" for a in x)]))
    status, _, err = run("analyze", file, "--objective", "loss", "--target", 0.01, "--region", 0.1)
    assert status != 0
    assert "--target 0.1 and --region 0.3" in err
    assert run("analyze", file, "--objective", "loss", "--target", 0.1, "--region", 0.3)[0] == 0


def test_ctrl_c_while_modules_are_imported(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    class Pressed:
        @staticmethod
        def find_spec(name: str, *_: object) -> None:
            if name == "pedanova.cli.program":
                raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "pedanova.cli.program", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Pressed, *sys.meta_path])
    assert cli.main(["demo"]) == 130
    assert capsys.readouterr().err == "pedanova: interrupted; nothing was written\n"
