"""Commands that answer a question: analyze, compare, profile, interactions, densities."""

from __future__ import annotations

import argparse
import csv
import io
import json
import sys
import textwrap
from collections.abc import Sequence
from typing import Any

from pedanova.analysis.analysis import Analysis
from pedanova.analysis.analyze import guess_space
from pedanova.base.notes import Note
from pedanova.base.table import Cell, Printed, Table
from pedanova.base.terminal import draw_table
from pedanova.cli.inputs import (
    as_float,
    estimation,
    opened,
    parse_ladder,
    parse_rows,
    parse_smoothing,
    questions_of,
    region_of,
    split_names,
)
from pedanova.cli.output import (
    about,
    answer_form,
    answer_text,
    as_json,
    as_rows,
    complain,
    emit,
    emit_arrow,
    heading,
    line_width,
    look,
    notes_aside,
    notes_of,
)
from pedanova.cli.pages import write_report
from pedanova.errors import QueryError, UnknownParameterError, unknown_name
from pedanova.measures.densities import Densities
from pedanova.measures.importance import Importances
from pedanova.measures.interactions import Interactions
from pedanova.measures.questions.compare import Comparison, Ranked
from pedanova.report.names import nesting_of
from pedanova.report.terminal.curves import draw_densities, draw_key
from pedanova.report.terminal.tables import (
    draw_importances,
    draw_interactions,
    draw_profile,
    draw_reduction,
    draw_sets,
    fill,
)
from pedanova.sources.registry import KINDS
from pedanova.space.exports import left_out

SHOWN = 3  # densities, where no parameter is named


def run_analyze(options: argparse.Namespace) -> int:
    with opened(options) as a:
        result = a.importance(*questions_of(options), **estimation(options))
        if options.save:
            a.save(options.save, rows=options.save_rows)
        if options.report:
            write_report(a, options.report, options)
        if options.format == "text":
            answer_text(options, *importances_in_words(a, result, options))
        else:
            answer_form(result, importances_as_json(a, result), result.notes, options)
    return 0


def run_profile(options: argparse.Namespace) -> int:
    with opened(options) as a:
        ladder = parse_ladder(options.ladder)
        result = a.profile(region_of(options), ladder=ladder, **estimation(options))
        if options.format == "text":
            drawn = draw_profile(result, most=options.top, alone=options.quiet, **look(options))
            answer_text(options, heading(a, options), drawn, notes_of(result.notes, options))
            return 0
        answer = about(a) | {"region": result.region, "baseline": options.baseline}
        answer |= {"profile": as_rows(result.to_dict()), "estimator": result.estimator}
        answer_form(result, answer | {"notes": list(result.notes)}, result.notes, options)
    return 0


def run_interactions(options: argparse.Namespace) -> int:
    with opened(options) as a:
        cells = options.cells if options.cells == "auto" else as_float(options.cells)
        whole = int(cells) if isinstance(cells, float) and cells.is_integer() else options.cells
        how = {"estimator": options.estimator, "of": options.of, "seed": options.seed}
        result = a.interactions(*questions_of(options), order=options.order, cells=whole, **how)
        if options.format == "text":
            layout: dict[str, Any] = {"most": options.top, "alone": options.quiet, **look(options)}
            if isinstance(result, Interactions):
                drawn = draw_interactions(result, **layout)
            else:
                drawn = draw_sets(result, **layout)
            answer_text(options, heading(a, options), drawn, notes_of(result.notes, options))
            return 0
        answer = about(a) | {"target": result.target, "region": result.region, "cells": result.cells}
        answer |= {"interactions": as_rows(result.to_dict()), "notes": list(result.notes)}
        answer_form(result, answer, result.notes, options)
    return 0


def run_densities(options: argparse.Namespace) -> int:
    with opened(options) as a:
        for name in options.names:
            if name not in a.space:
                raise UnknownParameterError(unknown_name(name, tuple(a.space), most=3))
        target, region = questions_of(options)
        how = {"estimator": options.estimator, "of": options.of, "seed": options.seed}
        every = a.densities(None, target, region, parse_smoothing(options.smoothing), **how)
        ranked = None
        if options.format == "text" or not options.names:
            ranked = a.importance(target, region, **estimation(options))
        names = options.names or list(ranked or every)[:SHOWN]
        chosen = [every[name] for name in dict.fromkeys(names)]
        emit_densities(a, chosen, ranked, options)
    return 0


