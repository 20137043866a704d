"""The order of parameters in lists: children under their parents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pedanova.base.digits import percent
from pedanova.counting.tally import Tally
from pedanova.space.parameters import parents_of

INDENT = "  "


@dataclass(frozen=True, slots=True)
class Nesting:
    """The parent of each conditional parameter, by name; empty by default."""

    parents: Mapping[str, str] = field(default_factory=dict)
    active: Mapping[str, float] = field(default_factory=dict)  # the part of all rows that have a value

    def order(self, names: Sequence[str]) -> list[str]:
        """The names, with conditional parameters moved directly after their parents."""
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
        """The text `shown` for a parameter, indented by the number of its ancestors."""
        return f"{INDENT * self.depth(name)}{shown}"

    def note(self, name: str) -> str:
        """For a conditional parameter, text such as "active in 30 %"; empty if the parameter is always active."""
        part = self.active.get(name, 1.0)
        return f"active in {percent(part)}" if part < 1 else ""


NO_NESTING = Nesting()


def nesting_of(tallies: Mapping[str, Tally]) -> Nesting:
    """The nesting from the conditions of the space; a parameter with several parents is put under the last one."""
    parents, active = {}, {}
    for name, tally in tallies.items():
        above = [parent for parent in parents_of(tally.parameter) if parent in tallies]
        if not above:
            continue
        parents[name] = above[-1]
        counts = tally.between(0, tally.levels.count)
        active[name] = float(counts[: tally.grid.cells].sum()) / max(1.0, float(counts.sum()))
    return Nesting(parents, active)
