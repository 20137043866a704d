"""Arrays with a few words about them, as a file of ours keeps them: few types, sizes known beforehand."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.errors import FormatError

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
    """Its type in a file."""
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
    """How many blocks an attachment takes."""
    if not isinstance(described, dict):
        raise FormatError(f"has an attachment {name!r} without a description")
    return len(listed(described.get("arrays"), name))


def listed(value: object, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise FormatError(f"has {value!r} in {name!r} where a list belongs")
    return value
