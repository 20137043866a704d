"""Commands about several studies, budgets and seeds: across, difference, along, seeds."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pedanova.analysis.across import Across, across, by_stem
from pedanova.analysis.analysis import Analysis
from pedanova.analysis.difference import StudyDifferences, difference
from pedanova.analysis.options import OBJECTIVE
from pedanova.cli.inputs import (
    as_argument,
    estimation,
    parse_at,
    parse_budget,
    parse_rows,
    questions_of,
    source_opened,
    table_options,
)
from pedanova.cli.output import about, answer_form, answer_text, as_rows, heading, look, notes_of
from pedanova.errors import Arg, QueryError
from pedanova.measures.question import DEFAULT
from pedanova.measures.studies.along import Along
from pedanova.measures.studies.groups import DRAWS
from pedanova.report.terminal.studies import draw_across, draw_along, draw_changes, draw_seeds


def run_across(options: argparse.Namespace) -> int:
    target, region = questions_of(options)
    how = estimation(options)
    if how["draws"] == DEFAULT.draws:
        how["draws"] = DRAWS
    result = across_sources(options, target, region, how)
    if options.format != "text":
        answer_form(result, across_as_json(result), result.notes, options)
        return 0
    drawn = draw_across(result, alone=options.quiet, **look(options))
    answer_text(options, drawn, notes_of(result.notes, options))
    return 0


def across_sources(options: argparse.Namespace, target: object, region: object, how: dict[str, Any]) -> Across:
    """Groups of one table, or several sources, saved ones among them."""
    places = [options.file, *options.others]
    if options.group is not None:
        if options.others:
            raise QueryError(Arg("group"), f" is for one table, not {len(places)} sources; leave one of both out")
        objective = as_argument(OBJECTIVE, options.objective)
        return across(
            options.file, objective, group=options.group, target=target, region=region, **how, **table_options(options)
        )
    if not options.others:
        raise QueryError("one source holds one study; name the column of its studies as ", Arg("group"))
    return across(opened_all(places, options), target=target, region=region, **how)


def run_difference(options: argparse.Namespace) -> int:
    if len(options.others) != 1:
        raise QueryError(
            f"difference compares two sources, not {1 + len(options.others)}; see pedanova across for more"
        )
    studies = opened_all([options.file, *options.others], options)
    (first, a), (second, b) = studies.items()
    result = difference(a, b, *questions_of(options), names=(first, second), **estimation(options))
    if options.format == "text":
        drawn = draw_changes(result, alone=options.quiet, **look(options))
        answer_text(options, drawn, notes_of(result.notes, options))
    else:
        answer_form(result, difference_as_json(result), result.notes, options)
    return 0


def opened_all(places: Sequence[str], options: argparse.Namespace) -> dict[str, Analysis]:
    """Every source as its own analysis; options about tables concern those that are tables."""
    analyses = {}
    for name, place in by_stem(places).items():
        alone = argparse.Namespace(**(vars(options) | {"file": place}))
        if Path(place).suffix.lower() == ".pedanova":
            alone = argparse.Namespace(file=place)
        with source_opened(alone) as a:
            analyses[name] = a
    if len(analyses) < len(places):
        raise QueryError("a source is named twice; give different ones")
    return analyses


def across_as_json(result: Across) -> dict[str, Any]:
    ranks = result.ranks
    return {
        "target": result.target,
        "region": result.region,
        "across": as_rows(result.to_dict()),
        "studies": as_rows(result.studies.to_dict()),
        "ranks": None
        if ranks is None
        else {
            "studies": ranks.studies,
            "statistic": ranks.statistic,
            "p_value": ranks.p_value,
            "critical_difference": ranks.critical,
            "ranks": as_rows(ranks.to_dict()),
            "alike": [list(ranks.names[first : last + 1]) for first, last in ranks.alike],
        },
        "disagreements": as_rows(result.disagreements.to_dict()),
        "map": [] if result.map is None else as_rows(result.map.to_dict()),
        "notes": list(result.notes),
    }


def difference_as_json(result: StudyDifferences) -> dict[str, Any]:
    relation = result.relation
    return {
        "studies": list(result.names),
        "relation": relation.kind,
        "same_space": relation.space,
        "drawn_differently": list(relation.drawn),
        "difference": as_rows(result.to_dict()),
        "notes": list(result.notes),
    }


def run_along(options: argparse.Namespace) -> int:
    with source_opened(options) as a:
        how = estimation(options)
        result = a.along(
            parse_budget(options.budget), *questions_of(options), at=parse_at(options.at), among=options.among, **how
        )
        if options.format == "text":
            drawn = draw_along(result, alone=options.quiet, **look(options))
            answer_text(options, heading(a, options), drawn, notes_of(result.notes, options))
            return 0
        answer_form(result, about(a) | along_as_json(result), result.notes, options)
    return 0


def along_as_json(result: Along) -> dict[str, Any]:
    left_out = [{"budget": one.budget, "rows": one.rows, "why": one.why} for one in result.left_out]
    return {
        "budget": result.name,
        "target": result.target,
        "region": result.region,
        "full": result.full.budget,
        "since": result.since,
        "in_words": result.in_words(),
        "along": as_rows(result.to_dict()),
        "left_out": left_out,
        "notes": list(result.notes),
    }


def run_seeds(options: argparse.Namespace) -> int:
    with source_opened(options) as a:
        result = a.seeds(parse_rows(options.target, "target"))
        if options.format == "text":
            drawn = draw_seeds(result, alone=options.quiet, **look(options))
            answer_text(options, heading(a, options), drawn, notes_of(result.notes, options))
            return 0
        counts = {"configurations": result.configurations, "repeated": result.repeated, "target": result.target}
        answer = about(a) | counts | {"seeds": as_rows(result.to_dict()), "notes": list(result.notes)}
        answer_form(result, answer, result.notes, options)
    return 0
