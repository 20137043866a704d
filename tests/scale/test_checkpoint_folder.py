"""Checkpoints in a folder: the same bytes as without, after any kill; what is damaged is counted again, never wrong."""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pedanova as pa
from helpers.common import refuse
from pedanova.errors import DataError, FormatError, QueryError, WorkerError
from pedanova.scale import checkpoint_folder, rescan
from pedanova.scale.parts import count_part
from pedanova.scale.readers import Crew

PARTS = 20  # a heap of sixteen and one of four, in one
SPACE = {"x": pa.Int(0, 9), "y": pa.Int(1, 5)}


def write_files(folder: Path) -> Path:
    from pyarrow import parquet
    from pyarrow import table as arrow_table

    random = np.random.default_rng(0)
    folder.mkdir()
    for number in range(PARTS):
        x, y = random.integers(0, 10, 200), random.integers(1, 6, 200)
        table = arrow_table({"x": x, "y": y, "loss": x / 7 + random.random(200)})
        parquet.write_table(table, folder / f"{number:02}.parquet")
    return folder


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_files(tmp_path_factory.mktemp("files") / "data")


@pytest.fixture(scope="module")
def whole(files: Path) -> pa.Analysis:
    return told(files)


def told(files: Path, **options: Any) -> pa.Analysis:
    return pa.analyze(files, "loss", **({"space": SPACE, "stream": True, "threads": 1} | options))


def same_bytes(one: pa.Analysis, two: pa.Analysis) -> None:
    assert one.rows == two.rows
    assert one.notes == two.notes
    for name, tally in two.tallies.items():
        assert one.tallies[name].counts.tobytes() == tally.counts.tobytes()
        assert one.tallies[name].sums.tobytes() == tally.sums.tobytes(), name
    assert one.importance(draws=0).ratios == two.importance(draws=0).ratios


class Counted:
    """How many parts are counted; after some of them the process is interrupted."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, most: int = 1000) -> None:
        self.parts, self.most = 0, most
        monkeypatch.setattr(rescan, "count_part", self)

    def __call__(self, part: Any, *given: Any, **options: Any) -> Any:
        if self.parts + len(part.parts) > self.most:
            raise KeyboardInterrupt
        self.parts += len(part.parts)
        return count_part(part, *given, **options)


def begun(files: Path, place: Path) -> Path:
    """A folder in which 11 of 20 parts are counted."""
    with pytest.MonkeyPatch.context() as patch:
        Counted(patch, 11)
        with pytest.raises(KeyboardInterrupt):
            told(files, checkpoint=f"{place}/")
    return place


@pytest.fixture(scope="module")
def example(files: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return begun(files, tmp_path_factory.mktemp("example") / "run")


@pytest.fixture
def stopped(example: Path, tmp_path: Path) -> Path:
    return shutil.copytree(example, tmp_path / "run")


def test_small_parts_are_kept_sixteen_at_a_time(
    files: Path, whole: pa.Analysis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where there are many of them; here two heaps are many."""
    monkeypatch.setattr(checkpoint_folder, "least_height", lambda _: 1)
    Counted(monkeypatch, 18)
    with pytest.raises(KeyboardInterrupt):
        told(files, checkpoint=f"{tmp_path}/run/")
    assert [path.name[-8:] for path in heaps_in(tmp_path / "run")] == ["1-0.pedh"]
    rest = Counted(monkeypatch)
    same_bytes(told(files, checkpoint=f"{tmp_path}/run/"), whole)
    assert rest.parts == 4


@pytest.mark.parametrize(("parts", "rows", "low"), [(64, 10**6, 1), (63, 10**6, 0), (64, 10**9, 0), (64, None, 0)])
def test_which_heaps_are_kept(parts: int, rows: int | None, low: int) -> None:
    assert checkpoint_folder.least_height(Crew((None,) * parts, rows)) == low


def heaps_in(place: Path) -> list[Path]:
    return sorted(place.glob("heap-*.pedh"))


