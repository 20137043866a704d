"""p-values for the question of the table: is a parameter independent of being in this target, among the rows
of this region?

Each row has a score: how likely it belongs to the best part of the population, which for the rows
next to the threshold is a matter of chance. What parameters that are no kin tell of it is taken off
first, and the order of the other rows points where to look. Then scores are permuted among the rows.
docs/how-sure.md says what was simulated.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.measures.chance.dependence import Kinship
from pedanova.measures.chance.ranked_rows import Places, RankedRows, mid_ranks
from pedanova.measures.distributions import normal_below, normal_height, normal_quantile
from pedanova.space.grid import Block, Grid

Reals: TypeAlias = NDArray[np.float64]
Mask: TypeAlias = NDArray[np.bool_]
SIDE = 45  # SIDE² permutations at least,
A_PARAMETER = 60  # and so many for each parameter: Holm must be able to mark one
STEP = 1.3  # how far the order of the other rows is followed
QUIET = 0.02  # rows whose score is so near the least one only point the way
FEWEST_QUIET = 5
MOST_GROUNDS = 8  # regions that are remembered
Indices: TypeAlias = NDArray[np.int64]
BLOCK = 10  # trials next to each other, among which a sampler that adapts hardly moved
LOUD = (1.0, 1.0, 0.5, 0.25)  # weights of the cosines of an ordered parameter's ranks
FEW = 4.0  # rows that a group is shrunk by
MOST_COLUMNS = 100  # of other parameters that are adjusted for, the strongest
STRENGTHS = np.logspace(1.5, -3.0, 15)  # of the ridge, as parts of the largest direction
MOST_FREE = 0.6  # of the rows, that the ridge may use up
Singles: TypeAlias = NDArray[np.float32]
MANY = 100  # target rows from which on sums of permuted scores are taken for normal
SOME = 16  # SOME² deals are a first look:
CLEAR = 0.1  # where so many of them are as high, more would tell nothing
UNLIKELY = 2  # times the p-value without the way: a way that points against what the target shows is seldom
SAME = 1e-5  # relative: a permuted statistic so near counts as equal
MOST_KEPT = 1 << 24  # bytes of what the next target needs as well


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


@dataclass(frozen=True, slots=True, eq=False)
class Ground:
    """Of one region; with `neighbours`, scores are dealt among rows of the same block alone."""

    ranks: Reals  # (rows,) mid-ranks, ½ for the best
    normal: Reals  # (rows,) normal scores of the ranks, centred
    marks: tuple[Reals, ...]  # (rows, columns) for every parameter that varies
    neighbours: Indices | None  # (rows,) the block of trials that each row is in
    others: Others | None  # None with neighbours: there everything moves with the number of the trial
    deals: dict[tuple[int, int], Deals] = field(default_factory=dict)  # by their number and seed

    @classmethod
    def of(cls, rows: RankedRows, kinship: Kinship, held: Indices, *, blocks: bool) -> Ground:
        ranks = mid_ranks(rows.signed[held]) - 0.5
        normal = normal_quantile(ranks / len(held))
        normal = normal - normal.mean()
        grids = rows.arrangement.grids
        marks = [marks_of(grids[j], rows.places[held, j]) for j in range(len(kinship.names))]
        neighbours = neighbours_of(rows, held) if blocks else None
        if neighbours is not None:
            marks = [columns - block_means(columns, neighbours) if columns.size else columns for columns in marks]
        others = Others.of(normal, marks, kinship.kin) if neighbours is None else None
        return cls(ranks, normal, tuple(marks), neighbours, others)

    def dealt(self, side: int, seed: int) -> Deals:
        """Random orders of the rows, side² of them."""
        key = side, seed
        if key not in self.deals:
            self.deals.clear()
            most = max(columns.shape[1] for columns in self.marks)
            self.deals[key] = Deals(len(self.ranks), most, side, self.neighbours, seed)
        return self.deals[key]


def neighbours_of(rows: RankedRows, held: Indices) -> Indices | None:
    """(rows,) The block of trials that each row is in; None where the order is not known."""
    if rows.trials is None:
        return None
    places = np.empty(len(held), dtype=np.int64)
    places[np.argsort(rows.trials[held], kind="stable")] = np.arange(len(held))
    return places // BLOCK


def marks_of(grid: Grid, places: Places) -> Reals:
    """(rows, columns) Centred; none where all rows are alike."""
    columns = [*_regimes(grid, places)]
    for block in grid.blocks:
        columns += _waves(block, places) if block.ordered else _kinds(block, places)
    return np.stack(columns, axis=1) if columns else np.zeros((len(places), 0))


def _regimes(grid: Grid, places: Places) -> list[Reals]:
    """Being in a domain, or in none; nothing where all rows are in one."""
    starts = [*(block.start for block in grid.blocks), grid.missing, grid.outside]
    regimes = np.searchsorted(starts, places, side="right") - 1
    return _indicators(regimes, np.unique(regimes)) if np.ptp(regimes) > 0 else []


def _kinds(block: Block, places: Places) -> list[Reals]:
    seen = np.unique(places[(places >= block.start) & (places < block.stop)])
    return _indicators(places, seen)


def _indicators(codes: NDArray[np.generic], values: NDArray[np.generic]) -> list[Reals]:
    masks = [codes == value for value in values]
    return [(mask - mask.mean()) / np.sqrt(mask.sum() + FEW) for mask in masks if 0 < mask.sum() < len(codes)]


def _waves(block: Block, places: Places) -> list[Reals]:
    """Cosines of mid-ranks among the rows of the block."""
    there = (places >= block.start) & (places < block.stop)
    rows = int(there.sum())
    if rows < 2:
        return []
    values = places[there]
    middles = (mid_ranks(values) - 0.5) / rows
    found = []
    for k, loud in enumerate(LOUD[: len(np.unique(values)) - 1], 1):
        wave = np.cos(np.pi * k * middles)
        column = np.zeros(len(places))
        column[there] = (wave - wave.mean()) * np.sqrt(2.0 * loud / (rows + FEW))
        found.append(column)
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Membership:
    """The rows of a region, best first, and how each belongs to the target."""

    score: Reals  # (rows,) centred
    cut: float  # the normal score at which the target ends
    part: float  # of the rows
    inside: int  # rows of the target
    prefix: bool  # the target is the best part: only then the order of the others can point the way


def membership_of(ranks: Reals, target: Mask, *, certain: bool) -> Membership:
    """From ranks, ½ for the best. `certain`: the target is a set of rows or values, not a quantile that would move."""
    rows, inside = len(ranks), int(target.sum())
    first, last = _span(target)
    score = target.astype(np.float64)
    if not certain and last - first == inside:
        score = _soft(ranks, last) - (_soft(ranks, first) if first else 0.0)
    return Membership(
        score=score - score.mean(),
        cut=float(normal_quantile(np.array([inside / rows]))[0]),
        part=inside / rows,
        inside=inside,
        prefix=first == 0 and last == inside,
    )


def _span(target: Mask) -> tuple[int, int]:
    held = np.flatnonzero(target)
    return int(held[0]), int(held[-1]) + 1


def _soft(ranks: Reals, inside: int) -> Reals:
    """How likely each row is among the best part of the population, of which these are a sample."""
    deviation = math.sqrt(inside * (1.0 - inside / len(ranks)))
    return normal_below((inside - ranks) / max(deviation, 1e-9))


@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """The normal score that others tell of each row, and how far it is off."""

    mean: Reals  # (rows,)
    deviation: float


@dataclass(frozen=True, slots=True, eq=False)
class Others:
    """The strongest parameters of a region's rows, to be adjusted for."""

    normal: Reals  # (rows,) normal scores of the ranks, centred
    kin: Mask  # (parameters, parameters)
    columns: Reals  # (rows, columns)
    owner: Indices  # (columns,)
    gram: Reals
    seen: Reals
    known: dict[bytes, Told | None] = field(default_factory=dict)  # by the columns used

    @classmethod
    def of(cls, normal: Reals, marks: Sequence[Reals], kin: Mask) -> Others:
        strength = np.array([_strength(normal, columns) for columns in marks])
        chosen, taken = [], 0
        for j in np.argsort(-strength, kind="stable"):
            width = marks[j].shape[1]
            if strength[j] > 0.0 and taken + width <= MOST_COLUMNS:
                chosen.append(int(j))
                taken += width
        chosen.sort()
        parts = [marks[j] * math.sqrt(strength[j]) for j in chosen]
        columns = np.concatenate(parts, axis=1) if parts else np.zeros((len(normal), 0))
        owner = np.repeat(np.array(chosen, dtype=np.int64), [part.shape[1] for part in parts])
        return cls(normal, kin, columns, owner, columns.T @ columns, normal @ columns)

    def without(self, j: int) -> Told | None:
        """What parameters that are no kin of one tell; None where there are none."""
        used = ~self.kin[j][self.owner]
        key = used.tobytes()
        if key not in self.known:
            self.known[key] = self._told(np.flatnonzero(used))
        return self.known[key]

    def _told(self, used: Indices) -> Told | None:
        if not len(used):
            return None
        gram, seen = self.gram[np.ix_(used, used)], self.seen[used]
        return told_by_others(self.normal, self.columns[:, used], gram, seen)


