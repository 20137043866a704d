"""Tables of public repositories as facts: names of columns, some values, and the role that a careful reader expects.

`python -m helpers.corpus`, in the folder `tests`, prints the errors of every role; `python -m helpers.corpus fit` first
fits the weights of clues to the tables that are not held out.

No weight is fitted to the tables that are held out, but rules and clues were changed after failures on them: which
clues there are, `KNOWN`, and what happens to doubtful columns with a low score. The numbers for them are therefore
better than those for new tables.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize

import pedanova
from pedanova.data import evidence
from pedanova.data.blocks import guess_blocks
from pedanova.data.column import Column, as_column
from pedanova.data.column_values import Values
from pedanova.data.conditions import as_reals
from pedanova.data.evidence import NONE, likelier
from pedanova.data.objectives import shown_direction
from pedanova.data.roles import by_rules, clues_of, marked, roles_of
from pedanova.data.row_status import direction_by_rows
from pedanova.data.understanding import certain_from, looked_at, objective_clues, probability, right_clues

WEIGHTS = Path(pedanova.__file__).parent / "data" / "role_weights.json"
FILE = Path(__file__).parents[1] / "data" / "corpus.jsonl"
PARTS_TO_FIT = 7  # of the repositories; each part is judged with weights fitted to the others
RIDGE = 0.4
MOST_WRONG, MOST_WRONG_LINES = 0.01, 0.04
MARGIN = 0.02  # added to the least probability to answer from, because new tables differ from those of the corpus
# What is known before any table: weights of clues that hold in few of the tables, towards which the others are drawn.
KNOWN = {"id or seed": -4.0, "attribute": -2.0, "count": -1.0, "to compare with": -1.0, "mostly one value": -1.0}
KNOWN |= {"best of another column": -1.0, "measure of spread": -2.0, "cost beside a result": -1.0}
KNOWN |= {"of another column": -1.0}
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


def once(work: Callable[[dict[str, Any]], Any]) -> Callable[[dict[str, Any]], Any]:
    """Keep the result for each table."""
    kept: dict[str, Any] = {}

    def of(table: dict[str, Any]) -> Any:
        if table["from"] not in kept:
            kept[table["from"]] = work(table)
        return kept[table["from"]]

    return of


@once
def read(table: dict[str, Any]) -> tuple[dict[str, str], dict[str, Column], str, list[str], list[str]]:
    """The expected roles, the columns, the objective, the guessed blocks and all other columns of a table."""
    expected = {name: role for name, (role, *_) in table["columns"].items()}
    columns = {name: column_of(name, values) for name, (_, *values) in table["columns"].items()}
    objective = next(name for name, role in expected.items() if role == "objective")
    columns = looked_at(columns)
    blocks = guess_blocks(columns, [objective])
    return expected, columns, objective, blocks, [name for name in columns if name not in (objective, *blocks)]


Row = tuple[dict[str, float], bool]  # the clues and the true answer


def repository(table: dict[str, Any]) -> str:
    return str(table["from"]).split(":")[0]


def to_fit() -> list[dict[str, Any]]:
    """The tables that are not held out."""
    return [table for table in tables() if not table["held_out"]]


@once
def column_rows(table: dict[str, Any]) -> list[Row]:
    """Clues on each column that varies, and whether it is a parameter."""
    expected, columns, objective, _, names = read(table)
    known = by_rules(names, columns, [objective], list(columns))
    varied = [name for name in names if known.values[name].varies and expected[name] != "either"]
    clues = {} if marked(names) else clues_of(known, varied)
    return [(one, expected[name] == "parameter") for name, one in clues.items()]


@once
def choices(table: dict[str, Any]) -> dict[str, Row]:
    """Clues on each column that can be the objective, and whether it is."""
    _, columns, objective, *_ = read(table)
    return {name: (one, name in meant(table, objective)) for name, one in objective_clues(columns).items()}


def meant(table: dict[str, Any], objective: str) -> set[str]:
    return {objective, *table.get("also", ())}


@dataclass(frozen=True)
class Understood:
    """What is understood of a table: for objective, direction and roles, the clues and whether it is right."""

    clues: dict[str, dict[str, float]]
    right: dict[str, bool]

    @property
    def all_right(self) -> bool:
        return all(self.right.values())


def understood(table: dict[str, Any]) -> Understood | None:
    """What is understood of a table; None if no column can be the objective."""
    expected, columns, objective, *_ = read(table)
    chances = likelier("objective", {name: clues for name, (clues, _) in choices(table).items()})
    if not chances:
        return None
    guess = next(iter(chances))
    judged = guess == objective and table["direction"] is not None
    right = {
        "objective": guess in meant(table, objective),
        "direction": not judged or direction_of(guess, columns) == table["direction"],
    }
    blocks = guess_blocks(columns, [guess])
    names = [name for name in columns if name not in (guess, *blocks, objective)]
    roles = roles_of(names, lambda _: columns, [guess], list(columns))[1]
    taken = {name: role.is_setting for name, role in roles.items()} | dict.fromkeys(blocks, False)
    varied = [name for name in taken if expected[name] != "either" and Values.of(columns[name]).varies]
    right["roles"] = all(taken[name] == (expected[name] == "parameter") for name in varied)
    directed = direction_of(guess, columns) is not None
    return Understood(right_clues(columns, guess, chances, directed=directed), right)


def direction_of(objective: str, columns: dict[str, Column]) -> str | None:
    by_rows = lambda name: direction_by_rows(as_reals(columns[name]), columns, None)  # noqa: E731
    return shown_direction(objective, columns, by_rows=by_rows)


def logistic(rows: Sequence[Row], ridge: float, *, rising: bool = False) -> dict[str, float]:
    """The weights of the clues by a regularised logistic regression of standardised clues.

    With `rising`, each clue can only speak for a yes.
    """
    table, truth = np.array([list(clues.values()) for clues, _ in rows]), np.array([truth for _, truth in rows])
    mean, spread = table.mean(axis=0), np.maximum(table.std(axis=0), 0.1)
    inputs, signs = np.column_stack([np.ones(len(rows)), (table - mean) / spread]), np.where(truth, 1.0, -1.0)
    kept = np.r_[0.0, np.full(len(mean), ridge)]

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        totals = signs * (inputs @ weights)
        slope = -(signs / (1 + np.exp(totals))) @ inputs
        return float(np.logaddexp(0, -totals).sum() + kept @ weights**2), slope + 2 * kept * weights

    bounds = [(None, None), *[(0.0 if rising else None, None)] * len(mean)]
    found = minimize(loss, np.zeros(len(mean) + 1), jac=True, method="L-BFGS-B", bounds=bounds).x
    weights = found[1:] / spread
    named = dict(zip(rows[0][0], np.round(weights, 3).tolist(), strict=True))
    return {"": round(float(found[0] - weights @ mean), 3)} | named


def softmax(groups: Sequence[Sequence[Row]]) -> dict[str, float]:
    """The weights with which the columns that can be the objective have the highest probability, together."""
    names = [*groups[0][0][0], NONE]
    nothing = np.eye(len(names))[-1:]
    parts = []
    for group in groups:
        table = np.array([[*clues.values(), 0.0] for clues, _ in group]).reshape(-1, len(names))
        truths = np.array([truth for _, truth in group], dtype=bool)
        parts.append((np.concatenate([table, nothing]), np.append(truths, not truths.any())))

    known = np.array([KNOWN.get(name, 0.0) for name in names])

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        off = weights - known
        value, slope = RIDGE * float(off @ off), 2 * RIDGE * off
        for table, truths in parts:
            totals = table @ weights
            chances = np.exp(totals - totals.max())
            chances /= chances.sum()
            right = np.where(truths, chances, 0.0)
            value -= np.log(right.sum())
            slope = slope - table.T @ (right / right.sum() - chances)
        return value, slope

    found = minimize(loss, np.zeros(len(names)), jac=True, method="L-BFGS-B").x
    return dict(zip(names, np.round(found, 3).tolist(), strict=True))


def fit(some: Sequence[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """The weights of all questions, fitted to some tables, and the least probability to answer from.

    Whether all is right is judged with weights that did not see the table, because the others are too good for it.
    """
    judged = unseen(some)
    right = right_weights([one for _, one in judged])
    answer = {"from": answer_from(judged), "line from": line_from(judged)}
    return columns_and_objective(some) | right | {"answer": answer}


def columns_and_objective(some: Sequence[dict[str, Any]]) -> dict[str, dict[str, float]]:
    parameter = logistic([row for table in some for row in column_rows(table)], 10.0)
    return {"parameter": parameter, "objective": softmax([list(choices(table).values()) for table in some])}


def right_weights(judged: Sequence[Understood]) -> dict[str, dict[str, float]]:
    """The weights of the clues on whether objective, direction and roles are right."""
    rows = {part: [(one.clues[part], one.right[part]) for one in judged] for part in judged[0].right}
    return {f"right {part}": logistic(some, 0.3, rising=True) for part, some in rows.items()}


def unseen(some: Sequence[dict[str, Any]]) -> list[tuple[int, Understood]]:
    """For each table, its part of the repositories and what is understood by weights fitted to the other parts."""
    parts = {name: number % PARTS_TO_FIT for number, name in enumerate(sorted(set(map(repository, some)), key=mixed))}
    found = list[tuple[int, Understood]]()
    for part in range(PARTS_TO_FIT):
        others = [table for table in some if parts[repository(table)] != part]
        with used(columns_and_objective(others)):
            of_part = [understood(table) for table in some if parts[repository(table)] == part]
        found += [(part, one) for one in of_part if one is not None]
    return found


def mixed(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()


@contextmanager
def used(weights: dict[str, dict[str, float]]) -> Iterator[None]:
    """Use other weights than those of the file."""
    kept = evidence.weights
    evidence.weights = lambda: weights  # type: ignore[assignment]
    try:
        yield
    finally:
        evidence.weights = kept


def answer_from(judged: Sequence[tuple[int, Understood]]) -> float:
    """The least probability from which at most 1 % of the answers given at once are wrong, with a margin."""
    return round(least(judged, lambda one: (probability(one.clues), one.all_right), MOST_WRONG) + MARGIN, 3)


def line_from(judged: Sequence[tuple[int, Understood]]) -> float:
    """The least probability from which at most 4 % of the objectives in a line to copy are wrong."""
    return least(judged, lambda one: (objective_score(one), one.right["objective"]), MOST_WRONG_LINES)


def objective_score(one: Understood) -> float:
    return evidence.score("right objective", one.clues["objective"])


def least(
    judged: Sequence[tuple[int, Understood]], of: Callable[[Understood], tuple[float, bool]], most_wrong: float
) -> float:
    """The least probability from which at most a part of the tables is wrong, cross-validated by repository."""
    chances = list[tuple[float, bool]]()
    for part in range(PARTS_TO_FIT):
        with used(right_weights([one for other, one in judged if other != part])):
            chances += [of(one) for other, one in judged if other == part]
    chances.sort(reverse=True)
    wrong = np.cumsum([not right for _, right in chances])
    allowed = np.flatnonzero(wrong <= most_wrong * np.arange(1, len(chances) + 1))
    return round(chances[allowed[-1]][0] if len(allowed) else 1.0, 3)


def answered() -> dict[str, Counter[str]]:
    """For both parts of the corpus, how many tables are answered at once, and how many of these answers are wrong."""
    found = {part: Counter[str]() for part in PARTS.values()}
    for table in tables():
        one, count = understood(table), found[PARTS[table["held_out"]]]
        at_once = one is not None and probability(one.clues) >= certain_from()
        count["tables"] += 1
        count["at once"] += at_once
        count["wrong at once"] += at_once and one is not None and not one.all_right
        named = one is not None and not at_once and objective_score(one) >= evidence.weights()["answer"]["line from"]
        count["lines"] += named
        count["right lines"] += named and one is not None and one.right["objective"]
    return found


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
        fitted = fit(to_fit())
        WEIGHTS.write_text(json.dumps(fitted, indent=1) + "\n", encoding="utf-8")
        evidence.weights.cache_clear()
    counts, totals = errors()
    for (part, role), total in sorted(totals.items()):
        of_role = {found: count for (p, r, found), count in counts.items() if (p, r) == (part, role)}
        said = ", ".join(f"{count} as {found}" for found, count in sorted(of_role.items()))
        print(f"{part}: {role}: {sum(of_role.values())} of {total} wrong{': ' if said else ''}{said}")
    for part, count in answered().items():
        print(
            f"{part}: {count['at once']} of {count['tables']} tables answered at once, {count['wrong at once']} wrong"
        )
