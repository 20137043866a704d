"""A Gaussian process: features of configurations, kernel, likelihood, posterior, and random functions.

k(x, x′) = s² · [1 / (1 + Σ_d w_d · D_d) + τ · b(x)·b(x′) + ν · 1[x = x′]], with D_d the squared distance along
parameter d and b a basis of functions of single parameters. The first term, a rational quadratic kernel, models
interactions; the second, a linear kernel, models effects of single parameters; the third is noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import groupby
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.base.kernel.dense import inverse_triangle
from pedanova.counting.few_rows import Indices
from pedanova.measures.chance.ranked_rows import Arrangement, Places, regimes_of
from pedanova.space.grid import Block, Grid, Reals, relative_ranks
from pedanova.space.parameters import Parameter, Space, Switch, parents_of

Singles: TypeAlias = NDArray[np.float32]
CellFeatures: TypeAlias = tuple[Singles, Singles]  # positions and basis functions, both (cells, features)
COSINES = 4  # basis functions of an ordered parameter, with falling amplitudes
AMPLITUDE = (2.0 / sum(j**-2 for j in range(1, COSINES + 1))) ** 0.5  # so that a parameter's basis has total variance 1


@dataclass(frozen=True, slots=True, eq=False)
class Embedding:
    """The features of configurations: arrays `positions` and `basis`, both (configurations, features)."""

    positions: Singles  # squared distance 1 between the ends of a range, and between categories
    basis: Singles  # values of the basis functions of single parameters

    def __len__(self) -> int:
        return len(self.positions)

    def take(self, rows: Indices | slice) -> Embedding:
        return Embedding(self.positions[rows], self.basis[rows])


@dataclass(frozen=True, slots=True, eq=False)
class FeatureLayout:
    """Which features describe a configuration, and the parameter that each feature belongs to."""

    grids: tuple[Grid, ...]  # the grids of the parameters that vary
    by_cell: tuple[CellFeatures, ...]  # the features of every cell of each of these parameters
    owners: Indices  # (features of `positions`,) the parameter that each belongs to

    @property
    def basis_owners(self) -> Indices:
        """(features of `basis`,) The index of the parameter that each feature belongs to."""
        widths = [basis.shape[1] for _, basis in self.by_cell]
        return np.repeat(np.arange(len(widths)), widths)

    def embed(self, places: Places) -> Embedding:
        """The features of configurations, given as the cell of each parameter (configurations, parameters)."""
        return Configured(self, places).take(slice(None))


TOGETHER = 64  # parameters that are looked up at once
Tables: TypeAlias = list[tuple[slice, Indices, Singles]]  # some parameters, and the features of all their cells


@dataclass(frozen=True, eq=False)
class Configured:
    """Configurations whose features are computed in chunks, because all at once may not fit into memory."""

    layout: FeatureLayout
    places: Places

    def __len__(self) -> int:
        return len(self.places)

    @cached_property
    def _tables(self) -> tuple[Tables, Tables]:
        """The features of all cells: positions and basis functions."""
        positions, basis = zip(*self.layout.by_cell, strict=True)
        return stacked_features(positions), stacked_features(basis)

    def take(self, rows: Indices | slice) -> Embedding:
        return Embedding(*(looked_up(tables, self.places[rows]) for tables in self._tables))


def stacked_features(features: Sequence[Singles]) -> Tables:
    """The features of neighbouring parameters with equally many features in one table, with the first line of each."""
    tables: Tables = []
    for _, run in groupby(enumerate(features), key=lambda item: (item[0] // TOGETHER, item[1].shape[1])):
        columns, some = zip(*run, strict=True)
        starts = np.cumsum([0, *(len(one) for one in some[:-1])])
        tables.append((slice(columns[0], columns[-1] + 1), starts, np.concatenate(some)))
    return tables


def looked_up(tables: Tables, places: Places) -> Singles:
    """(rows, features) The features of each row, looked up by cell."""
    parts = [table.take(places[:, some] + starts, axis=0) for some, starts, table in tables]
    flat = [part.reshape(len(part), part.shape[1] * part.shape[2]) for part in parts]
    return flat[0] if len(flat) == 1 else np.concatenate(flat, axis=1)


def layout_of(arrangement: Arrangement, places: Places, crowded: Mapping[str, Reals]) -> FeatureLayout:
    """The layout for the configurations in `places`; a parameter that never varied has no features.

    `crowded` has the distributions (cells,) of parameters whose rows crowd: their coordinates are ranks.
    """
    grids = arrangement.grids[: arrangement.varying]
    by_cell: list[CellFeatures] = []
    for name, grid, column in zip(arrangement.names, grids, places.T, strict=False):
        several = bool(np.ptp(regimes_of(grid, column)) > 0)
        undecided = several and not is_decided(arrangement.space, name)
        if name in crowded:
            by_cell.append(features_of(grid, crowded[name], undecided=undecided))
        else:
            by_cell.append(even_features(grid, undecided=undecided))
    widths = [positions.shape[1] for positions, _ in by_cell]
    return FeatureLayout(grids, tuple(by_cell), np.repeat(np.arange(len(widths)), widths))


def is_decided(space: Space, name: str) -> bool:
    """Whether the parents of a parameter are in the space, and determine its value or its domain."""
    parameter: Parameter = space[name]
    if isinstance(parameter, Switch) and parameter.by not in space:
        return False
    return bool(parents_of(parameter)) and all(parent in space for parent, _ in parameter.when)


@lru_cache(maxsize=256)
def even_features(grid: Grid, *, undecided: bool) -> CellFeatures:
    return features_of(grid, None, undecided=undecided)


def features_of(grid: Grid, margin: Reals | None, *, undecided: bool) -> CellFeatures:
    """The features of every cell of one parameter."""
    cells = np.arange(grid.width, dtype=np.uint16)
    positions: list[Singles] = []
    basis: list[Singles] = []
    if undecided:
        regimes = (regimes_of(grid, cells)[:, None] == np.arange(len(grid.blocks) + 2)).astype(np.float32)
        positions.append(unit_distance(regimes))
        basis.append(centred(regimes))
    ordered = [block for block in grid.blocks if block.ordered]
    if ordered:
        position, inside = positions_in(ordered, grid.width, margin)
        positions.append(position)
        basis.append(cosines(position) * inside)
    for block in (block for block in grid.blocks if not block.ordered):
        categories = one_hot(block, cells)
        positions.append(unit_distance(categories))
        basis.append(centred(categories))
    return np.concatenate(positions, axis=1), np.concatenate(basis, axis=1)


def positions_in(blocks: list[Block], width: int, margin: Reals | None) -> tuple[Singles, NDArray[np.bool_]]:
    """Each cell's position (0 to 1) in its block, and whether it lies in one of `blocks`; both (width, 1).

    A cell outside `blocks` has the position ½. Rows with the distribution `margin` have evenly distributed positions.
    """
    position = np.full(width, 0.5, dtype=np.float32)
    inside = np.zeros(width, dtype=bool)
    for block in blocks:
        even = np.arange(len(block)) / max(1, len(block) - 1)
        position[block.cells] = even if margin is None else relative_ranks(margin[block.cells])
        inside[block.cells] = True
    return position[:, None], inside[:, None]


def one_hot(block: Block, cells: Places) -> Singles:
    """(rows, categories) 1 in the column of the row's category; outside the block, all columns are 1 / categories."""
    size = len(block)
    categories: Singles = (cells[:, None] == np.arange(block.start, block.stop)).astype(np.float32)
    categories[(cells < block.start) | (cells >= block.stop)] = 1.0 / size
    return categories


