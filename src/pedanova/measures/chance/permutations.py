"""Compute p-values: does a parameter affect which rows of the region are in the target?

The rows are a sample of a larger population. Each row has a score: the probability that the row is in, for example, the
best 10 % of the population. The score is predicted from other, independent parameters, and the prediction is
subtracted. Then the scores are permuted among the rows. The order of the rows outside the target suggests the direction
of an effect. docs/how-sure.md lists the simulations.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.base.kernel.selection import distinct
from pedanova.base.threads import RESULTS
from pedanova.counting.few_rows import Indices
from pedanova.data.column import Mask
from pedanova.measures.chance.ranked_rows import Dependence, Places, RankedRows, codes_of, mid_ranks, regimes_of
from pedanova.measures.distributions import normal_below, normal_height, normal_quantile, p_by_draws
from pedanova.space.grid import Grid, Reals, waves

SIDE = 45  # there are at least SIDE² permutations,
A_PARAMETER = 60  # and this many per parameter, so that a p-value can stay small after Holm's adjustment
STEP = 1.3  # weight of the order of the rows outside the target
QUIET = 0.02  # rows with a score this near the lowest only show the direction
FEWEST_QUIET = 5
BLOCK = 10  # consecutive trials, over which an adaptive sampler hardly changes
LOUD = (1.0, 1.0, 0.5, 0.25)  # weights of the cosines of an ordered parameter's ranks
FASTEST = 32  # the number of equally weighted cosines that look for fine structure
FEWEST_FINE = 12  # distinct values from which they are used
FEW = 4.0  # rows by which the effect of a group is shrunk
MOST_COLUMNS = 100  # columns of the strongest other parameters that are adjusted for
STRENGTHS = np.logspace(1.5, -3.0, 15)  # penalties of the ridge regression, relative to the largest eigenvalue
MOST_FREE = 0.6  # the largest effective number of ridge parameters, per row
Singles: TypeAlias = NDArray[np.float32]
MANY = 100  # target rows from which sums of permuted scores count as normal
SOME = 16  # SOME² permutations are drawn first
UNLIKELY = 2  # factor for the p-value without the shift, which is rarely needed
FINE = 4  # factor for the p-value of fine structure
ALIKE = 1e-12  # mean normal scores that differ by less are equal
SAME = 1e-5  # relative difference below which a permuted statistic counts as equal
MOST_KEPT = 1 << 24  # bytes of cached arrays that other targets can use
REGION_BYTES = 1 << 21  # roughly what is kept of a region, beside what grows with the number of parameters


@dataclass(frozen=True, eq=False)
class PermutationTest:
    """Permutation tests on ranked rows; results that do not depend on the target are cached for each region."""

    rows: RankedRows
    dependence: Dependence
    clustered: bool = False  # whether repeated configurations are permuted as a whole

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
        """The p-value of each varying parameter, or of those in `only`; `target` and `region` are masks over the rows.

        With `blocks`, scores are permuted only among neighbouring trials, because all values of an adaptive sampler
        drift with the trial number. Then scores are not adjusted for other parameters.
        """
        members = np.arange(len(self.rows)) if region is None else np.flatnonzero(region)
        cache = RESULTS.get(
            self,
            (members.tobytes(), blocks),
            lambda: RegionCache.of(self.rows, self.dependence, members, blocks=blocks, clustered=self.clustered),
        )
        member = cache.membership(target[members], certain=certain)
        names = self.dependence.names
        some = frozenset(names if only is None else only)
        permutations = cache.permuted(max(SIDE, math.isqrt(A_PARAMETER * len(names)) + 1), seed)
        residuals: dict[int, Residual] = {}  # by prediction; most parameters share one
        result: dict[str, float] = {}
        for j, name in enumerate(names):
            design = cache.design[j]
            if name not in some or not design.shape[1]:
                result |= {name: 1.0} if name in some else {}
                continue
            prediction = None if cache.others is None or not member.prefix else cache.others.prediction_for(j)
            if id(prediction) not in residuals:
                residuals[id(prediction)] = Residual.of(member, cache, prediction)
            residual = residuals[id(prediction)]
            shift = residual.shift(design)
            result[name] = permutations.p_value(residual.rest, cache.whole[j], shift, parameter=j, inside=member.inside)
        return result


@dataclass(frozen=True, slots=True, eq=False)
class Residual:
    """The scores of the rows minus their prediction from other parameters."""

    rest: Reals  # (rows,) scores minus their prediction
    gap: Reals | None  # (quiet rows,) prediction minus normal scores; None if the order shows no direction
    quiet: slice  # rows outside the target

    @classmethod
    def of(cls, member: Membership, cache: RegionCache, prediction: Prediction | None) -> Residual:
        rest, gap = member.score, -cache.normal
        if prediction is not None:
            chance = normal_below((member.cut - prediction.mean) / max(prediction.deviation, 1e-9))
            chance = chance - chance.mean()
            slope = float(np.clip(rest @ chance / max(float(chance @ chance), 1e-300), 0.0, 1.5))
            rest, gap = rest - slope * chance, prediction.mean - cache.normal
        # The rows are sorted, best first, so all later rows are quiet too.
        quiet = slice(int(np.argmax(member.score - member.score.min() < QUIET)), None)
        if not member.prefix or len(rest[quiet]) <= FEWEST_QUIET:
            return cls(rest, None, quiet)
        gap, own = gap[quiet] - gap[quiet].mean(), rest[quiet] - rest[quiet].mean()
        if own @ own > 1e-9 * (rest @ rest):  # now uncorrelated with the scores
            gap = gap - (gap @ own) / (own @ own) * own
        return cls(rest, STEP * normal_height(member.cut) / (1.0 - member.part) * gap, quiet)

    def shift(self, design: Reals) -> Reals:
        """(columns,) The direction of a parameter's effect, estimated from the order of the rows outside the target."""
        if self.gap is None:
            return np.zeros(design.shape[1])
        return self.gap @ design[self.quiet]


