"""The space of a Hydra sweep: what the `params` of its sweeper say of each setting, such as interval(0, 1)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pedanova.data.column import read_plain
from pedanova.errors import SpaceError
from pedanova.sources.spaces.described import as_choices
from pedanova.space.parameters import Float, Int, Parameter
from pedanova.space.values import Label

CALL = re.compile(r"\s*(\w+)\s*\((.*)\)\s*", re.DOTALL)
WORDS: dict[str, Label] = {"true": True, "false": False}


def sweep_in(plain: Mapping[Any, Any]) -> Mapping[Any, Any] | None:
    """The settings of `hydra.sweeper`, by name; None of another configuration."""
    hydra = plain.get("hydra")
    sweeper = hydra.get("sweeper") if isinstance(hydra, Mapping) else None
    if not isinstance(sweeper, Mapping):
        return None
    return next((sweeper[key] for key in ("params", "search_space") if isinstance(sweeper.get(key), Mapping)), None)


def override(name: str, given: Any) -> Parameter | str:
    """A setting's domain, as it is written behind its name on Hydra's command line; or why it has none.

    Examples
    --------
    >>> override("lr", "tag(log, interval(0.001, 0.1))")
    Float(0.001, 0.1, log=True)
    >>> override("units", "range(16, 64, step=16)")
    Int(16, 48, step=16)
    """
    if isinstance(given, Mapping):
        return _described(name, given)
    text = str(given).strip()
    call = CALL.fullmatch(text)
    if call is None:
        values = [_word(one) for one in text.split(",")]
        return as_choices(values, ordered=True) if len(values) > 1 else "is constant in the sweep"
    kind, parts = call[1], _parts(call[2])
    if kind in ("tag", "shuffle", "sort", "float"):
        inside = override(name, parts[-1])
        log = kind == "tag" and "log" in parts[:-1] and isinstance(inside, Float | Int)
        return _ranged(inside.low, inside.high, log=True) if log else inside  # type: ignore[union-attr]
    if kind == "choice":
        return as_choices([_word(one) for one in parts], ordered=True)
    numbers = [read_plain(part.rpartition("=")[2].strip()) for part in parts]
    if kind == "int" and len(parts) == 1 and isinstance(inner := override(name, parts[0]), Float):
        return Int(int(inner.low), int(inner.high), log=inner.log)
    if kind == "interval" and len(numbers) == 2 and None not in numbers:
        return Float(float(numbers[0] or 0), float(numbers[1] or 0))
    if kind == "range" and None not in numbers and 1 <= len(numbers) <= 3:
        low, high, step = (0, *numbers, 1) if len(numbers) == 1 else (*numbers, 1)[:3]
        values = range(int(low or 0), int(high or 0), int(step or 1))
        return Int(values[0], values[-1], step=values.step)
    raise SpaceError(f"{name}: {text!r} is no domain of Hydra's, such as interval(0, 1), range(1, 9) or choice(a, b)")


def _described(name: str, given: Mapping[Any, Any]) -> Parameter:
    if "choices" in given:
        return as_choices(list(given["choices"]), ordered=True)
    low, high = given.get("low", given.get("lower")), given.get("high", given.get("upper"))
    if not isinstance(low, int | float) or not isinstance(high, int | float):
        raise SpaceError(f"{name}: {dict(given)!r} has neither choices nor low and high; write them")
    kind = str(given.get("type", given.get("integer", "")))
    log = bool(given.get("log")) or "log" in kind
    return _ranged(int(low), int(high), log=log) if kind in ("int", "True") else Float(float(low), float(high), log=log)


def _ranged(low: float, high: float, *, log: bool) -> Parameter:
    return Int(low, high, log=log) if isinstance(low, int) else Float(low, high, log=log)  # type: ignore[arg-type]


def _word(text: str) -> Label:
    plain = text.strip()
    number = read_plain(plain)
    return number if number is not None else WORDS.get(plain.lower(), plain.strip("'\""))


def _parts(text: str) -> list[str]:
    """Cut at commas that stand in no brackets."""
    parts, depth = [""], 0
    for sign in text:
        depth += (sign in "([{") - (sign in ")]}")
        if sign == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts]
