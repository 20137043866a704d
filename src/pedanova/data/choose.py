"""Which columns of a table are parameters, and what their space is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from pedanova.base.notes import Note
from pedanova.data.column import Column, Mask, take
from pedanova.data.guess import infer_space, is_named_like_states, is_result, note_on_states
from pedanova.data.objectives import Goal
from pedanova.data.presence import Presence, gaps_in, may_decide, with_conditions
from pedanova.data.request import Request
from pedanova.errors import Arg, DataError, QueryError, SpaceError, listed, unknown_name
from pedanova.space.grid import grid_of
from pedanova.space.parameters import Space, as_space

MARKS = (
    "params_", "params.", "config.", "config/", "config:", "hparams.", "hparams/", "misc.vals.",
)  # before a setting's name  # fmt: skip


class ColumnEvidence(Protocol):
    """What a space is guessed from: columns that stand for all rows that count."""

    def columns(self, names: Sequence[str]) -> Mapping[str, Column]: ...
    def presence(self, children: Sequence[str], parents: Sequence[str]) -> Presence: ...
    def notes(self) -> list[Note]: ...


@dataclass(frozen=True, slots=True, eq=False)
class HeldColumns:
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


def choose_space(table: Sequence[str], goals: Sequence[Goal], request: Request, evidence: ColumnEvidence) -> Choice:
    """Tell the parameters from the other columns of a table, and find or check their space."""
    own = {goal.column for goal in goals if goal.column is not None}
    names = _choose(table, own, request, spoken_for(table, goals, request))
    if request.space is not None:
        choice = _given(table, names, own, request, evidence)
    elif request.params is not None:
        choice = _guessed(evidence.columns(names), evidence, request.threads, asked=frozenset(names))
    else:
        choice = _likely(names, goals, evidence, request.threads)
    if not choice.space:
        raise DataError(*_no_parameter(table, own, choice.notes if request.space is None else ()))
    _check_grids(choice.space)
    return replace(choice, notes=(*choice.notes, *(note for note in evidence.notes() if note.subject in choice.space)))


def spoken_for(table: Sequence[str], goals: Iterable[Goal], request: Request) -> list[str]:
    """Columns that tell states or feasibility, or that an objective compares, are no parameters."""
    if request.space is not None or request.params is not None:
        return []
    feasible = request.feasible
    given = [
        request.state,
        *(feasible if isinstance(feasible, list | tuple | set) else [feasible]),
        *(name for goal in goals for name in goal.made_of),
        *request.aside,
    ]
    return [name for name in given if isinstance(name, str) and name in table]


def _given(table: Sequence[str], names: list[str], own: set[str], request: Request, evidence: ColumnEvidence) -> Choice:
    space = as_space(request.space or {})
    unused = [name for name in table if name not in names and name not in own]
    all_used = request.params is None and request.exclude is None
    notes = [Note("unused", f"not in the space and left out: {listed(unused)}")] if unused and all_used else []
    space = Space({name: space[name] for name in names})
    if request.conditions:
        return Choice(space, tuple(notes))
    space, more = _with_conditions(space, evidence.columns(names), evidence)
    return Choice(space, (*notes, *more))


def _guessed(
    columns: Mapping[str, Column], evidence: ColumnEvidence, threads: int, *, asked: frozenset[str] = frozenset()
) -> Choice:
    space, notes = infer_space(columns, asked=asked, threads=threads)
    space, conditions = _with_conditions(space, columns, evidence)
    return Choice(space, (*notes, *conditions))


def _with_conditions(space: Space, columns: Mapping[str, Column], evidence: ColumnEvidence) -> tuple[Space, list[Note]]:
    children = gaps_in(space, columns)
    if not children:
        return space, []
    parents = [name for name in space if may_decide(columns[name], space[name])]
    return with_conditions(space, evidence.presence(children, parents), children)


def _likely(names: list[str], goals: Sequence[Goal], evidence: ColumnEvidence, threads: int) -> Choice:
    """The columns that are settings by their looks, and notes on those that are not."""
    twins = [goal.twin for goal in goals if goal.twin in names]
    words = "holds the very numbers of the objective; left out"
    notes = [Note("unused", words, subject=name) for name in twins]
    rest = [name for name in names if name not in twins]
    settings = marked(rest)
    others = [name for name in rest if name not in settings] if settings else []
    if not settings:
        return _without_results(evidence.columns(rest), evidence, notes, threads)
    if not others:
        choice = _guessed(evidence.columns(rest), evidence, threads)
        return Choice(choice.space, (*choice.notes, *notes))
    states = [name for name in others if is_named_like_states(name)]
    columns = evidence.columns([*settings, *states])
    choice = _guessed({name: columns[name] for name in settings}, evidence, threads)
    mark = f"names such as {settings[0]!r} mark the parameters; left out: {listed(others)}"
    account = [note.about(name) for name in states if (note := note_on_states(columns[name]))]
    return Choice(choice.space, (*choice.notes, *notes, Note("unused", mark), *account))


def _without_results(
    columns: Mapping[str, Column], evidence: ColumnEvidence, notes: Sequence[Note], threads: int
) -> Choice:
    """A space of the columns that are no outcomes of a trial by their names."""
    space, guesses = infer_space(columns, threads=threads)
    results = [name for name in space if is_result(name, space[name])]
    settings = Space({name: space[name] for name in space if name not in results})
    settings, conditions = _with_conditions(settings, columns, evidence)
    guesses = [note for note in guesses if note.subject not in results]
    words = f"named like results, not settings, and left out: {listed(results, most=40)}; name in "
    left = [Note("unused", words, Arg("params"), " what is a setting")] if results else []
    return Choice(settings, (*guesses, *conditions, *notes, *left))


def marked(names: Sequence[str]) -> list[str]:
    """Columns whose names say that they are settings, as trackers write them."""
    for prefix in MARKS:
        settings = [name for name in names if name.startswith(prefix)]
        if len(settings) > 1:
            return settings
    return []


def _check_grids(space: Space) -> None:
    """A domain that cannot be cut into cells is refused by the name of its parameter."""
    for name, parameter in space.items():
        try:
            grid_of(parameter)
        except SpaceError as error:
            raise error.behind(f"{name}: ") from None


def _no_parameter(table: Sequence[str], own: set[str], notes: Sequence[Note]) -> tuple[str | Arg, ...]:
    if set(table) <= own:
        beside = "".join(f" {name!r}" for name in sorted(own))
        return (f"the table has no column beside the objective{beside}; add the hyperparameters",)
    if not notes:
        left = f" leave none of {len(table)} columns; keep one at least"
        return (Arg("space"), " and ", Arg("exclude"), left)
    most = "; ".join(notes[:3]) + (f"; and {len(notes) - 3} more" if len(notes) > 3 else "")
    return (f"no column can serve as a parameter ({most}); name some in ", Arg("params"))


def _choose(table: Sequence[str], own: set[str], request: Request, spoken: list[str]) -> list[str]:
    """The names of the columns to use, in the order of the space or the table."""
    params, exclude = as_names(request.params, "params"), as_names(request.exclude, "exclude")
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


def as_names(names: object, argument: str) -> list[str]:
    if names is None:
        return []
    if isinstance(names, str):
        return [names]
    if not isinstance(names, Iterable):
        raise QueryError(Arg(argument, names), " must be a list of column names")
    given = list(names)
    for name in given:
        if not isinstance(name, str):
            raise QueryError(Arg(argument), f" holds {name!r}; column names are text, such as {str(name)!r}")
    return given
