"""Delta and Iceberg tables: the rows of one snapshot and no others, or a refusal; never the outdated files."""

from __future__ import annotations

import json
import shutil
import struct
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyarrow import Table, concat_tables
from pyarrow import table as arrow_table

import pedanova as pa
from helpers.common import refuse
from helpers.object_store import KEYS, environment, s3_server, upload
from pedanova.cli.main import main
from pedanova.errors import DataError, MissingLibraryError, QueryError

deltalake = pytest.importorskip("deltalake")
pyiceberg = pytest.importorskip("pyiceberg")
pytestmark = pytest.mark.filterwarnings("ignore")  # those libraries' own


def rows_of(many: int, seed: int, *names: str) -> Table:
    random = np.random.default_rng(seed)
    x, year = random.random(many), np.arange(many) % 2 + 2024
    kind = np.array(names or ("adam", "sgd"))[random.integers(0, len(names or (1, 2)), many)]
    return arrow_table({"x": x, "kind": kind, "year": year, "loss": x**2 + (kind == "sgd") + (year - 2024) / 3})


def same(place: Any, truth: Table) -> None:
    """In memory, in parts, and from its rows laid open: the same tallies."""
    here = pa.analyze(truth, "loss")
    assert len(here) == truth.num_rows
    for stream in (None, True):
        a = pa.analyze(place, "loss", scan=pa.Scan(stream=stream))
        assert dict(a.space) == dict(here.space)
        assert a.data.tallies == here.data.tallies


