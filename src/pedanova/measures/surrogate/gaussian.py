"""A Gaussian process over mixed features: fitted, checked leave-one-out, drawn from.

k(x, x′) = s · exp(-Σ_d w_d · D_d), D_d = (x_d - x′_d)² for ordered features on [0, 1] and
1[x_d ≠ x′_d] for categories. With categories as one-hot columns scaled by √(w/2) this is one
squared distance, so a single matrix product serves both kinds, and random Fourier features draw
whole functions. Weights have wide log-normal priors; their uncertainty is taken along by draws
from the Laplace approximation around the best ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.errors import MissingLibraryError

Reals: TypeAlias = NDArray[np.float64]
FIT_ROWS = 300  # rows that choose the weights
MOST_ROWS = 600  # rows that the process is conditioned on
NEAR_STEPS = 5  # of the search for the best weights, where good ones are known
WAVES = 1000  # random Fourier features of one draw
JITTER = 1e-6
PRIOR_WEIGHT = math.log(0.5), 2.0  # mean and deviation of log w
PRIOR_SIGNAL = 0.0, 1.0
PRIOR_NOISE = math.log(0.1), 2.0
BOUNDS = {"weight": (-9.0, 5.0), "signal": (-4.0, 4.0), "noise": (-8.0, 1.0)}


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """Rows by feature: ordered ones between 0 and 1, categories as whole numbers from 0."""

    values: Reals  # (rows, features)
    sizes: tuple[int, ...]  # categories of each feature, 0 for ordered ones
    owners: tuple[str, ...]  # the parameter that each feature belongs to

    def __len__(self) -> int:
        return len(self.values)

    def take(self, rows: NDArray[Any]) -> Features:
        return Features(self.values[rows], self.sizes, self.owners)

    def embed(self, weights: Reals) -> Reals:
        """(rows, columns) Points whose squared distance is Σ w_d · D_d."""
        columns = []
        for d, size in enumerate(self.sizes):
            if size == 0:
                columns.append(self.values[:, d : d + 1] * math.sqrt(weights[d]))
            else:
                kinds = np.arange(size) == self.values[:, d : d + 1]
                columns.append(kinds * math.sqrt(weights[d] / 2.0))
        return np.concatenate(columns, axis=1)

    def distances(self, d: int) -> Reals:
        """(rows, rows) D_d of every pair."""
        column = self.values[:, d]
        difference = np.subtract.outer(column, column)
        return difference**2 if self.sizes[d] == 0 else (difference != 0).astype(np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Process:
    """The process given its rows, for one set of weights."""

    points: Reals  # (rows, columns) embedded
    scores: Reals
    weights: Reals
    signal: float
    noise: float
    factor: Reals  # lower Cholesky factor of the covariance of the rows
    solved: Reals  # covariance⁻¹ · scores

    @property
    def settings(self) -> Reals:
        """Log weights, log signal, log noise."""
        logs: Reals = np.log(np.array([*self.weights, self.signal, self.noise]))
        return logs

    def covariance(self, points: Reals) -> Reals:
        """(points, rows)"""
        return self.signal * gauss(points, self.points)

    def leave_one_out(self) -> tuple[Reals, Reals]:
        """Mean and variance of every row's score as predicted by the other rows."""
        half, _ = _scipy().linalg.lapack.dtrtri(self.factor.T, lower=0)  # the inverse of Lᵀ
        spread = 1.0 / np.sum(half**2, axis=1)  # one over the diagonal of the inverse
        return self.scores - self.solved * spread, spread

    def predict(self, features: Features) -> tuple[Reals, Reals]:
        """Mean and variance of scores elsewhere, noise included."""
        cross = self.covariance(features.embed(self.weights))
        halfway = solve_lower(self.factor, cross.T)
        spread = self.signal + self.noise - np.sum(halfway**2, axis=0)
        return cross @ self.solved, np.maximum(spread, 1e-9)

    def draw(self, features: Features, draws: int, rng: np.random.Generator) -> Reals:
        """(points, draws) Scores elsewhere, drawn jointly, noise included: a function from the
        prior, moved by what it misses of the rows (Matheron's rule)."""
        there = features.embed(self.weights)
        waves = math.sqrt(2.0) * rng.standard_normal((there.shape[1], WAVES), dtype=np.float32)
        phases = rng.uniform(0.0, 2.0 * math.pi, WAVES).astype(np.float32)
        heights = rng.standard_normal((WAVES, draws)) * math.sqrt(2.0 * self.signal / WAVES)

        def prior(points: Reals) -> Reals:
            # Single precision: cosines are most of the work, and a draw needs no seventh digit.
            shapes = points.astype(np.float32) @ waves
            shapes += phases
            np.cos(shapes, out=shapes)
            return (shapes @ heights.astype(np.float32)).astype(np.float64)

        here = prior(self.points)
        noise = math.sqrt(self.noise)
        missed = self.scores[:, None] - here - noise * rng.standard_normal(here.shape)
        drawn = prior(there) + self.covariance(there) @ solve(self.factor, missed)
        return drawn + noise * rng.standard_normal(drawn.shape)


