"""The role of each column: a parameter, a result, an identifier, a seed, a status, a time, a budget or free text.

Clues come from names, values, the order of rows and other columns. Each clue adds a weight to one role; the role with
the largest total is chosen. A column without clues is taken as a parameter. A note says that this is doubtful,
unless its name, its values or its position suggest a parameter.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import dropwhile, groupby
from operator import itemgetter
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.base.digits import percent
from pedanova.base.notes import Note
from pedanova.base.table import Printed, Table
from pedanova.data.column import Column
from pedanova.data.column_clues import (
    BUDGET_NAMES,
    FAIR,
    MARKS,
    PRIOR,
    SEED_NAMES,
    SLIGHT,
    SURE,
    WEAK,
    Clue,
    RoleName,
    beside_objectives,
    by_name,
    by_summaries,
    by_texts,
    by_values,
    is_id,
    tells_result,
)
from pedanova.data.column_values import (
    FEW_NUMBERS,
    LEAST_GRID,
    MOST_COMPARED,
    Values,
    by_rows,
    computed,
    crossed_with,
    full_grid,
    in_every_row,
    joint_codes,
    moving_together,
    tells,
)
from pedanova.data.evidence import UNLIKELY, UNLIKELY_WORDS, clues_on, score
from pedanova.data.vocabulary import (
    AMBIGUOUS,
    BEFORE_RESULTS,
    BOOKKEEPING,
    COUNTED,
    DEVIATIONS,
    MEMORY,
    form_of,
    has_head,
    has_meaning,
    is_setting_name,
    related,
    state_of,
    stem_of,
    words_of,
)
from pedanova.errors import Arg, Word, listed

Outcome: TypeAlias = Literal["result", "cost", "perhaps", "number"]
LIKELIEST: tuple[Outcome, ...] = ("result", "cost", "perhaps", "number")
ARTICLES = {"identifier": "an id", "text": "free text", "empty": "empty"}
SIZES = {"size", "sizes", "count", "counts", "generations", "cells"}  # last words of parameters left of the results
MOST_STATES = 50  # distinct words of a column of trial states
NAME_IT = ("; to keep it, name all parameters in ", Arg("params"))
NO_SETTINGS = DEVIATIONS | {"idx", "id", "index", "hash", "str", "json", "no", "nr"}  # behind `params_`
MOST_LEVELS = 3  # different values of a column that was chosen if it stands among others with few values
REUSED = 20  # rows for each value of a column that was chosen, though its values are not round
SYMBOL, LEAST_NAMES = 3, 4  # names with more characters are words; the fewest words that show a language
MOST_GRID = 10_000  # rows of a table in which a grid is searched


@dataclass(frozen=True, slots=True)
class Role:
    """The role of a column and the reason for it; `doubt` is a clue for another possible role."""

    name: RoleName
    why: str
    doubt: Clue | None = None
    proven: bool = False  # whether the column is part of a full grid
    chance: float | None = None  # the score of a doubtful column

    @property
    def is_setting(self) -> bool:
        return self.name == "parameter"

    def in_words(self) -> str:
        """The reason for the role; if the role is in doubt, the other possible role and its reason instead."""
        if self.doubt is None:
            return self.why
        score = "" if self.chance is None else f" ({percent(self.chance)} likely to be a parameter)"
        return f"perhaps {ARTICLES.get(self.doubt.role, f'a {self.doubt.role}')}: {self.doubt.why}{score}"


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
    known = by_rules(names, columns, objectives, table)
    roles = dict(known.roles)
    doubtful = [name for name, role in roles.items() if role.doubt is not None]
    for name, seen in clues_of(known, doubtful).items():
        doubt, chance = roles[name].doubt, score("parameter", seen)
        roles[name] = replace(roles[name], chance=chance)
        # The first columns are mostly set, and what somebody adds to a table stands behind the objective.
        before = known.table[: known.table.index(name)]
        behind = any(one in objectives or not (one in roles and roles[one].is_setting) for one in before)
        likely = seen["words"] or seen["typical name"]
        limit = UNLIKELY_WORDS if likely else UNLIKELY if behind else UNLIKELY / 2 if before else 0.0
        if doubt and chance < limit:
            roles[name] = Role(doubt.role, f"{doubt.why} ({percent(chance)} likely to be a parameter)")
    return columns, roles


def by_rules(
    names: Sequence[str], columns: Mapping[str, Column], objectives: Collection[str], table: Sequence[str]
) -> KnownColumns:
    """The role of each column by its clues and by rules on several columns; some parameters are doubtful."""
    values = {name: Values.of(columns[name]) for name in names}
    roles = _one_by_one(names, values, objectives)

    def named_after(name: str, others: Collection[str]) -> bool:
        return any(clue.weight == SURE for clue in beside_objectives(name, values[name], others))

    siblings = [name for name, role in roles.items() if role.name == "result" and named_after(name, objectives)]
    for name in (name for name, role in roles.items() if role.is_setting and not has_head(name)):
        if named_after(name, siblings):
            roles[name] = Role("result", "named after another result")
    # Clues from other columns: a grid, names of configurations, and what is known about the columns side by side.
    for rule in RULES:
        roles |= rule(KnownColumns(roles, values, table, objectives))
    for name in (name for name, role in roles.items() if role.doubt is not None and not values[name].varies):
        roles[name] = replace(roles[name], doubt=None)  # a constant explains nothing
    return KnownColumns(roles, values, table, objectives)


def clues_of(known: KnownColumns, names: Collection[str]) -> dict[str, dict[str, float]]:
    """The clues on columns; none if the order of columns, the objective or a parameter is not known."""
    if not names or not known.objectives or not any(one.varies for one in known.settings().values()):
        return {}
    row = [name for name in known.table if name in known.roles or name in known.objectives]
    belief = {name: 0.5 if role.doubt else 1.0 for name, role in known.roles.items() if role.is_setting}
    alike, found = _together(known, names), dict[str, dict[str, float]]()
    for name in (name for name in names if name in row):
        seen = clues_on(name, known.values[name], row, belief, known.objectives, alike.get(name, ()))
        found[name] = seen | by_role(known.roles[name], seen)
    return found


def by_role(role: Role, seen: Mapping[str, float]) -> dict[str, float]:
    """Clues from the role that the rules found, and what else speaks for a parameter without a doubt."""
    sure = role.is_setting and role.doubt is None
    found = {
        "rules: parameter": sure,
        "rules: doubtful": role.doubt is not None,
        "rules: design": role.proven,
        "rules: result": role.name == "result",
        "rules: cost": role.name in ("time", "budget"),
        "nothing suggests another role": sure and not role.proven and not seen["typical name"],
    }
    also = ("typical name", "chosen values", "words", "behind a result", "before a parameter", "round numbers")
    return {clue: float(holds) for clue, holds in found.items()} | {f"sure, {one}": sure * seen[one] for one in also}


def _one_by_one(names: Sequence[str], values: Mapping[str, Values], objectives: Collection[str]) -> dict[str, Role]:
    """The role of each column by its own name and values, and by columns with related names."""
    # Several columns that are permutations are a design, such as a Latin hypercube; a single one numbers the rows.
    single = sum(one.is_permutation for one in values.values()) == 1
    families: dict[tuple[str, ...], list[str]] = {}
    for name in names:
        families.setdefault(stem_of(name), []).append(name)
    # A dict of results, such as bleu.bleu and bleu.length_ratio
    dicts = {
        parts[0]
        for parts in (name.rpartition(".") for name in names)
        if tells_result(parts[0]) and tells_result(parts[2])
    }
    roles = {}
    for name, one in values.items():
        clues_on = [
            *by_name(name, one),
            *by_values(name, one, single=single),
            *beside_objectives(name, one, objectives),
        ]
        if name.rpartition(".")[0] in dicts:
            clues_on.append(Clue("result", SURE, "belongs to a result"))
        if one.kind == "numbers":
            clues_on += by_summaries(name, {other: values[other] for other in families[stem_of(name)]})
        roles[name] = _decided(clues_on)
    return roles


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
    yield from (clue for clue in by_name(name, values) if clue.role == "seed")
    if values.kind == "words":
        yield from (replace(clue, weight=FAIR) for clue in by_texts(name, values) if clue.role == "identifier")


def marked(names: Sequence[str]) -> list[str]:
    """The columns whose names begin with a prefix for parameters, such as `params.` or `config/`.

    Names such as params_total and params_per_layer mean the size of a model; params_std is no parameter either.
    """
    for prefix in MARKS:
        starts = [name for name in names if name.startswith(prefix) and COUNTED.match(name) is None]
        settings = [name for name in starts if name[len(prefix) :].lower() not in NO_SETTINGS]
        if len(settings) > 1 or (settings and not prefix.endswith("_")):
            return settings
    return []


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
        if values.kind == "words" and _decided([*by_name(name, values), *by_texts(name, values)]).name == "status":
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
        row = list(dropwhile(lambda name: name in self.roles and self.roles[name].name == "status", row))
        runs = [(is_setting, list(run)) for is_setting, run in groupby(row, key=self.is_setting)]
        ends = 0, len(runs) - 1
        return [Group(names, i == ends[0], i == ends[1]) for i, (is_setting, names) in enumerate(runs) if is_setting]

    def is_setting(self, name: str) -> bool:
        return name in self.roles and self.roles[name].is_setting

    def _counts(self, name: str) -> bool:
        role = self.roles[name].name if name in self.roles else ""
        return role in ("parameter", "result", "status") or (role == "time" and self.values[name].kind == "numbers")

    def behind(self) -> list[str]:
        """The first objective and all columns after it; empty if the order of the columns is not known."""
        return [name for name in dropwhile(lambda name: name not in self.objectives, self.table) if name in self.roles]

    def named_results(self) -> dict[str, Values]:
        """Results and costs by name alone, whose values look chosen: few round numbers."""
        results = {name: self.values[name] for name, role in self.roles.items() if role.name in ("result", "time")}
        few = {name: one for name, one in results.items() if one.kind == "numbers" and one.is_few and one.varies}
        chosen = {name: one for name, one in few.items() if one.are_round}
        return {n: one for n, one in chosen.items() if not any(beside_objectives(n, one, self.objectives))}

    def doubted(self, name: str, why: str, other: RoleName = "result", weight: float = SLIGHT) -> Role:
        return replace(self.roles[name], doubt=Clue(other, weight, why))


def _names_of_configurations(known: KnownColumns) -> dict[str, Role]:
    """Find columns with names of configurations: such a name determines at least two other parameters."""
    values = known.values
    names = {name: one for name, one in values.items() if known.roles[name].is_setting}
    varied = [name for name, one in names.items() if len(values.keys() & set(one.texts) - {name}) > 1]
    new = {name: Role("text", "its values are names of other columns") for name in varied}
    if len(names) > MOST_COMPARED or not any(one.kind == "words" or is_id(name) for name, one in names.items()):
        return new
    codes = {name: joint_codes([names[name].some]) for name in in_every_row(names) if names[name].varies}
    configurations = joint_codes(codes.values()).max() + 1 if codes else 0
    for name in codes:
        named = is_id(name)
        if values[name].kind != "words" and not named:
            continue
        told = [o for o, code in codes.items() if 0 < code.max() < codes[name].max() and tells(codes[name], code)]
        repeats = codes[name].max() + 1 < len(codes[name])
        every = len(told) == len(codes) - 1
        told = [o for i, o in enumerate(told) if not any(_one_to_one(codes[o], codes[p]) for p in told[:i])]
        many = 2 * (codes[name].max() + 1) >= configurations and len(told) > 2
        if len(told) > 1 and (named or every or many or codes[name].max() >= FEW_NUMBERS):
            why = f"determines {listed(told, most=3)}, so it may be the name of a configuration"
            sure = repeats and (every or named)
            new[name] = Role("identifier", why) if sure else known.doubted(name, why, "identifier")
    return new


def _numbered_alike(known: KnownColumns) -> dict[str, Role]:
    """Find whole numbers that grow with a seed, an id or the rows, as run = seed + 1 does; they have the same role."""
    kinds = ("parameter", "seed", "identifier")
    counts = {name: one for name, one in known.values.items() if one.whole and known.roles[name].name in kinds}
    whole = {name: column for name, column in in_every_row(counts).items() if counts[name].varies}
    named = {name for name in whole if is_setting_name(name, number=True)}
    guides = {name: (known.roles[name], whole[name]) for name in whole if not known.roles[name].is_setting}
    if any(not counts[name].rises for name in named):  # the rows are not those of a sweep of one parameter
        rows = np.arange(max(map(len, whole.values())))
        guides[""] = Role("identifier", "grows by the same number from row to row, like an id"), rows
    unsure = [name for name in whole if known.roles[name].is_setting and name not in named]
    alike = {name: [role for role, guide in guides.values() if _is_linear(guide, whole[name])] for name in unsure}
    return {name: found[0] for name, found in alike.items() if found}


def _is_linear(guide: NDArray[Any], counts: NDArray[Any]) -> bool:
    """Whether the numbers are a linear function of the guide's numbers, which have at least three different values."""
    ordered = np.unique(np.stack([guide, counts]).astype(np.float64), axis=1)
    steps = np.diff(ordered[1]) / np.diff(ordered[0]) if len(np.unique(guide)) == ordered.shape[1] > 2 else np.zeros(1)
    return bool(steps[0] != 0 and np.all(steps == steps[0]))


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


