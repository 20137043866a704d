"""What the commands print: at any width, with any name, in every form; notes in short."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pedanova as pa
from helpers.common import DEMO, ROOT
from helpers.explorers import served
from pedanova.base.notes import Count, Note
from pedanova.base.terminal import width_of
from pedanova.cli.parser import COMMANDS, build_parser
from pedanova.cli.program import main
from pedanova.errors import Arg
from pedanova.report.terminal.tables import in_short, with_command

TABLE = (DEMO, "--objective", "error", "--exclude", "train_seconds")
QUICK = ("--estimator", "counts", "--draws", 0)
HOSTILE = [
    "\x1b[31mred\x1b[0m",
    "two\nlines",
    "\x9b2J",
    "</script><script>alert(1)",
    "名前" * 20,
    "a" * 300,
    "\u202eabc",
]


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A table whose names want to steer the terminal."""
    random = np.random.default_rng(0)
    path = tmp_path / "hostile.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*HOSTILE, "y"])
        values = random.random((100, len(HOSTILE) + 1))
        values[:, -1] = values[:, 0] + 0.1 * values[:, -1]
        writer.writerows(values.tolist())
    return path


@pytest.mark.parametrize(
    ("command", "columns"),
    [
        (("analyze", *TABLE, *QUICK), 40),
        (("analyze", *TABLE, *QUICK), 80),
        (("profile", *TABLE, "--estimator", "counts"), 40),
        (("profile", *TABLE, "--estimator", "counts"), 80),
        (("interactions", *TABLE), 40),
        (("densities", *TABLE, *QUICK), 40),
        (("densities", *TABLE, *QUICK), 80),
        (("reduce", *TABLE, "--estimator", "counts"), 40),
        (("demo",), 40),
    ],
    ids=lambda given: given[0] if isinstance(given, tuple) else given,
)
def test_nothing_is_wider_than_the_terminal(run, monkeypatch, command, columns: int) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    status, out, _ = run(*command)
    assert status == 0
    parts = str(DEMO).split()  # a line is broken at a blank in a path, but nowhere else in it
    lines = [line for line in out.splitlines() if not any(part in line for part in parts)]
    assert max(width_of(line) for line in lines) <= columns
    assert "lea" in out
    assert not re.search(r"^ *%", out, re.MULTILINE)  # "10 %" stays together


