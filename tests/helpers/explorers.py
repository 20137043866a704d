"""An explorer in a process of its own, as a user starts it."""

from __future__ import annotations

import gzip
import json
import re
import signal
import ssl
import subprocess
import sys
from base64 import b64decode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

NOTHING_ENCRYPTED = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # else certificates are loaded for every request: 60 ms
get, post, request = (partial(one, verify=NOTHING_ENCRYPTED) for one in (httpx.get, httpx.post, httpx.request))
DEMO = str(resources.files("pedanova.cli") / "demo_trials.csv")
RUN = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "  # as in a terminal
    "from pedanova.cli import main; sys.exit(main(sys.argv[1:]))"
)


def payload_of(page: str) -> dict[str, Any]:
    """What a page knows."""
    packed = re.search(r"id='data'>([^<]*)<", page)
    assert packed is not None
    found: dict[str, Any] = json.loads(gzip.decompress(b64decode(packed[1])))
    return found


@dataclass(frozen=True)
class Served:
    """A running explorer whose address was used."""

    process: subprocess.Popen[str]
    address: str
    page: httpx.Response

    @property
    def url(self) -> str:
        """Another address: one is printed when the last was used."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip().removeprefix("For another browser: ")

    @property
    def origin(self) -> str:
        return f"http://{urlsplit(self.address).netloc}"

    @property
    def port(self) -> int:
        return int(self.origin.rpartition(":")[2])

    @cached_property
    def token(self) -> str:
        """Unpacked once: the page is large, and every request of a test needs it."""
        return str(payload_of(self.page.text)["token"])

    @property
    def headers(self) -> dict[str, str]:
        """What the page's own requests have."""
        return {"x-pedanova-token": self.token, "origin": self.origin}

    def interrupt(self) -> int:
        """Ctrl-C; the status it ends with."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=60)


@contextmanager
def served(*words: str, environment: dict[str, str] | None = None, opens: bool = False) -> Iterator[Served]:
    """`pedanova explore` with these words, until the block ends; `opens`: with a browser."""
    command: Sequence[Any] = [sys.executable, "-c", RUN, "explore", *words, *([] if opens else ["--no-open"])]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, cwd=Path.cwd()
    )
    assert process.stdout is not None
    url = process.stdout.readline().strip()
    try:
        assert url.startswith("http://127.0.0.1:"), process.stderr.read() if process.stderr else url
        yield Served(process, url, get(url))
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(timeout=60)
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def demo() -> tuple[str, ...]:
    return DEMO, "--objective", "error", "--exclude", "train_seconds"
