"""Exact values of the paper's 4-D function, by convolution: what every estimate of it should converge to.

    f(x) = Σ_d w_d(x_d) · x_d²,  x_d uniform in [-5, 5],  w_d = 5^-d where |x_d| ≥ 1, else 5^-((d + shift) mod 4)

for d = 0 … 3. `shift` is 3 as printed in the paper and 1 in the code that its authors released. A target is
{f ≤ t}, so the density of x_d in it is P(sum of the others ≤ t - w_d(x)·x²) over P(f ≤ t), times that of a draw.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]
PRINTED, RELEASED = 3, 1
BINS = 1 << 19  # of the laws that are convolved: relative errors of 1e-9
LARGEST = 9.0  # sums beyond it are in no target that is asked about: the median is 8.48
PIECES, POINTS = 800, 12  # of the integrals along one parameter


def weights(shift: int) -> list[tuple[float, float]]:
    """(inside |x| < 1, outside) by parameter."""
    return [(5.0 ** -((d + shift) % 4), 5.0**-d) for d in range(4)]


def objective(x: Reals, shift: int = PRINTED) -> Reals:
    """f of rows (…, 4)."""
    terms = [np.where(np.abs(x[..., d]) < 1, *pair) * x[..., d] ** 2 for d, pair in enumerate(weights(shift))]
    total: Reals = np.sum(terms, axis=0)
    return total


def below(values: Reals, inside: float, outside: float) -> Reals:
    """P(w(x)·x² ≤ value) of one parameter."""
    held = np.minimum(1.0, np.sqrt(np.maximum(values, 0.0) / inside))
    beyond = np.clip(np.sqrt(np.maximum(values, 0.0) / outside) - 1.0, 0.0, 4.0)
    chance: Reals = (held + beyond) / 5.0
    return chance


def mean_below(values: Reals, inside: float, outside: float) -> Reals:
    """E[w(x)·x² where that is ≤ value] of one parameter."""
    held = np.minimum(1.0, np.sqrt(np.maximum(values, 0.0) / inside))
    beyond = np.clip(np.sqrt(np.maximum(values, 0.0) / outside), 1.0, 5.0)
    mean: Reals = (inside * held**3 + outside * (beyond**3 - 1.0)) / 15.0
    return mean


def masses_of(inside: float, outside: float) -> Reals:
    """(bins + 1,) The law of one term on a fine ruler: each bin's mass on its two ends, its mean kept."""
    places = np.linspace(0.0, LARGEST, BINS + 1)
    mass, mean = np.diff(below(places, inside, outside)), np.diff(mean_below(places, inside, outside))
    upper = np.clip((mean - mass * places[:-1]) * (BINS / LARGEST), 0.0, mass)
    return np.append(mass - upper, 0.0) + np.append(0.0, upper)


@cache
def laws_of_others(shift: int) -> list[Reals]:
    """For each parameter (bins + 2,) P(sum of the other three ≤ place), at 0 and half a bin beyond each place."""
    spectra = [np.fft.rfft(masses_of(*pair), 4 * BINS) for pair in weights(shift)]
    laws = []
    for d in range(4):
        one, two, three = (spectrum for other, spectrum in enumerate(spectra) if other != d)
        masses = np.fft.irfft(one * two * three, 4 * BINS)[: BINS + 1]
        laws.append(np.append(0.0, np.cumsum(np.maximum(masses, 0.0))))
    return laws


@cache
def ruler() -> Reals:
    """(bins + 2,) Where those laws are known."""
    return np.append(0.0, (np.arange(BINS + 1) + 0.5) * (LARGEST / BINS))


def others_below(values: Reals, d: int, shift: int) -> Reals:
    return np.interp(values, ruler(), laws_of_others(shift)[d])


@cache
def along(d: int, shift: int) -> tuple[Reals, Reals, Reals]:
    """Points of one parameter from 0 to 5, their weights, and w(x)·x² there: dense where targets end."""
    points, masses = np.polynomial.legendre.leggauss(POINTS)
    inner, outer = np.linspace(0.0, 1.0, PIECES + 1), np.geomspace(1.0, 5.0, PIECES + 1)
    edges = np.concatenate([inner, outer[1:]])
    middle, half = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 2
    x = (middle[:, None] + half[:, None] * points).ravel()
    pair = weights(shift)[d]
    return x, (half[:, None] * masses).ravel() / 5.0, np.where(x < 1, *pair) * x**2


@cache
def threshold(part: float, shift: int = PRINTED) -> float:
    """The t with P(f ≤ t) = part, by bisection."""
    _, mass, own = along(0, shift)
    low, high = 0.0, LARGEST
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if mass @ others_below(middle - own, 0, shift) > part else (middle, high)
    return (low + high) / 2


def target_density(d: int, part: float, shift: int = PRINTED) -> tuple[Reals, Reals]:
    """Points of |x_d| and the density of the target there over that of a uniform draw."""
    x, _, own = along(d, shift)
    if part == 1.0:
        return x, np.ones(len(x))
    return x, others_below(threshold(part, shift) - own, d, shift) / part


def divergences(target: float, region: float = 1.0, shift: int = PRINTED) -> Reals:
    """(4,) PED of every parameter."""
    found = []
    for d in range(4):
        _, mass, _ = along(d, shift)
        wanted, base = (target_density(d, part, shift)[1] for part in (target, region))
        found.append(float(mass[base > 0] @ (wanted[base > 0] ** 2 / base[base > 0])) - 1.0)
    return np.array(found)


def ratios(target: float, region: float = 1.0, shift: int = PRINTED) -> Reals:
    """(4,) Adding to 1."""
    found = divergences(target, region, shift)
    return found / found.sum()


def fanova_ratios(shift: int = PRINTED) -> Reals:
    """(4,) Of f-ANOVA over the whole space: f is a sum, so each term's own variance counts."""
    variances = []
    for inside, outside in weights(shift):
        mean = (inside / 3 + outside * 124 / 3) / 5
        square = (inside**2 / 5 + outside**2 * 3124 / 5) / 5
        variances.append(square - mean**2)
    return np.array(variances) / sum(variances)
