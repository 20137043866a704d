"""Commands that print an answer as text, as a table or as JSON."""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pedanova.analysis.analysis import Analysis
from pedanova.analysis.analyze import guess_space, request_of, roles_in
from pedanova.analysis.options import OBJECTIVE
from pedanova.base.notes import Note
from pedanova.base.table import Cell, Table
from pedanova.base.terminal import TableColumn
from pedanova.cli.inputs import as_argument, as_float, is_saved, opened, question_of, split_names, table_options
from pedanova.cli.output import as_rows, command_line, complain, emit, line_width, notes_aside, paragraphs, print_answer
from pedanova.cli.parser import BY_COMMAND
from pedanova.data.options import RowOptions
from pedanova.data.roles import ColumnRoles
from pedanova.errors import Arg, QueryError, check_names
from pedanova.measures.advice.needed import first_stays
from pedanova.measures.densities import Densities
from pedanova.measures.importance import Importances, is_narrow
from pedanova.measures.question import DEFAULT, LEAST_TO_REDUCE
from pedanova.report.names import nesting_of
from pedanova.report.terminal import tables
from pedanova.report.terminal.tables import TerminalStyle, draw_importances, fill
from pedanova.space.exports import export, left_out

if TYPE_CHECKING:
    from pedanova.measures.advice.next_trials import NextTrials
    from pedanova.measures.studies.pooling import RankTest

BEST_ROWS = (
    "Rows are ordered by Pareto fronts. A row is in the first front if no other row is better in one objective and "
    "at least as good in the others."
)
SHOWN = 3  # densities that are shown if no parameter is named


def run_roles(options: argparse.Namespace) -> int:
    if is_saved(options):
        words = f" is for tables, not for saved analyses; pass the table instead of {options.file}"
        raise QueryError(Arg("roles", True), words)
    table = {name: value for name, value in table_options(options).items() if name not in ("study", "scan")}
    request = request_of(as_argument(OBJECTIVE, options.objective), RowOptions(**table))
    roles = roles_in(options.file, request, options.study)
    return print_answer(options, roles, draw_roles)


def draw_roles(roles: ColumnRoles, look: TerminalStyle) -> str:
    wide = min(30, max(len(row.column) for row in roles.rows))
    lines = (f"{row.column:<{wide}}  {row.role:<10}  {row.why}" for row in roles.rows)
    return "\n".join(fill(line, look.width, " " * (wide + 14)) for line in lines)


def run_method(options: argparse.Namespace) -> int:
    """Print the result of the method of `Analysis` that the command names."""
    a = opened(options)
    command = BY_COMMAND[options.command]
    result = getattr(a, command.name)(**question_of(options))
    notes = [*result.notes, *(a.notes if command.table_notes else ())]
    return print_answer(options, result, getattr(tables, f"draw_{command.name}"), a=a, notes=notes)


def run_analyze(options: argparse.Namespace) -> int:
    if options.roles:
        return run_roles(options)
    a, question = opened(options), question_of(options)
    result = a.importance(**question)
    result = result.in_full() if options.columns == "all" else result
    if options.save:
        a.save(options.save, rows=options.save_rows)
    if options.report:
        from pedanova.cli.pages import write_report

        write_report(a, options.report, options)
        complain(f"the report is in {options.report}")

    def drawn(result: Importances, look: TerminalStyle) -> str:
        words = draw_importances(result, look, nesting_of(a.data.tallies), next_step(a, result, options))
        if look.alone or a.data.observations is None or len(a.data.observations.goals) < 2:
            return words
        answers = a.compare(**question, by="objective")
        table = look.folded(answers.printed())
        return f"{words}\n\n{look.titled('Importance by objective', table, BEST_ROWS)}"

    unseen = options.quiet and options.format != "json"  # notes are not printed
    stop = ""
    if not unseen and first_stays(result.rows):  # the module is needed only for this advice
        from pedanova.measures.advice.advise import stop_sentence

        stop = stop_sentence(a.data, result, options.seed)
    own = [*result.notes, *([Note("answer", stop)] if stop else [])]
    more = {"space": a.space.to_dict(), "good_values": dict(result.good)}
    return print_answer(options, result, drawn, a=a, more=more, notes=[*own, *a.notes], aside=own, gap="\n")