def _design(known: KnownColumns) -> dict[str, Role]:
    """Find the columns that form a full grid, and numbers that are not part of it.

    The former are parameters, whatever their names. The latter are results, or doubtful if they look chosen.
    """
    settings = known.settings(doubted=True)
    rows = max((len(one.present) for one in settings.values()), default=0)
    if not LEAST_GRID <= rows <= MOST_GRID:
        return {}
    seeds = {n: known.values[n] for n, role in known.roles.items() if role.name == "seed" or is_id(n)}
    behind = known.behind()
    unlikely = {name: one for name, one in known.named_results().items() if name not in behind}
    long = computed(settings)  # of two columns that determine each other, the one with fewer digits was chosen
    first = dict(sorted(settings.items(), key=lambda item: item[0] in long))
    whole = by_rows({name: one for name, one in first.items() if name not in seeds} | unlikely | seeds)
    new = _twins(known, whole, unlikely)
    crossing, others = full_grid(whole)
    joint = crossed_with(crossing, whole, (n for n in others if n not in behind and n in settings)) if crossing else []
    factors = [name for name in crossing if name not in seeds and not (name in behind and settings[name].is_numbered)]
    if len([*factors, *joint]) < 2 or not factors:
        return new
    grid = f"the table has every combination of {listed([*factors, *joint], most=4)}"
    repeated = not seeds.keys().isdisjoint(crossing)  # if so, a parameter may depend on the others
    new |= {name: Role("parameter", grid, proven=True) for name in factors}
    once = bool(joint) or 2 * (joint_codes(whole[name] for name in crossing).max() + 1) > rows
    told = [joint_codes([whole[name]]) for name in joint]
    for name in others:
        if name not in settings or is_id(name) or settings[name].kind not in ("numbers", "flags"):
            continue
        if any(tells(codes, joint_codes([whole[name]])) for codes in told):
            new[name] = replace(known.roles[name], proven=name in joint)
        else:
            new |= _outside_grid(known, name, grid, once=once, repeated=repeated)
    return new


