"""Rows of a world as the peers of `benchmarks/league.py` want them: drawn, suggested, counted, as a study of Optuna."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from shared import optuna_study

# isort: split
import numpy as np
from numpy.typing import NDArray

import pedanova as pa

Reals: TypeAlias = NDArray[np.float64]
Codes: TypeAlias = NDArray[np.int64]
Generator: TypeAlias = np.random.Generator
Columns: TypeAlias = dict[str, Any]
Space: TypeAlias = dict[str, Any]
Question: TypeAlias = tuple[float, float]  # the best part, in the best part

CELLS = 100  # of a range, where the truth is counted


@dataclass(frozen=True, eq=False)
class Sample:
    """What the peers see."""

    space: Space
    columns: Columns
    objective: Reals
    numbered: bool = False  # rows are trials in their order


# --- drawing ---------------------------------------------------------------------------------------


def drawn_evenly(space: Space, rows: int, rng: Generator) -> Columns:
    columns: Columns = {}
    for name, parameter in space.items():
        values = one_column(parameter, rows, rng)
        exists = np.ones(rows, dtype=bool)
        for parent, wanted in parameter.when:
            exists &= np.isin(columns[parent], wanted)
        absent = None if isinstance(parameter, pa.Categorical) else np.nan
        columns[name] = values if exists.all() else np.where(exists, values, absent)
    return columns


def one_column(parameter: Any, rows: int, rng: Generator) -> Any:
    if isinstance(parameter, pa.Categorical):
        return rng.choice(np.array(parameter.choices, dtype=object), rows)
    if isinstance(parameter, pa.Ordinal):
        return rng.choice(np.array(parameter.values), rows)
    if parameter.log:
        values = np.exp(rng.uniform(np.log(parameter.low), np.log(parameter.high), rows))
        return np.round(values).astype(int) if isinstance(parameter, pa.Int) else values
    if isinstance(parameter, pa.Int):
        return rng.integers(parameter.low, parameter.high + 1, rows)
    return rng.uniform(parameter.low, parameter.high, rows)


def suggested(trial: Any, space: Space) -> dict[str, Any]:
    """The values of the parameters that exist in an Optuna trial; an ordinal is suggested by its place."""
    setting: dict[str, Any] = {}
    for name, parameter in space.items():
        if not all(setting.get(parent) in wanted for parent, wanted in parameter.when):
            continue
        if isinstance(parameter, pa.Categorical):
            setting[name] = trial.suggest_categorical(name, list(parameter.choices))
        elif isinstance(parameter, pa.Ordinal):
            setting[name] = parameter.values[trial.suggest_int(name, 0, len(parameter.values) - 1)]
        elif isinstance(parameter, pa.Int):
            setting[name] = trial.suggest_int(name, parameter.low, parameter.high, log=parameter.log)
        else:
            setting[name] = trial.suggest_float(name, parameter.low, parameter.high, log=parameter.log)
    return setting


# --- counting --------------------------------------------------------------------------------------


def kept_truth(world: Any, folder: Path) -> list[Reals]:
    """The truth of a world, from its file if it was counted before."""
    path = folder / f"{world.name}.json"
    if not path.exists():
        path.write_text(json.dumps([shares.tolist() for shares in world.truth()]))
    return [np.array(shares) for shares in json.loads(path.read_text())]


def cells_of(parameter: Any, values: Any, most: int) -> Codes:
    """The cell of every value: one a value, or so many of as many rows each; -1 where the parameter does not exist."""
    values = np.asarray(values)
    if isinstance(parameter, pa.Categorical):
        return np.select([values == level for level in parameter.choices], list(range(len(parameter.choices))), -1)
    values = values.astype(np.float64)
    exists = ~np.isnan(values)
    ends = np.unique(values[exists])
    if len(ends) > most:
        ends = np.unique(np.quantile(values[exists], np.arange(1, most) / most))
    return np.where(exists, np.searchsorted(ends, values, side="right"), -1)


def best(objective: Reals, part: float) -> float:
    """The objective that ends the best part of the rows."""
    rank = int(np.ceil(round(part * len(objective), 9)))
    return float(np.partition(objective, rank - 1)[rank - 1])


def shares_of(codes: Sequence[Codes], objective: Reals, question: Question, *, less_chance: bool) -> Reals:
    target, region = (objective <= best(objective, part) for part in question)
    return np.array([share(column[region], target[region], less_chance=less_chance) for column in codes])


def share(codes: Codes, inside: NDArray[np.bool_], *, less_chance: bool) -> float:
    """The part of the variance of `inside` that the cells explain, of the rows in which the parameter exists."""
    exists = codes >= 0
    if not exists.any():
        return 0.0
    counts = np.bincount(codes[exists])
    good = np.bincount(codes[exists], weights=inside[exists])[counts > 0]
    counts = counts[counts > 0]
    spread = np.sum(counts * (good / counts - inside[exists].mean()) ** 2)
    raw = float(spread / (len(inside) * inside.mean() * (1.0 - inside.mean())))
    chance = (len(counts) - 1) / (len(inside) - 1) if less_chance else 0.0
    return max(0.0, (raw - chance) / (1.0 - chance))


# --- for other tools -------------------------------------------------------------------------------


def choices_of(parameter: Any) -> tuple[Any, ...]:
    return parameter.choices if isinstance(parameter, pa.Categorical) else parameter.values  # type: ignore[no-any-return]


def plain(sample: Sample) -> dict[str, list[Any]]:
    """Columns of Python's own values, None where a parameter does not exist."""
    columns = {}
    for name, parameter in sample.space.items():
        values = np.asarray(sample.columns[name]).tolist()
        whole = isinstance(parameter, pa.Int)
        columns[name] = [None if one is None or one != one else int(one) if whole else one for one in values]
    return columns


def study_of(sample: Sample, form: str) -> Any:
    """The sample as an Optuna user might have it: a lattice as a range, as codes, or as categories."""
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    columns, kinds = plain(sample), {}
    for name, parameter in sample.space.items():
        if isinstance(parameter, pa.Ordinal) and form == "codes":
            columns[name] = [parameter.values.index(value) for value in columns[name]]
            kinds[name] = IntDistribution(0, len(parameter.values) - 1)
        elif isinstance(parameter, pa.Ordinal) and form == "ranges":
            whole = all(isinstance(value, int) for value in parameter.values)
            kind = IntDistribution if whole else FloatDistribution
            kinds[name] = kind(min(parameter.values), max(parameter.values), log=is_geometric(parameter.values))
        elif isinstance(parameter, pa.Categorical | pa.Ordinal):
            kinds[name] = CategoricalDistribution(choices_of(parameter))
        else:
            kind = IntDistribution if isinstance(parameter, pa.Int) else FloatDistribution
            kinds[name] = kind(parameter.low, parameter.high, log=parameter.log)
    return optuna_study(columns, kinds, sample.objective.tolist())


def is_geometric(values: Sequence[Any]) -> bool:
    """Whether ratios of neighbours are more alike than differences."""
    if min(values) <= 0:
        return False
    gaps, ratios = np.diff(values), np.diff(np.log(values))
    return bool(np.std(ratios) / np.mean(ratios) < np.std(gaps) / np.mean(gaps))
