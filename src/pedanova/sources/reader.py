"""The interface of all log readers, and functions to read JSON lines and YAML."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np

from pedanova.base.notes import Note
from pedanova.data.records import Records, SourceMetadata
from pedanova.errors import Arg, DataError, FormatError, PedanovaError, missing_library
from pedanova.sources.tables.text import first_bytes, suffix_of
from pedanova.sources.tables.text import read_text as read_utf8
from pedanova.space.values import shown

Option = TypeVar("Option")

NUMPY_SCALARS = ("numpy.core.multiarray.scalar", "numpy._core.multiarray.scalar")
PLAIN_TYPE = re.compile(r"[biufU][0-9]{1,3}")
# PyYAML reads 1e-3 as text, because YAML 1.1 requires a point in it; here it is a number.
EXPONENT = re.compile(r"^[-+]?[0-9][0-9_]*(\.[0-9_]*)?[eE][-+]?[0-9]+$")


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of source: how it is recognised and read."""

    name: str  # such as "SMAC3 run"
    mark: str  # what it is recognised by, in words
    example: str  # what a user types
    takes: Literal["path", "database", "object", "table"]  # a table is an object or the path of a file
    matches: Callable[[Any], bool]  # called with an existing path, the names of a database's tables, or an object
    read: Callable[..., Records]  # called with the source and, unless it is `single`, the study
    single: bool = False  # whether it always has one study

    def fits(self, source: object) -> bool:
        try:
            return self.matches(source)
        except (PedanovaError, OSError, LookupError, TypeError, AttributeError, ValueError, RecursionError):
            return False  # no permission, or a damaged file


def choose(
    options: Mapping[str, Option], study: str | None, where: object, what: str, many: str = "", label: str = "{}"
) -> Option:
    """Return the option with the name `study`, or the only option; otherwise raise an error that lists the options."""
    shown = [label.format(name, option) for name, option in options.items()]
    names = ", ".join(shown[:20]) + (f" and {len(shown) - 20} more" if len(shown) > 20 else "")
    there = f"choose one of: {names}" if len(options) > 1 else f"the only {what} is {names}; you need not name it"
    if study is not None and study not in options:
        raise DataError(Arg("study", study), f": {where} holds no {what} called {study!r}; {there}")
    if study is None and len(options) > 1:
        raise DataError(f"{where} holds {len(options)} {many or f'{what}s'}; name one in ", Arg("study"), f": {names}")
    return options[study] if study is not None else next(iter(options.values()))


def json_head(path: Path, size: int, suffixes: Sequence[str] = (".json",)) -> bytes:
    """The first bytes of a file with one of the suffixes, which may be packed with gzip; empty for other files."""
    return first_bytes(path, size, unpacked=True) if suffix_of(path) in suffixes else b""


def read_json(file: Path) -> Any:
    try:
        return json.loads(read_text(file))
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else error
        raise FormatError(f"{file} is not valid JSON: {reason}; was it cut off?") from None


def object_in(value: object) -> dict[str, Any]:
    """A JSON object, which may be text inside of another one; empty for anything else."""
    if isinstance(value, str):
        with suppress(ValueError, RecursionError):
            value = json.loads(value)
    return value if isinstance(value, dict) else {}


def read_json_rows(file: Path) -> tuple[list[Any], list[Note]]:
    """Read a file with one JSON value per line. An incomplete last line is left out, with a note."""
    rows: list[Any] = []
    lines = read_text(file).splitlines(keepends=True)
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            rows.append(json.loads(line))
        except (ValueError, RecursionError):
            if number == len(lines):
                return rows, [Note("unused", f"the last line of {file.name} is incomplete, so it is left out")]
            raise FormatError(f"{file}: line {number}, {shown(line.strip())}, is not valid JSON") from None
    return rows, []


def read_text(file: Path) -> str:
    try:
        return read_utf8(file)
    except OSError as error:
        raise DataError(f"{file}: {error.strerror or error}") from None


