"""Who takes part in the accuracy league: complete tables, samples of them, and the methods.

Each method gets the same sample and answers the same questions with ratios, and shares and
intervals where it has them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

import pedanova as pa
from pedanova.errors import QueryError

TABLES = (
    "hpobench_car", "hpobench_phoneme", "hpolib_naval_propulsion", "hpolib_slice_localization",
    "nasbench201_cifar10", "jahs_thesis_cifar10_lattice",
)  # fmt: skip
QUESTIONS = ((0.1, 1.0), (0.01, 0.1))
Reals = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Table:
    """A complete table: codes are made on demand, the objective is to be minimised."""

    name: str
    names: tuple[str, ...]
    choices: tuple[tuple[object, ...], ...]
    fields: dict[str, dict[str, object]]
    objective: Reals
    codes: NDArray[np.int8] | None  # None: rows in product order

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(len(choices) for choices in self.choices)

    def at(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """(rows, parameters) The code of every value."""
        if self.codes is not None:
            return self.codes[rows].astype(np.int64)
        return np.stack(np.unravel_index(rows, self.sizes), axis=1)

    def space(self) -> dict[str, pa.space.Parameter]:
        """Lattices are ordinals, as pedanova's documentation says."""
        return {
            name: pa.Ordinal(choices) if "grid" in self.fields[name] else pa.Categorical(choices)
            for name, choices in zip(self.names, self.choices, strict=True)
        }

    def columns(self, rows: NDArray[np.int64]) -> dict[str, object]:
        codes = self.at(rows)
        return {name: [self.choices[j][c] for c in codes[:, j]] for j, name in enumerate(self.names)}


@lru_cache(maxsize=2)
def read_table(folder: Path, name: str) -> Table:
    facts = json.loads((folder / f"{name}.json").read_text())
    fields = facts["space"]
    choices = tuple(tuple(f.get("grid") or f["choices"]) for f in fields.values())
    goal = facts["objectives"][facts["main_objective"]]
    sign = -1.0 if goal["direction"] == "maximize" else 1.0
    table = pq.read_table(folder / f"{name}.parquet")
    if name.endswith("_lattice"):
        return Table(name, tuple(fields), choices, fields, sign * table[0].to_numpy().astype(np.float64), None)
    seeds = np.stack([table[column].to_numpy() for column in goal["columns"]])
    codes = np.stack(
        [
            np.array([{v: i for i, v in enumerate(values)}[v] for v in table[key].to_pylist()], dtype=np.int8)
            for key, values in zip(fields, choices, strict=True)
        ],
        axis=1,
    )
    return Table(name, tuple(fields), choices, fields, sign * np.nanmean(seeds, axis=0), codes)


def best(objective: Reals, part: float) -> float:
    """The objective that ends the best part of the rows."""
    rank = math.ceil(round(part * len(objective), 9))
    return float(np.partition(objective, rank - 1)[rank - 1])


def divergences(codes: Callable[[NDArray[np.int64]], NDArray[np.int64]], objective: Reals, sizes: tuple[int, ...],
                question: tuple[float, float]) -> Reals:  # fmt: skip
    """PED of every parameter by plain counts."""
    target, region = (np.flatnonzero(objective <= best(objective, part)) for part in question)
    found = np.zeros(len(sizes))
    inner, outer = codes(target), codes(region)
    for j, size in enumerate(sizes):
        wanted = np.bincount(inner[:, j], minlength=size) / len(target)
        known = np.bincount(outer[:, j], minlength=size) / len(region)
        held = known > 0
        found[j] = np.sum(wanted[held] ** 2 / known[held]) - 1.0
    return found


def truth(table: Table, keep: Path) -> Reals:
    """(questions, parameters) PED of the whole table."""
    path = keep / f"{table.name}.truth.json"
    if path.exists():
        return np.array(json.loads(path.read_text()))
    found = [divergences(table.at, table.objective, table.sizes, question) for question in QUESTIONS]
    path.write_text(json.dumps([row.tolist() for row in found]))
    return np.array(found)


def ratios(values: Reals) -> Reals:
    floored = np.maximum(values, 0.0)
    return floored / floored.sum() if floored.sum() > 0 else np.full(len(values), 1.0 / len(values))


# --- samples ---------------------------------------------------------------------------------------


def sample(table: Table, sampler: str, rows: int, seed: int) -> NDArray[np.int64]:
    rng = np.random.default_rng([seed, rows])
    if sampler == "uniform":
        return rng.choice(len(table.objective), rows, replace=False)
    return by_tpe(table, rows, seed)


def by_tpe(table: Table, rows: int, seed: int) -> NDArray[np.int64]:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    strides = np.cumprod([1, *table.sizes[::-1]])[-2::-1]
    place = None if table.codes is None else np.argsort(table.codes @ strides, kind="stable")
    taken = []
    for _ in range(rows):
        trial = study.ask()
        codes = [
            trial.suggest_int(name, 0, size - 1) if "grid" in table.fields[name]
            else trial.suggest_categorical(name, list(range(size)))
            for name, size in zip(table.names, table.sizes, strict=True)
        ]  # fmt: skip
        row = int(np.dot(codes, strides))
        row = row if place is None else int(place[row])
        taken.append(row)
        study.tell(trial, float(table.objective[row]))
    return np.array(taken)


# --- methods ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Answer:
    ratios: Reals
    shares: Reals | None = None
    low: Reals | None = None
    high: Reals | None = None