def test_names_of_pairs_are_whole_where_they_can_be(run, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    out = run("interactions", *TABLE, "--top", 6)[1]
    assert "…" not in out.replace("… and", "")
    line = next(line for line in out.splitlines() if line.startswith("learning_rate × solver"))
    assert re.search(r"\d\.\d %  █+", line)


def test_the_plot_of_a_density(run, monkeypatch, tmp_path: Path) -> None:
    """All of the target lies in the upper half of x, whose axis is a log scale over three decades."""
    random = np.random.default_rng(0)
    x = 10 ** random.uniform(-3, 0, 2000)
    kind = np.where(random.random(2000) < 0.5, "good", "bad")
    path = tmp_path / "t.csv"
    loss = np.where((x > 10**-1.5) & (kind == "good"), random.random(2000), 2 + random.random(2000))
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([("x", "kind", "loss"), *zip(x, kind, loss, strict=True)])
    monkeypatch.setenv("COLUMNS", "60")
    status, out, err = run("densities", path, "x", "kind", "--objective", "loss", *QUICK)
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert "log scale" in lines
    labels = next(line for line in lines if re.fullmatch(r"\s+[\d. ]+", line))
    assert [float(text) for text in labels.split()] == pytest.approx([0.003, 0.01, 0.03, 0.1, 0.3])
    plot = [line[7:] for line in lines if "│" in line]
    assert len(plot) == 7
    assert all(not set(line[:20]) & set("▃▄▅▆▇█") for line in plot)  # the lower half is empty
    assert any("▒" in line[30:] for line in plot)  # the region's line across the target's area
    ruler = next(line for line in lines if "└" in line)
    for mark in re.finditer("[┴┷]", ruler):
        around = labels[max(0, mark.start() - 2) : mark.start() + 3].strip()
        assert around, "every mark has its label under it"
    good = next(line for line in lines if line.startswith("Good values"))
    assert float(good.split()[2]) == pytest.approx(10**-1.5, rel=0.25)
    assert any(line.split()[:1] == ["good"] and "100 %" in line for line in lines)


def test_where_a_conditional_parameter_is_active(run, tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    sgd = random.random(1000) < 0.4
    momentum = np.where(sgd, random.random(1000), np.nan)
    loss = np.where(sgd, np.abs(np.nan_to_num(momentum) - 0.8), 2.0) + random.random(1000) / 100
    path = tmp_path / "t.csv"
    rows = zip(np.where(sgd, "sgd", "adam"), ["" if np.isnan(m) else m for m in momentum], loss, strict=True)
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([("optimizer", "momentum", "loss"), *rows])
    status, out, _ = run("densities", path, "momentum", "--objective", "loss", *QUICK)
    assert status == 0
    said = r"active in 100 % of the best 10 % and in (39|4\d) % of all rows; only these rows are drawn"
    assert re.search(said, " ".join(out.split()))
    good = next(line for line in out.splitlines() if line.startswith("Good values"))
    low, high = (float(text) for text in re.findall(r"([\d.]+) to ([\d.]+)", good)[0])
    assert low < 0.8 < high


def test_forms_hold_what_python_has(run, tmp_path: Path) -> None:
    few = tmp_path / "few.csv"  # every command reads and fits them again
    few.write_text("\n".join(Path(DEMO).read_text(encoding="utf-8").splitlines()[:401]), encoding="utf-8")
    table = (few, *TABLE[1:])
    a = pa.analyze(few, "error", exclude=["train_seconds"])
    answer = json.loads(run("profile", *table, "--format", "json")[1])
    profile = a.profile()
    assert [row["ratio"] for row in answer["profile"]] == profile.to_dict()["ratio"]
    assert (answer["estimator"], answer["notes"]) == ("surrogate", list(profile.notes))
    counts = ("--region", 0.5, "--estimator", "counts", "--draws", 100, "--seed", 3, "--format", "csv")
    found = a.profile(0.5, estimator="counts", draws=100, seed=3)
    assert run("profile", *table, *counts)[1] == found.to_csv()
    ladder = run("profile", *table, "--ladder", "0.013,0.25", "--estimator", "counts")[1]
    assert "best 1.3 %  best 25 %" in ladder
    pairs = a.interactions(0.2)
    answer = json.loads(run("interactions", *table, "--target", 0.2, "--format", "json")[1])
    assert [row["interaction"] for row in answer["interactions"]] == [row.interaction for row in pairs.rows]
    assert run("interactions", *table, "--target", 0.2, "--format", "markdown")[1] == pairs.to_markdown()
    cells = list(csv.DictReader(io.StringIO(run("densities", *table, "epochs", "solver", "--format", "csv")[1])))
    epochs = a.densities("epochs")
    assert [float(row["target"]) for row in cells if row["parameter"] == "epochs"] == epochs.target.tolist()
    assert [row["cell"] for row in cells if row["parameter"] == "solver"] == ["adam", "sgd"]
    answer = json.loads(run("densities", *table, "learning_rate", "--format", "json")[1])
    (found,) = answer["densities"]
    assert found["cells"][0]["low"] == a.densities("learning_rate").edges[0]
    assert run("densities", *table, "solver", "--format", "markdown")[1].startswith("| solver | the best 10 % |")


def test_a_long_command_is_read_by_a_shell_as_one() -> None:
    command = "pedanova analyze 'my trials.csv' --objective error --where 'a > 1 and b < 2' --target 0.3"
    shown = with_command(f"Next, a wider target: {command}", 40)
    assert max(width_of(line) for line in shown.splitlines()) <= 40
    first, *rest = shown.splitlines()
    assert first == "Next, a wider target:"
    continued = "\n".join(rest).replace("\\\n", "")  # as a shell does; shlex does not
    assert shlex.split(continued) == shlex.split(command)


def test_a_saved_analysis_is_a_source(run, tmp_path: Path) -> None:
    saved = tmp_path / "run.pedanova"
    assert run("analyze", *TABLE, *QUICK, "--save", saved)[0] == 0
    for command in (["profile", saved, "--estimator", "counts"], ["densities", saved, "units", *QUICK]):
        assert run(*command)[0] == 0, command
    kept, table = (run("interactions", *source, "--format", "csv") for source in ((saved,), TABLE))
    assert kept[:2] == table[:2]  # few rows are kept in the file
    pa.analyze(DEMO, "error", exclude="train_seconds").save(saved, rows=False)
    status, _, err = run("interactions", saved)
    assert status == 2
    assert "rows are no longer available" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["densities", *TABLE, "unit"], "no parameter is called 'unit'; did you mean 'units'?"),
        (["densities", *TABLE, "UNITS"], "did you mean 'units'?"),
        (["densities", *TABLE, "\x1b[31mzzz\n"], "no parameter is called"),
        (["densities", *TABLE, "--format", "yaml"], "invalid choice: 'yaml'"),
        (["profile", *TABLE, "--region", "nope"], "no column is called 'nope'"),
        (["profile", *TABLE, "--target", "0.1"], "no option is called '--target'"),
        (["profile", *TABLE, "--ladder", "0.1,much"], "--ladder 'much' must be a quantile"),
        (["profile", *TABLE, "--ladder", "2"], "--ladder 2.0 must be a quantile above 0 and at most 1"),
        (["interactions", *TABLE, "--cells", "many"], "--cells many"),
        (["interactions", *TABLE, "--cells", "-3"], "--cells"),
        (["interactions", *TABLE, "--top", "-1"], "must be 0 or more"),
        (["interactions", *TABLE, "--params", "units"], "two"),
        (["report", *TABLE, *QUICK, "-o", "/no/such/folder/x.html"], "cannot be written"),
        (["report"], "arguments are required: SOURCE"),
        (["densities", "absent.csv"], "absent.csv does not exist"),
    ],
)
def test_a_mistake_is_one_line(run, arguments: list[object], message: str) -> None:
    status, out, err = run(*arguments)
    assert (status, out) == (2, "")
    assert message in err
    assert len(err.strip().splitlines()) == 1
    assert "\x1b" not in err


