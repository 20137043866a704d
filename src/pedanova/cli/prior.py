"""The command prior: where good values lie over many studies, what that is worth, and how other tools take it."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pedanova.analysis.across import checked, grouped_analyses
from pedanova.analysis.analysis import Analysis
from pedanova.analysis.options import OBJECTIVE
from pedanova.base.notes import Note, in_order
from pedanova.cli.answers import answer_form, answer_text, look, notes_of
from pedanova.cli.load import as_given, given_options
from pedanova.cli.output import as_rows, emit, notes_aside, paragraphs
from pedanova.cli.studies import opened_all
from pedanova.cli.values import parse_rows
from pedanova.errors import Arg, QueryError
from pedanova.measures.studies.defaults import Defaults, defaults_of
from pedanova.measures.studies.prior import SearchPrior, prior_of
from pedanova.measures.studies.worth import Worth
from pedanova.report.terminal.priors import draw_defaults, draw_prior_table, draw_worth
from pedanova.space.priors import form_of


def run_prior(options: argparse.Namespace) -> int:
    options.output = None  # tables go to the terminal, the prior to its own file
    form = options.to or (form_of(options.out) if options.out else None)
    analyses, notes = studies_of(options)
    target = parse_rows(options.target, "target")
    found = prior_of(analyses, target=target, safety=options.safety)
    if form and not options.out:
        emit(found.export(form), None)
        notes_aside([*found.lost_in(form), *found.notes, *notes], options)
        return 0
    worth = found.left_out()
    defaults = defaults_of(analyses, target=target, seed=options.seed) if options.defaults else None
    lost = found.lost_in(form) if form else []
    told = in_order(dict.fromkeys([*lost, *found.notes, *worth.notes, *(defaults.notes if defaults else ()), *notes]))
    written = [one for one in (saved(found, form, options.out), drawn(found, options.figure)) if one]
    if options.format != "text":
        answer_form(found, as_document(found, worth, defaults, told), told, options)
        return 0
    tables = [draw_prior_table(found, **look(options)), draw_worth(worth, **look(options))]
    tables += [draw_defaults(defaults, **look(options))] if defaults else []
    answer_text(paragraphs(*tables, "\n".join(written), notes_of(told, options)), options)
    return 0


def studies_of(options: argparse.Namespace) -> tuple[Mapping[str, Analysis], tuple[Note, ...]]:
    """Groups of one table, or a study for each source, saved ones among them."""
    if options.group is None:
        return opened_all([options.file, *options.others], options), ()
    if options.others:
        raise QueryError(Arg("group"), f" is for one table, not {1 + len(options.others)}; leave one of both out")
    objective = as_given(OBJECTIVE, options.objective)
    return grouped_analyses(options.file, objective, options.group, checked(given_options(options)))


def saved(found: SearchPrior, form: str | None, place: str | None) -> str:
    if form is None or place is None:
        return ""
    emit(found.export(form), place)
    return f"Prior for {form}: {place}"


def drawn(found: SearchPrior, place: str | None) -> str:
    if place is None:
        return ""
    from pedanova.report.figures.priors import save_prior

    save_prior(found, Path(place))
    return f"Figure: {place}"


def as_document(found: SearchPrior, worth: Worth, defaults: Defaults | None, notes: tuple[Note, ...]) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "target": found.target,
        "studies": list(found.studies),
        "safety": found.safety,
        "prior": as_rows(found.to_dict()),
        "left_out": as_rows(worth.to_dict()),
        "median_trials": worth.median_trials,
        "no_worse": worth.safe,
    }
    if defaults is not None:
        plain |= {
            "configuration": dict(defaults.configuration),
            "defaults": as_rows(defaults.to_dict()),
            "regrets": as_rows(defaults.regrets.to_dict()),
        }
    return plain | {"notes": list(notes)}
