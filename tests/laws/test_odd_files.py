"""Any small file gives an answer or one line of error: never a traceback, never much memory.

`PEDANOVA_FUZZ=1000000 pytest tests/laws/test_odd_files.py` reads so many; `PEDANOVA_FUZZ_SEED` begins elsewhere.
Without, the files of a few seconds are read.
"""

from __future__ import annotations

import os
import random
import resource
import sys
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

import pedanova as pa
from helpers.common import COUNTS
from helpers.odd_files import NAMES, odd_file
from pedanova.errors import PedanovaError
from pedanova.sources import read_records

SECONDS = 2.5
MANY = int(os.environ.get("PEDANOVA_FUZZ", "0"))
FIRST = int(os.environ.get("PEDANOVA_FUZZ_SEED", "0"))
MOST_BYTES = 200_000_000
MOST_HELD = 300_000_000  # with what libraries keep for themselves


def read(path: Path, seed: int) -> str:
    """The answer, or the one line of error."""
    rng = random.Random(seed)
    try:
        names = list(read_records(path).columns)
        objective = rng.choice([*names, *names, None, rng.choice(NAMES)])
        stream = True if rng.random() < 0.1 and path.suffix == ".csv" else None
        a = pa.analyze(path, objective, scan=pa.Scan(threads=1, stream=stream))
        return str(a.importance(**COUNTS))
    except PedanovaError as error:
        message = str(error)
        assert message
        assert len(message.splitlines()) == 1, message
        return message


def test_odd_files(tmp_path: Path) -> None:
    before, end, seed = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic() + SECONDS, FIRST
    while seed - FIRST < MANY if MANY else time.monotonic() < end:
        name, content = odd_file(seed)
        path = tmp_path / name
        path.write_bytes(content)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                read(path, seed)
        except Exception as error:
            raise AssertionError(f"odd_file({seed}) is {name}: {content[:300]!r}") from error
        path.unlink()
        seed += 1
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert seed > FIRST + 50
    assert grown * 1024 < MOST_BYTES


ONE_MEGABYTE = 1_000_000
LARGE = {
    "wide.csv": b",".join(b"c%0180d" % i for i in range(5_000)) + b"\n" + b",".join([b"1.5e-300"] * 5_000) + b"\n",
    "wider.csv": b"a," * 200_000 + b"b\n1\n",
    "commas.csv": b"x,y\n" + b",\n" * 490_000,
    "quotes.csv": b'x,y\n"' + b'""' * 490_000,
    "long.csv": b"x,y\n" + b"1" * 990_000 + b",2\n3,4\n",
    "deep.json": b"[" * 499_000 + b"]" * 499_000,
    "objects.json": b"[" + b"{}," * 330_000 + b"{}]",
    "numbers.json": b"[" + b"1," * 490_000 + b"1]",
    "keys.json": b"[{" + b",".join(b'"k%0490d":1' % i for i in range(1_990)) + b"}]",
    "lines.jsonl": b"{}\n" * 330_000,
    "nested.json": b'[{"a":' * 100_000 + b"1" + b"}]" * 100_000,
    "texts.csv": b"x,y\n" + b"".join(b"t%d,%d\n" % (i, i) for i in range(70_000)),
}


def most_held() -> int:
    """Bytes that this process has held at once, libraries' own among them."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ProcessPoolExecutor, int]]:
    """A process that has read a small file and nothing else, and what it holds: tests before these held more."""
    small = tmp_path_factory.mktemp("small") / "small.csv"
    small.write_bytes(b"x,y\n" + b"".join(b"%d,%d\n" % (i % 7, i) for i in range(60)))
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        process.submit(read, small, 1).result()
        yield process, process.submit(most_held).result()


@pytest.mark.parametrize("name", list(LARGE))
def test_files_of_a_megabyte_take_little_memory(
    name: str, tmp_path: Path, reader: tuple[ProcessPoolExecutor, int]
) -> None:
    path = tmp_path / name
    path.write_bytes(LARGE[name][:ONE_MEGABYTE])
    process, before = reader
    process.submit(read, path, 1).result()
    assert process.submit(most_held).result() - before < MOST_HELD
