"""Convert command-line options to values: open the source as an `Analysis`, and read target and region."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from pedanova.analysis.analysis import Analysis
from pedanova.analysis.analyze import analyze, load
from pedanova.analysis.options import OBJECTIVE, TABLE, nested
from pedanova.cli.parser import THREADS
from pedanova.data.options import Option
from pedanova.data.regions import Region, needs_rows
from pedanova.errors import Arg, QueryError
from pedanova.measures.question import HOW


def opened(options: argparse.Namespace) -> Analysis:
    """Open the source as an analysis, and restrict it to the rows of ``--within`` if that option is given."""
    return source_opened(options).within(*(getattr(options, "within", None) or ()))


def source_opened(options: argparse.Namespace) -> Analysis:
    """Open the source as an analysis of all its rows."""
    if is_saved(options):
        return load(options.file)
    return analyze(options.file, as_argument(OBJECTIVE, options.objective), **table_options(options))


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
    if option.metavar == "COL,COL,…":
        return [] if option.name == "blocks" and value == ["none"] else split_names(value)
    return value if len(value) > 1 else value[0]


def questions_of(options: argparse.Namespace) -> tuple[Region | str, Region | str]:
    return rows_of(options.target, "target"), rows_of(options.region, "region")


def estimation(options: argparse.Namespace) -> dict[str, Any]:
    how = {name: getattr(options, name) for name in HOW if hasattr(options, name)}
    return how | {"smoothing": parse_smoothing(options.smoothing)}


# --- values behind options -------------------------------------------------------------------------


def split_names(texts: list[str] | None) -> list[str] | None:
    if texts is None:
        return None
    return [name.strip() for text in texts for name in text.split(",") if name.strip()]


def rows_of(text: str, name: str) -> Region | str:
    """A region, or the name of a column or a condition, which are returned unchanged."""
    return text if needs_rows(text) else Region.parse(text, name)


def parse_numbers(texts: list[str] | None, name: str, rule: str) -> list[float] | None:
    if texts is None:
        return None
    numbers = []
    for text in split_names(texts) or []:
        number = as_float(text)
        if number is None:
            raise QueryError(f"--{name} {text!r} {rule}")
        numbers.append(number)
    return numbers


def as_float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def parse_smoothing(text: str) -> Any:
    if text in ("auto", "none"):
        return text
    if as_float(text) is None:
        raise QueryError(f"--smoothing {text!r} must be auto, none or a bandwidth in cells")
    return as_float(text)
