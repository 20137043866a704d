"""Show the progress of a long read as one line on the error stream; nothing is printed outside a terminal."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterable, Iterator
from typing import Self, TypeVar

PATIENCE = 1.0  # seconds before the first message
PAUSE = 0.2  # seconds between two messages

Item = TypeVar("Item")


def describe(what: str, count: int, total: int | None, seconds: float, verb: str = "reading") -> str:
    """The text of a progress line, such as ``reading runs: 500 of 2,000, 250 a second, 6 s left``."""
    rate = count / seconds if seconds > 0 else 0.0
    whole = "" if total is None else f" of {total:,}"
    left = "" if not total or not rate else f", {max(0, total - count) / rate:.0f} s left"
    speed = f"{rate:,.0f} a second" if rate >= 1 else f"{seconds / max(1, count):.1f} s each"
    return f"{verb} {what}: {count:,}{whole}, {speed}{left}"


class StoppedError(Exception):
    """Raised to end a thread whose result is no longer needed."""


class Meter:
    """Counts rows from any thread, and prints the progress in a terminal."""

    def __init__(self, what: str, total: int | None = None, *, verb: str = "reading") -> None:
        self.what, self.total, self.verb, self.count = what, total, verb, 0
        self.stopped = False  # threads check this before they continue
        self._lock = threading.Lock()
        self._begin = time.monotonic()
        self._reported = self._begin + PATIENCE - PAUSE
        self._written = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._written:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def add(self, rows: int) -> None:
        if self.stopped:
            raise StoppedError
        with self._lock:
            self.count += rows
            self.report()

    def report(self) -> None:
        """Print the progress, at most a few times a second and only in a terminal."""
        now = time.monotonic()
        if now - self._reported <= PAUSE or not sys.stderr.isatty():
            return
        self._reported, self._written = now, True
        line = describe(self.what, self.count, self.total, now - self._begin, self.verb)
        sys.stderr.write(f"\r{line}\x1b[K")
        sys.stderr.flush()


def watched(items: Iterable[Item], what: str, total: int | None = None, *, verb: str = "reading") -> Iterator[Item]:
    """Iterate over the items, and print the progress in a terminal if the iteration takes longer than a second."""
    if not sys.stderr.isatty():
        yield from items
        return
    meter = Meter(what, total, verb=verb)
    try:
        for item in items:
            meter.report()
            yield item
            meter.count += 1
    finally:
        meter.__exit__()
