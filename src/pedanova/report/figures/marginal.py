"""The marginal objective of one parameter as a figure: its mean by value, and how far that may be off."""

from __future__ import annotations

import numpy as np

from pedanova.measures.bins import bins_of
from pedanova.measures.effects import Marginal
from pedanova.report.figures.draw import Axes, Reals, colours_of
from pedanova.report.figures.spread import draw_marginal


def draw_marginal_band(marginal: Marginal, mean: float, ax: Axes | None = None, *, shown: str | None = None) -> Axes:
    """The curve of `draw_marginal` inside its 95 % interval; bars instead of a band where values stand alone."""
    ax = draw_marginal(marginal, mean, ax, shown=shown)
    colour = colours_of(ax)["target"]
    bins = bins_of(marginal.parameter, marginal.counts)
    if bins.kind != "bars":
        ax.fill_between(marginal.cells, marginal.low, marginal.high, color=colour, alpha=0.25, linewidth=0)
        return ax

    def gathered(values: Reals) -> Reals:
        rows = bins.gather(marginal.counts)
        return np.where(rows >= 1, bins.gather(marginal.counts * np.nan_to_num(values)) / np.maximum(rows, 1), np.nan)

    middle, low, high = (gathered(values) for values in (marginal.mean, marginal.low, marginal.high))
    reach = np.abs(np.stack([middle - low, high - middle]))
    ax.errorbar(range(len(bins)), middle, yerr=reach, fmt="none", ecolor=colour, elinewidth=1.2, capsize=3)
    return ax
