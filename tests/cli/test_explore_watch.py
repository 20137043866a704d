"""`pedanova explore --watch` as a process: rows arrive while it runs."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from helpers.explorers import Served, post, served


def append(path: Path, rows: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    with path.open("a", encoding="utf-8") as file:
        file.writelines(f"{a!r},{b!r},{(a - 0.3) ** 2 + b / 9!r}\n" for a, b in random.random((rows, 2)).tolist())


def rows_in(explorer: Served) -> int:
    asked = {"part": "news", "since": 0, "question": {}}
    return int(post(f"{explorer.origin}/ask", json=asked, headers=explorer.headers, timeout=60).json()["rows"])


def test_rows_arrive_and_ctrl_c_ends_it(tmp_path: Path) -> None:
    path = tmp_path / "trials.csv"
    path.write_text("x,y,loss\n", encoding="utf-8")
    append(path, 80, 0)
    with served(str(path), "--objective", "loss", "--watch", "--estimator", "counts", "--draws", "100") as explorer:
        assert rows_in(explorer) == 80
        append(path, 20, 1)
        for _ in range(600):
            if rows_in(explorer) == 100:
                break
            time.sleep(0.1)
        else:
            pytest.fail("the rows did not arrive")
        assert explorer.interrupt() == 0


def test_what_cannot_be_watched(run: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    (tmp_path / "a.pedanova").write_bytes(b"")
    for words, told in (
        ((tmp_path / "a.pedanova",), "--watch"),
        ((tmp_path / "none.csv", "--objective", "loss"), "does not exist"),
        ((tmp_path / "*.csv", "--objective", "loss"), "several files"),
    ):
        status, _, errors = run("explore", *words, "--watch", "--no-open")
        assert status == 2
        assert told in errors
        assert len(errors.splitlines()) == 1
