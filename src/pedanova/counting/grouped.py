"""One table of many studies: which rows are whose, found once.

A study's rows are taken when it is asked for; where they lie together they are a view of the columns, and nothing
is copied. What is counted of a study (levels by its own quantiles, tallies) is counted as of a table of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.base.digits import short
from pedanova.data.column import Column
from pedanova.data.observations import Observations
from pedanova.data.prepare import reordered

Codes: TypeAlias = NDArray[Any]
DENSE = 1 << 20  # whole numbers that span no more are their own codes
SHORT = 1 << 16  # so many codes fit into 16 bits, which are sorted by counting


@dataclass(frozen=True, slots=True, eq=False)
class GroupedRows(Mapping[str, Observations]):
    """Observations of every group, in the order of their names; `unnamed` rows name no group."""

    observed: Observations
    order: Codes | None  # (rows,) rows by group; None where they lie so already
    spans: Mapping[str, slice]  # of the rows in that order
    unnamed: int

    def __getitem__(self, name: str) -> Observations:
        span = self.spans[name]
        return part_of(self.observed, span if self.order is None else self.order[span])

    def __contains__(self, name: object) -> bool:
        return name in self.spans  # without taking the rows

    def __iter__(self) -> Iterator[str]:
        return iter(self.spans)

    def __len__(self) -> int:
        return len(self.spans)


def group_rows(observed: Observations, group: Column) -> GroupedRows:
    """The rows of every value of a column."""
    codes, labels = codes_of(group)
    counts = np.bincount(codes, minlength=len(labels) + 1)  # the last code is of rows without a value
    order = None
    if len(codes) > 1 and (codes[1:] < codes[:-1]).any():
        order = np.argsort(codes, kind="stable").astype(np.int32 if len(codes) < 1 << 31 else np.int64)
    ends = np.cumsum(counts)
    spans = {label: slice(int(ends[i] - counts[i]), int(ends[i])) for i, label in enumerate(labels) if counts[i]}
    return GroupedRows(observed, order, spans, int(counts[-1]))


def codes_of(group: Column) -> tuple[Codes, list[str]]:
    """(rows,) The place of each row's group in the list of names; behind the last one for rows without."""
    absent = group.absent()
    if group.labels is not None:
        codes, labels = group.values, [str(label) for label in group.labels]
    elif group.values.dtype.kind in "iu" and len(group) and (span := _span(group.values)) is not None:
        codes = group.values.astype(np.int64) - span.start
        labels = [str(value) for value in span]
    else:
        distinct, codes = np.unique(group.values, return_inverse=True)
        labels = [_name(value) for value in distinct.tolist()]
    last = len(labels)
    codes = np.where(absent, last, codes) if absent.any() else codes
    return codes.astype(np.uint16 if last < SHORT else np.int64), labels


def _span(values: NDArray[Any]) -> range | None:
    low, high = int(values.min()), int(values.max())
    return range(low, high + 1) if high - low < DENSE else None


def _name(value: object) -> str:
    return short(value) if isinstance(value, float) else str(value)


def part_of(observed: Observations, rows: Any) -> Observations:
    """Some rows, by a slice or by their places, in an order of their own where objectives are several.

    A column that stands in several roles is taken once.
    """
    taken: dict[int, NDArray[Any]] = {}

    def at(values: NDArray[Any]) -> NDArray[Any]:
        if id(values) not in taken:
            taken[id(values)] = values[rows]
        return taken[id(values)]

    def of(column: Column) -> Column:
        return replace(column, values=at(column.values), missing=None if column.missing is None else at(column.missing))

    part = replace(
        observed,
        columns={name: of(column) for name, column in observed.columns.items()},
        goals=tuple(replace(goal, values=at(goal.values)) for goal in observed.goals),
        table={name: of(column) for name, column in observed.table.items()},
        notes=(),
        order=None if observed.order is None else at(observed.order),
        keep=None if observed.keep is None else at(observed.keep),
        trials=None if observed.trials is None else at(observed.trials),
        origin=None,  # that of all studies
    )
    if len(part.goals) == 1:
        return part
    return reordered(replace(part, keep=np.ones(len(part), dtype=bool) if part.keep is None else part.keep))
