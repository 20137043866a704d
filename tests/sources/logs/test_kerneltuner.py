"""Caches of Kernel Tuner: whole, still open, of several versions, damaged."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest

import pedanova as pa
from helpers.common import refuse
from helpers.logs import cells, read_untouched, tolerate
from pedanova.errors import FormatError
from pedanova.sources import read_records

VALUES: dict[str, list[Any]] = {"block": [32, 64, 128, 256], "tile": [1, 2, 4], "fast": [0], "method": ["a", "b"]}
TIMES = {"compile_time": 440.1, "benchmark_time": 1.2, "timestamp": "2025-04-23 21:54:39.878628+00:00"}


def entry(number: int, **more: object) -> dict[str, Any]:
    settings = {name: own[number // stride % len(own)] for (name, own), stride in zip(VALUES.items(), (1, 4, 1, 12))}  # noqa: B905
    time = 100 / settings["block"] + settings["tile"]
    return settings | {"time": time, "times": [time, time], "GFLOP/s": 1 / time, **TIMES, **more}


def cache(number: int = 24, **more: object) -> dict[str, Any]:
    """A cache in which each seventh configuration failed, as all versions write it."""
    failures = ({"time": "InvalidConfig"}, {"__error__": "RuntimeFailedConfig"}, {"time": 1e20})
    entries = [entry(i, **(failures[i // 7 % 3] if i % 7 == 3 else {})) for i in range(number)]
    return {
        "device_name": "A100", "kernel_name": "gemm", "problem_size": [64, 64], "tune_params_keys": list(VALUES),
        "tune_params": VALUES, "objective": "time", **more,
        "cache": {",".join(str(one[name]) for name in VALUES): one for one in entries},
    }  # fmt: skip


def open_text(plain: dict[str, Any], entries: int) -> str:
    """A cache of a tuner that still runs: one line per configuration, and no brackets at the end."""
    head = json.dumps(plain | {"cache": {}}, indent="")[:-3]
    lines = ["\n" + json.dumps({key: one})[1:-1] + "," for key, one in plain["cache"].items()]
    return head + "".join(lines[:entries])


def write(file: Path, plain: object) -> Path:
    file.write_text(plain if isinstance(plain, str) else json.dumps(plain))
    return file


def test_a_cache(tmp_path: Path) -> None:
    records = read_untouched(write(tmp_path / "gemm.json", cache()))
    assert records.metadata.source == "Kernel Tuner cache of 'gemm' on 'A100'"
    assert records.metadata.objectives == ("time",)
    assert records.metadata.directions == ("minimize",)
    assert records.metadata.space is not None
    assert dict(records.metadata.space) == {
        "block": pa.Ordinal((32, 64, 128, 256)), "tile": pa.Ordinal((1, 2, 4)), "method": pa.Categorical(("a", "b")),
    }  # fmt: skip
    assert records.metadata.metrics == ("time", "GFLOP/s")
    assert [state == "FAIL" for state in cells(records, "state")] == [i % 7 == 3 for i in range(24)]
    assert cells(records, "time")[3] is None
    assert cells(records, "time")[1] == 100 / 64 + 1
    assert cells(records, "timestamp")[0].startswith("2025-04-23")
    a = pa.analyze(tmp_path / "gemm.json")
    assert len(a) == 21
    assert list(a.space) == ["block", "tile", "method"]


@pytest.mark.parametrize(
    ("objective", "way"),
    [("GFLOP/s", ("maximize",)), (["time", "GFLOP/s"], ("minimize", "maximize")), ("own", ()), (None, ("minimize",))],
)
def test_objectives(tmp_path: Path, objective: object, way: tuple[str, ...]) -> None:
    plain = cache(objective=objective)
    for one in plain["cache"].values():
        one["own"] = one["tile"]
    assert read_records(write(tmp_path / "gemm.json", plain)).metadata.directions == way


@pytest.mark.parametrize("entries", [1, 9, 24])
def test_an_open_cache(tmp_path: Path, entries: int) -> None:
    """While the tuner runs, the file has the configurations whose lines are complete."""
    plain, file = cache(), tmp_path / "gemm.json"
    whole = cells(read_records(write(file, plain)), "GFLOP/s")[:entries]
    text = open_text(plain, entries)
    assert cells(read_records(write(file, text)), "GFLOP/s") == whole
    cut = read_records(write(file, text + '\n"1,2": {"block": 1, "ti'))
    assert cells(cut, "GFLOP/s") == whole
    assert [note for note in cut.notes if "last line of the cache is incomplete" in str(note)]


def test_a_packed_cache(tmp_path: Path) -> None:
    file = tmp_path / "gemm.json.gz"
    file.write_bytes(gzip.compress(json.dumps(cache()).encode()))
    assert read_untouched(file).rows == 24


def test_damaged_caches(tmp_path: Path) -> None:
    file = tmp_path / "gemm.json"
    for damaged, words in (
        (cache() | {"cache": []}, "must be an object"),
        (cache() | {"cache": {"32,1": 5}}, "the configuration '32,1' is 5"),
        (cache() | {"tune_params_keys": 5}, "damaged"),
    ):
        refuse(FormatError, words, of=lambda damaged=damaged: read_records(write(file, damaged)))
    refuse(FormatError, "not valid JSON", "cut off", of=lambda: read_records(write(file, json.dumps(cache())[:200])))
    draw, text = random.Random(0), json.dumps(cache())
    for _ in range(60):
        place, other = draw.randrange(len(text)), draw.choice(['"', "{", "}", "[", "null", "1e999", ",", "-"])
        write(file, text[:place] + other + text[place + draw.randrange(9) :])
        tolerate(lambda: pa.analyze(file, scan=pa.Scan(threads=1)))
