"""Which rows a question is about: quantiles, values and bands of the objective."""

from __future__ import annotations

import math
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from numbers import Real
from typing import Literal, TypeAlias

import numpy as np

from pedanova.base.digits import short
from pedanova.errors import Arg, QueryError

Direction: TypeAlias = Literal["minimize", "maximize"]


def sign_of(direction: str) -> float:
    """What an objective is multiplied by so that less is better."""
    return 1.0 if direction == "minimize" else -1.0


@dataclass(frozen=True, slots=True)
class Quantile:
    """A cut behind the best ``⌈part · rows⌉`` rows and their ties."""

    part: Fraction

    def __str__(self) -> str:
        return f"the best {percent(self.part)}"


@dataclass(frozen=True, slots=True)
class Threshold:
    """A cut behind all rows whose objective, times -1 when maximised, is at most `signed`."""

    signed: float


Cut: TypeAlias = Quantile | Threshold


@dataclass(frozen=True, slots=True)
class Region:
    """Rows between two cuts in order of goodness. Make one with `at_most`, `at_least`, `between`, `equals`.

    Attributes
    ----------
    kind
        ``"quantile"`` or ``"value"``: what the cuts are.
    low, high
        The cuts; None where there is none.

    Examples
    --------
    >>> import pedanova as pa
    >>> pa.at_most(0.05).high
    0.05
    """

    kind: Literal["quantile", "value"]
    low: float | Fraction | None
    high: float | Fraction | None

    def cuts(self, direction: Direction) -> tuple[Cut | None, Cut | None]:
        """Where the rows begin and end, best first; None is the end of the data."""
        if self.kind == "quantile":
            begin = Quantile(Fraction(self.low)) if self.low else None
            end = None if self.high is None or self.high == 1 else Quantile(Fraction(self.high))
            return begin, end
        sign = sign_of(direction)
        best, worst = (self.low, self.high) if sign > 0 else (self.high, self.low)
        # "at least v" begins behind everything that is better than v.
        begin_at = None if best is None else math.nextafter(sign * float(best), -math.inf)
        if best is not None and sign * float(best) == -math.inf:  # nothing is better than that
            begin_at = None
        end_at = None if worst is None else sign * float(worst)
        return (None if begin_at is None else Threshold(begin_at), None if end_at is None else Threshold(end_at))

    @property
    def is_all(self) -> bool:
        """Whether no row is outside, whatever the data."""
        return self.kind == "quantile" and not self.low and self.high in (None, 1)

    def as_float32(self) -> Region:
        """The same region for an objective kept as float32: 0.1 then means the nearest float32."""
        if self.kind == "quantile":
            return self
        low, high = (None if v is None else float(np.float32(v)) for v in (self.low, self.high))
        return Region("value", low, high)

    def __str__(self) -> str:
        if self.kind == "quantile":
            high = Fraction(1 if self.high is None else self.high)
            if not self.low:
                return "all rows" if self.is_all else f"the best {percent(high)}"
            return f"the rows behind the best {percent(Fraction(self.low))} up to the best {percent(high)}"
        if self.low == self.high:
            return f"rows with objective = {_shown(self.low)}"
        if self.low is None:
            return f"rows with objective ≤ {_shown(self.high)}"
        if self.high is None:
            return f"rows with objective ≥ {_shown(self.low)}"
        return f"rows with {_shown(self.low)} ≤ objective ≤ {_shown(self.high)}"


def _shown(value: float | Fraction | None) -> str:
    return "" if value is None else short(float(value))


def at_most(value: float) -> Region:
    """Rows whose objective is `value` or less.

    Parameters
    ----------
    value
        In the units of the objective.

    Returns
    -------
    Region
        For `target` and `region`.

    Raises
    ------
    QueryError
        `value` is no number.

    Examples
    --------
    >>> from pedanova import at_most
    >>> print(at_most(0.05))
    rows with objective ≤ 0.05
    """
    return Region("value", None, _as_value(value))


def at_least(value: float) -> Region:
    """Rows whose objective is `value` or more.

    Parameters
    ----------
    value
        In the units of the objective.

    Returns
    -------
    Region
        For `target` and `region`.

    Raises
    ------
    QueryError
        `value` is no number.

    Examples
    --------
    >>> from pedanova import at_least
    >>> print(at_least(0.9))
    rows with objective ≥ 0.9
    """
    return Region("value", _as_value(value), None)