def cosines(position: Singles) -> Singles:
    """(rows, COSINES) cos(jπx) / j for j = 1 to COSINES, by Chebyshev's recurrence."""
    first = np.cos(np.pi * position)
    waves = [np.ones_like(first), first]
    while len(waves) <= COSINES:
        waves.append(2.0 * first * waves[-1] - waves[-2])
    return np.concatenate([AMPLITUDE / j * wave for j, wave in enumerate(waves[1:], 1)], axis=1)


def unit_distance(categories: Singles) -> Singles:
    """One-hot columns scaled so that the squared distance between two categories is 1."""
    return categories * np.float32(0.5**0.5)


def centred(categories: Singles) -> Singles:
    """One-hot columns with mean 0 over the categories, each category with squared norm 1."""
    size = categories.shape[1]
    return (categories - np.float32(1.0 / size)) * np.float32((size / max(1, size - 1)) ** 0.5)


def rational_quadratic(one: Singles, two: Singles, weights: Reals) -> Singles:
    """(rows of one, rows of two) 1 / (1 + weighted squared distance), as one matrix product."""
    roots = np.sqrt(weights).astype(np.float32)
    here = one * roots
    own = np.einsum("ij,ij->i", here, here)
    there, others = here, own
    if one is not two:
        there = two * roots
        others = np.einsum("ij,ij->i", there, there)
    left, right = (np.ones((len(part), part.shape[1] + 2), dtype=np.float32) for part in (here, there))
    left[:, :-2], left[:, -2] = here, own + np.float32(1.0)
    right[:, :-2], right[:, -1] = np.float32(-2.0) * there, others
    with np.errstate(invalid="ignore"):  # some BLAS kernels raise the flag on lanes that hold no number of ours
        product: Singles = left @ right.T
    return np.reciprocal(product, out=product)


