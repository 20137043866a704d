"""YAML files: the only place that opens PyYAML."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from pedanova.errors import FormatError, MissingLibraryError
from pedanova.sources.kind import read_text

# PyYAML takes 1e-3 for text, as YAML 1.1 asks for a point in it; people who write it mean a number.
EXPONENT = re.compile(r"^[-+]?[0-9][0-9_]*(\.[0-9_]*)?[eE][-+]?[0-9]+$")


def read_yaml(file: Path) -> Any:
    """Plain values of a YAML file; tags that would make objects are refused."""
    try:
        import yaml
    except ImportError:
        raise MissingLibraryError(f"{file}: YAML needs PyYAML; pip install 'pedanova[yaml]'") from None

    class Loader(yaml.SafeLoader):  # type: ignore[misc]
        """Plain values alone, with numbers such as 1e-3."""

    Loader.add_implicit_resolver("tag:yaml.org,2002:float", EXPONENT, list("-+0123456789"))
    try:
        return yaml.load(read_text(file), Loader)  # noqa: S506  (a safe loader)
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError, TypeError) as error:
        if isinstance(error, FormatError):
            raise
        reason = " ".join(str(error).split())[:120] or type(error).__name__
        raise FormatError(f"{file} is no readable YAML: {reason}; was it cut off?") from None
