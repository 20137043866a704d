"""Read spaces of ConfigSpace: its objects, and the JSON files of all its versions.

Notes describe everything that pedanova's spaces cannot express. Constants and forbidden combinations are left out.
Normal and beta distributions keep only their bounds. A range with a step `q` becomes an ordinal if it has few values.
Conditions are kept if `when=` can express them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import and_
from pathlib import Path
from typing import Any

from pedanova.base.notes import Note
from pedanova.errors import FormatError, PedanovaError, SpaceError, listed
from pedanova.sources.reader import read_json
from pedanova.sources.spaces.described import Described, Labels, as_plain, as_range, distinct_labels, finite_number
from pedanova.space.parameters import Categorical, Domain, Float, Int, Ordinal, Space, values_of
from pedanova.space.values import LARGEST_INT, Interval, Label, Value, above, below, in_both, shown

SIGNS = {"EQ": "is", "IN": "is one of", "NEQ": "is not", "GT": "is above", "LT": "is below"}
ORDERS: dict[str, Callable[[float, float], bool]] = {"GT": lambda a, b: a > b, "LT": lambda a, b: a < b}
FEW_STEPS = 50  # a range with steps and at most this many values becomes an ordinal
CONSTANTS = ("constant", "unparametrized", "unparameterized")


@dataclass(frozen=True, slots=True)
class Clause:
    """A condition: `when` lists the allowed values of each parent; `words` describes what `when` cannot express."""

    when: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    words: str = ""  # a part that `when` cannot express
    never: bool = False

    def __and__(self, other: Clause) -> Clause:
        both = {**self.when, **other.when}
        for parent in self.when.keys() & other.when.keys():
            both[parent] = in_both(self.when[parent], other.when[parent])
        words = " and ".join(filter(None, (self.words, other.words)))
        return Clause(both, words, self.never or other.never or not all(both.values()))


ALWAYS, NEVER = Clause(), Clause(never=True)


class Clauses:
    """The conditions of a ConfigSpace, converted to one `Clause` for each parameter."""

    def __init__(
        self, conditions: Iterable[object], domains: Mapping[str, Domain], constants: Mapping[str, Label]
    ) -> None:
        self.domains, self.constants = domains, constants
        self.by_child: dict[str, list[Mapping[str, Any]]] = {}
        for condition in conditions:
            self.by_child.setdefault(child_of(condition), []).append(as_condition(condition))
        self._known: dict[str, Clause] = {}
        self._asked: list[str] = []

    def of(self, child: str) -> Clause:
        if child in self._asked:
            raise SpaceError(f"{child}: its condition depends on itself; break the cycle")
        if child not in self._known:
            self._asked.append(child)
            self._known[child] = reduce(and_, map(self._read, self.by_child.get(child, ())), ALWAYS)
            self._asked.pop()
        return self._known[child]

    def _read(self, condition: Mapping[str, Any]) -> Clause:
        kind = str(condition.get("type"))
        if kind in ("AND", "OR"):
            parts = [self._read(as_condition(part)) for part in _parts(condition)]
            return _either(parts, self._in_words(condition)) if kind == "OR" else reduce(and_, parts, ALWAYS)
        if kind not in SIGNS:
            return Clause(words=self._in_words(condition))
        return self._compare(kind, condition)

    def _compare(self, kind: str, condition: Mapping[str, Any]) -> Clause:
        parent = _name(condition.get("parent"))
        given = condition.get("values") if kind == "IN" else [condition.get("value")]
        wanted = list(given) if isinstance(given, list | tuple) else [given]
        parents = self.of(parent)
        if parents.never:
            return NEVER
        if parent in self.constants:
            return parents if _accepted((self.constants[parent],), kind, wanted) else NEVER
        domain, numbers = self.domains.get(parent), [finite_number(value) for value in wanted]  # written in any way
        if isinstance(domain, Float | Int) and None not in numbers:
            known = [number for number in numbers if number is not None]
            plain = dict.fromkeys(int(number) if number.is_integer() else number for number in known)
            sides = {"GT": [above], "LT": [below], "NEQ": [below, above]}.get(kind)
            left: tuple[Value, ...] = tuple(plain) if sides is None else tuple(side(*plain) for side in sides)
            return Clause({parent: left}) if in_both(left, (Interval(domain.low, domain.high),)) else NEVER
        if domain is None or isinstance(domain, Float | Int):
            return Clause(words=self._in_words(condition))
        left = _accepted(values_of(domain), kind, wanted)
        return Clause({parent: left}) if left else NEVER

    def _in_words(self, condition: Mapping[str, Any]) -> str:
        kind = str(condition.get("type"))
        if kind in ("AND", "OR"):
            joined = f" {kind.lower()} ".join(self._in_words(as_condition(p)) for p in _parts(condition))
            return f"({joined})"
        values = condition.get("values", condition.get("value"))
        return f"{condition.get('parent')} {SIGNS.get(kind, kind)} {shown(values)}"


def as_condition(condition: object) -> Mapping[str, Any]:
    if isinstance(condition, Mapping):
        return condition
    raise FormatError(f"the condition {shown(condition)} must be an object with a type, child and parent")


def child_of(condition: object) -> str:
    plain = as_condition(condition)
    if plain.get("child") is None and plain.get("type") in ("AND", "OR") and _parts(plain):
        return child_of(_parts(plain)[0])  # in older files, only the parts name the child
    return _name(plain.get("child"))


def _parts(condition: Mapping[str, Any]) -> list[Any]:
    parts = condition.get("conditions", condition.get("components"))
    if isinstance(parts, list | tuple):
        return list(parts)
    raise FormatError(f"the condition {shown(dict(condition))} needs a list of conditions")


def _name(name: object) -> str:
    if isinstance(name, str):
        return name
    raise FormatError(f"a condition names {shown(name)}, which is not a hyperparameter; correct the file")


def _either(parts: list[Clause], words: str) -> Clause:
    """Combine clauses by OR; if they have different parents, the result is only described in words."""
    possible = [part for part in parts if not part.never]
    if not possible:
        return NEVER
    if any(not part.when and not part.words for part in possible):
        return ALWAYS
    parents = {parent for part in possible for parent in part.when}
    if len(parents) != 1 or any(part.words or len(part.when) != 1 for part in possible):
        return Clause(words=words) if len(possible) > 1 else possible[0]
    (parent,) = parents
    return Clause({parent: tuple(dict.fromkeys(v for part in possible for v in part.when[parent]))})


def _accepted(values: tuple[Label, ...], kind: str, wanted: list[object]) -> tuple[Label, ...]:
    labels = Labels(values)
    named = {label for want in wanted if (label := labels.find(want)) is not None}
    if kind in ("EQ", "IN"):
        return tuple(value for value in values if value in named)
    if kind == "NEQ":
        return tuple(value for value in values if value not in named)
    # By positions in the list, if the bound is in it; otherwise by the numbers.
    holds, bound = ORDERS[kind], labels.find(wanted[0])
    if bound is not None:
        at = values.index(bound)
        return tuple(v for place, v in enumerate(values) if holds(place, at))
    limit = finite_number(wanted[0])
    numbers = [(value, finite_number(value)) for value in values]
    return tuple(v for v, number in numbers if number is not None and limit is not None and holds(number, limit))


@dataclass(slots=True)
class SpaceParts:
    domains: dict[str, Domain] = field(default_factory=dict)
    constants: dict[str, Label] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)


def space_from_configspace(plain: object) -> tuple[Space, list[Note]]:
    """The space of a ConfigSpace JSON document or object, and notes on parts that were left out."""
    described = describe(plain)
    return Space(described.domains), list(described.notes)


def read_space(folder: Path) -> Described | None:
    """Read the configspace.json in the folder of a log; None if the file is missing or has no bounds."""
    file = folder / "configspace.json"
    try:
        return describe(read_json(file)) if file.is_file() else None
    except SpaceError:
        return None
    except PedanovaError as error:
        raise FormatError(f"{file}: {error}") from None
    except RecursionError:
        raise FormatError(f"{file}: conditions are nested too deeply; flatten them") from None


def describe(source: object) -> Described:
    """Everything that a ConfigSpace document or object says about its parameters."""
    plain = source if isinstance(source, Mapping) and "hyperparameters" in source else as_document(source)
    reading = SpaceParts()
    for item in _items(plain, "hyperparameters"):
        _read_one(item, reading)
    clauses = Clauses(_items(plain, "conditions"), reading.domains, reading.constants)
    fixed, domains, metadata = list(reading.constants), {}, True
    for name, domain in reading.domains.items():
        clause = clauses.of(name)
        if clause.never:
            reading.notes.append(Note("unused", "its condition is never true, so it is left out", subject=name))
            fixed.append(name)
            continue
        if clause.words:
            metadata = False
            words = f"exists only if {clause.words}; rows without a value are treated as inactive"
            reading.notes.append(Note("source", words, subject=name))
        domains[name] = replace(domain, when=tuple(clause.when.items()))
    if reading.constants:
        reading.notes.append(Note("unused", f"constants are left out: {listed(list(reading.constants))}"))
    forbidden = len(_items(plain, "forbiddens"))
    if forbidden:
        many = "a combination" if forbidden == 1 else f"{forbidden} combinations"
        reading.notes.append(Note("source", f"the configuration space forbids {many} of values; this rule is ignored"))
    items = _items(plain, "hyperparameters")
    given = {item["name"]: item.get("default_value", item.get("default")) for item in items}
    default = {name: one for name, one in given.items() if name in domains and isinstance(one, str | int | float)}
    return Described(domains, tuple(reading.notes), tuple(fixed), metadata, default)


def as_document(space: object) -> Mapping[str, Any]:
    write = getattr(space, "to_serialized_dict", None)
    if not callable(write):
        words = f"{shown(space)} is not a configuration space of ConfigSpace 1 or newer; give the path of its JSON file"
        raise FormatError(words)
    document: Mapping[str, Any] = write()
    return document


def _items(plain: Mapping[str, Any], key: str) -> list[Any]:
    items = plain.get(key) or []
    if isinstance(items, Mapping):
        return [{"name": name, **item} for name, item in items.items() if isinstance(item, Mapping)]
    if isinstance(items, list | tuple):
        return list(items)
    raise FormatError(f"{key} is {shown(items)}; it must be a list")


def _read_one(item: object, reading: SpaceParts) -> None:
    if not isinstance(item, Mapping) or not isinstance(item.get("name"), str) or not item["name"]:
        raise FormatError(f"the hyperparameter {shown(item)} needs a name; correct the file")
    name, kind = item["name"], str(item.get("type"))
    if name in reading.domains or name in reading.constants:
        raise FormatError(f"two hyperparameters are called {name!r}; each needs its own name")
    if kind in CONSTANTS:
        reading.constants[name] = as_plain(item.get("value"))
        return
    listing = kind in ("categorical", "ordinal")
    if not listing and not kind.startswith("uniform_") and (item.get("lower") is None or item.get("upper") is None):
        raise SpaceError(f"{name}: {shown(kind)} has no bounds; give it lower and upper")
    try:
        if listing:
            key, build = ("choices", Categorical) if kind == "categorical" else ("sequence", Ordinal)
            given = item.get(key, item.get("values"))
            if not isinstance(given, list | tuple) or not given:
                raise FormatError(f"{key} is {shown(given)}; it must be a list of values")
            domain: Domain = build(distinct_labels(given))
        else:
            domain = _range(item, kind, reading)
    except (SpaceError, FormatError) as error:
        raise FormatError(f"{name}: {error}") from None
    values = values_of(domain)
    if len(values) == 1:
        reading.constants[name] = values[0]
        return
    reading.domains[name] = domain
    if item.get("weights") or item.get("probabilities"):
        reading.notes.append(Note("source", "the weights of its choices are not used", subject=name))


def _range(item: Mapping[str, Any], kind: str, reading: SpaceParts) -> Domain:
    name, law = item["name"], kind.partition("_")[0]
    low, high = finite_number(item.get("lower")), finite_number(item.get("upper"))
    log = item.get("log") is True
    if low is None or high is None:
        raise FormatError(f"bounds {item.get('lower')!r} and {item.get('upper')!r} must both be numbers")
    if law in ("normal", "beta"):
        words = f"has a {law} distribution; only its bounds {low:g} to {high:g} are used"
        reading.notes.append(Note("source", words, subject=name))
    whole = kind.endswith("_int") and max(abs(low), abs(high)) <= LARGEST_INT
    step = finite_number(item.get("q"))
    if step is not None and step > 0 and low < high:
        return _stepped(name, low, high, step, reading, log=log, whole=whole)
    return as_range(low, high, whole=whole, log=log)


def _stepped(name: str, low: float, high: float, step: float, reading: SpaceParts, *, log: bool, whole: bool) -> Domain:
    """The domain of a range with a step: an `Int`, an `Ordinal` if there are few steps, otherwise the whole range."""
    if whole and not log:
        return Int(int(low), int(high), step=max(1, int(step)))
    count = round((high - low) / step)
    even = abs((high - low) / step - count) <= 1e-6 * max(1, count)
    if not even or not 1 <= count <= FEW_STEPS:
        words = f"its steps of {step:g} are ignored; the whole range is used"
        reading.notes.append(Note("source", words, subject=name))
        return as_range(low, high, whole=whole, log=log)
    values = [float(f"{low + place * step:.12g}") for place in range(count + 1)]
    return Ordinal(tuple(int(v) for v in values) if whole else tuple(values))
