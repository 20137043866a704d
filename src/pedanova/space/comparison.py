"""Compare search spaces: common values of two spaces, changes of domains, and the union of several spaces."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from pedanova.base.notes import Note
from pedanova.errors import SpaceError, listed
from pedanova.space.parameters import Categorical, Domain, Float, Int, Ordinal, Parameter, Space, values_of
from pedanova.space.values import Condition, Label, is_number

SAME = 0.02  # part of a range by which bounds may differ, because bounds guessed from data vary a little


@dataclass(frozen=True, slots=True)
class CommonSpace:
    """The parameters and values that two spaces have in common, and what differs."""

    alike: tuple[str, ...]  # parameters whose domains are (nearly) the same
    narrowed: dict[str, Any]  # the common values, as in a box, of parameters whose domains overlap
    unlike: tuple[str, ...]  # parameters whose domains share at most one value or have different kinds
    first: tuple[str, ...]  # parameters of the first space only
    second: tuple[str, ...]

    @property
    def same(self) -> bool:
        return not (self.narrowed or self.unlike or self.first or self.second)

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.alike, *self.narrowed)


def shared_space(one: Space, two: Space) -> CommonSpace:
    """Compare two spaces parameter by parameter."""
    alike, unlike = [], []
    narrowed: dict[str, Any] = {}
    for name in (name for name in one if name in two):
        if same_domain(one[name], two[name]):
            alike.append(name)
        elif (values := common_values(one[name], two[name])) is not None:
            narrowed[name] = values
        else:
            unlike.append(name)
    alone = [tuple(name for name in a if name not in b) for a, b in ((one, two), (two, one))]
    return CommonSpace(tuple(alike), narrowed, tuple(unlike), *alone)


def same_domain(one: Parameter, two: Parameter) -> bool:
    """Whether two domains are equal; bounds of ranges may differ slightly."""
    match one, two:
        case ((Float() | Int()), (Float() | Int())):
            scale = math.log if one.log and two.log else float
            ends = [(scale(p.low), scale(p.high)) for p in (one, two)]
            width = max(high - low for low, high in ends)
            return all(abs(a - b) <= SAME * width for a, b in zip(*ends, strict=True))
        case ((Categorical(first) | Ordinal(first)), (Categorical(second) | Ordinal(second))):
            return set(first) == set(second)
    return one == two


def same_cells(one: Parameter, two: Parameter) -> bool:
    """Whether both domains are divided into (nearly) the same cells."""
    if one == two:
        return True
    both = isinstance(one, Float) and isinstance(two, Float) and (one.log, one.when) == (two.log, two.when)
    return both and same_domain(one, two)


def common_values(one: Parameter, two: Parameter) -> tuple[float, float] | set[Label] | None:
    """The range or the set of values that both domains contain; None if the domains share fewer than two values."""
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
    numbers = {v for v in values if is_number(v)}
    both: set[Label] = {value for value in numbers if span.low <= value <= span.high}
    return both if len(both) > 1 else None


@dataclass(frozen=True, slots=True)
class DomainChange:
    """How a domain changed; `before` is None for a new parameter, and `after` is None for a removed parameter."""

    name: str
    before: Parameter | None
    after: Parameter | None


def changes_between(before: Space, after: Space) -> tuple[DomainChange, ...]:
    names = dict.fromkeys([*before, *after])
    pairs = [DomainChange(name, before.get(name), after.get(name)) for name in names]
    return tuple(change for change in pairs if change.before != change.after)


def steadied(before: Space, now: Space) -> Space:
    """Keep the old domain of a parameter if it contains the new domain; otherwise use the new domain."""

    def steady(old: Parameter | None, new: Parameter) -> Parameter:
        return old if old is not None and old.when == new.when and holds(old, new) else new

    return Space({name: steady(before.get(name), parameter) for name, parameter in now.items()})


def holds(outer: Parameter, inner: Parameter) -> bool:
    """Whether `outer` contains all values of `inner`; False if the two domains cannot be compared."""
    match outer, inner:
        case (Categorical(), Categorical()) | (Ordinal(), Ordinal()):
            return set(map(_typed, values_of(inner))) <= set(map(_typed, values_of(outer)))
        case Int(), Int():
            return outer.low <= inner.low and inner.high <= outer.high and outer.step == 1
        case Int() | Float(), Ordinal():
            return all(_in_range(outer, value) for value in inner.values)
        case Float(), Float() | Int():
            return outer.low <= inner.low and inner.high <= outer.high
    return False


def _in_range(outer: Float | Int, value: object) -> bool:
    if not is_number(value):
        return False
    whole = isinstance(outer, Float) or (float(value).is_integer() and outer.step == 1)
    return whole and outer.low <= value <= outer.high


def _typed(label: object) -> tuple[type, object]:
    """A dictionary key that distinguishes True from 1."""
    return type(label), label


Owners: TypeAlias = dict[str, tuple[str, ...]]  # by parameter: the studies whose domains were combined


def union_space(spaces: Mapping[str, Space]) -> tuple[Space, Owners, list[Note]]:
    """Join the spaces of several studies; also return the studies used for each parameter, and notes.

    If some studies have a range and others have a list of values, the more frequent kind is used.
    """
    domains: dict[str, Domain] = {}
    owners: Owners = {}
    notes: list[Note] = []
    for name in dict.fromkeys(name for space in spaces.values() for name in space):
        theirs = {study: space[name] for study, space in spaces.items() if name in space}
        fitting = _alike(theirs)
        if not fitting:
            words = "its domain changes from row to row, so no prior is computed for it"
            notes.append(Note("unused", words, subject=name))
            continue
        domains[name] = _joined(list(fitting.values()))
        owners[name] = tuple(fitting)
        notes += _domain_notes(name, spaces, theirs, fitting)
    if not domains:
        raise SpaceError(f"{listed(list(spaces))}: no parameter has a fixed domain; a prior needs at least one")
    known: dict[str, Parameter] = {}
    for name, one in domains.items():  # conditions on parameters outside the union are removed
        known[name] = replace(one, when=tuple((parent, values) for parent, values in one.when if parent in domains))
    return Space(known), owners, notes


def _alike(theirs: Mapping[str, Parameter]) -> dict[str, Domain]:
    """Select the studies with the most frequent kind of domain: a range or a list of values."""
    plain = {study: one for study, one in theirs.items() if isinstance(one, Domain)}
    kinds = Counter(isinstance(one, Float | Int) for one in plain.values())
    most = kinds.most_common(1)[0][0] if kinds else None
    return {study: one for study, one in plain.items() if isinstance(one, Float | Int) == most}


def _domain_notes(
    name: str, spaces: Mapping[str, Space], theirs: Mapping[str, Parameter], fitting: Mapping[str, Domain]
) -> list[Note]:
    absent = [study for study in spaces if study not in theirs]
    strange = [study for study in theirs if study not in fitting]
    notes = []
    if absent:
        words = f"does not vary in {len(absent)} of {len(spaces)} studies; these studies are left out"
        notes.append(Note("space", f"{words} ({listed(absent)})", subject=name))
    if strange:
        which = f"{len(strange)} of {len(spaces)} studies have a different kind of domain than the others"
        words = f"{which}; these studies are left out ({listed(strange)})"
        notes.append(Note("doubt", words, subject=name))
    if len({one.when for one in fitting.values()}) > 1:
        words = "its conditions differ between studies; the most frequent condition is used"
        notes.append(Note("condition", words, subject=name))
    return notes


def _joined(domains: Sequence[Domain]) -> Domain:
    when = Counter(one.when for one in domains).most_common(1)[0][0]
    if len(set(domains)) == 1:
        return domains[0]
    ranges = [one for one in domains if isinstance(one, Float | Int)]
    return _joined_ranges(ranges, when) if ranges else _joined_lists(domains, when)


def _joined_ranges(ranges: Sequence[Float | Int], when: tuple[Condition, ...]) -> Domain:
    low, high = min(one.low for one in ranges), max(one.high for one in ranges)
    log = 2 * sum(one.log for one in ranges) >= len(ranges) and low > 0
    if any(isinstance(one, Float) for one in ranges):
        return Float(low, high, log, when)
    steps = {(one.step, one.low % one.step) for one in ranges if isinstance(one, Int)}
    step = next(iter(steps))[0] if len(steps) == 1 else 1
    return Int(int(low), int(high), 1 if log else step, log, when)


def _joined_lists(lists: Sequence[Domain], when: tuple[Condition, ...]) -> Domain:
    """Join the values of all studies; the result is ordered only if all studies have the same order."""
    labels = [values_of(one) for one in lists]
    every = tuple(dict.fromkeys(label for some in labels for label in some))
    if all(map(is_number, every)):
        every = tuple(sorted(every, key=float))
    ordered = all(isinstance(one, Ordinal) for one in lists)
    agreed = all([label for label in every if label in some] == list(some) for some in labels)
    return Ordinal(every, when) if ordered and agreed else Categorical(every, when)


def domains_of(space: Space) -> dict[str, Domain]:
    return {name: one for name, one in space.items() if isinstance(one, Domain)}