@pytest.mark.parametrize("command", ["analyze", "profile", "interactions", "densities", "compare", "reduce"])
def test_hostile_names_never_steer_the_terminal(run, hostile: Path, command: str) -> None:
    options = QUICK if command in ("analyze", "densities") else ()
    status, out, err = run(command, hostile, "--objective", "y", *options)
    assert status == 0, err
    unseen = {letter for letter in out + err if letter != "\n" and not letter.isprintable()}
    assert unseen == set()
    assert "two\nlines" not in out


def test_a_real_terminal(hostile: Path) -> None:
    """Colours are our own few; every other control character is gone, in the forms for scripts too."""
    forms = {"text": True, "csv": False, "json": False, "markdown": False}
    asked = [["analyze", str(hostile), "--objective", "y", "--format", form, *map(str, QUICK)] for form in forms]
    density = ["densities", str(hostile), "--objective", "y", *map(str, QUICK)]
    *tables, coloured, plainly, dumb = in_a_terminal(
        *((words, {}) for words in (*asked, density)), (density, {"NO_COLOR": "1"}), (density, {"TERM": "dumb"})
    )
    for out, colours in zip(tables, forms.values(), strict=True):
        assert ("\x1b[36m" in out) == colours
        plain = re.sub(r"\x1b\[(0|1|2|36)m", "", out)
        assert {letter for letter in plain if letter not in "\r\n" and not letter.isprintable()} == set()
        if not colours:
            assert "\x1b" not in out
    assert "\x1b[36m" in coloured
    assert "\x1b" not in plainly
    assert "\x1b" not in dumb


END = "-- the end of one command --"
ALL = f"""
import json, os, sys
from pedanova.cli import main
usual = dict(os.environ)
for words, environment in json.loads(sys.argv[1]):
    os.environ.clear()
    os.environ.update(usual | environment)
    print({END!r} if main(words) == 0 else "")
"""


