"""How likely the scores of some rows are, for each choice of a Gaussian process's settings.

k(x, x′) = s² · [1 / (1 + Σ_d w_d · D_d) + τ · a(x)·a(x′) + ν · 1[x = x′]], D_d squared distances,
a waves of single parameters. The first part follows interactions, the second what parameters do
alone; the constant mean and s² are the best for the rest. Weak priors keep weights from running off.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.measures.surrogate.descent import descend
from pedanova.measures.surrogate.factor import Factor
from pedanova.measures.surrogate.layout import Embedding, Singles

Reals: TypeAlias = NDArray[np.float64]
PRIOR = 0.3  # on each log weight and on log τ: PRIOR · (log w - log w₀)²
UNEVEN_PRIOR = 1.0  # after an adaptive sampler: what it hardly tried, the likelihood takes for idle
NOISE, ADDITIVE = 0.1, 0.3  # ν and τ where the search begins
LEAST_NOISE = 5e-4
JITTER = 1e-5
STEPS = 15
SAME = 5e-4  # a relative fall of the loss that ends the search


@dataclass(frozen=True, slots=True, eq=False)
class Settings:
    """What the search is about."""

    weights: Reals  # (parameters,)
    noise: float
    additive: float

    @classmethod
    def usual(cls, parameters: int) -> Settings:
        """Where the search begins, and what the priors hold on to."""
        return cls(np.full(parameters, min(0.5, 4.0 / parameters)), NOISE, ADDITIVE)

    @classmethod
    def from_logs(cls, logs: Reals) -> Settings:
        values = np.exp(logs)
        return cls(values[:-2], float(values[-2]) + LEAST_NOISE, float(values[-1]))

    @property
    def logs(self) -> Reals:
        beyond = max(self.noise - LEAST_NOISE, 1e-6)
        logs: Reals = np.log(np.array([*self.weights, beyond, self.additive]))
        return logs

    @classmethod
    def between(cls, one: Settings, two: Settings) -> Settings:
        return cls.from_logs((one.logs + two.logs) / 2.0)


@dataclass(frozen=True, slots=True, eq=False)
class Likelihood:
    """The loss to be made small: minus the log likelihood, and the priors."""

    rows: Embedding
    owners: NDArray[np.int64]
    scores: Reals
    linear: Singles  # (rows, rows) a·a′
    squares: Singles  # near²
    centre: Reals
    prior: float

    @classmethod
    def of(cls, rows: Embedding, owners: NDArray[np.int64], scores: Reals, *, prior: float = PRIOR) -> Likelihood:
        centre = Settings.usual(int(owners[-1]) + 1).logs
        return cls(rows, owners, scores, rows.waves @ rows.waves.T, rows.near**2, centre, prior)

    def best(self, start: Settings | None = None, *, steps: int = STEPS) -> Settings:
        """The settings with the lowest loss."""
        begin = self.centre if start is None else start.logs
        return Settings.from_logs(descend(self, begin, steps=steps, least=SAME))

    def __call__(self, logs: Reals) -> tuple[float, Reals]:
        settings = Settings.from_logs(logs)
        kernel = reach(self.rows.near, self.rows.near, settings.weights[self.owners])
        covariance = kernel + np.float32(settings.additive) * self.linear
        covariance[np.diag_indices(len(covariance))] += np.float32(settings.noise + JITTER)
        try:
            factor = Factor.of(covariance)
        except np.linalg.LinAlgError:
            return math.inf, np.zeros_like(logs)
        inverse = factor.inverse(np.float32)
        solved, scale = missed(inverse, self.scores)
        stiff, off = self._prior(logs)
        rows = len(self.scores)
        value = 0.5 * rows * math.log(scale) + factor.logarithm + float(stiff @ off**2)
        return value, self._slope(settings, kernel, inverse, solved / math.sqrt(scale)) + 2.0 * stiff * off

    def _prior(self, logs: Reals) -> tuple[Reals, Reals]:
        stiff = np.full(len(logs), self.prior)
        stiff[-2] = 0.0
        return stiff, logs - self.centre

    def _slope(self, settings: Settings, kernel: Singles, inverse: NDArray[np.floating], solved: Reals) -> Reals:
        """½ tr(G · ∂K) with G = K⁻¹ - αα′: the distances of a parameter enter by products alone."""
        single = solved.astype(np.float32)
        gap = inverse - single[:, None] * single
        slope = np.empty(len(settings.weights) + 2)
        slope[-2] = 0.5 * float(np.trace(gap)) * (settings.noise - LEAST_NOISE)
        slope[-1] = 0.5 * float(np.vdot(gap, self.linear)) * settings.additive
        gap *= kernel
        gap *= kernel  # ∂k = -k² · ∂(distance)
        near = self.rows.near
        by_feature = np.einsum("ij,ij->j", near, gap @ near) - gap.sum(axis=1) @ self.squares
        slope[:-2] = np.bincount(self.owners, by_feature, len(settings.weights)) * settings.weights
        return slope


def missed(inverse: NDArray[np.floating], scores: Reals) -> tuple[Reals, float]:
    """K⁻¹ · (scores - mean), the mean by generalised least squares; and s²."""
    both = inverse @ np.stack([scores, np.ones(len(scores))], axis=1).astype(inverse.dtype)
    both = both.astype(np.float64)
    solved: Reals = both[:, 0] - both[:, 0].sum() / both[:, 1].sum() * both[:, 1]
    return solved, max(float(scores @ solved) / len(scores), 1e-9)


def reach(one: Singles, two: Singles, weights: Reals) -> Singles:
    """(one, two) 1 / (1 + squared distance): one product, squares and all, and one pass over what comes of it."""
    roots = np.sqrt(weights).astype(np.float32)
    here, there = one * roots, two * roots
    ones = np.ones((len(here) + len(there), 1), dtype=np.float32)
    own, other = ((part * part).sum(axis=1, keepdims=True) for part in (here, there))
    left = np.concatenate([here, own + np.float32(1.0), ones[: len(here)]], axis=1)
    right = np.concatenate([np.float32(-2.0) * there, ones[len(here) :], other], axis=1)
    found: Singles = left @ right.T
    return np.reciprocal(found, out=found)
