"""The space of a Hydra sweep: what the `params` of its sweeper say of each setting, such as interval(0, 1)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
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
    Float(low=0.001, high=0.1, log=True)
    >>> override("units", "range(16, 64, step=16)")
    Int(low=16, high=48, step=16, log=False)
    """
    if isinstance(given, Mapping):
        return _described(name, given)
    text = str(given).strip()
    call = CALL.fullmatch(text)
    if call is None:
        values = [_word(one) for one in text.split(",")]
        return as_choices(values, ordered=True) if len(values) > 1 else "is constant in the sweep"
    kind, parts = call[1], _parts(call[2])
    if kind == "choice":
        return as_choices([_word(one) for one in parts], ordered=True)
    if kind in ("tag", "shuffle", "sort", "float", "int"):
        inside = override(name, parts[-1])
        if kind == "tag" and "log" in parts[:-1] and isinstance(inside, Float | Int):
            return replace(inside, log=True)
        if kind == "int" and isinstance(inside, Float):
            return Int(int(inside.low), int(inside.high), log=inside.log)
        return inside
    numbers = [float(one) for part in parts if (one := read_plain(part.rpartition("=")[2].strip())) is not None]
    if len(numbers) == len(parts) == 2 and kind == "interval":
        return Float(numbers[0], numbers[1])
    if len(numbers) == len(parts) <= 3 and kind == "range":
        whole = range(*map(int, numbers))
        return Int(whole[0], whole[-1], step=whole.step)
    raise SpaceError(f"{name}: {text!r} is not a Hydra domain such as interval(0, 1), range(1, 9) or choice(a, b)")


def _described(name: str, given: Mapping[Any, Any]) -> Parameter:
    if "choices" in given:
        return as_choices(list(given["choices"]), ordered=True)
    low, high = given.get("low", given.get("lower")), given.get("high", given.get("upper"))
    if not isinstance(low, int | float) or not isinstance(high, int | float):
        raise SpaceError(f"{name}: {dict(given)!r} has neither choices nor low and high; write them")
    kind = str(given.get("type", given.get("integer", "")))
    log = bool(given.get("log")) or "log" in kind
    if kind in ("int", "True"):
        return Int(int(low), int(high), log=log)
    return Float(float(low), float(high), log=log)


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
