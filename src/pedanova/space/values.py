"""Check bounds, values and conditions of parameters; every error message names the value, the rule and the remedy."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, TypeAlias, TypeGuard

from pedanova.errors import SpaceError, plainly

Label: TypeAlias = str | int | float | bool
LARGEST_INT = 2**53  # larger whole numbers are not all exact as floats


@dataclass(frozen=True, slots=True)
class Interval:
    """The numbers between two bounds; a bound is included unless it is open."""

    low: float = -math.inf
    high: float = math.inf
    open_low: bool = False
    open_high: bool = False

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, Real) or value != value:
                raise SpaceError(f"{name}={shown(value)} in a condition must be a number")
            object.__setattr__(self, name, as_real(value))
        if self.low > self.high or (self.low == self.high and (self.open_low or self.open_high)):
            raise SpaceError(f"no number lies between {self.low:g} and {self.high:g}; low must be below high")

    def __contains__(self, value: object) -> bool:
        return isinstance(value, Real) and self.holds(float(value))

    def holds(self, numbers: Any) -> Any:
        """Whether a number, or each number of an array, lies in the interval."""
        above = numbers > self.low if self.open_low else numbers >= self.low
        return above & (numbers < self.high if self.open_high else numbers <= self.high)

    def __str__(self) -> str:
        """The interval as text, such as ``> 0`` or ``>= 0 and <= 0.5``."""
        return " and ".join(self.tests()).replace("inf", "∞")

    def tests(self) -> list[str]:
        """The interval as comparisons, such as ``["> 0", "<= 0.5"]``."""
        low = [f"{'>' if self.open_low else '>='} {self.low:.12g}"] if self.low > -math.inf else []
        return [*low, *([f"{'<' if self.open_high else '<='} {self.high:.12g}"] if self.high < math.inf else [])]


Value: TypeAlias = Label | Interval
Condition: TypeAlias = tuple[str, tuple[Value, ...]]  # parent, the values that make a child active


def above(value: float) -> Interval:
    """Numbers larger than `value`, for a condition: ``Float(0, 1, when={"dropout": above(0)})``.

    Parameters
    ----------
    value
        The bound, which is not included.

    Returns
    -------
    Interval
        A value for `when`.

    Examples
    --------
    >>> import pedanova as pa
    >>> 0.1 in pa.above(0), 0.0 in pa.above(0)
    (True, False)
    """
    return Interval(low=value, open_low=True)


def below(value: float) -> Interval:
    """Numbers smaller than `value`, for a condition: ``Float(0, 1, when={"share": below(0.5)})``.

    Parameters
    ----------
    value
        The bound, which is not included.

    Returns
    -------
    Interval
        A value for `when`.

    Examples
    --------
    >>> import pedanova as pa
    >>> 0.4 in pa.below(0.5), 0.5 in pa.below(0.5)
    (True, False)
    """
    return Interval(high=value, open_high=True)


def interval_from(values: object) -> Interval | None:
    """Convert the result of `above`, `below` or `between`, or a dict, to an interval; None for other values."""
    if isinstance(values, Interval):
        return values
    if isinstance(values, Mapping):
        strange = [key for key in values if key not in Interval.__match_args__]
        if strange:
            words = f"a range has no field {strange[0]!r}; its fields are {', '.join(Interval.__match_args__)}"
            raise SpaceError(words)
        return Interval(**values)
    if not hasattr(values, "low") or not hasattr(values, "high"):
        return None
    low, high = values.low, values.high
    return Interval(-math.inf if low is None else float(low), math.inf if high is None else float(high))


def as_conditions(when: object) -> tuple[Condition, ...]:
    """Convert ``{"optimizer": "sgd"}`` or ``{"dropout": above(0)}`` to pairs of parent and values."""
    if not when:
        return ()
    pairs = when.items() if isinstance(when, Mapping) else when
    if isinstance(pairs, str) or not hasattr(pairs, "__iter__"):
        raise SpaceError(f"when={when!r} must be a dict such as {{'optimizer': ['sgd']}}")
    conditions: list[Condition] = []
    for pair in pairs:
        if not isinstance(pair, tuple | list) or len(pair) != 2 or not isinstance(pair[0], str):
            raise SpaceError(f"when={when!r} must be a dict such as {{'optimizer': ['sgd']}}")
        parent, values = pair
        single = isinstance(values, str | int | float | bool) or interval_from(values) is not None
        conditions.append((parent, as_values([values] if single else values, f"when {parent}")))
    return tuple(conditions)


def as_values(values: object, what: str) -> tuple[Value, ...]:
    if isinstance(values, str | bytes) or not hasattr(values, "__iter__"):
        raise SpaceError(f"{what}={values!r} must be a list of values, such as ['adam', 'sgd']")
    ranges = {place: interval for place, value in enumerate(values) if (interval := interval_from(value)) is not None}
    if not ranges:
        return as_labels(values, what)
    rest = iter(as_labels(plain, what) if (plain := [v for i, v in enumerate(values) if i not in ranges]) else ())
    return tuple(ranges[place] if place in ranges else next(rest) for place, _ in enumerate(values))


def is_one_of(value: object, values: tuple[Value, ...]) -> bool:
    return any(value in one if isinstance(one, Interval) else value == one for one in values)


def in_both(some: tuple[Value, ...], others: tuple[Value, ...]) -> tuple[Value, ...]:
    result: list[Value] = []
    for one in some:
        for other in others:
            if isinstance(one, Interval) and isinstance(other, Interval):
                low, high = max(one.low, other.low), min(one.high, other.high)
                open_low = any(low == each.low and each.open_low for each in (one, other))
                open_high = any(high == each.high and each.open_high for each in (one, other))
                if low < high or (low == high and not (open_low or open_high)):
                    result.append(Interval(low, high, open_low, open_high))
            elif isinstance(other, Interval) or one == other:
                result += [one] if is_one_of(one, (other,)) else []
            elif isinstance(one, Interval) and is_one_of(other, (one,)):
                result.append(other)
    return tuple(dict.fromkeys(result))


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether a value is a plain number; True and False are not numbers."""
    return isinstance(value, int | float) and not isinstance(value, bool)


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
    raise SpaceError(f"{name}={shown(value)} must be a whole number; use Float for real numbers")