def emit_densities(
    a: Analysis, densities: Sequence[Densities], ranked: Importances | None, options: argparse.Namespace
) -> None:
    answer = about(a) | {"target": densities[0].words[0], "region": densities[0].words[1]}
    match options.format:
        case "csv":
            emit(densities_as_csv(densities), options.output)
        case "arrow":
            emit_arrow(joined_columns(densities), answer, options.output)
        case "json":
            emit(as_json(answer | {"densities": [density_as_dict(one) for one in densities]}), options.output)
        case "markdown" | "latex":
            tables = [PartsTable(one) for one in densities]
            texts = [t.to_markdown() if options.format == "markdown" else t.to_latex() for t in tables]
            emit("\n".join(texts), options.output)
        case _:
            style = look(options)
            plots = [draw_densities(one, ranked[one.name] if ranked else None, **style) for one in densities]
            others = len(a.space) - len(densities)
            hint = (
                "" if options.names or others < 1 else f"{others} more can be named: pedanova densities SOURCE NAME …"
            )
            key = draw_key(densities[0].words, **style)
            answer_text(options, heading(a, options), key, *plots, fill(hint, style["width"]))


class PartsTable(Table):
    """A density by a dozen groups of neighbouring values, for documents."""

    __slots__ = ("density",)

    def __init__(self, density: Densities) -> None:
        self.density = density

    def printed(self) -> Printed:
        return self.density.grouped()


def density_as_dict(density: Densities) -> dict[str, Any]:
    """Everything that is known of one parameter's density."""
    return {
        "parameter": density.name,
        "cells": as_rows(density_columns(density)),
        "bandwidth": density.bandwidth,
        "missing_target": density.missing_target,
        "missing_region": density.missing_region,
    }


def density_columns(density: Densities) -> dict[str, list[Cell]]:
    """The columns of a density, with the ends of each cell where it has ends."""
    count = len(density)
    low = density.edges[:-1].tolist() if density.edges is not None else [None] * count
    high = density.edges[1:].tolist() if density.edges is not None else [None] * count
    columns = density.to_dict()
    return {"cell": columns.pop("cell"), "low": low, "high": high, **columns}


def joined_columns(densities: Sequence[Densities]) -> dict[str, list[Cell]]:
    """The densities of several parameters below each other."""
    parts: list[dict[str, list[Cell]]] = [
        {"parameter": [one.name] * len(one), **density_columns(one)} for one in densities
    ]
    return {name: [cell for part in parts for cell in part[name]] for name in parts[0]}


def densities_as_csv(densities: Sequence[Densities]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    columns = joined_columns(densities)
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return out.getvalue()


def run_compare(options: argparse.Namespace) -> int:
    target = as_float(options.target)
    if target is None:
        raise QueryError(f"--target {options.target!r} must be a quantile, such as 0.1 for the best 10 %")
    with opened(options) as a:
        result = a.compare(target, seed=options.seed)
        notes = [*result.notes, *a.notes]
    if options.format == "text":
        answer_text(options, *compared_in_words(result, notes, options))
    else:
        answer = {"measures": result.to_dict(), "meanings": dict(result.meanings), "notes": notes}
        answer_form(result, answer, (), options)
    return 0


def compared_in_words(result: Comparison[Ranked], notes: Sequence[Note], options: argparse.Namespace) -> list[str]:
    """Ratios by measure, and what each measure means."""
    width = line_width(options.output)
    meanings = [fill(f"{name}: {meaning}", width, "  ") for name, meaning in result.meanings.items()]
    table = draw_table(result.header(), result.lines(), **look(options))
    if options.quiet:
        return [table]
    noise = (
        "~ marks what is not distinguishable from noise, where a measure can tell."
        if any(result.noise.values())
        else ""
    )
    return ["Ratios by measure:", table, fill(noise, width), "\n".join(meanings), notes_of(notes, options)]


def importances_as_json(a: Analysis, result: Importances) -> dict[str, Any]:
    return about(a) | {
        "target": result.target,
        "region": result.region,
        "baseline": result.baseline,
        "importance": as_rows(result.to_dict()),
        "space": a.space.to_dict(),
        "estimator": result.estimator,
        "notes": [*result.notes, *a.notes],
    }


def importances_in_words(a: Analysis, result: Importances, options: argparse.Namespace) -> list[str]:
    several = a.data.observations is not None and len(a.data.observations.goals) > 1
    return [
        heading(a, options),
        draw_importances(
            result, most=options.top, alone=options.quiet, nesting=nesting_of(a.data.tallies), **look(options)
        ),
        side_by_side(a, options) if several and not options.quiet else "",
        notes_of([*result.notes, *a.notes], options),
    ]


def side_by_side(a: Analysis, options: argparse.Namespace) -> str:
    """The shares for each objective alone, beside those for all."""
    answers = a.compare(*questions_of(options), by="objective", **estimation(options))
    table = draw_table(answers.header(), answers.lines(), **look(options))
    best = "The best rows are those that fewest others beat in all objectives: the front first, then the one behind it."
    return f"Shares by objective:\n\n{table}\n\n{fill(best, line_width(options.output))}"


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
