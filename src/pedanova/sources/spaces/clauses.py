"""Conditions of a configuration space, as far as `when=` can say them; the rest is put into words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pedanova.data.column import shorten
from pedanova.errors import FormatError, SpaceError
from pedanova.sources.spaces.described import Domain, Labels, as_number, as_plain
from pedanova.space.parameters import Categorical, Int, Ordinal
from pedanova.space.values import Condition, Label

MOST_VALUES = 200  # of whole numbers that one condition may list
SIGNS = {"EQ": "is", "IN": "is one of", "NEQ": "is not", "GT": "is above", "LT": "is below"}
ORDERS: dict[str, Callable[[float, float], bool]] = {"GT": lambda a, b: a > b, "LT": lambda a, b: a < b}


@dataclass(frozen=True, slots=True)
class Clause:
    """When a setting exists: every parent must have one of its values, and what words alone can say."""

    when: Mapping[str, tuple[Label, ...]] = field(default_factory=dict)
    words: str = ""  # a part that `when` cannot say
    never: bool = False

    def __and__(self, other: Clause) -> Clause:
        both = {**self.when, **other.when}
        for parent in self.when.keys() & other.when.keys():
            both[parent] = tuple(v for v in self.when[parent] if v in other.when[parent])
        words = " and ".join(filter(None, (self.words, other.words)))
        return Clause(both, words, self.never or other.never or not all(both.values()))

    @property
    def conditions(self) -> tuple[Condition, ...]:
        return tuple(self.when.items())


ALWAYS, NEVER = Clause(), Clause(never=True)


class Clauses:
    """All conditions of a space; asked for the clause of one setting at a time."""

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
            raise SpaceError(f"{child}: its condition depends on itself; break the circle")
        if child not in self._known:
            self._asked.append(child)
            clause = ALWAYS
            for condition in self.by_child.get(child, ()):
                clause &= self._read(condition)
            self._asked.pop()
            self._known[child] = clause
        return self._known[child]

    def _read(self, condition: Mapping[str, Any]) -> Clause:
        kind = str(condition.get("type"))
        if kind in ("AND", "OR"):
            parts = [self._read(as_condition(part)) for part in _parts(condition)]
            if kind == "OR":
                return _either(parts, self._in_words(condition))
            whole = ALWAYS
            for part in parts:
                whole &= part
            return whole
        if kind not in SIGNS:
            return Clause(words=self._in_words(condition))
        return self._compare(kind, condition)

    def _compare(self, kind: str, condition: Mapping[str, Any]) -> Clause:
        parent = _name(condition.get("parent"))
        given = condition.get("values") if kind == "IN" else [condition.get("value")]
        wanted = list(given) if isinstance(given, list | tuple) else [given]
        above = self.of(parent)
        if above.never:
            return NEVER
        if parent in self.constants:
            held = self.constants[parent]
            return above if _accepted((held,), kind, wanted) else NEVER
        if parent not in self.domains:
            return Clause(words=self._in_words(condition))
        values = _values_of(self.domains[parent], kind)
        if values is None:
            if kind in ("EQ", "IN"):
                return Clause({parent: tuple(dict.fromkeys(_as_value(value) for value in wanted))})
            return Clause(words=self._in_words(condition))
        left = _accepted(values, kind, wanted)
        if len(left) > MOST_VALUES:
            return Clause(words=self._in_words(condition))
        return Clause({parent: left}) if left else NEVER

    def _in_words(self, condition: Mapping[str, Any]) -> str:
        kind = str(condition.get("type"))
        if kind in ("AND", "OR"):
            joined = f" {kind.lower()} ".join(self._in_words(as_condition(p)) for p in _parts(condition))
            return f"({joined})"
        values = condition.get("values", condition.get("value"))
        return f"{condition.get('parent')} {SIGNS.get(kind, kind)} {shorten(values)}"


def as_condition(condition: object) -> Mapping[str, Any]:
    if isinstance(condition, Mapping):
        return condition
    raise FormatError(f"the condition {shorten(condition)} must be an object with a type, child and parent")


def child_of(condition: object) -> str:
    plain = as_condition(condition)
    if plain.get("child") is None and plain.get("type") in ("AND", "OR") and _parts(plain):
        return child_of(_parts(plain)[0])  # older files name the child in the parts alone
    return _name(plain.get("child"))


def _parts(condition: Mapping[str, Any]) -> list[Any]:
    parts = condition.get("conditions", condition.get("components"))
    if isinstance(parts, list | tuple):
        return list(parts)
    raise FormatError(f"the condition {shorten(dict(condition))} needs a list of conditions")


def _name(name: object) -> str:
    if isinstance(name, str):
        return name
    raise FormatError(f"a condition names {shorten(name)}, which is no hyperparameter; mend the file")


def _either(parts: list[Clause], words: str) -> Clause:
    """One of several: said by `when` only if they all ask the same parent."""
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


def _values_of(domain: Domain, kind: str) -> tuple[Label, ...] | None:
    """Every value of a parent, where they can be listed and need to be."""
    if isinstance(domain, Categorical):
        return domain.choices
    if isinstance(domain, Ordinal):
        return domain.values
    if isinstance(domain, Int) and kind not in ("EQ", "IN"):
        values = range(domain.low, domain.high + 1, domain.step)
        return tuple(values) if len(values) <= 50 * MOST_VALUES else None
    return None


def _as_value(value: object) -> Label:
    """A value of a parent that holds numbers, whichever way it is written."""
    number = as_number(value)
    if number is None:
        return as_plain(value)
    return int(number) if number.is_integer() else number


def _accepted(values: tuple[Label, ...], kind: str, wanted: list[object]) -> tuple[Label, ...]:
    """The values for which a comparison holds."""
    labels = Labels(values)
    named = {label for want in wanted if (label := labels.find(want)) is not None}
    if kind in ("EQ", "IN"):
        return tuple(value for value in values if value in named)
    if kind == "NEQ":
        return tuple(value for value in values if value not in named)
    # By the places in the list, if the bound is in it; otherwise by the numbers.
    holds, bound = ORDERS[kind], labels.find(wanted[0])
    if bound is not None:
        at = values.index(bound)
        return tuple(v for place, v in enumerate(values) if holds(place, at))
    limit = as_number(wanted[0])
    numbers = [(value, as_number(value)) for value in values]
    return tuple(v for v, number in numbers if number is not None and limit is not None and holds(number, limit))
