"""Parameters as they are listed: children under their parents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pedanova.base.digits import percent
from pedanova.counting.tally import Tally
from pedanova.space.parameters import parents_of

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
