"""The shape that every reader of a log has: how its logs are recognised, and how they are read."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pedanova.base.notes import Note
from pedanova.data.column import shorten
from pedanova.data.records import Records
from pedanova.errors import DataError, FormatError


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of source."""

    name: str  # such as "SMAC3 run"
    mark: str  # what it is recognised by, in words
    example: str  # what a user types
    takes: Literal["path", "url", "object"]
    fits: Callable[[Any], bool]  # asked of a path that exists, of a URL's text, or of an object; never raises
    read: Callable[[Any, str | None], Records]  # the source, and which study or experiment of it


def read_json(file: Path) -> Any:
    """A JSON file; whatever is wrong with it names the file."""
    try:
        return json.loads(read_text(file))
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else error
        raise FormatError(f"{file} is no JSON: {reason}; was it cut off?") from None


def read_json_rows(file: Path) -> tuple[list[Any], list[Note]]:
    """One JSON value a line. A last line that is still being written is left out, with a note."""
    rows: list[Any] = []
    lines = read_text(file).splitlines(keepends=True)
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            rows.append(json.loads(line))
        except (ValueError, RecursionError):
            if number == len(lines):
                return rows, [Note("unused", f"the last line of {file.name} is incomplete; left out")]
            raise FormatError(f"{file}: line {number}, {shorten(line.strip())}, is no JSON") from None
    return rows, []


def read_text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise FormatError(f"{file} is not UTF-8 text; was it damaged?") from None
    except OSError as error:
        raise DataError(f"{file}: {error.strerror or error}") from None


def has(folder: Path, *names: str) -> bool:
    """Whether a folder holds all of these files."""
    return folder.is_dir() and all((folder / name).is_file() for name in names)
