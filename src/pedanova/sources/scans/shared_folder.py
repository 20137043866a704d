"""A folder that several machines read and write: on a disk that all of them have, or in an object store.

A file in it is there as a whole or not at all: on a disk it takes its name when it is complete, and stores show an
object once all of it has arrived.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from pedanova.base.files import write_whole
from pedanova.errors import DataError, listed
from pedanova.sources.scans.objects import STORES, ObjectFile, below, opened_store, plain_words, retried, shown_address

WRITABLE = tuple(scheme for scheme in STORES if scheme != "hf")


@dataclass(frozen=True, slots=True)
class SharedFolder:
    """Its path or address; plain text, so that it can be sent to another process."""

    place: str

    def __str__(self) -> str:
        return shown_address(self.place) if self.is_far else self.place

    @property
    def is_far(self) -> bool:
        return "://" in self.place

    def path(self, name: str) -> Path:
        return Path(self.place) / name

    def address(self, name: str) -> str:
        parsed = urlsplit(self.place)
        return parsed._replace(path=f"{parsed.path.rstrip('/')}/{name}").geturl()

    def prepare(self) -> None:
        """Make it where it is not there yet; refused in words where nothing can be written."""
        if self.is_far:
            scheme = urlsplit(self.place).scheme
            if scheme not in WRITABLE:
                raise DataError(f"{self} cannot be written: use a folder on a disk, or one in {listed(WRITABLE)}")
            return
        folder = Path(self.place)
        try:
            folder.mkdir(exist_ok=True)
        except FileNotFoundError:
            raise DataError(f"{self} cannot be written: the folder around it does not exist; make it first") from None
        except FileExistsError:
            raise DataError(f"{self} cannot be written: it is a file, no folder; name another") from None
        except OSError as error:
            raise DataError(f"{self} cannot be written: {error.strerror or error}") from None
        if not os.access(folder, os.W_OK | os.X_OK):
            raise DataError(f"{self} cannot be written: no permission; choose another place")

    def names(self) -> list[str]:
        """The names of all files that lie in it."""
        if self.is_far:
            found = below(self.place, urlsplit(self.place).path)
            return [urlsplit(one).path.rpartition("/")[2] for one in found]
        try:
            return sorted(entry.name for entry in os.scandir(self.place) if entry.is_file())
        except OSError as error:
            raise DataError(f"{self} cannot be read: {error.strerror or error}") from None

    def read(self, name: str) -> bytes | None:
        """A file's content; None where there is none of that name."""
        try:
            return retried(lambda: self._content(name))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise DataError(f"{self}/{name} cannot be read: {error.strerror or error}") from None

    def _content(self, name: str) -> bytes:
        if not self.is_far:
            return self.path(name).read_bytes()
        with ObjectFile(self.address(name)).open() as source:
            return bytes(source.read())

    def write(self, name: str, content: bytes) -> None:
        if not self.is_far:
            write_whole(self.path(name), content)
            return
        try:
            retried(lambda: self._send(name, content))
        except OSError as error:
            raise DataError(f"{self}/{name} cannot be written: {error}") from None

    def _send(self, name: str, content: bytes) -> None:
        filesystem, path = opened_store(self.address(name))
        with plain_words(self.address(name)), filesystem.open_output_stream(path) as out:
            out.write(content)

    def remove(self, name: str) -> None:
        """Take a file away that nobody needs; where that cannot be, it stays."""
        with suppress(OSError):
            if not self.is_far:
                self.path(name).unlink(missing_ok=True)
                return
            filesystem, path = opened_store(self.address(name))
            with plain_words(self.address(name)):
                filesystem.delete_file(path)


def folder_at(place: object) -> SharedFolder | None:
    """The folder that a path or an address names; None for the path of a file. An address is always a folder's."""
    text = os.fspath(place) if isinstance(place, str | os.PathLike) else ""
    if not isinstance(text, str):
        return None
    return SharedFolder(text) if "://" in text or text.endswith(("/", os.sep)) or os.path.isdir(text) else None  # noqa: PTH112