def next_step(a: Analysis, result: Importances, options: argparse.Namespace) -> str:
    """A sentence that suggests what to do next, with the shell command for it."""
    if result.estimator == "paper":
        return f"Next, see which effects are clear: {command_line('analyze', options, estimator='auto')}"
    if options.target == "failed":
        return f"Next, run trials that probably succeed: {command_line('next', options)}"
    sure = [row.name for row in result.rows if row.significant]
    if not sure:
        wider = f", or choose a wider target: {command_line('analyze', options, target='0.3')}"
        return f"Next: run more trials{wider if is_narrow(result) else '.'}"
    target = target_of_reduce(a, result, options)
    if a.data.observations is None or not result.whole or target is None:
        widened = any(note.kind == "question" and note.severity == "warning" for note in result.notes)
        same = {"target": result.target.removeprefix("the best ").replace(" ", "")} if widened else {}
        return f"Next, see where good values lie: {command_line('densities', options, sure[0], **same)}"
    why = f" (with a wider target, because reduce needs {LEAST_TO_REDUCE[1]} target rows)"
    wider = why * (target != options.target)
    return f"Next, find a smaller search space{wider}: {command_line('reduce', options, target=target)}"


def target_of_reduce(a: Analysis, result: Importances, options: argparse.Namespace) -> str | None:
    """The given target, or a wider one if ``pedanova reduce`` needs more rows; None if no target has enough rows."""
    rows, inside = LEAST_TO_REDUCE
    if len(a) < rows:
        return None
    asked = as_float(options.target)
    if asked is None or result.estimator == "surrogate" or len(a) * asked >= inside:
        return str(options.target)
    return next((f"{part:g}" for part in (0.2, 0.3) if len(a) * part >= inside), None)


def run_densities(options: argparse.Namespace) -> int:
    from pedanova.report.terminal.curves import draw_densities, draw_key

    a = opened(options)
    check_names(options.names, a.space)
    question = question_of(options)
    known = ("target", "region", "smoothing", "estimator", "of", "seed")
    every = a.densities(**{name: question[name] for name in known})
    ranked = a.importance(**question) if options.format == "text" or not options.names else None
    names = dict.fromkeys(options.names or list(ranked or every)[:SHOWN])
    chosen = DensityTable([every[name] for name in names])
    words = chosen.densities[0].words

    def drawn(chosen: DensityTable, look: TerminalStyle) -> str:
        plots = [draw_densities(one, look, ranked[one.name] if ranked else None) for one in chosen.densities]
        others = 0 if options.names else len(a.space) - len(plots)
        hint = f"{others} more parameters; to plot one: pedanova densities SOURCE NAME" if others > 0 else ""
        parts = [draw_key(words, look), *plots, fill(hint, look.width)]
        return "\n\n".join(part for part in parts if part)

    more = {"target": words[0], "region": words[1], "densities": chosen.in_full()}
    return print_answer(options, chosen, drawn, a=a, more=more, notes=None)


class DensityTable(Table):
    """The densities of several parameters one below the other, each with at most a dozen groups of values."""

    __slots__ = ("densities",)

    def __init__(self, densities: Sequence[Densities]) -> None:
        self.densities = densities

    def to_markdown(self) -> str:
        return "\n".join(one.to_markdown() for one in self.densities)

    def to_latex(self) -> str:
        return "\n".join(one.to_latex() for one in self.densities)

    def to_dict(self) -> dict[str, list[Cell]]:
        parts: list[dict[str, list[Cell]]] = [
            {"parameter": [one.name] * len(one), **density_columns(one)} for one in self.densities
        ]
        return {name: [cell for part in parts for cell in part[name]] for name in parts[0]}

    def in_full(self) -> list[dict[str, Any]]:
        """The densities for JSON: for each parameter, all cells with unrounded numbers."""
        known = ("bandwidth", "missing_target", "missing_region")
        return [
            {"parameter": one.name, "cells": as_rows(density_columns(one)), **{key: getattr(one, key) for key in known}}
            for one in self.densities
        ]


def density_columns(density: Densities) -> dict[str, list[Cell]]:
    """The columns of a density; `low` and `high` are the ends of each cell, or None for a categorical parameter."""
    low = density.edges[:-1].tolist() if density.edges is not None else [None] * len(density)
    high = density.edges[1:].tolist() if density.edges is not None else [None] * len(density)
    columns = density.to_dict()
    return {"cell": columns.pop("cell"), "low": low, "high": high, **columns}


def run_compare(options: argparse.Namespace) -> int:
    a = opened(options)
    result = a.compare(**question_of(options))
    return print_answer(options, result, tables.draw_compare, notes=[*result.notes, *a.notes], aside=())


