"""An explorer in a process of its own, as a user starts it."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

DEMO = str(resources.files("pedanova.cli") / "demo_trials.csv")
RUN = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "  # as in a terminal
    "from pedanova.cli import main; sys.exit(main(sys.argv[1:]))"
)


@dataclass(frozen=True)
class Served:
    """A running explorer."""

    process: subprocess.Popen[str]
    url: str

    @property
    def origin(self) -> str:
        return f"http://{urlsplit(self.url).netloc}"

    @property
    def port(self) -> int:
        return int(self.origin.rpartition(":")[2])

    @property
    def token(self) -> str:
        return parse_qs(urlsplit(self.url).query)["token"][0]

    @property
    def headers(self) -> dict[str, str]:
        """What the page's own requests have."""
        return {"cookie": f"pedanova-{self.port}={self.token}", "origin": self.origin}

    def interrupt(self) -> int:
        """Ctrl-C; the status it ends with."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=60)


@contextmanager
def served(*words: str, environment: dict[str, str] | None = None) -> Iterator[Served]:
    """`pedanova explore` with these words, until the block ends."""
    command: Sequence[Any] = [sys.executable, "-c", RUN, "explore", *words, "--no-open"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, cwd=Path.cwd()
    )
    assert process.stdout is not None
    url = process.stdout.readline().strip()
    try:
        assert url.startswith("http://127.0.0.1:"), process.stderr.read() if process.stderr else url
        yield Served(process, url)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(timeout=60)
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def demo() -> tuple[str, ...]:
    return DEMO, "--objective", "error", "--exclude", "train_seconds"
