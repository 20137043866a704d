"""Marginal means by bar or step, as they are drawn: on the page and in figures alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pedanova.measures.bins import Bins
from pedanova.measures.effects import Marginal

Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class BinnedMarginal:
    """The mean objective of every bar or step with its interval; NaN where no row, or too few, lie."""

    rows: Reals
    mean: Reals
    low: Reals
    high: Reals


def binned_marginal(marginal: Marginal, bins: Bins) -> BinnedMarginal:
    """Cells of one bin are weighed by their rows; one row, smoothed with no other, is no mean."""
    rows = bins.gather(marginal.counts)

    def gathered(values: Reals, least: float) -> Reals:
        known = np.isfinite(values)
        held = bins.gather(marginal.counts * known)
        total = bins.gather(marginal.counts * np.where(known, values, 0.0))
        return np.where(held >= least, total / np.maximum(held, 1.0), np.nan)

    mean = gathered(marginal.mean, 1.0 if marginal.bandwidth > 0 else 2.0)
    return BinnedMarginal(rows, mean, gathered(marginal.low, 1.0), gathered(marginal.high, 1.0))
