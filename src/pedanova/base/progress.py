"""How far a long read has come: one line on the error stream, and only where somebody is watching."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import ClassVar, Self, TypeVar

PATIENCE = 1.0  # seconds before the first word
PAUSE = 0.2  # seconds between two words

Item = TypeVar("Item")


def watched(items: Iterable[Item], what: str, total: int | None = None, *, verb: str = "reading") -> Iterator[Item]:
    """The items themselves, counted on a terminal once they take longer than a second."""
    if not sys.stderr.isatty():
        yield from items
        return
    begin = time.monotonic()
    said = begin + PATIENCE - PAUSE
    spoken = False
    try:
        for count, item in enumerate(items):
            now = time.monotonic()
            if now - said > PAUSE:
                said, spoken = now, True
                sys.stderr.write(f"\r{describe(what, count, total, now - begin, verb)}\x1b[K")
                sys.stderr.flush()
            yield item
    finally:
        if spoken:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def describe(what: str, count: int, total: int | None, seconds: float, verb: str = "reading") -> str:
    """
    Examples
    --------
    >>> describe("runs", 500, 2000, 2.0)
    'reading runs: 500 of 2,000, 250 a second, 6 s left'
    """
    rate = count / seconds if seconds > 0 else 0.0
    whole = "" if total is None else f" of {total:,}"
    left = "" if not total or not rate else f", {max(0, total - count) / rate:.0f} s left"
    speed = f"{rate:,.0f} a second" if rate >= 1 else f"{seconds / max(1, count):.1f} s each"
    return f"{verb} {what}: {count:,}{whole}, {speed}{left}"


class StoppedError(Exception):
    """Ends a thread whose result nobody waits for any more."""


class Meter:
    """Counts rows as they come, from any thread; on a terminal it says how far it is."""

    def __init__(self, what: str, total: int | None = None, unit: str = "rows") -> None:
        self.what, self.total, self.unit, self.count = what, total, unit, 0
        self.stopped = False  # threads look here before they go on
        self._lock = threading.Lock()
        self._begin = time.monotonic()
        self._said = self._begin + PATIENCE - PAUSE
        self._spoken = False
        Meter.last = self

    last: ClassVar[Meter | None] = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._spoken:
            sys.stderr.write("\r\x1b[K")

    @property
    def reached(self) -> str:
        whole = "" if self.total is None else f" of {self.total:,}"
        return f"stopped after {self.count:,}{whole} {self.unit} ({self.what})"

    def add(self, rows: int) -> None:
        if self.stopped:
            raise StoppedError
        with self._lock:
            self.count += rows
            now = time.monotonic()
            if now - self._said <= PAUSE or not sys.stderr.isatty():
                return
            self._said, self._spoken = now, True
            sys.stderr.write(f"\r{describe(self.what, self.count, self.total, now - self._begin)}\x1b[K")
            sys.stderr.flush()


def last_meter() -> Meter | None:
    return Meter.last


@contextmanager
def interrupts_told() -> Iterator[None]:
    """Whoever stops a long reading learns how far it had come, wherever the interrupt strikes."""
    Meter.last = None
    try:
        yield
    except KeyboardInterrupt:
        meter = last_meter()
        if meter is not None:
            clear = "\r\x1b[K" if sys.stderr.isatty() else ""
            sys.stderr.write(f"{clear}{meter.reached}\n")
        raise
