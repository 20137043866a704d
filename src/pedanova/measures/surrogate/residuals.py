"""Corrections of the model's shares by what the rows say against it.

With h the model's chance of being in the target along one parameter, p the chance of a row by the model of all other
configurations, and y whether the row is in the target:

    y = h(x) + [p - h(x)] + [y - p]

Where columns are independent the second term is flat along the parameter, and where the model is right so is the third.
Both are expanded in functions of the parameter that are orthonormal under its margin: the direction of h itself first,
then octaves of ever faster waves. What the direction of h shows is shrunk by how much it shows for all parameters
together; what an octave shows counts where it is far beyond chance.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.counting.few_rows import Indices
from pedanova.data.column import Mask
from pedanova.measures.distributions import normal_below, normal_quantile
from pedanova.measures.surrogate.posterior import PosteriorSamples, RankRange
from pedanova.measures.surrogate.summaries import COMMON, FINEST, NORMAL, EstimatedShares, SampledShares, point_weights
from pedanova.measures.waves import Waves, waves_of
from pedanova.space.grid import Block, Reals

RELATIVE_ERRORS = np.array([0.02, 0.05, 0.1, 0.2, 0.4, 0.8])  # of the root of a model's share: all are as likely
DISAGREEMENT = 6.0  # how far samples that disagree take a share back, where parameters act together
UNSEEN = 0.25  # of the scatter of a correction: so much may be wrong without being seen
DISPUTED = 0.5  # of the squared correction that is not believed: the interval holds both
AGREED = 2.0  # deviations by which an octave may exceed what the rows show without a model
BEYOND = 5.0  # deviations of chance beyond which an octave of waves counts
NOISE_PARTS = (0.25, 0.75)  # of what the model takes for noise: some of it may be structure
STEPS = 6  # to find a threshold
LEAST_PART = 1e-6  # of the rows, beyond which no threshold is looked for


@dataclass(frozen=True, slots=True, eq=False)
class LeaveOneOut:
    """The score of every row as predicted from the other configurations."""

    rows: Indices  # (rows,) of the table, in order
    owner: Indices  # (rows,) configuration of each
    mean: Reals  # (rows,)
    variance: Reals  # (rows,) without noise
    noise: float  # variance of what the model takes for noise

    def take(self, rows: Indices) -> LeaveOneOut:
        """The predictions of some rows of the table, in their order."""
        places = np.searchsorted(self.rows, rows)
        return LeaveOneOut(rows, self.owner[places], self.mean[places], self.variance[places], self.noise)

    def chances(self, part: float) -> Reals:
        """(rows,) The chance of each row to be in the best part of these rows."""
        if part <= 0.0 or part >= 1.0:
            return np.full(len(self.mean), float(part >= 1.0))
        deviations = [np.sqrt(self.variance + step * self.noise) for step in NOISE_PARTS]
        each = [self._below(threshold, one) for one in deviations for threshold in [self._threshold(part, one)]]
        chances: Reals = np.mean(each, axis=0)
        return chances

    def _below(self, threshold: float, deviation: Reals) -> Reals:
        return normal_below((threshold - self.mean) / deviation)

    def _threshold(self, part: float, deviation: Reals) -> float:
        """The score that the best part of the rows is expected to stay below.

        The expected part is nearly a normal law of the score, so that a few steps along that law find it.
        """
        spread = math.hypot(float(self.mean.std()), float(deviation.mean()))
        wanted = float(normal_quantile(np.array([part]))[0])
        threshold = float(self.mean.mean()) + spread * wanted
        for _ in range(STEPS):
            reached = min(max(float(self._below(threshold, deviation).mean()), LEAST_PART), 1.0 - LEAST_PART)
            threshold += spread * (wanted - float(normal_quantile(np.array([reached]))[0]))
        return threshold


@dataclass(frozen=True, slots=True, eq=False)
class CellSums:
    """Sums over the rows of a region by cell of every parameter, side by side.

    Variances are sums over configurations, whose rows are no independent evidence.
    """

    rows: int
    part: float  # of the rows that are in the target
    counts: Reals  # (cells,) rows
    chance: Reals  # (cells,) Σ p
    misfit: Reals  # (cells,) Σ (y - p)
    misfit_square: Reals  # (cells,) sum of squares of each configuration's Σ (y - p)
    misfit_expected: Reals  # (cells,) the most that this can be, were the model right
    squares: Reals  # (3, cells) Σ n², Σ n² p and Σ n² p² over configurations of n rows

    def cut(self, cells: slice) -> CellSums:
        return CellSums(self.rows, self.part, *(getattr(self, name)[..., cells] for name in self.__slots__[2:]))


def cell_sums(predicted: LeaveOneOut, flat: NDArray[Any], target: Mask, region: Mask, cells: int) -> CellSums:
    """The sums for a question; masks are over the rows, and `flat` is (rows, parameters)."""
    ends = [float(np.flatnonzero(mask)[place] + add) for mask in (target, region) for place, add in ((0, 0), (-1, 1))]
    first, last, begin, end = (predicted.chances(one / len(target)) for one in ends)
    inside = target[region].astype(np.float64)
    part = float(inside.mean())
    p = np.clip((last - first)[region] / np.maximum((end - begin)[region], 1e-9), 0.0, 1.0)
    p = np.minimum(p * (part / max(float(p.mean()), 1e-9)), 1.0)
    _, one_row, owner, sizes = np.unique(
        predicted.owner[region], return_index=True, return_inverse=True, return_counts=True
    )
    own, misfit, places = p[one_row], np.bincount(owner, weights=inside - p), flat[region][one_row]

    def summed(weights: NDArray[Any]) -> Reals:
        return by_cell(places, weights, cells)

    squares = sizes.astype(np.float64) ** 2
    return CellSums(
        rows=len(inside),
        part=part,
        counts=summed(sizes.astype(np.float64)),
        chance=summed(sizes * own),
        misfit=summed(misfit),
        misfit_square=summed(misfit**2),
        misfit_expected=summed(squares * own * (1.0 - own)),
        squares=np.stack([summed(squares), summed(squares * own), summed(squares * own**2)]),
    )


def by_cell(places: NDArray[Any], weights: NDArray[Any], cells: int) -> Reals:
    """(cells,) Weights of rows or points, summed by the cell of every parameter; `places` are (rows, parameters)."""
    each = np.repeat(weights, places.shape[1])
    return np.bincount(places.ravel(), weights=each, minlength=cells).astype(np.float64)


@dataclass(frozen=True, slots=True)
class Expansion:
    """One residual of one parameter, in units of the target's variance."""

    along: float  # its projection on the direction of the model's curve,
    variance: float  # the variance of that, by the residuals themselves,
    expected: float  # and were the model right
    energy: Reals  # (octaves,) unbiased energy of the waves of each octave
    deviation: Reals  # (octaves,) of the same by chance
    above_expected: Reals  # (octaves,) the energy beyond that of a right model,
    expected_deviation: Reals  # and the deviation of that by chance