def in_a_terminal(*commands: tuple[list[str], dict[str, str]]) -> list[str]:
    """What each prints in its environment, one after the other in a process whose output is a terminal."""
    import pty

    parent, child = pty.openpty()
    command = [sys.executable, "-c", ALL, json.dumps(commands)]
    given = {k: v for k, v in os.environ.items() if k != "NO_COLOR"} | {"TERM": "xterm"}
    with subprocess.Popen(command, stdout=child, stderr=subprocess.PIPE, env=given) as process:
        os.close(child)
        read = b""
        while True:
            try:
                part = os.read(parent, 65536)
            except OSError:  # how Linux says that the other end is closed
                break
            if not part:
                break
            read += part
        errors = process.stderr.read().decode() if process.stderr else ""
    os.close(parent)
    assert process.returncode == 0, errors
    *told, rest = read.decode().split(END)
    assert (len(told), rest.strip()) == (len(commands), "")
    return told


def test_bare_pedanova_tells_what_there_is(run) -> None:
    status, out, err = run()
    assert (status, err) == (0, "")
    assert max(len(line) for line in out.splitlines()) <= 90
    assert all(f"pedanova {command.name}" in out for command in COMMANDS)


def test_the_report_opens_a_browser_only_if_asked(run, monkeypatch, tmp_path: Path) -> None:
    shown: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda address: shown.append(address) or False)
    page = tmp_path / "my page.html"
    few = tmp_path / "few.csv"
    few.write_text("\n".join(f"{i % 7},{i % 5},{i * 37 % 11}" if i else "a,b,y" for i in range(60)))
    report = ("report", few, "--objective", "y", "--direction", "min", *QUICK, "-o", page)
    status, out, err = run(*report)
    assert (status, shown, err) == (0, [], "")
    assert str(page) in out
    status, _, err = run(*report, "--open")
    assert (status, shown) == (0, [page.as_uri()])
    assert "no browser could be opened" in err


def commands_of_the_help() -> list[str]:
    parser = build_parser()
    found = [parser.epilog or ""]
    for action in parser._actions:
        if action.dest == "command":
            found += [command.epilog or "" for command in action.choices.values()]
    joined = "\n".join(found).replace("\\\n", " ")
    return [line.strip() for line in joined.splitlines() if line.strip().startswith("pedanova ")]


