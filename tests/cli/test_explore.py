"""The command explore: what it takes, what it refuses, and the lines that it shows."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

import pytest

from helpers.explorers import DEMO, demo, get, post, served
from pedanova.cli.pages import source_of
from pedanova.cli.parser import build_parser
from pedanova.cli.program import main


def options(*words: str) -> argparse.Namespace:
    return build_parser().parse_args(["explore", *words])


@pytest.mark.parametrize(
    "words",
    [
        ["trials.csv"],
        ["my trials.csv", "--objective", "error"],
        ["trials.csv", "--objective", "loss", "--objective", "latency", "--direction", "min", "--direction", "min"],
        ["trials.csv", "--objective", "it's", "--exclude", "a,b", "--where", "epochs >= 10 and optimizer == 'adam'"],
        ["optuna.db", "--study", "mlp", "--threads", "1"],
    ],
)
def test_the_source_is_named_so_that_a_shell_reads_it_again(words: list[str]) -> None:
    """Whatever `analyze` reads from the line is what was typed."""
    given = vars(options(*words))
    again = vars(build_parser().parse_args(["analyze", *shlex.split(source_of(options(*words)))]))
    assert {name: again[name] for name in again.keys() & given.keys() - {"command"}} == {
        name: given[name] for name in again.keys() & given.keys() - {"command"}
    }


def test_the_question_on_the_page_is_not_part_of_the_source() -> None:
    assert source_of(options("trials.csv", "--target", "0.05", "--estimator", "counts", "--port", "1")) == "trials.csv"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--target", "epochs > 10"], "--target epochs > 10 cannot be used for a live page"),
        (["--region", "flag"], "--region flag cannot be used for a live page"),
        (["--group", "solvr"], "no column is called 'solvr'"),
        (["--port", "70000"], "port 70000 cannot be used"),
        (["--target", "0"], "--target 0.0 must be a quantile"),
    ],
)
def test_what_cannot_be_served_is_refused_in_one_line(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explore", DEMO, "--objective", "error", "--no-open", *words]) == 2
    assert said in capsys.readouterr().err


def test_rows_can_be_chosen_by_a_condition(capsys: pytest.CaptureFixture[str]) -> None:
    shared = ["analyze", DEMO, "--objective", "error", "--estimator", "counts", "--draws", "0", "--format", "csv"]
    assert main([*shared, "--within", "epochs >= 10", "--target", "0.2"]) == 0
    within = capsys.readouterr().out
    assert main([*shared, "--region", "epochs >= 10", "--target", "0.2"]) == 0
    assert capsys.readouterr().out == within
    assert main([*shared, "--within", "epochs >= 10", "--within", "epochs <= 20", "--target", "0.2"]) == 0
    both = capsys.readouterr().out
    assert main([*shared, "--within", "10 <= epochs <= 20", "--target", "0.2"]) == 0
    assert capsys.readouterr().out == both
    assert main([*shared, "--within", "nothing > 1"]) == 2


def test_studies_are_named_by_a_column_that_is_no_parameter() -> None:
    with served(DEMO, "--objective", "error", "--group", "solver", "--estimator", "counts") as explorer:
        facts = get(f"{explorer.origin}/facts", headers=explorer.headers).json()
        assert facts["group"] == "solver"
        assert "solver" not in [one["name"] for one in facts["parameters"]]
        asked = {"part": "groups", "question": {}}
        found = post(f"{explorer.origin}/ask", headers=explorer.headers, json=asked, timeout=120).json()
        assert found["column"] == "solver"
        assert len(found["studies"]) == found["total"] > 1


def test_values_can_be_a_band(capsys: pytest.CaptureFixture[str]) -> None:
    shared = ["analyze", DEMO, "--objective", "error", "--estimator", "counts", "--draws", "0", "--format", "json"]
    assert main([*shared, "--target", ">=0.02,<=0.05"]) == 0
    assert "rows with 0.02 ≤ objective ≤ 0.05" in capsys.readouterr().out
    assert main([*shared, "--target", ">=a,<=0.05"]) == 2
    assert "must have a number after >=" in capsys.readouterr().err


def test_what_was_typed_is_what_the_page_begins_with(tmp_path: Path) -> None:
    words = [
        "--target",
        "<=0.05",
        "--region",
        "0.5",
        "--estimator",
        "counts",
        "--title",
        "Mine <b>",
        "--baseline",
        "uniform",
    ]
    with served(*demo(), *words) as explorer:
        facts = get(f"{explorer.origin}/facts", headers=explorer.headers).json()
    assert facts["title"] == "Mine <b>"
    assert facts["start"]["target"] == {"value": [None, 0.05]}
    assert facts["start"]["region"] == {"part": [0, 0.5]}
    assert facts["start"]["baseline"] == "uniform"
    assert facts["source"] == shlex.join([DEMO, "--objective", "error", "--exclude", "train_seconds"])
