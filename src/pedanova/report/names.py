"""Names of parameters as they are shown: short and still told apart, children under their parents."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pedanova.base.digits import percent
from pedanova.base.terminal import shorten, width_of
from pedanova.counting.tally import Tally
from pedanova.space.parameters import parents_of

LONGEST = 24  # letters, up to which a name is left alone
STRONG, WEAK = "./:", "./:_-"  # what parts names: first between folders or objects, then between words


def short_names(names: Sequence[str], longest: int = LONGEST) -> dict[str, str]:
    """A short form of every name, by the name itself.

    Names of at most `longest` letters stay as they are. Of longer ones the beginning and the end that they share
    (cut at separators) are left out, then what they share with their own family, and only then is the middle
    cut. All forms differ and none is empty; what cannot be shortened so is cut less. No order matters.

    Examples
    --------
    >>> forms = short_names(["model.encoder.block_00.dropout", "model.encoder.block_01.dropout", "lr"])
    >>> list(forms.values())
    ['block_00', 'block_01', 'lr']
    """
    forms = {name: name for name in names}
    for separators in (STRONG, WEAK):
        forms = _told_apart(forms, _stripped(_longer(forms, longest), separators))
    for separators in (STRONG, WEAK):
        long = _longer(forms, longest)
        firsts = {name: _parts(form, separators)[0] for name, form in long.items()}
        for first in sorted(set(firsts.values())):  # a family has its first part in common
            family = {name: form for name, form in long.items() if firsts[name] == first}
            forms = _told_apart(forms, _stripped(family, separators))
    whole = forms
    widest = max((width_of(name) for name in names), default=0)
    for room in range(longest, widest, 8):  # where cutting would make two alike, less is cut
        uncut = {name: form for name, form in _longer(forms, room).items() if form == whole[name]}
        forms = _told_apart(forms, {name: shorten(form, room) for name, form in uncut.items()})
    return forms


def _longer(forms: dict[str, str], longest: int) -> dict[str, str]:
    return {name: form for name, form in forms.items() if width_of(form) > longest}


def _told_apart(before: dict[str, str], changed: dict[str, str]) -> dict[str, str]:
    """The changed forms, but the old ones of all that would be mistaken for another."""
    forms = before | changed
    while True:
        taken = Counter(forms.values())
        twice = [name for name, form in forms.items() if taken[form] > 1 and form != before[name]]
        if not twice:
            return forms
        forms |= {name: before[name] for name in twice}


def _parts(name: str, separators: str) -> list[str]:
    """Each with the separators behind it."""
    kind = re.escape(separators)
    return re.findall(rf"[^{kind}]*[{kind}]+|[^{kind}]+", name)


def _stripped(forms: dict[str, str], separators: str) -> dict[str, str]:
    """Without the parts at both ends that all of them share; what is left of each still says something."""
    if len(forms) < 2:
        return {}
    lines = [_parts(form, separators) for form in forms.values()]
    head = _alike(lines)
    tail = _alike([[part.rstrip(separators) for part in reversed(line[head:])] for line in lines])
    for first in range(head, -1, -1):
        kept = ["".join(line[first : len(line) - tail]).strip(separators) for line in lines]
        if all(any(letter.isalpha() for letter in form) for form in kept):
            return dict(zip(forms, kept, strict=True))
    return {}


def _alike(lines: Sequence[Sequence[str]]) -> int:
    """How many of the first parts are the same in all; never the last one that there is."""
    most = min(map(len, lines)) - 1
    return next((place for place in range(most) if len({line[place] for line in lines}) > 1), most)


INDENT = "  "


@dataclass(frozen=True, slots=True)
class Nesting:
    """Who stands under whom. By default nobody under anybody."""

    parents: Mapping[str, str] = field(default_factory=dict)
    active: Mapping[str, float] = field(default_factory=dict)  # part of all rows that have a value

    def order(self, names: Sequence[str]) -> list[str]:
        """The same names, children right behind their parents; otherwise as they come."""
        shown = set(names)
        below: dict[str | None, list[str]] = {}
        for name in names:
            parent = self.parents.get(name)
            below.setdefault(parent if parent in shown else None, []).append(name)
        ordered: list[str] = []
        left = below.get(None, [])[::-1]
        while left:
            ordered.append(left.pop())
            left += below.get(ordered[-1], [])[::-1]
        return ordered

    def depth(self, name: str) -> int:
        return 1 + self.depth(self.parents[name]) if name in self.parents else 0

    def indented(self, name: str, shown: str) -> str:
        """A name as it stands in a list, however it is shortened."""
        return f"{INDENT * self.depth(name)}{shown}"

    def note(self, name: str) -> str:
        """How often it is active; empty where it always is."""
        part = self.active.get(name, 1.0)
        return f"active in {percent(part)}" if part < 1 else ""


NO_NESTING = Nesting()


def nesting_of(tallies: Mapping[str, Tally]) -> Nesting:
    """By the conditions of the space; of several parents the last one named is the nearest."""
    parents, active = {}, {}
    for name, tally in tallies.items():
        above = [parent for parent in parents_of(tally.parameter) if parent in tallies]
        if not above:
            continue
        parents[name] = above[-1]
        counts = tally.between(0, tally.levels.count)
        active[name] = float(counts[: tally.grid.cells].sum()) / max(1.0, float(counts.sum()))
    return Nesting(parents, active)
