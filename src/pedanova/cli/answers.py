"""Commands that answer a question: analyze, compare, profile, interactions, densities."""

from __future__ import annotations

import argparse
import csv
import io
from collections.abc import Sequence
from typing import Any

from pedanova.analysis.analysis import Analysis
from pedanova.base.notes import Note
from pedanova.base.table import Cell, Printed, Table
from pedanova.base.terminal import draw_table
from pedanova.cli.arrow import emit_arrow
from pedanova.cli.load import estimation, opened, questions_of, region_of
from pedanova.cli.output import (
    as_json,
    as_rows,
    emit,
    heading,
    line_width,
    notes_aside,
    paragraphs,
    wants_colour,
    worded,
)
from pedanova.cli.pages import write_report
from pedanova.cli.values import as_float, parse_ladder, parse_smoothing
from pedanova.errors import QueryError, UnknownParameterError, unknown_name
from pedanova.measures.compare import Measures
from pedanova.measures.densities import Densities
from pedanova.measures.importance import Importances
from pedanova.measures.interactions import Interactions
from pedanova.report.names import nesting_of
from pedanova.report.terminal.curves import draw_densities, draw_key
from pedanova.report.terminal.tables import (
    draw_importances,
    draw_interactions,
    draw_notes,
    draw_profile,
    draw_sets,
    fill,
)

SHOWN = 3  # densities, where no parameter is named


def run_analyze(options: argparse.Namespace) -> int:
    with opened(options) as a:
        found = a.importance(*questions_of(options), **estimation(options))
        if options.save:
            a.save(options.save, rows=options.save_rows)
        if options.report:
            write_report(a, options.report, options)
        if options.format == "text":
            answer_text(importances_in_words(a, found, options), options)
        else:
            answer_form(found, importances_as_json(a, found), found.notes, options)
    return 0


def run_profile(options: argparse.Namespace) -> int:
    with opened(options) as a:
        ladder = parse_ladder(options.ladder)
        found = a.profile(region_of(options), ladder=ladder, **estimation(options))
        if options.format == "text":
            drawn = draw_profile(found, most=options.top, alone=options.quiet, **look(options))
            answer_text(paragraphs(heading(a, options), drawn, notes_of(found.notes, options)), options)
            return 0
        answer = about(a) | {"region": found.region, "baseline": options.baseline}
        answer |= {"profile": as_rows(found.to_dict()), "estimator": found.estimator}
        answer_form(found, answer | {"notes": list(found.notes)}, found.notes, options)
    return 0


def run_interactions(options: argparse.Namespace) -> int:
    with opened(options) as a:
        cells = options.cells if options.cells == "auto" else as_float(options.cells)
        whole = int(cells) if isinstance(cells, float) and cells.is_integer() else options.cells
        how = {"estimator": options.estimator, "of": options.of, "seed": options.seed}
        found = a.interactions(*questions_of(options), order=options.order, cells=whole, **how)
        if options.format == "text":
            shown: dict[str, Any] = {"most": options.top, "alone": options.quiet, **look(options)}
            pairs = isinstance(found, Interactions)
            drawn = draw_interactions(found, **shown) if pairs else draw_sets(found, **shown)
            answer_text(paragraphs(heading(a, options), drawn, notes_of(found.notes, options)), options)
            return 0
        answer = about(a) | {"target": found.target, "region": found.region, "cells": found.cells}
        answer |= {"interactions": as_rows(found.to_dict()), "notes": list(found.notes)}
        answer_form(found, answer, found.notes, options)
    return 0


def run_densities(options: argparse.Namespace) -> int:
    with opened(options) as a:
        for name in options.names:
            if name not in a.space:
                raise UnknownParameterError(unknown_name(name, tuple(a.space), most=3))
        target, region = questions_of(options)
        how = {"estimator": options.estimator, "of": options.of, "seed": options.seed}
        every = a.all_densities(target, region, parse_smoothing(options.smoothing), **how)
        ranked = None
        if options.format == "text" or not options.names:
            ranked = a.importance(target, region, **estimation(options))
        names = options.names or list(ranked or every)[:SHOWN]
        found = [every[name] for name in dict.fromkeys(names)]
        emit_densities(a, found, ranked, options)
    return 0


def emit_densities(
    a: Analysis, found: Sequence[Densities], ranked: Importances | None, options: argparse.Namespace
) -> None:
    answer = about(a) | {"target": found[0].words[0], "region": found[0].words[1]}
    match options.format:
        case "csv":
            emit(densities_as_csv(found), options.output)
        case "arrow":
            emit_arrow(joined_columns(found), answer, options.output)
        case "json":
            emit(as_json(answer | {"densities": [density_as_dict(one) for one in found]}), options.output)
        case "markdown" | "latex":
            tables = [PartsTable(one) for one in found]
            texts = [t.to_markdown() if options.format == "markdown" else t.to_latex() for t in tables]
            emit("\n".join(texts), options.output)
        case _:
            style = look(options)
            plots = [draw_densities(one, ranked[one.name] if ranked else None, **style) for one in found]
            others = len(a.space) - len(found)
            hint = (
                "" if options.names or others < 1 else f"{others} more can be named: pedanova densities SOURCE NAME …"
            )
            key = draw_key(found[0].words, **style)
            answer_text(paragraphs(heading(a, options), key, *plots, fill(hint, style["width"])), options)


