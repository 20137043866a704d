"""Commands about several studies: across, difference."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pedanova.analysis.across import Across, across, by_stem
from pedanova.analysis.analysis import Analysis
from pedanova.analysis.difference import StudyDifferences, difference
from pedanova.analysis.groups import DRAWS
from pedanova.analysis.options import BY_NAME, OBJECTIVE
from pedanova.cli.answers import answer_form, answer_text, look, notes_of
from pedanova.cli.load import as_given, estimation, given_options, questions_of, source_opened
from pedanova.cli.output import as_rows, paragraphs
from pedanova.errors import Arg, QueryError
from pedanova.report.terminal.studies import draw_across, draw_changes


def run_across(options: argparse.Namespace) -> int:
    target, region = questions_of(options)
    how = estimation(options)
    if how["draws"] == BY_NAME["draws"].default:
        how["draws"] = DRAWS
    found = asked_across(options, target, region, how)
    if options.format != "text":
        answer_form(found, across_as_json(found), found.notes, options)
        return 0
    drawn = draw_across(found, alone=options.quiet, **look(options))
    answer_text(paragraphs(drawn, notes_of(found.notes, options)), options)
    return 0


def asked_across(options: argparse.Namespace, target: object, region: object, how: dict[str, Any]) -> Across:
    """Groups of one table, or several sources, saved ones among them."""
    places = [options.file, *options.others]
    if options.group is not None:
        if options.others:
            raise QueryError(Arg("group"), f" is for one table, not {len(places)} sources; leave one of both out")
        given = given_options(options)
        objective = as_given(OBJECTIVE, options.objective)
        return across(options.file, objective, group=options.group, target=target, region=region, **how, **given)
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
    found = difference(a, b, *questions_of(options), names=(first, second), **estimation(options))
    if options.format == "text":
        drawn = draw_changes(found, alone=options.quiet, **look(options))
        answer_text(paragraphs(drawn, notes_of(found.notes, options)), options)
    else:
        answer_form(found, difference_as_json(found), found.notes, options)
    return 0


def opened_all(places: Sequence[str], options: argparse.Namespace) -> dict[str, Analysis]:
    """Every source as its own analysis; options about tables concern those that are tables."""
    found = {}
    for name, place in by_stem(places).items():
        own = argparse.Namespace(**(vars(options) | {"file": place}))
        if Path(place).suffix.lower() == ".pedanova":
            own = argparse.Namespace(file=place)
        with source_opened(own) as a:
            found[name] = a
    if len(found) < len(places):
        raise QueryError("a source is named twice; give different ones")
    return found


def across_as_json(found: Across) -> dict[str, Any]:
    ranks = found.ranks
    return {
        "target": found.target,
        "region": found.region,
        "across": as_rows(found.to_dict()),
        "studies": as_rows(found.studies.to_dict()),
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
        "disagreements": as_rows(found.disagreements.to_dict()),
        "map": [] if found.map is None else as_rows(found.map.to_dict()),
        "notes": list(found.notes),
    }


def difference_as_json(found: StudyDifferences) -> dict[str, Any]:
    relation = found.relation
    return {
        "studies": list(found.names),
        "relation": relation.kind,
        "same_space": relation.space,
        "drawn_differently": list(relation.drawn),
        "difference": as_rows(found.to_dict()),
        "notes": list(found.notes),
    }