PRIOR = 0.3  # on each log weight and on log τ: PRIOR · (log w - log w₀)²
NOISE, ADDITIVE = 0.1, 0.3  # ν and τ at the start of the search
LEAST_NOISE = 5e-4
JITTER, SINGLE_JITTER = 1e-6, 1e-5  # added to the noise, in double and in single precision
SEARCH_STEPS = 12
CONVERGED = 2e-3  # a relative decrease of the loss that ends the search
FREQUENCIES = 256  # random Fourier features of a function from the prior
CHUNK = 512  # points at a time, so that their covariances and waves stay in the processor's cache


# --- Cholesky factor -----------------------------------------------------------------------------------

BLOCK = 64  # rows of a block on the diagonal
DIAGONAL_TRIALS = (0.0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)  # parts of the mean variance, added to the diagonal


def diagonal_of(matrix: NDArray[np.floating]) -> NDArray[np.floating]:
    """A view of the diagonal of a contiguous square matrix, to be changed in place."""
    return matrix.reshape(-1)[:: len(matrix) + 1]


@dataclass(frozen=True, eq=False)
class CholeskyFactor:
    """The Cholesky factor L of a covariance L·Lᵀ, with functions that solve linear systems.

    NumPy has no triangular solver. With the inverses of small diagonal blocks, solving takes a few matrix products and
    is nearly as fast as LAPACK.
    """

    lower: Reals  # (rows, rows)

    @classmethod
    def of(cls, covariance: NDArray[np.floating]) -> CholeskyFactor:
        """The factor of a covariance; raises LinAlgError if it is not positive definite."""
        return cls(np.linalg.cholesky(covariance.astype(np.float64, copy=False)))

    @classmethod
    def regularized(cls, covariance: NDArray[np.floating]) -> CholeskyFactor:
        """The factor, with the diagonal increased until the matrix is positive definite despite rounding."""
        matrix = covariance.astype(np.float64, copy=False)
        diagonal = np.diagonal(matrix).copy()
        for added in DIAGONAL_TRIALS:
            if added:
                matrix = matrix.copy()
                diagonal_of(matrix)[:] = diagonal + added * float(diagonal.mean())
            try:
                return cls.of(matrix)
            except np.linalg.LinAlgError:
                continue
        raise np.linalg.LinAlgError("no covariance")

    @property
    def half_log_determinant(self) -> float:
        return float(np.log(np.diagonal(self.lower)).sum())

    def solve(self, right: Reals) -> Reals:
        """Covariance⁻¹ · right, for a matrix of right-hand sides."""
        solution = self.half_solve(right)
        blocks, inverses = self._diagonal
        for rows, inverse in zip(reversed(blocks), reversed(inverses), strict=True):
            behind = slice(rows.stop, None)
            solution[rows] = inverse.T @ (solution[rows] - self.lower[behind, rows].T @ solution[behind])
        return solution

    def half_solve(self, right: NDArray[np.floating]) -> Reals:
        """L⁻¹ · right."""
        solution: Reals = right.astype(np.float64)
        for rows, inverse in zip(*self._diagonal, strict=True):
            before = slice(0, rows.start)
            solution[rows] = inverse @ (solution[rows] - self.lower[rows, before] @ solution[before])
        return solution

    def inverse_in_single(self) -> Singles:
        """The inverse of the covariance in single precision (about six digits)."""
        half = self.half_inverse
        return half.T @ half

    @cached_property
    def half_inverse(self) -> Singles:
        """L⁻¹ in single precision."""
        return inverse_triangle(self.lower.astype(np.float32))

    @cached_property
    def _diagonal(self) -> tuple[list[slice], list[NDArray[np.floating]]]:
        """The slices of the diagonal blocks of L, and the inverses of these blocks."""
        rows = len(self.lower)
        blocks = [slice(start, min(start + BLOCK, rows)) for start in range(0, rows, BLOCK)]
        return blocks, [np.linalg.inv(self.lower[block, block]) for block in blocks]