def _outside_grid(known: KnownColumns, name: str, grid: str, *, once: bool, repeated: bool) -> dict[str, Role]:
    """A new role for a number that is not part of the grid: a result, or doubtful; empty if it may be a parameter.

    `once` is set if hardly any combination of the grid occurs twice, and `repeated` if seeds are part of the grid.
    """
    one, named, behind = known.values[name], is_setting_name(name, number=True), known.behind()
    different = len(np.unique(one.present))
    measured = different >= LEAST_GRID and bool(np.any(one.present % 1))
    if measured and not once and REUSED * different <= len(one.present):  # such as the steps of a scale
        return {}
    kept = named or (one.is_few and (has_head(name) or (repeated and one.are_round)))
    planned = one.looks_chosen and (one.levels or 2) <= FEW_NUMBERS  # such as a column of a fractional design
    why = f"is not part of the grid ({grid})"
    if name in behind or (measured and not named) or (once and not kept and not planned):
        return {name: Role("result", why)}
    return {name: known.doubted(name, why)} if once and not kept else {}


def _twins(known: KnownColumns, whole: Mapping[str, NDArray[Any]], unlikely: Collection[str]) -> dict[str, Role]:
    """Find chosen numbers with the name of a result that correspond one to one to a parameter; they are parameters."""
    codes = {name: joint_codes([whole[name]]) for name in (*unlikely, *known.settings()) if name in whole and unlikely}
    new = {}
    for name in (name for name in unlikely if name in codes):
        others = (other for other in known.settings() if other in codes)
        twin = next((other for other in others if _one_to_one(codes[other], codes[name])), None)
        if twin is not None:
            new[name] = Role("parameter", f"has one value for each value of {twin}")
    return new


