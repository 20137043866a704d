"""What each column of a table is: a setting, a result, an identifier, a seed, a status, a time, a budget or free text.

No single rule decides. Names, values, the order of the rows and the names beside a column are clues, each for one
role and with a weight; a column is what most weight speaks for, and a setting where nothing else is known.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, takewhile
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.base.notes import Note
from pedanova.base.table import Printed, Table
from pedanova.data.column import LAST_PLACES, PLAIN, Column, all_finite, in_form, read_plain
from pedanova.data.vocabulary import (
    BEFORE_RESULTS,
    BOOKKEEPING,
    COSTS,
    COUNTED,
    DEVIATIONS,
    DIFFERENCES,
    HEADS,
    MEMORY,
    OUTCOMES,
    RESULTS,
    SPLITS,
    STATES,
    SUMMARIES,
    UNCLEAR,
    UNITS,
    is_limit,
    known_form,
    last_telling,
    state_of,
    state_word,
    words_of,
)
from pedanova.errors import Arg, Word, listed

RoleName: TypeAlias = Literal[
    "objective", "setting", "result", "identifier", "seed", "status", "time", "budget", "text", "empty"
]  # fmt: skip
ARTICLES = {"identifier": "an id", "text": "free text", "empty": "empty"}
PRIOR = 2  # weight for a setting of whatever is not known to be anything else
SURE, FAIR, SLIGHT = 6, 3, 2  # weights of clues
MARKS = (
    "params_", "params.", "params/", "param_", "param.", "config.", "config/", "config:", "hparams.", "hparams/",
    "hyperparameters.", "hyperparameters/", "hyperparameters_", "hyperparams.", "hp.", "args.", "misc.vals.",
)  # before a setting's name  # fmt: skip
INDEX_NAMES = re.compile(r"^(unnamed: ?\d+(\.\d+)*|level_\d+)$", re.IGNORECASE)
ID_NAMES = re.compile(
    r"^(unnamed: ?\d+(\.\d+)*|level_\d+|index|idx|id|uuid|number|row|.*_(id|uuid|idx|index)"
    r"|(trial|run|config|job|exp|experiment)(_?(id|number|no|num|name))?)$",
    re.IGNORECASE,
)
PLACES = re.compile(
    r"^(host(name)?|node(_?(ip|name))?|pid|user(name)?|((git|parent|base)_?)?(commit|sha|hash|branch))$", re.IGNORECASE
)
SEED_NAMES = re.compile(
    r"^((.*[_./ ])?(seed|random_state|rng_state)([_./ ]?\d+)?|(cv|outer|inner)?_?fold(_?(id|idx|index|no|number))?"
    r"|rep|repeat|repetition|replicate|replication|(n|num)_(seeds|folds|repeats|runs))$",
    re.IGNORECASE,
)
STATUS_NAMES = re.compile("stat(e|us)|outcome|verdict", re.IGNORECASE)
TIME_NAMES = re.compile(r"(date|time_?stamp|_at$|^time$|datetime|_time$)", re.IGNORECASE)
TIME_TEXT = re.compile(
    r"^(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}(\D|$)"
    r"|\d{8}[_-]\d{6}$|\d{1,3}:\d{2}(:\d{2}(\.\d+)?)?$|\d+ days? )"
)
REMARKS = re.compile(r"^(description|notes?|comments?|remarks?|message|.*error_?(message|msg)|traceback|reason)$", re.I)
STEP_NAMES = re.compile(
    r"^(.*/)?_?(epoch|(global_?|env_?|train(ing)?_?)?step|(train(ing)?_?)?iter(ation)?|(total_?)?time_?steps)(_?s)?$",
    re.I,
)
BUDGET_NAMES = re.compile(
    r"^(budget|fidelity|rung|n?_?resources?|epoch|(global_?)?step|(training_?)?iteration|round|generation|episode)$",
    re.I,
)
EPOCHS = [(9e8 * scale, 4.1e9 * scale) for scale in (1, 1e3, 1e6, 1e9)]  # 1998 to 2099, s to ns
LONG_TEXT = 60  # letters, on average
LEAST_ROWS = 10  # of a column that may be an id; fewer are so by chance
FIRST_ROWS = 100  # which mostly suffice to see that something does not hold of all
MOST_STATES = 50  # words of a column that tells how trials ended
MOST_WORDS = 3  # beside numbers; more make a column of names
FEW_NUMBERS = 12  # so few are names like the words beside them
MOST_STEPS = 200  # of a lattice
A_LOOK = 1_000  # numbers that show more steps than that, unless they lie on a lattice
NAME_IT = (", name it in ", Arg("params"), " to keep it")
MOST_GRID, LEAST_GRID = 10_000, 8  # rows, and combinations, of a grid that is looked for
SMOOTH = 0.1  # turns by row of a column that follows the row, as a schedule does


@dataclass(frozen=True, slots=True)
class Clue:
    """What speaks for one role."""

    role: RoleName
    weight: float
    why: str


@dataclass(frozen=True, slots=True)
class Role:
    """What a column is, why, and what else it may be."""

    name: RoleName
    why: str
    doubt: Clue | None = None

    @property
    def is_setting(self) -> bool:
        return self.name == "setting"


@dataclass(frozen=True, slots=True)
class ColumnRole:
    """One line of `ColumnRoles`."""

    column: str
    role: RoleName
    why: str


@dataclass(frozen=True, slots=True)
class ColumnRoles(Table):
    """What every column of a table is taken for, and why."""

    rows: tuple[ColumnRole, ...]

    def printed(self) -> Printed:
        columns = ("column", lambda row: row.column), ("role", lambda row: row.role), ("why", lambda row: row.why)
        return [self.column(title, text, kind="words") for title, text in columns]


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """What the values of a column show by themselves."""

    kind: Literal["empty", "dates", "words", "flags", "numbers"]
    present: NDArray[Any]  # numbers, or codes of words
    full: bool = True  # there is one in every row
    texts: tuple[str, ...] = ()  # the different words
    levels: int | None = None  # different numbers, where they are few for so many rows

    @classmethod
    def of(cls, column: Column) -> Values:
        plain = column.labels is None and column.missing is None and not column.is_time and all_finite(column.values)
        absent = None if plain else column.absent()
        full = absent is None or not absent.any()
        present = column.values if absent is None or full else column.values[~absent]
        if column.is_time or not len(present):
            return cls("dates" if column.is_time else "empty", present, full)
        if column.labels is not None:
            texts = tuple(str(column.labels[code]) for code in np.flatnonzero(np.bincount(present)))
            if is_mixed(texts):
                column = in_form(column, PLAIN)
                present = column.values[~column.absent()]
            else:
                flags = {text.strip().lower() for text in texts} <= {"true", "false", "yes", "no"}
                return cls("flags" if flags else "words", present, full, texts)
        if present.dtype.kind == "b":
            return cls("flags", present, full)
        finite = present if plain or present.dtype.kind != "f" else present[np.isfinite(present)]
        distinct = few_distinct(finite) if len(finite) else None
        kind: Any = "flags" if distinct is not None and set(distinct.tolist()) == {0, 1} else "numbers"
        return cls(kind, finite, full, levels=None if distinct is None else len(distinct))

    @property
    def is_few(self) -> bool:
        """Whether the values are few for so many rows."""
        if self.kind == "words":
            return 2 * len(self.texts) <= len(self.present)
        return self.kind == "flags" or self.levels is not None

    @property
    def is_balanced(self) -> bool:
        """Whether several values are there equally often."""
        levels = len(self.texts) or self.levels or 2
        if levels == 1 or len(self.present) % levels:
            return False
        times = np.unique(self.present, return_counts=True)[1]
        return len(times) > 1 and bool(times.min() == times.max())

    @property
    def differs(self) -> bool:
        """Whether nearly every row has a number of its own, and not a whole one."""
        return not self.whole and self.has_own

    @property
    def has_own(self) -> bool:
        """Whether nearly every row has a number of its own."""
        few = self.kind != "numbers" or self.levels is not None
        some = self.present[:: max(1, len(self.present) // A_LOOK)]
        return not few and len(np.unique(some)) > 0.8 * len(some)

    @property
    def whole(self) -> bool:
        return self.kind == "numbers" and self.present.dtype.kind in "iu"

    @property
    def span(self) -> tuple[float, float]:
        numbers = self.kind == "numbers" and len(self.present) > 0
        return (float(self.present.min()), float(self.present.max())) if numbers else (0.0, 0.0)

    @property
    def counts_rows(self) -> bool:
        """Each row is the one before, plus one."""
        return self._fills_a_range() and bool(np.all(np.diff(self.present.astype(np.int64)) == 1))

    @property
    def is_permutation(self) -> bool:
        """Every number of a range once, from 0 or 1 on."""
        low = self.span[0]
        return self._fills_a_range() and low in (0, 1) and bool(np.bincount(self.present - int(low)).all())

    def _fills_a_range(self) -> bool:
        rows = len(self.present)
        return self.whole and self.full and rows >= LEAST_ROWS and self.span[1] - self.span[0] == rows - 1

    @property
    def all_different(self) -> bool:
        ordered = (np.sort(some) for some in (self.present[:FIRST_ROWS], self.present))
        return all(bool(np.all(some[1:] != some[:-1])) for some in ordered)

    @property
    def rises(self) -> bool:
        """Whether no row has less than the one before."""
        return all(bool(np.all(some[1:] >= some[:-1])) for some in (self.present[:FIRST_ROWS], self.present))

    @property
    def is_smooth(self) -> bool:
        """Whether it goes with the row, as a schedule does."""
        if self.kind not in ("numbers", "flags") or self.texts:
            return False
        steps = np.sign(np.diff(self.present.astype(np.float64)))
        return int(np.count_nonzero(np.diff(steps[steps != 0]))) <= SMOOTH * len(self.present)


def is_mixed(labels: Sequence[object]) -> bool:
    """Whether a few words stand beside many different numbers, as auto does."""
    words = sum(is_word(label) for label in labels)
    return 0 < words <= MOST_WORDS and len(labels) - words > FEW_NUMBERS


def is_word(label: object) -> bool:
    return isinstance(label, bool) or (isinstance(label, str) and read_plain(label.strip()) is None)


def few_distinct(finite: NDArray[Any]) -> NDArray[Any] | None:
    """The distinct numbers if they are few for so many rows: a lattice. Sampled first, to be quick."""
    if len(finite) > A_LOOK and len(np.unique(finite[:: len(finite) // A_LOOK])) > MOST_STEPS:
        return None
    distinct = np.unique(finite)
    if distinct.dtype.kind == "f" and 1 < len(distinct) <= 50:  # the same number, computed in several ways
        apart = np.diff(distinct) > 2 * LAST_PLACES * np.spacing(np.abs(distinct[1:]))
        distinct = distinct[np.concatenate([[True], apart])]
    rows, count = len(finite), len(distinct)
    if count == 1 or (count <= 12 and rows >= 2 * count) or (count <= 50 and rows >= 10 * count):
        return distinct
    if count > MOST_STEPS or rows < 10 * count:
        return None
    # Equal steps, on a linear or a log scale: what a lattice has and random draws do not.
    values = distinct.astype(np.float64)
    steps = [np.diff(scale) for scale in ([values, np.log(values)] if values[0] > 0 else [values])]
    return distinct if any(np.ptp(step) <= 0.01 * step.mean() for step in steps) else None


def roles_of(
    names: Sequence[str],
    read: Callable[[Sequence[str]], Mapping[str, Column]],
    objectives: Collection[str] = (),
    table: Sequence[str] = (),
) -> tuple[Mapping[str, Column], dict[str, Role]]:
    """The columns that may be settings, as `read` has them, and the role of every column.

    Where names mark the settings, as `params.lr` does, nothing else is one, and nothing else is read. `table` are all
    columns in their order, where it is known.

    Examples
    --------
    >>> from pedanova.data.column import as_column
    >>> table = {"run_id": range(20), "lr": [0.1, 0.2] * 10, "val_acc": [i % 7 / 9 for i in range(20)]}
    >>> columns = {name: as_column(name, values) for name, values in table.items()}
    >>> _, roles = roles_of(list(table), lambda names: columns, ["val_loss"])
    >>> {name: role.name for name, role in roles.items()}
    {'run_id': 'identifier', 'lr': 'setting', 'val_acc': 'result'}
    """
    marks = marked(names)
    columns = read(marks or names)
    if marks:
        others = Role("result", f"names such as {marks[0]!r} mark the parameters")
        mark = Clue("setting", PRIOR, "its name marks it as a parameter")
        clues = {n: [mark, *(c for c in _by_name(n, Values.of(columns[n])) if c.role == "seed")] for n in marks}
        return columns, {name: _decided(clues[name]) if name in clues else others for name in names}
    values = {name: Values.of(columns[name]) for name in names}
    # Several columns that are permutations are a design, such as a Latin hypercube; one is a number of the rows.
    single = sum(one.is_permutation for one in values.values()) == 1
    families: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for name in names:
        families.setdefault(_stem(name), []).append(words_of(name))
    roles = {}
    for name, one in values.items():
        clues_on = [*_by_name(name, one), *_by_values(name, one, single=single), *_beside(name, one, objectives)]
        alike = families[_stem(name)]
        ends = {words[-1] for words in alike if words != _stem(name)}
        summary = _stem(name) != words_of(name) and len(alike) > 1
        if one.kind == "numbers" and summary and (not one.is_few or not {"min", "max"} >= ends):
            clues_on.append(Clue("result", SURE, "one of several summaries of a result"))
        roles[name] = _decided(clues_on)
    siblings = [name for name, role in roles.items() if "named after" in role.why]
    for name in (name for name, role in roles.items() if role.is_setting and not _has_head(name)):
        if any(clue.weight == SURE for clue in _beside(name, values[name], siblings)):
            roles[name] = Role("result", "named after another result")
    return columns, roles | _by_place(roles, values, table, objectives) | _beside_grid(
        {name: one for name, one in values.items() if roles[name].is_setting}, table, objectives
    )


def _decided(clues: Sequence[Clue]) -> Role:
    weights: dict[RoleName, float] = {"setting": PRIOR}
    for clue in clues:
        weights[clue.role] = weights.get(clue.role, 0) + clue.weight
    best = max(weights, key=lambda role: (weights[role], role == "setting"))
    why = "; ".join(dict.fromkeys(clue.why for clue in clues if clue.role == best))
    if best != "setting":
        return Role(best, why)
    others = [clue for clue in clues if clue.role != "setting" and weights[clue.role] >= weights["setting"] - 1]
    return Role("setting", why or "nothing suggests another role", max(others, key=lambda c: c.weight, default=None))


def marked(names: Sequence[str]) -> list[str]:
    """Columns whose names say that they are settings, as trackers write them."""
    for prefix in MARKS:
        settings = [name for name in names if name.startswith(prefix)]
        if len(settings) > 1 or (settings and not prefix.endswith("_")):
            return settings
    return []


def _by_name(name: str, values: Values) -> Iterator[Clue]:
    if SEED_NAMES.match(name):
        yield Clue("seed", SURE, "looks like a seed, a fold or a repeat, not a parameter")
    if PLACES.match(name):
        yield Clue("identifier", FAIR, "looks like the place or the version of a run")
    if values.kind == "words" and REMARKS.match(name):
        yield Clue("text", FAIR, "looks like a remark")
    if STATUS_NAMES.search(name) and are_states(values.texts):
        yield Clue("status", SURE, f"contains the states of trials ({', '.join(values.texts[:3])})")
    words = words_of(name)
    if values.kind == "flags" and words and words[-1] in OUTCOMES:
        yield Clue("status", FAIR, "says whether a trial succeeded")
    if BUDGET_NAMES.match(name) and values.kind == "numbers":
        yield Clue("budget", SURE, "looks like the progress of a trial")
    if values.kind == "numbers":
        yield from _named_numbers(name, words, values)


def _named_numbers(name: str, words: tuple[str, ...], values: Values) -> Iterator[Clue]:
    """What the name of a column of numbers tells; a few different ones may be a setting all the same."""
    few = values.levels is not None and values.levels <= 12
    telling = (last_telling(name) or (None,))[0]
    if BOOKKEEPING.match(name):
        yield Clue("time", SURE, "has a name that loggers use for their own fields")
    elif telling is not None and (telling in COSTS or (telling == "cost" and not COSTS.isdisjoint(words))):
        if not is_limit(name):
            yield Clue("time", SLIGHT if few and telling in UNCLEAR else SURE, "looks like the cost of a trial")
    elif telling is not None and telling in RESULTS:
        unsure = few and telling in UNCLEAR
        weight = 0 if unsure and (values.levels or 0) <= 2 else SLIGHT if unsure else SURE
        yield Clue("result", weight, "named like a result")
    elif words and words[-1] in DIFFERENCES and values.span[0] < 0 < values.span[1]:
        yield Clue("result", FAIR, "named like a difference, and has both signs")
    elif _has_head(name):
        yield Clue("setting", FAIR, f"its name ends in {words[-1]!r}, like that of a parameter")
        return
    elif len(words) > 1 and words[-1] in DEVIATIONS and SPLITS.issuperset(words[:-1]):
        yield Clue("result", SURE, f"its name ends in {words[-1]!r}, like the spread of a result")
    elif words and known_form(words[0]) in RESULTS and not few:
        yield Clue("result", FAIR, f"its name begins with {words[0]!r}, the name of a result")
    if COUNTED.match(name) or (words and words[-1] in MEMORY and not few):
        yield Clue("result", FAIR, "looks like the size or the cost of the model")
    if len(words) > 1 and words[0] in BEFORE_RESULTS:
        yield Clue("result", FAIR, f"its name begins with {words[0]!r}, like that of a result")
    if len(words) > 1 and not is_limit(name):
        for role, units in UNITS.items():
            if words[-1] in units and not few:
                yield Clue(role, FAIR, f"its name ends in a unit, {words[-1]!r}")  # type: ignore[arg-type]
    if len(words) > 2 and words[-2] == "per" and {words[0], words[-1]} & (UNITS["time"] | {"watt", "token"}):
        yield Clue("result", SURE, "named like a speed")


def _by_values(name: str, values: Values, *, single: bool) -> Iterator[Clue]:
    if values.kind == "dates":
        yield Clue("time", SURE, "contains dates or times")
    elif values.kind == "empty":
        yield Clue("empty", SURE, "has no value in any row")
    elif values.kind == "words":
        yield from _by_texts(name, values)
    elif values.kind == "numbers":
        low, high = values.span
        in_epoch = any(first <= low and high <= last for first, last in EPOCHS) and len(values.present) >= LEAST_ROWS
        if in_epoch and values.full and high > low and (TIME_NAMES.search(name) or values.rises):
            yield Clue("time", SURE, "looks like a time stamp")
        if values.counts_rows:
            yield Clue("identifier", SURE, "counts the rows one by one and looks like an id")
        elif values.is_permutation and single:
            yield Clue("identifier", SURE + 1, "contains every number from 0 or 1 up once, like an id")
        if INDEX_NAMES.match(name) and values.whole:
            yield Clue("identifier", SURE, "looks like an index saved with the table")
        elif ID_NAMES.match(name) and values.levels != 1:
            rows = values.whole and values.full and len(values.present) >= LEAST_ROWS
            different = rows and (values.counts_rows or values.all_different)
            why = "is different in every row and looks like an id" if different else "looks like an id, not a parameter"
            yield Clue("identifier", SURE if different else SLIGHT, why)


def _by_texts(name: str, values: Values) -> Iterator[Clue]:
    texts, rows = values.texts, len(values.present)
    if all(TIME_TEXT.match(text) for text in texts[:100]):
        yield Clue("time", SURE, f"looks like a time stamp ({texts[0]!r})")
    elif all(state_word(text) in STATES for text in texts) and len({state_of(text) for text in texts}) > 1:
        yield Clue("status", FAIR, f"contains words for how trials ended ({', '.join(texts[:3])})")
    if (last_telling(name) or ("",))[0] in RESULTS and _kind_of_texts(texts) == "lists":
        yield Clue("result", SURE, "named like a result, and contains lists")
    many = len(texts) > 0.5 * rows and rows >= LEAST_ROWS
    if many and (len(texts) >= 0.9 * rows or len(texts) > 50):
        what = _kind_of_texts(texts)
        role: RoleName = "identifier" if what == "texts" else "text"
        like = " look like an id" if what == "texts" else ""
        yield Clue(role, SURE, f"{len(texts)} different {what} in {rows} rows{like}")
    elif ID_NAMES.match(name) and len(texts) > 1:
        yield Clue(
            "identifier", FAIR if name.lower() in ("id", "uuid") else SLIGHT, "looks like an id, not a parameter"
        )


def _kind_of_texts(texts: Sequence[str]) -> str:
    """What so many different texts are, seen from the first hundred."""
    few = [text.strip() for text in texts[:100]]
    for start, end, what in (("{", "}", "dicts"), ("[", "]", "lists"), ("(", ")", "lists")):
        if all(text.startswith(start) and text.endswith(end) for text in few):
            return what
    return "long texts" if sum(map(len, few)) > LONG_TEXT * len(few) else "texts"


def are_states(texts: Sequence[str]) -> bool:
    return bool(texts) and all(state_of(text) is not None for text in texts)


def status_column(columns: Mapping[str, Column], objectives: Collection[str] = ()) -> str | None:
    """The column that tells how trials ended, in words."""
    for name, column in columns.items():
        labels = column.labels or ()
        if len(labels) > MOST_STATES or name in objectives or not any(map(state_of, labels)):
            continue  # without a look at its rows
        values = Values.of(column)
        if values.kind != "words":
            continue
        if _decided([*_by_name(name, values), *_by_texts(name, values)]).name == "status":
            return name
    return None


def _stem(name: str) -> tuple[str, ...]:
    """The words of a name less the last, where that is the name of a mean or a deviation."""
    words = words_of(name)
    return words[:-1] if len(words) > 1 and words[-1] in DEVIATIONS else words


def _by_place(
    roles: Mapping[str, Role], values: Mapping[str, Values], table: Sequence[str], objectives: Collection[str]
) -> dict[str, Role]:
    """Numbers that differ in every row and stand behind the objective of a grid, or between two results.

    Those right in front of such an objective stay settings, with a doubt.
    """
    first = min((table.index(name) for name in objectives if name in table), default=len(table))
    settings = [name for name in table if name in roles and roles[name].is_setting]
    ahead = [name for name in settings if table.index(name) < first]
    behind = settings[len(ahead) :]
    close = list(takewhile(lambda name: values[name].has_own and not _has_head(name), ahead[::-1]))
    grid = ahead[: len(ahead) - len(close)]
    new = {}
    if grid and all(values[name].is_few for name in grid) and not any(_is_named_setting(n, values[n]) for n in behind):
        why = "different in every row and behind the objective, in the table of a grid"
        new = {name: Role("result", why) for name in behind if values[name].has_own and len(grid) > 1}
        doubt = Clue("result", SLIGHT, "next to the objective, in the table of a grid, where results usually are")
        numbers = [name for name in behind if name not in new and values[name].kind == "numbers"]
        others = [*close, *numbers] if len(grid) > 1 else [name for name in numbers if values[name].has_own]
        new |= {name: replace(roles[name], doubt=doubt) for name in others}
    results = {*objectives, *(name for name, role in {**roles, **new}.items() if role.name == "result")}
    for before, name, after in zip(table, table[1:], table[2:], strict=False):
        if name in settings and {before, after} <= results and values[name].has_own:
            new[name] = Role("result", "different in every row and between two results")
    return new


def _is_named_setting(name: str, values: Values) -> bool:
    return _has_head(name) and values.kind == "numbers"


def _beside_grid(settings: Mapping[str, Values], table: Sequence[str], objectives: Collection[str]) -> dict[str, Role]:
    """Numbers that are no part of a full grid of others; in front of the objective only if they were measured."""
    rows = max((len(one.present) for one in settings.values()), default=0)
    whole = {name: one.present for name, one in settings.items() if one.full and len(one.present) == rows}
    few = (settings[name] for name in whole if settings[name].is_few)
    if not LEAST_GRID <= rows <= MOST_GRID or sum(islice((1 for one in few if one.is_balanced), 2)) < 2:
        return {}
    factors, others = full_grid(whole)
    first = min((table.index(name) for name in objectives if name in table), default=0)
    why = f"not part of the grid: the table has every combination of {listed(factors, most=4)}"
    new = {}
    for name in (name for name in others if settings[name].kind == "numbers"):
        if ID_NAMES.match(name) and settings[name].whole:
            new[name] = Role("identifier", f"looks like an id, and {why}")
            continue
        behind = name in table and table.index(name) > first
        measured = len(np.unique(whole[name])) >= LEAST_GRID and bool(np.any(whole[name] % 1))
        if behind or (measured and not _has_head(name)):
            new[name] = Role("result", why)
        elif not _has_head(name):
            new[name] = Role("setting", "nothing suggests another role", Clue("result", SLIGHT, why))
    return new


def full_grid(columns: Mapping[str, NDArray[Any]]) -> tuple[list[str], list[str]]:
    """Columns whose combinations are all there, equally often, and those that do not follow from them; else none.

    Examples
    --------
    >>> a, b = np.arange(12) % 3, np.arange(12) // 3
    >>> full_grid({"a": a, "b": b, "c": a * 2, "d": np.sin(np.arange(12))})
    (['a', 'b'], ['d'])
    """
    factors, others, grid, count = dict[str, NDArray[np.int64]](), list[str](), np.zeros(1, dtype=np.int64), 1
    for name, column in columns.items():
        codes, times = np.unique(column, return_inverse=True, return_counts=True)[1:]
        levels = len(times)
        if levels == 1 or any(len(np.unique(one * levels + codes)) == one.max() + 1 for one in factors.values()):
            continue
        balanced = 2 * levels <= len(codes) and times.min() == times.max()
        places, mixed = np.unique(grid * levels + codes, return_inverse=True) if balanced else ([], grid)
        if len(places) == count * levels:
            factors[name], grid, count = codes, mixed, len(places)
        else:
            others.append(name)
    if len(factors) < 2 or count < LEAST_GRID or len(np.unique(np.bincount(grid))) > 1:
        return [], []
    return list(factors), others


def _has_head(name: str) -> bool:
    """Whether a name ends as settings do."""
    words = words_of(name)
    negatives = words[-1:] == ("fn",) and words[0] in BEFORE_RESULTS  # false ones, no function
    negatives |= COUNTED.match(name) is not None
    return bool(words) and not negatives and (words[-1].rstrip("0123456789") in HEADS or words[-1].endswith("ing"))


def _beside(name: str, values: Values, objectives: Iterable[str]) -> Iterator[Clue]:
    """Columns that are named after an objective, such as its deviation, or the same of other data."""
    words = words_of(name)
    if values.kind != "numbers" or not words:
        return
    for objective in objectives:
        own = list(words_of(objective))
        while len(own) > 1 and (own[-1] in SUMMARIES or own[-1].isdigit()):
            own.pop()
        long_enough = sum(map(len, own)) >= 3
        shared = {known_form(word) for word in own} & RESULTS & {known_form(word) for word in words}
        # forget_qa_prob beside forget_qa_rouge, lut_change_pct beside latency_change_pct
        alike = len(own) > 2 and own[:-1] == list(words[: len(own) - 1])
        alike |= len(words_of(objective)) > 2 and words[1:] == words_of(objective)[1:]
        after = shared or (long_enough and list(words[: len(own)]) == own)
        if alike or (after and not _has_head(name)):
            yield Clue("result", SURE, f"named after the objective {objective!r}")
            return
        if len(words) > 1 and [words[-1]] == own[-1:] and words[-1].isalpha() and not _has_head(name):
            yield Clue("result", SLIGHT, f"its name ends like that of the objective {objective!r}")


def step_of_one_run(columns: Mapping[str, Column], roles: Mapping[str, Role]) -> str | None:
    """The column that counts the steps where the rows are the curve of a single run; None for a table of trials."""
    for name in (name for name in roles if name in columns and STEP_NAMES.match(name)):
        steps = Values.of(columns[name])
        if steps.kind != "numbers" or len(steps.present) < LEAST_ROWS or not steps.rises:
            continue
        if 2 * len(np.unique(steps.present)) < len(steps.present):
            continue
        settings = [Values.of(columns[other]) for other, role in roles.items() if role.is_setting and other != name]
        epochs = steps.counts_rows and words_of(name)[-1] == "epoch"  # no trial is numbered so
        if all(one.is_smooth or (epochs and one.differs) for one in settings if len(one.texts) != 1):
            return name
    return None


def notes_on(roles: Mapping[str, Role], objective: str) -> list[Note]:
    """Warnings on settings that may be something else, one sentence with every column, and why some are left out."""
    notes = []
    for name, role in roles.items():
        if role.doubt is not None:
            what = ARTICLES.get(role.doubt.role, f"a {role.doubt.role}")
            notes.append(Note("doubt", f"{role.doubt.why}; exclude it if it is {what}", subject=name))
    settings = [name for name, role in roles.items() if role.is_setting]
    others = [name for name, role in roles.items() if not role.is_setting]
    if others:
        words: list[Word] = [f"objective {objective}; "] if objective else []
        words += [f"parameters {listed(settings, most=12)}; left out: {listed(others, most=40)}; ", Arg("params")]
        notes.append(
            Note("roles", *words, " includes them, ", Arg("roles", said=("other notes say", "--roles says")), " why")
        )
        notes += [Note("unused", f"{roles[name].why}; left out", *NAME_IT, subject=name) for name in others]
    return notes
