"""Columns named `metric:accuracy [0.0, 1.0] (maximize)`, as DeepCAVE's tables have them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pedanova.data.column import Column
from pedanova.data.regions import Direction

METRIC = re.compile(r"metric:\s*(?P<name>.+?)\s*(?:\[(?P<bounds>[^\]]*)\])?\s*(?:\((?P<goal>\w+)\))?\s*")


@dataclass(frozen=True, slots=True)
class Metric:
    """A result by the name of its column."""

    column: str
    name: str
    direction: Direction


def metrics_among(columns: Iterable[str]) -> list[Metric]:
    """
    Examples
    --------
    >>> metrics_among(["lr", "metric:accuracy [0.0, 1.0] (maximize)"])[0].name
    'accuracy'
    """
    found = []
    for column in columns:
        match = METRIC.fullmatch(column)
        if match is not None:
            goal: Direction = "maximize" if match["goal"] == "maximize" else "minimize"
            found.append(Metric(column, match["name"], goal))
    return found


def rows_of(columns: Mapping[str, Column]) -> list[dict[str, object]]:
    """A table row by row, without what is missing."""
    rows: list[dict[str, object]] = [{} for _ in range(len(next(iter(columns.values()), ())))]
    for name, column in columns.items():
        if column.is_time:
            continue
        for row, gone in enumerate(column.absent().tolist()):
            if not gone:
                rows[row][name] = column.value_at(row)
    return rows
