"""Columns kept from reading to reading: the same tallies, each read once while there is room, then forgotten."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyarrow import parquet
from pyarrow import table as arrow_table

import pedanova as pa
from helpers.object_store import KEYS, environment, s3_server, upload
from pedanova.sources.scans import batches
from pedanova.sources.scans.batches import KeptColumns
from pedanova.sources.scans.scan import scan_of, with_kept

GROUPS = 4  # of each of two files


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder, random = tmp_path_factory.mktemp("bucket"), np.random.default_rng(0)
    for number in range(2):
        x, kind = random.random(4000), np.array(["a", "b", "c"])[random.integers(0, 3, 4000)]
        table = arrow_table({"x": x, "kind": kind, "loss": x + (kind == "b") + random.random(4000)})
        parquet.write_table(table, folder / f"{number}.parquet", row_group_size=4000 // GROUPS)
    with environment(**KEYS), s3_server() as port, environment(AWS_ENDPOINT_URL=f"http://127.0.0.1:{port}"):
        upload(port, folder, "data")
        yield folder


@pytest.mark.parametrize(("room", "times"), [(1 << 20, 1), (9000, 2), (0, 3)])
def test_the_objective_comes_once_where_there_is_room(
    files: Path, room: int, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: Counter[str] = Counter()
    plain = parquet.ParquetFile.read_row_group

    def noting(self: Any, group: int, columns: list[str], **options: Any) -> Any:
        read.update(columns)
        return plain(self, group, columns=columns, **options)

    monkeypatch.setattr(parquet.ParquetFile, "read_row_group", noting)
    monkeypatch.setattr("pedanova.sources.scans.scan.KeptColumns", lambda names: KeptColumns(names, room))
    space = {"x": pa.Float(0, 1), "kind": pa.Categorical(["a", "b", "c"])}
    for threads in (1, 2):
        read.clear()
        a = pa.analyze("s3://data", "loss", space=space, scan=pa.Scan(stream=True, threads=threads))
        assert (
            a.data.tallies
            == pa.analyze(files, "loss", space=space, scan=pa.Scan(stream=True, threads=threads)).data.tallies
        )
        assert read["x"] == read["kind"] == 2 * GROUPS
        if times == 1:
            assert read["loss"] == 2 * GROUPS
        else:  # some of the groups, or all of them, are read for each of three readings, some for the first look too
            assert 2 * GROUPS * (times - 1) < read["loss"] <= 2 * GROUPS * 3 + 2


def test_what_was_kept_is_forgotten(files: Path) -> None:
    scan = scan_of("s3://data")
    assert scan is not None
    parts: Any = with_kept(scan.parts, ["loss"])
    for part in parts:
        list(part.batches(["loss"]))
    assert len(parts[0].kept._held) == 2 * GROUPS
    assert parts[0].kept is parts[1].kept
    assert 8 * 8000 <= batches.ROOM - parts[0].kept.room < 8 * 8200  # and who has a value
    bare: Any = with_kept(parts, ())
    assert [part.kept for part in bare] == [None, None]
    here = scan_of(files)
    assert here is not None
    assert with_kept(here.parts, ["loss"]) == here.parts  # a disk is near
