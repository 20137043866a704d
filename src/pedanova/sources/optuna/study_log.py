"""An Optuna study from any storage as columns; each kind of storage fills in a `StudyLog`.

This module also reads a live `optuna.Study`, without importing Optuna, and the table of `study.trials_dataframe()`. The
table is recognised by its column names only, so that it can also be read in parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from pedanova.base.notes import Note
from pedanova.base.progress import watched
from pedanova.data.column import Column, as_column
from pedanova.data.conditions import ranges_of
from pedanova.data.records import CurveSource, Point, Records, SourceMetadata, free_name
from pedanova.data.regions import Direction
from pedanova.errors import Arg, DataError, NoTrialsError, listed
from pedanova.sources.reader import KnownTable, choose
from pedanova.sources.spaces.read import NEAR, Distribution, read_distribution
from pedanova.space.parameters import Categorical, Moving, Parameter, Space, Switch

SETTINGS = ("params_", "params.")  # the second one if the column names were pairs
VALUES = ("values_", "values.")
STATES = ("RUNNING", "COMPLETE", "PRUNED", "FAIL", "WAITING")  # by Optuna's numbers
FEW_RANGES = 5  # up to this many ranges are edits by the user; more are a moving range
MOST_REGIMES = 8
OF_ITS_OWN = "; rows with different ranges are counted separately"

Reals = NDArray[np.float64]
Rows = NDArray[np.int64]
Moments = NDArray[np.datetime64]  # (trials,) NaT if a time is not known
Key = TypeVar("Key")


@dataclass(slots=True)
class Setting:
    """The values of one parameter in all trials, in Optuna's internal form: a category is its index in the choices."""

    rows: Any = field(default_factory=list)  # row numbers, as a list or an array
    values: Any = field(default_factory=list)
    which: Any = field(default_factory=list)  # the index of each value's distribution
    distributions: list[Distribution] = field(default_factory=list)

    def place(self, distribution: object, name: str) -> int:
        """The index of a distribution in `distributions`; a new distribution is added to the list."""
        plain = read_distribution(distribution, f"parameter {name!r}")
        if plain not in self.distributions:
            self.distributions.append(plain)
        return self.distributions.index(plain)


@dataclass(slots=True, kw_only=True)
class LoggedTrial:
    """One trial from a study in memory or from a journal."""

    state: str = "RUNNING"
    params: dict[str, tuple[float, Any]] = field(default_factory=dict)  # Optuna's number and the distribution
    values: Sequence[float] | None = None
    reports: dict[int, float] = field(default_factory=dict)
    user: dict[str, object] = field(default_factory=dict)
    system: dict[str, object] = field(default_factory=dict)
    begin: object = None
    end: object = None


@dataclass(slots=True)
class StudyLog:
    """Everything that a storage contains about one study; rows are trials in the order of their numbers."""

    name: str
    directions: Sequence[Direction]
    states: Sequence[str]
    values: Reals  # (trials, objectives)
    settings: Mapping[str, Setting]
    begin: Moments  # when each trial started
    end: Moments
    metrics: Sequence[str] = ()  # names of the objectives, if the user gave some
    constraints: Sequence[Mapping[str, float]] = ()  # for each trial; empty for a study without constraints
    attributes: Mapping[str, Sequence[object]] = field(default_factory=dict)  # user attributes by name
    reports: Mapping[int, tuple[int, float]] = field(default_factory=dict)  # row → last step and its value
    points: Callable[[], Iterable[Point]] | None = None  # all reports, read only when needed
    notes: Sequence[Note] = ()


@dataclass(slots=True)
class Sheet:
    rows: int
    columns: dict[str, Column] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)

    def add(self, name: str, values: object) -> str:
        name = free_name(name, self.columns)
        self.columns[name] = as_column(name, values)
        return name


def is_study(data: object) -> bool:
    return any(base.__module__.startswith("optuna.") and base.__name__ == "Study" for base in type(data).__mro__)