def _one_to_one(one: NDArray[np.int64], other: NDArray[np.int64]) -> bool:
    return bool(one.max() == other.max()) and tells(one, other)


@dataclass(frozen=True, slots=True)
class Typical:
    """The varied parameters whose names (`named`) or values (`chosen`) are typical, and those of a design."""

    settings: Mapping[str, Values]
    named: set[str]
    chosen: set[str]
    design: set[str]

    @classmethod
    def of(cls, known: KnownColumns) -> Typical:
        settings = {name: one for name, one in known.settings().items() if one.varies}
        named = {name for name, one in settings.items() if is_setting_name(name, number=one.kind == "numbers")}
        chosen = {name for name, one in settings.items() if one.looks_chosen} - computed(settings)
        return cls(settings, named, chosen, {name for name in settings if known.roles[name].proven})

    @property
    def likely(self) -> set[str]:
        return self.named | self.chosen | self.design

    def drawn_in(self, names: Collection[str]) -> bool:
        """Whether some of the columns look like draws of a random search."""
        return any(not self.settings[name].is_few for name in self.named.intersection(names) - self.chosen)

    def sure_in(self, groups: Sequence[Group], front: set[str]) -> set[str]:
        """Columns that are parameters even between results: part of a design, or with typical names and values."""
        settings, last = self.settings, _names_in(group for group in groups if group.is_last)
        counts = {name for name, one in settings.items() if one.kind != "words" and not np.any(one.some % 1)}
        rounded = {name for name in self.named if name not in counts or settings[name].are_round}
        # Right of the first parameters, a name counts only if the values look like those of the first parameters, too.
        usual = self.chosen if len(front & settings.keys()) > 1 and not self.drawn_in(front) else settings.keys()
        small = [group for group in groups if self.design or len(settings.keys() & group.names) <= 2]
        single = _names_in(small) - last
        words = {name for name in single if front and name in settings and settings[name].kind == "words"}
        return self.design | ({name for name in rounded & usual if words_of(name)[0] not in BEFORE_RESULTS} - words)

    def homes(self, groups: Sequence[Group], sure: set[str]) -> list[Group]:
        """The groups of columns in which a parameter is expected."""
        settings = self.settings.keys()
        mostly = [group for group in groups if 2 * len(self.likely & {*group.names}) > len(settings & group.names)]
        found = [group for group in groups if group.is_first or (group in mostly and not sure.isdisjoint(group.names))]
        return found or [group for group in groups[:1] if not self.chosen.isdisjoint(group.names)]


