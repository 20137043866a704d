"""Complete tables, in which the objective of every configuration is known: for `league.py` and `reduction.py`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from zlib import crc32

from shared import by_tpe

# isort: split
import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray
from samples import Question, Reals, Sample, Space, best, drawn_evenly, share, suggested
from worlds import levels

import pedanova as pa

TABLES = (
    "hpobench_car", "hpobench_phoneme", "hpolib_naval_propulsion", "hpolib_slice_localization",
    "nasbench201_cifar10", "jahs_thesis_cifar10_lattice",
)  # fmt: skip
QUESTIONS: tuple[Question, ...] = ((0.1, 1.0), (0.01, 0.1))
GROUP, BESIDE_NOISE = "complete tables", "complete tables beside noise"
NOISE: Space = {"float": pa.Float(0, 1), "int": pa.Int(1, 50), "3-way": levels(3), "20-way": levels(20)}


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

    @property
    def strides(self) -> NDArray[np.int64]:
        """How far apart two values of a parameter are, in product order."""
        return np.cumprod([1, *self.sizes[::-1]])[-2::-1]

    def of(self, parameter: int, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """(rows,) The code of every value of one parameter."""
        if self.codes is not None:
            return self.codes[rows, parameter].astype(np.int64)
        return rows // self.strides[parameter] % self.sizes[parameter]

    def at(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """(rows, parameters) The code of every value."""
        return np.stack([self.of(parameter, rows) for parameter in range(len(self.names))], axis=1)

    def space(self) -> Space:
        """Lattices are ordinals, as pedanova's documentation says."""
        return {
            name: pa.Ordinal(choices) if "grid" in self.fields[name] else pa.Categorical(choices)
            for name, choices in zip(self.names, self.choices, strict=True)
        }

    def columns(self, rows: NDArray[np.int64]) -> dict[str, Any]:
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


def sample(table: Table, sampler: str, rows: int, seed: int) -> NDArray[np.int64]:
    """Rows of a table, drawn uniformly or by TPE."""
    if sampler == "uniform":
        rng = np.random.default_rng([seed, rows, crc32(table.name.encode())])
        return rng.choice(len(table.objective), rows, replace=False)
    space = table.space()
    place = None if table.codes is None else np.argsort(table.codes @ table.strides, kind="stable")
    taken: list[int] = []

    def evaluate(trial: Any) -> float:
        setting = suggested(trial, space)
        codes = [choices.index(setting[name]) for name, choices in zip(table.names, table.choices, strict=True)]
        row = int(np.dot(codes, table.strides))
        taken.append(row if place is None else int(place[row]))
        return float(table.objective[taken[-1]])

    by_tpe(evaluate, rows, crc32(f"{table.name} {seed}".encode()))
    return np.array(taken)


@dataclass(frozen=True, eq=False)
class TableWorld:
    """A table as a world of the league; beside noise, four columns without an effect are put into every sample."""

    folder: Path
    table: str
    beside_noise: bool
    questions: tuple[Question, ...] = QUESTIONS
    samplers: tuple[str, ...] = ("uniform", "tpe", "tpe-unnumbered")

    @property
    def name(self) -> str:
        return f"{self.table} beside noise" if self.beside_noise else self.table

    @property
    def group(self) -> str:
        return BESIDE_NOISE if self.beside_noise else GROUP

    @property
    def idle(self) -> tuple[str, ...]:
        return tuple(NOISE) if self.beside_noise else ()

    @property
    def space(self) -> Space:
        return read_table(self.folder, self.table).space() | {name: NOISE[name] for name in self.idle}

    def sample(self, sampler: str, rows: int, seed: int) -> Sample:
        table = read_table(self.folder, self.table)
        places = sample(table, sampler, rows, seed)
        columns = table.columns(places)
        if self.beside_noise:
            columns |= drawn_evenly(NOISE, rows, np.random.default_rng([seed, 7]))
        return Sample(self.space, columns, table.objective[places], sampler == "tpe")

    def truth(self) -> list[Reals]:
        """For each question the share of every parameter, counted in the whole table."""
        table = read_table(self.folder, self.table)
        found = []
        for target, region in self.questions:
            rows = np.flatnonzero(table.objective <= best(table.objective, region))
            inside = table.objective[rows] <= best(table.objective, target)
            shares = [share(table.of(j, rows), inside, less_chance=False) for j in range(len(table.names))]
            found.append(np.array([*shares, *(0.0 for _ in self.idle)]))
        return found


def table_worlds(folder: Path) -> list[TableWorld]:
    """Of the tables that a folder has."""
    there = [name for name in TABLES if (folder / f"{name}.parquet").exists()]
    return [TableWorld(folder, name, noise) for noise in (False, True) for name in there]
