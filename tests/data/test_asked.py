"""A question about a doubtful table: its groups of columns are those of the answer that follows the line to copy."""

from __future__ import annotations

import csv
import re
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest

import pedanova as pa
from helpers.corpus import tables
from pedanova.errors import DataError, QueryError

LINE = re.compile(r"pass pa\.analyze\(data, (?P<name>NAME|'[^']*')(, direction='(?P<way>\w+)')?\)")
SOME = [table for table in tables() if len(table["columns"]) <= 12][::4]


def file_of(table: dict[str, Any], folder: Path) -> str:
    file = folder / "runs.csv"
    with file.open("w", newline="", encoding="utf-8") as out:
        rows = csv.writer(out)
        rows.writerow(table["columns"])
        rows.writerows(zip_longest(*(values for _, *values in table["columns"].values()), fillvalue=""))
    return str(file)


def listed_in(question: str, group: str) -> set[str]:
    found = re.search(rf"(?:;|counts;) {group}: ([^;]*);", question)
    return set(names_in(found[1])) if found else set()


def names_in(text: str) -> list[str]:
    return [name.strip("'\"") for name in re.split(r", | and ", text)]


@pytest.mark.parametrize("table", SOME, ids=[table["from"] for table in SOME])
def test_the_answer_has_the_parameters_of_the_question(table: dict[str, Any], tmp_path: Path) -> None:
    data = file_of(table, tmp_path)
    try:
        pa.analyze(data)
    except QueryError as refused:
        question = str(refused)
    except DataError:
        return
    else:
        return
    line = LINE.search(question)
    if line is None:  # only the direction is asked
        assert "direction= is missing" in question
        return
    name = line["name"].strip("'")
    if name == "NAME":
        candidates = re.search(r"perhaps (.*?)(?:,? and direction=|, or yes=)", question)
        assert candidates is not None, question
        name = names_in(candidates[1])[0]
        assert name in map(str.strip, table["columns"])
    a = pa.analyze(data, name, direction=line["way"] or "minimize")
    assert set(a.space) == listed_in(question, "parameters") | listed_in(question, "unsure")
    assert name not in a.space
    assert listed_in(question, "blocks") == {n for n in table["columns"] if f"within {n}" in a.objective}
