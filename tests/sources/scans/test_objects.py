"""Object stores and web servers, as real processes: the same tallies as local files, or a refusal, never less."""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyarrow import parquet
from pyarrow import table as arrow_table

import pedanova as pa
from helpers import nasty
from helpers.common import refuse
from helpers.object_store import KEYS, Road, bad_road, environment, s3_server, upload
from helpers.servers import free_port
from pedanova.errors import DataError, FormatError, MissingLibraryError, PedanovaError
from pedanova.sources.scans import objects
from pedanova.sources.scans.scan import scan_of

OPTIONS: dict[str, Any] = {"space": nasty.SPACE, "reading": pa.Reading(outside="count")}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bucket")
    nasty.write_parquet(folder / "nasty")
    for year in (2024, 2025):
        (folder / "keyed" / f"year={year}").mkdir(parents=True)
        x = np.random.default_rng(year).random(400)
        table = arrow_table({"x": x, "loss": x + (year - 2024)})
        parquet.write_table(table, folder / "keyed" / f"year={year}" / "a.parquet", row_group_size=100)
    (folder / "trials.csv").write_text("lr,loss\n" + "".join(f"{i / 99},{(i / 99 - 0.3) ** 2}\n" for i in range(99)))
    (folder / "broken.parquet").write_bytes(b"PAR1 this is none")
    for log in ("delta/_delta_log/0.json", "hudi/.hoodie/hoodie.properties", "iceberg/metadata/0.metadata.json"):
        (folder / log).parent.mkdir(parents=True)
        (folder / log).write_text("{}")
        inside = folder / log.split("/")[0] / "data"
        inside.mkdir()
        for name in "ab":
            parquet.write_table(arrow_table({"x": [1.0, 2.0], "loss": [1.0, 2.0]}), inside / f"{name}.parquet")
    return folder


@pytest.fixture(scope="module")
def port(files: Path) -> Iterator[int]:
    with environment(**KEYS), s3_server() as port, environment(AWS_ENDPOINT_URL=f"http://127.0.0.1:{port}"):
        upload(port, files, "data")
        yield port


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.usefixtures("port")
def test_a_store_gives_the_tallies_of_its_files(files: Path, stream: bool) -> None:
    here = pa.analyze(files / "nasty", "loss", scan=pa.Scan(stream=True), **OPTIONS)
    a = pa.analyze("s3://data/nasty", "loss", scan=pa.Scan(stream=stream), **OPTIONS)
    assert a.data.tallies == here.data.tallies
    nasty.check(
        pa.analyze("s3://data/nasty/*.parquet", "loss", scan=pa.Scan(stream=stream), **OPTIONS), "minimize", "drop"
    )


@pytest.mark.usefixtures("port")
def test_columns_that_stand_in_the_path() -> None:
    both = ["x", "year"]  # a column behind the objective, which a column of the path is, may be a result
    a = pa.analyze("s3://data/keyed", "loss", params=both, scan=pa.Scan(stream=True))
    assert set(a.space) == {"x", "year"}
    assert len(a) == 800
    assert pa.analyze("s3://data/keyed/**/a.parquet", "loss", params=both).data.tallies == a.data.tallies


@pytest.mark.parametrize("kind", ["Delta", "Hudi", "Iceberg"])
@pytest.mark.usefixtures("port")
def test_files_that_may_be_outdated_are_refused(files: Path, kind: str) -> None:
    for place in (f"{files}/{kind.lower()}", f"s3://data/{kind.lower()}"):
        for inside in ("", "/data", "/*/*.parquet"):
            for stream in (None, True):
                with pytest.raises(DataError, match=f"the {kind} table .* with Polars or DuckDB"):
                    pa.analyze(place + inside, "loss", scan=pa.Scan(stream=stream))
    assert len(pa.analyze(files / kind.lower() / "data" / "a.parquet", "loss", scan=pa.Scan(stream=True))) == 2


