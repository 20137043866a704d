"""Any other source, followed as well as can be: read as a whole whenever something in it has changed."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from pathlib import Path

from pedanova.data.records import Records
from pedanova.errors import DataError
from pedanova.sources.follow.look import Event, Look


@dataclass(slots=True)
class Reread:
    """A file or a folder whose parts cannot be told apart."""

    path: Path
    read: Callable[[], Records]
    ordered: bool = False
    _stamp: Hashable = None
    _rows: int = 0

    @property
    def shown(self) -> str:
        return str(self.path)

    def look(self) -> Look:
        stamp = stamp_of(self.path)
        if stamp == self._stamp:
            return Look(None, 0, self._rows)
        records = self.read()
        event: Event | None = "replaced" if records.rows < self._rows else None
        new = records.rows - (0 if event else self._rows)
        self._stamp, self._rows = stamp, records.rows
        return Look(records, new, records.rows, None, event)


def stamp_of(path: Path) -> Hashable:
    """Of a file, or of all files in a folder: it changes when one of them does."""
    try:
        files = [file for file in path.rglob("*") if file.is_file()] if path.is_dir() else [path]
        return frozenset((str(file), file.stat().st_mtime_ns, file.stat().st_size) for file in files)
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}; waiting for it to come back") from None
