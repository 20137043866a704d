"""The options of `analyze` for rows and columns; the metadata of the source fills in options that are not given."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.base.notes import Note
from pedanova.data.blocks import check_metrics, guess_blocks, rows_of_split
from pedanova.data.column import Column, as_numbers, take
from pedanova.data.column_values import is_word
from pedanova.data.conditions import as_reals
from pedanova.data.objectives import (
    as_scores,
    check_direction,
    guess_directions,
    known_directions,
    likely_objectives,
    part_of,
    seeds_of,
    shown_direction,
)
from pedanova.data.options import Reading, RowOptions
from pedanova.data.records import Records, SourceMetadata, mark_columns
from pedanova.data.regions import LEAST_TARGET, Direction, RowSet, as_rows, columns_in, rows_where
from pedanova.data.roles import status_column
from pedanova.data.row_status import (
    GuessedState,
    column_with,
    direction_by_rows,
    failed_by_flag,
    last_of_runs,
    states_of,
    unknown_states,
    without_copies,
)
from pedanova.data.understanding import ObjectiveGuess, guess_objective
from pedanova.data.vocabulary import is_setting_name
from pedanova.errors import Arg, DataError, QueryError, SpaceError, listed
from pedanova.space.grid import grid_of
from pedanova.space.parameters import Categorical, Ordinal, Parameter, Space, Switch


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOptions(RowOptions):
    """The options of `analyze` after they were checked and converted, with what the source adds to them."""

    objective: object
    direction: Any = None
    space: Space | Mapping[str, Parameter] | None = None
    conditions: bool = True  # whether the space has the conditions of parameters
    params: Sequence[str] | None = None
    exclude: Sequence[str] | None = None
    aside: tuple[str, ...] = ()  # columns that are not parameters, according to the source
    blocks: Sequence[str] | None = None
    reading: Reading = field(default_factory=Reading)
    threads: int = 1
    notes: tuple[Note, ...] = ()  # notes on the given space
    guess: ObjectiveGuess | None = None  # of the objective

    @property
    def state(self) -> object:
        return self.reading.state

    @property
    def state_name(self) -> str | None:
        """The name of the column of trial states, if it is a column of the table."""
        return (
            self.state.name if isinstance(self.state, Column) else self.state if isinstance(self.state, str) else None
        )

    @property
    def inside(self) -> bool:
        """Whether a value outside the space is an error."""
        return self.reading.outside == "error" and self.space is not None

    @property
    def is_plain(self) -> bool:
        """Whether no option drops, averages or reorders rows, so that the columns can be counted as they are."""
        options = (self.where, self.feasible, self.state)
        # Levels have one policy for NaN; if other rows may count as the worst, it is applied earlier.
        same_policy = self.reading.ending == self.reading.nan
        whole = all(option is None for option in options) and not self.blocks
        return same_policy and whole and self.repeats in (None, "all")


def complete(records: Records, request: TableOptions, *, ask: bool = True) -> tuple[Records, TableOptions]:
    """Add the source's metadata and defaults to the user's options; raise an error if no objective is known."""
    settings = records.metadata.params
    if not records.metadata.source:
        _refuse_long_table(records.columns, request)
    records, request = _with_objective(records, request, ask)
    records, request = _readable(records, request)
    records, request = _plain_table(_with_numbers(records, request), request)
    records, request = _narrowed(records, request)
    # The space of a source may have parameters without any value in these rows; they are left out.
    idle = [name for name in records.metadata.space or () if records.columns[name].absent().all()]
    records = _without(records, idle, [Note("unused", f"parameters without any value are left out: {listed(idle)}")])
    records = _without_unusable(records, request)
    metadata = records.metadata
    request, meant = _meant(records, request)
    objective = request.objective if request.objective is not None else _objective_of(metadata, ask)
    own_space = request.space is not None
    notes = [*_metadata_notes(metadata, request), *meant, *records.notes]
    direction = request.direction
    if direction is None:
        by_rows = _by_rows(records, request)
        if ask and request.objective is None and isinstance(objective, str) and not request.yes:
            check_direction(objective, metadata, shown_direction(objective, records.columns, metadata, by_rows))
        direction, guesses = guess_directions(objective, records.columns, metadata, by_rows)
        notes += guesses if objective is not None else []
    space = metadata.space  # without a parameter that the user chose as the objective
    goals = objective if isinstance(objective, list | tuple) else [objective]
    if space is not None and any(isinstance(name, str) and name in space for name in goals):
        space = Space({name: space[name] for name in space if name not in goals})
    records = replace(records, notes=tuple(notes))
    return records, replace(
        request,
        objective=objective,
        direction=direction,
        space=request.space if own_space else space,
        conditions=own_space or metadata.space is None or metadata.conditions,
        params=request.params if own_space or request.params is not None else _params_of(records, request, settings),
        exclude=request.exclude if own_space or request.params is not None or not metadata.params else None,
        aside=(*metadata.aside, *mark_columns(records.columns)),
        feasible=request.feasible if request.feasible is not None else metadata.feasible,
        reading=request.reading if request.state is not None else replace(request.reading, state=metadata.state),
        repeats=request.repeats or metadata.repeats,
    )


def _with_objective(records: Records, request: TableOptions, ask: bool) -> tuple[Records, TableOptions]:
    """Add a guessed objective to the options, if neither the user nor the source names one.

    Without `ask`, only the name of a column can make it the objective, and an objective is not needed.
    """
    own = request.objective is not None or records.metadata.metrics or records.metadata.objectives
    set_by_user = {*(request.params or ()), *(request.exclude or ()), *(request.space or ())}
    left = {name: column for name, column in records.columns.items() if name not in set_by_user}
    if own:
        return records, request
    described, yes = request.params is not None or request.space is not None, request.yes
    directed, by_rows = request.direction is not None, _by_rows(records, request)
    guess = guess_objective(left, sure=yes or not ask, directed=directed, described=described, by_rows=by_rows)
    if not ask and (guess is None or guess.name not in likely_objectives(left)):
        return records, request
    if guess is None and records.rows < LEAST_TARGET:
        few = f"the table has {records.rows} rows, and at least {LEAST_TARGET} trials are needed to say anything"
        raise DataError(f"{few}; give a table with more trials")
    if guess is None:
        raise QueryError(Arg("objective"), f" is missing; name one of the columns: {listed(list(left), most=40)}")
    return replace(records, notes=(*records.notes, guess.note)), replace(request, objective=guess.name, guess=guess)


def _readable(records: Records, request: TableOptions) -> tuple[Records, TableOptions]:
    """Select the rows of a condition first, if the objective has numbers of one form only in these rows."""
    texts = {name: records.columns[name] for name in objectives_of(request) if name in records.columns}
    mixed = [name for name, one in texts.items() if one.labels and as_scores(one, request.reading.decimal) is None]
    chosen = (
        as_rows(request.where, "where", records.columns, records.rows) if mixed and request.where is not None else None
    )
    if not isinstance(chosen, RowSet):
        return records, request
    rows = np.flatnonzero(chosen.mask)
    parts = {name: part_of(records.columns[name], rows) for name in mixed}
    records, request = select_rows(records, request, rows)
    return replace(records, columns={**records.columns, **parts}), request


def _with_numbers(records: Records, request: TableOptions) -> Records:
    """Convert text columns that contain numbers, unless they are categories in the space."""
    space = request.space or records.metadata.space or {}
    columns, notes, decimal = dict(records.columns), list[Note](), request.reading.decimal
    for name, column in records.columns.items():
        if name in objectives_of(request):
            scores = as_scores(column, decimal)
            columns[name], more = scores or (column, [])
            notes += more
        elif name in records.metadata.params and "None" in (column.labels or ()):
            continue  # a tool's parameter with the value None
        elif not isinstance(space.get(name), Categorical | Ordinal | Switch):
            numbers = as_numbers(column, decimal=decimal)
            columns[name] = column if numbers is None else numbers[0]
            notes += [] if numbers is None else [numbers[1]]
    return replace(records, columns=columns, notes=(*records.notes, *notes))


def objectives_of(request: TableOptions) -> list[str]:
    """The objectives that the user gave as text (column names or conditions)."""
    named = request.objective if isinstance(request.objective, list | tuple) else [request.objective]
    return [name for name in named if isinstance(name, str)]


def _plain_table(records: Records, request: TableOptions) -> tuple[Records, TableOptions]:
    """Prepare a table that has no metadata: average seeds, remove copies of rows, find the column of trial states."""
    if records.metadata.source:
        return records, request
    columns, notes = dict(records.columns), list(records.notes)
    for name in objectives_of(request):
        wide = [] if name in columns else seeds_of(name, columns)
        if wide:
            numbers = np.array([as_reals(columns[one]) for one in wide])
            counts = np.count_nonzero(~np.isnan(numbers), axis=0)
            means = np.where(counts, np.nansum(numbers, axis=0) / np.maximum(counts, 1), np.nan)
            columns[name] = Column(name, means)
            notes.append(Note("rows", f"{name} is the mean of {listed(wide)}"))
    records = replace(records, columns=columns, notes=tuple(notes))
    for fewer in (without_copies, *([last_of_runs] if request.where is None else [])):
        unspoken = () if fewer is without_copies else request.exclude or ()
        chosen = fewer({n: one for n, one in records.columns.items() if n not in unspoken}, request.objective)
        if chosen is not None:
            records, request = select_rows(records, request, chosen[0])
            records = replace(records, notes=(*records.notes, chosen[1]))
    taken = {*(request.params or ()), *(request.exclude or ()), *(request.space or ()), *objectives_of(request)}
    records, request = _one_split(records, request, taken)
    conditions = [text for text in objectives_of(request) if text not in records.columns]
    in_conditions = [name for text in conditions for name in columns_in(text, records.columns)]
    settled = (*(request.params or ()), *(request.exclude or ()), *in_conditions)
    left = {name: column for name, column in records.columns.items() if name not in settled}
    state: object = request.state
    if state is None and request.reading.failed_states:
        state = column_with(request.reading.failed_states, left)
    elif state is None:
        named = status_column(left, objectives_of(request))
        if named is None:
            state = failed_by_flag(left, request.objective)
        else:
            state = GuessedState(named)
            records = replace(records, notes=(*records.notes, *unknown_states(left[named])))
    if request.blocks is None and request.space is None and request.objective is not None:
        request = replace(request, blocks=guess_blocks(records.columns, {*taken, *in_conditions}))
        if request.where is None:
            check_metrics(records.columns, request.blocks or ())
    return records, replace(request, reading=replace(request.reading, state=state))


def _one_split(records: Records, request: TableOptions, taken: set[str]) -> tuple[Records, TableOptions]:
    """Use the rows of one split of the data, if validation and test rows of a run are in the table."""
    free = request.where is None and request.params is None
    part = rows_of_split(records.columns, taken) if free else None
    if part is None:
        return records, request
    records, request = select_rows(records, request, part[1])
    request = replace(request, exclude=[*(request.exclude or ()), part[0]])
    return replace(records, notes=(*records.notes, part[2])), request


LONG_NAMES = re.compile(r"((hyper)?_?param(eter)?|sweep|swept|variable|factor|knob)(_?(name|type))?", re.IGNORECASE)
FEW_LABELS = 5  # rows for each label of a text column that is a parameter beside a long table's
LONG_VALUES = re.compile(r"(.*_)?value", re.IGNORECASE)


def _refuse_long_table(columns: Mapping[str, Column], request: TableOptions) -> None:
    """Raise an error if the rows are not trials, but each row has the name and the value of one parameter."""
    if request.params is not None or request.space is not None or request.where is not None:
        return
    for name, value in pairwise(columns):
        labels = columns[name].labels
        if labels is None or len(labels) < 2:
            continue
        named = LONG_NAMES.fullmatch(name) and LONG_VALUES.fullmatch(value)
        mixed = {is_word(label) for label in columns[value].labels or ()} == {True, False}  # 0.1, then adam
        if not named and not (mixed and all(is_setting_name(str(label)) for label in labels)):
            continue
        words = f"each row contains one parameter: its name is in {name} and its value in {value}; "
        pivot = f"df.pivot_table(index=…, columns={name!r}, values={value!r}, aggfunc='first')"
        where = f"\"{name} == '{labels[0]}'\""
        texts = {other: one.labels or () for other, one in columns.items() if other not in (name, value)}
        params = [*(other for other, own in texts.items() if 1 < len(own) <= len(columns[name]) / FEW_LABELS), value]
        said = f"params={params!r}", f"--params {shlex.quote(','.join(params))}"
        options = Arg("where", shown=where), " with ", Arg("params", said=said)
        raise DataError(words, f"make one row for each trial ({pivot}), or analyze one parameter: ", *options)


def _by_rows(records: Records, request: TableOptions) -> Callable[[str], tuple[Direction, str] | None]:
    """A function that guesses the direction of an objective from the rows, if its name does not show the direction."""

    def ask(name: str) -> tuple[Direction, str] | None:
        column = records.columns[name]
        if column.labels is not None or column.is_time:
            return None
        state, failed = records.metadata.state if request.state is None else request.state, None
        if isinstance(state, str) and state in records.columns:
            failed = states_of(state, records.columns, records.rows, request.reading.failed_states) == "failed"
        return direction_by_rows(as_reals(column), records.columns, failed)

    return ask


def _metadata_notes(metadata: SourceMetadata, request: TableOptions) -> list[Note]:
    if not metadata.source:
        return []
    taken = []
    if metadata.params and request.params is None and request.space is None:
        ranges = " with their ranges" if metadata.space is not None else ""
        taken.append(f"{len(metadata.params)} parameters{ranges}")
    if metadata.objectives and request.objective is None:
        ways = known_directions(metadata) if request.direction is None else {}
        taken.append("objective " + ", ".join(f"{ways.get(n, '')} {n}".strip() for n in metadata.objectives))
    return [Note("source", f"read from {metadata.source}: {'; '.join(taken)}")] if taken else []


def _meant(records: Records, request: TableOptions) -> tuple[TableOptions, list[Note]]:
    """If a parameter and a result have the same name, use the result as the objective, and add a note."""
    objective = request.objective
    names = list(objective) if isinstance(objective, list | tuple) else [objective]
    known = {*records.metadata.objectives, *records.metadata.metrics}
    results = {}
    for name in objectives_of(request):
        candidate = name  # underscores are appended to a result whose name is taken
        while candidate in records.columns and candidate not in known:
            candidate += "_"
        results[name] = candidate if candidate in known else name
    notes = [
        Note("source", f"{name} is both a parameter and a result; the result ({result}) is used as the objective")
        for name, result in results.items()
        if result != name
    ]
    if not notes:
        return request, []
    meant = [results[name] if isinstance(name, str) else name for name in names]
    return replace(request, objective=meant if isinstance(objective, list | tuple) else meant[0]), notes


def _objective_of(metadata: SourceMetadata, ask: bool) -> object:
    if metadata.objectives:
        return metadata.objectives[0] if len(metadata.objectives) == 1 else list(metadata.objectives)
    if metadata.metrics and ask:
        raise QueryError(
            Arg("objective"),
            f" is missing, and {metadata.source or 'the source'} does not name an objective; choose one of: ",
            f"{listed(list(metadata.metrics), most=40)}",
        )
    return None


def _params_of(records: Records, request: TableOptions, settings: tuple[str, ...]) -> list[str] | None:
    """The parameters given by the source, without excluded columns and objectives; None if the source gives none."""
    metadata = records.metadata
    if not metadata.params:
        return None
    exclude = request.exclude or ()
    goals: set[str] = set()  # objectives, or the columns of a condition that is the objective
    for name in objectives_of(request):
        goals |= {name} if name in records.columns else set(columns_in(name, records.columns))
    for name in exclude:
        if name not in settings and (name not in records.columns or name in metadata.objectives):
            words = f" contains {name!r}, which is not a parameter; choose from: {listed(list(settings), most=40)}"
            raise QueryError(Arg("exclude"), words)
    left = [name for name in metadata.params if name not in exclude and name not in goals]
    if not left:
        raise QueryError(
            Arg("exclude"), f" removes all parameters ({listed(list(metadata.params))}); keep at least one"
        )
    return left


def _without_unusable(records: Records, request: TableOptions) -> Records:
    """Remove parameters that cannot be divided into cells, such as those with thousands of choices."""
    if request.space is not None or request.params is not None:
        return records
    reasons: dict[str, Note] = {}
    for name, parameter in (records.metadata.space or {}).items():
        try:
            grid_of(parameter)
        except SpaceError as error:
            reasons[name] = Note("unused", *error.words, "; left out", subject=name)
    return _without(records, list(reasons), list(reasons.values()))


def _without(records: Records, names: list[str], notes: list[Note]) -> Records:
    """Remove some parameters from the source's space, unless no parameter would be left."""
    metadata = records.metadata
    params = tuple(name for name in metadata.params if name not in names)
    if not names or metadata.space is None or not params:
        return records
    space = Space({name: metadata.space[name] for name in metadata.space if name not in names})
    return replace(records, notes=(*records.notes, *notes), metadata=replace(metadata, space=space, params=params))


