"""A table as a source gives it, and what the source tells of it: settings, what was optimised, who failed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pedanova.base.notes import Note
from pedanova.data.column import Column
from pedanova.data.curves import CurveSource
from pedanova.data.regions import Direction
from pedanova.errors import DataError
from pedanova.space.parameters import Space

RepeatPolicy = Literal["all", "mean", "median"]


@dataclass(frozen=True, slots=True)
class Account:
    """A log's own account of itself. What a user says goes before it."""

    source: str = ""  # in words, such as "Optuna study 'mlp'"
    params: tuple[str, ...] = ()  # columns that are settings
    space: Space | None = None  # of all of them, where the log holds their domains
    conditions: bool = False  # the space says when each setting exists; otherwise that is inferred
    objectives: tuple[str, ...] = ()  # columns that were optimised
    directions: tuple[Direction, ...] = ()  # of the objectives, then of the other metrics, as far as it tells
    metrics: tuple[str, ...] = ()  # columns that might be the objective
    unclear: tuple[str, ...] = ()  # results whose very name does not tell which way is better
    aside: tuple[str, ...] = ()  # bookkeeping: no parameters, unless a user names them
    state: str | None = None  # the column of states
    feasible: str | None = None  # a boolean column
    where: str | None = None  # rows to use unless the user says otherwise, such as "budget == 50"
    repeats: RepeatPolicy = "all"
    ordered: bool = False  # rows are trials in the order in which they were run


@dataclass(frozen=True, slots=True, eq=False)
class Records:
    """A table as a source gave it: columns by name, not yet sorted."""

    columns: Mapping[str, Column]
    notes: tuple[Note, ...] = ()
    account: Account = field(default_factory=Account)
    curves: CurveSource | None = None  # values on the way, where the log has them

    def __post_init__(self) -> None:
        lengths = {name: len(column) for name, column in self.columns.items()}
        if len(set(lengths.values())) > 1:
            (first, rows), *rest = lengths.items()
            other, others = next((n, r) for n, r in rest if r != rows)
            raise DataError(f"{first} has {rows} rows but {other} has {others}; every column needs the same")

    @property
    def rows(self) -> int:
        return len(next(iter(self.columns.values()))) if self.columns else 0
