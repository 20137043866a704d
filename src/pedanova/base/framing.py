"""Files of ours: a magic, a version, a JSON header, a body and a checksum; written whole or not at all."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterable, Mapping
from typing import Any

from pedanova.errors import FormatError

LONGEST_HEADER = 1 << 26


def framed(magic: bytes, version: int, header: Mapping[str, Any], body: bytes) -> bytes:
    text = json.dumps(header, ensure_ascii=False).encode()
    content = magic + struct.pack("<II", version, len(text)) + text + body
    return content + struct.pack("<I", zlib.crc32(content))


def unframed(content: bytes, magic: bytes, versions: Iterable[int], what: str) -> tuple[dict[str, Any], memoryview]:
    """Header and body, after every check that needs no understanding of them."""
    known = sorted(versions)
    if content[: len(magic)] != magic:
        raise FormatError(f"is no {what} of pedanova")
    if len(content) < len(magic) + 12:
        raise FormatError("is cut short; write it anew")
    version, length = struct.unpack_from("<II", content, len(magic))
    if version not in known:
        raise FormatError(f"is of version {version}, this pedanova reads {known[-1]}; install a matching one")
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
