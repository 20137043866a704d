"""`pedanova check` as CI runs it: its status, its words, its forms."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from helpers.common import DEMO

BASE = ("check", DEMO, "--objective", "error", "--estimator", "counts", "--draws", 100)


def test_status_says_whether_all_holds(run) -> None:
    status, out, _ = run(*BASE, "--min-trials", 1000, "--require", "learning_rate,units")
    assert status == 0
    assert "All 3 checks passed." in out
    status, out, _ = run(*BASE, "--min-trials", 1001, "--require", "learning_rate")
    assert status == 1
    assert "1 of 2 checks failed: trials." in out
    assert all(len(line) <= 100 for line in out.splitlines())


@pytest.mark.parametrize("form", ["json", "markdown"])
def test_forms(form: str, run, tmp_path: Path) -> None:
    place = tmp_path / "checks"
    asked = ("--max-noise", "5%", "--noise", "lucky_number", "--max-dropped", "0")
    assert run(*BASE, *asked, "--format", form, "-o", place)[0] == 0
    text = place.read_text()
    if form == "json":
        answer = json.loads(text)
        assert answer["passed"] is True
        assert [row["check"] for row in answer["checks"]] == ["dropped", "noise"]
    else:
        assert "| noise lucky\\_number |" in text


def test_against_a_saved_analysis(run, tmp_path: Path) -> None:
    saved = tmp_path / "before.pedanova"
    assert run("analyze", DEMO, "--objective", "error", "--estimator", "counts", "--draws", 0, "--save", saved)[0] == 0
    assert run(*BASE, "--against", saved)[0] == 0


@pytest.mark.parametrize("wrong", [("--max-noise", "7"), ("--min-trials", "many"), ("--require", "nothing")])
def test_what_cannot_be_asked_has_status_2(wrong: tuple[str, str], run) -> None:
    status, out, err = run(*BASE, *wrong)
    assert (status, out) == (2, "")
    assert wrong[1] in err