@pytest.mark.parametrize("threads", [1, 2])
def test_the_answer_is_that_without_a_checkpoint_to_the_last_digit(
    files: Path, whole: pa.Analysis, tmp_path: Path, threads: int
) -> None:
    same_bytes(told(files, threads=threads), whole)
    same_bytes(told(files, threads=threads, checkpoint=f"{tmp_path}/run/"), whole)
    same_bytes(told(files, threads=threads, checkpoint=tmp_path / "run.check"), whole)
    with ThreadPoolExecutor(2) as pool:
        same_bytes(told(files, executor=pool), whole)
        same_bytes(told(files, executor=pool, checkpoint=f"{tmp_path}/pool/"), whole)
    assert len(heaps_in(tmp_path / "run")) == 1  # all together; what it is made of is gone


def test_a_run_goes_on_from_its_heaps(
    files: Path, whole: pa.Analysis, stopped: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(heaps_in(stopped)) == 11
    (stopped / "mine.txt").write_text("not yours")
    rest = Counted(monkeypatch)
    again = told(files, checkpoint=stopped)  # a folder that is there needs no slash
    assert rest.parts == PARTS - 11
    same_bytes(again, whole)
    counted = Counted(monkeypatch, 0)
    same_bytes(told(files, checkpoint=stopped), again)  # at once
    assert counted.parts == 0
    assert sorted(path.name for path in stopped.iterdir())[-1] == "mine.txt"
    assert len(list(stopped.iterdir())) == 3


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-100])


def empty(file: Path) -> None:
    file.write_bytes(b"")


