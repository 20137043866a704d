"""Choose the parameters of a table and guess their domains, with a note on every guess."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pedanova.base.digits import percent, short
from pedanova.base.notes import Note
from pedanova.base.threads import spread
from pedanova.data.column import PLAIN, Column, Mask, all_finite, in_form, is_gap, take
from pedanova.data.column_clues import SLIGHT, WEAK, Clue
from pedanova.data.column_values import LEAST_ROWS, MOST_COMPARED, Values, few_distinct, is_mixed, is_word
from pedanova.data.conditions import Presence, may_decide, with_conditions
from pedanova.data.evidence import likelier
from pedanova.data.objectives import DONE, MOST_ROWS, Goal, other_objectives
from pedanova.data.roles import ColumnRole, ColumnRoles, Role, marked, notes_on, roles_of
from pedanova.data.row_status import doubtful_columns
from pedanova.data.table_options import TableOptions
from pedanova.data.understanding import looked_at, objective_clues
from pedanova.data.vocabulary import direction_by_name, words_of
from pedanova.errors import Arg, DataError, QueryError, SpaceError, Word, listed, unknown_name
from pedanova.space.grid import MAX_CELLS, grid_of
from pedanova.space.parameters import Categorical, Float, Int, Ordinal, Parameter, Space, Switch, as_space
from pedanova.space.values import LARGEST_INT, Label

MANY_ROWS = 10_000  # rows of a column from which several threads are used
FIRST_ROWS = 100  # checked first, because these rows often show that a property is false
FEW_LOGS = 10_000  # rows that are usually enough to recognise a log scale
CLEARLY = 0.06  # nats per row, many times the error of so few rows
LOG_SPAN = 10.0  # a log scale is considered only if high / low is at least this
CORNER, SOME_ROWS = 0.05, 1000  # the corner of a linear range, and the rows that show whether most lie in it
STEP_NAMES = re.compile(
    r"^(.*/)?_?(epoch|(global_?|env_?|train(ing)?_?)?step|(train(ing)?_?)?iter(ation)?|(total_?)?time_?steps)(_?s)?$",
    re.I,
)
LOG_GAIN = 0.1  # nats per row by which log-uniform must fit better than uniform


@dataclass(frozen=True, slots=True)
class Guess:
    """A guessed domain and a note with the reason; without a domain, the note says why the column is left out."""

    parameter: Parameter | None
    note: Note


def infer_space(columns: Mapping[str, Column], *, threads: int = 1) -> tuple[Space, list[Note]]:
    """Guess the domain of each column; return the space, and a note on every guess."""
    rows = max((len(column.values) for column in columns.values()), default=0)
    results = spread(lambda name: guess(columns[name]), columns, threads=threads if rows >= MANY_ROWS else 1)
    guesses = dict(zip(columns, results, strict=True))
    space = Space({name: g.parameter for name, g in guesses.items() if g.parameter is not None})
    notes = [g.note.about(name) for name, g in guesses.items()]
    doubts = [_spelled_twice(name, parameter) for name, parameter in space.items()]
    return space, [*filter(None, doubts), *notes]  # doubts come first


def _spelled_twice(name: str, parameter: Parameter) -> Note | None:
    """A warning if two categories differ only in capitals or spaces."""
    alike: dict[str, list[str]] = {}
    for label in parameter.choices if isinstance(parameter, Categorical) else ():
        if isinstance(label, str):
            alike.setdefault(label.strip().casefold(), []).append(repr(label))
    twice = next((labels for labels in alike.values() if len(labels) > 1), None)
    if twice is None:
        return None
    words = f"{' and '.join(twice[:3])} differ only in capitals or spaces but are treated as different values; if they "
    return Note("doubt", f"{words}mean the same, spell them the same way", subject=name)


def unused(*words: Word) -> Guess:
    return Guess(None, Note("unused", *words))


def guessed(parameter: Parameter, words: str) -> Guess:
    return Guess(parameter, Note("space", words))


def constant(parameter: Parameter, value: object) -> Guess:
    return guessed(parameter, f"is constant ({value!r}), so it cannot explain anything")


def guess(column: Column) -> Guess:
    if column.is_time:
        return unused("contains dates or times; left out (to use it, turn it into numbers)")
    whole_column = column.labels is None and column.missing is None and all_finite(column.values)
    present = column.values if whole_column else column.values[~column.absent()]
    if len(present) == 0:
        return unused("has no value in any row; left out")
    found = _guess_values(column, present)
    match found.parameter:
        case Categorical((only,)) | Ordinal((only,)) if len(present) < len(column.values):
            return guessed(found.parameter, f"has the value {only!r} or no value")
    return found


def _guess_values(column: Column, present: NDArray[Any]) -> Guess:
    if column.labels is not None:
        return _guess_labels(column, present)
    if present.dtype.kind == "b":
        if present.all() or not present.any():
            return constant(Categorical((bool(present[0]),)), bool(present[0]))
        return guessed(Categorical((False, True)), "boolean, treated as two categories")
    return _guess_numbers(present)


def _guess_labels(column: Column, present: NDArray[Any]) -> Guess:
    labels = column.labels or ()
    used = [labels[code] for code in np.unique(present)]
    mixed_numbers = _numbers_and_words(column, used, present)
    if mixed_numbers is not None:
        return mixed_numbers
    if len(used) > MAX_CELLS:
        return unused(f"has more than {MAX_CELLS} categories ({len(used)}); left out (to use it, group the rare ones)")
    kinds = {type(label) for label in used}
    mixed = " of mixed types" if len(kinds - {int, float}) + bool(kinds & {int, float}) > 1 else ""
    if len(used) == 1:
        return constant(Categorical(tuple(used)), used[0])
    words = [label for label in used if is_gap(label)]
    gaps = f"; {listed(words)} is treated as a category, not as a missing value" if words else ""
    return guessed(Categorical(tuple(used)), f"{len(used)} categories{mixed}{gaps}")


def _guess_numbers(present: NDArray[Any]) -> Guess:
    finite = present if all_finite(present) else present[np.isfinite(present)]
    if len(finite) == 0:
        return unused("has no finite number; left out")
    special = special_number(finite)
    if special is not None:
        rest = finite[finite != special]
        whole = _are_whole(rest)
        beside = _beside([special], rest, f"{special} is treated as a special value outside the range", whole=whole)
        return beside or _guess_range(rest, whole=whole)
    distinct = few_distinct(finite)
    whole = _are_whole(finite)
    if distinct is not None and len(distinct) == 1:
        value = _plain(distinct[0], whole=whole)
        return constant(Ordinal((value,)), value)
    # Integers without gaps are an integer range, not a lattice.
    fills = whole and distinct is not None and float(distinct[-1]) - float(distinct[0]) == len(distinct) - 1
    if distinct is not None and not fills:
        values = tuple(_plain(value, whole=whole) for value in distinct)
        return guessed(Ordinal(values), f"only {len(values)} different numbers, treated as ordinal levels")
    return _guess_range(finite, whole=whole)


def _are_whole(finite: NDArray[Any]) -> bool:
    if finite.dtype.kind in "iu":
        return True
    return all(bool(np.all(some == np.floor(some))) for some in (finite[:FIRST_ROWS], finite))


def special_number(finite: NDArray[Any]) -> int | None:
    """Return 0 or -1 if it occurs several times and seems to be a special value, otherwise None.

    0 is special if the other numbers fit a log scale; -1 is special if the other numbers are positive.
    """
    low = finite.min().item()
    if low not in (0, -1):
        return None
    rest = finite[finite != low]
    if len(finite) - len(rest) < 2 or len(rest) < 2 or few_distinct(rest) is not None:
        return None
    least, most = rest.min().item(), rest.max().item()
    if low == -1:
        return int(low) if least > 0 else None
    return int(low) if _log_scale(rest, least, most)[0] else None


def _beside(specials: Sequence[Label], rest: NDArray[Any], words: str, *, whole: bool) -> Guess | None:
    """Guess a domain of special values and a range; None if the other numbers do not suggest a range."""
    inside = _guess_range(rest, whole=whole)
    if not isinstance(inside.parameter, Float | Int):
        return None
    domains = (*((str(value), Categorical((value,))) for value in specials), ("range", inside.parameter))
    return guessed(Switch("", domains), f"{words} ({''.join(map(str, inside.note.words))})")


def _numbers_and_words(column: Column, used: list[Any], present: NDArray[Any]) -> Guess | None:
    """Guess a domain with a range and a few words such as "auto"; None for other text columns."""
    if not is_mixed(used):
        return None
    words = [label for label in used if is_word(label)]
    numbers = in_form(Column(column.name, present, column.labels), PLAIN)
    finite = numbers.values[~numbers.absent()]
    shown = listed([str(word) for word in words])
    rest = finite[np.isfinite(finite)]
    return _beside(words, rest, f"a range of numbers, and the special values {shown}", whole=finite.dtype.kind == "i")


def _guess_range(finite: NDArray[Any], *, whole: bool) -> Guess:
    low, high = finite.min().item(), finite.max().item()
    log, why = _log_scale(finite, low, high)
    scale = f"log scale guessed {why}" if log else "linear scale"
    bounds = f"bounds {low:g} to {high:g} taken from the data"
    if whole and max(abs(low), abs(high)) <= LARGEST_INT:
        return guessed(Int(int(low), int(high), log=log), f"whole numbers, {bounds}, {scale}")
    if float(high) - float(low) <= 1e-12 * max(abs(low), abs(high)):
        return unused(f"all values equal {low:g} up to rounding; left out")
    try:
        parameter = Float(float(low), float(high), log=log)
        grid_of(parameter)
    except SpaceError:  # bounds near the largest or the smallest float
        return unused(f"{low:g} to {high:g} cannot be divided into {MAX_CELLS} cells; left out (to use it, rescale it)")
    return guessed(parameter, f"{bounds}, {scale}")


def _log_scale(finite: NDArray[Any], low: float, high: float) -> tuple[bool, str]:
    """Whether a log-uniform distribution fits the values clearly better than a uniform one, and the reason in words."""
    if low <= 0 or high < LOG_SPAN * low:
        return False, ""
    flat = np.log(high - low) - np.log(np.log(high) - np.log(low))
    gain = 0.0
    for most in (FEW_LOGS, 100_000):
        sample = finite[:: max(1, len(finite) // most)].astype(np.float64)
        gain = flat - float(np.mean(np.log(sample)))
        if abs(gain - LOG_GAIN) > CLEARLY * float(np.log(high / low)):
            break
    if gain < LOG_GAIN:
        return False, ""
    return (True, f"(values span a factor of {short(high / low)} and fit a log scale better than a linear one)")


def _plain(value: Any, *, whole: bool) -> int | float:
    number = value.item()
    return int(number) if whole and abs(number) <= LARGEST_INT else float(number)


class ColumnEvidence(Protocol):
    """Access to the columns from which a space is guessed; large tables provide only a sample of the rows."""

    def columns(self, names: Sequence[str]) -> Mapping[str, Column]: ...
    def presence(self, children: Sequence[str], parents: Sequence[str]) -> Presence: ...
    def notes(self) -> list[Note]: ...


@dataclass(frozen=True, slots=True, eq=False)
class TableColumns:
    """Columns in memory, restricted to the rows that are kept."""

    table: Mapping[str, Column]
    keep: Mask | None = None

    def columns(self, names: Sequence[str]) -> Mapping[str, Column]:
        columns = {name: self.table[name] for name in names}
        return columns if self.keep is None or self.keep.all() else take(columns, np.flatnonzero(self.keep))

    def presence(self, children: Sequence[str], parents: Sequence[str]) -> Presence:
        return Presence.of(self.columns([*dict.fromkeys([*children, *parents])]), children, parents)

    def notes(self) -> list[Note]:
        return []  # the reader of the table has already added notes on text read as numbers


@dataclass(frozen=True, slots=True)
class Choice:
    """The chosen space, with notes on guesses and on columns that are left out."""

    space: Space
    notes: tuple[Note, ...]


def choose_space(
    table: Sequence[str], goals: Sequence[Goal], request: TableOptions, evidence: ColumnEvidence
) -> Choice:
    """Choose the parameters among the columns of a table, and guess or check their space."""
    own = {goal.column for goal in goals if goal.column is not None}
    names = _choose(table, own, request, spoken_for(table, goals, request))
    if request.space is not None:
        choice = _given(table, names, own, request, evidence)
    else:
        choice = _guessed(table, names, goals, request, evidence)
    if not choice.space:
        raise DataError(*_no_parameter(table, own, choice.notes if request.space is None else ()))
    for name, parameter in choice.space.items():
        try:
            grid_of(parameter)
        except SpaceError as error:
            raise error.behind(f"{name}: ") from None
    return replace(choice, notes=(*choice.notes, *(note for note in evidence.notes() if note.subject in choice.space)))


def column_roles(
    table: Sequence[str], goals: Sequence[Goal], request: TableOptions, evidence: ColumnEvidence
) -> ColumnRoles:
    """The role of every column: from the options, from the source, or guessed."""
    roles = {goal.column: Role("objective", f"is to be {DONE[goal.direction]}") for goal in goals if goal.column}
    used = "already used by the source or an option"
    state, names = request.state_name, spoken_for(table, goals, request)
    spoken = {name: Role("status" if name == state else "result", used) for name in names}
    left = [name for name in table if name not in roles and name not in spoken]
    named = request.params if request.params is not None else request.space
    if named is not None:
        roles |= {name: Role("parameter", "named by the source, the space or params") for name in left if name in named}
        others = Role("result", "not named by the source, the space or params")
        roles |= {name: others for name in left if name not in named}
    else:
        roles |= guessed_roles(left, goals, table, evidence)[1]
    blocks = Role("block", "ranks are taken within each of its values")
    spoken |= {name: blocks for name in request.blocks or () if name in spoken}
    roles |= spoken | {name: Role("text", "excluded") for name in request.exclude or ()}
    return ColumnRoles(tuple(ColumnRole(name, roles[name].name, roles[name].in_words()) for name in table))


def guessed_roles(
    names: Sequence[str], goals: Sequence[Goal], table: Sequence[str], evidence: ColumnEvidence
) -> tuple[Mapping[str, Column], dict[str, Role]]:
    """Guess the role of each column; for a table in memory, also find parameters that may be results."""
    twins = [goal.twin for goal in goals if goal.twin is not None and goal.twin in names]
    left = [name for name in names if name not in twins]
    columns, roles = _roles_beside(left, goals, table, evidence)
    settings = [name for name, role in roles.items() if role.is_setting]
    doubts = (
        doubtful_columns(settings, evidence.table, goals, evidence.keep) if isinstance(evidence, TableColumns) else {}
    )
    if len(goals) == 1 and isinstance(goals[0].column, str):  # a column that may be the objective is no sure parameter
        likely = [] if marked(left) else other_objectives(goals[0].column, columns)
        unsure = [name for name in settings if name in likely and roles[name].doubt is None and not roles[name].proven]
        another = Clue("result", SLIGHT, "its name is that of a result, and it may be another objective")
        roles |= {name: replace(roles[name], doubt=another) for name in unsure}
    roles |= {name: replace(roles[name], doubt=Clue("result", WEAK, why)) for name, why in doubts.items()}
    return columns, roles | dict.fromkeys(twins, Role("result", "has exactly the same numbers as the objective"))


def _roles_beside(
    names: Sequence[str], goals: Sequence[Goal], table: Sequence[str], evidence: ColumnEvidence
) -> tuple[Mapping[str, Column], dict[str, Role]]:
    """The roles of columns are those that the question for the objective shows, whichever result is the answer to it.

    So they are guessed beside the likeliest objective of the table, unless the given one looks like a parameter.
    """
    columns, roles = roles_of(names, evidence.columns, [goal.column or goal.name for goal in goals], table)
    own = goals[0].column if len(goals) == 1 and not marked(names) else None
    if own is None or not isinstance(evidence, TableColumns) or len(names) > MOST_COMPARED:
        return columns, roles
    if len(evidence.table[own]) > MOST_ROWS:
        return columns, roles
    clues = objective_clues(looked_at(evidence.table))
    likely = next(iter(likelier("objective", clues)), own)
    named = likely in clues and (
        direction_by_name(likely) is not None or any(clues[likely][f"role: {one}"] for one in ("result", "cost"))
    )
    if likely not in roles or (roles[likely].is_setting and not named):
        return columns, roles
    others = [name for name in table if name in (own, *names) and name != likely]
    beside = roles_of(others, evidence.columns, [likely], table)[1]
    if beside[own].is_setting:
        return columns, roles
    result = Role("result", "is likely to be the objective too")
    return columns, {name: beside.get(name, result if roles[name].is_setting else roles[name]) for name in names}


def spoken_for(table: Sequence[str], goals: Iterable[Goal], request: TableOptions) -> list[str]:
    """Columns that the source or an option already uses, such as trial states; they are not parameters."""
    if request.space is not None or request.params is not None:
        return []
    feasible = request.feasible
    names = [
        request.state_name,
        *(feasible if isinstance(feasible, list | tuple | set) else [feasible]),
        *(name for goal in goals for name in goal.made_of),
        *request.aside,
        *(request.blocks or ()),
    ]
    return [name for name in names if isinstance(name, str) and name in table]


def _given(
    table: Sequence[str], names: list[str], own: set[str], request: TableOptions, evidence: ColumnEvidence
) -> Choice:
    space = as_space(request.space or {})
    unused = [name for name in table if name not in names and name not in own]
    all_used = request.params is None and request.exclude is None
    words = f"columns that are not in the space are left out: {listed(unused)}"
    notes = [Note("unused", words)] if unused and all_used else []
    space = Space({name: space[name] for name in names})
    if isinstance(evidence, TableColumns):
        notes += [note for name, one in space.items() if (note := _on_scale(one, evidence.table[name])) is not None]
    if request.conditions:
        return Choice(space, tuple(notes))
    space, more = _with_conditions(space, evidence.columns(names), evidence)
    return Choice(space, (*notes, *more))


def _on_scale(parameter: Parameter, column: Column) -> Note | None:
    """A warning if half of the values lie at the low end of a linear range, and a log scale fits them better."""
    if not isinstance(parameter, Float | Int) or parameter.log:
        return None
    if column.is_coded or column.values.dtype.kind not in "iuf":
        return None
    finite = column.values[:: max(1, len(column.values) // SOME_ROWS)]
    finite = finite[np.isfinite(finite)]
    corner = parameter.low + CORNER * (parameter.high - parameter.low)
    middle = [(len(finite) - 1) // 2, len(finite) // 2]  # `np.median` has a slow import
    if not len(finite) or (np.partition(finite, middle)[middle] / 2).sum() > corner:
        return None
    low, high = finite.min().item(), finite.max().item()
    if not _log_scale(finite, low, high)[0]:
        return None
    least = parameter.low if parameter.low > 0 else low
    better = f"{type(parameter).__name__}({least:.4g}, {parameter.high:g}, log=True)"
    words = (
        f"half of its values lie in the lowest {percent(CORNER)} of the declared range, so a log scale fits better "
        f"than a linear scale; declare it as {better}"
    )
    return Note("doubt", words, subject=column.name)


def _guessed(
    table: Sequence[str], names: list[str], goals: Sequence[Goal], request: TableOptions, evidence: ColumnEvidence
) -> Choice:
    """Guess the domains of the parameters that the user names, or of all columns that look like parameters."""
    if request.params is not None:
        columns = evidence.columns(names)
        space, notes = infer_space(columns, threads=request.threads)
        space, conditions = _with_conditions(space, columns, evidence)
        return Choice(space, (*notes, *conditions))
    known = names
    if request.exclude:  # these show what the other columns are
        own = {*spoken_for(table, goals, request), *(goal.column for goal in goals)}
        known = [name for name in table if name in names or name in {*request.exclude} - own]
    columns, roles = guessed_roles(known, goals, table, evidence)
    roles = {name: role for name, role in roles.items() if name in names}
    step = step_of_one_run(columns, roles)
    if step is not None:
        ends = columns[step].values[~columns[step].absent()][[0, -1]].tolist()
        words = f"the rows are the curve of one run ({step} {ends[0]:g} to {ends[1]:g}), but an analysis compares "
        remedy = "several runs; give a table with one row for each run, or the folder of all runs; if the rows are "
        raise DataError(words, remedy, "trials, pass ", Arg("exclude", step))
    space, notes = infer_space({n: columns[n] for n, role in roles.items() if role.is_setting}, threads=request.threads)
    varied = _check_evidence(space, columns, roles, sure=request.yes)
    space = Space({name: space[name] for name in varied})
    space, conditions = _with_conditions(space, columns, evidence)
    return Choice(space, (*notes_on(roles, ", ".join(goal.name for goal in goals)), *notes, *conditions))


def _check_evidence(space: Space, columns: Mapping[str, Column], roles: Mapping[str, Role], *, sure: bool) -> list[str]:
    """The parameters that vary. Raise an error if none does, or if there are clues that each of them is none."""
    varied = []
    for name, one in space.items():
        match one:
            case Categorical((_,)) | Ordinal((_,)) if not columns[name].absent().any():
                continue
        varied.append(name)
    if space and not varied:
        words = f"no parameter varies: {listed(list(space), most=6)} always had one value; "
        raise DataError(words, "give trials with different values, or name other columns in ", Arg("params"))
    if varied and not sure and all((clue := roles[name].doubt) is not None and clue.weight > WEAK for name in varied):
        why = f"{varied[0]}: {roles[varied[0]].in_words()}"
        words = f"no column is clearly a parameter ({why}); name the columns that were set before each trial in "
        raise DataError(words, Arg("params"))
    return varied


def step_of_one_run(columns: Mapping[str, Column], roles: Mapping[str, Role]) -> str | None:
    """The name of the step column if the rows are the learning curve of a single run; None for a table of trials."""
    for name in (name for name in roles if name in columns and STEP_NAMES.match(name)):
        steps = Values.of(columns[name])
        if steps.kind != "numbers" or len(steps.present) < LEAST_ROWS or not steps.rises:
            continue
        if 2 * len(np.unique(steps.present)) < len(steps.present):
            continue
        settings = [Values.of(columns[other]) for other, role in roles.items() if role.is_setting and other != name]
        epochs = steps.counts_rows and words_of(name)[-1] == "epoch"  # trials are not numbered by epoch
        if epochs or all(one.is_smooth for one in settings if len(one.texts) != 1):
            return name
    return None


def _with_conditions(space: Space, columns: Mapping[str, Column], evidence: ColumnEvidence) -> tuple[Space, list[Note]]:
    children = [name for name in space if not space[name].when and columns[name].absent().any()]
    if not children:
        return space, []
    parents = [name for name in space if may_decide(columns[name], space[name])]
    return with_conditions(space, evidence.presence(children, parents), children)


def _no_parameter(table: Sequence[str], own: set[str], notes: Sequence[Note]) -> tuple[Word, ...]:
    if set(table) <= own:
        beside = "".join(f" {name!r}" for name in sorted(own))
        return (f"the table has no column besides the objective{beside}; add the hyperparameters",)
    if not notes:
        left = f" leave no parameter; keep at least one of {len(table)} columns"
        return (Arg("space"), " and ", Arg("exclude"), left)
    notes = [note for note in notes if note.kind != "roles"]
    words = [word for note in notes[:3] for word in ("; ", f"{note.subject}: ", *note.words)][1:]
    more = f"; and {len(notes) - 3} more" * (len(notes) > 3)
    return ("no column can serve as a parameter (", *words, f"{more}); name the parameters in ", Arg("params"))


def _choose(table: Sequence[str], own: set[str], request: TableOptions, spoken: list[str]) -> list[str]:
    """The names of the columns that may be parameters, in the order of the space or of the table."""
    params, exclude = request.params or (), request.exclude or ()
    if request.params is not None and not params:
        raise QueryError(Arg("params", request.params), " contains no column; to use all columns, do not pass it")
    space = None if request.space is None else as_space(request.space)
    for name in [*params, *exclude, *(space or ())]:
        if name not in table:
            raise DataError(unknown_name(name, tuple(table), what="column"))
    both = own & set(params)
    if both:
        raise QueryError(Arg("params"), f" contains the objective {min(both)!r}; an objective cannot be a parameter")
    start = list(space) if space is not None else [name for name in table if name not in own]
    if space is not None and own & set(start):
        raise SpaceError(f"the space contains the objective {min(own & set(start))!r}; remove it from the space")
    strangers = [name for name in params if name not in start]
    if strangers:
        raise SpaceError(Arg("params"), f" contains {listed(strangers)}, which the space lacks; add it to the space")
    wanted = set(params or start) - {*exclude, *spoken}
    return [name for name in start if name in wanted]
