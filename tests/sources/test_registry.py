"""Files that hold no trials are named for what they are, with what would help."""

from __future__ import annotations

import pickle
import sqlite3
from pathlib import Path

import pytest

import pedanova as pa
from helpers.common import refuse
from pedanova.errors import DataError, FormatError, PedanovaError


def test_a_foreign_database(tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE users (id INTEGER, name TEXT)")
    database.close()
    refuse(FormatError, "database of no known tool", "users", "sqlite3 -header -csv", of=lambda: pa.analyze(path, "y"))


def test_an_empty_database(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    path.write_bytes(b"")
    refuse(DataError, "empty database", of=lambda: pa.analyze(path, "y"))
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE t (x)")
        database.execute("DROP TABLE t")
    database.close()
    refuse(FormatError, "without any table", of=lambda: pa.analyze(path, "y"))


@pytest.mark.parametrize("name", ["study.db", "trials.csv", "trials.parquet", "log.json"])
def test_a_pointer_of_git_lfs(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n")
    refuse(PedanovaError, "pointer of Git LFS", "git lfs pull", of=lambda: pa.analyze(path, "y"))


def test_a_chart_of_wandb(tmp_path: Path) -> None:
    path = tmp_path / "wandb_export.csv"
    runs = [f"run{i} - val_loss" for i in range(3)]
    names = ["Step", *(f"{run}{end}" for run in runs for end in ("", "__MIN", "__MAX"))]
    path.write_text(",".join(names) + "\n" + ",".join("1" for _ in names) + "\n")
    refuse(DataError, "chart of W&B", "runs table", of=lambda: pa.analyze(path, "y"))


def test_a_pickle_is_never_loaded(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[object, ...]:
            return Path.write_text, (tmp_path / "trapped", "x")

    path = tmp_path / "study.pkl"
    path.write_bytes(pickle.dumps(Trap()))
    refuse(DataError, "pickle", "sqlite:///study.db", "add_trials", of=lambda: pa.analyze(path, "y"))
    assert not (tmp_path / "trapped").exists()


def test_a_workbook(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    path.write_bytes(b"PK\x03\x04")
    refuse(DataError, "Excel workbook", "CSV", of=lambda: pa.analyze(path, "y"))
