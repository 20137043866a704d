"""A search space as a tool describes it, and how parameter values in the tool's log are matched to it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, TypeAlias, TypeVar

from pedanova.base.notes import Note
from pedanova.errors import SpaceError, listed
from pedanova.space.parameters import Categorical, Domain, Float, Int, Ordinal, Space, values_of
from pedanova.space.values import Label, as_label, is_number

Read = TypeVar("Read")
LOGARITHMIC = ("loguniform", "reciprocal")  # names of SciPy's distributions
NEAR = 1e-4  # the largest rounding error of a value on a lattice, as a part of the step


@dataclass(frozen=True, slots=True)
class Described:
    """A search space as a tool describes it."""

    domains: Mapping[str, Domain]
    notes: tuple[Note, ...] = ()
    fixed: tuple[str, ...] = ()  # constants, and parameters that can never be active
    conditions: bool = True  # whether `when` describes all conditions
    default: Mapping[str, Label] = field(default_factory=dict)  # the tool's default values


class Labels:
    """Finds the value of a categorical parameter, however a log writes it: 1, 1.0 or '1'."""

    __slots__ = ("_exact", "_numbers", "_texts")

    def __init__(self, labels: Iterable[Label]) -> None:
        known = tuple(labels)
        self._exact = {(type(label), label): label for label in known}
        self._texts = {str(label): label for label in known}
        self._numbers = {number: label for label in known if (number := finite_number(label)) is not None}

    def find(self, value: object) -> Label | None:
        """The label of the space that equals `value`; None if no label equals `value`."""
        own = as_plain(value)
        if (type(own), own) in self._exact:
            return own
        for text in (str(own), str(own).lower()) if isinstance(own, bool) else (str(own),):
            if text in self._texts:
                return self._texts[text]
        number = finite_number(own)
        return None if number is None else self._numbers.get(number)


def number_or_nan(value: object) -> float:
    """The number that a value or its text represents; NaN if it is not a number."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return math.nan
    try:
        return float(value)
    except (ValueError, OverflowError):
        return math.nan


def finite_number(value: object) -> float | None:
    """The finite number that a value or its text represents; None if `value` is not a number."""
    number = number_or_nan(value)
    return number if math.isfinite(number) else None


def as_plain(value: object) -> Label:
    """A value that a space can contain: lists and objects become JSON, null becomes the text None."""
    plain = value.item() if hasattr(value, "item") and not isinstance(value, str) else value
    if isinstance(plain, list | tuple | dict):
        return json.dumps(plain, default=str)
    return str(plain) if isinstance(plain, float) and not math.isfinite(plain) else as_label(plain, "values")


def distinct_labels(values: Iterable[object]) -> tuple[Label, ...]:
    """The values as distinct labels; if two are equal in Python, such as 1 and True, all become text."""
    plain = [as_plain(value) for value in values]
    if len(set(plain)) < len(plain):
        plain = [json.dumps(value) for value in plain]
    return tuple(dict.fromkeys(plain))


def as_range(low: Any, high: Any, *, whole: bool = False, log: bool = False, step: Any = None) -> Int | Float | Ordinal:
    """A range of numbers; a single value if both ends are equal."""
    if low == high:
        return Ordinal((int(low) if whole else low,))
    if whole:
        return Int(int(low), int(high), step=1 if log else int(step or 1), log=log)
    return Float(low, high, log=log)


def as_choices(values: Iterable[Any], *, ordered: bool = False) -> Categorical | Ordinal:
    """A categorical domain; an ordinal one if all values are numbers and `ordered` is set."""
    choices = tuple(values)
    numbers = ordered and all(map(is_number, choices))
    return Ordinal(tuple(sorted(set(choices)))) if numbers else Categorical(choices)


def is_law(values: object) -> bool:
    """Whether an object is a frozen SciPy distribution or looks like one."""
    return hasattr(values, "rvs") and hasattr(values, "support")


def has_ends(law: Any) -> bool:
    return all(math.isfinite(end) for end in law.support())


def domain_of_law(law: Any) -> Domain:
    """The range of a bounded distribution: integers if it is discrete, a log scale for `loguniform`."""
    if not has_ends(law):
        raise SpaceError(f"{law.dist.name} has no bounds; give a range such as pa.Float(low, high)")
    low, high = (end.item() if hasattr(end, "item") else end for end in law.support())
    return as_range(low, high, whole=hasattr(law.dist, "pmf"), log=law.dist.name in LOGARITHMIC)


def if_understood(read: Callable[[], Read], notes: list[Note]) -> Read | None:
    """The space that `read` returns; None, with a note added to `notes`, if a parameter is not valid."""
    try:
        return read()
    except (SpaceError, ValueError, OverflowError, KeyError, TypeError, AttributeError, RecursionError) as error:
        reason = " ".join(str(error).split())[:100]
        notes.append(Note("source", f"the space cannot be read ({reason}); it is guessed from the trials"))
        return None


Settings: TypeAlias = list[dict[str, object]]


def fit(described: Described, rows: Sequence[Mapping[str, object]]) -> tuple[Space, Settings, list[Note]]:
    """Match the parameter values of each trial to the space; return the space, the values and notes."""
    domains, notes = dict(described.domains), list(described.notes)
    known = {*described.domains, *described.fixed}
    strange = list(dict.fromkeys(str(name) for row in rows for name in row if name not in known))
    if strange:
        notes.append(Note("unused", f"parameters outside the configuration space are left out: {listed(strange)}"))
    listed_domains = {name: values for name, one in domains.items() if (values := values_of(one))}
    nullable = {name for name, values in listed_domains.items() if "None" in values}  # parameters with null as a choice
    settings: Settings = [
        {name: value for name, value in row.items() if name in domains and (value is not None or name in nullable)}
        for row in rows
    ]
    for name, domain in domains.items():
        if name not in listed_domains:
            continue
        labels, points = Labels(listed_domains[name]), _points(domain)
        for row in settings:
            if name in row:
                label = labels.find(row[name])
                near = label if label is not None else _nearest(row[name], points)
                row[name] = near if near is not None else as_plain(row[name])
    return Space(domains), settings, notes


def _points(domain: Domain) -> list[float]:
    """The sorted values of a numeric ordinal; empty for any other domain."""
    values = domain.values if isinstance(domain, Ordinal) else ()
    numbers = [float(v) for v in values if is_number(v)]
    return sorted(numbers) if len(numbers) == len(values) else []


def _nearest(value: object, points: Sequence[float]) -> float | None:
    number = finite_number(value)
    if number is None or len(points) < 2:
        return None
    step = min(b - a for a, b in pairwise(points))
    nearest = min(points, key=lambda point: abs(point - number))
    return nearest if abs(nearest - number) <= NEAR * step else None