def read_study(study: Any, name: str | None = None) -> Records:
    if name is not None and name != study.study_name:
        raise DataError(Arg("study", name), f" is not the name of the given study, {study.study_name!r}; leave it out")
    return as_records(log_of_study(study, study.get_trials(deepcopy=False)))


def log_of_study(study: Any, trials: Iterable[Any]) -> StudyLog:
    directions = tuple(direction.name.lower() for direction in study.directions)
    if any(direction not in ("minimize", "maximize") for direction in directions):
        directions = ("minimize",) * len(directions)
    logged = [
        LoggedTrial(
            state=trial.state.name,
            params={key: (law.to_internal_repr(trial.params[key]), law) for key, law in trial.distributions.items()},
            values=trial.values,
            reports=trial.intermediate_values,
            user=trial.user_attrs,
            system=trial.system_attrs,
            begin=trial.datetime_start,
            end=trial.datetime_complete,
        )
        for trial in trials
    ]
    return log_of_trials(study.study_name, directions, logged, getattr(study, "metric_names", None) or ())


def log_of_trials(
    name: str,
    directions: Sequence[Direction],
    trials: Sequence[LoggedTrial],
    metrics: Sequence[str] = (),
    notes: Sequence[Note] = (),
) -> StudyLog:
    values = np.full((len(trials), len(directions)), np.nan)
    settings: dict[str, Setting] = {}
    places: dict[object, int] = {}  # key of a distribution → its index
    for row, trial in enumerate(watched(trials, "trials", len(trials))):
        if trial.values is not None and len(trial.values) == len(directions):
            values[row] = trial.values
        for key, (value, distribution) in trial.params.items():
            setting, mark = settings.setdefault(key, Setting()), (key, mark_of(distribution))
            if mark not in places:
                places[mark] = setting.place(distribution, key)
            setting.rows.append(row)
            setting.values.append(value)
            setting.which.append(places[mark])
    noted = [{key: as_plain(value) for key, value in trial.user.items()} for trial in trials]
    keys = sorted({key for row in noted for key, value in row.items() if is_plain(value)})
    constraints = [constraints_in(trial.system) for trial in trials]
    return StudyLog(
        name=name,
        directions=directions,
        states=[trial.state for trial in trials],
        values=values,
        settings=settings,
        metrics=metrics,
        constraints=constraints if any(constraints) else [],
        attributes={key: [row.get(key) if is_plain(row.get(key)) else None for row in noted] for key in keys},
        reports={row: max(trial.reports.items()) for row, trial in enumerate(trials) if trial.reports},
        points=partial(_points, trials),
        begin=as_moments([trial.begin for trial in trials]),
        end=as_moments([trial.end for trial in trials]),
        notes=notes,
    )


def mark_of(distribution: Any) -> object:
    """A hashable key for a distribution: its JSON text, or its kind and bounds."""
    if isinstance(distribution, str):
        return distribution
    choices = getattr(distribution, "choices", None)
    bounds = (getattr(distribution, name, None) for name in ("low", "high", "log", "step", "q"))
    return id(choices) if choices is not None else (type(distribution), *bounds)


def _points(trials: Sequence[LoggedTrial]) -> Iterator[Point]:
    for row, trial in enumerate(trials):
        yield from ((row, step, float(value)) for step, value in trial.reports.items())


def as_moments(times: Sequence[object]) -> Moments:
    try:
        return np.array([_without_zone(str(time or "NaT")) for time in times], dtype="datetime64[us]")
    except ValueError:  # a format that Optuna does not write
        return np.full(len(times), np.datetime64("NaT", "us"))


def _without_zone(time: str) -> str:
    """The time converted to UTC, without a time zone, because NumPy's times have none."""
    if not set("+-Z") & set(time[10:]):
        return time
    return datetime.fromisoformat(time).astimezone(UTC).replace(tzinfo=None).isoformat()


