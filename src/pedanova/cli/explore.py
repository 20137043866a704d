"""The command that serves a live page: explore."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from pedanova.analysis.analysis import Analysis
from pedanova.analysis.options import OBJECTIVE
from pedanova.analysis.watched import Watched
from pedanova.base.terminal import printable
from pedanova.cli.load import (
    TYPED,
    as_given,
    estimation,
    given_options,
    is_saved,
    leave_out_group,
    opened,
    questions_of,
)
from pedanova.cli.output import complain, emit, shown_place
from pedanova.cli.parser import DASK
from pedanova.data.regions import Region
from pedanova.errors import Arg, QueryError

STOP = "Ctrl-C ends it. Only this machine can open it, with the token in the address."


def run_explore(options: argparse.Namespace) -> int:
    """The page, until Ctrl-C."""
    check_question(options)
    leave_out_group(options)
    title = options.title or Path(shown_place(options.file)).name
    about = {"title": title, "start": questions_of(options), "source": source_of(options), **estimation(options)}
    about["group"] = options.group
    if options.watch:
        watched = watch_file(options)
        first = watched.begin(complain).analysis
        serve(first, options, watched=watched, **about)  # type: ignore[arg-type]
        return 0
    with opened(options) as a:
        serve(a, options, **about)
    return 0


def watch_file(options: argparse.Namespace) -> Watched:
    """The source, to be looked at again and again, with all options of `analyze` that the command has."""
    if is_saved(options):
        raise QueryError(Arg("watch"), " is for sources that grow; a saved analysis does not")
    if options.dask is not None:
        raise QueryError(Arg("dask"), " does not go with ", Arg("watch"), ": all rows are held here")
    return Watched(options.file, as_given(OBJECTIVE, options.objective), **given_options(options))


def source_of(options: argparse.Namespace) -> str:
    """How this source was named, for the shell lines that the page shows."""
    words = [options.file]
    for option in (OBJECTIVE, *TYPED, DASK):
        value = getattr(options, option.name, option.default)
        usual = option.default if option.shell_default is None else option.shell_default
        flag = f"--{option.name.replace('_', '-')}"
        if value == usual:
            continue
        if option.flag:
            words.append(flag if value else f"--no-{flag[2:]}")
        else:
            words += [word for one in (value if option.several else [value]) for word in (flag, str(one))]
    return shlex.join(words)


def check_question(options: argparse.Namespace) -> None:
    """Rows are selected on the page, so that what is asked for first is a part or values of the objective."""
    for name, rows in zip(("target", "region"), questions_of(options), strict=True):
        if not isinstance(rows, Region):
            words = " is no part of the rows; start with a quantile or a value, and select rows on the page"
            raise QueryError(Arg(name, getattr(options, name)), words)


def serve(a: Analysis, options: argparse.Namespace, **about: Any) -> None:
    """Say where, show it if wished, and stay until Ctrl-C."""
    with a.explore(port=options.port, open=options.open, wait=False, **about) as explorer:
        try:
            emit(f"{printable(explorer.url)}\n", None)
            if sys.stderr.isatty():
                complain(STOP)
            explorer.wait()
        except KeyboardInterrupt:
            explorer.close()
            leave()


def leave() -> None:
    """At once: an ordinary end waits for answers that nobody wants, and takes a large table apart piece by piece."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(0)