class PartsTable(Table):
    """A density by a dozen groups of neighbouring values, for documents."""

    __slots__ = ("found",)

    def __init__(self, found: Densities) -> None:
        self.found = found

    def printed(self) -> Printed:
        return self.found.grouped()


def density_as_dict(found: Densities) -> dict[str, Any]:
    """Everything that is known of one parameter's density."""
    return {
        "parameter": found.name,
        "cells": as_rows(density_columns(found)),
        "bandwidth": found.bandwidth,
        "missing_target": found.missing_target,
        "missing_region": found.missing_region,
    }


def density_columns(found: Densities) -> dict[str, list[Cell]]:
    """The columns of a density, with the ends of each cell where it has ends."""
    count = len(found)
    low = found.edges[:-1].tolist() if found.edges is not None else [None] * count
    high = found.edges[1:].tolist() if found.edges is not None else [None] * count
    columns = found.to_dict()
    return {"cell": columns.pop("cell"), "low": low, "high": high, **columns}


def joined_columns(found: Sequence[Densities]) -> dict[str, list[Cell]]:
    """The densities of several parameters below each other."""
    parts: list[dict[str, list[Cell]]] = [{"parameter": [one.name] * len(one), **density_columns(one)} for one in found]
    return {name: [cell for part in parts for cell in part[name]] for name in parts[0]}


def densities_as_csv(found: Sequence[Densities]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    columns = joined_columns(found)
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return out.getvalue()


def run_compare(options: argparse.Namespace) -> int:
    target = as_float(options.target)
    if target is None:
        raise QueryError(f"--target {options.target!r} must be a quantile, such as 0.1 for the best 10 %")
    with opened(options) as a:
        found = a.compare(target, seed=options.seed)
        notes = [*found.notes, *a.notes]
    if options.format == "text":
        answer_text(compared_in_words(found, notes, options), options)
    else:
        answer = {"measures": found.to_dict(), "meanings": dict(found.meanings), "notes": notes}
        answer_form(found, answer, (), options)
    return 0


def compared_in_words(found: Measures, notes: Sequence[Note], options: argparse.Namespace) -> str:
    """Ratios by measure, and what each measure means."""
    width = line_width(options.output)
    meanings = [fill(f"{name}: {meaning}", width, "  ") for name, meaning in found.meanings.items()]
    table = draw_table(found.header(), found.lines(), **look(options))
    if options.quiet:
        return paragraphs(table)
    words = draw_notes(worded(notes, options), width=width)
    noise = (
        "~ marks what is not distinguishable from noise, where a measure can tell." if any(found.noise.values()) else ""
    )
    return paragraphs("Ratios by measure:", table, fill(noise, width), "\n".join(meanings), words)


def look(options: argparse.Namespace) -> dict[str, Any]:
    """Width and colours of what is drawn."""
    return {"width": line_width(options.output), "colour": wants_colour(options.output)}


def answer_text(text: str, options: argparse.Namespace) -> None:
    emit(text, options.output, coloured=True)  # every name in it was made printable where it was drawn


def answer_form(found: Table, answer: dict[str, Any], notes: Sequence[Note], options: argparse.Namespace) -> None:
    """One of the forms for scripts and documents."""
    match options.format:
        case "json":
            emit(as_json(answer), options.output)
            return
        case "arrow":
            emit_arrow(found.to_dict(), answer, options.output)
            return
        case "csv":
            emit(found.to_csv(), options.output)
        case "markdown":
            emit(found.to_markdown(), options.output)
        case _:
            emit(found.to_latex(), options.output)
    notes_aside(notes, options)


def about(a: Analysis) -> dict[str, Any]:
    """What every answer in JSON begins with."""
    return {"objective": a.objective, "direction": a.direction, "rows": a.rows, "dropped": a.dropped}


def importances_as_json(a: Analysis, found: Importances) -> dict[str, Any]:
    return about(a) | {
        "target": found.target,
        "region": found.region,
        "baseline": found.baseline,
        "importance": as_rows(found.to_dict()),
        "space": a.space.to_dict(),
        "estimator": found.estimator,
        "notes": [*found.notes, *a.notes],
    }


def importances_in_words(a: Analysis, found: Importances, options: argparse.Namespace) -> str:
    several = a.observations is not None and len(a.observations.goals) > 1
    return paragraphs(
        heading(a, options),
        draw_importances(found, most=options.top, alone=options.quiet, nesting=nesting_of(a.tallies), **look(options)),
        side_by_side(a, options) if several and not options.quiet else "",
        notes_of([*found.notes, *a.notes], options),
    )


def side_by_side(a: Analysis, options: argparse.Namespace) -> str:
    """The shares for each objective alone, beside those for all."""
    answers = a.by_objective(*questions_of(options), **estimation(options))
    table = draw_table(answers.header(), answers.lines(), **look(options))
    best = "The best rows are those that fewest others beat in all objectives: the front first, then the one behind it."
    return f"Shares by objective:\n\n{table}\n\n{fill(best, line_width(options.output))}"


def notes_of(notes: Sequence[Note], options: argparse.Namespace) -> str:
    return draw_notes(worded(notes, options), width=line_width(options.output))
