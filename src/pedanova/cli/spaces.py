"""Commands about search spaces and where trials come from: reduce, space, formats."""

from __future__ import annotations

import argparse
import json
import sys
import textwrap

from pedanova.analysis.analyze import guess_space
from pedanova.cli.inputs import opened, parse_rows, split_names
from pedanova.cli.output import (
    about,
    answer_form,
    answer_text,
    as_rows,
    complain,
    emit,
    heading,
    line_width,
    look,
    notes_aside,
    notes_of,
)
from pedanova.errors import QueryError
from pedanova.report.terminal.tables import draw_reduction
from pedanova.sources.registry import KINDS
from pedanova.space.exports import left_out


def run_reduce(options: argparse.Namespace) -> int:
    if options.to and options.format != "text":
        raise QueryError(f"--to {options.to} and --format {options.format} are two forms; choose one of them")
    with opened(options) as a:
        reduced = a.reduce(
            parse_rows(options.target, "target"),
            options.keep,
            widen=options.widen,
            estimator=options.estimator,
            folds=options.folds,
            seed=options.seed,
        )
    notes = [*reduced.notes, *a.notes]
    if options.to:
        emit(reduced.export(options.to).rstrip("\n") + "\n", options.output)
        notes_aside([*left_out(reduced.space, options.to), *reduced.notes], options)
        if not options.quiet:
            complain(reduced.summary())
        return 0
    if options.format != "text":
        answer = about(a) | {"target": reduced.target, "space": reduced.space.to_dict(), "summary": reduced.summary()}
        answer_form(reduced, answer | {"verdicts": as_rows(reduced.to_dict()), "notes": notes}, notes, options)
        return 0
    drawn = draw_reduction(reduced, alone=options.quiet, **look(options))
    answer_text(options, heading(a, options), drawn, notes_of(notes, options))
    return 0


def run_space(options: argparse.Namespace) -> int:
    objectives = options.objective or [None]
    space, notes = guess_space(
        options.file,
        objectives if len(objectives) > 1 else objectives[0],
        params=split_names(options.params),
        exclude=split_names(options.exclude),
        study=options.study,
    )
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(plain)}" for name, plain in space.to_dict().items())
    emit(f"{{\n{lines}\n}}\n", options.output)
    notes_aside(notes, options)
    if options.output:
        print(f"pedanova: edit {options.output} and pass it as --space {options.output}", file=sys.stderr)
    return 0


def run_formats(_: argparse.Namespace) -> int:
    width = line_width()
    lines = []
    for kind in KINDS:
        lines += [kind.name, textwrap.fill(kind.mark, width, initial_indent="  ", subsequent_indent="  ")]
        lines += [f"  {kind.example}", ""]
    tables = "data frames (pandas, Polars, pyarrow), dicts of arrays and NumPy arrays"
    mark = textwrap.fill(tables, width, initial_indent="  ", subsequent_indent="  ")
    lines += ["Tables in memory", mark, '  pedanova.analyze(table, "loss")']
    emit("\n".join(lines) + "\n", None)
    return 0
