"""Tables of public repositories as facts: names of columns, some values, and the role that a careful reader expects.

`python -m helpers.corpus`, in the folder `tests`, prints the errors of every role; `python -m helpers.corpus fit` first
fits the weights of clues on doubtful columns (with scikit-learn), to the tables that are not held out.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import pedanova
from pedanova.data import evidence
from pedanova.data.blocks import guess_blocks
from pedanova.data.column import Column, as_column
from pedanova.data.column_values import Values
from pedanova.data.roles import by_rules, doubtful_clues, marked, roles_of

WEIGHTS = Path(pedanova.__file__).parent / "data" / "role_weights.json"
FILE = Path(__file__).parents[1] / "data" / "corpus.jsonl"
PARTS = {False: "seen", True: "held out"}


def tables() -> list[dict[str, Any]]:
    """The tables: where each is from, its part, the direction of its objective, other columns that may be the
    objective (`also`), and for each column the role and the values of some rows."""
    read = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
    split = ({name: (role, *values.split("|")) for name, (role, values) in table["columns"].items()} for table in read)
    return [table | {"columns": columns} for table, columns in zip(read, split, strict=True)]


def column_of(name: str, texts: Sequence[str]) -> Column:
    """The column as a CSV reader makes it."""
    values: list[Any] = [None if text in ("", "nan", "NaN") else text for text in texts]
    for kind in (int, float, {"True": True, "False": False}.__getitem__):
        try:
            return as_column(name, [None if value is None else kind(value) for value in values])
        except (ValueError, KeyError):
            continue
    return as_column(name, values)


def read(table: dict[str, Any]) -> tuple[dict[str, str], dict[str, Column], str, list[str], list[str]]:
    """The expected roles, the columns, the objective, the guessed blocks and all other columns of a table."""
    expected = {name: role for name, (role, *_) in table["columns"].items()}
    columns = {name: column_of(name, values) for name, (_, *values) in table["columns"].items()}
    objective = next(name for name, role in expected.items() if role == "objective")
    blocks = guess_blocks(columns, [objective])
    return expected, columns, objective, blocks, [name for name in columns if name not in (objective, *blocks)]


def doubtful() -> list[tuple[str, dict[str, float], bool]]:
    """The doubtful columns of the tables that are not held out: repository, clues, whether it is a parameter."""
    found = []
    for table in (table for table in tables() if not table["held_out"]):
        expected, columns, objective, _, names = read(table)
        if marked(names):
            continue
        known = by_rules(names, columns, [objective], list(columns))
        sure = {name: clues for name, clues in doubtful_clues(known).items() if expected[name] != "either"}
        found += [(table["from"].split(":")[0], clues, expected[name] == "parameter") for name, clues in sure.items()]
    return found


def fit(rows: Sequence[tuple[str, dict[str, float], bool]]) -> dict[str, float]:
    """The weights of the clues by a regularised logistic regression of standardised clues."""
    from sklearn.linear_model import LogisticRegression

    table = np.array([list(clues.values()) for _, clues, _ in rows])
    mean, spread = table.mean(axis=0), np.maximum(table.std(axis=0), 0.1)
    model = LogisticRegression(C=0.05, max_iter=1_000).fit((table - mean) / spread, [truth for *_, truth in rows])
    weights = model.coef_[0] / spread
    named = dict(zip(rows[0][1], np.round(weights, 3).tolist(), strict=True))
    return {"": round(float(model.intercept_[0] - weights @ mean), 3)} | named


def errors() -> tuple[Counter[tuple[str, str, str]], Counter[tuple[str, str]]]:
    """How often a role was taken for another one, and how many columns have each role, for both parts of the corpus."""
    wrong, many = Counter[tuple[str, str, str]](), Counter[tuple[str, str]]()
    for table in tables():
        part = PARTS[table["held_out"]]
        expected, columns, objective, blocks, names = read(table)
        roles = roles_of(names, lambda _, columns=columns: columns, [objective], list(columns))[1]
        for name, role in expected.items():
            if role in ("objective", "either") or not Values.of(columns[name]).varies:
                continue
            many[part, role] += 1
            if name in blocks:
                found = "block"
            elif roles[name].is_setting:
                found = "parameter" if roles[name].doubt is None else "doubtful parameter"
            elif roles[name].name in ("time", "budget"):
                found = role if role == "other" else "result"  # a time stamp or the cost of a trial
            else:
                found = "result" if roles[name].name == "result" else "other"
            if found != role:
                wrong[part, role, found] += 1
    return wrong, many


if __name__ == "__main__":
    if sys.argv[1:] == ["fit"]:
        WEIGHTS.write_text(json.dumps(fit(doubtful()), indent=1) + "\n", encoding="utf-8")
        evidence.weights.cache_clear()
    counts, totals = errors()
    for (part, role), total in sorted(totals.items()):
        of_role = {found: count for (p, r, found), count in counts.items() if (p, r) == (part, role)}
        said = ", ".join(f"{count} as {found}" for found, count in sorted(of_role.items()))
        print(f"{part}: {role}: {sum(of_role.values())} of {total} wrong{': ' if said else ''}{said}")
