"""Tallies in a file: small, versioned, without pickle, distrustful on the way in.

Layout, all numbers little-endian::

    8 bytes   magic
    uint32    version
    uint32    length of the header
    header    JSON (UTF-8): objective, levels, space, notes, length of every block
    blocks    zlib: thresholds (float64), then counts (int64) and sums (float64) of each parameter,
              then the moments of the objective (float64), if they are known, then the arrays
              of what is attached: what few rows tell beyond their counts, the rows themselves
    uint32    CRC-32 of everything before

docs/file-format.md describes every field.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from pedanova.base import files
from pedanova.base.files import Attachment, packed, unpacked
from pedanova.base.notes import Note
from pedanova.counting.levels import MAX_LEVELS, Levels
from pedanova.counting.tally import Moments, Tally, centres_of, powers_of
from pedanova.errors import DataError, FormatError, PedanovaError
from pedanova.space.grid import grid_of
from pedanova.space.parameters import Space

MAGIC = b"\x89PEDA\r\n\x1a"
VERSION = 4
ATTACHABLE = ("known", "rows")
KINDS: dict[type[Any], str] = {bool: "true or false", str: "text", list: "a list"}
Kind = TypeVar("Kind")
TINY = float(np.finfo(np.float64).tiny)  # more than a square loses that is too small for a double


@dataclass(frozen=True, slots=True, eq=False)
class Stored:
    """What a file holds."""

    objective: str
    dropped: int
    levels: Levels
    tallies: Mapping[str, Tally]
    notes: tuple[Note, ...]
    moments: Moments | None = None  # none of several objectives
    attachments: Mapping[str, Attachment] = field(default_factory=dict)  # "known", "rows"


def write_tallies(path: str | os.PathLike[str], stored: Stored) -> None:
    files.write_file(files.check_output_path(path), to_bytes(stored))


def read_tallies(path: str | os.PathLike[str]) -> Stored:
    if not isinstance(path, str | os.PathLike):
        raise DataError(f"{path!r} is no path; give a string or a pathlib.Path")
    file = Path(path)
    try:
        content = file.read_bytes()
    except OSError as error:
        raise DataError(f"{file} cannot be read: {error.strerror or error}") from None
    try:
        return from_bytes(content)
    except FormatError as error:
        raise error.behind(f"{file}: ") from None


def to_bytes(stored: Stored) -> bytes:
    levels = stored.levels
    arrays: list[NDArray[Any]] = [levels.thresholds]
    for tally in stored.tallies.values():
        arrays += [tally.counts, tally.sums]
    if stored.moments is not None:
        arrays.append(np.stack([stored.moments.sums, stored.moments.squares]))
    blocks = [packed(array) for array in arrays]
    for attachment in stored.attachments.values():
        blocks += attachment.blocks()
    header = {
        "objective": stored.objective,
        "direction": levels.direction,
        "nan": levels.nan,
        "dropped": stored.dropped,
        "levels": levels.count,
        "quantiles": [str(part) for part in levels.quantiles],
        "index": list(levels.index),
        "complete": levels.complete,
        "own": levels.own,
        "several": levels.several,
        "space": Space({name: tally.parameter for name, tally in stored.tallies.items()}).to_dict(),
        "notes": [note.to_dict() for note in stored.notes],
        "moments": stored.moments is not None,
        "attachments": {name: one.described() for name, one in stored.attachments.items()},
        "scaled": stored.moments is not None and bool(stored.moments.powers.any()),
        "blocks": [len(block) for block in blocks],
    }
    return files.encode_file(MAGIC, VERSION, header, b"".join(blocks))


def from_bytes(content: bytes) -> Stored:
    header, rest = files.decode_file(content, MAGIC, VERSION, "file")
    try:
        return decode(header, rest)
    except FormatError:
        raise
    except (KeyError, TypeError, ValueError, OverflowError, ZeroDivisionError, PedanovaError) as error:
        raise FormatError(f"its header is damaged ({type(error).__name__}: {error})") from None


def decode(header: Mapping[str, Any], rest: memoryview) -> Stored:
    space = Space.from_dict(header["space"])
    count = as_count(header["levels"], "levels", most=MAX_LEVELS)
    sizes = as_kind(header["blocks"], "blocks", list)
    spread = as_kind(header["moments"], "moments", bool)
    more = attachments_in(header)
    own = 1 + 2 * len(space) + spread
    if len(sizes) != own + sum(files.count_of(one, name) for name, one in more.items()) or count < 1 or not space:
        raise FormatError(f"lists {len(sizes)} blocks for {len(space)} parameters")
    ends = np.cumsum([0, *(as_count(size, "blocks", most=len(rest)) for size in sizes)]).tolist()
    if ends[-1] != len(rest):
        raise FormatError(f"holds {len(rest)} bytes of blocks where {ends[-1]} are listed")
    blocks = [rest[start:stop] for start, stop in pairwise(ends)]

    def take(i: int, dtype: str, shape: tuple[int, ...]) -> NDArray[Any]:
        return unpacked(blocks[i], dtype, shape, f"block {i}")

    levels = decode_levels(header, take(0, "<f8", (count,)))
    tallies = {}
    for i, (name, parameter) in enumerate(space.items()):
        shape = (count, grid_of(parameter).width)
        counts = take(1 + 2 * i, "<i8", shape).astype(np.int64)
        sums = take(2 + 2 * i, "<f8", shape).astype(np.float64)
        tallies[name] = Tally(name, parameter, levels, counts, sums)
    check_counts(tallies)
    moments = None
    if spread:
        scaled = as_kind(header["scaled"], "scaled", bool)
        moments = decode_moments(levels, tallies, take(own - 1, "<f8", (2, count)), scaled=scaled)
    rest_of = iter(blocks[own:])
    return Stored(
        objective=as_kind(header["objective"], "objective", str),
        dropped=as_count(header["dropped"], "dropped", most=2**62),
        levels=levels,
        tallies=tallies,
        notes=tuple(map(Note.from_dict, as_kind(header["notes"], "notes", list))),
        moments=moments,
        attachments={name: files.attached(one, rest_of, name) for name, one in more.items()},
    )


def attachments_in(header: Mapping[str, Any]) -> dict[str, Any]:
    """What is attached, described."""
    more = header["attachments"]
    if not isinstance(more, dict) or any(name not in ATTACHABLE for name in more):
        raise FormatError(f"has attachments {sorted(more)!r} where {', '.join(ATTACHABLE)} may be")
    return more


def decode_levels(header: Mapping[str, Any], thresholds: NDArray[Any]) -> Levels:
    direction, nan = header["direction"], header["nan"]
    if direction not in ("minimize", "maximize") or nan not in ("drop", "worst"):
        raise FormatError(f"has direction {direction!r} and NaN policy {nan!r}")
    quantiles = tuple(as_fraction(part) for part in as_kind(header["quantiles"], "quantiles", list))
    index = tuple(as_count(i, "index", most=len(thresholds) - 1) for i in header["index"])
    facts = [as_kind(header[name], name, bool) for name in ("complete", "own", "several")]
    levels = Levels(direction, nan, thresholds.astype(np.float64), quantiles, index, *facts)
    signed = levels.sign * levels.thresholds
    rising = bool(np.all(np.diff(signed[:-1]) > 0)) and bool(np.all(signed[:-1] < math.inf))
    if not rising or signed[-1] != math.inf or len(index) != len(quantiles) or list(index) != sorted(index):
        raise FormatError("has thresholds that are not in order")
    if not quantiles or list(quantiles) != sorted(set(quantiles)) or quantiles[-1] != 1 or quantiles[0] <= 0:
        raise FormatError("has quantiles that are not in order")
    return levels


def decode_moments(levels: Levels, tallies: Mapping[str, Tally], block: NDArray[Any], *, scaled: bool) -> Moments:
    """Sums and squares that some rows could have: (Σd)² ≤ rows · Σd², up to rounding and underflow of squares."""
    sums, squares = block.astype(np.float64)
    rows = next(iter(tallies.values())).rows_by_level()
    with np.errstate(invalid="ignore", over="ignore"):
        finite = np.isfinite(squares)
        possible = np.abs(sums) <= np.sqrt(rows * (squares + rows * TINY)) * (1 + 1e-6)
    if not np.all(possible | (~finite & (rows > 0))):
        raise FormatError("has sums of the objective that no rows could have")
    powers = powers_of(levels)
    return Moments(centres_of(levels), rows, sums, squares, powers if scaled else np.zeros_like(powers))


def as_fraction(value: object) -> Fraction:
    """A quantile such as "1/10"; long numbers are refused before they are built."""
    if not isinstance(value, str) or not re.fullmatch(r"[0-9]{1,400}(/[0-9]{1,400})?", value):
        raise FormatError(f"has a quantile {str(value)[:40]!r} where a fraction belongs")
    return Fraction(value)


def as_kind(value: object, name: str, kind: type[Kind]) -> Kind:
    if not isinstance(value, kind):
        raise FormatError(f"has {name}={value!r} where {KINDS[kind]} belongs")
    return value


def as_count(value: object, name: str, *, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
        raise FormatError(f"has {name}={value!r} where a whole number up to {most} belongs")
    return value


def check_counts(tallies: Mapping[str, Tally]) -> None:
    """Every row lies in one cell of every parameter, so all tallies hold the same rows by level."""
    first = next(iter(tallies.values()))
    for name, tally in tallies.items():
        if tally.counts.min() < 0 or tally.counts.max() > 2**53:
            raise FormatError(f"has impossible counts of {name!r}")
        if not np.array_equal(tally.rows_by_level(), first.rows_by_level()):
            raise FormatError(f"counts other rows of {name!r} than of {first.name!r}")
