"""Guess or read the objectives (columns, arrays or a condition), and find the direction of each.

An objective is guessed from the names of columns and the order of rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.base.notes import Count, Note
from pedanova.data.column import (
    MISSING_CODE,
    Column,
    Form,
    Mask,
    as_column,
    as_numbers,
    in_form,
    is_gap,
    take,
    values_in,
)
from pedanova.data.column_values import Values, is_word
from pedanova.data.records import SourceMetadata
from pedanova.data.regions import LEAST_TARGET, Direction, columns_in, rows_where, sign_of
from pedanova.data.vocabulary import (
    BEFORE_RESULTS,
    COSTS,
    DEVIATIONS,
    FLIPS,
    MIDDLES,
    PROCESSES,
    RESULTS,
    RESULTS_DOWN,
    RESULTS_UP,
    UNCLEAR,
    direction_by_name,
    has_head,
    is_limit,
    known_form,
    last_telling,
    state_of,
    words_of,
)
from pedanova.errors import Arg, DataError, QueryError, listed, unknown_name
from pedanova.space.values import Label, shown

SPREAD = (DEVIATIONS - MIDDLES) | {"spread", "conservation"}
SINGLE = (("score",), ("objective",), ("fitness",))  # names of the main result in a table with several results
PLAIN_NAMES = (("value",), ("objective", "value"), ("objective",))
LEAST_VALUES = 12  # the fewest distinct values of a column whose name may also be that of a parameter
LEAST_SORTED = 10  # the fewest rows whose order counts; fewer may be sorted by chance
SOME_ROWS = 1_000
ALIKE = 0.9  # a rank correlation
TRAINING = {"train", "training"}
GENERAL = {"score", "fitness", "performance"}  # mostly maximised, but some are sums of errors or costs
LOSSES = {"loss", "losses", "logloss", "nll", "crossentropy"}  # substitutes for the metric that is wanted


def other_objectives(name: str, columns: Mapping[str, Column]) -> list[str]:
    """The columns that may be the objective instead of `name`, by their names."""
    likely = dict.fromkeys((*likely_objectives(columns), *_result_like(columns)))
    return [other for other in likely if other != name and not _looks_set(columns[other])]


def _result_like(columns: Mapping[str, Column]) -> list[str]:
    """Numeric columns that may be results or costs, because their names contain a word for one."""
    named = [name for name in columns if not (RESULTS | COSTS).isdisjoint(map(known_form, words_of(name)))]
    likely = [name for name in named if words_of(name)[-1] not in SPREAD and not has_head(name)]
    measured = [name for name in likely if PROCESSES.isdisjoint(words_of(name))]
    return [name for name in measured if len(columns[name]) > MOST_ROWS or _differs(name, columns[name])]


def _looks_set(column: Column) -> bool:
    """Whether a column has few round numbers, as parameters have."""
    few = Values.of(column) if len(column) <= MOST_ROWS else None
    return few is not None and few.is_few and few.are_round


def likely_objectives(columns: Mapping[str, Column]) -> list[str]:
    """Numeric columns whose names suggest a result, but not a standard deviation.

    If there are none, numeric columns with a general name such as `value` or `objective`.
    """
    named = [name for name in columns if (last_telling(name) or ("",))[0] in RESULTS]
    numbers = [name for name in named if words_of(name)[-1] not in SPREAD and _differs(name, columns[name])]
    others = [words_of(name) for name in columns if name not in numbers]
    if any(words[0] in BEFORE_RESULTS or words[-1] in SPREAD for words in others):  # what a standard error belongs to
        numbers = numbers if any((SPREAD - {"min", "max"}).isdisjoint(words_of(name)) for name in numbers) else []
    return numbers or [name for name in columns if words_of(name) in PLAIN_NAMES and _differs(name, columns[name])]


def _differs(name: str, column: Column) -> bool:
    """Whether a column can be a result: at least half of its rows have a number, and the numbers differ.

    A text column can be a result too, if most of its values are numbers.
    """
    if column.labels is not None and (read := as_numbers(column)) is not None:
        column = read[0]
    if column.labels is not None:
        return len(column.labels) > LEAST_VALUES and 2 * sum(map(is_word, column.labels)) < len(column.labels)
    if column.is_time or column.values.dtype.kind == "b":
        return False
    telling = (last_telling(name) or ("",))[0]
    present = column.values[~column.absent()]
    least = LEAST_VALUES if (telling in UNCLEAR and telling != "score") or is_limit(name) else 1
    return 2 * len(present) >= len(column) and len(np.unique(present[:SOME_ROWS])) > least


def _correlation(one: Column, other: Column) -> float:
    """The rank correlation of two numeric columns; 0 if values are missing, or if there are few or very many rows."""
    many = LEAST_SORTED <= len(one) <= MOST_ROWS
    whole = many and not any(column.labels is not None or column.absent().any() for column in (one, other))
    return rank_correlation(one.values, other.values) if whole else 0.0


def rank_correlation(one: NDArray[Any], other: NDArray[Any]) -> float:
    """The correlation of the ranks of two arrays, where equal values have the same rank; 0 if an array is constant."""
    ranks = [np.unique(values, return_inverse=True)[1] for values in (one, other)]
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1]) if all(map(np.any, ranks)) else 0.0


def _direction_beside(name: str, columns: Mapping[str, Column]) -> tuple[Direction, str] | None:
    """Guess the direction from a result that ranks the rows alike or in reverse, and whose name shows its direction."""
    for other in (other for other in _result_like(columns) if other != name):
        words, telling = set(map(known_form, words_of(other))), (last_telling(other) or ("",))[0]
        down, up = not words.isdisjoint(RESULTS_DOWN), telling in RESULTS_UP - GENERAL
        alike = _correlation(columns[name], columns[other]) if down != up and words.isdisjoint(FLIPS) else 0.0
        if abs(alike) > ALIKE:
            way: Direction = "maximize" if up == (alike > 0) else "minimize"
            return way, f"its rank correlation with {other} is {alike:.2f}"
    return None


def in_order(column: Column) -> bool:
    values = column.values[:MOST_ROWS]
    whole = column.labels is None and column.missing is None and values.dtype.kind in "iuf"
    if not whole or len(values) < LEAST_SORTED or np.isnan(values).any():
        return False
    up, down = np.count_nonzero(values[1:] > values[:-1]), np.count_nonzero(values[1:] < values[:-1])
    return bool(min(up, down) == 0 and max(up, down) >= LEAST_SORTED // 2)


DIRECTIONS: dict[str, Direction] = {
    "minimize": "minimize", "min": "minimize", "minimise": "minimize",
    "maximize": "maximize", "max": "maximize", "maximise": "maximize",
}  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Goal:
    """One objective: its name, values and direction."""

    name: str
    values: NDArray[Any]  # (rows,) numbers of any type
    direction: Direction
    column: str | None  # the column of the table, if it is one
    twin: str | None = None  # for an array: a column with exactly the same numbers
    made_of: tuple[str, ...] = ()  # the columns that it compares, if it is a condition

    @property
    def sign(self) -> float:
        return sign_of(self.direction)


def read_goals(
    table: Mapping[str, Column], rows: int, objective: object, direction: object, *, decimal: str | None = None
) -> tuple[Goal, ...]:
    """Read each objective; a list of names means several objectives."""
    if objective is None:
        raise QueryError(Arg("objective"), f" is missing; name one of the columns: {listed(list(table), most=40)}")
    many = isinstance(objective, list | tuple) and bool(objective) and all(isinstance(o, str) for o in objective)
    objectives = list(objective) if many else [objective]  # type: ignore[call-overload]
    if len(set(map(id, objectives))) < len(objectives) or (many and len(set(objectives)) < len(objectives)):
        raise QueryError(Arg("objective", objective), " contains a column twice; give each column once")
    directions = as_directions(direction, len(objectives))
    return tuple(_read_goal(table, rows, o, d, decimal) for o, d in zip(objectives, directions, strict=True))


def as_directions(direction: object, count: int) -> list[Direction]:
    if isinstance(direction, Sequence) and not isinstance(direction, str):
        if len(direction) != count:
            raise QueryError(Arg("direction", direction), f" must give one direction for each of {count} objectives")
        return [as_direction(one) for one in direction]
    return [as_direction(direction)] * count


def as_direction(direction: object) -> Direction:
    if isinstance(direction, str) and direction in DIRECTIONS:
        return DIRECTIONS[direction]
    raise QueryError(Arg("direction", direction), " must be 'minimize' or 'maximize' ('min' or 'max')")


def _read_goal(
    table: Mapping[str, Column], rows: int, objective: object, direction: Direction, decimal: str | None
) -> Goal:
    if isinstance(objective, str):
        if objective in table:
            return Goal(objective, _as_numbers(table[objective], decimal, table), direction, objective)
        if not any(sign in objective for sign in "=<>") and " in " not in objective:
            raise DataError(unknown_name(objective, tuple(table), what="column"))
        holds = rows_where(objective, table).view(np.uint8)
        return Goal(objective, holds, direction, None, made_of=tuple(columns_in(objective, table)))
    named = objective.name if isinstance(objective, Column) and objective.name not in table else "objective"
    column = as_column(named, objective)
    if table and len(column) != rows:
        raise DataError(f"objective has {len(column)} values but the table has {rows} rows; give one value per row")
    values, twin = column.values, None
    for name, other in table.items():  # an array with exactly the numbers of a column
        if other.values.dtype == values.dtype and other.labels is None and len(other) > 1:
            floats = values.dtype.kind == "f"
            if values[0] == other.values[0] and np.array_equal(values, other.values, equal_nan=floats):
                twin = twin or name
    return Goal(named, _as_numbers(column, decimal, table), direction, None, twin)


def _as_numbers(column: Column, decimal: str | None, table: Mapping[str, Column]) -> NDArray[Any]:
    name = column.name
    if len(column) == 0:
        raise DataError(f"{name}: the table has no rows; give at least two")
    numbers = as_scores(column, decimal)
    if numbers is not None:
        column = numbers[0]
    if column.labels is not None:
        words = [str(column.labels[code]) for code in _likeliest_form(column.labels)[1]]
        if words and all(state_of(word) not in (None, "complete") for word in words):
            raise DataError(f"objective {name!r} has no numbers, only {listed(words, most=3)}; use another objective")
        if not words:
            raise DataError(f"objective {name!r} has no value in any of {len(column)} rows: no trial has a result")
        fits = next((str(label) for label in column.labels if str(label) not in words and not is_gap(label)), None)
        short = [word if len(word) <= LONGEST_SHOWN else f"{word[:LONGEST_SHOWN]}…" for word in words]
        shown_words, one_form = listed(short, most=3), "write every value as a number in the same form"
        if fits is not None:
            forms = f"objective {name!r} has values such as {fits!r} and others such as {shown_words}; {one_form}"
            condition = _readable_rows(column, table, decimal)
            raise DataError(forms, *((", or pass ", Arg("where", shown=f'"{condition}"')) if condition else ()))
        if 2 * sum(map(bool, map(STARTS_AS_NUMBER.match, words))) > len(words):
            raise DataError(f"objective {name!r} has text after its numbers ({shown_words}); {one_form}")
        if all(LIST.match(word) for word in words):
            one = "write one number of each list, such as its last, to a column of its own and use that column"
            raise DataError(f"objective {name!r} holds lists ({shown_words}); {one}")
        times = np.bincount(column.values[~column.absent()], minlength=len(column.labels))
        enough = (times >= LEAST_TARGET) & (times <= len(column) - LEAST_TARGET)
        often = next((str(column.labels[code]) for code in np.flatnonzero(enough)), None)
        remedy = "name a column of numbers"
        if often is not None:
            remedy += f', or pass a comparison as the objective: "{in_condition(name)} == {often!r}"'
        raise DataError(f"objective {name!r} holds text ({shown_words}); {remedy}")
    if column.is_time:
        raise DataError(f"objective {name!r} holds dates or durations; turn them into numbers")
    if column.missing is None:
        return column.values.view(np.uint8) if column.values.dtype == bool else column.values
    return np.where(column.missing, np.nan, column.values.astype(np.float64))


def in_condition(name: str) -> str:
    return name if name.isidentifier() else f"`{name}`"


def _readable_rows(column: Column, table: Mapping[str, Column], decimal: str | None) -> str | None:
    """A condition on another column, if the numbers have one form for each of its values; None if there is none."""
    for other in table.values():
        count = len(other.labels or ()) if len(other) == len(column) <= MOST_ROWS and other is not column else 0
        if not 1 < count <= LEAST_VALUES:
            continue
        parts = [np.flatnonzero(other.values == code) for code in range(count)]
        if all(as_numbers(part_of(column, rows), decimal=decimal) is not None for rows in parts if len(rows)):
            most = max(range(count), key=lambda code: len(parts[code]))
            return f"{in_condition(other.name)} == {str((other.labels or ())[most])!r}"
    return None


def part_of(column: Column, rows: NDArray[np.int64]) -> Column:
    """Some rows of a column, without the labels of other rows."""
    return as_column(column.name, values_in(take({column.name: column}, rows)[column.name]))


def as_scores(
    column: Column, decimal: str | None = None, most_strange: float | None = None
) -> tuple[Column, list[Note]] | None:
    """Convert a text column to numbers, with notes. Words for the state of a trial, and a few other words, become
    missing values.

    Return None if too many values are words, or if the column is not text.

    Examples
    --------
    >>> as_scores(as_column("acc", ["0.5", "OOM", "0.7"]))[0].absent().tolist()
    [False, True, False]
    """
    plain = as_numbers(column, decimal=decimal)
    if plain is not None or not column.labels:
        return None if plain is None else (plain[0], [plain[1]])
    form, words = _likeliest_form(column.labels, guessed=most_strange is not None)
    rows = np.isin(column.values, words)
    ended = np.isin(column.values, [code for code in words if state_of(column.labels[code]) not in (None, "complete")])
    strange = np.flatnonzero(rows & ~ended)
    if len(words) == len(column.labels) or len(strange) > max(1, (most_strange or MOST_STRANGE) * len(column)):
        return None
    kept = replace(column, values=np.where(rows, MISSING_CODE, column.values))
    notes = []
    if ended.any():
        states = listed(sorted({str(column.value_at(row)) for row in np.flatnonzero(ended).tolist()}), most=3)
        treated = f" rows have {states} instead of a number in {column.name} and are treated as failed"
        notes.append(Note("rows", Count(ended.sum()), treated))
    if len(strange):
        example = shown(column.value_at(int(strange[0])))
        told = f" rows have text such as {example} instead of a number and are left out"
        remedy = "; to use such rows, replace the text with numbers"
        notes.append(Note("doubt", Count(len(strange)), f"{told}{remedy}", subject=column.name))
    return in_form(kept, form), notes


def _likeliest_form(labels: Sequence[Label], *, guessed: bool = False) -> tuple[Form, list[int]]:
    """The number format that can read most labels, and the indices of the labels that it cannot read."""
    forms = [Form(name) for name in ("plain", "thousands", "comma", "percent", "scaled", "wrapped")]
    forms += [] if guessed else [Form("clock")]  # times of day are no results
    texts = {code: label for code, label in enumerate(labels) if isinstance(label, str) and not is_gap(label)}
    no_numbers = {form: [code for code, text in texts.items() if form.read(text) is None] for form in forms}
    form = min(forms, key=lambda form: len(no_numbers[form]))
    return form, no_numbers[form]


LONGEST_SHOWN = 40  # characters of a text in a message
LIST = re.compile(r"\[.*,.*\]$", re.DOTALL)
STARTS_AS_NUMBER = re.compile(r"\s*[-+]?\.?\d")
LEAST = 12  # the fewest distinct objectives; fewer may be in the same order by chance
MOST_ROWS = 100_000  # rows that are examined
MOST_STRANGE = 0.02  # up to this part of the rows, words among numbers count as mistakes
A_LOOK = 100  # checked first, because these rows often exclude a column


def follows(column: Column, objective: NDArray[Any], keep: Mask | None) -> bool:
    """Whether the column is a strictly monotone function of the objective (checked on up to 100,000 kept rows)."""
    if column.labels is not None or column.values.dtype.kind not in "iuf" or len(objective) < LEAST:
        return False
    for most in (A_LOOK, MOST_ROWS):  # first a few rows, then all
        rows = slice(None, None, max(1, len(objective) // most))
        values, goal = (array[rows].astype(np.float64) for array in (column.values, objective))
        both = np.isfinite(values) & np.isfinite(goal)
        both &= True if column.missing is None else ~column.missing[rows]
        both &= True if keep is None else keep[rows]
        values, goal = values[both], goal[both]
        ranks, wanted = (np.unique(numbers, return_inverse=True)[1] for numbers in (values, goal))
        if not any(np.array_equal(way, wanted) for way in (ranks, ranks.max(initial=0) - ranks)):
            return False
    return len(goal) >= LEAST and 2 * len(goal) >= len(objective[rows]) and len(np.unique(goal)) >= LEAST


DONE = {"minimize": "minimised", "maximize": "maximised"}
TO_DO = {"minimize": "minimise", "maximize": "maximise"}
IF_BETTER = {"minimize": " if higher is better", "maximize": " if lower is better"}
OTHER: dict[str, str] = {"minimize": "max", "maximize": "min"}
ByRows: TypeAlias = Callable[[str], tuple[Direction, str] | None]
SEEDS = re.compile(r"[_./ -]?(seed|fold|run|rep|repeat|split|trial)?[_./ -]?\d+")


def seeds_of(name: str, columns: Mapping[str, Column]) -> list[str]:
    """Numeric columns that contain one result for several seeds, such as acc_seed0 to acc_seed4 for the result acc."""
    behind = [other for other in columns if other.startswith(name) and SEEDS.fullmatch(other[len(name) :])]
    numbers = [other for other in behind if columns[other].labels is None and not columns[other].is_time]
    return numbers if len(numbers) > 1 else []


def guess_directions(
    objective: object, columns: Collection[str], metadata: SourceMetadata | None = None, by_rows: ByRows | None = None
) -> tuple[object, list[Note]]:
    """Find the direction of each objective; also return notes on guesses.

    If the name of an objective does not show its direction, the function `by_rows` guesses it from the rows.
    """
    metadata = metadata or SourceMetadata()
    several = isinstance(objective, list | tuple) and all(isinstance(one, str) for one in objective)
    names = list(objective) if several else [objective]  # type: ignore[call-overload]
    guesses = [_guess(name, _beside(name, names, columns), metadata, by_rows) for name in names]
    notes = [note for _, note in guesses if note is not None]
    directions = [direction for direction, _ in guesses]
    return (directions if several else directions[0]), notes


def _beside(name: object, names: Collection[object], columns: Collection[str]) -> Collection[str]:
    """The columns without all other objectives, because objectives often contradict each other."""
    if not isinstance(columns, Mapping):
        return columns
    return {other: column for other, column in columns.items() if other == name or other not in names}


def known_directions(metadata: SourceMetadata) -> dict[str, Direction]:
    """The direction of each objective and metric, as far as the source gives it."""
    names = dict.fromkeys((*metadata.objectives, *metadata.metrics))
    return dict(zip(names, metadata.directions, strict=False))


def _guess(
    objective: object, columns: Collection[str], metadata: SourceMetadata, by_rows: ByRows | None
) -> tuple[Direction, Note | None]:
    directions = known_directions(metadata)
    if isinstance(objective, Column) and (named := direction_by_name(objective.name)) is not None:
        return named, _guessed(objective.name, named)
    if not isinstance(objective, str):
        return "minimize", _unsure("the objective", "minimize", "the array has no name, so the direction is a guess")
    if objective in directions:
        return directions[objective], None
    if objective not in columns:
        return "maximize", _unsure(repr(objective), "maximize", "rows that meet the condition count as good")
    found = _guess_shown(objective, columns, metadata, by_rows)
    if found is not None:
        return found
    why = "its name does not say which way is better"
    why = f"neither {metadata.source} nor its name says which way is better" if metadata.source else why
    return "minimize", _unsure(objective, "minimize", why)


def shown_direction(
    objective: str, columns: Mapping[str, Column], metadata: SourceMetadata | None = None, by_rows: ByRows | None = None
) -> Direction | None:
    """The direction of a column that its name, a similar result or the rows show; None if nothing shows it."""
    found = _guess_shown(objective, columns, metadata or SourceMetadata(), by_rows)
    return None if found is None else found[0]


def check_direction(objective: str, metadata: SourceMetadata, shown: Direction | None) -> None:
    """Refuse to guess the direction of an objective that only the source names: half of such answers are wrong."""
    if objective in known_directions(metadata) or shown is not None:
        return
    source = metadata.source or "the table"
    why = f" is missing: {source} does not say whether a low or a high {objective} is good; pass "
    raise QueryError(Arg("direction"), why, Arg("direction", "min"), " or ", Arg("direction", "max"))


def _guess_shown(
    objective: str, columns: Collection[str], metadata: SourceMetadata, by_rows: ByRows | None
) -> tuple[Direction, Note] | None:
    direction = None if objective in metadata.unclear else direction_by_name(objective)
    general = direction is None or (last_telling(objective) or ("",))[0] in GENERAL
    seen = _direction_beside(objective, columns) if general and isinstance(columns, Mapping) else None
    if direction is not None and seen is not None and seen[0] != direction:
        return seen[0], _unsure(objective, seen[0], seen[1])
    if direction is not None:
        return direction, _guessed(objective, direction)
    seen = seen or (None if by_rows is None else by_rows(objective))
    if seen is None:
        return None
    return seen[0], _unsure(objective, seen[0], f"its name does not say which way is better, but {seen[1]}")


def _guessed(name: str, direction: Direction) -> Note:
    words = f"{name} is {DONE[direction]}, guessed from its name; pass "
    return Note("direction", words, Arg("direction", OTHER[direction]), IF_BETTER[direction], severity="guess")


def _unsure(what: str, direction: Direction, why: str) -> Note:
    words = f"{what} is {DONE[direction]}: {why}; pass "
    return Note("direction", words, Arg("direction", OTHER[direction]), IF_BETTER[direction], severity="warning")