def _without_evidence(known: KnownColumns) -> dict[str, Role]:
    """Doubt a parameter if neither its name, its values nor its neighbours are typical of parameters.

    A column between results needs both a typical name and typical values. If both are missing, and nearly all of its
    numbers differ, it is a result.
    """
    typical, groups = Typical.of(known), known.groups()
    settings, likely = typical.settings, typical.likely
    front = _names_in(group for group in groups if group.is_first and not group.is_last)
    sure = typical.sure_in(groups, front)
    homes = typical.homes(groups, sure)
    home = _names_in(homes)
    many = [name for name in settings if name in home and not settings[name].is_few]
    odd = many if len(many) == 1 and len(settings.keys() & home) > 2 else []  # each other parameter has few values
    drawn = typical.drawn_in(home)
    every = known.settings(doubted=True)
    alone = len(every) == 1 or not (likely or any(map(is_setting_name, every)))
    unsure = [name for name in settings if name not in (likely if name in home else sure)]
    together = _suspicious(known, unsure, front)
    neighbours = _like_neighbours(settings, homes, front, likely, grid=bool(typical.design))
    last = _names_in(group for group in groups if group.is_last)
    new = {}
    for name in unsure:
        one = settings[name]
        weight: float = SLIGHT
        if name in together:
            why = f"is strongly correlated with {listed(together[name], most=3)}, as results of a run often are"
        elif name not in home:
            why = "its column stands between columns of results"
        elif name in neighbours or alone or (one.looks_drawn(beside=drawn) and (drawn or name not in odd)):
            continue
        else:
            why, weight = "neither its name nor its values are typical of a parameter", WEAK
        new[name] = known.doubted(name, why, weight=weight)
        far = name not in home | likely and not (drawn and name in last)
        if far and one.has_own and len(likely & home) > 1:
            new[name] = Role("result", "is different in every row, and its column stands between columns of results")
    return new


def _names_in(groups: Iterable[Group]) -> set[str]:
    return {name for group in groups for name in group.names}


