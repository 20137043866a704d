"""A smaller space inside a box that somebody chose: no bound of it goes beyond the box."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from pedanova.reduction.result import ReducedSpace, Verdict
from pedanova.space.parameters import Categorical, Float, Int, Ordinal, Parameter

Chosen: TypeAlias = tuple[float | None, float | None] | Sequence[Any]  # both ends of a range, or some values


def inside_box(reduced: ReducedSpace, box: Mapping[str, Chosen]) -> ReducedSpace:
    """The same verdicts, their domains cut at the box; whoever is cut by it alone is narrowed, and says why."""
    rows = tuple(_cut(row, box[row.name]) if row.name in box else row for row in reduced.rows)
    return replace(reduced, rows=rows)


def _cut(row: Verdict, chosen: Chosen) -> Verdict:
    after = None if row.after is None else _inside(row.after, chosen)
    if after is None or after == row.after:
        return row
    changed = row.advice not in ("keep", "undecided")
    reason = row.reason if changed else "as selected"
    return replace(row, advice=row.advice if changed else "narrow", reason=reason, after=after, beyond=(None, None))


def _inside(domain: Parameter, chosen: Chosen) -> Parameter | None:
    """The part of a domain that lies in the box; None where none does, or the box says nothing of it."""
    if isinstance(domain, Categorical):
        choices = tuple(value for value in domain.choices if _is_in(value, chosen))
        return replace(domain, choices=choices) if choices else None
    if isinstance(domain, Ordinal):
        values = tuple(value for value in domain.values if _is_in(value, chosen))
        return replace(domain, values=values) if values else None
    if not isinstance(domain, Float | Int) or not isinstance(chosen, tuple):
        return None
    first = domain.low if chosen[0] is None else max(domain.low, chosen[0])
    last = domain.high if chosen[1] is None else min(domain.high, chosen[1])
    if isinstance(domain, Float):
        return replace(domain, low=float(first), high=float(last)) if first < last else None
    least = domain.low + math.ceil((first - domain.low) / domain.step) * domain.step
    most = domain.low + math.floor((last - domain.low) / domain.step) * domain.step
    return replace(domain, low=least, high=most) if least < most else None


def _is_in(value: Any, chosen: Chosen) -> bool:
    if not isinstance(chosen, tuple):
        return value in chosen
    low, high = chosen
    return (low is None or value >= low) and (high is None or value <= high)
