"""What a source tells beyond its columns: which are settings, what was optimised, who failed."""

from __future__ import annotations

from dataclasses import dataclass

from pedanova.regions import Direction
from pedanova.repeats import RepeatPolicy
from pedanova.space import Space


@dataclass(frozen=True, slots=True)
class Told:
    """A log's own account of itself. What a user says goes before it."""

    source: str = ""  # in words, such as "Optuna study 'mlp'"
    params: tuple[str, ...] = ()  # columns that are settings
    space: Space | None = None  # of all of them, where the log holds their domains
    conditions: bool = False  # the space says when each setting exists; otherwise that is inferred
    objectives: tuple[str, ...] = ()  # columns that were optimised
    directions: tuple[Direction, ...] = ()  # of the objectives, then of the other metrics, as far as it tells
    metrics: tuple[str, ...] = ()  # columns that might be the objective
    state: str | None = None  # the column of states
    feasible: str | None = None  # a boolean column
    where: str | None = None  # rows to use unless the user says otherwise, such as "budget == 50"
    repeats: RepeatPolicy = "all"