@dataclass(frozen=True, slots=True, eq=False)
class RegionCache:
    """Results for one region that do not depend on the target.

    A configuration that was run several times is used once, with the mean of its rows.
    """

    ranks: Reals  # (rows,) mid-ranks, ½ for the best
    owner: Indices  # (rows,) configuration of each row; they are in the order of their mean ranks
    normal: Reals  # (configurations,) normal scores of the ranks, centred
    design: tuple[Reals, ...]  # (configurations, columns) for every parameter that varies
    whole: tuple[Reals, ...]  # the same columns, followed by those for fine structure
    neighbours: Indices | None  # (configurations,) the block of trials that each is in
    others: OtherParameters | None  # None with neighbours, because all values drift with the trial number
    permutations: dict[tuple[int, int], Permutations] = field(default_factory=dict)  # by their number and seed

    @classmethod
    def of(
        cls, rows: RankedRows, dependence: Dependence, members: Indices, *, blocks: bool, clustered: bool
    ) -> RegionCache:
        ranks = mid_ranks(rows.signed[members]) - 0.5
        owner = np.arange(len(members))
        if clustered:  # configurations are numbered by the mean rank of their rows
            _, owner = np.unique(rows.keys[members], return_inverse=True)
            places = np.empty(owner.max() + 1, dtype=np.int64)
            places[np.argsort(mean_by(owner, ranks), kind="stable")] = np.arange(len(places))
            owner = places[owner]
        normal = mean_by(owner, normal_quantile(ranks / len(members)))
        normal = normal - normal.mean() if np.ptp(normal) > ALIKE else np.zeros(len(normal))
        first = members[np.unique(owner, return_index=True)[1]]
        grids = rows.arrangement.grids
        parts = [design_columns(grids[j], rows.places[first, j]) for j in range(len(dependence.names))]
        neighbours = neighbours_of(rows, first) if blocks else None
        whole = [np.concatenate(both, axis=1) for both in parts]
        if neighbours is not None:
            whole = [columns - block_means(columns, neighbours) if columns.size else columns for columns in whole]
        design = [columns[:, : own.shape[1]] for columns, (own, _) in zip(whole, parts, strict=True)]
        others = OtherParameters.of(normal, design, dependence.dependent) if neighbours is None else None
        return cls(ranks, owner, normal, tuple(design), tuple(whole), neighbours, others)

    @property
    def nbytes(self) -> int:
        """Roughly the bytes of the columns, and of what the first test keeps of them."""
        return REGION_BYTES + 2 * sum(columns.nbytes for columns in self.whole)

    def membership(self, target: Mask, *, certain: bool) -> Membership:
        """The degree to which each configuration belongs to `target`, a mask over the rows."""
        repeats = len(self.ranks) / len(self.normal)
        member = membership_of(self.ranks, target, certain=certain, repeats=repeats)
        if repeats == 1.0:
            return member
        score = mean_by(self.owner, member.score)
        return replace(member, score=score - score.mean(), inside=max(1, round(member.inside / repeats)))

    def permuted(self, side: int, seed: int) -> Permutations:
        """Make, or take from the cache, side² random permutations of the rows."""
        key = side, seed
        if key not in self.permutations:
            self.permutations.clear()
            most = max(columns.shape[1] for columns in self.whole)
            self.permutations[key] = Permutations(len(self.normal), most, side, self.neighbours, seed)
        return self.permutations[key]