def gauss(one: Reals, two: Reals) -> Reals:
    """exp(-squared distance) of every pair."""
    near: Reals = (2.0 * one) @ two.T
    near -= np.sum(one**2, axis=1)[:, None]
    near -= np.sum(two**2, axis=1)
    np.minimum(near, 0.0, out=near)  # in place: large matrices are most of the work
    return np.exp(near, out=near)


def condition(features: Features, scores: Reals, settings: Reals) -> Process:
    """The process with these settings (log weights, log signal, log noise) given the rows."""
    weights, signal, noise = np.exp(settings[:-2]), math.exp(settings[-2]), math.exp(settings[-1])
    points = features.embed(weights)
    covariance = signal * gauss(points, points) + (noise + JITTER) * np.eye(len(scores))
    factor = cholesky(covariance)
    return Process(points, scores, weights, signal, noise, factor, solve(factor, scores))


def fit(
    features: Features, scores: Reals, *, kinds: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], list[Process]]:
    """The rows conditioned on, and processes: by the best settings, then by others that are likely too."""
    few = subset(len(scores), FIT_ROWS, rng)
    likelihood = Likelihood(features.take(few), scores[few])
    best = likelihood.maximize()
    rows = subset(len(scores), MOST_ROWS, rng)
    chosen, values = features.take(rows), scores[rows]
    settings = [best, *likelihood.around(best, kinds - 1, rng)]
    return rows, [condition(chosen, values, each) for each in settings]


def refit(
    features: Features, scores: Reals, near: Reals, *, rng: np.random.Generator
) -> tuple[NDArray[np.int64], list[Process]]:
    """The same for other rows of the same table: (kinds, settings) `near` were likely for those, the best first."""
    few = subset(len(scores), FIT_ROWS, rng)
    likelihood = Likelihood(features.take(few), scores[few])
    best = likelihood.maximize(near[0], NEAR_STEPS)
    rows = subset(len(scores), MOST_ROWS, rng)
    settings = np.clip(near + (best - near[0]), *np.array(likelihood.bounds).T)
    return rows, [condition(features.take(rows), scores[rows], each) for each in settings]


def subset(rows: int, most: int, rng: np.random.Generator) -> NDArray[np.int64]:
    return np.arange(rows) if rows <= most else np.sort(rng.choice(rows, most, replace=False))


