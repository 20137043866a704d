"""Files of ours: framed content with a checksum, arrays with a header, and safe writing."""

from __future__ import annotations

import json
import math
import os
import re
import struct
import threading
import time
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.errors import DataError, FormatError

LONGEST_HEADER = 1 << 26


def encode_file(magic: bytes, version: int, header: Mapping[str, Any], body: bytes) -> bytes:
    text = json.dumps(header, ensure_ascii=False).encode()
    content = magic + struct.pack("<II", version, len(text)) + text + body
    return content + struct.pack("<I", zlib.crc32(content))


def decode_file(content: bytes, magic: bytes, version: int, what: str) -> tuple[dict[str, Any], memoryview]:
    """Header and body, after every check that needs no understanding of them."""
    if content[: len(magic)] != magic:
        raise FormatError(f"is no {what} of pedanova")
    if len(content) < len(magic) + 12:
        raise FormatError("is cut short; write it anew")
    written, length = struct.unpack_from("<II", content, len(magic))
    if written != version:
        words = f"is a {what} of version {written}, and this pedanova reads version {version} alone; "
        raise FormatError(words + "write it anew from the data, or install the pedanova that wrote it")
    (checksum,) = struct.unpack_from("<I", content, len(content) - 4)
    if zlib.crc32(memoryview(content)[:-4]) != checksum:
        raise FormatError("is damaged or cut short (its checksum does not fit); write it anew")
    start = len(magic) + 8
    if length > min(LONGEST_HEADER, len(content) - start - 4):
        raise FormatError(f"claims a header of {length} bytes, more than it holds")
    try:
        header = json.loads(content[start : start + length])
    except (ValueError, RecursionError):
        raise FormatError("has a header that is no JSON") from None
    if not isinstance(header, dict):
        raise FormatError("has a header that is no JSON object")
    return header, memoryview(content)[start + length : -4]


TYPES = ("<f8", "<f4", "<i8", "<i4", "<i2", "|i1", "<u8", "<u4", "<u2", "|u1", "|b1", "<M8[ns]", "<m8[ns]")
ZLIB_BEST = 1040  # zlib never shrinks data by more than about this factor
MOST_AXES = 3


@dataclass(frozen=True, slots=True, eq=False)
class Attachment:
    """What some part of an analysis keeps in its own way."""

    header: Mapping[str, Any]
    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    def described(self) -> dict[str, Any]:
        """All but the arrays themselves, for a header in JSON."""
        arrays = [
            {"name": name, "type": type_of(array), "shape": list(array.shape)} for name, array in self.arrays.items()
        ]
        return {"about": dict(self.header), "arrays": arrays}

    def blocks(self) -> Iterator[bytes]:
        for array in self.arrays.values():
            yield packed(array)


def type_of(array: NDArray[Any]) -> str:
    kind = (
        "<M8[ns]"
        if array.dtype.kind == "M"
        else "<m8[ns]"
        if array.dtype.kind == "m"
        else array.dtype.newbyteorder("<").str
    )
    if kind not in TYPES:
        raise ValueError(f"arrays of type {array.dtype} cannot be kept")
    return str(kind)


def packed(array: NDArray[Any]) -> bytes:
    return zlib.compress(np.ascontiguousarray(array).astype(type_of(array)).tobytes(), 6)


def unpacked(block: memoryview, kind: str, shape: tuple[int, ...], what: str) -> NDArray[Any]:
    """An array; a block never unfolds to more than its shape needs."""
    wanted = math.prod(shape) * np.dtype(kind).itemsize
    if wanted > ZLIB_BEST * len(block) + 64:
        raise FormatError(f"{what} of {len(block)} bytes cannot hold {wanted}")
    unfolder = zlib.decompressobj()
    try:
        content = unfolder.decompress(block, wanted) if wanted else b""
        ended = not wanted or (not unfolder.unconsumed_tail and (unfolder.eof or unfolder.decompress(b"", 1) == b""))
    except zlib.error:
        raise FormatError(f"{what} is damaged") from None
    if len(content) != wanted or not ended:
        raise FormatError(f"{what} does not have the {wanted} bytes it should")
    return np.frombuffer(content, dtype=kind).reshape(shape).astype(np.dtype(kind).newbyteorder("="))


def attached(described: object, blocks: Iterator[memoryview], name: str) -> Attachment:
    """The inverse of `described` and `blocks`, distrustful."""
    if not isinstance(described, dict) or not isinstance(described.get("about"), dict):
        raise FormatError(f"has an attachment {name!r} without a description")
    arrays = {}
    for one in listed(described.get("arrays"), name):
        kind, shape, own = one.get("type"), listed(one.get("shape"), name), one.get("name")
        if kind not in TYPES or not isinstance(own, str) or len(shape) > MOST_AXES:
            raise FormatError(f"has an array {own!r} of type {kind!r} in {name!r}")
        if not all(isinstance(size, int) and not isinstance(size, bool) and 0 <= size < 2**40 for size in shape):
            raise FormatError(f"has an array {own!r} of shape {shape!r} in {name!r}")
        arrays[own] = unpacked(next(blocks), kind, tuple(shape), f"{name}: {own}")
    return Attachment(described["about"], arrays)


def count_of(described: object, name: str) -> int:
    if not isinstance(described, dict):
        raise FormatError(f"has an attachment {name!r} without a description")
    return len(listed(described.get("arrays"), name))


def listed(value: object, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise FormatError(f"has {value!r} in {name!r} where a list belongs")
    return value


LEFT_OVER = 3600.0  # seconds; whoever still writes has touched its file since


def check_output_path(path: object) -> Path:
    """The path, refused in words where no file can be written."""
    if not isinstance(path, str | os.PathLike):
        raise DataError(f"{path!r} is no path; give a string or a pathlib.Path")
    text = os.fspath(path)
    if not isinstance(text, str) or not text.strip() or "\0" in text:
        raise DataError(f"{text!r} is no name of a file; give one such as 'trials.pedanova'")
    place = Path(text)
    try:
        if place.is_dir():
            why = "it is a folder; name a file in it"
        elif not place.parent.is_dir():
            why = "its folder does not exist; make it first"
        elif not os.access(place if place.exists() else place.parent, os.W_OK):
            why = "no permission; choose another place"
        else:
            return place
    except OSError as error:  # such as a name that is too long
        why = error.strerror or str(error)
    raise DataError(f"{text} cannot be written: {why}")


def write_file(file: Path, content: bytes) -> None:
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
    partial = re.compile(rf"{re.escape(f'.{file.name[:100]}.')}\d+-\d+\.part")
    with suppress(OSError):
        for place in file.parent.iterdir():
            if partial.fullmatch(place.name) and time.time() - place.stat().st_mtime > LEFT_OVER:
                place.unlink()
