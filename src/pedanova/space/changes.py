"""What became of a space as more rows came: it stays as it is, unless they do not fit into it."""

from __future__ import annotations

from dataclasses import dataclass

from pedanova.space.parameters import Categorical, Float, Int, Ordinal, Parameter, Space


@dataclass(frozen=True, slots=True)
class DomainChange:
    """One parameter: new where it had no domain before, gone where it has none now."""

    name: str
    before: Parameter | None
    after: Parameter | None


def changes_between(before: Space, after: Space) -> tuple[DomainChange, ...]:
    names = dict.fromkeys([*before, *after])
    pairs = [DomainChange(name, before.get(name), after.get(name)) for name in names]
    return tuple(change for change in pairs if change.before != change.after)


def steadied(before: Space, now: Space) -> Space:
    """The parameters of now, each with the domain that it had before where that holds its values still."""
    return Space({name: _steady(before.get(name), parameter) for name, parameter in now.items()})


def _steady(before: Parameter | None, now: Parameter) -> Parameter:
    return before if before is not None and before.when == now.when and holds(before, now) else now


def holds(outer: Parameter, inner: Parameter) -> bool:
    """Whether every value of one domain is one of another; of domains that cannot be compared, no."""
    match outer, inner:
        case Categorical(), Categorical():
            return set(map(_typed, inner.choices)) <= set(map(_typed, outer.choices))
        case Ordinal(), Ordinal():
            return set(map(_typed, inner.values)) <= set(map(_typed, outer.values))
        case Int(), Int():
            return outer.low <= inner.low and inner.high <= outer.high and outer.step == 1
        case Int(), Ordinal():
            return all(_in_range(outer, value) for value in inner.values)
        case Float(), Ordinal():
            return all(_in_range(outer, value) for value in inner.values)
        case Float(), Float() | Int():
            return outer.low <= inner.low and inner.high <= outer.high
    return False


def _in_range(outer: Float | Int, value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    whole = isinstance(outer, Float) or (float(value).is_integer() and outer.step == 1)
    return whole and outer.low <= value <= outer.high


def _typed(label: object) -> tuple[type, object]:
    """True is not 1."""
    return type(label), label
