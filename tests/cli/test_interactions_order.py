"""The command interactions: pairs, and sets of more."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

import pedanova as pa


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Only all three of x, y and z tell who is good: an odd number of them is high."""
    rng = np.random.default_rng(0)
    table = rng.random((400, 4))
    loss = (table[:, :3] > 0.5).sum(axis=1) % 2 + 0.01 * rng.random(400)
    path = tmp_path_factory.mktemp("sets") / "trials.csv"
    lines = [",".join(f"{cell:.6f}" for cell in (*row, value)) for row, value in zip(table, loss, strict=True)]
    path.write_text("\n".join(["x,y,z,dull,loss", *lines]))
    return path


def given(place: Path, *words: str) -> tuple[object, ...]:
    return ("interactions", place, "--objective", "loss", "--target", "0.4", "--estimator", "counts", *words)


def test_triples_in_words_and_numbers(run, place: Path) -> None:
    found = pa.analyze(place, "loss").interactions(0.4, order=3, estimator="counts")
    status, out, _ = run(*given(place, "--order", "3"))
    assert status == 0
    assert "of sets of 3" in out
    first = next(line for line in out.splitlines() if "×" in line)
    assert first.startswith("x × y × z ")
    assert "~" not in first
    answer = json.loads(run(*given(place, "--order", "3", "--format", "json"))[1])
    assert [row["interaction"] for row in answer["interactions"]] == [row.interaction for row in found.rows]
    assert run(*given(place, "--order", "3", "--format", "csv"))[1] == found.to_csv()


def test_pairs_are_usual(run, place: Path) -> None:
    assert run(*given(place))[1] == run(*given(place, "--order", "2"))[1]
    rows = list(csv.DictReader(io.StringIO(run(*given(place, "--format", "csv"))[1])))
    assert {"first", "second"} <= set(rows[0])


def test_how_many_are_shown(run, place: Path) -> None:
    out = run(*given(place, "--order", "3", "--top", "1", "--quiet"))[1]
    assert out.count("×") == 2
    assert "… and 3 more sets; --top 0 shows all" in run(*given(place, "--order", "3", "--top", "1"))[1]


def test_a_narrow_terminal(run, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    lines = run(*given(place, "--order", "3", "--quiet"))[1].splitlines()
    assert max(map(len, lines)) <= 40
    assert any(line.startswith("x × y × z ") for line in lines)


@pytest.mark.parametrize(("order", "said"), [("6", "invalid choice: 6"), ("many", "invalid int value: 'many'")])
def test_other_orders_are_refused(run, place: Path, order: str, said: str) -> None:
    status, _, err = run(*given(place, "--order", order))
    assert status == 2
    assert said in err
