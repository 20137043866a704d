"""Any small file gives an answer or one line of error: never a traceback, never much memory.

`PEDANOVA_FUZZ=1000000 pytest tests/laws/test_odd_files.py` reads so many; `PEDANOVA_FUZZ_SEED` begins elsewhere.
Without, the files of a few seconds are read.
"""

from __future__ import annotations

import os
import random
import resource
import time
import tracemalloc
import warnings
from pathlib import Path

import pytest

import pedanova as pa
from helpers.common import COUNTS
from helpers.odd_files import NAMES, odd_file
from pedanova.errors import PedanovaError
from pedanova.sources import read_records

SECONDS = 8.0
MANY = int(os.environ.get("PEDANOVA_FUZZ", "0"))
FIRST = int(os.environ.get("PEDANOVA_FUZZ_SEED", "0"))
MOST_BYTES = 200_000_000


def read(path: Path, seed: int) -> str:
    """The answer, or the one line of error."""
    rng = random.Random(seed)
    try:
        names = list(read_records(path).columns)
        objective = rng.choice([*names, *names, None, rng.choice(NAMES)])
        options = {"stream": True} if rng.random() < 0.1 and path.suffix == ".csv" else {}
        a = pa.analyze(path, objective, threads=1, **options)  # type: ignore[arg-type]
        return str(a.importance(**COUNTS))
    except PedanovaError as error:
        message = str(error)
        assert message
        assert len(message.splitlines()) == 1, message
        return message


@pytest.mark.slow
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
    "wide.csv": b",".join(b"c%080d" % i for i in range(9_800)) + b"\n" + b",".join([b"1.5e-300"] * 9_800) + b"\n",
    "wider.csv": b"a," * 499_000 + b"b\n1\n",
    "commas.csv": b"x,y\n" + b",\n" * 490_000,
    "quotes.csv": b'x,y\n"' + b'""' * 490_000,
    "long.csv": b"x,y\n" + b"1" * 990_000 + b",2\n3,4\n",
    "deep.json": b"[" * 499_000 + b"]" * 499_000,
    "objects.json": b"[" + b"{}," * 330_000 + b"{}]",
    "numbers.json": b"[" + b"1," * 490_000 + b"1]",
    "keys.json": b"[{" + b",".join(b'"k%090d":1' % i for i in range(9_800)) + b"}]",
    "lines.jsonl": b"{}\n" * 330_000,
    "nested.json": b'[{"a":' * 100_000 + b"1" + b"}]" * 100_000,
    "texts.csv": b"x,y\n" + b"".join(b"t%d,%d\n" % (i, i) for i in range(70_000)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", list(LARGE))
def test_files_of_a_megabyte_take_little_memory(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(LARGE[name][:ONE_MEGABYTE])
    tracemalloc.start()
    try:
        read(path, 1)
        assert tracemalloc.get_traced_memory()[1] < MOST_BYTES
    finally:
        tracemalloc.stop()
