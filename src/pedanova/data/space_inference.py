"""Which columns of a table are parameters, and their domains guessed from the data, with a note on every guess."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pedanova.base.notes import Note
from pedanova.base.threads import spread
from pedanova.data.column import PLAIN, Column, Mask, all_finite, in_form, is_gap, read_plain, take
from pedanova.data.conditions import Presence, may_decide, with_conditions
from pedanova.data.objectives import Goal, is_named_like_a_result
from pedanova.data.row_status import STATES, state_word
from pedanova.data.table_options import TableOptions
from pedanova.errors import Arg, DataError, QueryError, SpaceError, Word, listed, unknown_name
from pedanova.space.grid import MAX_CELLS, grid_of
from pedanova.space.parameters import Categorical, Float, Int, Ordinal, Parameter, Space, Switch, as_space
from pedanova.space.values import LARGEST_INT, Label

ID_NAMES = re.compile(
    r"^(unnamed: ?\d+|index|idx|id|uuid|number|row|.*_(id|uuid|idx|index)"
    r"|(trial|run|config|job)(_?(id|number|no|name))?)$",
    re.IGNORECASE,
)
SEED_NAMES = re.compile(
    r"^((.*[_./ ])?(seed|random_state|rng_state)([_./ ]?\d+)?|(cv|outer|inner)?_?fold(_?(id|idx|index|no|number))?"
    r"|rep|repeat|repetition|replicate|replication)$",
    re.IGNORECASE,
)
TIME_NAMES = re.compile(r"(date|time_?stamp|_at$|^time$|datetime|_time$)", re.IGNORECASE)
TIME_TEXT = re.compile(
    r"^(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}(\D|$)"
    r"|\d{8}[_-]\d{6}$|\d{1,3}:\d{2}(:\d{2}(\.\d+)?)?$|\d+ days? )"
)
LONG_TEXT = 60  # letters, on average
EPOCHS = [(9e8 * scale, 4.1e9 * scale) for scale in (1, 1e3, 1e6, 1e9)]  # 1998 to 2099, s to ns
NAME_IT = ("; left out, name it in ", Arg("params"), " to keep it")
MOST_WORDS = 3  # beside numbers; more make a column of names
FEW_NUMBERS = 12  # so few are names like the words beside them
MOST_STEPS = 200  # of a lattice
MANY_ROWS = 10_000  # of a column, worth several threads
FIRST_ROWS = 100  # which mostly suffice to see that something does not hold of all
FEW_LOGS = 10_000  # which mostly suffice to tell a scale
CLEARLY = 0.06  # nats a row, many times what so few can be off
A_LOOK = 2_000  # numbers that show more steps than that, unless they lie on a lattice
LOG_SPAN = 10.0  # a log scale is only considered where high / low reaches this
LOG_GAIN = 0.1  # nats a row by which log-uniform must fit better than uniform


@dataclass(frozen=True, slots=True)
class Guess:
    """A parameter and why; or None and why the column was left out."""

    parameter: Parameter | None
    note: Note


def infer_space(
    columns: Mapping[str, Column], *, named: frozenset[str] = frozenset(), threads: int = 1
) -> tuple[Space, list[Note]]:
    """A space for columns of which nothing is known, and the assumptions; what the user `named` is no id or time."""
    rows = max((len(column.values) for column in columns.values()), default=0)
    results = spread(
        lambda name: guess(columns[name], keep=name in named), columns, threads=threads if rows >= MANY_ROWS else 1
    )
    guesses = dict(zip(columns, results, strict=True))
    space = Space({name: g.parameter for name, g in guesses.items() if g.parameter is not None})
    notes = [g.note.about(name) for name, g in guesses.items()]
    doubts = [_doubt(name, parameter) for name, parameter in space.items() if name not in named]
    doubts += [_spelled_twice(name, parameter) for name, parameter in space.items()]
    return space, [*filter(None, doubts), *notes]  # what may be wrong comes first


def _doubt(name: str, parameter: Parameter) -> Note | None:
    """A warning where the name of a column that was kept does not sound like a setting."""
    if isinstance(parameter, Ordinal) and len(parameter.values) > 2 and is_named_like_a_result(name):
        return Note("doubt", "named like a result, not a setting; exclude it if it is one", subject=name)
    if ID_NAMES.match(name):
        return Note("doubt", "named like an id, not a setting; exclude it if it is one", subject=name)
    return None


def _spelled_twice(name: str, parameter: Parameter) -> Note | None:
    """A warning where people wrote one category in several ways."""
    alike: dict[str, list[str]] = {}
    for label in parameter.choices if isinstance(parameter, Categorical) else ():
        if isinstance(label, str):
            alike.setdefault(label.strip().casefold(), []).append(repr(label))
    twice = next((labels for labels in alike.values() if len(labels) > 1), None)
    if twice is None:
        return None
    words = f"{' and '.join(twice[:3])} differ only in capitals or blanks, and count as different; write them alike"
    return Note("doubt", f"{words} if they are one", subject=name)


def unused(*words: Word) -> Guess:
    return Guess(None, Note("unused", *words))


def guessed(parameter: Parameter, words: str) -> Guess:
    return Guess(parameter, Note("space", words))


def constant(parameter: Parameter, value: object) -> Guess:
    return guessed(parameter, f"is constant ({value!r}): it can explain nothing")


def guess(column: Column, *, keep: bool = False) -> Guess:
    if column.is_time:
        return unused("holds dates or times; left out (turn it into a number to use it)")
    if SEED_NAMES.match(column.name) and not keep:
        return unused("names a seed, a fold or a repeat, which is no setting", *NAME_IT)
    whole_column = column.labels is None and column.missing is None and all_finite(column.values)
    present = column.values if whole_column else column.values[~column.absent()]
    if len(present) == 0:
        return unused("holds no value at all; left out")
    if column.labels is not None:
        return _guess_labels(column, present, keep=keep)
    if present.dtype.kind == "b":
        if present.all() or not present.any():
            return constant(Categorical((bool(present[0]),)), bool(present[0]))
        return guessed(Categorical((False, True)), "boolean, taken as two categories")
    return _guess_numbers(column, present, keep=keep)


def _guess_labels(column: Column, present: NDArray[Any], *, keep: bool) -> Guess:
    labels = column.labels or ()
    used = [labels[code] for code in np.unique(present)]
    text = [str(label) for label in used]
    if not keep and all(TIME_TEXT.match(label) for label in text[:100]):
        return unused(f"looks like a time stamp ({text[0]!r})", *NAME_IT)
    states = None if keep else note_on_states(column)
    if states:
        return Guess(None, states)
    mixed_numbers = _numbers_and_words(column, used, present)
    if mixed_numbers is not None:
        return mixed_numbers
    many = len(used) > 0.5 * len(present) and len(present) >= 10
    if not keep and many and (len(used) == len(present) or len(used) > 50):
        what = _kind_of_texts(text)
        like = " look like an id" if what == "texts" else ""
        return unused(f"{len(used)} different {what} in {len(present)} rows{like}", *NAME_IT)
    if len(used) > MAX_CELLS:
        return unused(f"{len(used)} categories are more than {MAX_CELLS}; left out, group the rare ones to use it")
    kinds = {type(label) for label in used}
    mixed = " of mixed types" if len(kinds - {int, float}) + bool(kinds & {int, float}) > 1 else ""
    if len(used) == 1:
        return constant(Categorical(tuple(used)), used[0])
    words = [label for label in used if is_gap(label)]
    gaps = f", {listed(words)} taken as one of them and not as a gap" if words else ""
    return guessed(Categorical(tuple(used)), f"{len(used)} categories{mixed}{gaps}")


def _kind_of_texts(texts: list[str]) -> str:
    """What so many different texts are, seen from the first hundred."""
    few = [text.strip() for text in texts[:100]]
    for start, end, what in (("{", "}", "dicts"), ("[", "]", "lists"), ("(", ")", "lists")):
        if all(text.startswith(start) and text.endswith(end) for text in few):
            return what
    return "long texts" if sum(map(len, few)) > LONG_TEXT * len(few) else "texts"


def is_named_like_states(name: str) -> bool:
    return re.search("stat(e|us)", name, re.IGNORECASE) is not None


def note_on_states(column: Column) -> Note | None:
    """What to do with a column that holds how trials ended; None for any other column."""
    words = [str(label) for label in column.labels or ()]
    if not is_named_like_states(column.name) or not words or not all(state_word(word) in STATES for word in words):
        return None
    words_on_states = f"holds the states of trials ({', '.join(words[:3])}); left out, pass it as "
    return Note("unused", words_on_states, Arg("state", of="Reading"), " to use them")


def _guess_numbers(column: Column, present: NDArray[Any], *, keep: bool) -> Guess:
    finite = present if all_finite(present) else present[np.isfinite(present)]
    if len(finite) == 0:
        return unused("holds no finite number; left out")
    reason = None if keep else _looks_like_a_label(column.name, column.values, finite)
    if reason:
        return unused(reason, *NAME_IT)
    special = special_number(finite)
    if special is not None:
        rest = finite[finite != special]
        whole = _are_whole(rest)
        beside = _beside([special], rest, f"{special} is taken as a special value beside the range", whole=whole)
        return beside or _guess_range(rest, whole=whole)
    distinct = _few_distinct(finite)
    whole = _are_whole(finite)
    if distinct is not None and len(distinct) == 1:
        value = _plain(distinct[0], whole=whole)
        return constant(Ordinal((value,)), value)
    # Whole numbers with no gap between them are an integer range, not a lattice.
    fills = whole and distinct is not None and float(distinct[-1]) - float(distinct[0]) == len(distinct) - 1
    if distinct is not None and not fills:
        values = tuple(_plain(value, whole=whole) for value in distinct)
        return guessed(Ordinal(values), f"only {len(values)} different numbers, taken as ordinal levels")
    return _guess_range(finite, whole=whole)


def _are_whole(finite: NDArray[Any]) -> bool:
    if finite.dtype.kind in "iu":
        return True
    return all(bool(np.all(some == np.floor(some))) for some in (finite[:FIRST_ROWS], finite))


def _looks_like_a_label(name: str, values: NDArray[Any], finite: NDArray[Any]) -> str | None:
    """Why a column of numbers is rather a row's name or time than a parameter."""
    if len(finite) < 10 or len(finite) < len(values):
        return None
    low, high = float(finite.min()), float(finite.max())
    whole = finite.dtype.kind in "iu"
    if whole and high - low == len(finite) - 1 and bool(np.all(np.diff(finite.astype(np.int64)) == 1)):
        return "counts the rows one by one and looks like an id"
    if whole and ID_NAMES.match(name) and len(np.unique(finite)) == len(finite):
        return "is different in every row and named like an id"
    in_epoch = any(first <= low and high <= last for first, last in EPOCHS)
    rises = all(bool(np.all(some[1:] >= some[:-1])) for some in (finite[:FIRST_ROWS], finite)) if in_epoch else False
    if in_epoch and high > low and (rises or TIME_NAMES.search(name)):
        return "looks like a time stamp"
    return None


