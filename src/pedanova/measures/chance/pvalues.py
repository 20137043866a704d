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
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.measures.chance.kinship import Kinship
from pedanova.measures.chance.marks import marks_of
from pedanova.measures.chance.normal import normal_below, normal_height, normal_quantile
from pedanova.measures.chance.permuting import Chance, block_means
from pedanova.measures.chance.ranked_rows import RankedRows
from pedanova.measures.chance.ranks import mid_ranks

Reals: TypeAlias = NDArray[np.float64]
Mask: TypeAlias = NDArray[np.bool_]
Indices: TypeAlias = NDArray[np.int64]
SIDE = 45  # SIDE² permutations at least,
A_PARAMETER = 40  # and so many for each parameter: Holm must be able to mark one
BLOCK = 10  # trials next to each other, among which a sampler that adapts hardly moved
STEP = 1.3  # how far the order of the other rows is followed
QUIET = 0.02  # rows whose score is so near the least one only point the way
FEWEST_QUIET = 5
MOST_COLUMNS = 100  # of other parameters that are adjusted for, the strongest
STRENGTHS = np.logspace(1.5, -3.0, 15)  # of the ridge, as parts of the largest direction
MOST_FREE = 0.6  # of the rows, that the ridge may use up
SAME = 1e-5  # relative: a permuted statistic so near counts as equal


@dataclass(frozen=True, slots=True, eq=False)
class Membership:
    """The rows of a region, best first, and how each belongs to the target."""

    score: Reals  # (rows,) centred
    normal: Reals  # (rows,) normal scores of the ranks, centred
    cut: float  # the normal score at which the target ends
    part: float  # of the rows
    prefix: bool  # the target is the best part: only then the order of the others can point the way


def membership_of(signed: Reals, target: Mask, *, certain: bool) -> Membership:
    """`certain`: the target is a set of rows or values, not a quantile that another sample would move."""
    rows, inside = len(signed), int(target.sum())
    ranks = mid_ranks(signed) - 0.5
    first, last = _span(target)
    score = target.astype(np.float64)
    if not certain and last - first == inside:
        score = _soft(ranks, last) - (_soft(ranks, first) if first else 0.0)
    normal = normal_quantile(ranks / rows)
    return Membership(
        score=score - score.mean(),
        normal=normal - normal.mean(),
        cut=float(normal_quantile(np.array([inside / rows]))[0]),
        part=inside / rows,
        prefix=first == 0 and last == inside,
    )


def _span(target: Mask) -> tuple[int, int]:
    held = np.flatnonzero(target)
    return int(held[0]), int(held[-1]) + 1


def _soft(ranks: Reals, inside: int) -> Reals:
    """How likely each row is among the best part of the population, of which these are a sample."""
    deviation = math.sqrt(inside * (1.0 - inside / len(ranks)))
    return normal_below((inside - ranks) / max(deviation, 1e-9))


def p_values(
    rows: RankedRows,
    kinship: Kinship,
    target: Mask,
    region: Mask | None = None,
    *,
    certain: bool = False,
    blocks: bool = False,
    only: Sequence[str] | None = None,
    seed: int = 0,
) -> dict[str, float]:
    """For every parameter that varies, or those of `only`; masks are over `rows`, the target inside the region.

    With `blocks` scores are permuted among neighbouring trials alone, and nothing is adjusted for:
    after a sampler that adapts, everything moves with the number of the trial.
    """
    held = np.arange(len(rows)) if region is None else np.flatnonzero(region)
    inside = int(target[held].sum())
    member = membership_of(rows.signed[held], target[held], certain=certain)
    neighbours = _neighbours(rows, held) if blocks else None
    grids = rows.arrangement.grids
    marks = [marks_of(grids[j], rows.places[held, j]) for j in range(len(kinship.names))]
    adjusted = Adjustment.of(member, marks, kinship.kin) if neighbours is None and member.prefix else None
    wanted = [j for j, name in enumerate(kinship.names) if only is None or name in set(only)]
    chance = Chance.of(len(held), inside, max(SIDE, math.isqrt(A_PARAMETER * len(wanted)) + 1), neighbours, seed)
    return {
        kinship.names[j]: _p_value(member, marks[j], adjusted, j, chance) if marks[j].shape[1] else 1.0 for j in wanted
    }


def _neighbours(rows: RankedRows, held: Indices) -> Indices | None:
    """(rows,) The block of trials that each row is in."""
    if rows.trials is None:
        return None
    places = np.empty(len(held), dtype=np.int64)
    places[np.argsort(rows.trials[held], kind="stable")] = np.arange(len(held))
    return places // BLOCK


