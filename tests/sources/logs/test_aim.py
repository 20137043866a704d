"""Stores of Aim, written by its storage library the way Aim writes them."""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import pedanova
from helpers.common import refuse
from helpers.logs import cells, read_untouched, tolerate
from pedanova.errors import DataError, FormatError, MissingLibraryError
from pedanova.sources import read_records

aimrocks = pytest.importorskip("aimrocks")
VAL, TRAIN, BARE = 5190, -42, 7  # hashes of contexts


def key(*path: str | int) -> bytes:
    steps = (b"\xfe" + struct.pack(">q", step) if isinstance(step, int) else step.encode() for step in path)
    return b"".join(step + b"\xfe" for step in steps)


def value(plain: object) -> bytes:
    match plain:
        case None:
            return b"\x00"
        case bool():
            return bytes([1, plain])
        case int():
            return b"\x02" + struct.pack("<q", plain)
        case float():
            return b"\x03" + struct.pack("<d", plain)
        case str():
            return b"\x04" + plain.encode()
    raise TypeError(plain)


def leaves(plain: Any, *path: str | int) -> Iterator[tuple[bytes, bytes]]:
    if isinstance(plain, dict | list):
        yield key(*path), b"\x07" if isinstance(plain, dict) else b"\x06"
        for step, inner in plain.items() if isinstance(plain, dict) else enumerate(plain):
            yield from leaves(inner, *path, step)
    else:
        yield key(*path), value(plain)


def trace(last: float, step: int = 2) -> dict[str, Any]:
    return {"dtype": "float", "first": 9.0, "last": last, "last_step": step}


def run(store: Path, number: int, *, ended: bool = True, **changes: Any) -> str:
    name = f"{number:024x}"
    tree = {
        "attrs": {"hparams": {"lr": number / 10, "opt": "sgd", "layers": [1, number]},
                  "__system_params": {"cpu": number}},
        "contexts": {VAL: {"subset": "val"}, TRAIN: {"subset": "train"}, BARE: {}},
        "traces": {VAL: {"loss": trace(number / 100)}, TRAIN: {"loss": trace(0.5)},
                   BARE: {"acc": trace(0.25), "__system__cpu": trace(99.0)}},
    } | ({"end_time": 1.5} if ended else {}) | changes  # fmt: skip
    folder = store / "meta" / "chunks" / name
    folder.mkdir(parents=True)
    database = aimrocks.DB(str(folder), aimrocks.Options(create_if_missing=True))
    for path, plain in leaves(tree, "meta", "chunks", name):
        database.put(path, plain)
    del database  # which closes it
    return name


def index(store: Path, runs: list[tuple[str, str | None, bool]]) -> None:
    with sqlite3.connect(store / "run_metadata.sqlite") as database:
        database.execute("CREATE TABLE experiment (id INTEGER, name TEXT)")
        database.execute(
            "CREATE TABLE run (id INTEGER, hash TEXT, name TEXT, is_archived INTEGER, experiment_id INTEGER)"
        )
        known = sorted({experiment for _, experiment, _ in runs if experiment})
        database.executemany("INSERT INTO experiment VALUES (?, ?)", list(enumerate(known)))
        for number, (name, experiment, archived) in enumerate(runs):
            place = known.index(experiment) if experiment else None
            row = (number, name, f"Run: {name[-3:]}", archived, place)
            database.execute("INSERT INTO run VALUES (?, ?, ?, ?, ?)", row)
    database.close()


@pytest.fixture
def store(tmp_path: Path) -> Path:
    place = tmp_path / ".aim"
    index(place, [(run(place, number), "mlp", False) for number in range(12)])
    return place


def test_a_store(store: Path) -> None:
    records = read_untouched(store.parent)
    assert records.metadata.source == "Aim experiment 'mlp'"
    assert set(records.metadata.params) == {"hparams.lr", "hparams.layers"}
    assert set(records.metadata.metrics) == {"val/loss", "train/loss", "acc"}
    assert cells(records, "val/loss") == [number / 100 for number in range(12)]
    assert cells(records, "hparams.layers")[3] == "[1, 3]"
    assert cells(records, "step") == [2] * 12
    assert pedanova.analyze(store, "val/loss", threads=1).rows == 12


def test_experiments_states_and_archives(tmp_path: Path) -> None:
    place = tmp_path / ".aim"
    runs = [(run(place, 0), "a", False), (run(place, 1), "a", False), (run(place, 2, ended=False), "a", False)]
    runs += [(run(place, 3), "a", True), (run(place, 4, attrs={}), "a", False), (run(place, 5), None, False)]
    index(place, [*runs, ("gone" * 6, "a", False)])
    refuse(DataError, "2 experiments", "study=", "a (5)", "default (1)", of=lambda: read_records(place))
    refuse(DataError, "'b'", "default", of=lambda: read_records(place, study="b"))
    records = read_records(place, study="a")
    assert cells(records, "state") == ["COMPLETE", "COMPLETE", "RUNNING"]
    assert "1 runs have no settings; left out" in records.notes


def test_damaged_and_empty(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chunks = sorted((store / "meta" / "chunks").iterdir())
    (chunks[3] / "CURRENT").unlink()
    for file in (*chunks[4].glob("*.sst"), *chunks[4].glob("*.log")):
        file.write_bytes(file.read_bytes()[:100])
    database = aimrocks.DB(str(chunks[5]), aimrocks.Options())
    database.put(b"meta\xfechunks\xfe" + chunks[5].name.encode() + b"\xfe\xfe\x01", b"\x02")
    del database  # which closes it
    records = read_records(store)
    assert any("runs cannot be read; left out" in note for note in records.notes)
    assert 9 <= records.rows <= 10
    tolerate(lambda: pedanova.analyze(store, "val/loss", threads=1))
    with monkeypatch.context() as patch:
        patch.setitem(__import__("sys").modules, "aimrocks", None)
        refuse(MissingLibraryError, "pedanova[aim]", of=lambda: read_records(store))
    (store / "run_metadata.sqlite").unlink()
    index(store, [])
    refuse(DataError, "no runs of Aim", of=lambda: read_records(store))
    (store / "run_metadata.sqlite").write_bytes(b"no database")
    refuse(FormatError, "no SQLite database", of=lambda: read_records(store))