def as_records(log: StudyLog) -> Records:
    """The study as records: parameters under their own names, other columns named as in Optuna's data frames."""
    source = f"Optuna study {log.name!r}"
    if not len(log.states) or (not log.settings and {"RUNNING", "WAITING"}.issuperset(log.states)):
        raise NoTrialsError(f"{source} has no trials yet")
    if not log.settings:
        raise DataError(f"{source} has {len(log.states):,} trials, but none has a parameter")
    # Storages have different orders of parameters, but the same study must give the same table.
    ordered = sorted(log.settings, key=lambda name: (int(np.min(log.settings[name].rows)), name))
    log = replace(log, settings={name: log.settings[name] for name in ordered})
    sheet = Sheet(len(log.states), notes=list(log.notes))
    sheet.columns.update({name: coded_or_plain(name, setting, sheet.rows) for name, setting in log.settings.items()})
    space = {name: parameter_of(name, setting, log, sheet) for name, setting in log.settings.items()}
    goals = add_objectives(log, sheet)
    words, codes = np.unique(log.states, return_inverse=True)
    state = sheet.add("state", Column("state", codes.astype(np.int32), tuple(words.tolist())))
    sheet.add("number", np.arange(sheet.rows))
    feasible = add_constraints(log, sheet)
    if not np.isnat(log.begin).all():
        sheet.add("datetime_start", log.begin)
    seconds = (log.end - log.begin) / np.timedelta64(1, "s")  # NaN if a time is not known
    if not np.isnan(seconds).all():
        sheet.add("duration", seconds)
    for key, values in log.attributes.items():
        sheet.add(f"user_attrs_{key}", values)
    metadata = SourceMetadata(
        source=source,
        params=tuple(space),
        space=Space(space),
        objectives=goals,
        directions=tuple(log.directions),
        metrics=goals,
        state=state,
        feasible=feasible,
        ordered=True,
    )
    curves = None  # reports are values of a single objective; Optuna has none for several
    if log.points is not None and log.reports and len(goals) == 1:
        curves = CurveSource(partial(_reported, log.points, goals[0]))
    return Records(sheet.columns, tuple(sheet.notes), metadata, curves)


def _reported(points: Callable[[], Iterable[Point]], goal: str, metric: str) -> Iterable[Point]:
    return points() if metric == goal else ()


def add_objectives(log: StudyLog, sheet: Sheet) -> tuple[str, ...]:
    """Add one column for each objective; a pruned trial without a value gets its last report."""
    values, count = log.values, len(log.directions)
    if log.reports:
        steps, last = np.full(sheet.rows, np.nan), np.full(sheet.rows, np.nan)
        rows = np.fromiter(log.reports, dtype=np.int64, count=len(log.reports))
        steps[rows], last[rows] = np.array(list(log.reports.values()), dtype=np.float64).T
        pruned = np.array([state == "PRUNED" for state in log.states])
        if count == 1:
            gone = pruned & np.isnan(values[:, 0])
            values = np.where(gone[:, None], last[:, None], values)
        sheet.add("last_step", steps)
    names = log.metrics if len(log.metrics) == count else ()
    names = names or (["value"] if count == 1 else [f"values_{i}" for i in range(count)])
    return tuple(sheet.add(name, values[:, i]) for i, name in enumerate(names))


def add_constraints(log: StudyLog, sheet: Sheet) -> str | None:
    """Add a column for each constraint and one for feasibility; a trial without constraints is feasible."""
    keys = list(dict.fromkeys(key for row in log.constraints for key in row))
    if not keys:
        return None
    for key in keys:
        sheet.add(f"constraint_{key}", [row.get(key) for row in log.constraints])
    return sheet.add("feasible", np.array([all(value <= 0 for value in row.values()) for row in log.constraints]))


