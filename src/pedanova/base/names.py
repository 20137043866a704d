"""Shorten parameter names so that no two short names are equal."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from pedanova.base.terminal import shorten, width_of

LONGEST = 24  # characters; shorter names are not changed
STRONG, WEAK = "./:", "./:_-"  # separators between folders or objects, and between words


def short_names(names: Sequence[str], longest: int = LONGEST) -> dict[str, str]:
    """A short form for every name.

    Names with at most `longest` letters are not changed. Longer names lose their common beginning and end
    (cut at separators). Names that are still too long are grouped by their first part, and each group loses its common
    beginning and end. Finally, the middle of long names is cut out. All short forms are different, and none is empty.
    The order of names does not matter.

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
        for first in sorted(set(firsts.values())):  # names of a group have the first part in common
            family = {name: form for name, form in long.items() if firsts[name] == first}
            forms = _told_apart(forms, _stripped(family, separators))
    whole = forms
    widest = max((width_of(name) for name in names), default=0)
    for room in range(longest, widest, 8):  # cut less if two names would become equal
        uncut = {name: form for name, form in _longer(forms, room).items() if form == whole[name]}
        forms = _told_apart(forms, {name: shorten(form, room) for name, form in uncut.items()})
    return forms


def _longer(forms: dict[str, str], longest: int) -> dict[str, str]:
    return {name: form for name, form in forms.items() if width_of(form) > longest}


def _told_apart(before: dict[str, str], changed: dict[str, str]) -> dict[str, str]:
    """Replace short forms in `before` by those in `changed`, except where two names would get the same form."""
    forms = before | changed
    while True:
        taken = Counter(forms.values())
        twice = [name for name, form in forms.items() if taken[form] > 1 and form != before[name]]
        if not twice:
            return forms
        forms |= {name: before[name] for name in twice}


def _parts(name: str, separators: str) -> list[str]:
    """Split a name at `separators`; each part includes the separators after it."""
    kind = re.escape(separators)
    return re.findall(rf"[^{kind}]*[{kind}]+|[^{kind}]+", name)


def _stripped(forms: dict[str, str], separators: str) -> dict[str, str]:
    """Remove the parts at the start and the end that all names have in common; no name becomes empty."""
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
    """The number of leading parts that all names have in common; the last part of a name is never counted."""
    most = min(map(len, lines)) - 1
    return next((place for place in range(most) if len({line[place] for line in lines}) > 1), most)


def joined(parts: Sequence[str]) -> str:
    """The parts as in a sentence: "a, b and c"."""
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)


def and_more(names: Iterable[str], most: int = 3, rest: str = "more") -> str:
    """The first `most` names, and how many more there are."""
    every = list(names)
    more = len(every) - most
    return joined([*every[:most], f"{more} {rest}"] if more > 1 else every)