def equals(value: float) -> Region:
    """Rows whose objective is exactly `value`, such as 1 for a condition that holds.

    Parameters
    ----------
    value
        In the units of the objective, or True and False.

    Returns
    -------
    Region
        For `target` and `region`.

    Raises
    ------
    QueryError
        `value` is no number.

    Examples
    --------
    >>> import pedanova as pa
    >>> a = pa.analyze(pa.demo_trials(), "error < 0.1", direction="maximize", exclude=["train_seconds"])
    >>> a.importance(pa.equals(True), draws=0, estimator="counts").rows[0].n_target
    247
    """
    exact = _as_value(int(value) if isinstance(value, bool) else value)
    return Region("value", exact, exact)


def between(low: float, high: float, *, values: bool = False) -> Region:
    """A band: rows behind the best `low` up to and with the best `high` part (quantiles).

    The better end does not belong to it, the worse one does: of 100 rows without ties ``between(0.1, 0.3)``
    is the rows 11 to 30, so that the best 10 % and the band are the best 30 %. Rows that tie with the last
    of the best `low` are none of the band; those that tie with its own last row are.

    Parameters
    ----------
    low, high
        Quantiles, or values of the objective.
    values
        Whether they are values: rows whose objective lies between them, both ends included.

    Returns
    -------
    Region
        For `target` and `region`.

    Raises
    ------
    QueryError
        `low` is not below `high`, or one of them is out of range.

    Examples
    --------
    >>> from pedanova import between
    >>> print(between(0.1, 0.3))
    the rows behind the best 10 % up to the best 30 %
    >>> print(between(0.1, 0.3, values=True))
    rows with 0.1 ≤ objective ≤ 0.3
    """
    if values:
        first, last = _as_value(low), _as_value(high)
        if not first <= last:
            raise QueryError(f"between({low!r}, {high!r}): low must not exceed high; swap them")
        return Region("value", first, last)
    start, stop = as_part(low, "low", zero=True), as_part(high, "high")
    if not start < stop:
        raise QueryError(f"between({low!r}, {high!r}): low must be below high; swap them")
    return Region("quantile", start, stop)


def as_region(value: object, name: str) -> Region:
    """A region from a quantile such as 0.1, or a region as it is."""
    if isinstance(value, Region):
        return value
    return Region("quantile", Fraction(0), as_part(value, name))


def as_part(value: object, name: str, *, zero: bool = False) -> Fraction:
    """A quantile in exact decimals: 0.07 is 7/100, not the nearest binary fraction."""
    rule = "a quantile above 0 and at most 1, such as 0.1 for the best 10 %"
    if zero:
        rule = rule.replace("above 0", "from 0")
    if isinstance(value, Fraction):
        part = value
    elif isinstance(value, bool) or not isinstance(value, Real | Decimal):
        raise QueryError(Arg(name, value), f" must be {rule}; or use at_most(v), between(lo, hi)")
    else:
        try:
            part = Fraction(Decimal(str(value)))
        except (InvalidOperation, ValueError, OverflowError):
            raise QueryError(Arg(name, shown=f"{value}"), f" must be {rule}") from None
    if not (0 <= part <= 1 if zero else 0 < part <= 1):
        raise QueryError(Arg(name, shown=f"{value}"), f" must be {rule}")
    return part


def rank_of(part: Fraction, rows: int) -> int:
    """⌈part · rows⌉ without rounding errors."""
    return -(-part.numerator * rows // part.denominator)


def percent(part: Fraction) -> str:
    return f"{float(part * 100):.6g} %"


def _as_value(value: object) -> float:
    with suppress(OverflowError):  # a whole number too large for a float
        if not isinstance(value, bool) and isinstance(value, Real) and not math.isnan(value):
            return float(value)
    raise QueryError(f"{str(value)[:60]} must be a number, in the units of the objective")


def as_parts(chosen: Iterable[object]) -> list[Fraction]:
    """Rungs as the caller names them."""
    if isinstance(chosen, str) or not isinstance(chosen, Iterable):
        raise QueryError(Arg("ladder", chosen), " must be a list of quantiles, such as [0.01, 0.1, 1.0]")
    return [as_part(part, "ladder") for part in chosen]