def turn_a_bit(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 4
    file.write_bytes(content)


def swap(file: Path) -> None:
    other = next(path for path in heaps_in(file.parent) if path != file)
    mine, its = file.read_bytes(), other.read_bytes()
    file.write_bytes(its)
    other.write_bytes(mine)


def other_run(file: Path) -> None:
    file.write_bytes(file.read_bytes().replace(file.name[5:21].encode(), b"0" * 16))


@pytest.mark.parametrize("damage", [cut, empty, turn_a_bit, swap, other_run])
def test_a_damaged_heap_is_counted_again(
    files: Path, whole: pa.Analysis, stopped: Path, damage: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    damage(heaps_in(stopped)[5])
    rest = Counted(monkeypatch)
    same_bytes(told(files, checkpoint=stopped), whole)
    assert rest.parts == PARTS - 11 + (2 if damage is swap else 1)
    (last,) = heaps_in(stopped)
    (turn_a_bit if damage is swap else damage)(last)
    again = Counted(monkeypatch)
    same_bytes(told(files, checkpoint=stopped), whole)
    assert again.parts == PARTS


def test_half_a_file_that_a_killed_worker_left_is_no_heap(files: Path, whole: pa.Analysis, stopped: Path) -> None:
    (stopped / f".{heaps_in(stopped)[0].name}.77-1.part").write_bytes(b"\x89PEDH")
    same_bytes(told(files, checkpoint=stopped), whole)


OTHER: dict[str, tuple[dict[str, Any], str]] = {
    "objective": ({"objective": "x", "params": ["y"], "space": None}, "objective is loss, not x"),
    "space": ({"space": {"x": pa.Int(0, 12)}}, "the space is another"),
    "where": ({"where": "x > 5"}, "where was None"),
    "levels": ({"levels": [0.1]}, "levels was None"),
}


@pytest.mark.parametrize("case", OTHER)
def test_another_question_is_refused(files: Path, stopped: Path, case: str) -> None:
    options, words = OTHER[case]
    given = {"objective": "loss", "space": SPACE, "checkpoint": stopped} | options
    refuse(QueryError, str(stopped), words, of=lambda: pa.analyze(files, **given))
    assert len(heaps_in(stopped)) == 11


def test_other_files_are_refused(tmp_path: Path) -> None:
    files = write_files(tmp_path / "data")
    stopped = begun(files, tmp_path / "run")
    os.utime(files / "03.parquet", (1, 1))
    refuse(QueryError, "files are others", of=lambda: told(files, checkpoint=stopped))


def test_places_where_nothing_can_be_kept(files: Path, stopped: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for place, words in {
        "http://127.0.0.1:9/run/": "cannot be written",
        f"{tmp_path}/file/": "it is a file",
        f"{tmp_path}/no/such/": "make it first",
    }.items():
        refuse(DataError, words, of=lambda place=place: told(files, checkpoint=place))
    cut(stopped / checkpoint_folder.HEAD)
    refuse(FormatError, "delete it to begin anew", of=lambda: told(files, checkpoint=stopped))


def test_a_part_that_breaks_between_two_runs_is_left_out_of_everything(tmp_path: Path) -> None:
    """Thresholds and heaps were found with its rows: all is found anew."""
    files = write_files(tmp_path / "data")
    stopped = begun(files, tmp_path / "run")
    bad = files / "15.parquet"
    state, content = bad.stat(), bytearray(bad.read_bytes())
    content[4 : len(content) // 2] = bytes(len(content) // 2 - 4)
    bad.write_bytes(content)
    os.utime(bad, ns=(state.st_atime_ns, state.st_mtime_ns))
    a = told(files, checkpoint=stopped, on_error="skip")
    assert [bad.name in note for note in a.notes if note.startswith("skipped")] == [True]
    again = told(files, checkpoint=stopped, on_error="skip")
    same_bytes(again, a)
    bad.unlink()
    assert a.tallies == told(files).tallies


class Noting:
    """Workers in processes, and what of their results comes here."""

    def __init__(self, pool: ProcessPoolExecutor) -> None:
        self.pool, self._max_workers = pool, 2
        self.came: list[tuple[str, int]] = []

    def submit(self, function: Any, *given: Any) -> Future[Any]:
        future = self.pool.submit(function, *given)
        future.add_done_callback(lambda done: self._note(function.__name__, done))
        return future

    def _note(self, name: str, done: Future[Any]) -> None:
        if not done.cancelled() and done.exception() is None:
            self.came.append((name, len(pickle.dumps(done.result()))))


@pytest.fixture
def noting() -> Iterator[Noting]:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        yield Noting(pool)


def die_at_the_18th(bundle: Any, *given: Any, **options: Any) -> Any:
    if bundle.places[0] == 18:
        os.kill(os.getpid(), signal.SIGKILL)
    return count_part(bundle, *given, **options)


@pytest.mark.slow
def test_names_alone_come_from_workers_in_processes(
    files: Path, whole: pa.Analysis, tmp_path: Path, noting: Noting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One is killed first; the same call goes on, and every heap's name comes once."""
    place = f"{tmp_path}/run/"
    monkeypatch.setattr(rescan, "count_part", die_at_the_18th)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as doomed:
        refuse(WorkerError, "a worker was lost", of=lambda: told(files, executor=doomed, checkpoint=place))
    monkeypatch.undo()
    kept = len(heaps_in(tmp_path / "run"))
    assert 10 <= kept < PARTS
    a = told(files, executor=noting, checkpoint=place)
    assert {name for name, _ in noting.came} == {"keep_heap"}
    assert len(noting.came) == (PARTS - kept) + 2 + 1
    assert max(size for _, size in noting.came) < 200
    same_bytes(a, whole)


SCRIPT = """
import sys, pedanova as pa
from pedanova.scale import rescan
plain = rescan.count_part
def telling(*arguments, **options):
    print("counting", flush=True)
    return plain(*arguments, **options)
rescan.count_part = telling
space = {"x": pa.Int(0, 9), "y": pa.Int(1, 5)}
pa.analyze(sys.argv[1], "loss", space=space, stream=True, threads=1, checkpoint=sys.argv[2])
"""


@pytest.mark.slow
def test_the_driver_may_be_killed(
    files: Path, whole: pa.Analysis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = [sys.executable, "-c", SCRIPT, str(files), f"{tmp_path}/run/"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        for _ in range(8):
            assert running.stdout.readline() == "counting\n"
        running.kill()
    kept = len(heaps_in(tmp_path / "run"))
    assert kept >= 7
    rest = Counted(monkeypatch)
    same_bytes(told(files, checkpoint=f"{tmp_path}/run/"), whole)
    assert rest.parts == PARTS - kept
