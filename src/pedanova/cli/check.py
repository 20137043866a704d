"""The command check: what a search must show, for whoever tunes unattended. Status 1 where something does not hold."""

from __future__ import annotations

import argparse

from pedanova.analysis.checks import Wishes, check
from pedanova.analysis.load import load
from pedanova.base.terminal import draw_table
from pedanova.cli.answers import about, answer_form, answer_text, look
from pedanova.cli.load import estimation, opened, questions_of
from pedanova.cli.output import as_rows, heading, line_width, notes_aside, paragraphs
from pedanova.cli.values import split_names
from pedanova.report.terminal.tables import fill

FAILED = 1


def run_check(options: argparse.Namespace) -> int:
    with opened(options) as a:
        found = check(a, wishes_of(options), *questions_of(options), estimation(options))
        doubts = [note for note in a.notes if note.severity == "warning"]
        if options.format == "text":
            table = draw_table(found.header(), found.lines(), **look(options))
            summary = fill(found.summary(), line_width(options.output))
            answer_text(paragraphs(heading(a, options), table, summary), options)
            notes_aside(doubts, options)
        else:
            answer = about(a) | {"passed": found.passed, "summary": found.summary()}
            answer |= {"checks": as_rows(found.to_dict()), "notes": doubts}
            answer_form(found, answer, doubts, options)
    return 0 if found.passed else FAILED


def wishes_of(options: argparse.Namespace) -> Wishes:
    return Wishes(
        min_trials=options.min_trials,
        max_dropped=options.max_dropped,
        best=options.best,
        signal=options.signal,
        require=tuple(split_names(options.require) or ()),
        max_noise=options.max_noise,
        noise=tuple(split_names(options.noise) or ()),
        sure_top=options.sure_top,
        bounds=options.bounds,
        against=load(options.against) if options.against else None,
    )
