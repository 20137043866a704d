"""Convert command-line options to values: open the source as an `Analysis`, and read the question."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pedanova.analysis.analysis import Analysis
from pedanova.analysis.analyze import analyze, load
from pedanova.analysis.options import OBJECTIVE, TABLE, nested
from pedanova.cli.parser import BY_COMMAND, THREADS, WITHIN
from pedanova.data.options import Option
from pedanova.data.regions import Region, needs_rows
from pedanova.errors import Arg, QueryError


def opened(options: argparse.Namespace) -> Analysis:
    """Open the source as an analysis, and restrict it to the rows of ``--within`` if the command has that option."""
    if is_saved(options):
        a = load(options.file)
    else:
        a = analyze(options.file, as_argument(OBJECTIVE, options.objective), **table_options(options))
    return a.within(*(options.within or ())) if WITHIN in BY_COMMAND[options.command].options else a


def is_saved(options: argparse.Namespace) -> bool:
    """Whether the source is a .pedanova file; raises an error for options that such a file cannot use."""
    if Path(options.file).suffix.lower() != ".pedanova":
        return False
    for option in (OBJECTIVE, *TABLE):
        if option is not THREADS and getattr(options, option.name, option.default) != option.default:
            words = " cannot change a saved analysis; analyze the table again with this option"
            raise QueryError(Arg(option.name), words)
    return True


def leave_out_group(options: argparse.Namespace) -> None:
    """Exclude the column of ``--group`` from the parameters, because it contains the names of studies."""
    if options.group is not None and not is_saved(options):
        options.exclude = [*(options.exclude or []), options.group]


def table_options(options: argparse.Namespace) -> dict[str, Any]:
    """The command-line options that `analyze` accepts, as its keyword arguments."""
    taken = [option for option in TABLE if hasattr(options, option.name)]
    return nested({option.name: as_argument(option, getattr(options, option.name)) for option in taken})


def as_argument(option: Option, value: Any) -> Any:
    """Convert an option for `analyze`: columns ['a,b'] -> ['a', 'b'], and a single objective ['loss'] -> 'loss'."""
    if not option.several or value is None:
        return value
    if option.metavar in ("COL,COL,…", "WORD,WORD,…"):
        return [] if option.name == "blocks" and value == ["none"] else split_names(value)
    return value if len(value) > 1 else value[0]


def question_of(options: argparse.Namespace) -> dict[str, Any]:
    """The options of the command that are not about its source or output, as keyword arguments of a method."""
    others = (OBJECTIVE, *TABLE, WITHIN)
    own = (one for one in BY_COMMAND[options.command].options if one.group == "the question" and one not in others)
    return {one.name: READERS.get(one.name, unchanged)(getattr(options, one.name), one.name) for one in own}


# --- values behind options -------------------------------------------------------------------------


def split_names(texts: list[str] | None) -> list[str] | None:
    if texts is None:
        return None
    return [name.strip() for text in texts for name in text.split(",") if name.strip()]


def unchanged(value: Any, _: str) -> Any:
    return value


def rows_of(text: str, name: str) -> Region | str:
    """A region, or the name of a column or a condition, which are returned unchanged."""
    return text if needs_rows(text) else Region.parse(text, name)


def numbers_of(texts: list[str] | None, name: str) -> list[float] | None:
    rule = {"at": "must be numbers, such as 1,5,50", "ladder": "must be a quantile, such as 0.1 for the best 10 %"}
    numbers = []
    for text in split_names(texts) or []:
        number = as_float(text)
        if number is None:
            raise QueryError(f"--{name} {text!r} {rule[name]}")
        numbers.append(number)
    return None if texts is None else numbers


def as_float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def smoothing_of(text: str, _: str) -> Any:
    if text in ("auto", "none"):
        return text
    if as_float(text) is None:
        raise QueryError(f"--smoothing {text!r} must be auto, none or a bandwidth in cells")
    return as_float(text)


def cells_of(text: str, _: str) -> Any:
    number = as_float(text)
    return int(number) if number is not None and number.is_integer() else text


def values_of(texts: list[str] | None, name: str) -> dict[str, object] | None:
    """Parse ``lr=1e-3,optimizer=adam`` to a dict; the values remain strings."""
    values: dict[str, object] = {}
    for text in split_names(texts) or []:
        key, equal, value = text.partition("=")
        if not equal or not key.strip() or not value.strip():
            raise QueryError(f"--{name} {text!r} must be NAME=VALUE, such as lr=0.001")
        values[key.strip()] = value.strip()
    return values if texts else None


def rule_of(conditions: list[str] | None, _: str) -> str | None:
    return " and ".join(f"({condition})" for condition in conditions or ()) or None


READERS: dict[str, Callable[[Any, str], Any]] = {
    "target": rows_of, "region": rows_of, "within": rule_of, "smoothing": smoothing_of, "cells": cells_of,
    "ladder": numbers_of, "at": numbers_of, "default": values_of, "limit": values_of,
}  # fmt: skip
