"""Files are refused before the work, and replaced whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pedanova as pa
from helpers.common import refuse
from pedanova.base.files import check_place, write_whole
from pedanova.cli.main import main
from pedanova.errors import DataError

X = np.random.default_rng(0).uniform(size=60)
ANALYSIS = pa.analyze({"x": X, "loss": X**2}, "loss")


@pytest.mark.parametrize("path", ["", " ", ".", "a\0b", 3, None, b"x", "missing/folder/t.pedanova", "x" * 400])
def test_what_is_no_place(path: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for write in (ANALYSIS.save, ANALYSIS.report, check_place):
        refuse(DataError, of=lambda write=write: write(path))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_and_a_place_without_permission(tmp_path: Path) -> None:
    refuse(DataError, "it is a folder", of=lambda: ANALYSIS.save(tmp_path))
    if os.geteuid():
        tmp_path.chmod(0o500)
        refuse(DataError, "no permission", of=lambda: ANALYSIS.save(tmp_path / "t.pedanova"))
        tmp_path.chmod(0o700)


def test_the_command_line_says_so_before_the_work(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for option in ("--output", "--save", "--report"):
        asked = ["analyze", str(tmp_path / "no.csv"), "--objective", "y", option, str(tmp_path)]
        assert main(asked) == 2
        assert "it is a folder" in capsys.readouterr().err  # not that there is no such table


def test_the_old_file_stands_where_the_new_one_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "t.txt"
    write_whole(file, b"old")

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    refuse(DataError, "No space left", of=lambda: write_whole(file, b"new"))
    assert file.read_bytes() == b"old"
    assert [place.name for place in tmp_path.iterdir()] == ["t.txt"]


def test_links_and_modes_stay(tmp_path: Path) -> None:
    file, link = tmp_path / "t.txt", tmp_path / "link"
    file.write_bytes(b"old")
    file.chmod(0o640)
    link.symlink_to(file)
    write_whole(link, b"new")
    assert (file.read_bytes(), link.is_symlink(), file.stat().st_mode & 0o777) == (b"new", True, 0o640)