def _suspicious(known: KnownColumns, names: Collection[str], front: set[str]) -> dict[str, list[str]]:
    """Columns with a strong rank correlation with others, except where two parameters may depend on each other."""
    return {
        name: others
        for name, others in _together(known, names).items()
        if name not in front or words_of(name)[-1] in AMBIGUOUS or len(front.intersection(others)) > 1
    }


def _like_neighbours(
    settings: Mapping[str, Values],
    homes: Sequence[Group],
    front: Collection[str],
    likely: Collection[str],
    *,
    grid: bool,
) -> set[str]:
    """Columns whose names or values resemble those of parameters in the same group, or that stand between them.

    If other columns form a grid (`grid`), few values and the position say nothing.
    """
    alike = set[str]()
    for group in homes:
        row = [name for name in group.names if name in settings]
        accepted = [name for name in row if name in likely]
        forms = [form_of(name) for name in (*front, *accepted)]
        few = [name for name in row if settings[name].is_few]
        for place, name in enumerate(row):
            one, form = settings[name], form_of(name)
            short = one.is_few and one.are_short and not grid
            between = short and 0 < place < len(row) - 1 and {row[place - 1], row[place + 1]} <= {*likely, *alike}
            levels = short and (one.levels or 0) <= MOST_LEVELS and name in front and len(few) > 2
            size = name in front and one.is_few and words_of(name)[-1] in SIZES
            same_form = forms.count(form) > (name in front) and (one.is_few or not form.endswith("_"))
            akin = any(related(name, other) and one.is_like(settings[other]) for other in accepted)
            if between or levels or size or same_form or akin:
                alike.add(name)
    return alike


def _together(known: KnownColumns, names: Collection[str]) -> dict[str, list[str]]:
    """For each column in `names`, the parameters, results and costs that have a strong rank correlation with it."""
    kinds = ("parameter", "result", "time")
    measured = {name: known.values[name] for name, role in known.roles.items() if role.name in kinds}
    whole = {name: one for name, one in in_every_row(measured).items() if measured[name].levels is None}
    stamps = {name for name in whole if known.roles[name].name == "time" and measured[name].rises}
    numbers = {name: one for name, one in whole.items() if measured[name].kind == "numbers" and name not in stamps}
    names = [name for name in names if name in numbers]
    return moving_together(numbers, names) if names and len(numbers) <= MOST_COMPARED else {}


RULES = (_numbered_alike, _repeats, _design, _names_of_configurations, _without_evidence)


def outcomes(columns: Mapping[str, Column]) -> dict[str, Outcome]:
    """Which columns can be the objective, by their roles alone; the likeliest first.

    A result comes before a cost, then come parameters that may be results, and other numbers that hardly repeat.
    """
    rows = max(map(len, columns.values()), default=0)
    if rows > MOST_GRID or len(columns) > MOST_COMPARED:
        return {}
    roles = roles_of(list(columns), lambda _: columns, (), list(columns))[1]
    found: dict[str, Outcome] = {}
    for name, role in roles.items():
        one = Values.of(columns[name])
        kept_by_logger = BOOKKEEPING.match(name) is not None
        if one.kind != "numbers" or not one.varies or (kept_by_logger and one.rises):
            continue
        size = COUNTED.match(name) is not None or not MEMORY.isdisjoint(words_of(name))
        if kept_by_logger:
            found[name] = "perhaps"  # such as the time at which a run ended
        elif role.name in ("result", "time"):
            found[name] = "cost" if role.name == "time" or size else "result"
        elif role.is_setting and not one.is_few:
            found[name] = "perhaps" if role.doubt is not None else "number"
    return dict(sorted(found.items(), key=lambda item: LIKELIEST.index(item[1])))


def notes_on(roles: Mapping[str, Role], objective: str) -> list[Note]:
    """Notes: warnings on doubtful parameters, a list of the parameters, and why other columns are left out."""
    notes, names = list[Note](), {*roles, objective}
    if sum(len(name) > SYMBOL for name in names) >= LEAST_NAMES and not any(
        has_meaning(n) or is_id(n) or SEED_NAMES.match(n) or BUDGET_NAMES.match(n) for n in names
    ):  # another language
        unknown = "no name of a column is understood, so a result, a seed or a dataset may count as a parameter; pass "
        notes.append(Note("doubt", unknown, Arg("params"), " with the columns that were set before each trial"))
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