@pytest.fixture(scope="module")
def truth() -> Table:
    """What the tables below hold in the end."""
    table = concat_tables([rows_of(300, 2), rows_of(200, 3)])
    return table.filter(np.asarray(table["x"]) <= 0.9)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Appended to, overwritten, appended to and deleted from: most of its files are outdated."""
    place = tmp_path_factory.mktemp("delta") / "trials"
    for seed, many, mode in [(0, 400, "append"), (1, 100, "append"), (2, 300, "overwrite"), (3, 200, "append")]:
        deltalake.write_deltalake(place, rows_of(many, seed), mode=mode, partition_by=["year"])
    deltalake.DeltaTable(place).delete("x > 0.9")
    return place


@pytest.fixture
def delta(written: Path, tmp_path: Path) -> Path:
    return shutil.copytree(written, tmp_path / "trials")


def test_a_delta_folder_is_its_last_snapshot(delta: Path, truth: Table) -> None:
    assert len(list(delta.rglob("*.parquet"))) > 8
    same(delta, truth)
    same(str(delta), truth)
    same(deltalake.DeltaTable(delta), truth)
    assert len(
        pa.analyze(delta, "loss", space={"x": pa.Float(0, 1)}, where="year == 2024", scan=pa.Scan(stream=True))
    ) < len(truth)


def test_time_travel_is_the_librarys(delta: Path) -> None:
    same(deltalake.DeltaTable(delta, version=0), rows_of(400, 0))
    table = deltalake.DeltaTable(delta)
    a = pa.analyze(table, "loss", scan=pa.Scan(stream=True))
    table.load_as_version(0)
    refuse(DataError, "changed from version 4 to 0", of=lambda: a.importance(0.0371, draws=0))


def test_a_column_that_came_later_has_no_value_before(delta: Path, truth: Table) -> None:
    more = rows_of(60, 9).append_column("depth", arrow_table({"d": np.arange(60) % 3})["d"])
    deltalake.write_deltalake(delta, more, mode="append", schema_mode="merge")
    a = pa.analyze(delta, "loss", scan=pa.Scan(stream=True))
    assert len(a) == len(truth) + 60
    assert a.data.tallies == pa.analyze(concat_tables([truth, more], promote_options="default"), "loss").data.tallies


def test_files_of_a_table_are_refused_beside_its_log(delta: Path, tmp_path: Path) -> None:
    for place in (f"{delta}/*/*.parquet", delta / "year=2024", tmp_path):
        for stream in (None, True):
            refuse(
                DataError,
                "Delta table",
                "give the folder",
                of=lambda p=place, s=stream: pa.analyze(p, "loss", scan=pa.Scan(stream=s)),
            )
    one = next((delta / "year=2024").glob("*.parquet"))
    assert len(pa.analyze(one, "loss", scan=pa.Scan(stream=True)))  # who names a file means that file
    (tmp_path / "hudi" / ".hoodie").mkdir(parents=True)
    refuse(DataError, "Hudi table", "cannot be read", of=lambda: pa.analyze(tmp_path / "hudi", "loss"))


def test_a_table_in_a_store(delta: Path, truth: Table) -> None:
    with environment(**KEYS), s3_server() as port, environment(AWS_ENDPOINT_URL=f"http://127.0.0.1:{port}"):
        upload(port, delta.parent, "lake")
        same("s3://lake/trials", truth)
        for place in ("s3://lake/trials/*/*.parquet", "s3://lake/trials/year=2024", "s3://lake"):
            refuse(DataError, "Delta table", "give the folder", of=lambda p=place: pa.analyze(p, "loss"))
        for file in (delta / "_delta_log").iterdir():
            file.write_text("{broken")
        upload(port, delta.parent, "lake")
        words = refuse(DataError, "the Delta table s3://lake/trials", of=lambda: pa.analyze("s3://lake/trials", "loss"))
        assert KEYS["AWS_SECRET_ACCESS_KEY"] not in words


def test_what_is_for_files_is_refused(delta: Path) -> None:
    refuse(QueryError, "is for files", of=lambda: pa.analyze(delta, "loss", scan=pa.Scan(executor=object())))


def test_the_command_line(delta: Path, truth: Table, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyze", str(delta), "--objective", "loss", "--draws", "0"]) == 0
    assert f"{len(truth):,} rows" in " ".join(capsys.readouterr().out.split())  # lines are wrapped


@pytest.mark.parametrize(("library", "extra"), [("deltalake", "delta"), ("pyiceberg.table", "iceberg")])
def test_a_missing_library_is_named(
    library: str, extra: str, delta: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    (tmp_path / "ice" / "metadata").mkdir(parents=True)
    (tmp_path / "ice" / "metadata" / "00000.metadata.json").write_text("{}")
    place = delta if extra == "delta" else tmp_path / "ice"
    for stream in (None, True):
        refuse(
            MissingLibraryError,
            f"pip install 'pedanova[{extra}]'",
            of=lambda s=stream: pa.analyze(place, scan=pa.Scan(stream=s)),
        )


Z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"


def inline_vector(rows: list[int]) -> dict[str, Any]:
    """Deleted rows as Delta's protocol writes them into the log: a Roaring bitmap, in Z85."""
    container = struct.pack(f"<{len(rows)}H", *rows)
    bitmap = struct.pack("<IIHHI", 12346, 1, 0, len(rows) - 1, 16) + container
    content = struct.pack("<IQI", 1681511377, 1, 0) + bitmap
    padded = content + bytes(-len(content) % 4)
    words = struct.unpack(f">{len(padded) // 4}I", padded)
    text = "".join(Z85[word // 85**power % 85] for word in words for power in (4, 3, 2, 1, 0))
    return {"storageType": "i", "pathOrInlineDv": text, "sizeInBytes": len(content), "cardinality": len(rows)}


def test_rows_that_a_vector_deletes_do_not_count(tmp_path: Path) -> None:
    place, table = tmp_path / "trials", rows_of(300, 5)
    deltalake.write_deltalake(place, table)
    entry = place / "_delta_log" / "00000000000000000000.json"
    actions = [json.loads(line) for line in entry.read_text().splitlines()]
    gone = [0, 7, 8, 250]
    for action in actions:
        if "protocol" in action:
            features = {"readerFeatures": ["deletionVectors"], "writerFeatures": ["deletionVectors"]}
            action["protocol"] = {"minReaderVersion": 3, "minWriterVersion": 7, **features}
        if "add" in action:
            action["add"]["deletionVector"] = inline_vector(gone)
    entry.write_text("\n".join(json.dumps(action) for action in actions))
    same(place, table.take(np.setdiff1d(np.arange(300), gone)))


@pytest.fixture(scope="module")
def iceberg(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A table that a catalog in SQLite knows, with the same history."""
    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.transforms import IdentityTransform

    folder = tmp_path_factory.mktemp("iceberg")
    catalog = SqlCatalog("own", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}")
    catalog.create_namespace("runs")
    table = catalog.create_table("runs.trials", rows_of(1, 0).schema)
    with table.update_spec() as spec:
        spec.add_field("year", IdentityTransform(), "year")
    table.append(rows_of(400, 0))
    table.append(rows_of(100, 1))
    table.overwrite(rows_of(300, 2))
    table.append(rows_of(200, 3))
    table.delete("x > 0.9")
    yield table
    catalog.engine.dispose()


def test_an_iceberg_table_is_its_last_snapshot(iceberg: Any, truth: Table) -> None:
    same(iceberg, truth)
    same(iceberg.metadata_location.removeprefix("file://"), truth)
    first = iceberg.history()[0].snapshot_id
    same(iceberg.scan(snapshot_id=first), rows_of(400, 0))
    some = truth.filter(np.asarray(truth["x"]) < 0.5)
    same(iceberg.scan(row_filter="x < 0.5"), some)


def test_a_folder_of_iceberg_needs_its_catalog(iceberg: Any, truth: Table, tmp_path: Path) -> None:
    folder = Path(iceberg.location().removeprefix("file://"))
    for stream in (None, True):
        refuse(
            DataError,
            "only its catalog knows",
            "load_table",
            of=lambda s=stream: pa.analyze(folder, scan=pa.Scan(stream=s)),
        )
        refuse(
            DataError, "Iceberg table", of=lambda s=stream: pa.analyze(folder / "data", "loss", scan=pa.Scan(stream=s))
        )
    hint = folder / "metadata" / "version-hint.text"
    hint.write_text(Path(iceberg.metadata_location).name.removesuffix(".metadata.json"))
    try:
        same(folder, truth)
    finally:
        hint.unlink()