def test_every_command_has_examples_in_its_help() -> None:
    assert {shlex.split(line)[1] for line in commands_of_the_help()} == {command.name for command in COMMANDS}


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with every file that the examples name."""
    import optuna
    import pandas as pd

    folder = tmp_path_factory.mktemp("workshop")
    random = np.random.default_rng(0)
    rows = 520  # the best 1 % are five rows
    table = pd.DataFrame(
        {
            "learning_rate": 10 ** random.uniform(-5, 0, rows),
            "layers": random.integers(1, 6, rows),
            "optimizer": random.choice(["adam", "sgd"], rows),
            "epochs": random.choice([5, 10, 20, 29], rows),
            "seed": random.integers(0, 5, rows),
            "train_seconds": random.random(rows),
            "memory_over": random.normal(size=rows),
        }
    )
    table["error"] = np.abs(np.log10(table["learning_rate"]) + 3) + random.random(rows)
    table["latency"] = 3 * table["layers"] + random.random(rows)
    table["loss"], table["accuracy"] = table["error"], -table["error"]
    table.to_csv(folder / "trials.csv", index=False)
    table.to_parquet(folder / "trials.parquet")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(study_name="mlp", storage=f"sqlite:///{folder}/optuna.db")
    space = {"learning_rate": optuna.distributions.FloatDistribution(1e-5, 1, log=True)}
    for row in table[:120].to_dict("records"):
        params = {"learning_rate": row["learning_rate"]}
        on_the_way = {1: row["error"] + 1, 10: row["error"]}
        study.add_trial(
            optuna.create_trial(params=params, distributions=space, value=row["error"], intermediate_values=on_the_way)
        )
    return folder


# `demo` has tests of its own in test_main.py; one report and one page are as good as three: the others ask the same.
PAGES = ("pedanova report", "pedanova explore")
ALIKE = [line for page in PAGES for line in [one for one in commands_of_the_help() if one.startswith(page)][1:]]
EXAMPLES = [line for line in commands_of_the_help() if not line.startswith("pedanova demo") and line not in ALIKE]


@pytest.mark.parametrize("line", ALIKE)
def test_the_other_pages_are_understood(line: str) -> None:
    assert build_parser().parse_args(shlex.split(line)[1:]).command in line


@pytest.mark.parametrize("line", EXAMPLES)
def test_the_examples_run(run, workshop: Path, monkeypatch, line: str) -> None:
    monkeypatch.chdir(workshop)
    words = shlex.split(line)[1:]
    if words[0] == "explore":  # until Ctrl-C
        with served(*words[1:]) as explorer:
            assert explorer.interrupt() == 0
        return
    if words[0] == "mcp":  # serves until its input ends: tests of the server run it
        assert build_parser().parse_args(words).command == "mcp"
        return
    status, _, err = run(*words)
    assert status == 0, err


def test_the_document_shows_commands() -> None:
    """They are run, and what they print is held to the page, by tests/test_documents.py."""
    text = (ROOT / "docs" / "terminal.md").read_text(encoding="utf-8")
    assert len(re.findall(r"^\$ (pedanova .*)$", text, re.MULTILINE)) >= 8


SPACE = [Note("space", f"bounds of {name}", subject=name) for name in ("a", "b, c", "d")]
ODD = Note("unused", "looks like an id", subject="id")
RESULTS = Note("unused", "named like results and left out: acc; name in ", Arg("params"), " what is a setting")
ROWS = [Note("rows", Count(3), " of ", Count(9), " rows failed"), Note("rows", Count(1), " rows were pruned")]
DOUBTS = [Note("doubt", "named like a seed", subject=name) for name in ("s", "t")]


def test_one_line_for_each_kind() -> None:
    found = [note.in_shell() for note in in_short([*DOUBTS, *ROWS, *SPACE, ODD, RESULTS, Note("source", "read so")])]
    assert found == [
        "s, t: named like a seed",
        "3 of 9 rows failed; 1 row was pruned",
        "left out: id; --params selects the columns to use",
        "--notes prints all 9 notes",
    ]
    assert [note.in_shell() for note in in_short([*SPACE, ODD, RESULTS])] == [
        "left out: id; --params selects the columns to use",
        "named like results and left out: acc; name in --params what is a setting",
        "ranges guessed from the data: a, 'b, c', d; --space sets them",
        "--notes prints all 5 notes",
    ]
    assert [note.in_shell() for note in in_short(SPACE[:1])][-1] == "--notes prints the whole note"
    assert in_short([]) == []
    assert in_short(ROWS[:1]) == ROWS[:1]


@pytest.fixture
def table(tmp_path: Path) -> str:
    file = tmp_path / "t.csv"
    rng = np.random.default_rng(0)
    lines = [
        f"{i},{rng.uniform():.4f},{rng.integers(1, 30)},{rng.uniform():.4f},{rng.uniform():.4f}" for i in range(80)
    ]
    file.write_text("\n".join(["id,lr,depth,train_loss,y", *lines]))
    return str(file)


def test_the_command_line(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["analyze", table, "--objective", "y", "--estimator", "counts", "--draws", "0"]

    def said(*more: str) -> str:
        assert main([*asked, *more]) == 0
        return capsys.readouterr().out

    short, full, quiet = said(), said("--notes"), said("--quiet")
    assert "left out: id, train_loss" in short
    assert "bounds" not in short
    assert "train_loss" in short
    assert "bounds" in full
    assert len(full) > len(short) > len(quiet)
    assert quiet.splitlines()[0].split()[0] == "parameter"
    assert "Notes" not in quiet
    assert quiet.strip() in short


def test_a_lone_note_about_the_source_needs_no_hint() -> None:
    source, guess = Note("source", "read from a study"), Note("space", "guessed", subject="lr")
    assert in_short([source]) == []
    assert len(in_short([source, guess])) == 2
