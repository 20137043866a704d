"""Files that must not change while they are read: what a file was at first, and whether it is so still."""

from __future__ import annotations

import platform
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pedanova.errors import FormatError
from pedanova.sources.scans.objects import ObjectFile

Found = TypeVar("Found")
TRIES = 3


@dataclass(frozen=True, slots=True)
class Stamp:
    """A file's size and when it was changed last; the latter is compared on one machine only, for copies differ."""

    size: int
    changed: int
    machine: str  # the same everywhere for what lies in a store

    @classmethod
    def of(cls, file: Path | ObjectFile) -> Stamp | None:
        """None for what is no plain file, such as a pipe."""
        if isinstance(file, ObjectFile):
            return cls(*file.state(), "store")
        found = file.stat()
        return cls(found.st_size, found.st_mtime_ns, platform.node()) if stat.S_ISREG(found.st_mode) else None

    def is_as(self, other: Stamp | None) -> bool:
        if other is None or self.size != other.size:
            return False
        return self.machine != other.machine or self.changed == other.changed


def read_steadily(file: Path, read: Callable[[], Found]) -> Found:
    """What is read of a file, read anew where it was changed meanwhile; one that changes every time is refused."""
    for _ in range(TRIES - 1):
        before = Stamp.of(file)
        try:
            found = read()
        except FormatError:
            if is_steady(file, before):
                raise
            continue
        if is_steady(file, before):
            return found
    before = Stamp.of(file)
    found = read()
    check_steady(file, before)
    return found


def is_steady(file: Path | ObjectFile, before: Stamp | None) -> bool:
    try:
        check_steady(file, before)
    except FormatError:
        return False
    return True


def check_steady(file: Path | ObjectFile, before: Stamp | None) -> None:
    """Refuse what was read of a file that is another by now."""
    if before is None:
        return
    try:
        after = Stamp.of(file)
    except FileNotFoundError:
        raise FormatError(f"{file} was removed while it was read; nothing of it is used") from None
    if not before.is_as(after):
        grown = 0 if after is None else after.size - before.size
        how = (
            f"it is {abs(grown):,} bytes {'longer' if grown > 0 else 'shorter'} now" if grown else "its time is another"
        )
        raise FormatError(
            f"{file} was changed while it was read ({how}); wait until it is complete, or copy it and read the copy"
        )
