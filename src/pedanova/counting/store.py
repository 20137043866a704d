"""Save tallies in a small file and load them again, without pickle; the content of a file is checked.

A file begins with 8 magic bytes, the version, and the CRC-32 of the rest (both uint32, little-endian). The rest is a
NumPy archive (`.npz`) with a JSON header and the arrays. docs/file-format.md describes every field.
"""

from __future__ import annotations

import io
import json
import math
import operator
import os
import struct
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.base.files import Attachment, check_output_path, write_file
from pedanova.base.notes import Note
from pedanova.counting.levels import MAX_LEVELS, Levels
from pedanova.counting.tally import Moments, Tally, centres_of, powers_of
from pedanova.errors import DataError, FormatError, PedanovaError
from pedanova.space.grid import grid_of
from pedanova.space.parameters import Space

MAGIC = b"\x89PEDA\r\n\x1a"
VERSION = 5
LONGEST_HEADER = 1 << 26
TINY = float(np.finfo(np.float64).tiny)  # larger than the rounding error of squares near the smallest double
DAMAGE = (  # errors from files with a correct checksum and wrong content
    AttributeError, EOFError, LookupError, TypeError, ValueError, ArithmeticError, MemoryError, OSError, RuntimeError,
    PedanovaError, zipfile.BadZipFile, zlib.error,
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Stored:
    objective: str
    dropped: int
    levels: Levels
    tallies: Mapping[str, Tally]
    notes: tuple[Note, ...]
    moments: Moments | None = None  # None for several objectives
    attachments: Mapping[str, Attachment] = field(default_factory=dict)  # "rows" or "sample"


def write_tallies(path: str | os.PathLike[str], stored: Stored) -> None:
    write_file(check_output_path(path), to_bytes(stored))


def read_tallies(path: str | os.PathLike[str]) -> Stored:
    if not isinstance(path, str | os.PathLike):
        raise DataError(f"{path!r} is not a path; give a string or a pathlib.Path")
    file = Path(path)
    try:
        content = file.read_bytes()
    except OSError as error:
        raise DataError(f"{file} cannot be read: {error.strerror or error}") from None
    try:
        return from_bytes(content)
    except FormatError as error:
        raise named(error, file) from None


def named(error: FormatError, file: str | os.PathLike[str]) -> FormatError:
    """The error with the name of the file in front, and with a remedy if it has none."""
    remedy = () if ";" in str(error) else ("; save the analysis again",)
    return FormatError(f"{os.fspath(file)} ", *error.words, *remedy)


def to_bytes(stored: Stored) -> bytes:
    levels = stored.levels
    arrays: dict[str, Any] = {"thresholds": levels.thresholds}
    for i, tally in enumerate(stored.tallies.values()):
        arrays |= {f"counts {i}": tally.counts, f"sums {i}": tally.sums}
    if stored.moments is not None:
        arrays["moments"] = np.stack([stored.moments.sums, stored.moments.squares])
    for name, one in stored.attachments.items():
        arrays |= {f"{name}/{key}": array for key, array in one.arrays.items()}
    header = {
        "objective": stored.objective,
        "direction": levels.direction,
        "nan": levels.nan,
        "dropped": stored.dropped,
        "levels": levels.count,
        "quantiles": [[part.numerator, part.denominator] for part in levels.quantiles],
        "index": list(levels.index),
        "complete": levels.complete,
        "own": levels.own,
        "several": levels.several,
        "space": Space({name: tally.parameter for name, tally in stored.tallies.items()}).to_dict(),
        "notes": [note.to_dict() for note in stored.notes],
        "attachments": {name: dict(one.header) for name, one in stored.attachments.items()},
    }
    archive = io.BytesIO()
    np.savez_compressed(archive, header=np.frombuffer(json.dumps(header).encode(), dtype=np.uint8), **arrays)
    body = archive.getvalue()
    return MAGIC + struct.pack("<II", VERSION, zlib.crc32(body)) + body


def from_bytes(content: bytes) -> Stored:
    start = len(MAGIC) + 8
    if content[: len(MAGIC)] != MAGIC:
        raise FormatError("was not saved by pedanova, or is damaged; save it again (tables need a suffix such as .csv)")
    if len(content) < start:
        raise FormatError("is cut short; write it again")
    version, checksum = struct.unpack_from("<II", content, len(MAGIC))
    if version != VERSION:
        words = f"has file version {version}, but this pedanova reads only version {VERSION}; "
        raise FormatError(words + "write it again from the data, or install the version of pedanova that wrote it")
    if zlib.crc32(memoryview(content)[start:]) != checksum:
        raise FormatError("is damaged or cut short (its checksum is wrong); write it again")
    try:
        with np.load(io.BytesIO(content[start:]), allow_pickle=False) as archive:
            return decode(archive)
    except FormatError:
        raise
    except DAMAGE as error:
        raise FormatError(f"has damaged content ({type(error).__name__}: {error})") from None


def decode(archive: Any) -> Stored:
    if archive.zip.getinfo("header.npy").file_size > LONGEST_HEADER:
        raise FormatError(f"has a header of more than {LONGEST_HEADER} bytes")
    header = json.loads(archive["header"].tobytes())
    space = Space.from_dict(header["space"])
    count = header["levels"]
    if not isinstance(count, int) or not 0 < count <= MAX_LEVELS or not space:
        raise FormatError(f"has an invalid header: {count!r} levels, {len(space)} parameters")
    levels = decode_levels(header, array_in(archive, "thresholds", "f", (count,)))
    tallies = {}
    for i, (name, parameter) in enumerate(space.items()):
        shape = (count, grid_of(parameter).width)
        counts, sums = array_in(archive, f"counts {i}", "i", shape), array_in(archive, f"sums {i}", "f", shape)
        tallies[name] = Tally(name, parameter, levels, counts.astype(np.int64), sums.astype(np.float64))
    check_counts(tallies)
    moments = None
    if "moments" in archive.files:
        moments = decode_moments(levels, tallies, array_in(archive, "moments", "f", (2, count)))
    objective, dropped = header["objective"], header["dropped"]
    if not isinstance(objective, str) or type(dropped) is not int or dropped < 0:
        raise FormatError(f"has an invalid header: objective {objective!r}, dropped rows {dropped!r}")
    return Stored(
        objective=objective,
        dropped=dropped,
        levels=levels,
        tallies=tallies,
        notes=tuple(map(Note.from_dict, header["notes"])),
        moments=moments,
        attachments=attachments_in(archive, header["attachments"], next(iter(tallies.values())).rows + dropped),
    )


def array_in(archive: Any, name: str, kind: str, shape: tuple[int, ...]) -> NDArray[Any]:
    """Read an array of 8-byte numbers; check its size before it is decompressed."""
    size = archive.zip.getinfo(f"{name}.npy").file_size
    array = archive[name] if size <= 8 * math.prod(shape) + 1024 else np.empty(0)
    if array.shape != shape or array.dtype.kind != kind:
        raise FormatError(f"has an array {name!r} of {size} bytes with the wrong type or shape (expected: {shape})")
    return np.asarray(array)


def attachments_in(archive: Any, headers: Mapping[str, Mapping[str, Any]], most: int) -> dict[str, Attachment]:
    """Read the attachments, which have one number for each row, and at most `most` rows; sizes are checked first."""
    attachments = {}
    for name, about in headers.items():
        rows = about["rows"]
        if type(rows) is not int or not 0 <= rows <= most:
            raise FormatError(f"has an invalid header: {rows!r} rows are kept of {most}")
        keys = [key for key in archive.files if key.startswith(f"{name}/")]
        large = [key for key in keys if archive.zip.getinfo(f"{key}.npy").file_size > 8 * rows + 1024]
        if large:
            raise FormatError(f"has more data in {large[0]!r} than {rows} rows need")
        attachments[name] = Attachment(dict(about), {key.removeprefix(f"{name}/"): archive[key] for key in keys})
    return attachments


def decode_levels(header: Mapping[str, Any], thresholds: NDArray[Any]) -> Levels:
    direction, nan = header["direction"], header["nan"]
    if direction not in ("minimize", "maximize") or nan not in ("drop", "worst"):
        raise FormatError(f"has an invalid header: direction {direction!r}, NaN policy {nan!r}")
    quantiles = tuple(Fraction(*part) for part in header["quantiles"])
    index = tuple(map(operator.index, header["index"]))
    levels = Levels(
        direction=direction,
        nan=nan,
        thresholds=thresholds.astype(np.float64),
        quantiles=quantiles,
        index=index,
        complete=bool(header["complete"]),
        own=bool(header["own"]),
        several=bool(header["several"]),
    )
    signed = levels.sign * levels.thresholds
    rising = bool(np.all(np.diff(signed[:-1]) > 0)) and bool(np.all(signed[:-1] < math.inf))
    if not rising or signed[-1] != math.inf or len(index) != len(quantiles):
        raise FormatError("has thresholds that are not in order")
    in_order = list(quantiles) == sorted(set(quantiles)) and list(index) == sorted(index)
    if not in_order or not 0 < quantiles[0] <= quantiles[-1] == 1 or not 0 <= index[0] <= index[-1] < levels.count:
        raise FormatError("has quantiles that are not in order")
    return levels


def decode_moments(levels: Levels, tallies: Mapping[str, Tally], block: NDArray[Any]) -> Moments:
    """Read the moments of the objective, and check that they are possible: (Σd)² ≤ rows · Σd², up to rounding."""
    sums, squares = block.astype(np.float64)
    rows = next(iter(tallies.values())).by_level
    with np.errstate(invalid="ignore", over="ignore"):
        finite = np.isfinite(squares)
        possible = np.abs(sums) <= np.sqrt(rows * (squares + rows * TINY)) * (1 + 1e-6)
    if not np.all(possible | (~finite & (rows > 0))):
        raise FormatError("has sums of the objective that contradict its numbers of rows")
    return Moments(centres_of(levels), rows, sums, squares, powers_of(levels))


def check_counts(tallies: Mapping[str, Tally]) -> None:
    """Check that all tallies have the same number of rows in each level."""
    first = next(iter(tallies.values()))
    for name, tally in tallies.items():
        if tally.counts.min() < 0 or tally.counts.max() > 2**53:
            raise FormatError(f"has impossible counts of {name!r}")
        if not np.array_equal(tally.by_level, first.by_level):
            raise FormatError(f"has different numbers of rows for {name!r} and {first.name!r}")
