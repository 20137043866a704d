"""Dask, Spark and ibis, as real processes: the same tallies as plain NumPy, and none lost with a worker."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import pedanova as pa
from helpers import answers, nasty
from helpers.object_store import KEYS, environment, s3_server, upload
from helpers.tools import need
from pedanova.counting.tally import Counts
from pedanova.errors import DataError, PartError, QueryError
from pedanova.scale.parts import count_part

pytestmark = [pytest.mark.heavy, pytest.mark.filterwarnings("ignore")]  # the tools' own warnings
os.environ["DASK_DISTRIBUTED__WORKER__MULTIPROCESSING_METHOD"] = (
    "forkserver"  # Dask is imported once, not by each worker
)
OPTIONS: dict[str, Any] = {"space": nasty.SPACE, "reading": pa.Reading(outside="count")}


def asked_in_words(direction: str) -> pa.Space:
    """Parameters that an engine is asked for: all of them once, then some."""
    return nasty.SPACE if direction == "minimize" else nasty.FEW


@contextmanager
def workers(count: int) -> Iterator[Any]:
    """Workers of Dask; their sockets lie in a short folder, because the name of a socket has at most 107 bytes."""
    distributed = need("distributed")
    with (
        tempfile.TemporaryDirectory(dir="/tmp") as short,
        patch.dict(multiprocessing.current_process()._config, tempdir=short),  # type: ignore[attr-defined]
        distributed.LocalCluster(
            n_workers=count, threads_per_worker=1, dashboard_address=None, memory_limit=0
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def dask() -> Iterator[Any]:
    with workers(2) as client:
        yield client


@pytest.fixture
def doomed() -> Iterator[Any]:
    """Workers of which none will be missed by another test; one more than die, for Dask may bring none back.

    None steals work from another: what the dead had read, no survivor holds.
    """
    need("distributed")  # brings the defaults that are changed here
    config = need("dask.config")
    with config.set({"distributed.scheduler.work-stealing": False}), workers(3) as client:
        yield client


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    sql = need("pyspark.sql")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = sql.SparkSession.builder.master("local[2,4]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.shuffle.partitions", "4")  # 200 otherwise, for 3,000 rows
    builder = builder.config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1")  # it lives for a minute
    session = builder.config("spark.sql.execution.arrow.maxRecordsPerBatch", "500").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


def test_dask_gives_the_same_tallies(dask: Any, tmp_path: Path) -> None:
    """In the other direction than Spark below: a worker counts as a thread does, which is tested in both."""
    folder, reading = nasty.write_parquet(tmp_path / "data"), pa.Reading(nan="worst", outside="count")
    scan = pa.Scan(executor=dask.get_executor(retries=2))
    a = pa.analyze(folder, "loss", direction="maximize", space=nasty.SPACE, reading=reading, scan=scan)
    nasty.check(a, "maximize", "worst")


def test_an_error_on_a_dask_worker_names_the_file(dask: Any, tmp_path: Path) -> None:
    folder = nasty.write_parquet(tmp_path / "data")
    damage(folder / "part-2.parquet")
    with pytest.raises(PartError, match=r"part-2\.parquet"):
        pa.analyze(folder, "loss", scan=pa.Scan(executor=dask.get_executor()), **OPTIONS)
    a = pa.analyze(folder, "loss", scan=pa.Scan(executor=dask.get_executor(), on_error="skip"), **OPTIONS)
    assert any("part-2.parquet" in note for note in a.notes)


def damage(file: Path) -> None:
    """The pages are gone, the footer is not: only reading the rows finds out."""
    content = bytearray(file.read_bytes())
    content[4 : len(content) // 2] = bytes(len(content) // 2 - 4)
    file.write_bytes(content)


def many_files(folder: Path) -> Path:
    from pyarrow import parquet

    folder.mkdir()
    for number in range(4):
        for row, shard in enumerate(nasty.nasty().shards):
            parquet.write_table(shard, folder / f"part-{number:02}-{row}.parquet")
    return folder


def killed_once(folder: Path, plain: Any) -> Any:
    """A function, except that the first worker to come by dies of SIGKILL."""
    mark, here = folder.parent / "killed", os.getpid()

    def work_or_die(*arguments: Any, **options: Any) -> Any:
        if os.getpid() != here and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(0.02)
        return plain(*arguments, **options)

    return work_or_die


def same_bytes(one: pa.Analysis, two: pa.Analysis) -> None:
    """The same rows, and their objectives added in the same order."""
    for name, tally in two.data.tallies.items():
        np.testing.assert_array_equal(one.data.tallies[name].counts, tally.counts)
        assert one.data.tallies[name].sums.tobytes() == tally.sums.tobytes(), name


def test_a_dask_worker_may_die(doomed: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = many_files(tmp_path / "data")
    whole = pa.analyze(folder, "loss", scan=pa.Scan(stream=True), **OPTIONS)
    monkeypatch.setattr("pedanova.scale.parts.count_part", killed_once(folder, count_part))
    a = pa.analyze(folder, "loss", scan=pa.Scan(executor=doomed.get_executor(retries=2)), **OPTIONS)
    assert (tmp_path / "killed").exists()
    assert a.data.tallies == whole.data.tallies


@pytest.fixture(scope="module")
def in_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """Files here, and the same in a real S3 server that needs no credentials."""
    folder = many_files(tmp_path_factory.mktemp("store") / "data")
    with environment(**KEYS), s3_server() as port:
        upload(port, folder, "data")
        yield folder, f"s3://anonymous@data?endpoint_override=127.0.0.1:{port}&scheme=http&region=us-east-1"


def test_workers_of_dask_read_a_store(dask: Any, in_store: tuple[Path, str]) -> None:
    folder, place = in_store
    a = pa.analyze(place, "loss", scan=pa.Scan(executor=dask.get_executor()), **OPTIONS)
    assert a.data.tallies == pa.analyze(folder, "loss", scan=pa.Scan(stream=True), **OPTIONS).data.tallies


def test_dask_guesses_the_same_space(dask: Any, tmp_path: Path) -> None:
    folder = many_files(tmp_path / "data")
    a = pa.analyze(folder, "loss", scan=pa.Scan(executor=dask.get_executor()))
    here = pa.analyze(folder, "loss", scan=pa.Scan(stream=True))
    assert dict(a.space) == dict(here.space)
    assert a.data.tallies == here.data.tallies
    assert a.notes == here.notes


def test_spark_gives_the_same_tallies(spark: Any, tmp_path: Path) -> None:
    frame = spark.read.parquet(str(nasty.write_parquet(tmp_path / "data")))
    nasty.check(pa.analyze(frame, "loss", direction="minimize", **OPTIONS), "minimize", "drop")


def test_spark_guesses_the_same_space(spark: Any, tmp_path: Path) -> None:
    folder = nasty.write_parquet(tmp_path / "data")
    frame = spark.read.parquet(str(folder))
    here = pa.analyze(folder, "loss", scan=pa.Scan(stream=True))
    a = pa.analyze(frame, "loss", where="layers >= 2")
    assert set(a.space) == set(here.space)
    assert a.importance(0.123, draws=0).rows  # a rescan


def test_states_in_a_spark_frame_are_used_as_elsewhere(spark: Any) -> None:
    rows = [(float(i % 37), float(i % 11), "crashed" if i % 5 == 0 else "ok") for i in range(400)]
    frame = spark.createDataFrame(rows, ["loss", "lr", "status"])
    table = dict(zip(("loss", "lr", "status"), map(list, zip(*rows, strict=True)), strict=True))
    a, here = (pa.analyze(data, "loss", direction="min") for data in (frame, table))
    assert list(a.space) == ["lr"]
    assert a.data.dropped == here.data.dropped == 80
    assert a.data.tallies == here.data.tallies


def test_a_spark_worker_may_die(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = many_files(tmp_path / "data")
    whole = pa.analyze(folder, "loss", scan=pa.Scan(stream=True), **OPTIONS)
    monkeypatch.setattr("pedanova.scale.parts.count_part", killed_once(folder, count_part))
    a = pa.analyze(spark.read.parquet(str(folder)).repartition(6), "loss", **OPTIONS)
    assert (tmp_path / "killed").exists()
    for name, tally in whole.data.tallies.items():
        np.testing.assert_array_equal(a.data.tallies[name].counts, tally.counts)


def test_the_driver_of_spark_gets_a_handful_of_large_results(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers put them together, die once over it, and always add in the same order."""
    folder = many_files(tmp_path / "data")
    frame = spark.read.parquet(str(folder)).repartition(6).cache()
    plain, fetched = type(frame).collect, []

    def noting(self: Any) -> Any:
        rows = plain(self)
        fetched.append(len(rows) if "result" in self.columns else 0)
        return rows

    monkeypatch.setattr("pedanova.sources.scans.scan.AT_ONCE", 0)
    monkeypatch.setattr("pedanova.sources.scans.scan.HANDFUL", 2)
    monkeypatch.setattr(type(frame), "collect", noting)
    a = pa.analyze(frame, "loss", **OPTIONS)
    assert 0 < max(fetched) <= 2  # six partitions: three heaps, then two
    assert a.data.tallies == pa.analyze(folder, "loss", scan=pa.Scan(stream=True), **OPTIONS).data.tallies
    monkeypatch.setattr(Counts, "sum", killed_once(folder, Counts.sum))
    same_bytes(pa.analyze(frame, "loss", **OPTIONS), a)
    assert (tmp_path / "killed").exists()
    with pytest.raises(DataError, match="holds text"):
        pa.analyze(frame, "optimizer")