# --- minimization --------------------------------------------------------------------------------------

Loss: TypeAlias = Callable[[Reals], tuple[float, Reals]]  # its value (infinite if undefined) and its gradient
LONGEST_STEP = 2.0  # in any one coordinate
SUFFICIENT = 1e-4  # the required part of the decrease that the gradient predicts
STEP_TRIES = 6  # shorter steps tried before giving up


def descend(loss: Loss, start: Reals, *, steps: int, least: float) -> Reals:
    """The minimum of a smooth loss by quasi-Newton steps (BFGS), until the relative decrease is below `least`."""
    place = start
    value, gradient = loss(place)
    inverse_hessian = np.eye(len(start)) / max(1.0, float(np.linalg.norm(gradient)))
    for step in range(steps):
        lower = _line_search(loss, place, value, gradient, -inverse_hessian @ gradient)
        if lower is None:
            break
        moved, turned = lower[0] - place, lower[2] - gradient
        decrease = value - lower[1]
        place, value, gradient = lower
        if decrease < least * max(1.0, abs(value)):
            break
        inverse_hessian = _bfgs_update(inverse_hessian, moved, turned, first=step == 0)
    return place


def _line_search(
    loss: Loss, place: Reals, value: float, gradient: Reals, direction: Reals
) -> tuple[Reals, float, Reals] | None:
    """The first point along `direction` with a sufficient decrease, its loss and gradient; None without any."""
    predicted = float(gradient @ direction)
    if not predicted < 0.0:
        direction, predicted = -gradient, -float(gradient @ gradient)
    length = min(1.0, LONGEST_STEP / max(float(np.abs(direction).max()), 1e-300))
    for _ in range(STEP_TRIES):
        there = place + length * direction
        lower, slope = loss(there)
        if lower <= value + SUFFICIENT * length * predicted:
            return there, lower, slope
        length /= 2.0 if not np.isfinite(lower) else 3.0
    return None


def _bfgs_update(inverse_hessian: Reals, moved: Reals, turned: Reals, *, first: bool) -> Reals:
    """The inverse Hessian after a step `moved` that changed the gradient by `turned`."""
    along = float(moved @ turned)
    if along <= 1e-10 * float(np.linalg.norm(moved) * np.linalg.norm(turned)):
        return inverse_hessian
    if first:  # the first step gives the scale
        inverse_hessian = np.eye(len(moved)) * (along / float(turned @ turned))
    leap = inverse_hessian @ turned
    cross = np.outer(leap, moved)
    scale = (1.0 + float(turned @ leap) / along) / along
    return inverse_hessian + scale * np.outer(moved, moved) - (cross + cross.T) / along


