"""Explain the target by two parameters: by each one alone, by the sum of both effects, or by the whole two-way table.

In cell (i, j) of the table, t_ij of c_ij region rows (trials) are in the target. The additive fit approximates
t_ij/c_ij by a row effect plus a column effect (least squares with weights c_ij). If the row effects are eliminated, the
matrix for the column effects is L = diag(column sums) - Cᵀ diag(1/row sums) C. The pseudo-inverse of L is computed once
for each region; then a fit to another target takes only matrix products.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.measures.share import ratio_of
from pedanova.space.grid import Reals

EMPTY = 1e-12  # eigenvalues below this part of the largest are rounding errors
FIRST_LOOK, SEEN_OFTEN = 49, 12  # draws for all pairs at once; this many as large as the data end the test
STAGES = ((99, 20), (299, 30), (999, 10), (3_999, 8))  # draws; this many as large as the data end the test
NEARLY_NORMAL = 10.0  # binomial counts with at least this variance are drawn as normal numbers
ENOUGH_TO_TELL, FAR = 999, 10.0  # after so many draws, a value this many deviations away counts as never reached
AT_A_TIME = 2_000  # draws held in memory
MOST_NUMBERS = 2_000_000  # numbers in memory while several pairs are drawn together


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """The number of region rows in each cell of a two-way table, and the matrices that every least-squares fit uses."""

    region: Reals  # (…, cells, cells)
    by_cell: Reals  # 1 / region, 0 where it is empty
    by_row: Reals  # (…, cells) 1 / row sums
    by_column: Reals
    inverse: Reals  # (…, cells, cells) L⁺
    freedoms: NDArray[np.int64]  # (…, 4) degrees of freedom: whole table, additive fit, rows, columns

    def of(self, pair: int) -> Design:
        return Design(*(getattr(self, name)[pair] for name in self.__slots__))


@dataclass(frozen=True, slots=True, eq=False)
class Explained:
    """Fractions of the variance of "is the row in the target?"; each field says what explains this fraction."""

    closed: Reals  # by the whole table
    additive: Reals  # by the sum of both effects
    first: Reals  # by the first parameter alone
    second: Reals

    @property
    def interaction(self) -> Reals:
        return np.maximum(0.0, self.closed - self.additive)

    @property
    def of_the_rest(self) -> Reals:
        """The interaction divided by the fraction of the variance that the additive fit leaves unexplained."""
        return self.interaction * inverse_of(np.maximum(0.0, 1.0 - self.additive))


def design_of(region: NDArray[np.int64]) -> Design:
    """Make the design from region counts (pairs, cells, cells); empty rows and columns are allowed."""
    counts = region.astype(np.float64)
    rows, columns = counts.sum(axis=-1), counts.sum(axis=-2)
    by_row = inverse_of(rows)
    scaled = counts * by_row[..., None]
    laplacian = columns[..., None] * np.eye(counts.shape[-1]) - np.swapaxes(counts, -1, -2) @ scaled
    values, vectors = np.linalg.eigh(laplacian)
    real = values > EMPTY * np.maximum(1.0, columns.max(axis=-1, initial=0.0))[..., None]
    inverse = (vectors * np.where(real, inverse_of(np.where(real, values, 0.0)), 0.0)[..., None, :]) @ np.swapaxes(
        vectors, -1, -2
    )
    used = (rows > 0).sum(axis=-1)
    freedoms = np.stack(
        [(counts > 0).sum(axis=(-1, -2)), used + real.sum(axis=-1), used, (columns > 0).sum(axis=-1)], axis=-1
    )
    return Design(counts, inverse_of(counts), by_row, inverse_of(columns), inverse, freedoms - 1)


def inverse_of(values: Reals) -> Reals:
    inverse: Reals = ratio_of(1.0, values)
    return inverse


def explained(design: Design, target: NDArray[Any]) -> Explained:
    """Compute `Explained` from the number of target rows in each cell: `target` is (…, cells, cells)."""
    total = design.region.sum(axis=(-1, -2))
    part = target.sum(axis=(-1, -2)) / total
    beyond = target - part[..., None, None] * design.region
    rows, columns, rest = margins(design, beyond)
    first = np.sum(rows**2 * design.by_row, axis=-1)
    fitted = np.squeeze(rest[..., None, :] @ design.inverse, axis=-2)
    spread = inverse_of(total * part * (1.0 - part))
    return Explained(
        closed=np.sum(beyond**2 * design.by_cell, axis=(-1, -2)) * spread,
        additive=(first + np.sum(fitted * rest, axis=-1)) * spread,
        first=first * spread,
        second=np.sum(columns**2 * design.by_column, axis=-1) * spread,
    )


def margins(design: Design, beyond: Reals) -> tuple[Reals, Reals, Reals]:
    """Sums of `beyond` (counts minus expected counts): by row, by column, and by column without the row effects."""
    rows, columns = beyond.sum(axis=-1), beyond.sum(axis=-2)
    expected = np.squeeze((rows * design.by_row)[..., None, :] @ design.region, axis=-2)
    return rows, columns, columns - expected


def fitted_parts(design: Design, target: NDArray[np.int64]) -> Reals:
    """(…, cells, cells) The probability that a row in the cell is in the target, predicted by the additive fit."""
    part = target.sum(axis=(-1, -2)) / design.region.sum(axis=(-1, -2))
    rows, _, rest = margins(design, target - part[..., None, None] * design.region)
    by_column = np.squeeze(rest[..., None, :] @ design.inverse, axis=-2)
    moved = np.squeeze(design.region @ by_column[..., None], axis=-1)
    by_row = (rows - moved) * design.by_row
    fit: Reals = part[..., None, None] + by_row[..., :, None] + by_column[..., None, :]
    return np.clip(fit, 0.0, 1.0)


def p_value(design: Design, target: NDArray[np.int64], *, most: int, random: np.random.Generator) -> float:
    """The p-value of one pair: how often chance gives such a large interaction if effects are additive.

    In every cell, target rows are drawn with the probability of the additive fit (a parametric bootstrap). Drawing
    stops early for a pair whose p-value is clearly not small.
    """
    chances = fitted_parts(design, target)

    def again(draws: int) -> Reals:
        return rest_explained(design, draw_targets(design.region, chances, draws, random))

    return chance_of(float(explained(design, target).of_the_rest), again, most=most)


def chance_of(seen: float, again: Callable[[int], Reals], *, most: int, far: bool = False) -> float:
    """The p-value of `seen`: how often a random value is at least as large; ``again(n)`` draws n random values.

    Drawing stops early if many random values are as large. If `far` is True, it also stops if `seen` is more than ten
    standard deviations above the mean of the first 999 draws.
    """
    least = seen * (1.0 - 1e-9) - 1e-12  # ties count as reached
    drawn: list[Reals] = []
    count = reached = 0
    for draws, enough in (*(stage for stage in STAGES if stage[0] < most), (most, most)):
        while count < draws:
            drawn.append(again(min(AT_A_TIME, draws - count)))
            reached += int(np.sum(drawn[-1] >= least))
            count += len(drawn[-1])
        if reached >= enough:
            break
        every = np.concatenate(drawn)
        if far and count >= ENOUGH_TO_TELL and least > max(every.max(), every.mean() + FAR * every.std()):
            return 1 / (1 + most)
    return (1 + reached) / (1 + count)


def rest_explained(design: Design, targets: Reals) -> Reals:
    """(draws,) `Explained.of_the_rest` of one pair for each random target; `targets` is (draws, cells, cells)."""
    cells = len(design.region)
    flat, region = targets.reshape(len(targets), -1), design.region.ravel()
    by_row = np.repeat(np.eye(cells), cells, axis=0)  # (cells², cells) the sums over each row
    by_column = np.tile(np.eye(cells), (cells, 1)) - np.repeat(design.by_row[:, None] * design.region, cells, axis=0)
    sums = flat @ np.concatenate([by_row, by_column], axis=1)
    total = float(region.sum())
    part = sums[:, :cells].sum(axis=1) / total
    rows = sums[:, :cells] - part[:, None] * design.region.sum(axis=1)
    rest = sums[:, cells:]
    closed = flat**2 @ design.by_cell.ravel() - total * part**2
    added = rows**2 @ design.by_row + np.einsum("ij,ij->i", rest @ design.inverse, rest)
    spread = total * part * (1.0 - part)
    result: Reals = np.maximum(0.0, closed - added) * inverse_of(np.maximum(0.0, spread - added))
    return result


def draw_targets(region: Reals, chances: Reals, draws: int, random: np.random.Generator) -> Reals:
    """(draws, …) Random target counts by cell: binomial, or normal (faster) where the variance is large enough."""
    rows, chance = region.ravel(), chances.ravel()
    spread = rows * chance * (1.0 - chance)
    counts = np.zeros((draws, region.size))
    many, few = np.flatnonzero(spread >= NEARLY_NORMAL), np.flatnonzero((rows > 0) & (spread < NEARLY_NORMAL))
    counts[:, many] = random.standard_normal((draws, len(many))) * np.sqrt(spread[many]) + (rows * chance)[many]
    tries = rows[few].astype(np.int64)[:, None]  # drawing cell by cell is faster
    counts[:, few] = random.binomial(tries, chance[few, None], size=(len(few), draws)).T
    return counts.reshape(draws, *region.shape)


def first_look(design: Design, target: NDArray[np.int64], random: np.random.Generator) -> NDArray[np.int64]:
    """(pairs,) How many of `FIRST_LOOK` random targets have an interaction at least as large as the observed one."""
    cells = design.region.shape[-1]
    evens = random.random((FIRST_LOOK, cells, cells))
    normals = random.standard_normal((FIRST_LOOK, cells, cells))
    together = max(1, MOST_NUMBERS // evens.size)
    result = []
    for start in range(0, len(target), together):
        some = slice(start, start + together)
        part = Design(*(getattr(design, name)[some] for name in Design.__slots__))
        seen = explained(part, target[some]).of_the_rest * (1.0 - 1e-9) - 1e-12
        drawn = spread_targets(part, fitted_parts(part, target[some]), evens, normals)
        result.append((explained(part, drawn).of_the_rest >= seen).sum(axis=0))
    return np.concatenate(result) if result else np.zeros(0, dtype=np.int64)


def spread_targets(design: Design, chances: Reals, evens: Reals, normals: Reals) -> Reals:
    """(draws, pairs, cells, cells) Like `draw_targets`, but computed from the random numbers `evens` and `normals`."""
    rows = design.region
    spread = rows * chances * (1.0 - chances)
    counts = normals[:, None] * np.sqrt(spread) + rows * chances
    pair, row, column = np.nonzero(spread < NEARLY_NORMAL)
    few = pair, row, column
    counts[:, pair, row, column] = binomial_at(evens[:, row, column], rows[few], chances[few])
    return counts


def binomial_at(evens: Reals, tries: Reals, chances: Reals) -> Reals:
    """(draws, cells) Turn the uniform numbers `evens` into binomial counts by inversion; slow for large variances."""
    turned = chances > 0.5  # the rarer outcome is counted, because that takes fewer steps
    rare = np.where(turned, 1.0 - chances, chances)
    steps = int(np.max(tries * rare + 8.0 * np.sqrt(tries * rare), initial=0.0)) + 10
    counts = counted_up(np.ascontiguousarray(evens.T), tries, rare, steps).T
    counts = np.minimum(counts, tries)
    return np.where(turned, tries - counts, counts)


def counted_up(evens: Reals, tries: Reals, rare: Reals, steps: int) -> Reals:
    """(cells, draws) The binomial quantile of each uniform number in `evens`, found by counting up from 0 to `steps`.

    Cells are left out of further steps once all their quantiles are found.
    """
    counts = np.zeros(evens.shape)
    left, numbers, largest = np.arange(len(evens)), evens, evens.max(axis=1, initial=0.0)
    odds = rare / (1.0 - rare)
    chance = (1.0 - rare) ** tries
    below, met = chance.copy(), np.zeros(evens.shape, dtype=np.int16)
    for k in range(steps):
        met += numbers > below[:, None]
        chance = chance * np.maximum(tries - k, 0.0) / (k + 1) * odds
        below += chance
        going = largest > below
        if np.count_nonzero(going) < 0.8 * len(left):
            counts[left[~going]] = met[~going]
            left, numbers, largest, odds = left[going], numbers[going], largest[going], odds[going]
            tries, chance, below, met = tries[going], chance[going], below[going], met[going]
    counts[left] = met
    return counts


@dataclass(frozen=True, slots=True, eq=False)
class SetDesign:
    """For a set of parameters: the number of region rows in each non-empty cell, and a basis for least-squares fits."""

    full: NDArray[np.int64]  # positions of the cells that have rows
    region: Reals  # (full,)
    basis: Reals  # (full, rank) orthonormal basis of the effects of smaller sets, weighted by √c

    @property
    def freedoms(self) -> tuple[int, int]:
        """The degrees of freedom of the whole table, and those of the model with smaller sets."""
        return len(self.full) - 1, self.basis.shape[1] - 1


def set_design(cells: NDArray[np.int64], region: NDArray[Any]) -> SetDesign:
    """Make the design; column k of `cells` (order, cells) has the coordinates of cell k, one for each parameter."""
    full = np.flatnonzero(region > 0)
    rows = region[full].astype(np.float64)
    width = int(cells.max(initial=0)) + 1
    columns = []
    for smaller in combinations(range(len(cells)), len(cells) - 1):
        place = np.zeros(len(full), dtype=np.int64)
        for axis in smaller:
            place = place * width + cells[axis, full]
        columns.append(np.equal.outer(place, np.unique(place)).astype(np.float64))
    effects = np.sqrt(rows)[:, None] * np.concatenate(columns, axis=1)
    values, vectors = np.linalg.eigh(effects.T @ effects)
    real = values > EMPTY * len(values) * max(1.0, float(values[-1]))
    return SetDesign(full, rows, effects @ (vectors[:, real] / np.sqrt(values[real])))


def set_shares(design: SetDesign, target: NDArray[Any]) -> tuple[Reals, Reals]:
    """The fractions of the variance that the whole set and its subsets explain; `target` has the counts (…, full)."""
    total = float(design.region.sum())
    part = target.sum(axis=-1) / total
    off = (target - part[..., None] * design.region) / np.sqrt(design.region)
    spread = total * part * (1.0 - part)
    spread = np.where(spread > 0, spread, np.inf)
    lower = np.sum((off @ design.basis) ** 2, axis=-1)
    return np.sum(off**2, axis=-1) / spread, lower / spread


def of_the_rest(closed: Reals, lower: Reals) -> Reals:
    """(closed - lower) / (1 - lower): how much the whole set explains of what its subsets leave unexplained."""
    left = 1.0 - lower
    return np.where(left > 1e-12, np.maximum(0.0, closed - lower) / np.where(left > 1e-12, left, 1.0), 0.0)


def set_p_value(design: SetDesign, target: NDArray[Any], *, most: int, random: np.random.Generator) -> float:
    """The p-value of one set: how often chance gives such a large interaction if only subsets have an effect."""
    part = target.sum() / design.region.sum()
    root = np.sqrt(design.region)
    off = (target - part * design.region) / root
    chances = np.clip(part + (design.basis @ (design.basis.T @ off)) / root, 0.0, 1.0)

    def again(draws: int) -> Reals:
        return of_the_rest(*set_shares(design, draw_targets(design.region, chances, draws, random)))

    return chance_of(float(of_the_rest(*set_shares(design, target))), again, most=most, far=True)
