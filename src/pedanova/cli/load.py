"""The source that a command names, opened as its options say."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pedanova.analysis.analysis import Analysis, load
from pedanova.analysis.analyze import analyze
from pedanova.cli.values import parse_box, parse_rows, parse_smoothing, split_names
from pedanova.data.regions import Region
from pedanova.errors import QueryError
from pedanova.scale.dask import dask_executor

NOT_FOR_SAVED = {  # option → its value when it was not given
    "objective": None, "direction": None, "space": None, "params": None, "exclude": None, "where": None,
    "feasible": None, "state": None, "nan": "drop", "outside": "error", "infeasible": "drop", "failed": "drop",
    "pruned": "drop", "repeats": None, "study": None, "stream": None, "dask": None, "on_error": "raise",
    "checkpoint": None,
}  # fmt: skip


@contextmanager
def opened(options: argparse.Namespace) -> Iterator[Analysis]:
    """The analysis; the workers of a cluster stay at hand, since a question may need another reading."""
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
    for name, default in NOT_FOR_SAVED.items():
        if getattr(options, name, default) != default:
            shown = name.replace("_", "-")
            raise QueryError(f"--{shown} has no effect on a saved analysis; analyze the table again with it")
    return True


def analyze_file(options: argparse.Namespace, executor: object) -> Analysis:
    objectives = options.objective or [None]
    directions = options.direction or [None]
    return analyze(
        options.file,
        objectives if len(objectives) > 1 else objectives[0],
        direction=directions if len(directions) > 1 else directions[0],
        space=options.space,
        params=split_names(options.params),
        exclude=split_names(options.exclude),
        where=options.where,
        feasible=split_names(options.feasible),
        infeasible=options.infeasible,
        state=options.state,
        failed=options.failed,
        pruned=options.pruned,
        nan=options.nan,
        repeats=options.repeats,
        study=options.study,
        outside=options.outside,
        threads=options.threads,
        executor=executor,
        stream=getattr(options, "stream", None),
        on_error=getattr(options, "on_error", "raise"),
        checkpoint=getattr(options, "checkpoint", None),
    )


def questions_of(options: argparse.Namespace) -> tuple[Region | str, Region | str | dict[str, Any]]:
    """Target and region as asked for."""
    return parse_rows(options.target, "target"), region_of(options)


def region_of(options: argparse.Namespace) -> Region | str | dict[str, Any]:
    return parse_box(options.region_box or []) or parse_rows(options.region, "region")


def estimation(options: argparse.Namespace) -> dict[str, Any]:
    """How the numbers are to be found."""
    names = ("baseline", "estimator", "draws", "seed", "force")
    found = {name: getattr(options, name) for name in names if hasattr(options, name)}
    return found | {"smoothing": parse_smoothing(options.smoothing)}
