"""The marginal objective of one parameter as a figure: its mean by value, and how far that may be off."""

from __future__ import annotations

import numpy as np

from pedanova.measures.bins import bins_of
from pedanova.measures.effects import Marginal, binned_marginal
from pedanova.report.figures.draw import Axes, colours_of
from pedanova.report.figures.spread import draw_marginal


def draw_marginal_band(marginal: Marginal, mean: float, ax: Axes | None = None, *, shown: str | None = None) -> Axes:
    """The curve of `draw_marginal` inside its 95 % interval; bars instead of a band where values stand alone."""
    ax = draw_marginal(marginal, mean, ax, shown=shown)
    colour = colours_of(ax)["target"]
    bins = bins_of(marginal.parameter, marginal.counts)
    if bins.kind != "bars":
        ax.fill_between(marginal.cells, marginal.low, marginal.high, color=colour, alpha=0.25, linewidth=0)
        return ax
    found = binned_marginal(marginal, bins)
    reach = np.abs(np.stack([found.mean - found.low, found.high - found.mean]))
    ax.errorbar(range(len(bins)), found.mean, yerr=reach, fmt="none", ecolor=colour, elinewidth=1.2, capsize=3)
    return ax