def shown(value: object, most: int = 60) -> str:
    text = " ".join(plainly(value).split())
    return text if len(text) <= most else f"{text[: most - 1]}…"


def check_bounds(low: float, high: float, *, log: bool) -> None:
    if not isinstance(log, bool):
        raise SpaceError(f"log={log!r} must be True or False")
    if not low < high:
        words = f"low={shown(low)} must be below high={shown(high)}; for a constant use Ordinal([{shown(low)}])"
        raise SpaceError(words)
    if log and low <= 0:
        raise SpaceError(f"low={shown(low)} must be above 0 on a log scale; pass log=False or raise low")


def items_of(values: object) -> list[Any] | None:
    """The items of a list or another iterable; None for text and for values without items, such as ``np.array(5)``."""
    try:
        return None if isinstance(values, str) else list(values)  # type: ignore[call-overload]
    except TypeError:
        return None


def as_labels(values: object, what: str) -> tuple[Label, ...]:
    items = None if isinstance(values, bytes) or getattr(values, "ndim", 1) > 1 else items_of(values)
    if items is None:
        raise SpaceError(f"{what}={shown(values)} must be a list of values, such as ['adam', 'sgd']")
    labels = tuple(as_label(value, what) for value in items)
    if not labels:
        raise SpaceError(f"{what} are empty; give at least one value")
    if len(set(labels)) < len(labels):
        twice = next(label for i, label in enumerate(labels) if label in labels[:i])
        raise SpaceError(f"{what} hold {twice!r} twice; give each value once")
    return labels


def as_label(value: object, what: str) -> Label:
    """Convert a value to a plain Python value: NumPy scalars are unwrapped, other objects become text."""
    plain = value.item() if hasattr(value, "item") and not isinstance(value, str) else value
    if isinstance(plain, float) and not math.isfinite(plain):
        raise SpaceError(f"{what} hold {plain!r}; only finite numbers, text and booleans can be values")
    if isinstance(plain, int) and not isinstance(plain, bool) and abs(plain) > LARGEST_INT:
        return plainly(plain)  # too large to be exact as a float, so it is used as a name
    if isinstance(plain, str | int | float | bool):
        return plain
    return "None" if plain is None else str(plain)


def as_real(value: Any) -> float:
    """Convert a value to the nearest float: infinite if it is too large, NaN if it is text that is not a number."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    except ValueError:
        return math.nan