# Of the misfit, of what columns do together, and of both added
Residuals: TypeAlias = tuple[Expansion, Expansion, Expansion]


def curve_of(
    samples: PosteriorSamples, target: RankRange, region: RankRange, numbers: NDArray[Any]
) -> tuple[Reals, Reals]:
    """(cells,) each: points of target and region by cell of every parameter, in the mean over the samples.

    `numbers` are (cells,): the place of every cell.
    """
    flat = numbers[samples.flat(samples.grids())]
    inside, mass = (by_cell(flat, point_weights(samples, span), len(numbers)) for span in (target, region))
    return inside, mass


def corrected(
    samples: PosteriorSamples,
    points: tuple[Reals, Reals],
    shares: SampledShares,
    sums: CellSums,
    children: Collection[str],
) -> EstimatedShares:
    """The model's shares, corrected by the residuals of the rows; `points` are those of `curve_of`."""
    inside, mass = points
    grids, curve = samples.grids(), np.where(mass > 0, inside / np.maximum(mass, 1e-12), sums.part)
    deviation = shares.roots()[1]
    root = np.sqrt(np.maximum((1.0 - COMMON) * shares.each.mean(axis=0) + COMMON * shares.common, 0.0))
    pairs = []
    for j, (name, grid) in enumerate(zip(samples.space, grids.grids, strict=True)):
        cells = slice(int(grids.starts[j]), int(grids.starts[j + 1]))
        pairs.append(expansions(curve[cells], mass[cells], grid.blocks, sums.cut(cells), child=name in children))
    together = 0.0 if shares.inside else max(0.0, 1.0 - math.fsum(samples.alone()))  # of the whole space
    result = combined(root, deviation, together, pairs)
    return EstimatedShares(*(column[samples.sources] for column in result))


