"""YAML files: the only place that opens PyYAML."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from pedanova.errors import FormatError, MissingLibraryError
from pedanova.sources.kind import read_text

# PyYAML takes 1e-3 for text, as YAML 1.1 asks for a point in it; people who write it mean a number.
EXPONENT = re.compile(r"^[-+]?[0-9][0-9_]*(\.[0-9_]*)?[eE][-+]?[0-9]+$")


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