def _p_value(member: Membership, marks: Reals, adjusted: Adjustment | None, j: int, chance: Chance) -> float:
    rest, gap = member.score, -member.normal
    if adjusted is not None:
        rest, gap = adjusted.without(j)
    if chance.neighbours is not None:
        marks = marks - block_means(marks, chance.neighbours)
    way = _way(member, rest, gap, marks) if member.prefix else np.zeros(marks.shape[1])
    found = chance.statistics(rest, marks, way)
    seen = float(((rest @ marks + way) ** 2).sum())
    return (1 + int(np.sum(found >= seen * (1.0 - SAME)))) / (1 + found.size)


def _way(member: Membership, rest: Reals, gap: Reals, marks: Reals) -> Reals:
    """(columns,) Where the order of the rows behind the target points; made to know nothing of the scores."""
    quiet = member.score - member.score.min() < QUIET
    if quiet.sum() <= FEWEST_QUIET:
        return np.zeros(marks.shape[1])
    gap, own = gap[quiet] - gap[quiet].mean(), rest[quiet] - rest[quiet].mean()
    if own @ own > 1e-9 * (rest @ rest):
        gap = gap - (gap @ own) / (own @ own) * own
    found: Reals = STEP * normal_height(member.cut) / (1.0 - member.part) * (gap @ marks[quiet])
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Adjustment:
    """What an additive model of other parameters tells of each row."""

    member: Membership
    kin: Mask  # (parameters, parameters)
    columns: Reals  # (rows, columns) of the strongest parameters
    owner: Indices  # (columns,)
    gram: Reals
    seen: Reals
    known: dict[bytes, tuple[Reals, Reals]]  # by the columns used

    @classmethod
    def of(cls, member: Membership, marks: Sequence[Reals], kin: Mask) -> Adjustment:
        strength = np.array([_strength(member.normal, columns) for columns in marks])
        chosen: list[int] = []
        for j in np.argsort(-strength, kind="stable"):
            if strength[j] > 0.0 and sum(marks[i].shape[1] for i in [*chosen, j]) <= MOST_COLUMNS:
                chosen.append(int(j))
        chosen.sort()
        parts = [marks[j] * math.sqrt(strength[j]) for j in chosen]
        columns = np.concatenate(parts, axis=1) if parts else np.zeros((len(member.score), 0))
        owner = np.repeat(np.array(chosen, dtype=np.int64), [part.shape[1] for part in parts])
        return cls(member, kin, columns, owner, columns.T @ columns, member.normal @ columns, {})

    def without(self, j: int) -> tuple[Reals, Reals]:
        """Scores less what parameters that are no kin of one tell; and what they tell less the normal scores."""
        used = ~self.kin[j][self.owner]
        key = used.tobytes()
        if key not in self.known:
            self.known[key] = self._told(np.flatnonzero(used))
        return self.known[key]

    def _told(self, used: Indices) -> tuple[Reals, Reals]:
        member = self.member
        if not len(used):
            return member.score, -member.normal
        gram, seen = self.gram[np.ix_(used, used)], self.seen[used]
        mean, deviation = told_by_others(member.normal, self.columns[:, used], gram, seen)
        chance = normal_below((member.cut - mean) / max(deviation, 1e-9))
        chance = chance - chance.mean()
        slope = float(np.clip(member.score @ chance / max(float(chance @ chance), 1e-300), 0.0, 1.5))
        return member.score - slope * chance, mean - member.normal


def _strength(normal: Reals, marks: Reals) -> float:
    """How far a parameter tells the order beyond chance, 0 if it does not."""
    size = float((marks**2).sum())
    if size == 0.0:
        return 0.0
    chance = float(normal @ normal) / (len(normal) - 1) * size
    return max(float(((normal @ marks) ** 2).sum()) / chance - 1.0, 0.0)


def told_by_others(scores: Reals, columns: Reals, gram: Reals, seen: Reals) -> tuple[Reals, float]:
    """A ridge of the scores on columns, each row told by the other rows; and the deviation of what is missed.

    Its strength is the one with the least generalised cross-validation.
    """
    rows = len(scores)
    squares, ways = np.linalg.eigh(gram)
    kept = squares > 1e-9 * squares[-1]
    squares, ways = squares[kept], ways[:, kept] / np.sqrt(squares[kept])
    along = seen @ ways
    passed = squares / (squares + squares[-1] * STRENGTHS[:, None])  # (strengths, directions)
    free = 1.0 + passed.sum(axis=1)
    misfit = scores @ scores - along @ along + (1.0 - passed) ** 2 @ along**2
    error = misfit / (1.0 - np.minimum(free, MOST_FREE * rows) / rows) ** 2
    best = passed[int(np.argmin(np.where(free <= MOST_FREE * rows, error, np.inf)))]
    turned = columns @ (ways * np.sqrt(best))
    missed = scores - turned @ (np.sqrt(best) * along)
    missed /= 1.0 - 1.0 / rows - np.einsum("ij,ij->i", turned, turned)
    return scores - missed, float(missed.std())
