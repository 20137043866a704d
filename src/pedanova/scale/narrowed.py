"""Some rows of a table that is read in parts: those with one value in a column, as a table of their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from pedanova.base.progress import Meter
from pedanova.counting.countable import Counted, assembled, levels_for
from pedanova.errors import Arg, QueryError
from pedanova.scale.count_scan import IN_MEMORY, look_at
from pedanova.scale.parts import Plan, batches_of, light
from pedanova.scale.rescan import Rescan
from pedanova.sources.scans.scan import Part
from pedanova.space.parameters import Space

MOST_VALUES = 10_000  # that a column may have to be told apart by


def values_in(source: Rescan, name: str) -> dict[float, int]:
    """Rows that count by the number they have in a column, NaN for those without; one reading of that column."""
    plan = replace(light(source.plan), needs=tuple(dict.fromkeys([*light(source.plan).needs, name])))
    found: Counter[float] = source.crew.total(values_of_part, summed, plan, name, what=f"rows of {name}")
    return dict(found)


def values_of_part(part: Part, plan: Plan, name: str, meter: Meter | None = None) -> Counter[float]:
    found: Counter[float] = Counter()
    for observed in batches_of(part, plan, meter):
        column = observed.table[name]
        if column.labels is not None or column.is_time:
            raise QueryError(f"{name} must be a column of numbers; it holds text or dates")
        numbers = np.where(column.absent(), np.nan, column.values.astype(np.float64))
        numbers = numbers if observed.keep is None else numbers[observed.keep]
        known = np.isfinite(numbers)
        values, counts = np.unique(numbers[known], return_counts=True)
        found.update(dict(zip(values.tolist(), counts.tolist(), strict=True)))
        found[np.nan] += int((~known).sum())
        if len(found) > MOST_VALUES:
            raise QueryError(f"{name} has more than {MOST_VALUES:,} different values; round it to a few")
    return found


def summed(found: Iterable[Counter[float]]) -> Counter[float]:
    total: Counter[float] = Counter()
    for one in found:
        total.update(one)
    return total


def only(source: Rescan, name: str, value: float, quantiles: Sequence[Fraction]) -> Counted:
    """The rows with this value, counted by levels of their own in the same space, less that column."""
    if source.engine is not None:
        raise QueryError("a table that its own engine counts cannot be asked value by value", *IN_MEMORY)
    request = replace(source.plan.request, where=with_value(source.plan, name, value))
    space = Space({one: parameter for one, parameter in source.space.items() if one != name})
    needs = tuple(dict.fromkeys([*source.plan.needs, name]))
    plan = replace(source.plan, request=request, space=space, needs=needs)
    inner = Rescan(source.crew, plan, look_at(source.crew, plan))
    levels = levels_for(inner, quantiles)
    return assembled(inner, levels, inner.count(levels), notes=(), inside=False, part=True)


def with_value(plan: Plan, name: str, value: float) -> object:
    """The choice of rows, and that they have this value."""
    where = plan.request.where
    if where is None:
        return {name: value}
    if isinstance(where, dict):
        return {**where, name: value}
    if isinstance(where, str) and where not in plan.needs:
        return f"({where}) and `{name}` == {value!r}"
    raise QueryError(Arg("where"), " must be a condition for that, where a table is read in parts", *IN_MEMORY)
