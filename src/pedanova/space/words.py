"""Domains in words."""

from __future__ import annotations

from pedanova.base.digits import DIGITS, short
from pedanova.space.parameters import Categorical, Float, Int, Moving, Ordinal, Parameter, Switch


def in_words(parameter: Parameter, digits: int = DIGITS) -> str:
    """A domain, short enough for a table; more digits for who goes on computing."""
    match parameter:
        case Float(low, high, log):
            return f"{short(low, digits)} … {short(high, digits)}{' log' if log else ''}"
        case Int(low, high, step, log):
            return f"{short(low)} … {short(high)}{f' by {step}' if step > 1 else ''}{' log' if log else ''}"
        case Categorical(values) | Ordinal(values):
            shown = [short(value, digits) for value in values]
            return ", ".join(shown) if len(shown) <= 6 else f"{', '.join(shown[:5])} … {shown[-1]}"
        case Moving(low, high):
            return f"{low} … {high}"
        case Switch(by):
            return f"by {by}" if by else " or ".join(in_words(domain, digits) for domain in parameter.regimes)


def values_of(parameter: Parameter) -> tuple[object, ...]:
    """The values of a list; nothing for a range."""
    match parameter:
        case Categorical(values) | Ordinal(values):
            return tuple(values)
        case _:
            return ()


def domain_names(parameter: Switch) -> list[str]:
    """Of each of its domains, when it holds."""
    names = [[str(value) for value, other in parameter.domains if other == one] for one in parameter.regimes]
    before = f"where {parameter.by} is " if parameter.by else ""
    return [before + " or ".join(some) for some in names]
