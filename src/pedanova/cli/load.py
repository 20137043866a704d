"""The source that a command names, opened as its options say."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pedanova.analysis.analysis import Analysis
from pedanova.analysis.analyze import analyze
from pedanova.analysis.load import load
from pedanova.analysis.options import OBJECTIVE, TABLE, Option
from pedanova.cli.parser import DASK, THREADS
from pedanova.cli.values import parse_box, parse_rows, parse_smoothing, split_names
from pedanova.data.regions import Region
from pedanova.errors import Arg, QueryError
from pedanova.scale.dask import dask_executor

TYPED = [option for option in TABLE if option.help is not None]


@contextmanager
def opened(options: argparse.Namespace) -> Iterator[Analysis]:
    """The analysis, of some rows only where these are named."""
    with source_opened(options) as a:
        yield a.within(*(getattr(options, "within", None) or ()))


@contextmanager
def source_opened(options: argparse.Namespace) -> Iterator[Analysis]:
    """The analysis of all rows; the workers of a cluster stay at hand, since a question may need another reading."""
    if is_saved(options):
        yield load(options.file)
        return
    address = getattr(options, "dask", None)  # `compare` and `reduce` need all rows at once
    if address is None:
        yield analyze_file(options, None)
        return
    with dask_executor(address) as executor:
        yield analyze_file(options, executor)


def is_saved(options: argparse.Namespace) -> bool:
    """Whether the source is a .pedanova file, which options about the table cannot change any more."""
    if Path(options.file).suffix.lower() != ".pedanova":
        return False
    for option in (OBJECTIVE, *TYPED, DASK):
        if option is not THREADS and getattr(options, option.name, option.default) != option.default:
            words = " has no effect on a saved analysis; analyze the table again with it"
            raise QueryError(Arg(option.name), words)
    return True


def leave_out_group(options: argparse.Namespace) -> None:
    """The column of ``--group`` names studies, and is no parameter of theirs."""
    if options.group is not None and not is_saved(options):
        options.exclude = [*(options.exclude or []), options.group]


def analyze_file(options: argparse.Namespace, executor: object) -> Analysis:
    """`analyze`, with all of its options that the command has."""
    return analyze(options.file, as_given(OBJECTIVE, options.objective), executor=executor, **given_options(options))


def given_options(options: argparse.Namespace) -> dict[str, Any]:
    """The options of `analyze` that the command has, as it takes them."""
    known = [option for option in TYPED if hasattr(options, option.name)]
    return {option.name: as_given(option, getattr(options, option.name)) for option in known}


def as_given(option: Option, value: Any) -> Any:
    """What was typed as `analyze` takes it: columns as names, one objective or direction as itself."""
    if not option.several or value is None:
        return value
    if option.metavar == "COLS":
        return split_names(value)
    return value if len(value) > 1 else value[0]


def questions_of(options: argparse.Namespace) -> tuple[Region | str, Region | str | dict[str, Any]]:
    """Target and region as asked for."""
    return parse_rows(options.target, "target"), region_of(options)


def region_of(options: argparse.Namespace) -> Region | str | dict[str, Any]:
    return parse_box(getattr(options, "region_box", None) or []) or parse_rows(options.region, "region")


def estimation(options: argparse.Namespace) -> dict[str, Any]:
    """How the numbers are to be found."""
    names = ("baseline", "estimator", "of", "draws", "seed", "force")
    found = {name: getattr(options, name) for name in names if hasattr(options, name)}
    return found | {"smoothing": parse_smoothing(options.smoothing)}
