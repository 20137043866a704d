"""A Gaussian process given its rows: what the other rows tell of each, and functions drawn from it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.measures.surrogate.evidence import Settings, reach
from pedanova.measures.surrogate.factor import Factor
from pedanova.measures.surrogate.layout import Embedding, Singles

Reals: TypeAlias = NDArray[np.float64]
WAVES = 256  # random waves of a function from the prior
PORTION = 1024  # points at a time: their covariances stay in the cache
JITTER = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Posterior:
    """The process given the scores of some rows."""

    rows: Embedding
    weights: Reals  # (features,)
    noise: float  # ν
    additive: float  # τ
    factor: Factor
    scores: Reals
    solved: Reals  # K⁻¹ · (scores - mean)
    mean: float
    spread: float  # of the mean, in units of s²
    scale: float  # s²

    def told_by_others(self) -> Reals:
        """(rows,) The score of each row as the other rows tell it."""
        inverse = self.factor.inverse()
        own = np.diagonal(inverse) - self.spread * inverse.sum(axis=1) ** 2  # the mean is found anew each time
        found: Reals = self.scores - self.solved / own
        return found

    def draw(self, points: Embedding, draws: int, rng: np.random.Generator) -> Singles:
        """(draws, points) Scores elsewhere, without noise: pairs of functions, the mean plus and minus a deviation."""
        prior = Prior.drawn(self, draws // 2, rng)
        noise = math.sqrt(self.scale * self.noise)
        misfit = -prior.at(self.rows) - noise * rng.standard_normal((len(self.scores), draws // 2))
        moved = np.column_stack([self.solved, self.factor.solve(misfit)]).astype(np.float32)
        tilt = np.float32(self.additive) * (self.rows.waves.T @ moved)
        found = np.empty((draws, len(points)), dtype=np.float32)
        for start in range(0, len(points), PORTION):
            some = points.take(slice(start, start + PORTION))
            told = reach(some.near, self.rows.near, self.weights) @ moved + some.waves @ tilt
            mean, deviation = told[:, :1], told[:, 1:] + prior.at(some)
            found[0::2, start : start + PORTION] = (mean + deviation).T
            found[1::2, start : start + PORTION] = (mean - deviation).T
        return found + np.float32(self.mean)


@dataclass(frozen=True, slots=True, eq=False)
class Prior:
    """Functions drawn before any row was seen: random waves, slopes of single parameters, a constant."""

    waves: Singles  # (features, WAVES)
    phases: Singles
    heights: Singles  # (WAVES, draws)
    slopes: Singles  # (features of the additive part, draws)
    level: Singles  # (draws,)

    @classmethod
    def drawn(cls, process: Posterior, draws: int, rng: np.random.Generator) -> Prior:
        """1 / (1 + r²) is the mean of exp(-v·r²) over exponential v: so are its waves."""
        deviation = math.sqrt(process.scale)
        features, additive = process.rows.near.shape[1], process.rows.waves.shape[1]
        waves = rng.standard_normal((features, WAVES)) * np.sqrt(2.0 * process.weights)[:, None]
        waves *= np.sqrt(rng.exponential(size=WAVES))
        heights = rng.standard_normal((WAVES, draws)) * (deviation * math.sqrt(2.0 / WAVES))
        slopes = rng.standard_normal((additive, draws)) * (deviation * math.sqrt(process.additive))
        level = rng.standard_normal(draws) * (deviation * math.sqrt(process.spread))
        phases = rng.random(WAVES) * (2.0 * math.pi)
        return cls(*(part.astype(np.float32) for part in (waves, phases, heights, slopes, level)))

    def at(self, rows: Embedding) -> Singles:
        """(rows, draws)"""
        shapes = rows.near @ self.waves
        shapes += self.phases
        found: Singles = np.cos(shapes, out=shapes) @ self.heights + rows.waves @ self.slopes + self.level
        return found


def condition(rows: Embedding, owners: NDArray[np.int64], scores: Reals, settings: Settings) -> Posterior:
    """The process with these settings, given the rows."""
    weights = settings.weights[owners]
    covariance = reach(rows.near, rows.near, weights).astype(np.float64)
    covariance += settings.additive * (rows.waves @ rows.waves.T)
    covariance[np.diag_indices(len(rows))] += settings.noise + JITTER
    factor = Factor.steadied(covariance)
    both = factor.solve(np.stack([scores, np.ones(len(rows))], axis=1))
    spread = 1.0 / float(both[:, 1].sum())
    mean = float(both[:, 0].sum()) * spread
    solved = both[:, 0] - mean * both[:, 1]
    scale = max(float(scores @ solved) / len(rows), 1e-9)
    return Posterior(rows, weights, settings.noise, settings.additive, factor, scores, solved, mean, spread, scale)
