"""Faults in the midst of reading, injected: files that change, lines that are half there, servers that go away."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pytest
from optuna.storages.journal import JournalFileBackend

import pedanova as pa
from helpers.common import refuse
from helpers.logs import tolerate
from helpers.proxy import proxy_to
from helpers.servers import PASSWORD, mariadb_url, postgresql_url  # noqa: F401
from helpers.studies import make
from pedanova.data.records import Records
from pedanova.errors import DataError, FormatError, PartError
from pedanova.sources import read_records
from pedanova.sources.scans.scan import scan_place
from pedanova.sources.tables.files import Stamp, read_steadily

pytestmark = pytest.mark.filterwarnings("ignore")
optuna.logging.set_verbosity(optuna.logging.CRITICAL)
ROWS = 3000
RNG = np.random.default_rng(0)
TABLE = {name: RNG.uniform(size=ROWS) for name in ("x", "y", "loss")}


def write_table(file: Path) -> Path:
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import feather, parquet

    table = arrow.table(TABLE)
    match file.suffix:
        case ".parquet":
            parquet.write_table(table, file, row_group_size=500)
        case ".arrow":
            feather.write_feather(table, str(file), compression="uncompressed", chunksize=500)
        case _:
            rows = "\n".join(f"{x},{y},{loss}" for x, y, loss in zip(*TABLE.values(), strict=True))
            file.write_text(f"x,y,loss\n{rows}\n")
    return file


def cut(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 3)


def grow(file: Path) -> None:
    with file.open("a") as out:
        out.write("0.5,0.5,0.5\n")


def rewrite(file: Path) -> None:
    """Other bytes, as many of them, and by another file that takes its place."""
    other = file.with_name("other")
    other.write_bytes(b"x,y,loss\n" + b"0" * (file.stat().st_size - 9))
    os.utime(other, (1, 1))
    other.replace(file)


def remove(file: Path) -> None:
    file.unlink()


FAULTS = [cut, grow, rewrite, remove]


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".arrow"])
def test_a_part_that_changes_under_its_reader(tmp_path: Path, suffix: str, fault: Callable[[Path], None]) -> None:
    """After the first batch the file is another: what was read of it is refused, and the process lives."""
    file = write_table(tmp_path / f"t{suffix}")
    scan = scan_place(str(file))
    assert scan is not None
    found = scan.parts[0].batches(("x", "loss"))
    next(found)
    fault(file)
    words = "removed while it was being read" if fault is remove else "changed while it was being read"
    refuse(PartError, words, of=lambda: list(found))
    refuse(PartError, "while it was being read", of=lambda: list(scan.parts[0].batches(("x", "loss"))))


class Meddling(ThreadPoolExecutor):
    """An executor under which a file changes once some parts were read."""

    def __init__(self, file: Path, fault: Callable[[Path], None], after: int) -> None:
        super().__init__(max_workers=1)
        self.file, self.fault, self.left = file, fault, after

    def submit(self, fn: Any, /, *args: Any, **options: Any) -> Future[Any]:
        self.left -= 1
        if self.left == 0:
            self.fault(self.file)
        return super().submit(fn, *args, **options)


@pytest.mark.parametrize("fault", [cut, grow, rewrite])
@pytest.mark.parametrize("after", [1, 4, 6])
def test_a_table_that_changes_between_two_passes(tmp_path: Path, fault: Callable[[Path], None], after: int) -> None:
    """Refused in one line; or, where that is asked for, left out of everything."""
    for name in ("a.csv", "b.csv"):
        write_table(tmp_path / name)
    table = str(tmp_path / "*.csv")
    with Meddling(tmp_path / "b.csv", fault, after) as executor:
        refuse(PartError, "b.csv", "changed while it was being read",
               of=lambda: pa.analyze(table, "loss", scan=pa.Scan(stream=True, executor=executor)))  # fmt: skip
    write_table(tmp_path / "b.csv")
    alone = pa.analyze(str(tmp_path / "a.csv"), "loss", scan=pa.Scan(stream=True, threads=1))
    with Meddling(tmp_path / "b.csv", fault, after) as executor:
        left = pa.analyze(table, "loss", scan=pa.Scan(stream=True, executor=executor, on_error="skip"))
        assert left.importance(draws=0).ratios == alone.importance(draws=0).ratios
    assert len(left) == len(alone) == ROWS
    assert any("b.csv was changed while it was being read" in note for note in left.notes)


def test_other_machines_have_copies(tmp_path: Path) -> None:
    """A copy has a time of its own; there the size alone is compared."""
    file = write_table(tmp_path / "t.csv")
    here = Stamp.of(file)
    assert here is not None
    there = Stamp(here.size, here.changed + 5, "another")
    assert there.is_as(here)
    assert not Stamp(here.size, here.changed + 5, here.machine).is_as(here)
    assert not Stamp(here.size + 1, here.changed, "another").is_as(here)
    assert not here.is_as(None)


def test_a_table_is_read_anew_where_it_changed(tmp_path: Path) -> None:
    file = write_table(tmp_path / "t.csv")
    faults = iter([cut, write_table])

    def read() -> int:
        size = len(file.read_text())
        next(faults, lambda _: None)(file)
        if size < 1000:
            raise FormatError("half of it")
        return size

    whole = len(file.read_text())
    assert read_steadily(file, read) == whole
    assert read_steadily(file, lambda: 7) == 7

    def always() -> int:
        grow(file)
        return 1

    refuse(FormatError, "+12 bytes", "copy it", of=lambda: read_steadily(file, always))
    refuse(
        FormatError, "as it is", of=lambda: read_steadily(file, lambda: (_ for _ in ()).throw(FormatError("as it is")))
    )


@contextmanager
def busy(change: Callable[[], None]) -> Iterator[None]:
    """A writer who goes on and on."""
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            change()
            time.sleep(0.0005)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def check_whole(records: Records) -> None:
    assert all(set(column.values.tolist()) <= {0.25, 0.5, 0.125} for column in records.columns.values())


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_a_writer_who_never_rests(tmp_path: Path, suffix: str) -> None:
    """Whole lines, a file that is cut and written again: an answer of whole lines, or one line of refusal."""
    file = tmp_path / f"t{suffix}"
    line = "0.25,0.5,0.125\n" if suffix == ".csv" else '{"x": 0.25, "y": 0.5, "loss": 0.125}\n'
    head = "x,y,loss\n" if suffix == ".csv" else ""
    file.write_text(head + line * 500)
    with busy(lambda: file.write_text(head + line * 500)):
        for _ in range(30):
            tolerate(lambda: check_whole(read_records(file)))


# ── journals ────────────────────────────────────────────────────────────────────────────────────


def journal_of(path: Path, trials: int) -> Path:
    storage = optuna.storages.JournalStorage(JournalFileBackend(str(path)))
    study = optuna.create_study(storage=storage, sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=trials)
    return path


def test_a_journal_with_a_half_written_last_line(tmp_path: Path) -> None:
    """Cut at every byte of the last line, the journal tells what it told before that line."""
    path = journal_of(tmp_path / "j.log", 5)
    content = path.read_bytes()
    start = content[:-1].rindex(b"\n") + 1
    path.write_bytes(content[:start])
    before = read_records(path)
    for end in range(start + 1, len(content)):
        path.write_bytes(content[:end])
        now = read_records(path)
        assert now.columns["x"].values.tobytes() == before.columns["x"].values.tobytes()
        assert any("still being written, so it is left out" in note for note in now.notes)
    path.write_bytes(content)
    assert not any("still being written" in note for note in read_records(path).notes)


def test_a_journal_that_is_cut_short_while_it_is_read(tmp_path: Path) -> None:
    path = journal_of(tmp_path / "j.log", 40)
    content = path.read_bytes()

    def meddle() -> None:
        path.write_bytes(content)
        os.truncate(path, len(content) // 2)

    outcomes: set[int] = set()
    with busy(meddle):
        for _ in range(200):
            tolerate(lambda: outcomes.add(read_records(path).rows))
    assert all(rows <= 40 for rows in outcomes)


# ── databases ───────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(params=["postgresql", "mariadb"])
def filled(request: pytest.FixtureRequest) -> str:
    url = str(request.getfixturevalue(f"{request.param}_url"))
    other = url.replace("postgresql://", "postgresql+psycopg://").replace("mysql://", "mysql+pymysql://")
    storage = optuna.storages.RDBStorage(other)
    if not storage.get_all_studies():
        make(storage, "dropped")
    storage.engine.dispose()
    return url


@pytest.mark.parametrize("abrupt", [True, False], ids=["reset", "end"])
def test_a_server_that_goes_away_in_the_middle_of_a_read(filled: str, abrupt: bool) -> None:
    """Dropped after any number of bytes: one line that names the database without its password, and no rows."""
    with proxy_to(filled) as proxy:
        whole = read_records(proxy.url, study="dropped")
        total = proxy.sent
        assert whole.rows == read_records(filled, study="dropped").rows
    for most in np.linspace(1, total - 200, 6).astype(int):
        with proxy_to(filled) as proxy:
            proxy.most, proxy.abrupt = int(most), abrupt
            with pytest.raises(DataError) as caught:
                read_records(proxy.url, study="dropped")
        message = str(caught.value)
        assert len(message.splitlines()) == 1, message
        assert "127.0.0.1" in message
        assert PASSWORD not in message
        connecting = proxy.most < total / 8
        assert connecting or "became unavailable during the read" in message, message
        assert proxy.sent > most
    with proxy_to(filled) as proxy:
        assert read_records(proxy.url, study="dropped").rows == whole.rows
