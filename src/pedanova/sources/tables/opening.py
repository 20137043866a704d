"""Text files, plain or compressed by gzip; what a compressed file may hold is limited by its size."""

from __future__ import annotations

import gzip
import io
import zlib
from pathlib import Path, PurePath
from typing import TextIO

from pedanova.errors import FormatError

MOST_TIMES = 50  # as large as the file itself; tables of text are seldom packed tighter than 20 times
FREE = 1 << 20  # bytes that any file may hold


def is_packed(file: PurePath) -> bool:
    return file.suffix.lower() == ".gz"


def suffix_of(file: PurePath) -> str:
    """The suffix that tells the kind: .csv of trials.csv and of trials.csv.gz."""
    return (PurePath(file.stem).suffix if is_packed(file) else file.suffix).lower()


def read_bytes(file: Path) -> bytes:
    """All of a file, unpacked."""
    if not is_packed(file):
        return file.read_bytes()
    most = MOST_TIMES * file.stat().st_size + FREE
    try:
        with gzip.open(file) as packed:
            data = packed.read(most + 1)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise FormatError(f"{file} is no gzip file, or was cut off ({error}); pack it again") from None
    if len(data) > most:
        raise FormatError(f"{file} unpacks to more than {MOST_TIMES} times its size; unpack it yourself")
    return data


def open_text(file: Path) -> TextIO:
    """The letters of a file, its lines as they end."""
    if not is_packed(file):
        return file.open(encoding="utf-8-sig", newline="")
    return io.TextIOWrapper(io.BytesIO(read_bytes(file)), encoding="utf-8-sig", newline="")
