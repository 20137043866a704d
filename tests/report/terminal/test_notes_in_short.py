"""What a terminal shows of the notes: few warnings first, guesses by kind, the rest on demand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pedanova.base.notes import Count, Note
from pedanova.cli.main import main
from pedanova.errors import Arg
from pedanova.report.terminal.tables import in_short

SPACE = [Note("space", f"bounds of {name}", subject=name) for name in ("a", "b, c", "d")]
ODD = Note("unused", "looks like an id", subject="id")
RESULTS = Note("unused", "named like results and left out: acc; name in ", Arg("params"), " what is a setting")
ROWS = [Note("rows", Count(3), " of ", Count(9), " rows failed"), Note("rows", Count(1), " rows were pruned")]
DOUBTS = [Note("doubt", "named like a seed", subject=name) for name in ("s", "t")]


def test_one_line_for_each_kind() -> None:
    found = [note.in_shell() for note in in_short([*DOUBTS, *ROWS, *SPACE, ODD, RESULTS, Note("source", "read so")])]
    assert found == [
        "s, t: named like a seed",
        "3 of 9 rows failed; 1 rows were pruned",
        "domains guessed from the data: a, 'b, c', d; pass --space to give them",
        "left out: id; name in --params what is a setting",
        "named like results and left out: acc; name in --params what is a setting",
        "5 notes in full: --notes",
    ]
    assert [note.in_shell() for note in in_short(SPACE[:1])][-1] == "1 note in full: --notes"
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
    assert "domains guessed from the data: lr, depth" in short
    assert "bounds" not in short
    assert "train_loss" in short
    assert short.index("is minimised") < short.index("domains guessed")
    assert "bounds" in full
    assert len(full) > len(short) > len(quiet)
    assert quiet.splitlines()[0].split()[0] == "parameter"
    assert "Notes" not in quiet
    assert quiet.strip() in short
