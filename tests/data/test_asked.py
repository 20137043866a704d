"""A question about a doubtful table: its groups of columns are those of the answer that follows the line to copy."""

from __future__ import annotations

import csv
import re
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
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


def test_the_groups_are_the_same_whichever_result_is_named(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    names = "total_cost", "accuracy_small", "accuracy_large", "runtime", "best_size"
    table = {"lr": rng.choice([0.1, 0.2, 0.4], 60), "depth": rng.choice([2, 4, 8], 60)}
    table |= {name: rng.normal(size=60).round(4) for name in names}
    with pytest.raises(QueryError) as refused:
        pa.analyze(table)
    asked = str(refused.value)
    for name in listed_in(asked, "results"):
        space = set(pa.analyze(table, name, direction="minimize").space)
        assert space == (listed_in(asked, "parameters") | listed_in(asked, "unsure")) - {name}


def test_no_result_is_proposed_where_no_column_looks_like_one() -> None:
    rng = np.random.default_rng(0)
    table = {"dropout": rng.choice([0.1, 0.2, 0.4], 60), "depth": rng.choice([2, 4, 8], 60)}
    with pytest.raises(QueryError, match="objective= is missing; name one of the columns: dropout, depth"):
        pa.analyze(table)


def test_a_line_names_no_training_result() -> None:
    rng = np.random.default_rng(0)
    table = {"scaler_type": rng.choice(["none", "standard"], 60), "tau": rng.choice([1, 5, 20], 60)}
    table |= {name: rng.random(60) for name in ("train_nll_final", "eval_nll_learned", "eval_nll_baseline")}
    with pytest.raises(QueryError, match=r"data, NAME\) with one of the results"):
        pa.analyze(table)
