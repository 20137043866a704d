"""A real S3 server for the tests, and a road to it that can be bad: busy answers, connections that break off."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from helpers.servers import free_port

BUSY = b'<?xml version="1.0"?><Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>'
KEYS = {"AWS_ACCESS_KEY_ID": "test-key", "AWS_SECRET_ACCESS_KEY": "very-secret", "AWS_REGION": "us-east-1"}
PATIENCE = 60.0


@contextmanager
def s3_server() -> Iterator[int]:
    """Moto's server on a free port."""
    port = free_port()
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen([sys.executable, "-W", "ignore", "-m", "moto.server", "-p", str(port)], **quiet)
    try:
        end = time.monotonic() + PATIENCE
        while not answers(port):
            if process.poll() is not None or time.monotonic() > end:
                pytest.fail("moto's server does not start")
            time.sleep(0.2)
        yield port
    finally:
        process.terminate()
        process.wait()


def answers(port: int) -> bool:
    try:
        connection = HTTPConnection("127.0.0.1", port, timeout=5)
        connection.request("GET", "/moto-api/data.json")
        return connection.getresponse().status == 200
    except OSError:
        return False


def upload(port: int, folder: Path, bucket: str) -> None:
    """All files of a folder, under their relative names."""
    from pyarrow import fs

    store = fs.S3FileSystem(
        endpoint_override=f"127.0.0.1:{port}", scheme="http", allow_bucket_creation=True, region="us-east-1"
    )
    store.create_dir(bucket)
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            with store.open_output_stream(f"{bucket}/{file.relative_to(folder).as_posix()}") as out:
                out.write(file.read_bytes())


@dataclass
class Road:
    """What happens to the requests of objects on their way: numbers of those that find a busy server, or break off."""

    busy: Any = ()
    broken: Any = ()
    requests: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def fate(self, line: str) -> str:
        with self.lock:
            self.requests.append(line)
            number = len(self.requests)
        return "busy" if number in self.busy else "broken" if number in self.broken else "well"


@contextmanager
def bad_road(port: int, road: Road) -> Iterator[int]:
    """A port that leads to the server, over that road."""

    class Way(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None: ...

        def pass_on(self) -> None:
            length = int(self.headers.get("content-length", 0))
            body = self.rfile.read(length)
            fate = road.fate(f"{self.command} {self.path}")
            if fate == "busy":
                self.answer(503, {"content-type": "application/xml"}, BUSY)
                return
            there = HTTPConnection("127.0.0.1", port, timeout=30)
            there.request(self.command, self.path, body, dict(self.headers))
            reply = there.getresponse()
            content = reply.read()
            headers = {k: v for k, v in reply.getheaders() if k.lower() not in ("transfer-encoding", "connection")}
            if self.command != "HEAD":
                headers = {k: v for k, v in headers.items() if k.lower() != "content-length"}
            self.answer(reply.status, headers, content, cut=fate == "broken")

        def answer(self, status: int, headers: dict[str, str], content: bytes, *, cut: bool = False) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            if "content-length" not in {name.lower() for name in headers}:
                self.send_header("content-length", str(len(content)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content[: len(content) // 2] if cut else content)
            if cut:
                self.wfile.flush()
                self.close_connection = True

        do_GET = do_HEAD = do_POST = do_PUT = pass_on  # noqa: N815

    with ThreadingHTTPServer(("127.0.0.1", 0), Way) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()


@contextmanager
def environment(**values: str) -> Iterator[None]:
    """Variables for a while; file systems that were made under others are forgotten."""
    from pedanova.sources.scans.objects import store_system

    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    store_system.cache_clear()
    try:
        yield
    finally:
        store_system.cache_clear()
        for name, value in before.items():
            if value is None:
                os.environ.pop(name)
            else:
                os.environ[name] = value