# --- likelihood ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class KernelSettings:
    """The hyperparameters of the kernel; the scale s² and the constant mean are computed from them."""

    weights: Reals  # (parameters,) w
    noise: float  # ν
    additive: float  # τ

    @classmethod
    def initial(cls, parameters: int) -> KernelSettings:
        """The hyperparameters at the start of the search, which are also the centre of their priors."""
        return cls(np.full(parameters, min(0.5, 4.0 / parameters)), NOISE, ADDITIVE)

    @classmethod
    def from_logs(cls, logs: Reals) -> KernelSettings:
        values = np.exp(logs)
        return cls(values[:-2], float(values[-2]) + LEAST_NOISE, float(values[-1]))

    @property
    def logs(self) -> Reals:
        """(parameters + 2,) Logarithms of the weights, of the noise above its minimum, and of τ."""
        above = max(self.noise - LEAST_NOISE, 1e-6)
        logs: Reals = np.log(np.array([*self.weights, above, self.additive]))
        return logs

    @classmethod
    def between(cls, one: KernelSettings, two: KernelSettings) -> KernelSettings:
        """The geometric mean of two settings."""
        return cls.from_logs((one.logs + two.logs) / 2.0)


@dataclass(frozen=True, slots=True, eq=False)
class Likelihood:
    """The loss function of a fit: the negative log likelihood of the scores plus weak priors on the settings."""

    rows: Embedding
    owners: Indices
    scores: Reals
    linear: Singles  # (rows, rows) b·b′
    squares: Singles  # positions²
    centre: Reals
    prior: float
    noise_prior: float = 0.0  # weight of the prior on the log of the noise; 0 for none

    @classmethod
    def of(cls, rows: Embedding, owners: Indices, scores: Reals, *, prior: float = PRIOR) -> Likelihood:
        centre = KernelSettings.initial(int(owners[-1]) + 1).logs
        return cls(rows, owners, scores, rows.basis @ rows.basis.T, rows.positions**2, centre, prior)

    def best(self, start: KernelSettings | None = None, *, steps: int = SEARCH_STEPS) -> KernelSettings:
        begin = self.centre if start is None else start.logs
        return KernelSettings.from_logs(descend(self, begin, steps=steps, least=CONVERGED))

    def __call__(self, logs: Reals) -> tuple[float, Reals]:
        settings = KernelSettings.from_logs(logs)
        kernel = rational_quadratic(self.rows.positions, self.rows.positions, settings.weights[self.owners])
        covariance = kernel + np.float32(settings.additive) * self.linear
        diagonal_of(covariance)[:] += np.float32(settings.noise + SINGLE_JITTER)
        try:
            factor = CholeskyFactor.of(covariance)
        except np.linalg.LinAlgError:
            return math.inf, np.zeros_like(logs)
        inverse = factor.inverse_in_single()
        solved, scale = solve_residuals(inverse, self.scores)
        stiffness = np.full(len(logs), self.prior)
        stiffness[-2] = self.noise_prior
        off = logs - self.centre
        rows = len(self.scores)
        value = 0.5 * rows * math.log(scale) + factor.half_log_determinant + float(stiffness @ off**2)
        return value, self._gradient(settings, kernel, inverse, solved / math.sqrt(scale)) + 2.0 * stiffness * off

    def _gradient(
        self, settings: KernelSettings, kernel: Singles, inverse: NDArray[np.floating], solved: Reals
    ) -> Reals:
        """The gradient ½ tr(G · ∂K) with G = K⁻¹ - αα′, computed with matrix products only."""
        single = solved.astype(np.float32)
        gap = inverse - single[:, None] * single
        gradient = np.empty(len(settings.weights) + 2)
        gradient[-2] = 0.5 * float(np.trace(gap)) * (settings.noise - LEAST_NOISE)
        gradient[-1] = 0.5 * float(np.vdot(gap, self.linear)) * settings.additive
        gap *= kernel
        gap *= kernel  # ∂k = -k² · ∂(distance)
        positions = self.rows.positions
        by_feature = np.einsum("ij,ij->j", positions, gap @ positions) - gap.sum(axis=1) @ self.squares
        gradient[:-2] = np.bincount(self.owners, by_feature, len(settings.weights)) * settings.weights
        return gradient


