"""Rows of a world as the peers of `benchmarks/league.py` want them: drawn, suggested, counted, as a study of Optuna."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias
from zlib import crc32

from shared import by_tpe, optuna_study

# isort: split
import numpy as np
from numpy.typing import NDArray

import pedanova as pa

Reals: TypeAlias = NDArray[np.float64]
Codes: TypeAlias = NDArray[np.int64]
Generator: TypeAlias = np.random.Generator
Columns: TypeAlias = dict[str, Any]
Space: TypeAlias = dict[str, Any]
Function: TypeAlias = Callable[[Columns, Any], Any]
Draw: TypeAlias = Callable[[int, Generator], Columns]
Question: TypeAlias = tuple[float, float]  # the best part, in the best part

BEST_TENTH: Question = (0.1, 1.0)
CELLS, LARGE_DRAW = 200, 1_000_000  # of a range, and rows, where the truth is counted


@dataclass(frozen=True, eq=False)
class Sample:
    """What the peers see."""

    space: Space
    columns: Columns
    objective: Reals
    numbered: bool = False  # rows are trials in their order


@dataclass(frozen=True, eq=False)
class World:
    """A function of columns and of standard normal noise, lower is better."""

    name: str
    group: str
    space: Space
    function: Function
    idle: tuple[str, ...] = ()  # parameters without an effect
    draw: Draw | None = None  # None: evenly from the space
    questions: tuple[Question, ...] = (BEST_TENTH,)

    def rows(self, rows: int, rng: Generator) -> Sample:
        columns = self.draw(rows, rng) if self.draw else drawn_evenly(self.space, rows, rng)
        return Sample(self.space, columns, self.function(columns, rng.normal(size=rows)))

    def sample(self, sampler: str, rows: int, seed: int) -> Sample:
        rng = np.random.default_rng([seed, rows, crc32(self.name.encode())])  # no two worlds have the same columns
        if sampler == "uniform":
            return self.rows(rows, rng)
        settings: list[dict[str, Any]] = []

        def evaluate(trial: Any) -> float:
            settings.append(suggested(trial, self.space))
            return float(self.function(self.columns_of(settings[-1:]), rng.normal(size=1))[0])

        study = by_tpe(evaluate, rows, crc32(f"{self.name} {seed}".encode()))
        objective = np.array([trial.value for trial in study.trials])
        return Sample(self.space, self.columns_of(settings), objective, sampler == "tpe")

    def columns_of(self, settings: Sequence[dict[str, Any]]) -> Columns:
        """Of trials, None or NaN where the parameter did not exist."""
        types = {name: object if isinstance(self.space[name], pa.Categorical) else np.float64 for name in self.space}
        return {name: np.array([one.get(name) for one in settings], dtype=types[name]) for name in self.space}

    def truth(self) -> list[Reals]:
        """For each question the share of every parameter, counted in a large draw."""
        whole = self.rows(LARGE_DRAW, np.random.default_rng(12345))
        found = [self.shares_in(whole, question) for question in self.questions]
        return [np.where(np.isin(list(self.space), self.idle), 0.0, shares) for shares in found]

    def shares_in(self, whole: Sample, question: Question) -> Reals:
        """The share of every parameter, in cells that have equally many rows of the question's region."""
        inside = whole.objective <= best(whole.objective, question[1])
        codes = [cells_of(self.space[name], whole.columns[name][inside], CELLS) for name in self.space]
        target = whole.objective[inside] <= best(whole.objective, question[0])
        return np.array([share(column, target, less_chance=True) for column in codes])

    @property
    def samplers(self) -> tuple[str, ...]:
        return ("uniform",) if self.draw else ("uniform", "tpe", "tpe-unnumbered")


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


def tunability_of(sample: Sample) -> dict[str, float]:
    """HyperSHAP's parts of what tuning gains over the default."""
    from ConfigSpace import Categorical, Configuration, ConfigurationSpace, Float, Integer
    from hypershap import ExplanationTask, HyperSHAP

    space, columns = ConfigurationSpace(), plain(sample)
    for name, parameter in sample.space.items():
        if isinstance(parameter, pa.Categorical | pa.Ordinal):
            space.add(Categorical(name, list(choices_of(parameter))))
        else:
            kind = Integer if isinstance(parameter, pa.Int) else Float
            space.add(kind(name, (parameter.low, parameter.high), log=parameter.log))
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    data = [
        (Configuration(space, values=row), -value) for row, value in zip(rows, sample.objective.tolist(), strict=True)
    ]
    shares = HyperSHAP(ExplanationTask.from_data(space, data)).tunability(space.get_default_configuration())
    names = list(space.keys())
    first = {names[key[0]]: max(float(value), 0.0) for key, value in shares.dict_values.items() if len(key) == 1}
    total = sum(first.values()) or 1.0
    return {name: value / total for name, value in first.items()}