def mean_by(owner: Indices, values: Reals) -> Reals:
    """(configurations,) The mean over the rows of each configuration."""
    counts = np.bincount(owner)
    return np.bincount(owner, weights=values) / counts


def neighbours_of(rows: RankedRows, members: Indices) -> Indices | None:
    """(rows,) The index of the block of consecutive trials that each row is in; None if trials are not numbered."""
    if rows.trials is None:
        return None
    places = np.empty(len(members), dtype=np.int64)
    places[np.argsort(rows.trials[members], kind="stable")] = np.arange(len(members))
    return places // BLOCK


def design_columns(grid: Grid, places: Places) -> tuple[Reals, Reals]:
    """(rows, columns) The centred regression columns of one parameter, and those for fine structure.

    There are no columns if all rows are in the same cell, and none for fine structure if there are few values.
    """
    regimes = regimes_of(grid, places)  # the domain of each row, if it has one
    columns: list[Reals] = _indicators(regimes, np.unique(regimes)) if np.ptp(regimes) > 0 else []
    fine: list[Reals] = []
    for block in grid.blocks:
        there = (places >= block.start) & (places < block.stop)
        seen = distinct(places[there])
        if not block.ordered:
            columns += _indicators(places, seen)
        elif len(seen) > 1:
            loud, quiet = _waves(places, there, LOUD, (1.0,) * FASTEST if len(seen) > FEWEST_FINE else ())
            columns, fine = [*columns, loud], [*fine, quiet]
    empty = np.zeros((len(places), 0))
    return np.column_stack([empty, *columns]), np.column_stack([empty, *fine])


def _indicators(codes: NDArray[np.generic], values: NDArray[np.generic]) -> list[Reals]:
    masks = [codes == value for value in values]
    return [(mask - mask.mean()) / np.sqrt(mask.sum() + FEW) for mask in masks if 0 < mask.sum() < len(codes)]


def _waves(places: Places, there: Mask, *weights: Sequence[float]) -> list[Reals]:
    """(rows, columns) For each list of weights: cosines of the mid-ranks of the values of an ordered parameter."""
    codes, rows = codes_of(places[there])
    values = waves(rows, min(max(map(len, weights)), len(rows) - 1))[codes]
    values -= values.mean(axis=0)
    result = []
    for own in weights:
        columns = np.zeros((len(places), min(len(own), values.shape[1])))
        width = columns.shape[1]
        columns[there] = values[:, :width] * np.sqrt(np.array(own[:width]) / (len(codes) + FEW))
        result.append(columns)
    return result


@dataclass(frozen=True, slots=True, eq=False)
class Membership:
    """Scores of the rows of a region, best first: the centred probability that each row is in the target."""

    score: Reals  # (rows,) centred
    cut: float  # the normal score at the edge of the target
    part: float  # the target's part of the rows
    inside: int  # rows of the target
    prefix: bool  # whether the target is the best part; otherwise the order of the other rows is not used


def membership_of(ranks: Reals, target: Mask, *, certain: bool, repeats: float = 1.0) -> Membership:
    """Compute `Membership` from ranks; the best row has the rank ½.

    Usually, the rank of a row determines its probability of being in the population's target. If `certain` is True,
    target rows have the probability 1 and other rows 0. This is also done if other rows are ranked between target rows.
    `repeats` is the mean number of rows of a configuration.
    """
    rows, inside = len(ranks), int(target.sum())
    members = np.flatnonzero(target)
    first, last = int(members[0]), int(members[-1]) + 1
    score = target.astype(np.float64)
    if not certain and last - first == inside:
        score = _soft(ranks, last, repeats) - (_soft(ranks, first, repeats) if first else 0.0)
    return Membership(
        score=score - score.mean(),
        cut=float(normal_quantile(inside / rows)),
        part=inside / rows,
        inside=inside,
        prefix=first == 0 and last == inside,
    )


def _soft(ranks: Reals, inside: int, repeats: float) -> Reals:
    """(rows,) The probability that each row is in the best part of the population, of size `inside` / len(ranks)."""
    deviation = math.sqrt(repeats * inside * (1.0 - inside / len(ranks)))
    return normal_below((inside - ranks) / max(deviation, 1e-9))


