"""The code in a saved report runs as it stands, in Python and in a shell, and gives the numbers of the report."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pedanova as pa
from helpers.explorers import payload_of
from pedanova.cli.program import main
from pedanova.report.page.answers import importance_rows
from pedanova.report.page.facts import exact
from pedanova.results import Across

QUICK: dict[str, Any] = {"estimator": "counts", "draws": 20}
REPORTS: dict[str, tuple[dict[str, Any], dict[str, Any], Any]] = {  # options of analyze and of report, and a selection
    "plain": ({"objective": "error"}, {"reduce": True, **QUICK}, None),
    "other objective": ({"objective": "score", "direction": "max"}, QUICK, None),
    "few columns": ({"objective": "error", "params": ["lr", "depth"]}, {**QUICK, "baseline": "uniform"}, None),
    "left out": ({"objective": "error", "exclude": ["width"], "where": "depth > 2"}, {**QUICK, "seed": 3}, None),
    "condition": ({"objective": "error"}, {**QUICK, "within": "lr > 0.001 and kind == 'b c'"}, None),
    "selection": ({"objective": "error"}, {**QUICK, "within": {"lr": (0.001, None), "kind": ["a", "b c"]}}, None),
    "rows first": ({"objective": "error"}, {**QUICK, "of": "rows"}, {"lr": (None, 0.05)}),
    "other target": ({"objective": "error"}, {**QUICK, "questions": [(0.1, 0.6), (pa.at_most(0.5), 1.0)]}, None),
    "two objectives": ({"objective": ["error", "score"], "direction": ["min", "max"]}, QUICK, None),
    "studies": ({"objective": "error", "exclude": ["site"]}, {**QUICK, "group": "site"}, None),
}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    random, rows = np.random.default_rng(5), 300
    lr, depth, width = 10 ** random.uniform(-4, 0, rows), random.integers(1, 9, rows), random.random(rows)
    kind = random.choice(["a", "b c", "it's"], rows)
    error = np.abs(np.log10(lr) + 2) + 0.1 * depth * (kind == "a") + 0.1 * random.random(rows)
    columns = {"lr": lr, "depth": depth, "width": width, "kind": kind, "site": random.choice(["x", "y", "z"], rows)}
    place = tmp_path_factory.mktemp("a folder") / "k 1.csv"
    with place.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*columns, "error", "score"])
        writer.writerows(zip(*columns.values(), error, -error + random.random(rows), strict=True))
    return place


@pytest.mark.parametrize("name", REPORTS)
def test_every_line_of_a_saved_report_gives_its_numbers(name: str, table: Path, tmp_path: Path) -> None:
    opened, options, selected = REPORTS[name]
    a = pa.analyze(table, **opened)
    a = a if selected is None else a.within(selected)
    place = a.report(
        tmp_path / "r.html", **{"ladder": [0.1, 1.0], "reduce": False, "questions": [(0.1, 1.0)], **options}
    )
    made = payload_of(place.read_text(encoding="utf-8"))
    known: dict[str, Any] = {}
    exec(made["facts"]["opening"], known)
    run = set()
    for one in made["answers"]:
        found, lines = one["answer"], one["answer"].get("lines") or {}
        if found["refused"] is None:
            run.add(one["part"])
            by_python = eval(lines["python"], known)
            assert numbers(one["part"], by_python) == shown(one["part"], found), lines["python"]
            if lines["shell"] is not None and one["part"] in SHELL:
                column, rows = SHELL["groups" if "over" in found else one["part"]]
                by_shell = [row[column] for row in in_shell(lines["shell"])[rows]]
                in_report = [row[column] for row in found[ROWS.get(one["part"], "rows")]]
                assert sorted(by_shell) == sorted(in_report), lines["shell"]
    assert {"answer"} | ({"groups"} if "group" in options else {*()}) <= run
    assert run >= {"pairs", "plane"}
    if name == "two objectives":
        assert "objectives" in run


SHELL = {
    "answer": ("share", "importance"),
    "pairs": ("interaction", "interactions"),
    "gains": ("gain", "gains"),
    "groups": ("share", "across"),
}
ROWS = {"answer": "importances", "groups": "parameters"}


def in_shell(line: str) -> Any:
    program, *words = shlex.split(line)
    assert program == "pedanova"
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        assert main([*words, "--format", "json"]) == 0, line
    return json.loads(out.getvalue())


def numbers(part: str, found: Any) -> Any:
    """The numbers of a result of Python, as far as the card shows them."""
    if part == "answer" and isinstance(found, Across):  # the mean over all studies
        return {row.name: [exact(row.share), exact(row.high)] for row in found.rows}
    if part == "answer":
        return importance_rows(found.rows)
    if part == "plane":
        ((_, density),) = found.items()
        return density.target.tolist(), density.region.tolist()
    if part == "objectives":
        return {name: importance_rows(one.rows) for name, one in found.items()}
    if part == "space":
        return found.summary()
    if part == "pairs":
        return [row.interaction for row in found.rows]
    return [row.gain if part == "gains" else row.share for row in found.rows]


def shown(part: str, found: dict[str, Any]) -> Any:
    """The same numbers in the report."""
    if part == "plane":
        return found["target"], found["region"]
    if "over" in found:
        return {row["parameter"]: [row["share"], row["high"]] for row in found["importances"]}
    if part in ("answer", "objectives"):
        return found["importances"]
    if part == "space":
        return found["summary"]
    column = {"pairs": "interaction", "gains": "gain"}.get(part, "share")
    return [row[column] for row in found["rows" if part in ("pairs", "gains") else "parameters"]]


def test_notes_on_the_data_stay_in_a_report_about_a_selection(table: Path, tmp_path: Path) -> None:
    a = pa.analyze(table, "error")
    whole, part = (
        payload_of(a.report(tmp_path / "r.html", within=within, ladder=[0.1, 1.0], reduce=False, **QUICK).read_text())
        for within in (None, {"lr": (0.001, 0.1)})
    )
    assert len(part["facts"]["notes"]) >= len(whole["facts"]["notes"]) >= 3
    assert [note for note in whole["facts"]["notes"] if note not in part["facts"]["notes"]] == []