def combined(root: Reals, deviation: Reals, together: float, pairs: Sequence[Residuals | None]) -> EstimatedShares:
    """The corrections of all parameters, which share what the residuals tell of the model.

    root, deviation
        (parameters,) Roots of the model's shares and their standard deviations.
    together
        The part of the objective's variance that parameters explain only together: where it is large, a curve that the
        samples do not agree about is hardly one of the parameter alone.
    pairs
        The expansions of both residuals; None for a parameter with a single cell.
    """
    along, noise, turned, turned_variance = np.array([_along(pair) for pair in pairs]).reshape(-1, 4).T
    weight, left = relative_errors(root, along, noise)
    own = root**2 / np.sqrt(np.maximum(root**2 + DISAGREEMENT * together**2 * deviation**2, 1e-24))
    middle = own + weight * along
    variance = deviation**2 + left + UNSEEN * noise + DISPUTED * ((1.0 - weight) * along) ** 2
    turns = turned**2 > BEYOND**2 * turned_variance  # columns tell so much of each other that a curve may turn round
    middle = np.abs(np.where(turns, middle + turned, np.maximum(middle, 0.0)))
    variance += np.where(turns, turned_variance, 0.0)
    extra, extra_variance = np.array([_beyond_chance(pair) for pair in pairs]).reshape(-1, 2).T
    off, whole = NORMAL * np.sqrt(variance), middle**2 + extra
    below = np.hypot(middle**2 - np.maximum(middle - off, 0.0) ** 2, NORMAL * np.sqrt(extra_variance))
    above = np.hypot((middle + off) ** 2 - middle**2, NORMAL * np.sqrt(extra_variance))
    spread = np.sqrt(4.0 * middle**2 * variance + extra_variance)
    return EstimatedShares(
        share=whole - weight**2 * noise,
        low=np.maximum(whole - below - FINEST, 0.0),
        high=np.minimum(whole + above + FINEST, 1.0),
        deviation=np.maximum(spread, FINEST / NORMAL),
    )


def relative_errors(root: Reals, along: Reals, noise: Reals) -> tuple[Reals, Reals]:
    """(parameters,) each: how much of a correction is believed, and the variance that is left.

    The model's roots are taken to be wrong by a common part of themselves, whose size the corrections of all parameters
    tell: the mean over its posterior.
    """
    prior = (RELATIVE_ERRORS[:, None] * root) ** 2
    total = prior + noise
    each = np.where(root > 0.0, np.log(total / noise) + along**2 / total - along**2 / noise, 0.0)
    log_likelihood = -0.5 * np.array([math.fsum(line) for line in each.tolist()])  # in any order of the parameters
    chances = np.exp(log_likelihood - log_likelihood.max())
    chances /= chances.sum()
    weights = prior / total
    return chances @ weights, chances @ (weights * noise)


def _along(pair: Residuals | None) -> tuple[float, float, float, float]:
    """The misfit along the model's curve and its variance; and the same of what columns do together."""
    if pair is None:
        return 0.0, 1e-12, 0.0, 1e-12
    misfit, columns, _ = pair
    return misfit.along, max(misfit.variance, misfit.expected) + 1e-12, columns.along, columns.variance + 1e-12


def _beyond_chance(pair: Residuals | None) -> tuple[float, float]:
    """The energy of octaves that chance does not explain, and its variance.

    Neither the scatter of the residuals explains them nor that of a right model; of what columns do together, which is
    not random, twice as much is asked. What the two residuals have against each other is not in the rows.
    """
    if pair is None:
        return 0.0, 0.0
    misfit, columns, whole = pair
    sure = (misfit.energy > BEYOND * misfit.deviation) & (misfit.above_expected > BEYOND * misfit.expected_deviation)
    clear = columns.energy > 2.0 * BEYOND * columns.deviation
    energy = np.r_[np.minimum(misfit.energy, misfit.above_expected)[sure], columns.energy[clear]]
    most = np.maximum(whole.energy + AGREED * whole.deviation, 0.0)
    energy = np.minimum(energy, np.r_[most[sure], most[clear]])
    deviation = np.r_[misfit.deviation[sure], columns.deviation[clear]]
    return float(energy.sum()), float((deviation**2 + 4.0 * energy * deviation).sum())