class Likelihood:
    """Log posterior of the settings, negative, with its slope."""

    def __init__(self, features: Features, scores: Reals) -> None:
        self.scores = scores
        self.pairs = np.tri(len(scores), k=-1, dtype=bool)  # every pair of rows once
        columns = [features.distances(d)[self.pairs] for d in range(len(features.sizes))]
        self.distances = np.stack(columns)  # (features, pairs)
        count = len(columns)
        self.centre = np.array([PRIOR_WEIGHT[0]] * count + [PRIOR_SIGNAL[0], PRIOR_NOISE[0]])
        self.spread = np.array([PRIOR_WEIGHT[1]] * count + [PRIOR_SIGNAL[1], PRIOR_NOISE[1]])
        self.bounds = [BOUNDS["weight"]] * count + [BOUNDS["signal"], BOUNDS["noise"]]

    def __call__(self, settings: Reals) -> tuple[float, Reals]:
        weights, signal, noise = np.exp(settings[:-2]), math.exp(settings[-2]), math.exp(settings[-1])
        kernel = signal * np.exp(-(weights @ self.distances))
        covariance = np.zeros((len(self.scores), len(self.scores)))
        covariance[self.pairs] = kernel
        np.fill_diagonal(covariance, signal + noise + JITTER)
        logarithms, inverse = inverted(covariance)
        solved = lower_product(inverse, self.scores)
        weighed = (inverse - np.outer(solved, solved))[self.pairs] * kernel
        diagonal = 0.5 * float(np.trace(inverse) - solved @ solved)
        slope = np.empty_like(settings)
        slope[:-2] = -weights * (self.distances @ weighed)
        slope[-2], slope[-1] = float(weighed.sum()) + signal * diagonal, noise * diagonal
        off = (settings - self.centre) / self.spread
        value = 0.5 * float(self.scores @ solved) + logarithms
        return value + 0.5 * float(off @ off), slope + off / self.spread

    def maximize(self, start: Reals | None = None, steps: int = 60) -> Reals:
        begin = self.centre if start is None else start
        found = _scipy().optimize.minimize(
            self, begin, jac=True, method="L-BFGS-B", bounds=self.bounds, options={"maxiter": steps}
        )
        best: Reals = found.x
        return best

    def around(self, best: Reals, count: int, rng: np.random.Generator) -> Reals:
        """(count, settings) Draws from the Laplace approximation, kept inside the bounds."""
        step = 1e-3
        slopes = [(self(best + step * e)[1] - self(best - step * e)[1]) / (2 * step) for e in np.eye(len(best))]
        curvature = np.array(slopes)
        values, vectors = np.linalg.eigh((curvature + curvature.T) / 2.0)
        # No direction is less certain than its prior.
        spread = 1.0 / np.sqrt(np.maximum(values, 1.0 / self.spread.max() ** 2))
        drawn = best + (rng.standard_normal((count, len(best))) * spread) @ vectors.T
        low, high = np.array(self.bounds).T
        kept: Reals = np.clip(drawn, low, high)
        return kept


def cholesky(covariance: Reals) -> Reals:
    """The lower factor."""
    factor: Reals = np.linalg.cholesky(covariance).astype(np.float64, copy=False)
    return factor


def inverted(covariance: Reals) -> tuple[float, Reals]:
    """Half the log determinant, and the inverse; of both matrices the lower triangle alone counts."""
    lapack = _scipy().linalg.lapack
    # LAPACK counts by columns: the lower triangle of the rows is the upper one of the columns.
    factor, failed = lapack.dpotrf(covariance.T, lower=0, clean=0, overwrite_a=1)
    if failed:
        raise np.linalg.LinAlgError("a covariance is not positive")
    logarithms = float(np.log(np.diag(factor)).sum())
    inverse, _ = lapack.dpotri(factor, lower=0, overwrite_c=1)
    return logarithms, inverse.T


def lower_product(lower: Reals, right: Reals) -> Reals:
    """A symmetric matrix, of which the lower triangle is given, times a vector."""
    product: Reals = _scipy().linalg.blas.dsymv(1.0, lower.T, right, lower=0)
    return product


def solve(factor: Reals, right: Reals) -> Reals:
    """(L Lᵀ)⁻¹ · right."""
    solved: Reals = _scipy().linalg.cho_solve((factor, True), right, check_finite=False)
    return solved


def solve_lower(factor: Reals, right: Reals) -> Reals:
    solved: Reals = _scipy().linalg.solve_triangular(factor, right, lower=True, check_finite=False)
    return solved


def normal_cdf(values: Reals) -> Reals:
    below: Reals = _scipy().special.ndtr(values)
    return below


def available() -> bool:
    from importlib.util import find_spec

    return find_spec("scipy") is not None


def warm_up() -> None:
    """Load what fitting will need."""
    _scipy()


def _scipy() -> Any:
    """SciPy with the parts in use, or the reason why there is none."""
    try:
        import scipy.linalg
        import scipy.optimize
        import scipy.special
    except ImportError:
        raise MissingLibraryError(
            "the model-assisted estimator needs SciPy; pip install 'pedanova[surrogate]', or estimator='counts'"
        ) from None
    return scipy
