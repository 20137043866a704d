"""The commands that make an HTML page: report, explore and demo."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import webbrowser
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, cast

from pedanova.analysis.analysis import Analysis
from pedanova.analysis.analyze import analyze
from pedanova.analysis.options import OBJECTIVE, TABLE, AnalyzeCall, as_typed, opening_of
from pedanova.analysis.watched import Watched, Watcher
from pedanova.base.terminal import printable
from pedanova.cli.inputs import as_argument, is_saved, leave_out_group, opened, question_of, table_options
from pedanova.cli.output import complain, emit, line_width, paragraphs, shown_place, wants_colour
from pedanova.data.regions import Region
from pedanova.errors import Arg, QueryError
from pedanova.measures.question import DEFAULT, INNER
from pedanova.measures.questions.trial_data import TrialData
from pedanova.report.sentences import contrast
from pedanova.report.terminal.tables import TerminalStyle, draw_questions, fill

if TYPE_CHECKING:
    from pedanova.report.live.server import Explorer

USUAL_QUESTION = (str(DEFAULT.target), str(DEFAULT.region))  # as typed
DEMO_QUESTIONS = ((0.3, 1.0), (0.1, 0.3))  # (target, region): the best 30 %, then the best 10 % inside them
DEMO_TITLE = "Digits: 1,000 random training runs of a small network"
DEMO_EXPLORE = "To explore these trials in the browser: pedanova demo --explore"
DEMO_INTRO = (
    "A small neural network was trained 1,000 times to read handwritten digits, each time with hyperparameters "
    "drawn at random. One of these hyperparameters, lucky_number, is not used in the training."
)
DEMO_KEY = "~ marks parameters without a clear effect."
DEMO_LOOK = (
    "Open the file in a browser; it needs no network. First look at the ranking: lucky_number is near the end, "
    "because it has no effect. Then look at the densities: good values of learning_rate lie in the middle of its "
    "range. Then set the target to 10 % and the region to 30 %: among good trials, units and epochs matter more."
)
STOP = "Press Ctrl-C to stop. Other machines cannot open the page. Its address works in one browser."


def run_report(options: argparse.Namespace) -> int:
    leave_out_group(options)
    write_report(opened(options), options.output, options)
    path = Path(options.output)
    emit(f"{printable(str(path))}: {path.stat().st_size / 1024:,.0f} KB, one file, no network needed\n", None)
    if options.open and not webbrowser.open(path.resolve().as_uri()):
        complain(f"no browser could be opened; open {path} yourself")
    return 0


def write_report(a: Analysis, path: str, options: argparse.Namespace) -> None:
    """Write the HTML report; with the default target and region, add a second question about the best rows."""
    how = question_of(options)
    question = how.pop("target"), how.pop("region")
    usual = (options.target, options.region) == USUAL_QUESTION
    title = getattr(options, "title", None) or Path(shown_place(options.file)).name
    a.report(path, title=title, questions=[question, INNER] if usual else [question], **how)


def run_explore(options: argparse.Namespace) -> int:
    question = question_of(options)
    for name in ("target", "region"):
        if not isinstance(question[name], Region):
            words = " cannot be used for a live page; use a quantile or a limit (<=V), and select rows on the page"
            raise QueryError(Arg(name, getattr(options, name)), words)
    leave_out_group(options)
    if options.watch:
        if is_saved(options):
            raise QueryError(Arg("watch"), " is for sources that grow; leave it out for a saved analysis")
        watched = Watched(options.file, as_argument(OBJECTIVE, options.objective), **table_options(options))
        first = cast("TrialData", watched.begin(complain).analysis)
        objective = as_argument(OBJECTIVE, options.objective)
        opening = opening_of(AnalyzeCall(options.file, objective, **table_options(options))).python
        serve(explorer_of(first, options, opening, watched))
        return 0
    a = opened(options)
    serve(explorer_of(a.data, options, a.opening.python))
    return 0


def explorer_of(data: TrialData, options: argparse.Namespace, opening: str, watched: Watched | None = None) -> Explorer:
    from pedanova.report.live.server import explore
    from pedanova.report.live.session import Session

    how = question_of(options)
    start, group, _ = (how.pop("target"), how.pop("region")), how.pop("group"), how.pop("watch")
    title = options.title or Path(shown_place(options.file)).name
    session = Session(
        data, title=title, start=start, options=how, source=source_of(options), group=group, opening=opening
    )
    at_end = None if watched is None else Watcher(session, watched).start().close
    return explore(session, port=options.port, show=options.open, wait=False, at_end=at_end)


def source_of(options: argparse.Namespace) -> str:
    """The source and its options as they were typed, for the shell commands that the page shows."""
    return shlex.join([options.file, *as_typed(vars(options), (OBJECTIVE, *TABLE))])


def serve(explorer: Explorer) -> None:
    with explorer:
        try:
            emit(f"{printable(explorer.url)}\n", None)
            if sys.stderr.isatty():
                complain(STOP)
            explorer.wait()
        except KeyboardInterrupt:
            explorer.close()
            for stream in (sys.stdout, sys.stderr):
                with suppress(OSError, ValueError):
                    stream.flush()
            os._exit(0)  # a normal exit would wait for unneeded answers and free a large table slowly


def demo_trials() -> Path:
    """The path of the included table: 1,000 training runs of a neural network on handwritten digits.

    Each trial has ten random parameters, the ``error`` on held-out digits, and the training time in seconds. The
    training does not use the parameter `lucky_number`. ``pedanova demo`` analyses this table.

    Returns
    -------
    pathlib.Path
        A CSV file for `analyze`, ``pandas.read_csv`` or ``polars.read_csv``.

    Examples
    --------
    >>> import pedanova as pa
    >>> pa.analyze(pa.demo_trials(), "error")
    Analysis(1,000 rows, 10 parameters, minimise error (guessed from its name))
    """
    return Path(__file__).with_name("demo_trials.csv")


def run_demo(options: argparse.Namespace) -> int:
    a = analyze(demo_trials(), "error", exclude=["train_seconds"])
    wide, narrow = (a.importance(*question) for question in DEMO_QUESTIONS)
    width = line_width()
    titles = [
        fill(f"{word}: {result.target} compared with {result.region}", width)
        for word, result in (("global", wide), ("local", narrow))
    ]
    table = draw_questions(wide, narrow, TerminalStyle(width, wants_colour()))
    meaning = "\n".join(fill(text, width) for text in (wide.summary(), contrast(wide, narrow)))
    parts = [fill(DEMO_INTRO, width), "\n".join(titles), table, fill(DEMO_KEY, width), meaning]
    if options.report:
        a.report(options.report, title=DEMO_TITLE, questions=DEMO_QUESTIONS)
        parts.append(f"Report: {printable(str(Path(options.report).resolve()))}\n{fill(DEMO_LOOK, width)}")
    if not options.explore:
        parts.append(fill(DEMO_EXPLORE, width))
    emit(paragraphs(*parts), None, coloured=True)
    if options.explore:
        serve(a.explore(port=options.port, open=options.open, wait=False, title=DEMO_TITLE, start=DEMO_QUESTIONS[0]))
    elif not options.report and sys.stdout.isatty():
        complain("to write a report for the browser: pedanova demo --report report.html")
    return 0
