"""Checks of the values that parameters are made of; every refusal names value, rule and remedy."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from numbers import Integral, Real
from typing import TypeAlias

from pedanova.errors import SpaceError

Label: TypeAlias = str | int | float | bool
Condition: TypeAlias = tuple[str, tuple[Label, ...]]  # parent, the values that make a child active
LARGEST_INT = 2**53  # beyond it a float cannot tell two whole numbers apart


def as_conditions(when: object) -> tuple[Condition, ...]:
    """``{"optimizer": ["sgd"]}`` or ``{"optimizer": "sgd"}`` as pairs of parent and values."""
    if not when:
        return ()
    pairs = when.items() if isinstance(when, Mapping) else when
    if isinstance(pairs, str) or not hasattr(pairs, "__iter__"):
        raise SpaceError(f"when={when!r} must be a dict such as {{'optimizer': ['sgd']}}")
    conditions = []
    for pair in pairs:
        if not isinstance(pair, tuple | list) or len(pair) != 2 or not isinstance(pair[0], str):
            raise SpaceError(f"when={when!r} must be a dict such as {{'optimizer': ['sgd']}}")
        parent, values = pair
        many = [values] if isinstance(values, str | int | float | bool) else values
        conditions.append((parent, as_labels(many, f"when {parent}")))
    return tuple(conditions)


def as_number(value: object, name: str) -> float:
    if not isinstance(value, bool) and isinstance(value, Real):
        with suppress(OverflowError):  # a whole number too large for a float
            if math.isfinite(value):
                return float(value)
    raise SpaceError(f"{name}={shown(value)} must be a finite number")


def as_whole(value: object, name: str) -> int:
    if not isinstance(value, bool):
        if isinstance(value, Integral):
            return int(value)
        if isinstance(value, Real) and float(value).is_integer():
            return int(float(value))
    raise SpaceError(f"{name}={value!r} must be a whole number; use Float for real ones")


def shown(value: object, most: int = 60) -> str:
    """A value for a message, cut short."""
    text = repr(value)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def check_bounds(low: float, high: float, *, log: bool) -> None:
    if not isinstance(log, bool):
        raise SpaceError(f"log={log!r} must be True or False")
    if not low < high:
        raise SpaceError(f"low={shown(low)} must be below high={shown(high)}; a constant is Ordinal([{shown(low)}])")
    if log and low <= 0:
        raise SpaceError(f"low={shown(low)} must be above 0 on a log scale; pass log=False or raise low")


def as_labels(values: object, what: str) -> tuple[Label, ...]:
    if isinstance(values, str | bytes) or not hasattr(values, "__iter__"):
        raise SpaceError(f"{what}={values!r} must be a list of values, such as ['adam', 'sgd']")
    labels = tuple(as_label(value, what) for value in values)
    if not labels:
        raise SpaceError(f"{what} are empty; give at least one value")
    if len(set(labels)) < len(labels):
        twice = next(label for i, label in enumerate(labels) if label in labels[:i])
        raise SpaceError(f"{what} hold {twice!r} twice; give each value once")
    return labels


def as_label(value: object, what: str) -> Label:
    """A plain Python value; NumPy's scalars are unwrapped, other objects become their text."""
    plain = value.item() if hasattr(value, "item") and not isinstance(value, str) else value
    if isinstance(plain, float) and not math.isfinite(plain):
        raise SpaceError(f"{what} hold {plain!r}; only finite numbers, text and booleans can be values")
    if isinstance(plain, int) and not isinstance(plain, bool) and abs(plain) > LARGEST_INT:
        return str(plain)  # beyond what a float can hold apart: a name rather than a number
    if isinstance(plain, str | int | float | bool):
        return plain
    return "None" if plain is None else str(plain)


def as_real(value: float) -> float:
    """The nearest float, infinite if the value is too large for one."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
