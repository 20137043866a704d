"""What the shell may put behind the cursor: commands, options, files, and the columns of a table.

The shell starts the program with ``_ARGCOMPLETE`` set; nothing here is loaded otherwise.
"""

from __future__ import annotations

import argparse
import csv
import os
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

SEPARATORS = {".csv": ",", ".tsv": "\t"}
LONGEST_LINE = 1_000_000  # letters; a longer heading is not worth waiting for


def complete(parser: argparse.ArgumentParser) -> None:
    """Answer the shell and leave, if it is the shell that asks; argcomplete must be installed."""
    if "_ARGCOMPLETE" not in os.environ:
        return
    try:
        import argcomplete
    except ImportError:
        return
    for command in commands_of(parser):
        for action in command._actions:  # noqa: SLF001  (argparse has no other way to its options)
            if getattr(action, "names_columns", False):
                action.completer = column_names  # type: ignore[attr-defined]
    argcomplete.autocomplete(parser)


def commands_of(parser: argparse.ArgumentParser) -> Iterable[argparse.ArgumentParser]:
    for action in parser._actions:  # noqa: SLF001
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            yield from action.choices.values()


def column_names(prefix: str, parsed_args: argparse.Namespace, **_: Any) -> list[str]:
    """Columns of the source that was named before, where they can be told at once."""
    try:
        names = names_in(Path(parsed_args.file))
    except (OSError, UnicodeDecodeError, csv.Error, ValueError, AttributeError, TypeError):
        return []
    done, comma, last = prefix.rpartition(",")  # --params lr,un… completes the last one
    return [f"{done}{comma}{name}" for name in names if name.startswith(last) and name.isprintable()]


def names_in(path: Path) -> list[str]:
    """The parameters of a saved analysis; the heading of a table of text."""
    if path.suffix.lower() == ".pedanova":
        from pedanova.analysis.load import load

        return list(load(path).space)
    separator = SEPARATORS.get(path.suffix.lower())
    if separator is None:
        return []
    with path.open(encoding="utf-8-sig", newline="") as file:
        first = file.readline(LONGEST_LINE)
    return next(islice(csv.reader([first], delimiter=separator), 1), [])
