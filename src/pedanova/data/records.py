"""A table as read from a source, with metadata of the source and the intermediate values of trials."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sized
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pedanova.base.notes import Note
from pedanova.data.column import Column
from pedanova.data.regions import Direction
from pedanova.errors import DataError
from pedanova.space.parameters import Space
from pedanova.space.values import Label

Point = tuple[int, float, float]  # row of the trial, step, value
Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Curves:
    """Intermediate values of all trials, sorted by row and step (epoch or iteration)."""

    metric: str  # the column with the last or the best of these values
    rows: NDArray[np.int64]  # (points,)
    steps: Reals  # (points,)
    values: Reals  # (points,) NaN if none was measured

    @classmethod
    def of(cls, metric: str, points: Iterable[Point]) -> Curves:
        """Make curves from points in any order; of two points with the same row and step, the later one is used."""
        plain = np.array([*points], dtype=np.float64).reshape(-1, 3)
        order = np.lexsort((plain[:, 1], plain[:, 0]))
        plain = plain[order]
        last = np.ones(len(plain), dtype=bool)
        last[:-1] = (plain[1:, :2] != plain[:-1, :2]).any(axis=1)
        plain = plain[last]
        return cls(metric, plain[:, 0].astype(np.int64), plain[:, 1], plain[:, 2])

    @property
    def budgets(self) -> Reals:
        """All steps at which at least one trial has a value."""
        return np.unique(self.steps)

    def reached(self, rows: int) -> Reals:
        """The last step of each trial; NaN for trials without values."""
        result = np.full(rows, np.nan)
        result[self.rows] = self.steps  # sorted by step, so the last one remains
        return result

    def at(self, step: float, rows: int) -> Reals:
        """The last value of each trial up to `step`; NaN for trials that ended before `step`."""
        early = self.steps <= step
        result = np.full(rows, np.nan)
        result[self.rows[early]] = self.values[early]
        far = self.reached(rows) >= step  # False for NaN
        return np.where(far, result, np.nan)


@dataclass(frozen=True, slots=True)
class CurveSource:
    """Reads the intermediate values of trials only when they are needed, because a log may contain very many."""

    points: Callable[[str], Iterable[Point]]  # the points of a metric, by its name in the log
    names: Mapping[str, str] = field(default_factory=dict)  # column → name in the log, if they differ

    def read(self, metric: str) -> Curves:
        """The intermediate values of one metric; empty if the log has none."""
        return Curves.of(metric, self.points(self.names.get(metric, metric)))


RepeatPolicy = Literal["all", "mean", "median"]


def free_name(name: str, taken: Iterable[str]) -> str:
    """The name, with underscores added until no other column has it."""
    used = set(taken)
    while name in used:
        name += "_"
    return name


MARK = "pedanova_next"  # the column or attribute that marks trials proposed by `next_trials`


def mark_columns(names: Iterable[str]) -> list[str]:
    """The columns that mark trials proposed by `next_trials`; their names may have a prefix from another tool."""
    return [name for name in names if name == MARK or name.endswith((f"_{MARK}", f".{MARK}", f"/{MARK}"))]


@dataclass(frozen=True, slots=True)
class SourceMetadata:
    """What a log says about its objective, direction, space and more; options of the user take precedence."""

    source: str = ""  # in words, such as "Optuna study 'mlp'"
    params: tuple[str, ...] = ()  # columns that are parameters
    space: Space | None = None  # the space of all parameters, if the log contains their domains
    conditions: bool = False  # whether the space has the conditions; otherwise they are inferred
    objectives: tuple[str, ...] = ()  # columns that were optimised
    directions: tuple[Direction, ...] = ()  # of the objectives, then of the other metrics, as far as the log has them
    metrics: tuple[str, ...] = ()  # columns that might be the objective
    unclear: tuple[str, ...] = ()  # results whose name does not show the direction
    aside: tuple[str, ...] = ()  # bookkeeping columns, which are not parameters unless the user names them
    state: str | None = None  # the column of states
    feasible: str | None = None  # a boolean column
    where: str | None = None  # the default rows to use, such as "budget == 50"
    repeats: RepeatPolicy = "all"
    ordered: bool = False  # whether rows are trials in the order in which they were run
    default: Mapping[str, Label] = field(default_factory=dict)  # the tool's own setting of each parameter


def check_lengths(columns: Mapping[str, Sized]) -> None:
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        (first, rows), *rest = lengths.items()
        other, others = next((n, r) for n, r in rest if r != rows)
        raise DataError(f"{first} has {rows} rows but {other} has {others}; all columns must have the same length")


@dataclass(frozen=True, slots=True, eq=False)
class Records:
    """A table from a source: its columns by name, before it is known which of them are parameters."""

    columns: Mapping[str, Column]
    notes: tuple[Note, ...] = ()
    metadata: SourceMetadata = field(default_factory=SourceMetadata)
    curves: CurveSource | None = None  # intermediate values, if the log has them

    def __post_init__(self) -> None:
        check_lengths(self.columns)

    @property
    def rows(self) -> int:
        return len(next(iter(self.columns.values()))) if self.columns else 0
