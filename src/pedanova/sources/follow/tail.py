"""The end of a file that grows: whole lines that were not read before, and whether it is still the same file."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from pedanova.errors import DataError
from pedanova.sources.follow.look import Event

REMEMBERED = 256  # bytes at both ends of what was read, by which a file that was written anew is known


@dataclass(slots=True)
class Tail:
    """Where reading stopped; `taken` moves it, once what was read has been understood."""

    file: Path
    offset: int = 0
    lines: int = 0  # that were taken
    _identity: tuple[int, int] | None = None  # of the file on its disk
    _head: bytes = b""
    _last: bytes = b""

    def fresh(self) -> tuple[bytes, Event | None]:
        """Whole lines behind what was taken; all of them where the file is another than before."""
        try:
            with self.file.open("rb") as data:
                identity, event = self._compared(data)
                data.seek(0 if event else self.offset)
                found = data.read()
        except OSError as error:
            raise DataError(f"{self.file}: {error.strerror or error}; waiting for it to come back") from None
        self._identity = identity
        if event is not None:
            self.restart()
        return found[: found.rfind(b"\n") + 1], event

    def taken(self, read: bytes) -> None:
        """These bytes, the next of those that were read, are settled."""
        self.offset += len(read)
        self.lines += read.count(b"\n")
        if len(self._head) < REMEMBERED:
            self._head = (self._head + read)[:REMEMBERED]
        self._last = (self._last + read)[-REMEMBERED:]

    def restart(self) -> None:
        self.offset, self.lines, self._head, self._last = 0, 0, b"", b""

    def _compared(self, data: BinaryIO) -> tuple[tuple[int, int], Event | None]:
        """Which file it is, and what happened to that which was taken: an append never changes it."""
        found = os.fstat(data.fileno())
        identity = found.st_dev, found.st_ino
        if self._identity is None or not self.offset:
            return identity, None
        if identity != self._identity:
            return identity, "replaced"
        if found.st_size < self.offset:
            return identity, "shortened"
        head = data.read(len(self._head))
        data.seek(self.offset - len(self._last))
        same = (head, data.read(len(self._last))) == (self._head, self._last)
        return identity, None if same else "replaced"