def expansions(curve: Reals, mass: Reals, blocks: Sequence[Block], sums: CellSums, *, child: bool) -> Residuals | None:
    """The three residuals; None where a parameter had a single cell."""
    if np.count_nonzero(sums.counts) < 2:
        return None
    mass = mass / mass.sum()
    centre = float(mass @ curve)
    apart = sums.part + curve - centre  # what a row's chance would be, were the columns independent
    together = sums.chance - sums.counts * apart
    together_square = sums.squares[2] - 2.0 * apart * sums.squares[1] + sums.squares[0] * apart**2
    both = [(sums.misfit, sums.misfit_square), (together, np.maximum(together_square, 0.0))]
    own = curve - centre
    if child:  # only what the value does, inside each regime
        own = _inside_regimes(curve, mass, blocks)
        both = [_without_means(*one, sums.counts, blocks) for one in both]
    waves = waves_of(mass, blocks, child=child)
    coefficients = [functions.T @ (mass * own) for functions, _ in waves]
    norm = math.sqrt(math.fsum(float(one @ one) for one in coefficients))
    scale = sums.rows**2 * sums.part * (1.0 - sums.part)
    direction = np.zeros(len(mass))
    if norm > 1e-9:
        for (functions, _), one in zip(waves, coefficients, strict=True):
            direction += functions @ (one / norm)
    parts = [one / max(norm, 1e-9) if norm > 1e-9 else np.zeros_like(one) for one in coefficients]
    rest = [
        (functions - np.outer(direction, one), slices) for (functions, slices), one in zip(waves, parts, strict=True)
    ]
    scatter = sums.squares[0] * np.clip(apart * (1.0 - apart), 0.0, 0.25)
    both.append((both[0][0] + both[1][0], scatter))
    misfit, columns, whole = (_expansion(direction, rest, *one, sums.misfit_expected, scale) for one in both)
    return misfit, columns, whole


def _expansion(
    direction: Reals, waves: Waves, residual: Reals, square: Reals, expected: Reals, scale: float
) -> Expansion:
    energy, deviation, above, expected_deviation = [], [], [], []
    for functions, slices in waves:
        squared = functions**2
        energies = (residual @ functions) ** 2 / scale
        chance, right = square @ squared / scale, expected @ squared / scale
        for some in slices:
            total = float(energies[some].sum())
            energy.append(total - float(chance[some].sum()))
            deviation.append(math.sqrt(2.0 * float(chance[some] @ chance[some])))
            mean = float(right[some].sum())
            above.append(total - mean)
            expected_deviation.append(mean * math.sqrt(2.0 / (some.stop - some.start)))
    return Expansion(
        along=float(direction @ residual) / math.sqrt(scale),
        variance=float(direction**2 @ square) / scale,
        expected=float(direction**2 @ expected) / scale,
        energy=np.array(energy),
        deviation=np.array(deviation),
        above_expected=np.array(above),
        expected_deviation=np.array(expected_deviation),
    )


def _inside_regimes(curve: Reals, mass: Reals, blocks: Sequence[Block]) -> Reals:
    """(cells,) The curve less its mean over each regime."""
    own = np.zeros(len(curve))
    for block in blocks:
        if mass[block.cells].sum() > 0:
            own[block.cells] = curve[block.cells] - float(mass[block.cells] @ curve[block.cells]) / float(
                mass[block.cells].sum()
            )
    return own


def _without_means(residual: Reals, square: Reals, counts: Reals, blocks: Sequence[Block]) -> tuple[Reals, Reals]:
    """Sums of residuals, and of their squares, less the mean over each regime."""
    residual, square = residual.copy(), square.copy()
    for block in blocks:
        rows = float(counts[block.cells].sum())
        if rows > 0:
            mean = float(residual[block.cells].sum()) / rows
            square[block.cells] += counts[block.cells] * mean**2 - 2.0 * mean * residual[block.cells]
            residual[block.cells] -= counts[block.cells] * mean
    return residual, np.maximum(square, 0.0)