def has(folder: Path, *names: str) -> bool:
    return folder.is_dir() and all((folder / name).is_file() for name in names)


@dataclass(frozen=True, slots=True)
class KnownTable:
    """A kind of table that is recognised by its column names only, so that it can also be read in parts."""

    name: str
    mark: str  # what it is recognised by, in words
    example: str  # what a user types
    source: str
    settings: tuple[str, ...]  # prefixes of the names of parameters
    fits: Callable[[Sequence[str], Sequence[str]], bool]  # called with all names, and with those of results
    is_result: Callable[[str], bool]  # called with a column that is not a parameter
    several: bool = False  # whether several results are several objectives
    state: str | None = None
    errors: tuple[str, ...] = ()  # columns that are filled if a trial failed

    def metadata(self, names: Sequence[str]) -> SourceMetadata | None:
        """The metadata of a table with the columns `names`; None if the table is of another kind."""
        settings = tuple(name for name in names if name.startswith(self.settings))
        results = tuple(name for name in names if name not in settings and self.is_result(name))
        if not settings or not self.fits(names, results):
            return None
        error = next((name for name in self.errors if name in names), None)
        return SourceMetadata(
            source=self.source,
            params=settings,
            objectives=results if self.several or len(results) == 1 else (),
            metrics=results,
            aside=tuple(name for name in names if name not in (*settings, *results)),
            state=self.state if self.state in names else None,
            where=None if error is None else f"{error} is None",
        )


def read_yaml(file: Path, *, objects: bool = False) -> Any:
    """The plain values of a YAML file. With `objects`, tagged objects are converted; otherwise they raise an error."""
    return parse_yaml(read_text(file), where=str(file), objects=objects)


def parse_yaml(text: str, *, where: str = "the text", objects: bool = False) -> Any:
    """The plain values of YAML text; `where` is the name of its source in error messages."""
    try:
        import yaml
    except ImportError:
        raise missing_library(f"{where}: YAML needs PyYAML", "yaml") from None

    class Loader(yaml.SafeLoader):  # type: ignore[misc]
        """A YAML loader for plain values only; 1e-3 is read as a number, too."""

    Loader.add_implicit_resolver("tag:yaml.org,2002:float", EXPONENT, list("-+0123456789"))
    if objects:
        Loader.add_multi_constructor("tag:yaml.org,2002:python/", _described)
        Loader.add_multi_constructor("!", _described)
    try:
        return yaml.load(text, Loader)  # noqa: S506  (a safe loader)
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError, TypeError, LookupError, AttributeError) as error:
        reason = " ".join(str(error).split())[:120] or type(error).__name__
        raise FormatError(f"{where} is not readable YAML: {reason}; was it cut off?") from None


def _described(loader: Any, tag: str, node: Any) -> Any:
    """The fields or the name of a tagged object; the object itself is not created."""
    kind, _, name = tag.partition(":")
    match node.id:
        case "mapping":
            fields = loader.construct_mapping(node, deep=True)
            state = fields.get("state", fields)  # next to the arguments of the constructor
            return state if isinstance(state, dict) else name
        case "sequence":
            if name in NUMPY_SCALARS:
                return _numpy_scalar(loader, node)
            return loader.construct_sequence(node, deep=True) if kind in ("tuple", "list", "set") else name or None
    text = loader.construct_scalar(node)
    return name or text


def _numpy_scalar(loader: Any, node: Any) -> object:
    """The number or text of a NumPy scalar; YAML contains its type (such as f8), its byte order, and its bytes."""
    kind, content = node.value
    fields = loader.construct_mapping(kind, deep=True)
    letters, order = str(fields["args"][0]), str(fields["state"][1])
    if not PLAIN_TYPE.fullmatch(letters):
        return None
    return np.frombuffer(loader.construct_yaml_binary(content), order.replace("|", "") + letters)[0].item()