@pytest.mark.usefixtures("port")
def test_a_csv_file_is_brought_here(files: Path) -> None:
    assert (
        pa.analyze("s3://data/trials.csv", "loss").data.tallies == pa.analyze(files / "trials.csv", "loss").data.tallies
    )


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("s3://data/none/*.parquet", "matches no file"),
        ("s3://data/none", "holds no Parquet file"),
        ("s3://data/none.parquet", "does not exist"),
        ("s3://no-bucket/x", "bucket"),
        ("s3://data/broken.parquet", "not a readable Parquet file"),
        ("s3://key:very-secret@data/nasty", "credentials do not belong"),
        ("az://data/nasty", "AZURE_STORAGE_ACCOUNT"),
        ("http://127.0.0.1:9/x/*.parquet", "a web server cannot list its files"),
    ],
)
@pytest.mark.usefixtures("port")
def test_an_address_that_leads_nowhere(place: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(objects, "PAUSE", 0.0)
    with pytest.raises(PedanovaError, match=words) as error:
        pa.analyze(place, "loss", scan=pa.Scan(stream=True))
    assert "very-secret" not in str(error.value)
    assert len(str(error.value).splitlines()) == 1


def test_a_busy_server_and_broken_connections_change_nothing(
    port: int, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(objects, "PAUSE", 0.0)
    here = pa.analyze(files / "keyed", "loss", scan=pa.Scan(stream=True))
    road = Road(busy=range(2, 400, 5), broken=range(4, 400, 7))
    with bad_road(port, road) as way, environment(AWS_ENDPOINT_URL=f"http://127.0.0.1:{way}"):
        a = pa.analyze("s3://data/keyed", "loss", scan=pa.Scan(stream=True))
    assert len(road.requests) > 20
    assert a.data.tallies == here.data.tallies


@pytest.mark.parametrize("after", [1, 12])
def test_a_server_that_stays_broken_is_refused_not_counted(
    port: int, after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(objects, "PAUSE", 0.0)
    road = Road(broken=range(after, 10_000))
    with (
        bad_road(port, road) as way,
        environment(AWS_ENDPOINT_URL=f"http://127.0.0.1:{way}"),
        pytest.raises(PedanovaError, match="s3://data/keyed"),
    ):
        pa.analyze("s3://data/keyed", "loss", scan=pa.Scan(stream=True))


def test_an_object_that_is_replaced_meanwhile_is_refused(port: int, files: Path, tmp_path: Path) -> None:
    scan = scan_of("s3://data/keyed/year=2024/a.parquet")
    assert scan is not None
    x = np.linspace(0, 1, 50)
    (tmp_path / "keyed" / "year=2024").mkdir(parents=True)
    parquet.write_table(arrow_table({"x": x, "loss": x}), tmp_path / "keyed" / "year=2024" / "a.parquet")
    upload(port, tmp_path, "data")
    try:
        with pytest.raises(FormatError, match="was changed while it was being read"):
            list(scan.parts[0].batches(["x", "loss"]))
    finally:
        upload(port, files, "data")


@pytest.fixture
def web(files: Path) -> Iterator[str]:
    import uvicorn
    from starlette.applications import Starlette
    from starlette.routing import Mount
    from starlette.staticfiles import StaticFiles

    app = Starlette(routes=[Mount("/", StaticFiles(directory=files))])
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="critical", lifespan="off"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        thread.join(0.02)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join(10)


def test_a_web_server_gives_the_tallies_of_its_files(web: str, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(objects, "PAUSE", 0.0)
    secret = "X-Signature=very-secret"
    near, far = files / "keyed/year=2025/a.parquet", f"{web}/keyed/year%3D2025/a.parquet?{secret}"
    assert pa.analyze(far, "loss").data.tallies == pa.analyze(near, "loss", scan=pa.Scan(stream=True)).data.tallies
    assert (
        pa.analyze(f"{web}/trials.csv?{secret}", "loss").data.tallies
        == pa.analyze(files / "trials.csv", "loss").data.tallies
    )
    for name in ("none.parquet", "none.csv", "broken.parquet"):
        with pytest.raises(PedanovaError, match=name) as error:
            pa.analyze(f"{web}/{name}?{secret}", "loss")
        assert "very-secret" not in str(error.value)


@pytest.mark.parametrize("name", ["x.csv", "x.parquet"])
def test_a_web_server_that_gives_no_answer_is_no_missing_file(name: str) -> None:
    refuse(PedanovaError, name, "cannot be reached", of=lambda: pa.analyze(f"http://127.0.0.1:{free_port()}/{name}"))

    class Refusing(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_error(int(self.path[1:4]))

        def do_HEAD(self) -> None:
            self.do_GET()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for status, words in ((404, "does not exist"), (403, "status 403")):
            place = f"http://127.0.0.1:{server.server_port}/{status}-{name}?key=very-secret"
            assert "secret" not in refuse(PedanovaError, name, words, of=lambda place=place: pa.analyze(place))
        server.shutdown()


def test_addresses_that_are_no_tables() -> None:
    assert not objects.is_object("http://localhost:5000")
    assert not objects.is_object("postgresql://x/y.parquet")
    assert not objects.is_object("trials.parquet")
    assert objects.is_object("https://example.org/a/trials.parquet?token=1")
    assert objects.shown_address("https://u:p@example.org/a.parquet?token=1") == "https://example.org/a.parquet"


@pytest.mark.parametrize(
    ("pattern", "fits", "not_fits"),
    [
        ("/a/*.parquet", "/a/x.parquet", "/a/b/x.parquet"),
        ("/a/**/*.parquet", "/a/x.parquet", "/b/x.parquet"),
        ("/a/year=202[45]/*", "/a/year=2024/x.pq", "/a/year=2023/x.pq"),
    ],
)
def test_patterns(pattern: str, fits: str, not_fits: str) -> None:
    rule = objects.as_expression(pattern)
    assert re.fullmatch(rule, fits)
    assert not re.fullmatch(rule, not_fits)


def test_the_environment_is_left_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(objects.CHECKSUMS, raising=False)
    with objects.spared_checksums():
        assert os.environ[objects.CHECKSUMS] == "when_required"
    assert objects.CHECKSUMS not in os.environ
    monkeypatch.setenv(objects.CHECKSUMS, "when_supported")
    with objects.spared_checksums():
        assert os.environ[objects.CHECKSUMS] == "when_supported"  # the user's word
    assert os.environ[objects.CHECKSUMS] == "when_supported"


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    objects.web_system.cache_clear()
    with pytest.raises(MissingLibraryError, match="pip install"):
        pa.analyze("https://example.org/x.parquet", "loss")
    objects.web_system.cache_clear()
