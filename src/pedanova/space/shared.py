"""What two search spaces share: parameters in both, and of each the values that both may take."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pedanova.space.parameters import Categorical, Float, Int, Ordinal, Parameter, Space
from pedanova.space.values import Label

SAME = 0.02  # of a range: bounds taken from data differ a little


@dataclass(frozen=True, slots=True)
class CommonSpace:
    """Two spaces side by side.

    alike
        Parameters whose domains are the same, or nearly.
    narrowed
        Parameters whose domains overlap: what both may be, as a box takes it.
    unlike
        Parameters that share no value, or are of different kinds.
    first, second
        Parameters of one space alone.
    """

    alike: tuple[str, ...]
    narrowed: dict[str, Any]
    unlike: tuple[str, ...]
    first: tuple[str, ...]
    second: tuple[str, ...]

    @property
    def same(self) -> bool:
        return not (self.narrowed or self.unlike or self.first or self.second)

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.alike, *self.narrowed)


def shared_space(one: Space, two: Space) -> CommonSpace:
    """What can be compared of two spaces.

    Examples
    --------
    >>> one = Space({"lr": Float(1e-4, 1.0, log=True), "depth": Int(1, 8)})
    >>> two = Space({"lr": Float(1e-3, 10.0, log=True), "width": Int(1, 8)})
    >>> found = shared_space(one, two)
    >>> found.narrowed, found.first, found.second
    ({'lr': (0.001, 1.0)}, ('depth',), ('width',))
    """
    alike, unlike = [], []
    narrowed: dict[str, Any] = {}
    for name in (name for name in one if name in two):
        if same_domain(one[name], two[name]):
            alike.append(name)
        elif (common := common_values(one[name], two[name])) is not None:
            narrowed[name] = common
        else:
            unlike.append(name)
    alone = [tuple(name for name in a if name not in b) for a, b in ((one, two), (two, one))]
    return CommonSpace(tuple(alike), narrowed, tuple(unlike), *alone)


def same_domain(one: Parameter, two: Parameter) -> bool:
    """Equal, or ranges whose bounds differ by next to nothing."""
    match one, two:
        case ((Float() | Int()), (Float() | Int())):
            ends = [_scaled((p.low, p.high), log=one.log and two.log) for p in (one, two)]
            width = max(high - low for low, high in ends)
            return all(abs(a - b) <= SAME * width for a, b in zip(*ends, strict=True))
        case ((Categorical(first) | Ordinal(first)), (Categorical(second) | Ordinal(second))):
            return set(first) == set(second)
    return one == two


def same_cells(one: Parameter, two: Parameter) -> bool:
    """Whether cells of the same number stand for the same values, or nearly."""
    if one == two:
        return True
    both = isinstance(one, Float) and isinstance(two, Float) and (one.log, one.when) == (two.log, two.when)
    return both and same_domain(one, two)


def _scaled(bounds: Iterable[float], *, log: bool) -> tuple[float, float]:
    low, high = (math.log(bound) if log else float(bound) for bound in bounds)
    return low, high


def common_values(one: Parameter, two: Parameter) -> tuple[float, float] | set[Label] | None:
    """The range or the values that both may take; None where there are no two of them."""
    match one, two:
        case ((Float() | Int()), (Float() | Int())):
            low, high = max(one.low, two.low), min(one.high, two.high)
            return (low, high) if low < high else None
        case ((Categorical(first) | Ordinal(first)), (Categorical(second) | Ordinal(second))):
            both = {value for value in first if value in second}
            return both if len(both) > 1 else None
        case ((Categorical(values) | Ordinal(values)), (Float() | Int())):
            return _within(values, two)
        case ((Float() | Int()), (Categorical(values) | Ordinal(values))):
            return _within(values, one)
    return None


def _within(values: Iterable[Label], span: Float | Int) -> set[Label] | None:
    """Values of a list that lie in a range."""
    numbers = {v for v in values if isinstance(v, int | float) and not isinstance(v, bool)}
    both: set[Label] = {value for value in numbers if span.low <= value <= span.high}
    return both if len(both) > 1 else None