@dataclass(frozen=True, slots=True, eq=False)
class Prediction:
    """The normal score of each row, predicted from other parameters, and the standard deviation of the error."""

    mean: Reals  # (rows,)
    deviation: float


@dataclass(frozen=True, slots=True, eq=False)
class OtherParameters:
    """The parameters with the strongest effects in a region; tests of other parameters are adjusted for them."""

    normal: Reals  # (rows,) normal scores of the ranks, centred
    dependent: Mask  # (parameters, parameters)
    columns: Reals  # (rows, columns)
    owner: Indices  # (columns,)
    gram: Reals
    seen: Reals
    predictions: dict[bytes, Prediction | None] = field(default_factory=dict)  # by the columns used

    @classmethod
    def of(cls, normal: Reals, design: Sequence[Reals], dependent: Mask) -> OtherParameters:
        strength = np.array([_strength(normal, columns) for columns in design])
        chosen, taken = [], 0
        for j in np.argsort(-strength, kind="stable"):
            width = design[j].shape[1]
            if strength[j] > 0.0 and taken + width <= MOST_COLUMNS:
                chosen.append(int(j))
                taken += width
        chosen.sort()
        parts = [design[j] * math.sqrt(strength[j]) for j in chosen]
        columns = np.concatenate(parts, axis=1) if parts else np.zeros((len(normal), 0))
        owner = np.repeat(np.array(chosen, dtype=np.int64), [part.shape[1] for part in parts])
        return cls(normal, dependent, columns, owner, columns.T @ columns, normal @ columns)

    def prediction_for(self, j: int) -> Prediction | None:
        """The prediction from the parameters independent of parameter `j`; None if there are no such parameters."""
        used = ~self.dependent[j][self.owner]
        key = used.tobytes()
        if key not in self.predictions:
            gram, seen = self.gram[np.ix_(used, used)], self.seen[used]
            own = ridge_prediction(self.normal, self.columns[:, used], gram, seen) if used.any() else None
            self.predictions[key] = own
        return self.predictions[key]


def _strength(normal: Reals, design: Reals) -> float:
    """The strength of a parameter's effect: observed sum of squares / expected by chance - 1, at least 0."""
    size = float((design**2).sum())
    if size == 0.0 or not normal.any():
        return 0.0
    chance = float(normal @ normal) / (len(normal) - 1) * size
    return max(float(((normal @ design) ** 2).sum()) / chance - 1.0, 0.0)


