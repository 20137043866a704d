"""Check the path of an output file, and write the file completely or not at all."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from pedanova.errors import DataError


@dataclass(frozen=True, slots=True, eq=False)
class Attachment:
    """An additional section of a saved analysis: a header that JSON can store, and named NumPy arrays."""

    header: Mapping[str, Any]
    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)


def check_output_path(path: object) -> Path:
    """Convert `path` to a `Path`; raise an error if no file can be written at that path."""
    if not isinstance(path, str | os.PathLike):
        raise DataError(f"{path!r} is not a path; give a string or a pathlib.Path")
    text = os.fspath(path)
    if not isinstance(text, str) or not text.strip() or "\0" in text:
        raise DataError(f"{text!r} is not a file name; give one such as 'trials.pedanova'")
    place = Path(text)
    try:
        if place.is_dir():
            why = "it is a folder; name a file in it"
        elif not place.parent.is_dir():
            why = "its folder does not exist; create the folder first"
        elif not os.access(place if place.exists() else place.parent, os.W_OK):
            why = "no permission; choose another place"
        else:
            return place
    except OSError as error:  # such as a name that is too long
        why = error.strerror or str(error)
    raise DataError(f"{text} cannot be written: {why}")


def write_file(file: Path, content: bytes) -> None:
    """Write the whole file, or leave the old file unchanged; write to devices such as /dev/stdout directly."""
    try:
        if file.exists() and not file.is_file():
            file.write_bytes(content)
            return
        _replace(file.resolve(), content)
    except OSError as error:
        raise DataError(f"{file} cannot be written: {error.strerror or error}") from None


def sync_folder(folder: Path) -> None:
    """Write the names in a folder to the disk, so that a file keeps its new name after a power failure."""
    if not hasattr(os, "O_DIRECTORY"):  # Windows cannot open folders
        return
    with suppress(OSError):  # some network file systems cannot either
        number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def _replace(file: Path, content: bytes) -> None:
    """Write a temporary file in the same folder, then rename it."""
    partial = file.with_name(f".{file.name[:100]}.{os.getpid()}-{threading.get_ident()}.part")
    try:
        with partial.open("wb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        if file.exists():
            partial.chmod(file.stat().st_mode & 0o777)
        partial.replace(file)
        sync_folder(file.parent)
    except BaseException:  # also after Ctrl-C, no part of a file stays
        with suppress(OSError):
            partial.unlink()
        raise