def coded_or_plain(name: str, setting: Setting, rows: int) -> Column:
    where, which = np.array(setting.rows, dtype=np.int64), np.array(setting.which, dtype=np.int64)
    values = np.array(setting.values, dtype=np.float64)
    kinds = {distribution.kind for distribution in setting.distributions}
    if "categorical" in kinds:
        return _coded(name, setting, rows) if kinds == {"categorical"} else _mixed(name, setting, rows)
    for i, distribution in enumerate(setting.distributions):
        if distribution.steps:  # corrects rounding errors of values on a lattice
            values[which == i] = _snapped(values[which == i], distribution)
    full = np.full(rows, np.nan)
    full[where] = values
    whole = kinds == {"int"} and len(where) == rows
    return Column(name, full.astype(np.int64) if whole else full)


def _snapped(values: Reals, distribution: Distribution) -> Reals:
    """Round values that are very close to a point of the lattice; other values, which users enqueued, are unchanged."""
    points, step = np.array(distribution.lattice), distribution.step or 1.0
    places = np.clip(np.rint((values - distribution.low) / step), 0, len(points) - 1).astype(np.int64)
    near = np.maximum(NEAR * step, 4 * np.spacing(np.abs(points[places])))
    return np.where(np.abs(values - points[places]) <= near, points[places], values)


def _coded(name: str, setting: Setting, rows: int) -> Column:
    labels = tuple(dict.fromkeys(label for d in setting.distributions for label in d.choices))
    place = {label: i for i, label in enumerate(labels)}
    tables = [np.array([place[label] for label in d.choices]) for d in setting.distributions]
    codes = np.full(rows, -1, dtype=np.int32)
    for i, table in enumerate(tables):
        mine = np.array(setting.which) == i
        inside = np.array(setting.values, dtype=np.float64)[mine]
        if len(inside) and not (inside.min() >= 0 and inside.max() < len(table)):
            words = f"a trial has choice number {inside.max():g}, but only {len(table)} choices exist"
            raise DataError(f"{name}: {words}; the storage is damaged")
        codes[np.array(setting.rows, dtype=np.int64)[mine]] = table[inside.astype(np.int64)]
    return Column(name, codes, labels)


def _mixed(name: str, setting: Setting, rows: int) -> Column:
    """A column for a parameter that is a number in some trials and a category in others; all become categories."""
    values: list[object] = [None] * rows
    for row, value, which in zip(setting.rows, setting.values, setting.which, strict=True):
        choices = setting.distributions[which].choices
        number = int(value) if float(value).is_integer() else float(value)
        values[row] = str(choices[int(value)] if choices else number)
    return as_column(name, values)


def parameter_of(name: str, setting: Setting, log: StudyLog, sheet: Sheet) -> Parameter:
    """The domain of a parameter in all trials; different domains become a `Switch`, a `Moving` range or their union."""
    kinds = {(d.kind, d.log) for d in setting.distributions}
    if len(setting.distributions) == 1:
        return setting.distributions[0].domain
    column = sheet.columns[name]
    if column.labels is not None:
        words = f"its choices changed between trials; all {len(column.labels)} choices are used"
        sheet.notes.append(Note("source", words, subject=name))
        return Categorical(column.labels)
    if len(kinds) == 1:
        switch = _switch(name, setting, log, sheet)
        if switch is not None:
            return switch
    if len(setting.distributions) > FEW_RANGES:
        return _moving(name, setting, sheet)
    low, high = min(d.low for d in setting.distributions), max(d.high for d in setting.distributions)
    ranges = listed([f"{d.low:g} to {d.high:g}" for d in setting.distributions])
    words = f"its range changed between trials ({ranges}); the range {low:g} to {high:g} is used"
    sheet.notes.append(Note("source", words, subject=name))
    whole = all(d.kind == "int" for d in setting.distributions)
    log_scale = all(d.log for d in setting.distributions)
    return Distribution("int" if whole else "float", low, high, None, log_scale).domain


