"""Columns of files in stores that are read more than once: kept in memory, as far as there is room for them.

A byte from a store costs twenty times what one from a disk does. The objective is read for the slots, for the rows
beside thresholds and for the counts; in single precision ninety million rows of it fit here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, TypeAlias

ROOM = 360 << 20  # bytes
Key: TypeAlias = tuple[str, int, str]  # file, row group, column


@dataclass(slots=True, eq=False)
class KeptColumns:
    """Columns as Arrow holds them, by file and row group; threads may share one."""

    names: frozenset[str]
    room: int = ROOM
    _held: dict[Key, Any] = field(default_factory=dict, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def of(self, path: str, group: int, names: Iterable[str]) -> dict[str, Any]:
        """Those of the columns that are here."""
        return {name: self._held[path, group, name] for name in names if (path, group, name) in self._held}

    def keep(self, path: str, group: int, columns: Mapping[str, Any]) -> None:
        """Take in what is to be kept, while there is room."""
        for name in self.names & set(columns):
            size = int(columns[name].nbytes)
            with self._lock:
                if size <= self.room and (path, group, name) not in self._held:
                    self._held[path, group, name] = columns[name]
                    self.room -= size


def read_group(opened: Callable[[], Any], path: str, group: int, names: Sequence[str], kept: KeptColumns | None) -> Any:
    """These columns of a row group: from memory what is there, the others out of the file, opened if need be."""
    import pyarrow as pa

    here = {} if kept is None else kept.of(path, group, names)
    missing = [name for name in names if name not in here]
    if missing:
        read = opened().read_row_group(group, columns=missing, use_threads=False)
        if not here and kept is None:
            return read
        here |= {name: read.column(name) for name in missing}
    if kept is not None:
        kept.keep(path, group, {name: here[name] for name in missing})
    return pa.table({name: here[name] for name in names})