def ridge_prediction(scores: Reals, columns: Reals, gram: Reals, seen: Reals) -> Prediction:
    """Leave-one-out predictions of the scores by ridge regression, and the standard deviation of their errors.

    Generalised cross-validation chooses the penalty.
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
    return Prediction(scores - missed, float(missed.std()))


@dataclass(eq=False)
class Permutations:
    """Random permutations that all parameters and targets share.

    There are two small sets of random orders. Each permutation applies one order of the first set and one of the
    second; all permutations are pairwise independent. With many target rows, the products of permuted scores and design
    columns are nearly normal. Then normal numbers with the same covariance are drawn instead.
    """

    rows: int
    columns: int  # the largest number of columns of a parameter
    side: int  # side² random permutations
    neighbours: Indices | None  # (rows,) blocks; scores are permuted only within a block
    seed: int
    room: int = MOST_KEPT  # bytes that may still be kept
    _kept: dict[tuple[int, int], NDArray[Any]] = field(default_factory=dict)  # by parameter and side

    @cached_property
    def orders(self) -> tuple[Indices, Indices]:
        """The two sets of random orders, both (side, rows)."""
        rng = np.random.default_rng([self.seed, 0x9E4])
        first, second = (_shuffled(self.rows, self.side, self.neighbours, rng) for _ in range(2))
        return first, second

    @cached_property
    def normals(self) -> Reals:
        """(columns, side²) Standard normal numbers, which replace permutations if there are many target rows."""
        rng = np.random.default_rng([self.seed, 0x9E5])
        return rng.standard_normal((self.columns, self.side**2))

    def p_value(self, scores: Reals, design: Reals, shift: Reals, *, parameter: int, inside: int) -> float:
        """How often permuted scores reach the observed statistics, the sums of squares of scores · design.

        `shift` is the direction of the effect that the rows outside the target suggest, for the first columns of
        `design`. This direction may be wrong: for example, a model type may be good on average but never among the
        best. So the statistic is also computed without `shift`. The other columns are for fine structure, and have a
        statistic of their own. `p_by_draws` combines the p-values.
        """
        seen = squares((scores @ design)[:, None], shift)[:, 0]
        factors = [1, *[UNLIKELY] * bool(shift.any()), *[FINE] * (design.shape[1] > len(shift))]
        if inside >= MANY:
            draws = iter([self.in_the_limit(scores, design, shift, parameter=parameter)])
        else:
            draws = self.batches(scores, design, shift, parameter)
        return p_by_draws(seen, draws, most=self.side**2, factors=factors, same=SAME)

    def batches(self, scores: Reals, design: Reals, shift: Reals, parameter: int) -> Iterator[Reals]:
        """The statistics of the first SOME² permutations, and then of the others."""
        few = min(SOME, self.side)
        yield self.statistics(scores, design, shift, parameter=parameter, side=few)
        if few < self.side:
            every = self.statistics(scores, design, shift, parameter=parameter)
            first = np.arange(self.side) < few
            yield every[:, ~np.outer(first, first).ravel()]

    def statistics(
        self, scores: Reals, design: Reals, shift: Reals, *, parameter: int, side: int | None = None
    ) -> Reals:
        """(statistics, side²) The result of `squares` for permuted scores."""
        side = self.side if side is None else side
        permuted = np.take(scores.astype(np.float32), self.orders[0][:side])

        def turn() -> Singles:  # (columns · side, rows) the design columns, permuted by the second set of orders
            single = np.ascontiguousarray(design.T, dtype=np.float32)
            return np.take(single, self.orders[1][:side], axis=1, mode="clip").reshape(-1, self.rows)  # without checks

        products = (permuted @ self._keep(parameter, side, turn).T).reshape(side, design.shape[1], side)
        return squares(products, shift.astype(np.float32))

    def in_the_limit(self, scores: Reals, design: Reals, shift: Reals, *, parameter: int) -> Reals:
        """Like `statistics`, but from normal random numbers with the same covariance as the permuted products."""
        columns = self.normals[: design.shape[1]]
        if self.neighbours is not None:
            blocks, sizes = self.neighbours, np.bincount(self.neighbours)
            spread = scores - (np.bincount(blocks, weights=scores) / sizes)[blocks]
            variance = np.bincount(blocks, weights=spread**2) / np.maximum(sizes - 1, 1)
            return squares(_root(design * np.sqrt(variance)[blocks][:, None]) @ columns, shift)
        products = self._keep(parameter, 0, lambda: _root(design) @ columns)
        return squares(products * float(scores.std(ddof=1)), shift)

    def _keep(self, parameter: int, side: int, make: Callable[[], NDArray[Any]]) -> NDArray[Any]:
        """Return the cached array, or make the array and cache it if there is room."""
        key = parameter, side
        if key in self._kept:
            return self._kept[key]
        made = make()
        if made.nbytes <= self.room:
            self.room -= made.nbytes
            self._kept[key] = made
        return made


def squares(products: NDArray[Any], shift: NDArray[Any]) -> Reals:
    """(1 to 3, permutations) Sums of squares of `products` (columns, permutations), or (permutations, columns, others).

    First the sum Σ (products + shift)² over the columns of `shift`; if `shift` is not 0, also Σ products²; if there are
    further columns, for fine structure, their sum of squares.
    """
    own, fine = products[..., : len(shift), :], products[..., len(shift) :, :]
    parts = [own + shift[:, None], own] if shift.any() else [own]
    parts += [fine] if fine.size else []
    return np.stack([np.einsum("...ij,...ij->...j", part, part).ravel() for part in parts]).astype(np.float64)


def _root(columns: Reals) -> Reals:
    """(columns, columns) A square root of columnsᵀ · columns."""
    values, ways = np.linalg.eigh(columns.T @ columns)
    root: Reals = ways * np.sqrt(np.maximum(values, 0.0))
    return root


def block_means(columns: Reals, blocks: Indices) -> Reals:
    """(rows, columns) For each row, the mean of every column over the block that the row is in."""
    sums = np.stack([np.bincount(blocks, weights=column) for column in columns.T], axis=1)
    return (sums / np.bincount(blocks)[:, None])[blocks]


def _shuffled(rows: int, side: int, neighbours: Indices | None, rng: np.random.Generator) -> Indices:
    """(side, rows) Random orders of the rows; with `neighbours`, rows are permuted only within their block."""
    if neighbours is None:
        return rng.permuted(np.tile(np.arange(rows), (side, 1)), axis=1)
    result = np.empty((side, rows), dtype=np.int64)
    result[:, np.argsort(neighbours, kind="stable")] = np.argsort(neighbours + rng.random((side, rows)), axis=1)
    return result