def _switch(name: str, setting: Setting, log: StudyLog, sheet: Sheet) -> Switch | None:
    """A domain that depends on the value of another parameter; None if no other parameter explains the domains."""
    rows, which = np.array(setting.rows, dtype=np.int64), np.array(setting.which, dtype=np.int64)
    if len(setting.distributions) > MOST_REGIMES:
        return None
    for parent in log.settings:
        labels = sheet.columns[parent].labels
        if parent == name or labels is None or not 1 < len(labels) <= MOST_REGIMES:
            continue
        codes = sheet.columns[parent].values[rows]
        pairs = {(int(code), int(one)) for code, one in zip(codes, which, strict=True)}
        if min(codes) < 0 or len(pairs) > len({code for code, _ in pairs}):
            continue
        domains = {labels[code]: setting.distributions[one].domain for code, one in sorted(pairs)}
        sheet.notes.append(Note("source", f"its range depends on {parent}{OF_ITS_OWN}", subject=name))
        return Switch(parent, tuple(domains.items()))
    for parent in log.settings:
        column = sheet.columns[parent]
        if parent == name or column.labels is not None or column.values.dtype.kind not in "iuf":
            continue
        ranges = ranges_of(column.values[rows].astype(np.float64), which)
        if ranges is not None:
            sheet.notes.append(Note("source", f"its range depends on {parent}{OF_ITS_OWN}", subject=name))
            return Switch(parent, tuple((interval, setting.distributions[one].domain) for one, interval in ranges))
    return None


def _moving(name: str, setting: Setting, sheet: Sheet) -> Parameter:
    """A range whose bounds differ by trial; the bounds are added as columns."""
    rows, which = np.array(setting.rows, dtype=np.int64), np.array(setting.which, dtype=np.int64)
    ends = []
    for end in ("low", "high"):
        bounds = np.full(sheet.rows, np.nan)
        bounds[rows] = np.array([getattr(d, end) for d in setting.distributions])[which]
        ends.append(sheet.add(f"{name} {end}", bounds))
    return Moving(ends[0], ends[1], all(d.log for d in setting.distributions))


def constraints_in(attributes: Mapping[str, Any]) -> dict[str, float]:
    """The constraints in a trial's system attributes: a list in the old format, one key per constraint in the new."""
    given = attributes.get("constraints")
    listed_ = given.tolist() if isinstance(given, np.ndarray) else given
    constraints = {str(i): value for i, value in enumerate(listed_ if isinstance(listed_, Sequence) else ())}
    for key, value in attributes.items():
        if key.startswith("constraints:"):
            constraints[key.partition(":")[2]] = value
    plain = {key: as_plain(value) for key, value in constraints.items()}
    return {key: float(value) for key, value in plain.items() if isinstance(value, int | float)}


def as_plain(value: Any) -> Any:
    """Convert NumPy scalars, and tensors with one number, to Python numbers."""
    return value.item() if getattr(value, "ndim", None) == 0 and hasattr(value, "item") else value


def is_plain(value: object) -> bool:
    """Whether a value can be an attribute column: a number, text, a boolean or None."""
    return value is None or isinstance(value, str | int | float | bool)


def pick_study(studies: Mapping[str, tuple[Key, int]], wanted: str | None, shown: object) -> Key:
    """The key of the study with the name `wanted`, or of the only study; `studies` maps names to (key, trial count)."""
    return choose(studies, wanted, shown, "study", "studies", "{0} ({1[1]:,} trials)")[0]


TABLE = KnownTable("Optuna trials_dataframe", "columns value, state and params_…, in any file or data frame",
    "pedanova analyze trials.csv --direction max", "Optuna's trials table", SETTINGS,
    fits=lambda names, results: bool(results) and ("number" in names or "state" in names),
    is_result=lambda name: name == "value" or name.startswith(VALUES), several=True, state="state")  # fmt: skip