def run_reduce(options: argparse.Namespace) -> int:
    if not options.to:
        return run_method(options)
    if options.format != "text":
        raise QueryError(f"--to {options.to} cannot be combined with --format {options.format}; choose one")
    reduced = opened(options).reduce(**question_of(options))
    emit(export(reduced.space, options.to).rstrip("\n") + "\n", options.output)
    notes_aside([*left_out(reduced.space, options.to), *reduced.notes], options)
    if not options.quiet:
        complain(reduced.summary())
    return 0


def run_space(options: argparse.Namespace) -> int:
    space, notes = guess_space(
        options.file,
        as_argument(OBJECTIVE, options.objective),
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
    from pedanova.sources.registry import KINDS

    tables = "data frames (pandas, Polars, pyarrow), dicts of arrays and NumPy arrays"
    kinds = [(kind.name, kind.mark, kind.example) for kind in KINDS]
    width = line_width()
    parts = []
    for name, mark, example in [*kinds, ("Tables in memory", tables, 'pedanova.analyze(table, "loss")')]:
        filled = textwrap.fill(mark, width, initial_indent="  ", subsequent_indent="  ")
        parts.append(f"{name}\n{filled}\n  {example}")
    emit(paragraphs(*parts), None)
    return 0


# --- several studies, budgets and seeds ------------------------------------------------------------


def run_across(options: argparse.Namespace) -> int:
    """Run `across` on the groups of one table, or on several sources, which may be saved analyses."""
    from pedanova.analysis.studies import across
    from pedanova.measures.studies.across import DRAWS

    how = question_of(options)
    if how["draws"] == DEFAULT.draws:
        how["draws"] = DRAWS
    places = [options.file, *options.others]
    if options.group is not None and options.others:
        raise QueryError(
            Arg("group"), f" is for one table, not {len(places)} sources; leave out --group, or name one table"
        )
    if options.group is None and not options.others:
        words = "across needs several studies; give more sources, or name the column of studies in "
        raise QueryError(words, Arg("group"))
    data, objective = places if options.group is None else options.file, as_argument(OBJECTIVE, options.objective)
    result = across(data, objective, **how, **table_options(options))
    more = {
        "studies": as_rows(result.studies.to_dict()),
        "ranks": None if result.ranks is None else ranks_to_json(result.ranks),
        "disagreements": as_rows(result.disagreements.to_dict()),
    }
    return print_answer(options, result, tables.draw_across, more=more, notes=result.notes)


def ranks_to_json(ranks: RankTest) -> dict[str, Any]:
    return {
        "studies": ranks.studies,
        "statistic": ranks.statistic,
        "p_value": ranks.p_value,
        "critical_difference": ranks.critical,
        "ranks": as_rows(ranks.to_dict()),
        "alike": [list(ranks.names[first : last + 1]) for first, last in ranks.alike],
    }


def run_difference(options: argparse.Namespace) -> int:
    from pedanova.analysis.studies import difference, named_analyses

    if len(options.others) != 1:
        given = 1 + len(options.others)
        raise QueryError(f"difference compares two sources, not {given}; for more, use pedanova across")
    objective = as_argument(OBJECTIVE, options.objective)
    studies = named_analyses([options.file, *options.others], objective, table_options(options))
    first, second = studies
    result = difference(studies[first], studies[second], names=(first, second), **question_of(options))
    return print_answer(options, result, tables.draw_difference, notes=result.notes)


PREDICTED = "expected: the predicted objective of the trial, with its 95 % interval."
MARKED = (
    "To save these trials: --format csv -o next.csv. Keep the column pedanova_next in your log: it tells a later "
    "analysis that these trials were not drawn at random."
)


def run_next(options: argparse.Namespace) -> int:
    a = opened(options)
    result = a.next_trials(**question_of(options))
    if options.format == "json":
        emit(result.to_json(), options.output)
        return 0
    needed = a.needed(seed=options.seed, force=True).summary()

    def drawn(trials: NextTrials, look: TerminalStyle) -> str:
        columns = [TableColumn("trial", [str(number) for number in range(1, len(trials) + 1)]), *trials.printed()]
        table = look.folded(columns)
        return look.titled("Run next", table, PREDICTED, MARKED, needed)

    return print_answer(options, result, drawn, a=a, notes=[*result.notes, *a.notes])


def run_brief(options: argparse.Namespace) -> int:
    brief = opened(options).brief(**question_of(options))
    emit(brief.to_json() if options.format == "json" else f"{brief.to_text()}\n", options.output)
    return 0
