"""Who passed whom as trials came in: a ranking that is remembered, and changes only where noise cannot explain it.

A parameter has passed another when it stood behind it, and its 95 % interval now lies wholly above the
other's. Whatever moves within the intervals is no change: the remembered order stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from pedanova.measures.importance import Importance, Importances

LONGEST = 100  # passes that are remembered


@dataclass(frozen=True, slots=True)
class Pass:
    """One parameter that stood behind another stands clearly ahead of it now."""

    ahead: str
    behind: str
    rows: int  # when it was seen
    was_clear: bool  # the other stood clearly ahead before; else both were too near to be told apart


@dataclass(frozen=True, slots=True)
class Standings:
    """The ranking as it has been remembered."""

    order: tuple[str, ...]
    clear: frozenset[tuple[str, str]]  # pairs (ahead, behind) that were once told apart, and not turned since
    since: int  # rows at which the order was the last time another
    rows: int  # rows at the last look
    passes: tuple[Pass, ...] = ()  # oldest first

    @classmethod
    def begin(cls, found: Importances, rows: int) -> Standings:
        return cls(tuple(found), clear_pairs(found.rows), rows, rows)

    @property
    def stable_for(self) -> int:
        """Rows that came and changed nothing."""
        return self.rows - self.since

    def then(self, found: Importances, rows: int) -> Standings:
        """The standings after another look; parameters that are new join behind the others without passing any."""
        known = [name for name in self.order if name in found]
        order = (*known, *(name for name in found if name not in known))
        clear = clear_pairs(found.rows)
        place = {name: i for i, name in enumerate(order)}
        passed = tuple(
            Pass(ahead, behind, rows, (behind, ahead) in self.clear)
            for ahead, behind in sorted(clear, key=lambda pair: (place[pair[1]], place[pair[0]]))
            if place[ahead] > place[behind] and {ahead, behind} <= set(known)
        )
        turned = {(one.behind, one.ahead) for one in passed}
        return replace(
            self,
            order=tuple(found) if passed else order,
            clear=frozenset((self.clear - turned) | clear),
            since=rows if passed else self.since,
            rows=rows,
            passes=(*self.passes, *passed)[-LONGEST:],
        )


def clear_pairs(rows: Sequence[Importance]) -> frozenset[tuple[str, str]]:
    """(ahead, behind): pairs whose intervals do not touch."""
    pairs = [(a, b) for one, two in combinations(rows, 2) for a, b in ((one, two), (two, one))]
    return frozenset((a.name, b.name) for a, b in pairs if is_clear(a, b))


def is_clear(ahead: Importance, behind: Importance) -> bool:
    return ahead.low is not None and behind.high is not None and ahead.low > behind.high
