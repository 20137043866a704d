"""The form that every reader of a log has, and the text files that readers open: JSON, YAML."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from pedanova.base.notes import Note
from pedanova.data.column import shorten
from pedanova.data.records import Records, SourceMetadata
from pedanova.errors import DataError, FormatError, MissingLibraryError

# PyYAML takes 1e-3 for text, as YAML 1.1 asks for a point in it; people who write it mean a number.
EXPONENT = re.compile(r"^[-+]?[0-9][0-9_]*(\.[0-9_]*)?[eE][-+]?[0-9]+$")


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


@dataclass(frozen=True, slots=True)
class KnownTable:
    """One kind of table. Only names are asked, so that a table in parts is known as a whole one is."""

    name: str
    mark: str  # what it is recognised by, in words
    example: str  # what a user types
    fits: Callable[[Sequence[str]], bool]
    metadata: Callable[[Sequence[str]], SourceMetadata]


def table_metadata(names: Sequence[str], tables: Sequence[KnownTable]) -> SourceMetadata | None:
    """What is known of a table with these columns."""
    return next((table.metadata(names) for table in tables if table.fits(names)), None)


def with_metadata(records: Records, tables: Sequence[KnownTable]) -> Records:
    """Records of which no source told anything, with what the names of their columns tell."""
    if records.metadata != SourceMetadata():
        return records
    metadata = table_metadata(tuple(records.columns), tables)
    return records if metadata is None else replace(records, metadata=metadata)


def read_yaml(file: Path, *, objects: bool = False) -> Any:
    """Plain values of a YAML file; tags that would make objects are refused.

    With `objects` they are taken as what is written there, and still nothing is made of them: a
    function or a class is its name, a tuple a list, an object its fields or else its class's name.
    """
    return parse_yaml(read_text(file), where=str(file), objects=objects)


def parse_yaml(text: str, *, where: str = "the text", objects: bool = False) -> Any:
    """Plain values of YAML; `where` it stands is named where it cannot be read."""
    try:
        import yaml
    except ImportError:
        raise MissingLibraryError(f"{where}: YAML needs PyYAML; pip install 'pedanova[yaml]'") from None

    class Loader(yaml.SafeLoader):  # type: ignore[misc]
        """Plain values alone, with numbers such as 1e-3."""

    Loader.add_implicit_resolver("tag:yaml.org,2002:float", EXPONENT, list("-+0123456789"))
    if objects:
        Loader.add_multi_constructor("tag:yaml.org,2002:python/", _described)
        Loader.add_multi_constructor("!", _described)
    try:
        return yaml.load(text, Loader)  # noqa: S506  (a safe loader)
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError, TypeError) as error:
        reason = " ".join(str(error).split())[:120] or type(error).__name__
        raise FormatError(f"{where} is no readable YAML: {reason}; was it cut off?") from None


def _described(loader: Any, tag: str, node: Any) -> Any:
    """What stands behind a tag of Python's or of a program's own, without making it."""
    kind, _, name = tag.partition(":")
    match node.id:
        case "mapping":
            fields = loader.construct_mapping(node, deep=True)
            state = fields.get("state", fields)  # beside the arguments of whatever makes the object
            return state if isinstance(state, dict) else name
        case "sequence":
            return loader.construct_sequence(node, deep=True) if kind in ("tuple", "list", "set") else name or None
    text = loader.construct_scalar(node)
    return name or text
