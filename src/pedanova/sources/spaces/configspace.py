"""Configuration spaces as ConfigSpace writes them, of every version, and its objects.

What has no counterpart here is named in notes: constants and forbidden combinations are left out,
normal and beta laws keep their bounds alone, and a normal law without bounds takes those of the
trials. A step `q` with few values makes an ordinal of them, otherwise a range.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pedanova.base.notes import Note
from pedanova.data.column import shorten
from pedanova.errors import FormatError, PedanovaError, SpaceError, listed
from pedanova.sources.kind import read_json
from pedanova.sources.spaces.clauses import Clauses
from pedanova.sources.spaces.described import Described, Domain, Open, as_labels, as_number, as_plain
from pedanova.space.parameters import Categorical, Float, Int, Ordinal, Space
from pedanova.space.values import LARGEST_INT, Label

FEW_STEPS = 50  # a step with at most so many values makes an ordinal
CLASSES = {
    "UniformFloatHyperparameter": "uniform_float",
    "UniformIntegerHyperparameter": "uniform_int",
    "NormalFloatHyperparameter": "normal_float",
    "NormalIntegerHyperparameter": "normal_int",
    "BetaFloatHyperparameter": "beta_float",
    "BetaIntegerHyperparameter": "beta_int",
    "CategoricalHyperparameter": "categorical",
    "OrdinalHyperparameter": "ordinal",
    "Constant": "constant",
    "UnParametrizedHyperparameter": "unparametrized",
    "EqualsCondition": "EQ",
    "NotEqualsCondition": "NEQ",
    "InCondition": "IN",
    "GreaterThanCondition": "GT",
    "LessThanCondition": "LT",
    "AndConjunction": "AND",
    "OrConjunction": "OR",
}
FIELDS = ("lower", "upper", "log", "q", "choices", "sequence", "value", "values", "weights", "mu", "alpha")
CONSTANTS = ("constant", "unparametrized", "unparameterized")


@dataclass(slots=True)
class Reading:
    """Hyperparameters as they are read, one by one."""

    domains: dict[str, Domain] = field(default_factory=dict)
    constants: dict[str, Label] = field(default_factory=dict)
    ranges: dict[str, Float] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)


def space_from_configspace(plain: object) -> tuple[Space, list[Note]]:
    """The space of a ConfigSpace JSON document or object, and notes on what it cannot hold.

    Settings without bounds are not in it: only trials can tell their domain.

    Examples
    --------
    >>> lr = {"name": "lr", "type": "uniform_float", "lower": 0.001, "upper": 1.0, "log": True}
    >>> space_from_configspace({"hyperparameters": [lr], "conditions": [], "forbiddens": []})[0]
    Space({'lr': Float(low=0.001, high=1.0, log=True)})
    """
    described = describe(plain)
    unbounded = [name for name, domain in described.domains.items() if isinstance(domain, Open)]
    notes = [Note("source", f"without bounds and left to the data: {listed(unbounded)}")] if unbounded else []
    return described.space, [*described.notes, *notes]


def read_space(folder: Path) -> Described | None:
    """The configspace.json beside a log; None where there is none."""
    file = folder / "configspace.json"
    return _described(file, read_json(file)) if file.is_file() else None


def _described(file: Path, plain: object) -> Described:
    try:
        return describe(plain)
    except PedanovaError as error:
        raise FormatError(f"{file}: {error}") from None
    except RecursionError:
        raise FormatError(f"{file}: conditions are nested too deeply; flatten them") from None


def describe(source: object) -> Described:
    """Everything that a ConfigSpace document or object says of its settings."""
    plain = source if isinstance(source, Mapping) and "hyperparameters" in source else as_document(source)
    reading = Reading()
    for item in _items(plain, "hyperparameters"):
        _read_one(item, reading)
    clauses = Clauses(_items(plain, "conditions"), reading.domains, reading.constants)
    fixed, domains, metadata = list(reading.constants), {}, True
    for name, domain in reading.domains.items():
        clause = clauses.of(name)
        if clause.never:
            reading.notes.append(Note("unused", "its condition can never hold; left out", subject=name))
            fixed.append(name)
            continue
        if clause.words:
            metadata = False
            reading.notes.append(
                Note("space", f"exists only if {clause.words}; taken from where it has a value", subject=name)
            )
        domains[name] = replace(domain, when=clause.conditions)
    if reading.constants:
        reading.notes.append(Note("unused", f"constant and left out: {listed(list(reading.constants))}"))
    forbidden = len(_items(plain, "forbiddens"))
    if forbidden:
        many = "a combination" if forbidden == 1 else f"{forbidden} combinations"
        reading.notes.append(Note("source", f"the configuration space forbids {many} of values; that is not modelled"))
    ranges = {name: low_high for name, low_high in reading.ranges.items() if name in domains}
    return Described(domains, tuple(reading.notes), tuple(fixed), metadata, ranges)


def as_document(space: object) -> Mapping[str, Any]:
    """The JSON document of a ConfigSpace object, by its own word or from its attributes."""
    write = getattr(space, "to_serialized_dict", None)
    if callable(write):
        written: Mapping[str, Any] = write()
        return written
    if not hasattr(space, "get_hyperparameters"):
        raise FormatError(f"{shorten(space)} is no configuration space: it has no hyperparameters")
    document = {}
    for key in ("hyperparameters", "conditions", "forbiddens"):
        ask = getattr(space, f"get_{key}", None)
        document[key] = [_as_item(part) for part in ask()] if callable(ask) else []
    return document


def _as_item(part: Any) -> dict[str, Any]:
    """One hyperparameter or condition of an object from before version 1, as JSON had it."""
    item: dict[str, Any] = {"type": CLASSES.get(type(part).__name__, type(part).__name__)}
    for key in FIELDS:
        if hasattr(part, key):
            value = getattr(part, key)
            item[key] = list(value) if key in ("choices", "sequence", "values", "weights") and value else value
    if hasattr(part, "name"):
        item["name"] = part.name
    for key in ("child", "parent"):
        if hasattr(part, key):
            item[key] = getattr(part, key).name
    if hasattr(part, "components"):
        item["conditions"] = [_as_item(one) for one in part.components]
    return item


def _items(plain: Mapping[str, Any], key: str) -> list[Any]:
    found = plain.get(key) or []
    if isinstance(found, Mapping):
        return [{"name": name, **item} for name, item in found.items() if isinstance(item, Mapping)]
    if isinstance(found, list | tuple):
        return list(found)
    raise FormatError(f"{key} is {shorten(found)}; a configuration space needs a list there")


def _read_one(item: object, reading: Reading) -> None:
    if not isinstance(item, Mapping) or not isinstance(item.get("name"), str) or not item["name"]:
        raise FormatError(f"the hyperparameter {shorten(item)} needs a name; mend the file")
    name, kind = item["name"], str(item.get("type"))
    if name in reading.domains or name in reading.constants:
        raise FormatError(f"two hyperparameters are called {name!r}; every one needs its own name")
    if kind in CONSTANTS:
        reading.constants[name] = as_plain(item.get("value"))
        return
    try:
        domain = _choices(item) if kind in ("categorical", "ordinal") else _range(item, kind, reading)
    except (SpaceError, FormatError) as error:
        raise FormatError(f"{name}: {error}") from None
    values = _listed(domain)
    if values is not None and len(values) == 1:
        reading.constants[name] = values[0]
        return
    reading.domains[name] = domain
    if item.get("weights") or item.get("probabilities"):
        reading.notes.append(Note("space", "its choices have weights; they are not used", subject=name))


def _listed(domain: Domain) -> tuple[Label, ...] | None:
    if isinstance(domain, Categorical):
        return domain.choices
    return domain.values if isinstance(domain, Ordinal) else None


def _choices(item: Mapping[str, Any]) -> Categorical | Ordinal:
    key = "choices" if item["type"] == "categorical" else "sequence"
    values = item.get(key, item.get("values"))
    if not isinstance(values, list | tuple) or not values:
        raise FormatError(f"{key} is {shorten(values)}; it needs a list of values")
    return Categorical(as_labels(values)) if key == "choices" else Ordinal(as_labels(values))


def _range(item: Mapping[str, Any], kind: str, reading: Reading) -> Domain:
    """A range of numbers, or its steps; open where there are no bounds."""
    name, law = item["name"], kind.partition("_")[0]
    known = kind.endswith(("_float", "_int"))
    low, high = _bound(item, "lower"), _bound(item, "upper")
    log = item.get("log") is True
    if not known:
        reading.notes.append(Note("space", f"is of unknown type {shorten(kind)}; its domain is a guess", subject=name))
    if low is None or high is None:
        if law == "uniform" and known:
            raise FormatError(f"bounds {item.get('lower')!r} and {item.get('upper')!r} must both be numbers")
        return Open(kind.endswith("_int") if known else None, log)
    if law in ("normal", "beta"):
        reading.notes.append(
            Note("space", f"has a {law} law; only its bounds {low:g} to {high:g} are used", subject=name)
        )
    whole = kind.endswith("_int") and max(abs(low), abs(high)) <= LARGEST_INT
    if low == high:
        return Ordinal((int(low) if whole else low,))
    step = as_number(item.get("q"))
    if step is not None and step > 0:
        return _stepped(name, low, high, step, reading, log=log, whole=whole)
    return Int(int(low), int(high), log=log) if whole else Float(low, high, log=log)


def _bound(item: Mapping[str, Any], key: str) -> float | None:
    value = item.get(key)
    return None if isinstance(value, bool) else as_number(value)


def _stepped(name: str, low: float, high: float, step: float, reading: Reading, *, log: bool, whole: bool) -> Domain:
    """Values a step apart: counted from the lower bound, or multiples of the step if it does not divide."""
    if whole and not log:
        return Int(int(low), int(high), step=max(1, int(step)))
    count = (high - low) / step
    whole_count = round(count)
    even = abs(count - whole_count) <= 1e-6 * max(1.0, count)
    full = Int(int(low), int(high), log=log) if whole else Float(low, high, log=log)
    if count > FEW_STEPS:
        reading.notes.append(Note("space", f"its many steps of {step:g} are taken as a range", subject=name))
        return full
    first = low if even else math.ceil(low / step - 1e-9) * step
    places = range(whole_count + 1) if even else range(int((high - first) / step + 1e-9) + 1)
    values = [float(f"{first + place * step:.12g}") for place in places]
    if len(values) < 2:
        return full
    if isinstance(full, Float):
        reading.ranges[name] = full
    return Ordinal(tuple(int(v) for v in values) if whole else tuple(values))