def _narrowed(records: Records, request: TableOptions) -> tuple[Records, TableOptions]:
    """Select the rows that the source considers comparable, unless the user's condition uses the same columns."""
    rule = records.metadata.where
    where = request.where
    chosen_by = {str(name) for name in where} if isinstance(where, Mapping) else set[str]()
    if isinstance(where, str) and where not in records.columns:
        chosen_by = set(columns_in(where, records.columns))
    if rule is None or chosen_by.intersection(columns_in(rule, records.columns)):
        return records, request
    mask = rows_where(rule, records.columns)
    rows, count = np.flatnonzero(mask), len(mask)
    if len(rows) == count:
        return records, request
    words = f"only rows with {rule} are used ({len(rows):,} of {count:,}); pass "
    note = Note("rows", words, Arg("where", shown='"…"'), " to choose other rows")
    fewer, request = select_rows(records, request, rows)
    return replace(fewer, notes=(*records.notes, note)), request


def select_rows(records: Records, request: TableOptions, rows: NDArray[np.int64]) -> tuple[Records, TableOptions]:
    """Select rows of a table, and the same rows of options that have one value per row."""
    count = records.rows
    return replace(records, columns=take(records.columns, rows), curves=None), replace(
        request,
        objective=_at(request.objective, rows, count),
        where=_at(request.where, rows, count),
        feasible=_at(request.feasible, rows, count),
        reading=replace(request.reading, state=_at(request.state, rows, count, words=True)),
    )


def _at(option: Any, rows: NDArray[np.int64], count: int, *, words: bool = False) -> Any:
    """Select rows of an option with one value per row; a list of strings stays unchanged unless `words` is True."""
    if isinstance(option, Column):
        return take({option.name: option}, rows)[option.name] if len(option) == count else option
    if isinstance(option, str | Mapping) or not hasattr(option, "__len__"):
        return option
    if getattr(option, "ndim", 1) == 0 or len(option) != count:
        return option
    if not words and all(isinstance(value, str) for value in option):
        return option
    return np.asarray(option)[rows]


@dataclass(frozen=True, slots=True, eq=False)
class Origin:
    """The table before rows were dropped or averaged, with all budgets, pruned trials and repeated runs."""

    records: Records
    request: TableOptions
