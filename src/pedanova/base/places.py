"""Where files are written: refused before the work where no file can be, replaced whole or not at all."""

from __future__ import annotations

import os
import re
import threading
import time
from contextlib import suppress
from pathlib import Path

from pedanova.errors import DataError

LEFT_OVER = 3600.0  # seconds; whoever still writes has touched its file since


def check_place(path: object) -> Path:
    """The path, refused in words where no file can be written."""
    if not isinstance(path, str | os.PathLike):
        raise DataError(f"{path!r} is no path; give a string or a pathlib.Path")
    text = os.fspath(path)
    if not isinstance(text, str) or not text.strip() or "\0" in text:
        raise DataError(f"{text!r} is no name of a file; give one such as 'trials.pedanova'")
    place = Path(text)
    why = _why_not(place)
    if why is not None:
        raise DataError(f"{text} cannot be written: {why}")
    return place


def _why_not(place: Path) -> str | None:
    try:
        if place.is_dir():
            return "it is a folder; name a file in it"
        if not place.parent.is_dir():
            return "its folder does not exist; make it first"
    except OSError as error:  # such as a name that is too long
        return error.strerror or str(error)
    writable = os.access(place, os.W_OK) if place.exists() else os.access(place.parent, os.W_OK)
    return None if writable else "no permission; choose another place"


def write_whole(file: Path, content: bytes) -> None:
    """The new content as a whole, or the old one untouched; a crash leaves one of them.

    What is no plain file, such as /dev/stdout, is written to as it is.
    """
    try:
        if file.exists() and not file.is_file():
            file.write_bytes(content)
            return
        _replace(file.resolve(), content)
    except OSError as error:
        raise DataError(f"{file} cannot be written: {error.strerror or error}") from None


def _replace(file: Path, content: bytes) -> None:
    """Through a neighbour, which takes the file's place once it lies on the disk."""
    _sweep(file)
    partial = file.with_name(f".{file.name[:100]}.{os.getpid()}-{threading.get_ident()}.part")
    try:
        with partial.open("wb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        if file.exists():
            partial.chmod(file.stat().st_mode & 0o777)
        partial.replace(file)
    except BaseException:
        with suppress(OSError):
            partial.unlink()
        raise


def _sweep(file: Path) -> None:
    """Remove what a process that was killed in the midst of writing this very file left long ago."""
    known = re.compile(rf"{re.escape(f'.{file.name[:100]}.')}\d+-\d+\.part")
    with suppress(OSError):
        for place in file.parent.iterdir():
            if known.fullmatch(place.name) and time.time() - place.stat().st_mtime > LEFT_OVER:
                place.unlink()
