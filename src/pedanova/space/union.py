"""One space that holds those of several studies: what each of them tried has a place in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from pedanova.base.notes import Note
from pedanova.errors import SpaceError, listed
from pedanova.space.parameters import Categorical, Domain, Float, Int, Ordinal, Parameter, Space
from pedanova.space.values import Condition, Label

Owners: TypeAlias = dict[str, tuple[str, ...]]  # of each parameter, the studies whose domain fits


def union_space(spaces: Mapping[str, Space]) -> tuple[Space, Owners, list[Note]]:
    """The parameters of all studies, each with a domain that holds every study's own.

    A parameter that is a range here and a list of names there is taken as most studies have it; where it is
    missing or does not fit is told in a note, as are parameters whose domain changes from row to row.
    """
    found: dict[str, Domain] = {}
    owners: Owners = {}
    notes: list[Note] = []
    for name in dict.fromkeys(name for space in spaces.values() for name in space):
        theirs = {study: space[name] for study, space in spaces.items() if name in space}
        fitting = _alike(theirs)
        if not fitting:
            words = "its domain changes from row to row, so it has no prior and keeps its own domain"
            notes.append(Note("unused", words, subject=name))
            continue
        found[name] = _joined(list(fitting.values()))
        owners[name] = tuple(fitting)
        notes += _told(name, spaces, theirs, fitting)
    if not found:
        raise SpaceError(f"{listed(list(spaces))}: no parameter has a plain domain; a prior needs at least one")
    return Space(_known_parents(found)), owners, notes


def _alike(theirs: Mapping[str, Parameter]) -> dict[str, Domain]:
    """The studies whose domain is of the kind that most have: a range, or a list of values."""
    plain = {study: one for study, one in theirs.items() if isinstance(one, Float | Int | Ordinal | Categorical)}
    kinds = Counter(isinstance(one, Float | Int) for one in plain.values())
    most = kinds.most_common(1)[0][0] if kinds else None
    return {study: one for study, one in plain.items() if isinstance(one, Float | Int) == most}


def _told(
    name: str, spaces: Mapping[str, Space], theirs: Mapping[str, Parameter], fitting: Mapping[str, Domain]
) -> list[Note]:
    absent = [study for study in spaces if study not in theirs]
    strange = [study for study in theirs if study not in fitting]
    notes = []
    if absent:
        words = f"{listed(absent)} of {len(spaces)} studies did not vary it and say nothing about it"
        notes.append(Note("space", words, subject=name))
    if strange:
        words = f"{listed(strange)} of {len(spaces)} studies have another kind of domain and say nothing about it"
        notes.append(Note("doubt", words, subject=name))
    if len({one.when for one in fitting.values()}) > 1:
        words = "studies differ in when it exists; it is taken to exist as in most of them"
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
    """Every value of any study; in an order only where all studies agree on it."""
    labels = [labels_of(one) for one in lists]
    every = tuple(dict.fromkeys(label for some in labels for label in some))
    if all(isinstance(label, int | float) and not isinstance(label, bool) for label in every):
        every = tuple(sorted(every, key=float))
    ordered = all(isinstance(one, Ordinal) for one in lists)
    agreed = all([label for label in every if label in some] == list(some) for some in labels)
    return Ordinal(every, when) if ordered and agreed else Categorical(every, when)


def domains_of(space: Space) -> dict[str, Domain]:
    """The parameters whose domain is the same in every row."""
    return {name: one for name, one in space.items() if isinstance(one, Float | Int | Ordinal | Categorical)}


def labels_of(domain: Domain) -> tuple[Label, ...]:
    match domain:
        case Categorical(values) | Ordinal(values):
            return values
        case _:
            return ()


def _known_parents(found: Mapping[str, Domain]) -> dict[str, Parameter]:
    """Conditions on parameters that have no prior cannot be kept."""
    return {name: _conditioned(one, found) for name, one in found.items()}


def _conditioned(domain: Domain, known: Mapping[str, Domain]) -> Domain:
    when = tuple((parent, values) for parent, values in domain.when if parent in known)
    return domain if when == domain.when else replace(domain, when=when)
