"""p-values for the question of the table: is a parameter independent of being in this target, among the rows
of this region?

Each row has a score: how likely it belongs to the best part of the population, which for the rows
next to the threshold is a matter of chance. What parameters that are no kin tell of it is taken off
first, and the order of the other rows points where to look. Then scores are permuted among the rows.
docs/how-sure.md says what was simulated.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.measures.chance.ground import Ground
from pedanova.measures.chance.kinship import Kinship
from pedanova.measures.chance.membership import Membership, membership_of
from pedanova.measures.chance.normal import normal_below, normal_height
from pedanova.measures.chance.others import Told
from pedanova.measures.chance.ranked_rows import RankedRows

Reals: TypeAlias = NDArray[np.float64]
Mask: TypeAlias = NDArray[np.bool_]
SIDE = 45  # SIDE² permutations at least,
A_PARAMETER = 60  # and so many for each parameter: Holm must be able to mark one
STEP = 1.3  # how far the order of the other rows is followed
QUIET = 0.02  # rows whose score is so near the least one only point the way
FEWEST_QUIET = 5
MOST_GROUNDS = 8  # regions that are remembered


@dataclass(frozen=True, slots=True, eq=False)
class Examiner:
    """Of some rows; what a region's rows tell whatever the target is kept for further questions."""

    rows: RankedRows
    kinship: Kinship
    grounds: dict[tuple[bytes, bool], Ground] = field(default_factory=dict)  # by region, and whether in blocks

    def p_values(
        self,
        target: Mask,
        region: Mask | None = None,
        *,
        certain: bool = False,
        blocks: bool = False,
        only: Sequence[str] | None = None,
        seed: int = 0,
    ) -> dict[str, float]:
        """For every parameter that varies, or those of `only`; masks are over the rows, the target inside the region.

        With `blocks` scores are permuted among neighbouring trials alone, and nothing is adjusted for:
        after a sampler that adapts, everything moves with the number of the trial.
        """
        held = np.arange(len(self.rows)) if region is None else np.flatnonzero(region)
        ground = self._ground(held, blocks=blocks)
        member = membership_of(ground.ranks, target[held], certain=certain)
        names = self.kinship.names
        some = None if only is None else frozenset(only)
        wanted = [j for j, name in enumerate(names) if some is None or name in some]
        deals = ground.dealt(max(SIDE, math.isqrt(A_PARAMETER * len(names)) + 1), seed)
        views: dict[int, Unexplained] = {}  # by what others tell: mostly the same
        found = {}
        for j in wanted:
            marks = ground.marks[j]
            if not marks.shape[1]:
                found[names[j]] = 1.0
                continue
            told = None if ground.others is None or not member.prefix else ground.others.without(j)
            if id(told) not in views:
                views[id(told)] = Unexplained.of(member, ground, told)
            view = views[id(told)]
            found[names[j]] = deals.p_value(view.rest, marks, view.way(marks), parameter=j, inside=member.inside)
        return found

    def _ground(self, held: NDArray[np.int64], *, blocks: bool) -> Ground:
        key = held.tobytes(), blocks
        if key not in self.grounds:
            while len(self.grounds) >= MOST_GROUNDS:
                self.grounds.pop(next(iter(self.grounds)))
            self.grounds[key] = Ground.of(self.rows, self.kinship, held, blocks=blocks)
        return self.grounds[key]


@dataclass(frozen=True, slots=True, eq=False)
class Unexplained:
    """Scores as a parameter is held against them."""

    rest: Reals  # (rows,) less what others tell
    gap: Reals | None  # (quiet rows,) what others tell less the normal scores; None where no order points the way
    quiet: slice  # rows behind the target

    @classmethod
    def of(cls, member: Membership, ground: Ground, told: Told | None) -> Unexplained:
        rest, gap = member.score, -ground.normal
        if told is not None:
            chance = normal_below((member.cut - told.mean) / max(told.deviation, 1e-9))
            chance = chance - chance.mean()
            slope = float(np.clip(rest @ chance / max(float(chance @ chance), 1e-300), 0.0, 1.5))
            rest, gap = rest - slope * chance, told.mean - ground.normal
        quiet = slice(
            int(np.argmax(member.score - member.score.min() < QUIET)), None
        )  # best first: none behind is loud
        if not member.prefix or len(rest[quiet]) <= FEWEST_QUIET:
            return cls(rest, None, quiet)
        gap, own = gap[quiet] - gap[quiet].mean(), rest[quiet] - rest[quiet].mean()
        if own @ own > 1e-9 * (rest @ rest):  # made to know nothing of the scores
            gap = gap - (gap @ own) / (own @ own) * own
        return cls(rest, STEP * normal_height(member.cut) / (1.0 - member.part) * gap, quiet)

    def way(self, marks: Reals) -> Reals:
        """(columns,) Where the order of the rows behind the target points."""
        if self.gap is None:
            return np.zeros(marks.shape[1])
        found: Reals = self.gap @ marks[self.quiet]
        return found
