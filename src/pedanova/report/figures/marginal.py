"""The marginal objective of one parameter as a figure: its mean by value, and how far that may be off."""

from __future__ import annotations

from typing import Any

from pedanova.measures.effects import Marginal
from pedanova.report.figures.draw import draw_marginal
from pedanova.space.grid import grid_of

Axes = Any


def draw_marginal_band(marginal: Marginal, mean: float, ax: Axes | None = None) -> Axes:
    """The curve of `draw_marginal` inside its 95 % interval; bars instead of a band where values have no order."""
    ax = draw_marginal(marginal, mean, ax)
    if grid_of(marginal.parameter).is_range:
        ax.fill_between(marginal.cells, marginal.low, marginal.high, color="C0", alpha=0.25, linewidth=0)
    else:
        reach = marginal.mean - marginal.low, marginal.high - marginal.mean
        places = range(len(marginal.cells))
        ax.errorbar(places, marginal.mean, yerr=reach, fmt="none", ecolor="C0", elinewidth=1.2, capsize=3)
    return ax
