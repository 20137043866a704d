"""The role of each column: a parameter, a result, an identifier, a seed, a status, a time, a budget or free text.

Clues come from names, values, the order of rows and other columns. Each clue adds a weight to one role; the role with
the largest total is chosen. A column without clues is taken as a parameter. A note says that this is doubtful,
unless its name, its values or its position suggest a parameter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import dropwhile, groupby
from operator import itemgetter
from typing import Literal, TypeAlias

import numpy as np

from pedanova.base.notes import Note
from pedanova.base.table import Printed, Table
from pedanova.data.column import Column
from pedanova.data.column_values import (
    FEW_NUMBERS,
    LEAST_GRID,
    LEAST_ROWS,
    MOST_COMPARED,
    Values,
    computed,
    crossed_with,
    full_grid,
    in_every_row,
    joint_codes,
    moving_together,
    tells,
)
from pedanova.data.vocabulary import (
    AMBIGUOUS,
    BEFORE_RESULTS,
    BOOKKEEPING,
    COSTS,
    COUNTED,
    COUNTS,
    DIFFERENCES,
    FAILURES,
    FRACTIONS,
    MEMORY,
    MIDDLES,
    NOTHING,
    OUTCOMES,
    PAST,
    PROCESSES,
    RESULTS,
    SPLITS,
    SUMMARIES,
    UNCLEAR,
    UNITS,
    form_of,
    has_head,
    is_limit,
    is_setting_name,
    is_state,
    known_form,
    last_telling,
    state_of,
    stem_of,
    words_of,
)
from pedanova.errors import Arg, Word, listed

RoleName: TypeAlias = Literal[
    "objective", "parameter", "result", "identifier", "seed", "status", "time", "budget", "text", "empty"
]  # fmt: skip
ARTICLES = {"identifier": "an id", "text": "free text", "empty": "empty"}
PRIOR = 2  # the weight for a parameter if nothing is known about a column
SURE, FAIR, SLIGHT = 6, 3, 2  # weights of clues
MARKS = (
    "params_", "params.", "params/", "param_", "param.", "config.", "config/", "config:", "hparams.", "hparams/",
    "hyperparameters.", "hyperparameters/", "hyperparameters_", "hyperparams.", "hp.", "args.", "misc.vals.",
)  # before a setting's name  # fmt: skip
INDEX_NAMES = re.compile(r"^(unnamed: ?\d+(\.\d+)*|level_\d+)$", re.IGNORECASE)
ID_NAMES = re.compile(
    r"^(unnamed: ?\d+(\.\d+)*|level_\d+|index|idx|id|uuid|number|row|.*_(id|uuid|idx|index|#|no\.?|nr\.?)"
    r"|(trial|run|config|job|exp|experiment)(_?(id|number|no|num|name))?)$",
    re.IGNORECASE,
)
PLACES = re.compile(
    r"^(host(name)?|node(_?(ip|name))?|pid|user(name)?|((git|parent|base)_?)?(commit|sha|hash|branch)"
    r"|.*_(sha(1|256)?|md5|hash|commit|fingerprint))$",
    re.IGNORECASE,
)
SEED_NAMES = re.compile(
    r"^((.*[_./ ])?(seed|random_state|rng_state)([_./ ]?\d+)?|(cv|outer|inner)?_?fold(_?(id|idx|index|no|number))?"
    r"|((n|num)_)?(rep|repeat|repetition|replicate|replication)s?|(n|num)_(seeds|folds|runs))$",
    re.IGNORECASE,
)
STATUS_NAMES = re.compile("stat(e|us)|outcome|verdict", re.IGNORECASE)
STATUS_NAME = re.compile(
    r"((trial|run|job|exit|final|solver?|task)[_ ]?)?(state|status|outcome|verdict)", re.IGNORECASE
)  # of a column in which some words may be unknown
TIME_NAMES = re.compile(r"(date|time_?stamp|_at$|^time$|datetime|_time$)", re.IGNORECASE)
TIME_TEXT = re.compile(
    r"^(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}(\D|$)"
    r"|\d{8}[_-]\d{6}$|\d{1,3}:\d{2}(:\d{2}(\.\d+)?)?$|\d+ days? )"
)
SIZES = {"size", "sizes", "count", "counts", "generations", "cells"}  # last words of parameters left of the results
REMARKS = re.compile(
    r"((.*[_\s])?(description|tags?|notes?|notizen|comments?|remarks?|units?)|message|.*error_?m(essage|sg)|traceback|.*reason)$",
    re.I,
)
DIGEST = re.compile(r"(?=.*\d)(?=.*[a-f])[0-9a-f]{7,64}", re.I)  # a hash, such as that of a commit
BUDGET_NAMES = re.compile(
    r"^(budget|fidelity|rung|n?_?resources?|epoch|(global_?)?step|(training_?)?iteration|round|generation|episode)$",
    re.I,
)
EPOCHS = [(9e8 * scale, 4.1e9 * scale) for scale in (1, 1e3, 1e6, 1e9)]  # 1998 to 2099, s to ns
LONG_TEXT = 60  # mean number of characters
MOST_STATES = 50  # distinct words of a column of trial states
NAME_IT = ("; to keep it, name all parameters in ", Arg("params"))
MOST_GRID = 10_000  # rows of a table in which a grid is searched


@dataclass(frozen=True, slots=True)
class Clue:
    """Evidence that a column has a certain role, with its weight and reason."""

    role: RoleName
    weight: float
    why: str


@dataclass(frozen=True, slots=True)
class Role:
    """The role of a column and the reason for it; `doubt` is a clue for another possible role."""

    name: RoleName
    why: str
    doubt: Clue | None = None
    proven: bool = False  # whether the column is part of a full grid

    @property
    def is_setting(self) -> bool:
        return self.name == "parameter"

    def in_words(self) -> str:
        """The reason for the role; if the role is in doubt, the other possible role and its reason instead."""
        if self.doubt is None:
            return self.why
        return f"perhaps {ARTICLES.get(self.doubt.role, f'a {self.doubt.role}')}: {self.doubt.why}"


@dataclass(frozen=True, slots=True)
class ColumnRole:
    column: str
    role: RoleName
    why: str


@dataclass(frozen=True, slots=True)
class ColumnRoles(Table):
    """The role of every column of a table, with the reason for it."""

    rows: tuple[ColumnRole, ...]

    def printed(self) -> Printed:
        columns = ("column", lambda row: row.column), ("role", lambda row: row.role), ("why", lambda row: row.why)
        return [self.column(title, text, kind="words") for title, text in columns]


def roles_of(
    names: Sequence[str],
    read: Callable[[Sequence[str]], Mapping[str, Column]],
    objectives: Collection[str] = (),
    table: Sequence[str] = (),
) -> tuple[Mapping[str, Column], dict[str, Role]]:
    """Guess the role of every column; return the columns that were read, and the roles.

    If some names begin with a prefix such as `params.`, only these columns are read, and all others are results.
    `table` lists all columns in order, if the order is known.

    Examples
    --------
    >>> from pedanova.data.column import as_column
    >>> table = {"run_id": range(20), "lr": [0.1, 0.2] * 10, "val_acc": [i % 7 / 9 for i in range(20)]}
    >>> columns = {name: as_column(name, values) for name, values in table.items()}
    >>> _, roles = roles_of(list(table), lambda names: columns, ["val_loss"])
    >>> {name: role.name for name, role in roles.items()}
    {'run_id': 'identifier', 'lr': 'parameter', 'val_acc': 'result'}
    """
    marks = marked(names)
    columns = read(marks or names)
    if marks:
        others = Role("result", f"parameters have a prefix, as in {marks[0]!r}, but this column has none")
        mark = Clue("parameter", PRIOR, "its name marks it as a parameter")
        clues = {n: [mark, *_against_mark(n, Values.of(columns[n]))] for n in marks}
        return columns, {name: _decided(clues[name]) if name in clues else others for name in names}
    values = {name: Values.of(columns[name]) for name in names}
    # Several columns that are permutations are a design, such as a Latin hypercube; a single one numbers the rows.
    single = sum(one.is_permutation for one in values.values()) == 1
    families: dict[tuple[str, ...], list[str]] = {}
    for name in names:
        families.setdefault(stem_of(name), []).append(name)
    # A dict of results, such as bleu.bleu and bleu.length_ratio
    dicts = {parts[0] for parts in (name.rpartition(".") for name in names) if _tells(parts[0]) and _tells(parts[2])}
    roles = {}
    for name, one in values.items():
        clues_on = [*_by_name(name, one), *_by_values(name, one, single=single), *_beside(name, one, objectives)]
        if name.rpartition(".")[0] in dicts:
            clues_on.append(Clue("result", SURE, "belongs to a result"))
        if one.kind == "numbers":
            clues_on += _by_summaries(name, {other: values[other] for other in families[stem_of(name)]})
        roles[name] = _decided(clues_on)

    def named_after(name: str, others: Collection[str]) -> bool:
        return any(clue.weight == SURE for clue in _beside(name, values[name], others))

    siblings = [name for name, role in roles.items() if role.name == "result" and named_after(name, objectives)]
    for name in (name for name, role in roles.items() if role.is_setting and not has_head(name)):
        if named_after(name, siblings):
            roles[name] = Role("result", "named after another result")
    # Clues from other columns: a grid, names of configurations, and what is known about the columns side by side.
    for rule in (_repeats, _beside_grid, _names_of_configurations, _families, _without_evidence, _flags, _copies):
        roles |= rule(KnownColumns(roles, values, table, objectives))
    for name in (name for name, role in roles.items() if role.doubt is not None and not values[name].varies):
        roles[name] = replace(roles[name], doubt=None)  # a constant explains nothing
    return columns, roles


def _by_summaries(name: str, family: Mapping[str, Values]) -> Iterator[Clue]:
    """Clues from columns that summarise the same result, such as acc_mean, acc_std and acc_max."""
    summaries = {words_of(other)[-1]: one for other, one in family.items() if words_of(other) != stem_of(name)}
    ends = summaries.keys()
    if stem_of(name) != words_of(name):
        if len(family) > 1 and (not family[name].is_few or not {"min", "max"} >= ends):
            yield Clue("result", SURE, "one of several summaries of a result")
    elif MIDDLES.isdisjoint(ends) and any(not summaries[end].looks_chosen for end in ends - {"min", "max"}):
        yield Clue("result", SURE, "another column contains its spread (such as a standard deviation)")


def _tells(name: str) -> bool:
    return (last_telling(name) or ("",))[0] in RESULTS - UNCLEAR


def _decided(clues: Sequence[Clue]) -> Role:
    weights: dict[RoleName, float] = {"parameter": PRIOR}
    for clue in clues:
        weights[clue.role] = weights.get(clue.role, 0) + clue.weight
    best = max(weights, key=lambda role: (weights[role], role == "parameter"))
    why = "; ".join(dict.fromkeys(clue.why for clue in clues if clue.role == best))
    if best != "parameter":
        return Role(best, why)
    others = [clue for clue in clues if clue.role != "parameter" and weights[clue.role] >= weights["parameter"] - 1]
    return Role("parameter", why or "nothing suggests another role", max(others, key=lambda c: c.weight, default=None))


def _against_mark(name: str, values: Values) -> Iterator[Clue]:
    """Clues that a column is not a parameter in spite of its prefix: it may be a seed or an id."""
    yield from (clue for clue in _by_name(name, values) if clue.role == "seed")
    if values.kind == "words":
        yield from (replace(clue, weight=FAIR) for clue in _by_texts(name, values) if clue.role == "identifier")


def marked(names: Sequence[str]) -> list[str]:
    """The columns whose names begin with a prefix for parameters, such as `params.` or `config/`."""
    for prefix in MARKS:
        settings = [name for name in names if name.startswith(prefix)]
        if len(settings) > 1 or (settings and not prefix.endswith("_")):
            return settings
    return []


def _by_name(name: str, values: Values) -> Iterator[Clue]:
    if SEED_NAMES.match(name):
        yield Clue("seed", SURE, "looks like a seed, a fold or a repeat, not a parameter")
    if PLACES.match(name):
        yield Clue("identifier", FAIR, "looks like the folder, machine or version of a run")
    if values.kind == "words" and REMARKS.match(name):
        variants = words_of(name)[-1:] in (("tag",), ("tags",)) and values.is_balanced  # such as those of an ablation
        yield Clue("text", SLIGHT if variants else FAIR, "looks like a comment or a unit")
    words = words_of(name)
    states = set(map(state_of, values.texts)) if STATUS_NAMES.search(name) else set()
    some_known = STATUS_NAME.fullmatch(name) is not None and not states <= {None, "complete"}
    if states and (None not in states or some_known):
        yield Clue("status", SURE, f"contains the states of trials ({', '.join(values.texts[:3])})")
    elif values.kind == "words" and STATUS_NAME.fullmatch(name):
        yield Clue("status", SLIGHT, "has the name of a column of trial states, but its words are not known")
    nothing = not values.full or not NOTHING.isdisjoint(text.strip().lower() for text in values.texts)
    if values.kind == "words" and words and words[-1] in FAILURES and nothing:
        yield Clue("text", FAIR, "has a text if a trial failed")
    if values.kind == "flags" and words and words[-1] in OUTCOMES:
        yield Clue("status", FAIR, "says whether a trial succeeded")
    if BUDGET_NAMES.match(name) and values.kind == "numbers":
        yield Clue("budget", SURE, "looks like the progress of a trial")
    if values.kind == "numbers":
        yield from _named_numbers(name, words, values)


def _named_numbers(name: str, words: tuple[str, ...], values: Values) -> Iterator[Clue]:
    """Clues from the name of a numeric column; they are weaker if the column has few distinct values."""
    few = values.levels is not None and values.levels <= 12
    telling = (last_telling(name) or (None,))[0]
    if BOOKKEEPING.match(name):
        yield Clue("time", SURE, "has a name that loggers use for their own fields")
    elif telling == "time" and not PROCESSES.isdisjoint(words):
        yield Clue("parameter", FAIR, "looks like the time of a step of an experiment, not like the time of a trial")
    elif telling is not None and (telling in COSTS or (telling == "cost" and not COSTS.isdisjoint(words))):
        if not is_limit(name) or values.has_own:
            chosen = values.levels is not None and (values.are_round and values.is_balanced)
            unsure = is_limit(name) or chosen or (few and telling in UNCLEAR)
            yield Clue("time", SLIGHT if unsure else SURE, "looks like the cost of a trial")
    elif telling is not None and telling in RESULTS:
        unsure = few and telling in UNCLEAR
        weight = 0 if unsure and (values.levels or 0) <= 2 else SLIGHT if unsure else SURE
        yield Clue("result", weight, "its name is typical of a result")
    elif words and words[-1] in DIFFERENCES and values.span[0] < 0 < values.span[1]:
        yield Clue("result", FAIR, f"its name ends in {words[-1]!r}, and it has positive and negative values")
    elif len(words) > 1 and words[0] in COUNTS and FRACTIONS.isdisjoint(words) and np.any(values.some % 1):
        yield Clue("result", FAIR, "its name is typical of a count, but its values are not integers, so it is a mean")
    elif has_head(name):
        yield Clue("parameter", FAIR, f"its name ends in {words[-1]!r}, as the names of parameters often do")
        return
    elif words and known_form(words[0]) in RESULTS and not few:
        yield Clue("result", FAIR, f"its name begins with {words[0]!r}, the name of a result")
    if COUNTED.match(name) or (words and words[-1] in MEMORY and not few):
        yield Clue("result", FAIR, "looks like the size or the cost of the model")
    if len(words) > 1 and words[0] in BEFORE_RESULTS and words[1] not in ("param", "params", "config"):
        weight = SLIGHT if values.is_few and values.are_round else FAIR  # such as train_subset
        yield Clue("result", weight, f"its name begins with {words[0]!r}, as the names of results often do")
    if len(words) > 1 and not few and PAST.search(words[-1]):
        yield Clue("result", SLIGHT, f"its name ends in {words[-1]!r}, as the names of results often do")
    if len(words) > 1 and not is_limit(name) and words[-2:] != ("m", "s"):
        for role, units in UNITS.items():
            if words[-1] in units and not few:
                yield Clue(role, FAIR, f"its name ends in the unit {words[-1]!r}")  # type: ignore[arg-type]
    if len(words) > 2 and words[-2] == "per" and {words[0], words[-1]} & (UNITS["time"] | {"watt", "token"}):
        yield Clue("result", SURE, "its name is typical of a speed")


def _by_values(name: str, values: Values, *, single: bool) -> Iterator[Clue]:
    if name.startswith("Unnamed: ") and not values.whole:
        yield Clue("text", SURE, "has no name in the header")
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
            yield Clue("identifier", FAIR if has_head(name) else SURE, "increases by one from row to row, like an id")
        elif values.is_permutation and single:
            yield Clue("identifier", SURE + 1, "contains 0, 1, 2, … or 1, 2, 3, … in any order, like an id")
        if INDEX_NAMES.match(name) and values.whole:
            yield Clue("identifier", SURE, "looks like an index saved with the table")
        elif _is_id(name) and values.levels != 1:
            rows = values.whole and values.full and len(values.present) >= LEAST_ROWS
            different = rows and (values.counts_rows or values.all_different)
            why = "is different in every row and looks like an id" if different else "looks like an id, not a parameter"
            yield Clue("identifier", SURE if different else SLIGHT, why)


def _by_texts(name: str, values: Values) -> Iterator[Clue]:
    texts, rows = values.texts, len(values.present)
    if all(TIME_TEXT.match(text) for text in texts[:100]):
        yield Clue("time", SURE, f"looks like a time stamp ({texts[0]!r})")
    elif texts and all(DIGEST.fullmatch(text) for text in texts[:100]):
        yield Clue("identifier", SURE, f"contains hashes ({texts[0]!r})")
    elif len(states := set(map(state_of, texts))) > 1 and None not in states and any(map(is_state, texts)):
        yield Clue("status", FAIR, f"contains words for how trials ended ({', '.join(texts[:3])})")
    elif len(texts) > 1 and SPLITS.issuperset(text.strip().lower() for text in texts):
        yield Clue("seed", FAIR, f"contains names of data splits ({', '.join(texts[:3])})")
    if (_tells(name) or BEFORE_RESULTS.intersection(words_of(name)[:1])) and _kind_of_texts(texts) == "lists":
        yield Clue("result", SURE, "its name is typical of a result, and it contains lists")
    long = len(texts) == rows > 1 and sum(map(len, texts)) > LONG_TEXT * rows  # few rows, each with its own text
    many = len(texts) > 0.5 * rows and (rows >= LEAST_ROWS or long)
    if many and (len(texts) >= 0.9 * rows or len(texts) > 50):
        what = _kind_of_texts(texts)
        role: RoleName = "identifier" if what == "texts" else "text"
        like = " look like an id" if what == "texts" else ""
        yield Clue(role, SURE, f"{len(texts)} different {what} in {rows} rows{like}")
    elif _is_id(name) and len(texts) > 1:
        weight = FAIR if name.lower() in ("id", "uuid") else SLIGHT
        yield Clue("identifier", weight, "looks like an id, not a parameter")


def _kind_of_texts(texts: Sequence[str]) -> str:
    """What the first hundred texts are: "dicts", "lists", "long texts" or "texts"."""
    few = [text.strip() for text in texts[:100]]
    for start, end, what in (("{", "}", "dicts"), ("[", "]", "lists"), ("(", ")", "lists")):
        if all(text.startswith(start) and text.endswith(end) for text in few):
            return what
    return "long texts" if sum(map(len, few)) > LONG_TEXT * len(few) else "texts"


def status_column(columns: Mapping[str, Column], objectives: Collection[str] = ()) -> str | None:
    """The name of the text column that has the states of trials; None if there is no such column.

    A column in which every word is a known state is preferred.
    """
    candidates = []
    for name, column in columns.items():
        states = set(map(state_of, column.labels or ()))
        if len(column.labels or ()) > MOST_STATES or name in objectives or not states - {None}:
            continue  # its rows need not be read
        values = Values.of(column)
        if values.kind == "words" and _decided([*_by_name(name, values), *_by_texts(name, values)]).name == "status":
            candidates.append((None in states, name))
    return min(candidates, key=itemgetter(0))[1] if candidates else None


@dataclass(frozen=True, slots=True)
class Group:
    """Neighbouring columns that are parameters, and whether the group is the first or the last in the table."""

    names: list[str]
    is_first: bool
    is_last: bool


@dataclass(frozen=True, slots=True, eq=False)
class KnownColumns:
    """The roles and values of the columns found so far, and the order of the columns in the table."""

    roles: Mapping[str, Role]
    values: Mapping[str, Values]
    table: Sequence[str]  # all columns in their order, if it is known
    objectives: Collection[str]

    def settings(self, *, doubted: bool = False) -> dict[str, Values]:
        """The parameters whose role is not in doubt; all parameters if `doubted` is True."""
        sure = (name for name, role in self.roles.items() if role.is_setting and (doubted or role.doubt is None))
        return {name: self.values[name] for name in sure}

    def groups(self) -> list[Group]:
        """Groups of neighbouring parameters, separated by results; a single group if the order is not known."""
        if not self.table or list(self.table) == sorted(self.table):
            return [Group([name for name, role in self.roles.items() if role.is_setting], True, True)]
        row = [name for name in self.table if name in self.objectives or self._counts(name)]
        runs = [(is_setting, list(run)) for is_setting, run in groupby(row, key=self.is_setting)]
        ends = 0, len(runs) - 1
        return [Group(names, i == ends[0], i == ends[1]) for i, (is_setting, names) in enumerate(runs) if is_setting]

    def is_setting(self, name: str) -> bool:
        return name in self.roles and self.roles[name].is_setting

    def _counts(self, name: str) -> bool:
        role = self.roles[name].name if name in self.roles else ""
        return role in ("parameter", "result") or (role == "time" and self.values[name].kind == "numbers")

    def is_measured(self, name: str) -> bool:
        """Whether a column is or may be a result, a status or a time."""
        role = self.roles.get(name)
        return role is None or role.doubt is not None or role.name in ("result", "status", "time", "text")

    def behind(self) -> list[str]:
        """The first objective and all columns after it; empty if the order of the columns is not known."""
        return [name for name in dropwhile(lambda name: name not in self.objectives, self.table) if name in self.roles]

    def doubted(self, name: str, why: str, other: RoleName = "result") -> Role:
        return replace(self.roles[name], doubt=Clue(other, SLIGHT, why))


def _names_of_configurations(known: KnownColumns) -> dict[str, Role]:
    """Find columns with names of configurations: such a name determines at least two other parameters."""
    values = known.values
    names = {name: one for name, one in values.items() if known.roles[name].is_setting}
    varied = [name for name, one in names.items() if len(values.keys() & set(one.texts) - {name}) > 1]
    new = {name: Role("text", "its values are names of other columns") for name in varied}
    if len(names) > MOST_COMPARED or not any(one.kind == "words" or _is_id(name) for name, one in names.items()):
        return new
    codes = {name: joint_codes([names[name].some]) for name in in_every_row(names) if names[name].varies}
    configurations = joint_codes(codes.values()).max() + 1 if codes else 0
    for name in codes:
        named = _is_id(name)
        if values[name].kind != "words" and not named:
            continue
        told = [o for o, code in codes.items() if 0 < code.max() < codes[name].max() and tells(codes[name], code)]
        repeats = codes[name].max() + 1 < len(codes[name])
        every = len(told) == len(codes) - 1
        many = 2 * (codes[name].max() + 1) >= configurations and len(told) > 2
        if len(told) > 1 and (named or every or many or codes[name].max() >= FEW_NUMBERS):
            why = f"determines {listed(told, most=3)}, so it may be the name of a configuration"
            sure = repeats and (every or named)
            new[name] = Role("identifier", why) if sure else known.doubted(name, why, "identifier")
    return new


def _repeats(known: KnownColumns) -> dict[str, Role]:
    """Find numbers that differ between repeats of the same configuration; they are results."""
    roles, kinds = known.roles, ("parameter", "identifier", "seed")
    whole = in_every_row({name: one for name, one in known.values.items() if roles[name].name in kinds})
    rows = max(map(len, whole.values()), default=0)
    seeds = [name for name in whole if roles[name].name == "seed" and 1 < len(np.unique(whole[name])) <= rows / 2]
    usable = seeds and len(whole) <= MOST_COMPARED and LEAST_GRID <= rows <= MOST_GRID
    same = crossed_with(seeds, whole, (name for name in whole if name not in seeds)) if usable else []
    new = {name: replace(roles[name], proven=True) for name in same}
    for name in (name for name in whole if same and roles[name].is_setting and name not in same):
        one, codes = known.values[name], [joint_codes(whole[other] for other in same), joint_codes([whole[name]])]
        differ = np.bincount(np.unique(np.stack(codes), axis=1)[0]) > 1
        if np.mean(differ) > 0.5 and one.kind != "words" and not is_setting_name(name, number=True):
            why = f"differs between repeats ({listed(seeds)}) of the same {listed(same, most=4)}"
            new[name] = known.doubted(name, why) if one.looks_chosen else Role("result", why)
    return new


def _beside_grid(known: KnownColumns) -> dict[str, Role]:
    """Find numeric columns that are not part of a full grid; they are results or doubtful parameters."""
    settings = known.settings(doubted=True)
    seeds = {n: known.values[n] for n, role in known.roles.items() if role.name == "seed" or (role.doubt and _is_id(n))}
    whole = in_every_row({name: one for name, one in settings.items() if name not in seeds} | seeds)
    rows = max(map(len, whole.values()), default=0)
    crossing, others = full_grid(whole) if LEAST_GRID <= rows <= MOST_GRID else ([], [])
    factors = [name for name in crossing if name not in seeds]
    if len(factors) < 2:
        return {}
    grid = f"the table has every combination of {listed(factors, most=4)}"
    repeated = len(factors) < len(crossing)  # if so, a parameter may depend on the others
    behind = known.behind()
    before = [name for name in factors if name in known.settings() and name not in behind]
    new = {name: Role("parameter", grid, proven=True) for name in before}
    joint = crossed_with(crossing, whole, (name for name in others if name not in behind))
    once = joint or 2 * (joint_codes(whole[name] for name in crossing).max() + 1) > rows
    for name in (name for name in others if name in settings and settings[name].kind in ("numbers", "flags")):
        one, named = settings[name], has_head(name)
        kept = is_setting_name(name, number=True) or (one.is_few and (named or (repeated and one.are_round)))
        measured = len(np.unique(whole[name])) >= LEAST_GRID and bool(np.any(whole[name] % 1))
        if any(tells(joint_codes([whole[other]]), joint_codes([whole[name]])) for other in joint):
            new[name] = replace(known.roles[name], proven=name in joint)
        elif name in behind or (measured and not named):
            new[name] = Role("result", f"is not part of the grid ({grid})")
        elif once and not kept:
            new[name] = known.doubted(name, f"is not part of the grid ({grid})")
    return new


def _families(known: KnownColumns) -> dict[str, Role]:
    """Doubt columns such as a_status and b_status beside the objective a_time and its sibling b_time."""
    names = {words_of(name): name for name in (*known.objectives, *known.roles)}
    new = {}
    for *before, last in (words_of(name) for name in known.objectives if len(words_of(name)) > 1):
        makers = {words[:-1] for words in names if words[-1:] == (last,) and len(words) == len(before) + 1}
        others = {words[-1] for words in names if words[:-1] in makers} - {last}
        alike = [(*maker, other) for other in others for maker in makers]
        complete = [words for words in alike if len(makers) > 1 and all((*m, words[-1]) in names for m in makers)]
        for name in (names[words] for words in complete if names[words] in known.roles):
            one = known.values[name]
            chosen = is_setting_name(name) or (one.kind == "numbers" and one.looks_chosen)
            if known.roles[name].is_setting and not chosen:
                new[name] = known.doubted(name, "its name is formed like that of the objective")
    return new


def _without_evidence(known: KnownColumns) -> dict[str, Role]:
    """Doubt a parameter if neither its name nor its values are typical of parameters.

    A column between results needs both a typical name and typical values. If both are missing, and nearly all of its
    numbers differ, it is a result.
    """
    settings, groups = {name: one for name, one in known.settings().items() if one.varies}, known.groups()
    named = {name for name, one in settings.items() if is_setting_name(name, number=one.kind == "numbers")}
    chosen = {name for name, one in settings.items() if one.looks_chosen} - computed(settings)
    design = {name for name in settings if known.roles[name].proven}
    counts = {name for name, one in settings.items() if one.kind != "words" and not np.any(one.some % 1)}
    rounded = {name for name in named if name not in counts or settings[name].are_round}
    sure = design | {name for name in rounded if words_of(name)[0] not in BEFORE_RESULTS}
    likely = named | chosen | design
    mostly = [group for group in groups if 2 * len(likely & {*group.names}) > len(settings.keys() & group.names)]
    homes = [group for group in groups if group.is_first or (group in mostly and not sure.isdisjoint(group.names))]
    homes = homes or [group for group in groups[:1] if not chosen.isdisjoint(group.names)]
    home = {name for group in homes for name in group.names}
    many = [name for name in settings if name in home and not settings[name].is_few]
    odd = many if len(many) == 1 and len(settings.keys() & home) > 2 else []  # each other parameter has few values
    drawn = any(not settings[name].is_few for name in (named & home) - chosen)  # a random search
    every = known.settings(doubted=True)
    alone = len(every) == 1 or not (likely or any(map(is_setting_name, every)))
    last = {name for group in groups if group.is_last for name in group.names}
    unsure = [name for name in settings if name not in (likely if name in home else sure)]
    # A parameter that matters is correlated with results too, and two parameters may depend on each other.
    front = {name for group in groups if group.is_first and not group.is_last for name in group.names}
    together = {
        name: others
        for name, others in _together(known, unsure).items()
        if name not in front or words_of(name)[-1] in AMBIGUOUS or len(front.intersection(others)) > 1
    }
    forms = [form_of(name) for name in front | (likely & home)]
    new = {}
    for name in unsure:
        one = settings[name]
        usual = name in front and one.is_few and words_of(name)[-1] in SIZES
        usual |= forms.count(form_of(name)) > (name in front) and (one.is_few or not form_of(name).endswith("_"))
        if name in together:
            why = f"is strongly correlated with {listed(together[name], most=3)}, as results of a run often are"
        elif name not in home:
            why = "its column stands between columns of results"
        elif usual or alone or (one.looks_drawn(beside=drawn) and (drawn or name not in odd)):
            continue
        else:
            why = "neither its name nor its values are typical of a parameter"
        new[name] = known.doubted(name, why)
        far = name not in home | likely and not (drawn and name in last)
        if far and one.has_own and len(likely & home) > 1:
            new[name] = Role("result", "is different in every row, and its column stands between columns of results")
    return new


def _flags(known: KnownColumns) -> dict[str, Role]:
    """Doubt yes/no columns between results, or behind the last result."""
    flags = {name for name, one in known.settings().items() if one.kind == "flags" and not is_setting_name(name)}
    row = [name for name in known.table if name in known.objectives or name in known.roles]
    new = {}
    for place, name in enumerate(row if len(row) <= MOST_COMPARED else ()):
        before, after = ([one for one in part if one not in flags] for part in (row[:place], row[place:]))
        end = known.is_measured(after[0]) if after else before and not known.is_setting(before[-1])
        if name in flags and before and known.is_measured(before[-1]) and end:
            new[name] = known.doubted(name, "its column stands between columns of results")
    return new


def _copies(known: KnownColumns) -> dict[str, Role]:
    """Doubt copies of columns that are not parameters, or that may not be."""
    numbers = {n: one.some.astype(np.float64).tobytes() for n, one in known.values.items() if one.kind == "numbers"}
    measured = {values: name for name, values in numbers.items() if known.is_measured(name)}
    pairs = ((name, measured.get(numbers.get(name, b""))) for name in known.settings())
    alike = {name: other for name, other in pairs if other and not is_setting_name(name, number=True)}
    return {name: known.doubted(name, f"has the same values as {other}") for name, other in alike.items()}


def _together(known: KnownColumns, names: Collection[str]) -> dict[str, list[str]]:
    """For each column in `names`, the parameters, results and costs that have a strong rank correlation with it."""
    kinds = ("parameter", "result", "time")
    measured = {name: known.values[name] for name, role in known.roles.items() if role.name in kinds}
    whole = {name: one for name, one in in_every_row(measured).items() if measured[name].levels is None}
    stamps = {name for name in whole if known.roles[name].name == "time" and measured[name].rises}
    numbers = {name: one for name, one in whole.items() if measured[name].kind == "numbers" and name not in stamps}
    names = [name for name in names if name in numbers]
    return moving_together(numbers, names) if names and len(numbers) <= MOST_COMPARED else {}


def _is_id(name: str) -> bool:
    return ID_NAMES.match("_".join(name.split())) is not None


def _beside(name: str, values: Values, objectives: Iterable[str]) -> Iterator[Clue]:
    """Clues from a name that resembles an objective, as val_loss_std and train_loss resemble val_loss."""
    words = words_of(name)
    if values.kind != "numbers" or not words:
        return
    for objective in objectives:
        own = list(words_of(objective))
        while len(own) > 1 and (own[-1] in SUMMARIES or own[-1].isdigit()):
            own.pop()
        long_enough = sum(map(len, own)) >= 3
        shared = {known_form(word) for word in own} & RESULTS & {known_form(word) for word in words}
        # such as forget_qa_prob with forget_qa_rouge, or lut_change_pct with latency_change_pct
        alike = len(own) > 2 and own[:-1] == list(words[: len(own) - 1])
        alike |= len(words_of(objective)) > 2 and words[1:] == words_of(objective)[1:]
        inside = values.is_few and last_telling(name) is None  # such as bin_loss_w with val_loss
        after = (shared and not inside) or (long_enough and list(words[: len(own)]) == own)
        if alike or (after and not has_head(name)):
            yield Clue("result", SURE, f"named after the objective {objective!r}")
            return
        if len(words) > 1 and [words[-1]] == own[-1:] and words[-1].isalpha() and not has_head(name):
            yield Clue("result", SLIGHT, f"its name ends in the same word as the objective {objective!r}")


def notes_on(roles: Mapping[str, Role], objective: str) -> list[Note]:
    """Notes: warnings on doubtful parameters, a list of the parameters, and why other columns are left out."""
    notes = []
    for name, role in roles.items():
        if role.doubt is not None:
            what = ARTICLES.get(role.doubt.role, f"a {role.doubt.role}")
            why = f"{role.doubt.why}; exclude it if it is {what}"
            notes.append(Note("roles", why, subject=name, severity="warning"))
    settings = [name for name, role in roles.items() if role.is_setting]
    others = [name for name, role in roles.items() if not role.is_setting]
    if others:
        words: list[Word] = [f"objective {objective}; "] if objective else []
        words += [f"parameters {listed(settings, most=12)}; left out: {listed(others, most=40)} ("]
        words += [Arg("roles", said=("other notes say", "--roles says")), " why); "]
        notes.append(Note("roles", *words, Arg("params"), " selects the columns to use"))
        notes += [Note("unused", f"{roles[name].why}; left out", *NAME_IT, subject=name) for name in others]
    return notes
