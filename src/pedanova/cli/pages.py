"""Commands that end in something to look at: report and demo."""

from __future__ import annotations

import argparse
import sys
import webbrowser
from pathlib import Path

from pedanova.analysis.analysis import Analysis
from pedanova.analysis.analyze import analyze
from pedanova.base.terminal import printable
from pedanova.cli.demo import demo_trials
from pedanova.cli.explore import serve
from pedanova.cli.load import estimation, leave_out_group, opened, questions_of
from pedanova.cli.output import complain, emit, line_width, paragraphs, shown_place, wants_colour
from pedanova.cli.values import parse_budget
from pedanova.report.sentences import contrast, summarize
from pedanova.report.terminal.tables import draw_questions, fill

USUAL_QUESTION = ("0.1", "1.0")
DEMO_QUESTIONS = ((0.3, 1.0), (0.1, 0.3))  # target, region: into the best third, then to its top
DEMO_TITLE = "Digits: 1,000 random trainings of a small network"
DEMO_EXPLORE = "pedanova demo --explore opens these trials in the browser, to brush in."
DEMO_INTRO = (
    "A small neural network learned to read handwritten digits 1,000 times, each time with hyperparameters "
    "drawn at random; one of them, lucky_number, is used by nothing."
)
DEMO_KEY = "~ marks what is not distinguishable from noise (level 0.05, all parameters taken together)."
DEMO_LOOK = (
    "Open it in a browser; it needs no network. Look first at the ranking: lucky_number stands near its end, as "
    "noise must. Then at the densities: learning_rate has a hill of good values between about 0.002 and 0.3. Then "
    "set the target to 10 % and the region to 30 %: units and epochs rise once the learning rate is right."
)


def run_report(options: argparse.Namespace) -> int:
    """The page, where it lies, and the browser if wished."""
    leave_out_group(options)
    with opened(options) as a:
        write_report(a, options.output, options)
    path = Path(options.output)
    emit(f"{printable(str(path))}: {path.stat().st_size / 1024:,.0f} KB, one file, no network needed\n", None)
    if options.open and not webbrowser.open(path.resolve().as_uri()):
        complain(f"no browser could be opened; open {path} yourself")
    return 0


def write_report(a: Analysis, path: str, options: argparse.Namespace) -> None:
    """The page about the question that was asked; the usual one brings a look inside the best 10 % along."""
    asked = questions_of(options)
    usual = (options.target, options.region) == USUAL_QUESTION and not options.region_box
    questions = [asked, (0.02, 0.1)] if usual else [asked]
    title = getattr(options, "title", None) or Path(shown_place(options.file)).name
    budget = parse_budget(getattr(options, "budget", None))
    group = getattr(options, "group", None)
    a.report(path, title=title, questions=questions, budget=budget, group=group, **estimation(options))


def run_demo(options: argparse.Namespace) -> int:
    a = analyze(demo_trials(), "error", exclude=["train_seconds"])
    wide, narrow = (a.importance(*question) for question in DEMO_QUESTIONS)
    width = line_width()
    titles = [
        fill(f"{word}: what separates {found.target} from {found.region}", width)
        for word, found in (("global", wide), ("local", narrow))
    ]
    table = draw_questions(wide, narrow, width=width, colour=wants_colour())
    meaning = "\n".join(fill(text, width) for text in (summarize(wide), contrast(wide, narrow)))
    parts = [fill(DEMO_INTRO, width), "\n".join(titles), table, fill(DEMO_KEY, width), meaning]
    if options.report:
        a.report(options.report, title=DEMO_TITLE, questions=DEMO_QUESTIONS)
        parts.append(f"Report: {printable(str(Path(options.report).resolve()))}\n{fill(DEMO_LOOK, width)}")
    if not options.explore:
        parts.append(fill(DEMO_EXPLORE, width))
    emit(paragraphs(*parts), None, coloured=True)
    if options.explore:
        serve(a, options, title=DEMO_TITLE, start=DEMO_QUESTIONS[0])
    elif not options.report and sys.stdout.isatty():
        complain("pedanova demo --report report.html writes a page to look at as well")
    return 0