def _few_distinct(finite: NDArray[Any]) -> NDArray[Any] | None:
    """The distinct numbers if they are few for so many rows: a lattice. Sampled first, to be quick."""
    if len(finite) > 10 * A_LOOK and len(np.unique(finite[:: len(finite) // A_LOOK])) > MOST_STEPS:
        return None
    distinct = np.unique(finite)
    rows, count = len(finite), len(distinct)
    if count == 1 or (count <= 12 and rows >= 2 * count) or (count <= 50 and rows >= 10 * count):
        return distinct
    if count > MOST_STEPS or rows < 10 * count:
        return None
    # Equal steps, on a linear or a log scale: what a lattice has and random draws do not.
    values = distinct.astype(np.float64)
    steps = [np.diff(scale) for scale in ([values, np.log(values)] if values[0] > 0 else [values])]
    return distinct if any(np.ptp(step) <= 0.01 * step.mean() for step in steps) else None


def special_number(finite: NDArray[Any]) -> int | None:
    """A number in no order with the others, in two rows at least: 0 beside a log scale, -1 where they begin above 0."""
    low = finite.min().item()
    if low not in (0, -1):
        return None
    rest = finite[finite != low]
    if len(finite) - len(rest) < 2 or len(rest) < 2 or _few_distinct(rest) is not None:
        return None
    least, most = rest.min().item(), rest.max().item()
    if low == -1:
        return int(low) if least > 0 else None
    return int(low) if _log_scale(rest, least, most)[0] else None


def _beside(specials: Sequence[Label], rest: NDArray[Any], words: str, *, whole: bool) -> Guess | None:
    """A range, and values of their own beside it; None where the rest makes no range."""
    inside = _guess_range(rest, whole=whole)
    if not isinstance(inside.parameter, Float | Int):
        return None
    domains = (*((str(value), Categorical((value,))) for value in specials), ("range", inside.parameter))
    return guessed(Switch("", domains), f"{words} ({''.join(map(str, inside.note.words))})")


def _numbers_and_words(column: Column, used: list[Any], present: NDArray[Any]) -> Guess | None:
    """A range with words beside it, such as auto; None for any other column of text."""
    words = [label for label in used if is_word(label)]
    if not 0 < len(words) <= MOST_WORDS or len(used) - len(words) <= FEW_NUMBERS:
        return None
    numbers = in_form(Column(column.name, present, column.labels), PLAIN)
    finite = numbers.values[~numbers.absent()]
    shown = listed([str(word) for word in words])
    rest = finite[np.isfinite(finite)]
    return _beside(words, rest, f"{shown} beside a range of numbers", whole=finite.dtype.kind == "i")


def is_word(label: object) -> bool:
    return isinstance(label, bool) or (isinstance(label, str) and read_plain(label.strip()) is None)


def _guess_range(finite: NDArray[Any], *, whole: bool) -> Guess:
    low, high = finite.min().item(), finite.max().item()
    log, why = _log_scale(finite, low, high)
    scale = f"log scale guessed {why}" if log else "linear scale"
    bounds = f"bounds {low:g} to {high:g} taken from the data"
    if whole and max(abs(low), abs(high)) <= LARGEST_INT:
        return guessed(Int(int(low), int(high), log=log), f"whole numbers, {bounds}, {scale}")
    if float(high) - float(low) <= 1e-12 * max(abs(low), abs(high)):
        return unused(f"all values within rounding of {low:g}; left out")
    try:
        parameter = Float(float(low), float(high), log=log)
        grid_of(parameter)
    except SpaceError:  # bounds near the largest or the smallest float
        return unused(f"{low:g} to {high:g} cannot be cut into {MAX_CELLS} cells; left out, rescale it to use it")
    return guessed(parameter, f"{bounds}, {scale}")


def _log_scale(finite: NDArray[Any], low: float, high: float) -> tuple[bool, str]:
    """Whether a log-uniform law fits the values clearly better than a uniform one."""
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
    return (True, f"(values span a factor of {high / low:.3g} and fit it better than a linear one)")


def _plain(value: Any, *, whole: bool) -> int | float:
    number = value.item()
    return int(number) if whole and abs(number) <= LARGEST_INT else float(number)


MARKS = (
    "params_", "params.", "config.", "config/", "config:", "hparams.", "hparams/", "misc.vals.",
)  # before a setting's name  # fmt: skip


class ColumnEvidence(Protocol):
    """What a space is guessed from: columns that stand for all rows that count."""

    def columns(self, names: Sequence[str]) -> Mapping[str, Column]: ...
    def presence(self, children: Sequence[str], parents: Sequence[str]) -> Presence: ...
    def notes(self) -> list[Note]: ...


@dataclass(frozen=True, slots=True, eq=False)
class TableColumns:
    """Columns in memory, the rows that count alone."""

    table: Mapping[str, Column]
    keep: Mask | None = None

    def columns(self, names: Sequence[str]) -> Mapping[str, Column]:
        columns = {name: self.table[name] for name in names}
        return columns if self.keep is None or self.keep.all() else take(columns, np.flatnonzero(self.keep))

    def presence(self, children: Sequence[str], parents: Sequence[str]) -> Presence:
        return Presence.of(self.columns([*dict.fromkeys([*children, *parents])]), children, parents)

    def notes(self) -> list[Note]:
        return []  # on columns read as numbers: whoever read them has said so


@dataclass(frozen=True, slots=True)
class Choice:
    """The parameters, and notes on those that were guessed or left out."""

    space: Space
    notes: tuple[Note, ...]


def choose_space(
    table: Sequence[str], goals: Sequence[Goal], request: TableOptions, evidence: ColumnEvidence
) -> Choice:
    """Tell the parameters from the other columns of a table, and find or check their space."""
    own = {goal.column for goal in goals if goal.column is not None}
    names = _choose(table, own, request, spoken_for(table, goals, request))
    if request.space is not None:
        choice = _given(table, names, own, request, evidence)
    else:
        choice = _guessed(names, goals, request, evidence)
    if not choice.space:
        raise DataError(*_no_parameter(table, own, choice.notes if request.space is None else ()))
    for name, parameter in choice.space.items():
        try:
            grid_of(parameter)
        except SpaceError as error:
            raise error.behind(f"{name}: ") from None
    return replace(choice, notes=(*choice.notes, *(note for note in evidence.notes() if note.subject in choice.space)))


def spoken_for(table: Sequence[str], goals: Iterable[Goal], request: TableOptions) -> list[str]:
    """Columns that tell states or feasibility, or that an objective compares, are no parameters."""
    if request.space is not None or request.params is not None:
        return []
    feasible = request.feasible
    names = [
        request.state,
        *(feasible if isinstance(feasible, list | tuple | set) else [feasible]),
        *(name for goal in goals for name in goal.made_of),
        *request.aside,
    ]
    return [name for name in names if isinstance(name, str) and name in table]


def _given(
    table: Sequence[str], names: list[str], own: set[str], request: TableOptions, evidence: ColumnEvidence
) -> Choice:
    space = as_space(request.space or {})
    unused = [name for name in table if name not in names and name not in own]
    all_used = request.params is None and request.exclude is None
    notes = [Note("unused", f"not in the space and left out: {listed(unused)}")] if unused and all_used else []
    space = Space({name: space[name] for name in names})
    if request.conditions:
        return Choice(space, tuple(notes))
    space, more = _with_conditions(space, evidence.columns(names), evidence)
    return Choice(space, (*notes, *more))


def _guessed(names: list[str], goals: Sequence[Goal], request: TableOptions, evidence: ColumnEvidence) -> Choice:
    """The columns that the user names, or those that are settings by their looks, and notes on those that are not."""
    named = frozenset(names if request.params is not None else ())
    twins = [goal.twin for goal in goals if goal.twin in names and not named]
    rest = [name for name in names if name not in twins]
    settings = [] if named else marked(rest)
    others = [name for name in rest if name not in settings] if settings else []
    states = [name for name in others if is_named_like_states(name)]
    columns = evidence.columns([*(settings or rest), *states])
    space, notes = infer_space({name: columns[name] for name in settings or rest}, named=named, threads=request.threads)
    # Outcomes of a trial by their names; a few different numbers may be a setting all the same.
    outcomes = [name for name in space if isinstance(space[name], Float | Int) and is_named_like_a_result(name)]
    results = [] if named or settings else outcomes
    space = Space({name: space[name] for name in space if name not in results})
    space, conditions = _with_conditions(space, columns, evidence)
    notes = [*(note for note in notes if note.subject not in results), *conditions]
    notes += [Note("unused", "holds the very numbers of the objective; left out", subject=name) for name in twins]
    if results:
        words = f"named like results, not settings, and left out: {listed(results, most=40)}; name in "
        notes.append(Note("unused", words, Arg("params"), " what is a setting"))
    if others:
        words = f"names such as {settings[0]!r} mark the parameters; left out: {listed(others)}"
        notes.append(Note("unused", words))
        notes += [note.about(name) for name in states if (note := note_on_states(columns[name]))]
    return Choice(space, tuple(notes))


def _with_conditions(space: Space, columns: Mapping[str, Column], evidence: ColumnEvidence) -> tuple[Space, list[Note]]:
    children = [name for name in space if not space[name].when and columns[name].absent().any()]
    if not children:
        return space, []
    parents = [name for name in space if may_decide(columns[name], space[name])]
    return with_conditions(space, evidence.presence(children, parents), children)


def marked(names: Sequence[str]) -> list[str]:
    for prefix in MARKS:
        settings = [name for name in names if name.startswith(prefix)]
        if len(settings) > 1:
            return settings
    return []


def _no_parameter(table: Sequence[str], own: set[str], notes: Sequence[Note]) -> tuple[str | Arg, ...]:
    if set(table) <= own:
        beside = "".join(f" {name!r}" for name in sorted(own))
        return (f"the table has no column beside the objective{beside}; add the hyperparameters",)
    if not notes:
        left = f" leave none of {len(table)} columns; keep one at least"
        return (Arg("space"), " and ", Arg("exclude"), left)
    most = "; ".join(notes[:3]) + (f"; and {len(notes) - 3} more" if len(notes) > 3 else "")
    return (f"no column can serve as a parameter ({most}); name some in ", Arg("params"))


def _choose(table: Sequence[str], own: set[str], request: TableOptions, spoken: list[str]) -> list[str]:
    """The names of the columns to use, in the order of the space or the table."""
    params, exclude = request.params or (), request.exclude or ()
    if request.params is not None and not params:
        raise QueryError(Arg("params", request.params), " names no column; leave it out to use all of them")
    space = None if request.space is None else as_space(request.space)
    for name in [*params, *exclude, *(space or ())]:
        if name not in table:
            raise DataError(unknown_name(name, tuple(table), what="column"))
    both = own & set(params)
    if both:
        raise QueryError(Arg("params"), f" names the objective {min(both)!r}; a column cannot be both")
    start = list(space) if space is not None else [name for name in table if name not in own]
    if space is not None and own & set(start):
        raise SpaceError(f"the space holds the objective {min(own & set(start))!r}; take it out")
    strangers = [name for name in params if name not in start]
    if strangers:
        raise SpaceError(Arg("params"), f" names {listed(strangers)}, not in the space; add it there")
    wanted = set(params or start) - {*exclude, *spoken}
    return [name for name in start if name in wanted]