def _strength(normal: Reals, marks: Reals) -> float:
    """How far a parameter tells the order beyond chance, 0 if it does not."""
    size = float((marks**2).sum())
    if size == 0.0:
        return 0.0
    chance = float(normal @ normal) / (len(normal) - 1) * size
    return max(float(((normal @ marks) ** 2).sum()) / chance - 1.0, 0.0)


def told_by_others(scores: Reals, columns: Reals, gram: Reals, seen: Reals) -> Told:
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
    return Told(scores - missed, float(missed.std()))


@dataclass(eq=False)
class Deals:
    """Random numbers that serve every parameter and target.

    Permutations are all compositions of two small sets, which are pairwise independent. With many
    target rows, products of permuted scores with a parameter's columns are normal, and only their
    covariance is needed.
    """

    rows: int
    columns: int  # that a parameter has at most
    side: int  # side² random deals
    neighbours: Indices | None  # (rows,) blocks among whose rows alone scores are dealt
    seed: int
    room: int = MOST_KEPT  # bytes that may still be kept
    _kept: dict[tuple[int, int], NDArray[Any]] = field(default_factory=dict)  # by parameter and side

    @cached_property
    def orders(self) -> tuple[Indices, Indices]:
        """(side, rows) each."""
        rng = np.random.default_rng([self.seed, 0x9E4])
        first, second = (_shuffled(self.rows, self.side, self.neighbours, rng) for _ in range(2))
        return first, second

    @cached_property
    def normals(self) -> Reals:
        """(columns, side²)"""
        rng = np.random.default_rng([self.seed, 0x9E5])
        return rng.standard_normal((self.columns, self.side**2))

    def p_value(self, scores: Reals, marks: Reals, way: Reals, *, parameter: int, inside: int) -> float:
        """How often dealt scores reach the statistic of the scores as they are, Σ (scores · marks + way)².

        Asked with the way and without, and the smaller of both judged by what dealt scores make of it: among the rows
        behind the target the order may be the opposite one. A kind of model that is never the best may be the safest.
        """
        seen = squares((scores @ marks)[:, None], way)[:, 0] * (1.0 - SAME)
        if inside >= MANY:
            return part_of_least(self.in_the_limit(scores, marks, way, parameter=parameter), seen)
        first = self.statistics(scores, marks, way, parameter=parameter, side=min(SOME, self.side))
        if (np.count_nonzero(first >= seen[:, None], axis=1) >= CLEAR * first.shape[1]).all():
            return part_of_least(first, seen)
        return part_of_least(self.statistics(scores, marks, way, parameter=parameter), seen)

    def statistics(self, scores: Reals, marks: Reals, way: Reals, *, parameter: int, side: int | None = None) -> Reals:
        """(1 or 2, side²) Σ (scores · marks + way)², the scores dealt at random; without the way, too."""
        side = self.side if side is None else side
        dealt = np.take(scores.astype(np.float32), self.orders[0][:side])
        products = (dealt @ self._turned(marks, parameter, side).T).reshape(side, marks.shape[1], side)
        plain = np.einsum("ijk,ijk->ik", products, products).ravel().astype(np.float64)
        if not way.any():
            return np.asarray(plain[None, :])
        along = np.einsum("ijk,j->ik", products, way.astype(np.float32)).ravel()
        found: Reals = np.stack([plain + 2.0 * along + way @ way, plain])
        return found

    def in_the_limit(self, scores: Reals, marks: Reals, way: Reals, *, parameter: int) -> Reals:
        """Normal products with the covariance of permuted ones."""
        columns = self.normals[: marks.shape[1]]
        if self.neighbours is not None:
            return squares(_root(marks * _deviations(scores, self.neighbours)[:, None]) @ columns, way)
        products = self._keep(parameter, 0, lambda: _root(marks) @ columns)
        return squares(products * float(scores.std(ddof=1)), way)

    def _turned(self, marks: Reals, parameter: int, side: int) -> Singles:
        """(columns · side, rows) A parameter's columns in the second orders."""

        def turn() -> Singles:
            single = np.ascontiguousarray(marks.T, dtype=np.float32)
            return np.take(single, self.orders[1][:side], axis=1).reshape(-1, self.rows)

        return self._keep(parameter, side, turn)

    def _keep(self, parameter: int, side: int, make: Callable[[], NDArray[Any]]) -> NDArray[Any]:
        """What is the same for every target, made once as long as there is room."""
        key = parameter, side
        if key in self._kept:
            return self._kept[key]
        made = make()
        if made.nbytes <= self.room:
            self.room -= made.nbytes
            self._kept[key] = made
        return made


