"""Files are refused before the work, and replaced whole or not at all."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pedanova as pa
from helpers.common import refuse
from pedanova.base.files import check_output_path, write_file
from pedanova.cli.program import main
from pedanova.errors import DataError

X = np.random.default_rng(0).uniform(size=60)
ANALYSIS = pa.analyze({"x": X, "loss": X**2}, "loss")


@pytest.mark.parametrize("path", ["", " ", ".", "a\0b", 3, None, b"x", "missing/folder/t.pedanova", "x" * 400])
def test_what_is_no_place(path: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for write in (ANALYSIS.save, ANALYSIS.report, check_output_path):
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
    write_file(file, b"old")

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    refuse(DataError, "No space left", of=lambda: write_file(file, b"new"))
    assert file.read_bytes() == b"old"
    assert [place.name for place in tmp_path.iterdir()] == ["t.txt"]


def test_links_and_modes_stay(tmp_path: Path) -> None:
    file, link = tmp_path / "t.txt", tmp_path / "link"
    file.write_bytes(b"old")
    file.chmod(0o640)
    link.symlink_to(file)
    write_file(link, b"new")
    assert (file.read_bytes(), link.is_symlink(), file.stat().st_mode & 0o777) == (b"new", True, 0o640)


RNG = np.random.default_rng(0)
SMALL_X = RNG.uniform(size=(400, 6))
SMALL_ANALYSIS = pa.analyze(
    {**{f"x{i}": SMALL_X[:, i] for i in range(6)}, "loss": SMALL_X[:, 0] ** 2}, "loss", scan=pa.Scan(threads=1)
)
WRITER = """
import sys
from pathlib import Path
from pedanova.base.files import write_file
print("ready", flush=True)
while True:
    write_file(Path(sys.argv[1]), b"n" * (8 << 20))
    write_file(Path(sys.argv[1]), b"o" * (8 << 20))
"""


def names(folder: Path) -> list[str]:
    return sorted(place.name for place in folder.iterdir())


@contextmanager
def largest_file(limit: int) -> Iterator[None]:
    """The limit on the size of files; Python ignores the signal that goes with it."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("write", [SMALL_ANALYSIS.save, SMALL_ANALYSIS.report], ids=["analysis", "page"])
@pytest.mark.parametrize("limit", [1, 100])
def test_a_file_may_not_grow(tmp_path: Path, write: Any, limit: int) -> None:
    """The limit strikes in the middle of the content."""
    file = tmp_path / "out"
    file.write_bytes(b"old")
    with largest_file(limit), pytest.raises(DataError) as refused:
        write(file)
    assert str(refused.value) == f"{file} cannot be written: File too large"
    assert (file.read_bytes(), names(tmp_path)) == (b"old", ["out"])


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 64 kilobytes, which only root may make."""
    disk = tmp_path / "disk"
    disk.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)], capture_output=True)
    if made.returncode:
        pytest.skip("no disk can be mounted here")
    try:
        yield disk
    finally:
        subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.parametrize("write", [SMALL_ANALYSIS.save, SMALL_ANALYSIS.report], ids=["analysis", "page"])
def test_the_disk_is_full(small_disk: Path, write: object) -> None:
    file = small_disk / "out"
    file.write_bytes(b"old")
    (small_disk / "ballast").write_bytes(b"x" * (60 << 10))
    refuse(DataError, "No space left", of=lambda: write(file))  # type: ignore[operator]
    assert (file.read_bytes(), names(small_disk)) == (b"old", ["ballast", "out"])


def test_a_device_that_takes_nothing() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    refuse(DataError, "No space left", of=lambda: write_file(Path("/dev/full"), b"x" * (1 << 16)))


def test_killed_in_the_midst_of_saving(tmp_path: Path) -> None:
    """Whenever the kill comes, the file is the old one or the new one, to the last byte."""
    file = tmp_path / "out"
    old, new = b"o" * (8 << 20), b"n" * (8 << 20)
    write_file(file, old)
    for delay in np.linspace(0.0, 0.08, 9):
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(file)], stdout=subprocess.PIPE)
        assert writer.stdout is not None
        writer.stdout.readline()
        time.sleep(float(delay))
        os.kill(writer.pid, signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
        assert file.read_bytes() in (old, new)


def test_two_threads_write_one_file(tmp_path: Path) -> None:
    file = tmp_path / "out"
    contents = [bytes([letter]) * 200_000 for letter in b"abcd"]
    failed: list[Exception] = []

    def write(content: bytes) -> None:
        try:
            for _ in range(20):
                write_file(file, content)
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=write, args=(content,)) for content in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert file.read_bytes() in contents
    assert names(tmp_path) == ["out"]