def solve_residuals(inverse: NDArray[np.floating], scores: Reals) -> tuple[Reals, float]:
    """K⁻¹ · (scores - mean), with the mean from generalised least squares, and the scale s²."""
    right = np.ones((len(scores), 2), dtype=inverse.dtype)
    right[:, 0] = scores
    both = (inverse @ right).astype(np.float64)
    solved: Reals = both[:, 0] - both[:, 0].sum() / both[:, 1].sum() * both[:, 1]
    return solved, max(float(scores @ solved) / len(scores), 1e-9)


# --- posterior -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Posterior:
    """The Gaussian process, conditioned on the scores of some rows."""

    rows: Embedding
    weights: Reals  # (features,)
    noise: float  # ν
    additive: float  # τ
    factor: CholeskyFactor
    scores: Reals
    solved: Reals  # K⁻¹ · (scores - mean)
    mean: float
    mean_variance: float  # the variance of the mean, in units of s²
    scale: float  # s²

    def leave_one_out(self) -> tuple[Reals, Reals]:
        """The score of each row predicted from the other rows, and its noise-free variance; both (rows,)."""
        half = self.factor.half_inverse
        sums = (half.T @ half.sum(axis=1)).astype(np.float64)
        squares = np.einsum("ij,ij->j", half, half).astype(np.float64)
        own = squares - self.mean_variance * sums**2  # because the mean is estimated without the row
        return self.scores - self.solved / own, np.maximum(self.scale * (1.0 / own - self.noise), 1e-9)

    def one_step_ahead(self, order: Indices) -> tuple[Reals, Reals]:
        """The score of each row of `order` predicted from the rows before it, and its deviation with noise."""
        covariance = self.factor.lower[order] @ self.factor.lower[order].T
        factor = CholeskyFactor.regularized(covariance)
        step, scores = np.diagonal(factor.lower), self.scores[order]
        surprise = factor.half_solve((scores - self.mean)[:, None])[:, 0]
        return scores - step * surprise, math.sqrt(self.scale) * step

    def predict(self, points: Embedding) -> Reals:
        """(points,) The posterior mean of the score at each point."""
        solved = self.solved.astype(np.float32)
        kernel = rational_quadratic(points.positions, self.rows.positions, self.weights)
        additive = points.basis @ (np.float32(self.additive) * (self.rows.basis.T @ solved))
        return (kernel @ solved + additive).astype(np.float64) + self.mean

    def jointly(self, points: Embedding) -> JointScores:
        """The joint posterior distribution of the noise-free scores at the points."""
        across = self.covariance_of(self.rows, points)
        half = self.factor.half_solve(across)
        off = 1.0 - self.factor.half_solve(np.ones((len(self.rows), 1))).T @ half  # because the mean is estimated too
        return JointScores(self, points, across.T @ self.solved + self.mean, half, off[0])

    def covariance_of(self, one: Embedding, two: Embedding) -> Singles:
        """(rows of one, rows of two) The kernel without noise, in units of s²."""
        kernel = rational_quadratic(one.positions, two.positions, self.weights)
        return kernel + np.float32(self.additive) * (one.basis @ two.basis.T)

    def draw(self, points: Embedding | Configured, draws: int, rng: np.random.Generator) -> Singles:
        """(draws, points) Posterior samples of noise-free scores, in pairs: the mean plus and minus a deviation."""
        prior = PriorFunctions.drawn(self, draws // 2, rng)
        noise = math.sqrt(self.scale * self.noise)
        misfit = -prior.at(self.rows) - noise * rng.standard_normal((len(self.scores), draws // 2))
        solved = np.column_stack([self.solved, self.factor.solve(misfit)]).astype(np.float32)
        coefficients = np.float32(self.additive) * (self.rows.basis.T @ solved)
        scores = np.empty((draws, len(points)), dtype=np.float32)
        for start in range(0, len(points), CHUNK):
            some = points.take(slice(start, start + CHUNK))
            kernel = rational_quadratic(some.positions, self.rows.positions, self.weights)
            update = kernel @ solved + some.basis @ coefficients
            mean, deviation = update[:, :1], update[:, 1:] + prior.at(some)
            scores[0::2, start : start + CHUNK] = (mean + deviation).T
            scores[1::2, start : start + CHUNK] = (mean - deviation).T
        return scores + np.float32(self.mean)


@dataclass(frozen=True, slots=True, eq=False)
class JointScores:
    """The joint posterior of scores at some points; parts of the covariance are computed when needed."""

    process: Posterior
    points: Embedding
    mean: Reals  # (points,)
    half: Reals  # (rows, points) L⁻¹ · covariance of rows and points
    off: Reals  # (points,) 1 minus the weight with which the rows determine the mean at each point

    @property
    def variance(self) -> Reals:
        """(points,) The posterior variance of the score at each point."""
        own = 1.0 + self.process.additive * (self.points.basis.astype(np.float64) ** 2).sum(axis=1)
        known = np.einsum("ij,ij->j", self.half, self.half)
        variance: Reals = self.process.scale * (own - known + self.process.mean_variance * self.off**2)
        return variance

    def covariance(self, place: int) -> Reals:
        """(points,) The posterior covariance between the score of each point and the score of point number `place`."""
        prior = self.process.covariance_of(self.points, self.points.take(slice(place, place + 1)))[:, 0]
        known = self.half.T @ self.half[:, place] - self.process.mean_variance * self.off * self.off[place]
        covariance: Reals = self.process.scale * (prior - known)
        return covariance


@dataclass(frozen=True, slots=True, eq=False)
class PriorFunctions:
    """Random functions from the prior: sums of random Fourier features, additive effects and a constant."""

    frequencies: Singles  # (features, FREQUENCIES)
    phases: Singles
    amplitudes: Singles  # (FREQUENCIES, draws)
    coefficients: Singles  # (basis functions, draws)
    constant: Singles  # (draws,)

    @classmethod
    def drawn(cls, process: Posterior, draws: int, rng: np.random.Generator) -> PriorFunctions:
        """Draw functions from the prior; 1 / (1 + r²) is the mean of exp(-v·r²) for exponentially distributed v."""
        deviation = math.sqrt(process.scale)
        features, additive = process.rows.positions.shape[1], process.rows.basis.shape[1]
        frequencies = rng.standard_normal((features, FREQUENCIES)) * np.sqrt(2.0 * process.weights)[:, None]
        frequencies *= np.sqrt(rng.exponential(size=FREQUENCIES))
        amplitudes = rng.standard_normal((FREQUENCIES, draws)) * (deviation * math.sqrt(2.0 / FREQUENCIES))
        coefficients = rng.standard_normal((additive, draws)) * (deviation * math.sqrt(process.additive))
        constant = rng.standard_normal(draws) * (deviation * math.sqrt(process.mean_variance))
        phases = rng.random(FREQUENCIES) * (2.0 * math.pi)
        parts = (frequencies, phases, amplitudes, coefficients, constant)
        return cls(*(part.astype(np.float32) for part in parts))

    def at(self, rows: Embedding) -> Singles:
        """(rows, draws) The value of each drawn function at each of `rows`."""
        waves = rows.positions @ self.frequencies
        waves += self.phases
        values: Singles = np.cos(waves, out=waves) @ self.amplitudes + rows.basis @ self.coefficients + self.constant
        return values


def condition(rows: Embedding, owners: Indices, scores: Reals, settings: KernelSettings) -> Posterior:
    """The posterior of the process with the hyperparameters `settings`, given the scores of the rows."""
    weights = settings.weights[owners]
    covariance = rational_quadratic(rows.positions, rows.positions, weights).astype(np.float64)
    covariance += settings.additive * (rows.basis @ rows.basis.T)
    diagonal_of(covariance)[:] += settings.noise + JITTER
    factor = CholeskyFactor.regularized(covariance)
    both = factor.solve(np.stack([scores, np.ones(len(rows))], axis=1))
    mean_variance = 1.0 / float(both[:, 1].sum())
    mean = float(both[:, 0].sum()) * mean_variance
    solved = both[:, 0] - mean * both[:, 1]
    scale = max(float(scores @ solved) / len(rows), 1e-9)
    fitted = factor, scores, solved, mean, mean_variance, scale
    return Posterior(rows, weights, settings.noise, settings.additive, *fitted)
