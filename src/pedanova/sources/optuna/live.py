"""A live `optuna.Study`, read without importing Optuna, and the table that `study.trials_dataframe()` gives.

The table is recognised by the names of its columns alone, so that it is the same table whole and in parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from pedanova.base.progress import watched
from pedanova.data.records import Point, Records
from pedanova.errors import Arg, DataError
from pedanova.sources.optuna.study_log import (
    Setting,
    StudyLog,
    as_plain,
    as_records,
    constraints_in,
    is_plain,
    seconds_between,
)
from pedanova.sources.reader import KnownTable
from pedanova.sources.spaces.distributions import read_distribution

SETTINGS = ("params_", "params.")  # the second where the names were pairs
VALUES = ("values_", "values.")


def is_study(data: object) -> bool:
    return any(base.__module__.startswith("optuna.") and base.__name__ == "Study" for base in type(data).__mro__)


def read_study(study: Any, name: str | None = None) -> Records:
    """All trials of a study, as `analyze` takes them."""
    if name is not None and name != study.study_name:
        raise DataError(Arg("study", name), f" is not the study that was given, {study.study_name!r}; leave it out")
    return as_records(log_of(study, study.get_trials(deepcopy=False)))


def log_of(study: Any, trials: Any) -> StudyLog:
    directions = tuple(direction.name.lower() for direction in study.directions)
    if any(direction not in ("minimize", "maximize") for direction in directions):
        directions = ("minimize",) * len(directions)
    values = np.full((len(trials), len(directions)), np.nan)
    settings: dict[str, Setting] = {}
    known: dict[object, int] = {}  # what marks a distribution → its place
    for row, trial in enumerate(watched(trials, "trials", len(trials))):
        if trial.values is not None and len(trial.values) == len(directions):
            values[row] = trial.values
        for key, distribution in trial.distributions.items():
            setting = settings.setdefault(key, Setting())
            setting.add(
                row, distribution.to_internal_repr(trial.params[key]), _place(key, distribution, setting, known)
            )
    attributes = {key for trial in trials for key, value in trial.user_attrs.items() if is_plain(as_plain(value))}
    return StudyLog(
        name=study.study_name,
        directions=directions,
        states=[trial.state.name for trial in trials],
        values=values,
        settings=settings,
        metrics=getattr(study, "metric_names", None) or (),
        constraints=constraints_of(trials),
        attributes={key: [_plain(trial.user_attrs.get(key)) for trial in trials] for key in sorted(attributes)},
        reports={row: _last(trial) for row, trial in enumerate(trials) if trial.intermediate_values},
        points=partial(_points, trials),
        seconds=seconds_between(
            [trial.datetime_start for trial in trials], [trial.datetime_complete for trial in trials]
        ),
    )


def _place(key: str, distribution: Any, setting: Setting, known: dict[object, int]) -> int:
    """The place of a distribution; every trial may hold a copy of its own, and parsing each takes long."""
    choices = getattr(distribution, "choices", None)
    mark: object = (key, id(choices)) if choices is not None else (key, type(distribution), *bounds_of(distribution))
    place = known.get(mark)
    if place is None:
        plain = read_distribution(distribution, f"parameter {key!r}")
        if plain not in setting.distributions:
            setting.distributions.append(plain)
        place = known[mark] = setting.distributions.index(plain)
    return place


def bounds_of(distribution: Any) -> tuple[object, ...]:
    names = ("low", "high", "log", "step", "q")
    return tuple([getattr(distribution, name, None) for name in names])


def constraints_of(trials: Any) -> list[dict[str, float]]:
    """By name, in the old form (a list) and the new one (a key for each)."""
    rows = [constraints_in(trial.system_attrs) for trial in trials]
    return rows if any(rows) else []


def _points(trials: Any) -> Iterator[Point]:
    for row, trial in enumerate(trials):
        yield from ((row, step, float(value)) for step, value in trial.intermediate_values.items())


def _last(trial: Any) -> tuple[int, float]:
    step = max(trial.intermediate_values)
    return step, trial.intermediate_values[step]


def _plain(value: object) -> object:
    plain = as_plain(value)
    return plain if is_plain(plain) else None


TABLE = KnownTable(
    "Optuna trials_dataframe",
    "columns value, state and params_…, in any file or frame",
    "pedanova analyze trials.csv --direction max",
    "Optuna's trials table",
    SETTINGS,
    fits=lambda names, results: bool(results) and ("number" in names or "state" in names),
    is_result=lambda name: name == "value" or name.startswith(VALUES),
    several=True,
    state="state",
)