def squares(products: Reals, way: Reals) -> Reals:
    """(1 or 2, deals) Σ (products + way)² over the columns, which come first; without the way, too, if there is one."""
    plain: Reals = np.einsum("ij,ij->j", products, products)
    if not way.any():
        return plain[None, :]
    moved = products + way[:, None]
    along: Reals = np.einsum("ij,ij->j", moved, moved)
    return np.stack([along, plain])


def part_of_least(found: Reals, seen: Reals) -> float:
    """The p-value of the smaller p-value, that without the way taken twice: it is seldom needed."""
    every: Reals = np.concatenate([seen[:, None], found], axis=1)
    above = np.count_nonzero(every >= seen[:, None], axis=1)
    if len(every) == 1:
        return int(above[0]) / int(every.shape[1])
    least = min(int(above[0]), UNLIKELY * int(above[1]))
    rare = reached_by(every[0], least) | reached_by(every[1], least // UNLIKELY)
    return int(np.count_nonzero(rare)) / int(every.shape[1])


def reached_by(values: Reals, most: int) -> NDArray[np.bool_]:
    """(values,) Those that at most so many of all reach, themselves included."""
    if most >= len(values):
        return np.ones(len(values), dtype=bool)
    place = len(values) - 1 - most
    found: NDArray[np.bool_] = values > np.partition(values, place)[place]
    return found


def _root(columns: Reals) -> Reals:
    """(columns, columns) A square root of their covariance, times the rows."""
    values, ways = np.linalg.eigh(columns.T @ columns)
    root: Reals = ways * np.sqrt(np.maximum(values, 0.0))
    return root


def _deviations(scores: Reals, blocks: Indices) -> Reals:
    """(rows,) Of the scores of each row's block."""
    sizes = np.bincount(blocks)
    spread = scores - (np.bincount(blocks, weights=scores) / sizes)[blocks]
    variance = np.bincount(blocks, weights=spread**2) / np.maximum(sizes - 1, 1)
    found: Reals = np.sqrt(variance)[blocks]
    return found


def block_means(columns: Reals, blocks: Indices) -> Reals:
    """(rows, columns) The mean over each row's block."""
    sums = np.stack([np.bincount(blocks, weights=column) for column in columns.T], axis=1)
    means: Reals = (sums / np.bincount(blocks)[:, None])[blocks]
    return means


def _shuffled(rows: int, side: int, neighbours: Indices | None, rng: np.random.Generator) -> Indices:
    """(side, rows) Random orders, inside blocks where there are any."""
    if neighbours is None:
        return rng.permuted(np.tile(np.arange(rows), (side, 1)), axis=1)
    found = np.empty((side, rows), dtype=np.int64)
    found[:, np.argsort(neighbours, kind="stable")] = np.argsort(neighbours + rng.random((side, rows)), axis=1)
    return found
