"""Commands about budgets and seeds: along, seeds."""

from __future__ import annotations

import argparse
from typing import Any

from pedanova.cli.answers import about, answer_form, answer_text, look, notes_of
from pedanova.cli.load import estimation, questions_of, source_opened
from pedanova.cli.output import as_rows, heading, paragraphs
from pedanova.cli.values import as_float, parse_budget, parse_rows, split_names
from pedanova.errors import Arg, QueryError
from pedanova.measures.studies.along import Along
from pedanova.report.terminal.studies import draw_along, draw_seeds


def run_along(options: argparse.Namespace) -> int:
    with source_opened(options) as a:
        how = estimation(options)
        found = a.along(
            parse_budget(options.budget), *questions_of(options), at=parse_at(options.at), among=options.among, **how
        )
        if options.format == "text":
            drawn = draw_along(found, alone=options.quiet, **look(options))
            answer_text(paragraphs(heading(a, options), drawn, notes_of(found.notes, options)), options)
            return 0
        answer_form(found, about(a) | along_as_json(found), found.notes, options)
    return 0


def along_as_json(found: Along) -> dict[str, Any]:
    left_out = [{"budget": one.budget, "rows": one.rows, "why": one.why} for one in found.left_out]
    return {
        "budget": found.name,
        "target": found.target,
        "region": found.region,
        "full": found.full.budget,
        "since": found.since,
        "in_words": found.in_words(),
        "along": as_rows(found.to_dict()),
        "left_out": left_out,
        "notes": list(found.notes),
    }


def run_seeds(options: argparse.Namespace) -> int:
    with source_opened(options) as a:
        found = a.seeds(parse_rows(options.target, "target"))
        if options.format == "text":
            drawn = draw_seeds(found, alone=options.quiet, **look(options))
            answer_text(paragraphs(heading(a, options), drawn, notes_of(found.notes, options)), options)
            return 0
        counts = {"configurations": found.configurations, "repeated": found.repeated, "target": found.target}
        answer = about(a) | counts | {"seeds": as_rows(found.to_dict()), "notes": list(found.notes)}
        answer_form(found, answer, found.notes, options)
    return 0


def parse_at(given: list[str] | None) -> list[float] | None:
    texts = split_names(given)
    if texts is None:
        return None
    found = [as_float(text) for text in texts]
    if None in found:
        raise QueryError(Arg("at", texts[found.index(None)]), " must be numbers, such as 1,5,50")
    return [one for one in found if one is not None]