@lru_cache(maxsize=1)
def analysis(name: str, rows: bytes) -> pa.Analysis:
    """The sample counted once for all of pedanova's methods."""
    table, chosen = current[name], np.frombuffer(rows, dtype=np.int64)
    return pa.analyze(table.columns(chosen), table.objective[chosen], space=table.space())


current: dict[str, Table] = {}


def by_pedanova(
    table: Table, rows: NDArray[np.int64], questions: list[tuple[float, float]], estimator: str
) -> Iterator[Answer]:
    current[table.name] = table
    a = analysis(table.name, rows.tobytes())
    for question in questions:
        try:
            found = a.importance(*question, estimator=estimator, force=True)
        except QueryError:  # the model was refused, or ties leave no target inside the region
            return
        in_order = [found[name] for name in table.names]
        yield Answer(
            np.array([row.ratio for row in in_order]),
            np.array([row.share for row in in_order]),
            np.array([0.0 if row.low is None else row.low for row in in_order]),  # what never varied may be anything
            np.array([1.0 if row.high is None else row.high for row in in_order]),
        )


def by_histogram(table: Table, rows: NDArray[np.int64], questions: list[tuple[float, float]]) -> Iterator[Answer]:
    codes = table.at(rows)
    for target, region in questions:
        found = divergences(lambda at: codes[at], table.objective[rows], table.sizes, (target, region))
        yield Answer(ratios(found), found * target / (region - target))


def study_of(table: Table, rows: NDArray[np.int64], form: str) -> object:
    """The sample as an Optuna user might have it: a lattice as a range, as whole-number codes, or as categories."""
    import optuna
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    kinds = {}
    for name, f in table.fields.items():
        if "grid" not in f or form == "categories":
            kinds[name] = CategoricalDistribution(f.get("grid") or f["choices"])
        elif form == "codes":
            kinds[name] = IntDistribution(0, len(f["grid"]) - 1)
        else:
            kind = IntDistribution if f["type"] == "int" else FloatDistribution
            kinds[name] = kind(f["low"], f["high"], log=bool(f["log"]))
    codes = table.at(rows)
    coded = [form == "codes" and "grid" in f for f in table.fields.values()]
    study = optuna.create_study()
    study.add_trials(
        [
            optuna.trial.create_trial(
                params={
                    name: int(code[j]) if coded[j] else table.choices[j][code[j]] for j, name in enumerate(table.names)
                },
                distributions=kinds,
                value=float(table.objective[row]),
            )
            for row, code in zip(rows, codes, strict=True)
        ]
    )
    return study


def by_optuna(
    table: Table, rows: NDArray[np.int64], questions: list[tuple[float, float]], form: str, local: bool
) -> Iterator[Answer]:
    from optuna.importance import PedAnovaImportanceEvaluator, get_param_importances

    study = study_of(table, rows, form)
    for target, region in questions:
        how = {"target_quantile": target, "region_quantile": region, "evaluate_on_local": local}
        found = get_param_importances(study, evaluator=PedAnovaImportanceEvaluator(**how))
        yield Answer(ratios(np.array([found.get(name, 0.0) for name in table.names])))


def by_forest(table: Table, rows: NDArray[np.int64], questions: list[tuple[float, float]]) -> Iterator[Answer]:
    """Random-forest f-ANOVA of the objective itself: it knows no target, so every question gets the same."""
    a = pa.analyze(table.columns(rows), table.objective[rows], space=table.space())
    found = pa.forest_effects(a.data.observed(), pairs=False, trees=32, threads=None)
    for _ in questions:
        yield Answer(np.array([found[name].ratio for name in table.names]))


METHODS: dict[str, Callable[..., Iterator[Answer]]] = {
    "auto": lambda *given: by_pedanova(*given, "auto"),
    "counts": lambda *given: by_pedanova(*given, "counts"),
    **{
        f"optuna {form} {'region' if local else 'uniform'}": partial(by_optuna, form=form, local=local)
        for form in ("ranges", "codes", "categories")
        for local in (True, False)
    },
    "histogram": by_histogram,
    "forest": by_forest,
}


NOISE = {
    "noise float": lambda rng, n: (rng.random(n), pa.Float(0, 1)),
    "noise int": lambda rng, n: (rng.integers(1, 51, n), pa.Int(1, 50)),
    "noise 3-way": lambda rng, n: (rng.choice(list("abc"), n), pa.Categorical(list("abc"))),
    "noise 20-way": lambda rng, n: (
        rng.choice([f"c{i}" for i in range(20)], n), pa.Categorical([f"c{i}" for i in range(20)])
    ),
}  # fmt: skip


def false_alarms(
    table: Table, rows: NDArray[np.int64], seed: int
) -> Iterator[tuple[str, str, tuple[float, float], bool]]:
    """Which columns of noise are called significant at level 0.05, one at a time."""
    rng = np.random.default_rng([seed, 7])
    columns, space = table.columns(rows), table.space()
    for kind, make in NOISE.items():
        columns[kind], space[kind] = make(rng, len(rows))
    a = pa.analyze(columns, table.objective[rows], space=space)
    for estimator in ("auto", "counts"):
        for question in QUESTIONS:
            try:
                found = a.importance(*question, estimator=estimator, force=True)
            except QueryError:  # ties may leave no target inside the region
                continue
            for kind in NOISE:
                yield estimator, kind, question, (found[kind].p_value or 0.0) <= 0.05