@pytest.mark.parametrize(
    ("pushdown", "direction", "nan"),
    [(None, "minimize", "drop"), (None, "maximize", "worst"), (False, "maximize", "worst")],
)
def test_ibis_gives_the_same_tallies(pushdown: bool | None, direction: str, nan: str) -> None:
    ibis = need("ibis")
    table = ibis.memtable(nasty.nasty().table)
    options = {"space": asked_in_words(direction), "params": list(asked_in_words(direction))}
    a = pa.analyze(
        table,
        "loss",
        scan=pa.Scan(pushdown=pushdown),
        direction=direction,
        reading=pa.Reading(nan=nan, outside="count"),
        **options,
    )
    nasty.check(a, direction, nan, options["space"])
    assert any("counted by the engine" in note for note in a.notes) == (pushdown is None)


def test_an_ibis_table_in_its_database_or_here() -> None:
    table = answers.TABLES["repeats"]
    lazy = need("ibis").memtable(table.arrow)
    with pytest.raises(QueryError, match=r"in its database, but this cannot count .*\.Scan\(pushdown=False\) to read"):
        answers.analyzed(table, lazy, where="layers > 2")
    rows = answers.analyzed(table, lazy, pa.Scan(pushdown=False), where="layers > 2")
    assert rows.data.tallies == answers.analyzed(table, where="layers > 2").data.tallies
    few = answers.TABLES["few rows"]
    read = answers.analyzed(few, need("ibis").memtable(few.arrow), where="layers > 2")  # so few that they are read
    assert read.data.tallies == answers.analyzed(few, where="layers > 2").data.tallies


@pytest.mark.parametrize("kind", answers.TABLES)
def test_clusters_and_ibis_give_the_same_answers(dask: Any, spark: Any, kind: str, tmp_path: Path) -> None:
    """The others are in tests/counting/test_same_tallies.py."""
    files = answers.files(tmp_path, answers.TABLES[kind])
    lazy = need("ibis").memtable(answers.TABLES[kind].arrow)

    def road(data: object, scan: pa.Scan | None = None) -> Callable[[answers.Given], pa.Analysis]:
        return lambda table: answers.analyzed(table, data, scan)

    answers.agree_or_refuse(kind, road(files, pa.Scan(executor=dask.get_executor())), answers.IN_PARTS)
    answers.agree_or_refuse(kind, road(spark.read.parquet(str(files))), answers.IN_PARTS)
    answers.agree_or_refuse(kind, road(lazy), answers.ENGINE)


def test_what_spark_cannot_do_is_refused(spark: Any) -> None:
    frame = spark.createDataFrame([(1.0, "a", "x"), (2.0, "b", "y")], ["loss", "kind", "text"])
    with pytest.raises(DataError, match="holds text"):
        pa.analyze(frame, "text")
